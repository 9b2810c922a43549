"""Mathematics of the catalogue (Σ_{j noise}, d^{0.475}, ‖∇L‖/L, O(d^−c₀), \\rho) as MathML.

A text is split at its spaces. A word that is certainly mathematics becomes an element of its own,
so that a line can break between two of them; all other words remain text. Everything is escaped.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from adversarium.report.mathematics import plain

_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿᵗᵀ", "0123456789+−=()ntT", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+−=()", strict=True))
_ACCENTS = {"\u0303": "~", "\u0302": "^", "\u0304": "¯", "\u0307": "˙"}
_OPERATORS = "=≤≥<>≠≈∼∝≪≫≲≳∈∉⊂∩∪→←↦±+−·×∘|‖⟨⟩⌈⌉⌊⌋()[]{},;:/!∀∃…⋯∇∂∫ΣΠ∑∏⊥∞%"
_TYPED = {"-": "−", "*": "∗"}  # how a typed sign is set
_OPENING = {")": "(", "}": "{"}
_FENCES = "()[]{}⟨⟩⌈⌉⌊⌋|‖"
_WORDS = (
    *("log", "ln", "exp", "max", "min", "argmax", "argmin", "sup", "inf", "lim", "sign", "mean"),
    *("sin", "cos", "tan", "cot", "arctan", "poly", "polylog", "tr", "Pr", "Bin", "Var", "VC"),
    *("span", "dim", "diag", "relu", "err", "Lip", "median", "adv", "rob", "clean", "ref", "sd"),
)
_NAMED = rf"(?<![A-Za-z])(?:{'|'.join(_WORDS)})(?![A-Za-z])"
_PROSE = {"a", "A", "I", "…", "/", "(", ")", "%", ",", ":", ";", "!", "[", "]"}
_SURE = re.compile(
    "[\u0370-\u03ff\u2070-\u209f\u2200-\u22ff\u0302\u0303\u0304²³¹‖⟨⟩⌈⌉⌊⌋→←↦±∇ᵀᵗℓ′^_½]"
)
_SYMBOLS = re.compile(r"(?:(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[\d.,;:()\[\]/+*=<>'|·−\-])+")
_CODE = re.compile(
    rf"(?<![A-Za-z])(?!{_NAMED})[A-Za-z]{{2,}}_|_[a-z]+_|[a-z]{{2,}}\.[a-z]{{2,}}|://|</"
)
_SPOKEN = re.compile(
    r"[A-Za-z]{4,}|[A-Za-z]{2}-[A-Za-z]|[A-Za-z\d]-[A-Za-z]{2}|[a-z]\.[A-Za-z]|'s\b"
)
_NUMBER = re.compile(r"[-−]?[\d.,]+(?:e[-−+]?\d+)?")
_CALLED = re.compile(rf"(?<![A-Za-z])(?:[A-Za-z]|{'|'.join(_WORDS)})'?\(")


class _Unreadable(ValueError):
    """The text cannot be read as mathematics."""


class _Unclosed(_Unreadable):
    """A group is not closed before the text ends."""


@cache
def typeset(text: str) -> str:
    """A text as HTML, with its mathematics as MathML.

    >>> typeset("at most d^−2 < 1 of them")
    'at most <math><msup><mi>d</mi><mrow><mo>−</mo><mn>2</mn></mrow></msup></math> &lt; 1 of them'
    """
    words = "".join(map(_without_accent, plain(text))).split(" ")
    pieces, i = [], 0
    while i < len(words):
        count, element = _mathematics(words, i)
        pieces.append(element if count else html.escape(unicodedata.normalize("NFC", words[i])))
        i += max(1, count)
    return " ".join(pieces)


_GREEK = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", eps="ε", epsilon="ε", eta="η", lam="λ", mu="μ",
    rho="ϱ", sigma="σ", omega="ω", tau="τ",
)  # fmt: skip


def greek(text: str) -> str:
    """A text with the Greek letters that names of fields stand for.

    >>> greek("sigma0 0.1 … 0.3, eta")
    'σ0 0.1 … 0.3, η'
    """
    return re.sub(rf"\b({'|'.join(_GREEK)})(?=\d|\b|_)", lambda m: _GREEK[m[1]], text)


def _without_accent(letter: str) -> str:
    """A letter with an accent as two characters: Õ is O and its tilde."""
    parts = unicodedata.normalize("NFD", letter)
    return parts if parts[1:2] in _ACCENTS and len(parts) == 2 else letter


def _mathematics(words: list[str], i: int) -> tuple[int, str]:
    """The number of words from the i-th on that form one piece of mathematics, and its MathML;
    0 if the i-th word is not mathematics."""
    if not _is_mathematics(words[i]):
        return 0, ""
    for count in range(1, min(10, len(words) - i) + 1):
        head, body, tail = _stripped(" ".join(words[i : i + count]))
        try:
            nodes = _lone_sign(body) if len(body) == 1 else "".join(_Reader(body).nodes())
        except _Unclosed:  # the group may end in a later word
            continue
        except _Unreadable:
            return 0, ""
        element = f"{html.escape(head)}<math>{nodes}</math>{html.escape(tail)}"
        together = (head or tail) and len(body) < 40  # no line break before a comma
        return count, f'<span class="m">{element}</span>' if together else element
    return 0, ""


def _is_mathematics(word: str) -> bool:
    _, body, _ = _stripped(word)
    if not body or body in _PROSE or _CODE.search(body) or _NUMBER.fullmatch(body):
        return False
    letters = re.sub(rf"[_^](?:\{{[^}}]*\}}?|[A-Za-z]+)|{_NAMED}", " ", body)
    if _SPOKEN.search(letters):
        return False
    if _SURE.search(body):
        return True
    if re.search(r"[A-Za-z]\.|\.[A-Za-z]|^[\d.,]+$", body) or not re.search("[A-Za-z]", body):
        return False
    if _CALLED.search(body) and not re.search(r"[A-Za-z]{3,}", letters):
        return True
    return _SYMBOLS.fullmatch(body) is not None


def _stripped(word: str) -> tuple[str, str, str]:
    """The brackets before a word that are not closed, the word, and its punctuation."""
    head = tail = ""
    while word and (word[-1] in ",;:.?!" or (word[-1] in ")]" and _is_unmatched(word, word[-1]))):
        word, tail = word[:-1], word[-1] + tail
    while word and (word[0] in "([" and _is_unmatched(word, word[0])):
        head, word = head + word[0], word[1:]
    return head, word, tail


def _is_unmatched(word: str, bracket: str) -> bool:
    one, other = ("(", ")") if bracket in "()" else ("[", "]")
    more = word.count(one) - word.count(other)
    return more > 0 if bracket == one else more < 0


@dataclass
class _Reader:
    """Reads one piece of mathematics from left to right."""

    text: str
    at: int = 0

    def _take(self, pattern: str) -> str:
        """The text at this place that matches a pattern; empty if it does not match."""
        found = re.compile(pattern).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def _take_run(self, table: dict[str, str]) -> str:
        """Raised or lowered characters at this place, as elements."""
        run = self._take(f"[{''.join(table)}]+")
        return "".join(_Reader("".join(table[c] for c in run)).nodes())

    def nodes(self, until: str = "") -> list[str]:
        """The elements up to a closing bracket, or to the end."""
        elements: list[str] = []
        inner = 0  # brackets of the same kind inside
        while self.at < len(self.text):
            here = self.text[self.at]
            if until and here == until and inner == 0:
                self.at += 1
                return elements
            inner += (here == _OPENING.get(until)) - (here == until)
            elements += self._scripted()
        if until:
            raise _Unclosed
        return elements

    def _scripted(self) -> list[str]:
        """The next atoms; the last of them with its index and power."""
        atoms = self._atoms()
        below, above = "", ""
        while True:
            if self._take("_"):
                below += self._script()
            elif self._take(r"\^"):
                above += self._script()
            elif run := self._take_run(_LOWERED):
                below += run
            elif run := self._take_run(_RAISED):
                above += run
            elif atoms and not below and not above and self._take("['′]"):
                atoms[-1] = f'<mrow>{atoms[-1]}<mo lspace="0" rspace="0">′</mo></mrow>'
            elif atoms and self._take(r"\*(?![^\W_])"):
                above += "<mo>∗</mo>"
            else:
                break
        if not below and not above:
            return atoms
        if not atoms:
            raise _Unreadable("no base")
        parts = "".join(_row(part) for part in (atoms[-1], below, above) if part)
        kind = "msubsup" if below and above else "msub" if below else "msup"
        return [*atoms[:-1], f"<{kind}>{parts}</{kind}>"]

    def _script(self) -> str:
        """The text after _ or ^: a group in braces or brackets, or a sign and one atom."""
        if self._take(r"\{"):
            return "".join(self.nodes("}"))
        if self._take(r"\("):
            start = self.at
            inside = "".join(self.nodes(")"))
            is_short = re.fullmatch(r"[a-z0-9]|[a-z]\+1", self.text[start : self.at - 1])
            return f"{_mo('(')}{inside}{_mo(')')}" if is_short else inside
        if sign := self._take("[*⊥∞]"):
            return f"<mo>{_TYPED.get(sign, sign)}</mo>"
        if sign := self._take("[−+-]"):
            sign = f"<mo>{_TYPED.get(sign, sign)}</mo>"
            if self._take(r"\("):
                return f"{sign}{_mo('(')}{''.join(self.nodes(')'))}{_mo(')')}"
        if word := self._take("[A-Za-z]{2,}"):
            return f"{sign}<mi>{word}</mi>"
        return sign + "".join(self._atoms() or _fail("no script"))

    def _atoms(self) -> list[str]:
        """The next number, letters or sign; none before a raised or lowered character."""
        if number := self._take(r"\d+(?:[.,]\d+)*(?:e[-−+]?\d+)?|\.\d+|[½⅔¼]"):
            return [f"<mn>{number}</mn>"]
        if word := self._take("[A-Za-z]+"):
            if word in _WORDS or len(word) > 3:
                return [f"<mi>{word}</mi>"]
            return [*(f"<mi>{c}</mi>" for c in word[:-1]), self._numbered(word[-1])]
        if self.text[self.at : self.at + 1] in (*_RAISED, *_LOWERED):
            return []
        sign = self._take("(?s:.)") or _fail("end")
        if sign == " ":
            return ['<mspace width="0.3em"/>']
        if sign == "√":
            return [f"<msqrt>{self._rooted()}</msqrt>"]
        if sign in _TYPED or sign in _OPERATORS:
            return [_mo(_TYPED.get(sign, sign))]
        if sign == "ℓ" or "\u0370" <= sign <= "\u03ff":
            return [self._numbered(sign)]
        return [f"<mtext>{sign}</mtext>" if sign in ".?~'′" else _fail(sign)]

    def _numbered(self, letter: str) -> str:
        """A letter with its accents, and with the digits that follow it as its index."""
        element = f"<mi>{letter}</mi>"
        while accent := self._take(f"[{''.join(_ACCENTS)}]"):
            element = f'<mover accent="true">{element}<mo>{_ACCENTS[accent]}</mo></mover>'
        if digits := self._take(r"\d+(?![.\d])|∞" if letter == "ℓ" else r"\d+(?![.\d])"):
            element = f"<msub>{element}<mn>{digits}</mn></msub>"
        return element

    def _rooted(self) -> str:
        """The group, number or letter under a root."""
        if self._take(r"\("):
            return "".join(self.nodes(")"))
        if letter := self._take("[A-Za-z]"):
            return self._numbered(letter)
        return "".join(self._atoms() or _fail("empty root"))


def _fail(why: str) -> str:
    raise _Unreadable(why)


def _mo(sign: str, attributes: str = "") -> str:
    stretchy = ' stretchy="false"' * (sign in _FENCES)
    return f"<mo{attributes}{stretchy}>{html.escape(sign)}</mo>"


def _lone_sign(sign: str) -> str:
    """A sign between spaces; it needs no space of its own."""
    if sign in _OPERATORS:
        return _mo(sign, ' lspace="0" rspace="0"')
    return "".join(_Reader(sign).nodes())


def _row(nodes: str) -> str:
    """One element that contains several."""
    count = len(re.findall(r"<m(?:i|n|o|text)\b", nodes))
    single = re.fullmatch(r"<(m\w+)\b[^>]*>.*</\1>", nodes)
    if count == 1 or (single and single[1] in ("msub", "msup", "msubsup", "msqrt", "mover", "mrow")
                      and nodes.count(f"<{single[1]}") == 1):  # fmt: skip
        return nodes
    return f"<mrow>{nodes}</mrow>"
