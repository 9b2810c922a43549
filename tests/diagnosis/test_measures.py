"""`av.diagnose`: every number is measured, and a sentence stands only where it may."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

import adversarium as av
from adversarium.diagnosis import measures
from adversarium.diagnosis.measures import representation
from tests.program import one_sentence

D = 6


def mlp(seed=0, k=3):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(D, 16), nn.ReLU(), nn.Linear(16, k))


def points(n, seed=0):
    return torch.rand(n, D, generator=torch.Generator().manual_seed(seed))


def diagnosed(net, x, y, **more):
    words = dict(radius=0.05, box=(0, 1), effort="quick", quiet=True)
    return av.diagnose(net, x, y, **(words | more))


def by_name(found):
    return {one.name: one for one in found.statements}


def test_each_measure_is_that_of_its_definition():
    net, x = mlp(), points(30)
    y = net(x).argmax(-1)
    found = diagnosed(net, x, y, points=20)
    test = found.attacked
    accuracy = by_name(found)["robust accuracy"].numbers
    assert accuracy["clean"][0] == 1 and accuracy["robust, at most"][0] == test.robust_accuracy
    assert accuracy["robust, at least"] == test.proven_accuracy
    z = x[:20].requires_grad_(True)
    loss = nn.functional.cross_entropy(net(z), y[:20], reduction="sum")
    (g,) = torch.autograd.grad(loss, z)
    at_zero = found.curves["G, test"][0][0]
    assert at_zero == pytest.approx(float(g.abs().sum(-1).mean()), rel=1e-5)
    assert found.curves["radius"][8] == pytest.approx(0.05)
    assert found.curves["ΔL, test"][0][0] == 0
    G = [row[0] for row in found.curves["G, test"]]
    assert sorted(G) == G


def test_training_points_give_the_gap_and_the_comparison():
    net, x, seen = mlp(), points(60), points(60, seed=1)
    y = torch.randint(3, (60,), generator=torch.Generator().manual_seed(0))
    found = diagnosed(net, x, y, train=(seen, net(seen).argmax(-1)), points=30)
    gap = by_name(found)["robust gap"]
    wanted = found.trained.robust_accuracy - found.attacked.robust_accuracy
    assert gap.numbers["robust gap"][0] == pytest.approx(wanted) and wanted > 0.2
    assert f"{100 * wanted:.1f} points higher" in gap.sentence
    local = by_name(found)["training against test points"]
    assert local.sentence == "" and "fewer than 200 points" in local.silent


def test_no_sentence_stands_on_an_interval_that_contains_the_boundary():
    net, x = mlp(), points(40)
    y = net(x).argmax(-1)
    found = diagnosed(net, x, y, train=(x, y), points=10)
    assert by_name(found)["robust gap"].silent == "the 99 % interval of the gap contains 0"
    for one in found.statements:
        assert bool(one.sentence) != bool(one.silent)


@pytest.mark.parametrize(
    ("numbers", "said", "silent"),
    [
        (((1.5, 1.2, 1.8), 0.01, 0.0, 0.0), "bends upward", ""),
        (((0.5, 0.2, 0.8), 0.01, 0.0, 0.0), "bends downward", ""),
        (((1.5, 0.9, 1.8), 0.01, 0.0, 0.0), "", "contains 1"),
        (((1.5, 1.2, 1.8), 0.05, 0.0, 0.0), "", "doubled search"),
        (((1.5, 1.2, 1.8), 0.01, 0.1, 0.0), "", "maximum was not found"),
        (((1.5, 1.2, 1.8), 0.01, 0.0, 0.5), "", "vanished"),
        (((math.nan,) * 3, 0.01, 0.0, 0.0), "", "contains 1"),
    ],
)
def test_a_bend_is_reported_only_if_its_search_was_good_enough(numbers, said, silent):
    made = measures._bend_said(*numbers)
    assert said in made[0] and silent in made[1]
    assert bool(made[0]) != bool(made[1])


def test_features_agree_with_the_reference_that_shares_them():
    x, net, same, other = points(60), mlp(0), mlp(0), mlp(5)
    with torch.no_grad():
        for one in (net, same):  # equal features
            one[2].bias.sub_(one(x).mean(0))
    y = net(x).argmax(-1)
    assert y.bincount().max() < 45
    with torch.no_grad():
        other[0].weight.zero_()  # its features say nothing
    found = diagnosed(net, x, y, references={"standard": same, "adversarial": other}, points=60)
    one = by_name(found)["features"]
    assert one.numbers["accuracy on images of the standard reference"][0] > 0.8
    assert "agrees more with the standard reference" in one.sentence
    for wrong in ({"standard": same}, {"standard": net, "adversarial": other}):
        with pytest.raises(ValueError, match="reference"):
            diagnosed(net, x, y, references=wrong)


def test_the_representation_is_the_input_of_the_last_linear_layer():
    net, x = mlp(), points(5)
    assert torch.equal(representation(net)(x), net[1](net[0](x)))
    with pytest.raises(ValueError, match="no linear layer"):
        representation(nn.Sequential(nn.ReLU()))


def test_other_norms_have_no_landscape_and_say_so():
    net, x = mlp(), points(20)
    found = diagnosed(net, x, net(x).argmax(-1), p=2)
    assert "l_inf only" in by_name(found)["loss landscape"].silent and not found.curves


NETS = """
import torch
from torch import nn

def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
"""


def test_the_command_writes_a_page_that_stands_alone(call, tmp_path, monkeypatch):
    (tmp_path / "mynet.py").write_text(NETS)
    net, x = mlp(), points(20)
    np.savez(tmp_path / "d.npz", x=x.numpy(), y=net(x).argmax(-1).numpy())
    torch.save(net.state_dict(), tmp_path / "w.pt")
    torch.save(mlp(7).state_dict(), tmp_path / "v.pt")
    words = ("diagnose", "mynet.py:make", "--weights", "w.pt", "--data", "d.npz",
             "--train", "d.npz", "--standard", "w.pt", "--adversarial", "v.pt",
             "--radius", "0.05", "--box", "0,1", "--effort", "quick", "--points", "10")  # fmt: skip
    said = call(*words)
    assert said.stdout.startswith("robust accuracy at most")
    (page,) = (tmp_path / "diagnosis").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text and "What can be said" in text and "<h1>Robust accuracy at most" in text
    assert 'src="' not in text and 'rel="stylesheet"' not in text
    numbers = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert numbers["test"]["points"] == 20 and len(numbers["curves"]["G, test"]) == 13
    again = json.loads(call(*words, "--json").stdout)
    assert again["measures"] == numbers["measures"]
    one_sentence(call("diagnose", "mynet.py:make", "--data", "d.npz", "--radius", "1",
                      "--standard", "w.pt", status=2), "needs both references")  # fmt: skip
