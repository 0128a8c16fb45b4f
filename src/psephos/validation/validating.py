"""Validation: what a fitted model, left as it is, is worth on another cohort."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from psephos._errors import PsephosError, must_be, must_be_inside
from psephos._types import Array, Floats, Indices, Json, Label, LabelsLike, NDArray, PerRow
from psephos.calibrating import fitted_map
from psephos.cautions import Given, cautions_on
from psephos.cautions.registry import OF_CASES
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.figures import (
    Estimate,
    area,
    areas,
    brier,
    calibration_line,
    calibration_table,
    called,
    confusion,
    hand_till,
    log_loss,
    mean_of,
    net_benefit,
    share,
)
from psephos.figures.estimate import codes_of_groups
from psephos.files.names import fixed, plural
from psephos.models.prototypes.mixture import mixture_of
from psephos.protocol.tables.joining import LabelMatches
from psephos.protocol.tables.roles import Classes
from psephos.recalibrating import cross_fitted
from psephos.validation.cohort import Cohort, cohort_of, reading_model
from psephos.validation.numbers import AnsweredNumbers
from psephos.validation.result import WORTH, Validation
from psephos.validation.shift import ABSENT, familiarity, refuse_silence, shift, silenced, speaking
from psephos.vote import Vote
from psephos.vote.importance import SampleRows
from psephos.vote.positive import Positive, usual_positive
from psephos.vote.seen import seen, seen_words, summary_of

FEW = 10  # cases of a subgroup below which counts alone are told
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Answered:
    """Answers to cases of known class.

    Parameters
    ----------
    classes : list of str
    truth, said : ndarray of shape (n,), int
        Places among the classes; `said` is the model's own answer, or that at a threshold.
    chances : ndarray of shape (n, K)
    positive : int
        Of two classes the place of the one that is looked for.
    groups : ndarray of shape (n,), default=None
    level : float, default=0.95
    """

    classes: list[str]
    truth: Indices
    said: Indices
    chances: Floats
    positive: int
    groups: Array | None = None
    level: float = 0.95

    target = ""  # of numbers what they are, in words

    def row(self, i: int, again: Floats | None) -> dict[str, Json]:
        """Return truth, answer and probabilities of a case."""
        row: dict[str, Json] = {
            "truth": self.classes[self.truth[i]],
            "predicted": self.classes[self.said[i]],
        }
        row |= {f"p_{c}": float(self.chances[i, k]) for k, c in enumerate(self.classes)}
        if again is not None:
            row |= {f"recalibrated_{c}": float(again[i, k]) for k, c in enumerate(self.classes)}
        return row

    def take(self, kept: NDArray[np.bool_]) -> "Answered":
        """Return some of the cases."""
        groups = None if self.groups is None else self.groups[kept]
        parts = (self.truth[kept], self.said[kept], self.chances[kept])
        return Answered(self.classes, *parts, self.positive, groups, self.level)

    @property
    def two(self) -> bool:
        """Return whether there are two classes."""
        return len(self.classes) == 2

    @property
    def among(self) -> tuple[Any, float]:
        """Return the last parameters of every figure."""
        return self.groups, self.level


_Answers = Answered | AnsweredNumbers


def figures_of(told: _Answers) -> Rows:
    """Return discrimination and calibration: rows of figure, class, value, low, high, n, method."""
    if isinstance(told, AnsweredNumbers):
        return [_row(name, "", one) for name, one in told.figures()]
    rows = _of_two(told) if told.two else _of_more(told)
    if told.two:
        given: tuple[Any, Any] = (told.truth == told.positive, told.chances[:, told.positive])
        kept = [told.positive]
    else:
        given, kept = (told.truth, told.chances), list(range(len(told.classes)))
    rows += [_row("Brier score", "", brier(*given, *told.among))]
    rows += [_row("log-loss", "", log_loss(*given, *told.among))]
    for k in kept:
        line = calibration_line(told.truth == k, told.chances[:, k], *told.among)
        name = told.classes[k]
        rows += [_row("calibration in the large", name, line.large)]
        rows += [_row("calibration slope", name, line.slope)]
        rows += [_row("calibration intercept", name, line.intercept)]
        rows += [{**_bare("probabilities clipped", name), "value": float(line.n_clipped)}]
    return rows


def _shifted(model: VoteEstimator, cohort: Cohort) -> list[str]:
    """Return the cautions on columns that as a whole are not as they were in the fit."""
    columns, baseline = model.vote_.columns, model._known_baseline()
    if baseline is None or baseline.profile is None:
        return []
    names = [model.schema_.words().columns[j] for j in columns.tolist()]
    found = Given(cohort.X[:, columns], names, quantiles=baseline.profile.quantiles)
    return list(map(str, cautions_on(found, OF_CASES)))


def worse_than_chance(figures: Rows) -> list[str]:
    """Return a question for each area under a ROC curve, or r2, whose interval is below chance."""
    found: list[str] = []
    for row in figures:
        if row["figure"] == "r2" and (row["high"] or 0.0) < 0:
            found.append(
                f"r2 {fixed(row['value'])} (at most {fixed(row['high'])}) is worse than the mean "
                "of the cohort would be: is its target in the units of the fit?"
            )
        separated = row["value"] == 0 and "separated" in row["method"]
        if "ROC-AUC" in row["figure"] and (separated or (row["high"] or 1.0) < 0.5):
            name = "AUC" if row["figure"] == "ROC-AUC" else f"{row['figure']} of {row['class']}"
            value, low, high = (fixed(row[key] or 0.0) for key in ("value", "low", "high"))
            shown = "the classes are separated" if separated else f"{low} to {high}"
            found.append(
                f"{name} {value} ({shown}) is significantly worse than chance: are the classes "
                "exchanged? --classes OLD=NEW (classes=) maps labels to classes."
            )
    return found


def _of_two(told: Answered) -> Rows:
    yes, called = told.truth == told.positive, told.said == told.positive
    counts, name = confusion(yes, called, *told.among), told.classes[told.positive]
    return [
        _row("ROC-AUC", name, area(yes, told.chances[:, told.positive], *told.among)),
        _row("balanced accuracy", "", counts.balanced_accuracy),
        _row("accuracy", "", counts.accuracy),
        _row("sensitivity", name, counts.sensitivity),
        _row("specificity", name, counts.specificity),
        _row("positive predictive value", name, counts.ppv),
        _row("negative predictive value", name, counts.npv),
    ]


def _of_more(told: Answered) -> Rows:
    truth, chances = told.truth, told.chances
    right = truth == told.said
    each = [_among(right, told, truth == k) for k in range(len(told.classes))]
    value = hand_till(truth, chances)
    why = "no interval" if value == value else "a class has no case"
    rows = [{**_bare("mean ROC-AUC of pairs (Hand and Till)", ""), "method": why}]
    rows[0]["value"] = None if math.isnan(value) else value
    rows += [_row("balanced accuracy", "", mean_of(each))]
    rows += [_row("accuracy", "", share(right, *told.among))]
    rows += [_row("sensitivity", c, one) for c, one in zip(told.classes, each, strict=True)]
    found = areas(truth, chances, *told.among)
    rows += [
        _row("ROC-AUC against the rest", c, one) for c, one in zip(told.classes, found, strict=True)
    ]
    return rows


def _among(hits: NDArray[np.bool_], told: Answered, kept: NDArray[np.bool_]) -> Estimate:
    groups = None if told.groups is None else told.groups[kept]
    return share(hits[kept], groups, told.level)


def _bare(figure: str, name: str) -> dict[str, Any]:
    return {
        "figure": figure, "class": name, "value": None, "low": None, "high": None, "n": None,
        "hits": None, "method": "",
    }  # fmt: skip


def _row(figure: str, name: str, one: Estimate) -> dict[str, Any]:
    return {**_bare(figure, name), **one.data()}


def confusion_of(told: _Answers) -> Rows:
    """Return counts of answers by true class, a row a class; none of numbers."""
    if isinstance(told, AnsweredNumbers):
        return []
    k = len(told.classes)
    counts = np.bincount(told.truth * k + told.said, minlength=k * k).reshape(k, k).tolist()
    return [
        {"truth": name, **dict(zip(told.classes, row, strict=True))}
        for name, row in zip(told.classes, counts, strict=True)
    ]


def bins_of(told: _Answers, n_bins: int = 10) -> Rows:
    """Return calibration tables: of two classes that of the positive one, else one a class."""
    if isinstance(told, AnsweredNumbers):
        return []
    kept = [told.positive] if told.two else range(len(told.classes))
    rows: Rows = []
    for k in kept:
        cells = calibration_table(told.truth == k, told.chances[:, k], n_bins, *told.among)
        rows += [
            {"class": told.classes[k], "from": b.low, "to": b.high, "told": b.told, **b.seen.data()}
            for b in cells
        ]
    return rows


def worth_of(told: _Answers) -> Rows:
    """Return net benefit at thresholds, of two classes; none of more."""
    if isinstance(told, AnsweredNumbers) or not told.two:
        return []
    yes, p = told.truth == told.positive, told.chances[:, told.positive]
    return [
        dict(zip(WORTH, (one.threshold, one.model.value, one.model.low, one.model.high,
                         one.everyone.value), strict=True))
        for one in net_benefit(yes, p, _THRESHOLDS, *told.among)
    ]  # fmt: skip


def subgroups_of(told: _Answers, by: dict[str, list[str]]) -> Rows:
    """Return counts, and from ten cases on figures, for each level of each subgrouping."""
    rows: Rows = []
    for name, levels in by.items():
        column = np.array(levels, dtype=object)
        for level in sorted(set(levels)):
            rows.append({"by": name, "level": level, **_subgroup(told.take(column == level))})
    return rows


def _subgroup(told: _Answers) -> dict[str, Json]:
    row: dict[str, Json] = {"n": len(told.truth)}
    if isinstance(told, Answered):
        right = told.truth == told.said
        row["right"] = int(right.sum())
        for k, name in enumerate(told.classes):
            own = told.truth == k
            row |= {f"n_{name}": int(own.sum()), f"right_{name}": int((own & right).sum())}
    for one in figures_of(told) if len(told.truth) >= FEW else []:
        if one["figure"] in _OF_SUBGROUPS:
            word = one["figure"].replace(" ", "_").replace("-", "_").lower()
            row |= {word: one["value"], f"{word}_low": one["low"], f"{word}_high": one["high"]}
    return row


_OF_SUBGROUPS = ("accuracy", "balanced accuracy", "ROC-AUC", "mae", "mean error", "r2")


def validate(
    model: VoteEstimator,
    X: Any,
    y: LabelsLike,
    *,
    groups: PerRow = None,
    by: Mapping[str, Any] | None = None,
    classes: Classes | None = None,
    positive: Label | None = None,
    threshold: float | None = None,
    absent: str = "missing",
    ids: LabelsLike | None = None,
    level: float = 0.95,
    random_state: int = 0,
) -> Validation:
    """Judge a fitted model on another cohort; nothing is fitted again.

    Parameters
    ----------
    model : fitted VoteClassifier or VoteRegressor
        Of one class, or one number, a case; of a file: ``psephos.load(path)``.
    X : frame or array
        The cohort. Columns of a frame are found by name, in any order and among others; those that
        are absent are taken as missing, if the model answers without them. An array has the columns
        of the model's own table, or those it reads, in that order.
    y : array of shape (n,)
        The true classes, or numbers.
    groups : array of shape (n,), default=None
        Cases that belong together (of one subject, of one clinic): intervals count groups as
        independent, and cases as not.
    by : dict of str to array, default=None
        Subgroups by name: accuracy is told for each level, under ten cases as counts alone.
    classes : dict, or sequence of str 'OLD=NEW', default=None
        From labels of the cohort to the model's, where they are named otherwise; None leaves them
        out (`psephos.read_table`). What the model was fitted on as another class is that class.
    positive : label, default=None
        Of two classes the one that is looked for. None: where one bears a usual word for nothing
        found (healthy, control, benign, alive, no, 0) the other one, else the rarer of the cohort,
        of equals the second: as on the page, and it is said.
    threshold : float, default=None
        Of two classes: a case is called positive where its probability is at least this, both in
        whole millionths (`psephos.figures.called`). None: the model's own answers.
    absent : {'missing', 'silent'}, default='missing'
        What columns that the cohort lacks throughout are: missing, so that their voters answer by
        the model's rule for missing values (surrogates, weights of those that were measured, a
        fixed branch), or voters that lack a column of their own are left out of the vote.
    ids : array of shape (n,), default=None
        Names of cases; by default those of the frame's rows, else positions.
    level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Of the folds in which the recalibration is judged.

    Returns
    -------
    validation : Validation

    Raises
    ------
    PsephosError
        If the model is no such classifier, the cohort has none of the columns it reads, the model
        cannot answer without those that are missing (they are named), a label is missing or no
        class of the model, or a parameter is none.

    Notes
    -----
    Intervals are about cases drawn like these: they say nothing of how the cohort was chosen. What
    each is, is in its row: ROC-AUC by DeLong et al. on the log-odds (cases rank by their
    probability in whole millionths, as thresholds divide them), shares by Wilson, balanced
    accuracy by MOVER, intercept and slope of calibration by Wald, Brier score and log-loss normal.
    Of numbers: r2, mae, rmse, the mean error (predicted - true), intercept and slope of the line
    from predictions to the truth, and where the model predicts a distribution coverage, CRPS and
    pinball loss; their intervals are normal, those of r2, slope and intercept linearised.
    Columns are compared with a summary of at most 512 training rows, which the model file holds.
    Cases without an answer (see `predict`'s column ``answered``) are measured by what stands for
    one, such as the mean of the fit; ``about["unanswered"]`` names them, and the subgroup
    ``answered`` yes is without them.
    The first line says that cases are those that the model was fitted on, or its probabilities were
    calibrated on, as far as it knows: by training rows (up to 512, of a model that was not loaded),
    by the summary of columns if all cases are. An area under the ROC curve below .5 with all of its
    interval asks whether classes are exchanged.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import CARTClassifier, validate
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier().fit(X[:300], y[:300])
    >>> found = validate(model, X[300:], y[300:])
    >>> found.figure("ROC-AUC")["value"] > 0.9
    True
    """
    reading = reading_model(model)
    width = np.ndim(X) == 2 and not hasattr(X, "columns") and np.shape(X)[1]
    if width == model.schema_.n_features and reading.schema_.n_features != width:
        columns = model.vote_.columns if len(model.vote_.columns) else np.array([0])
        X = X[:, columns]
    cohort = cohort_of(reading, X, y, groups=groups, by=by, classes=classes, ids=ids)
    return validated(
        reading,
        cohort,
        positive=positive,
        threshold=threshold,
        absent=absent,
        level=level,
        random_state=random_state,
    )


def validated(
    model: Any,
    cohort: Cohort,
    *,
    positive: Label | None = None,
    threshold: float | None = None,
    absent: str = "missing",
    level: float = 0.95,
    random_state: int = 0,
) -> Validation:
    """Return the validation of a reduced model on a cohort that was read for it."""
    must_be("absent", absent, ABSENT)
    vote = model.vote_ if absent == "missing" else silenced(model, cohort)
    refuse_silence(model, vote, cohort)
    groups, names = _grouped(cohort)
    scored, answered = _scored(vote, cohort, threshold)
    of = (positive, threshold, level)
    answers, counts, rule = _answers(model, vote, scored, cohort, *of)
    told = replace(answers, groups=groups)
    by = cohort.subgroupings(names, answered)
    calibration, again = _recalibration(model, told, random_state)
    near, moved = familiarity(model, cohort), shift(model, cohort)
    figures, known = figures_of(told), seen_words(seen(model, cohort.X, cohort.codes))
    about = {
        "cautions": [
            *([known] if known else []),
            *_shifted(model, cohort),
            *worse_than_chance(figures),
        ],
        "seen": bool(known),
        "model": type(model).__name__,
        "classes": told.classes,
        "class_counts": counts,
        "target": told.target,
        "renamed": cohort.renamed,
        "positive": told.classes[told.positive] if told.two else None,
        "positive_rule": rule,
        "threshold": threshold,
        "level": level,
        "n_cases": len(told.truth),
        "unanswered": [i for i, one in zip(cohort.ids, answered, strict=True) if one == "no"],
        "n_groups": len(set(names)) or None,
        "notes": [*cohort.notes, *_repeated(cohort)],
        "random_state": random_state,
    }
    return Validation(
        about=about,
        figures=figures,
        confusion=confusion_of(told),
        calibration=bins_of(told),
        net_benefit=worth_of(told),
        subgroups=subgroups_of(told, by),
        speaking=speaking(model, cohort, absent),
        shift=moved,
        familiarity=near,
        recalibration=calibration,
        predictions=_predictions(cohort, told, by, again, near, moved),
        model=model,
        summary=summary_of(model, SampleRows.of(model.vote_, cohort.X)),
    )


def _scored(
    vote: Vote, cohort: Cohort, threshold: float | None
) -> tuple[tuple[Floats, Floats], list[str]]:
    """Return score and mass of each case, and whether it has an answer: yes or no."""
    scored = vote.score_and_mass(cohort.X)
    decided = ("", "tie") if threshold is not None else ("",)  # a threshold decides ties
    whys = vote.unanswered(cohort.X, *scored)
    return scored, ["yes" if why in decided else "no" for why in whys]


def _answers(
    model: Any, vote: Vote, scored: tuple[Floats, Floats], cohort: Cohort,
    positive: Label | None, threshold: float | None, level: float,
) -> tuple[_Answers, list[int], str]:  # fmt: skip
    """Return the answers, and of classes how many cases each has and why one is positive."""
    if model.vote_.target.n_classes:
        found = _answered(model, vote, scored, cohort, positive, threshold, level)
        counts = np.bincount(found.truth, minlength=len(found.classes)).tolist()
        return found, counts, _positive(positive, model.classes_.tolist(), cohort).rule
    given = {"positive": positive, "threshold": threshold}
    for name in [name for name, value in given.items() if value is not None]:
        raise PsephosError(
            f"{name} (--{name}) is of classes, and {type(model).__name__} predicts numbers: leave "
            "it out."
        )
    stated = mixture_of(vote, cohort.X) if vote.has_densities else None
    return AnsweredNumbers(cohort.codes, scored[0][:, 0], stated, level=level), [], ""


def _repeated(cohort: Cohort) -> list[str]:
    """Return that cases have the same name, if they do and no groups are told."""
    n, n_names = len(cohort.ids), len(set(cohort.ids))
    if n == n_names or cohort.groups is not None:
        return []
    return [
        f"{n} cases have {plural(n_names, 'name')}: intervals count them as independent. If a name "
        "is a subject's, give it as --group (groups=) as well."
    ]


def _grouped(cohort: Cohort) -> tuple[Indices | None, list[str]]:
    """Return the group of each case as a number, and its name; none if there are no groups."""
    if cohort.groups is None:
        return None, []
    n = len(cohort.codes)
    codes = codes_of_groups(cohort.groups, n)
    codes = np.arange(n) if codes is None else codes
    each = dict(zip(codes.tolist(), cohort.groups.tolist(), strict=True))
    alike = len({str(one) for one in each.values()}) < len(each)  # 1 and '1'
    return codes, [repr(each[k]) if alike else str(each[k]) for k in codes.tolist()]


def _answered(
    model: Any,
    vote: Any,
    scored: tuple[Floats, Floats],
    cohort: Cohort,
    positive: Label | None,
    threshold: float | None,
    level: float,
) -> Answered:
    classes = model.classes_.tolist()
    score, mass = scored
    chances = vote.readout.probabilities(score, vote.target, mass)
    said = vote.target.chosen(vote.readout.decided(score, vote.target, mass))
    place = _positive(positive, classes, cohort).code
    if threshold is not None:
        if len(classes) != 2:
            raise PsephosError("a threshold is for two classes: leave it out.")
        must_be_inside("threshold", threshold)
        said = np.where(called(chances[:, place], threshold), place, 1 - place)
    names = [str(one) for one in classes]
    return Answered(names, cohort.codes, said, chances, place, level=level)


def _positive(positive: Label | None, classes: Sequence[Label], cohort: Cohort) -> Positive:
    if positive is None:
        sizes = np.bincount(cohort.codes, minlength=len(classes)).tolist()
        return usual_positive([str(one) for one in classes], sizes)
    if len(classes) != 2:
        raise PsephosError("positive is for two classes: leave it out.")
    place = LabelMatches(classes).place(positive)
    if place is None:
        raise PsephosError(
            f"positive is {positive!r}, which is no class of the model: it has "
            f"{', '.join(map(repr, classes))}."
        )
    return Positive(place, "it was asked for")


def _recalibration(
    model: VoteEstimator, told: _Answers, seed: int
) -> tuple[dict[str, Any], Floats | None]:
    """Return what a sigmoid of the cohort's own would change, and its cross-fitted probabilities.

    The map is fitted in folds of the cohort (whole groups), so that its figures are of cases it
    was not fitted on. It is no part of the model that is validated.
    """
    groups = np.arange(len(told.truth)) if told.groups is None else told.groups
    if isinstance(told, AnsweredNumbers):
        found, again = told.line(groups, seed)
        rows = [] if again is None else figures_of(replace(told, predicted=again, stated=None))
        return {**found, "figures": rows}, again
    try:
        chances, n_folds = cross_fitted(told.chances, told.truth, groups, seed=seed)
    except PsephosError as error:
        return {"method": None, "why": str(error), "figures": []}, None
    rows = figures_of(replace(told, chances=chances, said=chances.argmax(axis=1)))
    kept = [row for row in rows if row["figure"].startswith(("Brier", "log-loss", "calibration"))]
    truth = np.eye(len(told.classes))[told.truth]
    whole: Any = fitted_map(told.chances, truth, np.ones(len(truth)), "sigmoid")
    found = {
        "method": "sigmoid",
        "why": "",
        "n_folds": n_folds,
        "slope": whole.slope.tolist(),
        "offset": whole.offset.tolist(),
        "least": whole.least,
        "can_be_saved": model.vote_.readout.calibration is None,
        "figures": kept,
    }
    return found, chances


def _predictions(
    cohort: Cohort,
    told: _Answers,
    by: Mapping[str, list[str]],
    again: Floats | None,
    near: dict[str, Any] | None,
    moved: dict[str, Any],
) -> Rows:
    rows: Rows = []
    for i, name in enumerate(cohort.ids):
        row: dict[str, Json] = {"id": name, **told.row(i, again)}
        row |= {f"by_{name}": levels[i] for name, levels in by.items()}
        if near is not None:
            row["familiarity"] = near["cases"]["familiarity"][i]
            row["share_farther"] = near["cases"]["share_farther"][i]
        if moved["trained_rows"] is not None:
            row["columns_outside"] = moved["outside"][i]
        rows.append(row)
    return rows
