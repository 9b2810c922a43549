"""Small image networks."""

from torch import nn


def small_cnn(shape: tuple[int, ...], k: int, width: int = 16) -> nn.Module:
    """Return a network of two convolutions and two linear layers for images of any size; it has
    about 38,000 weights for 8 × 8 digits at width 16.

    >>> sum(w.numel() for w in small_cnn((1, 8, 8), k=10).parameters())
    38282
    """
    channels, height, breadth = shape
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(2 * width * ((height + 1) // 2) * ((breadth + 1) // 2), 4 * width),
        nn.ReLU(),
        nn.Linear(4 * width, k),
    )
