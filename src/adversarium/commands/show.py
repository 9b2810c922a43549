"""`adversarium show`: one experiment or claim, without torch."""

from adversarium.commands.options import DEFAULT, Answer, File, Json, named


def show(id: str, *, store: File = DEFAULT, json: Json = False) -> int | Answer:
    """One experiment or claim: statement, source, what is run, knobs, paper's value, last verdict.

    Parameters
    ----------
    id
        an experiment, a claim, a paper or an own file (./FILE.py)
    """
    from adversarium.report.shown import shown

    text = shown(named([id])[0], store, json)
    if json:
        return Answer(text)
    print(text)
    return 0
