"""One claim or experiment as text, without torch."""

import ast
import json
import textwrap
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adversarium.experiments.catalogue import Claim, Entry, claims, experiments, selected_claims
from adversarium.papers import paper_of
from adversarium.report.tables import expected_range, with_interval


def last_verdicts(store: Path) -> dict[str, dict[str, Any]]:
    """The committed ledger's verdicts, overruled by those of the user's store."""
    path = files("adversarium") / "ledger.json"
    known = json.loads(path.read_text(encoding="utf-8"))["claims"] if path.is_file() else []
    found = {e["id"]: e for e in known if e["measured"]}
    if store.exists():
        from adversarium.sweeps.store import Store

        found |= Store(store, readonly=True).verdicts()
    return found


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
    head = f"  last verdict: {entry['verdict']} ({how})"
    lines = [head, *(f"    {m['name']}: {with_interval(m)}" for m in entry["measured"])]
    wanted = expected_range(entry)
    return (
        lines
        + ([f"    wanted: {wanted}"] if wanted else [])
        + ([f"    {entry['reason']}"] if entry["reason"] else [])
    )


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
    found = find_spec(entry.module)
    assert found is not None and found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
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
    verdict = lambda c: verdicts[c]["verdict"] if c in verdicts else "no verdict yet"
    return "\n".join([_what(entry), "", "claims", *(f"  {c}: {verdict(c)}" for c in entry.claims)])
