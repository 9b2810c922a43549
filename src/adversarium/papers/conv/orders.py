"""How CONV's O(·) and its probabilities are judged: a quotient by the printed order does not grow,
and successes are counted over all runs of a family."""

import math
from collections.abc import Callable

import numpy as np

from adversarium.plans import Check, Evidence, Need, Quantity, Where, exponent, quantity
from adversarium.plans.evidence import NoSuchRun


def bounded(
    number: str,
    along: str,
    meant: Where,
    most: float,
    per: Callable[[float], float] = lambda size: 1.0,
) -> Check:
    """The power of a size in number/per(size) is at most `most`."""
    told = f"power of {along} in {number} ({meant.told})"
    return exponent(told, number, along, meant, 0.0, (math.inf, most), per)


def pooled(told: str, meant: Where, number: str, count: int = 1) -> Quantity:
    """How often something happened (its share times `count`), a seed of every run that is meant."""

    def of(rows: Evidence) -> np.ndarray:
        made = [count * run.last(number) for run in rows.where(meant)]
        if not made:
            raise NoSuchRun(f"no runs of {meant.told}")
        return np.concatenate(made)

    return quantity(told, of, Need(meant, (number,)))
