"""Random forests."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._distributions import BALANCED, WEIGHTS, Choice, Integers
from psephos._input import Context, Table
from psephos._stored import Nullable
from psephos.base import Anatomy, Labels, VoteClassifier, VoteRegressor
from psephos.contender import Contender
from psephos.models.forest.common import CLASSES, NUMBERS, Grown, fit_forest
from psephos.models.uncertainty import ClassifierUncertaintyMixin, RegressorUncertaintyMixin
from psephos.params import Constraint
from psephos.vote import Vote

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]

_Floats = NDArray[np.float64]


class RandomForestClassifier(Grown, ClassifierUncertaintyMixin, VoteClassifier):
    """Random forest: trees on bootstrap samples, a few columns drawn at every split.

    Use it where accuracy counts more than a model short enough to read: ballots and importance say
    what an answer rests on, out-of-bag rows how accurate it is, and `uncertainty` how sure.

    Tree t is grown on rows drawn with replacement. At a node `max_features` columns are drawn
    and the best of their cuts is made, until leaves are pure. Its vote is the share of each class
    p_tk(x) among the training rows of the leaf that x reaches, and the forest is their mean::

        p_k(x) = 1/T sum_t p_tk(x)

    In the coding of the vote a share is (K p_k - 1) / (K - 1), 2 p - 1 of two classes, so
    ``decision_function`` is that of the mean and `predict_proba` is the mean itself.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees, T.
    criterion : {'gini', 'entropy', 'log_loss'}, default='gini'
        The impurity that a cut is to decrease; the last two are the same.
    max_depth : int, default=None
        Most cuts above a leaf; None is no limit.
    min_samples_split : int or float, default=2
        Least rows of a node that is cut; below 1 a share of a tree's rows.
    min_samples_leaf : int or float, default=1
        Least rows on either side of a cut; below 1 a share of a tree's rows. What is drawn
        twice is two rows: see Notes.
    min_weight_fraction_leaf : float, default=0.0
        Least share of a tree's weight on either side of a cut.
    max_features : int, float, {'sqrt', 'log2'} or None, default='sqrt'
        Columns drawn at a node: a number, a share, the root or the binary logarithm of their
        number, or all. While all that were drawn have one value at the node more are drawn.
    bootstrap : bool, default=True
        False: every tree is grown on all rows.
    oob_score : bool, default=False
        Whether to answer every training row by the trees that were not grown on it.
    warm_start : bool, default=False
        Whether `fit` keeps the trees there are and grows those that `n_estimators` asks for more,
        which are those that a larger forest of the same seed would have. Table, weights and
        all parameters but `n_estimators`, `oob_score` and `n_jobs` must be those of the first fit.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes, times `sample_weight`.
    max_samples : int, float or None, default=None
        Rows drawn for a tree, or their share; None is 1.0.
    max_bins : int, default=255
        Most bins of a numeric column: see Notes.
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
        Columns whose values are categories, as in HistGradientBoostingClassifier.
    n_jobs : int, default=None
        Threads that grow trees; the forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the draws, those of tree t by t.

    Attributes
    ----------
    vote_ : Vote
        The fitted vote.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    feature_importances_ : ndarray of shape (n_features,)
        What moves the votes, divided along the paths of the trees: see the attribute itself.
    impurity_importance_ : ndarray of shape (n_features,)
        Each column's share of the decrease of the impurity, the mean over trees: what scikit-learn
        calls `feature_importances_`.
    oob_score_ : float or None
        Accuracy of the out-of-bag answers, by weight.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or None
        Mean class shares of the trees that a row was left out of; NaN where there is none. Rows of
        weight 0 have no line.
    memory_ : ForestMemory
        The seed of each tree, from which its sample can be drawn again.

    Notes
    -----
    *Bins.* Columns are cut into at most `max_bins` bins of nearly equal weight before trees grow.
    A column of at most that many distinct values loses nothing: a cut is then the midpoint between
    the neighbouring values at the node. Missing values go to the side where they do better; a node
    that saw none sends them where most rows went. Categories are divided into two sets: of two
    classes the best (where `min_samples_leaf` forbids none), in the order of their shares; of more,
    one category against the rest. Those that a node did not see go with the missing values.

    *Weights* say how often a row is drawn; if all are whole numbers they are counts, and a tree
    draws as many rows as their sum, else as many as there are rows. Rows of equal bins and label
    are one row of added weight, drawn by their content and not by their place: weight 2 is the row
    given twice. `min_samples_split` and `min_samples_leaf` count the draws of a bootstrap, copies
    included; without one they count whole weights (below 2^31 together), and of other weights
    every row once: rows then stay apart.

    *Three importances.* `impurity_importance_` is read off the training rows: it prefers columns
    of many values, which have more cuts to choose from, and is positive for columns of noise.
    ``permutation_importance(X, y)`` asks how much accuracy on given rows is lost when a column is
    shuffled: near 0 for noise, but shared (and so low for each) among columns that stand in for
    one another. `feature_importances_` says whose splits move the votes on the training rows.

    *Uncertainty*: see the method of that name.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45. Breiman (1996), "Out-of-bag
    estimation". Wager, Hastie & Efron (2014), "Confidence intervals for random forests: the
    jackknife and the infinitesimal jackknife", JMLR 15.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import RandomForestClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.95), model.uncertainty(X).epistemic.shape
    (True, (178,))
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        voters=("tree voters",),
        weighting="constant",
        readout="normalised",
        found_by="trees grown apart, on samples of rows and columns",
    )
    contender: ClassVar[Contender] = Contender(
        "random-forest",
        "forest",
        {
            "quick": {
                "max_depth": Integers(2, 10),
                "min_samples_leaf": Integers(1, 5),
                "class_weight": BALANCED,
            },
            "samba": {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "criterion": Choice(("gini", "entropy")),
                "class_weight": WEIGHTS,
            },
        },
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        small={"n_estimators": 4, "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = CLASSES
    extras: ClassVar[tuple[str, ...]] = ("memory_", "oob_score_", "oob_decision_function_")
    oob_score_: float | None
    oob_decision_function_: Nullable | None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        bootstrap: bool = True,
        oob_score: bool = False,
        warm_start: bool = False,
        class_weight: Any = None,
        max_samples: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return fit_forest(self, table, labels, weight, context, random=False)


class RandomForestRegressor(Grown, RegressorUncertaintyMixin, VoteRegressor):
    """Random forest for numbers: the mean of trees on bootstrap samples.

    As `RandomForestClassifier`, with the mean number at a leaf in place of class shares, and by
    default all columns looked at in every node, as in scikit-learn.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees, T.
    criterion : {'squared_error', 'poisson'}, default='squared_error'
        What a cut is to decrease: the sum of squares around the mean, or the Poisson deviance (y
        at least 0). The absolute error is not offered: it has no sums a bin.
    max_depth : int, default=None
    min_samples_split : int or float, default=2
    min_samples_leaf : int or float, default=1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, {'sqrt', 'log2'} or None, default=1.0
        Columns drawn at a node: a number, a share, the root or the binary logarithm of their
        number, or all.
    bootstrap : bool, default=True
    oob_score : bool, default=False
    warm_start : bool, default=False
    max_samples : int, float or None, default=None
    max_bins : int, default=255
    categorical_features : 'from_dtype', list, mask or None, default='from_dtype'
    n_jobs : int, default=None
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    vote_ : Vote
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if X had column names.
    n_features_used_ : int
    features_used_ : ndarray
    feature_importances_ : ndarray of shape (n_features,)
    impurity_importance_ : ndarray of shape (n_features,)
    oob_score_ : float or None
        R^2 of the out-of-bag answers, by weight.
    oob_prediction_ : ndarray of shape (n_samples,) or None
        NaN where a row was drawn for every tree.
    memory_ : ForestMemory

    Notes
    -----
    See `RandomForestClassifier` for bins, weights, missing values and importances. Categories are
    divided by the order of their means.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(0.3 < model.oob_score_ < 0.6)
    True
    """

    anatomy: ClassVar[Anatomy] = RandomForestClassifier.anatomy
    contender: ClassVar[Contender] = Contender(
        "random-forest-regressor", "forest", small={"n_estimators": 4, "random_state": 0}
    )
    constraints: ClassVar[Mapping[str, Constraint]] = NUMBERS
    extras: ClassVar[tuple[str, ...]] = ("memory_", "oob_score_", "oob_prediction_")
    oob_score_: float | None
    oob_prediction_: Nullable | None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        bootstrap: bool = True,
        oob_score: bool = False,
        warm_start: bool = False,
        max_samples: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        return fit_forest(self, table, labels, weight, context, random=False)
