"""Detection of rows on which a model was fitted, or its probabilities calibrated."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, pdtrc

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, Values
from psephos.files.names import plural
from psephos.vote.importance import SampleRows, evenly_spaced
from psephos.vote.profile import Profile, profile_of
from psephos.vote.rows import columns_of, first_of, row_groups

_RARE = math.log(1e6)  # events less probable than 1e-6 are not due to chance
_DRAWS, _COLUMNS = 999, 64  # bootstrap samples, and their columns, to which a summary is compared
_ROUNDING = 1e-9
_PRECISION = 1e-5  # numbers this close may be equal in another precision


class Seen(NamedTuple):
    """Evidence that rows are training rows of a model.

    Parameters
    ----------
    n : int
        Number of rows.
    kept : bool
        Whether the model keeps training rows.
    same : ndarray of int
        Rows that equal a kept row in all columns the model reads.
    single : bool
        Whether even one equal row is improbable, given how often values of each column agree.
    often : bool
        Whether more rows are equal than among new rows (p < 1e-6).
    ordered : bool
        Whether the rows are the kept ones in their order, and this is not due to chance.
    others : bool
        Whether all rows equal kept ones but labels differ: another experiment of the same design.
    fitted : bool
        Whether the summary of all columns equals that of the rows the model was fitted on.
    calibrated : int
        Number of rows that look like those on which its probabilities were calibrated.
    """

    n: int
    kept: bool
    same: Indices = np.empty(0, np.intp)
    single: bool = False
    often: bool = False
    ordered: bool = False
    others: bool = False
    fitted: bool = False
    calibrated: int = 0

    @property
    def whole(self) -> bool:
        """Return whether all rows are training rows."""
        return self.fitted or self.ordered or (self.often and len(self.same) == self.n)

    def equal_words(self) -> str:
        """Return a clause on the rows that equal a training row; there must be one."""
        return (
            f"{len(self.same)} of the {self.n} rows {'are' if len(self.same) > 1 else 'is'} "
            f"identical to training rows (the first is row {self.same[0]}), in all columns it reads"
        )

    def words(self) -> str:
        """Return a clause on why the rows look like training rows; '' if they may be new."""
        if self.often:
            return self.equal_words()
        fitted = self.fitted or self.ordered
        what = "it was fitted on" if fitted else "its probabilities were calibrated on"
        equal = "values, or their quantiles and means, are equal in all columns it reads"
        return f"these look like rows that {what}: {equal}" if fitted or self.calibrated else ""


def seen(model: Any, values: Any, y: Any = None) -> Seen:
    """Return the evidence that rows are those a model was fitted on.

    A model fitted in this process keeps up to 512 training rows on the columns it reads, and as
    many of the rows on which its probabilities were calibrated. Rows and labels are compared with
    these; the number of equal rows expected by chance is estimated from the kept rows that are
    copies of each other. If all rows equal kept ones but a label differs, they are another
    experiment of the same design.

    A model that was pickled or read from a file has only a summary of each column, which equals
    that of the rows only if these are all training rows. Equal summaries count as chance (columns
    of few values) if one of 999 bootstrap samples of the rows also has the same sums. Numbers that
    are not equal are compared again in a lower precision: see `_rounded`.

    Parameters
    ----------
    model : object
        Models other than fitted estimators of psephos keep nothing to compare with.
    values : array of shape (n, p)
        Rows as the vote reads them.
    y : array of shape (n,), default=None
        Their labels, classes as indices; None if unknown.
    """
    kept: SampleRows | None = getattr(model, "_sample", None)
    later: SampleRows | None = getattr(model, "_calibration_rows", None)
    found = Seen(values.shape[0], kept is not None)
    if not hasattr(model, "vote_") or not len(model.vote_.columns):
        return found
    fitted, mapped = getattr(getattr(model, "_baseline", None), "profile", None), found
    if kept is not None:
        fitted = summary_of(model, kept.on(model.vote_))
        found = _beside_kept(found, kept.on(model.vote_), values, y)
    if later is not None:
        mapped = _beside_kept(mapped, later.on(model.vote_), values, y)
        found = found._replace(calibrated=len(mapped.same) * (mapped.often or mapped.ordered))
    rows = SampleRows.of(model.vote_, values)
    now, before = summary_of(model, rows), getattr(model, "_calibrated_on", None)
    for near in (_ROUNDING, _PRECISION):
        of_fit = fitted is not None and not found.others and _alike(fitted, now, near)
        of_map = before is not None and not mapped.others and _alike(before, now, near)
        if (of_fit or of_map) and not _by_chance(rows.values, near):
            return found._replace(fitted=of_fit, calibrated=found.n if of_map else found.calibrated)
    return found


def _beside_kept(found: Seen, kept: SampleRows, values: Any, y: Any) -> Seen:
    """Return the evidence from comparing rows with the kept ones, exactly and then rounded."""
    one, other = kept.values, columns_of(values, kept.columns)
    labelled = y is not None and kept.labels is not None
    if y is not None and kept.labels is not None:
        one, other = np.column_stack([one, kept.labels]), np.column_stack([other, y])
    if kept.several:
        one = one[np.unique(first_copies(one))]
    exact = _compared(found, one, other, labelled)
    if exact.often or exact.ordered or exact.others:
        return exact
    near = _compared(found, *_rounded(one, other), labelled)
    # where columns are correlated, a few rows are close by chance: one such row is no evidence
    return near._replace(single=False) if near.often or near.ordered or near.others else exact


def _compared(found: Seen, kept: Floats, rows: Floats, labelled: bool) -> Seen:
    """Return the evidence from equal rows; the last column holds labels if `labelled`."""
    known, (n, m) = row_groups(np.vstack([kept, rows])), (len(kept), len(rows))
    count = np.bincount(known[:n], minlength=known.max() + 1)
    same, given = np.flatnonzero(count[known[n:]]), np.unique(known[n:])
    at = evenly_spaced(m, n)
    if labelled and kept.shape[1] > 1 and not count[known[n:][at]].all():
        plain = row_groups(np.vstack([kept, rows[at]])[:, :-1])
        if np.isin(plain[n:], plain[:n]).all():
            return found._replace(same=same, others=True)
    both = int(np.count_nonzero(count[given]))
    number = count[count > 0]
    twins = int(number[number > 1].sum())
    different = kept[np.unique(known[:n], return_index=True)[1]]
    single = both > 0 and _no_chance(different, math.log(len(number) * len(given)))
    # expected by chance: as often as kept rows equal each other
    single = single and pdtrc(both - 1, len(given) * twins / n) < math.exp(-_RARE / 2)
    often = _too_many(both, len(given), twins, n)
    surprise = (number * np.log(n / number)).sum()  # -ln of the chance of rows like these, in order
    ordered = surprise > _RARE and np.array_equal(known[n:][at], known[:n])
    return found._replace(same=same, single=bool(single), often=often, ordered=ordered)


def _rounded(kept: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return kept and other rows, with numbers that may be equal in another precision made equal.

    Adjacent kept numbers of a column become equal if their difference is at most 1e-5 of the number
    plus 1e-4 of the column's interquartile range; another number becomes the nearest kept one
    within that distance. More kept rows are then copies of each other, and the number of equal rows
    expected by chance rises accordingly.
    """
    kept, rows, left = kept.copy(), rows.copy(), np.arange(len(rows))
    for j in np.flatnonzero(~np.isnan(kept).all(axis=0)):
        values = np.unique(kept[~np.isnan(kept[:, j]), j])
        low, high = np.nanquantile(kept[:, j], (0.25, 0.75))
        near = _PRECISION * (np.abs(values) + 10 * (high - low))
        begins = np.append(True, np.diff(values) > near[1:])
        first = values[np.maximum.accumulate(np.where(begins, np.arange(len(values)), 0))]
        for table, at in ((kept, slice(None)), (rows, left)):
            given = table[at, j]
            above = np.searchsorted(values, given).clip(max=len(values) - 1)
            below = np.maximum(above - 1, 0)
            nearest = np.where(given - values[below] < values[above] - given, below, above)
            found = np.abs(values[nearest] - given) <= near[nearest]
            table[at, j] = np.where(found, first[nearest], given)
        left = left[found | np.isnan(given)]  # no other row can be equal
    return kept, rows


def refuse_seen(model: Any, values: Any, what: str, y: Any, *, calibrated: bool = True) -> None:
    """Raise PsephosError if rows look like those on which a model was fitted or calibrated.

    Parameters
    ----------
    model, values
        As in `seen`.
    what : str
        The function that needs other rows, for the message.
    y
        As in `seen`.
    calibrated : bool, default=True
        Whether to refuse also rows on which its probabilities were calibrated.
    """
    found = seen(model, values, y)
    if found.words() and (calibrated or found.often or found.ordered or found.fitted):
        raise PsephosError(
            f"{what} needs held-out rows for the {type(model).__name__}: {found.words()}. Give "
            "rows that it was not fitted on."
        )


def seen_words(found: Seen) -> str:
    """Return a sentence saying that cases look like training cases; '' if they may be new."""
    none = "(same values): these are not validation figures."
    cases = plural(found.n, "case")
    if found.whole or found.often:
        which = f"All {cases}" if found.whole else f"{len(found.same)} of {cases}"
        return f"{which} look like training cases {none}"
    some = f"{'all' if found.calibrated == found.n else f'{found.calibrated} of'} {cases}"
    calibrated = f"The probabilities of this model were calibrated on {some} {none}"
    return calibrated if found.calibrated else ""


def summary_of(model: Any, rows: SampleRows) -> Profile:
    """Return the summary of the columns that a fitted model reads."""
    return profile_of(rows.values, np.isin(rows.columns, list(model.schema_.levels)))


# ---------------------------------------------------------------------- rows
def _too_many(both: int, n: int, twins: int, known: int) -> bool:
    """Return whether more of n different rows equal a kept row than expected by chance.

    Of `known` kept rows, `twins` equal another one: with a uniform prior on the probability that a
    row does, the number among n new rows is beta-binomial.
    """
    a, b, k = twins + 1.0, known - twins + 1.0, np.arange(both, n + 1.0)
    log = -np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0) + betaln(k + a, n - k + b) - betaln(a, b)
    return bool(both > 0 and np.logaddexp.reduce(log) < -_RARE)


def first_copies(X: Values) -> Indices:
    """Return the position of the first row that each row copies; its own if it copies none.

    Equal rows are copies if chance does not explain them: with c_j the share of pairs of different
    rows that agree in column j, n rows have n (n - 1) / 2 times the product of the c_j equal pairs
    if columns are independent. They are copies if fewer than 0.001 such pairs are expected or, if
    all rows are equal, if they hold a number that is not an integer.

    Parameters
    ----------
    X : table of shape (n, p)
        Numbers, or words of a table for a model of another library.
    """
    table = as_numbers(X)
    n = int(table.shape[0])
    alone = rows = np.arange(n)
    for columns in (slice(_COLUMNS), slice(None)):  # all columns only where the first are equal
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


def _no_chance(different: Floats, log_pairs: float) -> bool:
    """Return whether fewer than 0.001 of exp(`log_pairs`) pairs of rows are expected to be equal.

    The probability that two rows agree in all columns is taken as the product over columns of the
    share of agreeing pairs among the rows given.
    """
    pairs = len(different) * (len(different) - 1) / 2
    for column in different.T:
        size = np.unique(column, return_counts=True)[1]
        log_pairs += math.log(((size * (size - 1)).sum() / 2 + 1) / (pairs + 1))
    return log_pairs < -math.log(1000)


def as_numbers(X: Any) -> Any:
    """Return any table as numbers, with strings as codes of their column."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    table = np.asarray(X)
    table = table.reshape(len(table), -1)
    if table.dtype.kind in "biuf":
        return table
    codes = [np.unique(column.astype(str), return_inverse=True)[1] for column in table.T]
    return np.column_stack(codes)


# ---------------------------------------------------------------------- summaries
def _alike(one: Profile, other: Profile, near: float) -> bool:
    """Return whether two summaries are equal, numbers up to `near` of their size and spread."""
    names = ("n_rows", "missing", "category", "ptr", "share")
    exact = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    wide = 10 * near * (one.quantiles[:, 4] - one.quantiles[:, 2])[:, None]
    apart = np.abs(one.quantiles - other.quantiles) > near * np.abs(one.quantiles) + wide
    far = np.abs(one.mean - other.mean) > near * (np.abs(one.mean) + one.spread)
    return exact and not bool(far.any() or apart.any())


def _by_chance(rows: Floats, near: float) -> bool:
    """Return whether other rows of the same distribution may have the same summary.

    The test draws 999 bootstrap samples and compares sums of columns in place of summaries: if one
    sample has the same sums, equal summaries are no evidence. New rows are so mistaken for training
    rows in less than one of 2,000 tables, whatever the columns.
    """
    plain = np.nan_to_num(rows[:, :_COLUMNS])
    size = np.abs(plain).max(axis=0, initial=0.0)
    plain = plain / np.where(size > 0, size, 1.0)
    n = len(plain)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
    return bool((~(np.abs(drawn @ plain - plain.sum(axis=0)) > near * n).any(axis=1)).any())
