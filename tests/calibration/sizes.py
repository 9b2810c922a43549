"""Calibrate every power that is fitted along sizes, on exact power laws with the measured noise."""

from collections.abc import Iterator

import numpy as np

from adversarium.plans.papers import experiments
from adversarium.plans.slopes import Exponent, _reading
from tests.calibration.cases import (
    Case,
    Fit,
    distance,
    fits_of,
    fitted,
    half_width,
    listed,
    rows_of,
    sizes_of,
)

# fits whose accepted range is not centred at the claimed power: the power of the law
CLAIMED = {
    ("conv.sec7.depth", "power of H in layer²/m (proof over H)"): 1.0,
    ("boat.sec4.1.angle", ""): -0.5,  # the order 1/√C of §4.1
    ("boat.sec4.1.cross_inner", ""): -0.5,
}


def power_of(claim: str, fit: Fit) -> float:
    """Return the power of the law that is put in, after the division by `per`."""
    for name in (fit.name, ""):
        if (claim, name) in CLAIMED:
            return CLAIMED[claim, name]
    return fit.claimed if isinstance(fit, Exponent) else 0.0


def fitted_claims() -> list[str]:
    """Return the claims with a power that is fitted along sizes."""
    known = [claim for info in experiments().values() for claim in info.claims]
    return [claim for claim in known if fits_of(claim)]


def exact(claim: str, fit: Fit) -> float:
    """Return the bias on an exact power law without noise."""
    tasks, power = sizes_of(claim, fit), power_of(claim, fit)
    values = [np.full(5, x**power * fit.per(x)) for x in tasks]
    return float(fitted(fit, tasks, values).mean()) - power


def noise(claim: str, fit: Fit) -> list[np.ndarray] | None:
    """Return the measured values over their median at every size, for the seeds that have a
    positive value at every size; None if fewer than five do."""
    runs = rows_of(claim).where(fit.selection).by(fit.along)
    with np.errstate(all="ignore"):
        y = np.stack([_reading(fit.number).of(run) for run in runs.values()])
    y = y[:, (np.isfinite(y) & (y > 0)).all(0)]
    return list(y / np.median(y, axis=1, keepdims=True)) if y.shape[1] >= 5 else None


def noisy(claim: str, fit: Fit) -> Case:
    """Return the calibration of one fit on a power law with the measured noise."""
    tasks, power = sizes_of(claim, fit), power_of(claim, fit)
    measured = noise(claim, fit)
    bias, half = exact(claim, fit), 0.0
    if measured is not None:
        values = [x**power * fit.per(x) * one for x, one in zip(tasks, measured, strict=True)]
        slopes = fitted(fit, tasks, values)
        bias, half = float(slopes.mean()) - power, half_width(slopes)
    return Case(
        (claim,),
        f"power of {fit.along}",
        "constant" if power == 0 else f"{fit.along}^{power:.3g}",
        listed(list(tasks)),
        bias,
        distance(fit, power),
        half,
    )


def cases() -> Iterator[Case]:
    """Yield the calibration of every power that is fitted along sizes."""
    for claim in fitted_claims():
        for fit in fits_of(claim):
            yield noisy(claim, fit)
