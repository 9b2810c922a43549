"""Random features of CONV's two-layer network (§5 and App. C of CONV).

Functions h(x) = E[⟨u(w), x⟩ s'(⟨w, x⟩)], their finite samples, and the finite network built from
the robust interpolant of minimum norm.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.data import SphereBatch
from adversarium.networks import TwoLayer
from adversarium.rng import integers, normal
from adversarium.sockets import Numbers
from adversarium.solvers.shortest import MinimumNorm, shortest
from adversarium.training.objectives import pseudo_huber

from .certified_descent import points
from .descents import robust_loss
from .kernels import gram, kappa
from .relu_norms import on_sphere

GRID = 1000  # number of points at which errors are evaluated


@dataclass(frozen=True)
class Sections:
    """A sum of kernel sections h = Σ_t β_t K(·, x_t), with u(w) = Σ_t β_t x_t s'(⟨w, x_t⟩).

    >>> from adversarium.networks import Erf
    >>> h = Sections(Erf(), torch.eye(2).double(), torch.tensor([1.0, 0.0]).double())
    >>> tuple(h.u(torch.zeros(5, 2).double()).shape)
    (5, 2)
    """

    activation: Any
    centres: Tensor
    beta: Tensor

    def u(self, w: Tensor) -> Tensor:
        """u(w) = Σ_t β_t x_t s'(⟨w, x_t⟩), one row per w, (M, d)."""
        values: Tensor = (self.activation.slope(w @ self.centres.T) * self.beta) @ self.centres
        return values

    def h(self, x: Tensor) -> Tensor:
        """h(x) by the closed form of the kernel."""
        r = (x @ self.centres.T).clamp(-1, 1)
        K = r.numpy() * kappa(self.activation, r.numpy().ravel()).reshape(tuple(r.shape))
        return torch.from_numpy(K) @ self.beta

    def sampled(self, w: Tensor, x: Tensor) -> Tensor:
        """(1/M) Σ_i ⟨u(w_i), x⟩ s'(⟨w_i, x⟩)."""
        features = (x @ self.u(w).T) * self.activation.slope(x @ w.T)
        mean: Tensor = features.mean(-1)
        return mean

    def norm(self) -> float:
        """|h|_H, the norm in the RKHS of K."""
        K = torch.from_numpy(gram(self.activation, self.centres))
        return math.sqrt(max(float(self.beta @ K @ self.beta), 0.0))

    def random_feature_norm(self, rng: Generator) -> float:
        """Return a lower bound of |h|_RF = sup_w |u(w)|.

        It is the largest |u| over many random directions and those of the centres, at four lengths.
        """
        directions = torch.nn.functional.normalize(
            normal((4000, self.centres.shape[1]), rng), dim=1
        )
        directions = torch.cat([directions, self.centres, -self.centres])
        return max(
            float(self.u(length * directions).norm(dim=1).max()) for length in (1, 4, 16, 256)
        )


def drawn_sections(activation: Any, kind: str, d: int, rng: Generator) -> Sections:
    """Draw one section ("one"), or five close ones with β ≥ 0 ("near"), or five others ("any")."""
    first = on_sphere(d, rng)
    if kind == "one":
        return Sections(activation, first[None], torch.ones(1, dtype=torch.float64))
    spread = 0.3 if kind == "near" else 10.0
    centres = torch.nn.functional.normalize(first + spread * normal((5, d), rng), dim=1)
    beta = normal((5,), rng)
    return Sections(activation, centres, beta.abs() if kind == "near" else beta)


def section_identities(rng: Generator, activation: Any, d: int) -> Numbers:
    """Test Lemma C.1 of CONV by quadrature over w.

    - `function`: the largest |E[⟨u(w), x⟩s'(⟨w, x⟩)] − h(x)| over five x, with h in closed form.
    - `norm`: |E|u|² − |h|²|.
    - `growth`: the largest |u| along the centres at |w| = 10⁴ divided by the largest at the nodes.

    >>> from adversarium.networks import Erf
    >>> from adversarium.rng import stream
    >>> section_identities(stream(0, "example"), Erf(), d=2)["function"] < 1e-6
    True
    """
    nodes, weight = np.polynomial.hermite_e.hermegauss(200 if d == 2 else 64)
    weight = weight / weight.sum()
    axes = np.meshgrid(*[nodes] * d, indexing="ij")
    w = torch.from_numpy(np.stack([a.ravel() for a in axes], -1))
    p = torch.from_numpy(np.prod(np.meshgrid(*[weight] * d, indexing="ij"), axis=0).ravel())
    h, x = drawn_sections(activation, "any", d, rng), torch.stack([on_sphere(d, rng)
                                                                   for _ in range(5)])  # fmt: skip
    u = h.u(w)
    integral = torch.einsum("m,mn->n", p, (u @ x.T) * activation.slope(w @ x.T))
    square = float((p * u.square().sum(-1)).sum())
    far, near = (float(h.u(weights).norm(dim=-1).max()) for weights in (1e4 * h.centres, w))
    return {
        "function": float((integral - h.h(x)).abs().max()),
        "norm": abs(square - h.norm() ** 2),
        "growth": far / near,
    }


def feature_errors(
    rng: Generator, activation: Any, kind: str, M: int, d: int = 2, p: float = 0.01, draws: int = 1
) -> Numbers:
    """Test Prop. C.1 of CONV for M random features.

    The bound on sup |ĥ − h| is C|h|_RF(2√d + √(2 log(1/p)))/√M. On a circle (d = 2), the sup is an
    upper bound: the maximum over a grid plus the most that the slope can add between grid points.
    In more dimensions it is the maximum over random points, a lower bound. |h|_RF is a lower bound
    too, which makes the test stricter.

    - `quotient`: the largest sup |ĥ − h| of all draws, divided by the bound.
    - `kept`: the number of draws in which sup |ĥ − h| is at most the bound.
    - `scaled`: the mean over draws of √M sup |ĥ − h|/|h|_RF at the grid points.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = feature_errors(stream(0, "example"), SmoothedReLU(b=2.0), "one", M=64)
    >>> numbers["quotient"] < 1, numbers["kept"]
    (True, 1.0)
    """
    h = drawn_sections(activation, kind, d, rng)
    C, rf_norm = max(activation.C1, activation.C2), h.random_feature_norm(rng)
    bound = C * rf_norm * (2 * math.sqrt(d) + math.sqrt(2 * math.log(1 / p))) / math.sqrt(M)
    if d == 2:
        angle = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
        x = torch.stack([angle.cos(), angle.sin()], -1)
    else:
        x = torch.nn.functional.normalize(normal((GRID, d), rng), dim=1)
    exact, errors, grid_errors = h.h(x), [], []
    for _ in range(draws):
        w = normal((M, d), rng)
        error = float((h.sampled(w, x) - exact).abs().max())
        grid_errors.append(error)
        if d == 2:  # |∂(⟨u, x⟩s'(⟨w, x⟩))| ≤ |u|(C1 + C2|w|); E|w| ≤ √d for h itself
            slope = float((h.u(w).norm(dim=1) * (activation.C1 + activation.C2 * w.norm(dim=1))
                           ).mean())  # fmt: skip
            u_bound = float(h.beta.abs().sum()) * activation.C1
            slope += u_bound * (activation.C1 + activation.C2 * math.sqrt(d))
            error += slope * math.pi / GRID
        errors.append(error)
    return {
        "quotient": max(errors) / bound,
        "kept": float(sum(one <= bound for one in errors)),
        "scaled": math.sqrt(M) * sum(grid_errors) / draws / rf_norm,
    }


def interpolant(activation: Any, batch: SphereBatch, e: float) -> tuple[Sections, MinimumNorm]:
    """Return the g of minimum norm in the RKHS with |g − y| ≤ e at every point of every set."""
    x = batch.options.flatten(0, 1)
    y = batch.y.repeat_interleave(batch.options.shape[1]).numpy()
    solution = shortest(gram(activation, x), y - e, y + e)
    if not math.isfinite(solution.norm):
        raise ValueError(f"no function in the RKHS of {activation} fits these sets.")
    return Sections(activation, x, torch.from_numpy(solution.beta)), solution


def built(g: Sections, m: int, rng: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return paired initial weights, moves a_r u(w_r)/√m, and the published moves without a_r."""
    half = normal((m // 2, g.centres.shape[1]), rng)
    move = g.u(half) / math.sqrt(m)
    a = 2.0 * integers(2, (m // 2, 1), rng) - 1  # as published, the unit of sign + moves by a_r c_r
    return torch.cat([half, half]), torch.cat([move, -move]), torch.cat([a * move, -a * move])


def interpolant_norms(rng: Generator, activation: Any, e: float, radius: float = 0.2) -> Numbers:
    """Measure the g of minimum norm with |g − y| ≤ e on four arcs of a circle.

    - `|g|`: the norm of g. `gap`: the norm minus its lower bound from the dual problem.
    - `L_*(g)`: the exact robust loss of g on the sets.
    - `|g|_RF/|g|`: the quotient of norms, with a lower bound on |g|_RF.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = interpolant_norms(stream(0, "example"), SmoothedReLU(b=2.0), e=0.1)
    >>> round(numbers["|g|"], 3), round(numbers["L_*(g)"], 5)
    (4.63, 0.00499)
    """
    batch = points("circle", radius)
    g, solution = interpolant(activation, batch, e)
    values = g.h(batch.options.flatten(0, 1)).view(batch.options.shape[:2])
    loss = pseudo_huber(values, batch.y[:, None].expand_as(values)).amax(-1).mean()
    norm = solution.norm
    return {
        "|g|": norm,
        "gap": norm - solution.lower_bound,
        "L_*(g)": float(loss),
        "|g|_RF/|g|": g.random_feature_norm(rng) / norm,
    }


def network_errors(rng: Generator, activation: Any, m: int, e: float = 0.1) -> Numbers:
    """Measure the errors of the network of Theorem 5.2 of CONV over entire arcs (204 points).

    The target g has minimum norm under |g − y| ≤ e on four arcs of a circle.

    - `features`: the largest |sampled features − g|. `linearisation`: the largest |network −
      sampled features|. `whole`: the largest |network − g|.
    - `linearisation/bound`: `linearisation` divided by its corrected bound, C2|g|²_RF/(2√m).
    - `distance/|g|`: the distance of the weights from W_0, divided by |g|.
    - `L_*`, `printed`: the robust losses of the network and of the network as published.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = network_errors(stream(0, "example"), SmoothedReLU(b=2.0), m=4096)
    >>> numbers["linearisation"] < numbers["features"], 0.9 < numbers["distance/|g|"] < 1.1
    (True, True)
    """
    batch = points("circle")
    g, solution = interpolant(activation, batch, e)
    W0, signed, plain = built(g, m, rng)
    network = TwoLayer(m=m, activation=activation)
    edge, middle = batch.options[:, 1], batch.x  # end and centre of each arc
    turn = torch.linspace(-1, 1, 51, dtype=torch.float64)[:, None] * torch.acos(
        (edge * middle).sum(-1)
    )
    across = torch.stack([-middle[:, 1], middle[:, 0]], -1)
    x = (turn.cos()[..., None] * middle + turn.sin()[..., None] * across).flatten(0, 1)
    exact, sampled = g.h(x), g.sampled(W0[: m // 2], x)
    f = network.f(W0 + signed, x)
    error = float((f - sampled).abs().max())
    bound = activation.C2 * g.random_feature_norm(rng) ** 2 / (2 * math.sqrt(m))
    return {
        "features": float((sampled - exact).abs().max()),
        "linearisation": error,
        "linearisation/bound": error / bound,
        "whole": float((f - exact).abs().max()),
        "distance/|g|": float(signed.norm()) / solution.norm,
        "L_*": float(robust_loss(network, W0 + signed, batch)),
        "printed": float(robust_loss(network, W0 + plain, batch)),
    }


def built_networks(
    rng: Generator, activation: Any, eps: float, room: float, starts: int = 1
) -> Numbers:
    """Test Theorem 5.2 of CONV on the circle.

    The target g has minimum norm under |g − y| ≤ e on all sets, with e such that its loss is ε/2.
    The network has weights w_r + a_r u(w_r)/√m and width m = room·R⁴/ε², R = |g|.

    - `kept`: the number of starts with L_* ≤ ε at a distance of at most 1.1 R from W_0.
    - `L_*/ε`, `distance/R`: the largest values of all starts.
    - `printed`: the smallest L_* of the network as published, whose moves lack the sign a_r (random
      a_r).
    - `RF/2R`: |g|_RF/2 divided by |g|, with a lower bound on |g|_RF.
    - `violation`, `gap`: the largest constraint violation in the quadratic programme for g, and its
      value minus the dual bound.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = built_networks(stream(0, "example"), SmoothedReLU(b=2.0), eps=0.2, room=4.0)
    >>> numbers["kept"], numbers["printed"] > 0.3
    (1.0, True)
    """
    batch = points("circle")
    g, solution = interpolant(activation, batch, math.sqrt((1 + eps / 2) ** 2 - 1))
    R = solution.norm
    m = 2 * math.ceil(room * R**4 / eps**2 / 2)
    network = TwoLayer(m=m, activation=activation)
    losses, moves, printed = [], [], []
    for _ in range(starts):
        W0, signed, plain = built(g, m, rng)
        losses.append(float(robust_loss(network, W0 + signed, batch)) / eps)
        moves.append(float(signed.norm()) / R)
        printed.append(float(robust_loss(network, W0 + plain, batch)))
    successes = sum(a <= 1 and b <= 1.1 for a, b in zip(losses, moves, strict=True))
    return {
        "kept": float(successes),
        "L_*/ε": max(losses),
        "distance/R": max(moves),
        "printed": min(printed),
        "RF/2R": g.random_feature_norm(rng) / (2 * R),
        "violation": solution.violation,
        "gap": solution.norm - solution.lower_bound,
        "R": R,
        "m": float(m),
    }
