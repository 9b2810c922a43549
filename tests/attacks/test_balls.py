"""Balls: the three operations are exact, with and without a box."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize

from adversarium.attacks import Ball
from adversarium.attacks.balls import norm
from adversarium.rng import normal, stream, uniform

NORMS = (1, 2, math.inf)


def cloud(seed: int, n: int = 7, d: int = 5) -> torch.Tensor:
    return normal((n, d), stream(seed, "cloud"))


@given(st.sampled_from(NORMS), st.floats(0, 3), st.integers(0, 10_000), st.booleans())
@settings(max_examples=80, deadline=None)
def test_a_projection_lies_in_the_set_and_leaves_its_points_alone(p, radius, seed, boxed):
    x = uniform((6, 4), stream(seed, "x"))
    ball = Ball(p, radius, (0.0, 1.0) if boxed else None)
    z = ball.project(x, x + 2 * cloud(seed, 6, 4), 1)
    assert (norm(z - x, p, 1) <= radius * (1 + 1e-9) + 1e-12).all()
    if boxed:
        assert z.min() >= 0 and z.max() <= 1
    assert torch.allclose(ball.project(x, z, 1), z, atol=1e-9)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("box", (None, (0.0, 1.0)))
def test_a_projection_is_the_nearest_point(p, box):
    x = uniform((1, 3), stream(1, "x"))
    for seed in range(6):
        target = x + 1.5 * cloud(seed, 1, 3)
        ball = Ball(p, 0.4, box)
        ours = float((ball.project(x, target, 1) - target).norm())
        start = x[0].numpy()
        goal = target[0].numpy()
        inside = {
            "type": "ineq",
            "fun": lambda z, s=start: 0.4 - np.linalg.norm(z - s, ord=p),
        }
        bounds = [(0, 1)] * 3 if box else None
        found = minimize(
            lambda z, g=goal: ((z - g) ** 2).sum(), start, constraints=[inside], bounds=bounds
        )
        assert ours <= math.sqrt(found.fun) + 1e-5


@pytest.mark.parametrize("p", NORMS)
def test_the_steepest_point_gains_radius_times_the_dual_norm(p):
    x, g = cloud(0), cloud(1)
    q = {1: math.inf, 2: 2, math.inf: 1}[p]
    gain = ((Ball(p, 0.7).steepest(x, g, 1) - x) * g).sum(-1)
    assert torch.allclose(gain, 0.7 * g.norm(q, dim=-1), rtol=1e-12)


@pytest.mark.parametrize("p", (1, math.inf))
def test_the_steepest_point_in_a_box_solves_the_linear_programme(p):
    x, g = uniform((5, 4), stream(3, "x")), cloud(4, 5, 4)
    ours = (Ball(p, 0.6, (0.0, 1.0)).steepest(x, g, 1) * g).sum(-1)
    for i in range(5):
        a, b = x[i].numpy(), g[i].numpy()
        if p == math.inf:
            found = linprog(-b, bounds=[(max(0, v - 0.6), min(1, v + 0.6)) for v in a])
            best = -found.fun
        else:
            wall = [(0, 1 - v) for v in a] + [(0, v) for v in a]
            found = linprog(np.append(-b, b), A_ub=np.ones((1, 8)), b_ub=[0.6], bounds=wall)
            best = -found.fun + a @ b
        assert abs(float(ours[i]) - best) < 1e-9


def test_the_steepest_point_of_an_l2_ball_in_a_box_beats_every_other_feasible_point():
    x, g = uniform((20, 4), stream(5, "x")), cloud(6, 20, 4)
    ball = Ball(2, 0.6, (0.0, 1.0))
    best = (ball.steepest(x, g, 1) * g).sum(-1)
    for seed in range(200):
        other = ball.project(x, x + cloud(seed, 20, 4), 1)
        assert ((other * g).sum(-1) <= best + 1e-9).all()
    i = 0
    a, b = x[i].numpy(), g[i].numpy()
    inside = {"type": "ineq", "fun": lambda z: 0.36 - ((z - a) ** 2).sum()}
    box = LinearConstraint(np.eye(4), 0, 1)
    found = minimize(lambda z: -(b @ z), a, constraints=[inside, box], method="SLSQP")
    assert float(best[i]) >= -found.fun - 1e-6


@pytest.mark.parametrize("p", NORMS)
def test_samples_fill_the_ball(p):
    x = torch.zeros(4000, 3, dtype=torch.float64)
    sizes = norm(Ball(p, 2.0).sample(x, 1, stream(0, "sample")), p, 1)
    assert sizes.max() <= 2 * (1 + 1e-12)
    # uniform: P(size ≤ r) = (r/2)³, so the median sits at 2·(1/2)^{1/3}
    assert abs(float(sizes.median()) - 2 * 0.5 ** (1 / 3)) < 0.03


@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (lambda: Ball(3, 1.0), "p = 1, 2 or inf"),
        (lambda: Ball(2, -1.0), "attack=None"),
        (lambda: Ball(2, math.nan), "radius >= 0"),
        (lambda: Ball(2, 1.0, (1.0, 0.0)), "low < high"),
    ],
)
def test_a_bad_ball_is_refused_with_the_way_out(make, needed):
    with pytest.raises(ValueError, match=needed):
        make()
