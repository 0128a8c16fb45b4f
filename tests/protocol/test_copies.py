"""Rows that are copies of each other stay in one fold, with a warning that names them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from psephos._errors import PsephosError
from psephos.protocol import DataTable, Protocol, compare
from psephos.protocol.evaluation.splits import inner_splits, outer_splits
from psephos.protocol.tables.copies import copies_of

SMALL = Protocol(folds=4, inner_folds=2, draws=1)


def noise(n=20, times=4, p=12, ids=None):
    rng = np.random.default_rng(3)
    X = np.tile(rng.normal(size=(n, p)), (times, 1))
    y = np.tile(np.where(np.arange(n) % 2, "ill", "well"), times)
    return DataTable(X, y, tuple(f"m{j}" for j in range(p)), ids=ids)


def test_copies_of_noise_are_not_learned_by_heart():
    """Twenty rows of noise, each four times, gave AdaBoost a balanced accuracy of 1."""
    with pytest.warns(UserWarning, match="80 rows are copies of each other"):
        together = compare(noise(), models=["adaboost"], protocol=SMALL, n_jobs=1)
    with pytest.warns(UserWarning, match="treated as independent repeats"):
        apart = compare(
            noise(), models=["adaboost"], protocol=SMALL, n_jobs=1, copies="apart", accept=["FD020"]
        )
    assert apart.summary()[0].score == 1.0
    assert together.summary()[0].score < 0.75
    assert together.about["copies"] == {
        "rows": 80,
        "different": 20,
        "named": [f"row {i}" for i in range(5)],
        "treated": "together",
    }
    assert together.about["groups"] is None


def test_the_warning_counts_them_names_five_and_says_what_to_do():
    ids = np.array([f"case {i}" for i in range(80)])
    with pytest.warns(UserWarning, match="20 distinct rows") as caught:
        compare(noise(ids=ids), models=["majority"], protocol=SMALL, n_jobs=1)
    words = str(caught[0].message)
    assert "case 0, case 1, case 2, case 3, case 4, ..." in words
    assert "--copies apart" in words
    assert "counted from 0" not in words


def test_copies_are_on_one_side_of_every_split_with_their_group():
    table = noise()
    groups = np.array([f"g{i // 2}" for i in range(80)])  # pairs of rows: ties between copies
    for own in (table, replace(table, groups=groups, group_name="who")):
        found = copies_of(own)
        together = found.together(own)
        for train, test in outer_splits(together, SMALL, 0):
            assert not set(found.labels[train]) & set(found.labels[test])
            if own.groups is not None:
                assert not set(groups[train]) & set(groups[test])
            for a, b in inner_splits(together.codes[train], together.groups[train], 2, 1):
                assert not set(found.labels[train][a]) & set(found.labels[train][b])


def test_a_row_number_does_not_hide_copies():
    table = noise()
    numbered = DataTable(
        np.column_stack([table.X, np.arange(80)]), table.y, (*table.names, "number")
    )
    assert len(copies_of(numbered).rows) == 80


def changed(X):
    table = noise()
    return DataTable(X, table.y[: len(X)], tuple(f"m{j}" for j in range(X.shape[1])))


@pytest.mark.parametrize(
    "X",
    [
        noise(times=1).X,
        noise().X[:, :9],
        np.round(noise().X),
        np.column_stack([noise(p=9).X, np.full(80, 0.5)]),
        noise().X + np.random.default_rng(0).normal(scale=1e-9, size=(80, 12)),
    ],
    ids=["none", "nine columns", "no fraction", "nine that vary", "nearly"],
)
def test_what_agrees_by_chance_is_no_copy(X):
    assert copies_of(changed(X)) is None


def test_missing_values_and_zeros_of_either_sign_are_the_same_value():
    X = noise().X
    X[:, 0], X[::20, 1] = 0.0, np.nan
    X[40:, 0] = -0.0
    assert len(copies_of(changed(X)).rows) == 80


def test_what_cannot_be_divided_is_a_sentence():
    with pytest.raises(PsephosError, match=r"'copies' must be .*; got 'both'"):
        compare(noise(), models=["majority"], copies="both")
    with (
        pytest.raises(PsephosError, match=re.escape("--copies apart")),
        pytest.warns(UserWarning, match="copies"),
    ):
        compare(noise(n=2, times=40), models=["majority"], protocol=SMALL)
