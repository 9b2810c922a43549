"""What a network has learnt of robust and non-robust features: the measures of RNRF."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.probes.errors import error
from adversarium.probes.scene import Scene
from adversarium.rng import streams
from adversarium.shapes import Float
from adversarium.training.objectives import true_logit
from adversarium.training.states import State, perturbed


def correlations(state: State, scene: Scene) -> tuple[Tensor, Tensor]:
    """⟨w_{i,r}, u_j⟩ and ⟨w_{i,r}, v_j⟩, each (S, k, m, k): A, C and B, D of Lemma D.2 of RNRF."""
    return state.inner(scene.data.U.mT), state.inner(scene.data.V.mT)


def every_correlation(state: State, scene: Scene) -> Float[Tensor, "S k m f"]:
    """⟨w_{i,r}, f⟩ for the 2k features f = u_1 … u_k, v_1 … v_k."""
    return torch.cat(correlations(state, scene), dim=-1)


def diagonal(inner: Tensor) -> Float[Tensor, "S k m"]:
    """⟨w_{i,r}, f_i⟩: a filter with its own class's feature."""
    return inner.diagonal(dim1=1, dim2=3).mT


def off_diagonal(inner: Tensor) -> Float[Tensor, "S r"]:
    """⟨w_{i,r}, f_j⟩ with j ≠ i, all in one row."""
    k = inner.shape[1]
    other = ~torch.eye(k, dtype=torch.bool, device=inner.device)
    return inner.transpose(2, 3)[:, other].flatten(1)


def nonrobust_total(state: State, scene: Scene) -> Float[Tensor, "S k"]:
    """Σ_s max(B_{i,s}, 0)^q of every class, Lemma 5.2 of RNRF."""
    q = scene.setting.network.q
    return diagonal(correlations(state, scene)[1]).clamp_min(0).pow(q).sum(-1)


def foreign_robust(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max C = max_{i,r,j≠i} ⟨w_{i,r}, u_j⟩, Lemmas D.7 and D.21 of RNRF."""
    return off_diagonal(correlations(state, scene)[0]).amax(-1)


def foreign_nonrobust(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max D = max_{i,r,j≠i} ⟨w_{i,r}, v_j⟩, Lemmas D.7 and D.21 of RNRF."""
    return off_diagonal(correlations(state, scene)[1]).amax(-1)


def feature_energy(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """The share of ‖w‖² that the features carry, in each class's filter with the largest B; the
    smallest over classes, §5 of RNRF."""
    k = scene.data.k
    B = diagonal(correlations(state, scene)[1])
    best = B.argmax(-1)[..., None, None].expand(*B.shape[:2], 1, state.W.shape[-1])
    w = state.W.gather(2, best).squeeze(2)
    return (w[..., : 2 * k].square().sum(-1) / w.square().sum(-1)).amin(-1)


def attack_step(scene: Scene) -> float:
    """η̃ a point; 0 without an attack."""
    return 0.0 if scene.attack is None else scene.attack.step_size


def plateau(scene: Scene) -> float:
    """ϱ^{q−1}/(η̃ β^{q−2}): where κ_B = 1 in Lemma 5.2 of RNRF; ∞ without an attack."""
    network, step = scene.setting.network, attack_step(scene)
    q = network.q
    return network.rho ** (q - 1) / (step * scene.data.beta ** (q - 2)) if step else math.inf


def step_size(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """η, the step of the training rule."""
    return torch.full((len(scene.setting.seeds),), scene.setting.rule.eta, dtype=torch.float64)


def scales(state: State, scene: Scene) -> Float[Tensor, "S 5"]:
    """The configuration's own numbers, which checks compare with: log d, ϱ/α, ϱ/β, the plateau
    ϱ^{q−1}/(η̃β^{q−2}) of Σ B^q (0 without an attack) and S = Σ_R α^q/Σ_NR β^q."""
    data, network = scene.data, scene.setting.network
    q, rho = network.q, network.rho
    stop = plateau(scene) if attack_step(scene) else 0.0
    ratio = data.n_robust * data.alpha**q / ((data.P - data.n_robust) * data.beta**q)
    numbers = (math.log(data.d), rho / data.alpha, rho / data.beta, stop, ratio)
    return torch.tensor(numbers, dtype=torch.float64).expand(len(scene.setting.seeds), 5)


def decomposition(state: State, scene: Scene) -> Float[Tensor, "S 6"]:
    """Lengths of the parts of w = P_⊥w + A u_i + B v_i + Σ_{j≠i} (C u_j + D v_j): ‖A‖, ‖B‖, ‖C‖,
    ‖D‖, ‖P_⊥W‖ (Frobenius) and the largest ‖P_⊥w‖₁, Lemmas D.2 and D.16 of RNRF."""
    robust, other = correlations(state, scene)
    off = state.W[..., 2 * scene.data.k :].abs()
    parts = (diagonal(robust), diagonal(other), off_diagonal(robust), off_diagonal(other), off)
    lengths = [part.flatten(1).square().sum(-1).sqrt() for part in parts]
    return torch.stack([*lengths, off.sum(-1).flatten(1).amax(-1)], dim=-1)


def outputs(state: State, scene: Scene) -> Float[Tensor, "S 4"]:
    """Of the training points: mean F_y, mean 1 − π_y, mean log(1 − π_y), and the smallest
    min F_y/max F_y within a class, Lemmas D.5 and E.5 of RNRF."""
    return _outputs(state.f(scene.train.x), scene)


def attacked_outputs(state: State, scene: Scene) -> Float[Tensor, "S 4"]:
    """The same at the attacked training points x̃, Lemmas D.19, D.20 and D.25 of RNRF."""
    return _outputs(state.f(state.full.x_adv), scene)


def _outputs(F: Tensor, scene: Scene) -> Tensor:
    F, y = F.double(), scene.train.y
    own = true_logit(F, y)
    others = F.scatter(-1, y[..., None], -torch.inf).logsumexp(-1)
    log_doubt = -torch.nn.functional.softplus(own - others)
    shares = []
    for i in range(scene.data.k):
        low = torch.where(y == i, own, torch.inf).amin(-1)
        high = torch.where(y == i, own, -torch.inf).amax(-1)
        shares.append(torch.where(high > 0, low / high, 1.0))  # all 0, or no such point: equal
    parts = (own.mean(-1), log_doubt.exp().mean(-1), log_doubt.mean(-1))
    return torch.stack((*parts, torch.stack(shares).amin(0)), dim=-1)


def noise_correlations(state: State, scene: Scene) -> Float[Tensor, "S 2"]:
    """max |⟨w_{i,r}, ξ_{n,p}⟩| over filters and training patches: of the whole noise, and of its
    part off the features, Lemmas E.3 and E.10 of RNRF."""
    k, noise = scene.data.k, scene.train.noise.flatten(1, 2)
    whole = (state.W @ noise.mT[:, None]).abs().flatten(1).amax(-1)
    off = state.W[..., 2 * k :] @ noise[..., 2 * k :].mT[:, None]
    return torch.stack([whole, off.abs().flatten(1).amax(-1)], dim=-1)


@dataclass(frozen=True)
class InnerGap:
    """(L(X̂) − L(X̃))/|L(X̃)| with L = −F_y, X̃ the training attack's and X̂ that of a 20-step ascent
    on the same loss, in the mean over the training points, Remark 2.5 of RNRF."""

    steps: int = 20
    name: str = "inner_gap"

    def __call__(self, state: State, scene: Scene) -> Float[Tensor, " S"]:
        train, s, W = scene.train, scene.setting, state.W
        longer = PGD(radius=s.attack.radius, steps=self.steps, loss=s.attack.loss)
        rng = streams(s.seeds, f"evaluation/{state.t}/{longer!r}")
        further = perturbed(s, W, train, longer, state.t, rng)
        lowest, lower = (
            true_logit(state.f(x), train.y).double().mean(-1) for x in (further, state.full.x_adv)
        )
        return (lower - lowest) / lower.abs()


@dataclass(frozen=True)
class FeatureError:
    """The error on fresh points that keep only robust or only non-robust signals (the noise stays),
    Definition 4.1 of RNRF; one minus the feature learning accuracy."""

    keep: Literal["robust", "nonrobust"]
    n: int = 1000

    @property
    def name(self) -> str:
        """The row's name."""
        return f"{self.keep}_only_error"

    def __call__(self, state: State, scene: Scene) -> Float[Tensor, " S"]:
        return error(state.margin(only(scene.test(self.n), self.keep, scene.data.k)))


def only(batch: Any, keep: str, k: int) -> Any:
    """The points with the signals of the other kind of feature taken away."""
    lost = ~batch.is_robust if keep == "robust" else batch.is_robust
    axis = torch.where(batch.is_robust, batch.y[..., None], k + batch.y[..., None])
    signal = torch.zeros_like(batch.x).scatter_add_(
        -1, axis[..., None], batch.strength[..., None].to(batch.x.dtype)
    )
    return replace(batch, x=batch.x - signal * lost[..., None])
