"""Read a user's network, weights and points from files, without executing anything that a weights
file or a data file contains."""

import importlib
import importlib.util
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

_INPUTS = ("x", "X", "x_test", "images", "inputs", "data")
_LABELS = ("y", "Y", "y_test", "labels", "targets")
_NESTED = ("state_dict", "model_state_dict", "model", "net", "params_ema", "params")


def network_named(text: str) -> Any:
    """Return what MODULE:FACTORY names, called without arguments if it is a function or a class;
    MODULE is an importable module or a file, FACTORY may also be a network itself."""
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise ValueError(f"a network is named module:factory or FILE.py:factory, got {text!r}.")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        if place.endswith(".py"):
            if not Path(place).is_file():
                raise ValueError(f"{place} is not a file; a network is named FILE.py:factory.")
            spec = importlib.util.spec_from_file_location(Path(place).stem, place)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules.setdefault(Path(place).stem, module)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except ValueError:
        raise
    except Exception as fault:
        raise ValueError(f"{place} cannot be imported: {_said(fault)}.") from fault
    if not hasattr(module, name):
        public = ", ".join(n for n in vars(module) if not n.startswith("_")) or "nothing"
        raise ValueError(f"{place} has no {name!r}; it has {public}.")
    found = getattr(module, name)
    if isinstance(found, nn.Module):
        return found
    if not callable(found):
        raise ValueError(f"{text} must be a network or a function that returns one, got {found!r}.")
    try:
        made = found()
    except Exception as fault:
        raise ValueError(f"{text} must return a network when called without arguments, but raised "
                         f"{_said(fault)}.") from fault  # fmt: skip
    if not callable(made):
        raise ValueError(f"{text}() must return a network, got {type(made).__name__}.")
    return made


def load_weights(net: Any, path: Path) -> None:
    """Load weights into a network: a state dict saved by torch (also inside a checkpoint), or a
    safetensors file."""
    if not isinstance(net, nn.Module):
        raise ValueError(f"--weights needs an nn.Module, got {type(net).__name__}.")
    held = _state(tensors(path, "weights"))
    if held and all(name.startswith("module.") for name in held):  # saved by DataParallel
        held = {name.removeprefix("module."): w for name, w in held.items()}
    own = net.state_dict()
    lacking, extra = sorted(set(own) - set(held)), sorted(set(held) - set(own))
    unlike = [n for n in own if n in held and own[n].shape != held[n].shape]
    if lacking or extra:
        raise ValueError(
            f"the weights in {path} do not fit the network: it lacks {_some(lacking)}, and has "
            f"{_some(extra)} that the network does not have."
        )
    if unlike:
        n = unlike[0]
        raise ValueError(f"the weights in {path} do not fit the network: {n} has shape "
                         f"{tuple(held[n].shape)}, needed {tuple(own[n].shape)}.")  # fmt: skip
    net.load_state_dict(held)


def points_in(path: Path) -> tuple[Tensor, Tensor]:
    """Read inputs and labels from an .npz, .pt or .safetensors file."""
    held = tensors(path, "data")
    x = next((held[n] for n in _INPUTS if n in held), None)
    y = next((held[n] for n in _LABELS if n in held), None)
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise ValueError(f"{path} needs arrays x and y (inputs, labels), has {_some(list(held))}.")
    if len(x) != len(y):
        raise ValueError(f"{path} has {len(x)} inputs, but {len(y)} labels.")
    return x, y


def tensors(path: Path, what: str) -> Mapping[str, Any]:
    """Return the named tensors of a file."""
    if not path.is_file():
        raise ValueError(f"--{what} needs a file, got {path}, which does not exist.")
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        if path.suffix == ".safetensors":
            return _safetensors(path.read_bytes())
        made = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as fault:
        raise ValueError(
            f"{path} cannot be read as {what}: needed a state dict of torch, safetensors or .npz "
            f"without objects ({_said(fault)[:200]})."
        ) from fault
    if not isinstance(made, Mapping):
        raise ValueError(f"{path} needs named tensors, got {type(made).__name__}.")
    return made


def radius_of(text: str) -> float:
    """Return a radius such as 0.3 or 8/255.

    >>> radius_of("8/255") == 8 / 255
    True
    """
    try:
        above, _, below = text.partition("/")
        value = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"--radius needs a number >= 0 such as 0.3 or 8/255, got {text!r}.")
    return value


_KINDS = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip


def _safetensors(data: bytes) -> dict[str, Tensor]:
    """Read the safetensors format: a length, a JSON header with types, shapes and places, bytes."""
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    made = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        first, last = info["data_offsets"]
        kind = _KINDS[info["dtype"]]
        part = torch.frombuffer(body[first:last], dtype=kind) if last > first else torch.zeros(0)
        made[name] = part.to(kind).reshape(info["shape"])
    return made


def _state(held: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the state dict in a checkpoint."""
    for name in _NESTED:
        inner = held.get(name)
        if isinstance(inner, Mapping) and any(isinstance(w, Tensor) for w in inner.values()):
            return {str(n): w for n, w in inner.items()}
    return {str(n): w for n, w in held.items() if isinstance(w, Tensor)}


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:3]) or "nothing"
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _said(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {' '.join(str(fault).split())}".rstrip(": ")
