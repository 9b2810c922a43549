"""Functions that stack, move, select and split batches.

A batch is a frozen dataclass of tensors whose first axis runs over the n points. Stacked over
seeds, every tensor gains one leading axis: the replicas.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from adversarium.sockets import Batch

B = TypeVar("B", bound=Batch)


def _names(batch: Batch) -> list[str]:
    """Return the names of the fields that contain tensors."""
    return [f.name for f in fields(batch) if isinstance(getattr(batch, f.name), Tensor)]


def _each(batch: B, change: Callable[[Tensor], Tensor]) -> B:
    return replace(batch, **{name: change(getattr(batch, name)) for name in _names(batch)})


def stack(batches: Sequence[B]) -> B:
    """Stack several batches of the same size into one batch with a leading replica axis."""
    columns = {n: torch.stack([getattr(b, n) for b in batches]) for n in _names(batches[0])}
    return replace(batches[0], **columns)


def moved(batch: B, device: str, dtype: torch.dtype | None) -> B:
    """Move the batch to a device; only floating-point tensors change to the given precision."""
    return _each(batch, lambda v: v.to(device, dtype if v.is_floating_point() else None))


def gathered(batch: B, index: Tensor) -> B:
    """Select points of a stacked batch, separately per replica; `index` is (replicas, n)."""
    rows = torch.arange(len(index), device=index.device)[:, None]
    return _each(batch, lambda v: v[rows, index])


def taken(batch: B, index: Tensor, dtype: torch.dtype) -> B:
    """Select points of one batch for every replica; `index` is (replicas, n).

    Inputs are converted to the given precision, and bytes are divided by 255.
    """

    def one(v: Tensor) -> Tensor:
        chosen = v[index]
        if chosen.dtype == torch.uint8:
            return chosen.to(dtype) / 255
        return chosen.to(dtype) if chosen.is_floating_point() else chosen

    return _each(batch, one)


def split_points(batch: B, size: int) -> list[B]:
    """Split a stacked batch into pieces of at most `size` points per replica."""
    n = batch.y.shape[1]
    if n <= size:
        return [batch]
    ranges = [slice(i, i + size) for i in range(0, n, size)]
    return [_each(batch, partial(_points, piece)) for piece in ranges]


def _points(piece: slice, v: Tensor) -> Tensor:
    return v[:, piece]


def leading(batch: B, count: int) -> B:
    """Select the first `count` points of every replica; all if it is 0."""
    return _each(batch, partial(_points, slice(count))) if count else batch


def picked(batch: B, replica: int, points: Tensor) -> B:
    """Select some points of one replica of a stacked batch, as a batch of one replica."""
    return _each(batch, lambda v: v[replica, points][None])
