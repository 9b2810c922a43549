"""The pages of the site: their content, their links, and their markup."""

import json
import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from string import ascii_letters, digits
from xml.etree import ElementTree

import pytest

from adversarium.plans.evidence import Summary
from adversarium.plans.gates import Gate
from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import claims
from adversarium.plans.verdict import Outcome, Part
from adversarium.report.site.claim import claim_page
from adversarium.report.site.overviews import (
    errata_page,
    index_page,
    notation_page,
    search_data,
    statements_page,
)
from adversarium.report.tables import MEANINGS
from adversarium.runs.ledger import Entry, Expected

SAFE = set(ascii_letters + digits + "./#-_?=&+%")
EVIL = "\"><script>alert('x')</script> & ../../../etc"
PRINTED = Entry(
    "cgro.eq.grad", "cgro", "Thm C.2", "printed d^{0.5}", "identity", "fails",
    (Summary("error", 3.0, 2.0, 4.0, (3.0,)),), Expected("exact identity", None, 1e-10),
    reason="worst error 3", seeds=5, preset="quick", engine="trial", seconds=1.0,
    corrected="cgro.eq.grad.corrected", command="adversarium verify cgro.eq.grad",
    parts=(
        Part("error", Outcome.FAILS, (Summary("error", 3.0, 2.0, 4.0, (3.0,), (None, 1e-10)),)),
    ),
    regime=(Gate("N/N_c", 13.5, high=1.0, printed=False),), spans={"sigma0": (0.1, 0.4)},
    reading="as printed", for_all=("N", "eta"), note="a note",
)  # fmt: skip
RIGHT = replace(
    PRINTED, id="cgro.eq.grad.corrected", statement="mended", verdict="holds", corrected=None
)
ALIAS = replace(PRINTED, id="cgro.eq.copy", alias_of="cgro.eq.grad", corrected=None)


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def tree(text: str) -> ElementTree.Element:
    """Return a page as XML, which must be well-formed, including MathML."""
    assert text.startswith("<!doctype html>\n")
    return ElementTree.fromstring(text.partition("\n")[2])


def words(text: str) -> str:
    """Return the visible text of a page."""
    return " ".join("".join(tree(text).itertext()).split())


def test_the_site_has_ledger_claims_figures_data_errata_and_provenance(site):
    index = (site / "index.html").read_text()
    listed = (site / "statements.html").read_text()
    assert "Five" not in index and "boat.thm3.1.train_error.published" in listed
    assert len(index.encode()) < 200_000
    claim = words((site / "claims" / "boat.thm3.1.train_error.published.html").read_text())
    statement = claims()["boat.thm3.1.train_error.published"].statement
    command = "adversarium verify boat.thm3.1.train_error.published --preset quick"
    for word in (command, statement[:40], "BibTeX", "@misc{boat"):
        assert word in claim
    errata = words((site / "errata.html").read_text())
    for word in ("cgro.eq.grad", "corrected"):
        assert word in errata
    page = (site / "experiments" / "boat.published.html").read_text()
    assert page.count("<img") == 1 and "training.csv" in page and "TwoLayer(" in page
    table = (site / "experiments" / "cgro.setting.html").read_text()
    assert "gradient with" in table and "cgro.eq.grad" in table
    runs = (site / "experiments" / "boat.published.runs.csv").read_text()
    assert "gram" in runs and "torch" in runs
    assert "boat.published" in (site / "experiments.html").read_text()
    paper = words((site / "papers" / "cgro.html").read_text())
    for word in ("Statement by statement", "What fails, entirely or in part", "Theorem 4.1"):
        assert word in paper
    for svg in site.rglob("*.svg"):
        assert svg.with_suffix(".csv").exists(), svg
        assert "prefers-color-scheme: dark" in svg.read_text()


def test_what_has_no_rows_has_no_verdict_and_no_page_of_an_experiment(site):
    ledger = json.loads((site / "ledger.json").read_text())
    found = {c["id"]: c["verdict"] for c in ledger["claims"]}
    assert found["conv.eq16"] == "not run" and found["cgrm.tab1"] == "not yet implemented"
    assert found["cgro.eq.grad"] == "fails" and found["cgro.eq.gta"] == "holds"
    waiting = sum(word == "not run" for word in found.values())
    index = (site / "index.html").read_text()
    assert f"{waiting} claims have an experiment but no rows in this store" in index
    assert not (site / "experiments" / "conv.eq16.html").exists()
    assert (
        "conv.eq16; this store has no rows of it"
        in (site / "claims" / "conv.eq16.html").read_text()
    )


def test_every_link_of_the_site_leads_somewhere_and_none_to_a_host(site):
    there = {path.resolve(): path.read_text() for path in pages(site)}
    for page in pages(site):
        text = there[page.resolve()]
        assert "url(" not in text and "@import" not in text
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            if target == "data:,":
                continue
            assert not re.match(r"[a-z]+:|//", target), f"{page} asks {target}"
            path, _, mark = target.partition("#")
            path = path.partition("?")[0]
            file = (page.parent / path).resolve() if path else page.resolve()
            assert file.is_file() and site.resolve() in file.parents, f"{page} → {target}"
            if mark:
                assert f'id="{mark}"' in there[file], f"{page} → {target}"
    for script in ("site.js", "statements.js"):
        assert not re.search(r"fetch|XMLHttp|import\(|https?:", (site / script).read_text())


def test_every_page_is_well_formed_with_unique_marks(site):
    for page in pages(site):
        root = tree(page.read_text())
        marks = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(marks) == len(set(marks)), page
        for image in root.iter("img"):
            assert image.get("alt"), page


@dataclass
class Ids(HTMLParser):
    """Collect the lines of the list of claims, as a browser without scripts shows them."""

    def __post_init__(self):
        super().__init__()
        self.rows = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "li" and "id" in given:
            self.rows.append(given["id"])
        assert "onclick" not in given


def test_the_search_data_have_every_claim_in_the_order_of_the_list(site):
    text = (site / "claims.js").read_text()
    records = json.loads(text.removeprefix("const CLAIMS = ").removesuffix(";\n"))
    ids = [record["id"] for record in records]
    assert ids == list(claims())
    assert all(
        record["statement"] == plain_text(claims()[record["id"]].statement) for record in records
    )
    reader = Ids()
    reader.feed((site / "statements.html").read_text())
    assert reader.rows == ids


def test_mathematics_is_typeset_and_no_script_is_needed_for_it(site):
    page = (site / "claims" / "cgro.eq.decomp.html").read_text()
    assert re.search("<msub><mo[^>]*>&#x02211;</mo>", page) and "$" not in page
    assert page.count("<script") == 1  # the buttons that copy commands


def test_a_claim_page_tells_all_of_an_entry():
    known = {e.id: e for e in (PRINTED, RIGHT, ALIAS)}
    told = words(claim_page(PRINTED, None, "cgro.setting", known))
    for word in ("Theorem C.2", "fails", "worst error 3", "identity", "exact identity",
                 "quick preset, 5 seeds, engine trial", "as printed", "a note", "N, η",
                 "σ0 0.1 … 0.4", "13.5", "not met", "needed by the proof", "at most 1",
                 "3 [2, 4]", "≤ 1e-10", "cgro.eq.copy", "adversarium verify cgro.eq.grad",
                 "Measured against claimed"):  # fmt: skip
        assert word in told, word
    for other in (RIGHT, ALIAS):  # both are about the same statement
        told = claim_page(other, None, "cgro.setting", known)
        assert "Related" in told and 'href="../claims/cgro.eq.grad.html"' in told


@pytest.mark.parametrize("ends", ((None, None), (0.4, 0.6)))
def test_a_range_stands_beside_its_own_quantity_alone(ends):
    one = Summary("robust_test_error", 0.48, -0.1, 1.2, (0.4, 0.56))
    two = Summary("power of N", 0.48, -0.1, 1.2, (0.4, 0.56))
    many = Part("learning", Outcome.HOLDS, (one, two))
    entry = replace(
        PRINTED, parts=(many, Part("memory", Outcome.HOLDS, (replace(one, wanted=ends),))),
        expected=Expected("", 0.0, 0.01),
    )  # fmt: skip
    told = words(claim_page(entry, None, "", {}))
    assert "≤ 0.01" not in told and "[0, 0.01]" not in told
    assert told.count("[0.4, 0.6]") == 2 * (ends[0] is not None)  # the part, and all numbers
    assert "0.48 [-0.1, 1.2]" in told  # the interval as it was kept


def test_errata_show_the_counterexample_and_the_correction_and_ours_apart():
    own = replace(RIGHT, verdict="fails", corrected=None)
    page = errata_page([PRINTED, own, ALIAS], {own.id})
    told = words(page)
    assert "worst error 3" in told and "corrected" in told
    head, _, ours = page.partition('id="ours"')
    assert 'li id="cgro.eq.grad"' in head and 'li id="cgro.eq.grad.corrected"' in ours
    assert 'href="claims/cgro.eq.grad.html"' in head and "cgro.eq.copy" not in page
    assert "None of the published statements" in errata_page([RIGHT], {RIGHT.id})


def test_hostile_names_are_escaped_and_stay_inside():
    hostile = replace(
        PRINTED, id=EVIL, paper=EVIL, source=EVIL, statement=EVIL, kind=EVIL, reason=EVIL,
        note=EVIL, command=EVIL, corrected=EVIL,
        parts=(Part(EVIL, Outcome.FAILS, PRINTED.measured, EVIL),),
    )  # fmt: skip
    made = [
        index_page([hostile], {}),
        statements_page([hostile]),
        claim_page(hostile, None, EVIL, {EVIL: hostile}),
        errata_page([hostile], set()),
    ]
    for page in made:
        root = tree(page)
        scripts = [e.get("src") for e in root.iter("script")]
        assert set(scripts) <= {"claims.js", "statements.js", "site.js", "../site.js"}
        links = [e.get("href") for e in root.iter("a")]
        assert all(set(link) <= SAFE for link in links), links
    assert json.loads(search_data([hostile]))[0]["id"] == EVIL


def test_the_notation_is_that_of_the_docs():
    docs = Path(__file__).parents[3] / "docs" / "notation.md"
    import adversarium

    shipped = Path(adversarium.__file__).parent / "report" / "site" / "notation.md"
    assert shipped.read_text() == docs.read_text()
    page = notation_page()
    root = tree(page)
    rows = [[" ".join(c.itertext()) for c in row] for row in root.iter("tr")]
    assert ["radius", "radius of the perturbation set", "δ", "δ", "ε", "α", "δ"] in rows
    assert len({len(row) for row in rows if row[0] != "probe"}) <= 2
    assert "How unspecified constants are read" in page
    words = dict(row for row in rows if len(row) == 2)
    assert {word: words[word] for word in list(MEANINGS)[:6]} == dict(list(MEANINGS.items())[:6])
