"""From the result of a search to the library and the vote of its models."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from psephos._types import Array, ColumnLists, Floats
from psephos.estimator.input import Table
from psephos.models.committees.levels import pool_weights, square_weights
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.library import Library, Step, dimensions_of
from psephos.models.swag.problem import SearchProblem, prior_scores
from psephos.vote import Available, Readout, Vote, join
from psephos.vote.multiplicity import multiplicity_of
from psephos.vote.part import Columns
from psephos.vote.voters.stumps import prior_voter

CHOSEN, RESERVE, PRIOR = 0, 1, 2  # tiers of voters
_NEVER = PRIOR + 1  # never the lowest tier, as the prior can always vote
_MOST = 200  # number of best chosen models that 'stacked' and 'boosted' weight
_ROUNDS = 100
_WORDS = {CHOSEN: "chosen", RESERVE: "reserve", PRIOR: "prior"}


def make_library(
    steps: Sequence[Step], kept: Sequence[int], evaluation: Evaluation, table: Table, measure: str
) -> Library:
    """Return the strong models of all steps by rank; the first ``kept[d]`` of each step vote.

    `measure` is the name of the error measure.
    """
    subsets = [columns for step in steps for columns in step.subsets]
    error, spread, tie = (
        np.concatenate([getattr(step, name) for step in steps])
        for name in ("error", "spread", "tie")
    )
    votes = np.concatenate(
        [np.arange(step.n_strong) < n for step, n in zip(steps, kept, strict=True)]
    )
    sizes = np.array([len(columns) for columns in subsets])
    order = np.lexsort([np.arange(len(error)), sizes, tie, error])
    used, member = np.unique(np.concatenate(subsets), return_inverse=True)
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    words = table.schema.words().columns
    whole = Library(
        table.schema.n_features,
        used.astype(np.intp),
        tuple(words[j] for j in used.tolist()),
        ptr,
        member.astype(np.intp),
        error,
        spread,
        votes,
        measure,
        dimensions_of(steps),
        _remarks(steps, evaluation),
    )
    return whole.take(order)


def _remarks(steps: Sequence[Step], evaluation: Evaluation) -> tuple[tuple[str, Array], ...]:
    """Return the learner's remarks on the models; none if the table has missing values."""
    if evaluation.missing is not None:
        return ()
    remarks = [evaluation.bound().remarks(step.subsets) for step in steps]
    return tuple((name, np.concatenate([one[name] for one in remarks])) for name in remarks[0])


def make_vote(
    library: Library, evaluation: Evaluation, rule: str, n_reserve: int, target: Any
) -> tuple[Library, Vote]:
    """Return the vote of the chosen models, a reserve for missing values, and the training prior.

    `rule` is 'majority', 'mean', 'performance', 'best', 'stacked' or 'boosted'. With the last two
    only models with weight vote, as recorded in the returned library. The reserve has up to
    `n_reserve` strong models that vote only if no chosen model can; one that reads no column equals
    the prior, and does not vote.
    """
    regression = target.kind == "regression"
    code = np.ones((1, 1)) if regression else target.code
    shares = None
    if rule in ("stacked", "boosted"):
        shares = _learnt(library, rule, evaluation, code)
        library = replace(library, votes=shares > 0)
    chosen = np.flatnonzero(library.votes)
    reserve = np.flatnonzero(~library.votes)[:n_reserve]
    library = replace(library, reserve=np.isin(np.arange(len(library)), reserve))
    models = np.concatenate([chosen, reserve])
    subsets = [library.subset(m) for m in models.tolist()]
    answer = rule in ("majority", "boosted")
    says: Any = "value" if regression else "answer" if answer else "probability"
    parts = evaluation.fit(subsets, says, code)
    problem = evaluation.problem
    prior = prior_voter(problem.y, problem.weight, target, library.n_features)
    voters = join([*parts, (np.array([len(models)]), prior)])
    part = voters.usage()
    columns = np.unique(part.indices).astype(np.intp)
    alpha = np.append(_alpha(library.error[models], rule, evaluation), 1.0)
    if shares is not None:
        alpha[: len(chosen)] = shares[chosen]
    tier = np.repeat([CHOSEN, RESERVE, PRIOR], [len(chosen), len(reserve), 1]).astype(np.intp)
    reads = np.asarray(part[:, columns].toarray(), dtype=bool)
    tier[(tier == RESERVE) & ~reads.any(axis=1)] = _NEVER
    weighting = Available(library.n_features, columns, reads, alpha, tier, loudest=rule == "best")
    readout = Readout("normalised", "identity" if regression else "share")
    return library, Vote(voters, weighting, readout, target)


def _alpha(error: Floats, rule: str, evaluation: Evaluation) -> Floats:
    """Return the weight of each model.

    majority, mean: 1. performance: the decrease of its error against the training prior, at least
    a hundredth of the best. best: decreasing with the rank, so that no two are equal.
    """
    if rule == "best":
        return np.reciprocal(1.0 + np.arange(len(error)), dtype=np.float64)
    if rule != "performance":
        return np.ones(len(error))
    prior = prior_scores(evaluation.problem)[None]  # reads no column
    gain = evaluation.measure.errors(prior).error[0] - error
    best = float(gain.max())
    if best <= 0:
        return np.ones(len(error))
    return np.asarray(np.maximum(gain, 0.01 * best) / best, dtype=np.float64)


def _learnt(library: Library, rule: str, evaluation: Evaluation, code: Floats) -> Floats:
    """Return the weights (M,) learned from out-of-fold scores, 0 for models that do not vote."""
    best = np.flatnonzero(library.votes)[:_MOST]
    scores = _out_of_fold([library.subset(m) for m in best.tolist()], evaluation)
    problem, shares = evaluation.problem, np.zeros(len(library))
    boosted = rule == "boosted"
    shares[best] = _boosted(scores, problem) if boosted else _stacked(scores, problem, code)
    return shares / shares.max()


def _out_of_fold(subsets: Sequence[Columns], evaluation: Evaluation) -> Floats:
    """Return the out-of-fold scores of models, (M, L, K)."""
    problem, sizes = evaluation.problem, np.array([len(columns) for columns in subsets])
    scores = np.empty((len(subsets), problem.folds.n_tests, problem.n_outputs))
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        scores[which] = evaluation.scores(np.stack([subsets[m] for m in which.tolist()]))
    return scores


def _stacked(scores: Floats, problem: SearchProblem, code: Floats) -> Floats:
    """Return the weights (M,) on the simplex that minimise the out-of-fold loss."""
    test = problem.folds.test
    y, weight, each = problem.y[test], problem.weight[test], scores.swapaxes(0, 1)
    if not problem.n_classes:
        return square_weights(each, y, weight)
    if problem.n_outputs == 1:  # log-odds
        each = np.concatenate([np.zeros_like(each), each], axis=2)
    shares = np.exp(each - each.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    return pool_weights(shares @ code, y, weight, problem.n_classes)


def _boosted(scores: Floats, problem: SearchProblem) -> Floats:
    """Return the weights (M,) of models by boosting on their out-of-fold predictions.

    A round takes the model with the smallest weighted error e, adds s = log((1 - e) / e) + log(K -
    1) to its weight, and multiplies the weights of its errors by exp(s) (SAMME; for two classes
    AdaBoost). It ends if no model is better than chance, or one has no error.
    """
    test, k = problem.folds.test, problem.n_classes
    chosen = scores[:, :, 0] > 0 if problem.n_outputs == 1 else scores.argmax(axis=2)
    wrong = chosen != problem.y[test]
    share = problem.weight[test] / problem.weight[test].sum()
    alpha, least = np.zeros(len(scores)), 0.5 / len(test)
    for _ in range(_ROUNDS):
        error = wrong @ share
        best = int(error.argmin())
        if error[best] >= 1.0 - 1.0 / k - 1e-12:
            break
        e = max(float(error[best]), least)
        step = np.log((1.0 - e) / e) + np.log(k - 1.0)
        alpha[best] += step
        if error[best] <= least:
            break
        share = share * np.exp(step * wrong[best])
        share = share / share.sum()
    return alpha if alpha.any() else np.ones(len(alpha))


def usable_models(vote: Vote, library: Library, table: Table) -> ColumnLists:
    """Return the models that vote on each row, as lists; see `SparseWrapperClassifier.usable`."""
    weighting = vote.weighting
    assert isinstance(weighting, Available)
    models = np.concatenate([np.flatnonzero(library.votes), np.flatnonzero(~library.votes)])
    error = np.append(library.error[models[: vote.n_voters - 1]], np.nan)
    votes = vote.weights(table.values) > 0
    tier = np.where(votes, weighting.tier, PRIOR + 1).min(axis=1)
    known = votes & ~np.isnan(error)  # the prior has no error
    count = known.sum(axis=1)
    total = np.where(known, error, 0.0).sum(axis=1)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return {
        "case": table.rows.tolist(),
        "n_models": count.tolist(),
        "source": [_WORDS[int(t)] for t in tier],
        "error": mean.tolist(),
    }


def disagreeing_models(vote: Vote, table: Table) -> ColumnLists:
    """Return the models that disagree on each row; see `SparseWrapperClassifier.multiplicity`."""
    found, target = multiplicity_of(vote, table.dense()), vote.target
    classes: list[Any] = getattr(target, "classes").tolist()  # noqa: B009
    share = np.where(found.n_models > 0, found.against / np.maximum(found.n_models, 1), np.nan)
    return {
        "case": table.rows.tolist(),
        "n_models": found.n_models.tolist(),
        "n_disagree": found.against.tolist(),
        "share": share.tolist(),
        "rival": [classes[k] if k >= 0 else None for k in found.rival.tolist()],
    }
