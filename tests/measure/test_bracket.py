"""Brackets: attack ≤ true value ≤ proof, compared with exact enumeration."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from adversarium.attacks import PGD, strong_attacks
from adversarium.data import Clusters
from adversarium.measure.bracket import CertifiedError, bracket, exact_margin, lipschitz_margin
from adversarium.measure.errors import certified_margin, train_error, worst_margin
from adversarium.measure.scene import Scene
from adversarium.networks import TwoLayer
from adversarium.rng import normal, stream
from adversarium.training import Problem, Recipe, WeightState


def small_state(d=3, m=6, n=12):
    network = TwoLayer(m=m)
    problem = Problem(Clusters(d=d, mu=1.0), network, None, Recipe(n=n, steps=1, eta=0.1), (0, 1))
    return problem, WeightState(problem, 0, normal((2, m, d), stream(7, "W")))


@pytest.mark.parametrize("p", (1, math.inf))
def test_attack_and_proof_enclose_the_exact_margin(p):
    problem, state = small_state()
    batch, radius = problem.train, 0.3
    low = certified_margin(state, batch, p, radius)
    lip = lipschitz_margin(problem.network, state.W, state.margin(batch), p, radius)
    found = worst_margin(state, batch, strong_attacks(p, radius, 1))
    for s in range(2):
        for i in range(12):
            x, y = batch.x[s, i].numpy(), float(batch.y[s, i])
            exact = exact_margin(state.W[s].numpy(), x, y, p, radius)
            assert float(low[s, i]) <= exact + 1e-9
            assert float(lip[s, i]) <= exact + 1e-9
            assert float(found[s, i]) >= exact - 1e-9
            if float(found[s, i]) > 0:  # points that broke are not attacked further
                assert float(found[s, i]) <= exact + 1e-3


def test_the_bracket_is_ordered_and_closes_at_radius_zero():
    problem, state = small_state()
    scene, fresh = Scene(problem), problem.draw(problem.data, 40, "test")
    for radius in (0.0, 0.1, 0.5):
        low, high = bracket(state, scene, fresh, 2, radius, strong_attacks(2, radius, 1, steps=10))
        assert (low <= high).all()
        if radius == 0:
            assert torch.equal(low, high)


def test_the_certified_error_is_clean_until_its_attack_begins():
    problem, state = small_state()
    late = replace(problem, attack=PGD(p=2, radius=1.0, steps=1, after=1))
    clean = train_error(state, Scene(problem))
    assert torch.equal(CertifiedError()(state, Scene(problem)), clean)
    before, after = (CertifiedError()(WeightState(late, t, state.W), Scene(late)) for t in (0, 1))
    assert torch.equal(before, clean)
    assert (after > clean).all()


def test_enumeration_agrees_with_a_fine_grid():
    W, x = np.array([[1.0, -0.4], [0.3, 0.8]]), np.array([0.2, -0.1])
    grid = np.linspace(-0.5, 0.5, 401)
    points = x + np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    a = np.array([1.0, -1.0]) / math.sqrt(2)
    values = np.maximum(points @ W.T, 0) @ a
    assert exact_margin(W, x, 1.0, math.inf, 0.5) == pytest.approx(values.min(), abs=1e-6)
    diamond = np.abs(points - x).sum(-1) <= 0.5 + 1e-12
    assert exact_margin(W, x, 1.0, 1, 0.5) == pytest.approx(values[diamond].min(), abs=1e-6)
    with pytest.raises(ValueError, match="m <= 12"):
        exact_margin(np.ones((14, 2)), x, 1.0, 1, 0.5)
