"""The share of positive rows among unlabelled ones, estimated."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from psephos._errors import PsephosError
from psephos._types import Array, Floats
from psephos.estimator.labels import read_groups, read_sample_weight
from psephos.estimator.members import check_probabilities, needed_weight_parameter
from psephos.estimator.params import Accepts, Constraint, Interval, Several, Voter, check_params
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.supervision.grids import read_numbers

_ERRORS = 2.0  # an estimate within this many standard errors of 1 is doubtful
_SHARE = Interval(0, 1, open_low=True, open_high=True)


def _is_clip(value: Any) -> bool:
    two = Several(_SHARE).allows(value) and len(value) == 2
    return two and value[0] < value[1]


@parameters
class ElkanNotoPrior(BaseEstimator):
    """The class prior by the first estimator of Elkan and Noto, cross-fitted.

    A classifier s(x) separates labelled positives from unlabelled rows; s of each row comes from a
    model that was not fitted on it. With c the mean of s over the labelled positives::

        prior = n_P (1 - c) / (n_U c)

    is the share of positives among the unlabelled rows. It is exact if the classes do not overlap
    and s is well specified. If they overlap it is too large, and far too large with many columns
    and few rows: held-out positives then look like unlabelled rows, the estimate reaches its upper
    clip, and a warning is given. Labelled positives must be a random sample of all positives
    (case-control, or a single sample in which some positives are labelled).

    Parameters
    ----------
    estimator : classifier with predict_proba
        s. None: scikit-learn's logistic regression with the penalty `alpha`.
    n_folds : int
        Number of folds; at most the number of rows (or groups) of either kind.
    alpha : float
        Penalty of the default estimator: ``mean log-loss + alpha |w|^2``.
    clip : tuple of two floats
        (low, high), the range to which the estimate is clipped.
    random_state : int, RandomState or None
        Seed of the folds.

    Attributes
    ----------
    prior_ : float
        The estimate, within `clip`.
    c_ : float
        P(labelled | positive) in the sample of both parts together.
    raw_ : float
        The estimate before `clip`; it may be above 1.
    clipped_ : bool
        Whether it was outside `clip`.
    doubtful_ : bool
        Whether it was clipped, or is above 1 less two standard errors.
    error_ : float
        Its standard error, from the spread of s over the labelled positives only.

    Warns
    -----
    UserWarning
        If the estimate is doubtful (`doubtful_`).

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
        "alpha": Interval(0, open_low=True),
        "clip": Accepts(_is_clip, "two shares, 0 < low < high < 1"),
    }

    estimator: Any = None
    _: KW_ONLY
    n_folds: int = 5
    alpha: float = 1e-3
    clip: tuple[float, float] = (0.05, 0.95)
    random_state: Any = None
    prior_: float = fitted()
    c_: float = fitted()
    raw_: float = fitted()
    error_: float = fitted()
    clipped_: bool = fitted()
    doubtful_: bool = fitted()

    def fit(
        self,
        positive: Any,
        unlabelled: Any,
        weights: tuple[Any, Any] = (None, None),
        groups: Array | None = None,
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
            If a part has fewer than two rows with weight above 0, rows cannot be split into folds,
            or a parameter is invalid.
        """
        check_params(self, self.constraints)
        low, high = self.clip
        parts = [read_numbers(part, gaps=True) for part in (positive, unlabelled)]
        given = [read_sample_weight(w, len(p)) for w, p in zip(weights, parts, strict=True)]
        named = read_groups(groups, len(parts[0]) + len(parts[1]))
        kept = [w > 0 for w in given]
        named = None if named is None else named[np.concatenate(kept)]
        parts = [part[rows] for part, rows in zip(parts, kept, strict=True)]
        given = [w[rows] for w, rows in zip(given, kept, strict=True)]
        share, mass = self._held_out(parts, given, named), [float(w.sum()) for w in given]
        self.c_ = float(given[0] @ share) / mass[0]
        least = max(self.c_, np.finfo(float).tiny)
        self.raw_ = mass[0] / mass[1] * (1.0 - self.c_) / least
        spread = float(np.sqrt(given[0] ** 2 @ (share - self.c_) ** 2)) / mass[0]
        self.error_ = mass[0] / mass[1] * spread / least**2  # d raw / d c = -n_P / (n_U c^2)
        self.clipped_ = not low <= self.raw_ <= high
        self.prior_ = float(np.clip(self.raw_, low, high))
        near = self.raw_ + _ERRORS * self.error_ >= 1.0
        self.doubtful_ = self.clipped_ or near
        if self.doubtful_:
            self._warn(near)
        return self

    def _warn(self, near: bool) -> None:
        """Warn of an estimate that was clipped, or is near 1."""
        why = f"it is outside of clip={self.clip}"
        if near:
            why = "rows with a label and rows without one are barely distinguishable"
        elif self.raw_ < self.clip[0]:
            why = "almost no row without a label resembles those with one"
        used = f", and {self.prior_:g} is used" if self.clipped_ else ""
        warnings.warn(
            f"the class prior is estimated as {self.raw_:.3g} +- {self.error_:.2g}{used}: {why}. "
            "Predictions depend on it: give the share of positives among the rows without a label "
            "if it is known (prior=; psephos compare --prior, psephos fit --set prior=).",
            UserWarning,
            stacklevel=2,
        )

    def _held_out(self, parts: list[Floats], given: list[Floats], named: Any) -> Floats:
        """Return s(x) of each positive row, by a model that was not fitted on it."""
        X, weight = np.vstack(parts), np.concatenate(given)
        labelled = np.repeat([1, 0], [len(part) for part in parts])
        units = min(len(part) for part in parts)
        if named is not None:
            units = min(len(np.unique(named[labelled == k])) for k in (0, 1))
        folds = min(self.n_folds, units)
        if folds < 2:
            raise PsephosError(
                "the class prior cannot be estimated: it needs two rows (or groups) with weight "
                "above 0 of both labelled positives and unlabelled rows. Give the prior."
            )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        kind: Any = StratifiedKFold if named is None else StratifiedGroupKFold
        cut = kind(folds, shuffle=True, random_state=seed)
        out = np.empty(len(X))
        for train, test in cut.split(X, labelled, named):
            if len(np.unique(labelled[train])) < 2:
                raise PsephosError(
                    "the class prior cannot be estimated: the groups leave no positive, or no "
                    "unlabelled, row to train on. Give the prior."
                )
            model = self._fitted(X[train], labelled[train], weight[train])
            out[test] = model.predict_proba(X[test])[:, 1]
        return out[labelled == 1]

    def _fitted(self, X: Floats, labelled: Array, weight: Floats) -> Any:
        """Return the classifier fitted on these rows; equal weights are not passed on."""
        if self.estimator is None:
            C = 1.0 / (2.0 * float(weight.sum()) * self.alpha)
            return LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(X, labelled, weight)
        model: Any = clone(self.estimator)
        equal = (weight == weight[0]).all()
        model.fit(X, labelled, **({} if equal else {needed_weight_parameter(model): weight}))
        check_probabilities(model)
        return model
