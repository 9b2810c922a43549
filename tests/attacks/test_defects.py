"""Past defects: points outside their set, steps that were not taken, values that are not
numbers."""

import math
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from adversarium.attacks import APGD, FGSM, GTA, PGD, Ball, Corners, GenericGTA, MarginStep
from adversarium.attacks.balls import norm, unit
from adversarium.attacks.gradient import climb, flat
from adversarium.data import PatchData
from adversarium.measure.bracket import CertifiedError
from adversarium.measure.errors import ErrorByRadius, robust_train_error
from adversarium.measure.scene import Scene
from adversarium.networks import CubicCNN
from adversarium.rng import normal, stream, uniform
from adversarium.training import Problem, Recipe, WeightState

NORMS = (1, 2, math.inf)


@dataclass(frozen=True)
class Bare:
    x: Tensor


@dataclass(frozen=True)
class Points:
    x: Tensor
    y: Tensor


def along(w):
    return lambda x: x @ torch.tensor(w, dtype=x.dtype)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
def test_a_boxed_step_along_a_lopsided_gradient_stays_in_its_ball(dtype):
    x = torch.zeros(1, 2, dtype=dtype)
    for small in (1e-12, 1e-30):
        for wall in (0.5, 1e6):
            moved = FGSM(p=2, radius=1.0, box=(-wall, wall))(
                along([1.0, small]), Bare(x), 0, stream(0, "a")
            )
            assert norm(moved, 2, 1) <= 1 + 1e-6
            assert moved[0, 0] == pytest.approx(min(1.0, wall))
    moved = FGSM(p=2, radius=1.0, box=(-0.6, 0.6))(along([1.0, 1e-3]), Bare(x), 0, stream(0, "a"))
    assert moved[0].tolist() == pytest.approx([0.6, 0.6])  # both walls are nearer than the budget
    moved = FGSM(p=2, radius=1.0, box=(-0.6, 0.9))(along([1.0, 1e-3]), Bare(x), 0, stream(0, "a"))
    assert moved[0].tolist() == pytest.approx([0.9, math.sqrt(1 - 0.81)])


@pytest.mark.parametrize("step", (1e3, 1e5, 1e6, 1e12))
def test_an_l1_projection_spends_the_budget_after_a_long_step_in_single_precision(step):
    x = torch.zeros(1, 2)
    moved = PGD(p=1, radius=0.1, steps=1, step=step, normalised=False)(
        along([3.0, 1.0]), Bare(x), 0, stream(0, "a")
    )
    assert torch.allclose(moved, torch.tensor([[0.1, 0.0]]))
    moved = PGD(p=1, radius=0.1, steps=1, step=step, normalised=False, box=(-0.06, 0.06))(
        along([3.0, 1.0]), Bare(x), 0, stream(0, "a")
    )
    assert torch.allclose(moved, torch.tensor([[0.06, 0.04]]), atol=1e-6 + 1e-15 * step)


@pytest.mark.parametrize("size", (1e-300, 1e-80, 1e-40, 1e-12, 1e200))
def test_a_direction_does_not_depend_on_the_size_of_the_gradient(size):
    g = torch.tensor([[3.0, -4.0]]).double()
    assert torch.allclose(unit(size * g), torch.tensor([[0.6, -0.8]]).double())
    batch = Bare(torch.zeros(1, 2).double())
    for attack in (FGSM(p=2, radius=0.5), PGD(p=2, radius=0.5), APGD(p=2, radius=0.5)):
        moved = attack(lambda x: size * along([3.0, -4.0])(x), batch, 0, stream(0, "a"))
        assert norm(moved, 2, 1) == pytest.approx(0.5)
    assert torch.equal(unit(0 * g), 0 * g)


def test_corners_choose_their_signs_patch_by_patch():
    x = torch.zeros(2, 2, 3).double()
    w = torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]]).double()

    def loss(z):
        return (z * w).sum((-1, -2))

    assert torch.equal(loss(Corners(radius=1.0)(loss, Bare(x), 0, stream(0, "a"))),
                       torch.full((2,), 6.0).double())  # fmt: skip
    with pytest.raises(ValueError, match="at most 12"):
        Corners(radius=1.0)(
            lambda z: z.sum((-1, -2)), Bare(torch.zeros(2, 2, 7)), 0, stream(0, "a")
        )
    with pytest.raises(ValueError, match="radius >= 0"):
        Corners(radius=-1.0)


@pytest.mark.parametrize("p", NORMS)
def test_data_that_are_no_numbers_are_refused(p):
    for bad in (math.nan, math.inf):
        x = torch.zeros(2, 3)
        x[1, 1] = bad
        for attack in (FGSM(p=p, radius=0.5), PGD(p=p, radius=0.5), APGD(p=p, radius=0.5)):
            with pytest.raises(ValueError, match="finite"):
                attack(along([1.0, 1.0, 1.0]), Bare(x), 0, stream(0, "a"))


@pytest.mark.parametrize("p", NORMS)
def test_a_loss_that_is_no_number_at_x_does_not_freeze_an_ascent(p):
    def loss(x):
        height = (x - 0.1).sum(-1)
        return torch.where(x.abs().amax(-1) == 0, torch.nan, height)

    batch = Bare(torch.zeros(3, 4).double())
    for attack in (PGD(p=p, radius=0.5, steps=9), APGD(p=p, radius=0.5, steps=9, restarts=1)):
        moved = attack(loss, batch, 0, stream(0, "a"))
        assert (loss(moved) > -0.4 + 0.4).all(), attack


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("box", (None, (-1e3, 1e3)))
def test_points_stay_finite_where_a_loss_overflows(p, box):
    def loss(x):
        return torch.exp(100 * x.sum(-1))

    for dtype in (torch.float32, torch.float64):
        batch = Bare(torch.full((2, 3), 1.0, dtype=dtype))
        common = dict(p=p, radius=9.0, box=box)
        attacks = (
            FGSM(**common),
            PGD(**common),
            PGD(**common, normalised=False, step=1e9),
            APGD(**common),
        )
        for attack in attacks:
            moved = attack(loss, batch, 0, stream(0, "a"))
            assert moved.isfinite().all(), attack
            assert (norm(moved - batch.x, p, 1) <= 9 * (1 + 1e-5)).all()


@pytest.mark.parametrize("p", NORMS)
def test_a_box_is_read_in_the_precision_of_the_data_and_never_left(p):
    x = torch.full((4, 5), 0.6)
    x[:, ::2] = uniform((4, 3), stream(0, "x")).float() * 0.6
    top = float(torch.tensor(0.6))
    for seed in range(4):
        w = normal((5,), stream(seed, "w")).float()
        for attack in (FGSM, PGD, APGD):
            made = attack(p=p, radius=0.3, box=(0.0, 0.6))
            moved = made(lambda z, w=w: z @ w, Bare(x), 0, stream(0, "a"))
            assert moved.min() >= 0 and moved.max() <= top
            assert (norm(moved - x, p, 1) <= 0.3 * (1 + 1e-5)).all()


def test_one_norm_has_one_name():
    for kind in (FGSM, PGD, APGD):
        assert repr(kind(p=1.0, radius=0.5)) == repr(kind(p=1, radius=0.5))
        assert kind(p=2.0, radius=0.5) == kind(p=2, radius=0.5)
    assert repr(Ball(1.0, 0.5)) == repr(Ball(1, 0.5))


def test_a_uniform_start_costs_no_gradient_at_x():
    calls = []

    def loss(x):
        calls.append(x)
        return x.sum(-1)

    batch = Points(torch.zeros(3, 4).double(), torch.ones(3).double())
    PGD(radius=0.5, steps=20, start="uniform")(loss, batch, 0, stream(0, "a"))
    assert len(calls) == 21  # twenty slopes and the value at the end
    assert not any(torch.equal(x, batch.x) for x in calls)


def test_a_generic_transfer_attack_stays_where_the_gradient_vanishes():
    for dtype in (torch.float32, torch.float64):
        batch = Bare(torch.ones(2, 3, dtype=dtype))
        for literal in (False, True):
            attack = GenericGTA(gamma=1.0, paper_literal=literal)
            moved = attack(lambda x: 5 + 0 * x.sum(-1), batch, 0, stream(0, "a"))
            assert torch.equal(moved, batch.x)


def test_a_loss_without_a_gradient_is_told_in_a_sentence():
    book = torch.arange(5.0)
    batch = Bare(torch.rand(3, 1))

    def loss(x):
        return book[(x[:, 0, None] - book).abs().argmin(-1)]

    for attack in (FGSM(radius=1.0), PGD(radius=1.0), APGD(radius=1.0)):
        with pytest.raises(TypeError, match="needs the gradient of the loss in x"):
            attack(loss, batch, 0, stream(0, "a"))
    with pytest.raises(TypeError, match="needs the gradient of the loss in x"):
        climb(lambda x: torch.ones(3, requires_grad=True) * 1, batch.x)


def test_vanished_gradients_are_seen():
    x = torch.tensor([[0.0], [0.099], [0.5]]).double()
    assert flat(lambda z: (10 * z[..., 0]).clamp(-1, 1) + 2, x, math.inf, 0.3).tolist() == [
        False,
        False,
        True,
    ]
    assert flat(lambda z: torch.exp(-1e-9 * z[..., 0]), x, 2, 0.3).all()
    assert not flat(lambda z: z[..., 0], x, 2, 0.0).any()  # a ball of radius 0 hides nothing


def _cubic(attack, seeds=(0, 1)):
    data = PatchData(d=4, P=2, alpha=1.0, sigma=0.1)
    problem = Problem(
        data, CubicCNN(m=2, sigma0=0.5), attack, Recipe(n=20, steps=1, eta=0.1), seeds
    )
    return WeightState(problem, 0, problem.W0), Scene(problem)


def test_an_attack_without_a_ball_cannot_be_certified():
    state, scene = _cubic(GTA(gamma=1.0))
    assert (robust_train_error(state, scene) > 0).any()
    with pytest.raises(TypeError, match="got GTA without one"):
        CertifiedError()(state, scene)
    capped, scene = _cubic(GenericGTA(gamma=1.0, radius=0.3))
    assert (CertifiedError()(capped, scene) >= robust_train_error(capped, scene)).all()


def test_errors_by_radius_keep_every_broken_point():
    @dataclass(frozen=True)
    class Blinking:
        """An attack on the first half of the points at a small radius, on the others at a large
        one."""

        radius: float

        @property
        def ball(self):
            return Ball(math.inf, 1e9)

        def __call__(self, loss, batch, t, rng):
            first = torch.arange(batch.x.shape[1]) < batch.x.shape[1] // 2
            chosen = first if self.radius < 1 else ~first
            W_hates = -1e4 * batch.y[..., None, None] * torch.ones_like(batch.x)
            best, height = batch.x, loss(batch.x)
            for z in (W_hates, -W_hates):
                higher = (loss(z) > height) & chosen
                best = torch.where(higher[..., None, None], z, best)
                height = torch.where(higher, loss(z), height)
            return best

    state, scene = _cubic(None)
    probe = ErrorByRadius(attacks=(Blinking(radius=1.0),), radii=(0.5, 2.0), n=20, name="a")
    low, high = probe(state, scene)["a"].values[0].tolist()
    alone = replace(probe, radii=(2.0,))(state, scene)["a"].values[0].item()
    assert high == 1.0 and alone < 1 and low < 1


def test_a_margin_step_refuses_what_is_no_number_and_is_otherwise_as_it_was():
    x = normal((3, 2, 4), stream(0, "x"))
    moved = MarginStep(radius=0.5, step=0.1)(lambda z: (z**2).sum((-1, -2)), Bare(x), 0,
                                              stream(0, "a"))  # fmt: skip
    assert torch.equal(moved, x + (0.1 * 2 * x).clamp(-0.5, 0.5))
    with pytest.raises(ValueError, match="finite"):
        MarginStep(radius=0.5, step=0.1)(along([1.0]), Bare(x * math.nan), 0, stream(0, "a"))
