"""`adversarium list`: what there is, one line each, without torch."""

import json as js
from typing import Literal

from adversarium.commands.options import Json
from adversarium.plans.catalogue import claims, experiments, papers
from adversarium.plans.names import PublicName, public_names
from adversarium.report.mathematics import plain

What = Literal["papers", "experiments", "claims", "probes", "networks", "datasets", "attacks"]


def list_(what: What = "experiments", *, json: Json = False) -> int:
    """What there is, one line each."""
    lines = _lines(what)
    if json:
        told = [{"id": name, "text": text} for name, text in lines.items()]
        print(js.dumps({what: told}, ensure_ascii=False))
        return 0
    width = max(len(name) for name in lines)
    for name, text in lines.items():
        print(f"{name:<{width}}  {text}")
    return 0


def _lines(what: What) -> dict[str, str]:
    match what:
        case "papers":
            return {paper.key: paper.title for paper in papers().values()}
        case "experiments":
            return {e.id: f"{e.title} ({len(e.claims)} claims)" for e in experiments().values()}
        case "claims":
            return {
                c.id: f"{c.kind:<10} {c.statement}"
                + ("" if c.experiment or c.alias_of else "  [not yet implemented]")
                for c in claims().values()
            }
        case "datasets":
            named = public_names("data")
            return {n: p.sentence for n, p in named.items() if not n.endswith("Batch")}
        case "probes":
            named = public_names("probes")
            return {n: _told(p) for n, p in named.items() if n not in ("Scene", "measures")}
        case "networks":
            return {n: p.sentence for n, p in public_names("networks").items() if n[0].isupper()}
        case "attacks":
            named = public_names("attacks")
            return {n: p.sentence for n, p in named.items() if n[0].isupper() and n != "Ball"}


def _told(name: PublicName) -> str:
    return f"{plain(name.symbol)}  {name.sentence}" if name.symbol else name.sentence
