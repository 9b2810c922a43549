"""`adversarium attack`: every attack × radius, as a table and a picture."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from adversarium.experiments.catalogue import load
from adversarium.experiments.spec import Experiment, Run
from adversarium.report import planes, tables
from adversarium.report.commands import experiments_named
from adversarium.sweeps.grid import parse_changes, planned
from adversarium.sweeps.strengths import Strengths, strengths


def attack_command(
    id: str,
    seed: int,
    radii: str,
    points: int,
    preset: str,
    words: Sequence[str],
    device: str,
    out: Path,
    json: bool,
) -> int:
    """`adversarium attack`."""
    try:
        chosen = tuple(float(r) for r in radii.split(",")) if radii else ()
    except ValueError:
        chosen = (-1.0,)
    if any(not 0 <= r < math.inf for r in chosen) or len(set(chosen)) < len(chosen):
        raise ValueError(f"--radii needs different numbers >= 0 such as 0.1,0.5,1, got {radii!r}.")
    if seed < 0 or points < 1:
        raise ValueError(f"attack needs seed >= 0 and points >= 1, got {seed} and {points}.")
    found = []
    for home in experiments_named([id]):
        experiment = load(home)
        for task in planned(experiment, preset, parse_changes(words)):
            if isinstance(task, Run):
                print(f"{experiment.id} {task.label}: training seed {seed}", file=sys.stderr)
                made = strengths(task, seed, chosen, points, device)
                found.append({"id": experiment.id, "label": task.label, "seed": seed, **vars(made)})
                if not json:
                    _print_strengths(experiment, task, made, out)
    if not found:
        raise ValueError(f"{id} trains no network: its plan has trials alone.")
    if json:
        print(tables.json_text({"attacks": found}))
    return 0


def _print_strengths(experiment: Experiment, task: Run, made: Strengths, out: Path) -> None:
    norm = "∞" if made.p == math.inf else f"{made.p:g}"
    print(f"{experiment.id} {task.label}: error by attack and l_{norm} radius")
    print(f"  {'':<34}" + "".join(f"{r:>9.4g}" for r in made.radii))
    for name, row in {**made.errors, "not proven robust": made.proven}.items():
        if row:
            print(f"  {name:<34}" + "".join(f"{tables.number(e):>9}" for e in row))
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    stem = "".join(c if c.isalnum() else "-" for c in task.label) or "run"
    caps = impossible(task, made)
    path = folder / f"{stem}.svg"
    planes.strengths(path, made, f"{experiment.id} {task.label}", f"l_{norm} radius", caps)
    print(f"  {path}")


def impossible(task: Run, made: Strengths) -> list[float]:
    """The error that no classifier avoids at each radius: 1 − 1/k where all strengths of RNRF's
    data are at most twice the radius (`rnrf.x.impossibility`), else 0; empty for other data."""
    data = task.data
    if not hasattr(data, "n_robust") or made.p != math.inf or data.strengths != "constant":
        return []
    top = max(data.alpha, data.beta)
    return [1 - 1 / data.k if top <= 2 * radius else 0.0 for radius in made.radii]
