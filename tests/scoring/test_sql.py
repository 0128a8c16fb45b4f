"""SQL, in SQLite and DuckDB: the scores, answers and probabilities of predict."""

import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from small_settings import small_settings

from psephos import (
    AdaBoostClassifier,
    CARTRegressor,
    GradientBoostingRegressor,
    NewtonBoostingRegressor,
    RandomForestRegressor,
)
from psephos._errors import PsephosError
from psephos.scoring import conformance, plain
from psephos.scoring.sql import sql
from psephos.testing import small_table

SUMS = [
    "adaboost, 2 classes, 0.2 missing",
    "adaboost-trees, 3 classes, 0.0 missing",
    "cart, 3 classes, 0.2 missing",
    "cart-stays, 2 classes, 0.2 missing",
    "cart, frame",
    "c45-rules, 3 classes, 0.2 missing",
    "linear-tree-leaves, 3 classes, 0.2 missing",
    "linear-tree-leaves, 2 classes, 0.2 missing",
    "linear-tree-numbers-leaves, 0 classes, 0.2 missing",
    "linear-tree-leaves, frame",
    "linear-tree-numbers-leaves, frame",
    "threshold, leaves",
    "random-forest, 3 classes, 0.2 missing",
    "newton-numbers-hist, 0 classes, 0.2 missing",
    "newton-boosting, frame",
    "gradient-boosting, 2 classes, 0.0 missing",
    "sigmoid, calibrated",
    "isotonic, calibrated",
    "temperature, calibrated",
    "threshold, shares",
    "threshold, log-odds",
    "threshold, calibrated",
    "threshold, first match",
    "linear answers",
    "linear numbers",
    "c45, 3 classes, 0.2 missing",
    "c45, frame",
    "gibbs, 2 classes, 0.0 missing",
    "bagging, 2 classes, 0.0 missing",
    "bagging-stays, 2 classes, 0.2 missing",
    "adaboost-c45, 2 classes, 0.2 missing",
    "column-budget, 2 classes, 0.0 missing",
    "column-budget-regressor, 0 classes, 0.0 missing",
    "rank-ridge, frame",
    "median",
    "adaboost-regressor, 0 classes, 0.2 missing",
    "adaboost-regressor, frame",
    "column-budget-regressor, frame",
]
DATABASES = {"sqlite": sqlite3.connect, "duckdb": duckdb.connect}
ODD = [1e150, -1e150, 5e-324, -5e-324, 0.0, -0.0, float("nan"), None]
THOUSANDS = [
    CARTRegressor(n_folds=0, min_samples_split=2),
    RandomForestRegressor(n_estimators=5, random_state=0),
    GradientBoostingRegressor(n_estimators=5, random_state=0),
    NewtonBoostingRegressor(n_estimators=5, random_state=0),
]


def asked(database, model, rows):
    """Return the columns of the SELECT on rows of the columns that are read, by name."""
    columns = plain(model)["columns"]
    base = DATABASES[database](":memory:")
    named = ", ".join(
        '"{}" {}'.format(c["name"].replace('"', '""'), "VARCHAR" if "levels" in c else "DOUBLE")
        for c in columns
    )
    base.execute(f"CREATE TABLE cases ({named})")
    marks = ", ".join("?" * len(columns))
    base.executemany(f"INSERT INTO cases VALUES ({marks})", rows)
    found = base.execute(sql(model))
    names = [one[0] for one in found.description]
    return dict(zip(names, zip(*found.fetchall(), strict=True), strict=True))


def assert_alike(found, wanted):
    """Compare a SELECT's columns with scores, answers and probabilities of the library."""
    scores = np.array([v for n, v in found.items() if n.startswith("score")], dtype=float).T
    assert all(isinstance(v, float) for n in found for v in found[n] if n.startswith("score"))
    told = np.asarray(wanted["scores"], dtype=float).reshape(scores.shape)
    size = np.maximum(1.0, np.abs(told).max(axis=1, keepdims=True))
    assert np.abs((scores - told) / size).max() <= 1e-12
    if wanted["probabilities"] is None:
        assert list(found["predicted"]) == pytest.approx(list(wanted["answers"]), rel=1e-12)
        return
    assert list(found["predicted"]) == list(wanted["answers"])
    chances = np.array([v for n, v in found.items() if n.startswith("probability")]).T
    if len(chances):
        assert np.abs(chances - np.asarray(wanted["probabilities"])).max() <= 1e-12


def hostile(model, n=300):
    """Return rows for a database, and what the model answers of them.

    Generated rows lie at thresholds and 1 ulp beside them; every second one is given an extreme
    number, a NaN, a NULL, or a category that the model does not know.
    """
    columns, rows = plain(model)["columns"], conformance(model, n)["rows"]
    for i in range(0, n, 2):
        j = (i // 2) % len(columns)
        rows[i][j] = "unknown" if "levels" in columns[j] else ODD[(i // 2) % len(ODD)]
    table = _table(model, rows)
    score = getattr(model, "decision_function", model.predict)
    chances = model.predict_proba(table) if hasattr(model, "predict_proba") else None
    found = {"scores": score(table), "answers": model.predict(table), "probabilities": chances}
    return rows, found


def _table(model, rows):
    """Return rows of the columns that are read as a table of all columns of the model."""
    schema, used = model.schema_, model.vote_.columns.tolist()
    read = dict(zip(used, zip(*rows, strict=True), strict=True))
    columns = [list(read.get(j, [None] * len(rows))) for j in range(schema.n_features)]
    if schema.names is None:
        return np.array(columns, dtype=float).T
    data = {}
    for j, (name, values) in enumerate(zip(schema.names, columns, strict=True)):
        levels = schema.levels.get(j)
        known = {str(level): level for level in levels or []}
        own = pd.Categorical([known.get(v) for v in values], categories=list(levels or []))
        data[name] = np.array(values, dtype=float) if levels is None else own
    return pd.DataFrame(data)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", SUMS)
def test_sql_gives_the_same_scores_and_answers(name, database, families):
    model = families.fitted(name)
    told = conformance(model, 300)
    assert_alike(asked(database, model, told["rows"]), told)
    if "linear" not in name:  # these refuse missing values, and 1e150 leaves no digits to compare
        rows, told = hostile(model)
        assert_alike(asked(database, model, rows), told)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", SUMS)
def test_sql_knows_the_cases_without_an_answer(name, database, families):
    model = families.fitted(name)
    rows = [*conformance(model, 30)["rows"], *families.gappy(model)]
    for row in rows[31::2]:
        row[:] = ["unknown" if isinstance(value, str) else value for value in row]
    found = asked(database, model, rows)
    assert list(found)[-1] == "answered"
    unanswered = model.explain(_table(model, rows)).unanswered
    assert list(found["answered"]) == [0 if why else 1 for why in unanswered]
    assert 0 < sum(found["answered"]) < len(rows) or len(rows) == 30


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("model", THOUSANDS, ids=lambda m: type(m).__name__)
def test_numbers_of_thousands_are_doubles(model, database):
    X = small_table(0, missing=0.1)[0]
    y = 107243.98059073025 * X[:, 1] - 22.894641656028168 * np.arange(len(X))
    model.fit(np.nan_to_num(X), np.nan_to_num(y))
    rows, told = hostile(model, 100)
    assert_alike(asked(database, model, rows), told)


@pytest.mark.parametrize("database", DATABASES)
def test_weights_of_many_digits_are_doubles(database):
    model = small_settings()["gradient-sampled"].fit(*small_table(2))
    rows, told = hostile(model, 100)
    assert_alike(asked(database, model, rows), told)


def test_columns_of_whole_numbers_and_decimals_are_taken():
    model = AdaBoostClassifier(n_estimators=5).fit([[1, 0.5], [2, 1.5], [3, 0.7], [4, 2.5]] * 5,
                                                   ["no", "no", "yes", "yes"] * 5)  # fmt: skip
    base = duckdb.connect(":memory:")
    base.execute('CREATE TABLE cases ("column 0" BIGINT, "column 1" DECIMAL(4, 2))')
    base.execute("INSERT INTO cases VALUES (1, 0.5), (3, 0.7), (2, 1.5), (4, 2.5)")
    found = base.execute(sql(model)).fetchall()
    assert [row[1] for row in found] == ["no", "yes", "no", "yes"]


def test_what_is_quoted_keeps_its_numbers_and_a_backslash_is_noted():
    X, classes = [[1.0], [2.0], [3.0], [4.0]], np.array(["no 1.5", "no 1.5", "1.5 '", "1.5 '"])
    table = pd.DataFrame(X, columns=["x 2.5 '"])
    model = AdaBoostClassifier(n_estimators=1).fit(table, classes)
    for database in DATABASES:
        found = asked(database, model, X)
        assert list(found["predicted"]) == list(classes)
    assert "backslash" not in sql(model)
    slashed = AdaBoostClassifier(n_estimators=1).fit(table, np.array(["\\", "\\", "b", "b"]))
    assert "-- A class or category holds a backslash" in sql(slashed)
    for database in DATABASES:
        assert list(asked(database, slashed, X)["predicted"]) == ["\\", "\\", "b", "b"]
    table = table.rename(columns={"x 2.5 '": "a\\b"})
    assert re.match(
        r"-- Numeric columns[^;]*\nWITH ",
        sql(AdaBoostClassifier(n_estimators=1).fit(table, classes)),
    )


@pytest.mark.parametrize(
    "name", ["samba, frame", "proset, frame", "class votes", "losses", "borda"]
)
def test_what_is_no_sum_of_rules_has_no_sql(name, families):
    with pytest.raises(PsephosError, match="Export a scorer"):
        sql(families.fitted(name))


# the table has columns of other things, named like those of the answer
_HOSTILE = ["score", "predicted", "probability_0", "select", 'a"b', "it's", "s0", "order"]


def _hostile(names, case=str):
    """Return a fitted model on columns of hostile names, its table, and the rows' own names."""
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((60, len(names))), columns=list(map(case, names)))
    y = (table.to_numpy() @ np.arange(1, len(names) + 1) > 0).astype(int)
    return AdaBoostClassifier(n_estimators=12, random_state=0).fit(table, y), table


def test_sql_is_not_taken_in_by_names():
    model, table = _hostile(_HOSTILE)
    assert {"score", "predicted", "s0"} & set(model.features_used_)
    base = sqlite3.connect(":memory:")
    made = {**table, "patient": [f"p{i}" for i in range(60)], "label": 7.0, "k0": "other"}
    named = ", ".join('"{}"'.format(n.replace('"', '""')) for n in made)
    base.execute(f'CREATE TABLE "odd ""table" ({named})')
    marks = ", ".join("?" * len(made))
    rows = list(zip(*(list(made[n]) if n not in ("label", "k0") else [made[n]] * 60 for n in made),
                    strict=True))  # fmt: skip
    base.executemany(f'INSERT INTO "odd ""table" VALUES ({marks})', rows)
    found = base.execute(sql(model, 'main.odd "table', ["patient", "order", "k0"]))
    names = [one[0] for one in found.description]
    assert names == ["patient", "order", "k0", "score", "predicted", "probability_0",
                     "probability_1", "answered"]  # fmt: skip
    told = found.fetchall()
    assert [row[0] for row in told] == made["patient"]
    assert [row[4] for row in told] == model.predict(table).tolist()
    assert [row[3] for row in told] == pytest.approx(model.decision_function(table), abs=1e-12)
    chances = [row[5:7] for row in told]
    assert np.abs(np.array(chances) - model.predict_proba(table)).max() <= 1e-12


def test_names_that_a_database_takes_for_one_are_refused():
    model, _ = _hostile(["Age", "age", "x"])
    with pytest.raises(PsephosError, match="'Age' and 'age', which are the same to databases"):
        sql(model)
    model, _ = _hostile(["a", "b"])
    with pytest.raises(PsephosError, match="'Score' and 'score'"):
        sql(model, id_columns=["Score"])
    with pytest.raises(PsephosError, match="rename"):
        sql(_hostile(["a\0", "b"])[0])


def test_sql_of_a_table_that_lacks_a_column_is_an_error():
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE cases ("a" REAL)')
    with pytest.raises(sqlite3.OperationalError, match=r"no such column: d\.b"):
        base.execute(sql(_hostile(["a", "b"])[0]))


def test_sql_has_no_answer_where_a_linear_model_lacks_a_value(families):
    for name in ("linear answers", "linear numbers"):
        model = families.fitted(name)
        columns = [c["name"] for c in plain(model)["columns"]]
        base = sqlite3.connect(":memory:")
        base.execute("CREATE TABLE cases ({})".format(", ".join(f'"{c}" REAL' for c in columns)))
        marks = ", ".join(["NULL", *["1.0"] * (len(columns) - 1)])
        base.execute(f"INSERT INTO cases VALUES ({marks})")
        told = base.execute(sql(model)).fetchone()
        assert told[-1] == 0  # answered
        assert set(told[:-1]) == {None}
