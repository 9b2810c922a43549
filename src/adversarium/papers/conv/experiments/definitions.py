"""§3 and §4.1 of CONV: sets, attacks, losses, and a surrogate loss that jumps.

Paper: perturbation sets are compatible with the labels, an attack is any map into them, L_A ≤ L_*.
L_A need not be continuous in the weights.
Reading: definitions and assumptions are reported without a verdict. Segments of weights are
bisected to 1e-12 to find a jump of L_A; L_* is compared between the same two ends.
Cost: quick 9 s (one core).
"""

from adversarium.networks import SmoothedReLU, Softplus
from adversarium.plans import (
    CountedAs,
    Each,
    Existence,
    Hypothesis,
    Parts,
    Read,
    Table,
    Trial,
    last,
    where,
)
from adversarium.plans.evidence import Reading

from ..theory.orders import share
from ..theory.surrogates import loss_flags, open_arc, surrogate_jump, touching_caps, within_sets

RULES = ("identity", "exact", "anti", "random", "cycle", "fgsm", "pgd", "worst_of", "switch")
LOSSES = ("pseudo-Huber", "logistic", "absolute", "square")
ACTIVATIONS = {"smoothed ReLU": SmoothedReLU(b=2.0), "softplus": Softplus(b=2.0)}

quick = dict(seeds=5, widths=(16, 64), segments=4)
paper = dict(seeds=20, widths=(16, 64, 256, 1024), segments=40)


def plan(widths, segments):
    for d in (2, 3, 10):
        yield Trial(family="caps", at={"d": Read("d")}, function=touching_caps,
                    parameters=dict(d=d, radius=0.4), exact=True)  # fmt: skip
    for rule in RULES:
        of = dict(activation=ACTIVATIONS["smoothed ReLU"], rule=rule)
        yield Trial(family="attacks", at={"A": Read("rule")}, function=within_sets, parameters=of)
    soft = dict(activation=ACTIVATIONS["softplus"])
    yield Trial(family="arcs", function=open_arc, parameters=soft)
    for loss in LOSSES:
        yield Trial(family="losses", at={"loss": Read("loss")}, function=loss_flags,
                    parameters=dict(loss=loss), exact=True)  # fmt: skip
    for name, activation in ACTIVATIONS.items():
        for m in widths:
            for rule in ("fgsm", "switch", "exact"):
                at = {"A": Read("rule"), "m": Read("m"), "s": name}
                count = max(1, segments // 4) if rule == "exact" else segments
                of = dict(activation=activation, rule=rule, m=m, segments=count)
                yield Trial(family="jumps", at=at, function=surrogate_jump, parameters=of,
                            version=2)  # fmt: skip


def _jumps(run):
    """Check that L_A jumps by more than 0.001."""
    found = Reading("L_A jumps by more than 0.001", lambda row: (row.last("jump") > 1e-3) * 1.0,
                    ("jump",))  # fmt: skip
    return Existence(found.on(run))


checks = {
    "conv.def3.1": Hypothesis(
        "existence", *(last(n, where("caps", d=3)) for n in ("touching", "apart"))
    ),
    "conv.def3.2": Hypothesis(
        "inequality",
        *(last(n, where("attacks", A=rule)) for rule in RULES
          for n in ("off the sphere", "beyond the cap")),
    ),
    "conv.def3.3": Hypothesis("identity", last("|L_A − L|", where("attacks", A="identity"))),
    "conv.def3.4": Hypothesis(
        "inequality",
        *(last("L_A − L_*", where("attacks", A=rule)) for rule in RULES),
        *(last(n, "arcs") for n in ("largest", "bound")),
        share(last("at an end", "arcs")),
    ),
    "conv.asm3.1": Hypothesis(
        "inequality",
        *(last(n, where("losses", loss=loss)) for loss in LOSSES
          for n in ("not convex", "slope", "smoothness", "ℓ(y, y)")),
    ),
    "conv.sec4.discontinuous": CountedAs(
        "existence",
        Parts(
            {
                "L_A jumps: fgsm": Each(where("jumps", A="fgsm"), _jumps),
                "L_A jumps: switch": Each(where("jumps", A="switch"), _jumps),
                "change of L_* there over Lip·C1|ΔW|_F, at most 1, reported": Hypothesis(
                    "existence",
                    *(last("robust", where("jumps", A="fgsm", m=m, s=s))
                      for m in (16, 64) for s in ACTIVATIONS),
                ),
                "jump of L_A under the exact attack where its choice changes, reported": Hypothesis(
                    "existence",
                    *(last("jump", where("jumps", A="exact", m=16, s=s)) for s in ACTIVATIONS),
                ),
            }
        ),
    ),
}  # fmt: skip

figures = (
    Table(
        name="jumps",
        title="Sec. 4.1: the largest jump of L_A where the points of an attack change",
        y=("jump", "robust"),
        runs=(where("jumps", s="smoothed ReLU"),),
        names={"jump": "jump of L_A", "robust": "|ΔL_*|/(Lip·C1|ΔW|)"},
        caption="Segments of weights bisected to 1e-12, smoothed ReLU.",
    ),
)
