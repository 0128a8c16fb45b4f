"""The model file: one archive of a JSON manifest and plain arrays.

`save` writes data only; `load` runs no code of the file's, accepts no pickled object, and checks
every length, checksum and index before a compiled kernel sees it. The file holds the training
rows a vote needs (anchors, prototypes, support rows: on the columns it reads, with identifiers)
and no other training data.
"""

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from psephos import __version__
from psephos._errors import ModelFileError, of_file
from psephos._files.cells import Cells
from psephos._input import Schema
from psephos.base import VoteEstimator, estimator_class
from psephos.vote import Vote
from psephos.vote.codec import decode, encode
from psephos.vote.part import sparse

__all__ = ["SCHEMA", "load", "save"]

SCHEMA = 1
_FORMAT = "psephos model"
_MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # archives of equal models are equal bytes
_MAX_BYTES = 1 << 31
_MAX_COLUMNS = 1 << 31
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


# ---------------------------------------------------------------------- writing
def save(model: VoteEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that holds data only.

    Parameters
    ----------
    model : fitted estimator of psephos
    path : path-like
        Written whole or not at all.

    Raises
    ------
    ModelFileError
        If the model is not fitted, not one of psephos's, or has voters that are not plain data
        (the message names their class).
    """
    if not isinstance(model, VoteEstimator) or not hasattr(model, "vote_"):
        raise ModelFileError(f"{type(model).__name__} is not a fitted model of psephos.")
    arrays: dict[str, NDArray[Any]] = {}
    manifest = _manifest(model, arrays)
    files = {f"arrays/{name}.npy": _npy(array) for name, array in arrays.items()}
    manifest["arrays"] = {name: _digest(data) for name, data in files.items()}
    manifest["checksum"] = _digest(_canonical(manifest))
    _write(Path(path), {_MANIFEST: json.dumps(manifest, indent=1).encode(), **files})


def _manifest(model: VoteEstimator, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    schema = model.schema_
    levels = tuple((j, _words_or_numbers(schema, j)) for j in schema.levels)
    extras = {n: encode(getattr(model, n), arrays, f"extras.{n}") for n in model.extras}
    return {
        "format": _FORMAT,
        "schema": SCHEMA,
        "psephos": __version__,
        "class": type(model).__name__,
        "anatomy": list(model.anatomy),
        "params": {n: _param(v) for n, v in model.get_params(deep=False).items()},
        "n_features": schema.n_features,
        "names": None if schema.names is None else list(schema.names),
        "levels": encode(levels, arrays, "levels"),
        "vote": encode(model.vote_, arrays, "vote"),
        "extras": extras,
        **_reading(schema),
    }


def _reading(schema: Schema) -> dict[str, Any]:
    """Return how tables are read for the model, where it is not as usual."""
    told: dict[str, Any] = {"by_name": True} if schema.by_name else {}
    return told if schema.cells == Cells() else {**told, "cells": schema.cells.data()}


def _words_or_numbers(schema: Schema, j: int) -> tuple[Any, ...]:
    """Return the categories of column j, refusing dates, intervals and the like."""
    for value in schema.levels[j]:
        if not isinstance(value, str | bool | int | float):
            name = schema.words().columns[j]
            raise ModelFileError(
                f"the model cannot be saved: the categories of column {name!r} are of "
                f"type {type(value).__name__}. Give them as words or numbers and fit again."
            )
    return schema.levels[j]


def _param(value: Any) -> Any:
    """Return a constructor parameter as data; foreign estimators, random states as words only."""
    if isinstance(value, VoteEstimator) and estimator_class(type(value).__name__) is type(value):
        own = {n: _param(v) for n, v in value.get_params(deep=False).items()}
        return {"model": type(value).__name__, "params": own}
    if isinstance(value, Mapping):  # class weights; JSON's own keys would all be words
        pairs = tuple((key, value[key]) for key in value)
        content = _param(pairs)
        return {"pairs": content} if "words" not in content else {"words": repr(value)}
    try:
        return encode(value, {}, "") if not isinstance(value, np.ndarray) else value.tolist()
    except ModelFileError:
        return {"words": repr(value)}


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array, order="C"), version=(1, 0))
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _canonical(manifest: Mapping[str, Any]) -> bytes:
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _write(path: Path, files: Mapping[str, bytes]) -> None:
    draft = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with open(draft, "xb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in files.items():
                    archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
            out.flush()
            os.fsync(out.fileno())
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise of_file(error, draft, path) from None
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


# ---------------------------------------------------------------------- reading
def load(path: str | os.PathLike[str]) -> VoteEstimator:
    """Read a model file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : the fitted estimator
        A parameter that was a random state, or an estimator of another library, is not kept: it
        reads None.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, or was written by a newer version.
    FileNotFoundError
        If there is no such file.
    """
    try:
        files = _read(Path(path))
        manifest = _checked(files)
        return _model(manifest, {n: _array(files[n]) for n in manifest["arrays"]})
    except (ModelFileError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        if isinstance(error, ModelFileError):
            raise ModelFileError(f"{path}: {error}") from None
        raise
    except Exception as error:  # whatever a hostile file makes a reader raise (zlib, struct, ...)
        reason = str(error) or type(error).__name__
        raise ModelFileError(f"{path} is damaged or not a psephos model file: {reason}") from None


def _read(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MAX_BYTES:
            raise ModelFileError("it claims more than 2 GiB of content.")
        if any(entry.compress_type not in _METHODS for entry in entries):
            raise ModelFileError("it is packed in a way this version does not read.")
        return {entry.filename: archive.read(entry) for entry in entries}


def _checked(files: Mapping[str, bytes]) -> dict[str, Any]:
    if _MANIFEST not in files:
        raise ModelFileError("it has no manifest, so it is not a psephos model file.")
    manifest = json.loads(files[_MANIFEST])
    if manifest["format"] != _FORMAT:
        raise ModelFileError("it is not a psephos model file.")
    if manifest["schema"] > SCHEMA:
        raise ModelFileError(
            f"it was written by psephos {manifest['psephos']} in a newer form: update psephos."
        )
    if manifest["checksum"] != _digest(_canonical(manifest)):
        raise ModelFileError("its manifest does not match its checksum: the file is damaged.")
    for name, digest in manifest["arrays"].items():
        if name not in files or _digest(files[name]) != digest:
            raise ModelFileError(f"{name} does not match its checksum: the file is damaged.")
    return manifest


def _array(data: bytes) -> NDArray[Any]:
    """Return an array from npy bytes, whose length must be exactly what its header says."""
    buffer = io.BytesIO(data)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ModelFileError("an array is in a form this version does not read.")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype.kind not in "biufU" or fortran or any(side < 0 for side in shape):
        raise ModelFileError("an array is not plain numbers or words.")
    body = data[buffer.tell() :]
    count = 1
    for side in shape:
        count *= side  # Python integers: a hostile shape cannot overflow
    if count * dtype.itemsize != len(body):
        raise ModelFileError("an array is shorter or longer than its header says.")
    array = np.frombuffer(body, dtype=dtype, count=count).reshape(shape).copy()
    if dtype.kind == "U":
        _check_characters(array)
    return array


def _check_characters(words: NDArray[Any]) -> None:
    """Raise a sentence if a word holds a number that is no character."""
    points = np.ascontiguousarray(words).view(words.dtype.byteorder.replace("|", "=") + "u4")
    if points.size and points.max() > 0x10FFFF:
        raise ModelFileError("an array of words holds what is not a character.")


def _model(manifest: dict[str, Any], files: dict[str, NDArray[Any]]) -> VoteEstimator:
    arrays = {name.removeprefix("arrays/").removesuffix(".npy"): a for name, a in files.items()}
    model: Any = _unfitted(manifest["class"], manifest["params"])
    names = manifest["names"]
    levels = {int(j): tuple(values) for j, values in decode(manifest["levels"], arrays)}
    schema = Schema(
        int(manifest["n_features"]),
        None if names is None else tuple(map(str, names)),
        levels,
        cells=Cells.of(manifest["cells"]) if "cells" in manifest else Cells(),
        by_name=bool(manifest.get("by_name", False)),
    )
    if not 0 < schema.n_features < _MAX_COLUMNS or any(
        not 0 <= j < schema.n_features for j in levels
    ):
        raise ModelFileError("its columns are not those of a table: the file is damaged.")
    vote = decode(manifest["vote"], arrays)
    if not isinstance(vote, Vote) or vote.n_features != schema.n_features:
        raise ModelFileError("its vote does not fit its table: the file is damaged.")
    _probe(vote)
    model.n_features_in_ = schema.n_features
    if names is not None:
        if len(names) != schema.n_features:
            raise ModelFileError("its column names do not fit its table: the file is damaged.")
        model.feature_names_in_ = np.asarray(schema.names, dtype=object)
    extras = {n: decode(v, arrays) for n, v in manifest["extras"].items()}
    for extra in extras.values():
        if hasattr(extra, "check_vote"):
            extra.check_vote(vote)
    model._set_fitted(vote, schema, extras)
    return model


def _unfitted(name: Any, params: Mapping[str, Any]) -> Any:
    """Return an estimator of the library with these parameters."""
    cls: Any = estimator_class(name) if isinstance(name, str) else None
    if cls is None:
        raise ModelFileError(f"it holds a {name!r}, which this version does not know.")
    known = cls().get_params(deep=False)
    return cls(**{n: _read_param(v) for n, v in params.items() if n in known})


def _read_param(value: Any) -> Any:
    if isinstance(value, dict) and "model" in value:
        return _unfitted(value["model"], value["params"])
    if isinstance(value, dict) and "words" in value:
        return None
    if isinstance(value, dict) and "pairs" in value:
        return dict(decode(value["pairs"], {}))
    if isinstance(value, list):
        return value
    decoded = decode(value, {})
    return list(decoded) if isinstance(decoded, tuple) else decoded


def _probe(vote: Vote) -> None:
    """Ask the vote for one answer, so that parts that do not fit each other are found here."""
    case = sparse.csr_array((1, vote.n_features))  # no memory, whatever width the file claims
    if vote.votes(case).shape != (1, vote.n_voters, vote.target.n_outputs):
        raise ModelFileError("its voters do not fit its classes: the file is damaged.")
    weighting, target = cast("Any", vote.weighting), cast("Any", vote.target)
    score = vote.score(case)
    if (vote.readout.link == "identity") != (target.kind == "regression"):
        raise ModelFileError("its read-out does not fit what it predicts: the file is damaged.")
    if target.kind != "regression":
        if vote.nearest(case, 1) is not None and weighting.anchor_class.max() >= target.n_classes:
            raise ModelFileError("its anchors do not fit its classes: the file is damaged.")
        vote.readout.probabilities(score, target)
    vote.usage()
