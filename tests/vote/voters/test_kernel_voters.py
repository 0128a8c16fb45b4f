"""Support vector machines as voters."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos import PsephosError
from psephos.vote.codec import decode, encode
from psephos.vote.operations.machines import KernelVoters

NAMES = [f"c{j}" for j in range(7)]


def machines(n_classes=2, kernel="rbf", seed=0, **kwargs):
    """Three machines: on columns 1, 4 and 6; on 4; on none."""
    rng = np.random.default_rng(seed)
    pairs = n_classes * (n_classes - 1) // 2
    return KernelVoters(
        7, np.array([1, 4, 6]),
        np.array([0, 3, 4, 4]), np.array([0, 1, 2, 1]), rng.normal(0, 1, 4), rng.uniform(0.5, 2, 4),
        np.array([0, 5, 9, 10]), rng.standard_normal(3 * 5 + 4), rng.normal(0, 2, (pairs, 10)),
        rng.normal(0, 0.3, (3, pairs)), np.array([0.3, 1.2, 1.0]),
        np.eye(n_classes) if n_classes > 2 else np.array([[-1.0], [1.0]]), kernel=kernel, **kwargs,
    )  # fmt: skip


def table(seed=1, n=40):
    return np.random.default_rng(seed).standard_normal((n, 7))


def twin_margins(voters, t, x):
    """The margins of voter t on one row, term by term."""
    own = slice(voters.ptr[t], voters.ptr[t + 1])
    z = (x[voters.columns[voters.position[own]]] - voters.centre[own]) * voters.inverse[own]
    sizes = np.diff(voters.ptr) * np.diff(voters.rows)
    first = sizes[:t].sum()
    support = voters.support[first : first + sizes[t]].reshape(np.diff(voters.rows)[t], len(z))
    margins = voters.intercept[t].copy()
    for i, s in enumerate(support):
        k = np.exp(-voters.gamma[t] * ((z - s) ** 2).sum()) if voters.kernel == "rbf" else z @ s
        margins += k * voters.dual[:, voters.rows[t] + i]
    return margins


def twin_scores(margins, n_classes):
    if n_classes == 2:
        return np.array([0.0, margins[0]])
    wins, sums = np.zeros(n_classes), np.zeros(n_classes)
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    for m, (a, b) in zip(margins, pairs, strict=True):
        wins[b if m > 0 else a] += 1
        sums[b] += m
        sums[a] -= m
    return wins + sums / (3 * (1 + abs(sums)))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_votes(n_classes, kernel):
    X = table()
    for says in ("answer", "probability"):
        voters = machines(n_classes, kernel, says=says)
        votes = voters.votes(X)
        for r in range(len(X)):
            for t in range(3):
                score = twin_scores(twin_margins(voters, t, X[r]), n_classes)
                share = np.exp(score) / np.exp(score).sum()
                if says == "answer":
                    share = np.eye(n_classes)[score.argmax()]
                assert_allclose(votes[r, t], share @ voters.value, atol=1e-12)


def test_the_probability_of_two_classes_is_logistic_in_the_margin():
    voters = machines(says="probability")
    X = table()
    p = (voters.votes(X)[:, 0, 0] + 1) / 2
    margin = np.array([twin_margins(voters, 0, x)[0] for x in X])
    assert_allclose(p, 1 / (1 + np.exp(-margin)), rtol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_and_smaller_tables_change_no_bit(n_classes, kernel, monkeypatch):
    voters = machines(n_classes, kernel, says="probability")
    X = table()
    votes = voters.votes(X)
    assert_array_equal(np.concatenate([voters.votes(x[None]) for x in X]), votes)
    assert_array_equal(voters.select(np.array([1, 4, 6])).votes(X[:, [1, 4, 6]]), votes)
    assert_array_equal(voters.select(np.array([0, 1, 4, 5, 6])).votes(X[:, [0, 1, 4, 5, 6]]), votes)
    for order in ([2, 0], [1], [1, 1, 2], []):
        some = voters.take(np.array(order, dtype=np.intp))
        assert_array_equal(some.votes(X), votes[:, order])
        assert_array_equal(some.usage().toarray(), voters.usage().toarray()[order])
    assert_array_equal(voters.take(np.array([1])).columns, [4])
    with monkeypatch.context() as patch:
        patch.setattr("psephos.vote.operations.machines._BLOCK", 1)
        assert_array_equal(voters.votes(X), votes)


def test_usage_and_rules():
    voters = machines()
    usage = voters.usage().toarray()
    assert_array_equal(usage, [[j in own for j in range(7)] for own in ([1, 4, 6], [4], [])])
    X = table()
    for t in range(3):
        other = np.where(usage[t], X, 50.0)
        assert_array_equal(voters.votes(other)[:, t], voters.votes(X)[:, t])
    rules = [voters.rule(t, NAMES, {}) for t in range(3)]
    assert "gamma 0.3" in rules[0]
    assert "5 of the training rows" in rules[0]
    assert "3 columns: c1, c4, c6" in rules[0]
    assert "1 columns: c4" in rules[1]
    assert "0 columns" in rules[2]
    assert "3 columns: c1, c4, c6" in machines(3, "linear").rule(0, NAMES, {})
    assert voters.sides(0) == []


def test_missing_values():
    X = table()
    X[3, 6] = X[5, 4] = np.nan
    with pytest.raises(PsephosError, match="row 3 of these lacks a value"):
        machines().votes(X)
    votes = machines(3, abstains=True).votes(X)
    full = machines(3).votes(np.nan_to_num(X))
    silent = np.zeros((40, 3), dtype=bool)
    silent[3, 0] = silent[5, :2] = True
    assert (votes[silent] == 0).all()
    assert_array_equal(votes[~silent], full[~silent])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_files(n_classes):
    voters, arrays = machines(n_classes, says="probability", abstains=True), {}
    again = decode(encode(voters, arrays, "v"), arrays)
    assert type(again) is KernelVoters
    assert_array_equal(again.votes(table()), voters.votes(table()))
    assert (again.kernel, again.says, again.abstains) == ("rbf", "probability", True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": np.array([4, 1, 6])},
        {"n_features": 6},
        {"ptr": np.array([0, 3, 4, 5])},
        {"ptr": np.array([0, 4, 3, 4])},
        {"ptr": np.array([0.0, 3, 4, 4])},
        {"ptr": np.array([0, 3, 4])},
        {"position": np.array([0, 1, 3, 1])},
        {"position": np.array([-1, 1, 2, 1])},
        {"position": np.array([0, 2, 1, 1])},
        {"centre": np.zeros(3)},
        {"inverse": np.full(4, np.inf)},
        {"rows": np.array([0, 5, 9, 11])},
        {"rows": np.array([1, 5, 9, 10])},
        {"support": np.zeros(18)},
        {"support": np.zeros(19, dtype=np.float32)},
        {"dual": np.zeros((2, 10))},
        {"dual": np.full((1, 10), np.nan)},
        {"dual": np.zeros(10)},
        {"intercept": np.zeros((2, 1))},
        {"gamma": np.array([1.0, 0.0, 1.0])},
        {"gamma": np.array([1.0, np.nan, 1.0])},
        {"value": np.eye(3)},
        {"value": np.zeros(2)},
        {"kernel": "cubic"},
        {"says": "value"},
    ],
)
def test_inconsistent_parts_are_refused(wrong):
    with pytest.raises(PsephosError, match="inconsistent part"):
        replace(machines(), **wrong)
