"""LaTeX between dollars as MathML, and everything else as escaped text."""

import unicodedata
from xml.etree import ElementTree

import pytest

from adversarium.plans.mathematics import plain_text
from adversarium.plans.papers import claims
from adversarium.report.typeset import greek, typeset

MATHML = {
    "p", "math", "mi", "mo", "mn", "mrow", "msub", "msup", "msubsup", "munder", "munderover",
    "msqrt", "mover", "mfrac", "mtext", "mspace", "mstyle",
}  # fmt: skip


def letters(text: str) -> list[str]:
    return [c for c in unicodedata.normalize("NFD", text) if c.isascii() and c.isalpha()]


def read(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<p>{typeset(text)}</p>")


def test_a_formula_becomes_elements_that_a_line_can_break_between():
    made = read(r"if $N \le d^{0.475} + \sqrt{a b}$, then")
    assert [e.tag for e in made] == ["math"] * 3 and "≤" in (made[0].tail or "")
    assert made.find(".//msup") is not None and made.find(".//msqrt") is not None


@pytest.mark.parametrize("text", ("cgro.thm4.1", "d^{0.475} ≤ 1", "risk of $5", "a_long_name", ""))
def test_what_is_not_between_dollars_stays_text(text):
    assert typeset(text) == text


@pytest.mark.parametrize("text", ("$x_{$", "$a_b_c$"))
def test_a_formula_that_cannot_be_read_stays_text(text):
    assert "".join(read(text).itertext()) == text


@pytest.mark.parametrize(
    "text",
    ('<script>alert("x")</script>', "$<script>$", "$x_<b>$", "$</math><b>$", "$\\text{<b>}$"),
)
def test_everything_is_escaped(text):
    assert {e.tag for e in read(text).iter()} <= MATHML


def test_every_text_of_the_catalogue_is_well_formed_and_loses_no_letter():
    count = 0
    for claim in claims().values():
        for text in (claim.statement, claim.value, claim.note, claim.reading):
            whole = read(text)
            count += len(list(whole.iter("math")))
            assert "$" not in "".join(whole.itertext()) and {e.tag for e in whole.iter()} <= MATHML
            plain = plain_text(text)
            assert not set("\\$") & set(plain), text
            assert letters("".join(whole.itertext())) == letters(plain.replace("ⁿ", "n")), text
    assert count > 2000


def test_fields_are_shown_by_their_letters():
    assert greek("alpha 2 … 3, sigma_n, metal") == "α 2 … 3, σ_n, metal"
