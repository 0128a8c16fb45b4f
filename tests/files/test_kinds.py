"""Every kind of file that holds a table gives the model that the csv file of the table gives."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

import psephos.files.libraries  # holds what the next names, as it is now
import psephos.files.packed
from psephos import AdaBoostClassifier, read_table, save
from psephos._errors import MissingExtraError, PsephosError
from psephos.cli.fit import fitted


@pytest.fixture(scope="module")
def cases():
    """80 cases with names, words among the columns, and missing values of either kind."""
    data = load_breast_cancer(as_frame=True)
    rows = np.r_[0:40, 100:140]
    frame = data.data.iloc[rows, :8].reset_index(drop=True)
    frame["cells"] = np.arange(80) * 37 % 23  # whole numbers
    frame["site"] = np.where(frame["mean texture"] > 18, "left", "right")
    frame.loc[5, "site"] = None
    frame.loc[[3, 9], "mean area"] = np.nan
    frame["outcome"] = np.where(data.target[rows] == 1, "benign", "malignant")
    frame.insert(0, "case", [f"p{i}" for i in range(80)])
    return frame


def model_of(path, folder, **roles):
    """The bytes of the model of a file, and its table."""
    table = read_table(path, **{"target": "outcome", "id": "case", **roles})
    model = fitted(AdaBoostClassifier(n_estimators=12, random_state=0), table)
    save(model, folder / "m.psephos")
    return (folder / "m.psephos").read_bytes(), table


@pytest.fixture(scope="module")
def csv(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    cases.to_csv(folder / "t.csv", index=False)
    return model_of(folder / "t.csv", folder)[0]


def parquet(frame, path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(path, index=False)


def feather(frame, path):
    pytest.importorskip("pyarrow")
    frame.to_feather(path)


def workbook(frame, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    frame.to_excel(path, index=False)


def open_document(frame, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("odf")
    frame.to_excel(path, index=False, engine="odf")


def text(**form):
    def write(frame, path):
        frame.to_csv(path, **{"index": False, **form})

    return write


def archive(frame, path):
    with zipfile.ZipFile(path, "w") as found:
        found.writestr("of/2024/", "")
        found.writestr("of/2024/t.csv", frame.to_csv(index=False))
        found.writestr("__MACOSX/._t.csv", "")


def packed(module, text=True):
    def write(frame, path):
        path.write_bytes(module.compress(frame.to_csv(index=False).encode()))

    return write


def by_blanks(frame, path):
    """As R's write.table writes it: names of rows, a first line one name shorter, quoted words."""
    body = frame.to_csv(index=False, sep=" ", na_rep="NA", quoting=2).splitlines()
    rows = [f'"{i}" {line}' for i, line in enumerate(body[1:], 1)]
    path.write_text("\n".join([body[0], *rows]) + "\n")


def turned(frame, path):
    frame.set_index("case").T.to_csv(path)


def commented(frame, path):
    path.write_text("# of 2024\n# two lines\n\n" + frame.to_csv(index=False))


def units(frame, path):
    head, *rows = frame.to_csv(index=False).splitlines()
    line = ",".join("[mm]" if name.startswith("mean") else "" for name in frame.columns)
    path.write_text("\n".join([head, line, *rows]) + "\n")


def with_empty_ends(frame, path):
    lines = frame.to_csv(index=False).splitlines()
    rows = [f"{line},," for line in lines] + ["," * (lines[0].count(",") + 2)] * 3
    path.write_text("\n\n".join(rows) + "\n")


KINDS = {
    "t.parquet": parquet,
    "t.feather": feather,
    "t.xlsx": workbook,
    "t.ods": open_document,
    "t.tab": text(sep="\t"),
    "t.data": text(),
    "utf16.txt": text(sep="\t", encoding="utf-16"),
    "cp1252.csv": text(encoding="cp1252"),
    "t.zip": archive,
    "t.csv.bz2": packed(bz2),
    "t.csv.xz": packed(lzma),
    "t.csv.gz": packed(gzip),
    "r.txt": by_blanks,
    "turned.csv": turned,
    "comments.csv": commented,
    "units.csv": units,
    "ends.csv": with_empty_ends,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_same_model_as_from_csv(cases, csv, tmp_path, name):
    KINDS[name](cases, tmp_path / name)
    roles = {"drop": ["row names"]} if name == "r.txt" else {}
    found, table = model_of(tmp_path / name, tmp_path, **roles)
    assert found == csv
    assert table.ids.tolist() == cases["case"].tolist()


@pytest.mark.parametrize("sparse", ["", "csr", "csc"])
def test_h5ad(tmp_path, sparse):
    """Numbers in X, categories and whole numbers in obs."""
    h5py = pytest.importorskip("h5py")
    iris = load_iris()
    kinds, n = iris.target_names[iris.target], len(iris.target)
    X = np.where(iris.data > 1, iris.data, 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    batch = np.arange(n) % 7
    frame = pd.concat([pd.DataFrame({"batch": batch, "kind": kinds}), frame], axis=1)
    frame.index = [f"cell{i}" for i in range(n)]
    frame.to_csv(tmp_path / "t.csv")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        if sparse:
            matrix, group = sp.csr_array(X).asformat(sparse), file.create_group("X")
            group.attrs["encoding-type"] = f"{sparse}_matrix"
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        else:
            file["X"] = X
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "_index", "gene"
        obs.attrs["column-order"] = ["batch", "kind"]
        obs["_index"], var["gene"] = list(frame.index), list("abcd")
        obs["batch"] = batch
        levels, codes = np.unique(kinds, return_inverse=True)
        obs.create_group("kind")["categories"] = [str(one) for one in levels]
        obs["kind/codes"] = codes.astype(np.int8)
    roles = {"target": "kind", "id": None}
    assert (
        model_of(tmp_path / "t.h5ad", tmp_path, **roles)[0]
        == model_of(tmp_path / "t.csv", tmp_path, **roles)[0]
    )


def test_categories_of_digits_in_h5ad_are_categories(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.arange(8.0).reshape(8, 1)
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "_index", "gene"
        obs.attrs["column-order"] = ["cluster", "kind"]
        obs["_index"], var["gene"] = [f"cell{i}" for i in range(8)], ["a"]
        for name, levels in (("cluster", ["0", "1", "NA"]), ("kind", ["u", "v", "w"])):
            obs.create_group(name)["categories"] = levels
            obs[f"{name}/codes"] = np.arange(8, dtype=np.int8) % 3
    found = read_table(tmp_path / "t.h5ad", target="kind")
    assert found.names == ("cluster", "a")
    assert found.categories == {0: ("0", "1")}
    np.testing.assert_array_equal(found.X[:4, 0], [0, 1, np.nan, 0])
    assert found.notes[0] == (
        "columns of obs used as features: 'cluster'; leave out with --drop those that are "
        "not known for new cases."
    )
    assert "in columns of categories: 'NA' in 'cluster'" in found.notes[1]
    assert found.left_out == ("row names",)


@pytest.mark.parametrize("start", ["matrix", "GSM1_matrix", "pbmc"])
def test_a_matrix_beside_its_names(tmp_path, start):
    """As 10x Genomics writes it, features in rows; labels are elsewhere."""
    iris = load_iris()
    before = "" if start == "matrix" else f"{start.removesuffix('_matrix')}_"
    scipy.io.mmwrite(tmp_path / f"{start}.mtx", sp.coo_array(iris.data.T))
    cells = [f"AC-{i}" for i in range(150)]
    (tmp_path / f"{before}barcodes.tsv").write_text("\n".join(cells))
    genes = [f"ENS{j}\tG{j}\tGene Expression" for j in range(4)]
    (tmp_path / f"{before}features.tsv.gz").write_bytes(gzip.compress("\n".join(genes).encode()))
    labels = pd.DataFrame({"cell": cells, "kind": iris.target_names[iris.target]})[::-1]
    labels.to_csv(tmp_path / "labels.csv", index=False)
    whole = pd.DataFrame(iris.data, columns=[f"G{j}" for j in range(4)])
    whole.insert(0, "cell", cells)
    whole.merge(labels).to_csv(tmp_path / "t.csv", index=False)
    roles = {"target": "kind", "id": "cell"}
    found, table = model_of(
        tmp_path / f"{start}.mtx", tmp_path, **roles, labels_from=tmp_path / "labels.csv"
    )
    assert found == model_of(tmp_path / "t.csv", tmp_path, **roles)[0]
    assert table.ids.tolist() == cells
    (tmp_path / f"{before}barcodes.tsv").write_text("\n".join(cells[1:]))
    with pytest.raises(PsephosError, match="name 4 features and 149 cases"):
        read_table(tmp_path / f"{start}.mtx", target="kind")


@pytest.mark.parametrize(
    ("form", "written"),
    [("yyyy-MM-dd", "%Y-%m-%d"), ("yyyyMMdd", "%Y%m%d"), ("yyyy-MM-dd HH:mm", "%Y-%m-%d %H:%M")],
)
def test_dates_of_arff_are_those_of_csv(cases, tmp_path, form, written):
    days = pd.Timestamp("2021-02-09 10:30") + pd.to_timedelta(np.arange(80) * 7 % 30, "D")
    frame = cases.drop(columns="site").assign(seen=days.strftime(written))
    frame.to_csv(tmp_path / "t.csv", index=False)
    levels = dict.fromkeys(frame.columns, "numeric")
    levels |= {"case": "string", "outcome": "{benign,malignant}", "seen": f"date '{form}'"}
    head = [f"@attribute '{name}' {kind}" for name, kind in levels.items()]
    frame["seen"] = "'" + frame["seen"] + "'"
    rows = frame.to_csv(index=False, header=False, na_rep="?")
    text = "\n".join(["@relation t", *head, "@data", rows])
    (tmp_path / "t.arff").write_text(text)
    found, table = model_of(tmp_path / "t.arff", tmp_path)
    assert found == model_of(tmp_path / "t.csv", tmp_path)[0]
    assert [one.columns for one in table.cautions() if one.code == "FD001"] == [("seen",)]


def array(frame, path):
    np.save(path, frame.to_numpy(dtype=str))  # numbers as they are written, beside the classes


@pytest.mark.parametrize(("name", "write"), [("t.ods", open_document), ("t.npy", array)])
def test_a_real_table_gives_the_bytes_of_its_csv(data_dir, tmp_path, name, write):
    table = read_table(data_dir / "colon_alon" / "colon_alon.npz")
    frame = pd.DataFrame(table.X[:, :60]).add_prefix("column ")
    frame["column 60"] = table.y.astype(str)
    frame.to_csv(tmp_path / "t.csv", index=False)
    write(frame, tmp_path / name)
    roles = {"target": "column 60", "id": None}
    assert (
        model_of(tmp_path / name, tmp_path, **roles)[0]
        == model_of(tmp_path / "t.csv", tmp_path, **roles)[0]
    )


def test_matrices_without_names(tmp_path):
    X = np.c_[load_iris().data, load_iris().target]
    np.save(tmp_path / "t.npy", X)
    scipy.io.mmwrite(tmp_path / "t.mtx", sp.coo_array(X))
    roles = {"target": "column 4", "id": None}
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(5)]).astype({"column 4": int})
    table.to_csv(tmp_path / "t.csv", index=False)
    whole = read_table(tmp_path / "t.csv", **{**roles})
    for name in ("t.npy", "t.mtx"):
        found = read_table(tmp_path / name, **roles, categorical=["column 4"])
        np.testing.assert_array_equal(found.X, whole.X)
        assert [float(one) for one in found.y] == whole.y.tolist()
        assert any("have no names" in note for note in found.notes)


# ------------------------------------------------------------------- words, dates, missing values
def test_words_of_values_are_those_of_csv(tmp_path):
    pytest.importorskip("pyarrow")
    days = pd.to_datetime(["2024-01-02", "2024-01-02", None, "2024-03-01"] * 3)
    frame = pd.DataFrame(
        {
            "day": days, "flag": [True, False, True, True] * 3, "n": [1, None, 3, 4] * 3,
            "float": np.array([0.1, 0.2, 0.3, 0.4] * 3, dtype=np.float32),
            "y": [1, 2] * 6, "code": pd.Categorical(["u", "v", None, "u"] * 3),
        }
    ).astype({"n": "Int64"})  # fmt: skip
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", target="y")
    assert found.names == ("day", "flag", "n", "float", "code")
    assert found.categories == {
        0: ("2024-01-02", "2024-03-01"), 1: ("False", "True"), 4: ("u", "v"),
    }  # fmt: skip
    np.testing.assert_array_equal(found.X[:4, 2], [1, np.nan, 3, 4])
    assert found.X[0, 3] == np.float32(0.1)  # as it is stored
    assert found.y.tolist() == [1, 2] * 6
    assert np.isnan(found.X[2, [0, 4]]).all()
    frame.assign(bad=[[1, 2]] * 12).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(PsephosError, match="column 'bad' holds a list"):
        read_table(tmp_path / "t.parquet", target="y")


def test_the_index_of_pandas_is_the_id(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.5, 2, 3], "y": list("uvu")}, index=["r1", "r2", "r3"])
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", target="y")
    assert (found.names, found.ids.tolist()) == (("a",), ["r1", "r2", "r3"])


# ------------------------------------------------------------------- workbooks
@pytest.fixture
def book():
    pytest.importorskip("python_calamine")
    return pytest.importorskip("openpyxl").Workbook()


def filled(sheet, rows):
    for row in rows:
        sheet.append(row)


ROWS = [["a", "y"], [1, "u"], [2.5, "v"], [None, "u"]]


def test_a_sheet_is_named_where_there_are_several(book, tmp_path):
    path = tmp_path / "t.xlsx"
    filled(book.active, [["this", "is"], ["another", "table"]])
    filled(book.create_sheet("cases"), ROWS)
    book.create_sheet("empty")
    book.save(path)
    sizes = r"2 sheets \(rows x columns\), 'Sheet' \(2 x 2\), 'cases' \(4 x 2\): choose .*"
    with pytest.raises(PsephosError, match=sizes + "the largest, with --sheet 'cases'") as error:
        read_table(path, target="another")
    assert error.value.options == (("--sheet", "cases"),)
    for name in ("cases", "2", 2):
        found = read_table(path, target="y", sheet=name)
        np.testing.assert_array_equal(found.X[:, 0], [1, 2.5, np.nan])
    with pytest.raises(PsephosError, match=r"no sheet 'case'.* did you mean 'cases'"):
        read_table(path, target="y", sheet="case")
    with pytest.raises(PsephosError, match="no sheet '4'"):
        read_table(path, target="y", sheet=4)
    with pytest.raises(PsephosError, match="has no rows below that of column names"):
        read_table(path, target="y", sheet="empty")


def test_of_several_sheets_the_one_with_the_columns_is_read(book, tmp_path):
    path = tmp_path / "t.xlsx"
    filled(book.active, [["column", "meaning"], ["a", "dose"], ["y", "state"]])
    filled(book.create_sheet("cases"), [["Ward 3"], [], ["n", "a", "y"]])
    filled(book["cases"], [[f"p{i}", i, "uv"[i % 2]] for i in range(60)])
    filled(book.create_sheet("more"), [["n", "a", "x"], [1, 2, 3]])
    book.save(path)
    for named, words in ({}, "a column 'y'"), ({"id": "n"}, "the columns 'n', 'y'"):
        found = read_table(path, target="y", **named)
        np.testing.assert_array_equal(found.X[:, -1], range(60))
        wanted = f"the sheet 'cases' is read, the only one of 3 with {words}."
        assert found.notes[0] == wanted
    for target in ("a", "z"):  # in two sheets, and in none
        with pytest.raises(PsephosError, match=r"has 3 sheets.*the largest, with --sheet 'cases'"):
            read_table(path, target=target)


def test_titles_and_the_sheet_are_reported(book, tmp_path):
    filled(book.active, [["confidential"]])
    filled(book.create_sheet("cases"), [["List of the ward"], [], ["a", "b", "y"], [1, 2, "u"]])
    filled(book["cases"], [[3, 4, "v"]])
    book.create_sheet("empty")
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx", target="y")
    np.testing.assert_array_equal(found.X, [[1, 2], [3, 4]])
    assert list(found.lines) == [4, 5]
    assert found.notes == (
        "the sheet 'cases' is read, not 'Sheet'.",
        "line 1 above the column names ('List of the ward'): left out as a title.",
    )


def test_a_row_of_units_of_a_sheet_is_left_out(book, tmp_path):
    units = ["roky", "kg", "mmol/l", "mg/l", ""]
    filled(book.active, [[*"abcd", "y"], units, [1, 2, 3, 4, "u"], [5, 6, 7, 8, "v"]])
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx", target="y")
    np.testing.assert_array_equal(found.X, [[1, 2, 3, 4], [5, 6, 7, 8]])
    assert list(found.lines) == [3, 4]
    assert found.notes == ("line 2 holds units ('roky', 'kg', 'mmol/l', 'mg/l') and is left out.",)


def test_texts_with_a_decimal_comma_beside_numbers_of_a_sheet_are_read_by_the_mark(book, tmp_path):
    rows = [[f"{i},32" if i % 3 else i + 0.32, "uv"[i % 2]] for i in range(12)]
    filled(book.active, [["crp", "y"], *rows])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(PsephosError, match=r"numbers: read the texts with --decimal ,") as found:
        read_table(tmp_path / "t.xlsx", target="y")
    assert found.value.options == (("--decimal", ","),)
    table = read_table(tmp_path / "t.xlsx", target="y", decimal=",")
    np.testing.assert_allclose(table.X[:, 0], np.arange(12) + 0.32)


def test_a_repeated_id_is_no_group_where_there_is_one(tmp_path):
    rows = [f"s{max(i, 1)},{i // 2},{i % 5}.5,{'uv'[i % 2]}\n" for i in range(20)]
    (tmp_path / "t.csv").write_text("id,litter,a,y\n" + "".join(rows))
    for group, options in ((None, (("--group", "id"),)), ("litter", ())):
        with pytest.raises(PsephosError, match="each row must have its own") as found:
            read_table(tmp_path / "t.csv", target="y", id="id", group=group)
        assert found.value.options == options


def test_rows_without_any_value_are_noted(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,u\n,NA,u\n3,1,v\n4,2,v\n")
    found = read_table(tmp_path / "t.csv", target="y").notes
    assert [one for one in found if one.startswith("1 case without a value in any column")]


def test_a_formula_without_its_result_is_refused(book, tmp_path):
    filled(book.active, [*ROWS, ["=1+1", "v"]])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(PsephosError, match=r"a formula without a result \(A5\): open it in a"):
        read_table(tmp_path / "t.xlsx", target="y")


def test_merged_heads_and_empty_rows(book, tmp_path):
    filled(book.active, [[], *ROWS[:2], [], *ROWS[2:]])
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx", target="y")
    assert found.notes == ("empty rows are left out: 1.",)
    assert found.lines == [3, 5, 6]
    book.active.insert_rows(1)
    book.active["A1"] = "measured"
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx", target="y").notes == (
        "line 1 above the column names ('measured'): left out as a title.",
        "empty rows are left out: 1.",
    )
    book.active.unmerge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(PsephosError, match=r"column 2 of 't\.xlsx' has no name") as found:
        read_table(tmp_path / "t.xlsx", target="measured")
    assert found.value.options == (("--duplicates", "number"),)


@pytest.mark.parametrize(
    ("heads", "merged", "names"),
    [
        ([["y", "dose", None, "age"]], ["B1:C1"], ("dose", "dose.2", "age")),
        (
            [["y", "blood", None, "urine"], [None, "mean", "sd", "mean"]], ["B1:C1", "A1:A2"],
            ("blood / mean", "blood / sd", "urine / mean"),
        ),
        (
            [["of 2024"], [None, None, "blood"], ["y", "age", "mean", "sd"]], ["A1:D1", "C2:D2"],
            ("age", "blood / mean", "blood / sd"),
        ),
        (
            [["y", "dose", None, "age"], ["", "mg", "mg", "years"]], ["B1:C1"],
            ("dose", "dose.2", "age"),
        ),
    ],
)  # fmt: skip
def test_merged_names_hold_for_their_columns(book, tmp_path, heads, merged, names):
    filled(book.active, [*heads, ["u", 1, 2, 3], ["v", 4, 5, 6], ["u", 7, 8, 9]])
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx", target="y")
    assert found.names == names
    assert found.X.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert any("merged cells name each column under them" in note for note in found.notes)


BELOW = [
    (
        ["", "years", "systolic", "diastolic", "mg/L"],
        ("pressure / systolic", "pressure / diastolic"),
    ),
    (["", "years", "mmHg", "mmHg", "mg/L"], None),
]


@pytest.mark.parametrize(("below", "wanted"), BELOW)
def test_merged_names_are_joined_with_those_in_a_line_of_units(book, tmp_path, below, wanted):
    heads = ["y", "age", "pressure", None, "crp"]
    body = [["u", 1, 2, 3, 4.5], ["v", 4, 5, 6, 7.5], ["u", 7, 8, 9, 1.5]]
    filled(book.active, [heads, below, *body])
    book.active.merge_cells("C1:D1")
    book.save(tmp_path / "t.xlsx")
    lines = [heads, below, *body]
    text = "\n".join(",".join("" if v is None else str(v) for v in line) for line in lines)
    (tmp_path / "t.csv").write_text(f"{text}\n")
    (tmp_path / "twice.csv").write_text(f"{text}\n".replace("pressure,,", "pressure,pressure,"))
    for name in ("t.xlsx", "t.csv", "twice.csv"):
        duplicates = None if wanted else "number"
        found = read_table(tmp_path / name, target="y", duplicates=duplicates)
        assert found.names[0] == "age"
        if wanted:
            assert found.names == ("age", *wanted, "crp")
            assert "line 2 holds units ('years', 'mg/L') and is left out." in found.notes
            assert any("merged names, with those of the line below" in one for one in found.notes)
        else:
            assert not any("systolic" in one for one in found.names)


def test_merged_values_hold_for_their_rows(book, tmp_path):
    rows = [
        ["y", "a", "b"],
        ["u", 1, 2],
        ["", 3, 4],
        ["v", 5, 6],
        ["", 7, 8],
        ["seen twice", "", ""],
    ]
    filled(book.active, rows)
    for cells in ("A2:A3", "A4:A5", "A6:C6"):
        book.active.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx", target="y", classes=["seen twice="])
    assert found.y.tolist() == ["u", "u", "v", "v"]
    assert "merged cells have their value in each of their rows: 2 ('u', 'v')." in found.notes
    assert np.array_equal(found.X, [[1, 2], [3, 4], [5, 6], [7, 8]])


# ------------------------------------------------------------------- hostile files
WORDS = {
    "t.parquet": "is damaged, or not what its name says",
    "t.feather": "is damaged, or not what its name says",
    "t.xlsx": "is damaged, or not what its name says",
    "t.h5ad": "is damaged, or not what its name says",
    "t.npy": "is damaged, or not what its name says",
    "t.mtx": "is damaged",
    "t.zip": "cannot be unpacked",
    "t.csv.xz": "cannot be unpacked",
    "t.csv.bz2": "cannot be unpacked",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_file_that_is_not_what_its_name_says(cases, tmp_path, name):
    for package in {"t.xlsx": ["python_calamine"], "t.h5ad": ["h5py"]}.get(name, ["pyarrow"]):
        pytest.importorskip(package)
    cases.to_csv(tmp_path / name, index=False, compression=None)
    with pytest.raises(PsephosError, match=WORDS[name]):
        read_table(tmp_path / name, target="outcome")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.xlsx", "t.zip", "t.csv.xz"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.98])
def test_a_file_that_was_cut_off(cases, tmp_path, name, share):
    KINDS[name](cases, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(PsephosError, match=r"is damaged|cannot be unpacked"):
        read_table(tmp_path / name, target="outcome")


def test_no_object_of_python_is_read(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[1, "a"], [None, {}]], dtype=object))
    with pytest.raises(PsephosError, match="Python objects in dtype"):
        read_table(tmp_path / "t.npy", target="column 1")
    np.save(tmp_path / "t.npy", np.zeros(3))
    with pytest.raises(PsephosError, match=r"must be a table \(n, p\)"):
        read_table(tmp_path / "t.npy", target="column 1")


def test_a_zip_of_two_tables_and_one_of_none(cases, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as found:
        found.writestr("a.csv", "x,y\n1,2\n")
        found.writestr("b.csv", "x,y\n1,2\n")
    with pytest.raises(PsephosError, match=r"has 2 files \('a\.csv', 'b\.csv'\): unpack"):
        read_table(tmp_path / "t.zip", target="y")
    with zipfile.ZipFile(tmp_path / "t.zip", "w"):
        pass
    with pytest.raises(PsephosError, match="has 0 files"):
        read_table(tmp_path / "t.zip", target="y")


@pytest.mark.parametrize("inside", ["../../out.csv", "/tmp/out.csv", "..\\out.csv", "C:\\out.csv"])
def test_nothing_is_written_outside_of_its_folder(cases, csv, tmp_path, monkeypatch, inside):
    (tmp_path / "in" / "temporary").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "in" / "temporary"))
    with zipfile.ZipFile(tmp_path / "in" / "t.zip", "w") as found:
        found.writestr(inside, cases.to_csv(index=False))
    before = sorted(tmp_path.rglob("*"))
    assert model_of(tmp_path / "in" / "t.zip", tmp_path)[0] == csv
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "m.psephos"])


@pytest.mark.parametrize("name", ["t.zip", "t.csv.xz", "t.csv.bz2", "t.xlsx"])
def test_what_unpacks_to_too_much_is_refused(cases, tmp_path, monkeypatch, name):
    if name == "t.xlsx":
        pytest.importorskip("python_calamine")
    monkeypatch.setattr(psephos.files.packed, "MOST", 1 << 10)
    KINDS.get(name, packed(bz2))(cases, tmp_path / name)
    with pytest.raises(PsephosError, match="unpacks to more than 0 MiB"):
        read_table(tmp_path / name, target="outcome")


def test_a_claim_of_too_many_cells_is_refused(tmp_path):
    (tmp_path / "t.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n99999999 99999999 1\n1 1 2.5\n"
    )
    with pytest.raises(PsephosError, match="declares 99,999,999 rows and 99,999,999 columns"):
        read_table(tmp_path / "t.mtx", target="column 1")


def test_an_absent_library_is_named_with_its_extra(cases, tmp_path, monkeypatch):
    for name, module, extra in (
        ("t.parquet", "pyarrow.parquet", "parquet"), ("t.feather", "pyarrow.parquet", "parquet"),
        ("t.xlsx", "python_calamine", "excel"), ("t.h5ad", "h5py", "h5ad"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(b"")
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"pip install 'psephos\[{extra}\]'"):
            read_table(tmp_path / name, target="outcome")


@pytest.mark.parametrize("words", ["string", "large_string", "string_view"])
def test_categories_of_arrow(tmp_path, words):
    """polars writes categories as a dictionary of views of text."""
    pa = pytest.importorskip("pyarrow", reason="needs the extra 'parquet'")
    from pyarrow import feather

    kept = pa.array(["x", "z"], getattr(pa, words)())
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1], pa.int32()), kept)
    table = pa.table({"c": column, "y": ["A", "B", "A", "B"]})
    feather.write_feather(table, tmp_path / "t.feather", compression="uncompressed")
    found = read_table(tmp_path / "t.feather", target="y")
    assert found.categories == {0: ("x", "z")}
    np.testing.assert_array_equal(found.X[:, 0], [0, 1, np.nan, 1])


@pytest.mark.parametrize(
    ("suffix", "options"),
    [("parquet", {"separator": ";"}), ("csv", {"sheet": "1"}), ("xlsx", {"encoding": "cp1252"})],
)
def test_an_option_of_other_kinds_of_file_is_refused(tmp_path, suffix, options):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]})
    file = tmp_path / f"t.{suffix}"
    {"parquet": frame.to_parquet, "csv": frame.to_csv, "xlsx": frame.to_excel}[suffix](
        file, index=False
    )
    with pytest.raises(PsephosError, match=f"--{next(iter(options))} does not apply to a"):
        read_table(file, target="y", **options)
