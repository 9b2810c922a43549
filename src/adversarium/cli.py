"""The program's door: from the first moment a Ctrl-C is understood, and only then anything else is
imported."""

import signal
import sys


class _Stop:
    """A signal that stops the program; what is raised on the way out is then no news."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: object) -> None:
        self.came = True
        for once in (signal.SIGINT, signal.SIGTERM):  # one is enough
            signal.signal(once, signal.SIG_IGN)
        raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> None:
    """The program: one clear sentence and status 2 for a wrong call, 1 when a run failed."""
    stop = _Stop()
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # else whoever started us meant it
        signal.signal(signal.SIGINT, stop)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        from adversarium.commands.program import called

        status = called(words)
    except BaseException as fault:
        if not stop.came and not isinstance(fault, KeyboardInterrupt):
            raise
        from shlex import join

        again = join(["adversarium", *words])
        print(f"\nstopped; every finished run is kept. Go on with: {again}", file=sys.stderr)
        status = 130
    raise SystemExit(status)


if __name__ == "__main__":
    main()
