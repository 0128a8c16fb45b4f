"""What programs write before, between and below the rows of a text file."""

import re

import numpy as np
import pytest

from psephos import read_table
from psephos._errors import PsephosError
from psephos.files.cases import CaseFile, Wanted
from psephos.files.cells import Cells
from psephos.files.formats import Reading, read_sheet
from psephos.files.sheet import ColumnChoice, read_cases


def read(path, text, **how):
    """All columns of a text, their words, and the notes."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = read_sheet(
        path, lambda header: ColumnChoice((), range(len(header.names))), None, Reading(**how)
    )
    found.wrong.refuse()
    words = {name: found.words[j] for j, name in enumerate(found.header.names)}
    return words, found.lines, found.notes


PLAIN = {"a": ["1", "2"], "b": ["3", "4"]}


@pytest.mark.parametrize(
    ("text", "lines", "note"),
    [
        ("a,b\n1,3\n2,4\n", [2, 3], None),
        ("# x\n#y\na,b\n1,3\n2,4\n", [4, 5], "lines above the table (# or sep=) are left out: 2."),
        ("# x\n\n\na,b\n1,3\n2,4\n", [5, 6], "are left out: 3."),
        ("sep=;\na;b\n1;3\n2;4\n", [3, 4], "are left out: 1."),
        ("sep=|\na|b\n1|3\n2|4\n", [3, 4], "are left out: 1."),
        ("\n\na,b\n1,3\n2,4\n", [4, 5], "the table begins in line 3"),
        ("a,b,,\n1,3,,\n2,4,,\n", [2, 3], "empty last columns are left out: 2."),
        ("a,b\n1,3,\n2,4,\n", [2, 3], None),
        ("a,b\n1,3\n\n2,4\n", [2, 4], "empty lines are left out: 1."),
        ('a,"b\n"\n1,3\n2,4\n', [3, 4], None),
        ("a,b\n1,3\n2,4\n,\n ,\n", [2, 3], "empty lines are left out: 2."),
        ("a b\n1 3\n2 4\n", [2, 3], "cells are separated by blanks"),
        ('"a"  "b"\n  1    3\n 2   4 \n', [2, 3], "cells are separated by blanks"),
        ("a,b\n[mg/l],%\n1,3\n2,4\n", [3, 4], "line 2 holds units ('[mg/l]', '%')"),
        ("a,b\nmmol/L,\n1,3\n2,4\n", [3, 4], "line 2 holds units ('mmol/L')"),
        (
            'a,b\nHow?,"Why,\nthen?"\n"{""ImportId"":""Q1""}","{""ImportId"":""Q2""}"\n1,3\n2,4\n',
            [5, 6],
            "lines 2 and 4 hold questions and names of Qualtrics, and are left out",
        ),
        ("a,b\nAU,log(1/R)\n1,3\n2,4\n", [3, 4], "line 2 holds units ('AU', 'log(1/R)')"),
        ("a,b\nyıl,gün\n1,3\n2,4\n", [3, 4], "line 2 holds units ('yıl', 'gün')"),
        ("a,b\nlat,/dk\n1,3\n2,4\n", [3, 4], "line 2 holds units ('lat', '/dk')"),
        ("a,b\nJahre,anos\n1,3\n2,4\n", [3, 4], "line 2 holds units ('Jahre', 'anos')"),
        ("a,b\nAU,AU\n1,3\n2,4\n", [3, 4], "line 2 holds units ('AU')"),
        ("a,b\n% w/w,a.u.\n1,3\n2,4\n", [3, 4], "line 2 holds units ('% w/w', 'a.u.')"),
    ],
)
def test_what_is_left_out_is_reported(tmp_path, text, lines, note):
    words, found, notes = read(tmp_path / "t.csv", text)
    assert words == PLAIN
    assert found == lines
    assert notes == [] if note is None else any(note in one for one in notes)


def test_cells_to_correct_are_named(tmp_path):
    file, rest = tmp_path / "t.csv", "".join(f"{i}.5,{'uv'[i % 2]}\n" for i in range(40))
    file.write_text(f'a,y\n"5,1",u\n{rest}')
    with pytest.raises(
        PsephosError, match=r"decimal mark , \('5,1' in line 2\) .* correct the texts"
    ):
        read_table(file, target="y")
    file.write_text(f"y,b\n<8,u\n{rest}")
    for task, match in (
        (None, "Then --limits half reads"),
        ("numbers", "--limits half reads half"),
    ):
        with pytest.raises(PsephosError, match=match):
            read_table(file, target="y", task=task)
    file.write_text("a,y\n1,None\n2,u\n3,u\n4,None\n")
    with pytest.raises(PsephosError, match="--keep-word None"):
        read_table(file, target="y")


def test_an_empty_first_column_names_no_rows(tmp_path):
    (tmp_path / "t.csv").write_text(",a,b,y\n,1,2,P\n,3,4,N\nNA,5,6,P\n,7,9,N\n")
    table = read_table(tmp_path / "t.csv", target="y")
    assert table.names == ("a", "b")
    assert table.ids is None
    assert any("the first column is left out" in one for one in table.notes)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#a,b\n1,3\n2,4\n", ["#a", "b"]),  # as it always was
        ("##version 1\n#a\tb\n1\t3\n2\t4\n", ["#a", "b"]),
        ("# of x, y\nu,v\n1,3\n2,4\n", ["u", "v"]),  # words below it: those are the names
    ],
)
def test_a_comment_may_name_the_columns(tmp_path, text, names):
    words, _, _ = read(tmp_path / "t.csv", text)
    assert list(words) == names
    assert list(words.values()) == [["1", "2"], ["3", "4"]]


def test_a_row_of_units_may_hold_a_few_that_are_not_known(tmp_path):
    for n, left_out in ((10, True), (3, False)):
        rows = [range(n), ["mgKOH", *["AU"] * (n - 1)], *[range(n)] * 3]
        path = tmp_path / "t.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in rows).replace("0", "x0", 1))
        _, lines, notes = read(path, path.read_text())
        assert (lines[0] == 3, bool(notes)) == (left_out, left_out)


@pytest.mark.parametrize(
    "rows",
    [
        "x,m\nx,1\ny,2\nx,3",
        "1,2\n3,4\n5,6",
        "NA,NA\n1,2\n3,4",
        "x,mg\nx,1\nx,2",
        "low,cm\n1,2\n3,4",
    ],
)
def test_a_row_of_values_is_not_one_of_units(tmp_path, rows):
    words, lines, notes = read(tmp_path / "t.csv", f"a,b\n{rows}\n")
    assert lines[0] == 2
    assert notes == []
    assert len(words["a"]) == rows.count("\n") + 1


def test_names_of_rows_as_r_writes_them(tmp_path):
    for text in ('"a" "b"\n"r1" 1 3\n"r2" 2 4\n', "a\tb\nr1\t1\t3\nr2\t2\t4\n"):
        words, _, notes = read(tmp_path / "t.txt", text)
        assert words == {"row names": ["r1", "r2"], **PLAIN}
        assert any("one cell more than there are names" in one for one in notes)
    with pytest.raises(PsephosError, match=r"line 3 of 't\.txt' has 2 cells where the first line"):
        read(tmp_path / "t.txt", "a,b\nr1,1,3\n2,4\n")
    with pytest.raises(PsephosError, match=r"line 3 of 't\.txt' has 3 cells where the first line"):
        read(tmp_path / "t.txt", "a,b\n1,3\nr2,2,4\n")


def test_the_table_of_biom(tmp_path):
    """Features in rows; the taxa are no case; the line of names begins with #."""
    text = (
        "# Constructed from biom file\n#OTU ID\ts1\ts2\ts3\ttaxonomy\n"
        "otu1\t1.0\t0.0\t2.0\tk__Bacteria; p__X\notu2\t5.0\t6.0\t7.0\tk__Bacteria\n"
    )
    (tmp_path / "t.tsv").write_text(text)
    (tmp_path / "l.csv").write_text("sample,y\ns3,u\ns1,v\ns2,u\n")
    found = read_table(tmp_path / "t.tsv", target="y", labels_from=tmp_path / "l.csv", id="sample")
    assert found.names == ("otu1", "otu2")
    assert found.ids.tolist() == ["s1", "s2", "s3"]
    assert found.y.tolist() == ["v", "u", "u"]
    np.testing.assert_array_equal(found.X, [[1, 5], [0, 6], [2, 7]])
    assert "the last column of the features is left out: taxonomy." in found.notes
    assert any("read as 3 cases of 2 columns" in note for note in found.notes)


SERIES = (
    '!Series_title\t"of; two, marks"\n!Sample_title\t"one"\t"two"\n'
    '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"\n"1007_s_at"\t1.5\t2.5\t3.5\n'
    '"y"\t"u"\t"v"\t"u"\n!series_matrix_table_end\n'
)


def test_a_series_matrix(tmp_path):
    (tmp_path / "t.txt").write_text(SERIES)
    found = read_table(tmp_path / "t.txt", target="y")
    assert found.names == ("1007_s_at",)
    assert found.ids.tolist() == ["GSM1", "GSM2", "GSM3"]
    assert found.X[:, 0].tolist() == [1.5, 2.5, 3.5]
    assert "the table of the series matrix begins in line 4." in found.notes
    (tmp_path / "t.txt").write_text(SERIES.removesuffix("!series_matrix_table_end\n"))
    with pytest.raises(PsephosError, match=r"'t\.txt' begins as .* no table between .* cut off"):
        read_table(tmp_path / "t.txt", target="y")
    (tmp_path / "t.txt").write_text(SERIES[:60])
    with pytest.raises(PsephosError, match="no table between !series_matrix_table_begin"):
        read_table(tmp_path / "t.txt", target="y")


PHENOTYPES = (
    '!Sample_geo_accession\t"GSM2"\t"GSM1"\t"GSM3"\n'
    '!Sample_characteristics_ch1\t"disease state: well: now"\t"disease state: ill"\t"age: 7"\n'
    '!Sample_characteristics_ch1\t"age: 40"\t""\t"disease state: ill"\n'
)


def test_phenotypes_of_a_series_matrix(tmp_path):
    (tmp_path / "t.txt").write_text(PHENOTYPES + SERIES)
    found = read_table(tmp_path / "t.txt", target="disease state", drop=["y"])
    assert found.names == ("age", "1007_s_at")
    assert found.y.tolist() == ["ill", "well: now", "ill"]
    np.testing.assert_array_equal(found.X, [[np.nan, 1.5], [40, 2.5], [7, 3.5]])
    assert "phenotypes of its header, read as columns: 'disease state', 'age'." in found.notes
    two = '!Sample_characteristics_ch2\t"age: 1"\t"age: 2"\t"batch: 3"\n'
    (tmp_path / "ch.txt").write_text(PHENOTYPES + two + SERIES)
    channels = read_table(tmp_path / "ch.txt", target="disease state", drop=["y"])
    assert channels.names == ("age (ch1)", "age (ch2)", "batch", "1007_s_at")
    np.testing.assert_array_equal(channels.X[:, 1], [2, 1, np.nan])
    sex = '!Sample_characteristics_ch1\t"sex: 1"\t"Sex: 2"\t"sex:1"\n'
    (tmp_path / "sex.txt").write_text(PHENOTYPES + sex + SERIES)
    cased = read_table(tmp_path / "sex.txt", target="disease state", drop=["y"])
    assert cased.names == ("age", "sex", "1007_s_at")
    (tmp_path / "cases.csv").write_text("id,dx\nGSM3,a\nGSM2,b\nGSM1,a\n")
    free = '!Sample_source_name_ch1\t"lung"\t"lung"\t"liver"\t""\n'
    four = (PHENOTYPES + free + SERIES).replace('"GSM3"\n', '"GSM3"\t"GSM4"\n')
    (tmp_path / "free.txt").write_text(
        four.replace("3.5\n", "3.5\t4\n").replace('"u"\n', '"u"\t\n')
    )
    source = read_table(
        tmp_path / "free.txt", target="source_name_ch1", drop=["y"], classes=["="], id="gsm"
    )
    joined = read_table(
        tmp_path / "t.txt", labels_from=tmp_path / "cases.csv", target="dx", drop=["y"], id="id"
    )
    assert [one for one in joined.notes if "are left out, since --labels-from" in one]
    assert source.names == ("disease state", "age", "1007_s_at")
    assert dict(zip(source.ids, source.y, strict=True)) == {
        "GSM2": "lung", "GSM1": "lung", "GSM3": "liver",
    }  # fmt: skip
    other = read_table(tmp_path / "free.txt", target="disease state", drop=["y"], classes=["="])
    assert other.names == ("age", "1007_s_at")  # not learnt from
    other = read_table(tmp_path / "t.txt", target="dx", labels_from=tmp_path / "cases.csv")
    assert (other.names, other.y.tolist()) == (("1007_s_at", "y"), ["a", "b", "a"])


# ------------------------------------------------------------------- encodings
def test_encodings(tmp_path):
    text = "größe,µg\n1,ä\n2,€\n"
    for encoding, note in (
        ("utf-8", None), ("utf-8-sig", None), ("utf-16", "read as UTF-16 text"),
        ("cp1252", "is not UTF-8 text (line 1): read as Windows-1252"),
    ):  # fmt: skip
        words, _, notes = read(tmp_path / "t.csv", text.encode(encoding))
        assert words == {"größe": ["1", "2"], "µg": ["ä", "€"]}
        assert notes == [] if note is None else note in notes[0]
    words, _, notes = read(tmp_path / "t.csv", text.encode("utf-16-be"), encoding="utf-16-be")
    assert (list(words), notes) == (["größe", "µg"], [])


@pytest.mark.parametrize(
    ("content", "encoding", "sentence"),
    [
        ("a,b\n1,2\n".encode("utf-16-le"), None, "its first line has NUL bytes"),
        (b"a,b\n1,\x81\x8d\n", None, "is not text in the encoding UTF-8 or Windows-1252"),
        (b"a,b\n1,\xe9\n", "utf-8", "is not text in the encoding utf-8"),
        (b"a,b\n1,2\n", "klingon", "is not text in the encoding klingon"),
        (b"\xff\xfea,b\n1,2\n\n", None, "is not text in the encoding"),
        (b"only one line\n", None, "has no rows below the line of column names"),
    ],
)
def test_what_is_not_text_is_a_sentence(tmp_path, content, encoding, sentence):
    with pytest.raises(PsephosError, match=sentence):
        read(tmp_path / "t.csv", content, encoding=encoding)


def test_an_encoding_holds_for_arff(tmp_path):
    arff = "@relation r\n@attribute größe numeric\n@attribute y {u,v}\n@data\n1,u\n2,v\n"
    words, _, notes = read(tmp_path / "t.arff", arff.encode("cp1252"))
    assert list(words) == ["größe", "y"]
    assert "read as Windows-1252" in notes[0]


def test_rows_of_empty_cells_at_the_end_are_no_cases(tmp_path):
    """A spreadsheet leaves such rows below a table; between others a case may lack every value."""
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n,\n3,4\n,\n,\n")
    wanted = Wanted(2, [0, 1], ["a", "b"])
    found, scored = read_cases(path, wanted, None), CaseFile(str(path), wanted, Cells())
    assert len(found.X) == len(scored.rows) == 3
    assert found.notes == scored.notes == ["empty lines are left out: 2."]
    path.write_text("a,b,y\n1,2,p\n,,q\n3,4,p\n,,\n,,\n")
    table = read_table(path, target="y")
    assert len(table.X) == 3
    assert "empty lines are left out: 2." in table.notes


def test_units_above_numbers_with_commas(tmp_path):
    words, lines, notes = read(tmp_path / "t.csv", "a;y\nAU;\n0,1;u\n0,2;v\n")
    assert (words["a"], lines) == (["0,1", "0,2"], [3, 4])
    assert notes == ["line 2 holds units ('AU') and is left out."]


WIDE = {"a": ["1", "2"], "b": ["3", "4"], "c": ["u", "v"]}


@pytest.mark.parametrize(
    ("above", "lines", "note"),
    [
        ("List of the ward;;\n", [3, 4], "line 1 above the column names ('List of the ward')"),
        ("List of the ward\n", [3, 4], "line 1 above the column names"),
        ("\nList, of, the ward\n\n2024;;\n", [6, 7], "lines 2 to 4 above the column names"),
        ("# x\nList;;\n", [4, 5], "line 2 above the column names ('List')"),
    ],
)
def test_titles_above_the_names_are_left_out(tmp_path, above, lines, note):
    words, found, notes = read(tmp_path / "t.csv", f"{above}a;b;c\n1;3;u\n2;4;v\n")
    assert (words, found) == (WIDE, lines)
    assert any(note in one for one in notes)


@pytest.mark.parametrize(
    "text",
    [
        '"a\nof two lines",b,c,d,e\n1,3,u,5,7\n2,4,v,6,8\n',  # a quoted name
        "a;b;c\n;;u\n1;3;v\n",  # cells are empty below the names, not above
        "a;y\n-1,64;68,37\n-0,5;12,5\n",  # two columns, more commas than separators
    ],
)
def test_names_are_no_titles(tmp_path, text):
    assert not any("title" in one for one in read(tmp_path / "t.csv", text)[2])


@pytest.mark.parametrize(
    ("start", "kind"), [(b"PK\3\4", "a workbook (.xlsx"), (b"%PDF-1.4\n", "a pdf document")]
)
def test_files_of_another_kind_are_known_by_their_first_bytes(tmp_path, start, kind):
    path = tmp_path / "t.csv"
    path.write_bytes(start + b"a,b\n1,2\n")
    with pytest.raises(PsephosError, match=f"'t.csv' is {re.escape(kind)}.* by its first bytes"):
        read_table(path, target="b")


def test_cells_divided_by_blanks_may_hold_decimal_commas(tmp_path):
    rows = [f'"{i}" "{"uv"[i % 2]}" {i},15 -{i},46' for i in range(1, 13)]
    path = tmp_path / "r.txt"
    path.write_text("\n".join(['"y" "b" "z"', *rows]) + "\n")
    table = read_table(path, target="y", decimal=",")
    assert table.names[-2:] == ("b", "z")
    assert table.X[0, -2:].tolist() == [1.15, -1.46]
    with pytest.raises(PsephosError, match="--decimal"):
        read_table(path, target="y")
