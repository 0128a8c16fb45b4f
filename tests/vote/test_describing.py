"""Words of votes of many trees, and names in sentences."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from small_settings import small_settings

from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
)  # fmt: skip
from psephos.files.names import sentence_name
from psephos.testing import small_table


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


def _divided():
    """A table whose names, categories and classes hold what divides a sentence."""
    rng = np.random.default_rng(0)
    sites = pd.Categorical(rng.choice(["none, really", "pain", "out = in"], 160))
    X = pd.DataFrame({"a, b": rng.normal(size=160), "x > 2 and y": rng.normal(size=160),
                      "site": sites})  # fmt: skip
    far = X["a, b"] + (X["site"] == "none, really") + X["x > 2 and y"] > 0.7
    return X, np.where(far, "grade, C", np.where(X["a, b"] > 0, "pain and more", "well"))


@pytest.mark.parametrize("model", [
    C45RulesClassifier(), C45Classifier(), AdaBoostClassifier(n_estimators=5), SamBAClassifier(),
    CARTClassifier(max_depth=3), ProsetClassifier(), NewtonBoostingClassifier(n_estimators=2),
    SparseWrapperClassifier("lda", p_max=3, random_state=0),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_what_divides_a_sentence_stands_in_quotes_wherever_it_is_named(model):
    X, y = _divided()
    model = clone(model).fit(X, y)
    X.loc[1, "a, b"] = np.nan
    ballots = model.explain(X.head(3))
    reasons = ballots.columns()["reason"]
    assert any("'a, b'" in one for one in reasons)
    bare = re.compile(r"(?<!')(a, b|x > 2 and y|none, really|out = in|grade, C|pain and more)")
    for text in (str(model), str(ballots), *reasons):
        assert not bare.search(text), text
    told = {name for one in ballots.columns()["columns"] for name in one}
    assert told <= set(X.columns)  # cells stay as they are
    assert set(ballots.columns()["vote"]) <= {*y.tolist(), ""}


@pytest.mark.parametrize("name", ["a;b", "p<3", "{x}", "dose if any", "in", "", " x", "x ", "'x'"])
def test_a_name_stands_in_quotes_if_it_divides_a_sentence(name):
    assert sentence_name(name) == (f'"{name}"' if "'" in name else f"'{name}'")


@pytest.mark.parametrize("name", ["dose", "petal width (cm)", "android", "sand in".upper(), "A/B"])
def test_other_names_stand_as_they_are(name):
    assert sentence_name(name) == name


def test_columns_that_all_act_through_the_distance_are_named_once():
    X, y = _divided()
    model = ProsetClassifier().fit(X[["a, b", "x > 2 and y"]], y)
    head = model.describe()[0]
    assert head.count("'a, b'") == 1
    assert head.endswith("'x > 2 and y'; they act only through the distance between cases.")
