"""Old numbers never come back for changed code: what own parts hold, read and draw is in the key of
their rows, or is refused."""

import random
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import adversarium as av
from tests.program import OWN, one_sentence

HELD = SimpleNamespace(scale=1.0)
DEEP = {"a": {"b": {"c": {"d": [1.0]}}}}
SET = {1.0}


def by_namespace(rng):
    return {"x": HELD.scale}


def by_depth(rng):
    return {"x": DEEP["a"]["b"]["c"]["d"][0]}


def by_set(rng):
    return {"x": max(SET)}


def _turn():
    HELD.scale = 2.0
    DEEP["a"]["b"]["c"]["d"][0] = 2.0
    SET.add(2.0)


def _unturn():
    HELD.scale = 1.0
    DEEP["a"]["b"]["c"]["d"][0] = 1.0
    SET.discard(2.0)


@pytest.mark.parametrize("function", [by_namespace, by_depth, by_set])
def test_a_global_that_changes_is_another_run(function, tmp_path):
    def made():
        return float(
            av.run(av.Trial(function=function), range(1), tmp_path / "s.sqlite")["x"][0, 0]
        )

    try:
        assert made() == 1.0
        _turn()
        assert made() == 2.0
    finally:
        _unturn()


@dataclass(frozen=True)
class Scale:
    scale: float
    symbol: float = 0.0

    def trial(self, rng):
        return {"x": self.scale}


def with_symbol(rng, part):
    return {"x": part.symbol}


def test_bound_methods_and_fields_of_own_parts_are_told_apart(tmp_path):
    store = tmp_path / "s.sqlite"
    for scale in (1.0, 2.0):
        trial = av.Trial(function=Scale(scale).trial)
        assert av.run(trial, range(1), store)["x"][0, 0] == scale
        own = av.Trial(function=with_symbol, parameters={"part": Scale(1.0, symbol=scale)})
        assert av.run(own, range(1), store)["x"][0, 0] == scale


CLOSING = (
    OWN.replace("steps=200", "steps=2")
    .replace("d=20):", "d=20, scale=1.0):")
    .replace("probes=(risk, train_error)", "probes=(risk, train_error, scaled(Settings(scale)))")
    + """

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    scale: float


def scaled(settings):
    def held(state, scene):
        return state.risk() * 0 + settings.scale

    return held
"""
)


def test_a_knob_that_a_closure_holds_turns(call, tmp_path):
    (tmp_path / "own.py").write_text(CLOSING)
    for scale in ("1.0", "2.0"):
        said = call("run", "./own.py", "--set", f"scale={scale}").stdout
        line = next(line for line in said.splitlines() if line.split()[:1] == ["held"])
        assert line.split()[1] == f"{float(scale):g}"


def _reading(code: str) -> str:
    return f'''"""Numbers from a file."""

from pathlib import Path

from adversarium.plans import Trial, last, level

HERE = Path(__file__).parent
quick = dict(seeds=1)
claims = {{"own.x": dict(statement="x", kind="level", source="me")}}


def read(rng, **given):
    {code}
    return {{"x": float(text)}}


def plan(file="one.txt"):
    yield Trial(function=read, parameters=dict(file=file))


checks = {{"own.x": level(last("x"), 0)}}
'''


@pytest.mark.parametrize(
    "code",
    [
        'text = open(HERE / "one.txt", encoding="ascii").read().strip()',
        'text = next(iter(sorted(HERE.glob("on*.txt")))).read_text()',
        'text = Path(given["file"]).read_text()',
        'text = (HERE / "one.txt").read_text().strip().__str__()',
    ],
)
def test_an_edited_file_that_own_code_reads_is_another_run(code, call, tmp_path):
    (tmp_path / "own.py").write_text(_reading(code))
    for value in ("1", "22"):
        (tmp_path / "one.txt").write_text(value)
        said = call("run", "./own.py").stdout
        line = next(line for line in said.splitlines() if line.split()[:1] == ["x"])
        assert line.split()[1] == value


@pytest.mark.parametrize(
    "code",
    [
        'text = (HERE / f"{1 + 1}.txt").read_text()',
        'text = (HERE / ("2" + ".txt")).read_text()',
    ],
)
def test_a_file_that_the_key_cannot_tell_is_refused(code, call, tmp_path):
    (tmp_path / "own.py").write_text(_reading(code))
    for name in ("one.txt", "2.txt"):
        (tmp_path / name).write_text("1")
    assert "which its key does not tell" in call("run", "./own.py", status=1).stderr


CHANCE = random.Random()


def noisy(state, scene):
    return state.risk() + CHANCE.random()


@pytest.mark.parametrize("engine", ["gram", "full", "signal_noise"])
def test_own_chance_is_noticed_on_every_engine(engine):
    gram = dict(data=av.data.Clusters(d=6, mu=2.0), network=av.networks.TwoLayer(m=4))
    patches = av.data.PatchData(d=20, P=3, alpha=2.0, sigma=0.2)
    cubic = dict(data=patches, network=av.networks.CubicCNN(m=6, sigma0=0.3))
    parts = cubic if engine == "signal_noise" else gram
    run = av.Run(**parts, n=6, steps=2, eta=0.05, probes=[noisy], engine=engine)
    with pytest.raises(RuntimeError, match="probe noisy came out otherwise"):
        av.run(run, range(2))


def first(state, scene):
    return {"risk": state.risk() * 0 + 99}


def test_a_hidden_number_is_refused_in_a_used_store_too(tmp_path):
    def run(*probes):
        data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
        task = av.Run(data=data, network=network, n=6, steps=2, eta=0.05, probes=probes)
        return av.run(task, range(2), tmp_path / "s.sqlite")

    run(av.probes.risk)
    run(first)
    with pytest.raises((RuntimeError, ValueError), match=r"risk.*(too|hide)"):
        run(av.probes.risk, first)


def test_a_radius_that_measurements_keep_is_refused(call):
    said = call("run", "rnrf.fig3", "--set", "attack.radius=0.01", "--dry-run", status=2)
    one_sentence(said, "--set eps=0.01 turns them with it")


def test_a_name_is_asked_for_where_a_function_is_given():
    with pytest.raises(ValueError, match="needs a name, such as last"):
        av.plans.last(av.probes.risk)


def test_a_class_is_no_probe():
    data, network = av.data.Clusters(d=6, mu=2.0), av.networks.TwoLayer(m=4)
    with pytest.raises(ValueError, match=r"such as Error\(…\), got the class"):
        av.Run(data=data, network=network, n=6, steps=2, eta=0.05, probes=[av.probes.Error])
