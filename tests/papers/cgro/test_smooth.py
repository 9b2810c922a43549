"""Smooth random networks: gradients, fits, and maxima over a ball."""

import pytest
import torch

from adversarium.papers.cgro.theory.smooth import GRID, ball, label_of, random_features, worst
from adversarium.rng import normal, stream


def test_random_features_have_the_gradient_they_say():
    net = random_features(stream(0, "net"), 3)
    x = normal((20, 3), stream(1, "x")).requires_grad_(True)
    y = label_of(x.detach())
    (gradient,) = torch.autograd.grad(net.loss(x, y).sum(), x)
    assert torch.allclose(gradient.abs().sum(1), net.slope(x.detach(), y), atol=1e-12)
    assert not torch.allclose(gradient.norm(dim=1), net.slope(x.detach(), y), atol=1e-2)


def test_a_fit_interpolates_few_points_and_leaves_the_first_network_alone():
    net, x = random_features(stream(0, "net"), 2), normal((10, 2), stream(1, "x"))
    y, before = label_of(x), net.c.clone()
    fitted = net.fitted(x, y)
    margins = lambda c: y * (torch.cos(x @ net.w.mT + net.b) @ c)
    assert torch.allclose(margins(fitted.c), torch.ones(10).double(), atol=1e-2)
    assert not torch.allclose(margins(net.c), torch.ones(10).double(), atol=1e-2)
    assert torch.equal(net.c, before)


def test_a_ball_has_its_corners_and_its_centre():
    grid = ball(2, 3)
    assert len(grid) == 9
    for place in ((-1, -1), (1, -1), (0, 0)):
        assert (grid == torch.tensor(place)).all(1).any()


@pytest.mark.parametrize("D", (1, 2, 3))
def test_a_linear_function_is_largest_at_a_corner(D):
    w, x = normal((D,), stream(0, "w")), normal((20, D), stream(1, "x"))
    largest = worst(lambda z, y: z @ w, x, ball(D, GRID[D]), 0.3)
    assert torch.allclose(largest, x @ w + 0.3 * w.abs().sum(), atol=1e-12)


@pytest.mark.parametrize("D", (2, 3))
def test_the_maximum_over_a_ball_is_hardly_missed(D):
    rng = stream(0, "ball")
    net, x = random_features(rng, D), normal((60, D), rng)
    fine = ball(D, 15)
    labels = label_of(x)[:, None].expand(-1, len(fine))
    best = net.loss(x[:, None] + 0.5 * fine, labels).amax(1)
    share = worst(net.loss, x, ball(D, GRID[D]), 0.5) / best
    assert share.mean() > 0.995 and share.min() > 0.9
    coarse = worst(net.loss, x, ball(D, 2), 0.5) / best  # corners alone, refined towards a centre
    assert coarse.mean() < share.mean()
