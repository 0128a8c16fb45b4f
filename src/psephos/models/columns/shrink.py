"""Reduce a fitted vote to few columns: its voters are selected greedily and weighted again."""

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
    """Votes H on the rows, (n, T, K), the target, (n, K), and row weights, (n,)."""

    votes: Floats
    target: Floats
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
    """Return a fitted vote that reads at most `n_columns`, made of voters of the given model.

    Use it for a smaller version of the same model; if any model on few columns will do,
    `ColumnBudgetClassifier` is more accurate. No voter is fitted again. Columns are added greedily:
    in each step those of the voter that lowers the squared error most per further column it reads,
    within the budget. After each step the weights of all voters that read no other columns are
    fitted again: they minimise, under a_t >= 0::

        sum_i v_i |code(y_i) - sum_t a_t h_t(x_i)|^2

    with sum_t a_t = 1 if the prediction is a mean of votes. If probabilities depend on the scale of
    the weights (boosting), weights are scaled to the least log-loss.

    Parameters
    ----------
    model : fitted estimator of psephos
        With constant weights and a plain or normalised sum: a forest, a bag, AdaBoost, gradient or
        second-order boosting. It is not changed.
    n_columns : int
        Maximum number of columns read for a case without missing values.
    X, y : table of shape (n_samples, n_features), array of shape (n_samples,)
        Rows by which voters are selected: held-out rows, or the training rows of a forest or bag.
    sample_weight : array of shape (n_samples,), default=None
    target : {'labels', 'model'}, default='labels'
        What the smaller vote is fitted to: `y`, or the scores of the whole model (`y` is then
        ignored, and may be None). A boosted model fits its training rows closely; on these 'model'
        is better.
    out_of_bag : bool, default=None
        True: X, y are the training rows of a forest or bag; a voter is evaluated only on rows that
        it was not fitted on, and elsewhere replaced by the mean of the out-of-bag voters. None:
        True if X, y are known to be the model's bootstrapped training rows. (With a model file of
        an earlier version any rows of the same number and weights are taken for them: set False if
        they are held out.)
    groups : array of shape (n_samples,), default=None
        The groups of `fit`, with training rows of a forest or bag that was fitted with groups.

    Returns
    -------
    smaller : estimator
        Of the same class, on the same table; ``smaller.reduce()`` is on its columns only. It may
        read fewer columns: see `n_features_used_`. It has no out-of-bag score, and importances are
        measured on X.

    Raises
    ------
    PsephosError
        If no voter reads so few columns (the message has the smallest number; trees that read many
        columns each cannot be reduced to few), weights depend on the case, the read-out is not a
        sum, or rows and labels are not the model's.

    Warns
    -----
    UserWarning
        If a class is lost: the model predicts it on X and the smaller vote never does, or its score
        is constant in the smaller vote.

    Notes
    -----
    On the rows by which its voters were selected the vote is too optimistic: measure it on others.

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
        goal, left_out = vote.score(values), None
    else:
        goal = _coded(model, y, values.shape[0])
        left_out = _left_out(model, out_of_bag, X, y, sample_weight, groups)
    kept_rows = np.flatnonzero(weight > 0)
    values, goal, weight = values[kept_rows], goal[kept_rows], weight[kept_rows]
    rows = VoterAnswers(_votes(vote, values, left_out), goal, weight)
    reads = np.asarray(vote.usage().toarray(), dtype=bool)
    # shares of classes, or a number
    mean = vote.readout.score == "normalised" and vote.readout.link != "logistic"
    kept, alpha = greedy(rows, reads, int(n_columns), mean)
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
        raise PsephosError(f"n_columns must be an integer of at least 1; got {n_columns!r}.")
    if not isinstance(vote.weighting, Constant) or vote.weighting.alpha.min() < 0:
        raise PsephosError(
            f"the weights of the voters must be constant and at least 0; those of this {name}: "
            f"{vote.weighting.words()}."
        )
    if not vote.readout.is_sum or vote.readout.calibration is not None:
        what = f"the {vote.readout.score} of its voters"
        if vote.readout.is_sum:
            what = vote.readout.calibration.words([str(c) for c in vote.target.classes])
        raise PsephosError(
            f"the prediction must be a plain sum of votes; that of this {name} is {what}."
        )
    if vote.target.kind not in ("binary", "multiclass", "regression"):
        raise PsephosError(f"the model must predict one class, or one number, per row; got {name}.")


def _coded(model: Any, y: Any, n: int) -> Floats:
    """Return y in the coding of the vote, (n, K)."""
    if isinstance(model, VoteClassifier):
        target: Any = model.vote_.target
        coded = target.code[codes_among(model.classes_, y, y)]
    elif y is None:
        raise PsephosError("y must be given, unless target='model'; got None.")
    else:
        coded = read_numbers(np.zeros((n, 1)), y)[:, None]
    if len(coded) != n:
        raise PsephosError(f"y must have one value per row, {n}; got {len(coded)}.")
    return coded


def _left_out(
    model: Estimator,
    wanted: bool | None,
    X: TableLike,
    y: LabelsLike,
    sample_weight: PerRow,
    groups: Array | None,
) -> Any:
    """Return the out-of-bag rows of each voter, (T, n); None if they are not to be used."""
    method: Any = getattr(model, "left_out", None)
    found = None
    if method is not None and wanted is not False:
        found = method(X, y, sample_weight, groups=groups)
    if wanted and found is None:
        raise PsephosError(
            "out_of_bag=True needs the training rows (and weights) of a model that drew them with "
            f"replacement; these are not such rows of this {type(model).__name__}. Give held-out "
            "rows, and out_of_bag=False."
        )
    return found


def _votes(vote: Vote, values: Any, left_out: Any) -> Floats:
    """Return votes (n, T, K); of a voter fitted on the row, the mean of its out-of-bag voters."""
    votes = vote.votes(values)
    if left_out is None:
        return votes
    out = left_out.T[:, :, None]
    number = np.maximum(out.sum(axis=1), 1)
    mean = (votes * out).sum(axis=1) / number
    return np.where(out, votes, mean[:, None, :])


def _scale(rows: VoterAnswers, kept: Indices, alpha: Floats, vote: Vote) -> float:
    """Return the factor of the weights that minimises the log-loss."""
    if vote.readout.score == "normalised" or vote.readout.link == "identity":
        return 1.0
    score = np.einsum("ntk,t->nk", rows.votes[:, kept], alpha)
    target: Any = vote.target
    truth = (rows.target[:, None] == target.code[None]).all(axis=2)

    def loss(log_scale: float) -> float:
        chances = vote.readout.probabilities(np.exp(log_scale) * score, target)
        return -float(rows.weight @ np.log(np.maximum(chances[truth], 1e-15)))

    found: Any = scipy.optimize.minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded")
    return float(np.exp(found.x))


def _warn_of_lost(vote: Vote, smaller: Vote, values: Any) -> None:
    """Warn of classes that the whole vote can predict, and the smaller one cannot or does not."""
    target: Any = vote.target
    before, after = vote.score(values), smaller.score(values)
    could = set(vote.decided(before).tolist())
    if target.n_outputs == target.n_classes:  # one output per class
        level = (np.ptp(before, axis=0) > 0) & (np.ptp(after, axis=0) == 0)
        could |= set(target.classes[level].tolist())
    lost = could - set(smaller.decided(after).tolist())
    if not lost:
        return
    named = ", ".join(str(label) for label in target.classes.tolist() if label in lost)
    warnings.warn(
        f"on {len(smaller.used)} columns the smaller vote predicts {named} for none of the given "
        "rows, unlike the whole model. Use a larger n_columns, or fit a ColumnBudgetClassifier.",
        UserWarning,
        stacklevel=3,
    )


def _of_voters(name: str, value: Any, kept: Indices) -> Any:
    """Return a fitted attribute for the voters kept."""
    if name in OUT_OF_BAG:
        return None
    if name in _PER_VOTER:
        return tuple(value[t] for t in kept) if isinstance(value, tuple) else value[kept]
    return (
        value.take(kept) if hasattr(value, "take") and not isinstance(value, np.ndarray) else value
    )


_RIDGE = 1e-9  # of the mean diagonal: equal voters share their weight


def greedy(
    rows: VoterAnswers, reads: NDArray[np.bool_], budget: int, mean: bool
) -> tuple[Indices, Floats]:
    """Return the voters kept and their weights."""
    allowed = np.zeros(reads.shape[1], dtype=bool)
    width = reads.sum(axis=1)
    reading = width[width > 0]  # a base score, or a tree without a split, reads no column
    if len(reading) and reading.min() > budget:
        raise PsephosError(
            f"n_columns must be at least {reading.min()}, the fewest columns that a voter reads; "
            f"got {budget}. For fewer, fit a ColumnBudgetClassifier or ColumnBudgetRegressor."
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
        raise PsephosError("no voter of these columns agrees with y on the given rows.")
    return inside[kept], alpha[kept]


def _gain(rows: VoterAnswers, inside: Indices, alpha: Floats, voters: Indices) -> Floats:
    """Return by how much each single voter could lower the squared error of the vote."""
    sums = np.einsum("ntk,t->nk", rows.votes[:, inside], alpha)
    rest = (rows.target - sums) * rows.weight[:, None]
    votes = rows.votes[:, voters]
    along = np.maximum(np.einsum("ntk,nk->t", votes, rest), 0.0)
    size = np.einsum("ntk,n->t", votes * votes, rows.weight)
    return np.divide(along**2, size, out=np.zeros_like(size), where=size > 0)


def _weights(rows: VoterAnswers, inside: Indices, mean: bool) -> Floats:
    """Return the non-negative weights of least squared error; for a mean they sum to 1."""
    if not len(inside):
        return np.empty(0)
    root = np.sqrt(rows.weight / rows.weight.sum())[:, None, None]
    H = (rows.votes[:, inside] * root).transpose(0, 2, 1).reshape(-1, len(inside))
    gram, along = H.T @ H, H.T @ (rows.target * root[:, 0]).ravel()
    if mean:  # a heavy row makes them sum to 1
        heavy = 1e3 * max(float(np.trace(gram)), 1e-300)
        gram, along = gram + heavy, along + heavy
    gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram) + 1e-300
    factor = np.linalg.cholesky(gram)
    alpha, _ = scipy.optimize.nnls(factor.T, np.linalg.solve(factor, along))
    return alpha / alpha.sum() if mean and alpha.sum() > 0 else alpha
