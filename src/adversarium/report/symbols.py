"""Write the names of recorded quantities as a reader would: with the papers' symbols."""

import re
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
