"""Eqs. (16) and (17) of CONV with explicit constants, seen at every step of a descent."""

import math

import torch
from torch import Tensor

from adversarium.sockets import Along


class Largest:
    """The largest value that was seen, by place, and its step.

    >>> largest = Largest(2)
    >>> for t, values in enumerate(([1.0, 5.0], [3.0, 4.0])):
    ...     largest.see(torch.tensor(values), t)
    >>> largest.value.tolist(), largest.step.tolist()
    ([3.0, 5.0], [1.0, 0.0])
    """

    def __init__(self, places: int):
        self.value = torch.full((places,), -math.inf, dtype=torch.float64)
        self.step = torch.full((places,), math.nan, dtype=torch.float64)

    def see(self, values: Tensor, t: int) -> None:
        """One more step; what is not a number is the largest, and stays."""
        larger = ~(values <= self.value) & ~self.value.isnan()
        self.value = torch.where(larger, values, self.value)
        self.step = torch.where(larger, float(t), self.step)


class Regret:
    """A descent W_{t+1} = W_t − α∇L_A(W_t) against weights V with their L_*(V): left less right
    side of

    (16) |W_{t+1} − V|² ≤ (1 + cα/√m)|W_t − V|² + 2α(L_*(V) − L_A(W_t)) + α²|∇L_A(W_t)|²,
    (17) min_{s ≤ t} L_A(W_s) − L_*(V) ≤ αG²/2 + c(|W_0 − V|² − |W_{t+1} − V|²/S)/(2√m(1 − 1/S)),

    S = (1 + cα/√m)^{t+1}, G the largest gradient so far; and what O(α) would have to make up of
    (17) without its ½, in units of α (`printed`): the largest of each over t, by V.

    >>> W, g = torch.zeros(2, 1).double(), torch.ones(2, 1).double()
    >>> regret = Regret(1.0, 0.1, W, [W + 1, W - 1], [0.0, 0.0])
    >>> regret.see(0.5, g, W - 0.1 * g)
    >>> bool((regret.one_step.value <= 0).any()), regret.one_step.step.tolist()
    (True, [0.0, 0.0])
    """

    def __init__(self, c: float, alpha: float, W0: Tensor, against: list[Tensor], at: list[float]):
        self.bend, self.alpha = c / math.sqrt(len(W0)), alpha
        self.against, self.at = torch.stack(against), torch.tensor(at, dtype=torch.float64)
        self.first = self.near = self._apart(W0)
        self.t, self.growth, self.least, self.G = 0, 1.0, math.inf, 0.0
        self.one_step, self.summed, self.printed = (Largest(len(against)) for _ in range(3))

    def _apart(self, W: Tensor) -> Tensor:
        return (W - self.against).square().flatten(1).sum(1)

    def see(self, loss: float, g: Tensor, W: Tensor) -> None:
        """L_A(W_t) and its gradient, and W_{t+1}."""
        alpha, size, near = self.alpha, float(g.norm()), self._apart(W)
        grown = 1 + self.bend * alpha
        right = grown * self.near + 2 * alpha * (self.at - loss) + (alpha * size) ** 2
        self.one_step.see(near - right, self.t)
        self.least, self.G = min(self.least, loss), max(self.G, size)
        self.growth *= grown
        share = self.bend * (self.first - near / self.growth) / (1 - 1 / self.growth)
        gap = self.least - self.at
        self.summed.see(gap - alpha * self.G**2 / 2 - share / 2, self.t)
        self.printed.see((gap - share) / alpha, self.t)
        self.near, self.t = near, self.t + 1

    def told(self, radii: tuple[float, ...]) -> dict[str, Along]:
        """The largest left less right side of both and their steps, by R."""
        return {
            f"({k}) {name}": Along("R", radii, tuple(values.tolist()))
            for k, seen in ((16, self.one_step), (17, self.summed))
            for name, values in (("left − right", seen.value), ("its t", seen.step))
        }
