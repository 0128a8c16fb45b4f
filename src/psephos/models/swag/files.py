"""Files that are written whole or not at all, and arrays that are read with their checksum."""

import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._whole import write_whole

__all__ = ["array_bytes", "digest", "json_bytes", "read_array", "write_whole"]


def read_array(path: Path, checksum: str, mapped: bool) -> NDArray[Any]:
    """Return the array of an .npy file, mapped from the disk or read.

    Raises
    ------
    ValueError
        If the file does not match its checksum.
    """
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != checksum:
        raise ValueError(f"{path.name!r} does not match its checksum")
    return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array as the bytes of an .npy file."""
    out = BytesIO()
    np.save(out, np.ascontiguousarray(array), allow_pickle=False)
    return out.getvalue()


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def json_bytes(content: Any) -> bytes:
    """Return plain values as JSON, the same bytes for the same values."""
    return json.dumps(content, sort_keys=True, indent=1).encode() + b"\n"
