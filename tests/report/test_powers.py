"""Fitted powers beside the claimed ones."""

import numpy as np

from adversarium.experiments.evidence import Rows
from adversarium.experiments.spec import Powers
from adversarium.report.figures import draw


def test_a_power_is_fitted_a_seed_and_drawn_beside_the_claimed_one(tmp_path):
    sizes = {f"x = {x:g}": x for x in (1.0, 2.0, 4.0, 8.0)}
    seeds = np.array([1.0, 1.5, 0.8, np.nan])  # the last never came about
    rows = {
        label: Rows((0, 1, 2, 3), {"T": (np.array([1]), 5 * seeds[:, None] * x**-1.5)})
        for label, x in sizes.items()
    }
    figure = Powers(
        name="T", probe="T", number=lambda run: run.last("T"),
        sweeps={"x": sizes, "z": {"no": 1.0}},
        claimed={"x": -1.0, "z": 1.0},
    )  # fmt: skip
    svg, pdf = draw(figure, rows, tmp_path, formats=("svg", "pdf"))
    assert svg.stat().st_size > 1000 and pdf.exists()
    lines = svg.with_suffix(".csv").read_text().splitlines()
    assert len(lines) == 1 + 4 + 1
    name, what, mean, low, high = lines[-1].split(",")
    assert (name, what) == ("x", "power; claimed -1")
    assert np.allclose([float(mean), float(low), float(high)], -1.5)
    assert draw(figure, {}, tmp_path) == []
