"""The catalogue's mathematics as MathML, and everything else as escaped text."""

import re
from xml.etree import ElementTree

import pytest

from adversarium.plans.papers import claims
from adversarium.report.typeset import greek, typeset


def mathml(text: str) -> list[str]:
    return re.findall(r"<math>(.*?)</math>", typeset(text))


@pytest.mark.parametrize(
    ("text", "made"),
    (
        ("d^{0.475}", "<msup><mi>d</mi><mn>0.475</mn></msup>"),
        ("N^−½", "<msup><mi>N</mi><mrow><mo>−</mo><mn>½</mn></mrow></msup>"),
        ("w_r", "<msub><mi>w</mi><mi>r</mi></msub>"),
        ("x_i^t", "<msubsup><mi>x</mi><mi>i</mi><mi>t</mi></msubsup>"),
        ("α³", "<msup><mi>α</mi><mn>3</mn></msup>"),
        ("T₁", "<msub><mi>T</mi><mn>1</mn></msub>"),
        ("σ0", "<msub><mi>σ</mi><mn>0</mn></msub>"),
        ("√d", "<msqrt><mi>d</mi></msqrt>"),
        ("L_adv", "<msub><mi>L</mi><mi>adv</mi></msub>"),
        ("max_r", "<msub><mi>max</mi><mi>r</mi></msub>"),
        ("Õ", '<mover accent="true"><mi>O</mi><mo>~</mo></mover>'),
        (r"$\rho$", "<mi>ϱ</mi>"),
        ("ℓ∞", "<msub><mi>ℓ</mi><mn>∞</mn></msub>"),
        ("≤", '<mo lspace="0" rspace="0">≤</mo>'),
    ),
)
def test_a_piece_of_mathematics_becomes_one_element(text, made):
    assert mathml(text) == [made]


def test_groups_reach_over_spaces_and_brackets_nest():
    (made,) = mathml("Σ_{j noise}")
    assert "<mi>j</mi>" in made and "noise" in made and "{" not in made
    (made,) = mathml("e^(Ω(d))")
    assert made.startswith("<msup><mi>e</mi><mrow><mi>Ω</mi>") and made.count(")") == 1
    (made,) = mathml("√(d log(n/δ))")
    assert made.startswith("<msqrt>") and made.endswith("</msqrt>")


@pytest.mark.parametrize(
    "text",
    (
        "robust_test_error", "cgro.thm4.1", "i.i.d.", "w.h.p.", "e.g.", "the paper's A", "1e-10",
        "Lemma D.8", "0.25", "two-layer", "./mine.py", "a_long_name", "half (of them)", "",
    ),
)  # fmt: skip
def test_prose_names_and_numbers_stay_text(text):
    assert typeset(text) == text.replace("'", "&#x27;")


@pytest.mark.parametrize("text", ("x_{", "^2", "√", "d^", "{", "_", "$", "x_{i", "√(n", "\\"))
def test_what_cannot_be_read_stays_text(text):
    assert mathml(text) in ([], ['<mo lspace="0" rspace="0" stretchy="false">{</mo>'])
    assert "".join(ElementTree.fromstring(f"<p>{typeset(text)}</p>").itertext()) == text


@pytest.mark.parametrize(
    "text", ('<script>alert("x")</script>', "a & b < c", "x_<b>", "</math><b>", "‖<i>‖", "\"'><")
)
def test_everything_is_escaped(text):
    whole = ElementTree.fromstring(f"<p>{typeset(text)}</p>")
    assert {e.tag for e in whole.iter()} <= {
        "p", "span", "math", "mi", "mo", "mn", "mrow", "msub", "mtext"
    }  # fmt: skip


def test_every_text_of_the_catalogue_is_well_formed_and_loses_no_letter():
    count = 0
    for claim in claims().values():
        for text in (claim.statement, claim.value):
            made = typeset(text)
            whole = ElementTree.fromstring(f"<p>{made}</p>")
            count += made.count("<math>")
            kept = "".join(whole.itertext())
            assert [c for c in kept if c.isascii() and c.isalpha()] == [
                c for c in text if c.isascii() and c.isalpha()
            ] or set("ÕĜĥĝȳᵀᵗ") & set(text), text
            for parent in whole.iter():
                wanted = {"msub": 2, "msup": 2, "mover": 2, "msubsup": 3}.get(parent.tag)
                assert wanted is None or len(parent) == wanted, made
    assert count > 2000


def test_fields_are_told_by_their_letters():
    assert greek("alpha 2 … 3, sigma_n, metal") == "α 2 … 3, σ_n, metal"
