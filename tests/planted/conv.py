"""Bugs that CONV's claims must notice."""

import torch

from adversarium.networks.deep import Deep
from adversarium.trials import paired, robust_balls
from tests.planted.bugs import Bug, scaled, swapped
from tests.planted.parts import misstepping

_ONE = {"rules": ("exact",), "m": (64,)}

_FEW = {"sizes": (2, 3), "most": 8, "splits": ((3, 1), (6, 3)), "tried": ((2, 2),)}


def _without_pattern(original, self, patterns):
    """The back-products without the pattern of their own layer."""
    made = original(self, patterns)
    if len(self.W) > 1:
        made[0] = self.W[1].T @ made[1]
    return made


_SMALL = {"widths": (16, 64), "sizes": (16, 32, 64, 128), "alpha": (0.4,), "runs": (16,),
          "climbs": 3}  # fmt: skip


def _fresh_pairs(original, m, d, rng, sphere=False):
    """Weights of which no two are equal."""
    W, a = original(m, d, rng, sphere)
    return W + torch.randn(W.shape, generator=rng, dtype=W.dtype), a


def _value_for_slope(original, activation, W, a, x):
    return torch.outer(a * activation(W @ x), x) / len(a) ** 0.5


BUGS = (
    Bug(
        "the second weight of a pair drawn afresh",
        swapped(paired, "paired_start", _fresh_pairs),
        turns=("conv.fn6",),
        knobs=_SMALL,
    ),
    Bug(
        "s for s' in the gradient",
        swapped(paired, "gradient", _value_for_slope),
        turns=("conv.eqB.grad",),
        knobs=_SMALL,
    ),
    Bug(
        "γ_k a hundredth too large",
        scaled(robust_balls, "gamma", 1.01),
        turns=("conv.thm6.1.gamma",),
        knobs=_FEW,
    ),
    Bug(
        "centres a hundredth too far apart",
        scaled(robust_balls, "reach", 1.01),
        turns=("conv.thm6.1.exact",),
        knobs=_FEW,
    ),
    Bug(
        "back-product without the pattern of its own layer",
        swapped(Deep, "back", _without_pattern),
        turns=("conv.eq9",),
        knobs={"widths": (16, 32), "depths": (1, 2), "draws": 10},
    ),
    Bug(
        "steps twice as long as the rule says",
        misstepping("full", 2.0),
        turns=("conv.eq16",),
        knobs=_ONE,
    ),
    Bug(
        "full-batch descent goes uphill",
        misstepping("full", -1.0),
        turns=("conv.eq16",),
        knobs=_ONE,
    ),
)
