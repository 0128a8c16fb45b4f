"""The share of positive rows among unlabelled ones, estimated."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from psephos._errors import PsephosError
from psephos._labels import read_groups, read_sample_weight
from psephos.params import Constraint, Interval, Seed, Voter, check_params
from psephos.supervision.grids import read_numbers

__all__ = ["ElkanNotoPrior"]

_Floats = NDArray[np.float64]


class ElkanNotoPrior(BaseEstimator):
    """The class prior by the first estimator of Elkan and Noto, cross-fitted.

    A classifier s(x) tells labelled positives from unlabelled rows; each row is read by one that
    was not fitted on it. With c the mean of s over the labelled positives::

        prior = n_P (1 - c) / (n_U c)

    is the share of positives among the unlabelled rows. It is exact where the classes do not
    overlap and s is well specified; where they overlap it is too large, and where columns are many
    beside the rows by far: held-out positives then look like unlabelled rows, and the estimate is
    at its upper clip. So look at what a prior .1 more or less would change.

    Parameters
    ----------
    estimator : classifier with predict_proba, default=None
        None: scikit-learn's logistic regression with the penalty `alpha`.
    n_folds : int, default=5
        Fewer where there are fewer rows (or groups) of either kind.
    alpha : float, default=1e-3
        Penalty of the default: mean log-loss + alpha |w|^2.
    clip : tuple of two floats, default=(.05, .95)
        The estimate is not taken outside.
    random_state : int, RandomState or None, default=None
        Of the folds.

    Attributes
    ----------
    prior_ : float
    c_ : float
        P(labelled | positive) in the sample of both parts together.
    clipped_ : bool
        Whether the estimate was outside `clip`.

    References
    ----------
    Elkan & Noto (2008), "Learning classifiers from only positive and unlabeled data", KDD,
    section 2.1 (e1).

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.supervision import ElkanNotoPrior
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(4, 1, (200, 1))
    >>> mixed = np.r_[rng.normal(4, 1, (120, 1)), rng.normal(-4, 1, (280, 1))]
    >>> bool(abs(ElkanNotoPrior(random_state=0).fit(positive, mixed).prior_ - 0.3) < 0.05)
    True
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "estimator": Voter(),
        "n_folds": Interval(2, whole=True),
        "alpha": Interval(0, open_low=True),
        "random_state": Seed(),
    }
    prior_: float
    c_: float
    clipped_: bool

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        alpha: float = 1e-3,
        clip: tuple[float, float] = (0.05, 0.95),
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.alpha = alpha
        self.clip = clip
        self.random_state = random_state

    def fit(
        self,
        positive: Any,
        unlabelled: Any,
        weights: tuple[Any, Any] = (None, None),
        groups: Any = None,
    ) -> Self:
        """Estimate the prior.

        Parameters
        ----------
        positive, unlabelled : array of shape (n_rows, n_features)
        weights : tuple of two arrays, default=(None, None)
        groups : array of shape (n_positive + n_unlabelled,), default=None
            Rows of one group, of either part, are held out together.

        Raises
        ------
        PsephosError
            If a part has fewer than two rows, or rows cannot be divided.
        """
        check_params(self, self.constraints)
        low, high = self.clip
        if not 0 < low < high < 1:
            raise PsephosError(f"clip is {self.clip}: two shares, 0 < low < high < 1.")
        parts = [read_numbers(part, gaps=True) for part in (positive, unlabelled)]
        given = [read_sample_weight(w, len(p)) for w, p in zip(weights, parts, strict=True)]
        mass = [float(w.sum()) for w in given]
        self.c_ = float(given[0] @ self._held_out(parts, given, groups)) / mass[0]
        found = mass[0] * (1.0 - self.c_) / max(mass[1] * self.c_, np.finfo(float).tiny)
        self.clipped_ = not low <= found <= high
        self.prior_ = float(np.clip(found, low, high))
        return self

    def _held_out(self, parts: list[_Floats], given: list[_Floats], groups: Any) -> _Floats:
        """Return s(x) of the positive rows, each by a model that was not fitted on it."""
        X, weight = np.vstack(parts), np.concatenate(given)
        labelled = np.repeat([1, 0], [len(part) for part in parts])
        named = read_groups(groups, len(X))
        units = min(len(part) for part in parts)
        if named is not None:
            units = min(len(np.unique(named[labelled == k])) for k in (0, 1))
        folds = min(self.n_folds, units)
        if folds < 2:
            raise PsephosError(
                "the class prior cannot be estimated: it takes two rows (or groups) of both "
                "labelled positives and unlabelled rows; give the prior."
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kind: Any = StratifiedKFold if named is None else StratifiedGroupKFold
        cut = kind(folds, shuffle=True, random_state=seed)
        out = np.empty(len(X))
        for train, test in cut.split(X, labelled, named):
            if len(np.unique(labelled[train])) < 2:
                raise PsephosError(
                    "the class prior cannot be estimated: the groups leave no positive, or no "
                    "unlabelled, row to train on; give the prior."
                )
            model = self._model(float(weight[train].sum()))
            model.fit(X[train], labelled[train], sample_weight=weight[train])
            out[test] = model.predict_proba(X[test])[:, 1]
        return out[labelled == 1]

    def _model(self, mass: float) -> Any:
        if self.estimator is not None:
            return clone(self.estimator)
        return LogisticRegression(C=1.0 / (2.0 * mass * self.alpha), max_iter=1000, tol=1e-6)
