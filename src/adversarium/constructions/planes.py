"""Random ReLU networks on the plane: their linear pieces, and their decision boundaries."""

import itertools
import math

import torch
from torch import Generator, Tensor
from torch.nn.functional import max_pool2d

from adversarium.constructions.cells import Classifier
from adversarium.rng import coins, integers, normal
from adversarium.shapes import Bool, Float
from adversarium.sockets import Numbers


def regions(rng: Generator, nets: int = 10) -> Numbers:
    """Linear regions ≤ 2^n for n hidden units, Proposition D.5 of CGRO, for small random networks.

    - `regions/2^n`: the number of different slopes ∇f on a grid, divided by 2^n (the largest
      value over all networks).
    - `spread`: the largest variation of ∇f within one activation pattern; 0 if a piece is linear.

    >>> from adversarium.rng import stream
    >>> numbers = regions(stream(0, "example"), nets=1)
    >>> numbers["regions/2^n"] <= 1, numbers["spread"] < 1e-9
    (True, True)
    """
    line = torch.linspace(-4, 4, 300, dtype=torch.float64)
    grid, share, spread = torch.cartesian_prod(line, line), 0.0, 0.0
    for _ in range(nets):
        patterns, slopes = _pieces(rng, grid)
        codes = (patterns * 2 ** torch.arange(patterns.shape[1])).sum(1)
        pieces, piece = torch.unique(codes, return_inverse=True)
        one = slopes.new_zeros(len(pieces), 2).index_copy(0, piece, slopes)  # one slope per piece
        different = torch.unique(slopes.mul(1e9).round(), dim=0)
        share = max(share, len(different) / 2 ** patterns.shape[1])
        spread = max(spread, float((slopes - one[piece]).abs().max()))
    return {"regions/2^n": share, "spread": spread}


def _pieces(
    rng: Generator, x: Float[Tensor, "n 2"]
) -> tuple[Bool[Tensor, "n units"], Float[Tensor, "n 2"]]:
    """Draw a random ReLU network and return its activation pattern and its slope at every x.

    The network has one or two layers of one to four units.
    """
    layers = 1 + int(integers(2, (), rng))
    sizes = [2, *(1 + int(integers(4, (), rng)) for _ in range(layers))]
    patterns, z = [], x.clone().requires_grad_(True)
    with torch.enable_grad():
        h = z
        for a, b in itertools.pairwise(sizes):
            before = h @ normal((a, b), rng) + normal((b,), rng)
            patterns.append(before > 0)
            h = torch.relu(before)
        (slopes,) = torch.autograd.grad((h @ normal((sizes[-1],), rng)).sum(), z)
    return torch.cat(patterns, dim=1), slopes


def boundary(rng: Generator, grid: int, delta: float = 0.3, nets: int = 3) -> Numbers:
    """{min_{‖ξ‖_∞≤δ} y f(x + ξ) ≥ 0} = {dist_∞(x, DB(f)) ≥ δ}, Proposition 3.1 of CGRM.

    For random ReLU networks on the plane that take both signs, return the share of points at which
    the two sets disagree. Points with a distance within one and a half grid cells of δ are not
    counted.

    - `all`: over all points with random labels.
    - `right`: over the points with y f > 0.

    >>> from adversarium.rng import stream
    >>> shares = boundary(stream(0, "example"), grid=31, nets=1)
    >>> shares["right"], shares["all"] > 0  # the statement needs y f > 0
    (0.0, True)
    """
    h = 4 / (grid - 1)
    line = torch.linspace(-2, 2, grid, dtype=torch.float64)
    reach = round(delta / h)
    inner = slice(reach + 1, -reach - 1, 4)
    points = torch.cartesian_prod(line, line).view(grid, grid, 2)[inner, inner].reshape(-1, 2)
    everywhere, right = [], []
    for _ in range(nets):
        f = _crossing_net(rng, line)
        low, high, distances = _surroundings(f, line, reach, inner, points)
        y = coins((len(points),), rng)
        least = torch.where(y > 0, low, -high)
        wrong = ((least >= 0) != (distances >= delta)) & ((distances - delta).abs() > 1.5 * h)
        everywhere.append(wrong.double().mean())
        right.append(wrong[y * f(points) > 0].double().mean())
    return {"all": float(sum(everywhere) / nets), "right": float(sum(right) / nets)}


def _surroundings(
    f: Classifier,
    line: Float[Tensor, " grid"],
    reach: int,
    inner: slice,
    points: Float[Tensor, "n 2"],
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Return the extrema of f in l_inf balls around points, and the distances to sign changes.

    Two grids, half a cell apart, are combined, because each misses some extrema and sign changes.
    """
    grid, h = len(line), 4 / (len(line) - 1)
    low, high, distances = [], [], torch.full((len(points),), math.inf)
    for lines in (line, line + h / 2):
        values = f(torch.cartesian_prod(lines, lines)).view(grid, grid)
        low.append(-_window_maximum(-values, reach)[inner, inner].flatten())
        high.append(_window_maximum(values, reach)[inner, inner].flatten())
        roots = _roots(lines, values)
        distances = torch.minimum(distances, torch.cdist(points, roots, p=math.inf).amin(1))
    return torch.minimum(*low), torch.maximum(*high), distances


def _window_maximum(values: Float[Tensor, "grid grid"], reach: int) -> Float[Tensor, "grid grid"]:
    """Return the largest value within `reach` cells along both axes."""
    return max_pool2d(values[None, None], 2 * reach + 1, 1, reach)[0, 0]


def _random_net(rng: Generator) -> Classifier:
    """Return a random ReLU network on the plane with layers of 12 and 8 units."""
    A, a = normal((2, 12), rng), normal((12,), rng)
    B, b = normal((12, 8), rng) / 3, normal((8,), rng)
    c, bias = normal((8,), rng), normal((), rng)  # without a bias, f vanishes on entire regions

    def f(x: Tensor) -> Tensor:
        return torch.relu(torch.relu(x @ A + a) @ B + b) @ c + bias

    return f


def _crossing_net(rng: Generator, line: Float[Tensor, " grid"]) -> Classifier:
    """Return the first random network that takes both signs on a grid."""
    while True:
        f = _random_net(rng)
        values = f(torch.cartesian_prod(line, line))
        if values.min() < 0 < values.max():
            return f


def _roots(line: Float[Tensor, " n"], values: Float[Tensor, "n n"]) -> Float[Tensor, "roots 2"]:
    """Return the points at which a function changes sign along the lines of a grid."""
    n, roots = len(line), []
    points = torch.cartesian_prod(line, line).view(n, n, 2)
    for p, v in ((points, values), (points.transpose(0, 1), values.mT)):
        a, b = v[:-1], v[1:]
        turns = a * b < 0
        share = (a / (a - b))[turns][:, None]
        roots.append(p[:-1][turns] + share * (p[1:] - p[:-1])[turns])
    far_away = torch.full(
        (1, 2), 1e9, dtype=torch.float64
    )  # for a network without a boundary on the grid
    return torch.cat([*roots, far_away])
