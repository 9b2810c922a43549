"""The modified training of Theorems 4.2 and 6.2 of CGRM, and plain training of the same model.

Paper: if w_0 is trained on the large-margin points and one unit w_i = (I − w_0 w_0ᵀ)x_i is added
for every small-margin point, the 0–1 adversarial training loss vanishes (4.2). If the clean risk is
minimised and indicators are then added at the attackable points, the robust training error is 0 and
the clean error ≲ √(poly(d)/N) (6.2).
Reading: l2 balls, a_i = y_i, ‖w_0‖ = 1, b = d/2. Set M has d = 200, N = 400, μ = 0.2, α = 5,
β = 0.5, δ = 2. Robust errors are found by steps towards every inactive unit; an exact check of the
balls bounds them. Theorem 6.2 is tested on d cells in which small and large margins are equally
hard to learn (Assumption 6.1), and on margins spread over [0.02, 3], where the max-margin direction
is both the risk minimiser and the limit of the adversarial training in the last step.
Cost: quick 40 s (2 cores).
"""

import math

from adversarium.attacks import FGSM, strong_attacks
from adversarium.data import MarginMixture
from adversarium.measure.errors import Error, robust_train_error, train_error
from adversarium.networks import MixedLearner
from adversarium.plans import Read, Run, Trial
from adversarium.training import Risk

from ...theory.margins import active_units, direction_error, unit_drift
from ...theory.modified import (
    best_threshold,
    certified_draws,
    generic_training,
    modified_training,
    wide_window,
)
from ...theory.regime import gates as gates
from ...theory.separated import separated_training

DRAWS = 40  # training sets per seed
SPREAD = (16, 32, 64)  # values of d for the spread margins
CELLS = (16, 64, 256)  # values of d for the separated cells


#             name            d    N     δ    b/d
SETS = (("N = 2d",            200, 400,  2.0, 0.5),  # set M
        ("N = 2d",            400, 800,  2.0, 0.5),
        ("N = 2d",            800, 1600, 2.0, 0.5),
        ("few points",        200, 100,  2.0, 0.5),
        ("few points",        400, 200,  2.0, 0.5),
        ("b far below",       200, 400,  2.0, 0.25),
        ("b below",           200, 400,  2.0, 0.35),
        ("b a little below",  200, 400,  2.0, 0.4),
        ("b above",           200, 400,  2.0, 0.75),
        ("a large radius",    200, 400,  4.5, 0.5),
        ("no window",         60,  300,  2.0, 0.5),
        ("no window",         30,  100,  2.0, 0.5))  # fmt: skip
LARGE = (("b far below",      400, 1000, 2.0, 0.25),
         ("few points",       800, 400,  2.0, 0.5))  # fmt: skip
# one letter each differs from set M, at d = 400, N = 200, b = d/2
OTHERS = (dict(delta=0.5), dict(delta=1.0), dict(alpha=2.5), dict(alpha=10.0),
          dict(beta=0.125), dict(beta=2.0), dict(mu=0.1), dict(mu=0.4))  # fmt: skip
RADIUS = (100, 200, 400)  # values of d with δ = 0.6 √d
FAR, FAR_RADII = (400, 800, 1600), (0.1, 0.2, 0.4)  # values of d with α = d, and of δ/√d
POINTS = (100, 200, 400, 800, 1600)  # values of N in "more points", d = 100
SAMPLES = (100, 200, 400, 800)
PLACE = {"d": Read("data.d"), "N": Read("N"), "δ": Read("delta"), "b": Read("b")}
LETTERS = {"α": Read("data.alpha"), "β": Read("data.beta"), "μ": Read("data.mu")}

quick = dict(steps=20, seeds=5, largest=400, points=POINTS[:4])
paper = dict(large=True, steps=300, seeds=20)


def plan(
    alpha=5.0,
    beta=0.5,
    mu=0.2,
    large=False,
    largest=800,
    points=POINTS,
    draws=DRAWS,
    samples=SAMPLES,
    spread=SPREAD,
    cells=CELLS,
    others=OTHERS,
    wide=RADIUS,
    far=FAR,
    steps=300,
):
    if not 0 < mu < 1 or min(samples) < 10:
        raise ValueError(
            f"the plan needs 0 < mu < 1 and samples >= 10, got mu={mu} and samples={samples}."
        )

    def trial(function, family, d, N, version=1, letters=None, **more):
        data = MarginMixture(**(dict(d=d, alpha=alpha, beta=beta, mu=mu) | (letters or {})))
        parameters = dict(data=data, N=N, **more)
        at = {k: v for k, v in PLACE.items() if k in ("d", "N") or v.path in parameters}
        at |= {} if letters is None else LETTERS
        return Trial(
            family=family, at=at, function=function, parameters=parameters, version=version
        )

    sets = [one for one in (*SETS, *(LARGE if large else ())) if one[1] <= largest]
    for family, d, N, delta, share in sets:
        yield trial(modified_training, family, d, N, 3, delta=delta, b=share * d)
    for other in others:
        letters = {"delta": 2.0, **other}
        radius = letters.pop("delta")
        yield trial(modified_training, "other letters", 400, 200, 3, letters, delta=radius, b=200.0)
    for d in wide:
        radius = 0.6 * math.sqrt(d)
        letters = {"alpha": radius + 2}
        yield trial(best_threshold, "a radius of 0.6 √d", d, 100, 1, letters, delta=radius)
    for d in far:
        for share in FAR_RADII:
            radius = share * math.sqrt(d)
            yield trial(
                wide_window, "far large margins", d, 50, 1, {"alpha": float(d)}, delta=radius
            )
    for N in points:
        yield trial(modified_training, "more points", 100, N, 3, delta=2.0, b=50.0)
    yield trial(certified_draws, "draws", 200, 100, delta=2.0, b=100.0, draws=draws)
    yield trial(best_threshold, "every b", 30, 100, delta=2.0)
    for d in cells:
        for share in (1, 2, 4, 8):
            yield Trial(
                family=f"cells, d = {d}",
                at={"N": Read("N"), "d": Read("d")},
                function=separated_training,
                parameters=dict(N=share * d // 2, d=d),
            )
    for d in spread:
        for N in samples:
            yield Trial(
                family=f"spread margins, d = {d}",
                at={"N": Read("N"), "d": Read("d")},
                function=generic_training,
                parameters=dict(N=N, d=d),
                version=4,
            )
    for b in (100.0, 0.0):  # above all data, and within the data
        yield Run(
            family="plain training",
            at={"b": Read("network.b")},
            data=MarginMixture(d=200, alpha=alpha, beta=beta, mu=mu),
            network=MixedLearner(m=80, b=b, sigma0=0.01),
            attack=FGSM(p=2, radius=2.0),
            risk=Risk(loss="exponential", log=True),
            n=400,
            steps=steps,
            eta=0.02,
            probes=(direction_error, active_units, unit_drift, train_error, robust_train_error),
            final=(
                Error(on="train", attacks=strong_attacks(2, 2.0, 1), name="strong_train_error"),
            ),
        )
