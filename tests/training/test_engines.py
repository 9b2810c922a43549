"""Engines: exact coordinates do not change results, and neither do runs side by side."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adversarium.attacks import APGD, FGSM, GTA, PGD, FiniteAttack
from adversarium.data import Clusters, PatchData, SpherePoints
from adversarium.networks import (
    CubicCNN,
    LeakyReLU,
    Module,
    Perceptron,
    ReLU,
    SmoothedLeakyReLU,
    SmoothedReLU,
    TwoLayer,
)
from adversarium.training import (
    ENGINES,
    SGD,
    Adam,
    GradientDescent,
    Problem,
    Recipe,
    Risk,
    choose,
    train,
)
from tests.training.cases import (
    final,
    finals,
    gap,
    largest_difference,
    length,
    normalised,
    parts,
    placed,
)

GOLDEN = Path(__file__).with_name("golden.json")


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("device", ("cpu", "cuda"))
def test_seeds_together_equal_single_runs(name, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    apart, across = largest_difference(parts(name), name, device, seeds=4)
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
        Recipe(n=n, steps=40, eta=0.03, risk=Risk(lam=lam)),
    )
    problem = Problem(*given_parts, (seed, seed + 1))
    cheap, plain = final("signal_noise", problem), final("full", problem)
    assert torch.allclose(cheap.W, plain.W, atol=1e-12)
    assert torch.allclose(cheap.risk(), plain.risk(), atol=1e-12)
    assert torch.allclose(cheap.gradient_norm, plain.gradient_norm, atol=1e-10)
    for attack in (None, given_parts[2]):
        margins = cheap.margin(problem.train, attack), plain.margin(problem.train, attack)
        assert torch.allclose(*margins, atol=1e-12)


@pytest.mark.parametrize("best", (True, False))
@pytest.mark.parametrize(
    "activation", (None, SmoothedLeakyReLU(gamma=0.2, H=3.0), SmoothedReLU(b=2))
)
def test_the_gram_coordinates_are_exact(best, activation):
    data, network, attack, recipe = parts("gram")
    network = network if activation is None else replace(network, activation=activation)
    attack = replace(attack, best=best)
    problem = Problem(data, network, attack, replace(recipe, steps=40), (0, 1, 2))
    cheap, plain = final("gram", problem), final("full", problem)
    scale = plain.W.norm()
    assert (cheap.W - plain.W).norm() / scale < 1e-12
    assert torch.allclose(cheap.K, plain.W @ plain.W.mT, atol=1e-12 * float(scale**2))
    for by in (None, attack):
        margins = cheap.margin(problem.train, by), plain.margin(problem.train, by)
        assert torch.allclose(*margins, atol=1e-10)
    bounds = cheap.interval(problem.train, 2, 0.6), plain.interval(problem.train, 2, 0.6)
    assert torch.allclose(torch.stack(bounds[0]), torch.stack(bounds[1]), atol=1e-10)
    fresh = problem.draw(data, 30, "test")
    strong = APGD(p=2, radius=0.6, steps=10)
    assert torch.allclose(cheap.margin(fresh, strong), plain.margin(fresh, strong), atol=1e-9)


@pytest.mark.parametrize("log", (True, False))
def test_the_linear_closed_form_is_exact(log):
    data, network, attack, recipe = parts("linear")
    recipe = replace(recipe, risk=replace(recipe.risk, log=log))
    for own in (attack, None):
        problem = Problem(data, network, own, recipe, (0, 1, 2))
        cheap, plain = final("linear", problem), final("full", problem)
        assert torch.allclose(cheap.W["w_0"], plain.W["w_0"], atol=1e-12)


def test_gram_without_an_attack_is_plain_descent():
    data, network, _, recipe = parts("gram")
    problem = Problem(data, network, None, recipe, (0, 1))
    assert torch.allclose(final("gram", problem).W, final("full", problem).W, atol=1e-12)


@pytest.mark.parametrize("activation", [ReLU(), LeakyReLU(0.2), SmoothedLeakyReLU(gamma=0.3)])
@pytest.mark.parametrize("attacked", [True, False])
@pytest.mark.parametrize(
    "parts", [{}, {"biases": False}, {"top": "fixed"}, {"top": "signs", "biases": False}]
)
def test_gram_trains_biases_and_the_top_layer_with_dropping_steps(activation, attacked, parts):
    recipe = Recipe(n=9, steps=25, eta=0.5, optimiser=GradientDescent(drop=0.5, every=10))
    attack = PGD(p=2, radius=0.6, steps=8, best=False) if attacked else None
    data, network = Clusters(d=40, mu=3.0), Perceptron(m=8, activation=activation, **parts)
    problem = Problem(data, network, attack, recipe, (0, 1))
    fast, plain = final("gram", problem), final("full", problem)
    for name, w in plain.W.items():
        assert torch.allclose(fast.W[name], w, atol=1e-12), name
        assert torch.equal(w, problem.W0[name]) == (name in network.still), name
    assert torch.allclose(fast.risk(), plain.risk(), atol=1e-12)


def test_gram_attacks_fresh_points_as_the_plain_engine_does():
    recipe = Recipe(n=9, steps=10, eta=0.5)
    by = PGD(p=2, radius=0.6, steps=8)
    for network in (Perceptron(m=7), TwoLayer(m=8, omega=0.3)):
        problem = Problem(Clusters(d=40, mu=3.0), network, by, recipe, (0, 1))
        fresh = problem.draw(problem.data, 30, "test")
        for attack in (by, PGD(p=2, radius=1.1, steps=5, best=False)):
            margins = (final(e, problem).margin(fresh, attack) for e in ("gram", "full"))
            assert torch.allclose(*margins, atol=1e-12)


def beside(name):
    """Return problems that an engine can train side by side although all that may differ
    differs."""
    data, network, attack, recipe = parts(name)
    match name:
        case "signal_noise":
            return [
                Problem(
                    PatchData(d=d, P=3, alpha=alpha, sigma=sigma),
                    replace(network, sigma0=sigma0),
                    by,
                    replace(recipe, eta=eta, risk=Risk(lam=lam)),
                    seeds,
                )
                for d, alpha, sigma, sigma0, by, eta, lam, seeds in (
                    (20, 2.0, 0.2, 0.2, GTA(gamma=0.9), 0.05, 0.4, (0, 3)),
                    (31, 1.5, 0.1, 0.3, GTA(gamma=0.3), 0.02, 1.0, (3,)),
                    (9, 3.0, 0.3, 0.1, None, 0.01, 0.0, (0, 1, 2)),
                )
            ]
        case "gram" | "law":
            return [
                Problem(
                    Clusters(d=d, mu=mu, beta=beta),
                    replace(network, omega=omega),
                    replace(attack, radius=radius, step=step, loss=loss),
                    replace(recipe, eta=eta),
                    seeds,
                )
                for d, mu, beta, omega, radius, step, loss, eta, seeds in (
                    (60, 4.0, 0.1, 0.01, 0.6, None, "logit_difference", 0.05, (0, 1)),
                    (25, 3.0, 0.0, 0.05, 0.2, 0.11, "cross_entropy", 0.1, (1,)),
                    (90, 2.0, 0.2, 0.01, 1.1, 0.4, "exponential", 0.02, (5, 0, 2)),
                )
            ]
        case "linear":
            return [
                Problem(replace(data, alpha=alpha), network, by, replace(recipe, eta=eta), seeds)
                for alpha, by, eta, seeds in (
                    (2.0, attack, 0.1, (0, 1)),
                    (3.0, replace(attack, radius=0.05), 0.02, (1,)),
                    (2.5, None, 0.2, (0, 4)),
                )
            ]
        case "full":
            others = (data, replace(data, alpha=3.0), replace(data, sigma_n=0.3))
            return [
                Problem(own, network, attack, recipe, seeds)
                for own, seeds in zip(others, ((0, 1), (1,), (2, 0)), strict=True)
            ]
        case "sgd" | "captured":
            return [
                Problem(data, network, attack, recipe, seeds) for seeds in ((0, 1), (3,), (1, 2))
            ]


@pytest.mark.parametrize("name", ENGINES)
def test_settings_of_one_shape_side_by_side_equal_each_alone(name):
    engine = ENGINES[name]
    problems_, again = ([placed(name, s) for s in beside(name)] for _ in range(2))
    assert len({engine.batching.shape(problem) for problem in problems_}) == 1
    alone = [[engine.split(one)[0] for one in train(engine, (s,))] for s in again]
    for t, joined in enumerate(train(engine, problems_)):
        if t in (0, 1, 7, problems_[0].recipe.steps):
            for state, states in zip(engine.split(joined), alone, strict=True):
                own, batch = states[t], states[t].problem.train
                assert state.t == t and state.problem.seeds == own.problem.seeds
                assert gap(state, own) < 1e-12
                assert torch.allclose(state.risk(), own.risk(), rtol=0, atol=1e-12)
                for by in (None, own.problem.attack):
                    margins = state.margin(state.problem.train, by), own.margin(batch, by)
                    assert torch.allclose(*margins, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ENGINES)
def test_what_changes_the_course_of_a_run_is_in_its_engines_shape(name):
    data, network, attack, recipe = parts(name)
    shape = ENGINES[name].batching.shape
    first = shape(Problem(data, network, attack, recipe, (0,)))
    assert first == shape(Problem(data, network, attack, recipe, (5, 6)))
    others = [
        Problem(data, network, attack, replace(recipe, n=recipe.n + 1), (0,)),
        Problem(data, network, attack, replace(recipe, steps=recipe.steps + 1), (0,)),
        Problem(data, network, attack, recipe, (0,), dtype=torch.float32),
        Problem(data, network, attack, recipe, (0,), device="cuda"),
    ]
    if hasattr(network, "m") and name != "linear":
        others.append(Problem(data, replace(network, m=network.m + 2), attack, recipe, (0,)))
    if name in ("gram", "law"):
        others += [
            Problem(data, network, by, recipe, (0,))
            for by in (None, replace(attack, steps=9), replace(attack, best=not attack.best))
        ]
    if name in ("full", "sgd"):
        others += [
            Problem(data, network, None, recipe, (0,)),
            Problem(data, network, attack, replace(recipe, eta=1.0), (0,)),
        ]
    if name == "linear":
        others.append(Problem(replace(data, d=16), network, attack, recipe, (0,)))
        plain = replace(recipe, risk=replace(recipe.risk, log=False))
        others.append(Problem(data, network, attack, plain, (0,)))
    assert first not in {shape(other) for other in others}


def test_the_state_at_the_last_step_is_the_last_one_and_the_first_one_is_the_start():
    for name, engine in ENGINES.items():
        given_parts = parts(name)
        problem = placed(name, Problem(*given_parts, (0,)))
        times = [engine.split(joined)[0].t for joined in train(engine, (problem,))]
        assert times == list(range(given_parts[3].steps + 1))


@pytest.mark.parametrize("optimiser", (SGD(batch=20), Adam(batch=20)))
def test_a_network_with_a_memory_trains_with_replicas_as_single_runs(optimiser):
    data, _, attack, recipe = parts("sgd")
    network = Module(build=normalised)
    recipe = replace(recipe, eta=0.01, steps=9, optimiser=optimiser)
    apart, _ = largest_difference((data, network, attack, recipe), "sgd", "cpu", seeds=3)
    assert apart < 1e-11
    problem = Problem(data, network, attack, recipe, (0, 1))
    state = final("sgd", problem)
    mean, count = state.W["1.running_mean"], state.W["1.num_batches_tracked"]
    assert not torch.equal(mean, problem.W0["1.running_mean"]) and count.tolist() == [9, 9]
    assert count.dtype == torch.int64


def test_a_network_with_a_memory_trains_on_the_whole_set_too():
    data, _, _, recipe = parts("sgd")
    recipe = Recipe(n=30, steps=6, eta=0.1)
    network = Module(build=normalised)
    apart, _ = largest_difference(
        (data, network, FGSM(radius=0.05), recipe), "full", "cpu", seeds=3
    )
    assert apart < 1e-11
    two = [Problem(data, network, None, recipe, seeds) for seeds in ((0, 2), (1,))]
    for problem, state in zip(two, finals("full", two), strict=True):
        assert gap(state, final("full", problem)) < 1e-12


def test_measuring_draws_from_streams_of_its_own():
    given_parts = parts("sgd")
    short = (*given_parts[:3], replace(given_parts[3], steps=5))
    problem, engine = Problem(*short, (0, 1)), ENGINES["sgd"]
    for joined in train(engine, (problem,)):
        (watched,) = engine.split(joined)
        watched.risk(), watched.margin(problem.train, problem.attack)
    unseen = final("sgd", Problem(*short, (0, 1)))
    assert gap(watched, unseen) == 0
    assert torch.equal(watched.risk(), unseen.risk())


def test_the_first_engine_that_does_not_refuse_runs_and_the_others_say_why():
    for name in ("signal_noise", "gram", "linear", "full", "sgd"):
        engine, refused = choose(*parts(name))
        assert engine.name == name
        assert all(refused.values())
    data, network, attack, recipe = parts("gram")
    for change in (
        replace(attack, p=math.inf),
        replace(attack, start="uniform"),
        replace(attack, normalised=False),
        replace(attack, box=(0.0, 1.0)),
    ):
        engine, refused = choose(data, network, change, recipe)
        assert engine.name == "full" and "gram" in refused
    with pytest.raises(ValueError, match="no engine can run"):
        choose(data, network, replace(attack, p=math.inf), recipe, "gram")
    with pytest.raises(ValueError, match="no engine is named 'fast'"):
        choose(data, network, attack, recipe, "fast")
    with pytest.raises(ValueError, match="batch <= n"):
        choose(data, network, attack, replace(recipe, optimiser=SGD(batch=1000)))


def test_finite_sets_train_against_their_exact_maximum():
    data = SpherePoints(d=2, radius=0.2, K=5)
    network = TwoLayer(m=32, activation=SmoothedReLU(b=2))
    recipe = Recipe(n=4, steps=30, eta=0.3, risk=Risk(loss="pseudo_huber"))
    state = final("full", Problem(data, network, FiniteAttack(rule="exact"), recipe, (0, 1)))
    anti = final("full", Problem(data, network, FiniteAttack(rule="anti"), recipe, (0, 1)))
    assert (state.risk() < math.sqrt(2) - 1).all()
    assert (anti.risk() <= state.risk()).all()


def test_an_attack_that_leaves_its_ball_is_caught():
    class Cheat(PGD):
        def __call__(self, loss, batch, t, rng):
            return batch.x + 2 * self.radius

    data, network, _, recipe = parts("gram")
    problem = Problem(data, network, Cheat(p=math.inf, radius=0.5), recipe, (0,))
    with pytest.raises(RuntimeError, match="left its ball"):
        final("full", problem)


def golden_row(name):
    """Return numbers that show a change of an engine: the risk, and the norm of the weights."""
    state = final(name, Problem(*parts(name), (0, 1)))
    version = ENGINES[name].version
    return {"version": version, "risk": state.risk().tolist(), "weights": length(state).tolist()}


@pytest.mark.parametrize("name", ENGINES)
def test_golden_rows_change_only_with_the_version(name):
    golden, found = json.loads(GOLDEN.read_text())[name], golden_row(name)
    assert found["version"] == golden["version"], (
        "write the golden rows anew: python -m tests.training.test_engines"
    )
    for number in ("risk", "weights"):
        expected = pytest.approx(golden[number], rel=1e-9)
        assert found[number] == expected, "raise the engine's version"


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: golden_row(name) for name in ENGINES}, indent=1) + "\n")
