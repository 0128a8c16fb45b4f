"""Tables that are read in blocks: arrays, Parquet files, partitions of Dask."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Array, NDArray
from psephos.files.arrays import beyond
from psephos.files.columns import refuse_far

_BLOCK_ROWS = 1 << 16
_BLOCK_BYTES = 1 << 23  # of values


class Block(NamedTuple):
    """A block of consecutive rows."""

    start: int  # number of the first row
    columns: Array  # (p, m) float32 or float64; the values by column, NaN where missing
    y: Array  # (m,)
    weight: NDArray[np.float64] | None  # (m,) float64, or None

    @classmethod
    def of(cls, start: int, columns: Array, y: Array, weight: Any) -> "Block":
        """Return rows as a block; numbers of other types become float64."""
        kind = np.float32 if columns.dtype == np.float32 else np.float64
        values = np.ascontiguousarray(columns, dtype=kind)
        far = beyond(values)
        if far.any():
            j, i = np.argwhere(far)[0]
            refuse_far(f"column {j}", float(columns[j, i]), f"row {start + i}")
        return cls(start, values, y, weights_of(start, weight))

    def counted(self) -> "Block":
        """Return the block without its rows of weight 0."""
        if self.weight is None or self.weight.all():
            return self
        kept = self.weight > 0.0
        columns = np.ascontiguousarray(self.columns[:, kept])
        return Block(self.start, columns, self.y[kept], self.weight[kept])


def weights_of(start: int, weight: Any) -> NDArray[np.float64] | None:
    """Return weights of rows, after checks."""
    if weight is None:
        return None
    w = np.asarray(weight, dtype=np.float64)
    wrong = np.flatnonzero(~(w >= 0.0) | np.isinf(w))
    if len(wrong):
        raise PsephosError(
            f"the weight of row {start + int(wrong[0])} is {w[wrong[0]]}: weights must be finite "
            "and not negative."
        )
    return w


class RowSource(Protocol):
    """Rows that can be read from the first to the last, repeatedly, in the same blocks."""

    @property
    def n_rows(self) -> int:
        """Return n, or an upper bound."""
        ...

    @property
    def names(self) -> list[str] | None:
        """Return the names of the columns, if they have any."""
        ...

    @property
    def n_features(self) -> int:
        """Return p."""
        ...

    @property
    def levels(self) -> Mapping[int, tuple[str, ...]]:
        """Return the sorted categories of each column whose values are codes; {}: all numbers."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield all rows in order; the same blocks each time."""
        ...


def counted(source: RowSource) -> Iterator[Block]:
    """Yield the blocks of a source without rows of weight 0, and without empty blocks."""
    return (block for block in map(Block.counted, source.blocks()) if len(block.y))


def block_length(n_features: int) -> int:
    """Return the number of rows of a block: 2^16, or fewer if it had more than 2^21 numbers."""
    return int(np.clip(_BLOCK_BYTES // (4 * max(n_features, 1)), 1, _BLOCK_ROWS))


# ------------------------------------------------------------------- arrays
class ArrayRows:
    """Rows of an array in memory, a memory map, or an .npy file.

    Parameters
    ----------
    X : ndarray, memmap, str or Path of shape (n, p)
        A path is that of an .npy file. Rows of a row-major map are read from its file, not through
        the map, so that its pages do not stay in memory.
    y : ndarray, memmap, str, Path, or int
        Labels or numbers of the rows; an integer is the index of their column in X.
    weight : ndarray, memmap, str, Path, int or None, default=None
        Weights of the rows; an integer is the index of their column in X.
    block_rows : int, default=None
        Rows of a block; None chooses by `block_length`.

    Raises
    ------
    PsephosError
        If X is not a table of float32 or float64 (convert other numbers), or a length or column
        does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import ArrayRows
    >>> rows = ArrayRows(np.eye(4, 3), np.array([0, 1, 0, 1]), block_rows=3)
    >>> [len(block.y) for block in rows.blocks()]
    [3, 1]
    """

    def __init__(self, X: Any, y: Any, weight: Any = None, *, block_rows: int | None = None):
        self._X = _opened(X, "X")
        if self._X.ndim != 2 or self._X.dtype not in (np.float32, np.float64):
            raise PsephosError(
                "X must be a table of float32 or float64 with a row for each case; got "
                f"{self._X.dtype} of shape {self._X.shape}."
            )
        self._y, self._weight = self._roles(y, "y"), self._roles(weight, "weight")
        taken = {role for role in (self._y, self._weight) if isinstance(role, int)}
        kept = [j for j in range(self._X.shape[1]) if j not in taken]
        # A slice is a view, a list a copy.
        whole = bool(kept) and kept[-1] - kept[0] == len(kept) - 1
        self._kept = slice(kept[0], kept[-1] + 1) if whole else kept
        self.n_rows, self.n_features = len(self._X), len(kept)
        self.names: list[str] | None = None
        self.levels: Mapping[int, tuple[str, ...]] = {}
        self.block_rows = block_rows or block_length(self._X.shape[1])

    def _roles(self, role: Any, name: str) -> Any:
        n, p = self._X.shape
        if role is None or (isinstance(role, int | np.integer) and 0 <= int(role) < p):
            return role if role is None else int(role)
        if isinstance(role, int | np.integer):
            raise PsephosError(f"{name} is column {role}, but X has {p} columns.")
        array = _opened(role, name)
        if array.shape != (n,):
            raise PsephosError(f"{name} has shape {array.shape}, but X has {n} rows.")
        return array

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        for start in range(0, self.n_rows, self.block_rows):
            stop = min(self.n_rows, start + self.block_rows)
            rows = _rows(self._X, start, stop)
            y, weight = (self._role(role, rows, start, stop) for role in (self._y, self._weight))
            yield Block.of(start, rows[:, self._kept].T, y, weight)

    @staticmethod
    def _role(role: Any, rows: Array, start: int, stop: int) -> Any:
        if role is None:
            return None
        return rows[:, role].copy() if isinstance(role, int) else _rows(role, start, stop)


def _opened(given: Any, name: str) -> Array:
    if not isinstance(given, str | Path):
        return given if isinstance(given, np.memmap) else np.asarray(given)
    if not Path(given).is_file():
        raise PsephosError(f"file {str(given)!r} for {name} was not found: check name and folder.")
    try:
        return np.load(given, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise PsephosError(f"{str(given)!r} is not an .npy file of numbers ({error}).") from None


def _rows(array: Array, start: int, stop: int) -> Array:
    """Return rows as a new array."""
    name = getattr(array, "filename", None)
    # A slice of a map has the filename and offset of the whole map, so that only an unsliced one
    # can be read by these.
    whole = name is not None and getattr(array, "base", None).__class__.__name__ == "mmap"
    if not (whole and array.flags.c_contiguous):
        return np.array(array[start:stop])
    size = (stop - start) * array[0].size
    offset = array.offset + start * array.strides[0]  # type: ignore[attr-defined]
    out = np.fromfile(str(name), array.dtype, size, offset=offset)
    if len(out) < size:
        raise PsephosError(f"{str(name)!r} is shorter than its header says: write it again.")
    return out.reshape(stop - start, *array.shape[1:])


class ParquetRows:
    """Rows of the parquet files of a directory (or of one file), in the order of their names.

    Parameters
    ----------
    path : str or Path
        A directory with files ``*.parquet``, or one such file.
    y : str
        Column of the labels or numbers to learn.
    weight : str, default=None
        Column of the weights.
    columns : sequence of str, default=None
        Columns to learn from; None takes all others. Columns of text are categories.
    missing : collection of str, default=()
        Words of text columns that mean missing.
    truth_words : bool, default=False
        Whether truth values are the categories False and True, as in a table that a command reads.
    block_rows : int, default=None
        Most rows of a block; None chooses by `block_length`.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    PsephosError
        If no file is found, a file lacks a column, or a column is neither numeric (truth values
        count as 0 and 1) nor text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from psephos import ParquetRows
    >>> table = pd.DataFrame({"dose": [1.0, 2.0, 3.0], "age": [50, 61, 47], "ill": [0, 1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(pathlib.Path(folder, "cases.parquet"))
    ...     rows = ParquetRows(folder, "ill", block_rows=2)
    ...     print(rows.names, [len(block.y) for block in rows.blocks()])
    ['dose', 'age'] [2, 1]
    """

    def __init__(
        self,
        path: str | Path,
        y: str,
        weight: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        missing: Collection[str] = (),
        truth_words: bool = False,
        block_rows: int | None = None,
    ):
        self._parquet: Any = _pyarrow()[1]
        self.parts = _parts(path)
        self._missing, self._truth_words = frozenset(missing), truth_words
        roles = [y] if weight is None else [y, weight]
        first = self._parquet.read_schema(self.parts[0])
        kept = [n for n in first.names if n not in roles] if columns is None else list(columns)
        self.names: list[str] = kept
        self.n_features = len(kept)
        self._y, self._weight, self._roles = y, weight, roles
        self._types = {name: first.field(name).type for name in kept if name in first.names}
        self.n_rows = sum(self._checked(part) for part in self.parts)
        self.block_rows = block_rows or block_length(self.n_features)
        self.levels: Mapping[int, tuple[str, ...]] = self._levels()

    def _levels(self) -> dict[int, tuple[str, ...]]:
        """Return the sorted words of each column of text, by its position."""
        words = {name: set[str]() for name, kind in self._types.items() if _text(kind)}
        truths = [name for name, kind in self._types.items() if str(kind) == "bool"]
        for batch in _batches(self.parts, list(words), self.block_rows) if words else ():
            for name, seen in words.items():
                seen.update(batch.column(name).unique().drop_null().to_pylist())
        found = {name: tuple(sorted(seen - self._missing)) for name, seen in words.items()}
        found |= dict.fromkeys(truths if self._truth_words else (), ("False", "True"))
        return {j: found[name] for j, name in enumerate(self.names) if name in found}

    def _checked(self, part: Path) -> int:
        """Return the number of rows of a file, after checking its columns."""
        file = self._parquet.ParquetFile(part)
        with file:
            schema = file.schema_arrow
            for name in [*self.names, *self._roles]:
                if name not in schema.names:
                    raise PsephosError(f"{part.name!r} has no column {name!r}.")
                kind = schema.field(name).type
                first = self._types.get(name, kind)
                if name == self._y:
                    continue
                if not _numeric(kind) and (name == self._weight or not _text(kind)):
                    raise PsephosError(
                        f"column {name!r} of {part.name!r} is {kind}: make it numeric, or leave it "
                        "out of `columns`."
                    )
                if _text(kind) != _text(first):
                    raise PsephosError(
                        f"column {name!r} is {first} in {self.parts[0].name!r}, and {kind} in "
                        f"{part.name!r}: write all files with one type."
                    )
            return file.metadata.num_rows

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        start = 0
        for batch in _batches(self.parts, [*self.names, *self._roles], self.block_rows):
            if len(batch):
                yield self._block(start, batch)
                start += len(batch)

    def _block(self, start: int, batch: Any) -> Block:
        columns = np.empty((self.n_features, len(batch)))
        for j, name in enumerate(self.names):
            known, column = self.levels.get(j), batch.column(name)
            text = known is not None and _text(column.type)
            columns[j] = _codes(column, known or ()) if text else _numbers(column)
        y = batch.column(self._y)
        if y.null_count:
            first = int(np.flatnonzero(y.is_null().to_numpy(zero_copy_only=False))[0])
            raise PsephosError(
                f"column {self._y!r} has no value in row {start + first}: leave out rows that are "
                "not labelled."
            )
        weight = None if self._weight is None else _numbers(batch.column(self._weight))
        return Block.of(start, columns, y.to_numpy(zero_copy_only=False).copy(), weight)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "reading parquet files", "parquet") from None
    return pyarrow, parquet


def _parts(path: str | Path) -> list[Path]:
    given = Path(path)
    found = sorted(given.glob("*.parquet")) if given.is_dir() else [given]
    if not found or not found[0].is_file():
        raise PsephosError(f"{str(path)!r} has no parquet file: check the name of the folder.")
    return found


def _batches(parts: Sequence[Path], names: list[str] | None, most: int) -> Iterator[Any]:
    """Yield the rows of parquet files as Arrow batches of at most `most` rows; names None: all."""
    parquet = _pyarrow()[1]
    for part in parts:
        # no memory map and no read-ahead of whole row groups: memory stays bounded
        with parquet.ParquetFile(part, memory_map=False, pre_buffer=False) as file:
            yield from file.iter_batches(most, columns=names, use_threads=False)


def spread_rows(path: str | Path, most: int) -> tuple[Any, int]:
    """Return evenly spaced rows of parquet files as an Arrow table, and the number of all rows.

    A column that counts the rows of the files counts those of the table.
    """
    pyarrow, parquet = _pyarrow()
    parts = _parts(path)
    n = sum(parquet.read_metadata(part).num_rows for part in parts)
    step, start, kept = max(1, -(-n // most)), 0, list[Any]()
    for batch in _batches(parts, None, _BLOCK_ROWS):
        kept.append(batch.take(np.arange(-start % step, len(batch), step)))
        start += len(batch)
    table = pyarrow.Table.from_batches(kept)
    for j, column in enumerate(table.columns):
        if step > 1 and str(column.type).startswith(("int", "uint")) and not column.null_count:
            values = column.to_numpy()
            if len(values) > 1 and (np.diff(values) == step).all():
                counted = pyarrow.array(np.arange(len(values)) + values[0])
                table = table.set_column(j, table.field(j).name, counted)
    return table, n


def _numeric(kind: Any) -> bool:
    name = str(kind)
    return name in ("bool", "halffloat", "float", "double") or name.startswith(
        ("int", "uint", "decimal")
    )


def _text(kind: Any) -> bool:
    name = str(kind)
    return name.startswith("dictionary<values=") or name.removeprefix("large_") == "string"


def _codes(column: Any, known: Sequence[str]) -> Array:
    """Return the positions of words among the known ones as floats, NaN where null."""
    position = {word: float(k) for k, word in enumerate(known)}
    coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    own = [position.get(word, np.nan) for word in coded.dictionary.to_pylist()]
    at = coded.indices.fill_null(len(own)).to_numpy(zero_copy_only=False)
    return np.array([*own, np.nan])[at]


def _numbers(column: Any) -> Array:
    """Return a column of a batch as floats, NaN where null."""
    kind = str(column.type)
    if kind == "bool" or kind.startswith("decimal"):
        column = column.cast("uint8" if kind == "bool" else "float64")
    return column.to_numpy(zero_copy_only=False)


class PartitionRows:
    """Rows in the partitions of a Dask cluster, one block per partition.

    Partitions stay on the workers that computed them, and are sent one at a time. Partitions of a
    lost worker are computed again by others.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of Delayed or Future
        Each gives ``(X, y)`` or ``(X, y, weight)``: see `dask_partitions`.
    names : list of str, default=None
        Names of the columns.
    """

    def __init__(self, client: Any, parts: Sequence[Any], names: list[str] | None = None):
        if not len(parts):
            raise PsephosError("parts must have at least one partition; got none.")
        self.names = names
        self.levels: Mapping[int, tuple[str, ...]] = {}
        given = [client.compute(part) if hasattr(part, "dask") else part for part in parts]
        self._rows = [client.submit(_block_of, part, pure=False) for part in given]
        sizes = client.gather([client.submit(_size, rows) for rows in self._rows])
        widths = sorted({p for _, p in sizes})
        if len(widths) > 1:
            raise PsephosError(f"partitions must have equal numbers of columns; got {widths}.")
        self.n_rows, self.n_features = sum(n for n, _ in sizes), widths[0]

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        for rows in self._rows:
            yield rows.result()


def _block_of(part: Sequence[Any]) -> Block:
    X, y, *weight = part
    values, labels = np.asarray(X), np.asarray(y)
    if values.ndim != 2 or labels.shape != (len(values),):
        raise PsephosError(
            "a partition must have a table X and a label for each of its rows; got X of shape "
            f"{values.shape} and y of shape {labels.shape}."
        )
    return Block.of(0, values.T, labels, weight[0] if weight else None).counted()


def _size(rows: Block) -> tuple[int, int]:
    return len(rows.y), len(rows.columns)


def dask_partitions(X: Any, y: Any, weight: Any = None) -> list[Any]:
    """Return one delayed ``(X, y[, weight])`` for each partition of Dask collections.

    Parameters
    ----------
    X : dask array or data frame
        An array must be in blocks of whole rows.
    y : dask array or series
        With the same partitions as X.
    weight : dask array or series, default=None

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    PsephosError
        If the collections have different numbers of partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from psephos import dask_partitions
    >>> X = da.random.default_rng(0).normal(size=(6, 2), chunks=(3, 2))
    >>> parts = dask_partitions(X, X[:, 0] > 0)
    >>> [part.compute()[0].shape for part in parts]
    [(3, 2), (3, 2)]
    """
    try:
        delayed: Any = import_module("dask.delayed").delayed
    except ImportError:
        raise MissingExtraError("dask", "training on partitions", "dask") from None
    given = [X, y] if weight is None else [X, y, weight]
    parted = [np.ravel(np.asarray(part.to_delayed(), dtype=object)) for part in given]
    lengths = [len(part) for part in parted]
    if len(set(lengths)) > 1:
        raise PsephosError(
            f"X, y and weight must have equal numbers of partitions, by rows only; got {lengths}."
        )
    return [delayed(mine) for mine in zip(*parted, strict=True)]
