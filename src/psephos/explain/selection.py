"""A permutation test of the columns that a model selected."""

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from psephos._errors import PsephosError, must_be_inside
from psephos._types import (
    Array,
    Axes,
    ColumnLists,
    Floats,
    Indices,
    LabelsLike,
    PerRow,
    SeedLike,
    TableLike,
)
from psephos.estimator.input import Context
from psephos.estimator.params import Interval
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import Display
from psephos.explain.errors import searched_by
from psephos.explain.network import entropy_of, voter_usage
from psephos.explain.permuting import constant_within
from psephos.runtime.workers import delayed

_LEVEL = 0.02
_pool: Any = joblib  # it has no types


@dataclass(frozen=True)
class SelectionTest(Display):
    """Statistics of a model's selection on the observed labels and on permuted labels.

    `plot` draws a histogram of the headline statistic on permuted labels, and a line at its
    observed value.

    With s the statistic on the observed labels, s_1 ... s_B those on B permutations, and b the
    number of these that are at most s (low values are strong)::

        p = (1 + b) / (1 + B)

    If labels are independent of the columns, the observed order is as likely as each of the B
    others, so p <= level occurs in at most a share `level` of such tables. p is never 0.

    Source: Phipson and Smyth (2010), "Permutation P-values should never be zero", Statistical
    Applications in Genetics and Molecular Biology 9, for (1 + b) / (1 + B).

    Parameters
    ----------
    names : tuple of str
        Names of the statistics.
    headline : str
        The statistic that decides.
    observed : ndarray of shape (S,)
        Statistics on the observed labels.
    null : ndarray of shape (B, S)
        Statistics on permuted labels.
    permuted : {'rows', 'groups', 'rows within groups'}
        What was permuted.
    """

    names: tuple[str, ...]
    headline: str
    observed: Floats
    null: Floats
    permuted: str

    @property
    def n_permutations(self) -> int:
        """Return the number of permutations, B."""
        return len(self.null)

    @property
    def p_value(self) -> float:
        """Return the p-value of the headline statistic."""
        return float(self.p_values()[self.names.index(self.headline)])

    def p_values(self) -> Floats:
        """Return the unadjusted p-value of every statistic, shape (S,)."""
        return _ranks(np.vstack([self.observed, self.null]))[0]

    def adjusted(self) -> Floats:
        """Return the p-value of every statistic, adjusted for multiple testing, shape (S,).

        P-values are computed for each of the 1 + B label orders as if it were the observed one; the
        adjusted p is the share of orders whose least p is at most the statistic's own.

        Source: Westfall and Young (1993), "Resampling-Based Multiple Testing", section 2.3
        (single-step minP).
        """
        p = _ranks(np.vstack([self.observed, self.null]))
        least = p.min(axis=1)
        return np.mean(least[:, None] <= p[0] + 1e-12, axis=0)

    def is_signal(self, level: float = _LEVEL) -> bool:
        """Return whether the p-value of the headline statistic is at most `level`.

        At the default, .02, one in fifty tables of noise is called a signal, and with the default
        of 99 permutations at most one may be as strong as the observed labels. At .05, one in
        twenty tables of noise is called a signal. At .01 no permutation may be as strong, so a
        single lucky one hides a true signal.

        Parameters
        ----------
        level : float, default=0.02
            In (0, 1).

        Raises
        ------
        PsephosError
            If p cannot be so small with this number of permutations.
        """
        must_be_inside("level", level)
        if level * (1 + self.n_permutations) < 1 - 1e-9:
            raise PsephosError(
                f"level must be at least {1 / (1 + self.n_permutations):.2g}, the least p of "
                f"{self.n_permutations} permutations; got {level:g}: use n_permutations="
                f"{int(np.ceil(1 / level - 1e-9)) - 1} or more."
            )
        return self.p_value <= level + 1e-12

    def table(self) -> ColumnLists:
        """Return one entry per statistic.

        Keys: ``statistic``, ``observed``, ``null_low``, ``null_median``, ``null_high`` (quantiles
        .05, .5 and .95 of the permutations), ``p_value``, ``adjusted``, ``headline``.
        """
        low, middle, high = np.quantile(self.null, [0.05, 0.5, 0.95], axis=0)
        return {
            "statistic": list(self.names),
            "observed": self.observed.tolist(),
            "null_low": low.tolist(),
            "null_median": middle.tolist(),
            "null_high": high.tolist(),
            "p_value": self.p_values().tolist(),
            "adjusted": self.adjusted().tolist(),
            "headline": [name == self.headline for name in self.names],
        }

    def sentence(self, level: float = _LEVEL) -> str:
        """Return the result of the test as a sentence.

        Parameters
        ----------
        level : float, default=0.02
            As for `is_signal`.
        """
        where = self.names.index(self.headline)
        b = round(self.p_value * (1 + self.n_permutations)) - 1
        words = "signal" if self.is_signal(level) else "no more than noise would show"
        return (
            f"{words}: {self.headline.replace('_', ' ')} {self.observed[where]:.3g}, as low in {b} "
            f"of {self.n_permutations} permutations of {self.permuted} (p = {self.p_value:.2g}, "
            f"level {level:g})."
        )

    def _draw(self, axes: Axes) -> None:
        where = self.names.index(self.headline)
        axes.hist(self.null[:, where], bins=20, color="0.6", label="permuted labels")
        axes.axvline(self.observed[where], color="C3", label="observed labels")
        axes.set_xlabel(self.headline.replace("_", " "))
        axes.set_yticks([])
        axes.set_title(f"p = {self.p_value:.2g}, {self.n_permutations} permutations")
        axes.legend(fontsize=8)


def _ranks(values: Floats) -> Floats:
    """Return the share of the (1 + B, S) rows that are at most each row, allowing for rounding."""
    slack = 1e-9 * np.maximum(1.0, np.abs(values))
    ordered = np.sort(values, axis=0)
    counts = [
        np.searchsorted(ordered[:, s], values[:, s] + slack[:, s], side="right")
        for s in range(values.shape[1])
    ]
    return np.stack(counts, axis=1) / len(values)


# ---------------------------------------------------------------------- the test
def selection_test(
    estimator: VoteEstimator,
    X: TableLike,
    y: LabelsLike,
    *,
    n_permutations: int = 99,
    statistic: str | Callable[[Any], float] | None = None,
    groups: PerRow = None,
    random_state: SeedLike = None,
    n_jobs: int | None = None,
) -> SelectionTest:
    """Test whether a model's selection of columns is stronger than those from permuted labels.

    A clone of the estimator is fitted, with its whole search, on the labels and on each of
    `n_permutations` permutations of them, which are drawn without replacement.

    Parameters
    ----------
    estimator : estimator of psephos
        Fitted or not; it is not changed.
    X : table of shape (n, p)
    y : array of shape (n,)
    n_permutations : int, default=99
        B; at least 49 for the default level, .02.
    statistic : str or callable, default=None
        The headline statistic; low values are strong:

        - 'strong_error' (None, for a wrapper): the mean cross-validated error of the strong
          models of the dimension with the lowest median error;
        - 'lowest_error': the lowest cross-validated error of the whole search;
        - 'median_error': the lowest, over dimensions, of the median error of all candidates;
        - 'strong_entropy': the Shannon entropy of the columns' shares of all uses by strong models
          of a wrapper;
        - 'entropy' (None, for other estimators): the same for the voters; ln p if they read no
          column.

        Every statistic that the estimator has is computed and listed. A callable takes a fitted
        estimator, returns a number, and is listed as 'own'.
    groups : array of shape (n,), default=None
        Passed to `fit`. If labels are constant within groups, the labels of whole groups are
        permuted, since groups are then exchangeable, not rows; otherwise labels are permuted
        within groups, which tests whether columns distinguish rows of the same group.
    random_state : int, RandomState or None, default=None
        Seed of the permutations. All fits use the estimator's own seed.
    n_jobs : int, default=None
        Parallel fits, as in joblib; the result does not depend on it.

    Returns
    -------
    test : SelectionTest

    Raises
    ------
    PsephosError
        If the estimator is not of psephos, a parameter is invalid, or no permutation changes the
        labels.

    Warns
    -----
    UserWarning
        If there are not more orders of the labels than permutations.

    Notes
    -----
    The errors of a search are minima over many candidates and hard to judge by themselves; the
    search on permuted labels is the same, so their errors can be compared.

    The authors' later program (swaglm, R) has a test of this kind. Ours corrects three points: its
    entropy is computed from a table that includes the column numbers beside their frequencies, so
    it depends on the order of the columns; it draws labels with replacement, which changes the
    class counts; and it smooths the null distribution, so p may be 0.

    The default statistics were chosen by measurement (benchmarks/quality/noise_called_noise.py):
    entropy is weak, since a search concentrates on lucky columns, too; with few rows the lowest
    error often ties with those of permutations; the mean of the strong models rarely does. To
    choose the statistic with the least p afterwards, use `SelectionTest.adjusted`.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import SparseWrapperClassifier
    >>> from psephos.explain import selection_test
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 50)), np.repeat([0, 1], 30)
    >>> swag = SparseWrapperClassifier("lda", p_max=2, n_folds=5, random_state=0)
    >>> selection_test(swag, X, y, random_state=0).is_signal()
    False
    """
    if not hasattr(estimator, "usage"):
        raise PsephosError(
            f"estimator must be of psephos, with a usage method; got {type(estimator).__name__}."
        )
    if not Interval(1, whole=True).allows(n_permutations):
        raise PsephosError(
            f"n_permutations must be a whole number above 0; got {n_permutations!r}."
        )
    labels = column_or_1d(y)
    own = statistic if callable(statistic) else None
    first = _measured(estimator, X, labels, groups, own)  # raises if it cannot be fitted
    headline = _headline(statistic, first)
    orders = _orders(labels, groups)
    if orders.n_orders < 1 + n_permutations:
        warnings.warn(
            f"permuting {orders.permuted} gives only {orders.n_orders:.0f} orders of the labels, "
            f"fewer than 1 + {n_permutations}: p cannot be small.",
            UserWarning,
            stacklevel=2,
        )
    context = Context(np.random.SeedSequence(check_random_state(random_state).randint(2**31 - 1)))
    task = delayed(_away)
    shuffled = (labels[orders.draw(context.generator(b))] for b in range(int(n_permutations)))
    with warnings.catch_warnings():  # the fit on the observed labels has raised them already
        warnings.simplefilter("ignore")
        found: list[dict[str, float]] = _pool.Parallel(n_jobs=n_jobs)(
            task(os.getpid(), estimator, X, one, groups, own) for one in shuffled
        )
    null = np.array([[one[name] for name in first] for one in found])
    return SelectionTest(
        tuple(first), headline, np.array(list(first.values())), null, orders.permuted
    )


# ---------------------------------------------------------------------- orders of labels
class _Orders(NamedTuple):
    """The permutations of labels that are allowed.

    blocks : positions of rows (with `units`, of groups) among which labels are permuted
    units : the group of each row, if whole groups are permuted
    first : a row of each group, if whole groups are permuted
    n_orders : the number of different label vectors (inf if very many)
    """

    permuted: str
    blocks: list[Indices]
    units: Indices | None
    first: Indices | None
    n_orders: float

    def draw(self, rng: np.random.Generator) -> Indices:
        """Return, for each row, the row whose label it takes."""
        taken = np.arange(sum(len(block) for block in self.blocks))
        for block in self.blocks:
            taken[block] = rng.permutation(block)
        if self.units is None or self.first is None:
            return taken
        return self.first[taken][self.units]


def _orders(labels: Array, groups: PerRow) -> _Orders:
    codes = np.unique(labels, return_inverse=True)[1]
    if groups is None:
        return _made("rows", codes, [np.arange(len(codes))])
    named = np.asarray(groups)
    if named.shape != labels.shape:
        raise PsephosError(f"groups must have one group per row; got shape {named.shape}.")
    _, first, units = np.unique(named, return_index=True, return_inverse=True)
    if constant_within(named, codes):
        return _made("groups", codes[first], [np.arange(len(first))], units, first)
    return _made(
        "rows within groups", codes, [np.flatnonzero(units == g) for g in range(len(first))]
    )


def _made(
    permuted: str,
    codes: Indices,
    blocks: list[Indices],
    units: Indices | None = None,
    first: Indices | None = None,
) -> _Orders:
    """Return the orders, with n! / (n_1! n_2! ...) label vectors for each block."""
    logs = 0.0
    for block in blocks:
        logs += math.lgamma(len(block) + 1)
        logs -= sum(math.lgamma(n + 1) for n in np.bincount(codes[block]).tolist())
    count = float(round(math.exp(logs))) if logs < 30 else math.inf
    if count < 2:
        raise PsephosError(
            f"no permutation of {permuted} changes the labels: there is nothing to test."
        )
    return _Orders(permuted, blocks, units, first, count)


# ---------------------------------------------------------------------- statistics
def _measured(
    estimator: VoteEstimator,
    X: TableLike,
    y: Array,
    groups: PerRow,
    own: Callable[[Any], float] | None,
) -> dict[str, float]:
    """Return the statistics of a clone fitted to these labels."""
    model: Any = clone(estimator)
    quiet = {"folder": None, "verbose": False}  # a saved search of other labels must not be resumed
    model.set_params(**{k: v for k, v in quiet.items() if k in model.get_params(deep=False)})
    model.fit(X, y) if groups is None else model.fit(X, y, groups=groups)
    library = searched_by(model)
    found = {} if library is None else _of_search(library)
    found["entropy"] = _entropy(voter_usage(model))
    if own is not None:
        found["own"] = float(own(model))
    return found


def _of_search(library: Any) -> dict[str, float]:
    seen = library.dimensions
    best = seen.dimension[np.argmin(seen.median)]  # the first of equals: the smallest dimension
    return {
        "strong_error": float(library.error[library.dimension == best].mean()),
        "lowest_error": float(seen.best.min()),
        "median_error": float(seen.median.min()),
        "strong_entropy": _entropy(library.usage()),
    }


def _entropy(usage: Any) -> float:
    counts = np.asarray(usage.sum(axis=0), dtype=np.float64).ravel()
    return entropy_of(counts) if counts.any() else math.log(len(counts))


def _away(home: int, *args: Any) -> dict[str, float]:
    """Return `_measured`; in a process other than `home`, without its warnings."""
    if os.getpid() == home:
        return _measured(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _measured(*args)


def _headline(statistic: Any, found: dict[str, float]) -> str:
    if callable(statistic):
        return "own"
    headline = next(iter(found)) if statistic is None else statistic
    if headline not in found:
        raise PsephosError(
            f"statistic must be a function of a fitted estimator, or one of "
            f"{', '.join(map(repr, found))}; got {statistic!r}."
        )
    return headline
