"""Levels of members, each reading out-of-fold predictions of earlier levels; weights of a stack.

All levels share one plan of folds. No label of a test fold affects, at any level, the inputs of a
model tested on it: members of earlier levels are fitted without that fold and without the fold they
predict. So out-of-fold predictions of any level are as unbiased as those of the first, at the cost
of more fits: level 1 of L is fitted once for each set of at most L of the K folds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

from psephos._errors import PsephosError
from psephos._types import Estimator, Floats, Indices, NDArray
from psephos.models.committees.fitting import Data, MemberTask, fit_all, placed, voters_of
from psephos.models.training import make_splits
from psephos.vote import ComposedVoters, Voters
from psephos.vote.operations.joined import join
from psephos.vote.part import label_of

_special: Any = scipy.special
_optimize: Any = scipy.optimize
_LEAST = 1e-9  # smaller probabilities are raised to it
_STEPS = 5000
_STILL = 1e-9  # of a step's gain in mean log-likelihood
_RIDGE = 1e-3  # of the squared weights, beside the mean log-loss


def chances_of(votes: Floats, n_classes: int) -> Floats:
    """Return (n, M, n_classes) probabilities from votes (n, M, K), the means of codes."""
    if n_classes == 2:
        up = np.clip((1.0 + votes[:, :, 0]) / 2.0, 0.0, 1.0)
        return np.stack([1.0 - up, up], axis=2)
    return np.clip(((n_classes - 1) * votes + 1.0) / n_classes, 0.0, 1.0)


def log_loss(chances: Floats, y: Indices, weight: Floats | None) -> float:
    """Return the weighted mean log-loss; probabilities below 1e-9 are raised to it."""
    own = np.maximum(np.take_along_axis(chances, y[:, None], axis=1)[:, 0], _LEAST)
    return float(-np.average(np.log(own), weights=weight))


def pool_weights(
    votes: Floats, y: Indices, weight: Floats | None, k: int, here: NDArray[np.bool_] | None = None
) -> Floats:
    """Return the weights on the simplex that minimise the log-loss of the mean probability.

    ``p = sum_t w_t p_t`` is a mixture of the members, whose likelihood has one maximum. It is found
    by expectation-maximisation, w_t <- mean_i w_t p_t(y_i) / p(y_i).

    If some members do not apply to some rows (mask `here`, (n, M)), the mean is over the others,
    ``sum_t a_it w_t p_t / sum_t a_it w_t``, and L-BFGS minimises the log-loss.
    """
    chances = chances_of(votes, k)
    own = np.take_along_axis(chances, y[:, None, None], axis=2)[:, :, 0]
    own = np.maximum(own, _LEAST)
    share = np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    if here is not None and not here.all():
        return _pool_of_some(own, share, here.astype(np.float64))
    w, before = np.full(own.shape[1], 1.0 / own.shape[1]), -np.inf
    for _ in range(_STEPS):
        mixed = np.maximum(own @ w, _LEAST)
        now = float(share @ np.log(mixed))
        if now - before < _STILL:
            break
        before = now
        w = w * ((share / mixed) @ own)
    w = np.where(w < 1e-4, 0.0, w)  # converging to 0
    return w / w.sum()


def _pool_of_some(own: Floats, share: Floats, here: Floats) -> Floats:
    """Return the softmax weights that minimise the log-loss of the mean over present members."""

    def loss(logit: Floats) -> tuple[float, Floats]:
        w = _special.softmax(logit)
        top, below = (here * own) @ w, here @ w
        slope = (share / top) @ (here * own) - (share / below) @ here  # of the log-likelihood
        value = float(share @ (np.log(top) - np.log(below)))
        gradient = w * (slope - float(w @ slope))
        return -value + _RIDGE * float((logit**2).sum()), -gradient + 2.0 * _RIDGE * logit

    found = _optimize.minimize(loss, np.zeros(own.shape[1]), jac=True, method="L-BFGS-B")
    return _special.softmax(np.asarray(found.x, dtype=np.float64))


def logistic_weights(votes: Floats, y: Indices, weight: Floats | None, k: int) -> Floats:
    """Return the (M, K) non-negative weights that minimise the log-loss under a logistic link.

    ``F_k = sum_t w_tk h_tk`` with the softmax over classes (the logistic function for two); a
    ridge penalty of 1e-3 gives equal members equal weights.
    """
    n, m, outputs = votes.shape
    share = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(m, outputs)
        score = np.einsum("nmk,mk->nk", votes, w)
        if k == 2:
            sign = np.where(y == 1, 1.0, -1.0)
            value = float(share @ np.logaddexp(0.0, -sign * score[:, 0]))
            slope = (-share * sign * _special.expit(-sign * score[:, 0]))[:, None]
        else:
            logs = score - _special.logsumexp(score, axis=1, keepdims=True)
            value = float(-(share @ logs[np.arange(n), y]))
            slope = np.exp(logs)
            slope[np.arange(n), y] -= 1.0
            slope *= share[:, None]
        gradient = np.einsum("nmk,nk->mk", votes, slope) + 2.0 * _RIDGE * w
        return value + _RIDGE * float((w**2).sum()), gradient.ravel()

    start = np.full(m * outputs, 1.0 / m)
    found = _optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start)
    )
    w = np.asarray(found.x, dtype=np.float64).reshape(m, outputs)
    return w if (w > 0).any() else np.full((m, outputs), 1.0 / m)


def square_weights(votes: Floats, y: Floats, weight: Floats | None) -> Floats:
    """Return the weights on the simplex that minimise the squared error of the mean.

    By non-negative least squares (Lawson and Hanson), with a heavy row that makes the sum 1.
    """
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    table = votes[:, :, 0] - y[:, None]  # with sum 1 the error is sum_t w_t (h_t - y)
    table = table * root[:, None]
    size = float(np.abs(table).max(initial=0.0))
    if size == 0.0:
        return np.full(votes.shape[1], 1.0 / votes.shape[1])
    heavy = 1e4 * np.sqrt(len(y))
    wide = np.vstack([table / size, np.full(votes.shape[1], heavy)])
    w, _ = _optimize.nnls(wide, np.append(np.zeros(len(y)), heavy))
    return w / w.sum()


_Members = Sequence[tuple[str, Any]]


def fold_plan(data: Data, cv: Any) -> Indices:
    """Return the fold of each row: stratified by class, with groups kept together.

    Parameters
    ----------
    cv : int, splitter of scikit-learn, or list of (training rows, test rows); test rows of a list
        are indices into the table of `fit`, each row in one test part; a member is then fitted on
        all rows of the other parts
    """
    n, kept = len(data.y), data.context.kept
    if n == 1:
        raise PsephosError("folds need more than one sample; got 1.")
    given = not isinstance(cv, int | np.integer) and not hasattr(cv, "split")
    classes = data.target.classes if data.n_classes else None
    if given and kept is not None:  # rows of weight 0 were left out
        pairs: Any = cv
        inside = [np.isin(kept, test) for _, test in pairs]
        cv = [(np.flatnonzero(~test), np.flatnonzero(test)) for test in inside]
    splits = make_splits(
        data.y, data.n_classes, groups=data.groups, cv=cv, seed=data.context.integer(0, 0),
        classes=classes,
    )  # fmt: skip
    fold = np.full(n, -1, dtype=np.intp)
    for f, (_, test) in enumerate(splits):
        if (fold[test] >= 0).any():
            raise PsephosError("each row must be in one test part of cv; one is in two.")
        fold[test] = f
    if (fold < 0).any():
        raise PsephosError(
            f"each row must be in a test part of cv; {(fold >= 0).sum()} of {n} rows are."
        )
    return fold


class StackLevels:
    """Members in levels, and their out-of-fold predictions.

    `cv`: as in `fold_plan`; `passthrough`: whether later levels also read the columns of the table.
    `all_before`: whether a level reads the predictions of all earlier levels, or of the last.
    """

    def __init__(self, data: Data, cv: Any, *, passthrough: bool, all_before: bool) -> None:
        self.data, self.fold = data, fold_plan(data, cv)
        self.passthrough, self.all_before = passthrough, all_before
        self.levels: list[_Members] = []
        self._fitted: dict[tuple[int, frozenset[int]], list[Any]] = {}
        self._predicted: dict[tuple[int, frozenset[int], int], Floats] = {}

    @property
    def n_folds(self) -> int:
        """Return the number of folds."""
        return int(self.fold.max()) + 1

    def add(self, members: _Members) -> None:
        """Append a level."""
        self.levels.append(members)

    # ------------------------------------------------------------------ fits
    def fitted(self, level: int, without: frozenset[int] = frozenset()) -> list[Any]:
        """Return the members of a level, fitted on the rows outside some folds."""
        key = level, without
        if key not in self._fitted:
            rows = np.flatnonzero(~np.isin(self.fold, list(without)))
            data = self._reading(level, [self.out_of_fold(j, without) for j in self._before(level)])
            tasks = [
                MemberTask(one, (1 + level, t), rows)
                for t, (_, one) in enumerate(self.levels[level])
            ]
            self._fitted[key] = fit_all(data, tasks)
        return self._fitted[key]

    def out_of_fold(self, level: int, without: frozenset[int] = frozenset()) -> Floats:
        """Return (n, M K): votes for each row by members fitted without its fold.

        They are also fitted without the folds in `without`, whose rows are 0.
        """
        k = self.data.target.n_outputs
        out = np.zeros((len(self.fold), len(self.levels[level]) * k))
        for f in range(self.n_folds):
            if f not in without:
                out[self.fold == f] = self._answers(level, without | {f}, f)
        return out

    def _answers(self, level: int, without: frozenset[int], f: int) -> Floats:
        """Return the votes, on the rows of fold f, of members fitted without some folds."""
        key = level, without, f
        if key not in self._predicted:
            rows = np.flatnonzero(self.fold == f)
            known = [self._answers(j, without, f) for j in self._before(level)]
            data = self._reading(level, known, rows)
            votes = voters_of(self.fitted(level, without), data).votes(data.X)
            self._predicted[key] = votes.reshape(len(rows), -1)
        return self._predicted[key]

    def _before(self, level: int) -> list[int]:
        """Return the levels whose predictions a level reads."""
        return list(range(level)) if self.all_before else list(range(max(level - 1, 0), level))

    def _reading(self, level: int, known: list[Floats], rows: Any = slice(None)) -> Data:
        """Return the table that a level reads: columns, then predictions."""
        if level == 0:
            return replace(self.data, X=self.data.X[rows])
        names = self._answer_names(level)
        return self.data.reading(np.hstack(known), names, passthrough=self.passthrough, rows=rows)

    def _answer_names(self, level: int) -> tuple[str, ...]:
        """Return the names of the predictions that a level reads."""
        names = [
            f"{name} {j + 1}" if len(self._before(level)) > 1 or j else name
            for j in self._before(level)
            for name, _ in self.levels[j]
        ]
        return self.data.names_of(names)

    # ------------------------------------------------------------------ as voters
    def voters(self, level: int) -> Voters:
        """Return the members of a level, fitted on all rows, as voters on the table's columns."""
        names = [name for name, _ in self.levels[level]]
        models = self.fitted(level)
        if level == 0:
            return voters_of(models, self.data, names=names)
        before = self._before(level)
        parts = [self.voters(j) for j in before]
        return read_answers(
            parts[0] if len(parts) == 1 else side_by_side(parts),
            models,
            self.data,
            self._answer_names(level),
            names,
            passthrough=self.passthrough,
        )


def read_answers(
    members: Voters,
    models: Sequence[Estimator],
    data: Data,
    answers: tuple[str, ...],
    names: Sequence[str],
    *,
    passthrough: bool,
) -> ComposedVoters:
    """Return models that read voters' predictions (and, `passthrough`, the columns) as voters."""
    p = data.X.shape[1]
    width = len(answers) + (p if passthrough else 0)
    readers = voters_of(models, replace(data, X=np.empty((0, width))), names=names)
    readers = readers if passthrough else _behind(readers, p)
    return ComposedVoters(members, readers, answers, shares=data.n_classes > 0)


def _behind(readers: Any, p: int) -> Voters:
    """Return voters on a table as voters on a table with p further columns in front."""
    if hasattr(readers, "parts"):
        return replace(readers, parts=tuple(_behind(part, p) for part in readers.parts))
    width = readers.n_features
    return placed(readers, p + np.arange(width), p + width)


def side_by_side(parts: list[Voters]) -> Voters:
    """Return the voters of several parts as one list."""
    names: list[str] = []
    indexed: list[tuple[Indices, Voters]] = []
    size = 0
    for part in parts:
        indexed.append((size + np.arange(part.n_voters), part))
        names += [label_of(part, t).removesuffix(": ") for t in range(part.n_voters)]
        size += part.n_voters
    return join(indexed, names if all(names) else ())


def member_scores(data: Data, answers: Floats) -> Floats:
    """Return each member's log-loss, or mean squared error, of out-of-fold predictions."""
    votes = answers.reshape(len(data.y), -1, data.target.n_outputs)
    y, weight = data.y, data.weight
    if not data.n_classes:
        off = (votes[:, :, 0] - y[:, None]) ** 2
        return np.average(off, axis=0, weights=weight)
    chances = chances_of(votes, data.n_classes)
    losses = [log_loss(chances[:, t], y, weight) for t in range(votes.shape[1])]
    return np.array(losses)
