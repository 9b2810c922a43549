"""Random features c·x relu(⟨w, x⟩) of the quadratic ReLU: Lemma C.2 and Theorem C.1 of CONV.

The weights w are uniform on the sphere of radius √d.
"""

import math

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.networks import QuadraticReLU
from adversarium.rng import normal
from adversarium.sockets import Numbers

from .features import drawn_sections
from .kernels import gram

CHUNK = 4096  # number of features computed at a time


def on_radius(M: int, d: int, rng: Generator) -> Tensor:
    """Draw M weights uniformly on the sphere of radius √d."""
    return math.sqrt(d) * torch.nn.functional.normalize(normal((M, d), rng), dim=1)


def sphere_rule(d: int, n: int = 0) -> tuple[Tensor, Tensor]:
    """Return nodes and weights of a quadrature of the uniform law on S^{d−1}, d = 2, 3, 4.

    The quadrature is exact for polynomials of degree at most 2n − 1.

    >>> x, p = sphere_rule(4, 6)
    >>> round(float(p.sum()), 9), round(float(p @ x[:, 0] ** 4), 9)  # 3/(d(d + 2))
    (1.0, 0.125)
    """
    n = n or {2: 64, 3: 12, 4: 8}[d]
    turn = torch.arange(2 * n, dtype=torch.float64) * math.pi / n
    x = torch.stack([turn.cos(), turn.sin()], -1)
    p = torch.full((2 * n,), 0.5 / n, dtype=torch.float64)
    for k in range(3, d + 1):  # adds an axis whose coordinate has density ∝ (1 − z²)^{(k − 3)/2}
        if k == 3:
            nodes, weights = np.polynomial.legendre.leggauss(n)
        else:
            angle = np.arange(1, n + 1) * np.pi / (n + 1)
            nodes, weights = np.cos(angle), np.sin(angle) ** 2
        z, share = torch.from_numpy(nodes), torch.from_numpy(weights / weights.sum())
        wide = (1 - z**2).sqrt()[:, None, None] * x
        x = torch.cat([wide, z[:, None, None].expand(-1, len(x), 1)], -1).flatten(0, 1)
        p = (share[:, None] * p).flatten()
    return x, p


def ridge_features(
    rng: Generator, d: int, eps: float, delta: float = 0.01, draws: int = 1
) -> Numbers:
    """Test Lemma C.2 of CONV for all h of norm at most 1 at once.

    There are M = log(1/(εδ))/ε features with ridge parameter λ = ε/4. Suprema over h are operator
    norms on a quadrature of the sphere.

    - `error²/ε`: the largest squared L2 error divided by ε.
    - `MΣ|c|²`: the largest MΣ|c_r|².
    - `kept`: the number of draws in which the squared error is at most ε for all h.
    - `M`: the number of features.

    >>> from adversarium.rng import stream
    >>> numbers = ridge_features(stream(0, "example"), d=2, eps=0.1)
    >>> numbers["kept"], numbers["error²/ε"] < 1
    (1.0, True)
    """
    x, p = sphere_rule(d)
    root = p.sqrt()[:, None] * p.sqrt()
    inner = x @ x.T
    K = root * torch.from_numpy(gram(QuadraticReLU(), x)) / 4  # kernel of the relu features
    values, vectors = torch.linalg.eigh(K)
    half = vectors * values.clamp_min(0).sqrt()  # Σ^½ up to a rotation
    M, lam = math.ceil(math.log(1 / (eps * delta)) / eps), eps / 4
    errors, norms = [], []
    for _ in range(draws):
        gates = torch.zeros_like(K)
        for first in range(0, M, CHUNK):
            active = torch.relu(x @ on_radius(min(CHUNK, M - first), d, rng).T)
            gates += active @ active.T
        G = root * inner * gates / M
        back = torch.linalg.solve(G + lam * torch.eye(len(x), dtype=G.dtype), half)
        errors.append(lam**2 * float(torch.linalg.matrix_norm(back, 2)) ** 2 / eps)
        norms.append(float(torch.linalg.eigvalsh(back.T @ G @ back)[-1]))
    return {
        "error²/ε": max(errors),
        "MΣ|c|²": max(norms),
        "kept": float(sum(one <= 1 for one in errors)),
        "M": float(M),
    }


def scaled_target(rng: Generator, d: int, size: float, eps: float = 0.1) -> Numbers:
    """Return a lower bound on MΣ|c_r|² for every Σ_r c_rᵀx ReLU(w_rᵀx) within ε of t·h, t = `size`.

    For |w_r| = √d and any M, |ĥ| ≤ √(Σ|c_r|² M d), so MΣ|c_r|² ≥ (t sup|h| − ε)²/d. h has five
    sections; its supremum is estimated by a lower bound.

    >>> from adversarium.rng import stream
    >>> small, large = (scaled_target(stream(0, "example"), 2, t) for t in (1.0, 10.0))
    >>> large["least MΣ|c|²"] > 50 * small["least MΣ|c|²"]
    True
    """
    h = drawn_sections(QuadraticReLU(), "any", d, rng)
    x = torch.nn.functional.normalize(normal((1000, d), rng), dim=1)
    top = size * float(h.h(x).abs().max())
    return {"least MΣ|c|²": max(top - eps, 0.0) ** 2 / d}


def uniform_errors(rng: Generator, M: int, d: int, draws: int = 1, places: int = 4000) -> Numbers:
    """Test Theorem C.1 of CONV with c_r = 2u(w_r)/M, whose mean is h; h has five sections.

    - `error`: sup |h − ĥ| over many points, the largest of all draws.
    - `MΣ|c|²/|h|²`: the mean over draws of MΣ|c_r|² divided by |h|². `|h|`: the norm of h.
    - `to the next` (on a circle): the largest change of the error from point to point/`error`.

    >>> from adversarium.rng import stream
    >>> numbers = uniform_errors(stream(0, "example"), M=256, d=2)
    >>> 0 < numbers["error"] < 2, 0.3 < numbers["MΣ|c|²/|h|²"] < 3
    (True, True)
    """
    h = drawn_sections(QuadraticReLU(), "any", d, rng)
    if d == 2:
        turn = torch.arange(places, dtype=torch.float64) * (2 * math.pi / places)
        x = torch.stack([turn.cos(), turn.sin()], -1)
    else:
        x = torch.nn.functional.normalize(normal((places, d), rng), dim=1)
    exact, squared_norm = h.h(x), h.norm() ** 2
    errors, norms, jumps = [], [], []
    for _ in range(draws):
        w = on_radius(M, d, rng)
        differences = h.sampled(w, x) - exact
        errors.append(float(differences.abs().max()))
        # c_r = 2u/M, and |h|² in the RKHS of K/4 is 4·squared_norm.
        norms.append(float(h.u(w).square().sum(-1).mean()) / squared_norm)
        jumps.append(float((differences - differences.roll(1)).abs().max()) / errors[-1])
    numbers = {
        "error": max(errors),
        "MΣ|c|²/|h|²": sum(norms) / draws,
        "|h|": 2 * math.sqrt(squared_norm),
    }
    return numbers | ({"to the next": max(jumps)} if d == 2 else {})
