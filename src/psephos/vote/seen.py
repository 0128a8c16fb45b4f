"""Whether rows are those that a model was fitted, or its probabilities calibrated, on."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from psephos._errors import PsephosError
from psephos.vote.importance import SampleRows, evenly_spaced
from psephos.vote.names import plural
from psephos.vote.profile import Profile, profile_of
from psephos.vote.rows import columns_of, first_of, row_groups

_Floats = NDArray[np.float64]
_RARE = math.log(1e6)  # rarer than once in a million is not by chance
_DRAWS, _COLUMNS = 999, 64  # bootstrap samples, and their columns, that a summary is compared with
_ROUNDING = 1e-9


class Seen(NamedTuple):
    """How far rows are training rows, by what a model keeps of those.

    Parameters
    ----------
    n : int
        Rows.
    kept : bool
        Whether the model keeps training rows.
    same : ndarray of int
        Rows that equal one of these, in all columns the model reads.
    single : bool
        Whether not even one of them is so by chance, by how often values of each column agree.
    often : bool
        Whether more are the same than of new rows (a chance below one in a million).
    ordered : bool
        Whether the rows are the kept ones in their order, which chance does not bring about.
    fitted, calibrated : bool
        Whether the summary of all columns is, to the last bit, that of the rows that the model was
        fitted on, and that of the rows that its probabilities were calibrated on.
    """

    n: int
    kept: bool
    same: NDArray[np.intp] = np.empty(0, np.intp)
    single: bool = False
    often: bool = False
    ordered: bool = False
    fitted: bool = False
    calibrated: bool = False

    @property
    def whole(self) -> bool:
        """Return whether all rows are training rows."""
        return self.fitted or self.ordered or (self.often and len(self.same) == self.n)

    def equal_words(self) -> str:
        """Return in a clause which rows equal a training row; there is one."""
        return (
            f"{len(self.same)} of the {self.n} rows {'are' if len(self.same) > 1 else 'is'} "
            f"identical to training rows (the first is row {self.same[0]}), in all columns it reads"
        )

    def words(self) -> str:
        """Return in a clause how the rows are known; nothing if they are new as far as is known."""
        if self.often:
            return self.equal_words()
        if self.ordered:
            return (
                "these are the rows that it was fitted on, in their order, in all columns it reads"
            )
        which = "training rows" if self.fitted else "rows its probabilities were calibrated on"
        equal = f"the columns it reads have exactly the quantiles and means of the {which}"
        return equal if self.fitted or self.calibrated else ""


def seen(model: Any, values: Any) -> Seen:
    """Return how far rows are those that a model was fitted on.

    A model that was fitted in this process keeps up to 512 training rows on the columns it reads.
    Rows are compared with these: as many are the same by chance as kept rows are copies of each
    other. A pickled model, or that of a file, knows a summary of each column alone: it is compared
    with that of the rows, and equal only if these are all training rows. Equal summaries are taken
    for chance (columns of few values) if one of 999 bootstrap samples of the rows has the same
    sums, too.

    Parameters
    ----------
    model : object
        One that is not a fitted estimator of psephos keeps nothing to compare with.
    values : array of shape (n, p)
        Rows as the vote reads them.
    """
    kept: SampleRows | None = getattr(model, "_sample", None)
    found = Seen(values.shape[0], kept is not None)
    if not hasattr(model, "vote_") or not len(model.vote_.columns):
        return found
    fitted = getattr(getattr(model, "_baseline", None), "profile", None)
    if kept is not None:
        fitted = summary_of(model, kept)
        found = _beside_kept(found, kept.values, columns_of(values, kept.columns))
    rows = SampleRows.of(model.vote_, values)
    now = summary_of(model, rows)
    equal = [
        one is not None and _alike(one, now)
        for one in (fitted, getattr(model, "_calibrated_on", None))
    ]
    if any(equal) and not _by_chance(rows.values):
        found = found._replace(fitted=equal[0], calibrated=equal[1])
    return found


def _beside_kept(found: Seen, kept: _Floats, rows: _Floats) -> Seen:
    """Return how rows are beside those that a model keeps."""
    known, (n, m) = row_groups(np.vstack([kept, rows])), (len(kept), len(rows))
    count = np.bincount(known[:n], minlength=known.max() + 1)
    same, given = np.flatnonzero(count[known[n:]]), np.unique(known[n:])
    both = int(np.count_nonzero(count[given]))
    number = count[count > 0]
    different = kept[np.unique(known[:n], return_index=True)[1]]
    single = both > 0 and _no_chance(different, math.log(len(number) * len(given)))
    often = _too_many(both, len(given), int(number[number > 1].sum()), n)
    surprise = (number * np.log(n / number)).sum()  # -ln of the chance of rows like these, in order
    ordered = surprise > _RARE and np.array_equal(known[n:][evenly_spaced(m, n)], known[:n])
    return found._replace(same=same, single=single, often=often, ordered=ordered)


def refuse_seen(model: Any, values: Any, what: str, *, calibrated: bool = True) -> None:
    """Raise PsephosError if rows are among those that a model was fitted or calibrated on.

    Parameters
    ----------
    model, values
        As in `seen`.
    what : str
        What needs other rows, for the message.
    calibrated : bool, default=True
        Whether rows that its probabilities were calibrated on are refused, too.
    """
    found = seen(model, values)
    if found.words() and (calibrated or found.often or found.ordered or found.fitted):
        raise PsephosError(
            f"{what} needs held-out rows for the {type(model).__name__}: {found.words()}. Give "
            "rows that it was not fitted on."
        )


def seen_words(found: Seen) -> str:
    """Return that cases are training cases, as a sentence; nothing if they may be new."""
    none = "(same values): these are not validation figures."
    cases = plural(found.n, "case")
    if found.whole or found.often:
        which = f"All {cases}" if found.whole else f"{len(found.same)} of {cases}"
        return f"{which} look like training cases {none}"
    calibrated = f"The probabilities of this model were calibrated on all {cases} {none}"
    return calibrated if found.calibrated else ""


def summary_of(model: Any, rows: SampleRows) -> Profile:
    """Return the summary of the columns that a fitted model reads."""
    return profile_of(rows.values, np.isin(rows.columns, list(model.schema_.levels)))


# ---------------------------------------------------------------------- rows
def _too_many(both: int, n: int, twins: int, known: int) -> bool:
    """Return whether more of n different rows equal a kept row than chance brings about.

    Of `known` kept rows, `twins` equal another one: with a uniform prior on the chance that a row
    does, what is found among others like them is beta-binomial.
    """
    a, b, k = twins + 1.0, known - twins + 1.0, np.arange(both, n + 1.0)
    log = -np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0) + betaln(k + a, n - k + b) - betaln(a, b)
    return bool(both > 0 and np.logaddexp.reduce(log) < -_RARE)


def first_copies(X: Any) -> NDArray[np.intp]:
    """Return for each row the position of the first row that it is a copy of, its own if of none.

    Equal rows are copies if chance does not explain them: with c_j the share of pairs of different
    rows that agree in column j, n rows have n (n - 1) / 2 times the product of the c_j equal pairs
    if columns are independent. They are copies if fewer than one in a thousand is expected, and,
    where all rows are equal, if they hold a fraction.

    Parameters
    ----------
    X : table of shape (n, p)
        Numbers, or words of a table for a model of another library.
    """
    table = _numbers(X)
    n = int(table.shape[0])
    alone = rows = np.arange(n)
    for columns in (slice(_COLUMNS), slice(None)):  # the rest is compared where these are equal
        same = row_groups(columns_of(table[rows], columns))
        twice = np.bincount(same)[same] > 1
        rows, same = rows[twice], same[twice]
        if not len(rows):
            return alone
    first = alone.copy()
    first[rows] = rows[first_of(same)]
    different = columns_of(table[np.unique(first)], slice(None))
    if len(different) == 1:
        copied = bool((different % 1.0 > 0).any())
    else:
        copied = _no_chance(different, math.log(n * (n - 1) / 2))
    return first if copied else alone


def _no_chance(different: _Floats, log_pairs: float) -> bool:
    """Return whether fewer than one in a thousand of so many pairs of rows are equal by chance.

    Two rows agree in all columns with the product of the chances that they do in each, which are
    those of pairs of the rows given.
    """
    pairs = len(different) * (len(different) - 1) / 2
    for column in different.T:
        size = np.unique(column, return_counts=True)[1]
        log_pairs += math.log(((size * (size - 1)).sum() / 2 + 1) / (pairs + 1))
    return log_pairs < -math.log(1000)


def _numbers(X: Any) -> Any:
    """Return any table as numbers; words as codes of their column."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    table = np.asarray(X)
    table = table.reshape(len(table), -1)
    if table.dtype.kind in "biuf":
        return table
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in table.T]
    return np.column_stack(codes)


# ---------------------------------------------------------------------- summaries
def _alike(one: Profile, other: Profile) -> bool:
    """Return whether two summaries are equal; means to rounding, as rows may be in any order."""
    exact = all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ("n_rows", "missing", "quantiles", "category", "ptr", "share")
    )
    far = np.abs(one.mean - other.mean) > _ROUNDING * (np.abs(one.mean) + one.spread)
    return exact and not bool(far.any())


def _by_chance(rows: _Floats) -> bool:
    """Return whether other rows of the same distribution may have the same summary.

    Bootstrap samples stand for them, and sums of columns for summaries: where one of 999 is the
    same, equal summaries say nothing. Rows that are new are so taken for training rows in less than
    one of 2,000 tables, whatever columns hold.
    """
    plain = np.nan_to_num(rows[:, :_COLUMNS])
    size = np.abs(plain).max(axis=0, initial=0.0)
    plain = plain / np.where(size > 0, size, 1.0)
    n = len(plain)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
    off = np.abs(drawn @ plain - plain.sum(axis=0)) > _ROUNDING * n
    return bool((~off.any(axis=1)).any())
