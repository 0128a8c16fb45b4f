"""Paths of prototype fits: each penalty fitted once a fold, scored after every batch."""

# pyright: reportMissingTypeStubs=false

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import joblib
import numpy as np
import sklearn.base
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.models.prototypes.mixture import NormalMixture
from psephos.protocol.evaluation.scores import METRICS, Answers, measures
from psephos.protocol.evaluation.splits import Split, seed_of
from psephos.runtime.threads import one_thread
from psephos.runtime.workers import delayed
from psephos.vote import Vote

_base: Any = sklearn.base  # it has no types
_Floats = NDArray[np.float64]
CLASS_SCORES = ("log_loss", *(name for name in METRICS if name != "log_loss"))
NUMBER_SCORES = ("negative_log_density", "crps")
LOSSES = ("log_loss", *NUMBER_SCORES)  # the smaller the better
_LEAST = 1e-15  # a probability, in the logarithm: as in the comparison
_HELD = 1 << 22  # weights of (row, voter) held at once: 32 MiB


class Offered(NamedTuple):
    """The rows a search is given, as `VoteEstimator.read` returns them."""

    table: Table
    labels: Labels
    weight: _Floats


class Paths(NamedTuple):
    """What K fits of B batches came to in F folds; all of shape (K, B + 1, F).

    Entry b is the fit cut off after b batches; 0 is its prior alone.
    """

    score: _Floats
    n_prototypes: _Floats
    n_columns: _Floats


def follow_paths(
    estimator: Any,
    offered: Offered,
    folds: Sequence[Split],
    penalties: Sequence[Mapping[str, Any]],
    scoring: str,
    seed: int,
    n_jobs: int | None,
) -> Paths:
    """Fit `estimator` with each of `penalties` in each fold, and score it after every batch.

    The estimator has the greatest number of batches; penalties are parameters to set, one
    dictionary a fit. A fold's fits have one seed, so that they are offered the same candidates.
    """
    pool: Any = joblib  # it has no types
    tasks = [
        delayed(_path)(estimator, offered, fold, one, scoring, seed_of(seed, "fold", f))
        for one in penalties
        for f, fold in enumerate(folds)
    ]
    found = np.array(pool.Parallel(n_jobs=n_jobs)(tasks), dtype=np.float64)
    whole = found.reshape(len(penalties), len(folds), *found.shape[1:])
    score, n_prototypes, n_columns = np.moveaxis(whole, (2, 3), (0, 2))
    bad = np.flatnonzero(~np.isfinite(score).all(axis=(0, 1)))
    if len(bad):
        raise PsephosError(
            f"{scoring} is not defined on fold {bad[0]}: its rows lack a class, or those trained "
            "on have one target only; use fewer folds, or another score."
        )
    return Paths(score, n_prototypes, n_columns)


def unguarded(estimator: Any) -> Any:
    """Return the estimator, not fitted, whose fits are taken as they are: folds judge them."""
    model: Any = _base.clone(estimator)
    return model.set_params(fallback=None) if "fallback" in model.get_params() else model


def _path(
    estimator: Any, offered: Offered, fold: Split, penalty: Mapping[str, Any], scoring: str,
    seed: int,
) -> _Floats:  # fmt: skip
    """Return (3, B + 1): score, prototypes and columns of one fit after 0, 1, ... B batches."""
    train, test = fold
    table, labels, weight = offered
    model: Any = unguarded(estimator).set_params(n_jobs=1, **penalty)
    inside = Labels(labels.target, labels.y[train])
    with one_thread():  # sums of BLAS depend on its threads
        vote, extras = model._fit_vote(
            table.take(train), inside, weight[train], Context(np.random.SeedSequence(seed))
        )
        sizes = np.zeros(model.n_batches + 1, dtype=np.intp)  # the fit may have ended early
        sizes[1 : 1 + len(extras["n_prototypes_"])] = extras["n_prototypes_"]
        ends = 1 + np.cumsum(sizes)  # voter 0 is the prior, prototypes follow batch by batch
        values = table.take(test).values
        scores = _staged(vote, values, ends, labels.y[test], weight[test], scoring)
    return np.array([scores, ends - 1, _columns(vote, ends)], dtype=np.float64)


def _columns(vote: Vote, ends: NDArray[np.intp]) -> list[int]:
    """Return how many columns of the table the first voters read, for each number of them."""
    usage: Any = vote.usage()
    return [len(np.unique(usage.indices[: usage.indptr[end]])) for end in ends.tolist()]


def _staged(
    vote: Vote, X: Any, ends: NDArray[np.intp], truth: NDArray[Any], weight: _Floats, scoring: str
) -> list[float]:
    """Return the score of the vote cut off after each of the `ends`."""
    stages = ends.tolist()
    if scoring in NUMBER_SCORES:
        losses = np.concatenate(
            [_number_losses(vote, X[rows], stages, truth[rows], scoring)
             for rows in _parts(X.shape[0], vote.n_voters)], axis=1,
        )  # fmt: skip
        return [_mean(loss, weight) for loss in losses]
    proba = np.concatenate(
        [_probabilities(vote, X[rows], stages) for rows in _parts(X.shape[0], vote.n_voters)],
        axis=1,
    )
    if scoring == "log_loss":
        own = proba[:, np.arange(len(truth)), truth]
        return [_mean(loss, weight) for loss in -np.log(np.clip(own, _LEAST, 1.0))]
    scores = [measures(Answers(p.argmax(axis=1), p, p), truth)[scoring] for p in proba]
    return [np.nan if value is None else value for value in scores]


def _parts(n_rows: int, n_voters: int) -> list[slice]:
    size = max(1, _HELD // n_voters)
    return [slice(first, first + size) for first in range(0, n_rows, size)]


def _mean(loss: _Floats, weight: _Floats) -> float:
    return float((loss * weight).sum() / weight.sum())


def _probabilities(vote: Vote, X: Any, stages: list[int]) -> _Floats:
    """Return (B + 1, n, K): the kernels are computed once, the masses summed batch by batch."""
    voters: Any = vote.voters
    weights, votes = vote.weights(X), voters.values
    total, mass = np.zeros((len(weights), votes.shape[1])), np.zeros(len(weights))
    found: list[_Floats] = []
    first = 0
    for end in stages:
        own = weights[:, first:end]
        total = total + np.einsum("nt,tk->nk", own, votes[first:end])
        mass = mass + own.sum(axis=1)
        score = vote.readout.finish(total, mass)
        found.append(vote.readout.probabilities(score, vote.target))
        first = end
    return np.array(found)


def _number_losses(vote: Vote, X: Any, stages: list[int], truth: _Floats, scoring: str) -> _Floats:
    """Return (B + 1, n): minus the log density, or the CRPS, of the mixture after each batch."""
    voters: Any = vote.voters
    weights = vote.weights(X)
    mean = np.ascontiguousarray(voters.values[:, 0])
    found: list[_Floats] = []
    for end in stages:
        share = weights[:, :end] / weights[:, :end].sum(axis=1, keepdims=True)
        mixture = NormalMixture(share, mean[:end], voters.spread[:end])
        found.append(mixture.crps(truth) if scoring == "crps" else -mixture.log_density(truth))
    return np.array(found)
