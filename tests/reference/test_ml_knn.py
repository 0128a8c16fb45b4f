"""ML-kNN's published tables: figures of an independent program, to their last digit.

The ten folds of the large tables are in benchmarks/quality/ml_knn.py.
"""

import numpy as np
import pytest

from psephos import MLKNeighborsClassifier, read_table
from psephos.protocol import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)

# Hamming loss, one-error, coverage, ranking loss, average precision: of the authors' split, and
# the means over ten folds.
FIGURES = {
    "yeast": (".1980 .2345 6.4144 .1715 .7585", None),
    "scene": (".0989 .2425 .5686 .0931 .8512", None),
    "emotions": (".2937 .4059 2.4901 .2829 .6938", ".265 .405 2.276 .262 .707"),
    "medical": (".0187 .3504 3.5039 .0585 .7256", None),
    "enron": (".0520 .3040 13.2055 .0938 .6232", None),
    "genbase": (".0043 .0050 .5779 .0064 .9914", ".004 .009 .555 .006 .989"),
}


def label_set(data_dir, name):
    """Return the rows for training and those for testing, each (X, Y)."""
    folder = data_dir / f"ml_{name}"
    if (folder / f"ml_{name}.npz").exists():
        with np.load(folder / f"ml_{name}.npz") as table:
            train = table["split"] == "train"
            return [(table["X"][rows], table["Y"][rows]) for rows in (train, ~train)]
    parts = [read_table(folder / f"{name}-{part}.arff.gz") for part in ("train", "test")]
    return [(one.X, one.y) for one in parts]


def measured(X, Y, asked, truth):
    model = MLKNeighborsClassifier().fit(X, Y)
    chances = model.predict_proba(asked)
    ranked = (one_error, coverage, ranking_loss, average_precision)
    return [hamming_loss(truth, model.predict(asked)), *(m(truth, chances) for m in ranked)]


def written(figures, like):
    """Return the figures with as many digits as those they are compared with."""
    digits = [len(text.split(".")[1]) for text in like.split()]
    pairs = zip(figures, digits, strict=True)
    return " ".join(f"{value:.{n}f}".removeprefix("0") for value, n in pairs)


@pytest.mark.parametrize("name", FIGURES)
def test_the_authors_split(data_dir, name):
    (X, Y), (asked, truth) = label_set(data_dir, name)
    expected = FIGURES[name][0]
    assert written(measured(X, Y, asked, truth), expected) == expected


@pytest.mark.parametrize("name", [name for name, (_, folds) in FIGURES.items() if folds])
def test_ten_folds(data_dir, name):
    (X, Y), (more, others) = label_set(data_dir, name)
    X, Y = np.vstack([X, more]), np.vstack([Y, others])
    order = np.random.RandomState(0).permutation(len(X))
    figures = []
    for fold in range(10):
        test = order[fold::10]
        train = np.setdiff1d(np.arange(len(X)), test)
        figures.append(measured(X[train], Y[train], X[test], Y[test]))
    expected = FIGURES[name][1]
    assert written(np.mean(figures, axis=0), expected) == expected
