"""Ensemble selection: of a library of models, those whose mean answers best, chosen greedily."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Contender
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees.fitting import Data
from psephos.models.committees.greedy import chosen
from psephos.models.committees.naming import CV, SMALL, SMALL_NUMBERS, Named
from psephos.models.ensemble import Ensemble
from psephos.models.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from psephos.models.linear import RankRidgeClassifier, RankRidgeRegressor
from psephos.vote import Vote

_Floats = NDArray[np.float64]


@parameters
class _Selection(Ensemble, Named):
    """What the two share.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The library. None is a random forest, extra trees and a ridge on normal scores.
    n_steps : int
        Most candidates that are added in a bag.
    n_init : int
        Best candidates to begin with.
    n_bags : int
        Parts of the library that are chosen from, one after the other.
    bag_fraction : float
        The share of the library that is in a bag, drawn without replacement; at least ten
        candidates and `n_init`. Of ten candidates or fewer all are chosen from, once.
    cv : int, splitter or list of (training rows, test rows)
        Folds, each row in one test part; a number of them is stratified by class. Groups given to
        `fit` are kept whole.
    random_state : int, RandomState or None
        Draws folds and bags, and seeds the candidates whose own `random_state` is None.

    Attributes
    ----------
    member_names_ : tuple of str
        All candidates.
    counts_ : ndarray of shape (n_candidates,)
        How often each was chosen, over all bags.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_steps": Interval(1, whole=True),
        "n_init": Interval(0, whole=True),
        "n_bags": Interval(1, whole=True),
        "bag_fraction": Interval(0, 1, open_low=True),
        "cv": CV,
    }

    _: KW_ONLY
    n_steps: int = 25
    n_init: int = 1
    n_bags: int = 10
    bag_fraction: float = 0.5
    cv: Any = 5
    member_names_: tuple[str, ...] = fitted()
    counts_: NDArray[np.intp] = fitted()
    member_scores_: _Floats = fitted()


@parameters
class EnsembleSelectionClassifier(_Selection, VoteClassifier):
    """The best mean of a library of models, chosen one by one on rows they were not fitted on.

    Use it with many candidates, good and bad: those that do not help are left out, and what is
    left is a vote with whole-number weights that can be read.

    Each candidate answers every row in a fold it was not fitted on. From the `n_init` best on,
    `n_steps` times the candidate is added that most improves the mean of those chosen so far (the
    same may be added more than once), and the best of these means is kept. That is done for each of
    `n_bags` random parts of the library, against choosing what is good by chance, and the weight of
    a candidate is how often it was chosen. Candidates with weight are fitted again on all rows.

    Parameters
    ----------
    scoring : {'log_loss', 'accuracy'}
        What the mean of the chosen is to be best in.

    Attributes
    ----------
    vote_ : Vote
        The candidates with weight.
    member_scores_ : ndarray of shape (n_candidates,)
        The log-loss of each on rows it was not fitted on.

    Raises
    ------
    PsephosError
        In fit: as `StackingClassifier`.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew & Ksikes (2004), "Ensemble selection from libraries of models",
    ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from psephos import CARTClassifier, EnsembleSelectionClassifier, SamBAClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = [("tree", CARTClassifier()), ("samba", SamBAClassifier()), ("bayes", GaussianNB())]
    >>> model = EnsembleSelectionClassifier(models, random_state=0).fit(X, y)
    >>> model.counts_.shape, bool(model.score(X, y) > 0.95)
    ((3,), True)
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("joined voters",), "constant", "normalised", "greedy choice on answers to rows out of fold"
    )
    contender: ClassVar[Contender] = Contender(
        "ensemble-selection", "committees", ensemble=True, grouped=True,
        small={"estimators": SMALL, "n_bags": 2, "cv": 3, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "scoring": Options(("log_loss", "accuracy")),
    }

    _: KW_ONLY
    scoring: str = "log_loss"
    cv: Any = 5
    class_weight: Any = None

    def _members(self) -> list[tuple[str, Any]]:
        if self.estimators is not None:
            return self._pairs()
        return [
            ("forest", RandomForestClassifier()),
            ("extra", ExtraTreesClassifier()),
            ("ridge", RankRidgeClassifier()),
        ]

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        data = Data.of(table, labels, weight, context, self.n_jobs)
        return chosen(self, data, self.scoring)


@parameters
class EnsembleSelectionRegressor(_Selection, VoteRegressor):
    """The best mean of a library of regressors, chosen one by one by its squared error.

    As `EnsembleSelectionClassifier`.

    Attributes
    ----------
    member_scores_ : ndarray of shape (n_candidates,)
        The mean squared error of each on rows it was not fitted on.

    Notes
    -----
    See `EnsembleSelectionClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from psephos import CARTRegressor, EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> library = [("tree", CARTRegressor()), ("ridge", RidgeCV())]
    >>> bool(EnsembleSelectionRegressor(library, random_state=0).fit(X, y).score(X, y) > 0.4)
    True
    """

    anatomy: ClassVar[Anatomy] = EnsembleSelectionClassifier.anatomy
    contender: ClassVar[Contender] = Contender(
        "ensemble-selection-regressor", "committees", ensemble=True, grouped=True,
        small={"estimators": SMALL_NUMBERS, "n_bags": 2, "cv": 3, "random_state": 0},
    )  # fmt: skip

    def _members(self) -> list[tuple[str, Any]]:
        if self.estimators is not None:
            return self._pairs()
        return [
            ("forest", RandomForestRegressor(max_features=1 / 3)),
            ("extra", ExtraTreesRegressor()),
            ("ridge", RankRidgeRegressor()),
        ]

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        data = Data.of(table, labels, weight, context, self.n_jobs)
        return chosen(self, data, "squared_error")
