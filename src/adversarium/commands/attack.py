"""Implement `adversarium attack`: error by attack and radius, as a table and a figure."""

import hashlib
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from adversarium.commands.attack_own import attack_own
from adversarium.commands.options import (
    DEFAULT,
    Answer,
    Changes,
    Device,
    Json,
    Partly,
    Preset,
    experiments_named,
    ready,
    writable,
)

if TYPE_CHECKING:
    from adversarium.plans.experiment import Experiment
    from adversarium.plans.run import Run
    from adversarium.runs.strengths import Strengths

OWN = Group("Your own network")


def attack(
    id: str,
    *,
    seed: Annotated[int, Parameter(help="seed to train")] = 0,
    radii: Annotated[
        str,
        Parameter(
            help="such as 0.1,0.5,1; default: eight up to 1.5 times the training radius",
            allow_leading_hyphen=True,
        ),
    ] = "",
    points: Annotated[
        int | None,
        Parameter(help="number of points to attack; default: 200, of your own data all"),
    ] = None,
    preset: Preset = "quick",
    set_: Changes = [],  # noqa: B006 (cyclopts copies it)
    partly: Partly = False,
    device: Device = "cpu",
    out: Annotated[Path, Parameter(help="folder for figures and results")] = Path("attack"),
    json: Json = False,
    weights: Annotated[
        Path | None,
        Parameter(group=OWN, help="state dict (torch, safetensors); nothing in it is executed"),
    ] = None,
    data: Annotated[
        Path | None,
        Parameter(group=OWN, help="inputs x and labels y, as .npz, .pt or .safetensors"),
    ] = None,
    p: Annotated[Literal["inf", "2", "1"], Parameter(group=OWN, help="norm")] = "inf",
    radius: Annotated[str, Parameter(group=OWN, help="such as 0.3 or 8/255")] = "",
    box: Annotated[
        str, Parameter(group=OWN, help="range of valid inputs, such as 0,1; none: all numbers")
    ] = "none",
    classes: Annotated[
        str, Parameter(group=OWN, help="outputs that compete, such as 3,5; default: all")
    ] = "",
    effort: Annotated[
        Literal["quick", "standard", "strong"], Parameter(group=OWN, help="which attacks, how long")
    ] = "standard",
    fresh: Annotated[
        bool, Parameter(group=OWN, negative="", help="do not continue an earlier call")
    ] = False,
) -> int | Answer:
    """Attack the trained networks of an experiment at several radii, or your own network at one.

    For an experiment, every attack runs at every radius, with certified bounds. For your own
    network, the suite runs at one radius, and doubts about its result are measured.

    Parameters
    ----------
    id
        an experiment, your file (./FILE.py), or your network: module:factory or FILE.py:factory
    """
    ready(device)
    if points is not None and points < 1:
        raise ValueError(f"attack needs points >= 1, got {points}.")
    if ":" in id:
        return attack_own(
            id, weights=weights, data=data, p=p, radius=radius, box=box, classes=classes,
            effort=effort, seed=seed, points=points, device=device, out=out, fresh=fresh, json=json,
        )  # fmt: skip
    if weights is not None or data is not None or radius:
        raise ValueError(
            f"--weights, --data and --radius belong to your own network (module:factory), got {id}."
        )
    points = 200 if points is None else points
    writable(out)
    chosen = _radii(radii)
    if not 0 <= seed < 2**63:
        raise ValueError(f"attack needs 0 <= seed < 2^63, got {seed}.")
    from adversarium.plans.loading import load
    from adversarium.plans.run import Run
    from adversarium.report.tables import json_text
    from adversarium.runs.changes import parse_changes, planned
    from adversarium.runs.strengths import strengths

    results, changes = [], parse_changes(set_)
    checkpoints = f"{Path(DEFAULT).absolute()}.checkpoints"  # of the default store
    for home in experiments_named([id]):
        experiment = load(home)
        tasks = planned(experiment, preset, changes)
        for task in tasks:
            if isinstance(task, Run):
                home = f"{experiment.id} {task.label}".strip()
                print(f"{home}: training seed {seed}", file=sys.stderr)
                made = strengths(task, seed, chosen, points, device, checkpoints)
                words = {"id": experiment.id, "label": task.label, "seed": seed, "changed": changes}
                results.append({**words, **vars(made)})
                if not json:
                    drawn = f"seed {seed}, {points} points"
                    _print(experiment, task, made, out, changes, drawn)
    if not results:
        raise ValueError(f"attack needs a trained network, but the plan of {id} has only trials.")
    if json:
        return Answer(json_text({"attacks": results}))
    return 0


def _radii(text: str) -> tuple[float, ...]:
    try:
        chosen = tuple(float(r) for r in text.split(",")) if text else ()
    except ValueError:
        chosen = (-1.0,)
    if any(not 0 <= r < math.inf for r in chosen) or len(set(chosen)) < len(chosen):
        raise ValueError(f"--radii needs distinct numbers >= 0 such as 0.1,0.5,1, got {text!r}.")
    return chosen


def _print_suite(made: "Strengths") -> None:
    """Print how many points each strong attack misclassified that no earlier one had, in the order
    of the attacks, and the share of correct points at which the gradient vanishes."""
    if not any(any(row) for row in made.members.values()):
        print("  no strong attack caused an error")
        return _print_flat(made)
    print("  points misclassified under each strong attack but under none above it")
    for name, row in made.members.items():
        if any(row):
            print(f"  {name:<38}" + "".join(f"{count:>9}" for count in row))
    _print_flat(made)


def _print_flat(made: "Strengths") -> None:
    if any(made.flat):
        print(
            f"  {'correct, but without a gradient':<38}" + "".join(f"{s:>9.3g}" for s in made.flat)
        )
        print("  a point without a gradient may be correct only because attacks need gradients")


def _print(
    experiment: "Experiment",
    task: "Run",
    made: "Strengths",
    out: Path,
    changes: dict[str, object],
    drawn: str,
) -> None:
    from adversarium.report.figures import planes
    from adversarium.report.tables import number
    from adversarium.runs.planning import folder_of

    norm = "∞" if made.p == math.inf else f"{made.p:g}"
    mark = ", ".join(f"{name} = {value}" for name, value in changes.items())
    title = f"{experiment.id} {task.label}, {drawn}" + (f", changed: {mark}" if mark else "")
    print(f"{title}: error by attack and l_{norm} radius")
    print(f"  {'':<38}" + "".join(f"{r:>9.4g}" for r in made.radii))
    bounds = {"not proven robust": made.proven, "lowest of any classifier (population)": made.floor}
    for name, row in {**made.errors, **bounds}.items():
        if row:
            print(f"  {name:<38}" + "".join(f"{number(e):>9}" for e in row))
    _print_suite(made)
    folder = out / experiment.name / (folder_of(changes) if changes else "")
    folder.mkdir(parents=True, exist_ok=True)
    stem = "".join(c if c.isalnum() else "-" for c in task.label) or "run"
    radii = hashlib.sha256(repr(made.radii).encode()).hexdigest()[:6]  # other radii: another file
    path = folder / f"{stem}, {drawn}, radii {radii}.svg"
    planes.strengths(path, made, title, f"l_{norm} radius")
    print(f"  {path}")
