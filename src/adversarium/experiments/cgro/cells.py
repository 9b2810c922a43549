"""Robust errors over l_inf cells: what the experiments on explicit classifiers have in common."""

import math
from dataclasses import dataclass

from torch import Tensor

from adversarium.attacks import APGD, Corners


@dataclass(frozen=True)
class _Points:
    x: Tensor


def broken(f, x, y, delta, rng):
    """Which points have y f ≤ 0 somewhere in their l_inf cell: at a corner, or where a gradient
    attack leads."""
    wrong = y * f(x) <= 0
    for attack in (Corners(radius=delta), APGD(p=math.inf, radius=delta, steps=20, restarts=2)):
        moved = attack(lambda z: -y * f(z), _Points(x), 0, rng)
        wrong = wrong | (y * f(moved) <= 0)
    return wrong
