"""Compressed tables: zip, bz2 and xz files, unpacked within bounds into a temporary folder.

gzip files of text formats are unpacked while they are read.
"""

import bz2
import lzma
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from psephos._errors import PsephosError, shortly
from psephos.files.near import quoted

MOST = 4 << 30  # bytes of an unpacked table
PACKED = (".zip", ".bz2", ".xz")
_Stream: TypeAlias = IO[bytes] | bz2.BZ2File | lzma.LZMAFile


@contextmanager
def hostile(
    path: Path, words: str = "is damaged, or not what its name says", advice: str = "write it again"
) -> Generator[None]:
    """Turn any error of a library that reads an untrusted file into a PsephosError."""
    try:
        yield
    except (PsephosError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # panics of Rust are not exceptions
        words = (
            "is damaged, or does not fit into memory" if isinstance(error, MemoryError) else words
        )
        raise PsephosError(f"{path.name!r} {words} ({shortly(error)}): {advice}.") from error


@contextmanager
def unpacked(path: Path) -> Generator[Path]:
    """Yield the path of a table: the path itself, or that of the unpacked file of an archive."""
    kind = path.suffix.lower()
    if kind not in PACKED or not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="psephos-") as folder:
        with hostile(path, "cannot be unpacked", "write it again, without a password"):
            if kind == ".zip":
                with zipfile.ZipFile(path) as archive:
                    name = _only_file(path, archive)
                    # its own name, without folders: nothing is written elsewhere
                    to = Path(folder, Path(name.replace("\\", "/")).name)
                    _copy(archive.open(name), to, path)
            else:
                to = Path(folder, path.stem)
                _copy((bz2 if kind == ".bz2" else lzma).open(path, "rb"), to, path)
        yield to


def _only_file(path: Path, archive: zipfile.ZipFile) -> str:
    every = archive.namelist()
    names = [one for one in every if one[-1:] != "/" and not one.startswith("__MACOSX/")]
    if len(names) != 1:
        raise PsephosError(
            f"{path.name!r} must be an archive of one table; it has {len(names)} files "
            f"({quoted(names)}): unpack it, and give the file of the table."
        )
    return names[0]


def _copy(source: _Stream, to: Path, path: Path) -> None:
    with source, to.open("wb") as file:
        while block := source.read(1 << 20):
            file.write(block)
            refuse_bomb(path, file.tell())


def refuse_bomb(path: Path, size: int) -> None:
    """Raise PsephosError if a file unpacks to more than MOST bytes."""
    if size > MOST:
        raise PsephosError(
            f"{path.name!r} unpacks to more than {MOST >> 20:,} MiB: unpack it yourself, and give "
            "the table, or write it as csv."
        )
