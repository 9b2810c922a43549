"""Test errors on noisy clusters against the clean label, however rare: BOAT's networks are wrong on
a share β of fresh points by their labels alone, and on far fewer by themselves."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.data.clusters import ClusterBatch
from adversarium.data.marginals import Gauss
from adversarium.networks.two_layer import TwoLayer
from adversarium.probes.cluster_looks import ClusterScene
from adversarium.probes.measuring import described
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Attack, Measure, State


def pushed(
    network: TwoLayer, W: Tensor, y: float, mean: Tensor, radius: float, steps: int = 30
) -> Float[Tensor, "S d"]:
    """About the shortest ξ with y f ≤ 0 a step of that radius down the slope from yμ + ξ:
    directions by linearising again and again (about kinks they leap), each as long as halving finds
    it, and of all the shortest."""

    def height(xi: Tensor) -> tuple[Tensor, Tensor]:
        x, g = y * mean + xi, torch.zeros_like(xi)
        for _ in range(2 if radius else 1):  # at x, then where a step leads
            at = (x - radius * g / g.norm(dim=-1, keepdim=True).clamp_min(1e-300)).detach()
            at.requires_grad_(True)
            with torch.enable_grad():
                value = y * network.f(W, at)
                (g,) = torch.autograd.grad(value.sum(), at)
        return value.detach(), g

    xi = torch.zeros(len(W), 1, W.shape[-1], dtype=W.dtype, device=W.device)
    tried = [(-y * mean).expand_as(xi)]
    for _ in range(steps):
        value, g = height(xi)
        square = g.square().sum(-1)
        along = (g * xi).sum(-1) - value
        next_ = (along / torch.where(square > 0, square, 1.0))[..., None] * g
        xi = torch.where((square > 0)[..., None], next_, xi)  # at a kink no slope leads on
        tried += [xi, -g * mean.norm() / square.clamp_min(1e-300).sqrt()[..., None]]
    ways = torch.cat(tried, 1)
    low, high = torch.zeros_like(ways[..., :1]), 4 + torch.zeros_like(ways[..., :1])
    for _ in range(steps):
        middle = (low + high) / 2
        above = (height(middle * ways)[0] > 0)[..., None]
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    met = height(high * ways)[0] <= 0
    length = torch.where(met, (high * ways).norm(dim=-1), math.inf)
    best = length.argmin(-1)[:, None, None].expand(-1, 1, ways.shape[-1])
    return (high * ways).gather(1, best)[:, 0]


@dataclass(frozen=True, kw_only=True)
class RareError:
    """log P[y_c f(x) ≤ 0] on fresh points of Gaussian clusters, by draws about the nearest point of
    the boundary, weighed by their density; with a radius also under an attack and by proof.

    log_error: log of the clean error against y_c.
    log_robust_error: log of the robust error against y_c that an attack finds (PGD).
    log_unproven: log of the share that no proof covers.

    >>> [measure.name for measure in RareError(radius=1.0).measures]
    ['log_error', 'log_robust_error', 'log_unproven']
    """

    revision: ClassVar[int] = 2  # 2: about the nearest of many points of the boundary

    radius: float = 0.0
    draws: int = 2000

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The logarithms."""
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
                f"RareError needs Gaussian noise of variance 1, and the data have "
                f"{scene.data.marginal}; ClusterErrors counts errors under any noise."
            )
        W: Tensor = state.W
        kinds = {"log_error": 0.0}
        if self.radius:
            kinds |= {"log_robust_error": self.radius, "log_unproven": self.radius}
        found: dict[str, Tensor] = {}
        noise = normal((len(W), self.draws, W.shape[-1]), streams(scene.setting.seeds, "rare"))
        for name, radius in kinds.items():
            sides = [self._side(name, W, y, radius, noise.to(W), scene) for y in (1.0, -1.0)]
            found[name] = torch.stack(sides).logsumexp(0) - math.log(2 * self.draws)
        return found

    def _side(
        self, name: str, W: Tensor, y: float, radius: float, noise: Tensor, scene: ClusterScene
    ) -> Tensor:
        """log of the summed weights of the points of one class that are wrong."""
        mean = scene.data.mean.to(W)
        shift = pushed(scene.network, W, y, mean, radius)
        xi = shift[:, None] + noise
        batch = ClusterBatch(y * mean + xi, *(torch.full(xi.shape[:2], y).to(W),) * 2)
        weight = -(xi * shift[:, None]).sum(-1) + shift.square().sum(-1)[:, None] / 2
        wrong = ~(self._margin(name, W, batch, radius, scene) > 0)
        total = torch.where(wrong, weight, -math.inf).logsumexp(-1)
        return torch.where(wrong.any(-1), total, weight.amax(-1))  # none: as if the likeliest were

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
    """Errors on n fresh points, each taken with its clean label: what the labels' noise adds is
    known, and left out of the estimate. The attack is that of the training, or `against`, which
    standard training needs.

    clean_error_c: The share with y_c f(x) ≤ 0.
    robust_error_c: The share with y_c f ≤ 0 somewhere in the attack's ball, by attack.
    robust_error: (1 − β)P[min y_c f ≤ 0] + βP[max y_c f ≥ 0], the robust error with independent
        flips, by attack; where flips depend on x, with the labels that are drawn.

    >>> [measure.name for measure in ClusterErrors(n=10).measures]
    ['clean_error_c', 'robust_error_c', 'robust_error']
    """

    n: int = 1000
    against: Attack | None = None
    later = ("against",)  # not of the first version

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
        )  # the last is no share of its points

    def __call__(self, state: State[Tensor], scene: ClusterScene) -> dict[str, Float[Tensor, " S"]]:
        fresh = scene.test(self.n)
        right = ClusterBatch(fresh.x, fresh.clean_y, fresh.clean_y)
        wrong = ClusterBatch(fresh.x, -fresh.clean_y, fresh.clean_y)
        clean = state.margin(right)
        attack = self.against or scene.attack
        if attack is None:
            raise ValueError(
                "ClusterErrors counts robust errors by the training attack, and there is none; "
                "ClusterErrors(against=PGD(…)) and `adversarium attack ID --set attack=none` "
                "attack such a network."
            )
        low = torch.minimum(clean, state.margin(right, attack))
        high = torch.maximum(clean, -state.margin(wrong, attack))
        beta = scene.data.beta
        missed, met = low <= 0, high >= 0
        share = (1 - beta) * missed.double() + beta * met.double()
        if scene.data.flip in ("near", "far"):  # flips that depend on x: as they are drawn
            share = torch.where(fresh.y == fresh.clean_y, missed, met).double()
        return {
            "clean_error_c": (clean <= 0).double().mean(-1),
            "robust_error_c": missed.double().mean(-1),
            "robust_error": share.mean(-1),
        }
