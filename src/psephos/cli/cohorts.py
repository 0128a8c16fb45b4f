"""A cohort read from a file for a model of another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.cli.words import say
from psephos.estimator.columns import is_missing
from psephos.files.arrays import check_values
from psephos.files.cases import TIMES, Wanted
from psephos.files.cells import Cells
from psephos.files.formats import Reading, read_sheet
from psephos.files.near import suggest
from psephos.files.sheet import ColumnChoice, read_cases
from psephos.files.text import Header
from psephos.modelfile import load
from psephos.protocol.tables.labels import class_codes
from psephos.protocol.tables.table import contents_words
from psephos.recalibrating import recalibrated
from psephos.validation import Cohort, Validation, validated
from psephos.validation.cohort import known_cohort, reading_model
from psephos.vote.names import plural


def validation_of(
    model_path: Path,
    table_path: Path,
    *,
    target: str | None,
    classes: tuple[str, ...],
    positive: str | None,
    threshold: float | None,
    group: str | None,
    by: Sequence[str],
    absent: str,
    id_column: str | None,
    calibrated: bool,
    seed: int,
    missing: Sequence[str],
    decimal: str | None,
    thousands: str | None,
    keep_word: Sequence[str],
    **how: Any,
) -> Validation:
    """Return the validation of a model file on a table file."""
    model: Any = load(model_path)
    whole = model.schema_
    reading = reading_model(recalibrated(model) if calibrated else model)
    vote = model.vote_
    reads: list[int] = vote.columns.tolist() or [0]
    levels = {j: values for j, values in whole.levels.items() if j in reads}
    cells = whole.cells.but(missing or None, decimal, thousands, keep_word)
    lies = Reading(**how, id=id_column, cases=True)
    cases = read_cases(
        table_path,
        Wanted(whole.n_features, reads, whole.names, levels, True, vote.backup.tolist()),
        id_column,
        cells=cells,
        missing=missing or (),
        how=lies,
    )
    named = [name for name in (target, group, *by) if name is not None]
    wanted = list(dict.fromkeys(named))
    words, header = _words(table_path, wanted, target, cells, lies)
    y = words.pop("")
    if group is not None and "" in words[group]:
        raise PsephosError(
            f"--group {group!r} is missing in {words[group].count('')} of {len(cases.ids)} cases: "
            "name the group of each."
        )
    mapped = [f"answers are mapped by {model.recalibration_.words()}."] if calibrated else []
    cohort = known_cohort(
        reading,
        y,
        classes,
        cells.number,
        X=cases.X,
        ids=cases.ids,
        groups=None if group is None else np.array(words[group]),
        by={name: [cell or "missing" for cell in words[name]] for name in by},
        notes=[*mapped, *cases.notes],
    )
    apart = {id_column: "--id", group: "--group", **dict.fromkeys(by, "--by"), target: ""}
    say(_contents(cohort, reading, header, group, apart))
    return validated(
        reading,
        cohort,
        positive=positive,
        threshold=threshold,
        absent=absent,
        random_state=seed,
    )


def _contents(
    cohort: Cohort, reading: Any, header: Header, group: str | None, apart: dict[str | None, str]
) -> str:
    """Return the first line: cases, classes, the model's columns, and those that are others."""
    names, n_categories = reading.schema_.words().columns, len(reading.schema_.levels)
    left_out = [f"{name} ({flag})" for name, flag in apart.items() if name and flag == "--id"]
    by = [str(name) for name, flag in apart.items() if flag == "--by"]
    read = {one for name in names for one in (name, *name.split(TIMES))}
    others = set(header.names) - {*read, *apart, header.row_names, *header.arrays}
    left_out += [f"{plural(len(others), 'column')} that the model does not read"] if others else []
    classes = list(map(str, getattr(reading, "classes_", ())))
    counts = np.bincount(cohort.codes, minlength=len(classes)).tolist() if classes else []
    words = contents_words(
        len(cohort.ids),
        dict(zip(classes, counts, strict=True)),
        (len(names) - n_categories, n_categories),
        left_out,
        groups=None if cohort.groups is None else (len({*cohort.groups.tolist()}), str(group)),
        numbers=None if classes else cohort.codes,
    )
    return f"{words} Subgroups: {', '.join(by)} (--by)." if by else words


def _words(
    path: Path,
    wanted: Sequence[str],
    target: str | None,
    cells: Cells,
    how: Reading,
) -> tuple[dict[str, list[Any]], Header]:
    """Return the cells of columns as words, '' where missing, and the file's header.

    Under '' stand the true classes.
    """
    arrays: dict[str, Any] = {}

    def choose(header: Header) -> ColumnChoice:
        arrays.update({name: a for name, a in header.arrays.items() if a.ndim == 1})
        if target is None and "y" not in arrays:
            raise PsephosError(
                "--target COLUMN says which column holds the true classes (numbers) of the cohort."
            )
        known = [*header.names, *arrays]
        for name in wanted:
            if name not in known:
                raise PsephosError(
                    f"{header.file!r} has no column {name!r}; {suggest(name, known)}"
                )
        return ColumnChoice(
            [], sorted({header.names.index(n) for n in wanted if n in header.names})
        )

    sheet = read_sheet(path, choose, cells, how)
    sheet.wrong.refuse()

    def column(name: str) -> list[Any]:
        if name in sheet.header.names:
            values = sheet.words[sheet.header.names.index(name)]
        else:
            check_values(arrays[name], name, sheet.header.file, len(sheet.X))
            values = arrays[name].tolist()
        return [
            "" if is_missing(v) or (isinstance(v, str) and cells.is_missing(v)) else _plain(v)
            for v in values
        ]

    found = {name: column(name) for name in wanted}
    words = {name: [str(value) for value in values] for name, values in found.items()}
    truth = column(target or "y")
    classes: Any = arrays.get("classes")
    if classes is not None and (target or "y") == "y" and "y" not in sheet.header.names:
        y = arrays["y"]
        if y.dtype.kind != "U":  # codes of the file's own classes
            truth = classes[class_codes(y, len(classes), sheet.header.file)].tolist()
    return {**words, "": truth}, sheet.header


def _plain(value: Any) -> Any:
    """Return a whole number as such, as those who fit read it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
