"""Checks of several commands before any work: ids, and output folders."""

import pytest

from tests.program import one_sentence


@pytest.mark.parametrize("command", ("run", "verify", "show", "export", "attack"))
def test_an_empty_id_is_refused(command, call):
    one_sentence(call(command, "", status=2), "name an experiment")


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(call, own):
    for command in (("run",), ("sweep", "--over", "n=4,5")):
        words = (command[0], f"./{own.name}", *command[1:], "--out", f"{own.name}/figures")
        one_sentence(call(*words, status=2), "is a file; choose another")
    assert not (own.parent / "adversarium.sqlite").exists()
