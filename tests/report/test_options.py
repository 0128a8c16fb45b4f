"""Titles and classes that the reader of a page asks for."""

import numpy as np
import pytest

from psephos._errors import PsephosError
from psephos.report import build_report, summarise
from psephos.report.panels.cohort import figures_section
from psephos.report.study.options import PageOptions
from psephos.report.words import ShortName, shown_names


def test_species_are_italic():
    lineage = "k__Bacteria|p__Firmicutes|g__Parvimonas|s__Parvimonas_micra"
    vague = "k__Bacteria|g__Gemella|s__Gemella_unclassified"
    genus = "k__Bacteria|g__Gemella"
    found = shown_names([lineage, vague, genus])
    assert found[lineage] == ShortName("Parvimonas micra", italic=True)
    assert found[genus] == ShortName("Gemella")


def test_title_and_class_are_on_the_page(compared, summarised, tmp_path):
    wanted = summarised["bar"]["classes"][1]
    path = build_report(compared, tmp_path / "r.html", title="Who <i>has</i> it?", positive=wanted)
    page = path.read_text("utf-8")
    assert '<h1 data-test="title">Who &lt;i&gt;has&lt;/i&gt; it?</h1>' in page
    report = summarise(compared, options=PageOptions(positive=wanted))
    assert report["positive_words"] == f"{wanted}: it was requested"
    assert report["island"]["first"]["cls"] == 1
    with pytest.raises(PsephosError, match="the positive class must be"):
        build_report(compared, tmp_path / "r.html", positive="nobody")


def test_a_page_without_cases_withholds_small_classes_and_what_gives_them_away(builders, tmp_path):
    truth, proba = builders.of_two(60)
    truth = np.where(np.arange(60) < 7, 1, 0)
    folder = builders.written_folder(tmp_path, truth, {"m": [proba]}, ["healthy", "ill"])
    for cases, ill in (
        ("none", "healthy (10 or more) and ill (< 10)"),
        ("full", "healthy (53) and ill (7)"),
    ):
        report = summarise(folder, options=PageOptions(cases=cases))
        items = {one["no"]: one["words"] for one in report["tripod"]["answered"]}
        assert report["data_line"].endswith(f": {ill}.")
        assert items["21"] == f"60 cases: {ill}"
        few = "fewer than 10 cases" if cases == "none" else "7 cases only"
        assert any(f"Class ill has {few}: its" in one for one in report["cautions"])
    row = {"by": "sex", "level": "f", "n": 9, "mae": 1.5, "mean_error": 1.0, "r2": 0.5}
    told = {"about": {"level": 0.95, "n_groups": None, "classes": [], "target": "numbers"},
            "figures": [], "subgroups": [row, row | {"level": "m", "n": 10}]}  # fmt: skip
    area = {"figure": "ROC-AUC", "value": 0.8, "low": 0.7, "high": 0.9, "hits": None, "method": ""}
    told["figures"] = [area | {"class": name} for name in ("1", "ill", "")]
    named = [row[0] for row in figures_section(told, subgroups=False, kept=True)["rows"]]
    assert named == ["ROC-AUC of class 1", "ROC-AUC of ill", "ROC-AUC"]
    small, large = figures_section(told, subgroups=True, kept=False)["subgroups"]
    assert small == ["sex f", "< 10", "–", "–", "–"]
    assert large[1:3] == ["10", "1.5"]
    assert figures_section(told, subgroups=True, kept=True)["subgroups"][0][1:3] == ["9", "1.5"]


def test_rows_without_ids_are_named_as_in_predictions():
    assert PageOptions().naming(["row 2", "row 17"]).ids
    assert not PageOptions().naming(["row 2", "p17"]).ids
    assert not PageOptions(cases="none").naming(["row 2"]).ids
