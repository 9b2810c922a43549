"""The setting of RNRF (§2, §3, App. B): features, assumptions, explicit networks, impossibility.

Paper: the two halves of Assumption 2.3 hold together; the v-network fits and is broken, the
u-network fits and is robust (Propositions 3.1, 3.2); tail and tensor-power lemmas.
Trials: nothing is trained. Cost: quick 7 s (2 cores).
"""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import torch

from adversarium.attacks import (
    PGD,
    FeatureCollision,
    FeatureReplacement,
    UniversalFeature,
    midpoint,
)
from adversarium.data import TwoFeaturePatches
from adversarium.data.batches import moved
from adversarium.experiments import checks as rules
from adversarium.experiments.checks import existence, identity, last, level
from adversarium.experiments.spec import Table, Trial
from adversarium.networks import SmoothedCNN, smoothed_relu
from adversarium.networks.smoothed_cnn import smoothed_slope
from adversarium.rng import coins, integers, normal, uniform
from adversarium.training.objectives import LOSSES, Risk, loss_map, margin

EPS, TAU = 1.2, 3
WIDTHS = (10, 100, 1_000, 10_000)
TAILS = tuple((n, t) for n in WIDTHS for t in (0.25, 1.0, 2.0))
DRAWS = 2_000

quick = dict(points=300, seeds=5)
paper = dict(points=1000, seeds=20)


def plan(points=300, eps=EPS):
    fig3 = TwoFeaturePatches()
    trial = lambda label, function, **more: Trial(label=label, function=function, parameters=more)
    yield trial("features", features, k=5, d=20)
    yield Trial(
        label="assumptions", function=assumptions, version=2, parameters=dict(data=fig3, eps=eps)
    )
    yield trial("activation", activation)
    yield trial("networks", explicit_networks, data=fig3, n=points, eps=eps)
    yield trial("separated", separated_networks, eps=eps)
    yield trial("maxima", gaussian_maxima)
    yield Trial(label="tails", function=gaussian_tails, version=2)
    yield Trial(label="tensor power", function=tensor_power, version=2)
    yield trial("impossibility", impossibility, data=fig3, eps=eps)
    yield Trial(
        label="masking", function=masking, version=2, parameters=dict(data=fig3, n=50, eps=eps)
    )


def features(rng, k, d):
    """|Gram − I| and |sup norm − 1| of the 2k features, Definition 2.1 of RNRF."""
    data = TwoFeaturePatches(k=k, d=d)
    F = torch.cat([data.U, data.V])
    gram = (F @ F.mT - torch.eye(2 * k, dtype=F.dtype)).abs().max()
    return {"error": float(torch.maximum(gram, (F.abs().amax(-1) - 1).abs().max()))}


def assumptions(rng, data, eps):
    """The two ratios of Assumption 2.3 of RNRF, a search for a configuration with both ≥ c at
    P < c^{τ+1}, and the separation of §2.5."""
    batch = data.sample(100, rng)
    robust, other = batch.strength[batch.is_robust], batch.strength[~batch.is_robust]
    per = lambda mask: (batch.strength**TAU * mask).sum(-1)
    distance = (batch.x[:, None] - batch.x[None]).abs().flatten(2).amax(-1)
    different = batch.y[:, None] != batch.y[None]
    return {
        "alpha/beta": float(robust.min() / other.max()),
        "density": float((per(~batch.is_robust) / per(batch.is_robust)).min()),
        "both_possible": float(any(_both(rng, c) for c in (2.0, 3.0, 5.0))),
        "both_with_more": float(all(_both(rng, c, 2.0) for c in (2.0, 3.0, 5.0))),
        "distance/2eps": float(distance[different].min()) / (2 * eps),
        "collide": float((distance[different] <= 2 * eps).double().mean()),
    }


def _both(rng, c, more=1.0):
    """Is there α/β ≥ c with Σ_NR β^τ ≥ c Σ_R α^τ among 20,000 draws with P < c^{τ+1}, or with P
    up to `more` times as large?"""
    top = c ** (TAU + 1) if more == 1 else more * c ** (TAU + 1) + more
    # half of the draws with one robust patch, ratios crowded at c: where both are easiest to have
    P = 2 + integers(math.ceil(top) - 2, (20_000,), rng)
    R = 1 + (uniform((20_000,), rng) * (P - 1)).long().where(coins((20_000,), rng) > 0, 0)
    ratio = c * 10 ** (2 * uniform((20_000,), rng).pow(4))
    density = (P - R) / (R * ratio**TAU)
    return bool(((ratio >= c) & (density >= c) & (top > P)).any())


def activation(rng, q=3, rho=0.8):
    """Autograd against the formula on a grid with 0 and ϱ, and z s'(z) ≤ q s(z), §2.3 of RNRF."""
    z = torch.cat([torch.linspace(-1, 3, 4001), torch.tensor([0.0, rho])]).double()
    z.requires_grad_(True)
    s = smoothed_relu(z, q, rho)
    (slope,) = torch.autograd.grad(s.sum(), z)
    formula = smoothed_slope(z, q, rho)
    jump = (smoothed_slope(z + 1e-9, q, rho) - smoothed_slope(z - 1e-9, q, rho)).abs().max()
    excess = (z * formula - q * s).max()
    worst = torch.stack([(slope - formula).abs().max(), jump - 1e-8, excess]).max()
    return {"error": float(worst.detach())}


def _accuracy(network, W, batch, x=None):
    return float((margin(network.f(W, batch.x if x is None else x), batch.y) > 0).double().mean())


def _attacked(network, W, batch, attack, rng):
    f = lambda x: network.f(W, x)
    return attack(loss_map(attack.loss, f, batch.x, batch.y, Risk()), batch, 0, rng)


def explicit_networks(rng, data, n, eps):
    """The v-network and the u-network with γ = 1, 10, 100 on Figure 3's data, Propositions 3.1 and
    3.2 of RNRF: cross-entropy, accuracy, and accuracy under the explicit attacks."""
    network, batch = SmoothedCNN(m=1), data.sample(n, rng)
    found = {}
    for name, direction in (("v", data.V), ("u", data.U)):
        losses = []
        for gamma in (1.0, 10.0, 100.0):
            W = gamma * direction[:, None]
            losses.append(float(LOSSES["cross_entropy"](network.f(W, batch.x), batch.y).mean()))
        found[f"{name}_loss"] = losses[-1]
        falls = losses[0] > losses[1] >= losses[2] and losses[2] < 1e-6
        found[f"{name}_fits"] = float(falls and _accuracy(network, W, batch) == 1)
    V, U = 10.0 * data.V[:, None], 10.0 * data.U[:, None]
    if eps < data.beta:  # the model-free attack is not admissible
        return {**found, **dict.fromkeys(_ATTACKED, math.nan)}
    swapped = FeatureReplacement(radius=eps, k=2)
    x = _attacked(network, V, batch, swapped, rng)
    towards = network.f(V, x).argmax(-1) == 1 - batch.y
    found["v_broken"] = float(_accuracy(network, V, batch, x) == 0 and bool(towards.all()))
    broken = _attacked(network, U, batch, UniversalFeature(radius=eps, k=2), rng)
    found["u_universal"] = _accuracy(network, U, batch, broken)
    found["u_replaced"] = _accuracy(network, U, batch, _attacked(network, U, batch, swapped, rng))
    lower = PGD(radius=eps, steps=20, loss="minus_true_logit")
    found["u_lowered"] = _accuracy(network, U, batch, _attacked(network, U, batch, lower, rng))
    found["u_robust"] = float(found["u_universal"] == 1)
    return found


_ATTACKED = ("v_broken", "u_universal", "u_replaced", "u_lowered", "u_robust")


def separated_networks(rng, eps, n=200):
    """Proposition 3.2 of RNRF with density dropped and |J_R|(α − ε) > Pε: the u-network keeps every
    point under its worst case, whose margin is R s(γ(α − ε)) − P s(γε) without noise."""
    kept = []
    for P, alpha in ((4, 10.0), (16, 25.0)):
        data = TwoFeaturePatches(P=P, alpha=alpha, sigma_n=0.01)
        network, W, batch = SmoothedCNN(m=1), 10.0 * data.U[:, None], data.sample(n, rng)
        x = _attacked(network, W, batch, UniversalFeature(radius=eps, k=2), rng)
        s = lambda z: float(smoothed_relu(torch.tensor(10 * z).double(), 3, 1.0))
        exact = s(alpha - eps) - P * s(eps)
        kept.append(_accuracy(network, W, batch, x) == 1 and exact > 0)
    return {"robust": float(all(kept))}


def gaussian_maxima(rng):
    """E max of m standard normals for m = 10 … 10⁴, its slope against log m (Lemma D.3 of RNRF) and
    its ratio to √(2 log m)."""
    mean = [float(normal((2_000_000 // m, m), rng).amax(-1).mean()) for m in WIDTHS]
    ratios = [e / math.sqrt(2 * math.log(m)) for e, m in zip(mean, WIDTHS, strict=True)]
    x = np.log([math.log(m) for m in WIDTHS])
    slope = float(np.polyfit(x, np.log(mean), 1)[0])
    rising = all(b > a for a, b in pairwise(ratios))
    found = {"slope": slope, "least_ratio": min(ratios), "largest_ratio": max(ratios)}
    return {**found, "rising": float(rising)}


def gaussian_tails(rng):
    """How often ‖X‖_∞ < √(2 log 2n) + t in 2,000 draws, Lemma B.1 of RNRF."""
    found = {}
    for n in WIDTHS:
        top = normal((DRAWS, n), rng).abs().amax(-1)
        for t in (0.25, 1.0, 2.0):
            found[f"n={n}, t={t}"] = float((top < math.sqrt(2 * math.log(2 * n)) + t).sum())
    return found


def tensor_power(rng, eta=1e-3, goal=0.5):
    """Lemma B.2 of RNRF, x₀ = y₀S^{1/(q−2)}(1 + c), random S, y₀, c: the largest of y(T_x)/y₀ over
    its bound, 1/(1 − S y₀/x₀) at q = 3 and (1 − S y₀²/x₀²)^{−1/2} at q = 4; and as c → 0 the
    error of the closed form 1/(1 − S y₀(1/x₀ − 1/goal)), which diverges with the goal."""
    shares: dict[int, list[float]] = {3: [], 4: []}
    for _ in range(12):
        S = 0.3 + float(uniform((), rng))
        y0 = 0.01 + 0.02 * float(uniform((), rng))
        c = 0.1 + float(uniform((), rng))
        for q in (3, 4):
            x0 = y0 * S ** (1 / (q - 2)) * (1 + c)
            y = _at_arrival(x0, y0, S, q, 50 * eta if q == 4 else eta, goal)
            left = 1 - S * (y0 / x0) ** (q - 2)
            shares[q].append(y / y0 * left ** (1 / (q - 2)))
    errors = []
    for c in (0.5, 0.1, 0.02):
        x0 = 0.02 * (1 + c)
        closed = 1 / (1 - 0.02 * (1 / x0 - 1 / goal))
        errors.append(abs(_at_arrival(x0, 0.02, 1.0, 3, eta, goal) / 0.02 / closed - 1))
    return {"third": max(shares[3]), "fourth": max(shares[4]), "closed_form": max(errors)}


def _at_arrival(x, y, S, q, eta, goal):
    while x < goal:
        x, y = x + eta * x ** (q - 1), y + eta * S * y ** (q - 1)
    return y


def impossibility(rng, data, eps):
    """If all strengths are ≤ 2ε no classifier is robust on more than 1/k (ours): equal-noise draws
    share a point of both balls, colliding pairs of a balanced sample match perfectly, and an
    explicit list breaks a class of every patch-additive network."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    one, two = data.sample(200, rng), data.sample(200, rng)
    clean = lambda b, y: b.x - b.noise if y is None else _relabelled(data, b, y)
    zeros, ones = torch.zeros(200).long(), torch.ones(200).long()
    a, b = clean(one, zeros) + one.noise, clean(two, ones) + one.noise
    middle = midpoint(a, b)
    both = torch.maximum((middle - a).abs().amax((1, 2)), (middle - b).abs().amax((1, 2)))
    x, z = _relabelled(data, one, zeros) + one.noise, _relabelled(data, two, ones) + two.noise
    hit = (x[:, None] - z[None]).abs().amax((2, 3)) <= 2 * eps
    matched = maximum_bipartite_matching(csr_matrix(hit.numpy()))
    return {
        "midpoints": float((both <= eps + 1e-12).all()),
        "matching": float((matched >= 0).all()),
        "list": float(all(_list_breaks(rng, data, eps) for _ in range(50))),
    }


def _relabelled(data, batch, y):
    """The noiseless points of a draw with other labels."""
    feature = torch.where(batch.is_robust, y[:, None], data.k + y[:, None])
    clean = torch.zeros_like(batch.x)
    return clean.scatter_add_(-1, feature[..., None], batch.strength[..., None])


def _list_breaks(rng, data, eps):
    """A random patch-additive network is wrong on some reachable point of one of the two classes:
    robust patches → (α − ε)u_y; the others → 0, (α − ε)u_y or (α − ε)u_j."""
    network = SmoothedCNN(m=8, sigma0=1.0)
    W = network.init(rng, data.shape, data.k) * (1 + 3 * float(uniform((), rng)))
    if float(coins((), rng)) > 0:  # half of them are diagonal u-networks
        W = torch.zeros_like(W)
        W[:, :, : data.k] = torch.eye(2).double()[:, None] * uniform((2, 8, 1), rng) * 5
    silent = replace(data, sigma_n=0.0, balanced=True).sample(2, rng)
    attack = FeatureCollision(radius=eps, alpha=data.alpha, k=2)
    return _accuracy(network, W, silent, _attacked(network, W, silent, attack, rng)) < 1


def masking(rng, data, n, eps):
    """Cross-entropy ascent on a v-network with γ = 10 (ours): in float32 saturated gradients make a
    broken network look perfect, in float64 half of it; the logit difference hides nothing."""
    network, batch = SmoothedCNN(m=1), data.sample(n, rng)
    W = 10.0 * data.V[:, None]
    found = {}
    for dtype in (torch.float32, torch.float64):
        points, by = moved(batch, "cpu", dtype), W.to(dtype)
        for loss in ("cross_entropy", "logit_difference", "minus_true_logit"):
            attack = PGD(radius=eps, steps=20, loss=loss)
            name = loss if dtype == torch.float32 else f"{loss} (float64)"
            found[name] = _accuracy(
                network, by, points, _attacked(network, by, points, attack, rng)
            )
    masked = found["cross_entropy"] >= 0.95 and found["cross_entropy (float64)"] >= 0.2
    honest = found["logit_difference"] == 0 == found["logit_difference (float64)"]
    lowered = max(found["minus_true_logit"], found["minus_true_logit (float64)"]) <= 0.02
    return {**found, "masked": float(masked and honest and lowered)}


checks = {
    "rnrf.def2.1.features": identity(last("error", "features"), 0.0),
    "rnrf.asm2.3.strength": level(last("alpha/beta", "assumptions"), 2.0),
    "rnrf.asm2.3.density": level(last("density", "assumptions"), 2.0),
    "rnrf.asm2.3.conflict": rules.every(
        existence(last("both_possible", "assumptions")),
        existence(last("both_with_more", "assumptions")),
    ),
    "rnrf.sec2.5.separation": level(last("distance/2eps", "assumptions"), 1.0),
    "rnrf.act.smooth": identity(last("error", "activation"), 1e-12),
    "rnrf.prop3.1.clean": existence(last("v_fits", "networks")),
    "rnrf.prop3.1.nonrobust": existence(last("v_broken", "networks")),
    "rnrf.prop3.2.clean": existence(last("u_fits", "networks")),
    "rnrf.prop3.2.robust": existence(last("u_robust", "networks")),
    "rnrf.prop3.2.robust.corrected": existence(last("robust", "separated")),
    "rnrf.prop3.2.weak": rules.every(
        level(last("u_replaced", "networks"), 1.0, 1.0),
        level(last("u_lowered", "networks"), 0.75),
    ),
    "rnrf.lemD.3.init": rules.power(last("slope", "maxima"), 0.9, 1.1),
    "rnrf.lemD.3.init.corrected": rules.every(
        rules.power(last("least_ratio", "maxima"), 0.7, 1.0),
        rules.power(last("largest_ratio", "maxima"), 0.7, 1.0),
        existence(last("rising", "maxima")),
    ),
    "rnrf.lemB.1.max": rules.every(
        *(
            rules.frequency(last(f"n={n}, t={t}", "tails"), DRAWS, 1 - math.exp(-t * t / 2) / 2)
            for n, t in TAILS
        )
    ),
    "rnrf.lemB.2.tpm": rules.every(
        rules.at_most(last("third", "tensor power"), 1.0),
        rules.at_most(last("fourth", "tensor power"), 1.0),
        rules.at_most(last("closed_form", "tensor power"), 0.05),
    ),
    "rnrf.x.impossibility": rules.every(
        existence(last("midpoints", "impossibility")),
        existence(last("matching", "impossibility")),
        existence(last("list", "impossibility")),
    ),
    "rnrf.x.masking": existence(last("masked", "masking")),
}

_networks = {
    "u_universal": "u-network, −εu_y + εu_j on all patches",
    "u_replaced": "u-network, model-free attack",
    "u_lowered": "u-network, sign-PGD on −F_y",
}
_masking = {
    "cross_entropy": "cross-entropy",
    "logit_difference": "logit difference",
    "minus_true_logit": "−F_y",
    "cross_entropy (float64)": "cross-entropy, float64",
}

figures = (
    Table(
        name="networks",
        title="The explicit network of Proposition 3.2: accuracy under three attacks",
        y=tuple(_networks),
        of=("networks",),
        names=_networks,
        caption="Robust to attacks that only lower F_y, broken by one that raises F_j.",
    ),
    Table(
        name="masking",
        title="A broken network (γ = 10): accuracy under sign-PGD by loss",
        y=tuple(_masking),
        of=("masking",),
        names=_masking,
        caption="A saturated cross-entropy has no gradient left and hides what is broken.",
    ),
)
