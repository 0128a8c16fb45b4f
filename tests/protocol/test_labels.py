"""Several labels a row: measures, folds, tables, comparisons, the command and the page."""

import contextlib
import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from psephos import MLKNeighborsClassifier, PsephosError, load, read_table
from psephos.protocol import (
    DataTable,
    MultilabelStratifiedKFold,
    Protocol,
    average_precision,
    compare,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
    table_from_arrays,
)
from psephos.protocol.evaluation.answers import label_figures
from psephos.protocol.evaluation.splits import _Assignment
from psephos.protocol.running.contenders import OneModelALabel
from psephos.report import build_report, summarise

RANKED = (one_error, coverage, ranking_loss, average_precision)
SMALL = Protocol("small", folds=2, inner_folds=2, draws=1)


def drawn(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0.8, X[:, 2] + X[:, 3] > 0]).astype(int)


def test_a_positive_class_is_for_one_label_a_row():
    with pytest.raises(
        PsephosError, match=r"is 'x': the target does not have one class per case: leave it out\.$"
    ):
        compare(*drawn(), ["ml-knn"], SMALL, positive="x")


# ------------------------------------------------------------------- measures
def by_hand(Y, score):
    """Return the four ranked measures, row by row as the source has them."""
    q, one, loss, precision, depth = Y.shape[1], [], [], [], []
    for y, r in zip(Y, score, strict=True):
        rank = np.empty(q)
        rank[np.argsort(r, kind="stable")] = np.arange(q, 0, -1)
        has = np.flatnonzero(y)
        depth.append(rank[has].max() - 1 if len(has) else 0)
        if 0 < len(has) < q:
            one.append(not y[r == r.max()].any())
            loss.append(np.mean(r[y == 1][:, None] <= r[y == 0][None]))
            precision.append(np.mean([(rank[has] <= rank[j]).sum() / rank[j] for j in has]))
    return [np.mean(part) if part else np.nan for part in (one, depth, loss, precision)]


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_measures_by_hand(seed, q, steps):
    """With ties, and rows of no and of all labels."""
    rng = np.random.default_rng(seed)
    Y, score = rng.integers(0, 2, (7, q)), rng.integers(0, steps + 1, (7, q)) / steps
    assert_allclose([m(Y, score) for m in RANKED], by_hand(Y, score), rtol=1e-12)
    assert_allclose(
        [m(csr_array(Y), score, sample_weight=np.full(7, 2.0)) for m in RANKED],
        by_hand(Y, score),
        rtol=1e-12,
    )


def test_measures_where_conventions_agree():
    """No ties, and each row has some labels: scikit-learn says the same."""
    rng = np.random.default_rng(1)
    Y, score = rng.integers(0, 2, (40, 5)), rng.random((40, 5))
    Y[:, 0], Y[:, 1] = 1, 0
    weight = rng.random(40)
    at = {"sample_weight": weight}
    assert_allclose(coverage(Y, score, **at), peer.coverage_error(Y, score, **at) - 1)
    assert_allclose(ranking_loss(Y, score, **at), peer.label_ranking_loss(Y, score, **at))
    assert_allclose(
        average_precision(Y, score, **at),
        peer.label_ranking_average_precision_score(Y, score, **at),
    )
    assert_allclose(hamming_loss(Y, score > 0.5, **at), peer.hamming_loss(Y, score > 0.5, **at))


@pytest.mark.parametrize(
    ("Y", "score", "words"),
    [
        ([[0, 2]], [[0.1, 0.2]], "y_true must be a table of 0 and 1"),
        ([[0, 1]], [[0.1, np.nan]], "not finite in row 0"),
        ([[0, 1]], [[0.1]], r"y_score has shape \(1, 1\), and y_true \(1, 2\)"),
    ],
)
def test_measures_refuse(Y, score, words):
    for measure in RANKED:
        with pytest.raises(PsephosError, match=words):
            measure(Y, score)


def test_measures_of_nothing():
    assert np.isnan(one_error([[0, 0], [1, 1]], [[0.1, 0.2], [0.1, 0.2]]))
    with pytest.raises(PsephosError, match="sample_weight has shape"):
        hamming_loss([[0, 1]], [[0, 1]], sample_weight=[1, 2])


def test_figures_of_labels():
    first, second = label_figures(
        np.array([[1, 0], [1, 0], [0, 0]]), np.array([[1, 0], [0, 0], [1, 0]])
    )
    assert first == {
        "rows": 2, "given": 2, "found": 1, "sensitivity": 0.5, "precision": 0.5, "f1": 0.5,
    }  # fmt: skip
    assert second["sensitivity"] is second["precision"] is second["f1"] is None


# ------------------------------------------------------------------- folds
def labelled(n=300, q=8, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, q)) < rng.uniform(0.02, 0.5, q)).astype(int)


@pytest.mark.parametrize("shuffle", [False, True])
def test_labels_are_shared_out(shuffle):
    Y = labelled()
    cut = MultilabelStratifiedKFold(5, shuffle=shuffle, random_state=0 if shuffle else None)
    folds = list(cut.split(Y, Y))
    assert cut.get_n_splits() == len(folds) == 5
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(300))
    for train, test in folds:
        assert_array_equal(np.sort(np.r_[train, test]), np.arange(300))
    counts = np.array([Y[test].sum(axis=0) for _, test in folds])
    assert np.abs(counts - Y.sum(axis=0) / 5).max() < 6
    # plain folds of drawn rows are further from even
    plain = np.random.default_rng(0).permutation(300).reshape(5, 60)
    spread = np.array([Y[rows].sum(axis=0) for rows in plain])
    assert counts.std(axis=0).sum() < spread.std(axis=0).sum() / 2


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_groups_stay_whole(seed, n_splits):
    rng = np.random.default_rng(seed)
    Y, groups = labelled(80, 4, seed), rng.integers(0, 12, 80)
    groups[:n_splits] = np.arange(n_splits)
    folds = list(
        MultilabelStratifiedKFold(n_splits, shuffle=True, random_state=seed).split(Y, Y, groups)
    )
    for train, test in folds:
        assert len(test)
        assert not set(groups[train].tolist()) & set(groups[test].tolist())


def test_a_fold_that_got_nothing_is_given_the_smallest_group():
    """Groups of 9, 3, 2 and 1 rows, all of the one label: three folds want nothing else."""
    groups = np.repeat(np.arange(4), [9, 3, 2, 1])
    fill = _Assignment(csc_array(np.zeros((4, 1))), np.array([9.0, 3, 2, 1]), 3, None)
    fill.fold = np.array([0, 0, 1, 0])
    fill._fill()
    assert fill.fold.tolist() == [0, 0, 1, 2]
    Y = np.zeros((15, 2), dtype=int)
    Y[:9, 0] = 1
    for _, test in MultilabelStratifiedKFold(4).split(Y, Y, groups):
        assert len(np.unique(groups[test])) == 1


def test_folds_by_seed_and_in_scikit_learn():
    X, Y = drawn()
    cut = MultilabelStratifiedKFold(3, shuffle=True, random_state=1)
    first, again = ([t.tolist() for _, t in cut.split(X, Y)] for _ in range(2))
    assert first == again
    assert first == [t.tolist() for _, t in cut.split(X, csr_array(Y))]
    other = MultilabelStratifiedKFold(3, shuffle=True, random_state=2)
    assert first != [t.tolist() for _, t in other.split(X, Y)]
    said = cross_val_predict(KNeighborsClassifier(3), X, Y, cv=cut)
    assert said.shape == Y.shape


@pytest.mark.parametrize(
    ("cut", "y", "words"),
    [
        (MultilabelStratifiedKFold(1), np.eye(3, dtype=int), "n_splits"),
        (MultilabelStratifiedKFold(4), np.eye(3, dtype=int), "3 rows for 4 folds"),
        (MultilabelStratifiedKFold(2), [0, 1, 1], "StratifiedKFold"),
        (MultilabelStratifiedKFold(2), [[0, 3], [1, 0]], "0 and 1"),
        (MultilabelStratifiedKFold(2, random_state=1), np.eye(3, dtype=int), "shuffle=True"),
    ],
)
def test_folds_refuse(cut, y, words):
    with pytest.raises(PsephosError, match=words):
        list(cut.split(np.zeros((len(y), 1)), y))


# ------------------------------------------------------------------- files
HEAD = """% a comment
@relation 'places: -C -2'
@ATTRIBUTE 'the age' NUMERIC
@attribute town {'New York', Bath, ?x}
@attribute flag {0,1}
@attribute sea {0,1}
@attribute "hill" {0,1}
@data
"""


def arff(path, rows, head=HEAD):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(head + rows)
    return path


@pytest.mark.parametrize("kind", [".arff", ".arff.gz"])
def test_arff(tmp_path, kind):
    rows = "40.5,'New York',1,1,0\n{0 2, 1 Bath, 3 1}\n% no row\n{4 1}\n?,Bath,?,1,1\n"
    table = read_table(arff(tmp_path / f"t{kind}", rows))
    assert table.names == ("the age", "town", "flag")
    assert table.labels == ("sea", "hill")
    assert table.target_name == "sea, hill"
    assert_array_equal(table.y, [[1, 0], [1, 0], [0, 1], [1, 1]])
    assert_array_equal(table.X[:, 0], [40.5, 2, 0, np.nan])
    assert table.categories == {1: ("Bath", "New York")}
    assert_array_equal(table.X[:, 1], [1, 0, 1, 0])  # left out: the first value declared
    assert_array_equal(table.X[:, 2], [1, 0, 0, np.nan])
    assert table.row_names() == ["row 9", "row 10", "row 12", "row 13"]
    named = read_table(tmp_path / f"t{kind}", target="town", missing=["?"])
    assert named.labels == ()
    assert named.y.tolist() == ["New York", "Bath", "New York", "Bath"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("1,Bath,1,1\n", "line 9 .* has 4 cells for 5 columns"),
        ("1,Rome,1,1,0\n", "line 9 .*'Rome' is not one of the values that the column 'town'"),
        ("{7 1}\n", "line 9 .*'7 1' must begin with an 'index value'"),
        ("{0 1, 0 2}\n", "line 9 .*'0 2' must begin with an 'index value'"),
        ("{0 1,2 1,3 '1 4 1}\n", "line 9 .*\"3 '1 4 1\" must begin with an 'index value'"),
        ("{0 1,3 ,4 1}\n", "line 9 .*'3 ,4 1' must begin with an 'index value'"),
        ("{0 1,3 1 4 1}\n", "line 9 .*'1 4 1' is not one of the values that the column 'sea'"),
        ("{0 1,}\n", "line 9 .*must begin with an 'index value'"),
        (f"{{{'9' * 5000} 1}}\n", "line 9 .*must begin with an 'index value'"),
        ("1,Bath,1,1,0,{5\n", "line 9 .* cells for 5 columns|is not one of the values"),
        ("1,'Bath,1,1,0\n", "line 9 .* cannot be divided into cells"),
        ("", "has no rows below @data"),
    ],
)
def test_arff_refuses(tmp_path, rows, words):
    with pytest.raises(PsephosError, match=words):
        read_table(arff(tmp_path / "t.arff", rows))


def test_arff_with_the_weights_that_weka_writes(tmp_path):
    head = (
        "@relation w\n@attribute 'it\\'s \\\"x\\\"' numeric {0.5}\n@attribute b real [0, 9]\n"
        "@attribute c {u,'v w'} {2}\n@attribute s {1}\n@data\n% a comment\n"
    )
    rows = ["1,2,u,1", "?,3,'v w',1, {2}", "{1 4, 2 'v w'}, {0.5}", "{0 7,1 ?}\t{3}", '5,6,"v w",1']
    table = read_table(arff(tmp_path / "t.arff", "\n".join(rows) + "\n", head), target="c")
    assert table.names == ('it\'s "x"', "b", "s")
    assert_array_equal(table.X[:, :2], [[1, 2], [np.nan, 3], [0, 4], [7, np.nan], [5, 6]])
    assert table.y.tolist() == ["u", "v w", "v w", "u", "v w"]
    assert [note for note in table.notes if "weights" in note] == [
        "weights of rows ({3} at most) are not used: every row counts once (in Python fit takes "
        "sample_weight)."
    ]
    equal = "1,2,u,1,{2}\n3,4,'v w',1,{2}\n"
    notes = read_table(arff(tmp_path / "t.arff", equal, head), target="c").notes
    assert notes == ("1 column of one value, without information: 's'.",)


def test_heads_of_arff(tmp_path):
    with pytest.raises(PsephosError, match="no @data"):
        read_table(arff(tmp_path / "t.arff", "", "@relation x\n"), target="a")
    with pytest.raises(PsephosError, match="got 'relational'"):
        read_table(arff(tmp_path / "t.arff", "", "@attribute a relational\n@data\n"), target="a")
    first = (
        "@relation 'x: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c real\n@data\n"
    )
    assert read_table(arff(tmp_path / "t.arff", "1,0,2\n0,1,3\n", first)).labels == ("a", "b")
    none = "@relation x\n@attribute a {0,1}\n@attribute None {None,NA}\n@data\n"
    table = read_table(arff(tmp_path / "t.arff", "1,None\n0,NA\n", none), target="a")
    assert table.categories == {0: ("NA", "None")}  # declared values are no missing ones
    with pytest.raises(PsephosError, match="no target is given"):
        read_table(tmp_path / "t.arff")
    with pytest.raises(PsephosError, match="leave --separator"):
        read_table(tmp_path / "t.arff", target="a", separator=";")


def test_weights_of_any_size_are_weights():
    truth, said = np.eye(3, dtype=int)[[0, 1, 2, 0]], np.eye(3)[[0, 2, 2, 1]]
    for measure in (hamming_loss, one_error, coverage, ranking_loss, average_precision):
        plain = measure(truth, said)
        for size in (1e308, 1e-308):
            assert_allclose(measure(truth, said, sample_weight=np.full(4, size)), plain)


def test_a_relation_of_too_many_labels_declares_none(tmp_path):
    head = f"@relation 'x: -C {'9' * 5000}'\n@attribute a {{0,1}}\n@attribute b real\n@data\n"
    with pytest.raises(PsephosError, match="no target is given"):
        read_table(arff(tmp_path / "t.arff", "1,0\n0,1\n", head))


def test_labels_of_npz_that_are_no_labels(tmp_path):
    Y = np.array([[0, 1], [1, 0], [1, 1]])
    np.savez(tmp_path / "y.npz", X=np.eye(3), Y=Y)
    with pytest.raises(PsephosError, match=r"no array 'red' .*; there are 'label 0', 'label 1'"):
        read_table(tmp_path / "y.npz", target="red")
    np.savez(tmp_path / "o.npz", X=np.eye(3), Y=Y.astype(object))
    with pytest.raises(PsephosError, match=r"'Y' of 'o\.npz' holds Python objects"):
        read_table(tmp_path / "o.npz")
    np.savez(tmp_path / "d.npz", X=np.eye(3), Y=Y[:, :, None])
    with pytest.raises(PsephosError, match=r"'Y' of 'd\.npz' must be a table .* shape \(3, 2, 1\)"):
        read_table(tmp_path / "d.npz")


def test_several_targets_in_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,l1,b,l2\n1,0,2,true\n2,1,3,False\n3,1,3,1\n")
    table = read_table(path, target=["l1", "l2"])
    assert table.names == ("a", "b")
    assert_array_equal(table.y, [[0, 1], [1, 0], [1, 1]])
    path.write_text("a,l1,l2\n1,0,1\n2,1,x\n")
    assert read_table(path, target=["l1"], drop=["l2"]).labels == ()
    with pytest.raises(PsephosError, match="label 'l2' is 'x' in line 3"):
        read_table(path, n_labels=2)
    with pytest.raises(PsephosError, match=r"--labels of 't\.csv' declares 3 columns as labels"):
        read_table(path, n_labels=3)
    with pytest.raises(PsephosError, match="--labels and --target both name"):
        read_table(path, target="l1", n_labels=2)
    with pytest.raises(PsephosError, match="no column 'l3'"):
        read_table(path, target=["l1", "l3"])
    with pytest.raises(PsephosError, match="both a label and left out"):
        read_table(path, target=["l1", "l2"], drop=["l2"])


def test_tables_of_labels_in_npz(tmp_path):
    X, Y = drawn(8)
    path = tmp_path / "t.npz"
    np.savez(path, X=X, Y=Y, label_names=["a", "b", "c"], extra=Y[:, 0], more=Y[:, 1])
    table = read_table(path)
    assert table.labels == ("a", "b", "c")
    assert table.target_name == "a, b, c"
    assert_array_equal(table.y, Y)
    assert read_table(path, target=["extra", "more"]).labels == ("extra", "more")
    with pytest.raises(PsephosError, match="the label 'column 2' is"):
        read_table(path, n_labels=2)  # the last columns of X
    assert read_table(path, target="a").names == table.names
    assert_array_equal(read_table(path, target="a").y, Y[:, 0])
    assert read_table(path, target="Y").labels == ("a", "b", "c")
    np.savez(path, X=X, Y=Y, label_names=["a"])
    with pytest.raises(PsephosError, match=r"'label_names' of 't\.npz' names 1 labels"):
        read_table(path)
    np.savez(path, X=X, Y=Y + 1)
    with pytest.raises(PsephosError, match="label 'label 0' is"):
        read_table(path)


def test_tables_from_arrays():
    X, Y = drawn(8)
    assert table_from_arrays(X, csr_array(Y)).labels == ("label 0", "label 1", "label 2")
    table = table_from_arrays(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    assert table.labels == ("a", "b", "c")
    assert table.fingerprint() != table_from_arrays(X, Y).fingerprint()
    with pytest.raises(PsephosError, match="all rows have the same labels"):
        table_from_arrays(X, np.ones((8, 2), dtype=int))
    with pytest.raises(PsephosError, match="names of labels"):
        DataTable(X=X, y=Y, names=tuple("abcd"), labels=("one", "two"))


# ------------------------------------------------------------------- comparisons
def test_one_model_a_label():
    X, Y = drawn()
    Y = np.column_stack([Y, np.ones(60, dtype=int), np.zeros(60, dtype=int)])
    for kind in (KNeighborsClassifier(3), MLKNeighborsClassifier(3)):
        model = OneModelALabel(kind).fit(X, Y)
        alone = [kind.fit(X, y).predict(X) for y in Y[:, :3].T]
        assert_array_equal(model.predict(X), np.column_stack([*alone, Y[:, 3], Y[:, 4]]))
        chances = model.predict_proba(X)
        assert chances.shape == (60, 5)
        assert_array_equal(chances[:, 3:], Y[:, 3:])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    X, Y = drawn()
    table = table_from_arrays(X, Y, groups=np.repeat(np.arange(30), 2))
    models = ["ml-knn", "majority", "sklearn-decision-tree", "sklearn-svm-rbf", "adaboost"]
    folder = tmp_path_factory.mktemp("labels") / "out"
    return table, compare(table, models=models, protocol=SMALL, n_jobs=1, out=folder)


def test_comparisons(study):
    table, found = study
    assert not found.failures
    assert len(found.results) == 10
    assert found.about["one_a_label"] == ["sklearn-svm-rbf", "adaboost"]
    with (found.out / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for result in found.results:
        own = [
            r for r in rows if r["model"] == result["model"] and r["fold"] == str(result["fold"])
        ]
        part = {
            key: np.array([[float(r[f"{key}_{label}"]) for label in table.labels] for r in own])
            for key in ("truth", "given", "p")
        }
        tested = [int(r["row"]) for r in own]
        assert_array_equal(part["truth"], table.y[tested])
        assert result["hamming_loss"] == hamming_loss(part["truth"], part["given"])
        for measure in RANKED:
            assert result[measure.__name__] == measure(part["truth"], part["p"])
        rest = np.setdiff1d(np.arange(60), tested)
        assert not set(table.groups[tested]) & set(table.groups[rest])
        if result["model"] == "majority":
            constant = table.y[rest].mean(axis=0)
            assert_allclose(part["p"], np.tile(constant, (len(own), 1)))
    worth = [r["average_precision"] for r in found.results if r["model"] == "majority"]
    assert_allclose(found.about["constant"], np.mean(worth))
    best = max(found.summary(), key=lambda one: one.score)
    assert best.score == best.measures["average_precision"].mean
    assert found.difference("adaboost", "majority").mean > 0
    assert set(found.models) == {"ml-knn"}
    assert found.models["ml-knn"].classes_.tolist() == list(table.labels)


def test_figures_of_a_comparison_label_by_label(study):
    _, found = study
    with (found.out / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.labels) == 5 * 3
    for row, one in zip(rows, found.labels, strict=True):
        assert row == {k: "" if v is None else str(v) for k, v in one.items()}


def test_the_page(study):
    table, found = study
    report = summarise(found.out)
    assert report["data_line"].startswith(
        "60 cases of 30 groups, 4 columns; 3 labels, of which a case may have"
    )
    assert [m["words"] for m in report["measures"]] == [
        "average precision", "Hamming loss", "one-error", "coverage", "ranking loss",
    ]  # fmt: skip
    assert "average precision is 0." in report["first"][0]
    assert any("one model per label was fitted" in words for words in report["methods"])
    tables = {one["key"]: one["rows"] for one in report["label_figures"]["models"]}
    assert "ml-knn" in tables
    for row, one in zip(tables["ml-knn"], found.labels, strict=False):
        assert row["counts"] == [str(one[key]) for key in ("rows", "given", "found")]
    model = found.models["ml-knn"]
    median = pd.DataFrame(np.median(table.X, axis=0)[None], columns=list(table.names))
    assert report["case"]["start"] == "the median of each column"
    assert report["case"]["answer"] == model.explain(median).answer(0)
    page = Path(build_report(found.out)).read_text("utf-8")
    assert "Label by label" in page
    assert "alanced accuracy" not in page.split("<main")[1].split("<script")[0]


def test_defaults_of_several_labels():
    X, Y = drawn(40)
    found = compare(X, Y, protocol=SMALL, n_jobs=1)
    assert "ml-knn" in found.about["models"]
    assert "samba" in found.about["not_asked"]
    assert found.about["one_a_label"] == []
    assert not found.failures


def test_shuffled_splits_and_rare_labels():
    X, Y = drawn(40)
    Y = np.column_stack([Y, np.arange(40) == 3])
    plan = Protocol("shuffled", outer="shuffle", folds=4, repeats=2, inner_folds=2, draws=2)
    models = ["ml-knn", "sklearn-l1-logistic"]
    found = compare(X, Y.astype(int), models, plan, n_jobs=1)
    assert not found.failures
    assert [r["n_test"] for r in found.results][:2] != [0, 0]
    with pytest.raises(PsephosError, match="too few for the 5 folds"):
        compare(X[:4], Y[:4].astype(int), models, n_jobs=1)


def test_where_no_model_beats_a_constant_answer(tmp_path):
    """Nothing is learned, nothing has a star, and that is what is said."""
    from psephos.cli.words import show_summary

    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((40, 4)), rng.integers(0, 2, (40, 3))
    found = compare(X, Y, ["ml-knn", "majority"], SMALL, n_jobs=1, out=tmp_path / "out")
    scores = {one.model: one.score for one in found.summary()}
    assert scores["ml-knn"] <= found.about["constant"]
    words = " ".join(summarise(tmp_path / "out")["first"])
    assert "It is not significantly better than a constant prediction" in words
    assert "from majority, the most accurate, on" in words
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show_summary(found)
    assert "*" not in out.getvalue()
    assert "columns, voters: means" in out.getvalue()


# ------------------------------------------------------------------- the command
def test_the_command(tmp_path, study):
    from click.testing import CliRunner

    from psephos.cli import main

    def call(*arguments):
        return CliRunner().invoke(main, [str(a) for a in arguments])

    X, Y = drawn(40)
    path, model = tmp_path / "t.csv", tmp_path / "m.psephos"
    lines = [",".join(map(str, [*x, *y])) for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,c,d,red,green,blue", *lines]) + "\n")
    targets = ["--target", "red", "--target", "green", "--target", "blue"]
    result = call("fit", path, *targets, "--model", "ml-knn", "--out", model)
    assert result.exit_code == 0, result.output
    assert load(model).classes_.tolist() == ["red", "green", "blue"]
    refused = call("fit", path, "--labels", 3, "--model", "samba", "--out", model)
    assert refused.exit_code == 2
    assert "samba predicts one class per case" in refused.output
    assert "use ml-knn" in refused.output
    answers = list(csv.DictReader(call("predict", model, path).stdout.splitlines()))
    named = pd.DataFrame(X, columns=list("abcd"))
    expected = load(model).predict(named)
    for row, said in zip(answers, expected, strict=True):
        assert [row[f"given_{one}"] for one in ("red", "green", "blue")] == said.astype(
            str
        ).tolist()
    ballots = list(csv.DictReader(call("explain", model, path).stdout.splitlines()))
    assert len(ballots) == 40 * 10
    near = load(model).kneighbors(named)[1]
    assert [int(b["voter"]) - 1 for b in ballots[:10]] == sorted(near[0].tolist())
    for ballot in ballots:
        row = int(ballot["voter"]) - 1
        signs = [float(ballot[f"contribution_{one}"]) > 0 for one in ("red", "green", "blue")]
        assert signs == Y[row].astype(bool).tolist()
    compared = call("compare", path, "--labels", 3, "--models", "ml-knn,adaboost", "--folds", 2,
                    "--protocol", "demo", "--out", tmp_path / "out", "--n-jobs", 1)  # fmt: skip
    assert compared.exit_code == 0, compared.output
    assert "average precision" in compared.output
    assert "adaboost: one model per label, which is not saved to a file." in compared.output


def test_labels_of_a_file_are_counted_without_its_ids_and_gaps_are_said_to_be_gaps(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{i % 2},{1 - i % 2},c{i}" for i in range(6)]
    path.write_text("\n".join(["x,a,b,id", *rows]))
    table = read_table(path, n_labels=2, id="id")
    assert table.labels == ("a", "b")
    assert table.names == ("x",)
    with pytest.raises(PsephosError, match="--target names 'a' twice"):
        read_table(path, target=("a", "a"), id="id")
    path.write_text("\n".join(["x,a,b,id", *rows, "6,,1,c6"]))
    with pytest.raises(PsephosError, match="the label 'a' is missing in line 8: write 0 or 1, or"):
        read_table(path, n_labels=2, id="id")
