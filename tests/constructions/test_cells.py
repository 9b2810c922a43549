"""A linear classifier is not robust where its margin is at most δ times the dual norm."""

import pytest
import torch

from adversarium.constructions.cells import misclassified_in_l2, misclassified_in_linf
from adversarium.rng import coins, normal, stream


@pytest.mark.parametrize(("search", "q"), ((misclassified_in_linf, 1), (misclassified_in_l2, 2)))
def test_linear_classifiers_break_at_the_dual_norm(search, q):
    rng = stream(0, "cells")
    w, x, y = normal((4,), rng), normal((40, 4), rng), coins((40,), rng)
    margin = y * (x @ w)
    sure = (margin - 0.3 * w.norm(q)).abs() > 1e-6
    wrong = search(lambda z: z @ w, x, y, 0.3, rng)
    assert torch.equal(wrong[sure], (margin <= 0.3 * w.norm(q))[sure])
    assert wrong.any() and not wrong.all()
    assert (search(lambda z: z @ w, x, y, 0.1, rng) <= wrong).all()


@pytest.mark.parametrize("search", (misclassified_in_linf, misclassified_in_l2))
def test_a_classifier_that_is_never_wrong_is_never_broken(search):
    rng = stream(0, "cells")
    x, y = normal((10, 3), rng), torch.ones(10).double()
    assert not search(lambda z: 1 + z.square().sum(-1), x, y, 0.5, rng).any()
