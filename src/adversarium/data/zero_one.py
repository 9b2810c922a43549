"""Handwritten zeros and ones as vectors of equal norm: the images of BOAT's Figures 4 to 6."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

import torch
from torch import Generator, Tensor

from adversarium.data.files import Part
from adversarium.data.images import Digits, Images
from adversarium.rng import stream
from adversarium.shapes import Float

Source = Literal["mnist", "fashion-mnist", "digits"]


@cache
def _images(source: Source, part: Part) -> tuple[Tensor, Tensor]:
    """Return all zeros (label −1) and ones (+1) of a part, with pixels in [0, 1]."""
    if source != "digits":
        pool = Images(name=source, part=part).pool
        images, labels = pool.x[:, 0].double() / 255, pool.y
    else:
        whole = Digits(n_test=600, part=part)
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

    `source`: "mnist" has 12,665 training and 2,115 test images and "fashion-mnist" 12,000 and 2,000
    (t-shirts and trousers); "digits" has the 8 × 8 digits included in the package. Images are
    reduced by averages over areas or enlarged bilinearly, then scaled to norm `mu`. Labels have no
    noise.

    >>> from adversarium.rng import stream
    >>> ZeroOne(source="digits", side=4, mu=1.0).held_out.sample(2, stream(0, "test")).x.shape
    torch.Size([2, 16])
    """

    side: int
    mu: float  # the norm of every vector
    source: Source = "mnist"
    part: Part = "train"

    k = 1

    def __post_init__(self) -> None:
        if self.side < 2 or not self.mu > 0:
            raise ValueError(
                f"ZeroOne needs side >= 2 and mu > 0, got side={self.side}, mu={self.mu}."
            )
        if self.source not in get_args(Source):
            raise ValueError(
                f"ZeroOne needs a source among {', '.join(get_args(Source))}, got {self.source!r}."
            )

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
        try:
            most = len(_images(self.source, self.part)[1])
        except ValueError as fault:
            return f"{fault} Or use source=digits, which needs no files."
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
