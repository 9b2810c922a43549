"""Check Figure 1 of BOAT."""

import numpy as np

from adversarium.attacks import PGD
from adversarium.data import Gauss
from adversarium.networks import Perceptron
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
    Run,
    where,
)
from adversarium.plans.evidence import SHARE, quantity

from ...theory.bounds import lazy_accuracies
from ...theory.calibrated import Calibrated
from ...theory.figure_runs import (
    ACCURACIES,
    FINE,
    LEVELS,
    MAP,
    against_d,
    along_mu,
    clean_accuracy,
    grid_of,
    level_slopes,
    over_grid,
    robust_accuracy,
    slope_bias,
)
from .plan import CLAIMED

NAMES = ("clean_error_c", "robust_error")


def _over(name: str, of) -> Check:
    return Every(
        *(
            Level(over_grid(f"{name} ({kind})", where(MAP), *ACCURACIES[kind], of), 0.5)
            for kind in LEVELS
        )
    )


GRID = "a finer grid of ‖μ‖ would decide it"


def _power(kind: str, at: float) -> Check:
    """Require the published power of a level set, within 0.3."""
    claimed, (number, row) = CLAIMED[kind], ACCURACIES[kind]
    return Calibrated(
        Level(
            level_slopes(kind, number, row, at, where(FINE)),
            claimed - 0.3,
            claimed + 0.3,
            kind="exponent",
        ),
        slope_bias(kind, number, row, at, claimed, where(FINE)),
        GRID,
    )


def _transition() -> dict[str, Check]:
    named: dict[str, Check] = {
        "accuracy rises with ‖μ‖": _over("rank along ‖μ‖", along_mu),
        "accuracy falls with d": _over("rank along −d", against_d),
    }
    for kind, levels in LEVELS.items():
        claimed = CLAIMED[kind]
        named[f"{kind} accuracy {levels[0]:g} to {levels[-1]:g}: d ~ ‖μ‖^{claimed:g}"] = Every(
            *(_power(kind, at) for at in levels)
        )
        low, high = (level_slopes(kind, *ACCURACIES[kind], at, where(FINE))
                     for at in (levels[0], levels[-1]))  # fmt: skip
        named[f"{kind}: rise of the power with the level"] = Hypothesis("ordering", high - low)
        named[f"{kind}: bias of the estimator on an exact law"] = Hypothesis(
            "exponent",
            *(slope_bias(kind, *ACCURACIES[kind], at, claimed, where(FINE)) for at in levels),
        )
    return named


def _corner(name: str, number, d: str, mu: str) -> Quantity:
    """Return an accuracy at one corner of the map: the smallest or largest d and ‖μ‖."""

    def value(rows: Evidence) -> np.ndarray:
        table = grid_of(rows.where(where(MAP)), "‖μ‖", "d", number)[2]
        return table[:, 0 if d == "least" else -1, 0 if mu == "least" else -1]

    need = Need(where(MAP), NAMES)
    return quantity(f"{name}, {d} d, {mu} ‖μ‖", value, need, limits=SHARE)


def _inside(rows: Evidence) -> np.ndarray:
    """Return the largest difference, over the cells, of robust accuracy minus clean accuracy."""
    tables = [grid_of(rows.where(where(MAP)), "‖μ‖", "d", f)[2]
              for f in (robust_accuracy, clean_accuracy)]  # fmt: skip
    return (tables[0] - tables[1]).max((1, 2))


def is_predicted(run: Run) -> bool:
    """Return whether the prediction applies to a run.

    It needs PyTorch's initialisation, all weights trained, ReLU, noise of variance 1, labels
    sampled and flipped independently, and an l2 attack that can reach any point of its ball.
    """
    data, attack = run.data, run.attack
    independent = data.marginal == Gauss() and data.flip == "independent" and not data.balanced
    reaches_ball = attack is None or (
        type(attack) is PGD
        and attack.p == 2
        and attack.steps * attack.step_size >= 2 * attack.radius
    )
    return independent and reaches_ball and run.network == Perceptron(m=run.network.m)


def predicted(run: Run, offset: bool = True) -> tuple[float, float]:
    """Return the clean and robust accuracy of the linearised network."""
    rates = run.eta * sum((run.optimiser.factor(t) for t in range(run.steps)), 0.0)
    ratio = run.attack.radius / run.data.mu if run.attack is not None else 0.0
    beta = run.data.beta
    return lazy_accuracies(
        run.n, run.network.m, run.data.d, run.data.mu, ratio, beta, rates, offset
    )


checks: dict[str, Check] = {
    "boat.fig1.transition": CountedAs("exponent", Parts(_transition())),
    "boat.fig1.levels": CountedAs(
        "level",
        Parts(
            {
                "1 − β where ‖μ‖ is large and d small": Every(
                    Level(_corner("clean accuracy", clean_accuracy, "least", "most"), 0.88, 0.92),
                    Level(_corner("robust accuracy", robust_accuracy, "least", "most"), 0.88, 0.92),
                ),
                "clean accuracy ½ in the opposite corner": Level(
                    _corner("clean accuracy", clean_accuracy, "most", "least"), 0.48, 0.52
                ),
                "robust accuracy below ½ there": Level(
                    _corner("robust accuracy", robust_accuracy, "most", "least"), high=0.5
                ),
                "the robust region lies inside the clean one": Hypothesis(
                    "level",
                    quantity("largest robust − clean accuracy", _inside, Need(where(MAP), NAMES)),
                ),
            }
        ),
    ),
}
