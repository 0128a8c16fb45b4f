"""Committees of 20 members against scikit-learn's of the same members: fits, answers, files.

    python benchmarks/speed/bench_committees.py [--small]

CPU seconds of one fit and of the answers to the training rows, one thread, ours and theirs in turn
in one process; the size of the saved file (of theirs: a pickle) and the MiB that reading it takes.
Tables are drawn: 100,000 x 28 with small trees, Gaussian naive Bayes and logistic regressions as
members, and 100 x 10,000.
"""

import argparse
import pickle
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
import sklearn.ensemble as peer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import psephos

SHAPES = [(100_000, 28), (100, 10_000)]


def table(n, p):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, (X[:, :4].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)


def members():
    trees = [
        (f"tree {d}", DecisionTreeClassifier(max_depth=d, random_state=d)) for d in range(2, 10)
    ]
    bayes = [(f"bayes {v}", GaussianNB(var_smoothing=10.0**-v)) for v in range(1, 7)]
    lines = [(f"line {c}", LogisticRegression(C=10.0**-c, max_iter=50)) for c in range(6)]
    return [*trees, *bayes, *lines]


def pairs():
    """Return (name, ours, theirs) of the committees that both have."""
    twenty = members()
    tree = DecisionTreeClassifier(max_depth=8, random_state=0)
    return [
        ("voting", psephos.VotingClassifier(twenty, random_state=0),
         peer.VotingClassifier(twenty, voting="soft")),
        ("bagging", psephos.BaggingClassifier(tree, 20, random_state=0),
         peer.BaggingClassifier(tree, 20, random_state=0)),
        ("bagging, 10 % of the columns",
         psephos.BaggingClassifier(tree, 20, max_features=0.1, random_state=0),
         peer.BaggingClassifier(tree, 20, max_features=0.1, random_state=0)),
        ("stacking, 3 folds", psephos.StackingClassifier(twenty, cv=3, random_state=0),
         peer.StackingClassifier(twenty, cv=3)),
        ("ensemble selection, 3 folds",
         psephos.EnsembleSelectionClassifier(twenty, cv=3, random_state=0), None),
        ("cascade, 2 levels, 3 folds",
         psephos.CascadeClassifier(twenty, max_levels=2, cv=3, random_state=0), None),
        ("multi-view, 20 views", None, None),
    ]  # fmt: skip


def seconds(call):
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def measured(model, X, y):
    """Return (fit s, answers s, file MB, MiB of reading)."""
    fit, model = seconds(lambda: model.fit(X, y))
    answers, _ = seconds(lambda: model.predict_proba(X))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        own = type(model).__module__.startswith("psephos")
        psephos.save(model, place) if own else place.write_bytes(pickle.dumps(model))
        size = place.stat().st_size / 1e6
        tracemalloc.start()
        kept = psephos.load(place) if own else pickle.loads(place.read_bytes())
        memory = tracemalloc.get_traced_memory()[0] / 2**20
        tracemalloc.stop()
        del kept
    return fit, answers, size, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small tables, to try the command")
    small = parser.parse_args().small
    warnings.simplefilter("ignore")  # of logistic regressions that stop early
    head("table", "committee", "fit, s", "theirs", "ratio", "answers, s", "theirs", "file, MB",
         "theirs", "read, MiB", "theirs")  # fmt: skip
    for n, p in [(500, 20), (40, 200)] if small else SHAPES:
        X, y = table(n, p)
        psephos.VotingClassifier(members(), random_state=0).fit(X[:40], y[:40])  # compiles
        for name, ours, theirs in pairs():
            if ours is None:
                views = [(f"view {i}", np.arange(i, p, 20).tolist()) for i in range(20)]
                tree = DecisionTreeClassifier(max_depth=8, random_state=0)
                ours = psephos.MultiViewClassifier(views, estimator=tree)
            own = measured(ours, X, y)
            other = [np.nan] * 4 if theirs is None else measured(theirs, X, y)
            line(f"{n} x {p}", name, f"{own[0]:.2f}", f"{other[0]:.2f}",
                 f"{own[0] / other[0]:.2f}", f"{own[1]:.2f}", f"{other[1]:.2f}", f"{own[2]:.2f}",
                 f"{other[2]:.2f}", f"{own[3]:.1f}", f"{other[3]:.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
