"""Words that agree with numbers."""


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(0, "cell")
    ('1 run', '0 cells')
    """
    return f"{count} {noun}{'s' * (count != 1)}"
