"""Figure 3 of RNRF: which features standard and adversarial training learn, and when.

Paper: correlations of the filters with robust and non-robust features over 1,000 iterations. Under
adversarial training, the correlation with the non-robust features stops growing "near 150".
Theorems 4.3 and 4.4 are tested on the same two runs, with the published parameters (Σ_NR β³/Σ_R
α³ = 15/8 and α/ε = 5/3 are below 2, so not ≫ 1).
Reading: the attack step η̃ = 1e3 acts on the gradient of the batch mean (1e3/N = 10 per point). The
transition and the inner maximum are also judged with the literal step, 1e3 per point (paper
preset). The quick preset has m = 10 in place of 100.
Cost: quick 55 s (2 cores).
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.measure.folds import At
from adversarium.networks import SmoothedCNN
from adversarium.plans import Run

from ...theory.features import nonrobust_features, robust_features
from ...theory.regime import gates as gates
from ...theory.two_features import InnerGap
from .readings import ADVERSARIAL, LITERALLY, STANDARD
from .recordings import at_end, costly, curves, until

quick = dict(seeds=5, steps=1000, m=10, when=(0, 150), points=20)
paper = dict(
    seeds=10,
    steps=1000,
    when=(0, 10, 30, 50, 70, 100, 150, 200, 300, 400, 500, 750),
    points=300,
    literal=True,
)

_WHEN = (0, 50, 150, 300, 500, 750)  # times at which costly errors are measured, besides the end
_INNER = (50, 70, 90, 110, 150, 300)  # times of the inner-maximum probe, besides the end
_COSTLY_POINTS = 100  # number of points of the costly errors


def plan(
    steps=1000,
    k=2,
    n=100,
    d=100,
    P=16,
    m=100,
    eps=1.2,
    step=1e3,
    sigma0=0.01,
    eta=0.1,
    when=_WHEN,
    points=_COSTLY_POINTS,
    literal=False,
):
    data = TwoFeaturePatches(k=k, d=d, P=P, alpha=2.0, beta=1.0, sigma_n=0.1, n_robust=1)
    attack = MarginStep(radius=eps, step=step, over=n)
    moments = until(when, steps)
    inner_gap = At(InnerGap(), until(_INNER, steps))
    net = SmoothedCNN(m=m, sigma0=sigma0)
    rule: dict = dict(n=n, steps=steps, eta=eta, record=5, dtype="float32")
    for family, train_attack, inner in ((STANDARD, None, ()), (ADVERSARIAL, attack, (inner_gap,))):
        yield Run(
            family=family,
            data=data,
            network=net,
            attack=train_attack,
            **rule,
            probes=(
                *curves(steps),
                *(At(probe, moments) for probe in costly(data, eps, step, points)),
                *inner,
            ),
            final=at_end(train_attack, k, eps, step, points),
        )
    if literal:
        train_attack = MarginStep(radius=eps, step=step)
        probes = (robust_features, nonrobust_features, inner_gap)
        yield Run(
            family=LITERALLY, data=data, network=net, attack=train_attack, probes=probes, **rule
        )
