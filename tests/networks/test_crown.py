"""Certificates of modules: sound on every layer, exact where they must be, refused elsewhere."""

import math
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional

from adversarium.networks import TwoLayer, crown
from adversarium.networks.crown import proven_margins
from adversarium.networks.graph import NoGraph, graph_of
from adversarium.training.objectives import margin


class Residual(nn.Module):
    """A residual sum, a mean over pixels, arithmetic with constants, and functions."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.last = nn.BatchNorm2d(4), nn.Linear(4, 3)

    def forward(self, x):
        z = functional.relu(self.one((x - 0.3) / 0.5))
        z = z + self.norm(functional.leaky_relu(self.two(z), 0.1))
        return 2 * self.last(z.mean((2, 3))) - 1


def mixed():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 2), nn.ReLU(),
        nn.AvgPool2d(2, 1), nn.Flatten(), nn.Linear(4 * 1 * 1, 8), nn.BatchNorm1d(8),
        nn.LeakyReLU(0.2), nn.Linear(8, 3),
    )  # fmt: skip


def dense():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(2 * 6 * 6, 20), nn.ReLU(), nn.Linear(20, 12), nn.LeakyReLU(0.1),
        nn.Linear(12, 3),
    )  # fmt: skip


BUILDS = {"residual": Residual, "mixed": mixed, "dense": dense}


def trained(build, seed=0):
    """Return a network with lively statistics, points, and their labels."""
    torch.manual_seed(seed)
    net, x = build(), torch.rand(12, 2, 6, 6)
    net.train()
    for _ in range(20):
        net(torch.rand(32, 2, 6, 6))
    net.eval()
    with torch.no_grad():
        for w in net.parameters():
            w.mul_(1.5)
        return net, x, net(x).argmax(-1)


def drawn(x, p, radius, n=400, box=None):
    """Return points of the ball, half of them on its boundary."""
    noise = torch.randn(n, *x.shape, dtype=torch.float64)
    noise = noise.sign() if p == math.inf else noise
    noise[n // 2 :] = torch.randn(n - n // 2, *x.shape, dtype=torch.float64)
    if p == 1:  # one coordinate at a time
        flat = torch.zeros(n, *x.flatten(1).shape, dtype=torch.float64)
        where = torch.randint(flat.shape[-1], (n, len(x), 1))
        noise[: n // 2] = flat.scatter(-1, where, 1.0).view(n, *x.shape)[: n // 2]
    size = noise.flatten(2).norm(p, dim=-1).view(n, len(x), 1, 1, 1)
    z = x + radius * noise / size
    return z if box is None else z.clamp(*box)


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("p", [1, 2, math.inf])
@pytest.mark.parametrize("box", [None, (0.0, 1.0)])
def test_no_point_of_the_ball_has_a_smaller_margin(name, p, box):
    net, x, y = trained(BUILDS[name])
    exact = net.double()
    for radius in (0.0, 0.01, 0.1):
        with torch.no_grad():
            low = proven_margins(net.float(), x, y, 3, p, radius, box)
            tuned = proven_margins(net.float(), x, y, 3, p, radius, box, steps=8)
            exact = net.double()
            z = drawn(x.double(), p, radius, box=box)
            found = margin(exact(z.flatten(0, 1)).view(*z.shape[:2], 3), y.expand(len(z), -1))
        assert (low <= found.amin(0)).all() and (tuned <= found.amin(0)).all()
        assert (tuned >= low).all()
        if radius == 0:
            assert (low - found[0]).abs().max() < 1e-2 * found.abs().max()


@pytest.mark.parametrize("p", [1, 2, math.inf])
def test_a_linear_network_has_its_exact_margins(p):
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Flatten(), nn.Linear(72, 2)).eval(), torch.rand(12, 2, 6, 6)
    y = net(x).argmax(-1)
    dual = {1: math.inf, 2: 2, math.inf: 1}[p]
    F, w = net(x).double(), net[1].weight.double()
    wanted = margin(F, y) - 0.05 * (w[0] - w[1]).norm(dual)
    low = proven_margins(net, x, y, 2, p, 0.05)
    assert torch.allclose(low, wanted.detach(), atol=2e-4)
    assert (low < wanted).all()


def test_two_layers_are_bounded_as_the_own_certificate_bounds_them():
    torch.manual_seed(0)
    own = TwoLayer(m=10)
    W = torch.randn(10, 6, dtype=torch.float64)
    a = own.f(W, torch.eye(6, dtype=torch.float64))  # not used: only the layout of the top layer
    assert a.shape == (6,)
    x = torch.randn(30, 6, dtype=torch.float64)
    top = torch.where(torch.arange(10) < 5, 1.0, -1.0) / math.sqrt(10)
    net = nn.Sequential(nn.Linear(6, 10, bias=False), nn.ReLU(), nn.Linear(10, 1, bias=False))
    with torch.no_grad():
        net[0].weight.copy_(W)
        net[2].weight.copy_(top)
    net = net.double().eval()
    y = torch.sign(net(x).squeeze(-1)).detach()
    if not torch.allclose(own.f(W, x), net(x).squeeze(-1), atol=1e-12):
        pytest.fail("the two networks differ")
    low, high = own.interval(W, x, 2, 0.1)
    theirs = torch.where(y > 0, low, -high)
    ours = proven_margins(net, x, y, 1, 2, 0.1)
    assert (ours >= theirs - 1e-4).all()
    better = proven_margins(net, x, y, 1, 2, 0.1, steps=30)
    assert (better >= ours).all() and (better > 0).sum() >= (theirs > 0).sum()


def test_the_forward_error_covers_single_precision():
    net, x, y = trained(dense)
    with torch.no_grad():
        for w in net.parameters():
            w.mul_(30)
    low = proven_margins(net, x, y, 3, math.inf, 0.0)
    single = margin(net(x), y).double()
    exact = margin(net.double()(x.double()), y)
    assert (low <= torch.minimum(single, exact)).all()
    assert (low > exact - 3e-3 * exact.abs().max()).all()


def test_weights_that_overflow_prove_nothing():
    net, x, y = trained(dense)
    with torch.no_grad():
        net[1].weight.mul_(1e38)
    assert (proven_margins(net, x, y, 3, math.inf, 0.01) <= 0).all()
    net[1].weight.data.fill_(math.nan)
    assert (proven_margins(net, x, y, 3, math.inf, 0.01) <= 0).all()


def test_a_choice_of_classes_is_bounded_alone():
    net, x, _ = trained(dense)
    y = torch.zeros(12).long()
    pair = nn.Sequential(*net[:-1], nn.Linear(12, 2)).eval()
    with torch.no_grad():
        pair[-1].weight.copy_(net[-1].weight[[2, 0]])
        pair[-1].bias.copy_(net[-1].bias[[2, 0]])
    chosen = proven_margins(net, x, y, 2, 2, 0.05, classes=[2, 0])
    assert torch.allclose(chosen, proven_margins(pair, x, y, 2, 2, 0.05), atol=1e-9)


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf])
def test_a_wrong_radius_is_refused(radius):
    net, x, y = trained(dense)
    with pytest.raises(ValueError, match="finite radius >= 0"):
        proven_margins(net, x, y, 3, 2, radius)


class Branches(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


@pytest.mark.parametrize(
    ("net", "says"),
    [
        (nn.Sequential(nn.Flatten(), nn.Linear(72, 3), nn.SiLU()), "SiLU has no bounds"),
        (Branches(), "cannot be traced"),
        (nn.Sequential(nn.MaxPool2d(3, padding=1), nn.Flatten()), "padded"),
    ],
)
def test_other_modules_have_no_certificate_and_say_why(net, says):
    with pytest.raises(NoGraph, match=says):
        graph_of(net, torch.rand(2, 2, 6, 6))


class Skip(nn.Module):
    """A sum of two readings of one hidden layer."""

    def __init__(self, act):
        super().__init__()
        self.h, self.b, self.c, self.act = nn.Linear(6, 6), nn.Linear(6, 3), nn.Linear(6, 3), act

    def forward(self, x):
        h = self.h(x)
        r = self.act(h)
        return self.b(r) + self.c(h)


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        return torch.add(self.a(x), self.b(x), alpha=2)


class Overwrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 3)

    def forward(self, x):
        z = self.a(x)
        z[:, 0] = 5.0
        return z


class Merges(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)

    def forward(self, x):
        return self.a(x.reshape(-1, 2)).reshape(x.shape[0], -1)


class Casts(nn.Module):
    """Computes in half precision, which its graph does not show."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 3)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.a(x).float()


class Locked(nn.Linear):
    def __init__(self):
        super().__init__(6, 3)
        self.lock = threading.Lock()


def hooked(pre=False):
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))
    if pre:
        net.register_forward_pre_hook(lambda module, given: (given[0] + 0.1,))
    else:
        net[1].register_forward_hook(lambda module, given, made: 2 * made)
    return net


def replaced():
    net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))
    net[1].forward = lambda z: 2 * z.relu()
    return net


class Calls(nn.Linear):
    def __init__(self):
        super().__init__(6, 3)

    def __call__(self, x):
        return super().__call__(x + 0.1)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (hooked, "has a hook"),
        (lambda: hooked(pre=True), "has a hook"),
        (replaced, "is replaced"),
        (Calls, "is replaced"),
        (Weighted, "factor"),
        (lambda: Skip(nn.ReLU(inplace=True)), "overwrites a value"),
        (Overwrites, "cannot be traced"),
        (Merges, "merges the points"),
        (Casts, "differ from those of its graph|has no bounds|cannot be"),
        (lambda: nn.Linear(6, 3).bfloat16(), "single or double precision"),
        (Locked, "cannot be traced"),
        (lambda: nn.utils.weight_norm(nn.Linear(6, 3)), "hook"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_module_whose_graph_is_not_all_of_it_has_no_certificate(build, says):
    torch.manual_seed(0)
    net, x = build(), torch.rand(5, 6)
    net.eval()
    with pytest.raises(NoGraph, match=says):
        proven_margins(net, x, torch.zeros(5).long(), 3, math.inf, 0.01)


def test_a_skip_that_overwrites_nothing_has_a_certificate():
    torch.manual_seed(0)
    net, x = Skip(nn.ReLU()).eval(), torch.rand(5, 6)
    y = net(x).argmax(-1)
    assert (proven_margins(net, x, y, 3, math.inf, 1e-4) > 0).any()


def test_a_graph_with_other_outputs_than_the_module_proves_nothing(monkeypatch):
    net, x, y = trained(dense)
    other, _, _ = trained(dense, seed=1)
    graph = graph_of(other, x)
    monkeypatch.setattr(crown, "graph_of", lambda net, x: graph)
    with pytest.raises(NoGraph, match="differ from those of its graph"):
        proven_margins(net, x, y, 3, math.inf, 0.01)


def test_a_module_in_training_mode_is_refused():
    net, x, y = trained(dense)
    with pytest.raises(ValueError, match="evaluation mode"):
        proven_margins(net.train(), x, y, 3, math.inf, 0.01)
