"""Keep the best: every ascent and every list of candidates ends in it."""

from dataclasses import dataclass

import torch
from torch import Tensor


def per_example(which: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """a for the examples of `which`, b for the others."""
    return torch.where(wide(which, a), a, b)


def wide(v: Tensor, like: Tensor) -> Tensor:
    """One number per example, ready to multiply whole examples."""
    return v.view(*v.shape, *[1] * (like.ndim - v.ndim))


@dataclass(frozen=True)
class Best:
    """The highest point that was met, for every example.

    The earlier of two equal points stays; a value that is no number never replaces one, and is
    replaced by any.

    >>> best = Best(torch.tensor([[0.0], [0.0]]), torch.tensor([1.0, 1.0]))
    >>> best.offer(torch.tensor([[5.0], [6.0]]), torch.tensor([2.0, torch.nan])).x.tolist()
    [[5.0], [0.0]]
    """

    x: Tensor
    height: Tensor

    def offer(self, z: Tensor, values: Tensor) -> "Best":
        """The best of these and the points z."""
        higher = (values > self.height) | (self.height.isnan() & ~values.isnan())
        return Best(per_example(higher, z, self.x), torch.where(higher, values, self.height))
