"""Log-loss of gradient boosting and of scikit-learn's, on small tables where many columns tie.

Where few rows are left, cuts of different columns divide them alike, and which of the columns is
read decides about new rows. Run it as ``python benchmarks/quality/gradient_ties.py [SPLITS]``.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier as Theirs
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from psephos import GradientBoostingClassifier

TABLES = {  # rows to learn from
    "iris": (load_iris, 60),
    "wine": (load_wine, 60),
    "breast_cancer": (load_breast_cancer, 80),
}


def losses(load, size, splits, make):
    """Return the held-out log-loss of each split."""
    X, y = load(return_X_y=True)
    out = []
    for seed in range(splits):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=size, stratify=y, random_state=seed
        )
        model = make(seed).fit(X_train, y_train)
        out.append(log_loss(y_test, model.predict_proba(X_test), labels=model.classes_))
    return np.array(out)


def main():
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    print(f"{'table':<14} {'rows':>4}  {'psephos':>7}  {'sklearn':>7}  difference (standard error)")
    for name, (load, size) in TABLES.items():
        ours = losses(load, size, splits, lambda s: GradientBoostingClassifier(random_state=s))
        theirs = losses(load, size, splits, lambda s: Theirs(random_state=s))
        apart = ours - theirs
        error = apart.std(ddof=1) / np.sqrt(splits)
        print(
            f"{name:<14} {size:>4}  {ours.mean():7.3f}  {theirs.mean():7.3f}  "
            f"{apart.mean():+.3f} ({error:.3f})"
        )


if __name__ == "__main__":
    main()
