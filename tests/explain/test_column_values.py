"""The values of a column: what they move beside scikit-learn's partial dependence, and counts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.inspection import partial_dependence

from psephos import CARTClassifier, GradientBoostingClassifier, PsephosError
from psephos.explain import MissedDisplay, ValuesDisplay
from psephos.explain.effects import Cut, Pieces, Says, about_cut, cut_of, further


@pytest.fixture(scope="module", name="case")
def _case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + X["b"] > 0, "ill", "well")
    return GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y), X, y


def test_the_moves_are_the_partial_dependence(case):
    model, X, y = case
    display = ValuesDisplay.from_estimator(model, X, y, "a")
    table = display.table()
    pieces = display.shown.says.pieces
    found = partial_dependence(
        model, X, ["a"], custom_values={"a": np.array(pieces.inside)},
        method="brute", response_method="predict_proba",
    )["average"][-1]  # fmt: skip
    base = model.predict_proba(X)[:, 1].mean()
    np.testing.assert_allclose(table["well"], found - base, atol=1e-12)
    np.testing.assert_allclose(np.array(table["ill"]) + table["well"], 0, atol=1e-12)
    assert table["from"][1:] == table["to"][:-1]


def test_counts_are_those_of_the_words():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    X.loc[:4, "a"] = np.nan
    y = np.where(X["a"] > 0.25, "ill", "well")
    model = CARTClassifier(max_depth=1).fit(X, y)
    display = ValuesDisplay.from_estimator(model, X, y, "a")
    cut, counts = display.shown.cut, display.counts()
    above = X["a"] >= float(cut.text) if cut.closed else X["a"] > float(cut.text)
    assert display.words.endswith(": more like well.")
    assert f" {cut.text}" in display.words
    assert counts["ill"] == [0, int(above.sum()), 0]
    assert counts["well"] == [5, 0, 55 - int(above.sum())]
    assert (y[above] == "ill").all()
    by_place = ValuesDisplay.from_estimator(model, X, y, 0)
    assert by_place.table() == display.table()


def test_a_category_has_a_level_a_line():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"kind": rng.choice(["red", "blue", "green"], 60), "b": rng.normal(size=60)})
    y = np.where(X["kind"] == "red", "ill", "well")
    model = CARTClassifier(max_depth=1, categorical_features=["kind"]).fit(X, y)
    display = ValuesDisplay.from_estimator(model, X, y, "kind")
    table, counts = display.table(), display.counts()
    assert table["level"] == list(display.levels)
    red = table["level"].index("red")
    assert np.argmax(table["ill"]) == red
    assert counts["ill"][red] == (X["kind"] == "red").sum()
    assert counts["well"][red] == 0


def test_what_is_refused(case):
    model, X, y = case
    with pytest.raises(PsephosError, match="no column 'z'"):
        ValuesDisplay.from_estimator(model, X, y, "z")
    with pytest.raises(PsephosError, match="not one of the model's classes"):
        ValuesDisplay.from_estimator(model, X, np.full(90, "sick"), "a")
    stump = CARTClassifier(max_depth=1).fit(X[["a", "b"]], y)
    unread = next(name for name in "ab" if name not in stump.features_used_)
    if unread not in [X.columns[j] for j in stump.vote_.columns]:
        with pytest.raises(PsephosError, match="does not read"):
            ValuesDisplay.from_estimator(stump, X[["a", "b"]], y, unread)
    with pytest.raises(PsephosError, match="fitted classifier"):
        ValuesDisplay.from_estimator(CARTClassifier(), X, y, "a")


def test_the_picture_has_a_dot_a_value(case):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    axes = ValuesDisplay.from_estimator(*case, "a").plot()
    dots = [one for one in axes.collections if len(one.get_offsets()) > 1]
    assert sum(len(one.get_offsets()) for one in dots) == 90


def test_the_positive_class_has_the_colour_of_missed_display(case):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    from matplotlib.colors import to_hex

    model, X, y = case

    def lane(collection):
        return round(float(np.median(np.asarray(collection.get_offsets())[:, 1])))

    for label in (None, "ill", "well"):
        axes = ValuesDisplay.from_estimator(model, X, y, "a", pos_label=label).plot()
        dots = [one for one in axes.collections if len(one.get_offsets()) > 1]
        found = {["ill", "well"][lane(one) - 1]: to_hex(one.get_facecolor()[0]) for one in dots}
        missed = MissedDisplay.from_estimator(model, 0.9 * X, y, pos_label=label)
        lanes = [one for one in missed.plot().collections if len(one.get_offsets()) > 1]
        assert [found[name] for name in missed.names] == [
            to_hex(one.get_facecolor()[0]) for one in lanes
        ]
    with pytest.raises(PsephosError, match=r"pos_label must be one of .* got 'sick'"):
        ValuesDisplay.from_estimator(model, X, y, "a", pos_label="sick")


def test_of_several_thresholds_the_cut_is_that_of_a_tree_of_one_split():
    """50, 45 and 5 cases answer 0, .8 and 1: n_low n_high gap^2 is 1681 at 1 and 183 at 2."""
    pieces = SimpleNamespace(ends=np.arange(4.0), steps=[1.0, 2.0], inside=[0.5, 1.5, 2.5])
    every = np.array([[0.0], [0.8], [1.0]])
    says = SimpleNamespace(
        pieces=pieces, zero=None, every=every, moves=every, jumps=np.diff(every, axis=0), least=0.01
    )
    cut = cut_of(says, {}, np.repeat([0.5, 1.5, 2.5], [50, 45, 5]))
    assert (cut.at, cut.how) == (1.0, "split")
    assert_allclose(cut.change, 0.82)


def test_a_crossing_is_not_rounded_to_the_value_of_a_case():
    """48 people answered exactly 3, and the prediction crosses its mean at 2.96."""
    change = np.array([-1.0, 1.0])
    cut = about_cut(2.96, np.arange(1.0, 6), "crossing", change)
    assert cut.text == "2.96"
    assert (cut.at < 3.0) == (3.0 > 2.96)
    assert about_cut(2.96, np.array([1.1, 5.2]), "crossing", change).text == "3"


@pytest.mark.parametrize(
    ("jumps", "words"),
    [
        ([0.3, 0.2, 0.0], " There is a further step at 4."),
        ([0.3, 0.2, 0.1], " There are further steps at 4 and 6."),
        ([0.3, 0.0, 0.0], ""),
    ],
)
def test_further_steps_are_counted_in_words(jumps, words):
    steps = [2.0, 4.0, 6.0]
    pieces = Pieces(
        [0.0, *steps, 8.0], [1.0, 3.0, 5.0, 7.0], steps, [(s - 1, s + 1) for s in steps]
    )
    changes = np.outer(jumps, [1.0, -1.0])
    says = Says(pieces, np.zeros((4, 2)), None, changes, 0.05)
    assert further(says, Cut(2.0, False, "2", "split", changes[0])) == words
