"""Losses and risks. A loss maps the network's outputs and the labels to one number per example.

Classification: for a scalar output f the labels are ±1, for k logits F they are 0 … k−1.
Regression: the labels of a scalar output are real numbers. You can use any function of outputs and
labels as a loss; increase its attribute `version` when its values change.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

Output = Callable[[Tensor], Tensor]


def _scalar(F: Tensor, y: Tensor) -> bool:
    return F.ndim == y.ndim


def true_logit(F: Tensor, y: Tensor) -> Tensor:
    """F_y, or y f for a scalar output."""
    return y * F if _scalar(F, y) else F.gather(-1, y[..., None]).squeeze(-1)


def margin(F: Tensor, y: Tensor) -> Tensor:
    """F_y − max_{j≠y} F_j, or y f; an example is misclassified if its margin is ≤ 0."""
    if _scalar(F, y):
        return y * F
    others = F.scatter(-1, y[..., None], -torch.inf)
    return true_logit(F, y) - others.amax(-1)


def logit_difference(F: Tensor, y: Tensor) -> Tensor:
    """max_{j≠y} F_j − F_y; it never saturates, so it is the default loss of attacks."""
    return -margin(F, y)


def minus_true_logit(F: Tensor, y: Tensor) -> Tensor:
    """L_margin = −F_y, §2.4 of RNRF."""
    return -true_logit(F, y)


def cross_entropy(F: Tensor, y: Tensor) -> Tensor:
    """−log softmax(F)_y, or log(1 + e^{−y f}) (the logistic loss) for a scalar output."""
    if _scalar(F, y):
        return softplus(-y * F)
    return F.logsumexp(-1) - true_logit(F, y)


@dataclass(frozen=True)
class Smoothed:
    """The cross-entropy with smoothed labels: a share of every label is spread over all classes.

    >>> F = torch.tensor([[2.0, 0.0]])
    >>> loss = Smoothed(share=0.5)(F, torch.tensor([0]))
    >>> round(loss.item() - cross_entropy(F, torch.tensor([0])).item(), 6)  # ½ (F_0 − mean F)
    0.5
    """

    share: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise ValueError(f"Smoothed needs 0 <= share < 1, got {self.share}.")

    def __call__(self, F: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(F, y) + self.share * (true_logit(F, y) - F.mean(-1))


def exponential(F: Tensor, y: Tensor) -> Tensor:
    """exp(−y f), §4 of CGRM."""
    return torch.exp(-margin(F, y))


def pseudo_huber(F: Tensor, y: Tensor) -> Tensor:
    """√(1 + (f − y)²) − 1: convex, 1-Lipschitz, 0 at f = y, Assumption 3.1 of CONV."""
    return (1 + (F - y).square()).sqrt() - 1


def square(F: Tensor, y: Tensor) -> Tensor:
    """(f − y)²."""
    return (F - y).square()


def huber(F: Tensor, y: Tensor) -> Tensor:
    """½(f − y)² within 1 of y, |f − y| − ½ beyond."""
    away = (F - y).abs()
    return torch.where(away <= 1, away.square() / 2, away - 0.5)


LossFunction = Callable[[Tensor, Tensor], Tensor]
REGRESSION = ("square", "huber", "pseudo_huber")  # losses that take real labels

LOSSES: dict[str, LossFunction] = {
    "logit_difference": logit_difference,
    "minus_true_logit": minus_true_logit,
    "cross_entropy": cross_entropy,
    "exponential": exponential,
    "pseudo_huber": pseudo_huber,
    "square": square,
    "huber": huber,
}


@dataclass(frozen=True, kw_only=True)
class Risk:
    """mean_i (1 − λ) loss(f(x_i), y_i) + λ loss(f(x̃_i), y_i), eq. (O) of CGRO; λ = 1: only x̃.

    >>> loss = LOSSES[Risk().loss]
    >>> round(loss(torch.zeros(1), torch.ones(1)).item(), 4)  # log 2 at f = 0
    0.6931
    """

    loss: str | LossFunction = "cross_entropy"
    lam: float = 1.0
    log: bool = False  # minimise the logarithm of the mean, whose gradient is parallel

    def __post_init__(self) -> None:
        if self.log and (self.loss != "exponential" or self.lam != 1):
            raise ValueError(
                "Risk with log=True needs loss='exponential' and lam=1, got "
                f"loss={self.loss!r}, lam={self.lam}."
            )
        if isinstance(self.loss, str) and self.loss not in LOSSES:
            known = ", ".join(LOSSES)
            raise ValueError(
                f"Risk needs a function or one of the losses {known}, got {self.loss!r}."
            )
        if not (isinstance(self.loss, str) or callable(self.loss)):
            raise ValueError(f"Risk needs the name of a loss, or a function, got {self.loss!r}.")
        if not 0 <= self.lam <= 1:
            raise ValueError(f"Risk needs 0 <= lam <= 1, got {self.lam}.")

    @property
    def function(self) -> LossFunction:
        """The loss, a function of outputs and labels."""
        return LOSSES[self.loss] if isinstance(self.loss, str) else _per_example(self.loss)

    @property
    def takes_real_labels(self) -> bool:
        """Whether the loss accepts real labels; assumed of every user-defined function."""
        return not isinstance(self.loss, str) or self.loss in REGRESSION


def _per_example(loss: LossFunction) -> LossFunction:
    """Return the user's loss, which raises unless it returns one number per example."""

    def checked(F: Tensor, y: Tensor) -> Tensor:
        values = loss(F, y)
        if values.shape != y.shape:
            raise ValueError(
                f"the loss {getattr(loss, '__name__', type(loss).__name__)} must return one number "
                f"per example, the shape {tuple(y.shape)} of the labels, got {tuple(values.shape)}."
            )
        return values

    return checked


def log_mean_exponential(F: Tensor, y: Tensor) -> Tensor:
    """log mean_i exp(−y_i f_i), one number per replica, computed without underflow."""
    return (-margin(F, y)).logsumexp(-1) - math.log(y.shape[-1])


def loss_map(name: str, f: Output, x: Tensor, y: Tensor, risk: Risk) -> Output:
    """Return the loss that an attack names, a map from x' to one number per example.

    "risk" is the training loss itself; "targeted:r" is F_j − F_y for the r-th strongest wrong
    class j at the clean x (fixed during the attack).
    """
    if name == "risk":
        return lambda z: risk.function(f(z), y)
    if name.startswith("targeted:"):
        F = f(x).detach()
        rank = int(name.removeprefix("targeted:"))
        if _scalar(F, y) or not 1 <= rank < F.shape[-1]:
            raise ValueError(
                f"{name} needs a classifier with more than {rank} classes, got "
                f"{1 if _scalar(F, y) else F.shape[-1]} output(s)."
            )
        wrong = F.scatter(-1, y[..., None], -torch.inf)
        target = wrong.argsort(-1, descending=True)[..., rank - 1]
        return lambda z: true_logit(F := f(z), target) - true_logit(F, y)
    if name not in LOSSES:
        raise ValueError(
            f"an attack needs one of the losses {', '.join(LOSSES)}, risk or targeted:r, got "
            f"{name!r}."
        )
    return lambda z: LOSSES[name](f(z), y)


def leads(F: Tensor, y: Tensor) -> Tensor:
    """F_j − F_y for every class j ≠ y, or −y f: the logit difference before the maximum.

    F may have an axis of patches between the points and the classes, (*S, n, P) or (*S, n, P, k).
    """
    if F.ndim == y.ndim + 1:
        return (-y[..., None] * F)[..., None]
    k = F.shape[-1]
    others = (y[..., None] + torch.arange(1, k, device=y.device)) % k
    shape = (*F.shape[:-1], k - 1)
    rivals = F.gather(-1, others[..., None, :].expand(shape))
    return rivals - F.gather(-1, y[..., None, None].expand(*F.shape[:-1], 1))
