"""The catalogue: every claim and experiment by id, read from claims.toml without torch."""

import ast
import difflib
import hashlib
import importlib
import importlib.util
import sys
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from importlib.resources import files
from pathlib import Path
from typing import Any

from adversarium.experiments.spec import Experiment
from adversarium.papers import PAPERS


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One checkable statement."""

    id: str
    source: str
    kind: str
    statement: str
    value: str = ""  # what the paper reports
    rule: str = ""  # what counts as evidence
    experiment: str = ""  # empty: not yet implemented
    alias_of: str = ""
    images: bool = False
    note: str = ""

    @property
    def paper(self) -> str:
        """The tag of the paper."""
        return self.id.split(".")[0]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An experiment's line in the catalogue."""

    id: str
    title: str
    module: str
    cost: str = ""
    claims: tuple[str, ...] = field(default=())


@cache
def _toml(tag: str) -> dict[str, Any]:
    text = (files("adversarium.experiments") / tag / "claims.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def claims() -> dict[str, Claim]:
    """All claims of all papers, by id, in the order of the papers."""
    tables = [_toml(paper.tag)["claims"] for paper in PAPERS.values()]
    return {id: Claim(id=id, **entry) for table in tables for id, entry in table.items()}


@cache
def experiments() -> dict[str, Entry]:
    """All experiments, by id."""
    found = {}
    for paper in PAPERS.values():
        for id, entry in _toml(paper.tag).get("experiments", {}).items():
            module = f"adversarium.experiments.{paper.tag}.{entry['module']}"
            own = tuple(c.id for c in claims().values() if c.experiment == id)
            found[id] = Entry(
                id=id, title=entry["title"], module=module, cost=entry.get("cost", ""), claims=own
            )
    return found


def nearest(name: str, known: list[str]) -> str:
    """' Nearest: …' with close names, or a hint to list them."""
    close = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    return f" Nearest: {', '.join(close)}." if close else " `adversarium list claims` has them all."


def selected_claims(words: tuple[str, ...]) -> list[Claim]:
    """The claims that papers, experiments, claim ids or prefixes of ids name; all for none."""
    known = claims()
    if not words:
        return list(known.values())
    chosen: dict[str, Claim] = {}
    for word in words:
        hits = [c for c in known.values() if _named(c, word)]
        if not hits and word in experiments():
            raise ValueError(
                f"{word} judges no claim; `adversarium run {word}` shows what it finds."
            )
        if not hits:
            names = [*known, *experiments(), *(p.tag for p in PAPERS.values())]
            raise ValueError(f"no paper, experiment or claim {word!r}.{nearest(word, names)}")
        chosen |= {c.id: c for c in hits}
    return list(chosen.values())


def _named(claim: Claim, word: str) -> bool:
    low = word.lower()
    return low in (claim.id.lower(), claim.experiment.lower()) or claim.id.lower().startswith(
        low + "."
    )


def experiment_ids(word: str) -> list[str]:
    """The experiments that an id, a claim's id or a paper's tag asks for."""
    known = experiments()
    for id in known:
        if id.lower() == word.lower():
            return [id]
    ids = dict.fromkeys(
        claims().get(c.alias_of, c).experiment or c.experiment for c in selected_claims((word,))
    )
    found = [id for id in ids if id]
    if not found:
        raise ValueError(
            f"{word} is in the catalogue but not yet implemented. Experiments that run: "
            f"{', '.join(known)}."
        )
    return found


def load(id: str) -> Experiment:
    """The experiment of an id, or of a user's own file ./FILE.py."""
    if id.endswith(".py"):
        return _own(Path(id))
    entry = experiments()[id]
    return _assembled(id, entry.title, importlib.import_module(entry.module))


def _assembled(id: str, title: str, module: Any) -> Experiment:
    presets = {"quick": module.quick, "paper": getattr(module, "paper", module.quick)}
    return Experiment(
        id,
        title,
        module.plan,
        presets,
        module.checks,
        tuple(getattr(module, "figures", ())),
        getattr(module, "switch", None),
    )


def _own_module(path: Path) -> Any:
    """A user's file as a module, under a private name (a file called torch.py is no torch)."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; an own experiment is a Python file with a plan.")
    name = f"own_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with _told(path):
                spec.loader.exec_module(module)
        except ValueError:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _own(path: Path) -> Experiment:
    """A user's file: `plan`, `quick`, `checks`, and `claims` with a statement for every check."""
    module = _own_module(path)
    missing = [word for word in ("plan", "quick", "checks") if not hasattr(module, word)]
    if missing:
        raise ValueError(
            f"{path} needs {', '.join(missing)}: an experiment is plan, quick, checks."
        )
    if not isinstance(module.quick, dict) or not isinstance(module.checks, dict):
        raise ValueError(f"{path}: quick and checks are dictionaries (knobs; claim → check).")
    for id, check in module.checks.items():
        if id in claims():
            raise ValueError(f"{path}: {id} is a claim of the catalogue; give yours another id.")
        if not hasattr(check, "judge"):
            raise ValueError(f"{path}: the check of {id} is no rule such as level(last(…), 0, 1).")
    title = (module.__doc__ or path.stem).strip().splitlines()[0]
    made = _assembled(str(path), title, module)

    @wraps(module.plan)
    def plan(**knobs: Any) -> list[Any]:
        with _told(path):
            return list(module.plan(**knobs))

    return replace(made, plan=plan)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns whatever a user's file raises into a sentence that names its line."""
    try:
        yield
    except (Exception, SystemExit) as fault:
        frames = traceback.extract_tb(fault.__traceback__)
        lines = [f.lineno for f in frames if Path(f.filename).name == path.name]
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"{path}{where} raised {type(fault).__name__}: {fault}") from fault


def own_claims(path: str) -> dict[str, Claim]:
    """The claims of a user's file; a check without an entry in `claims` gets a bare one."""
    module = _own_module(Path(path))
    stated = getattr(module, "claims", {})
    allowed = {"source", "kind", "statement", "value", "rule", "note"}
    for id, entry in stated.items():
        if not isinstance(entry, dict) or not set(entry) <= allowed:
            raise ValueError(f"{path}: claims[{id!r}] may have {', '.join(sorted(allowed))}.")
    return {
        id: Claim(
            **{
                "id": id,
                "source": path,
                "kind": getattr(check, "kind", "level"),
                "statement": id,
                "experiment": path,
                **stated.get(id, {}),
            }
        )
        for id, check in module.checks.items()
    }


def new_file(path: Path) -> Path:
    """Writes the template of an own experiment; never over a file that is there."""
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise ValueError(f"an own experiment is a Python file such as mine.py, got {path}.")
    if path.exists():
        raise ValueError(f"{path} exists already; name another file.")
    template = files("adversarium.experiments") / "template.txt"
    path.write_text(template.read_text(encoding="utf-8").replace("NAME", path.stem), "utf-8")
    return path


def public_names(room: str) -> dict[str, str]:
    """The public names of a room and the first line of each docstring, read without importing."""
    folder = files("adversarium") / room
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            file = f"{node.module.rpartition('.')[2]}.py"
            defined = ast.parse((folder / file).read_text(encoding="utf-8")).body
            docs = {
                d.name: (ast.get_docstring(d) or "").partition("\n")[0]
                for d in defined
                if isinstance(d, (ast.ClassDef, ast.FunctionDef))
            }
            found |= {alias.name: docs.get(alias.name, "") for alias in node.names}
    return dict(sorted(found.items()))
