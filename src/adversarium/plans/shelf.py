"""Papers, claims and experiments as their folders tell them: paper.toml and claims.toml, read
without torch.

A paper is a folder; the laboratory's own, those of installed packages (entry point
`adversarium.papers`) and those of directories that somebody names (ADVERSARIUM_PAPERS, or a path
where an id goes) are found in the same way.
"""

import importlib.util
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

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
    for_part: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # where a part has fewer
    proved: bool = False  # a proof covers what the runs do not span
    ours: bool = False  # a statement of the laboratory's own

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
    """The directories that were named in this process, or to it (ADVERSARIUM_PAPERS)."""
    return tuple(str(path.resolve()) for path in (*_listed(), *_named))


def _listed() -> list[Path]:
    """The directories that ADVERSARIUM_PAPERS names."""
    listed = os.environ.get("ADVERSARIUM_PAPERS", "")
    return [Path(p) for p in listed.split(os.pathsep) if p]


def _papers_in(folder: Path) -> list[Path]:
    """The folder itself, or those in it, where they are papers."""
    if (folder / "paper.toml").is_file():
        return [folder]
    return sorted(p.parent for p in folder.glob("*/paper.toml")) if folder.is_dir() else []


def _homes() -> Iterator[tuple[Path, str]]:
    """Where papers live: a folder, and its importable name if it has one."""
    packages = [HOME, *(e.value for e in entry_points(group=HOME))]
    for package in dict.fromkeys(packages):
        try:
            spec = importlib.util.find_spec(package)
        except ImportError:
            spec = None
        if spec is None:
            print(f"adversarium: the papers of {package} cannot be found.", file=sys.stderr)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(place), package
    for folder in (*_listed(), *_named):
        if not folder.is_dir():
            raise ValueError(f"ADVERSARIUM_PAPERS names {folder}, which is no directory.")
        yield folder, ""


def _fields(told: Mapping[str, Any], needed: Mapping[str, type], other: Mapping[str, type]) -> None:
    """Refuses what lacks a field, has one that is not known, or holds the wrong kind of value."""
    if not isinstance(told, Mapping):
        raise ValueError(f"it is no table but {told!r}")
    if lost := set(needed) - set(told):
        raise ValueError(f"it lacks {', '.join(sorted(lost))}")
    if more := set(told) - {*needed, *other}:
        raise ValueError(f"it has no field {', '.join(sorted(more))}")
    for name, kind in {**needed, **other}.items():
        if name in told and not isinstance(told[name], kind):
            raise ValueError(f"{name} needs {kind.__name__}, got {told[name]!r}")


def _paper(folder: Path, package: str) -> Paper:
    try:
        told = tomllib.loads((folder / "paper.toml").read_text(encoding="utf-8"))
        other = {"note": str, "order": int, "letters": dict}
        _fields(told, {"key": str, "title": str, "authors": str}, other)
        return Paper(**told, folder=folder, package=package)
    except (OSError, ValueError) as fault:
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


def readings(tag: str) -> dict[str, str]:
    """How a paper's open constants and its ≫ are read, at the head of its claims.toml."""
    return {str(sign): str(told) for sign, told in _toml(tag).get("readings", {}).items()}


KINDS = ("identity", "inequality", "level", "ordering", "exponent", "frequency", "existence")
_CLAIM = {"source": str, "kind": str, "statement": str}
_CLAIM_TOO = {
    **dict.fromkeys(("value", "rule", "experiment", "alias_of", "note", "reading"), str),
    **dict.fromkeys(("images", "proved", "ours"), bool),
    "for_all": list,
    "for_part": dict,
}


def _claim(tag: str, id: str, entry: Mapping[str, Any]) -> Claim:
    with _within(tag, id):
        if not id.startswith(f"{tag}."):
            raise ValueError(f"an id of this paper begins with {tag!r}")
        _fields(entry, _CLAIM, _CLAIM_TOO)
        if entry["kind"] not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, got {entry['kind']!r}")
        home = entry.get("experiment", "")
        if home and home not in _toml(tag).get("experiments", {}):
            raise ValueError(f"there is no experiment {home}")
        parts = {name: tuple(letters) for name, letters in entry.get("for_part", {}).items()}
        letters = tuple(entry.get("for_all", ()))
        return Claim(**{"id": id, **entry, "for_all": letters, "for_part": parts})


@contextmanager
def _within(tag: str, id: str) -> Iterator[None]:
    """Says which entry of which file is at fault."""
    try:
        yield
    except ValueError as fault:
        raise ValueError(f"{papers()[tag].folder / 'claims.toml'}: {id}: {fault}.") from fault


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
            with _within(tag, id):
                if not id.startswith(f"{tag}."):
                    raise ValueError(f"an id of this paper begins with {tag}.")
                _fields(entry, {"title": str, "module": str}, {"cost": str})
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
