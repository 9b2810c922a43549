"""Activations as values: s(z), its slope s'(z), and the constants that the theorems use."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor


@dataclass(frozen=True)
class ReLU:
    """s(z) = max(z, 0), with s'(0) = 0.

    >>> ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    C1 = 1.0  # sup |s'|
    C2 = math.inf  # Lipschitz constant of s'
    width = 0.0  # |z| below which it is curved: it is rounded by a few u(|z| + width)

    def __call__(self, z: Tensor) -> Tensor:
        return torch.relu(z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return (z > 0).to(z.dtype)


@dataclass(frozen=True)
class SmoothedLeakyReLU:
    """Eq. (1) of BOAT: slope γ below −1/H, 1 above 1/H, quadratic between.

    >>> SmoothedLeakyReLU(gamma=0.5).slope(torch.tensor([-2.0, 0.0, 2.0]))
    tensor([0.5000, 0.7500, 1.0000])
    """

    gamma: float = 0.1
    H: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1 or self.H <= 0:
            raise ValueError(
                f"SmoothedLeakyReLU needs 0 < gamma <= 1 and H > 0, got gamma={self.gamma}, "
                f"H={self.H}."
            )

    @property
    def C1(self) -> float:
        """sup |s'|."""
        return 1.0

    @property
    def C2(self) -> float:
        """Lipschitz constant of s'."""
        return (1 - self.gamma) * self.H / 2

    @property
    def width(self) -> float:
        """|z| below which it is curved."""
        return 1 / self.H

    def __call__(self, z: Tensor) -> Tensor:
        gamma, H = self.gamma, self.H
        inside = (1 - gamma) * H * z.square() / 4 + (1 + gamma) * z / 2
        outside = torch.where(z > 0, z, gamma * z) - (1 - gamma) / (4 * H)
        return torch.where(z.abs() <= 1 / H, inside, outside)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        inside = (1 - self.gamma) * self.H * z / 2 + (1 + self.gamma) / 2
        return inside.clamp(self.gamma, 1)


@dataclass(frozen=True)
class SmoothedReLU:
    """s(z) = E(z + N(0,1)/b)₊ = zΦ(bz) + φ(bz)/b: our smooth default for §5 of CONV.

    >>> SmoothedReLU().slope(torch.tensor([0.0]))
    tensor([0.5000])
    """

    b: float = 2.0

    def __post_init__(self) -> None:
        if self.b <= 0:
            raise ValueError(f"SmoothedReLU needs b > 0, got {self.b}.")

    @property
    def C1(self) -> float:
        """sup |s'|."""
        return 1.0

    @property
    def C2(self) -> float:
        """Lipschitz constant of s'."""
        return self.b / math.sqrt(2 * math.pi)

    @property
    def width(self) -> float:
        """|z| below which it is curved."""
        return 1 / self.b

    def __call__(self, z: Tensor) -> Tensor:
        density = torch.exp(-(self.b * z).square() / 2) / math.sqrt(2 * math.pi)
        return z * self.slope(z) + density / self.b

    def slope(self, z: Tensor) -> Tensor:
        """s'(z) = Φ(bz)."""
        share: Tensor = torch.special.ndtr(self.b * z)
        return share


@dataclass(frozen=True)
class Power:
    """s(z) = z|z|^{q−1}: z^q, made odd for even q.

    >>> Power(2)(torch.tensor([-2.0, 3.0]))
    tensor([-4.,  9.])
    """

    q: int = 3

    width: ClassVar[float] = 0.0  # its rounding is relative: a few u|s|

    def __post_init__(self) -> None:
        if self.q < 1:
            raise ValueError(f"Power needs q >= 1, got {self.q}.")

    def __call__(self, z: Tensor) -> Tensor:
        return z * z.abs().pow(self.q - 1)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return self.q * z.abs().pow(self.q - 1)


Activation = ReLU | SmoothedLeakyReLU | SmoothedReLU
