"""Figures 1 to 3 of CGRO on a stand-in: the UCI digits instead of MNIST and CIFAR-10.

Paper: adversarial training leaves the loss landscape flat within the training radius and sharp
outside; over the epochs it flattens at training points and sharpens at test points, and the robust
generalisation gap follows.
Reading: a small CNN, n = 600 images, ε₀ = 0.1, PGD-5 from a uniform start, 40 epochs (quick: 400
images, 25 epochs). The word on epochs is judged from the middle epoch on: a network that has
learned nothing is flat.
Cost: quick 85 s, paper 24 min (2 cores, --on processes:2).
"""

import math

from adversarium.data import Digits
from adversarium.networks import Module, small_cnn
from adversarium.plans import ABOVE_ZERO, Hypothesis, Level, Ordering, Parts, last, where
from adversarium.plans.image_runs import CLEAN, STRONG, image_run, last_errors, many_steps
from adversarium.training import SGD

from ..theory.image_checks import (
    curve_checks,
    gap_checks,
    gradient_checks,
    growth_checks,
    loss_checks,
    radius_check,
    trend,
)
from ..theory.image_figures import landscape_figures
from ..theory.images import (
    curve_probes,
    fitted_norm,
    last_landscapes,
    leading,
    unfitted_share,
)

quick = dict(n=400, epochs=25, points=20, search=(8, 2), checkpoints=5, seeds=5)
paper = dict(epochs=40, points=100, search=(14, 2), doubled=(80, 8), checkpoints=20, seeds=15)
RADII = (0.05, 0.1, 0.2)
ADVERSARIAL, PLAIN = where(STRONG, **{"ε₀": 0.1}), where(CLEAN)
ARMS = [where(STRONG, **{"ε₀": eps}) for eps in RADII]


def plan(n=600, epochs=40, width=16, points=60, search=(14, 2), doubled=(20, 4), checkpoints=10,
         n_test=400, batch=50, eta=0.05):  # fmt: skip
    network = Module(build=small_cnn, options={"width": width})
    common = dict(data=Digits(n_test=n_test), network=network, n=n, epochs=epochs, eta=eta)
    common |= dict(optimiser=SGD(batch=batch, momentum=0.9), checkpoints=checkpoints)
    sizes = dict(points=points, search=search)
    for eps in RADII:
        during = curve_probes(eps, n_eval=n, n_test=n_test, **sizes)
        after = last_landscapes(eps, doubled=doubled, **sizes)
        main = eps == 0.1
        yield image_run(
            STRONG,
            attack=many_steps(eps, 5),
            eps=eps,
            during=during if main else (),
            after=(*last_errors(eps, n, n_test), *after) if main else (*during, after[0]),
            **common,
        )
    after = last_landscapes(0.1, doubled=doubled, **sizes)
    yield image_run(CLEAN, attack=None, eps=0.1, during=(), after=after, **common)


checks = {
    "cgro.fig1.digits": curve_checks(ADVERSARIAL, stand_in=True),
    "cgro.fig2a.digits": gradient_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2b.digits": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2g.digits": trend(ADVERSARIAL, "train", rises=False),
    "cgro.fig2h.digits": trend(ADVERSARIAL, "test", rises=True),
    "cgro.fig3L.digits": growth_checks(ADVERSARIAL),
    "cgro.fig3R.digits": gap_checks(ADVERSARIAL, ARMS),
    "cgro.x.exponential": Parts(
        {
            "log G of the cross-entropy bends upward at ε₀": Level(
                last("train_bend", ADVERSARIAL), 1, math.inf
            ),
            "log G of the margin bends upward at ε₀": Level(
                last("margin_bend", ADVERSARIAL), 1, math.inf
            ),
        }
    ),
    "cgro.x.few": Parts(
        {
            "a tenth of the test points hold 90 % of G(ε₀)": Level(
                last("test_carriers", ADVERSARIAL), 0.0, 0.1
            ),
            "fitted test points are no sharper than fitted training points": Ordering(
                fitted_norm("train", ADVERSARIAL), than=fitted_norm("test", ADVERSARIAL)
            ),
            "shares of unfitted points": Hypothesis(
                "ordering",
                unfitted_share(ADVERSARIAL, "train"),
                unfitted_share(ADVERSARIAL, "test"),
            ),
        }
    ),
    "cgro.x.gap_follows": Level(leading(ADVERSARIAL), ABOVE_ZERO, math.inf, kind="ordering"),
    "cgro.x.radius.digits": radius_check(ARMS, RADII),
}

figures = landscape_figures(ADVERSARIAL, PLAIN, (where(STRONG), PLAIN), "0.1")
