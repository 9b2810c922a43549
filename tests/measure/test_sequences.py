"""Tensor power sequences: times and levels agree with results worked out by hand."""

import pytest

from adversarium.measure import sequences
from adversarium.rng import stream


def test_random_sequences_keep_the_bounds():
    rows = sequences.growth_and_decay(stream(0, "trial"), draws=5)
    assert all(0.02 < value <= 1 for value in rows.values())


@pytest.mark.parametrize("m", (0.02, 0.1))
def test_no_sequence_grows_faster_than_its_differential_equation(m):
    time = sequences._growth_time(stream(0, "trial"), 0.05, 1.0, m, m)
    least = (1 / 0.05 - 1 / 1.0) / m  # z' = m z²
    assert least <= time <= 1.2 * least


def test_a_faster_slope_arrives_earlier():
    slow, fast = (sequences._growth_time(stream(0, "trial"), 0.05, 1.0, m, m) for m in (0.05, 0.1))
    assert slow == pytest.approx(2 * fast, rel=0.05)


def test_equal_sequences_arrive_together_and_a_frozen_one_stays():
    assert sequences._at_arrival(0.02, 0.02, 1.0, 3, 1e-3, 0.5) >= 0.5
    assert sequences._at_arrival(0.02, 0.01, 0.0, 3, 1e-3, 0.5) == 0.01


def test_the_slower_sequence_stays_below_its_bound():
    rows = sequences.tensor_power(stream(0, "trial"))
    assert rows["third"] <= 1 and rows["fourth"] <= 1 and rows["closed_form"] < 1e-3


def test_a_sequence_that_is_a_tenth_faster_does_not(monkeypatch):
    slower = sequences._at_arrival

    def faster(x, y, S, *more):
        try:
            return slower(x, y, 1.1 * S, *more)
        except OverflowError:
            return 1e6

    monkeypatch.setattr(sequences, "_at_arrival", faster)
    assert sequences.tensor_power(stream(0, "trial"), eta=1e-2)["third"] > 1
