"""Random features of CONV: Lemma C.1, Proposition C.1, and the network of Theorem 5.2.

Paper: functions E[⟨u(w), x⟩σ'(⟨w, x⟩)] are dense in the RKHS of the kernel. A sample of M features
errs by at most C|h|_RF(2√d + √(2 log(1/p)))/√M. For m = Ω(R⁴/ε²), some W in B(R) has L_* ≤ ε.
Reading: density cannot be tested, but the identities behind it can, by quadrature. Errors over an
entire circle are certified by a grid and a bound on the slope; in more dimensions, errors at random
points are reported. A quadratic programme with a dual bound gives the robust interpolant g of
minimum norm. The network built from g has the sign a_r, missing from the paper; R = |g|.
Cost: quick 6 s (one core); paper 12 min (2 cores).
"""

import itertools

from adversarium.networks import Erf, QuadraticReLU, Shifted, SmoothedReLU
from adversarium.plans import Read, Trial

from ...theory.counterexamples import (
    coarse_fit,
    contraction,
    loss_floor_in_ball,
    one_letter,
    printed_tail,
    two_representers,
    wide_cap,
)
from ...theory.features import (
    built_networks,
    feature_errors,
    interpolant_norms,
    network_errors,
    section_identities,
)
from ...theory.regime import gates as gates

KINDS = ("one", "near", "any")
DRAWS = 45  # draws per seed; 900 draws in 20 seeds
EPS, WIDTH_FACTORS = (0.2, 0.1, 0.05), (0.25, 0.5, 1.0)


SMOOTH = {"smoothed ReLU": SmoothedReLU(b=2.0), "erf": Erf(), "shifted": Shifted(b=2.0, c=0.5)}

WIDTHS = (64, 256, 1024, 4096, 16384, 65536)
TOLERANCES = (1 / 3, 0.2, 0.1, 0.05, 0.025, 0.0125)
ARC_RADII = (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.55, 0.6)
LARGEST_RADIUS = {"smoothed ReLU": 0.35, "shifted": 0.63}  # no g fits arcs of a larger radius
SHIFTED = Shifted(b=4.0, c=0.5)

quick = dict(seeds=5, counts=(32, 128, 512), kinds=KINDS[:1], draws=3, more=(), eps=EPS[:1],
             width_factors=WIDTH_FACTORS[-1:], wide=(64, 256), fits=TOLERANCES[:2],
             radii=ARC_RADII[:2],
             sharp=(2.0,), caps=(8, 32))  # fmt: skip
paper = dict(seeds=20)


def plan(counts=(32, 128, 512, 2048), kinds=KINDS, draws=DRAWS, more=(5, 20), eps=EPS,
         width_factors=WIDTH_FACTORS, wide=WIDTHS, fits=TOLERANCES, radii=ARC_RADII,
         sharp=(1.0, 2.0, 4.0, 8.0, 16.0), caps=(8, 32, 128, 512, 2048)):  # fmt: skip
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        raise ValueError(f"kinds must be among {', '.join(KINDS)}, got {wrong[0]!r}.")
    if wrong := [e for e in fits if e >= 1]:
        raise ValueError(f"fits needs numbers < 1 because labels are ±1, got {wrong[0]:g}.")
    if wrong := [radius for radius in radii if radius > LARGEST_RADIUS["shifted"]]:
        raise ValueError(
            f"radii needs numbers <= {LARGEST_RADIUS['shifted']} because arcs of different labels "
            f"touch at 0.635, got {wrong[0]:g}."
        )
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
    for small, room in itertools.product(eps, width_factors):
        at = {"1/ε": round(1 / small), "mε²/R⁴": Read("room")}
        yield Trial(family="networks", at=at, function=built_networks,
                    parameters=dict(activation=s, eps=small, room=room, starts=draws),
                    version=2)  # fmt: skip
    for m in wide:
        yield Trial(family="errors", at={"m": Read("m")}, function=network_errors,
                    parameters=dict(activation=s, m=m))  # fmt: skip
    for e in fits:
        yield Trial(family="norm by e", at={"1/e": round(1 / e, 3)}, function=interpolant_norms,
                    parameters=dict(activation=s, e=e))  # fmt: skip
    for b in sharp:
        yield Trial(family="norm by b", at={"b": b}, function=interpolant_norms,
                    parameters=dict(activation=SmoothedReLU(b=b), e=0.1))  # fmt: skip
    for radius, (name, activation) in itertools.product(
        radii, (("smoothed ReLU", s), ("shifted", SHIFTED))
    ):
        if radius <= LARGEST_RADIUS[name]:
            of = dict(activation=activation, e=0.1, radius=radius)
            yield Trial(family="norm by radius", at={"radius": Read("radius"), "s": name},
                        function=interpolant_norms, parameters=of)  # fmt: skip
    for d in caps:
        yield Trial(family="wide cap", at={"d": Read("d")}, function=wide_cap,
                    parameters=dict(d=d, eps=0.2))  # fmt: skip
    for coarse in (0.05, 0.02):
        yield Trial(family="coarse fit", at={"1/ε": round(1 / coarse)}, function=coarse_fit,
                    parameters=dict(eps=coarse))  # fmt: skip
    yield Trial(family="all weights", function=loss_floor_in_ball, parameters=dict(d=6500))
    for tau in (1.0, 0.1, 0.01):
        yield Trial(family="contraction", at={"1/τ": round(1 / tau)}, function=contraction,
                    parameters=dict(tau=tau), exact=True)  # fmt: skip
    for size in (1.0, 1000.0):
        yield Trial(family="tail", at={"|h|_RF": Read("size")}, function=printed_tail,
                    parameters=dict(size=size))  # fmt: skip
    yield Trial(family="representers", function=two_representers, parameters=dict(t=10.0))
    for b in (0.01, 2.0):
        yield Trial(family="one letter", at={"b": b}, function=one_letter, parameters=dict(b=b))
