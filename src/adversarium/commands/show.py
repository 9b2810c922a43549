"""Implement `adversarium show`: describe one experiment or claim, without torch."""

from adversarium.commands.options import DEFAULT, Answer, File, Json, named


def show(id: str, *, store: File = DEFAULT, json: Json = False) -> int | Answer:
    """Show an experiment or claim: statement, source, parameters, paper's value, last verdict.

    Parameters
    ----------
    id
        an experiment, a claim, a paper or your file (./FILE.py)
    """
    from adversarium.report.shown import shown

    text = shown(named([id])[0], store, json)
    if json:
        return Answer(text)
    print(text)
    return 0
