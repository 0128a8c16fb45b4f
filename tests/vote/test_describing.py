"""Words of votes of many trees."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from psephos import RandomForestClassifier
from psephos.testing import small_settings, small_table


@pytest.mark.parametrize(("name", "n"), [("random-forest", 20), ("random-forest", 6)])
def test_a_forest_prints_five_trees_and_a_summary(name, n):
    forest = clone(small_settings()[name]).set_params(n_estimators=n).fit(*small_table(3))
    shown = [line for line in forest.describe() if line.startswith("Voter")]
    assert forest.vote_.n_voters == len(forest.vote_.alike()) == n
    if n == 6:  # a summary would save one line
        assert len(shown) == 6
        return
    assert len(shown) == 5
    last = forest.describe()[-1]
    assert last.startswith(f"{n - 5} voters more, in vote_.voters. Columns that most of the {n} ")
    counts = np.asarray(forest.vote_.usage().sum(axis=0)).ravel()
    named = re.findall(r"(column \d+) \((\d+)\)", last)
    top = np.argsort(-counts, kind="stable")[:5]
    assert named == [(f"column {j}", str(counts[j])) for j in top]


def test_names_with_commas_are_quoted_in_lists_of_columns():
    names = ["CD4+, naive", "X1; isoform 0", "age"]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=names)
    y = (X > 0).sum(axis=1) > 1
    head, *voters = RandomForestClassifier(3, random_state=0).fit(X, y).describe()
    assert head.endswith("read 3 of 3 columns: 'CD4+, naive', 'X1; isoform 0', age.")
    assert any("on 'CD4+, naive', 'X1; isoform 0', age" in voter for voter in voters)
