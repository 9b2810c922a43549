"""Adversarial training of the linear part on large margins (Theorem 4.1 of CGRM, §4 and App. B).

Paper: FGSM training from zero on the large-margin points ends within o(1) of w*.
Reading: l2 balls, d = 200, α = 5, δ = 2; the limit is the max-margin direction u of the N' points,
found exactly; training with the exponential loss literally (η = 0.01) and divided by its mean
(η = 0.05), 3,000 steps.
Cost: quick 20 s (2 cores).
"""

from adversarium.attacks import FGSM
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.papers.cgrm.linear_figures import figures
from adversarium.papers.cgrm.linear_readings import (
    error_at_fewest,
    error_at_many,
    excess,
    margin_error,
    predicted_errors,
    rise,
    tangent_error,
    wendel,
)
from adversarium.papers.cgrm.regime import gates
from adversarium.plans import Read, Run, Trial, at_most, each, every, identity, last, level
from adversarium.probes import direction_error, max_margin_gap
from adversarium.training import Risk
from adversarium.trials import cauchy, max_margin_directions, tilted_errors

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

COUNTS = (20, 50, 100, 200, 300, 360, 400, 440, 460, 480)  # N'
PLACE = {"d": Read("d"), "α": Read("alpha")}

quick = dict(seeds=10)
paper = dict(seeds=50)


def plan(d=200, alpha=5.0, delta=2.0, counts=COUNTS, trained=(200, 800), steps=3000):
    yield Trial(
        family="max margin",
        at=PLACE,
        function=max_margin_directions,
        parameters=dict(d=d, alpha=alpha, counts=counts),
        version=2,
    )
    yield Trial(family="attack", at=PLACE, function=cauchy, parameters=dict(d=d, alpha=alpha))
    yield Trial(family="angles", function=tilted_errors)
    for n in trained:
        for family, log, eta in (("divided", True, 0.05), ("literal", False, 0.01)):
            yield Run(
                family=family,
                at={"N'": Read("n")},
                data=MarginMixture(d=d, alpha=alpha, beta=min(0.5, alpha)),
                network=MixedLearner(),
                attack=FGSM(p=2, radius=delta),
                risk=Risk(loss="exponential", log=log),
                n=n,
                steps=steps,
                eta=eta,
                probes=(direction_error, max_margin_gap),
            )


def _arrives(run):
    return level(last("max_margin_gap", run), 0, 0.01)


def _never_turns_back(run):
    return level(rise.on(run), high=0)


checks = {
    "cgrm.thm4.1": level(error_at_fewest, 0, 0.01),
    "cgrm.thm4.1.corrected": every(
        at_most(excess, 0.0),
        at_most(tangent_error, 1e-4),
        at_most(error_at_many, 1e-6),
        at_most(margin_error, 1e-4),
        level(wendel, high=4),
        predicted_errors,
    ),
    "cgrm.lemB.2": every(each("divided", _arrives), each("divided", _never_turns_back)),
    "cgrm.eq.B1-cauchy": identity(last("error", "attack"), 1e-12),
    "cgrm.assump6.1": every(
        level(last("largest_log10_ratio", "angles"), high=1),
        level(last("standard_errors", "angles"), 0, 5),
    ),
}
