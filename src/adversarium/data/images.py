"""Images: data sets instead of distributions. `digits` ships with the package."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.rng import stream
from adversarium.shapes import Float, Int


@dataclass(frozen=True)
class ImageBatch:
    """Images in [0, 1] and their labels."""

    x: Float[Tensor, "*n c h w"]
    y: Int[Tensor, "*n"]


@cache
def _digits() -> ImageBatch:
    with np.load(str(files("adversarium.data") / "digits.npz")) as arrays:
        x, y = torch.from_numpy(arrays["images"]), torch.from_numpy(arrays["labels"])
    return ImageBatch(x=x[:, None].double() / 16, y=y.long())


@dataclass(frozen=True, kw_only=True)
class Digits:
    """The UCI optical digits: 1,797 images of 8 × 8 in ten classes; they ship with the package.

    E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, CC BY 4.0.
    Neither UCI nor we name a test set: `split` numbers a random one of n_test images.
    """

    n_test: int = 500
    split: int = 0
    part: Literal["train", "test"] = "train"

    k = 10
    shape = (1, 8, 8)

    def __post_init__(self) -> None:
        if not 1 <= self.n_test < 1797:
            raise ValueError(
                f"Digits needs 1 <= n_test < 1797 (so that training images are left), "
                f"got {self.n_test}."
            )

    @property
    def held_out(self) -> "Digits":
        """The test part of the same split."""
        return replace(self, part="test")

    def sample(self, n: int, rng: Generator) -> ImageBatch:
        """n different images of this part, in random order."""
        whole = _digits()
        order = torch.randperm(len(whole.y), generator=stream(self.split, "digits split"))
        part = order[: self.n_test] if self.part == "test" else order[self.n_test :]
        if n > len(part):
            raise ValueError(
                f"Digits has {len(part)} {self.part} images at n_test={self.n_test}, got n={n}."
            )
        chosen = part[torch.randperm(len(part), generator=rng)[:n]]
        return ImageBatch(x=whole.x[chosen], y=whole.y[chosen])
