"""A grid of gram runs (radius × step size) side by side on the replica axis against one by one."""

import itertools
import time
from collections.abc import Sequence

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.training import ENGINES, Problem, Recipe, train
from adversarium.training.problem import AnyProblem

STEPS, SEEDS = 50, tuple(range(5))
RADII, ETAS = (0.5, 1.0, 1.5, 2.0), (0.001, 0.0025, 0.005)
ENGINE = ENGINES["gram"]


def problems(d: int, m: int) -> list[AnyProblem]:
    """A cell for every radius and step size: runs side by side may differ in both."""
    return [
        Problem(
            Clusters(d=d, mu=13.0),
            TwoLayer(m=m, omega=1e-6),
            PGD(p=2, radius=radius, steps=20, after=1),
            Recipe(n=20, steps=STEPS, eta=eta),
            SEEDS,
        )
        for radius, eta in itertools.product(RADII, ETAS)
    ]


def ends(chosen: Sequence[AnyProblem]) -> Sequence:
    """The last states of problems that run side by side."""
    *_, last = train(ENGINE, chosen)
    return ENGINE.split(last)


def main() -> None:
    """Prints one line a width."""
    for m in (16, 64):
        cells = problems(1000, m)
        assert len({ENGINE.shape(cell) for cell in cells}) == 1
        for cell in cells:
            _ = cell.train, cell.W0  # what is drawn is no part of the comparison
        began = time.perf_counter()
        together = ends(cells)
        side_by_side = time.perf_counter() - began
        began = time.perf_counter()
        for cell, state in zip(cells, together, strict=True):
            (alone,) = ends((cell,))
            assert float((alone.K - state.K).abs().max()) <= 1e-9 * float(alone.K.abs().max())
        one_by_one = time.perf_counter() - began
        print(
            f"m = {m}: {len(cells)} cells, five seeds, {STEPS} steps: one by one {one_by_one:.1f} "
            f"s, side by side {side_by_side:.1f} s; {one_by_one / side_by_side:.1f} × faster",
            flush=True,
        )


if __name__ == "__main__":
    main()
