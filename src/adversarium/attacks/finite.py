"""Attacks on finite perturbation sets, and on the corners of an l_inf cell. By Def. 3.2 of CONV any
map into B(x) is an attack.

B(x) is `batch.options`, (*batch, K, d), whose first member is x itself. Because CONV's Theorem 5.1
covers every such map, there are weak, random and discontinuous attacks next to strong ones.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, get_type_hints, runtime_checkable

import torch
from torch import Tensor

from adversarium.attacks.balls import InBall
from adversarium.attacks.best import Best
from adversarium.attacks.gradient import climb
from adversarium.rng import Streams, integers
from adversarium.sockets import Loss, Points


@runtime_checkable
class _WithOptions(Points, Protocol):
    @property
    def options(self) -> Tensor: ...


_NOISE = 1e-12  # smaller gains are rounding errors of a vanishing gradient


def option_losses(loss: Loss, options: Tensor) -> Tensor:
    """Return the loss of every member of every set, (*batch, K)."""
    return torch.stack([loss(options[..., j, :]) for j in range(options.shape[-2])], dim=-1)


def chosen(options: Tensor, index: Tensor) -> Tensor:
    """Return the member with the given index of every set."""
    where = index[..., None, None].expand(*index.shape, 1, options.shape[-1])
    return options.gather(-2, where).squeeze(-2)


def _steepest(loss: Loss, at: Tensor, options: Tensor) -> Tensor:
    """Return the index of the member with the largest gain of the loss linearised at a point, or 0
    if the loss is flat: at a symmetric initialisation the gradient is only rounding error."""
    _, g = climb(loss, at)
    gain = ((options - at[..., None, :]) * g[..., None, :]).sum(-1)
    return torch.where(gain.abs() > _NOISE, gain, 0.0).argmax(-1)


@dataclass(frozen=True, kw_only=True)
class FiniteAttack:
    """One member of B(x), chosen by a named rule, §3 of CONV.

    exact: the maximiser A*; anti: the minimiser; random: a new draw at each call; cycle: member t
    mod K; fgsm: the maximiser of the linearised loss (x if it is flat); pgd: the best of x and
    `tries` such steps, each from the previous member; worst_of: the best of `tries` random members;
    switch: the last member if the loss at x exceeds `level`, else x (discontinuous in W).

    >>> from adversarium.data import SpherePoints
    >>> from adversarium.rng import stream
    >>> batch = SpherePoints(K=4).sample(2, stream(0, "train"))
    >>> moved = FiniteAttack(rule="cycle")(lambda x: x.sum(-1), batch, 7, stream(0, "attack"))
    >>> torch.equal(moved, batch.options[:, 3])
    True
    """

    rule: Literal["exact", "anti", "random", "cycle", "fgsm", "pgd", "worst_of", "switch"] = "exact"
    tries: int = 3
    level: float = 0.3
    loss: str = "risk"

    def __post_init__(self) -> None:
        if self.rule not in (known := get_args(get_type_hints(FiniteAttack)["rule"])):
            raise ValueError(
                f"FiniteAttack needs one of the rules {', '.join(known)}, got {self.rule!r}."
            )

    @property
    def version(self) -> int:
        """Return 2 for fgsm, which now ignores gains of the size of rounding errors, else 1."""
        return 2 if self.rule == "fgsm" else 1

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        if not isinstance(batch, _WithOptions):
            raise TypeError(
                "FiniteAttack needs data with finite perturbation sets (SpherePoints), got "
                f"{type(batch).__name__}."
            )
        return chosen(batch.options, self._index(loss, batch.x, batch.options, t, rng))

    def _index(self, loss: Loss, x: Tensor, options: Tensor, t: int, rng: Streams) -> Tensor:
        *shape, K, _ = options.shape
        match self.rule:
            case "exact":
                return option_losses(loss, options).argmax(-1)
            case "anti":
                return option_losses(loss, options).argmin(-1)
            case "random":
                return integers(K, shape, rng).to(x.device)
            case "cycle":
                return torch.full(shape, t % K, device=x.device)
            case "fgsm":
                return _steepest(loss, x, options)
            case "pgd":
                met = [torch.zeros(shape, dtype=torch.long, device=x.device)]
                for _ in range(self.tries):
                    met.append(_steepest(loss, chosen(options, met[-1]), options))
                ways = torch.stack(met, -1)
                best = option_losses(loss, options).gather(-1, ways).argmax(-1, keepdim=True)
                return ways.gather(-1, best).squeeze(-1)
            case "worst_of":
                tries = integers(K, (*shape, self.tries), rng).to(x.device)
                best = option_losses(loss, options).gather(-1, tries).argmax(-1, keepdim=True)
                return tries.gather(-1, best).squeeze(-1)
            case "switch":
                return torch.where(loss(x) > self.level, K - 1, 0)


@dataclass(frozen=True, kw_only=True)
class Corners(InBall):
    """The corner of the l_inf cell about x with the largest loss, of all 2^D, D ≤ 12; no gradient.

    >>> from adversarium.data import Clusters
    >>> from adversarium.rng import stream
    >>> batch = Clusters(d=2, mu=1.0).sample(3, stream(0, "train"))
    >>> moved = Corners(radius=0.5)(lambda x: x.sum(-1), batch, 0, stream(0, "attack"))
    >>> torch.equal(moved, batch.x + 0.5)
    True
    """

    p = math.inf
    box = None

    radius: float
    loss: str = "logit_difference"

    def __post_init__(self) -> None:
        super().__post_init__()

    def __call__(self, loss: Loss, batch: Points, t: int, rng: Streams) -> Tensor:
        x = batch.x
        self.ball.check(x)
        best = Best(x, loss(x).detach())
        event = x.shape[best.height.ndim :]
        D = math.prod(event)
        if D > 12:
            raise ValueError(f"Corners needs at most 12 coordinates, got {D}.")
        for signs in itertools.product((-1.0, 1.0), repeat=D):
            z = x + self.radius * torch.tensor(signs).to(x).view(event)
            best = best.offer(z, loss(z).detach())
        return best.x
