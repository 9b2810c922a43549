"""`adversarium show`: one experiment or claim, without torch."""

from adversarium.commands.options import DEFAULT, File, Json


def show(id: str, *, store: File = DEFAULT, json: Json = False) -> int:
    """One experiment or claim: statement, source, what is run, paper's value, last verdict."""
    from adversarium.report.shown import shown

    print(shown(id, store, json))
    return 0
