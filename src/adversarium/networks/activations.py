"""Activations s(z) with their slopes s'(z) and the constants that the theorems use."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from adversarium.networks.smooth import Erf, QuadraticReLU, Shifted, Softplus, Tanh


@dataclass(frozen=True)
class ReLU:
    """s(z) = max(z, 0), with s'(0) = 0.

    >>> ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    C1 = 1.0  # sup |s'|
    C2 = math.inf  # Lipschitz constant of s'

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) ≥ 0 such that the rounding error of s(z) is at most a small multiple of
        u(|z| + c(z)), u = 2⁻⁵³."""
        return torch.zeros_like(z)

    def __call__(self, z: Tensor) -> Tensor:
        return torch.relu(z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return (z > 0).to(z.dtype)

    def mean(self, a: Tensor, sd: Tensor) -> Tensor:
        """E s(N(a, sd²))."""
        return _tail(a, sd, torch.zeros_like(a))


@dataclass(frozen=True)
class LeakyReLU:
    """s(z) = max(z, γz), 0 ≤ γ ≤ 1, with s'(0) = γ.

    >>> LeakyReLU(0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    gamma: float = 0.1

    C1: ClassVar[float] = 1.0  # sup |s'|
    C2: ClassVar[float] = math.inf  # Lipschitz constant of s'

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"LeakyReLU needs 0 <= gamma <= 1, got {self.gamma}.")

    def __call__(self, z: Tensor) -> Tensor:
        return torch.where(z > 0, z, self.gamma * z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return torch.where(z > 0, torch.ones_like(z), self.gamma)

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) as in `ReLU.offset`."""
        return torch.zeros_like(z)

    def mean(self, a: Tensor, sd: Tensor) -> Tensor:
        """E s(N(a, sd²))."""
        return self.gamma * a + (1 - self.gamma) * ReLU().mean(a, sd)


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

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) as in `ReLU.offset`: 1/H on the linear pieces, 0 on the quadratic one."""
        return torch.where(z.abs() <= 1 / self.H, torch.zeros_like(z), 1 / self.H)

    def __call__(self, z: Tensor) -> Tensor:
        gamma, H = self.gamma, self.H
        inside = (1 - gamma) * H * z.square() / 4 + (1 + gamma) * z / 2
        outside = torch.where(z > 0, z, gamma * z) - (1 - gamma) / (4 * H)
        return torch.where(z.abs() <= 1 / H, inside, outside)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        inside = (1 - self.gamma) * self.H * z / 2 + (1 + self.gamma) / 2
        return inside.clamp(self.gamma, 1)

    def mean(self, a: Tensor, sd: Tensor) -> Tensor:
        """E s(N(a, sd²)): s(z) − γz is 1 − γ times the mean of (z − u)₊ over u in [−1/H, 1/H],
        minus a constant; if all of N(a, sd²) lies on the quadratic piece, its mean there, which
        cancels nothing if a and sd are tiny.

        >>> tiny = torch.tensor([1e-20, -1e-20], dtype=torch.float64)
        >>> means = SmoothedLeakyReLU(gamma=0.5).mean(tiny, torch.tensor(1e-25))
        >>> [f"{mean:.3g}" for mean in means.tolist()]
        ['7.5e-21', '-7.5e-21']
        """
        gamma, H, b = self.gamma, self.H, 1 / self.H
        bent = sd.square() * (_twice((a + b) / sd) - _twice((a - b) / sd)) * H / 4
        whole = gamma * a + (1 - gamma) * (bent - 1 / (4 * H))
        inside = (1 - gamma) * H * (a.square() + sd.square()) / 4 + (1 + gamma) * a / 2
        return torch.where(a.abs() + 10 * sd < b, inside, whole)


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

    def offset(self, z: Tensor) -> Tensor:
        """Return c(z) as in `ReLU.offset`."""
        return torch.full_like(z, 1 / self.b)

    def __call__(self, z: Tensor) -> Tensor:
        density = torch.exp((self.b * z).square() * -0.5)
        return z * self.slope(z) + density * (1 / (self.b * math.sqrt(2 * math.pi)))

    def mean(self, a: Tensor, sd: Tensor) -> Tensor:
        """E s(N(a, sd²)), because s(z) is the mean of (z + N(0, 1)/b)₊."""
        return _tail(a, (sd.square() + self.b**-2).sqrt(), torch.zeros_like(a))

    def slope(self, z: Tensor) -> Tensor:
        """s'(z) = Φ(bz)."""
        return torch.erfc(z * (-self.b * math.sqrt(0.5))) * 0.5  # ndtr takes twice as long


@dataclass(frozen=True)
class Power:
    """s(z) = z|z|^{q−1}: z^q, made odd for even q.

    >>> Power(2)(torch.tensor([-2.0, 3.0]))
    tensor([-4.,  9.])
    """

    q: int = 3

    def __post_init__(self) -> None:
        if self.q < 1:
            raise ValueError(f"Power needs q >= 1, got {self.q}.")

    def __call__(self, z: Tensor) -> Tensor:
        return z * z.abs().pow(self.q - 1)

    def offset(self, z: Tensor) -> Tensor:
        """Return 0, because the rounding error is relative, a small multiple of u|s|."""
        return torch.zeros_like(z)

    def slope(self, z: Tensor) -> Tensor:
        """s'(z)."""
        return self.q * z.abs().pow(self.q - 1)


def _tail(a: Tensor, sd: Tensor, u: Tensor) -> Tensor:
    """E(N(a, sd²) − u)₊."""
    z = (a - u) / sd
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    mean: Tensor = (a - u) * torch.special.ndtr(z) + sd * density
    return mean


def _twice(z: Tensor) -> Tensor:
    """Twice the integral of E(N(v, 1))₊ over v < z: (z² + 1)Φ(z) + zφ(z)."""
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    twice: Tensor = (z.square() + 1) * torch.special.ndtr(z) + z * density
    return twice


Activation = (
    ReLU
    | LeakyReLU
    | SmoothedLeakyReLU
    | SmoothedReLU
    | QuadraticReLU
    | Softplus
    | Erf
    | Tanh
    | Shifted
)
