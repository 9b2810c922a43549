"""CGRO's lemmas beside the training they describe: what must be seen at every step of (u, v)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.bounds.cgro import memory_time, phase_two_level, signal_time
from adversarium.probes.errors import error
from adversarium.probes.features import PatchScene
from adversarium.probes.measuring import described, measures
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows, State
from adversarium.training.engines.signal_noise import SignalNoiseState


def _reduced(state: State[Tensor]) -> SignalNoiseState:
    """The state, which must hold (u, v)."""
    if not isinstance(state, SignalNoiseState):
        raise ValueError(
            "this probe reads (u, v): it needs the engine signal_noise, so the attack GTA or none, "
            f"got a {type(state).__name__}."
        )
    return state


@measures(r"$\|\nabla L\|_2/L$")
def gradient_over_risk(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """‖∇L‖₂/L, Lemma C.8 of CGRO."""
    reduced = _reduced(state)
    return reduced.gradient_norm / reduced.risk()


@measures(r"$\max(\alpha\,\max_r u_r,\,\max |v|)/(2 (\log t)^{1/3})$")
def largest_correlation(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """max(α max_r u_r, max |v|) over 2(log t)^{1/3}, t ≥ 3, Lemma C.11 of CGRO."""
    state = _reduced(state)
    signal = scene.data.alpha * state.u.amax(-1)
    noise = state.v.abs().flatten(1).amax(-1)
    scale: float = 2 * math.log(max(state.t, 3)) ** (1 / 3)
    return torch.maximum(signal, noise) / scale


@dataclass(frozen=True)
class Growth:
    """What SignalGrowth remembers: the largest violations and level so far, the sums of both sides
    of Lemma 4.3, and u with the bound of its next step."""

    growth: Float[Tensor, " S"]
    attack: Float[Tensor, " S"]
    level: Float[Tensor, " S"]
    total: Float[Tensor, " S"]  # Σ_t mean_i ψ(y_i f(X_i^adv))
    top: Float[Tensor, " S"]  # max u²
    part: Float[Tensor, "S m"]  # the attacked part of Σ_t Δu_r
    u: Float[Tensor, "S m"]
    bound: Float[Tensor, "S m"]
    c: Float[Tensor, " S"]


@dataclass(frozen=True)
class SignalGrowth:
    """Lemmas 4.2 and 4.3 of CGRO at every step and every r, with
    c = mean_i ψ(α³U + V_i)/ψ(α³U) and ψ(z) = 1/(1 + eᶻ).

    growth_violation: The largest of (bound − Δu_r)/bound over all steps, with
        bound = 3(1 − λ) c ηα³u_r²ψ(α³U), and of −Δu_r where the bound is 0, Lemma 4.2 of CGRO.
    attack_violation: The largest relative excess of the attacked part of Σ Δu_r over
        3λ max u² (ηα³(1 − γ)³/N) ΣΣψ, Lemma 4.3 of CGRO.
    level: The largest α max_r u_r/(1.2 s(t)^{1/3}) while max V_i < 1, s(t) the level of phase II
        (ours).
    decay: c = mean_i ψ(α³U + V_i)/ψ(α³U) after the last step, Lemma 4.2 of CGRO.

    >>> [measure.name for measure in SignalGrowth().measures]
    ['growth_violation', 'attack_violation', 'level', 'decay']
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The violations, the level and c."""
        symbols = {
            "growth_violation": r"$(\mathrm{bound} - \Delta u_r)/\mathrm{bound}$",
            "attack_violation": r"excess of the attacked part of $\sum_t \Delta u_r$",
            "level": r"$\alpha\,\max_r u_r/(1.2\,s(t)^{1/3})$",
            "decay": r"$c = \mathrm{mean}_i\,\psi(\alpha^3 U + V_i)/\psi(\alpha^3 U)$",
        }
        return described(symbols, type(self).__doc__)

    def see(self, memory: Growth | None, state: State[Tensor], scene: PatchScene) -> Growth:
        """The memory after one more state."""
        state = _reduced(state)
        rule, at = scene.setting.rule, state.at
        a3, g3, lam = at.a3[:, 0], at.g3[:, 0], at.lam[:, 0]
        robust = torch.sigmoid(-state.robust_margin).mean(-1)
        half = torch.sigmoid(-a3 * state.U)
        c = torch.sigmoid(-state.clean_margin).mean(-1) / half
        square = state.u.square()
        was = self._empty(state) if memory is None else memory
        growth = was.growth if memory is None else torch.maximum(was.growth, _shortfall(was, state))
        total = was.total + robust
        part = was.part + (3 * rule.eta * a3 * g3 * lam * robust)[:, None] * square
        top = torch.maximum(was.top, square.amax(-1))
        cap = 3 * lam * top * rule.eta * a3 * g3 * total
        excess = (part.amax(-1) - cap) / cap.clamp_min(1e-300)
        return Growth(
            growth=growth,
            attack=torch.maximum(was.attack, excess),
            level=self._level(was.level, state, scene),
            total=total,
            top=top,
            part=part,
            u=state.u,
            bound=(3 * (1 - lam) * rule.eta * a3 * c * half)[:, None] * square,
            c=c,
        )

    def _level(self, level: Tensor, state: SignalNoiseState, scene: PatchScene) -> Tensor:
        if state.t < 1:
            return level
        rule, alpha = scene.setting.rule, scene.data.alpha
        s = phase_two_level(state.t, rule.eta, alpha, rule.risk.lam)
        height = alpha * state.u.amax(-1) / (1.2 * s ** (1 / 3))
        return torch.where(state.V.amax(-1) < 1, torch.maximum(level, height), level)

    def _empty(self, state: SignalNoiseState) -> Growth:
        zero, part = torch.zeros_like(state.U), torch.zeros_like(state.u)
        low = zero - math.inf
        return Growth(low, low, zero, zero, zero, part, u=state.u, bound=part, c=zero)

    def rows(self, memory: Growth) -> Rows:
        """The largest violations and the level, and c after the last step."""
        return {
            "growth_violation": memory.growth,
            "attack_violation": memory.attack,
            "level": memory.level,
            "decay": memory.c,
        }


def _shortfall(before: Growth, state: SignalNoiseState) -> Float[Tensor, " S"]:
    """max_r (bound − Δu_r)/bound of the last step, −Δu_r where the bound is 0."""
    bound, step = before.bound, state.u - before.u
    return torch.where(bound > 0, (bound - step) / bound.clamp_min(1e-300), -step).amax(-1)


@dataclass(frozen=True)
class Residues:
    """What NoiseResidual remembers: v(0), the sums of the own terms and of the lower bound's, and
    the numbers that it stores."""

    start: Float[Tensor, "S a m"]
    own: Float[Tensor, "S a m"]
    floor: Float[Tensor, "S a m"]
    first_term: Float[Tensor, " S"]
    second_term: Float[Tensor, " S"]
    residual: Float[Tensor, " S"]
    lower_residual: Float[Tensor, " S"]
    residual_share: Float[Tensor, " S"]
    lower_share: Float[Tensor, " S"]


@dataclass(frozen=True)
class NoiseResidual:
    """|v(t) − v(0) − Σ own terms|, the own term of patch a being (3η/N)ψ̃_i‖G_a‖²v², Lemmas C.5 and
    4.4 of CGRO.

    residual: The largest |v(t) − v(0) − Σ own terms| after the last step, Lemma C.5 of CGRO.
    lower_residual: How far v falls below v(0) + 3λ(ησ²d/N)Σψ(V_i)v² after the last step, Lemma 4.4
        of CGRO.
    residual_share: The largest residual/(√(N(P − 1)/d) max|v|) at any step (ours).
    lower_share: The largest shortfall/(√(N(P − 1)/d) max|v|) at any step (ours).
    first_term: ληα³(1 − γ)³/N ΣΣψ, the first term of the bound in Lemma C.5 of CGRO.
    second_term: Pσ²√d/α, the second term of the bound in Lemma C.5 of CGRO.

    >>> NoiseResidual().measures[-1].sentence
    'Pσ²√d/α, the second term of the bound in Lemma C.5 of CGRO.'
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The residuals, their shares and the lemma's terms."""
        scale = r"(\sqrt{N(P-1)/d}\,\max |v|)"
        symbols = {
            "residual": r"$\max |v(T) - v(0) - \sum_t \mathrm{own}|$",
            "lower_residual": r"$\max (v(0) + \sum_t \mathrm{bound} - v(T))$",
            "residual_share": rf"$\max_t |v - v(0) - \sum \mathrm{{own}}|/{scale}$",
            "lower_share": rf"$\max_t (v(0) + \sum \mathrm{{bound}} - v)/{scale}$",
            "first_term": r"$\lambda\eta\alpha^3(1-\gamma)^3 N^{-1}\sum_t\sum_i\psi$",
            "second_term": r"$P\sigma^2\sqrt{d}/\alpha$",
        }
        return described(symbols, type(self).__doc__)

    def see(self, memory: Residues | None, state: State[Tensor], scene: PatchScene) -> Residues:
        """The memory after one more state."""
        state = _reduced(state)
        rule, at, data = scene.setting.rule, state.at, scene.data
        patches = state.v.shape[1]
        clean, robust = torch.sigmoid(-state.clean_margin), torch.sigmoid(-state.robust_margin)
        was = self._empty(state) if memory is None else memory
        gap = (state.v - was.start - was.own).abs().flatten(1).amax(-1)
        short = (was.start + was.floor - state.v).flatten(1).amax(-1).clamp_min(0)
        scale = (patches / data.d) ** 0.5 * state.v.abs().flatten(1).amax(-1)

        def wide(psi: Tensor) -> Tensor:
            return psi.repeat_interleave(patches // rule.n, dim=-1)[..., None]

        step = 3 * rule.eta / rule.n * state.v.square()
        psi = (1 - at.lam) * clean + at.lam * robust
        square = at.K.diagonal(dim1=1, dim2=2)[..., None]
        typical = data.sigma**2 * data.d
        rise = at.lam[..., None] * wide(torch.sigmoid(-state.V)) * typical * step
        return Residues(
            start=was.start,
            own=was.own + wide(psi) * square * step,
            floor=was.floor + rise,
            first_term=was.first_term + (at.lam * rule.eta * at.a3 * at.g3)[:, 0] * robust.mean(-1),
            second_term=torch.full_like(gap, data.P * data.sigma**2 * data.d**0.5 / data.alpha),
            residual=gap,
            lower_residual=short,
            residual_share=torch.maximum(was.residual_share, gap / scale),
            lower_share=torch.maximum(was.lower_share, short / scale),
        )

    def _empty(self, state: SignalNoiseState) -> Residues:
        zero, wide = torch.zeros_like(state.U), torch.zeros_like(state.v)
        return Residues(state.v, wide, wide, zero, zero, zero, zero, zero, zero)

    def rows(self, memory: Residues) -> Rows:
        """The residuals, their shares, and the lemma's two terms."""
        return {
            "residual": memory.residual,
            "lower_residual": memory.lower_residual,
            "residual_share": memory.residual_share,
            "lower_share": memory.lower_share,
            "first_term": memory.first_term,
            "second_term": memory.second_term,
        }


@dataclass(frozen=True)
class Decay:
    """The largest L·η·(t − T₁ + 1) from T₁ on, the first step with every V_i ≥ 1, Lemma C.9 of
    CGRO.

    >>> Decay().rows((torch.tensor([math.nan]), torch.zeros(1)))  # T₁ was never reached
    {'decay_product': tensor([nan])}
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The product."""
        symbol = r"$\max_{t \geq T_1} L\,\eta\,(t - T_1 + 1)$"
        return described({"decay_product": symbol}, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: PatchScene
    ) -> tuple[Tensor, Tensor]:
        """T₁ and the largest product after one more state."""
        state = _reduced(state)
        never, zero = torch.full_like(state.U, math.nan), torch.zeros_like(state.U)
        begun, worst = (never, zero) if memory is None else memory
        begun = torch.where(begun.isnan() & (state.V.amin(-1) >= 1), float(state.t), begun)
        product = state.risk() * scene.setting.rule.eta * (state.t - begun + 1)
        return begun, torch.where(begun.isnan(), worst, torch.maximum(worst, product))

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """The largest product; NaN where T₁ was never reached."""
        begun, worst = memory
        return {"decay_product": torch.where(begun.isnan(), math.nan, worst)}


@measures(r"$\eta\sigma_0\lambda\,\mathrm{mean}_i\,\psi(y_i f(X_i^{adv}))$")
def attacked_doubt(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """ησ0·λ mean_i ψ(y_i f(X_i^adv)), whose sum over the steps Lemma C.10 of CGRO bounds."""
    state = _reduced(state)
    rule = scene.setting.rule
    psi = torch.sigmoid(-state.robust_margin).mean(-1)
    return rule.eta * scene.network.sigma0 * state.at.lam[:, 0] * psi


@measures(
    transfer_deficit=r"$\frac{1}{2} P[|Z| \geq \alpha^3(1-\gamma)^3 U] - P[\mathrm{broken}]$",
    noise_asymmetry=r"$|P[Z > 0] - \frac{1}{2}|$ in standard errors",
    signal_to_noise=r"$\alpha^3 U/\mathrm{std}(Z)$",
)
def fresh_noise(state: State[Tensor], scene: PatchScene) -> dict[str, Float[Tensor, " S"]]:
    """Theorem C.12 of CGRO on 10,000 fresh points, Z being the part of y f(X) that noise patches
    carry.

    transfer_deficit: ½P[|Z| ≥ α³(1 − γ)³U] − P[the transfer attack succeeds] − 3 standard errors,
        Z the noise's part of y f(X) on 10,000 fresh points, Theorem C.12 of CGRO.
    noise_asymmetry: |P[Z > 0] − ½| in standard errors, Z the noise's part of y f(X) on 10,000 fresh
        points, Theorem C.12 of CGRO.
    signal_to_noise: α³U over the standard deviation of Z, the noise's part of y f(X), on 10,000
        fresh points, Theorem C.12 of CGRO.

    >>> [measure.name for measure in fresh_noise.measures]
    ['transfer_deficit', 'noise_asymmetry', 'signal_to_noise']
    """
    state = _reduced(state)
    batch, at = scene.test(10_000), state.at
    n = batch.y.shape[-1]
    Z = state.margin(batch) - at.a3 * state.U[:, None]
    signal = at.a3 * at.g3 * state.U[:, None]
    broken = (Z + signal <= 0).double().mean(-1)
    claimed = (Z.abs() >= signal).double().mean(-1) / 2
    standard = (broken * (1 - broken) / n).sqrt()
    return {
        "transfer_deficit": claimed - broken - 3 * standard,
        "noise_asymmetry": ((Z > 0).double().mean(-1) - 0.5).abs() / (0.25 / n) ** 0.5,
        "signal_to_noise": at.a3[:, 0] * state.U / Z.std(-1),
    }


@measures(r"$V/(V + \alpha^3(1-\gamma)^3 U)$")
def memory_share(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """V/(V + α³(1 − γ)³U), V the median V_i: which part of an attacked margin is memorised noise
    (ours).

    Near 1 where noise was memorised first, near 0 where the attacked signal was learnt; negative
    parts count as 0, and ½ stands for neither.

    >>> memory_share.measures[0].name, memory_share.measures[0].axes
    ('memory_share', ())
    """
    state = _reduced(state)
    noise = state.V.median(-1).values.clamp_min(0)
    signal = (state.at.a3 * state.at.g3)[:, 0] * state.U.clamp_min(0)
    whole = noise + signal
    return torch.where(whole > 0.1, noise / whole.clamp_min(1e-300), 0.5)


@measures("the conclusion of Theorem 4.1 stands (0 no, 1 yes)")
def conclusion(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """1 where Theorem 4.1 of CGRO's conclusion stands on 500 fresh points: clean test error ≤ 0.01,
    robust training error 0, robust test error in [0.4, 0.6] (transfer attack); else 0."""
    clean = error(state.margin(scene.test(500)))
    robust = error(state.margin(scene.test(500), scene.attack))
    trained = error(state.margin(scene.train, scene.attack))
    return ((clean <= 0.01) & (trained == 0) & ((robust - 0.5).abs() <= 0.1)).double()


@measures(r"$\alpha u_r$", axes=("unit",))
def signals(state: State[Tensor], scene: PatchScene) -> Float[Tensor, "S m"]:
    """α u_r = α⟨w_r, w*⟩ of every filter r, §4.1 of CGRO."""
    return scene.data.alpha * _reduced(state).u


@measures(
    predicted_T0=r"$T_0$, closed form",
    predicted_T1_first=r"$T_1$ of the first sample, closed form",
    predicted_T1_median=r"$T_1$ of the median sample, closed form",
)
def predicted_times(state: State[Tensor], scene: PatchScene) -> dict[str, Float[Tensor, " S"]]:
    """The closed forms of T₀, and of T₁ of the first and of the median sample (ours), from W⁽⁰⁾.

    predicted_T0: The closed form of T₀, when α max_r u_r reaches 1 (ours), from W⁽⁰⁾.
    predicted_T1_first: The closed form of T₁ of the first sample, when its V_i reaches 1 (ours),
        from W⁽⁰⁾.
    predicted_T1_median: The closed form of T₁ of the median sample, when its V_i reaches 1 (ours),
        from W⁽⁰⁾.

    >>> [measure.name for measure in predicted_times.measures]
    ['predicted_T0', 'predicted_T1_first', 'predicted_T1_median']
    """
    own, rule, data = _reduced(state), scene.setting.rule, scene.data
    assert own.at.G is not None
    start = own.at.G @ scene.setting.W0.mT
    each = start.view(len(start), rule.n, -1).amax(-1).sort(-1, descending=True).values

    def late(v: float) -> float:
        return memory_time(v, rule.n, data.d, data.sigma, rule.eta, rule.risk.lam)

    times = []
    for u0, v0 in zip(scene.setting.W0[..., 0].amax(-1).tolist(), each.tolist(), strict=True):
        early = signal_time(u0, data.alpha, rule.eta, rule.risk.lam)
        times.append([early, late(v0[0]), late(v0[rule.n // 2])])
    first, *T1 = torch.tensor(times, dtype=torch.float64).clamp_max(1e300).mT  # never: a number
    return {"predicted_T0": first, "predicted_T1_first": T1[0], "predicted_T1_median": T1[1]}


@measures(r"$\alpha^3 U$, closed form")
def predicted_level(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """The closed form of α³U in phase II (ours), frozen at the predicted T₁ of the median sample.

    >>> predicted_level.measures[0].symbol.endswith("closed form")
    True
    """
    rule, alpha = scene.setting.rule, scene.data.alpha

    def freeze() -> list[float]:
        return predicted_times(state, scene)["predicted_T1_median"].tolist()

    def level(T: float) -> float:
        if not state.t:
            return 0.0
        return phase_two_level(min(state.t, int(min(T, 1e12))), rule.eta, alpha, rule.risk.lam)

    return torch.tensor([level(T) for T in scene.once("freeze", freeze)], dtype=torch.float64)
