"""Compute units on a Dask cluster that the user started, on this machine or on others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adversarium.runs.blocks import UnitResult
from adversarium.runs.jobs import Unit
from adversarium.runs.where.here import Progress
from adversarium.runs.where.packing import compute_packed, packed

PATIENCE = 15  # seconds to wait for a scheduler, and then for its first worker


def distributed() -> Any:
    """Return the module of Dask distributed; if it is missing, raise and say how to install it."""
    try:
        import distributed as module
    except ImportError as fault:
        raise ValueError(
            "a cluster needs Dask distributed; install adversarium with its extra: "
            "pip install 'adversarium[cluster]'."
        ) from fault
    return module


@dataclass(frozen=True)
class Cluster:
    """The workers of the Dask scheduler at an address. If a worker dies, other workers compute its
    units."""

    address: str

    def computed(
        self, units: Sequence[Unit], experiment: str, progress: Progress
    ) -> Iterator[tuple[Unit, UnitResult]]:
        """Yield every unit with its result, in the order in which they finish."""
        if not units:
            return
        dask = distributed()
        orders = [packed(replace(unit, checkpoints=""), experiment) for unit in units]
        with self._client(dask) as client:
            futures = [client.submit(compute_packed, one, pure=False, retries=3) for one in orders]
            place = {future.key: i for i, future in enumerate(futures)}
            progress(0, 0, 0, len(units))
            for done, future in enumerate(dask.as_completed(futures, loop=client.loop), start=1):
                yield units[place[future.key]], future.result()
                if done < len(units):
                    progress(done, done, done, len(units))

    def _client(self, dask: Any) -> Any:
        try:
            client = dask.Client(self.address, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError) as fault:
            raise ValueError(
                f"no scheduler answers at {self.address}; start one with `adversarium scheduler`."
            ) from fault
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as fault:
            client.close()
            raise ValueError(
                f"the scheduler {self.address} has no worker; start one with `adversarium worker "
                f"{self.address}`."
            ) from fault
        return client
