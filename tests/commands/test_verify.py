"""`adversarium verify` and `adversarium run` give the same verdicts."""

import json

from tests.program import OWN


def test_run_and_verify_say_the_same_about_what_the_evidence_does_not_span(call, own):
    own.write_text(OWN.replace('source="me")', 'source="me", for_all=("d",))'))
    for command, key in (("run", "verdicts"), ("verify", "claims")):
        (said,) = json.loads(call(command, "./own.py", "--json").stdout)[key]
        assert said["verdict"] == "undecided" and "spans too little" in said["reason"], command
