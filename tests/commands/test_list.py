"""`adversarium list`: all names, or those of a paper or with a verdict."""

import json
from pathlib import Path

import adversarium
from tests.program import one_sentence

LEDGER = Path(adversarium.__file__).parent / "papers" / "ledger.json"


def test_claims_are_listed_by_paper_and_by_verdict(call):
    every = call("list", "claims", "--paper", "boat").stdout.splitlines()
    assert every and all(" boat." in line for line in every)
    failing = call("list", "claims", "--paper", "CGRO", "--verdict", "fails").stdout.splitlines()
    known = {c["id"] for c in json.loads(LEDGER.read_text())["claims"] if c["verdict"] == "fails"}
    assert {line.split()[2] for line in failing} == {id for id in known if id.startswith("cgro.")}
    assert all(line.startswith("✕ fails") for line in failing)
    assert any("N^0.73" in line for line in failing)  # the finding, with its number


def test_an_unknown_choice_is_refused(call, tmp_path):
    one_sentence(call("list", "claims", "--verdict", "hold", status=2), "Nearest: holds")
    one_sentence(
        call("list", "claims", "--verdict", "", status=2), "--verdict must be one of holds"
    )
    one_sentence(
        call("list", "claims", "--paper", "nosuch", status=2), "no paper has the tag 'nosuch'"
    )
    one_sentence(call("list", "claims", "--paper", "", status=2), "no paper has the tag ''")
    one_sentence(call("list", "probes", "--paper", "cgro", status=2), "--paper selects")
    (tmp_path / "notes.txt").write_text("hello\n")
    one_sentence(call("list", "claims", "--store", "notes.txt", status=2), "is not a store")


def test_checks_and_figures_are_listed_with_a_sentence_each(call):
    for room, name in (("checks", "Level"), ("figures", "Curves")):
        known = {e["id"]: e["text"] for e in json.loads(call("list", room, "--json").stdout)[room]}
        assert name in known and all(known.values()), known
