"""Sparse files: columns that would be wide stay sparse, and the answers are those of dense ones."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from psephos import AdaBoostClassifier, PsephosError, compare, load, save
from psephos.cli.fit import fitted
from psephos.files import sheet
from psephos.files.cells import Cells
from psephos.files.sheet import read_cases
from psephos.protocol import read_table
from psephos.protocol.tables import table as tables


def folder_of(path, X, y):
    """Write a matrix as 10x Genomics does, with labels beside it."""
    scipy.io.mmwrite(path / "matrix.mtx", sp.coo_array(X.T))
    ids = [f"cell{i}" for i in range(len(X))]
    (path / "barcodes.tsv").write_text("\n".join(ids) + "\n")
    genes = [f"E{j}\tgene{j}" for j in range(X.shape[1])]
    (path / "features.tsv").write_text("\n".join(genes) + "\n")
    rows = [f"{one},{label}" for one, label in zip(ids, y, strict=True)]
    (path / "labels.csv").write_text("id,kind\n" + "\n".join(rows) + "\n")


def drawn(n=60, p=40):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((n, p)) < 0.7, 0.0, rng.integers(1, 6, (n, p))).astype(float)
    y = np.where(X[:, 3] + X[:, 8] + rng.random(n) > 1.5, "T", "B")
    return X, y


def tables_of(path, monkeypatch, **options):
    """Return the same file read dense, and sparse."""
    given = {"target": "gene3", **options}
    dense = read_table(path / "matrix.mtx", **given)
    monkeypatch.setattr(sheet, "DENSE", 0)
    return dense, read_table(path / "matrix.mtx", **given)


def test_a_sparse_file_stays_sparse_and_learns_the_same(tmp_path, monkeypatch):
    X, y = drawn()
    X[:, 3] = 1 + (X[:, 3] > 0)  # the target
    folder_of(tmp_path, X, y)
    dense, held = tables_of(tmp_path, monkeypatch)
    assert sp.issparse(held.X)
    assert not sp.issparse(dense.X)
    assert_array_equal(held.X.toarray(), dense.X)
    assert held.names == dense.names
    models = [fitted(AdaBoostClassifier(n_estimators=5), one) for one in (dense, held)]
    assert_array_equal(models[1].vote_.score(held.X), models[0].vote_.score(dense.X))
    save(models[1], tmp_path / "m.psephos")
    assert_array_equal(
        load(tmp_path / "m.psephos").vote_.score(held.X), models[0].vote_.score(dense.X)
    )


def test_missing_numbers_of_a_sparse_file_are_missing(tmp_path, monkeypatch):
    X, y = drawn()
    X[:, 3] = 1 + (X[:, 3] > 0)
    X[5, 7] = -99.0
    folder_of(tmp_path, X, y)
    dense, held = tables_of(tmp_path, monkeypatch, missing=["-99"])
    assert_array_equal(held.X.toarray(), dense.X)
    assert np.isnan(dense.X).sum() == 1
    zeros = read_table(tmp_path / "matrix.mtx", target="gene3", missing=["0"])
    assert not sp.issparse(zeros.X)  # most cells are missing then


def test_cautions_on_a_sparse_table_are_those_on_a_dense_one(tmp_path, monkeypatch):
    X, y = drawn()
    X[:, 3] = 1 + (X[:, 3] > 0)
    X[:, 20] = 2 * X[:, 3]  # the target again
    X[:, 31] = np.arange(len(X))
    folder_of(tmp_path, X, y)
    dense, held = tables_of(tmp_path, monkeypatch)
    monkeypatch.setattr(tables, "_CELLS", 7 * len(X))  # a few columns at a time
    codes = {one.code: one.columns for one in held.cautions()}
    assert {"FD008", "FD004"} <= set(codes)
    assert codes["FD008"] == ("gene20",)
    assert codes == {one.code: one.columns for one in dense.cautions()}


def test_a_value_too_far_is_named(tmp_path, monkeypatch):
    X, y = drawn()
    X[:, 3] = 1 + (X[:, 3] > 0)
    X[4, 9] = 1e305
    folder_of(tmp_path, X, y)
    monkeypatch.setattr(sheet, "DENSE", 0)
    with pytest.raises(PsephosError, match="gene9"):
        read_table(tmp_path / "matrix.mtx", target="gene3")


def test_cases_of_a_sparse_file_are_read(tmp_path, monkeypatch):
    from psephos.files.cases import Wanted

    X, y = drawn()
    folder_of(tmp_path, X, y)
    monkeypatch.setattr(sheet, "DENSE", 0)
    names = tuple(f"gene{j}" for j in range(X.shape[1]))
    wanted = Wanted(names=names, columns=(8, 2), levels={}, n_columns=X.shape[1])
    cases = read_cases(tmp_path / "matrix.mtx", wanted, None, cells=Cells())
    assert_array_equal(cases.X, X[:, [8, 2]])


@pytest.mark.filterwarnings("ignore:features are in its rows")
def test_compare_of_a_sparse_file(tmp_path, monkeypatch):
    """Peers are given dense rows; a table of its own is divided, fitted and kept."""
    X, y = drawn()
    X[:, 3] = 1 + (X[:, 3] > 0)
    folder_of(tmp_path, X, y)
    dense, held = tables_of(tmp_path, monkeypatch)
    found = [
        compare(one, models=["cart", "sklearn-decision-tree"], out=tmp_path / str(k))
        for k, one in enumerate((dense, held))
    ]
    first, second = ((tmp_path / str(k) / "results.csv").read_text() for k in range(2))
    assert first == second
    assert found[1].results
    monkeypatch.setattr(tables, "DENSE", 0)
    given = sp.csr_array(dense.X)
    table = tables.table_from_arrays(given, dense.y, column_names=dense.names, target_name="gene3")
    assert_array_equal(table.X.toarray(), held.X.toarray())
    assert table.fingerprint() == held.fingerprint()  # as a file of it, and as sparse
