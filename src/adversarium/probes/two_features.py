"""What a network has learnt of robust and non-robust features: the measures of RNRF."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from adversarium.probes.errors import error
from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.training.objectives import true_logit
from adversarium.training.states import State


def correlations(state: State, scene: Scene) -> tuple[Tensor, Tensor]:
    """⟨w_{i,r}, u_j⟩ and ⟨w_{i,r}, v_j⟩, each (S, k, m, k): A, C and B, D of Lemma D.2 of RNRF."""
    return state.inner(scene.data.U.mT), state.inner(scene.data.V.mT)


def _diagonal(inner: Tensor) -> Float[Tensor, "S k m"]:
    return inner.diagonal(dim1=1, dim2=3).mT


def _off(inner: Tensor) -> Float[Tensor, "S r"]:
    k = inner.shape[1]
    other = ~torch.eye(k, dtype=torch.bool, device=inner.device)
    return inner.transpose(2, 3)[:, other].flatten(1)


def nonrobust_total(state: State, scene: Scene) -> Float[Tensor, "S k"]:
    """Σ_s max(B_{i,s}, 0)^q of every class, Lemma 5.2 of RNRF."""
    q = scene.setting.network.q
    return _diagonal(correlations(state, scene)[1]).clamp_min(0).pow(q).sum(-1)


def foreign_robust(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max C = max_{i,r,j≠i} ⟨w_{i,r}, u_j⟩, Lemmas D.7 and D.21 of RNRF."""
    return _off(correlations(state, scene)[0]).amax(-1)


def foreign_nonrobust(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max D = max_{i,r,j≠i} ⟨w_{i,r}, v_j⟩, Lemmas D.7 and D.21 of RNRF."""
    return _off(correlations(state, scene)[1]).amax(-1)


def feature_energy(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """The share of ‖w‖² that the features carry, in each class's filter with the largest B; the
    smallest over classes, §5 of RNRF."""
    k = scene.data.k
    B = _diagonal(correlations(state, scene)[1])
    best = B.argmax(-1)[..., None, None].expand(*B.shape[:2], 1, state.W.shape[-1])
    w = state.W.gather(2, best).squeeze(2)
    return (w[..., : 2 * k].square().sum(-1) / w.square().sum(-1)).amin(-1)


def outputs(state: State, scene: Scene) -> Float[Tensor, "S 4"]:
    """Of the training points: mean F_y, mean 1 − π_y, mean log(1 − π_y), and the smallest
    min F_y/max F_y within a class, Lemmas D.5 and E.5 of RNRF."""
    y = scene.train.y
    F = state.f(scene.train.x).double()
    own = true_logit(F, y)
    others = F.scatter(-1, y[..., None], -torch.inf).logsumexp(-1)
    log_doubt = -torch.nn.functional.softplus(own - others)
    shares = []
    for i in range(scene.data.k):
        low = torch.where(y == i, own, torch.inf).amin(-1)
        shares.append(low / torch.where(y == i, own, -torch.inf).amax(-1))
    parts = (own.mean(-1), log_doubt.exp().mean(-1), log_doubt.mean(-1))
    return torch.stack((*parts, torch.stack(shares).amin(0)), dim=-1)


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
