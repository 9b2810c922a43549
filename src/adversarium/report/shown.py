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
)
from adversarium.plans.verdict import Word


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
                {"experiment": vars(entry), "verdicts": [verdicts.get(c) for c in entry.claims]},
                ensure_ascii=False,
            )
        return _experiment(entry, verdicts)
    chosen = selected_claims((id,))
    own = own_file(id)
    if own is not None and not as_json:
        title = load(id).title
        return _experiment(
            Entry(id=id, title=title, module="", file=id, claims=tuple(c.id for c in chosen)),
            verdicts,
        )
    if as_json:
        return json.dumps({"claims": [vars(c) for c in chosen]}, ensure_ascii=False)
    return "\n\n".join(_claim(c, verdicts, bibtex=False) for c in chosen)


def _json(claim: Claim, verdicts: dict[str, dict[str, Any]]) -> str:
    whole = {"claim": vars(claim), "verdict": verdicts.get(claim.id)}
    return json.dumps({**whole, "bibtex": paper_of(claim.id).bibtex}, ensure_ascii=False)


def _claim(claim: Claim, verdicts: dict[str, dict[str, Any]], bibtex: bool = True) -> str:
    lines = [claim.id, f"  {claim.source} of {paper_of(claim.id).key} ({claim.kind})", ""]
    lines += textwrap.wrap(claim.statement, 96, initial_indent="  ", subsequent_indent="  ")
    for name, text in (
        ("paper's value", claim.value),
        ("evidence", claim.rule),
        ("reading", claim.reading),
        ("note", claim.note),
    ):
        if text:
            lines += textwrap.wrap(
                f"{name}: {text}", 96, initial_indent="  ", subsequent_indent="    "
            )
    if claim.alias_of:
        lines.append(f"  the same check as {claim.alias_of}")
    lines.append(f"  experiment: {claim.experiment or 'not yet implemented'}")
    lines += _verdict(verdicts.get(claim.id))
    if f"{claim.id}.corrected" in claims():
        lines.append(f"  corrected statement: {claim.id}.corrected")
    if bibtex and claim.experiment:
        lines += ["", "what is run: " + _what(experiments()[claim.experiment])]
    if bibtex:
        lines += ["", textwrap.indent(paper_of(claim.id).bibtex, "  ")]
    return "\n".join(lines)


def _verdict(entry: dict[str, Any] | None) -> list[str]:
    if entry is None:
        return ["  last verdict: none yet"]
    how = f"{entry['preset']}, {entry['seeds']} seeds, {entry['engine']}"
    lines = [f"  last verdict: {entry['verdict']} ({how})"]
    wanted = _wanted(entry)
    for m in entry["measured"]:
        ends = "" if m["low"] is None else f" [{_number(m['low'])}, {_number(m['high'])}]"
        lines.append(f"    {m['name']}: {_number(m['mean'])}{ends}{wanted.get(m['name'], '')}")
    if entry["reason"]:
        lines.append(f"    {entry['reason']}")
    return lines + _structure(entry)


def _wanted(entry: dict[str, Any]) -> dict[str, str]:
    """The range that is asked of a quantity, by its name: of the one quantity of a part, or of the
    entry's only one."""
    asked = [(p["measured"], p) for p in entry.get("parts", ()) if len(p["measured"]) == 1]
    if len(entry["measured"]) == 1:
        asked.insert(0, (entry["measured"], entry["expected"] or {}))
    return {
        measured[0]["name"]: f", wanted {_number(ends.get('low'))} to {_number(ends.get('high'))}"
        for measured, ends in asked
        if ends.get("low") is not None or ends.get("high") is not None
    }


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
    """Title, the module's docstring (read, not imported), the plan's knobs."""
    tree = ast.parse(Path(entry.file).read_text(encoding="utf-8"))
    text = textwrap.indent(ast.get_docstring(tree) or "", "  ")
    plan = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "plan")
    named = _Named(tree)
    presets = [
        f"  {ast.unparse(named.visit(node))}"
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("quick", "paper")
    ]
    knobs = f"  plan({ast.unparse(named.visit(plan.args))})"
    head = [f"{entry.id}, {entry.title}", "", text, "", "knobs (--set) and presets"]
    return "\n".join([*head, knobs, *presets])


def _experiment(entry: Entry, verdicts: dict[str, dict[str, Any]]) -> str:
    """What is run, and the claims with their last verdicts."""
    none = {"verdict": "no verdict yet"}
    told = (f"  {c}: {verdicts.get(c, none)['verdict']}" for c in entry.claims)
    return "\n".join([_what(entry), "", "claims", *told])
