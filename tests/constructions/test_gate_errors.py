"""Gates and distances have the errors and sizes that the lemmas promise."""

import pytest
import torch

from adversarium.constructions import gate_errors as parts
from adversarium.rng import stream


def test_square_and_product_have_exactly_their_errors():
    assert parts.square_gate(stream(0, "trial"), s=4)["square"] == pytest.approx(1)
    rows = parts.product_gate(stream(0, "trial"), s=4)
    assert rows["error"] == pytest.approx(4, abs=0.04) and rows["axes"] == 0


def test_weights_and_layers_grow_with_the_stages_and_no_faster():
    few, many = (parts.gate_sizes(stream(0, "trial"), s=s) for s in (4, 16))
    assert many["layers"] == few["layers"] == 1 and many["weights"] < 1.2 * few["weights"]
    assert many["parameters"] < few["parameters"]


@pytest.mark.parametrize(
    ("name", "trial", "number"),
    (("square", parts.square_gate, "square"), ("product", parts.product_gate, "error")),
)
def test_a_stage_less_is_four_times_the_error(monkeypatch, name, trial, number):
    whole, right = getattr(parts, name), trial(stream(0, "trial"), s=4)[number]
    monkeypatch.setattr(parts, name, lambda *a: whole(*a[:-1], a[-1] - 1))
    assert trial(stream(0, "trial"), s=4)[number] == pytest.approx(4 * right, rel=0.02)


def test_the_distance_network_is_exact_and_small():
    rows = parts.distances(stream(0, "trial"))
    assert rows["exact"] == 1 and rows["error"] <= 1e-15 and rows["share"] <= 1


def test_a_distance_to_another_point_is_noticed(monkeypatch):
    exact = parts.distance
    monkeypatch.setattr(parts, "distance", lambda at, p: exact(at + 0.01 * torch.ones_like(at), p))
    assert parts.distances(stream(0, "trial"))["exact"] == 0
