"""Is there anything in the columns a model selected? A permutation test of the selection."""

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
    """What a model's selection shows on the labels given, and on permuted labels.

    `plot` draws the headline on permuted labels as a histogram, and on those given as a line.

    With s the statistic on the labels given, s_1 ... s_B on B permutations of them, and b of
    those at most s (low is strong)::

        p = (1 + b) / (1 + B)

    The labels given are one of the 1 + B orders that would be equally likely if labels and
    columns had nothing in common, so p <= level happens in at most a share `level` of the tables
    of noise, and p is never 0.

    Source: Phipson and Smyth (2010), "Permutation P-values should never be zero", Statistical
    Applications in Genetics and Molecular Biology 9, for (1 + b) / (1 + B).

    Parameters
    ----------
    names : tuple of str
        The statistics.
    headline : str
        The one that decides.
    observed : ndarray of shape (S,)
    null : ndarray of shape (B, S)
    permuted : {'rows', 'groups', 'rows within groups'}
        What changed places.
    """

    names: tuple[str, ...]
    headline: str
    observed: Floats
    null: Floats
    permuted: str

    @property
    def n_permutations(self) -> int:
        """Return B."""
        return len(self.null)

    @property
    def p_value(self) -> float:
        """Return p of the headline statistic."""
        return float(self.p_values()[self.names.index(self.headline)])

    def p_values(self) -> Floats:
        """Return p of every statistic by itself, shape (S,)."""
        return _ranks(np.vstack([self.observed, self.null]))[0]

    def adjusted(self) -> Floats:
        """Return p of every statistic for a reader who looks at all of them, shape (S,).

        The least of several p is small more often than each. Every permutation is given p-values
        as if it were the labels given; adjusted p is the share of the 1 + B orders whose least p
        is at most the statistic's own. With B permutations it is coarser than p.

        Source: Westfall and Young (1993), "Resampling-Based Multiple Testing", section 2.3
        (single-step minP).
        """
        p = _ranks(np.vstack([self.observed, self.null]))
        least = p.min(axis=1)
        return np.mean(least[:, None] <= p[0] + 1e-12, axis=0)

    def is_signal(self, level: float = _LEVEL) -> bool:
        """Return whether the headline's p is at most `level`.

        At .05, one table of noise in twenty is called signal, and a network that is drawn looks
        convincing whether or not it is. At the default, .02, it is one in fifty, so that of 100
        tables of noise more than five are called signal with a chance of .015; with the default
        of 99 permutations at most one of them may be as strong as the labels given. At .01 none
        may, and planted columns are lost to a single lucky permutation.

        Parameters
        ----------
        level : float, default=0.02
            In (0, 1).

        Raises
        ------
        PsephosError
            If no p can be so small with this number of permutations.
        """
        must_be_inside("level", level)
        if level * (1 + self.n_permutations) < 1 - 1e-9:
            raise PsephosError(
                f"with {self.n_permutations} permutations p is at least "
                f"{1 / (1 + self.n_permutations):.2g}, never {level:g}: use n_permutations="
                f"{int(np.ceil(1 / level - 1e-9)) - 1} or more."
            )
        return self.p_value <= level + 1e-12

    def table(self) -> ColumnLists:
        """Return one entry a statistic.

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
        """Return the answer in words.

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
        axes.axvline(self.observed[where], color="C3", label="the labels given")
        axes.set_xlabel(self.headline.replace("_", " "))
        axes.set_yticks([])
        axes.set_title(f"p = {self.p_value:.2g}, {self.n_permutations} permutations")
        axes.legend(fontsize=8)


def _ranks(values: Floats) -> Floats:
    """Return for each row of (1 + B, S) the share of rows at most it; equal but for rounding is."""
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
    """Return how a model's selection compares with those from permuted labels.

    The estimator is fitted (a clone of it, with all its search) on the labels given and on
    `n_permutations` permutations of them: every label is used once, as the test's null
    hypothesis has it.

    Parameters
    ----------
    estimator : estimator of psephos
        Fitted or not; it is left as it is.
    X : table of shape (n, p)
    y : array of shape (n,)
    n_permutations : int, default=99
        B. At the default level, .02, it must be at least 49.
    statistic : str or callable, default=None
        What decides; low is strong:

        - 'strong_error' (None, for a wrapper): the mean cross-validated error of the strong
          models of the dimension with the lowest median error;
        - 'lowest_error': the lowest cross-validated error of the whole search;
        - 'median_error': the lowest, over dimensions, of the median error of all candidates;
        - 'strong_entropy': the Shannon entropy of the shares of the columns in what all strong
          models of a wrapper read;
        - 'entropy' (None, for other estimators): the same of the voters; ln p if they read
          nothing.

        Every statistic that the estimator has is computed and listed. A callable takes a fitted
        estimator, returns a number, and is listed as 'own'.
    groups : array of shape (n,), default=None
        Passed on to `fit`. If labels are constant within groups, whole groups swap their labels
        (groups, not rows, are then what is exchangeable); if they are not, rows swap labels
        within their group only, which tests whether columns distinguish rows of one group.
    random_state : int, RandomState or None, default=None
        Of the permutations. The estimator's own seed is its own, and the same for all fits.
    n_jobs : int, default=None
        Fits at the same time, as in joblib; the result does not depend on it.

    Returns
    -------
    test : SelectionTest

    Raises
    ------
    PsephosError
        If the estimator does not say what its voters read, a parameter cannot be used, or no
        permutation changes the labels.

    Warns
    -----
    UserWarning
        If there are fewer orders of the labels than permutations.

    Notes
    -----
    The errors of a search are minima over many candidates and say little by themselves; a
    permuted table is searched as hard, so that they may be compared with its errors.

    The authors' later program (swaglm, R) has a test of this kind. Ours differs in what was
    wrong there: its entropy is taken of a table in which the numbers of the columns stand beside
    their frequencies, so that it depends on the order of the table; it draws labels with
    replacement, which changes the class counts and is no permutation; and it smooths the null so
    that p may be 0.

    Which statistic decides was measured (benchmarks/quality/noise_called_noise.py): entropy is
    weak, since a search concentrates on lucky columns too; the lowest error of few rows is often
    tied with those of permutations; the mean of the strong models' is rarely tied. To choose the
    statistic with the least p after looking, use `SelectionTest.adjusted`.

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
            f"{type(estimator).__name__} does not say what its voters read: give an estimator of "
            "psephos."
        )
    if not Interval(1, whole=True).allows(n_permutations):
        raise PsephosError(f"n_permutations is {n_permutations!r}: give a whole number above 0.")
    labels = column_or_1d(y)
    own = statistic if callable(statistic) else None
    first = _measured(estimator, X, labels, groups, own)  # refuses what cannot be fitted
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
    with warnings.catch_warnings():  # the labels given have raised them already
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
    """Which rows' labels may change places.

    blocks : row positions among which labels move; with `units`, positions of groups
    units : the group of each row, if whole groups change places
    n_orders : how many different label vectors there are (inf if very many)
    """

    permuted: str
    blocks: list[Indices]
    units: Indices | None
    first: Indices | None
    n_orders: float

    def draw(self, rng: np.random.Generator) -> Indices:
        """Return for each row the row whose label it gets."""
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
        raise PsephosError(f"groups has shape {named.shape}: give one group per row.")
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
            f"no permutation of {permuted} changes the labels: nothing can be tested."
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
    quiet = {"folder": None, "verbose": False}  # a search of other labels is no search to resume
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
            f"statistic is {statistic!r}; this estimator has {', '.join(map(repr, found))}, or "
            "give a function of a fitted estimator."
        )
    return headline
