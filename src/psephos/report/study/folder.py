"""The folder of a comparison, read back as plain values."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos.bounds.requirements import constant_error
from psephos.explain.cohort import given_counts
from psephos.explain.permuting import FIRST as MOST
from psephos.explain.permuting import PermutedDisplay
from psephos.explain.rising import NumericColumns
from psephos.files.names import MINUS
from psephos.protocol.evaluation import scores
from psephos.protocol.evaluation.statistics import constant_score
from psephos.protocol.running.curve import Row, curve_points
from psephos.protocol.study.folder import (
    CURVE,
    MARK,
    PERMUTED,
    SCHEMA,
    STUDY,
    changed_file,
    damaged,
    read_sealed,
    unsealed,
)
from psephos.protocol.study.outputs import LABEL_COLUMNS, POOLED_COLUMNS
from psephos.report.words import class_words, count, groups_of

FEWEST = 10  # smaller counts are withheld on a page without cases
_RESULTS = ("model", "status", "error", "columns_used", "n_voters")
_REFITS = ("model", "columns_used", "status")
_BOUNDS = ("model", "bound", "value", "delta", "vacuous", "told")
_PERMUTED = ("model", "column", "measure", "worse")
_CURVED = ("model", "k", "status", "columns")
_ANSWERS = ("model", "repeat", "fold", "row")

T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """One row of results.csv: a model fitted on one split."""

    model: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    measures: dict[str, float]  # without those that are not defined
    columns_used: float | None
    error: str  # empty if the fit succeeded

    @property
    def split(self) -> tuple[int, int]:
        """Return the split, which all models share."""
        return self.repeat, self.fold


class Refit(NamedTuple):
    """One row of refits.csv: a model fitted to all cases."""

    model: str
    ok: bool
    columns: float | None
    params: dict[str, Any]
    threshold: float | None  # that with the least cost


class Permuted(NamedTuple):
    """Permutation importance of columns on the held-out cases of each fold: permuted.csv."""

    measure: scores.ResultMetric
    worse: dict[str, float]  # the fall of the measure, by column
    groups: str | None  # the groups within which values are permuted, such as '14 subjects'
    whole: bool  # whether whole groups exchange values

    def change(self, column: str) -> str:
        """Return the change of the measure as text; '' for a column without a figure."""
        if column not in self.worse:
            return ""
        change = -self.measure.sign * self.worse[column]
        size = self.measure.text(abs(change), 2)
        sign = "" if float(size) == 0 else "+" if change > 0 else MINUS
        return f"permuted in the folds' models {sign}{size}"

    @property
    def words(self) -> str:
        """Return the explanation of the figures."""
        among, none = "among held-out cases", ""
        if self.whole:
            among = f"between whole held-out groups (one target in each of the {self.groups})"
        elif self.groups:
            alone = "(single cases of a group with each other)"
            among = f"{among} within each of the {self.groups} {alone}"
            none = " A column with one value in each group has no figure."
        first = ", the first 60 by importance" if len(self.worse) >= MOST else ""
        return (
            f"Permuted is how the {self.measure.words} changes when the column's values are"
            f" shuffled {among}: the mean of 20 shuffles in each fold, by the fold's model, 0 where"
            f" it does not read the column{first}.{none} This order, and that by the folds that"
            " read a column, may differ from that by importance: predictions can change without"
            " becoming worse, and the models of the folds may read other columns than this one."
        )


class Answer(NamedTuple):
    """One row of predictions.csv: the answer of a model to a held-out case."""

    model: str
    split: tuple[int, int]
    row: int
    truth: str  # the true class; '' for several labels
    cells: list[str]  # all cells of the row


@dataclass(frozen=True)
class KeptCases:
    """The training cases: ids, targets, and the columns that saved models read."""

    ids: list[str]  # as in the model files
    y: list[Any]  # the code of the class, a tuple of codes for several labels, or the number
    names: list[str]
    values: Any  # (n, q) array
    groups: list[str] | None = None  # of each case; None if the study has, or kept, none
    named: bool = True  # whether the page may show ids

    def called(self, row: int) -> str:
        """Return the name of a case on the page: its id, or its row of the table, from 1."""
        return self.ids[row] if self.named else f"case {row + 1}"


@dataclass(frozen=True)
class Folder:
    """A comparison: its description, its fits, and the paths of its models."""

    path: Path
    about: dict[str, Any]  # comparison.json
    environment: dict[str, Any]
    rows: list[dict[str, str]]  # results.csv as text
    fits: list[Fit]  # the same, parsed
    refit_columns: dict[str, float]
    refit_params: dict[str, dict[str, Any]]
    cases: KeptCases | None
    models: dict[str, Path] = field(default_factory=dict[str, Path])
    bounds: list[dict[str, str]] = field(default_factory=list[dict[str, str]])  # bounds.csv
    thresholds: dict[str, float] = field(default_factory=dict[str, float])  # with the least cost

    @property
    def kind(self) -> str:
        """Return the kind of the target: 'classes', 'labels' (several per case) or 'numbers'."""
        return scores.kind_of(self.about)

    @property
    def classes(self) -> list[str]:
        """Return the names of cases of each class on the page."""
        target = self.about.get("target")
        return [class_words(str(c), target) for c in self.about["classes"]]

    @property
    def target(self) -> str:
        """Return the name of the target on the page."""
        return str(self.about.get("target") or "the target")

    @property
    def multilabel(self) -> bool:
        """Return whether a case may have several labels."""
        return self.kind == "labels"

    @property
    def measures(self) -> list[scores.ResultMetric]:
        """Return the measures on the page; models are ranked by the first."""
        return scores.shown(_measures(self.about))

    @property
    def measure(self) -> str:
        """Return the name of the measure that models are ranked by."""
        return self.measures[0].words

    @property
    def missed_cost(self) -> float | None:
        """Return the cost of a missed case in false alarms, if models are ranked by cost."""
        try:
            return scores.missed_cost(self.about.get("protocol_settings", {}).get("metric"))
        except (TypeError, ValueError, AttributeError) as error:
            raise damaged(self.path / MARK, error) from error

    @property
    def constant(self) -> float:
        """Return the score of a constant prediction, by the measure that models are ranked by."""
        return constant_score(self.about)

    @property
    def constant_error(self) -> float:
        """Return the error rate of always predicting the most frequent class.

        If class sizes are unknown, they are taken as equal.
        """
        return constant_error(self.sizes or [1] * len(self.about["classes"]))

    @cached_property
    def numeric(self) -> NumericColumns:
        """Return the numeric columns of the cases."""
        cases, words = self.cases, self.about.get("categories", {})
        assert cases is not None, "columns are of cases"
        at = [j for j, name in enumerate(cases.names) if name not in words]
        return NumericColumns([cases.names[j] for j in at], cases.values[:, at].astype(np.float64))

    @property
    def n_rows(self) -> int:
        """Return the number of cases."""
        return int(self.about.get("n_rows") or max(f.n_train + f.n_test for f in self.fits))

    @property
    def n_columns(self) -> int:
        """Return the number of columns of the table, at least one."""
        return max(int(self.about.get("n_columns") or len(self.about.get("columns", ()))), 1)

    @property
    def sizes(self) -> list[int]:
        """Return the number of cases of each class; [] if it is not known."""
        sizes: list[int] = list(self.about.get("class_counts") or [])
        if sizes or self.kind != "classes" or self.cases is None:
            return sizes
        counted = Counter(self.cases.y)
        return [counted[k] for k in range(len(self.about["classes"]))]

    def counted(self, kept: bool) -> list[str]:
        """Return the cases of each class; small numbers are withheld if cases are not kept."""
        given = given_counts(self.sizes, 0 if kept else FEWEST)
        return [text if n is None else count(n) for n, text in given]

    def labels(self, model: str) -> list[dict[str, Any]]:
        """Return a model's counts over the held-out cases for each label."""
        rows = _read(self.path / "labels.csv", LABEL_COLUMNS, _label)
        return [counts for own, counts in rows if own == model]

    def pooled(self) -> dict[str, dict[str, float | None]]:
        """Return each model's figures over all held-out cases of a numeric target."""
        return dict(_read(self.path / "pooled.csv", POOLED_COLUMNS, _pooled))

    def curve(self) -> list[Row]:
        """Return the points of the curves of accuracy against columns; [] without curves."""
        rows = list(_read(self.path / CURVE, _CURVED, dict))
        try:
            return curve_points(rows, self.about) if rows else []
        except (KeyError, ValueError) as error:
            raise damaged(self.path / CURVE, error) from error

    def permuted(self, model: str) -> Permuted | None:
        """Return the permutation importance of a model's columns; None if it was not measured."""
        rows = [
            row
            for row in _read(self.path / PERMUTED, _PERMUTED, _permuted)
            if row["model"] == model
        ]
        if not rows:
            return None
        found = PermutedDisplay.from_rows(rows, model)
        worse = dict(zip(found.names, map(fmean, found.worse), strict=True))
        n, name = self.about.get("n_groups"), self.about.get("groups")
        groups = groups_of(int(n), str(name)) if n and name else None
        whole = bool(groups) and self.about.get("permuted") == "groups"
        return Permuted(scores.ranked_by((found.measure,), self.about), worse, groups, whole)

    def answers(self) -> Iterator[Answer]:
        """Yield the answers to held-out cases, if there are any."""
        truth = () if self.multilabel else ("truth",)
        return _read(self.path / "predictions.csv", (*_ANSWERS, *truth), _answer)

    def test_classes(self) -> dict[tuple[int, int], Counter[str]]:
        """Return, for each split, the number of cases of each class in its test part."""
        if self.kind != "classes":
            return {}
        truths: dict[tuple[int, int], dict[int, str]] = {}
        for one in self.answers():
            truths.setdefault(one.split, {})[one.row] = one.truth
        return {split: Counter(truth.values()) for split, truth in truths.items()}

    def finished(self) -> str:
        """Return the day on which the last fit ended; '' if not recorded."""
        ends = _read(self.path / "timings.csv", ("model",), lambda row: row.get("finished") or "")
        return max(ends, default="")[:10]


def _measures(about: Mapping[str, Any]) -> Sequence[scores.ResultMetric]:
    return scores.with_chosen(scores.measures_for(scores.kind_of(about)), scores.kept_metric(about))


def read_folder(path: str | Path) -> Folder:
    """Read the folder of a comparison.

    Raises
    ------
    PsephosError
        If it is not the folder of a finished comparison, or one of its files is damaged.
    """
    folder = Path(path)
    _refuse_unfinished(folder)
    about = read_sealed(folder / MARK)
    with unsealed(folder / MARK, about):
        found = _read_parts(folder, about)
    changed = changed_file(folder, about.get("files", {}))
    if not (folder / MARK).exists() or read_sealed(folder / MARK) != about:
        raise PsephosError(
            f"another process is writing results into {str(folder)!r}: wait until it has finished."
        )
    if changed is not None:
        kind = ModelFileError if changed.startswith("models/") else PsephosError
        raise kind(
            f"{changed!r} in {str(folder)!r} was changed or deleted after it was written, or is of "
            "another comparison: run the comparison again, which keeps its fits and rewrites it."
        )
    return found


def _read_parts(folder: Path, about: dict[str, Any]) -> Folder:
    _refuse_unreadable(folder, about)
    needed = (*_RESULTS, scores.shown(_measures(about))[0].name)
    results = list(_read(folder / "results.csv", needed, partial(fit_of, about=about)))
    if not results:
        raise damaged(folder / "results.csv", "it has no fits")
    environment = folder / "environment.json"
    refits = [one for one in _read(folder / "refits.csv", _REFITS, _refit) if one.ok]
    return Folder(
        path=folder,
        about=about,
        environment=read_sealed(environment) if environment.exists() else {},
        rows=[row for row, _ in results],
        fits=[fit for _, fit in results],
        refit_columns={one.model: one.columns for one in refits if one.columns is not None},
        refit_params={one.model: one.params for one in refits},
        thresholds={one.model: one.threshold for one in refits if one.threshold is not None},
        cases=_cases(folder / "cases.npz", about),
        models=_models(folder, about),
        bounds=list(_read(folder / "bounds.csv", _BOUNDS, dict)),
    )


def _refuse_unfinished(folder: Path) -> None:
    """Raise if the folder has no comparison, or an unfinished one."""
    if (folder / "results.csv").exists() and (folder / MARK).exists():
        return
    if (folder / STUDY).exists():
        raise PsephosError(
            f"the comparison in {str(folder)!r} is not finished: run the same command again, which "
            "continues it, and then make the report."
        )
    missing = "comparison.json" if (folder / "results.csv").exists() else "results.csv"
    raise PsephosError(
        f"{str(folder)!r} has no {missing}: give the folder that 'psephos compare' wrote."
    )


def _refuse_unreadable(folder: Path, about: dict[str, Any]) -> None:
    """Raise if a comparison is of a later version, damaged, or without true classes."""
    schema = about.get("schema", SCHEMA)
    if isinstance(schema, int) and schema > SCHEMA:
        raise PsephosError(
            f"{str(folder)!r} was written by a later version (schema {schema}; this one reads up to"
            f" {SCHEMA}): update psephos, or run the comparison again in another folder."
        )
    if not (about.get("partial") or {"truth": True})["truth"]:
        raise PsephosError(
            f"{str(folder)!r} has a comparison without true classes, which a report needs: compare "
            "with --truth COLUMN; results.csv has the figures."
        )


def _models(folder: Path, about: dict[str, Any]) -> dict[str, Path]:
    """Return the model files that the description of the comparison lists."""
    files = {name: folder / "models" / f"{name}.psephos" for name in about.get("models", {})}
    if "files" in about:
        files = {n: f for n, f in files.items() if f"models/{f.name}" in about["files"]}
    return {name: file for name, file in sorted(files.items()) if file.exists()}


# ------------------------------------------------------------------- rows of each file
def fit_of(row: dict[str, str], about: Mapping[str, Any]) -> tuple[dict[str, str], Fit]:
    """Return a row of results.csv as text, and parsed."""
    failed = row["status"] != "ok"
    measures = {one.name: _number(row.get(one.name)) for one in _measures(about)}
    return row, Fit(
        model=row["model"],
        repeat=int(row["repeat"]),
        fold=int(row["fold"]),
        n_train=int(row["n_train"]),
        n_test=int(row["n_test"]),
        measures={key: value for key, value in measures.items() if value is not None},
        columns_used=_number(row["columns_used"]),
        error=(row["error"] or "no reason was written") if failed else "",
    )


def _refit(row: dict[str, str]) -> Refit:
    return Refit(
        model=row["model"],
        ok=row["status"] == "ok",
        columns=_number(row["columns_used"]),
        params=json.loads(row.get("params") or "{}"),
        threshold=_number(row.get("threshold")),
    )


def _label(row: dict[str, str]) -> tuple[str, dict[str, Any]]:
    counts, shares = LABEL_COLUMNS[2:5], LABEL_COLUMNS[5:]
    figures = {key: int(row[key]) for key in counts} | {key: _number(row[key]) for key in shares}
    return row["model"], {"label": row["label"], **figures}


def _pooled(row: dict[str, str]) -> tuple[str, dict[str, float | None]]:
    return row["model"], {key: _number(row[key]) for key in POOLED_COLUMNS[1:]}


def _answer(row: dict[str, str]) -> Answer:
    repeat, fold, case = (int(row[key]) for key in _ANSWERS[1:])
    return Answer(row["model"], (repeat, fold), case, row.get("truth", ""), list(row.values()))


def _permuted(row: dict[str, str]) -> dict[str, str | float | None]:
    return {**row, "worse": _number(row["worse"])}


def _number(text: str | None) -> float | None:
    """Return a finite number, else None."""
    value = float(text or "nan")
    return value if np.isfinite(value) else None


def _read(path: Path, needed: Collection[str], of: Callable[[dict[str, str]], T]) -> Iterator[T]:
    """Yield ``of(row)`` for each row of a csv file, if the file exists.

    A row for which `of` raises, or with a wrong number of cells, means that the file is damaged.
    """
    if not path.exists():
        return
    # errors and parameters may be longer than the module's cautious default
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            absent = sorted(set(needed) - set(reader.fieldnames or ()))
            if absent:
                raise ValueError(f"it has no column {absent[0]!r}")
            for row in reader:
                if None in row or None in row.values():
                    raise ValueError(f"line {reader.line_num} has another number of cells")
                yield of(row)
    except (KeyError, ValueError, TypeError, OverflowError, csv.Error) as error:
        raise damaged(path, error) from error


def _cases(path: Path, about: dict[str, Any]) -> KeptCases | None:
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            names = [str(one) for one in file["names"].tolist()]
            return KeptCases(
                ids=[str(one) for one in file["ids"].tolist()],
                y=_truths(file["y"], scores.kind_of(about)),
                names=names,
                values=_worded(file["values"], names, about.get("categories", {})),
                groups=[str(g) for g in file["groups"].tolist()] if "groups" in file else None,
            )
    except Exception as error:  # an archive that is damaged raises errors of many kinds
        raise damaged(path, error) from error


def _truths(y: Any, kind: str) -> list[Any]:
    """Return the code of each case's class, a tuple of codes for several labels, or the number."""
    return [tuple(np.flatnonzero(row).tolist()) for row in y] if kind == "labels" else y.tolist()


def _worded(values: Any, names: list[str], categories: dict[str, list[str]]) -> Any:
    """Return the values with names of categories in place of their codes."""
    coded = [j for j, name in enumerate(names) if name in categories]
    if not coded:
        return values
    mixed = values.astype(object)
    for j in coded:
        levels = categories[names[j]]
        mixed[:, j] = [None if np.isnan(code) else levels[int(code)] for code in values[:, j]]
    return mixed
