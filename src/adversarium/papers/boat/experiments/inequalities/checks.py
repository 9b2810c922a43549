"""Check the properties of any two-layer network that BOAT's proofs use."""

import numpy as np

from adversarium.plans import (
    Check,
    Reading,
    at_most,
    counted_as,
    each,
    identity,
    last,
    level,
    parts,
    setting,
    where,
)

ONE = 1 + 1e-9  # 1, up to rounding


def _largest(name: str) -> Reading:
    return Reading(f"largest {name}", lambda run: run.last(name).max(1), (name,))


def _gap(name: str) -> Reading:
    return Reading(f"|{name} − 1|", lambda run: np.abs(run.last(name) - 1), (name,))


def _all(family: str, name: str, most: float) -> Check:
    return each(where(family), lambda run: at_most(last(name, run), most))


def _attained(family: str, name: str) -> Check:
    return each(where(family), lambda run: identity(_gap(name).on(run), 1e-9))


checks: dict[str, Check] = {
    "boat.lem4.2.lipschitz": counted_as(
        "inequality",
        parts(
            {
                "any weights": _all("Lipschitz", "largest", ONE),
                "attained by a linear network": _attained("Lipschitz", "attained"),
            }
        ),
    ),
    "boat.lem4.2.concentration": counted_as(
        "inequality",
        parts(
            {
                "c = ½, four laws": each(
                    where("tails"), lambda run: at_most(_largest("excess").on(run), 0.0)
                ),
                "c = 1 would be false": each(
                    where("tails", law="Gauss", φ="linear"),
                    lambda run: level(_largest("with one").on(run), 0.0),
                ),
            }
        ),
    ),
    "boat.lem4.3.increment": counted_as(
        "inequality",
        parts(
            {
                "with C₂ of the step": each(
                    where("steps"), lambda run: at_most(last("largest", run), 0.0)
                ),
                "false without the remainder": each(
                    where("steps"), lambda run: level(last("without", run), 0.0)
                ),
            }
        ),
    ),
    "boat.lem4.4.fact": setting("inequality", last("largest", "slopes")),
    "boat.lemB.6.taylor": counted_as(
        "inequality",
        parts(
            {
                "any weights": _all("Taylor", "largest", ONE),
                "attained": _attained("Taylor", "sharp"),
            }
        ),
    ),
    "boat.lemB.7.grad_vs_G": counted_as(
        "inequality",
        parts(
            {
                "‖∇L̂‖_F ≤ max‖x̃_i‖·Ĝ": _all("gradients", "largest", ONE),
                "attained by one point": _attained("gradients", "sharp"),
                "Ĝ ≤ min(L̂, 1)": _all("gradients", "slope", 1.0),
            }
        ),
    ),
    "boat.lemB.8.grad_gram": counted_as(
        "identity",
        parts(
            {
                "the identity": each(
                    where("Gram"), lambda run: identity(last("error", run), 1e-10)
                ),
                "slope products ≥ γ²": _all("Gram", "largest", ONE),
                "attained where every unit has the slope γ": _attained("Gram", "attained"),
            }
        ),
    ),
    "boat.propB.24.lambda_lower": setting(
        "inequality", *(last("least", where("one step", φ=name)) for name in ("ReLU", "leaky"))
    ),
    "boat.secB.increment_identity": setting(
        "identity", *(last("error", where("one step", φ=name)) for name in ("ReLU", "leaky"))
    ),
}
