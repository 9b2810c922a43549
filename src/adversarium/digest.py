"""A value as plain JSON, and the digest that rows are stored under. No torch at import."""

import dis
import hashlib
import inspect
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from adversarium.sources import code_digest, is_local, named_files

_TOLD = ("symbol",)  # how a number is told is not what it is


def configuration(value: Any) -> Any:
    """A value as plain JSON: dataclasses by name and fields, functions by their name.

    What is not the laboratory's own carries a digest of its source file and of the local files that
    it imports or names (of all files of its folder, where it is part of a package): edited code is
    another run.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(k): configuration(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [configuration(v) for v in value]
    if isinstance(value, (FunctionType, type)):
        return _name(value)
    if isinstance(value, MethodType):
        owner = value.__self__ if isinstance(value.__self__, type) else type(value.__self__)
        held = _object(value.__self__, owner.__module__, frozenset())
        holding = {} if held is _UNTOLD else {"with": held}
        return {"is": _name(value.__func__), "of": _name(owner), **holding}
    if isinstance(value, partial):
        given = {"arguments": configuration(value.args), "fields": configuration(value.keywords)}
        return {"is": "partial", "function": configuration(value.func), **given}
    if hasattr(value, "detach") or hasattr(value, "tobytes"):  # a tensor or an array
        return _array(value)
    if hasattr(value, "function") and hasattr(value, "measures"):  # a function as a probe
        return _name(value.function)
    if is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        named = {k: v for k, v in named.items() if k not in _unused(value)}
    else:
        named = dict(vars(value)) if hasattr(value, "__dict__") else {"value": repr(value)}
    kept = {k: configuration(v) for k, v in named.items() if k not in _TOLD or not _ours(value)}
    return {"is": _name(type(value)), **kept, **_revised(value)}


def is_own(plain: Any) -> bool:
    """Whether a configuration names code that is not the laboratory's.

    >>> is_own({"is": "Clusters"}), is_own({"is": "Mine@3f2a"})
    (False, True)
    """
    return "@" in json.dumps(plain)


def with_files(plain: dict[str, Any]) -> dict[str, Any]:
    """A configuration of own code with the digests of the files that its words name."""
    found = named_files(_words(plain)) if is_own(plain) else {}
    return {**plain, "files": found} if found else plain


def _words(plain: Any) -> list[str]:
    if isinstance(plain, Mapping):
        return [word for value in plain.values() for word in _words(value)]
    if isinstance(plain, list):
        return [word for value in plain for word in _words(value)]
    return [plain] if isinstance(plain, str) else []


def _ours(part: object) -> bool:
    """Whether a part is the laboratory's."""
    return type(part).__module__.startswith("adversarium.")


def _unused(part: Any) -> set[str]:
    """The fields that a part got later (`later = ("flip",)`) and that are as they always were: rows
    of before are found."""
    words = getattr(part, "later", ()) if _ours(part) else ()
    later = [f for f in fields(part) if f.name in words]
    known = {f.name: f.default if f.default_factory is MISSING else f.default_factory()
             for f in later}  # fmt: skip
    return {name for name, default in known.items() if getattr(part, name) == default}


def _revised(part: object) -> dict[str, int]:
    """The revision of a part whose numbers have changed since it first ran (`revision = 2`): its
    rows are others."""
    number = getattr(part, "revision", 1)
    return {"revision": number} if _ours(part) and isinstance(number, int) and number > 1 else {}


def _array(value: Any) -> dict[str, Any]:
    """A tensor or an array by the digest of its numbers."""
    plain = value.detach().cpu().numpy() if hasattr(value, "detach") else value
    numbers = hashlib.sha256(plain.tobytes()).hexdigest()[:24]
    return {"is": "array", "shape": list(getattr(plain, "shape", ())), "numbers": numbers}


def _name(thing: Any) -> str:
    """The name of a function (with its file's) or a class: short if it is the laboratory's, else
    with the digest of its file and of what it holds."""
    if str(thing.__module__).startswith("adversarium."):
        home = thing.__module__.rpartition(".")[2]
        return (
            f"{home}.{thing.__qualname__}"
            if isinstance(thing, FunctionType)
            else str(thing.__qualname__)
        )
    if "<lambda>" in thing.__qualname__:
        raise ValueError("a lambda has no name to store rows under; write it as a function.")
    try:
        file = Path(inspect.getsourcefile(thing) or "")
        inside = "." in str(thing.__module__)  # a package: its other files are part of the code
        files = sorted(file.parent.glob("*.py")) if inside else [file]
        told = code_digest(*files)
    except (OSError, TypeError):
        told = "prompt"  # written at a prompt: no file tells it, its code does
    held = _held(thing)
    return f"{thing.__qualname__}@{told}" + (f"+{digest(held, 12)}" if held else "")


def _held(thing: Any, seen: frozenset[int] = frozenset()) -> dict[str, Any]:
    """What somebody's function or class holds beside its source: closures, defaults, plain globals
    that it names, plain attributes of a class."""
    if id(thing) in seen or str(thing.__module__).startswith("adversarium."):
        return {}
    seen = seen | {id(thing)}
    if isinstance(thing, type):
        bare = {k: getattr(v, "__func__", getattr(v, "fget", v)) for k, v in vars(thing).items()}
        prompt = not hasattr(sys.modules.get(thing.__module__), "__file__")
        inner = {k: v for k, v in bare.items()
                 if k[:2] != "__" or (prompt and isinstance(v, FunctionType))}  # fmt: skip
        return _told(inner, thing.__module__, seen)
    if not isinstance(thing, FunctionType):
        return {}
    cells = zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=False)
    free = {name: cell.cell_contents for name, cell in cells if _filled(cell)}
    told_by_file = str(thing.__module__).startswith(("own_", "paper_"))  # read anew from its files
    names = set() if told_by_file else _names(thing.__code__) - _changed(thing.__code__)
    named = {n: thing.__globals__[n] for n in names if n in thing.__globals__ and n[:2] != "__"}
    named |= _constants(names, thing.__globals__)
    defaults = dict(enumerate(thing.__defaults__ or ())) | (thing.__kwdefaults__ or {})
    given = {f"={k}": v for k, v in defaults.items()}
    if not Path(thing.__code__.co_filename).is_file():
        given["<code>"] = _compiled(thing.__code__)
        given["<files>"] = named_files(_strings(thing.__code__))
    return _told({**named, **free, **given}, thing.__module__, seen)


def _compiled(code: Any) -> list[Any]:
    """Code as Python runs it, where no file tells its text."""
    inner = [_compiled(one) if hasattr(one, "co_code") else _constant(one)
             for one in code.co_consts]  # fmt: skip
    return [code.co_code.hex(), inner, list(code.co_names), list(code.co_varnames)]


def _strings(code: Any) -> list[str]:
    """The strings of code, with the code inside it."""
    inner = [word for one in code.co_consts if hasattr(one, "co_code") for word in _strings(one)]
    return [*(one for one in code.co_consts if isinstance(one, str)), *inner]


def _constant(one: Any) -> str:
    return str(sorted(map(repr, one))) if isinstance(one, frozenset) else repr(one)


def _names(code: Any) -> set[str]:
    """The names that code reads, with the code inside it."""
    inner = (_names(one) for one in code.co_consts if hasattr(one, "co_names"))
    return set(code.co_names).union(*inner)


_CHANGES = ("append", "add", "update", "setdefault", "pop", "extend", "clear", "insert")


def _changed(code: Any) -> set[str]:
    """The globals that code changes itself, such as a cache or a counter: no part of what it is."""
    found: set[str] = set()
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        after = steps[i + 1 : i + 4]
        writes = any(one.opname == "STORE_SUBSCR" for one in after)
        if step.opname == "LOAD_GLOBAL" and (
            writes or any(str(one.argval) in _CHANGES for one in after[:1])
        ):
            found.add(str(step.argval))
    return found


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _told(values: Mapping[str, Any], module: str, seen: frozenset[int]) -> dict[str, Any]:
    """Those of some values that can be told: data, objects that hold data, and functions of the
    same module that hold some."""
    made = {name: _described(value, module, seen) for name, value in sorted(values.items())}
    return {name: told for name, told in made.items() if told is not _UNTOLD}


_UNTOLD = object()  # a lock, a library's object: no part of what code is
_DEEP = 8  # objects within objects that are looked into


def _described(value: Any, module: str, seen: frozenset[int]) -> Any:
    """What a value is, as plain JSON; nothing of what a library made."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return configuration(value)
    if isinstance(value, ModuleType) or id(value) in seen or len(seen) > _DEEP:
        return _UNTOLD
    inside = seen | {id(value)}
    if isinstance(value, (FunctionType, type)):
        near = value.__module__ == module and not inspect.isbuiltin(value)
        return (_held(value, seen) if near else {}) or _UNTOLD
    if isinstance(value, MethodType):
        owner = _described(value.__self__, module, inside)
        return {"of": None if owner is _UNTOLD else owner, "method": value.__func__.__qualname__}
    if hasattr(value, "tobytes") or hasattr(value, "detach"):
        return configuration(value) if hasattr(value, "dtype") else _UNTOLD
    if isinstance(value, Mapping):
        return _told({str(k): v for k, v in value.items()}, module, inside)
    if isinstance(value, (list, tuple, set, frozenset)):
        some = [t for v in value if (t := _described(v, module, inside)) is not _UNTOLD]
        unordered = isinstance(value, (set, frozenset))
        return sorted(some, key=lambda one: json.dumps(one, sort_keys=True)) if unordered else some
    if isinstance(value, partial):
        held = {"function": value.func, "arguments": value.args, "fields": value.keywords}
        return _told(held, module, inside)
    return _object(value, module, inside)


def _object(value: Any, module: str, seen: frozenset[int]) -> Any:
    """Somebody's object by what it holds (a name with an underscore is a cache); the laboratory's
    by its configuration."""
    if _ours(value):
        return configuration(value) if is_dataclass(value) else _UNTOLD
    home = sys.modules.get(type(value).__module__)
    file = getattr(home, "__file__", None)
    own = isinstance(value, SimpleNamespace) or file is None or is_local(Path(file))
    if isinstance(value, Enum):
        return str(value)
    if not own or type(value).__module__ == "builtins":
        return _UNTOLD
    if is_dataclass(value):
        held = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        held = getattr(value, "__dict__", {})
    return _told({k: v for k, v in held.items() if k[:1] != "_"}, module, seen)


def _constants(names: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The data of local modules that code names (`helper.SCALE`)."""
    found: dict[str, Any] = {}
    for name in names & set(given):
        module = given[name]
        file = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and file is not None and is_local(Path(file)):
            held = {k: v for k, v in vars(module).items() if k in names and k[:2] != "__"}
            found |= {f"{name}.{k}": v for k, v in held.items() if not callable(v)}
    return found


def digest(plain: Any, length: int = 24) -> str:
    """The digest of plain JSON."""
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
