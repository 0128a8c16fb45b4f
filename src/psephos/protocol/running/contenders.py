"""The contenders of a comparison: how each is built and tuned."""

# pyright: reportMissingTypeStubs=false

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any, Self

import numpy as np
import sklearn.base
import sklearn.feature_selection
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Array, Estimator, Floats, Indices, TableLike
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import (
    WEIGHTS,
    Choice,
    Distribution,
    Integers,
    LogUniform,
    Uniform,
)
from psephos.estimator.members import fitted
from psephos.estimator.partial import NO_UNLABELED
from psephos.files.near import suggest
from psephos.protocol.tables.table import DataTable
from psephos.registry import estimator_classes

_sklearn: Any = sklearn.base  # its type stubs are incomplete
_selection: Any = sklearn.feature_selection


def majority(params: Params, shape: Shape, seed: int) -> Any:
    """Return a model that always predicts the class shares of the training part."""
    return DummyClassifier(strategy="prior", **params)


def seeded(kind: Any, params: Params, shape: Shape, seed: int) -> Any:
    """Return an estimator of scikit-learn with a random state."""
    return prepared(kind(random_state=seed, **params), shape)


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def l1_logistic(params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return an L1-penalised logistic regression, one against the rest for several classes."""
    # on wide tables liblinear is ten times as fast as saga, but it supports two classes only
    l1: Params = {"l1_ratio": 1.0} if _version() >= (1, 8) else {"penalty": "l1"}
    model: Any = LogisticRegression(
        solver="liblinear", max_iter=200, tol=1e-3, random_state=seed, **l1, **params
    )
    if shape.n_classes > 2:
        model = OneVsRestClassifier(model)
    return prepared(model, shape, scale=True)


def elastic_logistic(params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return a logistic regression with an elastic-net penalty."""
    mixed: Params = {"l1_ratio": 0.5} | ({} if _version() >= (1, 8) else {"penalty": "elasticnet"})
    mixed |= {"solver": "saga", "max_iter": 200, "tol": 1e-3, "random_state": seed}
    return prepared(LogisticRegression(**(mixed | params)), shape, scale=True)


def ridge_classifier(params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return a ridge regression of the classes' codes -1 and 1."""
    return prepared(RidgeClassifier(**params), shape, scale=True)


_Statistic = Callable[[Floats, Array], tuple[Floats, Floats]]
_SCREENED = {"forward": 20, "backward": 15, "recursive": 100}  # columns left by the screening


def _quiet(statistic: _Statistic, X: Floats, y: Array) -> tuple[Floats, Floats]:
    """Return a statistic of columns, without the warnings of constant ones."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return statistic(X, y)


def selected(way: str, params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return a linear model of columns selected stepwise among those left by a screening."""
    params = {"n_features_to_select": 6, **params}
    most = min(_SCREENED[way], shape.n_columns)
    n = min(params.pop("n_features_to_select"), max(most - 1, 1))
    if shape.n_classes:
        model = LogisticRegression(max_iter=500, **params)
        kind, statistic, measure = StratifiedKFold, _selection.f_classif, "neg_log_loss"
    else:
        model, kind, statistic, measure = Ridge(**params), KFold, _selection.f_regression, "r2"
    if way == "recursive":
        selector = _selection.RFE(model, n_features_to_select=n)
    else:
        parts = kind(3, shuffle=True, random_state=seed)
        selector = _selection.SequentialFeatureSelector(
            model, n_features_to_select=n, direction=way, scoring=measure, cv=parts
        )
    screen = _selection.SelectKBest(partial(_quiet, statistic), k=most)
    whole: Any = prepared(model, shape, scale=True)
    chosen = [("screen", screen), ("select", selector)] if most > 1 else []
    return Pipeline([*whole.steps[:-1], *chosen, whole.steps[-1]])


def svm(kernel: str, params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return a support vector machine."""
    model = SVC(kernel=kernel, break_ties=shape.n_classes > 2, random_state=seed, **params)
    return prepared(model, shape, scale=True)


def k_nn(params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return k nearest neighbours."""
    kind = KNeighborsClassifier if shape.n_classes else KNeighborsRegressor
    return prepared(kind(**params), shape, scale=True)


def linear(kind: Callable[..., Estimator], params: Params, shape: Shape, seed: int) -> Pipeline:
    """Return a penalised linear regression of the standardised target."""
    model = TransformedTargetRegressor(kind(**params), transformer=StandardScaler())
    return prepared(model, shape, scale=True)


def mean(params: Params, shape: Shape, seed: int) -> Estimator:
    """Return a model that always predicts the mean of the training part."""
    return DummyRegressor(**params)


def xgboost(params: Params, shape: Shape, seed: int) -> Any:
    """Return XGBoost."""
    import xgboost  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    booster: Any = xgboost
    return prepared(booster.XGBClassifier(n_jobs=1, random_state=seed, **params), shape)


# ------------------------------------------------------------------- what they need of a table
def prepared(model: Estimator, shape: Shape, *, scale: bool = False) -> Pipeline:
    """Return a pipeline of the preprocessing that the table needs and `model`.

    Missing numbers become the median; with `scale`, columns get mean 0 and variance 1. Missing
    categories become the most frequent level; then each level is a column of 0 and 1, all 0 for
    levels not seen in training. All steps are fitted on the training part.
    """
    number: list[tuple[str, Any]] = []
    if shape.missing:
        number.append(("impute", SimpleImputer(strategy="median", keep_empty_features=True)))
    if scale:
        number.append(("scale", StandardScaler()))
    if not shape.categorical:
        return Pipeline([*number, ("model", model)])
    category: list[tuple[str, Any]] = []
    if shape.missing:
        filler = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
        category.append(("impute", filler))
    category.append(("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False)))
    parts: list[tuple[str, Any, list[int]]] = []
    numeric = [j for j in range(shape.n_columns) if j not in set(shape.categorical)]
    if numeric:
        parts.append(("numbers", Pipeline(number) if number else "passthrough", numeric))
    parts.append(("categories", Pipeline(category), list(shape.categorical)))
    return Pipeline([("columns", ColumnTransformer(parts)), ("model", model)])


# ------------------------------------------------------------------- one model a label
class OneModelALabel(ClassifierMixin, BaseEstimator):
    """A clone of `estimator` for each label, fitted on whether rows have it.

    scikit-learn's OneVsRestClassifier and MultiOutputClassifier do this, but for a label that all
    training rows have, or none, the second raises, and the first moves its threshold. Here such a
    label has a constant prediction.

    Parameters
    ----------
    estimator : classifier
    """

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def fit(self, X: TableLike, Y: Array, **extra: Any) -> Self:
        """Fit a model for each column of Y, (n, K) of 0 and 1."""
        self.estimators_: list[Any] = []
        for y in np.asarray(Y).T:
            model: Any = _sklearn.clone(self.estimator)
            if (y == y[0]).all():
                constant: Any = DummyClassifier(strategy="constant", constant=y[0])
                self.estimators_.append(constant.fit(X, y))
            else:
                self.estimators_.append(fitted(model, X, y, **extra))
        return self

    def predict(self, X: TableLike) -> Indices:
        """Return the (n, K) table of 0 and 1: the labels that the models predict."""
        return np.column_stack([model.predict(X) for model in self.estimators_]).astype(np.intp)

    def predict_proba(self, X: TableLike) -> Floats:
        """Return the (n, K) probabilities; 1 / (1 + exp(-d)) for models with decision values."""
        return np.column_stack([_chance(model, X) for model in self.estimators_])


def _chance(model: Any, X: TableLike) -> Floats:
    if not hasattr(model, "predict_proba"):
        return np.asarray(expit(model.decision_function(X)), dtype=np.float64)
    chances = np.asarray(model.predict_proba(X), dtype=np.float64)
    known: list[int] = np.asarray(model.classes_).tolist()
    return chances[:, known.index(1)] if 1 in known else np.zeros(len(chances))


# ------------------------------------------------------------------- models of other libraries
def _peer(
    name: str,
    family: str,
    build: Callable[[Params, Shape, int], Any],
    quick: Mapping[str, Distribution],
    samba: Mapping[str, Distribution],
    **rest: Any,
) -> Contender:
    drawn = {"quick": quick, "samba": samba}
    return Contender(name, family, drawn, build=build, origin="baseline", **rest)


_OF_DECISIONS = "probabilities are the logistic function (softmax) of the decision values"
_KINDS = {"weights": Choice(("uniform", "distance"))}
_LEAVES = {"max_depth": Integers(1, 10), "min_samples_leaf": Integers(1, 10)}
_CUTS = {"criterion": Choice(("gini", "entropy"))}
_TREES = {"n_estimators": Integers(1, 300), "max_depth": Integers(1, 10)}
_WEIGHED = {"class_weight": WEIGHTS}
_PENALTY = {"alpha": LogUniform(1e-3, 1.0)}
_MIX = {"l1_ratio": Uniform(0.05, 0.95)}
_RIDGE = {"alpha": LogUniform(1e-2, 1e4)}
_SELECTED = {"n_features_to_select": Integers(1, 10)}
_FEW = {
    way: f"a linear model of the columns that {words} leaves of the {_SCREENED[way]} with the "
    f"greatest F-statistic (all would take too long), by {measure}"
    for way, words, measure in (
        ("forward", "forward selection", "log-loss or r squared in 3 folds of rows"),
        ("backward", "backward elimination", "log-loss or r squared in 3 folds of rows"),
        ("recursive", "recursive elimination", "the size of its coefficients"),
    )
}
_PEERS = (
    _peer("majority", "none", majority, {}, {}, multilabel=True),
    _peer(
        "sklearn-l1-logistic", "linear", l1_logistic,
        {"C": LogUniform(1e-2, 1e2)} | _WEIGHED, {"C": LogUniform(1e-3, 1e3)} | _WEIGHED,
        notes="the source gives no distribution for its Lasso; C is that of its SVM",
    ),
    _peer(
        "sklearn-ridge-classifier", "linear", ridge_classifier, _RIDGE | _WEIGHED,
        _RIDGE | _WEIGHED, notes=_OF_DECISIONS,
    ),
    _peer(
        "sklearn-elastic-net-logistic", "linear", elastic_logistic,
        {"C": LogUniform(1e-2, 1e1)} | _MIX | _WEIGHED,
        {"C": LogUniform(1e-3, 1e3)} | _MIX | _WEIGHED,
    ),
    *(
        _peer(f"sklearn-{way}", "selection", partial(selected, way), _SELECTED | _WEIGHED,
              _SELECTED | _WEIGHED, notes=words)
        for way, words in _FEW.items()
    ),
    _peer(
        "sklearn-random-forest", "forest", partial(seeded, RandomForestClassifier),
        {"max_depth": Integers(2, 10), "min_samples_leaf": Integers(1, 5)} | _WEIGHED,
        _TREES | _CUTS, ensemble=True, multilabel=True,
    ),
    _peer(
        "sklearn-svm-rbf", "kernel", partial(svm, "rbf"),
        {"C": LogUniform(1e-2, 1e3)} | _WEIGHED, {"C": LogUniform(1e-3, 1e3)}, notes=_OF_DECISIONS,
    ),
    _peer(
        "sklearn-svm-linear", "linear", partial(svm, "linear"), {}, {},
        notes=f"C is 1, as in SWAG's paper; {_OF_DECISIONS}",
    ),
    _peer(
        "sklearn-k-nn", "neighbours", k_nn, {"n_neighbors": Integers(1, 15)} | _KINDS,
        {"n_neighbors": Integers(1, 10)} | _KINDS
        | {"algorithm": Choice(("auto", "ball_tree", "kd_tree", "brute")), "p": Choice((1, 2))},
        multilabel=True,
    ),
    _peer(
        "sklearn-decision-tree", "tree", partial(seeded, DecisionTreeClassifier),
        _LEAVES | _WEIGHED,
        {"max_depth": Integers(1, 300)} | _CUTS | {"splitter": Choice(("best", "random"))}
        | _WEIGHED, multilabel=True,
    ),
    _peer(
        "sklearn-gradient-boosting", "boosting", partial(seeded, GradientBoostingClassifier),
        {"n_estimators": Integers(10, 40), "max_depth": Integers(1, 3),
         "learning_rate": LogUniform(0.05, 0.5)},
        _TREES | {"loss": Choice(("log_loss", "exponential")), "learning_rate": Uniform(0, 1)},
        ensemble=True, first={"quick": {"n_estimators": 30, "learning_rate": 0.2}},
        binary_only={"loss": ("exponential",)},
        notes="the source's losses log_loss and deviance are one loss",
    ),
    _peer(
        "xgboost", "boosting", xgboost,
        {"n_estimators": Integers(20, 100), "max_depth": Integers(1, 6),
         "learning_rate": LogUniform(0.03, 0.5)},
        _TREES | {"objective": Choice(("binary:logistic", "binary:hinge")),
                  "learning_rate": Uniform(0, 1)},
        ensemble=True, needs="xgboost", first={"quick": {"n_estimators": 50}},
        notes="with more than two classes the objective is multi:softprob",
    ),
)  # fmt: skip
_SPARSE = {"quick": {"alpha": 0.1}}  # in units of sd(y); 1 leaves no column
_CLASSES = {one.name: one for one in _PEERS}
_NUMBER_PEERS = (
    _peer("mean", "none", mean, {}, {}),
    _peer("sklearn-ridge", "linear", partial(linear, Ridge), _RIDGE, _RIDGE),
    _peer("sklearn-lasso", "linear", partial(linear, Lasso), _PENALTY, _PENALTY, first=_SPARSE),
    _peer(
        "sklearn-elastic-net", "linear", partial(linear, ElasticNet), _PENALTY | _MIX,
        _PENALTY | _MIX, first=_SPARSE,
    ),
    *(_CLASSES[f"sklearn-{way}"].of_numbers(f"sklearn-{way}-regressor") for way in _FEW),
    _CLASSES["sklearn-random-forest"].of_numbers(
        "sklearn-random-forest-regressor", "criterion",
        build=partial(seeded, RandomForestRegressor),
    ),
    _CLASSES["sklearn-gradient-boosting"].of_numbers(
        "sklearn-gradient-boosting-regressor", "loss",
        build=partial(seeded, GradientBoostingRegressor), notes="",
    ),
    _CLASSES["sklearn-k-nn"].of_numbers("sklearn-k-nn-regressor"),
)  # fmt: skip
_KNOWN = ("psephos", "sklearn")  # packages whose models do not end their process or print
#: By the type of the target; those for classes also for several labels.
_PEERS_OF = {"classes": _PEERS, "labels": _PEERS, "numbers": _NUMBER_PEERS}
PEERS: dict[str, Contender] = {one.name: one for one in (*_PEERS, *_NUMBER_PEERS)}


#: Models that are compared if none are named: of each family one that was the best on some table
#: (DECISIONS/0069), and those that always predict the same class or number.
_DEFAULT = {
    "samba", "swag", "proset", "random-forest", "newton-boosting", "rank-ridge", "column-budget-4",
    "column-budget-8", "column-budget-16", "sklearn-l1-logistic", "sklearn-svm-rbf", "majority",
    "swag-regressor", "random-forest-regressor", "gradient-boosting-regressor",
    "rank-ridge-regressor", "column-budget-4-regressor", "column-budget-8-regressor",
    "column-budget-16-regressor", "sklearn-ridge", "sklearn-lasso", "mean",
}  # fmt: skip


# ------------------------------------------------------------------- models of psephos
def known_models(kind: str = "classes") -> dict[str, Contender]:
    """Return every contender by name: models of psephos, registered ones, other libraries'.

    Parameters
    ----------
    kind : {'classes', 'labels', 'numbers'}, default='classes'
        The type of the target (`DataTable.kind`).
    """
    own = RegressorMixin if kind == "numbers" else ClassifierMixin
    ours = [
        replace(
            one,
            build=partial(_build, model, model.contender.variants.get(one.name, {})),
            multilabel=getattr(model, "multilabel", False),
            apart=model.__module__.partition(".")[0] not in _KNOWN,
        )
        for model in estimator_classes().values()
        if issubclass(model, own)
        for one in (model.contender, *map(model.contender.variant, model.contender.variants))
    ]
    for one in ours:
        if one.name in PEERS:
            raise PsephosError(
                f"a model is registered as {one.name!r}, the name of another library's: rename it."
            )
    every = [*ours, *(PEERS[one.name] for one in _PEERS_OF[kind])]
    return {one.name: replace(one, default=one.default or one.name in _DEFAULT) for one in every}


def _build(model: Any, fixed: Mapping[str, Any], drawn: Params, shape: Shape, seed: int) -> Any:
    """Return an unfitted model of psephos, in a pipeline if it cannot read the table."""
    settings, params = model.contender.settings, {**fixed, **drawn}
    built = model(**(params if settings is None else settings(params, shape, seed)))
    if "random_state" in built.get_params(deep=False):
        built.set_params(random_state=seed)
    if shape.views and "views" in built.get_params(deep=False):
        built.set_params(views=[(one, list(own)) for one, own in shape.views])
    return _reading(built, shape)


def _reading(model: Any, shape: Shape) -> Any:
    """Return a model of psephos that reads categories, or a pipeline that encodes them."""
    if not shape.categorical:
        return model
    if model.reads_categories():
        return model.set_params(categorical_features=list(shape.categorical))
    return prepared(model, shape)


# ------------------------------------------------------------------- estimators that are given
def _given(one: object, kind: str) -> Contender:
    """Return the contender of an estimator, its class or 'module:Class'; it is not tuned."""
    model: Any = _class_at(one) if isinstance(one, str) else one
    wanted = "regressor" if kind == "numbers" else "classifier"
    try:
        model = model() if isinstance(model, type) else model
        right = getattr(_sklearn, f"is_{wanted}")(_sklearn.clone(model))
    except Exception as error:  # a constructor may raise anything
        raise PsephosError(
            f"{one!r} is not an estimator with default parameters ({type(error).__name__}: "
            f"{error}): give one with scikit-learn's interface, in Python an instance."
        ) from error
    if not right:
        raise PsephosError(
            f"{one if isinstance(one, str) else type(model).__name__} is not a {wanted}, and the "
            f"target holds {kind} (change it with --task, in Python task=): name a {wanted}."
        )
    own: Any = model.__class__
    root, notes = own.__module__.partition(".")[0], f"{own.__qualname__} with the parameters given"
    name = re.sub(r"\W", "", own.__name__, flags=re.ASCII).lstrip("_")[:64] or "estimator"
    declared, apart = getattr(own, "contender", None), isinstance(one, str) and root not in _KNOWN
    if isinstance(declared, Contender):
        many, build = getattr(own, "multilabel", False), partial(_clone, model, _reading)
        whole = replace(declared, distributions={}, first={}, variants={}, default=False)
        whole = replace(whole, shares="", in_search={})
        return replace(whole, name=name, notes=notes, multilabel=many, build=build, apart=apart)
    build = partial(_clone, model, partial(prepared, scale=True))
    needs = "" if root == "sklearn" else root
    known: Params = {"origin": "baseline", "needs": needs, "notes": notes, "apart": apart}
    return Contender(name, "other", build=build, **known)


def _class_at(place: str) -> object:
    """Return the object 'module:Class'; the code of the module is run."""
    module, _, name = place.partition(":")
    try:
        return attrgetter(name)(import_module(module))
    except Exception as error:  # an imported module may raise anything
        raise PsephosError(
            f"the model {place!r} cannot be imported ({type(error).__name__}: {error}): write "
            "module:Class, as in sklearn.naive_bayes:GaussianNB."
        ) from error


def _clone(
    model: Estimator, ready: Callable[[Any, Shape], Any], params: Params, shape: Shape, seed: int
) -> Any:
    """Return a copy made `ready` for the table, with seeds for random states that are None."""
    copy: Any = _sklearn.clone(model)
    known: Params = copy.get_params()
    open_ = [key for key in known if key.endswith("random_state") and known[key] is None]
    return ready(copy.set_params(**dict.fromkeys(open_, seed)), shape)


def built(contender: Contender, params: Params, shape: Shape, seed: int) -> Any:
    """Return an unfitted model for a table; one per label if it does not support several."""
    if not shape.multilabel or contender.multilabel:
        return contender.build(params, shape, seed)
    of_label = replace(shape, n_classes=2, multilabel=False)
    return OneModelALabel(contender.build(params, of_label, seed))


# ------------------------------------------------------------------- who takes part


def default_models(kind: str = "classes") -> tuple[str, ...]:
    """Return the models compared by default, as far as their packages are installed.

    For several labels per row, those that support them: others need one fit per label.
    """
    known = {name: one for name, one in known_models(kind).items() if one.available}
    if kind == "labels":
        return tuple(n for n, one in known.items() if one.multilabel and not one.variant_of)
    return tuple(name for name, one in known.items() if one.default)


def contenders(
    models: Sequence[object] | None, kind: str = "classes", *, n_told: int = 2
) -> list[Contender]:
    """Return the contenders that `models` names, by default those for fully known labels.

    Each is a name, a Contender, an estimator or its class, or the path of one, 'module:Class'.
    'all' means every one that is installed and supports `n_told` classes. For numbers the name of a
    classifier means the corresponding regressor.
    """
    known = known_models(kind)
    named: Sequence[object] = default_models(kind) if models is None else models
    if isinstance(named, str):
        named = [one.strip() for one in named.split(",")]
    if list(named) == ["all"]:
        able = (one for one in known.values() if one.default or not one.variant_of)
        named = [one.name for one in able if one.available and not (one.two_classes and n_told > 2)]
    found: list[Contender] = []
    for one in named:
        if not isinstance(one, str | Contender) or (isinstance(one, str) and ":" in one):
            one = _given(one, kind)
        if not isinstance(one, Contender):
            if one not in known and f"{one}-regressor" in known:
                one = f"{one}-regressor"
            if one not in known:
                _refuse_other_kind(one, kind)
                raise PsephosError(
                    f"there is no model {one!r}: {suggest(str(one), known)} All: psephos list."
                )
            one = known[one]
        if one.two_classes and n_told > 2:
            raise PsephosError(
                f"the model {one.name!r} supports two classes, and there are {n_told}: leave it "
                "out, or merge classes."
            )
        if not one.available:
            raise MissingExtraError(one.needs, f"the model {one.name!r}", one.needs)
        if one.name in {other.name for other in found}:
            raise PsephosError(f"models names {one.name!r} twice: name each model once.")
        found.append(one)
    if not found:
        raise PsephosError(f"models is empty: {suggest('', known)}")
    return found


def _refuse_other_kind(name: str, kind: str) -> None:
    """Raise PsephosError if a model predicts numbers and the target has classes, or vice versa."""
    numbers = kind == "numbers"
    if name in known_models("classes" if numbers else "numbers"):
        made, held = ("classes", "numbers") if numbers else ("numbers", "classes")
        alike = {"majority": "mean", "mean": "majority"}.get(name, name.removesuffix("-regressor"))
        near = suggest(alike, default_models(kind))
        raise PsephosError(
            f"the model {name!r} predicts {made}, and the target holds {held} (change it with "
            f"--task, in Python task=): {near}"
        )


def partial_contenders(
    models: Sequence[object] | None, table: DataTable, n_told: int
) -> list[Contender]:
    """Return the contenders that `models` names, by default those for the table.

    If labels are partly recorded, the default also has the models that learn from rows without a
    label, as far as the records suffice for them; if there are views, the multi-view model.
    """
    partial = table.partial
    views = "multi-view-regressor" if table.kind == "numbers" else "multi-view"
    if partial is not None and models is None:
        models = [*default_models(), *_taking(both=not partial.one_class)]
    elif table.views and models is None:
        models = [*default_models(table.kind), views]
    named = contenders(models, table.kind, n_told=n_told)
    if table.views and views not in {one.name for one in named}:
        raise PsephosError(f"views need the model {views}: name it, or leave the views out.")
    if partial is not None and not partial.one_class:
        return named
    unfit = [
        one.name for one in named
        if (one.both_recorded if partial else one.family == "weak labels")
    ]  # fmt: skip
    if not unfit or list(models or ()) == ["all"] or models == "all":
        return [one for one in named if one.name not in unfit]
    if partial is None:
        raise PsephosError(f"{' and '.join(unfit)}: {NO_UNLABELED}, or leave the model out.")
    raise PsephosError(
        f"{table.target_name!r} records {str(table.classes[partial.positive])!r} alone, and "
        f"{' and '.join(unfit)} cannot be fitted without records of both classes: leave out "
        f"{' and '.join(unfit)}; 'pu' learns from positives and cases without a label."
    )


def _taking(*, both: bool) -> list[str]:
    """Return the models that learn from rows without a label and are not default models."""
    every = known_models().values()
    taking = [one for one in every if one.partial_labels and not one.default and one.available]
    return [one.name for one in taking if both or not one.both_recorded]
