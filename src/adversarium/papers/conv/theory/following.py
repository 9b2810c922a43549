"""Follow eqs. (16) and (17) of CONV, with explicit constants, at every step of a descent."""

import math

import torch
from torch import Tensor

from adversarium.sockets import Along


class RunningMaximum:
    """The largest value so far and its step, for each of several sequences.

    >>> maximum = RunningMaximum(2)
    >>> for t, values in enumerate(([1.0, 5.0], [3.0, 4.0])):
    ...     maximum.add(torch.tensor(values), t)
    >>> maximum.value.tolist(), maximum.step.tolist()
    ([3.0, 5.0], [1.0, 0.0])
    """

    def __init__(self, count: int):
        self.value = torch.full((count,), -math.inf, dtype=torch.float64)
        self.step = torch.full((count,), math.nan, dtype=torch.float64)

    def add(self, values: Tensor, t: int) -> None:
        """Take the values of step t. NaN counts as the largest value and is never replaced."""
        larger = ~(values <= self.value) & ~self.value.isnan()
        self.value = torch.where(larger, values, self.value)
        self.step = torch.where(larger, float(t), self.step)


class Regret:
    """The largest left minus right side of eqs. (16) and (17) of CONV over t, for comparators V.

    The descent is W_{t+1} = W_t − α∇L_A(W_t). Each comparator V is given with its loss L_*(V):

    (16) |W_{t+1} − V|² ≤ (1 + cα/√m)|W_t − V|² + 2α(L_*(V) − L_A(W_t)) + α²|∇L_A(W_t)|²,
    (17) min_{s ≤ t} L_A(W_s) − L_*(V) ≤ αG²/2 + c(|W_0 − V|² − |W_{t+1} − V|²/S)/(2√m(1 − 1/S)),

    with S = (1 + cα/√m)^{t+1} and G the largest gradient norm so far. `one_step` follows (16),
    `summed` follows (17), and `printed` follows (17) as published, without the factor ½ and the
    term O(α); its excess is divided by α, which gives the constant that O(α) would need.

    >>> W, g = torch.zeros(2, 1).double(), torch.ones(2, 1).double()
    >>> regret = Regret(1.0, 0.1, W, [W + 1, W - 1], [0.0, 0.0])
    >>> regret.add(0.5, g, W - 0.1 * g)
    >>> bool((regret.one_step.value <= 0).any()), regret.one_step.step.tolist()
    (True, [0.0, 0.0])
    """

    def __init__(
        self, c: float, alpha: float, W0: Tensor, comparators: list[Tensor], losses: list[float]
    ):
        self.curvature, self.alpha = c / math.sqrt(len(W0)), alpha
        self.comparators, self.comparator_losses = (
            torch.stack(comparators),
            torch.tensor(losses, dtype=torch.float64),
        )
        self.first = self.squared = self._squared_distances(W0)
        self.t, self.growth, self.smallest_loss, self.G = 0, 1.0, math.inf, 0.0
        self.one_step, self.summed, self.printed = (
            RunningMaximum(len(comparators)) for _ in range(3)
        )

    def _squared_distances(self, W: Tensor) -> Tensor:
        """|W − V|², one number per comparator."""
        return (W - self.comparators).square().flatten(1).sum(1)

    def add(self, loss: float, g: Tensor, W: Tensor) -> None:
        """Take one step: L_A(W_t), its gradient g and W = W_{t+1}."""
        alpha, size, squared = self.alpha, float(g.norm()), self._squared_distances(W)
        factor = 1 + self.curvature * alpha
        right = (
            factor * self.squared
            + 2 * alpha * (self.comparator_losses - loss)
            + (alpha * size) ** 2
        )
        self.one_step.add(squared - right, self.t)
        self.smallest_loss, self.G = min(self.smallest_loss, loss), max(self.G, size)
        self.growth *= factor
        share = self.curvature * (self.first - squared / self.growth) / (1 - 1 / self.growth)
        gap = self.smallest_loss - self.comparator_losses
        self.summed.add(gap - alpha * self.G**2 / 2 - share / 2, self.t)
        self.printed.add((gap - share) / alpha, self.t)
        self.squared, self.t = squared, self.t + 1

    def excesses_by_radius(self, radii: tuple[float, ...]) -> dict[str, Along]:
        """Return, per radius, the largest left minus right sides of (16) and (17) and their t."""
        return {
            f"({k}) {name}": Along("R", radii, tuple(values.tolist()))
            for k, maximum in ((16, self.one_step), (17, self.summed))
            for name, values in (("left − right", maximum.value), ("its t", maximum.step))
        }
