"""The lasso learner: its scores, the penalty it chooses, and the voters it leaves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from psephos import PsephosError
from psephos.models.swag.learners.logistic import LassoLogisticLearner, LogisticLearner
from psephos.models.swag.problem import Folds, SearchProblem
from psephos.vote import Target


def problem(n_classes=2, n=60, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, 5))
    X[:, [0, 2]] += 1.5 * rng.standard_normal((n_classes, 2))[y]
    weight = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    folds = Folds.of(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    return SearchProblem(np.asfortranarray(X), y, n_classes, weight, folds)


@pytest.mark.parametrize("by", [0.1, 0.02])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fixed_penalty_equals_scikit_learn(by, n_classes):
    """SAGA, whose intercept is free; one class against the rest where there are more than two."""
    data = problem(n_classes, weighted=True)
    columns, folds = [0, 1, 3], data.folds
    learner = LassoLogisticLearner(lambdas=[by])
    scores = learner.bind(data).scores(np.array([columns]))[0]
    for s in range(folds.n_splits):
        train = folds.train[folds.train_ptr[s] : folds.train_ptr[s + 1]]
        here = slice(folds.test_ptr[s], folds.test_ptr[s + 1])
        w = data.weight[train]
        scaler = StandardScaler().fit(data.X[np.ix_(train, columns)], sample_weight=w)
        A = scaler.transform(data.X[np.ix_(train, columns)])
        B = scaler.transform(data.X[np.ix_(folds.test[here], columns)])
        for k in range(data.n_outputs):
            model = LogisticRegression(
                C=1 / (by * w.sum()), l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000
            )
            model.fit(A, data.y[train] == (k if n_classes > 2 else 1), sample_weight=w)
            assert_allclose(scores[here, k], model.decision_function(B), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_penalty_with_the_fewest_errors_is_chosen(n_classes):
    data = problem(n_classes, weighted=True)
    subsets, lambdas = np.array([[0, 1], [1, 3], [0, 2]]), np.linspace(0, 0.3, 13)
    chosen = LassoLogisticLearner(lambdas=lambdas).bind(data)
    scores, by = chosen.scores(subsets), chosen.remarks(subsets)["lambda"]
    rows = data.folds.test
    for b, columns in enumerate(subsets):
        wrong, each = [], []
        for value in lambdas[::-1]:
            one = LassoLogisticLearner(lambdas=[value]).bind(data)
            each.append(one.scores(columns[None])[0])
            said = each[-1][:, 0] > 0 if n_classes == 2 else each[-1].argmax(axis=1)
            wrong.append(data.weight[rows] @ (said != data.y[rows]))
        best = int(np.argmin(np.round(wrong, 9)))
        assert by[b] == lambdas[::-1][best]
        assert_allclose(scores[b], each[best], rtol=1e-4, atol=1e-5)
        assert_array_equal(chosen.scores(columns[None])[0], scores[b])


def test_voters_do_not_name_columns_left_out():
    data = problem()
    learner = LassoLogisticLearner(lambdas=[0.12]).bind(data)
    code = Target(np.arange(2)).code
    subsets = [np.array([0, 1, 3, 4]), np.array([1, 3]), np.empty(0, dtype=np.intp)]
    voters = learner.fit(subsets, "answer", code)
    usage = voters.usage().toarray()
    assert usage[0, 0]
    assert usage[0].sum() < 4
    assert not usage[2].any()
    A = StandardScaler().fit_transform(data.X[:, subsets[0]])
    peer = LogisticRegression(
        C=1 / (0.12 * 60), l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(A, data.y)
    assert_array_equal(np.flatnonzero(usage[0]), subsets[0][np.flatnonzero(peer.coef_[0])])
    assert_array_equal(voters.votes(data.X)[:, 0, 0] > 0, peer.predict(A) == 1)
    far = LassoLogisticLearner(lambdas=[9.0]).bind(data).fit(subsets, "answer", code)
    assert len(far.columns) == 0


def test_one_column_is_plain_logistic():
    data, one = problem(), np.array([[0], [3]])
    plain, lasso = LogisticLearner().bind(data), LassoLogisticLearner().bind(data)
    assert_array_equal(lasso.scores(one), plain.scores(one))
    code = Target(np.arange(2)).code
    said = [b.fit([one[0]], "probability", code).votes(data.X) for b in (plain, lasso)]
    assert_array_equal(*said)
    assert set(lasso.remarks(one)) == {"separable"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lambdas": []}, "lambdas must be"),
        ({"lambdas": [-0.1]}, "lambdas must be"),
        ({"lambdas": [np.nan]}, "lambdas must be"),
        ({"tol": 0}, "'tol' must be a finite number above 0"),
    ],
)
def test_bad_hyperparameters(settings, words):
    with pytest.raises(PsephosError, match=words):
        LassoLogisticLearner(**settings)
