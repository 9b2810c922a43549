"""Descents of CONV's two-layer network against the best weights of a ball: Theorem 5.1, its second
case, Corollary 5.1; what a weak attack leaves open.

The best of B(R) lies between certified ends: linearised at W_0 the robust loss is convex, and
f misses its linearisation by at most C2 R²/(2√m) in the ball.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.attacks import FiniteAttack
from adversarium.attacks.finite import option_losses
from adversarium.data import SphereBatch, SpherePoints
from adversarium.data.sphere import half_angle
from adversarium.networks import TwoLayer
from adversarium.rng import normal, stream
from adversarium.sockets import Along, Numbers
from adversarium.solvers import robust_optimum
from adversarium.training.objectives import LOSSES

ANGLES = (12.0, -82.0, 72.0, 146.0)  # of the circle's points, in degrees


def points(name: str, radius: float = 0.2) -> SphereBatch:
    """A fixed set: four arcs of a circle with labels + − + − ("circle"), eight caps in R⁵, ten in
    R¹⁰.

    >>> batch = points("circle")
    >>> tuple(batch.options.shape), torch.equal(batch.options[:, 0], batch.x)
    ((4, 9, 2), True)
    """
    if name == "circle":
        reach = half_angle(radius) * torch.tensor([0, -1, 1, -0.75, 0.75, -0.5, 0.5, -0.25, 0.25])
        angle = torch.deg2rad(torch.tensor(ANGLES)).double()[:, None] + reach.double()
        options = torch.stack([angle.cos(), angle.sin()], -1)
        return SphereBatch(options[:, 0], torch.tensor([1.0, -1.0, 1.0, -1.0]).double(), options)
    d, n, wide = {"d = 5": (5, 8, 0.3), "d = 10": (10, 10, 0.5)}[name]
    return SpherePoints(d=d, radius=wide, K=12).sample(n, stream(0, name))


@dataclass(frozen=True)
class Course:
    """A network with its start, on points under a loss."""

    network: TwoLayer
    W0: Tensor
    batch: SphereBatch
    loss: str = "pseudo_huber"

    @classmethod
    def drawn(
        cls, rng: Generator, activation: Any, m: int, batch: SphereBatch, loss: str, sphere: bool
    ) -> "Course":
        """Paired weights, normal or uniform on the sphere of radius √d (footnote 13)."""
        d = batch.x.shape[-1]
        half = normal((m // 2, d), rng)
        if sphere:
            half = math.sqrt(d) * torch.nn.functional.normalize(half, dim=1)
        return cls(TwoLayer(m=m, activation=activation), torch.cat([half, half]), batch, loss)

    @property
    def c(self) -> float:
        """Lip·C2, with Lip = 1."""
        return float(self.network.activation.C2)

    @property
    def size(self) -> float:
        """√m."""
        return math.sqrt(self.network.m)

    @cached_property
    def _features(self) -> Tensor:
        """∇f(W_0, x') of every member of every set, (n·K, m·d)."""
        x = self.batch.options.flatten(0, 1)
        a = torch.ones(self.network.m, dtype=x.dtype)
        a[self.network.m // 2 :] = -1
        slopes = a * self.network.activation.slope(x @ self.W0.T) / self.size
        return (slopes[..., None] * x[:, None]).flatten(1)

    @cached_property
    def _gram(self) -> Tensor:
        return self._features @ self._features.T

    def bracket(self, R: float) -> tuple[float, float, Tensor]:
        """Between which numbers min over B(R) of L_* lies, and weights of B(R) that have the
        upper one."""
        told = robust_optimum(self._gram, self.batch.y, R, LOSSES[self.loss])
        move = (told.coefficients.flatten() @ self._features).view_as(self.W0)
        W = self.W0 + move * min(1.0, R / max(float(move.norm()), 1e-300))
        return told.low - self.c * R**2 / (2 * self.size), self.robust(W), W

    def robust(self, W: Tensor) -> float:
        """L_*(W), exact."""
        told = option_losses(lambda x: self._losses(W, x), self.batch.options)
        return float(told.amax(-1).mean())

    def _losses(self, W: Tensor, x: Tensor) -> Tensor:
        return LOSSES[self.loss](self.network.f(W, x), self.batch.y)

    def seen(self, W: Tensor, rule: str, t: int, rng: Generator) -> tuple[float, Tensor]:
        """L_A(W) and its gradient, the attack's points held."""
        x = self.batch.x
        if rule != "identity":
            attack = FiniteAttack(rule=rule)  # type: ignore[arg-type]
            x = attack(lambda at: self._losses(W, at), self.batch, t, rng)
        g, loss = torch.func.grad_and_value(lambda V: self._losses(V, x).mean())(W)
        return float(loss), g


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
    """Theorem 5.1 of CONV after T = √m/(cα) steps, by R: the least L_A of t = 1 … T, less the
    certified lower end of the optimum, in units of ε = αG²/2 + cR²/(2√m(1 − 1/S_T)); the same of
    t = 0 … T − 1; by how much ε is below what the start has to gain (else it says nothing).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = converging(stream(0, "example"), s, "exact", m=64, alpha=0.4, radii=(1.0,))
    >>> 0 < told["gap/ε"].values[0] <= 1
    True
    """
    course = Course.drawn(rng, activation, m, points(data), loss, sphere)
    c, size, W = course.c, course.size, course.W0
    T = round(size / (c * alpha))
    losses, G = [], 0.0
    for t in range(T + 1):
        now, g = course.seen(W, rule, t, rng)
        losses.append(now)
        if t < T:
            G = max(G, float(g.norm()))
            W = W - alpha * g
    growth = (1 + c * alpha / size) ** T
    rows: dict[str, list[float]] = {"gap/ε": [], "gap/ε, proved": [], "room": [], "bracket": []}
    for R in radii:
        low, high, _ = course.bracket(R)
        eps = alpha * G**2 / 2 + c * R**2 / (2 * size * (1 - 1 / growth))
        rows["gap/ε"].append((min(losses[1:]) - low) / eps)
        rows["gap/ε, proved"].append((min(losses[:T]) - low) / eps)
        rows["room"].append(losses[0] - high - eps)
        rows["bracket"].append(high - low)
    return {name: Along("R", radii, tuple(values)) for name, values in rows.items()}


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
    course = Course.drawn(rng, activation, m, points("circle"), "pseudo_huber", sphere=False)
    c, size, W = course.c, course.size, course.W0
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
    """Certified ends of min over B(R) of L_* by R, Remark after Theorem 4.1 of CONV; and the upper
    end of every R but the first less the lower end of the one before.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> radii_compared(stream(0, "example"), s, m=1024, radii=(0.5, 1.0))["step"].values[0] < 0
    True
    """
    course = Course.drawn(rng, activation, m, points("circle"), "pseudo_huber", sphere=False)
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
    """One point with B = {e_1 … e_K}, y = 1: the first t with L_A ≤ ε, in units of R²/(εα), where
    R² = K f²/κ(1) is exact, f being the output that has loss ε.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = orthogonal_times(stream(0, "example"), s, "cycle", 4, m=256, alpha=0.05, eps=0.2)
    >>> 0 < told["t εα/R²"] < 2
    True
    """
    options = torch.eye(K, dtype=torch.float64)[None]
    batch = SphereBatch(options[:, 0], torch.ones(1, dtype=torch.float64), options)
    course = Course.drawn(rng, activation, m, batch, "pseudo_huber", sphere=False)
    output = 1 - math.sqrt((1 + eps) ** 2 - 1)  # of loss ε
    kernel = float(course._gram.diagonal().mean())
    R2, W, t = K * output**2 / kernel, course.W0, 0
    most = math.ceil(20 * R2 / (eps * alpha))
    while t < most:
        seen = min(course.seen(W, rule, s, rng)[0] for s in range(t, t + 1))
        if seen <= eps and (rule != "cycle" or course.robust(W) <= eps):
            break
        W, t = W - alpha * course.seen(W, rule, t, rng)[1], t + 1
    return {"t εα/R²": t * eps * alpha / R2, "R²": R2, "reached": float(t < most)}


def reaching(rng: Generator, activation: Any, rule: str, eps: float) -> Numbers:
    """Corollary 5.1 of CONV with explicit constants on the circle: R such that weights of B(R) have
    L_* ≤ ε/2 (found at width 4096), α = ε/2, m = (2.51cR²/ε)², T = 4R²/(εα): the least L_A in units
    of ε, and the first time that it is at most ε in units of R²/(εα).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = reaching(stream(0, "example"), SmoothedReLU(b=2.0), "exact", eps=0.4)
    >>> told["least/ε"] <= 1
    True
    """
    batch, alpha = points("circle"), eps / 2
    wide = Course.drawn(stream(0, "radius"), activation, 4096, batch, "pseudo_huber", sphere=False)
    low, high = 0.5, 16.0
    for _ in range(8):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if wide.bracket(middle)[1] <= eps / 2 else (middle, high)
    R = high
    m = 2 * math.ceil((2.51 * wide.c * R**2 / eps) ** 2 / 2)
    course = Course.drawn(rng, activation, m, batch, "pseudo_huber", sphere=False)
    T, W, least, first = math.ceil(4 * R**2 / (eps * alpha)), course.W0, math.inf, math.nan
    for t in range(T):
        now, g = course.seen(W, rule, t, rng)
        least = min(least, now)
        if now <= eps and math.isnan(first):
            first = t
        W = W - alpha * g
    return {"least/ε": least / eps, "t εα/R²": first * eps * alpha / R**2, "R": R, "m": float(m)}


def transferred(
    rng: Generator, activation: Any, rule: str, m: int, alpha: float, steps: int, radius: float
) -> Numbers:
    """What training against an attack leaves: L_A at the end, and the exact L_* there.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = transferred(stream(0, "example"), s, "anti", m=64, alpha=1.0, steps=50, radius=0.2)
    >>> told["L_A"] < told["L_*"]
    True
    """
    batch = points("circle", radius)
    course = Course.drawn(rng, activation, m, batch, "pseudo_huber", sphere=False)
    W = course.W0
    for t in range(steps):
        W = W - alpha * course.seen(W, rule, t, rng)[1]
    return {"L_A": course.seen(W, rule, steps, rng)[0], "L_*": course.robust(W)}
