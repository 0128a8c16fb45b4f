"""Every sentence the readers can say, and what they read when they say nothing."""

import gzip
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from psephos import SamBAClassifier, load, save
from psephos._errors import PsephosError, PsephosTypeError
from psephos.cli.app import main
from psephos.protocol import MISSING, DataTable, read_table, table_from_arrays
from psephos.scoring.scorer import scorer

PLAIN = "a,b,label\n1,2.5,x\n3,NA,y\n5,-1e3,x\n"


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def says(sentence):
    return pytest.raises(PsephosError, match=re.escape(sentence))


# ------------------------------------------------------------------- what is read
def test_a_plain_table(tmp_path):
    table = read_table(write(tmp_path, PLAIN), target="label")
    assert_array_equal(table.X, [[1, 2.5], [3, np.nan], [5, -1000]])
    assert table.names == ("a", "b")
    assert table.y.tolist() == ["x", "y", "x"]
    assert table.dataset == "t"
    assert table.target_name == "label"


def test_tabs_gz_quotes_semicolons_and_a_byte_order_mark(tmp_path):
    tabs = write(tmp_path, PLAIN.replace(",", "\t"), "t.tsv")
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(PLAIN.encode("utf-8-sig")))
    semicolons = write(tmp_path, PLAIN.replace(",", ";").replace("\n", "\r\n"), "s.csv")
    quoted = write(tmp_path, '"a","b","label"\n"1",2.5,"x"\n3,"NA",y\n\n5,-1e3,x\n', "q.csv")
    expected = read_table(write(tmp_path, PLAIN), target="label")
    for path in (tabs, packed, semicolons, quoted):
        table = read_table(path, target="label")
        assert_array_equal(table.X, expected.X)
        assert table.names == expected.names
        assert table.y.tolist() == expected.y.tolist()


def test_cells_may_hold_delimiters_and_line_ends(tmp_path):
    text = 'a,note,label\n1,"x, ""y""\nz",p\n2,w,q\n3,w,q\n'
    table = read_table(write(tmp_path, text), target="label")
    assert table.categories == {1: ("w", 'x, "y"\nz')}
    assert_array_equal(table.X, [[1, 1], [2, 0], [3, 0]])


@pytest.mark.parametrize("word", [*MISSING])
def test_missing_words(tmp_path, word):
    table = read_table(write(tmp_path, f"a,c,y\n1,{word},0\n{word},u,1\n2,v,1\n"), target="y")
    assert_array_equal(np.isnan(table.X), [[False, True], [True, False], [False, False]])
    assert table.categories == {1: ("u", "v")}


def test_roles_of_columns(tmp_path):
    text = "who,batch,a,skip,kind,y\np1,m,1,text,3,u\np2,n,2,4,10,v\np3,n,2,4,3,v\n"
    table = read_table(
        write(tmp_path, text),
        target="y",
        id="who",
        group="batch",
        drop=["skip"],
        categorical=["kind"],
    )
    assert table.names == ("a", "kind")
    assert table.categories == {1: ("3", "10")}  # by size, not by letters
    assert_array_equal(table.X, [[1, 0], [2, 1], [2, 0]])
    assert table.ids is not None
    assert table.groups is not None
    assert table.ids.tolist() == ["p1", "p2", "p3"]
    assert table.groups.tolist() == ["m", "n", "n"]


def test_a_first_column_without_name_is_the_id(tmp_path):
    table = read_table(write(tmp_path, ",a,y\nr1,1,u\nr2,2,v\n"), target="y")
    assert table.row_names() == ["r1", "r2"]
    assert table.names == ("a",)


def test_text_after_missing_values_is_categorical(tmp_path):
    table = read_table(write(tmp_path, "a,c,y\n1,,0\n2,,1\n3,u,1\n4,1_2,0\n"), target="y")
    assert table.categories == {1: ("1_2", "u")}  # 1_2 is a text, though Python reads it as 12
    assert table.y.tolist() == [0, 1, 1, 0]


def test_underscored_digits_are_text(tmp_path):
    table = read_table(write(tmp_path, "c,y\n1_2,0\n1_3,1\n1_2,1\n"), target="y")
    assert table.categories == {0: ("1_2", "1_3")}


def test_a_wide_table_equals_what_was_written(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 3000))
    X[rng.random(X.shape) < 0.01] = np.nan
    lines = [",".join([*(f"g{j}" for j in range(3000)), "y"])]
    for i in range(7):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in X[i]]
        lines.append(",".join([*cells, str(i % 2)]))
    table = read_table(write(tmp_path, "\n".join(lines)), target="y")
    assert_array_equal(table.X, X)


def test_npz(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(
        path,
        X=np.array([[1, 2], [3, 4], [5, 6]], dtype=np.int16),
        y=np.array([0, 1, 1]),
        classes=np.array(["no", "yes"]),
        feature_names=np.array(["a", "b"]),
        subject=np.array([7, 7, 8]),
        other=np.array(["u", "v", "v"]),
        wide=np.zeros(2),
    )
    table = read_table(path, group="subject", drop=["a"])
    assert table.names == ("b",)
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["no", "yes", "yes"]
    assert table.groups is not None
    assert table.groups.tolist() == ["7", "7", "8"]
    assert table.ids is None  # other arrays only on request
    assert read_table(path, target="other").y.tolist() == ["u", "v", "v"]
    with says("has no array 'subjct' with one value per row (--group); did you mean 'subject'?"):
        read_table(path, group="subjct")
    with says("the array 'wide' of 't.npz' has type float64 and shape (2,): it must hold numbers"):
        read_table(path, group="wide")


# ------------------------------------------------------------------- the sentences of text files
@pytest.mark.parametrize("how", [{}, {"group": "g"}, {"classes": ["b=c"]}])
def test_what_follows_from_a_line_that_was_not_read_is_no_complaint(tmp_path, how):
    path = tmp_path / "t.csv"
    path.write_text("v,u,g,y\n1,2,k,a\n3,4,b\n5,6,k,a\n7,8,m\n")
    with pytest.raises(PsephosError) as caught:
        read_table(path, target="y", **how)
    assert str(caught.value).startswith(
        "line 3 of 't.csv' has 3 cells where the first line names 4"
    )
    assert "(1 more line differs, too: 5)" in str(caught.value)
    assert not caught.value.parts
    path.write_text("v,u,g,y\n1,2,k,a\n3,4,b\n5,x,k,a\n7,8,m,b\n")
    with pytest.raises(PsephosError, match=r"(?s)^2 things.*1\. line 3.*2\. column 'u' has text"):
        read_table(path, target="y")  # of what was read
    path.write_text("v,u,g,y\n1,2,k,a\n5,6,k,a\n")
    with pytest.raises(PsephosError, match=r"one class only|one group|which no case"):
        read_table(path, target="y", **how)


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        (PLAIN, {"target": "lable"}, "has no column 'lable' (--target); did you mean 'label'?"),
        (PLAIN, {"target": None}, "no target is given: name the column of labels with --target"),
        (PLAIN, {"id": "nobody"}, "has no column 'nobody' (--id)"),
        (PLAIN, {"drop": ["c"]}, "has no column 'c' (--drop)"),
        (PLAIN, {"drop": ["a", "b"]}, "has no column besides the target"),
        (PLAIN + "1,2\n", {}, "line 5 of 't.csv' has 2 cells where the first line names 3 columns"),
        ("", {}, "'t.csv' is empty: its first line must name the columns"),
        ("a,label\n", {}, "has no rows below the line of column names"),
        ("a,a,label\n1,2,x\n", {}, "the column name 'a' occurs twice (columns 1 and 2)"),
        ("a,,label\n1,2,x\n", {}, "column 2 of 't.csv' has no name"),
        ("1,2\n1,2\n", {"target": "1"}, "holds numbers only: it must name the columns"),
        (
            "a,label\n1,x\n2,y\nhigh,x\n",
            {},
            "column 'a' has text in line 4 ('high'), but 2 of its values are numbers",
        ),
        (
            "a,label\nhigh,x\n\n2,y\n",
            {},
            "column 'a' has text in line 2 ('high'), but 1 of its values is a number",
        ),
        ("a,label\n1,x\ninf,y\n", {}, "column 'a' is infinite in line 3"),
        ("a,label\n1,x\n2,\n3,y\n", {}, "the target 'label' has no value in 1 row (line 3)"),
        ("a,label\n1,x\n2,x\n", {}, "the target 'label' has one class only ('x')"),
        (
            "a,label\n" + "1,0.5\n2,1.25\n" * 3,
            {},
            "the target 'label' holds measurements (line 2: 0.5), or classes that look like them",
        ),
        ("a,label\n1,x\n2,3\n", {"task": "numbers"}, "the target 'label' has 'x' in line 2"),
        ("a,label\n1,\n2,3.5\n", {"task": "numbers"}, "'label' has no value in 1 row (line 2)"),
        ("a,label\n1,4\n2,4\n", {"task": "numbers"}, "'label' has one value only (4)"),
        (
            "a,label\n1,4\n2,5\n",
            {"task": "numbers", "categorical": ["label"]},
            "--task numbers contradicts --categorical",
        ),
        (
            "a,time,event\n1,4.5,1\n2,5,0\n",
            {"target": ["time", "event"]},
            "For time to event use scikit-survival",
        ),
        (
            "a,b,c\n1,4.5,1\n2,5,0\n",
            {"target": ["b", "c"], "task": "numbers"},
            "must be one column, known in every row. Name one target",
        ),
        ("i,a,label\nu,1,x\nu,2,y\n", {"id": "i"}, "the id 'u' occurs in 2 rows"),
        ("i,a,label\nu,1,x\n,2,y\n", {"id": "i"}, "the id column 'i' is empty in line 3"),
        ("g,a,label\nu,1,x\nu,2,y\n", {"group": "g"}, "all rows are of one group ('u')"),
        ('a,label\n"1,x\n2,y\n', {}, "the quote opened in line 2 is never closed"),
    ],
)
def test_sentences_of_text_files(tmp_path, text, more, sentence):
    path = write(tmp_path, text)
    with says(sentence) as caught:
        read_table(path, **{"target": "label", **more})
    assert "\n" not in str(caught.value)


def test_sentences_of_files(tmp_path):
    with says("does not exist"):
        read_table(tmp_path / "nowhere.csv", target="y")
    with says("is unknown"):
        read_table(write(tmp_path, PLAIN, "t.sav"), target="label")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("a,label\n1,é\n".encode("latin-1"))
    with says("the target 'label' has one class only ('é')"):  # read as Windows-1252
        read_table(latin, target="label")
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(PLAIN.encode() * 1000)[:-20])
    with says("is damaged"):
        read_table(torn, target="label")


@pytest.mark.parametrize(
    ("arrays", "more", "sentence"),
    [
        ({"Y": np.eye(2)}, {}, "has no array 'X'"),
        ({"X": np.zeros(3), "y": np.zeros(3)}, {}, "must be a table (n, p) of numbers"),
        ({"X": np.array([["a"], ["b"]])}, {}, "has no array 'y' with one value per row"),
        ({"X": np.eye(2) * 1j}, {}, "must be a table (n, p) of numbers, or of words"),
        ({"X": np.eye(2), "y": [0, 1], "feature_names": ["a", "a"]}, {}, "'a' occurs twice"),
        ({"X": np.eye(2), "y": [0, 1], "feature_names": ["a"]}, {}, "1 names for 2 columns"),
        (
            {"X": np.eye(2), "y": [0, 5], "classes": ["u", "v"]},
            {},
            "'y' of 't.npz' holds the code 5",
        ),
        (
            {"X": np.eye(2), "y": [0, 1, 1]},
            {},
            "(3,): it must hold numbers, booleans or words",
        ),
        ({"X": np.eye(2), "y": [0, 1]}, {"drop": ["b"]}, "has no column 'b' (--drop)"),
        ({"X": np.full((2, 2), np.inf), "y": [0, 1]}, {}, "is infinite in row 0"),
    ],
)
def test_sentences_of_npz(tmp_path, arrays, more, sentence):
    np.savez(tmp_path / "t.npz", **arrays)
    with says(sentence):
        read_table(tmp_path / "t.npz", **more)


def test_what_is_no_npz_is_told_so(tmp_path):
    (tmp_path / "t.npz").write_text("a,b,y\n1,2,x\n")
    with says("'t.npz' is not an npz archive"):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize("kind", [int, float, bool])
def test_codes_of_any_kind_are_those_of_the_classes(tmp_path, kind):
    np.savez(
        tmp_path / "t.npz", X=np.arange(8.0).reshape(4, 2), y=np.array([0, 1, 0, 1]).astype(kind),
        classes=["neg", "pos"],
    )  # fmt: skip
    assert read_table(tmp_path / "t.npz").y.tolist() == ["neg", "pos", "neg", "pos"]
    np.savez(tmp_path / "u.npz", X=np.eye(2), y=[0.0, 0.5], classes=["neg", "pos"])
    with says("'y' of 'u.npz' holds the code 0.5, but 'classes' names 2 classes (codes 0 to 1)"):
        read_table(tmp_path / "u.npz")


@pytest.mark.parametrize("shape", [(0, 10**11), (10**11, 3)])
def test_a_shape_that_is_not_there_is_refused(tmp_path, shape):
    import io
    import zipfile

    head = io.BytesIO()
    told = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, told)
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", head.getvalue())
        archive.writestr("y.npy", head.getvalue())
    # what is not there is too wide, too large for memory, or ends too early
    with pytest.raises(PsephosError, match=r"declares 0 rows and 100,000,000,000|is damaged"):
        read_table(tmp_path / "t.npz")
    np.savez(tmp_path / "u.npz", X=np.eye(2), y=[0, 1], feature_names=["a", " "])
    with says("has no name for column 2"):
        read_table(tmp_path / "u.npz")


def test_npz_never_unpickles(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.array(["a", None], dtype=object))
    with says("holds Python objects, which are never read"):
        read_table(tmp_path / "t.npz")
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 not a zip")
    with says("is damaged"):
        read_table(tmp_path / "bad.npz")


# ------------------------------------------------------------------- arrays and frames
def test_arrays_frames_and_sparse_tables_agree():
    values = np.array([[1.0, 0.0], [2.0, np.nan], [0.0, 5.0]])
    y = ["u", "v", "v"]
    frames = [
        pd.DataFrame(values, columns=["a", "b"]),
        pl.DataFrame({"a": values[:, 0], "b": [0.0, None, 5.0]}),
        sp.csr_array(values),
        values,
    ]
    for frame in frames:
        table = table_from_arrays(frame, y)
        assert_array_equal(table.X, values)
        assert table.y.tolist() == y
    assert table_from_arrays(frames[0], y).names == ("a", "b")
    assert table_from_arrays(values, y).names == ("column 0", "column 1")


def test_text_columns_of_frames_are_categorical():
    frame = pd.DataFrame(
        {"a": [1, 2, 3], "c": pd.Categorical(["u", None, "t"]), "b": [True, False, True]}
    )
    table = table_from_arrays(frame, pd.Series([1, 0, 1], name="ill"), categorical=["a"])
    assert table.categories == {0: ("1", "2", "3"), 1: ("t", "u")}
    assert_array_equal(table.X, [[0, 1, 1], [1, np.nan, 0], [2, 0, 1]])
    assert table.target_name == "ill"


def test_sentences_of_arrays():
    with says("column 'b' has text in row 1 (counted from 0) ('high')"):
        table_from_arrays(pd.DataFrame({"b": [1.0, "high", 2.0]}), [0, 1, 1])
    with says("y has 3 labels for 2 rows"):
        table_from_arrays(np.eye(2), [0, 1, 1])
    with says("categorical names 'z', which is not a column"):
        table_from_arrays(np.eye(2), [0, 1], categorical=["z"])
    with says("1 names for 2 columns"):
        table_from_arrays(np.eye(2), [0, 1], column_names=["a"])
    with pytest.raises(PsephosTypeError, match="1 dimensions"):
        table_from_arrays(np.zeros(3), [0, 1, 1])
    with says("the target 'target' has no value in 1 row"):
        table_from_arrays(np.eye(2), np.array(["a", None], dtype=object))
    with says("2 groups for 3 rows"):
        table_from_arrays(np.eye(3), [0, 1, 1], groups=["a", "b"])


def test_the_fingerprint_sees_everything_results_depend_on():
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    base = DataTable(X, y, ("a", "b"))
    other = X.copy()
    other[2, 1] += 1e-9
    changed = [
        DataTable(other, y, ("a", "b")),
        DataTable(X, y[::-1].copy(), ("a", "b")),
        DataTable(X, y, ("a", "c")),
        DataTable(X, y, ("a", "b"), groups=np.array([0, 1, 1])),
        DataTable(X, y, ("a", "b"), {0: ("u", "v", "w")}),
    ]
    prints = {base.fingerprint(), *(t.fingerprint() for t in changed)}
    assert len(prints) == 6
    assert DataTable(X.copy(), y, ("a", "b"), dataset="other").fingerprint() == base.fingerprint()


# ------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    "labels",
    [
        ["01", "1"], ["1e3", "1000"], ["9007199254740993", "9007199254740992"], ["١", "1"],
        ["10000000000000000000", "1"], ["1", "1.0"], ["+1", "1"], ["-0", "0"], ["a", "a\0"],
        ["18446744073709551617", "1"], ["True", "true"],
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:the classes .* differ only in case")
def test_labels_that_are_insisted_on_keep_their_identity(tmp_path, labels):
    rows = "".join(f"{i},{labels[i % 2]}\n" for i in range(6))
    path = write(tmp_path, "a,y\n" + rows)
    alike = not labels[0].startswith(("01", "9", "10000", "١", "a", "1844"))
    assert ("FD034" in str(read_table(path, target="y").cautions())) == alike
    table = read_table(path, target="y", categorical=["y"])
    assert ("FD034" in str(table.cautions())) == alike  # only --accept FD034 insists
    assert [str(label) for label in table.y] == labels * 3
    assert sorted(map(str, table.classes)) == sorted(labels)
    model = SamBAClassifier(n_estimators=1).fit(table.X, table.y)
    save(model, tmp_path / "m.psephos")
    assert sorted(map(str, load(tmp_path / "m.psephos").classes_)) == sorted(labels)


def test_whole_numbers_are_labels_as_numbers(tmp_path):
    rows = "".join(f"{i},{[9007199254740993, -5][i % 2]}\n" for i in range(4))
    table = read_table(write(tmp_path, "a,y\n" + rows), target="y")
    assert table.y.dtype == np.int64
    assert table.y.tolist() == [9007199254740993, -5] * 2


def test_labels_of_arrays_keep_their_identity(tmp_path):
    X = np.arange(4.0)[:, None]
    large = np.array([10**19, 1, 10**19, 1], dtype=np.uint64)
    assert table_from_arrays(X, large).y.tolist() == ["10000000000000000000", "1"] * 2
    assert table_from_arrays(X, [1e19, 1.0] * 2).y.tolist() == ["10000000000000000000", "1"] * 2
    assert table_from_arrays(X, ["01", "1"] * 2).y.tolist() == ["01", "1"] * 2
    assert table_from_arrays(X, [1.0, 2.0] * 2).y.tolist() == [1, 2] * 2
    for mixed in ([1, "1"], [True, 1]):
        with says("mixes kinds of labels"):
            table_from_arrays(X, np.array(mixed * 2, dtype=object))
    names = {"feature_names": np.array([b"\xc3\xa9t\xc3\xa9"])}
    np.savez(tmp_path / "t.npz", X=X, y=np.array([b"ham", b"egg"] * 2), **names)
    table = read_table(tmp_path / "t.npz")
    assert table.y.tolist() == ["ham", "egg"] * 2
    assert table.names == ("été",)
    np.savez(tmp_path / "c.npz", X=X, y=[0, 1, 0, 1], classes=np.array([b"ham", b"egg"]))
    assert read_table(tmp_path / "c.npz").y.tolist() == ["ham", "egg"] * 2
    np.savez(tmp_path / "bad.npz", X=X, y=np.array([b"\xff", b"egg"] * 2))
    with says("holds bytes that are not UTF-8 text"):
        read_table(tmp_path / "bad.npz")


# ------------------------------------------------------------------- categories and forms
def test_categories_of_numbers_are_merged_by_value(tmp_path):
    table = read_table(
        write(tmp_path, "k,y\n1,u\n1.0,v\n01,u\n2,v\n"), target="y", categorical=["k"]
    )
    assert table.categories == {0: ("01", "1", "2")}
    assert_array_equal(table.X[:, 0], [1, 1, 0, 2])


def test_a_categorical_type_is_categorical_whatever_it_holds():
    frame = pd.DataFrame({"site": pd.Categorical([3, 10, 3]), "x": [1.0, 2.0, 3.0]})
    assert table_from_arrays(frame, [0, 1, 1]).categories == {0: ("3", "10")}


def test_codes_beyond_the_precision_of_floats_stay_apart(tmp_path):
    X = np.array([[9007199254740993], [9007199254740992], [9007199254740993]])
    np.savez(tmp_path / "t.npz", X=X, y=[0, 1, 0], feature_names=["k"])
    table = read_table(tmp_path / "t.npz", categorical=["k"])
    assert table.categories[0] == ("9007199254740992", "9007199254740993")
    assert table_from_arrays(X, [0, 1, 0], categorical=[0]).categories == table.categories


def test_several_answers_in_a_cell_are_not_decimal_commas(tmp_path):
    few = "y;b\nu;1,2,4\nv;3\nu;2\n"
    many = "y;b\n" + "".join(f"u;{k},{k + 2}\n" for k in range(1, 7)) + "v;3\n"
    for name, text in (("few.csv", few), ("many.csv", many)):
        with says("column 'b' seems to hold several answers in a cell ('1,"):
            read_table(write(tmp_path, text, name), target="y")
        assert read_table(write(tmp_path, text, name), target="y", categorical=["b"]).categories
    with says("column 'b' has numbers in another notation ('1,3' in line 2"):
        read_table(write(tmp_path, many.replace("6,8", "6,1"), "falls.csv"), target="y")


def test_numbers_written_another_way_never_become_categories(tmp_path):
    text = "a,b,y\n1,<20,u\n2,20-30,v\n3,<20,u\n"
    with says("column 'b' has numbers in another notation ('<20' in line 2, '20-30' in line 3)"):
        read_table(write(tmp_path, text), target="y")
    table = read_table(write(tmp_path, text), target="y", categorical=["b"])
    assert table.categories == {1: ("20-30", "<20")}
    bands = "a,b,y\n" + "1,<20,u\n2,20-30,v\n3,not known,u\n" * 3
    table = read_table(write(tmp_path, bands, "bands.csv"), target="y")  # each of several rows
    assert table.categories == {1: ("20-30", "<20", "not known")}
    with says("column 'b' has numbers in another notation ('<20' in line 2, '20-30' in line 3)"):
        read_table(write(tmp_path, bands.replace("not known", "25"), "limit.csv"), target="y")
    with says("column 'b' has numbers in another notation ('5,1' in row 0"):
        table_from_arrays(pd.DataFrame({"b": ["5,1", "6,2"]}), [0, 1])
    mixed = write(tmp_path, "a;y\n5,1;u\n6;v\n7,25;u\n", "m.csv")
    with says("('5,1' in line 2, '7,25' in line 4): read the table with --decimal ,"):
        read_table(mixed, target="y")
    assert_array_equal(read_table(mixed, target="y", decimal=",").X[:, 0], [5.1, 6, 7.25])


def test_missing_words_may_be_others(tmp_path):
    path = write(tmp_path, "a,c,y\n-9,NA,u\n2,none,v\n-9.0,NA,v\n")
    assert np.isnan(read_table(path, target="y", missing=["-9", "none"]).X[:, 1]).all()
    table = read_table(path, target="y", missing=["-9", "none"], keep_word=["NA"])
    assert_array_equal(np.isnan(table.X), [[True, False], [False, True], [True, False]])
    assert table.categories == {1: ("NA",)}
    np.savez(tmp_path / "t.npz", X=[[-9.0], [2.0]], y=[0, 1])
    assert np.isnan(read_table(tmp_path / "t.npz", missing=["-9"]).X[0, 0])


def _survey(folder, kind):
    frame = pd.DataFrame({
        "id": range(1, 41), "q1": [9, 1, 2, 3] * 10, "q2": [1.0, 9, 2, 4] * 10,
        "income": [9, 11, 3, 9, 5] * 8, "kind": ["a", "b", "k. A.", "a"] * 10, "y": ["u", "v"] * 20,
    })  # fmt: skip
    path = folder / f"t.{kind}"
    if kind == "npz":
        X = frame[["q1", "q2", "income"]].to_numpy(np.float64)
        np.savez(path, X=X, y=frame.y.to_numpy(str), feature_names=["q1", "q2", "income"])
    else:
        {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}[kind](
            path, index=False
        )
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "npz"])
def test_a_word_may_be_missing_in_some_columns_alone(tmp_path, kind):
    path, own = _survey(tmp_path, kind), {} if kind == "npz" else {"id": "id", "drop": ["kind"]}
    for missing, gone in [("q1=9", [10, 0, 0]), ("q*=9", [10, 10, 0]), ("q2=9.0", [0, 10, 0])]:
        table = read_table(path, target="y", missing=[missing], **own)
        assert np.isnan(table.X).sum(axis=0).tolist() == gone
        counts = zip(gone, ("q1", "q2", "income"), strict=True)
        each = ", ".join(f"{n} in {name!r}" for n, name in counts if n)
        assert [one for one in table.notes if "--missing" in one] == [
            f"cells that --missing makes missing: {each}."
        ]
    with says("--missing 'Q1=9' is COLUMN=WORD, and the table has no such column"):
        read_table(path, target="y", missing=["Q1=9"], **own)
    if kind != "npz":
        with says("the id column 'id' holds '9', which --missing names, in "):
            read_table(path, target="y", missing=["9"], **own)
        table = read_table(path, target="y", missing=["kind=k. A.", "q1=9"], drop=["id"])
        assert table.categories == {3: ("a", "b")}
        table = read_table(path, target="y", missing=["9"], drop=["id"])
        assert "cells that --missing makes missing: 10 in 'q1', 10 in 'q2', 16 in 'income'." in (
            table.notes
        )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_model_keeps_the_missing_words_of_its_columns(tmp_path, kind):
    path = _survey(tmp_path, kind)
    table = read_table(path, target="y", id="id", missing=["q*=9"])
    assert table.cells.of_columns(["income", "q1", "q1=9"])[1].missing == ("9",)
    fit = ["fit", str(path), "--target", "y", "--id", "id", "--missing", "q*=9", "--model", "cart"]
    model = str(tmp_path / "m.psephos")
    assert CliRunner().invoke(main, [*fit, "--out", model]).exit_code == 0
    empty = tmp_path / f"empty.{kind}"
    frame = getattr(pd, f"read_{kind}")(path)
    frame[["q1", "q2"]] = frame[["q1", "q2"]].mask(frame[["q1", "q2"]] == 9)
    getattr(frame, f"to_{kind}")(empty, index=False)
    found = [CliRunner().invoke(main, ["predict", model, str(one)]) for one in (path, empty)]
    assert [one.exit_code for one in found] == [0, 0]
    assert found[0].stdout == found[1].stdout
    (tmp_path / "score.py").write_text(scorer(load(model)))
    for one in (path, empty) if kind == "csv" else ():
        ran = subprocess.run([sys.executable, tmp_path / "score.py", one], stdout=subprocess.PIPE)
        assert ran.stdout.decode() == found[0].stdout


def test_all_complaints_of_a_table_are_one_message(tmp_path):
    path = write(
        tmp_path, "id,y,a,b,c,d\n1,u,1.5,2,x,7\n,v,2,<0.1,x,7\n3,,k,3,4,inf\n4,v,l,4,5,7\n"
    )
    with pytest.raises(PsephosError) as found:
        read_table(path, target="y", id="id")
    lines = str(found.value).split("\n")
    assert lines[0] == "6 things are wrong with the table."
    for line, words in zip(
        lines[1:],
        [
            "1. column 'a' has text in line 4 ('k')",
            "2. column 'b' has numbers in another notation ('<0.1' in line 3)",
            "3. column 'c' has text in line 2 ('x')",
            "4. column 'd' is infinite in line 4",
            "5. the target 'y' has no value in 1 row (line 4)",
            "6. the id column 'id' is empty in line 3",
        ],
        strict=True,
    ):
        assert line.startswith(words)
    assert found.value.options[:3] == (
        ("--drop", "a"), ("--limits", "half"), ("--missing", "x"),
    )  # fmt: skip
    assert found.value.options[3:] == (("--classes", "="),)
    path = write(tmp_path, "id,y,a\n1,u,1.5\n1,v,2\n3,v\n4,u,x\n")
    with pytest.raises(PsephosError) as found:
        read_table(path, target="y", id="id")
    assert [line[:30] for line in str(found.value).split("\n")[1:]] == [
        "1. line 4 of 't.csv' has 2 cel",
        "2. column 'a' has text in line",
        "3. the id '1' occurs in 2 rows",
    ]
    path = write(tmp_path, "id,y,a,b,c,d\n1,u,1.5,2,x,7\n")
    with pytest.raises(PsephosError) as found:
        read_table(path, target="z", drop=["e", "f"])
    assert re.findall("no column '(.)'", str(found.value)) == ["z", "e", "f"]
    path = write(tmp_path, "a,b,,a,b\n1,2,3,4,5\n")
    with pytest.raises(
        PsephosError, match=r"(?s)column 3 .* has no name.*'a' occurs twice .* 'b'\)"
    ):
        read_table(path, target="z")


def test_many_complaints_are_counted(tmp_path):
    """A complaint of its own of each column; those that one option settles are one."""
    names, words = [f"c{j}" for j in range(30)], [f"k{j}" for j in range(30)]
    rows = [",".join(words if i else ["1"] * 30) for i in range(2)]
    path = write(tmp_path, "\n".join([",".join(names), *rows]))
    with pytest.raises(PsephosError) as found:
        read_table(path, target="c0")
    lines = str(found.value).split("\n")
    assert (lines[0][:9], lines[-1]) == ("29 things", "and 9 more of the kind.")
    assert len(lines) == 22
    rows[1] = ",".join(["k"] * 30)
    path = write(tmp_path, "\n".join([",".join(names), *rows]))
    with pytest.raises(PsephosError, match=r"\(The same in 28 other columns: 'c2', .* 23 more\.\)"):
        read_table(path, target="c0")


def test_all_rows_of_another_length_are_listed(tmp_path):
    path = write(tmp_path, "a,y\n1,u\n1\n2,v\n1,2,3\n4\n")
    with pytest.raises(
        PsephosError, match=r"line 3 .* 1 cell .* \(2 more lines differ, too: 5, 6\)"
    ):
        read_table(path, target="y")


def test_row_names_are_left_out_where_another_column_is_the_id(tmp_path):
    path = write(tmp_path, ",who,a,y\n1,p,1,u\n2,q,2,v\n")
    table = read_table(path, target="y", id="who")
    assert table.names == ("a",)
    assert table.row_names() == ["p", "q"]


# ------------------------------------------------------------------- numbers of other programs
@pytest.mark.parametrize(
    ("cells", "read", "word"),
    [
        (["5.10-", "3.00", "NA"], [-5.1, 3.0, np.nan], "5.10-, read as -5.1"),
        (["12", "7-", "30-"], [12, -7, -30], "7-, read as -7"),
        (["1.0D+00", "2.5", "-3.0d-1"], [1.0, 2.5, -0.3], "1.0D+00, read as 1"),
        (["0x1F", "0xff", "?"], [31, 255, np.nan], "0x1F, read as 31"),
    ],
)
def test_a_whole_column_of_another_form_is_read_and_said_once(tmp_path, cells, read, word):
    text = "g,label\n" + "".join(f"{c},{'xy'[i % 2]}\n" for i, c in enumerate(cells))
    table = read_table(write(tmp_path, text), target="label")
    assert_array_equal(table.X[:, 0], read)
    assert not table.categories
    assert table.notes == (f"column 'g' is written as {word}.",)
    objects = np.array([None if c in ("NA", "?") else c for c in cells], dtype=object)
    again = table_from_arrays(pd.DataFrame({"g": objects}), ["x", "y", "x"])
    assert_array_equal(again.X[:, 0], read)
    assert again.notes == table.notes


def test_a_minus_behind_goes_with_other_marks(tmp_path):
    text = "g;label\n1.234,50-;x\n2,00;y\n"
    table = read_table(write(tmp_path, text), target="label", decimal=",", thousands=".")
    assert_array_equal(table.X[:, 0], [-1234.5, 2.0])


@pytest.mark.parametrize(
    "cells",
    [
        ["5.10-", "-3.0", "2.0"], ["1-", "2", "3-"], ["0x1F", "10", "0x2"], ["5.1-", "low", "2.0"],
        ["5.1-", "1.0D+00", "0x1F"], ["0x1F", "none", "0x2F"], ["5,1-", "2,0", "3,0"],
        ["1-", "2-", "3-"],
    ],
)  # fmt: skip
def test_an_unclear_mixture_is_refused(tmp_path, cells):
    lines = "".join(f'"{c}",{"xy"[i % 2]}\n' for i, c in enumerate(cells))
    with pytest.raises(PsephosError, match=r"column 'g' (has text|has numbers in another)"):
        read_table(write(tmp_path, "g,label\n" + lines), target="label")


# ------------------------------------------------------------------- one limit of size
def test_what_predict_refuses_fit_refuses(tmp_path):
    with says("column 'a' is 1e+151 in line 3, and values must be at most 1e+150 in size"):
        read_table(write(tmp_path, "a,label\n1,x\n1e151,y\n"), target="label")
    with says("column 'column 0' is -1e+200 in row 1"):
        table_from_arrays([[1.0], [-1e200]], ["x", "y"])


# ------------------------------------------------------------------- arrays of other kinds
@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
@pytest.mark.parametrize("key", ["y", "who", "classes"])
@pytest.mark.parametrize("kind", [[("a", "f8")], "V4", "c16"])
def test_an_array_of_records_is_refused_by_name(tmp_path, key, kind, classes):
    arrays = {"X": np.ones((30, 2)), "y": np.arange(30) % 2, "who": np.arange(30)}
    arrays |= {} if classes is None else {"classes": np.array(classes)}
    arrays[key] = np.zeros(2 if key == "classes" else 30, dtype=kind)
    np.savez(tmp_path / "t.npz", **arrays)
    with says(f"the array {key!r} of 't.npz' has type "):
        read_table(tmp_path / "t.npz", target="y", id="who")


# ------------------------------------------------------------------- classes in doubt
def test_python_refuses_what_the_command_refuses():
    X = np.arange(240.0).reshape(120, 2) % 7
    age = 20 + np.arange(120) % 60
    with says("the target 'target' has 60 values in 120 rows: is it a measurement?"):
        table_from_arrays(X, age)
    table = table_from_arrays(X, age, categorical=["target", 0])
    assert len(table.classes) == 60
    assert len(table_from_arrays(X, age, task="classes").classes) == 60
    assert table_from_arrays(X, age, task="numbers").y.tolist() == age.tolist()
    assert list(table.categories) == [0]
    spaced = np.array(["yes", "yes ", "no"])[np.arange(120) % 3]
    found = table_from_arrays(X, pd.Series(spaced, name="y")).cautions()
    assert "'yes' (40 rows) and 'yes ' (40 rows). Spell them alike" in str(found)
    assert len(table_from_arrays(X, pd.Series(spaced, name="y"), categorical=["y"]).classes) == 3


@pytest.mark.parametrize(
    ("y", "task", "kind"),
    [
        (np.arange(60) / 3, None, "numbers"),
        (np.arange(60) % 6, None, "classes"),
        (np.arange(60) % 6, "numbers", "numbers"),
        (np.arange(60) % 6 + 0.5, "classes", "classes"),
        (np.arange(60) % 6 + 0.5, None, None),
        (np.arange(60) * 7, None, "numbers"),
        (np.arange(480) % 120, None, "numbers"),
        (np.array([*"ab"] * 30), "numbers", None),
        (np.arange(60)[:, None] / 3, None, "numbers"),
        (np.arange(120).reshape(60, 2) / 3, None, None),
    ],
)
def test_what_a_target_holds_is_read_or_asked(tmp_path, y, task, kind):
    X = np.column_stack([np.arange(len(y)) % 7, np.arange(len(y)) % 5.0])
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(np.column_stack([X.astype(object), y]))
    frame.rename(columns=dict(enumerate("abyz"))).to_csv(path, index=False)
    target = ["y", "z"] if y.ndim == 2 and y.shape[1] == 2 else "y"
    if kind is None:
        with pytest.raises(PsephosError, match=r"--task|Name one target"):
            table_from_arrays(X, y, task=task)
        with pytest.raises(PsephosError, match=r"--task|must be the only target"):
            read_table(path, target=target, task=task)
        return
    np.savez(tmp_path / "t.npz", X=X, y=y)
    for table in (
        table_from_arrays(X, y, task=task),
        read_table(path, target=target, task=task),
        read_table(tmp_path / "t.npz", task=task),
    ):
        assert table.kind == kind
        assert list(map(str, table.y.tolist())) == list(map(str, np.ravel(y).tolist())) or (
            kind == "numbers" and table.y.tolist() == np.ravel(y).tolist()
        )
        assert ("numbers from" in table.contents()) == (kind == "numbers")


@pytest.mark.parametrize(("values", "each", "fits"), [(20, 2, True), (30, 5, True), (30, 4, False)])
def test_many_values_are_classes_where_folds_can_hold_each(values, each, fits):
    y = np.repeat(np.arange(values), each)
    X = np.arange(float(len(y)))[:, None]
    if fits:
        assert len(table_from_arrays(X, y).classes) == values
        alone = np.append(y, 99)  # a value that stands once
        if values > 20:
            with says("is it a measurement?"):
                table_from_arrays(np.arange(float(len(alone)))[:, None], alone)
    else:
        with says("is it a measurement?"):
            table_from_arrays(X, y)


@pytest.mark.parametrize("odd", ["<0.1", "high", "5,736.00"])
def test_a_target_of_numbers_with_one_written_otherwise_is_questioned(tmp_path, odd):
    cells = [f"{0.37 * i:.2f}" for i in range(40)]
    rows = [f"{i % 7},{cell}" for i, cell in enumerate([*cells, f'"{odd}"'])]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows]))
    with pytest.raises(PsephosError, match="is it a measurement") as found:
        read_table(tmp_path / "t.csv", target="y")
    assert odd in str(found.value)


def test_an_id_that_is_read_as_missing_may_be_kept(tmp_path):
    path = write(tmp_path, "id,a,y\nNA,1,u\nb,2,v\n")
    with says("holds 'NA', which is read as missing, in line 2: fill it in, or keep it as a"):
        read_table(path, target="y", id="id")
    kept = read_table(path, target="y", id="id", keep_word=["NA"])
    assert kept.ids.tolist() == ["NA", "b"]


def test_words_of_missing_that_no_cell_is_are_noted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["smoke,x,y", *["unknown,1,a", "yes,2,b", "no,7,b"] * 5]))
    vain = "'smoke': no cell equals the --missing word of the column (case matters)."
    assert vain in read_table(path, target="y", missing=["smoke=Unknown"]).notes
    found = read_table(path, target="y", missing=["smoke=unknown", "*=7"])
    assert not any("no cell is" in note for note in found.notes)
    assert np.isnan(found.X).sum(axis=0).tolist() == [5, 5]
    with pytest.raises(PsephosError, match=r"\(\*=9 for this value in all columns, "):
        read_table(path, target="y", missing=["zz*=9"])
    assert not any("--missing" in note for note in read_table(path, target="y").notes)


def test_words_with_an_equals_sign_can_be_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a=b,y", *[f"{i},{'uv'[i % 2]}" for i in range(9)], "x=y,u"]))
    with pytest.raises(PsephosError, match="has text in line 11") as caught:
        read_table(path, target="y")
    assert caught.value.options == (("--missing", "a=b=x=y"),)
    for word in ("a=b=x=y", "*=x=y"):
        assert np.isnan(read_table(path, target="y", missing=[word]).X).sum() == 1
    with pytest.raises(PsephosError, match=r"\*=x=y if = is part of the value"):
        read_table(path, target="y", missing=["x=y"])


@pytest.mark.parametrize("kind", ["npz", "parquet", "feather"])
def test_words_of_one_column_of_numbers_of_32_bits(tmp_path, kind):
    X = np.column_stack([np.arange(40) % 7, np.arange(40) % 5]).astype(np.float32)
    X[3:6, 0], y = 99.9, list("uv" * 20)
    path = tmp_path / f"t.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=y, feature_names=["a", "b"])
    else:
        pytest.importorskip("pyarrow")
        getattr(pd.DataFrame(X, columns=["a", "b"]).assign(y=y), f"to_{kind}")(path)
    for word in ("a=99.9", "99.9"):
        found = read_table(path, target="y", missing=[word])
        assert np.isnan(found.X).sum(axis=0).tolist() == [3, 0]
        assert found.notes == ("cells that --missing makes missing: 3 in 'a'.",)
    found = read_table(path, target="y", missing=["b=99.9"])
    assert not np.isnan(found.X).any()
    assert any("no cell equals the --missing word" in one for one in found.notes)
    codes = [one for one in found.cautions() if one.code == "FD007"]
    assert [one.columns for one in codes] == [("a",)]
    assert "99.9 in 'a'" in codes[0].sentence
    kept = read_table(path, target="y", missing=["a=99.9"], categorical=["a"])
    assert kept.categories[0][1] in ("1.0", "1")
    assert np.isnan(kept.X).sum() == 3


def test_a_mark_of_no_number_matches_however_it_is_written(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{i * 1.37:.2f}" for i in range(40)]
    path.write_text("\n".join(["x,y", *rows, "1,-9.00", "2,-9"]))
    found = read_table(path, target="y", task="numbers", unlabeled=-9)
    assert len(found.y) == 40
    assert len(read_table(path, target="y", task="numbers", unlabeled="-8").y) == 42


def test_words_in_a_target_of_numbers_may_mean_no_value(tmp_path):
    values = [f"{i * 1.37:.3f}" for i in range(57)] + ["n.d."] * 3
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *(f"{i},{v}" for i, v in enumerate(values))]))
    hint = "If they mean missing: --missing 'y=n.d.' --task numbers --unlabeled ''. "
    with pytest.raises(PsephosError, match=re.escape(hint)):
        read_table(tmp_path / "t.csv", target="y")
    how = {"missing": ["y=n.d."], "task": "numbers", "unlabeled": ""}
    assert len(read_table(tmp_path / "t.csv", target="y", **how).y) == 57


def test_options_that_contradict_each_other_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "\n".join(["a,b,g,y", *[f"{i},{i % 3},{i % 4},{'uv'[i % 2]}" for i in range(12)]])
    )
    for how, words in (
        ({"drop": ["y"]}, "'y' is both the target and left out"),
        ({"drop": "g", "group": "g"}, "'g' is both the group and left out"),
        ({"drop": ["b"], "categorical": ["b"]}, "'b' is both categorical and left out"),
        ({"group": "y"}, "the group 'y' is the target"),
        ({"transpose": "no"}, "transpose .* must be one of None, True, False; got 'no'"),
        *(({"skip_last": one}, "skip_last .* must be a whole number of at least 0; got")
          for one in (-1, 1.5, True, "1")),
    ):  # fmt: skip
        with pytest.raises(PsephosError, match=words):
            read_table(path, target="y", **how)
    found = read_table(path, target="y", drop="b", group="g", categorical="a", skip_last=2)
    assert found.names == ("a",)
    assert list(found.categories) == [0]
    assert len(found.y) == 10


def test_one_word_is_a_list_of_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "\n".join(["a,b,y", *[f"{9 - 8 * (i % 4)},{i},{['NA', 'v'][i % 2]}" for i in range(12)]])
    )
    found = read_table(path, target="y", missing="9", keep_word="NA", drop="b")
    assert found.names == ("a",)
    assert np.isnan(found.X).sum() == 3
    assert found.classes.tolist() == ["NA", "v"]


def test_words_for_missing_among_categories_of_h5ad(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.arange(12.0).reshape(12, 1)
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "_index", "gene"
        obs.attrs["column-order"] = ["part", "kind"]
        obs["_index"], var["gene"] = [f"cell{i}" for i in range(12)], ["a"]
        for k, levels in enumerate((["-9", "nd", "w"], ["nd", "u", "v"])):
            group = obs.create_group(("part", "kind")[k])
            group["categories"], group["codes"] = levels, np.arange(12) // (4, 1)[k] % 3
    for words, levels in (
        (["nd"], ("-9", "w")),
        (["-9.0", "part=nd"], ("w",)),
        ([], ("-9", "nd", "w")),
    ):
        found = read_table(tmp_path / "t.h5ad", target="kind", missing=words, classes=["="])
        kinds = ["u", "v"] if words == ["nd"] else ["nd", "u", "v"]
        assert found.classes.tolist() == kinds
        assert found.categories[0] == levels
        assert not any("no cell is" in note for note in found.notes)


def test_a_target_beyond_what_values_may_be_is_refused(tmp_path):
    rows = [f"{i % 7},{i * 1.37:.3f}" for i in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y", *rows, "1,1e200"]))
    with pytest.raises(PsephosError, match=r"column 'y' is 1e\+200 in row 60"):
        read_table(path, target="y")
    path.write_text("\n".join(["x,y", *rows, "1,1e100"]))
    assert read_table(path, target="y").y.max() == 1e100


def test_numbers_with_a_space_of_no_width(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y", *[f"{i}.5\u200b,{'uv'[i % 2]}" for i in range(12)]]), "utf-8")
    found = read_table(path, target="y")
    assert found.categories == {}
    assert found.X[:, 0].tolist() == [i + 0.5 for i in range(12)]
    path.write_text(
        "\n".join(["x,y", *[f"{'ab'[i % 2]}\u200bc,{i % 2}" for i in range(12)]]), "utf-8"
    )
    assert list(read_table(path, target="y").categories) == [0]


def test_check_table_of_lists_and_odd_arguments():
    from psephos import check_table

    X, y = [[i * 7 % 11, i * i % 13] for i in range(30)], [i % 2 for i in range(30)]
    assert check_table(X, y) == check_table(np.array(X), np.array(y))
    for how in ({"n_folds": "5"}, {"n_folds": 0}, {"n_folds": True}):
        with pytest.raises(PsephosError, match="n_folds must be a whole number, at least 2; got"):
            check_table(X, y, **how)
    for name, values in (("y", {0, 1}), ("groups", "abc")):
        with pytest.raises(PsephosError, match=f"{name} does not have 30 values"):
            check_table(X, **{name: values})


def test_arguments_that_are_no_words_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,y", *[f"{i},{i % 3},{'uv'[i % 2]}" for i in range(12)]]))
    for how in ({"missing": [9]}, {"missing": [None]}, {"missing": 3}, {"keep_word": 3},
                {"drop": 3}, {"categorical": [0]}, {"target": b"y"}, {"id": 3}, {"group": ["b"]},
                {"encoding": 3}, {"path": 3}, {"path": None}, {"path": b"t"}, {"path": ""},
                ):  # fmt: skip
        with pytest.raises(TypeError, match=f"{next(iter(how))} must be (a word|the path).*; got"):
            read_table(**({"path": path, "target": "y"} | how))
    assert read_table(str(path), target=("y",), drop=np.array(["b"])).names == ("a",)
