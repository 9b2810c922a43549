"""The loss landscape around points: the largest gradient norm and the largest loss change in balls.

G(ε) = max over ‖ξ‖_∞ ≤ ε of ‖∇_x L(x + ξ)‖₁ and ΔL(ε) = max of L(x + ξ) − L(x), per point, are the
curves of Figures 1 and 2 of CGRM (Figure 2 of CGRO). Every found maximum is a lower bound: “steep”
is proved by any point found, “flat” needs a search that no longer improves when it is doubled.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from adversarium.attacks.balls import Ball
from adversarium.measure.measuring import described
from adversarium.measure.scene import AnyScene
from adversarium.rng import Streams, measuring
from adversarium.shapes import Float
from adversarium.sockets import AnyState, Measure, Recorded, Rows
from adversarium.training.objectives import LOSSES, LossFunction, cross_entropy

PerPoint = Callable[[Tensor], Tensor]
_TINY = 1e-30
VANISHED = 1e-12  # a gradient of smaller l1 norm has vanished


@dataclass(frozen=True)
class Landscape:
    """G and ΔL of every point at increasing radii, the gradient's norm where the loss is largest,
    the loss at the points themselves, and how often ΔL ≤ ε·G is violated."""

    radii: tuple[float, ...]
    gradient: Float[Tensor, "*S n r"]
    change: Float[Tensor, "*S n r"]
    at_largest_loss: Float[Tensor, "*S n r"]
    clean: Float[Tensor, "*S n"]
    at_point: Float[Tensor, "*S n"]  # ‖∇L(x)‖₁

    @property
    def vanished(self) -> Tensor:
        """The share of points at which the gradient is too small for an attack to follow."""
        return (self.at_point < VANISHED).double().mean(-1)

    @property
    def missed(self) -> Tensor:
        """The share of points and radii at which ΔL > ε·G: there the search for G is too weak,
        because by the mean value theorem no loss changes by more."""
        bound = self.gradient * torch.tensor(self.radii).to(self.gradient)
        return (self.change > bound * (1 + 1e-4) + 1e-9).double().mean((-1, -2))


def loss_gradient(loss: PerPoint, x: Tensor, keep: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss of every point, its gradient in x, and the copy of x that both depend on;
    with `keep`, the gradient can be differentiated once more.

    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> loss_gradient(lambda z: (z**2).sum(-1) / 2, x)[1]
    tensor([[1., 2.],
            [3., 4.]])
    """
    with torch.enable_grad():
        z = x.detach().requires_grad_(True)
        values = loss(z)
        (g,) = torch.autograd.grad(values.sum(), z, create_graph=keep)
        return values, g, z


def l1_norm(g: Tensor, lead: int) -> Tensor:
    """Return the l1 norm of every point's gradient; `lead` axes count the points."""
    return g.flatten(lead).abs().sum(-1)


def loss_landscape(
    f: Callable[[Tensor], Tensor],
    x: Tensor,
    y: Tensor,
    radii: Sequence[float],
    rng: Streams,
    *,
    loss: LossFunction = cross_entropy,
    steps: int = 20,
    starts: int = 4,
    box: tuple[float, float] | None = (0.0, 1.0),
) -> Landscape:
    """Search G and ΔL at increasing radii for a classifier f, for example an nn.Module in
    evaluation mode.

    From every start, half of the steps climb the loss and half climb log ‖∇L‖₁ (a second
    derivative), by sign steps of falling size. At each radius the best points of the radius before
    it are starts, so both curves never fall. All starts are evaluated together.

    >>> from adversarium.rng import stream
    >>> f, x, y = (lambda x: 2 * x[:, 0]), torch.zeros(1, 1), torch.ones(1)
    >>> found = loss_landscape(f, x, y, (0.0, 0.5), stream(0, "search"), box=None)
    >>> found.gradient.round(decimals=3)  # 2σ(0), and 2σ(1) at x = −½
    tensor([[1.0000, 1.4620]])
    """
    if list(radii) != sorted(set(radii)) or any(radius < 0 for radius in radii):
        raise ValueError(f"a landscape needs increasing radii >= 0, got {tuple(radii)}.")
    lead = y.ndim
    every_y = torch.cat([y] * starts, lead - 1)
    values, g, _ = loss_gradient(lambda z: loss(f(z), y), x)
    clean = values.detach()
    norm0 = l1_norm(g, lead)
    steepest, highest = x.clone(), x.clone()
    best, change, there = norm0, torch.zeros_like(norm0), norm0
    gradients, changes, theres = [], [], []

    def seen(every: Sequence[Tensor]) -> None:
        nonlocal best, change, there, steepest, highest
        pieces = [torch.chunk(v.detach(), starts, lead - 1) for v in every]
        for z, values, norm in zip(*pieces, strict=True):
            up, rise = norm > best, values - clean > change
            best, change = torch.where(up, norm, best), torch.where(rise, values - clean, change)
            steepest = torch.where(_wide(up, x), z, steepest)
            there = torch.where(rise, norm, there)
            highest = torch.where(_wide(rise, x), z, highest)

    for radius in radii:
        ball = Ball(math.inf, radius, box)
        if radius > 0:
            begin = [
                (highest, steepest)[i] if i < 2 else ball.sample(x, lead, rng)
                for i in range(starts)
            ]
            centre = torch.cat([x] * starts, lead - 1)
            z = torch.cat(begin, lead - 1)
            _ascend(lambda z: loss(f(z), every_y), ball, centre, z, lead, steps, seen)
        gradients.append(best)
        changes.append(change)
        theres.append(there)
    G, dL, norms = (torch.stack(one, dim=-1) for one in (gradients, changes, theres))
    return Landscape(tuple(radii), G, dL, norms, clean, norm0)


def _ascend(
    loss: PerPoint,
    ball: Ball,
    x: Tensor,
    z: Tensor,
    lead: int,
    steps: int,
    seen: Callable[[Sequence[Tensor]], None],
) -> None:
    """Climb the loss, then the logarithm of the gradient's norm, and report every point with its
    loss and its norm."""
    half = steps // 2
    for k in range(steps + 1):
        slow = half <= k < steps  # the second half climbs the norm
        values, g, at = loss_gradient(loss, z, keep=slow)
        norm = l1_norm(g, lead)
        seen((at, values, norm))
        if k == steps:
            return
        if slow and g.requires_grad:
            with torch.enable_grad():
                (g,) = torch.autograd.grad((norm + _TINY).log().sum(), at)
        done = (k - half) / (steps - half) if slow else k / max(half, 1)
        step = (1 - done) * ball.radius / 2
        z = ball.project(x, at.detach() + step * g.detach().sign(), lead)


def _wide(flag: Tensor, x: Tensor) -> Tensor:
    return flag.view(*flag.shape, *[1] * (x.ndim - flag.ndim))


def slope_between(
    radii: Sequence[float], curve: Float[Tensor, "*S n r"], low: float, high: float
) -> Float[Tensor, "*S n"]:
    """Return the least-squares slope of every curve over the radii in [low, high].

    >>> radii = (0.0, 1.0, 2.0, 3.0)
    >>> slope_between(radii, torch.tensor([[0.0, 2.0, 4.0, 9.0]]), 0.0, 2.0)
    tensor([2.])
    """
    inside = [i for i, r in enumerate(radii) if low - 1e-9 <= r <= high + 1e-9]
    if len(inside) < 2:
        raise ValueError(f"a slope needs two radii between {low:g} and {high:g}, got {len(inside)}")
    r = torch.tensor([radii[i] for i in inside]).to(curve)
    y = curve[..., inside]
    r = r - r.mean()
    return (y * r).sum(-1) / r.square().sum()


def bend(
    radii: Sequence[float],
    curve: Float[Tensor, "*S n r"],
    radius: float,
    begin: float = 0.0,
) -> Float[Tensor, "*S n"]:
    """Return Π of every point: the slope of its curve just outside a radius, [1, 1.25]·radius, over
    the slope inside, [begin, 0.75]·radius. For log G, a linear classifier of two classes has Π ≤ 1;
    with more classes it can have more.

    >>> radii = [i / 8 for i in range(11)]
    >>> bent = torch.tensor([[r if r <= 1 else 1 + 3 * (r - 1) for r in radii]])
    >>> bend(radii, bent, 1.0)
    tensor([3.])
    """
    inside = slope_between(radii, curve, begin * radius, 0.75 * radius)
    return slope_between(radii, curve, radius, 1.25 * radius) / inside.clamp_min(_TINY)


def position(
    radii: Sequence[float], curve: Float[Tensor, "*S n r"], radius: float
) -> Float[Tensor, "*S n"]:
    """Return where the curve of every point is steepest, relative to a radius: the middle of the
    interval between radii that has the largest slope."""
    r = torch.tensor(list(radii)).to(curve)
    slopes = curve.diff(dim=-1) / r.diff()
    middle: Tensor = (r[1:] + r[:-1]) / 2 / radius
    return middle[slopes.argmax(-1)]


def carriers(values: Float[Tensor, "*S n"], share: float = 0.9) -> Float[Tensor, "*S"]:
    """Return the smallest share of points that together hold `share` of the sum.

    >>> carriers(torch.tensor([[0.0, 9.0, 0.0, 1.0]]))
    tensor([0.2500], dtype=torch.float64)
    """
    ordered = values.double().sort(dim=-1, descending=True).values
    held = ordered.cumsum(-1) / ordered.sum(-1, keepdim=True).clamp_min(_TINY)
    needed = (held < share - 1e-12).sum(-1) + 1
    return needed.double() / values.shape[-1]


EIGHTHS = tuple(i / 8 for i in range(17))  # radii relative to the training radius


@dataclass(frozen=True, kw_only=True)
class LandscapeProbe:
    """The loss landscape around n training or test points, up to twice the radius `epsilon`, on a
    grid of an eighth of it; of the cross-entropy, or of the margin (`logit_difference`).

    It records, per seed and by radius: G and ΔL averaged over points, the mean of log G, the mean
    gradient norm where the loss is largest, and the part of the mean G that belongs to the “fitted”
    points: those of which the search within `epsilon` found no probability of the true class below
    ½. At `epsilon`: the median bend of log G and of ΔL, the smallest share of points that hold 90 %
    of G, and the share of fitted points. Also the median position of the steepest rise of log G,
    the share of points whose gradient has vanished, and the share of points and radii where
    ΔL > ε·G, so that the search was too weak.

    >>> [m.name for m in LandscapeProbe(epsilon=0.1).measures][:3]
    ['train_gradient_norm', 'train_log_gradient_norm', 'train_loss_change']
    """

    on: Literal["train", "test"] = "train"
    n: int = 150
    epsilon: float
    grid: tuple[float, ...] = EIGHTHS
    steps: int = 20
    starts: int = 4
    box: tuple[float, float] | None = (0.0, 1.0)
    name: str = ""
    loss: Literal["cross_entropy", "logit_difference"] = "cross_entropy"

    version = 3  # 3: G of the fitted points at every radius, vanished gradients

    def __post_init__(self) -> None:
        if self.on not in ("train", "test") or not self.epsilon > 0 or self.n < 1:
            raise ValueError(
                "LandscapeProbe needs on='train' or 'test', epsilon > 0 and n >= 1, got "
                f"on={self.on!r}, epsilon={self.epsilon}, n={self.n}."
            )

    @property
    def _prefix(self) -> str:
        return self.name or self.on

    @property
    def _bends(self) -> bool:
        """Whether the radii reach far enough beyond `epsilon` for a bend there."""
        return max(self.grid) >= 1.25

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The descriptions of the recorded quantities."""
        where = "training" if self.on == "train" else "test"
        curves = {
            f"{self._prefix}_gradient_norm": "$G(\\varepsilon)$",
            f"{self._prefix}_log_gradient_norm": "mean of $\\log G(\\varepsilon)$",
            f"{self._prefix}_loss_change": "$\\Delta L(\\varepsilon)$",
            f"{self._prefix}_norm_at_largest_loss": "$\\|\\nabla L\\|_1$ at the largest loss",
            f"{self._prefix}_fitted_norm": "part of $G(\\varepsilon)$ in the fitted points",
        }
        wide = {
            f"{self._prefix}_bend": "median $\\Pi_i$ of $\\log G$",
            f"{self._prefix}_change_bend": "median $\\Pi_i$ of $\\Delta L$",
            f"{self._prefix}_bend_position": "steepest rise of $\\log G$, in units of ε₀",
        }
        numbers = {
            **(wide if self._bends else {}),
            f"{self._prefix}_missed": "share with $\\Delta L > \\varepsilon G$",
            f"{self._prefix}_carriers": "share of points that hold 90 % of $G(\\varepsilon_0)$",
            f"{self._prefix}_fitted": "share of points fitted at ε₀",
            f"{self._prefix}_vanished": "share of points with a vanished gradient",
        }
        doc = f"The loss landscape around {where} points, largest values found in balls."
        return (
            *described(curves, doc, axes=("radius",)),
            *described(numbers, doc),
        )

    def __call__(self, state: AnyState, scene: AnyScene) -> Rows:
        batch = scene.train if self.on == "train" else scene.test(self.n)
        x, y = batch.x[:, : self.n], batch.y[:, : self.n]
        network, W = scene.network, state.full.W
        rng = measuring(scene.problem.seeds, state.t, self)
        radii = tuple(self.epsilon * share for share in self.grid)
        found = loss_landscape(
            lambda z: network.f(W, z), x, y, radii, rng,
            loss=LOSSES[self.loss], steps=self.steps, starts=self.starts, box=self.box,
        )  # fmt: skip
        logs = (found.gradient + _TINY).log()
        at = {"radius": self.grid}
        norm, fitted = self._at_radius(found)
        values: tuple[Tensor | Recorded, ...] = (
            Recorded(found.gradient.mean(1), at=at),
            Recorded(logs.mean(1), at=at),
            Recorded(found.change.mean(1), at=at),
            Recorded(found.at_largest_loss.mean(1), at=at),
            Recorded((found.gradient * fitted[..., None]).mean(1), at=at),
            *(self._bent(logs, found.change) if self._bends else ()), found.missed,
            carriers(norm), fitted.double().mean(-1), found.vanished,
        )  # fmt: skip
        return {m.name: value for m, value in zip(self.measures, values, strict=True)}

    def _bent(self, logs: Tensor, change: Tensor) -> tuple[Tensor, ...]:
        """Return the medians over points: bend of log G, bend of ΔL, position of log G."""
        of_change = bend(self.grid, change, 1.0, 0.25)
        every = (bend(self.grid, logs, 1.0), of_change, position(self.grid, logs, 1.0))
        return tuple(one.median(-1).values for one in every)

    def _at_radius(self, found: Landscape) -> tuple[Tensor, Tensor]:
        """Return G of every point at the grid's radius nearest to `epsilon`, and whether the point
        is fitted there: the largest loss found is below log 2, or below 0 for the margin."""
        place = min(range(len(self.grid)), key=lambda i: abs(self.grid[i] - 1))
        worst = found.clean + found.change[..., place]
        limit = math.log(2) if self.loss == "cross_entropy" else 0.0
        return found.gradient[..., place], worst < limit
