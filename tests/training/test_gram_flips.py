"""K c from the units that changed sign: the algebra on a CPU, the kernels on CUDA."""

import pytest
import torch

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import LeakyReLU, Perceptron, TwoLayer
from adversarium.rng import normal, stream
from adversarium.training import Problem, Recipe
from adversarium.training.engines import gram_attack, gram_kernels
from tests.training.cases import final

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
NETWORKS = (
    Perceptron(m=48),
    Perceptron(m=48, activation=LeakyReLU(0.3)),
    TwoLayer(m=48, omega=0.05),
)


def products(share):
    """Return the factors of a product, and slopes of which a share changes in each of a few
    steps."""
    rng = stream(0, "flips")
    W, a, y = normal((3, 40, 30), rng), normal((3, 1, 40), rng), normal((3, 7, 1), rng).sign()
    on = normal((3, 7, 40), rng) > 0
    slopes = []
    for _ in range(6):
        slopes.append(torch.where(on, 1.0, 0.25).double())
        on = on ^ (torch.rand(on.shape, generator=rng) < share)
    return W @ W.mT, a, -y, slopes


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5])
def test_flips_add_up_to_the_product(share):
    K, a, side, slopes = products(share)
    flips = gram_attack.by_flips(K, a, side)
    for slope in slopes:
        exact = (slope * (side * a)) @ K
        assert torch.allclose(flips(slope), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("network", NETWORKS)
def test_flips_train_as_products_do(network, monkeypatch):
    by = PGD(p=2, radius=0.5, steps=20, step=0.1)
    problem = Problem(Clusters(d=60, mu=4.0), network, by, Recipe(n=20, steps=20, eta=0.1), (0, 1))
    plain = final("gram", problem)
    monkeypatch.setattr(gram_attack, "WIDE", 1)
    flips = final("gram", problem)
    assert torch.allclose(flips.K, plain.K, rtol=1e-9, atol=1e-12)
    assert torch.allclose(flips.x_adv, plain.x_adv, rtol=1e-9, atol=1e-12)


@cuda
@pytest.mark.parametrize("network", NETWORKS)
def test_the_kernels_train_as_double_precision_does(network):
    by = PGD(p=2, radius=0.5, steps=20, step=0.1, best=False, after=1)
    given = Clusters(d=300, mu=4.0), network, by, Recipe(n=20, steps=20, eta=0.1), (0, 1)
    fast = final("gram", Problem(*given, device="cuda", dtype=torch.float32))
    exact = final("gram", Problem(*given))
    assert gram_kernels.serves(fast.K)
    assert torch.allclose(fast.risk().cpu().double(), exact.risk(), rtol=1e-3)
    assert off(fast.K, exact.K) < 1e-3 and off(fast.full.f(fast.problem.train.x),
                                               exact.f(exact.problem.train.x)) < 1e-3  # fmt: skip


def off(made, exact):
    """Return the relative distance."""
    return float((made.cpu() - exact).norm() / exact.norm())


@cuda
def test_an_attack_by_kernel_is_the_plain_one():
    rng = stream(0, "kernel")
    S, n, m = 3, 7, 130
    W, x, a = normal((S, m, 90), rng), normal((S, n, 90), rng), normal((S, 1, m), rng) / m
    y = normal((S, n), rng).sign()
    radius, stride = torch.full((S, 1, 1), 2.0), torch.full((S, 1, 1), 0.4)
    K, H = W @ W.mT, x @ W.mT
    top = gram_attack.Top(a, torch.zeros(S, 1, m), torch.zeros(S, 1))
    by = PGD(p=2, radius=2.0, steps=20, step=0.4, best=False)
    E, KE = gram_attack.climbed(Perceptron(m=m), K, H, top, y, by, radius, stride)
    made = gram_kernels.climb(*(t.float().cuda() for t in (K, H, a, y, radius, stride)), by.steps)
    assert off(made[1], KE) < 1e-5 and off(made[0], E) < 1e-5


@cuda
def test_products_with_patterns_are_single_precision():
    rng = stream(0, "products")
    on, Z, a = normal((2, 70, 130), rng) > 0, normal((2, 70, 130), rng), normal((2, 1, 130), rng)
    base, pull = normal((2, 130, 130), rng), 1e-6 * normal((2, 70, 1), rng)
    base = base + base.mT
    U = (on * a).mT @ (pull * Z)
    fast = [t.float().cuda() for t in (0 * base, on, pull, Z, a)]

    def made(mirrored, rough=False):
        return gram_kernels.plus_outer(*fast, mirrored=mirrored, rough=rough)

    assert off(made(mirrored=True), U + U.mT) < 3e-6
    assert off(made(mirrored=False), U) < 3e-6
    assert off(made(mirrored=False, rough=True), U) < 1e-3
    fast[0] = base.float().cuda()
    assert off(made(mirrored=True), base + U + U.mT) < 1e-6


@cuda
def test_what_is_looked_at_by_kernel_is_what_the_network_says():
    rng = stream(0, "look")
    H, KE = normal((2, 7, 130), rng), normal((2, 7, 130), rng)
    a, b, c = normal((2, 1, 130), rng), normal((2, 1, 130), rng), normal((2, 1), rng)
    h = H + KE
    exact = h - b, h.clamp_min(0), a * (h > 0), h > 0, (a * h.clamp_min(0)).sum(-1) + c
    made = gram_kernels.look(*(t.float().cuda() for t in (H, KE, a, b, c)))
    for fast, plain in zip(made, exact, strict=True):
        assert off(fast, plain.double()) < 1e-6
