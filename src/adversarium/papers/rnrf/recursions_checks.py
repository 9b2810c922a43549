"""The checks of RNRF's recursions."""

from adversarium.papers.rnrf.readings import CLEAN, tail_checks
from adversarium.papers.rnrf.recursions_readings import (
    ADV,
    CLOSED,
    ELEMENT,
    LAW,
    OURS,
    PATCH,
    STD,
    VARIED,
)
from adversarium.papers.rnrf.regime import hypotheses
from adversarium.plans import at_most, counted_as, each, every, identity, last, level, parts, where


def _placed(check, *runs):
    """A check of runs in which the assumptions hold together."""
    return every(check, hypotheses(*runs))


def _law(name):
    """The growth law within a fifth, at every η̃."""
    return each(LAW, lambda run: level(last(name, run), high=0.2))


def _always(name):
    """The growth law within a fifth in every seed, at every η̃."""
    return each(LAW, lambda run: counted_as("level", at_most(last(name, run), 0.2)))


def _off_span(run):
    return identity(last("worst(weights_off_span)", run), 1e-10)


def _printed(run):
    return identity(last("worst(printed_attack_error)", run), 1e-10)


checks = {
    "rnrf.lem5.1.recursion": each(
        where((STD, VARIED)), lambda run: identity(last("recursion_error", run), 1e-12)
    ),
    "rnrf.lemD.2.decomp": each(
        STD, lambda run: identity(last("worst(off_feature_drift)", run), 0.0)
    ),
    **tail_checks("rnrf.lemD.5.logit", "rnrf.lemD.6", CLEAN, where(STD), hypotheses(where(STD))),
    "rnrf.lemD.7.offdiag": each(STD, lambda run: at_most(last("off_diagonal_growth", run), 0.0)),
    "rnrf.lem5.2.poly": _placed(
        parts({"A": _always("growth_law_error_A"), "B": _law("growth_law_error_B")}), where(LAW)
    ),
    "rnrf.lem5.2.poly.corrected": _placed(_law("growth_law_error_B"), where(LAW)),
    "rnrf.lemD.16.decomp": parts(
        {
            "nothing clipped off the features": _off_span(OURS),
            "every patch rescaled": _off_span(PATCH),
            "every element clipped": _off_span(ELEMENT),
        }
    ),
    "rnrf.lemD.17.advex": every(_printed(OURS), _printed(ELEMENT)),
    "rnrf.lemD.17.advex.corrected": identity(last("worst(attacked_off_span)", PATCH), 1e-10),
    "rnrf.lemD.18.recursion": identity(last("printed_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.unclipped": identity(last("unclipped_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.corrected": identity(last("recursion_error", CLOSED), 1e-12),
}
