"""Why does a random forest beat SamBA on fat tables? One change at a time, on the same folds.

    PSEPHOS_DATA=... python benchmarks/quality/why_the_forest.py [--repeats 2] [--jobs 1]
        [--sets colon_alon,...] [--out FILE]

Tables: those of two classes with at most 300 rows and 7,200 columns. Left out for what was known
before: srbct, lymphoma and meterB (more classes, and every model is right), arcene (10,000
columns, slow). Nothing is tuned. Settings and steps were written down before the
full run; a trial of the script on meterA and lsvt came first. Every choice of columns is made
inside the training part.

A step is the difference of two models that differ in one thing. Its 95 % interval "over tables"
takes the table as the unit, one mean a table, Student's t; "these tables" is the corrected
resampled t of each table, pooled as in five_sets.py. An asterisk: p < .05 after Holm's correction
over all steps of that measure (over tables). "Matched" is balanced accuracy where each model calls
as many test rows positive as the training share says, so that no threshold decides.
"""

import argparse
import csv
import itertools
import math
from collections import defaultdict

import numpy as np
from five_sets import pooled
from joblib import Parallel, delayed
from realdata import load
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight
from xgboost import XGBClassifier

from psephos import AdaBoostClassifier, SamBAClassifier
from psephos.protocol import columns_used, paired_difference

CHOSE_DEFAULTS = ["breast_gravier", "gut_colorectal", "otu_lean_obese", "meterA"]
HEADLINE = ["colon_alon", "leukemia_golub", "prostate_6033", "gut_cirrhosis", "lsvt"]
SETS = [*HEADLINE, "gut_obesity", "sonar", *CHOSE_DEFAULTS]
FOLDS, BAG, REFITS = 5, 20, 6
GLOBAL = 1e3  # a distance floor so far above all distances that every row is heard alike

S, S50, S200 = "SamBA, 20 stumps", "SamBA, 50 stumps", "SamBA, 200 stumps"
S_PLAIN, S_GLOBAL = "SamBA 20, classes as they are", "SamBA 20, global weights"
S_COLUMNS, S_DEEP = "SamBA 50, random columns", "SamBA 50, random columns, depth 3"
S_DEEP_GLOBAL = "SamBA 50, random columns, depth 3, global"
A20, A100 = "AdaBoost, 20", "AdaBoost, 100"
F, F25, F50, F200 = "forest, 100", "forest, 25", "forest, 50", "forest, 200"
F_PLAIN, F_ALL = "forest 50, classes as they are", "bagged trees 25, all columns"
F_1, F_3, F_1_ALL = "forest 50, depth 1", "forest 50, depth 3", "bagged stumps 25, all columns"
F_TOP = {k: f"forest 50 on its {k} best columns" for k in (12, 40, 100)}
F_SAMBA = "forest 50 on SamBA's columns"
S_TOP = {k: f"SamBA 20 on the forest's {k} best" for k in (12, 40)}
BAG10, BAG20, BAG_HALF = "bag of 10 SamBA", "bag of 20 SamBA", "bag of 20 SamBA, half the columns"
BAG_TOP = {k: f"bag of 20 SamBA on the forest's {k} best" for k in (12, 40)}
XGB = "XGBoost, 50"

STEPS = {
    "The gap": [
        ("SamBA less forest", S, F), ("SamBA of 50 less forest", S50, F),
        ("AdaBoost of 100 less forest", A100, F), ("XGBoost less forest", XGB, F),
    ],
    "From SamBA to the forest, a chain": [
        ("20 to 50 stumps", S50, S), ("voters see random columns", S_COLUMNS, S50),
        ("depth 1 to 3", S_DEEP, S_COLUMNS), ("local to global weights", S_DEEP_GLOBAL, S_DEEP),
        ("reweighting to bootstrap", F_3, S_DEEP_GLOBAL), ("depth 3 to unlimited", F50, F_3),
        ("50 to 100 trees", F, F50),
    ],
    "SamBA, changed": [
        ("classes not balanced", S_PLAIN, S), ("global weights", S_GLOBAL, S),
        ("AdaBoost of 20 instead", A20, S), ("200 stumps for 20", S200, S),
        ("on the forest's 12 best columns", S_TOP[12], S),
        ("on the forest's 40 best columns", S_TOP[40], S),
    ],
    "Forest, changed": [
        ("25 trees for 100", F25, F), ("200 trees for 100", F200, F),
        ("stumps for trees", F_1, F50), ("classes not balanced", F_PLAIN, F50),
        ("on its 12 best columns", F_TOP[12], F50), ("on its 40 best columns", F_TOP[40], F50),
        ("on its 100 best columns", F_TOP[100], F50), ("on SamBA's columns", F_SAMBA, F50),
        ("on SamBA's columns, less SamBA", F_SAMBA, S),
        ("on its 12 best columns, less SamBA", F_TOP[12], S),
        ("all columns at each split (25 trees)", F_ALL, F25),
        ("stumps for trees, all columns (25)", F_1_ALL, F_ALL),
    ],
    "Averages of SamBA": [
        ("bag of 10 less SamBA", BAG10, S), ("bag of 20 less SamBA", BAG20, S),
        ("bag of 20 less forest", BAG20, F), ("half the columns each, less bag", BAG_HALF, BAG20),
        ("bag on the forest's 40 best, less SamBA", BAG_TOP[40], S),
        ("bag on the forest's 40 best, less forest", BAG_TOP[40], F),
        ("bag on the forest's 12 best, less SamBA", BAG_TOP[12], S),
        ("bag on the forest's 12 best, less forest", BAG_TOP[12], F),
    ],
    "Added after the steps above were seen": [
        ("bag: all columns for the 12 best", BAG20, BAG_TOP[12]),
        ("12 best: bag of SamBA less forest", BAG_TOP[12], F_TOP[12]),
        ("40 best: bag of SamBA less forest", BAG_TOP[40], F_TOP[40]),
    ],
}  # fmt: skip


# ------------------------------------------------------------------- models
def samba(seed, n=20, depth=None, **params):
    voter = None
    if depth is not None:
        voter = DecisionTreeClassifier(max_depth=depth, max_features="sqrt")
    given = {"class_weight": "balanced", **params}
    return SamBAClassifier(voter, n_estimators=n, random_state=seed, **given)


def forest(seed, n=50, **params):
    given = {"class_weight": "balanced", **params}
    return RandomForestClassifier(n, random_state=seed, **given)


def answer(model, X, y, Z, weight=None):
    """Return (probability of class 1, columns read, voters) of a model fitted on X, y."""
    model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    voters = model.vote_.n_voters if hasattr(model, "vote_") else np.size(model.estimators_)
    return model.predict_proba(Z)[:, 1], columns_used(model, X.shape[1]), voters


def boosted(X, y, Z, seed):
    models = {
        S: samba(seed), S50: samba(seed, 50), S200: samba(seed, 200),
        S_PLAIN: samba(seed, class_weight=None), S_GLOBAL: samba(seed, a=GLOBAL),
        S_COLUMNS: samba(seed, 50, 1), S_DEEP: samba(seed, 50, 3),
        S_DEEP_GLOBAL: samba(seed, 50, 3, a=GLOBAL),
    }  # fmt: skip
    found = {label: answer(model, X, y, Z) for label, model in models.items()}
    weight = compute_sample_weight("balanced", y)
    for label, n in ((A20, 20), (A100, 100)):
        found[label] = answer(AdaBoostClassifier(n_estimators=n), X, y, Z, weight)
    booster = XGBClassifier(n_estimators=50, n_jobs=1, random_state=seed)
    booster.fit(X, y, sample_weight=weight)
    found[XGB] = booster.predict_proba(Z)[:, 1], columns_used(booster, X.shape[1]), 50
    return found


def forests(X, y, Z, seed):
    """Return the forests' answers, and the columns from the most to the least important."""
    large = forest(seed, 200).fit(X, y)
    trees = large.estimators_
    each = np.array([tree.predict_proba(Z)[:, 1] for tree in trees])
    read = [columns_used(tree, X.shape[1]) for tree in trees]
    found = {
        label: (each[:n].mean(axis=0), np.unique(np.concatenate(read[:n])), n)
        for label, n in ((F25, 25), (F50, 50), (F, 100), (F200, 200))
    }
    others = {
        F_PLAIN: forest(seed, class_weight=None), F_ALL: forest(seed, 25, max_features=None),
        F_1: forest(seed, max_depth=1), F_3: forest(seed, max_depth=3),
        F_1_ALL: forest(seed, 25, max_depth=1, max_features=None),
    }  # fmt: skip
    found |= {label: answer(model, X, y, Z) for label, model in others.items()}
    return found, np.argsort(-large.feature_importances_, kind="stable")


def on(columns, model, X, y, Z):
    scores, read, voters = answer(model, X[:, columns], y, Z[:, columns])
    return scores, columns[read], voters


def restricted(X, y, Z, seed, order, small):
    found = {F_TOP[k]: on(order[:k], forest(seed), X, y, Z) for k in F_TOP}
    found |= {S_TOP[k]: on(order[:k], samba(seed), X, y, Z) for k in S_TOP}
    found[F_SAMBA] = (
        on(small, forest(seed), X, y, Z) if len(small) else (np.full(len(Z), 0.5), small, 0)
    )
    return found


# ------------------------------------------------------------------- bootstrap
def bootstraps(y, seed):
    """Return BAG samples of the rows, drawn with replacement, each with both classes."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < BAG:
        rows = rng.integers(len(y), size=len(y))
        if np.ptp(y[rows]):
            found.append(rows)
    return found


def average(members):
    read = np.unique(np.concatenate([columns for _, columns, _ in members]))
    scores = np.mean([scores for scores, _, _ in members], axis=0)
    return scores, read, sum(voters for _, _, voters in members)


def bags(X, y, Z, seed, order):
    """Return the answers of averages of SamBA, and of the members of the plain one."""
    draws, p = bootstraps(y, seed), X.shape[1]
    rng = np.random.default_rng([seed, 1])
    halves = [np.sort(rng.permutation(p)[: math.ceil(p / 2)]) for _ in draws]
    everything = np.arange(p)

    def members(columns):
        pairs = zip(draws, columns, strict=True)
        return [on(c, samba(seed), X[rows], y[rows], Z) for rows, c in pairs]

    plain = members([everything] * BAG)
    found = {
        BAG10: average(plain[:10]), BAG20: average(plain), BAG_HALF: average(members(halves)),
    }  # fmt: skip
    found |= {BAG_TOP[k]: average(members([order[:k]] * BAG)) for k in BAG_TOP}
    return found, [scores for scores, _, _ in plain[:REFITS]]


def refitted(X, y, Z, seed, plain):
    """Return the scores, models x REFITS x rows, of models fitted to the same bootstraps."""
    found = {S: plain, A100: [], F50: [], "one tree": []}
    for rows in bootstraps(y, seed)[:REFITS]:
        A, b = X[rows], y[rows]
        weight = compute_sample_weight("balanced", b)
        ada = AdaBoostClassifier(n_estimators=100).fit(A, b, sample_weight=weight)
        tree = DecisionTreeClassifier(class_weight="balanced", random_state=seed).fit(A, b)
        for label, model in ((A100, ada), (F50, forest(seed).fit(A, b)), ("one tree", tree)):
            found[label].append(model.predict_proba(Z)[:, 1])
    return {label: np.array(scores) for label, scores in found.items()}


# ------------------------------------------------------------------- measuring
def accuracy(t, scores):
    return balanced_accuracy_score(t, scores > 0.5)


def measures(t, scores, share):
    chosen = np.zeros(len(t), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[: round(share * len(t))]] = True
    return accuracy(t, scores), roc_auc_score(t, scores), balanced_accuracy_score(t, chosen)


def spread(t, scores):
    """Return (pairwise disagreement, mean accuracy of one, accuracy of their average)."""
    said = scores > 0.5
    pairs = itertools.combinations(said, 2)
    apart = np.mean([np.mean(a != b) for a, b in pairs])
    return apart, np.mean([accuracy(t, s) for s in scores]), accuracy(t, scores.mean(axis=0))


def study(name, repeat):
    """Return rows (set, repeat, fold, model, figures ...) of one repeat on one table."""
    X, y, groups, _ = load(name)
    y = np.unique(y, return_inverse=True)[1]
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    rows = []
    splits = kind(FOLDS, shuffle=True, random_state=repeat).split(X, y, groups)
    for fold, (train, test) in enumerate(splits):
        A, b, Z, t = X[train], y[train], X[test], y[test]
        if not np.ptp(b) or not np.ptp(t):
            print(f"{name}, repeat {repeat}, fold {fold}: one class only, left out", flush=True)
            continue
        seed = 1000 * repeat + fold
        found = boosted(A, b, Z, seed)
        more, order = forests(A, b, Z, seed)
        found |= more | restricted(A, b, Z, seed, order, found[S][1])
        more, plain = bags(A, b, Z, seed, order)
        for label, (scores, columns, voters) in (found | more).items():
            figures = (*measures(t, scores, b.mean()), len(columns), voters)
            rows.append((name, repeat, fold, label, *figures))
        if repeat == 0:
            for label, scores in refitted(A, b, Z, seed, plain).items():
                rows.append((name, repeat, fold, f"refit {label}", *spread(t, scores), 0, 0))
    return rows


def gathered(rows):
    """Return {model: {set: array of folds x figures}}."""
    found = defaultdict(lambda: defaultdict(list))
    for name, _, _, label, *figures in rows:
        found[label][name].append(figures)
    return {m: {s: np.array(v, dtype=float) for s, v in f.items()} for m, f in found.items()}


# ------------------------------------------------------------------- intervals
def over_tables(values):
    """Return (mean, low, high, p) with the table as the unit."""
    values, n = np.asarray(values), len(values)
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(n) if n > 1 else math.nan
    half = student.ppf(0.975, n - 1) * error
    p = 2 * student.sf(abs(mean) / error, n - 1) if error > 0 else 1.0
    return mean, mean - half, mean + half, p


def holm(ps):
    """Return which of the p-values stay below .05 after Holm's correction."""
    kept = np.zeros(len(ps), dtype=bool)
    for i, k in enumerate(np.argsort(ps)):
        if not ps[k] * (len(ps) - i) < 0.05:
            break
        kept[k] = True
    return kept


def interval(low, high):
    return f"{low:+.3f} to {high:+.3f}"


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def head(title, *names):
    print(f"\n#### {title}\n")
    row(*names)
    row(*["---"] * len(names))


# ------------------------------------------------------------------- tables
def show_models(found):
    head(
        "Models, means over tables",
        "model",
        "balanced accuracy",
        "matched",
        "AUC",
        "columns",
        "voters",
    )
    for label, by_set in found.items():
        if not label.startswith("refit"):
            ba, auc, matched, columns, voters = np.mean(
                [v.mean(axis=0) for v in by_set.values()], axis=0
            )
            row(
                label,
                f"{ba:.3f}",
                f"{matched:.3f}",
                f"{auc:.3f}",
                f"{columns:.0f}",
                f"{voters:.0f}",
            )


def show_sets(found):
    head(
        "Each table",
        "table",
        "SamBA",
        "forest",
        "difference",
        "95 %",
        "bag of 20 less forest",
        "95 %",
    )
    parts = defaultdict(list)
    for name in found[S]:
        small, large, bag = (found[m][name][:, 0] for m in (S, F, BAG20))
        d, e = (paired_difference(a, large, 1 / (FOLDS - 1)) for a in (small, bag))
        cells = (
            f"{d.mean:+.3f}",
            interval(d.low, d.high),
            f"{e.mean:+.3f}",
            interval(e.low, e.high),
        )
        row(name, f"{small.mean():.3f}", f"{large.mean():.3f}", *cells)
        part = "that chose SamBA's defaults" if name in CHOSE_DEFAULTS else "that did not"
        parts[part].append(d.mean)
    for part, values in parts.items():
        mean, low, high, _ = over_tables(values)
        print(
            f"\n{len(values)} tables {part}: SamBA less forest {mean:+.3f} ({interval(low, high)})"
        )


def show_steps(found):
    flat = [(*step, part) for part, steps in STEPS.items() for step in steps]
    each = []
    for _, after, before, _ in flat:
        names = list(found[after])
        gain = [found[after][s].mean(axis=0) - found[before][s].mean(axis=0) for s in names]
        pairs = [(found[after][s][:, 0], found[before][s][:, 0]) for s in names]
        these = pooled([paired_difference(a, b, 1 / (FOLDS - 1)) for a, b in pairs])
        each.append((*(over_tables([g[i] for g in gain]) for i in (0, 1, 2)), these, names))
    stars = [holm([one[i][3] for one in each]) for i in (0, 1, 2)]
    last = None
    for k, ((title, after, _, part), (ba, auc, matched, these, _)) in enumerate(
        zip(flat, each, strict=True)
    ):
        if part != last:
            head(
                part, "step", "balanced accuracy", "95 % over tables", "95 % these tables",
                "AUC", "95 % over tables", "matched", "95 % over tables", "columns after",
            )  # fmt: skip
            last = part
        columns = np.mean([v[:, 3].mean() for v in found[after].values()])
        row(
            title, f"{ba[0]:+.3f}{'*' * int(stars[0][k])}",
            interval(*ba[1:3]), interval(*these[1:]),
            f"{auc[0]:+.3f}{'*' * int(stars[1][k])}", interval(*auc[1:3]),
            f"{matched[0]:+.3f}{'*' * int(stars[2][k])}", interval(*matched[1:3]), f"{columns:.0f}",
        )  # fmt: skip
    print(f"\n{len(flat)} steps, {int(np.sum(stars))} asterisks.")


def flattery(values, name):
    """Return {way: (gap on the folds that chose the best other, gap on folds that did not)}."""
    others = [A100, F, XGB]
    places = sorted({key[1:3] for key in values if key[0] == name})
    repeats = [[w for w in places if w[0] == r] for r in sorted({r for r, _ in places})]

    def gaps(chosen, judged):
        best = max(others, key=lambda m: np.mean([values[name, *w, m] for w in chosen]))
        each = [[values[name, *w, S] - values[name, *w, best] for w in f] for f in (chosen, judged)]
        return [np.mean(differences) for differences in each]

    found = {"one repeat; judged on the others": [], "three folds; judged on the other two": []}
    by_repeat, by_fold = found.values()
    for folds in repeats:
        if len(repeats) > 1:
            by_repeat.append(gaps(folds, [w for w in places if w not in folds]))
        for chosen in itertools.combinations(folds, 3):
            by_fold.append(gaps(chosen, [w for w in folds if w not in chosen]))
    return {way: np.mean(pairs, axis=0) for way, pairs in found.items() if pairs}


def show_curse(rows):
    """How much is the best other ensemble flattered by the folds that chose it?"""
    values = {(s, r, f, m): figures[0] for s, r, f, m, *figures in rows}
    names = list(dict.fromkeys(key[0] for key in values))
    each = {name: flattery(values, name) for name in names}
    head(
        "SamBA less the best of AdaBoost, forest and XGBoost",
        "chosen on", "tables", "difference on the folds that chose", "95 %",
        "on folds that did not", "95 %", "flattery", "95 %",
    )  # fmt: skip
    for way in each[names[0]]:
        for title, kept in (("all", names), ("five_sets.py", HEADLINE)):
            both = np.array([each[s][way] for s in names if s in kept])
            if len(both) > 1:
                found = [over_tables(v) for v in (*both.T, both[:, 1] - both[:, 0])]
                cells = [c for m, low, high, _ in found for c in (f"{m:+.3f}", interval(low, high))]
                row(way, title, *cells)


def show_spread(found):
    """Refits on bootstrap samples: they hold 63 % of the rows, which costs some models more."""
    head(
        f"{REFITS} refits on bootstrap samples of the same training rows, first repeat",
        "model", "two refits disagree on", "95 %", "on all rows", "one refit",
        "average of refits", "gain of averaging", "95 %",
    )  # fmt: skip
    means = {
        m.removeprefix("refit "): np.array([v.mean(axis=0)[:3] for v in by_set.values()])
        for m, by_set in found.items() if m.startswith("refit")
    }  # fmt: skip
    for label, each in means.items():
        apart, gain = over_tables(each[:, 0]), over_tables(each[:, 2] - each[:, 1])
        whole = [v[:FOLDS, 0].mean() for v in found[label].values()] if label in found else None
        on_all = "–" if whole is None else f"{np.mean(whole):.3f}"
        row(
            label, f"{apart[0]:.3f}", f"{apart[1]:.3f} to {apart[2]:.3f}", on_all,
            f"{each[:, 1].mean():.3f}", f"{each[:, 2].mean():.3f}", f"{gain[0]:+.3f}",
            interval(*gain[1:3]),
        )  # fmt: skip
    less = means[S] - means[F50]
    for title, values in (
        ("disagreement", less[:, 0]), ("one refit", less[:, 1]),
        ("average of refits", less[:, 2]), ("gain of averaging", less[:, 2] - less[:, 1]),
    ):  # fmt: skip
        mean, low, high, _ = over_tables(values)
        print(f"\nSamBA less forest of 50, {title}: {mean:+.3f} ({interval(low, high)})")


def show(rows):
    found = gathered(rows)
    show_curse(rows)
    show_models(found)
    show_sets(found)
    show_steps(found)
    show_spread(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--out", help="also add every figure of every fold to this CSV file")
    args = parser.parse_args()
    places = [(s, r) for r in range(args.repeats) for s in args.sets.split(",")]
    work = (delayed(study)(s, r) for s, r in places)
    rows = []
    for part in Parallel(n_jobs=args.jobs, return_as="generator")(work):
        rows += part
        if args.out:
            with open(args.out, "a", newline="") as file:
                csv.writer(file).writerows(part)
    show(rows)


if __name__ == "__main__":
    main()
