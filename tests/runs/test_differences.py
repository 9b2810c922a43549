"""Runs that a change does not affect are listed in notes; they do not raise an error."""

import pytest

from adversarium.runs.audit import AuditOptions
from adversarium.runs.planning import plan


def notes(id: str, **changes) -> tuple[str, ...]:
    """Return the notes of an experiment with changes."""
    return plan(id, "", AuditOptions("quick"), changes).notes


PARTLY = {
    "a knob of one family": (
        ("cgro.thm4.1", {"m": 4}),
        "m changes 8 of 9 runs, but not theorem, set = E",
    ),
    "a knob of some runs": (
        ("rnrf.phases", {"m": 200}),
        "m changes 8 of 23 runs, but not classes, k = 2; classes, k = 4; classes, k = 8; "
        "sizes, d = 8; and 11 more",
    ),
    "a knob of many runs": (
        ("rnrf.phases", {"start": 0.5}),
        "start changes 11 of 23 runs, but not standard, early, d = 16, σ0√d = 0.3; "
        "attacked, early, d = 16, σ0√d = 0.3, η̃ = 1; attacked, early, d = 16, σ0√d = 0.3, η̃ = 2; "
        "attacked, early, d = 16, σ0√d = 0.3, η̃ = 4; and 8 more",
    ),
    "a knob of trials": (
        ("cgrm.constructions", {"D": 7}),
        "D changes 2 of 28 runs, but not boundary; distance, d = 4; distance, d = 16; "
        "distance, d = 64; and 22 more",
    ),
    "a field that trials do not have": (
        ("conv.eq16", {"network.m": 4}),
        "network.m changes 8 of 10 runs, but not any W, any W_ref, m = 256; slacks, A = exact, "
        "R = 3, m = 256",
    ),
}


@pytest.mark.parametrize("what", PARTLY)
def test_a_change_that_reaches_only_some_runs_is_noted_with_the_others(what):
    (id, changes), note = PARTLY[what]
    assert notes(id, **changes) == (note,)


@pytest.mark.parametrize(
    "changes",
    [{"network.m": 4}, {"scaling": 100}, {"m": 4, "sets": ()}, {"lam": 0.9}],
    ids=str,
)
def test_a_change_that_reaches_every_run_has_no_note(changes):
    assert notes("cgro.thm4.1", **changes) == ()


def test_a_value_that_follows_from_a_knob_changes_with_it():
    alone = {"early": ()}
    (note,) = notes("rnrf.phases", m=4, **alone)  # runs with at most 8 filters get 4
    assert "changes 15 of 19 runs, but not reading, η̃ = 10, clip = element; " in note
    (note,) = notes("rnrf.phases", m=200, **alone)  # and keep 8
    assert "changes 4 of 19 runs, but not classes, k = 2; " in note


def test_measurements_that_keep_the_published_radius_are_noted():
    radius = notes("rnrf.fig3", **{"attack.radius": 0.01})
    assert radius == (
        "attack.radius changes 1 of 2 runs, but not standard",
        "replaced_error, raw_error, strong_error of adversarial are still measured at radius 1.2",
    )
    assert notes("rnrf.fig3", eps=0.01) == ()  # the knob changes both


def test_a_dry_run_prints_the_note_and_partly_has_no_effect(call):
    words = ("run", "cgro.thm4.1", "--set", "m=4", "--dry-run")
    out = call(*words).stdout
    assert "m changes 8 of 9 runs, but not theorem, set = E" in out.splitlines()
    assert call(*words, "--partly").stdout == out
