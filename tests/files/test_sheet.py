"""Rows of text files: what a quote is, which line a row begins in, what separates cells."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos import read_table
from psephos._errors import PsephosError
from psephos.files.cells import Cells
from psephos.files.formats import Reading, read_sheet
from psephos.files.sheet import ColumnChoice, SheetRows
from psephos.files.text import Header, Split, rows, separator_of


def cells(text, separator=","):
    return [(line, list(row)) for line, _, row in rows(io.StringIO(text, newline=""), separator)]


def test_a_quote_inside_a_cell_is_a_quote():
    text = '5" pipe,1\n"a ""b""",2\nx,"y\n"\n6",7"\n'
    assert cells(text) == [
        (1, ['5" pipe', "1"]), (2, ['a "b"', "2"]), (3, ["x", "y\n"]), (5, ['6"', '7"']),
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_an_editor_counts(end):
    text = end.join(['"a', 'b",1', "", "c,2", "d,3"])
    assert [line for line, _ in cells(text)] == [1, 4, 5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('a,b\n"c,1\nd,2\n', "the quote opened in line 2 is never closed"),
        ('a,b\n"c"d,1\n', "line 2 cannot be split into cells"),
    ],
)
def test_quotes_that_cannot_be(text, sentence):
    with pytest.raises(PsephosError, match=sentence):
        cells(text)


def test_the_separator_is_looked_for_outside_quotes(tmp_path):
    assert separator_of(tmp_path / "t.csv", '"a, b, c";"d, e"') == ";"


def read(path, words=(), **more):
    return read_sheet(
        path, lambda h: ColumnChoice(range(len(h.names)), words), Cells(), Reading(**more)
    )


@pytest.mark.parametrize("mark", ["|", ":", "tab", "space"])
def test_a_separator_may_be_named(tmp_path, mark):
    sign = {"tab": "\t", "space": " "}.get(mark, mark)
    (tmp_path / "t.csv").write_text(f"a{sign}b\n1{sign}2\n")
    assert read(tmp_path / "t.csv", separator=mark).X.tolist() == [[1, 2]]
    with pytest.raises(PsephosError, match="got '::'"):
        read(tmp_path / "t.csv", separator="::")


def test_a_table_of_one_column_loses_no_case(tmp_path):
    """Its missing value is a line without a mark: pandas writes a quoted empty cell."""
    (tmp_path / "t.csv").write_text('x\n1\n""\n-1\n')
    sheet = read(tmp_path / "t.csv")
    np.testing.assert_array_equal(sheet.X[:, 0], [1, np.nan, -1])
    (tmp_path / "t.csv").write_text("x\n1\n\n-1\n")
    with pytest.raises(PsephosError, match=r"line 3 of 't\.csv' is blank, and the table has one"):
        read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("x\n1\n-1\n\n\n")
    assert len(read(tmp_path / "t.csv").X) == 2


def test_a_byte_that_is_no_utf8_is_found_in_a_long_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * 6_000 + b"1,\xe9\n" + b"1,2\n" * 6_000)
    sheet = read(tmp_path / "t.csv")
    assert "is not UTF-8 text (line 6002): read as Windows-1252" in sheet.notes[0]
    assert sheet.words[1][6000] == "é"


def test_a_torn_file_that_is_not_utf8_is_a_sentence(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1,\xe9\n" * 5_000)
    (tmp_path / "t.csv.gz").write_bytes(whole[:-12])
    with pytest.raises(PsephosError, match=r"'t\.csv\.gz' is damaged"):
        read(tmp_path / "t.csv.gz")


def test_a_blank_first_line_is_not_an_empty_file(tmp_path):
    (tmp_path / "t.csv").write_text("\na,b\n1,2\n")
    sheet = read(tmp_path / "t.csv")
    assert sheet.lines == [3]
    assert sheet.notes == ["the table begins in line 2: the lines above it are empty."]


def test_names_that_read_as_numbers_get_a_note(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n0E1,1e5,0E1\n0E2,7,0E2\n")
    notes = read(tmp_path / "t.csv", [2]).notes
    assert [note.partition(":")[0] for note in notes] == ["column 'a' is written as 0E2, read as 0"]


def test_a_nul_is_a_word(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\0\n2,x\0\n3,\0\n")
    sheet = read(tmp_path / "t.csv")
    assert sheet.words == {1: ["\0", "x\0", "\0"]}
    assert sheet.X[:, 0].tolist() == [1, 2, 3]


def test_columns_of_words_keep_their_cells(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1.0,NA\n01,2\n,3_0\n")
    sheet = read(tmp_path / "t.csv", words=[0])
    assert sheet.words == {0: ["1.0", "01", ""], 1: [None, None, "3_0"]}
    np.testing.assert_array_equal(sheet.X, [[np.nan, np.nan], [np.nan, 2], [np.nan, np.nan]])
    assert [sheet.place(i) for i in range(2)] == ["line 2", "line 3"]


_ODD = [
    "1", " 2 ", "-0.0", "1e5", "1E-400", "1e400", "inf", "-Infinity", ".5", "5.", "+7", "nan",
    "-nan", "NaN", "nAn", "NA", " NA ", "", " ", "?", ".", "-9", "-9.00", "1_0", "0x1p3",
    "1d5", "\xa01", "１", "1,5", "x", "1 2", "\x1f", "0.1000000000000000055511151231257827",
    "5e-324", "9007199254740993",
]  # fmt: skip
_CELL = st.sampled_from(_ODD) | st.floats().map(repr)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda p: st.lists(st.lists(_CELL, min_size=p, max_size=p), min_size=1, max_size=6)
    ),
    kept=st.sampled_from([(), ("nan",), ("NA", "")]),
    more=st.sampled_from([None, ["", "-9", "nan"]]),
    block=st.sampled_from([0, 1 << 22]),
    quotes=st.booleans(),
)
def test_rows_read_at_once_are_those_read_cell_by_cell(rows, kept, more, block, quotes):
    header = Header("t", [f"c{j}" for j in range(len(rows[0]))])
    choice = ColumnChoice(range(len(rows[0])), [0] if len(rows[0]) > 2 else [])
    found = []
    for way in (SheetRows._at_once, lambda _self, _rows: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SheetRows, "_at_once", way)
            patch.setattr("psephos.files.sheet._BLOCK", block)
            extra = more and [word for word in more if word not in kept]
            reading = SheetRows(header, choice, Cells().but(extra, keep=kept))
            for row in rows:
                reading.add(row if quotes else Split(";".join(row), ";"))
            found.append(reading.sheet(None))
    np.testing.assert_array_equal(found[0].X, found[1].X)
    assert np.array_equal(np.signbit(found[0].X), np.signbit(found[1].X))
    assert found[0].words == found[1].words


def test_a_wide_table_of_numbers_is_read_without_its_words(tmp_path, monkeypatch):
    monkeypatch.setattr(SheetRows, "_one_by_one", lambda self, i, row: pytest.fail("cell by cell"))
    lines = [",".join(map(str, range(i, i + 50))) for i in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["y," + ",".join("abcdefgh" * 6) + ",z", *lines]))
    sheet = read(tmp_path / "t.csv", words=[0, 49])
    assert sheet.X[8, 1:49].tolist() == list(range(9, 57))
    assert sheet.words == {0: [str(i) for i in range(9)], 49: [str(i) for i in range(49, 58)]}


def test_an_npz_of_words_is_read_cell_by_cell(tmp_path):
    for kind in ("U", "S"):
        X = np.array([["1.5", "u"], ["NA", "w"]], dtype=kind)
        np.savez(tmp_path / "t.npz", X=X)
        sheet = read(tmp_path / "t.npz")
        assert sheet.header.names == ["column 0", "column 1"]
        assert sheet.words == {1: ["u", "w"]}
        assert sheet.X[0, 0] == 1.5
        assert np.isnan(sheet.X[1, 0])


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_note_names_columns_whose_cells_begin_with_0(tmp_path, mark):
    lines = ["zip,low,day,word,x", "00204,0.5,2020-01-05,07,1e05", '10115,0,2020-02-07,a,"0"']
    (tmp_path / "t.csv").write_text("\n".join(line.replace(",", mark) for line in lines))
    notes = [n for n in read_table(tmp_path / "t.csv", target="word").notes if "begin with 0" in n]
    assert len(notes) == 1
    assert "'zip' (00204): read as numbers" in notes[0]


def test_a_note_names_words_that_are_missing_beside_categories(tmp_path):
    lines = ["pain,x,y", *["None,1,a", "mild,NA,b", "NA,3,a"] * 4]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    note = "values that are read as missing in columns of categories: 'NA' in 'pain', "
    note += "'None' in 'pain'; "
    note += "--keep-word makes one a category (--keep-word NA)."
    assert any(note in one for one in read_table(tmp_path / "t.csv", target="y").notes)
    kept = read_table(tmp_path / "t.csv", target="y", keep_word=["None"]).notes
    assert not any("'None' in" in one for one in kept)
    given = read_table(tmp_path / "t.csv", target="y", missing=["mild"]).notes
    assert not any("'mild' in" in one and "--keep-word" in one for one in given)
