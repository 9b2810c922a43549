"""The recursions of RNRF agree with training; the collision list."""

import math

import pytest
import torch

from adversarium.attacks import APGD, PGD, FeatureCollision, MarginStep, midpoint
from adversarium.data import TwoFeaturePatches
from adversarium.measure.errors import ErrorByRadius, worst_margin
from adversarium.measure.scene import Scene
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.theory.features import nonrobust_features, robust_features
from adversarium.papers.rnrf.theory.kept_recursion import KeptRecursion
from adversarium.papers.rnrf.theory.recursions import FeatureRecursion, growth
from adversarium.papers.rnrf.theory.stages import ForeignRatio, GrowthRange, NoiseRemainder
from adversarium.papers.rnrf.theory.two_features import decomposition, every_correlation, plateau
from adversarium.training import Problem, Recipe, choose, train


def states(data, network, attack=None, n=6, steps=12, seeds=(0, 1), eta=0.1):
    recipe = Recipe(n=n, steps=steps, eta=eta)
    problem = Problem(data, network, attack, recipe, seeds)
    engine, _ = choose(data, network, attack, recipe)
    made = (engine.split(joined)[0] for joined in train(engine, (problem,)))
    return Scene(problem), list(made)


def folded(fold, scene, made):
    memory = None
    for state in made:
        memory = fold.see(memory, state, scene)
    return fold.rows(memory)


@pytest.mark.parametrize("strengths", ("constant", "uniform"))
@pytest.mark.parametrize("clip", ("element", "patch"))
def test_the_recursion_is_exact_without_noise_and_off_feature_weights(strengths, clip):
    data = TwoFeaturePatches(
        k=3, d=6, P=5, n_robust=2, sigma_n=0.0, strengths=strengths, spread=0.2
    )
    network = SmoothedCNN(m=4, sigma0=0.5, by_hand=False)
    for attack in (None, MarginStep(radius=0.3, step=3.0, clip=clip)):
        scene, made = states(data, network, attack)
        rows = folded(FeatureRecursion(stride=4), scene, made)
        assert rows["recursion_error"].max() < 1e-13
        for name, feature in (
            ("recursion_A", robust_features),
            ("recursion_B", nonrobust_features),
        ):
            curve = rows[name]
            assert curve.t == (0, 4, 8, 12) and curve.values.shape == (2, 4, 3)
            for j, t in enumerate(curve.t):
                assert torch.allclose(curve.values[:, j], feature(made[t], scene), atol=1e-12)


def test_the_recursion_sees_noise_and_off_feature_weights():
    for data, attack in (
        (TwoFeaturePatches(d=20, P=5), None),
        (TwoFeaturePatches(d=20, P=5, sigma_n=0.0), MarginStep(radius=0.3, step=3.0)),
    ):
        scene, made = states(data, SmoothedCNN(m=4, sigma0=0.5), attack)
        assert folded(FeatureRecursion(), scene, made)["recursion_error"].min() > 1e-6


def test_the_remainder_of_the_noise_update_is_what_other_patches_do():
    data = TwoFeaturePatches(k=3, d=12, P=4)
    scene, made = states(data, SmoothedCNN(m=3, sigma0=0.3), n=5, steps=1)
    found = folded(NoiseRemainder(), scene, made)["noise_remainder"]
    train, W = scene.train, made[0].W
    noise, x = train.noise.flatten(1, 2), train.x.flatten(1, 2)
    pull = torch.nn.functional.one_hot(train.y, 3) - made[0].f(train.x).softmax(-1)
    pull = pull.repeat_interleave(4, dim=1)
    slopes = (torch.einsum("skmd,snd->snkm", W, x).clamp(0, 1)).square()
    gram = x @ noise.mT
    own = torch.diag_embed(noise.square().sum(-1))
    left = torch.einsum("snk,snkm,snq->skmq", pull, slopes, gram - own) / 5
    assert torch.allclose(found, left.abs().amax((1, 2, 3)) * 12**0.5, rtol=1e-9)


@pytest.mark.parametrize("d", (6, 40))
def test_the_recursion_that_keeps_the_off_feature_weights_is_exact_without_their_clip(d):
    data = TwoFeaturePatches(k=3, d=d, P=5, n_robust=2, sigma_n=0.0)
    attack = MarginStep(radius=0.3, step=0.2)
    scene, made = states(data, SmoothedCNN(m=4, sigma0=0.5), attack)
    move = (made[-1].full.x_adv - scene.train.x)[..., 6:]
    assert d == 6 or 0 < move.abs().max() < 0.3  # nothing off the features is clipped
    assert (
        folded(KeptRecursion("unclipped"), scene, made)["unclipped_recursion_error"].max() < 1e-13
    )
    assert folded(KeptRecursion("printed"), scene, made)["printed_recursion_error"].min() > 0


def test_foreign_correlations_fall_and_growth_follows_its_law_at_the_start():
    data = TwoFeaturePatches(d=8, P=5, sigma_n=0.0, balanced=True)
    scene, made = states(data, SmoothedCNN(m=30, sigma0=0.01), n=2, steps=5)
    rows = folded(ForeignRatio(), scene, made)
    assert all(value.max() <= 1 for value in rows.values())
    rows = folded(GrowthRange(), scene, made)
    assert (rows["least_growth"] > 0.99).all() and (rows["largest_growth"] < 1.01).all()


def test_the_growth_law_is_the_gradient_at_equal_probabilities():
    data = TwoFeaturePatches(d=4, P=5, n_robust=2, alpha=1.5, sigma_n=0.0, balanced=True)
    scene, made = states(data, SmoothedCNN(m=3, sigma0=1e-3), n=2, steps=1)
    before, after = (every_correlation(state, scene) for state in made)
    for law, part in zip(growth(before, scene), (slice(0, 2), slice(2, 4)), strict=True):
        step = (after - before)[..., part].diagonal(dim1=1, dim2=3).mT
        assert torch.allclose(step, law, rtol=1e-5, atol=1e-16)
    assert plateau(scene) == math.inf


def test_the_decomposition_is_all_of_the_weights():
    scene, made = states(TwoFeaturePatches(k=3, d=12, P=4), SmoothedCNN(m=3, sigma0=0.3))
    parts = decomposition(made[-1], scene)
    squares = sum(parts[f"length_{part}"].square() for part in ("A", "B", "C", "D", "off"))
    assert torch.allclose(squares, made[-1].W.flatten(1).square().sum(-1))


def test_the_collision_list_stays_in_its_ball_and_breaks_a_class():
    data = TwoFeaturePatches(d=10, P=6, sigma_n=0.0, balanced=True)
    attack = FeatureCollision(radius=1.2, alpha=2.0, k=2)
    scene, made = states(data, SmoothedCNN(m=8, sigma0=1.0), n=2, steps=0, seeds=tuple(range(20)))
    margins = made[0].margin(scene.train, attack)  # the budget is checked there
    assert ((margins <= 0).any(-1)).all()
    with pytest.raises(ValueError, match="2 radius"):
        FeatureCollision(radius=0.5, alpha=2.0, k=2)


def test_points_with_equal_noise_share_a_midpoint():
    data = TwoFeaturePatches()
    one = data.sample(5, torch.Generator().manual_seed(1))
    x = one.x - one.noise
    y = x.flip(0)
    middle = midpoint(x + one.noise, y + one.noise)
    assert (middle - x - one.noise).abs().max() <= 1.0 + 1e-12


def test_survivors_meet_the_same_attack_alone_and_in_company():
    data, network = TwoFeaturePatches(d=20, P=5), SmoothedCNN(m=4, sigma0=0.5)
    suite = (APGD(radius=0.05, steps=5, restarts=1), PGD(radius=0.05, steps=5, start="uniform"))
    scene, made = states(data, network, steps=30, seeds=(0, 1, 2))
    alone, own = states(data, network, steps=30, seeds=(2,))
    both = worst_margin(made[-1], scene.test(30), suite)
    assert torch.allclose(both[2:], worst_margin(own[-1], alone.test(30), suite), atol=1e-12)
    by_hand = torch.stack(
        [made[-1].margin(scene.test(30)), made[-1].margin(scene.test(30), suite[0])]
    )
    assert (both <= by_hand.amin(0) + 1e-12).all()


def test_errors_by_radius_never_fall_and_lie_below_what_is_unproven():
    scene, made = states(TwoFeaturePatches(d=20, P=5), SmoothedCNN(m=4, sigma0=0.5), steps=30)
    radii = (0.01, 0.1, 0.5)
    broken = ErrorByRadius(attacks=(PGD(radius=1.0, steps=5),), radii=radii, n=40, name="a")
    open_ = ErrorByRadius(attacks=(), radii=radii, n=40, name="b")
    low, high = broken(made[-1], scene)["a"], open_(made[-1], scene)["b"]
    assert low.at == high.at == {"radius": radii}
    low, high = low.values, high.values
    assert low.shape == (2, 3) and (low.diff(dim=-1) >= 0).all() and (low <= high).all()
