"""The program: a table of commands, each in a file of its own; torch is imported only where
something runs, and nothing at all before a Ctrl-C would be understood."""

import contextlib
import io
import json
import os
import shlex
import signal
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS = {  # name: (place in commands/, what it does)
    "list": ("list:list_", "What there is, one line each."),
    "show": ("show:show", "One experiment or claim, with its last verdict."),
    "run": ("run:run", "Runs experiments: figures and verdicts."),
    "verify": ("verify:verify", "Runs what claims still need; prints the ledger."),
    "sweep": ("sweep:sweep", "A grid of runs, with the boundary where the outcome switches."),
    "attack": ("attack:attack", "Every attack × radius, with the certified bracket."),
    "new": ("new:new", "A template for an own theorem (FILE.py) or paper (paper DIR)."),
    "export": ("export:export", "Data out: csv, npz, parquet, netcdf, tex, figures."),
    "report": ("report:report", "The whole store as a static web site."),
    "scheduler": ("cluster:scheduler", "Starts the scheduler of a cluster."),
    "worker": ("cluster:worker", "Starts a worker of a cluster."),
}


@cache
def program() -> "App":
    """The table of commands as a program."""
    from importlib.metadata import version

    from cyclopts import App

    app = App(
        name="adversarium",
        help="A laboratory for the theory of adversarial training: every statement, run and judged."
        "\n\nFor completion in bash, zsh or fish: adversarium --install-completion.",
        version=version("adversarium"),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, (place, help) in COMMANDS.items():
        app.command(f"adversarium.commands.{place}", name=name, help=help)
    app.register_install_completion_command()
    return app


class _Stop:
    """A signal that stops the program; what is raised on the way out is then no news."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: Any) -> None:
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
        status = _called(words)
    except BaseException as fault:
        if not stop.came and not isinstance(fault, KeyboardInterrupt):
            raise
        again = shlex.join(["adversarium", *words])
        print(f"\nstopped; every finished run is kept. Go on with: {again}", file=sys.stderr)
        status = 130
    raise SystemExit(status)


def _called(words: list[str]) -> int:
    """The status of a call; a fault becomes one sentence."""
    if sys.stdout is None or sys.stdout.closed:
        return _complain("standard output is closed; open it, or send it to a file.")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek still gets the rest
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _answered(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _hush()
        return 0
    except OSError as fault:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            return _complain(f"{fault.filename or 'a file'}: {fault.strerror or fault}.")
        _hush()
        return _complain(f"standard output cannot be written: {fault.strerror or fault}.")
    except Exception as fault:  # ours or a user's file: a sentence, and the way to the whole story
        sentence = " ".join(str(fault).split()) or type(fault).__name__
        if isinstance(fault, ValueError) or type(fault).__module__.startswith("cyclopts"):
            return _complain(sentence, getattr(fault, "status", 2))
        if os.environ.get("ADVERSARIUM_TRACEBACK"):
            raise
        told = f"{type(fault).__name__}: {sentence} (ADVERSARIUM_TRACEBACK=1 shows where)."
        return _complain(told)


def _answered(words: list[str]) -> int:
    """Calls the command. With --json nothing but its answer goes to standard output, whatever a
    user's own code prints."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr if "--json" in words else out):
        made = program()(words, exit_on_error=False, print_error=False)
    if made is None or isinstance(made, int):
        return made or 0
    print(_escaped(made.text, out.encoding), file=out)
    return int(made.status)


def _escaped(text: str, encoding: str | None) -> str:
    """JSON as a stream of some encoding can have it."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
    return text


def _hush() -> None:
    """Nothing more can be printed, also not on the way out."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, status: int = 2) -> int:
    print(f"adversarium: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
