"""The quadratic ReLU of App. C of CONV: Lemma C.2, Theorem C.1 and the corrected Corollary C.1.

Paper: M = e^{Ω(d)}|h|²/ε log(|h|²/(εδ)) features fit h in L2 with Σ|c_r|² = e^{O(d)}|h|²/M. About
ε^{−(d+1)} features fit it uniformly with Σ|c_r|² = O(1/M). Descent then reaches any ε.
Reading: Lemma C.2 is tested for all |h| ≤ 1 at once, by operator norms, with M = log(1/(εδ))/ε
(without e^{Ω(d)}) and δ = 0.01. Theorem C.1 is tested with c_r = 2u(w_r)/M on many points. The
corollary is tested on sets without antipodes, on sets whose antipodes have different labels, and on
lifted points: with the explicit constants of Corollary 5.1 (c = C2 = 2), or by the last loss.
Cost: quick 10 s (one core); paper 11 min on 16 cores.
"""

import itertools

from adversarium.networks import QuadraticReLU
from adversarium.plans import Powers, Read, Trial, end, where

from ...theory.convergence import descent_to_eps, transfer_losses
from ...theory.counterexamples import least_integral
from ...theory.quadratic import ridge_features, scaled_target, uniform_errors
from ...theory.regime import gates as gates
from ..descents.plan import FREQUENCY_STARTS

SIZES = (2, 3, 4)
DRAWS = 7  # draws per seed and ε
COROLLARY_EPS = (0.2, 0.1, 0.05)
STARTS = 27  # starts per seed at the largest ε
# (data, ε) → R such that some W in B(R) has L_* ≤ ε/2
RADIUS_FOR_EPS = {
    ("circle", 0.2): 0.98,
    ("circle", 0.1): 1.23,
    ("circle", 0.05): 1.41,
    ("odd points", 0.4): 1.19,
    ("odd points", 0.2): 1.91,
    ("odd points", 0.1): 2.4,
    ("odd arcs", 0.4): 1.44,
}


quick = dict(seeds=5, eps=(0.1, 0.01), draws=2, counts=(32, 128, 512), dims=(2, 3), few=(0.4,),
             starts=1, often=1, arcs=(), steps=300)  # fmt: skip
paper = dict(seeds=20)


def plan(
    eps=(0.1, 0.01, 0.001, 0.0001), draws=DRAWS, counts=(32, 128, 512, 2048, 8192), dims=SIZES,
    few=COROLLARY_EPS, starts=STARTS, often=FREQUENCY_STARTS, arcs=(0.4,), steps=12000,
):  # fmt: skip
    s = QuadraticReLU()
    for d, small in itertools.product(dims, eps):
        yield Trial(family="ridge", at={"d": Read("d"), "1/ε": round(1 / small)},
                    function=ridge_features,
                    parameters=dict(d=d, eps=small, draws=draws))  # fmt: skip
    for d in dims[:2]:
        yield Trial(family="ridge, often", at={"d": Read("d")}, function=ridge_features,
                    parameters=dict(d=d, eps=0.01, draws=often))  # fmt: skip
    for d, M in itertools.product(dims, counts):
        yield Trial(family="uniform", at={"d": Read("d"), "M": Read("M")}, function=uniform_errors,
                    parameters=dict(M=M, d=d, draws=draws))  # fmt: skip
    for t in (1.0, 10.0, 100.0, 1000.0):
        yield Trial(family="scaled", at={"t": Read("size")}, function=scaled_target,
                    parameters=dict(d=2, size=t))  # fmt: skip
    for d, steep in itertools.product(SIZES, (1.0, 0.1, 0.01, 0.001)):
        yield Trial(family="least integral", at={"d": Read("d"), "1/c_L": round(1 / steep)},
                    function=least_integral, parameters=dict(d=d, steep=steep),
                    exact=True)  # fmt: skip
    cases = [(data, small, "exact") for data in ("circle", "odd points") for small in few]
    cases += [("circle", small, "identity") for small in few]
    cases += [("odd arcs", small, "exact") for small in arcs]
    for data, small, rule in cases:
        if (data, small) in RADIUS_FOR_EPS:
            at = {"data": Read("data"), "A": Read("rule"), "1/ε": round(1 / small, 3)}
            count = starts if small == max(few) and rule == "exact" else 1
            of = dict(rule=rule, eps=small, R=RADIUS_FOR_EPS[data, small], starts=count, data=data)
            yield Trial(family="reaching", at=at, function=descent_to_eps,
                        parameters=dict(activation=s, **of))  # fmt: skip
    for data, small in (("circle", 0.2), ("odd points", 0.4)):
        of = dict(rule="exact", eps=small, R=RADIUS_FOR_EPS[data, small], starts=often, data=data)
        yield Trial(family="sphere", at={"data": Read("data")}, function=descent_to_eps,
                    parameters=dict(activation=s, sphere=True, **of))  # fmt: skip
    for data, alpha, long in (("odd points", 0.05, steps // 4), ("lifted", 0.4, steps)):
        of = dict(m=1024, alpha=alpha, steps=long, radius=0.2, data=data)
        yield Trial(family="ends", at={"data": Read("data")}, function=transfer_losses,
                    parameters=dict(activation=s, rule="exact", **of))  # fmt: skip


figures = tuple(
    Powers(
        name=f"uniform-{d}",
        title=f"Theorem C.1, d = {d}: the largest error of M features",
        number=end("error"),
        sweeps={"M": where("uniform", d=d)},
        claimed={"M": -1 / (d + 1)},
        y_label="sup |h − ĥ|",
        caption="c_r = 2u(w_r)/M; the largest error of all draws at many points of the sphere.",
    )
    for d in SIZES
)
