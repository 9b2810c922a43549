"""Eqs. (16) and (17) of CONV are computed at every step as published."""

import math

import numpy as np
import pytest
import torch

from adversarium.networks import SmoothedReLU
from adversarium.papers.conv.theory.certified_descent import DescentProblem, points
from adversarium.papers.conv.theory.following import Regret
from adversarium.papers.conv.theory.robust_balls import _windows, polynomial_fits
from adversarium.rng import normal, stream

ALPHA, STEPS = 0.4, 12


@pytest.fixture
def problem():
    return DescentProblem.paired(stream(0, "a"), SmoothedReLU(b=2.0), 16, points("circle"))


def _followed(problem, c):
    """Return the fold of a descent, and both excesses computed by hand at every step."""
    V = problem.W0 + normal(problem.W0.shape, stream(1, "b")) / 4
    regret = Regret(c, ALPHA, problem.W0, [V], [problem.robust_loss(V)])
    W, rng, size = problem.W0, stream(0, "c"), math.sqrt(16)
    losses, gradients, one, many = [], [], [], []
    first = float((W - V).square().sum())
    for t in range(STEPS):
        loss, g = problem.loss_and_gradient(W, "exact", t, rng)
        near, W = float((W - V).square().sum()), W - ALPHA * g
        regret.add(loss, g, W)
        losses.append(loss)
        gradients.append(float(g.norm()))
        after = float((W - V).square().sum())
        gap = 2 * ALPHA * (problem.robust_loss(V) - loss)
        one.append(after - (1 + c * ALPHA / size) * near - gap - (ALPHA * gradients[-1]) ** 2)
        S = (1 + c * ALPHA / size) ** (t + 1)
        bound = c * (first - after / S) / (2 * size * (1 - 1 / S))
        many.append(min(losses) - problem.robust_loss(V) - ALPHA * max(gradients) ** 2 / 2 - bound)
    return regret, one, many


def test_the_fold_is_the_largest_over_all_steps_and_names_it(problem):
    regret, one, many = _followed(problem, SmoothedReLU(b=2.0).C2)
    for seen, by_hand in ((regret.one_step, one), (regret.summed, many)):
        assert seen.value.item() == pytest.approx(max(by_hand), abs=1e-12)
        assert seen.step.item() == np.argmax(by_hand)
        assert max(by_hand) <= 0


def test_a_step_that_goes_farther_than_it_says_is_noticed(problem):
    V = [problem.bracket(1.0)[2]]
    regret = Regret(SmoothedReLU(b=2.0).C2, ALPHA, problem.W0, V, [problem.robust_loss(V[0])])
    loss, g = problem.loss_and_gradient(problem.W0, "exact", 0, stream(0, "c"))
    regret.add(loss, g, problem.W0 + 3 * ALPHA * g)  # uphill
    assert regret.one_step.value.item() > 0


def test_a_value_that_is_no_number_is_the_largest_and_stays():
    regret = Regret(1.0, 0.1, torch.zeros(2, 1).double(), [torch.ones(2, 1).double()], [0.0])
    regret.add(math.nan, torch.ones(2, 1).double(), torch.zeros(2, 1).double())
    regret.add(0.0, torch.ones(2, 1).double(), torch.zeros(2, 1).double())
    assert regret.one_step.value.isnan().all()


def test_a_lower_end_is_never_negative(problem):
    low, high, _ = problem.bracket(6.0)
    assert 0 <= low <= high


def test_a_step_function_shows_no_more_windows_than_the_count():
    n, c = 6, 3
    shown = _windows(stream(0, "w"), n, c, 50)
    assert (shown.sum(1) <= c * (n - 1) + 1).all() and shown[:, [0, -1]].any(1).all()
    numbers = polynomial_fits(stream(0, "w"), n=14, sizes=(2, 300), labelings=50, pool=200)
    assert numbers["found"].values[0] == 1 and numbers["not excluded"].values == (1.0, 0.0)
    assert all(
        a <= b for a, b in zip(numbers["found"].values, numbers["not excluded"].values, strict=True)
    )
