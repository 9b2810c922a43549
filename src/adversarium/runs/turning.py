"""Every knob, turned once: what it takes and which families of runs it reaches. Nothing is trained.

`python -m adversarium.runs.turning` writes src/adversarium/knobs.json, which `show` reads without
torch.
"""

import inspect
import json
from pathlib import Path
from typing import Any, get_args

from adversarium.digest import configuration, digest
from adversarium.plans.catalogue import experiments, load
from adversarium.plans.experiment import Experiment
from adversarium.plans.run import Task
from adversarium.plans.words import kind
from adversarium.runs.knobs import present, turns

FILE = Path(__file__).parents[1] / "knobs.json"


def turned(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """The knobs of an experiment: what each takes, its value at the quick preset, and the families
    of the runs that change when it is turned."""
    before = _families(experiment.tasks("quick"))
    count = len({one for some in before.values() for one in some})
    told = {}
    for name, parameter in inspect.signature(experiment.plan).parameters.items():
        value = present(experiment, "quick", name)
        sample = parameter.default if value == () else value  # none of them: the plan's own
        reached: set[str] = set()
        kept = {one for some in before.values() for one in some}  # runs that no turn has changed
        others = [{name: knobs[name]} for knobs in experiment.presets.values() if name in knobs]
        others += [{name: word} for word in (sample, *get_args(parameter.annotation))]
        for turn in (*turns(name, value), *others):
            try:
                after = _families(experiment.tasks("quick", **turn))
            except (ValueError, ArithmeticError, LookupError, TypeError):
                continue  # a value that this plan does not take
            if after != before:
                kept &= {one for some in after.values() for one in some}
            both = {**before, **after}
            reached |= {family for family in both if before.get(family) != after.get(family)}
        told[name] = {
            "takes": kind(sample),
            "quick": configuration(value),
            "reaches": sorted(reached),
            "all": bool(reached) and not kept,
            "runs": [count - len(kept) if reached else 0, count],
        }
    return told


def _families(tasks: tuple[Task, ...]) -> dict[str, list[str]]:
    """The digests of the tasks of every family, with what they record."""
    grouped: dict[str, list[str]] = {}
    for task in tasks:
        grouped.setdefault(task.family, []).append(digest(task.told))
    return grouped


def main() -> None:
    """Writes the file."""
    whole = {id: turned(load(id)) for id in experiments()}
    FILE.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
