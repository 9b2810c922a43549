"""The effect of depth on Theorem 4.1 of CONV.

This module measures the number of steps and the inequalities of the proof, and runs descents of the
deep network with and without projection.
"""

import math
from dataclasses import replace

import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber

from .certified_descent import points
from .deep_relu import Deep
from .descents import attacked
from .relu_norms import on_sphere

Weights = tuple[Tensor, ...]


def _projected_step(net: Deep, g: Weights, alpha: float, first: Weights, radius: float) -> Deep:
    """Return the network after one descent step, with every layer projected onto its ball."""
    moved = []
    for W, slope, W0 in zip(net.W, g, first, strict=True):
        move = W - alpha * slope - W0
        moved.append(W0 + move * min(1.0, radius / max(float(move.norm()), 1e-300)))
    return replace(net, W=tuple(moved))


def _output_and_gradients(net: Deep, x: Tensor) -> tuple[Tensor, Weights]:
    """Return f at a point and its gradient in every layer, eq. (9) of CONV."""
    features, patterns = net.features(x)
    back = net.back(patterns)
    return net.a @ features[-1], tuple(
        torch.outer(b, u) for b, u in zip(back, features[:-1], strict=True)
    )


def depth_times(rng: Generator, m: int, H: int, R: float, y: float = 20.0, d: int = 5) -> Numbers:
    """Test Theorem 4.1 of CONV on one point with B = {x} and a large label, ε = RH/2, α = ε/(mH²).

    The comparator W in B(R) is W⁽⁰⁾ moved along the gradient in every layer.

    - `t`: the first t with L_A(W_t) − L(W) ≤ ε.
    - `t mεα/R²`: t divided by R²/(mεα), the published T with constant 1. `t mεα/(HR²)`: t/(HT).
    - `gap at T/ε`: the smallest L_A(W_t) − L(W) of t = 1 … T, divided by ε.
    - `gate`: R⁹H¹⁶/(ε⁷m), which the theorem assumes to be small.

    >>> from adversarium.rng import stream
    >>> numbers = depth_times(stream(0, "example"), m=128, H=2, R=1e-5)
    >>> 1 <= numbers["t"] <= 8
    True
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    radius, eps, first = R / math.sqrt(m), R * H / 2, net.W
    alpha, label = eps / (m * H**2), torch.tensor(y, dtype=torch.float64)
    printed = round(R**2 / (m * eps * alpha))
    output, g = _output_and_gradients(net, x)
    comparator = tuple(W + radius * slope / slope.norm() for W, slope in zip(first, g, strict=True))
    comparator_loss = pseudo_huber(replace(net, W=comparator).f(x), label)
    gaps: list[float] = []
    while not (len(gaps) > printed and min(gaps) <= eps) and len(gaps) < 100 * H:
        gaps.append(float(pseudo_huber(output, label) - comparator_loss))
        loss_slope = (output - label) / torch.sqrt(1 + (output - label).square())
        net = _projected_step(net, tuple(loss_slope * slope for slope in g), alpha, first, radius)
        output, g = _output_and_gradients(net, x)
    t = next((t for t, gap in enumerate(gaps) if gap <= eps), math.inf)
    return {
        "t": float(t),
        "t mεα/R²": t / printed,
        "t mεα/(HR²)": t / (H * printed),
        "gap at T/ε": min(gaps[1 : printed + 1]) / eps,
        "gate": R**9 * H**16 / (eps**7 * m),
    }


def proof_steps(rng: Generator, m: int, H: int, R: float, draws: int = 1, d: int = 5) -> Numbers:
    """Measure the quantities in the proof of Theorem 4.1 of CONV, as means over draws.

    The weights are W⁽⁰⁾ and two opposite points of B(R) whose layers all move by R/√m.

    - `diameter²`, `radius²`: the squared distance of the two points, and of one of them from W⁽⁰⁾,
      divided by R²/m.
    - `gradient²/(mH²)`, `layer²/m`: the squared norms of the layers' gradients: their sum, and that
      of the largest layer. A layer's norm is the largest of the three weights.
    - `bend`: the linearisation error at the two points, divided by R^{4/3}m^{−1/6}.
    - `gate`: τH⁶(log m)³, which the lemmas assume to be small.

    >>> from adversarium.rng import stream
    >>> numbers = proof_steps(stream(0, "example"), m=64, H=4, R=0.1)
    >>> round(numbers["diameter²"], 6), round(numbers["radius²"], 6)
    (16.0, 4.0)
    """
    draw_numbers = [
        _proof_steps(Deep.drawn(m, d, H, rng), on_sphere(d, rng), R) for _ in range(draws)
    ]
    return {name: sum(one[name] for one in draw_numbers) / draws for name in draw_numbers[0]}


def _proof_steps(net: Deep, x: Tensor, R: float) -> dict[str, float]:
    """Return the numbers of `proof_steps` for one network and one input."""
    m, H = len(net.a), len(net.W)
    f, g = _output_and_gradients(net, x)
    step = R / math.sqrt(m)
    directions = [slope / slope.norm() for slope in g]
    ends = [tuple(W + sign * step * D for W, D in zip(net.W, directions, strict=True))
            for sign in (1, -1)]  # fmt: skip

    def squared_distance(one: Weights, other: Weights) -> float:
        return sum(float((V - W).square().sum()) for V, W in zip(one, other, strict=True))

    line = step * sum(float(slope.norm()) for slope in g)
    end_gradients = [_output_and_gradients(replace(net, W=end), x)[1] for end in ends]
    sizes = [max(float(slope.square().sum()) for slope in layer)
             for layer in zip(g, *end_gradients, strict=True)]  # fmt: skip
    error = max(
        abs(float(replace(net, W=end).f(x) - f) - sign * line)
        for sign, end in zip((1, -1), ends, strict=True)
    )
    return {
        "diameter²": squared_distance(*ends) * m / R**2,
        "radius²": squared_distance(ends[0], net.W) * m / R**2,
        "gradient²/(mH²)": sum(sizes) / (m * H**2),
        "layer²/m": max(sizes) / m,
        "bend": error / (R ** (4 / 3) * m ** (-1 / 6)),
        "gate": step * H**6 * math.log(m) ** 3,
    }


def deep_paths(rng: Generator, m: int, H: int, steps: int = 200, rule: str = "exact") -> Numbers:
    """Run free and projected descents of the deep network on four arcs of a circle, α = 0.2/(mH).

    The projected descents stay in B(R), with R = ½, 1 and 2 times `path`.

    - `path`: the largest √m max_h |W⁽ʰ⁾ − W⁽ʰ⁾₀| of the free descent.
    - `least`, `last/first`: the smallest L_A of the free descent, and last L_A/first L_A.
    - `free − projected, …`: the smallest L_A without projection minus that with projection.

    >>> from adversarium.rng import stream
    >>> numbers = deep_paths(stream(0, "example"), m=32, H=2, steps=20)
    >>> numbers["path"] > 0, numbers["last/first"] < 1
    (True, True)
    """
    net, batch = Deep.drawn(m, 2, H, rng), points("circle")
    losses, distances = deep_descent(net, batch, steps, rule, math.inf, rng)
    path = max(distances)
    projected = [
        min(deep_descent(net, batch, steps, rule, share * path, rng)[0]) for share in (0.5, 1, 2)
    ]
    numbers = {f"free − projected, {k}": min(losses) - one
            for k, one in zip(("half", "once", "twice"), projected, strict=True)}  # fmt: skip
    return {"path": path, "least": min(losses), "last/first": losses[-1] / losses[0], **numbers}


class _Outputs:
    """The deep network as a function of its weights."""

    def __init__(self, net: Deep):
        self.net = net

    def f(self, W: Weights, x: Tensor) -> Tensor:
        """Return one output per point."""
        return replace(self.net, W=W).f(x.T)


def deep_descent(
    net: Deep, batch: SphereBatch, steps: int, rule: str, R: float, rng: Generator
) -> tuple[list[float], list[float]]:
    """Run a descent in B(R) with α = 0.2/(mH).

    Return L_A(W_t) and √m times the largest distance of a layer from its start, for t = 0 … steps.
    """
    m, H, first = len(net.a), len(net.W), net.W
    network = _Outputs(net)
    losses, distances = [], []
    for t in range(steps + 1):
        x = attacked(rule, network, net.W, batch, t, rng)
        g, value = torch.func.grad_and_value(
            lambda W, x=x: pseudo_huber(network.f(W, x), batch.y).mean()
        )(net.W)
        losses.append(float(value))
        largest = max(float((W - V).norm()) for W, V in zip(net.W, first, strict=True))
        distances.append(math.sqrt(m) * largest)
        net = _projected_step(net, g, 0.2 / (m * H), first, R / math.sqrt(m))
    return losses, distances
