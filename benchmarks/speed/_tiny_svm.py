"""Tiny support vector machines against a loop over scikit-learn's, on the same folds."""

# ruff: noqa: I001
from _timing import cpu_time, head, line  # before NumPy: it limits NumPy to one thread
import sys
import time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from psephos.models.swag.learners.support import C_GRID, LinearSVMLearner, RBFSVMLearner
from psephos.models.swag.problem import Folds, SearchProblem

N, P, FOLDS = 70, 40, 10
LEARNERS = {
    "hinge": (LinearSVMLearner(), SVC(kernel="linear"), (1.0,)),
    "RBF": (RBFSVMLearner(), SVC(), (1.0,)),
    "RBF, 10 values of C": (RBFSVMLearner(C=None), SVC(), C_GRID),
}


def table(seed: int = 0) -> SearchProblem:
    """70 rows, 40 columns, every other one with a difference of means of 1.6 deviations."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    X = rng.standard_normal((N, P))
    X[:, ::2] += 0.8 * (2 * y - 1)[:, None] * rng.choice([-1, 1], P // 2)
    X = X * rng.lognormal(0, 1, P) + rng.normal(0, 3, P)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    return SearchProblem(np.asfortranarray(X), y, 2, np.ones(N), Folds.of(splits))


def peer_answers(problem: SearchProblem, subset: Any, model: Any, grid: Any) -> tuple[Any, float]:
    """Return the answers on the test rows and the CPU seconds of fit and decision alone.

    The scaling is done before the clock starts, which favours the peer. Of several C, the one
    with the fewest errors counts, the least of equals.
    """
    folds, seconds = problem.folds, 0.0
    said = np.empty((len(grid), folds.n_tests), dtype=int)
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        place = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        scaler = StandardScaler().fit(problem.X[np.ix_(train, subset)])
        A = scaler.transform(problem.X[np.ix_(train, subset)])
        B = scaler.transform(problem.X[np.ix_(folds.test[place], subset)])
        y = problem.y[train]
        start = time.process_time()
        for c, C in enumerate(grid):
            said[c, place] = model.set_params(C=C).fit(A, y).decision_function(B) > 0
        seconds += time.process_time() - start
    return said[(said != problem.y[folds.test]).sum(axis=1).argmin()], seconds


def rows(n_ours: int = 400, n_peer: int = 30) -> list[dict[str, Any]]:
    """Return one row a learner and number of columns."""
    problem, out = table(), []
    for name, (learner, model, grid) in LEARNERS.items():
        bound = learner.bind(problem)
        for d in (2, 4, 6):
            rng = np.random.default_rng(d)
            subsets = np.array([np.sort(rng.choice(P, d, replace=False)) for _ in range(n_ours)])
            mine = bound.scores(subsets)[..., 0] > 0
            ours = cpu_time(lambda b=bound, s=subsets: b.scores(s), 7) / n_ours / FOLDS
            theirs, differ = [], 0
            few = subsets[: max(2, n_peer // len(grid))]
            for b, subset in enumerate(few):
                said, seconds = peer_answers(problem, subset, model, grid)
                theirs.append(seconds / FOLDS)
                differ += int((said != mine[b]).sum())
            peer = float(np.median(theirs))
            out.append(
                {
                    "learner": name,
                    "n": N,
                    "d": d,
                    "folds": FOLDS,
                    "ours_us": 1e6 * ours,
                    "peer": type(model).__name__,
                    "peer_us": 1e6 * peer,
                    "ratio": peer / ours,
                    "disagreements": f"{differ} of {len(few) * N}",
                }
            )
    return out


if __name__ == "__main__":
    counts = [int(a) for a in sys.argv[1:]]
    head("learner", "n", "d", "folds", "ours, us", "peer", "peer, us", "ratio", "disagreements")
    for row in rows(*counts):
        cells = [f"{v:.1f}" if isinstance(v, float) else str(v) for v in row.values()]
        line(*cells)
