"""Explicit networks on robust or on non-robust features, and their accuracy under attack (RNRF)."""

import math

import torch
from torch import Generator, Tensor

from adversarium.attacks import PGD, FeatureCollision, FeatureReplacement, UniversalFeature
from adversarium.data import TwoFeatureBatch, TwoFeaturePatches
from adversarium.data.batches import moved
from adversarium.networks import SmoothedCNN, smoothed_relu
from adversarium.shapes import Float
from adversarium.sockets import Numbers
from adversarium.training.objectives import LOSSES, Risk, loss_map, margin

FeatureAttack = PGD | FeatureCollision | FeatureReplacement | UniversalFeature


def accuracy(
    network: SmoothedCNN,
    W: Float[Tensor, "k m d"],
    batch: TwoFeatureBatch,
    x: Float[Tensor, "n P d"] | None = None,
) -> float:
    """P(F_y > max_{j≠y} F_j) on the batch, or at the points x if given."""
    F = network.f(W, batch.x if x is None else x)
    return float((margin(F, batch.y) > 0).double().mean())


def attacked(
    network: SmoothedCNN,
    W: Float[Tensor, "k m d"],
    batch: TwoFeatureBatch,
    attack: FeatureAttack,
    rng: Generator,
) -> Float[Tensor, "n P d"]:
    """Return the points x' that an attack chooses with the loss that it names."""

    def F(x: Tensor) -> Tensor:
        return network.f(W, x)

    return attack(loss_map(attack.loss, F, batch.x, batch.y, Risk()), batch, 0, rng)


def explicit_networks(rng: Generator, data: TwoFeaturePatches, n: int, eps: float) -> Numbers:
    """Test w_i = γv_i and w_i = γu_i, Propositions 3.1 and 3.2 of RNRF.

    - `v_fits`, `u_fits`: 1 if the cross-entropy falls to 0 at γ = 1, 10, 100 and every point is
      classified correctly, else 0. `v_loss`, `u_loss`: the loss at γ = 100.
    - the accuracies of `_accuracies` at γ = 10; NaN if ε < β, because the model-free attack is then
      not admissible.

    >>> from adversarium.rng import stream
    >>> data = TwoFeaturePatches(d=4, P=3)
    >>> numbers = explicit_networks(stream(0, "example"), data, n=5, eps=1.2)
    >>> numbers["v_fits"], numbers["v_broken"]
    (1.0, 1.0)
    """
    network, batch = SmoothedCNN(m=1), data.sample(n, rng)
    rows: dict[str, float] = {}
    for name, direction in (("v", data.V), ("u", data.U)):
        weights = [gamma * direction[:, None] for gamma in (1.0, 10.0, 100.0)]
        losses = [
            float(LOSSES["cross_entropy"](network.f(W, batch.x), batch.y).mean()) for W in weights
        ]
        falls = losses[0] > losses[1] >= losses[2] and losses[2] < 1e-6
        rows[f"{name}_loss"] = losses[-1]
        rows[f"{name}_fits"] = float(falls and accuracy(network, weights[-1], batch) == 1)
    return {**rows, **_accuracies(rng, data, network, batch, eps)}


def _accuracies(
    rng: Generator,
    data: TwoFeaturePatches,
    network: SmoothedCNN,
    batch: TwoFeatureBatch,
    eps: float,
) -> dict[str, float]:
    """Return accuracies under explicit attacks, Propositions 3.1 and 3.2 of RNRF.

    - `v_broken`: 1 if the model-free attack turns every prediction of the v-network into its target
      y'.
    - `u_replaced`, `u_universal`, `u_lowered`: the accuracy of the u-network under the model-free
      attack, the universal one, and ascent on −F_y.
    - `u_robust`: 1 if the universal attack misclassifies no point, else 0.
    """
    if eps < data.beta:
        names = ("v_broken", "u_universal", "u_replaced", "u_lowered", "u_robust")
        return dict.fromkeys(names, math.nan)
    V, U = 10.0 * data.V[:, None], 10.0 * data.U[:, None]
    k = data.k
    replacement = FeatureReplacement(radius=eps, k=k)
    x = attacked(network, V, batch, replacement, rng)
    target = (x - batch.x)[..., k : 2 * k].sum(-2).argmax(-1)  # y'
    reached = network.f(V, x).argmax(-1) == target
    broken = accuracy(network, V, batch, x) == 0 and bool(reached.all())
    attacks: dict[str, FeatureAttack] = {
        "u_universal": UniversalFeature(radius=eps, k=k),
        "u_replaced": replacement,
        "u_lowered": PGD(radius=eps, steps=20, loss="minus_true_logit"),
    }
    accuracies = {
        name: accuracy(network, U, batch, attacked(network, U, batch, attack, rng))
        for name, attack in attacks.items()
    }
    return {
        "v_broken": float(broken),
        **accuracies,
        "u_robust": float(accuracies["u_universal"] == 1),
    }


def separated_networks(rng: Generator, eps: float, n: int = 200, k: int = 2) -> Numbers:
    """|J_R| s(γ(α − ε)) − P s(γε) > 0, Proposition 3.2 of RNRF without density.

    The configurations tested, (P, α) = (4, 10) and (16, 25), satisfy |J_R|(α − ε) > Pε.

    - `margin`: the smallest value of this worst-case margin without noise.
    - `proven`: the share of noisy points whose entire ball the u-network classifies correctly. This
      is proven by interval bounds, which are attained for one filter per class.
    - `robust`: 1 if the margin is positive and the share is 1, else 0.

    >>> from adversarium.rng import stream
    >>> separated_networks(stream(0, "example"), eps=1.2, n=3)["robust"]
    1.0
    """
    margins, proven = [], []
    for P, alpha in ((4, 10.0), (16, 25.0)):
        data = TwoFeaturePatches(k=k, P=P, alpha=alpha, sigma_n=0.01)
        network, W, batch = SmoothedCNN(m=1), 10.0 * data.U[:, None], data.sample(n, rng)
        low, high = network.interval(W, batch.x, math.inf, eps)
        correct = low.gather(-1, batch.y[:, None])[:, 0]
        other = high.scatter(-1, batch.y[:, None], -torch.inf).amax(-1)
        margins.append(_s(10 * (alpha - eps)) - P * _s(10 * eps))
        proven.append(float((correct > other).double().mean()))
    robust = min(margins) > 0 and min(proven) == 1
    return {"robust": float(robust), "proven": min(proven), "margin": min(margins)}


def _s(z: float) -> float:
    """s(z) at q = 3, ϱ = 1, §2.3 of RNRF."""
    return float(smoothed_relu(torch.tensor(z).double(), 3, 1.0))


def masking(rng: Generator, data: TwoFeaturePatches, n: int, eps: float) -> Numbers:
    """Attack w_i = γv_i at γ = 10 by ascent on three losses (ours, on Proposition 3.1 of RNRF).

    This network is not robust. Saturated gradients of the cross-entropy make it look perfect in
    float32 and partly robust in float64; ascent on the logit difference gives accuracy 0.

    - `cross_entropy`, `logit_difference`, `minus_true_logit`: the accuracy under ascent on this
      loss, in float32, and in float64 if the name ends in "(float64)".
    - `masked`: 1 if the accuracies show all of this (≥ 0.95, ≥ 0.2, 0, ≤ 0.02), else 0.

    >>> from adversarium.rng import stream
    >>> rows = masking(stream(0, "example"), TwoFeaturePatches(d=4, P=3), n=2, eps=1.2)
    >>> rows["logit_difference"], rows["logit_difference (float64)"]
    (0.0, 0.0)
    """
    network, batch = SmoothedCNN(m=1), data.sample(n, rng)
    W = 10.0 * data.V[:, None]
    rows: dict[str, float] = {}
    for dtype, suffix in ((torch.float32, ""), (torch.float64, " (float64)")):
        points, weights = moved(batch, "cpu", dtype), W.to(dtype)
        for loss in ("cross_entropy", "logit_difference", "minus_true_logit"):
            x = attacked(network, weights, points, PGD(radius=eps, steps=20, loss=loss), rng)
            rows[f"{loss}{suffix}"] = accuracy(network, weights, points, x)
    masked = rows["cross_entropy"] >= 0.95 and rows["cross_entropy (float64)"] >= 0.2
    honest = rows["logit_difference"] == 0 == rows["logit_difference (float64)"]
    lowered = max(rows["minus_true_logit"], rows["minus_true_logit (float64)"]) <= 0.02
    return {**rows, "masked": float(masked and honest and lowered)}
