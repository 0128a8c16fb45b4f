"""A vote made smaller: by hand, on rows out of bag, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    PsephosError,
    RandomForestClassifier,
    RandomForestRegressor,
    SamBAClassifier,
    VotingClassifier,
    calibrate,
    load,
    save,
    shrink,
)

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = np.arange(300), np.arange(300, len(X))


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=40, random_state=0),
        RandomForestClassifier(60, max_depth=2, random_state=0),
        BaggingClassifier(CARTClassifier(max_depth=2, n_folds=0), 30, random_state=0),
        GradientBoostingClassifier(n_estimators=40, max_depth=1, random_state=0),
        NewtonBoostingClassifier(n_estimators=40, max_depth=1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fewer_columns_lose_little(model, tmp_path):
    model.fit(X[TRAIN], Y[TRAIN])
    before = model.predict_proba(X)
    for k in (3, 6):
        small = shrink(model, k, X[TRAIN], Y[TRAIN])
        assert type(small) is type(model)
        assert 0 < small.n_features_used_ <= k
        assert small.vote_.n_voters < model.vote_.n_voters
        assert small.score(X[TEST], Y[TEST]) > 0.9
        assert_allclose(small.feature_importances_.sum(), 1.0)
        assert set(small.reduce().features_used_) == set(range(small.n_features_used_))
    save(small, tmp_path / "small.psephos")
    assert_array_equal(load(tmp_path / "small.psephos").predict_proba(X), small.predict_proba(X))
    assert_array_equal(model.predict_proba(X), before)  # left as it is


def test_three_classes_and_numbers():
    wine, kind = load_wine(return_X_y=True)
    forest = RandomForestClassifier(60, max_depth=2, random_state=0).fit(wine[::2], kind[::2])
    small = shrink(forest, 5, wine[::2], kind[::2])
    assert small.n_features_used_ <= 5
    assert small.score(wine[1::2], kind[1::2]) > 0.85
    table, y = load_diabetes(return_X_y=True)
    for model in (
        RandomForestRegressor(60, max_depth=2, random_state=0),
        GradientBoostingRegressor(n_estimators=60, max_depth=1),
    ):
        few = shrink(model.fit(table[::2], y[::2]), 3, table[::2], y[::2])
        assert few.n_features_used_ <= 3
        assert few.score(table[1::2], y[1::2]) > 0.3


def test_weights_are_those_of_least_squares():
    model = AdaBoostClassifier(n_estimators=30).fit(X[TRAIN], Y[TRAIN])
    small = shrink(model, 30, X[TEST], Y[TEST])
    said = model.vote_.votes(X[TEST])[:, :, 0]
    by_hand = nnls(said, np.where(Y[TEST] == 1, 1.0, -1.0))[0]
    score = said @ by_hand
    found = small.decision_function(X[TEST])
    assert_allclose(found / np.abs(found).max(), score / np.abs(score).max(), atol=1e-4)


def test_the_scale_is_that_of_least_log_loss():
    model = GradientBoostingClassifier(n_estimators=30, max_depth=1).fit(X[TRAIN], Y[TRAIN])
    small = shrink(model, 4, X[TEST], Y[TEST])
    score, sign = small.decision_function(X[TEST]), np.where(Y[TEST] == 1, 1.0, -1.0)
    loss = [np.logaddexp(0, -sign * scale * score).mean() for scale in (0.95, 1.0, 1.05)]
    assert loss[1] < min(loss[0], loss[2])


@pytest.mark.parametrize(
    "model", [AdaBoostClassifier(n_estimators=30), GradientBoostingClassifier(max_depth=1)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_towards_the_model_itself(model):
    """With all columns it is the model; with fewer, nearer to it the more there are."""
    score = model.fit(X[TRAIN], Y[TRAIN]).decision_function(X[TRAIN])
    off = [
        np.square(shrink(model, k, X[TRAIN], None, target="model").decision_function(X[TRAIN])
                  - score).mean()
        for k in (2, 5, 30)
    ]  # fmt: skip
    assert off[0] > off[1] > off[2]
    assert off[2] < 1e-6 * np.square(score).mean()
    with pytest.raises(PsephosError, match="target must be one of 'labels', 'model'; got 'both'"):
        shrink(model, 2, X, Y, target="both")


def test_out_of_bag_is_what_trees_did_not_see():
    """Pure trees know their own rows by heart: chosen by these, the best is any."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((80, 6))
    y = (table[:, 0] + 0.3 * rng.standard_normal(80) > 0).astype(int)
    forest = RandomForestClassifier(80, max_features=1, max_depth=1, random_state=0).fit(table, y)
    assert forest.left_out(table, y).shape == (80, 80)
    assert 0.3 < forest.left_out(table, y).mean() < 0.43
    assert_array_equal(shrink(forest, 1, table, y).features_used_, [0])
    votes = forest.vote_.votes(table)[:, :, 0]
    out = forest.left_out(table, y).T
    by_hand = np.divide((votes * out).sum(axis=1), out.sum(axis=1))
    scored = RandomForestClassifier(
        80, max_features=1, max_depth=1, oob_score=True, random_state=0
    ).fit(table, y)
    assert_allclose((1 + by_hand) / 2, scored.oob_decision_function_[:, 1])
    assert forest.left_out(table[:50], y[:50]) is None
    with pytest.raises(PsephosError, match="out_of_bag=True needs the training rows"):
        shrink(forest, 2, table[:50], y[:50], out_of_bag=True)


def test_what_is_known_of_voters_follows():
    boosted = AdaBoostClassifier(n_estimators=30).fit(X[TRAIN], Y[TRAIN])
    small = shrink(boosted, 2, X[TEST], Y[TEST])
    kept = [t for t in range(30) if boosted.estimator_errors_[t] in small.estimator_errors_]
    assert len(small.estimator_errors_) == small.vote_.n_voters <= len(kept)
    forest = RandomForestClassifier(50, max_depth=2, oob_score=True, random_state=0)
    few = shrink(forest.fit(X[TRAIN], Y[TRAIN]), 5, X[TRAIN], Y[TRAIN])
    assert not hasattr(few, "oob_score_")
    assert not hasattr(few, "oob_decision_function_")
    assert len(few.memory_.seeds) == few.vote_.n_voters
    if few.vote_.n_voters > 1:
        with pytest.raises(PsephosError, match="these have different weights"):
            few.uncertainty(X)


def test_what_is_refused():
    deep = RandomForestClassifier(20, random_state=0).fit(X[TRAIN], Y[TRAIN])
    least = int(deep.usage().sum(axis=1).min())
    with pytest.raises(PsephosError, match=f"n_columns must be at least {least}, .*; got 2"):
        shrink(deep, 2, X[TRAIN], Y[TRAIN])
    boosted = AdaBoostClassifier(n_estimators=5).fit(X[TRAIN], Y[TRAIN])
    for arguments, words in [
        ((CARTClassifier(), 3, X, Y), "not a fitted estimator"),
        ((boosted, 0, X, Y), "n_columns must be .*; got 0"),
        ((boosted, 2.5, X, Y), "n_columns must be .*; got 2.5"),
        ((boosted, 3, X, np.where(Y, "a", "b")), "label '[ab]' is not one"),
        ((boosted, 3, X, Y[:9]), "y must have one value per row, 569; got 9"),
        (
            (SamBAClassifier(n_estimators=3).fit(X, Y), 3, X, Y),
            "weights of the voters must be constant",
        ),
        ((calibrate(boosted, X[TEST], Y[TEST]), 3, X, Y), "is calibrated"),
        (
            (VotingClassifier([("a", CARTClassifier())], voting="median").fit(X, Y), 9, X, Y),
            "the median of its voters",
        ),
    ]:
        with pytest.raises(PsephosError, match=words):
            shrink(*arguments)


@pytest.mark.parametrize("boosting", [GradientBoostingClassifier, NewtonBoostingClassifier])
def test_a_base_score_is_no_voter_that_reads_so_few_columns(boosting):
    """It reads none: alone it would be a constant."""
    model = boosting(n_estimators=8, random_state=0).fit(X[TRAIN], Y[TRAIN])
    width = np.asarray(model.usage().sum(axis=1)).ravel()
    least = int(width[width > 0].min())
    with pytest.raises(PsephosError, match=f"n_columns must be at least {least}, .*; got 1"):
        shrink(model, 1, X[TRAIN], Y[TRAIN])
    with pytest.raises(PsephosError, match="no voter of these columns agrees"):  # none raises it
        shrink(model, 30, X[TRAIN], 1 - (model.predict(X[TRAIN])))


def test_a_lost_class_is_said():
    wine, kind = load_wine(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(wine, kind)
    with pytest.raises(PsephosError, match=r"n_columns must be at least 3, .*; got 2"):
        shrink(model, 2, wine, kind)
    with pytest.warns(UserWarning, match="on 4 columns .* predicts 2 for none of the given"):
        few = shrink(model, 4, wine, kind)
    assert set(few.predict(wine)) == {0, 1}
    assert set(shrink(model, 5, wine, kind).predict(wine)) == {0, 1, 2}  # 0 where the others fall
    with pytest.warns(UserWarning, match="predicts 2 for none of the given"):  # not in the rows
        shrink(model, 4, wine[kind < 2], kind[kind < 2])
