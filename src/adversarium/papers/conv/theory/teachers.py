"""Robust training and robust generalisation of CONV's two-layer network as its width grows (§7).

The data are arcs of a circle whose labels come from a teacher.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch
from adversarium.data.sphere import half_angle
from adversarium.rng import uniform
from adversarium.sockets import Along, Numbers

from .certified_descent import DescentProblem

TEACHERS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": torch.cos,
    "even": lambda angle: (2 * angle).cos(),
    "fourth": lambda angle: (4 * angle).cos(),
}


def taught(teacher: str, n: int, radius: float, rng: Generator) -> SphereBatch:
    """Return n arcs, nine points each, on which the sign of the teacher is constant.

    `radius` is the chord from the centre of an arc to its end. Among such arcs, the centres
    are uniform.

    >>> from adversarium.rng import stream
    >>> batch = taught("even", 5, 0.1, stream(0, "train"))
    >>> labels = TEACHERS["even"](torch.atan2(batch.options[..., 1], batch.options[..., 0])).sign()
    >>> tuple(batch.options.shape), bool((labels == batch.y[:, None]).all())
    ((5, 9, 2), True)
    """
    reach = half_angle(radius) * torch.tensor([0, -1, 1, -0.75, 0.75, -0.5, 0.5, -0.25, 0.25])
    accepted = torch.zeros(0, 9, dtype=torch.float64)
    while len(accepted) < n:
        angle = 2 * math.pi * uniform((4 * n, 1), rng) + reach.double()
        sign = TEACHERS[teacher](angle).sign()
        accepted = torch.cat([accepted, angle[(sign == sign[:, :1]).all(1)]])
    angle = accepted[:n]
    options = torch.stack([angle.cos(), angle.sin()], -1)
    return SphereBatch(options[:, 0], TEACHERS[teacher](angle[:, 0]).sign(), options)


def widening(
    rng: Generator, activation: Any, teacher: str, n: int, widths: tuple[int, ...],
    steps: int = 600, alpha: float = 1.0, radius: float = 0.1, fresh: int = 200,
) -> Numbers:  # fmt: skip
    """Train on n arcs against the exact attack at several widths; return robust losses per width.

    - `train`, `test`: the robust losses on the training arcs and on `fresh` new arcs.
    - `fall of train`, `fall of test`: log(loss at the first width/loss at the last width).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> losses = widening(stream(0, "a"), s, "linear", n=6, widths=(4, 64), steps=30, fresh=20)
    >>> all(a < b for a, b in zip(losses["train"].values, losses["test"].values))
    True
    """
    train, test = taught(teacher, n, radius, rng), taught(teacher, fresh, radius, rng)
    train_losses, test_losses = [], []
    for m in widths:
        problem = DescentProblem.paired(rng, activation, m, train)
        W = problem.W0
        for t in range(steps):
            W = W - alpha * problem.loss_and_gradient(W, "exact", t, rng)[1]
        train_losses.append(problem.robust_loss(W))
        test_losses.append(replace(problem, batch=test).robust_loss(W))
    along = tuple(float(m) for m in widths)
    return {
        "train": Along("m", along, tuple(train_losses)),
        "test": Along("m", along, tuple(test_losses)),
        "fall of train": math.log(train_losses[0] / train_losses[-1]),
        "fall of test": math.log(test_losses[0] / test_losses[-1]),
    }
