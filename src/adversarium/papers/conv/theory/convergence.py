"""Tests of Theorems 4.1 (one hidden layer) and 5.1 of CONV against certified optima.

This module also tests case 2 of the proof of Theorem 5.1 and Corollary 5.1, and measures the effect
of larger balls, of the projection and of attacks that were not used in training.
"""

import itertools
import math
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.attacks import CapPGD
from adversarium.data import SphereBatch
from adversarium.rng import normal
from adversarium.sockets import Along, Numbers
from adversarium.training.objectives import pseudo_huber

from .certified_descent import DescentProblem, points
from .descents import member_losses
from .following import Regret


def _guarantee(c: float, sqrt_m: float, alpha: float, G: float, R: float, T: int) -> float:
    """ε = αG²/2 + cR²/(2√m(1 − 1/S_T)), the bound of eq. (17) of CONV with its factor ½."""
    growth = (1 + c * alpha / sqrt_m) ** T
    return alpha * G**2 / 2 + c * R**2 / (2 * sqrt_m * (1 - 1 / growth))


def descent_gap(
    rng: Generator,
    activation: Any,
    rule: str,
    m: int,
    alpha: float,
    radii: tuple[float, ...],
    data: str = "circle",
    loss: str = "pseudo_huber",
    sphere: bool = False,
) -> Numbers:
    """Test Theorem 5.1 of CONV on T = √m/(cα) steps of descent on L_A, for several radii R.

    Gaps are divided by ε = αG²/2 + cR²/(2√m(1 − 1/S_T)), with c = C2, G the largest |∇L_A| and S_T
    = (1 + cα/√m)^T. The optimum min L_* over B(R) lies between certified bounds.

    - `gap/ε`: the smallest L_A of t = 1 … T minus the lower bound of the optimum, divided by ε.
    - `gap/ε, proved`: the same with the smallest L_A of t = 0 … T − 1, which the proof covers.
    - `room`: L_A(W_0) minus the upper bound of the optimum, minus ε; if negative, ε is vacuous.
    - `bracket`: the distance between the two bounds.
    - `promised`: the upper bound of the optimum plus ε, which the theorem guarantees for L_A.
    - `(16) …`, `(17) …`: the largest left minus right side of eqs. (16) and (17) of CONV, compared
      with the weights that attain the upper bound, and the step t at which it occurs.
    - `least L_A`, `last L_A`, `mean L_A`: over all t, without R.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = descent_gap(stream(0, "example"), s, "exact", m=64, alpha=0.4, radii=(1.0,))
    >>> numbers["gap/ε"].values[0] <= 1
    True
    """
    problem = DescentProblem.paired(rng, activation, m, points(data), loss, sphere)
    c, sqrt_m = float(activation.C2), math.sqrt(m)
    T = round(sqrt_m / (c * alpha))
    ends = [problem.bracket(R) for R in radii]
    comparators = [W for _, _, W in ends]
    regret = Regret(c, alpha, problem.W0, comparators, [high for _, high, _ in ends])
    losses, G = problem.descent(rule, alpha, T, rng, regret=regret)
    names = ("gap/ε", "gap/ε, proved", "room", "bracket", "promised")
    rows: dict[str, list[float]] = {name: [] for name in names}
    for R, (low, high, _) in zip(radii, ends, strict=True):
        eps = _guarantee(c, sqrt_m, alpha, G, R, T)
        rows["gap/ε"].append((min(losses[1:]) - low) / eps)
        rows["gap/ε, proved"].append((min(losses[:T]) - low) / eps)
        rows["room"].append(losses[0] - high - eps)
        rows["bracket"].append(high - low)
        rows["promised"].append(high + eps)
    numbers: Numbers = {name: Along("R", radii, tuple(values)) for name, values in rows.items()}
    return {
        **numbers,
        **regret.excesses_by_radius(radii),
        "least L_A": min(losses),
        "last L_A": losses[-1],
        "mean L_A": sum(losses) / len(losses),
    }


def hidden_converging(
    rng: Generator, rule: str, m: int, R: float, eps: float, data: str = "circle",
    loss: str = "pseudo_huber",
) -> Numbers:  # fmt: skip
    """Test Theorem 4.1 of CONV with H = 1 on T = ⌈R²/ε²⌉ projected steps in B(R), α = ε/m.

    - `gap/ε`: the smallest L_A of t = 1 … T minus the lower bound of the optimum, divided by ε.
    - `room`: L_A(W_0) minus the upper bound of the optimum, minus ε; if negative, ε is vacuous.
    - `gate`: R⁹/(ε⁷m), which the theorem assumes to be small.
    - `low`, `high`: the certified lower and upper bound of the optimum min L_* over B(R).

    >>> from adversarium.rng import stream
    >>> numbers = hidden_converging(stream(0, "example"), "exact", m=4608, R=1.0, eps=0.3)
    >>> numbers["gap/ε"] <= 1
    True
    """
    problem = DescentProblem.hidden(rng, m, points(data), loss)
    losses, _ = problem.descent(rule, eps / m, math.ceil(R**2 / eps**2), rng, R)
    low, high, _ = problem.bracket(R)
    return {
        "gap/ε": (min(losses[1:]) - low) / eps,
        "room": losses[0] - high - eps,
        "gate": R**9 / (eps**7 * m),
        "low": low,
        "high": high,
    }


def descent_until_exit(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, R: float
) -> Numbers:
    """Test case 2 of App. B of CONV: a descent that leaves B(3R), compared with weights in B(R).

    The comparators are the best weights found in B(R) and three random ones at distance R. d is the
    smallest distance of the last weights to a comparator, S = (1 + cα/√m)^t, G the largest |∇L_A|.

    - `left`: 1 if the descent leaves B(3R) before T = √m/(cα) steps, else 0.
    - `S`: the factor S at the last step.
    - `gap`: the largest (smallest L_A before the exit − L_* of a comparator)/(αG²/2).
    - `2R − d`, `R² − d²/S`: these differences, divided by R and by R² respectively.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = descent_until_exit(stream(0, "example"), s, "exact", m=256, alpha=0.1, R=0.1)
    >>> numbers["left"], numbers["gap"] <= 1, numbers["2R − d"] < 0
    (1.0, True, True)
    """
    problem = DescentProblem.paired(rng, activation, m, points("circle"))
    c, sqrt_m, W = float(activation.C2), math.sqrt(m), problem.W0
    directions = [normal(W.shape, rng) for _ in range(3)]
    comparators = [
        problem.bracket(R)[2],
        *(W + R * direction / direction.norm() for direction in directions),
    ]
    T, least, G, t = round(sqrt_m / (c * alpha)), math.inf, 0.0, 0
    while t < T and float((W - problem.W0).norm()) <= 3 * R:
        loss, g = problem.loss_and_gradient(W, rule, t, rng)
        least, G = min(least, loss), max(G, float(g.norm()))
        W, t = W - alpha * g, t + 1
    growth = (1 + c * alpha / sqrt_m) ** t
    distances = [float((W - V).norm()) for V in comparators]
    gap = max(least - problem.robust_loss(V) for V in comparators)
    return {
        "left": float(float((W - problem.W0).norm()) > 3 * R),
        "S": growth,
        "gap": gap / (alpha * G**2 / 2),
        "2R − d": (2 * R - min(distances)) / R,
        "R² − d²/S": (R**2 - min(distances) ** 2 / growth) / R**2,
    }


def radii_compared(rng: Generator, activation: Any, m: int, radii: tuple[float, ...]) -> Numbers:
    """Bound min L_* over B(R) for several R, for the remark after Theorem 4.1 of CONV.

    The network has two layers, or one hidden ReLU layer if `activation` is None.

    - `low`, `high`: the certified bounds, one per R.
    - `step`: the upper bound at R minus the lower bound at the previous radius; the optimum
      increases by at most this.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> radii_compared(stream(0, "example"), s, m=1024, radii=(0.5, 1.0))["step"].values[0] < 0
    True
    """
    batch = points("circle")
    problem = (
        DescentProblem.hidden(rng, m, batch) if activation is None
        else DescentProblem.paired(rng, activation, m, batch)
    )  # fmt: skip
    ends = [problem.bracket(R)[:2] for R in radii]
    steps = [after[1] - before[0] for before, after in itertools.pairwise(ends)]
    lows, highs = zip(*ends, strict=True)
    return {
        "low": Along("R", radii, lows),
        "high": Along("R", radii, highs),
        "step": Along("R", radii[1:], tuple(steps)),
    }


def orthogonal_times(
    rng: Generator, activation: Any, rule: str, K: int, m: int, alpha: float, eps: float
) -> Numbers:
    """Return the first t with L_* ≤ ε for one example with B = {e_1 … e_K} and y = 1.

    As m → ∞, R² = K f²/κ(1) is the smallest squared radius with L_* ≤ ε; f is the output with loss
    ε and κ(1) the mean squared slope of the units at W_0.

    - `t εα/R²`: the time t in units of R²/(εα). `R²`, `t`: R² and t themselves.
    - `reached`: 1 if L_* ≤ ε is reached before 20 R²/(εα) steps, else 0.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = orthogonal_times(stream(0, "example"), s, "cycle", 4, m=256, alpha=0.05, eps=0.2)
    >>> 0 < numbers["t εα/R²"] < 2
    True
    """
    options = torch.eye(K, dtype=torch.float64)[None]
    batch = SphereBatch(options[:, 0], torch.ones(1, dtype=torch.float64), options)
    problem = DescentProblem.paired(rng, activation, m, batch)
    output = 1 - math.sqrt((1 + eps) ** 2 - 1)  # its loss is ε
    kernel = float(problem.slopes.square().sum(-1).mean())
    R2, W, t = K * output**2 / kernel, problem.W0, 0
    most = math.ceil(20 * R2 / (eps * alpha))
    while t < most and problem.robust_loss(W) > eps:
        W, t = W - alpha * problem.loss_and_gradient(W, rule, t, rng)[1], t + 1
    return {"t εα/R²": t * eps * alpha / R2, "R²": R2, "t": float(t), "reached": float(t < most)}


def descent_to_eps(
    rng: Generator, activation: Any, rule: str, eps: float, R: float, starts: int = 1,
    data: str = "circle", sphere: bool = False,
) -> Numbers:  # fmt: skip
    """Test Corollary 5.1 of CONV with explicit constants: α = ε/2, m = (2.51cR²/ε)², T = 4R²/(εα).

    R must be such that some W in B(R) has L_* ≤ ε/2.

    - `least/ε`: the smallest L_A of a descent divided by ε; the largest value of all starts.
    - `reached`: the share of starts that reach L_A ≤ ε.
    - `t εα/R²`: the first time with L_A ≤ ε, in units of R²/(εα); the largest of all starts.
    - `reference`: L_* of the best weights found in B(R) at the first start, divided by ε/2.
    - `m`, `T`: the width and the number of steps.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = descent_to_eps(stream(0, "example"), SmoothedReLU(b=2.0), "exact", eps=0.4, R=1.4)
    >>> numbers["least/ε"] <= 1
    True
    """
    alpha, c = eps / 2, float(activation.C2)
    m = 2 * math.ceil((2.51 * c * R**2 / eps) ** 2 / 2)
    T = math.ceil(4 * R**2 / (eps * alpha))
    least: list[float] = []
    first: list[float] = []
    reference: list[float] = []
    for _ in range(starts):
        problem = DescentProblem.paired(rng, activation, m, points(data), sphere=sphere)
        reference.append(problem.bracket(R)[1] / (eps / 2) if not reference else reference[0])
        losses, _ = problem.descent(rule, alpha, T, rng)
        least.append(min(losses) / eps)
        first.append(next((t for t, value in enumerate(losses) if value <= eps), math.nan))
    return {
        "least/ε": max(least),
        "reached": sum(one <= 1 for one in least) / starts,
        "t εα/R²": max(first) * eps * alpha / R**2,
        "reference": reference[0],
        "m": float(m),
        "T": float(T),
    }


def transfer_losses(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, steps: int, radius: float,
    members: int = 9, data: str = "circle", others: tuple[str, ...] = (),
) -> Numbers:  # fmt: skip
    """Train against an attack on the first `members` points of every set; return the losses.

    - `L_A`: the loss under the training attack at the end.
    - `L_*`: the exact robust loss over the entire sets.
    - `under …`: the loss under each attack of `others`. `random` and `cycle` are means over all
      points of the sets; `pgd-100` makes 100 steps of ascent on the entire caps, from x and from
      two opposite points of the rim.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = transfer_losses(stream(0, "a"), s, "anti", m=64, alpha=1.0, steps=50, radius=0.2)
    >>> numbers["L_A"] < numbers["L_*"]
    True
    """
    batch = points(data, radius)
    problem = DescentProblem.paired(rng, activation, m, batch)
    trained = replace(problem, batch=SphereBatch(batch.x, batch.y, batch.options[:, :members]))
    W: Tensor = problem.W0
    for t in range(steps):
        W = W - alpha * trained.loss_and_gradient(W, rule, t, rng)[1]
    numbers = {
        "L_A": trained.loss_and_gradient(W, rule, steps, rng)[0],
        "L_*": problem.robust_loss(W),
    }
    return numbers | {
        f"under {other}": _loss_under(problem, W, other, radius, rng) for other in others
    }


def _loss_under(
    problem: DescentProblem, W: Tensor, other: str, radius: float, rng: Generator
) -> float:
    """Return the loss of weights under an attack that they were not trained against."""
    if other in ("random", "cycle"):
        return float(member_losses(problem.network, W, problem.batch).mean())
    if other != "pgd-100":
        return problem.loss_and_gradient(W, other, 0, rng)[0]
    ascent = CapPGD(radius=radius, steps=100)

    def losses(x: Tensor) -> Tensor:
        return pseudo_huber(problem.network.f(W, x), problem.batch.y)

    return float(losses(ascent(losses, problem.batch, 0, rng)).mean())


def free_and_projected(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, shares: tuple[float, ...]
) -> Numbers:
    """Compare T = √m/(cα) steps of descent without projection to descent projected onto balls.

    The radii of the balls are `shares` of `path`.

    - `free − projected`: the smallest L_A without projection minus that with projection, per share.
    - `path`, `least`: the largest |W_t − W_0| and the smallest L_A without projection.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = free_and_projected(stream(0, "example"), s, "exact", 64, 0.4, shares=(0.5,))
    >>> numbers["free − projected"].values[0] < 0 < numbers["path"]
    True
    """
    problem = DescentProblem.paired(rng, activation, m, points("circle"))
    T = round(math.sqrt(m) / (float(activation.C2) * alpha))
    W, path, least = problem.W0, 0.0, math.inf
    for t in range(T + 1):
        loss, g = problem.loss_and_gradient(W, rule, t, rng)
        least, path = min(least, loss), max(path, float((W - problem.W0).norm()))
        W = W - alpha * g
    projected = [min(problem.descent(rule, alpha, T, rng, share * path)[0]) for share in shares]
    return {
        "free − projected": Along("share", shares, tuple(least - one for one in projected)),
        "path": path,
        "least": least,
    }
