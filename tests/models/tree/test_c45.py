"""C45Classifier: what the recipe adds to the tree."""

import json
import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from psephos import C45Classifier, C45RulesClassifier, PsephosError, load, save
from psephos._errors import UnknownLevelWarning
from psephos.modelfile import _canonical, _digest
from psephos.testing import small_table


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    kind, size = rng.choice(["a", "b", "c"], n), rng.standard_normal(n)
    y = np.where((kind == "a") | ((kind == "b") & (size > 0)), "yes", "no")
    return pd.DataFrame({"kind": pd.Categorical(kind), "size": size, "noise": rng.random(n)}), y


@pytest.mark.parametrize("release", ["j48", "c45"])
def test_categories_and_words(release):
    X, y = frame()
    model = C45Classifier(release=release).fit(X, y)
    assert model.score(X, y) == 1.0
    assert_array_equal(model.features_used_, ["kind", "size"])
    lines = model.export_text().splitlines()
    assert lines[0].startswith("kind = a: yes (")
    assert lines[1] == "kind = b"
    assert lines[2].startswith("|   size <= -0.1")
    assert model.get_n_leaves() == 4
    assert model.get_depth() == 2
    assert model.describe()[1].startswith("kind in {a}: yes")


def test_missing_values_are_spread():
    X, y = frame()
    model = C45Classifier().fit(X, y)
    case = X.iloc[:1].copy()
    case["kind"] = pd.Categorical([None], categories=["a", "b", "c"])
    shares = model.tree_.share[model.tree_.children(0)]
    each = []
    for word in "abc":
        case["kind"] = pd.Categorical([word], categories=["a", "b", "c"])
        each.append(model.predict_proba(case)[0])
    case["kind"] = pd.Categorical([None], categories=["a", "b", "c"])
    assert_allclose(model.predict_proba(case)[0], shares @ each)
    case["kind"] = pd.Categorical(["new"])
    with pytest.warns(UnknownLevelWarning):
        assert_allclose(model.predict_proba(case)[0], shares @ each)


def test_probabilities_are_the_leaves():
    X, y = load_iris(return_X_y=True)
    model = C45Classifier().fit(X, y)
    assert_allclose(
        np.unique(model.predict_proba(X)[:, 1].round(6)), [0, 0.021739, 2 / 3, 47 / 48], atol=1e-6
    )


def test_options_change_the_tree():
    X, y = small_table(3, missing=0.1)
    leaves = {
        name: C45Classifier(**{name: value}).fit(X, y).get_n_leaves()
        for name, value in [("pruning", None), ("confidence", 0.01), ("min_samples_leaf", 15)]
    }
    assert leaves["pruning"] > C45Classifier().fit(X, y).get_n_leaves()
    assert leaves["pruning"] > leaves["min_samples_leaf"]
    assert leaves["pruning"] > leaves["confidence"]


def test_class_weight_moves_the_answers():
    X, y = small_table()
    rare = C45Classifier(class_weight={"egg": 1, "ham": 20}).fit(X, y)
    plain = C45Classifier().fit(X, y)
    assert (rare.predict(X) == "ham").mean() > (plain.predict(X) == "ham").mean()


def test_sparse_table_is_read_densely():
    X, y = small_table()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = C45Classifier().fit(X, y), C45Classifier().fit(csr_array(X), y)
    assert_array_equal(dense.tree_.threshold, sparse.tree_.threshold)
    assert_array_equal(dense.predict(X), sparse.predict(csr_array(X)))


def test_file_keeps_the_tree(tmp_path):
    X, y = frame()
    model = C45Classifier().fit(X, y)
    save(model, tmp_path / "tree.psephos")
    again = load(tmp_path / "tree.psephos")
    assert again.export_text() == model.export_text()
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def softened(model, width):
    """Return a fitted model with the soft thresholds that a file of an earlier version may have."""
    voters = model.vote_.voters
    at = voters.nodes.threshold
    nodes = replace(voters.nodes, lower=at - width, upper=at + 2 * width)
    model.vote_ = replace(model.vote_, voters=replace(voters, nodes=nodes))
    return model


@pytest.mark.parametrize("release", ["j48", "c45"])
def test_soft_thresholds_are_read(release, tmp_path):
    X, y = load_iris(return_X_y=True)
    hard = C45Classifier(release=release).fit(X, y)
    model = softened(C45Classifier(release=release).fit(X, y), 0.1)
    assert model.export_text().splitlines()[0].startswith("column 3 <= 0.6 [0.5, 0.8]")
    assert re.sub(r" \[[^]]*\]", "", model.export_text()) == hard.export_text()
    assert all("softly from" in rule for rule in model.rules_["rule"])
    between = X[:1].copy()
    between[0, 3] = 1.7
    cut = int(np.flatnonzero(model.tree_.threshold == 1.7)[0])
    assert model.tree_.softly(cut) is not None
    assert model.predict_proba(between)[0].max() < hard.predict_proba(between)[0].max()
    save(model, tmp_path / "tree.psephos")
    again = load(tmp_path / "tree.psephos")
    assert again.export_text() == model.export_text()
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(
        model.reduce().predict_proba(X[:, model.vote_.columns]), model.predict_proba(X)
    )
    assert model.score(X, y) > 0.9


def test_what_was_removed_is_an_unknown_parameter_and_no_hindrance_to_files(tmp_path):
    X, y = small_table()
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_windows'"):
        C45Classifier(n_windows=0)
    model = C45Classifier(0.5).fit(X, y)
    save(model, tmp_path / "tree.psephos")
    old = tmp_path / "old.psephos"
    with zipfile.ZipFile(tmp_path / "tree.psephos") as new, zipfile.ZipFile(old, "w") as file:
        for one in new.namelist():
            content = new.read(one)
            if one == "manifest.json":
                manifest = json.loads(content)
                manifest["params"] |= {"n_windows": 3, "laplace": True, "group_values": False}
                del manifest["checksum"]
                manifest["checksum"] = _digest(_canonical(manifest))
                content = json.dumps(manifest)
            file.writestr(one, content)
    again = load(old)
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_row_of_weight_zero_declares_no_category():
    X, y = frame()
    words = X.astype({"kind": object})
    words.loc[60], weight = ["z", 0.0, 0.0], np.r_[np.ones(60), 0.0]
    for release in ("j48", "c45"):
        model = C45Classifier(release=release, categorical_features=["kind"])
        plain = model.fit(words[:60], y).export_text()
        assert model.fit(words, np.r_[y, ["no"]], weight).export_text() == plain
        declared = words.astype({"kind": "category"})
        text = model.fit(declared, np.r_[y, ["no"]], weight).export_text()
        assert text.splitlines()[-1].startswith("kind = z: ")
        assert text.splitlines()[-1].endswith(" (0.0)")


def test_nothing_known_is_one_leaf():
    X, y = np.full((8, 2), np.nan), np.arange(8) % 2
    model = C45Classifier().fit(X, y)
    assert model.export_text() == "0 (8.0/4.0)"
    assert model.n_features_used_ == 0
    assert_allclose(model.predict_proba(X), 0.5)


def test_values_near_the_largest_number_are_cut():
    X = np.array([[-1.0e150]] * 2 + [[-0.9e150]] * 2 + [[-0.8e150]] * 2)
    y = [0, 0, 1, 1, 0, 0]
    X, y = np.repeat(X, 8, axis=0), np.repeat(y, 8)
    assert_array_equal(C45Classifier(min_samples_leaf=1).fit(X, y).predict(X), y)


def tied_table():
    """Four rows that no column tells apart, two of either class."""
    return np.zeros((4, 1)), np.array(["no", "no", "yes", "yes"])


@pytest.mark.parametrize("make", [C45Classifier, C45RulesClassifier])
def test_declared_classes_decide_ties_and_survive_the_file(make, tmp_path):
    X, y = tied_table()
    for classes in (["no", "yes", "maybe"], ["maybe", "yes", "no"]):
        model = make(classes=classes, random_state=0).fit(X, y)
        assert model.classes_.tolist() == classes
        assert model.predict_proba(X).shape == (4, 3)
        if make is C45Classifier:
            assert set(model.predict(X)) == {next(c for c in classes if c != "maybe")}
        save(model, tmp_path / "model.psephos")
        again = load(tmp_path / "model.psephos")
        assert again.get_params()["classes"] == classes
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.margins(X, y), model.margins(X, y))


def test_margins_of_declared_classes_are_those_of_sorted_ones():
    X = np.array([[0.0], [0], [1], [1], [2], [2]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    plain = C45Classifier(min_samples_leaf=1).fit(X, y)
    turned = C45Classifier(min_samples_leaf=1, classes=["c", "a", "b"]).fit(X, y)
    assert_array_equal(turned.predict(X), y)
    assert_allclose(turned.margins(X, y), plain.margins(X, y))


def test_an_undeclared_label_is_named():
    X, y = tied_table()
    with pytest.raises(PsephosError, match="'yes', which is not one of the declared classes"):
        C45Classifier(classes=["no", "maybe"]).fit(X, y)
    for wrong in ("no yes", ["no", "no"], ["no"], ["no", 1], [["no"], ["yes"]]):
        with pytest.raises(PsephosError, match="parameter 'classes'"):
            C45Classifier(classes=wrong).fit(X, y)


@pytest.mark.parametrize("change", [{}, {"release": "c45"}])
def test_a_class_of_no_row_changes_no_answer(change):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(80), [-0.5, 0.5])
    plain = C45Classifier(**change).fit(X, y)
    more = C45Classifier(classes=[0, 1, 2, 7], **change).fit(X, y)
    assert_allclose(more.predict_proba(X)[:, :3], plain.predict_proba(X), atol=1e-12)
    assert (more.predict_proba(X)[:, 3] < 1e-12).all()
