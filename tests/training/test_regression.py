"""Regression: real-valued labels, user-defined losses, attacks, probes."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.attacks import FGSM, PGD
from adversarium.data import LinearResponse
from adversarium.measure import ExcessRisk, Loss, risk, train_error
from adversarium.runs.jobs import resolve
from adversarium.training import SGD, Risk


@dataclass(frozen=True)
class Linear:
    """f(x) = ⟨w, x⟩."""

    def init(self, rng, shape, k):
        return torch.zeros(shape, dtype=torch.float64)

    def f(self, W, x):
        return (x * W[..., None, :]).sum(-1)


@dataclass(frozen=True)
class Unknown:
    """Real-valued labels without a best prediction."""

    shape, k = (6,), 1

    def sample(self, n, rng):
        return LinearResponse(d=6).sample(n, rng)


def quartic(F, y):
    return (F - y) ** 4


def run(**changed):
    return av.Run(
        **{
            "data": LinearResponse(d=6, sigma=0.3),
            "network": Linear(),
            "n": 60,
            "steps": 400,
            "eta": 0.05,
            "probes": (risk,),
            "final": (ExcessRisk(n=20_000), Loss(n=500, attacks="training")),
            **changed,
        }
    )


def test_clean_training_reaches_least_squares():
    made = av.run(run(steps=4000), seeds=range(3))
    for seed in range(3):
        state = made.state(seed, 4000)
        problem = resolve(run()).problem((seed,), "cpu")
        x, y = problem.train.x[0], problem.train.y[0]
        assert torch.allclose(state.W, torch.linalg.lstsq(x, y[:, None]).solution[:, 0], atol=1e-6)


def test_the_excess_risk_of_a_linear_predictor_is_its_squared_distance():
    made = av.run(run(), seeds=range(3))
    for seed in range(3):
        away = made.state(seed, 400).W - torch.eye(6, dtype=torch.float64)[0]
        assert made["excess_risk"][seed, 0] == pytest.approx(float(away @ away), abs=2e-3)


@pytest.mark.parametrize("p", (2.0, np.inf))
def test_an_attack_finds_the_closed_form_of_the_robust_square_loss(p):
    attack = FGSM(p=p, radius=0.4)
    made = av.run(run(attack=attack, steps=60, final=()), seeds=[0])
    state, problem = made.state(0, 60), resolve(run()).problem((0,), "cpu")
    x, y = problem.train.x[0], problem.train.y[0]
    dual = state.W.norm() if p == 2 else state.W.abs().sum()
    exact = ((x @ state.W - y).abs() + 0.4 * dual).square().mean()
    assert made["risk"][0, -1] == pytest.approx(float(exact), rel=1e-9)


def test_training_under_attack_shrinks_the_predictor():
    lengths = [
        float(av.run(run(attack=attack), seeds=[1]).state(1, 400).W.norm())
        for attack in (None, FGSM(p=2, radius=0.3), FGSM(p=2, radius=0.6))
    ]
    assert lengths[0] > lengths[1] > lengths[2] > 0


@pytest.mark.parametrize("loss", ("square", "huber", "pseudo_huber", quartic))
@pytest.mark.parametrize("optimiser", (None, SGD(batch=20)))
def test_every_regression_loss_and_a_function_of_the_user_train(loss, optimiser):
    changes = dict(risk=Risk(loss=loss), optimiser=optimiser, steps=50, eta=0.005)
    made = av.run(run(**changes, attack=PGD(p=2, radius=0.1, steps=3)), seeds=range(2))
    assert (made["risk"][:, -1] < made["risk"][:, 0]).all()
    assert (made["robust_test_loss"] > made["excess_risk"]).all()


def test_a_loss_of_the_user_is_part_of_the_key_with_its_version():
    keys = {resolve(run(risk=Risk(loss=loss))).key for loss in ("square", quartic)}
    quartic.version = 2
    keys.add(resolve(run(risk=Risk(loss=quartic))).key)
    del quartic.version
    assert len(keys) == 3


def test_real_labels_need_a_regression_loss_and_have_no_errors():
    with pytest.raises(ValueError, match="need a regression loss"):
        av.run(run(risk=Risk()), seeds=[0])
    with pytest.raises(RuntimeError, match="measure losses instead"):
        av.run(run(probes=(train_error,)), seeds=[0])


def test_an_attack_on_real_labels_cannot_maximise_a_loss_of_classes():
    attack = PGD(p=2, radius=0.5, steps=2, loss="cross_entropy")
    with pytest.raises(RuntimeError, match="PGD maximises cross_entropy, which real labels do not"):
        av.run(run(attack=attack), seeds=[0])


def test_labels_of_classifiers_are_still_checked():
    with pytest.raises(RuntimeError, match="a method best"):
        av.run(run(data=Unknown(), final=(), risk=Risk()), seeds=[0])


def test_the_template_of_a_regression_theorem_holds(call, tmp_path):
    call("new", "mine.py", "--regression")
    said = call("verify", "./mine.py").stdout
    assert "mine.thm1" in said and "holds" in said
