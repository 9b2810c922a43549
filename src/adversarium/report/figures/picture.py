"""A matplotlib figure of its own: no pyplot, so that the user's backend stays untouched."""

from io import BytesIO

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that shows itself in a notebook, whatever the backend."""

    def _repr_png_(self) -> bytes:
        from adversarium.report.figures.style import styled

        file = BytesIO()
        styled(self.savefig)(file, format="png", dpi=100)
        return file.getvalue()
