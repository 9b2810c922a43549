"""Networks that draw random numbers when they are called: detection, and verdicts that last."""

import torch
from torch import Tensor

from adversarium.diagnosis.subject import Subject
from adversarium.training.objectives import margin

DRAWS = 12  # calls that an ascent averages
VERDICT = 60  # calls of one verdict; two must agree
SHARE = 2 / 3  # the share of wrong calls from which a point counts as broken


def noise(known: Subject) -> float:
    """Return the largest difference between outputs of equal calls, relative to the margin of the
    point."""
    x, y = known.x[:64], known.y[:64]
    with torch.no_grad():
        calls = torch.stack([margin(known.raw(x), y).double() for _ in range(4)]).nan_to_num(0.0)
    apart = calls.amax(0) - calls.amin(0)
    size = calls.abs().mean(0)
    return float(torch.where(apart > 0, apart / size.clamp_min(1e-30), 0.0).max())


def wrong_share(known: Subject, x: Tensor, y: Tensor, calls: int) -> Tensor:
    """Return the share of fresh calls in which each point is misclassified."""
    wrong = torch.zeros(len(x), dtype=torch.float64, device=x.device)
    with torch.no_grad():
        for _ in range(calls):
            parts = known.parts(x, y)
            found = torch.cat([margin(known.raw(some), labels) for some, labels in parts])
            wrong += ~(found > 0)
    return wrong / calls


def lasting(known: Subject, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return for which points two sets of fresh calls both give a wrong majority, and two thirds of
    all calls are wrong; and the share of wrong calls."""
    one, two = (wrong_share(known, x, y, VERDICT) for _ in range(2))
    share = (one + two) / 2
    return (one > 0.5) & (two > 0.5) & (share >= SHARE), share
