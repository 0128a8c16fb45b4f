"""Diversity of members: against the definitions, pair by pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import cohen_kappa_score
from sklearn.naive_bayes import GaussianNB

from psephos import (
    CARTClassifier,
    MultiViewClassifier,
    NewtonBoostingRegressor,
    PsephosError,
    RandomForestClassifier,
    RandomForestRegressor,
    SamBAClassifier,
    VotingClassifier,
)
from psephos.explain import DiversityDisplay

X, Y = load_wine(return_X_y=True)
WORDS = np.array(["red", "rose", "white"])[Y]


def test_statistics_are_those_of_the_definitions():
    model = RandomForestClassifier(6, max_depth=1, random_state=0).fit(X[::2], WORDS[::2])
    x, y = X[1::2], Y[1::2]
    display = DiversityDisplay.from_estimator(model, x, WORDS[1::2])
    answers = model.vote_.votes(x).argmax(axis=2)
    table = display.table()
    assert len(display.first) == 15
    for i, (s, t) in enumerate(zip(display.first, display.second, strict=True)):
        one, other = answers[:, s] == y, answers[:, t] == y
        a, b = (one & other).mean(), (one & ~other).mean()
        c, d = (~one & other).mean(), (~one & ~other).mean()
        assert table["q_statistic"][i] == pytest.approx((a * d - b * c) / (a * d + b * c))
        assert table["disagreement"][i] == pytest.approx(b + c)
        assert table["double_fault"][i] == pytest.approx(d)
        kappa = cohen_kappa_score(answers[:, s], answers[:, t])
        assert table["kappa"][i] == pytest.approx(kappa)
        assert table["error_first"][i] == pytest.approx(1 - one.mean())
    assert display.summary()["kappa"] == pytest.approx(np.mean(table["kappa"]))


def test_members_have_their_names_and_equal_members_agree():
    tree = CARTClassifier(max_depth=2, n_folds=0)
    members = [("one", tree), ("two", tree), ("bayes", GaussianNB())]
    model = VotingClassifier(members).fit(X[::2], WORDS[::2])
    display = DiversityDisplay.from_estimator(model, X[1::2], WORDS[1::2])
    assert display.table()["first"] == ["one", "one", "two"]
    assert display.statistics["kappa"][0] == pytest.approx(1.0)
    assert display.statistics["disagreement"][0] == pytest.approx(0.0)


def test_numbers():
    x, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(5, random_state=0).fit(x[::2], y[::2])
    display = DiversityDisplay.from_estimator(model, x[1::2], y[1::2])
    off = model.vote_.votes(x[1::2])[:, :, 0] - y[1::2, None]
    correlation = np.corrcoef(off.T)
    assert_allclose(
        display.statistics["correlation"], correlation[display.first, display.second], atol=1e-9
    )
    apart = ((off[:, 0] - off[:, 1]) ** 2).mean()
    assert display.statistics["disagreement"][0] == pytest.approx(apart)
    assert_allclose(display.error, (off**2).mean(axis=0))


def test_the_plot_has_a_point_a_pair():
    pytest.importorskip("matplotlib")
    model = SamBAClassifier(n_estimators=4).fit(X[::2], WORDS[::2])
    display = DiversityDisplay.from_estimator(model, X[1::2], WORDS[1::2])
    axes = display.plot()
    points = axes.collections[0].get_offsets()
    assert len(points) == len(display.first)
    assert_allclose(points[:, 0], display.statistics["kappa"])
    assert f"{len(display.first)} pairs of {len(display.names)} voters" in axes.get_title()


def test_a_prior_a_base_score_and_a_reserve_are_no_members():
    views = MultiViewClassifier([("a", list(range(6))), ("b", list(range(6, 13)))]).fit(
        X[::2], WORDS[::2]
    )
    display = DiversityDisplay.from_estimator(views, X[1::2], WORDS[1::2])
    assert display.names == ("a", "b")
    assert display.left_out == ("prior",)
    boosted = NewtonBoostingRegressor(n_estimators=3, max_depth=2).fit(X[::2], Y[::2] * 1.0)
    display = DiversityDisplay.from_estimator(boosted, X[1::2], Y[1::2] * 1.0)
    assert len(display.names) == len(display.error) == 3
    assert len(display.left_out) == 1
    pytest.importorskip("matplotlib")
    assert "without 1 that read no column" in display.plot().get_title()
    stump = NewtonBoostingRegressor(n_estimators=1, max_depth=1).fit(X, Y.astype(float))
    with pytest.raises(PsephosError, match="this NewtonBoostingRegressor has 1, of 2 voters"):
        DiversityDisplay.from_estimator(stump, X, Y.astype(float))


def test_what_cannot_be_asked_is_named():
    with pytest.raises(PsephosError, match="two or more voters"):
        DiversityDisplay.from_estimator(CARTClassifier().fit(X, WORDS), X, WORDS)
    model = RandomForestClassifier(3).fit(X, WORDS)
    with pytest.raises(PsephosError, match="'blue' is not one"):
        DiversityDisplay.from_estimator(model, X[:2], ["red", "blue"])
