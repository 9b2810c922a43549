"""Where the print of CONV slips: small data on which a step of a proof is false as it stands."""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.networks import SmoothedReLU, TwoLayer
from adversarium.rng import normal
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.courses import points
from adversarium.trials.descents import robust_loss
from adversarium.trials.features import Sections, built, interpolant
from adversarium.trials.relu_norms import on_sphere

P = 0.01  # the probability of Prop. C.1 that is looked at


def _loss(off: float) -> float:
    return math.sqrt(1 + off**2) - 1


def printed_sign(rng: Generator, m: int, R: float, eps: float, members: int = 200) -> Numbers:
    """The last display of App. A of CONV, H = 1, in R¹⁶: a point that the start fits, B(x) with
    random members of the sphere, no attack, so that L_A = 0 and W_t = W_0 at every t. A lower end
    of L_*(W) over all W of B(R) by |f(W, x') − f(W_0, x')| ≤ |a|(R/√m)|Ax'|, over ε: what is
    printed asks for at most 1. R⁹/(ε⁷m), which the theorem wants small.

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
    off = float(((f - f[0]).abs() - reach).max())
    return {"L_*(W_*)/ε": _loss(max(off, 0.0)) / eps, "gate": R**9 / (eps**7 * m)}


def coarse_fit(rng: Generator, eps: float, e: float = 1 / 3) -> Numbers:
    """The network of Theorem 5.2 of CONV, with its sign, of the shortest g with |g − y| ≤ e on four
    arcs of a circle, m = R⁴/ε², R = |g|: L_* over ε. The print has e = 1/(3 Lip) for ε/(3 Lip).

    >>> from adversarium.rng import stream
    >>> coarse_fit(stream(0, "example"), eps=0.05)["L_*/ε"] > 1
    True
    """
    s, batch = SmoothedReLU(b=2.0), points("circle")
    g, told = interpolant(s, batch, e)
    m = 2 * math.ceil(told.norm**4 / eps**2 / 2)
    W0, move, _ = built(g, m, rng)
    loss = float(robust_loss(TwoLayer(m=m, activation=s), W0 + move, batch))
    return {"L_*/ε": loss / eps, "m": float(m)}


HALF = math.pi / 4  # half-angle of the cap of `wide_cap`
LENGTH = 4 / (1 + math.cos(HALF))  # |g|_RF of the linear g that fits it


def wide_cap(rng: Generator, d: int, eps: float) -> Numbers:
    """One cap of R^d of half-angle 45° about e_1, y = 1, fitted by g(x) = ⟨v, x⟩ with the constant
    representer u = 2v, |g|_RF = R = 2|v| for every d. The network of Theorem 5.2 of CONV: L_*/ε,
    from below by leaning against the mean of the weights, at the printed width R⁴/ε² and at
    R²(R² + d)/ε²; its distance from the start over the printed radius |g|_RF/2.

    >>> from adversarium.rng import stream
    >>> told = wide_cap(stream(0, "example"), d=2048, eps=0.2)
    >>> told["R⁴/ε²"] > 1 > told["R²(R² + d)/ε²"], round(told["distance/(|g|_RF/2)"], 6)
    (True, 2.0)
    """
    told = {}
    for name, width in (("R⁴/ε²", LENGTH**4), ("R²(R² + d)/ε²", LENGTH**2 * (LENGTH**2 + d))):
        m = 2 * math.ceil(width / eps**2 / 2)
        w = normal((m // 2, d), rng)
        move = torch.zeros_like(w)
        move[:, 0] = LENGTH / math.sqrt(m)
        W = torch.cat([w + move, w - move])
        lean = w.mean(0)
        lean[0] = 0
        turn = torch.linspace(-HALF, HALF, 11, dtype=w.dtype)[:, None]
        x = turn.sin() * lean / lean.norm()
        x[:, 0] = turn[:, 0].cos()
        f = TwoLayer(m=m, activation=SmoothedReLU(b=2.0)).f(W, x)
        told[name] = float(pseudo_huber(f, torch.ones_like(f)).max()) / eps
        far = math.sqrt(2) * float(move.norm())
    return {**told, "distance/(|g|_RF/2)": far / (LENGTH / 2)}


def no_weights_serve(rng: Generator, d: int, eps: float = 0.3) -> Numbers:
    """A lower end of L_*/ε over all W of B(R), R = |g|_RF, m = R⁴/ε², on the cap of `wide_cap`: at
    a point of it with ⟨w_r, x⟩ ≤ −R − 1.5 for every r no move of length R brings |f| above
    √2 R s'(−1.5); 0 where the cap has no such point.

    >>> from adversarium.rng import stream
    >>> told = no_weights_serve(stream(0, "example"), d=6500)
    >>> told["least L_*/ε"] > 1, told["needed"] < 1
    (True, True)
    """
    s, m = SmoothedReLU(b=2.0), 2 * math.ceil(LENGTH**4 / eps**2 / 2)
    w = normal((m // 2, d), rng)
    side = w[:, 1:]
    gram = side @ side.T
    wanted = -(LENGTH + 1.5) - math.cos(HALF) * w[:, 0]
    t = side.T @ torch.linalg.solve(gram, wanted)
    needed = float(t.norm()) / math.sin(HALF)
    if needed > 1:
        return {"least L_*/ε": 0.0, "needed": needed}
    rest = normal((d - 1,), rng)
    rest = rest - side.T @ torch.linalg.solve(gram, side @ rest)
    t = t + rest / rest.norm() * math.sqrt(math.sin(HALF) ** 2 - float(t.norm()) ** 2)
    top = math.cos(HALF) * w[:, 0] + side @ t
    most = math.sqrt(2) * LENGTH * float(s.slope(top.max() + LENGTH))
    return {"least L_*/ε": _loss(max(1 - most, 0.0)) / eps, "needed": needed}


def contraction(rng: Generator, tau: float, b: float = 2.0) -> Numbers:
    """The contraction step in the proof of Prop. C.1 of CONV with w_i = τe, c_i = e/M, s' = Φ(bz):
    E sup|Σ ξ_i⟨c_i, x⟩s'(⟨w_i, x⟩)| over C E sup|Σ ξ_i⟨w_i, x⟩|/M, C = max(C1, C2). Both are
    E|Σ ξ_i| times a sup over |⟨e, x⟩| ≤ 1, attained at x = e.

    >>> from adversarium.rng import stream
    >>> round(contraction(stream(0, "example"), tau=0.01)["left/right"], 1)
    50.8
    """
    s = SmoothedReLU(b=b)
    top = float(s.slope(torch.tensor(tau, dtype=torch.float64)))
    return {"left/right": top / (max(s.C1, s.C2) * tau)}


def printed_tail(rng: Generator, size: float, M: int = 16, draws: int = 20000) -> Numbers:
    """McDiarmid's step in the proof of Prop. C.1 of CONV, d = 1, s' = Φ(2z), h(x) = size·x/2 with
    u = size: P[v ≥ E v + ε], v = sup|ĥ − h|, ε = size/20, by draws, over exp(−2ε²/(Mξ)) as printed,
    and over exp(−2ε²/(Mξ²)); ξ = 2 size/M.

    >>> from adversarium.rng import stream
    >>> told = printed_tail(stream(0, "example"), size=1000.0)
    >>> told["printed"] > 1 > told["with ξ²"]
    True
    """
    s = SmoothedReLU(b=2.0)
    w = normal((draws, M), rng)
    off = torch.maximum(*((s.slope(sign * w).mean(1) - 0.5).abs() for sign in (1, -1)))
    share = float((off >= off.mean() + 0.05).double().mean())
    eps, xi = 0.05 * size, 2 * size / M
    return {
        "printed": share / math.exp(-2 * eps**2 / (M * xi)),
        "with ξ²": share / math.exp(-2 * eps**2 / (M * xi**2)),
    }


def two_representers(rng: Generator, t: float) -> Numbers:
    """One h of two sections in R², s' = Φ(2z), with the representers u and u + tv, v = ±e_1 within
    and beyond the median of |w|: E⟨v, x⟩s' = 0, since s' − ½ is odd. By quadrature: sup|h_t − h|
    over sup|h|, and sup|u + tv| over sup|u|, the quotient of the two |h|_RF.

    >>> from adversarium.rng import stream
    >>> told = two_representers(stream(0, "example"), t=10.0)
    >>> told["h"] < 1e-12, told["|h|_RF"] > 4
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
        made: Tensor = ((c @ x.T) * s.slope(w @ x.T)).T @ p
        return made

    u = h.u(w)
    known = function(u)
    off = float((function(u + t * v) - known).abs().max())
    return {
        "h": off / float(known.abs().max()),
        "|h|_RF": float((u + t * v).norm(dim=1).max() / u.norm(dim=1).max()),
    }


def one_letter(rng: Generator, b: float, M: int = 512, draws: int = 1, d: int = 2) -> Numbers:
    """Prop. C.1 of CONV for u(w) = sign(w_1)e_1, s' = Φ(bz), whose h is x_1 arcsin(bx_1/√(1 +
    b²))/π: the mean of sup|ĥ − h| on 180 points of a circle over the bound at p = 0.01, with
    C = C2 alone (Assumption 5.1's letter) and with C = max(C1, C2).

    >>> from adversarium.rng import stream
    >>> told = one_letter(stream(0, "example"), b=0.01)
    >>> told["C2 alone"] > 1 > told["both"]
    True
    """
    s: Any = SmoothedReLU(b=b)
    turn = torch.arange(180, dtype=torch.float64) * (2 * math.pi / 180)
    x = torch.stack([turn.cos(), turn.sin()], -1)
    h = x[:, 0] * torch.asin(b * x[:, 0] / math.sqrt(1 + b**2)) / math.pi
    off = 0.0
    for _ in range(draws):
        w = normal((M, d), rng)
        seen = x[:, 0] * (w[:, 0].sign()[:, None] * s.slope(w @ x.T)).mean(0)
        off += float((seen - h).abs().max()) / draws
    bound = (2 * math.sqrt(d) + math.sqrt(2 * math.log(1 / P))) / math.sqrt(M)
    return {"C2 alone": off / (s.C2 * bound), "both": off / (max(s.C1, s.C2) * bound)}


def least_integral(rng: Generator, d: int, steep: float, share: float = 0.1) -> Numbers:
    """Eq. (25) of CONV: the least ∫(h − ĥ)² over S^{d−1} of a c_L-Lipschitz h − ĥ that is ε at a
    point is that of the tent (ε − c_L|x − x_0|)₊; ε = share·c_L. The right side with c_L^d, as
    printed, over it, and with c_L^{d−1}.

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
