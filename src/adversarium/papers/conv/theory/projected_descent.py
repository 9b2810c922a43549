"""Record descents of CONV's networks with and without projection, and the slacks of eq. (16)."""

import itertools
import math
from typing import Any

from torch import Generator

from adversarium.data import SphereBatch
from adversarium.sockets import Along, Numbers

from .certified_descent import DescentProblem, points
from .deep_relu import Deep
from .depths import deep_descent
from .descents import attacked
from .one_step import slacks

INTERVALS = 40  # number of intervals between recorded times t


def _by_time(losses: list[float], distances: list[float], R: float) -> Numbers:
    """Return L_A and the distance from W_0 at the recorded times.

    `held` is the share of steps since the previous recorded time after which W is on the edge of
    B(R).
    """
    T = len(losses) - 1
    times = sorted({round(k * T / INTERVALS) for k in range(INTERVALS + 1)})
    on_edge = [float(r >= R * (1 - 1e-9)) for r in distances]
    between = [on_edge[0], *(sum(on_edge[a + 1 : b + 1]) / (b - a)
                             for a, b in itertools.pairwise(times))]  # fmt: skip
    coordinates = tuple(map(float, times))
    return {
        "L_A": Along("t", coordinates, tuple(losses[t] for t in times)),
        "distance": Along("t", coordinates, tuple(distances[t] for t in times)),
        "held": Along("t", coordinates, tuple(between)),
        "least L_A": min(losses),
    }


def held_descent(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, R: float | None
) -> Numbers:
    """Run T = √m/(cα) steps of descent of the two-layer network on four arcs of a circle.

    The descent is projected onto B(R), unless R is None.

    - `L_A`, `distance`, `held`: at the recorded times, L_A, |W_t − W_0| and the share of steps on
      the edge of the ball.
    - `least L_A`: the smallest L_A.
    - `upper end`: the certified upper bound of min L_* over B(R), if R is given.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = held_descent(stream(0, "example"), s, "exact", m=64, alpha=0.4, R=0.5)
    >>> max(numbers["distance"].values) <= 0.5 + 1e-9, numbers["held"].values[-1]
    (True, 1.0)
    """
    problem = DescentProblem.paired(rng, activation, m, points("circle"))
    W, radius = problem.W0, math.inf if R is None else R
    losses, distances = [], []
    for t in range(round(math.sqrt(m) / (float(activation.C2) * alpha)) + 1):
        value, g = problem.loss_and_gradient(W, rule, t, rng)
        losses.append(value)
        distances.append(float((W - problem.W0).norm()))
        W = problem.projected(W - alpha * g, radius)
    numbers = _by_time(losses, distances, radius)
    return numbers if R is None else {**numbers, "upper end": problem.bracket(R)[1]}


def held_deep_descent(
    rng: Generator, m: int, H: int, rule: str, R: float | None, steps: int = 400
) -> Numbers:
    """Run a descent of the deep network on six caps of R⁵ with six points each, α = 0.2/(mH).

    Return the numbers of `held_descent` without `upper end`; distances are √m max_h |W⁽ʰ⁾ − W⁽ʰ⁾₀|.

    >>> from adversarium.rng import stream
    >>> numbers = held_deep_descent(stream(0, "example"), m=32, H=2, rule="exact", R=0.5, steps=40)
    >>> max(numbers["distance"].values) <= 0.5 + 1e-9, numbers["least L_A"] > 0
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
    """Return the three slacks of eq. (16) of CONV along a descent on four arcs of a circle.

    The descent takes T = √m/(cα) steps. The comparator consists of the weights of B(R) that attain
    the certified upper bound of min L_*. Every slack is divided by 2α.

    - `curvature`, `attack`, `convexity`: the slack due to the curvature of f, to the attack and to
      the convexity of the loss, at recorded times t.
    - `least …`: the smallest value of all t. `least sum`, `its t`: the smallest sum of the three
      slacks, and its t.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = slacks_of_descent(stream(0, "example"), s, "fgsm", m=64, alpha=0.4, R=1.0)
    >>> min(numbers["least curvature"], numbers["least attack"], numbers["least convexity"]) > -1e-9
    True
    """
    problem = DescentProblem.paired(rng, activation, m, points("circle"))
    W, V = problem.W0, problem.bracket(R)[2]
    T = round(math.sqrt(m) / (float(activation.C2) * alpha))
    rows = []
    for t in range(T):
        x = attacked(rule, problem.network, W, problem.batch, t, rng)
        three = slacks(problem.network, W, V, x, problem.batch, alpha) / (2 * alpha)
        rows.append([float(one) for one in three])
        W = W - alpha * problem.loss_and_gradient_at(W, x)[1]
    times = sorted({round(k * (T - 1) / INTERVALS) for k in range(INTERVALS + 1)})
    sums = [sum(row) for row in rows]
    numbers: Numbers = {
        name: Along("t", tuple(map(float, times)), tuple(rows[t][i] for t in times))
        for i, name in enumerate(("curvature", "attack", "convexity"))
    }
    least = {f"least {name}": min(row[i] for row in rows) for i, name in enumerate(numbers)}
    return {**numbers, **least, "least sum": min(sums), "its t": float(sums.index(min(sums)))}
