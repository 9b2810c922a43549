"""Name the places of statements in their papers, and sort statements by section."""

import re
from collections.abc import Iterable

from adversarium.plans.papers import Claim, Paper, claims
from adversarium.report.claim_text import stem

_WORDS = {
    "Thm": "Theorem", "Lemmas": "Lemmas", "Cor.": "Corollary", "Prop.": "Proposition",
    "Sec.": "Section", "App.": "Appendix", "Eq.": "Equation", "Fig.": "Figure",
    "Def.": "Definition",
}  # fmt: skip
_SECTION = re.compile(
    r"\b(?:Sec\.|App\.|Thm|Theorem|Lemmas?|Prop\.|Cor\.|Def\.|Assumption|Hypothesis|Remark) "
    r"(?P<place>[0-9]+|[A-Z]\b|[A-Z](?=\.))"
)
FIGURES = "Figures"  # the section of figures and tables


def spelled(source: str) -> str:
    """Return the place of a statement without abbreviations.

    >>> spelled("Thm 4.1"), spelled("Eq. (C), Sec. 1")
    ('Theorem 4.1', 'Equation (C), Section 1')
    """
    return " ".join(_WORDS.get(word, word) for word in source.split(" "))


def place(claim: Claim) -> str:
    """Return the place of a statement in its paper; of one that we added, what it belongs to."""
    if not is_added(claim):
        return spelled(re.sub(r" \([^)]*: .*\)$", "", claim.source))
    root = claims().get(stem(claim.id), claim)
    if root is claim:
        return "added by us"
    role = "corrected" if claim.id.endswith(".corrected") else "added by us"
    return f"{spelled(root.source)}, {role}"


def section(source: str) -> str:
    """Return the section or appendix to which the place of a statement belongs; empty if unknown.

    >>> section("Lemma C.9"), section("Thm 4.1"), section("Fig. 2 (a)"), section("Eq. (9)")
    ('C', '4', 'Figures', '')
    """
    if re.match(r"(Fig\.|Table)", source):
        return FIGURES
    found = _SECTION.search(source)
    return found["place"] if found else ""


def by_section(paper: Paper, listed: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Return the claims of a paper by the title of their section, in the paper's order. Claims that
    we added stand behind the statement to which they belong."""
    places: dict[str, str] = {}
    groups: dict[str, list[Claim]] = {}
    last = ""
    chosen = list(listed)
    for claim in chosen:
        root = stem(claim.id)
        found = places.get(root) or (section(claim.source) or last)
        last = places[claim.id] = found
        groups.setdefault(found, []).append(claim)
    titles = {key: f"{key} · {title}" for key, title in paper.sections.items()}
    titles |= {FIGURES: paper.sections.get(FIGURES, "Figures and tables"), "": "Other statements"}
    order = {key: i for i, key in enumerate(paper.sections)}
    ranked = sorted(groups, key=lambda key: (order.get(key, len(order)), key == FIGURES))
    return {titles.get(key, key): _together(groups[key]) for key in ranked}


def _together(listed: list[Claim]) -> list[Claim]:
    """Return claims in their order, those about one statement behind it."""
    roots = dict.fromkeys(stem(claim.id) for claim in listed)
    return [claim for root in roots for claim in listed if stem(claim.id) == root]


def is_added(claim: Claim) -> bool:
    """Return whether we added a statement that is not in the paper."""
    return claim.ours or claim.source.startswith("ours") or claim.id not in claims()
