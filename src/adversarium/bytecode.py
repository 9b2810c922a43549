"""What compiled code says of itself: its names, its strings, and which globals it changes. No torch
at import."""

import dis
from types import CodeType
from typing import Any

_CHANGES = ("append", "add", "update", "setdefault", "pop", "extend", "clear", "insert")
_OUTER = ("LOAD_GLOBAL", "LOAD_DEREF")


def compiled(code: CodeType) -> list[Any]:
    """Code as Python runs it, as plain JSON.

    >>> def double(x): return 2 * x
    >>> compiled(double.__code__)[-1]
    ['x']
    """
    inner = [compiled(one) if isinstance(one, CodeType) else _constant(one)
             for one in code.co_consts]  # fmt: skip
    return [code.co_code.hex(), inner, list(code.co_names), list(code.co_varnames)]


def _constant(one: Any) -> str:
    return str(sorted(map(repr, one))) if isinstance(one, frozenset) else repr(one)


def strings(code: CodeType) -> list[str]:
    """The strings of code, with the code inside it."""
    inner = [word for one in code.co_consts if isinstance(one, CodeType) for word in strings(one)]
    return [*(one for one in code.co_consts if isinstance(one, str)), *inner]


def names(code: CodeType) -> set[str]:
    """The names that code reads, with the code inside it."""
    inner = (names(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*inner)


def changed(code: CodeType) -> set[str]:
    """The outer names that code changes itself, such as a cache or a counter: no part of what it
    is.

    >>> def cached(k, v): CACHE[k, 0] = v
    >>> def plain(x): x[0] = SHIFT
    >>> changed(cached.__code__), changed(plain.__code__)
    ({'CACHE'}, set())
    """
    found: set[str] = set()
    steps = list(dis.get_instructions(code))
    for i, step in enumerate(steps):
        if step.opname == "STORE_GLOBAL":
            found.add(str(step.argval))
        elif step.opname == "STORE_SUBSCR":
            found |= {str(one.argval) for one in _container(steps[:i])}
        elif step.opname in _OUTER:
            found |= {str(step.argval) for one in steps[i + 1 : i + 2] if one.argval in _CHANGES}
    return found


def _container(before: list[dis.Instruction]) -> list[dis.Instruction]:
    """The outer name that is stored into, where it is one: what was pushed before the key."""
    pushed = 0  # by what makes the key
    while before and pushed < 1:
        step = before.pop()
        pushed += dis.stack_effect(step.opcode, step.arg, jump=False)
    return [step for step in before[-1:] if pushed == 1 and step.opname in _OUTER]
