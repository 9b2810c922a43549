"""Create matplotlib figures without pyplot, so that the user's backend does not change."""

from io import BytesIO

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that a notebook displays with every backend."""

    def _repr_png_(self) -> bytes:
        from adversarium.report.figures.style import with_style

        file = BytesIO()
        with_style(self.savefig)(file, format="png", dpi=100)
        return file.getvalue()
