"""The picture of a claim: one panel per part, its range, and what lies outside."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from adversarium.plans import ABOVE_ZERO, Exponent, Trial
from adversarium.plans.compound import judged
from adversarium.plans.evidence import Evidence, Rows, Series, Summary, Where
from adversarium.plans.verdict import Outcome, Part
from adversarium.report.picture import PANELS, _axis, claim_picture, deciding_panel, standalone
from adversarium.runs.ledger import Entry
from adversarium.runs.ledger_file import committed

ENTRY = Entry("toy.slope", "toy", "s", "s", "level", "mixed")


def part(name, outcome, mean, wanted, **more):
    values = (mean - 0.1, mean + 0.1)
    one = Summary(name, mean, mean - 0.1, mean + 0.1, values, wanted)
    return Part(name, outcome, (one,), low=wanted[0], high=wanted[1], **more)


def drawn(*parts):
    return claim_picture(replace(ENTRY, parts=parts))


@pytest.mark.parametrize("tag", ("cgro", "cgrm", "rnrf", "boat", "conv"))
def test_every_claim_that_measured_something_has_a_picture_of_well_formed_panels(tag):
    for entry in committed():
        if entry.paper == tag:
            panels = claim_picture(entry)
            assert len(panels) <= PANELS
            assert bool(panels) == any(m.mean is not None for m in entry.measured), entry.id
            for panel in panels:
                root = ElementTree.fromstring(panel)
                assert root.get("aria-label"), entry.id
                width = float(root.get("viewBox").split()[2])
                for line in root.iter("line"):
                    assert 0 <= float(line.get("x1")) <= width, entry.id


def test_what_lies_outside_its_range_is_a_diamond_and_what_lies_inside_a_circle():
    inside, outside = drawn(
        part("a", Outcome.HOLDS, 0.5, (0.0, 1.0)), part("b", Outcome.FAILS, 3.0, (0.0, 1.0))
    )
    assert "circle" in inside and "path" not in inside and "✓ a" in inside
    assert "path" in outside and "circle" not in outside and "✕ b" in outside
    assert all(panel.count("claimzone") == 1 for panel in (inside, outside))


def test_an_inequality_shows_every_seed():
    (panel,) = drawn(part("a", Outcome.HOLDS, 0.5, (None, 1.0), kind="inequality"))
    assert panel.count('seed"') == 2 and "each dot is a seed" in panel


def test_a_fitted_exponent_shows_its_points_and_the_fitted_and_the_claimed_line():
    sizes = (1.0, 2.0, 4.0, 8.0)
    rows = [
        Rows(Trial(function=max, at={"d": d}), (0, 1, 2, 3, 4),
             {"y": Series(np.zeros(1), np.full((5, 1), d**2))})
        for d in sizes
    ]  # fmt: skip
    check = Exponent("power of d in y", "y", "d", Where(), claimed=1, tolerance=0.1)
    verdict = judged(check, Evidence(tuple(rows)))
    assert verdict.kind == "exponent" and verdict.fits[0].means == pytest.approx((1, 4, 16, 64))
    (panel,) = drawn(*verdict.parts)
    assert panel.count("<circle") == 4 and panel.count("<polyline") == 2 and ">2<" in panel


def test_the_deciding_panel_is_that_of_a_failing_part_and_stands_alone():
    entry = replace(ENTRY, parts=(
        part("a", Outcome.HOLDS, 0.5, (0.0, 1.0)), part("b", Outcome.FAILS, 3.0, (0.0, 1.0)),
    ))  # fmt: skip
    panel = deciding_panel(entry)
    assert "✕ b" in panel
    whole = standalone(panel)
    ElementTree.fromstring(whole)
    assert "prefers-color-scheme: dark" in whole.replace(":dark", ": dark")
    assert not re.search(r"var\(--(?!ink|soft|grid|card|one|two|three|four|sans)", whole)


def test_a_range_that_excludes_0_is_drawn_from_0():
    from_zero, above = (_axis([low, 0.2, 0.4], 0.0, 100.0) for low in (0.0, ABOVE_ZERO))
    assert above == from_zero and not above.log
