"""The seconds that training took, for engines that measure them."""

import torch
from torch import Tensor

from adversarium.measure.measuring import measures
from adversarium.measure.scene import AnyScene
from adversarium.shapes import Float
from adversarium.sockets import AnyState
from adversarium.training.engines.captured import TimedState


def _timed(state: AnyState) -> TimedState:
    if not isinstance(state, TimedState):
        raise ValueError(
            "training_seconds and preparation_seconds need a run with engine='captured', which "
            "measures its time."
        )
    return state


def _per_seed(value: float, scene: AnyScene) -> Tensor:
    return torch.full((len(scene.problem.seeds),), value, dtype=torch.float64)


@measures("seconds of training")
def training_seconds(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """The seconds that the training steps took, without preparation and without measuring.

    >>> training_seconds.measures[0].name
    'training_seconds'
    """
    return _per_seed(_timed(state).seconds, scene)


@measures("seconds of preparation")
def preparation_seconds(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """The seconds before the first training step: compilation, and the capture of a graph.

    >>> preparation_seconds.measures[0].name
    'preparation_seconds'
    """
    return _per_seed(_timed(state).preparation, scene)
