"""Check the properties of any two-layer network that BOAT's proofs use."""

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Hypothesis,
    Identity,
    Level,
    Parts,
    Reading,
    last,
    where,
)

ONE = 1 + 1e-9  # 1, up to rounding


def _largest(name: str) -> Reading:
    return Reading(f"largest {name}", lambda run: run.last(name).max(1), (name,))


def _gap(name: str) -> Reading:
    return Reading(f"|{name} − 1|", lambda run: np.abs(run.last(name) - 1), (name,))


def _all(family: str, name: str, most: float) -> Check:
    return Each(where(family), lambda run: AtMost(last(name, run), most))


def _attained(family: str, name: str) -> Check:
    return Each(where(family), lambda run: Identity(_gap(name).on(run), 1e-9))


bound_over_lambda = Reading("bound over λ, largest", lambda run: 1 / run.last("least"), ("least",))

checks: dict[str, Check] = {
    "boat.lem4.2.lipschitz": CountedAs(
        "inequality",
        Parts(
            {
                "any weights": _all("Lipschitz", "largest", ONE),
                "attained by a linear network": _attained("Lipschitz", "attained"),
            }
        ),
    ),
    "boat.lem4.2.concentration": CountedAs(
        "inequality",
        Parts(
            {
                "c = ½, four laws": Each(
                    where("tails"), lambda run: AtMost(_largest("excess").on(run), 0.0)
                ),
                "c = 1 would be false": Each(
                    where("tails", law="Gauss", φ="linear"),
                    lambda run: Level(_largest("with one").on(run), 0.0),
                ),
            }
        ),
    ),
    "boat.lem4.3.increment": CountedAs(
        "inequality",
        Parts(
            {
                "with C₂ of the step": Each(
                    where("steps"), lambda run: AtMost(last("largest", run), 0.0)
                ),
                "false without the remainder": Each(
                    where("steps"), lambda run: Level(last("without", run), 0.0)
                ),
            }
        ),
    ),
    "boat.lem4.4.fact": AtMost(last("largest", "slopes"), 1.0),
    "boat.lemB.6.taylor": CountedAs(
        "inequality",
        Parts(
            {
                "any weights": _all("Taylor", "largest", ONE),
                "attained": _attained("Taylor", "sharp"),
            }
        ),
    ),
    "boat.lemB.7.grad_vs_G": CountedAs(
        "inequality",
        Parts(
            {
                "‖∇L̂‖_F ≤ max‖x̃_i‖·Ĝ": _all("gradients", "largest", ONE),
                "attained by one point": _attained("gradients", "sharp"),
                "Ĝ ≤ min(L̂, 1)": _all("gradients", "slope", 1.0),
            }
        ),
    ),
    "boat.lemB.8.grad_gram": Hypothesis(
        "identity", *(last("error", where("Gram", φ=name)) for name in ("leaky", "smoothed"))
    ),
    "boat.propB.24.lambda_lower": Every(
        *(
            AtMost(bound_over_lambda.on(where("one step", φ=name)), 1 + 1e-9)
            for name in ("ReLU", "leaky")
        )
    ),
    "boat.secB.increment_identity": Hypothesis(
        "identity", *(last("error", where("one step", φ=name)) for name in ("ReLU", "leaky"))
    ),
}
