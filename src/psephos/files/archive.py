"""Untrusted files: archives, JSON and arrays, read within bounds.

Declared sizes are validated before anything is read, so that a file of a few kilobytes cannot use
more memory than it declares.
"""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from psephos._errors import ModelFileError
from psephos._types import Array

Entries = Mapping[str, bytes]
_MAX_BYTES = 1 << 31
_MAX_LIST = 12 << 20  # bytes of an archive's list of entries: about 100,000 of a model file
_MAX_DEPTH = 100
_MAX_VALUES = 1_000_000  # and one more for each _VALUE_BYTES of text
_VALUE_BYTES = 32
_PACKING = 1040  # deflate compresses at most 1032 times
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER_BYTES = 10_000  # the most of an array's header, as in NumPy
_MAX_SIDES = 32
#: The header of numbers or words in C order, in version 1.0 of the format; sides below 10^18.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<|>=]?(?:[biuf][1-9][0-9]?|U[1-9][0-9]{0,8}))', "
    rb"'fortran_order': False, 'shape': \(((?:SIDE,(?: SIDE,)*(?: SIDE)?)?)\), \} *\n".replace(
        b"SIDE", rb"(?:0|[1-9][0-9]{0,17})"
    ),
    re.DOTALL,
)
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)


class _Listing(io.BufferedReader):
    """A file whose reads are limited to the longest list of entries."""

    bounded = True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most `size` bytes."""
        if self.bounded and size is not None and size > _MAX_LIST:
            raise ModelFileError("it lists more entries than a model has.")
        return super().read(size)


def read_entries(path: Path, named: str) -> Entries:
    """Return the entries of an archive by name; names must match the regular expression `named`.

    It raises ModelFileError if the archive declares more than it can hold, or is not of the plain
    kind that psephos writes.
    """
    with _Listing(io.FileIO(path)) as file, zipfile.ZipFile(file) as archive:
        file.bounded = False
        entries = archive.infolist()
        _check_entries(entries, named, path.stat().st_size)
        return {entry.filename: _content(archive, entry) for entry in entries}


def _check_entries(entries: list[zipfile.ZipInfo], named: str, size: int) -> None:
    if sum(entry.file_size for entry in entries) > _MAX_BYTES:
        raise ModelFileError("it declares more than 2 GiB of content.")
    if len({entry.filename for entry in entries}) < len(entries):
        raise ModelFileError("it has two entries of the same name.")
    strange = [entry.filename for entry in entries if not re.fullmatch(named, entry.filename)]
    if strange:
        raise ModelFileError(f"it holds an entry {ascii(strange[0])[:80]}, which no model has.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise ModelFileError("it is encrypted: model files are not.")
    if any(entry.compress_type not in _METHODS for entry in entries):
        raise ModelFileError("it is compressed by a method that this version does not read.")
    more = any(entry.file_size > _PACKING * (entry.compress_size + 1) for entry in entries)
    if more or sum(entry.compress_size for entry in entries) > size:
        raise ModelFileError("it declares more content than it can hold: the file is damaged.")


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as content:  # read() would unpack everything, beyond the declared size
        data = content.read(entry.file_size) if entry.file_size else b""
    if len(data) < entry.file_size:
        raise ModelFileError(f"{entry.filename} is shorter than declared: the file is damaged.")
    return data


# ---------------------------------------------------------------------- text
def check_text(data: bytes) -> None:
    """Raise PsephosError if JSON text is nested too deeply, or has too many values."""
    depth, left = 0, _MAX_VALUES + len(data) // _VALUE_BYTES
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        if mark == 0x22:  # a word
            continue
        left -= 1
        depth += (mark in b"[{") - (mark in b"]}")
        if depth > _MAX_DEPTH:
            raise ModelFileError(f"its manifest is nested deeper than {_MAX_DEPTH} levels.")
        if left < 0:
            raise ModelFileError("its manifest holds more values than can be read.")


def read_json(data: bytes) -> dict[str, Any]:
    """Return the object that JSON text holds."""
    check_text(data)
    text = data.decode("utf-8")  # json.loads would guess the encoding of bytes
    content = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    if not isinstance(content, dict):
        raise ModelFileError("its manifest is not an object.")
    if re.search(r"\\u[dD][89a-fA-F]", text):  # half a character, or both halves of one
        json.dumps(content, ensure_ascii=False).encode()
    return cast("dict[str, Any]", content)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ModelFileError("its manifest names a value twice.")
    return content


def _no_number(word: str) -> Any:
    raise ModelFileError(f"its manifest holds {word}, which is not a number.")


# ---------------------------------------------------------------------- arrays
def read_array(data: bytes, limit: int) -> Array:
    """Return an array from npy bytes, whose length must be exactly that of its header.

    `limit` is the size of all arrays in bytes: no side may be longer, even of an empty array.
    """
    shape, dtype, start = _header(data)
    body = data[start:]
    count = 1
    for side in shape:
        count *= side  # Python integers do not overflow
    if count * dtype.itemsize != len(body) or max(shape, default=0) > limit:
        raise ModelFileError("an array is shorter or longer than its header declares.")
    array = np.frombuffer(body, dtype=dtype, count=count).reshape(shape).copy()
    if dtype.kind == "U":
        _check_characters(array)
    return array


def _header(data: bytes) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return shape, dtype and start of the content; only the form that NumPy writes is accepted."""
    end = 10 + int.from_bytes(data[8:10], "little")
    found = _HEADER.fullmatch(data[:end]) if end <= _HEADER_BYTES else None
    if found is None:
        raise ModelFileError("the header of an array is damaged, or not of plain values.")
    kind, sides = found.groups()
    shape = tuple(int(side) for side in sides.split(b",") if side.strip())
    try:
        dtype = np.dtype(kind.decode())
    except (TypeError, ValueError):  # numbers of three bytes, words that are too long for NumPy
        raise ModelFileError("an array must hold plain numbers or words.") from None
    if len(shape) > _MAX_SIDES:
        raise ModelFileError(f"an array has more than {_MAX_SIDES} dimensions.")
    return shape, dtype, end


def _check_characters(words: Array) -> None:
    """Raise PsephosError if a word has an invalid code point."""
    points = np.ascontiguousarray(words).view(words.dtype.byteorder.replace("|", "=") + "u4")
    half = (points >= 0xD800) & (points < 0xE000)
    if points.size and (points.max() > 0x10FFFF or half.any()):
        raise ModelFileError("an array of words has an invalid character.")
