"""Counterexamples: small data on which a step of a proof of CONV is false as published."""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.rng import normal
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber

from .certified_descent import points
from .descents import robust_loss
from .features import Sections, built, interpolant
from .relu_norms import on_sphere

P = 0.01  # failure probability at which Prop. C.1 is tested


def _loss_at(distance: float) -> float:
    """The pseudo-Huber loss at the given distance from the label."""
    return math.sqrt(1 + distance**2) - 1


def printed_sign(rng: Generator, m: int, R: float, eps: float, members: int = 200) -> Numbers:
    """Refute the last display of App. A of CONV, which has a sign reversed (H = 1, inputs in R¹⁶).

    The initial network fits x exactly, B(x) consists of random points of the sphere, and the
    training attack returns x itself, so L_A = 0 and W_t = W_0 at every t.

    - `L_*(W_*)/ε`: a lower bound on min L_*(W) over W in B(R), divided by ε. It uses |f(W, x') −
      f(W_0, x')| ≤ |a|(R/√m)|Ax'|. The display as published implies at most 1.
    - `gate`: R⁹/(ε⁷m), which the theorem assumes to be small.

    >>> from adversarium.rng import stream
    >>> printed_sign(stream(0, "example"), m=1280, R=0.5, eps=0.15)["L_*(W_*)/ε"] > 1
    True
    """
    d, scale = 16, math.sqrt(2 / m)
    A, a = scale * normal((m, d), rng), normal((m,), rng)
    root = torch.linalg.cholesky(A.T @ A)  # |rootᵀx| = |Ax|
    u = torch.nn.functional.normalize(normal((members, d), rng), dim=1) @ root
    f = torch.relu(u @ (scale * normal((m, d), rng)).T) @ a
    reach = float(a.norm()) * R / math.sqrt(m) * u.norm(dim=1)
    error = float(((f - f[0]).abs() - reach).max())
    return {"L_*(W_*)/ε": _loss_at(max(error, 0.0)) / eps, "gate": R**9 / (eps**7 * m)}


def coarse_fit(rng: Generator, eps: float, e: float = 1 / 3) -> Numbers:
    """Return L_*/ε of the network of Theorem 5.2 of CONV if its target only has tolerance e.

    The target g has minimum norm under |g − y| ≤ e on four arcs of a circle; m = R⁴/ε², R = |g|.
    The moves have the sign a_r that the paper omits; its tolerance 1/(3 Lip) should be ε/(3 Lip).

    >>> from adversarium.rng import stream
    >>> coarse_fit(stream(0, "example"), eps=0.05)["L_*/ε"] > 1
    True
    """
    s, batch = SmoothedReLU(b=2.0), points("circle")
    g, solution = interpolant(s, batch, e)
    m = 2 * math.ceil(solution.norm**4 / eps**2 / 2)
    W0, move, _ = built(g, m, rng)
    loss = float(robust_loss(TwoLayer(m=m, activation=s), W0 + move, batch))
    return {"L_*/ε": loss / eps, "m": float(m)}


def steep_slopes(
    rng: Generator, m: int, d: int, eps: float, sphere: bool = False, turns: int = 30
) -> Numbers:
    """Refute Theorem 5.1 of CONV for an activation with unbounded slope (quadratic ReLU) and d much
    larger than m; with m = Ω(d) the theorem holds.

    Four points have label 1. Three of them are e_1, which nobody perturbs; the perturbation set of
    the fourth is the unit sphere orthogonal to e_1. The comparator moves along e_1 only; there f
    remains 0 on the fourth set, because the units are paired, so its L_* is exact. The attack of
    training is the strongest of three ascents of `turns` steps. α = ε and T = √m/(2α); C2 = 2.

    - `gap/ε`: the smallest L_A at t = 0 … T minus the comparator's L_*, over ε. The theorem implies
      at most 1.
    - `mε²/R⁴`: R is the comparator's distance from the start; the theorem assumes at least 1.

    >>> from adversarium.rng import stream
    >>> numbers = steep_slopes(stream(0, "example"), m=64, d=32000, eps=0.1)
    >>> numbers["gap/ε"] > 1, numbers["mε²/R⁴"] >= 1
    (True, True)
    """
    alpha, half = eps, normal((m // 2, d), rng)
    if sphere:
        half = half * (math.sqrt(d) / half.norm(dim=1, keepdim=True))
    a = torch.cat([torch.ones(m // 2), -torch.ones(m // 2)]).to(half)
    along, basis = half[:, 0].repeat(2), torch.linalg.qr(half[:, 1:].T).Q
    across = (half[:, 1:] @ basis).repeat(2, 1)  # in the span of the rows, where the ascents stay

    def f(z: Tensor) -> Tensor:
        return (a * torch.relu(z).square()).sum() / math.sqrt(m)

    def loss(value: Tensor) -> float:
        return _loss_at(float(value) - 1)

    def step(z: Tensor, share: float) -> Tensor:
        """Return the coefficients of x in a gradient step on `share` of the points."""
        slope = float(f(z)) - 1
        slope = slope / math.sqrt(1 + slope**2)
        return alpha * share * slope * a * 2 * torch.relu(z) / math.sqrt(m)

    def attacked(W: Tensor) -> Tensor:
        found = []
        for weight in (torch.relu(a), torch.relu(-a), torch.ones_like(a)):
            x = torch.nn.functional.normalize(W[: m // 2].sum(0), dim=0)
            for _ in range(turns):
                x = torch.nn.functional.normalize(W.T @ (weight * torch.relu(W @ x)), dim=0)
            found.append(x)
        return max(found, key=lambda x: loss(f(W @ x)))

    best, moved = along, along
    while torch.linalg.vector_norm(moved - along) ** 4 <= eps**2 * m and loss(f(moved)) > eps**2:
        best, moved = moved, moved - step(moved, 0.75)
    lowest = _loss_at(1.0)  # at t = 0, where f = 0
    for _ in range(round(math.sqrt(m) / (2 * alpha))):
        x = attacked(across)
        across = across - step(across @ x, 0.25)[:, None] * x
        along = along - step(along, 0.75)
        lowest = min(lowest, 0.25 * loss(f(across @ attacked(across))) + 0.75 * loss(f(along)))
    reference = 0.25 * _loss_at(1.0) + 0.75 * loss(f(best))
    R = float(torch.linalg.vector_norm(best - half[:, 0].repeat(2)))
    return {"gap/ε": (lowest - reference) / eps, "mε²/R⁴": m * eps**2 / R**4}


HALF = math.pi / 4  # half-angle of the cap of `wide_cap`
LENGTH = 4 / (1 + math.cos(HALF))  # |g|_RF of the linear g that fits this cap


def wide_cap(rng: Generator, d: int, eps: float) -> Numbers:
    """Test the width in Theorem 5.2 of CONV on one cap of R^d around e_1 of half-angle 45°, y = 1.

    The cap is fitted by g(x) = ⟨v, x⟩ with the constant representer u = 2v, so |g|_RF = R = 2|v|
    for every d.

    - `R⁴/ε²`, `R²(R² + d)/ε²`: a lower bound on L_*/ε at this width; the first is the published
      one. The attack tilts x towards and away from the mean of the weights.
    - `distance/(|g|_RF/2)`: the distance from the initial weights divided by the published radius.

    >>> from adversarium.rng import stream
    >>> numbers = wide_cap(stream(0, "example"), d=2048, eps=0.2)
    >>> numbers["R⁴/ε²"] > 1 > numbers["R²(R² + d)/ε²"], round(numbers["distance/(|g|_RF/2)"], 6)
    (True, 2.0)
    """
    numbers = {}
    for name, width in (("R⁴/ε²", LENGTH**4), ("R²(R² + d)/ε²", LENGTH**2 * (LENGTH**2 + d))):
        m = 2 * math.ceil(width / eps**2 / 2)
        w = normal((m // 2, d), rng)
        move = torch.zeros_like(w)
        move[:, 0] = LENGTH / math.sqrt(m)
        W = torch.cat([w + move, w - move])
        mean = w.mean(0)
        mean[0] = 0
        turn = torch.linspace(-HALF, HALF, 11, dtype=w.dtype)[:, None]
        x = turn.sin() * mean / mean.norm()
        x[:, 0] = turn[:, 0].cos()
        f = TwoLayer(m=m, activation=SmoothedReLU(b=2.0)).f(W, x)
        numbers[name] = float(pseudo_huber(f, torch.ones_like(f)).max()) / eps
        distance = math.sqrt(2) * float(move.norm())
    return {**numbers, "distance/(|g|_RF/2)": distance / (LENGTH / 2)}


def loss_floor_in_ball(rng: Generator, d: int, eps: float = 0.3) -> Numbers:
    """Return a lower bound on L_*/ε over B(R), R = |g|_RF, m = R⁴/ε², on the cap of `wide_cap`.

    At a point of the cap with ⟨w_r, x⟩ ≤ −R − 1.5 for every r, no move of length R makes |f| larger
    than √2 R s'(−1.5).

    - `least L_*/ε`: the lower bound, or 0 if the cap has no such point.
    - `needed`: the sine of the angle between e_1 and such a point, divided by that of the cap's
      half-angle; at most 1 exactly if the cap contains such a point.

    >>> from adversarium.rng import stream
    >>> numbers = loss_floor_in_ball(stream(0, "example"), d=6500)
    >>> numbers["least L_*/ε"] > 1, numbers["needed"] < 1
    (True, True)
    """
    s, m = SmoothedReLU(b=2.0), 2 * math.ceil(LENGTH**4 / eps**2 / 2)
    w = normal((m // 2, d), rng)
    side = w[:, 1:]
    gram = side @ side.T
    target = -(LENGTH + 1.5) - math.cos(HALF) * w[:, 0]
    t = side.T @ torch.linalg.solve(gram, target)
    needed = float(t.norm()) / math.sin(HALF)
    if needed > 1:
        return {"least L_*/ε": 0.0, "needed": needed}
    rest = normal((d - 1,), rng)
    rest = rest - side.T @ torch.linalg.solve(gram, side @ rest)
    t = t + rest / rest.norm() * math.sqrt(math.sin(HALF) ** 2 - float(t.norm()) ** 2)
    top = math.cos(HALF) * w[:, 0] + side @ t
    largest_f = math.sqrt(2) * LENGTH * float(s.slope(top.max() + LENGTH))
    return {"least L_*/ε": _loss_at(max(1 - largest_f, 0.0)) / eps, "needed": needed}


def contraction(rng: Generator, tau: float, b: float = 2.0) -> Numbers:
    """Refute the contraction step in the proof of Prop. C.1 of CONV (w_i = τe, c_i = e/M).

    `left/right` is E sup|Σ ξ_i⟨c_i, x⟩s'(⟨w_i, x⟩)| divided by C E sup|Σ ξ_i⟨w_i, x⟩|/M, with
    C = max(C1, C2), s' = Φ(bz). Both are E|Σ ξ_i| times a supremum over |⟨e, x⟩| ≤ 1, at x = e.

    >>> from adversarium.rng import stream
    >>> round(contraction(stream(0, "example"), tau=0.01)["left/right"], 1)
    50.8
    """
    s = SmoothedReLU(b=b)
    top = float(s.slope(torch.tensor(tau, dtype=torch.float64)))
    return {"left/right": top / (max(s.C1, s.C2) * tau)}


def printed_tail(rng: Generator, size: float, M: int = 16, draws: int = 20000) -> Numbers:
    """Test McDiarmid's inequality as used in the proof of Prop. C.1 of CONV.

    d = 1, s' = Φ(2z), h(x) = size·x/2 with u = size, v = sup|ĥ − h|, ε = size/20, ξ = 2 size/M. The
    probability P = P[v ≥ E v + ε] is estimated from `draws` samples.

    - `printed`: P divided by exp(−2ε²/(Mξ)), the published bound.
    - `with ξ²`: P divided by exp(−2ε²/(Mξ²)).

    >>> from adversarium.rng import stream
    >>> numbers = printed_tail(stream(0, "example"), size=1000.0)
    >>> numbers["printed"] > 1 > numbers["with ξ²"]
    True
    """
    s = SmoothedReLU(b=2.0)
    w = normal((draws, M), rng)
    errors = torch.maximum(*((s.slope(sign * w).mean(1) - 0.5).abs() for sign in (1, -1)))
    share = float((errors >= errors.mean() + 0.05).double().mean())
    eps, xi = 0.05 * size, 2 * size / M
    return {
        "printed": share / math.exp(-2 * eps**2 / (M * xi)),
        "with ξ²": share / math.exp(-2 * eps**2 / (M * xi**2)),
    }


def two_representers(rng: Generator, t: float) -> Numbers:
    """Show that |h|_RF depends on the representer: one h in R² with the representers u and u + tv.

    h is a sum of two kernel sections K(·, c), s' = Φ(2z); v is e_1 for |w| below its median and
    −e_1 above. As s' − ½ is odd, E⟨v, x⟩s' = 0. Expectations are computed by quadrature.

    - `h`: the largest difference between the functions of both representers, divided by sup|h|.
    - `|h|_RF`: sup|u + tv| divided by sup|u|, the quotient of the two norms.

    >>> from adversarium.rng import stream
    >>> numbers = two_representers(stream(0, "example"), t=10.0)
    >>> numbers["h"] < 1e-12, numbers["|h|_RF"] > 4
    (True, True)
    """
    s = SmoothedReLU(b=2.0)
    centres = torch.stack([on_sphere(2, rng), on_sphere(2, rng)])
    h = Sections(s, centres, torch.tensor([1.0, -1.0], dtype=torch.float64))
    r = (torch.arange(200, dtype=torch.float64) + 0.5) * 0.06
    turn = (torch.arange(60, dtype=torch.float64) + 0.5) * (2 * math.pi / 60)
    w = r[:, None, None] * torch.stack([turn.cos(), turn.sin()], -1)
    p = (r * torch.exp(-(r**2) / 2))[:, None].expand(-1, 60).flatten()
    p, w = p / p.sum(), w.flatten(0, 1)
    within = 2 * (w.norm(dim=1) < math.sqrt(2 * math.log(2))).double() - 1
    v = torch.zeros_like(w)
    v[:, 0] = within - p @ within
    x = torch.stack([turn.cos(), turn.sin()], -1)

    def function(c: Tensor) -> Tensor:
        values: Tensor = ((c @ x.T) * s.slope(w @ x.T)).T @ p
        return values

    u = h.u(w)
    exact = function(u)
    error = float((function(u + t * v) - exact).abs().max())
    return {
        "h": error / float(exact.abs().max()),
        "|h|_RF": float((u + t * v).norm(dim=1).max() / u.norm(dim=1).max()),
    }


def one_letter(rng: Generator, b: float, M: int = 512, draws: int = 1, d: int = 2) -> Numbers:
    """Test Prop. C.1 of CONV with two readings of its constant C.

    u(w) = sign(w_1)e_1 and s' = Φ(bz), so h(x) = x_1 arcsin(bx_1/√(1 + b²))/π. Each number is the
    mean of sup|ĥ − h| on 180 points of a circle, divided by the bound at p = 0.01.

    - `C2 alone`: with C = C2, the constant of Assumption 5.1.
    - `both`: with C = max(C1, C2).

    >>> from adversarium.rng import stream
    >>> numbers = one_letter(stream(0, "example"), b=0.01)
    >>> numbers["C2 alone"] > 1 > numbers["both"]
    True
    """
    s: Any = SmoothedReLU(b=b)
    turn = torch.arange(180, dtype=torch.float64) * (2 * math.pi / 180)
    x = torch.stack([turn.cos(), turn.sin()], -1)
    h = x[:, 0] * torch.asin(b * x[:, 0] / math.sqrt(1 + b**2)) / math.pi
    error = 0.0
    for _ in range(draws):
        w = normal((M, d), rng)
        sampled = x[:, 0] * (w[:, 0].sign()[:, None] * s.slope(w @ x.T)).mean(0)
        error += float((sampled - h).abs().max()) / draws
    bound = (2 * math.sqrt(d) + math.sqrt(2 * math.log(1 / P))) / math.sqrt(M)
    return {"C2 alone": error / (s.C2 * bound), "both": error / (max(s.C1, s.C2) * bound)}


def least_integral(rng: Generator, d: int, steep: float, share: float = 0.1) -> Numbers:
    """Test eq. (25) of CONV: the smallest ∫(h − ĥ)² if h − ĥ is c_L-Lipschitz and ε at x_0.

    The integral is over S^{d−1}; its minimum is attained by (ε − c_L|x − x_0|)₊. ε = share·c_L.

    - `printed`: the right side as published, with c_L^d, divided by the smallest integral.
    - `power d − 1`: the right side with c_L^{d−1}, divided by the smallest integral.

    >>> from adversarium.rng import stream
    >>> one, two = (least_integral(stream(0, "example"), 3, c) for c in (1.0, 0.1))
    >>> round(two["printed"]/one["printed"], 6), round(two["power d − 1"]/one["power d − 1"], 6)
    (10.0, 1.0)
    """
    eps, count = share * steep, 100_000
    t = (torch.arange(count, dtype=torch.float64) + 0.5) / count * 2 * math.asin(share / 2)
    tent = eps - steep * 2 * torch.sin(t / 2)
    area = 2 * math.pi ** ((d - 1) / 2) / math.gamma((d - 1) / 2)  # of S^{d−2}
    least = area * float((tent.square() * t.sin() ** (d - 2)).sum() * (t[1] - t[0]))
    order = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * eps ** (d + 1)
    return {"printed": order / steep**d / least, "power d − 1": order / steep ** (d - 1) / least}
