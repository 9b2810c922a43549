"""Tangent kernels of CONV's two-layer network: K(x, y) = r·κ(r), r = ⟨x, y⟩ on the sphere,
κ(r) = E[s'(u)s'(v)] for normal u, v of correlation r; closed forms, integrals, parities."""

import math
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.networks import Erf, QuadraticReLU, ReLU, Shifted, SmoothedReLU, TwoLayer
from adversarium.rng import normal
from adversarium.sockets import Along, Numbers
from adversarium.training.objectives import pseudo_huber


def kappa(activation: Any, r: np.ndarray) -> np.ndarray:
    """κ(r) of CONV's Def. 5.1, in closed form (a series for the shifted smoothed ReLU), or by an
    integral where there is none.

    >>> [round(float(kappa(s, np.array([1.0]))[0]), 4) for s in (ReLU(), QuadraticReLU(), Erf())]
    [0.5, 2.0, 0.5694]
    """
    made: np.ndarray
    match activation:
        case ReLU():
            made = (np.pi - np.arccos(r)) / (2 * np.pi)
        case QuadraticReLU():
            made = 2 / np.pi * (np.sqrt(1 - r**2) + r * (np.pi - np.arccos(r)))
        case SmoothedReLU(b=b):
            made = 0.25 + np.arcsin(b**2 * r / (1 + b**2)) / (2 * np.pi)
        case Erf():
            made = 4 / (np.pi * np.sqrt(9 - 4 * r**2))
        case Shifted():
            made = np.polynomial.Polynomial(shifted_series(activation))(r)
        case _:
            made = integral(activation, r)
    return made


def shifted_series(activation: Shifted, terms: int = 400) -> np.ndarray:
    """The power series of κ for s' = Φ(b(z − c)): all coefficients are squares, of the Hermite
    polynomials at c over a scale."""
    scale = math.sqrt(1 + activation.b**-2)
    h, share = activation.c / scale, 1 / scale**2
    before, now = 0.0, 1.0  # He_{k−1}(h)/√(k−1)!, scaled so that nothing overflows
    density = math.exp(-(h**2) / 2) / math.sqrt(2 * math.pi)
    series = [float(torch.special.ndtr(torch.tensor(-h).double())) ** 2]
    for k in range(1, terms):
        series.append((density * now) ** 2 / k * share**k)
        before, now = now, (h * now - math.sqrt(k - 1) * before) / math.sqrt(k)
    return np.array(series)


def integral(activation: Any, r: np.ndarray, nodes: int = 240) -> np.ndarray:
    """κ(r) without any closed form: on the circle for the ReLUs, whose slopes are homogeneous, by
    Gauss–Hermite nodes in two dimensions for smooth slopes."""
    if isinstance(activation, (ReLU, QuadraticReLU)):
        return np.array([_on_circle(activation, float(v)) for v in np.atleast_1d(r)])
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = weight / math.sqrt(2 * math.pi)
    made = []
    for v in np.atleast_1d(r):
        second = v * x[:, None] + math.sqrt(max(1 - v**2, 0.0)) * x
        slopes = [activation.slope(torch.from_numpy(z)).numpy() for z in (x, second)]
        made.append(float(weight * slopes[0] @ slopes[1] @ weight))
    return np.array(made)


def _on_circle(activation: Any, r: float) -> float:
    """E[s'(u)s'(v)] by the angle of (u, v): both slopes are positive on an arc."""
    angle = math.acos(max(-1.0, min(1.0, r)))
    x, weight = np.polynomial.legendre.leggauss(40)
    half = (math.pi - angle) / 2
    turn = half * x + angle / 2  # |turn| < π/2 and |turn − angle| < π/2
    power = 1 if isinstance(activation, QuadraticReLU) else 0
    both = (np.cos(turn) * np.cos(turn - angle)) ** power
    radius = 8.0 if power else 1.0  # E R² · 2² for slopes 2z₊
    return float(radius * half * (weight @ both) / (2 * math.pi))


def kernel_forms(rng: Generator, activation: Any, m: int = 64, draws: int = 2000) -> Numbers:
    """The closed κ against its integral (the largest difference), and the kernel of a network of
    width m at its start: its mean over draws less K in standard errors, and its variance over
    Var(s's')⟨x, y⟩²/(m/2): pairs of units are copies.

    >>> from adversarium.rng import stream
    >>> told = kernel_forms(stream(0, "example"), SmoothedReLU(b=2.0), m=8, draws=200)
    >>> told["off"] < 1e-8 and abs(told["bias"]) < 4
    True
    """
    r = np.linspace(-0.95, 0.95, 39)
    off = float(np.abs(kappa(activation, r) - integral(activation, r)).max())
    x = torch.tensor([[1.0, 0.0], [math.cos(0.7), math.sin(0.7)]], dtype=torch.float64)
    w = normal((draws, m // 2, 2), rng)
    slopes = activation.slope(w @ x.T)
    product = slopes[..., 0] * slopes[..., 1] * math.cos(0.7)
    finite = product.mean(1)  # 2/m Σ over m/2 pairs
    exact = math.cos(0.7) * float(kappa(activation, np.array([math.cos(0.7)]))[0])
    error = float(finite.std()) / math.sqrt(draws)
    spread = float(finite.var()) / (float(product.var()) / (m / 2))
    return {"off": off, "bias": (float(finite.mean()) - exact) / error, "spread": spread}


def parities(rng: Generator, activation: Any) -> Numbers:
    """What the parity of K leaves out: the largest |odd part − its linear term|, |even part − r²|
    and |even part| of K over r; `whole`: 1 where none of these vanishes, which a universal K needs.

    >>> from adversarium.rng import stream
    >>> told = parities(stream(0, "example"), QuadraticReLU())
    >>> told["even − r²"] < 1e-14, told["whole"]
    (True, 0.0)
    """
    r = np.linspace(0.05, 0.95, 60)
    plus, minus = r * kappa(activation, r), -r * kappa(activation, -r)
    odd, even = (plus - minus) / 2, (plus + minus) / 2
    linear = odd[0] / r[0]
    numbers = {
        "odd − linear": float(np.abs(odd - linear * r).max()),
        "even − r²": float(np.abs(even - r**2).max()),
        "even": float(np.abs(even).max()),
    }
    return {**numbers, "whole": float(min(numbers.values()) > 1e-6)}


def harmonics(rng: Generator, activation: Any, d: int, most: int = 41) -> Numbers:
    """Coefficients of K in zonal harmonics of degree k on the sphere of R^d, by k; and, of odd
    degrees, the norm in the kernel's space of a harmonic over the bound k^s of its derivatives,
    s = (d + 3)/2.

    >>> from adversarium.rng import stream
    >>> told = harmonics(stream(0, "example"), QuadraticReLU(), d=2, most=7)
    >>> [round(c, 4) for c in told["coefficients"].values[:5]]
    [0.5, 0.4503, 0.25, 0.0468, 0.0]
    """
    angle, weight = np.polynomial.legendre.leggauss(500)
    angle, weight = (angle + 1) * math.pi / 2, weight * math.pi / 2
    t = np.cos(angle)
    measure = weight * np.sin(angle) ** (d - 2)
    measure = measure / measure.sum()
    K = t * kappa(activation, t)
    coefficients, norms = [], []
    before, now = np.ones_like(t), t
    for k in range(most + 1):
        P = np.ones_like(t) if k == 0 else now
        if k > 1:
            # degrees by their recursion, P_k(1) = 1
            before, now = now, ((2 * k + d - 4) * t * now - (k - 1) * before) / (k + d - 3)
            P = now
        coefficient = float((measure * K * P).sum())
        coefficients.append(coefficient if abs(coefficient) > 1e-13 else 0.0)
        if k % 2 and k > 1:
            square = float((measure * P**2).sum())  # |P|² in L²
            size = square / max(coefficient, 1e-300)  # |P|²_H: one direction of its degree
            norms.append(math.sqrt(size) / k ** ((d + 3) / 2))
    degrees = tuple(float(k) for k in range(most + 1))
    odd = tuple(float(k) for k in range(3, most + 1, 2))
    return {
        "coefficients": Along("k", degrees, tuple(coefficients)),
        "norms": Along("k", odd, tuple(norms)),
    }


def even_points(count: int, d: int) -> tuple[Tensor, Tensor]:
    """Points kπ/(count/2) of a circle in R^d, labels (−1)^k: antipodes have equal labels where
    count/2 is even."""
    turn = torch.arange(count).double() * 2 * math.pi / count
    x = torch.zeros(count, d, dtype=torch.float64)
    x[:, 0], x[:, 1] = torch.cos(turn), torch.sin(turn)
    return x, 1 - 2 * (torch.arange(count) % 2).double()


def parity_floor(rng: Generator, m: int, d: int, tries: int = 20) -> Numbers:
    """Σ_k y_k f(W, x_k) of the quadratic ReLU at the 8 points kπ/4, labels (−1)^k: the largest over
    random W and outputs a, relative to Σ|f|; and the floor that it puts under the loss, by Jensen
    ℓ(0, 1); the smallest loss over the tries and over two sets of four points (exact attack), and
    the smallest that a descent against that attack meets (`descent`).

    >>> from adversarium.rng import stream
    >>> told = parity_floor(stream(0, "example"), m=16, d=3, tries=3)
    >>> told["sum"] < 1e-12, round(told["floor"], 4)
    (True, 0.4142)
    """
    x, y = even_points(8, d)
    s = QuadraticReLU()
    worst, least, sets = 0.0, math.inf, math.inf
    for _ in range(tries):
        W, a = normal((m, d), rng), 10 ** float(normal((), rng)) * normal((m,), rng)
        f = s(x @ W.T) @ a / math.sqrt(m)
        worst = max(worst, abs(float((y * f).sum())) / float(f.abs().sum()))
        loss = pseudo_huber(f, y)
        least = min(least, float(loss.mean()))
        sets = min(sets, float((loss[::2].max() + loss[1::2].max()) / 2))
    floor = math.sqrt(1 + (1 - worst) ** 2) - 1
    return {"sum": worst, "floor": floor, "least": least, "sets": sets,
            "descent": _descent_on_sets(rng, m, x, y)}  # fmt: skip


def _descent_on_sets(rng: Generator, m: int, x: Tensor, y: Tensor, steps: int = 200) -> float:
    """The smallest L_A of a descent (α = 0.05) on two examples whose sets are the points of one
    label each, against the exact attack."""
    network = TwoLayer(m=m, activation=QuadraticReLU())
    W, least = network.init(rng, (x.shape[1],), 1), math.inf

    def loss(W: Tensor) -> Tensor:
        each = pseudo_huber(network.f(W, x), y)
        return (each[::2].max() + each[1::2].max()) / 2

    for _ in range(steps):
        g, value = torch.func.grad_and_value(loss)(W)
        least, W = min(least, float(value)), W - 0.05 * g
    return least


def gram(activation: Any, x: Tensor) -> np.ndarray:
    """The kernel's matrix at unit vectors; ±1 exactly where they agree."""
    r = (x @ x.T).numpy()
    r = np.where(np.abs(r) > 1 - 1e-12, np.sign(r), r)
    K: np.ndarray = r * kappa(activation, r.ravel()).reshape(r.shape)
    return K


def lifted_gram(rng: Generator, activation: Any, n: int, d: int, lift: float = 1.0) -> Numbers:
    """The smallest eigenvalue of the Gram matrix of K at n points of the sphere of R^d, half of
    them antipodes of the others, after the lift [x, lift]/√(1 + lift²); over rounding, n·10⁻¹⁵.

    >>> from adversarium.rng import stream
    >>> lifted_gram(stream(0, "example"), QuadraticReLU(), n=4, d=2)["quotient"] > 1
    True
    """
    half = torch.nn.functional.normalize(normal((n // 2, d), rng), dim=1)
    x = torch.cat([half, -half])
    x = torch.cat([x, torch.full((len(x), 1), lift, dtype=torch.float64)], dim=1)
    x = x / x.norm(dim=1, keepdim=True)
    K = gram(activation, x)
    least = float(np.linalg.eigvalsh(K)[0])
    return {"least": least, "quotient": least / (1e-15 * n)}


def trained_on_one_label(rng: Generator, m: int, steps: int = 400) -> Numbers:
    """Gradient descent of the quadratic ReLU network (α = 0.05) on four points of one label: the
    smallest loss on the way.

    >>> from adversarium.rng import stream
    >>> trained_on_one_label(stream(0, "example"), m=64)["least"] < 0.05
    True
    """
    network = TwoLayer(m=m, activation=QuadraticReLU())
    x = torch.nn.functional.normalize(normal((4, 2), rng), dim=1)
    W = network.init(rng, (2,), 1)
    least = math.inf

    def loss(W: Tensor) -> Tensor:
        return pseudo_huber(network.f(W, x), torch.ones(4, dtype=torch.float64)).mean()

    for _ in range(steps):
        g, value = torch.func.grad_and_value(loss)(W)
        least = min(least, float(value))
        W = W - 0.05 * g
    return {"least": least}


def unreachable(rng: Generator, activation: Any, points: int) -> Numbers:
    """How much every g of the kernel's space errs somewhere on `points` of a circle with labels
    (−1)^k: |⟨v, y⟩|/|v|₁ for v = y, where K v = 0; 0 where it is not.

    >>> from adversarium.rng import stream
    >>> unreachable(stream(0, "example"), QuadraticReLU(), points=8)["error"]
    1.0
    """
    x, y = even_points(points, 2)
    K = gram(activation, x)
    left = float(np.abs(K @ y.numpy()).max())
    return {"left": left, "error": 1.0 if left < 1e-12 else 0.0}


PARITIES = {"even": 8, "odd": 6}  # points of a circle with labels (−1)^k


def trained_parities(
    rng: Generator, activation: Any, m: int, alpha: float, lifted: float, steps: int = 3000
) -> Numbers:
    """The loss after descent on data of one parity, by data: eight points of a circle whose
    antipodes agree ("even"), six whose antipodes differ ("odd"); at the points themselves with
    steps α, and lifted to [x, 1]/√2 with steps `lifted`.

    >>> from adversarium.rng import stream
    >>> told = trained_parities(stream(0, "example"), QuadraticReLU(), 64, 0.05, 0.2, steps=20)
    >>> round(told["even"], 5), told["odd"] < 0.41
    (0.41421, True)
    """
    told = {}
    for name, count in PARITIES.items():
        x, y = even_points(count, 2)
        lift = torch.cat([x, torch.ones_like(x[:, :1])], 1) / math.sqrt(2)
        told[name] = _fitted(rng, activation, m, x, y, alpha, steps)
        told[f"{name}, lifted"] = _fitted(rng, activation, m, lift, y, lifted, steps)
    return told


def _fitted(
    rng: Generator, activation: Any, m: int, x: Tensor, y: Tensor, alpha: float, steps: int
) -> float:
    """The last loss of a descent of the paired network."""
    network = TwoLayer(m=m, activation=activation)
    W = network.init(rng, (x.shape[1],), 1)

    def loss(W: Tensor) -> Tensor:
        return pseudo_huber(network.f(W, x), y).mean()

    for _ in range(steps):
        W = W - alpha * torch.func.grad(loss)(W)
    return float(loss(W))
