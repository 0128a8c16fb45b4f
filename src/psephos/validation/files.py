"""The folder of a validation: plain files whose form is written down, to be opened again."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psephos import __version__
from psephos._errors import PsephosError
from psephos.files.atomic import unwritable, write_whole
from psephos.files.escaping import csv_bytes
from psephos.protocol.study.folder import check_seal, sealed, sha256_of
from psephos.validation.result import Validation

SCHEMA = 1
MARK = "validation.json"
_TABLES = (
    "figures", "confusion", "calibration", "net_benefit", "subgroups", "columns", "voters",
    "predictions",
)  # fmt: skip
_DIGESTED = ("predictions.csv", "model.psephos")  # what a report reads beside validation.json
_TOLD = """\
This folder holds one validation: a fitted model on another cohort, judged by psephos; nothing was
fitted again.

validation.json    everything but the cases: what was validated, and all figures
figures.csv        one row a figure: value, interval, cases, and the method of the interval
confusion.csv      counts of answers by true class
calibration.csv    bins of like probability: mean told, and how many were of the class
net_benefit.csv    of two classes, at thresholds
subgroups.csv      counts by level of each subgrouping; figures from ten cases on
columns.csv        each column the model reads, beside the summary of it in the model file
voters.csv         which voters have their columns, and their mean share of the weight
predictions.csv    one row a case: truth, answer, probabilities, those of the cross-fitted
                   recalibration, subgroups, familiarity, columns beyond the training range
model.psephos      the model, on the columns it reads
README.txt         this text

validation.json has the SHA-256 of predictions.csv and model.psephos, and a checksum of itself: a
report is refused where one of them was changed later.
"""


def write_validation(
    found: Validation, folder: str | Path, *, spreadsheet_safe: bool = False
) -> None:
    """Write a validation to a folder; validation.json comes last.

    Parameters
    ----------
    found : Validation
    folder : str or Path
        It is made; that of an earlier validation is written over.
    spreadsheet_safe : bool, default=False
        Whether words that a spreadsheet would run as formulas get an apostrophe before them.

    Raises
    ------
    PsephosError
        If the folder holds other things than a validation, or cannot be written.
    """
    from psephos.modelfile import packed

    place = Path(folder)
    own = {*(f"{name}.csv" for name in _TABLES), "model.psephos", "README.txt"}  # cut off before
    if (
        place.is_dir()
        and not (place / MARK).exists()
        and any(one.name not in own for one in place.iterdir())
    ):
        raise PsephosError(
            f"the folder {str(place)!r} holds something that is no validation: give another with "
            "--out, so that nothing is overwritten."
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / MARK).unlink(missing_ok=True)
        contents = {
            f"{name}.csv": _csv(found.heads(name), found.rows(name), spreadsheet_safe)
            for name in _TABLES
        } | {"model.psephos": packed(found.model), "README.txt": _TOLD.encode()}
        for name, content in contents.items():
            write_whole(place / name, content)
        files = {name: sha256_of(contents[name]) for name in _DIGESTED}
        whole = {"schema": SCHEMA, "psephos": __version__, **found.data(), "files": files}
        text = json.dumps(sealed(whole), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(place / MARK, (text + "\n").encode())
    except OSError as error:
        raise unwritable(place, error) from error


def read_validation(folder: str | Path) -> dict[str, Any]:
    """Return the content of validation.json with the rows of predictions.csv.

    Raises
    ------
    PsephosError
        If the folder holds none, or one that is damaged or of a later version.
    """
    place = Path(folder)
    if not (place / MARK).is_file():
        raise PsephosError(f"{str(place)!r} holds no {MARK}: psephos validate --out writes it.")
    try:
        found: dict[str, Any] = json.loads((place / MARK).read_bytes())
        schema = int(found["schema"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise PsephosError(f"{str(place / MARK)!r} is damaged: {error}.") from error
    if schema > SCHEMA:
        raise PsephosError(f"{str(place)!r} was written by a later version: update psephos.")
    check_seal(found, place / MARK, "Validate again.")
    for wrong in _misshapen(found):
        raise PsephosError(f"{str(place / MARK)!r} is damaged: {wrong} is no table.")
    _refuse_changed(place, found.get("files", {}))
    try:
        with (place / "predictions.csv").open(encoding="utf-8", newline="") as file:
            found["predictions"] = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PsephosError(f"predictions.csv in {str(place)!r} cannot be read: {error}.") from error
    return found


def _refuse_changed(place: Path, digests: Any) -> None:
    """Raise PsephosError if a file is there that is not as it was written."""
    if not isinstance(digests, dict):
        raise PsephosError(f"{str(place / MARK)!r} is damaged: 'files' holds no digests.")
    for name in _DIGESTED:
        try:
            found = sha256_of(place / name)
        except OSError as error:
            raise PsephosError(f"{name} in {str(place)!r} cannot be read: {error}.") from error
        if found not in (digests.get(name, found), None):
            raise PsephosError(
                f"{name!r} in {str(place)!r} was changed after it was written, or is of another "
                "validation: validate again."
            )


def _misshapen(found: dict[str, Any]) -> list[str]:
    """Return which tables of a validation are none: no rows, or columns that are not alike."""
    lists = ("figures", "confusion", "calibration", "net_benefit", "subgroups")
    wrong = [name for name in lists if not _is_rows(found.get(name))]
    for name, inner in (("shift", "columns"), ("speaking", "voters")):
        outer = found.get(name)
        table = outer.get(inner) if isinstance(outer, dict) else None
        columns: list[Any] = list(table.values()) if isinstance(table, dict) else [None]
        sizes = {len(one) if isinstance(one, list) else -1 for one in columns}
        if -1 in sizes or len(sizes) > 1:
            wrong.append(f"{name}.{inner}")
    return wrong


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _csv(heads: Sequence[str], rows: Sequence[dict[str, Any]], safe: bool) -> bytes:
    return csv_bytes([list(heads), *([row.get(key) for key in heads] for row in rows)], safe=safe)
