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

_ERRORS = 2.0  # standard errors that a doubtful estimate is from 1


_SHARE = Interval(0, 1, open_low=True, open_high=True)


def _is_clip(value: Any) -> bool:
    two = Several(_SHARE).allows(value) and len(value) == 2
    return two and value[0] < value[1]


@parameters
class ElkanNotoPrior(BaseEstimator):
    """The class prior by the first estimator of Elkan and Noto, cross-fitted.

    A classifier s(x) tells labelled positives from unlabelled rows; each row is read by one that
    was not fitted on it. With c the mean of s over the labelled positives::

        prior = n_P (1 - c) / (n_U c)

    is the share of positives among the unlabelled rows. It is exact where the classes do not
    overlap and s is well specified. Where they overlap it is too large, and by far where columns
    are many beside the rows: held-out positives then look like unlabelled rows, and the estimate
    is at its upper clip, which is told by a warning. Labelled positives are taken to be drawn from
    all positives (case-control, or a single sample of which some positives are labelled).

    Parameters
    ----------
    estimator : classifier with predict_proba
        None: scikit-learn's logistic regression with the penalty `alpha`.
    n_folds : int
        Fewer where there are fewer rows (or groups) of either kind.
    alpha : float
        Penalty of the default: ``mean log-loss + alpha |w|^2``.
    clip : tuple of two floats
        The estimate is not taken outside of (low, high).
    random_state : int, RandomState or None
        Of the folds.

    Attributes
    ----------
    prior_ : float
        The estimate, within `clip`.
    c_ : float
        P(labelled | positive) in the sample of both parts together.
    raw_ : float
        The estimate before `clip`; above 1 it is no share.
    clipped_ : bool
        Whether it was outside `clip`.
    doubtful_ : bool
        Whether it was clipped, or is within two standard errors of 1.
    error_ : float
        Its standard error, from the spread of s over the labelled positives alone.

    Warns
    -----
    UserWarning
        If the estimate was clipped, or is within two standard errors of 1, where it says nothing.

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
            If a part has fewer than two rows of weight, rows cannot be divided, or a parameter is
            wrong.
        """
        check_params(self, self.constraints)
        low, high = self.clip
        parts = [read_numbers(part, gaps=True) for part in (positive, unlabelled)]
        given = [read_sample_weight(w, len(p)) for w, p in zip(weights, parts, strict=True)]
        named = read_groups(groups, len(parts[0]) + len(parts[1]))
        heavy = [own > 0 for own in given]  # a row of weight 0 is not there
        named = None if named is None else named[np.concatenate(heavy)]
        parts = [part[own] for part, own in zip(parts, heavy, strict=True)]
        given = [part[own] for part, own in zip(given, heavy, strict=True)]
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
            self._tell(near)
        return self

    def _tell(self, near: bool) -> None:
        """Warn that the estimate is no share, or hardly one."""
        why = f"that is outside of clip={self.clip}"
        if near:
            why = "rows with a label are hardly told from those without"
        elif self.raw_ < self.clip[0]:
            why = "hardly a row without a label looks like those with one"
        used = f", and {self.prior_:g} is used" if self.clipped_ else ""
        warnings.warn(
            f"the class prior is estimated as {self.raw_:.3g} +- {self.error_:.2g}{used}: {why}. "
            "Answers depend on it: give the share of positives among the rows without a label if "
            "it is known (prior=; psephos compare --prior, psephos fit --set prior=).",
            UserWarning,
            stacklevel=2,
        )

    def _held_out(self, parts: list[Floats], given: list[Floats], named: Any) -> Floats:
        """Return s(x) of the positive rows, each by a model that was not fitted on it."""
        X, weight = np.vstack(parts), np.concatenate(given)
        labelled = np.repeat([1, 0], [len(part) for part in parts])
        units = min(len(part) for part in parts)
        if named is not None:
            units = min(len(np.unique(named[labelled == k])) for k in (0, 1))
        folds = min(self.n_folds, units)
        if folds < 2:
            raise PsephosError(
                "the class prior cannot be estimated: it takes two rows (or groups) of weight of "
                "both labelled positives and unlabelled rows; give the prior."
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
            model = self._fitted(X[train], labelled[train], weight[train])
            out[test] = model.predict_proba(X[test])[:, 1]
        return out[labelled == 1]

    def _fitted(self, X: Floats, labelled: Array, weight: Floats) -> Any:
        """Return the classifier of these rows; equal weights are not passed to `estimator`."""
        if self.estimator is None:
            C = 1.0 / (2.0 * float(weight.sum()) * self.alpha)
            return LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(X, labelled, weight)
        model: Any = clone(self.estimator)
        equal = (weight == weight[0]).all()
        model.fit(X, labelled, **({} if equal else {needed_weight_parameter(model): weight}))
        check_probabilities(model)
        return model
