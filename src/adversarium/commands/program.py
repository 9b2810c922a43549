"""Define the table of commands and run them.

Each command is in a separate file. A call returns an exit status, and prints one message if it
fails. Torch is imported only if something runs.
"""

import codecs
import contextlib
import io
import json
import os
import re
import sys
import unicodedata
from functools import cache
from importlib.metadata import version

from cyclopts import App
from cyclopts.exceptions import CycloptsError, MissingArgumentError

from adversarium.commands.options import Answer

COMMANDS = {  # name: (function in commands/, help text)
    "list": ("list:list_", "List papers, experiments, claims or parts."),
    "show": ("show:show", "Show an experiment or claim, with its last verdict."),
    "run": ("run:run", "Run experiments and show figures and verdicts."),
    "verify": ("verify:verify", "Compute the missing results of claims, and print the ledger."),
    "sweep": ("sweep:sweep", "Run a grid of runs, and find where the outcome switches."),
    "attack": ("attack:attack", "Attack an experiment's networks, or your own network."),
    "diagnose": ("diagnose:diagnose", "Measure your own network, as one page."),
    "data": ("data:data", "List, download or check image data sets."),
    "new": ("new:new", "Write a template for your theorem (FILE.py) or paper (paper DIR)."),
    "export": ("export:export", "Export data: csv, npz, parquet, netcdf, tex or figures."),
    "report": ("report:report", "Write the entire store as a static web site."),
    "scheduler": ("cluster:scheduler", "Start the scheduler of a cluster."),
    "worker": ("cluster:worker", "Start a worker of a cluster."),
}


@cache
def program() -> App:
    """Return the command-line program with all commands."""
    app = App(
        name="adversarium",
        help="A laboratory for the theory of adversarial training: run and judge every statement."
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
    """Run a call and return its status; print an error as one message."""
    if sys.stdout is None or sys.stdout.closed:
        return _complain("standard output is closed; open it, or send it to a file.")
    codecs.register_error(_SPELLED, _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELLED)
    if not os.environ.get("COLUMNS", "1").strip("0 "):  # a terminal without a known width
        del os.environ["COLUMNS"]
    as_json = "--json" in words
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
                f"{fault.filename or 'cannot write the output or a file'}: "
                f"{fault.strerror or fault}.",
                as_json=as_json,
            )
        _hush()
        return _complain(f"cannot write to standard output: {fault.strerror or fault}.")
    except Exception as fault:  # print one message, and how to get a traceback
        sentence = " ".join(str(fault).split()) or type(fault).__name__
        if isinstance(fault, MissingArgumentError):
            return _complain(_lacking(fault), as_json=as_json)
        if isinstance(fault, (CycloptsError, ValueError)):
            return _complain(sentence, getattr(fault, "status", 2), as_json)
        if os.environ.get("ADVERSARIUM_TRACEBACK"):
            raise
        from adversarium.runs.faults import describe

        whole = " ".join(describe(fault).split())
        advice = "(set ADVERSARIUM_TRACEBACK=1 for a traceback)"
        return _complain(f"{whole} {advice}.", as_json=as_json)


def _lacking(fault: MissingArgumentError) -> str:
    """Describe the argument that a command needs."""
    command = " ".join(fault.command_chain or ())
    name = fault.argument.name if fault.argument is not None else "an argument"
    plain = _PLACES.get(name, name)
    return f"{command} needs {plain}; see `adversarium {command} --help`.".lstrip()


_PLACES = {  # required arguments, as text
    "--net": "your network (module:factory or FILE.py:factory)",
    "--id": "an id, such as paper.thm4.1 or ./FILE.py",
    "--what": "FILE.py or `paper DIR`",
    "--over": "an axis, such as --over d=10,20,40",
}


def _answered(words: list[str]) -> int:
    """Call the command. With --json, only its answer goes to standard output, whatever a user's
    code prints."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr if "--json" in words else out):
        made = program()(words, exit_on_error=False, print_error=False)
    if not isinstance(made, Answer):
        return int(made or 0)
    print(_escaped(made.text, out.encoding), file=out)
    return made.status


def _escaped(text: str, encoding: str | None) -> str:
    """Escape the characters in JSON text that an encoding does not have."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
    return text


def _hush() -> None:
    """Discard everything that is printed from now on, including during interpreter exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, status: int = 2, as_json: bool = False) -> int:
    """Print an error, with --json also as the JSON object on standard output."""
    print(f"adversarium: {sentence}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": sentence}))
    return status


_SPELLED = "adversarium.spelled"  # how characters are printed that an encoding does not have
_SPELLINGS = {
    "✓": "+", "✕": "x", "◐": "~", "≡": "=", "○": "o", "–": "-", "—": "-", "−": "-", "≤": "<=",
    "≥": ">=", "≠": "!=", "≈": "~", "·": "*", "×": "x", "…": "...", "→": "->", "√": "sqrt",
    "‖": "||", "⟨": "<", "⟩": ">", "∞": "inf", "∈": "in",
    "±": "+-", "∝": "~", "′": "'", "″": "''", "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3",
    "⅔": "2/3", "λ": "lambda", "Λ": "Lambda", "Õ": "O~", "≲": "<~", "↦": "->",
    "≫": ">>", "≪": "<<", "ϱ": "rho", "∂": "d", "∇": "grad",
}  # fmt: skip


def _spelled(fault: UnicodeError) -> tuple[str, int]:
    """Return the letters that replace characters which the encoding of a terminal does not have."""
    assert isinstance(fault, UnicodeEncodeError)
    text = fault.object[fault.start : fault.end]
    text = re.sub("[⁻⁺⁰¹²³⁴-⁹ⁿᵏ]+", lambda m: f"^{_digits(m[0])}", text)
    text = re.sub("[₋₊₀-₉]+", lambda m: f"_{_digits(m[0])}", text)
    return "".join(map(_spelling, text)), fault.end


def _digits(small: str) -> str:
    return unicodedata.normalize("NFKC", small).replace("−", "-")


def _spelling(letter: str) -> str:
    """Return a character in ASCII.

    >>> "".join(map(_spelling, "ξ ≥ 2"))
    'xi >= 2'
    """
    if letter.isascii() or letter in _SPELLINGS:
        return _SPELLINGS.get(letter, letter)
    base = unicodedata.normalize("NFKD", letter)[0]
    if base.isascii():
        return base
    name = unicodedata.name(letter, "")
    greek = name.partition(" LETTER ")[2].split(" ")[0]
    return (greek.capitalize() if " CAPITAL " in name else greek.lower()) or "?"
