"""Robust errors of plain functions, for the trials of explicit classifiers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Generator, Tensor

from adversarium.attacks import APGD, PGD, Corners, UnitSteps
from adversarium.shapes import Bool, Float
from adversarium.sockets import Attack, Guide

Classifier = Callable[[Tensor], Tensor]  # x ↦ f(x), one number per point; its sign is the label


@dataclass(frozen=True)
class _Points:
    """A batch without labels, for attacks that need only x."""

    x: Tensor


def misclassified_in_linf(
    f: Classifier, x: Float[Tensor, "n D"], y: Float[Tensor, " n"], delta: float, rng: Generator
) -> Bool[Tensor, " n"]:
    """min_{‖ξ‖_∞≤δ} y f(x + ξ) ≤ 0: points misclassified somewhere in their l_inf cell.

    The search tries the corners and a gradient attack.

    >>> import torch
    >>> from adversarium.rng import stream
    >>> x, y = torch.tensor([[0.3, 0.0], [0.1, 0.0]]).double(), torch.ones(2).double()
    >>> misclassified_in_linf(lambda z: z[..., 0], x, y, 0.2, stream(0, "example")).tolist()
    [False, True]
    """
    ascent = APGD(p=math.inf, radius=delta, steps=20, restarts=2)
    return _misclassified(f, x, y, (Corners(radius=delta), ascent), rng)


def misclassified_in_l2(
    f: Classifier,
    x: Float[Tensor, "n D"],
    y: Float[Tensor, " n"],
    delta: float,
    rng: Generator,
    directions: Float[Tensor, "r D"] | None = None,
) -> Bool[Tensor, " n"]:
    """min_{‖ξ‖₂≤δ} y f(x + ξ) ≤ 0: points misclassified somewhere in their l2 ball.

    The search consists of two ascents, and of steps towards the units in `directions`, if given.

    >>> import torch
    >>> from adversarium.rng import stream
    >>> x, y = torch.tensor([[0.4, 0.4], [0.6, 0.6]]).double(), torch.ones(2).double()
    >>> wrong = misclassified_in_l2(lambda z: z.sum(-1), x, y, 0.7, stream(0, "example"))
    >>> wrong.tolist()  # √2·0.4 < 0.7 < √2·0.6
    [True, False]
    """
    plain = PGD(p=2, radius=delta, steps=60, step=delta / 8, start="uniform", restarts=2)
    ascents = (APGD(p=2, radius=delta, steps=40, restarts=2), plain)
    wrong = _misclassified(f, x, y, ascents, rng)
    if directions is not None and not wrong.all():
        units = UnitSteps(p=2, radius=delta, units=len(directions), opposites=False)
        wrong[~wrong] = _misclassified(f, x[~wrong], y[~wrong], (units,), rng, directions)
    return wrong


def _misclassified(
    f: Classifier,
    x: Float[Tensor, "n D"],
    y: Float[Tensor, " n"],
    attacks: Sequence[Attack],
    rng: Generator,
    directions: Tensor | None = None,
) -> Bool[Tensor, " n"]:
    """Return which points are misclassified without an attack or under one of the attacks."""
    wrong = y * f(x) <= 0
    for attack in attacks:
        moved = attack(Guide(lambda z: -y * f(z), directions), _Points(x), 0, rng)
        wrong = wrong | (y * f(moved) <= 0)
    return wrong
