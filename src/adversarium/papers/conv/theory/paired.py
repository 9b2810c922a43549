"""Two-layer networks with paired units, eq. (4) of CONV: gradients, curvature and losses at any W.

Each inequality of App. B of CONV is tested by making its left side as large as possible.
"""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, normal, uniform
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber

from .relu_norms import on_sphere

FAR = 1e4  # a label so large that the loss has slope 1


def paired_start(m: int, d: int, rng: Generator, sphere: bool = False) -> tuple[Tensor, Tensor]:
    """Return the weights W_0 and the output signs a, with the units in random order.

    Units come in pairs of equal weights with signs a_r and −a_r. The weights are standard normal,
    or uniform on the sphere of radius √d (footnote 13 of CONV) if `sphere`.

    >>> from adversarium.rng import stream
    >>> W, a = paired_start(6, 3, stream(0, "example"))
    >>> tuple(W.shape), float(a.sum())
    ((6, 3), 0.0)
    """
    half = normal((m // 2, d), rng)
    if sphere:
        half = math.sqrt(d) * torch.nn.functional.normalize(half, dim=1)
    a = coins((m // 2,), rng)
    order = torch.randperm(m, generator=rng)
    return torch.cat([half, half])[order], torch.cat([a, -a])[order]


def output(activation: Any, W: Tensor, a: Tensor, x: Tensor) -> Tensor:
    """f(W, x) = m^{−1/2} Σ_r a_r s(⟨w_r, x⟩), eq. (4) of CONV; one number per point."""
    f: Tensor = activation(x @ W.T) @ a / math.sqrt(len(a))
    return f


def gradient(activation: Any, W: Tensor, a: Tensor, x: Tensor) -> Tensor:
    """∇_W f(W, x) = m^{−1/2} diag(a) s'(Wx) xᵀ at one point, App. B of CONV."""
    return torch.outer(a * activation.slope(W @ x), x) / math.sqrt(len(a))


def steepest(activation: Any) -> float:
    """Return the z at which s' is steepest, to an accuracy of 1e-3.

    >>> from adversarium.networks import Shifted
    >>> round(steepest(Shifted(b=4.0, c=0.5)), 2)
    0.5
    """
    z = torch.arange(-4.0, 4.0, 1e-3, dtype=torch.float64)
    steep = (activation.slope(z + 1e-3) - activation.slope(z)).abs()
    return float(z[int(steep.argmax())] + 5e-4)


def vanishing_start(rng: Generator, activation: Any, m: int, d: int) -> Numbers:
    """max |f(W_0, x)|/√m over 50 points, which is 0 by footnote 6 of CONV; units in random order.

    >>> from adversarium.networks import Softplus
    >>> from adversarium.rng import stream
    >>> vanishing_start(stream(0, "example"), Softplus(), m=8, d=2)["f"] < 1e-14
    True
    """
    W, a = paired_start(m, d, rng)
    x = torch.nn.functional.normalize(normal((50, d), rng), dim=1)
    return {"f": float(output(activation, W, a, x).abs().max()) / math.sqrt(m)}


def gradient_formula(rng: Generator, activation: Any, m: int, d: int) -> Numbers:
    """Compare the gradient formula of App. B of CONV with two other methods; relative errors.

    - `autograd`: automatic differentiation.
    - `difference`: a central difference along a random direction.

    >>> from adversarium.networks import Tanh
    >>> from adversarium.rng import stream
    >>> errors = gradient_formula(stream(0, "example"), Tanh(), m=8, d=2)
    >>> errors["autograd"] < 1e-12, errors["difference"] < 1e-7
    (True, True)
    """
    W, a, x = normal((m, d), rng), coins((m,), rng), on_sphere(d, rng)
    formula = gradient(activation, W, a, x)
    automatic = torch.func.grad(lambda V: output(activation, V, a, x))(W)
    direction = normal((m, d), rng)
    direction = 1e-5 * direction / direction.norm()
    ends = [float(output(activation, W + sign * direction, a, x)) for sign in (1, -1)]
    error = abs((ends[0] - ends[1]) / 2 - float((formula * direction).sum())) / 1e-5
    size = float(formula.norm())
    return {"autograd": float((formula - automatic).norm()) / size, "difference": error / size}


def gradient_lipschitz(rng: Generator, activation: Any, m: int, d: int, tries: int = 60) -> Numbers:
    """|∇f(W) − ∇f(W')|_F √m/(C2|W − W'|_F), which App. B of CONV bounds by 1.

    - `largest`: the largest value over random pairs of weights, near and far.
    - `sharp`: the value if all rows move along x from the steepest point of s'; nearly 1.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = gradient_lipschitz(stream(0, "example"), SmoothedReLU(b=2.0), m=8, d=2)
    >>> numbers["largest"] <= 1, 0.99 < numbers["sharp"] <= 1
    (True, True)
    """
    a, largest = coins((m,), rng), 0.0

    def quotient(W: Tensor, V: Tensor, x: Tensor) -> float:
        change = gradient(activation, W, a, x) - gradient(activation, V, a, x)
        return float(change.norm() * math.sqrt(m) / (activation.C2 * (W - V).norm()))

    for _ in range(tries):
        W, x = 2 * normal((m, d), rng), on_sphere(d, rng)
        move = 10 ** float(3 * uniform((), rng) - 2) * normal((m, d), rng)
        largest = max(largest, quotient(W, W + move, x))
    x, z, e = on_sphere(d, rng), steepest(activation), 1e-3
    W = normal((m, d), rng)
    W = W - torch.outer(W @ x, x) + (z - e / 2) * x
    return {"largest": largest, "sharp": quotient(W, W + e * x, x)}


def reversed_step(rng: Generator, activation: Any, m: int, d: int, step: float) -> Numbers:
    """Return the constant that eq. (14) of CONV would need as published, with ⟨∇l(W), W − W'⟩.

    At W' = W − t∇l(W), t = `step`, it is (right side without last term − left side)·√m/|W − W'|².

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> reversed_step(stream(0, "example"), SmoothedReLU(), m=16, d=2, step=1e-3)["constant"] > 1e3
    True
    """
    W, a, x = normal((m, d), rng), coins((m,), rng), on_sphere(d, rng)

    def loss(V: Tensor) -> Tensor:
        return pseudo_huber(output(activation, V, a, x), torch.tensor(FAR).double())

    g = torch.func.grad(loss)(W)
    V = W - step * g
    defect = float(step * g.square().sum() - (loss(V) - loss(W)))
    return {"constant": defect * math.sqrt(m) / float((V - W).square().sum())}


def curvature_pairs(rng: Generator, activation: Any, m: int, d: int, tries: int = 60) -> Numbers:
    """(l(W) + ⟨∇l(W), W' − W⟩ − l(W'))·2√m/(C2|W' − W|²), eq. (14) of CONV corrected, Lip = 1.

    - `largest`: the largest value over random pairs of weights and random labels.
    - `sharp`: the value if one unit moves along x from the steepest point of s' and the label is
      very large; nearly 1.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = curvature_pairs(stream(0, "example"), SmoothedReLU(b=2.0), m=8, d=2)
    >>> numbers["largest"] <= 1, 0.95 < numbers["sharp"] <= 1 + 1e-6
    (True, True)
    """
    a = coins((m,), rng)

    def quotient(W: Tensor, V: Tensor, x: Tensor, y: Tensor) -> float:
        def loss(U: Tensor) -> Tensor:
            return pseudo_huber(output(activation, U, a, x), y)

        g, value = torch.func.grad_and_value(loss)(W)
        defect = value + (g * (V - W)).sum() - loss(V)
        return float(defect * 2 * math.sqrt(m) / (activation.C2 * (V - W).square().sum()))

    largest = -math.inf
    for _ in range(tries):
        W, x = 2 * normal((m, d), rng), on_sphere(d, rng)
        move = 10 ** float(3 * uniform((), rng) - 2) * normal((m, d), rng)
        y = 10 ** float(4 * uniform((), rng)) * coins((), rng)
        largest = max(largest, quotient(W, W + move, x, y))
    x, z = on_sphere(d, rng), steepest(activation)
    W = normal((m, d), rng)
    W = W - torch.outer(W @ x, x) + z * x
    V = W.clone()
    V[0] += 0.05 * x
    sides = [quotient(W, V, x, torch.tensor(sign * FAR).double()) for sign in (1.0, -1.0)]
    return {"largest": largest, "sharp": max(sides)}


def gradient_sizes(
    rng: Generator, activation: Any, m: int, share: float, r: float, sphere: bool = False
) -> Numbers:
    """Test eq. (15) of CONV on weights within r√m of W_0, with d = share·m.

    - `quotient`: the largest |∇l|/(|l'|(|s'(0)| + C2|Wx|/√m)) found.
    - `one x`, `all x`: for the quadratic ReLU, the exact supremum of |∇f| over these weights at one
      x, and an upper bound over all x; means over max(1, 4096/m) starts.

    >>> from adversarium.networks import QuadraticReLU
    >>> from adversarium.rng import stream
    >>> numbers = gradient_sizes(stream(0, "example"), QuadraticReLU(), m=64, share=0.25, r=1.0)
    >>> numbers["quotient"] <= 1, 2 < numbers["one x"] < numbers["all x"]
    (True, True)
    """
    d, sqrt_m = max(2, round(share * m)), math.sqrt(m)
    quotient, one, every = 0.0, [], []
    for _ in range(max(1, 4096 // m)):
        W0, a = paired_start(m, d, rng, sphere)
        x = on_sphere(d, rng)
        along = torch.relu(W0 @ x)
        for direction in (normal((m, d), rng), torch.outer(along / along.norm(), x)):
            W = W0 + r * sqrt_m * direction / direction.norm()
            bound = activation.slope(x[:1] * 0).abs() + activation.C2 * (W @ x).norm() / sqrt_m
            quotient = max(quotient, float(gradient(activation, W, a, x).norm() / bound))
        one.append(2 * (float(along.norm()) / sqrt_m + r))
        top = torch.linalg.eigvalsh(W0.T @ W0)[-1].sqrt()
        every.append(2 * (float(top) / sqrt_m + r))
    return {
        "quotient": quotient,
        "one x": sum(one) / len(one),
        "all x": sum(every) / len(every),
    }


def spectral_not_frobenius(rng: Generator, m: int) -> Numbers:
    """Compare spectral and Frobenius balls, footnote 10 of CONV.

    - `Frobenius`, `spectral`: |D|_F and |D|₂, divided by R/√m, for D = (R/√m)·Q with Q orthogonal.
      D lies in the spectral ball of the footnote, but outside the Frobenius ball.
    - `largest`: the largest |D|₂/|D|_F of random matrices of several ranks.

    >>> from adversarium.rng import stream
    >>> norms = spectral_not_frobenius(stream(0, "example"), m=16)
    >>> round(norms["spectral"], 6), round(norms["Frobenius"], 6), norms["largest"] <= 1 + 1e-12
    (1.0, 4.0, True)
    """
    Q = torch.linalg.qr(normal((m, m), rng)).Q
    largest = 0.0
    for rank in (1, 2, m):
        D = normal((m, rank), rng) @ normal((rank, m), rng)
        largest = max(largest, float(torch.linalg.matrix_norm(D, 2) / D.norm()))
    spectral = float(torch.linalg.matrix_norm(Q, 2))
    return {"spectral": spectral, "Frobenius": float(Q.norm()), "largest": largest}
