"""Candidate elimination as a classifier: EnjoySport, collapse, caps, further rows, queries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import (
    BayesOptimalClassifier,
    CollapseWarning,
    PsephosError,
    VersionSpaceClassifier,
    load,
    save,
)
from psephos.testing.ballots import assert_ballots_are_true

from .by_hand import ASKED, LABELS, ROWS, enjoy

SAYS_YES = np.array([6, 0, 3, 2]) / 6


def test_enjoy_sport_step_by_step():
    model = VersionSpaceClassifier()
    steps = []
    for i in range(4):
        model.partial_fit(enjoy(ROWS[i : i + 1]), LABELS[i : i + 1], classes=["no", "yes"])
        steps.append((model.specific_[0], set(model.general_[0]), model.n_hypotheses_[0]))
    anything = ("?",) * 6
    after_two = ("Sunny", "Warm", "?", "Strong", "Warm", "Same")
    sunny, warm = ("Sunny", *anything[1:]), ("?", "Warm", *anything[2:])
    assert steps == [
        (tuple(ROWS[0].split()), {anything}, 64),
        (after_two, {anything}, 32),
        (after_two, {sunny, warm, (*anything[1:], "Same")}, 28),
        (("Sunny", "Warm", "?", "Strong", "?", "?"), {sunny, warm}, 6),
    ]
    whole = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS)
    assert whole.evidence_ == [6 / 973]
    assert_array_equal(whole.predict_proba(enjoy(ASKED)), model.predict_proba(enjoy(ASKED)))
    space = whole.memory_.space
    assert (space.n_hypotheses, space.size.prod()) == (973, 96)


@pytest.mark.parametrize("listed", [0, 5, 6, 1000])
def test_enjoy_sport_votes_listed_or_counted(listed):
    model = VersionSpaceClassifier(max_hypotheses=listed).fit(enjoy(ROWS), LABELS)
    assert model.vote_.n_voters == (6 if listed >= 6 else 1)
    assert_allclose(model.predict_proba(enjoy(ASKED))[:, 1], SAYS_YES, rtol=1e-15)
    assert model.predict(enjoy(ASKED)).tolist() == ["yes", "no", "no", "no"]
    assert model.features_used_.tolist() == ["Sky", "AirTemp", "Wind"]
    ballots = model.explain(enjoy(ASKED))
    assert_ballots_are_true(ballots, ballots.X)
    held = "3 of 6 consistent hypotheses hold" if listed < 6 else "Wind = Weak not in {Strong}"
    assert held in str(ballots)


def test_the_listed_members_are_mitchells_six():
    model = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS)
    sky, air, wind = "Sky in {Sunny}", "AirTemp in {Warm}", "Wind in {Strong}"
    expected = [(sky, air, wind), (air, wind), (sky, wind), (sky, air), (air,), (sky,)]
    names = model.schema_.words()
    rules = [model.vote_.voters.rule(t, names.columns, names.levels) for t in range(6)]
    assert rules == [" and ".join(one) for one in expected]


def test_collapse_names_the_row():
    rows, labels = [*ROWS, ROWS[0]], [*LABELS, "no"]
    said = r"row 4: no conjunction for class yes agrees with it"
    with pytest.raises(PsephosError, match=said):
        VersionSpaceClassifier(on_collapse="raise").fit(enjoy(rows), labels)
    with pytest.warns(CollapseWarning, match=said):
        model = VersionSpaceClassifier().fit(enjoy(rows), labels)
    assert model.memory_.left_out.tolist() == [4]
    assert model.n_hypotheses_ == [6]
    quiet = VersionSpaceClassifier(on_collapse="skip")
    for i in range(5):
        quiet.partial_fit(enjoy(rows[i : i + 1]), labels[i : i + 1], classes=["no", "yes"])
    assert quiet.collapses_ == model.collapses_
    with pytest.raises(PsephosError, match="agrees with row 4 and the rows before"):
        BayesOptimalClassifier(noise=0.0).fit(enjoy(rows), labels)


def test_rows_of_weight_zero_keep_their_numbers():
    rows, labels = [ROWS[2], *ROWS, ROWS[0]], ["yes", *LABELS, "no"]
    model = VersionSpaceClassifier(on_collapse="skip")
    model.fit(enjoy(rows), labels, sample_weight=[0, 1, 1, 1, 1, 1])
    assert model.memory_.left_out.tolist() == [5]


def test_a_general_boundary_beyond_its_cap_is_not_kept_and_not_needed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (14, 8)).astype(str), dtype="category")
    y = np.array([1] + [0] * 13)
    whole = VersionSpaceClassifier(max_hypotheses=0).fit(X, y)
    capped = VersionSpaceClassifier(max_hypotheses=0, max_boundary=3).fit(X, y)
    assert len(whole.general_[0]) > 3
    assert capped.general_ == [None]
    assert capped.n_hypotheses_ == whole.n_hypotheses_
    assert_array_equal(capped.predict_proba(X), whole.predict_proba(X))


def test_a_missing_value_meets_no_test():
    X = pd.DataFrame({"a": ["x", "x", "y", None], "b": ["u", "v", "u", "v"]}, dtype="category")
    model = VersionSpaceClassifier().fit(X, [1, 1, 0, 0])
    assert model.specific_ == [("x", "?")]
    assert model.n_hypotheses_ == [1]
    gap = VersionSpaceClassifier().fit(X[1:], [1, 0, 1])  # v in both of class 1, a in one
    assert gap.specific_ == [("?", "v")]
    with pytest.warns(CollapseWarning, match="row 2"):  # a gap makes a untested, and b differs
        VersionSpaceClassifier().fit(X[[True, True, False, True]], [1, 0, 1])


def test_numbers_are_asked_for_intervals_of_bins():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    model = VersionSpaceClassifier(3).fit(X, [0, 0, 1, 1, 0, 0])
    assert model.memory_.space.cuts[0].tolist() == [2.5, 4.5]
    assert model.specific_ == [("> 2.5 and <= 4.5",)]
    assert model.general_ == [[("> 2.5 and <= 4.5",)]]
    assert model.predict(X).tolist() == [0, 0, 1, 1, 0, 0]


def three_classes():
    X = pd.DataFrame(
        {"a": list("xxyyzz"), "b": list("uvuvuv"), "c": list("ppppqq")}, dtype="category"
    )
    return X, np.array(["one", "one", "two", "two", "three", "three"])


@pytest.mark.parametrize("listed", [0, 1000])
def test_each_of_several_classes_is_a_concept(listed):
    X, y = three_classes()
    model = VersionSpaceClassifier(max_hypotheses=listed).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert model.specific_ == [("x", "?", "p"), ("z", "?", "q"), ("y", "?", "p")]
    ballots = model.explain(X)
    assert_ballots_are_true(ballots, ballots.X)


def test_files_and_reduced_models_go_on(tmp_path):
    X = enjoy(ROWS)
    model = VersionSpaceClassifier().fit(X[:3], LABELS[:3])
    save(model, tmp_path / "m.psephos")
    read = load(tmp_path / "m.psephos")
    small = model.reduce()
    kept = list(small.feature_names_in_)
    assert kept == ["Sky", "AirTemp", "Wind", "Water", "Forecast"]
    for other, table in ((read, X), (small, X[kept])):
        other.partial_fit(table[3:], LABELS[3:])
        assert other.n_hypotheses_ == [6]


def tall():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (40, 12)).astype(str), dtype="category").add_prefix("c")
    return X, (np.arange(40) == 0).astype(int)


def test_what_cannot_be_counted_is_sampled_to_its_error(monkeypatch):
    X, y = tall()
    exact = VersionSpaceClassifier(max_hypotheses=0).fit(X, y)
    monkeypatch.setattr("psephos.models.concepts.votes.STATES", 5)
    model = VersionSpaceClassifier(max_hypotheses=0, n_samples=1000, random_state=0).fit(X, y)
    assert model.anatomy_.voters == ("hypotheses",)
    assert 100 < model.vote_.n_voters <= 1000
    off = model.predict_proba(X)[:, 1] - exact.predict_proba(X)[:, 1]
    assert np.abs(off).max() < 5 * 0.5 / np.sqrt(1000)
    assert_array_equal(model.predict(X), y)
    assert_array_equal(exact.predict(X), y)


def test_a_reduced_sample_refuses_further_rows(monkeypatch):
    X, y = tall()
    monkeypatch.setattr("psephos.models.concepts.votes.STATES", 5)
    model = VersionSpaceClassifier(max_hypotheses=0, n_samples=1, random_state=0).fit(X, y)
    small = model.reduce()
    assert small.n_features_in_ < 12
    with pytest.raises(PsephosError, match="was reduced"):
        small.partial_fit(X[small.feature_names_in_], y)
    assert model.partial_fit(X[:1], y[:1]).n_hypotheses_ == model.n_hypotheses_


def test_a_space_that_is_neither_counted_nor_sampled_says_so(monkeypatch):
    X = pd.DataFrame(np.eye(40, dtype=int).astype(str), dtype="category")
    X.loc[40] = "0"
    y = (np.arange(41) == 40).astype(int)
    monkeypatch.setattr("psephos.models.concepts.votes.STATES", 0)
    with pytest.raises(PsephosError, match="0 agree with the rows"):
        VersionSpaceClassifier(max_hypotheses=0, n_samples=20).fit(X, y)


@pytest.mark.parametrize("listed", [0, 1000])
def test_the_empty_hypothesis_is_one_of_those_counted(listed):
    """Before a positive row S is empty, and consistent: so is a = x, and neither holds for y."""
    X = pd.DataFrame({"a": ["x", "y"]}, dtype="category")
    model = VersionSpaceClassifier(max_hypotheses=listed)
    model.partial_fit(X[1:], [0], classes=[0, 1])  # y is negative: x and the empty one agree
    assert model.n_hypotheses_ == [2]
    assert model.vote_.voters.n_voters == (2 if listed else 1)
    assert_allclose(model.predict_proba(X), [[0.5, 0.5], [1.0, 0.0]])


def test_rows_left_out_are_all_named_and_told_of_the_model():
    rows, labels = [*ROWS, ROWS[0], ROWS[1]], [*LABELS, "no", "no"]
    with pytest.warns(CollapseWarning, match="row 4, row 5: no conjunction for class yes") as told:
        model = VersionSpaceClassifier().fit(enjoy(rows), labels)
    assert "more" not in str(told[0].message)
    assert any("Of 6 rows 2 rows left out: row 4, row 5:" in s for s in model.describe())


def test_a_description_tells_the_version_space():
    model = VersionSpaceClassifier().fit(enjoy(ROWS), LABELS)
    sentence = next(s for s in model.describe() if s.startswith("Class yes: 6 conjunctions agree"))
    assert "Most specific (S): Sky in {Sunny} and AirTemp in {Warm}" in sentence
    assert "Most general (G), 2: " in sentence
    assert "drawn" not in sentence
    counted = VersionSpaceClassifier(max_hypotheses=0).fit(enjoy(ROWS), LABELS)
    assert "if all of 6 consistent hypotheses hold (if some, in proportion) then yes" in str(
        counted
    )
    X, y = three_classes()
    many = VersionSpaceClassifier().fit(X, y).describe()
    assert [s.split(":")[0] for s in many if s.startswith("Class ")] == [
        f"Class {name}" for name in ("one", "three", "two")
    ]


def test_names_of_rows_are_said_of_the_table_that_is_fitted_alone():
    from psephos.estimator.labels import naming_rows, one_fit, row_word

    rows, labels = [*ROWS, ROWS[0]], [*LABELS, "no"]
    with naming_rows([f"p{i}" for i in range(5)]):
        with pytest.warns(CollapseWarning, match="^p4: no conjunction"):
            VersionSpaceClassifier().fit(enjoy(rows), labels)
        with pytest.raises(PsephosError, match="agrees with p4 and the rows before"):
            BayesOptimalClassifier(noise=0.0).fit(enjoy(rows), labels)
        with one_fit(), one_fit():  # a fit within a fit is on rows of its own
            assert row_word(4) == "row 4"
