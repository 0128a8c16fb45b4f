"""Are the sentences of the first screen true? 25 quick studies, each figure computed again.

    python benchmarks/quality/first_screen.py [--out FOLDER]

Printed are the sentences of each page and, below, every figure in them that predictions.csv and
results.csv do not confirm by scikit-learn and scipy (of a fold by itself: the mean over folds with
the corrected interval of Nadeau and Bengio; of all cases together: counts, Wilson's interval
without groups, the mean absolute error with its normal interval; how many groups). What a sentence
says in words ("significantly", "most") is for a reader: it stands there beside the figures.
"""

import argparse
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.metrics import confusion_matrix as confusion

from psephos import CARTClassifier
from psephos.protocol import Protocol, compare, known_models, table_from_arrays
from psephos.report import summarise
from psephos.report.study.options import PageOptions

QUICK = Protocol("quick", draws=1, inner_folds=2, folds=3)
THREE = ("samba", "cart", "rank-ridge")
NUMBERS = ("cart-regressor", "rank-ridge-regressor", "proset-regressor")


class Broken(CARTClassifier):
    """A tree whose fit fails, of fewer than `rows` cases."""

    rows = 10**9

    def fit(self, X, y, **more):
        """Refuse."""
        if len(X) < self.rows:
            raise ValueError("it was made to fail")
        return super().fit(X, y, **more)


class Partly(Broken):
    """A tree whose fit fails in the folds that train on fewer than 67 cases, and their searches."""

    rows = 67


def made(n, k=2, shift=1.0, p=6, seed=0, groups=None, number=False, share=None):
    """Return a table whose first three columns tell the classes, or the number, apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=share) if k > 1 else np.zeros(n, dtype=int)
    X = rng.normal(size=(n, p))
    X[:, :3] += shift * y[:, None]
    of = None if groups is None else np.arange(n) % groups
    if of is not None:
        X[:, 1] += rng.normal(size=groups)[of]
    if number:
        y = 5 * shift * X[:, 0] + np.where(X[:, 0] > 0.7, 4, 1) * rng.normal(size=n)
        return table_from_arrays(X, y, groups=of, target_name="dose", task="numbers")
    return table_from_arrays(X, np.array(["well", "ill", "worse", "dead"])[y], groups=of)


def loaded(load, **more):
    """Return a table of scikit-learn's."""
    X, y = load(return_X_y=True)
    return table_from_arrays(X, y if more else np.char.add("class ", y.astype(str)), **more)


def studies():
    """Return name -> table, models, further arguments of `compare`."""
    cart = known_models()["cart"]
    failing = [
        replace(cart, name=f"broken-{i}", build=lambda params, shape, seed: Broken()) for i in "ab"
    ]
    partly = replace(cart, name="partly", build=lambda params, shape, seed: Partly(),
                     distributions={})  # fmt: skip
    ill = {"positive": "ill"}
    return {
        "two classes": (loaded(load_breast_cancer), THREE, {}),
        "three classes": (loaded(load_wine), THREE, {}),
        "three classes, easy": (loaded(load_iris), ("cart", "sklearn-k-nn"), {}),
        "four classes, hard": (made(160, k=4, shift=0.3), THREE, {}),
        "groups": (made(126, groups=14), THREE, ill),
        "groups of three classes": (made(150, k=3, groups=25), THREE, {}),
        "one model": (made(90), ("cart",), ill),
        "all failed": (made(60), failing, {}),
        "one fold failed": (made(100, seed=4), (partly, "rank-ridge"), ill),
        "none better": (made(80, shift=0.0), THREE, ill),
        "no model reads a column": (made(60), ("majority",), ill),
        "20 rows": (made(20, shift=1.5), THREE, ill),
        "10,000 rows": (made(10_000, shift=0.5), ("cart", "rank-ridge"), ill),
        "one class tiny": (made(200, k=3, share=[0.6, 0.36, 0.04]), THREE, {}),
        "two classes, one tiny": (made(200, share=[0.95, 0.05], shift=1.5), THREE, ill),
        "cost": (made(150), THREE, {**ill, "cost": {"missed": 5}}),
        "area as the measure": (made(150), THREE, {**ill, "metric": "roc_auc"}),
        "no cases carried": (made(120), THREE, ill),
        "two repeats": (made(90), THREE, ill),
        "numbers": (loaded(load_diabetes, target_name="progression", task="numbers"), NUMBERS, {}),
        "numbers of groups": (made(120, number=True, groups=20), NUMBERS, {}),
        "numbers, 20 rows": (made(20, number=True), NUMBERS, {}),
        "numbers, none better": (made(80, shift=0.0, number=True), NUMBERS, {}),
        "numbers by their absolute error": (made(120, number=True), NUMBERS, {"metric": "mae"}),
        "numbers, no cases carried": (made(150, number=True), NUMBERS, {}),
    }


def corrected(values, ratio):
    """Return the corrected resampled t interval of a mean over folds."""
    n = len(values)
    half = stats.t.ppf(0.975, n - 1) * np.sqrt((1 / n + ratio) * np.var(values, ddof=1))
    return np.mean(values) - half, np.mean(values) + half


def read(folder, key):
    """Return the fits of a model, its held-out answers, and the classes ([] of numbers)."""
    rows = pd.read_csv(folder / "results.csv")
    answers = pd.read_csv(folder / "predictions.csv")
    answers = answers[answers.model == key]
    classes = [c[2:] for c in answers if c.startswith("p_")]
    if classes:
        said = answers[[f"p_{c}" for c in classes]].to_numpy().argmax(axis=1)
        codes = [classes.index(str(t)) for t in answers.truth]
        answers = answers.assign(truth=codes, predicted=said)
    return rows[(rows.model == key) & (rows.status == "ok")], answers, classes


def by_cases(mean, answers, classes, pooled):
    """Return the interval of this mean by the number of cases: the least one.

    Of classes it is Wilson's with K^2 / sum(1 / n_k) cases; of numbers that of pooled.csv.
    """
    if not classes:
        return mean + pooled.r2_low - pooled.r2, mean + pooled.r2_high - pooled.r2
    sizes = answers.drop_duplicates("row").truth.value_counts()
    n = len(sizes) ** 2 / (1 / sizes).sum()
    return wilson(mean * n, n)


def of_folds(own, answers, classes, pooled):
    """Return what the first sentence must say of the mean over folds."""
    score = balanced_accuracy_score if classes else r2_score
    each = [score(g.truth, g.predicted) for _, g in answers.groupby(["repeat", "fold"])]
    low, high = corrected(each, own.n_test.sum() / own.n_train.sum())
    mean = f"is {np.mean(each) + 0.0:.2f}".replace("-0.00", "0.00")
    ends = by_cases(np.mean(each), answers, classes, pooled)
    low, high = min(low, ends[0]), max(high, ends[1])
    return [f"{mean} (95 % interval {max(low, 0 if classes else low):.2f} to {min(high, 1):.2f}"]


def of_numbers(answers, text, groups):
    """Return what the third sentence must say of the range where errors are greatest."""
    each = answers.groupby("row").agg(truth=("truth", "first"), said=("predicted", "mean"))
    part = re.search(r"is (?:above (\S+?))?(?:, )?(?:up to (\S+))? \((\d+) cases", text)
    ends = zip(part.groups()[:2], (-np.inf, np.inf), strict=True)
    low, high = (float(v) if v else w for v, w in ends)
    mine = each[(each.truth > low) & (each.truth <= high)]
    rest, e = each.drop(mine.index), (mine.truth - mine.said).abs()
    must = [
        f"({len(mine)} cases",
        f"error {mean_absolute_error(mine.truth, mine.said):#.3g} (",
        f"elsewhere {mean_absolute_error(rest.truth, rest.said):#.3g}.",
    ]
    half = stats.norm.ppf(0.975) * e.std() / np.sqrt(len(e))
    return (
        must if groups is not None else [*must, f"{e.mean() - half:#.3g} to {e.mean() + half:#.3g}"]
    )


def of_two(chances, truth, missed, groups):
    """Return what the third sentence must say of missed cases and false alarms."""
    yes = chances[:, missed["positive"]] >= missed["threshold"] - 1e-9
    mine, must = truth == missed["positive"], []
    for of, bad in ((mine, mine & ~yes), (~mine, ~mine & yes)):
        must.append(f"{bad.sum()} of {of.sum()} ")
        low, high = wilson(of.sum() - bad.sum(), of.sum())
        if groups is None:
            must.append(f"{1 - bad.sum() / of.sum():.2f}, {low:.2f} to {high:.2f}")
        elif bad.any():
            must.append(f", in {len(set(groups[bad]))} of {len(set(groups))}")
    return must


def of_several(chances, truth, classes, groups):
    """Return what the third sentence must say of the class that is found least."""
    grid = confusion(truth, chances.argmax(axis=1))
    shares = np.diag(grid) / grid.sum(axis=1)
    c = int(shares.argmin())
    must = [
        f"{np.trace(grid)} of {grid.sum()} cases",
        f"finds {classes[c]} least: {grid[c, c]} of {grid[c].sum()}",
        f"sensitivity {shares[c]:.2f}",
    ]
    low, high = wilson(grid[c, c], grid[c].sum())
    return must if groups is not None else [*must, f"{low:.2f} to {high:.2f}"]


def not_confirmed(folder, report, table, metric):
    """Return what the first and third sentence do not say as the files have it."""
    own, answers, classes = read(folder, report["bar"]["key"])
    text = [s.replace("\u202f", "").replace("−", "-") for s in report["first"]]
    pooled = None
    if not classes:
        pooled = pd.read_csv(folder / "pooled.csv").set_index("model").loc[report["bar"]["key"]]
    must = [] if metric else of_folds(own, answers, classes, pooled)
    missing = [w for w in must if w not in text[0]]
    if not classes:
        mae = f"{mean_absolute_error(answers.truth, answers.predicted):#.3g} ("
        missing += [] if metric or f"error {mae}" in text[0] else [mae]
        return missing + [w for w in of_numbers(answers, text[2], table.groups) if w not in text[2]]
    by_case = answers.groupby("row")
    chances = by_case[[f"p_{c}" for c in classes]].mean().to_numpy()
    truth, rows = by_case.truth.first().to_numpy(), by_case.truth.first().index.to_numpy()
    groups = None if table.groups is None else table.groups[rows]
    if len(classes) == 2:
        must = of_two(chances, truth, report["missed"], groups)
    else:
        must = of_several(chances, truth, classes, groups)
    return missing + [w for w in must if w.strip() not in text[2]]


def wilson(k, n):
    """Return Wilson's 95 % interval of a share; n may be an effective number of cases."""
    z, p = stats.norm.ppf(0.975), k / n
    middle, half = p + z * z / 2 / n, z * np.sqrt(p * (1 - p) / n + z * z / 4 / n**2)
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def main():
    """Make the studies, print what their pages say first, and what is not confirmed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=None)
    out = parser.parse_args().out or Path(tempfile.mkdtemp())
    false = 0
    for name, (table, models, more) in studies().items():
        folder = out / name.replace(" ", "-").replace(",", "")
        protocol = replace(QUICK, repeats=2 if "repeats" in name else 1)
        table = replace(table, positive=more.pop("positive", None))
        if not (folder / "comparison.json").exists():
            compare(table, models=list(models), protocol=protocol, out=folder, n_jobs=1, **more)
        carried = "none" if "no cases" in name else "rounded"
        report = summarise(folder, None, PageOptions(cases=carried))
        first = report["first"]
        words = len(" ".join(first).split())
        print(f"\n== {name}: {report['data_line']} [{report['bar']['key']}; {words} words]")
        for sentence in first or report["verdict"]:
            print("  ", sentence)
        if first:
            bad = not_confirmed(folder, report, table, more.get("metric") or more.get("cost"))
            false += len(bad)
            print("   not confirmed:", bad) if bad else None
    print(f"\nfigures not confirmed: {false}")


if __name__ == "__main__":
    main()
