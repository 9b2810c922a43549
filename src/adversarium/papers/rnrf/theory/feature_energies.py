"""The share of the filters' squared norm that lies on RNRF's features."""

from torch import Tensor

from adversarium.measure.measuring import measures
from adversarium.shapes import Float
from adversarium.sockets import State

from .two_features import TwoFeatureScene, correlations, diagonal


def _least_share(
    state: State[Tensor], scene: TwoFeatureScene, along: Float[Tensor, "S k m"]
) -> Float[Tensor, " S"]:
    """Return the share of ‖w‖² on the features in one filter per class, the smallest over classes.

    The filter is the one with the largest value of `along`.
    """
    largest = along.argmax(-1)[..., None, None].expand(*along.shape[:2], 1, state.W.shape[-1])
    w = state.W.gather(2, largest).squeeze(2)
    return (w[..., : 2 * scene.data.k].square().sum(-1) / w.square().sum(-1)).amin(-1)


@measures(r"share of $\|w\|^2$ on the features")
def feature_energy(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The share of ‖w‖² that lies on the features, in the filter with the largest B of each class;
    the smallest over classes, §5 of RNRF.

    >>> import torch, adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.TwoFeaturePatches(k=2, d=5, P=2), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> W = 3 * data.V + 4 * torch.eye(5).double()[4]  # 3 on a feature, 4 off
    >>> state = WeightState(problem, 0, W[None, :, None])
    >>> round(feature_energy(state, av.measure.Scene(problem)).item(), 9)
    0.36
    """
    return _least_share(state, scene, diagonal(correlations(state, scene)[1]))


@measures(r"share of $\|w\|^2$ on the features, largest $A$")
def robust_feature_energy(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The share of ‖w‖² that lies on the features, in the filter with the largest A of each class;
    the smallest over classes, §5 of RNRF.

    >>> import torch, adversarium as av
    >>> data = av.data.TwoFeaturePatches(k=2, d=5, P=2)
    >>> recipe = av.training.Recipe(n=2, steps=1, eta=1)
    >>> problem = av.training.Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> W = (3 * data.U + 4 * torch.eye(5).double()[4])[None, :, None]  # 3 on a feature, 4 off
    >>> state, scene = av.training.WeightState(problem, 0, W), av.measure.Scene(problem)
    >>> round(robust_feature_energy(state, scene).item(), 9)
    0.36
    """
    return _least_share(state, scene, diagonal(correlations(state, scene)[0]))


@measures(r"median share of $\|w\|^2$ on the features")
def typical_feature_energy(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The median over all filters of the share of ‖w‖² that lies on the features, §5 of RNRF.

    >>> typical_feature_energy.measures[0].name, typical_feature_energy.measures[0].axes
    ('typical_feature_energy', ())
    """
    W = state.W.flatten(1, 2)
    shares = W[..., : 2 * scene.data.k].square().sum(-1) / W.square().sum(-1)
    return shares.median(-1).values
