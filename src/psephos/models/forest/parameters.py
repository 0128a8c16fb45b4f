"""Parameters and base classes of forests."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos._types import ClassWeightLike, Floats, SeedLike
from psephos.base import Labels, VoteClassifier, VoteRegressor
from psephos.estimator.contender import Anatomy, Contender
from psephos.estimator.distributions import BALANCED, WEIGHTS, Choice, Integers
from psephos.estimator.input import CategoricalFeatures, Context, FittedVote, Table
from psephos.estimator.params import ClassWeight, Constraint, Interval, OneOf, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.files.field_types import Nullable
from psephos.models.forest.common import ForestMemory, GrownForest, fit_forest
from psephos.models.sampling import OUT_OF_BAG
from psephos.models.uncertainty import ClassifierUncertaintyMixin, RegressorUncertaintyMixin
from psephos.trees.bins import MAX_BINS

_SHARE = Interval(0, 1, open_low=True)
_PART = Interval(0, 1, open_low=True, open_high=True)
#: Parameters of a small forest, for tests.
SMALL: Mapping[str, Any] = {"n_estimators": 4, "random_state": 0}


def uniform(found_by: str) -> Anatomy:
    """Return the anatomy of a mean of trees."""
    return Anatomy(("tree voters",), "constant", "normalised", found_by)


def taking_part(name: str) -> Contender:
    """Return how a forest of classes takes part in comparisons."""
    drawn = {
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
    }
    first = {"quick": {"class_weight": "balanced"}}
    return Contender(name, "forest", drawn, ensemble=True, first=first, small=SMALL)


@parameters
class _Forest(GrownForest):
    """Base class of all forests.

    Parameters
    ----------
    n_estimators : int
        Number of trees, T.
    max_depth : int
        Maximum depth of a tree; None: no limit.
    min_samples_split : int or float
        Minimum number of rows of a node that is split; below 1 a share of a tree's rows.
    min_samples_leaf : int or float
        Minimum number of rows on either side of a split; below 1 a share of a tree's rows. A row
        drawn twice counts as two: see the notes of `RandomForestClassifier`.
    min_weight_fraction_leaf : float
        Minimum share of a tree's weight on either side of a split.
    max_features : int, float, {'sqrt', 'log2'} or None
        Columns drawn at a node: a number, a share, the square root or binary logarithm of the
        number of columns, or all. If all columns drawn are constant at the node, more are drawn.
    bootstrap : bool
        Whether every tree is grown on rows drawn with replacement, or on all rows. With `groups` in
        `fit`, whole groups are drawn, with the same number of rows on average.
    oob_score : bool
        Whether to predict every training row by the trees that were not grown on it (or on a row of
        its group); needs `bootstrap`.
    warm_start : bool
        Whether `fit` keeps the fitted trees and adds trees up to `n_estimators`, the same that a
        larger forest with the same seed would have. Table, weights and all parameters except
        `n_estimators`, `oob_score` and `n_jobs` must be those of the first fit.
    max_samples : int, float or None
        Rows drawn for a tree, or their share; None is 1.0. Needs `bootstrap`.
    max_bins : int
        Maximum number of bins of a numeric column: see the notes of `RandomForestClassifier`.
    n_jobs : int
        Threads that grow trees; the forest does not depend on it.
    random_state : int, RandomState or None
        Seed of the draws; tree t depends only on the seed and t.

    Attributes
    ----------
    impurity_importance_ : ndarray of shape (`n_features_in_`,)
        Each column's share of the decrease of impurity, the mean over trees: scikit-learn's
        `feature_importances_`.
    memory_ : ForestMemory
        The seed of each tree, from which its sample can be drawn again.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_samples_split": OneOf((Interval(2, whole=True), _PART)),
        "min_samples_leaf": OneOf((Interval(1, whole=True), _PART)),
        "min_weight_fraction_leaf": Interval(0, 0.5, open_high=True),
        "max_features": OneOf(
            (Interval(1, whole=True), _SHARE, Options(("sqrt", "log2"))), none=True
        ),
        "max_samples": OneOf((Interval(1, whole=True), _SHARE), none=True),
        "max_bins": Interval(2, MAX_BINS, whole=True),
    }  # fmt: skip
    random_cuts: ClassVar[bool] = False

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = "sqrt"
    bootstrap: bool = True
    oob_score: bool = False
    warm_start: bool = False
    max_samples: float | None = None
    max_bins: int = 255
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    random_state: SeedLike = None
    optional: ClassVar[tuple[str, ...]] = OUT_OF_BAG
    memory_: ForestMemory = fitted()
    oob_score_: float | None = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: Floats, context: Context
    ) -> FittedVote:
        return fit_forest(self, table, labels, weight, context, random=self.random_cuts)


@parameters
class ClassForest(_Forest, ClassifierUncertaintyMixin, VoteClassifier):
    """Base class of forests for classification.

    Parameters
    ----------
    criterion : {'gini', 'entropy', 'log_loss'}
        The impurity that splits decrease; the last two are the same.
    class_weight : dict, 'balanced', 'balanced_subsample' or None
        Weights of the training rows by class, times `sample_weight`. With 'balanced' a bootstrap
        draws rows of rare classes more often. 'balanced_subsample' draws by `sample_weight` and
        then weights the sample of a tree so that its classes have equal weight;
        `min_samples_split` and `min_samples_leaf` then count distinct rows. Without a bootstrap it
        is 'balanced'.

    Attributes
    ----------
    oob_score_ : float
        Weighted accuracy of the out-of-bag predictions; only with ``oob_score=True``.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean class shares over the trees for which a row is out of bag; NaN if there is none. Rows
        of weight 0 are left out.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "criterion": Options(("gini", "entropy", "log_loss")),
        "class_weight": ClassWeight(("balanced", "balanced_subsample")),
    }

    _: KW_ONLY
    warm_start: bool = False
    class_weight: ClassWeightLike = None
    oob_decision_function_: Nullable | None = fitted()


@parameters
class NumberForest(_Forest, RegressorUncertaintyMixin, VoteRegressor):
    """Base class of forests for regression.

    Parameters
    ----------
    criterion : {'squared_error', 'friedman_mse'}
        Two names for the same criterion: splits decrease the sum of squares around the mean, by
        Friedman's ``W_L W_R / (W_L + W_R) (mean_L - mean_R)^2``. The absolute error is not
        available, as it has no sums per bin.

    Attributes
    ----------
    oob_score_ : float
        Weighted R^2 of the out-of-bag predictions; only with ``oob_score=True``.
    oob_prediction_ : ndarray of shape (n_samples,)
        The out-of-bag predictions; NaN if a row was drawn for every tree.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "criterion": Options(("squared_error", "friedman_mse"))
    }

    _: KW_ONLY
    criterion: str = "squared_error"
    max_features: Any = 1.0
    oob_prediction_: Nullable | None = fitted()
