"""Parameters of members that name classes do so by the labels of y, not by codes."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import psephos
from psephos import PsephosError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = rng.permutation(np.repeat([1, 2], 30))
LINE = LogisticRegression(class_weight={1: 50})
TREE = psephos.CARTClassifier(max_depth=1, n_folds=0, class_weight={1: 50})


@pytest.mark.parametrize("member", [LINE, make_pipeline(StandardScaler(), LINE), TREE])
@pytest.mark.parametrize(
    "committee",
    [
        lambda one: psephos.VotingClassifier([("a", one), ("b", one)]),
        lambda one: psephos.BaggingClassifier(one, 5, random_state=0),
        lambda one: psephos.StackingClassifier([("a", one), ("b", one)], cv=3, random_state=0),
    ],
    ids=["voting", "bagging", "stacking"],
)
def test_the_class_that_is_weighted_is_the_one_named(committee, member):
    alone = (member.fit(X, Y).predict(X) == 1).mean()
    assert alone > 0.75
    assert (committee(member).fit(X, Y).predict(X) == 1).mean() > 0.75
    words = np.array(["", "ill", "well"])[Y]
    named = {name: {"ill": 50} for name in member.get_params() if name.endswith("class_weight")}
    spoken = committee(member.set_params(**named)).fit(X, words)
    assert (spoken.predict(X) == "ill").mean() > 0.75
    member.set_params(**{name: {1: 50} for name in named})


def test_boosting_and_libraries_read_labels_too():
    for model in (
        psephos.SamBAClassifier(TREE, n_estimators=2),
        psephos.SparseWrapperClassifier(LINE, p_max=1, random_state=0),
    ):
        assert (model.fit(X, Y).predict(X) == 1).mean() > 0.75


def test_other_parameters_that_name_a_class():
    dummy = DummyClassifier(strategy="constant", constant=1)
    model = psephos.VotingClassifier([("a", dummy), ("b", dummy)]).fit(X, Y)
    assert set(model.predict(X)) == {1}
    with pytest.raises(PsephosError, match=r"class_weight of a member .* of y, 1, 2; got 7"):
        psephos.BaggingClassifier(LogisticRegression(class_weight={7: 2})).fit(X, Y)
