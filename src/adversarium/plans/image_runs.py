"""Adversarial training on images, for the plans of several papers: attacks in training, recipes for
MNIST and CIFAR-10, and the errors that are recorded."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from adversarium.attacks import PGD
from adversarium.data import Images
from adversarium.data.files import SETS
from adversarium.measure import Error
from adversarium.networks import Module, lenet5, resnet9
from adversarium.plans.gates import Gate
from adversarium.plans.run import Run, Task
from adversarium.sockets import Attack
from adversarium.training import SGD, Adam, CropFlip, Piecewise, Triangular

CLEAN, FAST, STRONG = "clean training", "FGSM", "PGD"
BOX = (0.0, 1.0)


def one_step(eps: float) -> PGD:
    """Return FGSM from a uniform start with step 1.25 ε, clipped to the ball (Wong and others,
    2020).

    >>> one_step(0.1).step_size
    0.125
    """
    return PGD(
        radius=eps, steps=1, step=1.25 * eps, start="uniform", loss="cross_entropy", best=False,
        box=BOX,
    )  # fmt: skip


def many_steps(eps: float, steps: int, after: int = 0) -> PGD:
    """Return PGD from a uniform start with steps of max(ε/4, 2.5 ε/steps)."""
    return PGD(
        radius=eps, steps=steps, step=max(eps / 4, 2.5 * eps / steps), start="uniform",
        loss="cross_entropy", best=False, box=BOX, after=after,
    )  # fmt: skip


def measuring_pgd(
    eps: float, steps: int, loss: Literal["logit_difference", "cross_entropy"] = "logit_difference"
) -> tuple[Attack]:
    """Return PGD with some steps, as a probe takes it."""
    return (PGD(radius=eps, steps=steps, loss=loss, box=BOX),)


def errors(eps: float, n_eval: int, n_test: int) -> tuple[Error, ...]:
    """Return the clean and robust errors (PGD-10) at training and test points."""
    attack = measuring_pgd(eps, 10)
    return (
        Error(on="train", first=n_eval, name="train_error"),
        Error(on="test", n=n_test, name="test_error"),
        Error(on="train", first=n_eval, attacks=attack, name="robust_train_error"),
        Error(on="test", n=n_test, attacks=attack, name="robust_test_error"),
    )


def last_errors(eps: float, n_eval: int, n_test: int) -> tuple[Error, ...]:
    """Return robust errors after training (PGD-20); and the test error at 8 ε (at most 0.6), where
    no network is robust: an attack that fails there is too weak."""
    attack, wide = measuring_pgd(eps, 20), measuring_pgd(min(8 * eps, 0.6), 20)
    return (
        Error(on="train", first=n_eval, attacks=attack, name="last_robust_train_error"),
        Error(on="test", n=n_test, attacks=attack, name="last_robust_test_error"),
        Error(on="test", n=n_test, attacks=wide, name="wide_test_error"),
    )


def mnist(batch: int = 100) -> dict[str, Any]:
    """Return MNIST, LeNet-5, and the training rule of Wong and others (2020): Adam with a
    triangular step size up to 0.005."""
    return dict(
        data=Images(name="mnist"),
        network=Module(build=lenet5, options={"data": "mnist"}),
        optimiser=Adam(batch=batch, schedule=Triangular()),
        eta=0.005,
    )


def cifar10(
    width: int = 64,
    batch: int = 512,
    precision: Literal["bfloat16", "float16", "float32"] = "bfloat16",
) -> dict[str, Any]:
    """Return CIFAR-10, ResNet-9, and SGD with a step size that falls tenfold after one half and
    three quarters of training; images are cropped and reflected, and the training attack sees batch
    statistics."""
    optimiser = SGD(
        batch=batch, momentum=0.9, weight_decay=5e-4, schedule=Piecewise(at=(0.5, 0.75), drop=0.1),
        augment=CropFlip(), attack_mode="training",
        autocast=None if precision == "float32" else precision,
    )  # fmt: skip
    network = Module(build=resnet9, options={"width": width, "data": "cifar10"})
    return dict(data=Images(name="cifar10"), network=network, optimiser=optimiser, eta=0.2)


def image_run(
    family: str,
    *,
    eps: float,
    n: int,
    epochs: int,
    checkpoints: int,
    during: tuple[Any, ...],
    after: tuple[Any, ...],
    **parts: Any,
) -> Run:
    """Return a training run on images that is recorded at about `checkpoints` epochs, equally
    spaced, the last one included; ε₀ is a coordinate. `parts` are the data, the network, the
    attack, the optimiser and eta."""
    per_epoch = n // parts["optimiser"].batch
    every = max(1, epochs // checkpoints)
    times = tuple(e * per_epoch for e in range(epochs % every, epochs + 1, every) if e)
    return Run(
        family=family, at={"ε₀": eps}, n=n, steps=epochs * per_epoch, probes=during, final=after,
        record=times, dtype="float32", **parts,
    )  # fmt: skip


def size_gates(run: Task, printed: Mapping[str, object], place: str) -> Sequence[Gate]:
    """Return how a run on images compares with the print: its share of the training set, and
    whether it has the network that is printed at `place` for the data set (0: another one, or a
    narrower one). Another network decides orderings on the same data, so that gate is reported
    only; printed levels need the printed network."""
    if not isinstance(run, Run) or not isinstance(run.data, Images):
        return ()
    network, whole = run.network, SETS[run.data.name].sizes[0]
    same = isinstance(network, Module) and network.build is printed.get(run.data.name)
    narrow = isinstance(network, Module) and network.options.get("width", 64) < 64
    return (
        Gate("training images/whole set", run.n / whole, low=1.0),
        Gate(f"the network of {place}", float(same and not narrow), low=1.0, printed=False),
    )
