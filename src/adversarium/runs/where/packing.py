"""Pack units as bytes that another process can compute."""

import pickle
import sys
from contextlib import redirect_stdout

from adversarium.plans.loading import user_modules
from adversarium.runs.blocks import UnitResult
from adversarium.runs.compute import compute
from adversarium.runs.jobs import Unit


def packed(unit: Unit, experiment: str) -> bytes:
    """Pickle a unit, with the code of user files and of paper folders, but without installed code
    such as the engines."""
    import cloudpickle

    modules = user_modules()
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps((unit, experiment)))
    except (TypeError, ValueError, pickle.PicklingError) as fault:
        raise ValueError(
            f"a run cannot be sent to another process ({fault}); run it with --on here."
        ) from fault
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def compute_packed(data: bytes) -> UnitResult:
    """Compute a pickled unit in a worker. Whatever user code prints goes to standard error."""
    with redirect_stdout(sys.stderr):
        unit, experiment = pickle.loads(data)
        return compute(unit, experiment)
