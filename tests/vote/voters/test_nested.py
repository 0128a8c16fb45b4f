"""Votes of votes: the library's own models as voters of boosting and of the search."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import SVC

import psephos
from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ProsetClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
    SparseWrapperRegressor,
)
from psephos._errors import PsephosError
from psephos.protocol import ProsetSearchCV
from psephos.vote import ForeignVoters, NestedVoters, Target, from_estimators
from psephos.vote.codec import decode, encode
from psephos.vote.operations.nested import nested

NAMES = [f"c{j}" for j in range(6)]
MODELS = [
    C45Classifier(),
    CARTClassifier(max_depth=2, n_folds=0),
    RandomForestClassifier(4, max_depth=3),
    SamBAClassifier(n_estimators=3),
    ProsetClassifier(),
]


def table(n_classes=2, n=120, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, 6))
    X[:, [1, 4]] += 2.0 * rng.standard_normal((n_classes, 2))[y]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def three(model, n_classes, missing=0.0):
    """Three models of other seeds and weights, and the voters they make."""
    X, y = table(n_classes, missing=missing)
    fitted = []
    for seed in range(3):
        one = type(model)(**model.get_params())
        if "random_state" in one.get_params():
            one.set_params(random_state=seed)
        fitted.append(one.fit(X, y, np.random.default_rng(seed).uniform(0.2, 2.0, len(y))))
    return fitted, from_estimators(fitted, 6, Target(np.arange(n_classes)).code)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_nested_vote_says_what_its_model_answers(model, n_classes, missing):
    fitted, voters = three(model, n_classes, missing)
    assert isinstance(voters, NestedVoters)
    X, _ = table(n_classes, n=300, seed=9, missing=missing)
    code = Target(np.arange(n_classes)).code
    answers = np.stack([model.predict(X) for model in fitted], axis=1)
    assert_array_equal(voters.votes(X), code[answers])
    whole = [np.arange(6)] * 3
    heard = nested(fitted, whole, 6, "probability", code, abstains=False).votes(X)
    assert_array_equal(heard, np.stack([m.predict_proba(X) @ code for m in fitted], axis=1))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_nested_votes_move_and_name_what_they_read(model):
    fitted, voters = three(model, 3)
    X, _ = table(3, n=80, seed=9)
    votes, usage = voters.votes(X), voters.usage().toarray()
    assert_array_equal(usage, np.stack([m.usage().toarray().any(axis=0) for m in fitted]))
    for t in range(3):
        assert_array_equal(voters.votes(np.where(usage[t], X, 50.0))[:, t], votes[:, t])
        assert all(NAMES[j] in voters.rule(t, NAMES, {}) for j in np.flatnonzero(usage[t])[:1])
    part = voters.take(np.array([2, 0]))
    assert_array_equal(part.votes(X), votes[:, [2, 0]])
    assert_array_equal(part.usage().toarray(), usage[[2, 0]])
    columns = part.columns
    assert_array_equal(part.select(columns).votes(X[:, columns]), part.votes(X))
    arrays = {}
    assert_array_equal(decode(encode(voters, arrays, "v"), arrays).votes(X), votes)


def test_classes_that_a_model_has_not_seen_keep_their_codes():
    X, y = table(3)
    fitted = C45Classifier().fit(X[y != 1], y[y != 1])
    code = Target(np.arange(3)).code
    voters = from_estimators([fitted], 6, code)
    assert_array_equal(voters.votes(X)[:, 0], code[fitted.predict(X)])
    assert set(fitted.predict(X)) == {0, 2}


@pytest.mark.filterwarnings("ignore::psephos._errors.UnknownLevelWarning")  # is meant
def test_categories_of_a_nested_model_are_read_as_it_read_them():
    X, y = table()
    rng = np.random.default_rng(1)
    X[:, 1] = X[:, 4] = 0.0  # what is left decides nothing
    X[:, 2] = np.where(y == 1, rng.choice([0, 3, 4], len(y)), rng.choice([1, 3, 5], len(y)))
    model = C45Classifier(categorical_features=[2]).fit(X, y)
    voters = from_estimators([model], 6, Target(np.arange(2)).code)
    X[::7, 2] = np.nan
    X[3::11, 2] = 2.0  # no row of training had it: missing
    assert_array_equal(voters.votes(X)[:, 0, 0] > 0, model.predict(X) == 1)
    words = ["red", "green", "blue", "grey", "black", "white"]
    assert "c2" in voters.rule(0, NAMES, {2: words})
    stump = CARTClassifier(max_depth=1, categorical_features=[2], n_folds=0).fit(X, y)
    told = from_estimators([stump], 6, Target(np.arange(2)).code).rule(0, NAMES, {2: words})
    assert told.startswith("c2 in {")
    assert "green" in told or "red" in told


@pytest.mark.parametrize("make", [AdaBoostClassifier, SamBAClassifier])
@pytest.mark.parametrize(
    "model", [C45Classifier(), CARTClassifier(max_depth=2)], ids=lambda m: type(m).__name__
)
def test_boosted_trees_of_the_library_are_saved_and_reduced(make, model, tmp_path):
    X, y = table(3, missing=0.1)
    boosted = make(model, n_estimators=4, random_state=0).fit(X, y)
    assert isinstance(boosted.vote_.voters, NestedVoters)
    Z, _ = table(3, n=200, seed=9, missing=0.1)
    psephos.save(boosted, tmp_path / "model.psephos")
    again = psephos.load(tmp_path / "model.psephos")
    assert_array_equal(again.decision_function(Z), boosted.decision_function(Z))
    small = boosted.reduce()
    used = boosted.vote_.columns
    assert_array_equal(small.decision_function(Z[:, used]), boosted.decision_function(Z))
    assert len(boosted.describe()) == 1 + boosted.vote_.n_voters


def test_surrogates_of_a_boosted_tree_are_backup():
    X, y = table()
    X[:, 1] += 3.0 * y
    X[:, 0] = X[:, 1] + 0.05 * X[:, 5]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = AdaBoostClassifier(CARTClassifier(max_depth=1), n_estimators=2, random_state=0)
    model.fit(X, y)
    trees = [vote.voters.tree(0) for vote in model.vote_.voters.inner]
    assert any(len(tree.surrogates.column) for tree in trees)
    voters = model.vote_.voters
    places = zip(trees, voters.places, strict=True)
    asked = {int(voters.columns[own[tree.column[0]]]) for tree, own in places}
    assert set(model.features_used_) == asked
    assert set(model.features_backup_) == set(model.vote_.columns) - asked != set()
    whole = np.nan_to_num(X)
    small = model.reduce(backup=False)
    assert small.n_features_in_ == len(asked)
    assert_array_equal(small.predict_proba(whole[:, sorted(asked)]), model.predict_proba(whole))


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("absent", [None, "vote"])
@pytest.mark.parametrize("vote", ["majority", "mean"])
def test_a_search_over_models_of_the_library_is_saved(vote, absent, missing, tmp_path):
    X, y = table(missing=missing)
    model = SparseWrapperClassifier(
        C45Classifier(), p_max=2, m=4, n_folds=3, n_repeats=1, vote=vote, absent=absent,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    Z, _ = table(n=60, seed=9, missing=0.2)
    psephos.save(model, tmp_path / "model.psephos")
    assert_array_equal(
        psephos.load(tmp_path / "model.psephos").predict_proba(Z), model.predict_proba(Z)
    )
    nothing = np.full((1, 6), np.nan)  # only the prior of the training rows is heard
    share = max((y == k).mean() for k in (0, 1))
    assert model.predict_proba(nothing).max() == pytest.approx(share)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_search_over_regressors_of_the_library_is_saved(missing, tmp_path):
    X, y = table()
    numbers = X[:, 1] + y
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    model = SparseWrapperRegressor(
        CARTRegressor(), p_max=2, m=4, n_folds=3, n_repeats=1, random_state=0
    ).fit(X, numbers)
    psephos.save(model, tmp_path / "model.psephos")
    assert_array_equal(psephos.load(tmp_path / "model.psephos").predict(X), model.predict(X))


def test_a_model_among_others_stays_what_it_is():
    X, y = table()
    mixed = [C45Classifier().fit(X, y), SVC().fit(X, y)]
    code = Target(np.arange(2)).code
    assert nested(mixed, [np.arange(6)] * 2, 6, "answer", code, abstains=False) is None
    voters = from_estimators(mixed[::-1], 6, code)
    assert isinstance(voters, ForeignVoters)
    assert_array_equal(voters.votes(X)[:, 1], code[mixed[0].predict(X)])


class Strict(C45Classifier):
    """One that answers as its vote does not."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.95).astype(int)]


class Turned(ClassifierMixin, BaseEstimator):
    """One that shows the vote of a model of another table."""

    def fit(self, X, y, sample_weight=None):
        self.inner_ = C45Classifier().fit(-X, y, sample_weight)
        self.classes_, self.vote_ = self.inner_.classes_, self.inner_.vote_
        self.schema_ = self.inner_.schema_
        return self

    def predict(self, X):
        return self.inner_.predict(-X)


@pytest.mark.parametrize(
    "model",
    [Strict(), Turned(), ProsetSearchCV(ProsetClassifier(), n_pairs=2, cv=2)],
    ids=lambda m: type(m).__name__,
)
def test_what_only_looks_like_a_model_of_the_library_is_asked_itself(model):
    X, y = table()
    fitted = model.fit(X, y)
    code = Target(np.arange(2)).code
    voters = from_estimators([fitted], 6, code)
    assert isinstance(voters, ForeignVoters)
    assert_array_equal(voters.votes(X)[:, 0], code[fitted.predict(X)])


def test_a_boosted_stump_says_what_it_asks_and_answers():
    X, y = table()
    model = AdaBoostClassifier(CARTClassifier(max_depth=1, n_folds=0), n_estimators=2).fit(X, y)
    (when, yes), (other, no) = model.vote_.voters.sides(0)
    assert when == "if so"
    assert all(part in model.describe()[1] for part in other.split(", "))
    assert {float(yes[0]), float(no[0])} == {-1.0, 1.0}
    assert "otherwise" in model.describe()[1]
    one = AdaBoostClassifier(C45Classifier(min_samples_leaf=200), n_estimators=1)
    one.fit(X, np.where(np.arange(len(y)) < 70, 0, 1))
    assert one.vote_.voters.sides(0)[0][0] == "always"


def test_what_abstains_does_not_speak_of_missing_values():
    X, y = table(missing=0.1)
    small = {"p_max": 1, "m": 4, "n_folds": 3, "n_repeats": 1, "random_state": 0}
    for learner in (C45Classifier(), CARTClassifier(n_folds=0), RandomForestClassifier(1)):
        told = SparseWrapperClassifier(learner, **small).fit(X, y).describe()
        assert any("<=" in line or "<" in line for line in told)
        assert not any("missing" in line for line in told)


def test_a_model_of_the_reserve_that_reads_nothing_is_not_heard():
    X, _ = table(n=60)
    model = SparseWrapperClassifier(
        C45Classifier(min_samples_leaf=15), p_max=1, m=6, alpha=1.0, n_folds=3, n_repeats=1,
        absent="vote", random_state=0,
    ).fit(X, (X[:, 1] > 0.2).astype(int))  # fmt: skip
    reads = model.vote_.usage().toarray().any(axis=1)
    assert not reads[:-1].all()  # some tree is a leaf
    answer = model.usable(np.full((1, 6), np.nan))
    assert (int(answer["n_models"][0]), answer["source"][0]) == (0, "prior")


def test_a_loaded_model_still_has_its_voter_s_settings(tmp_path):
    X, y = table()
    voter = CARTClassifier(max_depth=1, n_folds=0, priors=[0.3, 0.7])
    psephos.save(AdaBoostClassifier(voter, n_estimators=2).fit(X, y), tmp_path / "model.psephos")
    again = psephos.load(tmp_path / "model.psephos")
    assert again.estimator.get_params() == voter.get_params()
    refitted = clone(again).fit(X, y)
    assert_array_equal(refitted.decision_function(X), again.decision_function(X))


def test_inconsistent_nested_votes_are_refused():
    _, voters = three(C45Classifier(), 3)
    _, two = three(C45Classifier(), 2)
    number = CARTRegressor().fit(*table()).vote_
    wrong = [
        {"says": "whatever"},
        {"says": "value"},
        {"value": voters.value[:2]},
        {"value": voters.value.astype(np.float32)},
        {"inner": voters.inner[:2]},
        {"places": (voters.places[0][:-1], *voters.places[1:])},
        {"places": (voters.places[0] + 100, *voters.places[1:])},
        {"places": (voters.places[0].astype(np.int32), *voters.places[1:])},
        {"levels": (((99, np.zeros(2)),), (), ())},
        {"levels": (((0, np.zeros(0)),), (), ())},
        {"columns": voters.columns[::-1].copy()},
    ]
    for fields in wrong:
        with pytest.raises(PsephosError):
            replace(voters, **fields)
    with pytest.raises(PsephosError, match="numbers, or with classes"):
        replace(two, inner=(number.select(number.columns), *two.inner[1:]), places=(
            number.columns, *two.places[1:]), columns=np.arange(6))  # fmt: skip
