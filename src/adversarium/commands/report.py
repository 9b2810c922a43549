"""Implement `adversarium report`: write the entire store as a static web site."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from adversarium.commands.options import DEFAULT, File
from adversarium.commands.progress import Progress


def report(
    *ids: str,
    out: Annotated[Path, Parameter(help="folder for the site")] = Path("report"),
    store: File = DEFAULT,
) -> int:
    """Write the entire store as a static web site: ledger, one page per claim and per experiment,
    figures, errata, changed runs, notation and provenance. Only changed pages are rewritten. Your
    files (./FILE.py) and papers (./FOLDER) are added if you name them.

    Parameters
    ----------
    ids
        your files (./FILE.py) and folders of papers to add
    """
    from adversarium.plans.catalogue import resolved
    from adversarium.plans.loading import user_file
    from adversarium.report.site import write_site
    from adversarium.runs.store import Store

    files = [word for word in ids if user_file(word) is not None]
    for word in ids:
        if word not in files and resolved(word) == word:
            raise ValueError(
                f"report needs your files (./FILE.py) or folders of papers, got {word!r}; it "
                "always includes the entire store."
            )
    with Progress(steps=False) as progress:
        first = write_site(Store(store, readonly=True), out, files, progress)
    print(f"the report is at {first}")
    return 0
