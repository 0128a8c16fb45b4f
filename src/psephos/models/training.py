"""Training rows: units, copies, designs, the hashes that a warm start must match, and splits."""

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, LabelsLike, NDArray, Values, sparse
from psephos.estimator.columns import dense_columns
from psephos.estimator.input import Table
from psephos.files.names import plural
from psephos.vote import CodedVoters, design_matrix
from psephos.vote.codec import register
from psephos.vote.part import check
from psephos.vote.rows import first_of, row_groups

_LARGEST = 1e140  # its square can be summed
_PLAIN = (1e-60, 1e60)  # range in which fourth powers and their sums neither over- nor underflow


def refuse_huge(y: Array) -> None:
    """Raise PsephosError if squares of the target overflow."""
    most = float(np.abs(y).max(initial=0.0))
    if most >= _LARGEST:
        raise PsephosError(f"|y| must be below {_LARGEST:g}; got {most:.3g}. Divide y.")


def power_of(most: float, total: float) -> int:
    """Return the power of two to divide by so that products do not over- or underflow; 0: none."""
    return 0 if most > _PLAIN[0] and total < _PLAIN[1] else int(np.frexp(most)[1])


def power_of_columns(values: Floats) -> Indices:
    """Return the powers of two to divide the columns of a table by; 0: none. NaN is missing."""
    most = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    plain = ~((most > 0) & ((most < _PLAIN[0]) | (most > _PLAIN[1])))
    return np.where(plain, 0, np.frexp(np.where(plain, 0.0, most))[1]).astype(np.intp)


def power_of_weights(weight: Floats) -> int:
    """Return the power of two to divide weights by; 0: none."""
    return power_of(float(weight.max()), float(weight.sum()))


def moments_of_columns(rows: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each column's weight of present values, their mean and standard deviation, (p,) each.

    Columns whose squares would over- or underflow are scaled first.
    """
    power = power_of_columns(rows)
    rows, present = np.ldexp(rows, -power), ~np.isnan(rows)
    w = present * weight[:, None]
    total = w.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    mean = (w * np.where(present, rows, 0.0)).sum(axis=0) / safe
    variance = (w * np.where(present, rows - mean, 0.0) ** 2).sum(axis=0) / safe
    with np.errstate(over="ignore"):
        return total, np.ldexp(mean, power), np.ldexp(np.sqrt(variance), power)


def spread_of_columns(rows: Floats, weight: Floats) -> Floats:
    """Return each column's weighted standard deviation of present values, 1 if it is 0."""
    deviation = moments_of_columns(rows, weight)[2]
    return np.where(deviation > 0, deviation, 1.0)


Hashes = NDArray[np.uint64]
_CELLS = 1 << 16  # of a block: they fit into the cache
_KEY_COLUMNS = 64  # all columns are compared only of rows that agree in these


class Training(NamedTuple):
    """Training rows: their table, target, class indices (or numbers) and weights."""

    table: Table
    target: Any
    y: NDArray[Any]
    weight: Floats

    def take(self, rows: Indices) -> "Training":
        """Return these rows only."""
        return Training(self.table.take(rows), self.target, self.y[rows], self.weight[rows])


def distinct_rows(data: Training) -> Training:
    """Return the training rows with copies (same row, same label) merged, weights summed.

    So a row of weight 2 equals the row given twice in every part of the algorithm, and leaving a
    row out leaves out its copies. The first copy's identifier is kept.
    """
    # Sorting hashes takes a third of the memory and time of sorting the rows.
    hashes = row_hashes(np.column_stack([data.table.dense(slice(_KEY_COLUMNS)), data.y]))
    ranked = np.sort(hashes)
    suspects = np.flatnonzero(np.isin(hashes, ranked[1:][ranked[1:] == ranked[:-1]], kind="sort"))
    first = np.arange(len(hashes))
    first[suspects] = suspects[first_of(_equal_rows(data.take(suspects)))]
    kept = np.unique(first)
    if len(kept) == len(hashes):
        return data
    weight = np.bincount(first, data.weight, minlength=len(first))[kept]
    return data.take(kept)._replace(weight=weight)


def _equal_rows(data: Training) -> Indices:
    """Return a number per row, the same for equal rows of one label."""
    if not sparse.issparse(data.table.values):
        return row_groups(np.column_stack([data.table.dense(), data.y]).astype(np.float64))
    rows = sparse.csr_array(data.table.values, dtype=np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.data[np.isnan(rows.data)] = np.nan
    number: dict[tuple[bytes, bytes, float], int] = {}
    spans = zip(pairwise(rows.indptr), data.y.tolist(), strict=True)
    keys = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes(), y) for (a, b), y in spans]
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)


def row_hashes(X: Any) -> Hashes:
    """Return a 64-bit hash of each row, the same for sparse and dense tables."""
    factor = multipliers(X.shape[1])
    if sparse.issparse(X):
        by_column: Any = sparse.csc_array(X)
        parts = (folded(by_column.data), by_column.indices, by_column.indptr)
        return sparse.csc_array(parts, shape=X.shape) @ factor
    step = max(1, _CELLS // max(X.shape[1], 1))
    parts = [folded(X[i : i + step]) @ factor for i in range(0, len(X), step)]
    return np.concatenate(parts)


def folded(values: Any) -> Hashes:
    """Return the bits of numbers, the high half XORed into the low; all NaN alike, -0 as 0."""
    plain = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    missing = np.isnan(plain)
    if missing.any():
        plain[missing] = np.nan
    bits = plain.view(np.uint64)
    bits ^= bits >> np.uint64(32)
    return bits


def multipliers(n: int) -> Hashes:
    """Return n odd pseudo-random multipliers of a hash."""
    out = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    out ^= out >> np.uint64(30)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    return out | np.uint64(1)


def ordered_rows(data: Training) -> Training:
    """Return distinct rows sorted by label and values, so that random draws depend on content.

    The order does not depend on the columns' units. Rows that differ only beyond the first 64
    columns keep their order.
    """
    for width in (4, _KEY_COLUMNS):  # a few columns usually suffice
        head = data.table.dense(slice(width))
        order = np.lexsort((*head.T[::-1], data.y)).astype(np.intp)
        ranked, y = head[order], data.y[order]
        same = (ranked[1:] == ranked[:-1]) | (np.isnan(ranked[1:]) & np.isnan(ranked[:-1]))
        if not (same.all(axis=1) & (y[1:] == y[:-1])).any():
            break
    return data.take(order)


def merged_copies(table: Table, labels: Any, weight: Floats) -> tuple[Table, Any, Floats]:
    """Return a table, labels and weights with copies merged, in an order the rows determine."""
    rows = ordered_rows(distinct_rows(Training(table, labels.target, labels.y, weight)))
    return rows.table, labels._replace(y=rows.y), rows.weight


def ordered_groups(rows: Floats) -> Indices:
    """Return a number per row, the same for equal rows and ascending with the rows' values."""
    groups = row_groups(rows)
    distinct = rows[np.unique(groups, return_index=True)[1]]
    for width in (4, _KEY_COLUMNS, rows.shape[1]):  # a few columns usually suffice
        head = distinct[:, :width] + 0.0
        order = np.lexsort(head.T[::-1])
        if len(np.unique(row_groups(head))) == len(distinct):
            break
    return np.argsort(order)[groups]


@dataclass(frozen=True)
class Design:
    """The numeric columns that a table becomes."""

    source: Indices  # (P,); the column of the table behind each design column
    level: Floats  # (P,); the code that is 1 in it; NaN: the number itself
    ptr: Indices  # (p + 1,); the first design column of each column of the table

    @classmethod
    def of(cls, n_codes: Indices, X: Values) -> "Design":
        """Return the design of a table (n, p) with so many categories per column (0: numeric).

        A column in which two categories occur has one 0/1 column, that of the second; with one
        category it is a constant. Categories that do not occur have no column.
        """
        levels = {
            int(j): _encoded(dense_columns(X, np.array([j]))[:, 0]) for j in np.flatnonzero(n_codes)
        }
        width = np.ones(len(n_codes), dtype=np.intp)
        width[list(levels)] = [len(codes) for codes in levels.values()]
        ptr = np.concatenate([[0], np.cumsum(width)]).astype(np.intp)
        level = np.full(int(ptr[-1]), np.nan)
        for j, codes in levels.items():
            level[ptr[j] : ptr[j + 1]] = codes
        return cls(np.repeat(np.arange(len(n_codes)), width).astype(np.intp), level, ptr)

    @classmethod
    def of_table(cls, table: Table) -> "Design | None":
        """Return the design of a table, or None if no column holds categories."""
        return cls.of(table.code_counts, table.values) if table.code_counts.any() else None

    def matrix(self, X: Floats) -> Floats:
        """Return the design columns of a table (n, p)."""
        return design_matrix(X, self.source, self.level)

    def coded(self, inner: Any) -> CodedVoters:
        """Return voters on the table, given voters on the design columns."""
        p = len(self.ptr) - 1
        return CodedVoters(p, np.arange(p), inner, self.source, self.level)

    def columns(self, subset: Indices) -> Indices:
        """Return the design columns of a subset of the table's columns."""
        spans = [np.arange(int(self.ptr[j]), int(self.ptr[j + 1])) for j in subset.tolist()]
        return np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)


def _encoded(codes: Floats) -> Floats:
    """Return the codes of a column that have a design column; NaN is missing."""
    present = np.unique(codes[~np.isnan(codes)])
    if len(present) == 0:
        return np.zeros(1)
    return present[1:] if len(present) == 2 else present


REDUCED = "reduced to some of its columns"
SHRUNK = "left with some of its members"

_FREE = ("n_estimators", "n_jobs", "oob_score", "verbose", "warm_start")  # may change
_QUIET = ("n_jobs", "verbose")  # of members: they change no prediction
_ELSEWHERE = ("class_weight", "categorical_features")  # compared as weights, and as the schema
_ROWS = ("X", "y", "sample_weight (or class_weight)", "groups")


@register
@dataclass(frozen=True)
class FirstFit:
    """Digests of the rows and parameters with which members were fitted."""

    tag: ClassVar[str] = "first fit"
    # of X; of X and y; of these and the weights; of these and the groups. Empty: not known.
    rows: tuple[str, ...]
    settings: tuple[str, ...]  # ``name=digest`` of each parameter that must not change
    since: str = ""  # how the model was changed since; it then cannot be continued

    def __post_init__(self) -> None:
        check(len(self.rows) in (0, len(_ROWS)), "the first fit has a wrong number of digests")

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: LabelsLike,
        weight: Any,
        groups: Array | None = None,
        *,
        ordered: bool = False,
    ) -> Self:
        """Return the digests of a fit.

        `X` array or sparse table of shape (n, p); `y` (n,): class codes, or numbers. `weight`,
        `groups` (n,) or None; `ordered`: whether the digests depend on the order of the rows.
        """
        hashes = row_hashes(X)
        found = [_digest(hashes, ordered)]
        codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
        for k, more in enumerate((y, weight, codes)):
            if more is not None:
                hashes = hashes + folded(np.asarray(more)) * multipliers(k + 1)[k]
                hashes ^= hashes >> np.uint64(29)
            found.append(_digest(hashes, ordered))
        params = model.get_params(deep=False)
        by_tree = params.get("class_weight") == "balanced_subsample"  # row weights lack it
        elsewhere = _ELSEWHERE[1:] if by_tree else _ELSEWHERE
        kept = {n: v for n, v in sorted(params.items()) if n not in _FREE + elsewhere}
        return cls(tuple(found), tuple(f"{n}={_short(_words(v))}" for n, v in kept.items()))

    def changed(self, since: str, *, columns: bool = False) -> Self:
        """Return the digests of a changed model; `columns`: whether its columns have changed."""
        return replace(self, rows=() if columns else self.rows, since=since)

    def has(self, now: "FirstFit") -> bool:
        """Return whether X, y and weights equal those of another fit, as far as that is known."""
        return not self.rows or self.rows[:-1] == now.rows[:-1]

    def require(self, now: "FirstFit") -> None:
        """Raise PsephosError, naming the differences, unless another fit may continue this one."""
        if self.since:
            raise PsephosError(
                f"with warm_start=True the model must be as it was fitted: this one was "
                f"{self.since}. To fit anew, set warm_start=False."
            )
        then: Any = dict(one.split("=", 1) for one in self.settings)
        given: Any = dict(one.split("=", 1) for one in now.settings)
        other = [name for name in then if given.get(name, then[name]) != then[name]]
        other += ["class_weight"] if ("class_weight" in then) != ("class_weight" in given) else []
        table = [n for n, a, b in zip(_ROWS, self.rows, now.rows, strict=False) if a != b]
        other += table[:1]  # each digest includes those before it
        if other:
            raise PsephosError(
                "with warm_start=True rows, labels, weights and parameters must be those of the "
                f"first fit (but for n_estimators, n_jobs and oob_score): {' and '.join(other)} "
                f"{'is' if len(other) == 1 else 'are'} not. To fit anew, set warm_start=False."
            )


def _digest(hashes: Hashes, ordered: bool) -> str:
    return _short((hashes if ordered else np.sort(hashes)).tobytes())


def _short(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _words(value: Any) -> str:
    """Return a parameter as text that is the same in every process; `_QUIET` are left out."""
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
        return "None"  # as in a model file
    if isinstance(value, type) or callable(value):
        return f"{getattr(value, '__qualname__', type(value).__qualname__)}"
    if hasattr(value, "get_params"):
        own = sorted(value.get_params(deep=False).items())
        inside = ", ".join(f"{n}={_words(v)}" for n, v in own if n not in _QUIET)
        return f"{type(value).__qualname__}({inside})"
    if isinstance(value, np.generic):
        return _words(value.item())
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return f"{value.dtype.kind}{value.shape}{_short(value.tobytes())}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(k)}: {_words(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_words, value))}]"
    plain = isinstance(value, bool | int | float | str)
    return repr(value) if plain else type(value).__qualname__


# ---------------------------------------------------------------------- splits
_TRIES = 20  # draws of grouped folds before an error
_Split = tuple[NDArray[Any], NDArray[Any]]


def make_splits(
    y: Array,
    n_classes: int,
    *,
    groups: Any = None,
    n_folds: int = 10,
    n_repeats: int = 1,
    cv: Any = None,
    seed: int = 0,
    classes: Any = None,
) -> list[_Split]:
    """Return (training rows, test rows) of each split.

    Without `cv`: k-fold cross-validation repeated r times, each repeat shuffled by its own seed
    (seed paper, section 2: "r-repeated k-fold"); stratified by class for classification, and with
    groups kept together if they are given. An integer `cv` is `n_folds`; a scikit-learn splitter
    is called once; pairs of row indices are used as given. `y` holds class codes, or numbers if
    `n_classes` is 0; `classes` are labels for messages (default: the codes).

    Warns
    -----
    UserWarning
        If a class has fewer rows than folds, so that it is missing from some test parts.
    """
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != y.shape:
            raise PsephosError(f"groups must have shape {y.shape}; got {groups.shape}.")
    names = [str(c) for c in (range(n_classes) if classes is None else classes)]
    parameter = "n_folds"
    if isinstance(cv, int | np.integer):
        n_folds, cv, parameter = int(cv), None, "cv"
    if cv is not None:
        splits = _given(cv, y, groups)
        fault = _fault(splits, y, names)
        if fault:
            raise PsephosError(f"cv: {fault}")
        return splits
    _check_counts(y, names, groups, n_folds, n_repeats, parameter)
    splits: list[_Split] = []
    for repeat in range(n_repeats):
        splits += _drawn(y, names, groups, n_folds, [seed, repeat], parameter)
    return splits


def _given(cv: Any, y: Array, groups: Array | None) -> list[_Split]:
    pairs: Any = cv
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs = cv.split(np.zeros((len(y), 1)), y, groups)
    elif isinstance(cv, str) or not isinstance(cv, Iterable):
        raise PsephosError(
            "cv must be a number of folds, a scikit-learn splitter, or a list of (training rows, "
            f"test rows); got {cv!r}."
        )
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise PsephosError(f"cv cannot split the rows: {error}") from error
    return [(_positions(train), _positions(test)) for train, test in splits]


def _positions(rows: Array) -> Array:
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _drawn(
    y: Array,
    names: list[str],
    groups: Array | None,
    n_folds: int,
    entropy: Sequence[int],
    parameter: str,
) -> list[_Split]:
    """Return one repeat; grouped folds are drawn again while one of them is unusable."""
    if groups is None:
        kind: Any = StratifiedKFold if names else KFold
    else:
        kind = StratifiedGroupKFold if names else GroupKFold
    fault = ""
    for attempt in range(1 if groups is None else _TRIES):
        words = [*entropy, attempt] if attempt else entropy
        state = int(np.random.SeedSequence(words).generate_state(1)[0])
        splitter = kind(n_folds, shuffle=True, random_state=state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of small classes: _check_counts warns
            splits = list(splitter.split(np.zeros((len(y), 1)), y, groups))
        fault = _fault(splits, y, names)
        if not fault:
            return splits
    raise PsephosError(f"{parameter}={n_folds}: {fault}")


def _check_counts(
    y: Array, names: list[str], groups: Array | None, n_folds: int, n_repeats: int, parameter: str
) -> None:
    if n_folds < 2 or n_repeats < 1:
        raise PsephosError(
            f"{parameter} must be at least 2 and n_repeats at least 1; got {n_folds} and "
            f"{n_repeats}."
        )
    units, what = (len(y), "rows") if groups is None else (len(np.unique(groups)), "groups")
    if units < n_folds:
        raise PsephosError(
            f"{parameter} must be at most the number of {what}, {units}; got {n_folds}."
        )
    if not names:
        return
    counts = np.bincount(y, minlength=len(names))
    least = int(counts.argmin())
    if counts[least] < 2:
        raise PsephosError(
            f"each class must have at least 2 rows for training and test; class {names[least]!r} "
            f"has {plural(int(counts[least]), 'row')}. Merge it with another class, or remove it."
        )
    if counts[least] < n_folds:
        warnings.warn(
            f"class {names[least]!r} has {int(counts[least])} rows, fewer than "
            f"{parameter}={n_folds}, so some test parts do not contain it; use fewer folds.",
            UserWarning,
            stacklevel=4,
        )


def _fault(splits: Sequence[_Split], y: Array, names: list[str]) -> str:
    """Return the fault of the splits and its remedy; '' if there is none."""
    if not splits:
        return "there is no split: give at least one."
    for s, (train, test) in enumerate(splits):
        for rows, part in ((train, "training"), (test, "test")):
            if not len(rows):
                return f"split {s} has no {part} row: use fewer folds."
            whole = rows.ndim == 1 and rows.dtype.kind in "iu"
            if not whole or rows.min() < 0 or rows.max() >= len(y):
                return f"the {part} rows of split {s} must be indices from 0 to {len(y) - 1}."
        if len(np.intersect1d(train, test)):
            return f"training and test rows of split {s} must be disjoint."
        missing = np.setdiff1d(np.arange(len(names)), y[train]) if names else []
        if len(missing):
            return (
                f"the training rows of split {s} do not contain class {names[int(missing[0])]!r}: "
                "use fewer folds, or merge the class with another."
            )
    return ""
