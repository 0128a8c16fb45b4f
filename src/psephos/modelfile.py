"""The model file: one archive of a JSON manifest and plain arrays.

`save` writes data only; `load` runs no code from the file, accepts no pickled object, and checks
every length, checksum and index before a compiled kernel uses it. The file holds the training rows
that a vote needs (anchors, prototypes, support rows: on the columns it reads, with identifiers) and
a univariate summary of each column it reads, from at most 512 training rows: range, quantiles,
mean, spread, share of missing values (`psephos.vote.profile`). It holds no other training data.
Conformance vectors (generated rows with their scores, `psephos.scoring`) are included:
`Stored.check` compares them.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from psephos import __version__
from psephos._errors import MissingFileError, ModelFileError
from psephos._types import Array, sparse
from psephos.estimator.params import Unsaved, kept
from psephos.estimator.schema import Schema
from psephos.files.archive import Entries, check_text, read_array, read_entries, read_json
from psephos.files.atomic import whole
from psephos.files.cells import Cells
from psephos.files.field_types import fault, hints
from psephos.registry import BUILTIN, estimator_class
from psephos.scoring.vectors import Checked, checked, vectors_of
from psephos.vote import Vote
from psephos.vote.codec import decode, encode, held_once
from psephos.vote.importance import Baseline
from psephos.vote.part import check
from psephos.vote.profile import Profile
from psephos.vote.recalibration import Recalibration

if TYPE_CHECKING:  # scikit-learn takes longer to import than a vote to answer
    from psephos.base import VoteEstimator

SCHEMA = 1
_FORMAT = "psephos model"
_MANIFEST = "manifest.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that equal models have equal files
_ENTRY = r"manifest\.json|arrays/[\w.]+\.npy"
_MAX_COLUMNS = 1 << 20  # of a table, unless the file has at least a byte for each
_LEVELS = (str, bool, int, float)
_REASON = 160  # characters of an error that is not ours


# ---------------------------------------------------------------------- writing
def save(model: "VoteEstimator", path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file that holds data only.

    Parameters
    ----------
    model : fitted estimator of psephos
    path : path-like
        The write is atomic; missing folders are made.

    Raises
    ------
    ModelFileError
        If the model is not fitted, the path is invalid, the model's class is not registered
        (`psephos.register`), or it has voters that are not plain data (the message names their
        class).
    UnwritableError
        A `PsephosError`: if the file cannot be written, as when the disk is full.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from psephos import CARTClassifier, save
    >>> model = CARTClassifier().fit(*load_iris(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "iris.psephos"))
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['iris.psephos']
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise ModelFileError(f"path must be the path of the file to write; got {path!r}.")
    files = _files(model)
    with whole(Path(path)) as out:
        _write(out, files)


def packed(model: "VoteEstimator") -> bytes:
    """Return the bytes that `save` writes."""
    out = io.BytesIO()
    _write(out, _files(model))
    return out.getvalue()


def _files(model: "VoteEstimator") -> dict[str, bytes]:
    """Return the content of a model file by name, or raise as `save` does."""
    from psephos.base import VoteEstimator

    if not isinstance(model, VoteEstimator) or not hasattr(model, "vote_"):
        raise ModelFileError(f"{type(model).__name__} is not a fitted model of psephos.")
    _check_registered(type(model))
    arrays: dict[str, Array] = {}
    manifest = _manifest(model, arrays)
    if not model._has_its_anatomy():
        parts: Any = model.vote_
        voters, weighting = parts.voters.kind, parts.weighting.tag
        raise ModelFileError(
            f"{type(model).__name__} cannot be saved: its vote has {voters!r} and the weights "
            f"{weighting!r}, and its anatomy declares {model.anatomy.voters} and "
            f"{model.anatomy.weighting!r}. Write Anatomy(({voters!r},), {weighting!r}, ...) in the "
            "class."
        )
    _check_extras(type(model), {n: getattr(model, n, None) for n in model.extras})
    files = {f"arrays/{name}.npy": _npy(array) for name, array in arrays.items()}
    manifest["arrays"] = {name: _digest(data) for name, data in files.items()}
    manifest["checksum"] = _digest(_canonical(manifest))
    text = json.dumps(manifest, indent=1).encode()
    _check_readable(manifest, text, files)
    return {_MANIFEST: text, **files}


def _check_registered(kind: type[Any]) -> None:
    """Raise PsephosError unless `load` will find the class by its name."""
    name = kind.__name__
    if estimator_class(name) is kind:
        return
    known = [base.__name__ for base in kind.__mro__[1:] if base.__name__ in BUILTIN]
    hint = f", or fit {known[0]} itself" if known else ""
    raise ModelFileError(
        f"{name} cannot be saved: load would not know its class. Decorate it with "
        f"@psephos.register, with a contender of its own{hint}."
    )


def _check_readable(manifest: Mapping[str, Any], text: bytes, files: Entries) -> None:
    """Raise PsephosError if `load` would not accept the file."""
    size = sum(map(len, files.values()))
    if manifest["n_features"] > max(_MAX_COLUMNS, size):
        raise ModelFileError(
            f"the model cannot be saved: it has {manifest['n_features']} columns, and a file holds "
            f"at most {_MAX_COLUMNS}. Save model.reduce(), which keeps only the columns it reads."
        )
    try:
        check_text(text)
    except ModelFileError as error:
        raise ModelFileError(f"the model cannot be saved: {error}") from None


def _manifest(model: "VoteEstimator", arrays: dict[str, Array]) -> dict[str, Any]:
    schema = model.schema_
    levels = tuple((j, _words_or_numbers(schema, j)) for j in schema.levels)
    vote = held_once(encode(model.vote_, arrays, "vote"), arrays)
    extras = {n: encode(getattr(model, n, None), arrays, f"extras.{n}") for n in model.extras}
    manifest = {
        "format": _FORMAT,
        "schema": SCHEMA,
        "psephos": __version__,
        "class": type(model).__name__,
        "anatomy": list(model.anatomy),
        "params": _written_params(model),
        "n_features": schema.n_features,
        "names": None if schema.names is None else list(schema.names),
        "levels": encode(levels, arrays, "levels"),
        "vote": vote,
        "extras": extras,
        **_reading(schema),
        "baseline": encode(model._known_baseline(), arrays, "baseline"),
        "vectors": encode(vectors_of(model.vote_, schema), arrays, "vectors"),
    }
    if model.recalibration_ is not None:
        manifest["recalibration"] = encode(model.recalibration_, arrays, "recalibration")
    if model.accepted_:
        manifest["accepted"] = list(model.accepted_)
    if model.joined_:
        manifest["joined"] = {old: list(became) for old, became in model.joined_.items()}
    if model._calibrated_on is not None:
        manifest["calibrated_on"] = encode(model._calibrated_on, arrays, "calibrated_on")
    return manifest


def _reading(schema: Schema) -> dict[str, Any]:
    """Return the settings for reading tables that differ from the defaults."""
    data: dict[str, Any] = {"by_name": True} if schema.by_name else {}
    data |= {"spelt": True} if schema.spelt else {}
    if schema.names is None:
        data["places"] = None if schema.places is None else list(schema.places)
    return data if schema.cells == Cells() else {**data, "cells": schema.cells.data()}


def _words_or_numbers(schema: Schema, j: int) -> tuple[Any, ...]:
    """Return the categories of column j; dates, intervals and the like raise ModelFileError."""
    for value in schema.levels[j]:
        if not isinstance(value, str | bool | int | float):
            name = schema.words().columns[j]
            raise ModelFileError(
                f"the model cannot be saved: the categories of column {name!r} are of "
                f"type {type(value).__name__}. Give them as words or numbers and fit again."
            )
    return schema.levels[j]


def _npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array, order="C"), version=(1, 0))
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _canonical(manifest: Mapping[str, Any]) -> bytes:
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _write(out: Any, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)


# ---------------------------------------------------------------------- reading
def load(path: str | os.PathLike[str]) -> "VoteEstimator":
    """Read a model file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : the fitted estimator
        A parameter that was a random state, a splitter, a function, or an estimator of another
        library (or a list with one), is not saved: it prints as ``<not in the model file: ...>``,
        and must be set again before `fit` (``model.set_params(estimator=...)``). Predictions do not
        need it.

    Raises
    ------
    ModelFileError
        If the file does not exist (the error is also a FileNotFoundError), is damaged, a folder
        or another kind of file, or was written by a newer version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from psephos import CARTClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(CARTClassifier().fit(X, y), path := pathlib.Path(folder, "iris.psephos"))
    ...     model = load(path)
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """
    return read(path).model()


def read(path: str | os.PathLike[str]) -> "Stored":
    """Read the vote and the schema of a model file, which suffice for predictions.

    Raises the same errors as `load`, except those about constructor parameters and other fitted
    attributes: ``model()`` reads these.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise ModelFileError(f"path must be the path of a model file; got {path!r:.80}.")
    with _sentences(path):
        files = read_entries(Path(path), _ENTRY)
        manifest = _checked(files)
        size = sum(map(len, files.values()))
        arrays = {
            name.removeprefix("arrays/").removesuffix(".npy"): read_array(files[name], size)
            for name in manifest["arrays"]
        }
        _check_known(manifest["class"])
        schema = _schema(manifest, arrays, size)
        vote = decode(manifest["vote"], arrays)
        if not isinstance(vote, Vote) or vote.n_features != schema.n_features:
            raise ModelFileError("its vote does not fit its table: the file is damaged.")
        _probe(vote)
        if manifest["class"] in BUILTIN:  # classes of others are checked by `_check_loaded`
            numbers = manifest["class"].endswith("Regressor")
            same = numbers == (vote.target.kind == "regression")
            check(same, "its class predicts another kind of target")
        return Stored(path, vote, schema, manifest, arrays)


@dataclass(frozen=True)
class Stored:
    """The content of a model file, without the estimator."""

    path: str | os.PathLike[str]
    vote: Vote
    schema: Schema
    manifest: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def recalibration(self) -> Recalibration | None:
        """Return the recalibration by held-out predictions; None if the file has none."""
        with _sentences(self.path):
            found = decode(self.manifest.get("recalibration"), self.arrays)
            if found is not None:
                check(isinstance(found, Recalibration), "a map of probabilities")
                fits: Any = self.vote.target.n_classes and self.vote.target.kind != "multilabel"
                check(bool(fits), "a map of probabilities of a model without probabilities")
                even = np.full((1, self.vote.target.n_classes), 1.0)
                found.calibration.chances(even, apart=False)
            return found

    def model(self) -> "VoteEstimator":
        """Return the fitted estimator."""
        with _sentences(self.path):
            return _model(self)

    def check(self) -> Checked:
        """Return the conformance result of the file's vectors."""
        with _sentences(self.path):
            vectors = decode(self.manifest.get("vectors"), self.arrays)
            alike = self.manifest["psephos"] == __version__
            return checked(vectors, self.vote, self.schema, alike)


@contextmanager
def _sentences(path: str | os.PathLike[str]) -> Generator[None]:
    """Turn any error of reading into one that names the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise MissingFileError(
            f"the file {str(path)!r} does not exist: check the name and the folder."
        ) from None
    except IsADirectoryError:
        raise ModelFileError(f"{path} is a folder: give the path of a model file.") from None
    except PermissionError:
        raise ModelFileError(f"{path} cannot be read: permission denied.") from None
    except zipfile.BadZipFile:
        raise ModelFileError(
            f"{path} is damaged or not a psephos model file: give one that psephos.save or psephos "
            "fit wrote (psephos.read_table reads a table of cases)."
        ) from None
    except Exception as error:  # a hostile file can make readers raise anything (zlib, struct, ...)
        reason = ascii(str(error) or type(error).__name__)[1:-1]
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]} ..."
        raise ModelFileError(f"{path} is damaged or not a psephos model file: {reason}") from None


def _checked(files: Entries) -> dict[str, Any]:
    if _MANIFEST not in files:
        raise ModelFileError("it has no manifest, so it is not a psephos model file.")
    manifest = read_json(files[_MANIFEST])
    if manifest.get("format") != _FORMAT:
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
    if len(files) > len(manifest["arrays"]) + 1:
        raise ModelFileError("it holds an array that its manifest does not name.")
    return manifest


def _model(stored: Stored) -> "VoteEstimator":
    vote, schema, manifest, arrays = stored.vote, stored.schema, stored.manifest, stored.arrays
    model: Any = _unfitted(manifest["class"], manifest["params"])
    extras = {n: decode(v, arrays) for n, v in manifest["extras"].items()}
    _check_extras(type(model), extras)
    for extra in extras.values():
        if hasattr(extra, "check_vote"):
            extra.check_vote(vote)
    baseline = decode(manifest.get("baseline"), arrays)  # older files have none
    if baseline is not None:
        if not isinstance(baseline, Baseline):
            raise ModelFileError("its training means are of another kind: the file is damaged.")
        baseline.check_vote(vote)
    schema.name_columns(model)
    model._set_fitted(vote, schema, extras, None, baseline)
    model.recalibration_ = stored.recalibration
    model.accepted_ = tuple(map(str, manifest.get("accepted", ())))
    became = manifest.get("joined", {}).items()
    model.joined_ = {old: (new and str(new), int(n)) for old, (new, n) in became}
    model._calibrated_on = rows = decode(manifest.get("calibrated_on"), arrays)  # older have none
    fits = rows is None or (isinstance(rows, Profile) and rows.n_columns == len(vote.columns))
    check(fits, "a summary of other rows")
    model._check_loaded()
    return model


def _schema(manifest: Mapping[str, Any], arrays: Mapping[str, Any], size: int) -> Schema:
    p, names = manifest["n_features"], manifest["names"]
    if type(p) is not int or not 0 < p <= max(_MAX_COLUMNS, size):
        raise ModelFileError("its columns are not those of a table: the file is damaged.")
    if names is not None:
        words = isinstance(names, list) and all(type(name) is str for name in names)
        if not words or len(names) != p or len(set(names)) < p:
            raise ModelFileError("its column names do not fit its table: the file is damaged.")
    levels: dict[int, tuple[Any, ...]] = dict(decode(manifest["levels"], arrays))
    if any(type(j) is not int or not 0 <= j < p for j in levels):
        raise ModelFileError("its columns are not those of a table: the file is damaged.")
    for values in levels.values():
        plain = isinstance(values, tuple) and all(type(v) in _LEVELS and v == v for v in values)
        if not plain or len(set(values)) < len(values):
            raise ModelFileError("its categories are not different words or numbers.")
    return Schema(
        p,
        None if names is None else tuple(names),
        levels,
        cells=Cells.of(manifest["cells"]) if "cells" in manifest else Cells(),
        by_name=bool(manifest.get("by_name", False)),
        spelt=bool(manifest.get("spelt", False)),
        places=_places(manifest.get("places", []), p),  # older files have none
    )


def _places(given: Any, p: int) -> tuple[int, ...] | None:
    if given is None:
        return None
    whole = isinstance(given, list) and all(type(j) is int and j >= 0 for j in given)
    if not whole or len(given) not in (0, p) or len(set(given)) < len(given):
        raise ModelFileError("its columns are not those of a table: the file is damaged.")
    return tuple(given)


def _check_extras(cls: type[Any], extras: Mapping[str, Any]) -> None:
    """Raise PsephosError unless the extra fitted attributes match the annotations of the class."""
    for name in cls.extras:
        if name not in extras:
            raise ModelFileError(f"{name!r} is missing: the file is damaged.")
        wrong = fault(extras[name], hints(cls)[name])
        if wrong:
            raise ModelFileError(f"{name!r} {wrong}: the file is damaged.")


def _unfitted(name: Any, params: Mapping[str, Any]) -> Any:
    """Return an estimator of the library with these parameters."""
    from psephos.base import VoteEstimator

    _check_known(name)
    cls: Any = estimator_class(name)
    known = cls().get_params(deep=False)
    model = cls(**{n: _read_param(v) for n, v in params.items() if n in known})
    voter = kept(getattr(model, "estimator", None))
    if voter is not None and not isinstance(voter, VoteEstimator):
        raise ModelFileError(
            "its voters are fitted by something else than a model: the file is damaged."
        )
    return model


def _check_known(name: Any) -> None:
    known = isinstance(name, str) and (name in BUILTIN or estimator_class(name) is not None)
    if not known:
        raise ModelFileError(
            f"it holds a {ascii(name)[:80]}, which this version of psephos does not know: a model "
            "of another package is known once its module is imported (psephos --import MODULE ... "
            "on the command line)."
        )


def _read_param(value: Any) -> Any:
    if isinstance(value, dict) and "model" in value:
        return _unfitted(value["model"], value["params"])
    if isinstance(value, dict) and "members" in value:
        return [tuple(_read_item(part) for part in one) for one in value["members"]]
    if isinstance(value, dict) and "lists" in value:
        return [_read_param(one) for one in value["lists"]]
    if isinstance(value, dict) and "words" in value:
        check(type(value["words"]) is str, "words of a parameter")
        return Unsaved(value["words"])
    if isinstance(value, dict) and "pairs" in value:
        return dict(decode(value["pairs"], {}))
    if isinstance(value, list):
        return value
    decoded = decode(value, {})
    return list(decoded) if isinstance(decoded, tuple) else decoded


def _read_item(part: Any) -> Any:
    """Return a part of a member: a word, an estimator or columns."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and "columns" in part:
        columns: list[Any] = part["columns"]
        check(all(isinstance(c, str | bool | int) for c in columns), "columns of a view")
        return columns
    model = _read_param(part)
    check(hasattr(model, "fit"), "a member is not an estimator")
    return model


def _probe(vote: Vote) -> None:
    """Predict one case, so that an inconsistent vote is detected here."""
    case = sparse.csr_array((1, vote.n_features))  # no memory, whatever width the file claims
    if vote.votes(case).shape != (1, vote.n_voters, vote.target.n_outputs):
        raise ModelFileError("its voters do not fit its classes: the file is damaged.")
    target = cast("Any", vote.target)
    score = vote.score(case)
    if (vote.readout.link == "identity") != (target.kind == "regression"):
        raise ModelFileError("its read-out does not fit what it predicts: the file is damaged.")
    if target.kind != "regression":
        vote.nearest(case, 1)
        vote.readout.probabilities(score, target)
    vote.usage()


# ---------------------------------------------------------------------- parameters
def _written_params(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as data, without `verbose`."""
    params = model.get_params(deep=False).items()
    return {name: _written_param(value) for name, value in params if name != "verbose"}


def _written_param(value: Any) -> Any:
    """Return a constructor parameter as data; foreign estimators, random states as words only."""
    from psephos.base import VoteEstimator

    if isinstance(value, Unsaved):  # the model was loaded from a file
        return {"words": value.saved}
    if isinstance(value, VoteEstimator) and estimator_class(type(value).__name__) is type(value):
        return {"model": type(value).__name__, "params": _written_params(value)}
    if _are_members(value):
        members = [[_item(part) for part in one] for one in value]
        plain = all("words" not in part for one in members for part in one)
        return {"members": members} if plain else {"words": repr(value)}
    if isinstance(value, list | tuple) and any(map(_are_members, value)):  # levels of members
        lists = [_written_param(one) for one in value]
        return (
            {"lists": lists} if all("members" in one for one in lists) else {"words": repr(value)}
        )
    if isinstance(value, Mapping):  # class weights; keys of JSON objects would all be strings
        pairs = tuple((key, value[key]) for key in value)
        content = _written_param(pairs)
        return {"pairs": content} if "words" not in content else {"words": repr(value)}
    if callable(value):  # by name: its address in memory differs from run to run
        name = getattr(value, "__qualname__", type(value).__name__)
        return {"words": f"{value.__module__}.{name}"}
    try:
        return encode(_without_arrays(value), {}, "")
    except ModelFileError:
        return {"words": repr(value)}


def _without_arrays(value: Any) -> Any:
    """Return a parameter with arrays (folds given as rows, weights) turned into lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(map(_without_arrays, value)) if isinstance(value, list | tuple) else value


def _are_members(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether a parameter is a list of tuples (name, estimator or columns, ...)."""
    if not isinstance(value, list | tuple) or not value:
        return False
    if not all(isinstance(one, tuple | list) and len(one) > 1 for one in value):
        return False
    named = all(isinstance(one[0], str) for one in value)
    parts = [part for one in value for part in one[1:] if not isinstance(part, str)]
    return named and bool(parts) and all(map(_is_part, parts))


def _is_part(part: Any) -> bool:
    """Return whether it is an estimator, or a list of columns."""
    return hasattr(part, "get_params") or (not isinstance(part, dict) and np.ndim(part) == 1)


def _item(part: Any) -> Any:
    """Return a part of a member as data: a word, an estimator, or columns."""
    if isinstance(part, str) or hasattr(part, "get_params"):
        return part if isinstance(part, str) else _written_param(part)
    columns = np.asarray(part)
    plain = columns.ndim == 1 and columns.dtype.kind in "biuU"
    return {"columns": columns.tolist()} if plain else {"words": repr(part)}
