"""Load experiments from their modules: a paper's plan, checks and figures, or a user's file."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from adversarium.plans.experiment import Experiment
from adversarium.plans.papers import (
    CLAIM_FIELDS,
    KINDS,
    OPTIONAL_CLAIM_FIELDS,
    Claim,
    ExperimentInfo,
    Paper,
    claims,
    experiments,
    papers,
)

if TYPE_CHECKING:
    from adversarium.plans.run import Task


def user_file(word: str) -> Path | None:
    """Return the path if a word names a user's file (./FILE.py), else None."""
    return Path(word) if word.endswith(".py") else None


def load(id: str) -> Experiment:
    """Return the experiment of an id, or of a user's file ./FILE.py."""
    path = user_file(id)
    if path is not None:
        return _from_file(path)
    info, paper = experiments()[id], papers()[id.split(".")[0].lower()]
    if not info.file.is_file():
        raise ValueError(f"claims.toml lists {info.id}, but its file {info.file} does not exist.")
    with errors_named(info.file):
        modules = _modules(info, paper)
    made = _assembled(info.id, info.title, modules)
    if "paper" not in made.presets:
        made = replace(made, presets={**made.presets, "paper": made.presets["quick"]})
    _require_valid(made, info.file)
    if missing := set(info.claims) - set(made.checks):
        raise ValueError(f"{info.file} has no check for {', '.join(sorted(missing))}.")
    if unknown := set(made.checks) - set(info.claims):
        raise ValueError(
            f"{info.file} checks {', '.join(sorted(unknown))}, which claims.toml does not state."
        )
    return _with_named_errors(made, info.file, sentences=True)


def _modules(info: ExperimentInfo, paper: Paper) -> list[ModuleType]:
    """Import the modules of an experiment: one file, or plan.py with checks.py and figures.py."""
    package = f"{paper.package or _folder_package(paper)}.{info.module}"
    if info.file.name != "plan.py":
        return [importlib.import_module(package)]
    names = ("plan", "checks", "figures")
    present = [name for name in names if (info.file.parent / f"{name}.py").is_file()]
    return [importlib.import_module(f"{package}.{name}") for name in present]


def _folder_package(paper: Paper) -> str:
    """Register a paper's folder as a package and return its name; an edited folder gets a new
    name."""
    edited = max((f.stat().st_mtime_ns for f in paper.folder.rglob("*.py")), default=0)
    name = f"paper_{paper.tag}_{_short_hash(f'{paper.folder.resolve()} {edited}'.encode())}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(paper.folder)]
        sys.modules[name] = package
        importlib.invalidate_caches()
    return name


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _assembled(
    id: str, title: str, modules: list[ModuleType], file: Path | None = None
) -> Experiment:
    names = ("plan", "quick", "paper", "checks", "figures", "switch", "gates")
    found = {name: getattr(m, name) for m in modules for name in names if hasattr(m, name)}
    if missing := [name for name in ("plan", "quick", "checks") if name not in found]:
        raise ValueError(
            f"{file or id} does not define {', '.join(missing)}; an experiment needs plan, quick "
            "and checks."
        )
    figures = found.get("figures", ())
    if not isinstance(figures, (list, tuple)):
        raise ValueError(f"{file or id}: figures must be a tuple (Curves(…),), got {figures!r}.")
    return Experiment(
        id,
        title,
        found["plan"],
        {name: found[name] for name in ("quick", "paper") if name in found},
        found["checks"],
        tuple(figures),
        found.get("switch"),
        found.get("gates"),
        file,
    )


def _file_module(path: Path) -> ModuleType:
    """Import a user's file as a module under a private name, so a file called torch.py does not
    hide torch."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; name a Python file that defines an experiment.")
    name = f"own_{file_key(path)}"
    folder = path.resolve().parent
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # last, so its files hide no installed module
    if name not in sys.modules:
        _forget_modules_in(folder)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        sys.path.insert(0, str(folder))
        try:
            with errors_named(path):
                spec.loader.exec_module(module)
        except ValueError:
            del sys.modules[name]
            raise
        finally:
            sys.path.remove(str(folder))
    return sys.modules[name]


def _forget_modules_in(folder: Path) -> None:
    """Unload helper modules of user files, so an edited module, or one with the same name in
    another folder, is imported again."""
    folders = {folder, *(Path(m.__file__).parent for n, m in _file_modules() if m.__file__)}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        helper = "." not in name and name != "__main__" and not name.startswith("own_")
        if file and helper and Path(file).parent in folders:
            del sys.modules[name]
    importlib.invalidate_caches()


def _file_modules() -> Iterator[tuple[str, ModuleType]]:
    return ((n, m) for n, m in list(sys.modules.items()) if n.startswith("own_"))


def user_modules() -> list[ModuleType]:
    """Return the loaded modules that another process cannot import: user files, their helpers in
    the same folder, and papers that are plain folders."""
    folders = {Path(m.__file__).parent for _, m in _file_modules() if m.__file__}
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        helper = file is not None and "." not in name and Path(file).parent in folders
        private = name.startswith(("own_", "paper_")) and file is not None
        if (helper or private) and name != "__main__":
            found.append(module)
    return found


def _from_file(path: Path) -> Experiment:
    """Load a user's file: `plan`, `quick`, `checks`, and `claims` with a statement per check."""
    module = _file_module(path)
    title = (module.__doc__ or path.stem).strip().splitlines()[0]
    made = _assembled(str(path), title, [module], path)
    _require_valid(made, path)
    for id in made.checks:
        if id in claims():
            raise ValueError(f"{path}: the catalogue already has a claim {id}; choose another id.")
    return _with_named_errors(made, path)


def _require_valid(made: Experiment, path: Path) -> None:
    """Raise unless presets, checks and figures are valid."""
    if not all(isinstance(given, dict) for given in (*made.presets.values(), made.checks)):
        raise ValueError(
            f"{path}: the presets and checks must be dictionaries (knob → value, claim → check)."
        )
    _require_valid_presets(made, path)
    for id, check in made.checks.items():
        if not hasattr(check, "judge"):
            raise ValueError(
                f"{path}: the check of {id} must be a rule such as level(last(…), 0, 1), "
                f"got {check!r}."
            )
    for figure in made.figures:
        name = getattr(figure, "name", None)
        if not isinstance(name, str) or not name or name.startswith(".") or set(name) & set("/\\"):
            raise ValueError(
                f"{path}: a figure must be a value such as Curves(name=…, y=…) whose name is a "
                f"valid file name, got {name if name is not None else figure!r}."
            )
    names = [figure.name for figure in made.figures]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{path}: two figures are named {twice[0]}; rename one of them.")


_GATHERED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _require_valid_presets(made: Experiment, path: Path) -> None:
    """Raise if a preset does not set a parameter that the plan needs, or sets an unknown one."""
    knobs = inspect.signature(made.plan).parameters.values()
    takes_all = any(knob.kind is knob.VAR_KEYWORD for knob in knobs)
    needed = [k.name for k in knobs if k.default is k.empty and k.kind not in _GATHERED]
    for name, given in made.presets.items():
        if missing := [knob for knob in needed if knob not in given]:
            raise ValueError(
                f"{path}: {name} does not set {', '.join(missing)}, which plan(…) needs."
            )
        known = {"seeds", *(knob.name for knob in knobs)}
        if not takes_all and (unknown := [knob for knob in given if knob not in known]):
            raise ValueError(
                f"{path}: {name} sets {', '.join(unknown)}, which plan(…) does not take."
            )


def _with_named_errors(made: Experiment, path: Path, sentences: bool = False) -> Experiment:
    """Return the experiment with a plan whose errors name file and line (see `errors_named`)."""

    @wraps(made.plan)
    def plan(**knobs: Any) -> list["Task"]:
        with errors_named(path, sentences):
            tasks = made.plan(**knobs)
        if not isinstance(tasks, Iterable):
            raise ValueError(
                f"{path}: plan must yield runs (yield Run(…)), got {type(tasks).__name__}."
            )
        with errors_named(path, sentences):
            return list(tasks)

    return replace(made, plan=plan)


@contextmanager
def errors_named(path: Path, sentences: bool = False) -> Iterator[None]:
    """Turn every error of a file into a ValueError that names the file and the line; with
    `sentences`, do not change a KeyError, or a ValueError whose message is a sentence."""
    try:
        yield
    except (Exception, SystemExit) as fault:
        answers = isinstance(fault, ValueError) and str(fault).endswith(".")
        if sentences and (answers or isinstance(fault, KeyError)):
            raise
        frames = traceback.extract_tb(fault.__traceback__)
        lines = [f.lineno for f in frames if Path(f.filename).name == path.name]
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"{path}{where} raised {type(fault).__name__}: {fault}") from fault


def file_claims(path: str) -> dict[str, Claim]:
    """Return the claims of a user's file; a claim that `claims` omits has its id as statement."""
    module = _file_module(Path(path))
    stated = getattr(module, "claims", {})
    if not isinstance(stated, dict):
        raise ValueError(f"{path}: claims must be a dictionary (id → entry), got {stated!r}.")
    for id, entry in stated.items():
        _require_valid_claim(path, id, entry, module.checks)
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


def _require_valid_claim(path: str, id: str, entry: object, checks: Mapping[str, object]) -> None:
    """Raise unless the claim of a user's file has known fields, a known kind and a check."""
    catalogue_only = {"experiment", "alias_of", "images", "ours", "for_part"}
    allowed = {*CLAIM_FIELDS, *OPTIONAL_CLAIM_FIELDS} - catalogue_only
    if not isinstance(entry, dict) or not set(entry) <= allowed:
        raise ValueError(
            f"{path}: claims[{id!r}] must be a dictionary with some of the fields "
            f"{', '.join(sorted(allowed))}."
        )
    if id not in checks:
        raise ValueError(
            f"{path}: claims[{id!r}] has no check; add checks[{id!r}], or remove the claim."
        )
    if entry.get("kind", "level") not in KINDS:
        raise ValueError(
            f"{path}: claims[{id!r}] needs one of the kinds {', '.join(KINDS)}, got "
            f"{entry['kind']!r}."
        )


def file_key(path: Path) -> str:
    """Return a key that identifies a user's file by its path and its content."""
    return _short_hash(str(path.resolve()).encode() + path.read_bytes())
