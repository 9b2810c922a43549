"""Find, read and verify the files of image data sets.

A set is read from the directory that the user names (ADVERSARIUM_DATA, --data) or from its folder
with the set's name, else from the folder of downloads. Every read is verified: `checksums.json`
has one digest per 1,000 images and one per 1,000 labels, whatever the form of the files.
"""

import gzip
import hashlib
import io
import itertools
import json
import os
import pickle
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")
Part = Literal["train", "test"]
BLOCK = 1000  # images per digest


class Pieces(NamedTuple):
    """One part of a set as its files have it: uint8 images (n, height, width, channels), labels,
    the number of images of each file, and the file of the labels."""

    images: np.ndarray
    labels: np.ndarray
    counts: tuple[tuple[Path, int], ...]
    labels_file: Path


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file of a set on the web, with its official MD5 checksum."""

    url: str
    md5: str
    megabytes: float

    @property
    def name(self) -> str:
        """The file's name."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """What is known of an image data set: its size, licence, sources and forms."""

    title: str
    shape: tuple[int, int, int]  # channels, height, width
    sizes: tuple[int, int]  # of the training and the test set
    licence: str
    downloads: tuple[Download, ...]
    forms: tuple[Callable[[Path, Part], Pieces | None], ...]
    needs: str  # the files of the first form, as text


def digest(array: np.ndarray) -> str:
    """Return the first half of the SHA-256 of an array of bytes."""
    return hashlib.sha256(np.ascontiguousarray(array, dtype=np.uint8).data).hexdigest()[:32]


@cache
def _known(name: str) -> dict[str, dict[str, list[str]]]:
    """Return the digests of a set's parts: {part: {"images": […], "labels": […]}}; empty for a set
    whose files are verified by their own checksum."""
    text = (files("adversarium.data") / "checksums.json").read_text(encoding="utf-8")
    known: dict[str, dict[str, dict[str, list[str]]]] = json.loads(text)
    return known.get(name, {})


def require_official(name: str, part: Part, read: Pieces) -> None:
    """Raise, naming the file, unless images and labels are those of the official set."""
    if not (known := _known(name).get(part)):
        return
    for kind, array, counts in (
        ("images", read.images, read.counts),
        ("labels", read.labels, ((read.labels_file, len(read.labels)),)),
    ):
        wrong = _first_unlike(array, known[kind])
        if wrong is not None:
            ends = itertools.accumulate(count for _, count in counts)
            path = next((p for (p, _), end in zip(counts, ends, strict=True) if wrong < end),
                        counts[-1][0])  # fmt: skip
            raise BadData(
                f"{path} does not have the {part} {kind} of {SETS[name].title} (their checksum "
                "differs); replace it."
            )


def _first_unlike(array: np.ndarray, known: Sequence[str]) -> int | None:
    """Return the first index of the first block that has another digest; None if there is none."""
    for i, first in enumerate(range(0, max(len(array), 1), BLOCK)):
        if i >= len(known) or digest(array[first : first + BLOCK]) != known[i]:
            return first
    return None


def downloads_folder(name: str) -> Path:
    """Return the folder in which downloads of a set are stored."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_home) / "adversarium" / name


def places(name: str) -> Iterator[Path]:
    """Yield the folders in which a set is looked for."""
    if named := os.environ.get("ADVERSARIUM_DATA"):
        yield Path(named) / name
        yield Path(named)
    yield downloads_folder(name)


def read_part(name: str, part: Part) -> Pieces | None:
    """Return a verified part of a set, or None if its files are nowhere; raise, naming the file,
    if one is damaged or is not that of the set."""
    for folder in places(name):
        for form in SETS[name].forms:
            try:
                read = form(folder, part)
            except _DAMAGE as fault:
                where = getattr(fault, "filename", None) or folder
                raise BadData(
                    f"{where} is damaged or is not a file of {SETS[name].title} ({fault}); "
                    "replace it."
                ) from fault
            if read is not None:
                require_official(name, part, read)
                return read
    return None


def lacking(name: str) -> str:
    """Say how to get a set that is not here."""
    known = SETS[name]
    get = f"name a directory that has {known.needs} (--data DIR)"
    if known.downloads:
        size = sum(file.megabytes for file in known.downloads)
        get += f", or download {size:.0f} MB with `adversarium data fetch {name}`"
    return f"{known.title} is not on this machine: {get}."


class BadData(ValueError):
    """A file that is damaged, or that is not the official one."""


class _Damaged(Exception):
    """A file that cannot be read, with its path."""

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(str(why) or type(why).__name__)
        self.filename = path


_DAMAGE = (_Damaged, OSError)
_UNREADABLE = (
    OSError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error,
    zlib.error, tarfile.TarError, pickle.UnpicklingError,
)  # fmt: skip


def _guarded(path: Path, read: Callable[[Path], T]) -> T:
    """Call a reader; whatever a damaged file makes it raise becomes one exception with the path."""
    try:
        return read(path)
    except _UNREADABLE as fault:
        raise _Damaged(path, fault) from fault


def _idx(folder: Path, part: Part) -> Pieces | None:
    """Read idx files, compressed or not, the form of MNIST."""
    prefix = "train" if part == "train" else "t10k"
    paths = [
        next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
        for name in (f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte")
    ]
    images, labels = paths
    if images is None or labels is None:
        return None
    x, y = (_guarded(path, _idx_array) for path in (images, labels))
    return Pieces(x[..., None], y, ((images, len(x)),), labels)


def _idx_array(path: Path) -> np.ndarray:
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    axes = raw[3]
    shape = struct.unpack(f">{axes}I", raw[4 : 4 + 4 * axes])
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


def _mosaics(folder: Path, part: Part) -> Pieces | None:
    """Read WebP mosaics of 40 rows and 25 columns of 32 × 32 images, and labels as .npy."""
    labels = folder / f"{part}_labels.npy"
    paths = sorted(folder.glob(f"{part}_[0-9][0-9].webp"))
    if not labels.is_file() or not paths:
        return None
    wanted = [folder / f"{part}_{i:02d}.webp" for i in range(len(paths))]
    if paths != wanted:
        first = next(want for want, path in zip(wanted, paths, strict=True) if want != path)
        raise _Damaged(first, "it is missing")
    x = np.concatenate([_guarded(path, _tiles) for path in paths])
    y = _guarded(labels, _npy)
    return Pieces(x, y[: len(x)], tuple((path, BLOCK) for path in paths), labels)


def _npy(path: Path) -> np.ndarray:
    array: np.ndarray = np.load(path, allow_pickle=False)
    return array


def _tiles(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return pixels.reshape(40, 32, 25, 32, 3).swapaxes(1, 2).reshape(-1, 32, 32, 3)


_BATCHES = {
    "train": tuple(f"data_batch_{i}" for i in range(1, 6)),
    "test": ("test_batch",),
}  # fmt: skip
_INSIDE, _ARCHIVE = "cifar-10-batches-py", "cifar-10-python.tar.gz"


def _batches(folder: Path, part: Part) -> Pieces | None:
    """Read the official Python batches of CIFAR-10, from their folder or their archive."""
    names = _BATCHES[part]
    for home in (folder / _INSIDE, folder):
        if (home / names[0]).is_file():
            paths = tuple(home / name for name in names)
            return _joined([_guarded(path, _batch_file) for path in paths], paths)
    archive = folder / _ARCHIVE
    if not archive.is_file():
        return None

    def members(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
        with tarfile.open(path) as file:
            held = [file.extractfile(f"{_INSIDE}/{name}") for name in names]
            return [_batch(one.read() if one is not None else b"") for one in held]

    return _joined(_guarded(archive, members), (archive,) * len(names))


def _joined(read: Sequence[tuple[np.ndarray, np.ndarray]], paths: Sequence[Path]) -> Pieces:
    x, y = (np.concatenate([pair[i] for pair in read]) for i in (0, 1))
    counts = tuple((path, len(one)) for path, (one, _) in zip(paths, read, strict=True))
    return Pieces(x, y, counts, paths[-1])


class _Numbers(pickle.Unpickler):
    """Read numbers and texts, and refuse everything else: a batch of CIFAR-10 is a pickled
    dictionary, and a pickled object could run code."""

    def find_class(self, module: str, name: str) -> object:
        allowed = {
            ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
            ("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"),
        }  # fmt: skip
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it contains {module}.{name}, which no batch has")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def _batch_file(path: Path) -> tuple[np.ndarray, np.ndarray]:
    return _batch(path.read_bytes())


def _batch(raw: bytes) -> tuple[np.ndarray, np.ndarray]:
    held = _Numbers(io.BytesIO(raw), encoding="bytes").load()
    pixels = np.asarray(held[b"data"], dtype=np.uint8).reshape(-1, 3, 32, 32)
    return pixels.transpose(0, 2, 3, 1), np.asarray(held[b"labels"], dtype=np.uint8)


def _mat(folder: Path, part: Part) -> Pieces | None:
    """Read SVHN's cropped digits in MATLAB's format; the digit 0 has the label 10 there."""
    path = folder / f"{part}_32x32.mat"
    if not path.is_file():
        return None
    known = {file.name: file.md5 for file in SETS["svhn"].downloads}
    if hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != known[path.name]:
        raise _Damaged(path, "its checksum differs")
    from scipy.io import loadmat

    held = _guarded(path, loadmat)
    images = np.ascontiguousarray(held["X"].transpose(3, 0, 1, 2))
    labels = (held["y"].ravel() % 10).astype(np.uint8)
    return Pieces(images, labels, ((path, len(images)),), path)


def _idx_downloads(base: str, known: Sequence[tuple[str, str, float]]) -> tuple[Download, ...]:
    return tuple(Download(url=f"{base}/{f}.gz", md5=m, megabytes=s) for f, m, s in known)


_FOUR = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte",
         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")  # fmt: skip
_IDX_FILES = "the four idx files (train-images-idx3-ubyte.gz, …)"
_HOUSES = "http://ufldl.stanford.edu/housenumbers"

SETS = {
    "mnist": ImageFiles(
        title="MNIST",
        shape=(1, 28, 28),
        sizes=(60_000, 10_000),
        licence="CC BY-SA 3.0 (Y. LeCun and C. Cortes)",
        downloads=_idx_downloads(
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            tuple(zip(_FOUR, (
                "f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
                "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c",
            ), (9.9, 0.03, 1.6, 0.01), strict=True)),
        ),
        forms=(_idx,),
        needs=_IDX_FILES,
    ),
    "fashion-mnist": ImageFiles(
        title="Fashion-MNIST",
        shape=(1, 28, 28),
        sizes=(60_000, 10_000),
        licence="MIT (Zalando SE)",
        downloads=_idx_downloads(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            tuple(zip(_FOUR, (
                "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
                "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310",
            ), (26.4, 0.03, 4.4, 0.01), strict=True)),
        ),
        forms=(_idx,),
        needs=_IDX_FILES,
    ),
    "cifar10": ImageFiles(
        title="CIFAR-10",
        shape=(3, 32, 32),
        sizes=(50_000, 10_000),
        licence="none stated; cite A. Krizhevsky, 2009",
        downloads=(
            Download(
                url=f"https://www.cs.toronto.edu/~kriz/{_ARCHIVE}",
                md5="c58f30108f718f92721af3b95e74349a",
                megabytes=170.5,
            ),
        ),
        forms=(_batches, _mosaics),
        needs=f"{_ARCHIVE}, its folder {_INSIDE}, or mosaics (train_00.webp, …, train_labels.npy)",
    ),
    "svhn": ImageFiles(
        title="SVHN",
        shape=(3, 32, 32),
        sizes=(73_257, 26_032),
        licence="for non-commercial use only",
        downloads=(
            Download(
                url=f"{_HOUSES}/train_32x32.mat",
                md5="e26dedcc434d2e4c54c9b2d4a06d8373",
                megabytes=182.0,
            ),
            Download(
                url=f"{_HOUSES}/test_32x32.mat",
                md5="eb5a983be6a315427106f1b164d9cef3",
                megabytes=64.3,
            ),
        ),
        forms=(_mat,),
        needs="train_32x32.mat and test_32x32.mat",
    ),
    "svhn-crops": ImageFiles(
        title="SVHN crops",
        shape=(3, 32, 32),
        sizes=(8_000, 2_000),
        licence="for non-commercial use only; not the official 32 × 32 files",
        downloads=(),
        forms=(_mosaics,),
        needs="mosaics (train_00.webp, …, train_labels.npy) in a folder svhn-crops",
    ),
}  # fmt: skip
