"""Fitted powers are shown together with the claimed ones."""

import numpy as np

from adversarium.plans import Evidence, Powers, Reading, Rows, Trial, where
from adversarium.plans.evidence import Series
from adversarium.report.figures import draw


def stopped(rng):
    """A task that is not run; its rows are given."""


def time(rows):
    """Return T, one number per seed."""
    return rows.last("T")


def swept(family, *sizes):
    """Return T = 5 x^(−3/2) times a factor that varies with the seed; the last seed has no T."""
    seeds = np.array([1.0, 1.5, 0.8, np.nan])
    return tuple(
        Rows(
            Trial(function=stopped, family=family, at={"x": x}),
            (0, 1, 2, 3),
            {"T": Series(np.array([1]), 5 * seeds[:, None] * x**-1.5)},
        )
        for x in sizes
    )


def test_a_power_is_fitted_a_seed_and_drawn_beside_the_claimed_one(tmp_path):
    figure = Powers(
        name="T",
        number=Reading("T", time, ("T",)),
        sweeps={"x": where("far"), "z": where("one")},
        along={"z": "x"},
        claimed={"x": -1.0, "z": 1.0},
    )
    rows = Evidence((*swept("far", 1.0, 2.0, 4.0, 8.0), *swept("one", 1.0)))
    svg, pdf = draw(figure, rows, tmp_path, formats=("svg", "pdf"))
    assert svg.stat().st_size > 1000 and pdf.exists()
    lines = svg.with_suffix(".csv").read_text().splitlines()
    assert len(lines) == 1 + 4 + 1  # one size is no sweep
    name, what, mean, low, high = lines[-1].split(",")
    assert (name, what) == ("x", "power; claimed -1")
    assert np.allclose([float(mean), float(low), float(high)], -1.5)
    assert draw(figure, Evidence(), tmp_path) == []
