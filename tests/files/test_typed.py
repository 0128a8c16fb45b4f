"""Numbers that a file holds as numbers are those numbers, whatever marks and words text has."""

import re
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from psephos import CARTClassifier, read_table
from psephos._errors import PsephosError
from psephos.cli.fit import fitted
from psephos.files.cases import Wanted
from psephos.files.cells import Cells, number_form
from psephos.files.formats import read_sheet
from psephos.files.levels import LevelCodes
from psephos.files.sheet import ColumnChoice, read_cases
from psephos.protocol.tables.labels import coded

EUROPE = {"decimal": ",", "thousands": "."}
X = [6.096, 3.158, 1.328, 1.132]


def workbook(frame, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    frame.to_excel(path, index=False)
    return path


def parquet(frame, path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(path, index=False)
    return path


def column_of(table):
    return table.X[:, 0].tolist()


# ------------------------------------------------------------------- marks
@pytest.mark.parametrize("write", [workbook, parquet])
def test_marks_are_of_text_alone(tmp_path, write):
    frame = pd.DataFrame({"s": list("abcd"), "x": X, "y": list("uvuv")})
    name = "t.xlsx" if write is workbook else "t.parquet"
    labels = tmp_path / "l.csv"
    frame[["s", "y"]].to_csv(labels, index=False)
    whole = read_table(write(frame, tmp_path / name), target="y", id="s", **EUROPE)
    joined = read_table(
        write(frame[["s", "x"]], tmp_path / name), target="y", id="s", labels_from=labels, **EUROPE
    )
    rows = pd.DataFrame({"gene": ["x"], **dict(zip("abcd", ([v] for v in X), strict=True))})
    turned = read_table(
        write(rows, tmp_path / name), target="y", id="s", labels_from=labels, **EUROPE
    )
    assert column_of(whole) == column_of(joined) == column_of(turned) == X
    assert turned.names == ("x",)
    assert type(turned.names[0]) is str


def test_decimals_and_numbers_beside_texts(tmp_path):
    frame = pd.DataFrame({"d": [Decimal(str(v)) for v in X], "y": list("uvuv")})
    path = parquet(frame, tmp_path / "t.parquet")
    assert column_of(read_table(path, target="y", **EUROPE)) == X
    mixed = pd.DataFrame({"m": [6.096, "6,5", "1.000,5", 2], "y": list("uvuv")})
    path = workbook(mixed, tmp_path / "t.xlsx")
    assert column_of(read_table(path, target="y", **EUROPE)) == [6.096, 6.5, 1000.5, 2]
    behind = pd.DataFrame({"m": [60.96, "20,5-", 11.125, "15-"], "y": list("uvuv")})
    path = workbook(behind, tmp_path / "t.xlsx")
    assert column_of(read_table(path, target="y", **EUROPE)) == [60.96, -20.5, 11.125, -15]


def test_a_target_of_numbers_is_that_of_its_file(tmp_path):
    values = np.random.default_rng(0).normal(5, 1, 40).round(3)
    frame = pd.DataFrame({"a": np.arange(40) % 7, "y": values})
    path = parquet(frame, tmp_path / "t.parquet")
    assert read_table(path, target="y", **EUROPE).y.tolist() == values.tolist()


def test_marks_of_another_program_are_refused():
    def refused(words, **form):
        with pytest.raises(PsephosError, match="numbers in another notation") as caught:
            read_words(words, Cells(**form))
        return str(caught.value)

    assert "read the table with --decimal . if all" in refused(["0.5", "1.5", "2.5"], decimal=",")
    assert "write the bare numbers" in refused(["1,23,456", "2,34,567"], thousands=",")
    comma = refused(["1,23", "1,234"], thousands=",")
    assert "followed by three digits" in comma
    assert comma.endswith("use --decimal , and leave --thousands out.")
    point = refused(["1.23", "1.234"], decimal=",", thousands=".")
    assert point.endswith("use --decimal . and leave --thousands out.")
    assert "read the table with --decimal ," in refused(["1,23", "4,5"], thousands=" ")
    assert number_form("1,2345,6789") == "other groups"
    assert number_form("1,2,3") == number_form("1.2.3") == ""


def read_words(words, cells):
    from psephos.files.columns import holds_words

    odd = [word if cells.number(word) is None else None for word in words]
    return holds_words("z", odd, 0, lambda i: f"line {i + 2}", cells=cells)


# ------------------------------------------------------------------- words for missing values
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_number_for_missing_values_is_found_in_its_own_type(tmp_path, kind, transpose):
    values = np.array([-99.9, 1.5, -99.9, 2.25], dtype=kind)
    how = {"target": "y", "missing": ["-99.9"]}
    np.savez(tmp_path / "t.npz", X=values[:, None], y=list("uvuv"))
    tables = [read_table(tmp_path / "t.npz", **how)]
    if kind is not np.float16:  # which pandas does not write as parquet
        path = parquet(pd.DataFrame({"x": values, "y": list("uvuv")}), tmp_path / "t.parquet")
        tables.append(read_table(path, **how, duplicates="first" if transpose else None))
    for table in tables:
        np.testing.assert_array_equal(table.X[:, 0], [np.nan, 1.5, np.nan, 2.25])
    np.savez(tmp_path / "t.npz", X=np.array([[np.inf], [1]], dtype=kind), y=list("uv"))
    with pytest.raises(PsephosError, match="is infinite"):  # 1e300 is not in such a type
        read_table(tmp_path / "t.npz", missing=["1e300"])


def test_categories_of_small_numbers(tmp_path):
    X = np.array([[-99.9], [0.1], [0.1], [2]], dtype=np.float32)
    np.savez(tmp_path / "t.npz", X=X, y=list("uvuv"), feature_names=["x"])
    found = read_table(tmp_path / "t.npz", missing=["-99.9"], categorical=["x"])
    assert np.isnan(found.X[0, 0])
    path = parquet(pd.DataFrame({"x": X[:, 0], "y": list("uvuv")}), tmp_path / "t.parquet")
    found = read_table(path, target="y", missing=["-99.9"], categorical=["x"])
    assert found.categories == {0: ("0.1", "2.0")}
    np.testing.assert_array_equal(found.X[:, 0], [np.nan, 0, 0, 1])


def test_a_dictionary_of_numbers(tmp_path):
    pa = pytest.importorskip("pyarrow")
    column = pa.array(np.array([-99.9, 1.5, -99.9], dtype=np.float32)).dictionary_encode()
    pa.feather = pytest.importorskip("pyarrow.feather")
    pa.feather.write_feather(pa.table({"x": column, "y": list("uvu")}), tmp_path / "t.feather")
    found = read_table(tmp_path / "t.feather", target="y", missing=["-99.9"])
    assert found.categories == {0: ("1.5",)}  # by its type, as in a frame
    np.testing.assert_array_equal(found.X[:, 0], [np.nan, 0, np.nan])
    path = parquet(
        pd.DataFrame({"x": [-99.9, 1.5, -99.9], "y": list("uvu")}), tmp_path / "t.parquet"
    )
    found = read_table(path, target="y", missing=["-99.9"])
    np.testing.assert_array_equal(found.X[:, 0], [np.nan, 1.5, np.nan])


def categories():
    codes = np.arange(24) * 7 % 4
    words = pd.Categorical([str(one) for one in codes])
    frame = pd.DataFrame({"cluster": words, "batch": pd.Categorical(codes % 3), "x": codes / 2})
    return frame.assign(y=np.where(np.isin(codes, (0, 2)), "u", "v"))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_declared_categories_of_digits_are_those_of_a_frame(tmp_path, kind):
    pytest.importorskip("pyarrow")
    frame, path = categories(), tmp_path / f"t.{kind}"
    getattr(frame, f"to_{kind}")(path)
    found = read_table(path, target="y")
    assert found.categories == {0: ("0", "1", "2", "3"), 1: ("0", "1", "2")}
    notes = [one for one in found.notes if "because of their type" in one]
    assert len(notes) == 1
    assert "'cluster', 'batch'" in notes[0]
    named = read_table(path, target="y", categorical=["cluster", "batch"])
    assert not any("because of their type" in note for note in named.notes)
    model = CARTClassifier().fit(frame[["cluster"]], frame["y"])
    of_file = fitted(CARTClassifier(), read_table(path, target="y", drop=["x", "batch"]))
    assert str(of_file.vote_.voters) == str(model.vote_.voters)
    plain = frame.astype({"cluster": int, "batch": int})
    getattr(plain, f"to_{kind}")(path)
    found = read_table(path, target="y")
    assert (found.categories, found.notes) == ({}, ())


def test_a_model_of_numbers_reads_declared_categories(tmp_path):
    """As models did that were fitted on such files before."""
    path, wanted = tmp_path / "t.parquet", Wanted(2, (0, 1), ("cluster", "batch"))
    parquet(categories(), path)
    values = read_cases(path, wanted, None).X
    np.testing.assert_array_equal(values[:, 0], np.arange(24) * 7 % 4)
    np.testing.assert_array_equal(values[:, 1], np.arange(24) * 7 % 4 % 3)


def test_words_of_the_user_stand_for_no_value_in_declared_categories(tmp_path):
    path = tmp_path / "t.parquet"
    parquet(categories(), path)
    found = read_table(path, target="y", missing=["cluster=3"])
    assert found.categories[0] == ("0", "1", "2")
    assert found.categories[1] == ("0", "1", "2")


def test_a_declared_target_is_of_classes_unless_numbers_are_requested(tmp_path):
    values = np.arange(40) * 7 % 40 / 2
    frame = pd.DataFrame({"x": values % 3, "y": pd.Categorical(values.astype(str))})
    path = parquet(frame, tmp_path / "t.parquet")
    assert read_table(path, target="y", task="numbers").y.tolist() == values.tolist()
    frame["y"] = pd.Categorical((values > 5).astype(float) / 2)
    parquet(frame, path)
    found = read_table(path, target="y")
    assert found.classes.tolist() == ["0.0", "0.5"]
    parquet(frame.astype({"y": float}), path)
    with pytest.raises(PsephosError, match="--task numbers or --task classes"):
        read_table(path, target="y")


@pytest.mark.parametrize("write", [workbook, parquet])
def test_texts_that_begin_with_0_are_named(tmp_path, write):
    frame = pd.DataFrame({"zip": ["00204", "10115", "00300"], "x": [0.5, 0, 7], "y": list("uvu")})
    path = write(frame, tmp_path / ("t.xlsx" if write is workbook else "t.parquet"))
    found = read_table(path, target="y")
    assert any("'zip' (00204): read as numbers" in note for note in found.notes)
    assert read_cases(path, Wanted(2, (0,), ("zip", "x")), None).notes == []
    write(frame.assign(zip=[204, 10115, 300]), path)
    assert read_table(path, target="y").notes == ()


# ------------------------------------------------------------------- means
@pytest.mark.parametrize("how", [{"decimal": ","}, EUROPE])
def test_means_are_not_read_again(tmp_path, how):
    (tmp_path / "t.csv").write_text("x;x;y\n1,125;1,125;u\n2,25;3,5;v\n4;4,5;u\n")
    found = read_table(tmp_path / "t.csv", target="y", duplicates="mean", **how)
    assert column_of(found) == [1.125, 2.875, 4.25]
    assert found.categories == {}


def test_a_mean_is_not_a_word_for_missing_values(tmp_path):
    (tmp_path / "t.csv").write_text("x,x,y\n-8,-10,u\n-9,1,v\n-9,-9,u\n")
    found = read_table(tmp_path / "t.csv", target="y", duplicates="mean", missing=["-9"])
    np.testing.assert_array_equal(found.X[:, 0], [-9, 1, np.nan])


# ------------------------------------------------------------------- what is not a real number
def test_complex_numbers_are_refused(tmp_path):
    head = "%%MatrixMarket matrix coordinate complex"
    for kind in ("general", "hermitian"):
        (tmp_path / "t.mtx").write_text(f"{head} {kind}\n2 2 2\n1 1 1 0\n2 1 2 3\n")
        with pytest.raises(PsephosError, match="holds complex numbers"):
            read_table(tmp_path / "t.mtx", target="column 1")


def h5ad(path, X, values, **old):
    """Write a file whose obs has the column state; `old` are categories of anndata 0.7."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        obs, var = file.create_group("obs"), file.create_group("var")
        for group, n in ((obs, len(X)), (var, X.shape[1])):
            group.attrs["_index"] = "i"
            group["i"] = [f"n{k}" for k in range(n)]
        obs.attrs["column-order"] = ["state"]
        file["X"] = X
        obs["state"] = values
        for name, levels in old.items():
            obs[f"__categories/{name}"] = levels
            obs[name].attrs["categories"] = obs[f"__categories/{name}"].ref
    return path


def test_categories_of_old_h5ad(tmp_path):
    codes = np.array([0, 1, -1, 1], dtype=np.int8)
    path = h5ad(tmp_path / "t.h5ad", np.eye(4, 2), codes, state=["well", "ill"])
    sheet = read_sheet(path, lambda header: ColumnChoice([1]))
    assert coded([word or None for word in sheet.words[1]])[1] == ("ill", "well")
    assert sheet.words[1] == ["well", "ill", "", "ill"]


def test_complex_numbers_of_h5ad_are_refused(tmp_path):
    path = h5ad(tmp_path / "t.h5ad", np.eye(4, 2) * 1j, [0, 1, 0, 1])
    with pytest.raises(PsephosError, match=r"is damaged.*\(complex numbers\)"):
        read_table(path, target="state")
    path = h5ad(tmp_path / "t.h5ad", np.eye(4, 2) > 0, [0, 1, 0, 1])
    np.testing.assert_array_equal(read_table(path, target="state").X, np.eye(4, 2))


# ------------------------------------------------------------------- formulas
def rewritten(path, to, part, change):
    """Copy a workbook with one part changed, and renamed where `part` is a pair."""
    old, new = part if isinstance(part, tuple) else (part, part)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(to, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == old:
                content, name = change(content), new
            target.writestr(name, content.replace(old.encode()[3:], new.encode()[3:]))
    return to


@pytest.fixture
def sheet(tmp_path):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "y": list("uvu")})
    return workbook(frame, tmp_path / "whole.xlsx")


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    "cell",
    [
        "<c r='A3'><f>1+1</f></c>",
        '<c r="A3"><f>1+1</f><v xml:space="preserve"></v></c>',
        '<c r="A3"><!-- a --><f>1+1</f></c>',
        '<c r="A3"><f><![CDATA[1+1]]></f></c>',
        '<c r="A3"><f t="shared" si="0"/><v> </v></c>',
        '<c r="A3" t="str"><f>1+1</f></c>',
    ],
)
def test_a_formula_without_its_result_is_found(sheet, tmp_path, cell):
    def put(content):
        return re.sub(rb'<c r="A3"[^>]*>.*?</c>', cell.encode(), content)

    for part in (SHEET, (SHEET, "xl/worksheets/daten.xml")):
        path = rewritten(sheet, tmp_path / "t.xlsx", part, put)
        with pytest.raises(PsephosError, match=r"a formula without a result \(A3\)"):
            read_table(path, target="y")
    nameless = rewritten(
        sheet, tmp_path / "t.xlsx", SHEET, lambda text: put(text).replace(b'r="A3"', b"")
    )
    with pytest.raises(PsephosError, match="a formula without a result"):
        read_table(nameless, target="y")


@pytest.mark.parametrize(
    ("cell", "value"),
    [(b'<c r="A3"><f>3*3</f><v>9</v></c>', 9), (b'<c r="A3" t="str"><f>""</f><v></v></c>', np.nan)],
)
def test_a_formula_with_its_result_is_that(sheet, tmp_path, cell, value):
    path = rewritten(
        sheet, tmp_path / "t.xlsx", SHEET, lambda s: re.sub(rb'<c r="A3"[^>]*>.*?</c>', cell, s)
    )
    np.testing.assert_array_equal(read_table(path, target="y").X[:, 0], [0.5, value, 2.5])


def test_formulas_of_other_sheets_do_not_matter(sheet, tmp_path):
    book = pytest.importorskip("openpyxl").load_workbook(sheet)
    book.create_sheet("other")["A1"] = "=1+1"
    book.save(tmp_path / "t.xlsx")
    assert column_of(read_table(tmp_path / "t.xlsx", target="y", sheet=1)) == [0.5, 1.5, 2.5]


def test_a_formula_of_an_open_document(tmp_path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("odf")
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5], "y": list("uvu")})
    with pd.ExcelWriter(tmp_path / "whole.ods", engine="odf") as writer:
        frame.to_excel(writer, sheet_name="one", index=False)
        frame.to_excel(writer, sheet_name="two", index=False)

    def put(content):
        first, *rest = content.split(b'table:name="two"')
        bare = b'<table:table-cell table:formula="of:=1+1"/>'
        found = rb'<table:table-cell[^>]*office:value="1.5"[^>]*>.*?</table:table-cell>'
        return b'table:name="two"'.join([re.sub(found, bare, first), *rest])

    path = rewritten(tmp_path / "whole.ods", tmp_path / "t.ods", "content.xml", put)
    with pytest.raises(PsephosError, match=r"without a result \(of:=1\+1\)"):
        read_table(path, target="y", sheet="one")
    assert column_of(read_table(path, target="y", sheet="two")) == [0.5, 1.5, 2.5]


# ------------------------------------------------------------------- ARFF
def arff(path, kinds, rows, **how):
    columns = "".join(f"@attribute {name} {kind}\n" for name, kind in kinds.items())
    path.write_text("@relation r\n" + columns + "@data\n" + "\n".join(rows) + "\n")
    return read_table(path, target="y", **how)


def test_escapes_and_quoted_marks_of_arff(tmp_path):
    kinds = {"x": "numeric", "c": r"{'a\nb',anb}", "s": "string", "y": "{p,q}"}
    rows = [r"1,'a\nb','?',p", "?,anb,'?',q", r"3,'a\nb',w,p", "4,?,?,q"]
    found = arff(tmp_path / "t.arff", kinds, rows)
    assert found.categories == {1: ("a\nb", "anb"), 2: ("?", "w")}
    np.testing.assert_array_equal(found.X[:, 0], [1, np.nan, 3, 4])
    np.testing.assert_array_equal(found.X[:, 2], [0, 0, 1, np.nan])


def test_a_level_called_na_leaves_other_columns_alone(tmp_path):
    kinds = {"x": "numeric", "c": "{NA,b}", "n": "string", "y": "{p,q}"}
    found = arff(tmp_path / "t.arff", kinds, ["1,NA,5,p", "NA,b,NA,q", "3,?,7,p"])
    np.testing.assert_array_equal(found.X, [[1, 0, 5], [np.nan, 1, np.nan], [3, np.nan, 7]])
    assert found.categories == {1: ("NA", "b")}


def test_a_level_that_is_not_a_number_makes_a_column_of_categories(tmp_path):
    kinds = {"doors": "{2,3,5more}", "k": "{0,1}", "band": "{'<20','20-30'}", "y": "{p,q}"}
    rows = ["2,0,'<20',p", "5more,1,'20-30',q", "3,0,'<20',p", "2,1,?,q"]
    found = arff(tmp_path / "t.arff", kinds, rows)
    assert found.categories == {0: ("2", "3", "5more"), 2: ("20-30", "<20")}
    np.testing.assert_array_equal(found.X[:, 0], [0, 2, 1, 0])
    np.testing.assert_array_equal(found.X[:, 1], [0, 1, 0, 1])
    assert arff(tmp_path / "t.arff", kinds, ["2,0,?,p", "3,1,?,q"]).categories[0] == ("2", "3")
    given = arff(tmp_path / "t.arff", kinds, rows, missing=["5more"])
    assert given.categories[0] == ("2", "3")


# ------------------------------------------------------------------- truth values, empty rows
def test_truth_values_as_spreadsheets_write_them():
    find = LevelCodes(["False", "True"])
    assert [find.code(v) for v in ("TRUE", "false", True, "True", False)] == [1, 0, 1, 1, 0]
    assert np.isnan(find.code("yes"))
    assert LevelCodes(["TRUE", "FALSE"]).code(True) == 0
    both = LevelCodes(["TRUE", "True"])  # two categories: only as they are written
    assert [both.code("TRUE"), both.code("True")] == [0, 1]
    assert np.isnan(both.code("true"))


def test_an_empty_row_of_a_workbook_is_a_case(tmp_path):
    frame = pd.DataFrame({"x": [1.5, None, 2.5], "y": ["u", None, "v"]})
    path = workbook(frame, tmp_path / "t.xlsx")
    wanted = Wanted(1, [0], ["x"])
    answered = read_cases(path, wanted, None)
    np.testing.assert_array_equal(answered.X[:, 0], [1.5, np.nan, 2.5])
    assert (answered.ids, answered.notes) == (["row 2", "row 3", "row 4"], [])
    found = read_table(path, target="y")
    assert (found.n_rows, found.notes) == (2, ("empty rows are left out: 1.",))
