"""The modified training of Theorems 4.2 and 6.2 of CGRM, and plain training of the same model.

Paper: train w_0 on the large margins, add one unit w_i = (I − w_0 w_0ᵀ)x_i for every small-margin
point: the 0–1 adversarial training loss vanishes (4.2). Clean risk minimisation, then indicators on
the attackable points: robust training error 0, clean error ≲ √(poly(d)/N) (6.2).
Reading: l2 balls, a_i = y_i, ‖w_0‖ = 1, b = d/2. Set M: d = 200, N = 400, μ = 0.2, α = 5, β = 0.5,
δ = 2. Theorem 6.2 on margins spread over [0.02, 3] in d = 20; max margin is the risk minimiser, and
the limit of the adversarial training of the last step.
Cost: quick 30 s (2 cores).
"""

import math

import torch

from adversarium.attacks import FGSM
from adversarium.bounds import threshold_window
from adversarium.constructions import Balls
from adversarium.data import MarginMixture
from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.cells import broken_in_l2
from adversarium.experiments.checks import exponent, last, level, ordering
from adversarium.experiments.spec import Curves, Run, Table, Trial
from adversarium.networks import MixedLearner
from adversarium.probes import (
    Error,
    active_units,
    direction_error,
    robust_train_error,
    strong_attacks,
    train_error,
    unit_drift,
)
from adversarium.rng import normal
from adversarium.training import Risk, linear_step, max_margin

M, LOW, HIGH = "set M", "set M, b = d/4", "set M, b = 3d/4"
FEW = "set M, N = 100"
DEAD, AWAKE = "plain training, b = d/2", "plain training, b = 0"
#        d    N    δ    b/d
SETS = {M: (200, 400, 2.0, 0.5), LOW: (200, 400, 2.0, 0.25), HIGH: (200, 400, 2.0, 0.75),
        FEW: (200, 100, 2.0, 0.5), "set M, δ = 4.5": (200, 400, 4.5, 0.5),
        "d = 60, N = 300": (60, 300, 2.0, 0.5),
        "d = 30, N = 100": (30, 100, 2.0, 0.5)}  # fmt: skip
LARGE = {"d = 400, N = 1000, b = d/4": (400, 1000, 2.0, 0.25)}
SAMPLES = (100, 200, 400, 800, 1600)

quick = dict(seeds=5)
paper = dict(large=True, seeds=20)


def plan(alpha=5.0, beta=0.5, mu=0.2, large=False, samples=SAMPLES, steps=300):
    if not 0 < mu < 1 or min(samples) < 10:
        raise ValueError(f"needs 0 < mu < 1 and samples >= 10, got mu={mu} and {samples}.")
    for label, (d, N, delta, share) in (SETS | (LARGE if large else {})).items():
        data = MarginMixture(d=d, alpha=alpha, beta=beta, mu=mu)
        parameters = dict(data=data, N=N, delta=delta, b=share * d)
        yield Trial(label=label, function=modified, parameters=parameters, version=2)
    for N in samples:
        yield Trial(label=f"N = {N}", function=generic, parameters=dict(N=N), version=3)
    for label, b, sigma0 in ((DEAD, 100.0, 0.01), (AWAKE, 0.0, 0.01)):
        yield Run(
            label=label,
            data=MarginMixture(d=200, alpha=alpha, beta=beta, mu=mu),
            network=MixedLearner(m=80, b=b, sigma0=sigma0),
            attack=FGSM(p=2, radius=2.0),
            risk=Risk(loss="exponential", log=True),
            n=400,
            steps=steps,
            eta=0.02,
            probes=(direction_error, active_units, unit_drift, train_error, robust_train_error),
            final=(
                Error(on="train", attacks=strong_attacks(2, 2.0, 1), name="strong_train_error"),
            ),
        )


def modified(rng, data, N, delta, b, steps=400, eta=0.05, fresh=200):
    """Theorem 4.2's algorithm: errors of the mixed network, distances of w_0 and w_i to w* and ξ_i,
    and the closed form of the robust margin at memorised points."""
    train = data.sample(N, rng)
    small, Z = train.is_small, train.y[:, None] * train.x
    w_0 = torch.zeros(data.d).double()
    for _ in range(steps):
        w_0 = linear_step(w_0, Z[~small], delta, eta, log=True)
    w_0 = w_0 / w_0.norm()
    x, y = train.x[small], train.y[small]
    w = x - (x @ w_0)[:, None] * w_0
    W, network = {"w_0": w_0, "w": w, "a": y}, MixedLearner(m=len(x), b=b)
    f = lambda z: network.f(W, z)
    errors = {}
    for name, mu in (("small", 1.0), ("large", 0.0)):
        test = MarginMixture(d=data.d, alpha=data.alpha, beta=data.beta, mu=mu).sample(fresh, rng)
        errors[f"clean_{name}"] = float((test.y * f(test.x) <= 0).double().mean())
        errors[f"robust_{name}"] = float(
            broken_in_l2(f, test.x, test.y, delta, rng).double().mean()
        )
    mix = lambda kind: data.mu * errors[f"{kind}_small"] + (1 - data.mu) * errors[f"{kind}_large"]
    low, high = threshold_window(data.d, N, data.mu, delta)
    xi = x.clone()
    xi[:, 0] = 0
    with torch.enable_grad():
        z = x.clone().requires_grad_(True)
        value = y * f(z)
        (gradient,) = torch.autograd.grad(value.sum(), z)
    margin = value.detach() - delta * gradient.norm(dim=1)
    length = xi.square().sum(1)
    closed = data.beta + length - b - delta * (1 + length).sqrt()
    alone = ((x @ w.mT > b).sum(1) == 1) & (x @ w.mT > b).diagonal()
    return {
        **errors,
        "clean_train": float((train.y * f(train.x) <= 0).double().mean()),
        "robust_train": float(broken_in_l2(f, train.x, train.y, delta, rng).double().mean()),
        "clean_test": mix("clean"),
        "robust_test": mix("robust"),
        "w_0_error": float((w_0 - torch.eye(data.d, 1)[:, 0].double()).norm()),
        "w_i_error": float((w - xi).norm(dim=1).mean()),
        "least_margin": float(margin.min()),
        "margin_error": float((margin - closed)[alone].abs().max()) if alone.any() else math.nan,
        "inside": float(low < b < high),
    }


def generic(rng, N, d=20, alpha=3.0, beta=0.02, delta=0.3, fresh=50_000):
    """Theorem 6.2's algorithm: f̂_clean by max margin, indicators φ on the training points that an
    attack of radius δ breaks, then f̂ = φ + (1 − φ)f with f trained adversarially on the others:
    its limit is the max-margin direction of those (Lemma B.2 of CGRM)."""
    data = MarginMixture(d=d, alpha=alpha, beta=beta, spread=True)
    train, test = data.sample(N, rng), data.sample(fresh, rng)
    Z = train.y[:, None] * train.x
    u, _ = max_margin(Z)
    small = Z @ u <= delta
    w, _ = max_margin(Z[~small])
    pairs = torch.cdist(train.x[train.y > 0], train.x[train.y < 0])
    balls = Balls(x=train.x[small], y=train.y[small], delta=delta, R=float(pairs.min()), p=2)
    f = lambda z: balls.f_adv(lambda x: (x @ w)[..., None], z)
    wrong = train.y * f(train.x) <= 0
    ends = train.x - delta * train.y[:, None] * w  # the worst points for f
    for moved in (ends, *(_in_ball(train.x, delta, rng) for _ in range(20))):
        wrong = wrong | (train.y * f(moved) <= 0)
    error = lambda g: float((test.y * g(test.x) <= 0).double().mean())
    return {
        "clean_error": error(f),
        "clean_error_before": error(lambda z: z @ u),
        "adversarial_train": float(wrong.double().mean()),
        "memorised": float(small.double().mean()),
        "turned": float((w - u).norm()),
    }


def _in_ball(x, delta, rng):
    """A point on the sphere of radius δ about every x."""
    direction = normal(x.shape, rng)
    return x + delta * direction / direction.norm(dim=1, keepdim=True)


_sizes = {f"N = {N}": float(N) for N in SAMPLES}
_samples = lambda make: rules.each(make, lambda label: label.startswith("N = "))

checks = {
    "cgrm.thm4.2": rules.every(
        level(last("robust_train", M), 0, 0),
        level(last("inside", M), 1, 1),
        level(last("robust_train", HIGH), 0.001),
        level(last("inside", HIGH), 0, 0),
        level(last("margin_error", M), 0, 0.1),
    ),
    "cgrm.thm4.2.target": rules.every(
        level(last("w_0_error", M), 0, 0.1),
        level(last("w_i_error", M), 0, 0.1),
        ordering(last("w_0_error", FEW), than=last("w_0_error", M)),
        ordering(last("w_i_error", FEW), than=last("w_i_error", M)),
    ),
    "cgrm.thm4.2.cgrm": rules.every(
        level(last("clean_test", M), 0, 0),
        level(last("robust_small", M), 1, 1),
        level(last("robust_large", M), 0, 0),
    ),
    "cgrm.thm6.2": rules.every(
        exponent("power of N in the clean error", "clean_error", _sizes, -0.75, 0.25),
        _samples(lambda label: level(last("adversarial_train", label), 0, 0)),
    ),
}

_columns = {
    "clean_train": "clean train",
    "clean_test": "clean test",
    "robust_train": "robust train",
    "robust_test": "robust test",
    "robust_small": "robust test, small margins",
    "robust_large": "robust test, large margins",
    "least_margin": "least robust margin at memorised points",
    "inside": "b in the window",
}
_units = {
    "active_units": "active pairs (point, unit)",
    "unit_drift": r"$\max_i\|w_i - w_i^{(0)}\|$",
}
_plain = {
    "train_error": "clean train",
    "robust_train_error": "robust train, FGSM of the training",
    "strong_train_error": "robust train, strong attacks",
}
_generic = {
    "clean_error": "clean error of f̂",
    "clean_error_before": "clean error of f̂_clean",
    "memorised": "share of memorised points",
    "turned": "‖w − ŵ_clean‖ by the last step",
}

figures = (
    Table(
        name="sets",
        title="Theorem 4.2's algorithm: errors in and out of the window for b",
        y=tuple(_columns),
        of=(*SETS, *LARGE),
        names=_columns,
        caption="Mean over seeds with its 99 % interval.",
    ),
    Curves(
        name="units",
        title="Plain adversarial training: units above the data never wake up",
        y=tuple(_units),
        of=(DEAD, AWAKE),
        names=_units,
        x_label="step k",
        y_label="",
        log_x=True,
        caption="Mean over seeds, band: smallest to largest seed.",
    ),
    Table(
        name="plain",
        title="Plain adversarial training of the mixed model",
        y=tuple(_plain),
        of=(DEAD, AWAKE),
        names=_plain,
        caption="With b = d/2 the units never see a point; with b = 0 they learn.",
    ),
    Table(
        name="generic",
        title="Theorem 6.2's algorithm",
        y=tuple(_generic),
        of=tuple(_sizes),
        names=_generic,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
