"""Explicit ReLU networks: the algebra, the parts, the classifiers, files without code."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from adversarium.attacks import APGD
from adversarium.constructions import (
    Balls,
    absolute,
    affine,
    clip,
    deepened,
    depth,
    distance,
    in_parallel,
    largest,
    least,
    linear_clean,
    load,
    on_same_input,
    parameters,
    product,
    save,
    soft_indicator,
    square,
    then,
    tooth,
)
from adversarium.data import HyperplaneCells
from adversarium.rng import stream, uniform


def points(n, d, seed=0):
    return 4 * uniform((n, d), stream(seed, "x")) - 2


@given(st.integers(1, 9), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_tournaments_are_exact(k, seed):
    z = points(20, k, seed).abs()
    assert torch.equal(largest(k)(z)[:, 0], z.amax(1))
    assert torch.allclose(least(k)(z)[:, 0], z.amin(1), atol=1e-15)


def test_composition_is_composition_and_stays_layered():
    at = uniform((3,), stream(0, "at"))
    f, g = absolute(at), largest(3)
    x = points(50, 3)
    whole = then(f, g)
    assert torch.allclose(whole(x), g(f(x)), atol=1e-15)
    kinds = [type(m) for m in whole]
    assert kinds == [nn.Linear, nn.ReLU] * depth(whole) + [nn.Linear]
    assert torch.allclose(deepened(f, 3)(x), f(x), atol=1e-15) and depth(deepened(f, 3)) == 4
    both = on_same_input(f, then(f, g))
    assert torch.allclose(both(x), torch.cat([f(x), whole(x)], dim=1), atol=1e-15)
    pair = in_parallel(f, f)
    assert torch.allclose(pair(torch.cat([x, -x], 1)), torch.cat([f(x), f(-x)], 1), atol=1e-15)


@pytest.mark.parametrize("s", range(1, 7))
def test_the_square_interpolates_at_dyadic_points_and_errs_by_the_stated_amount(s):
    x = torch.linspace(0, 1, 2 ** (s + 1) + 1, dtype=torch.float64)[:, None]
    error = square(s)(x) - x.square()
    assert error[::2].abs().max() < 1e-15  # the kinks
    assert torch.allclose(error[1::2], torch.full_like(error[1::2], 4.0 ** -(s + 1)), rtol=1e-9)
    assert parameters(square(s))[0] <= 15 * s + 1


@given(st.floats(0.5, 4), st.integers(2, 9), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_the_product_never_exceeds_its_error_and_vanishes_on_the_axes(B, s, seed):
    xy = B / 2 * points(200, 2, seed)
    error = product(B, s)(xy)[:, 0] - xy.prod(1)
    assert error.abs().max() <= 4 * B**2 * 4.0 ** -(s + 1) * (1 + 1e-9) + 1e-12
    xy[:, 0] = 0
    for axis in (xy, xy.flip(1)):
        assert product(B, s)(axis).abs().max() <= 1e-14 * B**2  # rounding; 0 for B = 1, 2, 4, …


def test_small_parts():
    z = torch.linspace(-2, 2, 81, dtype=torch.float64)[:, None]
    assert torch.allclose(clip()(z), z.clamp(-1, 1), atol=1e-15)
    expected = (1 - (z - 0.5) / 0.25).clamp(0, 1)
    assert torch.allclose(soft_indicator(0.5, 0.75)(z), expected, atol=1e-14)
    x = torch.linspace(0, 1, 41, dtype=torch.float64)[:, None]
    assert torch.allclose(tooth()(x), 1 - (2 * x - 1).abs(), atol=1e-15)
    with pytest.raises(ValueError, match="a < b"):
        soft_indicator(1.0, 1.0)


def test_distances_and_their_parameters():
    for d in (2, 4, 8, 16):
        at, x = uniform((d,), stream(d, "at")), uniform((100, d), stream(d, "x"))
        net = distance(at, math.inf)
        assert parameters(net)[0] == 10 * d - 4
        assert torch.allclose(net(x)[:, 0], (x - at).abs().amax(1), atol=1e-15)
        error = distance(at, 2, s=5)(x)[:, 0] - (x - at).square().sum(1)
        assert error.min() + 1e-14 >= 0 and error.max() <= d * 4.0**-6


@pytest.fixture(scope="module")
def cells():
    data = HyperplaneCells(D=4, each=True, labelling=3)
    return data, data.sample(data.cells, stream(0, "cells")), linear_clean(4, data.eps0)


@pytest.mark.parametrize("gate", ("product", "exact"))
@pytest.mark.parametrize("kind", ("memorising_network", "compact_network"))
def test_a_memorising_network_is_right_in_every_corner_of_its_balls(cells, kind, gate):
    data, all_, clean = cells
    seen = slice(0, 4)
    balls = Balls(x=all_.x[seen], y=all_.y[seen], delta=0.2, R=data.R)
    net = getattr(balls, kind)(clean, gate)
    corners = 0.2 * torch.tensor(list(itertools.product((-1.0, 1.0), repeat=4))).double()
    margin = all_.y[:, None] * net(all_.x[:, None] + corners)[..., 0]
    assert (all_.y * net(all_.x)[:, 0] > 0).all()
    assert margin[seen].min() > 0.99
    assert (margin[4:].amin(1) < 0).all()
    reference = (
        balls.f_S(clean, all_.x) if kind == "memorising_network" else balls.f_adv(clean, all_.x)
    )
    assert torch.allclose(net(all_.x)[:, 0], reference, atol=1e-4)


def test_the_l2_network_memorises_l2_balls(cells):
    data, all_, clean = cells
    seen = all_.x[:4], all_.y[:4]
    net = Balls(x=seen[0], y=seen[1], delta=0.2, R=data.R, p=2, s=8).memorising_network(
        clean, "exact"
    )
    attack = APGD(p=2, radius=0.2, steps=30, restarts=2)
    batch = HyperplaneCells(D=4, each=True, labelling=3).sample(4, stream(0, "cells"))
    moved = attack(lambda z: -seen[1] * net(z)[..., 0], batch, 0, stream(0, "attack"))
    assert torch.equal(batch.x, seen[0])
    assert (seen[1] * net(moved)[:, 0] > 0.99).all()


def test_overlapping_balls_of_one_class_need_the_clip():
    """f_clean of size 3 and two overlapping balls: without the clip the sign flips."""
    x = torch.tensor([[0.5, 0.5], [0.55, 0.5]]).double()
    balls = Balls(x=x, y=torch.tensor([1.0, 1.0]).double(), delta=0.1, R=0.6)
    loud = affine([[0.0, 0.0]], [-3.0])
    assert (balls.memorising_network(loud)(x) > 0).all() and (
        balls.compact_network(loud)(x) > 0
    ).all()


def test_balls_refuse_classes_that_are_too_close():
    with pytest.raises(ValueError, match="R > 2"):
        Balls(x=torch.zeros(1, 2).double(), y=torch.ones(1).double(), delta=0.3, R=0.6)


def test_networks_are_saved_and_loaded_without_executing_code(tmp_path, cells):
    data, all_, clean = cells
    net = Balls(x=all_.x[:2], y=all_.y[:2], delta=0.2, R=data.R).compact_network(clean)
    save(net, tmp_path / "net.npz")
    assert torch.equal(load(tmp_path / "net.npz")(all_.x), net(all_.x))
    np.savez(tmp_path / "bad.npz", A0=np.zeros((2, 3)), b0=np.zeros(5))
    np.savez(tmp_path / "object.npz", A0=np.array([object()], dtype=object))
    (tmp_path / "text.npz").write_text("no")
    for name in ("bad.npz", "object.npz", "text.npz", "none.npz"):
        with pytest.raises(ValueError, match=name):
            load(tmp_path / name)


def test_parameters_are_counted_from_the_tensors():
    net = affine([[1.0, 0.0], [0.0, 2.0]], [0.0, 3.0])
    assert parameters(net) == (3, 6)
    assert parameters(nn.Linear(3, 2))[1] == 8


def test_hyperplane_cells_are_separated_and_mixed():
    data = HyperplaneCells(D=5, rho=0.05, mu=0.3, labelling=7)
    batch = data.sample(2000, stream(0, "sample"))
    apart_ = torch.cdist(batch.x, batch.x, p=math.inf)[batch.y[:, None] != batch.y].min()
    assert apart_ >= data.R - 1e-12
    assert abs(batch.is_small.double().mean() - 0.3) < 0.05
    height = (batch.x[:, -1] - 0.5) * batch.y
    assert torch.allclose(height, torch.where(batch.is_small, 0.05, 0.4).double())
    fresh = data.sample(50, stream(1, "sample"))
    known = dict(zip(batch.cell.tolist(), batch.y.tolist(), strict=True))
    assert all(known[c] == y for c, y in zip(fresh.cell.tolist(), fresh.y.tolist(), strict=True))
