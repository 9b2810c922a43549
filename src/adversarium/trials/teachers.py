"""Robust training and robust generalisation of CONV's two-layer network as its width grows, on arcs
of a circle that a teacher labels (§7)."""

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
from adversarium.trials.courses import Course

TEACHERS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": torch.cos,
    "even": lambda angle: (2 * angle).cos(),
    "fourth": lambda angle: (4 * angle).cos(),
}


def taught(teacher: str, n: int, radius: float, rng: Generator) -> SphereBatch:
    """n arcs of chord radius `radius` on which the teacher's sign does not change, nine members
    each; centres drawn uniformly among such.

    >>> from adversarium.rng import stream
    >>> batch = taught("even", 5, 0.1, stream(0, "train"))
    >>> told = TEACHERS["even"](torch.atan2(batch.options[..., 1], batch.options[..., 0])).sign()
    >>> tuple(batch.options.shape), bool((told == batch.y[:, None]).all())
    ((5, 9, 2), True)
    """
    reach = half_angle(radius) * torch.tensor([0, -1, 1, -0.75, 0.75, -0.5, 0.5, -0.25, 0.25])
    kept = torch.zeros(0, 9, dtype=torch.float64)
    while len(kept) < n:
        angle = 2 * math.pi * uniform((4 * n, 1), rng) + reach.double()
        sign = TEACHERS[teacher](angle).sign()
        kept = torch.cat([kept, angle[(sign == sign[:, :1]).all(1)]])
    angle = kept[:n]
    options = torch.stack([angle.cos(), angle.sin()], -1)
    return SphereBatch(options[:, 0], TEACHERS[teacher](angle[:, 0]).sign(), options)


def widening(
    rng: Generator, activation: Any, teacher: str, n: int, widths: tuple[int, ...],
    steps: int = 600, alpha: float = 1.0, radius: float = 0.1, fresh: int = 200,
) -> Numbers:  # fmt: skip
    """Robust losses after training on n arcs against the exact attack, on these and on fresh ones,
    by width; by how much their logarithms fall from the first width to the last.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = widening(stream(0, "example"), s, "linear", n=6, widths=(4, 64), steps=30, fresh=20)
    >>> all(a < b for a, b in zip(told["train"].values, told["test"].values))
    True
    """
    train, test = taught(teacher, n, radius, rng), taught(teacher, fresh, radius, rng)
    seen, unseen = [], []
    for m in widths:
        course = Course.paired(rng, activation, m, train)
        W = course.W0
        for t in range(steps):
            W = W - alpha * course.seen(W, "exact", t, rng)[1]
        seen.append(course.robust(W))
        unseen.append(replace(course, batch=test).robust(W))
    along = tuple(float(m) for m in widths)
    return {
        "train": Along("m", along, tuple(seen)),
        "test": Along("m", along, tuple(unseen)),
        "fall of train": math.log(seen[0] / seen[-1]),
        "fall of test": math.log(unseen[0] / unseen[-1]),
    }
