"""Validation: the figures of a fitted model, left as it is, on another cohort."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from psephos import figures as measure
from psephos._errors import PsephosError, must_be, must_be_inside
from psephos._types import Array, Floats, Indices, Json, Label, LabelsLike, NDArray, PerRow
from psephos.calibrating import fitted_map
from psephos.cautions import Given, cautions_on
from psephos.cautions.registry import OF_CASES
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.figures.estimate import codes_of_groups
from psephos.files.names import fixed, plural
from psephos.models.prototypes.mixture import mixture_of
from psephos.protocol.tables.joining import LabelMatches
from psephos.protocol.tables.roles import Classes
from psephos.recalibrating import cross_fitted
from psephos.validation.cohort import Cohort, cohort_of, reading_model
from psephos.validation.numbers import AnsweredNumbers
from psephos.validation.result import WORTH, Validation
from psephos.validation.shift import ABSENT, check_columns, familiarity, shift, usable, usable_vote
from psephos.vote import Vote
from psephos.vote.importance import SampleRows
from psephos.vote.positive import Positive, usual_positive
from psephos.vote.seen import seen, seen_words, summary_of

FEW = 10  # cases of a subgroup below which only counts are reported
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
Rows = list[dict[str, Any]]
_Scored = tuple[Floats, Floats]  # score and mass of each case


@dataclass(frozen=True)
class Answered:
    """Predictions of cases whose classes are known.

    Parameters
    ----------
    classes : list of str
    truth, predicted : ndarray of shape (n,), int
        Class indices; `predicted` is the model's own prediction, or that at a threshold.
    chances : ndarray of shape (n, K)
        Probabilities.
    positive : int
        The index of the positive one of two classes.
    groups : ndarray of shape (n,), default=None
    level : float, default=0.95
    """

    classes: list[str]
    truth: Indices
    predicted: Indices
    chances: Floats
    positive: int
    groups: Array | None = None
    level: float = 0.95

    target = ""  # a description of the true numbers, in `AnsweredNumbers`

    def row(self, i: int, again: Floats | None) -> dict[str, Json]:
        """Return truth, answer and probabilities of a case."""
        truth, predicted = self.classes[self.truth[i]], self.classes[self.predicted[i]]
        row: dict[str, Json] = {"truth": truth, "predicted": predicted}
        row |= {f"p_{c}": float(self.chances[i, k]) for k, c in enumerate(self.classes)}
        if again is not None:
            row |= {f"recalibrated_{c}": float(again[i, k]) for k, c in enumerate(self.classes)}
        return row

    def take(self, kept: NDArray[np.bool_]) -> "Answered":
        """Return some of the cases."""
        groups = None if self.groups is None else self.groups[kept]
        parts = (self.truth[kept], self.predicted[kept], self.chances[kept])
        return Answered(self.classes, *parts, self.positive, groups, self.level)

    @property
    def two(self) -> bool:
        """Return whether there are two classes."""
        return len(self.classes) == 2

    @property
    def among(self) -> tuple[Any, float]:
        """Return `groups` and `level`, the last arguments of every figure."""
        return self.groups, self.level


_Answers = Answered | AnsweredNumbers


def figures_of(cases: _Answers) -> Rows:
    """Return discrimination and calibration: rows of figure, class, value, low, high, n, method."""
    if isinstance(cases, AnsweredNumbers):
        return [_row(name, "", one) for name, one in cases.figures()]
    rows = _of_two(cases) if cases.two else _of_more(cases)
    if cases.two:
        given: tuple[Any, Any] = (cases.truth == cases.positive, cases.chances[:, cases.positive])
        kept = [cases.positive]
    else:
        given, kept = (cases.truth, cases.chances), list(range(len(cases.classes)))
    rows += [_row("Brier score", "", measure.brier(*given, *cases.among))]
    rows += [_row("log-loss", "", measure.log_loss(*given, *cases.among))]
    for k in kept:
        line = measure.calibration_line(cases.truth == k, cases.chances[:, k], *cases.among)
        name = cases.classes[k]
        rows += [_row("calibration in the large", name, line.large)]
        rows += [_row("calibration slope", name, line.slope)]
        rows += [_row("calibration intercept", name, line.intercept)]
        rows += [{**_bare("probabilities clipped", name), "value": float(line.n_clipped)}]
    return rows


def _shifted(model: VoteEstimator, cohort: Cohort) -> list[str]:
    """Return the cautions on columns whose distribution differs from that in the fit."""
    columns, baseline = model.vote_.columns, model._known_baseline()
    if baseline is None or baseline.profile is None:
        return []
    names = [model.schema_.words().columns[j] for j in columns.tolist()]
    found = Given(cohort.X[:, columns], names, quantiles=baseline.profile.quantiles)
    return list(map(str, cautions_on(found, OF_CASES)))


def worse_than_chance(figures: Rows) -> list[str]:
    """Return a caution for each area under a ROC curve, or r2, significantly worse than chance."""
    found: list[str] = []
    for row in figures:
        if row["figure"] == "r2" and (row["high"] or 0.0) < 0:
            found.append(
                f"r2 {fixed(row['value'])} (at most {fixed(row['high'])}) is worse than predicting "
                "the mean of the cohort: is its target in the units of the fit?"
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


def _of_two(cases: Answered) -> Rows:
    yes, above = cases.truth == cases.positive, cases.predicted == cases.positive
    counts, name = measure.confusion(yes, above, *cases.among), cases.classes[cases.positive]
    return [
        _row("ROC-AUC", name, measure.area(yes, cases.chances[:, cases.positive], *cases.among)),
        _row("balanced accuracy", "", counts.balanced_accuracy),
        _row("accuracy", "", counts.accuracy),
        _row("sensitivity", name, counts.sensitivity),
        _row("specificity", name, counts.specificity),
        _row("positive predictive value", name, counts.ppv),
        _row("negative predictive value", name, counts.npv),
    ]


def _of_more(cases: Answered) -> Rows:
    truth, chances = cases.truth, cases.chances
    right = truth == cases.predicted
    each = [_among(right, cases, truth == k) for k in range(len(cases.classes))]
    value = measure.hand_till(truth, chances)
    why = "no interval" if value == value else "a class has no case"
    rows = [{**_bare("mean ROC-AUC of pairs (Hand and Till)", ""), "method": why}]
    rows[0]["value"] = None if math.isnan(value) else value
    rows += [_row("balanced accuracy", "", measure.mean_of(each))]
    rows += [_row("accuracy", "", measure.share(right, *cases.among))]
    rows += [_row("sensitivity", c, one) for c, one in zip(cases.classes, each, strict=True)]
    pairs = zip(cases.classes, measure.areas(truth, chances, *cases.among), strict=True)
    return [*rows, *(_row("ROC-AUC against the rest", c, one) for c, one in pairs)]


def _among(hits: NDArray[np.bool_], cases: Answered, kept: NDArray[np.bool_]) -> measure.Estimate:
    groups = None if cases.groups is None else cases.groups[kept]
    return measure.share(hits[kept], groups, cases.level)


def _bare(figure: str, name: str) -> dict[str, Any]:
    return {
        "figure": figure, "class": name, "value": None, "low": None, "high": None, "n": None,
        "hits": None, "method": "",
    }  # fmt: skip


def _row(figure: str, name: str, one: measure.Estimate) -> dict[str, Any]:
    return {**_bare(figure, name), **one.data()}


def confusion_of(cases: _Answers) -> Rows:
    """Return counts of predictions, a row for each true class; nothing for numbers."""
    if isinstance(cases, AnsweredNumbers):
        return []
    k = len(cases.classes)
    counts = np.bincount(cases.truth * k + cases.predicted, minlength=k * k).reshape(k, k)
    rows = zip(cases.classes, counts.tolist(), strict=True)
    return [{"truth": name, **dict(zip(cases.classes, row, strict=True))} for name, row in rows]


def bins_of(cases: _Answers, n_bins: int = 10) -> Rows:
    """Return calibration tables: of the positive one of two classes, else of each class."""
    if isinstance(cases, AnsweredNumbers):
        return []
    kept = [cases.positive] if cases.two else range(len(cases.classes))
    rows: Rows = []
    for k in kept:
        yes, p = cases.truth == k, cases.chances[:, k]
        cells = measure.calibration_table(yes, p, n_bins, *cases.among)
        name = cases.classes[k]
        rows += [
            {"class": name, "from": b.low, "to": b.high, "told": b.predicted, **b.seen.data()}
            for b in cells
        ]
    return rows


def worth_of(cases: _Answers) -> Rows:
    """Return the net benefit at thresholds for two classes; nothing for more, or for numbers."""
    if isinstance(cases, AnsweredNumbers) or not cases.two:
        return []
    yes, p = cases.truth == cases.positive, cases.chances[:, cases.positive]
    return [
        dict(zip(WORTH, (one.threshold, one.model.value, one.model.low, one.model.high,
                         one.everyone.value), strict=True))
        for one in measure.net_benefit(yes, p, _THRESHOLDS, *cases.among)
    ]  # fmt: skip


def subgroups_of(cases: _Answers, by: dict[str, list[str]]) -> Rows:
    """Return counts, and figures from ten cases on, for each level of each subgrouping."""
    rows: Rows = []
    for name, levels in by.items():
        column = np.array(levels, dtype=object)
        for level in sorted(set(levels)):
            rows.append({"by": name, "level": level, **_subgroup(cases.take(column == level))})
    return rows


def _subgroup(cases: _Answers) -> dict[str, Json]:
    row: dict[str, Json] = {"n": len(cases.truth)}
    if isinstance(cases, Answered):
        right = cases.truth == cases.predicted
        row["right"] = int(right.sum())
        for k, name in enumerate(cases.classes):
            own = cases.truth == k
            row |= {f"n_{name}": int(own.sum()), f"right_{name}": int((own & right).sum())}
    for one in figures_of(cases) if len(cases.truth) >= FEW else []:
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
    """Evaluate a fitted model on another cohort; nothing is fitted again.

    Parameters
    ----------
    model : fitted VoteClassifier or VoteRegressor
        It predicts one class, or one number, for each case; ``psephos.load(path)`` reads a file.
    X : frame or array
        The cohort. Columns of a frame are found by name, in any order and among others; those that
        are absent are taken as missing, if the model can predict without them. An array has the
        columns of the model's training table, or those it reads, in that order.
    y : array of shape (n,)
        The true classes, or numbers.
    groups : array of shape (n,), default=None
        Cases that belong together (of one subject, of one clinic): intervals treat groups as
        independent, and cases of a group as dependent.
    by : dict of str to array, default=None
        Subgroups by name: figures are reported for each level, only counts under ten cases.
    classes : dict, or sequence of str 'OLD=NEW', default=None
        Maps labels of the cohort to classes of the model, where the names differ; None as a class
        leaves the cases out (`psephos.read_table`). Labels that were merged into another class in
        the fit are merged here as well.
    positive : label, default=None
        The positive one of two classes. None: if one class has a usual word for a negative finding
        (healthy, control, benign, alive, no, 0) the other one, else the rarer class of the cohort,
        or the second if they are equally frequent. The result names the class and the rule.
    threshold : float, default=None
        For two classes: a case is predicted positive if its probability is at least this, both in
        whole millionths (`psephos.figures.called`). None: the model's own predictions.
    absent : {'missing', 'silent'}, default='missing'
        Columns that the cohort does not have. 'missing': they are missing values, and their voters
        vote by the model's rule for missing values (surrogates, weights of those that were
        measured, a fixed branch). 'silent': voters that read such a column are left out.
    ids : array of shape (n,), default=None
        Names of cases; by default those of the frame's rows, else positions.
    level : float, default=0.95
        Confidence level of the intervals.
    random_state : int, default=0
        Seed of the folds in which the recalibration is cross-fitted.

    Returns
    -------
    validation : Validation

    Raises
    ------
    PsephosError
        If the model is not such a model, the cohort has none of the columns it reads, the model
        cannot predict without those that are missing (they are named), a label is missing or is
        not a class of the model, or a parameter is invalid.

    Notes
    -----
    Intervals are for cases sampled as these were; a biased choice of the cohort is not covered. The
    row of each figure names the method: ROC-AUC by DeLong et al. on the log-odds, shares by Wilson,
    balanced accuracy by MOVER, intercept and slope of calibration by Wald, Brier score and log-loss
    normal. For numbers: r2, mae, rmse, the mean error (predicted - true), intercept and slope of
    the line from predictions to the truth, and, if the model predicts a distribution, coverage,
    CRPS and pinball loss; their intervals are normal, those of r2, slope and intercept linearised.
    Columns are compared with a summary of at most 512 training rows, which the model file holds.
    Cases without an answer (see `predict`'s column ``answered``) count with the value that predict
    returns instead, such as the mean of the fit; ``about["unanswered"]`` names them, and the
    subgroup ``answered`` yes leaves them out.
    The first line warns of cases that the model was fitted or calibrated on, as far as the model
    knows them: by its training rows (up to 512, unless it was loaded from a file), or by the
    summary of columns if all cases are. If the whole interval of an area under the ROC curve is
    below .5, a caution asks whether classes are exchanged.

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
    vote = model.vote_ if absent == "missing" else usable_vote(model, cohort)
    check_columns(model, vote, cohort)
    groups, names = _grouped(cohort)
    scored, answered = _scored(vote, cohort, threshold)
    cases, counts, rule = _answers(model, vote, scored, cohort, positive, threshold, level)
    cases = replace(cases, groups=groups)
    by = cohort.subgroupings(names, answered)
    calibration, again = _recalibration(model, cases, random_state)
    near, moved = familiarity(model, cohort), shift(model, cohort)
    figures, known = figures_of(cases), seen_words(seen(model, cohort.X, cohort.codes))
    about = {
        "cautions": [
            *([known] if known else []),
            *_shifted(model, cohort),
            *worse_than_chance(figures),
        ],
        "seen": bool(known),
        "model": type(model).__name__,
        "classes": cases.classes,
        "class_counts": counts,
        "target": cases.target,
        "renamed": cohort.renamed,
        "positive": cases.classes[cases.positive] if cases.two else None,
        "positive_rule": rule,
        "threshold": threshold,
        "level": level,
        "n_cases": len(cases.truth),
        "unanswered": [i for i, one in zip(cohort.ids, answered, strict=True) if one == "no"],
        "n_groups": len(set(names)) or None,
        "notes": [*cohort.notes, *_repeated(cohort)],
        "random_state": random_state,
    }
    return Validation(
        about=about,
        figures=figures,
        confusion=confusion_of(cases),
        calibration=bins_of(cases),
        net_benefit=worth_of(cases),
        subgroups=subgroups_of(cases, by),
        speaking=usable(model, cohort, absent),
        shift=moved,
        familiarity=near,
        recalibration=calibration,
        predictions=_predictions(cohort, cases, by, again, near, moved),
        model=model,
        summary=summary_of(model, SampleRows.of(model.vote_, cohort.X)),
    )


def _scored(vote: Vote, cohort: Cohort, threshold: float | None) -> tuple[_Scored, list[str]]:
    """Return score and mass of each case, and yes or no: whether it has an answer."""
    scored = vote.score_and_mass(cohort.X)
    decided = ("", "tie") if threshold is not None else ("",)  # a threshold decides ties
    return scored, ["yes" if why in decided else "no" for why in vote.unanswered(cohort.X, *scored)]


def _answers(
    model: Any, vote: Vote, scored: _Scored, cohort: Cohort,
    positive: Label | None, threshold: float | None, level: float,
) -> tuple[_Answers, list[int], str]:  # fmt: skip
    """Return the predictions; of a classifier also class counts, and the rule for `positive`."""
    if model.vote_.target.n_classes:
        found = _answered(model, vote, scored, cohort, positive, threshold, level)
        counts = np.bincount(found.truth, minlength=len(found.classes)).tolist()
        return found, counts, _positive(positive, model.classes_.tolist(), cohort).rule
    given = {"positive": positive, "threshold": threshold}
    for name in [name for name, value in given.items() if value is not None]:
        raise PsephosError(
            f"{name} (--{name}) needs a classifier, and {type(model).__name__} predicts numbers: "
            "leave it out."
        )
    stated = mixture_of(vote, cohort.X) if vote.has_densities else None
    return AnsweredNumbers(cohort.codes, scored[0][:, 0], stated, level=level), [], ""


def _repeated(cohort: Cohort) -> list[str]:
    """Return a note if cases have the same name and no groups are given."""
    n, n_names = len(cohort.ids), len(set(cohort.ids))
    if n == n_names or cohort.groups is not None:
        return []
    return [
        f"{n} cases have {plural(n_names, 'name')}: intervals count them as independent. If a name "
        "is a subject's, give it as --group (groups=) as well."
    ]


def _grouped(cohort: Cohort) -> tuple[Indices | None, list[str]]:
    """Return the group of each case as a number, and its name; None and [] without groups."""
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
    scored: _Scored,
    cohort: Cohort,
    positive: Label | None,
    threshold: float | None,
    level: float,
) -> Answered:
    classes = model.classes_.tolist()
    score, mass = scored
    chances = vote.readout.probabilities(score, vote.target, mass)
    predicted = vote.target.chosen(vote.readout.decided(score, vote.target, mass))
    place = _positive(positive, classes, cohort).code
    if threshold is not None:
        if len(classes) != 2:
            raise PsephosError("a threshold is for two classes: leave it out.")
        must_be_inside("threshold", threshold)
        predicted = np.where(measure.called(chances[:, place], threshold), place, 1 - place)
    names = [str(one) for one in classes]
    return Answered(names, cohort.codes, predicted, chances, place, level=level)


def _positive(positive: Label | None, classes: Sequence[Label], cohort: Cohort) -> Positive:
    if positive is None:
        sizes = np.bincount(cohort.codes, minlength=len(classes)).tolist()
        return usual_positive([str(one) for one in classes], sizes)
    if len(classes) != 2:
        raise PsephosError("positive is for two classes: leave it out.")
    place = LabelMatches(classes).place(positive)
    if place is None:
        raise PsephosError(
            f"positive must be a class of the model, one of {', '.join(map(repr, classes))}; got "
            f"{positive!r}."
        )
    return Positive(place, "it was asked for")


def _recalibration(
    model: VoteEstimator, cases: _Answers, seed: int
) -> tuple[dict[str, Any], Floats | None]:
    """Return the recalibration by the cohort (a sigmoid, or a line), and cross-fitted predictions.

    The map is fitted in folds of the cohort (whole groups), so its figures are of cases that it
    was not fitted on. It is not part of the model that is validated.
    """
    groups = np.arange(len(cases.truth)) if cases.groups is None else cases.groups
    if isinstance(cases, AnsweredNumbers):
        found, again = cases.line(groups, seed)
        rows = [] if again is None else figures_of(replace(cases, predicted=again, stated=None))
        return {**found, "figures": rows}, again
    try:
        chances, n_folds = cross_fitted(cases.chances, cases.truth, groups, seed=seed)
    except PsephosError as error:
        return {"method": None, "why": str(error), "figures": []}, None
    rows = figures_of(replace(cases, chances=chances, predicted=chances.argmax(axis=1)))
    kept = [row for row in rows if row["figure"].startswith(("Brier", "log-loss", "calibration"))]
    truth = np.eye(len(cases.classes))[cases.truth]
    whole: Any = fitted_map(cases.chances, truth, np.ones(len(truth)), "sigmoid")
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
    cases: _Answers,
    by: Mapping[str, list[str]],
    again: Floats | None,
    near: dict[str, Any] | None,
    moved: dict[str, Any],
) -> Rows:
    rows: Rows = []
    for i, name in enumerate(cohort.ids):
        row: dict[str, Json] = {"id": name, **cases.row(i, again)}
        row |= {f"by_{name}": levels[i] for name, levels in by.items()}
        if near is not None:
            row["familiarity"] = near["cases"]["familiarity"][i]
            row["share_farther"] = near["cases"]["share_farther"][i]
        if moved["trained_rows"] is not None:
            row["columns_outside"] = moved["outside"][i]
        rows.append(row)
    return rows
