"""Forests and bags that are fitted with groups draw whole groups, and leave whole ones out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    PsephosError,
    RandomForestClassifier,
    RandomForestRegressor,
    load,
    save,
    shrink,
)
from psephos.bounds import pac_bayes_kl_bound, tandem_bound

CLASSES = [RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier]
NUMBERS = [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor]


def subjects(seed=0, n=30, each=5):
    """Return rows that are nearly the same in each subject, whose label is random, and subjects."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), each)
    X = rng.standard_normal((n, 40))[group] + 0.02 * rng.standard_normal((n * each, 40))
    return X, (rng.permutation(n) % 2)[group], group


def made(kind, n=40, **more):
    return kind(n_estimators=n, bootstrap=True, oob_score=True, random_state=0, **more)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", CLASSES)
def test_labels_at_random_for_each_subject_are_not_learnt(kind, weights):
    scores = []
    for seed in range(4):
        X, y, group = subjects(seed)
        weight = np.random.default_rng(seed).random(len(y)) + 0.1 if weights else None
        scores.append(made(kind).fit(X, y, weight, groups=group).oob_score_)
    assert 0.25 < np.mean(scores) < 0.7
    assert made(kind).fit(X, y).oob_score_ > 0.9  # as if rows were independent


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_at_random_for_each_subject_are_not_learnt(kind):
    X, y, group = subjects()
    assert made(kind).fit(X, y * 1.0, groups=group).oob_score_ < 0.2
    assert made(kind).fit(X, y * 1.0).oob_score_ > 0.7


@pytest.mark.parametrize("kind", [*CLASSES, *NUMBERS])
def test_whole_groups_are_drawn_and_left_out(kind, tmp_path):
    X, y, group = subjects()
    names = np.array([f"s{k}" for k in group])
    model = made(kind, 10).fit(X, y, groups=names)
    out = model.left_out(X, y, groups=names)
    assert out.shape == (10, len(y))
    for k in range(30):
        assert (np.ptp(out[:, group == k].astype(int), axis=1) == 0).all()
    assert 0.25 < out.mean() < 0.45
    votes = model.vote_.votes(X)
    for i in (0, 77):
        if out[:, i].any():
            mean = votes[i, out[:, i]].mean(axis=0)
            oob = getattr(model, "oob_prediction_", None)
            if oob is None:
                oob, mean = model.oob_decision_function_[:, 1], (1 + mean) / 2
            assert oob[i] == pytest.approx(mean[0])
    save(model, tmp_path / "m")
    assert_array_equal(load(tmp_path / "m").left_out(X, y, groups=names), out)
    with pytest.raises(PsephosError, match="pass the same groups"):
        model.left_out(X, y)
    with pytest.raises(PsephosError, match="pass the same groups"):
        model.left_out(X, y, groups=np.arange(len(y)))
    assert model.left_out(X[:50], y[:50], groups=names[:50]) is None


@pytest.mark.parametrize("kind", CLASSES)
def test_the_order_of_rows_does_not_matter_and_whole_weights_are_copies(kind):
    X, y, group = subjects()
    order = np.random.default_rng(1).permutation(len(y))
    model = made(kind, 10).fit(X, y, groups=group)
    again = made(kind, 10).fit(X[order], y[order], groups=group[order])
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    weight = 1.0 + (np.arange(len(y)) % 2)
    copied = np.repeat(np.arange(len(y)), weight.astype(int))
    one = made(kind, 10).fit(X, y, weight, groups=group)
    two = made(kind, 10).fit(X[copied], y[copied], groups=group[copied])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-12)


def test_fewer_groups_are_drawn_by_max_samples():
    X, y, group = subjects()
    for size, least in ((0.3, 0.65), (15, 0.85)):
        model = made(RandomForestClassifier, 10, max_samples=size).fit(X, y, groups=group)
        assert model.left_out(X, y, groups=group).mean() > least
        bag = made(BaggingClassifier, 10, max_samples=size).fit(X, y, groups=group)
        assert bag.left_out(X, y, groups=group).mean() > least


@pytest.mark.parametrize("kind", CLASSES)
def test_a_warm_start_goes_on_with_the_same_groups(kind):
    X, y, group = subjects()
    whole = made(kind, 8).fit(X, y, groups=group)
    model = made(kind, 3, warm_start=True).fit(X, y, groups=group)
    model.set_params(n_estimators=8).fit(X, y, groups=group)
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert model.oob_score_ == pytest.approx(whole.oob_score_)
    with pytest.raises(PsephosError, match="first fit"):
        model.set_params(n_estimators=9).fit(X, y)


def test_bounds_of_independent_rows_are_refused():
    X, y, group = subjects()
    model = made(RandomForestClassifier).fit(X, y, groups=group)
    for bound in (tandem_bound, pac_bayes_kl_bound):
        with pytest.raises(PsephosError, match="it was fitted with groups"):
            bound(model, X, y, rows="out-of-bag")


def test_shrink_judges_voters_out_of_the_group():
    X, y, group = subjects()
    model = made(RandomForestClassifier, max_depth=1, max_features=1).fit(X, y, groups=group)
    with pytest.raises(PsephosError, match="pass the same groups"):
        shrink(model, 3, X, y)
    small = shrink(model, 3, X, y, groups=group)
    assert small.n_features_used_ <= 3


@pytest.mark.parametrize("kind", [*CLASSES, *NUMBERS])
def test_out_of_bag_answers_exist_where_asked_for_and_rows_without_one_are_named(kind):
    X, y, _ = subjects()
    model = kind(n_estimators=2, bootstrap=True, random_state=0).fit(X, y)
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        assert not hasattr(model, name)
    few = made(kind, 2)
    with pytest.warns(UserWarning, match=r"\d+ of 150 rows were drawn for every tree or member"):
        few.fit(X, y)
    assert hasattr(few, "oob_score_")
    few.set_params(oob_score=False).fit(X, y)
    assert not hasattr(few, "oob_score_")


@pytest.mark.parametrize("kind", [*CLASSES, *NUMBERS])
def test_a_bootstrap_of_one_group_is_refused(kind):
    X, y, _ = subjects()
    with pytest.raises(PsephosError, match="all rows are of one group, and a bootstrap draws"):
        made(kind, 3).fit(X, y, groups=np.zeros(len(y)))
    kind(n_estimators=3, bootstrap=False, random_state=0).fit(X, y, groups=np.zeros(len(y)))
