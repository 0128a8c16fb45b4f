"""Certificates that ask nothing of the voters: errors on held-out rows, and finite classes."""

import math
from collections import Counter
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.utils.validation import check_consistent_length

from psephos._errors import PsephosError
from psephos._types import Array, LabelsLike, NDArray, TableLike
from psephos.bounds.formulas import binomial_inverse
from psephos.bounds.requirements import (
    INDEPENDENT,
    SETTINGS,
    Bound,
    Evaluated,
    checked_delta,
    constant_error,
    hypotheses_of,
    refuse_bins,
    refuse_seen,
)
from psephos.estimator.labels import codes_among
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote import Vote
from psephos.vote.seen import first_copies


class _Counted(NamedTuple):
    wrong: NDArray[np.bool_]
    constant: float  # the error of always predicting the most frequent class


def held_out_bound(model: VoteEstimator, X: Any, y: LabelsLike, *, delta: float = 0.05) -> Bound:
    """Return the hold-out certificate of any classifier: a limit of its error from its errors.

    What is informative where all else is vacuous. With k errors among n held-out rows, with
    probability 1 - delta over their draw::

        error <= max{p : P(Bin(n, p) <= k) >= delta}

    Parameters
    ----------
    model : fitted classifier
        Of psephos or another library; any number of classes.
    X, y : table of shape (n, p), array of shape (n,)
        Rows that the model was not fitted on, nor chosen by.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If rows equal training rows that the model keeps, the model gives a row several labels, or a
        label is not one of its classes.

    Notes
    -----
    Copies of a row are one draw. Rows that are equal in so many columns, or columns of so many
    values, that chance does not explain it are counted once, as an error if one of them is, where
    that makes the limit larger; ``parts`` has how many more there are.

    It is about this model. One fitted again on all rows is another one, of which it says nothing.
    The chance is of one bound: of the best of M models on the same rows take delta / M.

    References
    ----------
    Clopper & Pearson (1934); Langford (2005), "Tutorial on practical prediction theory for
    classification", JMLR 6.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import SamBAClassifier
    >>> from psephos.bounds import held_out_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SamBAClassifier(n_estimators=5).fit(X[::2], y[::2])
    >>> found = held_out_bound(model, X[1::2], y[1::2])
    >>> bool(found.parts["error on the rows"] < found.value < 0.15)
    True
    """
    delta = checked_delta(delta)
    what = "the model was neither fitted on these rows nor chosen by them"
    counted, assumed = _errors(model, X, y, "hold-out bound", what)
    first = first_copies(X)
    once = np.bincount(first, counted.wrong)[np.unique(first)] > 0
    limits = [(binomial_inverse(int(w.sum()), len(w), delta), w) for w in (counted.wrong, once)]
    value, rows = max(limits, key=lambda one: one[0])
    k, n = int(rows.sum()), len(rows)
    copies = {"copies of a row": float(len(first) - n)} if n < len(first) else {}
    return Bound(
        name="hold-out bound",
        value=value,
        of="the error on new cases",
        source="Clopper & Pearson (1934)",
        parts={"error on the rows": k / n, "errors": float(k), "rows": float(n), **copies},
        assumes=(INDEPENDENT, assumed),
        delta=delta,
        trivial=counted.constant,
    )


def folds_bound(
    errors: Sequence[int],
    sizes: Sequence[int],
    n_classes: int,
    *,
    delta: float = 0.05,
    constant_error: float | None = None,
) -> Bound:
    """Return the certificate of the models of a cross-validation: a limit of their mean error.

    Each fold's model is bounded by its own test rows, with delta divided by the number of folds,
    and the limits are averaged. No row is used twice for one model, and the folds need not be
    independent of each other.

    Parameters
    ----------
    errors : sequence of int
        Errors of each fold's model on its test rows.
    sizes : sequence of int
        Numbers of test rows.
    n_classes : int
    delta : float, default=0.05
    constant_error : float, optional
        The error of always predicting the most frequent class, 0 to 1: a bound that is not below it
        is vacuous. Give it where classes differ in size; the default is 1 - 1 / n_classes.

    Raises
    ------
    PsephosError
        If a count is no whole number, or there are more errors than rows.

    Notes
    -----
    It is about the models of the folds, of which one drawn by lot has this error on average; not
    about the model that is fitted on all rows afterwards.

    Examples
    --------
    >>> from psephos.bounds import folds_bound
    >>> print(folds_bound([2, 1, 3], [40, 40, 40], 2).sentence())
    hold-out, folds: the mean error of the folds' models on new cases is at most 0.1793, with \
probability 95 %.
    """
    delta = checked_delta(delta)
    if not len(sizes) or len(errors) != len(sizes):
        raise PsephosError("folds_bound: give the errors and the number of test rows of each fold.")
    for fold, (k, n) in enumerate(zip(errors, sizes, strict=True)):
        whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in (k, n))
        if not whole or not 0 <= k <= n or n < 1:
            raise PsephosError(
                f"folds_bound: fold {fold} has {k} errors among {n} test rows: give whole numbers, "
                "counts of wrong answers and of rows."
            )
    if not (isinstance(n_classes, Integral) and n_classes >= 2):
        raise PsephosError(f"folds_bound: n_classes={n_classes!r}: give a number of at least 2.")
    trivial = 1.0 - 1.0 / n_classes if constant_error is None else float(constant_error)
    if not 0.0 <= trivial <= 1.0:
        raise PsephosError(f"folds_bound: constant_error={constant_error!r}: it must be 0 to 1.")
    share = delta / len(sizes)
    limits = [binomial_inverse(k, n, share) for k, n in zip(errors, sizes, strict=True)]
    return Bound(
        name="hold-out, folds",
        value=float(np.mean(limits)),
        of="the mean error of the folds' models on new cases",
        source="Clopper & Pearson (1934), delta shared by the folds",
        parts={
            "mean error on the folds": float(np.mean(np.divide(errors, sizes))),
            "folds": float(len(sizes)),
            "rows of the smallest fold": float(min(sizes)),
        },
        assumes=(INDEPENDENT, "no fold's model saw the rows of its test part"),
        delta=delta,
        trivial=trivial,
    )


def occam_bound(
    model: VoteEstimator,
    X: TableLike,
    y: LabelsLike,
    *,
    n_hypotheses: float | None = None,
    prior: float | None = None,
    delta: float = 0.05,
) -> Bound:
    """Return Occam's bound: of one hypothesis picked by the rows from a list fixed before them.

    With p the prior of the hypothesis that was picked (``1 / |H|`` of a finite class H)::

        error <= max{e : P(Bin(n, e) <= k) >= p delta}

    which is at most ``(ln |H| + ln(1 / delta)) / n`` for one that makes no error (Mitchell 1997,
    section 7.3, an error above which a consistent hypothesis is improbable) and at most
    ``k / n + sqrt((ln |H| + ln(1 / delta)) / (2 n))`` otherwise. Both stand among the parts.

    Parameters
    ----------
    model : fitted classifier
        Any number of classes.
    X, y : table of shape (n, p), array of shape (n,)
        The rows it was picked by.
    n_hypotheses : float, default=None
        ``|H|``: how many there were to pick from. None, and no `prior`: known of a model of which
        one hypothesis answers, all columns being categories (GibbsClassifier,
        ``BayesOptimalClassifier(decision='map')``). Of a vote of all hypotheses that agree with
        the rows see `version_space_bound`.
    prior : float, default=None
        p in place of ``1 / |H|``: what the list gave to this hypothesis, the list summing to 1 or
        less. One of the two can be given.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If both are given, or the number is not known. A tree or stump is picked from infinitely
        many, its thresholds depending on the rows: it has none, and `sample_compression_bound` or
        held-out rows must do.

    References
    ----------
    Blumer, Ehrenfeucht, Haussler & Warmuth (1987), "Occam's razor"; Langford (2005), JMLR 6;
    Mitchell (1997), "Machine Learning", chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.bounds import occam_bound
    >>> from sklearn.dummy import DummyClassifier
    >>> y = np.repeat([0, 1], [90, 10])
    >>> picked = DummyClassifier(strategy="constant", constant=0).fit(y[:, None], y)
    >>> round(occam_bound(picked, y[:, None], y, n_hypotheses=2).value, 3)
    0.176
    """
    delta = checked_delta(delta)
    nats, assumed = _nats_of_prior(model, n_hypotheses, prior)
    counted = _counted(model, X, y)
    k, n = int(counted.wrong.sum()), len(counted.wrong)
    bits = nats - math.log(delta)
    parts = {
        "error on the rows": k / n,
        "rows": float(n),
        "ln(1 / prior)": nats,
        "Hoeffding's form": k / n + math.sqrt(bits / (2.0 * n)),
    }
    if k == 0:
        parts["of a consistent one, ln(1 / (p delta)) / n"] = bits / n
    return Bound(
        name="Occam bound",
        value=binomial_inverse(k, n, math.exp(-bits)),
        of="the error on new cases",
        source="Blumer et al. (1987); Langford (2005), JMLR 6",
        parts=parts,
        assumes=(INDEPENDENT, *assumed),
        delta=delta,
        trivial=counted.constant,
    )


def _nats_of_prior(
    model: VoteEstimator, n_hypotheses: Any, prior: Any
) -> tuple[float, tuple[str, ...]]:
    """Return (ln(1 / p), what is assumed) of the hypothesis that answers."""
    if prior is not None and n_hypotheses is not None:
        raise PsephosError(
            "occam_bound: n_hypotheses and prior both say how probable the hypothesis was before "
            "the rows: give one of them."
        )
    if prior is None and n_hypotheses is None:
        return _nats_known(model)
    given = prior if n_hypotheses is None else n_hypotheses
    number = float(given) if isinstance(given, Real) else math.nan
    good = 0 < number <= 1 if n_hypotheses is None else 1 <= number < math.inf
    if not good:
        raise PsephosError("occam_bound: a prior is above 0 and at most 1, a number at least 1.")
    assumed = "the list of hypotheses, with what each says and its prior, was fixed before the rows"
    return abs(math.log(number)), (assumed,)


def _nats_known(model: VoteEstimator) -> tuple[float, tuple[str, ...]]:
    """Return the same of a model that knows its prior."""
    facts, vote = hypotheses_of(model), getattr(model, "vote_", None)
    if facts is None or vote is None:
        raise PsephosError(
            f"the Occam bound does not hold for {type(model).__name__}: how many hypotheses it was "
            "picked from is not known, and thresholds that depend on the rows make them infinitely "
            "many. Give n_hypotheses of a list that was fixed before the rows, or held-out rows to "
            "held_out_bound."
        )
    one = Evaluated(model, vote, None, np.empty(0, np.intp), "Occam bound")
    if facts.answer is None:
        raise one.refuse(
            "it is a vote of hypotheses, and the theorem is about one. pac_bayes_kl_bound with "
            "rows='weights' is about the vote."
        )
    return max(0.0, -facts.answer), (refuse_bins(one, facts), SETTINGS)


class _Answering:
    """A vote as a classifier."""

    def __init__(self, vote: Vote) -> None:
        self.predict = vote.answers
        self.classes_ = cast("Any", vote.target).classes


def _errors(model: Any, X: Any, y: Any, bound: str, assumed: str) -> tuple[_Counted, str]:
    """Return the errors on rows that must be held out, and what is assumed of them."""
    counted = _counted(model, X, y)
    if hasattr(model, "vote_"):
        one = Evaluated(
            model, model.vote_, model._values(X), codes_among(model.classes_, y, y), bound
        )
        return counted, refuse_seen(one, assumed)
    return counted, assumed


def _counted(model: Any, X: TableLike, y: LabelsLike) -> _Counted:
    labels: Array = np.asarray(y)
    if isinstance(model, Vote):
        model = _Answering(model)
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        raise PsephosError(
            f"{type(model).__name__} is not a fitted classifier: errors are counted of its answers."
        )
    answers = np.asarray(model.predict(X))
    check_consistent_length(answers, labels)
    if answers.ndim != 1:
        raise PsephosError(
            f"{type(model).__name__} gives a row several labels, and errors are counted of one "
            "label a row: give a model of one label."
        )
    if labels.ndim != 1 or not len(labels):
        raise PsephosError("errors are counted of one label a row, and of at least one row.")
    codes_among(np.asarray(model.classes_), answers, labels)  # refuses labels that it does not know
    constant = constant_error(list(Counter(labels.tolist()).values()))
    return _Counted(answers != labels, constant)
