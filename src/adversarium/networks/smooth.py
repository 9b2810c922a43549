"""Further activations for §5 and App. C of CONV."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor


@dataclass(frozen=True)
class QuadraticReLU:
    """s(z) = max(z, 0)², App. C.2 of CONV; its slope is unbounded.

    >>> QuadraticReLU()(torch.tensor([-1.0, 3.0]))
    tensor([0., 9.])
    """

    C1: ClassVar[float] = math.inf  # sup |s'|
    C2: ClassVar[float] = 2.0  # Lipschitz constant of s'

    def __call__(self, z: Tensor) -> Tensor:
        return torch.relu(z).square()

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return 2 * torch.relu(z)

    def offset(self, z: Tensor) -> Tensor:
        """Return 0, because the rounding error is relative."""
        return torch.zeros_like(z)


@dataclass(frozen=True)
class Softplus:
    """s(z) = log(1 + e^{bz})/b.

    >>> Softplus(b=2.0).slope(torch.tensor([0.0]))
    tensor([0.5000])
    """

    b: float = 2.0

    C1: ClassVar[float] = 1.0  # sup |s'|

    def __post_init__(self) -> None:
        if self.b <= 0:
            raise ValueError(f"Softplus needs b > 0, got {self.b}.")

    @property
    def C2(self) -> float:
        """Lipschitz constant of s'."""
        return self.b / 4

    def __call__(self, z: Tensor) -> Tensor:
        return torch.nn.functional.softplus(self.b * z) / self.b

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return torch.sigmoid(self.b * z)

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) as in `ReLU.offset`."""
        return torch.full_like(z, 1 / self.b)


@dataclass(frozen=True)
class Erf:
    """s(z) = erf(z), an odd activation.

    >>> Erf()(torch.tensor([0.0]))
    tensor([0.])
    """

    C1: ClassVar[float] = 2 / math.sqrt(math.pi)  # sup |s'|
    C2: ClassVar[float] = 4 / math.sqrt(math.pi) / math.sqrt(2) * math.exp(-0.5)

    def __call__(self, z: Tensor) -> Tensor:
        return torch.erf(z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return 2 / math.sqrt(math.pi) * torch.exp(-z.square())

    def offset(self, z: Tensor) -> Tensor:
        """Return 0, because the rounding error is relative."""
        return torch.zeros_like(z)


@dataclass(frozen=True)
class Tanh:
    """s(z) = tanh(z), an odd activation.

    >>> Tanh().slope(torch.tensor([0.0]))
    tensor([1.])
    """

    C1: ClassVar[float] = 1.0  # sup |s'|
    C2: ClassVar[float] = 4 / (3 * math.sqrt(3))

    def __call__(self, z: Tensor) -> Tensor:
        return torch.tanh(z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return 1 - torch.tanh(z).square()

    def offset(self, z: Tensor) -> Tensor:
        """Return 0, because the rounding error is relative."""
        return torch.zeros_like(z)


@dataclass(frozen=True)
class Shifted:
    """s'(z) = Φ(b(z − c)): the smoothed ReLU shifted by c, which is neither odd nor even, so its
    kernel is universal on the sphere without a bias (ours, for §5 of CONV).

    >>> Shifted(b=4.0, c=0.5).slope(torch.tensor([0.5]))
    tensor([0.5000])
    """

    b: float = 4.0
    c: float = 0.5

    C1: ClassVar[float] = 1.0  # sup |s'|

    def __post_init__(self) -> None:
        if self.b <= 0:
            raise ValueError(f"Shifted needs b > 0, got {self.b}.")

    @property
    def C2(self) -> float:
        """Lipschitz constant of s'."""
        return self.b / math.sqrt(2 * math.pi)

    def __call__(self, z: Tensor) -> Tensor:
        moved = z - self.c
        density = torch.exp(-(self.b * moved).square() / 2) / math.sqrt(2 * math.pi)
        return moved * self.slope(z) + density / self.b

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        share: Tensor = torch.special.ndtr(self.b * (z - self.c))
        return share

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) as in `ReLU.offset`."""
        return torch.full_like(z, 1 / self.b + abs(self.c))
