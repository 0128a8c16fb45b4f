"""What displays refuse: other shapes and lengths, in sentences of our own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from psephos import CARTClassifier, PsephosError
from psephos.explain import (
    BiasVarianceDisplay,
    CohortDisplay,
    ColumnNetwork,
    MissedDisplay,
    ObservedDisplay,
    TreeDisplay,
    ValuesDisplay,
    next_column,
)

X = np.arange(24.0).reshape(12, 2)
Y = np.repeat(["ill", "well"], 6)
MODEL = CARTClassifier(max_depth=1, min_samples_split=2, min_samples_leaf=1).fit(X, Y)
(READ,) = MODEL.features_used_
THREE = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_true": 1.0, "y_pred": 2.0}, r"got shapes \(\) and \(\)"),
        ({"y_true": [[1.0]] * 3}, r"got shapes \(3, 1\)"),
        ({"y_pred": list("abc")}, "y_pred must be numeric"),
        ({"stated": [[0.0, 1.0]]}, r"stated must have .* each of 3 cases"),
        ({"stated": [[1.0, 0.0]] * 3}, "low <= high"),
        ({"groups": [1]}, "one group per row"),
        ({"ids": ["a"]}, r"ids must have 3 entries, one per case; got shape \(1,\)"),
        ({"ids": 3}, "ids must have 3 entries"),
    ],
)
def test_predictions_have_one_shape(change, words):
    with pytest.raises(PsephosError, match=words):
        ObservedDisplay.from_predictions(**{"y_true": THREE, "y_pred": THREE} | change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"X": X[0]}, "X must be a table"),
        ({"X": X + np.inf}, "finite"),
        ({"names": ["a"]}, "names must name each of 2 columns"),
        ({"names": "ab"}, "names must name"),
        ({"fewest": -1}, "fewest must be a whole number"),
    ],
)
def test_a_cohort_is_a_table_with_names(change, words):
    with pytest.raises(PsephosError, match=words):
        CohortDisplay.from_cases(**{"X": X, "y": Y} | change)


def test_values_that_are_not_numbers_are_categories():
    days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", None] * 6)})
    assert CohortDisplay.from_cases(days, Y).lines()[0] == ["day: 2020-01-01 00:00:00", "3", "3"]
    words = pd.DataFrame({"kind": pd.array(["x", None, "x"] * 4, dtype="string")})
    assert CohortDisplay.from_cases(words, Y).lines()[-1] == ["kind: missing", "2", "2"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MissedDisplay.from_predictions(np.stack([Y, Y]), [0.5] * 2), "one class per case"),
        (lambda: MissedDisplay.from_predictions(Y, [0.5] * 3), "one entry per case"),
        (lambda: ValuesDisplay.from_estimator(MODEL, X, None, READ), "one label per row"),
        (lambda: ColumnNetwork.from_estimator(None), "fitted model of psephos; got NoneType"),
        (lambda: TreeDisplay.from_estimator(CARTClassifier()), "got CARTClassifier"),
        (lambda: TreeDisplay.from_estimator(MODEL, "a"), "voter must be a number from 0 to 0"),
        (
            lambda: TreeDisplay.from_estimator(MODEL, tree="a"),
            "tree must be .* 0 to 0, .*'a'",
        ),
        (lambda: TreeDisplay.from_estimator(MODEL, tree=1), "tree must be .* 0 to 0, .*; got 1"),
        (lambda: ColumnNetwork.from_usage("a", ["x"]), "usage must be .* table .*; got str 'a'"),
        (lambda: ColumnNetwork.from_usage(None, ["x"]), "usage must be .*; got NoneType None"),
        (lambda: ColumnNetwork.from_usage([1, 2], ["x"]), r"usage must be .*; got list \[1, 2\]"),
        (lambda: ColumnNetwork.from_usage([["a"]], ["x"]), "usage must be .* of numbers"),
        (lambda: ColumnNetwork.from_usage([[1, 0]], "ab"), "names must name each of 2 columns"),
        (lambda: ColumnNetwork.from_usage([[1, 0]], 5), "names must name each of 2 columns; got 5"),
        (lambda: BiasVarianceDisplay.from_estimator(None, X, Y), "estimator must be .* NoneType"),
        (lambda: BiasVarianceDisplay.from_estimator(KMeans(), X, Y), "estimator must .* KMeans"),
        (lambda: BiasVarianceDisplay.from_estimator(CARTClassifier, X, Y), "estimator must be"),
        (lambda: next_column(None, X), "fitted model of psephos; got NoneType"),
    ],
)
def test_what_is_not_fitted_or_of_another_shape(make, words):
    with pytest.raises(PsephosError, match=words):
        make()


@pytest.mark.parametrize("unit", ["a", None, -1.0, np.nan, np.inf, True])
def test_ends_of_parts_are_multiples_of_a_number(unit):
    found = ObservedDisplay.from_predictions(THREE, THREE)
    with pytest.raises(PsephosError, match="'unit' must be a finite number of at least 0; got"):
        found.parts(unit)
