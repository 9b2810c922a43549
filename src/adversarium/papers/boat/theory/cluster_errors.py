"""Measure test errors on noisy clusters with respect to the clean labels, even very small ones.

On labels of which a share β is flipped, every good network has an error of about β; with respect to
the clean labels, its error can be far smaller.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.data.clusters import ClusterBatch
from adversarium.data.marginals import Gauss
from adversarium.measure.measuring import described
from adversarium.networks.two_layer import TwoLayer
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Attack, Measure, State

from .cluster_looks import ClusterScene


def pushed(
    network: TwoLayer, W: Tensor, y: float, mean: Tensor, radius: float, steps: int = 30
) -> Float[Tensor, "S d"]:
    """Return approximately the shortest ξ such that a step of length `radius` from yμ + ξ in the
    direction of −∇(y f) reaches a point with y f ≤ 0.

    Repeated linearisation supplies candidate directions; it need not converge at kinks of f, so
    bisection finds the length needed along each direction, and the shortest candidate is returned.
    """

    def height(xi: Tensor) -> tuple[Tensor, Tensor]:
        x, g = y * mean + xi, torch.zeros_like(xi)
        for _ in range(2 if radius else 1):  # first at x, then at the point that the step reaches
            at = (x - radius * g / g.norm(dim=-1, keepdim=True).clamp_min(1e-300)).detach()
            at.requires_grad_(True)
            with torch.enable_grad():
                value = y * network.f(W, at)
                (g,) = torch.autograd.grad(value.sum(), at)
        return value.detach(), g

    xi = torch.zeros(len(W), 1, W.shape[-1], dtype=W.dtype, device=W.device)
    directions = [(-y * mean).expand_as(xi)]
    for _ in range(steps):
        value, g = height(xi)
        square = g.square().sum(-1)
        along = (g * xi).sum(-1) - value
        next_ = (along / torch.where(square > 0, square, 1.0))[..., None] * g
        xi = torch.where((square > 0)[..., None], next_, xi)  # if the slope is zero, stay
        directions += [xi, -g * mean.norm() / square.clamp_min(1e-300).sqrt()[..., None]]
    candidates = torch.cat(directions, 1)
    low, high = torch.zeros_like(candidates[..., :1]), 4 + torch.zeros_like(candidates[..., :1])
    for _ in range(steps):
        middle = (low + high) / 2
        above = (height(middle * candidates)[0] > 0)[..., None]
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    crosses = height(high * candidates)[0] <= 0
    length = torch.where(crosses, (high * candidates).norm(dim=-1), math.inf)
    best = length.argmin(-1)[:, None, None].expand(-1, 1, candidates.shape[-1])
    return (high * candidates).gather(1, best)[:, 0]


@dataclass(frozen=True, kw_only=True)
class RareError:
    """log P[y_c f(x) ≤ 0] on fresh points of Gaussian clusters with clean labels y_c, by importance
    sampling around the nearest point of the decision boundary. With a radius, also the log of the
    robust error: the one that an attack finds, and an upper bound from a certificate.

    log_error: The log of the clean error, with respect to the clean labels.
    log_robust_error: The log of the robust error that PGD finds, with respect to the clean labels.
    log_unproven: The log of the share of points whose clean label is not certified under attack.

    >>> [measure.name for measure in RareError(radius=1.0).measures]
    ['log_error', 'log_robust_error', 'log_unproven']
    """

    version: ClassVar[int] = 2  # 2: samples around the nearest of many boundary points

    radius: float = 0.0
    draws: int = 2000

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The logarithms of the errors."""
        symbols = {"log_error": r"$\log P[y_c f \leq 0]$"}
        if self.radius:
            symbols |= {
                "log_robust_error": r"$\log P[\min y_c f \leq 0]$",
                "log_unproven": r"$\log P$[not proven robust]",
            }
        return described(symbols, type(self).__doc__)

    def __call__(self, state: State[Tensor], scene: ClusterScene) -> dict[str, Float[Tensor, " S"]]:
        if scene.data.marginal != Gauss():
            raise ValueError(
                f"RareError needs Gaussian noise of variance 1, got {scene.data.marginal}; "
                "use ClusterErrors, which counts errors under any noise."
            )
        W: Tensor = state.W
        kinds = {"log_error": 0.0}
        if self.radius:
            kinds |= {"log_robust_error": self.radius, "log_unproven": self.radius}
        found: dict[str, Tensor] = {}
        noise = normal((len(W), self.draws, W.shape[-1]), streams(scene.problem.seeds, "rare"))
        for name, radius in kinds.items():
            sides = [self._side(name, W, y, radius, noise.to(W), scene) for y in (1.0, -1.0)]
            found[name] = torch.stack(sides).logsumexp(0) - math.log(2 * self.draws)
        return found

    def _side(
        self, name: str, W: Tensor, y: float, radius: float, noise: Tensor, scene: ClusterScene
    ) -> Tensor:
        """Return the log of the summed weights of the misclassified points of one class."""
        mean = scene.data.mean.to(W)
        shift = pushed(scene.network, W, y, mean, radius)
        xi = shift[:, None] + noise
        batch = ClusterBatch(y * mean + xi, *(torch.full(xi.shape[:2], y).to(W),) * 2)
        weight = -(xi * shift[:, None]).sum(-1) + shift.square().sum(-1)[:, None] / 2
        wrong = ~(self._margin(name, W, batch, radius, scene) > 0)
        total = torch.where(wrong, weight, -math.inf).logsumexp(-1)
        # if no sampled point is wrong, count the one with the largest weight
        return torch.where(wrong.any(-1), total, weight.amax(-1))

    def _margin(
        self, name: str, W: Tensor, batch: ClusterBatch, radius: float, scene: ClusterScene
    ) -> Tensor:
        network = scene.network
        if name == "log_error":
            return batch.y * network.f(W, batch.x)
        if name == "log_unproven":
            low, high = network.interval(W, batch.x, 2, radius)
            return torch.where(batch.y > 0, low, -high)
        attack = PGD(p=2, radius=radius, steps=10)
        x = attack(lambda at: -batch.y * network.f(W, at), batch, 0, ())
        return batch.y * network.f(W, x)


@dataclass(frozen=True, kw_only=True)
class ClusterErrors:
    """Errors on n fresh points, computed from their clean labels y_c, so that the label noise,
    whose contribution is known, adds no variance. The attack is the training attack, or `against`
    (required after standard training).

    clean_error_c: The share of points with y_c f(x) ≤ 0.
    robust_error_c: The share of points for which the attack finds y_c f ≤ 0 in its ball.
    robust_error: (1 − β)P[min y_c f ≤ 0] + βP[max y_c f ≥ 0], the robust error with independent
        flips, as found by the attack; if flips depend on x, the error with the sampled labels.

    >>> [measure.name for measure in ClusterErrors(n=10).measures]
    ['clean_error_c', 'robust_error_c', 'robust_error']
    """

    n: int = 1000
    against: Attack | None = None
    later = ("against",)  # added after the first rows were stored

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The three errors."""
        symbols = {
            "clean_error_c": r"$P[y_c f \leq 0]$",
            "robust_error_c": r"$P[\min y_c f \leq 0]$",
            "robust_error": "robust test error",
        }
        known = described(symbols, type(self).__doc__, points=self.n)
        return (
            *known[:2],
            replace(known[2], points=0, share=True),
        )  # robust_error mixes two shares

    def __call__(self, state: State[Tensor], scene: ClusterScene) -> dict[str, Float[Tensor, " S"]]:
        fresh = scene.test(self.n)
        right = ClusterBatch(fresh.x, fresh.clean_y, fresh.clean_y)
        wrong = ClusterBatch(fresh.x, -fresh.clean_y, fresh.clean_y)
        clean = state.margin(right)
        attack = self.against or scene.attack
        if attack is None:
            raise ValueError(
                "ClusterErrors counts robust errors by the training attack, but the run has none; "
                "use ClusterErrors(against=PGD(…)), or `adversarium attack ID --set attack=none`."
            )
        low = torch.minimum(clean, state.margin(right, attack))
        high = torch.maximum(clean, -state.margin(wrong, attack))
        beta = scene.data.beta
        wrong_if_clean, wrong_if_flipped = low <= 0, high >= 0
        share = (1 - beta) * wrong_if_clean.double() + beta * wrong_if_flipped.double()
        if scene.data.flip in ("near", "far"):  # these flips depend on x: use the sampled labels
            share = torch.where(fresh.y == fresh.clean_y, wrong_if_clean, wrong_if_flipped).double()
        return {
            "clean_error_c": (clean <= 0).double().mean(-1),
            "robust_error_c": wrong_if_clean.double().mean(-1),
            "robust_error": share.mean(-1),
        }
