"""Gaussian voters: their densities, their files, their tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, norm

from psephos import PsephosError
from psephos.vote import Target
from psephos.vote.codec import decode, encode
from psephos.vote.operations.scores import naive_bayes_models, quadratic_models

NAMES = ["age", "dose", "size", "stage", "time"]
READS = [[0, 2], [1, 2, 3], [], [2]]


def bayes(n_classes=2, **changes):
    rng = np.random.default_rng(0)
    reads = np.array([[j in own for j in range(4)] for own in READS])
    fields = {
        "mean": rng.standard_normal((4, n_classes, 4)),
        "variance": rng.uniform(0.2, 2, (4, n_classes, 4)),
        "log_prior": np.log(rng.dirichlet(np.ones(n_classes), 4)),
        "value": Target(np.arange(n_classes)).code,
        "reads": reads,
    }
    return naive_bayes_models(n_features=5, columns=np.arange(4), **{**fields, **changes})


def quadratic(n_classes=2, **changes):
    rng = np.random.default_rng(1)
    sizes = np.array([len(own) for own in READS])
    blocks = [
        np.linalg.cholesky(np.cov(rng.standard_normal((d, 20))).reshape(d, d)).reshape(-1)
        for _ in range(n_classes)
        for d in sizes
    ]
    fields = {
        "ptr": np.concatenate([[0], np.cumsum(sizes)]),
        "position": np.concatenate(READS).astype(np.intp),
        "mean": rng.standard_normal((n_classes, sizes.sum())),
        "whitening": np.concatenate(blocks).reshape(n_classes, -1),
        "constant": rng.standard_normal((4, n_classes)),
        "value": Target(np.arange(n_classes)).code,
    }
    return quadratic_models(n_features=5, columns=np.arange(4), **{**fields, **changes})


MAKERS = [bayes, quadratic]


def cases(n=50):
    return np.random.default_rng(5).standard_normal((n, 5)) * 2


def scores(voters, X, t):
    """Log-densities with priors, from SciPy."""
    own, n_classes = np.array(READS[t], dtype=int), len(voters.value)
    out = np.zeros((len(X), n_classes))
    for k in range(n_classes):
        out[:, k] = voters.constant[t, k]
        entry = slice(voters.ptr[t], voters.ptr[t + 1])
        mean = voters.centre[k, entry]
        if voters.variance is not None:
            deviation = np.sqrt(voters.variance[k, entry])
            out[:, k] += norm.logpdf(X[:, own], mean, deviation).sum(axis=1)
        else:
            if len(own):
                W = np.tril(voters.lowered()._matrices(t)[k])
                density = multivariate_normal(mean, np.linalg.inv(W.T @ W))
                out[:, k] += density.logpdf(X[:, own]) - density.logpdf(mean)
    return out


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_are_the_densities(make, n_classes):
    X = cases()
    answer, share = make(n_classes), make(n_classes, says="probability")
    for t in range(4):
        expected = scores(answer, X, t)
        assert_array_equal(answer.votes(X)[:, t], answer.value[expected.argmax(axis=1)])
        p = np.exp(expected - expected.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        assert_allclose(share.votes(X)[:, t], p @ answer.value, atol=1e-9)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("says", ["answer", "probability"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_they_move_and_are_taken_without_a_change(make, says, n_classes):
    voters, X = make(n_classes, says=says, abstains=True), cases()
    X[::7, 1] = np.nan
    votes = voters.votes(X)
    assert_array_equal(voters.select(np.arange(4)).votes(X[:, :4]), votes)
    assert_array_equal(voters.votes(X[3:4]), votes[3:4])
    for some in ([2, 0], [1], [3, 3], [2]):
        taken = voters.take(np.array(some))
        assert_array_equal(taken.votes(X), votes[:, some])
        assert_array_equal(taken.columns, np.unique(np.concatenate([READS[t] for t in some])))
        assert_array_equal(taken.usage().toarray(), voters.usage().toarray()[some])
        words = [taken.rule(i, NAMES, {}) for i in range(len(some))]
        assert words == [voters.rule(t, NAMES, {}) for t in some]
    for t, own in enumerate(READS):
        assert_array_equal(np.flatnonzero(voters.usage().toarray()[t]), own)


@pytest.mark.parametrize("make", MAKERS)
def test_a_voter_that_lacks_a_value_abstains_or_raises(make):
    X = cases(6)
    votes = make().votes(X)
    X[2, 3] = np.nan
    with pytest.raises(PsephosError, match="row 2"):
        make().votes(X)
    said = make(abstains=True).votes(X)
    assert_array_equal(said[2, 1], 0.0)
    kept = np.ones((6, 4), dtype=bool)
    kept[2, 1] = False
    assert_array_equal(said[kept], votes[kept])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("says", ["answer", "probability"])
def test_infinite_values_give_finite_votes(make, says):
    X = np.array([[np.inf, -np.inf, 1e200, -1e300, 0.0]])
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isfinite(make(says=says).votes(X)).all()


@pytest.mark.parametrize("make", MAKERS)
def test_the_file_gives_the_same_voters(make):
    voters, X = make(3, says="probability", abstains=True), cases()
    arrays = {}
    again = decode(encode(voters, arrays, "v"), arrays)
    assert_array_equal(again.votes(X), voters.votes(X))
    assert (again.says, again.abstains) == ("probability", True)
    without = bayes(reads=None)
    again = decode(encode(without, arrays, "w"), arrays)
    assert_array_equal(again.votes(X), without.votes(X))
    assert again.usage().toarray()[:, :4].all()


def test_rules_in_words():
    few = bayes(mean=np.full((4, 2, 4), 2.5), variance=np.full((4, 2, 4), 4.0))
    assert few.rule(0, NAMES, {}) == (
        "Gaussian naive Bayes, mean ± deviation by class: "
        "age (2.5 ± 2 | 2.5 ± 2), size (2.5 ± 2 | 2.5 ± 2)"
    )
    assert few.rule(2, NAMES, {}) == "Gaussian naive Bayes on 0 columns: the classes' shares"
    voters = quadratic()
    W = voters.lowered()._matrices(3)[:, 0, 0]
    size = " | ".join(
        f"{m:.4g} ± {1 / abs(w):.4g}" for m, w in zip(voters.centre[:, 5], W, strict=True)
    )
    assert voters.rule(3, NAMES, {}).endswith(f"by class: size ({size})")
    assert voters.sides(0) == few.sides(0) == []


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (bayes, {"says": "value"}),
        (bayes, {"reads": np.ones((4, 3), dtype=bool)}),
        (bayes, {"reads": np.ones((4, 4))}),
        (bayes, {"variance": np.zeros((4, 2, 4))}),
        (bayes, {"value": np.zeros((3, 1))}),
        (quadratic, {"says": "value"}),
        (quadratic, {"ptr": np.array([0, 2, 5, 5, 7])}),
        (quadratic, {"ptr": np.array([0, 2, 1, 5, 6])}),
        (quadratic, {"position": np.array([0, 2, 1, 2, 9, 2])}),
        (quadratic, {"position": np.array([2, 0, 1, 2, 3, 2])}),
        (quadratic, {"position": np.array([0, 2, 1, 2, 3, -1])}),
        (quadratic, {"mean": np.zeros((2, 5))}),
        (quadratic, {"whitening": np.zeros((2, 6))}),
        (quadratic, {"whitening": np.full((2, 14), np.nan)}),
        (quadratic, {"constant": np.zeros((3, 2))}),
    ],
)
def test_hostile_fields_are_refused(make, changes):
    with pytest.raises(PsephosError, match="inconsistent part"):
        make(**changes)


@pytest.mark.parametrize("made", [bayes, quadratic])
def test_there_are_as_many_voters_as_votes(made):
    voters = made()
    assert voters.n_voters == len(READS) == voters.votes(np.zeros((1, 4))).shape[1]
