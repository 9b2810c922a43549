"""RNRF's assumptions as inequalities between numbers."""

import math

from adversarium.plans.gates import Gate


def two_feature_assumptions(
    *,
    k: int,
    d: int,
    P: int,
    n_robust: int,
    alpha: float,
    beta: float,
    sigma_n: float,
    n: int,
    eta: float,
    m: int,
    q: int,
    rho: float,
    sigma0: float,
    eps: float | None = None,
    step: float | None = None,
    tau: float = 3.0,
    much: float = 2.0,
) -> tuple[Gate, ...]:
    """Return the inequalities of Assumptions 2.3 and B.3 of RNRF, and three that the proofs need.

    The three: training has a polynomial stage, a robust classifier exists, and the attack does not
    stop the growth of the weights. ≫ and ≪ stand for a factor of at least `much`, Θ(1) for one of
    at most 4, and polylog(d) for at most log³d; η̃ (`step`) is the attack's step size per point.
    poly(d) stands for d at least. Without noise, one point per class is the population (§5 of
    RNRF), and N is no hypothesis.

    >>> sizes = dict(k=2, d=100, P=16, n_robust=1, alpha=2.0, beta=1.0, sigma_n=0.1, n=200)
    >>> gates = two_feature_assumptions(**sizes, eta=0.01, m=10, q=3, rho=0.2, sigma0=0.1)
    >>> print(gates[0])
    2.3, strength: α/β = 2, required ≥ 2: yes
    """
    log_d, root = math.log(d), math.sqrt(d)
    start = math.sqrt(2 * math.log(max(m, 2))) * sigma0  # largest of m normal variables, Lemma D.3
    gates = [
        Gate("2.3, strength: α/β", alpha / beta, much),
        Gate("2.3, density: Σ_NR β^τ/Σ_R α^τ",
                   (P - n_robust) * beta**tau / (n_robust * alpha**tau), much),
        Gate("2.3, noise: β/(σ_n√d)", beta / (sigma_n * root), 0.25, 4.0)
        if sigma_n
        else Gate("no noise: σ_n", 0.0, 0.0, 0.0),
        Gate("B.3: d/(2k)", d / (2 * k), much),
        Gate("B.3: σ0·√d", sigma0 * root, 0.25, 4.0),
        Gate("B.3: m/log³d", m / log_d**3, 0.0, 1.0),
        *((Gate("B.3: N/d", n / d, 1.0),) if sigma_n else ()),
        Gate("B.3: q", q, 3.0, tau),
        Gate("B.3: ϱ·log d", rho * log_d, 0.25, 4.0),
        Gate("B.3: η·d", eta * d, 0.0, 1.0),
        Gate("polynomial stage: ϱ/(max(α, β)·max_r⟨w⁽⁰⁾, f⟩)",
             rho / (max(alpha, beta) * start) if start else math.inf, 1.0, printed=False),
    ]  # fmt: skip
    if eps is not None:
        gates += [
            Gate("B.3: α/ε", alpha / eps, much),
            Gate("B.3: ε/β", eps / beta, 1.0),
            Gate("room for a robust classifier: α/(2ε)", alpha / (2 * eps), 1.0, printed=False),
        ]
    if step:
        gates += [
            Gate("B.3: c₀ = log η̃/log d", math.log(step) / log_d, 0.0, 1.0),
            Gate("growth not choked: 1/(η̃ d σ0²)/max_r⟨w⁽⁰⁾, f⟩",
                 1 / (step * d * sigma0**2 * start) if sigma0 else math.inf, much, printed=False),
        ]  # fmt: skip
    return tuple(gates)
