"""CONV's printed hypotheses, and gaps to an optimum that is only known between two ends."""

import numpy as np
import pytest

from adversarium.networks import QuadraticReLU, SmoothedReLU
from adversarium.papers.conv.experiments.deep.checks import _gap_within_eps
from adversarium.papers.conv.experiments.descents.checks import certified
from adversarium.papers.conv.theory import convergence, depths, relu_norms
from adversarium.papers.conv.theory.regime import gates
from adversarium.plans import Evidence, Rows, Trial, where
from adversarium.plans.evidence import Series
from adversarium.plans.loading import load
from adversarium.plans.papers import experiments

SEEDS = tuple(range(5))


def unmet(function, **parameters) -> list[str]:
    """Return the hypotheses that a trial does not satisfy."""
    trial = Trial(function=function, parameters=parameters)
    return [gate.text for gate in gates(trial) if not gate.holds]


def test_theorem_4_1_needs_its_width_and_a_radius_of_order_one():
    wide = dict(rule="exact", m=78336, R=1.0, eps=0.2)
    assert unmet(convergence.hidden_converging, **wide) == []
    assert unmet(convergence.hidden_converging, **{**wide, "m": 78000}) == ["mε⁷/(R⁹H¹⁶)"]
    assert unmet(
        convergence.hidden_converging, **{**wide, "m": 900, "eps": 0.4, "data": "d = 32"}
    ) == ["m/d²"]
    assert unmet(depths.depth_times, m=1024, H=16, R=1e-5) == ["R = Ω(1)"]


def test_the_lemmas_need_small_moves_and_wide_layers():
    assert unmet(relu_norms.feature_drift, m=256, H=4, tau=1e-8) == []
    assert unmet(relu_norms.feature_drift, m=256, H=4, tau=1.0) == ["τH^{9/2}(log m)³"]
    assert unmet(relu_norms.back_products, m=8, H=8) == ["m/max(d, H log H)"]
    assert unmet(relu_norms.moved_input, m=64, d=64, H=1, share=1.1) == ["R/√m"]


def test_an_unprinted_condition_is_not_a_printed_hypothesis():
    trial = Trial(function=relu_norms.moved_input, parameters=dict(m=64, d=128, H=1, share=0.0))
    assert [gate.text for gate in gates(trial) if gate.printed and not gate.holds] == []
    assert [gate.text for gate in gates(trial) if not gate.holds] == ["m/d (not printed)"]


def test_the_quadratic_relu_has_no_bounded_slope():
    of = dict(rule="exact", eps=0.2, R=1.0)
    assert unmet(convergence.descent_to_eps, activation=SmoothedReLU(b=2.0), **of) == []
    assert unmet(convergence.descent_to_eps, activation=QuadraticReLU(), **of) == [
        "1/C1 (Assumption 5.3: |σ′| ≤ C1)"
    ]


def test_compatible_sets_keep_a_distance():
    (gate,) = (
        gate
        for gate in gates(
            Trial(
                function=convergence.descent_gap,
                parameters=dict(activation=SmoothedReLU(b=2.0), rule="exact", m=64, alpha=0.1,
                                radii=(1.0,)),
            )
        )
        if gate.text == "distance of sets with different labels"
    )  # fmt: skip
    assert 0 < gate.factor < 2 and gate.holds


@pytest.mark.parametrize("id", [id for id in experiments() if id.startswith("conv.")])
def test_every_run_of_the_plans_has_finite_hypotheses(id):
    for preset in ("quick", "paper"):
        for task in load(id).tasks(preset):
            assert all(np.isfinite(gate.factor) for gate in gates(task)), task.label


def rows(trial: Trial, **columns: list[float]) -> Evidence:
    """Return rows of one trial, with the same value in every seed."""
    series = {
        name: Series(np.zeros(1), np.tile(np.array(value, dtype=float), (len(SEEDS), 1)))
        for name, value in columns.items()
    }
    return Evidence((Rows(trial, SEEDS, series),))


@pytest.mark.parametrize(
    ("gap", "high", "word"), [(0.6, 0.3, "holds"), (1.5, 0.3, "undecided"), (1.5, 0.12, "fails")]
)
def test_a_gap_is_a_violation_only_against_the_upper_end(gap, high, word):
    trial = Trial(function=max, family="one layer", parameters={"eps": 0.2})
    found = rows(trial, **{"gap/ε": [gap], "room": [0.1], "low": [0.1], "high": [high]})
    assert _gap_within_eps(where("one layer")).judge(found).verdict == word


@pytest.mark.parametrize(
    ("gap", "promised", "word"),
    [(0.6, 0.5, "holds"), (1.5, 0.5, "undecided"), (1.5, 0.3, "fails")],
)
def test_a_guarantee_is_refuted_only_by_its_upper_end(gap, promised, word):
    trial = Trial(function=max, family="circle")
    one = Series(np.zeros(1), np.full((5, 1), 0.4))
    wide = {
        name: Series(np.zeros(1), np.full((5, 1, 1), value), {"R": (1.0,)})
        for name, value in {"gap/ε": gap, "room": 0.1, "promised": promised}.items()
    }
    found = Evidence((Rows(trial, SEEDS, {"least L_A": one, **wide}),))
    assert certified(where("circle")).judge(found).verdict == word
