"""Two noisy clusters: the data of BOAT."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Generator, Tensor

from adversarium.data.marginals import Gauss, Marginal, Mixed, overlap
from adversarium.rng import coins, uniform
from adversarium.shapes import Float
from adversarium.sockets import Batch, Named

BLOCK = 10  # number of consecutive points that correlated label noise flips together
Flip = Literal["independent", "near", "far", "correlated", "exact"]


@dataclass(frozen=True)
class ClusterBatch:
    """x, the observed label y and the clean label.

    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=3.0, beta=0.0).sample(5, stream(0, "train"))
    >>> torch.equal(batch.y, batch.clean_y)  # without label noise
    True
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]
    clean_y: Float[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """x = y_c μ + ξ, ξ with independent coordinates, labels flipped at rate β, §2 of BOAT.

    μ has norm `mu` and lies on the first axis, or is spread evenly over the first `spread` axes. By
    default ξ is N(0, I), as in the paper's experiments (Definition 2.1, read literally, requires a
    variance of at most 3/8); `marginal` selects another distribution.

    `flip` selects the flipped labels: each with probability β ("independent"), those whose point
    lies nearest to the other cluster ("near") or farthest from it ("far"), consecutive points
    together ("correlated"), or ⌊βn⌋ at random ("exact"). `balanced`: both classes have equally many
    points and equally many flips. `seen`: only a projection of x is drawn, onto a subspace of this
    dimension that contains μ.

    >>> from adversarium.rng import stream
    >>> Clusters(d=5, mu=2.0).sample(4, stream(0, "train")).x.shape
    torch.Size([4, 5])
    """

    d: int
    mu: float  # ‖μ‖
    beta: float = 0.1  # label noise
    marginal: Marginal = field(default_factory=Gauss)
    spread: int = 1
    flip: Flip = "independent"
    balanced: bool = False
    seen: int | None = None

    k = 1
    later = ("marginal", "spread", "flip", "balanced", "seen")  # added after version 1

    def __post_init__(self) -> None:
        if self.d < 1 or not self.mu >= 0:
            raise ValueError(f"Clusters needs d >= 1 and mu >= 0, got d={self.d}, mu={self.mu}.")
        if not 0 <= self.beta < 0.5:
            raise ValueError(f"Clusters needs label noise 0 <= beta < 1/2, got {self.beta}.")
        if not 1 <= self.spread <= self.d:
            raise ValueError(f"Clusters needs spread from 1 to d = {self.d}, got {self.spread}.")
        if not isinstance(self.marginal, Marginal):
            raise ValueError(f"Clusters needs a marginal such as Gauss(), got {self.marginal!r}.")
        if self.flip not in ("independent", "near", "far", "correlated", "exact"):
            raise ValueError(
                "Clusters needs flip to be independent, near, far, correlated or exact, got "
                f"{self.flip!r}."
            )
        along = self.spread == 1 and not isinstance(self.marginal, Mixed)
        if self.flip in ("near", "far") and not along and type(self.marginal) is not Gauss:
            raise ValueError(
                f"flip={self.flip!r} needs Gauss(), or one law with μ on an axis (spread=1); "
                "otherwise the quantile of ⟨μ, ξ⟩ is unknown."
            )
        if self.balanced and self.flip not in ("independent", "exact"):
            raise ValueError(
                f"balanced labels need flip to be exact or independent, got {self.flip!r}."
            )
        few = self.seen is not None and not self.spread <= self.seen <= self.d
        if self.seen is not None and (few or type(self.marginal) is not Gauss):
            raise ValueError(
                f"seen needs marginal=Gauss() and spread <= seen <= d, got seen={self.seen}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.d if self.seen is None else self.seen,)

    @property
    def budget(self) -> tuple[float, float]:
        """The norm (l2) and the radius (‖μ‖) at which attacks make the clusters meet."""
        return 2, float(self.mu)

    @property
    def mean(self) -> Float[Tensor, " d"]:
        """The mean μ."""
        mean = torch.zeros(self.shape, dtype=torch.float64)
        mean[: self.spread] = self.mu / math.sqrt(self.spread)
        return mean

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]:
        """Return an empty mapping: every known attack needs a network."""
        return {}

    def ceiling(self, p: float, radius: float) -> float:
        """Return the largest possible accuracy against an attack along μ, or 1 if it is unknown.

        It is known for flips that do not depend on the point. On Gaussian clusters the oracle
        sign⟨μ, x⟩ attains it (ours); for other noise, with μ on an axis, it follows from Theorem
        3.2 of BOAT with ½ in place of ¼.
        """
        reach = radius * self.spread ** (0.5 - 1 / p)  # in l2, along μ
        if self.flip in ("near", "far"):
            return 1.0
        if isinstance(self.marginal, Gauss):
            least = least_robust_error(self.mu, reach, self.beta, self.marginal.sigma)
        elif reach >= self.mu:
            least = 0.5
        elif self.spread == 1:
            shared = overlap(self.marginal, 2 * (self.mu - reach))
            least = robust_floor(self.beta, shared, tight=True)
        else:
            return 1.0
        return min(1 - least, math.nextafter(1, 0))  # 1 means that no ceiling is known

    def labels(self, n: int, rng: Generator) -> Float[Tensor, " n"]:
        """Draw n clean labels."""
        if not self.balanced:
            return coins((n,), rng)
        first = int(coins((1,), rng)) if n % 2 else 0  # the label of the unpaired point
        y = torch.ones(n, dtype=torch.float64)
        y[: (n - first) // 2] = -1
        return y[torch.randperm(n, generator=rng)]

    def flipped(
        self, clean_y: Float[Tensor, " n"], along: Float[Tensor, " n"], rng: Generator
    ) -> Float[Tensor, " n"]:
        """Return the observed labels; `along` is y_c⟨μ, ξ⟩/‖μ‖ of every point."""
        n = len(clean_y)
        if self.flip in ("near", "far"):
            low, high = (self.marginal.quantile(p) for p in (self.beta, 1 - self.beta))
            least, most = (torch.where(clean_y > 0, a, -b) for a, b in ((low, high), (high, low)))
            chosen = along < least if self.flip == "near" else along > most
        elif self.flip == "correlated":
            blocks = uniform((math.ceil(n / BLOCK),), rng) < self.beta
            chosen = blocks.repeat_interleave(BLOCK)[:n]
        elif self.balanced or self.flip == "exact":
            chosen = self._exactly(clean_y, rng)
        else:
            chosen = uniform((n,), rng) < self.beta
        return torch.where(chosen, -clean_y, clean_y)

    def _exactly(self, clean_y: Tensor, rng: Generator) -> Tensor:
        """Draw ⌊βn⌋ flips, half of them in each class if labels are balanced."""
        n = len(clean_y)
        order = torch.randperm(n, generator=rng)
        if self.balanced:  # alternate between the classes
            a, b = (order[clean_y[order] == y] for y in (1.0, -1.0))
            short = min(len(a), len(b))
            order = torch.cat([torch.stack([a[:short], b[:short]], 1).flatten(), a[short:],
                               b[short:]])  # fmt: skip
        chosen = torch.zeros(n, dtype=torch.bool)
        chosen[order[: math.floor(self.beta * n + 1e-9)]] = True
        return chosen

    def sample(self, n: int, rng: Generator) -> ClusterBatch:
        """Draw n points with their clean labels."""
        clean_y = self.labels(n, rng)
        placed = self.flip in ("near", "far")  # these need the noise; others are drawn first
        y = clean_y if placed else self.flipped(clean_y, clean_y, rng)
        xi = self.marginal.sample((n, *self.shape), rng)
        if placed:
            along = clean_y * xi[:, : self.spread].sum(1) / math.sqrt(self.spread)
            y = self.flipped(clean_y, along, rng)
        return self.about(ClusterBatch(x=xi, y=y, clean_y=clean_y))

    @property
    def centred(self) -> "Clusters":
        """The same data with μ = 0: the points are the noise; labels and flips are the same."""
        return replace(self, mu=0.0)

    def about(self, noise: ClusterBatch) -> ClusterBatch:
        """Return x = y_c μ + ξ for a batch of noise."""
        return replace(noise, x=noise.x + noise.clean_y[..., None] * self.mean.to(noise.x))


def robust_floor(beta: float, shared: float, tight: bool = False) -> float:
    """β + (1 − 2β)·shared/4, the lower bound of Theorem 3.2 of BOAT on the robust error of any
    classifier. `shared` is the overlap of the shifted densities; `tight` replaces ¼ by ½ (ours).

    >>> robust_floor(0.0, 0.5), robust_floor(0.0, 0.5, tight=True)
    (0.125, 0.25)
    """
    return beta + (1 - 2 * beta) * shared / (2 if tight else 4)


def least_robust_error(mu: float, alpha: float, beta: float, sigma: float = 1.0) -> float:
    """The smallest robust error of any classifier on Gaussian clusters with independent flips
    (ours): min(½, (1 − β)Φ(−(‖μ‖ − α)/σ) + βΦ((‖μ‖ + α)/σ)), the error of the oracle sign⟨μ, x⟩.

    >>> round(least_robust_error(2.0, 0.2, 0.1), 6), least_robust_error(1.0, 0.6, 0.3)
    (0.130947, 0.5)
    """
    if alpha >= mu:
        return 0.5
    missed, met = _phi(-(mu - alpha) / sigma), _phi((mu + alpha) / sigma)
    return min(0.5, (1 - beta) * missed + beta * met)


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
