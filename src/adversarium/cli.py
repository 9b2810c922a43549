"""The program's door: from the first moment a Ctrl-C is understood, and only then anything else is
imported."""

import os
import signal
import sys
from types import FrameType


class _Stop:
    """A signal that stops the program; what is raised on the way out is then no news."""

    def __init__(self, words: list[str]) -> None:
        self.came, self.words = False, words

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        for once in (signal.SIGINT, signal.SIGTERM):  # one is enough
            signal.signal(once, signal.SIG_IGN)
        if importing(frame):  # a library in mid-import may swallow what is raised, or die of it
            _say(self.words)
            os._exit(130)
        raise KeyboardInterrupt

    def lost(self, fault: "sys.UnraisableHookArgs") -> None:
        """What is raised where nothing can be raised (in a callback, on the way out): a stop that
        came there would be printed and forgotten."""
        if self.came:
            _say(self.words)
            os._exit(130)
        sys.__unraisablehook__(fault)


def importing(frame: FrameType | None) -> bool:
    """Whether a frame runs within an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _say(words: list[str]) -> None:
    from shlex import join

    how = "Begin again" if "--fresh" in words else "Go on"
    again = join(["adversarium", *words])
    print(
        f"\nstopped; every finished run is kept. {how} with: {again}", file=sys.stderr, flush=True
    )


def main(arguments: list[str] | None = None) -> None:
    """The program: one clear sentence and status 2 for a wrong call, 1 when a run failed."""
    words = sys.argv[1:] if arguments is None else arguments
    stop = _Stop(words)
    sys.unraisablehook = stop.lost
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # else whoever started us meant it
        signal.signal(signal.SIGINT, stop)
    try:
        from adversarium.commands.program import called

        status = called(words)
    except BaseException as fault:
        if not stop.came and not isinstance(fault, KeyboardInterrupt):
            raise
        _say(words)
        status = 130
    raise SystemExit(status)


if __name__ == "__main__":
    main()
