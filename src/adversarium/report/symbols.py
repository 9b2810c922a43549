"""Write the names of recorded quantities as a reader would: with the papers' symbols."""

import re
from collections.abc import Mapping
from functools import cache

from adversarium.plans.mathematics import plain_text
from adversarium.plans.names import paper_probes, public_names


@cache
def quantity_text(name: str) -> str:
    """Return the name of a quantity with the symbols of its probes, and without underscores.

    >>> quantity_text("robust_train_error (ladder, d = 25)")
    'robust training error (ladder, d = 25)'
    >>> quantity_text("first_step of robust_margin")
    'first step of robust margin'
    """
    return re.sub(r"[A-Za-z]\w*", lambda found: _word(found[0]), plain_text(name))


def _word(word: str) -> str:
    if word in _symbols():
        return _symbols()[word]
    is_identifier = "_" in word and len(word) > 4 and word == word.lower()
    return word.replace("_", " ") if is_identifier else word


@cache
def _symbols() -> dict[str, str]:
    """Return the symbols of all probes as plain text, for probes with exactly one symbol."""
    named = {**public_names("measure"), **paper_probes()}
    texts = {name: plain_text(probe.symbol) for name, probe in named.items()}
    return {name: text for name, text in texts.items() if text and "_" in name and ", " not in text}


def letters_in(text: str, symbols: Mapping[str, str]) -> dict[str, str]:
    """Return the symbols of a paper that occur in a text, with their meanings.

    >>> letters_in("α³V_i falls like d^0.5", {"V_i": "noise", "d": "dimension", "i": "point"})
    {'V_i': 'noise', 'd': 'dimension'}
    """
    text = re.sub("_([0-9])", lambda m: _LOW[m[1]], text)
    return {
        symbol: meaning
        for symbol, meaning in symbols.items()
        if any(re.search(rf"(?<![^\W²³]){re.escape(one)}(?![\w′])", text)
               for one in re.split(r", | and ", symbol))
    }  # fmt: skip


_LOW = dict(
    zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)
_HIGH = dict(zip("0123456789+-−=()abcdefghijklmnoprstuvwxyz",
                 "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))  # fmt: skip


def with_scripts(text: str) -> str:
    """Return a text whose indices and powers are written as such, where Unicode has the letters.

    >>> with_scripts("V_i ≤ (−1)^k d^0.5, L_A, robust_error")
    'Vᵢ ≤ (−1)ᵏ d^0.5, L_A, robust_error'
    """
    low = r"(?<![^\W_]{3})(?<=[^\W_])_([0-9a-z]{1,2})(?![^\W_])"
    text = re.sub(low, lambda m: _raised(m, _LOW), text)
    return re.sub(r"\^(−?[0-9]+|[a-z])(?![\w.])", lambda m: _raised(m, _HIGH), text)


def _raised(found: re.Match[str], letters: dict[str, str]) -> str:
    """Return a match in small letters; unchanged if one of them does not exist."""
    small = [letters.get(letter, "") for letter in found[1]]
    return "".join(small) if all(small) else found[0]
