"""Zeros and ones of MNIST, if its files are available, and the digits that replace them
otherwise."""

from pathlib import Path

import pytest
import torch

from adversarium.data import ZeroOne, images, zero_one
from adversarium.data.zero_one import resized
from adversarium.rng import stream

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_mnist = pytest.mark.skipif(not (DATA / "mnist").is_dir(), reason="no MNIST here")


@needs_mnist
def test_mnist_has_the_images_that_the_paper_counts(monkeypatch):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    data = ZeroOne(side=28, mu=2.0)
    batch = data.sample(12_665, stream(0, "train"))
    assert int((batch.y > 0).sum()) == 6742 and int((batch.y < 0).sum()) == 5923
    assert torch.allclose(batch.x.norm(dim=1), torch.tensor(2.0).double())
    test = data.held_out.sample(2115, stream(0, "test"))
    assert int((test.y > 0).sum()) == 1135
    with pytest.raises(ValueError, match="n <= 2115, the number of test images"):
        data.held_out.sample(2116, stream(0, "test"))


def test_without_its_files_mnist_says_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    zero_one._images.cache_clear()
    images._official.cache_clear()
    data = ZeroOne(side=28, mu=2.0)
    assert "Or use source=digits, which needs no files." in data.lacking(3)
    with pytest.raises(ValueError, match="adversarium data fetch mnist"):
        data.sample(3, stream(0, "train"))


def test_the_parts_of_the_stand_in_share_no_image():
    data = ZeroOne(source="digits", side=8, mu=1.0)
    from adversarium.data.zero_one import _images

    train, test = (_images("digits", part)[0].flatten(1) for part in ("train", "test"))
    assert len(train) + len(test) == 360  # all zeros and ones of the digits
    assert float(torch.cdist(train, test).min()) > 0
    assert len(data.held_out.sample(120, stream(0, "test")).y) == 120


def test_areas_keep_the_mean_and_upsampling_keeps_constants():
    images = torch.rand(2, 28, 28, generator=stream(0, "images"), dtype=torch.float64)
    for side in (5, 7, 17):
        assert torch.allclose(resized(images, side).mean((1, 2)), images.mean((1, 2)))
    assert torch.allclose(
        resized(torch.ones(1, 28, 28).double(), 32), torch.ones(1, 32, 32).double()
    )
