"""Implement `adversarium data`: list, download or check image data sets."""

from pathlib import Path
from typing import Literal

from adversarium.commands.options import Answer, DataDir, Json, ready
from adversarium.commands.progress import Progress
from adversarium.data.files import SETS, BadData, lacking, read_part
from adversarium.report.tables import json_text

What = Literal["list", "fetch", "check"]


def data(
    what: What = "list", *names: str, data: DataDir = None, json: Json = False
) -> int | Answer:
    """List the image data sets and where their files are, download sets, or check their files.

    Parameters
    ----------
    what
        list; fetch NAME …, which downloads the official files; or check [NAME …], which reads every
        file and compares its checksum
    names
        mnist, fashion-mnist, cifar10, svhn or svhn-crops
    """
    ready("cpu", data)
    unknown = [name for name in names if name not in SETS]
    if unknown:
        raise ValueError(f"no data set is named {unknown[0]!r}; choose from {', '.join(SETS)}.")
    if what == "fetch":
        return _fetched(names, json)
    rows = [_row(name) for name in names or SETS]
    failed = what == "check" and any(row["damage"] or (names and not row["place"]) for row in rows)
    if json:
        return Answer(json_text(rows), int(failed))
    for row in rows:
        print(f"{row['name']:14}{row['images']}  {row['state']}")
    if what == "list":
        print("digits        1,797 images of 1 × 8 × 8  included in the package")
    return int(failed)


def _row(name: str) -> dict[str, str]:
    """Return what is known of a set on this machine; reading it verifies it."""
    known = SETS[name]
    train, test = known.sizes
    images = f"{train:,} + {test:,} images of {' × '.join(map(str, known.shape))}"
    place, damage, missing = "", "", ""
    try:
        for part, size in zip(("train", "test"), known.sizes, strict=True):
            read = read_part(name, part)  # type: ignore[arg-type]
            if read is None:
                missing = lacking(name)
            elif len(read.images) < size:
                damage = f"{len(read.images):,} of {size:,} {part} images in {_home(read.counts)}"
            else:
                place = str(_home(read.counts))
    except BadData as fault:
        damage = str(fault)
    state = damage or missing or f"complete and verified, in {place}"
    held = "" if damage or missing else place
    return dict(name=name, images=images, state=state, place=held, damage=damage,
                licence=known.licence)  # fmt: skip


def _home(counts: tuple[tuple[Path, int], ...]) -> Path:
    return counts[0][0].parent


def _fetched(names: tuple[str, ...], json: bool) -> int | Answer:
    from adversarium.data.downloads import fetch

    if not names:
        raise ValueError(f"data fetch needs the name of a data set: {', '.join(SETS)}.")
    folders = {}
    with Progress(quiet=json, steps=False) as progress:
        for name in names:
            folders[name] = str(fetch(name, progress))
    for name in names:
        for part in ("train", "test"):
            read_part(name, part)
    if json:
        return Answer(json_text(folders))
    for name, folder in folders.items():
        print(f"{SETS[name].title} is in {folder} ({SETS[name].licence})")
    return 0
