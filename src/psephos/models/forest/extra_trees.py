"""Extremely randomised trees."""

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

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor"]

_Floats = NDArray[np.float64]


class ExtraTreesClassifier(Grown, ClassifierUncertaintyMixin, VoteClassifier):
    """Extra trees: at every split a few columns, each cut at a place drawn at random.

    Use it as a random forest, where smoother answers are wanted: single trees vary more, and their
    mean less abruptly from case to case.

    As `RandomForestClassifier`, but every tree is grown on all rows, and of each column that is
    drawn at a node one cut is looked at: a place drawn uniformly between its least and greatest
    value there (of categories, a random set). The best of these cuts is made. Votes and read-out
    are those of the random forest.

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
        Least rows on either side of a cut; below 1 a share of a tree's rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of a tree's weight on either side of a cut.
    max_features : int, float, {'sqrt', 'log2'} or None, default='sqrt'
        Columns drawn at a node: a number, a share, the root or the binary logarithm of their
        number, or all. While all that were drawn have one value at the node more are drawn.
    bootstrap : bool, default=False
        True: every tree is grown on rows drawn with replacement.
    oob_score : bool, default=False
        Whether to answer every training row by the trees that were not grown on it; needs
        `bootstrap`.
    warm_start : bool, default=False
        Whether `fit` keeps the trees there are and grows those that `n_estimators` asks for more,
        which are those that a larger forest of the same seed would have. Table, weights and
        all parameters but `n_estimators`, `oob_score` and `n_jobs` must be those of the first fit.
    class_weight : dict, 'balanced' or None, default=None
        Weights of the classes, times `sample_weight`.
    max_samples : int, float or None, default=None
        Rows drawn for a tree, or their share; None is 1.0.
    max_bins : int, default=255
        Most bins of a numeric column; see the notes.
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
        Each column's share of the decrease of the impurity, the mean over trees.
    oob_score_ : float or None
        Accuracy of the out-of-bag answers, by weight.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or None
        Mean class shares of the trees that a row was left out of; NaN where there is none.
    memory_ : ForestMemory

    Notes
    -----
    A dense table of numbers alone, of more columns than rows and at most 1,000 rows, is not binned,
    unless a bootstrap or `max_bins` below 255 is asked for: a cut is at the very place that was
    drawn, as in the source. Elsewhere a place inside a bin (see `RandomForestClassifier`) moves to
    the gap after it; with at most `max_bins` distinct values in a column none has an inside, and
    the trees are the same either way. Missing values go to the better side of the cut that was
    drawn. Without a bootstrap there is neither an out-of-bag answer nor a
    jackknife. `RandomForestClassifier` states how the three importances differ.

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import ExtraTreesClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        voters=("tree voters",),
        weighting="constant",
        readout="normalised",
        found_by="trees grown apart, of cuts drawn at random",
    )
    contender: ClassVar[Contender] = Contender(
        "extra-trees",
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
        bootstrap: bool = False,
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
        return fit_forest(self, table, labels, weight, context, random=True)


class ExtraTreesRegressor(Grown, RegressorUncertaintyMixin, VoteRegressor):
    """Extra trees for numbers: the mean of trees of random cuts.

    As `ExtraTreesClassifier`, with the mean number at a leaf in place of class shares, and by
    default all columns looked at in every node, as in scikit-learn.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees, T.
    criterion : {'squared_error', 'poisson'}, default='squared_error'
        What a cut is to decrease: the sum of squares around the mean, or the Poisson deviance (y
        at least 0).
    max_depth : int, default=None
    min_samples_split : int or float, default=2
    min_samples_leaf : int or float, default=1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, {'sqrt', 'log2'} or None, default=1.0
    bootstrap : bool, default=False
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
    See `ExtraTreesClassifier`.

    References
    ----------
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from psephos import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(random_state=0).fit(X[::2], y[::2])
    >>> bool(0.3 < model.score(X[1::2], y[1::2]) < 0.6)
    True
    """

    anatomy: ClassVar[Anatomy] = ExtraTreesClassifier.anatomy
    contender: ClassVar[Contender] = Contender(
        "extra-trees-regressor", "forest", small={"n_estimators": 4, "random_state": 0}
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
        bootstrap: bool = False,
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
        return fit_forest(self, table, labels, weight, context, random=True)
