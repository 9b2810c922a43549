"""The catalogue's mathematics (Σ_{j noise}, d^{0.475}, ‖∇L‖/L, O(d^−c₀), \\rho) as MathML.

A text is split at its spaces; what is mathematics beyond doubt becomes an element of its own, so
that a line may break between two of them, and everything else stays text. All of it is escaped.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from adversarium.report.mathematics import plain

_UP = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿᵗᵀ", "0123456789+−=()ntT", strict=True))
_DOWN = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+−=()", strict=True))
_ACCENTS = {"\u0303": "~", "\u0302": "^", "\u0304": "¯", "\u0307": "˙"}
_OPERATORS = "=≤≥<>≠≈∼∝≪≫≲≳∈∉⊂∩∪→←↦±+−·×∘|‖⟨⟩⌈⌉⌊⌋()[]{},;:/!∀∃…⋯∇∂∫ΣΠ∑∏⊥∞%"
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
_APART = re.compile(r"(?:(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[\d.,;:()\[\]/+*=<>'|·−\-])+")
_CODE = re.compile(
    rf"(?<![A-Za-z])(?!{_NAMED})[A-Za-z]{{2,}}_|_[a-z]+_|[a-z]{{2,}}\.[a-z]{{2,}}|://|</"
)
_SPOKEN = re.compile(
    r"[A-Za-z]{4,}|[A-Za-z]{2}-[A-Za-z]|[A-Za-z\d]-[A-Za-z]{2}|[a-z]\.[A-Za-z]|'s\b"
)
_NUMBER = re.compile(r"[-−]?[\d.,]+(?:e[-−+]?\d+)?")
_CALLED = re.compile(rf"(?<![A-Za-z])(?:[A-Za-z]|{'|'.join(_WORDS)})'?\(")


class _Doubt(ValueError):
    """The text is no mathematics that can be read."""


@cache
def typeset(text: str) -> str:
    """A text as HTML, its mathematics as MathML.

    >>> typeset("at most d^−2 < 1 of them")
    'at most <math><msup><mi>d</mi><mrow><mo>−</mo><mn>2</mn></mrow></msup></math> &lt; 1 of them'
    """
    words = "".join(map(_apart, plain(text))).split(" ")
    made, i = [], 0
    while i < len(words):
        count, told = _mathematics(words, i)
        made.append(told if count else html.escape(unicodedata.normalize("NFC", words[i])))
        i += max(1, count)
    return " ".join(made)


_GREEK = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", eps="ε", epsilon="ε", eta="η", lam="λ", mu="μ",
    rho="ϱ", sigma="σ", omega="ω", tau="τ",
)  # fmt: skip


def greek(text: str) -> str:
    """The names of fields as the letters that they stand for.

    >>> greek("sigma0 0.1 … 0.3, eta")
    'σ0 0.1 … 0.3, η'
    """
    return re.sub(rf"\b({'|'.join(_GREEK)})(?=\d|\b|_)", lambda m: _GREEK[m[1]], text)


def _apart(letter: str) -> str:
    """A letter with an accent as two signs: Õ is O and its tilde."""
    made = unicodedata.normalize("NFD", letter)
    return made if made[1:2] in _ACCENTS and len(made) == 2 else letter


def _mathematics(words: list[str], i: int) -> tuple[int, str]:
    """How many words from the i-th on are one piece of mathematics, and its MathML; none: 0."""
    if not _is_mathematics(words[i]):
        return 0, ""
    for count in range(1, min(10, len(words) - i) + 1):
        head, body, tail = _bare(" ".join(words[i : i + count]))
        try:
            nodes = _mo(body, alone=True) if len(body) == 1 else "".join(_Reader(body).nodes())
        except _Doubt as doubt:
            if doubt.args == ("open",):  # a group that ends in a later word
                continue
            return 0, ""
        made = f"{html.escape(head)}<math>{nodes}</math>{html.escape(tail)}"
        joined = (head or tail) and len(body) < 40  # no line ends before a comma
        return count, f'<span class="m">{made}</span>' if joined else made
    return 0, ""


def _is_mathematics(word: str) -> bool:
    _, body, _ = _bare(word)
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
    return _APART.fullmatch(body) is not None


def _bare(word: str) -> tuple[str, str, str]:
    """Punctuation and lone brackets about a word, and what is between them."""
    head = tail = ""
    while word and (word[-1] in ",;:.?!" or (word[-1] in ")]" and _lone(word, word[-1]))):
        word, tail = word[:-1], word[-1] + tail
    while word and (word[0] in "([" and _lone(word, word[0])):
        head, word = head + word[0], word[1:]
    return head, word, tail


def _lone(word: str, bracket: str) -> bool:
    one, other = ("(", ")") if bracket in "()" else ("[", "]")
    more = word.count(one) - word.count(other)
    return more > 0 if bracket == one else more < 0


@dataclass
class _Reader:
    """Reads one piece of mathematics from left to right."""

    text: str
    at: int = 0

    def nodes(self, until: str = "") -> list[str]:
        """The elements up to a closing bracket, or to the end."""
        made: list[str] = []
        inner = 0  # brackets of the same kind inside
        while self.at < len(self.text):
            here = self._here()
            if until and here == until and inner == 0:
                self.at += 1
                return made
            inner += (here == _OPENING.get(until)) - (here == until)
            made += self._scripted()
        if until:
            raise _Doubt("open")
        return made

    def _here(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def _scripted(self) -> list[str]:
        """The next atoms; the last of them with its index and power."""
        atoms = self._atoms()
        below, above = "", ""
        while here := self._here():
            if here == "_":
                below += self._script()
            elif here == "^":
                above += self._script()
            elif here in _DOWN:
                below += self._run(_DOWN)
            elif here in _UP:
                above += self._run(_UP)
            elif here in "'′" and atoms and not below and not above:
                self.at += 1
                atoms[-1] = f'<mrow>{atoms[-1]}<mo lspace="0" rspace="0">′</mo></mrow>'
            elif here == "*" and atoms and not self.text[self.at + 1 : self.at + 2].isalnum():
                self.at += 1
                above += "<mo>∗</mo>"
            else:
                break
        if not below and not above:
            return atoms
        if not atoms:
            raise _Doubt("nothing to raise")
        parts = "".join(_row(part) for part in (atoms[-1], below, above) if part)
        kind = "msubsup" if below and above else "msub" if below else "msup"
        return [*atoms[:-1], f"<{kind}>{parts}</{kind}>"]

    def _run(self, table: dict[str, str]) -> str:
        """Raised or lowered signs as ordinary ones."""
        start = self.at
        while self._here() in table and self._here():
            self.at += 1
        told = "".join(table[c] for c in self.text[start : self.at])
        return "".join(_Reader(told).nodes())

    def _script(self) -> str:
        """What follows _ or ^: a group in braces or brackets, or a sign and one atom."""
        self.at += 1
        here = self._here()
        if here == "{":
            self.at += 1
            return "".join(self.nodes("}"))
        if here == "(":
            self.at += 1
            start = self.at
            made = "".join(self.nodes(")"))
            short = re.fullmatch(r"[a-z0-9]|[a-z]\+1", self.text[start : self.at - 1])
            return f"{_mo('(')}{made}{_mo(')')}" if short else made
        if here in "*⊥∞" and here:
            self.at += 1
            return f"<mo>{'∗' if here == '*' else here}</mo>"
        sign = ""
        if here in "−-+" and here:
            self.at += 1
            sign = "<mo>−</mo>" if here != "+" else "<mo>+</mo>"
            if self._here() == "(":
                self.at += 1
                return f"{sign}{_mo('(')}{''.join(self.nodes(')'))}{_mo(')')}"
        word = re.match(r"[A-Za-z]+", self.text[self.at :])
        if word and (len(word[0]) > 2 or word[0] in _WORDS):
            self.at += len(word[0])
            return f"{sign}<mi>{word[0]}</mi>"
        if word and len(word[0]) == 2:  # L_NR, w_ir
            self.at += 2
            return f"{sign}<mi>{word[0]}</mi>"
        atoms = self._atoms()
        if not atoms:
            raise _Doubt("nothing above")
        return sign + "".join(atoms)

    def _atoms(self) -> list[str]:
        """The next number, letters or sign."""
        rest = self.text[self.at :]
        if number := re.match(r"\d+(?:[.,]\d+)*(?:e[-−+]?\d+)?|\.\d+|[½⅔¼]", rest):
            self.at += len(number[0])
            return [f"<mn>{number[0]}</mn>"]
        if word := re.match(r"[A-Za-z]+", rest):
            return self._letters(word[0])
        here = rest[:1]
        if not here:
            raise _Doubt("end")
        self.at += 1
        if here == " ":
            return ['<mspace width="0.3em"/>']
        if here == "√":
            return [f"<msqrt>{self._rooted()}</msqrt>"]
        if here == "-":
            return [_mo("−")]
        if here == "*":
            return [_mo("∗")]
        if here in _OPERATORS:
            return [_mo(here)]
        if here == "ℓ" or "\u0370" <= here <= "\u03ff":
            return [self._numbered(here)]
        if here in ".?~'′":
            return [f"<mtext>{here}</mtext>"]
        if here in _UP or here in _DOWN:
            self.at -= 1
            return []
        raise _Doubt(here)

    def _letters(self, word: str) -> list[str]:
        """Known words upright, others letter by letter; a digit after the last is its index."""
        known = next((w for w in sorted(_WORDS, key=len, reverse=True) if word == w), None)
        if known or len(word) > 3:
            self.at += len(word)
            return [f"<mi>{word}</mi>"]
        self.at += len(word)
        return [*(f"<mi>{c}</mi>" for c in word[:-1]), self._numbered(word[-1])]

    def _numbered(self, letter: str) -> str:
        """A letter with its accents, and with digits that follow it as its index."""
        made = f"<mi>{letter}</mi>"
        while self._here() in _ACCENTS and self._here():
            accent = _ACCENTS[self._here()]
            made = f'<mover accent="true">{made}<mo>{accent}</mo></mover>'
            self.at += 1
        index = r"\d+(?![.\d])|∞" if letter == "ℓ" else r"\d+(?![.\d])"
        if digits := re.match(index, self.text[self.at :]):
            self.at += len(digits[0])
            made = f"<msub>{made}<mn>{digits[0]}</mn></msub>"
        return made

    def _rooted(self) -> str:
        """What stands under a root: a group, or a number or letter."""
        if self._here() == "(":
            self.at += 1
            return "".join(self.nodes(")"))
        rest = self.text[self.at :]
        if rest[:1].isalpha() and rest[:1].isascii():
            self.at += 1
            return self._numbered(rest[0])
        atoms = self._atoms()
        if not atoms:
            raise _Doubt("open root")
        return "".join(atoms)


def _mo(sign: str, alone: bool = False) -> str:
    """A sign; one that stands alone between spaces needs no room about it."""
    if alone and sign not in _OPERATORS:
        return "".join(_Reader(sign).nodes())
    room = ' lspace="0" rspace="0"' * alone + ' stretchy="false"' * (sign in _FENCES)
    return f"<mo{room}>{html.escape(sign)}</mo>"


def _row(nodes: str) -> str:
    """One element out of several."""
    count = len(re.findall(r"<m(?:i|n|o|text)\b", nodes))
    whole = re.fullmatch(r"<(m\w+)\b[^>]*>.*</\1>", nodes)
    if count == 1 or (whole and whole[1] in ("msub", "msup", "msubsup", "msqrt", "mover", "mrow")
                      and nodes.count(f"<{whole[1]}") == 1):  # fmt: skip
        return nodes
    return f"<mrow>{nodes}</mrow>"
