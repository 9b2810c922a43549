"""Update the folder of a site: write only changed files, and remove obsolete ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adversarium.report.site.drawing import FigureFiles, draw_figures
from adversarium.report.written import FileRecord, WrittenFiles, digest

MANIFEST = "manifest.json"
_MARK = "· adversarium</title>"


class SiteFolder:
    """A folder with a site, or for a new one."""

    def __init__(self, home: Path) -> None:
        if home.exists() and not home.is_dir():
            raise ValueError(f"--out needs a directory, got the file {home}.")
        self.home = home
        self._files = WrittenFiles(home, MANIFEST)
        first = home / "index.html"
        if first.exists() and "index.html" not in self._files.records:
            if _MARK not in first.read_text(encoding="utf-8", errors="replace"):
                raise ValueError(
                    f"{first} was not written by adversarium; choose another directory (--out DIR)."
                )
            self._files.records["index.html"] = FileRecord()

    def is_current(self, inputs: str) -> bool:
        """Return whether the site was made from these inputs and every file is unchanged."""
        files = self._files
        known = bool(files.records) and files.inputs == inputs
        return known and all(map(files.is_unchanged, files.records))

    def update(
        self,
        texts: Mapping[str, str],
        figures: Sequence[FigureFiles],
        inputs: str,
        progress: Callable[[str, int, int], None] = lambda phase, done, steps: None,
    ) -> None:
        """Write texts and figures that changed, and remove files that are no longer needed.

        `inputs` is the digest of everything that the site is made from; `progress` receives the
        number of figures that are complete.
        """
        files = self._files
        paths = [*texts, *(path for figure in figures for path in figure.paths)]
        new = [path for path in paths if path not in files.records]
        for path in new:
            if (self.home / path).exists():
                raise ValueError(
                    f"{self.home / path} was not written by adversarium; choose another directory "
                    "(--out DIR)."
                )
        if new:
            files.begin(new)
        for path, text in texts.items():
            self._write(path, text.encode())
        due = [figure for figure in figures if not self._is_drawn(figure)]
        done = len(figures) - len(due)
        progress("figures", done, len(figures))
        for figure in draw_figures(due, self.home):
            for path in figure.paths:
                files.complete(path, figure.inputs)
            files.save()  # the next build continues here if this one is interrupted
            done += 1
            progress("figures", done, len(figures))
        for path in set(files.records) - set(paths):
            files.remove(path)
        files.save(inputs)

    def _write(self, path: str, content: bytes) -> None:
        file = self.home / path
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)
        self._files.records[path] = FileRecord(digest(content), digest(content))

    def _is_drawn(self, figure: FigureFiles) -> bool:
        files = self._files
        return all(
            files.is_unchanged(path) and files.records[path].inputs == figure.inputs
            for path in figure.paths
        )
