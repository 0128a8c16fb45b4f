"""The contenders of a comparison: how each is built, and what it is tuned over."""

from collections.abc import Mapping, Sequence
from typing import Any

from psephos._errors import MissingExtraError, PsephosError
from psephos._files.near import suggest
from psephos.protocol import building
from psephos.protocol.contender import Contender, Params
from psephos.protocol.distributions import Choice, Distribution, Integers, LogUniform, Uniform
from psephos.protocol.pipelines import Shape

__all__ = [
    "CONTENDERS",
    "Contender",
    "Params",
    "Shape",
    "contenders",
    "default_models",
    "final_step",
]

_WEIGHTS = Choice(("balanced", None))


# ------------------------------------------------------------------- the registry
def _both(quick: Mapping[str, Distribution], samba: Mapping[str, Distribution]) -> Any:
    return {"quick": quick, "samba": samba}


_ALL = (
    Contender(
        "samba",
        "boosting",
        "psephos",
        building.samba,
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
        notes="not Algorithm 3 as published, under any protocol ('samba' too): weights move by the "
        "rule of the authors' program, with each row left out of the vote on itself; distances are "
        "divided by their mean over training pairs, columns by their standard deviation; voters "
        "are Gini stumps unless the criterion is drawn. Published are update='sample', "
        "distance_scale=None, column_scale=None. The floor a is drawn log-uniformly",
    ),
    Contender(
        "adaboost",
        "boosting",
        "psephos",
        building.adaboost,
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
    Contender(
        "swag",
        "library",
        "psephos",
        building.swag,
        _both(
            {
                "alpha": LogUniform(0.01, 0.1),
                "vote": Choice(("majority", "mean")),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "alpha": LogUniform(0.01, 0.1),
                "delta": LogUniform(0.01, 0.2),
                "vote": Choice(("majority", "mean")),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        notes="logistic regressions on few columns each (events per variable, at most 6), at most "
        "2000 candidates a step judged in 5 folds of the training part; the source tries up to "
        "40,000, ten times in 10 folds",
        grouped=True,
    ),
    Contender(
        "proset",
        "prototypes",
        "psephos",
        building.proset,
        _both(
            {
                "lambda_v": LogUniform(1e-4, 1.0),
                "n_batches": Integers(1, 4),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "lambda_v": LogUniform(1e-6, 1.0),
                "n_batches": Integers(1, 10),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        notes="drawn like the other models; the source's own rule, which prefers fewer columns, is "
        "ProsetSearchCV",
    ),
    Contender(
        "cart",
        "tree",
        "psephos",
        building.cart,
        _both(
            {
                "criterion": Choice(("gini", "entropy")),
                "min_samples_split": Integers(4, 40),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "max_depth": Integers(1, 30),
                "criterion": Choice(("gini", "entropy")),
                "min_samples_split": Integers(2, 40),
                "class_weight": _WEIGHTS,
            },
        ),
        first={"quick": {"class_weight": "balanced"}},
        notes="grown to cp = 0.0001 and pruned by the 1-SE rule in 10 folds of the training part; "
        "surrogates only where values are missing or categories; their columns, asked where "
        "another is missing, are not counted as used",
        grouped=True,
        default=False,
    ),
    Contender(
        "c45",
        "tree",
        "psephos",
        building.c45,
        _both(
            {
                "confidence": LogUniform(0.01, 0.5),
                "min_samples_leaf": Integers(1, 10),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "confidence": LogUniform(0.001, 0.5),
                "min_samples_leaf": Integers(1, 20),
                "binary_splits": Choice((False, True)),
                "class_weight": _WEIGHTS,
            },
        ),
        first={"quick": {"class_weight": "balanced"}},
        default=False,
    ),
    Contender(
        "c45-rules",
        "tree",
        "psephos",
        building.c45_rules,
        _both(
            {
                "confidence": LogUniform(0.01, 0.5),
                "min_samples_leaf": Integers(1, 10),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "confidence": LogUniform(0.001, 0.5),
                "min_samples_leaf": Integers(1, 20),
                "class_weight": _WEIGHTS,
            },
        ),
        first={"quick": {"class_weight": "balanced"}},
        default=False,
    ),
    Contender(
        "random-forest",
        "forest",
        "psephos",
        building.random_forest,
        _both(
            {
                "max_depth": Integers(2, 10),
                "min_samples_leaf": Integers(1, 5),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "criterion": Choice(("gini", "entropy")),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        default=False,
    ),
    Contender(
        "extra-trees",
        "forest",
        "psephos",
        building.extra_trees,
        _both(
            {
                "max_depth": Integers(2, 10),
                "min_samples_leaf": Integers(1, 5),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "criterion": Choice(("gini", "entropy")),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        default=False,
    ),
    Contender(
        "pure-random-forest",
        "forest",
        "psephos",
        building.pure_random_forest,
        _both(
            {
                "max_leaf_nodes": Integers(2, 64),
                "split": Choice(("uniform", "midpoint", "balanced")),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "n_estimators": Integers(1, 300),
                "max_leaf_nodes": Integers(2, 256),
                "split": Choice(("uniform", "midpoint", "balanced")),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"class_weight": "balanced"}},
        notes="its cells are drawn without looking at the classes; where the table has categories "
        "it reads one column of 0 and 1 per level, and medians where values are missing",
        default=False,
    ),
    Contender(
        "gradient-boosting",
        "boosting",
        "psephos",
        building.gradient_boosting,
        _both(
            {
                "n_estimators": Integers(10, 40),
                "max_depth": Integers(1, 3),
                "learning_rate": LogUniform(0.05, 0.5),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "loss": Choice(("log_loss", "exponential")),
                "learning_rate": Uniform(0, 1),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        # as with scikit-learn's below
        first={"quick": {"n_estimators": 30, "learning_rate": 0.2, "class_weight": "balanced"}},
        binary_only={"loss": ("exponential",)},
        notes="every cut is looked at",
        default=False,
    ),
    Contender(
        "newton-boosting",
        "boosting",
        "psephos",
        building.newton_boosting,
        _both(
            {
                "n_estimators": Integers(20, 100),
                "max_depth": Integers(1, 6),
                "learning_rate": LogUniform(0.03, 0.5),
                "class_weight": Choice(("balanced",)),  # as with SamBA
            },
            {
                "n_estimators": Integers(1, 300),
                "max_depth": Integers(1, 10),
                "learning_rate": Uniform(0, 1),
                "class_weight": _WEIGHTS,
            },
        ),
        ensemble=True,
        first={"quick": {"n_estimators": 50, "class_weight": "balanced"}},
        notes="histograms up to 1,000 columns, every cut beyond",
        default=False,
    ),
    Contender("majority", "none", "baseline", building.majority, _both({}, {})),
    Contender(
        "sklearn-l1-logistic",
        "linear",
        "baseline",
        building.sklearn_l1_logistic,
        _both(
            {"C": LogUniform(1e-2, 1e2), "class_weight": _WEIGHTS},
            {"C": LogUniform(1e-3, 1e3), "class_weight": _WEIGHTS},
        ),
        notes="the source gives no distribution for its Lasso; C is that of its SVM",
    ),
    Contender(
        "sklearn-random-forest",
        "forest",
        "baseline",
        building.sklearn_random_forest,
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
        "sklearn-svm-rbf",
        "kernel",
        "baseline",
        building.sklearn_svm_rbf,
        _both(
            {"C": LogUniform(1e-2, 1e3), "class_weight": _WEIGHTS},
            {"C": LogUniform(1e-3, 1e3)},
        ),
        notes="probabilities are the logistic function (softmax) of the decision values",
    ),
    Contender(
        "sklearn-k-nn",
        "neighbours",
        "baseline",
        building.sklearn_k_nn,
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
        "sklearn-decision-tree",
        "tree",
        "baseline",
        building.sklearn_decision_tree,
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
        "sklearn-gradient-boosting",
        "boosting",
        "baseline",
        building.sklearn_gradient_boosting,
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
        "boosting",
        "baseline",
        building.xgboost,
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
    """Return who takes part if no models are named, as far as their packages are installed."""
    return tuple(n for n, one in CONTENDERS.items() if one.default and one.available)


def contenders(models: Sequence[str | Contender] | None) -> list[Contender]:
    """Return the contenders that `models` names.

    Raises
    ------
    PsephosError
        If a name is unknown or stands twice, or none is given; 'all' alone names every one that
        is installed.
    MissingExtraError
        If the package of a model is not installed.
    """
    named: Sequence[str | Contender] = default_models() if models is None else models
    if isinstance(named, str):
        named = [one.strip() for one in named.split(",")]
    if list(named) == ["all"]:
        named = [name for name, one in CONTENDERS.items() if one.available]
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
