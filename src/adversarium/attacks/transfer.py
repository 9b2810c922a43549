"""Attacks that are computed from the data model or from another classifier."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball, InBall, norm
from adversarium.attacks.best import Best
from adversarium.attacks.gradient import climb
from adversarium.rng import Streams, integers
from adversarium.shapes import Float, Int
from adversarium.sockets import Labelled, Loss, Points

Target = Callable[[Tensor, Points], Tensor]  # g(x, batch), one number per example


@runtime_checkable
class _WithSignal(Points, Protocol):
    @property
    def signal(self) -> Tensor: ...


@runtime_checkable
class _WithFeatures(Labelled, Protocol):
    @property
    def is_robust(self) -> Tensor: ...
    @property
    def strength(self) -> Tensor: ...


def _signal(batch: Points, name: str) -> Tensor:
    """Return the index of the signal patch."""
    if not isinstance(batch, _WithSignal):
        raise TypeError(
            f"{name} needs patch data with a known signal patch (PatchData), got "
            f"{type(batch).__name__}."
        )
    return batch.signal


def gta(
    x: Float[Tensor, "*n P d"], signal: Int[Tensor, "*n"], gamma: float
) -> Float[Tensor, "*n P d"]:
    """Return X^adv = X − γ g(X) ∇g(X) / ‖∇g(X)‖₂, eq. (A) of CGRO.

    Our reading: g(X) = ⟨w*, X[signal(X)]⟩ has ‖∇g‖₂ = ‖w*‖₂ = 1, so for points of D the step
    multiplies the signal patch by 1 − γ and does not change the other patches.

    >>> gta(torch.ones(1, 2, 3), signal=torch.tensor([0]), gamma=0.75)[0, :, 0].tolist()
    [0.25, 1.0]
    """
    shrink = torch.ones_like(x[..., 0]).scatter(-1, signal[..., None], 1 - gamma)
    return shrink[..., None] * x


@dataclass(frozen=True, kw_only=True)
class GTA:
    """The geometry-based transfer attack of §3.3 of CGRO; its perturbations have l2 norm γα.

    >>> from adversarium.data import PatchData
    >>> from adversarium.rng import stream
    >>> batch = PatchData(d=3, P=2, alpha=2.0, sigma=0.1).sample(1, stream(0, "train"))
    >>> moved = GTA(gamma=0.75)(lambda x: x.sum((-1, -2)), batch, 0, stream(0, "attack"))
    >>> torch.linalg.vector_norm(moved - batch.x).item()
    1.5
    """

    gamma: float
    loss: str = "logit_difference"  # not used: the attack depends only on X and w*

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"GTA needs 0 <= gamma <= 1, got {self.gamma}.")

    @property
    def gap(self) -> float:
        """Return 1 − γ, the remaining share of the signal."""
        return 1 - self.gamma

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        return gta(batch.x, _signal(batch, "GTA"), self.gamma)


@dataclass(frozen=True)
class SignalPatch:
    """g(X) = ⟨w*, X[signal(X)]⟩, the target classifier of §3.3 of CGRO, w* = e₁.

    >>> from adversarium.data import PatchData
    >>> from adversarium.rng import stream
    >>> batch = PatchData(d=3, P=2, alpha=2.0, sigma=0.1).sample(3, stream(0, "train"))
    >>> (batch.y * SignalPatch()(batch.x, batch)).tolist()
    [2.0, 2.0, 2.0]
    """

    def __call__(self, x: Tensor, batch: Points) -> Tensor:
        return x[..., 0].gather(-1, _signal(batch, "SignalPatch")[..., None]).squeeze(-1)


@dataclass(frozen=True, kw_only=True)
class GenericGTA:
    """X^adv = X − γ g(X) ∇g(X)/‖∇g(X)‖₂², a share γ of the way to the zero of the linearised g, eq.
    (A) of CGRO for any target classifier `g(x, batch)`. Without a target, g is the loss of the
    attacked network (a step of DeepFool). `paper_literal` divides by ‖∇g‖₂, not its square, as the
    paper prints it. `radius` caps the l2 norm of the step.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(2, stream(0, "train"))
    >>> moved = GenericGTA(gamma=1.0)(lambda x: x[..., 0] + 5, batch, 0, stream(0, "attack"))
    >>> moved[..., 0].tolist()
    [-5.0, -5.0]
    """

    gamma: float
    g: Target | None = None
    paper_literal: bool = False
    radius: float | None = None
    loss: str = "logit_difference"

    def __post_init__(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise ValueError(f"GenericGTA needs 0 <= gamma <= 1, got {self.gamma}.")

    @property
    def ball(self) -> Ball | None:
        """Return the perturbation set, if its radius is capped."""
        return None if self.radius is None else Ball(2, self.radius)

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        def target(x: Tensor) -> Tensor:
            return loss(x) if self.g is None else self.g(x, batch)

        values, gradient = climb(target, batch.x)
        lead = values.ndim
        flat = gradient.flatten(lead)
        length = norm(flat, 2, lead)
        over = length if self.paper_literal else length.square()
        # a vanishing gradient has no direction, so the point does not move
        share = torch.where(over > 0, self.gamma * values / over, 0)
        moved = batch.x - (share[..., None] * flat).view(batch.x.shape)
        return moved if self.ball is None else self.ball.project(batch.x, moved, lead)


def other_class(y: Int[Tensor, "*n"], k: int, rng: Streams) -> Int[Tensor, "*n"]:
    """Draw y' uniformly from the other classes."""
    if int(y.max()) >= k:
        raise ValueError(
            f"the attack needs labels below its number of classes k={k}, got {y.max()}."
        )
    return (y + 1 + integers(k - 1, y.shape, rng).to(y.device)) % k


def _latent(
    batch: Points, attack: "FeatureReplacement | FeatureCollision"
) -> tuple[Tensor, Tensor, Tensor]:
    """Return which patches are robust, all strengths and the labels; raise unless all β_p ≤ ε."""
    name, radius = type(attack).__name__, attack.radius
    if not isinstance(batch, _WithFeatures):
        raise TypeError(
            f"{name} needs a batch of TwoFeaturePatches, with its latent variables, got "
            f"{type(batch).__name__}."
        )
    top = float(batch.strength[~batch.is_robust].max())
    if top > radius * (1 + 1e-6):
        raise ValueError(f"{name} needs every β_p <= radius={radius}, got {top:.4g}.")
    return batch.is_robust, batch.strength, batch.y


@dataclass(frozen=True, kw_only=True)
class FeatureReplacement(InBall):
    """Δ_p = −β_p v_y + ε v_{y'} on the non-robust patches, Theorem 4.3 of RNRF. The attack needs no
    network, only the latent variables of the points, and every β_p ≤ ε.

    >>> from adversarium.data import TwoFeaturePatches
    >>> from adversarium.rng import stream
    >>> batch = TwoFeaturePatches(k=2, d=4, P=2).sample(3, stream(0, "train"))
    >>> attack = FeatureReplacement(radius=1.5, k=2)
    >>> move = attack(lambda x: x.sum((-1, -2)), batch, 0, stream(0, "attack")) - batch.x
    >>> [round(height, 12) for height in move.amax((-1, -2)).tolist()]
    [1.5, 1.5, 1.5]
    """

    p = math.inf
    box = None

    radius: float  # ε
    k: int  # classes
    loss: str = "logit_difference"  # not used

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        robust, strength, y = _latent(batch, self)
        target = other_class(y, self.k, rng)
        move = torch.zeros_like(batch.x)
        shape = (*batch.x.shape[:-1], 1)
        v_y, v_target = ((self.k + j)[..., None, None].expand(shape) for j in (y, target))
        move.scatter_add_(-1, v_y, -strength[..., None])
        move.scatter_add_(-1, v_target, torch.full_like(strength, self.radius)[..., None])
        return batch.x + move * ~robust[..., None]


@dataclass(frozen=True, kw_only=True)
class UniversalFeature(InBall):
    """Δ_p = −ε u_y + ε u_{y'} on every patch: fools the network of Proposition 3.2 of RNRF (our
    attack).

    >>> from adversarium.data import TwoFeaturePatches
    >>> from adversarium.rng import stream
    >>> batch = TwoFeaturePatches(k=2, d=4, P=2, sigma_n=0.0).sample(1, stream(0, "train"))
    >>> attack = UniversalFeature(radius=0.5, k=2)
    >>> move = attack(lambda x: x.sum((-1, -2)), batch, 0, stream(0, "attack")) - batch.x
    >>> int(batch.y), move[0, 0].tolist()
    (0, [-0.5, 0.5, 0.0, 0.0])
    """

    p = math.inf
    box = None

    radius: float  # ε
    k: int  # classes
    loss: str = "logit_difference"  # not used

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        if not isinstance(batch, Labelled):
            raise TypeError(f"UniversalFeature needs labels, got {type(batch).__name__}.")
        axis = torch.eye(batch.x.shape[-1], dtype=batch.x.dtype, device=batch.x.device)
        move = axis[other_class(batch.y, self.k, rng)] - axis[batch.y]
        return batch.x + self.radius * move[..., None, :]


@dataclass(frozen=True, kw_only=True)
class FeatureCollision(InBall):
    """Points at which classes collide (our attack). The feature of a robust patch becomes (α_p −
    ε)u_y; that of all other patches becomes 0, (α − ε)u_y or (α − ε)u_{y'}, whichever gives the
    highest loss; the noise does not change. Every patch-additive network is wrong on one class of
    these points if all β_p ≤ ε, α ≤ 2ε and |J_NR| ≥ |J_R|.

    >>> from adversarium.data import TwoFeaturePatches
    >>> from adversarium.rng import stream
    >>> batch = TwoFeaturePatches(k=2, d=4, P=2, sigma_n=0.0).sample(1, stream(0, "train"))
    >>> attack = FeatureCollision(radius=1.5, alpha=2.0, k=2)
    >>> attack(lambda x: -x.abs().sum((-1, -2)), batch, 0, stream(0, "attack")).sum().item()
    0.5
    """

    p = math.inf
    box = None

    radius: float  # ε
    alpha: float  # α, at most 2ε
    k: int  # classes
    loss: str = "logit_difference"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.radius <= self.alpha <= 2 * self.radius:
            raise ValueError(
                f"FeatureCollision needs radius <= alpha <= 2 radius, got radius={self.radius} and "
                f"alpha={self.alpha}."
            )

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        robust, strength, y = _latent(batch, self)
        axis = torch.eye(batch.x.shape[-1], dtype=batch.x.dtype, device=batch.x.device)
        own, other = axis[y][..., None, :], axis[other_class(y, self.k, rng)][..., None, :]
        cleared = batch.x - torch.where(
            robust[..., None],
            self.radius * own,
            strength[..., None] * axis[self.k + y][..., None, :],
        )
        best = Best(batch.x, torch.full_like(strength[..., 0], -torch.inf))
        for target in (torch.zeros_like(own), own, other):
            z = cleared + (self.alpha - self.radius) * target * ~robust[..., None]
            best = best.offer(z, loss(z).detach().to(best.height.dtype))
        return best.x


def midpoint(one: Float[Tensor, "*n P d"], two: Float[Tensor, "*n P d"]) -> Tensor:
    """Return (X_y + X_j)/2, the midpoint of two points. It lies in the ε-balls about both if their
    noise is equal and all strengths are ≤ 2ε (our construction).

    >>> one, two = torch.zeros(1, 1, 2), torch.tensor([[[2.0, -1.0]]])
    >>> [float((midpoint(one, two) - end).abs().max()) for end in (one, two)]  # ε = α/2
    [1.0, 1.0]
    """
    return (one + two) / 2
