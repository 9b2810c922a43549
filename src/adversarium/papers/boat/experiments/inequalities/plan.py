"""Properties of any two-layer network that BOAT's proofs use: Lemmas 4.2, 4.3, B.6 to B.8, App.
B.2.

Paper: f is ‖W‖₂-Lipschitz in x and concentrates; one step changes a margin by its first-order term
up to H‖x‖²‖W′ − W‖₂²/(2√m); the mean slope of the loss bounds the gradients, and the Gram matrix of
the points bounds that of the gradients.
Reading: each inequality is proved for all W and x, so agreement at random W and x is no evidence.
The trials make the two sides nearly equal, by ascent and with networks that attain equality, and
report their quotients. In the bounds we take H to be the Lipschitz constant of φ′. For the smoothed
leaky ReLU with parameters γ and H, that constant is (1 − γ)H/2; the published bound uses H itself
and is loose by a factor 2/(1 − γ). Identities that hold by definition are not judged.
Cost: quick 9 s (2 cores).
"""

from adversarium.data import Gauss, GaussLaplace, Quartic, Skew
from adversarium.networks import LeakyReLU, ReLU, SmoothedLeakyReLU
from adversarium.plans import Profile, Read, Trial, where

from ...theory.two_layer import (
    gradient_quotients,
    gram_of_gradients,
    lipschitz_quotients,
    margin_tails,
    one_step_identities,
    slope_ratio,
    step_quotients,
    taylor_quotients,
)

ACTIVATIONS = {
    "ReLU": (ReLU(), 0.0),
    "leaky": (LeakyReLU(0.3), 0.3),
    "smoothed": (SmoothedLeakyReLU(gamma=0.5, H=1.0), 0.5),
}
LAWS = {"Gauss": Gauss(), "quartic": Quartic(), "Gauss–Laplace": GaussLaplace(), "skew": Skew()}
SMOOTHED_PARAMETERS = ((0.1, 0.25), (0.5, 1.0), (0.9, 4.0))  # (γ, H)

quick = dict(seeds=5, draws=20_000, tries=2)
paper = dict(seeds=10, draws=200_000)


def plan(draws, tries=20):
    for name, (phi, gamma) in ACTIVATIONS.items():
        at, given = {"φ": name}, dict(activation=phi, tries=tries)
        yield Trial(family="Lipschitz", at=at, function=lipschitz_quotients, parameters=given)
        yield Trial(family="gradients", at=at, function=gradient_quotients, parameters=given)
        if gamma:
            with_gamma = dict(**given, gamma=gamma)
            yield Trial(family="Gram", at=at, function=gram_of_gradients, parameters=with_gamma)
        if name != "smoothed":
            with_slope = dict(**given, gamma=1.0)
            yield Trial(
                family="one step", at=at, function=one_step_identities, parameters=with_slope
            )
    for name, law in LAWS.items():
        for phi in ("linear", "ReLU"):
            parameters = dict(marginal=law, activation=ReLU(), linear=phi == "linear", draws=draws)
            at = {"law": name, "φ": phi}
            yield Trial(family="tails", at=at, function=margin_tails, parameters=parameters)
    for gamma, H in SMOOTHED_PARAMETERS:
        parameters = dict(gamma=gamma, H=H, tries=tries)
        place = {"γ": Read("gamma"), "H": Read("H")}
        yield Trial(family="Taylor", at=place, function=taylor_quotients, parameters=parameters)
        yield Trial(family="steps", at=place, function=step_quotients, parameters=parameters)
    yield Trial(family="slopes", function=slope_ratio, exact=True)


figures = (
    Profile(
        name="tails",
        title="Lemma 4.2: how far the tail of the margin lies above its bound",
        y=("excess", "with one"),
        runs=tuple(where("tails", law=law, φ="linear") for law in ("Gauss", "quartic")),
        names={"excess": "P − 3 s.e. − exp(−t²/2)", "with one": "P − 3 s.e. − exp(−t²)"},
        x_label="t√λ/‖W‖₂",
        y_label="difference",
        caption="A linear network: the bound holds with the universal constant ½, not with 1.",
    ),
)
