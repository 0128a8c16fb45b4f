"""The errors of the small models of one library, by number of columns, or of several libraries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import (
    Axes,
    ColumnLists,
    Floats,
    Indices,
    LabelsLike,
    TableLike,
)
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import axes_of, plain
from psephos.files.names import plural
from psephos.vote.frames import Framed

_BLOCK = 1 << 22  # votes held at once


def searched_by(estimator: VoteEstimator) -> Any:
    """Return the library of small models that a fitted estimator searched; None if it has none."""
    searched: Any = getattr(estimator, "searched", None)
    return None if searched is None else searched()


@dataclass(frozen=True)
class ErrorDisplay(Framed):
    """Histograms of the cross-validated errors of small models, by number of columns.

    Source: SWAG (Molinari et al. 2020), Tables 1, 3 and 4, whose histograms compare the small
    models with the same mechanism on all columns.

    Parameters
    ----------
    dimension : ndarray of shape (D,)
        Numbers of columns.
    counts : ndarray of shape (D, bins)
        The number of models tried; those whose error is not finite are left out.
    chosen : ndarray of shape (D, bins)
        The number of models that vote.
    edges : ndarray of shape (bins + 1,)
    threshold : ndarray of shape (D,)
        The error below which a model is strong.
    median : ndarray of shape (D,)
    measure : str
    reference : dict of str to float
        Errors of other models on the same folds, such as the learner on all columns.
    """

    dimension: Indices
    counts: Indices
    chosen: Indices
    edges: Floats
    threshold: Floats
    median: Floats
    measure: str
    reference: dict[str, float]

    @classmethod
    def from_estimator(
        cls, estimator: VoteEstimator, reference: Mapping[str, float] | None = None
    ) -> Self:
        """Return the display of a fitted wrapper.

        Parameters
        ----------
        estimator : fitted SparseWrapperClassifier or SparseWrapperRegressor
        reference : dict of str to float, default=None
            Errors to draw beside the histograms, by name. They must be the same measure on the same
            folds: pass the same `cv` to the wrapper and to `cross_val_score`.

        Raises
        ------
        PsephosError
            If the estimator has no library, or a reference is not a finite number.
        """
        library = searched_by(estimator)
        if library is None:
            raise PsephosError(
                "estimator must be a fitted SparseWrapperClassifier or SparseWrapperRegressor; got "
                f"{type(estimator).__name__}, which has no library of small models."
            )
        return cls.from_library(library, reference)

    @classmethod
    def from_library(cls, library: Any, reference: Mapping[str, float] | None = None) -> Self:
        """Return the display of a library; see `from_estimator`."""
        given = {str(name): float(error) for name, error in (reference or {}).items()}
        for name, error in given.items():
            if not math.isfinite(error):
                raise PsephosError(f"reference {name!r} must be finite; got {error}.")
        seen = library.dimensions
        voting = [library.error[library.votes & (library.dimension == d)] for d in seen.dimension]
        chosen = np.array([np.histogram(one, seen.edges)[0] for one in voting], dtype=np.intp)
        lines = seen.threshold, seen.median
        return cls(seen.dimension, seen.counts, chosen, seen.edges, *lines, library.measure, given)

    def table(self) -> ColumnLists:
        """Return one entry per bar: ``dimension``, ``low``, ``high``, ``count``, ``chosen``."""
        bins = len(self.edges) - 1
        return {
            "dimension": np.repeat(self.dimension, bins).tolist(),
            "low": np.tile(self.edges[:-1], len(self.dimension)).tolist(),
            "high": np.tile(self.edges[1:], len(self.dimension)).tolist(),
            "count": self.counts.ravel().tolist(),
            "chosen": self.chosen.ravel().tolist(),
        }

    def better(self) -> ColumnLists:
        """Return the share of small models that are better than each reference.

        The comparison favours small models: their errors are the lowest of many and so optimistic,
        while a reference is a single error.

        Returns
        -------
        dict of lists
            ``reference``, ``error``, ``dimension``, and ``share``: the share of that dimension's
            models in bars that end at or below the error.
        """
        rows = [(name, error, d) for name, error in self.reference.items()
                for d in range(len(self.dimension))]  # fmt: skip
        below = [self.edges[1:] <= error + 1e-12 for _, error, _ in rows]
        total = np.maximum(self.counts.sum(axis=1), 1)
        return {
            "reference": [name for name, _, _ in rows],
            "error": [error for _, error, _ in rows],
            "dimension": [int(self.dimension[d]) for _, _, d in rows],
            "share": [
                float(self.counts[d][bars].sum() / total[d])
                for (_, _, d), bars in zip(rows, below, strict=True)
            ],
        }

    def plot(self, ax: Any = None) -> Axes:
        """Draw one histogram per number of columns, one above the other with a common error axis.

        Heights are relative to the dimension's tallest bar. Voting models are drawn over these as
        an outline, relative to their own tallest bar, since they are few.

        Parameters
        ----------
        ax : array of D matplotlib Axes, default=None

        Returns
        -------
        axes : ndarray of matplotlib Axes, shape (D,)

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        PsephosError
            If `ax` does not hold one Axes per dimension.
        """
        n = len(self.dimension)
        axes: Any = np.atleast_1d(axes_of(ax, nrows=n, sharex=True, figsize=(7, 1.4 * n + 1)))
        if axes.shape != (n,):
            raise PsephosError(f"ax must hold {n} Axes, one per dimension; got shape {axes.shape}.")
        for d in range(n):
            self._draw(axes[d], d)
        axes[0].legend(loc="upper right", fontsize=8)
        axes[-1].set_xlabel(f"cross-validated {self.measure.replace('_', ' ')}")
        return axes

    def _draw(self, axes: Axes, d: int) -> None:
        heights = self.counts[d] / max(self.counts[d].max(), 1)
        voting = self.chosen[d] / max(self.chosen[d].max(), 1)
        axes.stairs(heights, self.edges, fill=True, color="0.7", label="all models tried")
        axes.stairs(voting, self.edges, color="C0", lw=1.5, label="models that vote")
        axes.axvline(self.threshold[d], color="C1", lw=1.2, ls="--", label="strong below")
        for i, (name, error) in enumerate(self.reference.items()):
            axes.axvline(error, color=f"C{i + 3}", lw=1.5, ls=":", label=name)
        axes.set_ylabel(plural(self.dimension[d], "column"))
        axes.set_yticks([])


@dataclass(frozen=True)
class MechanismDisplay(Framed):
    """The errors of the voting models of several libraries, one for each learning mechanism.

    Each is shown beside the same mechanism on all columns. Source: SWAG (Molinari et al. 2020),
    Tables 1, 3 and 4.

    Parameters
    ----------
    mechanism : tuple of str
        Names of the learning mechanisms.
    error : tuple of ndarray of shape (M,)
        For each mechanism, cross-validated errors of the models that vote: minima over many
        candidates, which are optimistic.
    test : tuple of ndarray of shape (M,)
        Their errors on test rows, NaN where a model can read none of them; empty without test rows.
    dimension : tuple of ndarray of shape (M,)
        Their numbers of columns.
    vote : ndarray of shape (n_mechanisms,)
        The error of their vote on the test rows; NaN without test rows.
    reference : dict of str to (float, float)
        By mechanism, the errors of its model on all columns: cross-validated, and on test rows.
    measure : str
    """

    mechanism: tuple[str, ...]
    error: tuple[Floats, ...]
    test: tuple[Floats, ...]
    dimension: tuple[Indices, ...]
    vote: Floats
    reference: dict[str, tuple[float, float]]
    measure: str

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, VoteEstimator],
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        reference: Mapping[str, tuple[float, float]] | None = None,
    ) -> Self:
        """Return the display of fitted wrappers, by name.

        Parameters
        ----------
        estimators : dict of str to fitted SparseWrapperClassifier or SparseWrapperRegressor
            Fitted on the same rows and, to compare their errors, with one `cv`.
        X, y : table of n rows, array of shape (n,), default=None
            Rows that no model was fitted on. Errors there are error rates, or mean squared errors
            for regression, whatever the search minimised.
        reference : dict of str to (float, float), default=None
            By the same names, the errors of the mechanism on all columns.

        Raises
        ------
        PsephosError
            If an estimator has no library, X is given without y, or a reference has another name.
        """
        found = {name: searched_by(one) for name, one in estimators.items()}
        if not found or any(library is None for library in found.values()):
            raise PsephosError(
                "estimators must be fitted SparseWrapperClassifier or SparseWrapperRegressor by "
                f"name; got {', '.join(type(one).__name__ for one in estimators.values()) or '{}'}."
            )
        if (X is None) != (y is None):
            raise PsephosError("X and y must be given together: test rows and their targets.")
        given = {name: (float(a), float(b)) for name, (a, b) in (reference or {}).items()}
        if given.keys() - found.keys():
            raise PsephosError(
                f"reference must have the names of estimators ({', '.join(found)}); got "
                f"{', '.join(given)}."
            )
        tests = [_errors_of(one, X, y) for one in estimators.values()]
        own = [library.chosen() for library in found.values()]
        return cls(
            tuple(found), tuple(one.error for one in own), tuple(each for each, _ in tests),
            tuple(one.dimension for one in own), np.array([whole for _, whole in tests]), given,
            own[0].measure,
        )  # fmt: skip

    def table(self) -> ColumnLists:
        """Return one entry per learning mechanism, as in the tables of the SWAG paper.

        Keys: ``mechanism``, ``models`` (the number that vote), ``error_least``, ``error_most``,
        ``test_least``, ``test_most``, ``vote_test``, ``columns_least``, ``columns_most``, and for
        the mechanism on all columns ``all_error`` and ``all_test`` (NaN where not given).
        """
        every = [self.reference.get(name, (math.nan, math.nan)) for name in self.mechanism]
        return {
            "mechanism": list(self.mechanism),
            "models": [len(one) for one in self.error],
            **_extent("error", self.error), **_extent("test", self.test),
            "vote_test": self.vote.tolist(),
            **_extent("columns", self.dimension),
            "all_error": [a for a, _ in every], "all_test": [b for _, b in every],
        }  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a row of histograms per mechanism: cross-validated errors, and those on test rows.

        Parameters
        ----------
        ax : array of matplotlib Axes of shape (n_mechanisms, 1 or 2), default=None

        Returns
        -------
        axes : ndarray of matplotlib Axes, shape (n_mechanisms, 2), or 1 column without test rows

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        kinds = [("cross-validated", self.error), ("on test rows", self.test)]
        kinds = kinds if any(map(len, self.test)) else kinds[:1]
        n, m = len(self.mechanism), len(kinds)
        given = axes_of(ax, nrows=n, ncols=m, sharex="col", figsize=(3.6 * m, 1.1 * n + 0.7))
        axes: Any = np.reshape(np.asarray(given), (n, m))
        for k, (kind, errors) in enumerate(kinds):
            whole = [self.reference[name][k] for name in self.mechanism if name in self.reference]
            every = np.concatenate([*errors, whole])
            most = float(np.nanmax(every, initial=0.0)) or 1.0
            for name, own, axis in zip(self.mechanism, errors, axes[:, k], strict=True):
                bars = np.histogram(own[np.isfinite(own)], np.linspace(0.0, most, 41))
                axis.stairs(*bars, fill=True, color="C0", label="models that vote")
                if name in self.reference:
                    axis.axvline(self.reference[name][k], color="C3", ls=":", label="all columns")
                axis.set_yticks([])
            axes[-1, k].set_xlabel(f"{self.measure.replace('_', ' ')}, {kind}")
        for name, axis in zip(self.mechanism, axes[:, 0], strict=True):
            axis.set_ylabel(plain(name))
        axes[0, 0].legend(fontsize=7)
        return axes


def _extent(name: str, values: Sequence[Floats | Indices]) -> ColumnLists:
    """Return the minimum and the maximum of each array; NaN for an empty one."""
    ends = (("least", np.nanmin), ("most", np.nanmax))
    return {
        f"{name}_{end}": [float(of(one)) if np.isfinite(one).any() else math.nan for one in values]
        for end, of in ends
    }


def _errors_of(estimator: Any, X: TableLike | None, y: LabelsLike | None) -> tuple[Floats, float]:
    """Return the errors of each voting model, and of the vote, on test rows."""
    if X is None:
        return np.empty(0), math.nan
    vote, n = estimator.vote_, int(searched_by(estimator).votes.sum())
    truth, values = np.asarray(y), estimator._values(X)
    total, count = np.zeros(n), np.zeros(n)
    step = max(1, _BLOCK // (vote.n_voters * vote.target.n_outputs))
    for start in range(0, len(truth), step):
        rows, own = values[start : start + step], truth[start : start + step, None]
        votes, can = vote.votes(rows)[:, :n], vote.weighting.available(rows)[:, :n]
        if vote.target.kind == "regression":
            lost = (votes[:, :, 0] - own) ** 2
        else:
            answers = vote.target.answers(votes.reshape(-1, votes.shape[2])).reshape(can.shape)
            lost = estimator.classes_[answers] != own
        total, count = total + np.where(can, lost, 0.0).sum(axis=0), count + can.sum(axis=0)
    answers = estimator.predict(X)
    numbers = vote.target.kind == "regression"
    whole = np.mean((answers - truth) ** 2 if numbers else answers != truth)
    with np.errstate(invalid="ignore"):
        return total / count, float(whole)
