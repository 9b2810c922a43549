"""What the commands that run something do: plan, run, judge, draw, print."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adversarium.experiments.catalogue import experiment_ids, load, selected_claims
from adversarium.experiments.catalogue import experiments as entries
from adversarium.experiments.evidence import Evidence, Rows, interval
from adversarium.experiments.spec import Experiment, Run, configuration
from adversarium.probes.regime import assumptions
from adversarium.report import figures, tables
from adversarium.report.progress import Progress
from adversarium.report.site import write_site
from adversarium.sweeps.audit import (
    NOT_YET,
    Reader,
    audit,
    claims_of,
    evidence,
    judged,
    run_missing,
    stored_evidence,
    write_ledger,
)
from adversarium.sweeps.grid import parse_changes, parse_seeds, planned
from adversarium.sweeps.run import data_bytes, engine_of, key_of
from adversarium.sweeps.store import Store


def experiments_named(words: Sequence[str]) -> list[str]:
    """Experiments by id, claim, paper or own file, each once."""
    found = [
        i for word in words for i in ([word] if word.endswith(".py") else experiment_ids(word))
    ]
    return list(dict.fromkeys(found))


def _plain(id: str) -> str:
    """An id as the stem of a file name."""
    return Path(id).stem if id.endswith(".py") else id


def run_command(
    ids: Sequence[str],
    preset: str,
    seeds: str,
    words: Sequence[str],
    device: str,
    path: Path,
    out: Path,
    fresh: bool,
    dry: bool,
    against: bool,
    json: bool,
) -> int:
    """`adversarium run`."""
    changes = parse_changes(words)
    chosen = [(load(i), parse_seeds(seeds)) for i in experiments_named(ids)]
    plans = [
        (e, planned(e, preset, changes), s or tuple(range(e.seeds(preset)))) for e, s in chosen
    ]
    if dry:
        return _dry(plans, Store(path, readonly=True), json)
    store = Store(path)
    runs: list[dict[str, Any]] = []
    failures: list[str] = []
    for experiment, tasks, own in plans:
        reader = Reader(store, experiment.id)
        with Progress(quiet=json) as progress:
            failures += run_missing(experiment, tasks, own, reader, device, progress, fresh)
        rows: dict[str, Any] = {}
        for task in tasks:
            found = reader.rows(key_of(task), own)
            if found is None:
                continue
            rows[task.label] = found
            facts = reader.provenance(key_of(task), own)
            runs.append(
                {
                    "id": experiment.id,
                    "label": task.label,
                    "config": configuration(task),
                    "seeds": list(own),
                    "engine": facts["engine"],
                    "refused": facts["refused"],
                    "final": {p: list(found.last(p)) for p in found.values},
                    "seconds": round(facts["seconds"], 3),
                }
            )
        whole = len(rows) == len(tasks)
        under: dict[str, Any] = {}
        if against:
            published = experiment.runs(preset)
            with Progress(quiet=json) as progress:
                failures += run_missing(experiment, published, own, reader, device, progress, fresh)
            below = evidence(reader, published, own)
            if below is not None and whole:  # pairs by place in the plan: labels may have changed
                under = dict(zip(rows, below.values(), strict=False))
        if not json:
            _print_run(experiment, rows, whole, bool(changes), out, under)
    if json:
        print(tables.json_text({"runs": runs}))
    return failed(failures)


def failed(failures: Sequence[str]) -> int:
    for failure in failures:
        print(f"adversarium: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _dry(plans: Sequence[Any], store: Store, json: bool) -> int:
    """What would run: engine, refusals, memory of the data, the time where it is known, and which
    of the paper's assumptions the configuration satisfies."""
    lines = []
    for experiment, tasks, seeds in plans:
        for task in tasks:
            name, _, refused = engine_of(task)
            done = sorted(store.seeds(key_of(task)))
            missing = len(set(seeds) - set(done))
            spent = store.provenance(key_of(task), done)["seconds"] / len(done) if done else None
            lines.append(
                {
                    "id": experiment.id,
                    "label": task.label,
                    "engine": name,
                    "refused": refused,
                    "steps": task.steps if isinstance(task, Run) else 0,
                    "seeds": len(seeds),
                    "missing": missing,
                    "seconds": None if spent is None else spent * missing,
                    "bytes": data_bytes(task) if isinstance(task, Run) else 0,
                    "assumptions": [
                        {"text": h.text, "factor": h.factor, "holds": h.holds, "told": str(h)}
                        for h in (assumptions(task) if isinstance(task, Run) else ())
                    ],
                }
            )
    if json:
        print(tables.json_text({"runs": lines}))
        return 0
    for run in lines:
        known = f"about {run['seconds']:.0f} s" if run["seconds"] is not None else "time unknown"
        print(
            f"{run['id']} {run['label']}: {run['missing']} of {run['seeds']} seeds to run, "
            f"{run['steps']} steps, engine {run['engine']}, {known}, "
            f"{run['bytes'] / 2**20:.0f} MiB of data and weights in a block"
        )
        for name, why in run["refused"].items():
            print(f"  not {name}: {why}")
        for hypothesis in run["assumptions"]:
            print(f"  {hypothesis['told']}")
    costs = {e.id: entries()[e.id].cost for e, _, _ in plans if e.id in entries()}
    for id, cost in costs.items():
        print(f"{id}, measured: {cost}")
    return 0


def _print_run(
    experiment: Experiment, rows: Evidence, whole: bool, changed: bool, out: Path, under: Evidence
) -> None:
    mark = " (changed: not for the ledger)" if changed else ""
    print(f"{experiment.id}: {experiment.title}{mark}")
    for label, run in rows.items():
        print(
            f"  {label or 'run'}, {len(run.seeds)} seeds, last values [99 % interval of the mean]"
        )
        for probe in run.values:
            mean, low, high = figures.mean_and_interval(run, probe)
            ends = f"[{tables.number(low)}, {tables.number(high)}]"
            print(f"    {probe:<34} {tables.number(mean):>10}  {ends}")
            if label in under and probe in under[label].values:
                _print_difference(run, under[label], probe)
    for id in experiment.checks:
        try:
            verdict = judged(experiment, id, rows)
            print(f"  {id}: {verdict.verdict} {verdict.reason}")
        except KeyError as fault:
            if whole and not changed:
                raise
            lacks = "the changed plan lacks" if whole else "a run failed:"
            print(f"  {id}: undecided, out of regime: {lacks} {fault}")
    folder = out / experiment.name
    folder.mkdir(parents=True, exist_ok=True)
    for figure in experiment.figures:
        for file in figures.draw(figure, rows, folder, under):
            print(f"  {file}")


def _print_difference(run: Rows, published: Rows, probe: str) -> None:
    """Changed minus published, paired by seed."""
    gap = run.last(probe) - published.last(probe)
    low, high = interval(gap)
    ends = f"[{tables.number(low)}, {tables.number(high)}]"
    print(f"    {'  minus published':<34} {tables.number(float(gap.mean())):>10}  {ends}")


def verify_command(
    words: Sequence[str],
    preset: str,
    seeds: str,
    device: str,
    path: Path,
    write: Path | None,
    fresh: bool,
    json: bool,
) -> int:
    """`adversarium verify`."""
    chosen = []
    for word in words or ("",):
        if word.endswith(".py"):
            chosen += claims_of(word)
        else:
            chosen += selected_claims((word,) if word else ())
    chosen = list({c.id: c for c in chosen}.values())
    own = parse_seeds(seeds)
    store = Store(path)
    with Progress(quiet=json) as progress:
        ledger, failures = audit(chosen, store, preset, own, device, progress, fresh)
    judged_now = [e for e in ledger["claims"] if e["verdict"] != NOT_YET]
    store.keep_verdicts(judged_now)
    if write is not None:
        write_ledger(write, ledger)
    if json:
        print(tables.json_text(ledger))
    else:
        _print_ledger(ledger, bool(words))
    return failed(failures)


def _print_ledger(ledger: dict[str, Any], named: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    styles = {"holds": "blue", "fails": "bold red", "undecided": "yellow"}
    table = Table("claim", "verdict", "measured [99 %]", "wanted", "seeds", "s", show_lines=False)
    for e in ledger["claims"]:
        if e["verdict"] == NOT_YET and (not named or len(ledger["claims"]) > 20):
            continue
        shown = "\n".join(f"{m['name']}: {tables.with_interval(m)}" for m in e["measured"][:4])
        more = len(e["measured"]) - 4
        text = (
            shown
            + (f"\nand {more} more" if more > 0 else "")
            + (f"\n{e['reason']}" if e["reason"] else "")
        )
        table.add_row(
            e["id"],
            Text(e["verdict"], styles.get(e["verdict"], "dim")),
            Text(text.strip()),
            tables.expected_range(e),
            str(e["seeds"] or ""),
            tables.number(e["seconds"]),
        )
    if table.row_count:
        console.print(table)
    counted = Table("paper", *tables.WORDS)
    papers = {e["paper"] for e in ledger["claims"]}
    for key, _, *numbers in tables.summary(ledger["claims"]):
        if key.lower() in papers or key in papers:
            counted.add_row(key, *numbers)
    console.print(counted)
    cpu, cores = ledger["machine"]["cpu"], ledger["machine"]["cores"]
    print(f"{ledger['seconds']:.1f} s on {cpu}, {cores} cores")


def report_command(ids: Sequence[str], out: Path, path: Path) -> int:
    """`adversarium report`."""
    own = [word for word in ids if word.endswith(".py")]
    other = [word for word in ids if word not in own]
    if other:
        raise ValueError(
            f"report takes own files (./FILE.py) beside the whole store, got {other[0]!r}."
        )
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out needs a directory, got the file {out}.")
    old = out / "index.html"
    if old.exists() and "· adversarium</title>" not in old.read_text(encoding="utf-8"):
        raise ValueError(f"{old} is no report of ours; name another directory (--out DIR).")
    first = write_site(Store(path, readonly=True), out, own)
    print(f"the report is at {first}")
    return 0


def export_command(id: str, to: str, preset: str, seeds: str, path: Path, out: Path | None) -> int:
    """`adversarium export`."""
    store = Store(path, readonly=True)
    if to == "tex":
        words = [c.id for c in (claims_of(id) if id.endswith(".py") else selected_claims((id,)))]
        stored = store.verdicts()
        entries = [stored[w] for w in words if w in stored]
        if not entries:
            raise ValueError(f"no verdict of {id} in {path}; run `adversarium verify {id}` first.")
        target = out or Path(f"{_plain(id)}.tex")
        tables.write_tex(target, entries)
        print(target)
        return 0
    for home in experiments_named([id]):
        experiment = load(home)
        own = parse_seeds(seeds) or tuple(range(experiment.seeds(preset)))
        rows = evidence(Reader(store, home), experiment.runs(preset), own)
        if rows is None:
            there = stored_evidence(experiment, store)
            other = f", or take --preset {there[0]}, whose rows are there" if there else ""
            raise ValueError(
                f"{path} lacks rows of {home} at preset {preset} with {len(own)} seeds; run "
                f"`adversarium run {home} --preset {preset}` first{other}."
            )
        if to in ("svg", "pdf", "png"):
            folder = out or Path("export") / experiment.name
            folder.mkdir(parents=True, exist_ok=True)
            for figure in experiment.figures:
                for file in figures.draw(figure, rows, folder, formats=(to,)):
                    print(file)
            continue
        target = out or Path(f"{_plain(home)}.{to}")
        (tables.write_csv if to == "csv" else tables.write_npz)(target, rows)
        print(target)
    return 0
