"""The checks of Figure 1 of BOAT."""

import numpy as np

from adversarium.bounds import lazy_accuracies
from adversarium.papers.boat.figure_runs import (
    ACCURACIES,
    BETA,
    clean_accuracy,
    grid_of,
    jackknife,
    level_slope,
    level_slopes,
    robust_accuracy,
)
from adversarium.plans import (
    Check,
    Evidence,
    Need,
    Quantity,
    Run,
    counted_as,
    every,
    level,
    parts,
    power,
    setting,
    where,
)
from adversarium.plans.evidence import NoSuchRun, quantity

MAP, BALANCED, NARROW = "map", "balanced labels", "a quarter of the width, twice the radius"
LEVELS = {"clean": (0.6, 0.7, 0.8), "robust": (0.5, 0.6, 0.7, 0.8)}
CLAIMED = {"clean": 4.0, "robust": 2.0}
NAMES = ("clean_error_c", "robust_error")


def _over_grid(name: str, kind: str, of, family: str = MAP) -> Quantity:
    """A number a seed of the map's accuracies (seed, d, ‖μ‖)."""
    number, row = ACCURACIES[kind]
    meant = where(family)

    def value(rows: Evidence) -> np.ndarray:
        return np.array([of(table) for table in grid_of(rows.where(meant), "‖μ‖", "d", number)[2]])

    return quantity(f"{name} ({kind})", value, Need(meant, (row,)))


def _rank(values: np.ndarray) -> float:
    """Spearman's correlation of values with their places."""
    from scipy import stats

    if np.ptp(values) == 0:
        return float("nan")  # nothing rises or falls
    return float(stats.spearmanr(np.arange(len(values)), values).statistic)


def _along_mu(table: np.ndarray) -> float:
    return float(np.nanmean([_rank(row) for row in table]))


def _along_d(table: np.ndarray) -> float:
    return -float(np.nanmean([_rank(column) for column in table.T]))


def _slope(kind: str, at: float, low: float, high: float, family: str = MAP) -> Check:
    return power(level_slopes(kind, at, where(family)), low, high)


def _transition() -> dict[str, Check]:
    told: dict[str, Check] = {
        "accuracy rises with ‖μ‖": every(
            *(level(_over_grid("rank along ‖μ‖", kind, _along_mu), 0.5) for kind in LEVELS)
        ),
        "accuracy falls with d": every(
            *(level(_over_grid("rank along −d", kind, _along_d), 0.5) for kind in LEVELS)
        ),
    }
    for kind, levels in LEVELS.items():
        for at in levels:
            claimed = CLAIMED[kind]
            told[f"{kind} accuracy {at:g}: d ~ ‖μ‖^{claimed:g}"] = _slope(
                kind, at, claimed - 0.3, claimed + 0.3
            )
    return told


def _corner(name: str, number, d: str, mu: str) -> Quantity:
    """An accuracy at the corner of least or largest d and ‖μ‖."""

    def value(rows: Evidence) -> np.ndarray:
        made = grid_of(rows.where(where(MAP)), "‖μ‖", "d", number)[2]
        return made[:, 0 if d == "least" else -1, 0 if mu == "least" else -1]

    return quantity(f"{name}, {d} d, {mu} ‖μ‖", value, Need(where(MAP), NAMES))


def _inside(rows: Evidence) -> np.ndarray:
    """The largest robust accuracy − clean accuracy of any cell."""
    tables = [grid_of(rows.where(where(MAP)), "‖μ‖", "d", f)[2]
              for f in (robust_accuracy, clean_accuracy)]  # fmt: skip
    return (tables[0] - tables[1]).max((1, 2))


def predicted(run: Run, offset: bool = True) -> tuple[float, float]:
    """Clean and robust accuracy of the linearised network."""
    rates = run.eta * sum(run.optimiser.factor(t) for t in range(run.steps))
    ratio = run.attack.radius / run.data.mu
    return lazy_accuracies(
        run.n, run.network.m, run.data.d, run.data.mu, ratio, BETA, rates, offset
    )


def _off(kind: str, family: str, offset: bool = True) -> Quantity:
    """The root mean square of measured (mean over seeds) less predicted accuracies; a jackknife
    pseudo-value a seed."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = list(rows.where(where(family)))
        if not runs:
            raise NoSuchRun(f"no runs are {family}")
        made = np.stack([number(run) for run in runs], 1)
        told = np.array([predicted(run.run, offset)[which] for run in runs])
        return jackknife(made, lambda mean: float(np.sqrt(((mean - told) ** 2).mean())))

    told = f"r.m.s. distance of the {kind} map ({family})"
    return quantity(told, value, Need(where(family), (row,)))


def _slope_gap(kind: str, at: float) -> Quantity:
    """A measured power less the one that the prediction has on the same grid."""
    number, row = ACCURACIES[kind]
    which = 0 if kind == "clean" else 1

    def value(rows: Evidence) -> np.ndarray:
        runs = rows.where(where(MAP))
        mu, d, made = grid_of(runs, "‖μ‖", "d", number)
        told = grid_of(runs, "‖μ‖", "d", lambda run: np.array([predicted(run.run)[which]]))[2][0]
        slope = level_slope(mu, d, told, at)
        return jackknife(made, lambda table: level_slope(mu, d, table, at)) - slope

    name = f"power of ‖μ‖ in d less the predicted one, {kind} accuracy {at:g}"
    return quantity(name, value, Need(where(MAP), (row,)))


checks: dict[str, Check] = {
    "boat.fig1.transition": counted_as("exponent", parts(_transition())),
    "boat.fig1.levels": counted_as(
        "level",
        parts(
            {
                "1 − β where ‖μ‖ is large and d small": every(
                    level(_corner("clean accuracy", clean_accuracy, "least", "most"), 0.88, 0.92),
                    level(_corner("robust accuracy", robust_accuracy, "least", "most"), 0.88, 0.92),
                ),
                "clean accuracy ½ in the opposite corner": level(
                    _corner("clean accuracy", clean_accuracy, "most", "least"), 0.48, 0.52
                ),
                "robust accuracy below ½ there": level(
                    _corner("robust accuracy", robust_accuracy, "most", "least"), 0, 0.5
                ),
                "the robust region lies inside the clean one": setting(
                    "level",
                    quantity("largest robust − clean accuracy", _inside, Need(where(MAP), NAMES)),
                ),
            }
        ),
    ),
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
                    *(level(_off(kind, MAP), high=0.03) for kind in LEVELS)
                ),
                "blind: a quarter of the width, twice the radius": every(
                    *(level(_off(kind, NARROW), high=0.03) for kind in LEVELS)
                ),
                "balanced labels: the map without offset": every(
                    *(level(_off(kind, BALANCED, offset=False), high=0.03) for kind in LEVELS)
                ),
            }
        ),
    ),
}
