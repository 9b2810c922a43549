"""`adversarium new`: templates, and names that cannot be used."""

import pytest

from tests.program import one_sentence

REFUSED = {
    "my-theorem-2.py": "such as my_theorem_2.py, got my-theo",
    "": "new needs a file such as mine.py",
    "paper": "new paper needs a folder",
    "paper cgro": "cgro is already the tag of a paper",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_name_that_cannot_be_used_is_refused(words, call):
    one_sentence(call("new", *(words.split() or [""]), status=2), REFUSED[words])


def test_a_template_makes_its_folder(call, tmp_path):
    call("new", "deep/mine.py")
    assert (tmp_path / "deep" / "mine.py").is_file()
