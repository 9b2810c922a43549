"""A phase diagram's cells side by side on the replica axis against one after the other."""

import time
from collections.abc import Sequence
from dataclasses import replace

from adversarium.plans.loading import load
from adversarium.plans.run import Run
from adversarium.runs.jobs import resolve
from adversarium.training import ENGINES, train
from adversarium.training.problem import AnyProblem

STEPS, SEEDS = 500, tuple(range(5))
ENGINE = ENGINES["signal_noise"]


def problems(count: int) -> list[AnyProblem]:
    """The first cells of CGRO's (λ, 1 − γ) diagram, five seeds each."""
    tasks = load("cgro.phases").tasks("quick", d=(), diagrams=("λ, 1 − γ",))
    short = [replace(task, steps=STEPS) for task in tasks[:count] if isinstance(task, Run)]
    jobs = [resolve(task) for task in short]
    assert len(jobs) == count and all(job.engine is ENGINE for job in jobs)
    return [job.problem(SEEDS, "cpu") for job in jobs]


def ends(chosen: Sequence[AnyProblem]) -> Sequence:
    """The last states of problems that run side by side."""
    *_, last = train(ENGINE, chosen)
    return ENGINE.split(last)


def main() -> None:
    """Prints one line a number of cells."""
    for count in (12, 144):
        began = time.perf_counter()
        together = ends(problems(count))
        side_by_side = time.perf_counter() - began
        began = time.perf_counter()
        few = problems(count)[:12]
        for problem, cell in zip(few, together, strict=False):
            (alone,) = ends((problem,))
            assert float((alone.v - cell.v).abs().max()) < 1e-12
        one_by_one = (time.perf_counter() - began) * count / len(few)
        print(
            f"{count} cells, five seeds, {STEPS} steps: one by one {one_by_one:.1f} s, side by "
            f"side {side_by_side:.1f} s; {one_by_one / side_by_side:.1f} × faster",
            flush=True,
        )


if __name__ == "__main__":
    main()
