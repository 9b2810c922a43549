"""Write the store as a static web site, which opens from disk and loads nothing from elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path

from adversarium.report.site.digests import code_digest, site_digest
from adversarium.report.site.folder import SiteFolder
from adversarium.runs.store import Store


def write_site(
    store: Store,
    out: Path,
    added: Sequence[str] = (),
    progress: Callable[[str, int, int], None] = lambda phase, done, steps: None,
) -> Path:
    """Write the changed files of the site and return its first page.

    `added` are user files in addition to the catalogue; `progress` receives the phase, the steps
    done and the number of steps. If nothing changed, no row is read and no file is written.
    """
    folder = SiteFolder(out)
    code = code_digest(added)
    inputs = site_digest(store, code)
    if not folder.is_current(inputs):
        from adversarium.report.site.build import pages_and_figures

        texts, figures = pages_and_figures(store, added, code, progress)
        folder.update(texts, figures, inputs, progress)
    return out / "index.html"
