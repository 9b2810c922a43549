"""A long session: what changes between two calls is noticed."""

import math
import sys
from dataclasses import dataclass, replace

import pytest
from torch import nn

import adversarium as av
from tests.program import OWN, one_sentence

ACT = nn.Tanh
SHIFT = 0.1
DATA = av.data.Clusters(d=3, mu=1.0, beta=0.0)


def build(shape, k):
    return nn.Sequential(nn.Linear(shape[0], 3), ACT(), nn.Linear(3, k))


def trained(**parts):
    network = av.networks.TwoLayer(m=4)
    given = dict(data=DATA, network=network, n=6, steps=5, eta=0.3, probes=[av.probes.risk])
    return av.run(av.Run(**{**given, **parts}), range(2))


def test_a_network_is_built_anew_when_what_it_is_built_of_changes(monkeypatch):
    network = av.networks.Module(build=build)
    first = trained(network=network)["risk"][:, -1]
    monkeypatch.setattr(sys.modules[__name__], "ACT", nn.ReLU)
    second = trained(network=network)["risk"][:, -1]
    assert (first != second).all()


def pushed(loss, batch, t, rng):
    return batch.x + SHIFT


def test_a_state_belongs_to_its_result(monkeypatch):
    result = trained(attack=pushed)
    assert result.state(seed=1, t=3).t == 3
    monkeypatch.setattr(sys.modules[__name__], "SHIFT", 0.9)
    with pytest.raises(ValueError, match="has changed since"):
        result.state(seed=1, t=3)


def read(rng):
    with open("late.txt", encoding="ascii") as file:
        return {"x": float(file.read())}


def test_a_file_that_comes_later_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="FileNotFoundError"):
        av.run(av.Trial(function=read), range(1))
    (tmp_path / "late.txt").write_text("3")
    assert av.run(av.Trial(function=read), range(1))["x"][0, 0] == 3


def test_two_helpers_of_one_name_are_refused(call, tmp_path):
    for folder, value in (("a", 1.0), ("b", 7.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hp_of_two.py").write_text(f"def f():\n    return {value}\n")
        text = OWN.replace("steps=200", "steps=2").replace("(risk, train_error)", "(risk, pr)")
        text = text.replace("train_error\n", "train_error\nfrom hp_of_two import f\n", 1)
        text += "\n\ndef pr(state, scene):\n    return 0 * state.risk() + f()\n"
        text = text.replace('last("train_error")', 'last("pr")')
        text = text.replace('"train_error"', '"pr"')
        (tmp_path / folder / "own.py").write_text(text)
    try:
        said = call("run", "./a/own.py", "./b/own.py", status=2)
        one_sentence(said, "of the same name comes first")
        assert " 1  [1, 1]" in call("run", "./a/own.py").stdout
    finally:
        sys.modules.pop("hp_of_two", None)
        sys.path[:] = [folder for folder in sys.path if not folder.startswith(str(tmp_path))]


def test_a_module_is_to_be_wrapped():
    with pytest.raises(ValueError, match="wrap it"):
        trained(network=nn.Linear(3, 1))


@pytest.mark.parametrize("order", (1, -1))
def test_a_part_and_a_field_of_it_are_not_both_set(call, order):
    words = ["data.mu=0.5", "data=clusters(d=8, mu=3.0)"][::order]
    sets = [word for one in words for word in ("--set", one)]
    said = call("run", "boat.published", *sets, "--dry-run", status=2)
    one_sentence(said, "data and data.mu are one thing here; say it inside of data=…")


def test_an_alias_and_its_knob_are_both_named(call):
    said = call("run", "boat.published", "--set", "T=5", "--set", "steps=10", status=2)
    one_sentence(said, "T and steps are one thing here; give it one value.")


def test_seeds_are_no_knob(call):
    said = call("run", "boat.published", "--set", "seeds=5", status=2)
    one_sentence(said, "seeds is no knob; --seeds says which seeds are run.")


class Half:
    """An attack in single precision."""

    def __call__(self, loss, batch, t, rng):
        return batch.x.float()


@dataclass(frozen=True)
class Lost(av.data.Clusters):
    """Points that are no numbers."""

    def sample(self, n, rng):
        batch = super().sample(n, rng)
        return replace(batch, x=batch.x * math.nan)


def test_another_precision_and_points_that_are_no_numbers_are_named():
    plain = av.Run(data=av.data.Clusters(d=4, mu=2.0), network=av.networks.TwoLayer(m=2), n=4,
                   steps=1, eta=0.1, probes=(av.probes.risk,))  # fmt: skip
    with pytest.raises(
        RuntimeError, match=r"Half needs to return torch\.float64, as its points are"
    ):
        av.run(replace(plain, attack=Half()), [0])
    with pytest.raises(RuntimeError, match=r"Lost\.sample needs finite x"):
        av.run(replace(plain, data=Lost(d=4, mu=2.0)), [0])
