"""Descents of CONV's networks by t: with and without projection, and the slacks of eq. (16)."""

import itertools
import math
from typing import Any

from torch import Generator

from adversarium.data import SphereBatch
from adversarium.networks.deep import Deep
from adversarium.sockets import Along, Numbers
from adversarium.trials.courses import Course, points
from adversarium.trials.depths import deep_descent
from adversarium.trials.descents import attacked
from adversarium.trials.regret import slacks

PLACES = 40  # of t, that are told


def _by_time(losses: list[float], apart: list[float], R: float) -> Numbers:
    """L_A and the distance from W_0 at some t; how often the ball held the descent between them."""
    T = len(losses) - 1
    times = sorted({round(k * T / PLACES) for k in range(PLACES + 1)})
    on_edge = [float(r >= R * (1 - 1e-9)) for r in apart]
    between = [on_edge[0], *(sum(on_edge[a + 1 : b + 1]) / (b - a)
                             for a, b in itertools.pairwise(times))]  # fmt: skip
    at = tuple(map(float, times))
    return {
        "L_A": Along("t", at, tuple(losses[t] for t in times)),
        "distance": Along("t", at, tuple(apart[t] for t in times)),
        "held": Along("t", at, tuple(between)),
        "least L_A": min(losses),
    }


def held_descent(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, R: float | None
) -> Numbers:
    """A descent of the two-layer network on four arcs of a circle, T = √m/(cα), projected onto B(R)
    or not (R = None): L_A, |W_t − W_0| and the share of steps on the edge of the ball, by t; the
    least L_A; the certified upper end of the least L_* in B(R), where there is one.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = held_descent(stream(0, "example"), s, "exact", m=64, alpha=0.4, R=0.5)
    >>> max(told["distance"].values) <= 0.5 + 1e-9, told["held"].values[-1]
    (True, 1.0)
    """
    course = Course.paired(rng, activation, m, points("circle"))
    W, radius = course.W0, math.inf if R is None else R
    losses, apart = [], []
    for t in range(round(math.sqrt(m) / (float(activation.C2) * alpha)) + 1):
        value, g = course.seen(W, rule, t, rng)
        losses.append(value)
        apart.append(float((W - course.W0).norm()))
        W = course.projected(W - alpha * g, radius)
    told = _by_time(losses, apart, radius)
    return told if R is None else {**told, "upper end": course.bracket(R)[1]}


def held_deep_descent(
    rng: Generator, m: int, H: int, rule: str, R: float | None, steps: int = 400
) -> Numbers:
    """The same for the deep network on six caps of R⁵ with six members each, α = 0.2/(mH); the
    distance is √m max_h |W⁽ʰ⁾ − W⁽ʰ⁾₀|.

    >>> from adversarium.rng import stream
    >>> told = held_deep_descent(stream(0, "example"), m=32, H=2, rule="exact", R=0.5, steps=40)
    >>> max(told["distance"].values) <= 0.5 + 1e-9, told["least L_A"] > 0
    (True, True)
    """
    caps = points("d = 5")
    batch = SphereBatch(caps.x[:6], caps.y[:6], caps.options[:6, :6])
    radius = math.inf if R is None else R
    net = Deep.drawn(m, 5, H, rng)
    return _by_time(*deep_descent(net, batch, steps, rule, radius, rng), radius)


def slacks_of_descent(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, R: float
) -> Numbers:
    """The three slacks of eq. (16) of CONV along a descent on four arcs of a circle, T = √m/(cα),
    against the certified optimum's weights of B(R), each over 2α, by t: what curvature, the attack
    and the loss's convexity leave; the least of each over all t, and of their sum with its t.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = slacks_of_descent(stream(0, "example"), s, "fgsm", m=64, alpha=0.4, R=1.0)
    >>> min(told["least curvature"], told["least attack"], told["least convexity"]) > -1e-9
    True
    """
    course = Course.paired(rng, activation, m, points("circle"))
    W, V = course.W0, course.bracket(R)[2]
    T = round(math.sqrt(m) / (float(activation.C2) * alpha))
    rows = []
    for t in range(T):
        x = attacked(rule, course.network, W, course.batch, t, rng)
        three = slacks(course.network, W, V, x, course.batch, alpha) / (2 * alpha)
        rows.append([float(one) for one in three])
        W = W - alpha * course.slope(W, x)[1]
    times = sorted({round(k * (T - 1) / PLACES) for k in range(PLACES + 1)})
    whole = [sum(row) for row in rows]
    told: Numbers = {
        name: Along("t", tuple(map(float, times)), tuple(rows[t][i] for t in times))
        for i, name in enumerate(("curvature", "attack", "convexity"))
    }
    least = {f"least {name}": min(row[i] for row in rows) for i, name in enumerate(told)}
    return {**told, **least, "least sum": min(whole), "its t": float(whole.index(min(whole)))}
