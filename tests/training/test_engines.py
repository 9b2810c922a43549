"""Engines: exact coordinates equal the plain computation; ten seeds equal ten single runs."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adversarium.attacks import APGD, GTA, PGD, FiniteAttack
from adversarium.data import PatchData, SpherePoints
from adversarium.networks import CubicCNN, SmoothedLeakyReLU, SmoothedReLU, TwoLayer
from adversarium.training import ENGINES, SGD, Risk, Rule, Setting, choose
from adversarium.training.signal_noise import signal_noise_cells, signal_noise_descent
from tests.training.cases import final, largest_difference, parts

GOLDEN = Path(__file__).with_name("golden.json")


@pytest.mark.parametrize("name", [e.name for e in ENGINES])
@pytest.mark.parametrize("device", ("cpu", "cuda"))
def test_ten_seeds_equal_ten_single_runs(name, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    apart, across = largest_difference(name, device)
    assert apart < 1e-11 and across < 1e-9


@given(
    st.integers(4, 30), st.integers(2, 4), st.integers(2, 6), st.integers(1, 4),
    st.floats(0, 1), st.floats(0, 1), st.integers(0, 1000),
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_the_signal_noise_coordinates_are_exact(d, P, n, m, lam, gamma, seed):
    given_parts = (
        PatchData(d=d, P=P, alpha=1.5, sigma=0.3),
        CubicCNN(m=m, sigma0=0.3),
        GTA(gamma=gamma),
        Rule(n=n, steps=40, eta=0.03, risk=Risk(lam=lam)),
    )
    setting = Setting(*given_parts, (seed, seed + 1))
    cheap, plain = final("signal_noise", setting), final("full", setting)
    assert torch.allclose(cheap.W, plain.W, atol=1e-12)
    assert torch.allclose(cheap.risk(), plain.risk(), atol=1e-12)
    for attack in (None, given_parts[2]):
        margins = cheap.margin(setting.train, attack), plain.margin(setting.train, attack)
        assert torch.allclose(*margins, atol=1e-12)


@pytest.mark.parametrize("best", (True, False))
@pytest.mark.parametrize(
    "activation", (None, SmoothedLeakyReLU(gamma=0.2, H=3.0), SmoothedReLU(b=2))
)
def test_the_gram_coordinates_are_exact(best, activation):
    data, network, attack, rule = parts("gram")
    network = network if activation is None else replace(network, activation=activation)
    attack = replace(attack, best=best)
    setting = Setting(data, network, attack, replace(rule, steps=40), (0, 1, 2))
    cheap, plain = final("gram", setting), final("full", setting)
    scale = plain.W.norm()
    assert (cheap.W - plain.W).norm() / scale < 1e-12
    assert torch.allclose(cheap.K, plain.W @ plain.W.mT, atol=1e-12 * float(scale**2))
    for by in (None, attack):
        margins = cheap.margin(setting.train, by), plain.margin(setting.train, by)
        assert torch.allclose(*margins, atol=1e-10)
    bounds = cheap.interval(setting.train, 2, 0.6), plain.interval(setting.train, 2, 0.6)
    assert torch.allclose(torch.stack(bounds[0]), torch.stack(bounds[1]), atol=1e-10)
    fresh = setting.draw(data, 30, "test")
    strong = APGD(p=2, radius=0.6, steps=10)
    assert torch.allclose(cheap.margin(fresh, strong), plain.margin(fresh, strong), atol=1e-9)


@pytest.mark.parametrize("log", (True, False))
def test_the_linear_closed_form_is_exact(log):
    data, network, attack, rule = parts("linear")
    rule = replace(rule, risk=replace(rule.risk, log=log))
    for own in (attack, None):
        setting = Setting(data, network, own, rule, (0, 1, 2))
        cheap, plain = final("linear", setting), final("full", setting)
        assert torch.allclose(cheap.W["w_0"], plain.W["w_0"], atol=1e-12)


def test_cells_side_by_side_equal_single_runs():
    data, network, _, rule = parts("signal_noise")
    settings_ = [
        Setting(replace(data, alpha=a, d=d), network, GTA(gamma=g), replace(rule, eta=e), (0, 3))
        for a, g, e, d in ((2.0, 0.9, 0.05, 20), (1.5, 0.3, 0.02, 31), (3.0, 0.99, 0.01, 9))
    ]
    for together in signal_noise_cells(settings_, (0, 17, rule.steps)):
        for setting, state in zip(settings_, together, strict=True):
            alone = next(s for s in signal_noise_descent(setting) if s.t == state.t)
            assert torch.allclose(alone.v, state.v, atol=1e-14)
            assert torch.allclose(alone.W, state.W, atol=1e-14)
            assert torch.allclose(alone.risk(), state.risk(), atol=1e-14)


def test_gram_without_an_attack_is_plain_descent():
    data, network, _, rule = parts("gram")
    setting = Setting(data, network, None, rule, (0, 1))
    assert torch.allclose(final("gram", setting).W, final("full", setting).W, atol=1e-12)


def test_the_first_engine_that_does_not_refuse_runs_and_the_others_say_why():
    for name in ("signal_noise", "gram", "linear", "full", "sgd"):
        engine, refused = choose(*parts(name))
        assert engine.name == name
        assert all(refused.values())
    data, network, attack, rule = parts("gram")
    for change in (
        replace(attack, p=math.inf),
        replace(attack, start="uniform"),
        replace(attack, normalised=False),
        replace(attack, box=(0.0, 1.0)),
    ):
        engine, refused = choose(data, network, change, rule)
        assert engine.name == "full" and "gram" in refused
    with pytest.raises(ValueError, match="no engine runs"):
        choose(data, network, replace(attack, p=math.inf), rule, "gram")
    with pytest.raises(ValueError, match="no engine 'fast'"):
        choose(data, network, attack, rule, "fast")
    with pytest.raises(ValueError, match="batch <= n"):
        choose(data, network, attack, replace(rule, optimiser=SGD(batch=1000)))


def test_finite_sets_train_against_their_exact_maximum():
    data = SpherePoints(d=2, radius=0.2, K=5)
    network = TwoLayer(m=32, activation=SmoothedReLU(b=2))
    rule = Rule(n=4, steps=30, eta=0.3, risk=Risk(loss="pseudo_huber"))
    state = final("full", Setting(data, network, FiniteAttack(rule="exact"), rule, (0, 1)))
    anti = final("full", Setting(data, network, FiniteAttack(rule="anti"), rule, (0, 1)))
    assert (state.risk() < math.sqrt(2) - 1).all()
    assert (anti.risk() <= state.risk()).all()


def test_an_attack_that_leaves_its_ball_is_caught():
    class Cheat(PGD):
        def __call__(self, loss, batch, t, rng):
            return batch.x + 2 * self.radius

    data, network, _, rule = parts("gram")
    setting = Setting(data, network, Cheat(p=math.inf, radius=0.5), rule, (0,))
    with pytest.raises(RuntimeError, match="left its ball"):
        final("full", setting)


@pytest.mark.parametrize("name", [e.name for e in ENGINES])
def test_golden_rows_change_only_with_the_version(name):
    golden = json.loads(GOLDEN.read_text())[name]
    engine = next(e for e in ENGINES if e.name == name)
    assert engine.version == golden["version"], (
        "write the golden rows anew: python -m tests.training.test_engines"
    )
    state = final(name, Setting(*parts(name), (0, 1)))
    found = state.risk().tolist()
    assert found == pytest.approx(golden["risk"], rel=1e-9), "raise the engine's version"


if __name__ == "__main__":
    rows = {
        e.name: {
            "version": e.version,
            "risk": final(e.name, Setting(*parts(e.name), (0, 1))).risk().tolist(),
        }
        for e in ENGINES
    }
    GOLDEN.write_text(json.dumps(rows, indent=1) + "\n")
