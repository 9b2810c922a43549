"""A value as plain JSON, and the digest that rows are stored under. No torch at import."""

import hashlib
import inspect
import json
import math
import pickle
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path, PurePath
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from adversarium.bytecode import changed, compiled, names, strings
from adversarium.sources import code_digest, is_local, named_files

_TOLD = ("symbol",)  # how a number is told is not what it is
_CONTAINERS = (dict, list, set, OrderedDict, defaultdict, deque)  # what a cache is


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
        return {"is": _name(value.__func__), "of": _Telling().value(value.__self__)}
    if isinstance(value, partial):
        given = {"arguments": configuration(value.args), "fields": configuration(value.keywords)}
        return {"is": "partial", "function": configuration(value.func), **given}
    if _is_array(value):
        return _array(value)
    if _ours(value) and hasattr(value, "function") and hasattr(value, "measures"):
        return _name(value.function)  # a function as a probe
    if isinstance(value, PurePath):
        return str(value)
    if is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        named |= {} if _ours(value) else _attributes(value)
        named = {k: v for k, v in named.items() if k not in _unused(value)}
    elif _ours(value) or _is_local(type(value)):
        named = _attributes(value)
    else:
        return _Telling().value(value)
    named = {k: v for k, v in named.items() if k not in _TOLD or not _ours(value)}
    try:
        kept = {k: configuration(v) for k, v in named.items()}
    except RecursionError:
        told = f"{type(value).__name__} holds itself, and no key tells such a part"
        raise ValueError(f"{told}; give it without the reference to itself.") from None
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
    tensor = value.detach().cpu() if hasattr(value, "detach") else value
    if hasattr(tensor, "to_dense"):
        tensor = tensor.to_dense()
        short = str(value.dtype) == "torch.bfloat16"  # numpy has none
        plain = (tensor.double() if short else tensor).numpy()
    else:
        plain = tensor
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
    return f"{thing.__qualname__}@{told}+{digest(_Telling().code(thing), 12)}"


class _Telling:
    """What somebody's code and objects hold, as plain JSON: each function and class once."""

    def __init__(self) -> None:
        self._told: set[int] = set()  # functions and classes
        self._inside: set[int] = set()  # what is being told now

    def code(self, thing: Any) -> dict[str, Any]:
        """A function with its closure, its defaults and the globals that it names; a class with
        its bases and attributes."""
        if id(thing) in self._told:
            return {}
        self._told.add(id(thing))
        if isinstance(thing, type):
            held = {k: _bare(v) for k, v in vars(thing).items()}
            kept = {k: v for k, v in held.items() if k[:2] != "__" or isinstance(v, FunctionType)}
            return self._named({**kept, "<bases>": thing.__bases__})
        cells = zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=False)
        free = {name: cell.cell_contents for name, cell in cells if _filled(cell)}
        known = names(thing.__code__)
        outer = {k: v for k, v in thing.__globals__.items() if k in known and k[:2] != "__"}
        outer |= _of_modules(known, thing.__globals__) | free
        own = {k for k in changed(thing.__code__) if type(outer.get(k)) in _CONTAINERS}
        defaults = dict(enumerate(thing.__defaults__ or ())) | (thing.__kwdefaults__ or {})
        made = {**{k: v for k, v in outer.items() if k not in own},
                **{f"={k}": v for k, v in defaults.items()},
                **{f".{k}": v for k, v in vars(thing).items() if k != "__wrapped__"}}  # fmt: skip
        if not Path(thing.__code__.co_filename).is_file():
            made["<files>"] = named_files(strings(thing.__code__))
        return {"<code>": compiled(thing.__code__), **self._named(made)}

    def value(self, value: Any) -> Any:
        """What a value is."""
        if isinstance(value, (str, PurePath)):
            return [str(value), *named_files([str(value)]).values()]
        if value is None or isinstance(value, (bool, int, float)):
            return configuration(value)
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, (FunctionType, type)):
            name = f"{value.__module__}.{value.__qualname__}"
            return [value.__qualname__, self.code(value)] if _is_local(value) else name
        if id(value) in self._inside:
            return "<itself>"
        self._inside.add(id(value))
        try:
            return self._compound(value)
        finally:
            self._inside.discard(id(value))

    def object(self, value: Any) -> dict[str, Any]:
        """Somebody's object by its class and all that it holds."""
        return {"is": self.value(type(value)), **self._named(_attributes(value))}

    def _compound(self, value: Any) -> Any:
        if isinstance(value, MethodType):
            return {"method": self.value(value.__func__), "of": self.value(value.__self__)}
        if _is_array(value):
            return _array(value)
        if type(value) in (dict, MappingProxyType):
            return [[self.value(k), self.value(v)] for k, v in value.items()]
        if type(value) in (list, tuple):
            return [self.value(one) for one in value]
        if type(value) in (set, frozenset):
            return sorted(map(self.value, value), key=lambda one: json.dumps(one, sort_keys=True))
        if isinstance(value, partial):
            return ["partial", *map(self.value, (value.func, value.args, value.keywords))]
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType) and not _is_local(type(value)):
            return [type(value).__name__, self.value(wrapped)]  # a function with a cache
        if _ours(value):
            return configuration(value) if is_dataclass(value) else self.object(value)
        return self.object(value) if _is_local(type(value)) else self._pickled(value)

    def _named(self, held: Mapping[str, Any]) -> dict[str, Any]:
        return {str(name): self.value(held[name]) for name in sorted(held, key=str)}

    def _pickled(self, value: Any) -> Any:
        """What a library made, by its pickle; by what it holds where it has none."""
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        for fast in (True, False):
            file = BytesIO()
            pickler = _Pickler(file, self, value)
            pickler.fast = fast  # by value, for a memo depends on which strings are one object;
            try:  # with it, where a thing holds itself
                pickler.dump(value)
            except Exception:
                continue
            return [name, hashlib.sha256(file.getvalue()).hexdigest()[:24]]
        words = repr(value)
        held = _attributes(value)
        with suppress(Exception):  # a compiled network has its weights there alone
            held["<state>"] = dict(value.state_dict())
        return [name, "" if " at 0x" in words else words, self._named(held)]


class _Pickler(pickle.Pickler):
    """Pickles what a library made; what it holds of arrays, sets and somebody's code is told as
    everywhere, for a pickle has their addresses or their order."""

    def __init__(self, file: BytesIO, telling: _Telling, whole: Any) -> None:
        super().__init__(file, protocol=4)
        self._telling, self._whole = telling, whole

    def persistent_id(self, obj: Any) -> str | None:
        """The digest of what is told by value; None of the rest."""
        code = isinstance(obj, (FunctionType, MethodType, type)) and _is_local(obj)
        by_value = isinstance(obj, (ModuleType, set, frozenset)) or _is_array(obj)
        own = not isinstance(obj, type) and _is_local(type(obj))
        if obj is self._whole or not (code or by_value or own):
            return None
        return digest(self._telling.value(obj))


def _is_local(thing: Any) -> bool:
    """Whether a function or a class is somebody's: of a local file, or written at a prompt."""
    module = str(thing.__module__)
    file = getattr(sys.modules.get(module), "__file__", None)
    if module.startswith("adversarium.") or module == "builtins":
        return False
    installed = module.partition(".")[0] in sys.stdlib_module_names and module != "__main__"
    return is_local(Path(file)) if file is not None else not installed


def _is_array(value: Any) -> bool:
    """Whether a value is a tensor or an array of numbers."""
    if not hasattr(value, "dtype") or isinstance(value, type):
        return False
    plain = hasattr(value, "tobytes") and hasattr(value, "shape") and not value.dtype.hasobject
    return plain or hasattr(value, "detach")


def _bare(value: Any) -> Any:
    """The function inside a property, a class method or a cached property; any other value as it
    is."""
    inner = (getattr(value, name, None) for name in ("__func__", "fget", "func"))
    return next((one for one in inner if isinstance(one, FunctionType)), value)


def _attributes(value: Any) -> dict[str, Any]:
    """All that an object holds, in its dictionary and its slots, but cached properties."""
    kinds = type(value).__mro__
    slots = [
        f"_{kind.__name__.lstrip('_')}{name}" if name[:2] == "__" and name[-2:] != "__" else name
        for kind in kinds
        for name in _listed(vars(kind).get("__slots__", ()))
    ]
    held = {name: getattr(value, name) for name in slots
            if name not in ("__dict__", "__weakref__") and hasattr(value, name)}  # fmt: skip
    made = {k for kind in kinds for k, v in vars(kind).items() if isinstance(v, cached_property)}
    return {k: v for k, v in {**held, **getattr(value, "__dict__", {})}.items() if k not in made}


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _of_modules(known: set[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """What code names of local modules (`helper.SCALE`, `helper.scaled`)."""
    found: dict[str, Any] = {}
    for name in known & set(given):
        module = given[name]
        file = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and file is not None and is_local(Path(file)):
            held = {k: v for k, v in vars(module).items() if k in known and k[:2] != "__"}
            found |= {f"{name}.{k}": v for k, v in held.items()}
    return found


def digest(plain: Any, length: int = 24) -> str:
    """The digest of plain JSON."""
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
