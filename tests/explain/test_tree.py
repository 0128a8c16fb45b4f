"""A tree of a vote, found, read and drawn; strings of the data stay strings."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    PsephosError,
    RandomForestClassifier,
    SparseWrapperClassifier,
)
from psephos.estimator.input import Schema
from psephos.explain import TreeDisplay, export_text
from psephos.explain.tree import boxes_of
from psephos.testing import small_table
from psephos.vote import (
    Constant,
    ConstantVoters,
    Readout,
    RegressionTarget,
    Target,
    TreeVoters,
    Vote,
    branch_voters,
    join,
)

from ..trees.tree_twin import random_tree

HOSTILE = 'k__Bacteria;p__<b>"x"</text><script>alert(1)</script>&lt;\\N\x00'
NAMES = ["age", "dose", "site", "note", HOSTILE, "grade"]
LEVELS = {2: ("skin", "<i>lung</i>", "bone", "eye"), 5: ("low", "mid", "high")}


def grown(n_classes, n_splits=9, seed=0, **kind):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_splits, n_classes, **kind)
    tree.value[:] = rng.dirichlet(np.ones(n_classes), tree.n_nodes)
    return tree


def model_of(voters, target, link="share", score="normalised", columns=6):
    """What a fitted model shows of itself."""
    constant = Constant(columns, np.ones(voters.n_voters))
    vote = Vote(voters, constant, Readout(score, link), target)
    return SimpleNamespace(vote_=vote, schema_=Schema(columns, tuple(NAMES), LEVELS))


def branching(n_classes=3, labels=("no", "perhaps", "<yes>"), **kind):
    target = Target(np.array(labels[:n_classes]))
    return model_of(branch_voters([grown(n_classes, **kind)], 6, target.code), target)


def boosted(n_classes=2, prior=True):
    """A prior and two stumps, on margins."""
    k = 1 if n_classes == 2 else n_classes
    whole = np.array([0, -1, -1, 0, -1, -1], dtype=np.intp)
    value = np.zeros((6, k))
    value[[1, 2, 4, 5], 0] = [0.25, -0.5, 1.0, 2.0]
    trees = TreeVoters(
        6, np.array([1]), np.array([0, 3]), whole, np.full(6, 0.5), np.zeros(6, dtype=bool),
        np.array([1, -1, -1, 4, -1, -1]), np.array([2, -1, -1, 5, -1, -1]), value, False,
    )  # fmt: skip
    start = ConstantVoters(6, np.full((1, k), 0.1), "the prior")
    voters = join([(np.arange(1), start), (np.arange(1, 3), trees)]) if prior else trees
    return model_of(voters, Target(np.arange(n_classes)), "logistic", "sum")


# ---------------------------------------------------------------------- which tree
def test_the_first_tree_is_shown_unless_another_is_named():
    model = boosted()
    assert TreeDisplay.from_estimator(model).voter == 1
    shown = TreeDisplay.from_estimator(model, 2)
    assert shown.rules()["answer"] == ["+1", "+2"]
    with pytest.raises(PsephosError, match="voter must be a tree, such as voter 1; voter 0 is not"):
        TreeDisplay.from_estimator(model, 0)
    with pytest.raises(PsephosError, match="voter must be a number from 0 to 2; got 3"):
        TreeDisplay.from_estimator(model, 3)
    with pytest.raises(PsephosError, match="0 to 0, of voter 1; got 1"):
        TreeDisplay.from_estimator(model, 1, tree=1)


def test_a_vote_without_trees_is_said():
    X, y = small_table()
    with pytest.raises(PsephosError, match="must have a voter that is a tree"):
        TreeDisplay.from_estimator(AdaBoostClassifier(n_estimators=2).fit(X, y))


def test_trees_of_a_forest():
    X, y = small_table(3)
    model = SparseWrapperClassifier("forest", p_max=2, alpha=0.3, random_state=0).fit(X, y)
    one, two = (TreeDisplay.from_estimator(model, 0, tree=k) for k in range(2))
    assert one.text() != two.text()
    shares = np.array([one.rules()[f"share_{label}"] for label in model.classes_])
    assert_allclose(shares.sum(axis=0), 1.0)


# ---------------------------------------------------------------------- what nodes answer
def test_class_shares_are_those_of_the_leaves():
    model = branching()
    shown, tree = TreeDisplay.from_estimator(model), grown(3)
    table = shown.rules()
    classes = model.vote_.target.classes.tolist()
    shares = np.stack([table[f"share_{name}"] for name in classes], axis=1)
    assert_array_equal(shares, tree.value[table["node"]])
    assert table["answer"] == [classes[k] for k in shares.argmax(axis=1)]
    assert_allclose(table["weight"], tree.counts[table["node"]].sum(axis=1))


def test_votes_behind_a_share_link_are_shares_too():
    tree, target = grown(2), Target(np.array(["a", "b"]))
    said = tree.value @ target.code
    model = model_of(branch_voters([type(tree)(**{**vars(tree), "value": said})], 6), target)
    table = TreeDisplay.from_estimator(model).rules()
    assert_allclose(table["share_b"], tree.value[table["node"], 1])


def test_margins_are_numbers_and_codes_are_classes():
    assert TreeDisplay.from_estimator(boosted()).rules()["answer"] == ["+0.25", "-0.5"]
    three = TreeDisplay.from_estimator(boosted(3)).rules()
    assert three["answer"] == ["0 +0.25", "0 -0.5"]
    assert "weight" not in three
    X, y = small_table()
    voter = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = AdaBoostClassifier(voter, n_estimators=2).fit(X, y)
    table = TreeDisplay.from_estimator(model, 1).rules()
    assert set(table["answer"]) <= set(map(str, model.classes_))
    assert not any(key.startswith("share") for key in table)


def test_regression_trees_answer_with_numbers():
    tree = grown(1)
    tree.value[:] = np.arange(tree.n_nodes)[:, None] / 3
    model = model_of(branch_voters([tree], 6), RegressionTarget(), "identity", "sum")
    table = TreeDisplay.from_estimator(model).rules()
    assert_allclose([float(a) for a in table["answer"]], np.array(table["node"]) / 3, rtol=1e-4)


# ---------------------------------------------------------------------- tables and text
def test_the_table_has_a_row_a_node():
    shown = TreeDisplay.from_estimator(branching())
    table = shown.table()
    tree = shown.tree
    assert {len(column) for column in table.values()} == {tree.n_nodes}
    assert max(table["depth"]) == tree.depth
    for node, parent in enumerate(table["parent"]):
        assert parent < 0 or node in tree.children(parent)
    assert isinstance(shown.frame(), pd.DataFrame)
    assert shown.frame("polars").shape == (tree.n_nodes, len(table))
    inner = {"all", "none", *map(str, range(tree.n_nodes))}
    assert all(
        (m in inner) == bool(c) for m, c in zip(table["missing"], table["column"], strict=True)
    )


def test_frames_and_text_are_those_of_the_display():
    model = branching()
    shown = TreeDisplay.from_estimator(model)
    classes = model.vote_.target.classes.tolist()
    words = model.schema_.words().in_sentences()
    assert shown.text() == export_text(shown.tree, words.columns, words.levels, classes)
    assert len(shown.text(max_depth=1).splitlines()) == shown.tree.n_children[0]


@pytest.mark.parametrize(
    "model",
    [
        C45Classifier(),
        C45Classifier(release="c45"),
        CARTClassifier(random_state=0),
        RandomForestClassifier(2, max_depth=2, random_state=0),
        CARTRegressor(random_state=0),
    ],
)
def test_export_text_takes_a_fitted_model(model):
    X, y = small_table(0 if isinstance(model, CARTRegressor) else 2)
    model.fit(X, y)
    shown = TreeDisplay.from_estimator(model)
    assert export_text(model) == shown.text()
    assert len(shown.text().splitlines()) > 1
    assert export_text(model, max_depth=1) == shown.text(max_depth=1)
    named = export_text(model, [f"<{j}>" for j in range(X.shape[1])])
    assert named == re.sub("column ([0-9]+)", r"<\1>", shown.text())
    assert export_text(shown.tree) != ""


def test_export_text_says_what_it_takes():
    X, y = small_table(2)
    with pytest.raises(PsephosError, match="must have a voter that is a tree"):
        export_text(AdaBoostClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(NotFittedError, match="C45Classifier"):
        export_text(C45Classifier())
    with pytest.raises(PsephosError, match="must be given with a Tree only"):
        export_text(C45Classifier().fit(X, y), classes=["a", "b"])
    for wrong in (DecisionTreeClassifier().fit(X, y), "tree"):
        with pytest.raises(PsephosError, match=f"or a Tree; got {type(wrong).__name__}"):
            export_text(wrong)


def test_a_saved_tree_reads_the_same():
    model = branching(n_classes=2)
    moved = model.vote_.select(np.arange(6))
    again = SimpleNamespace(vote_=moved, schema_=model.schema_)
    assert TreeDisplay.from_estimator(again).text() == TreeDisplay.from_estimator(model).text()


# ---------------------------------------------------------------------- pictures
@pytest.mark.parametrize("seed", range(5))
def test_boxes_stand_apart_and_under_their_parents(seed):
    shown = TreeDisplay.from_estimator(branching(n_splits=14, seed=seed))
    boxes = boxes_of(shown)
    at = {box.node: box for box in boxes}
    assert sorted(at) == list(range(shown.tree.n_nodes))
    assert sorted(box.x for box in boxes if box.leaf) == list(range(shown.tree.n_leaves))
    for box in boxes:
        assert box.parent < 0 or at[box.parent].level == box.level - 1
    for level in {box.level for box in boxes}:
        across = [box.x for box in boxes if box.level == level]
        assert across == sorted(across)
        assert min(np.diff(across), default=1) >= 1
    few = boxes_of(shown, max_depth=2)
    assert max(box.level for box in few) == 2
    assert {box.node for box in few} == {b.node for b in boxes if b.level <= 2}


def test_the_plot_has_a_box_a_node():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    shown = TreeDisplay.from_estimator(branching())
    axes = shown.plot()
    n = shown.tree.n_nodes
    assert len(axes.texts) == n + (n - 1)
    assert len(axes.lines) == n - 1
    assert shown.plot(axes, max_depth=0) is axes
    axes.figure.canvas.draw()
    plt.close("all")


def test_a_tree_that_is_one_leaf_is_drawn():
    shown = TreeDisplay.from_estimator(branching(n_splits=0))
    assert len(shown.text().splitlines()) == 1
    assert shown.rules()["rule"] == ["always"]
