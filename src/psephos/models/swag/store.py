"""A folder that keeps the finished steps of a search, so that a killed one goes on."""

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._whole import write_whole
from psephos.models.swag.errors import Errors
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import Step

__all__ = ["ChunkMemory", "Store", "identity_of"]

_ARRAYS = ("subsets", "error", "spread", "tie", "errors", "candidates")
_LARGE = ("errors", "candidates")  # mapped from the disk, not read


def identity_of(evaluation: Evaluation, settings: SearchSettings, seed: int) -> dict[str, str]:
    """Return what makes a search the same search: a hash (or the words) of each of its parts.

    Raises
    ------
    PsephosError
        If the learner or the scoring cannot be hashed (a lambda).
    """
    problem = evaluation.problem
    parts: dict[str, Any] = {
        "table": (problem.X, evaluation.missing, problem.weight),
        "target": (problem.y, problem.n_classes),
        "folds": problem.folds,
        "scoring": evaluation.measure,
        "learner": evaluation.learner,
    }
    try:
        hashes = {name: str(joblib.hash(part, hash_name="sha1")) for name, part in parts.items()}
    except Exception as error:
        raise PsephosError(
            f"a search with this learner and scoring cannot be kept in a folder: {error}. Use "
            "functions that are defined in a module, or leave the folder out."
        ) from error
    versions = [f"{name} {version(name)}" for name in ("psephos", "numpy", "scikit-learn")]
    return {
        **hashes,
        "settings": repr(settings),
        "seed": f"{seed}, {problem.seed}",
        "versions": ", ".join(versions),
    }


class Store:
    """The steps of one search in a folder.

    Every file is written whole or not at all, and a step's manifest, which holds the checksums of
    its arrays, last: a step is there or it is not, whenever the process is killed.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist.
    identity : mapping of str to str
        What the search is; see `identity_of`.

    Raises
    ------
    PsephosError
        If the folder holds another search, or something else, or cannot be written.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claim(dict(identity))
        except OSError as error:
            raise PsephosError(
                f"the folder {str(folder)!r} cannot be used ({error.strerror}): give another."
            ) from error

    def _claim(self, identity: dict[str, str]) -> None:
        path = self.folder / "search.json"
        if not path.exists():
            if any(not entry.name.startswith(".") for entry in self.folder.iterdir()):
                raise PsephosError(
                    f"the folder {str(self.folder)!r} holds files that are no search: give an "
                    "empty folder, or a new one."
                )
            write_whole(path, json_bytes(identity))
            return
        try:
            known = json.loads(path.read_bytes())
            differing = sorted(k for k in {*known, *identity} if known.get(k) != identity.get(k))
        except (ValueError, AttributeError, TypeError):
            differing = ["its description, which cannot be read"]
        if differing:
            raise PsephosError(
                f"the folder {str(self.folder)!r} holds another search (it differs in "
                f"{', '.join(differing)}): give a new folder, or remove this one."
            )

    def load(self, dimension: int) -> Step | None:
        """Return a finished step, its long arrays mapped from the disk, or None.

        Raises
        ------
        PsephosError
            If a file of the step is damaged.
        """
        manifest = self.folder / f"step-{dimension:02d}.json"
        if not manifest.exists():
            return None
        try:
            content = json.loads(manifest.read_bytes())
            arrays: dict[str, Any] = dict.fromkeys(_ARRAYS)
            for name, checksum in content["arrays"].items():
                arrays[name] = read_array(self._path(dimension, name), checksum, name in _LARGE)
            step = Step(dimension, quantile=float.fromhex(content["quantile"]), **arrays)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PsephosError(
                f"step {dimension} in the folder {str(self.folder)!r} is damaged ({error}): remove "
                f"{manifest.name!r} to have it done again."
            ) from error
        self.chunks(dimension).clear()  # a kill may have come before they were removed
        return step

    def save(self, step: Step) -> Step:
        """Write a finished step and return it as `load` does."""
        checksums: dict[str, str] = {}
        for name in _ARRAYS:
            array = getattr(step, name)
            if array is not None:
                data = array_bytes(array)
                checksums[name] = digest(data)
                write_whole(self._path(step.dimension, name), data)
        content = {"arrays": checksums, "quantile": step.quantile.hex()}
        write_whole(self.folder / f"step-{step.dimension:02d}.json", json_bytes(content))
        self.chunks(step.dimension).clear()
        saved = self.load(step.dimension)
        assert saved is not None
        return saved

    def chunks(self, dimension: int) -> "ChunkMemory":
        """Return the memory of a step's finished chunks."""
        return ChunkMemory(self.folder, f"chunk-{dimension:02d}-")

    def _path(self, dimension: int, name: str) -> Path:
        return self.folder / f"step-{dimension:02d}.{name}.npy"


class ChunkMemory:
    """The finished chunks of an unfinished step, one file each."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self._prefix = folder, prefix

    def _path(self, index: int) -> Path:
        return self._folder / f"{self._prefix}{index:06d}.npy"

    def get(self, index: int, size: int) -> Errors | None:
        """Return the errors of a chunk of `size` candidates, or None if it is to be done."""
        try:
            data = self._path(index).read_bytes()
        except FileNotFoundError:
            return None
        body, checksum = data[:-64], data[-64:].decode(errors="replace")
        if digest(body) != checksum:
            return None  # damaged: done again
        table = np.load(BytesIO(body), allow_pickle=False)
        return Errors(*table) if table.shape == (3, size) else None

    def put(self, index: int, errors: Errors) -> None:
        """Keep the errors of a chunk."""
        body = array_bytes(np.stack([errors.error, errors.spread, errors.tie]))
        write_whole(self._path(index), body + digest(body).encode())

    def clear(self) -> None:
        """Remove all chunks of the step."""
        for path in self._folder.glob(f"{self._prefix}*.npy"):
            path.unlink(missing_ok=True)


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
