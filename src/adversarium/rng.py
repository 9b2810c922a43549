"""Named random streams; only this module turns a seed into a generator.

Every use (data, attack, …) has its own stream, so adding a use never changes another. Numbers are
drawn on the CPU in float64, so a seed gives the same data on every machine and in every precision.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Generator, Tensor

Streams = Generator | tuple[Generator, ...]  # one stream, or one per replica


def stream(seed: int, use: str) -> Generator:
    """Return the random stream of one seed for one use, e.g. stream(3, "train")."""
    digest = hashlib.sha256(f"{use}/{seed}".encode()).digest()
    return Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


def streams(seeds: Sequence[int], use: str) -> tuple[Generator, ...]:
    """Return one stream per seed, for a batch of replicas."""
    return tuple(stream(seed, use) for seed in seeds)


def device_streams(seeds: Sequence[int], use: str, device: str) -> tuple[Generator, ...]:
    """Return one stream per seed on a device, for numbers that a GPU must draw itself. They differ
    between kinds of devices."""
    return tuple(Generator(device).manual_seed(stream(seed, use).initial_seed()) for seed in seeds)


def measuring(seeds: Sequence[int], t: int, attack: object) -> tuple[Generator, ...]:
    """Return the streams for an attack that measures at step t; training uses separate streams."""
    name = re.sub(r" at 0x[0-9a-f]+", "", repr(attack))  # a function counts by its name
    return streams(seeds, f"evaluation/{t}/{name}")


def normal(shape: Sequence[int], rng: Streams) -> Tensor:
    """Draw standard normal numbers; several streams draw one slice of the first axis each."""
    if isinstance(rng, Generator):
        return torch.randn(tuple(shape), generator=rng, dtype=torch.float64)
    return torch.stack([normal(shape[1:], g) for g in rng])


def uniform(shape: Sequence[int], rng: Streams) -> Tensor:
    """Draw uniform numbers in [0, 1); `rng` has the same meaning as for `normal`."""
    if isinstance(rng, Generator):
        return torch.rand(tuple(shape), generator=rng, dtype=torch.float64)
    return torch.stack([uniform(shape[1:], g) for g in rng])


def integers(high: int, shape: Sequence[int], rng: Streams) -> Tensor:
    """Draw uniform integers in {0, …, high − 1}; `rng` has the same meaning as for `normal`."""
    if isinstance(rng, Generator):
        return torch.randint(high, tuple(shape), generator=rng)
    return torch.stack([integers(high, shape[1:], g) for g in rng])


def coins(shape: Sequence[int], rng: Streams) -> Tensor:
    """Draw +1 or −1 with equal probability."""
    return 2.0 * integers(2, shape, rng).double() - 1


@contextmanager
def torch_seeded(rng: Generator) -> Iterator[None]:
    """Seed torch's global stream from `rng` inside the context, and restore the stream afterwards.

    Use this for code that draws from the global stream, such as the initialisation of an nn.Module.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**62, (), generator=rng)))
        yield
