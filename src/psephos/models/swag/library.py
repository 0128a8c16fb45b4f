"""The results of a search's steps, and the library of all strong models, with their errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.field_types import Nullable
from psephos.models.swag.measures import Errors
from psephos.models.swag.problem import Subsets
from psephos.models.swag.settings import SearchSettings
from psephos.vote import Vote
from psephos.vote.codec import register
from psephos.vote.frames import Framed, frame_of
from psephos.vote.part import Columns, check, check_columns, positions, usage_table

_BINS = 60  # of the histograms of errors


@dataclass(frozen=True)
class Step:
    """One dimension of a search; strong candidates by error, then by log-loss, then by columns."""

    dimension: int  # d
    subsets: Subsets  # (T, d) columns of the strong candidates
    error: Floats  # (T,) as in `Errors`
    spread: Floats
    tie: Floats
    errors: Floats  # (M,) of all candidates tried, in lexicographic order of their columns
    quantile: float  # the alpha-quantile of `errors`

    @property
    def n_candidates(self) -> int:
        """Return M."""
        return len(self.errors)

    @property
    def n_strong(self) -> int:
        """Return T."""
        return len(self.subsets)

    @property
    def median(self) -> float:
        """Return the median error of all candidates tried."""
        return float(np.median(self.errors))


def _at(n: int, share: float) -> float:
    """Return (n - 1) share, rounded if it is an integer up to rounding error."""
    index = (n - 1) * share
    return float(round(index)) if abs(index - round(index)) < 1e-9 else index


def quantile(errors: Floats, share: float) -> float:
    """Return a quantile by linear interpolation (type 7 of R, 'linear' of numpy)."""
    index = _at(len(errors), share)
    low = int(index)
    high = min(low + 1, len(errors) - 1)
    ordered = np.partition(errors, (low, high))
    return float(ordered[low] + (index - low) * (ordered[high] - ordered[low]))


def make_step(candidates: Subsets, errors: Errors, settings: SearchSettings) -> Step:
    """Return the step of these candidates (in lexicographic order) with their errors."""
    share = settings.share(candidates.shape[1])
    cut = quantile(errors.error, share)
    tie = errors.tie if settings.ties != "first" else np.zeros_like(errors.tie)
    order = np.lexsort([tie, errors.error])  # stable: ties in the order of columns
    if settings.ties == "all":
        n_strong = int((errors.error <= cut).sum())
    else:
        n_strong = int(_at(len(candidates), share)) + 1
    strong = order[:n_strong]
    return Step(
        candidates.shape[1], candidates[strong], errors.error[strong], errors.spread[strong],
        errors.tie[strong], errors.error, cut,
    )  # fmt: skip


def post_process(
    steps: Sequence[Step], delta: float = 0.01, dimension: int | None = None
) -> list[int]:
    """Return the number of strong candidates of each step, the first ones, in the final set.

    These are the candidates of all steps with error <= the delta-quantile of the step with the
    lowest median (of ties, the smallest): seed paper, section 2, "Post-Processing". Medians and
    quantiles are over all candidates tried in a step, as in the paper's error vectors. With a
    `dimension` (at most the last step's), only those of that step, by its own quantile.
    """
    chosen = min(steps, key=lambda step: (step.median, step.dimension))
    if dimension is not None:
        chosen = steps[min(dimension, len(steps)) - 1]
    threshold = quantile(chosen.errors, delta)
    mixed = dimension is None
    return [int((s.error <= threshold).sum()) if mixed or s is chosen else 0 for s in steps]


@register
@dataclass(frozen=True)
class Dimensions:
    """Summary of the errors of all candidates at each of D dimensions (numbers of columns)."""

    tag: ClassVar[str] = "library dimensions"
    dimension: Indices  # (D,)
    n_candidates: Indices  # (D,) evaluated
    n_strong: Indices  # (D,) kept
    threshold: Floats  # (D,) the alpha-quantile of the errors
    median: Floats  # (D,)
    best: Floats  # (D,)
    counts: Indices  # (D, bins) histogram of the errors
    edges: Floats  # (bins + 1,)

    def __post_init__(self) -> None:
        d = len(self.dimension)
        rows = (self.n_candidates, self.n_strong, self.threshold, self.median, self.best)
        check(all(a.shape == (d,) for a in rows), "dimensions differ in number")
        whole = (self.dimension, self.n_candidates, self.n_strong, self.counts)
        check(all(a.dtype == np.intp for a in whole), "counts are not integers")
        numbers = (self.threshold, self.median, self.best, self.edges)
        check(all(a.dtype == np.float64 for a in numbers), "errors are not float64")
        check(self.edges.ndim == 1, "edges are not one-dimensional")
        check(self.counts.shape == (d, max(len(self.edges) - 1, 0)), "a histogram has other bins")

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists, without the histogram."""
        names = ("dimension", "n_candidates", "n_strong", "best", "threshold", "median")
        return {name: getattr(self, name).tolist() for name in names}

    def frame(self, backend: str | None = None) -> Any:
        """Return one row per number of columns as a data frame."""
        return frame_of(self.columns(), backend)


def dimensions_of(steps: Sequence[Step]) -> Dimensions:
    """Return the summary of the steps of a search."""
    everything = np.concatenate([step.errors for step in steps])
    finite = everything[np.isfinite(everything)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    counts = [np.histogram(step.errors[np.isfinite(step.errors)], edges)[0] for step in steps]
    return Dimensions(
        np.array([step.dimension for step in steps], dtype=np.intp),
        np.array([step.n_candidates for step in steps], dtype=np.intp),
        np.array([step.n_strong for step in steps], dtype=np.intp),
        np.array([step.quantile for step in steps]),
        np.array([step.median for step in steps]),
        np.array([float(step.errors.min()) for step in steps]),
        np.stack(counts).astype(np.intp),
        edges,
    )


@register
@dataclass(frozen=True)
class Library(Framed):
    """Strong small models: the columns that each reads, and its cross-validated error.

    Models are sorted by error, then by the tie-break, then by columns. Errors are those of the
    search, minima over many candidates, and so too optimistic: unbiased errors need folds outside
    the search (`psephos compare`).

    Parameters
    ----------
    n_features : int
        Columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns read by some model.
    words : tuple of str
        Their names.
    ptr : ndarray of shape (M + 1,), intp
        Start of each model's columns in `member`.
    member : ndarray, intp
        Indices into `columns`.
    error, spread : ndarray of shape (M,)
        Mean over splits of the error measure, and its standard deviation over splits.
    votes : ndarray of shape (M,), bool
        The models chosen by post-processing.
    measure : str
        The name of the error measure.
    dimensions : Dimensions
    remarks : tuple of (str, ndarray of shape (M,))
        Remarks of the learner on its models, such as ``separable``.
    reserve : ndarray of shape (M,), bool, or None
        The models that vote only if no chosen model can.
    """

    tag: ClassVar[str] = "library"
    n_features: int
    columns: Columns
    words: tuple[str, ...]
    ptr: Indices
    member: Indices
    error: Floats
    spread: Nullable
    votes: NDArray[np.bool_]
    measure: str
    dimensions: Dimensions
    remarks: tuple[tuple[str, NDArray[Any]], ...] = ()
    reserve: NDArray[np.bool_] | None = None  # None in earlier files

    def __post_init__(self) -> None:
        check_columns(self.columns, self.n_features)
        m = len(self.error)
        check(len(self.words) == len(self.columns), "column names are missing")
        check(self.ptr.shape == (m + 1,) and self.ptr.dtype == np.intp, "models lack columns")
        check(bool(self.ptr[0] == 0 and (np.diff(self.ptr) >= 0).all()), "models lack columns")
        check(len(self.member) == self.ptr[-1], "columns of models are missing")
        inside = (self.member >= 0) & (self.member < len(self.columns))
        check(bool(inside.all()), "a model reads a column that is not there")
        reserve = self.votes if self.reserve is None else self.reserve
        rows = (self.error, self.spread, self.votes, reserve, *(v for _, v in self.remarks))
        check(all(a.shape == (m,) for a in rows), "models differ in number")
        whole = self.member.dtype == np.intp and self.member.ndim == self.error.ndim == 1
        check(whole, "columns of models are not one-dimensional, or not integers")
        check(self.error.dtype == self.spread.dtype == np.float64, "errors are not float64")
        whole = self.votes.dtype == reserve.dtype == np.bool_
        check(whole, "the mask of models that vote is not boolean")

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless the vote can be of this library's models and the prior."""
        check(vote.n_features == self.n_features, "the library is of another table")
        chosen = int(self.votes.sum())
        check(chosen < vote.n_voters <= len(self) + 1, "the library is of another vote")

    # ------------------------------------------------------------------ reading it
    def __len__(self) -> int:
        return len(self.error)

    @property
    def dimension(self) -> Indices:
        """Return the number of columns of each model, shape (M,)."""
        return np.diff(self.ptr)

    def subset(self, model: int) -> Columns:
        """Return the sorted columns of the table that a model reads."""
        return self.columns[self.member[self.ptr[model] : self.ptr[model + 1]]]

    def subsets(self) -> list[Columns]:
        """Return the columns of every model."""
        return [self.subset(m) for m in range(len(self))]

    def usage(self) -> Usage:
        """Return the (M, p) boolean CSR matrix of the columns read by each model."""
        model = np.repeat(np.arange(len(self)), self.dimension)
        return usage_table(model, self.columns[self.member], (len(self), self.n_features))

    def table(self) -> dict[str, list[Any]]:
        """Return the library as lists, one entry per model.

        Keys: ``rank`` (from 1), ``dimension``, ``columns`` (tuples of names), ``error``,
        ``spread``, ``votes``, and the learner's remarks.
        """
        words = np.array(self.words, dtype=object)[self.member].tolist()
        ends = self.ptr.tolist()
        names = [tuple(words[a:b]) for a, b in pairwise(ends)]
        return {
            "rank": list(range(1, len(self) + 1)),
            "dimension": self.dimension.tolist(),
            "columns": names,
            "error": self.error.tolist(),
            "spread": self.spread.tolist(),
            "votes": self.votes.tolist(),
            **{name: values.tolist() for name, values in self.remarks},
        }

    # ------------------------------------------------------------------ asking it
    def usable_with(self, columns: Iterable[Any]) -> Self:
        """Return the models that need only these columns.

        Parameters
        ----------
        columns : iterable of str or int
            Names, or indices into the training table; columns that no model reads are ignored.

        Returns
        -------
        Library
            Possibly empty.

        Raises
        ------
        PsephosError
            If an index is outside the table.
        """
        return self.take(np.flatnonzero(self._needs_only(self._measured(columns))))

    def _needs_only(self, columns: Columns) -> NDArray[np.bool_]:
        """Return the mask of models, (M,), that need only these columns."""
        model = np.repeat(np.arange(len(self)), self.dimension)
        lacking = ~np.isin(self.columns, columns)[self.member]
        return np.bincount(model, lacking, len(self)) == 0

    def _measured(self, columns: Iterable[Any]) -> Columns:
        index = {word: int(j) for word, j in zip(self.words, self.columns, strict=True)}
        found: list[int] = []
        for column in columns:
            if isinstance(column, str):
                if column in index:
                    found.append(index[column])
                continue
            if not 0 <= int(column) < self.n_features:
                raise PsephosError(
                    f"columns must be indices below {self.n_features}, or names; got {column}."
                )
            found.append(int(column))
        return np.unique(np.array(found, dtype=np.intp))

    def _position(self, column: Any) -> int:
        """Return the index of a column in `columns`; raise PsephosError if no model reads it."""
        if isinstance(column, str):
            if column in self.words:
                return self.words.index(column)
        else:
            where = np.flatnonzero(self.columns == int(column))
            if len(where):
                return int(where[0])
        raise PsephosError(
            f"no model of the library reads column {column!r}: its columns are "
            f"{', '.join(self.words[:8])}{', ...' if len(self.words) > 8 else ''}."
        )

    def synonyms(self, column: Any) -> dict[str, list[Any]]:
        """Return the columns that replace a given column in otherwise equal models.

        Two models are equal except for one column if one is C + {column} and the other C + {other},
        with the same companions C (at least one). Source: SWAG (Molinari et al. 2020), section 4.

        Parameters
        ----------
        column : str or int

        Returns
        -------
        dict of lists, most companions first
            ``column`` (the synonym), ``contexts`` (number of C), ``share`` (of the models of two or
            more columns with the given one), ``difference`` (mean error of the synonym's models
            minus that of the given column's), ``companions`` (the columns in C, most frequent
            first).

        Raises
        ------
        PsephosError
            If no model reads the column.
        """
        wanted, words, error = self._position(column), self.words, self.error.tolist()
        sets = [frozenset(self.member[a:b].tolist()) for a, b in pairwise(self.ptr.tolist())]
        known = {own - {wanted}: e for own, e in zip(sets, error, strict=True)
                 if wanted in own and len(own) > 1}  # fmt: skip
        found: dict[int, list[tuple[frozenset[int], float]]] = {}
        for own, e in zip(sets, error, strict=True):
            for other in () if wanted in own else own:
                rest = own - {other}
                if rest in known:
                    found.setdefault(other, []).append((rest, e - known[rest]))
        order = sorted(found, key=lambda j: (-len(found[j]), j))
        contexts = [[rest for rest, _ in found[j]] for j in order]
        return {
            "column": [words[j] for j in order],
            "contexts": [len(sets) for sets in contexts],
            "share": [len(sets) / len(known) for sets in contexts],
            "difference": [float(np.mean([gap for _, gap in found[j]])) for j in order],
            "companions": [_frequent(sets, words) for sets in contexts],
        }

    # ------------------------------------------------------------------ parts of it
    def take(self, models: Indices) -> Self:
        """Return only these models, in this order, without columns that none of them reads."""
        sizes = self.dimension[models]
        spans = [self.member[self.ptr[m] : self.ptr[m + 1]] for m in models.tolist()]
        member = np.concatenate([np.empty(0, dtype=np.intp), *spans]).astype(np.intp)
        kept, member = np.unique(member, return_inverse=True)
        return replace(
            self,
            columns=self.columns[kept],
            words=tuple(self.words[j] for j in kept.tolist()),
            ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
            member=member.astype(np.intp),
            **{name: getattr(self, name)[models] for name in ("error", "spread", "votes")},
            remarks=tuple((name, values[models]) for name, values in self.remarks),
            reserve=None if self.reserve is None else self.reserve[models],
        )

    def named(self, names: Sequence[str]) -> Self:
        """Return the library with the names of a table's columns."""
        return replace(self, words=tuple(names[j] for j in self.columns.tolist()))

    def chosen(self) -> Self:
        """Return the models that vote."""
        return self.take(np.flatnonzero(self.votes))

    def primary(self) -> Self:
        """Return the library of a vote without its reserve."""
        return replace(self, reserve=None)

    def select(self, columns: Columns) -> Self:
        """Return the library on the table reduced to `columns` (sorted), those the vote reads.

        Models that vote are kept, without the columns that do not affect their vote (such as a
        constant column). Others are kept if all their columns are.
        """
        fitted = self.votes if self.reserve is None else self.votes | self.reserve
        part = self.take(np.flatnonzero(fitted | self._needs_only(columns)))
        kept = np.isin(part.columns, columns)
        still, count = kept[part.member], np.concatenate([[0], np.cumsum(kept[part.member])])
        return replace(
            part,
            n_features=len(columns),
            columns=positions(part.columns[kept], columns),
            words=tuple(word for word, k in zip(part.words, kept.tolist(), strict=True) if k),
            ptr=count[part.ptr].astype(np.intp),
            member=(np.cumsum(kept) - 1)[part.member[still]].astype(np.intp),
        )


def _frequent(contexts: Sequence[frozenset[int]], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of some contexts, the most frequent first."""
    counts = np.bincount([j for one in contexts for j in one], minlength=len(words))
    order = np.argsort(-counts, kind="stable")
    return tuple(words[j] for j in order[: int((counts > 0).sum())].tolist())


def library_of(model: Any) -> Library:
    """Return the library of a fitted wrapper."""
    return model.library_
