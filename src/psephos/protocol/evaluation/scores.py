"""Measures of predictions: one table for results, terminal and page."""

# pyright: reportMissingTypeStubs=false

import inspect
import math
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from scipy.stats import rankdata
from sklearn import metrics as _metrics

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, Label, NDArray, Values
from psephos.figures.confusion import balanced_accuracy, called, hand_till, levelled
from psephos.files.names import fixed, number
from psephos.protocol.evaluation import answers as predicted

_CLIP = 1e-15
_ROUNDING = 1e-5  # some models predict in float32
_sklearn: Any = _metrics  # its type stubs are incomplete


class ClassAnswers(NamedTuple):
    """A model's predictions for some rows."""

    codes: Indices  # (n,), class indices
    proba: Floats  # (n, K), which also rank the rows; 0 for classes absent from its training part
    positive: int = 1  # the positive one of two classes
    threshold: float | None = None  # on the probability of that class, if one was chosen


def answers_of(model: Any, X: Values, n_classes: int) -> ClassAnswers:
    """Return the predictions of a model fitted on class codes.

    Probabilities are the model's own, rounded to twelve digits (`levelled`), so that the recorded
    ones have the same ties. If it has none (SVM), they are a monotone link of its decision values
    d: 1 / (1 + exp(-d)), or softmax over the classes; they are not calibrated, and matter only for
    the log-loss. If it has neither, the predicted class has probability 1.
    """
    seen = np.asarray(model.classes_).astype(np.intp)
    if hasattr(model, "predict_proba"):
        inside = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif hasattr(model, "decision_function"):
        inside = _linked(np.asarray(model.decision_function(X), dtype=np.float64))
    else:
        inside = (codes_of(model, X, n_classes)[:, None] == seen).astype(np.float64)
    if inside.shape != (X.shape[0], len(seen)):
        raise PsephosError(
            f"the model predicts probabilities of shape {inside.shape} for {X.shape[0]} rows "
            f"and {len(seen)} classes."
        )
    inside = _checked(inside)
    proba = np.zeros((X.shape[0], n_classes))
    proba[:, seen] = levelled(inside)
    return ClassAnswers(codes_of(model, X, n_classes), proba)


def codes_of(model: Any, X: Values, n_classes: int) -> Indices:
    """Return the classes that a model fitted on class codes predicts."""
    codes = np.asarray(model.predict(X))
    try:
        known = np.isin(codes, np.arange(n_classes))
    except TypeError:
        known = np.zeros(len(codes), dtype=bool)
    if codes.shape != (X.shape[0],) or not known.all():
        raise PsephosError(
            f"the model must predict class codes; it predicts something else in "
            f"{int(np.count_nonzero(~known))} of {X.shape[0]} rows."
        )
    return codes.astype(np.intp)


def _checked(proba: Floats) -> Floats:
    """Return probabilities clipped to [0, 1]; raise PsephosError if more than rounding is wrong."""
    gone = np.isnan(proba).any(axis=1)
    outside = ((proba < -_ROUNDING) | (proba > 1 + _ROUNDING)).any(axis=1)
    # sums of float32 values lose more digits; this detects scores that are not probabilities
    unequal = np.abs(proba.sum(axis=1) - 1) > 1e-3
    for wrong, words in (
        (gone, "NaN as a probability"),
        (outside, "probabilities outside [0, 1]"),
        (unequal, "probabilities that do not sum to 1"),
    ):
        if n := int(wrong.sum()):
            raise PsephosError(f"the model predicts {words} in {n} of {len(proba)} rows.")
    return np.clip(proba, 0.0, 1.0)


def _linked(decision: Floats) -> Floats:
    if decision.ndim == 1:
        decision = np.column_stack([np.zeros_like(decision), decision])
    return np.asarray(softmax(decision, axis=1))


def measures(answers: ClassAnswers, truth: Indices) -> dict[str, float | None]:
    """Return the metrics of one class per row by name; None where not defined.

    roc_auc is the probability that a row of the class ranks above a row of another class, ties
    counting half: for two classes that of the second class, for more the unweighted mean over
    classes of one against the rest ('ovr', macro); None if a class is absent. log_loss is the mean
    of -log p(true class), p clipped to [1e-15, 1].
    """
    return {one.name: one.measured(answers, truth) for one in TABLES["classes"]}


# ---------------------------------------------------------------------- measures by choice
_OfClass = Callable[[NDArray[np.bool_], ClassAnswers, int], float | None]


def _by_class(measure: _OfClass) -> Callable[[ClassAnswers, Indices], float | None]:
    """Return a measure of the positive class; for several classes its mean over them (macro).

    None if no row or every row is of a class.
    """

    def measured(answers: ClassAnswers, truth: Indices) -> float | None:
        k = answers.proba.shape[1]
        of = [truth == one for one in ([answers.positive] if k == 2 else range(k))]
        if np.isnan(answers.proba).any() or not all(one.any() and not one.all() for one in of):
            return None
        codes = [answers.positive] if k == 2 else range(k)
        each = [measure(yes, answers, code) for yes, code in zip(of, codes, strict=True)]
        return None if None in each else float(np.mean(np.array(each, dtype=np.float64)))

    return measured


def _class_precision(yes: NDArray[np.bool_], answers: ClassAnswers, code: int) -> float:
    return float(_sklearn.average_precision_score(yes, levelled(answers.proba[:, code])))


def _sensitivity_at(specificity: float) -> _OfClass:
    """Return the greatest sensitivity of a threshold with a specificity of at least this."""

    def measured(yes: NDArray[np.bool_], answers: ClassAnswers, code: int) -> float:
        ranked = levelled(answers.proba[:, code])
        alarms, found, _ = _sklearn.roc_curve(yes, ranked, drop_intermediate=False)
        return float(found[alarms <= 1 - specificity + 1e-9].max())

    return measured


def _f1(answers: ClassAnswers, truth: Indices) -> float | None:
    """Return F1 of the positive class; for several classes the mean over those that occur."""
    k = answers.proba.shape[1]
    both = np.bincount(truth[answers.codes == truth], minlength=k)
    either = np.bincount(truth, minlength=k) + np.bincount(answers.codes, minlength=k)
    of = np.array([answers.positive]) if k == 2 else np.flatnonzero(either)
    return float(np.mean(2 * both[of] / either[of])) if either[of].all() else None


def _brier(answers: ClassAnswers, truth: Indices) -> float:
    """Return the mean squared error of probabilities; for several classes summed over them."""
    off = answers.proba - np.eye(answers.proba.shape[1])[truth]
    return float((off**2).sum(axis=1).mean()) / (2 if off.shape[1] == 2 else 1)


def _hand_till(answers: ClassAnswers, truth: Indices) -> float | None:
    """Return the mean AUC over pairs of classes (Hand and Till 2001)."""
    k = answers.proba.shape[1]
    if k == 2 or len(np.unique(truth)) < k:
        return _roc_auc(answers, truth)
    return hand_till(truth, answers.proba)


def positives(answers: ClassAnswers) -> NDArray[np.bool_]:
    """Return a mask of rows predicted positive: at the threshold, if one was chosen."""
    if answers.threshold is None:
        return answers.codes == answers.positive
    return called(answers.proba[:, answers.positive], answers.threshold)


def cost_metric(missed: float) -> "ResultMetric":
    """Return the measure of the mean cost per row: `missed` for a miss, 1 for a false alarm."""

    def measured(answers: ClassAnswers, truth: Indices) -> float:
        yes, called_so = truth == answers.positive, positives(answers)
        return float((missed * (yes & ~called_so) + (~yes & called_so)).mean())

    return ResultMetric(
        "cost", "cost per case", measured, True, True, True, greatest=math.inf, ranks=True
    )


def missed_cost(metric: str | None) -> float | None:
    """Return the cost of a missed case if the measure of a protocol is 'cost@5', else None."""
    name, _, missed = (metric or "").partition("cost@")
    return float(missed) if missed and not name else None


def label_measures(answers: predicted.LabelAnswers, truth: Array) -> dict[str, float | None]:
    """Return the metrics of several labels per row by name; None where not defined."""
    found = {one.name: one.measured(answers, truth) for one in TABLES["labels"]}
    return {name: None if value != value else value for name, value in found.items()}


def _accuracy(answers: ClassAnswers, truth: Indices) -> float:
    return int(np.count_nonzero(answers.codes == truth)) / len(truth)


def _log_loss(answers: ClassAnswers, truth: Indices) -> float:
    of_truth: Floats = np.clip(answers.proba[np.arange(len(truth)), truth], _CLIP, 1.0)
    return -math.fsum(math.log(p) for p in of_truth.tolist()) / len(of_truth)


def _roc_auc(answers: ClassAnswers, truth: Indices) -> float | None:
    proba, n_classes = answers.proba, answers.proba.shape[1]
    counts = np.bincount(truth, minlength=n_classes)
    if (counts == 0).any() or np.isnan(proba).any():
        return None
    classes = [1] if n_classes == 2 else range(n_classes)
    areas: list[float] = []
    for k in classes:
        own = int(counts[k])
        above = float(rankdata(levelled(proba[:, k]))[truth == k].sum()) - own * (own + 1) / 2
        areas.append(above / (own * (len(truth) - own)))
    return float(np.mean(areas))


About = Mapping[str, Any]  # the content of comparison.json
Answers = ClassAnswers | predicted.LabelAnswers | predicted.NumberAnswers
_Measured = Callable[[Any, Any], float | None]  # arguments: predictions and truth


# ---------------------------------------------------------------------- the table of measures
@dataclass(frozen=True)
class ResultMetric:
    """A measure of predictions: a row of the table that results, terminal and page use.

    Parameters
    ----------
    name : str
        The column of results.csv.
    words : str
        Its name in the terminal, on the page, in pictures and help.
    measured : callable
        Returns the value for (predictions, truth), or None where it is not defined.
    tabled : bool, default=False
        Whether it is in the terminal's table.
    first : bool, default=False
        Whether it is in the first table of the page. Models are ranked by the first such measure,
        unless another `ranks`.
    lower_is_better : bool, default=False
    greatest : float, default=1
        The greatest possible value.
    least : float, default=0
        The least possible value.
    unit : bool, default=False
        Whether it is in the unit of the target: it is written with four significant digits.
    ranks : bool, default=False
        Whether models are ranked by it in any case.
    """

    name: str
    words: str
    measured: _Measured
    tabled: bool = False
    first: bool = False
    lower_is_better: bool = False
    greatest: float = 1.0
    least: float = 0.0
    unit: bool = False
    ranks: bool = False

    @property
    def sign(self) -> int:
        """Return 1 if greater is better, -1 if smaller is."""
        return -1 if self.lower_is_better else 1

    def text(self, value: float, digits: int) -> str:
        """Return a value as text, with `digits` after the point, or four significant digits."""
        return number(value) if self.unit else fixed(value, digits)


def _ranked(measure: Callable[[Any, Any], float]) -> Callable[[predicted.LabelAnswers, Any], float]:
    """Return a measure of the ranking of labels by their probabilities."""
    return lambda answers, truth: measure(truth, answers.proba)


def _in_unit(name: str, words: str, measured: _Measured, main: bool = False) -> ResultMetric:
    """Return a measure in the unit of the target, whose best value is 0."""
    return ResultMetric(
        name, words, measured, main, main, lower_is_better=True, greatest=math.inf, unit=True
    )


def _recorded(name: str) -> _Measured:
    """Return one of the numbers of `psephos.supervision.pu_scores`."""
    return lambda scores, _: scores[name]


#: Measures for one class per row, several labels, a numeric target, and partly recorded labels.
TABLES: dict[str, tuple[ResultMetric, ...]] = {
    "classes": (
        ResultMetric(
            "balanced_accuracy", "balanced accuracy",
            lambda answers, truth: balanced_accuracy(answers.codes, truth),
            tabled=True, first=True,
        ),
        ResultMetric("accuracy", "accuracy", _accuracy),
        ResultMetric("roc_auc", "ROC-AUC", _roc_auc, tabled=True, first=True),
        ResultMetric("log_loss", "log-loss", _log_loss, lower_is_better=True, greatest=math.inf),
    ),
    "labels": (
        ResultMetric(
            "hamming_loss", "Hamming loss",
            lambda answers, truth: predicted.hamming_loss(truth, answers.given),
            tabled=True, lower_is_better=True,
        ),
        ResultMetric("one_error", "one-error", _ranked(predicted.one_error), lower_is_better=True),
        ResultMetric(
            "coverage", "coverage", _ranked(predicted.coverage),
            lower_is_better=True, greatest=math.inf,
        ),
        ResultMetric(
            "ranking_loss", "ranking loss", _ranked(predicted.ranking_loss),
            tabled=True, lower_is_better=True,
        ),
        ResultMetric(
            "average_precision", "average precision", _ranked(predicted.average_precision),
            tabled=True, first=True,
        ),
    ),
    "numbers": (
        ResultMetric("r2", "R²", predicted.r_squared, tabled=True, first=True, least=-math.inf),
        _in_unit("mae", "MAE", predicted.absolute_error, main=True),
        _in_unit("rmse", "RMSE", predicted.root_squared_error, main=True),
        _in_unit("pinball", "pinball loss", predicted.pinball_loss),
        _in_unit("crps", "CRPS", predicted.mean_crps),
        ResultMetric("coverage_90", "coverage of 90 % intervals", predicted.covered),
    ),
    "partial": (
        ResultMetric("pu_f", "PU-F", _recorded("pu_f"), tabled=True, first=True, greatest=math.inf),
        ResultMetric("accuracy_low", "accuracy from", _recorded("accuracy_low"), tabled=True),
        ResultMetric("accuracy_high", "accuracy to", _recorded("accuracy_high"), tabled=True),
    ),
    # for one class per row, only if chosen
    "chosen": (
        ResultMetric("average_precision", "average precision", _by_class(_class_precision)),
        ResultMetric(
            "mcc", "Matthews correlation",
            lambda answers, truth: float(_sklearn.matthews_corrcoef(truth, answers.codes)),
            least=-1.0,
        ),
        ResultMetric("f1", "F1", _f1),
        ResultMetric("brier_score", "Brier score", _brier, lower_is_better=True, greatest=2.0),
        ResultMetric("hand_till_auc", "Hand-Till AUC", _hand_till),
    ),
}  # fmt: skip
_ALIASES = {"brier": "brierscore", "handtill": "handtillauc", "auc": "rocauc"}
_UNRANKED = ("coverage_90",)  # 0.9 is best


def measures_for(
    kind: str = "classes", *, partial: bool = False, truth: bool = True
) -> tuple[ResultMetric, ...]:
    """Return the measures of a comparison, in the order of results.csv.

    Parameters
    ----------
    kind : {'classes', 'labels', 'numbers'}, default='classes'
        The type of the target (`DataTable.kind`).
    partial : bool, default=False
        Whether labels are partly recorded.
    truth : bool, default=True
        With `partial`: whether the true classes are known.
    """
    if partial:
        return (*(TABLES["classes"] if truth else ()), *TABLES["partial"])
    return TABLES[kind]


def kind_of(about: About) -> str:
    """Return the type of the target, from the content of comparison.json."""
    return "labels" if about.get("multilabel") else str(about.get("task") or "classes")


def metric_named(name: str, kind: str = "classes", classes: Sequence[Label] = ()) -> ResultMetric:
    """Return the measure of a name, as the one that models are ranked by.

    Parameters
    ----------
    name : str
        A measure of `TABLES` (its column or its name in words; capitals, hyphens, underscores and
        blanks are ignored), 'sensitivity@' with a specificity, 'cost@' with the cost of a missed
        case, or 'module:name' of a function.
    kind : {'classes', 'labels', 'numbers'}, default='classes'
    classes : sequence of labels
        The classes of the target.

    Raises
    ------
    PsephosError
        If the name is not that of a measure for such a target.
    """
    word = name.strip().lower()
    plain = _ALIASES.get(_plain(name), _plain(name))
    tables = (kind, "chosen") if kind == "classes" else (kind,)
    able = [one for each in tables for one in TABLES[each] if one.name not in _UNRANKED]
    known = {_plain(key): one for one in able for key in (one.words, one.name)}
    if ":" in name:
        found = _of_user(name, kind, np.asarray(classes))
    elif word.startswith("cost@") and len(classes) == 2:
        return cost_metric(float(word[5:]))
    elif word.startswith("sensitivity@") and len(classes) == 2:
        found = _at_specificity(word)
    elif plain in known:
        found = known[plain]
        if kind == "numbers":
            found = replace(found, measured=predicted.of_points(found.measured))
    else:
        several = ["sensitivity@0.95"] if len(classes) == 2 else []
        raise PsephosError(
            f"--metric (metric=) must be a measure of such a target "
            f"({', '.join([*(one.name for one in able), *several])}), or module:name of your own "
            f"function; got {name!r}."
        )
    return replace(found, tabled=True, first=True, ranks=True)


def _plain(name: str) -> str:
    """Return a name without capitals, hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name.lower())


def display_name(name: str) -> str:
    """Return the displayed name of a measure of results.csv."""
    if name.startswith("sensitivity@"):
        return _at_specificity(name).words
    every = (*sum(TABLES.values(), ()), cost_metric(1.0))
    return next((one.words for one in every if one.name == name), name)


def _at_specificity(word: str) -> ResultMetric:
    try:
        least = float(word.partition("@")[2])
    except ValueError:
        least = math.nan
    if not 0 <= least < 1:
        raise PsephosError(
            "--metric (metric=) must have a specificity of at least 0 and below 1 after the @, as "
            f"in sensitivity@0.95; got {word!r}."
        )
    words, measured = f"sensitivity at {least:g} specificity", _by_class(_sensitivity_at(least))
    return ResultMetric(f"sensitivity@{least:g}", words, measured)


def kept_metric(about: About) -> ResultMetric | None:
    """Return the chosen measure that models of a comparison are ranked by, or None.

    A user's own function returns None here: code that a file names is never run.
    """
    kept = about.get("metric")
    if kept is None or kept["name"] == "cost":
        return kept and cost_metric(1.0)
    name, lower = str(kept["name"]), bool(kept["lower_is_better"])
    if ":" not in name:
        return metric_named(name, kind_of(about), about["classes"])
    return ResultMetric(name, name, _unmeasured, True, True, lower, math.inf, -math.inf, ranks=True)


def _unmeasured(answers: object, truth: object) -> None:
    """Return None: the function of a user is not available here."""


def with_chosen(
    usual: Sequence[ResultMetric], chosen: ResultMetric | None
) -> tuple[ResultMetric, ...]:
    """Return the measures of a comparison with the chosen one, appended if it is not among them."""
    if chosen is None or chosen.name in {one.name for one in usual}:
        return tuple(chosen if chosen and one.name == chosen.name else one for one in usual)
    return (*usual, chosen)


# ---------------------------------------------------------------------- measures of users
def _of_user(name: str, kind: str, classes: Array) -> ResultMetric:
    """Return a user's function of labels as a measure (see `compare`)."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = attrgetter(attribute)(import_module(module))
        names = list(inspect.signature(found).parameters)
    except Exception as error:  # an imported module may raise anything
        raise _unusable(name, f"{type(error).__name__}: {error}") from error
    if len(names) < 2 or names[0] in ("estimator", "self"):
        raise _unusable(name, "it must be a function of y_true and y_pred or y_score")

    two = kind == "classes" and len(classes) == 2
    scored = names[1] in ("y_score", "y_proba", "y_prob")

    def measured(answers: Any, truth: Any) -> float | None:
        y: Array = classes[truth] if kind == "classes" else truth
        own: dict[str, Any] = {}
        if two and scored:  # a probability alone does not name its class: 1 is the positive one
            y, given = (truth == answers.positive).astype(int), answers.proba[:, answers.positive]
        elif scored:  # columns in the order of the sorted labels, as in scikit-learn
            given = answers.proba[:, np.argsort(classes)] if kind == "classes" else answers.proba
            own = {"labels": np.sort(classes)} if kind == "classes" and "labels" in names else {}
        elif kind == "classes":
            given = classes[answers.codes]
            own = {"pos_label": classes[answers.positive]} if two and "pos_label" in names else {}
        else:
            given = answers.predicted if kind == "numbers" else answers.given.astype(int)
        try:
            value = found(y, given, **own)
        except Exception as error:  # a user's function may raise anything
            raise _unusable(name, f"{type(error).__name__}: {error}") from error
        if np.ndim(value) or not isinstance(value, Real):
            raise _unusable(name, "it must return one number")
        return float(value) if math.isfinite(value) else None

    lower = attribute.endswith(("_loss", "_error", "_deviance"))
    return ResultMetric(name, name, measured, False, False, lower, math.inf, -math.inf)


def _unusable(name: str, why: str) -> PsephosError:
    return PsephosError(f"--metric (metric=) {name} cannot be used: {why}")


def shown(metrics: Iterable[ResultMetric]) -> list[ResultMetric]:
    """Return measures in the order of terminal and page: the ranking one and `first` ones first."""
    return sorted(metrics, key=lambda one: (not one.ranks, not one.first))


def known_measures() -> list[str]:
    """Return the names of all measures except users' functions, sensitivity@ and cost@."""
    kinds = ("classes", "partial", "labels", "numbers", "chosen")
    return list(dict.fromkeys(one.name for kind in kinds for one in TABLES[kind]))


def ranked_by(names: Container[str], about: About | None = None) -> ResultMetric:
    """Return the measure that models are ranked by: the chosen one, else the usual one.

    Parameters
    ----------
    names : container of str
        Names of measures, such as the columns of results.csv.
    about : mapping, optional
        The content of comparison.json, which holds the chosen measure.
    """
    chosen = None if about is None else kept_metric(about)
    kinds = ("labels", "numbers", "classes", "partial")
    first = [shown(TABLES[kind])[0] for kind in kinds]
    return chosen or next((one for one in first if one.name in names), first[-1])
