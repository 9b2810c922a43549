"""Complete descents of CONV's two-layer network compared with fixed weights, eq. (17) of CONV.

This module also tests one descent step on a certified upper bound of the loss.
"""

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

from .following import Regret
from .paired import FAR
from .relu_norms import on_sphere

Loss = Callable[[Tensor, Tensor], Tensor]


def member_losses(network: Any, W: Any, batch: SphereBatch, loss: Loss = pseudo_huber) -> Tensor:
    """ℓ(f(W, x'), y_i) of every member x' of every set, (n, K)."""
    n, K, _ = batch.options.shape
    outputs = network.f(W, batch.options.flatten(0, 1)).view(n, K)
    return loss(outputs, batch.y[:, None].expand(n, K))


def robust_loss(network: Any, W: Tensor, batch: SphereBatch, loss: Loss = pseudo_huber) -> Tensor:
    """L_*(W) = mean_i max_{x' ∈ B(x_i)} ℓ(f(W, x'), y_i), Def. 3.4 of CONV, for finite sets."""
    return member_losses(network, W, batch, loss).amax(-1).mean(-1)


def attacked(
    rule: str, network: Any, W: Any, batch: SphereBatch, t: int, rng: Generator,
    loss: Loss = pseudo_huber,
) -> Tensor:  # fmt: skip
    """Return the points chosen by the attack named `rule`; `identity` returns the data points."""
    if rule == "identity":
        return batch.x
    if rule in ("exact", "anti"):  # one call for all members is faster
        losses = member_losses(network, W, batch, loss)
        return chosen(batch.options, losses.argmax(-1) if rule == "exact" else losses.argmin(-1))
    attack = FiniteAttack(rule=rule)  # type: ignore[arg-type]
    return attack(lambda x: loss(network.f(W, x), batch.y), batch, t, rng)


def surrogate(network: TwoLayer, W: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """L_A(W), the mean loss at the points x of an attack."""
    return pseudo_huber(network.f(W, x), y).mean()


def comparators(
    network: TwoLayer, W0: Tensor, batch: SphereBatch, R: float, rng: Generator
) -> dict[str, Tensor]:
    """Return three weight matrices at distance at most R from W_0, by name.

    `best`: the best found by projected descent on L_*; `ascent`: a step of length R along ∇L_*;
    `random`: a step of length R in a random direction.
    """
    best, W, least = W0, W0, math.inf
    up = torch.func.grad(robust_loss, argnums=1)(network, W0, batch)
    for t in range(40):
        g, loss = torch.func.grad_and_value(robust_loss, argnums=1)(network, W, batch)
        best, least = (W, float(loss)) if float(loss) < least else (best, least)
        move = W - R / 2 / math.sqrt(t + 1) * g / g.norm().clamp_min(1e-12) - W0
        W = W0 + move * (R / move.norm().clamp_min(R))
    direction = normal(W0.shape, rng)
    return {
        "best": best,
        "ascent": W0 + R * up / up.norm(),
        "random": W0 + R * direction / direction.norm(),
    }


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
    """Test eq. (17) of CONV at every t of a descent on L_A, T = √m/(cα) steps.

    For each of the comparators `best`, `ascent` and `random`:

    - `best`, `ascent`, `random`: the largest left minus right side of (17) with ½; `t of …`: its t.
    - `(16), …`: the largest left minus right side of eq. (16) of CONV.
    - `printed, …`: the excess of the published (17) without its O(α), divided by α.

    `G²/2` is half the largest squared gradient norm.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> s = SmoothedReLU(b=2.0)
    >>> numbers = regret_of_descent(stream(0, "example"), s, "exact", m=16, alpha=0.4)
    >>> max(numbers["best"], numbers["ascent"], numbers["random"]) < 0
    True
    """
    network = TwoLayer(m=m, activation=activation)
    batch = SpherePoints(d=d).sample(n, rng)
    W = W0 = network.init(rng, (d,), 1)
    reference = comparators(network, W0, batch, R, rng)
    c, sqrt_m = float(activation.C2), math.sqrt(m)
    robust = [float(robust_loss(network, V, batch)) for V in reference.values()]
    regret = Regret(c, alpha, W0, list(reference.values()), robust)
    for t in range(round(sqrt_m / (c * alpha))):
        x = attacked(rule, network, W, batch, t, rng)
        g, loss = torch.func.grad_and_value(surrogate, argnums=1)(network, W, x, batch.y)
        W = W - alpha * g
        regret.add(float(loss), g, W)
    numbers: dict[str, float] = {"G²/2": regret.G**2 / 2}
    for i, name in enumerate(reference):
        numbers[name] = float(regret.summed.value[i])
        numbers[f"t of {name}"] = float(regret.summed.step[i])
        numbers[f"(16), {name}"] = float(regret.one_step.value[i])
        numbers[f"printed, {name}"] = float(regret.printed.value[i])
    return numbers


def level_kept(rng: Generator, m: int, alpha: float, level: float = 0.3) -> Numbers:
    """Test eq. (17) of CONV in a case where W_* is known.

    The activation erf is odd. If n = 1 and B(x) is closed under negation, no W has a smaller L_*
    than W_0, so W_* = W_0 in every B(R). The attack picks the point with output nearest `level`.

    - `half`: the largest left minus right side of (17) with the factor ½.
    - `printed`: the excess of (17) as published, without ½ and O(α), divided by α.
    - `far`: the largest |W_t − W_0|.

    >>> from adversarium.rng import stream
    >>> numbers = level_kept(stream(0, "example"), m=64, alpha=0.1)
    >>> numbers["half"] < 1e-9 and numbers["printed"] > 0
    True
    """
    network, c, sqrt_m = TwoLayer(m=m, activation=Erf()), Erf().C2, math.sqrt(m)
    angle = torch.arange(720, dtype=torch.float64) * (2 * math.pi / 720)
    members = torch.stack([angle.cos(), angle.sin()], -1)
    y = torch.ones(1, dtype=torch.float64)
    W = W0 = network.init(rng, (2,), 1)
    best = float(pseudo_huber(0 * y, y))
    regret, largest_distance = Regret(c, alpha, W0, [W0], [best]), 0.0
    for _ in range(round(min(6 / alpha, sqrt_m / (c * alpha)))):
        x = members[(network.f(W, members) - level).abs().argmin()][None]
        g, loss = torch.func.grad_and_value(surrogate, argnums=1)(network, W, x, y)
        W = W - alpha * g
        regret.add(float(loss), g, W)
        largest_distance = max(largest_distance, float((W - W0).norm()))
    half, printed = float(regret.summed.value), float(regret.printed.value)
    return {"half": half, "printed": printed, "far": largest_distance}


def _certified(
    activation: Any, W: Tensor, a: Tensor, x: Tensor, y: Tensor, rho: float
) -> tuple[Tensor, Tensor]:
    """Return an upper bound of the loss of one point, and the inputs that attain it.

    Every unit may have a different input of B(x, ρ).
    """
    w = W / W.norm(dim=1, keepdim=True).clamp_min(1e-12)
    ends = []
    for side in (1.0, -1.0):  # the largest and the smallest f
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
    """Test eq. (16) of CONV with interval bounds in place of an attack, for increasing s.

    - `use`: the largest (L(W) + ⟨g, W_ref − W⟩ − L(W_ref))·2√m/(c|W_ref − W|²) found by ascent over
      W and W_ref, for the certified loss L and its gradient g. Eq. (16) with c requires at most 1.
    - `allowed`: (1 + ρ)², the bound for inputs of norm 1 + ρ.

    >>> from adversarium.networks import SmoothedReLU
    >>> from adversarium.rng import stream
    >>> numbers = certified_step(stream(0, "example"), SmoothedReLU(b=2.0), m=8, rho=0.5, climbs=20)
    >>> 0 < numbers["use"] <= numbers["allowed"]
    True
    """
    largest = -math.inf
    for _ in range(tries):
        a, x, y = coins((m,), rng), on_sphere(d, rng), FAR * coins((), rng)
        W = 0.3 * normal((m, d), rng)
        V = W + 0.3 * normal((m, d), rng)
        W, V = W.requires_grad_(), V.requires_grad_()
        optimiser = torch.optim.Adam([W, V], lr=0.02)
        for _ in range(climbs):
            use = _share_of_c(activation, W, V, a, x, y, rho)
            largest = max(largest, float(use.detach()))
            W.grad, V.grad = (-g for g in torch.autograd.grad(use, (W, V)))
            optimiser.step()
    return {"use": largest, "allowed": (1 + rho) ** 2}


def _share_of_c(
    activation: Any, W: Tensor, V: Tensor, a: Tensor, x: Tensor, y: Tensor, rho: float
) -> Tensor:
    """Return the constant that one step from W to V needs, divided by c."""
    loss, inputs = _certified(activation, W, a, x, y, rho)
    loss_at_V, _ = _certified(activation, V, a, x, y, rho)
    sqrt_m = math.sqrt(len(a))
    f = (a * activation((W * inputs).sum(1))).sum() / sqrt_m
    slope = (f - y) / pseudo_huber(f, y).add(1)
    g = slope * (a * activation.slope((W * inputs).sum(1)))[:, None] * inputs / sqrt_m
    defect = loss + (g * (V - W)).sum() - loss_at_V
    share: Tensor = defect * 2 * sqrt_m / (activation.C2 * (V - W).square().sum().clamp_min(1e-6))
    return share
