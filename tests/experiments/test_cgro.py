"""CGRO's checks follow what was run."""

import numpy as np
import pytest

from adversarium.bounds import critical_n
from adversarium.experiments.catalogue import load
from adversarium.experiments.cgro import flatness, phases
from adversarium.experiments.cgro.patches import given_a_start
from adversarium.experiments.checks import at_most, last
from adversarium.experiments.evidence import Rows
from adversarium.rng import normal, stream
from adversarium.sweeps.grid import planned


def test_the_ladders_critical_count_is_that_of_the_changed_run():
    tasks = planned(load("cgro.phases"), "quick", {"alpha": 2.0, "gap": (0.2, 0.17, 0.15)})
    share = {"memory_share": (np.array([0]), np.zeros((5, 1)))}
    ladders = phases._ladders({t.label: Rows(tuple(range(5)), share) for t in tasks})
    own = critical_n(200, 3, 8, 2.0, 200**-0.509, 200**-0.5, 0.2)
    assert {(d, gap): N_c for d, gap, N_c in ladders}[200, 0.2] == pytest.approx(own, rel=1e-5)


def test_seeds_without_a_positive_start_are_left_out():
    start = np.array([0.1, -0.2, 0.3, 0.1, 0.2, 0.5])
    values = {"x": (np.array([9]), np.array([0, 9, 0, 0, 0, 0.0])[:, None])}
    one = Rows(tuple(range(6)), {**values, "largest_signal": (np.array([0]), start[:, None])})
    filters = {f"signals[{r}]": (np.array([0, 9]), np.stack([start - r, start], 1)) for r in (0, 1)}
    for run in (one, Rows(tuple(range(6)), {**values, **filters})):
        found = given_a_start("set", at_most(last("x", "set"), 1.0)).judge({"set": run})
        assert found.verdict == "holds" and found.measured[-1]["mean"] == pytest.approx(5 / 6)


@pytest.mark.parametrize("D", (2, 3))
def test_the_maximum_over_a_ball_is_hardly_missed(D):
    rng = stream(0, "ball")
    net, x = flatness.Features(rng, D), normal((60, D), rng)
    y = flatness.label_of(x)[:, None]
    fine = flatness.ball(D, 15)
    best = net.loss(x[:, None] + 0.5 * fine, y.expand(-1, len(fine))).amax(1)
    found = flatness._worst(net.loss, x, flatness.ball(D, flatness._GRID[D]), 0.5)
    assert (found / best).mean() > 0.995 and (found / best).min() > 0.9
