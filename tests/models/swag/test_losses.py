"""Errors of candidates against scikit-learn's metrics, split by split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from psephos import PsephosError
from psephos.models.swag.measures import make_measure, summarise
from psephos.models.swag.problem import Folds
from psephos.models.training import make_splits

N, B = 60, 5


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=N) if n_classes == 0 else np.arange(N) % n_classes
    weight = rng.uniform(0.5, 2.0, N)
    folds = Folds.of(make_splits(y, n_classes, n_folds=4, n_repeats=2))
    scores = rng.normal(size=(B, folds.n_tests, n_classes if n_classes > 2 else 1)).round(1)
    return y, weight, folds, scores


def by_hand(metric, y, weight, folds, scores):
    """Mean and standard deviation over splits of metric(truth, scores, weight)."""
    out = np.empty((B, folds.n_splits))
    for s in range(folds.n_splits):
        rows = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        places = folds.test[rows]
        for b in range(B):
            out[b, s] = metric(y[places], scores[b, rows], weight[places])
    return out.mean(axis=1), out.std(axis=1, ddof=1)


def answer(scores):
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def chances(scores):
    if scores.shape[1] > 1:
        return softmax(scores, axis=1)
    return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])


COST = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [3.0, 0.5, 0.0]])
CLASSIFICATION = {
    "error": lambda y, s, w: 1 - accuracy_score(y, answer(s), sample_weight=w),
    "accuracy": lambda y, s, w: 1 - accuracy_score(y, answer(s), sample_weight=w),
    "balanced_error": lambda y, s, w: 1 - balanced_accuracy_score(y, answer(s), sample_weight=w),
    "log_loss": lambda y, s, w: log_loss(y, chances(s), sample_weight=w),
    "f1_macro": lambda y, s, w: -f1_score(y, answer(s), average="macro", sample_weight=w),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", CLASSIFICATION)
def test_classification(scoring, n_classes):
    y, weight, folds, scores = problem(n_classes)
    found = make_measure(scoring, y, n_classes, weight, folds).errors(scores)
    error, spread = by_hand(CLASSIFICATION[scoring], y, weight, folds, scores)
    assert_allclose(found.error, error, rtol=1e-11)
    assert_allclose(found.spread, spread, rtol=1e-9)
    tie, _ = by_hand(CLASSIFICATION["log_loss"], y, weight, folds, scores)
    assert_allclose(found.tie, tie, rtol=1e-11)


def test_costs_and_area():
    y, weight, folds, scores = problem(3)
    found = make_measure(COST, y, 3, weight, folds).errors(scores)
    cost, _ = by_hand(lambda y, s, w: np.average(COST[y, answer(s)], weights=w), *problem(3))
    assert_allclose(found.error, cost, rtol=1e-11)
    y, weight, folds, scores = problem(2)
    found = make_measure("auc", y, 2, weight, folds).errors(scores)
    area, _ = by_hand(lambda y, s, w: roc_auc_score(y, s[:, 0], sample_weight=w), *problem(2))
    assert_allclose(found.error, 1 - area, rtol=1e-11)
    named = make_measure("roc_auc", y, 2, weight, folds).errors(scores)
    assert_array_equal(named.error, found.error)


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        (None, mean_squared_error),
        ("squared_error", mean_squared_error),
        ("neg_mean_absolute_error", mean_absolute_error),
        ("absolute_error", mean_absolute_error),
        ("r2", lambda y, s, sample_weight: -r2_score(y, s, sample_weight=sample_weight)),
    ],
)
def test_regression(scoring, metric):
    y, weight, folds, scores = problem(0)
    found = make_measure(scoring, y, 0, weight, folds).errors(scores)
    error, _ = by_hand(lambda y, s, w: metric(y, s[:, 0], sample_weight=w), *problem(0))
    tie, _ = by_hand(lambda y, s, w: mean_squared_error(y, s[:, 0], sample_weight=w), *problem(0))
    assert_allclose(found.error, error, rtol=1e-11)
    assert_allclose(found.tie, tie, rtol=1e-11)


@pytest.mark.parametrize("response", ["predict", "predict_proba", "decision_function"])
def test_scorers_of_every_response_see_the_labels(response):
    y, _, folds, scores = problem(2)
    labels = np.array(["no", "yes"])
    seen = []

    def metric(truth, said):
        seen.append((truth, said))
        return 0.25

    found = make_measure(
        make_scorer(metric, response_method=response), y, 2, np.ones(N), folds, labels
    ).errors(scores[:1])
    assert_array_equal(found.error, [-0.25])
    rows = slice(folds.test_ptr[0], folds.test_ptr[1])
    assert_array_equal(seen[0][0], labels[y[folds.test[rows]]])
    expected = {
        "predict": labels[answer(scores[0, rows])],
        "predict_proba": expit(scores[0, rows, 0]),
        "decision_function": scores[0, rows, 0],
    }
    assert_array_equal(seen[0][1], expected[response])


def test_errors_equal_on_paper_are_equal():
    tenths = np.array([[1, 2, 3], [3, 2, 1], [2, 2, 2]]) / 10
    assert len(set(tenths.mean(axis=1))) > 1  # what rounding does to the plain means
    found = summarise(tenths, tenths)
    assert len(set(found.error)) == 1
    assert_allclose(found.error, 0.2, rtol=1e-11)


def test_extreme_scores_have_finite_losses():
    y, weight, folds, _ = problem(2)
    sure = np.where(y[folds.test] == 1, -1e4, 1e4)[None, :, None]
    found = make_measure("log_loss", y, 2, weight, folds).errors(sure)
    assert_allclose(found.error, [1e4])


def test_one_split_has_no_spread():
    y, weight, _, _ = problem(2)
    folds = Folds.of(make_splits(y, 2, cv=[(np.arange(40), np.arange(40, 60))]))
    found = make_measure(None, y, 2, weight, folds).errors(np.zeros((1, 20, 1)))
    assert np.isnan(found.spread[0])
    assert_allclose(found.tie, np.log(2))


@pytest.mark.parametrize(
    ("scoring", "n_classes", "words"),
    [
        ("auc", 3, "needs two classes; got 3"),
        ("nonsense", 2, r"scoring must be .*; got 'nonsense'"),
        ("error", 0, r"scoring must be .*; got 'error'"),
        (np.eye(3), 2, r"a matrix of costs of shape \(2, 2\)"),
        ([[0, np.nan], [1, 0]], 2, "matrix of costs"),
        (3.5, 2, r"scoring must be .*; got 3\.5"),
        (3.5, 0, "'squared_error', 'absolute_error', or a scikit"),
    ],
)
def test_refusals(scoring, n_classes, words):
    y, weight, folds, _ = problem(n_classes)
    with pytest.raises(PsephosError, match=words):
        make_measure(scoring, y, n_classes, weight, folds)


def test_a_measure_undefined_on_a_split_is_refused():
    y = np.repeat([0, 1], [30, 30])
    folds = Folds.of(make_splits(y, 2, cv=[(np.r_[0:20, 30:60], np.arange(20, 30))]))
    with pytest.raises(PsephosError, match="needs both classes in every test part"):
        make_measure("auc", y, 2, np.ones(60), folds)
    measure = make_measure(lambda model, X, y: float("nan"), y, 2, np.ones(60), folds)
    with pytest.raises(PsephosError, match="scoring gives nan on the test rows of split 0"):
        measure.errors(np.zeros((1, 10, 1)))
