"""Parameters and warm starts of boosting."""

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, SeedLike
from psephos.base import VoteClassifier
from psephos.estimator.input import CategoricalFeatures, Context
from psephos.estimator.params import Constraint, Interval, OneOf, Options, Voter
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.ensemble import Ensemble
from psephos.models.training import FirstFit, Training


class _Loop(NamedTuple):
    """The state of a boosting loop, and digests of what it was fitted on."""

    first_fit: FirstFit
    state: Any
    n_rounds: int


@parameters
class WarmStart:
    """What boosting models with a warm start share.

    Parameters
    ----------
    warm_start : bool
        Whether `fit` keeps the rounds of the last fit and adds those that `n_estimators` asks for
        more, as one fit of all rounds would. Table, labels, weights and all parameters but
        `n_estimators` and `n_jobs` must be those of the first fit, which must have had
        ``warm_start=True`` in the same process: model files and pickles do not keep the loop.
    """

    _loop: ClassVar[_Loop | None] = None

    _: KW_ONLY
    warm_start: bool = False

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[misc]
        return {name: value for name, value in state.items() if name != "_loop"}


def digests(model: "WarmStart", data: Training, context: Context) -> FirstFit | None:
    """Return digests of the training rows; None without a warm start, which alone needs them."""
    if not model.warm_start:
        return None
    return FirstFit.of(model, data.table.values, data.y, data.weight, context.groups, ordered=True)


def continued(model: Any, context: Context, now: FirstFit | None) -> Any:
    """Return a copy of the state that a warm start continues from; None of a first fit.

    The model keeps its own until `keep`, so that a fit that is interrupted changes nothing.

    Raises
    ------
    PsephosError
        If there is none, or the rows, a parameter or `n_estimators` do not allow it.
    """
    loop = model._loop
    if context.previous is None or now is None:
        return None
    if loop is None:
        raise PsephosError(
            "a warm start continues from a completed fit with warm_start=True in the same process, "
            f"and this {type(model).__name__} has none. To fit anew, set warm_start=False."
        )
    loop.first_fit.require(now)
    if model.n_estimators < loop.n_rounds:
        raise PsephosError(
            f"n_estimators={model.n_estimators} must be larger or equal to the {loop.n_rounds} "
            "rounds of the last fit when warm_start=True."
        )
    return _copied(loop.state)


def _copied(state: Any) -> Any:
    """Return a state whose lists and arrays may change; tables of the training rows are shared."""
    new = copy(state)
    for name, value in vars(state).items():
        if isinstance(value, list):
            setattr(new, name, list(value))
        elif isinstance(value, np.ndarray) and name not in ("values", "weight"):
            setattr(new, name, value.copy())
    return new


def keep(model: Any, first_fit: FirstFit | None, state: Any, n_rounds: int) -> None:
    """Keep the state of the loop for a warm start."""
    model._loop = None if first_fit is None else _Loop(first_fit, state, n_rounds)


def refuse_watched(model: Any) -> None:
    """Raise PsephosError if a warm start meets a validation share, which drops rounds."""
    if getattr(model, "warm_start", False):
        raise PsephosError(
            "warm_start=True and validation_fraction exclude each other: the share decides how "
            "many rounds are kept. Set validation_fraction=None."
        )


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
