"""The page of an experiment: what it runs, what its claims say, figures, tables, where rows come
from."""

from collections.abc import Mapping, Sequence
from typing import Any

from adversarium.plans.words import counted
from adversarium.report.figures.style import csv_text
from adversarium.report.site.parts import (
    cell,
    claim_link,
    code,
    escape,
    folded,
    page,
    shortened,
    table,
    terms,
    word,
)
from adversarium.report.site.stored import LINES, Stored, told
from adversarium.report.tables import number
from adversarium.report.typeset import typeset
from adversarium.runs.jobs import Job
from adversarium.runs.ledger import Entry
from adversarium.runs.reader import Reader

HEADER = ("run", "key", "engine", "seeds", "seconds", "machine", "refused")
RunLine = tuple[str, str, str, int, float, str, str]  # as the header says


def run_lines(home: Stored, reader: Reader) -> list[RunLine]:
    """Where the rows of every run come from."""
    lines: list[RunLine] = []
    for job in home.jobs:
        p = reader.provenance(job, home.seeds)
        made_on = (
            f"{p.get('cpu', '')}, {p.get('cores', '')} cores, {p.get('device', '')}, torch "
            f"{p.get('torch', '')}, {p.get('dtype', '')}, revision {p.get('revision', '')}"
        )
        refused = "; ".join(f"{engine}: {why}" for engine, why in p["refused"].items())
        spent = round(float(p["seconds"]), 3)
        lines.append(
            (job.task.label, job.key, str(p["engine"]), len(home.seeds), spent, made_on, refused)
        )
    return lines


def experiment_page(
    home: Stored, known: Mapping[str, Entry], runs: Sequence[RunLine]
) -> tuple[str, str]:
    """The page, and its runs as CSV."""
    experiment = home.experiment
    judged = [known[id] for id in experiment.checks if id in known]
    lines = [
        [cell(claim_link(e.id, "../")), cell(word(e.verdict)), cell(shortened(e.statement))]
        for e in judged
    ]
    claims = f"<h2>Claims</h2>{table(('claim', 'verdict', 'statement'), lines)}" if lines else ""
    pictures = "".join(f.html("../") for f in home.figures if not f.is_table)
    tables = "".join(f.html("../") for f in home.figures if f.is_table)
    body = (
        f'<p class="soft">{escape(experiment.id)} · preset {home.preset}, {len(home.seeds)} '
        f"seeds, {len(home.jobs)} runs</p>"
        + (f"<h2>Figures</h2>{pictures}" if pictures else "")
        + claims
        + f"<h2>What is run</h2>{_families(home.jobs)}"
        + (f"<h2>Tables</h2>{tables}" if tables else "")
        + f"<h2>Repeat it</h2>{code(f'adversarium run {experiment.id} --preset {home.preset}')}"
        + f"<h2>Provenance</h2>{_provenance(home, runs)}"
    )
    return page(experiment.title, body, "../"), csv_text(HEADER, runs)


def _provenance(home: Stored, runs: Sequence[RunLine]) -> str:
    lines = [
        [cell(number(v), "n") if isinstance(v, float) else cell(escape(str(v))) for v in line]
        for line in runs[:LINES]
    ]
    some = f"the first {LINES} of " if len(runs) > LINES else ""
    spent = sum(line[4] for line in runs)
    return (
        f"<p>{number(spent)} s in all; "
        f'<a href="{home.name}.runs.csv">every run with its key, engine and machine</a>.</p>'
        + folded(f"{some}{len(runs)} runs", table(HEADER, lines))
    )


def _families(jobs: Sequence[Job]) -> str:
    """The configuration of every family: what its runs share, and what varies among them."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.task.family, []).append(job)
    made = []
    for family, members in groups.items():
        count = counted(len(members), "run")
        title = f"{family}: {count}" if family else count
        made.append((title, terms(_configuration([job.task.dynamics for job in members]))))
    if len(made) == 1:
        return made[0][1]
    return "".join(folded(title, inside) for title, inside in made)


def _configuration(dynamics: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    leaves = [flat(one) for one in dynamics]
    varied = {
        path: list(dict.fromkeys(told(one.get(path)) for one in leaves))
        for path in dict.fromkeys(path for one in leaves for path in one)
    }
    varied = {path: values for path, values in varied.items() if len(values) > 1}
    shared = _masked(dynamics[0], varied)
    pairs = [(name, _short(told(part))) for name, part in shared.items() if part is not None]
    pairs = [(name, f"<code>{escape(text)}</code>") for name, text in pairs if text != "…"]
    return pairs + [
        (f"varies: {path}", typeset(_short(", ".join(values)))) for path, values in varied.items()
    ]


def flat(configuration: Any, path: str = "") -> dict[str, Any]:
    """The leaves of a configuration by their paths.

    >>> flat({"data": {"is": "Clusters", "d": 4}, "n": 3})
    {'data': 'Clusters', 'data.d': 4, 'n': 3}
    """
    if not isinstance(configuration, Mapping):
        return {path: configuration}
    made = {path: configuration["is"]} if "is" in configuration and path else {}
    for name, value in configuration.items():
        if name != "is":
            made |= flat(value, f"{path}.{name}" if path else name)
    return made


def _masked(configuration: Any, varied: Mapping[str, Any], path: str = "") -> Any:
    """A configuration with dots in place of what varies."""
    if path in varied and path:
        return "…"
    if not isinstance(configuration, Mapping):
        return configuration
    return {
        name: value if name == "is" else _masked(value, varied, f"{path}.{name}" if path else name)
        for name, value in configuration.items()
    }


def _short(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
