"""The verdict of a comparison in a few sentences, and its cautions."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from psephos.figures.confusion import of_counts
from psephos.protocol.evaluation.scores import ResultMetric
from psephos.protocol.evaluation.statistics import ONE_PART, paired_difference
from psephos.report.study.folder import Folder
from psephos.report.study.standings import Opening, Pair, Standing
from psephos.report.words import (
    chance,
    count,
    number,
    plural,
    rate,
    series,
    small_difference,
    three,
)


def verdict(
    folder: Folder,
    rows: Sequence[Standing],
    choice: Opening | None,
    better: Collection[str],
) -> list[str]:
    """Return sentences on other models, and on models that are not ranked.

    Parameters
    ----------
    better : collection of str
        The models significantly better than a constant prediction (`better_than_constant`).
    """
    if choice is None and any(s.fits for s in rows):
        return [f"No fold has a value of the measure ({folder.measure}): no model is ranked."]
    if choice is None:
        return ["Every fit failed; the reasons are below."]
    reading, small = _reading(rows), choice.smallest
    words = [_apart(s) for s in rows if s.drawn and not s.ranked]
    if folder.measures[0].name == "cost":
        words.append("The cost is at the thresholds that were chosen in the folds.")
    first = choice.opened or choice.best
    alone = len(reading) < 2 or (first.key in better and {s.key for s in reading} <= set(better))
    words += [] if alone else [_beyond(folder, rows, better)]
    words += _two_tests(folder, first, first.key in better) if reading else []
    if reading and small not in (choice.best, choice.opened):
        words.append(
            f"Of all within one standard error ({number(choice.standard_error)}) of the best,"
            f" {small.label} reads the fewest columns, {_span(small)}: {rate(small.score)}."
        )
    return words


def first_sentences(
    folder: Folder,
    rows: Sequence[Standing],
    choice: Opening | None,
    found: Sequence[Pair],
    missed: Mapping[str, Any] | None,
    better: Collection[str],
) -> list[str]:
    """Return up to three sentences on the model shown first, each with a number and interval.

    They are on its accuracy and number of columns; on the comparison with a constant prediction and
    with the best model; and on the cases it misses at the first threshold, or its greatest errors.

    Parameters
    ----------
    found : sequence of Pair
        Differences from the best.
    better : as of `verdict`
    missed : mapping or None
        The first state of the panel of held-out answers, or of held-out numbers.
    """
    if choice is None:
        return []
    s, measure, reading = choice.opened or choice.best, folder.measures[0], _reading(rows)
    sure = s.key in better
    alike = len(reading) > 1 and sure and {s.key for s in reading} <= set(better)
    every = "both" if len(reading) == 2 else f"all {len(reading)}"
    all_ = f", like {every} that read columns," if alike else ""
    chosen = ", optimistic by its selection" * (not (choice.requested or choice.alone))
    words = [
        f"{s.label} reads {_reads(folder, s)}; its held-out {folder.measure}"
        f"{', averaged over folds,' * (folder.kind == 'numbers')} is"
        f" {_stated(s.score, measure)}{_interval(folder, s, measure)}{_error(folder, s)}{chosen}.",
        f"It is{all_} {'' if sure else 'not '}{_against_constant(folder, rows, sure)}"
        f"{_against_best(choice, s, found, rows, sure=sure)}."
        if reading
        else _NONE_READS,
    ]
    return words + misses(missed)


def _error(folder: Folder, s: Standing) -> str:
    """Return the error of a regressor over all held-out cases; '' for a classifier."""
    figures = folder.pooled().get(s.key) if folder.kind == "numbers" else None
    if figures is None:
        return ""
    name, what, text = ("mae", "mean absolute error", three)
    if folder.measures[0].name == "mae":
        name, what, text = ("r2", "R²", rate)
    value, low, high = (text(figures[key]) for key in (name, f"{name}_low", f"{name}_high"))
    return f", its pooled {what} {value} ({low} to {high})"


def _stated(value: float, measure: ResultMetric) -> str:
    return three(value) if measure.unit else (chance if 0.995 <= value < 1 else rate)(value)


def _differs(value: float, measure: ResultMetric) -> str:
    if measure.unit:
        return f"+{three(value)}" if value > 0 else three(value)
    return small_difference(value)


def _reads(folder: Folder, s: Standing) -> str:
    """Return how many columns the refitted model reads, and the models of the folds."""
    refit = folder.refit_columns.get(s.key) if s.key in folder.models else None
    folds = _span(s)
    if refit is None or folds == plural(refit, "column"):
        return folds if s.columns.mean else "no column"
    return f"{plural(refit, 'column')} ({folds.rpartition(' ')[0]} in the folds)"


def _span(s: Standing) -> str:
    """Return the fewest and most columns that the models of the folds read; '' if not known."""
    used = [f.columns_used for f in s.fits if f.columns_used is not None]
    if not used:
        return ""
    most = plural(max(used), "column")
    return most if min(used) == max(used) else f"{count(min(used))} to {most}"


def _interval(folder: Folder, s: Standing, measure: ResultMetric) -> str:
    """Return the interval of a model's mean over folds, in brackets."""
    ends = _ends(folder, s, measure)
    words = " to ".join(_stated(end, measure) for end in ends) if ends else ONE_PART
    return f" (95 % interval {words})"


def _ends(folder: Folder, s: Standing, measure: ResultMetric) -> tuple[float, float] | None:
    """Return the corrected resampled t interval of a mean, or that by cases if it is wider."""
    own = [f for f in s.fits if measure.name in f.measures]
    if len(own) < 2:
        return None
    values, n = [f.measures[measure.name] for f in own], sum(f.n_test for f in own)
    mean = paired_difference(values, [0.0] * len(values), n / sum(f.n_train for f in own))
    low, high = _by_cases(folder, s.key, measure.name, mean.mean, n)
    low, high = float(np.fmin(mean.low, low)), float(np.fmax(mean.high, high))
    return max(low, measure.least), min(high, measure.greatest)


def _by_cases(folder: Folder, key: str, name: str, mean: float, n: int) -> tuple[float, float]:
    """Return the interval of a mean over folds by n held-out cases; NaN if it is not known."""
    if folder.kind == "numbers":
        figures = folder.pooled().get(key, {})
        ends = [figures.get(name + end) for end in ("", "_low", "_high")]
        value, low, high = (math.nan if end is None else end for end in ends)
        return mean + low - value, mean + high - value
    return of_counts(name, mean, [size * min(n / folder.n_rows, 1.0) for size in folder.sizes])


def _two_tests(folder: Folder, s: Standing, sure: bool) -> list[str]:
    """Return why interval and p-value disagree on the constant prediction; [] if they do not."""
    ends = _ends(folder, s, folder.measures[0])
    chosen: Mapping[str, Any] = folder.about.get("metric") or {}
    if ends is None or ends[0] == ends[1] or (ends[0] <= folder.constant <= ends[1]) != sure:
        return []
    how = "about how often, at most, it would do as well if the target were permuted"
    if s.key in chosen.get("counts", {}):
        how = "of the cases that it and a constant prediction call differently"
    elif not chosen and folder.measures[0].name not in ("r2", "balanced_accuracy"):
        how = "one-sided and corrected for the number of models"
    why = f"the interval is of the mean over folds, p is {how}"
    return [f"The interval of {s.label} and its p-value seem to disagree: {why}."]


def _reading(rows: Sequence[Standing]) -> list[Standing]:
    """Return the models with figures that read at least one column."""
    return [s for s in rows if s.drawn and s.columns.mean > 0]


_NONE_READS = "No model reads a column: each predicts the same for every case."


def _against_constant(folder: Folder, rows: Sequence[Standing], sure: bool, name: str = "") -> str:
    """Return the score of the constant prediction, and the p-value against it."""
    n, drawn = len(_reading(rows)), sum(s.drawn for s in rows)
    models = f"{n} models" if n == drawn else f"the {n} that read columns"
    p = f"p\u00a0{'≤' if sure else '>'}\u00a00.05" + (f", corrected for {models}" if n > 1 else "")
    reached = _stated(folder.constant, folder.measures[0])
    reached += " at best" * ("metric" in folder.about)  # of all classes
    what = "predicting the mean" if folder.measure == "R²" else "a constant prediction"
    return f"significantly better than {what} ({name}{reached}; {p})"


def _against_best(
    choice: Opening, s: Standing, found: Sequence[Pair], rows: Sequence[Standing], *, sure: bool
) -> str:
    best, n = choice.best, sum(one.drawn and one.ranked for one in rows)
    pair = next((one for one in found if one.key == s.key), None)
    if s is best:
        return f"{' and' if sure else ', though'} the {best.most} of {n} models" if n > 1 else ""
    if pair is None or not s.ranked:
        return ""
    mean, low, high = (_differs(v, s.summary.ranked_by) for v in (pair.mean, pair.low, pair.high))
    interval = f" ({low} to {high})" if pair.interval else ""
    return f", and differs by {mean}{interval} from {best.label}, the {best.most}, on {_span(best)}"


def misses(missed: Mapping[str, Any] | None) -> list[str]:
    """Return a sentence on the cases that the shown model misses, with intervals."""
    if missed is None or "lead" in missed:
        return [] if missed is None else [f"It {missed['lead']}"]
    if missed["absent"]:
        return []
    if missed["kind"] == "several":
        model, classes = missed["model"], missed["classes"]
        worst = model["least"]
        name, counts, sensitivity, interval = model["rows"][worst][:4]
        interval = f" (95 % interval {interval})" if interval else ""
        share = f", sensitivity {sensitivity}{interval}" if interval else ""
        return [
            f"It predicts {model['right']} of {missed['cases']} correctly; of the"
            f" {len(classes)} classes it finds {name} least: {counts}{missed['in_groups'][worst]}"
            f"{share}."
        ]
    fills, (found, cleared) = missed["fills"], missed["measures"][:2]
    shown = [
        f"{one['value']}{', ' if one['interval'] else ''}{one['interval']}"
        for one in (found, cleared)
    ]
    beside = fills["alarms_in"].rsplit(" ", 1)[0] if fills["missed_in"] else fills["alarms_in"]
    return [
        f"At threshold {fills['threshold']} it misses"
        f" {fills['missed']}{fills['missed_in']} (sensitivity {shown[0]}), with false alarms at"
        f" {fills['alarms']}{beside} (specificity {shown[1]})."
    ]


def _beyond(folder: Folder, rows: Sequence[Standing], better: Collection[str]) -> str:
    """Return which models are significantly better than a constant prediction."""
    keys = [s.key for s in _reading(rows)]
    n = len(keys)
    sure, others = [k for k in keys if k in better], [k for k in keys if k not in better]
    constant = _against_constant(folder, rows, bool(sure), f"{folder.measure} ")
    if not sure:
        return f"None of the {n} models that read columns is {constant}."
    rest = f"; {series(others)} {_is(others)} not" if others else ""
    return f"Of the {n} models that read columns, {len(sure)} {_is(sure)} {constant}{rest}."


def _is(named: Sequence[str]) -> str:
    return "is" if len(named) == 1 else "are"


def _apart(s: Standing) -> str:
    """Return why a model is not ranked among the others."""
    return (
        f"{s.label} failed in {len(s.failed)} of {plural(len(s.fits) + len(s.failed), 'fold')}: its"
        " mean is over other cases, so it is not ranked."
    )


def caution(folder: Folder, choice: Opening | None) -> list[str]:
    """Return a paragraph on the procedure that was evaluated and the model that is shown."""
    s = choice and (choice.opened or choice.best)
    read = _span(s) if s else ""
    if s is None or not read:
        return []
    n = len(s.fits)
    words = (
        f"These figures are of a procedure, evaluated in folds: {s.label} was fitted"
        f" {plural(n, 'time')} to parts of the cases, and {'its models' if n > 1 else 'its model'}"
        f" read {read}."
    )
    refit = folder.refit_columns.get(s.key)
    if refit is not None and s.key in folder.models:
        words += (
            f" The one shown below was fitted to all {plural(folder.n_rows, 'case')} and reads"
            f" {plural(refit, 'column')}; it was not tested on other cases."
        )
    if choice and not (choice.requested or choice.alone):
        words += " It was selected on these folds, so its figures are optimistic."
    return [f"{words} No data from elsewhere were used."]


def opened_words(choice: Opening) -> str:
    """Return why the opened model was chosen."""
    assert choice.opened is not None
    label = choice.opened.label
    if choice.requested:
        return f"{label} was requested by name."
    if choice.alone:
        return f"{label} is the only model with figures."
    if not choice.opened.ranked:
        return f"Only models of psephos are saved and can be opened. {_apart(choice.opened)}"
    if choice.opened is choice.best:
        return f"{label} is the {choice.best.most} model."
    words = "Only models of psephos are saved and can be opened"
    if choice.fewest:
        return (
            f"{words}; of those within one standard error of the {choice.best.most} and"
            f" significantly better than a constant prediction, {label} reads the fewest columns."
        )
    return f"{words}; {label} is the {choice.opened.most} of them."


# ---------------------------------------------------------------------- cautions
_FEW = 10  # classes with fewer cases get a caution
_NAMED = 6  # the most rare labels that are named
UNSTABLE = 0.4  # agreement beyond chance below this is poor (the scale of Fleiss 1981)
_CLIP = 1e-15  # as the log-loss of the results


def cautions(folder: Folder, choice: Opening, prior: float, kept: bool = True) -> list[str]:
    """Return sentences with cautions on the table and on the models that the page shows.

    Parameters
    ----------
    prior : float
        The log-loss of the class frequencies, NaN if not known.
    """
    models = choice.named()
    words = [
        f"{one['code']} {one['name']}{' (accepted)' if one['accepted'] else ''}: {one['sentence']}"
        for one in folder.about.get("cautions", ())
    ]
    words += _rare_labels(folder) if folder.multilabel else _small_classes(folder, kept)
    words += [_unsure(s, prior) for s in models if unsure_probabilities(s, prior)]
    words += [_unstable(s) for s in models if s.summary.stability.value < UNSTABLE]
    return words + [w for s in models for w in _unlike(folder, s)]


def _small_classes(folder: Folder, kept: bool) -> list[str]:
    """Return a sentence for each class with few cases."""
    return [
        f"Class {name} has {plural(n, 'case') + ' only' if kept else f'fewer than {_FEW} cases'}:"
        " its figures, and its share of the balanced accuracy, rest on so few."
        for name, n in zip(folder.classes, folder.sizes, strict=False)
        if n < _FEW
    ]


def _rare_labels(folder: Folder) -> list[str]:
    """Return a sentence on labels with few cases, if there are any."""
    pairs = zip(folder.about["classes"], folder.sizes, strict=False)
    rare = sorted(((n, str(name)) for name, n in pairs if n < _FEW), key=lambda one: one[0])
    if not rare:
        return []
    named = series([f"{name} {count(n)}" for n, name in rare[:_NAMED]])
    more = f", and {len(rare) - _NAMED} more" if len(rare) > _NAMED else ""
    return [
        f"{len(rare)} of {plural(len(folder.about['classes']), 'label')}"
        f" {'has' if len(rare) == 1 else 'have'} fewer than {_FEW}"
        f" cases ({named}{more}): some test parts have none of them, and the figures of such a"
        " label rest on these cases."
    ]


# ------------------------------------------------------------------- probabilities
def prior_log_loss(folder: Folder) -> float:
    """Return the mean log-loss over the splits of predicting the training part's frequencies.

    NaN if the rows of the test parts, or the sizes of the classes, were not kept.
    """
    if folder.kind != "classes":
        return math.nan
    sizes = folder.sizes
    names = [str(c) for c in folder.about["classes"]]
    tests = folder.test_classes()
    if any(sum(sizes) <= sum(test.values()) for test in tests.values()):
        return math.nan  # the test parts are not of the table that the sizes are of
    losses = [_loss(sizes, [test[name] for name in names]) for test in tests.values()]
    return math.fsum(losses) / len(losses) if sizes and losses else math.nan


def _loss(sizes: Sequence[int], tested: Sequence[int]) -> float:
    trained = np.subtract(sizes, tested)
    shares = np.maximum(trained / trained.sum(), _CLIP)
    return -float(np.dot(tested, np.log(shares))) / sum(tested)


def unsure_probabilities(s: Standing, prior: float) -> bool:
    """Return whether a model's probabilities are worse than the class frequencies."""
    if prior != prior:
        return False
    return s.spread("log_loss").mean > prior + 1e-9  # False if it is not known


def _unsure(s: Standing, prior: float) -> str:
    return (
        f"The held-out probabilities of {s.label} are worse than those of always predicting the"
        f" class frequencies: log-loss (mean over the folds) {number(s.spread('log_loss').mean)}"
        f" against {number(prior)}. Its calls may be right, but do not rely on its probabilities."
    )


# ------------------------------------------------------------------- columns
def _unstable(s: Standing) -> str:
    return (
        f"Which columns {s.label} reads changes from fold to fold (stability"
        f" {number(s.summary.stability.value, 2)}): fitted to other cases it would read other"
        " columns."
    )


def _unlike(folder: Folder, s: Standing) -> list[str]:
    """Return a sentence if the refit reads far more or fewer columns than the folds' models.

    Far means outside the range over the folds, and at least two columns and a factor of 1.5 from
    their mean.
    """
    refit = folder.refit_columns.get(s.key)
    folds = [f.columns_used for f in s.fits if f.columns_used is not None]
    if refit is None or not folds or min(folds) <= refit <= max(folds):
        return []
    more, less = max(refit, s.columns.mean), min(refit, s.columns.mean)
    if more - less < 2 or more < 1.5 * less:
        return []
    span = f"{count(s.columns.mean)} on average ({count(min(folds))} to {count(max(folds))})"
    span = span if min(folds) < max(folds) else f"{count(min(folds))} each"
    return [
        f"The refit of {s.label} on all cases reads {plural(refit, 'column')}, the models of the"
        f" folds {span}: the figures here are of the folds' models, not of the refit."
    ]
