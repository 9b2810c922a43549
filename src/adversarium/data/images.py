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

from adversarium.data.files import SETS, Part, lacking, places, read_part
from adversarium.rng import stream
from adversarium.shapes import Int, Real


@dataclass(frozen=True)
class ImageBatch:
    """Images in [0, 1] and their labels; in a pool, the images may be bytes.

    >>> from adversarium.rng import stream
    >>> batch = Digits().sample(3, stream(0, "train"))
    >>> tuple(batch.x.shape), bool((batch.x >= 0).all() and (batch.x <= 1).all())
    ((3, 1, 8, 8), True)
    """

    x: Real[Tensor, "*n c h w"]
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
    part: Part = "train"

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


ImageSet = Literal["mnist", "fashion-mnist", "cifar10", "svhn", "svhn-crops"]


@cache
def _official(name: str, part: Part, looked_in: tuple[Path, ...]) -> ImageBatch:
    """Return all images of an official part as bytes, and their labels; raise if it is missing.
    They are read once, unless other folders are named."""
    read = read_part(name, part)
    if read is None:
        raise ValueError(lacking(name))
    x = torch.from_numpy(read.images.transpose(0, 3, 1, 2).copy())
    return ImageBatch(x=x, y=torch.from_numpy(read.labels.astype(np.int64)))


@dataclass(frozen=True, kw_only=True)
class Images:
    """An image data set with its official training and test images: MNIST, Fashion-MNIST, CIFAR-10,
    SVHN, or crops from SVHN.

    The files are those of the user's directory (`--data`) or of `adversarium data fetch`; they are
    verified when they are read. With `validation` > 0, the test set is replaced by that many
    training images (the last ones of the official order), which are not trained on.

    >>> data = Images(name="cifar10", validation=5000)
    >>> data.shape, data.k, data.size, data.held_out.size
    ((3, 32, 32), 10, 45000, 5000)
    """

    name: ImageSet
    validation: int = 0
    part: Part = "train"

    k = 10

    def __post_init__(self) -> None:
        if self.name not in SETS:
            raise ValueError(f"Images needs one of the names {', '.join(SETS)}, got {self.name!r}.")
        if not 0 <= self.validation < SETS[self.name].sizes[0]:
            raise ValueError(
                f"Images needs 0 <= validation < {SETS[self.name].sizes[0]}, the number of "
                f"training images, got {self.validation}."
            )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return SETS[self.name].shape

    @property
    def size(self) -> int:
        """The number of images of this part."""
        train, test = SETS[self.name].sizes
        if self.part == "train":
            return train - self.validation
        return self.validation or test

    @property
    def held_out(self) -> "Images":
        """The test images, or the training images that are held out for validation."""
        return replace(self, part="test")

    @property
    def pool(self) -> ImageBatch:
        """The images, as bytes, among which this part's images lie."""
        return _official(self.name, self._official_part, tuple(places(self.name)))

    @property
    def _official_part(self) -> Part:
        return "test" if self.part == "test" and not self.validation else "train"

    def lacking(self, n: int) -> str:
        """Return which data are missing for a sample of n images, or an empty string.

        A run checks this before it starts.
        """
        try:
            self._require(n)
        except ValueError as fault:
            return str(fault)
        return ""

    def _require(self, n: int) -> None:
        here = len(self.pool.y)
        if n > self.size:
            raise ValueError(
                f"Images needs n <= {self.size}, the number of {self.part} images of {self.name}, "
                f"got n={n}."
            )
        if here < SETS[self.name].sizes[self._official_part == "test"]:
            raise ValueError(
                f"{SETS[self.name].title} is incomplete here: {here} {self._official_part} images; "
                "add the other files."
            )

    def indices(self, n: int, rng: Generator) -> Tensor:
        """Draw the positions in the pool of n different images of this part, in random order."""
        self._require(n)
        held_out = self.part == "test" and self.validation
        first = SETS[self.name].sizes[0] - self.validation if held_out else 0
        return first + torch.randperm(self.size, generator=rng)[:n]

    def sample(self, n: int, rng: Generator) -> ImageBatch:
        """Draw n different images of this part, with pixels in [0, 1], in random order."""
        chosen = self.indices(n, rng)
        pool = self.pool
        return ImageBatch(x=pool.x[chosen].double() / 255, y=pool.y[chosen])
