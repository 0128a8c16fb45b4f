"""What scikit-learn refuses, raised as an error of psephos that says what to do."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    MultiViewClassifier,
    NewtonBoostingClassifier,
    ProsetClassifier,
    PsephosError,
    PUClassifier,
    RandomForestClassifier,
    SamBAClassifier,
    SoftTreeClassifier,
    SparseWrapperClassifier,
    StackingClassifier,
    VotingClassifier,
    check_table,
    compare,
    load,
    twice_learn,
)
from psephos.protocol.tables.table import table_from_arrays
from psephos.testing import small_table

X, _ = small_table()
X[np.abs(X) < 0.6] = 0.0
Y = (X[:, 0] + X[:, 4] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
TREE = CARTClassifier(n_folds=0)
FOREST = RandomForestClassifier(3, random_state=0)
COMMITTEES = [
    VotingClassifier([("a", TREE), ("b", C45Classifier())]),
    StackingClassifier([("a", TREE), ("b", C45Classifier())], cv=2, random_state=0),
    BaggingClassifier(TREE, 2, random_state=0), MultiViewClassifier(estimator=TREE),
]  # fmt: skip
MODELS = [
    TREE, FOREST, AdaBoostClassifier(n_estimators=3), SamBAClassifier(n_estimators=3),
    NewtonBoostingClassifier(n_estimators=2), ProsetClassifier(n_batches=1, random_state=0),
    SparseWrapperClassifier(p_max=2, m=5, random_state=0), CARTRegressor(n_folds=0), *COMMITTEES,
]  # fmt: skip
NAMED = {"ids": lambda model: type(model).__name__}


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize("made", MODELS, **NAMED)
@pytest.mark.parametrize("form", [sp.dok_array, sp.dok_matrix])
def test_dok_tables_are_read_as_csr(made, form):
    expected = made.fit(sp.csr_array(X), Y).predict(sp.csr_array(X))
    model = made.fit(form(X), Y)
    assert_array_equal(model.predict(form(X)), expected)
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("made", [TREE, FOREST, *COMMITTEES], **NAMED)
@pytest.mark.parametrize("wrap", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_that_do_not_fit_are_refused(made, wrap):
    model = made.fit(wrap(FRAME), Y)
    with pytest.raises(PsephosError, match=r"unseen at fit time:\n- more|'more' .* not one"):
        model.predict(wrap(FRAME.drop(columns="c3").assign(more=1.0)))
    with pytest.raises(PsephosError, match="minimum of 1 is required"):
        model.predict(wrap(FRAME[:0]))
    if isinstance(made, MultiViewClassifier):  # its `predict` is of columns that are there
        assert_array_equal(model.predict(wrap(FRAME[FRAME.columns[::-1]])), model.predict(FRAME))
        return
    with pytest.raises(PsephosError, match=r"'c11' is at the position of 'c0'"):
        model.predict(wrap(FRAME[FRAME.columns[::-1]]))
    with pytest.raises(PsephosError, match=r"now missing:\n- c3\nAdd the missing columns"):
        model.predict(wrap(FRAME.drop(columns="c3")))


@pytest.mark.parametrize("made", [TREE, FOREST, *COMMITTEES], **NAMED)
def test_complex_numbers_no_rows_and_other_lengths_are_refused(made):
    for answer in (made.fit, lambda X, y: made.fit(FRAME, Y).predict(X)):
        with pytest.raises(PsephosError, match=r"Complex data not supported.* as separate columns"):
            answer(X + 1j, Y)
    with pytest.raises(PsephosError, match="minimum of 1 is required"):
        made.fit(X[:0], Y[:0])
    for empty in (pd.DataFrame(index=range(60)), X[:, :0]):
        with pytest.raises(PsephosError, match=r"0 feature\(s\) .* a minimum of 1 is required"):
            made.fit(empty, Y)
    with pytest.raises(PsephosError, match="inconsistent numbers of samples"):
        made.fit(X, Y[:-1])
    with pytest.raises(PsephosError, match="requires y to be passed"):
        made.fit(X, None)


# ---------------------------------------------------------------------- labels
def test_measurements_are_no_classes():
    y = np.where(Y == 1, 0.5, 0.0)
    row = int(np.flatnonzero(Y)[0])
    with pytest.raises(PsephosError, match=f"Unknown label type: row {row} of y holds 0.5, .* cut"):
        TREE.fit(X, y)


NULLABLE = {
    "Int64": pd.Series(Y, dtype="Int64"), "array": pd.array(Y, dtype="Int8"),
    "UInt8": pd.Series(Y, dtype="UInt8"), "arrow": pd.Series(Y, dtype="int64[pyarrow]"),
    "polars": pl.Series(Y.tolist()), "frame": pd.DataFrame({"y": pd.Series(Y, dtype="Int64")}),
}  # fmt: skip


@pytest.mark.parametrize("kind", NULLABLE)
@pytest.mark.parametrize("made", [TREE, FOREST, PUClassifier(TREE)], **NAMED)
def test_nullable_whole_numbers_stay_whole(kind, made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = made.fit(X, NULLABLE[kind])
    assert model.classes_.dtype.kind in "iu"
    assert model.classes_.tolist() == [0, 1]
    if kind != "frame":
        assert 0 < model.score(X, NULLABLE[kind]) <= 1
    assert not any("0.0" in line for line in model.describe()[1:] if "then 0.0" in line)


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_nullable_truth_values_stay_so(dtype):
    y = pd.Series(Y == 1, dtype=dtype)
    model = TREE.fit(X, y)
    assert model.classes_.tolist() == [False, True]
    assert model.classes_.dtype == bool
    assert model.score(X, y) == model.score(X, Y == 1)
    with pytest.raises(PsephosError, match=r"row 4 has no label|NaN"):
        TREE.fit(X, y.where(np.arange(60) != 4))


def test_a_later_batch_of_nullable_labels():
    y = pd.Series(Y, dtype="Int64")
    normal = np.random.default_rng(0).standard_normal((60, 3))
    model = SoftTreeClassifier(1, random_state=0).partial_fit(normal, y).partial_fit(normal, y)
    assert model.classes_.dtype.kind == "i"


@pytest.mark.parametrize("weights", [{0: 1, 7: 3}, {"1": 2}, {1: 2, "0": 1}])
@pytest.mark.parametrize(
    "made", [TREE, FOREST, C45Classifier(), SoftTreeClassifier(1, random_state=0)], **NAMED
)
def test_class_weights_of_unknown_classes_are_refused(weights, made):
    model = type(made)(**made.get_params(deep=False) | {"class_weight": weights})
    with pytest.raises(PsephosError, match=r"class_weight names .* its labels are 0, 1\."):
        model.fit(X, Y)
    soft = np.column_stack([Y == 0, Y == 1]) * 1.0
    if isinstance(made, SoftTreeClassifier):
        with pytest.raises(PsephosError, match=r"class_weight names .* its labels are 0, 1\."):
            model.fit(X, soft)


RARE = np.r_[np.zeros(30), np.ones(30), [2]].astype(int)  # many bootstrap samples lack class 2
WEIGHTS = {0: 1, 1: 2, 2: 5}


def test_class_weights_may_name_a_class_that_a_fold_lacks():
    with pytest.warns(UserWarning, match=r"class_weight names 2, .* its labels are 0, 1\."):
        model = CARTClassifier(class_weight=WEIGHTS).fit(X[:60], RARE[:60])
    plain = CARTClassifier(class_weight={0: 1, 1: 2}).fit(X[:60], RARE[:60])
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    with pytest.warns(UserWarning, match="class_weight names 2"):
        ProsetClassifier(class_weight=WEIGHTS, random_state=0).partial_fit(
            X[:60], RARE[:60], classes=[0, 1]
        )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_class_weights_of_members_may_name_a_class_that_a_bootstrap_lacks(n_jobs):
    member = CARTClassifier(class_weight=WEIGHTS, n_folds=0)
    model = BaggingClassifier(member, 5, n_jobs=n_jobs, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(np.resize(X, (61, 12)), RARE)
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_the_committee_itself_asks_whether_labels_are_a_measurement(n_jobs):
    y = np.arange(90) % 30
    model = BaggingClassifier(CARTClassifier(n_folds=0), 2, n_jobs=n_jobs, random_state=0)
    table = np.resize(X, (90, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(table, np.array([f"c{label:02d}" for label in y]))
    with pytest.warns(UserWarning, match="y has 30 values in 90 rows: is it a mea") as caught:
        model.fit(table, y)
    assert len(caught) == 1


def test_class_weights_may_name_a_declared_class_without_rows():
    weights = {0: 1.0, 1: 2.0, 7: 3.0}
    model = C45Classifier(classes=[0, 1, 7], class_weight=weights).fit(X, Y)
    assert model.classes_.tolist() == [0, 1, 7]
    with pytest.raises(PsephosError, match="class_weight names 8"):
        C45Classifier(classes=[0, 1, 7], class_weight={8: 1.0}).fit(X, Y)


# ---------------------------------------------------------------------- what must be fitted first
@pytest.mark.parametrize("teacher", [RandomForestClassifier(3), LogisticRegression()], **NAMED)
def test_a_teacher_that_is_not_fitted(teacher):
    for learn in (
        lambda: twice_learn(CARTClassifier(n_folds=0), teacher, X),
        lambda: SoftTreeClassifier(1).distill(teacher, X),
    ):
        with pytest.raises(PsephosError, match="is not fitted: call its fit first") as caught:
            learn()
        assert isinstance(caught.value, NotFittedError)
    with pytest.raises(NotFittedError):
        CARTClassifier().predict(X)


# ---------------------------------------------------------------------- files
def test_load_names_what_it_was_given(tmp_path):
    with pytest.raises(PsephosError, match=r"none.psephos' does not exist: check") as caught:
        load(tmp_path / "none.psephos")
    assert isinstance(caught.value, FileNotFoundError)
    table = tmp_path / "t.csv"
    table.write_text("a,y\n1,0\n")
    with pytest.raises(PsephosError, match=r"t.csv is damaged or not a psephos model") as caught:
        load(table)
    assert "zip" not in str(caught.value)
    assert "psephos.read_table reads a table" in str(caught.value)
    for given in (3, None, "a\0b"):
        with pytest.raises(PsephosError, match="must be the path of a model file"):
            load(given)


def test_compare_reads_a_file_as_the_command_does(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.assign(site=np.where(X[:, 1] > 0, "a", "b"), who=np.arange(60) // 2, y=Y).to_csv(
        path, index=False
    )
    for given in (path, str(path)):
        with pytest.warns(UserWarning, match=r"1 column of one value, .*: 'c3'"):
            found = compare(given, "y", ["majority", "cart"], groups="who", random_state=3)
        assert {row["dataset"] for row in found.results} == {"t"}
    frame = pd.read_csv(path)
    same = compare(
        frame.drop(columns=["who", "y"]), frame["y"], ["majority", "cart"], groups=frame["who"],
        random_state=3, dataset="t",
    )  # fmt: skip
    accuracy = [row["balanced_accuracy"] for row in found.results]
    assert accuracy == [row["balanced_accuracy"] for row in same.results]
    with pytest.raises(PsephosError, match="has no column 'yy'"):
        compare(path, "yy")
    with pytest.raises(PsephosError, match="does not exist"):
        compare(tmp_path / "none.csv", "y")
    with pytest.raises(PsephosError, match="no target is given"):
        compare(path)
    with pytest.raises(PsephosError, match="y is the name of a column"):
        compare(path, Y)
    with pytest.raises(PsephosError, match="groups is the name of a column"):
        compare(path, "y", groups=frame["who"])
    with pytest.raises(PsephosError, match="leave column_names out"):
        compare(path, "y", column_names=["a"])


@pytest.mark.parametrize("given", ["t.csv", b"t.csv"])
def test_a_path_in_place_of_a_table(given):
    with pytest.raises(PsephosError, match=r"psephos.read_table reads a file"):
        TREE.fit(given, Y)
    with pytest.raises(PsephosError, match=r"psephos.read_table reads a file"):
        TREE.fit(X, Y).predict(given)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
def test_nullable_columns_of_pandas_stand_beside_words(dtype):
    flags = [None if i % 7 == 0 else i % 3 == 0 for i in range(len(Y))]
    words = np.where(np.arange(len(Y)) % 2, "p", "q")
    table = pd.DataFrame({"c": pd.array(flags, dtype=dtype), "w": words})
    held = table_from_arrays(table, Y)
    expected = [np.nan if flag is None else float(flag) for flag in flags]
    assert_array_equal(held.X[:, 0], expected)
    assert not check_table(table, Y)
