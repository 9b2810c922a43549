"""Implement `adversarium show`: describe one experiment or claim, without torch."""

from typing import Annotated

from adversarium.commands.options import DEFAULT, Answer, File, Flag, Json, named


def show(
    id: str,
    *,
    all_: Annotated[
        bool, Flag(name="--all", help="show everything, in any number of lines")
    ] = False,
    store: File = DEFAULT,
    json: Json = False,
) -> int | Answer:
    """Show a claim, an experiment or a paper: the answer on one screen, everything with --all.

    Parameters
    ----------
    id
        an experiment, a claim, a paper or your file (./FILE.py)
    """
    from adversarium.report.shown import shown

    text = shown(named([id])[0], store, json, all_)
    if json:
        return Answer(text)
    print(text)
    return 0
