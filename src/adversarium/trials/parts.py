"""Parts of explicit ReLU networks, measured: the square, the product, the distance."""

import itertools
import math

import torch
from torch import Generator

from adversarium.constructions import distance, parameters, product, square
from adversarium.rng import uniform
from adversarium.sockets import Numbers


def gates(rng: Generator, stages: int) -> Numbers:
    """sup|q_s − x²| = 4^{−(s+1)} and |×̃ − xy| ≤ 6B²4^{−(s+1)}, 0 on the axes, Lemmas D.2 and D.3 of
    CGRO: does the square do so for every s, the product for every s and B? And the product's error
    over 4B²4^{−(s+1)}.

    >>> import adversarium as av
    >>> av.Trial(function=gates, parameters={"stages": 8}).dynamics["parameters"]
    {'stages': 8}
    """
    exact = all(abs(_square_error(s) * 4 ** (s + 1) - 1) < 1e-9 for s in range(1, stages + 1))
    tight, axes = 0.0, 0.0
    for s, B in itertools.product((4, 6, 8, 10), (1.0, 2.0)):
        error, on_axes = _product_errors(rng, B, s)
        tight = max(tight, error / (4 * B**2 * 4 ** -(s + 1)))
        axes = max(axes, on_axes)
    bound = tight <= 1.5 * (1 + 1e-9) and axes == 0  # 6B² against 4B²
    return {"square": float(exact), "product": float(bound), "product_error": tight}


def _square_error(s: int) -> float:
    """sup|q_s(x) − x²| over [0, 1], Lemma D.2 of CGRO."""
    x = torch.linspace(0, 1, 2 ** (s + 2) + 1, dtype=torch.float64)  # all kinks and midpoints
    return float((square(s)(x[:, None])[:, 0] - x.square()).abs().max())


def _product_errors(rng: Generator, B: float, s: int) -> tuple[float, float]:
    """sup|×̃(x, y) − xy| over a grid and random points of [−B, B]², and sup|×̃| over the axes, Lemma
    D.3 of CGRO."""
    line = B * torch.linspace(-1, 1, 257, dtype=torch.float64)
    random = B * (2 * uniform((20_000, 2), rng) - 1)
    pairs = torch.cat([torch.cartesian_prod(line, line), random])
    gate, zero = product(B, s), torch.zeros_like(line)
    error = float((gate(pairs)[:, 0] - pairs.prod(1)).abs().max())
    axes = (torch.stack(axis, dim=1) for axis in ((line, zero), (zero, line)))
    return error, max(float(gate(axis).abs().max()) for axis in axes)


def distances(rng: Generator, sizes: tuple[int, ...] = (2, 3, 4, 6, 8, 16, 50)) -> Numbers:
    """x ↦ ‖x − x_0‖_∞ with O(d) parameters, Lemma A.4 of CGRM: the network's largest error, its
    parameters over 10d − 4, and whether it is exact with at most so many.

    >>> from adversarium.rng import stream
    >>> numbers = distances(stream(0, "example"), sizes=(2, 3))
    >>> numbers["error"] < 1e-12, numbers["share"] <= 1
    (True, True)
    """
    error, share = 0.0, 0.0
    for d in sizes:
        at, x = uniform((d,), rng), 3 * uniform((500, d), rng) - 1
        net = distance(at, math.inf)
        error = max(error, float((net(x)[:, 0] - (x - at).abs().amax(1)).abs().max()))
        share = max(share, (parameters(net)[0] - 2) / (10 * d - 4))  # 2: odd ones out are carried
    return {"exact": float(error <= 1e-15 and share <= 1), "error": error, "share": share}
