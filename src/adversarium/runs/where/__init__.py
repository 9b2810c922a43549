"""Choose where units of jobs are computed: in this process, in processes of this machine, or on a
Dask cluster. The place does not affect the numbers."""

from adversarium.runs.where.here import HERE, Here, Place
from adversarium.runs.where.processes import Processes

__all__ = ["HERE", "Here", "Place", "Processes", "place"]


def place(word: str) -> Place:
    """Return where to compute, given `here`, `processes`, `processes:N` or `tcp://HOST:PORT`.

    >>> place("processes:3")
    Processes(count=3)
    """
    if word == "here":
        return HERE
    kind, _, count = word.partition(":")
    if kind == "processes" and (not count or (count.isdigit() and int(count) > 0)):
        return Processes(int(count)) if count else Processes()
    if word.startswith("tcp://"):
        from adversarium.runs.where.cluster import Cluster

        return Cluster(word)
    raise ValueError(f"--on needs here, processes, processes:N or tcp://HOST:PORT, got {word!r}.")
