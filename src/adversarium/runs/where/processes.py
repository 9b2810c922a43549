"""Processes of this machine."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from adversarium.runs.blocks import Outcome
from adversarium.runs.jobs import Unit
from adversarium.runs.where.here import Told
from adversarium.runs.where.orders import Order, carried_out, order

DIED = "its process died (killed, or out of memory)"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _deaf() -> None:
    """A worker leaves Ctrl-C to whoever started it, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this process when whoever started it is gone: killed, it cannot tell its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@dataclass(frozen=True)
class Processes:
    """So many processes of this machine, each with one unit at a time. A process that dies loses
    nothing: what was left runs again, each unit alone in a process, so that one that kills its
    process fails alone."""

    count: int = field(default_factory=_cores)

    def computed(
        self, units: Sequence[Unit], experiment: str, told: Told
    ) -> Iterator[tuple[Unit, Outcome]]:
        """Every unit with what it made, as they finish."""
        most = max(1, _cores() // self.count)  # threads: those of all processes share the cores
        fitting = [replace(unit, threads=min(unit.threads, most)) for unit in units]
        orders = dict(enumerate(order(unit, experiment) for unit in fitting))
        for i, outcome in self._pooled(orders, min(self.count, len(units)), told, len(units)):
            del orders[i]
            yield units[i], outcome
        for i in list(orders):  # those that were left when a process died
            made = dict(self._pooled({i: orders.pop(i)}, 1, told, len(units)))
            died = Outcome((), {job.key: DIED for job in units[i].jobs})
            yield units[i], made.get(i, died)

    def _pooled(
        self, orders: Mapping[int, Order], workers: int, told: Told, count: int
    ) -> Iterator[tuple[int, Outcome]]:
        """What orders made, by place, as they finish; not those that a dead process left."""
        if not orders:
            return
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_deaf)
        try:
            left: dict[Future[Outcome], int] = {
                pool.submit(carried_out, one): i for i, one in orders.items()
            }
            while left:
                done = count - len(left)
                told(done, done, done, count)
                finished, _ = wait(left, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = left.pop(future)
                    if not isinstance(future.exception(), BrokenProcessPool):
                        yield i, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
