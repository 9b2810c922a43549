"""Compute the constants that CGRO's lemmas leave unspecified, at every step of a training run."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.measure.measuring import described, measures
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Measure, Recorded, Rows, State
from adversarium.training.engines.signal_noise import SignalNoiseState

from .features import PatchScene
from .memorisation import reduced

TAILS = (1.5, 2.5, 3.5)  # in standard deviations of Z; 100,000 Gaussian draws exceed each
_SPARSE = 16  # the gradient is evaluated only at every 16th step


def _growth(state: SignalNoiseState) -> Float[Tensor, " S"]:
    """Return Δu_r/(ηα³u_r²ψ(α³U)), which is the same for every r."""
    at = state.at
    clean = (1 - at.lam) * torch.sigmoid(-state.clean_margin)
    robust = at.lam * torch.sigmoid(-state.robust_margin)
    pull = (clean + at.g3 * robust).mean(-1)
    return 3 * pull / torch.sigmoid(-at.a3[:, 0] * state.U)


@measures(r"$\Delta u_r/(\eta\alpha^3 u_r^2\,\psi(\alpha^3 U))$")
def growth_constant(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """Δu_r divided by ηα³u_r²ψ(α³U), the unspecified constant of Lemma 4.2 of CGRO.

    >>> growth_constant.measures[0].name
    'growth_constant'
    """
    return _growth(reduced(state))


@dataclass(frozen=True)
class Extremes:
    """The running values of OpenConstants, one per seed."""

    growth: Float[Tensor, " S"]
    bound: Float[Tensor, " S"]
    signal: Float[Tensor, " S"]
    noise: Float[Tensor, " S"]
    steepness: Float[Tensor, " S"]
    doubt: Float[Tensor, " S"]  # Σ_s mean_i ψ(y_i f(X_i^adv))
    begun: Float[Tensor, " S"]  # 1 if α max u has reached 1, else 0


@dataclass(frozen=True)
class OpenConstants:
    """The extreme constants of Lemmas 4.2, 4.3, C.8 and C.11 of CGRO over all steps of a run.

    least_growth: The smallest Δu_r/(ηα³u_r²ψ(α³U)) while every V_i < 1, Lemma 4.2 of CGRO.
    signal_bound: The largest max_r u_r/(1/α + ηα³(1 − γ)³/N ΣΣψ) for t ≥ T₀, Lemma 4.3 of CGRO.
    signal_peak: The largest α max_r u_r at any step, Lemma C.11 of CGRO.
    noise_peak: The largest |v| at any step, Lemma C.11 of CGRO.
    least_steepness: The smallest ‖∇L‖/L over the steps with every V_i ≥ 1 (only every 16th step is
        tested), Lemma C.8 of CGRO; NaN if there is no such step.

    >>> [measure.name for measure in OpenConstants().measures][:2]
    ['least_growth', 'signal_bound']
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The five constants."""
        symbols = {
            "least_growth": r"$\min_{t < T_1} \Delta u_r/(\eta\alpha^3 u_r^2\psi(\alpha^3 U))$",
            "signal_bound": r"$\max u_r/(1/\alpha + \eta\alpha^3(1-\gamma)^3 N^{-1}\sum\sum\psi)$",
            "signal_peak": r"$\max_t \alpha\,\max_r u_r$",
            "noise_peak": r"$\max_t \max |v|$",
            "least_steepness": r"$\min_{t \geq T_1} \|\nabla L\|/L$",
        }
        return described(symbols, type(self).__doc__)

    def see(self, memory: Extremes | None, state: State[Tensor], scene: PatchScene) -> Extremes:
        """Return the running values after one more state."""
        uv = reduced(state)
        at, alpha = uv.at, scene.data.alpha
        zero = torch.zeros_like(uv.U)
        never = zero + math.inf
        before = Extremes(never, zero, zero, zero, never, zero, zero) if memory is None else memory
        signal, noise = alpha * uv.u.amax(-1), uv.v.abs().flatten(1).amax(-1)
        begun = torch.maximum(before.begun, (signal >= 1).double())
        allowed = 1 + (at.eta * at.a3 * at.g3)[:, 0] * alpha * before.doubt
        early = uv.V.amax(-1) < 1
        growth, steepness = before.growth, before.steepness
        growth = torch.where(early, torch.minimum(growth, _growth(uv)), growth)
        late = uv.V.amin(-1) >= 1
        if uv.t % _SPARSE == 0 and bool(late.any()):
            ratio = uv.gradient_norm / uv.risk()
            steepness = torch.where(late, torch.minimum(steepness, ratio), steepness)
        return Extremes(
            growth=growth,
            bound=torch.where(
                begun > 0, torch.maximum(before.bound, signal / allowed), before.bound
            ),
            signal=torch.maximum(before.signal, signal),
            noise=torch.maximum(before.noise, noise),
            steepness=steepness,
            doubt=before.doubt + torch.sigmoid(-uv.robust_margin).mean(-1),
            begun=begun,
        )

    def rows(self, memory: Extremes) -> Rows:
        """Return the five constants."""
        return {
            "least_growth": memory.growth,
            "signal_bound": memory.bound,
            "signal_peak": memory.signal,
            "noise_peak": memory.noise,
            "least_steepness": torch.where(memory.steepness.isinf(), math.nan, memory.steepness),
        }


@measures(
    broken=r"$P[\alpha^3(1-\gamma)^3 U + Z \leq 0]$",
    half_outweighed=r"$\frac{1}{2} P[|Z| \geq \alpha^3(1-\gamma)^3 U]$",
    positive_noise=r"$P[Z > 0]$",
)
def fresh_shares(state: State[Tensor], scene: PatchScene) -> dict[str, Float[Tensor, " S"]]:
    """Theorem C.12 of CGRO on 10,000 fresh points, where Z is the part of y f(X) that comes from
    the noise patches.

    broken: The share of points that the transfer attack misclassifies.
    half_outweighed: Half the share of points with |Z| ≥ α³(1 − γ)³U.
    positive_noise: The share of points with Z > 0.

    >>> [measure.name for measure in fresh_shares.measures]
    ['broken', 'half_outweighed', 'positive_noise']
    """
    uv = reduced(state)
    Z = uv.margin(scene.test(10_000)) - uv.at.a3 * uv.U[:, None]
    signal = uv.at.a3 * uv.at.g3 * uv.U[:, None]
    return {
        "broken": (Z + signal <= 0).double().mean(-1),
        "half_outweighed": (Z.abs() >= signal).double().mean(-1) / 2,
        "positive_noise": (Z > 0).double().mean(-1),
    }


@measures(r"$P[|Z| \geq x\,\mathrm{sd}(Z)]$", axes=("x",))
def noise_tail(state: State[Tensor], scene: PatchScene) -> dict[str, Recorded]:
    """P[|Z| ≥ x sd(Z)] for fresh noise, from 100,000 draws; Theorem C.12 of CGRO calls Z
    sub-Gaussian.

    >>> noise_tail.measures[0].axes
    ('x',)
    """
    data = scene.data
    beta = reduced(state).W.clone()
    beta[..., 0] = 0
    values, vectors = torch.linalg.eigh(beta @ beta.mT)
    # root rootᵀ is the Gram matrix of the filters orthogonal to w*
    root = vectors * values.clamp_min(0).sqrt()[:, None, :]
    draws = normal((len(beta), 100_000, data.P - 1, beta.shape[1]),
                   streams(scene.problem.seeds, "tail")).to(beta)  # fmt: skip
    Z = torch.einsum("snjk,srk->snjr", draws, root).pow(3).sum((2, 3))
    sizes = Z.abs() / Z.std(-1, keepdim=True)
    shares = [(sizes >= x).double().mean(-1) for x in TAILS]
    return {"noise_tail": Recorded(torch.stack(shares, dim=-1), at={"x": TAILS})}
