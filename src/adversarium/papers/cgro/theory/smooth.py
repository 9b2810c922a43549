"""Define smooth random networks with few inputs, labels with a smooth boundary, and maxima over a
ball."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor
from torch.nn.functional import softplus

from adversarium.rng import normal, uniform
from adversarium.shapes import Float

GRID = {1: 17, 2: 5, 3: 5}  # D → points per side of the coarsest grid on a ball

# maps x and y to one number per point, such as a loss or a slope
Field = Callable[[Tensor, Tensor], Tensor]


def label_of(x: Float[Tensor, "*n D"]) -> Float[Tensor, "*n"]:
    """Return y = sign(x_1 + ½ sin(2 Σ_j x_j)), a label with a smooth boundary.

    >>> label_of(torch.tensor([[1.0, 0.0], [-1.0, 0.0]])).tolist()
    [1.0, -1.0]
    """
    return torch.where(x[..., 0] + 0.5 * torch.sin(2 * x.sum(-1)) > 0, 1.0, -1.0).double()


@dataclass(frozen=True, eq=False)
class Features:
    """f(x) = Σ_j c_j cos(⟨w_j, x⟩ + b_j), a smooth network with its gradient in closed form.

    >>> flat = Features(w=torch.zeros(1, 2), b=torch.zeros(1), c=torch.ones(1))
    >>> x, y = torch.tensor([[3.0, -1.0]]), torch.ones(1)
    >>> round(flat.loss(x, y).item(), 4), flat.slope(x, y).item()  # f = 1
    (0.3133, 0.0)
    """

    w: Float[Tensor, "m D"]
    b: Float[Tensor, " m"]
    c: Float[Tensor, " m"]

    def fitted(
        self, x: Float[Tensor, "n D"], y: Float[Tensor, " n"], ridge: float = 1e-6
    ) -> "Features":
        """Return the same features with c fitted to (x, y) by ridge regression."""
        A = torch.cos(x @ self.w.mT + self.b)
        eye = ridge * torch.eye(A.shape[1]).double()
        return replace(self, c=torch.linalg.solve(A.mT @ A + eye, A.mT @ y))

    def loss(self, x: Float[Tensor, "*n D"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return log(1 + e^{−y f})."""
        return softplus(-y * (torch.cos(x @ self.w.mT + self.b) @ self.c))

    def slope(self, x: Float[Tensor, "*n D"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return ‖∇_x loss‖₁."""
        z = x @ self.w.mT + self.b
        outer = torch.sigmoid(-y * (torch.cos(z) @ self.c))[..., None]
        return (outer * ((torch.sin(z) * self.c) @ self.w)).abs().sum(-1)


def random_features(rng: Generator, D: int, m: int = 24, scale: float = 2.0) -> Features:
    """Return features with w_j ~ N(0, scale² I), b_j uniform in [0, 2π) and c_j ~ N(0, 1/m).

    >>> from adversarium.rng import stream
    >>> net = random_features(stream(0, "example"), D=2, m=5)
    >>> tuple(net.w.shape), tuple(net.c.shape)
    ((5, 2), (5,))
    """
    w, b = scale * normal((m, D), rng), 2 * math.pi * uniform((m,), rng)
    return Features(w, b, normal((m,), rng) / math.sqrt(m))


def ball(D: int, side: int) -> Float[Tensor, "places D"]:
    """Return a grid over [−1, 1]^D, corners included.

    >>> ball(1, 3).tolist(), len(ball(2, GRID[2]))
    ([[-1.0], [0.0], [1.0]], 25)
    """
    line = torch.linspace(-1, 1, side).double()
    return torch.tensor(list(itertools.product(line.tolist(), repeat=D))).double()


def worst(
    function: Field, x: Float[Tensor, "n D"], grid: Float[Tensor, "places D"], radius: float
) -> Float[Tensor, " n"]:
    """Return max_{‖ξ‖_∞≤radius} function(x + ξ, y) for every x, with y the label of x: over the
    grid, then over two finer grids around the best point.

    >>> def height(z, y):
    ...     return z.sum(-1)
    >>> worst(height, torch.zeros(1, 2).double(), ball(2, GRID[2]), radius=0.5).tolist()
    [1.0]
    """
    D = x.shape[-1]
    side, at = round(len(grid) ** (1 / D)), torch.zeros_like(x)
    for reach, around in (
        (1.0, grid),
        (1 / (side - 1), ball(D, 3)),
        (0.5 / (side - 1), ball(D, 3)),
    ):
        places = (at[:, None] + reach * around).clamp(-1, 1)
        y = label_of(x)[:, None].expand(-1, len(around))
        best, which = function(x[:, None] + radius * places, y).max(1)
        at = places[torch.arange(len(x)), which]
    return best
