"""Numbers in the pages are those of the ledger."""

from dataclasses import replace
from pathlib import Path

import pytest

from adversarium.plans.evidence import Summary
from adversarium.report.marks import (
    MARK,
    READINGS,
    UNDECIDED,
    readings_list,
    renewed,
    undecided_table,
)
from adversarium.runs.ledger import Entry
from adversarium.runs.ledger_file import committed
from tests.full_entries import full_entries

DOCS = Path(__file__).parents[2] / "docs"
ENTRY = Entry("toy.slope", "toy", "s", "s", "level", "holds")
TOLD = replace(ENTRY, measured=(Summary("power of N", -0.876, -0.9, -0.85, (-0.9, -0.85)),))


@pytest.mark.slow
@pytest.mark.parametrize("tag", ("cgro", "cgrm", "rnrf", "boat", "conv"))
def test_a_papers_page_has_the_numbers_of_the_shipped_rows(tag):
    checked = 0
    for path in DOCS.glob(f"{tag}*.md"):
        text = path.read_text(encoding="utf-8")
        known = full_entries({found["claim"] for found in MARK.finditer(text)})
        for found in MARK.finditer(text):
            if found["claim"] in known:  # others are judged at the quick preset, from other rows
                assert renewed(found[0], known.values()) == found[0], f"{path.name}: {found[0]}"
                checked += 1
    assert checked >= 3


@pytest.mark.parametrize("tag", ("cgro", "cgrm", "rnrf", "boat", "conv"))
def test_a_papers_page_lists_its_readings_and_what_is_not_decided(tag):
    text = (DOCS / f"{tag}.md").read_text(encoding="utf-8")
    blocks = {READINGS: readings_list(tag), UNDECIDED: undecided_table(tag, committed())}
    for (begin, end), wanted in blocks.items():
        assert text.partition(begin)[2].partition(end)[0].strip() == wanted


@pytest.mark.parametrize(
    ("what", "shown"),
    (("", "−0.88"), (" :: low", "−0.90"), (" :: half", "0.03"), (" :: most", "−0.85")),
)
def test_a_mark_names_a_number_and_keeps_its_digits(what, shown):
    mark = f"<!-- toy.slope :: power of N{what} -->"
    assert renewed(f"like N^0.00{mark}, and", (TOLD,)) == f"like N^{shown}{mark}, and"


def test_a_mark_behind_a_percentage_keeps_the_unit():
    share = replace(ENTRY, measured=(Summary("share", 0.018, 0.0, 0.1, (0.018,)),))
    text = renewed("9.9 %<!-- toy.slope :: share --> fall", (share,))
    assert text == "1.8 %<!-- toy.slope :: share --> fall"


@pytest.mark.parametrize("mark", ("toy.none :: power of N", "toy.slope :: another"))
def test_a_mark_without_a_number_is_refused(mark):
    with pytest.raises(ValueError, match=r"ledger has no claim|it has power of N"):
        renewed(f"0.1<!-- {mark} -->", (TOLD,))


def test_what_is_not_decided_is_a_line_of_the_table():
    open_ = replace(ENTRY, id="cgro.open", paper="cgro", verdict="undecided", reason="few seeds")
    told = undecided_table("cgro", (open_, TOLD))
    assert "| `cgro.open` | few seeds |" in told and "toy.slope" not in told
    assert "polylog" in readings_list("cgro")
