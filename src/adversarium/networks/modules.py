"""Any torch.nn.Module as a learner: an init/f pair by functional_call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Generator, Tensor, nn
from torch.func import functional_call, vmap

from adversarium.rng import torch_seeded

Weights = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Module:
    """A network made by `build(shape, k, **options)`, e.g. build=small_cnn, options={"width": 8}.

    `build` is a function at the top level of a module (its name enters the run's key); the
    weights are drawn by the module itself, under the run's own stream.
    """

    build: Callable[..., nn.Module]
    options: Mapping[str, Any] = field(default_factory=dict)

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Weights:
        """The module's own initial weights."""
        with torch_seeded(rng):
            module = self.build(shape, k, **self.options)
        weights = dict(module.named_parameters())
        if list(module.buffers()):
            raise ValueError(
                f"{self.build.__name__} has buffers (batch normalisation?), whose updates are not "
                "functions of the weights alone; use group or layer normalisation."
            )
        self._skeletons.append(module.to("meta"))
        return {name: p.detach().double() for name, p in weights.items()}

    @cached_property
    def _skeletons(self) -> list[nn.Module]:
        return []

    def f(self, W: Weights, x: Tensor) -> Tensor:
        """k logits per point; W and x may both carry a leading replica axis."""
        fits = lambda p, w: p.shape == w.shape[w.ndim - p.ndim :]
        skeleton = next(
            module
            for module in reversed(self._skeletons)
            if all(fits(p, W[name]) for name, p in module.named_parameters())
        )
        call = lambda W, x: functional_call(skeleton, W, (x,))
        name, p = next(iter(skeleton.named_parameters()))
        return vmap(call)(W, x) if W[name].ndim > p.ndim else call(W, x)
