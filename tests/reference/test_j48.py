"""C4.5 as Weka's J48: its trees, and what it gets right in training and in Weka's own folds.

The reference outputs lie beside the data, in ``../reference/j48``. The estimator is fitted to
frames that declare their categories and to words as labels, whose classes are declared (in glass
one without rows). Not compared for want of their data: segment-challenge (a part of
`segment` in an order of its own), cpu.with.vendor, unbalanced.
"""

import csv
import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from psephos import C45Classifier
from psephos.trees.c45 import C45Options, c45_text, grow_c45

_SPEC = importlib.util.spec_from_file_location("_weka", Path(__file__).with_name("_weka.py"))
weka = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(weka)

pytestmark = pytest.mark.reference
GAP = 1e-5  # values that differ by less J48 does not cut apart

ARFF = {
    "weather.nominal": "weather_nominal",
    "weather.numeric": "weather_numeric",
    "labor": "labor",
    "vote": "vote",
    "breast-cancer": "breast_cancer",
    "credit-g": "credit_g",
    "soybean": "soybean",
}
CSV = {  # and their classes, as declared (glass: one of them does not occur)
    "diabetes": ("pima", ["tested_negative", "tested_positive"]),
    "ionosphere": ("ionosphere", ["b", "g"]),
    "glass": (
        "glass",
        [
            *("build wind float", "build wind non-float", "vehic wind float"),
            *("vehic wind non-float", "containers", "tableware", "headlamps"),
        ],
    ),
}
SETS = [*ARFF, *CSV, "iris", "contact-lenses"]
VARIANTS = {
    "default": {},
    "C0.1": {"confidence": 0.1},
    "unpruned": {"pruning": None},
    "M5": {"min_samples_leaf": 5},
}
BIG = {
    "letter": (1226, 2451, 0.96345),
    "shuttle": (24, 47, 0.99988),
    "satellite": (323, 645, 0.9798),
}


def read(data_dir, name):
    if name in ARFF:
        folder = ARFF[name]
        return weka.read_arff(data_dir / folder / f"{folder}.arff")
    if name in CSV:
        folder, classes = CSV[name]
        return weka.read_numbers(data_dir / folder / f"{folder}.csv", classes)
    return weka.iris_of_uci() if name == "iris" else weka.contact_lenses()


def frame_of(table):
    """Return the table as a frame whose columns declare their categories."""
    columns = {}
    for j, name in enumerate(table.names):
        column = table.X[:, j]
        if j in table.levels:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            column = pd.Categorical.from_codes(codes, table.levels[j])
        columns[name] = column
    return pd.DataFrame(columns)


def labels_of(table):
    return np.array(table.classes)[table.y]


def grown(table, params):
    """Return the tree of all rows."""
    model = C45Classifier(min_value_gap=GAP, classes=table.classes, **params)
    return model.fit(frame_of(table), labels_of(table)).tree_


def others(n, fold):
    return np.setdiff1d(np.arange(n), fold)


@pytest.fixture
def reports(data_dir):
    folder = data_dir.parent / "reference" / "j48"
    if not folder.is_dir():
        pytest.skip("needs the reference outputs: ../reference/j48 beside PSEPHOS_DATA")
    return folder


def expected(reports, name, variant):
    for line in (reports / "variants_table.txt").read_text().splitlines():
        found = line.split()
        if found[:2] == [name, variant]:
            return [int(cell.split("=")[1].split("/")[0]) for cell in found[2:6]]
    raise KeyError(name, variant)


@pytest.mark.parametrize("name", SETS)
def test_counts(data_dir, reports, name):
    """Leaves, nodes, training and 10-fold counts, by every option."""
    table = read(data_dir, name)
    frame, labels, folds = frame_of(table), labels_of(table), weka.weka_folds(table.y)
    parts = [(fold, others(len(labels), fold)) for fold in folds]
    parts = [(fold, frame.iloc[rows], labels[rows]) for fold, rows in parts]
    found, wanted = {}, {}
    for variant, options in VARIANTS.items():
        model = C45Classifier(min_value_gap=GAP, classes=table.classes, **options)
        tree = model.fit(frame, labels).tree_
        right = [int((weka.answers(tree, table.X) == table.y).sum()), 0]
        for fold, x, y in parts:
            part = model.fit(x, y).tree_
            right[1] += int((weka.answers(part, table.X[fold]) == table.y[fold]).sum())
        found[variant] = [tree.n_leaves, tree.n_nodes, *right]
        wanted[variant] = expected(reports, name, variant)
    assert found == wanted


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("version", ["36", "39"])
def test_text(data_dir, reports, name, version):
    """The printed tree, letter by letter, of Weka 3.6.14 and 3.9.7."""
    table = read(data_dir, name)
    path = reports / f"{version}.{name}.txt"
    wanted = weka.report_text(path)
    if (version, name) == ("36", "diabetes"):
        # 3.6 takes the value 0.561 for not above the middle, which is 0.561 - 1e-16; 3.9 does not.
        assert wanted.count("0.561") == 2
        wanted = wanted.replace("0.561", "0.56")
    tree = grown(table, {})
    assert c45_text(tree, table.names, table.levels, table.classes) == wanted
    right = int((weka.answers(tree, table.X) == table.y).sum())
    assert right == weka.report_counts(path)[0]


@pytest.mark.parametrize("version", ["36", "39"])
def test_iris_on_two_columns(reports, version):
    table = weka.iris_of_uci()
    table = table._replace(X=table.X[:, 2:], names=table.names[2:])
    text = c45_text(grown(table, {}), table.names, {}, table.classes)
    assert text == weka.report_text(reports / f"{version}.iris.2D.txt")


def big(data_dir, name):
    if name == "letter":
        with np.load(data_dir / name / "letter.npz", allow_pickle=True) as file:
            return file["X"].astype(float), file["y"].astype(np.intp)
    with gzip.open(data_dir / name / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([row[:-1] for row in rows], dtype=float)
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1].astype(np.intp)


@pytest.mark.parametrize("name", BIG)
def test_large_sets(data_dir, name):
    X, y = big(data_dir, name)
    tree = grow_c45(X, y, np.ones(len(y)), int(y.max()) + 1, {}, C45Options(gap=GAP))
    leaves, nodes, right = BIG[name]
    assert (tree.n_leaves, tree.n_nodes) == (leaves, nodes)
    assert round(float((weka.answers(tree, X) == y).mean()), 5) == pytest.approx(right, abs=6e-6)


@pytest.mark.parametrize("name", SETS)
def test_the_estimator_answers_the_same(data_dir, reports, name):
    table = read(data_dir, name)
    frame = frame_of(table)
    n, right, y = len(table.y), [0, 0], labels_of(table)
    model = C45Classifier(min_value_gap=GAP, classes=table.classes)
    right[0] = int((model.fit(frame, y).predict(frame) == y).sum())
    assert model.get_n_leaves() == expected(reports, name, "default")[0]
    for fold in weka.weka_folds(y):
        rows = others(n, fold)
        model.fit(frame.iloc[rows], y[rows])
        right[1] += int((model.predict(frame.iloc[fold]) == y[fold]).sum())
    assert right == expected(reports, name, "default")[2:]
