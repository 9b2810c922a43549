"""Attacks of other libraries as members of the suite, and the suite in the conventions of
others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, cast

import torch
from torch import Tensor

from adversarium.diagnosis.attack import Effort, attack
from adversarium.diagnosis.attacked import Attacked
from adversarium.diagnosis.subject import Box, Net
from adversarium.rng import Streams
from adversarium.sockets import Loss

Call = Callable[[Tensor, Tensor], Any]  # inputs and labels ↦ perturbed inputs


@dataclass(frozen=True, eq=False)
class Called:
    """An attack that is called with inputs and labels; its points are moved into the ball."""

    call: Call
    __name__: str = "attack"
    loss: str = "logit_difference"

    def __call__(self, loss: Loss, batch: Any, t: int, rng: Streams) -> Tensor:
        return torch.as_tensor(self.call(batch.x, batch.y)).to(batch.x).detach()


def from_torchattacks(attack: Call) -> Called:
    """Return an attack of torchattacks, which already holds its network and radius, as a member of
    the suite; so is any function of inputs and labels.

    >>> member = from_torchattacks(lambda x, y: x + 0.1)
    >>> member.__name__
    '<lambda>'
    """
    return Called(attack, getattr(attack, "__name__", type(attack).__name__))


def from_foolbox(attack: Any, net: torch.nn.Module, *, radius: float, box: Box) -> Called:
    """Return an attack of foolbox as a member of the suite.

    >>> import foolbox
    >>> peer = foolbox.attacks.LinfFastGradientAttack()
    >>> from_foolbox(peer, torch.nn.Linear(2, 2), radius=0.1, box=(0, 1)).__name__
    'LinfFastGradientAttack'
    """
    foolbox: Any = import_module("foolbox")

    def call(x: Tensor, y: Tensor) -> Tensor:
        model = foolbox.PyTorchModel(net, bounds=box, device=str(x.device))
        _, clipped, _ = attack(model, x, y, epsilons=radius)
        return cast(Tensor, clipped)

    return Called(call, type(attack).__name__)


def from_art(attack: Any) -> Called:
    """Return an attack of the Adversarial Robustness Toolbox, which already holds its estimator, as
    a member of the suite."""

    def call(x: Tensor, y: Tensor) -> Tensor:
        made = attack.generate(x=x.detach().cpu().numpy(), y=y.cpu().numpy())
        return torch.as_tensor(made)

    return Called(call, type(attack).__name__)


@dataclass(frozen=True)
class FoolboxAttack:
    """The suite as an attack of foolbox: called with a model, inputs, labels and epsilons, it
    returns raw points, clipped points and success, each once per epsilon if several are given."""

    p: float | str
    effort: Effort = "standard"
    seed: int = 0
    quiet: bool = True

    def __call__(
        self, model: Any, inputs: Tensor, criterion: Any, *, epsilons: Any, **more: Any
    ) -> tuple[Any, Any, Tensor]:
        """Attack within every radius of `epsilons`; `criterion` are labels, or a criterion with
        them."""
        labels = getattr(criterion, "labels", criterion)
        labels = getattr(labels, "raw", labels)
        several = isinstance(epsilons, list | tuple)
        box = (float(model.bounds[0]), float(model.bounds[1]))
        found = [
            attack(model, inputs, labels, p=self.p, radius=float(radius), box=box,
                   effort=self.effort, seed=self.seed, quiet=self.quiet)
            for radius in (epsilons if several else [epsilons])
        ]  # fmt: skip
        points, success = [one.x_adv for one in found], [one.broken for one in found]
        if not several:
            return points[0], points[0], success[0]
        return points, points, torch.stack(success)


@dataclass
class AutoAttackLike:
    """The suite in the conventions of AutoAttack and RobustBench: `norm` is "Linf", "L2" or "L1",
    inputs lie in [0, 1], and `run_standard_evaluation(x, y)` returns the perturbed inputs. `last`
    is the whole result.

    >>> net, x = torch.nn.Linear(3, 2), torch.rand(8, 3)
    >>> suite = AutoAttackLike(net, norm="L2", eps=0.1, version="quick", verbose=False)
    >>> suite.run_standard_evaluation(x, net(x).argmax(-1)).shape
    torch.Size([8, 3])
    """

    model: Net
    norm: Literal["Linf", "L2", "L1"] = "Linf"
    eps: float = 8 / 255
    seed: int = 0
    verbose: bool = True
    version: Effort = "standard"
    device: str | None = None
    last: Attacked | None = field(default=None, init=False)

    def run_standard_evaluation(self, x_orig: Tensor, y_orig: Tensor, bs: int = 250) -> Tensor:
        """Return the perturbed inputs; `bs` is accepted and not used, because the suite chooses the
        size of its batches."""
        self.last = attack(
            self.model, x_orig, y_orig, p=self.norm, radius=self.eps, box=(0, 1),
            effort=self.version, seed=self.seed, device=self.device, quiet=not self.verbose,
        )  # fmt: skip
        if self.verbose:
            print(self.last)
        return self.last.x_adv
