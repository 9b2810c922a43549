"""Define runs that vary one quantity at a time, and check how CGRO's T₀ and T₁ depend on it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adversarium.measure.folds import FirstTime, Total
from adversarium.plans import (
    Check,
    Every,
    Evidence,
    Exponent,
    Given,
    Need,
    NoDecay,
    NoGrowth,
    Powers,
    Quantity,
    Read,
    Reading,
    Run,
    Where,
    end,
    quantity,
    where,
)

from .features import largest_signal, least_memorised, median_memorised
from .memorisation import attacked_doubt
from .patches import given_a_start, patches


@dataclass(frozen=True)
class Sweep:
    """One parameter of `patches`: its symbol, its path in a run, its values, the claimed power of
    it in a time, and the settings of other parameters. If `complement`, the values and the power
    are those of 1 minus the parameter."""

    knob: str
    letter: str
    path: str
    values: tuple[float, ...]
    power: float
    others: Mapping[str, float] = field(default_factory=dict)
    complement: bool = False

    def coordinates(self, name: str, value: float) -> dict[str, Any]:
        """Return the coordinates of a run: the sweep's name and the value."""
        return {"swept": name, self.letter: value if self.complement else Read(self.path)}

    def setting(self, value: float) -> dict[str, float]:
        """Return the parameter of `patches` at a value."""
        return {self.knob: 1 - value if self.complement else value}


_SIZES = (100, 200, 400, 800)
_FIXED = dict(sigma=0.0674, sigma0=0.0707, alpha=3.74, gap=0.01335)

EARLY = {
    "η": Sweep("eta", "η", "eta", (0.00025, 0.0005, 0.001, 0.002), -1.0),
    "α": Sweep("alpha", "α", "data.alpha", (1.0, 2.0, 4.0, 8.0), -3.0,
               dict(eta=0.006, sigma0=0.005)),
    "σ0": Sweep("sigma0", "σ0", "network.sigma0", (0.005, 0.01, 0.02, 0.04), -1.0,
                dict(eta=0.05, alpha=1.0)),
    "N": Sweep("N", "N", "n", (5, 10, 20, 40), 0.0),
    "d": Sweep("d", "d", "data.d", (125, 250, 500, 1000), 0.0, dict(alpha=4.0, sigma0=0.03)),
    "1 − λ": Sweep("lam", "1 − λ", "", (0.0625, 0.125, 0.25, 0.5), -1.0, complement=True),
}  # fmt: skip
LATE = {
    "η": Sweep("eta", "η", "eta", (0.025, 0.05, 0.1, 0.2), -1.0),
    "σ0": Sweep("sigma0", "σ0", "network.sigma0", (0.0134, 0.0268, 0.0536, 0.1072), -1.0),
    "N": Sweep("N", "N", "n", (5, 10, 20, 40, 80), 1.0),
    "σ": Sweep("sigma", "σ", "data.sigma", (0.02, 0.04, 0.08, 0.16), -3.0, dict(eta=0.2)),
    "λ": Sweep("lam", "λ", "risk.lam", (0.1, 0.2, 0.4, 0.8), -1.0),
    "d": Sweep("d", "d", "data.d", _SIZES, -1.5, _FIXED),
    "d, paper": Sweep("d", "d", "data.d", _SIZES, 0.527),
}
# a run that measures T₀ takes a·value^power + b steps, with (a, b) from this table
_EARLY_LENGTHS = {"η": (1.5, 0), "α": (40_000, 100), "σ0": (60, 0), "N": (0, 1500), "d": (0, 2500),
                  "1 − λ": (750, 0)}  # fmt: skip
# at these values, a run that measures T₁ takes 500/η + 200 steps
_MIDDLE = {"η": 0.1, "σ0": 0.0707, "N": 10, "σ": 0.0674, "λ": 0.5, "d": 200, "d, paper": 200}


def swept(family: str, name: str) -> Where:
    """Return the runs of the family T₀ or T₁ in which the quantity `name` is varied."""
    return where(family, swept=name)


def early_runs(patience: float, names: Sequence[str], **recorded: Any) -> Iterator[Run]:
    """Yield runs that measure T₀ with small steps, at d = 1000 and N = 20 unless varied.

    The α u_r(0) are small: T₀ has a summand of order 1/(ηα²), which a fit would take for a part of
    the power.
    """
    folds = (FirstTime(largest_signal, 1.0),)
    for name in names:
        sweep = EARLY[name]
        others: dict[str, Any] = dict(d=1000, P=2, N=20, eta=0.001) | dict(sweep.others)
        scale, extra = _EARLY_LENGTHS[name]
        for value in sweep.values:
            steps = math.ceil(patience * (scale / value**-sweep.power + extra))
            knobs = {**others, **sweep.setting(value), "steps": steps}
            yield patches("T₀", sweep.coordinates(name, value), **knobs, folds=folds, **recorded)


def late_runs(names: Sequence[str], most: int, **recorded: Any) -> Iterator[Run]:
    """Yield runs that measure T₁, at most `most` values per sweep, about four times as long as the
    median sample needs by Lemma C.7 of CGRO."""
    times = (FirstTime(median_memorised, 1.0), FirstTime(least_memorised, 1.0))
    folds = (*times, Total(attacked_doubt))
    for name in names:
        sweep = LATE[name]
        others: dict[str, Any] = dict(eta=0.1) | dict(sweep.others)
        for value in sweep.values[:most]:
            length = 500 / others["eta"] * (value / _MIDDLE[name]) ** sweep.power
            knobs = {**others, **sweep.setting(value), "steps": math.ceil(length) + 200}
            yield patches("T₁", sweep.coordinates(name, value), **knobs, folds=folds, **recorded)


def powers(family: str, number: str | Reading, sweeps: Mapping[str, Sweep]) -> Check:
    """Require that a time has the claimed power of every varied quantity, within 0.1."""

    def fitted(name: str, sweep: Sweep) -> Check:
        title = f"power of {name} in {family}"
        return Exponent(title, number, sweep.letter, swept(family, name), sweep.power, 0.1)

    return _along(family, number, sweeps, fitted)


def at_most_powers(family: str, number: str | Reading, sweeps: Mapping[str, Sweep]) -> Check:
    """Require that a time is at most a constant times the claimed power of every varied quantity.

    Divided by that power, the time must not grow with N, nor with d except for log²d, nor as η, λ,
    σ0 or σ falls.
    """

    def bounded(name: str, sweep: Sweep) -> Check:
        title, runs = f"power of {name} in {family} over the claimed one", swept(family, name)

        def claimed(x: float) -> float:
            return x**sweep.power

        if sweep.letter in ("N", "d"):
            logs = 2.0 if sweep.letter == "d" else 0.0
            return NoGrowth(title, number, sweep.letter, runs, logs, claimed)
        return NoDecay(title, number, sweep.letter, runs, per=claimed)

    return _along(family, number, sweeps, bounded)


def _along(
    family: str,
    number: str | Reading,
    sweeps: Mapping[str, Sweep],
    rule: Callable[[str, Sweep], Check],
) -> Check:
    """Apply a rule to every varied quantity, on seeds with some u_r(0) > 0 that reach the time."""
    checks = []
    for name, sweep in sweeps.items():
        runs, fitted = swept(family, name), rule(name, sweep)
        checks.append(given_a_start(runs, Given(_reached(number, runs), fitted)))
    return Every(*checks)


def _reached(number: str | Reading, runs: Where) -> Quantity:
    """Return whether a seed reaches the time in every run; one with a tiny u_r(0) is too slow."""
    time = number if isinstance(number, Reading) else end(number)

    def event(rows: Evidence) -> np.ndarray:
        reached = np.ones(len(rows.seeds))
        for run in rows.where(runs):
            reached *= np.isfinite(time.of(run))
        return reached

    return quantity("reached within every run", event, Need(runs, time.names), points=1)


def swept_powers(
    name: str, title: str, family: str, number: Reading, sweeps: Mapping[str, Sweep], about: str
) -> Powers:
    """Return the figure of a time against every varied quantity."""
    return Powers(
        name=name,
        title=title,
        number=number,
        sweeps={one: swept(family, one) for one in sweeps},
        claimed={one: sweep.power for one, sweep in sweeps.items()},
        along={one: sweep.letter for one, sweep in sweeps.items()},
        y_label=number.name,
        caption="Geometric mean and range (bar) over the seeds with some u_r(0) > 0; "
        f"fitted power with its 99 % interval and claimed power (dashed). {about}",
    )
