"""Measure how much of the signal and of the noise CGRO's network has learnt."""

from torch import Tensor

from adversarium.attacks.transfer import GTA
from adversarium.data.patches import PatchBatch, PatchData
from adversarium.measure.measuring import measures
from adversarium.measure.scene import Scene
from adversarium.networks.cubic_cnn import CubicCNN
from adversarium.shapes import Float
from adversarium.sockets import State
from adversarium.training.engines.signal_noise import SignalNoiseState

PatchScene = Scene[PatchData, CubicCNN, GTA | None, PatchBatch]


@measures(r"$\alpha^3 U$")
def true_feature(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """α³U = α³ Σ_r ⟨w_r, w*⟩³, §4.1 of CGRO.

    >>> import torch
    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data = av.data.PatchData(d=2, P=2, alpha=2.0, sigma=0.1)
    >>> recipe = Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.CubicCNN(m=1, sigma0=0.1), None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, torch.tensor([[[0.5, 7.0]]]).double())
    >>> true_feature(state, av.measure.Scene(problem)).item()  # 2³·½³
    1.0
    """
    if isinstance(state, SignalNoiseState):
        return scene.data.alpha**3 * state.U
    return scene.data.alpha**3 * state.W[..., 0].pow(3).sum(-1)


@measures(r"$\alpha\,\max_r \langle w_r, w^*\rangle$")
def largest_signal(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """α max_r ⟨w_r, w*⟩, which crosses 1 at T₀ of Lemma C.3 of CGRO.

    >>> from adversarium.measure import FirstTime
    >>> FirstTime(largest_signal, 1.0).name  # T₀
    'first_time(largest_signal >= 1)'
    """
    u = state.u if isinstance(state, SignalNoiseState) else state.W[..., 0]
    return scene.data.alpha * u.amax(-1)


@measures(r"$V_i$", axes=("point",))
def memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, "S n"]:
    """V_i, the part of y_i f(X_i) that comes from the noise patches, §4.1 of CGRO.

    >>> import torch
    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data = av.data.PatchData(d=2, P=2, alpha=2.0, sigma=0.0)
    >>> recipe = Recipe(n=3, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.CubicCNN(m=1, sigma0=0.1), None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, torch.tensor([[[0.5, 7.0]]]).double())
    >>> memorised(state, av.measure.Scene(problem)).tolist()  # no noise, nothing to memorise
    [[0.0, 0.0, 0.0]]
    """
    if isinstance(state, SignalNoiseState):
        return state.V
    return state.margin(scene.train) - true_feature(state, scene)[:, None]


@measures(r"$\min_i V_i$")
def least_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """min_i V_i, for the training point whose noise is memorised the least, §4.1 of CGRO.

    >>> from adversarium.measure import FirstTime
    >>> FirstTime(least_memorised, 1.0).name  # T₁
    'first_time(least_memorised >= 1)'
    """
    return memorised(state, scene).amin(-1)


@measures(r"$\mathrm{median}_i\,V_i$")
def median_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """median_i V_i (the lower of two middle values), §4.1 of CGRO.

    >>> import adversarium as av
    >>> data = av.data.PatchData(d=9, P=3, alpha=1.0, sigma=0.5)
    >>> network = av.networks.CubicCNN(m=2, sigma0=0.5)
    >>> probes = [least_memorised, median_memorised, most_memorised]
    >>> run = av.Run(data=data, network=network, n=5, steps=1, eta=0.1, probes=probes)
    >>> least, median, most = av.run(run, seeds=[0]).rows.series.values()
    >>> bool((least.values <= median.values).all() and (median.values <= most.values).all())
    True
    """
    return memorised(state, scene).median(-1).values


@measures(r"$\max_i V_i$")
def most_memorised(state: State[Tensor], scene: PatchScene) -> Float[Tensor, " S"]:
    """max_i V_i, for the training point whose noise is memorised the most, §4.1 of CGRO.

    >>> from adversarium.measure import Worst
    >>> [measure.name for measure in Worst(most_memorised).measures]
    ['worst(most_memorised)', 'step of worst(most_memorised)']
    """
    return memorised(state, scene).amax(-1)
