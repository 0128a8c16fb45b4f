"""Base classes of voters and weightings, and the checks and column helpers that they share."""

# pyright: reportMissingTypeStubs=false

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, Usage, sparse
from psephos.files.field_types import array_types
from psephos.files.names import Names
from psephos.trees.tree import Tree
from psephos.vote.reasons import Reason

if TYPE_CHECKING:
    from psephos.vote.target import AnyTarget

Columns = NDArray[np.intp]

#: Columns and values, (m,) each, near which conformance vectors are drawn. They contain no value of
#: a training row: ranges are rounded outwards.
Breakpoints = tuple[Indices, Floats]


class ShownTree(NamedTuple):
    """A tree that a voter is made of, on the columns of the table, to be drawn.

    `shares` (nodes, n_classes) are the class shares of its nodes, None where they hold none;
    `votes` (nodes, K) are the votes of its nodes.
    """

    tree: Tree
    shares: Floats | None
    votes: Floats


class Part(ABC):
    """A set of T voters, or their T weights: base class of `Voters` and `Weighting`.

    A part keeps the sorted `columns` of the table that it reads and works in positions within
    them; `select` is the only remapping. Methods that are not abstract have a default that holds
    for most parts.

    Attributes
    ----------
    n_features : int
        p, the number of columns of the table the part is used on; a field or a property, as are
        the next two.
    n_voters : int
        T.
    columns : ndarray of shape (q,), intp
        The sorted columns of the table that are read.
    """

    if TYPE_CHECKING:  # fields are those that a part declares itself
        tag: ClassVar[str]
        n_features: int | Any
        n_voters: int | Any
        columns: Columns | Any

    @abstractmethod
    def usage(self) -> Usage:
        """Return the (T, p) boolean CSR table of the columns that each voter reads."""

    @abstractmethod
    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns` (a superset of its own)."""

    @abstractmethod
    def take(self, voters: Indices) -> Self:
        """Return the part for these voters only, in this order; it drops columns no longer read."""

    def lowered(self) -> Any:
        """Return the operation of `psephos.vote.operations` with the same votes, or weights.

        Scorers, pages, SQL and ONNX read operations only. An operation returns itself.
        """
        return self

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): the sizes (n, T) of the voters, divided among the columns they read.

        `centre` (p,) are the training means. By default each column that a voter reads has an
        equal share.
        """
        return evenly(self.usage(), size)

    def marks(self) -> Breakpoints:
        """Return (columns, values): breakpoints of the votes, or points around a column's range."""
        return np.empty(0, dtype=np.intp), np.empty(0)

    def named_rows(self, names: Array) -> Self:
        """Return the part with the training rows it keeps named, instead of numbered."""
        return self

    def training_rows(self) -> int:
        """Return the number of training rows of which the part keeps values."""
        return 0

    def refusal(self) -> str:
        """Return why the part cannot be saved; it follows 'the model cannot be saved: '."""
        return f"{type(self).__name__} is not plain data"


class Voters(Part):
    """T voters: their votes on rows, and the reasons. Base class of every kind of voters."""

    @abstractmethod
    def votes(self, X: Floats) -> Floats:
        """Return the (n, T, K) votes of all voters on the rows of X, shape (n, p): finite.

        A number in X is as in the table, NaN where it is missing; a category is its code: its index
        among the levels of the fit, NaN for a level that the fit did not have.
        """

    @abstractmethod
    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the voter in words."""

    @abstractmethod
    def reasons(self, X: Floats) -> list[list[Reason]]:
        """Return the reason of each of the T votes, for each row of X, shape (n, p)."""

    @abstractmethod
    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return a voter's possible votes as (condition, (K,) vote); [] if they are too many.

        The condition of a vote that never changes is ``always``. Of several the first is
        ``if so``; the others name the vote where the value is missing: ``otherwise, also if
        missing``, or ``otherwise`` and ``if missing``.
        """

    def weighted_sum(self, weights: Floats, X: Floats) -> Floats:
        """Return the (n, K) sum over t of weights[:, t] * votes(X)[:, t]."""
        votes = self.votes(X)
        check_answers(votes, (len(X), self.n_voters), self, "votes")
        return np.einsum("nt,ntk->nk", weights, votes)

    def derived(self, X: Floats) -> tuple["Voters", Floats]:
        """Return voters with the same votes, and the rows that they read in place of X.

        Column j of these rows depends on column j of X alone.
        """
        return self, X

    def primary(self) -> Self:
        """Return the voters without the columns that they read only where a value is missing."""
        return self

    def primary_beside(self, unsure: Sequence[int]) -> Self:
        """Return the voters as `primary` does, but ready for unknown categories in `unsure`.

        `unsure` are positions of columns that may hold categories the voters do not know.
        """
        return self.primary() if not unsure else self

    def abstaining(self) -> Self:
        """Return the same voters, described for complete cases: on others they abstain."""
        return self

    @property
    def kind(self) -> str:
        """Name of the kind of voters, as in an anatomy: the tag by default."""
        part: Any = type(self)
        return str(getattr(part, "tag", part.__name__))

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of the voters inside, in the order of their first voter."""
        return (self.kind,)

    def are_cases(self) -> bool:
        """Return whether the voters are training cases."""
        return False

    def voter_names(self) -> tuple[str, ...]:
        """Return the names of the voters of a committee; () where they have none."""
        return ()

    def label(self, voter: int) -> str:
        """Return the name of a voter, '' for none."""
        names = self.voter_names()
        return names[voter] if names else ""

    def how_said(self) -> str | None:
        """Return what a vote is: 'answer', 'probability', 'log-odds' or 'value'."""
        return getattr(self, "says", None)

    def open(self, voter: int, X: Floats, names: Names) -> tuple[Any, Floats, Names] | None:
        """Return (vote, rows, names) of the vote that a voter is; None if it is not one."""
        return None

    def read_members(self) -> "Voters | None":
        """Return the voters whose answers these read, such as a stacker's members."""
        return None

    def joined_parts(self) -> tuple["Voters", ...]:
        """Return the voters of each kind; these voters alone if they are of one kind."""
        return (self,)

    def n_trees(self, voter: int) -> int:
        """Return the number of trees of a voter; 0 of other kinds."""
        return 0

    def shown_tree(self, voter: int, tree: int) -> ShownTree:
        """Return a tree of a voter, to be drawn; see `n_trees`."""
        raise PsephosError(f"voter {voter} is not a tree.")

    def tree(self, voter: int) -> Tree | None:
        """Return the tree of a voter that is one tree, to be printed; None of other voters."""
        return None

    def components(self) -> tuple[Floats, Floats] | None:
        """Return (means, standard deviations), (T,) each, of voters that vote with densities."""
        return None

    def row_names(self) -> Array | None:
        """Return the names or positions, (T,), of voters that are training rows."""
        return None


class Weighting(Part):
    """The weight of each voter on a case. Base class of every kind of weights."""

    #: Whether the weights depend on the votes: `of_votes` then has them.
    needs_votes: ClassVar[bool] = False
    #: Whether each case has voters of its own, those that `weighed` returns.
    weighs_few: ClassVar[bool] = False

    @abstractmethod
    def weights(self, X: Floats) -> Floats:
        """Return the raw (n, T) weights on the rows of X, shape (n, p): finite.

        X is as for `Voters.votes`: NaN where a value is missing, codes of categories. Weights may
        be negative only if the score is a sum of votes: other read-outs use weights as shares.
        """

    @abstractmethod
    def mean_share(self) -> Floats:
        """Return (T,): each voter's mean share of the weight, >= 0, with sum 1.

        The mean is over the training rows that the weights keep; if they keep none, it is the share
        on a case without missing values. `describe` prints it; no prediction depends on it.
        """

    @abstractmethod
    def words(self) -> str:
        """Return a short description of the weights."""

    def fits(self, target: "AnyTarget", is_sum: bool) -> str:
        """Return why a vote cannot have these weights; '' if it can."""
        return ""

    def where(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return where only this voter has weight, such as ``in the leaf x > 3``; '' for none."""
        return ""

    def because(self, X: Floats, reasons: list[list[Reason]]) -> list[list[Reason]]:
        """Return the reasons of the voters, with those of their weights if there are any."""
        return reasons

    def of_votes(self, votes: Floats, target: "AnyTarget") -> Floats:
        """Return the weights, (n, T) or (n, T, K), of votes (n, T, K); see `needs_votes`."""
        raise NotImplementedError

    def asks(self, usage: Any) -> Any:
        """Return the (T, p) table of the columns on which weights by `of_votes` depend.

        None: each weight depends on the columns of its voter. `usage` is the table of the voters.
        """
        return None

    def relative(self, X: Floats) -> tuple[Floats, Floats | None]:
        """Return (w, log_scale): the raw (n, T) weights are exp(log_scale) times w, row by row.

        Shares of weights beyond the range of float64 can so be computed. None: w are the weights.
        """
        weights = self.weights(X)
        if np.ndim(weights) != 3:  # else one of an output each
            check_answers(weights, (len(X), self.n_voters), self, "weights")
        return weights, None

    def sums_with(self, voters: Voters) -> Callable[[Floats], tuple[Floats, Floats]] | None:
        """Return a function of X to (sums, mass) that needs no weights; None: not available."""
        return None

    def primary_voters(self) -> Indices:
        """Return the voters that may have weight on a complete case."""
        return np.arange(self.n_voters, dtype=np.intp)

    def reserve(self) -> NDArray[np.bool_]:
        """Return the mask, (T,), of voters that have weight only where values are missing."""
        return np.zeros(self.n_voters, dtype=bool)

    def available(self, X: Floats) -> NDArray[np.bool_] | None:
        """Return the mask, (n, T), of library models whose columns all have a value."""
        return None

    def weighed(self, X: Floats) -> Indices | None:
        """Return the indices of voters with weight on some row; None: all may have weight."""
        return None

    def similarities(self, X: Floats) -> Floats | None:
        """Return (n, T): the similarity of each row to each voter that is a training case."""
        return None

    def nearest(self, voters: Voters, target: "AnyTarget", X: Floats, k: int) -> Any:
        """Return the training cases of greatest weight as `Nearest`; None if none is kept."""
        return None

    def kept_cases(self) -> Floats | None:
        """Return the (m, q) training cases with which rows are compared: anchors, neighbours."""
        return None

    def local_similarity(self) -> Any:
        """Return the `InverseDistance` of local weights, for bounds."""
        return None

    def anchor_scores(self, voters: Voters) -> Floats | None:
        """Return (m, K): the scores of local weights and these voters at the anchors."""
        return None

    def prototype_batches(self) -> Any:
        """Return the columns and bandwidths of prototypes, for their displays."""
        return None


class ReadsColumns:
    """Mixin: `select` of parts whose only fields about the table are `n_features` and `columns`."""

    n_features: int
    columns: Columns

    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns`."""
        own: Any = self
        return replace(own, n_features=len(columns), columns=positions(self.columns, columns))


class ReadsLike:
    """Mixin: `n_features`, `n_voters`, `columns` and `select` of the part in field `read_by`."""

    read_by: ClassVar[str]

    @property
    def n_features(self) -> int:
        """Return p."""
        return getattr(self, self.read_by).n_features

    @property
    def n_voters(self) -> int:
        """Return T."""
        return getattr(self, self.read_by).n_voters

    @property
    def columns(self) -> Columns:
        """Return the sorted columns that are read."""
        return getattr(self, self.read_by).columns

    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns`."""
        own: Any = self
        return replace(own, **{self.read_by: getattr(self, self.read_by).select(columns)})


class ReadsNothing:
    """Mixin: parts that read no column."""

    n_features: int

    @property
    def columns(self) -> Columns:
        """Return no column."""
        return np.empty(0, dtype=np.intp)

    def usage(self) -> Usage:
        """Return the empty (T, p) table."""
        return usage_at(self, self.columns, self.columns)

    def select(self, columns: Columns) -> Self:
        """Return the same part on the smaller table."""
        own: Any = self
        return replace(own, n_features=len(columns))


def label_of(voters: Voters, voter: int) -> str:
    """Return the voter's name and a colon, to begin a sentence; '' without a name."""
    name = voters.label(voter)
    return f"{name}: " if name else ""


def log_odds(chances: Floats, n_outputs: int) -> Floats:
    """Return (n, K) log-odds of (n, n_classes) probabilities, each taken as at least 1e-9.

    Two classes are ``log(p_1 / p_0)``, one column; more ``log p_k`` less its mean over classes.
    """
    logs = np.log(np.maximum(chances, 1e-9))
    return logs[:, 1:] - logs[:, :1] if n_outputs == 1 else logs - logs.mean(axis=1, keepdims=True)


def over_outputs(weights: Floats) -> Floats:
    """Return weights as (n, T): where they differ by output, the mean of their absolute values."""
    if weights.ndim == 2:
        return weights
    return weights[:, :, 0] if weights.shape[2] == 1 else np.abs(weights).mean(axis=2)


def evenly(table: Any, size: Floats) -> Floats:
    """Return (n, p): the sizes (n, T) divided equally among the columns of a (T, p) table."""
    usage: Usage = table.astype(np.float64)
    read = np.maximum(np.asarray(usage.sum(axis=1)).ravel(), 1.0)
    return np.asarray((usage.T @ (size / read).T).T, dtype=np.float64)


def named_of(rows: NDArray[Any], names: NDArray[Any]) -> Array:
    """Return names for rows given as positions, '' for -1; rows given by name are unchanged."""
    if rows.dtype.kind not in "iu":
        return rows
    return np.where(rows >= 0, names[np.maximum(rows, 0)], "")


def check(condition: bool | np.bool_ | NDArray[np.bool_], sentence: str) -> None:
    """Raise PsephosError unless a part is consistent: compiled kernels check nothing.

    A condition on each of several entries must hold for all of them.
    """
    if not np.all(condition):
        raise PsephosError(f"inconsistent part of a vote: {sentence}.")


def check_answers(given: Any, shape: tuple[int, ...], part: Any, what: str) -> None:
    """Raise PsephosError unless votes or weights are finite numbers of that shape.

    Votes (`what` is 'votes') have one axis more, of K outputs.
    """
    array, k = np.asarray(given), int(what == "votes")
    found = None
    if array.dtype.kind not in "biuf":
        found = f"of type {array.dtype}"
    elif array.shape[: len(shape)] != shape or array.ndim != len(shape) + k:
        found = f"of shape {array.shape}"
    elif not np.isfinite(array).all():
        found = "NaN or infinite in places"
    if found is not None:
        raise PsephosError(
            f"the {what} of {type(part).__name__} must be finite numbers of shape "
            f"({', '.join([*map(str, shape), *['K'] * k])}), and are {found}."
        )


def check_part(part: Any) -> None:
    """Check that the arrays have the types of a part's annotations, and that columns are sorted."""
    for name, kind in array_types(cast("type[Any]", type(part))).items():
        array = getattr(part, name)
        check(array is None or array.dtype == kind, f"{name} is not {kind}")
    if isinstance(part, ReadsColumns):
        check_columns(part.columns, part.n_features)


def check_columns(columns: Columns, n_features: int) -> None:
    """Check that columns are sorted, distinct and within the table."""
    check(columns.ndim == 1 and columns.dtype == np.intp, "columns are not a row of integers")
    inside = (columns >= 0) & (columns < n_features)  # first: differences of the rest may wrap
    check(inside.all() and (np.diff(columns) > 0).all(), "columns are not sorted within the table")


def check_within(places: Indices, end: Any, fault: str) -> None:
    """Check that indices are at least 0 and below `end`, a number or one for each index."""
    check((places >= 0) & (places < end), fault)


def check_ptr(ptr: Indices, n: int, end: int, of: str) -> Indices:
    """Check that n + 1 pointers increase from 0 to `end`, and return the n sizes."""
    check(ptr.shape == (n + 1,), f"pointers of {of} differ in number")
    inside = ((ptr >= 0) & (ptr <= end)).all()  # first: differences of the rest may wrap
    sizes = np.diff(ptr)
    whole = ptr[0] == 0 and ptr[-1] == end and inside and (sizes >= 0).all()
    check(whole, f"pointers of {of} are not increasing")
    return sizes


def check_places(places: Indices, ptr: Indices, n_voters: int, n_columns: int) -> Indices:
    """Check that pointers give each voter sorted column indices, and return their numbers."""
    check(places.ndim == 1, "places of columns are not in a row")
    sizes = check_ptr(ptr, n_voters, len(places), "a voter's columns")
    check_within(places, n_columns, "a voter reads a column it lacks")
    for a, b in pairwise(ptr):
        check(np.diff(places[a:b]) > 0, "a voter's columns are unsorted")
    return sizes


def check_present(X: Floats, kind: str) -> None:
    """Raise PsephosError if a value is missing, for voters that cannot vote without it."""
    missing = np.isnan(X).any(axis=1)
    if missing.any():
        raise PsephosError(
            f"row {int(missing.argmax())} of these lacks a value that {kind} need: impute it, or "
            "leave the row out."
        )


def positions(inner: Columns, outer: Columns) -> Columns:
    """Return the positions of the sorted columns `inner` within the sorted columns `outer`."""
    where = np.searchsorted(outer, inner)
    found = len(inner) == 0 or (where[-1] < len(outer) and bool((outer[where] == inner).all()))
    if not found:
        raise PsephosError("columns that the vote reads are missing from the selection.")
    return where


def placed(subsets: Sequence[Columns]) -> tuple[Columns, tuple[Columns, ...]]:
    """Return the sorted columns of all subsets, and the positions of each subset within them."""
    columns = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *subsets]))
    return columns, tuple(np.searchsorted(columns, own).astype(np.intp) for own in subsets)


def usage_of_all(part: Any) -> Usage:
    """Return the (T, p) table of a part whose voters all read all of its columns."""
    return usage_at(part, *np.indices((part.n_voters, len(part.columns))).reshape(2, -1))


def usage_of(part: Any, places: Sequence[Indices]) -> Usage:
    """Return the (T, p) table of a part whose voters each read these positions in `columns`."""
    voter = np.repeat(np.arange(len(places)), [len(own) for own in places])
    return usage_at(part, voter, np.concatenate([np.empty(0, dtype=np.intp), *places]))


def usage_at(part: Any, voter: Indices, place: Indices) -> Usage:
    """Return the (T, p) table of a part whose voters read these positions in `columns`."""
    return usage_table(voter, part.columns[place], (part.n_voters, part.n_features))


def usage_table(voter: Indices, column: Columns, shape: tuple[int, int]) -> Usage:
    """Return a boolean CSR table that is true at (voter, column)."""
    table: Any = sparse.csr_array((np.ones(len(voter), dtype=bool), (voter, column)), shape=shape)
    table.sum_duplicates()
    table.data[:] = True
    return table


def joined_marks(marks: Sequence[Breakpoints]) -> Breakpoints:
    """Return the breakpoints of several parts, concatenated."""
    columns = np.concatenate([np.empty(0, dtype=np.intp), *(j for j, _ in marks)])
    return columns, np.concatenate([np.empty(0), *(values for _, values in marks)])


def outer_marks(columns: Indices, low: Floats, high: Floats) -> Breakpoints:
    """Return the ends of ranges as breakpoints, rounded outwards to the range's power of ten."""
    unit = 10.0 ** np.floor(np.log10(np.maximum(high - low, 1e-300)))
    unit = np.where(high > low, unit, np.maximum(np.abs(low), 1.0))
    ends = np.floor(low / unit) * unit, np.ceil(high / unit) * unit
    return np.tile(columns, 2), np.concatenate(ends)


def range_marks(columns: Indices, cases: Floats, is_category: NDArray[np.bool_]) -> Breakpoints:
    """Return breakpoints around the ranges of cases (m, q), of numeric columns with any value."""
    known = np.flatnonzero(~np.isnan(cases).all(axis=0) & ~is_category)
    own = cases[:, known]
    return outer_marks(columns[known], np.nanmin(own, axis=0), np.nanmax(own, axis=0))
