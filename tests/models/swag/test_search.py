"""The search against a literal transcription of Algorithms 1 to 3, and what it must survive."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from psephos import PsephosError, SparseWrapperClassifier
from psephos.models.swag.evaluation import Evaluation, Workers
from psephos.models.swag.fitting import embedded_count, events_per_variable, search
from psephos.models.swag.library import make_step, post_process, quantile
from psephos.models.swag.measures import Errors
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.swag.settings import SearchSettings
from psephos.models.training import make_splits


# ------------------------------------------------- Algorithms 1 to 3, word for word
def cross_validated(estimator, X, y, columns, splits):
    """Training error of one learner: the mean over folds of its mean loss."""
    losses = []
    for train, test in splits:
        learner = clone(estimator).fit(X[train][:, columns], y[train])
        said = learner.predict(X[test][:, columns])
        losses.append(np.mean((said - y[test]) ** 2 if y.dtype == float else said != y[test]))
    return round(float(np.mean(losses)), 10)


def screened(errors, alpha):
    """Learners whose error is smaller than or equal to the alpha-quantile."""
    q = np.quantile(list(errors.values()), alpha)
    return [learner for learner, error in errors.items() if error <= q + 1e-12]


def extended(S_star, M, m, rng):
    """Lines 1 to 6 of Algorithm 2."""
    p = len(M[0]) + 1
    if comb(len(S_star), p) <= m:
        return list(combinations(S_star, p))
    reachable = {tuple(sorted({*s, j})) for s in M for j in S_star if j not in s}
    found = set()
    while len(found) < min(m, len(reachable)):  # the paper's loop never ends beyond
        s = M[int(rng.random() * len(M))]
        others = [j for j in S_star if j not in s]
        found.add(tuple(sorted([*s, others[int(rng.random() * len(others))]])))
    return sorted(found)


def literal_swag(estimator, X, y, splits, p_max, m, alpha, seed):
    """Algorithm 3: the strong learners and the errors of all learners, for each dimension."""
    candidates = [(j,) for j in range(X.shape[1])]
    S_star, all_errors, strong = [], [], []
    for p in range(1, p_max + 1):
        if p > 1:
            rng = np.random.default_rng([seed, p])
            candidates = extended(S_star, strong[-1], m, rng)
        e = {s: cross_validated(estimator, X, y, list(s), splits) for s in candidates}
        all_errors.append(e)
        strong.append(screened(e, alpha[min(p, len(alpha)) - 1]))
        if p == 1:
            S_star = sorted({j for s in strong[0] for j in s})
    return strong, all_errors


def literal_post_processing(strong, all_errors, delta):
    medians = [np.median(list(e.values())) for e in all_errors]
    best = int(np.argmin(medians))
    q = np.quantile(list(all_errors[best].values()), delta)
    return [
        s for M, e in zip(strong, all_errors, strict=True) for s in M if e[s] <= q + 1e-12
    ]  # ------------------------------------------------------------- end of the transcription


def table(n_classes, seed, n=48, p=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    signal = X[:, 0] + 0.8 * X[:, 1] - 0.6 * X[:, 2] + 0.5 * rng.normal(size=n)
    if n_classes == 0:
        return X, signal
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, signal)


def setting(estimator, n_classes, seed=0, scoring=None, **options):
    X, y = table(n_classes, seed, **options)
    folds = Folds.of(make_splits(y, n_classes, n_folds=4, n_repeats=2, seed=seed))
    evaluation = Evaluation.of(
        GenericLearner(estimator), X, y, n_classes, folds=folds, scoring=scoring
    )
    trains = np.split(folds.train, folds.train_ptr[1:-1])
    splits = list(zip(trains, np.split(folds.test, folds.test_ptr[1:-1]), strict=True))
    return X, y, splits, evaluation


def recorded(evaluate):
    """An evaluation that keeps the candidates it is asked for."""
    visited = []

    def judge(subsets):
        visited.append(subsets)
        return evaluate(subsets)

    return visited, judge


@pytest.mark.parametrize(
    ("estimator", "n_classes", "m", "alpha"),
    [
        (LinearDiscriminantAnalysis(), 2, 7, (0.6, 0.3)),
        (GaussianNB(), 3, 15, (0.7, 0.2)),
        (LinearRegression(), 0, 8, (0.5,)),
    ],
)
def test_the_search_is_the_paper_s(estimator, n_classes, m, alpha):
    X, y, splits, evaluation = setting(estimator, n_classes, seed=3)
    strong, errors = literal_swag(estimator, X, y, splits, 4, m, alpha, seed=11)
    settings = SearchSettings(p_max=4, m=m, alpha=alpha, ties="all")
    visited, evaluate = recorded(Workers(evaluation))
    found = search(evaluate, X.shape[1], settings, seed=11)
    assert len(found.steps) == len(strong) == 4
    assert found.pool.tolist() == sorted({j for s in strong[0] for j in s})
    for step, kept, tried, seen in zip(found.steps, strong, errors, visited, strict=True):
        assert [tuple(s) for s in seen.tolist()] == list(tried)  # visits
        assert_allclose(step.errors, list(tried.values()), atol=1e-9)
        assert {tuple(s) for s in step.subsets.tolist()} == set(kept)  # keeps
        order = np.lexsort([step.tie, step.error])
        assert_array_equal(order, np.arange(len(order)))
    assert any(comb(len(found.pool), d) > m for d in (2, 3, 4))  # something was drawn
    for delta in (0.01, 0.1, 0.5):
        chosen = zip(found.steps, post_process(found.steps, delta), strict=True)
        final = {tuple(s.tolist()) for step, n in chosen for s in step.subsets[:n]}
        assert final == set(literal_post_processing(strong, errors, delta))  # returns


def test_everything_kept_and_tried_is_exhaustive_search():
    X, y, splits, evaluation = setting(LinearDiscriminantAnalysis(), 2, p=6)
    settings = SearchSettings(p_max=6, m=np.inf, alpha=1.0)
    visited, evaluate = recorded(Workers(evaluation))
    found = search(evaluate, 6, settings)
    every = [s for d in range(1, 7) for s in combinations(range(6), d)]
    assert [tuple(s) for seen in visited for s in seen.tolist()] == every
    errors = {
        s: cross_validated(LinearDiscriminantAnalysis(), X, y, list(s), splits) for s in every
    }
    best = min(errors.values())
    least = [step.subsets[0] for step in found.steps if abs(step.error[0] - best) < 1e-9]
    assert errors[tuple(least[0].tolist())] == best
    assert found.stopped == "p_max is 6"


# ------------------------------------------------- a function of the columns as evaluation
def judged(error, tie=None, spread=0.0):
    """An evaluation that knows the error of a subset."""

    def evaluate(subsets):
        errors = np.array([error(tuple(s)) for s in subsets.tolist()], dtype=float)
        ties = np.zeros(len(subsets)) if tie is None else [tie(tuple(s)) for s in subsets.tolist()]
        return Errors(errors, np.full(len(subsets), spread), np.array(ties, dtype=float))

    return evaluate


def parity(s):
    return 0.1 if {3, 7} <= set(s) else 0.5 - 0.001 * (s[0] == 1)


def test_ties():
    tie = {0: 3.0, 1: 1.0, 2: 2.0, 3: 0.0, 4: 9.0, 5: 9.0, 6: 9.0, 7: 9.0, 8: 9.0, 9: 9.0}
    candidates = np.arange(10)[:, None]
    errors = Errors(
        np.r_[0.2, 0.2, 0.2, 0.1, [0.3] * 6], np.zeros(10), np.array(list(tie.values()))
    )
    kept = {}
    for ties in ("log_loss", "all", "first"):
        step = make_step(candidates, errors, SearchSettings(alpha=0.2, ties=ties))
        assert step.quantile == 0.2
        kept[ties] = step.subsets[:, 0].tolist()
    assert kept == {"log_loss": [3, 1], "all": [3, 1, 2, 0], "first": [3, 0]}


@pytest.mark.parametrize("ties", ["log_loss", "all", "first"])
@pytest.mark.parametrize(("n", "alpha"), [(101, 0.29), (20, 0.05), (21, 0.05), (7, 0.001), (3, 1)])
def test_without_ties_all_rules_keep_the_paper_s_share(ties, n, alpha):
    errors = np.random.default_rng(0).permutation(n) / n
    step = make_step(
        np.arange(n)[:, None],
        Errors(errors, errors, errors),
        SearchSettings(alpha=alpha, ties=ties),
    )
    assert step.n_strong == int(round((n - 1) * alpha, 9)) + 1
    assert_allclose(quantile(errors, alpha), np.quantile(errors, alpha), rtol=1e-12)
    assert step.median == np.median(errors)


def test_two_alphas():
    settings = SearchSettings(p_max=3, m=np.inf, alpha=(0.5, 0.1))
    found = search(judged(lambda s: sum(s) / 100 + len(s)), 11, settings)
    assert [step.n_strong for step in found.steps] == [6, 2, 2]
    assert [settings.share(d) for d in (1, 2, 9)] == [0.5, 0.1, 0.1]


def test_the_curve_ends_the_search():
    levels = {1: 0.4, 2: 0.3, 3: 0.25, 4: 0.248, 5: 0.1}
    settings = SearchSettings(p_max="curve", m=30, alpha=0.5)
    found = search(judged(lambda s: levels[len(s)], spread=0.03), 12, settings, n_parts=4)
    assert len(found.steps) == 4  # .002 is less than .03 / 2
    assert found.stopped == "the error curve is flat at 4 columns"
    found = search(judged(lambda s: levels[len(s)], spread=0.3), 12, settings, n_parts=4)
    assert len(found.steps) == 2  # .1 is less than .3 / 2
    limited = SearchSettings(p_max="curve", m=30, alpha=0.5, p_limit=3)
    assert len(search(judged(lambda s: -len(s)), 12, limited).steps) == 3


@pytest.mark.parametrize(
    ("p", "options", "sizes"),
    [
        (1, {}, [1]),
        (6, {"alpha": 0.01}, [6]),  # a pool of one column
        (6, {"m": 1}, [6, 1, 1, 1]),
        (3, {"p_max": 9, "m": np.inf, "alpha": 1.0}, [3, 3, 1]),  # fewer columns than p_max
    ],
)
def test_small_searches_end(p, options, sizes):
    settings = SearchSettings(**{"p_max": 4, "alpha": 0.8, "m": 10, **options})
    found = search(judged(lambda s: 0.5), p, settings)
    assert [step.n_candidates for step in found.steps] == sizes
    assert post_process(found.steps) == [step.n_strong for step in found.steps]
    if len(sizes) < min(p, settings.last):
        assert found.stopped == f"the pool has {len(found.pool)} columns"


def test_of_equal_medians_the_fewest_columns_give_the_threshold():
    every, narrow = np.array([0.1, 0.5, 0.9]), np.array([0.3, 0.5, 0.7])
    steps = [
        make_step(np.arange(3 * d).reshape(3, d), Errors(e, e, e), SearchSettings(alpha=1.0))
        for d, e in ((1, every), (2, narrow))
    ]
    assert post_process(steps, 0.5) == [2, 2]
    assert post_process(steps, 0.01) == [1, 0]  # not .3: the threshold is that of one column
    assert post_process(steps, 0.01, dimension=9) == [0, 1]


def test_m_by_rule_of_thumb_and_no_column():
    settings = SearchSettings(p_max=3, alpha=0.5)
    found = search(judged(lambda s: sum(s) / 100), 13, settings)
    assert [step.n_candidates for step in found.steps] == [13, 21, 21]
    with pytest.raises(PsephosError, match="at least one column"):
        search(judged(parity), 0, settings)


def test_constant_columns_and_more_columns_than_wanted():
    X, y = table(2, 0)
    X[:, [0, 5]] = 1.0
    folds = Folds.of(make_splits(y, 2, n_folds=3))
    learner = GenericLearner(GaussianNB())
    found = search(
        Workers(Evaluation.of(learner, X, y, 2, folds=folds)),
        9,
        SearchSettings(p_max=3, alpha=0.9, m=30),
    )
    assert all(np.isfinite(step.errors).all() for step in found.steps)


def test_scoring_may_differ_from_the_learner_s_loss():
    *_, evaluation = setting(GaussianNB(), 2, scoring=[[0.0, 1.0], [9.0, 0.0]])
    *_, plain = setting(GaussianNB(), 2)
    settings = SearchSettings(p_max=2, alpha=0.4, m=20)
    costly = search(Workers(evaluation), 9, settings).steps[1]
    assert costly.error[0] != search(Workers(plain), 9, settings).steps[1].error[0]
    named = search(Workers(setting(GaussianNB(), 2, scoring="f1")[-1]), 9, settings)
    assert named.steps[0].error[0] < 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"p_max": 0}, "'p_max' must be a whole number of at least 1 or one of 'epv'"),
        ({"p_max": "scree"}, "'p_max' must be .*; got 'scree'"),
        ({"m": 0}, "'m' must be a whole number of at least 1 or inf or None"),
        ({"m": 2.5}, "'m' must be .*; got 2.5"),
        ({"m": True}, "'m' must be .*; got True"),
        ({"alpha": 0}, "'alpha' must be a number above 0 and at most 1"),
        ({"alpha": (0.1, 1.2)}, "'alpha' must be .*; got "),
        ({"alpha": ()}, "'alpha' must be .*; got "),
        ({"alpha": "a"}, "'alpha' must be .*; got "),
        ({"ties": "none"}, "'ties' must be one of 'log_loss', 'all', 'first'"),
        ({"sampling": "all"}, "'sampling'"),
    ],
)
def test_settings_are_checked(options, words):
    X, y = table(2, 0)
    with pytest.raises(PsephosError, match=words):
        SparseWrapperClassifier("lda", **options).fit(X, y)


def test_rules_of_thumb():
    assert events_per_variable([28, 41]) == events_per_variable([41, 28]) == 5
    assert events_per_variable([28, 41], per=4.67) == 5
    assert events_per_variable([3, 41]) == 1
    for n_classes in (0, 2, 3):
        X, y = table(n_classes, 0, n=90)
        folds = Folds.of(make_splits(y, n_classes, n_folds=3))
        assert 2 <= embedded_count(X, y, n_classes, folds, np.ones(90)) <= 9
    noise = np.random.default_rng(0).normal(size=(60, 5))
    y = np.arange(60) % 2
    X = np.column_stack([y + 0.01 * noise[:, 0], noise])
    assert embedded_count(X, y, 2, Folds.of(make_splits(y, 2, n_folds=3))) == 1
