"""What one layer of CONV's deep ReLU network can do within B(R), exactly: over all W at once.

Given x⁽ᴴ⁻¹⁾ the pre-activations z_j of the last layer are independent N(0, 2|x⁽ᴴ⁻¹⁾|²/m), and a
move of W⁽ᴴ⁾ by R/√m moves z by any e with |e| ≤ η = (R/√m)|x⁽ᴴ⁻¹⁾|. Suprema over e are knapsacks
and a concave dual; for H = 1 that is the whole network.
"""

import math

import torch
from torch import Generator, Tensor

from adversarium.rng import normal
from adversarium.sockets import Numbers
from adversarium.trials.relu_norms import chi2, drawn_norms


def most_flips(z: Tensor, eta: float) -> int:
    """The largest number of units that |e| ≤ η can take across zero.

    >>> most_flips(torch.tensor([3.0, -1.0, 2.0]), 2.5)
    2
    """
    spent = z.square().sort().values.cumsum(0)
    return int((spent <= eta**2).sum())


def largest_jump(z: Tensor, a: Tensor, eta: float) -> tuple[float, float]:
    """max (Σ_S a_j²)^{1/2} over sets S with Σ_S z_j² ≤ η²: greedy by |z|/|a|, and the bound with
    the next item whole.

    >>> largest_jump(torch.tensor([1.0, 1.0, 9.0]), torch.tensor([2.0, 1.0, 9.0]), 1.2)[0]
    2.0
    """
    order = (z.abs() / a.abs()).argsort()
    spent, gained = z[order].square().cumsum(0), a[order].square().cumsum(0)
    count = int((spent <= eta**2).sum())
    low = float(gained[count - 1]) if count else 0.0
    high = float(gained[count]) if count < len(gained) else low
    return math.sqrt(low), math.sqrt(high)


def largest_bend(z: Tensor, a: Tensor, eta: float) -> tuple[float, float]:
    """max over |e| ≤ η of Σ a_j(|e_j| − |z_j|)₊ over units with a_j > 0, the linearisation error of
    one sign: the value of a feasible e, and the dual's bound.

    >>> low, high = largest_bend(torch.tensor([0.0]), torch.tensor([2.0]), 0.5)
    >>> low, round(high, 9)
    (1.0, 1.0)
    """
    a, size = _near(z, a, eta)
    if eta == 0 or not len(a):
        return 0.0, 0.0

    def dual(l: float) -> float:
        return l * eta**2 + float((a.square() / (4 * l) - a * size).clamp_min(0).sum())

    # the dual is convex in l: golden section on log l
    low, high = -30.0, 30.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(90):
        one, two = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, two) if dual(math.exp(one)) < dual(math.exp(two)) else (one, high)
    l = math.exp((low + high) / 2)
    taken = a / (4 * l) > size  # where the dual's e = a/2l pays
    if not taken.any():
        return 0.0, dual(l)
    e = eta * a[taken] / a[taken].norm()  # the best on these units: along a
    return float((a[taken] * (e - size[taken]).clamp_min(0)).sum()), dual(l)


def _near(z: Tensor, a: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """a and |z| of the units with a > 0 that can take part, those of the smallest |z|/a: a unit
    pays where |z|/a < 1/4l, and one more than that many times spends more than η."""
    keep = a > 0
    a, size = a[keep], z[keep].abs()
    order = (size / a).argsort()
    ratios, gains = (size / a)[order], a[order].square().cumsum(0)
    # e = a/2l on the units with |z|/a < 1/4l has norm √(Σa²)/2l ≤ η at the optimum
    feasible = 2 * ratios * gains.sqrt() <= eta
    count = int(feasible.sum()) + 1
    return a[order[:count]], size[order[:count]]


def kink_suprema(
    rng: Generator, m: int, R: float, H: int = 1, delta: float = 0.0, d: int = 2
) -> Numbers:
    """Suprema over the last layer in B(R): flips, the gradient's jump, the change of the
    back-product, the linearisation error from W⁽⁰⁾, and the same for W₂ beside a W₁ on the edge of
    B(R); each over its printed order without H and with log m. `delta`·R/√m: how far x may move
    (bounds from above; H = 1).

    >>> from adversarium.rng import stream
    >>> told = kink_suprema(stream(0, "example"), m=4096, R=0.1)
    >>> 0.8 < told["flips"] < 1.2
    True
    """
    x = float(drawn_norms(m, H - 1, 1, rng)[0][-1, 0])
    z = math.sqrt(2 / m) * x * normal((m,), rng)
    a = normal((m,), rng)
    step = R / math.sqrt(m)
    eta, tau = step * x, step * (1 + delta)
    wide = eta + delta * step * _input_gain(m, d, rng) if delta else eta
    flips, (jump, most) = most_flips(z, wide), largest_jump(z, a, wide)
    on = a * (z >= 0)
    drift = float(on.norm()) * 2.5 * delta * step if delta else 0.0  # |Da|·‖A‖₂·δ, ‖A‖₂ ≤ 2.5
    # the last W⁽ᴴ⁾ is independent of the pattern but along x: |Wᵀv|² = (⟨z, v⟩/|x|)² + (2/m)|v|²χ²
    order = (z.abs() / a.abs()).argsort()
    flipped = order[: int((z[order].square().cumsum(0) <= wide**2).sum())]
    across = float((z[flipped] * a[flipped]).sum()) / x
    spread = float(2 / m * chi2(torch.tensor([m - 1.0]), rng))
    back = math.sqrt(across**2 + spread * jump**2) + step * float(a.norm())
    bends = [largest_bend(z, sign * a, eta) for sign in (1.0, -1.0)]
    bend, bound = max(low for low, _ in bends), max(high for _, high in bends)
    edge = max(largest_jump(z[keep], a[keep], eta)[0] for keep in (a > 0, a < 0)) * x
    logs = math.sqrt(math.log(m))
    cube = tau ** (1 / 3) * math.sqrt(m)
    size = step * (m * R) ** (1 / 3)
    return {
        "flips": flips / (m * tau ** (2 / 3)),
        "jump": (jump * x + drift) / cube,
        "jump, logs": (jump * x + drift) / (cube * logs),
        "jump, gap": (most - jump) / max(jump, 1e-300),
        "back": back / cube,
        "back, logs": back / (cube * logs),
        "bend": bend / size,
        "bend, logs": bend / (size * logs),
        "bend, bound": bound / size,
        "error": bend,
        "edge": edge / (m * R) ** (1 / 3),
        "edge, logs": edge / ((m * R) ** (1 / 3) * logs),
        "gate": tau * H**6 * math.log(m) ** 3,
    }


def _input_gain(m: int, d: int, rng: Generator) -> float:
    """‖W⁽⁰⁾A‖₂ drawn: given A the rows of W⁽⁰⁾A are N(0, (2/m)AᵀA)."""
    A = math.sqrt(2 / m) * normal((m, d), rng)
    root = torch.linalg.cholesky(A.T @ A)
    return float(torch.linalg.matrix_norm(math.sqrt(2 / m) * normal((m, d), rng) @ root.T, 2))


def kinks_over_circle(rng: Generator, m: int, R: float, angles: int = 200) -> Numbers:
    """The largest linearisation error over x on a circle (d = 2, H = 1) and W in B(R), over its
    order: one draw of W⁽⁰⁾A for all x.

    >>> from adversarium.rng import stream
    >>> 0.4 < kinks_over_circle(stream(0, "example"), m=512, R=0.1, angles=20)["bend"] < 2
    True
    """
    A = math.sqrt(2 / m) * normal((m, 2), rng)
    G = math.sqrt(2 / m) * normal((m, 2), rng) @ torch.linalg.cholesky(A.T @ A).T  # W⁽⁰⁾A
    a, step, most = normal((m,), rng), R / math.sqrt(m), 0.0
    for i in range(angles):
        turn = 2 * math.pi * i / angles
        x = torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
        z, eta = G @ x, step * float((A @ x).norm())
        most = max(most, *(largest_bend(z, sign * a, eta)[0] for sign in (1.0, -1.0)))
    return {"bend": most / (step * (m * R) ** (1 / 3))}
