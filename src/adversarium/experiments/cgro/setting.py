"""The identities and the small lemmas of CGRO (§3, §4.1, App. A): nothing is trained for long.

Paper: y f(X) = α³U + V, the transfer attack, the gradient's display, tensor-power and decay lemmas,
anti-concentration of a cubic form, Sauer's lemma.
Cost: quick 5 s (2 cores).
"""

import math

import torch

from adversarium.attacks.transfer import gta
from adversarium.data import PatchData
from adversarium.experiments import checks as rules
from adversarium.experiments.checks import at_most, identity, last
from adversarium.experiments.spec import Table, Trial
from adversarium.networks import CubicCNN
from adversarium.rng import normal, uniform

EPSILONS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)

quick = dict(seeds=5)
paper = dict(seeds=20)


def plan(d=60, P=4, n=12, m=5, gamma=0.9):
    if min(n, m, P - 1, d - 1) < 1:
        raise ValueError(f"needs n, m >= 1 and P, d >= 2, got n={n}, m={m}, P={P}, d={d}.")
    data = PatchData(d=d, P=P, alpha=2.0, sigma=0.3)
    parts = dict(data=data, n=n, m=m, gamma=gamma)
    yield Trial(label="identities", function=identities, parameters=parts)
    yield Trial(label="sequences", function=sequences)
    yield Trial(label="cubic form", function=cubic_form, parameters=dict(d=d, P=P, m=m))
    yield Trial(label="Sauer", function=sauer)


def identities(rng, data, n, m, gamma):
    """Errors of y f(X) = α³U + V and y f(X^adv) = α³(1 − γ)³U + V, of the attack's properties, and
    of the logistic loss's gradient as printed (no y_i on the noise patches) and with it."""
    network, batch = CubicCNN(m=m, sigma0=0.3), data.sample(n, rng)
    W = network.init(rng, data.shape, data.k)
    x_adv = gta(batch.x, batch.signal, gamma)
    rows = torch.arange(n)
    noise = torch.ones(n, data.P, dtype=torch.bool)
    noise[rows, batch.signal] = False
    G = batch.x[noise].view(n, data.P - 1, data.d)
    U = W[:, 0].pow(3).sum()
    V = batch.y * (G @ W.mT).pow(3).sum((1, 2))
    margins = batch.y * network.f(W, batch.x), batch.y * network.f(W, x_adv)
    claimed = data.alpha**3 * U + V, data.alpha**3 * (1 - gamma) ** 3 * U + V
    scale = V.abs().max() + data.alpha**3 * U.abs()
    moved = (x_adv - batch.x).flatten(1)
    shrunk = x_adv[rows, batch.signal] - (1 - gamma) * batch.x[rows, batch.signal]
    attack = torch.stack([
        moved.view(n, data.P, data.d)[noise].abs().max(),
        shrunk.abs().max(),
        (moved.norm(dim=-1) - gamma * data.alpha).abs().max(),
    ])  # fmt: skip
    with torch.enable_grad():
        w = W.clone().requires_grad_(True)
        loss = -torch.nn.functional.logsigmoid(batch.y * network.f(w, batch.x)).mean()
        (by_autograd,) = torch.autograd.grad(loss, w)
    psi = torch.sigmoid(-margins[0])
    signal = torch.zeros_like(W)
    signal[:, 0] = -3 * data.alpha**3 * psi.mean() * W[:, 0].square()
    weights = (G @ W.mT).square() * psi[:, None, None] * (-3 / n)  # (n, P − 1, m)
    printed = signal + torch.einsum("ijr,ijd->rd", weights, G)
    signed = signal + torch.einsum("i,ijr,ijd->rd", batch.y, weights, G)
    return {
        "decomposition": max(
            float((a - b).abs().max() / scale) for a, b in zip(margins, claimed, strict=True)
        ),
        "attack": float(attack.max()),
        "printed_gradient": float((printed - by_autograd).abs().max()),
        "signed_gradient": float((signed - by_autograd).abs().max()),
        "reduced": _reduced_error(rng, data, n, m, gamma),
    }


def _reduced_error(rng, data, n, m, gamma):
    """The largest difference of W between the reduced dynamics and autograd after 60 steps."""
    from adversarium.attacks import GTA
    from adversarium.training import Risk, Rule, Setting, engines

    seed = int(torch.randint(2**31, (), generator=rng))
    rule = Rule(n=n, steps=60, eta=0.02, risk=Risk(lam=0.37))
    setting = Setting(data, CubicCNN(m=m, sigma0=0.3), GTA(gamma=gamma), rule, (seed,))
    ends = {}
    for engine in engines.ENGINES:
        if engine.name in ("signal_noise", "full"):
            *_, ends[engine.name] = engine.states(setting)
    return float((ends["signal_noise"].W - ends["full"].W).abs().max())


def sequences(rng):
    """Lemmas A.1, A.2 and A.3 of CGRO on random sequences: the largest of time over bound, and of
    z_t A t."""
    first, second, third = [], [], []
    for _ in range(20):
        z0, v = 0.01 + 0.05 * float(uniform((), rng)), 1.0
        m = 0.02 + 0.1 * float(uniform((), rng))
        M = m * (1 + 3 * float(uniform((), rng)))
        z, t = z0, 0
        while z < v:
            z, t = z + (m + (M - m) * float(uniform((), rng))) * z * z, t + 1
        logs = math.ceil(math.log2(v / z0))
        first.append(t / (3 / (m * z0) + 8 * M / m * logs))
        A, total, t, z = m, 0.0, 0, z0
        while z < v:
            total, t = total + A * z * z, t + 1
            z = z0 + total - z0 / 2 * float(uniform((), rng))
        second.append(t / (8 * logs + 21 / (z0 * A)))
        A = 0.1 + 0.8 * float(uniform((), rng))
        z = float(uniform((), rng)) / A
        for t in range(1, 300):
            z = max(0.0, z - A * z * z * (1 + 0.1 * float(uniform((), rng))))
            third.append(z * A * t)
    return {"A.1": max(first), "A.2": max(second), "A.3": max(third)}


def cubic_form(rng, d, P, m, draws=20_000):
    """P(|Z| ≤ ε sd) over ε^{1/3} for Z = Σ_r Σ_j ⟨v_r, ξ_j⟩³, Lemma A.4 of CGRO with Carbery and
    Wright's exponent, and the printed probability 1 − d/2^{1/d}."""
    v = normal((m, d), rng) / math.sqrt(d)
    Z = torch.cat([
        (normal((2_000, P - 1, d), rng) @ v.mT).pow(3).sum((1, 2)) for _ in range(draws // 2_000)
    ])  # fmt: skip
    near = [float((Z.abs() <= e * Z.std()).double().mean()) / e ** (1 / 3) for e in EPSILONS]
    return {"share": max(near), "printed": 1 - d / 2 ** (1 / d)}


def sauer(rng):
    """The largest of Σ_{i≤k} C(m, i) over (em/k)^k for k + 1 < m ≤ 60, Lemma A.8 of CGRO."""
    ratios = [
        sum(math.comb(m, i) for i in range(k + 1)) / (math.e * m / k) ** k
        for m in range(3, 61)
        for k in range(1, m - 1)
    ]
    return {"ratio": max(ratios)}


checks = {
    "cgro.eq.decomp": identity(last("decomposition", "identities"), 1e-12),
    "cgro.eq.gta": identity(last("attack", "identities"), 1e-12),
    "cgro.eq.grad": identity(last("printed_gradient", "identities"), 1e-10),
    "cgro.eq.grad.corrected": rules.every(
        identity(last("signed_gradient", "identities"), 1e-10),
        identity(last("reduced", "identities"), 1e-12),
    ),
    "cgro.lemA.1": at_most(last("A.1", "sequences"), 1.0),
    "cgro.lemA.2": at_most(last("A.2", "sequences"), 1.0),
    "cgro.lemA.3": at_most(last("A.3", "sequences"), 1.0),
    "cgro.lemA.4": rules.Check(
        "frequency",
        rules.in_regime(last("printed", "cubic form"), 0.0).judge,
    ),
    "cgro.lemA.4.corrected": at_most(last("share", "cubic form"), 1.0),
    "cgro.lemA.7": rules.cited("inequality", "the VC dimension of ReLU networks is O(WL log W)"),
    "cgro.lemA.8": at_most(last("ratio", "Sauer"), 1.0),
}

_names = {
    "decomposition": "y f = α³U + V, relative",
    "attack": "transfer attack",
    "printed_gradient": "gradient as printed",
    "signed_gradient": "gradient with y_i",
    "reduced": "reduced dynamics, 60 steps",
}

figures = (
    Table(
        name="identities",
        title="Errors of the identities",
        y=tuple(_names),
        of=("identities",),
        names=_names,
        caption="Largest absolute errors; the printed gradient lacks y_i on the noise patches.",
    ),
)
