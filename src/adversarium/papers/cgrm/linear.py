"""Adversarial training of the linear part on large margins (Theorem 4.1 of CGRM, §4 and App. B).

Paper: FGSM training from zero on the large-margin points ends within o(1) of w*.
Reading: l2 balls, d = 200, α = 5, δ = 2; the limit is the max-margin direction u of the N' points,
found exactly. The paper names no regime for o(1): N' → ∞ at fixed d and d → ∞ at N'/d = 0.1 are
looked at. Training with the exponential loss literally (η = 0.01) and divided by its mean
(η = 0.05), 3,000 steps.
Cost: quick 25 s (2 cores).
"""

import math

from adversarium.attacks import FGSM
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.papers.cgrm.linear_figures import figures
from adversarium.papers.cgrm.linear_readings import (
    angles,
    bounded,
    exact_at_many,
    margins,
    predicted,
    predicted_errors,
    ratio_power,
    rise,
    vanishes_with_d,
    wendel,
)
from adversarium.papers.cgrm.regime import gates
from adversarium.plans import (
    Read,
    Run,
    Trial,
    each,
    every,
    identity,
    last,
    level,
    parts,
    setting,
    unless_refuted,
    where,
)
from adversarium.probes import direction_error, max_margin_gap
from adversarium.training import Risk
from adversarium.trials import cauchy, max_margin_directions, not_exact_share, tilted_errors

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

COUNTS = (20, 50, 100, 200, 300, 360, 400, 440, 460, 480)  # N'
FEW = (100, 200, 400, 800, 1600)  # the d of N' = d/10
MANY = (25, 50, 100, 200)  # the d of N' = 2d + 8√d
TRAINED = ((50, 50), (100, 400), (200, 200))  # d and N'
PLACE = {"d": Read("d"), "α": Read("alpha")}

quick = dict(seeds=10, draws=200)
paper = dict(seeds=50, draws=400, trained=(*TRAINED, (200, 800)))


def plan(
    d=200,
    alpha=5.0,
    delta=2.0,
    counts=COUNTS,
    few=FEW,
    many=MANY,
    half=(10, 20, 40),
    draws=200,
    trained=TRAINED,
    steps=3000,
):
    directions = [
        ("max margin", d, alpha, counts),
        *(("few", size, alpha, (size // 10,)) for size in few),
        *(("many", size, alpha, (2 * size + math.ceil(8 * math.sqrt(size)),)) for size in many),
        *(
            ("other margins", d // 2, a, (d // 20, d // 4, d, 2 * d))
            for a in (alpha / 4, 4 * alpha)
        ),
    ]
    for family, size, a, large in directions:
        yield Trial(
            family=family,
            at=PLACE,
            function=max_margin_directions,
            parameters=dict(d=size, alpha=a, counts=large),
            version=2,
        )
    for size in half:
        parameters = dict(d=size, draws=draws)
        yield Trial(
            family="Wendel", at={"d": Read("d")}, function=not_exact_share, parameters=parameters
        )
    yield Trial(family="attack", at=PLACE, function=cauchy, parameters=dict(d=d, alpha=alpha))
    yield Trial(family="angles", function=tilted_errors)
    for size, n in trained:
        for family, log, eta in (("divided", True, 0.05), ("literal", False, 0.01)):
            yield Run(
                family=family,
                at={"d": Read("data.d"), "N'": Read("n")},
                data=MarginMixture(d=size, alpha=alpha, beta=min(0.5, alpha)),
                network=MixedLearner(),
                attack=FGSM(p=2, radius=delta),
                risk=Risk(loss="exponential", log=log),
                n=n,
                steps=steps,
                eta=eta,
                probes=(direction_error, max_margin_gap),
            )


def _arrives(run):
    return level(last("max_margin_gap", run), high=0.01)


def _never_turns_back(run):
    return level(rise.on(run), high=0)


def _predicted(run):
    return level(predicted.on(run), 0.9, 1.1)


checks = {
    "cgrm.thm4.1": parts(
        {"N' → ∞ at fixed d": exact_at_many, "d → ∞ at N'/d = 0.1": vanishes_with_d}
    ),
    "cgrm.thm4.1.corrected": parts(
        {
            "‖u − w*‖ ≤ ‖mean yξ‖/α": bounded,
            "tan θ = max(M, 0)/α": every(angles, margins),
            "P[u ≠ w*] is Wendel's": every(*wendel),
            "u = w* for N' ≥ 2d + 8√d": exact_at_many,
            "prediction, N' ≤ d/4": every(
                predicted_errors, *(each(where("few", d=size), _predicted) for size in FEW[-2:])
            ),
        }
    ),
    "cgrm.lemB.2": parts(
        {
            "literal steps arrive": unless_refuted(
                each("literal", _arrives),
                "literal descent turns like 1/log k: at this rate it takes more than e^90 steps",
            ),
            "and never turn back": each("literal", _never_turns_back),
        }
    ),
    "cgrm.lemB.2.divided": every(each("divided", _arrives), each("divided", _never_turns_back)),
    "cgrm.eq.B1-cauchy": identity(last("error", "attack"), 1e-12),
    "cgrm.assump6.1": setting("level", ratio_power),
    "cgrm.assump6.1.at-u": parts(
        {
            "u ≠ w* (N' ≤ d)": level(ratio_power, high=0.1),
            "u = w* (N' ≥ 2d + 8√d): both errors are 0": exact_at_many,
        }
    ),
}
