"""Eq. (16) of CONV holds after one step: each of its three slacks is nonnegative."""

from adversarium.attacks.finite import option_losses
from adversarium.networks import SmoothedReLU
from adversarium.papers.conv.theory import one_step as regret
from adversarium.rng import stream


def test_one_step_keeps_the_inequality_and_every_slack():
    rows = regret.one_step(stream(0, "trial"), m=16, b=2.0, draws=10)
    assert rows["largest_excess"] <= 0 <= rows["smallest_slack"]
    assert rows["slack_mismatch"] < 1e-8


def test_a_comparator_judged_by_its_weakest_perturbation_breaks_it(monkeypatch):
    def weakest(network, W, batch):
        losses = lambda x: regret.pseudo_huber(network.f(W, x), batch.y)
        return option_losses(losses, batch.options).amin(-1).mean(-1)

    monkeypatch.setattr(regret, "robust_loss", weakest)
    assert regret.one_step(stream(0, "trial"), m=16, b=2.0, draws=10)["smallest_slack"] < 0


def test_without_the_curvature_a_slack_is_negative(monkeypatch):
    monkeypatch.setattr(SmoothedReLU, "C2", property(lambda self: 0.0))
    rows = regret.one_step(stream(0, "trial"), m=16, b=2.0, draws=10)
    assert rows["smallest_slack"] < 0 and rows["slack_mismatch"] < 1e-8
