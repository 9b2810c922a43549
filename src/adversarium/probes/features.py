"""Which features a network has learnt."""

from torch import Tensor

from adversarium.attacks.transfer import GTA
from adversarium.data.patches import PatchBatch, PatchData
from adversarium.networks.cubic_cnn import CubicCNN
from adversarium.probes.measuring import measures
from adversarium.probes.scene import Scene
from adversarium.probes.two_features import TwoFeatureScene
from adversarium.shapes import Float
from adversarium.sockets import State
from adversarium.training.engines.signal_noise import SignalNoiseState

PatchScene = Scene[PatchData, CubicCNN, GTA | None, PatchBatch]


@measures(r"$\max_r \langle w_{i,r}, u_i\rangle$", axes=("class",))
def robust_features(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, u_i⟩ of every class i, Figure 3 of RNRF."""
    return _own_class(state.inner(scene.data.U.mT))


@measures(r"$\max_r \langle w_{i,r}, v_i\rangle$", axes=("class",))
def nonrobust_features(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, v_i⟩ of every class i, Figure 3 of RNRF."""
    return _own_class(state.inner(scene.data.V.mT))


@measures(r"$\mathrm{mean}_i\,\max_r \langle w_{i,r}, u_i\rangle$")
def robust_feature(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """max_r ⟨w_{i,r}, u_i⟩, its mean over the classes i, Figure 3 of RNRF."""
    return robust_features(state, scene).mean(-1)


@measures(r"$\mathrm{mean}_i\,\max_r \langle w_{i,r}, v_i\rangle$")
def nonrobust_feature(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """max_r ⟨w_{i,r}, v_i⟩, its mean over the classes i, Figure 3 of RNRF."""
    return nonrobust_features(state, scene).mean(-1)


def _own_class(inner: Float[Tensor, "S k m k"]) -> Float[Tensor, "S k"]:
    return inner.diagonal(dim1=1, dim2=3).amax(1)


@measures(r"$\alpha^3 U$")
def true_feature(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """α³U = α³ Σ_r ⟨w_r, w*⟩³, §4.1 of CGRO."""
    if isinstance(state, SignalNoiseState):
        return scene.data.alpha**3 * state.U
    return scene.data.alpha**3 * state.W[..., 0].pow(3).sum(-1)


@measures(r"$\alpha\,\max_r \langle w_r, w^*\rangle$")
def largest_signal(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """α max_r ⟨w_r, w*⟩, which crosses 1 at T₀ of Lemma C.3 of CGRO."""
    u = state.u if isinstance(state, SignalNoiseState) else state.W[..., 0]
    return scene.data.alpha * u.amax(-1)


@measures(r"$V_i$", axes=("point",))
def memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, "S n"]:
    """V_i, the part of y_i f(X_i) that the noise patches carry, §4.1 of CGRO."""
    if isinstance(state, SignalNoiseState):
        return state.V
    return state.margin(scene.train) - true_feature(state, scene)[:, None]


@measures(r"$\min_i V_i$")
def least_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """min_i V_i, the noise of the training point that is memorised least, §4.1 of CGRO."""
    return memorised(state, scene).amin(-1)


@measures(r"$\mathrm{median}_i\,V_i$")
def median_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """median_i V_i (the lower one of two middle values), §4.1 of CGRO."""
    return memorised(state, scene).median(-1).values


@measures(r"$\max_i V_i$")
def most_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """max_i V_i, the noise of the training point that is memorised most, §4.1 of CGRO."""
    return memorised(state, scene).amax(-1)
