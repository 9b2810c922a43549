"""Two half-precision pieces of diag(a)K: the algebra on a CPU, and the attack on CUDA."""

import pytest
import torch

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import Perceptron, TwoLayer
from adversarium.rng import normal, stream
from adversarium.training import Rule, Setting
from adversarium.training.engines.gram_attack import in_pieces
from tests.training.cases import final


def test_two_pieces_carry_single_precision():
    rng = stream(0, "pieces")
    W, a, y = normal((3, 40, 30), rng), normal((3, 1, 40), rng), normal((3, 7, 1), rng).sign()
    K = W @ W.mT
    slope = (normal((3, 7, 40), rng) > 0).double()
    exact = (slope * (-y * a)) @ K
    made = in_pieces(K.float(), a.float(), -y.float())(slope.float())
    assert float((made - exact).abs().max() / exact.abs().max()) < 3e-6


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_the_pieces_train_as_double_precision_does():
    by = PGD(p=2, radius=0.5, steps=20, step=0.1, best=False)
    rule = Rule(n=20, steps=40, eta=0.1)
    for network in (Perceptron(m=64), TwoLayer(m=64, omega=0.05)):
        given = Clusters(d=300, mu=4.0), network, by, rule, (0, 1)
        fast = final("gram", Setting(*given, device="cuda", dtype=torch.float32))
        exact = final("gram", Setting(*given))
        assert torch.allclose(fast.risk().cpu().double(), exact.risk(), rtol=1e-3)
