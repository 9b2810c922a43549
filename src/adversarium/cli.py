"""The commands. Each is a few lines over the rooms; torch is imported only where something runs."""

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.exceptions import CycloptsError

app = App(
    name="adversarium",
    help="A laboratory for the theory of adversarial training: every statement, run and judged.",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

Preset = Literal["quick", "paper"]
Flag = Parameter(negative="")
Seeds = Annotated[str, Parameter(help="10 (0 … 9), 3,17 or 5:15; the preset's when left out")]
Changes = Annotated[
    list[str], Parameter(name="--set", help="name=value: a knob, a field (data.alpha) or a part")
]
File = Annotated[Path, Parameter(name="--store", help="the sqlite file that keeps all rows")]
DataDir = Annotated[Path | None, Parameter(name="--data", help="a directory with data files")]
DEFAULT = Path("adversarium.sqlite")


def _print(text: str = "") -> None:
    print(text)


@app.command(name="list")
def list_(
    what: Literal["papers", "experiments", "claims", "datasets", "attacks"] = "experiments",
    *,
    json: Annotated[bool, Flag] = False,
) -> int:
    """What there is, one line each."""
    from adversarium.experiments.catalogue import claims, experiments, public_names
    from adversarium.papers import PAPERS

    match what:
        case "papers":
            lines = {p.key: p.title for p in PAPERS.values()}
        case "experiments":
            lines = {e.id: f"{e.title} ({len(e.claims)} claims)" for e in experiments().values()}
        case "claims":
            state = lambda c: "" if c.experiment or c.alias_of else "  [not yet implemented]"
            lines = {c.id: f"{c.kind:<10} {c.statement}{state(c)}" for c in claims().values()}
        case "datasets":
            names = public_names("data")
            lines = {n: d for n, d in names.items() if not n.endswith("Batch")}
        case "attacks":
            names = public_names("attacks")
            lines = {
                n: d for n, d in names.items() if n[0].isupper() and n not in ("Attack", "Ball")
            }
    if json:
        from json import dumps

        _print(dumps({what: [{"id": k, "text": v} for k, v in lines.items()]}, ensure_ascii=False))
        return 0
    width = max(len(k) for k in lines)
    for name, text in lines.items():
        _print(f"{name:<{width}}  {text}")
    return 0


@app.command
def show(id: str, *, store: File = DEFAULT, json: Annotated[bool, Flag] = False) -> int:
    """One experiment or claim: statement, source, what is run, paper's value, last verdict."""
    from adversarium.report.show import shown

    _print(shown(id, store, json))
    return 0


@app.command
def run(
    *ids: str,
    preset: Preset = "quick",
    seeds: Seeds = "",
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    device: Literal["cpu", "cuda"] = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    out: Path = Path("figures"),
    fresh: Annotated[bool, Flag] = False,
    dry_run: Annotated[bool, Flag] = False,
    against: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> int:
    """Runs experiments: figures and verdicts. A changed run (--set) is marked and never enters the
    ledger; --against sets it beside the published one; --dry-run says what would run, on which
    engine, and why not on the others."""
    from adversarium.report.commands import run_command

    _ready(device, data)
    if against and not set_:
        raise ValueError("--against compares a changed run with the published one; use --set too.")
    run_options = (device, store, out, fresh, dry_run, against, json)
    return run_command(_some(ids), preset, seeds, set_, *run_options)


@app.command
def attack(
    id: str,
    *,
    seed: int = 0,
    radii: Annotated[str, Parameter(help="0.1,0.5,1; eight about the training radius else")] = "",
    points: int = 200,
    preset: Preset = "quick",
    set_: Changes = [],  # noqa: B006
    device: Literal["cpu", "cuda"] = "cpu",
    out: Path = Path("attack"),
    json: Annotated[bool, Flag] = False,
) -> int:
    """Every attack × radius on an experiment's trained networks, with the certified bracket."""
    from adversarium.report.attack import attack_command

    _ready(device, None)
    return attack_command(id, seed, radii, points, preset, set_, device, out, json)


@app.command
def new(file: Path) -> int:
    """A template for an own theorem; `run`, `verify`, `sweep` and `report` take ./FILE.py then."""
    from adversarium.experiments.catalogue import new_file

    _print(f"{new_file(file)}; try: adversarium run ./{file}")
    return 0


@app.command
def verify(
    *ids: str,
    preset: Preset = "quick",
    seeds: Seeds = "",
    device: Literal["cpu", "cuda"] = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    write: Path | None = None,
    fresh: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> int:
    """Runs what claims (or papers, experiments; all for none) still need; prints the ledger."""
    from adversarium.report.commands import verify_command

    _ready(device, data)
    return verify_command(ids, preset, seeds, device, store, write, fresh, json)


@app.command
def sweep(
    id: str,
    *,
    over: Annotated[list[str], Parameter(help="name=a:b:step, name=v1,v2 or name=log:a:b:n")],
    zip: Annotated[bool, Flag] = False,
    refine: Annotated[int, Parameter(help="rounds of new cells where the verdict changes")] = 0,
    claim: str = "",
    preset: Preset = "quick",
    seeds: Seeds = "",
    set_: Changes = [],  # noqa: B006
    device: Literal["cpu", "cuda"] = "cpu",
    store: File = DEFAULT,
    data: DataDir = None,
    out: Path = Path("sweep"),
    on: Literal["local"] = "local",
    fresh: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> int:
    """A grid of runs, resumable: a table of verdicts, the numbers as CSV, and a picture, with the
    theorem's and the fitted boundary where the experiment has a switch."""
    from adversarium.report.sweep import sweep_command

    _ready(device, data)
    return sweep_command(
        id, over, zip, refine, claim, preset, seeds, set_, device, store, out, fresh, json
    )


@app.command
def report(*ids: str, out: Path = Path("report"), store: File = DEFAULT) -> int:
    """The whole store as a static web site: ledger, figures, errata, provenance. Own files
    (./FILE.py) are added when named."""
    from adversarium.report.commands import report_command

    return report_command(ids, out, store)


@app.command
def export(
    id: str,
    *,
    to: Literal["csv", "npz", "tex", "svg", "pdf", "png"] = "csv",
    preset: Preset = "quick",
    seeds: Seeds = "",
    store: File = DEFAULT,
    out: Path | None = None,
) -> int:
    """Data out: rows as csv or npz, a booktabs table with the paper's value beside ours (tex), or
    the figures with their numbers (svg, pdf, png)."""
    from adversarium.report.commands import export_command

    return export_command(id, to, preset, seeds, store, out)


def _some(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not ids:
        raise ValueError("name at least one experiment; `adversarium list experiments` has them.")
    return ids


def _ready(device: str, data: Path | None) -> None:
    """Checks the device and the data directory at the door."""
    if data is not None:
        if not data.is_dir():
            raise ValueError(f"--data needs a directory, got {data}.")
        os.environ["ADVERSARIUM_DATA"] = str(data)
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ValueError("--device cuda needs a CUDA device, and torch sees none; use cpu.")


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
