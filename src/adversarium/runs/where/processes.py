"""Processes of this machine."""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field

from adversarium.runs.blocks import Outcome
from adversarium.runs.jobs import Unit
from adversarium.runs.where.here import Told
from adversarium.runs.where.orders import carried_out, order


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _deaf() -> None:
    """A worker leaves Ctrl-C to whoever started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class Processes:
    """So many processes of this machine, each with one unit at a time."""

    count: int = field(default_factory=_cores)

    def computed(
        self, units: Sequence[Unit], experiment: str, told: Told
    ) -> Iterator[tuple[Unit, Outcome]]:
        """Every unit with what it made, as they finish."""
        if not units:
            return
        orders = [order(unit, experiment) for unit in units]
        context = multiprocessing.get_context("spawn")
        workers = min(self.count, len(units))
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_deaf)
        try:
            left: dict[Future[Outcome], int] = {
                pool.submit(carried_out, one): i for i, one in enumerate(orders)
            }
            done = 0
            while left:
                told(done, done, done, len(units))
                finished, _ = wait(left, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = left.pop(future)
                    done += 1
                    yield units[i], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
