"""Names, titles and classes that the reader of a page asks for."""

import pytest

from psephos._errors import PsephosError
from psephos.report import build_report, summarise
from psephos.report.study.options import ColumnName, PageOptions, read_names
from psephos.report.words import ShortName, shown_names


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_names_and_units_are_read(tmp_path):
    path = written(tmp_path / "n.csv", '\ufeffcolumn,name,unit\ng1,"Gene, one",mg\n\ng2,,%\n')
    assert read_names(path, ["g1", "g2", "g3"]) == {
        "g1": ColumnName("Gene, one", "mg"),
        "g2": ColumnName("", "%"),
    }
    assert read_names(written(path, "column,name\ng1,One\n"), ["g1"]) == {
        "g1": ColumnName("One", "")
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("g1,One\n", "the first line of .* must be column,name,unit"),
        ("column,name\ng9,One\n", "line 2 .* has no column 'g9'"),
        ("column,name\ng1,One\ng1,Two\n", "line 3 .* names the column 'g1' again"),
        ("column,name\ng1\n", "line 2 .* has not 2 cells"),
        ("", "the first line"),
    ],
)
def test_a_file_of_names_that_is_none_is_a_sentence(tmp_path, text, why):
    with pytest.raises(PsephosError, match=why):
        read_names(written(tmp_path / "n.csv", text), ["g1", "g2"])


def test_species_are_italic_and_names_that_are_given_are_as_given():
    lineage = "k__Bacteria|p__Firmicutes|g__Parvimonas|s__Parvimonas_micra"
    vague = "k__Bacteria|g__Gemella|s__Gemella_unclassified"
    genus = "k__Bacteria|g__Gemella"
    found = shown_names([lineage, vague, genus, "x"], {"x": ColumnName("Age", "years")})
    assert found[lineage] == ShortName("Parvimonas micra", italic=True)
    assert found[genus] == ShortName("Gemella")
    assert found["x"] == ShortName("Age", unit="years")
    with pytest.raises(PsephosError, match="'Gemella' given for the column 'x' is that of another"):
        shown_names([genus, "x"], {"x": ColumnName("Gemella")})


def test_title_names_and_class_are_on_the_page(compared, summarised, builders, tmp_path):
    column = builders.HOSTILE[0]
    quoted = '"' + column.replace('"', '""') + '"'
    names = written(tmp_path / "n.csv", f"column,name,unit\n{quoted},<b>Short</b>,mg\n")
    wanted = summarised["bar"]["classes"][1]
    path = build_report(
        compared, tmp_path / "r.html", title="Who <i>has</i> it?", names=names, positive=wanted
    )
    page = path.read_text("utf-8")
    assert '<h1 data-test="title">Who &lt;i&gt;has&lt;/i&gt; it?</h1>' in page
    assert "&lt;b&gt;Short&lt;/b&gt;" in page
    report = summarise(compared, options=PageOptions(positive=wanted))
    assert report["positive_words"] == f"{wanted}: it was asked for"
    assert report["island"]["first"]["cls"] == 1
    with pytest.raises(PsephosError, match="is no class of this study"):
        build_report(compared, tmp_path / "r.html", positive="nobody")
