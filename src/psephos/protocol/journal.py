"""One line on the disk for each finished fit, and files that are written whole or not at all."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psephos._errors import PsephosError, of_file

__all__ = ["Journal", "key_of", "write_whole"]


def key_of(configuration: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration of plain values, whatever their order."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """A file of finished fits, by key; lines are only ever appended.

    Parameters
    ----------
    path : Path or None
        None keeps the fits in memory only.

    Notes
    -----
    A line is written by one call and flushed to the disk before `add` returns. A line torn by a
    crash has no end: it is cut off when the journal is next opened, and its fit is done again. A
    damaged line elsewhere is passed over (`n_damaged` counts them).
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.n_damaged = 0
        self._entries: dict[str, dict[str, Any]] = {}
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._read(path)
            except OSError as error:
                raise PsephosError(
                    f"the folder {str(path.parent)!r} cannot be written ({error.strerror}): give "
                    "another with --out."
                ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the last entry of a key, or None."""
        return self._entries.get(key)

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry (plain values, with its 'key') and make sure that it lasts."""
        # through text and back, so that an entry reads the same in this run and after a restart
        line = json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if self.path is not None:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                _write_all(handle, line.encode() + b"\n")
                os.fsync(handle)
            finally:
                os.close(handle)
        self._entries[entry["key"]] = json.loads(line)

    def _read(self, path: Path) -> None:
        if not path.exists():
            path.touch()
            _sync_folder(path.parent)
            return
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with path.open("r+b") as file:
                file.truncate(whole)
                os.fsync(file.fileno())
        for line in content[:whole].splitlines():
            try:
                entry = json.loads(line)
                self._entries[entry["key"]] = entry
            except (ValueError, TypeError, KeyError):
                self.n_damaged += 1


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a reader sees the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:  # the user knows the file, not its draft
        raise of_file(error, error.filename, path) from None
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)  # mkstemp makes files that only their owner may read
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
