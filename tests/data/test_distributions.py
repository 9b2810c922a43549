"""Distributions, tested with a fixed seed and with a negative control that the same test
rejects."""

import math
from dataclasses import replace

import pytest
import torch

from adversarium.data import (
    Clusters,
    Digits,
    HyperplaneCells,
    MarginMixture,
    PatchData,
    SpherePoints,
    TwoFeaturePatches,
)
from adversarium.data.batches import gathered, moved, stack
from adversarium.data.sphere import half_angle
from adversarium.rng import stream
from adversarium.sockets import Batch, DataSet, Distribution, Named, Structured


def patch_law(batch, alpha, sigma) -> bool:
    """The signal patch is α y e₁; the others are N(0, σ²) off e₁ and 0 on it."""
    n, P, _ = batch.x.shape
    rows = torch.arange(n)
    signal = batch.x[rows, batch.signal]
    noise = batch.x[torch.arange(P)[None] != batch.signal[:, None]]
    return bool(
        torch.equal(signal[:, 0], alpha * batch.y)
        and signal[:, 1:].abs().max() == 0
        and noise[:, 0].abs().max() == 0
        and abs(float(noise[:, 1:].std()) / sigma - 1) < 0.02
        and abs(float(batch.y.mean())) < 4 / math.sqrt(n)
    )


def test_patch_data_has_its_law():
    batch = PatchData(d=30, P=4, alpha=2.0, sigma=0.3).sample(2000, stream(0, "train"))
    assert patch_law(batch, 2.0, 0.3)
    assert batch.signal.unique().tolist() == [0, 1, 2, 3]
    assert not patch_law(replace(batch, y=-batch.y), 2.0, 0.3)
    assert not patch_law(replace(batch, x=1.1 * batch.x), 2.0, 0.3)


def two_feature_law(data, batch) -> bool:
    clean = batch.x - batch.noise
    feature = torch.where(
        batch.is_robust[..., None], data.U[batch.y][:, None], data.V[batch.y][:, None]
    )
    return bool(
        torch.allclose(clean, batch.strength[..., None] * feature, atol=1e-12)
        and (batch.is_robust.sum(-1) == data.n_robust).all()
        and abs(float(batch.noise.std()) / data.sigma_n - 1) < 0.02
    )


@pytest.mark.parametrize("strengths", ("constant", "uniform", "lognormal"))
def test_two_feature_patches_have_their_law(strengths):
    data = TwoFeaturePatches(k=3, d=20, P=6, n_robust=2, strengths=strengths, spread=0.2)
    batch = data.sample(1500, stream(0, "train"))
    assert two_feature_law(data, batch)
    assert abs(float(batch.strength[batch.is_robust].mean()) / data.alpha - 1) < 0.02
    assert not two_feature_law(data, replace(batch, y=(batch.y + 1) % 3))
    assert not two_feature_law(data, replace(batch, is_robust=~batch.is_robust))
    assert abs(float(batch.is_robust[:, 0].double().mean()) - 1 / 3) < 0.05


def test_features_are_orthonormal_axes():
    data = TwoFeaturePatches(k=3, d=10)
    F = torch.cat([data.U, data.V])
    assert torch.equal(F @ F.mT, torch.eye(6).double())
    assert (F.abs().amax(-1) == 1).all()


def test_clusters_have_their_mean_and_flip_rate():
    batch = Clusters(d=50, mu=3.0, beta=0.2).sample(4000, stream(0, "train"))
    assert abs(float((batch.clean_y * batch.x[:, 0]).mean()) - 3) < 0.07
    assert abs(float(batch.x[:, 1:].std()) - 1) < 0.01
    assert abs(float((batch.y != batch.clean_y).double().mean()) - 0.2) < 0.02
    assert not torch.equal(batch.y, batch.clean_y)


@pytest.mark.parametrize("d", (2, 5))
def test_sphere_points_are_separated_and_their_sets_lie_in_the_caps(d):
    data = SpherePoints(d=d, radius=0.3, K=7)
    batch = data.sample(4, stream(0, "train"))
    assert torch.allclose(batch.options.norm(dim=-1), torch.ones(4, 7).double())
    assert torch.allclose(batch.options[:, 0], batch.x)
    chord = (batch.options - batch.x[:, None]).norm(dim=-1)
    assert chord.max() <= 0.3 + 1e-12
    assert (chord > 0.3 - 1e-12).sum() == 4 * 3  # the rim
    angle = torch.arccos((batch.x @ batch.x.mT).clamp(-1, 1)) + 10 * torch.eye(4)
    assert angle.min() > 2 * half_angle(0.3)
    with pytest.raises(ValueError, match="fewer points"):
        SpherePoints(d=2, radius=1.2).sample(9, stream(0, "train"))


def test_digits_split_without_overlap_and_are_in_the_unit_box():
    data = Digits(n_test=500)
    train = data.sample(1297, stream(0, "train"))
    test = data.held_out.sample(500, stream(0, "test"))
    assert train.x.min() == 0 and train.x.max() == 1
    seen = {bytes(x.numpy().tobytes()) for x in train.x}
    assert sum(x.numpy().tobytes() in seen for x in test.x) <= 3  # the set itself has twins
    assert torch.bincount(torch.cat([train.y, test.y])).tolist() == [
        178,
        182,
        177,
        183,
        181,
        182,
        181,
        179,
        174,
        180,
    ]
    with pytest.raises(ValueError, match="1297"):
        data.sample(1298, stream(0, "train"))


@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (lambda: TwoFeaturePatches(k=3, d=5), "d >= 2k"),
        (lambda: TwoFeaturePatches(P=4, n_robust=4), "n_robust < P"),
        (lambda: TwoFeaturePatches(alpha=-1), "alpha"),
        (lambda: PatchData(d=1, P=3, alpha=1, sigma=1), "d >= 2"),
        (lambda: PatchData(d=10, P=3, alpha=0, sigma=1), "alpha > 0"),
        (lambda: Clusters(d=10, mu=1.0, beta=0.5), "1/2"),
        (lambda: SpherePoints(radius=2.5), "radius < 2"),
        (lambda: Digits(n_test=0), "n_test"),
    ],
)
def test_impossible_data_are_refused_with_a_reason(make, needed):
    with pytest.raises(ValueError, match=needed):
        make()


EVERY = (
    Clusters(d=5, mu=2.0),
    Digits(),
    HyperplaneCells(D=4),
    MarginMixture(d=3, alpha=2.0),
    PatchData(d=3, P=2, alpha=1.0, sigma=0.1),
    SpherePoints(),
    TwoFeaturePatches(k=2, d=4, P=3),
)


@pytest.mark.parametrize("data", EVERY, ids=lambda data: type(data).__name__)
def test_every_distribution_fits_its_socket(data):
    batch = data.sample(2, stream(0, "train"))
    assert isinstance(data, Distribution) and isinstance(batch, Batch)
    assert batch.x.shape[1:] == data.shape
    assert batch.y.is_floating_point() == (data.k == 1)
    assert isinstance(data, DataSet) == isinstance(data, Digits)


@pytest.mark.parametrize("data", EVERY, ids=lambda data: type(data).__name__)
def test_a_batch_depends_on_nothing_but_its_stream(data):
    first, again, other = (data.sample(4, stream(seed, "train")) for seed in (3, 3, 4))
    for name in type(first).__dataclass_fields__:
        one, two = getattr(first, name), getattr(again, name)
        assert not isinstance(one, torch.Tensor) or torch.equal(one, two), name
    assert not torch.equal(first.x, other.x)


def test_structured_data_know_their_budget():
    budgets = {type(d).__name__: d.budget for d in EVERY if isinstance(d, Structured)}
    assert budgets == {
        "Clusters": (2, 2.0),
        "MarginMixture": (2, 2.0),
        "PatchData": (2, 1.0),
        "TwoFeaturePatches": (math.inf, 1.0),
    }


def test_patch_data_name_the_transfer_attack_in_l2_alone():
    data = PatchData(d=3, P=2, alpha=2.0, sigma=0.1)
    batch = data.sample(2, stream(0, "train"))
    assert data.model_free(batch, 2, 0.5) == {"GTA": Named("GTA", {"gamma": 0.25})}
    assert data.model_free(batch, 2, 9.0) == {"GTA": Named("GTA", {"gamma": 1.0})}
    assert data.model_free(batch, math.inf, 0.5) == {}
    assert data.ceiling(2, 9.0) == 1


def test_two_feature_patches_name_what_their_strengths_allow():
    data = TwoFeaturePatches(k=3, d=8, P=4, alpha=3.0, beta=1.0)
    batch = data.sample(5, stream(0, "train"))
    free, collide, universal = (
        "model-free (Thm 4.3 of RNRF)",
        "collision list",
        "universal −εu_y + εu_j",
    )
    assert list(data.model_free(batch, math.inf, 0.9)) == [universal]
    assert list(data.model_free(batch, math.inf, 1.0)) == [free, universal]
    all_three = data.model_free(batch, math.inf, 1.5)
    assert all_three == {
        free: Named("FeatureReplacement", {"radius": 1.5, "k": 3}),
        collide: Named("FeatureCollision", {"radius": 1.5, "k": 3, "alpha": 3.0}),
        universal: Named("UniversalFeature", {"radius": 1.5, "k": 3}),
    }
    assert list(data.model_free(batch, math.inf, 3.1)) == [free, universal]
    spread = replace(data, strengths="uniform", spread=0.1)
    wide = spread.sample(5, stream(0, "train"))
    assert list(spread.model_free(wide, math.inf, 1.5)) == [free, universal]
    assert data.model_free(batch, 2, 1.5) == {}
    with pytest.raises(TypeError, match="latent variables"):
        data.model_free(Clusters(d=3, mu=1.0).sample(2, stream(0, "train")), math.inf, 1.0)
    assert [data.ceiling(math.inf, r) for r in (1.4, 1.5)] == [1, 1 / 3]
    assert data.ceiling(2, 1.5) == spread.ceiling(math.inf, 1.5) == 1


def test_named_attacks_are_the_public_ones_with_their_fields():
    import adversarium.attacks as attacks

    (two,) = (data for data in EVERY if type(data) is TwoFeaturePatches)
    patches = next(data for data in EVERY if type(data) is PatchData)
    named = [*two.model_free(two.sample(4, stream(0, "train")), math.inf, 1.0).values()]
    named += patches.model_free(patches.sample(4, stream(0, "train")), 2, 0.5).values()
    assert len(named) == 4
    for attack in named:
        assert callable(getattr(attacks, attack.part)(**attack.fields))


def test_batches_stack_move_and_select():
    data = PatchData(d=5, P=3, alpha=1.0, sigma=0.1)
    whole = stack([data.sample(6, stream(s, "train")) for s in (0, 1)])
    assert whole.x.shape == (2, 6, 3, 5)
    half = moved(whole, "cpu", torch.float32)
    assert half.x.dtype == torch.float32 and half.signal.dtype == torch.int64
    picked = gathered(whole, torch.tensor([[0, 1], [5, 4]]))
    assert torch.equal(picked.x[1], whole.x[1, [5, 4]])
