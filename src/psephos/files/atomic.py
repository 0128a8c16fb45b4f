"""Files that are written whole or not at all, and in words why one could not be."""

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
_OLD = 3600.0  # seconds after which a draft counts as left behind


class UnwritableError(PsephosError):
    """A file or folder that the system does not let us write."""


def reason(error: OSError) -> str:
    """Return why the system refused, in words."""
    alone = error.args[0] if len(error.args) == 1 else None  # OSError(28) has no errno
    number = error.errno or (alone if isinstance(alone, int) else 0)
    reason = error.strerror or (os.strerror(number) if number else str(error))
    return (reason or "the system refused it without a reason").lower()


def unwritable(path: str | os.PathLike[str], error: OSError) -> UnwritableError:
    """Return the error that names the path a user gave, rather than that of a draft."""
    return UnwritableError(f"{os.fspath(path)!r} cannot be written: {reason(error)}.")


@contextmanager
def whole(path: str | os.PathLike[str]) -> Generator[BinaryIO]:
    """Yield a file that takes its place when the block ends: a reader sees the old or the new.

    Missing folders are made. If the block raises, nothing is left. What a link points to is
    replaced, not the link; what is no file (a device, a pipe) is written to as it is. What cannot
    be written raises UnwritableError, which names `path`.
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
        # the start of the name only: a name may be as long as the system allows
        prefix = f".{target.name[:40]}."
        handle, draft = tempfile.mkstemp(_DRAFT, prefix, target.parent)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)  # mkstemp makes files that only their owner may read
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
    """Write bytes whole or not at all (see `whole`)."""
    with whole(path) as out:
        out.write(data)


def remove_drafts(folder: Path, *, but: str = "") -> None:
    """Remove what killed writers left in a folder; of the name `but` only what is an hour old."""
    for draft in folder.glob(f".*{_DRAFT}"):
        with suppress(OSError):
            young = time.time() - draft.stat().st_mtime < _OLD
            if not (but and young and draft.name.startswith(f".{but}.")):
                draft.unlink()


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder last, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):  # some network disks cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
