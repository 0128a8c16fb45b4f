"""What may come in: frames, categories, sparse tables, labels, weights."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from psephos import (
    AdaBoostClassifier,
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    NewtonBoostingClassifier,
    ProsetClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    SparseWrapperClassifier,
    SparseWrapperRegressor,
    UnknownLevelWarning,
    load,
    save,
)
from psephos.testing import small_table

#: Small tables whose columns count the rows: what cautions are for, and not these tests.
pytestmark = pytest.mark.filterwarnings("ignore:FD004:psephos.TableWarning")


def mixed(n=60, seed=0):
    """Columns of every kind, and labels that hang on each."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["red", "blue", "green", "grey"], n).astype(object)
    size = rng.choice([10, 20, 30], n)
    flag = rng.random(n) < 0.5
    number = rng.standard_normal(n)
    y = np.where((color == "red") | ((size == 20) & flag) | (number > 1.0), "yes", "no")
    color[rng.random(n) < 0.1] = None
    number[rng.random(n) < 0.1] = np.nan
    return color, size, flag, number, y


def pandas_frame(kind="category"):
    color, size, flag, number, y = mixed()
    return pd.DataFrame({
        "color": pd.Series(color).astype(kind), "size": pd.Series(size).astype("category"),
        "flag": flag, "number": number, "whole": pd.array(np.arange(60), dtype="Int64"),
    }), y  # fmt: skip


def polars_frame():
    color, size, flag, number, y = mixed()
    return pl.DataFrame({
        "color": pl.Series(color.tolist(), dtype=pl.Categorical),
        "size": pl.Series([str(s) for s in size], dtype=pl.Enum(["10", "20", "30"])),
        "flag": flag.tolist(), "number": [None if np.isnan(x) else x for x in number],
        "whole": list(range(60)),
    }), y  # fmt: skip


def model(**params):
    return SamBAClassifier(n_estimators=8, **params)


# ---------------------------------------------------------------------- frames and categories
def test_pandas_and_polars_give_the_same_vote():
    frame, y = pandas_frame()
    other, _ = polars_frame()
    one, two = model().fit(frame, y), model().fit(other, y)
    assert one.schema_.levels == {0: ("blue", "green", "grey", "red"), 1: (10, 20, 30)}
    assert two.schema_.levels == {0: ("blue", "green", "grey", "red"), 1: ("10", "20", "30")}
    assert one.schema_.names == two.schema_.names == tuple(frame.columns)
    assert_array_equal(one.decision_function(frame), two.decision_function(other))
    assert one.describe() == two.describe()
    assert set(one.features_used_) <= set(frame.columns)
    assert "color" in one.features_used_


@pytest.mark.parametrize(
    "given",
    [
        [0, 1], ["color", "size"], ("size", "color"), np.array([True, True, False, False, False]),
        np.array(["color", "size"], dtype=object), np.array([1, 0]), pd.Index(["color", "size"]),
        [True, True, False, False, False],
    ],
)  # fmt: skip
def test_categorical_features_may_be_named_three_ways(given):
    frame, y = pandas_frame()
    plain = frame.assign(color=frame["color"].astype(object), size=frame["size"].astype(int))
    expected = model().fit(frame, y)
    fitted = model(categorical_features=given).fit(plain, y)
    assert fitted.schema_.levels == expected.schema_.levels
    assert_array_equal(fitted.decision_function(plain), expected.decision_function(frame))
    reduced = fitted.reduce()
    used = list(fitted.features_used_)
    assert_array_equal(reduced.decision_function(plain[used]), fitted.decision_function(plain))
    refitted = model(**{"categorical_features": reduced.categorical_features})
    assert refitted.fit(plain[used], y).schema_.levels == reduced.schema_.levels


def test_categories_of_numbers_may_come_as_numbers():
    frame, y = pandas_frame()
    fitted = model().fit(frame, y)
    for kind in (int, float, "Int64", object):
        plain = frame.assign(size=frame["size"].astype(kind))
        assert_array_equal(fitted.decision_function(plain), fitted.decision_function(frame))


WORDS = ["red", "none", "green", "blue", "grey", "black"]


def declaring(kind):
    """Return a frame whose color declares WORDS, of which two do not occur."""
    color, _, _, number, y = mixed()
    if kind == "polars":
        column = pl.Series(color.tolist(), dtype=pl.Enum(WORDS))
        return pl.DataFrame({"color": column, "number": number}, nan_to_null=True), y
    if kind in ("arrow", "arrow in pandas"):
        codes = [None if c is None else WORDS.index(c) for c in color]
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), WORDS)
        parts = pa.chunked_array([column[:7], column[7:]])
        if kind == "arrow in pandas":
            parts = pd.arrays.ArrowExtensionArray(parts)
            return pd.DataFrame({"color": parts, "number": number}), y
        return pa.table({"color": parts, "number": pa.array(number, from_pandas=True)}), y
    column = pd.Categorical(color, categories=WORDS, ordered=kind == "ordered")
    return pd.DataFrame({"color": column, "number": number}), y


@pytest.mark.parametrize("kind", ["pandas", "ordered", "polars", "arrow", "arrow in pandas"])
@pytest.mark.parametrize("given", ["from_dtype", ["color"]])
def test_declared_categories_are_kept_in_their_order(kind, given):
    frame, y = declaring(kind)
    fitted = C45Classifier(categorical_features=given).fit(frame, y)
    assert fitted.schema_.levels == {0: tuple(WORDS)}
    lines = fitted.export_text().splitlines()
    starts = [line.split(" = ")[1].split(":")[0] for line in lines if line.startswith("color")]
    assert starts == WORDS
    assert "color = black: no (0.0)" in lines
    reference, _ = declaring("pandas")
    expected = C45Classifier().fit(reference, y).predict_proba(reference)
    assert_array_equal(fitted.predict_proba(frame), expected)


def test_what_does_not_declare_is_sorted():
    color, _, _, number, y = mixed()
    pl.Series(["zebra", "red", "ant"], dtype=pl.Categorical)  # shares its list with the next
    pool = pl.DataFrame({"color": pl.Series(color.tolist(), dtype=pl.Categorical), "x": number})
    assert model().fit(pool, y).schema_.levels == {0: ("blue", "green", "grey", "red")}


def test_dictionaries_too_large_to_be_joined():
    words = [[f"{part}{i}" for i in range(100)] for part in "ab"]
    codes = pa.array(range(100), pa.int8())  # names 127 at most
    parts = [pa.DictionaryArray.from_arrays(codes, some) for some in words]
    column = pd.arrays.ArrowExtensionArray(pa.chunked_array(parts))
    fitted = model(categorical_features=["word"])
    fitted.fit(pd.DataFrame({"word": column}), np.arange(200) % 3 > 1)
    assert fitted.schema_.levels == {0: (*words[0], *words[1])}


@pytest.mark.parametrize(
    "make",
    [
        model, lambda: AdaBoostClassifier(n_estimators=4), lambda: CARTClassifier(n_folds=0),
        lambda: C45Classifier(), lambda: NewtonBoostingClassifier(n_estimators=3),
        lambda: ProsetClassifier(n_batches=1, random_state=0),
        lambda: SparseWrapperClassifier(p_max=2, m=4, random_state=0),
    ],
)  # fmt: skip
def test_categories_without_rows_do_no_harm(make):
    """More declared than there are, in the order of those that occur: the same answers."""
    color, *_, y = mixed()
    answers = []
    for words in (["blue", "green", "grey", "red"], ["ant", "blue", "g", "green", "grey", "red"]):
        frame = pd.DataFrame({"color": pd.Categorical(color, categories=words)})
        answers.append(make().fit(frame, y).predict_proba(frame))
    assert_array_equal(*answers)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "never seen", 7])
def test_unseen_and_missing_categories_are_one(missing):
    frame, y = pandas_frame(object)
    fitted = model(categorical_features=["color", "size"]).fit(frame, y)
    assert fitted.schema_.levels[0] == ("blue", "green", "grey", "red")
    new, nothing = frame.copy(), frame.copy()
    new["color"] = pd.Series([missing] * 60, dtype=object)
    nothing["color"] = pd.Series([None] * 60, dtype=object)
    told = pytest.warns(UnknownLevelWarning, match="'color': 60 of 60 values")
    with told if isinstance(missing, str | int) else nullcontext():
        answers = fitted.decision_function(new)
    assert_array_equal(answers, fitted.decision_function(nothing))


def test_booleans_may_be_categories_or_numbers():
    frame, y = pandas_frame()
    holes = frame.assign(flag=pd.array([None, *frame["flag"][1:]], dtype="boolean"))
    number, category = model().fit(holes, y), model(categorical_features=["flag"])
    category.fit(holes.drop(columns=["color", "size"]), y)
    assert category.schema_.levels == {0: (False, True)}
    assert number.decision_function(holes).shape == (60,)
    polars = pl.DataFrame({"flag": [None, True, False] * 20, "x": [1, None, 3] * 20})
    AdaBoostClassifier(n_estimators=2).fit(polars, y)


def test_missing_in_numeric_frames():
    X, y = small_table(missing=0.2)
    expected = model().fit(X, y).decision_function(X)
    names = [f"c{j}" for j in range(X.shape[1])]
    for frame in (
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X, columns=names).astype("Float64"),
        pd.DataFrame(X, columns=names).astype(object).where(~np.isnan(X), None),
        pl.DataFrame(X, schema=names).fill_nan(None),
    ):
        assert_array_equal(model().fit(frame, y).decision_function(frame), expected)


def test_columns_of_a_frame_must_come_in_order():
    frame, y = pandas_frame()
    fitted = model().fit(frame, y)
    with pytest.raises(ValueError, match="same order as they were in fit"):
        fitted.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="yet now missing:\n- size"):
        fitted.predict(frame.drop(columns="size"))
    with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
        fitted.predict(frame.assign(more=1))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(frame.to_numpy(dtype=object))


@pytest.mark.parametrize("when", ["fit", "predict"])
def test_repeated_names(when):
    X, y = small_table()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    twice = frame.rename(columns={"c4": "c1"})
    with pytest.raises(PsephosError, match="two columns are named 'c1'"):
        model().fit(twice, y) if when == "fit" else model().fit(frame, y).predict(twice)


def test_row_names_of_a_frame_name_the_cases():
    X, y = small_table()
    frame = pd.DataFrame(X, index=[f"patient {i}" for i in range(60)])
    fitted = model().fit(frame, y)
    table = fitted.explain(frame[:2]).columns()
    assert set(table["case"]) == {"patient 0", "patient 1"}
    assert all(case[0].startswith("patient ") for case in table["nearest"][0])
    plain = model().fit(X, y)
    assert set(plain.explain(X[:2]).columns()["case"]) == {0, 1}


# ---------------------------------------------------------------------- arrays
def test_object_arrays_hold_numbers_or_categories():
    X, y = small_table()
    expected = model().fit(X, y).decision_function(X)
    assert_array_equal(model().fit(X.astype(object), y).decision_function(X), expected)
    assert_array_equal(model().fit(X.tolist(), y).decision_function(X.tolist()), expected)
    color, _, _, number, y = mixed()
    table = np.column_stack([color, number.astype(object)])
    fitted = model(categorical_features=[0]).fit(table, y)
    assert fitted.schema_.levels[0] == ("blue", "green", "grey", "red")


def test_float32_is_kept_and_answers_alike():
    X, y = small_table()
    single = X.astype(np.float32)
    one, two = model().fit(single, y), model().fit(single.astype(float), y)
    assert_array_equal(one.decision_function(single), two.decision_function(single.astype(float)))
    assert one.decision_function(single).dtype == np.float64


@pytest.mark.parametrize("as_table", [lambda X: X, pd.DataFrame, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_named(as_table, bad):
    X, y = small_table()
    fitted = model().fit(as_table(X), y)
    X[40, 0] = X[17, 5] = bad
    with pytest.raises(PsephosError, match="column 'column 5' is infinite in row 17"):
        model().fit(as_table(X), y)
    with pytest.raises(PsephosError, match="column 'column 5' is infinite in row 17"):
        fitted.predict(as_table(X))


@pytest.mark.parametrize("as_table", [lambda X: X, pd.DataFrame, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("far", [1.001e150, -1e200, 1.5e308])
def test_fit_and_predict_have_one_limit_of_size(as_table, far):
    X, y = small_table()
    X[:, 5] = 1e150
    fitted = model().fit(as_table(X), y)
    fitted.predict(as_table(X))
    X[40, 0] = X[17, 5] = far
    for call in (lambda: model().fit(as_table(X), y), lambda: fitted.predict(as_table(X))):
        with pytest.raises(PsephosError, match=r"'column 5' is .* in row 17, .* at most 1e\+150"):
            call()


def test_labels_in_doubt_are_warned_of_and_fitted():
    X, _ = small_table()
    with pytest.warns(UserWarning, match=f"y has {len(X)} values in {len(X)} rows: is it a meas"):
        fitted = model().fit(X, np.arange(len(X)))
    assert len(fitted.classes_) == len(X)
    written = np.array(["Yes", "yes"])[np.arange(len(X)) % 2]
    with pytest.warns(UserWarning, match="the classes 'Yes' and 'yes' of y differ only in case"):
        assert model().fit(X, written).classes_.tolist() == ["Yes", "yes"]


def test_text_in_a_numeric_column_is_named():
    X, y = small_table()
    table = X.astype(object)
    table[7, 4] = table[9, 2] = "n.d."
    frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(12)])
    with pytest.raises(PsephosError, match=r"column 'c2' has text in row 9 \('n.d.'\)"):
        model().fit(frame, y)
    with pytest.raises(PsephosError, match="column 'column 2' has text in row 9"):
        model().fit(table, y)
    with pytest.raises(PsephosError, match="column 'column 2' has text in row 9"):
        model().fit(table.tolist(), y)
    fitted = model().fit(X, y)
    with pytest.raises(PsephosError, match="column 'column 2' has text in row 9"):
        fitted.predict(table)
    model(categorical_features=[2, 4]).fit(table, y)
    twelve = X.astype(object)
    twelve[9, 2] = "1_2"  # a number to Python, and so to NumPy
    for told in (twelve, twelve.tolist(), twelve.astype(str)):
        for answer in (model().fit, lambda table, y: fitted.predict(table)):
            with pytest.raises(PsephosError, match=r"column 2' has text in row 9 \('1_2'\)"):
                answer(told, y)


# ---------------------------------------------------------------------- sparse
FORMS = [f"{form}_{kind}" for form in ("csc", "csr", "coo") for kind in ("array", "matrix")]


def holes(missing):
    X, y = small_table(missing=missing)
    X[np.abs(X) < 0.6] = 0.0
    return X, y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("make", [model, lambda: AdaBoostClassifier(n_estimators=6)])
def test_sparse_equals_dense(form, missing, make):
    X, y = holes(missing)
    table = getattr(sp, form)(X)
    dense, sparse = make().fit(X, y), make().fit(table, y)
    for cases in (X, table):
        assert_array_equal(sparse.decision_function(cases), dense.decision_function(X))
        assert_array_equal(dense.decision_function(cases), dense.decision_function(X))
    assert sparse.explain(table).columns() == dense.explain(X).columns()
    assert_array_equal(sparse.local_importance(table), dense.local_importance(X))


def test_sparse_with_categories_equals_dense():
    X, y = holes(0.0)
    X[:, 2] = np.round(np.abs(X[:, 2]))
    params = {"categorical_features": [2, 3]}
    dense, sparse = model(**params).fit(X, y), model(**params).fit(sp.csr_array(X), y)
    assert sparse.schema_.levels == dense.schema_.levels
    assert_array_equal(sparse.decision_function(sp.coo_array(X)), dense.decision_function(X))


# ---------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a"], [3, -1], [True, False], np.array(["b", "a"], dtype=object), [2.0, 1.0],
        np.array([7, 3], dtype=object), np.array([1, 0], dtype=np.int8),
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrap", [np.asarray, list, pd.Series])
def test_labels_of_any_kind(labels, wrap):
    X, _ = small_table()
    first = np.arange(60) % 2 == 0
    y = np.asarray(labels)[first.astype(int)]
    fitted = model().fit(X, wrap(y))
    assert_array_equal(fitted.classes_, np.unique(y))
    assert set(fitted.predict(X)) <= set(labels)
    assert isinstance(fitted.predict(X).tolist()[0], type(np.asarray(labels).tolist()[0]))
    assert (fitted.predict(X) == y).mean() > 0.6


def test_labels_of_frames_and_columns():
    X, y = small_table()
    expected = model().fit(X, y).decision_function(X)
    more = pd.Categorical(y, categories=["none", "ham", "egg"])
    for labels in (
        pl.Series(y),
        pd.Series(y).astype("category"),
        pd.Series(y, dtype="string"),
        more,
    ):
        fitted = model().fit(X, labels)
        assert_array_equal(fitted.decision_function(X), expected)
        assert_array_equal(fitted.classes_, ["egg", "ham"])  # those present, sorted
    with pytest.warns(UserWarning, match="column-vector"):
        model().fit(X, y[:, None])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda y: np.where(np.arange(60) == 9, None, y), "row 9 has no label"),
        (lambda y: pd.Series(y, dtype="string").where(np.arange(60) != 4), "row 4 has no label"),
        (lambda y: np.where(np.arange(60) == 9, np.nan, (y == "ham") * 1.0), "NaN .* row 9"),
        (lambda y: np.array([3, *y[1:]], dtype=object), r"mixes words and other labels \(3\)"),
        (lambda y: np.full(60, "ham"), "only one class .'ham'."),
        (lambda y: np.full(60, 3), r"only one class \(3\)"),
        (lambda y: np.linspace(0, 1, 60), "Unknown label type"),
        (lambda y: y[:50], "inconsistent numbers of samples"),
        (lambda y: None, "y is None"),
    ],
)
def test_bad_labels(spoil, sentence):
    X, y = small_table()
    with pytest.raises(ValueError, match=sentence):
        model().fit(X, spoil(y))


# ---------------------------------------------------------------------- weights and groups
def test_rows_of_weight_zero_are_left_out():
    X, y = small_table()
    kept = np.arange(60) % 3 > 0
    bad = np.where(kept[:, None], X, 1e6)
    one = model().fit(bad, y, sample_weight=kept.astype(float))
    two = model().fit(X[kept], y[kept])
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert_array_equal(one.vote_.weighting.rows, np.flatnonzero(kept))


def test_one_weight_for_all():
    X, y = small_table()
    expected = model().fit(X, y).decision_function(X)
    for weight in (2, 0.25, np.float32(4), np.full(60, 8.0), [1] * 60, pd.Series(np.ones(60))):
        fitted = model().fit(X, y, sample_weight=weight)
        assert_allclose(fitted.decision_function(X), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        (np.r_[np.ones(59), -1], "row 59 has -1.0"),
        (np.r_[np.nan, np.ones(59)], "row 0 has nan"),
        (np.r_[np.inf, np.ones(59)], "row 0 has inf"),
        (np.ones(59), "expected"),
        (np.ones((60, 1)), "1D array or scalar"),
        (["a"] * 60, "not a number"),
        ("a", "not a number"),
        (np.zeros(60), "zero on every row"),
        (np.arange(60) % 2, "must have at least two classes"),
        (np.full(60, 1e307), "sums to more than the largest number"),
    ],
)
def test_bad_weights(weight, sentence):
    X, y = small_table()
    with pytest.raises(PsephosError, match=sentence):
        model().fit(X, y, sample_weight=weight)


def test_weights_that_overflow_by_class_weight():
    X, y = small_table()
    fit = model(class_weight={"ham": 1e300}).fit
    with pytest.raises(PsephosError, match="sums to more than the largest number"):
        fit(X, y, sample_weight=np.full(60, 1e10))


def test_class_weights():
    X, y = small_table()
    plain = model().fit(X, y, sample_weight=np.where(y == "ham", 4.0, 1.0))
    fitted = model(class_weight={"ham": 4.0}).fit(X, y)
    assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
    uneven = np.r_[np.flatnonzero(y == "ham")[:9], np.flatnonzero(y == "egg")]
    n = len(uneven)
    weight = np.where(y[uneven] == "ham", n / (2 * 9), n / (2 * (n - 9)))
    plain = model().fit(X[uneven], y[uneven], sample_weight=weight)
    fitted = model(class_weight="balanced").fit(X[uneven], y[uneven])
    assert_allclose(fitted.decision_function(X), plain.decision_function(X), atol=1e-12)


def test_groups_stay_together_in_the_validation_share():
    X, y = small_table()
    groups = np.arange(60) // 6
    fitted = model(validation_fraction=0.3, random_state=0).fit(X, y, groups=groups)
    kept = fitted.vote_.weighting.rows
    assert 0 < len(np.unique(groups[kept])) < 10
    assert len(kept) == 6 * len(np.unique(groups[kept]))
    with pytest.raises(PsephosError, match=r"groups has shape \(59,\): give one group per row"):
        model().fit(X, y, groups=groups[:59])


def test_tables_that_are_none():
    _, y = small_table()
    for thing in (pd.Series(np.ones(60)), np.ones(60), 3, "table", np.ones((60, 2, 2))):
        with pytest.raises((ValueError, TypeError)):
            model().fit(thing, y)
    fitted = model().fit(*small_table())
    for thing in (np.ones(12), np.ones((2, 11)), np.ones((0, 12))):
        with pytest.raises(ValueError, match=r"Expected 2D|expecting 12 features|0 sample"):
            fitted.predict(thing)
    with pytest.raises(PsephosError, match="label 'spam' is not one of"):
        fitted.margins(small_table().X, np.full(60, "spam"))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        fitted.margins(small_table().X, y[:5])


@pytest.mark.parametrize("labels", [[2**53 + 1, 2**53], ["a", "a\0"], ["01", "1"]])
@pytest.mark.parametrize("wrap", [list, lambda y: np.array(y, dtype=object)])
def test_labels_that_differ_are_different_classes(labels, wrap):
    X, _ = small_table()
    fitted = AdaBoostClassifier(n_estimators=1).fit(X, wrap(labels * 30))
    assert len(fitted.classes_) == 2
    assert set(fitted.classes_.tolist()) == set(labels)


def test_labels_that_look_alike_are_different_classes_with_a_warning():
    X, _ = small_table()
    labels = ["１", "1"]
    with pytest.warns(UserWarning, match="the form of a number"):
        fitted = AdaBoostClassifier(n_estimators=1).fit(X, labels * 30)
    assert set(fitted.classes_.tolist()) == set(labels)


def test_labels_that_an_array_would_merge_are_refused():
    X, _ = small_table()
    with pytest.raises(ValueError, match="Unknown label type"):
        AdaBoostClassifier(n_estimators=1).fit(X, [2**53 + 1, 2.0**53] * 30)
    for large in ([10**19, 1], np.array([10**19, 1], dtype=object), [1e300, 1.0]):
        with pytest.raises(PsephosError, match="beyond 64-bit integers in row 0"):
            AdaBoostClassifier(n_estimators=1).fit(X, np.tile(large, 30))


# ---------------------------------------------------------------------- columns by name
@pytest.mark.parametrize("as_frame", [pd.DataFrame, lambda f: pl.from_pandas(f)])
def test_a_reduced_model_finds_its_columns_among_those_of_a_frame(as_frame, tmp_path):
    X, y = small_table()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    fitted = AdaBoostClassifier(n_estimators=3).fit(as_frame(frame), y)
    save(fitted.reduce(), tmp_path / "m.psephos")
    expected = fitted.decision_function(as_frame(frame))
    for reduced in (fitted.reduce(), load(tmp_path / "m.psephos")):
        other = frame[frame.columns[::-1]].assign(more="words")
        assert_array_equal(reduced.decision_function(as_frame(other)), expected)
        name = fitted.features_used_[0]
        with pytest.raises(PsephosError, match=f"no column '{name}', which the model reads"):
            reduced.predict(as_frame(frame.drop(columns=name)))
    with pytest.raises(ValueError, match="unseen at fit time"):
        fitted.predict(frame.assign(more=1.0))


# ---------------------------------------------------------------------- categories by value
def test_numbers_and_words_of_numbers_are_one_level():
    color, _, _, number, y = mixed()
    site = np.where(color == "red", 2, 1).astype(object)
    text = np.array([str(s) for s in site], dtype=object)
    both = np.where(np.arange(60) % 2, site, text)
    expected = None
    for column in (site, text, both):
        frame = pd.DataFrame({"site": column, "x": number})
        fitted = model(categorical_features=["site"]).fit(frame, y)
        for other in (site, site.astype(float), text, both, [f"{s}.0" for s in site]):
            answers = fitted.decision_function(frame.assign(site=other))
            expected = answers if expected is None else expected
            assert_array_equal(answers, expected)


def test_unknown_categories_are_told_or_refused():
    color, _, _, number, y = mixed()
    frame = pd.DataFrame({"color": color, "x": number})
    fitted = model(categorical_features=["color"]).fit(frame, y)
    some = frame.assign(color=np.where(np.arange(60) < 6, "pink", color))
    with pytest.warns(UnknownLevelWarning, match=r"column 'color': 6 of \d+ values \(1.%\)"):
        fitted.predict(some)
    strange = frame.assign(color=[None if c is None else str(c).upper() for c in color])
    with pytest.raises(PsephosError, match="column 'color' has only unknown categories"):
        fitted.predict(strange)


# ---------------------------------------------------------------------- what is no table of numbers
def test_masked_values_are_missing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] > 0
    holes = rng.random(X.shape) < 0.2
    masked = np.ma.masked_array(np.where(holes, -999.0, X), mask=holes)
    plain = np.where(holes, np.nan, X)
    for made in (CARTClassifier(n_folds=0), RandomForestClassifier(n_estimators=3, random_state=0)):
        model = clone(made).fit(masked, y)
        same = clone(made).fit(plain, y)
        assert_array_equal(model.predict_proba(masked), same.predict_proba(plain))
    words = np.ma.masked_array(np.array([["a"], ["b"], ["c"]] * 20, dtype=object), mask=False)
    words.mask[0, 0] = True
    assert CARTClassifier(categorical_features=[0], n_folds=0).fit(words, y).schema_.levels[0] == (
        "a", "b", "c",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.arange(6).reshape(3, 2).astype("datetime64[D]"), "dates or times"),
        (np.arange(6).reshape(3, 2).astype("timedelta64[D]"), "dates or times"),
        (np.zeros((3,), dtype=[("a", float)]), "records"),
        ({"a": [1, 2, 3]}, "X is a dict"),
        ("abc", "X is a str"),
        (pl.DataFrame({"a": [1.0, 2.0]}).lazy(), r"X is a LazyFrame.*give X\.collect\(\)"),
    ],
)
def test_what_would_be_read_as_numbers_and_is_none_is_refused(X, words):
    model = CARTClassifier(n_folds=0)
    with pytest.raises(PsephosError, match=words):
        clone(model).fit(X, [0, 1, 0])
    model.fit(np.arange(6.0).reshape(3, 2), [0, 1, 0])
    with pytest.raises(PsephosError, match=words):
        model.predict(X)


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[D]", "complex", "U8"])
def test_weights_that_are_no_numbers_are_refused(kind):
    weight = np.ones(3).astype("int64").astype(kind)
    with pytest.raises(PsephosError, match="sample_weight has an entry that is not a number"):
        CARTClassifier(n_folds=0).fit(np.arange(6.0).reshape(3, 2), [0, 1, 0], weight)


def test_groups_of_several_kinds_are_told_apart_and_none_is_missing():
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    mixed = np.array([1, "1", 2, "b"] * 15, dtype=object)
    assert CARTClassifier(n_folds=4, random_state=0).fit(X, y, groups=mixed).score(X, y) >= 0.5
    mixed[7] = None
    with pytest.raises(PsephosError, match="groups has no group for row 7"):
        CARTClassifier(n_folds=4).fit(X, y, groups=mixed)


def test_margins_take_one_label_a_row():
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    model = CARTClassifier(n_folds=0).fit(X, y)
    with pytest.raises(PsephosError, match=r"shape \(60, 1\): give one label per row"):
        model.margins(X, y[:, None])


@pytest.mark.parametrize("made", [CARTRegressor(), SparseWrapperRegressor(p_max=2, m=5, n_folds=3)])
def test_numbers_to_learn_are_numbers(made):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(PsephosError, match="a regressor needs numbers"):
        clone(made).fit(X, np.arange(30).astype("datetime64[D]"))
    with pytest.raises(PsephosError, match="NaN or infinity in row 2"):
        clone(made).fit(X, np.ma.masked_array(np.arange(30.0), mask=np.arange(30) == 2))
    with pytest.raises(PsephosError, match=r"\|y\| must be below .* Divide y"):
        clone(made).fit(X, X[:, 0] * 1e200)


def test_a_library_of_nothing_is_refused():
    model = SparseWrapperClassifier(p_max=2, m=5, n_folds=3)
    with pytest.raises(PsephosError, match="at least one value of the table must be present"):
        model.fit(np.full((30, 3), np.nan), np.arange(30) % 2)


def test_rows_of_one_group_are_fitted():
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = ProsetClassifier(random_state=0).fit(X, X[:, 0] > 0, groups=np.ones(40))
    assert model.shrinkage_ == 1.0


@pytest.mark.parametrize(
    "made", [C45Classifier(), C45RulesClassifier(), NewtonBoostingClassifier()]
)
def test_weights_beside_which_splits_are_lost_are_refused(made):
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] > 0
    assert clone(made).fit(X, y, np.full(60, 1e12)).score(X, y) > 0.9
    with pytest.raises(PsephosError, match=r"got 1e\+20\. .* divide all weights"):
        clone(made).fit(X, y, np.full(60, 1e20))
