"""Compute units (groups of jobs) in several processes on this machine."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from adversarium.runs.blocks import UnitResult
from adversarium.runs.jobs import Unit
from adversarium.runs.where.here import Progress
from adversarium.runs.where.packing import compute_packed, packed

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
DIED = "its process died (killed, or out of memory)"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _deaf() -> None:
    """Ignore Ctrl-C in a worker, because the process that started it handles Ctrl-C and ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process once its parent is gone, because a killed parent cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def _few_threads(count: int) -> Iterator[None]:
    """Limit the threads for linear algebra in processes that start within the context."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class Processes:
    """`count` processes of this machine, each with one unit at a time, reused by the next
    experiment. If a process dies, the remaining units run again, one at a time, so that a unit that
    kills its process does not affect the others."""

    count: int = field(default_factory=_cores)
    _held: list[ProcessPoolExecutor] = field(default_factory=list, repr=False, compare=False)

    def computed(
        self, units: Sequence[Unit], experiment: str, progress: Progress
    ) -> Iterator[tuple[Unit, UnitResult]]:
        """Yield every unit with its result, in the order in which they finish."""
        most = max(1, _cores() // self.count)  # threads per process: all processes share the cores
        fitting = [replace(unit, threads=min(unit.threads, most)) for unit in units]
        orders = dict(enumerate(packed(unit, experiment) for unit in fitting))
        for i, outcome in self._pooled(orders, progress, len(units)):
            del orders[i]
            yield units[i], outcome
        for i in list(orders):  # the units that remained when a process died
            made = dict(self._pooled({i: orders.pop(i)}, progress, len(units)))
            died = UnitResult((), {job.key: DIED for job in units[i].jobs})
            yield units[i], made.get(i, died)

    def _pooled(
        self, orders: Mapping[int, bytes], progress: Progress, count: int
    ) -> Iterator[tuple[int, UnitResult]]:
        """Yield the index of each packed unit with its result when it finishes. Units that were
        running or waiting when a process died are omitted."""
        left: dict[Future[UnitResult], int] = {}
        whole = False
        try:
            with _few_threads(max(1, _cores() // self.count)):
                pool = self._pool()
                left |= {pool.submit(compute_packed, one): i for i, one in orders.items()}
            died = False
            while left:
                done = count - len(left)
                progress(done, done, done, count)
                finished, _ = wait(left, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = left.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        died = True
                    else:
                        yield i, future.result()
            whole = not died
        finally:
            if not whole:
                self._end()

    def _pool(self) -> ProcessPoolExecutor:
        """Return the running processes, or start new ones."""
        if not self._held:
            context = multiprocessing.get_context("spawn")
            self._held.append(
                ProcessPoolExecutor(self.count, mp_context=context, initializer=_deaf)
            )
        return self._held[0]

    def _end(self) -> None:
        """End the processes at once, even if they are busy."""
        while self._held:
            pool = self._held.pop()
            running = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.terminate()
