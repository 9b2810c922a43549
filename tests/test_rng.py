"""Streams: there is one per seed and use, and none affects another."""

import torch

from adversarium.rng import coins, integers, normal, stream, streams, torch_seeded, uniform


def test_a_stream_repeats_and_uses_do_not_touch():
    assert torch.equal(normal((5,), stream(3, "train")), normal((5,), stream(3, "train")))
    assert not torch.equal(normal((5,), stream(3, "train")), normal((5,), stream(3, "test")))
    assert not torch.equal(normal((5,), stream(3, "train")), normal((5,), stream(4, "train")))


def test_a_replica_axis_equals_single_streams():
    for draw in (normal, uniform, coins, lambda s, r: integers(7, s, r)):
        both = draw((2, 4), streams((1, 2), "x"))
        assert torch.equal(both[0], draw((4,), stream(1, "x")))
        assert torch.equal(both[1], draw((4,), stream(2, "x")))


def test_module_initialisation_leaves_the_global_stream_alone():
    before = torch.random.get_rng_state()
    with torch_seeded(stream(0, "init")):
        first = torch.nn.Linear(3, 3).weight
    assert torch.equal(before, torch.random.get_rng_state())
    with torch_seeded(stream(0, "init")):
        assert torch.equal(first, torch.nn.Linear(3, 3).weight)
