"""CGRO's lemmas with unspecified constants (4.2 to 4.4, C.5, C.8, C.9, C.11, C.12) over N, d and η.

Paper: with high probability each bound holds up to Θ, O or Õ, for N = poly(d) and η = O(1).
Reading: an unspecified constant must not grow (or fall) with N or η, and with d no faster than
log²d; at fixed d, even Õ hides only a constant. N varies at d = 400 and d at N = 10, both with
η = 4/α²; η varies at d = 200. "η = 1" varies d at η = 1, and "signal alone" varies d up to 10²⁰ in
the recursion of the signal without noise. "Many points" has N = 160 > N_c (see cgro.phases),
d = 100 and 1 − γ = 1/√d; "N = d" varies d with 1 − γ = 1/√d and P = 2; "long" runs for about 100 T₁
at d = 100. Otherwise P = 3, and always m = 8. Only seeds with some u_r(0) > 0 are judged; robust
errors are under the transfer attack.
Cost: quick 35 s (2 cores).
"""

import math

from adversarium.measure.errors import Error
from adversarium.measure.folds import FirstTime
from adversarium.plans import Read, Trial

from ...theory.cubic import signal_alone
from ...theory.features import largest_signal, least_memorised, most_memorised, true_feature
from ...theory.memorisation import Decay, NoiseFall, NoiseResidual, predicted_level
from ...theory.open_constants import OpenConstants, fresh_shares, growth_constant, noise_tail
from ...theory.patches import many_points, many_steps, patches
from ...theory.regime import gates as gates

COUNTS, SIZES = (5, 10, 20, 40, 80, 160), (100, 200, 400, 800, 1600)
ETAS = (0.0156, 0.0625, 0.25, 1.0)
LARGE = (100, 1_000, 10_000, 100_000)
VAST = (1e6, 1e8, 1e10, 1e12, 1e14, 1e16, 1e18, 1e20)  # values of d for the signal alone
MANY = (160,)  # values of N at d = 100 and 1 − γ = 1/√d, larger than N_c
SQUARE = (100, 200, 400, 800)  # values of N = d, far larger than N_c
LONG = (5, 10)  # values of N at d = 100, for about 100 T₁

quick = dict(
    seeds=5,
    counts=COUNTS[:3],
    sizes=(50, 100, 200),
    etas=(1.0,),
    many=(),
    square=(),
    long=(),
    steps_factor=0.6,
)
paper = dict(seeds=40)

_START: dict = dict(probes=(largest_signal,), record=(0,))
_PLACES = {"N": "n", "d": "data.d", "η": "eta"}
_ERRORS = (
    Error(n=2000, name="clean_test_error"),
    Error(n=2000, attacks="training", name="robust_test_error"),
)
_TIMES = (
    FirstTime(largest_signal, 1.0),
    FirstTime(most_memorised, 0.1),
    FirstTime(most_memorised, 1.0),
    FirstTime(least_memorised, 1.0),
)


def plan(
    counts=COUNTS, sizes=SIZES, etas=ETAS, large=LARGE, many=MANY, square=SQUARE, long=LONG,
    steps_factor=1.0,
):  # fmt: skip
    for N in counts:
        yield _run("N", steps_factor, d=400, N=N)
    for d in sizes:
        yield _run("d", steps_factor, d=d)
    for eta in etas:
        yield _run("η", steps_factor, eta=eta)
    for d in large:
        yield _run("η = 1", steps_factor, d=d, eta=1.0)
    for d in VAST:
        yield Trial(
            family="signal alone",
            at={"d": Read("d")},
            function=signal_alone,
            parameters=dict(d=d, m=8, eta=1.0),
            version=2,
        )
    for N in many:
        steps, folds = many_steps(100, steps_factor), (OpenConstants(), *_TIMES)
        yield many_points("many points", "N", 100, N, steps, final=_ERRORS, folds=folds, **_START)
    for d in square:  # the attacked signal is learnt after about 2d steps
        steps = round(steps_factor * 9 * d)
        yield many_points("N = d", "d", d, d, steps, P=2, folds=(OpenConstants(),), **_START)
    for N in long:
        yield _long_run(N, round(steps_factor * 4_000 * N))


def _long_run(N, steps):
    """Return a run at d = 100 that records the constant of Lemma 4.2 long after T₁."""
    return patches(
        "long",
        {"N": Read("n")},
        **dict(d=100, N=N, eta=4 * 100**-0.498, steps=steps),
        probes=(largest_signal, growth_constant),
        folds=(FirstTime(least_memorised, 1.0),),
    )


def _run(family, steps_factor, d=200, N=10, eta=None):
    """Return a run about four times as long as it takes to memorise every sample."""
    eta = 4 * d**-0.498 if eta is None else eta  # 4/α²
    steps = math.ceil(steps_factor * (400 + 75 * N / eta * (d / 200) ** 0.527))
    letter = "d" if family == "η = 1" else family
    coordinates = {letter: Read(_PLACES[letter])}
    size = dict(d=d, N=N, eta=eta)
    if family == "η = 1":  # only the peak of the signal is read, so the run ends after its jump
        return patches(
            family,
            coordinates,
            **size,
            steps=400,
            probes=(largest_signal,),
            folds=(OpenConstants(),),
        )
    return patches(
        family,
        coordinates,
        **size,
        steps=steps,
        probes=(largest_signal, true_feature, growth_constant, predicted_level),
        final=(*_ERRORS, fresh_shares, *((noise_tail,) if family == "N" and N == 10 else ())),
        folds=(OpenConstants(), NoiseResidual(), NoiseFall(), Decay(), *_TIMES),
    )
