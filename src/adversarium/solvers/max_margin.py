"""The l2 max-margin direction: the limit of gradient descent on separable data."""

import numpy as np
import torch
from torch import Tensor

from adversarium.shapes import Float


def max_margin(Z: Float[Tensor, "n d"]) -> tuple[Float[Tensor, " d"], float]:
    """u = argmax_{‖w‖₂=1} min_i ⟨Z_i, w⟩ and its margin, Z_i = y_i x_i; 0 if inseparable.

    The shortest point of the convex hull of the Z_i is u times the margin; non-negative least
    squares finds it exactly.

    >>> u, margin = max_margin(torch.tensor([[2.0, 1.0], [2.0, -1.0], [5.0, 0.0]]).double())
    >>> torch.allclose(u, torch.tensor([1.0, 0.0]).double()), round(margin, 9)
    (True, 2.0)
    """
    from scipy.optimize import nnls

    scale = float(Z.norm(dim=1).max())
    points = (Z / scale).double().cpu().numpy()
    system = np.vstack([points.T, np.ones(len(points))])
    target = np.append(np.zeros(points.shape[1]), 1.0)
    a, _ = nnls(system, target, maxiter=50 * len(points))
    w = torch.from_numpy(points.T @ a)
    length = float(w.norm())
    if length < 1e-9:  # the hull contains 0
        return torch.zeros_like(Z[0]), 0.0
    u = (w / length).to(Z)
    return u, float((Z @ u).min())
