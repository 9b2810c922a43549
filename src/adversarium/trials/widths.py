"""§6 of CONV at finite size: the smallest two-layer ReLU networks that descent finds to fit points,
and whole balls about them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize, softplus

from adversarium.rng import normal, uniform
from adversarium.sockets import Numbers

ROUNDING = 1e-9  # of a margin
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


@dataclass(frozen=True)
class _Nets:
    """f(x) = Σ_r a_r relu(⟨w_r, x⟩ + b_r) + c, several of them side by side."""

    W: Tensor  # (S, m, d)
    b: Tensor  # (S, m)
    a: Tensor  # (S, m)
    c: Tensor  # (S,)

    @classmethod
    def drawn(cls, count: int, m: int, d: int, spread: float, rng: Generator) -> "_Nets":
        """Random ones, their kinks among points of that spread."""
        W = normal((count, m, d), rng) / math.sqrt(d)
        b, a = spread * normal((count, m), rng), normal((count, m), rng) / math.sqrt(m)
        return cls(W, b, a, torch.zeros(count, dtype=W.dtype))

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """All that is trained."""
        return self.W, self.b, self.a, self.c

    def inner(self, x: Tensor) -> Tensor:
        """The pre-activations, (…, S, n, m)."""
        return x @ self.W.mT + self.b[:, None]

    def margins(self, x: Tensor, y: Tensor) -> Tensor:
        """y f(x), (…, S, n)."""
        return y * ((torch.relu(self.inner(x)) * self.a[:, None]).sum(-1) + self.c[:, None])

    def proven(self, x: Tensor, y: Tensor) -> Tensor:
        """A lower bound of y f over the unit balls about x, (S, n): every unit between two lines
        over what it can see, and the linear function that they leave."""
        z, size = self.inner(x), self.W.norm(dim=-1)[:, None]
        low, high = z - size, z + size
        kinked, on = (low < 0) & (high > 0), (low >= 0).to(z.dtype)
        chord = torch.where(kinked, high / (2 * size), on)
        under = torch.where(kinked, (high > -low).to(z.dtype), on)
        s = y[:, None] * self.a[:, None]
        slope = torch.where(s > 0, under, chord)
        lift = torch.where((s < 0) & kinked, -chord * low, torch.zeros_like(z))
        centre = (s * (slope * z + lift)).sum(-1) + y * self.c[:, None]
        tilt: Tensor = ((s * slope) @ self.W).norm(dim=-1)
        return centre - tilt

    def attacked(
        self, x: Tensor, y: Tensor, steps: int, starts: int, rng: Generator, units: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The least y f that steepest descents in the unit balls meet, (S, n), and where; with
        `units` they start also where each unit is largest and smallest, which no gradient finds
        while it is off."""
        v = normal((starts, len(self.c), *x.shape), rng)
        v[0] = 0  # the centre
        if units:
            ways = normalize(self.W, dim=-1).movedim(1, 0)[:, :, None].expand(-1, -1, len(x), -1)
            v = torch.cat([v, ways, -ways])
        v = v / v.norm(dim=-1, keepdim=True).clamp_min(1)
        least, place = self.margins(x + v[0], y), v[0]
        for t in range(steps):
            gates = (self.inner(x + v) >= 0).to(x.dtype)
            up = normalize(y[:, None] * ((gates * self.a[:, None]) @ self.W), dim=-1)
            v = v - 0.5 / (1 + 0.2 * t) * up  # after 200 steps 0.012 long
            v = v / v.norm(dim=-1, keepdim=True).clamp_min(1)
            seen, first = self.margins(x + v, y).min(0)
            there = v.gather(0, first[None, ..., None].expand(1, *v.shape[1:]))[0]
            place = torch.where((seen < least)[..., None], there, place)
            least = torch.minimum(least, seen)
        return least, place


def smallest_widths(
    rng: Generator, n: int, d: int, room: float = 1.05, tries: int = 8, steps: int = 1500,
    widths: tuple[int, ...] = WIDTHS,
) -> Numbers:  # fmt: skip
    """n random points of R^d, the nearest two 2·room apart, half of them labelled 1: the smallest
    width at which one of 2·`tries` networks gets every label right at the points (`plain`), and on
    their unit balls (`robust`), half of them trained on a proof, half on attacked points, as far as
    an attack of 20 + 2m starts sees; robust/plain; and whether one of that width is robust by proof
    (`proven`). Descent may miss a smaller network, and where nothing is proven the attack a break.

    >>> from adversarium.rng import stream
    >>> told = smallest_widths(stream(0, "example"), n=4, d=2, tries=2, steps=200)
    >>> 1 <= told["plain"] <= told["robust"]
    True
    """
    if n < 2 or n % 2:
        raise ValueError(f"half of the points have label 1: n needs to be even, got {n}.")
    x = normal((n, d), rng)
    x = (x - x.mean(0)) * (2 * room / torch.pdist(x).min())
    y = (1 - 2 * (torch.arange(n) % 2).double())[uniform((n,), rng).argsort()]
    plain = math.inf
    for m in widths:
        if plain == math.inf and _fitted("plain", x, y, m, 2 * tries, steps, rng):
            plain = m
        proven = _fitted("proven", x, y, m, tries, steps, rng)
        if proven or _fitted("attacked", x, y, m, tries, steps, rng):
            plain = min(plain, m)
            return {"plain": plain, "robust": m, "robust/plain": m / plain, "proven": float(proven)}
    raise ValueError(f"no network of up to {max(widths)} units was found to fit the balls.")


def _fitted(
    kind: str, x: Tensor, y: Tensor, m: int, tries: int, steps: int, rng: Generator
) -> bool:
    """Whether one of the networks of m units, trained as `kind` says, gets there."""
    spread = float(x.norm(dim=-1).mean()) / (2 * math.sqrt(x.shape[1]))
    nets = _Nets.drawn(tries, m, x.shape[1], spread, rng)
    for w in nets.weights:
        w.requires_grad_()
    rule = torch.optim.Adam(nets.weights, lr=0.03)
    seen: dict[str, Callable[[], Tensor]] = {
        "plain": lambda: nets.margins(x, y),
        "attacked": lambda: nets.margins(x + _held(nets, x, y, rng), y),
        "proven": lambda: nets.proven(x, y),
    }
    for t in range(steps):
        margins = seen[kind]()
        looked = t % 50 == 49 and bool((margins.amin(-1) > ROUNDING).any())
        if looked and (kind != "attacked" or _withstands(nets, x, y, rng)):
            return True
        rule.zero_grad()
        torch.autograd.backward(softplus(-4 * margins).mean(-1).sum())
        rule.step()
    return False


@torch.no_grad()
def _withstands(nets: _Nets, x: Tensor, y: Tensor, rng: Generator) -> bool:
    """Whether a long attack breaks one of the networks nowhere."""
    return bool((nets.attacked(x, y, 200, 20, rng, units=True)[0].amin(-1) > 0).any())


@torch.no_grad()
def _held(nets: _Nets, x: Tensor, y: Tensor, rng: Generator) -> Tensor:
    """Where a short attack takes the points, by each network."""
    return nets.attacked(x, y, 5, 2, rng)[1]
