"""Checks of kernels and parity in CONV."""

import math

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Existence,
    Hypothesis,
    Identity,
    Level,
    NotTestable,
    Parts,
    Reading,
    Why,
    last,
    where,
)

from .plan import DATA

BIASLESS = ("ReLU", "smoothed ReLU", "softplus", "quadratic ReLU", "erf", "tanh")
CLOSED = ("ReLU", "smoothed ReLU", "quadratic ReLU", "erf", "shifted")
FIRST_FITTED = 9.0  # smallest degree used to fit a power
EPSILON = 0.2
# data that each activation cannot fit
UNREACHABLE = {"ReLU": "odd", "smoothed ReLU": "odd", "softplus": "odd", "quadratic ReLU": "even",
               "erf": "even", "tanh": "even"}  # fmt: skip
FLOOR = math.sqrt(2) - 1
FLOORS = (16, 64)  # widths; the lower bound is the same at every width


def _degree(k: int) -> Reading:
    """Return a reading that is 1 if the coefficient of degree k exceeds rounding errors, else 0."""

    def nonzero(run):
        degrees = list(run["coefficients"].axes["k"])
        return (run.last("coefficients")[:, degrees.index(k)] > 1e-10).astype(float)

    return Reading(f"degree {k} is there", nonzero, ("coefficients",))


def _all_odd(run) -> np.ndarray:
    """Return 1 if the coefficients of all odd degrees are positive, else 0."""
    degrees = np.array(run["coefficients"].axes["k"])
    odd = run.last("coefficients")[:, (degrees % 2 == 1)]
    return (odd > 0).all(1).astype(float)


def _all_positive(run) -> np.ndarray:
    """Return 1 if the coefficients of all degrees are positive, else 0."""
    values: np.ndarray = (run.last("coefficients") > 0).all(1).astype(float)
    return values


def _growth(run) -> np.ndarray:
    """Return the fitted power of k in |P_k|_H/k^s over odd degrees k."""
    degrees = np.array(run["norms"].axes["k"])
    keep = degrees >= FIRST_FITTED
    values = np.log(run.last("norms")[:, keep])
    x = np.log(degrees[keep])
    return np.array([np.polyfit(x, row, 1)[0] for row in values])


growth = Reading("power of k in |P_k|_H/k^s", _growth, ("norms",))
all_odd = Reading("odd degrees are there", _all_odd, ("coefficients",))
positive = Reading("all coefficients are positive", _all_positive, ("coefficients",))
margin = Reading(
    "100 roundings less the smallest eigenvalue", lambda run: 100 - run.last("quotient"),
    ("quotient",),
)  # fmt: skip
QUADRATIC = where("harmonics", s="quadratic ReLU")


def _degree_present(k: int) -> Check:
    """Check that the coefficient of degree k does not vanish."""
    return Each(QUADRATIC, lambda run: Existence(_degree(k).on(run)))


def _below_floor(name: str, data: str) -> Check:
    """Check that the loss after training is below the floor √2 − 1."""
    return Each(where("trained", s=name), lambda run: Level(last(data, run), high=FLOOR - 1e-6))


def _on_floor(name: str, data: str) -> Check:
    """Check that the loss after training is at least √2 − 1 in every seed."""
    return Each(
        where("trained", s=name),
        lambda run: Level(last(data, run), FLOOR - 1e-6, always=True),
    )


checks: dict[str, Check] = {
    "conv.def5.1": Hypothesis(
        "level",
        *(last("off", where("forms", s=name)) for name in CLOSED),
        *(last("bias", where("forms", s=name)) for name in CLOSED),
        *(last("spread", where("forms", s=name)) for name in CLOSED),
    ),
    "conv.asm5.2": Hypothesis(
        "existence",
        *(
            last("error", where("left out", s=name, points=points))
            for name in (*BIASLESS, "shifted")
            for points in (6, 8)
        ),
    ),
    "conv.rem5.1": CountedAs(
        "existence",
        Parts(
            {
                "a large class of activations": NotTestable(
                    "existence", Why.VACUOUS, "the class is not named"
                ),
                "no half of K is a polynomial, 0 no, 1 yes, reported": Hypothesis(
                    "existence", *(last("whole", where("parity", s=name)) for name in BIASLESS)
                ),
            }
        ),
    ),
    "conv.rem5.1.shifted": CountedAs(
        "existence",
        Each(where("harmonics, shifted"), lambda run: Existence(positive.on(run))),
    ),
    "conv.appC.2.universal": CountedAs(
        "existence", Existence(last("whole", where("parity", s="quadratic ReLU")))
    ),
    "conv.rem5.1.training": CountedAs(
        "level",
        Parts(
            {
                **{
                    f"{name}: the loss stays at 0.41421 or above on {data} data": (
                        _on_floor(name, data)
                    )
                    for name, data in UNREACHABLE.items()
                },
                "shifted: descent gets below 0.41421 on even and on odd data": Every(
                    *(_below_floor("shifted", data) for data in DATA[:2])
                ),
            }
        ),
    ),
    "conv.lemC.3": CountedAs(
        "existence",
        Parts({f"even degree {k}": _degree_present(k) for k in (4, 6, 8)}),
    ),
    "conv.lemC.3.corrected": CountedAs(
        "existence",
        Parts(
            {
                "all odd degrees": Each(QUADRATIC, lambda run: Existence(all_odd.on(run))),
                "|f|_H ≤ C_d η along odd degrees, s = (d + 3)/2": Each(
                    QUADRATIC, lambda run: Level(growth.on(run), -math.inf, 0.05, kind="exponent")
                ),
                "degrees 0 and 2": Every(_degree_present(0), _degree_present(2)),
                "no other even degree: K(r) + K(−r) = 2r²": Identity(
                    last("even − r²", where("parity", s="quadratic ReLU")), 1e-12
                ),
            }
        ),
    ),
    "conv.fn14": CountedAs(
        "existence",
        Parts(
            {
                "the kernel contains even functions only": Each(
                    QUADRATIC,
                    lambda run: Existence(
                        Reading(
                            "degree 3 is not there",
                            lambda row: 1 - _degree(3).of(row),
                            ("coefficients",),
                        ).on(run)
                    ),
                ),
                "lifted points [x, 1] can be separated": Each(
                    where("lifted"), lambda run: AtMost(margin.on(run), 0.0)
                ),
                "without it they are not separated, reported": Hypothesis(
                    "existence", last("least", where("not lifted"))
                ),
            }
        ),
    ),
    "conv.corC.1": CountedAs(
        "existence",
        Parts(
            {
                "Assumption C.1 word for word (one label): L_* ≤ ε, exact attack": Each(
                    where("one label"), lambda run: AtMost(last("robust", run), EPSILON)
                ),
                "Assumption C.1 for the same x: L_A ≤ ε on 8 points with labels (−1)^k": Every(
                    *(AtMost(last("floor", where("floor", m=m, d=2)), EPSILON) for m in FLOORS)
                ),
                "its footnote: L_* ≤ ε on two sets of four of these points": Every(
                    *(AtMost(last("floor", where("floor", m=m, d=2)), EPSILON) for m in FLOORS)
                ),
                "the smallest L_* of a descent against the exact attack, reported": Hypothesis(
                    "existence",
                    *(last("descent", where("floor", m=m, d=2)) for m in (16, 256, 4096)),
                ),
                "Σ y_k f(W, x_k) = 0, reported": Hypothesis(
                    "existence", last("sum", where("floor", m=64, d=2)),
                    last("least", where("floor", m=64, d=2)),
                    last("sets", where("floor", m=64, d=2)),
                ),
            }
        ),
    ),
}  # fmt: skip
