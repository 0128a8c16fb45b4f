"""Voting: against scikit-learn, and by hand; what members are given; what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.ensemble import VotingClassifier as Peer
from sklearn.ensemble import VotingRegressor as PeerRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from psephos import (
    CARTClassifier,
    MLKNeighborsClassifier,
    PsephosError,
    SamBAClassifier,
    VotingClassifier,
    VotingRegressor,
    load,
    save,
)

X, Y = load_wine(return_X_y=True)
WORDS = np.array(["red", "rose", "white"])[Y]


def members():
    return [
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
        ("bayes", GaussianNB()),
        ("line", make_pipeline(StandardScaler(), LogisticRegression())),
    ]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 0.5]])
def test_as_scikit_learn_votes(classes, weights):
    rows = classes > Y
    x, y = X[rows], WORDS[rows]
    for voting in ("soft", "hard"):
        ours = VotingClassifier(members(), voting=voting, weights=weights).fit(x[::2], y[::2])
        peer = Peer(members(), voting=voting, weights=weights).fit(x[::2], y[::2])
        assert_array_equal(ours.predict(x), peer.predict(x))
        if voting == "soft":
            assert_allclose(ours.predict_proba(x), peer.predict_proba(x), atol=1e-12)


def test_numbers_as_scikit_learn_averages():
    x, y = load_diabetes(return_X_y=True)
    pairs = [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("ridge", Ridge())]
    for weights in (None, [1.0, 2.0]):
        ours = VotingRegressor(pairs, weights=weights).fit(x, y)
        assert_allclose(ours.predict(x), PeerRegressor(pairs, weights=weights).fit(x, y).predict(x))


def test_median_trimmed_and_borda_by_hand():
    said = np.stack([m.fit(X[::2], Y[::2]).predict_proba(X) for _, m in members()], axis=1)
    code = np.where(np.eye(3, dtype=bool), 1.0, -0.5)
    votes = said @ code
    median = VotingClassifier(members(), voting="median").fit(X[::2], Y[::2])
    assert_allclose(median.decision_function(X), np.median(votes, axis=1), atol=1e-12)
    third = VotingClassifier(members(), voting="trimmed", cut=1 / 3).fit(X[::2], Y[::2])
    assert_allclose(third.decision_function(X), np.median(votes, axis=1), atol=1e-12)
    borda = VotingClassifier(members(), voting="borda").fit(X[::2], Y[::2])
    above = (said[:, :, :, None] > said[:, :, None, :]).sum(axis=3)
    ties = ((said[:, :, :, None] == said[:, :, None, :]).sum(axis=3) - 1) / 2
    points = (above + ties).sum(axis=1)
    clear = np.sort(points, axis=1)[:, -1] > np.sort(points, axis=1)[:, -2] + 1e-9
    assert clear.sum() > 100
    assert_array_equal(borda.predict(X[clear]), points[clear].argmax(axis=1))


def test_votes_of_classes_are_weighed_after_members():
    weight = {"rose": 3.0, "white": 0.2}
    plain = VotingClassifier(members()).fit(X, WORDS)
    ours = VotingClassifier(members(), class_votes=weight).fit(X, WORDS)
    chances = plain.predict_proba(X) * [1.0, 3.0, 0.2]
    chances /= chances.sum(axis=1, keepdims=True)
    assert_allclose(ours.predict_proba(X), chances, atol=1e-12)
    assert_array_equal(ours.predict(X), plain.classes_[chances.argmax(axis=1)])


def test_the_rule_of_the_vote_is_said():
    heads = {
        voting: VotingClassifier(members(), voting=voting).fit(X, WORDS).describe()[0]
        for voting in ("soft", "hard", "borda", "median", "trimmed")
    }
    assert len(set(heads.values())) == 5
    assert heads["soft"].endswith("Answer: the weighted mean of the voters' probabilities.")
    assert heads["hard"].endswith("Answer: each voter counts for the class it answers.")
    trees = [(str(k), DecisionTreeClassifier(max_depth=k)) for k in (1, 2)]
    soft, hard = (
        VotingClassifier(trees, voting=v).fit(X, WORDS).describe()[0] for v in ("soft", "hard")
    )
    assert "mean of the voters' probabilities" in soft
    assert "each voter counts for the class it answers" in hard


def test_neighbours_are_said_as_such():
    model = VotingClassifier([("knn", KNeighborsClassifier(5)), *members()]).fit(X, WORDS)
    assert "knn: the 5 nearest neighbours of 178 training cases on column 0" in model.describe()[1]


def test_ballots_say_what_turned_the_answer():
    plain = VotingClassifier(members()).fit(X, WORDS)
    ours = VotingClassifier(members(), class_votes={"white": 40.0}).fit(X, WORDS)
    turned = np.flatnonzero(plain.predict(X) != ours.predict(X))[:1]
    ballots = ours.explain(X[turned])
    share = plain.predict_proba(X[turned])[0]
    assert ballots.note(0).startswith("weighed by class (white × 40); the votes alone say")
    assert f"{plain.predict(X[turned])[0]} {100 * share.max():.1f} %" in ballots.note(0)
    assert ballots.note(0) in str(ballots)
    assert plain.explain(X[turned]).note(0) == ""


def test_a_tie_goes_to_the_first_class():
    class Says(ClassifierMixin, BaseEstimator):
        def __init__(self, answer=0):
            self.answer = answer

        def fit(self, x, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, x):
            return np.full(len(x), self.answer)

    pairs = [("one", Says(1)), ("two", Says(0))]
    model = VotingClassifier(pairs, voting="hard").fit(X[Y < 2], WORDS[Y < 2])
    assert (model.predict(X) == "red").all()


def test_members_have_names_and_parameters():
    model = VotingClassifier(members())
    assert model.get_params()["tree__max_depth"] == 2
    model.set_params(tree__max_depth=1, bayes="drop")
    assert dict(model.estimators)["tree"].max_depth == 1
    fitted = clone(model).fit(X, WORDS)
    assert fitted.member_names_ == ("tree", "line")
    words = " ".join(fitted.explain(X[:1]).columns()["reason"])
    assert "tree: " in words
    assert "line: " in words
    swapped = model.set_params(tree=GaussianNB())
    assert isinstance(dict(swapped.estimators)["tree"], GaussianNB)


def test_a_dropped_member_takes_its_weight_with_it():
    given, names = [3.0, 1.0, 2.0], [name for name, _ in members()]
    model = VotingClassifier(members(), weights=given).set_params(bayes="drop").fit(X, WORDS)
    kept = [w for w, name in zip(given, names, strict=True) if name != "bayes"]
    pairs = [pair for pair in members() if pair[0] != "bayes"]
    alone = VotingClassifier(pairs, weights=kept).fit(X, WORDS)
    assert (model.decision_function(X) == alone.decision_function(X)).all()
    with pytest.raises(PsephosError, match="each of the 3 members"):
        VotingClassifier(members(), weights=kept).set_params(bayes="drop").fit(X, WORDS)


def test_a_file_keeps_members_of_psephos_and_not_others(tmp_path):
    own = [("cart", CARTClassifier(max_depth=2)), ("samba", SamBAClassifier(n_estimators=3))]
    model = VotingClassifier([*own, ("out", "drop")], random_state=0).fit(X, WORDS)
    save(model, tmp_path / "own")
    again = load(tmp_path / "own")
    assert [name for name, _ in again.estimators] == ["cart", "samba", "out"]
    assert again.estimators[1][1].n_estimators == 3
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(clone(again).fit(X, WORDS).predict_proba(X), model.predict_proba(X))
    save(VotingClassifier([("bayes", GaussianNB())]).fit(X, WORDS), tmp_path / "other")
    with pytest.raises(PsephosError, match="'estimators' is not kept in model files"):
        load(tmp_path / "other").fit(X, WORDS)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_no_byte(n_jobs):
    pairs = [(f"t{i}", DecisionTreeClassifier(max_features=1, max_depth=2)) for i in range(6)]
    one = VotingClassifier(pairs, random_state=3).fit(X, Y).decision_function(X)
    more = VotingClassifier(pairs, random_state=3, n_jobs=n_jobs).fit(X, Y).decision_function(X)
    assert_array_equal(one, more)
    other = VotingClassifier(pairs, random_state=4).fit(X, Y).decision_function(X)
    assert not np.array_equal(one, other)


def test_missing_values_reach_members_that_take_them():
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    own = [("cart", CARTClassifier(max_depth=2)), ("samba", SamBAClassifier(n_estimators=3))]
    model = VotingClassifier(own, random_state=0).fit(gaps, WORDS)
    assert model.score(gaps, WORDS) > 0.8
    trained = VotingClassifier([("bayes", GaussianNB())]).fit(X, WORDS)
    with pytest.raises(PsephosError, match="row 0"):
        trained.predict(gaps)
    with pytest.raises(PsephosError, match="GaussianNB cannot be fitted, and 60 of 178 rows have"):
        trained.fit(gaps, WORDS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": [1, 2]}, "one number for each of the 3 members"),
        ({"weights": [1, 2, -1]}, "at least 0"),
        ({"weights": "many"}, "one number for each"),
        ({"class_votes": {"blue": 1.0}}, "must name labels of y; got 'blue'"),
        ({"class_votes": "balanced"}, "class_votes must be a dict"),
        ({"class_votes": {"red": 0, "rose": 0, "white": 0}}, "above 0 for at least one class"),
        ({"voting": "loud"}, "voting"),
        ({"estimators": []}, "a list of pairs"),
        ({"estimators": [("a", GaussianNB)]}, "not its class"),
        ({"estimators": [("a", "drop")]}, "a member that is not 'drop'"),
        (
            {"estimators": [("a", GaussianNB()), ("a", GaussianNB())]},
            "names of members must differ",
        ),
        ({"estimators": [("weights", GaussianNB())]}, "names of members must differ"),
        ({"estimators": [("a", LinearRegression())]}, "must be a classifier"),
        ({"estimators": [("a", LinearSVC())]}, "LinearSVC has no predict_proba"),
    ],
)
def test_what_cannot_be_used_is_named(options, words):
    with pytest.raises(PsephosError, match=words):
        VotingClassifier(**{"estimators": members(), **options}).fit(X, WORDS)


def test_weights_and_categories_that_a_member_would_lose_are_refused():
    from sklearn.neighbors import KNeighborsClassifier

    near = VotingClassifier([("near", KNeighborsClassifier())])
    near.fit(X, WORDS, sample_weight=np.full(len(X), 2.0))  # equal weights need not be told
    with pytest.raises(PsephosError, match="KNeighborsClassifier takes no sample_weight"):
        near.fit(X, WORDS, sample_weight=np.arange(len(X)) + 1.0)
    coded = VotingClassifier(members(), categorical_features=[0])
    with pytest.raises(PsephosError, match="'column 0' hold categories, and the member Decision"):
        coded.fit(np.round(X), WORDS)


def test_a_member_of_weight_0_reads_no_column():
    pairs = [("one", CARTClassifier(max_depth=1, n_folds=0)), ("all", GaussianNB())]
    model = VotingClassifier(pairs, weights=[1, 0]).fit(X, WORDS)
    assert model.member_names_ == ("one",)
    assert model.n_features_used_ == 1


def test_a_pipeline_hands_weights_to_its_last_step():
    line = make_pipeline(StandardScaler(), LogisticRegression())
    model = VotingClassifier([("line", line)], class_weight="balanced").fit(X, WORDS)
    weight = len(Y) / (3 * np.bincount(Y)[Y])
    peer = line.fit(X, WORDS, logisticregression__sample_weight=weight)
    assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


def test_one_member_that_reads_a_table_is_followed():
    """ML-kNN's class is by its posteriors, not by the greater half: a hard vote says the same."""
    X, y = make_classification(400, 6, weights=[0.85], flip_y=0.15, random_state=1)
    member = MLKNeighborsClassifier(8)
    alone = member.fit(X, y).predict(X)
    assert (alone != (member.vote_.score(X)[:, 0] > 0)).any()
    vote = VotingClassifier([("near", member)], voting="hard").fit(X, y)
    assert_array_equal(vote.predict(X), alone)
