"""Accuracy against columns: tuned models fitted again on the columns that they rank first."""

# pyright: reportMissingTypeStubs=false

import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias, cast

import numpy as np
from sklearn import feature_selection, inspection

from psephos._errors import PsephosError
from psephos._types import ColumnLists, Floats, Indices, Json, JsonObject
from psephos.estimator.columns import dense_columns
from psephos.estimator.contender import Params, Shape
from psephos.explain.drawing import Display, plain
from psephos.files.names import plural, series
from psephos.protocol.evaluation import statistics
from psephos.protocol.evaluation.scores import answers_of, display_name, missed_cost, ranked_by
from psephos.protocol.evaluation.splits import inner_splits
from psephos.protocol.evaluation.stability import ranges_of
from psephos.protocol.running import tasks as fitting
from psephos.protocol.running.columns import importances
from psephos.protocol.study.comparison import Comparison, refuse_others
from psephos.protocol.study.folder import key_of
from psephos.protocol.study.outputs import Finished, result_row
from psephos.protocol.tables.table import DataTable

Row: TypeAlias = dict[str, Any]  # of curve.csv, of a table of points, of the journal

SIZES = (1, 2, 4, 8, 16, 32, 64)
ALL = "all"  # the point of the tuned model itself
# their type stubs are incomplete
_tests, _inspection = cast("Any", feature_selection), cast("Any", inspection)
_PERMUTED = 256  # maximum columns that are permuted
_UNKNOWN = statistics.Difference(math.nan, math.nan, math.nan, math.nan, 0, math.nan)


@dataclass(frozen=True)
class CurveTask(fitting.FitTask):
    """The points of a fold: a tuned model is fitted again on the columns that it ranks first.

    Parameters
    ----------
    fit : str
        The key of the fit of the tuned model.
    tuned : dict
        Its entry in the journal, with its parameters.
    """

    fit: str = ""
    tuned: Row = field(default_factory=dict[str, Any])

    def n_fits(self, shape: Shape) -> int:
        """Return the maximum number of fits: the tuned model, those to permute columns, points."""
        permuting = self.protocol.inner_folds if self.contender.origin != "psephos" else 0
        cost = self.protocol.inner_folds if missed_cost(self.protocol.metric) else 0
        return 1 + permuting + (1 + cost) * sum(k <= shape.n_columns for k in SIZES)

    def outcome(self, table: DataTable, keep: bool) -> tuple[Row, None]:
        """Return the points, and no model."""
        if "params" not in self.tuned:
            raise PsephosError("the fit of the tuned model failed, so that it has no curve.")
        clock, params = time.perf_counter(), json.loads(self.tuned["params"])
        order = ranked_columns(self, params, table)
        points = [_point(self, params, table, order[:k]) for k in SIZES if k <= len(order)]
        parts = ("search_seconds", "fit_seconds", "predict_seconds")
        spent = dict(zip(parts, (0.0, time.perf_counter() - clock, 0.0), strict=True))
        return {"points": points, "timing": spent}, None


def _point(task: CurveTask, params: Params, table: DataTable, first: Indices) -> dict[str, Json]:
    columns, clock = np.sort(first), time.perf_counter()
    narrow, k = table.part(columns), len(columns)
    point: Row = {"k": k, "columns": ranges_of(columns), "columns_used": k}
    shape, threshold = fitting.shape_of(narrow), None
    try:
        if missed_cost(task.protocol.metric):
            parts = fitting.inner_parts(task, narrow, narrow.codes)
            threshold = fitting.tried_out(task, params, {}, shape, narrow, parts).threshold
            point["threshold"] = threshold
        model = fitting.fitted_part(task, params, shape, narrow)
        measured = fitting.answers_on(model, narrow, task, threshold, task.test)[1]["measures"]
        point |= {"measures": measured, "status": "ok", "error": ""}
    except (Exception, SystemExit) as error:  # a failure does not stop the other points
        point |= {"measures": {}, "status": "failed", "error": fitting.error_sentence(error)}
    return point | {"seconds": time.perf_counter() - clock}


def curve_tasks(table: DataTable, tasks: Sequence[fitting.FitTask]) -> list[fitting.FitTask]:
    """Return a task for each fit of a fold.

    Raises
    ------
    PsephosError
        If rows have several labels, or labels are partly recorded.
    """
    if table.multilabel or table.partial is not None:
        what = "several labels per row" if table.multilabel else "partly recorded labels"
        raise PsephosError(
            f"a curve of accuracy against columns is not possible for {what}: leave curve "
            "(--curve) out; results.csv has the columns that each model reads."
        )
    cost = any(missed_cost(task.protocol.metric) for task in tasks)
    of: JsonObject = {"curve": SIZES} | ({"threshold": "of each point"} if cost else {})
    return [
        CurveTask(key_of({**of, "fit": t.key}), t.contender, t.protocol, t.split, t.train,
                  t.test, t.seeds, fit=t.key)
        for t in tasks if t.split is not None
    ]  # fmt: skip


# ------------------------------------------------------------------- ranking, in the training part
def ranked_columns(task: fitting.FitTask, params: Params, table: DataTable) -> Indices:
    """Return the columns that a model reads, the most important first.

    They are ranked by the model's own `importances`; without any, by the increase of the squared
    error if a column is permuted, in the inner folds of the training part. If it reads more than
    256 columns, only those with the greatest F statistic are permuted and returned.
    """
    model = fitting.fitted_part(task, params, fitting.shape_of(table), table)
    read = fitting.columns_read(model, table.n_columns)
    if not len(read):
        return read
    try:
        own = importances(model, table.X[task.train])
    except PsephosError:  # the columns that a preprocessing step reads are not known
        own = None
    if own is not None:
        return read[np.argsort(-own[read], kind="stable")]
    X = dense_columns(table.X[task.train], read)
    test = _tests.f_regression if table.kind == "numbers" else _tests.f_classif
    with np.errstate(all="ignore"):  # of constant columns
        middle = np.nan_to_num(np.where(np.isnan(X), np.nanmean(X, axis=0), X))
        apart = np.nan_to_num(np.asarray(test(middle, table.codes[task.train])[0], np.float64))
    read = read[np.argsort(-apart, kind="stable")[:_PERMUTED]]
    return read[np.argsort(-_permuted(task, params, table.part(read)), kind="stable")]


def _permuted(task: fitting.FitTask, params: Params, table: DataTable) -> Floats:
    """Return the increase of the squared error of predictions if each column is permuted."""
    groups = None if table.groups is None else table.groups[task.train]
    codes, shape, total = table.codes, fitting.shape_of(table), np.zeros(table.n_columns)
    truth = codes if table.kind == "numbers" else np.eye(shape.n_classes)[codes]

    def score(model: Any, X: Floats, y: Floats) -> float:
        numbers = table.kind == "numbers"
        stated = model.predict(X) if numbers else answers_of(model, X, shape.n_classes).proba
        return -float(((stated - y) ** 2).sum())

    parts = inner_splits(codes[task.train], groups, task.protocol.inner_folds, task.seeds[0])
    for train, test in parts:
        model = fitting.fitted_part(replace(task, train=task.train[train]), params, shape, table)
        given, seed = (model, table.X[task.train[test]], truth[task.train[test]]), task.seeds[2]
        how = {"scoring": score, "n_repeats": 2, "random_state": seed}
        total += _inspection.permutation_importance(*given, **how).importances_mean
    return total


# ------------------------------------------------------------------- the table
def curve_rows(table: DataTable, fits: Finished, curves: Finished) -> list[Row]:
    """Return the rows of curve.csv: the points of each model and fold, the tuned model last.

    If a fold ranks fewer columns than another of the model, its tuned model replaces the absent
    points: it reads no further columns. Models that read no column have no rows.

    Parameters
    ----------
    fits, curves : sequence of (FitTask, mapping)
        All fits, and those of curves, with their entries in the journal.
    """
    rows: list[Row] = []
    found = {one.fit: entry for one, entry in curves if isinstance(one, CurveTask)}
    for name in dict.fromkeys(task.contender.name for task, _ in fits):
        own = [(t, e, found[t.key]) for t, e in fits if t.contender.name == name and t.key in found]
        sizes = sorted({p["k"] for *_, one in own for p in one.get("points", ())})
        for task, entry, one in own if sizes else ():
            rest: Row = {} if one["status"] == "ok" else {**one, "measures": {}}
            points: dict[object, Row] = {p["k"]: p for p in one.get("points", ())}
            for k in (*sizes, ALL):
                point = {**entry, **points.get(k, {} if k == ALL else rest)}
                more = {"k": k, "seconds": point.get("seconds")}
                rows.append(result_row(table, task, point) | more)
    return rows


def curve_points(rows: Sequence[Mapping[str, object]], about: JsonObject) -> list[Row]:
    """Return the points of curves, as `CurveDisplay.table` has them, from rows of curve.csv.

    Points are left out if their measure and that of the tuned model are defined in no common fold,
    unless they failed.
    """
    found: list[Row] = []
    for model in dict.fromkeys(str(row["model"]) for row in rows):
        own = [{**row, "model": str(row["k"])} for row in rows if row["model"] == model]
        prices: dict[str, statistics.Difference] = {}
        sizes = statistics.summary(own, about)
        for one in sizes:
            first, second = (ALL, one.model)[:: int(one.ranked_by.sign)]
            name = one.ranked_by.name
            with suppress(PsephosError):  # no fold has the measure of both
                prices[one.model] = statistics.paired_difference(own, first, second, name)
        knee = statistics.one_standard_error([one for one in sizes if one.model in prices])
        for one in sizes:
            if not one.n_failed and one.model not in prices:
                continue
            lost = prices.get(one.model, _UNKNOWN)
            score = one.measures[one.ranked_by.name]
            found.append({
                "model": model, "k": None if one.model == ALL else int(one.model),
                "columns": one.columns_used.mean, "score": score.mean, "sd": score.sd,
                "price": lost.mean, "low": lost.low, "high": lost.high,
                "stability": one.stability.value, "folds": score.n, "failed": one.n_failed,
                "knee": one is knee,
            })  # fmt: skip
    return found


def failed_words(points: Sequence[Row]) -> str:
    """Return in words the points of `curve_points` that failed in some folds; '' without any."""
    each = [
        f"{one['model']} on {'all it chose' if one['k'] is None else plural(one['k'], 'column')}"
        f" (in {one['failed']} of {plural(one['failed'] + one['folds'], 'fold')})"
        for one in points
        if one["failed"]
    ]
    rule = "a point that failed in more folds than another of its model is not its knee"
    return f"Points of the curve that failed: {series(each)}; {rule}." if each else ""


@dataclass(frozen=True)
class CurveDisplay(Display):
    """The accuracy of the models of a comparison on the columns that they rank first.

    `plot` draws a line per model against the number of columns, with 95 % intervals of the
    difference from the tuned model (``price``), and a filled marker at its knee.

    Parameters
    ----------
    measure : str
    points : list of dict
        In the order of models and of columns, each tuned model last.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.protocol import CurveDisplay, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 6))
    >>> y = np.where(X[:, 1] + X[:, 4] + rng.standard_normal(80) / 2 > 0, "ill", "well")
    >>> study = compare(X, y, ["sklearn-l1-logistic"], n_jobs=1, curve=True)
    >>> curve = CurveDisplay.from_comparison(study).table()
    >>> curve["k"], curve["knee"]
    ([1, 2, 4, None], [False, True, False, False])
    >>> study.curve[1]["columns"]  # two columns, in the first fold
    '1 4'
    """

    measure: str
    points: list[Row]
    _size = (8, 5)

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> Self:
        """Return the display of what `compare(..., curve=True)` returned.

        Raises
        ------
        PsephosError
            If it is not a comparison, or one without a curve.
        """
        refuse_others(comparison)
        if not comparison.curve:
            raise PsephosError(
                "the comparison has no curve: call compare with curve=True, and models that read "
                "columns. With out=folder its fits are not repeated."
            )
        measure = ranked_by(comparison.curve[0], comparison.about).name
        return cls(measure, curve_points(comparison.curve, comparison.about))

    def table(self) -> ColumnLists:
        """Return a table with one row per point.

        ``model``; ``k``, the number of columns it was fitted on (None: the tuned model);
        ``columns``, their mean over folds; ``score`` and ``sd`` over the ``folds`` that did not
        fail (NaN if all ``failed``); ``price``, the loss against the tuned model on the same folds,
        with its 95 % interval (``low``, ``high``: `paired_difference`); ``stability`` of the
        columns (`selection_stability`); and ``knee``, whether it has the fewest columns within one
        standard error of the model's best (`one_standard_error`).
        """
        return {name: [point[name] for point in self.points] for name in self.points[0]}

    def _draw(self, axes: Any) -> None:
        for model in dict.fromkeys(point["model"] for point in self.points):
            own = [p for p in self.points if p["model"] == model]
            names = ("columns", "score", "low", "high", "knee")
            x, y, low, high, knee = (np.array([p[name] for p in own]) for name in names)
            line = axes.errorbar(x, y, (high - low) / 2, marker="o", mfc="white", capsize=3,
                                 label=plain(model))  # fmt: skip
            axes.plot(x[knee], y[knee], "o", color=line[0].get_color(), zorder=3)
        axes.set_xscale("log", base=2)
        axes.legend()
        axes.set(xlabel="columns, those ranked first in the training part",
                 ylabel=display_name(self.measure))  # fmt: skip
