"""The catalogue: listed ids, an experiment for every check, and plans that record what checks
need."""

import csv
import math
from functools import cache
from pathlib import Path

import pytest

from adversarium.plans.catalogue import experiment_ids, nearest, selected_claims
from adversarium.plans.evidence import NO_ROWS
from adversarium.plans.loading import load
from adversarium.plans.names import public_names
from adversarium.plans.papers import claims, experiments, paper_of, papers
from adversarium.plans.rules import Hypothesis, NotTestable
from adversarium.plans.run import Run, Trial

LIST = Path(__file__).parents[3] / "shared" / "papers" / "claims.tsv"
KINDS = {"identity", "inequality", "level", "ordering", "exponent", "frequency", "existence"}
PRESETS = ("quick", "paper")
EITHER = {"largest_signal", "signals"}  # a check that names both reads the one that is there


@cache
def tasks(id, preset):
    """Return the plan of an experiment, computed once for all tests."""
    return load(id).tasks(preset)


def stand_in(id: str) -> bool:
    return id.endswith(".digits")


@pytest.mark.skipif(
    not LIST.exists(), reason="the canonical list of claims is not beside the clone"
)
def test_ids_kinds_rules_and_aliases_are_those_of_the_canonical_list():
    with LIST.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    own = {id: c for id, c in claims().items() if not stand_in(id) and not c.ours}
    order = list(papers())
    assert list(own) == [
        line["id"] for line in sorted(lines, key=lambda line: order.index(line["paper"].lower()))
    ]
    for line in lines:
        claim = own[line["id"]]
        assert claim.kind == line["kind"]
        # an alias of a statement that fails as printed may be one of its correction
        assert claim.alias_of.removesuffix(".corrected") == line["alias_of"]
        assert claim.images == (line["images"] == "yes")
        assert claim.source == line["source"] and claim.rule == line["rule"]


def test_every_claim_has_a_statement_a_kind_and_a_known_alias():
    for claim in claims().values():
        assert len(claim.statement) > 20 and claim.source, claim.id
        assert claim.kind in KINDS
        assert not claim.alias_of or claim.alias_of in claims()
        if stand_in(claim.id):
            assert claims()[claim.id.removesuffix(".digits")].images
        if claim.id.endswith(".corrected"):
            assert claim.id.removesuffix(".corrected") in claims()


def test_a_claim_quantifies_over_letters_of_its_paper():
    for claim in claims().values():
        assert set(claim.for_all) <= set(paper_of(claim.id).letters), claim.id


def test_every_paper_has_a_title_authors_an_entry_for_bibtex_and_letters():
    for tag, paper in papers().items():
        assert paper.tag == tag and paper.key == tag.upper()
        assert paper.title in paper.bibtex and paper.authors in paper.bibtex
        assert paper.letters and (paper.folder / "claims.toml").is_file()
    assert [paper.order for paper in papers().values()] == [1, 2, 3, 4, 5, 6]
    assert paper_of("rnrf.fig3") is papers()["rnrf"]


def test_the_checks_of_all_experiments_are_the_catalogue_and_have_its_kinds():
    homes = {}
    for id, entry in experiments().items():
        experiment = load(id)
        assert set(experiment.checks) == set(entry.claims), id
        for claim, check in experiment.checks.items():
            assert check.kind == claims()[claim].kind, claim
            homes[claim] = id
    implemented = {c.id for c in claims().values() if c.experiment}
    assert set(homes) == implemented
    for id, entry in experiments().items():
        assert {c.split(".")[0] for c in entry.claims} <= {id.split(".")[0]}


@pytest.mark.parametrize("id", experiments())
def test_presets_turn_only_knobs_and_every_run_has_a_place_of_its_own(id):
    for preset in PRESETS:
        labels = [task.label for task in tasks(id, preset)]
        assert labels and len(set(labels)) == len(labels)
        assert load(id).seeds(preset) >= 5


def records(task, names) -> bool:
    """Return whether a task records all names. The step of a worst value is optional, and what a
    trial returns is known only after it has run (test_toy_sizes)."""
    if isinstance(task, Trial):
        return True
    known = {name for recording in task.recordings for name in recording.names}
    if set(names) >= EITHER and known & EITHER:
        known |= EITHER
    return {name for name in names if not name.startswith("step of ")} <= known


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("id", experiments())
def test_what_a_check_needs_is_recorded_by_a_run_of_its_plan(id, preset):
    for claim, check in load(id).checks.items():
        for need in check.needs:
            meant = [task for task in tasks(id, preset) if need.where.meets(task)]
            if preset == "quick" and not meant:  # a part that only the paper preset decides
                continue
            told = f"{claim} needs {need.names} of {need.where.description or 'any run'}"
            assert any(need.names == NO_ROWS or records(task, need.names) for task in meant), told


def test_a_check_without_needs_is_a_cited_one_or_a_definition():
    for id in experiments():
        for claim, check in load(id).checks.items():
            assert check.needs or isinstance(check, (NotTestable, Hypothesis)), claim


@pytest.mark.parametrize("id", [id for id in experiments() if load(id).gates is not None])
def test_gates_are_numbers_for_every_run_of_the_quick_plan(id):
    gates = load(id).gates
    runs = [task for task in tasks(id, "quick") if isinstance(task, Run)]
    for run in runs:
        told = gates(run)
        assert len({gate.text for gate in told}) == len(told)
        for gate in told:
            assert gate.text and gate.low <= gate.high
            assert not math.isnan(gate.factor), f"{run.label}: {gate}"


def test_words_select_papers_experiments_claims_and_prefixes():
    assert {c.paper for c in selected_claims(("rnrf",))} == {"rnrf"}
    assert [c.id for c in selected_claims(("cgro.thm4.1.control-lam0",))] == [
        "cgro.thm4.1.control-lam0"
    ]
    assert "rnrf.fig3.crossing" in {c.id for c in selected_claims(("rnrf.fig3",))}
    assert len(selected_claims(())) == len(claims())
    assert experiment_ids("rnrf.fig3.transition") == ["rnrf.fig3"]
    with pytest.raises(ValueError, match=r"Nearest: .*cgro\.thm4\.1"):
        selected_claims(("cgro.thm41",))


def test_public_names_are_read_from_the_source():
    import adversarium.attacks as room

    assert set(public_names("attacks")) == set(room.__all__)
    assert all(known.sentence for known in public_names("data").values())
    assert public_names("measure")["risk"].symbol == "training loss"


def test_a_close_name_is_offered_once():
    assert nearest("radiu", ["radius", "radius", "n"]) == " Nearest: radius."
