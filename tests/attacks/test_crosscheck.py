"""Our strong suite against foolbox and AutoAttack on small trained nets: never weaker than the
stronger of them by more than one example in two hundred."""

import math
import warnings
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor, nn

from adversarium.attacks import strong_attacks
from adversarium.data.batches import stack
from adversarium.rng import normal, stream, streams, torch_seeded, uniform
from adversarium.training.objectives import Risk, loss_map, margin

NORMS = {"Linf": math.inf, "L2": 2, "L1": 1}
RADII = {"Linf": 0.12, "L2": 0.4, "L1": 1.0}
N = 200


@dataclass(frozen=True)
class Points:
    x: Tensor
    y: Tensor


@cache
def trained(k: int) -> tuple[nn.Module, Points]:
    """A small net on k blobs of the unit cube in R¹⁶, trained for a moment, and its test points."""
    rng = stream(k, "crosscheck")
    centres = 0.25 + 0.5 * uniform((k, 16), rng)
    y = torch.arange(600) % k
    x = (centres[y] + 0.16 * normal((600, 16), rng)).clamp(0, 1).float()
    with torch_seeded(rng):
        net = nn.Sequential(
            nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, k)
        )
    optimiser = torch.optim.Adam(net.parameters(), 5e-3)
    for _ in range(150):
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x[N:]), y[N:]).backward()
        optimiser.step()
    net.requires_grad_(False)
    return net.eval(), Points(x[:N], y[:N])


def ours(net: nn.Module, points: Points, p: float, radius: float, k: int, scalar: bool) -> int:
    """How many points survive our suite."""
    batch = stack([points])
    if scalar:

        def f(x):
            F = net(x)
            return F[..., 1] - F[..., 0]

        batch = stack([Points(points.x, 2.0 * points.y - 1)])
    else:
        f = net
    worst = margin(f(batch.x), batch.y)
    for attack in strong_attacks(p, radius, k, box=(0.0, 1.0)):
        loss = loss_map(attack.loss, f, batch.x, batch.y, Risk())
        moved = attack(loss, batch, 0, streams((0,), "attack"))
        assert moved.min() >= 0 and moved.max() <= 1
        worst = torch.minimum(worst, margin(f(moved), batch.y))
    return int((worst > 0).sum())


def autoattack(net: nn.Module, points: Points, norm: str, radius: float) -> int:
    """Survivors of AutoAttack's parts (its targeted ones need four classes and more)."""
    from pyautoattack.autopgd_base import APGDAttack
    from pyautoattack.fab_pt import FABAttack_PT
    from pyautoattack.square import SquareAttack

    model, image = _Flat(net), points.x.view(-1, 1, 4, 4)
    common = dict(eps=radius, norm=norm, seed=0, verbose=False, device="cpu")
    parts = [
        APGDAttack(model, n_restarts=5, n_iter=100, loss="ce", **common),
        FABAttack_PT(model, n_restarts=2, n_iter=60, **common),
    ]
    if norm == "Linf":  # for the other norms it needs larger images
        parts.append(SquareAttack(model, n_queries=500, **common))
    alive = net(points.x).argmax(-1) == points.y
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        for part in parts:
            moved = part.perturb(image, points.y).flatten(1)
            inside = (moved - points.x).norm(NORMS[norm], dim=-1) <= radius * (1 + 1e-4)
            alive &= (model(moved).argmax(-1) == points.y) | ~inside
    return int(alive.sum())


class _Flat(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x.flatten(1))


def foolbox_pgd(net: nn.Module, points: Points, norm: str, radius: float) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import foolbox

        kinds = {
            "Linf": foolbox.attacks.LinfPGD,
            "L2": foolbox.attacks.L2PGD,
            "L1": foolbox.attacks.L1PGD,
        }
        with torch_seeded(stream(0, "foolbox")), torch.enable_grad():
            model = foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu")
            _, _, broken = kinds[norm](steps=100)(model, points.x, points.y, epsilons=radius)
    right = net(points.x).argmax(-1) == points.y
    return int((right & ~broken).sum())


@pytest.mark.slow
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("k", (2, 3))
def test_our_suite_is_not_weaker_than_foolbox_and_autoattack(norm, k):
    net, points = trained(k)
    radius = RADII[norm]
    survivors = ours(net, points, NORMS[norm], radius, k, scalar=False)
    clean = int((net(points.x).argmax(-1) == points.y).sum())
    strongest = min(autoattack(net, points, norm, radius), foolbox_pgd(net, points, norm, radius))
    assert 0.05 * N < strongest < 0.95 * clean, "the comparison must be neither trivial nor lost"
    assert survivors <= strongest + N // 200


@pytest.mark.parametrize("norm", NORMS)
def test_a_scalar_classifier_is_attacked_as_well_as_its_two_logits(norm):
    net, points = trained(2)
    two = ours(net, points, NORMS[norm], RADII[norm], 2, scalar=False)
    one = ours(net, points, NORMS[norm], RADII[norm], 2, scalar=True)
    assert abs(one - two) <= 1
