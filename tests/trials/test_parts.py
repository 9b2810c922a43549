"""Gates and distances have the errors and sizes that the lemmas promise."""

import pytest
import torch

from adversarium.rng import stream
from adversarium.trials import parts


def test_square_and_product_have_exactly_their_errors():
    rows = parts.gates(stream(0, "trial"), stages=4)
    assert rows["square"] == 1 and rows["product"] == 1
    assert rows["product_error"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("name", ("square", "product"))
def test_a_stage_less_is_noticed(monkeypatch, name):
    whole = getattr(parts, name)
    monkeypatch.setattr(parts, name, lambda *a: whole(*a[:-1], max(a[-1] - 1, 1)))
    assert parts.gates(stream(0, "trial"), stages=4)[name] == 0


def test_the_distance_network_is_exact_and_small():
    rows = parts.distances(stream(0, "trial"))
    assert rows["exact"] == 1 and rows["error"] <= 1e-15 and rows["share"] <= 1


def test_a_distance_to_another_point_is_noticed(monkeypatch):
    exact = parts.distance
    monkeypatch.setattr(parts, "distance", lambda at, p: exact(at + 0.01 * torch.ones_like(at), p))
    assert parts.distances(stream(0, "trial"))["exact"] == 0
