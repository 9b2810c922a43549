"""A report of few experiments: to judge and draw the whole catalogue takes minutes."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from adversarium.plans import catalogue
from adversarium.plans.catalogue import Claim
from adversarium.report.site import build
from adversarium.runs import audit


def few(patch: pytest.MonkeyPatch, ids: Collection[str]) -> None:
    """Only these experiments are read and drawn; the claims of others are there without one."""

    def bare(claim: Claim) -> Claim:
        own = claim.experiment in ids or catalogue.own_file(claim.experiment) is not None
        return claim if own else replace(claim, experiment="")

    every = catalogue.experiments
    patch.setattr(build, "experiments", lambda: [id for id in every() if id in ids])
    patch.setattr(
        build, "selected_claims", lambda words: [*map(bare, catalogue.selected_claims(words))]
    )
    patch.setattr(audit, "claims", lambda: {id: bare(c) for id, c in catalogue.claims().items()})
