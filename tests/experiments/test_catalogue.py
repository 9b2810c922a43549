"""The catalogue: all ids of the canonical list, statements in our words, checks with a home."""

import csv
from pathlib import Path

import pytest

from adversarium.experiments.catalogue import (
    claims,
    experiment_ids,
    experiments,
    load,
    public_names,
    selected_claims,
)
from adversarium.papers import PAPERS

LIST = Path(__file__).parents[3] / "shared" / "papers" / "claims.tsv"
KINDS = {"identity", "inequality", "level", "ordering", "exponent", "frequency", "existence"}


def stand_in(id: str) -> bool:
    return id.endswith(".digits")


@pytest.mark.skipif(
    not LIST.exists(), reason="the canonical list of claims is not beside the clone"
)
def test_ids_kinds_rules_and_aliases_are_those_of_the_canonical_list():
    with LIST.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    own = {id: c for id, c in claims().items() if not stand_in(id)}
    assert list(own) == [
        line["id"] for line in sorted(lines, key=lambda r: list(PAPERS).index(r["paper"].upper()))
    ]
    for line in lines:
        claim = own[line["id"]]
        assert (claim.kind, claim.alias_of) == (line["kind"], line["alias_of"])
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


def test_the_checks_of_all_experiments_are_the_catalogue_and_have_its_kinds():
    found = {}
    for id, entry in experiments().items():
        experiment = load(id)
        assert set(experiment.checks) == set(entry.claims), id
        for claim, check in experiment.checks.items():
            assert check.kind == claims()[claim].kind, claim
            found[claim] = id
    implemented = {c.id for c in claims().values() if c.experiment}
    assert set(found) == implemented
    for id, entry in experiments().items():
        assert {c.split(".")[0] for c in entry.claims} <= {id.split(".")[0]}


def test_presets_turn_only_knobs_and_labels_are_unique():
    for id in experiments():
        experiment = load(id)
        for preset in ("quick", "paper"):
            labels = [task.label for task in experiment.runs(preset)]
            assert len(set(labels)) == len(labels), id
            assert experiment.seeds(preset) >= 5


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
    with pytest.raises(ValueError, match="not yet implemented"):
        experiment_ids("cgro.fig1")


def test_public_names_are_read_from_the_source():
    import adversarium.attacks as room

    assert set(public_names("attacks")) == set(room.__all__)
    assert all(public_names("data").values())
