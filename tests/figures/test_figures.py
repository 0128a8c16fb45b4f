"""Figures against scikit-learn, scipy and twins written from the formulas."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    roc_auc_score,
)

from psephos import figures
from psephos._errors import PsephosError
from psephos.figures.calibration import _errors
from psephos.figures.confusion import of_counts


@pytest.fixture(name="cases")
def _cases():
    rng = np.random.default_rng(3)
    y = rng.random(90) < 0.4
    p = stats.logistic.cdf(1.5 * y - 0.7 + rng.normal(size=90))
    return y, np.round(p, 2), rng.integers(0, 30, 90)


def test_wilson_is_scipys():
    for hits, n in ((0, 7), (3, 7), (7, 7), (25, 38)):
        one = figures.wilson(hits, n, 0.9)
        ours = stats.binomtest(hits, n).proportion_ci(0.9, "wilson")
        np.testing.assert_allclose([one.low, one.high], [ours.low, ours.high], atol=1e-12)
        assert one.hits == hits
        assert one.n == n


def _delong_twin(y, s):
    """From the definition, pair by pair."""
    psi = np.array([[(a > b) + (a == b) / 2 for b in s[~y]] for a in s[y]])
    theta = psi.mean()
    variance = psi.mean(1).var(ddof=1) / y.sum() + psi.mean(0).var(ddof=1) / (~y).sum()
    return theta, variance, psi


def test_the_area_is_scikit_learns_and_its_interval_the_definitions(cases):
    y, p, _ = cases
    one = figures.area(y, p)
    theta, variance, _ = _delong_twin(y, p)
    assert one.value == pytest.approx(roc_auc_score(y, p), abs=1e-12) == pytest.approx(theta)
    middle, half = np.log(theta / (1 - theta)), 1.959963984540054 * np.sqrt(variance)
    ends = 1 / (1 + np.exp(-(middle + np.array([-1, 1]) * half / (theta * (1 - theta)))))
    np.testing.assert_allclose([one.low, one.high], ends, rtol=1e-12)


def test_groups_of_one_case_are_no_groups_and_copies_of_cases_are_no_evidence(cases):
    y, p, _ = cases
    own = np.arange(len(y))
    assert figures.area(y, p, own) == figures.area(y, p)
    assert figures.share(y, own) == figures.share(y)
    twice = np.repeat(own, 2)
    for of in (figures.area, figures.brier):
        one, two = of(y, p), of(np.repeat(y, 2), np.repeat(p, 2), twice)
        np.testing.assert_allclose(
            [two.value, two.low, two.high], [one.value, one.low, one.high], rtol=0.02
        )
    one = figures.share(y)
    two = figures.share(np.repeat(y, 2), twice)
    assert two.low == pytest.approx(one.low, abs=0.003)
    line = figures.calibration_line(np.repeat(y, 2), np.repeat(p, 2), twice)
    alone = figures.calibration_line(y, p)
    assert line.slope.value == pytest.approx(alone.slope.value)
    assert (line.slope.high - line.slope.low) > 0.7 * (alone.slope.high - alone.slope.low)


def test_obuchowskis_variance_by_its_sums(cases):
    y, p, groups = cases
    theta, _, psi = _delong_twin(y, p)
    ten = {g: (psi.mean(1) - theta)[groups[y] == g].sum() for g in set(groups)}
    one = {g: (psi.mean(0) - theta)[groups[~y] == g].sum() for g in set(groups)}
    m, n, k = y.sum(), (~y).sum(), len(set(groups))
    a, b = len(set(groups[y])), len(set(groups[~y]))
    variance = (
        a / (a - 1) * sum(v**2 for v in ten.values()) / m**2
        + b / (b - 1) * sum(v**2 for v in one.values()) / n**2
        + 2 * k / (k - 1) * sum(ten[g] * one[g] for g in ten) / (m * n)
    )
    found = figures.area(y, p, groups)
    half = (math.log(found.high / (1 - found.high)) - math.log(found.low / (1 - found.low))) / 2
    t = stats.t.ppf(0.975, min(a, b) - 1)
    assert (half * theta * (1 - theta) / t) ** 2 == pytest.approx(variance)


def test_a_score_that_separates_has_an_interval_below_one():
    one = figures.area([0] * 8 + [1] * 8, np.arange(16))
    assert one.value == one.high == 1.0
    assert 0.7 < one.low < 0.9
    assert "Newcombe" in one.method
    other = figures.area([1] * 8 + [0] * 8, np.arange(16))
    assert other.low == 0.0
    assert other.high == pytest.approx(1 - one.low)


def test_intervals_by_the_number_of_cases(cases):
    y, p, _ = cases
    m, n = int(y.sum()), int((~y.astype(bool)).sum())
    area = figures.area(y, p)
    low, high = of_counts("roc_auc", area.value, [n, m])
    assert (low, high) == pytest.approx((area.low, area.high), abs=0.03)  # DeLong's
    apart = figures.area([0] * 8 + [1] * 8, np.arange(16))
    assert of_counts("roc_auc", 1.0, [8, 8]) == pytest.approx((apart.low, 1.0))
    share = figures.wilson(30, 40)
    assert of_counts("accuracy", 0.75, [10, 30]) == pytest.approx((share.low, share.high))
    assert of_counts("balanced_accuracy", 0.75, [20, 20]) == pytest.approx((share.low, share.high))
    uneven = of_counts("balanced_accuracy", 0.75, [5, 200])
    assert uneven[1] - uneven[0] > 1.3 * (share.high - share.low)
    for measure, sizes in (("log_loss", [9, 9]), ("roc_auc", [9, 9, 9]), ("accuracy", [9, 0])):
        assert np.isnan(of_counts(measure, 0.5, sizes)).all()


def test_confusion_and_balanced_accuracy(cases):
    y, p, _ = cases
    called = p >= 0.5
    found = figures.confusion(y, called)
    (tn, fp), (fn, tp) = confusion_matrix(y, called)
    assert (found.found, found.missed, found.alarms, found.cleared) == (tp, fn, fp, tn)
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, called))
    assert found.ppv.value == pytest.approx(tp / (tp + fp))
    ppv, npv = figures.predictive_values(found.sensitivity.value, found.specificity.value, y.mean())
    assert (ppv, npv) == pytest.approx((found.ppv.value, found.npv.value))
    assert np.isnan(figures.confusion(y, np.zeros_like(y)).ppv.value)


def test_the_calibration_line_is_the_best_of_its_likelihood(cases):
    y, p, _ = cases
    odds = np.log(p / (1 - p))

    def loss(b):
        score = b[0] + b[1] * odds
        return (np.logaddexp(0, score) - y * score).sum()

    best = optimize.minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9})
    line = figures.calibration_line(y, p)
    np.testing.assert_allclose([line.intercept.value, line.slope.value], best.x, atol=1e-5)
    chance = 1 / (1 + np.exp(-(best.x[0] + best.x[1] * odds)))
    design = np.column_stack([np.ones(len(y)), odds])
    spread = np.linalg.inv((design.T * (chance * (1 - chance))) @ design)
    half = (line.slope.high - line.slope.low) / 2
    assert half == pytest.approx(1.959963984540054 * np.sqrt(spread[1, 1]), rel=1e-4)
    root = optimize.brentq(lambda a: (y - 1 / (1 + np.exp(-(a + odds)))).sum(), -5, 5)
    assert line.large.value == pytest.approx(root, abs=1e-8)
    told = 1 / (1 + np.exp(-(root + odds)))
    n, bread = len(y), (told * (1 - told)).sum()
    variance = n / (n - 1) * ((y - told) ** 2).sum() / bread**2
    half = (line.large.high - line.large.low) / 2
    assert half == pytest.approx(1.959963984540054 * np.sqrt(variance), rel=1e-6)


def test_intervals_of_groups_are_those_of_sums_over_groups(cases):
    y, p, groups = cases
    z, m, n = 1.959963984540054, len(set(groups)), len(y)
    t = stats.t.ppf(0.975, m - 1)

    def sandwich(design, bread, rest):
        sums = np.array([(design * rest[:, None])[groups == g].sum(axis=0) for g in set(groups)])
        inverse = np.linalg.inv(bread)
        return m / (m - 1) * inverse @ sums.T @ sums @ inverse

    def half(one):
        return (one.high - one.low) / 2

    odds, one = np.log(p / (1 - p)), np.ones(n)
    line = figures.calibration_line(y, p, groups)
    for design, score, found in (
        (one[:, None], line.large.value + odds, [line.large]),
        (
            np.column_stack([one, odds]),
            line.intercept.value + line.slope.value * odds,
            [line.intercept, line.slope],
        ),
    ):
        chance = 1 / (1 + np.exp(-score))
        spread = sandwich(design, (design.T * (chance * (1 - chance))) @ design, y - chance)
        expected = t * np.sqrt(np.diag(spread))
        np.testing.assert_allclose([half(each) for each in found], expected, rtol=1e-9)
    loss = (p - y) ** 2
    variance = sandwich(one[:, None], np.array([[float(n)]]), loss - loss.mean())[0, 0]
    assert half(figures.brier(y, p, groups)) == pytest.approx(t * math.sqrt(variance))
    share = figures.share(y, groups)
    variance = sandwich(one[:, None], np.array([[float(n)]]), y - y.mean())[0, 0]
    alone = min(n, y.mean() * (1 - y.mean()) / variance * (z / t) ** 2)
    middle = (y.mean() + z**2 / (2 * alone)) / (1 + z**2 / alone)
    assert (share.low + share.high) / 2 == pytest.approx(middle)


def test_a_line_that_does_not_exist_says_why():
    line = figures.calibration_line([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert np.isnan(line.slope.value)
    assert "separate" in line.slope.method
    line = figures.calibration_line([0, 1, 0, 1], [0.5] * 4)
    assert "alike" in line.slope.method
    assert line.large.value == pytest.approx(0)
    assert "one class" in figures.calibration_line([1, 1], [0.3, 0.4]).slope.method
    assert figures.calibration_line([0, 1, 1, 0], [0, 1, 0.4, 0.6]).n_clipped == 2


def test_brier_and_log_loss_are_scikit_learns(cases):
    y, p, _ = cases
    assert figures.brier(y, p).value == pytest.approx(brier_score_loss(y, p))
    assert figures.log_loss(y, p).value == pytest.approx(log_loss(y, p))
    rng = np.random.default_rng(0)
    q, codes = rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40)
    assert figures.log_loss(codes, q).value == pytest.approx(log_loss(codes, q))
    assert figures.brier(codes, q).value == pytest.approx(
        ((q - np.eye(3)[codes]) ** 2).sum(1).mean()
    )
    ovo = roc_auc_score(codes, q, multi_class="ovo")
    assert figures.hand_till(codes, q) == pytest.approx(ovo)
    each = [roc_auc_score(codes == k, q[:, k]) for k in range(3)]
    assert [one.value for one in figures.areas(codes, q)] == pytest.approx(each)


@pytest.mark.parametrize("loss", [figures.log_loss, figures.brier])
def test_the_interval_of_a_mean_loss_ends_at_zero(loss):
    found = loss(np.array([True] * 5 + [False] * 5), np.array([0.999] * 4 + [0.2] + [0.001] * 5))
    assert found.low == 0.0 < found.value < found.high


def test_bins_hold_every_case_once_and_divide_no_ties(cases):
    y, p, _ = cases
    bins = figures.calibration_table(y, p, 5)
    assert sum(one.seen.n for one in bins) == len(y)
    assert sum(one.seen.hits for one in bins) == y.sum()
    assert all(a.high < b.low for a, b in itertools.pairwise(bins))
    assert all(abs(one.seen.n - 18) <= 4 for one in bins)
    assert len(figures.calibration_table(y, np.full(len(y), 0.4))) == 1


def test_net_benefit_by_counts(cases):
    y, p, _ = cases
    for one in figures.net_benefit(y, p, [0.0, 0.2, 0.5]):
        t, called = one.threshold, p >= one.threshold
        tp, fp = (called & y).sum(), (called & ~y).sum()
        assert one.model.value == pytest.approx((tp - fp * t / (1 - t)) / len(y))
        assert one.everyone.value == pytest.approx((y.sum() - (~y).sum() * t / (1 - t)) / len(y))
        assert one.model.low < one.model.value < one.model.high


@pytest.mark.parametrize(
    "truth",
    [
        [1, 2],
        ["0", "1"],
        ["well", "ill"],
        [0.0, np.nan],
        [True, None],
        [0, "1"],
        [[0], [1]],
        [-1, 1],
    ],
)
def test_labels_are_never_taken_for_truth_values(truth):
    p = [0.2, 0.7]
    calls = (
        lambda y: figures.area(y, p),
        lambda y: figures.brier(y, p),
        lambda y: figures.log_loss(y, p),
        lambda y: figures.calibration_line(y, p),
        lambda y: figures.calibration_table(y, p),
        lambda y: figures.net_benefit(y, p, [0.5]),
        lambda y: figures.confusion(y, [True, False]),
        lambda y: figures.confusion([True, False], y),
        lambda y: figures.share(y),
    )
    for call in calls:
        call([False, True])
        for kind in (lambda y: y, lambda y: np.array(y, dtype=object)):
            with pytest.raises(PsephosError, match=r"True or False|one value per case"):
                call(kind(truth))


@pytest.mark.parametrize("codes", [[1, 2, 3], [0, -1, 1], [0.5, 1, 2], ["0", "1", "2"], [0, 1]])
def test_classes_that_are_no_columns_of_probabilities_are_refused(codes):
    p = np.full((3, 3), 1 / 3)
    for of in (figures.areas, figures.hand_till, figures.brier, figures.log_loss):
        of([0, 1, 2], p)
        with pytest.raises(PsephosError, match=r"its column of p|cases, and p has shape"):
            of(codes, p)
        with pytest.raises(PsephosError, match=r"missing"):
            of([0, 1, 2], np.full((3, 3), np.nan))
    with pytest.raises(PsephosError, match="sum to 1"):
        figures.brier([0, 1, 2], p * 0.9)


def test_groups_are_what_they_are_and_every_case_has_one():
    y, p = [0, 1, 0, 1, 1, 0], [0.1, 0.8, 0.6, 0.4, 0.7, 0.2]
    one = figures.area(y, p, ["a", "a", "b", "b", "c", "c"])
    assert figures.area(y, p, np.array([1, 1, "1", "1", "x", "x"], object)) == one
    assert figures.area(y, p, [1, 1.0, 2, 2, 3, 3]) == one
    for gap in (None, np.nan):
        with pytest.raises(PsephosError, match="groups is missing in 1 of 6"):
            figures.area(y, p, np.array(["a", "a", gap, "b", "c", "c"], object))
    for groups in ([1] * 6, ["a"] * 6):
        assert "too few groups" in figures.area(y, p, groups).method
        assert math.isnan(figures.brier(y, p, groups).low)
        assert figures.calibration_table(y, p, 2, groups)[0].seen.method


def test_what_is_no_probability_or_no_threshold_is_refused():
    for call in (
        lambda: figures.brier([0, 1], [0.2, 1.2]),
        lambda: figures.brier([0, 1], [0.2]),
        lambda: figures.net_benefit([0, 1], [0.2, 0.3], [1.0]),
        lambda: figures.net_benefit([0, 1], [0.2, np.nan], [0.5]),
        lambda: figures.mean([0.2, np.inf]),
        lambda: figures.wilson(3, 2),
        lambda: figures.wilson(1, 2, level=95),
        lambda: figures.area([0, 1], [np.nan, 1]),
        lambda: figures.predictive_values(0.5, 0.5, 2),
    ):
        with pytest.raises(PsephosError):
            call()


def test_who_is_called_does_not_depend_on_rounding():
    sums = np.array([0.1 + 0.2, 0.3, 0.3 - 4e-17, 0.299999, 1.0, 0.0])
    assert figures.called(sums, 0.3).tolist() == [True, True, True, False, True, False]
    np.testing.assert_array_equal(figures.called(sums, 0.1 + 0.2), figures.called(sums, 0.3))
    units = figures.in_millionths(sums)
    assert units.tolist() == [300_000, 300_000, 300_000, 299_999, 1_000_000, 0]
    assert figures.called([0, 1], 0.5).tolist() == [False, True]
    truth = np.array([1, 1, 0, 1, 0, 0], dtype=bool)
    worth = figures.net_benefit(truth, sums, [0.1 + 0.2])[0].model.value
    assert worth == figures.net_benefit(truth, sums, [0.3])[0].model.value
    with pytest.raises(PsephosError, match=r"threshold must be .*; got 1\.5"):
        figures.called(sums, 1.5)


def _alike_groups(cases, n_groups):
    """Return groups that happen to be alike: sums of what is wrong next to none in each."""
    y, p, _ = cases
    order = np.lexsort((p, y))
    groups = np.empty(len(y), dtype=int)
    snake = np.concatenate([np.arange(n_groups), np.arange(n_groups)[::-1]])
    groups[order] = np.resize(snake, len(y))
    return groups


@pytest.mark.parametrize("n_groups", [2, 3, 5, 9])
def test_few_groups_that_are_alike_are_no_evidence_beyond_their_cases(cases, n_groups):
    y, p, _ = cases
    groups = _alike_groups(cases, n_groups)

    def estimates(own):
        line, table = figures.calibration_line(y, p, own), figures.confusion(y, p >= 0.5, own)
        return {
            "large": line.large, "slope": line.slope, "intercept": line.intercept,
            "Brier": figures.brier(y, p, own), "log-loss": figures.log_loss(y, p, own),
            "area": figures.area(y, p, own), "accuracy": table.accuracy,
            "worth": figures.net_benefit(y, p, [0.3], own)[0].model,
        }  # fmt: skip

    alone, grouped = estimates(None), estimates(groups)
    for name, one in grouped.items():
        width, least = one.high - one.low, alone[name].high - alone[name].low
        assert width >= least - 1e-12, name
        assert one.value == alone[name].value
        assert f"of {n_groups} groups" in one.method
        assert one.method.endswith("so few groups make it uncertain")
    assert any("of cases: wider" in one.method for one in grouped.values())


def test_from_ten_groups_on_nothing_is_said_of_few(cases):
    y, p, _ = cases
    one = figures.brier(y, p, _alike_groups(cases, 10))
    assert one.method == "t, of 10 groups"
    rest = (p - y) ** 2 - one.value
    sums = np.bincount(_alike_groups(cases, 10), weights=rest)
    half = stats.t.ppf(0.975, 9) * math.sqrt(10 / 9 * (sums @ sums)) / len(y)
    assert (one.high - one.low) / 2 == pytest.approx(half)


def test_the_rarer_classes_groups_are_those_that_count():
    rng = np.random.default_rng(0)
    y = np.repeat([True, False], [12, 60])
    s = rng.normal(size=72) + y
    groups = np.concatenate([np.arange(12) % 3, 3 + np.arange(60) % 20])
    one = figures.area(y, s, groups)
    assert "of 23 groups (Obuchowski), 3 with the rarer class; so few" in one.method
    alone = figures.area(y, s)
    assert one.high - one.low >= alone.high - alone.low


def test_parts_of_balanced_accuracy_tell_their_own_groups():
    truth = np.repeat([True, False], [30, 60])
    groups = np.concatenate([np.arange(30) % 12, np.arange(60) % 20])
    rng = np.random.default_rng(1)
    one = figures.confusion(truth, truth ^ (rng.random(90) < 0.3), groups).balanced_accuracy
    assert "of 12 groups" in one.method
    assert "of 20 groups" in one.method


def test_scores_that_differ_by_rounding_tie_in_every_figure():
    truth, up, plain = np.array([0, 1, 0, 1, 1, 0]), 0.1 + 0.2, 0.3
    scores = np.array([up, plain, 0.1, up, up, plain])
    assert figures.area(truth, scores).value == figures.area(truth, scores.round(6)).value
    assert figures.area([0, 1, 0, 1, 1, 0], [up, plain, plain, up, up, plain]).value == 0.5
    both = np.column_stack([1 - scores, scores])
    assert figures.hand_till(truth, both) == figures.hand_till(truth, both.round(6))
    table = figures.calibration_table(truth, scores, n_bins=3)
    assert [one.seen.n for one in table] == [1, 5]


def test_a_tie_about_the_end_of_a_bin_goes_where_its_middle_belongs():
    p = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.9])  # the middle of the tie is exactly half
    truth = [0, 0, 1, 0, 1, 1]
    table = figures.calibration_table(truth, p, n_bins=2)
    assert [one.seen.n for one in table] == [5, 1]
    table = figures.calibration_table(truth, np.arange(6) / 10, n_bins=2)
    assert [one.seen.n for one in table] == [3, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: figures.brier([0, 1], ["ab", "cd"]),
        lambda: figures.log_loss([0, 1], ["ab", "cd"]),
        lambda: figures.mean(["ab", "cd"]),
        lambda: figures.area([0, 1], ["ab", "cd"]),
        lambda: figures.areas([0, 1], [["ab", "c"], ["cd", "d"]]),
        lambda: figures.net_benefit([0, 1], ["ab", "cd"], [0.5]),
        lambda: figures.wilson(np.array([1, 2]), np.array([3, 4])),
        lambda: figures.wilson(1.5, 3),
        lambda: figures.called(["ab"], 0.5),
    ],
)
def test_what_are_no_numbers_is_a_sentence(wrong):
    with pytest.raises(PsephosError, match=r"must be numeric|whole numbers"):
        wrong()


def test_a_variance_that_rounding_leaves_below_0_has_no_interval_and_no_warning():
    assert _errors(np.diag([4.0, 0.0])) == [2.0, 0.0]
    assert np.isnan(_errors(np.diag([-1e-18, 1.0]))[0])
