"""Bugs that CONV's claims must notice."""

import math

import torch

from adversarium.networks import QuadraticReLU
from adversarium.papers.conv.theory import features, kernels, paired, robust_balls
from adversarium.papers.conv.theory.deep_relu import Deep
from tests.planted.bugs import Bug, scaled, swapped
from tests.planted.parts import misstepping

_ONE = {"rules": ("exact",), "m": (64,)}

_FEW = {"sizes": (2, 3), "most": 8, "splits": ((3, 1), (6, 3)), "tried": ((2, 2),)}


def _without_pattern(original, self, patterns):
    """Omit the activation pattern of a layer from its own back-product."""
    made = original(self, patterns)
    if len(self.W) > 1:
        made[0] = self.W[1].T @ made[1]
    return made


_SMALL = {"widths": (16, 64), "sizes": (16, 32, 64, 128), "alpha": (0.4,), "runs": (16,),
          "climbs": 3}  # fmt: skip


def _fresh_pairs(original, m, d, rng, sphere=False):
    """Return weights of which no two are equal."""
    W, a = original(m, d, rng, sphere)
    return W + torch.randn(W.shape, generator=rng, dtype=W.dtype), a


def _value_for_slope(original, activation, W, a, x):
    return torch.outer(a * activation(W @ x), x) / len(a) ** 0.5


_PARITY = {"widths": (16, 64), "sizes": (4, 8), "most": 41, "draws": 50}
_SECTIONS = {"counts": (), "kinds": (), "more": (), "eps": (), "width_factors": ()}


def _smaller_side(original, k, d):
    return math.sqrt(d) / 2 * (1 + 1 / d - 1 / min(k, d - k))


def _other_free_height(original, k, d, s, delta=1.0):
    free = [delta**2 - s**2 / part for part in (k, d - k)]
    return s * math.sqrt(1 / k + 1 / (d - k)) + sum(math.sqrt(max(one, 0.0)) for one in free)


def _quadratic_larger(original, activation, r):
    factor = 1.001 if isinstance(activation, QuadraticReLU) else 1.0
    return factor * original(activation, r)


def _not_lifted(original, activation, x):
    """Return the Gram matrix without the coordinate that a lift adds."""
    flat = torch.nn.functional.normalize(x[:, :-1], dim=1)
    return original(activation, flat if x.shape[1] > 2 else x)


def _fourth_degree(original, activation, r):
    return original(activation, r) + 0.01 * r**3 * isinstance(activation, QuadraticReLU)


def _without_sign(original, self, w):
    return original(features.Sections(self.activation, self.centres, self.beta.abs()), w)


BUGS = (
    Bug(
        "γ_k with the smaller side for the larger",
        swapped(robust_balls, "gamma", _smaller_side),
        turns=("conv.thm6.1.gamma",),
        knobs=_FEW,
    ),
    Bug(
        "corrected limit of the spread a twentieth too large",
        scaled(robust_balls, "largest_spread", 1.05),
        turns=("conv.thm6.1.balls.corrected",),
        knobs={**_FEW, "sizes": (2, 3, 5, 6)},
    ),
    Bug(
        "1/k instead of 1 − 1/k in the distance of a ball's centre from the centroid",
        swapped(robust_balls, "reach", _other_free_height),
        turns=("conv.thm6.1.exact",),
        knobs=_FEW,
    ),
    Bug(
        "kernel of the quadratic ReLU a thousandth too large",
        swapped(kernels, "kappa", _quadratic_larger),
        turns=("conv.lemC.3.corrected",),
        knobs=_PARITY,
    ),
    Bug(
        "the constant coordinate of lifted points is dropped",
        swapped(kernels, "gram", _not_lifted),
        turns=("conv.fn14",),
        knobs=_PARITY,
    ),
    Bug(
        "kernel of the quadratic ReLU with a term of degree 4",
        swapped(kernels, "kappa", _fourth_degree),
        turns=("conv.lemC.3",),
        knobs=_PARITY,
    ),
    Bug(
        "κ in sums of kernel sections a ten-thousandth too large",
        scaled(features, "kappa", 1.0001),
        turns=("conv.lemC.1",),
        knobs=_SECTIONS,
    ),
    Bug(
        "u without the signs of β",
        swapped(features.Sections, "u", _without_sign),
        turns=("conv.lemC.1",),
        knobs=_SECTIONS,
    ),
    Bug(
        "gradient a thousandth too large",
        scaled(paired, "gradient", 1.001),
        turns=("conv.eqB.grad",),
        knobs=_SMALL,
    ),
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
        "steps twice as long as the recipe says",
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
