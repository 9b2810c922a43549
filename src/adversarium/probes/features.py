"""Which features a network has learnt."""

from torch import Tensor

from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.training.states import State


def robust_features(state: State, scene: Scene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, u_i⟩ of every class i, Figure 3 of RNRF."""
    return _own_class(state.inner(scene.data.U.mT))


def nonrobust_features(state: State, scene: Scene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, v_i⟩ of every class i, Figure 3 of RNRF."""
    return _own_class(state.inner(scene.data.V.mT))


def robust_feature(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max_r ⟨w_{i,r}, u_i⟩, its mean over the classes i."""
    return robust_features(state, scene).mean(-1)


def nonrobust_feature(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max_r ⟨w_{i,r}, v_i⟩, its mean over the classes i."""
    return nonrobust_features(state, scene).mean(-1)


def _own_class(inner: Float[Tensor, "S k m k"]) -> Float[Tensor, "S k"]:
    return inner.diagonal(dim1=1, dim2=3).amax(1)


def true_feature(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """α³U = α³ Σ_r ⟨w_r, w*⟩³, §4.1 of CGRO."""
    U = getattr(state, "U", None)
    if U is None:
        U = state.W[..., 0].pow(3).sum(-1)
    return scene.data.alpha**3 * U


def largest_signal(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """α max_r ⟨w_r, w*⟩, which crosses 1 at T0 of Lemma C.3 of CGRO."""
    u = getattr(state, "u", None)
    return scene.data.alpha * (state.W[..., 0] if u is None else u).amax(-1)


def memorised(state: State, scene: Scene) -> Float[Tensor, "S n"]:
    """V_i, the part of y_i f(X_i) that the noise patches carry, §4.1 of CGRO."""
    V = getattr(state, "V", None)
    if V is not None:
        return V
    return state.margin(scene.train) - true_feature(state, scene)[:, None]


def least_memorised(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """min_i V_i."""
    return memorised(state, scene).amin(-1)


def median_memorised(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """median_i V_i (the lower one of two middle values)."""
    return memorised(state, scene).median(-1).values


def most_memorised(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """max_i V_i."""
    return memorised(state, scene).amax(-1)
