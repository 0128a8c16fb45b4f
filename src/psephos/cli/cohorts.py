"""Validation of a model file on a cohort read from a table file."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.cli.words import say
from psephos.files.cases import TIMES, Wanted
from psephos.files.columns import numbers_among
from psephos.files.formats import Reading
from psephos.files.names import plural
from psephos.files.near import suggest
from psephos.files.sheet import plain, read_cases
from psephos.files.text import Header
from psephos.modelfile import load
from psephos.protocol.tables.roles import cells_or_none, labels_in
from psephos.protocol.tables.table import contents_words
from psephos.recalibrating import recalibrated
from psephos.validation import Cohort, Validation, validated
from psephos.validation.cohort import known_cohort, reading_model


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
    limits: str | None,
    **how: Any,
) -> Validation:
    """Return the validation of a model file on a table file."""
    model: Any = load(model_path)
    whole = model.schema_
    reading = reading_model(recalibrated(model) if calibrated else model)
    vote = model.vote_
    reads: list[int] = vote.columns.tolist() or [0]
    levels = {j: values for j, values in whole.levels.items() if j in reads}
    cells = whole.cells.but(missing or None, decimal, thousands, keep_word, limits)
    others = [name for name in (group, *by) if name is not None]
    cases = read_cases(
        table_path,
        Wanted(whole.n_features, reads, whole.names, levels, True, vote.backup.tolist()),
        id_column,
        cells=cells,
        missing=missing or (),
        how=Reading(**how),
        also=partial(_apart, target, others),
    )
    sheet, header = cases.sheet, cases.sheet.header
    words = {name: cells_or_none(sheet.words[header.names.index(name)], sheet) for name in others}
    if group is not None and None in words[group]:
        raise PsephosError(
            f"--group {group!r} is missing in {words[group].count(None)} of {len(cases.ids)} "
            "cases: name the group of each."
        )
    notes = [f"predictions are mapped by {model.recalibration_.words()}."] if calibrated else []
    labels: Sequence[Any] = labels_in(answer := target or "y", sheet)  # y in an npz file
    if not vote.target.n_classes:
        known, given = answer in dict(cells.units), [math.nan if v is None else v for v in labels]
        read, odd, _ = numbers_among(answer, given, cells, sheet.place, notes, fitted=known)
        labels = [word if v is None else v for v, word in zip(read, odd, strict=True)]
    cohort = known_cohort(
        reading,
        labels, classes, X=cases.X, ids=cases.ids,
        groups=None if group is None else np.array(list(map(str, words[group]))),
        by={name: ["missing" if c is None else str(plain(c)) for c in words[name]] for name in by},
        notes=[*notes, *cases.notes],
    )  # fmt: skip
    apart = {id_column: "--id", group: "--group", **dict.fromkeys(by, "--by"), target: ""}
    say(_contents(cohort, reading, header, group, apart))
    return validated(
        reading, cohort, positive=positive, threshold=threshold, absent=absent, random_state=seed
    )


def _apart(target: str | None, others: list[str], header: Header) -> list[str]:
    """Return the columns to read besides those of the model: target, groups and subgroups."""
    answer = target or "y"
    if target is None and answer not in header.beside:
        raise PsephosError(
            "give --target COLUMN, the column with the true classes (numbers) of the cohort."
        )
    for name in (answer, *others):
        if name not in header.names:
            raise PsephosError(
                f"{header.file!r} has no column {name!r}; {suggest(name, header.names)}"
            )
    return [answer, *others]


def _contents(
    cohort: Cohort, reading: Any, header: Header, group: str | None, apart: dict[str | None, str]
) -> str:
    """Return the first line of output: cases, classes, columns of the model, and others."""
    names, n_categories = reading.schema_.words().columns, len(reading.schema_.levels)
    left_out = [f"{name} ({flag})" for name, flag in apart.items() if name and flag == "--id"]
    by = [str(name) for name, flag in apart.items() if flag == "--by"]
    read = {one for name in names for one in (name, *name.split(TIMES))}
    others = set(header.names) - {*read, *apart, header.row_names, *header.beside}
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
