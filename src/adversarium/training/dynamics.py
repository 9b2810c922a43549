"""Full-batch gradient descent in full space: the plain engine, and the reference for all others."""

from collections.abc import Iterator
from typing import Any

from torch.utils._pytree import tree_map

from adversarium.training.rules import GradientDescent, Rule
from adversarium.training.states import Setting, WeightState


def refuses(data: Any, network: Any, attack: Any, rule: Rule) -> str:
    """Why this engine cannot run the four parts, or nothing."""
    if not isinstance(rule.optimiser, GradientDescent):
        return "full runs full-batch gradient descent; minibatches are sgd's"
    return ""


def gradient_descent(setting: Setting) -> Iterator[WeightState]:
    """W⁽ᵗ⁺¹⁾ = W⁽ᵗ⁾ − η ∇L(W⁽ᵗ⁾), eq. (T) of CGRO; yields t = 0 … steps."""
    state = WeightState(setting, 0, setting.W0)
    eta, steps = setting.rule.eta, setting.rule.steps
    for t in range(steps):
        yield state
        W = tree_map(lambda w, g: w - eta * g, state.W, state.gradient)
        state = WeightState(setting, t + 1, W)
    yield state
