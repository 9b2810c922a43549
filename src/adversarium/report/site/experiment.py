"""Make the page of an experiment: figures, claims, configurations, tables, origin of the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adversarium.plans.knobs import knob
from adversarium.plans.papers import claims, experiments
from adversarium.plans.wording import counted
from adversarium.report import plan_source
from adversarium.report.documents import render, shortened
from adversarium.report.figures.style import csv_text
from adversarium.report.site.results import StoredExperiment
from adversarium.report.sources import place
from adversarium.runs.differences import shown as value_text
from adversarium.runs.jobs import Job
from adversarium.runs.ledger import Entry
from adversarium.runs.reader import Reader


class RunLine(NamedTuple):
    """The origin of the rows of one run."""

    run: str
    key: str
    engine: str
    seeds: int
    seconds: float
    machine: str
    refused: str


def run_lines(home: StoredExperiment, reader: Reader) -> list[RunLine]:
    """Return the origin of the rows of every run."""
    lines = []
    for job in home.jobs:
        origin = reader.provenance(job, home.seeds)
        known = {name: origin.get(name, "") for name in _MACHINE}
        lines.append(
            RunLine(
                run=job.task.label,
                key=job.key,
                engine=str(origin["engine"]),
                seeds=len(home.seeds),
                seconds=round(float(origin["seconds"]), 3),
                machine="{cpu}, {cores} cores, {device}, torch {torch}, {dtype}, "
                "revision {revision}".format(**known),
                refused="; ".join(f"{engine}: {why}" for engine, why in origin["refused"].items()),
            )
        )
    return lines


_MACHINE = ("cpu", "cores", "device", "torch", "dtype", "revision")


def experiment_page(
    home: StoredExperiment, known: Mapping[str, Entry], runs: Sequence[RunLine]
) -> tuple[str, str]:
    """Return the page, and its runs as CSV."""
    page = render(
        "experiment.html",
        title=home.experiment.title,
        up="../",
        home=home,
        entries=[
            (known[id], place(claims()[id]) if id in claims() else "")
            for id in home.experiment.checks
            if id in known
        ],
        knobs=_knobs(home),
        pictures=[figure for figure in home.figures if not figure.is_table],
        tables=[figure for figure in home.figures if figure.is_table],
        families=_families(home.jobs),
        runs=runs,
        header=RunLine._fields,
    )
    return page, csv_text(RunLine._fields, runs)


def _knobs(home: StoredExperiment) -> list[dict[str, str]]:
    """Return the parameters of an experiment: name, letters, type, quick value and meaning."""
    id = home.experiment.id
    file = experiments()[id].file if id in experiments() else home.experiment.file
    if file is None:
        return []
    rows = []
    for name, found in plan_source.knobs(file).items():
        one = knob(name, id)
        takes = " ".join(text for text in (str(found["takes"]), one.limits) if text)
        quick = shortened(value_text(found["quick"]), 60)
        letters = ", ".join(one.symbols[:2])
        rows.append(dict(name=name, letters=letters, takes=takes, quick=quick, says=one.says))
    return rows


def _families(jobs: Sequence[Job]) -> list[dict[str, object]]:
    """Return every family of runs: title, fields that its runs share, and fields that vary."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.task.family, []).append(job)
    return [
        {
            "title": ": ".join(part for part in (family, counted(len(members), "run")) if part),
            **_configuration([job.task.dynamics for job in members]),
        }
        for family, members in groups.items()
    ]


def _configuration(dynamics: Sequence[Mapping[str, object]]) -> dict[str, list[tuple[str, str]]]:
    leaves = [flat(one) for one in dynamics]
    values = {
        path: list(dict.fromkeys(value_text(one.get(path)) for one in leaves))
        for path in dict.fromkeys(path for one in leaves for path in one)
    }
    varied = {path: texts for path, texts in values.items() if len(texts) > 1}
    shared = _masked(dynamics[0], varied)
    texts = [(name, value_text(part)) for name, part in shared.items() if part is not None]
    return {
        "shared": [(name, shortened(text, 400)) for name, text in texts if text != _VARIES],
        "varied": [(path, shortened(", ".join(texts), 400)) for path, texts in varied.items()],
    }


def flat(configuration: object, path: str = "") -> dict[str, object]:
    """Return the leaves of a configuration by their paths.

    >>> flat({"data": {"is": "Clusters", "d": 4}, "n": 3})
    {'data': 'Clusters', 'data.d': 4, 'n': 3}
    """
    if not isinstance(configuration, Mapping):
        return {path: configuration}
    leaves = {path: configuration["is"]} if "is" in configuration and path else {}
    for name, value in configuration.items():
        if name != "is":
            leaves |= flat(value, f"{path}.{name}" if path else name)
    return leaves


_VARIES = "…"


def _masked(configuration: object, varied: Mapping[str, object], path: str = "") -> Any:
    """Return a configuration with dots in place of the fields that vary."""
    if path in varied and path:
        return _VARIES
    if not isinstance(configuration, Mapping):
        return configuration
    return {
        name: value if name == "is" else _masked(value, varied, f"{path}.{name}" if path else name)
        for name, value in configuration.items()
    }
