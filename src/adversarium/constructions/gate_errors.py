"""Measured errors and sizes of explicit ReLU networks for the square, product and distance."""

import math

import torch
from torch import Generator, nn

from adversarium.constructions import distance, parameters, product, square
from adversarium.rng import uniform
from adversarium.sockets import Numbers


def gate_sizes(rng: Generator, s: int) -> Numbers:
    """O(log(1/ε)) weights and layers of the square, O(log²(B/ε)) parameters of the product.

    Lemmas D.2 and D.3 of CGRO with ε = 4^{−(s+1)}. The weights and layers of the square are divided
    by s, the parameters of the product by s².

    >>> from adversarium.rng import stream
    >>> gate_sizes(stream(0, "example"), s=2)["layers"]
    1.0
    """
    net = square(s)
    layers = sum(isinstance(part, nn.ReLU) for part in net)
    return {
        "weights": parameters(net)[0] / s,
        "layers": layers / s,
        "parameters": parameters(product(2.0, s))[0] / s**2,
    }


def square_gate(rng: Generator, s: int) -> Numbers:
    """sup|q_s − x²| = 4^{−(s+1)}, Lemma D.2 of CGRO: the error divided by 4^{−(s+1)}.

    >>> from adversarium.rng import stream
    >>> round(square_gate(stream(0, "example"), s=2)["square"], 9)
    1.0
    """
    return {"square": _square_error(s) * 4 ** (s + 1)}


def product_gate(rng: Generator, s: int) -> Numbers:
    """|×̃ − xy| ≤ 6B²4^{−(s+1)}, and 0 on the axes, Lemma D.3 of CGRO, for B = 1 and 2.

    - `error`: the largest error, divided by B²4^{−(s+1)}.
    - `axes`: the largest absolute value on the axes.

    >>> from adversarium.rng import stream
    >>> numbers = product_gate(stream(0, "example"), s=4)
    >>> numbers["error"] <= 6, numbers["axes"]
    (True, 0.0)
    """
    error, axes = 0.0, 0.0
    for B in (1.0, 2.0):
        inner_error, on_axes = _product_errors(rng, B, s)
        error, axes = max(error, inner_error / (B**2 * 4 ** -(s + 1))), max(axes, on_axes)
    return {"error": error, "axes": axes}


def _square_error(s: int) -> float:
    """sup|q_s(x) − x²| over [0, 1], Lemma D.2 of CGRO."""
    x = torch.linspace(0, 1, 2 ** (s + 2) + 1, dtype=torch.float64)  # has all kinks and midpoints
    return float((square(s)(x[:, None])[:, 0] - x.square()).abs().max())


def _product_errors(rng: Generator, B: float, s: int) -> tuple[float, float]:
    """Return sup|×̃(x, y) − xy| over [−B, B]² and sup|×̃| over the axes, Lemma D.3 of CGRO.

    The first supremum is taken over a grid and random points.
    """
    line = B * torch.linspace(-1, 1, 257, dtype=torch.float64)
    random = B * (2 * uniform((20_000, 2), rng) - 1)
    pairs = torch.cat([torch.cartesian_prod(line, line), random])
    gate, zero = product(B, s), torch.zeros_like(line)
    error = float((gate(pairs)[:, 0] - pairs.prod(1)).abs().max())
    axes = (torch.stack(axis, dim=1) for axis in ((line, zero), (zero, line)))
    return error, max(float(gate(axis).abs().max()) for axis in axes)


def distances(rng: Generator, sizes: tuple[int, ...] = (2, 3, 4, 6, 8, 16, 50)) -> Numbers:
    """x ↦ ‖x − x_0‖_∞ with O(d) parameters, Lemma A.4 of CGRM.

    - `error`: the largest error of the network.
    - `share`: its parameters, minus 2 for unpaired values, divided by 10d − 4; the largest.
    - `exact`: 1 if the error is at most 10⁻¹⁵ and the share at most 1, else 0.

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
        share = max(share, (parameters(net)[0] - 2) / (10 * d - 4))  # 2 for unpaired values
    return {"exact": float(error <= 1e-15 and share <= 1), "error": error, "share": share}
