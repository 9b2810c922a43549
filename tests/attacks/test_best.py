"""Attacks keep the best point: ties, values that are not numbers, events of any shape."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from adversarium.attacks import Corners, FeatureCollision, PatchTransplant
from adversarium.attacks.best import Best, per_example
from adversarium.data import TwoFeaturePatches
from adversarium.rng import normal, stream


@dataclass(frozen=True)
class Points:
    x: Tensor


def nowhere(x: Tensor) -> Tensor:
    return torch.full(x.shape[:1], torch.nan, dtype=x.dtype)


@pytest.mark.parametrize("event", ((), (3,), (2, 3)))
def test_the_highest_point_is_kept_for_every_example(event):
    candidates = normal((6, 4, *event), stream(0, "x"))
    heights = normal((6, 4), stream(1, "height"))
    best = Best(candidates[0], heights[0])
    for z, values in zip(candidates[1:], heights[1:], strict=True):
        best = best.offer(z, values)
    top = heights.argmax(0)
    assert torch.equal(best.height, heights.amax(0))
    assert torch.equal(best.x, candidates[top, torch.arange(4)])


def test_ties_keep_the_earlier_point_and_no_number_never_counts():
    zero, one, two = torch.zeros(3, 1), torch.ones(3, 1), torch.full((3, 1), 2.0)
    best = Best(zero, torch.tensor([1.0, 1.0, -torch.inf]))
    best = best.offer(one, torch.tensor([1.0, torch.nan, torch.nan]))
    assert torch.equal(best.x, zero)
    best = best.offer(two, torch.tensor([0.0, 3.0, 0.0]))
    assert best.x.flatten().tolist() == [0, 2, 2]


def test_per_example_chooses_whole_examples():
    a, b = torch.ones(2, 3, 4), torch.zeros(2, 3, 4)
    which = torch.tensor([[True, False, True], [False, True, False]])
    assert torch.equal(per_example(which, a, b).amin(-1) > 0, which)


def test_one_candidate_without_a_number_does_not_blind_an_attack():
    """The loss at the first corner is NaN; the best corner comes last."""

    def broken(x: Tensor) -> Tensor:
        return torch.where((x < 0).all(-1), torch.nan, x.sum(-1))

    moved = Corners(radius=0.5)(broken, Points(torch.zeros(3, 2)), 0, stream(0, "attack"))
    assert torch.equal(moved, torch.full((3, 2), 0.5))
    batch = TwoFeaturePatches(k=2, d=4, P=3, sigma_n=0.0).sample(4, stream(0, "train"))

    def empty_is_no_number(x: Tensor) -> Tensor:
        rest = x.abs().sum(-1)[~batch.is_robust].view(4, 2)
        return torch.where((rest == 0).all(-1), torch.nan, rest.sum(-1))

    attack = FeatureCollision(radius=1.5, alpha=2.0, k=2)
    moved = attack(empty_is_no_number, batch, 0, stream(0, "attack"))
    assert torch.allclose(empty_is_no_number(moved), torch.ones(4).double())


def test_where_no_value_is_a_number_the_points_stay():
    x = normal((3, 2, 4), stream(0, "x"))
    assert torch.equal(Corners(radius=0.5)(nowhere, Points(x[:, 0]), 0, stream(0, "a")), x[:, 0])
    still = PatchTransplant(radius=0.5, shares=3)(
        lambda z: z.sum((-1, -2)) * torch.nan, Points(x), 0, stream(0, "a")
    )
    assert torch.equal(still, x)
