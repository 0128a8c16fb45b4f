"""What the rows of a table are called in messages of a fit: ids or lines of a file."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_names: ContextVar[Sequence[str]] = ContextVar("names of rows", default=())
_depth: ContextVar[int] = ContextVar("fits within fits", default=0)


@contextmanager
def naming_rows(names: Sequence[str]) -> Generator[None]:
    """Call the rows of what is fitted within by these names, one a row."""
    token = _names.set(names)
    try:
        yield
    finally:
        _names.reset(token)


@contextmanager
def one_fit() -> Generator[None]:
    """Enter a fit: one within another is on rows of its own, which have no names."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def is_outermost() -> bool:
    """Return whether no other fit surrounds this one, such as that of a committee."""
    return _depth.get() <= 1


def row_word(row: int) -> str:
    """Return the name of a row of the table that is fitted; 'row 2', from 0, where it has none."""
    names = _names.get() if is_outermost() else ()
    return names[row] if row < len(names) else f"row {row}"
