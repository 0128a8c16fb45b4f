"""A kind of file is one module and one line."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from psephos._errors import PsephosError
from psephos.files import formats
from psephos.files.sheet import Sheet
from psephos.files.text import Header
from psephos.protocol import read_table


def read_lines_of_json(path, choose, cells, how):
    """Read a file of which each line is an object."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    header = Header(path.name, list(rows[0]))
    choice = choose(header)
    table = [list(row.values()) for row in rows]
    X = np.array([[row[j] for j in choice.columns] for row in table], dtype=float)
    words = {j: [str(row[j]) for row in table] for j in choice.words}
    return Sheet(header, choice, X, words, None, cells)


def test_a_new_kind_is_read_and_stands_in_the_help(tmp_path, monkeypatch):
    path = tmp_path / "cases.jsonl"
    lines = [{"age": 40 + i, "state": "ill" if i % 2 else "well"} for i in range(6)]
    (tmp_path / "cases.sav").write_text("")
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(
        PsephosError,
        match=r"a \.csv, \.tsv, \.txt, .*, \.parquet, .* or \.npz\.",
    ):
        read_table(path, target="state")
    monkeypatch.setitem(sys.modules, "their_format", SimpleNamespace(read=read_lines_of_json))
    new = formats.Format({".jsonl": True}, "their_format", "read", "a file of JSON objects")
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, new))
    table = read_table(path, target="state")
    assert table.names == ("age",)
    assert table.X[:, 0].tolist() == [40, 41, 42, 43, 44, 45]
    assert list(table.y) == ["well", "ill"] * 3
    assert formats.files_words().endswith(", or a file of JSON objects")
    with pytest.raises(PsephosError, match=r"\.mtx or \.jsonl file"):
        read_table(tmp_path / "cases.sav", target="state")


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.csv", ".csv"), ("a.b.TSV.gz", ".tsv"), ("a.npz", ".npz"), ("a.csv.arff", ".arff")],
)
def test_the_last_known_suffix_says_the_kind(tmp_path, name, suffix):
    (tmp_path / name).write_text("")
    assert formats.kind_of(tmp_path / name, formats.suffixes()) == suffix


def test_no_packed_arrays(tmp_path):
    (tmp_path / "a.npz.gz").write_text("")
    with pytest.raises(PsephosError, match=r"format of 'a\.npz\.gz' is unknown"):
        formats.kind_of(tmp_path / "a.npz.gz", formats.suffixes())
