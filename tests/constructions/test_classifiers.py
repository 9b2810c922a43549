"""Balls that cannot be memorised raise an error."""

import pytest
import torch

from adversarium.constructions import Balls

Y = torch.tensor([1.0, -1.0]).double()
X = torch.tensor([[0.0, 0.0], [1.0, 0.0]]).double()


@pytest.mark.parametrize(
    ("points", "delta", "said"),
    [(X * 0, 0.1, "got one with both"), (X, -0.1, "delta >= 0"), (X, 0.5, "at a distance R > 2")],
)
def test_balls_of_both_labels_have_a_radius_and_lie_apart(points, delta, said):
    assert Balls(x=X, y=Y, delta=0.1, R=0.9)
    with pytest.raises(ValueError, match=said):
        Balls(x=points, y=Y, delta=delta, R=0.9)
