"""Tiny trees, stumps and forests, ours against a loop over scikit-learn's: CPU time, one thread.

python benchmarks/speed/_tiny_trees.py [--accuracy]

Seventy rows, two classes, half of the columns informative; ten folds, the same on both sides. A
figure is microseconds per fit on nine tenths of the rows and prediction of the rest.
`disagreements` is the share of out-of-fold answers that differ: where two columns cut a node
alike, scikit-learn draws one, and a forest draws all through. `--accuracy` compares the
out-of-fold errors of both forests, candidate by candidate, with a 95 % interval of their mean
difference.
"""

import sys

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from psephos.models.swag.learners.trees import ForestLearner, TreeLearner
from psephos.models.swag.problem import Folds, SearchProblem

N, P, FOLDS = 70, 60, 10
DIMENSIONS = (2, 4, 6)
KINDS = [  # name, ours, peer, candidates of ours, candidates of the peer
    ("stump", TreeLearner(1), DecisionTreeClassifier(max_depth=1), 500, 30),
    ("tree, depth 3", TreeLearner(3), DecisionTreeClassifier(max_depth=3), 500, 30),
    ("tree, full", TreeLearner(None), DecisionTreeClassifier(), 500, 30),
    ("forest of 100", ForestLearner(100), RandomForestClassifier(100), 10, 3),
]


def make_problem(seed: int = 0) -> SearchProblem:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    X = rng.standard_normal((N, P))
    X[:, : P // 2] += rng.uniform(0.2, 1.0, P // 2) * y[:, None]
    folds = Folds.of(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    return SearchProblem(np.asfortranarray(X), y, 2, np.ones(N), folds, seed)


def candidates(d: int, number: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed + d)
    return np.sort(np.stack([rng.choice(P, d, replace=False) for _ in range(number)]), axis=1)


def peer_answers(estimator, problem: SearchProblem, columns: np.ndarray) -> np.ndarray:
    """Out-of-fold answers of scikit-learn's estimator, refitted on each split."""
    folds, X = problem.folds, problem.X[:, columns]
    out = np.empty(folds.n_tests, dtype=np.intp)
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        tests = slice(int(folds.test_ptr[s]), int(folds.test_ptr[s + 1]))
        out[tests] = estimator.fit(X[train], problem.y[train]).predict(X[folds.test[tests]])
    return out


def rows() -> list[dict]:
    """One row per learner and dimension."""
    problem, table = make_problem(), []
    for name, learner, peer, n_ours, n_peer in KINDS:
        bound = learner.bind(problem)
        for d in DIMENSIONS:
            subsets = candidates(d, n_ours)
            few = subsets[:n_peer]
            ours = cpu_time(lambda: bound.scores(subsets)) / (n_ours * FOLDS)  # noqa: B023
            said: list[np.ndarray] = []
            theirs = cpu_time(
                lambda: said.extend(peer_answers(peer, problem, c) for c in few),  # noqa: B023
                3 if n_peer > 3 else 1,
            ) / (n_peer * FOLDS)
            agreed = (bound.scores(few)[:, :, 0] > 0) == np.stack(said[:n_peer])
            table.append(
                {
                    "learner": name,
                    "n": N,
                    "d": d,
                    "folds": FOLDS,
                    "ours_us": ours * 1e6,
                    "peer": type(peer).__name__,
                    "peer_us": theirs * 1e6,
                    "ratio": theirs / ours,
                    "disagreements": float(1 - agreed.mean()),
                }
            )
    return table


def accuracy(number: int = 60) -> None:
    """Print the mean difference of both forests' out-of-fold errors, ours less the peer's."""
    problem = make_problem()
    truth = problem.y[problem.folds.test]
    bound = ForestLearner(100).bind(problem)
    head("d", "candidates", "error, ours", "error, peer", "difference", "95 % interval")
    for d in DIMENSIONS:
        subsets = candidates(d, number, seed=100)
        ours = ((bound.scores(subsets)[:, :, 0] > 0) != truth).mean(axis=1)
        peers = [RandomForestClassifier(100, random_state=b) for b in range(number)]
        answers = [peer_answers(p, problem, c) for p, c in zip(peers, subsets, strict=True)]
        theirs = (np.stack(answers) != truth).mean(axis=1)
        gap = ours - theirs
        half = 1.96 * gap.std(ddof=1) / np.sqrt(number)
        interval = f"{gap.mean() - half:+.4f} to {gap.mean() + half:+.4f}"
        means = (f"{ours.mean():.4f}", f"{theirs.mean():.4f}", f"{gap.mean():+.4f}")
        line(str(d), str(number), *means, interval)


def main() -> None:
    if "--accuracy" in sys.argv:
        accuracy()
        return
    head("learner", "n", "d", "folds", "ours, us", "peer", "peer, us", "ratio", "disagreements")
    for row in rows():
        figures = (f"{row['ours_us']:.1f}", row["peer"], f"{row['peer_us']:.0f}")
        shape = (str(row["n"]), str(row["d"]), str(row["folds"]))
        line(row["learner"], *shape, *figures, f"{row['ratio']:.0f}", f"{row['disagreements']:.3f}")


if __name__ == "__main__":
    main()
