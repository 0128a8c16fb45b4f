"""Working space on disk: so many bytes a row, read and written block by block."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.trees.out_of_core.rows import fill


class Spool:
    """A file that holds, for each row, `width` numbers; a block is stored as it is laid out.

    It is read and written by plain calls, not mapped: pages of a map would count as the
    process's own memory until the system takes them back.

    `bounds`: first row of each block, and the end of the last one; it may still grow.
    """

    def __init__(self, path: Path, dtype: Any, width: int, bounds: list[int]):
        self._dtype, self._width, self._bounds = np.dtype(dtype), width, bounds
        path.touch()
        # Two handles, each with its own place: a thread reads ahead while another writes behind.
        self._reading = path.open("rb", buffering=0)
        self._writing = path.open("r+b", buffering=0)

    def read(self, block: int) -> NDArray[Any]:
        """Return the numbers of a block, one after another."""
        start, stop = self._bounds[block : block + 2]
        out = np.empty(self._width * (stop - start), dtype=self._dtype)
        self._reading.seek(start * self._width * self._dtype.itemsize)
        fill(self._reading, out)
        return out

    def write(self, block: int, values: NDArray[Any]) -> None:
        """Store a block of `width` numbers a row."""
        self._writing.seek(self._bounds[block] * self._width * self._dtype.itemsize)
        view = np.ascontiguousarray(values, dtype=self._dtype).data.cast("B")
        done = 0
        while done < len(view):
            done += self._writing.write(view[done:])

    def close(self) -> None:
        """Close the file."""
        self._reading.close()
        self._writing.close()


class Scratch:
    """A folder of spools that is removed at the end.

    `folder`: where to make the folder: a disk with free space; None is the system's temporary
    folder.
    """

    def __init__(self, folder: str | Path | None = None):
        self._bounds = [0]
        self._folder = tempfile.TemporaryDirectory(prefix="psephos-blocks-", dir=folder)
        self._spools: list[Spool] = []

    @property
    def n_blocks(self) -> int:
        """Return the number of blocks."""
        return len(self._bounds) - 1

    def append(self, n_rows: int) -> int:
        """Add a block of rows; return its number."""
        self._bounds.append(self._bounds[-1] + n_rows)
        return self.n_blocks - 1

    def spool(self, name: str, dtype: Any, width: int = 1) -> Spool:
        """Return a new spool."""
        path = Path(self._folder.name) / name
        self._spools.append(Spool(path, dtype, width, self._bounds))
        return self._spools[-1]

    def close(self) -> None:
        """Remove the folder."""
        for spool in self._spools:
            spool.close()
        self._folder.cleanup()
