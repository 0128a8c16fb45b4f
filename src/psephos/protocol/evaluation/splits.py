"""Protocols: outer and inner splits, the effort of tuning, and seeds."""

# pyright: reportMissingTypeStubs=false

import hashlib
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import model_selection, utils
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, JsonObject, LabelsLike, PerRow, TableLike
from psephos.estimator.labels import read_groups, read_labels
from psephos.estimator.params import Constraint, Flag, Interval, OneOf, Options, check_params
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.files.names import plural
from psephos.files.near import suggest
from psephos.models.prototypes.candidates import target_strata
from psephos.protocol.evaluation.cohorts import Rows, Split, cohort_splits
from psephos.protocol.evaluation.scores import display_name
from psephos.protocol.tables.table import DataTable

_STRATA = 5  # maximum strata of a numeric target
SELECT = ("best", "one-se")  # ways to choose settings
_KINDS = {"labels": "iteratively stratified", "numbers": "stratified by fifths of the target"}
_OF_PROTOCOLS: dict[str, Constraint] = {
    "outer": Options(("kfold", "shuffle")),
    "folds": Interval(2, whole=True),
    "repeats": Interval(1, whole=True),
    "cohorts": Interval(0, whole=True),
    "inner_folds": Interval(2, whole=True),
    "draws": Interval(1, whole=True),
    "defaults_first": Flag(),
    "distributions": Options(("quick", "samba")),
    "seconds": OneOf((Interval(0, open_low=True),), none=True),
    "select": Options(SELECT),
}
#: Defaults that are not part of identities and keys.
_USUAL: JsonObject = {"seconds": None, "cohorts": 0, "metric": None, "select": "best"}


@dataclass(frozen=True)
class Protocol:
    """A nested protocol: outer splits evaluate, inner folds inside the training parts tune.

    Parameters
    ----------
    name : str
        Its name in results.
    outer : {'kfold', 'shuffle'}, default="kfold"
        'kfold': stratified cross-validation, `folds` parts, repeated `repeats` times on newly
        shuffled rows. 'shuffle': `repeats` stratified draws of a test part of 1 / `folds` of the
        rows. With groups, parts are made of whole groups (StratifiedGroupKFold); if rows may have
        several labels, they are stratified over labels (`MultilabelStratifiedKFold`). In both cases
        a draw of 'shuffle' is the first fold of a new k-fold division.
    folds, repeats : int, default=5, 1
    inner_folds : int, default=3
        Stratified (grouped) folds of the training part, on which draws are compared.
    draws : int, default=10
        Random draws of hyper-parameters per model and training part.
    draws_of : dict of str to int
        Models that get another number of draws.
    defaults_first : bool, default=True
        Whether the first draw is each model's default setting.
    distributions : {'quick', 'samba'}, default="quick"
        The set of distributions drawn from (see `Contender`).
    seconds : float, optional
        The time in which draws begin in each search (one model on one training part), instead of a
        number of draws. The first draw always counts, and a draw that has begun is finished. The
        number of draws depends on the machine, and so do results.
    cohorts : int, default=0
        Number of test parts that a column of the table names, instead of random ones; set by
        `compare`.
    metric, select
        How draws are chosen: the parameters of `compare`.

    Raises
    ------
    PsephosError
        If a parameter is out of its range.

    Notes
    -----
    The draw with the best mean balanced accuracy over the inner folds is chosen (for several labels
    per row, average precision; for numbers, R²; or the `metric`), the first among ties; the model
    is then fitted with it on the whole training part.
    """

    name: str = "own"
    outer: str = "kfold"
    folds: int = 5
    repeats: int = 1
    inner_folds: int = 3
    draws: int = 10
    draws_of: Mapping[str, int] = field(default_factory=dict[str, int])
    defaults_first: bool = True
    distributions: str = "quick"
    seconds: float | None = None
    cohorts: int = 0
    metric: str | None = None
    select: str = "best"

    def __post_init__(self) -> None:
        check_params(self, _OF_PROTOCOLS)

    def n_draws(self, model: str) -> int:
        """Return the number of draws of a model."""
        return int(self.draws_of.get(model, self.draws))

    def within(self, budget: str) -> "Protocol":
        """Return the protocol with the same budget for every model, each default setting first.

        Parameters
        ----------
        budget : str
            ``draws=8`` (settings per search) or ``seconds=60`` (per search).

        Raises
        ------
        PsephosError
            If it is neither.

        Examples
        --------
        >>> from psephos.protocol import PROTOCOLS
        >>> PROTOCOLS["quick"].within("draws=8").n_draws("samba")
        8
        """
        kind, _, amount = str(budget).partition("=")
        if kind == "draws" and amount.isdecimal() and int(amount):
            own = {"draws": int(amount), "seconds": None}
        elif kind == "seconds" and re.fullmatch(r"\d+(\.\d+)?", amount) and float(amount):
            own = {"draws": 1, "seconds": float(amount)}
        else:
            raise PsephosError(
                "budget must be draws=8 (settings that each search tries) or seconds=60 (time in "
                f"which each search begins new ones); got {budget!r}."
            )
        return replace(self, **own, draws_of={}, defaults_first=True)

    @property
    def splits(self) -> list[tuple[int, int]]:
        """Return the (repeat, fold) of each outer split, in order."""
        parts = self.cohorts or (1 if self.outer == "shuffle" else self.folds)
        return [(r, f) for r in range(1 if self.cohorts else self.repeats) for f in range(parts)]

    def words(
        self, kind: str = "classes", measure: str = "balanced_accuracy", *, grouped: bool = False
    ) -> str:
        """Return the protocol as a sentence; `measure` is the one by which draws are chosen."""
        kind = _KINDS.get(kind, "stratified") + (", grouped" if grouped else "")
        measure = display_name(measure) + " of the recorded labels" * (measure == "pu_f")
        if self.cohorts:
            outer = f"each of {self.cohorts} cohorts is the test part once"
            outer = outer if self.cohorts > 1 else "one test part, which a column names"
        elif self.outer == "shuffle":
            outer = f"{self.repeats} {kind} random splits, {100 / self.folds:.0f}% of rows to test"
        else:
            times = "" if self.repeats == 1 else f" repeated {self.repeats} times"
            outer = f"{kind} {self.folds}-fold cross-validation{times}"
        first = " (the first of them the default setting)" if self.defaults_first else ""
        apart = ", ".join(f"{n} for {model}" for model, n in sorted(self.draws_of.items()))
        over = f"over {self.draws} draws"
        if self.seconds is not None:
            over = f"for {self.seconds:g} s (how many draws these allow depends on the machine)"
        if self.select != "best":
            measure += ", the fewest columns within one standard error of the best,"
        return (
            f"{outer}; inside each training part, random search {over}{first}"
            f"{f', {apart},' if apart else ''} by {measure} in {self.inner_folds} folds."
        )

    def as_dict(self) -> JsonObject:
        """Return the protocol as plain values."""
        own = {n: value for n, value in vars(self).items() if n not in _USUAL}
        return {**own, "draws_of": dict(sorted(self.draws_of.items())), **self.choices}

    @property
    def choices(self) -> JsonObject:
        """Return the fields of `_USUAL` that are not at their default, for identities and keys."""
        return {n: vars(self)[n] for n, usual in _USUAL.items() if vars(self)[n] != usual}


PROTOCOLS: dict[str, Protocol] = {
    # the same number of draws for each model: a comparison takes minutes with the slowest, too
    "quick": Protocol("quick", draws=4),
    # of psephos demo: the default setting of each model and one draw
    "demo": Protocol("demo", draws=2),
    # SamBA paper, supplement E.3.1: 10 splits 80/20, 50 draws, 5 folds
    "samba": Protocol(
        "samba",
        outer="shuffle",
        folds=5,
        repeats=10,
        inner_folds=5,
        draws=50,
        defaults_first=False,
        distributions="samba",
    ),
}


def protocol_named(protocol: str | Protocol, budget: str | None = None) -> Protocol:
    """Return the protocol, or the preset of that name; within a budget, if one is given."""
    if budget is not None:
        return protocol_named(protocol).within(budget)
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        raise PsephosError(f"unknown protocol {protocol!r}: {suggest(str(protocol), PROTOCOLS)}")
    return PROTOCOLS[protocol]


def protocol_on(table: DataTable, protocol: str | Protocol, budget: str | None = None) -> Protocol:
    """Return the protocol of a name, with the number of test parts that the table declares."""
    plan, cohorts = protocol_named(protocol, budget), table.cohorts
    return plan if cohorts is None else replace(plan, cohorts=len(cohorts.tested))


_utils: Any = utils
_Base: Any = model_selection.BaseCrossValidator  # its type stubs are incomplete
_CONSTRAINTS: dict[str, Constraint] = {"n_splits": Interval(2, whole=True), "shuffle": Flag()}
_LEVEL = 1e-9  # demands that differ by less are equal


@parameters
class MultilabelStratifiedKFold(_Base):
    """Cross-validation folds with equal numbers of rows of every label, without splitting groups.

    Use it if rows have several labels, as a splitter of scikit-learn (``cv=``): random folds lack
    some rare labels. The label with the fewest unassigned rows is distributed first: each of its
    rows goes to the fold that lacks most rows of that label, among ties to the one that lacks most
    rows (iterative stratification). With `groups`, whole groups are assigned instead of rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether rows are taken in random order, and ties are broken at random. Otherwise ties go to
        the first row, label or fold, and folds are always the same.
    random_state : int, RandomState instance or None, default=None
        Seed; only with ``shuffle=True``.

    Raises
    ------
    PsephosError
        In `split`: if Y is not a table of 0 and 1, there are fewer rows (groups) than folds, or a
        parameter is invalid.

    See Also
    --------
    sklearn.model_selection.StratifiedGroupKFold : for one class per row.

    Notes
    -----
    Folds may differ in size by more than one row, because labels have priority. A label with fewer
    rows (or groups) than folds is absent from the test parts of some. A group is assigned by its
    rarest label; groups with most rows of it are assigned first. An empty fold gets the smallest
    group of the fold with the most groups (without `groups`, each row is a group).

    References
    ----------
    Sechidis, Tsoumakas & Vlahavas (2011), "On the stratification of multi-label data", ECML PKDD.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.protocol import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 0]])
    >>> for train, test in MultilabelStratifiedKFold(2).split(Y, Y):
    ...     print(test, Y[test].sum(axis=0))
    [1 2 4] [2 2]
    [0 3 5] [2 1]
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": True}

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def get_n_splits(
        self, X: TableLike | None = None, y: LabelsLike | None = None, groups: PerRow = None
    ) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(
        self, X: TableLike, y: LabelsLike | None = None, groups: PerRow = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the training and test rows of each fold, sorted.

        Parameters
        ----------
        X : table of n rows
            Only its length is used.
        y : array, data frame or sparse table of shape (n, K)
            0 and 1: which labels a row has.
        groups : array of shape (n,), default=None
            Rows of one group stay together.
        """
        folds: Any = super()
        yield from folds.split(X, y, groups)

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: PerRow = None
    ) -> Iterator[Indices]:
        check_params(self, _CONSTRAINTS)
        if self.random_state is not None and not self.shuffle:
            raise PsephosError("random_state has no effect without shuffle=True: leave it out.")
        if y is None:
            raise PsephosError("y is missing: give the table of labels, a row per case.")
        if np.ndim(y) != 2 and not sp.issparse(y):
            raise PsephosError(
                "y must be a table of labels: for one class per row use scikit-learn's "
                "StratifiedKFold or StratifiedGroupKFold."
            )
        Y = read_labels(X, y)[1]
        named = read_groups(groups, len(Y))
        item = np.arange(len(Y)) if named is None else np.unique(named, return_inverse=True)[1]
        sizes = np.bincount(item.ravel())
        if len(sizes) < self.n_splits:
            what = "rows" if groups is None else "groups"
            raise PsephosError(
                f"there are {len(sizes)} {what} for {self.n_splits} folds: use fewer folds."
            )
        labels: Any = sp.csc_array(Y)
        place = (item.ravel(), np.arange(len(Y)))
        member: Any = sp.csc_array((np.ones(len(Y)), place), shape=(len(sizes), len(Y)))
        counts = sp.csc_array(member @ labels)
        counts.sort_indices()
        rng = _utils.check_random_state(self.random_state) if self.shuffle else None
        fold = _Assignment(counts, sizes.astype(np.float64), self.n_splits, rng).run()
        for k in range(self.n_splits):
            yield np.flatnonzero(fold[item.ravel()] == k)


class _Assignment:
    """The fold of each item (a row, or a group of rows), by iterative stratification.

    `counts` (n_items, K), CSC, are the numbers of rows with each label in an item, `sizes`
    (n_items,) its rows; `rng` draws the order and breaks ties, without it the first is taken.
    """

    def __init__(self, counts: Any, sizes: Floats, n_folds: int, rng: Any) -> None:
        n, n_labels = counts.shape
        drawn: Any = np.arange if rng is None else rng.permutation
        self.items, self.labels = drawn(n), drawn(n_labels)
        self.by_label, self.by_item = counts[self.items], counts.tocsr()
        self.sizes, self.rng = sizes, rng
        self.left = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
        self.wanted = np.tile(self.left / n_folds, (n_folds, 1))  # rows of a label, by fold
        self.room = np.full(n_folds, sizes.sum() / n_folds)
        self.fold = np.full(n, -1, dtype=np.intp)

    def run(self) -> Indices:
        """Return the fold of each item."""
        while (self.left > 0.5).any():
            left = self.left[self.labels]
            label = self.labels[np.where(left > 0.5, left, np.inf).argmin()]
            column = self.by_label[:, [label]]
            own, most = self.items[column.indices], column.data
            free = self.fold[own] < 0
            for item in own[free][np.argsort(-most[free], kind="stable")].tolist():
                self._assign(item, self.wanted[:, label])
        rest = self.items[self.fold[self.items] < 0]  # of rows without labels
        for item in rest[np.argsort(-self.sizes[rest], kind="stable")].tolist():
            self._assign(item, self.room)
        self._fill()
        return self.fold

    def _assign(self, item: int, want: Floats) -> None:
        """Give an item to the fold with the greatest demand, among ties to that of most room."""
        best = np.flatnonzero(want >= want.max() - _LEVEL)
        if len(best) > 1:
            room = self.room[best]
            best = best[room >= room.max() - _LEVEL]
        k = best[0 if self.rng is None else self.rng.randint(len(best))]
        part = slice(self.by_item.indptr[item], self.by_item.indptr[item + 1])
        labels, rows = self.by_item.indices[part], self.by_item.data[part]
        self.fold[item] = k
        self.room[k] -= self.sizes[item]
        self.wanted[k, labels] -= rows
        self.left[labels] -= rows

    def _fill(self) -> None:
        """Give each empty fold the smallest item of the fold with the most items."""
        for k in range(len(self.room)):
            n_items = np.bincount(self.fold, minlength=len(self.room))
            if not n_items[k]:
                own = np.flatnonzero(self.fold == n_items.argmax())
                self.fold[own[self.sizes[own].argmin()]] = k


def seed_of(random_state: int, *task: str | int) -> int:
    """Return the seed of a task, derived from the comparison's seed and the task's own words.

    It does not depend on other tasks, or on the order in which tasks run.
    """
    digest = hashlib.sha256("\x1f".join(map(str, task)).encode()).digest()
    entropy = [random_state, *np.frombuffer(digest, dtype=np.uint32).tolist()]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0]) % (2**31 - 1)


def outer_splits(table: DataTable, protocol: Protocol, random_state: int) -> list[Split]:
    """Return the training and test rows of each outer split, in the order of `protocol.splits`."""
    if table.cohorts is not None:
        return cohort_splits(table, table.cohorts, partial(_check_training, table, protocol))
    whole = table.multilabel or table.groups is not None
    _check_counts(table, protocol)
    codes = strata(table.codes, protocol.folds)
    if table.partial is not None:
        codes = table.partial.strata(table.y, protocol.folds)
    splits: list[Split] = []
    for repeat in range(protocol.repeats):
        seed = seed_of(random_state, "outer", repeat)
        if protocol.outer == "kfold" or whole:
            parts = _folds(codes, table.groups, protocol.folds, seed)
            splits += parts if protocol.outer == "kfold" else parts[:1]
        else:
            cut: Any = StratifiedShuffleSplit(1, test_size=1 / protocol.folds, random_state=seed)
            splits += [_sorted(part) for part in cut.split(codes[:, None], codes)]
    for train, _ in splits:
        _check_training(table, protocol, train)
    return splits


def strata(codes: Array, n_folds: int) -> Indices:
    """Return the strata of folds: classes or labels; for numbers up to five quantile bins.

    There are at most n / (2 `n_folds`) bins; those with fewer rows than folds, because of ties, are
    joined with the lowest.
    """
    if codes.dtype.kind != "f":
        return codes.astype(np.intp)
    most = max(1, min(_STRATA, len(codes) // (2 * n_folds)))
    found = target_strata(codes.astype(np.float64), np.ones(len(codes)), most)
    few = np.bincount(found) < n_folds
    return np.where(few[found], 0, found)


def inner_splits(codes: Array, groups: Array | None, n_folds: int, seed: int) -> list[Split]:
    """Return the folds on which draws are compared, as positions in the training part.

    If there are fewer groups than folds, there are as many folds as groups; folds whose training
    rows lack a class are left out.
    """
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
    if n_folds < 2:
        raise PsephosError(
            "a training part has one group only, so that models cannot be tuned inside it: use "
            "fewer folds, or more groups."
        )
    parts = _folds(strata(codes, n_folds), groups, n_folds, seed)
    if codes.ndim == 2:  # rare labels are always in few folds
        return parts
    if codes.dtype.kind == "f":
        return [part for part in parts if len(part[1])]
    whole = len(np.unique(codes))
    usable = [part for part in parts if len(part[1]) and len(np.unique(codes[part[0]])) == whole]
    if not usable:
        raise PsephosError(
            "inside a training part every division by groups leaves a class out of training: use "
            "fewer folds, or groups with several classes."
        )
    return usable


def _folds(codes: Indices, groups: Array | None, n_folds: int, seed: int) -> list[Split]:
    if codes.ndim == 2:
        labelled = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [_sorted(part) for part in labelled.split(codes, codes, groups)]
    rows = codes[:, None]  # the splitters use labels and groups only
    if groups is None:
        cut: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        return [_sorted(part) for part in cut.split(rows, codes)]
    grouped: Any = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes in few groups: checked by callers
        return [_sorted(part) for part in grouped.split(rows, codes, groups)]


def _sorted(part: Any) -> Split:
    train, test = part
    return np.sort(train).astype(np.intp), np.sort(test).astype(np.intp)


# ------------------------------------------------------------------- checks
def _check_counts(table: DataTable, protocol: Protocol) -> None:
    if table.groups is not None:
        n_groups = len(np.unique(table.groups))
        if n_groups < protocol.folds:
            raise PsephosError(
                f"{table.group_name or 'groups'!r} names {n_groups} groups, fewer than the "
                f"{protocol.folds} folds of protocol {protocol.name!r}: use fewer folds "
                "(--folds), or a finer grouping."
            ).settled_by(*[("--folds", str(n_groups))] * (n_groups > 1))
    if table.partial is not None:
        return  # the records count, not the classes: see `Partial.strata`
    if table.kind != "classes":
        fewest = -(-protocol.inner_folds * protocol.folds // (protocol.folds - 1))
        each = 2 if table.kind == "numbers" else 1  # R² needs two rows
        if table.n_rows < each * max(protocol.folds, fewest):
            raise PsephosError(
                f"the table has {table.n_rows} rows, too few for the {protocol.folds} folds of "
                f"protocol {protocol.name!r} and {protocol.inner_folds} inside each training part: "
                "use fewer folds (--folds)."
            )
        return
    classes, counts = np.unique(table.y, return_counts=True)
    if table.groups is not None:
        for label in classes:
            if len(np.unique(table.groups[table.y == label])) < 2:
                raise PsephosError(
                    f"all rows of class {str(label)!r} are in one group, so that it cannot be in "
                    "both the training and the test part: leave the class out, or use a finer "
                    "grouping."
                )
    _check_smallest(classes, counts, table, protocol, protocol.folds, "")


def _check_training(table: DataTable, protocol: Protocol, train: Rows) -> None:
    if table.groups is not None or table.kind != "classes" or table.partial is not None:
        return  # inner folds adapt to the groups that are left, and labels may be rare
    classes, counts = np.unique(table.y[train], return_counts=True)
    _check_smallest(classes, counts, table, protocol, protocol.inner_folds, "inner ")


def _check_smallest(
    classes: Array, counts: Indices, table: DataTable, protocol: Protocol, n_folds: int, kind: str
) -> None:
    """Raise PsephosError if the smallest class has fewer rows than `n_folds` folds.

    `kind` is 'inner ' for folds inside a training part, else ''.
    """
    label, n = classes[counts.argmin()], int(counts.min())
    if n >= n_folds:
        return
    count = int((table.y == label).sum())
    fits = [f for f in range(2, count + 1) if count - -(-count // f) >= protocol.inner_folds]
    cure = f", or use folds={fits[-1]} (--folds {fits[-1]} on the command line)" if fits else ""
    if table.cohorts is not None:  # folds are not drawn
        cure, fits = " (--classes), or leave --leave-out (leave_out=) out", []
    elif protocol.outer != "kfold":
        cure, fits = "", []
    where = " in a training part" if kind else ""
    raise PsephosError(
        f"class {str(label)!r} has {plural(n, 'row')}{where}, fewer than the {n_folds} "
        f"{kind}folds of protocol {protocol.name!r}: join it with another class, remove its "
        f"rows{cure}."
    ).settled_by(*[("--folds", str(one)) for one in fits[-1:]])
