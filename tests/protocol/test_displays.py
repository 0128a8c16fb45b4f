"""Pictures of a comparison: their tables beside the results they are of."""

import numpy as np
import pandas as pd
import pytest

from psephos import PsephosError
from psephos.protocol import (
    AccuracyDisplay,
    Comparison,
    StabilityDisplay,
    compare,
    selection_stability,
    table_from_arrays,
)
from psephos.protocol.study import comparison
from psephos.report.page.summarise import first_words, summarise


@pytest.fixture(scope="module", name="study")
def _study():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "ill", "well")
    table = table_from_arrays(X, y, column_names=["a", "b", "c", "d", "e", "</b>"])
    return compare(table, models=["cart", "majority"], protocol="quick", n_jobs=1)


@pytest.mark.parametrize("given", ["study", None])
def test_a_folder_is_no_comparison_and_the_sentence_says_how_to_open_it(given):
    for display, more in ((AccuracyDisplay, ()), (StabilityDisplay, ("cart",))):
        with pytest.raises(PsephosError, match=r"got ('study'|None)\. To open the folder .* out="):
            display.from_comparison(given, *more)


def test_accuracy_is_that_of_the_results(study):
    display = AccuracyDisplay.from_comparison(study)
    table = display.frame().set_index("model")
    rows = pd.DataFrame(study.results).groupby("model")
    for model, own in rows:
        assert table.loc[model, "score"] == pytest.approx(own["balanced_accuracy"].mean())
        assert table.loc[model, "sd"] == pytest.approx(own["balanced_accuracy"].std())
        assert table.loc[model, "columns"] == pytest.approx(own["columns_used"].mean())
        assert table.loc[model, "columns_high"] == own["columns_used"].max()
    assert display.reference == "cart"
    assert np.isnan(table.loc["cart", "difference"])
    told = study.difference("majority", "cart")
    assert table.loc["majority", "low"] == told.low
    told = {one.model for one in study.pareto()} & study.better().keys()
    assert set(table.index[table["frontier"]]) == told == {"cart"}
    assert "majority" in {one.model for one in study.pareto()}


def test_stability_is_that_of_the_results(study):
    display = StabilityDisplay.from_comparison(study, "cart")
    names = study.about["columns"]
    sets = [[names.index(display.names[j]) for j in np.flatnonzero(fold)]
            for fold in display.read.T]  # fmt: skip
    again = selection_stability(sets, len(names))
    assert display.stability.value == pytest.approx(again.value, nan_ok=True)
    assert [len(one) for one in sets] == [
        row["columns_used"] for row in study.results if row["model"] == "cart"
    ]
    table = display.frame()
    assert (table["folds"].diff().dropna() <= 0).all()
    final = set(table["column"][table["final"].astype(bool)])
    assert final == set(study.models["cart"].features_used_)
    with pytest.raises(PsephosError, match="did not take part"):
        StabilityDisplay.from_comparison(study, "swag")


def test_the_notebook_shows_a_row_a_model_and_no_markup_of_names(study):
    page = study._repr_html_()
    assert page.count("<tr>") == 3
    assert page.index(">cart") < page.index(">majority")
    score = np.mean([r["balanced_accuracy"] for r in study.results if r["model"] == "cart"])
    assert f"{score:.3f}" in page
    renamed = [{**row, "model": "<b>"} for row in study.results if row["model"] == "cart"]
    hostile = Comparison(renamed, {**study.about, "models": {"<b>": {}}}, None)
    assert "<b></td>" not in hostile._repr_html_()
    failed = [{**row, "status": "error", "error": "no & no"} for row in study.results]
    page = Comparison(failed, study.about, None)._repr_html_()
    assert "no &amp; no" in page
    assert "<table" not in page
    with pytest.raises(PsephosError, match="every fit"):
        AccuracyDisplay.from_comparison(Comparison(failed, study.about, None))


def test_a_comparison_prints_as_its_table_and_the_verdict_of_its_page(study):
    first, heads, *rest = str(study).splitlines()
    rows, words = rest[:2], " ".join(rest[2:])
    assert first.startswith("All ")
    assert heads.split()[:3] == ["model", "columns", "balanced"]
    assert [row.split()[0] for row in rows] == ["cart", "majority"]
    assert len({len(line) for line in (heads, *rows)}) == 1
    score = np.mean([r["balanced_accuracy"] for r in study.results if r["model"] == "cart"])
    assert f"{score:.3f} ± " in rows[0]
    assert words.startswith(
        "* better than a constant answer, and none is better in both accuracy and columns."
    )
    assert "differences from cart" in words
    assert f"its held-out balanced accuracy is {score:.2f} (95 % interval " in words
    assert (
        "It is significantly better than a constant prediction (0.50; p\u00a0≤\u00a00.05)" in words
    )
    page = study._repr_html_()
    assert "its held-out balanced accuracy is" in page
    assert "<script" not in page
    assert "http" not in page
    failed = [{**row, "status": "error", "error": "no & no"} for row in study.results]
    assert "model" not in str(Comparison(failed, study.about, None)).splitlines()[-1]


def test_long_names_of_models_and_measures_are_whole_within_a_hundred_characters(
    study, monkeypatch
):
    long = "a-model-of-another-package-with-a-long-name"
    names = [long + "-of-one\x1b[31m", long + "-of-two"]
    new = dict(zip(["cart", "majority"], names, strict=True))
    named = [{**row, "model": new[row["model"]]} for row in study.results]
    about = {**study.about, "models": {name: {} for name in names}}
    measure = "geometric mean of sensitivity and specificity over the folds, weighted by region"
    monkeypatch.setattr(comparison, "display_name", lambda _: measure)
    text = str(Comparison(named, about, None))
    assert "\x1b" not in text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100 + len("\\x1b")
    end = next(i for i, line in enumerate(lines) if line.startswith("* better"))
    first = "".join(line[:28].split("  ")[0].rstrip() for line in lines[1:end])
    assert f"{long}-of-one" in first
    assert f"{long}-of-two" in first
    assert set(measure.split()) <= set(" ".join(lines[1:end]).split())


def test_the_sentences_printed_are_those_of_the_page(tmp_path, study):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    for y in (np.where(X[:, 0] > 0, "ill", "well"), X[:, 0] + 0.1 * rng.normal(size=60)):
        table = table_from_arrays(X, y, column_names=["a", "b", "c", "d"])
        models = ["cart", "majority"] if y.dtype.kind == "U" else ["cart", "mean"]
        found = compare(table, models=models, protocol="quick", out=tmp_path / y.dtype.kind)
        page = summarise(tmp_path / y.dtype.kind)
        assert first_words(found) == [*page["first"][:2], *page["verdict"]]


def test_the_pictures_have_their_tables(study):
    pytest.importorskip("matplotlib", reason="needs matplotlib (extra 'plot')").use("Agg")
    axes = AccuracyDisplay.from_comparison(study).plot()
    assert {text.get_text() for text in axes.texts} == {"cart", "majority"}
    display = StabilityDisplay.from_comparison(study, "cart")
    drawn = np.asarray(display.plot().images[0].get_array())
    np.testing.assert_array_equal(drawn[:, :-1], display.read)
    np.testing.assert_array_equal(drawn[:, -1], display.final)
