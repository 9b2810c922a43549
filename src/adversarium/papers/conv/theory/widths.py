"""§6 of CONV at finite size: the smallest two-layer ReLU networks that fit points or entire balls.

Gradient descent searches for the networks, so the widths are those that it finds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize, softplus

from adversarium.rng import normal, uniform
from adversarium.sockets import Numbers

ROUNDING = 1e-9  # margins below this count as rounding errors
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


@dataclass(frozen=True)
class _Nets:
    """Several networks f(x) = Σ_r a_r relu(⟨w_r, x⟩ + b_r) + c, stacked along the first axis."""

    W: Tensor  # (S, m, d)
    b: Tensor  # (S, m)
    a: Tensor  # (S, m)
    c: Tensor  # (S,)

    @classmethod
    def drawn(cls, count: int, m: int, d: int, spread: float, rng: Generator) -> "_Nets":
        """Draw random networks whose kinks lie among points of the given spread."""
        W = normal((count, m, d), rng) / math.sqrt(d)
        b, a = spread * normal((count, m), rng), normal((count, m), rng) / math.sqrt(m)
        return cls(W, b, a, torch.zeros(count, dtype=W.dtype))

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """All trained weights."""
        return self.W, self.b, self.a, self.c

    def inner(self, x: Tensor) -> Tensor:
        """Return the pre-activations, (…, S, n, m)."""
        return x @ self.W.mT + self.b[:, None]

    def margins(self, x: Tensor, y: Tensor) -> Tensor:
        """y f(x), (…, S, n)."""
        return y * ((torch.relu(self.inner(x)) * self.a[:, None]).sum(-1) + self.c[:, None])

    def proven(self, x: Tensor, y: Tensor) -> Tensor:
        """Return a lower bound of y f over the unit balls around x, (S, n).

        Every unit is bounded by two lines over the range of its input; what remains is a linear
        function.
        """
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
        """Return the smallest y f that steepest descents in the unit balls find, and its position.

        With `units`, descents also start where each unit is largest and smallest. A gradient does
        not find these points while the unit is inactive.
        """
        v = normal((starts, len(self.c), *x.shape), rng)
        v[0] = 0  # the centre
        if units:
            directions = (
                normalize(self.W, dim=-1).movedim(1, 0)[:, :, None].expand(-1, -1, len(x), -1)
            )
            v = torch.cat([v, directions, -directions])
        v = v / v.norm(dim=-1, keepdim=True).clamp_min(1)
        least, best = self.margins(x + v[0], y), v[0]
        for t in range(steps):
            gates = (self.inner(x + v) >= 0).to(x.dtype)
            up = normalize(y[:, None] * ((gates * self.a[:, None]) @ self.W), dim=-1)
            v = v - 0.5 / (1 + 0.2 * t) * up  # step 200 has length 0.012
            v = v / v.norm(dim=-1, keepdim=True).clamp_min(1)
            margins, first = self.margins(x + v, y).min(0)
            candidate = v.gather(0, first[None, ..., None].expand(1, *v.shape[1:]))[0]
            best = torch.where((margins < least)[..., None], candidate, best)
            least = torch.minimum(least, margins)
        return least, best


def smallest_widths(
    rng: Generator, n: int, d: int, room: float = 1.05, tries: int = 8, steps: int = 1500,
    widths: tuple[int, ...] = WIDTHS,
) -> Numbers:  # fmt: skip
    """Find the smallest widths that fit n random points of R^d, and the unit balls around them.

    The two nearest points are 2·room apart, and half of the points have label 1. At every width,
    2·`tries` networks are trained. For `robust`, half of them are trained on a certified bound and
    half on attacked points; the latter must withstand an attack from 20 + 2m starts. Descent may
    miss a smaller network, and an attack may miss a misclassified point.

    - `plain`: the smallest width at which a network fits the points.
    - `robust`: the smallest width at which a network fits the balls. `robust/plain`: their
      quotient.
    - `proven`: 1 if a network of that width is certified to fit the balls, else 0.

    >>> from adversarium.rng import stream
    >>> numbers = smallest_widths(stream(0, "example"), n=4, d=2, tries=2, steps=200)
    >>> 1 <= numbers["plain"] <= numbers["robust"]
    True
    """
    if n < 2 or n % 2:
        raise ValueError(f"half of the points have label 1, so n >= 2 must be even, got {n}.")
    x = normal((n, d), rng)
    x = (x - x.mean(0)) * (2 * room / torch.pdist(x).min())
    y = (1 - 2 * (torch.arange(n) % 2).double())[uniform((n,), rng).argsort()]
    plain = math.inf
    for m in widths:
        if plain == math.inf and _some_network_fits("plain", x, y, m, 2 * tries, steps, rng):
            plain = m
        proven = _some_network_fits("proven", x, y, m, tries, steps, rng)
        if proven or _some_network_fits("attacked", x, y, m, tries, steps, rng):
            plain = min(plain, m)
            return {"plain": plain, "robust": m, "robust/plain": m / plain, "proven": float(proven)}
    raise ValueError(
        f"no network of up to {max(widths)} units fits the balls; try larger widths or more steps."
    )


def _some_network_fits(
    kind: str, x: Tensor, y: Tensor, m: int, tries: int, steps: int, rng: Generator
) -> bool:
    """Return whether one of `tries` networks of m units, trained as `kind` says, fits the data."""
    spread = float(x.norm(dim=-1).mean()) / (2 * math.sqrt(x.shape[1]))
    nets = _Nets.drawn(tries, m, x.shape[1], spread, rng)
    for w in nets.weights:
        w.requires_grad_()
    optimiser = torch.optim.Adam(nets.weights, lr=0.03)
    margins_of: dict[str, Callable[[], Tensor]] = {
        "plain": lambda: nets.margins(x, y),
        "attacked": lambda: nets.margins(x + _attack_moves(nets, x, y, rng), y),
        "proven": lambda: nets.proven(x, y),
    }
    for t in range(steps):
        margins = margins_of[kind]()
        fits = t % 50 == 49 and bool((margins.amin(-1) > ROUNDING).any())
        if fits and (kind != "attacked" or _some_network_withstands(nets, x, y, rng)):
            return True
        optimiser.zero_grad()
        torch.autograd.backward(softplus(-4 * margins).mean(-1).sum())
        optimiser.step()
    return False


@torch.no_grad()
def _some_network_withstands(nets: _Nets, x: Tensor, y: Tensor, rng: Generator) -> bool:
    """Return whether a long attack fails against at least one of the networks."""
    return bool((nets.attacked(x, y, 200, 20, rng, units=True)[0].amin(-1) > 0).any())


@torch.no_grad()
def _attack_moves(nets: _Nets, x: Tensor, y: Tensor, rng: Generator) -> Tensor:
    """Return the moves of all points by a short attack, for each network."""
    return nets.attacked(x, y, 5, 2, rng)[1]
