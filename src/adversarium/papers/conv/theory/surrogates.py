"""Tests of the conditions of §3 of CONV on sets, attacks and losses; jumps of L_A."""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch, SpherePoints
from adversarium.data.sphere import compatible, half_angle
from adversarium.networks import TwoLayer
from adversarium.rng import normal
from adversarium.sockets import Numbers
from adversarium.training.objectives import cross_entropy, pseudo_huber

from .descents import attacked, robust_loss, surrogate


def touching_caps(rng: Generator, d: int, radius: float) -> Numbers:
    """Test whether two caps with different labels count as compatible, Def. 3.1 of CONV.

    `touching`: the result for closed caps that touch, for which 0 is correct. `apart`: the result
    for caps 1e-6 apart, for which 1 is correct.

    >>> from adversarium.rng import stream
    >>> touching_caps(stream(0, "example"), d=3, radius=0.4)
    {'touching': 0.0, 'apart': 1.0}
    """
    numbers = {}
    for name, gap in (("touching", 0.0), ("apart", 1e-6)):
        angle = 2 * half_angle(radius) + gap
        x = torch.zeros(2, d, dtype=torch.float64)
        x[0, 0] = 1.0
        x[1, 0], x[1, 1] = math.cos(angle), math.sin(angle)
        numbers[name] = float(compatible(x, torch.tensor([1.0, -1.0]), radius))
    return numbers


def _random_setup(
    rng: Generator, activation: Any, m: int, d: int, radius: float
) -> tuple[TwoLayer, Tensor, SphereBatch]:
    """Return a network, its weights after a random move, and points with perturbation sets."""
    network = TwoLayer(m=m, activation=activation)
    W = network.init(rng, (d,), 1) + normal((m, d), rng) / math.sqrt(m)
    return network, W, SpherePoints(d=d, radius=radius).sample(4, rng)


def _attacked(
    rule: str, network: TwoLayer, W: Tensor, batch: SphereBatch, rng: Generator
) -> tuple[Tensor, float]:
    """Return the points chosen by an attack, and the surrogate loss at these points."""
    x = attacked(rule, network, W, batch, 3, rng)
    return x, float(surrogate(network, W, x, batch.y))


def within_sets(
    rng: Generator, activation: Any, rule: str, m: int = 64, d: int = 3, radius: float = 0.3
) -> Numbers:
    """Test Defs. 3.2 to 3.4 of CONV for one attack.

    - `off the sphere`: the largest distance of a chosen point from the sphere.
    - `beyond the cap`: the largest angle to x minus the half-angle of the cap.
    - `L_A − L_*`, `|L_A − L|`: the surrogate loss compared with the robust and the clean loss.

    >>> from adversarium.networks import Softplus
    >>> from adversarium.rng import stream
    >>> numbers = within_sets(stream(0, "example"), Softplus(), "exact")
    >>> numbers["off the sphere"] < 1e-12, abs(numbers["L_A − L_*"]) < 1e-12
    (True, True)
    """
    network, W, batch = _random_setup(rng, activation, m, d, radius)
    x, loss = _attacked(rule, network, W, batch, rng)
    angle = torch.acos((x * batch.x).sum(-1).clamp(-1, 1))
    clean = float(pseudo_huber(network.f(W, batch.x), batch.y).mean())
    return {
        "off the sphere": float((x.norm(dim=-1) - 1).abs().max()),
        "beyond the cap": float(angle.max()) - half_angle(radius),
        "L_A − L_*": loss - float(robust_loss(network, W, batch)),
        "|L_A − L|": abs(loss - clean),
    }


def open_arc(rng: Generator, activation: Any, m: int = 64, points: int = 4096) -> Numbers:
    """Show that a maximiser need not exist on an open arc around x.

    - `largest`: the largest loss on a grid of the arc.
    - `bound`: an upper bound on the loss on the entire arc: `largest` + Lip·C1‖W‖₂·(grid step)/2.
    - `at an end`: 1 if the largest loss is at an end, so the open arc has no maximiser; else 0.

    >>> from adversarium.networks import Softplus
    >>> from adversarium.rng import stream
    >>> numbers = open_arc(stream(0, "example"), Softplus(), points=512)
    >>> numbers["largest"] < numbers["bound"] < numbers["largest"] + 0.02
    True
    """
    network, W, batch = _random_setup(rng, activation, m, 2, 0.3)
    turn = torch.linspace(-half_angle(0.3), half_angle(0.3), points, dtype=torch.float64)
    x, y = batch.x[0], batch.y[0]
    across = torch.stack([-x[1], x[0]])
    arc = torch.cos(turn)[:, None] * x + torch.sin(turn)[:, None] * across
    loss = pseudo_huber(network.f(W, arc), y.expand(points))
    top = int(loss.argmax())
    step = float(turn[1] - turn[0])
    error = activation.C1 * float(torch.linalg.matrix_norm(W, 2)) * step / 2
    return {
        "largest": float(loss.max()),
        "bound": float(loss.max()) + error,
        "at an end": float(top in (0, points - 1)),
    }


def _absolute(f: Tensor, y: Tensor) -> Tensor:
    return (f - y).abs()


def _square(f: Tensor, y: Tensor) -> Tensor:
    return (f - y).square()


LOSSES = {
    "pseudo-Huber": pseudo_huber,
    "logistic": cross_entropy,
    "absolute": _absolute,
    "square": _square,
}


def loss_flags(rng: Generator, loss: str) -> Numbers:
    """Test Assumption 3.1 of CONV on a grid of f in [−20, 20], for y = ±1.

    - `not convex`: the largest decrease of the slope (0 if convex).
    - `slope`: the largest absolute slope. `smoothness`: the largest change of the slope between
      neighbouring grid points, divided by their distance.
    - `ℓ(y, y)`: the loss of a perfect prediction.

    >>> from adversarium.rng import stream
    >>> numbers = loss_flags(stream(0, "example"), "absolute")
    >>> round(numbers["slope"], 6), numbers["smoothness"] > 100, numbers["ℓ(y, y)"]
    (1.0, True, 0.0)
    """
    f = torch.linspace(-20, 20, 40_001, dtype=torch.float64)
    step = float(f[1] - f[0])
    slope_decrease, slope, smooth, perfect = 0.0, 0.0, 0.0, 0.0
    for y in (1.0, -1.0):
        target = torch.full_like(f, y)
        slopes = LOSSES[loss](f, target).diff() / step
        slope_decrease = max(slope_decrease, float(-slopes.diff().min()))
        slope, smooth = (
            max(slope, float(slopes.abs().max())),
            max(smooth, float(slopes.diff().abs().max() / step)),
        )
        perfect = max(perfect, float(LOSSES[loss](target[:1], target[:1]).abs()))
    return {
        "not convex": max(slope_decrease, 0.0),
        "slope": slope,
        "smoothness": smooth,
        "ℓ(y, y)": perfect,
    }


def surrogate_jump(
    rng: Generator, activation: Any, rule: str, m: int = 64, d: int = 2, segments: int = 40
) -> Numbers:
    """Find jumps of L_A along segments of weights on which the points of an attack change.

    Each segment is bisected to length 1e-12 around such a change.

    - `jump`: the largest jump of L_A over all segments.
    - `robust`: the largest |ΔL_*|/(Lip·C1|ΔW|_F) between the ends of the bisected segments.

    >>> from adversarium.networks import Softplus
    >>> from adversarium.rng import stream
    >>> numbers = surrogate_jump(stream(0, "example"), Softplus(), "fgsm")
    >>> numbers["jump"] > 1e-3, numbers["robust"] <= 1
    (True, True)
    """
    jump, robust = 0.0, 0.0
    for _ in range(segments):
        network, _, batch = _random_setup(rng, activation, m, d, 0.5)
        V, U = 3 * normal((m, d), rng), 3 * normal((m, d), rng)
        low, high = 0.0, 1.0
        start = _attacked(rule, network, V, batch, rng)[0]
        if torch.equal(start, _attacked(rule, network, U, batch, rng)[0]):
            continue
        while (high - low) * float((U - V).norm()) > 1e-12 and high - low > 1e-15:
            middle = (low + high) / 2
            same = torch.equal(start, _attacked(rule, network, V + middle * (U - V), batch, rng)[0])
            low, high = (middle, high) if same else (low, middle)
        ends = [V + at * (U - V) for at in (low, high)]
        losses = [_attacked(rule, network, W, batch, rng)[1] for W in ends]
        jump = max(jump, abs(losses[1] - losses[0]))
        distance = float((ends[1] - ends[0]).norm())
        change = abs(float(robust_loss(network, ends[1], batch))
                     - float(robust_loss(network, ends[0], batch)))  # fmt: skip
        robust = max(robust, change / (activation.C1 * distance))
    return {"jump": jump, "robust": robust}
