"""The bound of a version space: by hand, by simulation, and what it refuses."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from psephos import PsephosError, VersionSpaceClassifier
from psephos.bounds import version_space_bound
from psephos.bounds.numerics import xi

EVERY = np.array(np.meshgrid(*[[0, 1, 2]] * 4)).reshape(4, -1).T


def fitted(X, y):
    return VersionSpaceClassifier(categorical_features=[0, 1, 2, 3]).fit(X, y)


def test_it_is_what_the_formula_says():
    rng = np.random.default_rng(0)
    X = rng.permutation(EVERY)[:60]
    y = (X[:, 0] == 1) & (X[:, 2] == 0)
    model = fitted(X, y)
    found = version_space_bound(model, X, y, delta=0.1)
    left = model.n_hypotheses_[0]
    most = (math.log((1 + 4**4) / left) + math.log(xi(60) / 0.1)) / 60
    gibbs = 1 - math.exp(-most)  # kl(0 || r) = -ln(1 - r)
    assert_allclose([found.parts["Gibbs error"], found.value], [gibbs, 2 * gibbs], atol=1e-9)
    single = found.parts["any hypothesis left, by itself"]
    assert_allclose(single, 1 - (0.1 / 257) ** (1 / 60), atol=1e-9)


def test_it_holds_as_often_as_it_says():
    rng = np.random.default_rng(1)
    failed = 0
    for _ in range(60):
        columns = rng.choice(4, rng.integers(1, 3), replace=False)
        truth = (EVERY[:, columns] == rng.integers(0, 3, len(columns))).all(axis=1)
        rows = rng.integers(0, len(EVERY), 40)
        X, y = EVERY[rows], truth[rows]
        if y.all() or not y.any():
            continue
        model = fitted(X, y)
        error = (model.predict(EVERY) != truth).mean()
        failed += error > version_space_bound(model, X, y, delta=0.2).value
    assert failed <= 20  # of 60 at delta = .2: beyond the 99.7 % point


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("numbers", "bins by the rows"),
        ("classes", "of two classes"),
        ("other rows", "all rows that the model was fitted on"),
        ("noise", "left out because no hypothesis agreed"),
    ],
)
@pytest.mark.filterwarnings("ignore::psephos.CollapseWarning")
def test_it_refuses(change, words):
    rng = np.random.default_rng(2)
    X = EVERY[rng.integers(0, len(EVERY), 50)]
    y = (X[:, 0] == 1).astype(int)
    model, rows = fitted(X, y), (X, y)
    if change == "numbers":
        model = VersionSpaceClassifier().fit(X.astype(float), y)
    elif change == "classes":
        rows = (X, X[:, 0])
        model = fitted(*rows)
    elif change == "other rows":
        rows = (X[:30], y[:30])
    else:
        twice = np.vstack([X, X[:1]])
        rows = (twice, np.append(y, 1 - y[0]))
        model = fitted(*rows)
    with pytest.raises(PsephosError, match=words):
        version_space_bound(model, *rows)
