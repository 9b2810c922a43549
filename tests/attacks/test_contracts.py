"""All attacks keep to their budget, are repeatable and pure, and agree with closed forms."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import get_args, get_type_hints

import pytest
import torch
from torch import Tensor

from adversarium.attacks import (
    APGD,
    FAB,
    FGSM,
    GTA,
    PGD,
    Ball,
    CapPGD,
    Corners,
    FeatureReplacement,
    FiniteAttack,
    GenericGTA,
    MarginStep,
    PatchTransplant,
    SignalPatch,
    UniversalFeature,
    strong_attacks,
)
from adversarium.attacks.balls import norm
from adversarium.data import PatchData, SpherePoints, TwoFeaturePatches
from adversarium.data.batches import stack
from adversarium.rng import normal, stream, streams, uniform
from adversarium.sockets import Aimed, Attack, Bounded, Region, Waiting
from adversarium.training.objectives import Risk, loss_map

NORMS = (1, 2, math.inf)


@dataclass(frozen=True)
class Points:
    x: Tensor
    y: Tensor


@dataclass(frozen=True)
class Bare:
    x: Tensor


def bumpy(x: Tensor) -> Tensor:
    """A smooth, non-concave loss with many slopes."""
    weights = torch.linspace(0.5, 3, x.shape[-1], dtype=x.dtype)
    return torch.sin(x * weights).sum(-1) + 0.1 * (x**2).sum(-1)


def ball_attacks(p: float, radius: float, **more):
    return (
        FGSM(p=p, radius=radius, **more),
        PGD(p=p, radius=radius, steps=7, **more),
        PGD(p=p, radius=radius, steps=7, start="uniform", restarts=3, **more),
        PGD(p=p, radius=radius, steps=7, best=False, **more),
        PGD(p=p, radius=radius, steps=5, step=0.3, normalised=False, **more),
        APGD(p=p, radius=radius, steps=15, restarts=2, **more),
    )


ALL = [(p, attack) for p in NORMS for attack in ball_attacks(p, 0.5)]
ALL += [
    (math.inf, MarginStep(radius=0.5, step=s, clip=c))
    for s in (0.1, 50.0)
    for c in ("element", "patch")
]
NAMES = [f"{type(a).__name__}-p{p}-{i}" for i, (p, a) in enumerate(ALL)]


@pytest.fixture
def points() -> Points:
    return Points(normal((3, 9, 6), streams((0, 1, 2), "points")), torch.ones(3, 9).double())


@pytest.mark.parametrize(("p", "attack"), ALL, ids=NAMES)
def test_every_attack_stays_in_its_ball(p, attack, points):
    moved = attack(bumpy, points, 0, streams((0, 1, 2), "attack"))
    assert (norm(moved - points.x, p, 2) <= 0.5 * (1 + 1e-12) + 1e-12).all()
    single = replace(points, x=points.x.float(), y=points.y.float())
    moved = attack(bumpy, single, 0, streams((0, 1, 2), "attack"))
    assert (norm(moved - single.x, p, 2) <= 0.5 * (1 + 2e-6)).all()


@pytest.mark.parametrize(("p", "attack"), ALL, ids=NAMES)
def test_every_attack_repeats_itself_and_changes_no_input(p, attack, points):
    before = points.x.clone()
    first = attack(bumpy, points, 0, streams((0, 1, 2), "attack"))
    again = attack(bumpy, points, 0, streams((0, 1, 2), "attack"))
    assert torch.equal(first, again)
    assert torch.equal(points.x, before)


@pytest.mark.parametrize(("p", "attack"), ALL, ids=NAMES)
def test_radius_zero_returns_the_input(p, attack, points):
    still = replace(attack, radius=0.0)(bumpy, points, 0, streams((0, 1, 2), "attack"))
    assert torch.equal(still, points.x)


@pytest.mark.parametrize(("p", "attack"), ALL, ids=NAMES)
def test_replicas_and_other_points_do_not_change_an_example(p, attack, points):
    whole = attack(bumpy, points, 0, streams((0, 1, 2), "attack"))
    for i, seed in enumerate((0, 1, 2)):
        alone = Points(points.x[i], points.y[i])
        one = attack(bumpy, alone, 0, stream(seed, "attack"))
        assert torch.allclose(whole[i], one, atol=1e-12)
    others = replace(points, x=torch.cat([points.x[:, :4], 7 * points.x[:, 4:]], dim=1))
    changed = attack(bumpy, others, 0, streams((0, 1, 2), "attack"))
    assert torch.allclose(changed[:, :4], whole[:, :4], atol=1e-12)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("kind", (FGSM, PGD, APGD))
def test_on_a_linear_model_the_gain_is_radius_times_the_dual_norm(p, kind):
    w = normal((6,), stream(2, "w"))
    batch = Points(normal((5, 6), stream(3, "x")), torch.ones(5).double())
    attack = kind(p=p, radius=0.7, **({} if kind is FGSM else {"steps": 60}))

    def loss(x):
        return x @ w

    gain = loss(attack(loss, batch, 0, stream(0, "attack"))) - loss(batch.x)
    q = {1: math.inf, 2: 2, math.inf: 1}[p]
    assert torch.allclose(gain, (0.7 * w.norm(q)).expand(5), rtol=2e-3 if kind is APGD else 1e-9)
    assert (gain <= 0.7 * w.norm(q) * (1 + 1e-12)).all()


@pytest.mark.parametrize("kind", (PGD, APGD))
@pytest.mark.parametrize("p", NORMS)
def test_more_steps_and_restarts_never_lose_ground(kind, p, points):
    def rng():
        return streams((0, 1, 2), "attack")

    reached = [bumpy(points.x)]
    for restarts in (1, 2, 4):
        attack = kind(p=p, radius=0.5, steps=8, restarts=restarts)
        reached.append(bumpy(attack(bumpy, points, 0, rng())))
    for low, high in pairwise(reached):
        assert (high >= low - 1e-12).all()
    if kind is PGD:
        heights = [
            bumpy(PGD(p=p, radius=0.5, steps=s, step=0.1)(bumpy, points, 0, rng()))
            for s in (1, 3, 9)
        ]
        assert (heights[1] >= heights[0] - 1e-12).all()
        assert (heights[2] >= heights[1] - 1e-12).all()


@pytest.mark.parametrize("p", NORMS)
def test_a_box_is_kept_and_data_outside_it_are_refused(p):
    batch = Points(uniform((8, 6), stream(0, "x")), torch.ones(8).double())
    outside = replace(batch, x=batch.x + 0.5)
    for attack in ball_attacks(p, 0.5, box=(0.0, 1.0)):
        moved = attack(bumpy, batch, 0, stream(0, "attack"))
        assert moved.min() >= 0 and moved.max() <= 1
        assert (norm(moved - batch.x, p, 1) <= 0.5 * (1 + 1e-9)).all()
        with pytest.raises(ValueError, match="box"):
            attack(bumpy, outside, 0, stream(0, "attack"))
    for attack in ball_attacks(p, 0.5):
        free = attack(bumpy, outside, 0, stream(0, "attack"))
        assert not torch.equal(free, free.clamp(0, 1))


def test_an_attack_waits_for_its_first_step(points):
    attack = PGD(p=2, radius=0.5, after=1)
    assert torch.equal(attack(bumpy, points, 0, streams((0, 1, 2), "a")), points.x)
    assert not torch.equal(attack(bumpy, points, 1, streams((0, 1, 2), "a")), points.x)


def test_the_margin_step_of_a_mean_does_not_depend_on_what_it_is_evaluated_on(points):
    each = MarginStep(radius=9.0, step=0.9, over=9)(bumpy, points, 0, streams((0, 1, 2), "a"))
    own = MarginStep(radius=9.0, step=0.1)(bumpy, points, 0, streams((0, 1, 2), "a"))
    assert torch.allclose(each, own)


def test_gta_shrinks_the_signal_patch_and_spends_gamma_alpha():
    batch = PatchData(d=10, P=4, alpha=2.0, sigma=0.3).sample(50, stream(0, "train"))
    moved = GTA(gamma=0.8)(bumpy, batch, 0, stream(0, "attack"))
    rows = torch.arange(50)
    assert GTA(gamma=0.8).gap == 1 - 0.8
    assert torch.allclose(moved[rows, batch.signal], 0.2 * batch.x[rows, batch.signal])
    assert torch.allclose(norm(moved - batch.x, 2, 1), torch.full((50,), 1.6).double())


@pytest.mark.parametrize("rule", get_args(get_type_hints(FiniteAttack)["rule"]))
def test_finite_attacks_land_in_their_sets(rule):
    data = SpherePoints(d=3, radius=0.3, K=6)
    batch = stack([data.sample(4, stream(s, "train")) for s in (0, 1)])
    w = normal((3,), stream(1, "w"))

    def loss(x):
        return torch.sin(4 * x @ w)

    moved = FiniteAttack(rule=rule)(loss, batch, 3, streams((0, 1), "attack"))
    distance = (moved[..., None, :] - batch.options).norm(dim=-1).amin(-1)
    assert distance.max() < 1e-12
    every = torch.stack([loss(batch.options[..., j, :]) for j in range(6)], -1)
    assert (loss(moved) <= every.amax(-1) + 1e-12).all()
    if rule == "exact":
        assert torch.allclose(loss(moved), every.amax(-1))
    if rule == "pgd":
        assert (loss(moved) >= every[..., 0]).all()  # x is among what it met


def test_attacks_that_need_more_than_x_say_so(points):
    with pytest.raises(TypeError, match="PatchData"):
        GTA(gamma=0.5)(bumpy, points, 0, stream(0, "a"))
    with pytest.raises(TypeError, match="SpherePoints"):
        FiniteAttack()(bumpy, points, 0, stream(0, "a"))
    with pytest.raises(TypeError, match="PatchData"):
        GenericGTA(gamma=0.5, g=SignalPatch())(bumpy, points, 0, stream(0, "a"))
    with pytest.raises(TypeError, match="patches"):
        PatchTransplant(radius=0.5)(bumpy, points, 0, stream(0, "a"))


def test_ascent_on_a_cap_stays_in_it_and_finds_what_no_member_passes():
    data = SpherePoints(d=3, radius=0.3, K=40)
    batch = stack([data.sample(4, stream(s, "train")) for s in (0, 1)])
    w = normal((3,), stream(1, "w"))

    def loss(x):
        return torch.sin(4 * x @ w)

    moved = CapPGD(radius=0.3)(loss, batch, 0, streams((0, 1), "attack"))
    assert (moved.norm(dim=-1) - 1).abs().max() < 1e-12
    assert (moved - batch.x).norm(dim=-1).max() <= 0.3 + 1e-12
    every = torch.stack([loss(batch.options[..., j, :]) for j in range(40)], -1)
    assert (loss(moved) >= every.amax(-1) - 1e-4).all()
    with pytest.raises(ValueError, match="unit sphere"):
        CapPGD(radius=0.3)(loss, replace(batch, x=2 * batch.x), 0, streams((0, 1), "attack"))
    for wrong in (dict(radius=2.0), dict(radius=0.1, steps=0)):
        with pytest.raises(ValueError, match="CapPGD needs"):
            CapPGD(**wrong)


def test_every_attack_fits_its_sockets():
    data = (
        GTA(gamma=0.5),
        GenericGTA(gamma=0.5),
        FiniteAttack(),
        CapPGD(radius=0.5),
        UniversalFeature(radius=1.0, k=2),
    )
    for attack in (*(attack for _, attack in ALL), *data):
        assert isinstance(attack, Attack) and isinstance(attack, Aimed)
    for p, attack in ALL:
        assert isinstance(attack, Bounded) and isinstance(attack.ball, Region)
        assert attack.ball.p == p
    assert isinstance(PGD(radius=1.0), Waiting) and not isinstance(APGD(radius=1.0), Waiting)


def test_the_strong_suite_targets_every_wrong_class_up_to_a_number():
    assert {a.loss for a in strong_attacks(2, 0.5, k=2)} == {"logit_difference"}
    suite = strong_attacks(2, 0.5, k=10, targets=3)
    for kind in (APGD, FAB):
        aims = [a.loss for a in suite if type(a) is kind and a.loss != "logit_difference"]
        assert aims == ["targeted:1", "targeted:2", "targeted:3"]
    assert {a.ball for a in suite} == {Ball(2, 0.5)}


def test_losses_agree_for_scalar_and_two_logit_classifiers():
    f = normal((20,), stream(0, "f"))
    y = torch.where(normal((20,), stream(1, "y")) > 0, 1.0, -1.0).double()
    logits, labels = torch.stack([-f / 2, f / 2], -1), (y > 0).long()
    x = torch.zeros(20, 1, dtype=torch.float64)
    for name in ("logit_difference", "cross_entropy", "exponential"):
        one = loss_map(name, lambda _: f, x, y, Risk())(x)
        two = loss_map(name, lambda _: logits, x, labels, Risk())(x)
        assert torch.allclose(one, two)


def test_a_targeted_loss_fixes_its_class_at_the_clean_point():
    F = normal((5, 4), stream(0, "F"))
    y = torch.tensor([0, 1, 2, 3, 0])
    x = torch.zeros(5, 1).double()

    def shift(z):
        return F + z * torch.tensor([0.0, 5.0, 0.0, 0.0])

    loss = loss_map("targeted:1", shift, x, y, Risk())
    wrong = F.scatter(-1, y[:, None], -math.inf).argmax(-1)
    expected = F.gather(-1, wrong[:, None])[:, 0] - F.gather(-1, y[:, None])[:, 0]
    assert torch.allclose(loss(x), expected)
    with pytest.raises(ValueError, match="classes"):
        loss_map("targeted:4", shift, x, y, Risk())
    with pytest.raises(ValueError, match="one of"):
        loss_map("nonsense", shift, x, y, Risk())


def test_feature_attacks_move_the_named_coordinates_within_the_radius():
    data = TwoFeaturePatches(k=3, d=10, P=5)
    batch = stack([data.sample(40, stream(s, "train")) for s in (0, 1)])

    def rng():
        return streams((0, 1), "attack")

    replaced = FeatureReplacement(radius=1.2, k=3)(bumpy, batch, 0, rng())
    move = replaced - batch.x
    assert move.abs().max() <= 1.2 + 1e-12
    assert move[batch.is_robust].abs().max() == 0
    other = move[~batch.is_robust]
    own = (3 + batch.y)[..., None].expand(2, 40, 5)[~batch.is_robust]
    assert torch.allclose(other.gather(-1, own[:, None])[:, 0], torch.tensor(-1.0).double())
    assert torch.allclose(other.sum(-1), torch.tensor(0.2).double())
    assert other[:, :3].abs().max() == 0
    everywhere = UniversalFeature(radius=0.7, k=3)(bumpy, batch, 0, rng()) - batch.x
    assert torch.allclose(everywhere.abs().sum(-1), torch.tensor(1.4).double())
    assert torch.equal(everywhere[..., 0, :], everywhere[..., 4, :])
    with pytest.raises(ValueError, match="β_p <= radius"):
        FeatureReplacement(radius=0.5, k=3)(bumpy, batch, 0, rng())
    for attack in (FeatureReplacement(radius=1.0, k=2), UniversalFeature(radius=1.0, k=2)):
        with pytest.raises(TypeError, match="needs"):
            attack(bumpy, Bare(batch.x), 0, rng())


def test_attacks_are_not_blinded_by_overflowing_gradients():
    """The squares of these gradients overflow; a step must still be taken."""

    @dataclass(frozen=True)
    class Points:
        x: torch.Tensor

    w = torch.tensor([1.0, -2.0, 2.0]).double()
    batch = Points(torch.zeros(2, 3).double())

    def loss(x):
        return 1e200 * (x @ w)

    for attack in (FGSM(p=2, radius=0.3), PGD(p=2, radius=0.3), APGD(p=2, radius=0.3)):
        moved = attack(loss, batch, 0, stream(0, "attack"))
        assert torch.allclose(moved @ w, torch.full((2,), 0.9).double(), rtol=1e-6), attack


def test_the_generic_transfer_attack_is_the_closed_form_for_the_signal_patch():
    data = PatchData(d=9, P=4, alpha=2.0, sigma=0.3)
    batch = data.sample(30, stream(0, "x"))

    def nothing(x):
        return x.sum((-1, -2))

    closed = GTA(gamma=0.7)(nothing, batch, 0, stream(0, "attack"))
    for literal in (False, True):  # ‖∇g‖ = 1
        generic = GenericGTA(gamma=0.7, g=SignalPatch(), paper_literal=literal)
        assert torch.allclose(generic(nothing, batch, 0, stream(0, "attack")), closed, atol=1e-14)

    def double(x, b):
        return 2 * SignalPatch()(x, b)

    right = GenericGTA(gamma=0.7, g=double)(nothing, batch, 0, stream(0, "attack"))
    printed = GenericGTA(gamma=0.7, g=double, paper_literal=True)
    assert torch.allclose(right, closed, atol=1e-14)
    assert not torch.allclose(printed(nothing, batch, 0, stream(0, "attack")), closed, atol=0.1)


def test_a_step_to_the_zero_of_the_network_itself_respects_its_cap():
    batch = PatchData(d=9, P=4, alpha=2.0, sigma=0.3).sample(30, stream(0, "x"))

    def linear(x):
        return x[..., 0].sum(-1) + 5.0

    whole = GenericGTA(gamma=1.0)(linear, batch, 0, stream(0, "attack"))
    assert linear(whole).abs().max() < 1e-12
    capped = GenericGTA(gamma=1.0, radius=0.1)(linear, batch, 0, stream(0, "attack"))
    assert (capped - batch.x).flatten(1).norm(dim=1).max() <= 0.1 + 1e-12


def test_patch_transplant_sees_what_a_flat_activation_hides():
    """f = Σ_j ⟨w, X[j]⟩³ on a signal patch: gradient ascent from x only shrinks the signal."""
    batch = PatchData(d=6, P=3, alpha=1.0, sigma=0.0).sample(20, stream(0, "x"))

    def loss(x):
        return -batch.y * x[..., 0].pow(3).sum(-1)

    radius = 0.9
    moved = PatchTransplant(radius=radius)(loss, batch, 0, stream(0, "attack"))
    assert (loss(moved) > 0).all()
    assert (moved - batch.x).flatten(1).norm(dim=1).max() <= radius + 1e-12
    stuck = PGD(p=2, radius=radius, steps=20)(loss, batch, 0, stream(0, "attack"))
    assert (loss(stuck) < 0).all()


def test_corners_finds_the_worst_corner():
    @dataclass(frozen=True)
    class Points:
        x: torch.Tensor

    batch = Points(torch.zeros(3, 4).double())

    def loss(x):
        return x[..., 0] * x[..., 1] - x[..., 2] * x[..., 3]

    moved = Corners(radius=0.5)(loss, batch, 0, stream(0, "attack"))
    assert torch.allclose(loss(moved), torch.full((3,), 0.5).double())
    with pytest.raises(ValueError, match="at most 12"):
        Corners(radius=0.5)(loss, Points(torch.zeros(1, 13)), 0, stream(0, "attack"))
