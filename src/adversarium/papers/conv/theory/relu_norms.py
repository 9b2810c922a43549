"""Norms in CONV's deep ReLU network at initialisation, from their exact law or drawn networks.

x⁽⁰⁾ = A x, x̄⁽ʰ⁾ = W⁽ʰ⁾x⁽ʰ⁻¹⁾, x⁽ʰ⁾ = ReLU(x̄⁽ʰ⁾), f = ⟨a, x⁽ᴴ⁾⟩. The entries of A and W⁽ʰ⁾ are
N(0, 2/m), those of a are N(0, 1).
"""

import math

import torch
from torch import Generator, Tensor

from adversarium.rng import normal
from adversarium.sockets import Along, Numbers

from .deep_relu import Deep


def chi2(k: Tensor, rng: Generator) -> Tensor:
    """Draw χ² variables with k degrees of freedom each."""
    return 2 * torch._standard_gamma(k.double() / 2, generator=rng)


def drawn_norms(m: int, H: int, draws: int, rng: Generator) -> tuple[Tensor, Tensor]:
    """Draw |x⁽ʰ⁾|, h = 0, …, H, and |x̄⁽ʰ⁾|, h = 1, …, H, of one input from their distribution.

    Given |x⁽ʰ⁻¹⁾|, the entries of x̄⁽ʰ⁾ are independent normal variables.

    >>> from adversarium.rng import stream
    >>> post, pre = drawn_norms(4000, 2, 100, stream(0, "example"))
    >>> round(float(post.mean()), 1), round(float(pre.mean()), 1)  # √2 and 2
    (1.4, 2.0)
    """
    size = 2 / m * chi2(torch.full((draws,), float(m)), rng)
    post, pre = [size], []
    for _ in range(H):
        # The number of positive entries is Bin(m, ½).
        half = torch.full((draws,), float(m), dtype=torch.float64)
        up = torch.binomial(half, torch.full_like(half, 0.5), generator=rng)
        positive = chi2(up.clamp_min(1), rng) * (up > 0)
        negative = chi2((m - up).clamp_min(1), rng) * (up < m)
        pre.append(size * 2 / m * (positive + negative))
        size = size * 2 / m * positive
        post.append(size)
    empty = torch.zeros(0, draws, dtype=torch.float64)  # H = 0
    return torch.stack(post).sqrt(), torch.stack(pre).sqrt() if pre else empty


def norm_events(rng: Generator, m: int, H: int, draws: int = 4000) -> Numbers:
    """Count the draws whose norms lie in the intervals of Lemma A.2 of CONV, or in corrected ones.

    - `first`, `before`, `after`: draws with |x⁽⁰⁾|, all |x̄⁽ʰ⁾| or all |x⁽ʰ⁾|, h ≥ 1, in [2/3, 4/3].
    - `corrected after`, `corrected before`: the draws with all |x⁽ʰ⁾| in [2/3, 4/3]·√2, or all
      |x̄⁽ʰ⁾| in [2/3, 4/3]·2.
    - `corrected`: the draws with both. `failed`: the share of draws without both.

    >>> from adversarium.rng import stream
    >>> norm_events(stream(0, "example"), m=1024, H=4, draws=200)["corrected"]
    200.0
    """
    post, pre = drawn_norms(m, H, draws, rng)

    def inside(norms: Tensor, scale: float) -> float:
        within = (norms >= 2 / 3 * scale) & (norms <= 4 / 3 * scale)
        return float(within.all(0).sum())

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
    """P(|x⁽⁰⁾| ∈ [2/3, 4/3]), exactly, from the distribution function of χ²_m.

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
    """Draw a point of the unit sphere."""
    return torch.nn.functional.normalize(normal((d,), rng), dim=0)


def deep_gradients(rng: Generator, m: int, H: int, d: int = 5) -> Numbers:
    """Compare eq. (9) of CONV at every layer with three other methods; return relative errors.

    - `autograd`: automatic differentiation.
    - `Euler`: Euler's identity ⟨∇_h f, W⁽ʰ⁾⟩ = f, because f is linear in each layer on each piece.
    - `difference`: a finite difference within one linear piece.

    >>> from adversarium.rng import stream
    >>> numbers = deep_gradients(stream(0, "example"), m=16, H=3)
    >>> max(numbers["autograd"], numbers["Euler"]) < 1e-12
    True
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    features, patterns = net.features(x)
    grads = [
        torch.outer(b, before) for b, before in zip(net.back(patterns), features[:-1], strict=True)
    ]
    free = tuple(W.clone().requires_grad_() for W in net.W)
    automatic = torch.autograd.grad(Deep(net.A, free, net.a).f(x), free)
    f = net.f(x)
    size = max(float(g.norm()) for g in grads)
    autograd = (
        max(float((g - auto).norm()) for g, auto in zip(grads, automatic, strict=True)) / size
    )
    euler = max(abs(float((g * W).sum() - f)) for g, W in zip(grads, net.W, strict=True)) / size
    difference = 0.0
    for h, g in enumerate(grads):
        step = normal(net.W[h].shape, rng)
        step = 1e-7 * step / step.norm()
        moved = Deep(net.A, (*net.W[:h], net.W[h] + step, *net.W[h + 1 :]), net.a)
        if all(torch.equal(D, E) for D, E in zip(moved.features(x)[1], patterns, strict=True)):
            difference = max(
                difference, abs(float(moved.f(x) - f - (g * step).sum())) / 1e-7 / size
            )
    return {"autograd": autograd, "Euler": euler, "difference": difference}


def spectral_norms(rng: Generator, m: int, H: int, share: float, draws: int = 1) -> Numbers:
    """Measure the norms of Lemma A.1 of CONV, with d = share·m.

    - `A`, `W`, `a`: ‖A‖₂, max_h‖W⁽ʰ⁾‖₂ and |a|/√m, means over draws.
    - `over`: the largest share of draws in which a norm exceeds the threshold of the proof, which
      is √2(1 + √(d/m) + s), √2(2 + s) or (1 + s) + 1/√m with s = 0.2; for W it is divided by H.
    - `allowed`: the bound 2e^{−s²m/2} of the proof on this share.

    >>> from adversarium.rng import stream
    >>> numbers = spectral_norms(stream(0, "example"), m=64, H=2, share=0.25)
    >>> 2.0 < numbers["W"] < 3.0
    True
    """
    d, s, scale = max(1, round(share * m)), 0.2, math.sqrt(2 / m)
    norms: dict[str, list[float]] = {"A": [], "W": [], "a": []}
    for _ in range(draws):
        norms["A"].append(float(torch.linalg.matrix_norm(scale * normal((m, d), rng), 2)))
        layers = torch.linalg.matrix_norm(scale * normal((H, m, m), rng), 2)
        norms["W"].append(float(layers.max()))
        norms["a"].append(float(normal((m,), rng).norm()) / math.sqrt(m))
    thresholds = {
        "A": math.sqrt(2) * (1 + math.sqrt(d / m) + s),
        "W": math.sqrt(2) * (2 + s),
        "a": 1 + s + 1 / math.sqrt(m),
    }
    over = max(
        sum(v > thresholds[name] for v in values) / draws / (H if name == "W" else 1)
        for name, values in norms.items()
    )
    return {**{name: sum(values) / draws for name, values in norms.items()},
            "over": over, "allowed": 2 * math.exp(-(s**2) * m / 2)}  # fmt: skip


def back_products(rng: Generator, m: int, H: int, d: int = 5, draws: int = 1) -> Numbers:
    """max_h |aᵀD⁽ᴴ⁾W⁽ᴴ⁾ … D⁽ʰ⁾W⁽ʰ⁾|/√m, Lemma A.3 of CONV.

    - `product`: the mean over draws. `failed`: the share of draws in which it exceeds 1.5.
    - `gradient`: the mean over draws of max_h |b_h||x⁽ʰ⁻¹⁾|/√m, the largest gradient norm.

    >>> from adversarium.rng import stream
    >>> 0.5 < back_products(stream(0, "example"), m=128, H=2)["product"] < 3
    True
    """
    products, grads = [], []
    for _ in range(draws):
        net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
        features, patterns = net.features(x)
        back = net.back(patterns)
        products.append(max(float((W.T @ b).norm()) for W, b in zip(net.W, back, strict=True)))
        grads.append(
            max(float(b.norm() * v.norm()) for b, v in zip(back, features[:-1], strict=True))
        )
    sqrt_m = math.sqrt(m)
    return {
        "product": sum(products) / draws / sqrt_m,
        "gradient": sum(grads) / draws / sqrt_m,
        "failed": sum(v > 1.5 * sqrt_m for v in products) / draws,
    }


def product_tail(rng: Generator, m: int, H: int, draws: int = 4000) -> Numbers:
    """Draw max_h |aᵀD⁽ᴴ⁾W⁽ᴴ⁾ … D⁽ʰ⁾W⁽ʰ⁾| of Lemma A.3 of CONV from its exact distribution.

    Let b_h be the product without W⁽ʰ⁾. Given the features, W⁽ʰ⁾ᵀb_h has the component f/|x⁽ʰ⁻¹⁾|
    along x⁽ʰ⁻¹⁾ (Euler's identity), and N(0, 2|b_h|²/m) entries across it.

    - `failed`: the share of draws in which the product exceeds 1.5 √m. `mean`: its mean over √m.
    - `kept`: the number of draws in which it is at most 1.5 √(mH).

    >>> from adversarium.rng import stream
    >>> law = product_tail(stream(0, "example"), m=64, H=2)
    >>> drawn = back_products(stream(0, "example"), m=64, H=2, draws=300)
    >>> abs(law["mean"] - drawn["product"]) < 0.05
    True
    """

    def free(count: Tensor) -> Tensor:
        return chi2(count.clamp_min(1), rng) * (count > 0)

    every = torch.full((draws,), float(m), dtype=torch.float64)
    sizes, active = [2 / m * chi2(every, rng)], [every]  # |x⁽ʰ⁾|², number of active units
    for _ in range(H):
        active.append(torch.binomial(every, torch.full_like(every, 0.5), generator=rng))
        sizes.append(sizes[-1] * 2 / m * free(active[-1]))
    along = normal((draws,), rng).square()
    f_squared, back = sizes[H] * along, along + free(active[H] - 1)
    largest = torch.zeros_like(every)
    for h in range(H - 1, -1, -1):
        spread = 2 / m * back
        back = f_squared / sizes[h].clamp_min(1e-300) + spread * free(active[h] - 1)
        largest = torch.maximum(largest, back + spread * free(m - active[h]))
    quotient = (largest / m).sqrt()
    return {
        "failed": float((quotient > 1.5).double().mean()),
        "kept": float((quotient <= 1.5 * math.sqrt(H)).sum()),
        "mean": float(quotient.mean()),
    }


def moved_input(
    rng: Generator, m: int, d: int, H: int, share: float, delta: float = 0.1
) -> Numbers:
    """Test Lemma A.4 of CONV: moving x to x' is equivalent to a rank-one change of the first layer.

    The changed layer is W⁽¹⁾ + W⁽¹⁾A(x' − x)(Ax)ᵀ/|Ax|².

    - `features`, `patterns`: the differences of features and activation patterns from layer 1 on,
      between the network at x' and the changed network at x.
    - `move`: an upper bound on the change of the layer in units of δ = |x' − x|, over x' and over W
      in B(R), R = share·√m.

    >>> from adversarium.rng import stream
    >>> numbers = moved_input(stream(0, "example"), m=64, d=4, H=2, share=0.25)
    >>> numbers["features"] < 1e-10 and numbers["patterns"]
    0.0
    """
    net, x = Deep.drawn(m, d, H, rng), on_sphere(d, rng)
    move = normal((m, m), rng)
    net = Deep(net.A, (net.W[0] + share * move / move.norm(), *net.W[1:]), net.a)
    other = torch.nn.functional.normalize(x + delta * on_sphere(d, rng), dim=0)
    Ax = net.A @ x
    rank_one = torch.outer(net.W[0] @ (net.A @ (other - x)), Ax) / Ax.dot(Ax)
    changed = Deep(net.A, (net.W[0] + rank_one, *net.W[1:]), net.a)
    features, patterns = net.features(other)
    changed_features, changed_patterns = changed.features(x)
    difference = max(
        float((u - v).norm()) for u, v in zip(features[1:], changed_features[1:], strict=True)
    )
    flipped = sum(
        float((D - E).abs().sum()) for D, E in zip(patterns, changed_patterns, strict=True)
    )
    start = net.W[0] - share * move / move.norm()
    bound = torch.linalg.matrix_norm(start @ net.A, 2) + share * torch.linalg.matrix_norm(net.A, 2)
    return {"features": difference, "patterns": flipped, "move": float(bound / Ax.norm())}


def feature_drift(
    rng: Generator, m: int, H: int, tau: float = 0.0, d: int = 5, draws: int = 1
) -> Numbers:
    """Bound sup |x'⁽ʰ⁾(W) − x⁽ʰ⁾(W⁽⁰⁾)|/τ over h, with R/√m = δ = τ/2; means over draws.

    τ = 0 means the largest τ that the hypothesis τH⁶(log m)³ ≤ 1 allows.

    - `drift`: a lower bound. Every layer moves along the top singular vector of the layers after
      it, and x along that of the entire network, with signs such that the moves add up.
    - `above`: the sum of all possible moves of x⁽ᴴ⁾, an upper bound if no unit changes sign.
    - `norm`: the largest ratio |x'⁽ʰ⁾|/|x⁽ʰ⁾|.

    >>> from adversarium.rng import stream
    >>> numbers = feature_drift(stream(0, "example"), m=64, H=2, tau=1e-6)
    >>> 1 < numbers["drift"] < numbers["above"]
    True
    """
    tau = tau or 1 / (H**6 * math.log(m) ** 3)
    drifts = [_drift(Deep.drawn(m, d, H, rng), on_sphere(d, rng), tau, rng) for _ in range(draws)]
    return {name: sum(one[name] for one in drifts) / draws for name in drifts[0]}


def _drift(net: Deep, x: Tensor, tau: float, rng: Generator) -> dict[str, float]:
    """Return the numbers of `feature_drift` for one network."""
    m, H = len(net.a), len(net.W)
    features, patterns = net.features(x)
    after = torch.eye(m, dtype=torch.float64)  # the Jacobian from x̄⁽ʰ⁾ to x⁽ᴴ⁾
    pushes: list[tuple[int, Tensor, Tensor]] = []  # layer, left vector of its move, drift
    above = 0.0
    for h in range(H, 0, -1):
        after = after * patterns[h - 1]
        above += float(torch.linalg.matrix_norm(after, 2) * features[h - 1].norm()) / 2
        u, v = _top(after, rng)
        pushes.append((h, v, u * float((after @ v).norm() * features[h - 1].norm())))
        after = after @ net.W[h - 1]
    above += float(torch.linalg.matrix_norm(after @ net.A, 2)) / 2
    u, v = _top(after @ net.A, rng)
    pushes.append((0, v - x * x.dot(v), after @ (net.A @ (v - x * x.dot(v)))))
    total = torch.zeros(m, dtype=torch.float64)
    moved_x, weights = x, list(net.W)
    for h, left, drift in sorted(pushes, key=lambda push: -float(push[2].norm())):
        sign = 1.0 if float(total @ drift) >= 0 else -1.0
        total = total + sign * drift
        if h:
            right = features[h - 1] / features[h - 1].norm()
            weights[h - 1] = weights[h - 1] + sign * tau / 2 * torch.outer(left, right)
        else:
            turned = x + sign * tau / 2 * left / left.norm()
            moved_x = torch.nn.functional.normalize(turned, dim=0)
    moved, _ = Deep(net.A, tuple(weights), net.a).features(moved_x)
    drifts = [float((u - v).norm()) for u, v in zip(moved, features, strict=True)]
    ratios = [float(u.norm() / v.norm()) for u, v in zip(moved, features, strict=True)]
    return {"drift": max(drifts) / tau, "above": above, "norm": max(ratios)}


def _top(J: Tensor, rng: Generator, steps: int = 60) -> tuple[Tensor, Tensor]:
    """Return the leading singular vectors, by power iteration."""
    v = torch.nn.functional.normalize(normal((J.shape[1],), rng), dim=0)
    for _ in range(steps):
        u = torch.nn.functional.normalize(J @ v, dim=0)
        v = torch.nn.functional.normalize(J.T @ u, dim=0)
    return u, v


def norm_profile(rng: Generator, m: int, H: int) -> Numbers:
    """Return |x̄⁽ʰ⁾| (`before`) and |x⁽ʰ⁾| (`after`) along the layers of one drawn network.

    >>> from adversarium.rng import stream
    >>> len(norm_profile(stream(0, "example"), m=64, H=3)["after"].values)
    3
    """
    net, x = Deep.drawn(m, 5, H, rng), on_sphere(5, rng)
    features, _ = net.features(x)
    before = [W @ v for W, v in zip(net.W, features[:-1], strict=True)]
    layers = tuple(float(h) for h in range(1, H + 1))
    return {
        "after": Along("h", layers, tuple(float(v.norm()) for v in features[1:])),
        "before": Along("h", layers, tuple(float(v.norm()) for v in before)),
    }
