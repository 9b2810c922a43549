"""The end of a call: one sentence for an invalid call, only JSON with --json, help for every
flag."""

import io
import json
import sys

import pytest

from adversarium.cli import main
from adversarium.commands.program import COMMANDS, program
from tests.program import SHORT, one_sentence

WRONG = {
    "show": "show needs an id",
    "new": "new needs FILE.py",
    "sweep cgro.thm4.1": "sweep needs an axis, such as --over",
    "sweep cgro.thm4.1 --over d=10,10": "10 occurs twice",
    "sweep cgro.thm4.1 --over d=log:1:9:2.5": "a whole number of values",
    "attack boat.fig2 --radii -1,2": "--radii needs distinct numbers >= 0",
    "run boat.fig2 --set mu=nan": "nan is not allowed as a value",
    "run cgro.thm4.1 --set attack=pgd(p=2)": "PGD also needs radius=…",
    "run boat.lower --set laws=(Gaus,)": "has no choice 'Gaus'",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_call_is_answered_in_the_words_of_the_call(words, call):
    one_sentence(call(*words.split(), status=2), WRONG[words])


def test_what_a_file_prints_does_not_spoil_the_json(call, own):
    text = SHORT.replace("quick =", "print('hello')\nquick =")
    own.write_text(text.replace("    data = Patch", "    print('planning')\n    data = Patch"))
    said = call("run", "./own.py", "--seeds", "2", "--json")
    assert set(json.loads(said.stdout)) == {"runs", "verdicts", "figures"}
    assert "hello" in said.stderr and "planning" in said.stderr
    assert json.loads(call("verify", "./own.py", "--seeds", "2", "--json").stdout)["claims"]


def printed(words: list[str], monkeypatch) -> tuple[int, bytes]:
    """Return status and bytes of a call whose standard output can only encode ASCII."""
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        main(words)
    sys.stdout.flush()
    return int(stop.value.code or 0), buffer.getvalue()


@pytest.mark.usefixtures("call")
def test_a_terminal_without_greek_gets_the_rest(monkeypatch):
    status, out = printed(["list", "claims"], monkeypatch)
    assert status == 0 and len(out.splitlines()) > 320
    status, out = printed(["list", "claims", "--json"], monkeypatch)
    texts = [entry["text"] for entry in json.loads(out)["claims"]]
    assert status == 0 and any("≤" in text for text in texts)


@pytest.mark.usefixtures("call")
def test_a_closed_standard_output_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as stop:
        main(["list"])
    assert stop.value.code == 2 and "standard output is closed" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_has_a_help_text(command):
    given = program()[command].assemble_argument_collection(parse_docstring=True)
    for argument in given:
        assert argument.parameter.help, f"{command} {argument.name} has no help"


def test_completion_knows_the_commands_and_help_says_how_to_get_it(call):
    made = program().generate_completion(shell="bash")
    assert all(name in made for name in COMMANDS)
    assert "--install-completion" in call("--help").stdout
