"""The contenders of a comparison: how each is built, and what it is tuned over."""

# pyright: reportMissingTypeStubs=false

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from psephos._errors import MissingExtraError, PsephosError
from psephos.protocol._near import suggest
from psephos.protocol.distributions import Choice, Distribution, Integers, LogUniform, Uniform
from psephos.protocol.pipelines import Shape, prepared

__all__ = ["CONTENDERS", "Contender", "contenders", "default_models"]

Params = dict[str, Any]
_WEIGHTS = Choice(("balanced", None))


@dataclass(frozen=True)
class Contender:
    """A model that takes part in comparisons.

    Parameters
    ----------
    name : str
        The word in `models=` and in results.
    label, family : str
        For people.
    origin : {'psephos', 'baseline'}
    build : callable (params, shape, seed) -> estimator
        A fresh estimator; `params` are the drawn values.
    distributions : dict of str to dict of str to Distribution
        What is drawn, by the name of the set ('quick', 'samba').
    ensemble : bool, default=False
        Whether its answer is made of many models' answers.
    needs : str, default=""
        An optional package, which is also the name of the extra that installs it.
    first : dict of str to dict
        The default setting of a set, where it is not the constructor's: what the first draw is
        if the protocol says `defaults_first`.
    notes : str, default=""
        What a reader of results should know.
    binary_only : dict of str to tuple
        Values of a `Choice` that only two classes allow.
    """

    name: str
    label: str
    family: str
    origin: str
    build: Callable[[Params, Shape, int], Any]
    distributions: Mapping[str, Mapping[str, Distribution]]
    ensemble: bool = False
    needs: str = ""
    first: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    notes: str = ""
    binary_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])

    def drawn(self, which: str, n_classes: int) -> dict[str, Distribution]:
        """Return the distributions of a set, without the values that only two classes allow."""
        found = dict(self.distributions[which])
        if n_classes > 2:
            for name, dropped in self.binary_only.items():
                given = found.get(name)
                if isinstance(given, Choice):
                    found[name] = Choice(tuple(v for v in given.values if v not in dropped))
        return found

    @property
    def available(self) -> bool:
        """Return whether its package is installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None


# ------------------------------------------------------------------- building
def _majority(params: Params, shape: Shape, seed: int) -> Any:
    return DummyClassifier(strategy="prior", **params)


def _l1_logistic(params: Params, shape: Shape, seed: int) -> Any:
    # coordinate descent beats saga by an order of magnitude on fat tables, but knows two classes
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    l1: Params = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}
    model: Any = LogisticRegression(
        solver="liblinear", max_iter=200, tol=1e-3, random_state=seed, **l1, **params
    )
    if shape.n_classes > 2:
        model = OneVsRestClassifier(model)
    return prepared(model, shape, scale=True)


def _forest(params: Params, shape: Shape, seed: int) -> Any:
    return prepared(RandomForestClassifier(random_state=seed, **params), shape)


def _svm(params: Params, shape: Shape, seed: int) -> Any:
    model = SVC(kernel="rbf", break_ties=shape.n_classes > 2, random_state=seed, **params)
    return prepared(model, shape, scale=True)


def _neighbours(params: Params, shape: Shape, seed: int) -> Any:
    return prepared(KNeighborsClassifier(**params), shape, scale=True)


def _tree(params: Params, shape: Shape, seed: int) -> Any:
    return prepared(DecisionTreeClassifier(random_state=seed, **params), shape)


def _gradient_boosting(params: Params, shape: Shape, seed: int) -> Any:
    return prepared(GradientBoostingClassifier(random_state=seed, **params), shape)


def _xgboost(params: Params, shape: Shape, seed: int) -> Any:
    import xgboost  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]

    booster: Any = xgboost
    return prepared(booster.XGBClassifier(n_jobs=1, random_state=seed, **params), shape)


def _samba(params: Params, shape: Shape, seed: int) -> Any:
    from psephos.models import SamBAClassifier

    found: Any = SamBAClassifier
    return found(categorical_features=_categorical(shape), random_state=seed, **params)


def _adaboost(params: Params, shape: Shape, seed: int) -> Any:
    from psephos.models import AdaBoostClassifier

    found: Any = AdaBoostClassifier
    rest = dict(params)
    depth, weight = rest.pop("max_depth", 1), rest.pop("class_weight", None)
    if depth == 1 and weight is None:  # the library's own stump
        return found(categorical_features=_categorical(shape), random_state=seed, **rest)
    # class weights live in the trees, as with scikit-learn's AdaBoost, which has none of its own
    tree = DecisionTreeClassifier(max_depth=depth, class_weight=weight, random_state=seed)
    model = found(tree, random_state=seed, **rest)
    # trees of scikit-learn know no categories and would read codes as numbers
    return prepared(model, shape) if shape.categorical else model


def _categorical(shape: Shape) -> list[int] | None:
    return list(shape.categorical) or None


# ------------------------------------------------------------------- the registry
def _both(quick: Mapping[str, Distribution], samba: Mapping[str, Distribution]) -> Any:
    return {"quick": quick, "samba": samba}


_ALL = (
    Contender(
        "samba",
        "SamBA",
        "boosting",
        "psephos",
        _samba,
        _both(
            {
                "n_estimators": Integers(20, 80),
                "a": LogUniform(3e-2, 1),
                "b": Uniform(1, 6),
                "criterion": Choice(("error", "gini")),
                "class_weight": Choice(("balanced",)),  # what is measured is balanced accuracy
            },
            {
                "n_estimators": Integers(1, 70),
                "b": Uniform(0.1, 6),
                "a": LogUniform(1e-10, 1),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        notes="a is drawn log-uniformly; the other settings are the constructor's, whose distances "
        "and update are not those of the source's Algorithm 3 (see the class)",
    ),
    Contender(
        "adaboost",
        "AdaBoost",
        "boosting",
        "psephos",
        _adaboost,
        _both(
            {"n_estimators": Integers(5, 100), "learning_rate": LogUniform(0.1, 1)},
            {
                "n_estimators": Integers(1, 100),
                "max_depth": Integers(1, 3),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        notes="class_weight is that of its trees; without it, depth 1 is the library's own stump",
    ),
    Contender("majority", "Majority class", "none", "baseline", _majority, _both({}, {})),
    Contender(
        "l1-logistic",
        "L1 logistic regression",
        "linear",
        "baseline",
        _l1_logistic,
        _both(
            {"C": LogUniform(1e-2, 1e2), "class_weight": _WEIGHTS},
            {"C": LogUniform(1e-3, 1e3), "class_weight": _WEIGHTS},
        ),
        notes="the source gives no distribution for its Lasso; C is that of its SVM",
    ),
    Contender(
        "random-forest",
        "Random forest",
        "forest",
        "baseline",
        _forest,
        _both(
            {
                "max_depth": Integers(2, 10),
                "min_samples_leaf": Integers(1, 5),
                "class_weight": _WEIGHTS,
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "criterion": Choice(("gini", "entropy")),
            },
        ),
        ensemble=True,
    ),
    Contender(
        "svm-rbf",
        "SVM, Gaussian kernel",
        "kernel",
        "baseline",
        _svm,
        _both(
            {"C": LogUniform(1e-2, 1e3), "class_weight": _WEIGHTS},
            {"C": LogUniform(1e-3, 1e3)},
        ),
        notes="probabilities are the logistic function (softmax) of the decision values",
    ),
    Contender(
        "k-nn",
        "k nearest neighbours",
        "neighbours",
        "baseline",
        _neighbours,
        _both(
            {"n_neighbors": Integers(1, 15), "weights": Choice(("uniform", "distance"))},
            {
                "n_neighbors": Integers(1, 10),
                "weights": Choice(("uniform", "distance")),
                "algorithm": Choice(("auto", "ball_tree", "kd_tree", "brute")),
                "p": Choice((1, 2)),
            },
        ),
    ),
    Contender(
        "decision-tree",
        "Decision tree",
        "tree",
        "baseline",
        _tree,
        _both(
            {
                "max_depth": Integers(1, 10),
                "min_samples_leaf": Integers(1, 10),
                "class_weight": _WEIGHTS,
            },
            {
                "max_depth": Integers(1, 300),
                "criterion": Choice(("gini", "entropy")),
                "splitter": Choice(("best", "random")),
                "class_weight": _WEIGHTS,
            },
        ),
    ),
    Contender(
        "gradient-boosting",
        "Gradient boosting",
        "boosting",
        "baseline",
        _gradient_boosting,
        _both(
            {
                "n_estimators": Integers(10, 40),
                "max_depth": Integers(1, 3),
                "learning_rate": LogUniform(0.05, 0.5),
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "loss": Choice(("log_loss", "exponential")),
                "learning_rate": Uniform(0, 1),
            },
        ),
        ensemble=True,
        # every split looks at all columns, or it would use columns it has no need of: few trees
        first={"quick": {"n_estimators": 30, "learning_rate": 0.2}},
        binary_only={"loss": ("exponential",)},
        notes="the source's losses log_loss and deviance are one loss",
    ),
    Contender(
        "xgboost",
        "XGBoost",
        "boosting",
        "baseline",
        _xgboost,
        _both(
            {
                "n_estimators": Integers(20, 100),
                "max_depth": Integers(1, 6),
                "learning_rate": LogUniform(0.03, 0.5),
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "objective": Choice(("binary:logistic", "binary:hinge")),
                "learning_rate": Uniform(0, 1),
            },
        ),
        ensemble=True,
        needs="xgboost",
        first={"quick": {"n_estimators": 50}},
        notes="with more than two classes the objective is multi:softprob",
    ),
)

CONTENDERS: dict[str, Contender] = {one.name: one for one in _ALL}


def default_models() -> tuple[str, ...]:
    """Return the names of all contenders whose packages are installed."""
    return tuple(name for name, one in CONTENDERS.items() if one.available)


def contenders(models: Sequence[str | Contender] | None) -> list[Contender]:
    """Return the contenders that `models` names.

    Raises
    ------
    PsephosError
        If a name is unknown or stands twice, or none is given.
    MissingExtraError
        If the package of a model is not installed.
    """
    named: Sequence[str | Contender] = default_models() if models is None else models
    if isinstance(named, str):
        named = [one.strip() for one in named.split(",")]
    found: list[Contender] = []
    for one in named:
        if not isinstance(one, Contender):
            if one not in CONTENDERS:
                raise PsephosError(f"there is no model {one!r}: {suggest(str(one), CONTENDERS)}")
            one = CONTENDERS[one]
        if not one.available:
            raise MissingExtraError(one.needs, f"the model {one.name!r}", one.needs)
        if one.name in {other.name for other in found}:
            raise PsephosError(f"models names {one.name!r} twice: name each model once.")
        found.append(one)
    if not found:
        raise PsephosError(f"models is empty: {suggest('', CONTENDERS)}")
    return found


def final_step(estimator: Any) -> Any:
    """Return the model at the end of a pipeline, or the estimator itself."""
    steps: Any = getattr(estimator, "steps", None)
    return estimator if steps is None else steps[-1][1]
