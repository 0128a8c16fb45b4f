"""Categories become 0/1 columns, and are judged like any other column."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import GaussianNB

from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.fitting import CodedLearner
from psephos.models.swag.learners.closed_forms import LinearDiscriminantLearner
from psephos.models.swag.mechanisms import GenericLearner
from psephos.models.swag.problem import Folds
from psephos.models.training import Design, make_splits
from psephos.vote import Target

CODES = np.array([0, 3, 0, 2])


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X[:, 1], X[:, 3] = rng.integers(0, 3, n), rng.integers(0, 2, n)
    y = (X[:, 0] + (X[:, 1] == 2) + 0.5 * rng.standard_normal(n) > 0.3).astype(np.intp)
    return X, y


def by_hand(X):
    return np.column_stack([X[:, 0], *(X[:, 1] == k for k in range(3)), X[:, 2], X[:, 3] == 1])


def evaluation(learner, X, y, n_codes):
    folds = Folds.of(make_splits(y, 2, n_folds=4))
    return Evaluation.of(learner, X, y, 2, folds=folds, n_codes=n_codes)


def test_the_design_of_a_table():
    design = Design.of(CODES, table()[0])
    assert_array_equal(design.ptr, [0, 1, 4, 5, 6])
    assert_array_equal(design.source, [0, 1, 1, 1, 2, 3])
    assert_array_equal(design.level, [np.nan, 0, 1, 2, np.nan, 1])
    assert_array_equal(design.columns(np.array([1, 3])), [1, 2, 3, 5])
    assert len(design.columns(np.array([], dtype=np.intp))) == 0


def test_categories_that_do_not_occur_have_no_column():
    X, _ = table()
    X[:, 1], X[:, 3] = X[:, 1] + 2, np.where(X[:, 3] == 1, 4, np.nan)
    for j, wanted in ((1, [2, 3, 4]), (3, [4])):
        design = Design.of(np.array([0, 9, 0, 9]), X)
        assert_array_equal(design.level[design.ptr[j] : design.ptr[j + 1]], wanted)
    two = Design.of(np.array([0, 9, 0, 0]), np.where(X == 3, 4, X))
    assert_array_equal(two.level[two.ptr[1] : two.ptr[2]], [4])
    none = Design.of(np.array([0, 9, 0, 0]), np.full((3, 4), np.nan))
    assert_array_equal(none.level[none.ptr[1] : none.ptr[2]], [0])


@pytest.mark.parametrize("learner", [LinearDiscriminantLearner(), GenericLearner(GaussianNB())])
def test_scores_are_those_of_the_columns_made_by_hand(learner):
    X, y = table()
    coded = evaluation(CodedLearner(learner), X, y, CODES)
    plain = evaluation(learner, by_hand(X), y, None)
    found = coded.scores(np.array([[0, 1], [0, 2], [0, 3], [1, 2]]))
    for row, columns in enumerate([[0, 1, 2, 3], [0, 4], [0, 5], [1, 2, 3, 4]]):
        assert_allclose(found[row], plain.scores(np.array([columns]))[0], rtol=1e-9)


def test_voters_read_the_table():
    X, y = table()
    learner = LinearDiscriminantLearner()
    coded = evaluation(CodedLearner(learner), X, y, CODES)
    code = Target(np.array([0, 1])).code
    subsets = [np.array([0, 1]), np.array([3]), np.array([], dtype=np.intp)]
    [(_, voters)] = coded.fit(subsets, "probability", code)
    [(_, inner)] = evaluation(learner, by_hand(X), y, None).fit(
        [np.array([0, 1, 2, 3]), np.array([5]), np.array([], dtype=np.intp)], "probability", code
    )
    fresh, _ = table(seed=1)
    assert_allclose(voters.votes(fresh), inner.votes(by_hand(fresh)), rtol=1e-9)
    usage = voters.usage().toarray()
    assert_array_equal(usage, [[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    gap = fresh.copy()
    gap[:, 1] = np.nan
    assert (voters.votes(gap)[:, 0] == 0).all()
    assert_array_equal(voters.votes(gap)[:, 1], voters.votes(fresh)[:, 1])


def test_what_the_inner_learner_wants_is_passed_on():
    generic = CodedLearner(GenericLearner(GaussianNB()))
    assert not generic.batched
    assert generic.draws
    assert generic.chunk == GenericLearner.chunk
    own = CodedLearner(LinearDiscriminantLearner())
    assert own.batched
    assert own.chunk is None
    X, y = table()
    assert evaluation(own, X, y, CODES).chunk > 1
