"""Stacking: members weighed, or read, by what they answer to rows they were not fitted on."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Anything, Constraint, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees.fitting import Data
from psephos.models.committees.naming import (
    CV,
    SMALL,
    SMALL_NUMBERS,
    Named,
    default_classifiers,
    default_regressors,
)
from psephos.models.committees.stacking_fit import stack
from psephos.models.committees.transforming import MemberAnswers
from psephos.models.ensemble import Ensemble
from psephos.vote import Vote

_Floats = NDArray[np.float64]


@parameters
class _Stacking(MemberAnswers, Ensemble, Named):
    """What the two share.

    Parameters
    ----------
    levels : list of list of (str, estimator)
        Further levels: the members of each read the answers of the level before (and, with
        `passthrough`, the columns). The final estimator reads the last. All levels share one plan
        of folds, and no label of a test fold is used, at any level, to make the inputs of a model
        tested on it, so members of level 1 of L are fitted once for each set of at most L folds: 16
        times for two levels and five folds.
    final_estimator : {'pool', 'logistic'} or estimator
        pool: as said. logistic: one weight of at least 0 for each member and class, class
        probabilities by a softmax of the weighted votes; it can sharpen members that are too
        unsure. A member that only repeats another has the same weight as that: with 'pool' they
        halve what one would have, with 'logistic' about so. An estimator is fitted on the answers,
        and reads them: it need not be linear. Answers are probabilities, as in scikit-learn: of
        two classes that of the second.
    cv : int, splitter, list of (training rows, test rows) or 'oob'
        Folds, each row in one test part: a number of them, stratified by class; groups given to
        `fit` are kept whole, and handed to members of psephos. 'oob': the out-of-bag answers of
        forests and bags in place of folds, one fit each.
    passthrough : bool
        Whether what reads answers reads the columns, too: further levels, and a final estimator.
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters", "composed voters"), "constant or by output", "normalised or sum",
        "answers to rows out of fold",
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "levels": Anything(),
        "final_estimator": Anything(),
        "cv": OneOf((CV, Options(("oob",)))),
    }

    _: KW_ONLY
    levels: Any = None
    final_estimator: Any = "pool"
    cv: Any = 5
    passthrough: bool = False
    member_names_: tuple[str, ...] = fitted()
    member_scores_: tuple[_Floats, ...] = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return stack(self, Data.of(table, labels, weight, context, self.n_jobs))


@parameters
class StackingClassifier(_Stacking, VoteClassifier):
    """A vote whose weights are learnt from what members answer to rows they did not see.

    Use it where some members are better than others, and equal votes would not tell.
    `member_scores_` says how good each was.

    Members answer each row in a fold they were not fitted on, a final estimator learns from these
    answers, and members are fitted again on all rows. By default it learns weights w_t >= 0 of sum
    1, which make ``p(x) = sum_t w_t p_t(x)`` of least log-loss; they are the weights of the vote.

    Attributes
    ----------
    member_names_ : tuple of str
        Of the last level, those without weight too; the voters are those with weight.
    member_scores_ : tuple of ndarray
        For each level the log-loss of each member on rows it was not fitted on.

    Raises
    ------
    PsephosError
        In fit: as `VotingClassifier`; if folds are more than rows or groups, a class is in one fold
        only, there are as many levels as folds, or ``cv='oob'`` meets a member without out-of-bag
        answers.

    Notes
    -----
    Weights of at least 0, because members that learn the same table say much the same: weights
    without a sign then hold each other up with large numbers that hold for no other table
    (Breiman 1996).

    References
    ----------
    Wolpert (1992), "Stacked generalization", Neural Networks 5. Breiman (1996), "Stacked
    regressions", Machine Learning 24. van der Laan, Polley & Hubbard (2007), "Super learner".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from psephos import CARTClassifier, StackingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("tree", CARTClassifier(random_state=0)), ("bayes", GaussianNB())]
    >>> model = StackingClassifier(members, random_state=0).fit(X, y)
    >>> model.vote_.weighting.alpha.shape, bool(model.score(X, y) > 0.93)
    ((2,), True)
    """

    contender: ClassVar[Contender] = Contender(
        "stacking", "committees", ensemble=True, grouped=True,
        small={"estimators": SMALL, "cv": 3, "random_state": 0},
    )  # fmt: skip

    _: KW_ONLY
    passthrough: bool = False
    class_weight: Any = None

    def _members(self) -> list[tuple[str, Any]]:
        return default_classifiers() if self.estimators is None else self._pairs()


@parameters
class StackingRegressor(_Stacking, VoteRegressor):
    """A mean of regressors whose weights are learnt from their answers to rows they did not see.

    As `StackingClassifier`; weights of at least 0 and of sum 1 make the squared error least. Of
    members that say the same one has the weight, and the other none.

    Parameters
    ----------
    final_estimator : 'pool' or estimator
        pool: as said. An estimator is fitted on the answers, and reads them.

    Attributes
    ----------
    member_names_ : tuple of str
        Of the last level, those without weight too.
    member_scores_ : tuple of ndarray
        For each level the mean squared error of each member on rows it was not fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from psephos import CARTRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("tree", CARTRegressor(random_state=0)), ("ridge", RidgeCV())]
    >>> bool(StackingRegressor(members, random_state=0).fit(X, y).score(X, y) > 0.4)
    True
    """

    contender: ClassVar[Contender] = Contender(
        "stacking-regressor", "committees", ensemble=True, grouped=True,
        small={"estimators": SMALL_NUMBERS, "cv": 3, "random_state": 0},
    )  # fmt: skip

    def _members(self) -> list[tuple[str, Any]]:
        return default_regressors() if self.estimators is None else self._pairs()
