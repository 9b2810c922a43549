"""`adversarium attack module:factory`: files in, one answer out, nothing lost."""

import json
import pickle
import sys

import numpy as np
import pytest
import torch

from adversarium.diagnosis import Attacked
from tests.program import one_sentence

NETS = """
import torch
from torch import nn

def make():
    torch.manual_seed(0)
    return nn.Linear(4, 3)

ready = make()

def refuses():
    raise RuntimeError("no GPU here")

def number():
    return 3
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # the call adds its directory
    (tmp_path / "mynets.py").write_text(NETS)
    x = torch.rand(30, 4, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 3)
    with torch.no_grad():
        net.weight.mul_(4)
    y = net(x).argmax(-1)
    np.savez(tmp_path / "d.npz", x=x.numpy(), y=y.numpy())
    held = {f"module.{n}": w for n, w in net.state_dict().items()}
    torch.save({"epoch": 3, "state_dict": held}, tmp_path / "w.pt")
    return tmp_path


ASKED = ("attack", "mynets.py:make", "--weights", "w.pt", "--data", "d.npz", "--radius", "8/255",
         "--box", "0,1", "--effort", "quick")  # fmt: skip


def test_the_answer_comes_first_and_the_points_are_kept(call, files):
    said = call(*ASKED)
    assert said.stdout.startswith("robust accuracy at most ")
    assert "clean accuracy 100.0%; l_∞, radius 0.03137, box [0, 1]" in said.stdout
    (path,) = (files / "attack").glob("*.npz")
    assert str(path.relative_to(files)) in said.stdout
    kept = Attacked.load(path)
    assert kept.finished and len(kept.x) == 30
    again = json.loads(call(*ASKED, "--json").stdout)
    assert again["robust_accuracy_at_most"] == kept.robust_accuracy
    assert again["largest_distance"] <= 8 / 255
    assert again["members"] == json.loads(json.dumps([vars(m) for m in kept.members]))


def test_a_call_continues_where_an_earlier_one_stopped(call, files):
    call(*ASKED)
    (path,) = (files / "attack").glob("*.npz")
    kept = Attacked.load(path)
    first = kept.members[0]
    part = vars(kept) | {"members": (first,), "finished": False}
    Attacked(**part).save(path)
    assert f"{first.name}: broke" not in call(*ASKED).stderr
    assert f"{first.name}: broke" in call(*ASKED, "--fresh").stderr
    path.write_bytes(b"damaged")
    assert f"{first.name}: broke" in call(*ASKED).stderr  # starts again


def test_a_network_object_and_an_importable_module_are_accepted(call, files):
    call("attack", "mynets:ready", "--data", "d.npz", "--radius", "0.1", "--effort", "quick",
         "--points", "5", "--p", "2")  # fmt: skip


class Runs:
    def __reduce__(self):
        return (print, ("executed",))


MAKE, DATA, ONE = "mynets.py:make", ("--data", "d.npz"), ("--radius", "1")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((MAKE,), "needs --data FILE.npz"),
        (("mynets.py:nothing", *DATA, *ONE), "has no 'nothing'; it has"),
        (("mynets.py:refuses", *DATA, *ONE), "raised RuntimeError: no GPU"),
        (("mynets.py:number", *DATA, *ONE), "must return a network, got int"),
        (("gone.py:make", *DATA, *ONE), "gone.py is not a file"),
        (("no_such:make", *DATA, *ONE), "cannot be imported"),
        ((MAKE, "--data", "gone.npz", *ONE), "does not exist"),
        ((MAKE, "--data", "w.pt", *ONE), "needs arrays x and y"),
        ((MAKE, *DATA, "--radius", "-1"), "--radius needs a number"),
        ((MAKE, *DATA, *ONE, "--box", "1"), "--box needs LOW"),
        ((MAKE, *DATA, *ONE, "--weights", "d.npz"), "do not fit"),
        ((MAKE, "--data", "evil.pt", *ONE), "cannot be read as data"),
        (("cgro.digits", *DATA), "belong to your own network"),
    ],
)
def test_a_wrong_call_gets_one_sentence(call, files, words, says):
    with (files / "evil.pt").open("wb") as file:
        pickle.dump({"x": Runs(), "y": 1}, file)
    said = call("attack", *words, status=2)
    one_sentence(said, says)
    assert "executed" not in said.stdout


def test_safetensors_are_read(call, files):
    net = torch.nn.Linear(4, 3)
    header, body, place = {"__metadata__": {"format": "pt"}}, b"", 0
    for name, w in net.state_dict().items():
        data = w.numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(w.shape),
                        "data_offsets": [place, place + len(data)]}  # fmt: skip
        body, place = body + data, place + len(data)
    text = json.dumps(header).encode()
    (files / "w.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + body)
    call(*ASKED[:2], "--weights", "w.safetensors", *ASKED[4:])
