"""How few columns are enough? A vote on few columns beside votes on all, on fat tables.

    PSEPHOS_DATA=... python benchmarks/quality/few_columns.py OUT.csv [--models ...] [--repeats 1]
    python benchmarks/quality/few_columns.py OUT.csv --table

Five folds, drawn several times, stratified, rows of one subject together where a set names them;
columns are chosen anew in every training part. AUC (of several classes the mean of each against the
rest), balanced accuracy where the class is answered whose probability is the greatest multiple of
its share of the training rows, that of the most probable class, and log-loss (probabilities at
least .001, as the share of one tree of 500 is .002). What chooses columns is fitted with a second
seed on the same rows. OUT.csv has a line a set, model, fold, seed and budget; what is there is not
fitted again, and folds come one after the other, so that a run that was stopped compares all.

``--table`` prints mean differences to the forest on all columns, sets as the unit, with the
half-width of the 95 % interval (Student's) over sets; how alike the columns are, between folds and
between seeds (Jaccard index); and how often columns returned that were estimated to.
"""

import argparse
import csv
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from _fat_sets import CHOSE, OTHERS, read
from scipy.stats import binom
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import psephos

BUDGETS = (2, 4, 8, 16, 20)
OWN = 0  # the budget of models that choose their own size
FIELDS = (
    "set", "model", "fold", "seed", "budget", "columns", "auc", "balanced", "most_probable",
    "log_loss", "seconds", "chosen", "returns",
)  # fmt: skip
SCORES = ("auc", "balanced", "most_probable", "log_loss")
LEAST = 1e-3  # of a probability


def budget(selector="blend", estimator=None, **more):
    def fit(X, y, groups, seed):
        model = psephos.ColumnBudgetClassifier(
            selector=selector, estimator=estimator, random_state=seed, **more
        )
        return model.path(X, y, BUDGETS, groups=groups)

    return fit


def alone(make):
    def fit(X, y, groups, seed):
        model = make(seed)
        more = {} if groups is None or not hasattr(model, "anatomy") else {"groups": groups}
        return {OWN: model.fit(X, y, **more)}

    return fit


def shrunk(make, target="labels"):
    """Fit one model, and make it smaller on its own training rows (out of bag, of a forest)."""

    def fit(X, y, groups, seed):
        model = make(seed).fit(X, y)
        found = {}
        for k in BUDGETS:
            try:
                found[k] = psephos.shrink(model, k, X, y, target=target)
            except psephos.PsephosError:  # no voter reads so few
                continue
        return found

    return fit


def l1(seed):
    """Return scikit-learn's l1-penalised logistic regression, its penalty by five folds."""
    path = LogisticRegressionCV(
        Cs=np.logspace(-2, 1, 10), l1_ratios=(1.0,), solver="liblinear", cv=5,
        scoring="neg_log_loss", random_state=seed, use_legacy_attributes=False,
    )  # fmt: skip
    return make_pipeline(StandardScaler(), OneVsRestClassifier(path))


def xgboost(seed):
    """Return XGBoost: 200 trees of depth 3, each on 80 % of the rows and 30 % of the columns."""
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=200, learning_rate=0.1, max_depth=3, subsample=0.8, colsample_bytree=0.3,
        random_state=seed, n_jobs=1,
    )  # fmt: skip


def forest(seed, n=500):
    return psephos.RandomForestClassifier(n, random_state=seed)


def both(seed):
    members = [("forest", forest(None)), ("ridge", psephos.RankRidgeClassifier())]
    return psephos.VotingClassifier(members, random_state=seed)


class OnColumns:
    """A forest of 300 trees on some columns of the table."""

    def __init__(self, columns, X, y, seed):
        self.columns = np.sort(columns)
        self.model = forest(seed, 300).fit(X[:, self.columns], y)

    def predict_proba(self, X):
        return self.model.predict_proba(X[:, self.columns])


def boruta(X, y, groups, seed, rounds=50, alpha=0.01):
    """Boruta (Kursa & Rudnicki 2010), then a forest on the confirmed columns, and on the best k.

    Each round a forest of 500 trees gets the columns that are not rejected and a shuffled copy of
    each (at least five copies); a hit is an impurity importance above that of all copies. A column
    is confirmed, or rejected, where its hits are too many, or too few, for a fair coin, with
    Bonferroni's correction. If none is confirmed, it is the one of most hits.
    """
    rng = np.random.default_rng(seed)
    p = X.shape[1]
    state, hits, total = np.zeros(p, dtype=int), np.zeros(p), np.zeros(p)
    for done in range(1, rounds + 1):
        alive = np.flatnonzero(state >= 0)
        copied = alive if len(alive) >= 5 else rng.choice(p, 5)
        copies = rng.permuted(X[:, copied], axis=0)
        model = forest(int(rng.integers(2**31)), 500).fit(np.hstack([X[:, alive], copies]), y)
        found = model.impurity_importance_
        hits[alive] += found[: len(alive)] > found[len(alive) :].max()
        total[alive] += found[: len(alive)]
        open_ = np.flatnonzero(state == 0)
        sure = alpha / p
        state[open_[binom.sf(hits[open_] - 1, done, 0.5) < sure]] = 1
        state[open_[binom.cdf(hits[open_], done, 0.5) < sure]] = -1
        if not (state == 0).any():
            break
    order = np.lexsort((-total, -hits, -state))
    confirmed = order[: max(1, int((state == 1).sum()))]
    sizes = {OWN: confirmed} | {k: order[:k] for k in BUDGETS}
    return {k: OnColumns(columns, X, y, seed) for k, columns in sizes.items()}


MODELS = {
    "forest, all columns": alone(forest),
    "blend -> forest + ridge": budget(),
    "ridge on ranks, all columns": alone(lambda seed: psephos.RankRidgeClassifier()),
    "l1-logistic": alone(l1),
    "XGBoost, all columns": alone(xgboost),
    "stability -> forest": budget("stability", psephos.RandomForestClassifier(300)),
    "Boruta -> forest": boruta,
    "blend, stable -> forest + ridge": budget(stable=True),
    "forest + ridge, all columns": alone(both),
    "forest, another seed": alone(lambda seed: forest(seed + 1000)),
    "importance -> forest": budget("importance", psephos.RandomForestClassifier(300)),
    "SamBA": alone(lambda seed: psephos.SamBAClassifier(random_state=seed)),
    "AdaBoost": alone(lambda seed: psephos.AdaBoostClassifier(random_state=seed)),
    "importance -> forest + ridge": budget("importance"),
    "lars -> forest + ridge": budget("lars"),
    "stability -> forest + ridge": budget("stability"),
    "univariate -> forest + ridge": budget("univariate"),
    "shrink(forest)": shrunk(lambda seed: psephos.RandomForestClassifier(300, random_state=seed)),
    "shrink(AdaBoost)": shrunk(lambda seed: psephos.AdaBoostClassifier(random_state=seed)),
    "shrink(AdaBoost, target='model')": shrunk(
        lambda seed: psephos.AdaBoostClassifier(random_state=seed), "model"
    ),
    "SWAG": alone(lambda seed: psephos.SparseWrapperClassifier(random_state=seed)),
    "proset": alone(lambda seed: psephos.ProsetClassifier(random_state=seed)),
}
RIVALS = tuple(MODELS)[:7]  # those of a run that names none


def splits(X, y, groups, repeats):
    """Yield (number, training rows, test rows)."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    for repeat in range(repeats):
        cut = kind(5, shuffle=True, random_state=repeat).split(X, y, groups)
        for fold, (train, test) in enumerate(cut):
            yield 5 * repeat + fold, train, test


def scores(model, X, y, prior):
    """Return `SCORES` on rows not seen."""
    chances = model.predict_proba(X)
    if len(prior) == 2:
        auc = roc_auc_score(y, chances[:, 1])
    else:
        auc = np.mean([roc_auc_score(y == k, chances[:, k]) for k in np.unique(y)])
    clipped = np.maximum(chances, LEAST)
    clipped /= clipped.sum(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a test part may lack a class
        by_shares = balanced_accuracy_score(y, (chances / prior).argmax(axis=1))
        most_probable = balanced_accuracy_score(y, chances.argmax(axis=1))
        loss = log_loss(y, clipped, labels=np.arange(len(prior)))
    return auc, by_shares, most_probable, loss


def columns_of(model):
    """Return the columns that a model reads, sorted."""
    if isinstance(model, OnColumns):
        return model.columns
    if hasattr(model, "selected_"):
        return model.selected_
    if hasattr(model, "features_used_"):
        return model.features_used_
    if hasattr(model, "get_booster"):
        return np.sort([int(name[1:]) for name in model.get_booster().get_score()])
    coef = np.concatenate([one.coef_ for one in model[-1].estimators_])
    return np.flatnonzero(coef.any(axis=0))


def lines(found, key, seconds, X, y, prior):
    """Return the lines of OUT.csv of models that were fitted at one go."""
    for k, model in found.items():
        columns = columns_of(model)
        chosen = columns if len(columns) <= 64 else []
        rates = getattr(model, "return_rate_", [])
        yield [
            *key, k, len(columns), *(f"{s:.5f}" for s in scores(model, X, y, prior)),
            f"{seconds:.2f}", " ".join(map(str, chosen)), " ".join(f"{r:.3f}" for r in rates),
        ]  # fmt: skip


def run(place, sets, models, repeats, seeds):
    done = {tuple(one[name] for name in FIELDS[:4]) for one in rows_of(place)}
    if not done:
        with place.open("w", newline="") as out:
            csv.writer(out).writerow(FIELDS)
    warnings.simplefilter("ignore")  # of classes rarer than folds
    for number in range(5 * repeats):
        for name in sets:
            X, y, groups = read(name)
            _, train, test = list(splits(X, y, groups, repeats))[number]
            for kind in models:
                for seed in range(seeds if "->" in kind else 1):
                    key = (name, kind, str(number), str(seed))
                    if key in done:
                        continue
                    start = time.process_time()
                    of = None if groups is None else groups[train]
                    found = MODELS[kind](X[train], y[train], of, number + 100_000 * seed)
                    seconds = time.process_time() - start
                    prior = np.bincount(y[train]) / len(train)
                    rows = list(lines(found, key, seconds, X[test], y[test], prior))
                    with place.open("a", newline="") as out:
                        csv.writer(out).writerows(rows)


def rows_of(place):
    if not place.exists():
        return []
    with place.open(newline="") as file:
        return list(csv.DictReader(file))


def jaccard(a, b):
    return len(a & b) / len(a | b) if a | b else 1.0


def by_model(rows):
    """Return {(model, budget): {set: {(fold, seed): row}}}."""
    found = {}
    for row in rows:
        at = found.setdefault((row["model"], int(row["budget"])), {}).setdefault(row["set"], {})
        at[int(row["fold"]), int(row["seed"])] = row
    return found


def alike(one):
    """Return the mean Jaccard index (between folds, between seeds) of a set's fits."""
    sets = {key: set(row["chosen"].split()) for key, row in one.items()}
    if not all(sets.values()):
        return np.nan, np.nan
    first = [own for (_, seed), own in sets.items() if seed == 0]
    folds = [jaccard(a, b) for a, b in combinations(first, 2)]
    seeds = [jaccard(own, sets[f, 1]) for (f, s), own in sets.items() if s == 0 and (f, 1) in sets]
    return (np.mean(folds) if folds else np.nan), (np.mean(seeds) if seeds else np.nan)


def interval(values):
    """Return a mean and the half-width of its 95 % interval, in words."""
    values = np.asarray(values)
    n = len(values)
    half = student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    return f"{values.mean():+.3f} ± {half:.3f}"


def table(place, sets):
    """Print differences to the forest on all columns, stability, seconds and the sets one by one.

    Of each model the folds count that the forest has too.
    """
    found = by_model([row for row in rows_of(place) if row["set"] in sets])
    base = found["forest, all columns", OWN]
    heads = "AUC", "balanced accuracy", "log-loss", "folds", "seeds", "s"
    print(f"| model | columns | sets | {' | '.join(heads)} |")
    print("| --- |" + " ---: |" * 8)
    for (kind, k), by in sorted(found.items(), key=lambda one: (one[0][0], one[0][1])):
        names = [name for name in by if name in base]
        off = {
            score: [
                np.mean([float(r[score]) - float(base[n][f, 0][score])
                         for (f, s), r in by[n].items() if s == 0 and (f, 0) in base[n]])
                for n in names
            ]
            for score in SCORES
        }  # fmt: skip
        same = np.array([alike(by[n]) for n in names])
        read_by = np.mean([np.mean([int(r["columns"]) for r in by[n].values()]) for n in names])
        seconds = np.mean([np.mean([float(r["seconds"]) for r in by[n].values()]) for n in names])
        cells = [interval(off[score]) for score in ("auc", "balanced", "log_loss")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of models that choose no columns
            cells += ["" if np.isnan(m) else f"{m:.2f}" for m in np.nanmean(same, axis=0)]
        print(f"| {kind} | {k or f'({read_by:.0f})'} | {len(names)} | {' | '.join(cells)} | "
              f"{seconds:.1f} |")  # fmt: skip
    print("\n| set | folds | forest, all |" + "".join(f" {k} |" for k in BUDGETS))
    print("| --- |" + " ---: |" * (len(BUDGETS) + 2))
    ours = {k: found["blend -> forest + ridge", k] for k in BUDGETS}
    for name, folds in base.items():
        cells = []
        for k in (OWN, *BUDGETS):
            own = ours[k].get(name, {}) if k else folds
            kept = [f for f in folds if f in own]
            means = [
                np.mean([float(own[f][s]) - (float(folds[f][s]) if k else 0) for f in kept])
                for s in ("auc", "balanced")
            ]
            cells.append(" / ".join(f"{m:+.3f}" if k else f"{m:.3f}" for m in means))
        print(f"| {name} | {len(folds)} | {' | '.join(cells)} |")


def came_back(rows):
    """Return (stated, returned, set, budget) of each column that a fit of the blend chose.

    Whether it returned is the share of the other folds of the set that chose it too.
    """
    found = []
    for (kind, k), by in by_model(rows).items():
        for name, fits in by.items() if kind == "blend -> forest + ridge" else ():
            first = {f: row for (f, seed), row in fits.items() if seed == 0}
            sets = {f: set(row["chosen"].split()) for f, row in first.items()}
            for a in first if len(first) > 1 else ():
                stated = zip(first[a]["chosen"].split(), first[a]["returns"].split(), strict=True)
                for column, rate in stated:
                    back = np.mean([column in sets[b] for b in first if b != a])
                    found.append((float(rate), back, name, k))
    return found


def calibration(place, sets):
    """Print how often columns returned that were estimated to, with the interval over sets."""
    found = came_back([row for row in rows_of(place) if row["set"] in sets])
    print("\n| stated | columns | sets | returned |")
    print("| --- | ---: | ---: | ---: |")
    stated = np.array([one[0] for one in found])
    back = np.array([one[1] for one in found])
    names = np.array([one[2] for one in found])
    for low in np.arange(0, 1, 0.1):
        own = (stated >= low) & (stated < low + 0.1 + (low > 0.85))
        if own.any():
            means = [back[own & (names == n)].mean() for n in np.unique(names[own])]
            mean = 100 * stated[own].mean()
            print(f"| {100 * low:.0f} to {100 * low + 10:.0f} % (mean {mean:.0f})"
                  f" | {own.sum()} | {len(means)} | {back[own].mean():.2f}"
                  f" (over sets {interval(means)[1:]}) |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", default="all", help="chose, others, all, or names: a,b")
    parser.add_argument("--models", default=";".join(RIVALS))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2, help="fits with other seeds, of choosers")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    groups = {"chose": CHOSE, "others": OTHERS, "all": OTHERS + CHOSE}
    sets = groups.get(args.sets) or args.sets.split(",")
    if args.table:
        table(args.out, sets)
        calibration(args.out, sets)
    else:
        run(args.out, sets, args.models.split(";"), args.repeats, args.seeds)


if __name__ == "__main__":
    main()
