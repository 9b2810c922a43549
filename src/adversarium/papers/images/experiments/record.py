"""CIFAR-10: robust accuracy against training time on one GPU.

Training: ResNet-9 with SiLU; noisy FGSM (noise 2ε, no projection), label smoothing 0.1, SGD with a
triangular step size, weight decay 0.001, crops and reflections, weight average 0.99, bfloat16.
Measured: seconds of training alone; preparation (compilation and capture) apart; PGD-50 with
restarts on all test images, labels in strict single precision; the suite of attacks on some.
The values of this recipe were chosen on 5,000 held-out training images (validation=5000).
Cost: not measured.
"""

import math

import numpy as np

from adversarium.attacks import PGD, NoisyFGSM, strong_attacks
from adversarium.data import Images
from adversarium.measure import Error, preparation_seconds, training_seconds
from adversarium.networks import Module, resnet9
from adversarium.plans import Every, InRegime, Level, Parts, Quantity, Run, Table, last, where
from adversarium.plans.evidence import Need
from adversarium.plans.image_runs import BOX
from adversarium.training import SGD, CropFlip, Risk, Smoothed, Triangular

__all__ = ["checks", "figures", "paper", "plan", "quick"]

EPS = 8 / 255
SIZES = {"fastest": (8, 48), "fast": (12, 64), "longest": (30, 64)}  # epochs and width
SMALL = {"fastest": (1, 2), "fast": (2, 2), "longest": (3, 2)}
WHOLE = 50000

quick = dict(plans=SMALL, n=512, n_test=50, n_suite=10, restarts=1, precision="float32", seeds=5)
paper = dict(seeds=5)


def plan(plans=SIZES, n=WHOLE, n_test=10000, n_suite=1000, restarts=10,
         batch=512, peak=1.6, precision="bfloat16", validation=0):  # fmt: skip
    data = Images(name="cifar10", validation=validation)
    n, n_test = min(n, data.size), min(n_test, data.held_out.size)
    first = PGD(radius=EPS, steps=10, step=2 / 255, box=BOX)
    many = PGD(
        radius=EPS, steps=50, step=2 / 255, start="uniform", restarts=restarts,
        loss="cross_entropy", box=BOX,
    )  # fmt: skip
    attacks = (first, many)
    suite = strong_attacks(math.inf, EPS, k=10, box=BOX)
    for name, (epochs, width) in plans.items():
        optimiser = SGD(
            batch=batch, momentum=0.9, weight_decay=1e-3, schedule=Triangular(peak=0.2),
            augment=CropFlip(), attack_mode="training", average=0.99,
            autocast=None if precision == "float32" else precision,
        )  # fmt: skip
        network = dict(width=width, activation="silu", data="cifar10")
        yield Run(
            at={"recipe": name},
            data=data,
            network=Module(build=resnet9, options=network),
            attack=NoisyFGSM(radius=EPS),
            risk=Risk(loss=Smoothed(0.1)),
            optimiser=optimiser,
            n=n,
            steps=epochs * (n // batch),
            eta=peak,
            engine="captured",
            dtype="float32",
            record=(),
            final=(
                training_seconds,
                preparation_seconds,
                Error(n=n_test, name="test_error"),
                Error(n=n_test, attacks=attacks, name="robust_test_error"),
                Error(n=n_suite, attacks=suite, name="suite_error"),
            ),
        )


def _accuracy(run):
    name = "robust_test_error"
    return Quantity(
        "robust test accuracy (PGD-50, restarts)",
        lambda rows: 1 - rows.one(run).last(name),
        (Need(run, (name,), alone=True),),
    )


def _share(run):
    """Return the share of CIFAR-10's training images that a run trains on."""
    return Quantity(
        "training images/50,000",
        lambda rows: np.array([rows.one(run).task.n / WHOLE]),
        (Need(run, ("training_seconds",), alone=True),),
    )


def _reached(name, share, seconds):
    """Return the check of one point of the frontier; smaller runs decide nothing."""
    run = where(recipe=name)
    whole = InRegime(_share(run), at_least=1.0)
    level, time = (
        Level(_accuracy(run), share, 1.0),
        Level(last("training_seconds", run), 0, seconds),
    )
    return Parts(
        {
            f"robust test accuracy at least {share:g}": Every(whole, level),
            f"at most {seconds} s of training": Every(whole, time),
        }
    )


checks = {
    "images.record.fastest": _reached("fastest", 0.45, 5),
    "images.record.fast": _reached("fast", 0.47, 9),
    "images.record.longest": _reached("longest", 0.50, 25),
}

COLUMNS = {
    "training_seconds": "training (s)",
    "preparation_seconds": "preparation (s)",
    "test_error": "clean error",
    "robust_test_error": "robust error (PGD-50, restarts)",
    "suite_error": "error under the suite",
}

figures = (
    Table(
        name="frontier",
        title="CIFAR-10, ε = 8/255: training time and errors",
        y=tuple(COLUMNS),
        names=COLUMNS,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
