"""Whole descents of CONV's two-layer network against comparators, eq. (17), and one step of its
certified surrogate."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.attacks import FiniteAttack
from adversarium.attacks.finite import chosen
from adversarium.data import SphereBatch, SpherePoints
from adversarium.networks import Erf, TwoLayer
from adversarium.rng import coins, normal
from adversarium.sockets import Numbers
from adversarium.training.objectives import pseudo_huber
from adversarium.trials.following import Regret
from adversarium.trials.paired import FAR
from adversarium.trials.relu_norms import on_sphere

Loss = Callable[[Tensor, Tensor], Tensor]


def member_losses(network: Any, W: Any, batch: SphereBatch, loss: Loss = pseudo_huber) -> Tensor:
    """ℓ(f(W, x'), y_i) of every member x' of every set, (n, K)."""
    n, K, _ = batch.options.shape
    outputs = network.f(W, batch.options.flatten(0, 1)).view(n, K)
    return loss(outputs, batch.y[:, None].expand(n, K))


def robust_loss(network: Any, W: Tensor, batch: SphereBatch, loss: Loss = pseudo_huber) -> Tensor:
    """L_*(W) = mean_i max_{x' ∈ B(x_i)} ℓ(f(W, x'), y_i), Def. 3.4 of CONV: exact here."""
    return member_losses(network, W, batch, loss).amax(-1).mean(-1)


def attacked(
    rule: str, network: Any, W: Any, batch: SphereBatch, t: int, rng: Generator,
    loss: Loss = pseudo_huber,
) -> Tensor:  # fmt: skip
    """Where an attack by a rule takes the points; `identity` leaves them."""
    if rule == "identity":
        return batch.x
    if rule in ("exact", "anti"):  # all members in one call
        told = member_losses(network, W, batch, loss)
        return chosen(batch.options, told.argmax(-1) if rule == "exact" else told.argmin(-1))
    attack = FiniteAttack(rule=rule)  # type: ignore[arg-type]
    return attack(lambda x: loss(network.f(W, x), batch.y), batch, t, rng)


def surrogate(network: TwoLayer, W: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """L_A(W) with the attack's points."""
    return pseudo_huber(network.f(W, x), y).mean()


def comparators(
    network: TwoLayer, W0: Tensor, batch: SphereBatch, R: float, rng: Generator
) -> dict[str, Tensor]:
    """Weights at most R from W_0: the best that projected descent on L_* finds, one on the side of
    ascent, a random one."""
    best, W, least = W0, W0, math.inf
    up = torch.func.grad(robust_loss, argnums=1)(network, W0, batch)
    for t in range(40):
        g, loss = torch.func.grad_and_value(robust_loss, argnums=1)(network, W, batch)
        best, least = (W, float(loss)) if float(loss) < least else (best, least)
        move = W - R / 2 / math.sqrt(t + 1) * g / g.norm().clamp_min(1e-12) - W0
        W = W0 + move * (R / move.norm().clamp_min(R))
    way = normal(W0.shape, rng)
    return {"best": best, "ascent": W0 + R * up / up.norm(), "random": W0 + R * way / way.norm()}


def regret_of_descent(
    rng: Generator,
    activation: Any,
    rule: str,
    m: int,
    alpha: float,
    R: float = 2.0,
    n: int = 4,
    d: int = 2,
) -> Numbers:
    """Eq. (17) of CONV at every t of a descent on L_A of T = √m/(cα) steps: the largest left less
    right side with the factor ½ and its t, by comparator; without it and without O(α), in units of
    α (`printed`: what the O(α) must make up); and that of eq. (16).

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> told = regret_of_descent(stream(0, "example"), s, "exact", m=16, alpha=0.4)
    >>> max(told["best"], told["ascent"], told["random"]) < 0
    True
    """
    network = TwoLayer(m=m, activation=activation)
    batch = SpherePoints(d=d).sample(n, rng)
    W = W0 = network.init(rng, (d,), 1)
    against = comparators(network, W0, batch, R, rng)
    c, size = float(activation.C2), math.sqrt(m)
    at = [float(robust_loss(network, V, batch)) for V in against.values()]
    regret = Regret(c, alpha, W0, list(against.values()), at)
    for t in range(round(size / (c * alpha))):
        x = attacked(rule, network, W, batch, t, rng)
        g, loss = torch.func.grad_and_value(surrogate, argnums=1)(network, W, x, batch.y)
        W = W - alpha * g
        regret.see(float(loss), g, W)
    told: dict[str, float] = {"G²/2": regret.G**2 / 2}
    for i, name in enumerate(against):
        told[name] = float(regret.summed.value[i])
        told[f"t of {name}"] = float(regret.summed.step[i])
        told[f"(16), {name}"] = float(regret.one_step.value[i])
        told[f"printed, {name}"] = float(regret.printed.value[i])
    return told


def level_kept(rng: Generator, m: int, alpha: float, level: float = 0.3) -> Numbers:
    """Eq. (17) of CONV where W_* is known: erf is odd, so that with n = 1 and B(x) closed under
    negation no W has L_* < l(0) = L_*(W_0), and W_* = W_0 in every B(R). The attack is the point of
    B(x) whose f is nearest the level. The largest left less right side with the factor ½ (`half`);
    without it and without O(α), in units of α (`printed`); the largest |W_t − W_0| on the way.

    >>> from adversarium.rng import stream
    >>> told = level_kept(stream(0, "example"), m=64, alpha=0.1)
    >>> told["half"] < 1e-9 and told["printed"] > 0
    True
    """
    network, c, size = TwoLayer(m=m, activation=Erf()), Erf().C2, math.sqrt(m)
    angle = torch.arange(720, dtype=torch.float64) * (2 * math.pi / 720)
    members = torch.stack([angle.cos(), angle.sin()], -1)
    y = torch.ones(1, dtype=torch.float64)
    W = W0 = network.init(rng, (2,), 1)
    best = float(pseudo_huber(0 * y, y))
    regret, far = Regret(c, alpha, W0, [W0], [best]), 0.0
    for _ in range(round(min(6 / alpha, size / (c * alpha)))):
        x = members[(network.f(W, members) - level).abs().argmin()][None]
        g, loss = torch.func.grad_and_value(surrogate, argnums=1)(network, W, x, y)
        W = W - alpha * g
        regret.see(float(loss), g, W)
        far = max(far, float((W - W0).norm()))
    half, printed = float(regret.summed.value), float(regret.printed.value)
    return {"half": half, "printed": printed, "far": far}


def _certified(
    activation: Any, W: Tensor, a: Tensor, x: Tensor, y: Tensor, rho: float
) -> tuple[Tensor, Tensor]:
    """The certified loss of one point, every unit with an own input of B(x, ρ); those inputs."""
    w = W / W.norm(dim=1, keepdim=True).clamp_min(1e-12)
    ends = []
    for side in (1.0, -1.0):  # f pushed up, and down
        inputs = x + rho * side * a[:, None] * w
        f = (a * activation((W * inputs).sum(1))).sum() / math.sqrt(len(a))
        ends.append((pseudo_huber(f, y), inputs))
    return max(ends, key=lambda end: float(end[0].detach()))


def certified_step(
    rng: Generator,
    activation: Any,
    m: int,
    rho: float,
    d: int = 2,
    tries: int = 4,
    climbs: int = 200,
) -> Numbers:
    """Eq. (16) of CONV with interval bounds in place of an attack, s increasing: the largest of
    (L(W) + ⟨g, W_ref − W⟩ − L(W_ref))·2√m/(c|W_ref − W|²) over both weights, by ascent: 1 is what c
    allows, (1 + ρ)² what inputs of that norm do.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> told = certified_step(stream(0, "example"), SmoothedReLU(b=2.0), m=8, rho=0.5, climbs=20)
    >>> 0 < told["use"] <= told["allowed"]
    True
    """
    used = -math.inf
    for _ in range(tries):
        a, x, y = coins((m,), rng), on_sphere(d, rng), FAR * coins((), rng)
        W = 0.3 * normal((m, d), rng)
        V = W + 0.3 * normal((m, d), rng)
        W, V = W.requires_grad_(), V.requires_grad_()
        optimiser = torch.optim.Adam([W, V], lr=0.02)
        for _ in range(climbs):
            use = _use(activation, W, V, a, x, y, rho)
            used = max(used, float(use.detach()))
            W.grad, V.grad = (-g for g in torch.autograd.grad(use, (W, V)))
            optimiser.step()
    return {"use": used, "allowed": (1 + rho) ** 2}


def _use(
    activation: Any, W: Tensor, V: Tensor, a: Tensor, x: Tensor, y: Tensor, rho: float
) -> Tensor:
    """How much of c one step between two weights uses."""
    at, inputs = _certified(activation, W, a, x, y, rho)
    there, _ = _certified(activation, V, a, x, y, rho)
    size = math.sqrt(len(a))
    f = (a * activation((W * inputs).sum(1))).sum() / size
    slope = (f - y) / pseudo_huber(f, y).add(1)
    g = slope * (a * activation.slope((W * inputs).sum(1)))[:, None] * inputs / size
    lost = at + (g * (V - W)).sum() - there
    used: Tensor = lost * 2 * size / (activation.C2 * (V - W).square().sum().clamp_min(1e-6))
    return used
