"""Figures against scipy and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics, model_selection

from psephos._errors import PsephosError
from psephos.estimator.distributions import Choice, Integers, LogUniform, Uniform
from psephos.protocol import (
    better_than_constant,
    one_standard_error,
    paired_difference,
    pareto,
    selection_stability,
    summary,
)
from psephos.protocol.evaluation.scores import (
    ClassAnswers,
    answers_of,
    balanced_accuracy,
    measures,
)


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
    with pytest.raises(PsephosError, match="have no common split"):
        paired_difference(ROWS, "a", "nobody")
    with pytest.raises(PsephosError, match="got 'acuracy'"):
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
    found = measures(ClassAnswers(codes, proba), truth)
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
    area = measures(ClassAnswers(proba.argmax(axis=1), proba), truth)["roc_auc"]
    assert_allclose(area, metrics.roc_auc_score(truth, [0.2, 0.2, 0.2, 0.9, 0.1]))
    tiny = np.array([1e-20, 3e-20, 1e-21, 2e-20, 4e-20])  # small and different is no tie
    proba = np.column_stack([1 - tiny, tiny])
    area = measures(ClassAnswers(proba.argmax(axis=1), proba), truth)["roc_auc"]
    assert_allclose(area, metrics.roc_auc_score(truth, tiny))


class Scored:
    """A model of two classes whose answers are given: decision values, and probabilities if any."""

    classes_ = np.arange(2)

    def __init__(self, decision, proba=None):
        self.decision = decision
        if proba is not None:
            self.predict_proba = lambda X: np.column_stack([1 - proba, proba])

    def decision_function(self, X):
        return self.decision

    def predict(self, X):
        return (self.decision > 0).astype(int)


def test_rows_are_ranked_by_the_probabilities_that_are_recorded():
    rng = np.random.default_rng(0)
    truth, levels = np.arange(80) % 2, rng.integers(6, size=80) / 7
    noisy = levels * (1 + rng.normal(size=80) * 1e-15)  # as where sums are of another order
    for model in (Scored(noisy), Scored(levels, levels[::-1]), Scored(50 * levels, noisy)):
        found = answers_of(model, np.zeros((80, 1)), 2)
        area = metrics.roc_auc_score(truth, found.proba[:, 1])  # whatever it takes for ties
        assert measures(found, truth)["roc_auc"] == pytest.approx(area, abs=1e-12)
    for model in (Scored(noisy), Scored(levels, noisy)):
        found = answers_of(model, np.zeros((80, 1)), 2)
        assert len(np.unique(found.proba[:, 1])) == 6


def test_metrics_where_a_class_is_absent():
    truth = np.array([0, 0, 2])
    proba = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    found = measures(ClassAnswers(np.array([0, 1, 2]), proba), truth)
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


# ------------------------------------------------------------------- better than a constant answer
def about(*counts, **more):
    return {"classes": list(range(len(counts))), "class_counts": list(counts), **more}


def nearest_mean(X, y, new):
    means = np.stack([X[y == k].mean(axis=0) for k in (0, 1)])
    return ((new[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


def nearest_row(X, y, new):
    return y[((new[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]


def best_column(X, y, new):
    gap = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    j = np.abs(gap).argmax()
    return (np.sign(gap[j]) * (new[:, j] - X[:, j].mean()) > 0).astype(int)


def compared(X, y, seed):
    """Rows of three models in five folds."""
    folds = model_selection.StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
    return [
        row(model.__name__, f, metrics.balanced_accuracy_score(y[b], model(X[a], y[a], X[b])), 5,
            n_train=len(a), n_test=len(b))
        for f, (a, b) in enumerate(folds)
        for model in (nearest_mean, nearest_row, best_column)
    ]  # fmt: skip


def test_on_labels_by_lot_a_model_is_called_better_as_seldom_as_is_said():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(150):
        X, y = rng.normal(size=(40, 12)), rng.permutation(np.repeat([0, 1], [16, 24]))
        better = better_than_constant(compared(X, y, seed), about(16, 24), chance=0.999)
        found.append(min(better.values(), default=1))
    for chance in (0.05, 0.2):
        assert np.mean(np.array(found) <= chance) <= chance
    X[:, 3] += 2 * y
    assert "best_column" in better_than_constant(compared(X, y, 0), about(16, 24))


def test_the_variance_is_that_of_labels_dealt_out_by_lot():
    rng = np.random.default_rng(1)
    for counts, shares in (((8, 12), (10, 10)), ((5, 6, 9), (7, 7, 6))):
        truth, said = (np.repeat(np.arange(len(c)), c) for c in (counts, shares))
        k, n = len(counts), sum(counts)
        dealt = rng.permuted(np.tile(truth, (4000, 1)), axis=1)
        right = [((dealt == c) & (said == c)).sum(axis=1) / counts[c] for c in range(k)]
        drawn = np.mean(right, axis=0)
        gap = 3 * np.std(drawn) * math.sqrt(1 + 1 / 4)  # of one part, n_test / n_train = 1 / 4
        rows = [row("a", 0, 1 / k + gap, 3, n_train=4 * n, n_test=n)]
        p = better_than_constant(rows, about(*counts), chance=0.99)["a"]
        assert stats.norm.isf(p) == pytest.approx(3, rel=0.06)
        two = [*rows, row("b", 0, 0.9, 4, n_train=4 * n, n_test=n)]
        assert better_than_constant(two, about(*counts), chance=0.99)["a"] == pytest.approx(2 * p)


def test_what_reads_nothing_or_is_of_few_groups_is_not_called_better():
    rows = [row("a", f, 0.8, 3) for f in range(5)] + [row("b", f, 0.8, 0) for f in range(5)]
    alone = better_than_constant(rows, about(50, 50))
    assert list(alone) == ["a"]
    assert better_than_constant(rows, about(50, 50), chance=alone["a"] / 2) == {}
    assert better_than_constant(rows, about(50, 50, n_groups=6)) == {}
    assert better_than_constant(rows, about(50, 50, independent_rows=12.5)) == {}
    failed = [one | {"status": "failed", "balanced_accuracy": None} for one in rows]
    assert better_than_constant(failed, about(50, 50)) == {}
    with pytest.raises(PsephosError, match="chance"):
        better_than_constant(rows, about(50, 50), chance=5)


def test_of_other_measures_the_spread_over_folds_counts():
    def told(*scores):
        measured = [row("a", f, None, 3) | {"average_precision": v} for f, v in enumerate(scores)]
        return [{k: v for k, v in one.items() if k != "balanced_accuracy"} for one in measured]

    known = about(30, 20, 10, multilabel=True, constant=0.5)
    t, p = stats.ttest_1samp(A, 0.5, alternative="greater")
    error = math.sqrt((1 / 5 + 1 / 4) * 5)
    found = better_than_constant(told(*A), known, chance=0.9)["a"]
    assert found == pytest.approx(stats.t.sf(t / error, 4))
    assert found > p
    assert better_than_constant(told(0.4, 0.6, 0.5, 0.5, 0.5), known) == {}
