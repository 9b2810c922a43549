"""Checks of RNRF's recursions."""

from adversarium.plans import at_most, counted_as, each, every, identity, last, level, parts, where

from ...theory.readings import CLEAN, tail_checks
from ...theory.regime import hypotheses
from .readings import ADV, CLOSED, ELEMENT_CLIP, LAW, PATCH_CLIP, SMALL_STEP, STD, VARIED


def _under_hypotheses(check, *runs):
    """Add the requirement that the assumptions hold together in these runs."""
    return every(check, hypotheses(*runs))


def _law(name):
    """Check that the error of the growth law is at most a fifth in the mean, at every η̃."""
    return each(LAW, lambda run: level(last(name, run), high=0.2))


def _law_in_every_seed(name):
    """Check that the error of the growth law is at most a fifth in every seed, at every η̃."""
    return each(LAW, lambda run: counted_as("level", at_most(last(name, run), 0.2)))


def _weights_in_span(run):
    """Check that the weights stay in the span of the features and the initial weights."""
    return identity(last("worst(weights_off_span)", run), 1e-10)


def _published_attack(run):
    """Check the published attacked input of Lemma D.17 of RNRF."""
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
    "rnrf.lem5.2.poly": _under_hypotheses(
        parts({"A": _law_in_every_seed("growth_law_error_A"), "B": _law("growth_law_error_B")}),
        where(LAW),
    ),
    "rnrf.lem5.2.poly.corrected": _under_hypotheses(_law("growth_law_error_B"), where(LAW)),
    "rnrf.lemD.16.decomp": parts(
        {
            "nothing clipped off the features": _weights_in_span(SMALL_STEP),
            "every patch rescaled": _weights_in_span(PATCH_CLIP),
            "every element clipped": _weights_in_span(ELEMENT_CLIP),
        }
    ),
    "rnrf.lemD.17.advex": every(_published_attack(SMALL_STEP), _published_attack(ELEMENT_CLIP)),
    "rnrf.lemD.17.advex.corrected": identity(last("worst(attacked_off_span)", PATCH_CLIP), 1e-10),
    "rnrf.lemD.18.recursion": identity(last("printed_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.unclipped": identity(last("unclipped_recursion_error", ADV), 1e-12),
    "rnrf.lemD.18.recursion.corrected": identity(last("recursion_error", CLOSED), 1e-12),
}
