"""Select claims and experiments by the words of a command: ids, tags of papers, and files."""

import difflib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from adversarium.plans.loading import file_claims, file_key, load, user_file
from adversarium.plans.papers import Claim, claims, experiments, name_directory, papers


def nearest(name: str, known: Sequence[str]) -> str:
    """Return ' Nearest: …' with similar names, or a hint on how to list all names."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=4, cutoff=0.5)
    return f" Nearest: {', '.join(close)}." if close else " `adversarium list claims` lists all."


def resolved(word: str) -> str:
    """Return a word of a command; if it is a folder of papers (./mypaper), return their tags."""
    path = Path(word)
    is_path = os.sep in word or word.startswith(".")
    return name_directory(path) if is_path and user_file(word) is None and path.is_dir() else word


def verdict_key(claim: Claim) -> str:
    """Return the key under which a claim's verdict is stored: its id, and for a user's file also a
    hash of the file."""
    path = user_file(claim.experiment)
    return claim.id if path is None else f"{claim.id} of {file_key(path)}"


def selected_claims(words: Sequence[str]) -> list[Claim]:
    """Return the claims that words select: tags of papers, ids of experiments or claims, prefixes
    of ids, or user files. Return all claims if no word is given."""
    chosen: dict[str, Claim] = {}
    for word in (tag for given in words for tag in resolved(given).split(",")):
        if user_file(word) is not None:
            load(word)
            _require_distinct(file_claims(word), chosen)
            chosen |= file_claims(word)
            continue
        hits = [c for c in claims().values() if _matches(c, word)]
        if not hits and word in experiments():
            raise ValueError(
                f"{word} has no claims; `adversarium run {word}` shows what it measures."
            )
        if not hits:
            names = [*claims(), *experiments(), *papers()]
            file = f" For the file, write ./{word}.py." if Path(f"{word}.py").is_file() else ""
            raise ValueError(
                f"no paper, experiment or claim {word!r}.{file or nearest(word, names)}"
            )
        chosen |= {c.id: c for c in hits}
    return list(chosen.values()) if words else list(claims().values())


def _require_distinct(some: Mapping[str, Claim], others: Mapping[str, Claim]) -> None:
    """Raise if two files state claims with the same id: one verdict would hide the other."""
    for id in some.keys() & others.keys():
        one, other = some[id].experiment, others[id].experiment
        if Path(one).resolve() != Path(other).resolve():
            raise ValueError(f"{other} and {one} both state {id}; give one of them another id.")


def _matches(claim: Claim, word: str) -> bool:
    low = word.lower()
    named = low in (claim.id.lower(), claim.experiment.lower())
    return named or claim.id.lower().startswith(f"{low}.")


def experiment_ids(word: str) -> list[str]:
    """Return the experiments that an id (also a claim's), a paper's tag or a file selects."""
    if user_file(word) is not None:
        return [word]
    ids: dict[str, None] = {}
    for one in resolved(word).split(","):
        exact = [id for id in experiments() if id.lower() == one.lower()]
        if exact:
            ids |= dict.fromkeys(exact)
            continue
        homes = (
            claims().get(c.alias_of, c).experiment or c.experiment for c in selected_claims((one,))
        )
        ids |= dict.fromkeys(home for home in homes if home)
    if not ids:
        raise ValueError(
            f"{word} is in the catalogue but not yet implemented. The implemented experiments are "
            f"{', '.join(experiments())}."
        )
    return list(ids)
