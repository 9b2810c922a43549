"""Implement `adversarium diagnose module:factory`: one page about a user's own network."""

import re
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from adversarium.commands.attack_own import pair
from adversarium.commands.options import Answer, Device, Json, ready, writable


def diagnose(
    net: str,
    *,
    data: Annotated[Path, Parameter(help="test inputs x and labels y, as .npz, .pt, .safetensors")],
    radius: Annotated[str, Parameter(help="such as 0.3 or 8/255")],
    weights: Annotated[
        Path | None, Parameter(help="state dict (torch, safetensors); nothing in it is executed")
    ] = None,
    train: Annotated[Path | None, Parameter(help="training inputs and labels")] = None,
    standard: Annotated[
        Path | None, Parameter(help="weights of a reference after standard training")
    ] = None,
    adversarial: Annotated[
        Path | None, Parameter(help="weights of a reference after adversarial training")
    ] = None,
    p: Annotated[Literal["inf", "2", "1"], Parameter(help="norm")] = "inf",
    box: Annotated[
        str, Parameter(help="range of valid inputs, such as 0,1; none: all numbers")
    ] = "none",
    effort: Annotated[
        Literal["quick", "standard", "strong"], Parameter(help="which attacks, how long")
    ] = "standard",
    points: Annotated[int, Parameter(help="points of the loss landscape, at most")] = 200,
    first: Annotated[
        int | None, Parameter(help="attack only the first of each set; default: all")
    ] = None,
    seed: Annotated[int, Parameter(help="seed of all draws")] = 0,
    device: Device = "cpu",
    out: Annotated[Path, Parameter(help="folder for the page and the numbers")] = Path("diagnosis"),
    json: Json = False,
) -> int | Answer:
    """Measure your own network: robust accuracy, loss landscape, gaps, as one page.

    Parameters
    ----------
    net
        your network: module:factory or FILE.py:factory
    """
    ready(device)
    writable(out)
    if points < 1 or (first is not None and first < 1):
        raise ValueError(f"diagnose needs points >= 1 and first >= 1, got {points} and {first}.")
    if (standard is None) != (adversarial is None):
        raise ValueError("diagnose needs both references, --standard and --adversarial, or none.")
    import torch

    from adversarium.diagnosis import diagnose as measured
    from adversarium.diagnosis.files import load_weights, network_named, points_in, radius_of
    from adversarium.report.tables import json_text

    size, made = radius_of(radius), network_named(net)
    if weights is not None:
        load_weights(made, weights)
    references = None
    if standard is not None and adversarial is not None:
        references = {}
        for name, path in (("standard", standard), ("adversarial", adversarial)):
            references[name] = network_named(net)
            load_weights(references[name], path)
    if isinstance(made, torch.nn.Module):
        made = made.to(device)
        references = references and {n: one.to(device) for n, one in references.items()}
    x, y = (v[:first] for v in points_in(data))
    seen = None
    if train is not None:
        inputs, labels = points_in(train)
        seen = inputs[:first], labels[:first]
    found = measured(
        made, x, y, radius=size, p=p, box=pair(box), train=seen, references=references,
        effort=effort, points=points, seed=seed, device=device, quiet=json,
    )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.-]+", "-", f"{net.removesuffix('.py')}-l{p}-{radius}")
    found.page(out / f"{stem}.html")
    (out / f"{stem}.json").write_text(json_text(found.numbers()), encoding="utf-8")
    if json:
        return Answer(json_text({"page": str(out / f"{stem}.html"), **found.numbers()}))
    print(found.text())
    print(f"{out / stem}.html")
    return 0
