"""CGRO's lemmas beside the training they describe: what must be seen at every step of (u, v)."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from adversarium.bounds.cgro import memory_time, phase_two_level, signal_time
from adversarium.probes.errors import error
from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.training.signal_noise import SignalNoiseState


def _reduced(state: Any) -> SignalNoiseState:
    """The state, which must hold (u, v)."""
    if not isinstance(state, SignalNoiseState):
        raise ValueError(
            "this probe reads (u, v): it needs the engine signal_noise, so the attack GTA or none; "
            "cgro.variations measures other attacks."
        )
    return state


def gradient_over_risk(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """‖∇L‖₂/L, Lemma C.8 of CGRO."""
    own = _reduced(state)
    return own.gradient_norm / own.risk()


def largest_correlation(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """max(α max_r u_r, max |v|) over 2(log t)^{1/3}, t ≥ 3, Lemma C.11 of CGRO."""
    state = _reduced(state)
    signal = scene.data.alpha * state.u.amax(-1)
    noise = state.v.abs().flatten(1).amax(-1)
    return torch.maximum(signal, noise) / (2 * math.log(max(state.t, 3)) ** (1 / 3))


@dataclass(frozen=True)
class SignalGrowth:
    """Lemmas 4.2 and 4.3 of CGRO at every step and every r.

    growth_violation: the largest of (bound − Δu_r)/bound with bound = 3(1 − λ) c ηα³u_r²ψ(α³U) and
    c = mean_i ψ(α³U + V_i)/ψ(α³U), and of −Δu_r. attack_violation: the largest relative excess of
    the attacked part of Σ Δu_r over 3λ max u² (ηα³(1 − γ)³/N) ΣΣψ. level: the largest
    α max u_r/(1.2 s(t)^{1/3}) while max V_i < 1. decay: c after the last step.
    """

    def see(self, memory: Any, state: Any, scene: Scene) -> Any:
        """The memory after one more state."""
        state = _reduced(state)
        rule, at = scene.setting.rule, state.at
        a3, g3, lam = at.a3[:, 0], at.g3[:, 0], at.lam[:, 0]
        robust = torch.sigmoid(-state.robust_margin).mean(-1)
        half = torch.sigmoid(-a3 * state.U)
        c = torch.sigmoid(-state.clean_margin).mean(-1) / half
        now = dict(memory or self._empty(state))
        if memory is not None:
            bound, step = now["bound"], state.u - now["u"]
            lost = torch.where(bound > 0, (bound - step) / bound.clamp_min(1e-300), -step)
            now["growth"] = torch.maximum(now["growth"], lost.amax(-1))
        now["total"] = now["total"] + robust
        square = state.u.square()
        now["part"] = now["part"] + (3 * rule.eta * a3 * g3 * lam * robust)[:, None] * square
        now["top"] = torch.maximum(now["top"], square.amax(-1))
        cap = 3 * lam * now["top"] * rule.eta * a3 * g3 * now["total"]
        excess = (now["part"].amax(-1) - cap) / cap.clamp_min(1e-300)
        now["attack"] = torch.maximum(now["attack"], excess)
        if state.t >= 1:
            s = phase_two_level(state.t, rule.eta, scene.data.alpha, rule.risk.lam)
            height = scene.data.alpha * state.u.amax(-1) / (1.2 * s ** (1 / 3))
            early = state.V.amax(-1) < 1
            now["level"] = torch.where(early, torch.maximum(now["level"], height), now["level"])
        bound = (3 * (1 - lam) * rule.eta * a3 * c * half)[:, None] * square
        return {**now, "u": state.u, "bound": bound, "c": c}

    def _empty(self, state: SignalNoiseState) -> dict[str, Tensor]:
        zero = torch.zeros_like(state.U)
        low = zero - math.inf
        part = torch.zeros_like(state.u)
        return dict(growth=low, attack=low, level=zero, total=zero, top=zero, part=part)

    def rows(self, memory: Any) -> dict[str, Any]:
        """What is stored."""
        names = {"growth": "growth_violation", "attack": "attack_violation", "level": "level"}
        return {name: memory[key] for key, name in names.items()} | {"decay": memory["c"]}


@dataclass(frozen=True)
class NoiseResidual:
    """Lemmas C.5 and 4.4 of CGRO: |v(t) − v(0) − Σ own terms|, the own term of patch a being
    (3η/N)ψ̃_i‖G_a‖²v².

    residual, and lower_residual (how far v falls below v(0) + 3λ(ησ²d/N)Σψ(V_i)v²), at the end;
    residual_share: the largest residual/(√(N(P − 1)/d) max|v|) at any step, lower_share that of the
    shortfall; first_term and second_term: ληα³(1 − γ)³/N ΣΣψ and Pσ²√d/α, the lemma's.
    """

    def see(self, memory: Any, state: Any, scene: Scene) -> Any:
        """The memory after one more state."""
        state = _reduced(state)
        rule, at, data = scene.setting.rule, state.at, scene.data
        clean, robust = torch.sigmoid(-state.clean_margin), torch.sigmoid(-state.robust_margin)
        now = dict(memory or self._empty(state))
        gap = (state.v - now["start"] - now["own"]).abs().flatten(1).amax(-1)
        short = (now["start"] + now["floor"] - state.v).flatten(1).amax(-1).clamp_min(0)
        scale = (state.v.shape[1] / data.d) ** 0.5 * state.v.abs().flatten(1).amax(-1)
        wide = lambda psi: psi.repeat_interleave(state.v.shape[1] // rule.n, dim=-1)[..., None]
        step = 3 * rule.eta / rule.n * state.v.square()
        psi = (1 - at.lam) * clean + at.lam * robust
        square = at.K.diagonal(dim1=1, dim2=2)[..., None]
        typical = data.sigma**2 * data.d
        return {
            "start": now["start"],
            "own": now["own"] + wide(psi) * square * step,
            "floor": now["floor"]
            + at.lam[..., None] * wide(torch.sigmoid(-state.V)) * typical * step,
            "first_term": now["first_term"]
            + (at.lam * rule.eta * at.a3 * at.g3)[:, 0] * robust.mean(-1),
            "second_term": torch.full_like(gap, data.P * data.sigma**2 * data.d**0.5 / data.alpha),
            "residual": gap,
            "lower_residual": short,
            "residual_share": torch.maximum(now["residual_share"], gap / scale),
            "lower_share": torch.maximum(now["lower_share"], short / scale),
        }

    def _empty(self, state: SignalNoiseState) -> dict[str, Tensor]:
        zero, wide = torch.zeros_like(state.U), torch.zeros_like(state.v)
        shares = dict(residual_share=zero, lower_share=zero, first_term=zero)
        return dict(start=state.v, own=wide, floor=wide, **shares)

    def rows(self, memory: Any) -> dict[str, Any]:
        """What is stored."""
        shares = ("residual", "lower_residual", "residual_share", "lower_share")
        return {name: memory[name] for name in (*shares, "first_term", "second_term")}


@dataclass(frozen=True)
class Decay:
    """Lemma C.9 of CGRO: the largest L·η·(t − T₁ + 1) from T₁ on, the first step with every
    V_i ≥ 1."""

    def see(self, memory: Any, state: Any, scene: Scene) -> Any:
        """The memory after one more state."""
        state = _reduced(state)
        none = torch.full_like(state.U, math.nan)
        begun, worst = memory or (none, torch.zeros_like(state.U))
        begun = torch.where(begun.isnan() & (state.V.amin(-1) >= 1), float(state.t), begun)
        product = state.risk() * scene.setting.rule.eta * (state.t - begun + 1)
        return begun, torch.where(begun.isnan(), worst, torch.maximum(worst, product))

    def rows(self, memory: Any) -> dict[str, Any]:
        """What is stored."""
        begun, worst = memory
        return {"decay_product": torch.where(begun.isnan(), math.nan, worst)}


def attacked_doubt(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """ησ0·λ mean_i ψ(y_i f(X_i^adv)), whose sum over the steps Lemma C.10 of CGRO bounds."""
    state = _reduced(state)
    network, rule = scene.setting.network, scene.setting.rule
    psi = torch.sigmoid(-state.robust_margin).mean(-1)
    return rule.eta * network.sigma0 * state.at.lam[:, 0] * psi


def fresh_noise(state: Any, scene: Scene) -> Float[Tensor, "S 3"]:
    """Theorem C.12 of CGRO on 10,000 fresh points, Z being the part of y f(X) that noise patches
    carry: ½P[|Z| ≥ α³(1 − γ)³U] − P[the transfer attack succeeds] − 3 standard errors; the
    asymmetry |P[Z > 0] − ½| in standard errors; α³U over the standard deviation of Z."""
    state = _reduced(state)
    batch, at = scene.test(10_000), state.at
    n = batch.y.shape[-1]
    Z = state.margin(batch) - at.a3 * state.U[:, None]
    signal = at.a3 * at.g3 * state.U[:, None]
    broken = (Z + signal <= 0).double().mean(-1)
    claimed = (Z.abs() >= signal).double().mean(-1) / 2
    error = (broken * (1 - broken) / n).sqrt()
    skew = ((Z > 0).double().mean(-1) - 0.5).abs() / (0.25 / n) ** 0.5
    return torch.stack(
        [claimed - broken - 3 * error, skew, at.a3[:, 0] * state.U / Z.std(-1)], dim=-1
    )


def memory_share(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """V/(V + α³(1 − γ)³U), V the median V_i: which part of an attacked margin is memorised noise.
    Near 1 where noise was memorised first, near 0 where the attacked signal was learnt; negative
    parts count as 0, and ½ stands for neither."""
    state = _reduced(state)
    noise = state.V.median(-1).values.clamp_min(0)
    signal = (state.at.a3 * state.at.g3)[:, 0] * state.U.clamp_min(0)
    whole = noise + signal
    return torch.where(whole > 0.1, noise / whole.clamp_min(1e-300), 0.5)


def conclusion(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """1 where Theorem 4.1 of CGRO's conclusion stands on 500 fresh points: clean test error ≤ 0.01,
    robust training error 0, robust test error in [0.4, 0.6] (transfer attack); else 0."""
    clean = error(state.margin(scene.test(500)))
    robust = error(state.margin(scene.test(500), scene.attack))
    trained = error(state.margin(scene.train, scene.attack))
    return ((clean <= 0.01) & (trained == 0) & ((robust - 0.5).abs() <= 0.1)).double()


def signals(state: Any, scene: Scene) -> Float[Tensor, "S m"]:
    """α u_r of every filter."""
    return scene.data.alpha * _reduced(state).u


def predicted_times(state: Any, scene: Scene) -> Float[Tensor, "S 3"]:
    """The closed forms of T₀, and of T₁ of the first and of the median sample (ours), from
    W⁽⁰⁾."""
    own, rule, data = _reduced(state), scene.setting.rule, scene.data
    start = own.at.G @ scene.setting.W0.mT
    each = start.view(len(start), rule.n, -1).amax(-1).sort(-1, descending=True).values
    found = []
    for u0, v0 in zip(scene.setting.W0[..., 0].amax(-1).tolist(), each.tolist(), strict=True):
        late = lambda v: memory_time(v, rule.n, data.d, data.sigma, rule.eta, rule.risk.lam)
        early = signal_time(u0, data.alpha, rule.eta, rule.risk.lam)
        found.append([early, late(v0[0]), late(v0[rule.n // 2])])
    return torch.tensor(found, dtype=torch.float64).clamp_max(1e300)  # never: a number still


def predicted_level(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """The closed form of α³U in phase II (ours), frozen at the predicted T₁ of the median
    sample."""
    stop = scene.once("freeze", lambda: predicted_times(state, scene)[:, 2].tolist())
    rule, alpha = scene.setting.rule, scene.data.alpha
    level = lambda T: phase_two_level(
        min(state.t, int(min(T, 1e12))), rule.eta, alpha, rule.risk.lam
    )
    return torch.tensor([level(T) if state.t else 0.0 for T in stop], dtype=torch.float64)
