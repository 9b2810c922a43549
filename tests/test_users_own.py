"""What users met with files, parts and checks of their own: each fault told before it costs."""

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.constructions import Balls
from adversarium.plans import at_most, every, identity, last, level, where
from adversarium.plans.compound import judged
from adversarium.plans.evidence import Evidence, Quantity
from adversarium.runs.axes import parse_axis
from adversarium.runs.store import Store
from tests.program import OWN, one_sentence

SHORT = OWN.replace("steps=200", "steps=5")
CLUSTERS = av.data.Clusters(d=6, mu=2.0)


def _run(**parts):
    given = dict(data=CLUSTERS, network=av.networks.TwoLayer(m=4), n=6, steps=2, eta=0.1)
    return av.Run(**{**given, "probes": [av.probes.risk], **parts})


def _trained(**parts):
    return av.run(_run(**parts), seeds=range(2))


def test_an_export_goes_over_an_earlier_one_and_nothing_else(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT)
    call("run", "./own.py")
    target = tmp_path / "deep" / "rows.csv"
    for _ in range(2):
        call("export", "./own.py", "--out", "deep/rows.csv")
    target.write_text("name,mark\nAda,1\n")
    said = call("export", "./own.py", "--out", "deep/rows.csv", status=2)
    one_sentence(said, "was edited since it was written")
    assert target.read_text().startswith("name,mark")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text + "\nfigures = figures * 2\n", "two figures are called"),
        (lambda text: text + "\nfigures = figures[0]\n", "figures are several"),
        (lambda text: text + "\nclaims = []\n", "claims is a dictionary"),
    ],
)
def test_an_own_file_is_told_what_it_lacks(call, tmp_path, change, told):
    (tmp_path / "own.py").write_text(change(SHORT))
    one_sentence(call("verify", "./own.py", status=2), told)


def test_a_check_of_one_run_where_several_are_meant_is_refused_before_the_training(call, tmp_path):
    text = SHORT.replace("def plan(", "def one(") + (
        "\nfrom dataclasses import replace\n"
        "def plan(**knobs):\n"
        "    for run in one(**knobs):\n"
        "        yield from (replace(run, at={'part': i}, n=run.n + i) for i in range(3))\n"
    )
    (tmp_path / "own.py").write_text(text)
    one_sentence(call("verify", "./own.py", status=2), "asks for one run, and 3 are meant")


def test_a_run_that_the_plan_lacks_leaves_its_part_open():
    verdict = judged(every(level(last("risk", where("there")), 0, 1)), Evidence())
    assert (verdict.verdict, verdict.why) == ("undecided", "out of regime")
    assert "(another preset may have it): no runs are there" in verdict.reason


class _Talking:
    kind, needs = "level", ()

    def judge(self, rows):
        return "holds"


def test_a_judge_returns_a_verdict():
    with pytest.raises(ValueError, match="returns a Verdict, got 'holds'"):
        judged(_Talking(), Evidence())


def test_a_bound_is_a_number():
    number = Quantity("error", lambda rows: np.zeros(5))
    for made in (identity, at_most, level):
        with pytest.raises(ValueError, match="needs a number, got nan"):
            made(number, math.nan)


def test_an_attack_works_on_a_copy_and_returns_points():
    def doubling(loss, batch, t, rng):
        return batch.x.mul_(2)

    def short(loss, batch, t, rng):
        return batch.x[..., :1]

    for attack, told in ((doubling, "changed the points"), (short, "points of the shape")):
        with pytest.raises((ValueError, RuntimeError), match=told):
            _trained(attack=attack)


@dataclass(frozen=True)
class _Points:
    x: object
    y: object


@dataclass(frozen=True)
class _Other:
    make: object
    shape = (6,)
    k = 1

    def sample(self, n, rng):
        return self.make(CLUSTERS.sample(n, rng))


def _cut(batch):
    return _Points(batch.x[:2], batch.y[:2])


def _whole(batch):
    return _Points(batch.x.long(), batch.y)


def _pair(batch):
    return batch.x, batch.y


@pytest.mark.parametrize(
    ("make", "told"),
    [(_cut, r"shape \(6, 6\)"), (_whole, "floating point"), (_pair, "a frozen dataclass")],
)
def test_own_data_are_told_what_a_batch_is(make, told):
    with pytest.raises((ValueError, RuntimeError), match=told):
        _trained(data=_Other(make))


def test_two_probes_of_one_name_are_refused():
    def risk(state, scene):
        return state.risk() * 0

    with pytest.raises(ValueError, match="two probes record risk"):
        _run(probes=[av.probes.risk, risk])


def _square(rng, x):
    return {"y": x**2}


def test_a_slope_over_sizes_needs_the_same_seeds():
    trials = [av.Trial(function=_square, parameters={"x": x}) for x in (1.0, 2.0)]
    runs = {x: av.run(t, seeds=(x, x + 1)) for x, t in enumerate(trials, start=1)}
    with pytest.raises(ValueError, match="seed by seed"):
        av.slope(runs, "x", "y")


def test_the_time_of_a_state_is_a_whole_number():
    result = _trained()
    with pytest.raises(ValueError, match="t is a step"):
        result.state(0, True)


def test_balls_of_both_labels_lie_apart():
    y = torch.tensor([1.0, -1.0]).double()
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0]]).double()
    assert Balls(x=x, y=y, delta=0.1, R=0.9)
    for points, delta, told in ((x * 0, 0.1, "got one for both"), (x, -0.1, "delta >= 0")):
        with pytest.raises(ValueError, match=told):
            Balls(x=points, y=y, delta=delta, R=0.9)


def test_a_range_is_made_of_numbers_and_a_store_is_a_plain_file():
    with pytest.raises(ValueError, match="a range is made of numbers, got 'a'"):
        parse_axis("d=a:b:c")
    with pytest.raises(Exception, match="no plain file"):
        Store("/dev/null")


def test_data_that_are_not_there_are_named_before_anything_runs(call, monkeypatch):
    monkeypatch.delenv("ADVERSARIUM_DATA", raising=False)
    asked = ("boat.fig6", "--preset", "paper", "--seeds", "77:78")
    assert "cannot run yet: MNIST needs" in call("run", *asked, "--dry-run").stdout
    one_sentence(call("run", *asked, status=2), "name it with --data")
    said = call("verify", "boat.fig6.to_zero", *asked[1:], status=1)
    assert said.stderr.count("name it with --data") == 1  # and not once a run


@pytest.mark.parametrize(
    "wrong", [dict(steps=-1), dict(n=0), dict(eta=math.nan), dict(eta=math.inf)]
)
def test_a_run_of_no_size_is_refused_where_it_is_made(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} needs"):
        _run(**wrong)


def test_a_list_of_claims_refuses_a_file_that_is_no_store(call, tmp_path):
    (tmp_path / "notes.txt").write_text("hello\n")
    one_sentence(call("list", "claims", "--store", "notes.txt", status=2), "is not a store")


def test_a_width_that_is_no_whole_number_is_refused_with_the_run():
    network = av.networks.CubicCNN(m=2.5, sigma0=0.3)
    with pytest.raises(ValueError, match=r"CubicCNN needs a whole number m, got 2\.5"):
        _run(network=network)


def test_a_knob_turns_the_trials_of_conv_too(call):
    said = call("run", "conv.eq16", "--set", "m=16", "--dry-run").stdout
    assert "m = 16" in said and "m = 64" not in said and "m = 256" not in said


def test_a_run_of_no_step_is_judged_open(call):
    said = call("run", "boat.published", "--set", "steps=0", "--seeds", "2")
    assert "undecided" in said.stdout and "KeyError" not in said.stderr


def test_netcdf_says_which_seeds_it_cannot_hold(call, tmp_path):
    pytest.importorskip("xarray")
    (tmp_path / "own.py").write_text(SHORT)
    call("run", "./own.py", "--seeds", "3000000000,1")
    asked = ("--seeds", "3000000000,1", "--to", "netcdf", "--out", "big.nc")
    one_sentence(call("export", "./own.py", *asked, status=2), "seeds below 2^31")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rnrf.phases", "--set", "m=200"), "m does not reach classes, k = 2 (m = 8 there)"),
        (("rnrf.recursions", "--set", "step=9"), "step does not reach large step"),
        (("rnrf.fig3", "--set", "literal=maybe"), "needs yes or no"),
        (("conv.eq16", "--set", "rules=(nope,)"), "needs a rule of exact, anti"),
    ],
)
def test_a_knob_that_does_not_arrive_is_refused(call, words, told):
    one_sentence(call("run", *words, "--dry-run", status=2), told)


def test_a_capped_knob_names_the_runs_that_it_leaves(call):
    said = call("run", "rnrf.phases", "--set", "steps=3000", "--partly", "--dry-run").stdout
    assert "early (steps = 300 there)" in said and "changed: steps = 3000" in said


def test_no_is_no(call):
    assert "literal = no" in call("run", "rnrf.fig3", "--set", "literal=no", "--dry-run").stdout


def test_a_dry_run_of_fresh_runs_says_that_they_run(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT)
    call("run", "./own.py")
    assert "nothing to run" in call("run", "./own.py", "--dry-run").stdout
    assert "nothing to run" not in call("run", "./own.py", "--fresh", "--dry-run").stdout


def test_words_among_the_numbers_of_an_axis_are_refused_before_anything_trains(call):
    said = call("sweep", "boat.published", "--over", "m=16,a", status=2)
    one_sentence(said, "'a' stands among numbers")


def hides_risk(state, scene):
    return {"p": scene.train.y.sum(-1), "risk": scene.train.y.sum(-1) + 99}


def draws_torch(state, scene):
    return torch.rand(len(scene.train.y)).double()


def draws_numpy(state, scene):
    return torch.from_numpy(np.random.rand(len(scene.train.y)))  # noqa: NPY002


def complex_numbers(state, scene):
    return torch.ones(len(scene.train.y), dtype=torch.complex128)


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        (hides_risk, "another probe records risk too"),
        (draws_torch, "drew from torch's common random numbers"),
        (draws_numpy, "drew from numpy's common random numbers"),
        (complex_numbers, "complex numbers, and real ones are needed"),
    ],
)
def test_a_probe_that_would_mislead_is_refused(probe, told):
    with pytest.raises(RuntimeError, match=told):
        _trained(probes=[av.probes.risk, probe])


@dataclass(frozen=True)
class Unheld:
    radius: float = 0.1

    def __call__(self, loss, batch, t, rng):
        return batch.x + 50.0


def test_an_attack_whose_budget_nothing_holds_is_refused():
    with pytest.raises(ValueError, match="has a radius and no ball"):
        _run(attack=Unheld())


def test_a_cap_that_moves_a_run_elsewhere_is_named(call):
    asked = ("rnrf.theorems", "--set", "n=3", "--set", "printed=()", "--dry-run")
    one_sentence(call("run", *asked, status=2), "k = 5, d = 50 (n = 5 there)")


def test_errors_that_know_one_law_refuse_another():
    """By a formula of the law: wrong numbers for any other."""
    rare = av.probes.RareError(draws=10)
    wide = av.data.Clusters(d=6, mu=2.0, marginal=av.data.Gauss(0.5))
    with pytest.raises(RuntimeError, match="RareError needs Gaussian noise of variance 1"):
        _trained(data=wide, probes=[], final=[rare])


def test_flips_that_depend_on_x_are_counted_as_they_are_drawn():
    attack = av.attacks.PGD(p=2, radius=0.1, steps=3)
    for flip in ("near", "far"):
        data = av.data.Clusters(d=6, mu=2.0, beta=0.2, flip=flip)
        probes = [av.probes.ClusterErrors(n=500), av.probes.Error(n=500, attacks="training")]
        made = _trained(data=data, attack=attack, steps=20, probes=[], final=probes)
        drawn = made[probes[1].measures[0].name]
        assert np.allclose(made["robust_error"], drawn, atol=0.01)


def test_an_attack_waits_where_the_network_is_silent_at_first():
    attack = av.attacks.PGD(p=2, radius=0.5, steps=3)
    assert _run(attack=attack).attack.after == 1  # f = 0 there: a gradient would be rounding
    assert _run(attack=attack, network=av.networks.Perceptron(m=4)).attack.after == 0
    ends = {}
    for engine in ("gram", "full"):
        run = _run(attack=attack, engine=engine, probes=[av.probes.risk], steps=12)
        ends[engine] = av.run(run, seeds=range(2))["risk"]
    assert np.allclose(ends["gram"], ends["full"], rtol=1e-12)


def draws_anew(state, scene):
    return torch.from_numpy(np.random.default_rng().random(len(scene.train.y)))


def draws_random(state, scene):
    return torch.full((len(scene.train.y),), random.random(), dtype=torch.float64)


@dataclass(frozen=True)
class Drifting:
    """A network whose start depends on the clock."""

    m: int = 4

    def init(self, rng, shape, k):
        return torch.from_numpy(np.random.default_rng().normal(size=(self.m, *shape)))

    def f(self, W, x):
        return (x @ W.mT).mean(-1)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (dict(probes=[draws_anew]), "probe draws_anew came out otherwise"),
        (dict(final=[draws_random]), "drew from Python's common random numbers"),
        (dict(network=Drifting()), "the network's start came out otherwise"),
    ],
)
def test_what_no_seed_repeats_is_refused(changed, told):
    with pytest.raises(RuntimeError, match=told):
        _trained(**changed)


def chancy(rng):
    return {"x": float(np.random.default_rng().random())}


def test_a_trial_that_no_seed_repeats_is_refused():
    trial = av.Trial(function=chancy, parameters={})
    with pytest.raises(RuntimeError, match="trial chancy came out otherwise"):
        av.run(trial, seeds=range(2))


LISTING = (
    SHORT.replace("probes=(risk, train_error)", "probes=(risk, train_error, listed)")
    + """

def listed(state, scene):
    from pathlib import Path
    found = (Path(__file__).parent / "tables").glob("*.txt")
    return state.risk() * 0 + sum(float(one.read_text()) for one in found)
"""
)


def test_a_new_file_in_a_folder_that_own_code_lists_is_another_run(call, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "one.txt").write_text("1")
    (tmp_path / "own.py").write_text(LISTING)
    call("run", "./own.py")
    assert "nothing to run" in call("run", "./own.py", "--dry-run").stdout
    (tmp_path / "tables" / "two.txt").write_text("2")
    assert "nothing to run" not in call("run", "./own.py", "--dry-run").stdout


def test_a_trial_that_stands_by_a_size_is_named_too(call):
    said = call("run", "cgrm.constructions", "--set", "D=7", "--dry-run", status=2)
    one_sentence(said, "D does not reach covering")


def test_a_knob_without_a_field_says_how_many_runs_it_changes(call):
    assert "reaches 13 of 24 runs" in call("show", "rnrf.phases").stdout.replace("\n    ", " ")
    said = call("run", "rnrf.phases", "--set", "start=0.5", "--dry-run").stdout
    assert "start changes 13 of 24 runs" in said


def test_a_moment_that_never_comes_is_told(call, tmp_path):
    text = SHORT.replace("probes=(risk,", "probes=(At(risk, (0, 5000)),")
    (tmp_path / "own.py").write_text(text.replace("import risk", "import At, risk"))
    said = call("run", "./own.py", "--dry-run").stdout
    assert "t = 5000 comes after the last step (5) and is left out" in said


def test_more_points_than_images_are_refused_before_anything_runs(call):
    said = call("run", "boat.fig6", "--set", "n=100000", "--seeds", "2", status=2)
    one_sentence(said, "digits has 233 train images of 0 and 1, got n=100000")
