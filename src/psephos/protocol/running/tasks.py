"""One task of a comparison: tune inside the training part, fit, answer the test part."""

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
from psephos.protocol.evaluation.label_scores import (
    LabelAnswers,
    average_precision,
    label_answers_of,
)
from psephos.protocol.evaluation.number_scores import NumberAnswers, number_answers_of, r_squared
from psephos.protocol.evaluation.scores import (
    TABLES,
    Answers,
    ClassAnswers,
    ResultMetric,
    answers_of,
    balanced_accuracy,
    codes_of,
    label_measures,
    measures,
    measures_for,
    metric_named,
    missed_cost,
    ranked_by,
    with_chosen,
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
_MOST_SELECTIONS = 16  # that are kept
_selections: dict[str, object] = {}  # of columns, by what they depend on


@dataclass(frozen=True)
class FitTask:
    """A fit of a comparison; what it gives depends on these values and the table alone."""

    key: str  # the SHA-256 of the configuration
    contender: Contender
    protocol: Protocol
    split: tuple[int, int] | None  # (repeat, fold); None is the refit on all rows
    train: Rows
    test: Rows
    # of the inner folds (the same for all models), the draws, and the model
    seeds: tuple[int, int, int]

    def outcome(self, table: DataTable, keep: bool) -> tuple[dict[str, Any], object]:
        """Return what the journal keeps of it, and the model as `run_task` returns it."""
        return _fitted(self, table, keep)


def shape_of(table: DataTable) -> Shape:
    """Return what contenders may know of the table."""
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

    With `keep`, of the model of a fold what `packed_fold` returns.

    A failure is an entry, too: its status is 'failed' and it carries the sentence.
    """
    entry: dict[str, Any] = {"key": task.key, "model": task.contender.name, "split": task.split}
    compiled = n_compiled()
    with warnings.catch_warnings(record=True) as caught, one_thread(), quiet_levels():
        warnings.simplefilter("always")
        try:
            begin()
            result, model = task.outcome(table, keep)
            entry |= result | {"status": "ok", "error": ""}
        except (Exception, SystemExit) as error:  # whatever a model raises, the other fits go on
            model = None
            entry |= {"status": "failed", "error": error_sentence(error)}
    timing = entry.setdefault("timing", {})
    timing["kernels_compiled"] = n_compiled() - compiled
    timing["warnings"] = told_warnings(caught)
    timing["finished"] = _now()
    return entry, model


def failed_entry(task: FitTask, error: BaseException) -> dict[str, Any]:
    """Return the journal entry of a task that could not be done."""
    entry: dict[str, Any] = {"key": task.key, "model": task.contender.name, "split": task.split}
    entry["timing"] = {"kernels_compiled": 0, "warnings": {}, "finished": _now()}
    return entry | {"status": "failed", "error": error_sentence(error)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def error_sentence(error: BaseException) -> str:
    """Return what a fit failed with, in one line."""
    text = " ".join(str(error).split())[:500]
    return text if isinstance(error, PsephosError) else f"{type(error).__name__}: {text}"


def told_warnings(caught: Sequence[warnings.WarningMessage]) -> dict[str, int]:
    """Return the first line of each warning, and how often it came; the most frequent first."""
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
    refit = task.split is None and task.contender.origin == "psephos"
    # a saved model answers with the user's labels; the fits of the folds with their codes
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
        with suppress(PsephosError):  # a model whose losses decide keeps its own rule
            model = at_threshold(model, threshold, model.classes_.tolist()[positive_code(table)])
    if refit:
        return entry, table.named(model)
    small = keep and task.split is not None and task.contender.origin == "psephos"
    return entry, packed_fold(model, table) if small else None


def metrics_of(table: DataTable, protocol: Protocol) -> tuple[str, ...]:
    """Return the names of the measures on a table."""
    partial = table.partial
    truth = partial is None or bool(partial.truth)
    found = measures_for(table.kind, partial=partial is not None, truth=truth)
    return tuple(one.name for one in with_chosen(found, chosen_measure(table, protocol)))


def inner_metric(table: DataTable, protocol: Protocol) -> str:
    """Return the measure that draws are chosen by: of the labels recorded, where not all are."""
    chosen = chosen_measure(table, protocol) or ranked_by(metrics_of(table, protocol))
    return "pu_f" if table.partial is not None else chosen.name


def chosen_measure(table: DataTable, protocol: Protocol) -> ResultMetric | None:
    """Return the measure that models are ranked by, where it is not the usual one."""
    if protocol.metric is None:
        return None
    return metric_named(protocol.metric, table.kind, table.classes.tolist())


def cost_word(table: DataTable, cost: object) -> str:
    """Return the measure of what errors cost, 'cost@5', of 5, 'missed=5' or {'missed': 5}.

    Raises
    ------
    PsephosError
        If it is not one of these, or the target does not hold two classes.
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
            f"--cost (cost=) is {cost!r}: write missed=5 (in Python also 5), what a positive case "
            "that is not found costs where a false alarm costs 1."
        )
    return f"cost@{missed:.12g}"


def cheapest(p: Floats, yes: Array, missed: float) -> float:
    """Return the threshold of least cost on these probabilities, in the middle between two of them.

    Of several such it is the one nearest to 1 / (1 + missed), which calibrated ones would have.
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
            "--metric (metric=) is of a target whose labels are all recorded: leave it out, since "
            "settings are chosen by PU-F here."
        )
    usual = inner_metric(table, replace(plan, metric=None))
    name = None if chosen is None or chosen.name == usual else chosen.name
    return replace(plan, metric=plan.metric if name == "cost" else name)


def positive_code(table: DataTable) -> int:
    """Return the index of the class that measures of one class are of (that of the page)."""
    labels = [str(one) for one in table.classes]
    if table.positive in labels:
        return labels.index(table.positive)
    return usual_positive(labels, table.class_counts.tolist()).code


def answers_to(model: Estimator, X: Values, table: DataTable) -> Answers:
    """Return a model's answers, as measures take them."""
    if table.multilabel:
        return label_answers_of(model, X, len(table.classes))
    if table.kind == "numbers":
        return number_answers_of(model, X)
    return answers_of(model, X, len(table.classes))._replace(positive=positive_code(table))


def choice_words(table: DataTable, protocol: Protocol) -> dict[str, Any]:
    """Return what the keys of tasks have of how draws are chosen: nothing where it is as usual."""
    of = {"positive": positive_code(table)} if protocol.metric and table.kind == "classes" else {}
    return {**protocol.choices, **of}


def _training(task: FitTask, table: DataTable, refit: Any) -> tuple[Any, Any, Any, Rows]:
    """Return (X, y, groups, rows) to fit on: y are codes, or for a refit the labels themselves."""
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
    """Return labels of codes, None of NaN."""
    named: list[Any] = classes.tolist()
    if not np.isnan(codes).any():
        return classes[codes.astype(np.intp)]
    return object_array([None if code != code else named[int(code)] for code in codes.tolist()])


def _values(task: FitTask, table: DataTable, rows: Rows) -> Values:
    """Return the values of some rows; models of others are given dense ones."""
    return table.X[rows] if task.contender.origin == "psephos" else dense_columns(table.X[rows])


def answered(
    model: Estimator, table: DataTable, task: FitTask, threshold: float | None
) -> dict[str, Any]:
    """Return what the journal keeps of the answers to test rows: measures and probabilities."""
    answers, found = answers_on(model, table, task, threshold, task.test)
    seen = answers_on(model, table, task, threshold, task.train)[1]["measures"]
    found["training"] = seen[inner_metric(table, task.protocol)]
    chosen = chosen_measure(table, task.protocol)
    if chosen is not None:
        found["chance"] = permuted(chosen, answers, table.codes[task.test], task.seeds[0])
    return found


def answers_on(
    model: Estimator, table: DataTable, task: FitTask, threshold: float | None, rows: Rows
) -> tuple[Answers, dict[str, Any]]:
    """Return the answers to some rows, their measures and what the journal keeps of them."""
    truth, chosen = table.codes[rows], chosen_measure(table, task.protocol)
    answers = answers_to(model, _values(task, table, rows), table)
    if isinstance(answers, ClassAnswers):
        answers = answers._replace(threshold=threshold)
    found = _measured(answers, truth, table, rows)
    if chosen is not None:
        found["measures"][chosen.name] = chosen.measured(answers, truth)
    return answers, found


def _measured(answers: Answers, truth: Any, table: DataTable, test: Rows) -> dict[str, Any]:
    if isinstance(answers, LabelAnswers):
        given: list[list[int]] = answers.given.astype(int).tolist()
        kept = {"proba": answers.proba.tolist(), "given": given}
        return {"measures": label_measures(answers, truth), **kept}
    if isinstance(answers, NumberAnswers):
        measured = {one.name: one.measured(answers, truth) for one in TABLES["numbers"]}
        kept = {"predicted": answers.predicted.tolist()}
        if answers.quantiles is not None:
            kept["quantiles"] = answers.quantiles.tolist()
        return {"measures": measured, **kept}
    partial = table.partial
    measured = measures(answers, truth) if partial is None or partial.truth else {}
    if partial is not None:
        positive = answers.codes == partial.positive
        scores = pu_scores(positive, partial.codes[test], partial.prior)
        measured |= {one.name: one.measured(scores, None) for one in TABLES["partial"]}
    return {"measures": measured, "proba": answers.proba.tolist()}


# ------------------------------------------------------------------- tuning
def _tuned(
    task: FitTask, draws: "Draws", table: DataTable, codes: Indices, shape: Shape
) -> tuple[Params, float | None, int, float | None]:
    """Return the winning parameters, their score, how many draws failed, and the threshold."""
    if not draws.searched and not missed_cost(task.protocol.metric):
        return {}, None, 0, None
    parts = inner_parts(task, table, codes)
    tried: list[Tried] = []
    failures: list[BaseException] = []
    seen, sure = list[Params](), list[Params]()
    quick = {} if task.protocol.metric else dict(task.contender.in_search)

    def attempt(params: Params, more: Params) -> list[Tried]:
        try:
            return [tried_out(task, params, more, shape, table, parts)]
        except (Exception, SystemExit) as error:  # a draw that cannot be fitted has lost
            failures.append(error)
            draws.stopped += isinstance(error, StoppedError)
            return []

    for params in draws:
        if params in seen and draws.seconds is None:
            continue  # drawn before, so that it has the same score
        seen.append(params)
        tried += attempt(params, quick)
    while quick and tried and (best := _winner(tried, task.protocol.select)).params not in sure:
        sure.append(best.params)  # once it is fitted without what is quick
        at = tried.index(best)
        tried[at : at + 1] = attempt(best.params, {})
    if not tried:
        raise failures[0]
    best = _winner(tried, task.protocol.select)
    if best.merit == -np.inf:
        raise PsephosError(
            f"{task.protocol.metric} is not defined in any inner fold, so that no setting can be "
            "chosen by it: choose another measure (--metric)."
        )
    return best.params, best.score, len(failures), best.threshold


class Tried(NamedTuple):
    """A draw, over the inner folds."""

    params: Params
    score: float | None
    merit: float  # the score; where smaller is better its negative
    error: float  # the standard error of the score
    columns: float  # that its models read, on average; 0 where this does not matter
    threshold: float | None = None  # of the least cost on all inner folds


def inner_parts(task: FitTask, table: DataTable, codes: Indices) -> list[Split]:
    """Return the rows of the inner folds of the training part of a fit."""
    groups = None if table.groups is None else table.groups[task.train]
    inside = codes if table.partial is None else table.partial.codes + 1  # not the truth
    folds = inner_splits(inside[task.train], groups, task.protocol.inner_folds, task.seeds[0])
    return [(task.train[train], task.train[test]) for train, test in folds]


def _winner(tried: Sequence[Tried], select: str) -> Tried:
    best = max(tried, key=lambda one: one.merit)  # the first of equals
    near = [one for one in tried if one.merit >= best.merit - best.error - 1e-12]
    return best if select == "best" else min(near, key=lambda one: (one.columns, -one.merit))


def tried_out(
    task: FitTask, params: Params, quick: Params, shape: Shape, table: DataTable,
    parts: Sequence[Split],
) -> Tried:  # fmt: skip
    """Return what parameters reach in inner folds, and of a cost the threshold that costs least."""
    chosen = chosen_measure(table, task.protocol)
    fitted = quick | params
    each = [step(_inner_score, task, fitted, shape, table, part, chosen) for part in parts]
    known = [score for score, *_ in each if score == score]  # of labels: no row may count
    columns = float(np.mean([n for _, n, _ in each]))
    missed, threshold = missed_cost(task.protocol.metric), None
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
    """The settings that a task tries; one without any, if its model has none to draw.

    Attributes
    ----------
    least : int
        How many there are; where the budget is `seconds`, how many there are at least.
    seconds : float or None
        For how long after the first another is begun.
    n, stopped : int
        How many have been begun, and how many of these a time limit stopped.
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
        """Return whether a setting is chosen or drawn at all."""
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
    chosen: ResultMetric | None,
) -> tuple[float, int, Any]:  # fmt: skip
    """Return the measure on an inner fold (or NaN), how many columns are read, and the answers."""
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
    codes = codes_of(model, X, shape.n_classes)
    if table.partial is None:
        return balanced_accuracy(codes, truth)
    found = pu_scores(codes == table.partial.positive, table.partial.codes[test])["pu_f"]
    return float("nan") if found is None else found


def fitted_part(task: FitTask, params: Params, shape: Shape, table: DataTable) -> Any:
    """Return a fresh model of some parameters, fitted on the training part of a task."""
    model = built(task.contender, params, shape, task.seeds[2])
    *given, fitted_on = _training(task, table, None)
    with naming_rows(_row_names(table, fitted_on)):
        _fit(task, model, *given)
    return model


def _fit(task: FitTask, model: Any, X: TableLike, y: LabelsLike, groups: PerRow) -> None:
    """Fit a model; one that draws folds of its own gets the groups, to keep each in one fold.

    Scores of columns that another has made of the same rows by the same settings are taken over.
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
    """Return the columns that a model reads; all, with a warning, where that is not known."""
    try:
        return columns_used(model, n_columns)
    except PsephosError as error:
        warnings.warn(str(error), UserWarning, stacklevel=2)  # stated in timings.csv
        return np.arange(n_columns, dtype=np.intp)
