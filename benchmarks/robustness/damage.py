"""Damage to model files: each case is drawn from a seed, checksums are written anew."""

import copy
import hashlib
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["damaged_model", "pack", "places", "unpack"]

Files = dict[str, bytes]
_NUMBERS = (
    0, -0.0, 1, -1, 2, 7, 99, -99, 2**31, -(2**62), 2**62, np.nan, np.inf, -np.inf, 1e308, -1e308,
    5e-324, 1e-300, 1e19,
)  # fmt: skip
_DEEP: Any = 1
for _ in range(200):
    _DEEP = {"tuple": [_DEEP]}
_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 2**31 - 1, 2**63, -(2**63), 10**400, 0.5, -0.5, 1e308, "", "x",
    "a\x1fb", "a\x00b", "\ud800", "é" * 300, [], {}, [[]], {"float": "nan"}, {"float": "inf"},
    {"float": "1e5"}, {"float": ["x"]}, {"tuple": [1]}, {"tuple": []}, {"tuple": 3},
    {"objects": [1, "a"]}, {"objects": []}, {"objects": [{"tuple": []}]}, {"array": "nothing"},
    {"array": ["x"]}, {"part": "vote", "fields": {}}, {"part": "stump voters"}, {"part": ["vote"]},
    {"part": "regression target", "fields": {"unit": "x"}}, {"words": "x"}, {"pairs": 3},
    {"model": "CARTClassifier", "params": {}}, _DEEP, [0] * 3000,
)  # fmt: skip
_HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 0), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1099511627776), }",
    "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3000000), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (9999999999,), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }",
    "{", "(" * 900, "1" * 5000,
)  # fmt: skip


def unpack(path: Path) -> tuple[dict[str, Any], Files]:
    """Return the manifest of a model file and its other entries."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("manifest.json")), files


def pack(manifest: Any, files: Files, path: Path, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a file whose checksums are right, whatever is in it."""
    if isinstance(manifest, dict):
        if isinstance(manifest.get("arrays"), dict):
            named = [n for n in manifest["arrays"] if n in files]
            manifest["arrays"] = {n: hashlib.sha256(files[n]).hexdigest() for n in named}
        kept = {key: value for key, value in manifest.items() if key != "checksum"}
        canonical = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
        manifest["checksum"] = hashlib.sha256(canonical).hexdigest()
        manifest = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", manifest)
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a manifest."""
    yield at
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*at, key))


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0), allow_pickle=True)
    return buffer.getvalue()


def _header(text: str, body: bytes) -> bytes:
    data = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(data)) + data + body


def _pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


# ---------------------------------------------------------------------- arrays
def _change_numbers(rng: np.random.Generator, files: Files, name: str) -> None:
    array = np.load(io.BytesIO(files[name])).copy()
    if array.size == 0:
        return
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(array.size))
        if array.dtype.kind == "U":
            array.flat[place] = _pick(rng, ("", "a\x1fb", "\ud800", "x" * 9, "0"))
            continue
        value = _pick(rng, _NUMBERS)
        if rng.random() < 0.3:
            value = array.flat[int(rng.integers(array.size))]
        try:
            array.flat[place] = value
        except (OverflowError, ValueError):
            array.flat[place] = 0
    files[name] = _npy(array)


def _change_bytes(rng: np.random.Generator, files: Files, name: str) -> None:
    data = bytearray(files[name])
    for _ in range(int(rng.integers(1, 4))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    files[name] = bytes(data)


def _change_shape(rng: np.random.Generator, files: Files, name: str) -> None:
    changes = (
        lambda a: a[:0], lambda a: a[:-1], lambda a: a[1:], lambda a: np.concatenate([a, a]),
        lambda a: a[None], lambda a: a[..., None], lambda a: a.ravel(), lambda a: a.T.copy(),
        lambda a: a.astype(str), lambda a: a.astype("<f4"), lambda a: a.astype(">f8"),
        lambda a: a.astype("<i4"), lambda a: a.astype("u1"), lambda a: a.astype(bool),
        lambda a: a.astype("S9"), lambda a: a.astype(complex), lambda a: np.array(3.0),
        lambda a: np.array("x"), lambda a: -a, lambda a: a[::-1], lambda a: np.sort(a, axis=None),
        lambda a: a.astype("<M8[s]"), lambda a: a.astype(object), lambda a: a * 0,
        lambda a: a[..., :0], lambda a: a[:, :1], lambda a: a + 1, lambda a: a.astype("<f8"),
    )  # fmt: skip
    try:
        files[name] = _npy(_pick(rng, changes)(np.load(io.BytesIO(files[name]))))
    except (IndexError, ValueError, TypeError):
        _change_bytes(rng, files, name)


def _change_header(rng: np.random.Generator, files: Files, name: str) -> None:
    body = (b"", bytes(8), bytes(64), files[name], b"\x93NUMPY\x01\x00" * 20)
    files[name] = _header(_pick(rng, _HEADERS), _pick(rng, body))


def _exchange(rng: np.random.Generator, files: Files, name: str) -> None:
    other = _pick(rng, list(files))
    files[name], files[other] = files[other], files[name]


_ARRAYS = (_change_numbers,) * 5 + (_change_bytes, _change_shape, _change_shape, _change_header)
_ARRAYS += (_exchange,)


# ---------------------------------------------------------------------- manifests
def _change_manifest(rng: np.random.Generator, manifest: dict[str, Any]) -> None:
    if rng.random() < 0.1:
        manifest["n_features"] = _pick(rng, (2**31 - 1, 2**20, 2**24, 2**31, 10**15, 0, -1, 1, 13))
        return
    every = [at for at in places(manifest) if at and at[0] not in ("checksum", "arrays")]
    tops = sorted({at[0] for at in every})
    top = _pick(rng, tops)  # the vote has most of the places: others have their turn too
    at = _pick(rng, every if rng.random() < 0.6 else [at for at in every if at[0] == top])
    parent = manifest
    for key in at[:-1]:
        parent = parent[key]
    draw = rng.random()
    if draw < 0.15:
        del parent[at[-1]]
    elif draw < 0.35:
        other = manifest
        for key in _pick(rng, every):
            other = other[key]
        parent[at[-1]] = copy.deepcopy(other)
    elif draw < 0.45 and isinstance(parent, list):
        parent.insert(at[-1], copy.deepcopy(parent[at[-1]]))
    else:
        parent[at[-1]] = copy.deepcopy(_pick(rng, _ODD))


def _raw_manifest(rng: np.random.Generator, manifest: dict[str, Any]) -> bytes:
    depth = int(rng.integers(50, 400)) if rng.random() < 0.5 else 100_000
    hole = json.dumps({**manifest, "vote": "HERE"})
    text = _pick(rng, (
        "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth,
        "[" + "[]," * 3_000_000 + "1]", '{"a":1,' * 20_000, '"' * 100_000, "1" * 50_000, "",
        hole.replace('"HERE"', "[" + "[]," * 2_000_000 + "1]"),
        hole.replace('"HERE"', '{"tuple":[' * depth + "1" + "]}" * depth),
        hole.replace('"HERE"', "NaN"), hole.replace('"HERE"', "1e999"), hole + hole,
        hole.replace('"HERE"', '"\\ud800"'), hole[: len(hole) // 2],
        hole[:-1] + ', "format": "psephos model"}',
    ))  # fmt: skip
    return text.encode() if rng.random() < 0.9 else text.encode("utf-16")


# ---------------------------------------------------------------------- archives
def _change_archive(rng: np.random.Generator, source: Path, path: Path) -> None:
    data, draw = bytearray(source.read_bytes()), int(rng.integers(8))
    if draw == 0:
        data = data[: int(rng.integers(len(data)))]
    elif draw == 1:  # flags of an entry: encrypted, or packed in another way
        place = data.rindex(b"PK\x01\x02") + _pick(rng, (8, 10))
        data[place] = int(rng.integers(256))
    elif draw == 2:  # a size in the list of entries
        place = data.index(b"PK\x01\x02") + _pick(rng, (20, 24, 42))
        data[place : place + 4] = struct.pack("<L", _pick(rng, (0, 1, 100, 2**30, 2**32 - 1)))
    elif draw == 3:  # the list's own size, place and length
        place = data.rindex(b"PK\x05\x06") + int(rng.integers(4, 20))
        data[place] = int(rng.integers(256))
    elif draw == 4:
        data += _pick(rng, (b"x", bytes(70_000), bytes(data)))
    else:
        for _ in range(int(rng.integers(1, 6))):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def _more_entries(rng: np.random.Generator, manifest: Any, files: Files, path: Path) -> None:
    pack(manifest, files, path)
    name = _pick(rng, ("manifest.json", "../x", "/etc/passwd", "arrays/extra.npy", "a" * 60_000,
                       _pick(rng, list(files) or ["x"])))  # fmt: skip
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        size = _pick(rng, (0, 10, 1 << 24))
        many = size == 0 and len(name) < 99 and rng.random() < 0.2
        for k in range(70_000 if many else 1):
            archive.writestr(name if k == 0 else f"{name}{k}", bytes(size))


def damaged_model(source: Path, path: Path, seed: tuple[int, ...]) -> str:
    """Write a damaged copy of a model file; return the kind of damage.

    Parameters
    ----------
    source, path : Path
    seed : tuple of int
        The same damage for the same source and seed.
    """
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        draw = rng.random()
        if draw < 0.08:
            _change_archive(rng, source, path)
            return "archive"
        manifest, files = unpack(source)
        if draw < 0.11:
            _more_entries(rng, manifest, files, path)
            return "entries"
        if draw < 0.14:
            pack(_raw_manifest(rng, manifest), files, path)
            return "manifest text"
        if draw < 0.45:
            for _ in range(int(rng.integers(1, 3))):
                _change_manifest(rng, manifest)
            pack(manifest, files, path)
            return "manifest"
        for _ in range(int(rng.integers(1, 3))):
            change, name = _pick(rng, _ARRAYS), _pick(rng, list(files))
            try:
                change(rng, files, name)
            except Exception:  # an array that was damaged before can no longer be read
                _change_bytes(rng, files, name)
        pack(manifest, files, path, _pick(rng, (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))
        return "arrays"
