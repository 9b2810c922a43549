"""The store as a static web site: opens from disk, asks no host, runs no script."""

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from adversarium.plans.catalogue import experiments, load, papers, readings, selected_claims
from adversarium.plans.evidence import Evidence
from adversarium.plans.experiment import Experiment
from adversarium.plans.figures import Figure, Table
from adversarium.report.figures import (
    draw,
    mean_and_interval,
    shown,
    table_columns,
    table_value,
)
from adversarium.report.findings import drawn, findings
from adversarium.report.mathematics import plain
from adversarium.report.tables import (
    WORDS,
    chances,
    expected_range,
    json_text,
    number,
    spanned,
    summary,
    with_interval,
)
from adversarium.runs.audit import stored_entries, stored_evidence
from adversarium.runs.ledger import NOT_RUN, NOT_YET, Entry, Ledger
from adversarium.runs.machine import machine
from adversarium.runs.reader import Reader
from adversarium.runs.store import Store

_STYLE = """
:root { --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --tint: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9aa4af; --line: #3d444d; --back: #0d1117; --tint: #161b22; }
  figure img { background: #ffffff; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
nav a { margin-right: 1.2rem; } a { color: #0969da; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .9rem; }
th, td { border-bottom: 1px solid var(--line); padding: .45rem .6rem; text-align: left;
  vertical-align: top; }
th { background: var(--tint); } td.n { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: .85em; background: var(--tint); padding: .1em .3em; border-radius: 4px;
  overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .88rem; }
.verdict { font-weight: 600; white-space: nowrap; }
.holds::before { content: "✓ "; } .fails::before { content: "✗ "; }
.undecided::before { content: "? "; } .mixed::before { content: "✓✗ "; }
.holds { color: #0072B2; } .fails { color: #D55E00; } .undecided { color: #8a6d00; }
.mixed { color: #AA3377; }
@media (prefers-color-scheme: dark) { .holds { color: #56B4E9; } .undecided { color: #E69F00; }
  a { color: #6cb6ff; } }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
details { margin: .6rem 0; }
"""


def _page(title: str, body: str, up: str = "") -> str:
    links = (("index", "ledger"), ("errata", "errata"), ("provenance", "provenance"))
    nav = "".join(f'<a href="{up}{file}.html">{name}</a>' for file, name in links)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} · adversarium</title>"
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{up}style.css"></head>'
        f"<body><nav>{nav}</nav><h1>{html.escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(h)}</th>" for h in header)
    rows = "".join("<tr>" + "".join(line) + "</tr>\n" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _cell(text: str, kind: str = "") -> str:
    return f'<td class="{kind}">{text}</td>' if kind else f"<td>{text}</td>"


def _measured(entry: Entry, most: int = 6) -> str:
    told = [f"{html.escape(m.name)}: {with_interval(m)}" for m in entry.measured[:most]]
    rest = len(entry.measured) - most
    return "<br>".join(told) + (f"<br>and {rest} more" if rest > 0 else "")


def _soft(text: str) -> str:
    return f'<div class="soft">{text}</div>' if text else ""


def _structure(entry: Entry) -> str:
    """Parts with their own words, the regime, what the evidence spans and how sharp it is."""
    lines = []
    if len(entry.parts) > 1:
        lines += [f"{html.escape(p.name)}: <b>{p.word}</b>" for p in entry.parts]
    lines += [f"regime: {html.escape(str(gate))}" for gate in entry.regime]
    if spans := spanned(entry):
        lines.append(f"spans {html.escape(spans)}")
    if entry.for_all:
        lines.append(f"for all {html.escape(', '.join(entry.for_all))}")
    lines += [
        f"sharpness: {html.escape(f'{sharp} ({name})' if name else str(sharp))}"
        for name, sharp in entry.sharpness
    ]
    if not lines:
        return ""
    told = "<br>".join(lines)
    summary_ = f"{len(entry.parts)} parts, {len(entry.regime)} hypotheses"
    return f'<details class="soft"><summary>{summary_}</summary>{told}</details>'


def _claim_line(entry: Entry, home: str) -> list[str]:
    text = entry.expected.text if entry.expected else ""
    wanted = expected_range(entry)
    name = html.escape(entry.id)
    if home:
        name = f'<a href="experiments/{html.escape(home)}.html">{name}</a>'
    paper = html.escape(text) + _soft(f"rule: {wanted}" if wanted else "")
    reading = _soft(html.escape(f"reading: {entry.reading}" if entry.reading else ""))
    word = entry.verdict
    evidence = _soft(f"{entry.preset}, {entry.seeds} seeds" if entry.seeds else "")
    command = f"<code>{html.escape(entry.command)}</code>" if entry.command else ""
    return [
        _cell(
            f'<span id="{html.escape(entry.id)}">{name}</span>'
            + _soft(f"{html.escape(entry.source)} · {entry.kind}")
        ),
        _cell(html.escape(entry.statement) + _soft(html.escape(entry.note)) + reading),
        _cell(paper),
        _cell(_measured(entry) + _soft(html.escape(entry.reason)) + _structure(entry)),
        _cell(f'<span class="verdict {word.replace(" ", "-")}">{word}</span>' + evidence),
        _cell(number(entry.seconds), "n"),
        _cell(command),
    ]


_COLUMNS = ("claim", "statement", "paper's value", "measured [99 %]", "verdict", "s", "command")


def _told(entries: Sequence[Entry], out: Path) -> list[str]:
    """What is worth telling first: a sentence, a small picture and a command each."""
    known = findings(entries)
    if not known:
        return []
    folder = out / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    items = "".join(
        f"<li><p>{html.escape(finding.sentence)}</p>"
        f'<img src="findings/{drawn(finding, folder).name}" alt="{html.escape(finding.label)}">'
        f"<p><code>{html.escape(finding.command)}</code></p></li>"
        for finding in known
    )
    return [f"<h2>Found so far</h2><ol>{items}</ol><h2>All verdicts</h2>"]


def _index(entries: Sequence[Entry], homes: Mapping[str, str], out: Path) -> str:
    keys = {paper.key for paper in papers().values()}
    lines = [
        [_cell(f'<a href="#{key if key in keys else "own"}">{key}</a>'), _cell(html.escape(title))]
        + [_cell(count, "n") for count in counts]
        for key, title, *counts in summary(entries)
    ]
    parts = [*_told(entries, out), _table(("paper", "title", *WORDS), lines), _chances(entries)]
    idle = sum(e.verdict == NOT_RUN for e in entries)
    if idle:
        parts.append(f"<p>{idle} claims have an experiment but no rows in this store.</p>")
    for paper in papers().values():
        about = f"{html.escape(paper.title)}. {html.escape(paper.authors)}.{_readings(paper.tag)}"
        theirs = [e for e in entries if e.paper == paper.tag]
        parts += _section(paper.key, about, theirs, homes)
    others = [e for e in entries if e.paper not in papers()]
    parts += _section("own", "", others, homes)
    return _page("Ledger", "\n".join(parts))


def _readings(tag: str) -> str:
    """How a paper's open constants are read, one line each."""
    told = (f"<br>{html.escape(sign)}: {html.escape(text)}" for sign, text in readings(tag).items())
    return "".join(told)


def _chances(entries: Sequence[Entry]) -> str:
    chancy, wrong = chances(entries)
    return (
        f"<p>{chancy} verdicts rest on chance; at 99 % a claim, and failures seen on two sets of "
        f"seeds, at most {wrong:.2g} wrong ones are to be expected.</p>"
    )


def _section(key: str, about: str, entries: Sequence[Entry], homes: Mapping[str, str]) -> list[str]:
    """A paper's part of the ledger: what was judged, and what waits."""
    if not entries:
        return []
    done = [e for e in entries if e.verdict not in (NOT_YET, NOT_RUN)]
    parts = [f'<h2 id="{key}">{key}</h2>']
    if about:
        parts.append(f'<p class="soft">{about}</p>')
    if done:
        parts.append(_table(_COLUMNS, [_claim_line(e, homes.get(e.id, "")) for e in done]))
    waiting = [e for e in entries if e not in done]
    if waiting:
        rows = [
            [_cell(f'<span id="{html.escape(e.id)}">{html.escape(e.id)}</span>')]
            + [_cell(html.escape(text)) for text in (e.statement, e.source, e.verdict)]
            for e in waiting
        ]
        table = _table(("claim", "statement", "source", "state"), rows)
        title = f"{len(waiting)} claims without a verdict here"
        parts.append(f"<details><summary>{title}</summary>{table}</details>")
    return parts


def _errata(entries: Sequence[Entry]) -> str:
    by_id = {e.id: e for e in entries}
    failed = [e for e in entries if e.verdict in ("fails", "mixed") and not e.alias_of]
    if not failed:
        body = "<p>No printed statement that was audited here fails.</p>"
        return _page("Errata", body)
    parts = [
        "<p>Printed statements that fail, or do so in part, with the numbers that refute them, the "
        "command that repeats the counterexample, and the corrected statement.</p>"
    ]
    for e in failed:
        corrected = by_id.get(e.corrected or "")
        parts.append(
            f'<h2>{html.escape(e.id)}</h2><p class="soft">{html.escape(e.source)}</p>'
            f"<p>{html.escape(e.statement)}</p><p><b>Measured.</b> {_measured(e)}. "
            f"{html.escape(e.reason)}</p><p><code>{html.escape(e.command or '')}</code></p>"
        )
        if corrected:
            parts.append(
                f"<p><b>Corrected</b> (<code>{html.escape(corrected.id)}</code>, "
                f"{corrected.verdict}): {html.escape(corrected.statement)}</p>"
            )
    return _page("Errata", "\n".join(parts))


def _figure(figure: Figure, rows: Evidence, folder: Path, prefix: str) -> str:
    files = draw(figure, rows, folder, formats=("svg", "pdf", "png"))
    if not files:
        return ""
    others = "".join(f', <a href="{prefix}/{f.name}">{f.suffix[1:]}</a>' for f in files[1:])
    data = f'<a href="{prefix}/{figure.name}.csv">data</a>{others}'
    caption = f"<figcaption>{html.escape(figure.caption)} {data}</figcaption>"
    if isinstance(figure, Table):
        title = f"<h3>{html.escape(figure.title)}</h3>"
        return f"<figure>{title}{_shown_table(figure, rows)}{caption}</figure>"
    alt = html.escape(f"{figure.title}. {figure.caption}")
    return f'<figure><img src="{prefix}/{files[0].name}" alt="{alt}">{caption}</figure>'


def _shown_table(figure: Table, rows: Evidence) -> str:
    runs = shown(figure, rows)
    columns, lines = table_columns(figure, runs), []
    for run in runs:
        cells = [_cell(html.escape(run.label))]
        for probe, _, place in columns:
            values = table_value(run, probe, place)
            if values is None:
                cells.append(_cell("–"))
                continue
            m, a, b = mean_and_interval(values)
            cells.append(_cell(f"{number(m)} <span class='soft'>[{number(a)}, {number(b)}]</span>"))
        lines.append(cells)
    return _table(("", *(plain(name) for _, name, _ in columns)), lines)


def _experiment(experiment: Experiment, store: Store, out: Path) -> list[list[str]]:
    """Writes the page of one experiment; returns its lines of the provenance page."""
    stored = stored_evidence(experiment, store)
    if stored is None:
        return []
    preset, seeds, jobs, rows = stored
    name = experiment.name
    folder = out / "figures" / name
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [_figure(f, rows, folder, f"../figures/{name}") for f in experiment.figures]
    reader = Reader(store, experiment.id)
    lines = []
    for job in jobs:
        p = reader.provenance(job, seeds)
        refused = "<br>".join(
            f"{html.escape(k)}: {html.escape(v)}" for k, v in p["refused"].items()
        )
        config = json.dumps(job.task.dynamics, ensure_ascii=False, indent=1)
        made_on = (
            f"{p.get('cpu', '')}, {p.get('cores', '')} cores, {p.get('device', '')}, "
            f"torch {p.get('torch', '')}, {p.get('dtype', '')}, revision {p.get('revision', '')}"
        )
        lines.append(
            [
                _cell(html.escape(f"{name} {job.task.label}")),
                _cell(f"<code>{job.key}</code>"),
                _cell(f"{p['engine']}<div class='soft'>{refused}</div>"),
                _cell(f"{preset}, {len(seeds)}"),
                _cell(number(p["seconds"]), "n"),
                _cell(html.escape(made_on)),
                _cell(
                    f"<details><summary>show</summary><pre>{html.escape(config)}</pre></details>"
                ),
            ]
        )
    claims = "".join(
        f'<li><a href="../index.html#{html.escape(c)}">{html.escape(c)}</a></li>'
        for c in experiment.checks
    )
    body = (
        f'<p class="soft">{html.escape(experiment.id)} · preset {preset}, {len(seeds)} seeds</p>'
        f"{''.join(pictures)}<h2>Claims</h2><ul>{claims}</ul>"
        "<h2>Run it</h2>"
        f"<p><code>adversarium run {html.escape(experiment.id)} --preset {preset}</code></p>"
    )
    (out / "experiments" / f"{name}.html").write_text(
        _page(experiment.title, body, "../"), encoding="utf-8"
    )
    return lines


def write_site(store: Store, out: Path, added: Sequence[str] = ()) -> Path:
    """Writes the whole site and returns its first page."""
    (out / "experiments").mkdir(parents=True, exist_ok=True)
    chosen = [*selected_claims(()), *(selected_claims(added) if added else ())]
    entries = stored_entries(store, chosen)
    ids = [*experiments(), *added]
    lines: list[list[str]] = []
    homes: dict[str, str] = {}
    for id in ids:
        experiment = load(id)
        made = _experiment(experiment, store, out)
        lines += made
        if made:
            homes |= dict.fromkeys(experiment.checks, experiment.name)
    header = (
        "run",
        "key",
        "engine, and why not those before it",
        "preset, seeds",
        "s",
        "machine",
        "configuration",
    )
    failures = [
        f"<li>{html.escape(f['experiment'])}, seeds {f['seeds']}: {html.escape(f['reason'])}</li>"
        for f in store.failures()
    ]
    body = _table(header, lines) + (
        f"<h2>Failed runs</h2><ul>{''.join(failures)}</ul>" if failures else ""
    )
    (out / "style.css").write_text(_STYLE.strip() + "\n", encoding="utf-8")
    (out / "index.html").write_text(_index(entries, homes, out), encoding="utf-8")
    (out / "errata.html").write_text(_errata(entries), encoding="utf-8")
    (out / "provenance.html").write_text(_page("Provenance", body), encoding="utf-8")
    ledger = Ledger(entries, machine(), sum(e.seconds for e in entries))
    (out / "ledger.json").write_text(json_text(ledger.plain()) + "\n", encoding="utf-8")
    return out / "index.html"
