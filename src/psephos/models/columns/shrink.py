"""A fitted vote made smaller: its own voters, weighed anew, until they read few columns.

Voters let in one after the other while the columns last, weighed anew after each.
"""

import warnings
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from psephos._errors import PsephosError, must_be
from psephos._types import Array, Estimator, Floats, Indices, LabelsLike, NDArray, PerRow, TableLike
from psephos.base import VoteClassifier, VoteEstimator
from psephos.estimator.labels import codes_among, read_numbers, read_sample_weight
from psephos.models.sampling import OUT_OF_BAG
from psephos.vote import Constant, Vote
from psephos.vote.importance import SampleRows

_PER_VOTER = ("estimator_errors_", "member_names_", "counts_", "member_scores_")


class VoterAnswers(NamedTuple):
    """What voters say on the rows, H (n, T, K), what is wanted, (n, K), and weights (n,)."""

    said: Floats
    wanted: Floats
    weight: Floats


def shrink(
    model: VoteEstimator,
    n_columns: int,
    X: TableLike,
    y: LabelsLike,
    sample_weight: PerRow = None,
    *,
    target: str = "labels",
    out_of_bag: bool | None = None,
    groups: Array | None = None,
) -> Any:
    """Return a fitted vote that reads at most `n_columns`, made of voters of the given one.

    Use it for the same model, smaller; where any model on few columns will do,
    `ColumnBudgetClassifier` is more accurate. No voter is fitted again: starting from none, those
    are let in that lower the squared error most per further column they read, while the columns
    last, and after each the weights of all voters that read no other column are chosen anew::

        sum_i v_i |code(y_i) - sum_t a_t h_t(x_i)|^2 is least,  a_t >= 0

    with sum_t a_t = 1 where the answer is a mean of votes; where weights have a scale that
    probabilities depend on (boosting), it is that of least log-loss.

    Parameters
    ----------
    model : fitted estimator of psephos
        With constant weights and a plain or normalised sum: a forest, a bag, AdaBoost, gradient or
        second-order boosting. It is left as it is.
    n_columns : int
        Most columns that the answer to a case without missing values reads.
    X, y : table of shape (n_samples, n_features), array of shape (n_samples,)
        Rows to choose by: held-out ones; of a forest or bag its training rows serve as well.
    sample_weight : array of shape (n_samples,), default=None
    target : {'labels', 'model'}, default='labels'
        What the smaller vote is to say: `y`, or what the whole model says (`y` is then not looked
        at, and may be None). A boosted model fits its training rows; on these 'model' is better.
    out_of_bag : bool, default=None
        True: X, y are the training rows of a forest or bag; a voter is judged only on rows it was
        not fitted on, and elsewhere counts as the mean of the voters that were not. None: if
        the model drew its rows, and these are they. (Of a model file of an earlier version as many
        rows of the same weights are taken for them: of as many held-out rows say False.)
    groups : array of shape (n_samples,), default=None
        Of training rows of a forest or bag that was fitted with groups: the same.

    Returns
    -------
    smaller : estimator
        Of the same class, on the same table; ``smaller.reduce()`` is on its columns alone. It may
        read fewer columns: `n_features_used_` says. It has no out-of-bag score, and importances
        are measured on X.

    Raises
    ------
    PsephosError
        If no voter that reads a column reads so few (the message has the fewest: of trees that
        read many columns each no small vote can be made), weights depend on the case, the read-out
        is no sum, or rows and labels are not the model's.

    Warns
    -----
    UserWarning
        If a class is lost: the smaller vote never answers it on X, and the model does, or no voter
        that is left changes its score.

    Notes
    -----
    On the rows that it is chosen by, a vote is better than elsewhere: measure it on others.

    References
    ----------
    Pati, Rezaiifar & Krishnaprasad (1993), "Orthogonal matching pursuit".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import AdaBoostClassifier, shrink
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X[:300], y[:300])
    >>> small = shrink(model, 3, X[300:], y[300:])
    >>> small.n_features_used_ <= 3 < model.n_features_used_
    True
    """
    _check_model(model, n_columns)
    must_be("target", target, ("labels", "model"))
    values = model._table(X).values
    weight = read_sample_weight(sample_weight, values.shape[0])
    vote: Vote = model.vote_.primary()
    if target == "model":
        wanted, left_out = vote.score(values), None
    else:
        wanted = _wanted(model, y, values.shape[0])
        left_out = _left_out(model, out_of_bag, X, y, sample_weight, groups)
    kept_rows = np.flatnonzero(weight > 0)
    values, wanted, weight = values[kept_rows], wanted[kept_rows], weight[kept_rows]
    rows = VoterAnswers(_said(vote, values, left_out), wanted, weight)
    reads = np.asarray(vote.usage().toarray(), dtype=bool)
    kept, alpha = greedy(rows, reads, int(n_columns), _is_mean(vote))
    if target == "labels":
        alpha = alpha * _scale(rows, kept, alpha, vote)
    weighting = Constant(vote.n_features, alpha)
    smaller = replace(vote, voters=vote.voters.take(kept), weighting=weighting)
    if isinstance(model, VoteClassifier):
        _warn_of_lost(vote, smaller, values)
    found = copy(model)
    extras = {name: _of_voters(name, getattr(model, name, None), kept) for name in model.extras}
    found._set_fitted(smaller, model.schema_, extras, SampleRows.of(smaller, values))
    return found


def _check_model(model: Estimator, n_columns: int) -> None:
    name = type(model).__name__
    vote: Any = getattr(model, "vote_", None)
    if not isinstance(model, VoteEstimator) or vote is None:
        raise PsephosError(f"{name} is not a fitted estimator of psephos: fit it first.")
    if isinstance(n_columns, bool) or not isinstance(n_columns, int | np.integer) or n_columns < 1:
        raise PsephosError(f"n_columns must be a whole number of at least 1; got {n_columns!r}.")
    if not isinstance(vote.weighting, Constant) or vote.weighting.alpha.min() < 0:
        raise PsephosError(
            f"the weights of this {name} depend on the case ({vote.weighting.words()}): only "
            "voters of constant weight can be weighed anew."
        )
    if not vote.readout.is_sum or vote.readout.calibration is not None:
        what = f"the {vote.readout.score} of its voters"
        if vote.readout.is_sum:
            what = vote.readout.calibration.words([str(c) for c in vote.target.classes])
        raise PsephosError(f"the answer of this {name} is {what}, and no plain sum of votes.")
    if vote.target.kind not in ("binary", "multiclass", "regression"):
        raise PsephosError(f"{name}: give a model of one class, or one number, a row.")


def _wanted(model: Any, y: Any, n: int) -> Floats:
    """Return what is wanted of the vote on each row, (n, K)."""
    if isinstance(model, VoteClassifier):
        target: Any = model.vote_.target
        wanted = target.code[codes_among(model.classes_, y, y)]
    elif y is None:
        raise PsephosError("y is None: give the number of each row, or target='model'.")
    else:
        wanted = read_numbers(np.zeros((n, 1)), y)[:, None]
    if len(wanted) != n:
        raise PsephosError(f"y has {len(wanted)} values for {n} rows.")
    return wanted


def _left_out(
    model: Estimator,
    wanted: bool | None,
    X: TableLike,
    y: LabelsLike,
    sample_weight: PerRow,
    groups: Array | None,
) -> Any:
    """Return (T, n), who was left out of the rows drawn for each voter; None if not asked."""
    ask: Any = getattr(model, "left_out", None)
    found = None if ask is None or wanted is False else ask(X, y, sample_weight, groups=groups)
    if wanted and found is None:
        raise PsephosError(
            f"out_of_bag=True needs the training rows (and weights) of a model that drew them with "
            f"replacement, which these are not of this {type(model).__name__}: give held-out rows, "
            "and out_of_bag=False."
        )
    return found


def _said(vote: Vote, values: Any, left_out: Any) -> Floats:
    """Return votes (n, T, K); where a voter was fitted on the row, the mean of the others."""
    said = vote.votes(values)
    if left_out is None:
        return said
    out = left_out.T[:, :, None]
    number = np.maximum(out.sum(axis=1), 1)
    mean = (said * out).sum(axis=1) / number
    return np.where(out, said, mean[:, None, :])


def _scale(rows: VoterAnswers, kept: Indices, alpha: Floats, vote: Vote) -> float:
    """Return the factor of the weights for which probabilities have the least log-loss."""
    if vote.readout.score == "normalised" or vote.readout.link == "identity":
        return 1.0
    score = np.einsum("ntk,t->nk", rows.said[:, kept], alpha)
    target: Any = vote.target
    truth = (rows.wanted[:, None] == target.code[None]).all(axis=2)

    def loss(log_scale: float) -> float:
        chances = vote.readout.probabilities(np.exp(log_scale) * score, target)
        return -float(rows.weight @ np.log(np.maximum(chances[truth], 1e-15)))

    found: Any = scipy.optimize.minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded")
    return float(np.exp(found.x))


def _warn_of_lost(vote: Vote, smaller: Vote, values: Any) -> None:
    """Warn of classes that the whole vote can answer, and the smaller cannot or never does."""
    target: Any = vote.target
    before, after = vote.score(values), smaller.score(values)
    could = set(vote.decided(before).tolist())
    if target.n_outputs == target.n_classes:  # an output a class
        level = (np.ptp(before, axis=0) > 0) & (np.ptp(after, axis=0) == 0)
        could |= set(target.classes[level].tolist())
    lost = could - set(smaller.decided(after).tolist())
    if not lost:
        return
    named = ", ".join(str(label) for label in target.classes.tolist() if label in lost)
    warnings.warn(
        f"on {len(smaller.used)} columns the smaller vote answers none of the rows given with "
        f"{named}, which the whole model can. Ask for more columns, or fit a "
        "ColumnBudgetClassifier.",
        UserWarning,
        stacklevel=3,
    )


def _is_mean(vote: Vote) -> bool:
    """Return whether what is answered is a mean of votes: shares of classes, or a number."""
    return vote.readout.score == "normalised" and vote.readout.link != "logistic"


def _of_voters(name: str, value: Any, kept: Indices) -> Any:
    """Return a fitted attribute of the voters kept."""
    if name in OUT_OF_BAG:
        return None
    if name in _PER_VOTER:
        return tuple(value[t] for t in kept) if isinstance(value, tuple) else value[kept]
    return (
        value.take(kept) if hasattr(value, "take") and not isinstance(value, np.ndarray) else value
    )


_RIDGE = 1e-9  # of the mean diagonal: voters alike share their weight


def greedy(
    rows: VoterAnswers, reads: NDArray[np.bool_], budget: int, mean: bool
) -> tuple[Indices, Floats]:
    """Return the voters kept and their weights."""
    allowed = np.zeros(reads.shape[1], dtype=bool)
    width = reads.sum(axis=1)
    reading = width[width > 0]  # a base score, or a tree without a split, reads nothing
    if len(reading) and reading.min() > budget:
        raise PsephosError(
            f"no voter that reads a column reads as few as {budget}: the smallest reads "
            f"{reading.min()}. Ask for at least that, or fit a ColumnBudgetClassifier or "
            "ColumnBudgetRegressor."
        )
    inside = np.flatnonzero(width == 0)
    alpha = _weights(rows, inside, mean)
    while True:
        further = (reads & ~allowed).sum(axis=1)
        open_to = np.flatnonzero((further > 0) & (further + allowed.sum() <= budget))
        gain = _gain(rows, inside, alpha, open_to) / further[open_to]
        if not len(open_to) or gain.max() <= 0:
            break
        allowed |= reads[open_to[int(gain.argmax())]]
        inside = np.flatnonzero(~(reads & ~allowed).any(axis=1))
        alpha = _weights(rows, inside, mean)
    kept = alpha > 0
    if not (kept & ((width[inside] > 0) | (not len(reading)))).any():
        raise PsephosError("no voter of these columns agrees with y on the rows given.")
    return inside[kept], alpha[kept]


def _gain(rows: VoterAnswers, inside: Indices, alpha: Floats, voters: Indices) -> Floats:
    """Return by how much each voter alone could lower the squared error of the vote."""
    sums = np.einsum("ntk,t->nk", rows.said[:, inside], alpha)
    rest = (rows.wanted - sums) * rows.weight[:, None]
    said = rows.said[:, voters]
    along = np.maximum(np.einsum("ntk,nk->t", said, rest), 0.0)
    size = np.einsum("ntk,n->t", said * said, rows.weight)
    return np.divide(along**2, size, out=np.zeros_like(size), where=size > 0)


def _weights(rows: VoterAnswers, inside: Indices, mean: bool) -> Floats:
    """Return the weights of least squared error, none below 0; those of a mean sum to 1."""
    if not len(inside):
        return np.empty(0)
    root = np.sqrt(rows.weight / rows.weight.sum())[:, None, None]
    H = (rows.said[:, inside] * root).transpose(0, 2, 1).reshape(-1, len(inside))
    gram, along = H.T @ H, H.T @ (rows.wanted * root[:, 0]).ravel()
    if mean:  # a heavy row says that they sum to 1
        heavy = 1e3 * max(float(np.trace(gram)), 1e-300)
        gram, along = gram + heavy, along + heavy
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram) + 1e-300
    factor = np.linalg.cholesky(gram)
    alpha, _ = scipy.optimize.nnls(factor.T, np.linalg.solve(factor, along))
    return alpha / alpha.sum() if mean and alpha.sum() > 0 else alpha
