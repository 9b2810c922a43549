"""Sign changes, jumps and linearisation errors of CONV's deep network agree with searches."""

import itertools
import math

import pytest
import torch

from adversarium.papers.conv.theory.deep_relu import Deep
from adversarium.papers.conv.theory.kinks import (
    largest_jump,
    largest_linearisation_error,
    most_flips,
)
from adversarium.papers.conv.theory.relu_norms import drawn_norms, on_sphere
from adversarium.papers.conv.theory.robust_balls import gamma, largest_spread, reach
from adversarium.rng import normal, stream


def _drawn(m, seed=0):
    rng = stream(seed, "kinks")
    return normal((m,), rng), normal((m,), rng), rng


@pytest.mark.parametrize("eta", (0.3, 1.0, 3.0))
def test_flips_and_jumps_are_the_best_of_all_sets(eta):
    z, a, _ = _drawn(10)
    sets = [s for k in range(11) for s in itertools.combinations(range(10), k)]
    fits = [list(s) for s in sets if float(z[list(s)].square().sum()) <= eta**2]
    assert most_flips(z, eta) == max(map(len, fits))
    best = max(float(a[s].norm()) for s in fits)
    low, high = largest_jump(z, a, eta)
    assert low <= best + 1e-12 and best <= high + 1e-12


@pytest.mark.parametrize("eta", (0.1, 0.5, 2.0))
def test_no_move_bends_more_than_the_dual_says(eta):
    z, a, rng = _drawn(30)
    low, high = largest_linearisation_error(z, a, eta)
    assert 0 <= low <= high + 1e-12 and high - low < 0.5 * high
    up = a > 0
    for _ in range(2000):
        e = normal((30,), rng) * (torch.rand(30, generator=rng, dtype=torch.float64) < 0.3)
        e = eta * e / e.norm().clamp_min(1e-12)
        bent = (a * (e.abs() - z.abs()).clamp_min(0))[up].sum()
        assert float(bent) <= high + 1e-9


def test_the_bend_is_the_networks_linearisation_error():
    m, R = 400, 0.5
    rng = stream(1, "bend")
    net, x = Deep.drawn(m, 3, 1, rng), on_sphere(3, rng)
    at, patterns = net.features(x)
    z, eta = net.W[0] @ at[0], R / math.sqrt(m) * float(at[0].norm())
    low, high = largest_linearisation_error(z, net.a, eta)
    keep = net.a > 0
    taken = (z.abs() / net.a).masked_fill(~keep, math.inf).argsort()[:8]
    e = torch.zeros(m, dtype=torch.float64)
    e[taken] = -torch.sign(z[taken]) * net.a[taken]
    e = eta * e / e.norm()
    moved = Deep(net.A, (net.W[0] + torch.outer(e, at[0]) / at[0].dot(at[0]),), net.a)
    gradient = torch.outer(net.back(patterns)[0], at[0])
    error = moved.f(x) - net.f(x) - (gradient * (moved.W[0] - net.W[0])).sum()
    assert float((moved.W[0] - net.W[0]).norm()) <= R / math.sqrt(m) + 1e-12
    assert float(error) <= high + 1e-12 and float(error) > 0.3 * low


def test_norms_in_law_are_those_of_drawn_networks():
    post, pre = drawn_norms(24, 2, 4000, stream(0, "law"))
    rng = stream(1, "law")
    made = []
    for _ in range(1500):
        net = Deep.drawn(24, 3, 2, rng)
        at, _ = net.features(on_sphere(3, rng))
        made.append([float(v.norm()) for v in at] + [float((net.W[1] @ at[1]).norm())])
    drawn = torch.tensor(made, dtype=torch.float64)
    law = torch.stack([*post, pre[1]], dim=1)
    for moment in (1, 2):
        ours, theirs = law.pow(moment), drawn.pow(moment)
        error = (ours.var(0) / len(ours) + theirs.var(0) / len(theirs)).sqrt()
        assert bool(((ours.mean(0) - theirs.mean(0)).abs() < 4.5 * error).all())


def test_the_limits_of_the_spread_meet_where_the_split_is_even():
    for d in (6, 10, 20):
        assert math.isclose(largest_spread(d, "any"), 1 / gamma(d // 2, d), rel_tol=1e-9)
        assert largest_spread(d) < largest_spread(d, "any")
    assert reach(2, 4, 0.1) > 2
