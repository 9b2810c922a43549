"""PGD with 20 steps in a box: ours against foolbox, interleaved in one run, in l_inf, l2 and l1, on
two networks. Both start at the points themselves, step along the gradient of the cross-entropy, and
return the last point."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import foolbox
import torch
from torch import Tensor, nn

from adversarium.attacks import PGD
from adversarium.rng import stream

STEPS, ROUNDS = 20, 15
BOX = (0.0, 1.0)
RADII = {"inf": 8 / 255, "2": 0.5, "1": 12.0}
PEERS = {
    "inf": foolbox.attacks.LinfProjectedGradientDescentAttack,
    "2": foolbox.attacks.L2ProjectedGradientDescentAttack,
    "1": foolbox.attacks.L1ProjectedGradientDescentAttack,
}


@dataclass(frozen=True, eq=False)
class Points:
    x: Tensor
    y: Tensor


def small_network() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def convolutional_network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip


def seconds(call: Callable[[], object]) -> float:
    """The time of one call."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    before = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - before


def compare(name: str, net: nn.Module, device: str) -> None:
    """Print the median time of both, and the ratio, for the three norms."""
    net = net.to(device).eval()
    x = torch.rand(128, 1, 28, 28, device=device)
    y = net(x).argmax(-1)
    model = foolbox.PyTorchModel(net, bounds=BOX, device=device)
    for p, radius in RADII.items():
        step = 2.5 * radius / STEPS
        own = PGD(p=float(p), radius=radius, steps=STEPS, step=step, loss="cross_entropy", box=BOX,
                  best=False)  # fmt: skip
        peer = PEERS[p](abs_stepsize=step, steps=STEPS, random_start=False)

        def ours(own: PGD = own) -> object:
            return own(lambda z: nn.functional.cross_entropy(net(z), y, reduction="none"),
                       Points(x, y), 0, stream(0, "attack"))  # fmt: skip

        def theirs(peer: object = peer, radius: float = radius) -> object:
            return peer(model, x, y, epsilons=radius)  # type: ignore[operator]

        spent: dict[str, list[float]] = {"ours": [], "foolbox": []}
        for _ in range(ROUNDS + 2):
            spent["ours"].append(seconds(ours))
            spent["foolbox"].append(seconds(theirs))
        mine, peers = (sorted(times[2:])[ROUNDS // 2] for times in spent.values())
        print(f"{name}, l_{p}: {1e3 * mine / STEPS:.2f} ms a step, foolbox "
              f"{1e3 * peers / STEPS:.2f} ms, ratio {mine / peers:.2f}")  # fmt: skip


if __name__ == "__main__":
    torch.manual_seed(0)
    place = "cuda" if torch.cuda.is_available() else "cpu"
    compare("two layers", small_network(), place)
    compare("convolutions", convolutional_network(), place)
