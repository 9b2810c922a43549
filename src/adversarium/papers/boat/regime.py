"""BOAT's hypotheses for a run: its own data, attack and width."""

from collections.abc import Sequence

from adversarium.bounds import Gate, permitted_constants
from adversarium.plans import Run


def gates(run: Run) -> Sequence[Gate]:
    """The largest C that each inequality of Assumptions 1 and B of BOAT permits; the theorem asks
    for some C, read as at least 2 (ours), and for α ≤ ‖μ‖."""
    radius = 0.0 if run.attack is None else run.attack.radius
    permitted = permitted_constants(
        n=run.n,
        d=run.data.d,
        mu=run.data.mu,
        alpha=radius,
        m=run.network.m,
        beta=run.data.beta,
    )
    inside = Gate("‖μ‖/α", run.data.mu / radius if radius else float("inf"), low=1.0)
    return (*(Gate(text, C, low=2.0) for text, C in permitted.items()), inside)


def C_eff(run: Run) -> float:
    """The largest C that all of the assumptions permit; 0 outside ‖μ‖ ≥ α."""
    *constants, inside = gates(run)
    return min(gate.factor for gate in constants) if inside.holds else 0.0
