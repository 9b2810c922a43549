"""Balls under threshold units: the exact check is compared with many points of the ball."""

import pytest
import torch

from adversarium.networks import MixedLearner
from adversarium.papers.cgrm.theory.threshold_balls import Memory, worst_margins
from adversarium.rng import normal, stream

D = 6


def _memory(b, m=3, seed=0):
    w_0 = torch.eye(D, 1)[:, 0].double()
    w = 2 * normal((m, D), stream(seed, "units"))
    w[:, 0] = 0
    a = torch.tensor([1.0, -1.0, 1.0]).double()[:m]
    return Memory(w_0, w, a, b)


def _network(memory):
    network = MixedLearner(m=len(memory.w), b=memory.b)
    return lambda z: network.f(memory.weights, z)


def _sampled(f, x, y, delta, seed=1):
    """Return the smallest y f over many points of every ball and its sphere."""
    rng = stream(seed, "ball")
    least = y * f(x)
    for share in (0.5, 0.9, 1.0, 1.0):
        away = normal((4000, *x.shape), rng)
        z = x + share * delta * away / away.norm(dim=-1, keepdim=True)
        least = torch.minimum(least, (y * f(z)).amin(0))
    return least


@pytest.mark.parametrize("b", (0.5, 2.0, 4.0, 30.0))
@pytest.mark.parametrize("seed", range(4))
def test_the_check_is_below_and_the_steps_above_the_least_margin(b, seed):
    memory = _memory(b, seed=seed)
    f = _network(memory)
    x = memory.w + 0.3 * normal((3, D), stream(seed, "points"))
    y, own = memory.a, torch.arange(3)
    worst = worst_margins(f, memory, x, y, 0.7, own)
    seen = _sampled(f, x, y, 0.7)
    assert (worst.least <= seen + 1e-9).all() and (worst.least <= worst.found + 1e-9).all()
    alone = ~worst.reachable
    assert torch.allclose(worst.least[alone], worst.found[alone])


def test_an_own_unit_alone_is_minimised_exactly():
    memory = Memory(
        torch.eye(2)[0].double(), torch.tensor([[0.0, 3.0]]).double(), torch.ones(1).double(), 1.0
    )
    f, y = _network(memory), torch.ones(1).double()
    for height in (-1.0, 0.2, 0.4, 0.6, 3.0):  # asleep, at the kink, awake
        x = torch.tensor([[0.5, height]]).double()
        worst = worst_margins(f, memory, x, y, 0.5, torch.zeros(1).long())
        seen = float(_sampled(f, x, y, 0.5))
        assert float(worst.least) == pytest.approx(float(worst.found), abs=1e-12)
        assert float(worst.least) == pytest.approx(seen, abs=0.02)


def test_a_sleeping_unit_is_woken():
    """The gradient at x does not depend on the unit; a step towards the unit reveals it."""
    w = torch.tensor([[0.0, 10.0]]).double()
    memory = Memory(torch.eye(2)[0].double(), w, -torch.ones(1).double(), 8.0)
    x, y = torch.tensor([[1.0, 0.0]]).double(), torch.ones(1).double()
    worst = worst_margins(_network(memory), memory, x, y, 0.95, -torch.ones(1).long())
    assert float(x[0, 0]) - 0.95 > 0 > float(worst.found) and bool(worst.reachable)
    assert float(worst.least) <= float(worst.found) and not bool(worst.affine)


def test_without_a_network_only_the_check_speaks():
    memory = _memory(2.0)
    worst = worst_margins(None, memory, memory.w, memory.a, 0.1, torch.arange(3))
    assert torch.equal(worst.found, worst.least)
