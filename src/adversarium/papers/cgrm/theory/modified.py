"""Run the modified training of Theorems 4.2 and 6.2 of CGRM: a linear part and memorised points."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.constructions import Balls
from adversarium.constructions.cells import Classifier
from adversarium.data import MarginBatch, MarginMixture
from adversarium.networks import MixedLearner
from adversarium.rng import normal
from adversarium.shapes import Float
from adversarium.sockets import Numbers
from adversarium.solvers import max_margin
from adversarium.training import linear_step

from .bounds import threshold_window
from .threshold_balls import Memory, certified_margins, worst_margins


def _error(f: Classifier, x: Float[Tensor, "n d"], y: Float[Tensor, " n"]) -> float:
    """Return P(y f(x) ≤ 0)."""
    return _share(y * f(x) <= 0)


def _share(event: Tensor) -> float:
    return float(event.double().mean())


@dataclass(frozen=True)
class _Trained:
    """A training set and its network, with one unit for each small-margin point."""

    train: MarginBatch
    memory: Memory

    @property
    def unit_of_point(self) -> Tensor:
        """The index of every training point's unit, or −1 for large-margin points."""
        small = self.train.is_small
        return torch.where(small, small.cumsum(0) - 1, -1)


def _trained(
    rng: Generator,
    data: MarginMixture,
    N: int,
    delta: float,
    b: float,
    steps: int,
    eta: float = 0.05,
) -> _Trained:
    """Train f(x) = ⟨w_0, x⟩ + Σ_i y_i relu(⟨w_i, x⟩ − b), w_i = (I − w_0 w_0ᵀ)x_i, Theorem 4.2 of
    CGRM.

    w_0 is trained on the large-margin points. If steps = 0, it is the limit of this training, the
    max-margin direction of these points.
    """
    train = data.sample(N, rng)
    small = train.is_small
    Z = train.y[~small, None] * train.x[~small]
    w_0 = _linear_part(Z, delta, steps, eta) if steps else max_margin(Z)[0]
    x = train.x[small]
    w = x - (x @ w_0)[:, None] * w_0
    return _Trained(train, Memory(w_0, w, train.y[small], b))


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
    """Run the modified training of Theorem 4.2 of CGRM and return errors of the network.

    A robust error is the share of points that attacks misclassify, and `…_bound` the share that the
    exact check does not certify. Also return the distances of w_0 and w_i to w* and ξ_i, the error
    of the closed form of the robust margin at memorised points, and whether b lies in its window.

    >>> import adversarium as av
    >>> given = dict(data=MarginMixture(d=400, alpha=5.0, mu=0.3), N=20, delta=1.0, b=200.0)
    >>> trial = av.Trial(function=modified_training, parameters=given)
    >>> low, high = threshold_window(d=400, N=20, mu=0.3, delta=1.0)
    >>> low < trial.parameters["b"] < high
    True
    """
    trained = _trained(rng, data, N, delta, b, steps, eta)
    train, memory, small = trained.train, trained.memory, trained.train.is_small
    W, network = memory.weights, MixedLearner(m=len(memory.w), b=b)

    def f(z: Tensor) -> Tensor:
        return network.f(W, z)

    errors = _fresh_errors(rng, f, memory, data, delta, fresh)
    low, high = threshold_window(data.d, N, data.mu, delta)
    xi = train.x[small].clone()
    xi[:, 0] = 0
    length = xi.square().sum(1)
    worst = worst_margins(f, memory, train.x, train.y, delta, trained.unit_of_point)
    closed = data.beta + length - b - delta * (1 + length).sqrt()
    unswitched = worst.affine[small]
    gap = (worst.least[small] - closed)[unswitched].abs()
    attack_gap = (worst.found - worst.least)[small][unswitched].abs()
    return {
        **errors,
        "clean_train": _error(f, train.x, train.y),
        "robust_train": _share(worst.found <= 0),
        "robust_train_bound": _share(worst.least <= 0),
        "reachable": _share(worst.reachable),
        "w_0_error": float((memory.w_0 - torch.eye(data.d, 1)[:, 0].double()).norm()),
        "w_i_error": float((memory.w - xi).norm(dim=1).mean()) if small.any() else math.nan,
        "least_margin": float(worst.least[small].min()) if small.any() else math.nan,
        "margin_error": float(gap.max()) if unswitched.any() else math.nan,
        "attained": float(attack_gap.max()) if unswitched.any() else math.nan,
        "inside": float(low < b < high),
    }


def certified_draws(
    rng: Generator,
    data: MarginMixture,
    N: int,
    delta: float,
    b: float,
    draws: int,
) -> Numbers:
    """Count the training sets, among `draws`, whose points are all certified by the exact check
    after the modified training: Theorem 4.2 of CGRM "with high probability", with w_0 at its limit.

    >>> from adversarium.rng import stream
    >>> data = MarginMixture(d=100, alpha=4.0, beta=0.5, mu=0.3)
    >>> certified_draws(stream(0, "example"), data, N=10, delta=0.1, b=50.0, draws=3)
    {'certified': 3}
    """
    certified = 0
    for _ in range(draws):
        trained = _trained(rng, data, N, delta, b, steps=0)
        worst = worst_margins(
            None, trained.memory, trained.train.x, trained.train.y, delta, trained.unit_of_point
        )
        certified += bool((worst.least > 0).all())
    return {"certified": certified}


def wide_window(rng: Generator, data: MarginMixture, N: int, delta: float) -> Numbers:
    """Return the share of training points without a certificate (`robust_train_bound`), and the
    share that attacks misclassify, after the modified training with b = δ√d/(2√2), our threshold
    for large radii: some b serves small margins in the limit d → ∞ if and only if δ < √(d/2).

    >>> from adversarium.rng import stream
    >>> data = MarginMixture(d=400, alpha=400.0, beta=0.5, mu=0.2)
    >>> wide_window(stream(0, "example"), data, N=10, delta=4.0)["robust_train_bound"]
    0.0
    """
    b = delta * math.sqrt(data.d / 8)
    trained = _trained(rng, data, N, delta, b, steps=0)
    train, memory, own = trained.train, trained.memory, trained.unit_of_point
    network = MixedLearner(m=len(memory.w), b=b)

    def f(z: Tensor) -> Tensor:
        return network.f(memory.weights, z)

    found = worst_margins(f, memory, train.x, train.y, delta, own).found
    least = certified_margins(memory, train.x, train.y, delta, own)
    return {"robust_train": _share(found <= 0), "robust_train_bound": _share(least <= 0)}


_SHARES = tuple(i / 20 for i in range(31))  # values of b/d


def best_threshold(
    rng: Generator,
    data: MarginMixture,
    N: int,
    delta: float,
    shares: tuple[float, ...] = _SHARES,
    steps: int = 400,
) -> Numbers:
    """Return the smallest share of training points that attacks misclassify over b = 0, 0.05 d, …,
    and the b that attains it. Theorem 4.2 of CGRM leaves b unspecified.

    >>> from adversarium.rng import stream
    >>> data = MarginMixture(d=100, alpha=4.0, beta=0.5, mu=0.3)
    >>> best_threshold(stream(0, "example"), data, N=6, delta=1.0, shares=(0.0, 0.5), steps=20)
    {'robust_train': 0.0, 'best_b': 50.0}
    """
    errors = []
    trained = _trained(rng, data, N, delta, 0.0, steps)
    for share in shares:
        b = share * data.d
        memory = Memory(trained.memory.w_0, trained.memory.w, trained.memory.a, b)
        network = MixedLearner(m=len(memory.w), b=b)

        def f(z: Tensor, net: MixedLearner = network, W: Memory = memory) -> Tensor:
            return net.f(W.weights, z)

        worst = worst_margins(
            f, memory, trained.train.x, trained.train.y, delta, trained.unit_of_point
        )
        errors.append(_share(worst.found <= 0))
    least = min(errors)
    return {"robust_train": least, "best_b": shares[errors.index(least)] * data.d}


def _linear_part(
    Z: Float[Tensor, "n d"], delta: float, steps: int, eta: float
) -> Float[Tensor, " d"]:
    """Return w_0/‖w_0‖₂ after FGSM training from 0 on Z_i = y_i x_i, §4 of CGRM."""
    w_0 = torch.zeros(Z.shape[-1]).double()
    for _ in range(steps):
        w_0 = linear_step(w_0, Z, delta, eta, log=True)
    unit: Tensor = w_0 / w_0.norm()
    return unit


def _fresh_errors(
    rng: Generator, f: Classifier, memory: Memory, data: MarginMixture, delta: float, fresh: int
) -> dict[str, float]:
    """Return clean and robust errors on fresh small-margin, large-margin and mixed points."""
    errors: dict[str, float] = {}
    no_unit = torch.full((fresh,), -1)
    for name, mu in (("small", 1.0), ("large", 0.0)):
        test = MarginMixture(d=data.d, alpha=data.alpha, beta=data.beta, mu=mu).sample(fresh, rng)
        worst = worst_margins(f, memory, test.x, test.y, delta, no_unit)
        errors[f"clean_{name}"] = _error(f, test.x, test.y)
        errors[f"robust_{name}"] = _share(worst.found <= 0)
        errors[f"robust_{name}_bound"] = _share(worst.least <= 0)
    for kind in ("clean", "robust"):
        small, large = errors[f"{kind}_small"], errors[f"{kind}_large"]
        errors[f"{kind}_test"] = data.mu * small + (1 - data.mu) * large
    return errors


def generic_training(
    rng: Generator,
    N: int,
    d: int = 20,
    alpha: float = 3.0,
    beta: float = 0.02,
    delta: float = 0.3,
    fresh: int = 20_000,
) -> Numbers:
    """f̂ = φ + (1 − φ)f, the modified training of Theorem 6.2 of CGRM, with margins spread over [β,
    α].

    The clean network f̂_clean is the max-margin direction. φ consists of indicators of balls around
    the training points on which an attack of radius δ succeeds. f is trained adversarially on the
    other points; we use its limit, their max-margin direction w (Lemma B.2 of CGRM).
    `adversarial_train` is the robust training error that attacks find, and
    `adversarial_train_bound` the share of points without a certificate. A point is certified if the
    classes are more than 2δ apart, so no ball of the other class is reached, and the point is
    memorised or has ⟨w, y x⟩ > δ.

    >>> from adversarium.rng import stream
    >>> numbers = generic_training(stream(0, "example"), N=20, d=4, fresh=10)
    >>> numbers["adversarial_train"]  # correct in all balls
    0.0
    """
    data = MarginMixture(d=d, alpha=alpha, beta=beta, spread=True)
    train, test = data.sample(N, rng), data.sample(fresh, rng)
    Z = train.y[:, None] * train.x
    u, _ = max_margin(Z)
    small = Z @ u <= delta
    w, _ = max_margin(Z[~small])
    pairs = torch.cdist(train.x[train.y > 0], train.x[train.y < 0])
    R = float(pairs.min())
    balls = Balls(x=train.x[small], y=train.y[small], delta=delta, R=R, p=2)

    def f(z: Tensor) -> Tensor:
        return balls.f_adv(lambda x: (x @ w)[..., None], z)

    wrong = train.y * f(train.x) <= 0
    ends = train.x - delta * train.y[:, None] * w  # the points of the balls that are worst for f
    for moved in (ends, *(_on_sphere(train.x, delta, rng) for _ in range(20))):
        wrong = wrong | (train.y * f(moved) <= 0)
    safe = (small | (Z @ w > delta)) & (2 * delta < R)
    return {
        "clean_error": _error(f, test.x, test.y),
        "clean_error_before": _error(lambda z: z @ u, test.x, test.y),
        "clean_train": _error(f, train.x, train.y),
        "adversarial_train": _share(wrong),
        "adversarial_train_bound": _share(~safe),
        "memorised": _share(small),
        "turned": float((w - u).norm()),
    }


def _on_sphere(x: Float[Tensor, "n d"], delta: float, rng: Generator) -> Float[Tensor, "n d"]:
    """Return one random point on the sphere of radius δ around every x."""
    direction = normal(x.shape, rng)
    length: Tensor = direction.norm(dim=1, keepdim=True)
    return x + delta * direction / length
