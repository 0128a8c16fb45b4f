"""Every panel of the page has the numbers of the display in Python, recomputed from the same study.

The network of columns and what its voters join stand in test_network.py.
"""

import csv

import numpy as np
import pandas as pd
import pytest

from psephos import SparseWrapperClassifier
from psephos.explain import (
    CohortDisplay,
    ErrorDisplay,
    MissedDisplay,
    ObservedDisplay,
    PermutedDisplay,
    ValuesDisplay,
)
from psephos.protocol import (
    AccuracyDisplay,
    CurveDisplay,
    Protocol,
    StabilityDisplay,
    better_than_constant,
    compare,
)
from psephos.report import summarise
from psephos.report.panels.network import searched
from psephos.report.study.options import PageOptions

SMALL = Protocol("small", draws=1, inner_folds=2, folds=3)
MODELS = ["samba", "cart", "rank-ridge", "majority"]


def _cases(n=90):
    rng = np.random.default_rng(4)
    X = pd.DataFrame({
        "fat": rng.normal(size=n), "dose": rng.lognormal(0, 2, n).round(2),
        "age": rng.normal(50, 9, n).round(0), "kind": rng.choice(["x", "y", "z"], n),
    })  # fmt: skip
    X.loc[rng.random(n) < 0.15, "age"] = np.nan
    score = X["fat"] + 0.5 * np.log(X["dose"] + 0.01) + 0.8 * (X["kind"] == "x")
    return X, score + 0.7 * rng.normal(size=n)


@pytest.fixture(scope="module", name="case")
def _case(tmp_path_factory):
    """Cases, classes, the comparison, and what its page is written from."""
    X, score = _cases()
    y = np.where(score > 0, "ill", "well")
    out = tmp_path_factory.mktemp("displays") / "study"
    study = compare(X, y, models=MODELS, protocol=SMALL, n_jobs=1, out=out, curve=True)
    return X, y, study, summarise(out, options=PageOptions(cases="full"))


def _by(table, key):
    heads = [name for name in table if name != key]
    rows = zip(*(table[name] for name in heads), strict=True)
    return {k: dict(zip(heads, row, strict=True)) for k, row in zip(table[key], rows, strict=True)}


def test_accuracy_against_columns(case):
    *_, study, page = case
    wanted = _by(AccuracyDisplay.from_comparison(study).table(), "model")
    points = {one["key"]: one for one in page["island"]["chart"]["points"]}
    rows = {one["key"]: one for one in page["models"]}
    assert set(points) == set(rows) == set(wanted) == set(MODELS)
    better = better_than_constant(study.results, study.about)
    assert better
    for key, one in wanted.items():
        point, row, of = points[key], rows[key], np.array(points[key]["fits"], dtype=float)
        assert [point["score"], point["columns"]] == pytest.approx([one["score"], one["columns"]])
        assert of.mean(axis=0) == pytest.approx([one["columns"], one["score"]])
        assert [of[:, 0].min(), of[:, 0].max()] == [one["columns_low"], one["columns_high"]]
        assert point["frontier"] == row["frontier"] == one["frontier"]
        assert key in better or not one["frontier"]
        first = row["cells"][0]
        assert first["value"] == pytest.approx(one["score"])
        assert [first["text"], first["spread"]] == [f"{one['score']:.2f}", f"{one['sd']:.2f}"]
        told, (low, high) = row["difference"], (one["low"], one["high"])
        if np.isnan(one["difference"]):
            assert told["value"] is None
            continue
        assert told["value"] == pytest.approx(one["difference"])
        ends = told["interval"].replace("\N{MINUS SIGN}", "-").strip("()").split(" to ")
        assert [float(end) for end in ends] == pytest.approx([low, high], abs=0.0051)


def test_accuracy_of_the_first_columns(case):
    *_, study, page = case
    wanted = CurveDisplay.from_comparison(study).frame()
    lines = page["island"]["curve"]["lines"]
    assert {one["key"] for one in lines} == set(wanted["model"])
    for one in lines:
        own = wanted[wanted["model"] == one["key"]]
        found = np.array(one["points"], dtype=float)
        np.testing.assert_allclose(found[:, :2], own[["columns", "score"]])
        assert found[:, 3].tolist() == own["knee"].astype(float).tolist()


def test_whom_it_misses_at_every_threshold(case):
    _, y, study, page = case
    told = pd.read_csv(study.out / "predictions.csv")
    section = page["island"]["missed"]
    assert section["classes"][section["positive"]] == "ill"
    for key in MODELS:
        own = told[told["model"] == key].set_index("row")
        truth = [y[i] for i in own.index]
        display = MissedDisplay.from_predictions(truth, own["p_ill"], pos_label="ill")
        model = section["models"][key]
        at = [model["q"][i] for i in own.index]
        assert at == pytest.approx((1e6 * own["p_ill"]).to_list(), abs=1)
        curves = model["curves"]
        for k, threshold in enumerate(curves["at"]):
            here = display.at(threshold / 1e6)
            assert curves["steps"][k + 1] == [here.counts.found, here.counts.alarms]
            table, ends = here.measures(), model["ends"][k + 1]
            for i in range(4):
                if (value := ends[2 * i]) is None:
                    assert np.isnan(table["low"][i])
                    continue
                wanted = 100 * table["low"][i], 100 * table["high"][i]
                assert (value, ends[2 * i + 1]) == pytest.approx(wanted, abs=0.51)
    first = page["missed"]
    own = told[told["model"] == page["bar"]["key"]].set_index("row")
    truth = [y[i] for i in own.index]
    display = MissedDisplay.from_predictions(
        truth, own["p_ill"], pos_label="ill", threshold=first["threshold"]
    )
    counts = {name: getattr(display.counts, name) for name in ("found", "missed", "alarms")}
    assert {name: first["counts"][name] for name in counts} == counts
    table = display.measures()
    for k, row in enumerate(first["measures"]):
        text = " ".join(str(one) for one in (row.values() if isinstance(row, dict) else row))
        assert f"{table['value'][k]:.2f}" in text
        assert f"{table['low'][k]:.2f} to {table['high'][k]:.2f}" in text


@pytest.mark.parametrize("key", ["samba", "cart", "rank-ridge"])
def test_values_by_class(case, key):
    X, y, study, page = case
    section = page["island"]["values"]
    columns = section["models"][key]["columns"]
    assert columns
    for one in columns:
        display = ValuesDisplay.from_estimator(
            study.models[key], X, y, one["whole"], pos_label="ill"
        )
        table, counts = display.table(), display.counts()
        if one["kind"] != "number":
            assert [level["name"] for level in one["levels"]] == list(display.levels)
            found = [level["counts"] for level in one["levels"]]
            assert found == [[counts["ill"][k], counts["well"][k]] for k in range(len(found))]
            continue
        np.testing.assert_allclose(one["ends"][:-1], table["from"], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(one["ends"][1:], table["to"], rtol=1e-4, atol=1e-4)
        moves = one["moves"]
        np.testing.assert_allclose(moves, table["ill"], atol=6e-5)
        found = [one["counts"][side] for side in ("missing", "above", "below")]
        if one["cut"] is not None:
            assert found == [[counts["ill"][k], counts["well"][k]] for k in range(3)]
        parts = [part if isinstance(part, str) else part["t"] for part in one["direction"]]
        assert "".join(parts) == display.words


def test_what_permuting_changes(case):
    *_, study, page = case
    for key in ("samba", "cart", "rank-ridge"):
        wanted = _by(PermutedDisplay.from_rows(study.permuted, key).table(), "column")
        columns = page["island"]["values"]["models"][key]["columns"]
        assert {one["whole"] for one in columns} <= set(wanted)
        for one in columns:
            change = one["share_words"].split("permuted in the folds' models ")[1]
            change = change.replace("\N{MINUS SIGN}", "-")
            assert float(change) == pytest.approx(-wanted[one["whole"]]["worse"], abs=0.00501)


def test_columns_by_folds(case):
    *_, study, page = case
    section = page["island"]["stability"]
    seen = 0
    for key in MODELS:
        model = section["models"][key]
        if model["kind"] == "none":
            continue
        seen += 1
        wanted = _by(StabilityDisplay.from_comparison(study, key).table(), "column")
        found = {section["columns"][j]["name"]: (n, last) for j, n, _, last in model["rows"]}
        assert found == {name: (one["folds"], one["final"]) for name, one in wanted.items()}
    assert seen


def test_table_1(case):
    X, y, _, page = case
    found = page["cohort_table"]
    display = CohortDisplay.from_cases(X, y)
    assert found["heads"] == display.heads()
    lines = display.lines()
    assert found["rows"]
    assert [row for row in lines if row in found["rows"]] == sorted(found["rows"], key=lines.index)


def test_predicted_against_observed(tmp_path):
    X, score = _cases()
    models = ["cart-regressor", "rank-ridge-regressor"]
    compare(X, score.round(3), models=models, protocol=SMALL, n_jobs=1, out=tmp_path / "s",
            task="numbers")  # fmt: skip
    page = summarise(tmp_path / "s")
    with (tmp_path / "s" / "predictions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for key in models:
        own = {int(r["row"]): r for r in rows if r["model"] == key}
        truth, predicted = ([float(own[i][k]) for i in sorted(own)] for k in ("truth", "predicted"))
        display = ObservedDisplay.from_predictions(truth, predicted, ids=sorted(own))
        table, model = display.table(), page["island"]["observed"]["models"][key]
        shown = model["worst"]
        assert [str(row[0]) for row in shown] == table["case"][: len(shown)]
        for k, name in enumerate(("observed", "predicted", "error"), 2):
            texts = [row[k].replace("\N{MINUS SIGN}", "-") for row in shown]
            assert [float(text) for text in texts] == pytest.approx(
                table[name][: len(shown)], rel=6e-3, abs=6e-3
            )
        dots = sorted(model["dots"])
        np.testing.assert_allclose([dot[1] for dot in dots], truth, atol=1e-3)
        np.testing.assert_allclose([dot[2] for dot in dots], predicted, atol=6e-3)
        parts = display.parts()
        assert [row[0] for row in model["parts"]] == [part.words() for part in parts]
        for row, part in zip(model["parts"], parts, strict=True):
            assert [row[1], float(row[2])] == [
                str(part.n),
                pytest.approx(part.size.value, rel=6e-3),
            ]


def test_errors_of_a_search():
    X, score = _cases()
    X = X[["fat", "dose"]].assign(noise=np.random.default_rng(1).normal(size=len(X)))
    model = SparseWrapperClassifier("lda", p_max=2, alpha=0.5, random_state=0).fit(X, score > 0)
    display, library = ErrorDisplay.from_estimator(model), model.library_
    numbers = {
        name: getattr(library.dimensions, name).tolist()
        for name in ("n_candidates", "n_strong", "best", "threshold", "median")
    }
    counts, table = {}, display.table()
    for d, n in zip(table["dimension"], table["count"], strict=True):
        counts[d] = counts.get(d, 0) + n
    rows = searched(display, numbers)["rows"]
    assert {int(row[0]): int(row[1]) for row in rows} == counts
    for k, name in ((4, "threshold"), (5, "median")):
        assert [float(row[k]) for row in rows] == pytest.approx(
            getattr(display, name).tolist(), rel=6e-3
        )
