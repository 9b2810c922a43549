"""What BOAT's proofs use of any two-layer network: Lemmas 4.2, 4.3, B.6 to B.8, App. B.2.

Paper: f is ‖W‖₂-Lipschitz in x and concentrates; one step changes a margin by its first order up to
H‖x‖²‖W′ − W‖₂²/(2√m); gradients are bounded by the mean slope of the loss, and their Gram matrix
by that of the points.
Reading: each is proved for all W and x, so random ones prove nothing; both sides are driven
together by ascent and by the networks that attain equality, and that is what is told. H is the
Lipschitz constant of φ′ (for the smoothed leaky ReLU (1 − γ)H/2: with the printed H there is a
slack of 2/(1 − γ)). Identities that a definition makes true are settings.
Cost: quick 15 s (2 cores).
"""

import numpy as np

from adversarium.data import Gauss, GaussLaplace, Quartic, Skew
from adversarium.networks import LeakyReLU, ReLU, SmoothedLeakyReLU
from adversarium.plans import (
    Check,
    Profile,
    Read,
    Reading,
    Trial,
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
from adversarium.trials import (
    gradient_quotients,
    gram_of_gradients,
    lipschitz_quotients,
    margin_tails,
    one_step_identities,
    slope_ratio,
    step_quotients,
    taylor_quotients,
)

__all__ = ["checks", "figures", "paper", "plan", "quick"]

ACTIVATIONS = {
    "ReLU": (ReLU(), 0.0),
    "leaky": (LeakyReLU(0.3), 0.3),
    "smoothed": (SmoothedLeakyReLU(gamma=0.5, H=1.0), 0.5),
}
LAWS = {"Gauss": Gauss(), "quartic": Quartic(), "Gauss–Laplace": GaussLaplace(), "skew": Skew()}
BENT = ((0.1, 0.25), (0.5, 1.0), (0.9, 4.0))  # γ, H
SHARP = 1 + 1e-9

quick = dict(seeds=5, draws=50_000)
paper = dict(seeds=10, draws=200_000)


def plan(draws, tries=20):
    for name, (phi, gamma) in ACTIVATIONS.items():
        at, of = {"φ": name}, dict(activation=phi, tries=tries)
        yield Trial(family="Lipschitz", at=at, function=lipschitz_quotients, parameters=of)
        yield Trial(family="gradients", at=at, function=gradient_quotients, parameters=of)
        if gamma:
            bent = dict(**of, gamma=gamma)
            yield Trial(family="Gram", at=at, function=gram_of_gradients, parameters=bent)
        if name != "smoothed":
            step = dict(**of, gamma=1.0)
            yield Trial(family="one step", at=at, function=one_step_identities, parameters=step)
    for name, law in LAWS.items():
        for phi in ("linear", "ReLU"):
            parameters = dict(marginal=law, activation=ReLU(), linear=phi == "linear", draws=draws)
            at = {"law": name, "φ": phi}
            yield Trial(family="tails", at=at, function=margin_tails, parameters=parameters)
    for gamma, H in BENT:
        parameters = dict(gamma=gamma, H=H, tries=tries)
        place = {"γ": Read("gamma"), "H": Read("H")}
        yield Trial(family="Taylor", at=place, function=taylor_quotients, parameters=parameters)
        yield Trial(family="steps", at=place, function=step_quotients, parameters=parameters)
    yield Trial(family="slopes", function=slope_ratio)


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
                "any weights": _all("Lipschitz", "largest", SHARP),
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
                "any points, any step": _all("steps", "largest", 0.0),
                "without the remainder it would be false": each(
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
                "any weights": _all("Taylor", "largest", SHARP),
                "attained": _attained("Taylor", "sharp"),
            }
        ),
    ),
    "boat.lemB.7.grad_vs_G": counted_as(
        "inequality",
        parts(
            {
                "‖∇L̂‖_F ≤ max‖x̃_i‖·Ĝ": _all("gradients", "largest", SHARP),
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
                "slope products ≥ γ²": _all("Gram", "largest", SHARP),
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

figures = (
    Profile(
        name="tails",
        title="Lemma 4.2: how far the tail of the margin lies above its bound",
        y=("excess", "with one"),
        runs=tuple(where("tails", law=law, φ="linear") for law in ("Gauss", "quartic")),
        names={"excess": "P − 3 s.e. − exp(−t²/2)", "with one": "P − 3 s.e. − exp(−t²)"},
        x_label="t√λ/‖W‖₂",
        y_label="difference",
        caption="A linear network; the universal constant is ½: with 1 the bound is crossed.",
    ),
)
