"""Evaluate CONV's printed hypotheses for a run or a trial from its parameters.

All constants of Ω(·), O(·) and Θ(·) are 1, except that R = Ω(1) is R ≥ ½ and that an absolute
constant is at most 10.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import torch

from adversarium.networks import QuadraticReLU, TwoLayer
from adversarium.plans import Run
from adversarium.plans.gates import Gate
from adversarium.plans.run import Task, Trial

from .certified_descent import points
from .convergence import (
    descent_gap,
    descent_to_eps,
    descent_until_exit,
    free_and_projected,
    hidden_converging,
    orthogonal_times,
    radii_compared,
)
from .counterexamples import printed_sign, steep_slopes
from .depths import depth_times, proof_steps
from .descents import certified_step, regret_of_descent
from .features import built_networks, feature_errors, network_errors, section_identities
from .kernels import kappa
from .kinks import kink_suprema, kinks_over_circle
from .paired import curvature_pairs, gradient_lipschitz, gradient_sizes
from .projected_descent import slacks_of_descent
from .radii import latent_radius, radii_needed
from .relu_norms import back_products, feature_drift, moved_input, product_tail, spectral_norms

LEAST_R = 0.5  # R = Ω(1)
ABSOLUTE = 10.0  # the largest value of an absolute constant
ROUNDING = 1e-9

Gates = tuple[Gate, ...]
Given = Mapping[str, Any]


def gates(task: Task) -> Gates:
    """Return the printed hypotheses of the statement that a run or a trial is about.

    The result is empty for a task to which no hypothesis applies.
    """
    if isinstance(task, Run):
        return _smooth(task.network.activation) if isinstance(task.network, TwoLayer) else ()
    rule = _RULES.get(task.function)
    return rule(_given(task)) if rule is not None else ()


def _given(trial: Trial) -> Given:
    """Return the parameters of a trial, with the defaults of its function."""
    known = inspect.signature(trial.function).parameters
    defaults = {k: p.default for k, p in known.items() if p.default is not inspect.Parameter.empty}
    return {**defaults, **trial.parameters}


def _smooth(activation: Any) -> Gates:
    """Return Assumption 5.1 of CONV: σ′ is Lipschitz, with an absolute constant C2."""
    return (Gate("1/C2 (Assumption 5.1: σ′ is C2-Lipschitz)", 1 / activation.C2, 1 / ABSOLUTE),)


def _bounded_slope(activation: Any) -> Gates:
    """Return Assumptions 5.1 and 5.3 of CONV: σ′ is Lipschitz and bounded."""
    bounded = Gate("1/C1 (Assumption 5.3: |σ′| ≤ C1)", 1 / activation.C1, 1 / ABSOLUTE)
    return (*_smooth(activation), bounded)


@cache
def _distance_and_norm(data: str) -> tuple[float, float]:
    """Return the smallest distance of two sets with different labels, and the largest ||x| − 1|."""
    batch = points(data)
    flat = batch.options.flatten(0, 1)
    y = batch.y.repeat_interleave(batch.options.shape[1])
    apart = torch.cdist(flat, flat)[y[:, None] != y[None]]
    return (float(apart.min()) if len(apart) else math.inf), float(
        (flat.norm(dim=1) - 1).abs().max()
    )


def _data(given: Given) -> Gates:
    """Return the hypotheses on the data: inputs on the unit sphere and compatible sets."""
    distance, off = _distance_and_norm(given.get("data", "circle"))
    on_sphere = Gate("largest ||x| − 1| of an input", off, high=ROUNDING)
    if math.isinf(distance):  # one label: every perturbation set is compatible
        return (on_sphere,)
    return (on_sphere, Gate("distance of sets with different labels", distance, low=ROUNDING))


def _wide_enough(m: int, d: int, H: int) -> Gate:
    return Gate("m/max(d, H log H)", m / max(d, H * math.log(H)), low=1.0)


def _small(tau: float, m: int, H: int, power: float = 6.0, name: str = "τH⁶(log m)³") -> Gate:
    return Gate(name, tau * H**power * math.log(m) ** 3, high=1.0)


def _theorem_4_1(m: int, R: float, H: int, eps: float, d: int) -> Gates:
    return (
        Gate("R = Ω(1)", R, low=LEAST_R),
        Gate("mε⁷/(R⁹H¹⁶)", m * eps**7 / (R**9 * H**16), low=1.0),
        Gate("m/d²", m / d**2, low=1.0),
    )


def _hidden(given: Given) -> Gates:
    m, R, eps = given["m"], given["R"], given["eps"]
    T, d = math.ceil(R**2 / eps**2), points(given["data"]).x.shape[-1]
    return (
        *_theorem_4_1(m, R, 1, eps, d),
        Gate("αmH²/ε", 1.0, high=1.0),
        Gate("Tmεα/R²", T * eps**2 / R**2, low=1.0 - ROUNDING, high=2.0),
        *_data(given),
    )


def _depth(given: Given) -> Gates:
    eps = given["R"] * given["H"] / 2
    return _theorem_4_1(given["m"], given["R"], given["H"], eps, given["d"])


def _proof(given: Given) -> Gates:
    m, R, H = given["m"], given["R"], given["H"]
    return (
        Gate("R = Ω(1)", R, low=LEAST_R),
        _wide_enough(m, given["d"], H),
        _small(R / math.sqrt(m), m, H),
    )


def _kinks(given: Given) -> Gates:
    m, R, H, d = given["m"], given["R"], given.get("H", 1), given.get("d", 2)
    logs = max(math.log(math.sqrt(m) / R), 0.0)
    needed = d**1.5 * logs**1.5 / (R * H**1.5)
    return (
        _wide_enough(m, d, H),
        _small((1 + given.get("delta", 0.0)) * R / math.sqrt(m), m, H),
        Gate("m/(d^{3/2} log^{3/2}(√m/R)/(RH^{3/2}))", m / max(needed, ROUNDING), low=1.0),
    )


def _drift(given: Given) -> Gates:
    m, H = given["m"], given["H"]
    tau = given["tau"] or 1 / (H**6 * math.log(m) ** 3)
    small = _small(tau, m, H, 4.5, "τH^{9/2}(log m)³")
    return (_wide_enough(m, given["d"], H), small)


def _moved(given: Given) -> Gates:
    return (
        Gate("R/√m", given["share"], high=1.0),
        Gate("m/d (not printed)", given["m"] / given["d"], low=1.0, printed=False),
    )


def _sizes(given: Given) -> Gates:
    return (
        *_smooth(given["activation"]),
        Gate("R/√m", given["r"], high=1.0),
        Gate("m/d", 1 / given["share"], low=1.0),
    )


def _corollary(given: Given) -> Gates:
    eps, R, c = given["eps"], given["R"], given["activation"].C2
    m = 2 * math.ceil((2.51 * c * R**2 / eps) ** 2 / 2)
    return (
        *_bounded_slope(given["activation"]),
        Gate("mε²/R⁴", m * eps**2 / R**4, low=1.0),
        Gate("α/ε", 0.5, high=1.0),
        Gate("Tεα/R²", 4.0, low=1.0),
        *_data(given),
    )


def _orthogonal(given: Given) -> Gates:
    eps, activation = given["eps"], given["activation"]
    output = 1 - math.sqrt((1 + eps) ** 2 - 1)  # its loss is ε
    R2 = given["K"] * output**2 / float(kappa(activation, np.array([1.0]))[0])
    return (
        *_bounded_slope(activation),
        Gate("mε²/R⁴", given["m"] * eps**2 / R2**2, low=1.0),
        Gate("α/ε", given["alpha"] / eps, high=1.0),
    )


def _two_layers(given: Given) -> Gates:
    return (*_smooth(given["activation"]), *_data(given))


def _features(given: Given) -> Gates:
    return _bounded_slope(given["activation"])


_RULES: dict[Callable[..., Any], Callable[[Given], Gates]] = {
    # Lemmas A.1 to A.6 and Theorem 4.1
    spectral_norms: lambda given: (Gate("m/d", 1 / given["share"], low=1.0),),
    back_products: lambda given: (_wide_enough(given["m"], 1, given["H"]),),
    product_tail: lambda given: (_wide_enough(given["m"], 1, given["H"]),),
    moved_input: _moved,
    feature_drift: _drift,
    kink_suprema: _kinks,
    kinks_over_circle: _kinks,
    hidden_converging: _hidden,
    depth_times: _depth,
    proof_steps: _proof,
    printed_sign: lambda given: _theorem_4_1(given["m"], given["R"], 1, given["eps"], 16),
    # Theorem 5.1 and Appendix B: α = O(ε), m = Ω(R⁴/ε²) and T hold by the definition of ε
    descent_gap: _two_layers,
    steep_slopes: lambda given: _smooth(QuadraticReLU()),
    descent_until_exit: _two_layers,
    free_and_projected: _two_layers,
    radii_compared: lambda given: () if given["activation"] is None else _two_layers(given),
    regret_of_descent: lambda given: _smooth(given["activation"]),
    slacks_of_descent: lambda given: _smooth(given["activation"]),
    certified_step: lambda given: _smooth(given["activation"]),
    gradient_lipschitz: lambda given: _smooth(given["activation"]),
    curvature_pairs: lambda given: _smooth(given["activation"]),
    gradient_sizes: _sizes,
    # Theorem 5.2, Corollary 5.1 and §7
    descent_to_eps: _corollary,
    orthogonal_times: _orthogonal,
    built_networks: lambda given: (
        *_features(given),
        Gate("mε²/R⁴", given["room"], low=1.0 - ROUNDING),
    ),
    feature_errors: _features,
    network_errors: _features,
    section_identities: _features,
    radii_needed: _features,
    latent_radius: _features,
}
