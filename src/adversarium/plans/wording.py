"""Write nouns that agree with numbers."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> counted(1, "run"), counted(0, "cell")
    ('1 run', '0 cells')
    """
    return f"{count} {noun}{'s' * (count != 1)}"
