"""Bagging: one kind of model, fitted on samples of rows, of columns, or both."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import Nullable
from psephos.models.committees.bag_memory import BagMemory
from psephos.models.committees.bagging_fit import Bag, fit_bag
from psephos.models.committees.fitting import Data
from psephos.models.committees.naming import MEMBER
from psephos.models.ensemble import Ensemble
from psephos.models.sampling import OUT_OF_BAG
from psephos.models.tree import CARTClassifier, CARTRegressor
from psephos.models.uncertainty import ClassifierUncertaintyMixin, RegressorUncertaintyMixin
from psephos.vote import Vote

_Floats = NDArray[np.float64]
_PART = OneOf((Interval(1, whole=True), Interval(0, 1, open_low=True)))
_VOTERS = ("nested voters", "joined voters", "tree voters", "linear voters", "naive Bayes voters")


@parameters
class _Bagging(Ensemble, Bag):
    """What the two share.

    Parameters
    ----------
    n_estimators : int
        Members, T.
    max_samples : int or float
        Rows a member is given, or their share.
    max_features : int or float
        Columns a member is given, or their share; they are drawn without replacement.
    bootstrap : bool
        Whether rows are drawn with replacement; a member that takes weights is given how often each
        was drawn, another the row as often. With `groups` in `fit` whole groups are drawn, as many
        as make so many rows on average.
    bootstrap_features : bool
        Whether columns are drawn with replacement; one drawn twice is given once.
    oob_score : bool
        Whether to answer every training row by the members that it (or its group) was not drawn
        for.
    warm_start : bool
        Whether `fit` keeps the members there are and adds estimators up to `n_estimators`.
        Table, weights and all parameters but `n_estimators`, `oob_score` and `n_jobs` must be those
        of the first fit.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; the estimator must know them.
    n_jobs : int
        Threads that fit members; the bag does not depend on it.
    random_state : int, RandomState or None
        Seeds the draws, and members whose own `random_state` is None; those of member t by t.

    Attributes
    ----------
    memory_ : BagMemory
        The seed of each member, from which its sample can be drawn again.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        _VOTERS, "constant", "normalised", "members fitted apart on samples of rows and columns"
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": MEMBER,
        "n_estimators": Interval(1, whole=True),
        "max_samples": _PART,
        "max_features": _PART,
    }

    estimator: Any = None
    n_estimators: int = 10
    _: KW_ONLY
    max_samples: float = 1.0
    max_features: float = 1.0
    bootstrap: bool = True
    bootstrap_features: bool = False
    oob_score: bool = False
    warm_start: bool = False
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    optional: ClassVar[tuple[str, ...]] = OUT_OF_BAG
    memory_: BagMemory = fitted()
    oob_score_: float | None = fitted()


@parameters
class BaggingClassifier(_Bagging, ClassifierUncertaintyMixin, VoteClassifier):
    """The mean of one model fitted many times, on samples of the rows, of the columns, or both.

    Use it to steady a model that changes much with the sample (a deep tree, C4.5), and to learn how
    sure it is: rows that a member was not fitted on say how accurate the bag is, and how far
    members differ how sure an answer is (`uncertainty`).

    With p_tk(x) the probability of class k by member t, the bag says their mean::

        p_k(x) = 1/T sum_t p_tk(x)

    Parameters
    ----------
    estimator : estimator
        A classifier with probabilities, of psephos or scikit-learn. None is a CART that is not
        pruned.

    Attributes
    ----------
    oob_score_ : float
        Accuracy of the out-of-bag answers, by weight; with ``oob_score=True`` only.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities of the members that a row was not drawn for; NaN where there is none.
        Rows of weight 0 have no line.

    Raises
    ------
    PsephosError
        In fit: if more columns or rows are asked for than there are, ``oob_score`` without a
        bootstrap, a warm start on another table or with fewer members, an estimator that would read
        codes of categories as numbers.

    Notes
    -----
    A bootstrap draws rows by their content, so that the order of rows does not matter; without one
    (``bootstrap=False`` and `max_samples` below all) they are drawn by their position, and it does.

    Weights say how often a row is drawn (without a bootstrap they are given to members); of unequal
    whole weights a bootstrap draws their sum. Members added by a warm start are those that a fresh
    fit with as many members and the same seed would have; answers are the same, to rounding.

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24. Ho (1998), "The random subspace
    method for constructing decision forests". Louppe & Geurts (2012), "Ensembles on random
    patches".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import BaggingClassifier, C45Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = BaggingClassifier(C45Classifier(), 30, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.9), model.uncertainty(X).epistemic.shape
    (True, (178,))
    """

    contender: ClassVar[Contender] = Contender(
        "bagging", "committees", ensemble=True,
        small={"n_estimators": 3, "random_state": 0},
    )  # fmt: skip

    _: KW_ONLY
    warm_start: bool = False
    class_weight: Any = None
    oob_decision_function_: Nullable | None = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        member = CARTClassifier(cp=0, n_folds=0) if self.estimator is None else self.estimator
        return fit_bag(self, member, Data.of(table, labels, weight, context, self.n_jobs))


@parameters
class BaggingRegressor(_Bagging, RegressorUncertaintyMixin, VoteRegressor):
    """The mean of one regressor fitted many times, on samples of the rows, the columns, or both.

    As `BaggingClassifier`.

    Parameters
    ----------
    estimator : estimator
        A regressor of psephos or scikit-learn. None is a CART that is not pruned.

    Attributes
    ----------
    oob_score_ : float
        R^2 of the out-of-bag answers, by weight; with ``oob_score=True`` only.
    oob_prediction_ : ndarray of shape (n_samples,)
        NaN where a row was drawn for every member.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.3)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "bagging-regressor", "committees", ensemble=True,
        small={"n_estimators": 3, "random_state": 0},
    )  # fmt: skip

    oob_prediction_: Nullable | None = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        member = CARTRegressor(cp=0, n_folds=0) if self.estimator is None else self.estimator
        return fit_bag(self, member, Data.of(table, labels, weight, context, self.n_jobs))
