"""The modified trainings of Theorems 4.2 and 6.2 of CGRM: a linear part, and memorised points."""

import math

import torch
from torch import Generator, Tensor

from adversarium.bounds import threshold_window
from adversarium.constructions import Balls
from adversarium.data import MarginMixture
from adversarium.networks import MixedLearner
from adversarium.rng import normal
from adversarium.shapes import Float
from adversarium.sockets import Numbers
from adversarium.solvers import max_margin
from adversarium.training import linear_step
from adversarium.trials.cells import Classifier, broken_in_l2


def _error(f: Classifier, x: Float[Tensor, "n d"], y: Float[Tensor, " n"]) -> float:
    """P(y f(x) ≤ 0)."""
    return float((y * f(x) <= 0).double().mean())


def modified_training(
    rng: Generator,
    data: MarginMixture,
    N: int,
    delta: float,
    b: float,
    steps: int = 400,
    eta: float = 0.05,
    fresh: int = 200,
) -> Numbers:
    """f(x) = ⟨w_0, x⟩ + Σ_i y_i relu(⟨w_i, x⟩ − b), w_i = (I − w_0 w_0ᵀ)x_i, Theorem 4.2 of CGRM,
    w_0 trained on the large margins: errors of the mixed network, distances of w_0 and w_i to w*
    and ξ_i, the closed form of the robust margin at memorised points, and whether b lies in its
    window. `unproven_train` is a proof: where no unit can switch inside the ball, f is linear
    there, and y f(x) − δ‖∇f(x)‖₂ is the exact margin."""
    train = data.sample(N, rng)
    small = train.is_small
    w_0 = _linear_part(train.y[~small, None] * train.x[~small], delta, steps, eta)
    x, y = train.x[small], train.y[small]
    w = x - (x @ w_0)[:, None] * w_0
    W, network = {"w_0": w_0, "w": w, "a": y}, MixedLearner(m=len(x), b=b)

    def f(z: Tensor) -> Tensor:
        return network.f(W, z)

    units = network.directions(W)
    errors = _fresh_errors(rng, f, data, delta, fresh, units)
    low, high = threshold_window(data.d, N, data.mu, delta)
    xi = x.clone()
    xi[:, 0] = 0
    length = xi.square().sum(1)
    margin = _robust_margin(f, x, y, delta)
    closed = data.beta + length - b - delta * (1 + length).sqrt()
    broken = broken_in_l2(f, train.x, train.y, delta, rng, units)
    least, most = network.interval(W, train.x, 2, delta)
    proven = torch.where(train.y > 0, least, -most)
    alone = ((x @ w.mT > b).sum(1) == 1) & (x @ w.mT > b).diagonal()
    return {
        **errors,
        "clean_train": _error(f, train.x, train.y),
        "robust_train": float(broken.double().mean()),
        "unproven_train": float((~(proven > 0)).double().mean()),
        "w_0_error": float((w_0 - torch.eye(data.d, 1)[:, 0].double()).norm()),
        "w_i_error": float((w - xi).norm(dim=1).mean()),
        "least_margin": float(margin.min()),
        "margin_error": float((margin - closed)[alone].abs().max()) if alone.any() else math.nan,
        "inside": float(low < b < high),
    }


def _linear_part(
    Z: Float[Tensor, "n d"], delta: float, steps: int, eta: float
) -> Float[Tensor, " d"]:
    """w_0/‖w_0‖₂ after FGSM training from 0 on Z_i = y_i x_i, §4 of CGRM."""
    w_0 = torch.zeros(Z.shape[-1]).double()
    for _ in range(steps):
        w_0 = linear_step(w_0, Z, delta, eta, log=True)
    unit: Tensor = w_0 / w_0.norm()
    return unit


def _fresh_errors(
    rng: Generator,
    f: Classifier,
    data: MarginMixture,
    delta: float,
    fresh: int,
    units: Float[Tensor, "r d"],
) -> dict[str, float]:
    """Clean and robust errors on fresh small and large margins, and on the mixture of them."""
    errors: dict[str, float] = {}
    for name, mu in (("small", 1.0), ("large", 0.0)):
        test = MarginMixture(d=data.d, alpha=data.alpha, beta=data.beta, mu=mu).sample(fresh, rng)
        wrong = broken_in_l2(f, test.x, test.y, delta, rng, units)
        errors[f"clean_{name}"] = _error(f, test.x, test.y)
        errors[f"robust_{name}"] = float(wrong.double().mean())
    for kind in ("clean", "robust"):
        small, large = errors[f"{kind}_small"], errors[f"{kind}_large"]
        errors[f"{kind}_test"] = data.mu * small + (1 - data.mu) * large
    return errors


def _robust_margin(
    f: Classifier, x: Float[Tensor, "n d"], y: Float[Tensor, " n"], delta: float
) -> Float[Tensor, " n"]:
    """y f(x) − δ‖∇f(x)‖₂: the least y f in the l2 ball while no unit switches."""
    with torch.enable_grad():
        z = x.clone().requires_grad_(True)
        value = y * f(z)
        (gradient,) = torch.autograd.grad(value.sum(), z)
    margin: Tensor = value.detach() - delta * gradient.norm(dim=1)
    return margin


def generic_training(
    rng: Generator,
    N: int,
    d: int = 20,
    alpha: float = 3.0,
    beta: float = 0.02,
    delta: float = 0.3,
    fresh: int = 50_000,
) -> Numbers:
    """f̂ = φ + (1 − φ)f, Theorem 6.2 of CGRM: f̂_clean by max margin, indicators φ on the training
    points that an attack of radius δ breaks, f trained adversarially on the others, whose limit is
    their max-margin direction (Lemma B.2 of CGRM); margins spread over [β, α]."""
    data = MarginMixture(d=d, alpha=alpha, beta=beta, spread=True)
    train, test = data.sample(N, rng), data.sample(fresh, rng)
    Z = train.y[:, None] * train.x
    u, _ = max_margin(Z)
    small = Z @ u <= delta
    w, _ = max_margin(Z[~small])
    pairs = torch.cdist(train.x[train.y > 0], train.x[train.y < 0])
    balls = Balls(x=train.x[small], y=train.y[small], delta=delta, R=float(pairs.min()), p=2)

    def f(z: Tensor) -> Tensor:
        return balls.f_adv(lambda x: (x @ w)[..., None], z)

    wrong = train.y * f(train.x) <= 0
    ends = train.x - delta * train.y[:, None] * w  # the worst points for f
    for moved in (ends, *(_on_sphere(train.x, delta, rng) for _ in range(20))):
        wrong = wrong | (train.y * f(moved) <= 0)
    return {
        "clean_error": _error(f, test.x, test.y),
        "clean_error_before": _error(lambda z: z @ u, test.x, test.y),
        "adversarial_train": float(wrong.double().mean()),
        "memorised": float(small.double().mean()),
        "turned": float((w - u).norm()),
    }


def _on_sphere(x: Float[Tensor, "n d"], delta: float, rng: Generator) -> Float[Tensor, "n d"]:
    """A random point on the sphere of radius δ about every x."""
    direction = normal(x.shape, rng)
    length: Tensor = direction.norm(dim=1, keepdim=True)
    return x + delta * direction / length
