"""Convert texts with LaTeX between dollar signs to HTML with MathML."""

import html
import re
from functools import cache

from latex2mathml.converter import convert

from adversarium.plans.mathematics import plain_text

_GREEK = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", eps="ε", epsilon="ε", eta="η", lam="λ", mu="μ",
    rho="ϱ", sigma="σ", omega="ω", tau="τ",
)  # fmt: skip


@cache
def typeset(text: str) -> str:
    """Return a text as HTML, with the LaTeX between dollar signs as MathML. A line can break at a
    space of a formula, except inside braces.

    >>> typeset("at most $x = 1$ & more")  # doctest: +NORMALIZE_WHITESPACE
    'at most <math><mrow><mi>x</mi></mrow></math> = <math><mrow><mn>1</mn></mrow></math>
    &amp; more'
    """
    pieces = text.split("$")
    if len(pieces) % 2 == 0:  # an odd number of dollar signs: they are not formulas
        return html.escape(text)
    return "".join(_formula(p) if i % 2 else html.escape(p) for i, p in enumerate(pieces))


def scripted(text: str) -> str:
    """Return a finding as HTML, with its indices and powers as such.

    >>> scripted("V_i grows like d^0.5 & more")
    'V<sub>i</sub> grows like d<sup>0.5</sup> &amp; more'
    """
    if "$" in text:
        return typeset(text)
    text = html.escape(text)
    text = re.sub(r"_\{([^{}]{1,9})\}", r"<sub>\1</sub>", text)
    text = re.sub(r"(?<=[^\W_])_([^\W_]{1,5}|\*)(?![^\W_])", r"<sub>\1</sub>", text)
    return re.sub(r"\^(−?[\d.]*\d|\([^()]*\)|[^\W_](?![^\W_])|\*)", r"<sup>\1</sup>", text)


def greek(text: str) -> str:
    """Return a text with names such as sigma0 replaced by Greek letters.

    >>> greek("sigma0 0.1 … 0.3, eta")
    'σ0 0.1 … 0.3, η'
    """
    return re.sub(rf"\b({'|'.join(_GREEK)})(?=\d|\b|_)", lambda m: _GREEK[m[1]], text)


def _formula(tex: str) -> str:
    """Return a formula, split at its spaces outside braces. It is not split at a space that only
    ends a command, as in \\langle w, but it is at the spaces around an operator, as in a \\le b."""
    parts, open_braces = [""], 0
    for letter in tex:
        open_braces += (letter == "{") - (letter == "}")
        if (
            letter == " "
            and open_braces == 0
            and not re.search(r".\\[A-Za-z]+$|\\langle$", parts[-1])
        ):
            parts.append("")
        else:
            parts[-1] += letter
    return " ".join(map(_element, parts))


def _element(tex: str) -> str:
    """Return a piece of a formula as HTML; a single operator needs no MathML."""
    sign = plain_text(f"${tex}$")
    if len(sign) == 1 and not sign.isalnum():
        return html.escape(sign)
    try:
        element = convert(tex.replace("<", r"\lt ").replace(">", r"\gt ").replace("&", r"\&"))
    except Exception:  # the converter raises a different class for every mistake
        return html.escape(f"${tex}$")
    return re.sub(r"<math[^>]*>", "<math>", element)
