"""Identify a part of a run (data, network, …) by its name, fields and version, as JSON or a hash.

Code in a package is identified by its name and by the `version` that it declares, code in a single
file (a script, ./FILE.py) by its name and a hash of that file, and the fields of a part by their
values. Nothing else is compared: if you change what packaged code computes, increase its version or
run again with --fresh. Lambdas, functions defined inside functions and code typed at a prompt are
new in every process, so stored results of them are not reused. Importing this module does not
import torch.
"""

import hashlib
import inspect
import itertools
import json
import math
import re
import sys
import tomllib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

Json = Mapping[str, Any]  # a JSON or TOML object

_SESSION = uuid.uuid4().hex[:12]  # identifies code without a name or a source in this process
_unnamed: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # lambdas and local functions
_numbers = itertools.count()


def configuration(value: object) -> object:
    """Return a value as plain JSON: a part by its name, fields and version, an array by a hash.

    >>> from adversarium.attacks import Ball
    >>> configuration(Ball(p=2, radius=0.5))
    {'is': 'Ball', 'p': 2, 'radius': 0.5, 'box': None}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(k): configuration(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [configuration(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted((configuration(v) for v in value), key=json.dumps)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (FunctionType, BuiltinFunctionType, type)):
        return name_of(value) + _suffix(value)
    if isinstance(value, MethodType):
        return {"is": name_of(value.__func__), "of": configuration(value.__self__)}
    if isinstance(value, partial):
        given = {"arguments": configuration(value.args), "fields": configuration(value.keywords)}
        return {"is": "partial", "function": configuration(value.func), **given}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    return {"is": name_of(type(value)), **_fields(value), **_version(value)}


def _fields(value: object) -> dict[str, object]:
    """Return the fields of a part as JSON, except fields excluded from comparison, and fields in
    `later` (added after results were stored) that have their default value."""
    if is_dataclass(value):
        later = getattr(value, "later", ())
        held = {
            f.name: getattr(value, f.name)
            for f in fields(value)
            if f.init and f.compare and not (f.name in later and _is_default(value, f))
        }
    elif hasattr(value, "state_dict"):
        held = {**value.state_dict()}
    elif hasattr(value, "__dict__"):
        held = {k: v for k, v in vars(value).items() if k[:2] != "__"}
    else:
        raise ValueError(
            f"{value!r} cannot be identified; give a number, a string, an array, a function of a "
            "module, or a dataclass of such values."
        )
    try:
        return {name: configuration(one) for name, one in held.items()}
    except RecursionError:
        raise ValueError(
            f"{type(value).__name__} refers to itself and cannot be identified; remove the "
            "reference."
        ) from None


def _is_default(value: object, field: Any) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return bool(getattr(value, field.name) == default)


def _version(part: object) -> dict[str, int]:
    """Return the declared version of a part as a field, if it is above 1."""
    number = getattr(part, "version", 1)
    if isinstance(part, type) and not isinstance(number, (int, float, str)):
        return {}  # a class whose instances compute their version
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        name = getattr(part, "__name__", type(part).__name__)
        raise ValueError(f"{name}.version must be a whole number from 1 on, got {number!r}.")
    return {"version": number} if number > 1 else {}


def _suffix(function: object) -> str:
    return "".join(f" version {number}" for number in _version(function).values())


def _array(value: Any) -> Json:
    """Return the shape of a tensor or an array, and a hash of its numbers."""
    if hasattr(value, "detach"):
        tensor = value.detach().cpu().to_dense()
        value = (tensor.double() if "bfloat16" in str(tensor.dtype) else tensor).numpy()
    if value.dtype.hasobject:
        raise ValueError("an array of objects cannot be identified; give an array of numbers.")
    numbers = hashlib.sha256(value.tobytes()).hexdigest()[:24]
    return {"is": "array", "shape": list(value.shape), "numbers": numbers}


def name_of(thing: Any) -> str:
    """Return the name of a class, or of a function (with the last part of its module), preceded by
    the tag of its paper or the name of its package, or followed by the hash of its single file.

    >>> name_of(name_of), name_of(partial)
    ('digest.name_of', 'functools:partial')
    """
    if "<lambda>" in thing.__qualname__ or "<locals>" in thing.__qualname__:
        if thing not in _unnamed:
            _unnamed[thing] = next(_numbers)
        return f"{thing.__qualname__}@{_SESSION}.{_unnamed[thing]}"
    last = str(thing.__module__).rpartition(".")[2]
    home = _home(thing.__module__)
    if home is None:
        return f"{thing.__qualname__}@{_file_hash(thing)}"
    name = f"{last}.{thing.__qualname__}" if isinstance(thing, FunctionType) else thing.__qualname__
    if not home:
        return str(name)
    _require_unique(f"{home}:{name}", thing.__module__)
    return f"{home}:{name}"


_modules: dict[str, str] = {}  # the name of a part of a paper or package → its module


def _require_unique(name: str, module: str) -> None:
    """Raise if another module of the same paper or package has a part of this name: their stored
    rows could not be told apart."""
    package = _paper(module)[1]
    inside = module.removeprefix(f"{package}.") if package else module
    first = _modules.setdefault(name, inside)
    if first != inside:
        raise ValueError(
            f"{first} and {inside} both define {name}; rows are identified by this name, so rename "
            "one of the two."
        )


def _home(module: str) -> str | None:
    """Return the owner of a module: '' for adversarium, the tag of a paper, or the name of another
    package; None for a single file."""
    top, _, inside = module.partition(".")
    installed = top in sys.stdlib_module_names and top != "__main__"
    if not inside and not installed:
        return None
    if tag := _paper(module)[0]:
        return tag
    return "" if top == "adversarium" else top


@cache
def _paper(module: str) -> tuple[str, str]:
    """Return the tag and the package of the paper whose folder (with a paper.toml) contains a
    module; empty if there is none."""
    package = module
    while "." in package:
        package = package.rpartition(".")[0]
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            about = Path(folder) / "paper.toml"
            if about.is_file():
                key = tomllib.loads(about.read_text(encoding="utf-8"))["key"]
                return str(key).lower(), package
    return "", ""


def unnamed(plain: object) -> str:
    """Return the name of a lambda, or of a function defined inside another, in a configuration;
    empty if there is none.

    >>> unnamed(configuration(lambda x: x))
    '<lambda>'
    """
    found = re.search(rf'"([^"@]*)@{_SESSION}\.', json.dumps(plain))
    return found[1] if found else ""


def _file_hash(thing: Callable[..., object] | type) -> str:
    """Return a hash of the file that defines a function or a class; in a notebook, of its source;
    for code typed at a prompt, an identifier of this process."""
    try:
        file = Path(inspect.getsourcefile(thing) or "")
        text = file.read_bytes() if file.is_file() else inspect.getsource(thing).encode()
    except (OSError, TypeError):
        return _SESSION
    return hashlib.sha256(text).hexdigest()[:12]


def digest(plain: object, length: int = 24) -> str:
    """Return a hash of plain JSON.

    >>> digest({"a": 1}) == digest({"a": 1.0}), len(digest(1, 16))
    (False, 16)
    """
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
