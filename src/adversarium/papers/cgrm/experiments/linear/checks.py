"""Check the adversarial training of the linear part of CGRM."""

from adversarium.plans import (
    Each,
    Every,
    Hypothesis,
    Identity,
    Level,
    Parts,
    UnlessRefuted,
    last,
    where,
)

from .plan import FEW
from .readings import (
    angles,
    bounded,
    distance,
    exact_at_many,
    margins,
    predicted,
    predicted_errors,
    ratio_power,
    rise,
    vanishes_with_d,
    wendel,
)


def _arrives(run):
    return Level(last("max_margin_gap", run), high=0.01)


def _never_turns_back(run):
    return Level(rise.on(run), high=0)


def _predicted(run):
    return Level(predicted.on(run), 0.9, 1.1)


checks = {
    "cgrm.thm4.1": Parts(
        {
            "N' → ∞ at fixed d": exact_at_many,
            "d → ∞ at N'/d = 0.1": vanishes_with_d,
            "the distance at N'/d = 0.1": Hypothesis(
                "level", *(distance.on(where("few", d=size)) for size in (FEW[0], FEW[-1]))
            ),
        }
    ),
    "cgrm.thm4.1.corrected": Parts(
        {
            "‖u − w*‖ ≤ ‖mean yξ‖/α": bounded,
            "tan θ = max(M, 0)/α": Every(angles, margins),
            "P[u ≠ w*] is Wendel's": Every(*wendel),
            "u = w* for N' ≥ 2d + 8√d": exact_at_many,
            "prediction, N' ≤ d/4": Every(
                predicted_errors, *(Each(where("few", d=size), _predicted) for size in FEW[-2:])
            ),
        }
    ),
    "cgrm.lemB.2": Parts(
        {
            "literal steps arrive": UnlessRefuted(
                Each(where("literal"), _arrives),
                "literal descent turns like 1/log k: at this rate it takes more than e^90 steps",
            ),
        }
    ),
    "cgrm.lemB.2.divided": Every(
        Each(where("divided"), _arrives), Each(where("divided"), _never_turns_back)
    ),
    "cgrm.eq.B1-cauchy": Identity(last("error", "attack"), 1e-12),
    "cgrm.assump6.1": Hypothesis("level", ratio_power),
    "cgrm.assump6.1.at-u": Parts(
        {
            "u ≠ w* (N' ≤ d)": Level(ratio_power, high=0.1),
            "u = w* (N' ≥ 2d + 8√d): both errors are 0": exact_at_many,
        }
    ),
}
