"""Start the program: handle Ctrl-C first, and only then import anything else."""

import os
import signal
import sys
from types import FrameType


class _Stop:
    """A handler of signals that stop the program, even during an import or the exit."""

    def __init__(self, words: list[str]) -> None:
        self.came, self.words = False, words

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        for once in (signal.SIGINT, signal.SIGTERM):  # one signal is enough
            signal.signal(once, signal.SIG_IGN)
        if importing(frame):  # an importing library may swallow the exception or crash
            _say(self.words)
            os._exit(130)
        raise KeyboardInterrupt

    def lost(self, fault: "sys.UnraisableHookArgs") -> None:
        """Exit if a signal arrived where Python only prints an exception and continues (in a
        callback, or during the exit)."""
        if self.came:
            _say(self.words)
            os._exit(130)
        sys.__unraisablehook__(fault)


def importing(frame: FrameType | None) -> bool:
    """Return whether a frame is executed during an import."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _say(words: list[str]) -> None:
    from shlex import join

    how = "Start again" if "--fresh" in words else "Continue"
    again = join(["adversarium", *words])
    kept = " (without --fresh: with the stored results)" if "--fresh" in words else ""
    text = f"\nstopped; all finished runs are stored. {how} with: {again}{kept}"
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Run the program; exit with status 2 and a message for a wrong call, 1 if a run failed."""
    words = sys.argv[1:] if arguments is None else arguments
    stop = _Stop(words)
    sys.unraisablehook = stop.lost
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # else the caller disabled it
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
