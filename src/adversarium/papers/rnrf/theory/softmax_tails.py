"""Softmax probabilities of wrong classes: Lemmas D.5, D.6, D.19 and D.20 of RNRF."""

import math

import torch
from torch import Tensor

from adversarium.measure.measuring import measures
from adversarium.shapes import Float
from adversarium.sockets import State
from adversarium.training.objectives import true_logit

from .two_features import TwoFeatureScene


@measures(
    scaled_doubt=r"$\max (1 - \pi_y)e^{F_y}$",
    scaled_wrong=r"$\max_{i \neq y} \pi_i e^{F_y}$",
    least_doubt=r"$\min (1 - \pi_y)$",
    least_wrong=r"$\min k\pi_i$",
    largest_wrong=r"$\max k\pi_i$",
)
def softmax_tails(state: State[Tensor], scene: TwoFeatureScene) -> dict[str, Float[Tensor, " S"]]:
    """Softmax probabilities of wrong classes at the training points, Lemmas D.5 and D.6 of RNRF.

    scaled_doubt: The largest (1 − π_y)e^{F_y} over the points with F_y ≥ ½ log d, or 0 if there are
        none, Lemma D.5 of RNRF.
    scaled_wrong: The largest π_i e^{F_y} over the wrong classes i and the points with
        F_y ≥ ½ log d, or 0 if there are no such points, Lemma D.6 of RNRF.
    least_doubt: The smallest 1 − π_y over all points, Lemma D.5 of RNRF.
    least_wrong: The smallest kπ_i over all points and wrong classes, Lemma D.6 of RNRF.
    largest_wrong: The largest kπ_i over all points and wrong classes, Lemma D.6 of RNRF.

    With zero weights, every class has probability 1/k:

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.TwoFeaturePatches(k=2, d=4, P=2), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), None, recipe, seeds=(0,))
    >>> nothing = WeightState(problem, 0, 0 * problem.W0)
    >>> tails = softmax_tails(nothing, av.measure.Scene(problem))
    >>> round(tails["least_doubt"].item(), 9), round(tails["largest_wrong"].item(), 9)
    (0.5, 1.0)
    """
    return _tails(state.f(scene.train.x), scene)


@measures(
    attacked_scaled_doubt=r"$\max (1 - \pi_y(\tilde{X}))e^{F_y(\tilde{X})}$",
    attacked_scaled_wrong=r"$\max_{i \neq y} \pi_i(\tilde{X}) e^{F_y(\tilde{X})}$",
    attacked_least_doubt=r"$\min (1 - \pi_y(\tilde{X}))$",
    attacked_least_wrong=r"$\min k\pi_i(\tilde{X})$",
    attacked_largest_wrong=r"$\max k\pi_i(\tilde{X})$",
)
def attacked_softmax_tails(
    state: State[Tensor], scene: TwoFeatureScene
) -> dict[str, Float[Tensor, " S"]]:
    """Softmax probabilities of the wrong classes at the attacked training points, Lemmas D.19 and
    D.20 of RNRF.

    attacked_scaled_doubt: The largest (1 − π_y)e^{F_y} over the attacked points with F_y ≥ ½ log d,
        or 0 if there are none, Lemma D.19 of RNRF.
    attacked_scaled_wrong: The largest π_i e^{F_y} over the wrong classes i and the attacked points
        with F_y ≥ ½ log d, or 0 if there are no such points, Lemma D.20 of RNRF.
    attacked_least_doubt: The smallest 1 − π_y over all attacked points, Lemma D.19 of RNRF.
    attacked_least_wrong: The smallest kπ_i over all attacked points and wrong classes, Lemma D.20
        of RNRF.
    attacked_largest_wrong: The largest kπ_i over all attacked points and wrong classes, Lemma D.20
        of RNRF.

    With zero weights, every class has probability 1/k:

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.TwoFeaturePatches(k=2, d=4, P=2), Recipe(n=2, steps=1, eta=0.1)
    >>> attack = av.attacks.MarginStep(radius=0.5, step=10.0)
    >>> problem = Problem(data, av.networks.SmoothedCNN(m=1), attack, recipe, seeds=(0,))
    >>> nothing = WeightState(problem, 0, 0 * problem.W0)
    >>> tails = attacked_softmax_tails(nothing, av.measure.Scene(problem))
    >>> [round(tails[f"attacked_{name}"].item(), 9) for name in ("least_doubt", "largest_wrong")]
    [0.5, 1.0]
    """
    values = _tails(state.f(state.full.x_adv), scene)
    return {f"attacked_{name}": value for name, value in values.items()}


def _tails(F: Float[Tensor, "S n k"], scene: TwoFeatureScene) -> dict[str, Float[Tensor, " S"]]:
    """Return the measures of `softmax_tails` for the logits F."""
    F, y, k = F.double(), scene.train.y, scene.data.k
    correct, truth = true_logit(F, y), y[..., None]
    wrong = F.log_softmax(-1).scatter(-1, truth, -torch.inf)  # log π_i, i ≠ y
    doubt = wrong.logsumexp(-1)
    fitted = correct >= math.log(scene.data.d) / 2
    least = wrong.scatter(-1, truth, torch.inf)
    return {
        "scaled_doubt": torch.where(fitted, (doubt + correct).exp(), 0.0).amax(-1),
        "scaled_wrong": torch.where(fitted, (wrong.amax(-1) + correct).exp(), 0.0).amax(-1),
        "least_doubt": doubt.exp().amin(-1),
        "least_wrong": k * least.exp().amin((-1, -2)),
        "largest_wrong": k * wrong.exp().amax((-1, -2)),
    }
