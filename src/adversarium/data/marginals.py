"""Cluster marginals of Definition 2.1 of BOAT: one-dimensional distributions with mean zero and a
density e^{−V}, V″ ≥ λ (strongly log-concave).

Gauss has closed forms; the quantities of the others are computed once on a fine grid.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.rng import normal, uniform

GRID = 200_001


@runtime_checkable
class Marginal(Protocol):
    """A mean-zero distribution: λ, variance, sub-Gaussian norm, log density, quantiles, draws."""

    @property
    def lam(self) -> float: ...
    @property
    def var(self) -> float: ...
    @property
    def psi2(self) -> float: ...

    def log_density(self, x: Tensor) -> Tensor: ...
    def quantile(self, p: float) -> float: ...
    def sample(self, shape: tuple[int, ...], rng: Generator) -> Tensor: ...


@dataclass(frozen=True)
class Gauss:
    """N(0, σ²): λ = 1/σ², ‖ξ‖_ψ2 = σ√(8/3). Definition 2.1 of BOAT requires ‖ξ‖_ψ2 ≤ 1, i.e.
    σ² ≤ 3/8, which is not enforced here.

    >>> round(Gauss().psi2, 4), Gauss(0.5).lam
    (1.633, 4.0)
    """

    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise ValueError(f"Gauss needs sigma > 0, got {self.sigma}.")

    @property
    def lam(self) -> float:
        """λ."""
        return self.sigma**-2

    @property
    def var(self) -> float:
        """The variance."""
        return self.sigma**2

    @property
    def psi2(self) -> float:
        """inf{t: E exp(ξ²/t²) ≤ 2}."""
        return self.sigma * math.sqrt(8 / 3)

    def log_density(self, x: Tensor) -> Tensor:
        """Return log p(x)."""
        return -(x / self.sigma).square() / 2 - math.log(self.sigma * math.sqrt(2 * math.pi))

    def quantile(self, p: float) -> float:
        """Return the x with P(ξ ≤ x) = p."""
        return self.sigma * float(torch.special.ndtri(torch.tensor(p).double()))

    def sample(self, shape: tuple[int, ...], rng: Generator) -> Tensor:
        """Draw independent numbers."""
        return self.sigma * normal(shape, rng)


@dataclass(frozen=True, eq=False)
class _Table:
    """A centred distribution on a grid: its density, distribution function and constants."""

    x: np.ndarray
    p: np.ndarray
    cdf: np.ndarray
    centre: float  # the mean before centring
    log_mass: float
    var: float
    psi2: float


@lru_cache(maxsize=64)
def _table(law: "_Gridded") -> _Table:
    low, high = law.support
    x = np.linspace(low, high, GRID)
    raw = np.exp(-law.potential(torch.from_numpy(x)).numpy())
    step = x[1] - x[0]
    mass = float(np.trapezoid(raw, dx=step))
    p = raw / mass
    centre = float(np.trapezoid(x * p, dx=step))
    x = x - centre
    cdf = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) * step / 2)])
    var = float(np.trapezoid(x**2 * p, dx=step))

    def heavy(t: float) -> bool:
        with np.errstate(over="ignore"):
            return float(np.trapezoid(p * np.exp(np.minimum(x**2 / t**2, 700)), dx=step)) > 2

    a, b = math.sqrt(var), 4 * math.sqrt(var / 0.1)
    for _ in range(60):
        middle = (a + b) / 2
        a, b = (middle, b) if heavy(middle) else (a, middle)
    return _Table(x, p, cdf / cdf[-1], centre, math.log(mass), var, b)


class _Gridded(ABC):
    """A distribution given by a potential V on an interval."""

    lam: float

    @property
    def support(self) -> tuple[float, float]:
        """The interval of the grid; outside, the density is below e^{−80} of its largest value."""
        reach = math.sqrt(160 / self.lam)
        return -reach, reach

    @abstractmethod
    def potential(self, x: Tensor) -> Tensor:
        """Return V before centring."""

    @property
    def var(self) -> float:
        """The variance."""
        return _table(self).var

    @property
    def psi2(self) -> float:
        """inf{t: E exp(ξ²/t²) ≤ 2}."""
        return _table(self).psi2

    def log_density(self, x: Tensor) -> Tensor:
        """Return log p(x), which is −∞ outside the support."""
        table, (low, high) = _table(self), self.support
        z = x + table.centre
        inside = (z >= low) & (z <= high)
        return torch.where(inside, -self.potential(z) - table.log_mass, -math.inf)

    def quantile(self, p: float) -> float:
        """Return the x with P(ξ ≤ x) = p."""
        table = _table(self)
        return float(np.interp(p, table.cdf, table.x))

    def sample(self, shape: tuple[int, ...], rng: Generator) -> Tensor:
        """Draw independent numbers by the inverse of the distribution function."""
        table = _table(self)
        return torch.from_numpy(np.interp(uniform(shape, rng).numpy(), table.cdf, table.x))


@dataclass(frozen=True)
class Quartic(_Gridded):
    """p ∝ exp(−λx²/2 − q x⁴).

    >>> round(Quartic().var, 4)
    0.4679
    """

    lam: float = 1.0
    q: float = 0.25

    def __post_init__(self) -> None:
        _positive("Quartic", lam=self.lam, q=self.q)

    def potential(self, x: Tensor) -> Tensor:
        """Return V."""
        return self.lam * x.square() / 2 + self.q * x.pow(4)


@dataclass(frozen=True)
class GaussLaplace(_Gridded):
    """p ∝ exp(−λx²/2 − b|x|).

    >>> round(GaussLaplace().var, 4)
    0.4749
    """

    lam: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        _positive("GaussLaplace", lam=self.lam, b=self.b)

    def potential(self, x: Tensor) -> Tensor:
        """Return V."""
        return self.lam * x.square() / 2 + self.b * x.abs()


@dataclass(frozen=True)
class Skew(_Gridded):
    """p ∝ exp(−λx²/2 − b max(x, 0)), shifted to mean 0. It is not symmetric.

    >>> round(Skew().var, 4)
    0.559
    """

    lam: float = 1.0
    b: float = 2.0

    def __post_init__(self) -> None:
        _positive("Skew", lam=self.lam, b=self.b)

    def potential(self, x: Tensor) -> Tensor:
        """Return V before centring."""
        return self.lam * x.square() / 2 + self.b * x.clamp_min(0)


@dataclass(frozen=True)
class TruncatedGauss(_Gridded):
    """N(0, σ²) given |ξ| ≤ R: λ = 1/σ² on its support.

    >>> TruncatedGauss(R=1.0).quantile(1.0)
    1.0
    """

    sigma: float = 1.0
    R: float = 2.0

    def __post_init__(self) -> None:
        _positive("TruncatedGauss", sigma=self.sigma, R=self.R)

    @property
    def lam(self) -> float:  # type: ignore[override]
        """λ."""
        return self.sigma**-2

    @property
    def support(self) -> tuple[float, float]:
        """[−R, R]."""
        return -self.R, self.R

    def potential(self, x: Tensor) -> Tensor:
        """Return V inside the support."""
        return (x / self.sigma).square() / 2


@dataclass(frozen=True)
class Mixed:
    """Different distributions in different coordinates: coordinate j has laws[j mod len(laws)].

    >>> Mixed((Gauss(), Gauss(0.1))).var
    0.505
    """

    laws: tuple[Marginal, ...] = field(default_factory=lambda: (Gauss(), Quartic(), Gauss(0.2)))

    def __post_init__(self) -> None:
        if len(self.laws) < 2:
            raise ValueError(f"Mixed needs at least two laws, got {len(self.laws)}.")

    @property
    def lam(self) -> float:
        """The smallest λ."""
        return min(law.lam for law in self.laws)

    @property
    def var(self) -> float:
        """The mean variance of a coordinate, κ of Definition 2.1 of BOAT."""
        return sum(law.var for law in self.laws) / len(self.laws)

    @property
    def psi2(self) -> float:
        """The largest sub-Gaussian norm."""
        return max(law.psi2 for law in self.laws)

    def log_density(self, x: Tensor) -> Tensor:
        """Return log p of every coordinate; the last axis is that of the coordinates."""
        made = torch.empty_like(x)
        for i, law in enumerate(self.laws):
            made[..., i :: len(self.laws)] = law.log_density(x[..., i :: len(self.laws)])
        return made

    def quantile(self, p: float) -> float:
        """Return the quantile of the first coordinate."""
        return self.laws[0].quantile(p)

    def sample(self, shape: tuple[int, ...], rng: Generator) -> Tensor:
        """Draw independent numbers; the last axis is that of the coordinates."""
        made = torch.empty(shape, dtype=torch.float64)
        for i, law in enumerate(self.laws):
            part = made[..., i :: len(self.laws)]
            part.copy_(law.sample(tuple(part.shape), rng))
        return made


def overlap(marginal: Marginal, v: float, points: int = 400_001) -> float:
    """∫ min{p(ξ), p(ξ + v)} dξ for one coordinate, by quadrature. In Theorem 3.2 of BOAT,
    v = 2(‖μ‖ − α).

    >>> round(overlap(Gauss(), 2 * (2.0 - 0.2)), 6)
    0.071861
    """
    law = marginal.laws[0] if isinstance(marginal, Mixed) else marginal
    reach = math.sqrt(160 / law.lam) + v + 5
    low, high = max(-reach, law.quantile(0.0)), min(reach, law.quantile(1.0) - v)
    if low >= high:
        return 0.0
    x = torch.linspace(low, high, points, dtype=torch.float64)
    least = torch.minimum(law.log_density(x), law.log_density(x + v)).exp()
    return float(torch.trapezoid(least, x))


def _positive(name: str, **numbers: float) -> None:
    for field_, value in numbers.items():
        if not value > 0:
            raise ValueError(f"{name} needs {field_} > 0, got {value}.")
