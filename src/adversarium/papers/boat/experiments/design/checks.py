"""Check our prediction of BOAT's Figure 1, and report how five changes affect its level sets."""

import math
from functools import partial

import numpy as np

from adversarium.plans import (
    Check,
    CountedAs,
    Every,
    Evidence,
    Hypothesis,
    Level,
    Need,
    Parts,
    Quantity,
    Where,
    where,
)
from adversarium.plans.evidence import NoSuchRun, quantity
from adversarium.plans.levels import jackknife, level_slope

from ...theory.figure_runs import ACCURACIES, LEVELS, MAP, grid_of, level_slopes
from ..fig1.checks import predicted
from .plan import BALANCED, CHANGES, DESIGN, NARROW, OTHER_READINGS, combinations

# accuracy levels at which effects are estimated
EFFECT_LEVELS = {"clean": (0.65, 0.75, 0.85), "robust": (0.5, 0.65, 0.75, 0.85)}


def _rms_error(kind: str, label: str, *families: Where, offset: bool = True) -> Quantity:
    """Return the r.m.s. difference between measured accuracies (means over seeds) and predicted
    ones, one jackknife pseudo-value per seed."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = [run for family in families for run in rows.where(family)]
        if not runs:
            raise NoSuchRun(f"no runs match {label}")
        measured = np.stack([number(run) for run in runs], 1)
        prediction = np.array([predicted(run.run, offset)[which] for run in runs])
        return jackknife(measured, lambda mean: float(np.sqrt(((mean - prediction) ** 2).mean())))

    needs = (Need(family, (row,)) for family in families)
    return quantity(f"r.m.s. distance of the {kind} map ({label})", value, *needs)


def _slope_gap(kind: str, at: float, family: str = MAP, offset: bool = True) -> Quantity:
    """Return the power p of a level set d ∝ ‖μ‖^p minus the power predicted on the same grid."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = rows.where(where(family))
        mu, d, tables = grid_of(runs, "‖μ‖", "d", number)
        prediction = grid_of(
            runs, "‖μ‖", "d", lambda run: np.array([predicted(run.run, offset)[which]])
        )
        slope = level_slope(mu, d, prediction[2][0], at)
        return jackknife(tables, lambda table: level_slope(mu, d, table, at)) - slope

    name = f"power of ‖μ‖ in d less the predicted one, {kind} accuracy {at:g}"
    label = name if family == MAP else f"{name} ({family})"
    return quantity(label, value, Need(where(family), (row,)))


def _runs(changes: tuple[str, ...]) -> Where:
    return where(DESIGN, changed=", ".join(changes) or "nothing")


def _slopes(rows: Evidence, kind: str, at: float) -> np.ndarray:
    """Return the power p of a level set d ∝ ‖μ‖^p under every combination of changes, (seed,
    combination), one jackknife pseudo-value per seed."""
    columns = []
    for changes in combinations():
        mu, d, table = grid_of(rows.where(_runs(changes)), "‖μ‖", "d", ACCURACIES[kind][0])
        columns.append(jackknife(table, partial(_slope_at, mu, d, at)))
    return np.stack(columns, 1)


def _slope_at(mu: np.ndarray, d: np.ndarray, at: float, table: np.ndarray) -> float:
    return level_slope(mu, d, table, at)


def effect(change: str, kind: str, at: float) -> Quantity:
    """Return the mean power over the combinations with a change minus that over the others; NaN if
    the level set of any combination cannot be fitted."""
    has = np.array([change in changes for changes in combinations()])

    def value(rows: Evidence) -> np.ndarray:
        slopes = _slopes(rows, kind, at)
        return slopes[:, has].mean(1) - slopes[:, ~has].mean(1)

    name = f"effect of {change} on the power of ‖μ‖ in d, {kind} accuracy {at:g}"
    return quantity(name, value, Need(where(DESIGN), (ACCURACIES[kind][1],)))


def of_sizes(kind: str, at: float) -> Quantity:
    """Return the power fitted to the upper half of the sizes d minus that of the lower half."""
    number, row = ACCURACIES[kind]

    def value(rows: Evidence) -> np.ndarray:
        mu, d, tables = grid_of(rows.where(where(MAP)), "‖μ‖", "d", number)
        small = d <= np.median(d)

        def gap(table: np.ndarray) -> float:
            return level_slope(mu, d[~small], table[~small], at) - level_slope(
                mu, d[small], table[small], at
            )

        return jackknife(tables, gap)

    name = f"power of ‖μ‖ in d, upper less lower half of the sizes, {kind} accuracy {at:g}"
    return quantity(name, value, Need(where(MAP), (row,)))


# combinations whose changes the prediction can account for
_PREDICTABLE = [changes for changes in combinations() if set(changes) <= set(CHANGES[3:])]

_ALL_EFFECTS = Hypothesis(
    "level",
    *(
        effect(change, kind, at)
        for change in CHANGES
        for kind, levels in EFFECT_LEVELS.items()
        for at in levels
        if not (change == CHANGES[0] and kind == "clean")
    ),
)

_ALL_SIZES = Hypothesis(
    "level", *(of_sizes(kind, at) for kind, levels in EFFECT_LEVELS.items() for at in levels)
)


def _powers(label: str, family: str) -> Check:
    """Report the powers of the level sets of a family."""
    return Hypothesis(
        "level",
        *(
            level_slopes(f"{label}, {kind}", *ACCURACIES[kind], at, where(family))
            for kind, levels in EFFECT_LEVELS.items()
            for at in levels
        ),
    )


def _close(label: str, *families: Where, offset: bool = True) -> Check:
    """Require that the predicted clean and robust maps are within 0.03 of the measured ones."""
    return Every(
        *(Level(_rms_error(kind, label, *families, offset=offset), high=0.03) for kind in LEVELS)
    )


def _same_powers(kind: str, levels, family: str = MAP, offset: bool = True) -> Check:
    """Require that the powers of level sets are within 0.4 of the predicted ones."""
    gaps = (_slope_gap(kind, at, family, offset) for at in levels)
    return Every(*(Level(gap, -0.4, 0.4, kind="exponent") for gap in gaps))


checks: dict[str, Check] = {
    "boat.fig1.refined": CountedAs(
        "level",
        Parts(
            {
                **{
                    f"{kind} slopes within 0.4": _same_powers(kind, levels)
                    for kind, levels in LEVELS.items()
                },
                "the map within 0.03": _close(MAP, where(MAP)),
                "blind: a quarter of the width, twice the radius": _close(NARROW, where(NARROW)),
                "blind: half of n and a quarter of the steps": _close(
                    "half of n and a quarter of the steps", *map(_runs, _PREDICTABLE)
                ),
                "the effects of five changes": _ALL_EFFECTS,
                "the upper against the lower half of the sizes": _ALL_SIZES,
                **{
                    f"the powers under reading {reading}": _powers(f"reading {reading}", reading)
                    for reading in OTHER_READINGS
                },
            }
        ),
    ),
    "boat.fig1.balanced": CountedAs(
        "level",
        Parts(
            {
                "the map within 0.03, without offset": _close(
                    BALANCED, where(BALANCED), offset=False
                ),
                **{
                    f"{kind} slopes within 0.4, without offset": _same_powers(
                        kind, EFFECT_LEVELS[kind], BALANCED, offset=False
                    )
                    for kind in LEVELS
                },
                "balanced labels raise the clean powers": Every(
                    *(
                        Level(effect(CHANGES[0], "clean", at), 0.0, math.inf, kind="exponent")
                        for at in EFFECT_LEVELS["clean"]
                    )
                ),
                "the powers": _powers("balanced labels", BALANCED),
            }
        ),
    ),
}
