"""Handwritten zeros and ones as vectors of equal norm: the images of BOAT's Figures 4 to 6."""

import gzip
import hashlib
import os
import struct
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.data.images import Digits
from adversarium.rng import stream
from adversarium.shapes import Float

# SHA-256 of the uncompressed idx files of MNIST
MNIST = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
Source = Literal["mnist", "digits"]
LACKING = (
    "MNIST needs a directory with its four idx files (train-images-idx3-ubyte, …, gzipped or not); "
    "name it with --data, or use source=digits, which needs no files."
)


def mnist_folder() -> Path | None:
    """Return the folder of the idx files of MNIST, compressed or not, or None if one is missing.

    This is the user's directory (ADVERSARIUM_DATA, --data) or its folder `mnist`.
    """
    named = os.environ.get("ADVERSARIUM_DATA")
    for folder in (Path(named), Path(named) / "mnist") if named else ():
        if all(_there(folder, name) for name in MNIST):
            return folder
    return None


def _there(folder: Path, name: str) -> bool:
    return (folder / name).is_file() or (folder / f"{name}.gz").is_file()


def _idx(folder: Path, name: str) -> np.ndarray:
    """Return the numbers of an idx file after comparing its checksum with the known one."""
    path = folder / name
    raw = (
        path.read_bytes()
        if path.is_file()
        else gzip.decompress((folder / f"{name}.gz").read_bytes())
    )
    if hashlib.sha256(raw).hexdigest() != MNIST[name]:
        raise ValueError(f"{folder / name} is not the MNIST file (its checksum differs).")
    axes = raw[3]
    shape = struct.unpack(f">{axes}I", raw[4 : 4 + 4 * axes])
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


@cache
def _images(source: Source, part: str) -> tuple[Tensor, Tensor]:
    """Return all zeros (label −1) and ones (+1) of a part, with pixels in [0, 1]."""
    if source == "mnist":
        folder = mnist_folder()
        if folder is None:
            raise ValueError(LACKING)
        prefix = "train" if part == "train" else "t10k"
        x, y = (
            _idx(folder, f"{prefix}-{kind}") for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
        )
        images, labels = torch.from_numpy(x / 255.0), torch.from_numpy(y.astype(np.int64))
    else:
        whole = Digits(n_test=600, part=part)  # type: ignore[arg-type]
        size = 600 if part == "test" else 1797 - 600
        batch = whole.sample(size, stream(0, "zeros and ones"))
        images, labels = batch.x[:, 0], batch.y
    chosen = labels < 2
    return images[chosen], 2.0 * labels[chosen].double() - 1


@dataclass(frozen=True)
class VectorBatch:
    """Vectors and their labels ±1.

    >>> from adversarium.rng import stream
    >>> batch = ZeroOne(source="digits", side=5, mu=3.0).sample(4, stream(0, "train"))
    >>> tuple(batch.x.shape), [round(v, 6) for v in batch.x.norm(dim=1).tolist()]
    ((4, 25), [3.0, 3.0, 3.0, 3.0])
    """

    x: Float[Tensor, "*n d"]
    y: Float[Tensor, "*n"]


@dataclass(frozen=True, kw_only=True)
class ZeroOne:
    """Zeros (−1) and ones (+1) at side × side pixels, every vector of norm `mu`, §5 of BOAT.

    `source`: "mnist" has 12,665 training and 2,115 test images, read from the user's directory;
    "digits" has the 8 × 8 digits included in the package. Images are reduced by averages over areas
    or enlarged bilinearly, then scaled to norm `mu`. Labels have no noise.

    >>> from adversarium.rng import stream
    >>> ZeroOne(source="digits", side=4, mu=1.0).held_out.sample(2, stream(0, "test")).x.shape
    torch.Size([2, 16])
    """

    side: int
    mu: float  # the norm of every vector
    source: Source = "mnist"
    part: Literal["train", "test"] = "train"

    k = 1

    def __post_init__(self) -> None:
        if self.side < 2 or not self.mu > 0:
            raise ValueError(
                f"ZeroOne needs side >= 2 and mu > 0, got side={self.side}, mu={self.mu}."
            )
        if self.source not in ("mnist", "digits"):
            raise ValueError(f"ZeroOne needs source to be mnist or digits, got {self.source!r}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return (self.side**2,)

    @property
    def d(self) -> int:
        """The dimension."""
        return self.side**2

    @property
    def held_out(self) -> "ZeroOne":
        """The test images."""
        return replace(self, part="test")

    def lacking(self, n: int) -> str:
        """Return which data are missing for a sample of n points, or an empty string.

        A run checks this before it starts.
        """
        if self.source == "mnist" and mnist_folder() is None:
            return LACKING
        most = len(_images(self.source, self.part)[1])
        what = f"{self.part} images of 0 and 1 in {self.source}"
        few = f"ZeroOne needs n <= {most}, the number of {what}, got n={n}."
        return few if n > most else ""

    def sample(self, n: int, rng: Generator) -> VectorBatch:
        """Draw n different images of this part, in random order."""
        images, labels = _images(self.source, self.part)
        if message := self.lacking(n):
            raise ValueError(message)
        chosen = torch.randperm(len(labels), generator=rng)[:n]
        x = resized(images[chosen], self.side).flatten(1)
        return VectorBatch(x=self.mu * x / x.norm(dim=1, keepdim=True), y=labels[chosen])


def resized(images: Float[Tensor, "n h w"], side: int) -> Float[Tensor, "n s s"]:
    """Resize images: reduce them by the mean over areas, enlarge them bilinearly.

    >>> resized(torch.tensor([[[0.0, 2.0], [4.0, 6.0]]]), 1)
    tensor([[[3.]]])
    """
    if side <= images.shape[-1]:
        along = [_areas(size, side).to(images) for size in images.shape[-2:]]
        return along[0] @ images @ along[1].mT
    bilinear: Tensor = torch.nn.functional.interpolate(
        images[:, None], size=(side, side), mode="bilinear", align_corners=False
    )
    return bilinear[:, 0]


def _areas(size: int, side: int) -> Tensor:
    """Return the weight of every old pixel in every new one, (side, size); rows add up to 1."""
    edges = torch.arange(size + 1, dtype=torch.float64)
    ends = torch.arange(side + 1, dtype=torch.float64) * size / side
    low = torch.maximum(edges[None, :-1], ends[:-1, None])
    high = torch.minimum(edges[None, 1:], ends[1:, None])
    return (high - low).clamp_min(0) * side / size
