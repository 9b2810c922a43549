"""Figures 1 to 3 of CGRO on CIFAR-10: ResNet-9, adversarially trained at ε₀ = 8/255.

Paper: clean test accuracy above 80 % but robust test accuracy near 50 % (Figure 1, quoted from Rice
and others, 2020, who train a PreActResNet-18 for 200 epochs); the loss landscape is flat within the
training radius and very sharp outside (Figure 2); over the epochs it flattens around training
points, sharpens around test points, and the robust gap follows (Figures 2 and 3).
Reading: PGD-2 from a uniform start with steps of 1.25 ε, 16 epochs in batches of 512, the step size
divided by 10 after 8 and 12. The attack in training uses the statistics of the batch. The printed
numbers of epochs (15, and 200 for Figure 1) differ, and ResNet-9 is not the network of Figure 1.
Cost: paper 7 min on a GPU, one process a seed; quick not measured.
"""

from adversarium.plans import where
from adversarium.plans.image_runs import (
    CLEAN,
    STRONG,
    cifar10,
    image_run,
    last_errors,
    many_steps,
)

from ..theory.image_checks import (
    curve_checks,
    gap_checks,
    gradient_checks,
    growth_checks,
    loss_checks,
    trend,
)
from ..theory.image_figures import landscape_figures
from ..theory.images import curve_probes, last_landscapes
from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=2000, epochs=8, width=16, points=30, search=(8, 2), n_eval=300, n_test=300,
             precision="float32", seeds=5)  # fmt: skip
paper = dict(n=50000, epochs=16, width=64, points=80, search=(10, 2), last_search=(20, 4),
             doubled=(40, 8), n_eval=1000, n_test=1000, seeds=5)  # fmt: skip
EPS = 8 / 255
ADVERSARIAL, PLAIN = where(STRONG), where(CLEAN)


def plan(n=50000, epochs=16, width=64, points=80, search=(10, 2), last_search=(8, 2),
         doubled=(20, 4), n_eval=1000, n_test=1000, batch=512, precision="bfloat16"):  # fmt: skip
    common = dict(**cifar10(width, batch, precision), n=n, eps=EPS, epochs=epochs, checkpoints=8)
    sharp = last_landscapes(EPS, points=points, search=last_search, doubled=doubled)
    after = (*last_errors(EPS, n_eval, n_test), *sharp)
    during = curve_probes(EPS, points=points, search=search, n_eval=n_eval, n_test=n_test)
    yield image_run(STRONG, attack=many_steps(EPS, 2), during=during, after=after, **common)
    yield image_run(CLEAN, attack=None, during=during[:2], after=(*during[2:4], *after), **common)


checks = {
    "cgro.fig1": curve_checks(ADVERSARIAL),
    "cgro.fig2c": gradient_checks(ADVERSARIAL, PLAIN, groups=True),
    "cgro.fig2d": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2g": trend(ADVERSARIAL, "train", rises=False),
    "cgro.fig2h": trend(ADVERSARIAL, "test", rises=True),
    "cgro.fig3L": growth_checks(ADVERSARIAL),
    "cgro.fig3R": gap_checks(ADVERSARIAL),
}

figures = landscape_figures(ADVERSARIAL, PLAIN, (ADVERSARIAL, PLAIN), "8/255")
