"""Training and measuring of image networks: LeNet-5 under fast adversarial training (images of the
size of MNIST, five seeds together), with the channels of all seeds side by side in memory and
without; and the engine `captured` against `sgd`, on a GPU if there is one."""

import time
from collections.abc import Callable
from unittest.mock import patch

import torch

from adversarium.data import Digits
from adversarium.networks import Module, lenet5, modules, small_cnn
from adversarium.plans.image_runs import one_step
from adversarium.training import ENGINES, SGD, Problem, Recipe, train

SEEDS = 5
BATCH = 100
EPOCH = 60_000


def seconds(step: Callable[[], object], times: int = 8) -> float:
    """The median time of a step."""
    step()
    spent = []
    for _ in range(times):
        before = time.perf_counter()
        step()
        spent.append(time.perf_counter() - before)
    return sorted(spent)[times // 2]


def fast_step(seeds: int = SEEDS) -> None:
    """The gradients of a step of one-step adversarial training, in the images and in the weights,
    for some seeds together."""
    images, weights = IMAGES[:seeds], {name: w[:seeds] for name, w in W.items()}
    x, y = images.detach().requires_grad_(True), LABELS[:seeds].flatten()
    loss = torch.nn.functional.cross_entropy
    (g,) = torch.autograd.grad(loss(NETWORK.f(weights, x).flatten(0, 1), y, reduction="sum"), x)
    moving = {name: w.requires_grad_(True) for name, w in weights.items() if w.numel()}
    F, _ = NETWORK.trained_f({**weights, **moving}, (images + 0.1 * g.sign()).clamp(0, 1))
    torch.autograd.grad(loss(F.flatten(0, 1), y), list(moving.values()), allow_unused=True)
    for w in moving.values():
        w.requires_grad_(False)


NETWORK = Module(build=lenet5, options={"data": "mnist"})
DRAWN = [NETWORK.init(torch.Generator().manual_seed(s), (1, 28, 28), 10) for s in range(SEEDS)]
W = {name: torch.stack([w[name] for w in DRAWN]).float() for name in DRAWN[0]}
IMAGES = torch.rand(SEEDS, BATCH, 1, 28, 28)
LABELS = torch.randint(10, (SEEDS, BATCH))


def layouts() -> None:
    """Print the time of one seed and step for both orders of memory, of one seed alone, and of 20
    epochs of MNIST."""
    beside = seconds(fast_step) / SEEDS
    with patch.object(modules, "_channels_inside", lambda W, x: (W, x)):
        plain = seconds(fast_step) / SEEDS
    alone = seconds(lambda: fast_step(1))
    whole = 20 * EPOCH / BATCH * beside
    print(f"LeNet-5, FGSM step of {BATCH} images, per seed: plain {1e3 * plain:.1f} ms, "
          f"channels side by side {1e3 * beside:.1f} ms, {plain / beside:.2f} ×; one seed alone "
          f"{1e3 * alone:.1f} ms; "
          f"20 epochs of MNIST {whole / 60:.1f} min per seed")  # fmt: skip


def engines() -> None:
    """Print the time of a step of `sgd` and of `captured`, one seed."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    recipe = Recipe(n=1000, steps=200, eta=0.05, optimiser=SGD(batch=100))
    network = Module(build=small_cnn)
    spent = {}
    for name in ("sgd", "captured"):
        problem = Problem(Digits(), network, one_step(0.1), recipe, (0,), device, torch.float32)
        walk = train(ENGINES[name], (problem,))
        for _ in range(3):
            state = next(walk)
        ENGINES[name].split(state)  # waits for the device
        before = time.perf_counter()
        for _ in range(100):
            state = next(walk)
        ENGINES[name].split(state)[0].risk().tolist()
        spent[name] = (time.perf_counter() - before) / 100
    print(f"small CNN on the digits, FGSM step of 100 images, {device}: sgd "
          f"{1e3 * spent['sgd']:.2f} ms, captured {1e3 * spent['captured']:.2f} ms, "
          f"{spent['sgd'] / spent['captured']:.2f} ×")  # fmt: skip


if __name__ == "__main__":
    layouts()
    engines()
