"""`adversarium verify` and `adversarium run` give the same verdicts."""

import json

from tests.program import OWN


def test_run_and_verify_say_the_same_about_what_the_evidence_does_not_span(call, own):
    own.write_text(OWN.replace('source="me")', 'source="me", for_all=("d",))'))
    for command, key in (("run", "verdicts"), ("verify", "claims")):
        (said,) = json.loads(call(command, "./own.py", "--json").stdout)[key]
        assert said["verdict"] == "undecided" and "spans too little" in said["reason"], command


def test_shipped_rows_judge_a_claim_while_others_of_its_experiment_lack_data(call, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "none")  # without the user's downloads
    said = call("verify", "cgro.fig2b", "cgro.x.radius", "--json", status=1)
    by_id = {c["id"]: c for c in json.loads(said.stdout)["claims"]}
    assert by_id["cgro.fig2b"]["preset"] == "paper" and by_id["cgro.fig2b"]["parts"]
    assert by_id["cgro.x.radius"]["verdict"] == "not run"
