"""Losses on fresh or training points, and the excess over the best prediction."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from adversarium.data.batches import leading
from adversarium.measure.scene import AnyScene
from adversarium.shapes import Float
from adversarium.sockets import AnyState, Attack, Batch, Measure, RealLabelled


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The mean of the run's loss function on n fresh or all training points, clean or attacked.

    `attacks` is "none", "training" (the attack of the run) or a tuple of attacks; for every point
    the largest loss counts, the clean one included.

    >>> Loss(n=500, attacks="training").measures[0].name
    'robust_test_loss'
    """

    on: Literal["train", "test"] = "test"
    n: int = 1000
    attacks: Literal["none", "training"] | tuple[Attack, ...] = "none"
    name: str = ""
    first: int = 0  # how many of the training points are measured (train only); 0: all

    later: ClassVar[tuple[str, ...]] = ("first",)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the mean loss."""
        kind = "" if self.attacks == "none" else "robust "
        text = f"The mean {kind}loss on {'fresh' if self.on == 'test' else 'training'} points."
        plain = f"{kind}{self.on}_loss".replace(" ", "_")
        return (Measure(self.name or plain, f"{kind}{self.on} loss", text),)

    def __call__(self, state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
        return self._losses(state, scene, self._batch(scene)).mean(-1)

    def _batch(self, scene: AnyScene) -> Batch:
        fresh = self.on == "test"
        batch: Batch = scene.test(self.n) if fresh else leading(scene.train, self.first)
        return batch

    def _losses(self, state: AnyState, scene: AnyScene, batch: Batch) -> Tensor:
        worst = state.full.losses(batch)
        by: tuple[Attack | None, ...] = ()
        if self.attacks == "training":
            by = (scene.problem.attack,)
        elif isinstance(self.attacks, tuple):
            by = self.attacks
        for attack in by:
            if attack is not None:
                worst = worst.maximum(state.full.losses(batch, attack))
        return worst


@dataclass(frozen=True, kw_only=True)
class ExcessRisk(Loss):
    """The mean loss minus that of the best prediction E[y | x] at the clean points (regression).

    >>> ExcessRisk().measures[0].name
    'excess_risk'
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the excess risk."""
        kind = "" if self.attacks == "none" else "robust "
        text = f"The {kind}loss minus the loss of the best prediction E[y | x]."
        name = self.name or f"{kind}excess_risk".replace(" ", "_")
        return (Measure(name, f"{kind}excess risk", text),)

    def __call__(self, state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
        data, batch = scene.data, self._batch(scene)
        if not isinstance(data, RealLabelled):
            raise TypeError(
                f"ExcessRisk needs data with a method best(x), got {type(data).__name__}."
            )
        best = scene.problem.recipe.risk.function(data.best(batch.x), batch.y)
        return (self._losses(state, scene, batch) - best).mean(-1)
