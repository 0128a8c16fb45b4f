"""What every part of a vote shares: it names its columns and can move to a smaller table."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, Self, cast, runtime_checkable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.files.field_types import array_types
from psephos.trees.tree import Tree
from psephos.vote.reasons import Reason

sparse: Any = scipy.sparse  # its types say less than they promise

Columns = NDArray[np.intp]

#: Methods that a part may have beside those of `Voters` and `Weighting`; `ask` calls them, and says
#: what holds of a part without. `register_part` refuses a method whose name is nearly one of these.
OPTIONAL = {
    # of voters and of weightings
    "lowered": "() -> the operation of `psephos.vote.operations` that gives the same votes, or the "
    "same weights: what every reader outside fitting sees",
    "primary": "() -> the voters without what only a missing value asks for",
    "divided": "(X, size, centre) -> (n, p): how much of the sizes (n, T), one a case and voter, "
    "each column accounts for; without it every column that a voter reads gets the same share",
    "named_rows": "(names) -> the part with names in place of the positions of training rows",
    "marks": "() -> (columns, values) where answers turn; see `psephos.vote.marks`",
    "training_rows": "() -> how many rows of the training table, or parts of such, are kept",
    "refusal": "() -> why no file can hold the part; it follows 'the model cannot be saved: '",
    # of voters
    "weighted_sum": "(weights, X) -> (n, K), the sum without (n, T, K) votes; None if it cannot",
    "kinds": "() -> tags of the voters inside",
    "are_cases": "() -> whether the voters are training cases, alike but for their values",
    "label": "(voter) -> its name, '' for none",
    "open": "(voter, X, names) -> (vote, rows, names) of the vote that a voter is; None if none",
    "n_trees": "(voter) -> how many trees it is",
    "shown_tree": "(voter, tree) -> `ShownTree`, to be drawn",
    "tree": "(voter) -> its `Tree`, for text",
    "components": "() -> (means, standard deviations) of the densities that are the votes",
    # of weightings
    "fits": "(target, is_sum) -> why a vote cannot have these weights; '' if it can",
    "of_votes": "(votes, target) -> weights (n, T) or (n, T, K), where they depend on the votes",
    "asks": "(usage) -> (T, p): the columns that weights by `of_votes` depend on",
    "relative": "(X) -> (weights, log_scale), of weights beyond the range of float64",
    "sums_with": "(voters) -> a function of X to (sums, mass) without weights; None if it cannot",
    "primary_voters": "() -> the voters that a complete case needs",
    "reserve": "() -> (T,): who has weight only where values are missing",
    "available": "(X) -> (n, T): which models of a library have all the columns they read",
    "weighed": "(X) -> the voters that have a weight on any row",
    "similarities": "(X) -> (n, T): how near each row is to the training case that a voter is",
    "nearest": "(voters, target, X, k) -> `Nearest`, the training cases of greatest weight",
    "anchor_scores": "(voters) -> (m, K): what local weights say at their anchors",
}

#: Fields or properties that a part may have, to be read by `field_of`.
OPTIONAL_FIELDS = {
    # of voters
    "names": "the names of the voters, of a committee",
    "says": "what a voter says: 'answer', 'probability', 'decision' or 'value'",
    "inner": "the part whose votes these are in another form",
    "parts": "the voters of several kinds that these are",
    "members": "the voters whose answers these read: `open` then takes a member too",
    "nodes": "the `Tree` of all nodes, of trees",
    "node_votes": "(nodes, K) votes of the nodes of all trees; else the values of the tree",
    "answers": "fixed answers for kernels; see `sums_with`",
    "rows": "names or positions of the training rows that the voters are; see `nearest`",
    # of weightings
    "tier": "(T,): which models of a library are asked first; see `available`",
    "reads": "(T, q): which of `columns` each model of a library reads; see `available`",
    "similarity": "the `InverseDistance` of local weights, for bounds",
    "anchors": "(m, q): the training rows that local weights keep",
    "cases": "(m, q): the training rows among which neighbours are found",
    "batches": "the prototypes' columns and bandwidths, for their displays",
}


@runtime_checkable
class Part(Protocol):
    """A set of T voters, or their T weights.

    A part keeps the sorted `columns` of the table it reads and works in positions within them;
    `select` is the only remapping.
    """

    @property
    def n_features(self) -> int:
        """Return p, the number of columns of the table the part is used on."""
        ...

    @property
    def n_voters(self) -> int:
        """Return T."""
        ...

    @property
    def columns(self) -> Columns:
        """Return the sorted columns of the table that are read."""
        ...

    def usage(self) -> Any:
        """Return the (T, p) boolean CSR table of who reads what."""
        ...

    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns` (a superset of its own)."""
        ...

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return the part for these voters only, in this order; it drops columns no longer read."""
        ...


@runtime_checkable
class Voters(Part, Protocol):
    """T voters: their votes on rows, and why."""

    def votes(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (n, T, K) votes of all voters on the rows of X, shape (n, p): finite.

        X holds numbers as they are in the table, NaN where one is missing, and of a category its
        code: its place among the levels of the fit, or NaN for one that the fit did not have.
        """
        ...

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the voter in words."""
        ...

    def reasons(self, X: NDArray[np.float64]) -> list[list[Reason]]:
        """Return, for each row of X, shape (n, p), why each of the T voters votes as it does."""
        ...

    def sides(self, voter: int) -> list[tuple[str, NDArray[np.float64]]]:
        """Return a voter's possible votes, (condition, (K,) vote); '' is a condition too long.

        Of several, the first is ``if so``, and others say whether they take missing values:
        ``otherwise, also if missing``, or ``otherwise`` and ``if missing``.
        """
        ...


@runtime_checkable
class Weighting(Part, Protocol):
    """The weight of each voter on a case."""

    def weights(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw (n, T) weights on the rows of X, shape (n, p): finite.

        X is as `Voters.votes` gets it: NaN where a value is missing, and of a category its code,
        of which no mean or difference means anything. Weights below 0 are for a sum of votes
        alone: any other read-out takes them as shares.
        """
        ...

    def mean_share(self) -> NDArray[np.float64]:
        """Return (T,): each voter's mean share of the weight, >= 0, with sum 1.

        The mean is over the training rows that the weights keep; of weights that keep none it is
        what a case without missing values has. `describe` prints it; no answer depends on it.
        """
        ...

    def words(self) -> str:
        """Return what the weights are, in a few words."""
        ...


class ShownTree(NamedTuple):
    """A tree that a voter is made of, on the columns of the table, to be drawn.

    `shares` (nodes, n_classes) are the class shares of its nodes, None where they hold none;
    `votes` (nodes, K) are the votes of its nodes.
    """

    tree: Tree
    shares: NDArray[np.float64] | None
    votes: NDArray[np.float64]


class ReadsColumns:
    """What parts share that keep `n_features` and `columns`, and nothing else of the table."""

    n_features: int
    columns: Columns

    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns`."""
        own: Any = self
        return replace(own, n_features=len(columns), columns=positions(self.columns, columns))


class ReadsLike:
    """What parts share whose columns are those of another part, which they hold in a field.

    `read_by` is the name of that field.
    """

    read_by: ClassVar[str]

    @property
    def n_features(self) -> int:
        """Return p."""
        return getattr(self, self.read_by).n_features

    @property
    def columns(self) -> Columns:
        """Return the sorted columns that are read."""
        return getattr(self, self.read_by).columns

    def select(self, columns: Columns) -> Self:
        """Return the same part on the table reduced to `columns`."""
        own: Any = self
        return replace(own, **{self.read_by: getattr(self, self.read_by).select(columns)})


class ReadsNothing:
    """What parts share that read no column."""

    n_features: int

    @property
    def columns(self) -> Columns:
        """Return no column."""
        return np.empty(0, dtype=np.intp)

    def usage(self) -> Any:
        """Return the empty (T, p) table."""
        return usage_at(self, self.columns, self.columns)

    def select(self, columns: Columns) -> Self:
        """Return the same part on the smaller table."""
        own: Any = self
        return replace(own, n_features=len(columns))


def ask(part: Any, method: str, otherwise: Any, *given: Any) -> Any:
    """Return what a method of `OPTIONAL` returns; `otherwise` of a part that does not have it."""
    own: Any = getattr(part, method, None)
    return otherwise if own is None else own(*given)


def offers(part: Any, method: str) -> bool:
    """Return whether a part has a method of `OPTIONAL`."""
    return hasattr(part, method)


def field_of(part: Any, field: str, otherwise: Any = None) -> Any:
    """Return a field of `OPTIONAL_FIELDS`; `otherwise` of a part that does not have it."""
    return getattr(part, field, otherwise)


def lowered(part: Any) -> Any:
    """Return the operation that a part is read as; a part without one is read as it is."""
    return ask(part, "lowered", part)


def kinds_of(voters: Any) -> tuple[str, ...]:
    """Return the tags of the voters, those first met first."""
    kind = cast("type[Any]", type(voters))
    return ask(voters, "kinds", (str(getattr(kind, "tag", kind.__name__)),))


def are_cases(voters: Any) -> bool:
    """Return whether the voters are training cases, of which a few show what all are."""
    return ask(voters, "are_cases", False)


def n_trees(voters: Any, voter: int) -> int:
    """Return how many trees a voter is; 0: it is none."""
    return ask(voters, "n_trees", 0, voter)


def label_of(voters: Any, voter: int) -> str:
    """Return the voter's name and a colon, to begin a sentence; '' without a name."""
    name = ask(voters, "label", "", voter)
    return f"{name}: " if name else ""


def log_odds(chances: NDArray[np.float64], n_outputs: int) -> NDArray[np.float64]:
    """Return (n, K) log-odds of (n, n_classes) probabilities, of which none counts below 1e-9.

    Two classes are ``log(p_1 / p_0)``, one column; more ``log p_k`` less its mean over classes.
    """
    logs = np.log(np.maximum(chances, 1e-9))
    return logs[:, 1:] - logs[:, :1] if n_outputs == 1 else logs - logs.mean(axis=1, keepdims=True)


def over_outputs(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as (n, T): where they differ by output, the mean of their absolute values."""
    if weights.ndim == 2:
        return weights
    return weights[:, :, 0] if weights.shape[2] == 1 else np.abs(weights).mean(axis=2)


def relative_weights(
    weighting: Weighting, X: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return (w, log_scale): the raw (n, T) weights are exp(log_scale) times w, row by row.

    Without a method ``relative`` w are the weights themselves, and log_scale is None.
    """
    found = ask(weighting, "relative", None, X)
    return (weighting.weights(X), None) if found is None else found


def weighted_sum(
    voters: Voters, weights: NDArray[np.float64], X: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the (n, K) sum over t of weights[:, t] * votes(X)[:, t]."""
    total = ask(voters, "weighted_sum", None, weights, X)
    return np.einsum("nt,ntk->nk", weights, voters.votes(X)) if total is None else total


def rows_named(part: Any, names: NDArray[Any]) -> Any:
    """Return a part with names for the training rows it keeps; one that keeps none as it is."""
    return ask(part, "named_rows", part, names)


def training_rows(part: Any) -> int:
    """Return how many rows of the training table, or parts of such, a part keeps."""
    return ask(part, "training_rows", 0)


def named_of(rows: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    """Return the names of rows that are positions; '' for -1; rows that have names keep them."""
    if rows.dtype.kind not in "iu":
        return rows
    return np.where(rows >= 0, names[np.maximum(rows, 0)], "")


def check(condition: bool, sentence: str) -> None:
    """Raise PsephosError unless a part is consistent; compiled kernels trust what passed here."""
    if not condition:
        raise PsephosError(f"inconsistent part of a vote: {sentence}.")


def check_part(part: Any) -> None:
    """Check that arrays are of the types that a part's annotations name, and its columns sorted."""
    for name, kind in array_types(cast("type[Any]", type(part))).items():
        array = getattr(part, name)
        check(array is None or array.dtype == kind, f"{name} is not {kind}")
    if isinstance(part, ReadsColumns):
        check_columns(part.columns, part.n_features)


def check_columns(columns: Columns, n_features: int) -> None:
    """Check that columns are sorted, distinct and within the table."""
    check(columns.ndim == 1 and columns.dtype == np.intp, "columns are not a row of integers")
    inside = (columns >= 0) & (columns < n_features)  # first: differences of the rest may wrap
    ordered = inside.all() and (np.diff(columns) > 0).all()
    check(bool(ordered), "columns are not sorted within the table")


def check_within(places: NDArray[np.intp], end: Any, fault: str) -> None:
    """Check that places are from 0 to below `end`, a number or one for each."""
    check(bool(((places >= 0) & (places < end)).all()), fault)


def check_ptr(ptr: NDArray[np.intp], n: int, end: int, of: str) -> NDArray[np.intp]:
    """Check that pointers divide 0 ... end among n, and return how much each gets."""
    check(ptr.shape == (n + 1,), f"pointers of {of} differ in number")
    inside = ((ptr >= 0) & (ptr <= end)).all()  # first: differences of the rest may wrap
    sizes = np.diff(ptr)
    whole = ptr[0] == 0 and ptr[-1] == end and inside and (sizes >= 0).all()
    check(bool(whole), f"pointers of {of} are not increasing")
    return sizes


def check_places(
    places: NDArray[np.intp], ptr: NDArray[np.intp], n_voters: int, n_columns: int
) -> NDArray[np.intp]:
    """Check that pointers give each voter sorted places of columns, and return their numbers."""
    check(places.ndim == 1, "places of columns are not in a row")
    sizes = check_ptr(ptr, n_voters, len(places), "a voter's columns")
    check_within(places, n_columns, "a voter reads a column it lacks")
    for a, b in pairwise(ptr):
        check(bool((np.diff(places[a:b]) > 0).all()), "a voter's columns are unsorted")
    return sizes


def check_present(X: NDArray[np.float64], kind: str) -> None:
    """Raise PsephosError if a value is missing, for voters that cannot answer without it."""
    missing = np.isnan(X).any(axis=1)
    if missing.any():
        raise PsephosError(
            f"row {int(missing.argmax())} of these lacks a value that {kind} need: fill the gap, "
            "or leave the row out."
        )


def positions(inner: Columns, outer: Columns) -> Columns:
    """Return where the sorted columns `inner` stand within the sorted columns `outer`."""
    where = np.searchsorted(outer, inner)
    found = len(inner) == 0 or (where[-1] < len(outer) and bool((outer[where] == inner).all()))
    if not found:
        raise PsephosError("columns that the vote reads are missing from the selection.")
    return where


def primary(voters: Voters) -> Voters:
    """Return voters without what they read only where a value is missing."""
    return ask(voters, "primary", voters)


def usage_of_all(part: Any) -> Any:
    """Return the (T, p) table of a part whose voters all read all of its columns."""
    return usage_at(part, *np.indices((part.n_voters, len(part.columns))).reshape(2, -1))


def usage_of(part: Any, places: Sequence[NDArray[np.intp]]) -> Any:
    """Return the (T, p) table of a part whose voters each read these places in `columns`."""
    voter = np.repeat(np.arange(len(places)), [len(own) for own in places])
    return usage_at(part, voter, np.concatenate([np.empty(0, dtype=np.intp), *places]))


def usage_at(part: Any, voter: NDArray[np.intp], place: NDArray[np.intp]) -> Any:
    """Return the (T, p) table of a part: its voters, and the places in `columns` that they read."""
    return usage_table(voter, part.columns[place], (part.n_voters, part.n_features))


def usage_table(voter: NDArray[np.intp], column: Columns, shape: tuple[int, int]) -> Any:
    """Return a boolean CSR table that is true at (voter, column)."""
    table: Any = sparse.csr_array((np.ones(len(voter), dtype=bool), (voter, column)), shape=shape)
    table.sum_duplicates()
    table.data[:] = True
    return table
