"""Tiny logistic models against a loop over scikit-learn's, on the same folds."""

# ruff: noqa: I001
from _timing import cpu_time, head, line  # before NumPy: it limits NumPy to one thread
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from psephos.models.swag.learners.logistic import LassoLogisticLearner
from psephos.models.swag.learners.logistic import LogisticLearner
from psephos.models.swag.problem import Folds, SearchProblem

N, P, FOLDS = 70, 40, 10
GRID = np.linspace(0.30, 0.0, 100)
LEARNERS = {
    "logistic": (LogisticLearner(C=100.0), LogisticRegression(C=100.0)),
    "logistic, nearly plain": (LogisticLearner(), LogisticRegression(C=1e6, max_iter=1000)),
    "lasso path, 100 values": (LassoLogisticLearner(), None),
}


def table(seed: int = 0, columns: int = P, n_classes: int = 2) -> SearchProblem:
    """70 rows; every other column with a difference of means of 1.6 deviations."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % n_classes)
    X = rng.standard_normal((N, columns))
    X[:, ::2] += 0.8 * (2 * (y % 2) - 1)[:, None] * rng.choice([-1, 1], columns // 2)
    X = X * rng.lognormal(0, 1, columns) + rng.normal(0, 3, columns)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    return SearchProblem(np.asfortranarray(X), y, n_classes, np.ones(N), Folds.of(splits))


def peer_answers(problem: SearchProblem, subset: Any, model: Any) -> tuple[Any, float]:
    """Return the answers on the test rows and the CPU seconds of fit and decision alone.

    Scaling is done before the clock starts, which favours the peer. Answers are those of a solver
    that converges. Without a model: the lasso of 100 penalties by liblinear (whose intercept is
    penalised, here next to nothing), the penalty with the fewest errors, the largest of equals.
    """
    folds, seconds = problem.folds, 0.0
    grid = [None] if model is not None else np.maximum(GRID, 3e-5)
    said = np.empty((len(grid), folds.n_tests), dtype=int)
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        place = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        scaler = StandardScaler().fit(problem.X[np.ix_(train, subset)])
        A = scaler.transform(problem.X[np.ix_(train, subset)])
        B = scaler.transform(problem.X[np.ix_(folds.test[place], subset)])
        y = problem.y[train]
        start = time.process_time()
        for c, by in enumerate(grid):
            fitted = model or LogisticRegression(
                C=1 / (len(y) * by), l1_ratio=1, solver="liblinear", intercept_scaling=100.0
            )
            said[c, place] = fitted.fit(A, y).decision_function(B) > 0
        seconds += time.process_time() - start
        if model is not None:  # answers of the minimum: the timed peer may stop far from it
            exact = LogisticRegression(
                C=model.C, solver="newton-cholesky", tol=1e-10, max_iter=1000
            )
            said[0, place] = exact.fit(A, y).decision_function(B) > 0
    return said[(said != problem.y[folds.test]).sum(axis=1).argmin()], seconds


def rows(n_ours: int = 2000, n_peer: int = 30) -> list[dict[str, Any]]:
    """Return one row a learner and number of columns; for the lasso a fit is a path."""
    problem, out = table(), []
    for name, (learner, model) in LEARNERS.items():
        bound = learner.bind(problem)
        for d in (2, 4, 6):
            rng = np.random.default_rng(d)
            count = n_ours if model is not None else n_ours // 20
            subsets = np.array([np.sort(rng.choice(P, d, replace=False)) for _ in range(count)])
            mine = bound.scores(subsets)[..., 0] > 0
            ours = cpu_time(lambda b=bound, s=subsets: b.scores(s), 7) / count / FOLDS
            theirs, differ = [], 0
            few = subsets[: n_peer if model is not None else 3]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # solvers may stop at their most iterations
                for b, subset in enumerate(few):
                    said, seconds = peer_answers(problem, subset, model)
                    theirs.append(seconds / FOLDS)
                    differ += int((said != mine[b]).sum())
            peer = float(np.median(theirs))
            out.append(
                {
                    "learner": name,
                    "n": N,
                    "d": d,
                    "folds": FOLDS,
                    "ours_us": ours * 1e6,
                    "peer": "liblinear, L1" if model is None else "LogisticRegression",
                    "peer_us": peer * 1e6,
                    "ratio": peer / ours,
                    "disagreements": f"{differ} of {len(few) * problem.folds.n_tests}",
                }
            )
    return out


def screening(columns: int = 100_000) -> float:
    """CPU seconds to judge every column of a wide table alone, ten folds, plain logistic."""
    bound = LogisticLearner().bind(table(columns=columns))
    bound.scores(np.array([[0]]))
    start = time.process_time()
    for first in range(0, columns, 5_000):
        bound.scores(np.arange(first, min(first + 5_000, columns))[:, None])
    return time.process_time() - start


def differing_errors(X: Any, y: Any, subsets: Any) -> dict[int, int]:
    """Return by how many rows of ten folds errors differ from scikit-learn's, and how often.

    Plain logistic models, separable ones included, beside a solver that converges.
    """
    codes = np.unique(y, return_inverse=True)[1]
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, codes)
    problem = SearchProblem(np.asfortranarray(X), codes, 2, np.ones(len(y)), Folds.of(splits))
    truth, model = codes[problem.folds.test], LogisticRegression(C=1e6, max_iter=1000)
    bound, found = LogisticLearner().bind(problem), dict[int, int]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for subset in subsets:
            mine = bound.scores(np.array([subset]))[0, :, 0] > 0
            said = peer_answers(problem, subset, model)[0]
            apart = abs(int((mine != truth).sum()) - int((said != truth).sum()))
            found[apart] = found.get(apart, 0) + 1
    return found


def main() -> None:
    """Print the table."""
    head("learner", "d", "ours, us a fit", "peer", "peer, us a fit", "ratio", "answers that differ")
    for r in rows():
        line(
            r["learner"],
            str(r["d"]),
            f"{r['ours_us']:.1f}",
            r["peer"],
            f"{r['peer_us']:.0f}",
            f"{r['ratio']:.0f}",
            r["disagreements"],
        )
    print(f"\nscreening 100,000 columns, {N} rows, {FOLDS} folds: {screening():.1f} s")


if __name__ == "__main__":
    main()
