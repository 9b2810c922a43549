"""The table of commands, each in a file of its own, and how a call ends: a status, and one sentence
where something is wrong. Torch is imported only where something runs."""

import contextlib
import io
import json
import os
import sys
from functools import cache
from importlib.metadata import version

from cyclopts import App
from cyclopts.exceptions import CycloptsError, MissingArgumentError

from adversarium.commands.options import Answer

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
def program() -> App:
    """The table of commands as a program."""
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


def called(words: list[str]) -> int:
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
            return _complain(
                f"{fault.filename or 'standard output, or a file'}: {fault.strerror or fault}."
            )
        _hush()
        return _complain(f"standard output cannot be written: {fault.strerror or fault}.")
    except Exception as fault:  # ours or a user's file: a sentence, and the way to the whole story
        sentence = " ".join(str(fault).split()) or type(fault).__name__
        if isinstance(fault, MissingArgumentError):
            return _complain(_lacking(fault))
        if isinstance(fault, (CycloptsError, ValueError)):
            return _complain(sentence, getattr(fault, "status", 2))
        if os.environ.get("ADVERSARIUM_TRACEBACK"):
            raise
        from adversarium.runs.faults import describe

        whole = " ".join(describe(fault).split())
        return _complain(f"{whole} (ADVERSARIUM_TRACEBACK=1 shows where).")


def _lacking(fault: MissingArgumentError) -> str:
    """What a command lacks, in its own words."""
    command = " ".join(fault.command_chain or ())
    name = fault.argument.name if fault.argument is not None else "something"
    plain = _PLACES.get(name, name)
    return f"{command} needs {plain}; `adversarium {command} --help` says how.".lstrip()


_PLACES = {  # what stands without its name
    "--id": "an id, such as paper.thm4.1 or ./FILE.py",
    "--what": "FILE.py, or the words paper DIR",
    "--over": "an axis, such as --over d=10,20,40",
}


def _answered(words: list[str]) -> int:
    """Calls the command. With --json nothing but its answer goes to standard output, whatever a
    user's own code prints."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr if "--json" in words else out):
        made = program()(words, exit_on_error=False, print_error=False)
    if not isinstance(made, Answer):
        return int(made or 0)
    print(_escaped(made.text, out.encoding), file=out)
    return made.status


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
