"""Closed-form tiny learners against a loop over scikit-learn's estimators: CPU time, one thread.

python benchmarks/speed/_tiny_gaussian.py

70 rows, 40 columns, every second one informative; ten folds, and ten times ten. Times are of a
fit and the prediction of its test rows. A disagreement is a test row whose class differs (two
classes), or whose prediction differs by 1e-8 of the spread of the target (regressions).
"""

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from psephos.models.swag.learners.closed_forms import (
    LeastSquaresLearner,
    LinearDiscriminantLearner,
    NaiveBayesLearner,
    RidgeLearner,
)
from psephos.models.swag.problem import Folds, SearchProblem

ROWS, COLUMNS, CANDIDATES, PEERS = 70, 40, 2_000, 20
CASES = [
    (LinearDiscriminantLearner(), LinearDiscriminantAnalysis(solver="lsqr"), True),
    (NaiveBayesLearner(), GaussianNB(), True),
    (RidgeLearner(), make_pipeline(StandardScaler(), RidgeClassifier()), True),
    (LeastSquaresLearner(), LinearRegression(), False),
    (RidgeLearner(), make_pipeline(StandardScaler(), Ridge()), False),
]


def table(classes: bool, repeats: int):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(ROWS) % 2)
    X = rng.standard_normal((ROWS, COLUMNS))
    X[:, ::2] += y[:, None] * rng.uniform(0.3, 1.2, COLUMNS // 2)
    splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    folds = Folds.of(splitter.split(X, y))
    target = y if classes else X[:, :6].sum(axis=1) + rng.standard_normal(ROWS)
    return SearchProblem(np.asfortranarray(X), target, 2 * classes, np.ones(ROWS), folds)


def by_peer(peer: Any, at: SearchProblem, subsets: np.ndarray, n_splits: int) -> np.ndarray:
    folds = at.folds
    parts = [
        (folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]],
         folds.test[folds.test_ptr[s] : folds.test_ptr[s + 1]])
        for s in range(n_splits)
    ]  # fmt: skip
    said = []
    for columns in subsets:
        X = at.X[:, columns]
        said.append([peer.fit(X[a], at.y[a]).predict(X[b]) for a, b in parts])
    return np.array([np.concatenate(part) for part in said])


def row(learner: Any, peer: Any, classes: bool, d: int, repeats: int) -> dict[str, Any]:
    at = table(classes, repeats)
    rng = np.random.default_rng(d)
    subsets = np.stack([np.sort(rng.choice(COLUMNS, d, replace=False)) for _ in range(CANDIDATES)])
    bound, n_splits, few = learner.bind(at), at.folds.n_splits, subsets[:PEERS]
    ours = cpu_time(lambda: bound.scores(subsets)) / (CANDIDATES * n_splits)
    loop = cpu_time(lambda: by_peer(peer, at, few, 10), 3) / (PEERS * 10)
    peers = by_peer(peer, at, few, 10)
    scores = bound.scores(few)[:, : peers.shape[1], 0]
    apart = (scores > 0) != peers if classes else np.abs(scores - peers) > 1e-8 * np.ptp(at.y)
    return {
        "learner": type(learner).__name__ + ("" if classes else ", numbers"),
        "n": ROWS,
        "d": d,
        "folds": n_splits,
        "ours_us": 1e6 * ours,
        "peer": type(peer[-1] if hasattr(peer, "steps") else peer).__name__,
        "peer_us": 1e6 * loop,
        "ratio": loop / ours,
        "disagreements": f"{int(apart.sum())} of {apart.size}",
    }


def rows() -> list[dict[str, Any]]:
    """Return one row per learner, number of columns and number of folds."""
    return [
        row(learner, peer, classes, d, repeats)
        for learner, peer, classes in CASES
        for d in (2, 4, 6)
        for repeats in (1, 10)
    ]


def main() -> None:
    table_rows = rows()
    head(*table_rows[0])
    for entry in table_rows:
        shown = {"ours_us": ".3f", "peer_us": ".0f", "ratio": ",.0f"}
        cells = {name: format(value, shown.get(name, "")) for name, value in entry.items()}
        line(*map(str, cells.values()))


if __name__ == "__main__":
    main()
