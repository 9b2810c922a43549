"""Define the runs of BOAT's synthetic figures, and level sets of their accuracy maps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from adversarium.attacks import PGD
from adversarium.data import Clusters, Gauss
from adversarium.measure.errors import risk
from adversarium.networks import Perceptron
from adversarium.plans import Evidence, Need, Quantity, Read, Rows, Run, Where
from adversarium.plans.evidence import SHARE, NoSuchRun, Reading, quantity
from adversarium.plans.intervals import slope
from adversarium.plans.levels import jackknife, level_slope
from adversarium.training import GradientDescent

from .cluster_errors import ClusterErrors

BETA = 0.1
PLACES = {"‖μ‖": Read("data.mu"), "d": Read("data.d")}
MAP, FINE, STANDARD = "map", "fine map", "standard training"
Radius = Literal["R1", "R2", "R3", "R4"]  # interpretations of the attack's radius and step
READINGS = get_args(Radius)
MUS = tuple(float(mu) for mu in range(1, 11))
SIZES = tuple(range(1000, 18001, 1000))
FINE_MUS = tuple(1 + i / 4 for i in range(37))
FINE_SIZES = (1000, 2000, 4000, 8000, 12000, 18000)
LEVELS = {
    "clean": (0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
    "robust": (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
}


EARLY = 10  # maps are recorded at this step, which is cheap to recompute, and at the last


def trained(
    family: str,
    at: Mapping[str, Any],
    data: Any,
    ratio: float,
    m: int,
    steps: int,
    errors: tuple[Any, ...],
    curves: bool = False,
    n: int = 100,
    reading: str = "R1",
    **parts: Any,
) -> Run:
    """Return a training run as in §5 of BOAT: full-batch descent with η = 0.1, divided by ten after
    half of the steps, against 20 steps of PGD.

    The network has PyTorch's default initialisation, and all its weights and biases are trained
    unless `parts` say otherwise. `reading` selects the interpretation of "α/‖μ‖, step α/(5‖μ‖)".
    R1: the radius is α = ratio·‖μ‖ and the step α/5. R2: both without the factor ‖μ‖. R3: as R2,
    with the data divided by ‖μ‖. R4: only the step lacks the factor ‖μ‖.
    """
    if reading not in READINGS:
        raise ValueError(f"reading needs one of {', '.join(READINGS)}, got {reading!r}.")
    radius = ratio if reading == "R2" else ratio * data.mu
    step = ratio / 5 if reading == "R4" else radius / 5
    times = (round(steps ** (i / 14)) for i in range(15)) if curves else (EARLY, steps)
    return Run(
        family=family,
        at=at,
        data=data,
        network=Perceptron(m=m, **parts),
        attack=PGD(p=2, radius=radius, steps=20, step=step, best=False),
        optimiser=GradientDescent(drop=0.1, every=max(1, steps // 2)),
        n=n,
        steps=steps,
        eta=0.1,
        probes=(risk, *errors),
        record=(0,) * curves + tuple(sorted({min(t, steps) for t in times})),
        dtype="float32",
    )


def original_coordinates(at: Mapping[str, Any], mu: float) -> dict[str, Any]:
    """Return the coordinates of a run whose data are divided by ‖μ‖, with the original ‖μ‖."""
    return {name: mu if name == "‖μ‖" else value for name, value in at.items()}


def on_clusters(
    family: str,
    at: Mapping[str, Any],
    d: int,
    mu: float,
    ratio: float,
    m: int,
    steps: int,
    points: int,
    balanced: bool = False,
    reading: str = "R1",
    **more: Any,
) -> Run:
    """Return a training run of §5 of BOAT on noisy clusters with a tenth of the labels flipped;
    with reading R3, the data are divided by ‖μ‖."""
    data = Clusters(d=d, mu=mu, beta=BETA, balanced=balanced)
    if reading == "R3":
        data, at = replace(data, mu=1.0, marginal=Gauss(1 / mu)), original_coordinates(at, mu)
    errors = (ClusterErrors(n=points),)
    return trained(family, at, data, ratio, m, steps, errors, reading=reading, **more)


def standard(run: Run) -> Run:
    """Return the baseline of a run: the same network trained without attack, evaluated under the
    run's attack."""
    probes = (replace(probe, against=run.attack) if isinstance(probe, ClusterErrors) else probe
              for probe in run.probes)  # fmt: skip
    return replace(run, family=STANDARD, attack=None, probes=tuple(probes))


def clean_accuracy(run: Rows) -> np.ndarray:
    """Return 1 − β − (1 − 2β)P[y_c f ≤ 0], the accuracy if labels are flipped at rate β."""
    beta = run.run.data.beta
    return 1 - beta - (1 - 2 * beta) * run.last("clean_error_c")


def robust_accuracy(run: Rows) -> np.ndarray:
    """Return 1 minus the robust test error."""
    return 1 - run.last("robust_error")


ACCURACIES: dict[str, tuple[Callable[[Rows], np.ndarray], str]] = {
    "clean": (clean_accuracy, "clean_error_c"),
    "robust": (robust_accuracy, "robust_error"),
}


def accuracy(kind: str) -> Reading:
    """Return the clean or robust accuracy of a map as a reading for figures."""
    number, row = ACCURACIES[kind]
    return Reading(f"{kind} test accuracy", number, (row,), SHARE)


def robust_ceiling(run: Run) -> float:
    """Return the largest robust accuracy that any classifier can have, or NaN if it is unknown."""
    return _ceiling(run, _evaluation_attack(run))


def clean_ceiling(run: Run) -> float:
    """Return the largest accuracy that any classifier can have, or NaN if it is unknown."""
    return _ceiling(run, None)


def _evaluation_attack(run: Run) -> Any:
    """Return the attack under which a run is evaluated: its training attack, or that of its
    probe."""
    others = (probe.against for probe in run.probes if isinstance(probe, ClusterErrors))
    return run.attack if run.attack is not None else next(others, None)


def _ceiling(run: Run, attack: Any) -> float:
    radius = attack.radius if attack is not None else 0.0
    known = run.data.ceiling(float(getattr(attack, "p", 2)), radius)
    return known if known < 1 else math.nan


def trend(number: str) -> Reading:
    """Return the power of t in a mean curve over the last decade of the training, one jackknife
    pseudo-value per seed."""

    def powers(run: Rows) -> np.ndarray:
        t, values = run.curve(number)
        late = t >= t[-1] / 10
        return jackknife(values[:, late], lambda mean: float(slope(t[late], mean[None])[0]))

    return Reading(f"power of t in {number}", powers, (number,))


def grid_of(
    rows: Evidence, x: str, y: str, number: Callable[[Rows], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sorted x, the sorted y, and `number` (seed, y, x) on a full grid of runs."""
    if not len(rows):
        raise NoSuchRun(f"no runs form a grid over {x} and {y}")
    cells = {(r.task.coordinates[x], r.task.coordinates[y]): number(r) for r in rows}
    xs, ys = (np.array(sorted({cell[i] for cell in cells}), dtype=float) for i in (0, 1))
    values = np.stack([np.stack([cells[a, b] for a in xs], -1) for b in ys], 1)
    return xs, ys, values


Number = Callable[[Rows], np.ndarray]
RANKS = (-1.0, 1.0)  # the range of rank correlations


def over_grid(
    name: str,
    runs: Where,
    number: Number,
    row: str,
    of: Callable[[np.ndarray], float],
    among: tuple[float, float] = (-math.inf, math.inf),
) -> Quantity:
    """Return one rank correlation per seed: `of` applied to the map (d, ‖μ‖) of `number`,
    restricted to the columns with among[0] < ‖μ‖ ≤ among[1]."""

    def value(rows: Evidence) -> np.ndarray:
        mu, _, tables = grid_of(rows.where(runs), "‖μ‖", "d", number)
        inside = (among[0] < mu) & (mu <= among[1])
        return np.array([of(table[:, inside]) for table in tables])

    return quantity(name, value, Need(runs, (row,)), limits=RANKS)


def rank(values: np.ndarray) -> float:
    """Return Spearman's correlation of values with their positions, or NaN if all values are equal.

    >>> round(rank(np.array([1.0, 3.0, 9.0])), 6), round(rank(np.array([2.0, 1.0])), 6)
    (1.0, -1.0)
    """
    from scipy import stats

    if np.ptp(values) == 0:
        return math.nan
    return float(stats.spearmanr(np.arange(len(values)), values).statistic)


def along_mu(table: np.ndarray) -> float:
    """Return the mean rank correlation of a map (d, ‖μ‖) with ‖μ‖."""
    return _mean([rank(row) for row in table])


def against_d(table: np.ndarray) -> float:
    """Return minus the mean rank correlation of a map (d, ‖μ‖) with d."""
    return -_mean([rank(column) for column in table.T])


def _mean(ranks: list[float]) -> float:
    known = [one for one in ranks if not math.isnan(one)]
    return float(np.mean(known)) if known else math.nan


def exact_slope(
    mu: np.ndarray, d: np.ndarray, profile: np.ndarray, power: float, level: float
) -> float:
    """Return the power that `level_slope` measures on a map with the exact law d ∝ ‖μ‖^power.

    Every row of the map is the same function of ‖μ‖/d^{1/power}: the given profile, which is the
    middle row of a measured map, shifted along log ‖μ‖.
    """
    from scipy.interpolate import PchipInterpolator

    x = np.log(mu)
    smooth = PchipInterpolator(x, np.maximum.accumulate(profile))
    shift = np.log(d / d[len(d) // 2]) / power
    rows = [smooth(np.clip(x - one, x[0], x[-1])) for one in shift]
    return level_slope(mu, d, np.stack(rows), level)


def slope_bias(kind: str, number: Number, row: str, level: float, power: float, runs: Where):
    """Return the power measured on an exact law with the profile of a map, minus that power."""

    def bias(rows: Evidence) -> np.ndarray:
        mu, d, tables = grid_of(rows.where(runs), "‖μ‖", "d", number)
        found = exact_slope(mu, d, tables.mean(0)[len(d) // 2], power, level)
        return np.full(len(tables), found - power)

    name = f"bias of the power at ‖μ‖^{power:g}, {kind} accuracy {level:g}"
    return quantity(name, bias, Need(runs, (row,)))


def level_slopes(kind: str, number: Number, row: str, level: float, runs: Where) -> Quantity:
    """Return the exponent p of d ∝ ‖μ‖^p along the level set of the mean accuracy over seeds, one
    jackknife pseudo-value per seed.

    The fit uses all values of d whose row crosses the level.
    """

    def slopes(rows: Evidence) -> np.ndarray:
        mu, d, tables = grid_of(rows.where(runs), "‖μ‖", "d", number)
        return jackknife(tables, lambda table: level_slope(mu, d, table, level))

    return quantity(f"power of ‖μ‖ in d, {kind} accuracy {level:g}", slopes, Need(runs, (row,)))
