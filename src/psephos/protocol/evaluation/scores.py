"""How good answers are: one table of measures, from which results, terminal and page are made."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from scipy.stats import rankdata

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, Values
from psephos.figures.confusion import levelled
from psephos.protocol.evaluation.label_scores import (
    LabelAnswers,
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)
from psephos.protocol.evaluation.number_scores import (
    absolute_error,
    covered,
    mean_crps,
    pinball_loss,
    r_squared,
    root_squared_error,
)
from psephos.vote.names import fixed

_CLIP = 1e-15
_ZERO = 1e-13  # of the largest decision value: what is smaller is rounding
_ROUNDING = 1e-5  # some models answer in float32


class ClassAnswers(NamedTuple):
    """A model's answers to some rows."""

    codes: Indices  # (n,), the class it answers
    proba: Floats  # (n, K); 0 for a class that its training part lacked
    ranking: Floats  # (n, K), scores by which ROC-AUC ranks the rows, a column per class


def answers_of(model: Any, X: Values, n_classes: int) -> ClassAnswers:
    """Return the answers of a model fitted on class codes.

    Probabilities are the model's own. Where it has none (SVM), they are a monotone link of its
    decision values d: 1 / (1 + exp(-d)), or softmax over the classes. They are not calibrated: the
    link serves the log-loss only. Of a model that has neither, the answer has probability 1. With
    two classes rows are ranked by decision values, where there are such, since probabilities may
    round to 0 or 1.
    """
    seen = np.asarray(model.classes_).astype(np.intp)
    decision = model.decision_function(X) if hasattr(model, "decision_function") else None
    if hasattr(model, "predict_proba"):
        inside = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif decision is None:
        inside = (codes_of(model, X, n_classes)[:, None] == seen).astype(np.float64)
    else:
        inside = _linked(np.asarray(decision, dtype=np.float64))
    if inside.shape != (X.shape[0], len(seen)):
        raise PsephosError(
            f"the model answers with probabilities of shape {inside.shape} for {X.shape[0]} rows "
            f"and {len(seen)} classes."
        )
    inside = _checked(inside)
    proba = np.zeros((X.shape[0], n_classes))
    proba[:, seen] = inside
    ranking = proba
    if decision is not None and n_classes == 2 and np.ndim(decision) == 1:
        plain = np.asarray(decision, dtype=np.float64)
        plain = np.where(np.abs(plain) <= _ZERO * np.abs(plain).max(initial=0.0), 0.0, plain)
        ranking = np.column_stack([-plain, plain])
    return ClassAnswers(codes_of(model, X, n_classes), proba, ranking)


def codes_of(model: Any, X: Values, n_classes: int) -> Indices:
    """Return the classes that a model fitted on class codes answers."""
    codes = np.asarray(model.predict(X))
    try:
        known = np.isin(codes, np.arange(n_classes))
    except TypeError:
        known = np.zeros(len(codes), dtype=bool)
    if codes.shape != (X.shape[0],) or not known.all():
        raise PsephosError(
            f"the model answers with what is no class in {int(np.count_nonzero(~known))} of "
            f"{X.shape[0]} rows."
        )
    return codes.astype(np.intp)


def _checked(proba: Floats) -> Floats:
    """Return probabilities without the rounding that leads out of [0, 1]."""
    gone = np.isnan(proba).any(axis=1)
    outside = ((proba < -_ROUNDING) | (proba > 1 + _ROUNDING)).any(axis=1)
    # the sum of float32 values loses more; what is caught are scores called probabilities
    unequal = np.abs(proba.sum(axis=1) - 1) > 1e-3
    for wrong, words in (
        (gone, "NaN as a probability"),
        (outside, "probabilities outside [0, 1]"),
        (unequal, "probabilities that do not sum to 1"),
    ):
        if wrong.any():
            raise PsephosError(
                f"the model answers with {words} in {int(wrong.sum())} of {len(proba)} rows."
            )
    return np.clip(proba, 0.0, 1.0)


def _linked(decision: Floats) -> Floats:
    if decision.ndim == 1:
        decision = np.column_stack([np.zeros_like(decision), decision])
    return np.asarray(softmax(decision, axis=1))


def measures(answers: ClassAnswers, truth: Indices) -> dict[str, float | None]:
    """Return the metrics of one class a row by name; None where one is not defined.

    roc_auc is the chance that a row of the class ranks above a row of another class, ties half:
    with two classes of the second class, with more the plain mean over classes of one against the
    rest ('ovr', macro); None if the rows lack a class. log_loss is the mean of -log p(true class),
    p clipped to [1e-15, 1].
    """
    return {one.name: one.measured(answers, truth) for one in TABLES["classes"]}


def label_measures(answers: LabelAnswers, truth: Array) -> dict[str, float | None]:
    """Return the metrics of several labels a row by name; None where one is not defined."""
    found = {one.name: one.measured(answers, truth) for one in TABLES["labels"]}
    return {name: None if value != value else value for name, value in found.items()}


def _accuracy(answers: ClassAnswers, truth: Indices) -> float:
    return int(np.count_nonzero(answers.codes == truth)) / len(truth)


def _log_loss(answers: ClassAnswers, truth: Indices) -> float:
    of_truth: Floats = np.clip(answers.proba[np.arange(len(truth)), truth], _CLIP, 1.0)
    return -math.fsum(math.log(p) for p in of_truth.tolist()) / len(of_truth)


def balanced_accuracy(codes: Indices, truth: Indices) -> float:
    """Return the mean over the classes present of the share of their rows answered rightly."""
    rows = np.bincount(truth)
    right = np.bincount(truth[codes == truth], minlength=len(rows))
    present = rows > 0
    return float(np.mean(right[present] / rows[present]))


def _roc_auc(answers: ClassAnswers, truth: Indices) -> float | None:
    ranking, n_classes = answers.ranking, answers.proba.shape[1]
    counts = np.bincount(truth, minlength=n_classes)
    if (counts == 0).any() or np.isnan(ranking).any():
        return None
    classes = [1] if n_classes == 2 else range(n_classes)
    areas: list[float] = []
    for k in classes:
        own = int(counts[k])
        ranks = rankdata(levelled(ranking[:, k]))
        above = float(ranks[truth == k].sum()) - own * (own + 1) / 2
        areas.append(above / (own * (len(truth) - own)))
    return float(np.mean(areas))


_Measured = Callable[[Any, Any], float | None]  # of answers and truth


# ---------------------------------------------------------------------- the table of measures
@dataclass(frozen=True)
class ResultMetric:
    """A measure of answers: a row of the table that results, terminal and page are made from.

    Parameters
    ----------
    name : str
        The column of results.csv.
    words : str
        Its name on the page.
    measured : callable
        Of answers and truth: a number, or None where it is not defined.
    head : str, default=""
        In the terminal's table; without one it is not there.
    first : bool, default=False
        Whether it is in the first table of the page. The first such row is what models are ranked
        by.
    lower_is_better : bool, default=False
    greatest : float, default=1
    least : float, default=0
        Of its values.
    unit : bool, default=False
        Whether it is in the unit of the target: it is written to four figures.
    """

    name: str
    words: str
    measured: _Measured
    head: str = ""
    first: bool = False
    lower_is_better: bool = False
    greatest: float = 1.0
    least: float = 0.0
    unit: bool = False

    def text(self, value: float, digits: int) -> str:
        """Return a value in words, with so many digits after the point, or four figures."""
        return f"{value:.4g}" if self.unit else fixed(value, digits)


def _ranked(measure: Callable[[Any, Any], float]) -> Callable[[LabelAnswers, Any], float]:
    """Return a measure of the ranking of labels by their probabilities."""
    return lambda answers, truth: measure(truth, answers.proba)


def _in_unit(name: str, words: str, measured: _Measured, head: str = "") -> ResultMetric:
    """Return a measure in the unit of the target, 0 at best."""
    return ResultMetric(
        name, words, measured, head, bool(head), lower_is_better=True, greatest=math.inf, unit=True
    )


def _recorded(name: str) -> _Measured:
    """Return one of the numbers of `psephos.supervision.pu_scores`."""
    return lambda scores, _: scores[name]


#: Of one class, of several labels and of a number a row, and where some labels are not recorded.
TABLES: dict[str, tuple[ResultMetric, ...]] = {
    "classes": (
        ResultMetric(
            "balanced_accuracy", "balanced accuracy",
            lambda answers, truth: balanced_accuracy(answers.codes, truth),
            head="bal. accuracy", first=True,
        ),
        ResultMetric("accuracy", "accuracy", _accuracy),
        ResultMetric("roc_auc", "ROC-AUC", _roc_auc, head="ROC-AUC", first=True),
        ResultMetric("log_loss", "log-loss", _log_loss, lower_is_better=True, greatest=math.inf),
    ),
    "labels": (
        ResultMetric(
            "hamming_loss", "Hamming loss",
            lambda answers, truth: hamming_loss(truth, answers.given),
            head="Hamming loss", lower_is_better=True,
        ),
        ResultMetric("one_error", "one-error", _ranked(one_error), lower_is_better=True),
        ResultMetric(
            "coverage", "coverage", _ranked(coverage), lower_is_better=True, greatest=math.inf
        ),
        ResultMetric(
            "ranking_loss", "ranking loss", _ranked(ranking_loss),
            head="ranking loss", lower_is_better=True,
        ),
        ResultMetric(
            "average_precision", "average precision", _ranked(average_precision),
            head="av. precision", first=True,
        ),
    ),
    "numbers": (
        ResultMetric("r2", "R²", r_squared, head="R²", first=True, least=-math.inf),
        _in_unit("mae", "MAE", absolute_error, "MAE"),
        _in_unit("rmse", "RMSE", root_squared_error, "RMSE"),
        _in_unit("pinball", "pinball loss", pinball_loss),
        _in_unit("crps", "CRPS", mean_crps),
        ResultMetric("coverage_90", "coverage of 90 % intervals", covered),
    ),
    "partial": (
        ResultMetric("pu_f", "PU-F", _recorded("pu_f"), head="PU-F", first=True, greatest=math.inf),
        ResultMetric("accuracy_low", "accuracy from", _recorded("accuracy_low"), head="acc. from"),
        ResultMetric("accuracy_high", "accuracy to", _recorded("accuracy_high"), head="to"),
    ),
}  # fmt: skip


def measures_for(
    kind: str = "classes", *, partial: bool = False, truth: bool = True
) -> tuple[ResultMetric, ...]:
    """Return the measures of a comparison, in the order of results.csv.

    Parameters
    ----------
    kind : {'classes', 'labels', 'numbers'}, default='classes'
        What a row's answer is (`DataTable.kind`).
    partial : bool, default=False
        Whether some labels are not recorded.
    truth : bool, default=True
        Whether the true classes are known then.
    """
    if partial:
        return (*(TABLES["classes"] if truth else ()), *TABLES["partial"])
    return TABLES[kind]


def kind_of(about: Mapping[str, Any]) -> str:
    """Return what a row's answer is, from the content of comparison.json."""
    return "labels" if about.get("multilabel") else str(about.get("task") or "classes")


def shown(metrics: Iterable[ResultMetric]) -> list[ResultMetric]:
    """Return measures in the order of terminal and page: those of the first table first."""
    return sorted(metrics, key=lambda one: not one.first)


def known_measures() -> list[str]:
    """Return the names of all measures."""
    kinds = ("classes", "partial", "labels", "numbers")
    return [one.name for kind in kinds for one in TABLES[kind]]


def main_metric(metrics: Container[str]) -> str:
    """Return the measure, among these, that models are chosen by; greater is better."""
    kinds = ("labels", "numbers", "classes", "partial")
    first = [shown(TABLES[kind])[0].name for kind in kinds]
    return next((name for name in first if name in metrics), first[-1])
