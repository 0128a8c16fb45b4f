"""One table of small settings: every estimator, every part that changes how it answers."""

from typing import Any

from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from psephos.models import AdaBoostClassifier, SamBAClassifier

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
    }
