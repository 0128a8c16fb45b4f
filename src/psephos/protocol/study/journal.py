"""One line on the disk for each finished fit, and a lock that lasts as long as its process."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from psephos._errors import PsephosError
from psephos.files.atomic import sync_folder, unwritable

_LOCKED_BYTE = 2**31 - 2  # on Windows, where a locked byte cannot be read: beyond any line


def key_of(configuration: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration of plain values, whatever their order."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """A file of finished fits, by key; lines are only ever appended. Without a path, in memory.

    A line is flushed to the disk before `add` returns, and ends with a checksum of itself. A line
    torn by a crash has no end: it is cut off when the journal is next opened, and its fit is done
    again. A line that does not match its checksum is passed over (`n_damaged` counts them).

    The open file is locked by the operating system, which gives the lock back when the process
    ends in whatever way.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.n_damaged = 0
        self._entries: dict[str, dict[str, Any]] = {}
        self._handle = -1
        if path is None:
            return
        try:
            binary = getattr(os, "O_BINARY", 0)
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o666)
            _lock(self._handle, path.parent)
            sync_folder(path.parent)
            self._read()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise unwritable(path.parent, error) from error
            raise

    def close(self) -> None:
        """Give the file and its lock back; the entries can still be read."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            with suppress(OSError):
                _unlock(handle)
            os.close(handle)

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self.n_damaged = 0
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
            os.fsync(self._handle)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the last entry of a key, or None."""
        return self._entries.get(key)

    def models(self) -> list[str]:
        """Return the models that have entries, in the order they were first met."""
        return list(dict.fromkeys(entry["model"] for entry in self._entries.values()))

    def count(self, model: str) -> int:
        """Return how many fits of a model have entries."""
        return sum(entry["model"] == model for entry in self._entries.values())

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry (plain values, with its 'key') and make sure that it lasts."""
        # through text and back, so that an entry reads the same in this run and after a restart
        text = _words(entry)
        if self.path is not None:
            line = _words(entry | {"checksum": _checksum(text)}).encode() + b"\n"
            end = os.lseek(self._handle, 0, os.SEEK_END)
            try:
                _write_all(self._handle, line)
                os.fsync(self._handle)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(self._handle, end)  # half a line is no line
                raise unwritable(self.path, error) from error
        self._entries[entry["key"]] = json.loads(text)

    def _read(self) -> None:
        os.lseek(self._handle, 0, os.SEEK_SET)
        with os.fdopen(self._handle, "rb", closefd=False) as file:
            content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)
        for line in content[:whole].split(b"\n")[:-1]:
            try:
                entry = json.loads(line)
                stored = entry.pop("checksum")
                if _checksum(_words(entry)) != stored:
                    raise ValueError("the line is not what was written")
                self._entries[entry["key"]] = entry
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self.n_damaged += 1


def _words(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


# ------------------------------------------------------------------- the lock
def _lock(handle: int, folder: Path) -> None:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise PsephosError(
            f"another process is writing a comparison into the folder {str(folder)!r}: wait until "
            "it has ended, or give another folder."
        ) from error
    except OSError:
        pass  # a network disk without locks: README.txt says so


def _unlock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
