"""Batches: what a distribution returns. Each has inputs x, labels y and its own latent truth.

A batch is a frozen dataclass of tensors whose first axis runs over the n points. Stacked over
seeds, every tensor gains one leading axis: the replicas.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Batch(Protocol):
    """Points with labels. `y` is ±1 (float) for a scalar classifier, 0 … k−1 (int) for k logits."""

    @property
    def x(self) -> Tensor: ...
    @property
    def y(self) -> Tensor: ...


B = TypeVar("B", bound=Any)


def _each(batch: B, change: Any) -> B:
    values = {f.name: getattr(batch, f.name) for f in fields(batch)}
    return replace(batch, **{k: change(v) for k, v in values.items() if isinstance(v, Tensor)})


def stack(batches: Sequence[B]) -> B:
    """One batch with a leading replica axis out of several of the same size."""
    names = [f.name for f in fields(batches[0]) if isinstance(getattr(batches[0], f.name), Tensor)]
    columns = {name: torch.stack([getattr(b, name) for b in batches]) for name in names}
    return replace(batches[0], **columns)


def moved(batch: B, device: str, dtype: torch.dtype) -> B:
    """The batch on a device; floating point tensors change their precision, integers do not."""
    return _each(batch, lambda v: v.to(device, dtype if v.is_floating_point() else None))


def gathered(batch: B, index: Tensor) -> B:
    """Points of a stacked batch, chosen separately in every replica; `index` is (replicas, n)."""
    rows = torch.arange(len(index), device=index.device)[:, None]
    return _each(batch, lambda v: v[rows, index])


def picked(batch: B, replica: int, points: Tensor) -> B:
    """Some points of one replica of a stacked batch, as a batch of one replica."""
    return _each(batch, lambda v: v[replica, points][None])
