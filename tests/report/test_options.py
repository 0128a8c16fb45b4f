"""Titles and classes that the reader of a page asks for."""

import pytest

from psephos._errors import PsephosError
from psephos.report import build_report, summarise
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
    assert report["positive_words"] == f"{wanted}: it was asked for"
    assert report["island"]["first"]["cls"] == 1
    with pytest.raises(PsephosError, match="is no class of this study"):
        build_report(compared, tmp_path / "r.html", positive="nobody")
