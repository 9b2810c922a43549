"""The identities and short lemmas of CGRO (§3, §4.1, App. A), without long training.

Paper: y f(X) = α³U + V, the transfer attack, the formula of the gradient, tensor-power and decay
lemmas, anti-concentration of a cubic form, Sauer's lemma.
Cost: quick 10 s (2 cores).
"""

from adversarium.constructions.counting import sauer
from adversarium.data import PatchData
from adversarium.measure.sequences import growth_and_decay
from adversarium.plans import AtMost, Every, Identity, NotTestable, Table, Trial, Why, last, where

from ..theory.cubic import cubic_form, cubic_identities

quick = dict(seeds=5)
paper = dict(seeds=20)


def plan(d=60, P=4, n=12, m=5, gamma=0.9):
    if min(n, m, P - 1, d - 1) < 1:
        raise ValueError(f"the plan needs n, m >= 1 and P, d >= 2, got n={n}, m={m}, P={P}, d={d}.")
    data = PatchData(d=d, P=P, alpha=2.0, sigma=0.3)
    parts = dict(data=data, n=n, m=m, gamma=gamma)
    yield Trial(family="identities", function=cubic_identities, parameters=parts, version=2)
    yield Trial(family="sequences", function=growth_and_decay)
    yield Trial(family="cubic form", function=cubic_form, parameters=dict(d=d), version=2)
    yield Trial(family="Sauer", function=sauer)


checks = {
    "cgro.eq.decomp": Identity(last("decomposition", "identities"), 1e-12),
    "cgro.eq.gta": Identity(last("attack", "identities"), 1e-12),
    "cgro.eq.grad": Identity(last("printed_gradient", "identities"), 1e-10),
    "cgro.eq.grad.corrected": Every(
        Identity(last("signed_gradient", "identities"), 1e-10),
        Identity(last("reduced", "identities"), 1e-12),
    ),
    "cgro.lemA.1": AtMost(last("A.1", "sequences"), 1.0),
    "cgro.lemA.2": AtMost(last("A.2", "sequences"), 1.0),
    "cgro.lemA.3": AtMost(last("A.3", "sequences"), 1.0),
    "cgro.lemA.4": NotTestable(
        "frequency", Why.VACUOUS, "the printed probability 1 − d/2^(1/d) is negative for d ≥ 2"
    ),
    "cgro.lemA.4.corrected": AtMost(last("share", "cubic form"), 1.26),
    "cgro.lemA.7": NotTestable(
        "inequality", Why.CITED, "the VC dimension of ReLU networks is O(WL log W)"
    ),
    "cgro.lemA.8": AtMost(last("ratio", "Sauer"), 1.0),
}

_names = {
    "decomposition": "y f = α³U + V, relative",
    "attack": "transfer attack",
    "printed_gradient": "gradient as published",
    "signed_gradient": "gradient with y_i",
    "reduced": "reduced dynamics, 60 steps",
}

figures = (
    Table(
        name="identities",
        title="Errors of the identities",
        y=tuple(_names),
        runs=(where("identities"),),
        names=_names,
        caption="Largest absolute errors; the published gradient lacks y_i on the noise patches.",
    ),
)
