"""Whatever a file holds, what comes of it is a table or a sentence, and never a crash."""

import gzip
import random
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from psephos import read_table
from psephos._errors import PsephosError
from psephos.files.formats import read_sheet
from psephos.files.packed import hostile
from psephos.files.sheet import ColumnChoice

HEAD = "%%MatrixMarket matrix coordinate real general\n"


def every_column(path):
    return read_sheet(path, lambda header: ColumnChoice(range(len(header.names))))


def apart(path):
    """Read in a process of its own, which a reader in C may end."""
    code = (
        "import pathlib, sys\n"
        "from psephos.files.formats import read_sheet\n"
        "from psephos.files.sheet import ColumnChoice\n"
        "path, choose = pathlib.Path(sys.argv[1]), lambda h: ColumnChoice(range(len(h.names)))\n"
        "print(read_sheet(path, choose).X.tolist())\n"
    )
    return subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)


def refused(path, sentence):
    found = apart(path)
    assert found.returncode, found.stdout
    assert "PsephosError" in found.stderr, found.stderr[-300:]  # a reader that dies says none
    assert sentence in found.stderr


# ------------------------------------------------------------------- mtx
@pytest.mark.parametrize(
    ("end", "packed"), [("", False), (" ", False), ("\t", True), (" \r\n\n", False)]
)
def test_the_last_line_of_a_matrix_may_end_in_any_way(tmp_path, packed, end):
    text = f"{HEAD}%\n\n2 2 2\n1 1 9\n2 2 1.5{end}".encode()
    path = tmp_path / ("t.mtx.gz" if packed else "t.mtx")
    path.write_bytes(gzip.compress(text) if packed else text)
    found = apart(path)
    assert found.returncode == 0, found.stderr[-300:]
    assert found.stdout == "[[9.0, 0.0], [0.0, 1.5]]\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{HEAD}2 2 2\n1 1 9\n2 2 1x", "b'x' is not part of a number"),
        (f"{HEAD}2 2 1\n1 1 9,5\n", "b',' is not part of a number"),
        (f"{HEAD}3 3 99999999999\n1 1 9\n", "99999999999 entries are not there"),
        (f"{HEAD}3 0 0\n", "3 rows, 0 columns"),
        (HEAD.replace("coordinate", "array") + "0 3\n", "0 rows, 3 columns"),
        (HEAD.replace("coordinate", "array") + "9999 9999\n1\n", "9999 rows"),
        (HEAD.replace("general", "symmetric") + "2 3 1\n1 1 2\n", "2 rows, 3 columns"),
        (f"{HEAD}2 2 2\n1 1 9\n", "is damaged"),
    ],
)
def test_claims_of_a_matrix_are_checked(tmp_path, text, sentence):
    (tmp_path / "t.mtx").write_text(text)
    refused(tmp_path / "t.mtx", sentence)


# ------------------------------------------------------------------- Arrow
def test_offsets_of_feather_are_validated(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    words = pa.array([f"w{i}" for i in range(59)])
    feather.write_feather(
        pa.table({"a": words}), tmp_path / "t.feather", compression="uncompressed"
    )
    content = (tmp_path / "t.feather").read_bytes()
    offsets = np.array(words.buffers()[1], dtype=np.uint8).tobytes()[:236]
    assert content.count(offsets) == 1
    bad = np.frombuffer(offsets, np.int32).copy()
    bad[30] = 119118239
    (tmp_path / "t.feather").write_bytes(content.replace(offsets, bad.tobytes()))
    refused(tmp_path / "t.feather", "is damaged, or not what its name says")
    start = content.index(b"w0w1")
    (tmp_path / "t.feather").write_bytes(content[:start] + b"\xdd" + content[start + 1 :])
    refused(tmp_path / "t.feather", "is damaged, or not what its name says")


def test_a_stream_of_arrow_is_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.5, 2], "y": ["u", "v"]})
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as writer,
    ):
        writer.write_table(table)
    assert read_table(tmp_path / "t.arrow", target="y").X[:, 0].tolist() == [1.5, 2]


# ------------------------------------------------------------------- arrays
@pytest.mark.parametrize("name", ["t.npz", "t.npy"])
def test_words_that_are_not_text(tmp_path, name):
    words = np.array([["a", "b"], ["c", "d"]])
    words.view(np.uint32)[1, 1] = 0x110000
    if name == "t.npy":
        np.save(tmp_path / name, words)
    else:
        np.savez(tmp_path / name, X=words, y=[0, 1])
    with pytest.raises(PsephosError, match=r"is damaged.* \(invalid maximum character"):
        every_column(tmp_path / name)


@pytest.mark.parametrize("seed", range(30))
def test_heads_of_arrays_that_were_changed(tmp_path, seed):
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[0, 1, 0])
    content, draw = bytearray((tmp_path / "t.npz").read_bytes()), random.Random(seed)
    for _ in range(1 + seed % 5):
        content[draw.randrange(len(content))] = draw.randrange(256)
    (tmp_path / "t.npz").write_bytes(content)
    with suppress(PsephosError):
        read_table(tmp_path / "t.npz")


def test_a_wide_array_without_rows_is_refused(tmp_path):
    with open(tmp_path / "t.npy", "wb") as file:
        head = {"descr": "<f8", "fortran_order": False, "shape": (1, 1 << 25)}
        np.lib.format.write_array_header_1_0(file, head)
        file.truncate(file.tell() + 8 * (1 << 25))  # a hole
    with pytest.raises(PsephosError, match=r"declares 1 rows and 33,554,432 columns, more than"):
        every_column(tmp_path / "t.npy")


# ------------------------------------------------------------------- AnnData
@pytest.fixture
def h5ad(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        for name, n in (("obs", 12), ("var", 2)):
            group = file.create_group(name)
            group.attrs["_index"] = "i"
            group["i"] = [f"{name}{k}" for k in range(n)]
        file["obs"].attrs["column-order"] = ["y"]
        file["obs/y"] = [f"{k % 2}" for k in range(12)]
        yield file


def test_a_matrix_of_another_shape_than_its_names(h5ad, tmp_path):
    h5ad.create_dataset("X", shape=(10**6, 10**6), dtype="f4", chunks=(1000, 1000))
    h5ad.flush()
    with pytest.raises(PsephosError, match=r"X is \(1000000, 1000000\), and obs and var name"):
        read_table(tmp_path / "t.h5ad", target="y")


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_parts_of_a_sparse_matrix_that_claim_too_much(h5ad, tmp_path, part):
    group = h5ad.create_group("X")
    group.attrs["encoding-type"] = "csr_matrix"
    for name in ("data", "indices", "indptr"):
        shape = 1 << 40 if name == part else 13
        group.create_dataset(name, shape=(shape,), dtype="i4", chunks=(13,))
    h5ad.flush()
    with pytest.raises(PsephosError, match=r"declares 1,099,511,627,776 rows"):
        read_table(tmp_path / "t.h5ad", target="y")


def test_columns_of_obs_of_another_length(h5ad, tmp_path):
    h5ad["X"] = np.eye(12, 2)
    del h5ad["obs/y"]
    h5ad["obs/y"] = ["0", "1"]
    h5ad.flush()
    with pytest.raises(PsephosError, match="columns of obs of several lengths"):
        read_table(tmp_path / "t.h5ad", target="y")


def test_files_that_are_no_longer_written_so(h5ad, tmp_path):
    sentence = "has no matrix X, or was written by anndata 0.6 or older"
    with pytest.raises(PsephosError, match=sentence):
        read_table(tmp_path / "t.h5ad", target="y")
    h5ad["X"] = np.eye(12, 2)
    del h5ad["obs"]
    h5ad["obs"] = np.array([(b"a", 1)], dtype=[("index", "S1"), ("n", "i4")])
    h5ad.flush()
    with pytest.raises(PsephosError, match=sentence):
        read_table(tmp_path / "t.h5ad", target="y")


def test_an_old_matrix_by_columns(h5ad, tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    X = np.arange(24.0).reshape(12, 2)
    group, matrix = h5ad.create_group("X"), sp.csc_array(X)
    for name in ("data", "indices", "indptr"):
        group[name] = getattr(matrix, name)
    h5ad.flush()
    with pytest.raises(PsephosError, match="is damaged"):  # by rows or columns: it does not say
        read_table(tmp_path / "t.h5ad", target="y")
    group.attrs["h5sparse_format"] = "csc"
    h5ad.flush()
    np.testing.assert_array_equal(read_table(tmp_path / "t.h5ad", target="y").X, X)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_entries_of_a_sparse_matrix_that_their_indptr_does_not_divide(h5ad, tmp_path, kind):
    sp = pytest.importorskip("scipy.sparse")
    X = np.arange(24.0).reshape(12, 2)
    X[0, 0] = 24
    matrix, group = getattr(sp, f"{kind}_array")(X), h5ad.create_group("X")
    group.attrs["encoding-type"] = f"{kind}_matrix"
    held = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    for name, values in held.items():
        group[name] = values

    def read(name, values):
        group[name][...] = values
        h5ad.flush()
        try:
            return read_table(tmp_path / "t.h5ad", target="y").X
        finally:
            group[name][...] = held[name]

    def refused(name, values, why):
        with pytest.raises(PsephosError, match=f"is damaged.*{why}"):
            read(name, values)

    np.testing.assert_array_equal(read("indptr", held["indptr"]), X)
    none, capped = np.zeros_like(held["indptr"]), np.minimum(held["indptr"], 7)
    far, back, late = none.copy(), held["indptr"].copy(), held["indptr"].copy()
    far[1], late[0] = 300, 1
    back[1:-1] = back[1:-1][::-1] if kind == "csr" else 30
    for damaged in (none, capped, far, back, late):
        refused("indptr", damaged, "indptr of X does not divide its entries")
    once = held["indices"].copy()
    once[1] = once[0]
    refused("indices", once, "two entries of one cell")
    refused("indices", held["indices"] + 100, "")
    group["data"][0] = 0.0  # an entry of 0 is one
    h5ad.flush()
    assert read_table(tmp_path / "t.h5ad", target="y").X[0, 0] == 0


# ------------------------------------------------------------------- workbooks
def test_a_cell_far_from_all_others(tmp_path):
    pytest.importorskip("python_calamine")
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["a", "y"], [1.5, "u"], [2, "v"]):
        book.active.append(row)
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "t.xlsx")
    refused(tmp_path / "t.xlsx", "declares 1,048,576 rows and 16,384 columns")
    pd.DataFrame(np.eye(2, 800)).assign(y=list("uv")).to_excel(tmp_path / "t.xlsx", index=False)
    assert read_table(tmp_path / "t.xlsx", target="y").X.shape == (2, 800)


# ------------------------------------------------------------------- of any kind
class Panic(BaseException):
    pass


def test_what_a_library_raises_is_a_sentence(tmp_path):
    for error, sentence in (
        (Panic("at once"), r"'t\.x' is damaged, or not what its name says \(at once\): write it"),
        (SystemError("odd"), r"is damaged"),
        (MemoryError("8 TiB"), r"is damaged, or does not fit into memory \(8 TiB\)"),
    ):
        with pytest.raises(PsephosError, match=sentence), hostile(tmp_path / "t.x"):
            raise error
    for kept in (KeyboardInterrupt, SystemExit):
        with pytest.raises(kept), hostile(tmp_path / "t.x"):
            raise kept
