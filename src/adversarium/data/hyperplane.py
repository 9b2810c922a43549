"""Points above and below a hyperplane: the lower-bound distribution of CGRO and CGRM."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, integers, stream, uniform
from adversarium.shapes import Bool, Float, Int


@dataclass(frozen=True)
class CellBatch:
    """x, y, the cell, and whether the margin is small.

    >>> from adversarium.rng import stream
    >>> batch = HyperplaneCells(D=3, mu=0.0, height=0.25, each=True).sample(4, stream(0, "train"))
    >>> batch.cell.tolist(), ((batch.x[:, -1] - 0.5) * batch.y).tolist()
    ([0, 1, 2, 3], [0.25, 0.25, 0.25, 0.25])
    """

    x: Float[Tensor, "*n D"]
    y: Float[Tensor, "*n"]
    cell: Int[Tensor, "*n"]
    is_small: Bool[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class HyperplaneCells:
    """(x, ½ + h φ(x)) over the cells {0.1, 0.9}^{D−1}, φ = ±1 any labelling of them, App. D of
    CGRO. Two extensions are ours: x is uniform in an l_inf ball of radius ρ about its cell, and h
    is ε0 (small margin) with probability μ, else `height`. The classes have a distance of at least
    0.8 − 2ρ in l2 and l_inf.

    `labelling` selects φ: each number gives one labelling of all cells; None draws a new labelling
    for every sample.

    >>> cells = HyperplaneCells(D=4, rho=0.05)
    >>> cells.cells, round(cells.R, 12)
    (8, 0.7)
    """

    D: int
    eps0: float = 0.05  # ε0, the small margin
    rho: float = 0.0  # ρ, radius of the l_inf ball about a cell
    mu: float = 1.0  # μ, the share of small margins
    height: float = 0.4  # the large margin
    labelling: int | None = 0
    each: bool = False  # one point per cell in turn, instead of random cells

    k = 1

    def __post_init__(self) -> None:
        if not 2 <= self.D <= 24:
            raise ValueError(f"HyperplaneCells needs 2 <= D <= 24 (2^(D-1) cells), got {self.D}.")
        if not 0 < self.eps0 <= self.height <= 0.5 or not 0 <= self.rho <= 0.1:
            raise ValueError(
                "HyperplaneCells needs 0 < eps0 <= height <= 1/2 and 0 <= rho <= 0.1, got "
                f"eps0={self.eps0}, height={self.height}, rho={self.rho}."
            )
        if not 0 <= self.mu <= 1:
            raise ValueError(f"HyperplaneCells needs 0 <= mu <= 1, got {self.mu}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.D,)

    @property
    def cells(self) -> int:
        """n = 2^{D−1}, the number of cells."""
        return 1 << (self.D - 1)

    @property
    def R(self) -> float:
        """A lower bound on the distance between the classes."""
        return 0.8 - 2 * self.rho

    def phi(self, rng: Generator) -> Float[Tensor, " cells"]:
        """Return φ of every cell."""
        chance = rng if self.labelling is None else stream(self.labelling, "phi")
        return coins((self.cells,), chance)

    def sample(self, n: int, rng: Generator) -> CellBatch:
        """Draw n points."""
        cell = torch.arange(n) % self.cells if self.each else integers(self.cells, (n,), rng)
        bits = (cell[:, None] >> torch.arange(self.D - 1)) & 1
        y = self.phi(rng)[cell]
        is_small = uniform((n,), rng) < self.mu
        smear = self.rho * (2 * uniform((n, self.D - 1), rng) - 1)
        margin = torch.where(is_small, self.eps0, self.height)
        x = torch.cat([0.1 + 0.8 * bits + smear, (0.5 + margin * y)[:, None]], dim=1)
        return CellBatch(x=x, y=y, cell=cell, is_small=is_small)
