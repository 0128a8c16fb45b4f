"""Errors and warnings for users: each message says what is wrong, where, and what to do."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Self, TypeVar

_LENGTH = 160  # characters of another library's message
_COMPLAINTS, _COLUMNS = 20, 5  # complaints of one message; columns of one
_T = TypeVar("_T")


class PsephosError(ValueError):
    """A value that cannot be used; the message says where it is and what to do.

    It is a ValueError, and the base class of all errors that psephos raises for a user's input.

    Examples
    --------
    >>> import psephos
    >>> try:
    ...     psephos.CARTClassifier(max_depth=-1).fit([[1.0], [2.0]], ["ill", "well"])
    ... except psephos.PsephosError as error:
    ...     print(error)  # doctest: +ELLIPSIS
    CARTClassifier: parameter 'max_depth' must be a whole number of at least 1 ...; got -1.
    """

    #: Command-line options, with values, that resolve it when the command is repeated.
    options: tuple[tuple[str, str], ...] = ()
    #: The errors that it combines, if several.
    parts: "tuple[PsephosError, ...]" = ()

    #: The column of a table that it is about, and the remedy; '' if it is not about a column.
    column: str = ""
    remedy: str = ""

    def settled_by(self, *options: tuple[str, str]) -> Self:
        """Set the options that resolve the error, and return it."""
        self.options = tuple(dict.fromkeys(options))
        return self

    def of_column(self, name: str, remedy: str = "") -> Self:
        """Set the column, and return the error: one message covers columns with the same remedy."""
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
    """A value of the wrong type; the message says where it is and what to do."""


class ModelFileError(PsephosError):
    """A model file that cannot be written or read."""


class MissingFileError(ModelFileError, FileNotFoundError):
    """A file that does not exist."""


class MissingExtraError(PsephosError, ImportError):
    """An optional package is needed; the message has the command that installs it."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}; install it with: "
            f"pip install 'psephos[{extra}]'"
        )


def sentences(errors: Iterable[PsephosError]) -> list[str]:
    """Return the messages of errors, one for all columns that have the same remedy."""
    kinds = dict[object, list[PsephosError]]()
    for one in errors:
        options = tuple((flag, w.removeprefix(f"{one.column}=")) for flag, w in one.options)
        key = (options, one.remedy.replace(one.column, "")) if one.column else str(one)
        kinds.setdefault(key, []).append(one)
    return [_of_columns(*own) for own in kinds.values()]


def _of_columns(first: PsephosError, *others: PsephosError) -> str:
    named = [*dict.fromkeys(one.column for one in others if one.column != first.column)]
    if not named:
        return str(first)
    n, names = len(named), ", ".join(map(repr, named[:_COLUMNS]))
    more = f" and {n - _COLUMNS} more" if n > _COLUMNS else ""
    return f"{first} (The same in {n} other column{'s' * (n > 1)}: {names}{more}.)"


class Complaints:
    """Collects the errors of a table, so that one message reports all of them."""

    def __init__(self) -> None:
        self.found: list[PsephosError] = []

    @contextmanager
    def gather(self) -> Generator[None]:
        """Collect the error that ends the block, if any."""
        try:
            yield
        except PsephosError as error:
            self.add(error)

    def add(self, error: PsephosError) -> None:
        """Collect an error, or its parts, without duplicates."""
        for one in error.parts or (error,):
            if str(one) not in map(str, self.found):
                self.found.append(one)

    def settled(self, make: Callable[[], _T]) -> _T:
        """Return what `make` returns; raise if it, or anything before it, failed."""
        made: list[_T] = []
        with self.gather():
            made.append(make())
        self.refuse()
        return made[0]

    def refuse(self, options: Sequence[tuple[str, str]] = ()) -> None:
        """Raise the collected error, or one that lists several; `options` are added to theirs."""
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
    """A row was left out, because no remaining hypothesis agrees with it.

    `VersionSpaceClassifier` warns so; its ``on_collapse="skip"`` leaves rows out without a warning.

    Examples
    --------
    >>> import warnings
    >>> import psephos
    >>> with warnings.catch_warnings(action="ignore", category=psephos.CollapseWarning):
    ...     model = psephos.VersionSpaceClassifier().fit([[1.0], [2.0], [1.0]], ["yes", "no", "no"])
    >>> model.collapses_
    ['row 2: no conjunction for class yes agrees with it and the rows before']
    """


class WeakLabelsWarning(UserWarning):
    """Every row has a label, but the model learns from rows without one.

    The models for partly recorded labels warn so. If one label means "not known", declare it.

    Examples
    --------
    >>> import psephos
    >>> X, y = [[float(i)] for i in range(20)], [1] * 8 + [0] * 12
    >>> model = psephos.PUClassifier(prior=0.5, unlabeled=0).fit(X, y)  # 0: not known
    >>> model.labels_.n_unlabelled
    12
    """


class ConstantAnswerWarning(UserWarning):
    """A fitted classifier predicts one class for every training row.

    The models for partly recorded labels warn so, mostly because of an unsuitable class prior.

    Examples
    --------
    >>> import warnings
    >>> import psephos
    >>> X, y = [[float(i)] for i in range(20)], [1] * 3 + [None] * 17
    >>> chosen = {"action": "always", "category": psephos.ConstantAnswerWarning}
    >>> with warnings.catch_warnings(record=True, **chosen) as caught:
    ...     model = psephos.PUClassifier(prior=0.99).fit(X, y)
    >>> print(str(caught[0].message).partition(":")[0])
    PUClassifier predicts 1 for all 20 training rows
    """


class UnknownLevelWarning(UserWarning):
    """Some values of a categorical column are not among the model's categories: read as missing.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import psephos
    >>> X = pd.DataFrame({"sex": ["f", "f", "m", "m"]}, dtype="category")
    >>> model = psephos.CARTClassifier(n_folds=0).fit(X, ["ill", "ill", "well", "well"])
    >>> with warnings.catch_warnings(action="ignore", category=psephos.UnknownLevelWarning):
    ...     model.predict(pd.DataFrame({"sex": ["not known"]})).tolist()
    ['ill']
    """


class TableWarning(UserWarning):
    """A caution on a table; docs/cautions.md has a paragraph on each code.

    Parameters
    ----------
    words : str
        The message.
    code : str, default=""
        The code of the caution, such as 'FD004'.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import psephos
    >>> X = pd.DataFrame({"Unnamed: 0": range(30), "dose": [3, 1, 2, 5, 4] * 6})
    >>> chosen = {"action": "always", "category": psephos.TableWarning}
    >>> with warnings.catch_warnings(record=True, **chosen) as caught:
    ...     model = psephos.CARTClassifier().fit(X, ["ill", "well"] * 15)
    >>> [one.message.code for one in caught]
    ['FD004']
    """

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code = code


def shortly(error: BaseException) -> str:
    """Return the message of another library's error, cut after 160 characters."""
    words = str(error)
    return words if len(words) <= _LENGTH else f"{words[:_LENGTH]} …"
