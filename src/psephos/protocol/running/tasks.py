"""One task of a comparison: tune inside the training part, fit, predict the test part."""

# pyright: reportMissingTypeStubs=false

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import joblib
import numpy as np

from psephos._errors import CollapseWarning, PsephosError
from psephos._types import Array, Estimator, Floats, Indices, LabelsLike, PerRow, TableLike, Values
from psephos.calibrating import at_threshold
from psephos.estimator.columns import dense_columns, stored
from psephos.estimator.contender import Contender, Params, Shape
from psephos.estimator.distributions import draw
from psephos.estimator.labels import naming_rows
from psephos.figures.confusion import UNIT, in_millionths
from psephos.files.arrays import object_array
from psephos.files.levels import quiet_levels
from psephos.protocol.evaluation import scores
from psephos.protocol.evaluation.answers import (
    LabelAnswers,
    NumberAnswers,
    average_precision,
    label_answers_of,
    number_answers_of,
    r_squared,
)
from psephos.protocol.evaluation.splits import Protocol, Rows, Split, inner_splits
from psephos.protocol.evaluation.stability import ranges_of
from psephos.protocol.evaluation.statistics import permuted
from psephos.protocol.running.columns import columns_used, final_step, n_voters
from psephos.protocol.running.contenders import built
from psephos.protocol.running.proofs import refit_bounds
from psephos.protocol.study.folds import packed_fold
from psephos.protocol.tables.table import DataTable
from psephos.runtime.jit import n_compiled
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import StoppedError, begin, step
from psephos.supervision import pu_scores
from psephos.vote.positive import usual_positive

_SHOWN_WARNINGS = 5
_LENGTH = 400  # characters of a warning
_joblib: Any = joblib  # it has no types
_MOST_SELECTIONS = 16  # cached selections
_selections: dict[str, object] = {}  # selections of columns, by a hash of their input


@dataclass(frozen=True)
class FitTask:
    """A fit of a comparison; its result depends on these values and the table only."""

    key: str  # the SHA-256 of the configuration
    contender: Contender
    protocol: Protocol
    split: tuple[int, int] | None  # (repeat, fold); None is the refit on all rows
    train: Rows
    test: Rows
    # for the inner folds (the same for all models), the draws, and the model
    seeds: tuple[int, int, int]

    def outcome(self, table: DataTable, keep: bool) -> tuple[dict[str, Any], object]:
        """Return the entry for the journal, and the model as `run_task` returns it."""
        return _fitted(self, table, keep)


def shape_of(table: DataTable) -> Shape:
    """Return the facts on the table that contenders use."""
    place = {name: j for j, name in enumerate(table.names if table.views else ())}
    return Shape(
        n_columns=table.n_columns,
        n_classes=len(table.classes),
        categorical=tuple(sorted(table.categories)),
        missing=bool(np.isnan(stored(table.X)).any()),
        multilabel=table.multilabel,
        positive=1 if table.partial is None else table.partial.positive,
        prior=None if table.partial is None else table.partial.prior,
        views=[(one, tuple(place[name] for name in own)) for one, own in table.views],
    )


def run_task(task: FitTask, table: DataTable, keep: bool = False) -> tuple[dict[str, Any], Any]:
    """Return the journal entry of a task, and the fitted model if it is a refit of psephos.

    With `keep`, the result of `packed_fold` for the model of a fold. A failure has an entry, too,
    with the status 'failed' and the error in a sentence.
    """
    entry: dict[str, Any] = {"key": task.key, "model": task.contender.name, "split": task.split}
    compiled = n_compiled()
    with warnings.catch_warnings(record=True) as caught, one_thread(), quiet_levels():
        warnings.simplefilter("always")
        try:
            begin()
            result, model = task.outcome(table, keep)
            entry |= result | {"status": "ok", "error": ""}
        except (Exception, SystemExit) as error:  # a failure does not stop the other fits
            model = None
            entry |= {"status": "failed", "error": error_sentence(error)}
    timing = entry.setdefault("timing", {})
    timing["kernels_compiled"] = n_compiled() - compiled
    timing["warnings"] = told_warnings(caught)
    timing["finished"] = _now()
    return entry, model


def failed_entry(task: FitTask, error: BaseException) -> dict[str, Any]:
    """Return the journal entry of a task that could not be run."""
    entry: dict[str, Any] = {"key": task.key, "model": task.contender.name, "split": task.split}
    entry["timing"] = {"kernels_compiled": 0, "warnings": {}, "finished": _now()}
    return entry | {"status": "failed", "error": error_sentence(error)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def error_sentence(error: BaseException) -> str:
    """Return the error of a fit in one line."""
    text = " ".join(str(error).split())[:500]
    return text if isinstance(error, PsephosError) else f"{type(error).__name__}: {text}"


def told_warnings(caught: Sequence[warnings.WarningMessage]) -> dict[str, int]:
    """Return the first line of each warning, and its frequency; the most frequent first."""
    counts: dict[str, int] = {}
    for one in caught:
        text = f"{one.category.__name__}: {str(one.message).strip().splitlines()[0][:_LENGTH]}"
        counts[text] = counts.get(text, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_WARNINGS])


def _fitted(task: FitTask, table: DataTable, keep: bool) -> tuple[dict[str, Any], Any]:
    codes, shape = table.codes, shape_of(table)
    clock, draws = time.perf_counter(), Draws(task, shape)
    params, inner, n_failed, threshold = _tuned(task, draws, table, codes, shape)
    searched = time.perf_counter()
    model = built(task.contender, params, shape, task.seeds[2])
    refit = task.split is None and _can_be_saved(task, model)
    # saved models predict the user's labels; models of folds predict class indices
    *given, fitted_on = _training(task, table, model if refit else None)
    with naming_rows(_row_names(table, fitted_on)), warnings.catch_warnings(record=True) as own:
        warnings.simplefilter("always")
        begin()
        _fit(task, model, *given)
    for one in own:  # among those of the search
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    fitted = time.perf_counter()
    begin()
    columns = columns_read(model, table.n_columns)
    entry: dict[str, Any] = {
        "params": json.dumps(params, sort_keys=True),
        "draws": max(1, draws.n),
        f"inner_{inner_metric(table, task.protocol)}": inner,
        "columns_used": len(columns),
        "columns": ranges_of(columns),
        "n_voters": n_voters(model, task.contender),
        "left_out": [str(w.message) for w in own if issubclass(w.category, CollapseWarning)],
    }
    weak = getattr(final_step(model), "labels_", None)
    if weak is not None and table.partial is not None:
        entry |= {"prior": weak.prior, "prior_doubtful": weak.doubtful}
    if task.split is not None:
        entry |= answered(model, table, task, threshold)
    if threshold is not None:
        entry["threshold"] = threshold
    entry["timing"] = {
        "search_seconds": searched - clock,
        "fit_seconds": fitted - searched,
        "predict_seconds": time.perf_counter() - fitted,
        "draws_failed": n_failed,
        "draws_stopped": draws.stopped,
    }
    if refit and table.kind == "classes" and table.partial is None:
        n, timed = max(1, draws.n), draws.seconds is not None
        entry["proved"] = refit_bounds(model, table.X, table.y, n, timed=timed)
    if refit and threshold is not None:
        with suppress(PsephosError):  # a model that decides by losses keeps its own rule
            model = at_threshold(model, threshold, model.classes_.tolist()[positive_code(table)])
    if refit:
        return entry, table.named(model)
    small = keep and task.split is not None and task.contender.origin == "psephos"
    return entry, packed_fold(model, table) if small else None


def _can_be_saved(task: FitTask, model: Estimator) -> bool:
    return task.contender.origin == "psephos" and final_step(model) is model  # in no pipeline


def metrics_of(table: DataTable, protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the measures on a table."""
    partial = table.partial
    truth = partial is None or bool(partial.truth)
    found = scores.measures_for(table.kind, partial=partial is not None, truth=truth)
    return tuple(one.name for one in scores.with_chosen(found, chosen_measure(table, protocol)))


def inner_metric(table: DataTable, protocol: Protocol) -> str:
    """Return the measure that draws are chosen by: PU-F if labels are partly recorded."""
    chosen = chosen_measure(table, protocol) or scores.ranked_by(metrics_of(table, protocol))
    return "pu_f" if table.partial is not None else chosen.name


def chosen_measure(table: DataTable, protocol: Protocol) -> scores.ResultMetric | None:
    """Return the measure that models are ranked by, or None if it is the usual one."""
    if protocol.metric is None:
        return None
    return scores.metric_named(protocol.metric, table.kind, table.classes.tolist())


def cost_word(table: DataTable, cost: object) -> str:
    """Return the name of the cost measure, 'cost@5', for 5, 'missed=5' or {'missed': 5}.

    Raises
    ------
    PsephosError
        If it is not one of these, or the target does not have two classes.
    """
    if len(table.classes) != 2 or table.kind != "classes":
        raise PsephosError("--cost (cost=) is for a target of two classes: leave it out.")
    given: Any = cost
    if isinstance(cost, Mapping) and len(given) == 1:
        given = given.get("missed")
    word = given.removeprefix("missed=") if isinstance(given, str) else given
    try:
        missed = np.nan if isinstance(given, bool) else float(word)
    except (TypeError, ValueError):
        missed = np.nan
    if not 0 < missed < np.inf:
        raise PsephosError(
            "--cost (cost=) must be missed=5 (in Python also 5), the cost of a missed positive "
            f"case if a false alarm costs 1; got {cost!r}."
        )
    return f"cost@{missed:.12g}"


def cheapest(p: Floats, yes: Array, missed: float) -> float:
    """Return the threshold of least cost on these probabilities, midway between two of them.

    Among ties it is the one nearest to 1 / (1 + missed), the best for calibrated probabilities.
    """
    units, usual = in_millionths(p), UNIT / (1 + missed)
    steps = np.unique([0, *units, UNIT])
    cuts = np.clip([round(usual), *(steps[1:] + steps[:-1] + 1) // 2], 1, UNIT - 1)
    lost = np.searchsorted(np.sort(units[yes == 1]), cuts)
    alarms = np.count_nonzero(yes == 0) - np.searchsorted(np.sort(units[yes == 0]), cuts)
    costs = missed * lost + alarms
    best = cuts[costs <= costs.min() + 1e-9]
    return float(best[np.abs(best - usual).argmin()]) / UNIT


def with_choices(
    protocol: Protocol, table: DataTable, metric: str | None, select: str | None, cost: Any = None
) -> Protocol:
    """Return a protocol with this measure, selection and cost; None keeps that of the protocol.

    Raises
    ------
    PsephosError
        If the target has no such measure.
    """
    if cost is not None and metric is not None:
        raise PsephosError("models are ranked by --cost (cost=): leave --metric (metric=) out.")
    given = {"metric": metric if cost is None else cost_word(table, cost), "select": select}
    plan = replace(protocol, **{name: one for name, one in given.items() if one is not None})
    chosen = chosen_measure(table, plan)
    if chosen is not None and table.partial is not None:
        raise PsephosError(
            "--metric (metric=) needs a target whose labels are all recorded: leave it out; for "
            "partly recorded labels settings are chosen by PU-F."
        )
    usual = inner_metric(table, replace(plan, metric=None))
    name = None if chosen is None or chosen.name == usual else chosen.name
    return replace(plan, metric=plan.metric if name == "cost" else name)


def positive_code(table: DataTable) -> int:
    """Return the index of the positive class of measures (the same as on the page)."""
    labels = [str(one) for one in table.classes]
    if table.positive in labels:
        return labels.index(table.positive)
    return usual_positive(labels, table.class_counts.tolist()).code


def answers_to(model: Estimator, X: Values, table: DataTable) -> scores.Answers:
    """Return a model's predictions, as measures take them."""
    if table.multilabel:
        return label_answers_of(model, X, len(table.classes))
    if table.kind == "numbers":
        return number_answers_of(model, X)
    return scores.answers_of(model, X, len(table.classes))._replace(positive=positive_code(table))


def choice_words(table: DataTable, protocol: Protocol) -> dict[str, Any]:
    """Return the part of the keys of tasks on the choice of draws: empty for the defaults."""
    of = {"positive": positive_code(table)} if protocol.metric and table.kind == "classes" else {}
    return {**protocol.choices, **of}


def _training(task: FitTask, table: DataTable, refit: Any) -> tuple[Any, Any, Any, Rows]:
    """Return (X, y, groups, rows) to fit on: y are class indices, or the labels for a refit."""
    rows, partial = task.train, table.partial
    y: Array = (table.codes if refit is None else table.y)[rows]
    if refit is not None and task.contender.partial_labels and not table.multilabel:
        labels = table.classes.tolist()
        place = 1 if partial is None else partial.positive
        refit.set_params(classes=labels, pos_label=labels[place])
    if partial is not None:
        rows, codes = partial.training(rows, partial_labels=task.contender.partial_labels)
        y = codes if refit is None else named_labels(codes, table.classes)
    return _values(task, table, rows), y, None if table.groups is None else table.groups[rows], rows


def named_labels(codes: Floats, classes: Array) -> Array:
    """Return the labels of class indices, None for NaN."""
    named: list[Any] = classes.tolist()
    if not np.isnan(codes).any():
        return classes[codes.astype(np.intp)]
    return object_array([None if code != code else named[int(code)] for code in codes.tolist()])


def _values(task: FitTask, table: DataTable, rows: Rows) -> Values:
    """Return the values of some rows, dense for models of other libraries."""
    return table.X[rows] if task.contender.origin == "psephos" else dense_columns(table.X[rows])


def answered(
    model: Estimator, table: DataTable, task: FitTask, threshold: float | None
) -> dict[str, Any]:
    """Return the journal's entries on the test rows: measures and predictions."""
    answers, found = answers_on(model, table, task, threshold, task.test)
    seen = answers_on(model, table, task, threshold, task.train)[1]["measures"]
    found["training"] = seen[inner_metric(table, task.protocol)]
    chosen = chosen_measure(table, task.protocol)
    if chosen is not None:
        found["chance"] = permuted(chosen, answers, table.codes[task.test], task.seeds[0])
    return found


def answers_on(
    model: Estimator, table: DataTable, task: FitTask, threshold: float | None, rows: Rows
) -> tuple[scores.Answers, dict[str, Any]]:
    """Return the predictions for some rows, and their entries in the journal."""
    truth, chosen = table.codes[rows], chosen_measure(table, task.protocol)
    answers = answers_to(model, _values(task, table, rows), table)
    if isinstance(answers, scores.ClassAnswers):
        answers = answers._replace(threshold=threshold)
    found = _measured(answers, truth, table, rows)
    if chosen is not None:
        found["measures"][chosen.name] = chosen.measured(answers, truth)
    return answers, found


def _measured(answers: scores.Answers, truth: Any, table: DataTable, test: Rows) -> dict[str, Any]:
    if isinstance(answers, LabelAnswers):
        given: list[list[int]] = answers.given.astype(int).tolist()
        kept = {"proba": answers.proba.tolist(), "given": given}
        return {"measures": scores.label_measures(answers, truth), **kept}
    if isinstance(answers, NumberAnswers):
        measured = {one.name: one.measured(answers, truth) for one in scores.TABLES["numbers"]}
        kept = {"predicted": answers.predicted.tolist()}
        if answers.quantiles is not None:
            kept["quantiles"] = answers.quantiles.tolist()
        return {"measures": measured, **kept}
    partial = table.partial
    measured = scores.measures(answers, truth) if partial is None or partial.truth else {}
    if partial is not None:
        found = pu_scores(answers.codes == partial.positive, partial.codes[test], partial.prior)
        measured |= {one.name: one.measured(found, None) for one in scores.TABLES["partial"]}
    return {"measures": measured, "proba": answers.proba.tolist()}


# ------------------------------------------------------------------- tuning
def _tuned(
    task: FitTask, draws: "Draws", table: DataTable, codes: Indices, shape: Shape
) -> tuple[Params, float | None, int, float | None]:
    """Return the chosen parameters, their score, the number of failed draws, and the threshold."""
    if not draws.searched and not scores.missed_cost(task.protocol.metric):
        return {}, None, 0, None
    parts = inner_parts(task, table, codes)
    tried: list[Tried] = []
    failures: list[BaseException] = []
    seen, sure = list[Params](), list[Params]()
    quick = {} if task.protocol.metric else dict(task.contender.in_search)

    def attempt(params: Params, more: Params) -> list[Tried]:
        try:
            return [tried_out(task, params, more, shape, table, parts)]
        except (Exception, SystemExit) as error:  # a draw that fails is not chosen
            failures.append(error)
            draws.stopped += isinstance(error, StoppedError)
            return []

    for params in draws:
        if params in seen and draws.seconds is None:
            continue  # drawn before, so that it has the same score
        seen.append(params)
        tried += attempt(params, quick)
    while quick and tried and (best := _winner(tried, task.protocol.select)).params not in sure:
        sure.append(best.params)  # evaluated without the settings that make searches fast
        at = tried.index(best)
        tried[at : at + 1] = attempt(best.params, {})
    if not tried:
        raise failures[0]
    best = _winner(tried, task.protocol.select)
    if best.merit == -np.inf:
        raise PsephosError(
            f"{task.protocol.metric} is not defined in any inner fold, so that it cannot choose a "
            "setting: choose another measure (--metric)."
        )
    return best.params, best.score, len(failures), best.threshold


class Tried(NamedTuple):
    """A draw, over the inner folds."""

    params: Params
    score: float | None
    merit: float  # the score, negated if smaller is better
    error: float  # the standard error of the score
    columns: float  # mean number of columns that its models read; 0 if not needed
    threshold: float | None = None  # the threshold of least cost on all inner folds


def inner_parts(task: FitTask, table: DataTable, codes: Indices) -> list[Split]:
    """Return the rows of the inner folds of the training part of a fit."""
    groups = None if table.groups is None else table.groups[task.train]
    inside = codes if table.partial is None else table.partial.codes + 1  # records, not the truth
    folds = inner_splits(inside[task.train], groups, task.protocol.inner_folds, task.seeds[0])
    return [(task.train[train], task.train[test]) for train, test in folds]


def _winner(tried: Sequence[Tried], select: str) -> Tried:
    best = max(tried, key=lambda one: one.merit)  # the first among ties
    near = [one for one in tried if one.merit >= best.merit - best.error - 1e-12]
    return best if select == "best" else min(near, key=lambda one: (one.columns, -one.merit))


def tried_out(
    task: FitTask, params: Params, quick: Params, shape: Shape, table: DataTable,
    parts: Sequence[Split],
) -> Tried:  # fmt: skip
    """Return the score of parameters in the inner folds; for a cost with the best threshold."""
    chosen = chosen_measure(table, task.protocol)
    fitted = quick | params
    each = [step(_inner_score, task, fitted, shape, table, part, chosen) for part in parts]
    known = [score for score, *_ in each if score == score]  # NaN if no row of labels counts
    columns = float(np.mean([n for _, n, _ in each]))
    missed, threshold = scores.missed_cost(task.protocol.metric), None
    if chosen is not None and missed is not None:
        tested = zip(each, parts, strict=True)
        pairs = [(found, table.codes[test]) for (*_, found), (_, test) in tested]
        p = np.concatenate([found.proba[:, found.positive] for found, _ in pairs])
        yes = np.concatenate([truth == found.positive for found, truth in pairs])
        threshold = cheapest(p, yes, missed)
        measured = [chosen.measured(a._replace(threshold=threshold), y) for a, y in pairs]
        known = [value for value in measured if value is not None]
    if not known and chosen is not None:
        return Tried(params, None, -np.inf, 0.0, columns)
    score = float(np.mean(known)) if known else 0.0
    error = float(np.std(known, ddof=1)) / len(known) ** 0.5 if len(known) > 1 else 0.0
    merit = score * (chosen.sign if chosen else 1)
    return Tried(params, score, merit, error, columns, threshold)


class Draws:
    """The settings that a task tries; a single empty one if its model has nothing to tune.

    Attributes
    ----------
    least : int
        The number of settings; the minimum if the budget is `seconds`.
    seconds : float or None
        The time in which further settings begin.
    n, stopped : int
        The number of settings that have begun, and of those that a time limit stopped.
    """

    def __init__(self, task: FitTask, shape: Shape) -> None:
        plan, one = task.protocol, task.contender
        self._drawn = one.drawn(plan.distributions, shape.n_told)
        self._default: Params = dict(one.first.get(plan.distributions, {}))
        self._default_first, self._seed = plan.defaults_first, task.seeds[1]
        self.least = plan.n_draws(one.name) if self._drawn else 1
        self.seconds = plan.seconds if self._drawn else None
        self.n = self.stopped = 0

    @property
    def searched(self) -> bool:
        """Return whether a setting is drawn or chosen."""
        alone = self.least == 1 and self.seconds is None
        default = not self._drawn or (self._default_first and not self._default)
        return not (alone and default)

    def __iter__(self) -> Iterator[Params]:
        rng, begun = np.random.default_rng(self._seed), time.perf_counter()
        while self.n < self.least or time.perf_counter() - begun < (self.seconds or 0.0):
            self.n += 1
            first = self._default_first and self.n == 1
            yield self._default if first else draw(self._drawn, rng)


def _row_names(table: DataTable, rows: Rows) -> list[str]:
    names = table.row_names()
    return [names[i] for i in rows]


def _inner_score(
    task: FitTask, params: Params, shape: Shape, table: DataTable, part: Split,
    chosen: scores.ResultMetric | None,
) -> tuple[float, int, Any]:  # fmt: skip
    """Return the score on an inner fold (or NaN), the number of columns read, and predictions."""
    train, test = part
    model = fitted_part(replace(task, train=train), params, shape, table)
    n_read = len(columns_read(model, table.n_columns)) if task.protocol.select == "one-se" else 0
    X, truth = _values(task, table, test), table.codes[test]
    if chosen is None:
        return _usual_score(model, X, truth, test, shape, table), n_read, None
    answers = answers_to(model, X, table)
    found = chosen.measured(answers, truth)
    return (float("nan") if found is None else found), n_read, answers


def _usual_score(
    model: Any, X: Values, truth: Any, test: Rows, shape: Shape, table: DataTable
) -> float:
    if shape.multilabel:
        return average_precision(truth, label_answers_of(model, X, shape.n_classes).proba)
    if table.kind == "numbers":
        found = r_squared(NumberAnswers(np.asarray(model.predict(X), dtype=np.float64)), truth)
        return float("nan") if found is None else found
    codes = scores.codes_of(model, X, shape.n_classes)
    if table.partial is None:
        return scores.balanced_accuracy(codes, truth)
    found = pu_scores(codes == table.partial.positive, table.partial.codes[test])["pu_f"]
    return float("nan") if found is None else found


def fitted_part(task: FitTask, params: Params, shape: Shape, table: DataTable) -> Any:
    """Return a new model with these parameters, fitted on the training part of a task."""
    model = built(task.contender, params, shape, task.seeds[2])
    *given, fitted_on = _training(task, table, None)
    with naming_rows(_row_names(table, fitted_on)):
        _fit(task, model, *given)
    return model


def _fit(task: FitTask, model: Any, X: TableLike, y: LabelsLike, groups: PerRow) -> None:
    """Fit a model; models with folds of their own get the groups, to keep each in one fold.

    A selection of columns that another model made on the same rows with the same settings is used
    again.
    """
    extra = {} if groups is None or not task.contender.grouped else {"groups": groups}
    one, key = final_step(model), ""
    if task.contender.shares and hasattr(one, "take_selection"):
        key = str(_joblib.hash((type(one).__qualname__, one.selecting(), X, y, groups)))
        one.take_selection(_selections.get(key))
    model.fit(X, y, **extra)
    if key:
        _selections[key] = one.selection_
        for old in list(_selections)[:-_MOST_SELECTIONS]:
            del _selections[old]


# ------------------------------------------------------------------- reading the model
def columns_read(model: Estimator, n_columns: int) -> Indices:
    """Return the columns that a model reads; all, with a warning, if they are not known."""
    try:
        return columns_used(model, n_columns)
    except PsephosError as error:
        warnings.warn(str(error), UserWarning, stacklevel=2)  # stated in timings.csv
        return np.arange(n_columns, dtype=np.intp)
