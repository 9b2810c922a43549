"""Measure the quantities in CGRO's lemmas at every step of the reduced dynamics (u, v)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.measure.errors import error
from adversarium.measure.measuring import described, measures
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows, State
from adversarium.training.engines.signal_noise import SignalNoiseState

from .bounds import memory_time, phase_two_level, signal_time
from .features import PatchScene


def reduced(state: State[Tensor]) -> SignalNoiseState:
    """Return the state, or raise unless it contains (u, v)."""
    if not isinstance(state, SignalNoiseState):
        raise ValueError(
            f"this probe reads (u, v) of the engine signal_noise, got a {type(state).__name__}; "
            "use the attack GTA or none."
        )
    return state


@dataclass(frozen=True)
class Residues:
    """The running values of NoiseResidual: v(0), the sums of the own terms and of the terms of the
    lower bound, and the quantities that it reports."""

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
    """|v(t) − v(0) − Σ own terms|, where the own term of a noise patch G_a of point i at one step
    is (3η/N)ψ̃_i‖G_a‖²v², Lemmas C.5 and 4.4 of CGRO.

    residual: The largest |v(t) − v(0) − Σ own terms| after the last step, Lemma C.5 of CGRO.
    lower_residual: The largest shortfall of v below v(0) + 3λ(ησ²d/N)Σψ(V_i)v² after the last step,
        Lemma 4.4 of CGRO.
    residual_share: The largest residual/(√(N(P − 1)/d) max|v|) at any step (our normalisation).
    lower_share: The largest lower_residual/(√(N(P − 1)/d) max|v|) at any step (our normalisation).
    first_term: ληα³(1 − γ)³/N ΣΣψ, the first term of the bound in Lemma C.5 of CGRO.
    second_term: Pσ²√d/α, the second term of the bound in Lemma C.5 of CGRO.

    >>> NoiseResidual().measures[-1].sentence
    'Pσ²√d/α, the second term of the bound in Lemma C.5 of CGRO.'
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The residuals, their shares and the two terms of the lemma."""
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
        """Return the running values after one more state."""
        state = reduced(state)
        recipe, at, data = scene.problem.recipe, state.at, scene.data
        patches = state.v.shape[1]
        clean, robust = torch.sigmoid(-state.clean_margin), torch.sigmoid(-state.robust_margin)
        before = self._empty(state) if memory is None else memory
        gap = (state.v - before.start - before.own).abs().flatten(1).amax(-1)
        shortfall = (before.start + before.floor - state.v).flatten(1).amax(-1).clamp_min(0)
        scale = (patches / data.d) ** 0.5 * state.v.abs().flatten(1).amax(-1)

        def wide(psi: Tensor) -> Tensor:
            return psi.repeat_interleave(patches // recipe.n, dim=-1)[..., None]

        step = 3 * recipe.eta / recipe.n * state.v.square()
        psi = (1 - at.lam) * clean + at.lam * robust
        square = at.K.diagonal(dim1=1, dim2=2)[..., None]
        typical = data.sigma**2 * data.d
        rise = at.lam[..., None] * wide(torch.sigmoid(-state.V)) * typical * step
        return Residues(
            start=before.start,
            own=before.own + wide(psi) * square * step,
            floor=before.floor + rise,
            first_term=before.first_term
            + (at.lam * recipe.eta * at.a3 * at.g3)[:, 0] * robust.mean(-1),
            second_term=torch.full_like(gap, data.P * data.sigma**2 * data.d**0.5 / data.alpha),
            residual=gap,
            lower_residual=shortfall,
            residual_share=torch.maximum(before.residual_share, gap / scale),
            lower_share=torch.maximum(before.lower_share, shortfall / scale),
        )

    def _empty(self, state: SignalNoiseState) -> Residues:
        zero, wide = torch.zeros_like(state.U), torch.zeros_like(state.v)
        return Residues(state.v, wide, wide, zero, zero, zero, zero, zero, zero)

    def rows(self, memory: Residues) -> Rows:
        """Return the residuals, their shares and the two terms of the lemma."""
        return {
            "residual": memory.residual,
            "lower_residual": memory.lower_residual,
            "residual_share": memory.residual_share,
            "lower_share": memory.lower_share,
            "first_term": memory.first_term,
            "second_term": memory.second_term,
        }


@dataclass(frozen=True)
class NoiseFall:
    """The largest v(0) − v(t) at any step, divided by Pσ²√d/α. The bound that Lemma 4.4 of CGRO
    implies for it does not depend on the constant before the lemma's sum, which is nonnegative.

    >>> NoiseFall().measures[0].name
    'noise_fall'
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The largest fall."""
        symbol = r"$\max_t (v(0) - v(t))/(P\sigma^2\sqrt{d}/\alpha)$"
        return described({"noise_fall": symbol}, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: PatchScene
    ) -> tuple[Tensor, Tensor]:
        """Return v(0) and the largest fall after one more state."""
        uv, data = reduced(state), scene.data
        start, worst = (uv.v, torch.zeros_like(uv.U)) if memory is None else memory
        fall = (start - uv.v).flatten(1).amax(-1)
        return start, torch.maximum(
            worst, fall / (data.P * data.sigma**2 * data.d**0.5 / data.alpha)
        )

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """Return the largest fall."""
        return {"noise_fall": memory[1]}


@dataclass(frozen=True)
class Decay:
    """The largest L·η·(t − T₁ + 1) for t ≥ T₁, where L is the training loss and T₁ the first step
    with every V_i ≥ 1, Lemma C.9 of CGRO.

    >>> Decay().rows((torch.tensor([math.nan]), torch.zeros(1)))  # T₁ was never reached
    {'decay_product': tensor([nan])}
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The largest product."""
        symbol = r"$\max_{t \geq T_1} L\,\eta\,(t - T_1 + 1)$"
        return described({"decay_product": symbol}, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: PatchScene
    ) -> tuple[Tensor, Tensor]:
        """Return T₁ and the largest product after one more state."""
        state = reduced(state)
        not_reached, zero = torch.full_like(state.U, math.nan), torch.zeros_like(state.U)
        T1, worst = (not_reached, zero) if memory is None else memory
        T1 = torch.where(T1.isnan() & (state.V.amin(-1) >= 1), float(state.t), T1)
        product = state.risk() * scene.problem.recipe.eta * (state.t - T1 + 1)
        return T1, torch.where(T1.isnan(), worst, torch.maximum(worst, product))

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """Return the largest product, or NaN if T₁ was never reached."""
        T1, worst = memory
        return {"decay_product": torch.where(T1.isnan(), math.nan, worst)}


@measures(r"$\eta\sigma_0\lambda\,\mathrm{mean}_i\,\psi(y_i f(X_i^{adv}))$")
def attacked_doubt(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """ησ0·λ mean_i ψ(y_i f(X_i^adv)); Lemma C.10 of CGRO bounds its sum over the steps.

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem
    >>> data = av.data.PatchData(d=9, P=2, alpha=2.0, sigma=0.1)
    >>> recipe = Recipe(n=2, steps=1, eta=0.1)
    >>> network = av.networks.CubicCNN(m=2, sigma0=1e-9)
    >>> problem = Problem(data, network, av.attacks.GTA(gamma=0.5), recipe, (0,))
    >>> engine = ENGINES["signal_noise"]
    >>> state = engine.split(engine.init((problem,)))[0]
    >>> round(attacked_doubt(state, av.measure.Scene(problem)).item() / (0.1 * 1e-9), 6)  # ψ(0) = ½
    0.5
    """
    state = reduced(state)
    recipe = scene.problem.recipe
    psi = torch.sigmoid(-state.robust_margin).mean(-1)
    return recipe.eta * scene.network.sigma0 * state.at.lam[:, 0] * psi


@measures(r"$V/(V + \alpha^3(1-\gamma)^3 U)$")
def memory_share(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """V/(V + α³(1 − γ)³U), with V the median V_i: the share of memorised noise in an attacked
    margin (our measure).

    It is near 1 if noise was memorised first and near 0 if the attacked signal was learnt. Negative
    parts count as 0, and the share is ½ if both parts are small.

    >>> memory_share.measures[0].name, memory_share.measures[0].axes
    ('memory_share', ())
    """
    state = reduced(state)
    noise = state.V.median(-1).values.clamp_min(0)
    signal = (state.at.a3 * state.at.g3)[:, 0] * state.U.clamp_min(0)
    total = noise + signal
    return torch.where(total > 0.1, noise / total.clamp_min(1e-300), 0.5)


@measures("the conclusion of Theorem 4.1 stands (0 no, 1 yes)")
def conclusion(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """1 if the conclusion of Theorem 4.1 of CGRO holds on 500 fresh points: clean test error ≤
    0.01, robust training error 0 and robust test error in [0.4, 0.6] (transfer attack); else 0.

    Before anything is learnt, it does not hold:

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem
    >>> data = av.data.PatchData(d=9, P=2, alpha=2.0, sigma=0.1)
    >>> recipe = Recipe(n=2, steps=1, eta=0.1)
    >>> network = av.networks.CubicCNN(m=2, sigma0=0.1)
    >>> problem = Problem(data, network, av.attacks.GTA(gamma=0.5), recipe, (0,))
    >>> engine = ENGINES["signal_noise"]
    >>> state = engine.split(engine.init((problem,)))[0]
    >>> conclusion(state, av.measure.Scene(problem)).item()
    0.0
    """
    clean = error(state.margin(scene.test(500)))
    robust = error(state.margin(scene.test(500), scene.attack))
    trained = error(state.margin(scene.train, scene.attack))
    return ((clean <= 0.01) & (trained == 0) & ((robust - 0.5).abs() <= 0.1)).double()


@measures(r"$\alpha u_r$", axes=("unit",))
def signals(state: State[Tensor], scene: PatchScene) -> Float[Tensor, "S m"]:
    """α u_r = α⟨w_r, w*⟩ for every filter r, §4.1 of CGRO.

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem
    >>> data = av.data.PatchData(d=9, P=2, alpha=2.0, sigma=0.1)
    >>> recipe = Recipe(n=2, steps=1, eta=0.1)
    >>> network = av.networks.CubicCNN(m=2, sigma0=0.1)
    >>> problem = Problem(data, network, av.attacks.GTA(gamma=0.5), recipe, (0,))
    >>> engine = ENGINES["signal_noise"]
    >>> state = engine.split(engine.init((problem,)))[0]
    >>> torch.allclose(signals(state, av.measure.Scene(problem)), 2.0 * problem.W0[..., 0])
    True
    """
    return scene.data.alpha * reduced(state).u


@measures(
    predicted_T0=r"$T_0$, closed form",
    predicted_T1_first=r"$T_1$ of the first sample, closed form",
    predicted_T1_median=r"$T_1$ of the median sample, closed form",
)
def predicted_times(state: State[Tensor], scene: PatchScene) -> dict[str, Float[Tensor, " S"]]:
    """Our closed forms, from W⁽⁰⁾, of T₀ and of the times when the first and the median V_i reach
    1.

    predicted_T0: Our closed form of T₀, when α max_r u_r reaches 1, from W⁽⁰⁾.
    predicted_T1_first: Our closed form, from W⁽⁰⁾, of the time at which the first V_i reaches 1.
    predicted_T1_median: Our closed form, from W⁽⁰⁾, of the time at which the median V_i reaches 1.

    >>> [measure.name for measure in predicted_times.measures]
    ['predicted_T0', 'predicted_T1_first', 'predicted_T1_median']
    """
    uv, recipe, data = reduced(state), scene.problem.recipe, scene.data
    assert uv.at.G is not None
    start = uv.at.G @ scene.problem.W0.mT
    largest_v = start.view(len(start), recipe.n, -1).amax(-1).sort(-1, descending=True).values

    def time_of(v: float) -> float:
        return memory_time(v, recipe.n, data.d, data.sigma, recipe.eta, recipe.risk.lam)

    times = []
    for u0, v0 in zip(scene.problem.W0[..., 0].amax(-1).tolist(), largest_v.tolist(), strict=True):
        T0 = signal_time(u0, data.alpha, recipe.eta, recipe.risk.lam)
        times.append([T0, time_of(v0[0]), time_of(v0[recipe.n // 2])])
    # replace inf by a large number
    first, *T1 = torch.tensor(times, dtype=torch.float64).clamp_max(1e300).mT
    return {"predicted_T0": first, "predicted_T1_first": T1[0], "predicted_T1_median": T1[1]}


@measures(r"$\alpha^3 U$, closed form")
def predicted_level(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """Our closed form of α³U in phase II; constant once the median V_i should have reached 1.

    >>> predicted_level.measures[0].symbol.endswith("closed form")
    True
    """
    recipe, alpha = scene.problem.recipe, scene.data.alpha

    def freeze() -> list[float]:
        return predicted_times(state, scene)["predicted_T1_median"].tolist()

    def level(T: float) -> float:
        if not state.t:
            return 0.0
        return phase_two_level(min(state.t, int(min(T, 1e12))), recipe.eta, alpha, recipe.risk.lam)

    return torch.tensor([level(T) for T in scene.once("freeze", freeze)], dtype=torch.float64)
