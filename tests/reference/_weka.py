"""What Weka does around a classifier: its random numbers, folds, answers and printed trees."""

import csv
import re
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_iris

from psephos.vote import branch_voters


class Set(NamedTuple):
    """A table as Weka reads it: codes in nominal columns, `levels` and `classes` as declared."""

    X: np.ndarray
    y: np.ndarray
    names: list
    levels: dict
    classes: list

    @property
    def n_codes(self):
        return {j: len(words) for j, words in self.levels.items()}


def read_arff(path):
    """Return the set of an ARFF file whose class is the last attribute."""
    names, kinds, rows, data = [], [], [], False
    for line in path.read_text().splitlines():
        text = line.strip()
        if text.lower().startswith("@attribute"):
            found = re.match(r"@attribute\s+('[^']*'|\S+)\s*(.*)", text, re.IGNORECASE)
            names.append(found[1].strip("'"))
            listed = found[2].startswith("{")
            kinds.append(_cells(found[2].strip("{} ")) if listed else None)
        elif text.lower().startswith("@data"):
            data = True
        elif data and text and not text.startswith("%"):
            rows.append(_cells(text))
    return _coded(rows, names, kinds)


def _cells(text):
    cells = next(csv.reader([text], quotechar="'", skipinitialspace=True))
    return [cell.strip().strip("'") for cell in cells]


def _coded(rows, names, kinds):
    def number(cell, words):
        if cell in ("?", ""):
            return np.nan
        return float(cell) if words is None else float(words.index(cell))

    table = np.array([[number(c, w) for c, w in zip(row, kinds, strict=True)] for row in rows])
    levels = {j: words for j, words in enumerate(kinds[:-1]) if words is not None}
    return Set(table[:, :-1], table[:, -1].astype(int), names[:-1], levels, kinds[-1])


def read_numbers(path, classes):
    """Return the set of a CSV of numbers whose last column is the class."""
    with path.open() as file:
        names, *rows = csv.reader(file)
    X = np.array([row[:-1] for row in rows], dtype=float)
    y = np.array([classes.index(row[-1]) for row in rows])
    return Set(X, y, names[:-1], {}, classes)


def iris_of_uci():
    """Return iris as the UCI file has it: scikit-learn's is Fisher's, which differs in 3 cells."""
    data = load_iris()
    X = data.data.copy()
    X[34, 3], X[37, 1], X[37, 2] = 0.1, 3.1, 1.5
    names = ["sepallength", "sepalwidth", "petallength", "petalwidth"]
    return Set(X, data.target, names, {}, [f"Iris-{name}" for name in data.target_names])


def contact_lenses():
    """Return the 24 cases of Cendrowska (1987): every combination once, and her rules."""
    levels = [
        ["young", "pre-presbyopic", "presbyopic"],
        ["myope", "hypermetrope"],
        ["no", "yes"],
        ["reduced", "normal"],
    ]
    X = np.array(
        [[a, s, g, t] for a in range(3) for s in range(2) for g in range(2) for t in (0, 1)]
    )
    age, myope, astigmatic = X[:, 0], X[:, 1] == 0, X[:, 2] == 1
    soft = ~astigmatic & ~((age == 2) & myope)
    hard = astigmatic & (myope | (age == 0))
    y = np.where(X[:, 3] == 0, 2, np.where(soft, 0, np.where(hard, 1, 2)))
    names = ["age", "spectacle-prescrip", "astigmatism", "tear-prod-rate"]
    return Set(X.astype(float), y, names, dict(enumerate(levels)), ["soft", "hard", "none"])


# ---------------------------------------------------------------------- folds
class JavaRandom:
    """The linear congruential generator that Java's documentation of java.util.Random gives."""

    def __init__(self, seed):
        self.state = (seed ^ 0x5DEECE66D) & (2**48 - 1)

    def bits(self, number):
        self.state = (self.state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        return self.state >> (48 - number)

    def below(self, bound):
        if bound & (bound - 1) == 0:
            return (bound * self.bits(31)) >> 31
        while True:
            bits = self.bits(31)
            value = bits % bound
            if bits - value + bound - 1 < 2**31:
                return value


def weka_folds(y, n_folds=10, seed=1):
    """Return the test rows of each fold, as Weka's cross-validation draws them."""
    n, random = len(y), JavaRandom(seed)
    rows = list(range(n))
    for j in range(n - 1, 0, -1):
        other = random.below(j + 1)
        rows[j], rows[other] = rows[other], rows[j]
    at = 1
    while at < n:
        for j in range(at, n):
            if y[rows[at - 1]] == y[rows[j]]:
                rows[at], rows[j] = rows[j], rows[at]
                at += 1
        at += 1
    dealt = [rows[i] for first in range(n_folds) for i in range(first, n, n_folds)]
    ends = np.cumsum([0, *(n // n_folds + (f < n % n_folds) for f in range(n_folds))])
    return [np.array(dealt[ends[f] : ends[f + 1]]) for f in range(n_folds)]


# ---------------------------------------------------------------------- answers
def answers(tree, X):
    """Return each row's class: the first whose share is above all before it by 1e-6."""
    shares = branch_voters([tree], X.shape[1]).votes(X)[:, 0]
    best, chosen = np.zeros(len(X)), np.zeros(len(X), int)
    for k in range(shares.shape[1]):
        above = shares[:, k] > best + 1e-6
        best[above], chosen[above] = shares[above, k], k
    return chosen


# ---------------------------------------------------------------------- reports
def report_text(path):
    """Return the tree that a report of Weka's prints."""
    text = path.read_text()
    body = text.split("------------------\n", 1)[1]
    return body.split("Number of Leaves")[0].strip("\n")


def report_counts(path):
    """Return (training correct, cross-validation correct) of a report."""
    return [int(n) for n in re.findall(r"Correctly Classified Instances +(\d+)", path.read_text())]
