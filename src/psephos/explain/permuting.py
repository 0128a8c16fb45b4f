"""The permutations of `selection_test`: who changes places with whom, and the fits on them."""

import math
import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from psephos._errors import PsephosError
from psephos._input import Context
from psephos._workers import delayed
from psephos.explain.errors import searched_by
from psephos.explain.network import entropy_of, voter_usage
from psephos.explain.selection import SelectionTest
from psephos.params import Interval

__all__ = ["selection_test"]

_Floats = NDArray[np.float64]
_pool: Any = joblib  # it has no types


def selection_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 99,
    statistic: str | Callable[[Any], float] | None = None,
    groups: Any = None,
    random_state: Any = None,
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
    blocks: list[NDArray[np.intp]]
    units: NDArray[np.intp] | None
    first: NDArray[np.intp] | None
    n_orders: float

    def draw(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return for each row the row whose label it gets."""
        taken = np.arange(sum(len(block) for block in self.blocks))
        for block in self.blocks:
            taken[block] = rng.permutation(block)
        if self.units is None or self.first is None:
            return taken
        return self.first[taken][self.units]


def _orders(labels: NDArray[Any], groups: Any) -> _Orders:
    codes = np.unique(labels, return_inverse=True)[1]
    if groups is None:
        return _made("rows", codes, [np.arange(len(codes))])
    named = np.asarray(groups)
    if named.shape != labels.shape:
        raise PsephosError(f"groups has shape {named.shape}: give one group per row.")
    _, first, units = np.unique(named, return_index=True, return_inverse=True)
    if (codes == codes[first][units]).all():
        return _made("groups", codes[first], [np.arange(len(first))], units, first)
    return _made(
        "rows within groups", codes, [np.flatnonzero(units == g) for g in range(len(first))]
    )


def _made(
    permuted: str,
    codes: NDArray[np.intp],
    blocks: list[NDArray[np.intp]],
    units: NDArray[np.intp] | None = None,
    first: NDArray[np.intp] | None = None,
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
    estimator: Any, X: Any, y: NDArray[Any], groups: Any, own: Callable[[Any], float] | None
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
