"""Read papers, claims and experiments from the folders that describe them, without torch.

A paper is a folder with a paper.toml. Papers are found in the package `adversarium.papers`, in
installed packages that announce the entry point `adversarium.papers`, and in directories that are
named by ADVERSARIUM_PAPERS or by a path in place of an id. All are treated in the same way.
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

from adversarium.digest import Json

GROUP = "adversarium.papers"  # the entry-point group, and the package of the papers that we ship


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and the folder that describes it."""

    key: str
    title: str
    authors: str
    note: str = ""
    subject: str = ""  # two or three words
    about: tuple[str, ...] = ()  # what the paper says, in about five sentences
    answer: tuple[str, ...] = ()  # what the laboratory found, in about three sentences
    sections: Mapping[str, str] = field(default_factory=dict)  # number → title
    order: int = 1000
    letters: Mapping[str, str] = field(default_factory=dict)  # symbol of the paper → field of a run
    symbols: Mapping[str, str] = field(default_factory=dict)  # symbol or word → its meaning
    folder: Path = Path()
    package: str = ""  # the importable name of the folder; empty if it has none

    @property
    def tag(self) -> str:
        """Return the tag: the first part of the paper's claim ids."""
        return self.key.lower()

    @property
    def bibtex(self) -> str:
        """Return a BibTeX entry."""
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
    reading: str = ""  # the chosen reading of an ambiguous statement
    for_all: tuple[str, ...] = ()  # the symbols that the statement quantifies over
    for_part: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the same for one part
    proved: bool = False  # a proof covers the values that the runs do not
    # a hypothesis (or how it begins; "*": all) → why the verdict does not need it to be satisfied
    waived: Mapping[str, str] = field(default_factory=dict)
    ours: bool = False  # a statement that we added

    @property
    def paper(self) -> str:
        """Return the tag of the paper."""
        return self.id.split(".")[0]


@dataclass(frozen=True, kw_only=True)
class ExperimentInfo:
    """An experiment's entry in claims.toml."""

    id: str
    title: str
    module: str  # inside the paper's package
    file: Path  # the file of its plan
    cost: str = ""
    claims: tuple[str, ...] = field(default=())


_named: list[Path] = []  # directories that were named in this process


def name_directory(folder: Path) -> str:
    """Add a folder that is or contains papers to the catalogue; return their tags."""
    found = [_paper(path, "") for path in _papers_in(folder)]
    if not found:
        raise ValueError(f"{folder} contains no paper; a paper needs paper.toml and claims.toml.")
    if folder.resolve() not in _named:
        _named.append(folder.resolve())
        for cached in (papers, _toml, claims, experiments):
            cached.cache_clear()
        papers()
    return ",".join(paper.tag for paper in found)


def named_directories() -> tuple[str, ...]:
    """Return the directories that were named in this process or by ADVERSARIUM_PAPERS."""
    return tuple(str(path.resolve()) for path in (*_listed(), *_named))


def _listed() -> list[Path]:
    listed = os.environ.get("ADVERSARIUM_PAPERS", "")
    return [Path(p) for p in listed.split(os.pathsep) if p]


def _papers_in(folder: Path) -> list[Path]:
    """Return the folder itself if it is a paper, else the papers in it."""
    if (folder / "paper.toml").is_file():
        return [folder]
    return sorted(p.parent for p in folder.glob("*/paper.toml")) if folder.is_dir() else []


def _homes() -> Iterator[tuple[Path, str]]:
    """Yield the folders of papers, each with its importable name if it has one."""
    announced = [entry.value for entry in entry_points(group=GROUP)]
    for package in dict.fromkeys((GROUP, *announced)):
        try:
            spec = importlib.util.find_spec(package)
        except ImportError:
            spec = None
        if spec is None and package != GROUP:  # the engine may be installed without papers
            print(f"adversarium: the papers of {package} cannot be found.", file=sys.stderr)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(place), package
    for folder in (*_listed(), *_named):
        if not folder.is_dir():
            raise ValueError(f"ADVERSARIUM_PAPERS names {folder}, which is not a directory.")
        yield folder, ""


def require_fields(
    table: Mapping[str, object], needed: Mapping[str, type], optional: Mapping[str, type]
) -> None:
    """Raise unless a TOML table has the needed fields, no unknown ones, and values of their
    types."""
    if not isinstance(table, Mapping):
        raise ValueError(f"a table is needed, got {table!r}")
    if missing := set(needed) - set(table):
        raise ValueError(f"it does not set {', '.join(sorted(missing))}")
    if unknown := set(table) - {*needed, *optional}:
        raise ValueError(f"it sets unknown fields: {', '.join(sorted(unknown))}")
    for name, kind in {**needed, **optional}.items():
        if name in table and not isinstance(table[name], kind):
            raise ValueError(f"{name} needs {kind.__name__}, got {table[name]!r}")


def _paper(folder: Path, package: str) -> Paper:
    try:
        table = tomllib.loads((folder / "paper.toml").read_text(encoding="utf-8"))
        optional = {
            **dict.fromkeys(("note", "subject"), str),
            **dict.fromkeys(("about", "answer"), list),
            **dict.fromkeys(("letters", "sections", "symbols"), dict),
            "order": int,
        }
        require_fields(table, {"key": str, "title": str, "authors": str}, optional)
        table |= {name: tuple(table.get(name, ())) for name in ("about", "answer")}
        return Paper(**table, folder=folder, package=package)
    except (OSError, ValueError, RecursionError) as fault:
        raise ValueError(f"{folder / 'paper.toml'} does not describe a paper: {fault}.") from fault


@cache
def papers() -> dict[str, Paper]:
    """Return all papers by tag, in their order."""
    known: dict[str, Paper] = {}
    for home, package in _homes():
        for folder in _papers_in(home):
            inside = package if folder == home or not package else f"{package}.{folder.name}"
            paper = _paper(folder, inside)
            if known.get(paper.tag, paper).folder != paper.folder:
                raise ValueError(
                    f"{folder} and {known[paper.tag].folder} both have the key {paper.key}; change "
                    "one of them."
                )
            known[paper.tag] = paper
    return dict(sorted(known.items(), key=lambda item: item[1].order))


def paper_of(id: str) -> Paper | None:
    """Return the paper of a claim or an experiment, named by the first part of its id."""
    return papers().get(id.split(".")[0].lower())


@cache
def _toml(tag: str) -> Json:
    path = papers()[tag].folder / "claims.toml"
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        require_fields(tables, {}, dict.fromkeys(("readings", "experiments", "claims"), dict))
    except (OSError, ValueError, RecursionError) as fault:
        raise ValueError(f"{path} cannot be read: {fault}.") from fault
    return tables


def readings(tag: str) -> dict[str, str]:
    """Return how we read a paper's ≫, O(·) and unspecified constants: sign → text."""
    return {str(sign): str(text) for sign, text in _toml(tag).get("readings", {}).items()}


KINDS = ("identity", "inequality", "level", "ordering", "exponent", "frequency", "existence")
CLAIM_FIELDS = {"source": str, "kind": str, "statement": str}
OPTIONAL_CLAIM_FIELDS = {
    **dict.fromkeys(("value", "rule", "experiment", "alias_of", "note", "reading"), str),
    **dict.fromkeys(("images", "proved", "ours"), bool),
    "for_all": list,
    "for_part": dict,
    "waived": dict,
}
WAIVERS = ("arm: ", "proof: ", "not supposed: ", "published")  # how the reason of a waiver begins


def _claim(tag: str, id: str, entry: Json) -> Claim:
    with _within(tag, id):
        if not id.startswith(f"{tag}."):
            raise ValueError(f"an id of this paper must begin with '{tag}.'")
        require_fields(entry, CLAIM_FIELDS, OPTIONAL_CLAIM_FIELDS)
        if entry["kind"] not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {entry['kind']!r}")
        home = entry.get("experiment", "")
        if home and home not in _toml(tag).get("experiments", {}):
            raise ValueError(f"its experiment {home} is not listed under [experiments]")
        for text, reason in entry.get("waived", {}).items():
            if not str(reason).startswith(WAIVERS):
                kinds = ", ".join(WAIVERS)
                raise ValueError(f"waived: {text} needs a reason that begins with one of {kinds}")
        parts = {name: tuple(letters) for name, letters in entry.get("for_part", {}).items()}
        letters = tuple(entry.get("for_all", ()))
        return Claim(**{"id": id, **entry, "for_all": letters, "for_part": parts})


@contextmanager
def _within(tag: str, id: str) -> Iterator[None]:
    """Prefix an error with the file and the entry that it is about."""
    try:
        yield
    except ValueError as fault:
        raise ValueError(f"{papers()[tag].folder / 'claims.toml'}: {id}: {fault}.") from fault


@cache
def claims() -> dict[str, Claim]:
    """Return all claims of all papers, by id, in the order of the papers."""
    return {
        id: _claim(tag, id, entry)
        for tag in papers()
        for id, entry in _toml(tag).get("claims", {}).items()
    }


@cache
def experiments() -> dict[str, ExperimentInfo]:
    """Return all experiments by id; TAG.thm4.1 is in experiments/thm4_1.py or thm4_1/plan.py."""
    known = {}
    for tag, paper in papers().items():
        for id, entry in _toml(tag).get("experiments", {}).items():
            with _within(tag, id):
                if not id.startswith(f"{tag}."):
                    raise ValueError(f"an id of this paper must begin with '{tag}.'")
                require_fields(entry, {"title": str}, {"cost": str})
            name = id.removeprefix(f"{tag}.").replace(".", "_")
            folder = paper.folder / "experiments"
            split = (folder / name).is_dir()
            known[id] = ExperimentInfo(
                id=id,
                title=entry["title"],
                module=f"experiments.{name}",
                file=folder / name / "plan.py" if split else folder / f"{name}.py",
                cost=entry.get("cost", ""),
                claims=tuple(c.id for c in claims().values() if c.experiment == id),
            )
    return known
