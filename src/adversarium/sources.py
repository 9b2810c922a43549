"""The files that somebody's own code consists of. No torch at import."""

import ast
import fnmatch
import hashlib
import importlib.util
import itertools
import os
import re
import site
import sys
import sysconfig
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

_LISTS = {"glob", "iglob", "rglob", "iterdir", "listdir", "scandir", "walk"}
_WRITES = re.compile(r"^(save|write|dump|export|plot|to_)|save$|savefig$")
_READS = re.compile(r"""(?:environ(?:\.get)?|getenv)\s*[\[(]\s*["'](\w+)["']""")
HOME = Path(__file__).parent
_MOST = 5000  # files below a folder that are known by name
_LARGEST = 64 * 2**20  # bytes of a named file that are read; of a larger one size and time count


def code_digest(*files: Path) -> str:
    """A digest of files, of the local modules that they import (these in turn), and of the files
    that they name or list: edited code, or an edited table beside it, is another run."""
    once = getattr(_noted, "digests", None)
    if once is None:
        return _digested(files)
    if files not in once:
        with noting() as known:
            once[files] = _digested(files), known
    digest, known = once[files]
    _note(*known)
    return str(digest)


def _digested(files: tuple[Path, ...]) -> str:
    whole, listed = hashlib.sha256(), set[tuple[Path, str, bool]]()
    for one in sources(*files):
        _note(one)
        if one.suffix == ".py":
            changed = one.stat().st_mtime_ns
            lists = [search for search in _listing(one, changed) if search not in listed]
            listed |= {*lists}
            told = (line for search in dict.fromkeys(lists) for line in _entries(*search))
            whole.update("".join((*_environment(one, changed), *told)).encode())
        whole.update(_content(one))
    return whole.hexdigest()[:12]


_noted = threading.local()


@contextmanager
def looked_at_once() -> Iterator[None]:
    """While it lasts files do not change: one digest serves all who ask for it.

    >>> with looked_at_once():
    ...     code_digest(Path(__file__)) == code_digest(Path(__file__))
    True
    """
    before = getattr(_noted, "digests", None)
    _noted.digests = {} if before is None else before
    try:
        yield
    finally:
        _noted.digests = before


@contextmanager
def noting() -> Iterator[set[Path]]:
    """The files and listed folders that digests are made of while it lasts.

    >>> with noting() as known:
    ...     _ = code_digest(Path(__file__))
    >>> Path(__file__).resolve() in known
    True
    """
    before = getattr(_noted, "files", None)
    _noted.files = known = set[Path]()
    try:
        yield known
    finally:
        _noted.files = before


def _note(*files: Path) -> None:
    known = getattr(_noted, "files", None)
    if known is not None:
        known |= {_real(str(file), os.getcwd()) for file in files}


@lru_cache(maxsize=65536)
def _real(file: str, folder: str) -> Path:
    """Where a file is, as seen from a folder."""
    return Path(folder, file).resolve()


def named_files(words: Iterable[str]) -> dict[str, str]:
    """The digests of the files that words name, as `--set file=table.txt` does."""
    found = {}
    for word in filter(_is_name, words):
        with suppress(OSError, ValueError):
            if Path(word).is_file() and not _kept(Path(word)):
                _note(Path(word))
                found[word] = hashlib.sha256(_content(Path(word))).hexdigest()[:12]
    return found


def _content(file: Path) -> bytes:
    """What a file holds; of a large one when it was changed."""
    stat = file.stat()
    return f"{stat.st_mtime_ns}".encode() if stat.st_size > _LARGEST else file.read_bytes()


def sources(*files: Path) -> tuple[Path, ...]:
    """Files, and what they are made of: local modules and the files that their strings name."""
    found: dict[Path, None] = {}
    first = tuple(file.resolve() for file in files)
    waiting, there = list(first), dict[str, frozenset[str]]()
    while waiting:
        one = waiting.pop()
        if one in found or not one.is_file():
            continue
        found[one] = None
        if one.suffix == ".py":
            imported, words = _said(one, one.stat().st_mtime_ns, tuple(sys.path))
            waiting += (*imported, *_named(one.parent, words, there))
    return (*first, *sorted(found.keys() - set(first)))


@lru_cache(maxsize=1024)
def _said(
    file: Path, changed: int, path: tuple[str, ...]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What one file imports of local code, and its strings; it is read again when it has
    changed."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return (), ()
    made: list[Path] = []
    words: list[str] = []
    written = _written(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            made += [one for name in node.names for one in _module(file, name.name)]
        elif isinstance(node, ast.ImportFrom):
            made += _imported(file, node)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            named = [one.value for one in node.args[:1] if isinstance(one, ast.Constant)]
            made += [one for name in named for one in _module(file, str(name))]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words += [] if id(node) in written or not _is_name(node.value) else [node.value]
    return tuple(made), tuple(dict.fromkeys(words))


def _written(tree: ast.AST) -> set[int]:
    """The strings of calls that write (`save(…)`, `open(…, "w")`): what comes out is no part."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _called(node)
            given = (*node.args, *(key.value for key in node.keywords))
            modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
            plain = [str(one.value) for one in modes if isinstance(one, ast.Constant)]
            opened = name == "open" and any(set("wax") & set(mode) for mode in plain)
            if opened or _WRITES.search(name):
                into = (*given, *([node.func] if opened else []))  # Path("x").open("w")
                found |= {id(inner) for one in into for inner in ast.walk(one)}
    return found


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def _environment(file: Path, changed: int) -> list[str]:
    """The variables of the environment that a file reads by name, with their values."""
    return [f"{name}={os.environ.get(name, '')}\n" for name in _variables(file, changed)]


@lru_cache
def _variables(file: Path, changed: int) -> tuple[str, ...]:
    text = file.read_text(encoding="utf-8", errors="replace")
    return tuple(dict.fromkeys(_READS.findall(text)))


def _imported(file: Path, node: ast.ImportFrom) -> list[Path]:
    """The files of `from MODULE import NAMES`; a name may be a module of a package."""
    if not node.level:
        return _module(file, node.module or "")
    folder = file.parents[node.level - 1]
    for part in (node.module or "").split("."):
        folder = folder / part
    near = [folder.with_suffix(".py"), folder / "__init__.py"]
    near += [folder / f"{name.name}.py" for name in node.names]
    return [one.resolve() for one in near if one.is_file()]


def _module(file: Path, name: str) -> list[Path]:
    """The file of a local module, or all files of a local package (with an `__init__.py` or
    without); none of what is installed."""
    top = name.partition(".")[0]
    for home in (file.parent / top, *_found(top)):
        if (
            home.with_suffix(".py").is_file()
            and is_local(home)
            and not (home / "__init__.py").is_file()
        ):
            return [home.with_suffix(".py").resolve()]
        if home.is_dir() and is_local(home):
            return sorted(one.resolve() for one in home.rglob("*.py"))
    return []


def _found(top: str) -> list[Path]:
    """Where Python finds a module, without its ending; a folder without `__init__.py` may have
    several places."""
    if top in sys.stdlib_module_names:
        return []
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if not spec.origin or not spec.origin.endswith(".py"):
        return [Path(place) for place in spec.submodule_search_locations or ()]
    origin = Path(spec.origin)
    return [origin.parent if origin.name == "__init__.py" else origin.with_suffix("")]


@lru_cache(maxsize=4096)
def is_local(home: Path) -> bool:
    """Whether code is somebody's own, not installed and not the laboratory's."""
    whole = home.resolve()
    return not any(place in (whole, *whole.parents) for place in _installed())


@lru_cache
def _installed() -> frozenset[Path]:
    paths = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    known = {HOME, *(Path(p) for p in (*paths, *site.getsitepackages()) if p)}
    return frozenset(place.resolve() for place in known)


def _named(folder: Path, words: Iterable[str], there: dict[str, frozenset[str]]) -> Iterator[Path]:
    """The files that strings name: beside the code, in the working directory, or, by their last
    part, in a folder below the code (`here / "tables" / "c.txt"`). `there` keeps what is in a
    folder: most strings are no file's name."""
    below = _below(folder, int(time.monotonic()))
    homes = (str(folder), os.getcwd())
    for home in homes:
        if home not in there:
            there[home] = frozenset(os.listdir(home))
    for word in words:
        plain = os.sep not in word
        near = [os.path.join(home, word) for home in homes if not plain or word in there[home]]
        last = word if plain else os.path.basename(word.rstrip("/"))
        for place in (*near, *below.get(last, ())):
            if os.path.isfile(place) and not _kept(Path(place)):
                yield Path(place).resolve()


def _listing(file: Path, changed: int) -> Iterator[tuple[Path, str, bool]]:
    """What code can find by listing (in folders that its strings name, by its patterns, and beside
    it where it goes through a folder): folders, patterns, and whether below them too."""
    words, calls = _lists(file, changed)
    homes = dict.fromkeys((file.parent.resolve(), Path().resolve()))
    if calls - {"glob", "iglob", "rglob"}:
        yield file.parent, "*", False
    for word, home in itertools.product(filter(_is_name, words), homes):
        at = home / word
        if any(c in word for c in "*?["):
            plain = home if any(c in str(at.parent) for c in "*?[") else at.parent
            folders = plain is home and len(Path(word).parts) > 1  # runs/*/*.txt
            deep = folders or "**" in word or ("rglob" in calls and home == file.parent)
            yield plain, at.name, deep
        elif at.is_dir() and not any(at.resolve() in (home, *home.parents) for home in homes):
            yield at, "*", True


@lru_cache(maxsize=1024)
def _lists(file: Path, changed: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """The strings of the statements of a module that list folders, with those of its constants,
    and the calls that list."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return (), frozenset()
    calls: set[str] = set()
    words: list[str] = []
    for statement in tree.body:
        inside = list(ast.walk(statement))
        found = {_called(node) for node in inside if isinstance(node, ast.Call)} & _LISTS
        calls |= found
        if found or isinstance(statement, (ast.Assign, ast.AnnAssign)):
            constants = (node.value for node in inside if isinstance(node, ast.Constant))
            words += [value for value in constants if isinstance(value, str)]
    return (tuple(dict.fromkeys(words)) if calls else ()), frozenset(calls)


def _entries(folder: Path, pattern: str, deep: bool) -> Iterator[str]:
    """The files of a folder, and of those below, by a pattern; of the first 5,000."""
    count = 0
    for place, folders, names in os.walk(folder):
        _note(Path(place))
        folders[:] = sorted(one for one in folders if one[0] not in "._") if deep else []
        for one in sorted(fnmatch.filter(names, pattern)):
            with suppress(OSError):
                stat = os.stat(os.path.join(place, one))
                _note(Path(place, one))
                yield "" if _kept(Path(one)) else f"{one} {stat.st_size} {stat.st_mtime_ns}\n"
        count += len(names)
        if count > _MOST:
            return


def _is_name(word: str) -> bool:
    return 0 < len(word) < 200 and "\n" not in word and "\0" not in word


@lru_cache(maxsize=8)
def _below(folder: Path, second: int) -> dict[str, tuple[str, ...]]:
    """The files of the folders below one, by their names; of the first 5,000; looked up again
    after a second."""
    found: dict[str, tuple[str, ...]] = {}
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one[0] not in "._")
        for name in names if place != str(folder) else ():
            found[name] = (*found.get(name, ()), os.path.join(place, name))
            count += 1
        if count > _MOST:
            break
    return found


def _kept(file: Path) -> bool:
    """Whether a file is a store: it changes by running."""
    return file.suffix in (".sqlite", ".pyc") or file.name.endswith(("-wal", "-shm"))
