"""The catalogue: every paper, claim and experiment by id, read from paper.toml and claims.toml
without torch.

A paper is a folder; the laboratory's own, those of installed packages (entry point
`adversarium.papers`) and those of directories that somebody names (ADVERSARIUM_PAPERS, or a path
where an id goes) are found in the same way.
"""

import difflib
import hashlib
import importlib
import importlib.util
import os
import sys
import tomllib
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from adversarium.plans.experiment import Experiment

HOME = "adversarium.papers"  # the laboratory's own, and the entry point of others


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper that the laboratory checks, and the folder it lives in."""

    key: str
    title: str
    authors: str
    note: str = ""
    order: int = 1000
    letters: Mapping[str, str] = field(default_factory=dict)  # letter → where a run keeps it
    reading: str = ""  # what ≫, O, Θ and polylog are read as
    folder: Path = Path()
    package: str = ""  # the importable name of the folder

    @property
    def tag(self) -> str:
        """The first part of its claims' ids."""
        return self.key.lower()

    @property
    def bibtex(self) -> str:
        """A BibTeX entry."""
        return (
            f"@misc{{{self.tag},\n  title = {{{self.title}}},\n"
            f"  author = {{{self.authors}}},\n  note = {{{self.note}}}\n}}"
        )


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
    reading: str = ""  # how the statement was read where it can be read in several ways
    for_all: tuple[str, ...] = ()  # the letters that it quantifies over

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
    file: str
    cost: str = ""
    claims: tuple[str, ...] = field(default=())


_named: list[Path] = []  # directories that were named in this process


def name_directory(folder: Path) -> str:
    """Adds a folder with a paper (or with folders of papers) to the catalogue; the tags found."""
    made = [_paper(path, "") for path in _papers_in(folder)]
    if not made:
        raise ValueError(f"{folder} holds no paper: a paper.toml and a claims.toml are needed.")
    if folder.resolve() not in _named:
        _named.append(folder.resolve())
        for cached in (papers, _toml, claims, experiments):
            cached.cache_clear()
        papers()
    return ",".join(paper.tag for paper in made)


def named_directories() -> tuple[str, ...]:
    """The directories that were named in this process."""
    return tuple(str(path) for path in _named)


def _papers_in(folder: Path) -> list[Path]:
    """The folder itself, or those in it, where they are papers."""
    if (folder / "paper.toml").is_file():
        return [folder]
    return sorted(p.parent for p in folder.glob("*/paper.toml")) if folder.is_dir() else []


def _homes() -> Iterator[tuple[Path, str]]:
    """Where papers live: a folder, and its importable name if it has one."""
    packages = [HOME, *(e.value for e in entry_points(group=HOME))]
    for package in dict.fromkeys(packages):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(place), package
    listed = os.environ.get("ADVERSARIUM_PAPERS", "")
    for folder in (*(Path(p) for p in listed.split(os.pathsep) if p), *_named):
        if not folder.is_dir():
            raise ValueError(f"ADVERSARIUM_PAPERS names {folder}, which is no directory.")
        yield folder, ""


def _paper(folder: Path, package: str) -> Paper:
    known = {"key", "title", "authors", "note", "order", "letters", "reading"}
    try:
        told = tomllib.loads((folder / "paper.toml").read_text(encoding="utf-8"))
        if lost := {"key", "title", "authors"} - set(told):
            raise ValueError(f"it lacks {', '.join(sorted(lost))}")
        if more := set(told) - known:
            raise ValueError(f"it has no field {', '.join(sorted(more))}")
        return Paper(**told, folder=folder, package=package)
    except (OSError, ValueError, TypeError) as fault:
        raise ValueError(f"{folder / 'paper.toml'} is no paper: {fault}.") from fault


@cache
def papers() -> dict[str, Paper]:
    """All papers by tag, in their order."""
    known: dict[str, Paper] = {}
    for home, package in _homes():
        for folder in _papers_in(home):
            inside = package if folder == home or not package else f"{package}.{folder.name}"
            paper = _paper(folder, inside)
            if known.get(paper.tag, paper).folder != paper.folder:
                raise ValueError(
                    f"{folder} and {known[paper.tag].folder} both are {paper.key}; give one "
                    "another key."
                )
            known[paper.tag] = paper
    return dict(sorted(known.items(), key=lambda item: item[1].order))


def paper_of(id: str) -> Paper:
    """The paper that a claim or experiment id belongs to (its first part names it)."""
    return papers()[id.split(".")[0].lower()]


@cache
def _toml(tag: str) -> dict[str, Any]:
    path = papers()[tag].folder / "claims.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ValueError(f"{path} is no catalogue: {fault}.") from fault


def _claim(tag: str, id: str, entry: Mapping[str, Any]) -> Claim:
    try:
        if not id.startswith(f"{tag}."):
            raise ValueError(f"an id of this paper begins with {tag}.")
        many = {"for_all": tuple(entry.get("for_all", ()))}
        return Claim(**{"id": id, **entry, **many})
    except (TypeError, ValueError) as fault:
        raise ValueError(f"claims.toml of {tag}: {id}: {fault}.") from fault


@cache
def claims() -> dict[str, Claim]:
    """All claims of all papers, by id, in the order of the papers."""
    return {
        id: _claim(tag, id, entry)
        for tag in papers()
        for id, entry in _toml(tag).get("claims", {}).items()
    }


@cache
def experiments() -> dict[str, Entry]:
    """All experiments, by id."""
    known = {}
    for tag, paper in papers().items():
        for id, entry in _toml(tag).get("experiments", {}).items():
            judged = tuple(c.id for c in claims().values() if c.experiment == id)
            known[id] = Entry(
                id=id,
                title=entry["title"],
                module=entry["module"],
                file=str(paper.folder / f"{entry['module']}.py"),
                cost=entry.get("cost", ""),
                claims=judged,
            )
    return known


def nearest(name: str, known: Sequence[str]) -> str:
    """' Nearest: …' with close names, or a hint to list them."""
    close = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    return f" Nearest: {', '.join(close)}." if close else " `adversarium list claims` has them all."


def own_file(word: str) -> Path | None:
    """The file of a user's own experiment (./FILE.py), where the word is one."""
    return Path(word) if word.endswith(".py") else None


def resolved(word: str) -> str:
    """A word as an id: the path of a folder with a paper stands for the paper's tag."""
    path = Path(word)
    if own_file(word) is None and (os.sep in word or path.is_dir()) and path.is_dir():
        return name_directory(path)
    return word


def selected_claims(words: Sequence[str]) -> list[Claim]:
    """The claims that papers, experiments, claim ids, prefixes of ids or own files name; all for
    none."""
    chosen: dict[str, Claim] = {}
    for word in (tag for given in words for tag in resolved(given).split(",")):
        if own_file(word) is not None:
            load(word)
            chosen |= own_claims(word)
            continue
        hits = [c for c in claims().values() if _named_by(c, word)]
        if not hits and word in experiments():
            raise ValueError(
                f"{word} judges no claim; `adversarium run {word}` shows what it finds."
            )
        if not hits:
            names = [*claims(), *experiments(), *papers()]
            raise ValueError(f"no paper, experiment or claim {word!r}.{nearest(word, names)}")
        chosen |= {c.id: c for c in hits}
    return list(chosen.values()) if words else list(claims().values())


def _named_by(claim: Claim, word: str) -> bool:
    low = word.lower()
    return low in (claim.id.lower(), claim.experiment.lower()) or claim.id.lower().startswith(
        low + "."
    )


def experiment_ids(word: str) -> list[str]:
    """The experiments that an id, a claim's id, a paper's tag or an own file asks for."""
    if own_file(word) is not None:
        return [word]
    ids: dict[str, None] = {}
    for one in resolved(word).split(","):
        exact = [id for id in experiments() if id.lower() == one.lower()]
        if exact:
            ids |= dict.fromkeys(exact)
            continue
        homes = (
            claims().get(c.alias_of, c).experiment or c.experiment for c in selected_claims((one,))
        )
        ids |= dict.fromkeys(home for home in homes if home)
    if not ids:
        raise ValueError(
            f"{word} is in the catalogue but not yet implemented. Experiments that run: "
            f"{', '.join(experiments())}."
        )
    return list(ids)


def load(id: str) -> Experiment:
    """The experiment of an id, or of a user's own file ./FILE.py."""
    path = own_file(id)
    if path is not None:
        return _own(path)
    entry, paper = experiments()[id], paper_of(id)
    with told(Path(entry.file)) if not paper.package.startswith(HOME) else _quiet():
        package = paper.package or _folder_package(paper)
        module = importlib.import_module(f"{package}.{entry.module}")
    return _assembled(id, entry.title, module)


@contextmanager
def _quiet() -> Iterator[None]:
    yield


def _folder_package(paper: Paper) -> str:
    """A paper's folder as a package, under a private name."""
    name = f"paper_{paper.tag}_{hashlib.sha256(str(paper.folder).encode()).hexdigest()[:8]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(paper.folder)]
        sys.modules[name] = package
    return name


def _assembled(id: str, title: str, module: ModuleType, file: Path | None = None) -> Experiment:
    lacking = [word for word in ("plan", "quick", "checks") if not hasattr(module, word)]
    if lacking:
        raise ValueError(f"{file or id} needs {', '.join(lacking)}: an experiment is plan, quick, "
                         "checks.")  # fmt: skip
    presets = {"quick": module.quick, "paper": getattr(module, "paper", module.quick)}
    return Experiment(
        id,
        title,
        module.plan,
        presets,
        module.checks,
        tuple(getattr(module, "figures", ())),
        getattr(module, "switch", None),
        getattr(module, "gates", None),
        file,
    )


def _own_module(path: Path) -> ModuleType:
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
            with told(path):
                spec.loader.exec_module(module)
        except ValueError:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _own(path: Path) -> Experiment:
    """A user's file: `plan`, `quick`, `checks`, and `claims` with a statement for every check."""
    module = _own_module(path)
    title = (module.__doc__ or path.stem).strip().splitlines()[0]
    made = _assembled(str(path), title, module, path)
    if not isinstance(module.quick, dict) or not isinstance(module.checks, dict):
        raise ValueError(f"{path}: quick and checks are dictionaries (knobs; claim → check).")
    for id, check in module.checks.items():
        if id in claims():
            raise ValueError(f"{path}: {id} is a claim of the catalogue; give yours another id.")
        if not hasattr(check, "judge"):
            raise ValueError(f"{path}: the check of {id} is no rule such as level(last(…), 0, 1).")

    @wraps(module.plan)
    def plan(**knobs: Any) -> list[Any]:
        with told(path):
            return list(module.plan(**knobs))

    return replace(made, plan=plan)


@contextmanager
def told(path: Path) -> Iterator[None]:
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
    allowed = {"source", "kind", "statement", "value", "rule", "note", "reading", "for_all"}
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
