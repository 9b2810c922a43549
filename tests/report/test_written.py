"""Files can be written again over an earlier version, but not over an edited or another file."""

import pytest

from tests.program import one_sentence


@pytest.mark.parametrize("name", ["risk.svg", "risk.csv"])
def test_a_figure_replaces_an_earlier_one_and_nothing_else(call, own, tmp_path, name):
    for _ in range(2):
        call("run", "./own.py", "--out", "pictures")
    mine = tmp_path / "pictures" / "own" / name
    mine.write_text(mine.read_text() + "\nmy note\n")
    one_sentence(call("run", "./own.py", "--out", "pictures", status=2), "was edited after")
    assert "my note" in mine.read_text()
    other = tmp_path / "mine" / name
    other.parent.mkdir()
    other.write_text("my own")
    said = call("export", "./own.py", "--to", "svg", "--out", "mine", status=2)
    one_sentence(said, "was not written by adversarium")
    assert other.read_text() == "my own"
