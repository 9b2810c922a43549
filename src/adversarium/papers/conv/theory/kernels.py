"""Neural tangent kernels of CONV's two-layer network, Def. 5.1 of CONV.

On the sphere K(x, y) = r·κ(r) with r = ⟨x, y⟩ and κ(r) = E[s'(u)s'(v)] for standard normal u, v of
correlation r. This module computes κ in closed form and by integration, and the parity of K.
"""

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
    """κ(r) = E[s'(u)s'(v)], Def. 5.1 of CONV.

    It is computed in closed form, by a power series (shifted smoothed ReLU) or by integration.

    >>> [round(float(kappa(s, np.array([1.0]))[0]), 4) for s in (ReLU(), QuadraticReLU(), Erf())]
    [0.5, 2.0, 0.5694]
    """
    values: np.ndarray
    match activation:
        case ReLU():
            values = (np.pi - np.arccos(r)) / (2 * np.pi)
        case QuadraticReLU():
            values = 2 / np.pi * (np.sqrt(1 - r**2) + r * (np.pi - np.arccos(r)))
        case SmoothedReLU(b=b):
            values = 0.25 + np.arcsin(b**2 * r / (1 + b**2)) / (2 * np.pi)
        case Erf():
            values = 4 / (np.pi * np.sqrt(9 - 4 * r**2))
        case Shifted():
            values = np.polynomial.Polynomial(shifted_series(activation))(r)
        case _:
            values = integral(activation, r)
    return values


def shifted_series(activation: Shifted, terms: int = 400) -> np.ndarray:
    """Return the power series of κ for s' = Φ(b(z − c)).

    Its coefficients are the squared Hermite coefficients of s', by He_{k−1} at c/√(1 + b⁻²).
    """
    scale = math.sqrt(1 + activation.b**-2)
    h, share = activation.c / scale, 1 / scale**2
    before, now = 0.0, 1.0  # He_{k−1}(h)/√(k−1)!; the scaling avoids overflow
    density = math.exp(-(h**2) / 2) / math.sqrt(2 * math.pi)
    series = [float(torch.special.ndtr(torch.tensor(-h).double())) ** 2]
    for k in range(1, terms):
        series.append((density * now) ** 2 / k * share**k)
        before, now = now, (h * now - math.sqrt(k - 1) * before) / math.sqrt(k)
    return np.array(series)


def integral(activation: Any, r: np.ndarray, nodes: int = 240) -> np.ndarray:
    """κ(r) by numerical integration.

    For the ReLUs, whose slopes are homogeneous, the integral runs over the circle. For smooth
    slopes it uses Gauss–Hermite nodes in two dimensions.
    """
    if isinstance(activation, (ReLU, QuadraticReLU)):
        return np.array([_on_circle(activation, float(v)) for v in np.atleast_1d(r)])
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = weight / math.sqrt(2 * math.pi)
    values = []
    for v in np.atleast_1d(r):
        second = v * x[:, None] + math.sqrt(max(1 - v**2, 0.0)) * x
        slopes = [activation.slope(torch.from_numpy(z)).numpy() for z in (x, second)]
        values.append(float(weight * slopes[0] @ slopes[1] @ weight))
    return np.array(values)


def _on_circle(activation: Any, r: float) -> float:
    """E[s'(u)s'(v)] as an integral over the angle of (u, v); both slopes are positive on an arc."""
    angle = math.acos(max(-1.0, min(1.0, r)))
    x, weight = np.polynomial.legendre.leggauss(40)
    half = (math.pi - angle) / 2
    turn = half * x + angle / 2  # |turn| < π/2 and |turn − angle| < π/2
    power = 1 if isinstance(activation, QuadraticReLU) else 0
    both = (np.cos(turn) * np.cos(turn - angle)) ** power
    radius = 8.0 if power else 1.0  # E R² · 2² for slopes 2z₊
    return float(radius * half * (weight @ both) / (2 * math.pi))


def kernel_forms(rng: Generator, activation: Any, m: int = 64, draws: int = 2000) -> Numbers:
    """Compare the closed form of κ with its integral, and K with the kernel of a finite network.

    - `off`: the largest difference between the closed form of κ and its integral.
    - `bias`: the mean of the finite-width kernel over draws minus K, in standard errors.
    - `spread`: the variance of the finite-width kernel divided by Var(s's')⟨x, y⟩²/(m/2). There are
      m/2 independent units because units come in pairs of equal weights.

    >>> from adversarium.rng import stream
    >>> numbers = kernel_forms(stream(0, "example"), SmoothedReLU(b=2.0), m=8, draws=200)
    >>> numbers["off"] < 1e-8 and abs(numbers["bias"]) < 4
    True
    """
    r = np.linspace(-0.95, 0.95, 39)
    difference = float(np.abs(kappa(activation, r) - integral(activation, r)).max())
    x = torch.tensor([[1.0, 0.0], [math.cos(0.7), math.sin(0.7)]], dtype=torch.float64)
    w = normal((draws, m // 2, 2), rng)
    slopes = activation.slope(w @ x.T)
    product = slopes[..., 0] * slopes[..., 1] * math.cos(0.7)
    finite = product.mean(1)  # 2/m Σ over m/2 pairs
    exact = math.cos(0.7) * float(kappa(activation, np.array([math.cos(0.7)]))[0])
    error = float(finite.std()) / math.sqrt(draws)
    spread = float(finite.var()) / (float(product.var()) / (m / 2))
    return {"off": difference, "bias": (float(finite.mean()) - exact) / error, "spread": spread}


def parities(rng: Generator, activation: Any) -> Numbers:
    """Measure whether the even or odd part of K is a polynomial; for a universal K neither is.

    - `odd − linear`, `even − r²`, `even`: the largest |odd part − its linear term|, |even part −
      r²| and |even part| of K over r.
    - `whole`: 1 if none of these vanishes, else 0.

    >>> from adversarium.rng import stream
    >>> numbers = parities(stream(0, "example"), QuadraticReLU())
    >>> numbers["even − r²"] < 1e-14, numbers["whole"]
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
    """Expand K in zonal harmonics of degree k on the sphere of R^d.

    - `coefficients`: the coefficient of K for each degree k.
    - `norms`: for odd degrees k, the norm of the harmonic in the RKHS of K, divided by k^s, which
      bounds its derivatives; s = (d + 3)/2.

    >>> from adversarium.rng import stream
    >>> numbers = harmonics(stream(0, "example"), QuadraticReLU(), d=2, most=7)
    >>> [round(c, 4) for c in numbers["coefficients"].values[:5]]
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
            # three-term recursion in the degree, P_k(1) = 1
            before, now = now, ((2 * k + d - 4) * t * now - (k - 1) * before) / (k + d - 3)
            P = now
        coefficient = float((measure * K * P).sum())
        coefficients.append(coefficient if abs(coefficient) > 1e-13 else 0.0)
        if k % 2 and k > 1:
            square = float((measure * P**2).sum())  # |P|² in L²
            size = square / max(coefficient, 1e-300)  # |P|² in the RKHS
            norms.append(math.sqrt(size) / k ** ((d + 3) / 2))
    degrees = tuple(float(k) for k in range(most + 1))
    odd = tuple(float(k) for k in range(3, most + 1, 2))
    return {
        "coefficients": Along("k", degrees, tuple(coefficients)),
        "norms": Along("k", odd, tuple(norms)),
    }


def even_points(count: int, d: int) -> tuple[Tensor, Tensor]:
    """Return `count` equally spaced points of a circle in R^d with labels (−1)^k.

    Antipodes have equal labels if count/2 is even, and opposite labels if it is odd.
    """
    turn = torch.arange(count).double() * 2 * math.pi / count
    x = torch.zeros(count, d, dtype=torch.float64)
    x[:, 0], x[:, 1] = torch.cos(turn), torch.sin(turn)
    return x, 1 - 2 * (torch.arange(count) % 2).double()


def parity_floor(rng: Generator, m: int, d: int, tries: int = 20) -> Numbers:
    """Bound from below the loss of quadratic ReLU networks at 8 points kπ/4 with labels (−1)^k.

    Σ_k y_k f(W, x_k) = 0 for all W and a, so by Jensen's inequality the loss is at least ℓ(0, 1).

    - `sum`: the largest |Σ_k y_k f(W, x_k)|/Σ|f| over random W and a, which is a rounding error.
    - `floor`: the lower bound on the loss, reduced by the rounding error `sum`.
    - `least`: the smallest loss of the random networks.
    - `sets`: their smallest robust loss if the four points of each label form one perturbation set.
    - `descent`: the smallest robust loss of a descent against the exact attack on these sets.

    >>> from adversarium.rng import stream
    >>> numbers = parity_floor(stream(0, "example"), m=16, d=3, tries=3)
    >>> numbers["sum"] < 1e-12, round(numbers["floor"], 4)
    (True, 0.4142)
    """
    x, y = even_points(8, d)
    s = QuadraticReLU()
    largest, least, sets = 0.0, math.inf, math.inf
    for _ in range(tries):
        W, a = normal((m, d), rng), 10 ** float(normal((), rng)) * normal((m,), rng)
        f = s(x @ W.T) @ a / math.sqrt(m)
        largest = max(largest, abs(float((y * f).sum())) / float(f.abs().sum()))
        loss = pseudo_huber(f, y)
        least = min(least, float(loss.mean()))
        sets = min(sets, float((loss[::2].max() + loss[1::2].max()) / 2))
    floor = math.sqrt(1 + (1 - largest) ** 2) - 1
    return {"sum": largest, "floor": floor, "least": least, "sets": sets,
            "descent": _descent_on_sets(rng, m, x, y)}  # fmt: skip


def _descent_on_sets(rng: Generator, m: int, x: Tensor, y: Tensor, steps: int = 200) -> float:
    """Return the smallest L_A of a descent with α = 0.05 against the exact attack.

    There are two examples; the perturbation set of each consists of all points of one label.
    """
    network = TwoLayer(m=m, activation=QuadraticReLU())
    W, least = network.init(rng, (x.shape[1],), 1), math.inf

    def loss(W: Tensor) -> Tensor:
        losses = pseudo_huber(network.f(W, x), y)
        return (losses[::2].max() + losses[1::2].max()) / 2

    for _ in range(steps):
        g, value = torch.func.grad_and_value(loss)(W)
        least, W = min(least, float(value)), W - 0.05 * g
    return least


def gram(activation: Any, x: Tensor) -> np.ndarray:
    """Return the matrix of K at unit vectors; inner products near ±1 become exactly ±1."""
    r = (x @ x.T).numpy()
    r = np.where(np.abs(r) > 1 - 1e-12, np.sign(r), r)
    K: np.ndarray = r * kappa(activation, r.ravel()).reshape(r.shape)
    return K


def lifted_gram(rng: Generator, activation: Any, n: int, d: int, lift: float = 1.0) -> Numbers:
    """Test whether the Gram matrix of K is positive definite at lifted points.

    The data are n points of the sphere of R^d, half of them antipodes of the others, mapped to [x,
    lift]/√(1 + lift²).

    - `least`: the smallest eigenvalue. `quotient`: its ratio to the rounding error n·10⁻¹⁵.

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


def trained_on_one_label(
    rng: Generator, m: int, steps: int = 400, d: int = 5, n: int = 4, members: int = 16
) -> Numbers:
    """Return the smallest robust loss of a descent on data of one label, against the exact attack.

    Each of the n perturbation sets consists of points anywhere on the sphere of R^d. The network
    has quadratic ReLUs; α = 0.05.

    >>> from adversarium.rng import stream
    >>> trained_on_one_label(stream(0, "example"), m=64)["robust"] < 0.1
    True
    """
    network = TwoLayer(m=m, activation=QuadraticReLU())
    x = torch.nn.functional.normalize(normal((n * members, d), rng), dim=1)
    y, W, least = torch.ones(len(x), dtype=torch.float64), network.init(rng, (d,), 1), math.inf

    def loss(W: Tensor) -> Tensor:
        return pseudo_huber(network.f(W, x), y).view(n, members).amax(1).mean()

    for _ in range(steps):
        g, value = torch.func.grad_and_value(loss)(W)
        least = min(least, float(value))
        W = W - 0.05 * g
    return {"robust": least}


def unreachable(rng: Generator, activation: Any, points: int) -> Numbers:
    """Bound from below the error of functions in the RKHS at points of a circle, labels (−1)^k.

    - `left`: the largest |(K y)_k|.
    - `error`: 1 if K y = 0, because every g in the RKHS then errs by at least |⟨y, y⟩|/|y|₁ = 1 at
      some point; 0 otherwise, because this gives no bound.

    >>> from adversarium.rng import stream
    >>> unreachable(stream(0, "example"), QuadraticReLU(), points=8)["error"]
    1.0
    """
    x, y = even_points(points, 2)
    K = gram(activation, x)
    largest = float(np.abs(K @ y.numpy()).max())
    return {"left": largest, "error": 1.0 if largest < 1e-12 else 0.0}


PARITIES = {"even": 8, "odd": 6}  # number of points of a circle with labels (−1)^k


def trained_parities(
    rng: Generator, activation: Any, m: int, alpha: float, lifted: float, steps: int = 3000
) -> Numbers:
    """Return the loss after descent on points whose antipodes all have equal or opposite labels.

    `even`: eight points of a circle whose antipodes have equal labels; `odd`: six whose antipodes
    have opposite labels. The step size is `alpha` at the points themselves and `lifted` at the
    points lifted to [x, 1]/√2 (`even, lifted` and `odd, lifted`).

    >>> from adversarium.rng import stream
    >>> numbers = trained_parities(stream(0, "example"), QuadraticReLU(), 64, 0.05, 0.2, steps=20)
    >>> round(numbers["even"], 5), numbers["odd"] < 0.41
    (0.41421, True)
    """
    numbers = {}
    for name, count in PARITIES.items():
        x, y = even_points(count, 2)
        lift = torch.cat([x, torch.ones_like(x[:, :1])], 1) / math.sqrt(2)
        numbers[name] = _final_loss(rng, activation, m, x, y, alpha, steps)
        numbers[f"{name}, lifted"] = _final_loss(rng, activation, m, lift, y, lifted, steps)
    return numbers


def _final_loss(
    rng: Generator, activation: Any, m: int, x: Tensor, y: Tensor, alpha: float, steps: int
) -> float:
    """Return the last training loss of a network whose units start in cancelling pairs (f = 0)."""
    network = TwoLayer(m=m, activation=activation)
    W = network.init(rng, (x.shape[1],), 1)

    def loss(W: Tensor) -> Tensor:
        return pseudo_huber(network.f(W, x), y).mean()

    for _ in range(steps):
        W = W - alpha * torch.func.grad(loss)(W)
    return float(loss(W))
