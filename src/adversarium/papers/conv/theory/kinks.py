"""Suprema over all weights of the last layer of CONV's deep ReLU network within B(R).

Given x⁽ᴴ⁻¹⁾, the pre-activations z_j of the last layer are independent N(0, 2|x⁽ᴴ⁻¹⁾|²/m). Moving
W⁽ᴴ⁾ by at most R/√m changes z by any e with |e| ≤ η = (R/√m)|x⁽ᴴ⁻¹⁾|. Suprema over e are knapsack
problems or have a concave dual. For H = 1 this covers the entire network.
"""

import math

import torch
from torch import Generator, Tensor

from adversarium.rng import normal
from adversarium.sockets import Numbers

from .relu_norms import chi2, drawn_norms


def most_flips(z: Tensor, eta: float) -> int:
    """Return the largest number of units whose sign a change |e| ≤ η can flip.

    >>> most_flips(torch.tensor([3.0, -1.0, 2.0]), 2.5)
    2
    """
    cost = z.square().sort().values.cumsum(0)
    return int((cost <= eta**2).sum())


def largest_jump(z: Tensor, a: Tensor, eta: float) -> tuple[float, float]:
    """max (Σ_S a_j²)^{1/2} over sets S with Σ_S z_j² ≤ η²: a lower and an upper bound.

    The lower bound takes units greedily by |z|/|a|; the upper bound adds the next unit entirely.

    >>> largest_jump(torch.tensor([1.0, 1.0, 9.0]), torch.tensor([2.0, 1.0, 9.0]), 1.2)[0]
    2.0
    """
    order = (z.abs() / a.abs()).argsort()
    cost, gain = z[order].square().cumsum(0), a[order].square().cumsum(0)
    count = int((cost <= eta**2).sum())
    low = float(gain[count - 1]) if count else 0.0
    high = float(gain[count]) if count < len(gain) else low
    return math.sqrt(low), math.sqrt(high)


def largest_linearisation_error(z: Tensor, a: Tensor, eta: float) -> tuple[float, float]:
    """max over |e| ≤ η of Σ_{a_j > 0} a_j(|e_j| − |z_j|)₊: a lower and an upper bound.

    This is the largest positive linearisation error; −a gives the largest negative one. The lower
    bound is the value of a feasible e, the upper bound that of the dual problem.

    >>> low, high = largest_linearisation_error(torch.tensor([0.0]), torch.tensor([2.0]), 0.5)
    >>> low, round(high, 9)
    (1.0, 1.0)
    """
    a, size = _contributing_units(z, a, eta)
    if eta == 0 or not len(a):
        return 0.0, 0.0

    def dual(l: float) -> float:
        return l * eta**2 + float((a.square() / (4 * l) - a * size).clamp_min(0).sum())

    # The dual is convex in l, so a golden-section search on log l finds its minimum.
    low, high = -30.0, 30.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(90):
        one, two = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, two) if dual(math.exp(one)) < dual(math.exp(two)) else (one, high)
    l = math.exp((low + high) / 2)
    taken = a / (4 * l) > size  # units whose contribution to the dual is positive
    if not taken.any():
        return 0.0, dual(l)
    e = eta * a[taken] / a[taken].norm()  # along a, which is optimal on these units
    return float((a[taken] * (e - size[taken]).clamp_min(0)).sum()), dual(l)


def _contributing_units(z: Tensor, a: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """Return a and |z| of the units with a > 0 that can contribute, in order of |z|/a.

    At the optimum the dual variable is l, a unit contributes if |z|/a < 1/(4l), and all of these
    together must satisfy |e| ≤ η. The result has one more unit than these.
    """
    keep = a > 0
    a, size = a[keep], z[keep].abs()
    order = (size / a).argsort()
    ratios, gains = (size / a)[order], a[order].square().cumsum(0)
    # At the optimum e = a/(2l) on the units with |z|/a < 1/(4l), of norm √(Σa²)/(2l) ≤ η.
    feasible = 2 * ratios * gains.sqrt() <= eta
    count = int(feasible.sum()) + 1
    return a[order[:count]], size[order[:count]]


def kink_suprema(
    rng: Generator, m: int, R: float, H: int = 1, delta: float = 0.0, d: int = 2
) -> Numbers:
    """Return suprema over the last layer in B(R), each divided by its published order without H.

    If `delta` > 0, the input may also move by delta·R/√m; the suprema are then upper bounds (H =
    1). τ = (1 + delta)R/√m. A name with `logs` has √log m in the order as well, as published.

    - `flips`: the number of sign changes, divided by mτ^{2/3}.
    - `jump`: the change of the gradient, divided by τ^{1/3}√m; `jump, gap`: the relative difference
      between its upper and lower bound.
    - `back`: the change of the back-product, divided by τ^{1/3}√m.
    - `bend`: the linearisation error from W⁽⁰⁾, divided by (R/√m)(mR)^{1/3}; `bend, bound`: its
      upper bound; `error`: the undivided error.
    - `edge`: the linearisation error at W₂ near a W₁ on the edge of B(R), divided by
      |W₂ − W₁|(mR)^{1/3}.
    - `gate`: τH⁶(log m)³, which the lemmas assume to be small.

    >>> from adversarium.rng import stream
    >>> numbers = kink_suprema(stream(0, "example"), m=4096, R=0.1)
    >>> 0.8 < numbers["flips"] < 1.2
    True
    """
    x = float(drawn_norms(m, H - 1, 1, rng)[0][-1, 0])
    z = math.sqrt(2 / m) * x * normal((m,), rng)
    a = normal((m,), rng)
    step = R / math.sqrt(m)
    eta, tau = step * x, step * (1 + delta)
    wider_eta = eta + delta * step * _input_gain(m, d, rng) if delta else eta
    flips, (jump, jump_bound) = most_flips(z, wider_eta), largest_jump(z, a, wider_eta)
    on = a * (z >= 0)
    drift = float(on.norm()) * 2.5 * delta * step if delta else 0.0  # |Da|·‖A‖₂·δ, ‖A‖₂ ≤ 2.5
    # Given z, W⁽ᴴ⁾ is random except along x: |Wᵀv|² = (⟨z, v⟩/|x|)² + (2/m)|v|²χ²_{m−1}.
    order = (z.abs() / a.abs()).argsort()
    flipped = order[: int((z[order].square().cumsum(0) <= wider_eta**2).sum())]
    across = float((z[flipped] * a[flipped]).sum()) / x
    spread = float(2 / m * chi2(torch.tensor([m - 1.0]), rng))
    back = math.sqrt(across**2 + spread * jump**2) + step * float(a.norm())
    bends = [largest_linearisation_error(z, sign * a, eta) for sign in (1.0, -1.0)]
    bend, bound = max(low for low, _ in bends), max(high for _, high in bends)
    edge = max(largest_jump(z[keep], a[keep], eta)[0] for keep in (a > 0, a < 0)) * x
    logs = math.sqrt(math.log(m))
    cube = tau ** (1 / 3) * math.sqrt(m)
    bend_order = step * (m * R) ** (1 / 3)
    return {
        "flips": flips / (m * tau ** (2 / 3)),
        "jump": (jump * x + drift) / cube,
        "jump, logs": (jump * x + drift) / (cube * logs),
        "jump, gap": (jump_bound - jump) / max(jump, 1e-300),
        "back": back / cube,
        "back, logs": back / (cube * logs),
        "bend": bend / bend_order,
        "bend, logs": bend / (bend_order * logs),
        "bend, bound": bound / bend_order,
        "error": bend,
        "edge": edge / (m * R) ** (1 / 3),
        "edge, logs": edge / ((m * R) ** (1 / 3) * logs),
        "gate": tau * H**6 * math.log(m) ** 3,
    }


def _input_gain(m: int, d: int, rng: Generator) -> float:
    """Draw ‖W⁽⁰⁾A‖₂: given A, the rows of W⁽⁰⁾A are N(0, (2/m)AᵀA)."""
    A = math.sqrt(2 / m) * normal((m, d), rng)
    root = torch.linalg.cholesky(A.T @ A)
    return float(torch.linalg.matrix_norm(math.sqrt(2 / m) * normal((m, d), rng) @ root.T, 2))


def kinks_over_circle(rng: Generator, m: int, R: float, angles: int = 200) -> Numbers:
    """Return the largest linearisation error over x on a circle (d = 2, H = 1) and W in B(R).

    It is divided by its order (R/√m)(mR)^{1/3}. All x share one draw of W⁽⁰⁾A.

    >>> from adversarium.rng import stream
    >>> 0.4 < kinks_over_circle(stream(0, "example"), m=512, R=0.1, angles=20)["bend"] < 2
    True
    """
    A = math.sqrt(2 / m) * normal((m, 2), rng)
    G = math.sqrt(2 / m) * normal((m, 2), rng) @ torch.linalg.cholesky(A.T @ A).T  # W⁽⁰⁾A
    a, step, largest = normal((m,), rng), R / math.sqrt(m), 0.0
    for i in range(angles):
        turn = 2 * math.pi * i / angles
        x = torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
        z, eta = G @ x, step * float((A @ x).norm())
        largest = max(
            largest, *(largest_linearisation_error(z, sign * a, eta)[0] for sign in (1.0, -1.0))
        )
    return {"bend": largest / (step * (m * R) ** (1 / 3))}
