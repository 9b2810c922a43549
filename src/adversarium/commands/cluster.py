"""Implement `adversarium scheduler` and `adversarium worker`, which form a Dask cluster (on this
machine, unless other addresses are given)."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

from cyclopts import Parameter

LOOPBACK = "127.0.0.1"


def scheduler(
    *,
    host: Annotated[str, Parameter(help="address to listen on")] = LOOPBACK,
    port: Annotated[int, Parameter(help="port to listen on")] = 8786,
) -> int:
    """Start the scheduler of a cluster. Workers join with `adversarium worker ADDRESS`, and `run`,
    `verify` and `sweep` use it with `--on ADDRESS`. Anyone who can reach the address can run code
    on this machine: use loopback or a network that you trust."""
    from adversarium.runs.where.cluster import distributed

    if not 0 <= port < 65536:
        raise ValueError(f"--port needs a number from 0 (any free port) to 65535, got {port}.")
    dask = distributed()

    async def serve() -> None:
        options: dict[str, Any] = dict(
            host=host, port=port, dashboard=False, dashboard_address=f"{host}:0"
        )
        async with dask.Scheduler(**options) as started:
            print(f"scheduler at {started.address}", flush=True)
            await started.finished()

    return _until_stopped(serve())


def worker(
    address: str,
    *,
    name: Annotated[str, Parameter(help="name of the worker")] = "",
) -> int:
    """Start a worker of a cluster. It computes one unit of work at a time, with the code that is
    installed on its machine.

    Parameters
    ----------
    address
        address of the scheduler, tcp://HOST:PORT
    """
    from adversarium.runs.where.cluster import distributed

    if not address.startswith("tcp://"):
        raise ValueError(f"worker needs a scheduler's address tcp://HOST:PORT, got {address!r}.")
    dask = distributed()

    async def serve() -> None:
        options: dict[str, Any] = dict(nthreads=1, memory_limit=0, dashboard=False)
        options["name"] = name or None
        if LOOPBACK in address or "localhost" in address:
            options["host"] = LOOPBACK
        async with dask.Worker(address, **options) as started:
            print(f"worker at {started.address}", flush=True)
            await started.finished()

    return _until_stopped(serve())


def _until_stopped(server: Coroutine[object, object, None]) -> int:
    try:
        asyncio.run(server)
    except OSError as fault:
        raise ValueError(f"the address cannot be used: {fault}.") from fault
    return 0
