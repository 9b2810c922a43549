"""The scene of a measurement: the run's parts and fresh points, beside the state."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adversarium.training.states import Setting


@dataclass(frozen=True)
class Scene:
    """What a probe may ask beside the state: `probe(state, scene)` returns one number a seed
    (S,), or several (S, c), recorded as name[0], name[1], …"""

    setting: Setting

    @property
    def data(self) -> Any:
        """The distribution."""
        return self.setting.data

    @property
    def attack(self) -> Any:
        """The training attack."""
        return self.setting.attack

    @property
    def train(self) -> Any:
        """The training set."""
        return self.setting.train

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, made once for all steps."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def test(self, n: int) -> Any:
        """n fresh points of every seed: of the distribution, or of a data set's test part."""
        held_out = getattr(self.data, "held_out", self.data)
        return self.once(f"test/{n}", lambda: self.setting.draw(held_out, n, "test"))
