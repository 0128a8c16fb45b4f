"""The result of a validation: printed, as tables, as data, and as a folder of plain files."""

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np

from psephos import __version__
from psephos._errors import PsephosError
from psephos._types import ColumnLists
from psephos.figures.estimate import FEW_GROUPS
from psephos.files.atomic import unwritable, write_whole
from psephos.files.escaping import csv_bytes, printable
from psephos.files.names import fixed, listed, number, plural
from psephos.protocol.study.folder import changed_file, read_sealed, sealed, sha256_of, unsealed
from psephos.validation.numbers import of_a_number
from psephos.validation.shift import familiarity_words, shift_words, voter_words
from psephos.vote.calibration import Sigmoid
from psephos.vote.frames import frame_of
from psephos.vote.profile import Profile
from psephos.vote.threshold import with_calibration

WORTH = ("threshold", "model", "low", "high", "everyone")  # columns of net benefit
_SHOWN = 8  # columns, subgroups of a printed table
_APART = "It is fitted to this cohort: a model with it is no longer the one that was validated."
Rows = list[dict[str, Any]]
_Writing = Callable[[float], str]


@dataclass(frozen=True)
class Validation:
    """A fitted model on another cohort.

    ``print(found)`` prints all of it in words; `frame(name)` and `rows(name)` return its tables.

    Parameters
    ----------
    about : dict
        What was validated: model, classes and their counts, renamed labels, threshold, notes, the
        cases without an answer; and cautions, such as cases that are training cases, or an area
        under the ROC curve significantly below .5.
    figures : list of dict
        Rows of figure, class, value, low, high, n, hits, method; None where not defined.
    confusion, calibration, net_benefit, subgroups : list of dict
    speaking : dict
        Which voters are usable where columns are missing; its ``voters`` is a table.
    shift : dict
        Its ``columns`` is a table that compares each column with the training rows.
    familiarity : dict or None
        None where the model keeps no training cases.
    recalibration : dict
        The effect of a sigmoid (a line, of numbers) fitted to the cohort, cross-fitted in folds.
    predictions : list of dict
        One row for each case.
    model : estimator
        The model, on the columns it reads.
    summary : Profile, default=None
        The summary of the cohort's columns that a recalibrated model keeps.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import CARTClassifier, validate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = validate(CARTClassifier().fit(X[:300], y[:300]), X[300:], y[300:])
    >>> found.figure("accuracy")["hits"], found.rows("confusion")
    (244, [{'truth': '0', '0': 64, '1': 2}, {'truth': '1', '0': 23, '1': 180}])
    """

    about: dict[str, Any]
    figures: Rows
    confusion: Rows
    calibration: Rows
    net_benefit: Rows
    subgroups: Rows
    speaking: dict[str, Any]
    shift: dict[str, Any]
    familiarity: dict[str, Any] | None
    recalibration: dict[str, Any]
    predictions: Rows
    model: Any = field(repr=False)
    summary: Profile | None = field(default=None, repr=False)

    # ------------------------------------------------------------------ tables
    def rows(self, name: str = "figures") -> Rows:
        """Return a table as rows.

        Parameters
        ----------
        name : {'figures', 'confusion', 'calibration', 'net_benefit', 'subgroups', 'columns', \
'voters', 'predictions'}
        """
        tables = self._tables
        if name in tables:
            table = tables[name]
            return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        if name not in _TABLES:
            raise PsephosError(f"name must be one of {', '.join(_TABLES)}; got {name!r}.")
        return getattr(self, name)

    @property
    def _tables(self) -> dict[str, ColumnLists]:
        return {"columns": self.shift["columns"], "voters": self.speaking["voters"]}

    def heads(self, name: str = "figures") -> list[str]:
        """Return the column names of a table of `rows`, also if it is empty."""
        found = list(dict.fromkeys(key for row in self.rows(name) for key in row))
        subgroups = subgroup_heads(self.about["classes"])
        empty = {"net_benefit": WORTH, "subgroups": subgroups, **self._tables}
        return found or list(empty.get(name, ()))

    def frame(self, name: str = "figures", backend: str | None = None) -> Any:
        """Return a table of `rows` as a data frame of pandas or polars."""
        rows = self.rows(name)
        return frame_of({key: [row.get(key) for row in rows] for key in self.heads(name)}, backend)

    def figure(self, name: str, label: str = "") -> dict[str, Any]:
        """Return the row of a figure; `label` is its class where it has several.

        Raises
        ------
        PsephosError
            If there is not exactly one.
        """
        found = [r for r in self.figures if r["figure"] == name and label in ("", r["class"])]
        if len(found) != 1:
            known = ", ".join(dict.fromkeys(row["figure"] for row in self.figures))
            raise PsephosError(
                f"{len(found)} figures are named {name!r} of class {label!r}: give one of {known}, "
                "and its class if there are several."
            )
        return found[0]

    def data(self) -> dict[str, Any]:
        """Return everything except the cases as plain values (JSON)."""
        of_cases = {"shift": "outside", "familiarity": "cases"}
        names = ("about", *_LISTS, "speaking", *of_cases, "recalibration")
        whole = {name: getattr(self, name) for name in names}
        for name, inner in of_cases.items():
            whole[name] = whole[name] and {k: v for k, v in whole[name].items() if k != inner}
        return _plain(whole)

    def recalibrated(self) -> Any:
        """Return a copy of the model with the sigmoid that was fitted to this cohort.

        It is not the model that was validated.

        Raises
        ------
        PsephosError
            If the model is calibrated already or predicts numbers, or a class has too few cases.
        """
        fitted = self.recalibration
        if fitted["method"] is None:
            raise PsephosError(fitted["why"])
        if not fitted["can_be_saved"]:
            raise PsephosError(
                fitted["why"]
                or "the model is calibrated already, and a file holds one calibration: replace it "
                "with psephos.calibrate."
            )
        sigmoid = Sigmoid(np.array(fitted["slope"]), np.array(fitted["offset"]), fitted["least"])
        again = copy(self.model)
        again.vote_ = with_calibration(self.model.vote_, sigmoid)
        again.recalibration_ = again._calibration_rows = None
        again._calibrated_on = self.summary
        return again

    # ------------------------------------------------------------------ in words
    def words(self) -> list[str]:
        """Return the validation as lines of text."""
        about, classes = self.about, self.about["classes"]
        counts = zip(about["class_counts"], classes, strict=True)
        lines = [
            *about["cautions"],
            f"{about['model']} on {plural(about['n_cases'], 'case')} of another cohort ("
            + (about["target"] or ", ".join(f"{n} {c}" for n, c in counts))
            + "), not fitted again.",
        ]
        if about["renamed"]:
            pairs = (f"{old} is {new or 'left out'}" for old, new in about["renamed"].items())
            lines.append(f"Labels: {', '.join(pairs)}.")
        if about["positive"] is not None:
            own = about["positive_rule"] == "it was asked for"
            other = "" if own else "; --positive (positive=) takes the other"
            lines.append(f"Figures are about {about['positive']}: {about['positive_rule']}{other}.")
        lines += [f"Note: {note}" for note in (*about["notes"], *unanswered_words(about, 5))]
        lines += ["", "Columns and voters", *_indented(voter_words(self.speaking))]
        lines += _indented(self._shift_words())
        lines += ["", "Familiarity", *_indented(familiarity_words(self.familiarity))]
        how = "the model's own answers"
        if about["threshold"] is not None:
            how = f"called {about['positive']} from a probability of {number(about['threshold'])}"
        level = f"{100 * about['level']:g} %"
        lines += ["", f"Answers ({how}; {level} intervals)"]
        lines += _indented(_figure_lines(self.figures))
        lines += _indented(self._grouped_words())
        if self.subgroups:
            lines += ["", "By subgroup", *_indented(self._subgroup_lines())]
        lines += ["", "Recalibration, apart", *_indented(self._recalibration_words())]
        return lines

    def __str__(self) -> str:
        return printable("\n".join(self.words()))

    def _repr_html_(self) -> str:
        head, *rest = self.words()
        text = "\n".join(escape(line) for line in rest)
        return f'<div><b>{escape(head)}</b><pre style="white-space:pre-wrap">{text}</pre></div>'

    def _grouped_words(self) -> list[str]:
        groups = self.about["n_groups"]
        if groups is None:
            return []
        lines = [f"{plural(groups, 'group')}: intervals take groups as independent, not cases."]
        if 1 < groups < FEW_GROUPS:
            lines.append(
                "so few groups make intervals uncertain: none of these is narrower than by cases."
            )
        return lines

    def _shift_words(self) -> list[str]:
        lines = shift_words(self.shift, self.about["n_cases"])
        rows = [row for row in self.rows("columns") if row["distance"] is not None]
        rows.sort(key=lambda row: -row["distance"])
        for row in rows[:_SHOWN]:
            if row["distance"] > row["chance"]:
                moved = row["difference"]
                by = "" if moved is None else f", mean {_signed(moved)} SD"
                out = "" if row["outside"] is None else f", {row['outside']} beyond the range"
                lines.append(
                    f"{row['column']}: distance {fixed(row['distance'], 2)}{by}{out}, missing in "
                    f"{100 * row['missing']:.0f} % (training {100 * row['trained_missing']:.0f} %)"
                )
        return lines

    def _subgroup_lines(self) -> list[str]:
        lines: list[str] = []
        for row in self.subgroups:
            classes, head = self.about["classes"], f"{row['by']} {row['level']}"
            each = ", ".join(f"{row[f'right_{c}']} of {row[f'n_{c}']} {c}" for c in classes)
            if not classes:
                shown = [
                    f"{key.replace('_', ' ')} "
                    + _interval(row[key], row[f"{key}_low"], row[f"{key}_high"], number)
                    for key in ("mae", "mean_error", "r2")
                    if row.get(key) is not None
                ]
                cases = plural(row["n"], "case")
                lines.append(f"{head}: {'; '.join([cases, *shown])}")
                continue
            more = ""
            if row.get("balanced_accuracy") is not None:
                more = "; balanced accuracy " + _interval(
                    row["balanced_accuracy"], row["balanced_accuracy_low"],
                    row["balanced_accuracy_high"],
                )  # fmt: skip
            lines.append(f"{head}: {row['right']} of {row['n']} right ({each}){more}")
        return lines

    def _recalibration_words(self) -> list[str]:
        again = self.recalibration
        if again["method"] is None:
            return [f"none: {again['why']}"]
        what = "sigmoid of the probabilities"
        if again["method"] == "line":
            what = f"line, {number(again['offset'])} + {number(again['slope'])} × the prediction"
        lines = [
            f"fitted to all cases it is a {what}. Fitted in each of {again['n_folds']} folds to "
            "the other cases of the cohort, and measured on those of the fold, it has:"
        ]
        lines += _figure_lines([row for row in again["figures"] if row["low"] is not None])
        return [*lines, _APART]


def _plain(value: Any) -> Any:
    """Return a value with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def unanswered_words(about: Mapping[str, Any], n_named: int = 0) -> list[str]:
    """Return how many cases have no answer, which (the first `n_named`), and how they count."""
    names: list[str] = about.get("unanswered", [])
    if not names:
        return []
    which = f" ({listed(names, n_named)})" if n_named else ""
    return [
        f"{len(names)} of {plural(about['n_cases'], 'case')} got no answer{which}: no voter has the"
        " values it needs or weight there, or all classes tie. The figures count the value that"
        " predict returns instead; those of the subgroup answered yes leave these cases out."
    ]


def _signed(value: float) -> str:
    text = fixed(value, 2)
    return text if text.startswith("-") else f"+{text}"


def _interval(value: float, low: float | None, high: float | None, write: _Writing = fixed) -> str:
    if low is None or high is None:
        return f"{write(value)} (no interval)"
    return f"{write(value)} ({write(low)} to {write(high)})"


def _figure_lines(rows: Rows) -> list[str]:
    lines: list[str] = []
    for row in rows:
        name = row["figure"] + (f" of {row['class']}" if row["class"] else "")
        if row["figure"] == "probabilities clipped":
            if row["value"]:
                lines.append(
                    f"{row['value']:.0f} probabilities of {row['class']} within 1e-6 of 0 or 1 "
                    "were taken as 1e-6 from it, for the lines above"
                )
            continue
        if row["value"] is None or math.isnan(row["value"]):
            lines.append(f"{name}: not defined ({row['method']})")
            continue
        count = "" if row["hits"] is None else f", {row['hits']} of {row['n']}"
        write = number if of_a_number(row["figure"]) else fixed
        lines.append(f"{name}: {_interval(row['value'], row['low'], row['high'], write)}{count}")
    return lines


def subgroup_heads(classes: list[str]) -> list[str]:
    """Return the columns that every subgroup has."""
    counts = (f"{k}_{c}" for c in classes for k in ("n", "right"))
    return ["by", "level", "n", *(["right"] if classes else []), *counts]


# ---------------------------------------------------------------------- the folder
SCHEMA = 1
MARK = "validation.json"
AGAIN = "validate again"
_LISTS = ("figures", "confusion", "calibration", "net_benefit", "subgroups")
_TABLES = (*_LISTS, "columns", "voters", "predictions")
_DIGESTED = ("predictions.csv", "model.psephos")  # what a report reads beside validation.json
_README = """\
This folder holds one validation: the measures of a fitted model on another cohort; nothing was
fitted again.

validation.json    everything except the cases: what was validated, and all figures
figures.csv        one row for each figure: value, interval, cases, and the method of the interval
confusion.csv      counts of predictions by true class (empty for numbers, as are the next two)
calibration.csv    bins of similar probability: mean probability, and how many were of the class
net_benefit.csv    for two classes, at thresholds
subgroups.csv      counts by level of each subgrouping; figures from ten cases on
columns.csv        each column the model reads, compared with its summary in the model file
voters.csv         which voters have their columns, and their mean share of the weight
predictions.csv    one row for each case: truth, prediction, probabilities, cross-fitted
                   recalibrated probabilities, subgroups, familiarity, columns beyond the training
                   range
model.psephos      the model, on the columns it reads
README.txt         this text

validation.json has the SHA-256 of predictions.csv and model.psephos, and a checksum of itself: no
report is made if one of them was changed later.
"""


def write_validation(
    found: Validation, folder: str | Path, *, spreadsheet_safe: bool = False
) -> None:
    """Write a validation to a folder; validation.json comes last.

    Parameters
    ----------
    found : Validation
    folder : str or Path
        It is made if it does not exist; an earlier validation in it is overwritten.
    spreadsheet_safe : bool, default=False
        Whether text that a spreadsheet would run as a formula is prefixed with an apostrophe.

    Raises
    ------
    PsephosError
        If the folder holds anything but a validation, or cannot be written.
    """
    from psephos.modelfile import packed

    place = Path(folder)
    own = {*(f"{name}.csv" for name in _TABLES), "model.psephos", "README.txt"}  # of a stopped one
    fresh = place.is_dir() and not (place / MARK).exists()
    if fresh and any(one.name not in own for one in place.iterdir()):
        raise PsephosError(
            f"the folder {str(place)!r} holds files that are not a validation: give another with "
            "--out, so that nothing is overwritten."
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / MARK).unlink(missing_ok=True)
        contents = {
            f"{name}.csv": _csv(found.heads(name), found.rows(name), spreadsheet_safe)
            for name in _TABLES
        } | {"model.psephos": packed(found.model), "README.txt": _README.encode()}
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
        If the folder has no validation, or one that is damaged or of a later version.
    """
    place = Path(folder)
    if not (place / MARK).is_file():
        raise PsephosError(f"{str(place)!r} has no {MARK}: psephos validate --out writes it.")
    found = read_sealed(place / MARK, AGAIN)
    with unsealed(place / MARK, found, AGAIN):
        if int(found["schema"]) > SCHEMA:
            raise PsephosError(f"{str(place)!r} was written by a later version: update psephos.")
        digests = found.get("files", {})
        if name := changed_file(place, {k: digests[k] for k in _DIGESTED if k in digests}):
            raise PsephosError(
                f"{name!r} in {str(place)!r} was changed or deleted after it was written, or "
                "belongs to another validation: validate again."
            )
    try:
        with (place / "predictions.csv").open(encoding="utf-8", newline="") as file:
            found["predictions"] = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PsephosError(f"predictions.csv in {str(place)!r} cannot be read: {error}.") from error
    return found


def _csv(heads: Sequence[str], rows: Sequence[dict[str, Any]], safe: bool) -> bytes:
    return csv_bytes([list(heads), *([row.get(key) for key in heads] for row in rows)], safe=safe)
