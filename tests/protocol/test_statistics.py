"""Figures against scipy and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics

from psephos._distributions import Choice, Integers, LogUniform, Uniform
from psephos._errors import PsephosError
from psephos.protocol import (
    one_standard_error,
    paired_difference,
    pareto,
    selection_stability,
    summary,
)
from psephos.protocol.evaluation.scores import Answers, balanced_accuracy, measures


def row(model, fold, score, columns, status="ok", n_train=80, n_test=20):
    return {
        "model": model,
        "repeat": 0,
        "fold": fold,
        "n_train": n_train,
        "n_test": n_test,
        "balanced_accuracy": score,
        "accuracy": score,
        "roc_auc": None,
        "log_loss": 0.5,
        "columns_used": columns,
        "n_voters": None,
        "status": status,
    }


A = [0.80, 0.85, 0.90, 0.75, 0.88]
B = [0.78, 0.80, 0.91, 0.70, 0.80]
ROWS = [row("a", i, v, 4) for i, v in enumerate(A)] + [row("b", i, v, 10) for i, v in enumerate(B)]


def test_summary_by_hand():
    rows = [*ROWS, row("a", 5, None, None, status="failed")]
    a, b = summary(rows)
    assert (a.model, b.model) == ("a", "b")
    assert a.n_failed == 1
    spread = a.measures["balanced_accuracy"]
    assert_allclose((spread.mean, spread.sd), (np.mean(A), np.std(A, ddof=1)))
    assert_allclose(spread.se, stats.sem(A))
    assert spread.n == 5
    assert math.isnan(a.measures["roc_auc"].mean)
    assert a.columns_used.mean == 4


def test_without_correction_the_interval_is_the_paired_t_test():
    peer = stats.ttest_rel(A, B)
    interval = peer.confidence_interval(0.95)
    found = paired_difference(A, B, 0.0)
    assert_allclose((found.low, found.high, found.p), (interval.low, interval.high, peer.pvalue))


def test_the_corrected_interval_by_hand():
    d = np.subtract(A, B)
    error = math.sqrt((1 / 5 + 20 / 80) * d.var(ddof=1))
    half = stats.t.ppf(0.975, 4) * error
    found = paired_difference(ROWS, "a", "b")
    assert_allclose(
        (found.mean, found.low, found.high), (d.mean(), d.mean() - half, d.mean() + half)
    )
    assert_allclose(found.p, 2 * stats.t.sf(d.mean() / error, 4))
    assert (found.n, found.ratio) == (5, 0.25)
    assert found == paired_difference(A, B, 0.25)


def test_only_shared_splits_count():
    rows = [r for r in ROWS if not (r["model"] == "b" and r["fold"] == 2)]
    assert paired_difference(rows, "a", "b").n == 4


def test_degenerate_differences():
    assert paired_difference(A, A, 0.25).p == 1.0
    assert paired_difference([1.0, 1.0], [0.0, 0.0], 0.25).p == 0.0
    assert math.isnan(paired_difference([1.0], [0.0], 0.25).low)
    with pytest.raises(PsephosError, match="share no split"):
        paired_difference(ROWS, "a", "nobody")
    with pytest.raises(PsephosError, match="there is no metric 'acuracy'"):
        paired_difference(ROWS, "a", "b", "acuracy")
    with pytest.raises(PsephosError, match="same splits"):
        paired_difference(A, B[:3], 0.25)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(0, 1))
def test_the_difference_is_antisymmetric(a, ratio):
    b = np.sin(np.arange(len(a)))
    one, other = paired_difference(a, b, ratio), paired_difference(b, a, ratio)
    assert_allclose(
        (one.mean, one.low, one.high), (-other.mean, -other.high, -other.low), atol=1e-12
    )


def figures(*told):
    return summary([row(m, i, s + e, c) for m, s, c in told for i, e in enumerate((-0.05, 0.05))])


def test_summary_tells_the_stability_of_the_columns():
    told = ["0 3", "0 3..4", "0 9"]
    rows = [row("a", i, 0.8, 2) | {"columns": c, "n_columns": 12} for i, c in enumerate(told)]
    failed = row("a", 3, None, None, status="failed") | {"columns": None, "n_columns": 12}
    (found,) = summary([*rows, failed])
    assert found.stability == selection_stability([[0, 3], [0, 3, 4], [0, 9]], 12)
    (old,) = summary(ROWS[:5])  # a folder of before columns were kept
    assert math.isnan(old.stability.value)


def test_pareto_keeps_what_nothing_beats():
    found = pareto(
        figures(("a", 0.9, 10), ("b", 0.8, 3), ("c", 0.8, 5), ("d", 0.5, 0), ("e", 0.7, 3))
    )
    assert [s.model for s in found] == ["d", "b", "a"]
    twins = pareto(figures(("a", 0.9, 10), ("b", 0.9, 10)))
    assert [s.model for s in twins] == ["a", "b"]


def test_one_standard_error_takes_the_fewest_columns_near_the_best():
    told = figures(("forest", 0.90, 300), ("samba", 0.86, 5), ("adaboost", 0.89, 20))
    assert_allclose(told[0].measures["balanced_accuracy"].se, 0.05)
    ours = ("samba", "adaboost")
    chosen = one_standard_error(told, ours)
    assert chosen is not None
    assert chosen.model == "samba"
    far = figures(("forest", 0.90, 300), ("samba", 0.84, 5), ("adaboost", 0.89, 20))
    chosen = one_standard_error(far, ours)
    assert chosen is not None
    assert chosen.model == "adaboost"
    far = figures(("forest", 0.9, 300), ("samba", 0.6, 5))
    assert one_standard_error(far, ours) is None
    chosen = one_standard_error(far)
    assert chosen is not None
    assert chosen.model == "forest"


# ------------------------------------------------------------------- metrics
@pytest.mark.parametrize("n_classes", [2, 4])
def test_metrics_equal_scikit_learns(n_classes):
    rng = np.random.default_rng(n_classes)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=60)])
    proba = rng.dirichlet(np.ones(n_classes), size=len(truth)).round(1)
    proba += 0.05
    proba /= proba.sum(axis=1, keepdims=True)
    codes = proba.argmax(axis=1)
    found = measures(Answers(codes, proba, proba), truth)
    level = proba.round(12)  # ties but for rounding are ties
    assert_allclose(found["balanced_accuracy"], metrics.balanced_accuracy_score(truth, codes))
    assert_allclose(found["accuracy"], metrics.accuracy_score(truth, codes))
    areas = [metrics.roc_auc_score(truth == k, level[:, k]) for k in range(n_classes)]
    assert_allclose(found["roc_auc"], areas[1] if n_classes == 2 else np.mean(areas))
    assert_allclose(found["log_loss"], metrics.log_loss(truth, proba))


def test_scores_that_differ_by_rounding_are_ties_in_roc_auc():
    truth = np.array([0, 1, 0, 1, 0])
    p = np.array([0.2, 0.2 + 1e-16, 0.2 - 3e-17, 0.9, 0.1])
    proba = np.column_stack([1 - p, p])
    area = measures(Answers(proba.argmax(axis=1), proba, proba), truth)["roc_auc"]
    assert_allclose(area, metrics.roc_auc_score(truth, [0.2, 0.2, 0.2, 0.9, 0.1]))
    tiny = np.array([1e-20, 3e-20, 1e-21, 2e-20, 4e-20])  # small and different is no tie
    proba = np.column_stack([1 - tiny, tiny])
    area = measures(Answers(proba.argmax(axis=1), proba, proba), truth)["roc_auc"]
    assert_allclose(area, metrics.roc_auc_score(truth, tiny))


def test_metrics_where_a_class_is_absent():
    truth = np.array([0, 0, 2])
    proba = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found = measures(Answers(np.array([0, 1, 2]), proba, proba), truth)
    assert found["roc_auc"] is None
    assert found["balanced_accuracy"] == 0.75
    assert_allclose(found["log_loss"], -math.log(1e-15) / 3)
    assert balanced_accuracy(np.array([3, 0]), np.array([0, 0])) == 0.5


def test_distributions_are_said_in_words():
    told = {
        Integers(2, 10): "whole numbers from 2 to 10",
        LogUniform(0.01, 100): "numbers from 0.01 to 100, evenly in the logarithm",
        Uniform(0, 1): "numbers from 0 to 1",
        Choice(("balanced", None)): "one of balanced, none",
        Choice((0.5,)): "always 0.5",
    }
    assert [str(one) for one in told] == list(told.values())
