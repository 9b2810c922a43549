"""BOAT's regime, readings and ceilings agree with the paper and its errata."""

import math
from dataclasses import replace

import pytest
import torch

import adversarium as av
from adversarium.attacks import PGD
from adversarium.data import Clusters, Gauss, Mixed, Quartic, Skew
from adversarium.data.clusters import least_robust_error
from adversarium.networks import Perceptron
from adversarium.papers.boat.experiments.fig1.checks import is_predicted
from adversarium.papers.boat.theory.bounds import permitted_constants
from adversarium.papers.boat.theory.cluster_errors import ClusterErrors
from adversarium.papers.boat.theory.families import large_attack, small_attack
from adversarium.papers.boat.theory.figure_runs import READINGS, clean_ceiling, robust_ceiling
from adversarium.papers.boat.theory.regime import gates
from adversarium.plans.loading import load
from adversarium.plans.run import changed
from adversarium.rng import stream

FIGURES = tuple(f"boat.fig{i}" for i in range(1, 7))


@pytest.mark.parametrize("C", (2, 4, 8, 16))
@pytest.mark.parametrize("family", (small_attack, large_attack))
def test_a_rung_meets_every_inequality_with_its_constant_and_not_with_much_more(family, C):
    sizes = family(C)
    for smooth in (False, True):
        allowed = permitted_constants(
            n=sizes.n, d=sizes.d, mu=sizes.mu, alpha=sizes.ratio * sizes.mu, m=sizes.m,
            beta=min(0.1, 1 / C), smooth=smooth,
        )  # fmt: skip
        assert min(allowed.values()) >= C
        assert min(allowed.values()) <= 1.2 * C


@pytest.mark.parametrize(
    ("smaller", "text"),
    (
        ({"d": 400}, "d ≥ C‖μ‖²n"),
        ({"alpha": 200.0}, "d ≥ Cn²(log(n/δ) + α²)"),
        ({"beta": 0.4}, "β ≤ 1/C"),
        ({"n": 2, "m": 10**9}, "n ≥ C log(m/δ)"),
        ({"eta": 1.0}, "η ≤ 1/(Cd²)"),
        ({"mu": 50.0}, "‖μ‖² ≥ C max(√(d/n log(md/nδ)), log(n/δ))"),
        ({"m": 2}, "m ≥ C log(n/δ)"),
    ),
)
def test_each_inequality_is_the_one_that_its_letter_breaks(smaller, text):
    good = dict(n=20, d=10**7, mu=200.0, alpha=1.0, m=64, beta=0.05, eta=1e-16)
    before, after = permitted_constants(**good), permitted_constants(**{**good, **smaller})
    assert before[text] > 3 > after[text]


def test_the_published_sizes_lie_outside_of_the_regime():
    for id in FIGURES[:3]:
        for run in load(id).tasks("paper"):
            told = {gate.text: gate for gate in gates(run)}
            least = next(gate for text, gate in told.items() if text.startswith("C_eff"))
            assert least.factor < 1 and not all(gate.holds for gate in told.values())


def test_the_oracle_has_the_accuracy_that_no_classifier_exceeds():
    for data, p, radius in (
        (Clusters(d=12, mu=2.0, beta=0.1), 2, 0.6),
        (Clusters(d=12, mu=2.0, beta=0.1, marginal=Gauss(0.7), spread=4), 2, 0.6),
        (Clusters(d=12, mu=2.0, beta=0.1, spread=4), math.inf, 0.3),
        (Clusters(d=12, mu=2.0, beta=0.1, spread=4, flip="exact"), 1, 0.9),
    ):
        batch = data.sample(200_000, stream(0, "test"))
        w = data.mean / data.mean.norm()
        dual = torch.linalg.vector_norm(w, 1 / (1 - 1 / p) if p > 1 else math.inf)
        hit = (batch.y * (batch.x @ w) > radius * dual).double().mean()
        assert float(hit) == pytest.approx(data.ceiling(p, radius), abs=0.004)
    wide = Clusters(d=12, mu=2.0, beta=0.1)
    assert wide.ceiling(2, 2.5) == 0.5
    assert 0.999 < Clusters(d=12, mu=10.0, beta=0.0).ceiling(2, 0.5) < 1
    assert wide.ceiling(2, 0.6) == 1 - least_robust_error(2.0, 0.6, 0.1)


@pytest.mark.parametrize("marginal", (Quartic(), Skew(), Mixed((Quartic(), Gauss()))), ids=str)
def test_no_threshold_along_the_mean_exceeds_the_ceiling_of_any_marginal(marginal):
    data, radius = Clusters(d=6, mu=0.8, beta=0.1, marginal=marginal), 0.2
    batch = data.sample(400_000, stream(0, "test"))
    along = batch.x[:, 0]
    hits = [float((batch.y * (along - c) > radius).double().mean()) for c in (-0.2, 0.0, 0.2)]
    assert 0.5 < max(hits) <= data.ceiling(2, radius) + 0.002 < 0.9
    assert data.ceiling(2, radius) < data.ceiling(2, 0.0) < 0.9
    assert data.ceiling(2, 0.8) == 0.5  # beyond ‖μ‖ nobody does better than a coin
    assert data.ceiling(math.inf, radius) == data.ceiling(2, radius)  # μ on an axis


UNKNOWN = ({"flip": "near"}, {"marginal": Quartic(), "spread": 2})


@pytest.mark.parametrize("change", UNKNOWN)
def test_where_no_ceiling_is_known_none_is_drawn(change):
    run = load("boat.fig1").tasks("quick")[0]
    assert 0.5 <= robust_ceiling(run) < clean_ceiling(run) < 1
    assert robust_ceiling(replace(run, attack=None)) == clean_ceiling(run)
    other = replace(run, data=replace(run.data, **change))
    assert math.isnan(robust_ceiling(other)) and math.isnan(clean_ceiling(other))


@pytest.mark.parametrize("id", FIGURES)
def test_every_figure_has_the_four_readings_of_the_radius(id):
    """α/‖μ‖ = r, step α/(5‖μ‖): radius, step, and the norm of the data's mean."""
    made = {
        r: [run for run in load(id).tasks("quick", reading=r) if run.attack is not None]
        for r in READINGS
    }
    for runs in zip(*(made[r] for r in READINGS), strict=True):
        one = runs[0]
        mu, ratio = one.data.mu, one.attack.radius / one.data.mu
        wanted = {
            "R1": (ratio * mu, ratio * mu / 5, mu),
            "R2": (ratio, ratio / 5, mu),
            "R3": (ratio, ratio / 5, 1.0),
            "R4": (ratio * mu, ratio / 5, mu),
        }
        for reading, run in zip(READINGS, runs, strict=True):
            told = run.attack.radius, run.attack.step, run.data.mu
            assert told == pytest.approx(wanted[reading]), (id, reading)
            assert run.coordinates == one.coordinates  # it stands at the same place of the figure
    with pytest.raises(ValueError, match="reading needs one of R1, R2, R3, R4, got 'R5'"):
        load(id).tasks("quick", reading="R5")


def test_the_baseline_of_figure_3_is_trained_without_the_attack_that_measures_it():
    runs = load("boat.fig3").tasks("quick")
    for under, without in zip(runs[::2], runs[1::2], strict=True):
        errors = next(p for p in without.probes if isinstance(p, ClusterErrors))
        assert without.attack is None and errors.against == under.attack
        assert without.data == under.data and without.coordinates == under.coordinates
    points = ClusterErrors(n=50, against=PGD(p=2, radius=1.0, steps=5))
    short = replace(runs[1], steps=3, record=(3,), probes=(points,))
    rows = av.run(short, seeds=range(2)).rows
    assert (rows.last("robust_error_c") > rows.last("clean_error_c")).all()


def test_the_third_reading_divides_the_data_by_the_length_of_their_mean():
    first, third = (load("boat.fig1").tasks("quick", reading=r)[5] for r in ("R1", "R3"))
    x, divided = (run.data.sample(7, stream(3, "train")).x for run in (first, third))
    assert torch.allclose(x / first.data.mu, divided)


@pytest.mark.parametrize(
    "change",
    (
        {"data.balanced": True},
        {"data.flip": "correlated"},
        {"data.marginal": Gauss(0.5)},
        {"attack.p": math.inf},
        {"attack.step": 0.001},
        {"network": Perceptron(m=64, top="fixed")},
    ),
    ids=str,
)
def test_the_prediction_is_drawn_only_of_runs_that_it_is_of(change):
    run = load("boat.fig1").tasks("quick")[0]
    assert is_predicted(run) and is_predicted(replace(run, attack=None))
    other = run
    for name, value in change.items():
        other = changed(other, name, value)
    assert not is_predicted(other)
    fourth = load("boat.fig1").tasks("quick", reading="R4", fine_sizes=())
    assert {r.data.mu: is_predicted(r) for r in fourth} == {1: True, 2: True, 4: False, 8: False}
