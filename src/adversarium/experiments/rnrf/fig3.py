"""Figure 3 of RNRF: which features standard and adversarial training learn, and when.

Paper: correlations of the filters with robust and non-robust features over 1,000 iterations;
under adversarial training the growth of the non-robust one stops "near 150".
Reading: the attack's step η̃ = 1e3 acts on the gradient of the batch mean (1e3/N = 10 a point).
Cost: quick 35 s, paper 140 s (2 cores, float32).
"""

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.experiments.checks import crossing, level, measure
from adversarium.experiments.spec import Curves, Run
from adversarium.networks import SmoothedCNN
from adversarium.probes import (
    Error,
    nonrobust_feature,
    nonrobust_features,
    risk,
    robust_feature,
    robust_features,
    train_error,
)

quick = dict(seeds=5, steps=400)
paper = dict(seeds=10, steps=1000)


def plan(steps=1000, n=100, d=100, P=16, m=100, eps=1.2, step=1e3, sigma0=0.01, eta=0.1):
    data = TwoFeaturePatches(k=2, d=d, P=P, alpha=2.0, beta=1.0, sigma_n=0.1, n_robust=1)
    attack = MarginStep(radius=eps, step=step, batch_mean=True)
    for label, by in (("standard", None), ("adversarial", attack)):
        yield Run(
            label=label,
            data=data,
            network=SmoothedCNN(m=m, sigma0=sigma0),
            attack=by,
            n=n,
            steps=steps,
            eta=eta,
            probes=(
                robust_feature,
                nonrobust_feature,
                robust_features,
                nonrobust_features,
                risk,
                train_error,
            ),
            final=(Error(on="test", n=1000, name="test_error"),),
            record=2,
            dtype="float32",
        )


_classes = ("[0]", "[1]")

checks = {
    "rnrf.fig3.transition": level(
        measure(
            "time at which the slope of B falls below the slope of A",
            crossing("nonrobust_features", "robust_features", "adversarial", _classes),
        ),
        90,
        180,
    ),
}

_symbols = {
    "robust_features[0]": r"$\max_r \langle w_{1,r}, u_1\rangle$ (robust)",
    "robust_features[1]": r"$\max_r \langle w_{2,r}, u_2\rangle$ (robust)",
    "nonrobust_features[0]": r"$\max_r \langle w_{1,r}, v_1\rangle$ (non-robust)",
    "nonrobust_features[1]": r"$\max_r \langle w_{2,r}, v_2\rangle$ (non-robust)",
}

figures = (
    Curves(
        name="features",
        title="Figure 3: what the filters learn",
        y=tuple(_symbols),
        of=("standard", "adversarial"),
        names=_symbols,
        x_label="iteration t",
        y_label="correlation",
        lines={"paper: near 150": 150},
        caption="Mean over seeds, band: smallest to largest seed. Standard training learns the "
        "non-robust features alone; under adversarial training their growth stops and the robust "
        "ones begin to rise.",
    ),
)
