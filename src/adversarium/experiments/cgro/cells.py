"""Robust errors of plain functions: what the experiments on explicit classifiers have in common."""

import math
from dataclasses import dataclass

from torch import Tensor

from adversarium.attacks import APGD, PGD, Corners


@dataclass(frozen=True)
class _Points:
    x: Tensor


def broken(f, x, y, delta, rng):
    """Which points have y f ≤ 0 somewhere in their l_inf cell: at a corner, or where a gradient
    attack leads."""
    ascent = APGD(p=math.inf, radius=delta, steps=20, restarts=2)
    return _under(f, x, y, (Corners(radius=delta), ascent), rng)


def broken_in_l2(f, x, y, delta, rng):
    """Which points have y f ≤ 0 somewhere in their l2 ball, by two attacks."""
    plain = PGD(p=2, radius=delta, steps=60, step=delta / 8, start="uniform", restarts=2)
    return _under(f, x, y, (APGD(p=2, radius=delta, steps=40, restarts=2), plain), rng)


def _under(f, x, y, attacks, rng):
    wrong = y * f(x) <= 0
    for attack in attacks:
        moved = attack(lambda z: -y * f(z), _Points(x), 0, rng)
        wrong = wrong | (y * f(moved) <= 0)
    return wrong
