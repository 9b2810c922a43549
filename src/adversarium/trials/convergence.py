"""Theorems 4.1 (one hidden layer) and 5.1 of CONV against certified optima; case 2 of the proof,
Corollary 5.1, larger balls; free and projected descents; what other attacks leave open."""

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
from adversarium.trials.courses import Course, points
from adversarium.trials.descents import member_losses
from adversarium.trials.following import Regret


def _promise(c: float, size: float, alpha: float, G: float, R: float, T: int) -> float:
    """ε = αG²/2 + cR²/(2√m(1 − 1/S_T)), what eq. (17) of CONV with its ½ promises after T steps."""
    growth = (1 + c * alpha / size) ** T
    return alpha * G**2 / 2 + c * R**2 / (2 * size * (1 - 1 / growth))


def converging(
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
    """Theorem 5.1 of CONV after T = √m/(cα) steps, by R: the least L_A of t = 1 … T less the
    certified lower end of the optimum, in units of ε = αG²/2 + cR²/(2√m(1 − 1/S_T)); the same of
    t = 0 … T − 1; how much less ε is than what the start has to gain (else ε says nothing); the
    width of the certified bracket; its upper end plus ε, what is promised of L_A; the largest left
    less right side of eqs. (16) and (17) of CONV, against the weights of that end, and its t. Of
    all t: the least L_A, the last and the mean.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = converging(stream(0, "example"), s, "exact", m=64, alpha=0.4, radii=(1.0,))
    >>> told["gap/ε"].values[0] <= 1
    True
    """
    course = Course.paired(rng, activation, m, points(data), loss, sphere)
    c, size = float(activation.C2), math.sqrt(m)
    T = round(size / (c * alpha))
    ends = [course.bracket(R) for R in radii]
    best = [W for _, _, W in ends]
    regret = Regret(c, alpha, course.W0, best, [high for _, high, _ in ends])
    losses, G = course.descent(rule, alpha, T, rng, regret=regret)
    names = ("gap/ε", "gap/ε, proved", "room", "bracket", "promised")
    rows: dict[str, list[float]] = {name: [] for name in names}
    for R, (low, high, _) in zip(radii, ends, strict=True):
        eps = _promise(c, size, alpha, G, R, T)
        rows["gap/ε"].append((min(losses[1:]) - low) / eps)
        rows["gap/ε, proved"].append((min(losses[:T]) - low) / eps)
        rows["room"].append(losses[0] - high - eps)
        rows["bracket"].append(high - low)
        rows["promised"].append(high + eps)
    told: Numbers = {name: Along("R", radii, tuple(values)) for name, values in rows.items()}
    return {
        **told,
        **regret.told(radii),
        "least L_A": min(losses),
        "last L_A": losses[-1],
        "mean L_A": sum(losses) / len(losses),
    }


def hidden_converging(
    rng: Generator, rule: str, m: int, R: float, eps: float, data: str = "circle",
    loss: str = "pseudo_huber",
) -> Numbers:  # fmt: skip
    """Theorem 4.1 of CONV with H = 1: projected descent in B(R), α = ε/m, T = ⌈R²/ε²⌉; the
    least L_A of t = 1 … T less the certified lower end of the optimum, in units of ε; the room;
    R⁹/(ε⁷m), which the theorem wants small; the ends.

    >>> from adversarium.rng import stream
    >>> told = hidden_converging(stream(0, "example"), "exact", m=4608, R=1.0, eps=0.3)
    >>> told["gap/ε"] <= 1
    True
    """
    course = Course.hidden(rng, m, points(data), loss)
    losses, _ = course.descent(rule, eps / m, math.ceil(R**2 / eps**2), rng, R)
    low, high, _ = course.bracket(R)
    return {
        "gap/ε": (min(losses[1:]) - low) / eps,
        "room": losses[0] - high - eps,
        "gate": R**9 / (eps**7 * m),
        "low": low,
        "high": high,
    }


def leaving(rng: Generator, activation: Any, rule: str, m: int, alpha: float, R: float) -> Numbers:
    """Case 2 of App. B of CONV: the descent until it leaves B(3R), against weights of B(R), the
    best found and random ones: (least L_A before − L_*)/(αG²/2), (2R − d)/R and (R² − d²/S)/R² when
    it has left; whether it does before T, and S.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = leaving(stream(0, "example"), s, "exact", m=256, alpha=0.1, R=0.1)
    >>> told["left"], told["gap"] <= 1, told["2R − d"] < 0
    (1.0, True, True)
    """
    course = Course.paired(rng, activation, m, points("circle"))
    c, size, W = float(activation.C2), math.sqrt(m), course.W0
    ways = [normal(W.shape, rng) for _ in range(3)]
    others = [course.bracket(R)[2], *(W + R * way / way.norm() for way in ways)]
    T, least, G, t = round(size / (c * alpha)), math.inf, 0.0, 0
    while t < T and float((W - course.W0).norm()) <= 3 * R:
        now, g = course.seen(W, rule, t, rng)
        least, G = min(least, now), max(G, float(g.norm()))
        W, t = W - alpha * g, t + 1
    growth = (1 + c * alpha / size) ** t
    apart = [float((W - V).norm()) for V in others]
    gap = max(least - course.robust(V) for V in others)
    return {
        "left": float(float((W - course.W0).norm()) > 3 * R),
        "S": growth,
        "gap": gap / (alpha * G**2 / 2),
        "2R − d": (2 * R - min(apart)) / R,
        "R² − d²/S": (R**2 - min(apart) ** 2 / growth) / R**2,
    }


def radii_compared(rng: Generator, activation: Any, m: int, radii: tuple[float, ...]) -> Numbers:
    """Certified ends of min over B(R) of L_* by R, the remark after Theorem 4.1 of CONV, of the
    two-layer network or, without an activation, of one hidden ReLU layer; and how much the next
    optimum is more than the one before, at most.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> radii_compared(stream(0, "example"), s, m=1024, radii=(0.5, 1.0))["step"].values[0] < 0
    True
    """
    batch = points("circle")
    course = (
        Course.hidden(rng, m, batch) if activation is None
        else Course.paired(rng, activation, m, batch)
    )  # fmt: skip
    ends = [course.bracket(R)[:2] for R in radii]
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
    """One point with B = {e_1 … e_K}, y = 1: the first t with L_* ≤ ε, in units of R²/(εα), where
    R² = K f²/κ(1) is exact as m → ∞, f being the output that has loss ε.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = orthogonal_times(stream(0, "example"), s, "cycle", 4, m=256, alpha=0.05, eps=0.2)
    >>> 0 < told["t εα/R²"] < 2
    True
    """
    options = torch.eye(K, dtype=torch.float64)[None]
    batch = SphereBatch(options[:, 0], torch.ones(1, dtype=torch.float64), options)
    course = Course.paired(rng, activation, m, batch)
    output = 1 - math.sqrt((1 + eps) ** 2 - 1)  # of loss ε
    kernel = float(course.slopes.square().sum(-1).mean())
    R2, W, t = K * output**2 / kernel, course.W0, 0
    most = math.ceil(20 * R2 / (eps * alpha))
    while t < most and course.robust(W) > eps:
        W, t = W - alpha * course.seen(W, rule, t, rng)[1], t + 1
    return {"t εα/R²": t * eps * alpha / R2, "R²": R2, "t": float(t), "reached": float(t < most)}


def reaching(
    rng: Generator, activation: Any, rule: str, eps: float, R: float, starts: int = 1,
    data: str = "circle", sphere: bool = False,
) -> Numbers:  # fmt: skip
    """Corollary 5.1 of CONV with explicit constants, R being such that some W of B(R) has
    L_* ≤ ε/2 (`reference`: L_* of one, over ε/2): α = ε/2, m = (2.51cR²/ε)², T = 4R²/(εα). The
    least L_A in units of ε, the largest of all starts; how many starts have it at most 1; the first
    time that it is, in units of R²/(εα).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = reaching(stream(0, "example"), SmoothedReLU(b=2.0), "exact", eps=0.4, R=1.4)
    >>> told["least/ε"] <= 1
    True
    """
    alpha, c = eps / 2, float(activation.C2)
    m = 2 * math.ceil((2.51 * c * R**2 / eps) ** 2 / 2)
    T = math.ceil(4 * R**2 / (eps * alpha))
    least: list[float] = []
    first: list[float] = []
    known: list[float] = []
    for _ in range(starts):
        course = Course.paired(rng, activation, m, points(data), sphere=sphere)
        known.append(course.bracket(R)[1] / (eps / 2) if not known else known[0])
        losses, _ = course.descent(rule, alpha, T, rng)
        least.append(min(losses) / eps)
        first.append(next((t for t, value in enumerate(losses) if value <= eps), math.nan))
    return {
        "least/ε": max(least),
        "reached": sum(one <= 1 for one in least) / starts,
        "t εα/R²": max(first) * eps * alpha / R**2,
        "reference": known[0],
        "m": float(m),
        "T": float(T),
    }


def transferred(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, steps: int, radius: float,
    members: int = 9, data: str = "circle", others: tuple[str, ...] = (),
) -> Numbers:  # fmt: skip
    """What training against an attack on the first members of every set leaves: L_A at the end,
    and the exact L_* of whole sets there; the loss under other attacks (random: the mean over the
    members, cycle: the mean over a round), and under 100 steps of ascent on whole caps from
    x and two opposite points of the rim (`pgd-100`).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = transferred(stream(0, "example"), s, "anti", m=64, alpha=1.0, steps=50, radius=0.2)
    >>> told["L_A"] < told["L_*"]
    True
    """
    batch = points(data, radius)
    course = Course.paired(rng, activation, m, batch)
    seen = replace(course, batch=SphereBatch(batch.x, batch.y, batch.options[:, :members]))
    W: Tensor = course.W0
    for t in range(steps):
        W = W - alpha * seen.seen(W, rule, t, rng)[1]
    told = {"L_A": seen.seen(W, rule, steps, rng)[0], "L_*": course.robust(W)}
    return told | {f"under {other}": _left(course, W, other, radius, rng) for other in others}


def _left(course: Course, W: Tensor, other: str, radius: float, rng: Generator) -> float:
    """The loss of weights under an attack that they were not trained against."""
    if other in ("random", "cycle"):
        return float(member_losses(course.network, W, course.batch).mean())
    if other != "pgd-100":
        return course.seen(W, other, 0, rng)[0]
    climbed = CapPGD(radius=radius, steps=100)

    def losses(x: Tensor) -> Tensor:
        return pseudo_huber(course.network.f(W, x), course.batch.y)

    return float(losses(climbed(losses, course.batch, 0, rng)).mean())


def free_and_projected(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, shares: tuple[float, ...]
) -> Numbers:
    """Descents without projection and in balls of shares of the free path's length, T = √m/(cα):
    the least L_A of the free one less that of the projected one, by share; the free path.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = free_and_projected(stream(0, "example"), s, "exact", 64, 0.4, shares=(0.5,))
    >>> told["free − projected"].values[0] < 0 < told["path"]
    True
    """
    course = Course.paired(rng, activation, m, points("circle"))
    T = round(math.sqrt(m) / (float(activation.C2) * alpha))
    W, path, least = course.W0, 0.0, math.inf
    for t in range(T + 1):
        now, g = course.seen(W, rule, t, rng)
        least, path = min(least, now), max(path, float((W - course.W0).norm()))
        W = W - alpha * g
    held = [min(course.descent(rule, alpha, T, rng, share * path)[0]) for share in shares]
    return {
        "free − projected": Along("share", shares, tuple(least - one for one in held)),
        "path": path,
        "least": least,
    }
