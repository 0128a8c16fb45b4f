"""Two columns decide, fifty are noise: SamBA finds them and only them; neighbours drown."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from psephos import SamBAClassifier
from psephos.datasets import make_spirals

pytestmark = pytest.mark.theory

SEEDS = (0, 1)
TABLES = {
    "moons": lambda seed: make_moons(1000, noise=0.1, random_state=seed),
    "spirals": lambda seed: make_spirals(1000, n_turns=1.25, random_state=seed),
    "long spirals": lambda seed: make_spirals(1000, random_state=seed),
}
NEIGHBOURS_AT_MOST = {"moons": 0.85, "spirals": 0.6, "long spirals": 0.6}


def parts(name, seed):
    X, y = TABLES[name](seed)
    noise = np.random.RandomState(10_000 + seed).normal(size=(len(X), 50))
    table = np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), noise])
    return train_test_split(table, y, test_size=0.2, stratify=y, random_state=seed)


def accuracy_and_columns(make, name):
    accuracy, columns = [], []
    for seed in SEEDS:
        X, Z, y, t = parts(name, seed)
        model = make().fit(X, y)
        accuracy.append(balanced_accuracy_score(t, model.predict(Z)))
        columns.append(list(getattr(model, "features_used_", [])))
    return np.mean(accuracy), columns


@pytest.mark.parametrize("name", ["moons", "spirals"])
def test_the_defaults_find_the_two_columns(name):
    accuracy, columns = accuracy_and_columns(SamBAClassifier, name)
    assert accuracy >= 0.98
    assert columns == [[0, 1]] * len(SEEDS)


def test_gini_finds_them_where_weighted_error_sees_next_to_nothing():
    accuracy, columns = accuracy_and_columns(
        lambda: SamBAClassifier(criterion="gini"), "long spirals"
    )
    assert accuracy >= 0.98
    assert columns == [[0, 1]] * len(SEEDS)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_neighbours_on_all_columns_drown_in_the_noise(name):
    accuracy, _ = accuracy_and_columns(KNeighborsClassifier, name)
    assert accuracy <= NEIGHBOURS_AT_MOST[name]
