"""Select the best of several points, for every example."""

from dataclasses import dataclass

import torch
from torch import Tensor


def per_example(which: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return a for the examples where `which` is true, b for the others."""
    return torch.where(wide(which, a), a, b)


def wide(v: Tensor, like: Tensor) -> Tensor:
    """Reshape one number per example so that it multiplies whole examples."""
    return v.view(*v.shape, *[1] * (like.ndim - v.ndim))


@dataclass(frozen=True)
class Best:
    """The point with the highest value so far, for every example.

    Of two points with equal values the earlier one stays. A NaN value never replaces a number, and
    any number replaces a NaN.

    >>> best = Best(torch.tensor([[0.0], [0.0]]), torch.tensor([1.0, 1.0]))
    >>> best.offer(torch.tensor([[5.0], [6.0]]), torch.tensor([2.0, torch.nan])).x.tolist()
    [[5.0], [0.0]]
    """

    x: Tensor
    height: Tensor

    def offer(self, z: Tensor, values: Tensor) -> "Best":
        """Return the best of these points and the points z."""
        higher = (values > self.height) | (self.height.isnan() & ~values.isnan())
        return Best(per_example(higher, z, self.x), torch.where(higher, values, self.height))
