"""Quotes as R and careless programs write them, and how text is encoded."""

import codecs
import io

import pytest

from psephos import read_table
from psephos._errors import PsephosError
from psephos.files.text import opened, rows


def cells(text, separator=","):
    return [list(row) for _, _, row in rows(io.StringIO(text, newline=""), separator)]


# ------------------------------------------------------------------- quotes
def test_blanks_before_a_quote():
    text = 'x, "z", y\n0.5, "u,v", a\n  "1,5","w" ,b\n5, 6" pipe, c\n'.replace('"w" ,', '"w",')
    assert cells(text) == [
        ["x", "z", "y"], ["0.5", "u,v", "a"], ["1,5", "w", "b"], ["5", ' 6" pipe', " c"],
    ]  # fmt: skip
    assert cells('a "b c"  "d"\n', " ") == [["a", "b c", "", "d"]]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_quotes_behind_a_backslash(separator):
    given = ['"a\\"b"', '"say \\"hi\\""', '"C:\\dir\\"', "5"]
    wanted = ['a"b', 'say "hi"', "C:\\dir\\", "5"]
    assert cells(separator.join(given) + "\n", separator) == [wanted]
    assert cells(separator.join(given[::-1]) + "\r\n", separator) == [wanted[::-1]]


@pytest.mark.parametrize("quote", ['\\"', '""'])
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_quotes_of_write_table(tmp_path, quote, separator):
    """As R writes them with qmethod="escape", which is its default, and with "double"."""
    lines = [['"x"', '"z"', '"y"']]
    lines += [[f'"{i}"', f"{i}.5", f'"a{quote} b{i % 2}"', f'"{"uv"[i % 2]}"'] for i in range(4)]
    lines.append(['"9"', "2", '"a\\b"', '"u"'])
    (tmp_path / "r.txt").write_text("\n".join(map(separator.join, lines)) + "\n")
    found = read_table(tmp_path / "r.txt", target="y")
    assert found.categories == {1: ('a" b0', 'a" b1', "a\\b")}
    assert found.X[:, 0].tolist() == [0.5, 1.5, 2.5, 3.5, 2]
    assert found.ids.tolist() == [*"01239"]


def test_single_quotes_around_a_separator_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("x,z,y\n0.5,'u,v',a\n1.5,'u,w',b\n")
    with pytest.raises(PsephosError, match=r"line 2 .* in single quotes \('u\): put .* double"):
        read_table(tmp_path / "t.csv", target="y")
    (tmp_path / "t.csv").write_text("x,z,y\nr1,0.5,'tis,a\nr2,1.5,o'k,b\n")  # names of rows
    assert read_table(tmp_path / "t.csv", target="y").categories == {1: ("'tis", "o'k")}


# ------------------------------------------------------------------- encodings
@pytest.mark.parametrize("end", ["LE", "BE"])
def test_text_of_32_bits(tmp_path, end):
    mark = getattr(codecs, f"BOM_UTF32_{end}")
    (tmp_path / "t.csv").write_bytes(mark + "größe,y\n1,ä\n2,b\n".encode(f"utf-32-{end}"))
    found = read_table(tmp_path / "t.csv", target="y")
    assert (found.names, found.y.tolist()) == (("größe",), ["ä", "b"])
    assert found.notes == ("'t.csv' is read as UTF-32 text.",)


def test_a_fault_of_a_reader_is_not_one_of_the_encoding(tmp_path):
    (tmp_path / "t.csv").write_text("a\n")
    for fault in (IndexError, KeyError):
        with pytest.raises(fault), opened(tmp_path / "t.csv"):
            raise fault
    (tmp_path / "t.csv").write_text("y")
    with pytest.raises(PsephosError, match="nothing is left to learn from"):
        read_table(tmp_path / "t.csv", target="y")
