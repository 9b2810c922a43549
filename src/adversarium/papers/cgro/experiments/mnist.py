"""Figure 2 (a), (b), (e), (f) of CGRO on MNIST: LeNet-5, adversarially trained at ε₀ = 0.1.

Paper: the loss landscape is flat within the training radius and very sharp outside; its curves
descend with the epochs, around training points and around test points. No numbers are printed.
Reading: inputs in [0, 1], cross-entropy; training as in the cited code of Wong and others: FGSM
from a uniform start with step 1.25 ε₀, Adam with a triangular step size up to 0.005, batches of
100, 20 epochs, all 60,000 images. Many-step training (PGD-5, 6,000 images, four radii) tells where
the landscape bends as the radius changes. The words on epochs are judged from the middle epoch on.
Cost: quick 5 min (2 cores); paper: its first two runs took 90 min on two busy cores.
"""

from adversarium.plans import where
from adversarium.plans.image_runs import (
    CLEAN,
    FAST,
    STRONG,
    image_run,
    last_errors,
    many_steps,
    mnist,
    one_step,
)

from ..theory.image_checks import (
    fall_at_test_points,
    gradient_checks,
    loss_checks,
    radius_check,
    trend,
)
from ..theory.image_figures import landscape_figures
from ..theory.images import curve_probes, last_landscapes
from ..theory.regime import image_gates as gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(n=2000, few=1000, epochs=6, points=20, search=(8, 2), checkpoints=6, n_eval=200,
             n_test=200, seeds=5)  # fmt: skip
paper = dict(n=60000, few=6000, epochs=20, points=100, search=(10, 2), last_search=(20, 4),
             doubled=(40, 8), n_eval=1000, n_test=1000, seeds=5)  # fmt: skip
RADII = (0.04, 0.08, 0.16, 0.32)
ADVERSARIAL, PLAIN = where(FAST), where(CLEAN)
ARMS = [where(STRONG, **{"ε₀": eps}) for eps in RADII]


def plan(n=60000, few=6000, epochs=20, points=100, search=(10, 2), last_search=(8, 2),
         doubled=(20, 4), checkpoints=10, n_eval=1000, n_test=1000, batch=100):  # fmt: skip
    common = dict(**mnist(batch), epochs=epochs, checkpoints=checkpoints)
    sizes = dict(points=points, search=last_search)
    after = last_landscapes(0.1, doubled=doubled, **sizes)
    during = curve_probes(0.1, points=points, search=search, n_eval=n_eval, n_test=n_test)
    errors = last_errors(0.1, n_eval, n_test)
    yield image_run(FAST, attack=one_step(0.1), eps=0.1, n=n, during=during,
                    after=(*errors, *after), **common)  # fmt: skip
    yield image_run(CLEAN, attack=None, eps=0.1, n=n, during=(), after=after, **common)
    for eps in RADII:
        after = *last_errors(eps, n_eval, n_test), last_landscapes(eps, doubled=doubled, **sizes)[0]
        yield image_run(STRONG, attack=many_steps(eps, 5), eps=eps, n=few, during=(), after=after,
                        **common)  # fmt: skip


checks = {
    "cgro.fig2a": gradient_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2b": loss_checks(ADVERSARIAL, PLAIN),
    "cgro.fig2e": trend(ADVERSARIAL, "train", rises=False),
    "cgro.fig2f": fall_at_test_points(ADVERSARIAL),
    "cgro.x.radius": radius_check(ARMS, RADII),
}

figures = landscape_figures(ADVERSARIAL, PLAIN, (where(STRONG), ADVERSARIAL, PLAIN), "0.1")
