import sys
from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from psephos._errors import MissingExtraError, PsephosError
from psephos.trees.out_of_core.rows import ArrayRows, ParquetRows, block_length, counted


def rows_of(source):
    """Put a source's blocks together again."""
    blocks = list(source.blocks())
    assert [b.start for b in blocks] == np.cumsum([0, *[len(b.y) for b in blocks]])[:-1].tolist()
    assert all(b.columns.flags.c_contiguous for b in blocks)
    weight = None
    if blocks[0].weight is not None:
        weight = np.concatenate([b.weight for b in blocks])
    X = np.concatenate([b.columns for b in blocks], axis=1).T
    y = np.concatenate([b.y for b in blocks])
    return X, y, weight


# ------------------------------------------------------------------- arrays
@pytest.fixture
def table(random_seed):
    rng = np.random.default_rng(random_seed)
    X = rng.standard_normal((50, 3)).astype(np.float32).astype(np.float64)
    X[::7, 1] = np.nan
    return X, rng.integers(0, 2, 50), rng.integers(0, 4, 50) / 2


@pytest.mark.parametrize("kind", ["memory", "fortran", "memmap", "sliced", "npy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_arrays(kind, dtype, table, tmp_path):
    X, y, w = table[0].astype(dtype), *table[1:]
    given = X
    if kind == "fortran":
        given = np.asfortranarray(X)
    elif kind in ("memmap", "sliced"):
        given = np.memmap(tmp_path / "x.bin", dtype, "w+", shape=(50, 3))
        given[:] = X
        if kind == "sliced":
            given, X, y, w = given[8:40], X[8:40], y[8:40], w[8:40]
    elif kind == "npy":
        given = tmp_path / "x.npy"
        np.save(given, X)
    source = ArrayRows(given, y, w, block_rows=16)
    assert (source.n_rows, source.n_features, source.names) == (len(X), 3, None)
    for _ in range(2):  # as often as needed
        found = rows_of(source)
        assert found[0].dtype == dtype
        for a, b in zip(found, (X, y, w), strict=True):
            assert_array_equal(a, b)


def test_labels_and_weights_may_be_columns(table, tmp_path):
    X, y, w = table
    np.save(tmp_path / "all.npy", np.column_stack([w, X, y]))
    source = ArrayRows(str(tmp_path / "all.npy"), 4, 0, block_rows=20)
    for a, b in zip(rows_of(source), (X, y, w), strict=True):
        assert_array_equal(a, b)
    apart = ArrayRows(np.column_stack([X[:, :1], y, X[:, 1:]]), 1)
    assert_array_equal(rows_of(apart)[0], X)


def test_a_block_is_of_bounded_size():
    assert block_length(10) == 65_536
    assert block_length(10_000) == 209
    assert block_length(10**8) == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: ArrayRows(np.ones(X.shape, int), y), "int64 of shape"),
        (lambda X, y: ArrayRows(X[0], y), "float64 of shape"),
        (lambda X, y: ArrayRows(X, y[:-1]), "y has shape"),
        (lambda X, y: ArrayRows(X, 3), "y is column 3"),
        (lambda X, y: ArrayRows("nowhere.npy", y), "'nowhere.npy' for X was not found"),
        (lambda X, y: ArrayRows(__file__, y), "not an .npy file"),
    ],
)
def test_arrays_that_cannot_be_rows(make, words, table):
    with pytest.raises(PsephosError, match=words):
        make(*table[:2])


def test_rows_without_weight_do_not_count(table):
    X, y, w = table
    w = np.where(np.arange(50) % 3 == 0, 0.0, w)
    blocks = list(counted(ArrayRows(X, y, w, block_rows=16)))
    assert_array_equal(np.concatenate([b.columns for b in blocks], axis=1).T, X[w > 0])
    assert_array_equal(np.concatenate([b.y for b in blocks]), y[w > 0])
    assert_array_equal(np.concatenate([b.weight for b in blocks]), w[w > 0])
    (plain,) = ArrayRows(X, y).blocks()
    assert plain.counted() is plain
    w[:32] = 0.0  # of two blocks
    assert [b.start for b in counted(ArrayRows(X, y, w, block_rows=16))] == [32, 48]


@pytest.mark.parametrize(
    ("value", "weight", "words"),
    [
        (np.inf, 1.0, "column 2.* is infinite in row 17"),
        (0.0, -1.0, "the weight of row 17 is -1.0"),
        (0.0, np.nan, "the weight of row 17 is nan"),
    ],
)
def test_values_that_cannot_be_used(value, weight, words, table):
    X, y, w = table
    X[17, 2], w[17] = value, weight
    with pytest.raises(PsephosError, match=words):
        list(ArrayRows(X, y, w, block_rows=8).blocks())


def test_a_file_that_was_cut(table, tmp_path):
    X = np.memmap(tmp_path / "x.bin", np.float64, "w+", shape=(50, 3))
    source = ArrayRows(X, table[1])
    with open(tmp_path / "x.bin", "r+b") as file:
        file.truncate(100)
    with pytest.raises(PsephosError, match=r"x\.bin' is shorter"):
        list(source.blocks())


# ------------------------------------------------------------------- parquet
@pytest.fixture
def parts(table, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads parquet files")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow reads parquet files")
    X, y, w = table
    x1 = [None if np.isnan(v) else v for v in X[:, 1]]
    whole = pa.table({
        "a": pa.array(X[:, 0]), "b": pa.array(x1, pa.float64()), "ill": pa.array(y),
        "weight": pa.array(w), "c": pa.array(X[:, 2] > 0), "name": pa.array(["x"] * 50),
    })  # fmt: skip
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, (a, b) in enumerate([(0, 17), (17, 17), (17, 41), (41, 50)]):
        parquet.write_table(whole.slice(a, b - a), folder / f"part-{i}.parquet", row_group_size=7)
    return folder, whole


def test_rows_of_parquet_parts(parts, table):
    X, y, w = table
    source = ParquetRows(parts[0], "ill", "weight", columns=["c", "a", "b"], block_rows=10)
    assert (source.n_rows, source.n_features, source.names) == (50, 3, ["c", "a", "b"])
    expected = np.column_stack([X[:, 2] > 0, X[:, 0], X[:, 1]])
    assert source.block_rows == 10
    for _ in range(2):
        for a, b in zip(rows_of(source), (expected, y, w), strict=True):
            assert_array_equal(a, b)
    one = ParquetRows(parts[0] / "part-3.parquet", "name", columns=["a"])
    assert one.n_rows == 9
    assert rows_of(one)[1].tolist() == ["x"] * 9


def test_numbers_of_any_kind(parts, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    cents = pa.array([Decimal("1.25"), Decimal("-2.5")], pa.decimal128(5, 2))
    small = pa.table({
        "y": [0, 1], "a": pa.array([1, None], pa.int8()), "b": pa.array([1.5, None], pa.float32()),
        "c": cents, "d": pa.array([None, True], pa.bool_()),
    })  # fmt: skip
    parquet.write_table(small, tmp_path / "small.parquet")
    X, *_ = rows_of(ParquetRows(tmp_path / "small.parquet", "y"))
    nan = np.nan
    assert_array_equal(X, np.array([[1, 1.5, 1.25, nan], [nan, nan, -2.5, 1]], dtype=np.float32))


def test_parquet_that_cannot_be_rows(parts, tmp_path):
    from pyarrow import parquet

    folder, whole = parts
    assert ParquetRows(folder, "ill").levels == {4: ("x",)}
    with pytest.raises(PsephosError, match=r"'name' of 'part-0\.parquet' is string: make it num"):
        ParquetRows(folder, "ill", weight="name")
    with pytest.raises(PsephosError, match="no column 'missing'"):
        ParquetRows(folder, "missing", columns=["a"])
    with pytest.raises(PsephosError, match="no parquet file"):
        ParquetRows(tmp_path, "ill")
    parquet.write_table(whole.slice(1), tmp_path / "from_one.parquet")
    with pytest.raises(PsephosError, match="'b' has no value in row 6"):
        list(ParquetRows(tmp_path, "b", columns=["a"], block_rows=4).blocks())
    numbers = whole.drop_columns(["name"]).append_column("name", whole["a"])
    parquet.write_table(numbers, folder / "part-9.parquet")
    with pytest.raises(PsephosError, match=r"'name' is string in 'part-0\.parquet', and \w+ in '"):
        ParquetRows(folder, "ill")
    parquet.write_table(whole.drop_columns(["c"]), folder / "part-9.parquet")
    with pytest.raises(PsephosError, match=r"'part-9\.parquet' has no column 'c'"):
        ParquetRows(folder, "ill", columns=["a", "c"])


def test_without_pyarrow_a_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'psephos\[parquet\]'"):
        ParquetRows("parts", "y")
