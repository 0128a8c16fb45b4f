"""Counts and intervals of a threshold, beside scikit-learn, scipy and simulations."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from psephos.figures import confusion, wilson
from psephos.figures.confusion import UNIT, in_millionths
from psephos.report.numbers.measures import counts_at, four

_SPEC = importlib.util.spec_from_file_location("mercaldo", Path(__file__).with_name("mercaldo.py"))
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
predictive = _MODULE.predictive


def fourfold(found, missed, alarms, cleared):
    """A confusion table of these counts."""
    truth = np.repeat([True, True, False, False], [found, missed, alarms, cleared])
    return confusion(truth, np.repeat([True, False, True, False], [found, missed, alarms, cleared]))


answered = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.29, 0.3, 0.5, 0.7, 0.99, 1.0]) | st.floats(0, 1),
              st.booleans()),
    min_size=1, max_size=40,
)  # fmt: skip


@given(answered, st.integers(0, 1000))
def test_counts_are_those_of_the_confusion_matrix(cases, thousandth):
    answers, positive = map(np.array, zip(*cases, strict=True))
    threshold = thousandth / 1000
    c = counts_at(in_millionths(answers), positive, threshold)
    called = answers >= threshold - 1e-9
    (tn, fp), (fn, tp) = confusion_matrix(positive, called, labels=[False, True])
    assert (c.found, c.missed, c.alarms, c.cleared) == (tp, fn, fp, tn)


def test_an_answer_that_equals_a_threshold_up_to_rounding_is_called():
    answers = np.array([0.1 + 0.2, 0.3, 0.29999999999999998, 0.2999, 1 - 0.7])
    assert counts_at(in_millionths(answers), np.ones(5, bool), 0.3).found == 4
    assert in_millionths(np.array([0.0, 1.0, 1 - 1e-16])).tolist() == [0, UNIT, UNIT]


@given(st.integers(0, 400), st.integers(1, 400))
def test_wilson_is_scipys(k, n):
    k = min(k, n)
    found = wilson(k, n)
    told = binomtest(k, n).proportion_ci(method="wilson")
    assert found.value == k / n
    assert (found.low, found.high) == pytest.approx((told.low, told.high), abs=1e-9)


def test_of_no_case_nothing_is_said():
    _, _, ppv, npv = four(counts_at(np.zeros(7, int), np.arange(7) < 3, 0.5))
    assert np.isnan([ppv.value, ppv.low, ppv.high]).all()
    assert npv.value == pytest.approx(4 / 7)
    assert np.isnan(predictive(fourfold(0, 3, 0, 4), 0.2)[0].value)


def test_predictive_values_are_precisions():
    rng = np.random.default_rng(0)
    positive, called = rng.random((2, 90)) < 0.4
    units = np.where(called, UNIT, 0)
    c = counts_at(units, positive, 0.5)
    _, _, ppv, npv = four(c)
    assert ppv.value == pytest.approx(precision_score(positive, called))
    assert npv.value == pytest.approx(precision_score(~positive, ~called))
    own = c.positive / (c.positive + c.negative)
    assert [v.value for v in predictive(c, own)] == pytest.approx([ppv.value, npv.value])
    sensitivity, fallout = recall_score(positive, called), 1 - recall_score(~positive, ~called)
    for share in (0.01, 0.3, 0.9):  # Bayes' rule
        told = sensitivity * share / (sensitivity * share + fallout * (1 - share))
        assert predictive(c, share)[0].value == pytest.approx(told)


def test_the_interval_at_another_share_is_mercaldos():
    c, share, z = fourfold(40, 10, 9, 81), 0.05, norm.ppf(0.975)
    m, n, s, f = 50, 90, 40 / 50, 9 / 90
    logit = np.log(s * share / (f * (1 - share)))
    error = np.sqrt((1 - s) / (s * m) + (1 - f) / (f * n))
    told = 1 / (1 + np.exp(-(logit + np.array([-z, z]) * error)))
    found = predictive(c, share)[0]
    assert (found.low, found.high) == pytest.approx(told)
    npv, mirrored = predictive(c, share)[1], predictive(fourfold(81, 9, 10, 40), 1 - share)[0]
    assert (npv.value, npv.low, npv.high) == pytest.approx(
        (mirrored.value, mirrored.low, mirrored.high)
    )
    found = predictive(fourfold(30, 0, 0, 30), share)[0]
    assert found.value == found.high == 1
    assert 0.1 < found.low < 0.9  # not a point, where no case contradicts


@pytest.mark.parametrize("share", [None, 0.1])
def test_intervals_hold_what_is_true_about_as_often_as_they_say(share):
    rng, inside, n = np.random.default_rng(1), 0, 1500
    prevalence, s, f = 0.4, 0.8, 0.2
    at = prevalence if share is None else share
    truth = s * at / (s * at + f * (1 - at))
    for _ in range(n):
        m = rng.binomial(120, prevalence)
        c = fourfold(k := rng.binomial(m, s), m - k, j := rng.binomial(120 - m, f), 120 - m - j)
        found = wilson(k, k + j) if share is None else predictive(c, share)[0]
        inside += found.low <= truth <= found.high
    assert 0.93 < inside / n < 0.975
