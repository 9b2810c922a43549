"""Attacks that use the structure of a network, and attacks from far away: contracts, closed forms,
and maxima that gradient ascent from x does not find."""

import itertools
import math
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from adversarium.attacks import (
    APGD,
    DDN,
    FAB,
    PGD,
    Crossings,
    FarSide,
    PatchMaximiser,
    RandomSearch,
    SparseAscent,
    UnitSteps,
    strong_attacks,
)
from adversarium.attacks.balls import norm
from adversarium.attacks.units import allotted
from adversarium.networks import CubicCNN, MixedLearner, SmoothedCNN, TwoLayer
from adversarium.rng import normal, stream, streams, uniform
from adversarium.sockets import Aimed, Attack, Bounded, Directed, Guide, PatchAdditive
from adversarium.training.objectives import leads, margin
from adversarium.training.states import guided

NORMS = (1, 2, math.inf)


@dataclass(frozen=True)
class Points:
    x: Tensor
    y: Tensor


def new_attacks(p, radius, **more):
    yield UnitSteps(p=p, radius=radius, steps=5, **more)
    yield FarSide(p=p, radius=radius, steps=5, **more)
    yield Crossings(p=p, radius=radius, steps=5, tries=2, **more)
    yield FAB(p=p, radius=radius, steps=8, **more)
    yield RandomSearch(p=p, radius=radius, queries=10, **more)
    if p == 2:
        yield DDN(radius=radius, steps=10, **more)
    if p == 1:
        yield SparseAscent(radius=radius, steps=9, **more)


def bumpy(x):
    weights = torch.linspace(0.5, 3, x.shape[-1], dtype=x.dtype)
    return torch.sin(x * weights).sum(-1) + 0.1 * (x**2).sum(-1) - 3.0


def guide(x):
    return Guide(bumpy, directions=torch.eye(6, dtype=x.dtype).expand(*x.shape[:-2], 6, 6))


@pytest.mark.parametrize("box", (None, (0.0, 1.0)))
@pytest.mark.parametrize("p", NORMS)
def test_every_new_attack_keeps_the_contracts(p, box):
    x = uniform((2, 7, 6), streams((0, 1), "x"))
    batch, clean = Points(x.clone(), torch.ones(2, 7).double()), bumpy(x)
    for attack in new_attacks(p, 0.4, box=box):
        assert isinstance(attack, Attack) and isinstance(attack, Aimed)
        assert isinstance(attack, Bounded) and attack.ball.p == p
        first, again = (attack(guide(x), batch, 0, streams((0, 1), "a")) for _ in range(2))
        assert torch.equal(first, again) and torch.equal(batch.x, x), attack
        assert (norm(first - x, p, 2) <= 0.4 * (1 + 1e-12) + 1e-12).all(), attack
        assert (bumpy(first) >= clean - 1e-12).all(), attack
        assert (bumpy(first) > clean).any(), attack
        if box:
            assert first.min() >= 0 and first.max() <= 1, attack
        assert torch.equal(replace(attack, radius=0.0)(guide(x), batch, 0, streams((0, 1), "a")), x)
        single = Points(x.float(), batch.y.float())
        moved = attack(guide(single.x), single, 0, streams((0, 1), "a"))
        assert (norm(moved - single.x, p, 2) <= 0.4 * (1 + 2e-6)).all(), attack
        alone = Points(x[1], batch.y[1])
        one = attack(guide(alone.x), alone, 0, stream(1, "a"))
        assert torch.allclose(one, first[1], atol=1e-9), attack


def test_a_sleeping_unit_is_woken():
    """f = ⟨w_0, x⟩ + a relu(⟨w, x⟩ − b): the gradient at x does not depend on the inactive unit."""
    d, radius = 20, 2.0
    W = {"w_0": torch.eye(1, d)[0].double(), "w": 9 * torch.eye(d)[1:3].double(),
         "a": torch.tensor([-1.0, 1.0]).double()}  # fmt: skip
    network, y = MixedLearner(m=2, b=14.0), torch.ones(5).double()
    batch = Points(torch.zeros(5, d).double(), y)
    batch.x[:, 0] = 2.5

    def loss(x):
        return -y * network.f(W, x)

    told = guided(loss, network, W, y)
    moved = UnitSteps(p=2, radius=radius)(told, batch, 0, stream(0, "a"))
    assert (loss(moved) > 0).all()
    blind = APGD(p=2, radius=radius)(loss, batch, 0, stream(0, "a"))
    assert (loss(blind) < 0).all()
    assert torch.equal(UnitSteps(p=2, radius=radius)(loss, batch, 0, stream(0, "a")), batch.x)


@pytest.mark.parametrize("replicas", ((), (2,)))
def test_the_shortest_of_a_thousand_sleeping_units_is_woken(replicas):
    """999 units with longer weights remain inactive; steps along them do not help."""
    d, m, radius = 40, 1000, 2.0
    long = torch.zeros(m - 1, d).double()
    long[:, 3:] = normal((m - 1, d - 3), stream(0, "units"))
    long *= 3 / long.norm(dim=-1, keepdim=True)
    short = 2.5 * torch.eye(d)[2:3].double()
    a = torch.zeros(m).double()
    a[-1] = -30.0
    W = {"w_0": torch.eye(1, d)[0].double(), "w": torch.cat([long, short]), "a": a}
    W = {name: part.expand(*replicas, *part.shape) for name, part in W.items()}
    network, y = MixedLearner(m=m, b=4.9), torch.ones(*replicas, 3).double()
    batch = Points(torch.zeros(*replicas, 3, d).double(), y)
    batch.x[..., 0] = 2.5

    def loss(x):
        return -y * network.f(W, x)

    told = guided(loss, network, W, y)
    moved = UnitSteps(p=2, radius=radius, steps=5)(told, batch, 0, stream(0, "a"))
    assert (loss(moved) > 0).all()
    assert ((moved - batch.x).norm(dim=-1) <= radius * (1 + 1e-9)).all()


@pytest.mark.parametrize("p", NORMS)
def test_every_patch_is_maximised_on_its_own(p):
    """Compare with brute force on a grid of the ball: two patches in the plane."""
    network, radius = SmoothedCNN(m=3), 0.7
    W = normal((2, 3, 2), stream(0, "W"))
    x, y = normal((40, 2, 2), stream(1, "x")), torch.arange(40) % 2

    def loss(z):
        return -margin(network.f(W, z), y)

    batch = Points(x, y)
    moved = PatchMaximiser(p=p, radius=radius)(
        guided(loss, network, W, y), batch, 0, stream(0, "a")
    )
    assert (norm(moved - x, p, 1) <= radius * (1 + 1e-12)).all()
    grid = torch.linspace(-radius, radius, 9 if p == math.inf else 11).double()
    best = loss(x)
    for move in itertools.product(grid, repeat=4):
        step = torch.stack(move).view(2, 2)
        if norm(step[None], p, 1) <= radius:
            best = torch.maximum(best, loss(x + step))
    assert (loss(moved) >= best - 1e-9).float().mean() >= 0.95
    assert (loss(moved) >= best - 0.02).all()


def test_patches_with_replicas_equal_single_ones():
    network = SmoothedCNN(m=4)
    W, x = normal((2, 3, 4, 5), stream(0, "W")), normal((2, 6, 3, 5), stream(1, "x"))
    y = torch.arange(12).view(2, 6) % 3

    def told(W, y):
        return guided(lambda z: -margin(network.f(W, z), y), network, W, y)

    for p in NORMS:
        attack = PatchMaximiser(p=p, radius=0.5, steps=5, shares=3)
        both = attack(told(W, y), Points(x, y), 0, streams((0, 1), "a"))
        for i in (0, 1):
            alone = attack(told(W[i], y[i]), Points(x[i], y[i]), 0, stream(i, "a"))
            assert torch.allclose(both[i], alone, atol=1e-9)


def test_the_budget_goes_where_it_is_worth_most():
    gains = uniform((50, 4, 6), stream(0, "gains")).cumsum(-1)
    gains[..., 0] = 0
    share = allotted(gains)
    assert (share.sum(-1) <= 5).all()
    got = gains.gather(-1, share[..., None]).sum((-1, -2))
    best = torch.full((50,), -math.inf).double()
    for split in itertools.product(range(6), repeat=4):
        if sum(split) <= 5:
            best = torch.maximum(best, sum(gains[:, p, b] for p, b in enumerate(split)))
    assert torch.allclose(got, best)


def test_what_a_loss_tells_agrees_with_it():
    x, y = normal((7, 3, 5), stream(0, "x")), torch.arange(7) % 4
    network, W = SmoothedCNN(m=2), normal((4, 2, 5), stream(1, "W"))
    told = guided(lambda z: -margin(network.f(W, z), y), network, W, y)
    assert torch.allclose(told.patchwise(x).sum(-2).amax(-1), told(x))
    assert told.directions.shape == (8, 5)
    cubic, V, sides = CubicCNN(m=2, sigma0=1.0), normal((2, 5), stream(2, "V")), 2.0 * (y > 1) - 1
    F = leads(cubic.patchwise(V, x), sides.double())
    assert torch.allclose(F.sum((-1, -2)), -sides * cubic.f(V, x))
    for kind in (cubic, network):
        assert isinstance(kind, PatchAdditive) and isinstance(kind, Directed)
    assert isinstance(TwoLayer(m=2), Directed) and not isinstance(TwoLayer(m=2), PatchAdditive)
    plain = guided(bumpy, TwoLayer(m=2), V, y)
    assert plain.patchwise is None and plain.directions is V


@pytest.mark.parametrize("p", NORMS)
def test_vanished_slopes_are_walked_around(p):
    """f is clipped on both sides: its slope at x is 0, and the far side misclassifies every
    point."""
    x = torch.ones(20, 4).double()
    radius = {1: 6.0, 2: 3.0, math.inf: 1.5}[p]

    def loss(z):
        return -(10 * z.mean(-1)).clamp(-1, 1)

    batch = Points(x, torch.ones(20).double())
    for attack in (APGD(p=p, radius=radius), PGD(p=p, radius=radius)):
        if p != math.inf:
            assert (loss(attack(loss, batch, 0, stream(0, "a"))) < 0).any()
    broken = torch.zeros(20, dtype=torch.bool)
    for attack in strong_attacks(p, radius, 1):
        broken |= loss(attack(loss, batch, 0, stream(0, "a"))) > 0
    assert broken.all()


def test_the_nearest_broken_point_of_a_linear_network_is_its_margin():
    w = normal((6,), stream(0, "w"))
    x = normal((30, 6), stream(1, "x"))

    def loss(z):
        return z @ w - 3

    for p in NORMS:
        q = {1: math.inf, 2: 2, math.inf: 1}[p]
        distance = (3 - x @ w) / w.norm(q)
        found = FAB(p=p, radius=50.0)(loss, Points(x, torch.ones(30)), 0, stream(0, "a"))
        far = distance > 0.05
        assert (loss(found)[far] > 0).all()
        assert (norm(found - x, p, 1)[far] <= 1.1 * distance[far]).all()
    found = DDN(radius=10.0, steps=200)(loss, Points(x, torch.ones(30)), 0, stream(0, "a"))
    distance = (3 - x @ w) / w.norm()
    assert (norm(found - x, 2, 1)[distance > 0.05] <= 1.1 * distance[distance > 0.05]).all()


def test_a_search_needs_no_gradient():
    book = normal((8, 3), stream(0, "book"))

    def loss(z):  # argmin of a codebook: no gradient path
        return torch.tensor([-1.0, 1.0]).repeat(4)[torch.cdist(z.double(), book).argmin(-1)]

    batch = Points(normal((40, 3), stream(1, "x")), torch.ones(40))
    moved = RandomSearch(radius=1.5, queries=200)(loss, batch, 0, stream(0, "a"))
    assert (loss(moved) > 0).sum() >= (loss(batch.x) > 0).sum() + 10
