"""Random features of CONV: Lemma C.1, Proposition C.1, and the network of Theorem 5.2.

Paper: functions E[⟨u(w), x⟩σ'(⟨w, x⟩)] are dense in the kernel's space; M samples of them err by at
most C|h|_RF(2√d + √(2 log(1/p)))/√M; for m = Ω(R⁴/ε²) some W of B(R) has L_* ≤ ε.
Reading: density cannot be tested, the identities behind it can, by quadrature. Errors over a whole
circle are certified by a grid and a slope, in more dimensions told. The shortest robust interpolant
is a quadratic programme with its dual bound; the network that is built of it has the sign a_r,
which the print lacks, and R = |g|.
Cost: quick 3 s (one core); paper 6 min (2 cores).
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU
from adversarium.papers.conv.features_checks import DRAWS, EPS, KINDS, ROOMS, checks
from adversarium.plans import Lines, Powers, Read, Reading, Trial, end, where
from adversarium.trials import built_networks, feature_errors, section_identities

__all__ = ["checks", "figures", "paper", "plan", "quick"]

SMOOTH = {"smoothed ReLU": SmoothedReLU(b=2.0), "erf": Erf(), "shifted": Shifted(b=2.0, c=0.5)}

quick = dict(seeds=5, counts=(32, 128, 512), kinds=KINDS[:1], draws=3, more=(), eps=EPS[:1],
             rooms=ROOMS[-1:])  # fmt: skip
paper = dict(seeds=20)


def plan(counts=(32, 128, 512, 2048), kinds=KINDS, draws=DRAWS, more=(5, 20), eps=EPS, rooms=ROOMS):
    for (name, s), d in itertools.product(SMOOTH.items(), (2, 3)):
        yield Trial(family="sections", at={"s": name, "d": Read("d")}, function=section_identities,
                    parameters=dict(activation=s, d=d), version=3)  # fmt: skip
    yield Trial(family="unbounded", function=section_identities,
                parameters=dict(activation=QuadraticReLU(), d=2), version=3)  # fmt: skip
    s = SMOOTH["smoothed ReLU"]
    for kind, M in itertools.product(kinds, counts):
        at = {"h": Read("kind"), "M": Read("M")}
        yield Trial(family="circle", at=at, function=feature_errors,
                    parameters=dict(activation=s, kind=kind, M=M, draws=draws))  # fmt: skip
    for d, M in itertools.product(more, counts):
        at = {"d": Read("d"), "M": Read("M")}
        yield Trial(family="spheres", at=at, function=feature_errors,
                    parameters=dict(activation=s, kind="any", M=M, d=d))  # fmt: skip
    for small, room in itertools.product(eps, rooms):
        at = {"1/ε": round(1 / small), "mε²/R⁴": Read("room")}
        yield Trial(family="networks", at=at, function=built_networks,
                    parameters=dict(activation=s, eps=small, room=room, starts=draws),
                    version=2)  # fmt: skip


def _printed(run):
    return run.last("printed") / run.parameter("eps")


figures = (
    Powers(
        name="errors",
        title="Prop. C.1: the error of M features, by |h|_RF/√M",
        number=end("scaled"),
        sweeps={"M": where("circle", h="any")},
        claimed={"M": 0},
        y_label="√M sup |ĥ − h|/|h|_RF",
        caption="Over the whole circle; five sections of both signs.",
    ),
    Lines(
        name="networks",
        title="Theorem 5.2: the network that is built of the shortest robust interpolant",
        numbers=(
            end("L_*/ε", "with the sign a_r, worst start"),
            Reading("as printed, best start", _printed, ("printed",)),
        ),
        x="mε²/R⁴",
        by=("1/ε",),
        runs=(where("networks"),),
        y_label="L_*/ε",
        log_y=True,
        levels={"the theorem's": 1.0},
        caption="Of all starts of a seed; mean and 99 % interval over seeds. With the sign a_r the "
        "theorem's L_* ≤ ε is met at a quarter of its width; without it no width helps.",
    ),
)
