"""Probes of RNRF: correlations with robust and non-robust features, outputs and errors."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD, MarginStep
from adversarium.attacks.transfer import FeatureReplacement
from adversarium.data.two_features import TwoFeatureBatch, TwoFeaturePatches
from adversarium.measure.errors import error
from adversarium.measure.measuring import described, measures
from adversarium.measure.scene import Scene
from adversarium.networks.smoothed_cnn import SmoothedCNN
from adversarium.rng import measuring
from adversarium.shapes import Float
from adversarium.sockets import Measure, State
from adversarium.training.objectives import true_logit
from adversarium.training.states import perturbed

TwoFeatureScene = Scene[TwoFeaturePatches, SmoothedCNN, MarginStep | None, TwoFeatureBatch]


def correlations(state: State[Tensor], scene: TwoFeatureScene) -> tuple[Tensor, Tensor]:
    """⟨w_{i,r}, u_j⟩ and ⟨w_{i,r}, v_j⟩, each (S, k, m, k): A, C and B, D of Lemma D.2 of RNRF."""
    return state.inner(scene.data.U.mT), state.inner(scene.data.V.mT)


def every_correlation(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k m f"]:
    """⟨w_{i,r}, f⟩ for the 2k features f = u_1 … u_k, v_1 … v_k."""
    return torch.cat(correlations(state, scene), dim=-1)


def diagonal(inner: Float[Tensor, "S k m k"]) -> Float[Tensor, "S k m"]:
    """⟨w_{i,r}, f_i⟩: each filter with the feature of its own class."""
    return inner.diagonal(dim1=1, dim2=3).mT


def off_diagonal(inner: Float[Tensor, "S k m k"]) -> Float[Tensor, "S r"]:
    """⟨w_{i,r}, f_j⟩ with j ≠ i, one row per seed."""
    k = inner.shape[1]
    other = ~torch.eye(k, dtype=torch.bool, device=inner.device)
    return inner.transpose(2, 3)[:, other].flatten(1)


@measures(r"$\sum_s \max(B_{i,s}, 0)^q$", axes=("class",))
def nonrobust_total(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """Σ_s max(B_{i,s}, 0)^q of every class i, Lemma 5.2 of RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1, q=3), None, recipe, (0,))
    >>> state = av.training.WeightState(problem, 0, 2 * data.V[None, :, None])  # B = 2
    >>> nonrobust_total(state, av.measure.Scene(problem)).tolist()
    [[8.0, 8.0]]
    """
    return diagonal(correlations(state, scene)[1]).clamp_min(0).pow(scene.network.q).sum(-1)


@measures(r"$\max C$")
def foreign_robust(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """max C = max_{i,r,j≠i} ⟨w_{i,r}, u_j⟩, Lemmas D.7 and D.21 of RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> swapped = av.training.WeightState(problem, 0, 3 * data.U.flip(0)[None, :, None])
    >>> foreign_robust(swapped, av.measure.Scene(problem)).item()
    3.0
    """
    return off_diagonal(correlations(state, scene)[0]).amax(-1)


@measures(r"$\max D$")
def foreign_nonrobust(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """max D = max_{i,r,j≠i} ⟨w_{i,r}, v_j⟩, Lemmas D.7 and D.21 of RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> own = av.training.WeightState(problem, 0, 3 * data.V[None, :, None])  # own class only
    >>> foreign_nonrobust(own, av.measure.Scene(problem)).item()
    0.0
    """
    return off_diagonal(correlations(state, scene)[1]).amax(-1)


def attack_step(scene: TwoFeatureScene) -> float:
    """η̃ per point, or 0 without an attack."""
    return 0.0 if scene.attack is None else scene.attack.step_size


def attacked_by(scene: TwoFeatureScene) -> MarginStep:
    """Return the training attack; raise if there is none."""
    if scene.attack is None:
        raise ValueError("this measure needs adversarial training: attack=MarginStep(…), got None.")
    return scene.attack


def plateau(scene: TwoFeatureScene) -> float:
    """ϱ^{q−1}/(η̃ β^{q−2}), where κ_B = 1 in Lemma 5.2 of RNRF; ∞ without an attack."""
    q, rho, step = scene.network.q, scene.network.rho, attack_step(scene)
    level: float = rho ** (q - 1) / (step * scene.data.beta ** (q - 2)) if step else math.inf
    return level


@measures(
    length_A=r"$\|A\|_F$",
    length_B=r"$\|B\|_F$",
    length_C=r"$\|C\|_F$",
    length_D=r"$\|D\|_F$",
    length_off=r"$\|P_\perp W\|_F$",
    off_l1=r"$\max \|P_\perp w\|_1$",
)
def decomposition(state: State[Tensor], scene: TwoFeatureScene) -> dict[str, Float[Tensor, " S"]]:
    """Norms of the parts of w = P_⊥w + A u_i + B v_i + Σ_{j≠i} (C u_j + D v_j), Lemmas D.2 and D.16
    of RNRF.

    length_A: ‖A‖_F, the filters along the robust feature of their own class, Lemma D.2 of RNRF.
    length_B: ‖B‖_F, the filters along the non-robust feature of their own class, Lemma D.2 of RNRF.
    length_C: ‖C‖_F, the filters along the robust features of other classes, Lemma D.2 of RNRF.
    length_D: ‖D‖_F, the filters along the non-robust features of other classes, Lemma D.2 of RNRF.
    length_off: ‖P_⊥W‖_F, the filters off all features, Lemmas D.2 and D.16 of RNRF.
    off_l1: The largest ‖P_⊥w‖₁ of a filter, Lemmas D.2 and D.16 of RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=5, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> W = (data.U * torch.tensor([[3.0], [4.0]]))[None, :, None]  # w_0 = 3u_0, w_1 = 4u_1
    >>> state = av.training.WeightState(problem, 0, W)
    >>> {name: x.item() for name, x in decomposition(state, av.measure.Scene(problem)).items() if x}
    {'length_A': 5.0}
    """
    robust, other = correlations(state, scene)
    off = state.W[..., 2 * scene.data.k :].abs()
    parts = {
        "length_A": diagonal(robust),
        "length_B": diagonal(other),
        "length_C": off_diagonal(robust),
        "length_D": off_diagonal(other),
        "length_off": off,
    }
    lengths = {name: part.flatten(1).square().sum(-1).sqrt() for name, part in parts.items()}
    return {**lengths, "off_l1": off.sum(-1).flatten(1).amax(-1)}


@measures(
    true_logit=r"$F_y(X)$",
    doubt=r"$1 - \pi_y(X)$",
    log_doubt=r"$\log(1 - \pi_y(X))$",
    class_balance=r"$\min F_y/\max F_y$",
)
def outputs(state: State[Tensor], scene: TwoFeatureScene) -> dict[str, Float[Tensor, " S"]]:
    """The outputs at the training points X, Lemmas D.5 and E.5 of RNRF.

    true_logit: The mean of F_y over the training points, Lemma D.5 of RNRF.
    doubt: The mean of 1 − π_y over the training points, Lemma D.5 of RNRF.
    log_doubt: The mean of log(1 − π_y) over the training points, Lemma D.5 of RNRF.
    class_balance: The smallest min F_y/max F_y over the training points of a class, Lemma E.5 of
        RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> nothing = av.training.WeightState(problem, 0, 0 * problem.W0)
    >>> round(outputs(nothing, av.measure.Scene(problem))["doubt"].item(), 9)  # 1 − 1/k
    0.5
    """
    return _outputs(state.f(scene.train.x), scene)


@measures(r"$F_y(X)$ of a class", axes=("class",))
def class_logits(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """The mean of F_y over the training points of each class y, Lemma D.10 of RNRF.

    >>> class_logits.measures[0].name, class_logits.measures[0].axes
    ('class_logits', ('class',))
    """
    correct, y = true_logit(state.f(scene.train.x), scene.train.y).double(), scene.train.y
    member = torch.nn.functional.one_hot(y, scene.data.k).to(correct)  # (S, n, k)
    return (correct[..., None] * member).sum(1) / member.sum(1)


@measures(
    attacked_true_logit=r"$F_y(\tilde{X})$",
    attacked_doubt=r"$1 - \pi_y(\tilde{X})$",
    attacked_log_doubt=r"$\log(1 - \pi_y(\tilde{X}))$",
    attacked_class_balance=r"$\min F_y(\tilde{X})/\max F_y(\tilde{X})$",
)
def attacked_outputs(
    state: State[Tensor], scene: TwoFeatureScene
) -> dict[str, Float[Tensor, " S"]]:
    """The outputs at the attacked training points X̃, Lemmas D.19, D.20 and D.25 of RNRF.

    attacked_true_logit: The mean of F_y over the attacked training points, Lemmas D.19 and D.25 of
        RNRF.
    attacked_doubt: The mean of 1 − π_y over the attacked training points, Lemmas D.19 and D.20 of
        RNRF.
    attacked_log_doubt: The mean of log(1 − π_y) over the attacked training points, Lemmas D.19 and
        D.20 of RNRF.
    attacked_class_balance: The smallest min F_y/max F_y over the attacked training points of a
        class.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2, alpha=2.0, sigma_n=0.0)
    >>> attack, recipe = av.attacks.MarginStep(radius=0.5, step=10.0), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), attack, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, data.U[None, :, None])  # F_y = s(2 − ½)
    >>> round(attacked_outputs(state, av.measure.Scene(problem))["attacked_true_logit"].item(), 4)
    0.8333
    """
    values = _outputs(state.f(state.full.x_adv), scene)
    return {f"attacked_{name}": value for name, value in values.items()}


def _outputs(F: Float[Tensor, "S n k"], scene: TwoFeatureScene) -> dict[str, Float[Tensor, " S"]]:
    """Return the measures of `outputs` for the logits F."""
    F, y = F.double(), scene.train.y
    correct = true_logit(F, y)
    others = F.scatter(-1, y[..., None], -torch.inf).logsumexp(-1)
    log_doubt = -torch.nn.functional.softplus(correct - others)
    shares = []
    for i in range(scene.data.k):
        low = torch.where(y == i, correct, torch.inf).amin(-1)
        high = torch.where(y == i, correct, -torch.inf).amax(-1)
        shares.append(torch.where(high > 0, low / high, 1.0))  # 1 if all are 0 or there is no point
    return {
        "true_logit": correct.mean(-1),
        "doubt": log_doubt.exp().mean(-1),
        "log_doubt": log_doubt.mean(-1),
        "class_balance": torch.stack(shares).amin(0),
    }


@measures(
    noise_correlation=r"$\max |\langle w_{i,r}, \xi_{n,p}\rangle|$",
    noise_correlation_off=r"$\max |\langle w_{i,r}, P_\perp \xi_{n,p}\rangle|$",
)
def noise_correlations(
    state: State[Tensor], scene: TwoFeatureScene
) -> dict[str, Float[Tensor, " S"]]:
    """max |⟨w_{i,r}, ξ_{n,p}⟩| over filters and training patches, Lemmas E.3 and E.10 of RNRF.

    noise_correlation: max |⟨w_{i,r}, ξ_{n,p}⟩| over filters and training patches, Lemmas E.3 and
        E.10 of RNRF.
    noise_correlation_off: max |⟨w_{i,r}, P_⊥ξ_{n,p}⟩| over filters and training patches, where P_⊥ξ
        is the noise orthogonal to the features, Lemmas E.3 and E.10 of RNRF.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=6, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> state = av.training.WeightState(problem, 0, data.U[None, :, None])  # none off the features
    >>> {n: bool(x) for n, x in noise_correlations(state, av.measure.Scene(problem)).items()}
    {'noise_correlation': True, 'noise_correlation_off': False}
    """
    k, noise = scene.data.k, scene.train.noise.flatten(1, 2)
    entire = state.W @ noise.mT[:, None]
    off = state.W[..., 2 * k :] @ noise[..., 2 * k :].mT[:, None]
    return {
        "noise_correlation": entire.abs().flatten(1).amax(-1),
        "noise_correlation_off": off.abs().flatten(1).amax(-1),
    }


@dataclass(frozen=True)
class InnerGap:
    """(L(X̂) − L(X̃))/|L(X)| with L = −F_y, where X̃ are the points of the training attack and X̂ those
    of a longer ascent on the same loss: the part of the inner maximum that one step misses,
    relative to the clean value, where L is a mean over the training points, Remark 2.5 of RNRF.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2, sigma_n=0.0)
    >>> attack, recipe = av.attacks.MarginStep(radius=0.5, step=10.0), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), attack, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, data.U[None, :, None])
    >>> abs(InnerGap(steps=5)(state, av.measure.Scene(problem)).item()) < 1e-9  # one step suffices
    True
    """

    steps: int = 20  # steps of the longer ascent
    name: str = "inner_loss_gap"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The gap."""
        symbol = r"$(L(\hat{X}) - L(\tilde{X}))/|L(X)|$"
        return described({self.name: symbol}, type(self).__doc__)

    def __call__(self, state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
        train, problem, attack = scene.train, scene.problem, attacked_by(scene)
        longer = PGD(radius=attack.radius, steps=self.steps, loss=attack.loss)
        rng = measuring(problem.seeds, state.t, longer)
        further = perturbed(problem, state.W, train, longer, state.t, rng)
        points = (further, state.full.x_adv, train.x)
        lowest, lower, clean = (true_logit(state.f(x), train.y).double().mean(-1) for x in points)
        return (lower - lowest) / clean.abs()


@dataclass(frozen=True)
class SwappedError:
    """The share of fresh points whose prediction the model-free perturbation towards y' does not
    change to y', Theorem 4.3 of RNRF.

    >>> SwappedError(radius=0.5).measures[0].name
    'swapped_error'
    """

    radius: float  # ε
    n: int = 1000
    name: str = "swapped_error"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The share."""
        symbols = {self.name: "not predicted as $y'$"}
        return described(symbols, type(self).__doc__, points=self.n)

    def __call__(self, state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
        k, batch, problem = scene.data.k, scene.test(self.n), scene.problem
        attack = FeatureReplacement(radius=self.radius, k=k)
        rng = measuring(problem.seeds, state.t, attack)
        x = perturbed(problem, state.W, batch, attack, state.t, rng)
        towards = (x - batch.x)[..., k : 2 * k].sum(-2).argmax(-1)  # y', the feature that was added
        return (state.f(x).argmax(-1) != towards).double().mean(-1)


@dataclass(frozen=True)
class FeatureError:
    """The error on fresh points that contain only robust or only non-robust signals (and the
    noise), Definition 4.1 of RNRF; one minus the feature learning accuracy.

    >>> import adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=4, P=2, sigma_n=0.0)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=0.1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> state = av.training.WeightState(problem, 0, data.U[None, :, None])  # it has learnt only u
    >>> scene, kinds = av.measure.Scene(problem), ("robust", "nonrobust")
    >>> [FeatureError(keep, n=9)(state, scene).item() for keep in kinds]
    [0.0, 1.0]
    """

    keep: Literal["robust", "nonrobust"]
    n: int = 1000

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The error."""
        kind = "robust" if self.keep == "robust" else "non-robust"
        points = f"fresh points with only their {kind} signals and the noise"
        words = f"The share of misclassified points among {points}, Definition 4.1 of RNRF."
        name, symbol = f"{self.keep}_only_error", f"error on {kind} features alone"
        return (Measure(name, symbol, words, points=self.n),)

    def __call__(self, state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
        return error(state.margin(only(scene.test(self.n), self.keep, scene.data.k)))


def only(batch: TwoFeatureBatch, keep: Literal["robust", "nonrobust"], k: int) -> TwoFeatureBatch:
    """Return the points without the signals of the other kind of feature."""
    removed = ~batch.is_robust if keep == "robust" else batch.is_robust
    axis = torch.where(batch.is_robust, batch.y[..., None], k + batch.y[..., None])
    signal = torch.zeros_like(batch.x).scatter_add_(
        -1, axis[..., None], batch.strength[..., None].to(batch.x.dtype)
    )
    return replace(batch, x=batch.x - signal * removed[..., None])
