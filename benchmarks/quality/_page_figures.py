"""Figures of a study's page computed again, by formulas of the literature; imports no psephos."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit
from sklearn import metrics

MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "."]
MEASURES = {
    "balanced accuracy": "balanced_accuracy", "accuracy": "accuracy", "ROC-AUC": "roc_auc",
    "log-loss": "log_loss", "R²": "r2", "MAE": "mae", "RMSE": "rmse",
    "balanced accuracy, training cases": "training", "R², training cases": "training",
    "voters": "n_voters", "columns": "columns_used",
}  # fmt: skip


def wilson(k, n, z=1.959963984540054):
    """Return the score interval of Wilson (1927)."""
    if n == 0:
        return math.nan, math.nan
    middle, half = k / n + z * z / 2 / n, z * math.sqrt(k * (n - k) / n**3 + z * z / 4 / n**2)
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def grouped_share(hits, groups, z=1.959963984540054):
    """Return Wilson's interval at the effective number of cases (Rao & Scott 1992), t for z."""
    hits, (_, codes) = np.asarray(hits, float), np.unique(groups, return_inverse=True)
    n, m = len(hits), codes.max() + 1 if len(hits) else 0
    if m < 2 or m == n:
        return wilson(hits.sum(), n) if m == n else (math.nan, math.nan)
    p, own = hits.mean(), float(m)
    rest = np.bincount(codes, weights=hits - p)
    variance = m / (m - 1) * (rest @ rest) / n**2
    if 0 < p < 1 and variance > 0:
        own = p * (1 - p) / variance * (z / stats.t.ppf(0.975, m - 1)) ** 2
    return wilson(p * min(own, n), min(own, n))


def nadeau_bengio(values, n_test, n_train):
    """Return a mean over folds, its corrected interval and the p-value (Nadeau & Bengio 2003)."""
    values = np.asarray(values, float)
    j, middle = len(values), float(np.mean(values))
    error = math.sqrt((1 / j + np.mean(n_test) / np.mean(n_train)) * np.var(values, ddof=1))
    half = stats.t.ppf(0.975, j - 1) * error
    p = float(2 * stats.t.sf(abs(middle) / error, j - 1)) if error else float(middle == 0)
    return middle, middle - half, middle + half, p


def delong(truth, score):
    """Return the area and DeLong's interval on the logit scale; none where classes separate."""
    pos, neg = score[truth], score[~truth]
    above = np.array([(np.sum(one > neg) + np.sum(one == neg) / 2) / len(neg) for one in pos])
    below = np.array([(np.sum(pos > one) + np.sum(pos == one) / 2) / len(pos) for one in neg])
    value = float(above.mean())
    if value in (0.0, 1.0):
        return value, *newcombe(value, len(pos), len(neg))
    error = math.sqrt(np.var(above, ddof=1) / len(pos) + np.var(below, ddof=1) / len(neg))
    half = 1.959963984540054 * error / (value * (1 - value))
    return value, float(expit(logit(value) - half)), float(expit(logit(value) + half))


def obuchowski(truth, score, groups):
    """Return the area with the interval of sums over groups (Obuchowski 1997), by Student's t."""
    pos, neg = score[truth], score[~truth]
    parts = np.empty(len(score))
    parts[truth] = [(np.sum(x > neg) + np.sum(x == neg) / 2) / len(neg) for x in pos]
    parts[~truth] = [(np.sum(pos > x) + np.sum(pos == x) / 2) / len(pos) for x in neg]
    value, (_, codes) = float(parts[truth].mean()), np.unique(groups, return_inverse=True)
    if value in (0.0, 1.0):
        return value, math.nan, math.nan
    weights = np.where(truth, 1 / len(pos), 1 / len(neg)) * (parts - value)
    sums, fewest = (
        np.bincount(codes, weights=weights),
        min(len(set(codes[truth])), len(set(codes[~truth]))),
    )
    m = len(sums)
    half = stats.t.ppf(0.975, fewest - 1) * math.sqrt(m / (m - 1) * (sums @ sums))
    half /= value * (1 - value)
    return value, float(expit(logit(value) - half)), float(expit(logit(value) + half))


def newcombe(value, m, n, z=1.959963984540054):
    """Return Newcombe's interval of the area (2006, method 5), by bisection."""
    star = (m + n) / 2 - 1

    def off(one):
        more = (1 - one) / (2 - one) + one / (1 + one)
        return z * math.sqrt(one * (1 - one) * (1 + star * more) / (m * n))

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle + off(middle) < 1 else (low, middle)
    return (low, 1.0) if value == 1 else (0.0, 1 - low)


def nogueira(chosen):
    """Return the stability of an (M, d) choice of columns and its interval (Nogueira 2018)."""
    z = np.asarray(chosen, float)
    m, d = z.shape
    p, k = z.mean(axis=0), z.sum(axis=1)
    ratio = k.mean() / d
    if ratio in (0.0, 1.0):
        return math.nan, math.nan, math.nan
    size = ratio * (1 - ratio)
    value = 1 - (m / (m - 1) * p * (1 - p)).mean() / size
    own = np.array([
        (row @ p / d - k[i] * k.mean() / d**2
         + value / 2 * (2 * k.mean() * k[i] / d**2 - k[i] / d - k.mean() / d + 1)) / size
        for i, row in enumerate(z)
    ])  # fmt: skip
    error = math.sqrt(4 / m**2 * np.sum((own - own.mean()) ** 2))
    half = 1.959963984540054 * error
    return value, value - half, min(value + half, 1.0)


def binomial_limit(errors, sizes, delta=0.05):
    """Return the limit of the mean error of the folds' models, the chance shared by the folds."""
    each = [stats.beta.ppf(1 - delta / len(sizes), e + 1, n - e) if e < n else 1.0
            for e, n in zip(errors, sizes, strict=True)]  # fmt: skip
    return float(np.mean(np.array(each, dtype=float)))


def net_benefit(truth, called, t):
    """Return the net benefit of Vickers & Elkin (2006)."""
    return (np.sum(called & truth) - np.sum(called & ~truth) * t / (1 - t)) / len(truth)


def positions(text):
    """Return the columns of '0..4 7' as numbers."""
    found = []
    for one in str(text).split() if text == text else []:
        low, _, high = one.partition("..")
        found += range(int(low), int(high or low) + 1)
    return found


def of_fold(part, classes):
    """Return the measures of the held-out cases of one fold."""
    if classes is None:
        y, p = part["truth"].astype(float), part["predicted"].astype(float)
        return {"r2": metrics.r2_score(y, p), "mae": metrics.mean_absolute_error(y, p),
                "rmse": metrics.root_mean_squared_error(y, p)}  # fmt: skip
    p = part[[f"p_{c}" for c in classes]].to_numpy(float)
    truth = np.array([classes.index(one) for one in part["truth"]])
    called, each = p.argmax(axis=1), range(len(classes))
    areas = [metrics.roc_auc_score(truth == k, p[:, k]) for k in each if (truth == k).any()]
    own = np.clip(p[np.arange(len(p)), truth], 1e-15, 1)
    return {"balanced_accuracy": metrics.balanced_accuracy_score(truth, called),
            "accuracy": metrics.accuracy_score(truth, called), "roc_auc": float(np.mean(areas)),
            "log_loss": float(-np.log(own).mean())}  # fmt: skip


def first_of(part, truth, classes):
    """Return balanced accuracy, or R², of the predictions of a fold for some truth."""
    if classes is None:
        return metrics.r2_score(truth.astype(float), part["predicted"])
    called = part[[f"p_{c}" for c in classes]].to_numpy(float).argmax(axis=1)
    each = [np.mean(called[truth == c] == k) for k, c in enumerate(classes) if (truth == c).any()]
    return float(np.mean(np.array(each, dtype=float)))


class Study:
    """A study's folder and the table it was made from."""

    def __init__(self, folder, table=None):
        self.folder, self.known = Path(folder), {}
        self.about = json.loads((self.folder / "study.json").read_text("utf-8"))["study"]
        words = {"truth": str, "id": str, "model": str}
        self.predictions = pd.read_csv(
            self.folder / "predictions.csv", dtype=words, keep_default_na=False
        )
        self.results = pd.read_csv(self.folder / "results.csv").query("status == 'ok'")
        self.refits = pd.read_csv(self.folder / "refits.csv").set_index("model")
        path = self.folder / "permuted.csv"
        self.permuted: Any = (
            pd.read_csv(path, dtype={"column": str}, keep_default_na=False)
            if path.exists()
            else None
        )
        found = [c.removeprefix("p_") for c in map(str, self.predictions) if c.startswith("p_")]
        self.classes = found or None
        with np.load(self.folder / "cases.npz", allow_pickle=False) as held:
            self.kept = [str(name) for name in held["names"]]
        self.models = list(dict.fromkeys(self.results["model"]))
        self.measure = "balanced_accuracy" if found else "r2"
        self.table, self.y, self.groups = read_table(table, self.about) if table else (None,) * 3

    def row_of(self, words):
        """Return the row of a case as the page names it: row 17, its id, or case 12, from 1."""
        kind, number = re.match(r"(case|row) (\d+)", words).groups()
        if kind == "case":
            return int(number) - 1
        found = self.predictions.loc[self.predictions["id"] == f"row {number}", "row"]
        return int(found.iloc[0])

    def folds(self, model):
        """Return a row a fold: measures by the predictions, the others of results.csv."""
        if model not in self.known:
            self.known[model] = self._folds(model)
        return self.known[model]

    def _folds(self, model):
        rows = self.results.query("model == @model").sort_values(["repeat", "fold"]).copy()
        own = self.predictions.query("model == @model")
        for at, row in rows.iterrows():
            part = own[(own["repeat"] == row["repeat"]) & (own["fold"] == row["fold"])]
            for name, value in of_fold(part, self.classes).items():
                rows.loc[at, name] = value
        return rows

    def mean(self, model, name):
        """Return the mean of a measure over folds, and its standard deviation."""
        values = self.folds(model)[name].to_numpy(float)
        return float(np.mean(values)), float(np.std(values, ddof=1))

    def interval(self, model, other=None):
        """Return the mean measure with its interval and p-value, less that of another model."""
        rows = self.folds(model)
        values = rows[self.measure].to_numpy(float)
        if other is not None:
            values = values - self.folds(other)[self.measure].to_numpy(float)
        mean, low, high, p = nadeau_bengio(values, rows["n_test"], rows["n_train"])
        if other is None:
            ends = self.by_cases(model, mean)
            low, high = np.fmin(low, ends[0]), min(np.fmax(high, ends[1]), 1.0)
        return mean, low, high, p

    def by_cases(self, model, mean):
        """Return an interval of this mean by the number of cases, as the page words it.

        Of classes it is Wilson's with K^2 / sum(1 / n_k) cases; of numbers that of pooled.csv.
        """
        if self.classes:
            sizes = self.held_out(model)["truth"].value_counts()
            n = len(sizes) ** 2 / (1 / sizes).sum()
            return wilson(mean * n, n)
        row = pd.read_csv(self.folder / "pooled.csv").set_index("model").loc[model]
        return mean + row["r2_low"] - row["r2"], mean + row["r2_high"] - row["r2"]

    def p_permuted(self, model, draws=200):
        """Return the one-sided p-value of the mean measure by permutations of the truth in folds.

        Predictions are fixed; the variance of a part v counts as (1 / J + n_test / n_train) v, and
        the sum is normal. Groups are not regarded.
        """
        rng, rows, found = np.random.default_rng(0), self.folds(model), []
        own = self.predictions.query("model == @model").reset_index()
        for _, part in own.groupby(["repeat", "fold"]):
            truth = part["truth"].to_numpy()
            found.append([first_of(part, rng.permutation(truth), self.classes)
                          for _ in range(draws)])  # fmt: skip
        share = 1 / len(rows) + rows["n_test"].mean() / rows["n_train"].mean()
        error = math.sqrt(share * np.var(found, axis=1, ddof=1).mean())
        gap = self.mean(model, self.measure)[0] - np.mean(found)
        return float(stats.norm.sf(gap / error)) if error else 1.0

    def held_out(self, model):
        """Return a row a case, by its row in the table: the mean of its held-out answers."""
        if (model, "") not in self.known:
            self.known[model, ""] = self._held_out(model)
        return self.known[model, ""]

    def _held_out(self, model):
        own = self.predictions.query("model == @model")
        names = [c for c in map(str, own) if c.startswith("p_") or c == "predicted"]
        mean = own.groupby("row")[names].mean()
        return mean.join(own.drop_duplicates("row").set_index("row")[["truth", "fold"]])

    def chosen(self, model):
        """Return the columns of each fold as an (M, d) table of 0 and 1."""
        rows = self.folds(model)
        out = np.zeros((len(rows), int(self.about["n_columns"])))
        for i, one in enumerate(rows["columns"]):
            out[i, positions(one)] = 1
        return out

    def moved(self, model, column):
        """Return how the measure changes where a column is permuted: the mean over folds."""
        own = self.permuted[(self.permuted["model"] == model) & (self.permuted["column"] == column)]
        return -float(own["worse"].sum()) / len(self.folds(model))


def read_table(path, about):
    """Return columns, target and groups of a table; numbers as numbers."""
    path = Path(path)
    if path.suffix == ".npz":
        held = np.load(path)
        table = pd.DataFrame(held["X"], columns=[str(c) for c in held["feature_names"]])
        y = held["y"] if "classes" not in held else held["classes"][held["y"]]
        groups = held[about["groups"]] if about["groups"] else None
        return table.astype(float), pd.Series(y), groups
    table = pd.read_csv(path, na_values=MISSING, keep_default_na=False)
    y, groups = table.pop(about["target"]), about["groups"]
    return table, y, table.pop(groups) if groups else None
