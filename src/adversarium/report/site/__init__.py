"""The store as a static web site: it opens from disk and asks no host."""

from collections.abc import Callable, Sequence
from pathlib import Path

from adversarium.report.site import inputs
from adversarium.report.site.folder import Folder
from adversarium.runs.store import Store


def write_site(
    store: Store,
    out: Path,
    added: Sequence[str] = (),
    seen: Callable[[str, int, int], None] = lambda what, done, whole: None,
) -> Path:
    """Writes what changed of the site and returns its first page; `added`: own files beside the
    catalogue; `seen` is told how far it is. Where nothing changed, nothing is read or written."""
    folder = Folder(out)
    made_by = inputs.code(added)
    whole = inputs.whole(store, made_by)
    if not folder.current(whole):
        from adversarium.report.site.build import built

        texts, drawn = built(store, added, made_by, seen)
        folder.renew(texts, drawn, whole, seen)
    return out / "index.html"
