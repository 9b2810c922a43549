"""Gradient descent on CONV's networks, compared with a certified optimum over a ball.

Linearised at W_0, the robust loss is convex, so its minimum over B(R) has proven bounds. The error
of the linearisation within B(R) is at most C2 R²/(2√m) for smooth activations; for one hidden ReLU
layer the bound is computed exactly.
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

from .descents import attacked, robust_loss
from .following import Regret
from .kinks import largest_linearisation_error

ANGLES = (12.0, -82.0, 72.0, 146.0)  # of the four points of "circle", in degrees
COUNTS = {
    "one arc": 1,
    "two arcs": 2,
    "circle": 4,
    "odd arcs": 6,
    "odd points": 6,
    "lifted": 8,
}
# name → dimension, number of points, radius of a cap
CAPS = {"d = 5": (5, 8, 0.3), "d = 8": (8, 2, 0.5), "d = 10": (10, 16, 0.5), "d = 32": (32, 4, 0.5)}


def points(name: str, radius: float = 0.2) -> SphereBatch:
    """Return labelled points with their perturbation sets, by name. Labels alternate.

    - "circle": four arcs of a circle, nine points each. "one arc", "two arcs": the first ones.
    - "odd arcs", "odd points": six arcs or points on a hexagon. Antipodes have opposite labels.
    - "lifted": eight points on an octagon, lifted to [x, 1]/√2.
    - "d = 5", "d = 8", "d = 10", "d = 32": 8, 2, 16 or 4 caps on the sphere of R^d.

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
    """f(V, u) = Σ_j a_j relu(⟨v_j, u⟩): eq. (1) of CONV with H = 1.

    W⁽¹⁾ acts only on the range of A. With an orthonormal basis Q of that range, V = W⁽¹⁾Q (m × d)
    and u = QᵀAx represent the network exactly.

    >>> HiddenReLU(torch.tensor([1.0, -2.0])).f(torch.eye(2), torch.tensor([[3.0, 1.0]]))
    tensor([1.])
    """

    a: Tensor

    def f(self, V: Tensor, u: Tensor) -> Tensor:
        """Return one output per point."""
        return torch.relu(u @ V.T) @ self.a


@dataclass(frozen=True)
class DescentProblem:
    """A network with its initial weights, data and loss: the problem that a descent solves.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> problem = DescentProblem.paired(stream(0, "a"), SmoothedReLU(b=2.0), 64, points("circle"))
    >>> low, high, W = problem.bracket(0.5)
    >>> low < high, bool((W - problem.W0).norm() <= 0.5 + 1e-12)
    (True, True)
    """

    network: Any
    W0: Tensor
    batch: SphereBatch
    loss: str
    slopes: Tensor  # derivative of f in the input of every unit at W_0, (n·K, m)
    unit_radius: float  # Frobenius radius of B(1)
    linearisation_bound: Callable[[Tensor, float], float]  # (x, R) ↦ bound of the error in B(R)

    @classmethod
    def paired(
        cls, rng: Generator, activation: Any, m: int, batch: SphereBatch,
        loss: str = "pseudo_huber", sphere: bool = False,
    ) -> "DescentProblem":  # fmt: skip
        """Return the problem for eq. (4) of CONV, with units in pairs of opposite signs.

        The weights are standard normal, or uniform on the sphere of radius √d if `sphere`.
        """
        d = batch.x.shape[-1]
        half = normal((m // 2, d), rng)
        if sphere:
            half = math.sqrt(d) * torch.nn.functional.normalize(half, dim=1)
        network, W0 = TwoLayer(m=m, activation=activation), torch.cat([half, half])
        a = torch.ones(m, dtype=W0.dtype)
        a[m // 2 :] = -1
        x = batch.options.flatten(0, 1)
        slopes = a * activation.slope(x @ W0.T) / math.sqrt(m)
        half_curvature = activation.C2 / (2 * math.sqrt(m))
        return cls(network, W0, batch, loss, slopes, 1.0, lambda x, R: half_curvature * R**2)

    @classmethod
    def hidden(
        cls, rng: Generator, m: int, batch: SphereBatch, loss: str = "pseudo_huber"
    ) -> "DescentProblem":
        """Return the problem for eq. (1) of CONV with H = 1, in the coordinates u = QᵀAx."""
        d, scale = batch.x.shape[-1], math.sqrt(2 / m)
        A = scale * normal((m, d), rng)
        root = torch.linalg.cholesky(A.T @ A)  # |rootᵀx| = |Ax|
        V0, a = scale * normal((m, d), rng), normal((m,), rng)
        projected = SphereBatch(batch.x @ root, batch.y, batch.options @ root)
        slopes = a * (projected.options.flatten(0, 1) @ V0.T >= 0)

        def linearisation_bound(u: Tensor, R: float) -> float:
            z, eta = V0 @ u, R / math.sqrt(m) * float(u.norm())
            return max(largest_linearisation_error(z, sign * a, eta)[1] for sign in (1.0, -1.0))

        return cls(
            HiddenReLU(a), V0, projected, loss, slopes, 1 / math.sqrt(m), linearisation_bound
        )

    @cached_property
    def _gram(self) -> Tensor:
        """The Gram matrix of the gradients of f at W_0, over all points of all sets."""
        x = self.batch.options.flatten(0, 1)
        return (self.slopes @ self.slopes.T) * (x @ x.T)

    def bracket(self, R: float) -> tuple[float, float, Tensor]:
        """Return certified bounds on min L_* over B(R), and weights that attain the upper one."""
        options, y = self.batch.options, self.batch.y
        start = self.network.f(self.W0, options.flatten(0, 1)).view(options.shape[:2])
        optimum = robust_optimum(self._gram, y, R * self.unit_radius, LOSSES[self.loss], start)
        x = options.flatten(0, 1)
        move = (optimum.coefficients.flatten()[:, None] * self.slopes).T @ x
        W = self.projected(self.W0 + move, R * self.unit_radius)
        errors = [max(self.linearisation_bound(one, R) for one in members) for members in options]
        low = max(optimum.low - sum(errors) / len(errors), 0.0)  # no loss is negative
        return low, self.robust_loss(W), W

    def robust_loss(self, W: Tensor) -> float:
        """Return L_*(W), which is exact because the perturbation sets are finite."""
        return float(robust_loss(self.network, W, self.batch, LOSSES[self.loss]))

    def loss_and_gradient(
        self, W: Tensor, rule: str, t: int, rng: Generator
    ) -> tuple[float, Tensor]:
        """Return L_A(W) and its gradient, in which the attacked points are constants."""
        x = attacked(rule, self.network, W, self.batch, t, rng, LOSSES[self.loss])
        return self.loss_and_gradient_at(W, x)

    def loss_and_gradient_at(self, W: Tensor, x: Tensor) -> tuple[float, Tensor]:
        """Return the mean loss at points x, one per perturbation set, and its gradient in W."""
        loss, y = LOSSES[self.loss], self.batch.y
        grad_and_value = torch.func.grad_and_value
        g, value = grad_and_value(lambda V: loss(self.network.f(V, x), y).mean())(W)
        return float(value), g

    def descent(
        self, rule: str, alpha: float, steps: int, rng: Generator, R: float = math.inf,
        regret: Regret | None = None,
    ) -> tuple[list[float], float]:  # fmt: skip
        """Run gradient descent on L_A, projected onto B(R) if R is finite.

        Return L_A(W_t) for t = 0 … steps and the largest |∇L_A| of these steps. If given, `regret`
        receives every step.
        """
        W, losses, G, radius = self.W0, [], 0.0, R * self.unit_radius
        for t in range(steps + 1):
            value, g = self.loss_and_gradient(W, rule, t, rng)
            losses.append(value)
            if t < steps:
                G = max(G, float(g.norm()))
                W = self.projected(W - alpha * g, radius)
                if regret is not None:
                    regret.add(value, g, W)
        return losses, G

    def projected(self, W: Tensor, radius: float) -> Tensor:
        """Return the weights nearest to W in the ball of the given radius around W_0."""
        move = W - self.W0
        return self.W0 + move * min(1.0, radius / max(float(move.norm()), 1e-300))
