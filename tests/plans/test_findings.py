"""Every claim has a finding that was written for its verdict, with numbers from its evidence."""

import re
from dataclasses import replace

import pytest

from adversarium.plans.evidence import Summary
from adversarium.plans.findings import MOST, MOST_WHY, Finding, Number, findings
from adversarium.plans.papers import claims, papers
from adversarium.runs.ledger_file import committed

_UNREADABLE = re.compile(r"[a-z]{3,}_[a-z]{3,}|\{[a-z]|\$")  # identifiers, placeholders, LaTeX
ENTRIES = {entry.id: entry for entry in committed()}


@pytest.mark.parametrize("tag", papers())
def test_every_claim_has_a_finding_for_its_verdict_with_all_of_its_numbers(tag):
    written = findings(tag)
    wanted = {c.id for c in claims().values() if c.paper == tag and not c.alias_of}
    assert set(written) == wanted
    for id, finding in written.items():
        entry = ENTRIES[id]
        assert finding.verdict == entry.verdict, f"{id}: read its finding again"
        assert entry.finding, f"{id}: a placeholder has no number"
        assert len(entry.finding) <= MOST, f"{id}: {len(entry.finding)} characters"
        assert not _UNREADABLE.search(entry.finding), f"{id}: {entry.finding}"
        fails = finding.verdict in ("fails", "mixed")
        assert bool(finding.why) == fails, f"{id}: a few words say why a claim fails"
        assert len(finding.why) <= MOST_WHY, f"{id}: {len(finding.why)} characters"


MEASURED = (
    Summary("error (d = 10)", -0.16, -0.2, -0.1, ()),
    Summary("error (d = 20)", 3, 3, 3, ()),
)


def test_a_placeholder_names_a_quantity_or_the_extreme_one_of_several():
    text = "from {a} in [{a.low}, {a.high}] to {b:.0%}"
    finding = Finding("holds", text, {"a": "error (d = 10)", "b": {"max": "error (*"}})
    numbers = finding.numbers(MEASURED)
    assert finding.filled(numbers) == "from −0.16 in [−0.2, −0.1] to 300%"
    assert Finding("holds", "{a}", {"a": "error (d = 40)"}).numbers(MEASURED) is None


def test_an_entry_with_another_verdict_or_without_its_numbers_has_no_finding():
    entry = ENTRIES[next(iter(findings("cgro")))]
    assert entry.finding
    assert not replace(entry, verdict="undecided").finding
    assert not replace(entry, numbers={"unknown": Number(1.0)}).finding
