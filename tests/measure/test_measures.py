"""Every probe and fold describes its quantities: names, symbols, sentences and axes."""

import inspect
import pickle
import re
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import pytest
import torch
from matplotlib.mathtext import MathTextParser

import adversarium as av
from adversarium import measure
from adversarium.attacks import FGSM, GTA, PGD, FiniteAttack, MarginStep
from adversarium.data import (
    Clusters,
    Digits,
    LinearResponse,
    MarginMixture,
    PatchData,
    SpherePoints,
    TwoFeaturePatches,
)
from adversarium.measure.bracket import CertifiedError
from adversarium.measure.errors import Error, ErrorByRadius
from adversarium.measure.folds import At, FirstTime, Total, Worst
from adversarium.measure.losses import ExcessRisk, Loss
from adversarium.measure.measuring import measured, measures
from adversarium.measure.scene import Scene
from adversarium.networks import (
    CubicCNN,
    MixedLearner,
    Module,
    SmoothedCNN,
    TwoLayer,
    small_cnn,
)
from adversarium.networks.activations import SmoothedReLU
from adversarium.papers.conv.theory.regret import WorstRegret
from adversarium.papers.rnrf.theory.features import robust_features
from adversarium.papers.rnrf.theory.two_features import (
    FeatureError,
    SwappedError,
    decomposition,
    nonrobust_total,
    outputs,
)
from adversarium.plans.names import paper_probes
from adversarium.sockets import Fold, Measure, Probe, Recorded
from adversarium.training import SGD, Problem, Recipe, Risk, choose, train

HELPERS = {"Scene", "bracket", "certified_margin", "inverted", "loss_landscape", "matched",
           "measures", "worst_margin"}  # fmt: skip
SMALL = Module(build=small_cnn, options={"width": 2})
STEP = FGSM(radius=0.1, box=(0.0, 1.0))
LENGTHS = dict(S=2, n=6, m=3, k=3)
AXES = {"class": LENGTHS["k"], "point": LENGTHS["n"], "unit": LENGTHS["m"]}


def problem(data, network, attack, risk=None, **more):
    recipe = Recipe(n=LENGTHS["n"], steps=3, eta=0.1, risk=risk or Risk(), **more)
    return Problem(data, network, attack, recipe, tuple(range(LENGTHS["S"])))


@dataclass(frozen=True)
class Linear:
    """f(x) = ⟨w, x⟩."""

    def init(self, rng, shape, k):
        return torch.ones(shape, dtype=torch.float64)

    def f(self, W, x):
        return (x * W[..., None, :]).sum(-1)


SETTINGS = {
    "regression": problem(
        LinearResponse(d=4), Linear(), FGSM(p=2, radius=0.1), Risk(loss="square")
    ),
    "patches": problem(
        PatchData(d=9, P=3, alpha=1.5, sigma=0.3),
        CubicCNN(m=LENGTHS["m"], sigma0=0.3),
        GTA(gamma=0.5),
        Risk(lam=0.5),
    ),
    "two features": problem(
        TwoFeaturePatches(k=LENGTHS["k"], d=40, P=4),
        SmoothedCNN(m=LENGTHS["m"], sigma0=0.3),
        MarginStep(radius=0.3, step=3.0),
    ),
    "margins": problem(
        MarginMixture(d=8, alpha=3.0, mu=0.3),
        MixedLearner(m=4, b=0.1, sigma0=0.2),
        FGSM(p=2, radius=0.2),
        Risk(loss="exponential"),
    ),
    "sphere": problem(
        SpherePoints(d=3, K=4),
        TwoLayer(m=4, activation=SmoothedReLU()),
        FiniteAttack(),
        Risk(loss="pseudo_huber"),
    ),
    "clusters": problem(Clusters(d=6, mu=1.0), TwoLayer(m=4), PGD(p=2, radius=0.2, steps=2)),
    "images": problem(Digits(), SMALL, STEP, optimiser=SGD(batch=3)),
}

ANYWHERE = (
    Error(n=20),
    Error(on="train", attacks="training"),
    Error(n=20, attacks=(PGD(p=2, radius=0.1, steps=2),), name="broken", symbol="PGD"),
    measure.risk,
    measure.robust_train_error,
    measure.train_error,
    At(measure.risk, (0,)),
    FirstTime(measure.risk, 0.1),
    Total(measure.risk),
    Worst(measure.risk),
)
MADE = {
    "At": At(ErrorByRadius(attacks=(), radii=(0.1, 0.2), n=20, name="open"), (3,)),
    "CertifiedError": CertifiedError(),
    "Error": Error(n=20),
    "ExcessRisk": ExcessRisk(n=20),
    "Loss": Loss(n=20),
    "ErrorByRadius": ErrorByRadius(attacks=(), radii=(0.1, 0.2), n=20, name="open"),
    "FeatureError": FeatureError("robust", 20),
    "FeatureAccuracy": measure.FeatureAccuracy(attack=STEP, n=4, steps=1),
    "FeatureAttack": measure.FeatureAttack(attack=STEP, pairs=((0, 1),), radius=0.1, n=40, steps=1),
    "FirstTime": FirstTime(robust_features, 0.1),
    "LandscapeProbe": measure.LandscapeProbe(epsilon=0.1, n=3, steps=2, starts=2),
    "SwappedError": SwappedError(1.2, 20),
    "Total": Total(nonrobust_total),
    "Worst": Worst(robust_features, after=1),
    "WorstRegret": WorstRegret(0.3),
}
TIMED = ("training_seconds", "preparation_seconds")
IMAGES = ("FeatureAccuracy", "FeatureAttack", "LandscapeProbe")
HOMES = {
    "cluster_constants": "clusters",
    "cluster_errors": "clusters",
    "needed_constant": "clusters",
    "margins": "margins",
    "memorisation": "patches",
    "open_constants": "patches",
    "recursions": "two features",
    "regret": "sphere",
    "two_features": "two features",
}


def made(name, home):
    """Return the public probe of this name, or an instance of the public class."""
    member = getattr(home, name)
    return MADE.get(name) or (member() if inspect.isclass(member) else member)


PUBLIC = {name: made(name, measure) for name in measure.__all__ if name not in HELPERS}
for known in paper_probes().values():
    module = f"adversarium.papers.{known.paper.lower()}.theory.{known.file.removesuffix('.py')}"
    PUBLIC[known.name] = made(known.name, import_module(module))


def home(name, probe):
    """Return a problem that a public probe can read."""
    if name in IMAGES:
        return "images"
    function = probe if inspect.isfunction(probe) else type(probe)
    room = function.__module__.rpartition(".")[2]
    if room == "features":
        return "two features" if "robust" in name else "patches"
    if name == "ExcessRisk":
        return "regression"
    if name == "CertifiedError":
        return "clusters"
    return HOMES.get(room, "two features")


@pytest.fixture(scope="module")
def runs():
    every = {}
    for name, one in SETTINGS.items():
        engine, _ = choose(one.data, one.network, one.attack, one.recipe)
        states = [engine.split(joined)[0] for joined in train(engine, (one,))]
        every[name] = Scene(one), states
    return every


def returned(probe, scene, states):
    """Return what a probe or a fold returns, by name."""
    if isinstance(probe, Fold):
        memory = None
        for state in states:
            memory = probe.see(memory, state, scene)
        return probe.rows(memory)
    value = probe(states[-1], scene)
    return {measured(probe)[0].name: value} if isinstance(value, torch.Tensor) else value


def check(probe, rows):
    """Require that the rows are those that the probe declares, each with its axes."""
    declared = {measure.name: measure for measure in measured(probe)}
    assert list(rows) == list(declared)
    for name, value in rows.items():
        kept = value if isinstance(value, Recorded) else Recorded(value)
        axes, at = declared[name].axes, kept.at
        times = () if kept.t is None else (len(kept.t),)
        lengths = tuple(len(at[axis]) if axis in at else AXES[axis] for axis in axes)
        assert kept.values.shape == (LENGTHS["S"], *times, *lengths), name
        assert set(at) <= set(axes)


def test_the_times_of_training_need_the_engine_that_measures_them(runs):
    scene, states = runs["images"]
    times = (measure.training_seconds, measure.preparation_seconds)
    with pytest.raises(ValueError, match="engine='captured'"):
        times[0](states[-1], scene)
    run = av.Run(data=Digits(), network=SMALL, attack=None, n=6, steps=3, eta=0.1, final=times,
                 optimiser=SGD(batch=3), engine="captured", dtype="float32")  # fmt: skip
    result = av.run(run, seeds=range(2))
    for name in TIMED:
        assert result[name].shape == (2, 1) and (result[name] >= 0).all()
    assert (result["training_seconds"] > 0).all()


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - set(TIMED)))
def test_a_probe_returns_the_names_and_axes_that_it_declares(name, runs):
    probe = PUBLIC[name]
    check(probe, returned(probe, *runs[home(name, probe)]))


@pytest.mark.parametrize("place", sorted(set(SETTINGS) - {"regression"}))  # it has no errors
def test_general_probes_read_every_setting(place, runs):
    for probe in ANYWHERE:
        check(probe, returned(probe, *runs[place]))


def test_every_measure_has_a_name_a_symbol_and_a_sentence():
    for probe in PUBLIC.values():
        assert isinstance(probe, Fold | Probe)
        for one in measured(probe):
            assert isinstance(one, Measure)
            assert one.name and "[" not in one.name
            assert one.symbol and one.symbol != one.name
            assert re.match(r"[\w‖|∥½(`⟨].{12,}", one.sentence), one
            assert one.sentence.rstrip().endswith((".", "⁾")), one
            assert "\n" not in one.sentence


def test_every_symbol_can_be_drawn():
    parser = MathTextParser("path")
    for probe in PUBLIC.values():
        for one in measured(probe):
            assert one.symbol.count("$") % 2 == 0
            parser.parse(one.symbol)


def test_no_two_names_of_one_probe_agree():
    for probe in PUBLIC.values():
        names = [measure.name for measure in measured(probe)]
        assert len(set(names)) == len(names)


def test_errors_are_called_by_what_they_measure():
    attack = (PGD(p=2, radius=0.1, steps=2),)
    names = {
        (on, str(by)): Error(on=on, attacks=by).measures[0].name
        for on in ("test", "train")
        for by in ("none", "training", attack)
    }
    assert [names["test", by] for by in ("none", "training", str(attack))] == [
        "test_error", "robust_test_error", "robust_test_error"
    ]  # fmt: skip
    assert [names["train", by] for by in ("none", "training", str(attack))] == [
        "train_error", "robust_train_error", "robust_train_error"
    ]  # fmt: skip
    assert Error(name="raw", symbol="raw gradient").measures[0].symbol == "raw gradient"
    assert Error(on="train").measures[0].symbol == measure.train_error.measures[0].symbol


def test_an_error_refuses_words_that_it_does_not_know():
    for wrong in (dict(on="tests"), dict(attacks="trained")):
        with pytest.raises((ValueError, TypeError)):  # the types' checker may be the first
            Error(**wrong)


def test_folds_name_the_value_and_its_step():
    for fold in (Worst(measure.risk), WorstRegret(0.3)):
        assert [measure.name for measure in fold.measures] == [fold.name, fold.step_name]
        assert fold.step_name == f"step of {fold.name}"
    assert WorstRegret(0.3).name == "worst(eq16_excess(R=0.3))"


def test_a_fold_of_one_number_refuses_several():
    for fold in (Worst, Total):
        with pytest.raises(ValueError, match="true_logit, doubt"):
            fold(outputs)
    with pytest.raises(ValueError, match="one number"):
        FirstTime(decomposition, 1.0)


def test_a_docstring_says_what_each_number_is():
    @measures(left=r"$L$", right=r"$R$")
    def halves(state, scene):
        """Two halves of w.

        left: the first
            m/2 filters.
        """

    assert [m.sentence for m in halves.measures] == ["the first m/2 filters.", "Two halves of w."]
    assert (halves.__name__, halves.__doc__.split()[0]) == ("halves", "Two")


def test_a_plain_function_measures_one_number_under_its_own_name():
    def energy(state, scene):
        """The energy."""

    assert measured(energy) == (Measure("energy", "energy", "The energy."),)


def test_probes_travel_to_other_processes():
    for probe in PUBLIC.values():
        assert pickle.loads(pickle.dumps(probe)) == probe


def scaled(state, scene, by):
    """The loss times a factor."""
    return by * state.risk()


def test_a_partial_probe_has_the_name_of_its_function():
    assert measured(partial(scaled, by=0.5))[0].name == "scaled"
