"""The whole selection of proset, ours against the authors' program (0.6.1): the same rows, one run.

python benchmarks/speed/bench_proset_search.py [--sets cancer,...] [--seeds 3] [--first-seed 100]

`ProsetSearchCV()` and their `select_hyperparameters`, each with its own grid, folds and defaults,
theirs with scaling, on 70 % of a table (stratified). CPU seconds of one thread, medians over the
seeds, after one search of ours that is not counted; the log-loss of what either chose on the other
30 %, means. How to install their program: `bench_proset.py`.
"""

import argparse
import warnings

from _timing import head, line  # first: it asks NumPy for one thread

# isort: split
import numpy as np
from bench_proset import SETS, size_of, timed
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from psephos import ProsetClassifier
from psephos.protocol import ProsetSearchCV


def ours(X, y, seed):
    found = ProsetSearchCV(ProsetClassifier(random_state=seed)).fit(X, y).best_estimator_
    return found, found


def theirs(X, y, seed):
    from proset import ClassifierModel
    from proset.utility import select_hyperparameters

    chance = np.random.RandomState(seed)
    given = {"transform": StandardScaler(), "random_state": chance}
    found = select_hyperparameters(ClassifierModel(random_state=chance), X, y, **given)["model"]
    return found, found["model"]


def one(search, data, seed):
    """Return (seconds, log-loss, columns, prototypes)."""
    A, B, s, t = data
    spent, (found, model) = timed(lambda: search(A, s, seed))
    P = np.asarray(found.predict_proba(B), dtype=float)
    return (spent, log_loss(t, P), *size_of(model))


def row(name, seeds):
    found = {"ours": [], "theirs": []}
    for k, seed in enumerate(seeds):
        X, y = SETS[name](seed)
        data = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        if k == 0:
            one(ours, data, seed)
        for who, search in (("ours", ours), ("theirs", theirs)):
            found[who].append(one(search, data, seed))
    mine, peer = (np.array(found[who]) for who in ("ours", "theirs"))
    by = np.sort(peer[:, 0] / mine[:, 0])
    line(
        name, str(len(data[0])), str(len(seeds)), f"{np.median(mine[:, 0]):.2f}",
        f"{np.median(peer[:, 0]):.2f}", f"{np.median(by):.1f}x ({by[0]:.1f} to {by[-1]:.1f})",
        f"{mine[:, 1].mean():.3f}", f"{peer[:, 1].mean():.3f}",
        f"{mine[:, 2].mean():.1f} / {mine[:, 3].mean():.0f}",
        f"{peer[:, 2].mean():.1f} / {peer[:, 3].mean():.0f}",
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="cancer")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    head("set", "rows", "seeds", "ours, s", "theirs, s", "quicker", "log-loss", "theirs",
         "columns / prototypes", "theirs")  # fmt: skip
    for name in options.sets.split(","):
        row(name, range(options.first_seed, options.first_seed + options.seeds))


if __name__ == "__main__":
    main()
