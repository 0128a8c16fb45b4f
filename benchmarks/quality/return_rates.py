"""How often is a column chosen again? The constants of `return_rate_`, and how true it is.

    PSEPHOS_DATA=... python benchmarks/quality/return_rates.py OUT.csv [--sets chose|others|a,b]
    python benchmarks/quality/return_rates.py OUT.csv --fit

Each set is divided into five folds (stratified, rows of one subject together), and twice in two
halves. Columns are chosen on each training part of the five, and on each half; a column returned
by the share of the other four training parts that chose it too (they share three quarters of the
rows), or if the other half chose it (which shares none). OUT.csv has a line a set, part, budget and
column; sets that are there are passed over. ``--fit`` prints the constants of

    logit(rate) = c + d log(score / best score not chosen) + e logit(agreement of the draws)

by maximum likelihood over the folds of the nineteen sets that choose, each set and budget counting
alike, and then, on the ten others as well, how often columns returned by what was estimated.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _fat_sets import CHOSE, OTHERS, read
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

import psephos

BUDGETS = (2, 4, 8, 16, 20, 32)
FIELDS = ("set", "selector", "kind", "part", "budget", "column", "gap", "agreement", "back")
NUMBERS = ("part", "budget", "column", "gap", "agreement", "back")


def parts_of(X, y, groups):
    """Yield (kind, number, rows, seed): five training parts, and two halves twice."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    five = kind(5, shuffle=True, random_state=0).split(X, y, groups)
    for fold, (train, _) in enumerate(five):
        yield "fold", fold, train, fold
    for repeat in range(2):
        two = kind(2, shuffle=True, random_state=100 + repeat).split(X, y, groups)
        for half, (train, _) in enumerate(two):
            yield "half", 2 * repeat + half, train, 2000 + 2 * repeat + half


def chosen_of(selector, X, y, groups):
    """Return {(kind, number, budget): {column: (gap, agreement)}} of one set."""
    found = {}
    for kind, number, rows, seed in parts_of(X, y, groups):
        model = psephos.ColumnBudgetClassifier(
            selector=selector, estimator=psephos.CARTClassifier(n_folds=0), random_state=seed
        )
        own = None if groups is None else groups[rows]
        for k, one in model.path(X[rows], y[rows], BUDGETS, groups=own).items():
            scores, chosen = one.scores_, one.selected_
            rest = np.setdiff1d(one.ranking_, chosen)
            cut = scores[rest].max(initial=0.01)
            alike = one.selection_.agreement[min(len(chosen), 24) - 1]
            found[kind, number, k] = {
                int(j): (np.log(scores[j] / cut), logit(np.clip(alike, 0.02, 0.98))) for j in chosen
            }
    return found


def lines(name, selector, found):
    """Yield the lines of OUT.csv."""
    for (kind, number, k), own in found.items():
        others = [
            set(found[what, other, budget])
            for what, other, budget in found
            if what == kind and budget == k and other != number
            and (kind == "fold" or other // 2 == number // 2)
        ]  # fmt: skip
        for j, (gap, alike) in own.items():
            back = np.mean([j in other for other in others])
            yield name, selector, kind, number, k, j, f"{gap:.4f}", f"{alike:.4f}", f"{back:.2f}"


def collect(place, sets, selector):
    warnings.simplefilter("ignore")
    known = set()
    if place.exists():
        with place.open(newline="") as file:
            known = {(row["set"], row["selector"]) for row in csv.DictReader(file)}
    else:
        with place.open("w", newline="") as file:
            csv.writer(file).writerow(FIELDS)
    for name in sets:
        if (name, selector) not in known:
            made = list(lines(name, selector, chosen_of(selector, *read(name))))
            with place.open("a", newline="") as file:
                csv.writer(file).writerows(made)


def columns_of(place, selector, kind, sets):
    """Return {field: array} of the lines of some sets."""
    with place.open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["selector"] == selector and row["kind"] == kind and row["set"] in sets
        ]
    found = {name: np.array([float(row[name]) for row in rows]) for name in NUMBERS}
    return found | {"set": np.array([row["set"] for row in rows])}


def matrix(d):
    return np.column_stack([np.ones(len(d["gap"])), d["gap"], d["agreement"]])


def constants(d):
    """Return (c, d, e) of the greatest likelihood, each set and budget counting alike."""
    A, back = matrix(d), d["back"]
    weight = np.empty(len(back))
    for name in np.unique(d["set"]):
        for k in BUDGETS:
            own = (d["set"] == name) & (d["budget"] == k)
            weight[own] = 1 / max(own.sum(), 1)

    def loss(b):
        p = np.clip(expit(A @ b), 1e-9, 1 - 1e-9)
        return -(weight * (back * np.log(p) + (1 - back) * np.log(1 - p))).sum() / weight.sum()

    return minimize(loss, np.zeros(3), method="BFGS").x


def calibration(stated, d, budgets=BUDGETS):
    """Print how often columns returned, by what was estimated."""
    print("| stated | columns | sets | returned | mean over sets ± sd |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for low in np.arange(0, 10):
        own = (stated >= low / 10) & (stated < (low + 1) / 10) & np.isin(d["budget"], budgets)
        if own.any():
            means = [d["back"][own & (d["set"] == n)].mean() for n in np.unique(d["set"][own])]
            print(
                f"| {10 * low} to {10 * low + 10} % (mean {100 * stated[own].mean():.0f}) "
                f"| {own.sum()} | {len(means)} | {100 * d['back'][own].mean():.0f} % "
                f"| {100 * np.mean(means):.0f} ± {100 * np.std(means):.0f} |"
            )


def report(place, selector):
    chose = columns_of(place, selector, "fold", CHOSE)
    found = constants(chose)
    print(f"{selector}: c, d, e = {', '.join(f'{one:.2f}' for one in found)}")
    for words, sets in (("that chose", CHOSE), ("others", OTHERS)):
        for kind in ("fold", "half"):
            d = columns_of(place, selector, kind, sets)
            n = len(np.unique(d["set"]))
            print(f"\n{n} sets {words}, {kind}s\n")
            if n:
                calibration(expit(matrix(d) @ found), d)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default="all", help="chose, others, all, or names: a,b")
    parser.add_argument("--selector", default="blend")
    parser.add_argument("--fit", action="store_true")
    args = parser.parse_args()
    groups = {"chose": CHOSE, "others": OTHERS, "all": CHOSE + OTHERS}
    sets = groups.get(args.sets) or args.sets.split(",")
    if args.fit:
        report(args.out, args.selector)
    else:
        collect(args.out, sets, args.selector)


if __name__ == "__main__":
    main()
