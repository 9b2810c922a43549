"""The digest of a part covers its name, its fields, its version, and the content of a user's
file."""

import importlib
import importlib.util
import subprocess
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import ClassVar

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.digest import configuration, name_of
from adversarium.measure import measures

PART = '''"""A part."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    scale: float = 1.0

    def trial(self, rng):
        return {"x": self.scale}


def scaled(rng):
    return {"x": 1.0}
'''


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a module in the temporary folder and import it, even if it was imported before."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def write(name: str, text: str):
        file = (tmp_path / name.replace(".", "/")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        for folder in file.relative_to(tmp_path).parents[:-1]:
            (tmp_path / folder / "__init__.py").touch()
        file.write_text(text)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        spec = importlib.util.find_spec(name)
        module = importlib.util.module_from_spec(spec)
        exec(compile(text, file, "exec"), vars(module))  # no bytecode of an earlier text
        sys.modules[name] = module
        made.append(name)
        return module

    yield write
    for name in made:
        for part in (name, *_packages(name)):
            sys.modules.pop(part, None)


def _packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def identities(module) -> list:
    """Return the identities of the parts of a module."""
    bound = configuration(module.Part(2.0).trial)
    return [configuration(module.Part()), bound, configuration(module.scaled)]


def test_editing_a_users_file_changes_the_identity_of_what_it_defines(written):
    first = identities(written("mine", PART))
    assert identities(written("mine", PART)) == first
    edited = identities(written("mine", PART.replace("1.0", "3.0")))
    assert all(one != other for one, other in zip(first, edited, strict=True))


def test_editing_a_packages_module_changes_nothing_until_its_version_is_raised(written):
    first = identities(written("pack.parts", PART))
    assert first[0] == {"is": "pack:Part", "scale": 1.0} and first[2] == "pack:parts.scaled"
    assert identities(written("pack.parts", PART + "# a comment\n")) == first
    raised = PART.replace("    scale:", "    version = 2\n    scale:")
    assert configuration(written("pack.parts", raised).Part()) == {**first[0], "version": 2}


@measures("$r$")
def first_reading(state, scene):
    return state.risk()


@measures("$r$", version=2)
def second_reading(state, scene):
    return state.risk()


def test_the_version_of_a_probe_and_of_a_trial_is_part_of_its_identity():
    assert configuration(first_reading) == "tests:test_digest.first_reading"
    assert configuration(second_reading) == "tests:test_digest.second_reading version 2"
    trial = av.Trial(function=first_reading)
    assert replace(trial, version=2).dynamics != trial.dynamics


@dataclass(frozen=True)
class Holder:
    """A part that holds any value."""

    held: object
    note: str = field(default="", compare=False)
    added: int = 3
    later: ClassVar = ("added",)


class Plain:
    """A part without declared fields."""

    def __init__(self, scale):
        self._scale = scale


def doubled(x):
    return 2 * x


def halved(x):
    return x / 2


def linear(scale):
    layer = torch.nn.Linear(2, 1, dtype=torch.float64)
    for parameter in layer.parameters():
        torch.nn.init.constant_(parameter, scale)
    return layer


HELD = {
    "a number": (1.0, 2.0),
    "a tuple": ((1, 2), (2, 1)),
    "a dictionary": ({"a": 1}, {"a": 2}),
    "a set": ({"a", "b"}, {"a", "c"}),
    "a range": (range(3), range(4)),
    "a path": (Path("a"), Path("b")),
    "an array": (np.zeros(3), np.ones(3)),
    "the shape of an array": (np.zeros(4), np.zeros((2, 2))),
    "a tensor": (torch.zeros(3), torch.ones(3)),
    "a tensor of bfloat16": (
        torch.zeros(2, dtype=torch.bfloat16),
        torch.ones(2, dtype=torch.bfloat16),
    ),
    "a module of torch": (linear(1.0), linear(2.0)),
    "a function": (doubled, halved),
    "a function of torch": (torch.tanh, torch.sin),
    "a class of torch": (torch.nn.ReLU, torch.nn.Tanh),
    "a partial": (partial(torch.clamp, min=0.0), partial(torch.clamp, min=1.0)),
    "a part": (Holder(1.0), Holder(2.0)),
    "a plain object": (Plain(1.0), Plain(2.0)),
    "a bound method": (Plain(1.0).__init__, Plain(2.0).__init__),
}


@pytest.mark.parametrize("what", HELD)
def test_a_field_is_identified_by_value(what):
    one, other = HELD[what]
    assert configuration(Holder(one)) != configuration(Holder(other))


def test_equal_arrays_are_the_same_value():
    assert configuration(np.arange(3.0)) == configuration(torch.arange(3).double())


def test_a_field_that_is_not_compared_is_not_part_of_the_identity():
    assert configuration(Holder(1, note="a")) == configuration(Holder(1, note="b"))


def test_a_field_that_was_added_later_counts_unless_it_has_its_default():
    assert "added" not in configuration(Holder(1))
    assert configuration(Holder(1, added=4))["added"] == 4


def constant(value):
    """A trial that is defined inside a function."""

    def trial(rng):
        return {"x": value}

    return trial


def test_every_function_inside_a_function_and_every_lambda_has_an_identity_of_its_own():
    one, other = constant(1.0), constant(1.0)
    assert configuration(one) == configuration(one) != configuration(other)
    first, second = (lambda rng: {"x": 1.0} for _ in range(2))
    assert configuration(first) == configuration(first) != configuration(second)


def test_a_function_inside_a_function_never_gets_the_rows_of_another(tmp_path):
    trials = (av.Trial(function=constant(value)) for value in (1.0, 2.0))
    made = [float(av.run(trial, range(1), tmp_path / "s.sqlite")["x"][0, 0]) for trial in trials]
    assert made == [1.0, 2.0]


LOCAL = '''"""A number that a function inside a function returns."""

from adversarium.plans import Level, Trial, last

quick, checks = dict(seeds=5), {"own.x": Level(last("x"), 0)}


def plan(value=1.0):
    def trial(rng):
        return {"x": value}

    yield Trial(function=trial)
'''


def test_a_users_file_with_a_function_inside_its_plan_is_rejected(call, tmp_path):
    (tmp_path / "own.py").write_text(LOCAL)
    said = call("verify", "./own.py", status=2).stderr
    assert "plan.<locals>.trial is a lambda or is defined inside a function" in said


class Node:
    """A part that refers to itself."""

    def __init__(self):
        self.me = self


UNKNOWN = {
    "bytes": (b"1", "cannot be identified"),
    "a lock": (Lock(), "cannot be identified"),
    "an array of objects": (np.array([None]), "an array of objects"),
    "a part that refers to itself": (Node(), "Node refers to itself"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_value_that_nothing_identifies_is_rejected(what):
    value, said = UNKNOWN[what]
    with pytest.raises(ValueError, match=said):
        configuration(Holder(value))


def test_parts_of_the_same_name_in_two_papers_have_different_names(written, tmp_path):
    named = []
    for tag in ("one", "two"):
        module = written(f"paper_{tag}.theory.part", PART)
        (tmp_path / f"paper_{tag}" / "paper.toml").write_text(f'key = "{tag.upper()}"\n')
        for package in (f"paper_{tag}", f"paper_{tag}.theory"):
            importlib.import_module(package)
        named.append(name_of(module.Part))
    assert named == ["one:Part", "two:Part"]


def test_two_modules_of_a_package_cannot_define_parts_of_one_name(written):
    first, second = (written(f"twice.{module}", PART).Part for module in ("one", "two"))
    assert name_of(first) == "twice:Part"
    with pytest.raises(ValueError, match=r"twice\.one and twice\.two both define twice:Part"):
        name_of(second)


@pytest.mark.parametrize("version", ["3", 2.0, 0, True])
def test_a_version_is_a_whole_number_from_1_on(written, version):
    part = written("versions.parts", PART).Part(1.0)
    object.__setattr__(part, "version", version)
    with pytest.raises(ValueError, match="version must be a whole number from 1 on, got"):
        configuration(part)


PROMPT = """
from adversarium.digest import configuration

class Net:
    pass

def twice(x):
    return 2 * x

names = [configuration(Net()), configuration(twice)]
assert names == [configuration(Net()), configuration(twice)]
print(names)
"""


def test_code_typed_at_a_prompt_is_not_reused_by_another_process(tmp_path):
    names = [
        subprocess.run(
            [sys.executable, "-"],
            input=PROMPT,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert names[0] != names[1] and all("'is': 'Net@" in one for one in names)
