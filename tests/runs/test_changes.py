"""Arguments of the command line: seeds, values, changes; no expression is evaluated."""

import math

import pytest

from adversarium.attacks import APGD, PGD
from adversarium.networks import Module, ReLU, small_cnn
from adversarium.plans.loading import load
from adversarium.runs.changes import fitted, parse_changes, parse_seeds, parse_value, planned
from adversarium.training import SGD
from tests.program import one_sentence


def test_seeds():
    assert parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("3,17") == (3, 17)
    assert parse_seeds("5:8") == (5, 6, 7)
    assert parse_seeds(None) == ()
    for bad in ("", "0", "x", "3:3", "5:3", "1,1", "-2", "3:", "1.5"):
        with pytest.raises(ValueError, match="--seeds needs"):
            parse_seeds(bad)


def test_values_are_literals_or_public_parts():
    assert parse_value("3") == 3 and parse_value("1e3") == 1000.0 and parse_value("-2") == -2
    assert parse_value("inf") == math.inf and parse_value("None") is None
    assert parse_value("(1, 2)") == (1, 2)
    assert parse_value("pgd(p=2, radius=1.2, steps=20)") == PGD(p=2, radius=1.2, steps=20)
    assert parse_value("APGD(p=inf, radius=1)") == APGD(p=math.inf, radius=1.0)
    assert parse_value("GTA(gamma=0.5)").gamma == 0.5
    assert not parse_value("Perceptron(m=4, biases=no)").biases  # as knobs take it
    assert parse_value("TwoLayer(m=4, activation=relu())").activation == ReLU()
    for bad, said in (
        ("pgd(p=2, radius=-1)", "attack=None"),
        ("pgd(p=2, radios=1)", "no field 'radios'"),
        ("pgd(radius='big')", "needs float"),
        ("pgd(radius=1, steps=2.5)", "needs int"),
        ("pdg(radius=1)", "Nearest"),
        ("pgd()", "PGD also needs radius=…"),
        ("pgd(radius=1, box=(1,))", "needs"),
        ("pgd(radius=1, box=(0, 'a'))", "needs"),
        ("engines()", "no part is named"),
        ("os.system('ls')", "only NAME"),
        ("__import__('os')", "no part is named"),
    ):
        with pytest.raises(ValueError, match=said):
            parse_value(bad)


def test_a_module_is_named_by_its_public_function():
    made = parse_value("module(build=small_cnn, options={'width': 4})", "network")
    assert made == Module(build=small_cnn, options={"width": 4})


def test_the_schedules_that_an_optimiser_takes_are_listed():
    with pytest.raises(ValueError, match="needs constant or cosine or Scheduled, got 'linear'"):
        fitted(SGD(), "schedule", "linear")


def test_what_an_optimiser_does_not_know_is_refused():
    with pytest.raises(ValueError, match="needs autocast bfloat16, float16 or None"):
        SGD(autocast="int8")
    with pytest.raises(ValueError, match="a schedule must be constant"):
        SGD(schedule=None)


def test_an_unknown_part_is_told_the_parts_of_its_kind():
    with pytest.raises(ValueError, match=r"no network is named 'linear'. Choose one of .*TwoLayer"):
        parse_changes(["network=linear()"])
    with pytest.raises(ValueError, match=r"no attack is named 'pdg'. Choose one of APGD") as told:
        parse_changes(["attack=pdg(radius=1)"])
    assert "Clusters" not in str(told.value) and "Ball" not in str(told.value)


def test_changes_turn_knobs_fields_and_parts():
    experiment = load("rnrf.fig3")
    standard, adversarial = planned(experiment, "quick", parse_changes(["d=40", "data.alpha=3"]))
    assert standard.data.d == 40 and standard.data.alpha == 3.0
    assert adversarial.attack.radius == 1.2
    _, swapped = planned(experiment, "quick", parse_changes(["attack=pgd(p=2, radius=1.2)"]))
    assert swapped.attack == PGD(p=2, radius=1.2)
    _, field = planned(experiment, "quick", parse_changes(["attack.radius=0.5"]))
    assert field.attack.radius == 0.5
    theorem = load("cgro.thm4.1")
    tasks = planned(theorem, "quick", parse_changes(["scaling=300"]))
    (scaled,) = (task for task in tasks if task.family == "scaling")
    assert scaled.data.alpha == 300**0.249


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("dd=4", "is named 'dd'"),
        ("data.beeta=4", "no field 'beeta'"),
        ("d=hello", "the knob d needs int"),
        ("data.alpha=hello", "needs float"),
        ("attack=3", "needs a part"),
        ("d", "name=value"),
        ("d=", "name=value"),
        ("d=3", "d >= 2k"),
        ("attack.radius=-1", "radius >= 0"),
        ("label=x", "no knob or field"),
    ],
)
def test_a_wrong_change_gets_one_sentence(word, said):
    with pytest.raises(ValueError, match=said):
        planned(load("rnrf.fig3"), "quick", parse_changes([word]))


def test_a_change_moves_the_coordinates_that_are_read_from_the_run():
    theorem = load("cgro.thm4.1")
    named = {task.label: task for task in planned(theorem, "quick", parse_changes(["data.d=300"]))}
    assert named["scaling, d = 300"].data.d == 300
    assert not any("d = 100" in label for label in named)
    before, after = (
        [task.coordinates for task in planned(theorem, "quick", parse_changes(words))]
        for words in ([], ["eta=0.2"])
    )
    assert before == after  # nothing stands by its η here


def test_runs_without_the_part_that_is_changed_stay_as_they_are():
    experiment = load("rnrf.fig3")
    standard, adversarial = planned(experiment, "quick", parse_changes(["attack.radius=0.5"]))
    assert standard.attack is None and adversarial.attack.radius == 0.5


def test_an_experiment_that_trains_nothing_has_knobs_alone():
    problem = load("rnrf.setting")
    turned = planned(problem, "quick", {"points": 7})
    assert 7 in [task.parameters.get("n") for task in turned]
    with pytest.raises(ValueError, match="has no training runs"):
        planned(problem, "quick", {"eta": 0.1})


def test_one_number_for_a_knob_of_several_is_one_of_them():
    theorem = load("cgro.thm4.1")
    tasks = planned(theorem, "quick", parse_changes(["scaling=300"]))
    assert [task.data.d for task in tasks if task.family == "scaling"] == [300]
    with pytest.raises(ValueError, match="the knob scaling needs int"):
        planned(theorem, "quick", parse_changes(["scaling=(100, 0.5)"]))


SYMBOLS = [
    ("cgro.thm4.1", "λ", "lam", 0.9),
    ("rnrf.fig3", "ε", "eps", 1.0),
    ("rnrf.fig3", "radius", "eps", 1.0),
    ("rnrf.fig3", "N", "n", 50),
    ("rnrf.fig3", "η", "eta", 0.2),
    ("cgrm.linear", "δ", "delta", 1.0),
    ("boat.published", "eps", "attack.radius", 1.0),
    ("boat.published", "δ", "attack.radius", 1.0),
    ("boat.published", "N", "n", 10),
]


@pytest.mark.parametrize(("id", "symbol", "ours", "value"), SYMBOLS)
def test_the_papers_symbols_are_understood(id, symbol, ours, value):
    by_symbol, by_name = (planned(load(id), "quick", {n: value}) for n in (symbol, ours))
    assert [t.dynamics for t in by_symbol] == [t.dynamics for t in by_name]
    assert [t.dynamics for t in by_name] != [t.dynamics for t in load(id).tasks("quick")]


def test_a_knob_changes_runs_and_trials_alike():
    tasks = planned(load("conv.eq16"), "quick", {"m": 16})
    assert {task.coordinates["m"] for task in tasks if "m" in task.coordinates} == {16}


def test_yes_and_no_are_the_values_of_a_switch():
    on, off = (planned(load("rnrf.fig3"), "quick", {"literal": v}) for v in ("yes", "no"))
    assert on == planned(load("rnrf.fig3"), "quick", {"literal": True})
    assert off == planned(load("rnrf.fig3"), "quick", {"literal": False}) != on


REFUSED = {
    "boat.published --set m=-3": "m (number of hidden units) needs a finite number even and",
    "boat.published --set m=0": "even and >= 2, got 0",
    "boat.published --set m=3": "even and >= 2, got 3",
    "rnrf.fig3 --set eta=1e400": "eta (learning rate η) needs a finite number > 0, got inf.",
    "rnrf.fig3 --set attack.radius=1e400": "radius needs a finite number, got inf.",
    "rnrf.fig3 --set steps=-1": "steps (number of training steps) needs a finite number >= 0",
    "rnrf.fig3 --set literal=maybe": "needs yes or no",
    "rnrf.fig3 --set m=[10,20]": "needs one int",
    "conv.eq16 --set rules=(nope,)": "needs one of the rules exact, anti",
    "boat.published --set m=100000000000000000000": "at most 9223372036854775807",
    "rnrf.fig3 --seeds 3,99999999999999999999999": "--seeds takes seeds up to 9223372036854775807",
    "boat.published --set seeds=5": "seeds is not a knob; choose the seeds with --seeds.",
    "boat.published --set α=0.5": "is named 'α'; α denotes alpha (",
    "rnrf.fig3 --set m=3 --set m=4": "--set names m twice",
    "rnrf.fig3 --set eps=1 --set ε=2": "eps and ε are the same parameter",
    "boat.published --set T=5 --set steps=10": "T and steps are the same parameter;",
    "boat.published --set m=32 --set network.m=64": "are the same parameter; set one of them",
    "boat.published --set m=32 --set network=TwoLayer(m=8)": "are the same parameter; set one",
    "boat.published --set data.mu=0.5 --set data=clusters(d=8,mu=3.0)": (
        "data.mu is a field of data, which is also set; set it in data=NAME(…)."
    ),
    "boat.published --set data=clusters(d=8,mu=3.0) --set data.mu=0.5": (
        "data.mu is a field of data, which is also set; set it in data=NAME(…)."
    ),
    "cgro.phases --set attack=pgd(radius=0.1)": (
        "read from data.d, attack.gap, n, but 'PGD' object has no attribute 'gap'"
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_value_that_does_not_fit_is_refused_in_one_sentence(words, call):
    one_sentence(call("run", *words.split(), "--dry-run", status=2), REFUSED[words])


def test_a_field_of_a_part_that_no_run_has_is_refused_with_the_way_to_it(call, own):
    said = call("run", f"./{own.name}", "--set", "optimiser.batch=5", status=2)
    one_sentence(said, "has a part optimiser, so optimiser.batch has no effect")
    assert "--set 'optimiser=NAME(batch=…)'" in said.stderr


def test_the_risk_of_a_run_that_names_none_is_the_cross_entropy(call, own):
    out = call("run", f"./{own.name}", "--set", "risk.lam=0.5", "--dry-run").stdout
    assert "risk: Risk(loss=cross_entropy, lam=0.5, log=False)" in out
    said = call("run", f"./{own.name}", "--set", "risk.nosuch=1", status=2)
    one_sentence(said, "Risk has no field 'nosuch'; it has loss, lam, log")
