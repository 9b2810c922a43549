"""The program: a table of commands, each in a file of its own; torch is imported only where
something runs."""

import os
import shlex
import signal
import sys
from typing import Any

from cyclopts import App
from cyclopts.exceptions import CycloptsError

COMMANDS = {  # name: (place in commands/, what it does)
    "list": ("list:list_", "What there is, one line each."),
    "show": ("show:show", "One experiment or claim, with its last verdict."),
    "run": ("run:run", "Runs experiments: figures and verdicts."),
    "verify": ("verify:verify", "Runs what claims still need; prints the ledger."),
    "sweep": ("sweep:sweep", "A grid of runs, with the boundary where the outcome switches."),
    "attack": ("attack:attack", "Every attack × radius, with the certified bracket."),
    "new": ("new:new", "A template for an own theorem (FILE.py) or paper (paper DIR)."),
    "export": ("export:export", "Data out: csv, npz, tex, figures."),
    "report": ("report:report", "The whole store as a static web site."),
    "scheduler": ("cluster:scheduler", "Starts the scheduler of a cluster."),
    "worker": ("cluster:worker", "Starts a worker of a cluster."),
}

app = App(
    name="adversarium",
    help="A laboratory for the theory of adversarial training: every statement, run and judged.",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for _name, (_place, _help) in COMMANDS.items():
    app.command(f"adversarium.commands.{_place}", name=_name, help=_help)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str] | None = None) -> None:
    """The program: one clear sentence and status 2 for a wrong call, 1 when a run failed."""
    signal.signal(signal.SIGTERM, _stop)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        status = app(words, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except (CycloptsError, ValueError) as fault:
        sentence = " ".join(str(fault).split()) or type(fault).__name__
        status = _complain(sentence)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except OSError as fault:
        status = _complain(f"{fault.filename or 'a file'}: {fault.strerror or fault}.")
    except KeyboardInterrupt:
        again = shlex.join(["adversarium", *words])
        print(f"\nstopped; every finished run is kept. Go on with: {again}", file=sys.stderr)
        status = 130
    except Exception as fault:  # ours or a user's file: a sentence, and the way to the whole story
        if os.environ.get("ADVERSARIUM_TRACEBACK"):
            raise
        sentence = f"{type(fault).__name__}: {' '.join(str(fault).split())}"
        status = _complain(f"{sentence} (ADVERSARIUM_TRACEBACK=1 shows where).")
    raise SystemExit(status)


def _complain(sentence: str) -> int:
    print(f"adversarium: {sentence}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
