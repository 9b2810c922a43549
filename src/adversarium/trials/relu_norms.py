"""Norms of the deep ReLU network of CONV at its initialisation: the exact law of one input's norms,
and whole networks drawn.

x⁽⁰⁾ = A x, x̄⁽ʰ⁾ = W⁽ʰ⁾x⁽ʰ⁻¹⁾, x⁽ʰ⁾ = ReLU(x̄⁽ʰ⁾), f = ⟨a, x⁽ᴴ⁾⟩; entries of A and W⁽ʰ⁾ are
N(0, 2/m), those of a N(0, 1).
"""

import math

import torch
from torch import Generator, Tensor

from adversarium.networks.deep import Deep
from adversarium.rng import normal
from adversarium.sockets import Along, Numbers


def chi2(k: Tensor, rng: Generator) -> Tensor:
    """χ² with k degrees of freedom each."""
    return 2 * torch._standard_gamma(k.double() / 2, generator=rng)


def drawn_norms(m: int, H: int, draws: int, rng: Generator) -> tuple[Tensor, Tensor]:
    """|x⁽ʰ⁾|, h = 0, …, H, and |x̄⁽ʰ⁾|, h = 1, …, H, of one input, in law: given |x⁽ʰ⁻¹⁾| the
    entries of x̄⁽ʰ⁾ are independent normal, half of them positive.

    >>> from adversarium.rng import stream
    >>> post, pre = drawn_norms(4000, 2, 100, stream(0, "example"))
    >>> round(float(post.mean()), 1), round(float(pre.mean()), 1)  # √2 and 2
    (1.4, 2.0)
    """
    size = 2 / m * chi2(torch.full((draws,), float(m)), rng)
    post, pre = [size], []
    for _ in range(H):
        # Bin(m, ½) by a sum of signs costs m draws; torch has it in law
        half = torch.full((draws,), float(m), dtype=torch.float64)
        up = torch.binomial(half, torch.full_like(half, 0.5), generator=rng)
        positive = chi2(up.clamp_min(1), rng) * (up > 0)
        negative = chi2((m - up).clamp_min(1), rng) * (up < m)
        pre.append(size * 2 / m * (positive + negative))
        size = size * 2 / m * positive
        post.append(size)
    none = torch.zeros(0, draws, dtype=torch.float64)  # H = 0
    return torch.stack(post).sqrt(), torch.stack(pre).sqrt() if pre else none


def norm_events(rng: Generator, m: int, H: int, draws: int = 4000) -> Numbers:
    """In how many draws norms lie in Lemma A.2's interval [2/3, 4/3], by kind, and in the corrected
    ones, [2/3, 4/3]·√2 after the activation and [2/3, 4/3]·2 before it.

    >>> from adversarium.rng import stream
    >>> norm_events(stream(0, "example"), m=1024, H=4, draws=200)["corrected"]
    200.0
    """
    post, pre = drawn_norms(m, H, draws, rng)

    def inside(norms: Tensor, scale: float) -> float:
        kept = (norms >= 2 / 3 * scale) & (norms <= 4 / 3 * scale)
        return float(kept.all(0).sum())

    both = ((post / math.sqrt(2) - 1).abs() <= 1 / 3).all(0) & ((pre / 2 - 1).abs() <= 1 / 3).all(0)
    return {
        "first": inside(post[:1], 1.0),
        "before": inside(pre, 1.0),
        "after": inside(post[1:], 1.0),
        "corrected after": inside(post, math.sqrt(2)),
        "corrected before": inside(pre, 2.0),
        "corrected": float(both.sum()),
        "failed": float(draws - both.sum()) / draws,
    }


def first_norm(rng: Generator, m: int) -> Numbers:
    """P(|x⁽⁰⁾| ∈ [2/3, 4/3]) exactly, by the distribution of χ²_m.

    >>> from adversarium.rng import stream
    >>> round(first_norm(stream(0, "example"), m=64)["kept"], 3)
    0.276
    """
    half, edges = torch.tensor(m / 2.0, dtype=torch.float64), (8 / 9, 2 / 9)
    high, low = (
        float(torch.special.gammainc(half, torch.tensor(m * e / 2, dtype=torch.float64)))
        for e in edges
    )
    return {"kept": high - low}


def on_sphere(d: int, rng: Generator) -> Tensor:
    """A point of the unit sphere."""
    return torch.nn.functional.normalize(normal((d,), rng), dim=0)


def deep_gradients(rng: Generator, m: int, H: int, d: int = 5) -> Numbers:
    """Eq. (9) three ways at every layer: against automatic differentiation, by Euler's identity
    ⟨∇_h f, W⁽ʰ⁾⟩ = f (f is linear in each layer's piece), and by a difference within one piece.

    >>> from adversarium.rng import stream
    >>> told = deep_gradients(stream(0, "example"), m=16, H=3)
    >>> max(told["autograd"], told["Euler"]) < 1e-12
    True
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    at, patterns = net.features(x)
    grads = [torch.outer(b, before) for b, before in zip(net.back(patterns), at[:-1], strict=True)]
    free = tuple(W.clone().requires_grad_() for W in net.W)
    automatic = torch.autograd.grad(Deep(net.A, free, net.a).f(x), free)
    f = net.f(x)
    size = max(float(g.norm()) for g in grads)
    off = max(float((g - own).norm()) for g, own in zip(grads, automatic, strict=True)) / size
    euler = max(abs(float((g * W).sum() - f)) for g, W in zip(grads, net.W, strict=True)) / size
    apart = 0.0
    for h, g in enumerate(grads):
        step = normal(net.W[h].shape, rng)
        step = 1e-7 * step / step.norm()
        moved = Deep(net.A, (*net.W[:h], net.W[h] + step, *net.W[h + 1 :]), net.a)
        if all(torch.equal(D, E) for D, E in zip(moved.features(x)[1], patterns, strict=True)):
            apart = max(apart, abs(float(moved.f(x) - f - (g * step).sum())) / 1e-7 / size)
    return {"autograd": off, "Euler": euler, "difference": apart}


def spectral_norms(rng: Generator, m: int, H: int, share: float, draws: int = 1) -> Numbers:
    """‖A‖₂, max_h‖W⁽ʰ⁾‖₂ and |a|/√m with d = share·m: means over draws, and in how many a
    norm exceeds the proof's thresholds √2(1 + √(d/m) + s), √2(2 + s), (1 + s) + 1/√m, s = 0.2,
    beside its bound 2e^{−s²m/2}.

    >>> from adversarium.rng import stream
    >>> told = spectral_norms(stream(0, "example"), m=64, H=2, share=0.25)
    >>> 2.0 < told["W"] < 3.0
    True
    """
    d, s, scale = max(1, round(share * m)), 0.2, math.sqrt(2 / m)
    tops: dict[str, list[float]] = {"A": [], "W": [], "a": []}
    for _ in range(draws):
        tops["A"].append(float(torch.linalg.matrix_norm(scale * normal((m, d), rng), 2)))
        layers = torch.linalg.matrix_norm(scale * normal((H, m, m), rng), 2)
        tops["W"].append(float(layers.max()))
        tops["a"].append(float(normal((m,), rng).norm()) / math.sqrt(m))
    edges = {
        "A": math.sqrt(2) * (1 + math.sqrt(d / m) + s),
        "W": math.sqrt(2) * (2 + s),
        "a": 1 + s + 1 / math.sqrt(m),
    }
    over = max(
        sum(v > edges[name] for v in values) / draws / (H if name == "W" else 1)
        for name, values in tops.items()
    )
    return {**{name: sum(values) / draws for name, values in tops.items()},
            "over": over, "allowed": 2 * math.exp(-(s**2) * m / 2)}  # fmt: skip


def back_products(rng: Generator, m: int, H: int, d: int = 5, draws: int = 1) -> Numbers:
    """max_h |aᵀD⁽ᴴ⁾W⁽ᴴ⁾ … D⁽ʰ⁾W⁽ʰ⁾|/√m, Lemma A.3: the mean over draws, and the share of draws
    above 1.5; max_h of the gradients' norms |b_h||x⁽ʰ⁻¹⁾|/√m.

    >>> from adversarium.rng import stream
    >>> 0.5 < back_products(stream(0, "example"), m=128, H=2)["product"] < 3
    True
    """
    made, grads = [], []
    for _ in range(draws):
        net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
        at, patterns = net.features(x)
        back = net.back(patterns)
        made.append(max(float((W.T @ b).norm()) for W, b in zip(net.W, back, strict=True)))
        grads.append(max(float(b.norm() * v.norm()) for b, v in zip(back, at[:-1], strict=True)))
    size = math.sqrt(m)
    return {
        "product": sum(made) / draws / size,
        "gradient": sum(grads) / draws / size,
        "failed": sum(v > 1.5 * size for v in made) / draws,
    }


def moved_input(
    rng: Generator, m: int, d: int, H: int, share: float, delta: float = 0.1
) -> Numbers:
    """Lemma A.4: x' is x for weights whose first layer W⁽¹⁾ + W⁽¹⁾A(x' − x)(Ax)ᵀ/|Ax|² moved by one
    rank: how far features and patterns differ from layer 1 on, and an upper bound of the move
    over x' and W in B(R), R = share·√m, in units of δ = |x' − x|.

    >>> from adversarium.rng import stream
    >>> told = moved_input(stream(0, "example"), m=64, d=4, H=2, share=0.25)
    >>> told["features"] < 1e-10 and told["patterns"]
    0.0
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    move = normal((m, m), rng)
    net = Deep(net.A, (net.W[0] + share * move / move.norm(), *net.W[1:]), net.a)
    other = torch.nn.functional.normalize(x + delta * on_sphere(d, rng), dim=0)
    Ax = net.A @ x
    rank_one = torch.outer(net.W[0] @ (net.A @ (other - x)), Ax) / Ax.dot(Ax)
    same = Deep(net.A, (net.W[0] + rank_one, *net.W[1:]), net.a)
    at, patterns = net.features(other)
    there, theirs = same.features(x)
    off = max(float((u - v).norm()) for u, v in zip(at[1:], there[1:], strict=True))
    flipped = sum(float((D - E).abs().sum()) for D, E in zip(patterns, theirs, strict=True))
    start = net.W[0] - share * move / move.norm()
    most = torch.linalg.matrix_norm(start @ net.A, 2) + share * torch.linalg.matrix_norm(net.A, 2)
    return {"features": off, "patterns": flipped, "move": float(most / Ax.norm())}


def feature_drift(
    rng: Generator, m: int, H: int, tau: float = 0.0, d: int = 5, draws: int = 1
) -> Numbers:
    """sup |x'⁽ʰ⁾(W) − x⁽ʰ⁾(W⁽⁰⁾)|/τ over h, from below, R/√m = δ = τ/2: every layer moves along the
    top singular vector of what follows it, and x along that of the whole, signs by trial; and how
    much a feature's norm changes, |x'⁽ʰ⁾|/|x⁽ʰ⁾|; `above`: what all moves of x⁽ᴴ⁾ sum to, a bound
    while no gate flips. Means over draws. τ = 0: the largest that the hypothesis
    τH⁶(log m)³ ≤ 1 allows.

    >>> from adversarium.rng import stream
    >>> told = feature_drift(stream(0, "example"), m=64, H=2, tau=1e-6)
    >>> 1 < told["drift"] < told["above"]
    True
    """
    tau = tau or 1 / (H**6 * math.log(m) ** 3)
    made = [_drift(Deep.drawn(m, d, H, rng), on_sphere(d, rng), tau, rng) for _ in range(draws)]
    return {name: sum(one[name] for one in made) / draws for name in made[0]}


def _drift(net: Deep, x: Tensor, tau: float, rng: Generator) -> dict[str, float]:
    """The drift over τ, found and from above, and the largest ratio of norms."""
    m, H = len(net.a), len(net.W)
    at, patterns = net.features(x)
    after = torch.eye(m, dtype=torch.float64)  # the Jacobian from x̄⁽ʰ⁾ to x⁽ᴴ⁾
    pushes: list[tuple[int, Tensor, Tensor]] = []  # layer, its move's left vector, the drift of it
    above = 0.0
    for h in range(H, 0, -1):
        after = after * patterns[h - 1]
        above += float(torch.linalg.matrix_norm(after, 2) * at[h - 1].norm()) / 2
        u, v = _top(after, rng)
        pushes.append((h, v, u * float((after @ v).norm() * at[h - 1].norm())))
        after = after @ net.W[h - 1]
    above += float(torch.linalg.matrix_norm(after @ net.A, 2)) / 2
    u, v = _top(after @ net.A, rng)
    pushes.append((0, v - x * x.dot(v), after @ (net.A @ (v - x * x.dot(v)))))
    whole = torch.zeros(m, dtype=torch.float64)
    moved_x, weights = x, list(net.W)
    for h, left, drift in sorted(pushes, key=lambda push: -float(push[2].norm())):
        sign = 1.0 if float(whole @ drift) >= 0 else -1.0
        whole = whole + sign * drift
        if h:
            right = at[h - 1] / at[h - 1].norm()
            weights[h - 1] = weights[h - 1] + sign * tau / 2 * torch.outer(left, right)
        else:
            turned = x + sign * tau / 2 * left / left.norm()
            moved_x = torch.nn.functional.normalize(turned, dim=0)
    there, _ = Deep(net.A, tuple(weights), net.a).features(moved_x)
    drifts = [float((u - v).norm()) for u, v in zip(there, at, strict=True)]
    ratios = [float(u.norm() / v.norm()) for u, v in zip(there, at, strict=True)]
    return {"drift": max(drifts) / tau, "above": above, "norm": max(ratios)}


def _top(J: Tensor, rng: Generator, steps: int = 60) -> tuple[Tensor, Tensor]:
    """The leading singular vectors by power iteration."""
    v = torch.nn.functional.normalize(normal((J.shape[1],), rng), dim=0)
    for _ in range(steps):
        u = torch.nn.functional.normalize(J @ v, dim=0)
        v = torch.nn.functional.normalize(J.T @ u, dim=0)
    return u, v


def norm_profile(rng: Generator, m: int, H: int) -> Numbers:
    """|x̄⁽ʰ⁾| and |x⁽ʰ⁾| along the layers of one drawn network.

    >>> from adversarium.rng import stream
    >>> len(norm_profile(stream(0, "example"), m=64, H=3)["after"].values)
    3
    """
    net, x = Deep.drawn(m, 5, H, rng), on_sphere(5, rng)
    at, _ = net.features(x)
    before = [W @ v for W, v in zip(net.W, at[:-1], strict=True)]
    layers = tuple(float(h) for h in range(1, H + 1))
    return {
        "after": Along("h", layers, tuple(float(v.norm()) for v in at[1:])),
        "before": Along("h", layers, tuple(float(v.norm()) for v in before)),
    }
