"""Columns of words in frames are categories, and what the command refuses in a file is refused."""

import datetime
from itertools import cycle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from psephos import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    ColumnBudgetClassifier,
    NewtonBoostingClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    TableWarning,
    UnknownLevelWarning,
    VotingClassifier,
    compare,
    load,
    read_table,
    save,
)

RNG = np.random.default_rng(0)
COLOR = RNG.choice(["red", "blue", "green"], 60).astype(object)
COLOR[[3, 40]] = None
NUMBER = RNG.standard_normal(60)
Y = np.where((COLOR == "red") | (NUMBER > 1), "yes", "no")
IDS = [f"P{i:04}" for i in range(60)]
KINDS = ["object", "string", "str", "pyarrow", "polars"]
MODELS = [
    AdaBoostClassifier(n_estimators=4), SamBAClassifier(n_estimators=4), C45Classifier(),
    CARTClassifier(n_folds=0), NewtonBoostingClassifier(n_estimators=3),
    RandomForestClassifier(4, random_state=0),
    VotingClassifier([("a", CARTClassifier(n_folds=0)), ("b", C45Classifier())]),
    BaggingClassifier(CARTClassifier(n_folds=0), 3, random_state=0),
]  # fmt: skip


def table(words=COLOR, kind="object"):
    """Return a frame with a column of words and one of numbers."""
    if kind == "polars":
        return pl.DataFrame({"w": pl.Series(list(words), dtype=pl.String), "x": NUMBER})
    kinds = {"pyarrow": "string[pyarrow]"}
    words = pd.Series(list(words), dtype=kinds.get(kind, kind))
    return pd.DataFrame({"w": words, "x": NUMBER})


def models_and_kinds():
    """Every kind of column with the first model, and each other model with one kind in turn."""
    yield from ((MODELS[0], kind) for kind in KINDS)
    yield from zip(MODELS[1:], cycle(KINDS), strict=False)


@pytest.mark.parametrize(("made", "kind"), models_and_kinds(), ids=lambda one: str(one)[:9])
def test_words_are_categories(kind, made, tmp_path):
    expected = made.__sklearn_clone__() if hasattr(made, "__sklearn_clone__") else made
    reference = table().astype({"w": "category"})
    answers = expected.fit(reference, Y).predict_proba(reference)
    frame = table(kind=kind)
    model = type(made)(**made.get_params(deep=False)).fit(frame, Y)
    assert model.schema_.levels == {0: ("blue", "green", "red")}
    assert_array_equal(model.predict_proba(frame), answers)
    save(model, tmp_path / "m")
    assert_array_equal(load(tmp_path / "m").predict_proba(frame), answers)
    assert_array_equal(model.reduce().predict_proba(frame), answers)
    assert "blue" in "\n".join([*model.describe(), str(model.explain(frame[:3]))])


@pytest.mark.parametrize("kind", KINDS)
def test_missing_and_unseen_words(kind):
    model = AdaBoostClassifier(n_estimators=4).fit(table(kind=kind), Y)
    gone, new = [None] * 60, ["red", "mauve"] * 30
    with pytest.warns(UnknownLevelWarning, match="'w': 30 of 60 values"):
        found = model.predict_proba(table(new, kind))
    assert_array_equal(found, model.predict_proba(table(["red", None] * 30, kind)))
    nothing = model.predict_proba(table(gone, kind))
    for missing in (np.nan, pd.NA, None):
        frame = pd.DataFrame({"w": pd.Series([missing] * 60, dtype=object), "x": NUMBER})
        assert_array_equal(model.predict_proba(frame), nothing)
    with pytest.raises(PsephosError, match="has only unknown categories"):
        model.predict(table(["rot", "blau"] * 30, kind))


def test_folds_and_pipelines_take_words():
    chain = make_pipeline(FunctionTransformer(), AdaBoostClassifier(n_estimators=4))
    assert cross_val_score(chain, table(), Y, cv=3).mean() > 0.8
    few = ColumnBudgetClassifier(1, selector="univariate", estimator=CARTClassifier(n_folds=0))
    assert few.fit(table(), Y).features_used_.tolist() == ["w"]


REFUSED = {
    "an identifier": (IDS, "has a different text in every row, as an identifier does: "),
    "words among numbers": ([*["1.5", "2"] * 29, "high", None], "has text in .*'high'"),
    "numbers among words": ([*["low", "high"] * 29, 3, 4], "has text in .*'low'.* 2 of its values"),
    "decimal commas": (["1,5", "2,75"] * 30, "has numbers in another notation .'1,5'"),
    "shares": (["5 %", "7 %"] * 30, "has numbers in another notation .'5 %'"),
    "bounds": (["low", "<0.1", "high"] * 20, "has numbers in another notation .'<0.1'"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("kind", ["object", "polars"])
def test_what_the_command_refuses_is_refused(case, kind, tmp_path):
    words, sentence = REFUSED[case]
    if kind == "polars":
        words = [None if word is None else str(word) for word in words]
    frame = table(words, kind)
    with pytest.raises(PsephosError, match=f"column 'w' {sentence}") as caught:
        AdaBoostClassifier(n_estimators=4).fit(frame, Y)
    assert "--" not in str(caught.value)
    pd.DataFrame({"w": words, "x": NUMBER, "y": Y}).to_csv(tmp_path / "t.csv", index=False)
    if case == "an identifier":  # a caution, of which the command asks whether it is meant
        assert "FD002" in str(read_table(tmp_path / "t.csv", target="y").cautions())
        with pytest.warns(TableWarning, match="'w' holds many different values"):
            compare(frame, Y, ["majority"])
    else:
        if case == "shares":  # of a file numbers are read beside a unit
            assert "unit '%' beside" in str(read_table(tmp_path / "t.csv", target="y").notes)
        else:
            with pytest.raises(PsephosError, match=f"column 'w' {sentence}"):
                read_table(tmp_path / "t.csv", target="y")
        with pytest.raises(PsephosError, match=f"column 'w' {sentence}") as caught:
            compare(frame, Y, ["majority"])
        assert "--" not in str(caught.value)
    insisting = AdaBoostClassifier(n_estimators=4, categorical_features=["w"]).fit(frame, Y)
    assert 0 in insisting.schema_.levels


@pytest.mark.parametrize("dtype", [pd.CategoricalDtype(), pl.Categorical, pl.Enum(IDS)], ids=str)
def test_an_identifier_of_a_categorical_type_is_refused(dtype):
    polars = not isinstance(dtype, pd.CategoricalDtype)
    make = pl.Series if polars else pd.Series
    frame = (pl if polars else pd).DataFrame({"w": make(IDS, dtype=dtype), "x": NUMBER})
    with pytest.raises(PsephosError, match="'w' has a different text in every row"):
        SamBAClassifier(n_estimators=4).fit(frame, Y)
    SamBAClassifier(n_estimators=4, categorical_features=["w"]).fit(frame, Y)
    short = frame[:9]  # so few may be categories
    assert SamBAClassifier(n_estimators=4).fit(short, Y[:9] == Y[0]).schema_.levels.keys() == {0}


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2021-01-01", periods=60), [datetime.date(2021, 1, 2)] * 60,
        pd.to_timedelta(range(60), unit="D"), [datetime.time(1, 2)] * 60,
    ],
)  # fmt: skip
@pytest.mark.parametrize("polars", [False, True])
def test_dates_are_refused_as_dates(values, polars):
    frame = pd.DataFrame({"d": values, "x": NUMBER})
    frame = pl.from_pandas(frame) if polars else frame
    model = AdaBoostClassifier(n_estimators=4).fit(pd.DataFrame({"d": NUMBER, "x": NUMBER}), Y)
    for answer in (AdaBoostClassifier().fit, lambda X, y: model.predict(X), compare):
        with pytest.raises(PsephosError, match=r"'d' holds dates or times .* days since a date"):
            answer(frame, Y)


def test_what_is_neither_text_nor_number_is_named():
    frame = pd.DataFrame({"d": [[1]] * 60, "x": NUMBER})
    for answer in (AdaBoostClassifier().fit, compare):
        with pytest.raises(PsephosError, match=r"'d' holds a list \('\[1\]' in row 0"):
            answer(frame, Y)


def test_words_that_write_numbers_are_numbers():
    words = [str(x) for x in NUMBER]
    for kind in ("object", "string", "polars"):
        model = AdaBoostClassifier(n_estimators=4).fit(table(words, kind), Y)
        assert model.schema_.levels == {}
    assert AdaBoostClassifier(n_estimators=4).fit(table([None] * 60), Y).schema_.levels == {}


@pytest.mark.parametrize("listed", [None, ["x"], []])
def test_words_that_are_not_listed_are_refused_and_so_are_arrays(listed):
    with pytest.raises(PsephosError, match=r"'w' has text in row 0 \('[a-z]+'\)"):
        AdaBoostClassifier(categorical_features=listed).fit(table(), Y)
    with pytest.raises(PsephosError, match="'column 0' has text in row 0"):
        AdaBoostClassifier().fit(table().to_numpy(), Y)


@pytest.mark.parametrize(
    ("odd", "sentence"),
    [
        (datetime.date(2020, 1, 1), r"'d' holds dates or times \('2020-01-01' in row 40"),
        ([1], r"'d' holds a list \('\[1\]' in row 40"),
        (True, "'d' holds a bool .* in row 40"),
    ],
    ids=["date", "list", "bool"],
)
def test_what_stands_among_words_is_no_number_for_that(odd, sentence):
    frame = pd.DataFrame({"d": ["x", "y"] * 20 + [odd] * 20, "x": NUMBER})
    for answer in (AdaBoostClassifier().fit, compare):
        with pytest.raises(PsephosError, match=sentence):
            answer(frame, Y)
