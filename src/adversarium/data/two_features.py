"""Robust and non-robust features in patches: the data of RNRF."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Generator, Tensor

from adversarium.rng import integers, normal, uniform
from adversarium.shapes import Bool, Float, Int
from adversarium.sockets import Batch, Named


@dataclass(frozen=True)
class TwoFeatureBatch:
    """X, y and the latent variables: the robust patches, the strengths of all patches, the noise.

    >>> from adversarium.rng import stream
    >>> batch = TwoFeaturePatches(k=2, d=4, P=3, alpha=2.0, beta=0.5).sample(2, stream(0, "train"))
    >>> batch.strength.sort().values.tolist()  # one robust patch of three
    [[0.5, 0.5, 2.0], [0.5, 0.5, 2.0]]
    """

    x: Float[Tensor, "*n P d"]
    y: Int[Tensor, "*n"]
    is_robust: Bool[Tensor, "*n P"]
    strength: Float[Tensor, "*n P"]  # α_p on the robust patches, β_p on the others
    noise: Float[Tensor, "*n P d"]


@dataclass(frozen=True, kw_only=True)
class TwoFeaturePatches:
    """Definition 2.1 of RNRF: x_p = α_p u_y + ξ_p on robust patches, β_p v_y + ξ_p on the others.

    The features are axes, u_j = e_j and v_j = e_{k+j}: an l_inf budget is then a budget on the
    coefficients. ξ_p ~ N(0, σ_n² I); the robust patches J_R are a uniform subset.

    >>> from adversarium.rng import stream
    >>> data = TwoFeaturePatches(k=2, d=4, P=3)
    >>> data.sample(5, stream(0, "train")).is_robust.sum(-1).tolist()
    [1, 1, 1, 1, 1]
    >>> data.ceiling(math.inf, radius=1.0)
    0.5
    """

    k: int = 2  # classes
    d: int = 100  # dimension of a patch
    P: int = 16  # number of patches
    alpha: float = 2.0  # mean strength of the robust feature
    beta: float = 1.0  # mean strength of the non-robust feature
    sigma_n: float = 0.1  # standard deviation of the noise
    n_robust: int = 1  # |J_R|
    strengths: Literal["constant", "uniform", "lognormal"] = "constant"
    spread: float = 0.0  # relative half-width (uniform) or log standard deviation (lognormal)
    balanced: bool = False  # classes in turn instead of random; n = k gives one point per class

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError(f"TwoFeaturePatches needs k >= 2 classes, got k={self.k}.")
        if self.d < 2 * self.k:
            raise ValueError(
                f"TwoFeaturePatches needs d >= 2k (two features per class), got d={self.d} with "
                f"k={self.k}; use d >= {2 * self.k}."
            )
        if not 1 <= self.n_robust < self.P:
            raise ValueError(
                f"TwoFeaturePatches needs 1 <= n_robust < P (both kinds of patches), got "
                f"n_robust={self.n_robust} with P={self.P}."
            )
        if self.alpha <= 0 or self.beta <= 0 or self.sigma_n < 0 or self.spread < 0:
            raise ValueError(
                "TwoFeaturePatches needs alpha, beta > 0 and sigma_n, spread >= 0, got "
                f"alpha={self.alpha}, beta={self.beta}, sigma_n={self.sigma_n}, "
                f"spread={self.spread}."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.P, self.d)

    @property
    def budget(self) -> tuple[float, float]:
        """The norm (l_inf) and the radius (α/2) at which two robust features can be made equal."""
        return math.inf, self.alpha / 2

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]:
        """Return the model-free attacks in l_inf; the mapping is empty for other norms.

        They are the replacement of Theorem 4.3 of RNRF if every β_p ≤ ε, the candidates of
        `FeatureCollision` if also ε ≤ α ≤ 2ε, and the universal shift along the robust features.
        """
        if p != math.inf:
            return {}
        if not isinstance(batch, TwoFeatureBatch):
            raise TypeError(
                "TwoFeaturePatches needs a batch that it sampled, with its latent variables, got "
                f"{type(batch).__name__}."
            )
        reach = {"radius": radius, "k": self.k}
        named: dict[str, Named] = {}
        if radius >= float(batch.strength[~batch.is_robust].max()):
            named["model-free (Thm 4.3 of RNRF)"] = Named("FeatureReplacement", reach)
            if self.strengths == "constant" and radius <= self.alpha <= 2 * radius:
                collide = Named("FeatureCollision", {**reach, "alpha": self.alpha})
                named["collision list"] = collide
        named["universal −εu_y + εu_j"] = Named("UniversalFeature", reach)
        return named

    def ceiling(self, p: float, radius: float) -> float:
        """Return 1/k in l_inf for constant strengths ≤ 2ε (shared midpoints; ours), else 1."""
        meet = self.strengths == "constant" and max(self.alpha, self.beta) <= 2 * radius
        return 1 / self.k if p == math.inf and meet else 1.0

    @property
    def U(self) -> Float[Tensor, "k d"]:
        """The robust features u_j = e_j."""
        return torch.eye(self.d, dtype=torch.float64)[: self.k]

    @property
    def V(self) -> Float[Tensor, "k d"]:
        """The non-robust features v_j = e_{k+j}."""
        return torch.eye(self.d, dtype=torch.float64)[self.k : 2 * self.k]

    def sample(self, n: int, rng: Generator) -> TwoFeatureBatch:
        """Draw n points."""
        y = torch.arange(n) % self.k if self.balanced else integers(self.k, (n,), rng)
        order = uniform((n, self.P), rng).argsort(-1)
        is_robust = order < self.n_robust
        strength = torch.where(is_robust, self.alpha, self.beta) * self._factors(n, rng)
        noise = self.sigma_n * normal((n, self.P, self.d), rng)
        feature = torch.where(is_robust, y[:, None], self.k + y[:, None])
        x = noise.clone()
        x.scatter_add_(-1, feature[..., None], strength[..., None])
        return TwoFeatureBatch(x=x, y=y, is_robust=is_robust, strength=strength, noise=noise)

    def _factors(self, n: int, rng: Generator) -> Float[Tensor, "n P"]:
        """Draw the strengths divided by their means."""
        if self.strengths == "uniform":
            return 1 + self.spread * (2 * uniform((n, self.P), rng) - 1)
        if self.strengths == "lognormal":
            return torch.exp(self.spread * normal((n, self.P), rng) - self.spread**2 / 2)
        return torch.ones(n, self.P, dtype=torch.float64)
