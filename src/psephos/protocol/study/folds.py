"""The models of the folds, kept small."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psephos._errors import ModelFileError, PsephosError
from psephos._types import ColumnLists
from psephos.files.atomic import write_whole
from psephos.protocol.study.folder import MARK, read_sealed, sha256_of, unsealed
from psephos.protocol.tables.table import DataTable

MOST_BYTES = 1 << 19  # larger files are deleted once their columns have been permuted
_LARGEST = 1 << 24  # larger files are not written


@dataclass(frozen=True)
class FoldModel:
    """The model that was fitted for one outer split, reduced to the columns that it reads.

    Parameters
    ----------
    repeat, fold : int
        The outer split.
    model : estimator
        Its classes are 0, 1, ... in the order of `classes` in comparison.json; the training rows
        that it keeps (anchors, prototypes) are named by their positions in the training part.
    """

    repeat: int
    fold: int
    model: Any


def packed_fold(model: Any, table: DataTable) -> bytes | str | None:
    """Return the file of a model of a fold, or why it is not kept; None if it cannot be."""
    from psephos.modelfile import packed

    if table.multilabel or not hasattr(model, "schema_"):
        return None
    named = table.named(model, rows=False)
    named._sample = named._baseline = None  # importances and summaries of columns: only the refit
    try:
        content = packed(named.reduce())
    except PsephosError as error:
        return f"it cannot be written to a file: {error}"
    return _too_large(content) if len(content) > _LARGEST else content


def _too_large(content: bytes) -> str:
    return f"its file would have {len(content)} bytes, more than {MOST_BYTES}"


def kept_fold(folder: Path, key: str) -> Path:
    """Return the path of the model of a fold."""
    return folder / "folds" / f"{key[:32]}.psephos"


def kept(content: bytes | str, key: str, folder: Path) -> dict[str, Any]:
    """Write the file of a model of a fold; return its entry in the journal."""
    if isinstance(content, str):
        return {"not_kept": content}
    path = kept_fold(folder, key)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, content)
    large = {"not_kept": _too_large(content)} if len(content) > MOST_BYTES else {}
    return {"file_sha256": hashlib.sha256(content).hexdigest()} | large


def folds_told(finished: Sequence[tuple[Any, Mapping[str, Any]]]) -> ColumnLists:
    """Return the entry of comparison.json: the file of each fold, or why it is not kept."""
    found: dict[str, list[Any]] = {}
    for task, entry in finished:
        if task.split is None or not (entry.get("file_sha256") or entry.get("not_kept")):
            continue
        one: dict[str, Any] = {"repeat": task.split[0], "fold": task.split[1]}
        if entry.get("not_kept"):
            one["not_kept"] = entry["not_kept"]
        else:
            one["file"] = f"folds/{task.key[:32]}.psephos"
            one["sha256"] = entry["file_sha256"]
        found.setdefault(task.contender.name, []).append(one)
    return found


def read_folds(folder: str | Path) -> dict[str, list[FoldModel]]:
    """Return the models of the folds that a comparison kept, by name, in the order of the folds.

    Parameters
    ----------
    folder : str or Path
        The folder of a comparison (`out`).

    Returns
    -------
    models : dict of str to list of FoldModel
        Without models that are not kept: large files, other libraries, failed fits, and models of
        several labels.

    Raises
    ------
    PsephosError
        If the folder holds no finished comparison, or a file is damaged.
    """
    from psephos.modelfile import load

    place = Path(folder)
    if not (place / MARK).is_file():
        raise PsephosError(f"{str(place)!r} has no finished comparison: run psephos compare first.")
    about = read_sealed(place / MARK)
    found: dict[str, list[FoldModel]] = {}
    with unsealed(place / MARK, about):
        kept = [(name, one) for name, every in about.get("folds", {}).items() for one in every]
        for name, one in kept:
            if "file" not in one:
                continue
            path = place / "folds" / Path(one["file"]).name
            if sha256_of(path) != one["sha256"]:
                raise ModelFileError(
                    f"{str(path)!r} is lost, damaged or of another comparison: run the comparison "
                    "again, which rewrites it."
                )
            model = FoldModel(int(one["repeat"]), int(one["fold"]), load(path))
            found.setdefault(name, []).append(model)
    return found
