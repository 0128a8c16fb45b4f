"""One table of small settings: every estimator, every part that changes how it answers."""

from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from psephos.models.boosting.adaboost import AdaBoostClassifier
from psephos.models.boosting.compressed_samba import CompressedSamBAClassifier
from psephos.models.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from psephos.models.boosting.local_boosting import LocalBoostingClassifier
from psephos.models.boosting.newton import NewtonBoostingClassifier, NewtonBoostingRegressor
from psephos.models.boosting.samba import SamBAClassifier
from psephos.models.boosting.soft.estimators import SoftGradientBoostingClassifier
from psephos.models.columns.budget import ColumnBudgetClassifier
from psephos.models.committees.bagging import BaggingClassifier
from psephos.models.committees.multi_view import MultiViewClassifier
from psephos.models.committees.stacking import StackingClassifier
from psephos.models.committees.voting import VotingClassifier
from psephos.models.forest.extra_trees import ExtraTreesClassifier
from psephos.models.forest.pure import PureRandomForestClassifier
from psephos.models.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from psephos.models.prototypes.proset import ProsetClassifier, ProsetRegressor
from psephos.models.swag.wrapper import SparseWrapperClassifier, SparseWrapperRegressor
from psephos.models.tree.c45 import C45Classifier
from psephos.models.tree.cart import CARTClassifier, CARTRegressor
from psephos.models.tree.linear_tree import LinearTreeClassifier, LinearTreeRegressor
from psephos.models.weak.liois import LIoISClassifier
from psephos.models.weak.one_sided import OneSidedNoiseClassifier
from psephos.models.weak.pu import PUClassifier
from psephos.registry import estimator_classes


def small_settings() -> dict[str, Any]:
    """Return small unfitted estimators by name: every model, as its `contender` says, and others.

    A model that is registered is there by its own name; further settings, one for each part that
    changes how a model of psephos answers, are listed here.
    """
    few: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
    tree = DecisionTreeClassifier(max_depth=2)
    linear: Any = LinearSVC  # declared narrower than it is
    line = linear(C=0.05, penalty="l1", dual=False)
    models: list[Any] = list(estimator_classes().values())
    return {
        **{model.contender.name: model(**model.contender.small) for model in models},
        "adaboost-error": AdaBoostClassifier(criterion="error", **few),
        "adaboost-trees": AdaBoostClassifier(tree, **few),
        "adaboost-held-out": AdaBoostClassifier(validation_fraction=0.3, **few),
        "adaboost-c45": AdaBoostClassifier(C45Classifier(), **few),
        "samba-gini": SamBAClassifier(criterion="gini", **few),
        "samba-paper": SamBAClassifier(distance_scale=None, column_scale=None, **few),
        "samba-exact": SamBAClassifier(a=0.0, **few),
        "samba-vote": SamBAClassifier(update="vote", **few),
        "samba-program": SamBAClassifier(
            update="vote", leave_one_out=False, distance_scale="sum", column_scale=None, **few
        ),
        "samba-anchors": SamBAClassifier(n_anchors=20, **few),
        "samba-held-out": SamBAClassifier(validation_fraction=0.3, **few),
        "samba-trees": SamBAClassifier(tree, **few),
        "samba-cart": SamBAClassifier(CARTClassifier(max_depth=1, n_folds=0), **few),
        "samba-lines": SamBAClassifier(line, **few),
        "samba-bayes": SamBAClassifier(GaussianNB(), **few),
        **_local(),
        **_gradient(),
        **_newton(),
        **_soft(),
        **_prototypes(),
        **_c45(),
        **_cart(),
        **_forests(),
        **_libraries(),
        **_committees(),
        **_weak(),
    }


def _local() -> dict[str, Any]:
    few: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
    ada: dict[str, Any] = {
        "relevance": "right", "difficulty": "log-odds", "weighting": "log-odds",
    }  # fmt: skip
    tree = DecisionTreeClassifier(max_depth=2)
    return {
        "local-boosting-classes": LocalBoostingClassifier(**few),
        "local-boosting-function": LocalBoostingClassifier(
            relevance=_sure, prior="balanced", **few
        ),
        "local-boosting-log-odds": LocalBoostingClassifier(says="probability", **ada, **few),
        "local-boosting-trees": LocalBoostingClassifier(tree, says="probability", **few),
        "compressed-samba-near": CompressedSamBAClassifier(
            distance_columns=[0, 2], n_anchors=20, **few
        ),
    }


def _sure(seen: Any) -> Any:
    """Return a relevance that is more than right or wrong."""
    return (1.0 + seen.agreement) ** 2 + 0.01


def _gradient() -> dict[str, Any]:
    few: dict[str, Any] = {"n_estimators": 4, "learning_rate": 0.7, "random_state": 0}
    return {
        "gradient-hist": GradientBoostingClassifier(tree_method="hist", max_leaf_nodes=5, **few),
        "gradient-held-out": GradientBoostingClassifier(n_iter_no_change=2, **few),
        "gradient-sampled": GradientBoostingClassifier(subsample=0.7, max_features=0.5, **few),
        "gradient-numbers-absolute": GradientBoostingRegressor(loss="absolute_error", **few),
        "gradient-numbers-quantile": GradientBoostingRegressor(
            loss="quantile", alpha=0.6, max_depth=None, max_leaf_nodes=6, **few
        ),
    }


def _newton() -> dict[str, Any]:
    few: dict[str, Any] = {"n_estimators": 4, "max_depth": 3, "random_state": 0}
    return {
        "newton-hist": NewtonBoostingClassifier("hist", **few),
        "newton-approx": NewtonBoostingClassifier("approx", **few),
        "newton-lossguide": NewtonBoostingClassifier(
            "hist", grow_policy="lossguide", max_leaves=5, **few
        ),
        "newton-held-out": NewtonBoostingClassifier(validation_fraction=0.3, **few),
        "newton-sampled": NewtonBoostingClassifier(
            subsample=0.7, colsample_bytree=0.8, colsample_bylevel=0.8, colsample_bynode=0.8, **few
        ),
        "newton-numbers-hist": NewtonBoostingRegressor("hist", **few),
    }


def _soft() -> dict[str, Any]:
    few: dict[str, Any] = {"max_depth": 2, "max_iter": 5, "random_state": 0}
    return {
        "soft-boosting-sparse": SoftGradientBoostingClassifier(
            3, gate_lasso=0.5, temperature=0.5, **few
        ),
        "soft-boosting-held-out": SoftGradientBoostingClassifier(
            3, detach_residual=True, learning_rate=0.7, validation_fraction=0.3, **few
        ),
    }


def _prototypes() -> dict[str, Any]:
    return {
        "proset-batches": ProsetClassifier(3, n_candidates=20, random_state=0),
        "proset-correct": ProsetClassifier(2, grouping="correct", random_state=0),
        "proset-sparse": ProsetClassifier(lambda_v=0.1, alpha_v=1.0, random_state=0),
        "proset-numbers-batches": ProsetRegressor(2, lambda_v=0.01, random_state=0),
    }


def _c45() -> dict[str, Any]:
    return {
        "c45-unpruned": C45Classifier(pruning=None),
        "c45-of-three": C45Classifier(3),
        "c45-release-8": C45Classifier(release="c45"),
    }


def _forests() -> dict[str, Any]:
    few: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
    small: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": 2, "max_features": 0.5}
    return {
        "forest-entropy": RandomForestClassifier(criterion="entropy", oob_score=True, **few),
        "forest-small": RandomForestClassifier(bootstrap=False, max_bins=5, **small, **few),
        "forest-numbers": RandomForestRegressor(oob_score=True, **few),
        "extra-trees-small": ExtraTreesClassifier(bootstrap=True, max_samples=0.5, **small, **few),
        "forest-pure-balanced": PureRandomForestClassifier(split="balanced", **few),
    }


def _cart() -> dict[str, Any]:
    few: dict[str, Any] = {"min_samples_split": 6, "n_folds": 3, "random_state": 0}
    return {
        "cart-twoing": CARTClassifier(criterion="twoing", surrogate_style="known", cp=0, **few),
        "cart-stays": CARTClassifier(criterion="entropy", use_surrogates="none", **few),
        "cart-numbers-only": CARTRegressor(use_surrogates="only", max_surrogates=1, **few),
        "linear-tree-leaves": LinearTreeClassifier(1.0, n_folds=0, max_depth=2),
        "linear-tree-numbers-leaves": LinearTreeRegressor(10.0, max_terms=3, n_folds=0),
    }


def _libraries() -> dict[str, Any]:
    small: dict[str, Any] = {
        "p_max": 2, "m": 30, "alpha": 0.3, "delta": 0.2, "n_folds": 3, "random_state": 0,
    }  # fmt: skip
    few: dict[str, Any] = {**small, "m": 4, "n_repeats": 1}
    names = ("lasso", "lda", "naive_bayes", "linear_svm", "rbf_svm", "tree", "forest")
    return {
        "swag-mean": SparseWrapperClassifier(vote="mean", **small),
        "swag-performance": SparseWrapperClassifier(vote="performance", **small),
        "swag-best": SparseWrapperClassifier(vote="best", absent="vote", n_reserve=9, **small),
        **{f"swag-{name}": SparseWrapperClassifier(name, **small) for name in names},
        "swag-c45": SparseWrapperClassifier(C45Classifier(), **few),
        "swag-numbers-tree": SparseWrapperRegressor("tree", vote="performance", **small),
        "swag-numbers-forest": SparseWrapperRegressor("forest", vote="best", **small),
        "swag-numbers-cart": SparseWrapperRegressor(CARTRegressor(n_folds=0), **few),
    }


def _weak() -> dict[str, Any]:
    tree = CARTClassifier(min_samples_split=6, n_folds=0)
    return {
        "pu-rank": PUClassifier(scaling="rank", random_state=0),
        "pu-kernels": PUClassifier(kernel="rbf", alpha=1e-3, n_components=20, random_state=0),
        "pu-tree": PUClassifier(tree, risk="unbiased", random_state=0),
        "one-sided-noise-logistic": OneSidedNoiseClassifier(loss="logistic", random_state=0),
        "liois-rank": LIoISClassifier(scaling="rank", random_state=0),
        "liois-tree": LIoISClassifier(tree, random_state=0),
    }


def _committees() -> dict[str, Any]:
    tree = CARTClassifier(min_samples_split=6, n_folds=0)
    samba = SamBAClassifier(n_estimators=3)
    two: Any = [("first", [0, 1]), ("rest", [1, 2, 3])]
    return {
        "bagging-columns": BaggingClassifier(
            samba, 4, max_features=0.6, oob_score=True, random_state=0
        ),
        "bagging-stays": BaggingClassifier(
            tree, 3, bootstrap=False, max_samples=0.7, bootstrap_features=True, random_state=0
        ),
        "column-budget-tree": ColumnBudgetClassifier(
            2, selector="lars", estimator=tree, prices={0: 0.5, 2: 3.0}, random_state=0
        ),
        "multi-view-two": MultiViewClassifier(two, estimator=tree, random_state=0),
        "multi-view-stacked": MultiViewClassifier(
            [two[0], ("rest", samba, [1, 2, 3])],
            estimator=tree,
            fusion="stacked",
            cv=3,
            random_state=0,
        ),
        "stacking-logistic": StackingClassifier(
            [("tree", tree), ("samba", samba)],
            final_estimator="logistic",
            cv=3,
            random_state=0,
        ),
        "stacking-read": StackingClassifier(
            [("tree", tree), ("samba", samba)],
            levels=[[("tree", tree), ("samba", samba)]],
            final_estimator=CARTClassifier(max_depth=1, n_folds=0),
            passthrough=True,
            cv=3,
            random_state=0,
        ),
        "voting-median": VotingClassifier([("tree", tree), ("samba", samba)], voting="median"),
    }
