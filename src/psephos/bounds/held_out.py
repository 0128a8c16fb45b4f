"""Bounds that assume nothing about the voters: errors on held-out rows, and finite classes."""

import math
from collections import Counter
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.utils.validation import check_consistent_length

from psephos._errors import PsephosError
from psephos._types import Array, LabelsLike, NDArray, TableLike
from psephos.bounds import requirements
from psephos.bounds.formulas import binomial_inverse
from psephos.estimator.labels import codes_among
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.vote import Vote
from psephos.vote.seen import first_copies


class _Counted(NamedTuple):
    wrong: NDArray[np.bool_]
    constant: float  # the error of always predicting the most frequent class


def held_out_bound(
    model: VoteEstimator, X: Any, y: LabelsLike, *, delta: float = 0.05
) -> requirements.Bound:
    """Return the hold-out bound of any classifier: a limit of its error, from held-out rows.

    It is often informative where the other bounds are vacuous. With k errors among n held-out
    rows, with probability 1 - delta over their draw::

        error <= max{p : P(Bin(n, p) <= k) >= delta}

    Parameters
    ----------
    model : fitted classifier
        Of psephos or another library; any number of classes.
    X, y : table of shape (n, p), array of shape (n,)
        Rows that were used neither to fit the model nor to choose it.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If rows equal training rows that the model keeps, the model predicts several labels per
        row, or a label is not one of its classes.

    Notes
    -----
    Copies of a row are one draw. Rows are taken as copies if they agree in more columns, or in
    columns with more distinct values, than chance explains. The bound is computed from all rows and
    from distinct rows (an error if one of the copies is an error), and the larger limit is
    returned; ``parts`` holds the number of surplus copies.

    The bound is about this model, not about one fitted again on all rows. The probability is that
    of one bound: for the best of M models on the same rows use delta / M.

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
    delta = requirements.checked_delta(delta)
    counted = _counted(model, X, y)
    assumed = "the model was neither fitted on these rows nor chosen by them"
    if hasattr(model, "vote_"):
        codes = codes_among(cast("Any", model).classes_, cast("Any", y), y)
        one = requirements.Evaluated(model, model.vote_, model._values(X), codes, "hold-out bound")
        assumed = requirements.refuse_seen(one, assumed)
    first = first_copies(X)
    once = np.bincount(first, counted.wrong)[np.unique(first)] > 0
    limits = [(binomial_inverse(int(w.sum()), len(w), delta), w) for w in (counted.wrong, once)]
    value, rows = max(limits, key=lambda one: one[0])
    k, n = int(rows.sum()), len(rows)
    copies = {"copies of a row": float(len(first) - n)} if n < len(first) else {}
    return requirements.Bound(
        name="hold-out bound",
        value=value,
        of="the error on new cases",
        source="Clopper & Pearson (1934)",
        parts={"error on the rows": k / n, "errors": float(k), "rows": float(n), **copies},
        assumes=(requirements.INDEPENDENT, assumed),
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
) -> requirements.Bound:
    """Return the hold-out bound of the models of a cross-validation: a limit of their mean error.

    The error of each fold's model is bounded from its own test rows, at delta divided by the number
    of folds, and the limits are averaged. The folds need not be independent of each other.

    Parameters
    ----------
    errors : sequence of int
        Errors of each fold's model on its test rows.
    sizes : sequence of int
        Numbers of test rows.
    n_classes : int
    delta : float, default=0.05
    constant_error : float, optional
        The error of always predicting the most frequent class, in [0, 1]: a bound that is not below
        it is vacuous. Give it if classes differ in size; the default is 1 - 1 / n_classes.

    Raises
    ------
    PsephosError
        If a count is not an integer, or there are more errors than rows.

    Notes
    -----
    It is about the models of the folds (their mean error, that of one drawn at random), not about
    the model that is fitted on all rows afterwards.

    Examples
    --------
    >>> from psephos.bounds import folds_bound
    >>> print(folds_bound([2, 1, 3], [40, 40, 40], 2).sentence())
    hold-out, folds: the mean error of the folds' models on new cases is at most 0.1793, with \
probability 95 %.
    """
    delta = requirements.checked_delta(delta)
    if not len(sizes) or len(errors) != len(sizes):
        raise PsephosError(
            "errors and sizes must have one number per fold, and at least one fold; got "
            f"{len(errors)} and {len(sizes)}."
        )
    for fold, (k, n) in enumerate(zip(errors, sizes, strict=True)):
        whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in (k, n))
        if not whole or not 0 <= k <= n or n < 1:
            raise PsephosError(
                f"errors and sizes must be integers, with 0 <= errors <= size and size >= 1; fold "
                f"{fold} has {k} errors among {n} test rows."
            )
    if not (isinstance(n_classes, Integral) and n_classes >= 2):
        raise PsephosError(f"n_classes must be an integer of at least 2; got {n_classes!r}.")
    trivial = 1.0 - 1.0 / n_classes if constant_error is None else float(constant_error)
    if not 0.0 <= trivial <= 1.0:
        raise PsephosError(f"constant_error must lie in [0, 1]; got {constant_error!r}.")
    share = delta / len(sizes)
    limits = [binomial_inverse(k, n, share) for k, n in zip(errors, sizes, strict=True)]
    return requirements.Bound(
        name="hold-out, folds",
        value=float(np.mean(limits)),
        of="the mean error of the folds' models on new cases",
        source="Clopper & Pearson (1934), delta shared by the folds",
        parts={
            "mean error on the folds": float(np.mean(np.divide(errors, sizes))),
            "folds": float(len(sizes)),
            "rows of the smallest fold": float(min(sizes)),
        },
        assumes=(requirements.INDEPENDENT, "no fold's model saw the rows of its test part"),
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
) -> requirements.Bound:
    """Return Occam's bound of one hypothesis, chosen by the rows from a list fixed before them.

    With p the prior of the chosen hypothesis (``1 / |H|`` for a finite class H)::

        error <= max{e : P(Bin(n, e) <= k) >= p delta}

    This is at most ``(ln |H| + ln(1 / delta)) / n`` for a hypothesis without errors (Mitchell 1997,
    section 7.3), and at most ``k / n + sqrt((ln |H| + ln(1 / delta)) / (2 n))`` in general.
    ``parts`` holds the second, and the first if there are no errors.

    Parameters
    ----------
    model : fitted classifier
        Any number of classes.
    X, y : table of shape (n, p), array of shape (n,)
        The rows by which it was chosen.
    n_hypotheses : float, default=None
        ``|H|``, the number of hypotheses in the list. If neither it nor `prior` is given, it is
        read from the model, which must predict by one hypothesis on categorical columns
        (GibbsClassifier, ``BayesOptimalClassifier(decision='map')``). For a vote of all hypotheses
        that agree with the rows use `version_space_bound`.
    prior : float, default=None
        p in place of ``1 / |H|``: the prior of this hypothesis in a list whose priors sum to at
        most 1. Give at most one of `n_hypotheses` and `prior`.
    delta : float, default=0.05

    Raises
    ------
    PsephosError
        If both are given, or neither and the model does not hold its prior. A tree or stump is
        chosen from infinitely many, because its thresholds depend on the rows: use
        `sample_compression_bound` or held-out rows.

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
    delta = requirements.checked_delta(delta)
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
    return requirements.Bound(
        name="Occam bound",
        value=binomial_inverse(k, n, math.exp(-bits)),
        of="the error on new cases",
        source="Blumer et al. (1987); Langford (2005), JMLR 6",
        parts=parts,
        assumes=(requirements.INDEPENDENT, *assumed),
        delta=delta,
        trivial=counted.constant,
    )


def _nats_of_prior(
    model: VoteEstimator, n_hypotheses: Any, prior: Any
) -> tuple[float, tuple[str, ...]]:
    """Return (ln(1 / p), assumptions) of the hypothesis that predicts."""
    if prior is not None and n_hypotheses is not None:
        raise PsephosError("occam_bound takes n_hypotheses or prior: give one of them.")
    if prior is None and n_hypotheses is None:
        return _nats_known(model)
    given = prior if n_hypotheses is None else n_hypotheses
    number = float(given) if isinstance(given, Real) else math.nan
    good = 0 < number <= 1 if n_hypotheses is None else 1 <= number < math.inf
    if not good:
        raise PsephosError(
            "a prior must be above 0 and at most 1, n_hypotheses finite and at least 1; got "
            f"{given!r}."
        )
    assumed = "the list of hypotheses and their priors were fixed before the rows were seen"
    return abs(math.log(number)), (assumed,)


def _nats_known(model: VoteEstimator) -> tuple[float, tuple[str, ...]]:
    """Return `_nats_of_prior` from a model that holds its prior."""
    facts, vote = requirements.hypotheses_of(model), getattr(model, "vote_", None)
    if facts is None or vote is None:
        raise PsephosError(
            f"the Occam bound does not hold for {type(model).__name__}: it is not known from how "
            "many hypotheses it was chosen, and thresholds that depend on the rows make them "
            "infinitely many. Give n_hypotheses, if the list was fixed before the rows, or use "
            "held_out_bound on held-out rows."
        )
    one = requirements.Evaluated(model, vote, None, np.empty(0, np.intp), "Occam bound")
    if facts.answer is None:
        raise one.refuse(
            "it is a vote of hypotheses, and the theorem is about a single one. Use "
            "pac_bayes_kl_bound with rows='weights' for the vote."
        )
    return max(0.0, -facts.answer), (requirements.refuse_bins(one, facts), requirements.SETTINGS)


def _counted(model: Any, X: TableLike, y: LabelsLike) -> _Counted:
    labels: Array = np.asarray(y)
    name = type(model).__name__
    if isinstance(model, Vote):
        predict, classes = model.answers, cast("Any", model.target).classes
    elif hasattr(model, "predict") and hasattr(model, "classes_"):
        predict, classes = model.predict, model.classes_
    else:
        raise PsephosError(f"the model must be a fitted classifier; got {name}.")
    predicted = np.asarray(predict(X))
    check_consistent_length(predicted, labels)
    if predicted.ndim != 1:
        raise PsephosError(
            f"{name} gives a row several labels: the bound needs a model that predicts one per row."
        )
    if labels.ndim != 1 or not len(labels):
        raise PsephosError(f"y must be one label per row, at least one; got shape {labels.shape}.")
    codes_among(np.asarray(classes), predicted, labels)  # raises on unknown labels
    constant = requirements.constant_error(list(Counter(labels.tolist()).values()))
    return _Counted(predicted != labels, constant)
