"""Evaluate BOAT's hypotheses for a run from its data, attack, network and step."""

import math
from collections.abc import Mapping, Sequence

from adversarium.data import Clusters
from adversarium.networks import Perceptron, SmoothedLeakyReLU, TwoLayer
from adversarium.plans import Run, Trial
from adversarium.plans.gates import Gate
from adversarium.plans.run import Task

from .bounds import permitted_constants

C_LEAST = 2.0  # "C sufficiently large" is read as C ≥ 2 for runs that have no coordinate C


def gates(run: Task) -> Sequence[Gate]:
    """Return the largest C that each inequality of Assumption 1 and of (A) or (B) of BOAT permits,
    in units of noise of variance 1, and the remaining hypotheses.

    Each C must be at least the run's coordinate C, or 2 (our choice) if it has none. The smallest
    of these constants, the conditions without a C, and properties of the noise follow. Runs on
    other data have no gates; a trial with all sizes as parameters has only the inequalities.
    """
    if isinstance(run, Trial):
        return _of_sizes(run)
    data, network = run.data, run.network
    if not isinstance(data, Clusters) or not isinstance(network, TwoLayer | Perceptron):
        return ()
    if not data.mu:  # without a signal, no inequality with ‖μ‖ as a lower bound can hold
        return (Gate("‖μ‖", 0.0, low=math.ulp(0.0)),)
    noise = data.marginal
    sd = math.sqrt(noise.var)
    mu, alpha = data.mu / sd, _reach(run) / sd
    permitted = permitted_constants(
        n=run.n,
        d=data.d,
        mu=mu,
        alpha=alpha,
        m=network.m,
        beta=data.beta,
        eta=run.eta * sd**2,
        smooth=isinstance(network.activation, SmoothedLeakyReLU),
    )
    found = _permitted(permitted, float(run.coordinates.get("C", C_LEAST)))
    found.append(Gate("‖μ‖/α", mu / alpha if alpha else math.inf, low=1.0))
    if isinstance(network, TwoLayer):
        spread = network.omega * math.sqrt(network.m * float(data.d))
        step = sd * run.eta / spread if spread else math.inf  # η and ω in the same units
        found.append(Gate("η/(ω√(md))", step, low=1.0 - 1e-9))
    found += [
        Gate("λ of the noise (strongly log-concave)", noise.lam, low=0.0),
        Gate("ψ₂ of the noise (Definition 2.1: 1, these runs rescaled)", noise.psi2),
        Gate("κ, the variance of the noise after that rescaling", noise.var / noise.psi2**2),
    ]
    return found


def _permitted(constants: Mapping[str, float], required: float) -> list[Gate]:
    """Return one gate per constant, and report the smallest of them (except that of η)."""
    least = min(C for text, C in constants.items() if not text.startswith("η"))
    found = [Gate(text, C, low=required) for text, C in constants.items()]
    return [*found, Gate("C_eff, the largest C that all of these permit, except that of η", least)]


def _of_sizes(trial: Trial) -> Sequence[Gate]:
    """Return the gates of a trial that has all the sizes of Assumption 1 as parameters."""
    names = ("n", "d", "mu", "alpha", "m", "beta")
    given = trial.parameters
    if not all(name in given for name in names):
        return ()
    constants = permitted_constants(**{name: given[name] for name in names})
    return _permitted(constants, float(given.get("C", C_LEAST)))


def _reach(run: Run) -> float:
    """Return the largest l2 norm in the attack's ball."""
    if run.attack is None:
        return 0.0
    p, radius = float(getattr(run.attack, "p", 2)), float(run.attack.radius)
    return radius * float(run.data.d) ** max(0.0, 0.5 - 1 / p)
