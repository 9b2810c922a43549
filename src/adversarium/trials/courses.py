"""Descents of CONV's networks against the best weights of a ball, which lie between certified ends.

Linearised at W_0 the robust loss is convex and solved between proven bounds; how much the network
bends within B(R) is C2 R²/(2√m) for smooth activations, and exact for one hidden ReLU layer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch, SpherePoints
from adversarium.data.sphere import half_angle
from adversarium.networks import TwoLayer
from adversarium.rng import normal, stream
from adversarium.solvers import robust_optimum
from adversarium.training.objectives import LOSSES
from adversarium.trials.descents import attacked, robust_loss
from adversarium.trials.following import Regret
from adversarium.trials.kinks import largest_bend

ANGLES = (12.0, -82.0, 72.0, 146.0)  # of the circle's points, in degrees
COUNTS = {
    "one arc": 1,
    "two arcs": 2,
    "circle": 4,
    "odd arcs": 6,
    "odd points": 6,
    "lifted": 8,
}
CAPS = {"d = 5": (5, 8, 0.3), "d = 8": (8, 2, 0.5), "d = 10": (10, 16, 0.5), "d = 32": (32, 4, 0.5)}


def points(name: str, radius: float = 0.2) -> SphereBatch:
    """A fixed set: four arcs of a circle with labels + − + − ("circle"), its first one or two
    ("one arc", "two arcs"), six arcs or points on a hexagon ("odd arcs", "odd points"), which have
    antipodes of the other label, eight points on an octagon lifted to [x, 1]/√2 ("lifted"), or caps
    in R⁵ (8), R⁸ (2), R¹⁰ (16) and R³² (4).

    >>> batch = points("circle")
    >>> tuple(batch.options.shape), torch.equal(batch.options[:, 0], batch.x)
    ((4, 9, 2), True)
    """
    if name in CAPS:
        d, n, wide = CAPS[name]
        return SpherePoints(d=d, radius=wide, K=12).sample(n, stream(0, name))
    n = COUNTS[name]
    reach = half_angle(radius) * torch.tensor([0, -1, 1, -0.75, 0.75, -0.5, 0.5, -0.25, 0.25])
    reach = reach[:1] if name in ("odd points", "lifted") else reach
    centres = torch.tensor(ANGLES[:n]) if n <= 4 else torch.arange(n) * (360.0 / n)
    angle = torch.deg2rad(centres).double()[:, None] + reach.double()
    options = torch.stack([angle.cos(), angle.sin()], -1)
    if name == "lifted":
        options = torch.cat([options, torch.ones_like(options[..., :1])], -1) / math.sqrt(2)
    y = 1.0 - 2 * (torch.arange(n) % 2).double()
    return SphereBatch(options[:, 0], y, options)


@dataclass(frozen=True)
class HiddenReLU:
    """f(V, u) = Σ_j a_j relu(⟨v_j, u⟩): eq. (1) of CONV with H = 1, where W⁽¹⁾ acts on the range of
    A alone, so that V = W⁽¹⁾Q (m × d) and u = QᵀAx are exact.

    >>> HiddenReLU(torch.tensor([1.0, -2.0])).f(torch.eye(2), torch.tensor([[3.0, 1.0]]))
    tensor([1.])
    """

    a: Tensor

    def f(self, V: Tensor, u: Tensor) -> Tensor:
        """One number a point."""
        return torch.relu(u @ V.T) @ self.a


@dataclass(frozen=True)
class Course:
    """A network with its start, on points under a loss.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> course = Course.paired(stream(0, "a"), SmoothedReLU(b=2.0), 64, points("circle"))
    >>> low, high, W = course.bracket(0.5)
    >>> low < high, bool((W - course.W0).norm() <= 0.5 + 1e-12)
    (True, True)
    """

    network: Any
    W0: Tensor
    batch: SphereBatch
    loss: str
    slopes: Tensor  # of f in every unit's input at W_0, (n·K, m)
    unit: float  # the radius in weights of R = 1
    bend: Callable[[Tensor, float], float]  # ≥ how far f misses its linearisation in B(R), at a x

    @classmethod
    def paired(
        cls, rng: Generator, activation: Any, m: int, batch: SphereBatch,
        loss: str = "pseudo_huber", sphere: bool = False,
    ) -> "Course":  # fmt: skip
        """Eq. (4) of CONV: paired weights, normal or uniform on the sphere of radius √d."""
        d = batch.x.shape[-1]
        half = normal((m // 2, d), rng)
        if sphere:
            half = math.sqrt(d) * torch.nn.functional.normalize(half, dim=1)
        network, W0 = TwoLayer(m=m, activation=activation), torch.cat([half, half])
        a = torch.ones(m, dtype=W0.dtype)
        a[m // 2 :] = -1
        x = batch.options.flatten(0, 1)
        slopes = a * activation.slope(x @ W0.T) / math.sqrt(m)
        curved = activation.C2 / (2 * math.sqrt(m))
        return cls(network, W0, batch, loss, slopes, 1.0, lambda x, R: curved * R**2)

    @classmethod
    def hidden(
        cls, rng: Generator, m: int, batch: SphereBatch, loss: str = "pseudo_huber"
    ) -> "Course":
        """Eq. (1) of CONV with H = 1; the points are QᵀAx."""
        d, scale = batch.x.shape[-1], math.sqrt(2 / m)
        A = scale * normal((m, d), rng)
        root = torch.linalg.cholesky(A.T @ A)  # |rootᵀx| = |Ax|
        V0, a = scale * normal((m, d), rng), normal((m,), rng)
        seen = SphereBatch(batch.x @ root, batch.y, batch.options @ root)
        slopes = a * (seen.options.flatten(0, 1) @ V0.T >= 0)

        def bend(u: Tensor, R: float) -> float:
            z, eta = V0 @ u, R / math.sqrt(m) * float(u.norm())
            return max(largest_bend(z, sign * a, eta)[1] for sign in (1.0, -1.0))

        return cls(HiddenReLU(a), V0, seen, loss, slopes, 1 / math.sqrt(m), bend)

    @cached_property
    def _gram(self) -> Tensor:
        """Of the gradients of f at W_0, at every member of every set."""
        x = self.batch.options.flatten(0, 1)
        return (self.slopes @ self.slopes.T) * (x @ x.T)

    def bracket(self, R: float) -> tuple[float, float, Tensor]:
        """Between which numbers min over B(R) of L_* lies, and weights of B(R) that have the upper
        one."""
        options, y = self.batch.options, self.batch.y
        start = self.network.f(self.W0, options.flatten(0, 1)).view(options.shape[:2])
        told = robust_optimum(self._gram, y, R * self.unit, LOSSES[self.loss], start)
        x = options.flatten(0, 1)
        move = (told.coefficients.flatten()[:, None] * self.slopes).T @ x
        W = self.projected(self.W0 + move, R * self.unit)
        missed = [max(self.bend(one, R) for one in some) for some in options]
        low = max(told.low - sum(missed) / len(missed), 0.0)  # no loss is negative
        return low, self.robust(W), W

    def robust(self, W: Tensor) -> float:
        """L_*(W), exact."""
        return float(robust_loss(self.network, W, self.batch, LOSSES[self.loss]))

    def seen(self, W: Tensor, rule: str, t: int, rng: Generator) -> tuple[float, Tensor]:
        """L_A(W) and its gradient, the attack's points held."""
        x = attacked(rule, self.network, W, self.batch, t, rng, LOSSES[self.loss])
        return self.slope(W, x)

    def slope(self, W: Tensor, x: Tensor) -> tuple[float, Tensor]:
        """The mean loss at points x, one a set, and its gradient."""
        loss, y = LOSSES[self.loss], self.batch.y
        at = torch.func.grad_and_value
        g, value = at(lambda V: loss(self.network.f(V, x), y).mean())(W)
        return float(value), g

    def descent(
        self, rule: str, alpha: float, steps: int, rng: Generator, R: float = math.inf,
        regret: Regret | None = None,
    ) -> tuple[list[float], float]:  # fmt: skip
        """L_A(W_t), t = 0 … steps, and the largest |∇L_A| of the steps made; projected onto B(R)
        where R is finite; `regret` sees every step."""
        W, losses, G, radius = self.W0, [], 0.0, R * self.unit
        for t in range(steps + 1):
            value, g = self.seen(W, rule, t, rng)
            losses.append(value)
            if t < steps:
                G = max(G, float(g.norm()))
                W = self.projected(W - alpha * g, radius)
                if regret is not None:
                    regret.see(value, g, W)
        return losses, G

    def projected(self, W: Tensor, radius: float) -> Tensor:
        """The nearest weights of the ball about W_0."""
        move = W - self.W0
        return self.W0 + move * min(1.0, radius / max(float(move.norm()), 1e-300))
