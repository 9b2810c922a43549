"""Numbers in the pages are the ledger's."""

from dataclasses import replace
from pathlib import Path

import pytest

from adversarium.plans.evidence import Summary
from adversarium.report.marks import HEAD, MARK, head, page, renewed
from adversarium.runs.ledger import Entry, committed

DOCS = Path(__file__).parents[2] / "docs"
ENTRY = Entry("toy.slope", "toy", "s", "s", "level", "holds")
TOLD = replace(ENTRY, measured=(Summary("power of N", -0.876, -0.9, -0.85, (-0.9, -0.85)),))


@pytest.mark.parametrize("tag", ("cgro", "cgrm", "rnrf", "boat", "conv"))
def test_a_papers_page_has_the_ledgers_numbers_and_opens_with_readings(tag):
    for path in DOCS.glob(f"{tag}*.md"):
        there = path.read_text(encoding="utf-8")
        assert there == page(there, tag, committed()), f"make ledger renews {path.name}"
    text = (DOCS / f"{tag}.md").read_text(encoding="utf-8")
    assert len(MARK.findall(text)) >= 3 and HEAD[0] in text


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
    with pytest.raises(ValueError, match=r"ledger has no claim|it measured power of N"):
        renewed(f"0.1<!-- {mark} -->", (TOLD,))


def test_what_is_not_decided_stands_at_the_head():
    open_ = replace(ENTRY, id="cgro.open", paper="cgro", verdict="undecided", reason="few seeds")
    told = head("cgro", (open_, TOLD))
    assert "- `cgro.open`: few seeds" in told and "toy.slope" not in told and "polylog" in told
