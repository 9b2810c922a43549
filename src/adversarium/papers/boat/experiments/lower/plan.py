"""Theorem 3.2 of BOAT: a lower bound on the robust error of any classifier on noisy clusters.

Paper: any classifier has a robust error of at least β + (1 − 2β)/4·∫min{p(ξ), p(ξ + v)}dξ with
v = 2(1 − α/‖μ‖)μ, and of at least ½ if α ≥ ‖μ‖; for Gaussian clusters the bound is β + (1 −
2β)/2·Φ(−(‖μ‖ − α)/σ).
Reading: with μ on an axis, an optimal matching of the two classes' points gives the smallest error
of *any* classifier (exact for distributions on a grid). With μ spread over k coordinates, we test
half-spaces; we also test trained networks under strong attacks. Flips are independent, as the proof
requires. Ours: ½ in place of ¼, and the exact value for Gaussian clusters.
Cost: quick 17 s (2 cores).
"""

import itertools

from adversarium.attacks import PGD, strong_attacks
from adversarium.data import Clusters, Gauss, GaussLaplace, Quartic, Skew, TruncatedGauss
from adversarium.data.marginals import Marginal
from adversarium.measure.errors import Error
from adversarium.networks import TwoLayer
from adversarium.plans import Profile, Read, Run, Trial, where

from ...theory.overlaps import halfspace_errors, least_errors, oracle_error, shared_mass

LEAST, FINE, SAMPLED, SPREAD, NETS = "least errors", "fine", "overlaps", "half-spaces", "networks"
HALFSPACE_SPREADS = (4, 16)  # number of coordinates that μ is spread over, for half-spaces
HALF_DRAWS = 200_000  # draws of ξ per half-space


LAWS: dict[str, Marginal] = {
    "Gauss": Gauss(),
    "wide Gauss": Gauss(2.0),
    "quartic": Quartic(),
    "Gauss–Laplace": GaussLaplace(),
    "truncated": TruncatedGauss(),
    "skew": Skew(),
}
MUS, BETAS = (1.0, 2.0, 4.0), (0.0, 0.05, 0.1, 0.3)
RADII = (0.1, 0.5, 0.9, 1.0, 1.5)  # α/‖μ‖ for the networks

quick = dict(
    seeds=5, laws=("Gauss", "quartic", "skew"), mus=(2.0,), betas=(0.0, 0.1), spreads=(1,),
    halves=(), ratios=(0.5, 1.0), steps=30, points=100, draws=20_000,
)  # fmt: skip
paper = dict(seeds=10)


def plan(
    laws=tuple(LAWS), mus=MUS, betas=BETAS, spreads=(1, 4, 16, 100), halves=("quartic", "skew"),
    ratios=RADII, steps=300, points=16_000, draws=200_000,
):  # fmt: skip
    coordinates = {"law": "", "mu": Read("mu"), "beta": Read("beta")}
    for law, mu, beta in itertools.product(laws, mus, betas):
        parameters = dict(marginal=LAWS[law], mu=mu, beta=beta)
        at = {**coordinates, "law": law}
        yield Trial(family=LEAST, at=at, function=least_errors, parameters=parameters, exact=True)
        if law == "Gauss":  # a finer grid, accurate to six digits
            fine = dict(**parameters, ratios=(0.1, 0.5, 0.6, 0.9), cells=1000)
            yield Trial(family=FINE, at=at, function=least_errors, parameters=fine, exact=True)
    for law, spread, mu in itertools.product(laws, spreads, (0.5, 1.0, 2.0, 3.0)):
        # the log ratio is infinite where the density vanishes
        if law == "truncated" and spread > 1:
            continue
        if mu == 3.0 and law != "quartic":
            continue
        parameters = dict(marginal=LAWS[law], mu=mu, ratio=0.1, spread=spread, draws=draws)
        at = {"law": law, "k": spread, "mu": Read("mu")}
        yield Trial(family=SAMPLED, at=at, function=shared_mass, parameters=parameters)
    for law, spread, ratio in itertools.product(halves, HALFSPACE_SPREADS, (0.0, 0.1, 0.5)):
        parameters = dict(
            marginal=LAWS[law], mu=2.0, ratio=ratio, beta=0.1, spread=spread, draws=HALF_DRAWS
        )
        at = {"law": law, "k": spread, "ratio": ratio}
        yield Trial(family=SPREAD, at=at, function=halfspace_errors, parameters=parameters)
    for mu, ratio in itertools.product(sorted({1.0, 2.0} & {*mus}), (0.1, 0.5)):
        at = {"mu": mu, "ratio": ratio}
        parameters = dict(mu=mu, ratio=ratio, beta=0.1)
        yield Trial(family="oracle", at=at, function=oracle_error, parameters=parameters)
    for law, ratio, mu in itertools.product(("Gauss", "skew"), ratios, sorted({1.0, 2.0} & {*mus})):
        radius = ratio * mu
        yield Run(
            family=NETS,
            at={"law": law, "ratio": ratio, "mu": mu},
            data=Clusters(d=20, mu=mu, marginal=LAWS[law]),
            network=TwoLayer(m=16, omega=0.05),
            attack=PGD(p=2, radius=radius, steps=10, step=radius / 4, after=1),
            n=100,
            steps=steps,
            eta=0.5,
            final=(Error(n=points, attacks=strong_attacks(2, radius, 1, steps=20), name="robust"),),
            record=(0,),
        )


figures = (
    Profile(
        name="floors",
        title="The least robust error of any classifier, and its bounds",
        y=("least", "oracle", "tight", "printed"),
        runs=tuple(where(LEAST, law=law, mu=2.0, beta=0.1) for law in ("Gauss", "quartic", "skew")),
        names={
            "least": "least error of any classifier",
            "oracle": "sign⟨μ, x⟩",
            "tight": "bound with ½ (ours)",
            "printed": "Theorem 3.2",
        },
        x_label="α/‖μ‖",
        y_label="robust error",
        caption="Clusters ±μ on an axis, ‖μ‖ = 2, β = 0.1; exact for noise on a grid. For "
        "α ≥ ‖μ‖ every classifier errs on at least half of the points.",
    ),
)
