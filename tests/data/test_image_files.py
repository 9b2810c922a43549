"""Image data sets: their official files are found, read and verified; wrong files are refused."""

import gzip
import io
import pickle
import tarfile
import threading
from dataclasses import replace
from functools import partial
from hashlib import md5
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch

from adversarium.data import Images, files, images
from adversarium.data.downloads import fetch
from adversarium.data.files import SETS, read_part
from adversarium.rng import stream

DATA = Path(__file__).parents[3] / "shared" / "data"


def needs(name):
    return pytest.mark.skipif(not (DATA / name).is_dir(), reason=f"no {name} here")


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No download of this machine is seen, and nothing is remembered from another test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ADVERSARIUM_DATA", raising=False)
    images._official.cache_clear()
    yield
    images._official.cache_clear()


STATISTICS = {  # mean and standard deviation of the training pixels
    "mnist": ((0.1307,), (0.3081,)),
    "fashion-mnist": ((0.2860,), (0.3530,)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in STATISTICS])
def test_an_official_set_is_read_whole(name, monkeypatch):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    data = Images(name=name)
    x = data.pool.x
    assert (len(x), len(data.held_out.pool.x)) == SETS[name].sizes
    assert tuple(x.shape[1:]) == data.shape and x.dtype == torch.uint8
    mean, spread = STATISTICS[name]
    pixels = x.transpose(0, 1).flatten(1).numpy() / 255
    assert np.allclose(pixels.mean(1), mean, atol=1e-4)
    assert np.allclose(pixels.std(1), spread, atol=1e-4)
    assert torch.bincount(data.held_out.pool.y).min() > 800


@needs("svhn-crops")
def test_the_parts_of_a_set_are_disjoint_and_validation_images_are_not_trained_on(monkeypatch):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    data = Images(name="svhn-crops", validation=1000)
    train = data.indices(7000, stream(0, "train"))
    held = data.held_out.indices(1000, stream(0, "test"))
    assert sorted(train.tolist()) == list(range(7000))
    assert sorted(held.tolist()) == list(range(7000, 8000))
    assert data.held_out.pool.x is data.pool.x
    batch = data.sample(5, stream(0, "train"))
    assert batch.x.min() >= 0 and 0.5 < batch.x.max() <= 1
    with pytest.raises(ValueError, match="n <= 7000, the number of train images of svhn-crops"):
        data.sample(7001, stream(0, "train"))


def test_a_set_that_is_missing_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    message = Images(name="cifar10").lacking(10)
    assert "CIFAR-10 is not on this machine" in message
    assert "`adversarium data fetch cifar10`" in message and "--data DIR" in message


@needs("mnist")
@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[: len(raw) // 2],  # truncated
        lambda raw: b"",
        lambda raw: b"not a gzip file",
        lambda raw: gzip.compress(gzip.decompress(raw)[:-1] + b"\7"),  # one byte differs
    ],
)
@pytest.mark.parametrize("kind", ["images-idx3", "labels-idx1"])
def test_a_damaged_file_is_refused_by_its_name(damage, kind, monkeypatch, tmp_path):
    copytree(DATA / "mnist", tmp_path / "mnist")
    file = tmp_path / "mnist" / f"t10k-{kind}-ubyte.gz"
    file.write_bytes(damage(file.read_bytes()))
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=f"{file}.*replace it"):
        read_part("mnist", "test")


@needs("svhn-crops")
def test_a_mosaic_that_is_missing_or_exchanged_is_named(monkeypatch, tmp_path):
    crops = tmp_path / "svhn-crops"
    copytree(DATA / "svhn-crops", crops)
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    first, second = (crops / f"train_0{i}.webp" for i in (2, 3))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    with pytest.raises(ValueError, match=r"train_02\.webp does not have the train images"):
        read_part("svhn-crops", "train")
    first.unlink()
    with pytest.raises(ValueError, match=r"train_02\.webp is damaged .*it is missing"):
        read_part("svhn-crops", "train")
    first.write_bytes(content)
    (crops / "train_07.webp").unlink()
    assert "SVHN crops is incomplete here: 7000 train" in Images(name="svhn-crops").lacking(10)


@needs("cifar10")
def test_python_batches_and_their_archive_are_the_same_set_as_mosaics(monkeypatch, tmp_path):
    monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    test = read_part("cifar10", "test")
    rows = test.images.transpose(0, 3, 1, 2).reshape(len(test.images), -1)
    raw = pickle.dumps({b"data": rows, b"labels": test.labels.tolist()}, protocol=2)
    inside = tmp_path / "cifar-10-batches-py"
    inside.mkdir()
    (inside / "test_batch").write_bytes(raw)
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    assert np.array_equal(read_part("cifar10", "test").images, test.images)
    (inside / "test_batch").unlink()
    with tarfile.open(tmp_path / "cifar-10-python.tar.gz", "w:gz", compresslevel=1) as archive:
        member = tarfile.TarInfo("cifar-10-batches-py/test_batch")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    assert np.array_equal(read_part("cifar10", "test").labels, test.labels)


class Hostile:
    def __reduce__(self):
        return print, ("code of a data file was run",)


def test_a_batch_with_code_in_it_is_refused(monkeypatch, tmp_path, capsys):
    (tmp_path / "test_batch").write_bytes(pickle.dumps({b"data": Hostile()}, protocol=2))
    monkeypatch.setenv("ADVERSARIUM_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"test_batch is damaged .*which no batch has"):
        read_part("cifar10", "test")
    assert "code" not in capsys.readouterr().out


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A small set in the form of MNIST on a server of this machine; returns its folder there."""
    home = tmp_path / "served"
    home.mkdir()
    downloads = []
    for file in SETS["mnist"].downloads:
        images_ = "images" in file.name
        shape = (3, 28, 28) if images_ else (3,)
        head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        raw = gzip.compress(head + bytes(int(np.prod(shape))))
        (home / file.name).write_bytes(raw)
        downloads.append((file.name, md5(raw).hexdigest()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(home)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{server.server_port}"
    made = tuple(files.Download(url=f"{base}/{n}", md5=m, megabytes=0.01) for n, m in downloads)
    monkeypatch.setitem(SETS, "mnist", replace(SETS["mnist"], downloads=made))
    monkeypatch.setattr(files, "_known", lambda name: {})
    yield home
    server.shutdown()
    server.server_close()


def test_a_download_is_verified_and_read_from_then_on(served):
    files_seen = []
    folder = fetch("mnist", lambda file, done, whole: files_seen.append(file))
    assert folder == files.downloads_folder("mnist")
    assert read_part("mnist", "train").images.shape == (3, 28, 28, 1)
    assert files_seen


def test_a_download_with_another_checksum_is_not_stored(served):
    name = SETS["mnist"].downloads[0].name
    (served / name).write_bytes(b"something else")
    with pytest.raises(ValueError, match="did not return the official file"):
        fetch("mnist")
    assert not (files.downloads_folder("mnist") / name).exists()


def test_a_server_that_does_not_answer_is_one_sentence(served):
    (served / SETS["mnist"].downloads[0].name).unlink()
    with pytest.raises(ValueError, match=r"cannot be downloaded .*check the connection"):
        fetch("mnist")


def test_crops_cannot_be_downloaded():
    with pytest.raises(ValueError, match=r"cannot be downloaded; name a directory"):
        fetch("svhn-crops")


@needs("mnist")
def test_images_that_were_read_are_missing_again_once_their_folder_is_not_named(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "none")
    monkeypatch.setenv("ADVERSARIUM_DATA", str(DATA))
    assert Images(name="mnist").lacking(10) == ""
    monkeypatch.delenv("ADVERSARIUM_DATA")
    assert "MNIST is not on this machine" in Images(name="mnist").lacking(10)
