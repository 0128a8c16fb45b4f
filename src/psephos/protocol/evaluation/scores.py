"""How good answers are: balanced accuracy, accuracy, ROC-AUC and log-loss."""

import math
from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import rankdata

from psephos._errors import PsephosError
from psephos.figures.confusion import levelled

METRICS = ("balanced_accuracy", "accuracy", "roc_auc", "log_loss")


#: Where some labels are not recorded; see `psephos.supervision.pu_scores`.
PU_METRICS = ("pu_f", "accuracy_low", "accuracy_high")


def main_metric(metrics: Container[str]) -> str:
    """Return the measure that models are chosen by; greater is better."""
    known = [name for name in ("average_precision", "balanced_accuracy") if name in metrics]
    return known[0] if known else "pu_f"


_CLIP = 1e-15
_ZERO = 1e-13  # of the largest decision value: what is smaller is rounding
_ROUNDING = 1e-5  # some models answer in float32
_Floats = NDArray[np.float64]
_Codes = NDArray[np.intp]


class Answers(NamedTuple):
    """A model's answers to some rows."""

    codes: _Codes  # (n,), the class it answers
    proba: _Floats  # (n, K); 0 for a class that its training part lacked
    ranking: _Floats  # (n, K), scores by which ROC-AUC ranks the rows, a column per class


def answers_of(model: Any, X: _Floats, n_classes: int) -> Answers:
    """Return the answers of a model fitted on class codes.

    Probabilities are the model's own. Where it has none (SVM), they are a monotone link of its
    decision values d: 1 / (1 + exp(-d)), or softmax over the classes. They are not calibrated: the
    link serves the log-loss only. With two classes rows are ranked by decision values, where there
    are such, since probabilities may round to 0 or 1.
    """
    seen = np.asarray(model.classes_).astype(np.intp)
    decision = model.decision_function(X) if hasattr(model, "decision_function") else None
    if hasattr(model, "predict_proba"):
        inside = np.asarray(model.predict_proba(X), dtype=np.float64)
    else:
        inside = _linked(np.asarray(decision, dtype=np.float64))
    if inside.shape != (len(X), len(seen)):
        raise PsephosError(
            f"the model answers with probabilities of shape {inside.shape} for {len(X)} rows and "
            f"{len(seen)} classes."
        )
    inside = _checked(inside)
    proba = np.zeros((len(X), n_classes))
    proba[:, seen] = inside
    ranking = proba
    if decision is not None and n_classes == 2 and np.ndim(decision) == 1:
        plain = np.asarray(decision, dtype=np.float64)
        plain = np.where(np.abs(plain) <= _ZERO * np.abs(plain).max(initial=0.0), 0.0, plain)
        ranking = np.column_stack([-plain, plain])
    return Answers(codes_of(model, X, n_classes), proba, ranking)


def codes_of(model: Any, X: _Floats, n_classes: int) -> _Codes:
    """Return the classes that a model fitted on class codes answers."""
    codes = np.asarray(model.predict(X))
    try:
        known = np.isin(codes, np.arange(n_classes))
    except TypeError:
        known = np.zeros(len(codes), dtype=bool)
    if codes.shape != (len(X),) or not known.all():
        raise PsephosError(
            f"the model answers with what is no class in {int(np.count_nonzero(~known))} of "
            f"{len(X)} rows."
        )
    return codes.astype(np.intp)


def _checked(proba: _Floats) -> _Floats:
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


def _linked(decision: _Floats) -> _Floats:
    if decision.ndim == 1:
        decision = np.column_stack([np.zeros_like(decision), decision])
    return np.asarray(softmax(decision, axis=1))


def measures(answers: Answers, truth: _Codes) -> dict[str, float | None]:
    """Return the metrics by name; None where one is not defined.

    roc_auc is the chance that a row of the class ranks above a row of another class, ties half:
    with two classes of the second class, with more the plain mean over classes of one against the
    rest ('ovr', macro); None if the rows lack a class. log_loss is the mean of -log p(true class),
    p clipped to [1e-15, 1].
    """
    n_classes = answers.proba.shape[1]
    of_truth: _Floats = np.clip(answers.proba[np.arange(len(truth)), truth], _CLIP, 1.0)
    return {
        "balanced_accuracy": balanced_accuracy(answers.codes, truth),
        "accuracy": int(np.count_nonzero(answers.codes == truth)) / len(truth),
        "roc_auc": _roc_auc(answers.ranking, truth, n_classes),
        "log_loss": -math.fsum(math.log(p) for p in of_truth.tolist()) / len(of_truth),
    }


def balanced_accuracy(codes: _Codes, truth: _Codes) -> float:
    """Return the mean over the classes present of the share of their rows answered rightly."""
    rows = np.bincount(truth)
    right = np.bincount(truth[codes == truth], minlength=len(rows))
    present = rows > 0
    return float(np.mean(right[present] / rows[present]))


def _roc_auc(ranking: _Floats, truth: _Codes, n_classes: int) -> float | None:
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
