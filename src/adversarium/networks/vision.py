"""Image networks. Inputs lie in [0, 1]; the first layer subtracts the mean and divides by the
standard deviation of the pixels of the data set that `data` names."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

PIXELS = {  # mean and standard deviation of the training pixels of each channel
    "mnist": ((0.1307,), (0.3081,)),
    "fashion-mnist": ((0.2860,), (0.3530,)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "svhn": ((0.4377, 0.4438, 0.4728), (0.1980, 0.2010, 0.1970)),
    "svhn-crops": ((0.4377, 0.4438, 0.4728), (0.1980, 0.2010, 0.1970)),
}
ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "silu": nn.SiLU,
    "leaky": lambda: nn.LeakyReLU(0.1),
}


class Normalised(nn.Module):
    """(x − mean)/std per channel.

    >>> Normalised((0.5,), (0.25,))(torch.ones(1, 1, 2, 2)).unique()
    tensor([2.])
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean)[:, None, None])
        self.register_buffer("std", torch.tensor(std)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean.to(x)) / self.std.to(x)


def _first(data: str | None, channels: int) -> list[nn.Module]:
    """Return the layer that normalises the pixels of a data set; none if it is not named."""
    if data is None:
        return []
    if data not in PIXELS or len(PIXELS[data][0]) != channels:
        raise ValueError(
            f"a network needs data=None or a set of {channels}-channel images among "
            f"{', '.join(PIXELS)}, got {data!r}."
        )
    return [Normalised(*PIXELS[data])]


def _activation(name: str) -> nn.Module:
    if name not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"a network needs an activation among {known}, got {name!r}.")
    return ACTIVATIONS[name]()


def small_cnn(
    shape: tuple[int, ...],
    k: int,
    width: int = 16,
    hidden: int = 0,
    activation: str = "relu",
) -> nn.Module:
    """Return a network of two convolutions and two linear layers for images of any size; it has
    about 38,000 weights for 8 × 8 digits at width 16. The representation, the input of the last
    layer, has `hidden` coordinates (0: 4 · width).

    >>> sum(w.numel() for w in small_cnn((1, 8, 8), k=10).parameters())
    38282
    """
    channels, height, breadth = shape
    last = hidden or 4 * width
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1),
        _activation(activation),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        _activation(activation),
        nn.Flatten(),
        nn.Linear(2 * width * ((height + 1) // 2) * ((breadth + 1) // 2), last),
        _activation(activation),
        nn.Linear(last, k),
    )


def lenet5(shape: tuple[int, ...], k: int, data: str | None = None) -> nn.Module:
    """Return LeNet-5 (LeCun and others, 1998) with ReLU and maximum pooling, as CGRO trains it on
    MNIST; 28 × 28 images are padded to 32 × 32.

    >>> sum(w.numel() for w in lenet5((1, 28, 28), k=10).parameters())
    61706
    """
    channels, height, breadth = shape
    padding = 2 if height < 32 else 0
    rows, columns = (((size + 2 * padding - 4) // 2 - 4) // 2 for size in (height, breadth))
    return nn.Sequential(
        *_first(data, channels),
        nn.Conv2d(channels, 6, 5, padding=padding), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * rows * columns, 120), nn.ReLU(),
        nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, k),
    )  # fmt: skip


def _convolved(inputs: int, outputs: int, activation: str, *more: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        _activation(activation),
        *more,
    )


class _Plus(nn.Module):
    """x + g(x)."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.g = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = x + self.g(x)
        return made


def resnet9(
    shape: tuple[int, ...],
    k: int,
    width: int = 64,
    activation: str = "relu",
    data: str | None = None,
) -> nn.Module:
    """Return a residual network of nine layers: four convolutions, each wider, two residual blocks
    of two convolutions, and a linear layer on an eighth of the largest value of each channel.

    >>> sum(w.numel() for w in resnet9((3, 32, 32), k=10).parameters())
    6573130
    """
    w, pool = width, nn.MaxPool2d(2)
    return nn.Sequential(
        *_first(data, shape[0]),
        _convolved(shape[0], w, activation),
        _convolved(w, 2 * w, activation, pool),
        _Plus(_convolved(2 * w, 2 * w, activation), _convolved(2 * w, 2 * w, activation)),
        _convolved(2 * w, 4 * w, activation, pool),
        _convolved(4 * w, 8 * w, activation, pool),
        _Plus(_convolved(8 * w, 8 * w, activation), _convolved(8 * w, 8 * w, activation)),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        _Eighth(),
        nn.Linear(8 * w, k),
    )


class _Eighth(nn.Module):
    """x/8; without it, the large maxima of many channels make the first steps of usual size
    diverge."""

    def forward(self, x: Tensor) -> Tensor:
        return x / 8


class _Block(nn.Module):
    """Two convolutions beside a shortcut. With `before`, normalisation and activation precede each
    convolution (He and others, 2016b); otherwise they follow it (2016a)."""

    def __init__(
        self, inputs: int, outputs: int, stride: int, before: bool, activation: str
    ) -> None:
        super().__init__()
        self.before, self.act = before, _activation(activation)
        self.norm1 = nn.BatchNorm2d(inputs if before else outputs)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.short: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            if not before:
                self.short = nn.Sequential(self.short, nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        if self.before:
            z = self.act(self.norm1(x))
            beside = x if isinstance(self.short, nn.Identity) else self.short(z)
            made: Tensor = self.conv2(self.act(self.norm2(self.conv1(z)))) + beside
            return made
        z = self.norm2(self.conv2(self.act(self.norm1(self.conv1(x)))))
        out: Tensor = self.act(z + self.short(x))
        return out


def _residual(
    shape: tuple[int, ...],
    k: int,
    widths: Sequence[int],
    blocks: int,
    before: bool,
    activation: str,
    data: str | None,
) -> nn.Module:
    """Return a residual network of groups of blocks; each group after the first halves the size."""
    first, *_ = widths
    stem: list[nn.Module] = [nn.Conv2d(shape[0], first, 3, 1, 1, bias=False)]
    if not before:
        stem += [nn.BatchNorm2d(first), _activation(activation)]
    groups: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(pairwise(widths)):
        for j in range(blocks):
            stride = 2 if i and not j else 1
            groups.append(_Block(outputs if j else inputs, outputs, stride, before, activation))
    last = [nn.BatchNorm2d(widths[-1]), _activation(activation)] if before else []
    return nn.Sequential(
        *_first(data, shape[0]), *stem, *groups, *last,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], k),
    )  # fmt: skip


def resnet18(
    shape: tuple[int, ...],
    k: int,
    width: int = 64,
    activation: str = "relu",
    data: str | None = None,
) -> nn.Module:
    """Return ResNet-18 for small images: the first convolution is 3 × 3 and nothing is pooled.

    >>> sum(w.numel() for w in resnet18((3, 32, 32), k=10).parameters())
    11173962
    """
    widths = (width, width, 2 * width, 4 * width, 8 * width)
    return _residual(shape, k, widths, 2, False, activation, data)


def preact_resnet18(
    shape: tuple[int, ...],
    k: int,
    width: int = 64,
    activation: str = "relu",
    data: str | None = None,
) -> nn.Module:
    """Return the pre-activation ResNet-18 of Rice and others (2020), CGRO's source for Figure 1.

    >>> sum(w.numel() for w in preact_resnet18((3, 32, 32), k=10).parameters())
    11172170
    """
    widths = (width, width, 2 * width, 4 * width, 8 * width)
    return _residual(shape, k, widths, 2, True, activation, data)


def wide_resnet(
    shape: tuple[int, ...],
    k: int,
    depth: int = 34,
    widen: int = 10,
    activation: str = "relu",
    data: str | None = None,
) -> nn.Module:
    """Return WideResNet-depth-widen (Zagoruyko and Komodakis, 2016) without dropout, RNRF's network
    for CIFAR-10 and SVHN.

    >>> sum(w.numel() for w in wide_resnet((3, 32, 32), k=10, depth=10, widen=1).parameters())
    77850
    """
    if depth < 10 or (depth - 4) % 6:
        raise ValueError(f"wide_resnet needs depth = 6 n + 4 with n >= 1, got {depth}.")
    widths = (16, 16 * widen, 32 * widen, 64 * widen)
    return _residual(shape, k, widths, (depth - 4) // 6, True, activation, data)
