"""One table of small settings: every estimator, every part that changes how it answers."""

from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from psephos.models import (
    AdaBoostClassifier,
    ProsetClassifier,
    ProsetRegressor,
    SamBAClassifier,
    SparseWrapperClassifier,
    SparseWrapperRegressor,
)

__all__ = ["small_settings"]


def small_settings() -> dict[str, Any]:
    """Return small unfitted estimators by name; a new model adds its lines here.

    Every public estimator of `psephos.models` has at least one line (a test says so).
    """
    few: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
    tree = DecisionTreeClassifier(max_depth=2)
    linear: Any = LinearSVC  # declared narrower than it is
    line = linear(C=0.05, penalty="l1", dual=False)
    return {
        "adaboost": AdaBoostClassifier(**few),
        "adaboost-error": AdaBoostClassifier(criterion="error", **few),
        "adaboost-trees": AdaBoostClassifier(tree, **few),
        "adaboost-held-out": AdaBoostClassifier(validation_fraction=0.3, **few),
        "samba": SamBAClassifier(**few),
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
        "samba-lines": SamBAClassifier(line, **few),
        "samba-bayes": SamBAClassifier(GaussianNB(), **few),
        **_prototypes(),
        **_libraries(),
    }


def _prototypes() -> dict[str, Any]:
    return {
        "proset": ProsetClassifier(random_state=0),
        "proset-batches": ProsetClassifier(3, n_candidates=20, random_state=0),
        "proset-correct": ProsetClassifier(2, grouping="correct", random_state=0),
        "proset-sparse": ProsetClassifier(lambda_v=0.1, alpha_v=1.0, random_state=0),
        "proset-numbers": ProsetRegressor(random_state=0),
        "proset-numbers-batches": ProsetRegressor(2, lambda_v=0.01, random_state=0),
    }


def _libraries() -> dict[str, Any]:
    small: dict[str, Any] = {
        "p_max": 2, "m": 30, "alpha": 0.3, "delta": 0.2, "n_folds": 3, "random_state": 0,
    }  # fmt: skip
    names = ("lasso", "lda", "qda", "naive_bayes", "linear_svm", "rbf_svm", "tree", "forest")
    return {
        "swag": SparseWrapperClassifier(**small),
        "swag-mean": SparseWrapperClassifier(vote="mean", **small),
        "swag-performance": SparseWrapperClassifier(vote="performance", **small),
        "swag-best": SparseWrapperClassifier(vote="best", absent="vote", n_reserve=9, **small),
        "swag-pairs": SparseWrapperClassifier("lda", first_step="pairs", **small),
        **{f"swag-{name}": SparseWrapperClassifier(name, **small) for name in names},
        "swag-numbers": SparseWrapperRegressor(**small),
        "swag-numbers-tree": SparseWrapperRegressor("tree", vote="performance", **small),
        "swag-numbers-forest": SparseWrapperRegressor("forest", vote="best", **small),
    }
