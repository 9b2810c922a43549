"""Define the runs of BOAT's figures on handwritten zeros and ones."""

from dataclasses import replace

from adversarium.data import ZeroOne
from adversarium.measure.errors import Error

from .figure_runs import original_coordinates, trained

MNIST, DIGITS = "MNIST", "digits, the stand-in"
SIDES = (5, 7, 10, 14, 17, 20, 28)
POINTS = {"mnist": 2115, "digits": 120}  # number of test images of 0 and 1


def family_of(source: str) -> str:
    """Return the family name of a data source; the stand-in for MNIST has its own family."""
    return MNIST if source == "mnist" else DIGITS


def on_images(family, at, source, side, mu, ratio, m, steps, reading="R1", **more):
    """Return a run of §5 of BOAT on images of Euclidean norm ‖μ‖ (R3: norm 1) without label noise,
    tested on all test images of 0 and 1."""
    data = ZeroOne(side=side, mu=mu, source=source)
    if reading == "R3":
        data, at = replace(data, mu=1.0), original_coordinates(at, mu)
    errors = Error(n=POINTS[source]), Error(n=POINTS[source], attacks="training")
    return trained(family, at, data, ratio, m, steps, errors, reading=reading, **more)


def clean_accuracy(run):
    """Return 1 minus the test error."""
    return 1 - run.last("test_error")


def robust_accuracy(run):
    """Return 1 minus the test error under the training attack."""
    return 1 - run.last("robust_test_error")


ACCURACIES = {
    "clean": (clean_accuracy, "test_error"),
    "robust": (robust_accuracy, "robust_test_error"),
}
