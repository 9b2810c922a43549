"""Two-layer networks with paired units, eq. (4) of CONV: gradients, curvature and losses for any
weights; how large both sides of its inequalities can be made."""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, normal, uniform
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.relu_norms import on_sphere

FAR = 1e4  # a label so far away that the loss has slope 1


def paired_start(m: int, d: int, rng: Generator, sphere: bool = False) -> tuple[Tensor, Tensor]:
    """W_0 and a, the units in random order: equal weights in pairs, with signs a_r and −a_r;
    normal weights, or uniform on the sphere of radius √d (footnote 13).

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
    """f(W, x) = m^{−1/2} Σ_r a_r s(⟨w_r, x⟩) as it stands, one number a point."""
    f: Tensor = activation(x @ W.T) @ a / math.sqrt(len(a))
    return f


def gradient(activation: Any, W: Tensor, a: Tensor, x: Tensor) -> Tensor:
    """∇_W f(W, x) = m^{−1/2} diag(a) s'(Wx) xᵀ of one point, App. B of CONV."""
    return torch.outer(a * activation.slope(W @ x), x) / math.sqrt(len(a))


def steepest(activation: Any) -> float:
    """Where s' is steepest, to 1e-3.

    >>> from adversarium.networks import Shifted
    >>> round(steepest(Shifted(b=4.0, c=0.5)), 2)
    0.5
    """
    z = torch.arange(-4.0, 4.0, 1e-3, dtype=torch.float64)
    steep = (activation.slope(z + 1e-3) - activation.slope(z)).abs()
    return float(z[int(steep.argmax())] + 5e-4)


def vanishing_start(rng: Generator, activation: Any, m: int, d: int) -> Numbers:
    """max |f(W_0, x)|/√m over 50 points, the sum taken in random order: footnote 6 of CONV.

    >>> from adversarium.networks import Softplus
    >>> from adversarium.rng import stream
    >>> vanishing_start(stream(0, "example"), Softplus(), m=8, d=2)["f"] < 1e-14
    True
    """
    W, a = paired_start(m, d, rng)
    x = torch.nn.functional.normalize(normal((50, d), rng), dim=1)
    return {"f": float(output(activation, W, a, x).abs().max()) / math.sqrt(m)}


def gradient_formula(rng: Generator, activation: Any, m: int, d: int) -> Numbers:
    """The formula of App. B of CONV against automatic differentiation, and against a central
    difference along a random direction; relative.

    >>> from adversarium.networks import Tanh
    >>> from adversarium.rng import stream
    >>> told = gradient_formula(stream(0, "example"), Tanh(), m=8, d=2)
    >>> told["autograd"] < 1e-12, told["difference"] < 1e-7
    (True, True)
    """
    W, a, x = normal((m, d), rng), coins((m,), rng), on_sphere(d, rng)
    told = gradient(activation, W, a, x)
    automatic = torch.func.grad(lambda V: output(activation, V, a, x))(W)
    way = normal((m, d), rng)
    way = 1e-5 * way / way.norm()
    ends = [float(output(activation, W + sign * way, a, x)) for sign in (1, -1)]
    off = abs((ends[0] - ends[1]) / 2 - float((told * way).sum())) / 1e-5
    size = float(told.norm())
    return {"autograd": float((told - automatic).norm()) / size, "difference": off / size}


def gradient_lipschitz(rng: Generator, activation: Any, m: int, d: int, tries: int = 60) -> Numbers:
    """|∇f(W) − ∇f(W')|_F √m/(C2|W − W'|_F), App. B of CONV: the largest of random pairs near and
    far, and that of rows at the steepest point of s' moved along x (`sharp`).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = gradient_lipschitz(stream(0, "example"), SmoothedReLU(b=2.0), m=8, d=2)
    >>> told["largest"] <= 1, 0.99 < told["sharp"] <= 1
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
    """The constant that eq. (14) of CONV needs as printed, with ⟨∇l(W), W − W'⟩, at W' = W −
    t∇l(W): (right side without its last term − left side)·√m/|W − W'|².

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
    lost = float(step * g.square().sum() - (loss(V) - loss(W)))
    return {"constant": lost * math.sqrt(m) / float((V - W).square().sum())}


def curvature_pairs(rng: Generator, activation: Any, m: int, d: int, tries: int = 60) -> Numbers:
    """(l(W) + ⟨∇l(W), W' − W⟩ − l(W'))·2√m/(C2|W' − W|²), eq. (14) of CONV corrected, Lip = 1: the
    largest of random pairs and labels, and that of one unit at the steepest point of s' moved along
    x, the label far away (`sharp`).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = curvature_pairs(stream(0, "example"), SmoothedReLU(b=2.0), m=8, d=2)
    >>> told["largest"] <= 1, 0.95 < told["sharp"] <= 1 + 1e-6
    (True, True)
    """
    a = coins((m,), rng)

    def quotient(W: Tensor, V: Tensor, x: Tensor, y: Tensor) -> float:
        def loss(U: Tensor) -> Tensor:
            return pseudo_huber(output(activation, U, a, x), y)

        g, at = torch.func.grad_and_value(loss)(W)
        lost = at + (g * (V - W)).sum() - loss(V)
        return float(lost * 2 * math.sqrt(m) / (activation.C2 * (V - W).square().sum()))

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
    """Eq. (15) of CONV: |∇l| over |l'|(|s'(0)| + C2|Wx|/√m), the largest of weights within r√m of
    W_0 (`quotient`); and, for the quadratic ReLU, the exact supremum of |∇f| over that ball, at one
    x and a bound at all x; d = share·m. The last two are means over max(1, 4096/m) starts.

    >>> from adversarium.networks import QuadraticReLU
    >>> from adversarium.rng import stream
    >>> told = gradient_sizes(stream(0, "example"), QuadraticReLU(), m=64, share=0.25, r=1.0)
    >>> told["quotient"] <= 1, 2 < told["one x"] < told["all x"]
    (True, True)
    """
    d, size = max(2, round(share * m)), math.sqrt(m)
    quotient, one, every = 0.0, [], []
    for _ in range(max(1, 4096 // m)):
        W0, a = paired_start(m, d, rng, sphere)
        x = on_sphere(d, rng)
        along = torch.relu(W0 @ x)
        for way in (normal((m, d), rng), torch.outer(along / along.norm(), x)):
            W = W0 + r * size * way / way.norm()
            bound = activation.slope(x[:1] * 0).abs() + activation.C2 * (W @ x).norm() / size
            quotient = max(quotient, float(gradient(activation, W, a, x).norm() / bound))
        one.append(2 * (float(along.norm()) / size + r))
        top = torch.linalg.eigvalsh(W0.T @ W0)[-1].sqrt()
        every.append(2 * (float(top) / size + r))
    return {
        "quotient": quotient,
        "one x": sum(one) / len(one),
        "all x": sum(every) / len(every),
    }


def spectral_not_frobenius(rng: Generator, m: int) -> Numbers:
    """|D|_F and |D|₂ over R/√m for D = (R/√m)·Q, Q orthogonal: in the spectral ball of footnote 10
    of CONV; and the largest |D|₂/|D|_F of random matrices of any rank.

    >>> from adversarium.rng import stream
    >>> told = spectral_not_frobenius(stream(0, "example"), m=16)
    >>> round(told["spectral"], 6), round(told["Frobenius"], 6), told["largest"] <= 1 + 1e-12
    (1.0, 4.0, True)
    """
    Q = torch.linalg.qr(normal((m, m), rng)).Q
    largest = 0.0
    for rank in (1, 2, m):
        D = normal((m, rank), rng) @ normal((rank, m), rng)
        largest = max(largest, float(torch.linalg.matrix_norm(D, 2) / D.norm()))
    spectral = float(torch.linalg.matrix_norm(Q, 2))
    return {"spectral": spectral, "Frobenius": float(Q.norm()), "largest": largest}
