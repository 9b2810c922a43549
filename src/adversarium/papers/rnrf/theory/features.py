"""Correlations of RNRF's filters with robust and non-robust features."""

from torch import Tensor

from adversarium.measure.measuring import measures
from adversarium.shapes import Float
from adversarium.sockets import State

from .two_features import TwoFeatureScene


@measures(r"$\max_r \langle w_{i,r}, u_i\rangle$", axes=("class",))
def robust_features(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, u_i⟩ of every class i, Figure 3 of RNRF.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.TwoFeaturePatches(k=2, d=4, P=2), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, 3 * data.U[None, :, None])  # w_i = 3u_i
    >>> robust_features(state, av.measure.Scene(problem)).tolist()
    [[3.0, 3.0]]
    """
    return _own_class(state.inner(scene.data.U.mT))


@measures(r"$\max_r \langle w_{i,r}, v_i\rangle$", axes=("class",))
def nonrobust_features(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S k"]:
    """max_r ⟨w_{i,r}, v_i⟩ of every class i, Figure 3 of RNRF.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.TwoFeaturePatches(k=2, d=4, P=2), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> swapped = WeightState(problem, 0, data.V.flip(0)[None, :, None])  # of the other class
    >>> nonrobust_features(swapped, av.measure.Scene(problem)).tolist()
    [[0.0, 0.0]]
    """
    return _own_class(state.inner(scene.data.V.mT))


@measures(r"$\mathrm{mean}_i\,\max_r \langle w_{i,r}, u_i\rangle$")
def robust_feature(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The mean over the classes i of max_r ⟨w_{i,r}, u_i⟩, Figure 3 of RNRF.

    >>> import adversarium as av
    >>> data, network = av.data.TwoFeaturePatches(d=6, P=2), av.networks.SmoothedCNN(m=3)
    >>> probes = [robust_feature, nonrobust_feature]
    >>> run = av.Run(data=data, network=network, n=4, steps=2, eta=0.1, probes=probes)
    >>> av.run(run, seeds=range(2))["robust_feature"].shape
    (2, 3)
    """
    return robust_features(state, scene).mean(-1)


@measures(r"$\mathrm{mean}_i\,\max_r \langle w_{i,r}, v_i\rangle$")
def nonrobust_feature(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The mean over the classes i of max_r ⟨w_{i,r}, v_i⟩, Figure 3 of RNRF.

    >>> from adversarium.measure import FirstTime
    >>> FirstTime(nonrobust_feature, 0.5).name  # a fold of a Run: the time at which it is learnt
    'first_time(nonrobust_feature >= 0.5)'
    """
    return nonrobust_features(state, scene).mean(-1)


def _own_class(inner: Float[Tensor, "S k m k"]) -> Float[Tensor, "S k"]:
    """Return the largest correlation of a filter of class i with the feature of class i."""
    return inner.diagonal(dim1=1, dim2=3).amax(1)
