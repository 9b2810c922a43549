"""Show progress on standard error with a time estimate: a bar on a terminal, else one line per
run."""

import sys
import time
from types import TracebackType
from typing import Any


class Progress:
    """A context manager that shows which run is in progress, unless `quiet` is set."""

    def __init__(self, quiet: bool = False, steps: bool = True) -> None:
        self._quiet, self._steps = quiet, steps
        self._terminal = sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None
        self._what = ""
        self._began = 0.0
        self._shown = 0.0

    def __enter__(self) -> "Progress":
        if self._terminal and not self._quiet:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("time left for steps" if self._steps else "time left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._what and fault is None:
            self._finish()

    def __call__(self, what: str, done: int, whole: int) -> None:
        if self._quiet:
            return
        now = time.monotonic()
        if what != self._what:
            if self._what and self._bar is None:
                self._finish()
            self._what, self._began, self._shown = what, now, now
            if self._bar is not None:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._task = self._bar.add_task(what, total=whole)
        if self._bar is not None:
            if now - self._shown > 0.1 or done == whole:
                self._bar.update(self._task, completed=done, total=whole)
                self._shown = now
        elif now - self._shown > 30 and done:
            left = (now - self._began) * (whole - done) / done
            text = f"steps, about {left:.0f} s left, then the final measurements"
            text = text if self._steps else f"in {now - self._began:.0f} s, about {left:.0f} s left"
            print(f"{what}: {done} of {whole} {text}", file=sys.stderr, flush=True)
            self._shown = now

    def _finish(self) -> None:
        if not self._quiet:
            spent = time.monotonic() - self._began
            print(f"{self._what}: {spent:.1f} s", file=sys.stderr, flush=True)
