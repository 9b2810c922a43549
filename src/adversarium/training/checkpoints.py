"""Checkpoints: one file of plain arrays from which a training run can continue.

A state is saved as the list of its tensors, numbers and random streams. To restore it, the engine
creates a new state, into which these values are filled. The memory of folds is saved with its
structure. A file is written completely or not at all, and contains no code.
"""

import dataclasses
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.digest import Json
from adversarium.training.problem import AnyProblem, Problem

T = TypeVar("T")
Number = bool | int | float
FORMAT = 2  # a checkpoint of W⁽ᵗ⁾ holds what was recorded before t (format 1: at t as well)


# what reading an incomplete or damaged file raises
UNREADABLE = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile)


class CannotSave(ValueError):
    """Raised for a value that a checkpoint cannot store."""


def leaves(value: object) -> Iterator[Tensor | Generator | Number]:
    """Yield the tensors, numbers and random streams of a state, in a fixed order.

    Cached properties and objects without tensors (networks, attacks, rules) are omitted, because a
    newly created state already has them.
    """
    if isinstance(value, (Tensor, Generator, bool, int, float)):
        yield value
    elif isinstance(value, Problem):
        yield from _streams(value)
    elif isinstance(value, Mapping):
        for name in sorted(value, key=str):
            yield from leaves(value[name])
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from leaves(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name))


def _streams(problem: AnyProblem) -> tuple[Generator, ...]:
    """Return the random streams of the training attack, if there is one."""
    if problem.attack is None:
        return ()
    drawn = problem.attack_streams
    return (drawn,) if isinstance(drawn, Generator) else drawn


def filled(value: T, saved: Iterator[Any]) -> T:
    """Return the state with its leaves replaced by saved ones, in the order of `leaves`."""
    made: Any = value
    if isinstance(value, Generator):
        value.set_state(torch.from_numpy(next(saved)))
    elif isinstance(value, Tensor):
        made = _tensor(next(saved), value)
    elif isinstance(value, (bool, int, float)):
        made = type(value)(next(saved))
    elif isinstance(value, Problem):
        for generator in _streams(value):
            filled(generator, saved)
    elif isinstance(value, Mapping):
        made = {name: filled(value[name], saved) for name in sorted(value, key=str)}
    elif isinstance(value, (tuple, list)):
        parts = [filled(one, saved) for one in value]
        made = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    elif is_dataclass(value) and not isinstance(value, type):
        held = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        changed = {name: filled(one, saved) for name, one in held.items()}
        if any(changed[name] is not held[name] for name in held):
            made = dataclasses.replace(value, **changed)
    return made  # type: ignore[no-any-return]


def _tensor(saved: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(saved.copy()).view(like.dtype).to(like.device)


def _array(leaf: Tensor | Generator | Number) -> np.ndarray:
    if isinstance(leaf, Generator):
        return leaf.get_state().numpy()
    if isinstance(leaf, Tensor):
        plain = leaf.detach().cpu().contiguous()
        return (plain.view(torch.int16) if plain.dtype == torch.bfloat16 else plain).numpy()
    return np.array(leaf)


def structure(value: object, arrays: list[np.ndarray]) -> Any:
    """Return a value as JSON and append its tensors to `arrays`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Tensor):
        arrays.append(_array(value))
        dtype = str(value.dtype).removeprefix("torch.")
        return {"tensor": len(arrays) - 1, "dtype": dtype, "device": value.device.type}
    if isinstance(value, Mapping) and all(isinstance(k, (str, int)) for k in value):
        pairs = [[k, structure(v, arrays)] for k, v in value.items()]
        return {"mapping": pairs}
    if hasattr(value, "_fields") or (is_dataclass(value) and not isinstance(value, type)):
        record: Any = value
        names = getattr(value, "_fields", None) or [f.name for f in dataclasses.fields(record)]
        held = {name: structure(getattr(value, name), arrays) for name in names}
        path = f"{type(value).__module__}:{type(value).__qualname__}"
        return {"record": path, "fields": held}
    if isinstance(value, (tuple, list)):
        kind_of = "tuple" if isinstance(value, tuple) else "list"
        return {kind_of: [structure(one, arrays) for one in value]}
    raise CannotSave(f"a {type(value).__name__} cannot be saved in a checkpoint")


def restored(plain: Any, arrays: Sequence[np.ndarray], device: str) -> Any:
    """Return the value that `structure` described, with its tensors on the device."""
    if not isinstance(plain, dict):
        return plain
    if "tensor" in plain:
        tensor = torch.from_numpy(arrays[plain["tensor"]].copy())
        place = device if plain["device"] == "cuda" else "cpu"
        return tensor.view(getattr(torch, plain["dtype"])).to(place)
    if "mapping" in plain:
        return {k: restored(v, arrays, device) for k, v in plain["mapping"]}
    if "tuple" in plain or "list" in plain:
        several = plain["tuple"] if "tuple" in plain else plain["list"]
        parts = [restored(one, arrays, device) for one in several]
        return tuple(parts) if "tuple" in plain else parts
    module, _, name = plain["record"].partition(":")
    kind: Any = sys.modules[module]
    for part in name.split("."):
        kind = getattr(kind, part)
    if not (is_dataclass(kind) or hasattr(kind, "_fields")):
        raise ValueError(f"a checkpoint needs a dataclass or named tuple, got {plain['record']}")
    return kind(**{k: restored(v, arrays, device) for k, v in plain["fields"].items()})


def write(path: Path, state: object, memory: object, about: Json) -> None:
    """Write a checkpoint: a state, the memory of the folds, and the run it belongs to."""
    held = [_array(leaf) for leaf in leaves(state)]
    count = len(held)
    plain = structure(memory, held)
    header = json.dumps({"about": about, "state": count, "memory": plain}).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        arrays = [("header", np.frombuffer(header, np.uint8))]
        arrays += [(str(i), array) for i, array in enumerate(held)]
        for name, array in arrays:
            with file.open(f"{name}.npy", "w") as out:
                np.lib.format.write_array(out, np.asanyarray(array), allow_pickle=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with temporary.open("wb") as out:
        out.write(buffer.getbuffer())
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(path)


def read_about(path: Path) -> Json:
    """Return the description of the run that a checkpoint belongs to."""
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        about: dict[str, Any] = json.loads(file["header"].tobytes())["about"]
    return about


def read(path: Path, state: T, device: str) -> tuple[T, Any]:
    """Return the saved state, filled into the given new state, and the saved memory."""
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        arrays = [file[str(i)] for i in range(len(file.files) - 1)]
    saved = iter(arrays[: header["state"]])
    made = filled(state, saved)
    if next(saved, None) is not None:
        raise ValueError(f"{path} does not fit this run: it has more tensors than the state")
    return made, restored(header["memory"], arrays, device)
