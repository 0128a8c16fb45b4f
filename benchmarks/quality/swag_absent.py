"""SWAG where half of the columns are absent at prediction: who answers, and how well?

    PSEPHOS_DATA=... python benchmarks/quality/swag_absent.py [--halves 20] [--folds 5]
        [--sets lsvt,gut_cirrhosis] [--m 2000] [--seed 0]

A wrapper (``absent="vote"``, logistic regression) is fitted on all columns of each training part;
its test rows come with a random half of the columns, as a frame that lacks the others. The halves
are the same for all folds and models. lsvt is divided by subject, outside and inside. Beside it, on
the same rows: the same wrapper with nothing absent; the wrapper, and a forest, trained again on the
columns that are left; a forest of all columns that reads the training median where one is absent.
Constructor defaults but for m; all models weigh classes alike, as balanced accuracy does. Nothing
is tuned.

A test part and a half make a cell. Nothing else is missing in these tables, so one source answers
a whole cell: the chosen models; where none of them can speak, the reserve of strong models; where
none of these can, the training prior. Figures are means over the halves of each fold, then over
folds; a row "of some cells" compares all models on those cells. "Error it says" is the
cross-validated error of the models heard, by ``usable``: minima of a search, which flatter.

Intervals, 95 %: over folds, the corrected resampled t of the paired difference (one mean over
halves a fold); over halves, Student's t of one mean over folds a half, on these very rows: it says
how much hangs on which half is absent, and nothing about other rows.
"""

import argparse
import math
import time

import numpy as np
import pandas as pd
from realdata import load
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from psephos import SparseWrapperClassifier
from psephos.protocol import paired_difference

SETS = "lsvt,gut_cirrhosis"
TREES = 100
ABSENT, WHOLE, AGAIN = "SWAG, half absent", "SWAG, nothing absent", "SWAG trained again"
FOREST_AGAIN, MEDIANS, FOREST = "forest trained again", "forest, medians", "forest, nothing absent"
MODELS = (ABSENT, WHOLE, AGAIN, FOREST_AGAIN, MEDIANS, FOREST)
SOURCES = ("chosen", "reserve", "prior")
BINS = ((1, 4), (5, 9), (10, 19), (20, 39), (40, math.inf))


# ------------------------------------------------------------------- models
def swag(m, seed):
    return SparseWrapperClassifier(
        "logistic", m=m, absent="vote", class_weight="balanced", n_jobs=1, random_state=seed
    )


def forest(X, y, seed):
    model = RandomForestClassifier(TREES, class_weight="balanced", random_state=seed)
    return model.fit(X, y)


def balanced(y, said):
    """Return the mean recall of the classes that are there, NaN if only one is."""
    classes = np.unique(y)
    return np.mean([(said[y == c] == c).mean() for c in classes]) if len(classes) > 1 else math.nan


def heard(model, rows):
    """Return (source, models heard, error it says) of a cell, checked against the library."""
    told = model.usable(rows)
    sources, counts = set(told["source"]), set(told["n_models"])
    if len(sources) != 1 or len(counts) != 1:
        raise SystemExit("rows that lack the same columns were answered by different models")
    source, n = sources.pop(), counts.pop()
    usable = model.library_.usable_with(rows.columns)
    n_chosen = int(usable.votes.sum())
    by_library = {"chosen": n_chosen, "reserve": min(len(usable), model.n_reserve), "prior": 0}
    if n != by_library[source] or (source != "chosen" and n_chosen):
        raise SystemExit(f"{n} models of the {source} spoke, the library names {by_library}")
    return source, n, told["error"][0]


# ------------------------------------------------------------------- one fold
def fold_cells(data, train, test, halves, m, seed):
    """Return one mapping a half: balanced accuracy by model, who answered, errors."""
    frame, y, groups = data
    inner = None if groups is None else groups[train]
    learn, rows, answers = frame.iloc[train], frame.iloc[test], y[test]
    model = swag(m, seed).fit(learn, y[train], groups=inner)
    trees = forest(learn.to_numpy(), y[train], seed)
    medians = np.tile(np.median(learn.to_numpy(), axis=0), (len(test), 1))
    whole, forest_whole = model.predict(rows), trees.predict(rows.to_numpy())
    cells = []
    for half in halves:
        part, left = rows.iloc[:, half], learn.iloc[:, half]
        filled = medians.copy()
        filled[:, half] = part.to_numpy()
        said = {
            ABSENT: model.predict(part),
            WHOLE: whole,
            AGAIN: swag(m, seed).fit(left, y[train], groups=inner).predict(part),
            FOREST_AGAIN: forest(left.to_numpy(), y[train], seed).predict(part.to_numpy()),
            MEDIANS: trees.predict(filled),
            FOREST: forest_whole,
        }
        source, n, promised = heard(model, part)
        cell = {name: balanced(answers, one) for name, one in said.items()}
        wrong = 1 - balanced(answers, said[ABSENT])  # classes weigh alike in the search too
        cells.append(
            {**cell, "source": source, "n": n, "says": promised, "is": wrong, "rows": len(test)}
        )
    return cells


def study(name, n_halves, n_folds, m, seed):
    """Return the cells of a table, [fold][half]."""
    X, y, groups, names = load(name)
    if np.isnan(X).any():
        raise SystemExit(f"{name} has missing values: a cell would have several sources")
    rng = np.random.default_rng(seed)
    p = X.shape[1]
    halves = [np.sort(rng.choice(p, p // 2, replace=False)) for _ in range(n_halves)]
    folds = StratifiedKFold if groups is None else StratifiedGroupKFold
    cut = folds(n_folds, shuffle=True, random_state=seed)
    data = pd.DataFrame(X, columns=names), y, groups
    return [
        fold_cells(data, train, test, halves, m, seed + i)
        for i, (train, test) in enumerate(cut.split(X, y, groups))
    ]


# ------------------------------------------------------------------- figures
def of_some(cells, wanted):
    """Return the cells that are wanted, in their folds; folds without any are left out."""
    kept = [[cell for cell in fold if wanted(cell)] for fold in cells]
    return [fold for fold in kept if fold]


def by_fold(cells, key):
    """Return one mean over halves a fold."""
    return np.array([np.mean([cell[key] for cell in fold]) for fold in cells])


def over_halves(cells, one, other):
    """Return the half width of Student's t interval of the difference, the half as the unit."""
    table = np.array([[cell[one] - cell[other] for cell in fold] for fold in cells])
    each = table.mean(axis=0)
    if len(each) < 2:
        return math.nan
    return float(student.ppf(0.975, len(each) - 1) * each.std(ddof=1) / math.sqrt(len(each)))


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def show_cells(name, cells):
    """Print who answers and how well, by source and by number of models heard."""
    flat = [cell for fold in cells for cell in fold]
    total = sum(cell["rows"] for cell in flat)
    kinds = {"all": lambda cell: True}
    for source in SOURCES:
        kinds[source] = lambda cell, source=source: cell["source"] == source
    for source in SOURCES[:2]:
        for low, high in BINS:
            words = f"{low} or more" if high == math.inf else f"{low} to {high}"
            kinds[f"{source}, {words} heard"] = lambda cell, source=source, low=low, high=high: (
                cell["source"] == source and low <= cell["n"] <= high
            )
    for words, wanted in kinds.items():
        some = of_some(cells, wanted)
        kept = [cell for fold in some for cell in fold]
        if not kept:
            if words in SOURCES:
                row(name, words, "0 %", *["–"] * (4 + len(MODELS)))
            continue
        n = [cell["n"] for cell in kept]
        says = by_fold(some, "says").mean()
        row(
            name, words, f"{100 * sum(cell['rows'] for cell in kept) / total:.0f} %",
            f"{len(kept)} in {len(some)}", f"{np.median(n):.0f} ({min(n)} to {max(n)})",
            "–" if math.isnan(says) else f"{says:.3f}", f"{by_fold(some, 'is').mean():.3f}",
            *(f"{by_fold(some, model).mean():.3f}" for model in MODELS),
        )  # fmt: skip


def show_differences(name, cells, n_folds):
    """Print what half of the columns costs, and what training again would give."""
    pairs = [(ABSENT, other) for other in MODELS[1:]]
    for one, other in [*pairs, (AGAIN, WHOLE), (FOREST_AGAIN, FOREST)]:
        a, b = by_fold(cells, one), by_fold(cells, other)
        d = paired_difference(a, b, 1 / (n_folds - 1))
        width = over_halves(cells, one, other)
        row(
            name, f"{one} less {other}", f"{d.mean:+.3f}", f"{d.low:+.3f} to {d.high:+.3f}",
            f"{d.mean - width:+.3f} to {d.mean + width:+.3f}",
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--halves", type=int, default=20)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--m", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    begun, found = time.process_time(), {}
    head = ("set", "answered by", "cases", "cells in folds", "models heard", "error it says",
            "balanced error", *MODELS)  # fmt: skip
    row(*head)
    row(*["---"] * len(head))
    for name in args.sets.split(","):
        found[name] = study(name, args.halves, args.folds, args.m, args.seed)
        show_cells(name, found[name])
    print()
    head = ("set", "balanced accuracy", "difference", "95 %, over folds", "95 %, over halves")
    row(*head)
    row(*["---"] * len(head))
    for name, cells in found.items():
        show_differences(name, cells, args.folds)
    print(f"\n{time.process_time() - begun:.0f} CPU seconds")


if __name__ == "__main__":
    main()
