"""Ensemble selection: the greedy choice, step by step."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from psephos import CARTClassifier, EnsembleSelectionClassifier, EnsembleSelectionRegressor
from psephos.models.committees.ensemble_selection import _loss, greedy_counts

X, Y = load_breast_cancer(return_X_y=True)


def by_hand(said, y, n_steps, n_init):
    """Caruana et al. (2004), section 2: with replacement, sorted start, the best prefix."""

    def loss(picks):
        return ((said[:, picks, 0].mean(axis=1) - y) ** 2).mean()

    order = sorted(range(said.shape[1]), key=lambda t: loss([t]))
    picks = order[:n_init]
    found = [(loss(picks), len(picks))] if picks else []
    for _ in range(n_steps):
        picks = [*picks, min(range(said.shape[1]), key=lambda t: loss([*picks, t]))]
        found.append((loss(picks), len(picks)))
    return np.bincount(picks[: min(found)[1]], minlength=said.shape[1])


@pytest.mark.parametrize("n_init", [0, 1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_steps_are_those_by_hand(seed, n_init):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=50)
    said = y[:, None, None] + rng.normal(size=(50, 6, 1)) * rng.uniform(0.5, 2, (6, 1))
    share = np.full(50, 1 / 50)
    counts = greedy_counts(said, lambda m: ((m[:, :, 0] - y) ** 2) @ share, 12, n_init)
    assert_array_equal(counts, by_hand(said, y, 12, n_init))


def test_what_does_not_help_has_no_weight_and_reads_nothing():
    rng = np.random.default_rng(0)
    x = np.column_stack([X[:, 20:24], rng.normal(size=(len(X), 4))])
    library = [
        ("tree", CARTClassifier(max_depth=2, n_folds=0)),
        ("bayes", GaussianNB()),
        ("noise", KNeighborsClassifier(1)),
    ]
    model = EnsembleSelectionClassifier(library, bag_fraction=1.0, random_state=0).fit(x, Y)
    assert model.member_names_ == ("tree", "bayes", "noise")
    assert model.counts_[2] < 0.2 * model.counts_.sum()
    assert model.vote_.n_voters == np.count_nonzero(model.counts_)
    assert model.member_scores_.argmax() == 2
    again = EnsembleSelectionClassifier(library, bag_fraction=1.0, random_state=0, n_jobs=2)
    assert_array_equal(again.fit(x, Y).counts_, model.counts_)


def test_accuracy_and_numbers():
    accuracy = EnsembleSelectionClassifier(
        [("tree", CARTClassifier(max_depth=2, n_folds=0)), ("bayes", GaussianNB())],
        scoring="accuracy", random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert accuracy.score(X, Y) > 0.9
    rng = np.random.default_rng(1)
    y = X[:, 0] + rng.normal(size=len(X))
    from psephos import CARTRegressor

    library = [("deep", CARTRegressor(n_folds=0)), ("stump", CARTRegressor(max_depth=1, n_folds=0))]
    numbers = EnsembleSelectionRegressor(library, bag_fraction=1.0, random_state=0).fit(X, y)
    assert numbers.counts_.argmax() == 0


def test_bags_are_of_large_libraries():
    trees = [(f"t{d}", CARTClassifier(max_depth=1 + d % 3, n_folds=0, cp=0)) for d in range(12)]
    few = EnsembleSelectionClassifier(trees[:10], n_steps=3, n_init=1, random_state=0).fit(X, Y)
    assert 1 <= few.counts_.sum() <= 4  # one choice, from all
    many = EnsembleSelectionClassifier(trees, n_steps=3, n_bags=5, random_state=0).fit(X, Y)
    assert 5 <= many.counts_.sum() <= 20


@pytest.mark.parametrize("scoring", ["accuracy", "log_loss", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_of_equals_the_first_whatever_rounding_says(scoring, weighted):
    """Members that are right on as many rows, or are one another's copies with rows moved."""
    k = 1 if scoring == "squared_error" else 2
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 90))
        y = rng.integers(0, 2, n)
        data = SimpleNamespace(
            y=y, n_classes=0 if k == 1 else 2,
            weight=np.full(n, 0.1) * rng.integers(1, 3) if weighted else None,
        )  # fmt: skip
        wrong = np.zeros((n, 7), dtype=bool)
        for t in range(7):
            wrong[rng.permutation(n)[: n // 4], t] = True  # all err as often
        up = np.where(wrong, 1 - y[:, None], y[:, None]) * 0.8 + 0.1
        said = up[:, :, None] if k == 1 else np.stack([1 - up, up], axis=2)
        counts = greedy_counts(said, _loss(data, scoring), 0, 1)
        assert_array_equal(np.flatnonzero(counts), [0])
        copies = said[:, [0] * 5]  # no mean of these is better than one
        counts = greedy_counts(copies, _loss(data, scoring), 6, 1)
        assert_array_equal(counts, [1, 0, 0, 0, 0])


def test_an_answer_of_equals_is_the_first_class():
    data = SimpleNamespace(y=np.array([0]), n_classes=2, weight=None)
    mean = np.array([[[0.5, np.nextafter(0.5, 1.0)]]])  # a half each, but for rounding
    assert _loss(data, "accuracy")(mean)[0] == 0.0
    assert _loss(data, "accuracy")(mean[:, :, ::-1])[0] == 0.0
