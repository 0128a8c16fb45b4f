"""Soft gradient boosting: the reference's table, defaults, teachers, streams.

Each task is a run of minutes; sets and seeds are options::

    python benchmarks/quality/soft_boosting.py reference --set digits --reference results.jsonl
    python benchmarks/quality/soft_boosting.py defaults --set letter --seeds 0 1 2
    python benchmarks/quality/soft_boosting.py distill --set satellite
    python benchmarks/quality/soft_boosting.py stream

`reference` compares seed by seed with the accuracies of an implementation by automatic
differentiation (a file of lines with set, model, seed, accuracy): paired t-tests, Holm-corrected
over the cells. Sparse gates on fat sets run under the common protocol: `five_sets.py --models
samba,soft-boosting`.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from _soft_sets import SETS, divided
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from psephos import (
    CARTClassifier,
    NewtonBoostingClassifier,
    SoftGradientBoostingClassifier,
    twice_learn,
)

CELLS = {name: [(10, 5)] for name in SETS} | {"letter": [(10, 5), (20, 6)]}


def accuracy(model, train, test, seconds=None):
    start = time.process_time()
    model.fit(*train)
    if seconds is not None:
        seconds.append(time.process_time() - start)
    return float(model.score(*test))


def reference(sets, seeds, stored):
    """The reference's recipe, with its splits."""
    known = {}
    for line in stored.read_text().splitlines() if stored else []:
        row = json.loads(line)
        known[row["set"], row["model"], row["seed"]] = row["accuracy"]
    found = {}
    for name in sets:
        _, epochs, step, decay = SETS[name]
        for (M, D), detach in [(size, d) for size in CELLS[name] for d in (True, False)]:
            cell = name, f"sGBM M={M} D={D} detach={detach}"
            ours, seconds = [], []
            for seed in seeds:
                Xa, ya, Xb, yb = divided(name, seed)
                model = SoftGradientBoostingClassifier(
                    M, max_depth=D, max_iter=epochs, learning_rate_init=step,
                    weight_decay=decay, detach_residual=detach, random_state=seed,
                )  # fmt: skip
                ours.append(accuracy(model, (Xa, ya), (Xb, yb), seconds))
            theirs = [known.get((*cell, seed), np.nan) for seed in seeds]
            apart = np.array(ours) - theirs
            p = stats.ttest_rel(ours, theirs).pvalue if len(seeds) > 1 else np.nan
            found[cell] = apart.mean(), p
            print(
                f"{name:14s}{cell[1]:30s}{np.mean(ours):.4f} reference {np.mean(theirs):.4f}"
                f" paired {apart.mean():+.4f} +- {stats.sem(apart):.4f} p {p:.3f}"
                f" | {np.mean(seconds) / epochs:.4f} CPU s an epoch",
                flush=True,
            )
    ordered = sorted(p for _, p in found.values())
    corrected, most = [], 0.0
    for i, p in enumerate(ordered):
        most = max(most, min(1.0, p * (len(ordered) - i)))
        corrected.append(most)
    means = [d for d, _ in found.values()]
    print(f"{len(found)} cells: mean difference {np.mean(means):+.4f}, least p by Holm "
          f"{corrected[0]:.3f}")  # fmt: skip


def defaults(sets, seeds, _):
    """The defaults, beside forests and hard boosting."""
    for name in sets:
        for make in (
            lambda s: SoftGradientBoostingClassifier(random_state=s),
            lambda s: NewtonBoostingClassifier("hist"),
            lambda s: RandomForestClassifier(200, random_state=s),
            lambda s: HistGradientBoostingClassifier(early_stopping=False, random_state=s),
        ):
            got, seconds = [], []
            for seed in seeds:
                Xa, ya, Xb, yb = divided(name, seed)
                got.append(accuracy(make(seed), (Xa, ya), (Xb, yb), seconds))
            kind = type(make(0)).__name__
            print(f"{name:14s}{kind:34s}{np.mean(got):.4f} +- {stats.sem(got):.4f}"
                  f" | {np.mean(seconds):.2f} CPU s", flush=True)  # fmt: skip


def distill(sets, seeds, _):
    """Ten soft trees and a rule tree that learn from labels or from a forest."""
    for name in sets:
        rows = []
        for seed in seeds:
            Xa, ya, Xb, yb = divided(name, seed)
            forest = RandomForestClassifier(500, random_state=seed).fit(Xa, ya)
            ten = SoftGradientBoostingClassifier(10, random_state=seed)
            tree = CARTClassifier(random_state=seed)
            taught = clone(ten).distill(forest, Xa)
            own = clone(ten).fit(Xa, ya)
            rows.append([
                forest.score(Xb, yb), taught.score(Xb, yb), own.score(Xb, yb),
                clone(tree).fit(Xa, ya).score(Xb, yb),
                twice_learn(clone(tree), taught, Xa).score(Xb, yb),
                twice_learn(clone(tree), own, Xa).score(Xb, yb),
                (taught.predict(Xb) == forest.predict(Xb)).mean(),
            ])  # fmt: skip
        names = ("forest", "distilled", "labels", "CART", "CART of distilled", "CART of labels'",
                 "agree with forest")  # fmt: skip
        table = np.array(rows)
        for label, column in zip(names, table.T, strict=True):
            print(f"{name:14s}{label:20s}{column.mean():.4f} +- {stats.sem(column):.4f}")
        for label, a, b in (("distilled - forest", 1, 0), ("CART of distilled - CART", 4, 3),
                            ("CART of labels' - CART", 5, 3)):  # fmt: skip
            gap = table[:, a] - table[:, b]
            print(f"{name:14s}{label:26s}{gap.mean():+.4f} +- {stats.sem(gap):.4f}", flush=True)


def drifting(seed, n=20_000, size=100):
    """Yield batches of a stream whose concept turns: a hyperplane and an interaction."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, np.pi, n)
    for start in range(0, n, size):
        X = rng.standard_normal((size, 10))
        a = angle[start : start + size]
        score = np.cos(a) * X[:, 0] + np.sin(a) * X[:, 1] + X[:, 2] * X[:, 3]
        y = (score > 0) ^ (rng.random(size) < 0.05)
        yield X, y.astype(int)


def stream(_, seeds, __):
    """Accuracy on each batch before it is learned, on a concept that turns by half a circle."""
    makers = {
        "soft, 20 trees": lambda s: SoftGradientBoostingClassifier(random_state=s, batch_size=20),
        "soft, 10 of depth 4": lambda s: SoftGradientBoostingClassifier(
            10, max_depth=4, random_state=s, batch_size=20
        ),
        "SGD": lambda s: SGDClassifier(loss="log_loss", random_state=s),
        "SGD, constant 0.01": lambda s: SGDClassifier(
            loss="log_loss", learning_rate="constant", eta0=0.01, random_state=s
        ),
        "MLP (100)": lambda s: MLPClassifier(random_state=s, batch_size=20),
        "MLP, step 0.01": lambda s: MLPClassifier(
            random_state=s, batch_size=20, learning_rate_init=0.01
        ),
    }
    for name, make in makers.items():
        got, seconds = [], []
        for seed in seeds:
            model, right, first = make(seed), [], True
            start = time.process_time()
            for X, y in drifting(seed):
                if not first:
                    right.append((model.predict(X) == y).mean())
                model.partial_fit(X, y, classes=[0, 1])
                first = False
            got.append(np.mean(right))
            seconds.append(time.process_time() - start)
        print(f"stream {name:22s}{np.mean(got):.4f} +- {stats.sem(got):.4f}"
              f" | {np.mean(seconds):.1f} CPU s", flush=True)  # fmt: skip


TASKS = {f.__name__: f for f in (reference, defaults, distill, stream)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("--set", nargs="*", default=list(SETS), dest="sets")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--reference", type=Path, help="lines of the reference's figures")
    given = parser.parse_args()
    TASKS[given.task](given.sets, given.seeds, given.reference)


if __name__ == "__main__":
    main()
