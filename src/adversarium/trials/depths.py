"""What depth does to Theorem 4.1 of CONV: its number of steps, the steps of its proof, and descents
of the deep network with and without projection."""

import math
from dataclasses import replace

import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch
from adversarium.networks.deep import Deep
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.courses import points
from adversarium.trials.descents import attacked
from adversarium.trials.relu_norms import on_sphere

Weights = tuple[Tensor, ...]


def _stepped(net: Deep, g: Weights, alpha: float, first: Weights, radius: float) -> Deep:
    """A step of descent, every layer projected onto its ball."""
    moved = []
    for W, slope, W0 in zip(net.W, g, first, strict=True):
        move = W - alpha * slope - W0
        moved.append(W0 + move * min(1.0, radius / max(float(move.norm()), 1e-300)))
    return replace(net, W=tuple(moved))


def _sloped(net: Deep, x: Tensor) -> tuple[Tensor, Weights]:
    """f at a point, and its gradient in every layer, eq. (9) of CONV."""
    at, patterns = net.features(x)
    back = net.back(patterns)
    return net.a @ at[-1], tuple(torch.outer(b, u) for b, u in zip(back, at[:-1], strict=True))


def depth_times(rng: Generator, m: int, H: int, R: float, y: float = 20.0, d: int = 5) -> Numbers:
    """Theorem 4.1 of CONV on one point with B = {x} and a far label, ε = RH/2, α = ε/(mH²). W of
    B(R) is moved along the gradient in every layer; t is the first with L_A(W_t) − L(W) ≤ ε. Told
    are t over R²/(mεα), which is the printed T with constant 1, and over H times that; the least
    gap up to the printed T in units of ε; R⁹H¹⁶/(ε⁷m), which the theorem wants small.

    >>> from adversarium.rng import stream
    >>> told = depth_times(stream(0, "example"), m=128, H=2, R=1e-5)
    >>> 1 <= told["t"] <= 8
    True
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    radius, eps, first = R / math.sqrt(m), R * H / 2, net.W
    alpha, label = eps / (m * H**2), torch.tensor(y, dtype=torch.float64)
    printed = round(R**2 / (m * eps * alpha))
    output, g = _sloped(net, x)
    best = tuple(W + radius * slope / slope.norm() for W, slope in zip(first, g, strict=True))
    least = pseudo_huber(replace(net, W=best).f(x), label)
    gaps: list[float] = []
    while not (len(gaps) > printed and min(gaps) <= eps) and len(gaps) < 100 * H:
        gaps.append(float(pseudo_huber(output, label) - least))
        pull = (output - label) / torch.sqrt(1 + (output - label).square())
        net = _stepped(net, tuple(pull * slope for slope in g), alpha, first, radius)
        output, g = _sloped(net, x)
    t = next((t for t, gap in enumerate(gaps) if gap <= eps), math.inf)
    return {
        "t": float(t),
        "t mεα/R²": t / printed,
        "t mεα/(HR²)": t / (H * printed),
        "gap at T/ε": min(gaps[1 : printed + 1]) / eps,
        "gate": R**9 * H**16 / (eps**7 * m),
    }


def proof_steps(rng: Generator, m: int, H: int, R: float, draws: int = 1, d: int = 5) -> Numbers:
    """What the proof of Theorem 4.1 of CONV uses, at weights of B(R) whose layers all move by R/√m,
    means over draws:
    the distance of two opposite ones and of one from W⁽⁰⁾, squared, in units of R²/m; the
    gradient's squared norm over all layers in units of mH², each the largest of the three weights',
    and of its largest layer in units of m;
    how far f misses its linearisation there, in units of R^{4/3}m^{−1/6}; τH⁶(log m)³.

    >>> from adversarium.rng import stream
    >>> told = proof_steps(stream(0, "example"), m=64, H=4, R=0.1)
    >>> round(told["diameter²"], 6), round(told["radius²"], 6)
    (16.0, 4.0)
    """
    made = [_proof_steps(Deep.drawn(m, d, H, rng), on_sphere(d, rng), R) for _ in range(draws)]
    return {name: sum(one[name] for one in made) / draws for name in made[0]}


def _proof_steps(net: Deep, x: Tensor, R: float) -> dict[str, float]:
    m, H = len(net.a), len(net.W)
    f, g = _sloped(net, x)
    step = R / math.sqrt(m)
    ways = [slope / slope.norm() for slope in g]
    ends = [tuple(W + sign * step * way for W, way in zip(net.W, ways, strict=True))
            for sign in (1, -1)]  # fmt: skip

    def apart(one: Weights, other: Weights) -> float:
        return sum(float((V - W).square().sum()) for V, W in zip(one, other, strict=True))

    line = step * sum(float(slope.norm()) for slope in g)
    there = [_sloped(replace(net, W=end), x)[1] for end in ends]
    sizes = [max(float(slope.square().sum()) for slope in layer)
             for layer in zip(g, *there, strict=True)]  # fmt: skip
    off = max(
        abs(float(replace(net, W=end).f(x) - f) - sign * line)
        for sign, end in zip((1, -1), ends, strict=True)
    )
    return {
        "diameter²": apart(*ends) * m / R**2,
        "radius²": apart(ends[0], net.W) * m / R**2,
        "gradient²/(mH²)": sum(sizes) / (m * H**2),
        "layer²/m": max(sizes) / m,
        "bend": off / (R ** (4 / 3) * m ** (-1 / 6)),
        "gate": step * H**6 * math.log(m) ** 3,
    }


def deep_paths(rng: Generator, m: int, H: int, steps: int = 200, rule: str = "exact") -> Numbers:
    """Descents of the deep network on four arcs of a circle, α = 0.2/(mH), without projection and
    in B(R), R half, once and twice the free path √m max_h |W⁽ʰ⁾ − W⁽ʰ⁾₀|: that path; the least L_A
    of the free descent, and less those of the projected ones; the last L_A over the first.

    >>> from adversarium.rng import stream
    >>> told = deep_paths(stream(0, "example"), m=32, H=2, steps=20)
    >>> told["path"] > 0, told["last/first"] < 1
    (True, True)
    """
    net, batch = Deep.drawn(m, 2, H, rng), points("circle")
    losses, apart = deep_descent(net, batch, steps, rule, math.inf, rng)
    path = max(apart)
    held = [
        min(deep_descent(net, batch, steps, rule, share * path, rng)[0]) for share in (0.5, 1, 2)
    ]
    told = {f"free − projected, {k}": min(losses) - one
            for k, one in zip(("half", "once", "twice"), held, strict=True)}  # fmt: skip
    return {"path": path, "least": min(losses), "last/first": losses[-1] / losses[0], **told}


class _Outputs:
    """The deep network as a function of its weights."""

    def __init__(self, net: Deep):
        self.net = net

    def f(self, W: Weights, x: Tensor) -> Tensor:
        """One number a point."""
        return replace(self.net, W=W).f(x.T)


def deep_descent(
    net: Deep, batch: SphereBatch, steps: int, rule: str, R: float, rng: Generator
) -> tuple[list[float], list[float]]:
    """L_A(W_t) of a descent in B(R), α = 0.2/(mH), t = 0 … steps, and √m times the largest distance
    of a layer from its start."""
    m, H, first = len(net.a), len(net.W), net.W
    network = _Outputs(net)
    losses, apart = [], []
    for t in range(steps + 1):
        x = attacked(rule, network, net.W, batch, t, rng)
        g, value = torch.func.grad_and_value(
            lambda W, x=x: pseudo_huber(network.f(W, x), batch.y).mean()
        )(net.W)
        losses.append(float(value))
        far = max(float((W - V).norm()) for W, V in zip(net.W, first, strict=True))
        apart.append(math.sqrt(m) * far)
        net = _stepped(net, g, 0.2 / (m * H), first, R / math.sqrt(m))
    return losses, apart
