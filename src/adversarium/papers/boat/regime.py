"""BOAT's hypotheses for a run: its own data, attack, network and step."""

import math
from collections.abc import Mapping, Sequence

from adversarium.bounds import Gate, permitted_constants
from adversarium.data import Clusters
from adversarium.networks import Perceptron, SmoothedLeakyReLU, TwoLayer
from adversarium.plans import Run, Trial
from adversarium.plans.run import Task

C_LEAST = 2.0  # how "C sufficiently large" is read where a run stands on no rung


def gates(run: Task) -> Sequence[Gate]:
    """The largest C that each inequality of Assumption 1 and of (A) or (B) of BOAT permits, in
    units of noise of variance 1; wanted is the run's own rung C, else 2 (ours). Then the least of
    them, the conditions without a C, and the noise. None for a run on other data; a trial that
    has the sizes has the inequalities."""
    if isinstance(run, Trial):
        return _of_sizes(run)
    data, network = run.data, run.network
    if not isinstance(data, Clusters) or not isinstance(network, TwoLayer | Perceptron):
        return ()
    if not data.mu:  # no signal: every inequality with ‖μ‖ below is out of reach
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
    told = _permitted(permitted, float(run.coordinates.get("C", C_LEAST)))
    told.append(Gate("‖μ‖/α", mu / alpha if alpha else math.inf, low=1.0))
    if isinstance(network, TwoLayer):
        spread = network.omega * math.sqrt(network.m * float(data.d))
        step = sd * run.eta / spread if spread else math.inf  # η and ω in the same units
        told.append(Gate("η/(ω√(md))", step, low=1.0 - 1e-9))
    told += [
        Gate("λ of the noise (strongly log-concave)", noise.lam, low=0.0),
        Gate("ψ₂ of the noise (Definition 2.1: 1, these runs rescaled)", noise.psi2),
        Gate("κ, the variance of the noise after that rescaling", noise.var / noise.psi2**2),
    ]
    return told


def _permitted(constants: Mapping[str, float], wanted: float) -> list[Gate]:
    """The constants, and the least of them."""
    least = min(C for text, C in constants.items() if not text.startswith("η"))
    text = "C_eff, the least C that they permit, the step apart"
    return [Gate(text, C, low=wanted) for text, C in {**constants, text: least}.items()]


def _of_sizes(trial: Trial) -> Sequence[Gate]:
    """The inequalities for a trial on sizes of Assumption 1."""
    names = ("n", "d", "mu", "alpha", "m", "beta")
    given = trial.parameters
    if not all(name in given for name in names):
        return ()
    constants = permitted_constants(**{name: given[name] for name in names})
    return _permitted(constants, float(given.get("C", C_LEAST)))


def _reach(run: Run) -> float:
    """How far the attack's ball reaches in l2."""
    if run.attack is None:
        return 0.0
    p, radius = float(getattr(run.attack, "p", 2)), float(run.attack.radius)
    return radius * float(run.data.d) ** max(0.0, 0.5 - 1 / p)
