"""The constants that CGRO's lemmas leave open, worked out at every step of a training."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.probes.features import PatchScene
from adversarium.probes.measuring import described, measures
from adversarium.probes.memorisation import reduced
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Measure, Recorded, Rows, State
from adversarium.training.engines.signal_noise import SignalNoiseState

TAILS = (2.0, 4.0, 6.0)  # in units of its own deviation
_SPARSE = 16  # the gradient is measured at every so many steps


def _growth(state: SignalNoiseState) -> Float[Tensor, " S"]:
    """Δu_r/(ηα³u_r²ψ(α³U)), the same for every r."""
    at = state.at
    clean = (1 - at.lam) * torch.sigmoid(-state.clean_margin)
    robust = at.lam * torch.sigmoid(-state.robust_margin)
    pull = (clean + at.g3 * robust).mean(-1)
    return 3 * pull / torch.sigmoid(-at.a3[:, 0] * state.U)


@measures(r"$\Delta u_r/(\eta\alpha^3 u_r^2\,\psi(\alpha^3 U))$")
def growth_constant(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """Δu_r over ηα³u_r²ψ(α³U), the open constant of Lemma 4.2 of CGRO.

    >>> growth_constant.measures[0].name
    'growth_constant'
    """
    return _growth(reduced(state))


@dataclass(frozen=True)
class Extremes:
    """What OpenConstants remembers, one number a seed each."""

    growth: Float[Tensor, " S"]
    bound: Float[Tensor, " S"]
    signal: Float[Tensor, " S"]
    noise: Float[Tensor, " S"]
    steepness: Float[Tensor, " S"]
    doubt: Float[Tensor, " S"]  # Σ_s mean_i ψ(y_i f(X_i^adv))
    begun: Float[Tensor, " S"]  # has α max u reached 1?


@dataclass(frozen=True)
class OpenConstants:
    """The constants of Lemmas 4.2, 4.3, C.8 and C.11 of CGRO at every step of a run.

    least_growth: The least Δu_r/(ηα³u_r²ψ(α³U)) while every V_i < 1, Lemma 4.2 of CGRO.
    signal_bound: The largest max_r u_r/(1/α + ηα³(1 − γ)³/N ΣΣψ) from T₀ on, Lemma 4.3 of CGRO.
    signal_peak: The largest α max_r u_r at any step, Lemma C.11 of CGRO.
    noise_peak: The largest |v| at any step, Lemma C.11 of CGRO.
    least_steepness: The least ‖∇L‖/L from T₁ of the last sample on (every 16th step), Lemma C.8 of
        CGRO; NaN where T₁ was not reached.

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
        """The memory after one more state."""
        own = reduced(state)
        at, alpha = own.at, scene.data.alpha
        zero = torch.zeros_like(own.U)
        never = zero + math.inf
        was = Extremes(never, zero, zero, zero, never, zero, zero) if memory is None else memory
        signal, noise = alpha * own.u.amax(-1), own.v.abs().flatten(1).amax(-1)
        begun = torch.maximum(was.begun, (signal >= 1).double())
        allowed = 1 + (at.eta * at.a3 * at.g3)[:, 0] * alpha * was.doubt
        early = own.V.amax(-1) < 1
        growth, steepness = was.growth, was.steepness
        growth = torch.where(early, torch.minimum(growth, _growth(own)), growth)
        late = own.V.amin(-1) >= 1
        if own.t % _SPARSE == 0 and bool(late.any()):
            ratio = own.gradient_norm / own.risk()
            steepness = torch.where(late, torch.minimum(steepness, ratio), steepness)
        return Extremes(
            growth=growth,
            bound=torch.where(begun > 0, torch.maximum(was.bound, signal / allowed), was.bound),
            signal=torch.maximum(was.signal, signal),
            noise=torch.maximum(was.noise, noise),
            steepness=steepness,
            doubt=was.doubt + torch.sigmoid(-own.robust_margin).mean(-1),
            begun=begun,
        )

    def rows(self, memory: Extremes) -> Rows:
        """The five constants."""
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
    """Theorem C.12 of CGRO on 10,000 fresh points, Z being the part of y f(X) that noise patches
    carry.

    broken: The share of points that the transfer attack breaks.
    half_outweighed: Half the share of points with |Z| ≥ α³(1 − γ)³U.
    positive_noise: The share of points with Z > 0.

    >>> [measure.name for measure in fresh_shares.measures]
    ['broken', 'half_outweighed', 'positive_noise']
    """
    own = reduced(state)
    Z = own.margin(scene.test(10_000)) - own.at.a3 * own.U[:, None]
    signal = own.at.a3 * own.at.g3 * own.U[:, None]
    return {
        "broken": (Z + signal <= 0).double().mean(-1),
        "half_outweighed": (Z.abs() >= signal).double().mean(-1) / 2,
        "positive_noise": (Z > 0).double().mean(-1),
    }


@measures(r"$P[|Z| \geq x\,\mathrm{sd}(Z)]$", axes=("x",))
def scaled_tail(state: State[Tensor], scene: PatchScene) -> dict[str, Recorded]:
    """P[|Z| ≥ x sd(Z)] of fresh noise, which Theorem C.12 of CGRO calls sub-Gaussian; 100,000
    draws.

    >>> scaled_tail.measures[0].axes
    ('x',)
    """
    data = scene.data
    off = reduced(state).W.clone()
    off[..., 0] = 0
    values, vectors = torch.linalg.eigh(off @ off.mT)
    root = vectors * values.clamp_min(0).sqrt()[:, None, :]  # root rootᵀ: the Gram matrix of β
    draws = normal((len(off), 100_000, data.P - 1, off.shape[1]),
                   streams(scene.setting.seeds, "tail")).to(off)  # fmt: skip
    Z = torch.einsum("snjk,srk->snjr", draws, root).pow(3).sum((2, 3))
    sizes = Z.abs() / Z.std(-1, keepdim=True)
    shares = [(sizes >= x).double().mean(-1) for x in TAILS]
    return {"scaled_tail": Recorded(torch.stack(shares, dim=-1), at={"x": TAILS})}
