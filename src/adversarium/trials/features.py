"""Random features of CONV's two-layer network: functions h(x) = E[⟨u(w), x⟩ s'(⟨w, x⟩)], their
samples, and the finite network that is built from the shortest robust interpolant (§5, App. C)."""

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
from adversarium.solvers.shortest import Shortest, shortest
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.courses import points
from adversarium.trials.descents import robust_loss
from adversarium.trials.kernels import gram, kappa
from adversarium.trials.relu_norms import on_sphere

GRID = 1000  # points of a circle on which errors are looked at


@dataclass(frozen=True)
class Sections:
    """h = Σ_t β_t K(·, x_t), with u(w) = Σ_t β_t x_t s'(⟨w, x_t⟩).

    >>> from adversarium.networks import Erf
    >>> h = Sections(Erf(), torch.eye(2).double(), torch.tensor([1.0, 0.0]).double())
    >>> tuple(h.u(torch.zeros(5, 2).double()).shape)
    (5, 2)
    """

    activation: Any
    centres: Tensor
    beta: Tensor

    def u(self, w: Tensor) -> Tensor:
        """u at weights, (M, d)."""
        made: Tensor = (self.activation.slope(w @ self.centres.T) * self.beta) @ self.centres
        return made

    def h(self, x: Tensor) -> Tensor:
        """h by the kernel's closed form."""
        r = (x @ self.centres.T).clamp(-1, 1)
        K = r.numpy() * kappa(self.activation, r.numpy().ravel()).reshape(tuple(r.shape))
        return torch.from_numpy(K) @ self.beta

    def sampled(self, w: Tensor, x: Tensor) -> Tensor:
        """(1/M) Σ_i ⟨u(w_i), x⟩ s'(⟨w_i, x⟩)."""
        features = (x @ self.u(w).T) * self.activation.slope(x @ w.T)
        made: Tensor = features.mean(-1)
        return made

    def norm(self) -> float:
        """|h|_H."""
        K = torch.from_numpy(gram(self.activation, self.centres))
        return math.sqrt(max(float(self.beta @ K @ self.beta), 0.0))

    def random_feature_norm(self, rng: Generator) -> float:
        """|h|_RF = sup_w |u(w)|, from below: many directions at four lengths, and the centres'."""
        ways = torch.nn.functional.normalize(normal((4000, self.centres.shape[1]), rng), dim=1)
        ways = torch.cat([ways, self.centres, -self.centres])
        return max(float(self.u(length * ways).norm(dim=1).max()) for length in (1, 4, 16, 256))


def drawn_sections(activation: Any, kind: str, d: int, rng: Generator) -> Sections:
    """One section, five near each other with one sign, or five anywhere with both."""
    first = on_sphere(d, rng)
    if kind == "one":
        return Sections(activation, first[None], torch.ones(1, dtype=torch.float64))
    spread = 0.3 if kind == "near" else 10.0
    centres = torch.nn.functional.normalize(first + spread * normal((5, d), rng), dim=1)
    beta = normal((5,), rng)
    return Sections(activation, centres, beta.abs() if kind == "near" else beta)


def section_identities(rng: Generator, activation: Any, d: int) -> Numbers:
    """Lemma C.1 of CONV: E[⟨u(w), x⟩s'(⟨w, x⟩)] by quadrature over w against h by the kernel's
    closed form, and E|u|² against |h|²; the largest |u| along the centres at |w| = 10⁴ over that
    of the quadrature's nodes (|w| < 40).

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
    told = torch.einsum("m,mn->n", p, (u @ x.T) * activation.slope(w @ x.T))
    square = float((p * u.square().sum(-1)).sum())
    far, near = (float(h.u(at).norm(dim=-1).max()) for at in (1e4 * h.centres, w))
    return {
        "function": float((told - h.h(x)).abs().max()),
        "norm": abs(square - h.norm() ** 2),
        "growth": far / near,
    }


def feature_errors(
    rng: Generator, activation: Any, kind: str, M: int, d: int = 2, p: float = 0.01, draws: int = 1
) -> Numbers:
    """Prop. C.1 of CONV: sup |ĥ − h| of M features over C|h|_RF(2√d + √(2 log(1/p)))/√M, the
    largest of all draws; in how many it is at most 1; √M sup |ĥ − h|/|h|_RF as seen, the mean. On a
    circle (d = 2) the sup is a grid's, and what the slope can add between its points; in more
    dimensions that of random points, from below. |h|_RF is from below, which favours no claim.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = feature_errors(stream(0, "example"), SmoothedReLU(b=2.0), "one", M=64)
    >>> told["quotient"] < 1, told["kept"]
    (True, 1.0)
    """
    h = drawn_sections(activation, kind, d, rng)
    C, size = max(activation.C1, activation.C2), h.random_feature_norm(rng)
    bound = C * size * (2 * math.sqrt(d) + math.sqrt(2 * math.log(1 / p))) / math.sqrt(M)
    if d == 2:
        angle = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
        x = torch.stack([angle.cos(), angle.sin()], -1)
    else:
        x = torch.nn.functional.normalize(normal((GRID, d), rng), dim=1)
    known, errors, seen = h.h(x), [], []
    for _ in range(draws):
        w = normal((M, d), rng)
        off = float((h.sampled(w, x) - known).abs().max())
        seen.append(off)
        if d == 2:  # |∂(⟨u, x⟩s'(⟨w, x⟩))| ≤ |u|(C1 + C2|w|); E|w| ≤ √d for h itself
            steep = float((h.u(w).norm(dim=1) * (activation.C1 + activation.C2 * w.norm(dim=1))
                           ).mean())  # fmt: skip
            whole = float(h.beta.abs().sum()) * activation.C1
            steep += whole * (activation.C1 + activation.C2 * math.sqrt(d))
            off += steep * math.pi / GRID
        errors.append(off)
    return {
        "quotient": max(errors) / bound,
        "kept": float(sum(error <= bound for error in errors)),
        "scaled": math.sqrt(M) * sum(seen) / draws / size,
    }


def interpolant(activation: Any, batch: SphereBatch, e: float) -> tuple[Sections, Shortest]:
    """The shortest g of the kernel's space with |g − y| ≤ e at every member of every set."""
    x = batch.options.flatten(0, 1)
    y = batch.y.repeat_interleave(batch.options.shape[1]).numpy()
    told = shortest(gram(activation, x), y - e, y + e)
    if not math.isfinite(told.norm):
        raise ValueError(f"no function of the kernel of {activation} fits these sets.")
    return Sections(activation, x, torch.from_numpy(told.beta)), told


def built(g: Sections, m: int, rng: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """A paired start, the move a_r u(w_r)/√m, and the move as printed, without a_r."""
    half = normal((m // 2, g.centres.shape[1]), rng)
    move = g.u(half) / math.sqrt(m)
    a = 2.0 * integers(2, (m // 2, 1), rng) - 1  # the copy with the sign + moves by a_r c_r
    return torch.cat([half, half]), torch.cat([move, -move]), torch.cat([a * move, -a * move])


def interpolant_norms(rng: Generator, activation: Any, e: float, radius: float = 0.2) -> Numbers:
    """The shortest g with |g − y| ≤ e on four arcs of a circle: |g|, how far its dual bound is from
    it, its exact robust loss on the sets, and |g|_RF (from below) over |g|.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = interpolant_norms(stream(0, "example"), SmoothedReLU(b=2.0), e=0.1)
    >>> round(told["|g|"], 3), round(told["L_*(g)"], 5)
    (4.63, 0.00499)
    """
    batch = points("circle", radius)
    g, told = interpolant(activation, batch, e)
    values = g.h(batch.options.flatten(0, 1)).view(batch.options.shape[:2])
    loss = pseudo_huber(values, batch.y[:, None].expand_as(values)).amax(-1).mean()
    size = told.norm
    return {
        "|g|": size,
        "gap": size - told.least,
        "L_*(g)": float(loss),
        "|g|_RF/|g|": g.random_feature_norm(rng) / size,
    }


def network_errors(rng: Generator, activation: Any, m: int, e: float = 0.1) -> Numbers:
    """How far the network of Theorem 5.2 of CONV misses the shortest g with |g − y| ≤ e on four
    arcs of a circle, over whole arcs (204 points): the sampled features less g (`features`), the
    network less those (`linearisation`), both (`whole`); the second in units of its bound with
    corrected constants, C2|g|²_RF/(2√m); its distance from the start over |g|; L_*; and L_* of the
    moves as printed.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = network_errors(stream(0, "example"), SmoothedReLU(b=2.0), m=4096)
    >>> told["linearisation"] < told["features"], 0.9 < told["distance/|g|"] < 1.1
    (True, True)
    """
    batch = points("circle")
    g, told = interpolant(activation, batch, e)
    W0, signed, plain = built(g, m, rng)
    network = TwoLayer(m=m, activation=activation)
    edge, middle = batch.options[:, 1], batch.x  # of each arc
    turn = torch.linspace(-1, 1, 51, dtype=torch.float64)[:, None] * torch.acos(
        (edge * middle).sum(-1)
    )
    across = torch.stack([-middle[:, 1], middle[:, 0]], -1)
    x = (turn.cos()[..., None] * middle + turn.sin()[..., None] * across).flatten(0, 1)
    known, sampled = g.h(x), g.sampled(W0[: m // 2], x)
    f = network.f(W0 + signed, x)
    off = float((f - sampled).abs().max())
    bound = activation.C2 * g.random_feature_norm(rng) ** 2 / (2 * math.sqrt(m))
    return {
        "features": float((sampled - known).abs().max()),
        "linearisation": off,
        "linearisation/bound": off / bound,
        "whole": float((f - known).abs().max()),
        "distance/|g|": float(signed.norm()) / told.norm,
        "L_*": float(robust_loss(network, W0 + signed, batch)),
        "printed": float(robust_loss(network, W0 + plain, batch)),
    }


def built_networks(
    rng: Generator, activation: Any, eps: float, room: float, starts: int = 1
) -> Numbers:
    """Theorem 5.2 of CONV on the circle: the shortest g with |g − y| ≤ e on all sets, e so that its
    loss is ε/2; the network w_r + a_r u(w_r)/√m of width m = room·R⁴/ε², R = |g|. How many starts
    have L_* ≤ ε at a distance of at most 1.1 R; the largest L_*/ε and distance/R; the
    least L_* of moves without the sign, as printed, under random a_r; |g|_RF/2 (from below) over
    |g|; the violation of the programme, and how far its value is from its dual bound.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = built_networks(stream(0, "example"), SmoothedReLU(b=2.0), eps=0.2, room=4.0)
    >>> told["kept"], told["printed"] > 0.3
    (1.0, True)
    """
    batch = points("circle")
    g, told = interpolant(activation, batch, math.sqrt((1 + eps / 2) ** 2 - 1))
    R = told.norm
    m = 2 * math.ceil(room * R**4 / eps**2 / 2)
    network = TwoLayer(m=m, activation=activation)
    losses, moves, printed = [], [], []
    for _ in range(starts):
        W0, signed, plain = built(g, m, rng)
        losses.append(float(robust_loss(network, W0 + signed, batch)) / eps)
        moves.append(float(signed.norm()) / R)
        printed.append(float(robust_loss(network, W0 + plain, batch)))
    kept = sum(a <= 1 and b <= 1.1 for a, b in zip(losses, moves, strict=True))
    return {
        "kept": float(kept),
        "L_*/ε": max(losses),
        "distance/R": max(moves),
        "printed": min(printed),
        "RF/2R": g.random_feature_norm(rng) / (2 * R),
        "violation": told.violation,
        "gap": told.norm - told.least,
        "R": R,
        "m": float(m),
    }
