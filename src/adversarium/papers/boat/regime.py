"""BOAT's hypotheses for a run: its own data, attack, network and step."""

import math
from collections.abc import Sequence

from adversarium.bounds import Gate, permitted_constants
from adversarium.data import Clusters
from adversarium.networks import SmoothedLeakyReLU, TwoLayer
from adversarium.plans import Run

C_LEAST = 2.0  # how "C sufficiently large" is read where a run stands on no rung


def gates(run: Run) -> Sequence[Gate]:
    """The largest C that each inequality of Assumption 1 and of (A) or (B) of BOAT permits, in
    units of N(0, I) noise; wanted is the run's own rung C, else 2 (ours). Then the conditions
    without a C. None for a run on other data."""
    data, network = run.data, run.network
    if not isinstance(data, Clusters):
        return ()
    sd = math.sqrt(data.marginal.var)
    mu, alpha = data.mu / sd, (0.0 if run.attack is None else run.attack.radius) / sd
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
    wanted = float(run.coordinates.get("C", C_LEAST))
    told = [Gate(text, C, low=wanted) for text, C in permitted.items()]
    told.append(Gate("‖μ‖/α", mu / alpha if alpha else math.inf, low=1.0))
    if isinstance(network, TwoLayer):
        spread = network.omega * math.sqrt(network.m * float(data.d))
        told.append(Gate("η/(ω√(md))", run.eta / spread if spread else math.inf, low=1.0 - 1e-9))
    return told
