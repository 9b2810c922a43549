"""What own code holds is in the key of its rows, whoever made it: a library's objects, functions of
other modules, hidden attributes, slots, code that was edited after its import."""

import importlib
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.digest import configuration
from tests.program import OWN, one_sentence


def closed(held):
    def trial(rng):
        return {"x": float(held is not None)}

    return trial


class Slotted:
    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale


class Hidden:
    def __init__(self, scale):
        self._scale = scale


class Kind(Enum):
    ONE = 1
    TWO = 2


def doubled(x):
    return 2 * x


def halved(x):
    return x / 2


def linear(scale):
    layer = torch.nn.Linear(2, 1).double()
    with torch.no_grad():
        layer.weight.fill_(scale)
        layer.bias.fill_(0.0)
    return layer


def looped(scale):
    made = [scale]
    made.append(made)
    return made


PAIRS = {
    "a network": (lambda: linear(1.0), lambda: linear(2.0)),
    "a slice": (lambda: slice(0, 1), lambda: slice(0, 2)),
    "a range": (lambda: range(3), lambda: range(4)),
    "a fraction": (lambda: Fraction(1, 2), lambda: Fraction(1, 3)),
    "a queue": (lambda: deque([1.0]), lambda: deque([2.0])),
    "bytes": (lambda: b"1", lambda: b"2"),
    "complex": (lambda: 1j, lambda: 2j),
    "a distribution": (
        lambda: torch.distributions.Normal(0.0, 1.0),
        lambda: torch.distributions.Normal(0.0, 2.0),
    ),
    "slots": (lambda: Slotted(1.0), lambda: Slotted(2.0)),
    "a hidden attribute": (lambda: Hidden(1.0), lambda: Hidden(2.0)),
    "an enumeration": (lambda: Kind.ONE, lambda: Kind.TWO),
    "a function of torch": (lambda: torch.tanh, lambda: torch.sin),
    "a class of torch": (lambda: {"act": torch.nn.ReLU}, lambda: {"act": torch.nn.Tanh}),
    "a function of numpy": (lambda: np.sort, lambda: np.mean),
    "a probe of ours": (lambda: av.probes.risk, lambda: av.probes.train_error),
    "a function": (lambda: [doubled], lambda: [halved]),
    "a partial of torch's": (
        lambda: partial(torch.clamp, min=0.0),
        lambda: partial(torch.clamp, min=1.0),
    ),
    "an array of objects": (
        lambda: np.array([Fraction(1, 2), None], dtype=object),
        lambda: np.array([Fraction(1, 3), None], dtype=object),
    ),
    "a type of numbers": (lambda: torch.float32, lambda: torch.float64),
    "bfloat16": (
        lambda: torch.ones(2, dtype=torch.bfloat16),
        lambda: torch.zeros(2, dtype=torch.bfloat16),
    ),
    "a function with a cache": (lambda: lru_cache(doubled), lambda: lru_cache(halved)),
    "a loop": (lambda: looped(1.0), lambda: looped(2.0)),
    "keys that look alike": (lambda: {1: 0.0}, lambda: {"1": 0.0}),
    "an order": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}),
    "a set": (lambda: {"a", "b"}, lambda: {"a", "c"}),
}


@pytest.mark.parametrize("what", PAIRS)
def test_what_a_closure_holds_is_told(what):
    one, other = PAIRS[what]
    assert configuration(closed(one())) == configuration(closed(one()))
    assert configuration(closed(one())) != configuration(closed(other()))


NO_FIELDS = {"a loop", "keys that look alike", "an order"}  # fields are told by name


@pytest.mark.parametrize("what", sorted(PAIRS.keys() - NO_FIELDS))
def test_what_a_field_holds_is_told(what):
    one, other = PAIRS[what]
    told = [configuration({"field": made()}) for made in (one, one, other)]
    assert told[0] == told[1] != told[2]


def test_what_cannot_be_told_by_what_it_holds_is_told_by_its_name():
    assert configuration(closed(threading.Lock())) == configuration(closed(threading.Lock()))
    assert configuration(closed(threading.Lock())) != configuration(closed(None))


SHIFT = 1.0


def shifted(rng):
    x = torch.zeros(2)
    x[..., 0] = SHIFT
    return {"x": float(x[0])}


def test_a_global_on_the_right_of_an_assignment_is_told(tmp_path, monkeypatch):
    for shift in (1.0, 2.0):
        monkeypatch.setattr(sys.modules[__name__], "SHIFT", shift)
        made = av.run(av.Trial(function=shifted), range(1), tmp_path / "s.sqlite")
        assert made["x"][0, 0] == shift


@dataclass
class Part:
    d: int = 2

    def trial(self, rng):
        return {"x": self._scale}


def test_an_attribute_that_is_no_field_is_told(tmp_path):
    for scale in (1.0, 2.0):
        part = Part()
        part._scale = scale
        made = av.run(av.Trial(function=part.trial), range(1), tmp_path / "s.sqlite")
        assert made["x"][0, 0] == scale


@pytest.mark.parametrize("code", ["scaled", "helped"])
def test_a_module_that_was_edited_after_its_import_is_not_stored_as_the_new_one(
    code, tmp_path, monkeypatch
):
    """The old code runs; a fresh process with the new file does not find its numbers."""
    monkeypatch.syspath_prepend(str(tmp_path))
    file, store = tmp_path / "mymodel.py", tmp_path / "s.sqlite"
    text = "def helped(rng):\n    return {'x': SCALED()}\n\n\ndef SCALED():\n    return 1.0\n"
    text += "\n\ndef scaled(rng):\n    return {'x': 1.0}\n"
    file.write_text(text)
    module = importlib.import_module("mymodel")
    try:
        file.write_text(text.replace("1.0", "2.0"))
        made = av.run(av.Trial(function=getattr(module, code)), range(1), store)
        assert made["x"][0, 0] == 1.0
        asked = (
            f"import mymodel, adversarium as av; t = av.Trial(function=mymodel.{code}); "
            f"print(av.run(t, range(1), {str(store)!r})['x'][0, 0])"
        )
        said = subprocess.run(
            [sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert said.stdout.split()[-1] == "2.0"
    finally:
        del sys.modules["mymodel"]


GLOBAL = (
    OWN.replace("steps=200", "steps=2")
    .replace("d=20):", "d=20, scale=1.0):\n    global SCALE\n    SCALE = scale")
    .replace("probes=(risk, train_error)", "probes=(risk, train_error, held)")
    + """

SCALE = 1.0


def held(state, scene):
    return state.risk() * 0 + SCALE
"""
)


def test_a_plan_that_sets_a_global_is_refused(call, tmp_path):
    (tmp_path / "own.py").write_text(GLOBAL)
    said = call("run", "./own.py", "--set", "scale=2.0", status=2)
    one_sentence(said, "a global that the plan sets?")
    said = call("sweep", "./own.py", "--over", "scale=1.0,2.0", status=1)
    assert "a global that the plan sets?" in said.stdout + said.stderr


FACTORY = '''"""A probe that a factory makes."""

from adversarium.plans import Trial, last, level

quick = dict(seeds=5)
claims = {"own.x": dict(statement="x", kind="level", source="me")}


def scaled(scale):
    def trial(rng):
        return {"x": scale}

    return trial


def plan(scale=1.0, dead=3.0):
    yield Trial(function=scaled(scale))


checks = {"own.x": level(last("x"), 0)}
'''


def test_the_reach_of_a_knob_is_seen_through_a_factory(call, tmp_path):
    (tmp_path / "own.py").write_text(FACTORY)
    said = call("show", "./own.py").stdout
    assert "scale: number, 1.0; reaches every run" in said
    assert "dead: number, 3.0; reaches none" in said
    one_sentence(call("run", "./own.py", "--set", "dead=4.0", status=2), "reaches no run")
    assert " 2  [2, 2]" in call("run", "./own.py", "--set", "scale=2.0").stdout


def test_a_misspelt_number_of_a_trial_is_told(call, tmp_path):
    (tmp_path / "own.py").write_text(FACTORY.replace('last("x")', 'last("y")'))
    said = call("run", "./own.py", status=2).stderr
    assert "asks for 'y', which no trial returns" in said
    said = call("verify", "./own.py", status=2).stderr
    assert "asks for 'y', which no trial returns" in said
    drawing = "from adversarium.plans import Curves\n\nfigures = (Curves(name='f', y=('z',)),)\n"
    (tmp_path / "own.py").write_text(FACTORY + drawing)
    assert "the figure 'f' shows 'z'" in call("run", "./own.py", status=2).stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [("{}", "returns numbers by name"), ('{"x": [1.0, 2.0]}', "several are given as Along")],
)
def test_what_a_trial_must_return_is_told(given, said, call, tmp_path):
    (tmp_path / "own.py").write_text(FACTORY.replace('{"x": scale}', given))
    assert said in call("run", "./own.py", status=1).stderr
