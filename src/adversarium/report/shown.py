"""One claim or experiment as text, without torch."""

import ast
import json
import textwrap
from importlib.resources import files
from pathlib import Path
from typing import Any

from adversarium.plans.catalogue import (
    Claim,
    Entry,
    claims,
    experiments,
    load,
    own_file,
    paper_of,
    selected_claims,
    verdict_key,
)
from adversarium.plans.verdict import Word
from adversarium.plans.words import word


def last_verdicts(store: Path) -> dict[str, dict[str, Any]]:
    """The committed ledger's verdicts, overruled by those of the user's store."""
    path = files("adversarium") / "ledger.json"
    known = json.loads(path.read_text(encoding="utf-8"))["claims"] if path.is_file() else []
    words = {str(word) for word in Word}
    verdicts = {e["id"]: e for e in known if e["verdict"] in words}
    if store.exists():
        from adversarium.runs.store import Store

        verdicts |= Store(store, readonly=True).verdicts()
    return verdicts


def shown(id: str, store: Path, as_json: bool) -> str:
    """An experiment if the id is one's, else the claim."""
    verdicts = last_verdicts(store)
    entries = {e.id.lower(): e for e in experiments().values()}
    exact = {c.id.lower(): c for c in claims().values()}
    if id.lower() in exact:
        claim = exact[id.lower()]
        return _json(claim, verdicts) if as_json else _claim(claim, verdicts)
    if id.lower() in entries:
        entry = entries[id.lower()]
        if as_json:
            return json.dumps(
                {
                    "experiment": vars(entry),
                    "knobs": known_knobs(entry.id),
                    "verdicts": [verdicts.get(c) for c in entry.claims],
                },
                ensure_ascii=False,
            )
        return _experiment(entry, verdicts)
    chosen = selected_claims((id,))
    own = own_file(id)
    verdicts |= {c.id: verdicts[verdict_key(c)] for c in chosen if verdict_key(c) in verdicts}
    if own is not None and not as_json:
        title = load(id).title
        return _experiment(
            Entry(id=id, title=title, module="", file=id, claims=tuple(c.id for c in chosen)),
            verdicts,
        )
    if as_json:
        whole: dict[str, Any] = {"claims": [vars(c) for c in chosen]}
        if own is not None:
            whole |= {"knobs": known_knobs(id), "verdicts": [verdicts.get(c.id) for c in chosen]}
        return json.dumps(whole, ensure_ascii=False)
    return "\n\n".join(_claim(c, verdicts, bibtex=False) for c in chosen)


def _json(claim: Claim, verdicts: dict[str, dict[str, Any]]) -> str:
    whole = {"claim": vars(claim), "verdict": verdicts.get(claim.id)}
    return json.dumps({**whole, "bibtex": paper_of(claim.id).bibtex}, ensure_ascii=False)


def _claim(claim: Claim, verdicts: dict[str, dict[str, Any]], bibtex: bool = True) -> str:
    lines = [claim.id, f"  {claim.source} of {paper_of(claim.id).key} ({claim.kind})", ""]
    lines += textwrap.wrap(claim.statement, 96, initial_indent="  ", subsequent_indent="  ")
    for name, text in (
        ("value" if claim.source.startswith("ours") else "paper's value", claim.value),
        ("first rule, changed" if "Rule changed" in claim.note else "evidence", claim.rule),
        ("reading", claim.reading),
        ("note", claim.note),
    ):
        if text:
            lines += textwrap.wrap(
                f"{name}: {text}", 96, initial_indent="  ", subsequent_indent="    "
            )
    lines.append(f"  {_home(claim)}")
    lines += _verdict(verdicts.get(claim.id) or verdicts.get(claim.alias_of))
    if f"{claim.id}.corrected" in claims():
        lines.append(f"  corrected statement: {claim.id}.corrected")
    if bibtex and claim.experiment:
        lines += ["", "what is run: " + _what(experiments()[claim.experiment])]
    if bibtex:
        lines += ["", textwrap.indent(paper_of(claim.id).bibtex, "  ")]
    return "\n".join(lines)


def _home(claim: Claim) -> str:
    """Which experiment judges a claim: its own, or that of the claim whose check it shares."""
    other = claims().get(claim.alias_of)
    if other is not None:
        where = f"by {other.experiment}" if other.experiment else "nowhere yet"
        return f"judged {where}, by the same check as {other.id}"
    return f"judged by {claim.experiment}" if claim.experiment else "not yet implemented"


def _verdict(entry: dict[str, Any] | None) -> list[str]:
    if entry is None:
        return ["  last verdict: none yet"]
    how = f"{entry['preset']}, {entry['seeds']} seeds, {entry['engine']}"
    lines = [f"  last verdict: {entry['verdict']} ({how})"]
    parts = entry.get("parts", ())
    if len(parts) > 1:
        lines += [line for part in parts for line in _part(part)]
    else:
        measured = parts[0]["measured"] if parts else entry["measured"]
        numbers, ranged = _numbers(measured, _range(entry["expected"]))
        lines += [f"    {number}" for number in numbers]
        lines += [f"    wanted: {ranged}"] if ranged else []
    if entry["reason"]:
        lines.append(f"    {entry['reason']}")
    return lines + _structure(entry)


def _measured(m: dict[str, Any]) -> str:
    ends = "" if m["low"] is None else f" [{_number(m['low'])}, {_number(m['high'])}]"
    return f"{m['name']}: {_number(m['mean'])}{ends}"


def _range(ends: dict[str, Any] | None) -> str:
    """A range in words; nothing where neither end is known."""
    low, high = (ends or {}).get("low"), (ends or {}).get("high")
    if low is None or high is None:
        return (
            f">= {_number(low)}" if low is not None else f"<= {_number(high)}" * (high is not None)
        )
    return f"{_number(low)} to {_number(high)}"


def _part(part: dict[str, Any]) -> list[str]:
    """A part with its word, its numbers, and its own range, or how far these are from its edge."""
    sharp = part.get("sharpness", {})
    numbers, ranged = _numbers(part["measured"], _range(part))
    room = [f"{what} {_number(v)}" for what, v in sharp.items() if what != "half width"]
    told = ", ".join([f"wanted: {ranged}"] if ranged else room)
    more = f" ({told})" if told else ""
    if len(numbers) == 1 and numbers[0].startswith(part["name"]):
        return [f"    {part['verdict']}: {numbers[0]}{more}"]
    return [f"    {part['verdict']}: {part['name']}{more}", *(f"      {n}" for n in numbers)]


def _numbers(measured: list[dict[str, Any]], ranged: str) -> tuple[list[str], str]:
    """Numbers with their ranges: each its own where they differ, else one for all."""
    pairs = [m.get("wanted") or (None, None) for m in measured]
    own = [_range({"low": low, "high": high}) for low, high in pairs]
    if len({one for one in own if one}) < 2:
        return [_measured(m) for m in measured], ranged
    told = (f" (wanted: {one})" if one else "" for one in own)
    return [_measured(m) + more for m, more in zip(measured, told, strict=True)], ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _structure(entry: dict[str, Any]) -> list[str]:
    """Parts with their own words, the regime, and what the evidence spans."""
    lines = []
    parts = entry.get("parts", ())
    if len(parts) > 1:
        count = {p["verdict"]: 0 for p in parts}
        for part in parts:
            count[part["verdict"]] += 1
        lines.append(f"    parts: {', '.join(f'{n} {word}' for word, n in count.items())}")
    for gate in entry.get("regime", ()):
        met = "met" if gate["holds"] else "not met"
        lines.append(f"    regime: {gate['text']} = {_number(gate['factor'])}, {met}")
    if entry.get("parts") and not entry.get("regime"):
        lines.append("    regime: none is computed run by run; a part that supposes one says so")
    spans = {k: v for k, v in entry.get("spans", {}).items() if v[0] != v[1]}
    if spans:
        told = (f"{k} {_number(a)} … {_number(b)}" for k, (a, b) in spans.items())
        lines.append(f"    spans: {', '.join(told)}")
    return lines


class _Named(ast.NodeTransformer):
    """Constants of a module in place of their names, so that a knob shows its value."""

    def __init__(self, tree: ast.Module) -> None:
        self.values: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                target, value = node.targets[0], node.value
                pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                self.values |= {t.id: v for t, v in pairs if isinstance(t, ast.Name)}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The value, where it is a constant or a tuple of constants."""
        value = self.values.get(node.id)
        if not isinstance(node.ctx, ast.Load) or value is None:
            return node
        try:
            ast.literal_eval(value)
        except ValueError:
            return node
        return value


def _what(entry: Entry) -> str:
    """Title, the module's docstring (read, not imported), the knobs and the presets."""
    tree = ast.parse(Path(entry.file).read_text(encoding="utf-8"))
    text = textwrap.indent(ast.get_docstring(tree) or "", "  ")
    named = _Named(tree)
    presets = [
        f"  {ast.unparse(named.visit(node))}"
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("quick", "paper")
    ]
    knobs = _knobs(entry)
    head = [f"{entry.id}, {entry.title}", "", text, "", "knobs (--set name=value)"]
    return "\n".join([*head, *(knobs or ["  none"]), "", "presets", *presets])


def known_knobs(id: str) -> dict[str, dict[str, Any]]:
    """What was found when every knob of an experiment was turned; of an own file, found now."""
    if own_file(id) is not None:
        from adversarium.runs.turning import turned

        return turned(load(id))
    path = files("adversarium") / "knobs.json"
    known: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")).get(id, {})
    return known


def _knobs(entry: Entry) -> list[str]:
    """A line a knob: what it takes, its value at the quick preset, what it is, what it reaches."""
    lines = []
    for name, found in known_knobs(entry.id).items():
        meaning = word(name, entry.id)
        also = f" (also {', '.join(meaning.symbols)})" if meaning.symbols else ""
        takes = " ".join(part for part in (found["takes"], meaning.limits) if part)
        told = [f"{takes}, {_plain(found['quick'])}", meaning.says, f"reaches {_reach(found)}"]
        lines += textwrap.wrap(
            f"{name}{also}: {'; '.join(part for part in told if part)}",
            96,
            initial_indent="  ",
            subsequent_indent="    ",
        )
    return lines


def _reach(found: dict[str, Any]) -> str:
    """The runs of the quick preset that change when a knob is turned."""
    if found["all"]:
        return "every run"
    some, count = found["runs"]
    named = ", ".join(f for f in found["reaches"] if f)
    if not some:
        return named or "none"  # families that are not at quick
    return f"{some} of {count} runs{f' ({named})' if named else ''}"


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_plain, value))}{',' * (len(value) == 1)})"
    return "none" if value is None else str(value)


def _experiment(entry: Entry, verdicts: dict[str, dict[str, Any]]) -> str:
    """What is run, and the claims with their last verdicts."""
    none = {"verdict": f"no verdict yet (`adversarium verify {entry.id}` makes one)"}
    told = (f"  {c}: {verdicts.get(c, none)['verdict']}" for c in entry.claims)
    return "\n".join([_what(entry), "", "claims", *told])
