"""A folder that keeps the finished steps of a search, so that a killed one goes on."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import joblib
import numpy as np

from psephos._errors import PsephosError
from psephos.files.atomic import write_whole
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.measures import Errors
from psephos.models.swag.settings import SearchSettings
from psephos.models.swag.steps import Step

_DAMAGED = (BadZipFile, OSError, ValueError, KeyError, TypeError, EOFError, NotImplementedError)


def identity_of(evaluation: Evaluation, settings: SearchSettings, seed: int) -> dict[str, str]:
    """Return what makes a search the same search: a hash (or the words) of each of its parts."""
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
    """The steps of one search in a folder, made if it does not exist: a file for each.

    Every file is written whole or not at all, whenever the process is killed. `identity` says what
    the search is; see `identity_of`.
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
            write_whole(path, json.dumps(identity, sort_keys=True, indent=1).encode() + b"\n")
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

    def _path(self, dimension: int) -> Path:
        return self.folder / f"step-{dimension:02d}.npz"

    def load(self, dimension: int) -> Step | None:
        """Return a finished step, or None."""
        path = self._path(dimension)
        if not path.exists():
            return None
        try:
            arrays = _read(path)
            step = Step(dimension, quantile=float(arrays.pop("quantile")), **arrays)
        except _DAMAGED as error:
            raise PsephosError(
                f"step {dimension} in the folder {str(self.folder)!r} is damaged ({error}): remove "
                f"{path.name!r} to have it done again."
            ) from error
        self.chunks(dimension).clear()  # a kill may have come before they were removed
        return step

    def save(self, step: Step) -> Step:
        """Write a finished step and return it."""
        arrays = asdict(step)
        _write(self._path(arrays.pop("dimension")), arrays)
        self.chunks(step.dimension).clear()
        return step

    def chunks(self, dimension: int) -> "ChunkMemory":
        """Return the memory of a step's finished chunks."""
        return ChunkMemory(self.folder, f"chunk-{dimension:02d}-")


class ChunkMemory:
    """The finished chunks of an unfinished step, one file each."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._folder, self._prefix = folder, prefix

    def _path(self, index: int) -> Path:
        return self._folder / f"{self._prefix}{index:06d}.npz"

    def get(self, index: int, size: int) -> Errors | None:
        """Return the errors of a chunk of `size` candidates, or None if it is to be done."""
        try:
            errors = Errors(**_read(self._path(index)))
        except _DAMAGED:
            return None  # not there, or damaged: done again
        return errors if len(errors.error) == size else None

    def put(self, index: int, errors: Errors) -> None:
        """Keep the errors of a chunk."""
        _write(self._path(index), asdict(errors))

    def clear(self) -> None:
        """Remove all chunks of the step."""
        for path in self._folder.glob(f"{self._prefix}*.npz"):
            path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    """Return the arrays of a file, each checked against its checksum."""
    with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as found:
        return dict(found)


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    out = BytesIO()
    np.savez(out, **arrays)
    write_whole(path, out.getvalue())
