"""Implement `adversarium attack module:factory`: the suite on a user's own network."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from adversarium.commands.options import Answer, writable

if TYPE_CHECKING:
    from adversarium.diagnosis.attack import Effort


def attack_own(
    name: str,
    *,
    weights: Path | None,
    data: Path | None,
    p: str,
    radius: str,
    box: str,
    classes: str,
    effort: "Effort",
    seed: int,
    points: int | None,
    device: str | None,
    out: Path,
    fresh: bool,
    json: bool,
) -> int | Answer:
    """Attack a network of a user's module; store the result after every attack, so that the same
    call continues where it stopped."""
    if data is None or not radius:
        raise ValueError(
            "attack of your own network needs --data FILE.npz (arrays x and y) and --radius R, "
            "such as --radius 8/255."
        )
    writable(out)
    import torch

    from adversarium.diagnosis import Attacked, attack
    from adversarium.diagnosis.files import load_weights, network_named, points_in, radius_of
    from adversarium.report.tables import json_text

    size = radius_of(radius)
    net = network_named(name)
    if weights is not None:
        load_weights(net, weights)
    if device is not None and isinstance(net, torch.nn.Module):
        net = net.to(device)
    x, y = points_in(data)
    if points is not None:
        x, y = x[:points], y[:points]
    stem = re.sub(r"[^\w.-]+", "-", f"{name.removesuffix('.py')}-l{p}-{radius}-{effort}")
    path = out / f"{stem}.npz"
    out.mkdir(parents=True, exist_ok=True)
    earlier = None
    if path.is_file() and not fresh:
        try:
            earlier = Attacked.load(path)
        except Exception:  # another version's file, or a damaged one: start again
            earlier = None
    made = attack(
        net, x, y, p=p, radius=size, box=pair(box), classes=_whole(classes), effort=effort,
        seed=seed, device=device, resume=earlier, anew=True, quiet=json,
        after=lambda result: result.save(path),
    )  # fmt: skip
    if json:
        answer = {"network": name, "file": str(path), **made.numbers()}
        return Answer(json_text(answer), 0 if made.finished else 130)
    print(made.text())
    print(f"points and outcomes: {path}")
    if not made.finished:
        print("continue with the same command")
    return 0 if made.finished else 130


def pair(text: str) -> tuple[float, float] | None:
    """Return the box of --box LOW,HIGH."""
    if not text or text == "none":
        return None
    try:
        low, high = (float(v) for v in text.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise ValueError(f"--box needs LOW,HIGH such as 0,1, or none, got {text!r}.")
    return low, high


def _whole(text: str) -> list[int] | None:
    """Return the outputs of --classes."""
    if not text:
        return None
    try:
        return [int(v) for v in text.split(",")]
    except ValueError:
        raise ValueError(f"--classes needs whole numbers such as 3,5, got {text!r}.") from None
