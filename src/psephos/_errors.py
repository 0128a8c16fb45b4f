"""The errors a user can meet: each is a sentence saying what, where, and what to do."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Self, TypeVar

_LENGTH = 160  # characters of another library's message
_COMPLAINTS, _COLUMNS = 20, 5  # complaints of one message; columns of one
_T = TypeVar("_T")


class PsephosError(ValueError):
    """A value that cannot be used; the message names the place and the remedy."""

    #: Options that settle it, and their values: what a command is repeated with.
    options: tuple[tuple[str, str], ...] = ()
    #: The errors whose sentences it holds, if several.
    parts: "tuple[PsephosError, ...]" = ()

    #: The column of a table that it is about, and its remedy: '' of other errors.
    column: str = ""
    remedy: str = ""

    def settled_by(self, *options: tuple[str, str]) -> Self:
        """Return the error, with the options that settle it."""
        self.options = tuple(dict.fromkeys(options))
        return self

    def of_column(self, name: str, remedy: str = "") -> Self:
        """Return the error, stated once for all columns that the same option settles."""
        self.column, self.remedy = name, remedy
        return self


def must_be(name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise PsephosError unless the value of a parameter is one of those allowed."""
    if value not in (known := [*allowed]):
        words = ", ".join(map(repr, known))
        raise PsephosError(f"{name} must be one of {words}; got {value!r}.")


def must_be_inside(name: str, value: object) -> None:
    """Raise PsephosError unless the value of a parameter is a number above 0 and below 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise PsephosError(f"{name} must be a number above 0 and below 1; got {value!r}.")


class PsephosTypeError(PsephosError, TypeError):
    """A value of the wrong type; the message names the place and the remedy."""


class ModelFileError(PsephosError):
    """A model file that cannot be written or read."""


class MissingFileError(ModelFileError, FileNotFoundError):
    """A file that does not exist."""


class MissingExtraError(PsephosError, ImportError):
    """An optional package is needed; the message carries the command that installs it."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}; install it with: "
            f"pip install 'psephos[{extra}]'"
        )


def sentences(errors: Iterable[PsephosError]) -> list[str]:
    """Return the sentences of errors, one of all columns that the same settles."""
    kinds = dict[object, list[PsephosError]]()
    for one in errors:
        key = (one.options, one.remedy) if one.column else str(one)
        kinds.setdefault(key, []).append(one)
    return [_of_columns(*own) for own in kinds.values()]


def _of_columns(first: PsephosError, *others: PsephosError) -> str:
    if not others:
        return str(first)
    n, names = len(others), ", ".join(repr(one.column) for one in others[:_COLUMNS])
    more = f" and {n - _COLUMNS} more" if n > _COLUMNS else ""
    return f"{first} (The same in {n} other column{'s' * (n > 1)}: {names}{more}.)"


class Complaints:
    """What is wrong with a table, gathered, so that one message holds all of it."""

    def __init__(self) -> None:
        self.found: list[PsephosError] = []

    @contextmanager
    def gather(self) -> Generator[None]:
        """Keep an error of the block for the message; the block ends there."""
        try:
            yield
        except PsephosError as error:
            self.add(error)

    def add(self, error: PsephosError) -> None:
        """Keep an error, or the parts of it, for the message, each sentence once."""
        for one in error.parts or (error,):
            if str(one) not in map(str, self.found):
                self.found.append(one)

    def settled(self, make: Callable[[], _T]) -> _T:
        """Return what `make` returns, unless it or anything before it is wrong."""
        made: list[_T] = []
        with self.gather():
            made.append(make())
        self.refuse()
        return made[0]

    def refuse(self, options: Sequence[tuple[str, str]] = ()) -> None:
        """Raise the error that was gathered, or one whose lines are the sentences of several.

        `options` settle something besides.
        """
        if len(self.found) == 1:
            raise self.found[0]
        if self.found:
            each = sentences(self.found)
            lines = [f"{i}. {one}" for i, one in enumerate(each[:_COMPLAINTS], 1)]
            more = len(each) - _COMPLAINTS
            lines += [f"and {more} more of the kind."] if more > 0 else []
            message = "\n".join([f"{len(each)} things are wrong with the table.", *lines])
            message = message if len(each) > 1 else each[0]
            own = (one for error in self.found for one in error.options)
            whole = PsephosError(message).settled_by(*own, *options)
            whole.parts = tuple(self.found)
            raise whole


class CollapseWarning(UserWarning):
    """A row was left out, because no hypothesis left agrees with it."""


class WeakLabelsWarning(UserWarning):
    """No row is without a label, where a model learns from rows without one."""


class ConstantAnswerWarning(UserWarning):
    """A fitted classifier predicts one class for every training row."""


class UnknownLevelWarning(UserWarning):
    """Some values of a categorical column are none of the model's categories: read as missing."""


class TableWarning(UserWarning):
    """A caution on a table (docs/cautions.md); `code` is its number, such as 'FD004'."""

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code = code


def shortly(error: BaseException) -> str:
    """Return another library's message as a part of ours: its beginning, if it quotes a file."""
    words = str(error)
    return words if len(words) <= _LENGTH else f"{words[:_LENGTH]} …"
