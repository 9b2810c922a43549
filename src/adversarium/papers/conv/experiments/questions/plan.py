"""Three questions of §7 of CONV: the required radius, low latent dimension, generalisation.

Paper: the required R is believed to be smaller than that of the theorem, and may adapt to a low
latent dimension. Capacity helps robust training more than robust generalisation.
Reading: in the kernel limit, the smallest R with L_* ≤ ε is found by bisection with certified
bounds. Entire caps around centres on a subsphere are fitted by cutting planes. In place of the
experiments that the paper cites, the two-layer network is trained on arcs of a circle with three
teachers.
Cost: quick 12 s (one core); paper 4 min on 16 cores.
"""

import itertools

from adversarium.networks import SmoothedReLU
from adversarium.plans import Lines, Profile, Read, Trial, end, where

from ...theory.radii import latent_radius, radii_needed
from ...theory.regime import gates as gates
from ...theory.teachers import TEACHERS as KNOWN
from ...theory.teachers import widening

EPS = (0.2, 0.1, 0.05, 0.025, 0.0125)
LATENT, AMBIENT = (2, 3, 5), (5, 10, 20)
COUNTS = (4,)
TEACHERS = tuple(KNOWN)


SMOOTHED = SmoothedReLU(b=2.0)

quick = dict(seeds=5, eps=(0.2, 0.1), sets=((2, 4), (3, 4)), latent=(2, 3), ambient=(5, 10),
             counts=(4,), samples=(10,), widths=(16, 64), steps=60)  # fmt: skip
paper = dict(seeds=40)


def plan(
    eps=EPS, sets=((2, 4), (3, 4), (5, 4), (5, 8), (10, 8), (10, 16)), latent=LATENT,
    ambient=AMBIENT, counts=COUNTS, samples=(10, 40), widths=(16, 256, 4096), steps=600,
):  # fmt: skip
    s = SMOOTHED
    for (d, n), small in itertools.product(sets, eps):
        at = {"d": Read("d"), "n": Read("n"), "1/ε": round(1 / small)}
        yield Trial(family="needed", at=at, function=radii_needed,
                    parameters=dict(activation=s, d=d, n=n, eps=small))  # fmt: skip
    for n, k, d in itertools.product(counts, latent, ambient):
        at = {"n": Read("n"), "k": Read("k"), "d": Read("d")}
        yield Trial(family="latent", at=at, function=latent_radius,
                    parameters=dict(activation=s, k=k, d=d, n=n))  # fmt: skip
    for teacher, n in itertools.product(TEACHERS, samples):
        at = {"teacher": Read("teacher"), "n": Read("n")}
        of = dict(teacher=teacher, n=n, widths=widths, steps=steps)
        yield Trial(family="widening", at=at, function=widening,
                    parameters=dict(activation=s, **of))  # fmt: skip


figures = (
    Lines(
        name="needed",
        title="§7: the smallest R with L_* ≤ ε in the kernel limit, and norms of the interpolant",
        numbers=(
            end("high", "R, certified upper bound"),
            end("|g|"),
            end("|g|_RF", "|g|_RF, lower bound"),
        ),
        x="1/ε",
        by=("d", "n"),
        runs=(where("needed"),),
        y_label="radius",
        log_y=True,
        caption="n caps in R^d with random labels. Mean and 99 % interval over seeds.",
    ),
    Profile(
        name="widening",
        title="§7: robust losses as the width grows",
        y=("train", "test"),
        runs=(where("widening", teacher="fourth"),),
        names={"train": "training arcs", "test": "fresh arcs"},
        x_label="m",
        log_x=True,
        y_label="robust loss",
        caption="Teacher cos 4θ; 10 and 40 training arcs. Mean over seeds, band: smallest to "
        "largest.",
    ),
)
