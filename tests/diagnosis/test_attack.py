"""`av.attack` on users' networks: forms of data, measurements, doubts, and stored results."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

import adversarium as av
from adversarium.data.images import Digits
from adversarium.diagnosis import Attacked
from adversarium.diagnosis.structure import structure
from adversarium.diagnosis.subject import NetworkError, subject
from adversarium.rng import stream

D = 6


def linear(k=3, seed=0, scale=1.0):
    torch.manual_seed(seed)
    net = nn.Linear(D, k)
    with torch.no_grad():
        net.weight.mul_(3 * scale)
    return net


def points(n=40, seed=1):
    return torch.rand(n, D, generator=torch.Generator().manual_seed(seed))


def attacked(net, x, y, p="inf", radius=0.05, **more):
    return av.attack(net, x, y, p=p, radius=radius, quiet=True, effort="quick", **more)


def labels_of(net, x):
    with torch.no_grad():
        return net(x).argmax(-1)


@pytest.mark.parametrize("p", ["inf", 2, 1])
def test_a_linear_network_is_broken_exactly_where_its_margin_ends(p):
    net, x = linear(2), points()
    y = labels_of(net, x)
    w = (net.weight[1] - net.weight[0]).detach()
    dual = {"inf": 1, 2: 2, 1: math.inf}[p]
    reach = ((net(x)[:, 1] - net(x)[:, 0]).abs() / w.norm(dual)).detach()
    radius = float(reach.median()) * 1.001
    found = attacked(net, x, y, p, radius)
    sure = (reach - radius).abs() > 1e-5
    assert torch.equal(found.broken[sure], (reach < radius)[sure])
    assert found.clean_accuracy == 1 and found.correct.all()


@pytest.mark.parametrize("p", ["inf", 2, 1])
@pytest.mark.parametrize("radius", [1e-5, 0.3])
def test_no_perturbation_leaves_the_ball_or_the_box(p, radius):
    net, x = linear(), points()
    found = attacked(net, x, labels_of(net, x), p, radius, box=(0, 1))
    assert (found.distances <= radius).all()  # exactly, in double precision
    assert (found.x_adv >= 0).all() and (found.x_adv <= 1).all()
    assert found.perturbation.abs().max() > 0


def test_labels_and_outputs_of_every_form_agree():
    net, x = linear(2), points()
    y = labels_of(net, x)

    def one(z):
        F = net(z)
        return F[:, 1] - F[:, 0]

    base = attacked(net, x, y)
    for net_, y_ in (
        (one, 2 * y - 1),
        (one, y),
        (lambda z: one(z)[:, None], y[:, None]),
        (one, y.numpy()),
        (lambda z: net(z)[..., None, None], y),
    ):
        assert torch.equal(attacked(net_, x, y_).broken, base.broken)


def test_classes_restrict_the_competition():
    net, x = linear(4), points()
    only = attacked(net, x, torch.full((40,), 3), classes=[1, 3])
    pair = nn.Linear(D, 2)
    with torch.no_grad():
        pair.weight.copy_(net.weight[[1, 3]])
        pair.bias.copy_(net.bias[[1, 3]])
    same = attacked(pair, x, torch.ones(40).long())
    assert torch.equal(only.broken, same.broken)


def test_integer_images_need_a_box_which_gives_their_scale():
    net, x = linear(), (255 * points()).round().to(torch.uint8)
    y = labels_of(net, x.float() / 255)
    with pytest.raises(ValueError, match="need a box"):
        attacked(net, x, y)
    found = attacked(net, x, y, box=(0, 1))
    assert found.clean_accuracy == 1 and "divided by 255" in found.notes[0]
    assert torch.equal(found.x, x.float() / 255)
    assert attacked(net, x, y, box=(0, 255), radius=2).x.max() > 1


def test_half_precision_is_measured_as_the_network_computes():
    net, x = linear().half(), points()
    found = attacked(net, x.half(), labels_of(net.float(), x.half().float()))
    assert found.x_adv.dtype == torch.float32
    net.half()
    found = attacked(net, x.half(), labels_of(net, x.half()))
    assert "float16" in found.notes[0] and found.clean_accuracy == 1


def test_the_network_is_left_as_it_was():
    net = nn.Sequential(nn.Linear(D, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3))
    net.train()
    net[1].eval()
    before = {n: b.clone() for n, b in net.state_dict().items()}
    x = points()
    attacked(net, x, torch.zeros(40).long())
    assert [m.training for m in net] == [True, False, True, True]
    assert all(torch.equal(b, net.state_dict()[n]) for n, b in before.items())
    assert all(w.grad is None for w in net.parameters())


class Counts(nn.Module):
    """Changes a buffer at every call."""

    def __init__(self):
        super().__init__()
        self.inner = linear()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return self.inner(x)


def test_buffers_that_a_call_changes_are_restored():
    net = Counts()
    attacked(net, points(), torch.zeros(40).long())
    assert net.calls.item() == 0


def test_no_global_stream_is_moved():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    attacked(linear(), points(), torch.zeros(40).long())
    torch.manual_seed(5)
    assert torch.equal(torch.get_rng_state(), before)


class Raises(nn.Module):
    def forward(self, x):
        raise KeyError("layer4")


@pytest.mark.parametrize(
    ("net", "y", "says"),
    [
        (Raises(), 0, "the network raised KeyError on inputs of shape"),
        (lambda x: x.argmax(-1) * 1.0, 7, "one output per input needs labels ±1"),
        (lambda x: x.mean(), 0, "must return 40 rows"),
        (lambda x: {"out": x}, 0, "must return a tensor of logits, got dict"),
        (linear(), 5, "labels must lie in 0 … 2"),
        (linear(2), -1, "needs the labels 0 and 1"),
        (lambda x: torch.sigmoid(x.sum(-1)), 1, "return torch.logit"),
        (linear(), 0.5, "whole numbers"),
        ("net", 0, "needs a callable network"),
    ],
)
def test_what_cannot_be_attacked_is_refused_in_one_sentence(net, y, says):
    with pytest.raises(ValueError, match=says):
        attacked(net, points(), torch.full((40,), y))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (dict(p=3), "p = 1, 2 or inf"),
        (dict(radius=-0.1), "finite radius >= 0"),
        (dict(radius=math.nan), "finite radius >= 0"),
        (dict(box=(1, 0)), "low < high"),
        (dict(box=(0, 0.5)), "box that contains the data"),
        (dict(effort="huge"), "effort must be one of"),
        (dict(classes=[1]), "at least two different outputs"),
        (dict(device="cuda"), "move it there first"),
        (dict(x=torch.full((40, D), math.nan)), "finite inputs"),
        (dict(x=torch.zeros(0, D)), "with n >= 1"),
        (dict(y=torch.zeros(3)), "one label per input"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_refused_in_one_sentence(change, says):
    words = dict(x=points(), y=torch.zeros(40).long(), p=2, radius=0.1) | change
    with pytest.raises(ValueError, match=says):
        av.attack(linear(), words.pop("x"), words.pop("y"), quiet=True,
                  **({"effort": "quick"} | words))  # fmt: skip


class Answerless(nn.Module):
    """Returns NaN where the first coordinate is large."""

    def __init__(self):
        super().__init__()
        self.inner = linear()

    def forward(self, x):
        F = self.inner(x)
        return torch.where(x[:, :1] > 0.6, math.nan, F)


def test_points_without_an_answer_count_as_wrong_and_are_named():
    net, x = Answerless(), points()
    y = labels_of(net.inner, x)
    found = attacked(net, x, y, radius=1e-4)
    assert torch.equal(found.correct, x[:, 0] <= 0.6)
    (doubt,) = [d for d in found.doubts if d.name == "no answer"]
    assert doubt.number >= float((x[:, 0] > 0.6).double().mean())
    assert "returned NaN" in found.text()


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -g


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (8 * x).round() / 8

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


class After(nn.Module):
    """A linear network after a function whose gradient is false."""

    def __init__(self, function, k=3):
        super().__init__()
        self.function, self.inner = function, linear(k)

    def forward(self, x):
        return self.inner(self.function.apply(x))


@pytest.mark.parametrize(
    ("function", "doubt"), [(Reversed, "false slopes"), (Rounded, "vanished gradients")]
)
def test_false_gradients_are_doubted_and_the_points_are_broken_all_the_same(function, doubt):
    net, x = After(function), points(60)
    y = labels_of(net, x)
    honest = av.attack(net.inner, x, y, p=2, radius=0.25, quiet=True)
    found = av.attack(net, x, y, p=2, radius=0.25, quiet=True)
    assert doubt in [d.name for d in found.doubts]
    assert f"doubt, {doubt}" in repr(found)
    if function is Reversed:  # the same function, with another gradient
        assert int(found.broken.sum()) >= int(honest.broken.sum()) - 1
    assert int(found.broken.sum()) >= 0.8 * int(honest.broken.sum()) > 5
    assert not {d.name for d in honest.doubts}


def test_a_network_that_mixes_the_points_of_a_batch_is_named():
    inner = linear()
    found = attacked(lambda x: inner(x - x.mean(0)), points(), torch.zeros(40).long())
    assert "batch" in [d.name for d in found.doubts]


class Noisy(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner, self.size = linear(2), size

    def forward(self, x):
        return self.inner(x + self.size * torch.randn_like(x))


def test_verdicts_on_a_random_network_survive_fresh_draws():
    net, x = Noisy(0.1), points(60)
    y = labels_of(net.inner, x)
    found = av.attack(net, x, y, p="inf", radius=0.35, quiet=True)
    assert any("random" in note for note in found.notes)
    gap = (net.inner(x)[:, 1] - net.inner(x)[:, 0]).detach()
    reach = gap.abs() / (net.inner.weight[1] - net.inner.weight[0]).detach().abs().sum()
    torch.manual_seed(3)
    wrong = torch.zeros(60)
    for _ in range(60):
        wrong += labels_of(net, found.x_adv) != y
    assert (wrong[found.broken] > 30).all()
    assert (found.broken <= (reach < 0.35)).all()  # the mean decides: no lucky draws
    assert found.broken.sum() > 0.6 * (reach < 0.35).sum() > 5
    again = av.attack(net, x, y, p="inf", radius=0.35, quiet=True)
    assert torch.equal(found.broken, again.broken)  # the same seed, the same draws


def mlp(*widths):
    torch.manual_seed(0)
    layers = [m for a, b in pairwise(widths) for m in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def test_directions_of_the_first_layer_are_read_through_a_scaling():
    net = nn.Sequential(nn.Flatten(), mlp(64, 10, 3))
    x = Digits().sample(20, stream(0, "test")).x.float()
    known = subject(lambda z: net((z - 0.2) / 0.5), x, torch.zeros(20).long())
    assert structure(known).directions is None  # not a module
    found = structure(subject(net, x, torch.zeros(20).long())).directions
    assert torch.allclose(found, net[1][0].weight.detach())


class Patches(nn.Module):
    """A sum over patches."""

    def __init__(self):
        super().__init__()
        self.inner = mlp(D, 12, 3)

    def forward(self, x):
        return self.inner(x).sum(1)


def test_a_sum_over_patches_is_recognised():
    x = torch.randn(10, 4, D, generator=torch.Generator().manual_seed(0))
    net = Patches()
    found = structure(subject(net, x, torch.zeros(10).long()))
    assert torch.allclose(found.patchwise(x).sum(1), net(x), atol=1e-5)
    assert torch.allclose(found.directions, net.inner[0].weight.detach(), atol=1e-6)
    twisted = nn.Sequential(net, nn.Softplus())
    assert structure(subject(twisted, x, torch.zeros(10).long())).patchwise is None


class Stops:
    """A member that presses Ctrl-C at its second call."""

    calls = 0
    loss = "logit_difference"

    def __call__(self, loss, batch, t, rng):
        Stops.calls += 1
        if Stops.calls == 1:
            raise KeyboardInterrupt
        return batch.x


def test_a_stopped_call_keeps_what_it_found_and_continues(tmp_path):
    net, x = linear(), points()
    y = labels_of(net, x)
    whole = attacked(net, x, y)
    stopped = attacked(net, x, y, more=[Stops()])
    assert not stopped.finished and "stopped early" in stopped.text()
    assert torch.equal(stopped.broken, whole.broken)
    stopped.save(tmp_path / "part.npz")
    earlier = Attacked.load(tmp_path / "part.npz")
    assert torch.equal(earlier.x_adv, stopped.x_adv) and earlier.members == stopped.members
    after = attacked(net, x, y, more=[Stops()], resume=earlier)
    assert after.finished and torch.equal(after.broken, whole.broken) and after.by == whole.by
    assert after.members[0] == stopped.members[0]  # not run again
    with pytest.raises(ValueError, match="resume needs the result of a call with the same"):
        attacked(linear(seed=3), x, y, resume=earlier)


def test_the_result_counts_who_broke_what():
    net, x = mlp(D, 20, 3), points(80)
    found = av.attack(net, x, labels_of(net, x), p=2, radius=0.4, quiet=True)
    assert sum(row.broken for row in found.members) == int(found.broken.sum())
    assert sum(bool(b) for b in found.by) == int(found.broken.sum())
    numbers = found.numbers()
    assert numbers["robust_accuracy_at_most"] == found.robust_accuracy
    assert numbers["largest_distance"] <= 0.4


def test_a_network_that_fails_only_under_attack_returns_what_was_found():
    inner = linear()
    seen = []

    def net(x):
        seen.append(len(x))
        if len(seen) > 60:
            raise RuntimeError("out of range")
        return inner(x)

    found = attacked(net, points(), labels_of(inner, points()))
    assert not found.finished and "network error" in [d.name for d in found.doubts]


def test_numpy_arrays_and_lists_are_accepted():
    net, x = linear(), points(8)
    y = labels_of(net, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = attacked(net, x.numpy(), y.numpy())
        two = attacked(net, np.asarray(x).tolist(), y.tolist())
    assert torch.equal(one.broken, two.broken)


def test_a_raising_network_names_its_fault():
    with pytest.raises(NetworkError, match="layer4"):
        subject(Raises(), points(), torch.zeros(40))


def test_the_certificate_and_the_attacks_bracket_the_robust_accuracy():
    net, x = mlp(D, 16, 3), points(80)
    y = labels_of(net, x)
    found = av.attack(net, x, y, p="inf", radius=0.02, quiet=True)
    assert not (found.proven & found.broken).any()
    assert 0.3 < found.proven_accuracy <= found.robust_accuracy
    assert f"at least {found.proven_accuracy:.1%} (proven)" in found.text()
    silu = nn.Sequential(net, nn.SiLU())
    assert "SiLU has no bounds" in attacked(silu, x, y).text()


@pytest.mark.parametrize("way", ["in place", "data"])
def test_a_network_that_changes_its_input_gets_copies(way):
    inner, x = linear(), points()

    def net(z):
        if way == "data":
            z.data.clamp_(0.2, 0.8)
            return inner(z)
        z -= 0.3
        return inner(z)

    with torch.no_grad():
        y = net(x.clone()).argmax(-1)
    before = x.clone()
    found = attacked(net, x, y)
    assert torch.equal(x, before) and torch.equal(found.x, before)
    assert found.clean_accuracy == 1 and (found.distances <= 0.05).all()
    assert "it was given copies" in found.notes[0]


def test_outputs_that_look_like_probabilities_are_judged_as_they_are():
    class Ramps(nn.Module):
        def forward(self, x):
            u = torch.relu(x[:, :1] - 0.1)
            return torch.cat([-20 * u, 1 - 15 * u], 1)

    found = attacked(Ramps(), torch.zeros(10, 1), torch.ones(10).long(), radius=0.2)
    assert any("logarithms" in note for note in found.notes)
    assert not found.broken.any()  # −20 u < 1 − 15 u everywhere


def test_little_noise_counts_where_margins_are_small():
    def net(x):
        scale = torch.tensor([0.3, 0.0, 0.0])
        big = torch.cat([0 * x, 0 * x, 1e4 * x - 3000], 1)
        return scale + big + 0.5 * torch.randn(len(x), 3)

    found = attacked(net, torch.zeros(20, 1), torch.zeros(20).long(), radius=0.01)
    assert any("random" in note for note in found.notes)


class Stubborn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("no backward here")


def test_a_backward_that_raises_leaves_the_attacks_without_gradients():
    net, x = After(Stubborn), points()
    found = attacked(net, x, labels_of(net, x), radius=0.2)
    assert found.finished and {"attacks raised", "gradient raised"} <= {
        d.name for d in found.doubts
    }
    assert "no backward here" in found.text()
    (row,) = [row for row in found.members if row.name == "RandomSearch"]
    assert row.tried > 0 and not row.skipped
    said = av.diagnose(net, x, labels_of(net, x), radius=0.2, effort="quick", quiet=True)
    assert "no gradient" in said.statements[1].silent


def test_a_structure_probe_that_raises_is_no_error():
    class Normalises(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = linear()

        def forward(self, x):
            if not bool(x.any(-1).all()):
                raise ValueError("an empty patch")
            return self.inner(x).sum(1)

    x = points(40).view(10, 4, D)
    assert attacked(Normalises(), x, torch.zeros(10).long()).finished


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (dict(box=(0,)), "box needs two numbers"),
        (dict(box=1.0), "box needs two numbers"),
        (dict(box="0,1"), "box needs two numbers"),
        (dict(classes=[0, 7]), "at least two different outputs of 0 … 2"),
        (dict(classes=[0.0, 1.0]), "at least two different outputs"),
        (dict(x=None), "x must be a tensor"),
        (dict(y=None), "y must be a tensor"),
        (dict(x=torch.rand(40)), r"x\[:, None\]"),
        (dict(radius=1e39), "below 1e18"),
        (dict(y=torch.zeros(40).cfloat()), "y must be real"),
    ],
)  # fmt: skip
def test_odd_arguments_are_refused_in_one_sentence(change, says):
    words = dict(x=points(), y=torch.zeros(40).long(), p=2, radius=0.1) | change
    with pytest.raises(ValueError, match=says):
        av.attack(linear(), words.pop("x"), words.pop("y"), quiet=True,
                  **({"effort": "quick"} | words))  # fmt: skip


def test_probabilities_of_one_output_are_refused_and_few_points_accepted():
    net = linear(1)
    with pytest.raises(ValueError, match=r"torch\.logit"):
        attacked(lambda x: torch.sigmoid(net(x)), points(), torch.ones(40))
