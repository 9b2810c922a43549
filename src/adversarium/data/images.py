"""Image data sets; the digits are included in the package."""

import hashlib
import os
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.rng import stream
from adversarium.shapes import Float, Int


@dataclass(frozen=True)
class ImageBatch:
    """Images in [0, 1] and their labels.

    >>> from adversarium.rng import stream
    >>> batch = Digits().sample(3, stream(0, "train"))
    >>> tuple(batch.x.shape), bool((batch.x >= 0).all() and (batch.x <= 1).all())
    ((3, 1, 8, 8), True)
    """

    x: Float[Tensor, "*n c h w"]
    y: Int[Tensor, "*n"]


DIGITS_SHA256 = "b2dab7b501728c22e9119ad76740b2e17c77a231e42d1e592380d90886f1a05e"


def data_file(name: str) -> Path:
    """Return a data file from the user's directory (ADVERSARIUM_DATA, --data) or the package."""
    folder = os.environ.get("ADVERSARIUM_DATA")
    for path in (Path(folder) / name, Path(folder) / Path(name).stem / name) if folder else ():
        if path.is_file():
            return path
    return Path(str(files("adversarium.data") / name))


@cache
def _digits() -> ImageBatch:
    path = data_file("digits.npz")
    if hashlib.sha256(path.read_bytes()).hexdigest() != DIGITS_SHA256:
        raise ValueError(f"{path} is not the digits file (its checksum differs).")
    with np.load(path) as arrays:
        x, y = torch.from_numpy(arrays["images"]), torch.from_numpy(arrays["labels"])
    return ImageBatch(x=x[:, None].double() / 16, y=y.long())


@dataclass(frozen=True, kw_only=True)
class Digits:
    """The UCI optical digits: 1,797 images of 8 × 8 in ten classes, included in the package.

    E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, CC BY 4.0. Neither
    UCI nor this package fixes a test set: `split` numbers the random test sets of n_test images.

    >>> from adversarium.rng import stream
    >>> Digits().held_out.sample(2, stream(0, "test")).x.shape
    torch.Size([2, 1, 8, 8])
    """

    n_test: int = 500
    split: int = 0
    part: Literal["train", "test"] = "train"

    k = 10
    shape = (1, 8, 8)

    def __post_init__(self) -> None:
        if not 1 <= self.n_test < 1797:
            raise ValueError(
                f"Digits needs 1 <= n_test < 1797 (some images must remain for training), "
                f"got {self.n_test}."
            )

    @property
    def held_out(self) -> "Digits":
        """The test set of the same split."""
        return replace(self, part="test")

    @property
    def pool(self) -> ImageBatch:
        """All images of the training and the test set."""
        return _digits()

    def sample(self, n: int, rng: Generator) -> ImageBatch:
        """Draw n different images of this part, in random order."""
        chosen = self.indices(n, rng)
        return ImageBatch(x=self.pool.x[chosen], y=self.pool.y[chosen])

    def indices(self, n: int, rng: Generator) -> Tensor:
        """Draw the positions in the pool of n different images of this part."""
        order = torch.randperm(len(self.pool.y), generator=stream(self.split, "digits split"))
        part = order[: self.n_test] if self.part == "test" else order[self.n_test :]
        if n > len(part):
            raise ValueError(
                f"Digits needs n <= {len(part)}, the number of {self.part} images at "
                f"n_test={self.n_test}, got n={n}."
            )
        return part[torch.randperm(len(part), generator=rng)[:n]]
