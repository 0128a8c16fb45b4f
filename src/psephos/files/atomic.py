"""Atomic writes of files, and messages if a file cannot be written."""

import errno
import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from psephos._errors import PsephosError

_DRAFT = ".psephos-part"
_OLD = 3600.0  # seconds after which a draft counts as abandoned


class UnwritableError(PsephosError):
    """A file or folder that cannot be written."""


def reason(error: OSError) -> str:
    """Return the system's reason of an error, in words."""
    alone = error.args[0] if len(error.args) == 1 else None  # OSError(28) has no errno
    number = error.errno or (alone if isinstance(alone, int) else 0)
    reason = error.strerror or (os.strerror(number) if number else str(error))
    return (reason or "the system gave no reason").lower()


def unwritable(path: str | os.PathLike[str], error: OSError) -> UnwritableError:
    """Return an error that names the path that the user gave, rather than that of a draft."""
    return UnwritableError(f"{os.fspath(path)!r} cannot be written: {reason(error)}.")


@contextmanager
def whole(path: str | os.PathLike[str]) -> Generator[BinaryIO]:
    """Yield a file that replaces `path` when the block ends: readers see the old or the new one.

    Missing folders are made. If the block raises, nothing is left. The target of a link is
    replaced, not the link; a device or a pipe is written to directly. UnwritableError, which names
    `path`, is raised if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    draft = ""
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists() and not target.is_file():
            with target.open("wb", buffering=0) as device:
                yield device  # pyright: ignore[reportReturnType]
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        # only the start of the name, which may already have the greatest length
        prefix = f".{target.name[:40]}."
        handle, draft = tempfile.mkstemp(_DRAFT, prefix, target.parent)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)  # files of mkstemp are readable by their owner only
        os.replace(draft, target)
        sync_folder(target.parent)
    except BaseException as error:
        if draft:
            with suppress(OSError):
                os.unlink(draft)
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes atomically (see `whole`)."""
    with whole(path) as out:
        out.write(data)


def remove_drafts(folder: Path, *, but: str = "") -> None:
    """Remove the drafts of killed writers in a folder; those of `but` only if an hour old."""
    for draft in folder.glob(f".*{_DRAFT}"):
        with suppress(OSError):
            young = time.time() - draft.stat().st_mtime < _OLD
            if not (but and young and draft.name.startswith(f".{but}.")):
                draft.unlink()


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, if the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):  # not on some network disks
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
