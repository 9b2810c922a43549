"""The runs of BOAT's synthetic figures, and level sets of their maps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from adversarium.attacks import PGD
from adversarium.data import Clusters, Gauss
from adversarium.networks import Perceptron
from adversarium.plans import Evidence, Need, Quantity, Read, Rows, Run, Where
from adversarium.plans.evidence import NoSuchRun, Reading, quantity
from adversarium.plans.levels import jackknife, level_slope
from adversarium.probes import ClusterErrors, risk
from adversarium.training import GradientDescent

BETA = 0.1
PLACES = {"‖μ‖": Read("data.mu"), "d": Read("data.d")}
MAP, STANDARD = "map", "standard training"
Radius = Literal["R1", "R2", "R3", "R4"]  # readings of the attack's radius and step
READINGS = get_args(Radius)
MUS = tuple(float(mu) for mu in range(1, 11))
SIZES = tuple(range(1000, 18001, 1000))
LEVELS = {
    "clean": (0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
    "robust": (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85),
}


EARLY = 10  # the step of maps that is recorded beside the last: cheap to compute again


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
    """A network with PyTorch's default initialisation, all weights and biases trained unless its
    `parts` say otherwise, by full-batch descent, η = 0.1 and a tenth of it from the middle on,
    under 20 steps of PGD, as §5 of BOAT has it. Readings of "α/‖μ‖, step α/(5‖μ‖)": radius
    α = ratio·‖μ‖ and step α/5 (R1), both without ‖μ‖ (R2; R3 where the data are divided by it), or
    the step alone without it (R4)."""
    if reading not in READINGS:
        raise ValueError(f"reading needs one of {', '.join(READINGS)}, got {reading!r}.")
    radius = ratio if reading == "R2" else ratio * data.mu
    stride = ratio / 5 if reading == "R4" else radius / 5
    moments = (round(steps ** (i / 14)) for i in range(15)) if curves else (EARLY, steps)
    return Run(
        family=family,
        at=at,
        data=data,
        network=Perceptron(m=m, **parts),
        attack=PGD(p=2, radius=radius, steps=20, step=stride, best=False),
        optimiser=GradientDescent(drop=0.1, every=max(1, steps // 2)),
        n=n,
        steps=steps,
        eta=0.1,
        probes=(risk, *errors),
        record=(0,) * curves + tuple(sorted({min(t, steps) for t in moments})),
        dtype="float32",
    )


def printed_at(at: Mapping[str, Any], mu: float) -> dict[str, Any]:
    """The coordinates of a run whose data are divided by ‖μ‖: it stands at its ‖μ‖ all the same."""
    return {name: mu if name == "‖μ‖" else place for name, place in at.items()}


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
    """The same on noisy clusters, a tenth of the labels flipped; R3: all divided by ‖μ‖."""
    data = Clusters(d=d, mu=mu, beta=BETA, balanced=balanced)
    if reading == "R3":
        data, at = replace(data, mu=1.0, marginal=Gauss(1 / mu)), printed_at(at, mu)
    errors = (ClusterErrors(n=points),)
    return trained(family, at, data, ratio, m, steps, errors, reading=reading, **more)


def standard(run: Run) -> Run:
    """The baseline of a run: its network trained without attack, measured under the run's."""
    probes = (replace(probe, against=run.attack) if isinstance(probe, ClusterErrors) else probe
              for probe in run.probes)  # fmt: skip
    return replace(run, family=STANDARD, attack=None, probes=tuple(probes))


def clean_accuracy(run: Rows) -> np.ndarray:
    """1 − β − (1 − 2β)P[y_c f ≤ 0]: with flipped test labels."""
    beta = run.run.data.beta
    return 1 - beta - (1 - 2 * beta) * run.last("clean_error_c")


def robust_accuracy(run: Rows) -> np.ndarray:
    """1 − the robust test error."""
    return 1 - run.last("robust_error")


ACCURACIES: dict[str, tuple[Callable[[Rows], np.ndarray], str]] = {
    "clean": (clean_accuracy, "clean_error_c"),
    "robust": (robust_accuracy, "robust_error"),
}


def accuracy(kind: str) -> Reading:
    """The accuracy of a map, as figures read it."""
    number, row = ACCURACIES[kind]
    return Reading(f"{kind} test accuracy", number, (row,))


def robust_ceiling(run: Run) -> float:
    """The largest robust accuracy that any classifier has; NaN where it is not known."""
    return _ceiling(run, _measuring(run))


def clean_ceiling(run: Run) -> float:
    """The largest accuracy that any classifier has; NaN where it is not known."""
    return _ceiling(run, None)


def _measuring(run: Run) -> Any:
    """The attack under which a run is measured: its own, or that of its probe."""
    others = (probe.against for probe in run.probes if isinstance(probe, ClusterErrors))
    return run.attack if run.attack is not None else next(others, None)


def _ceiling(run: Run, attack: Any) -> float:
    radius = attack.radius if attack is not None else 0.0
    known = run.data.ceiling(float(getattr(attack, "p", 2)), radius)
    return known if known < 1 else math.nan


def grid_of(
    rows: Evidence, x: str, y: str, number: Callable[[Rows], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x and y rising, and the numbers (seed, y, x) of a full grid."""
    if not len(rows):
        raise NoSuchRun(f"no runs over {x} and {y}")
    cells = {(r.task.coordinates[x], r.task.coordinates[y]): number(r) for r in rows}
    xs, ys = (np.array(sorted({cell[i] for cell in cells}), dtype=float) for i in (0, 1))
    made = np.stack([np.stack([cells[a, b] for a in xs], -1) for b in ys], 1)
    return xs, ys, made


Number = Callable[[Rows], np.ndarray]


def over_grid(
    name: str,
    meant: Where,
    number: Number,
    row: str,
    of: Callable[[np.ndarray], float],
    among: tuple[float, float] = (-math.inf, math.inf),
) -> Quantity:
    """A number a seed of a map (seed, d, ‖μ‖), of the columns with ‖μ‖ above the first and up to
    the second end."""

    def value(rows: Evidence) -> np.ndarray:
        mu, _, made = grid_of(rows.where(meant), "‖μ‖", "d", number)
        inside = (among[0] < mu) & (mu <= among[1])
        return np.array([of(table[:, inside]) for table in made])

    return quantity(name, value, Need(meant, (row,)))


def rank(values: np.ndarray) -> float:
    """Spearman's correlation of values with their places; NaN where nothing rises or falls.

    >>> round(rank(np.array([1.0, 3.0, 9.0])), 6), round(rank(np.array([2.0, 1.0])), 6)
    (1.0, -1.0)
    """
    from scipy import stats

    if np.ptp(values) == 0:
        return math.nan
    return float(stats.spearmanr(np.arange(len(values)), values).statistic)


def along_mu(table: np.ndarray) -> float:
    """How a map (d, ‖μ‖) rises along ‖μ‖."""
    return _mean([rank(row) for row in table])


def against_d(table: np.ndarray) -> float:
    """How a map (d, ‖μ‖) falls along d."""
    return -_mean([rank(column) for column in table.T])


def _mean(ranks: list[float]) -> float:
    known = [one for one in ranks if not math.isnan(one)]
    return float(np.mean(known)) if known else math.nan


def level_slopes(told: str, number: Number, row: str, level: float, meant: Where) -> Quantity:
    """The power of ‖μ‖ in the d at which the mean accuracy over seeds is a level, fitted over all
    rows of d that cross it; a jackknife pseudo-value a seed."""

    def slopes(rows: Evidence) -> np.ndarray:
        mu, d, made = grid_of(rows.where(meant), "‖μ‖", "d", number)
        return jackknife(made, lambda table: level_slope(mu, d, table, level))

    return quantity(f"power of ‖μ‖ in d, {told} accuracy {level:g}", slopes, Need(meant, (row,)))
