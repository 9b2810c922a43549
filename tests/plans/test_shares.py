"""Shares are quantities in [0, 1], recognised by what their probe declares and not by their
names."""

import adversarium as av
from adversarium.plans.shares import clipped, shares


def risk_change(state, scene):
    """A quantity that is named like a risk but is not a share."""
    return state.risk() - 0.7


def test_a_probe_says_that_its_number_is_a_share():
    data, network = av.data.Clusters(d=4, mu=1.0), av.networks.TwoLayer(m=4)
    probes = [av.measure.train_error, av.measure.Error(n=9, name="mine"), risk_change]
    run = av.Run(data=data, network=network, n=4, steps=1, eta=0.1, probes=probes)
    assert shares(run) == {"train_error", "mine"}


def test_an_interval_of_a_share_stays_within_zero_and_one():
    assert clipped(-0.18, 0.28) == (0.0, 0.28) and clipped(0.7, 1.2) == (0.7, 1.0)
