"""The catalogue: the claims and experiments that a word names, and the experiments themselves; also
those of a user's own file. No torch before one is loaded."""

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import itertools
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from adversarium.plans.experiment import Experiment
from adversarium.plans.shelf import (
    HOME,
    KINDS,
    Claim,
    Entry,
    Paper,
    claims,
    experiments,
    name_directory,
    named_directories,
    paper_of,
    papers,
    readings,
)
from adversarium.sources import code_digest, is_local, noting, sources
from adversarium.watching import watching

__all__ = [
    "Claim",
    "Entry",
    "Paper",
    "claims",
    "experiment_ids",
    "experiments",
    "load",
    "name_directory",
    "named_directories",
    "nearest",
    "own_claims",
    "own_file",
    "paper_of",
    "papers",
    "readings",
    "resolved",
    "selected_claims",
    "verdict_key",
]


def nearest(name: str, known: Sequence[str]) -> str:
    """' Nearest: …' with close names, or a hint to list them."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=4, cutoff=0.5)
    return f" Nearest: {', '.join(close)}." if close else " `adversarium list claims` has them all."


def own_file(word: str) -> Path | None:
    """The file of a user's own experiment (./FILE.py), where the word is one."""
    return Path(word) if word.endswith(".py") else None


def resolved(word: str) -> str:
    """A word as an id: the path of a folder (./mypaper) stands for the tags of its papers."""
    path = Path(word)
    is_path = os.sep in word or word.startswith(".")
    return name_directory(path) if is_path and own_file(word) is None and path.is_dir() else word


def verdict_key(claim: Claim) -> str:
    """Under which key a claim's verdict is remembered: its id, and for a user's own file also what
    the file says and where it stands (an edited one has not been judged)."""
    path = own_file(claim.experiment)
    return claim.id if path is None else f"{claim.id} of {_digest(path.resolve(), path)}"


def selected_claims(words: Sequence[str]) -> list[Claim]:
    """The claims that papers, experiments, claim ids, prefixes of ids or own files name; all for
    none."""
    chosen: dict[str, Claim] = {}
    for word in (tag for given in words for tag in resolved(given).split(",")):
        if own_file(word) is not None:
            load(word)
            _refuse_twice(own_claims(word), chosen)
            chosen |= own_claims(word)
            continue
        hits = [c for c in claims().values() if _named_by(c, word)]
        if not hits and word in experiments():
            raise ValueError(
                f"{word} judges no claim; `adversarium run {word}` shows what it finds."
            )
        if not hits:
            names = [*claims(), *experiments(), *papers()]
            own = f" ./{word}.py is a file: name it so." if Path(f"{word}.py").is_file() else ""
            told = own or nearest(word, names)
            raise ValueError(f"no paper, experiment or claim {word!r}.{told}")
        chosen |= {c.id: c for c in hits}
    return list(chosen.values()) if words else list(claims().values())


def _refuse_twice(some: Mapping[str, Claim], others: Mapping[str, Claim]) -> None:
    """Refuses a claim's id that two files have: one verdict would hide the other."""
    for id in some.keys() & others.keys():
        one, other = some[id].experiment, others[id].experiment
        if Path(one).resolve() != Path(other).resolve():
            raise ValueError(f"{other} and {one} both state {id}; give one of them another id.")


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
    if paper.package.startswith(HOME):
        module = importlib.import_module(f"{paper.package}.{entry.module}")
        return _assembled(id, entry.title, module)
    return _outside(entry, paper)


def _outside(entry: Entry, paper: Paper) -> Experiment:
    """An experiment of a paper that is not the laboratory's."""
    file, package = Path(entry.file), paper.package or _folder_package(paper)
    if not file.is_file():
        raise ValueError(f"{file} is not a file; claims.toml says that {entry.id} is there.")
    with told(file):
        module = importlib.import_module(f"{package}.{entry.module}")
    made = _assembled(entry.id, entry.title, module)
    _check_checks(made, file)
    if lost := set(entry.claims) - set(made.checks):
        raise ValueError(f"{file} has no check of {', '.join(sorted(lost))}.")
    if more := set(made.checks) - set(entry.claims):
        raise ValueError(
            f"{file} checks {', '.join(sorted(more))}, which claims.toml does not state."
        )
    return _with_told_plan(made, file)


def _folder_package(paper: Paper) -> str:
    """A paper's folder as a package, under a private name."""
    files = sorted(paper.folder.glob("*.py"))
    name = f"paper_{paper.tag}_{_digest(paper.folder, *files)}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(paper.folder)]
        sys.modules[name] = package
    return name


def _digest(home: Path, *files: Path) -> str:
    """A digest of a place and of what its files say, with the local code that they import: an
    edited file is another module."""
    return hashlib.sha256(f"{home} {code_digest(*files)}".encode()).hexdigest()[:12]


def _assembled(id: str, title: str, module: ModuleType, file: Path | None = None) -> Experiment:
    lacking = [word for word in ("plan", "quick", "checks") if not hasattr(module, word)]
    if lacking:
        raise ValueError(f"{file or id} needs {', '.join(lacking)}: an experiment is plan, quick, "
                         "checks.")  # fmt: skip
    figures = getattr(module, "figures", ())
    if not isinstance(figures, (list, tuple)):
        raise ValueError(f"{file or id}: figures are several, (Curves(…),), got {figures!r}.")
    presets = {"quick": module.quick}
    if hasattr(module, "paper") or module.__name__.startswith(HOME):
        presets["paper"] = getattr(module, "paper", module.quick)
    return Experiment(
        id,
        title,
        module.plan,
        presets,
        module.checks,
        tuple(figures),
        getattr(module, "switch", None),
        getattr(module, "gates", None),
        file,
    )


def _forget(path: Path) -> None:
    """Lets the modules that a file imports be read again: they may have been edited too."""
    parts = {str(one) for one in sources(path)}
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in parts and not name.startswith("own_"):
            del sys.modules[name]
    importlib.invalidate_caches()


def _own_module(path: Path) -> ModuleType:
    """A user's file as a module, under a private name (a file called torch.py is no torch)."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; an own experiment is a Python file with a plan.")
    name = f"own_{_digest(path.resolve(), path)}"
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)  # last: a file beside it hides nothing that is installed
    if name not in sys.modules:
        _forget(path)
        _refuse_namesakes(path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with told(path), watching() as seen:
                spec.loader.exec_module(module)
            _refuse_untold(path, seen)
        except ValueError:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _refuse_namesakes(path: Path) -> None:
    """Refuses an own file beside whose helper another folder's of the same name is at work."""
    home = path.resolve().parent
    before = itertools.takewhile(lambda folder: Path(folder).resolve() != home, sys.path)
    folders = [Path(folder) for folder in before if is_local(Path(folder))]
    for one in sources(path)[1:]:
        known = getattr(sys.modules.get(one.stem), "__file__", None)
        found = [*([Path(known)] if known else []), *(folder / one.name for folder in folders)]
        others = [o for o in found if o.is_file() and is_local(o) and o.resolve() != one]
        if one.suffix == ".py" and one.parent == home and others:
            raise ValueError(
                f"{path} imports {one.name}, and {others[0]} of the same name comes first; run the "
                "two apart, or give one another name."
            )


def _refuse_untold(path: Path, seen: set[Path]) -> None:
    """Refuses an own file that reads, while it loads, a file which its key does not tell."""
    with noting() as known:
        _ = code_digest(path)
    if strange := sorted(seen - known):
        raise ValueError(
            f"{path} read {strange[0]}, which its key does not tell, so that an edit would go "
            "unnoticed; name it by one plain string in the code."
        )


def _own(path: Path) -> Experiment:
    """A user's file: `plan`, `quick`, `checks`, and `claims` with a statement for every check."""
    module = _own_module(path)
    title = (module.__doc__ or path.stem).strip().splitlines()[0]
    made = _assembled(str(path), title, module, path)
    _check_checks(made, path)
    for id in made.checks:
        if id in claims():
            raise ValueError(f"{path}: {id} is a claim of the catalogue; give yours another id.")
    return _with_told_plan(made, path)


def _check_checks(made: Experiment, path: Path) -> None:
    """Refuses presets and checks that are none."""
    if not all(isinstance(given, dict) for given in (*made.presets.values(), made.checks)):
        raise ValueError(f"{path}: quick and checks are dictionaries (knobs; claim → check).")
    _check_presets(made, path)
    for id, check in made.checks.items():
        if not hasattr(check, "judge"):
            raise ValueError(f"{path}: the check of {id} is no rule such as level(last(…), 0, 1).")
    for figure in made.figures:
        name = getattr(figure, "name", None)
        if not isinstance(name, str) or not name or name.startswith(".") or set(name) & set("/\\"):
            raise ValueError(
                f"{path}: a figure is one such as Curves(name=…, y=…), its name a file's without "
                f"a folder, got {name if name is not None else figure!r}."
            )
    names = [figure.name for figure in made.figures]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{path}: two figures are called {twice[0]}; give one another name.")


def _check_presets(made: Experiment, path: Path) -> None:
    """Refuses a preset that lacks a knob of the plan, or has one that the plan does not take."""
    knobs = inspect.signature(made.plan).parameters.values()
    every = any(knob.kind is knob.VAR_KEYWORD for knob in knobs)
    needed = [k.name for k in knobs if k.default is k.empty and k.kind not in _GATHERED]
    for name, given in made.presets.items():
        if lacking := [knob for knob in needed if knob not in given]:
            raise ValueError(f"{path}: {name} lacks {', '.join(lacking)}, which plan(…) needs.")
        known = {"seeds", *(knob.name for knob in knobs)}
        if not every and (more := [knob for knob in given if knob not in known]):
            raise ValueError(f"{path}: {name} sets {', '.join(more)}, which plan(…) does not take.")


_GATHERED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _with_told_plan(made: Experiment, path: Path) -> Experiment:
    """The experiment with a plan whose faults name their line."""

    @wraps(made.plan)
    def plan(**knobs: Any) -> list[Any]:
        with told(path):
            tasks = made.plan(**knobs)
        if not isinstance(tasks, Iterable):
            raise ValueError(
                f"{path}: plan yields runs (yield Run(…)), got {type(tasks).__name__}."
            )
        with told(path):
            return list(tasks)

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
    if not isinstance(stated, dict):
        raise ValueError(f"{path}: claims is a dictionary (id → entry), got {stated!r}.")
    allowed = {
        "source",
        "kind",
        "statement",
        "value",
        "rule",
        "note",
        "reading",
        "for_all",
        "proved",
    }
    for id, entry in stated.items():
        if not isinstance(entry, dict) or not set(entry) <= allowed:
            raise ValueError(
                f"{path}: claims[{id!r}] is a dictionary and may have {', '.join(sorted(allowed))}."
            )
        if id not in module.checks:
            raise ValueError(
                f"{path}: claims[{id!r}] has no check; add checks[{id!r}], or drop it."
            )
        if entry.get("kind", "level") not in KINDS:
            raise ValueError(
                f"{path}: claims[{id!r}] needs one of the kinds {', '.join(KINDS)}, got "
                f"{entry['kind']!r}."
            )
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
