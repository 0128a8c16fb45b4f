"""The parameters that the models of the boosting loop share."""

from collections.abc import Mapping
from typing import Any, ClassVar

from psephos._types import Floats, SeedLike
from psephos.base import VoteClassifier
from psephos.estimator.input import CategoricalFeatures
from psephos.estimator.params import Constraint, Interval, OneOf, Options, Voter
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.warm import WarmStart
from psephos.models.ensemble import Ensemble


@parameters
class BoostedClassifier(WarmStart, Ensemble, VoteClassifier):
    """A vote of voters that a boosting loop finds.

    Parameters
    ----------
    estimator : classifier
        The voter; it must take sample weights. None is the library's own stump. Models of this
        library, scikit-learn's trees, linear models and Gaussian naive Bayes can be saved.
    n_estimators : int
        Most voters, T.
    criterion : {'gini', 'error'}
        What the stump minimises: Gini impurity, or weighted error (both sides then answer
        differently).
    min_weight_fraction_leaf : float
        Least share of the sample weights on either side of a stump.
    validation_fraction : float
        Share of the training rows held out to decide how many voters to keep; None holds out
        none. Rows of one group stay together.
    n_iter_no_change : int
        Rounds without a better validation score after which the search ends. Needs
        `validation_fraction`.
    n_jobs : int
        Threads of the stump search; the result does not depend on it.
    random_state : int, RandomState or None
        Seeds `estimator` and the validation share; the stump needs none.

    Attributes
    ----------
    estimator_errors_ : ndarray of shape (T,)
        Weighted training errors eps_t.
    stopped_ : str
        Why the search ended.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimator": Voter(),
        "criterion": Options(("error", "gini")),
        "min_weight_fraction_leaf": Interval(0, 0.5, open_high=True),
    }

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 20
    criterion: str = "gini"
    min_weight_fraction_leaf: float = 0.0
    categorical_features: CategoricalFeatures = "from_dtype"
    validation_fraction: float | None = None
    n_iter_no_change: int = 10
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: SeedLike = None
    estimator_errors_: Floats = fitted()
    stopped_: str = fitted()


@parameters
class LocalClassifier(BoostedClassifier):
    """One whose weights are local.

    Parameters
    ----------
    a : float
        Distance floor: larger is smoother and more robust to wrong labels. In units of the mean
        distance of training pairs unless `distance_scale` says otherwise.
    b : float
        Locality: with larger values only nearer rows count.
    distance_scale : {'mean', 'sum', None}
        'mean' divides distances by their mean over training pairs, so that `a` and `b` mean the
        same at any number of rows and any scale; 'sum' divides the distances of each case by
        their sum over the anchors, as the authors' program does; None is the paper's formula.
    column_scale : {'std', None}
        'std' divides each numeric column by its standard deviation in the distance; None is the
        paper's formula.
    n_anchors : int
        Keep this many training rows, drawn at random, as anchors (appendix D.3); None keeps all.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; they differ by 0 or 1 in the distance.
    random_state : int, RandomState or None
        Seeds `estimator`, the anchors and the validation share; the default settings draw none.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "a": Interval(0),
        "b": Interval(0, open_low=True),
        "distance_scale": Options(("mean", "sum", None)),
        "column_scale": Options(("std", None)),
        "n_anchors": OneOf((Interval(1, whole=True),), none=True),
    }

    _: KW_ONLY
    n_estimators: int = 20
    a: float = 0.1
    b: float = 4.0
    criterion: str = "gini"
    distance_scale: str | None = "mean"
    column_scale: str | None = "std"
    n_anchors: int | None = None
