"""The checks of the design about Figure 1 of BOAT: predictions, and the effects of five changes."""

import itertools
import math
from functools import partial

import numpy as np

from adversarium.papers.boat.fig1_checks import predicted
from adversarium.papers.boat.figure_runs import (
    ACCURACIES,
    LEVELS,
    MAP,
    READINGS,
    grid_of,
    level_slopes,
)
from adversarium.plans import (
    Check,
    Evidence,
    Need,
    Quantity,
    Where,
    counted_as,
    every,
    level,
    parts,
    power,
    setting,
    where,
)
from adversarium.plans.evidence import NoSuchRun, quantity
from adversarium.plans.levels import jackknife, level_slope

BALANCED, NARROW = "balanced labels", "a quarter of the width, twice the radius"
DESIGN = "design"
OTHERS = READINGS[1:]  # of the attack's radius and step: a family each
CHANGES = (
    "balanced labels",
    "no biases",
    "a fixed top layer",
    "a quarter of the steps",
    "half of n",
)
AT = {"clean": (0.65, 0.75, 0.85), "robust": (0.5, 0.65, 0.75, 0.85)}  # levels of the effects


def combinations() -> list[tuple[str, ...]]:
    """Those with an even number of changes: half of all, of resolution V.

    >>> len(combinations()), combinations()[0]
    (16, ())
    """
    return [some for k in (0, 2, 4) for some in itertools.combinations(CHANGES, k)]


def _off(kind: str, told: str, *meant: Where, offset: bool = True) -> Quantity:
    """The root mean square of measured (mean over seeds) less predicted accuracies; a jackknife
    pseudo-value a seed."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = [run for some in meant for run in rows.where(some)]
        if not runs:
            raise NoSuchRun(f"no runs are {told}")
        made = np.stack([number(run) for run in runs], 1)
        by = np.array([predicted(run.run, offset)[which] for run in runs])
        return jackknife(made, lambda mean: float(np.sqrt(((mean - by) ** 2).mean())))

    needs = (Need(some, (row,)) for some in meant)
    return quantity(f"r.m.s. distance of the {kind} map ({told})", value, *needs)


def _slope_gap(kind: str, at: float, family: str = MAP, offset: bool = True) -> Quantity:
    """A measured power less the one that the prediction has on the same grid."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = rows.where(where(family))
        mu, d, made = grid_of(runs, "‖μ‖", "d", number)
        by = grid_of(runs, "‖μ‖", "d", lambda run: np.array([predicted(run.run, offset)[which]]))
        slope = level_slope(mu, d, by[2][0], at)
        return jackknife(made, lambda table: level_slope(mu, d, table, at)) - slope

    name = f"power of ‖μ‖ in d less the predicted one, {kind} accuracy {at:g}"
    told = name if family == MAP else f"{name} ({family})"
    return quantity(told, value, Need(where(family), (row,)))


def _place(some: tuple[str, ...]) -> Where:
    return where(DESIGN, changed=", ".join(some) or "nothing")


def _slopes(rows: Evidence, kind: str, at: float) -> np.ndarray:
    """The power of every combination, one pseudo-value a seed: (seed, combination)."""
    made = []
    for some in combinations():
        mu, d, table = grid_of(rows.where(_place(some)), "‖μ‖", "d", ACCURACIES[kind][0])
        made.append(jackknife(table, partial(_slope_at, mu, d, at)))
    return np.stack(made, 1)


def _slope_at(mu: np.ndarray, d: np.ndarray, at: float, table: np.ndarray) -> float:
    return level_slope(mu, d, table, at)


def effect(change: str, kind: str, at: float) -> Quantity:
    """The mean power with a change less that without it; NaN where a combination has none."""
    has = np.array([change in some for some in combinations()])

    def value(rows: Evidence) -> np.ndarray:
        slopes = _slopes(rows, kind, at)
        return slopes[:, has].mean(1) - slopes[:, ~has].mean(1)

    told = f"effect of {change} on the power of ‖μ‖ in d, {kind} accuracy {at:g}"
    return quantity(told, value, Need(where(DESIGN), (ACCURACIES[kind][1],)))


def of_sizes(kind: str, at: float) -> Quantity:
    """The power over the upper half of the sizes d less that over the lower half."""
    number, row = ACCURACIES[kind]

    def value(rows: Evidence) -> np.ndarray:
        mu, d, made = grid_of(rows.where(where(MAP)), "‖μ‖", "d", number)
        small = d <= np.median(d)

        def gap(table: np.ndarray) -> float:
            return level_slope(mu, d[~small], table[~small], at) - level_slope(
                mu, d[small], table[small], at
            )

        return jackknife(made, gap)

    told = f"power of ‖μ‖ in d, upper less lower half of the sizes, {kind} accuracy {at:g}"
    return quantity(told, value, Need(where(MAP), (row,)))


# combinations that change nothing but what the prediction knows
_KNOWN = [some for some in combinations() if set(some) <= set(CHANGES[3:])]

_EFFECTS = {
    f"{change}: {kind} accuracy {at:g}": setting("level", effect(change, kind, at))
    for change in CHANGES
    for kind, levels in AT.items()
    for at in levels
    if not (change == CHANGES[0] and kind == "clean")
}

_SIZES = {
    f"the sizes: {kind} accuracy {at:g}": setting("level", of_sizes(kind, at))
    for kind, levels in AT.items()
    for at in levels
}

_POWERS = {
    f"power with {told}: {kind} accuracy {at:g}": setting(
        "level", level_slopes(f"{told}, {kind}", *ACCURACIES[kind], at, where(family))
    )
    for family, told in ((BALANCED, "balanced labels"), *((r, f"reading {r}") for r in OTHERS))
    for kind, levels in AT.items()
    for at in levels
}

checks: dict[str, Check] = {
    "boat.fig1.refined": counted_as(
        "level",
        parts(
            {
                **{
                    f"{kind} slopes within 0.4": every(
                        *(power(_slope_gap(kind, at), -0.4, 0.4) for at in levels)
                    )
                    for kind, levels in LEVELS.items()
                },
                "the map within 0.03": every(
                    *(level(_off(kind, MAP, where(MAP)), high=0.03) for kind in LEVELS)
                ),
                "blind: a quarter of the width, twice the radius": every(
                    *(level(_off(kind, NARROW, where(NARROW)), high=0.03) for kind in LEVELS)
                ),
                "blind: half of n and a quarter of the steps": every(
                    *(
                        level(
                            _off(
                                kind, "half of n and a quarter of the steps", *map(_place, _KNOWN)
                            ),
                            high=0.03,
                        )
                        for kind in LEVELS
                    )
                ),
                "balanced labels: the map without offset": every(
                    *(
                        level(_off(kind, BALANCED, where(BALANCED), offset=False), high=0.03)
                        for kind in LEVELS
                    )
                ),
                **{
                    f"balanced labels: {kind} slopes within 0.4, without offset": every(
                        *(
                            power(_slope_gap(kind, at, BALANCED, offset=False), -0.4, 0.4)
                            for at in AT[kind]
                        )
                    )
                    for kind in LEVELS
                },
                "balanced labels raise the clean powers": every(
                    *(power(effect(CHANGES[0], "clean", at), 0.0, math.inf) for at in AT["clean"])
                ),
                **_EFFECTS,
                **_SIZES,
                **_POWERS,
            }
        ),
    ),
}
