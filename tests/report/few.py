"""Report only a few experiments: judging and drawing the entire catalogue takes minutes."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from adversarium.plans.catalogue import selected_claims
from adversarium.plans.loading import user_file
from adversarium.plans.papers import Claim, claims, experiments
from adversarium.report.site import build
from adversarium.runs import audit


def few(patch: pytest.MonkeyPatch, ids: Collection[str]) -> None:
    """Read and draw only these experiments; claims of others appear without a verdict."""

    def bare(claim: Claim) -> Claim:
        own = claim.experiment in ids or user_file(claim.experiment) is not None
        return claim if own else replace(claim, experiment="")

    patch.setattr(build, "experiments", lambda: [id for id in experiments() if id in ids])
    patch.setattr(build, "selected_claims", lambda words: [*map(bare, selected_claims(words))])
    patch.setattr(audit, "claims", lambda: {id: bare(c) for id, c in claims().items()})
