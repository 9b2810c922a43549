"""Ladders: statements with a sufficiently large constant."""

import adversarium as av
from adversarium.papers.boat.theory.ladder import Ladder
from adversarium.plans import end
from adversarium.plans.evidence import Evidence, Where


def rung(C, share, seeds=40):
    def event(rng, C):
        return {"met": float(av.rng.uniform((1,), rng) < share)}

    trial = av.Trial(function=event, parameters={"C": C}, at={"C": C})
    return av.run(trial, range(seeds)).rows


def judged(*shares, always=False, seeds=40):
    rows = Evidence(tuple(rung(2.0 ** (i + 1), p, seeds) for i, p in enumerate(shares)))
    return Ladder("met", end("met"), "C", Where(), 0.8, always).judge(rows)


def test_what_is_met_at_the_two_top_rungs_holds_and_says_from_where_on():
    verdict = judged(0.3, 1.0, 1.0)
    assert verdict.verdict == "holds" and verdict.reason.startswith("reached for C ≥ 4")


def test_what_is_missed_at_the_top_and_does_not_rise_fails():
    assert judged(0.5, 0.2, 0.0).verdict == "fails"


def test_what_still_rises_is_open():
    verdict = judged(0.0, 0.1, 0.4)
    assert verdict.verdict == "undecided" and "still rises" in verdict.reason


def test_always_asks_for_every_seed_of_the_two_top_rungs():
    assert judged(0.5, 1.0, 1.0, always=True).verdict == "holds"
    assert judged(1.0, 1.0, 0.9, always=True).verdict == "fails"


def test_two_rungs_are_no_ladder_and_few_seeds_decide_nothing():
    assert judged(1.0, 1.0).why.value == "spans too little"
    assert judged(1.0, 1.0, 1.0, seeds=3).why.value == "too few seeds"
