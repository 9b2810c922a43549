"""Draw the figures of a site, in two processes if the machine has more than one core."""

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import cloudpickle

from adversarium.plans.loading import user_modules

PROCESSES = 2
_FEW = 8  # for fewer figures, it takes too long to start another process


@dataclass(frozen=True)
class FigureFiles:
    """The files of a figure: their paths, the digest of the values from which they are made, and
    the function that writes them into the folder of a site."""

    paths: tuple[str, ...]
    inputs: str
    draw: Callable[[Path], object]


def draw_figures(figures: Sequence[FigureFiles], home: Path) -> Iterator[FigureFiles]:
    """Draw figures and yield each when its files are complete.

    This process draws the figures that cannot be sent to another process, and those that remain if
    another process dies.
    """
    left = dict(enumerate(figures))
    if len(figures) >= _FEW and _cores() > 1:
        for i in _drawn_in_processes(figures, home):
            yield left.pop(i)
    for figure in left.values():
        figure.draw(home)
        yield figure


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _drawn_in_processes(figures: Sequence[FigureFiles], home: Path) -> Iterator[int]:
    """Draw figures in other processes and yield the index of each that is complete."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(PROCESSES, context, initializer=_end_with_parent)
    others = set(multiprocessing.active_children())
    positions = {}
    try:
        with _interrupts_blocked():
            for _ in range(PROCESSES):  # each call starts a process
                pool.submit(os.getpid)
        with suppress(BrokenProcessPool):
            for i, data in _pickled(figures):
                positions[pool.submit(_draw, data, home)] = i
        for future in as_completed(positions):
            if future.exception() is None:
                yield positions[future]
    except BaseException:  # Ctrl-C: do not wait for figures that are being drawn
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _pickled(figures: Sequence[FigureFiles]) -> Iterator[tuple[int, bytes]]:
    """Yield the index of every figure with its drawing function as bytes for another process. These
    include the code of user files, because another process cannot import it."""
    modules = user_modules()
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        for i, figure in enumerate(figures):
            with suppress(TypeError, ValueError, pickle.PicklingError):
                yield i, cloudpickle.dumps(figure.draw)
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _draw(data: bytes, home: Path) -> None:
    pickle.loads(data)(home)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Postpone Ctrl-C. Processes that start in the meantime never receive it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """End this process when the process that started it is gone."""

    def wait() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
