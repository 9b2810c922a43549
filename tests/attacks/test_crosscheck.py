"""Compare our strong suite with foolbox and AutoAttack on small networks, with and without vanished
gradients, and on our own networks: all of them together must not be stronger by more than one
percentage point. Also compare it with exact maxima where these are known."""

import math
import warnings
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor, nn

from adversarium.attacks import GTA, MarginStep, strong_attacks
from adversarium.attacks.balls import norm as length
from adversarium.data import Clusters, PatchData, TwoFeaturePatches
from adversarium.data.batches import stack
from adversarium.measure.errors import worst_margin
from adversarium.networks import CubicCNN, SmoothedCNN, TwoLayer
from adversarium.rng import normal, stream, streams, torch_seeded, uniform
from adversarium.training import Problem, Recipe, train
from adversarium.training.engines import choose
from adversarium.training.objectives import Risk, loss_map, margin

NORMS = {"Linf": math.inf, "L2": 2, "L1": 1}
RADII = {"Linf": 0.12, "L2": 0.4, "L1": 1.0}
N = 100
STEPS = 20


@dataclass(frozen=True)
class Points:
    x: Tensor
    y: Tensor


def blobs(k: int) -> tuple[Tensor, Tensor]:
    """Return k blobs in the unit cube of R¹⁶."""
    rng = stream(k, "crosscheck")
    centres = 0.25 + 0.5 * uniform((k, 16), rng)
    y = torch.arange(400 + N) % k
    return (centres[y] + 0.16 * normal((400 + N, 16), rng)).clamp(0, 1).float(), y


@cache
def trained(k: int) -> tuple[nn.Module, Points]:
    """Return a small network, trained for a short time on k blobs, and its test points."""
    x, y = blobs(k)
    with torch_seeded(stream(k, "net")):
        net = nn.Sequential(
            nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, k)
        )
    return fitted(net, k, 150), Points(x[:N], y[:N])


def fitted(net: nn.Module, k: int, steps: int) -> nn.Module:
    """Return the network, trained on the other points."""
    x, y = blobs(k)
    optimiser = torch.optim.Adam(net.parameters(), 5e-3)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x[N:]), y[N:]).backward()
        optimiser.step()
    net.requires_grad_(False)
    return net.eval()


def ours(net: nn.Module, points: Points, p: float, radius: float, k: int, scalar: bool) -> int:
    """Return how many points our suite does not misclassify; only these go to the next attack."""

    def f(x):
        F = net(x)
        return F[..., 1] - F[..., 0] if scalar else F

    y = 2.0 * points.y - 1 if scalar else points.y
    alive = margin(f(points.x), y) > 0
    for attack in strong_attacks(p, radius, k, box=(0.0, 1.0), steps=STEPS):
        if not alive.any():
            break
        batch = stack([Points(points.x[alive], y[alive])])
        loss = loss_map(attack.loss, f, batch.x, batch.y, Risk())
        moved = attack(loss, batch, 0, streams((0,), "attack"))
        assert moved.min() >= 0 and moved.max() <= 1
        assert (length(moved - batch.x, p, 2) <= radius * (1 + 1e-5)).all()
        alive[alive.clone()] = (margin(f(moved), batch.y) > 0)[0]
    return int(alive.sum())


def peers(net: nn.Module, points: Points, norm: str, radius: float) -> int:
    """Count the points that survive AutoAttack's untargeted parts and foolbox, within the ball."""
    D = points.x.shape[-1]
    side = math.isqrt(D)
    image = points.x.view(-1, 1, side, side) if side * side == D else points.x.view(-1, 1, 1, D)
    alive = net(points.x).argmax(-1) == points.y
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        for moved in (*_autoattack(_Flat(net), image, points.y, norm, radius),
                      *_foolbox(net, points, norm, radius)):  # fmt: skip
            moved = moved.flatten(1)
            inside = (moved - points.x).norm(NORMS[norm], dim=-1) <= radius * (1 + 1e-4)
            alive &= (net(moved).argmax(-1) == points.y) | ~inside
    return int(alive.sum())


def _autoattack(model: nn.Module, image: Tensor, y: Tensor, norm: str, radius: float):
    from pyautoattack.autopgd_base import APGDAttack
    from pyautoattack.fab_pt import FABAttack_PT
    from pyautoattack.square import SquareAttack

    common = dict(eps=radius, norm=norm, seed=0, verbose=False, device="cpu")
    yield APGDAttack(model, n_restarts=2, n_iter=50, loss="ce", **common).perturb(image, y)
    yield FABAttack_PT(model, n_restarts=1, n_iter=50, **common).perturb(image, y)
    if norm == "Linf":  # for the other norms it needs larger images
        yield SquareAttack(model, n_queries=300, **common).perturb(image, y)


def _foolbox(net: nn.Module, points: Points, norm: str, radius: float):
    import foolbox

    kinds = {
        "Linf": (foolbox.attacks.LinfPGD,),
        "L2": (foolbox.attacks.L2PGD, foolbox.attacks.DDNAttack),
        "L1": (foolbox.attacks.L1PGD,),
    }
    model = foolbox.PyTorchModel(net.eval(), bounds=(0, 1), device="cpu")
    for kind in kinds[norm]:
        with torch_seeded(stream(0, "foolbox")):
            yield kind(steps=50)(model, points.x, points.y, epsilons=radius)[1]


class _Flat(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x.flatten(1))


class _Plain(nn.Module):
    """A function as a module."""

    def __init__(self, f) -> None:
        super().__init__()
        self.f = f

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("k", (2, 3))
def test_our_suite_is_not_weaker_than_foolbox_and_autoattack(norm, k):
    net, points = trained(k)
    radius = RADII[norm]
    survivors = ours(net, points, NORMS[norm], radius, k, scalar=False)
    clean = int((net(points.x).argmax(-1) == points.y).sum())
    strongest = peers(net, points, norm, radius)
    assert 0.05 * N < strongest < 0.95 * clean, "the comparison must be neither trivial nor lost"
    assert survivors <= strongest + 1


@pytest.mark.parametrize("norm", NORMS)
def test_a_scalar_classifier_is_attacked_as_well_as_its_two_logits(norm):
    net, points = trained(2)
    some = Points(points.x[:40], points.y[:40])
    two = ours(net, some, NORMS[norm], RADII[norm], 2, scalar=False)
    one = ours(net, some, NORMS[norm], RADII[norm], 2, scalar=True)
    assert abs(one - two) <= 1


def hard_sigmoids() -> nn.Module:
    with torch_seeded(stream(5, "hard")):
        net = nn.Sequential(
            nn.Linear(16, 32),
            nn.Hardsigmoid(),
            nn.Linear(32, 32),
            nn.Hardsigmoid(),
            nn.Linear(32, 3),
        )
        for layer in net[::2]:
            layer.weight.data.mul_(3.0)
    return fitted(net, 3, 300)


def dead_zones() -> nn.Module:
    """Make most hidden units inactive at most points, by thresholds raised after training."""
    with torch_seeded(stream(6, "dead")):
        net = fitted(nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3)), 3, 300)
    net[0].bias.data -= 0.8 * net[0](trained(3)[1].x).std(0)
    return net


VANISHED = {
    "softmax": lambda: _Plain(lambda x: (12 * trained(3)[0](x)).softmax(-1)),
    "logits times 1e4": lambda: _Plain(lambda x: 1e4 * trained(3)[0](x)),
    "clipped": lambda: _Plain(
        lambda x: (3 * (F := trained(3)[0](x)) - 3 * F.mean(-1, keepdim=True)).clamp(-1, 1)
    ),
    "rounded input": lambda: _Plain(lambda x: trained(3)[0]((6 * x).round() / 6)),
    "hard sigmoids": hard_sigmoids,
    "dead zones": dead_zones,
}


@pytest.mark.parametrize(
    ("kind", "norm"),
    [
        ("softmax", "L1"),
        ("logits times 1e4", "Linf"),
        ("clipped", "L2"),
        ("rounded input", "Linf"),
        ("hard sigmoids", "L1"),
        ("dead zones", "L2"),
    ],
)
def test_vanished_gradients_do_not_hide_what_others_find(kind, norm):
    net, points = VANISHED[kind]().eval(), trained(3)[1]
    survivors = ours(net, points, NORMS[norm], RADII[norm], 3, scalar=False)
    assert survivors <= peers(net, points, norm, RADII[norm]) + 1


def test_what_survives_where_gradients_vanish_is_what_survives_where_they_do_not():
    """A softmax does not change decisions, so the suite must give the same result."""
    net, points = trained(3)
    some = Points(points.x[:40], points.y[:40])
    both = (net, VANISHED["softmax"]())
    plain, hidden = (ours(f, some, math.inf, RADII["Linf"], 3, scalar=False) for f in both)
    assert abs(plain - hidden) <= 1


LAB = {
    "RNRF standard": (TwoFeaturePatches(d=30, P=6), SmoothedCNN(m=20), None, 60, 500, 0.1),
    "RNRF adversarial": (
        TwoFeaturePatches(d=30, P=6),
        SmoothedCNN(m=20),
        MarginStep(radius=1.2, step=600, over=60),
        60,
        500,
        0.1,
    ),
    "BOAT": (Clusters(d=20, mu=1.0), TwoLayer(m=40), None, 60, 200, 0.5),
    "CGRO": (
        PatchData(d=60, P=4, alpha=2.5, sigma=0.1),
        CubicCNN(m=8, sigma0=0.05),
        GTA(gamma=0.8),
        8,
        1000,
        0.05,
    ),
}


@pytest.mark.parametrize(
    ("name", "norm", "radius"),
    [
        ("RNRF standard", "Linf", 0.35),
        ("RNRF adversarial", "L2", 1.0),
        ("BOAT", "L1", 1.5),
        ("CGRO", "L2", 1.2),
    ],
)
def test_the_laboratorys_own_networks_are_attacked_as_well_as_others_do(name, norm, radius):
    data, network, attack, n, steps, eta = LAB[name]
    problem = Problem(data, network, attack, Recipe(n=n, steps=steps, eta=eta), (0,))
    engine, _ = choose(data, network, attack, problem.recipe)
    *_, last = train(engine, (problem,))
    (state,) = engine.split(last)
    batch = problem.draw(data, N, "test")
    suite = strong_attacks(NORMS[norm], radius, data.k, steps=STEPS)
    survivors = int((worst_margin(state, batch, suite) > 0).sum())
    W, wide = state.full.W[0], 8.0  # the peers want the unit cube

    def logits(u: Tensor) -> Tensor:
        F = network.f(W, (2 * wide * u.double() - wide).view(-1, *data.shape))
        return (F if data.k > 1 else torch.stack([-F, F], -1)).float()

    unit = Points(((batch.x[0].flatten(1) + wide) / (2 * wide)).float(), (batch.y[0] > 0).long())
    strongest = peers(_Plain(logits).eval(), unit, norm, radius / (2 * wide))
    assert survivors <= strongest + 1


@pytest.mark.parametrize("norm", NORMS)
def test_in_the_plane_the_suite_finds_what_a_fine_grid_finds(norm):
    x, p, radius = 2 * normal((80, 2), stream(0, "x")), NORMS[norm], 0.4

    def loss(z):  # arms of a spiral
        return torch.sin(3 * z.norm(dim=-1) + torch.atan2(z[..., 1], z[..., 0])) - 0.6

    grid = torch.cartesian_prod(*2 * (torch.linspace(-radius, radius, 61).double(),))
    inside = grid[grid.norm(p, dim=-1) <= radius]
    exact = (loss(x[:, None] + inside) > 0).any(-1)
    found = loss(x) > 0
    for attack in strong_attacks(p, radius, 1, steps=STEPS):
        found |= loss(attack(loss, Points(x, torch.ones(80)), 0, stream(0, "attack"))) > 0
    assert 5 < exact.sum() < 75
    assert not (exact & ~found).any()


def test_on_a_quadratic_the_suite_reaches_the_exact_maximum_in_l2():
    """max of z'Az + b'z + c over a ball: the secular equation has the answer."""
    d, radius = 8, 0.7
    A = normal((d, d), stream(0, "A"))
    A, b = (A + A.T) / 2, normal((d,), stream(1, "b"))
    x = normal((100, d), stream(2, "x"))

    def loss(z):
        return torch.einsum("...i,ij,...j->...", z, A, z) + z @ b - 4.0

    values, Q = torch.linalg.eigh(A)
    slope = (2 * x @ A + b) @ Q
    low, high = values[-1] + 1e-12, values[-1] + 1e4
    low, high = low.expand(100), high.expand(100)
    for _ in range(200):  # δ = (2(μ − A))⁻¹ slope has length radius
        mu = (low + high) / 2
        length = (slope / (2 * (mu[:, None] - values))).norm(dim=-1)
        low, high = torch.where(length > radius, mu, low), torch.where(length > radius, high, mu)
    exact = loss(x + (slope / (2 * (high[:, None] - values))) @ Q.T) > 0
    found = loss(x) > 0
    for attack in strong_attacks(2, radius, 1, steps=STEPS):
        found |= loss(attack(loss, Points(x, torch.ones(100)), 0, stream(0, "attack"))) > 0
    assert 5 < exact.sum() < 95
    assert not (exact & ~found).any() and not (found & ~exact).any()
