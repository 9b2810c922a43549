"""Where all rows come from: a line an experiment, and the runs that failed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adversarium.report.site.experiment import RunLine
from adversarium.report.site.parts import cell, escape, page, table
from adversarium.report.site.stored import Stored
from adversarium.report.tables import number

_HEADER = ("experiment", "preset", "seeds", "runs", "engines", "s", "machines")


def provenance_page(
    homes: Sequence[Stored],
    runs: Mapping[str, Sequence[RunLine]],
    failures: Sequence[Mapping[str, Any]],
) -> str:
    """The page; every experiment's own page has its runs one by one."""
    lines = []
    for home in homes:
        mine = runs[home.name]
        engines = Counter(line[2] for line in mine)
        machines = Counter(line[5] for line in mine)
        link = f'<a href="experiments/{home.name}.html">{escape(home.experiment.id)}</a>'
        lines.append(
            [
                cell(link),
                cell(home.preset),
                cell(str(len(home.seeds)), "n"),
                cell(str(len(mine)), "n"),
                cell(escape(_counted(engines))),
                cell(number(sum(line[4] for line in mine)), "n"),
                cell("<br/>".join(escape(name) for name in machines)),
            ]
        )
    body = table(_HEADER, lines) + '<p><a href="ledger.json">the whole ledger as JSON</a></p>'
    if failures:
        told = "".join(
            f"<li>{escape(f['experiment'])}, seeds {f['seeds']}: {escape(f['reason'])}</li>"
            for f in failures
        )
        body += f"<h2>Failed runs</h2><ul>{told}</ul>"
    return page("Provenance", body)


def _counted(names: Counter[str]) -> str:
    return ", ".join(
        f"{name} ({count})" if len(names) > 1 else name for name, count in names.items()
    )
