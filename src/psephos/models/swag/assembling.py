"""From what a search found to the library and the vote of its models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from psephos._types import Array, ColumnLists, Floats
from psephos.estimator.input import Table
from psephos.models.swag.evaluation import Evaluation
from psephos.models.swag.library import Library
from psephos.models.swag.problem import prior_scores
from psephos.models.swag.steps import Step, dimensions_of
from psephos.vote import Available, Readout, Vote, join
from psephos.vote.multiplicity import multiplicity_of
from psephos.vote.voters.stumps import prior_voter

CHOSEN, RESERVE, PRIOR = 0, 1, 2  # tiers of voters
_NEVER = PRIOR + 1  # never the lowest tier, for the prior can always vote
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
    """Return what the learner says of the models; nothing where columns have gaps."""
    if evaluation.missing is not None:
        return ()
    said = [evaluation.bound().remarks(step.subsets) for step in steps]
    return tuple((name, np.concatenate([one[name] for one in said])) for name in said[0])


def make_vote(
    library: Library, evaluation: Evaluation, rule: str, n_reserve: int, target: Any
) -> Vote:
    """Return the vote of the chosen models, a reserve for gaps, and the training prior.

    `rule` is 'majority', 'mean', 'performance' or 'best'. The reserve are up to `n_reserve` strong
    models that were not chosen and vote where none of the chosen can; one that reads nothing knows
    no more than the prior, and does not vote.
    """
    chosen = np.flatnonzero(library.votes)
    reserve = np.flatnonzero(~library.votes)[:n_reserve]
    models = np.concatenate([chosen, reserve])
    subsets = [library.subset(m) for m in models.tolist()]
    regression = target.kind == "regression"
    says: Any = "value" if regression else "answer" if rule == "majority" else "probability"
    code = np.ones((1, 1)) if regression else target.code
    parts = evaluation.fit(subsets, says, code)
    problem = evaluation.problem
    prior = prior_voter(problem.y, problem.weight, target, library.n_features)
    voters = join([*parts, (np.array([len(models)]), prior)])
    part = voters.usage()
    columns = np.unique(part.indices).astype(np.intp)
    alpha = np.append(_alpha(library.error[models], rule, evaluation), 1.0)
    tier = np.repeat([CHOSEN, RESERVE, PRIOR], [len(chosen), len(reserve), 1]).astype(np.intp)
    reads = np.asarray(part[:, columns].toarray(), dtype=bool)
    tier[(tier == RESERVE) & ~reads.any(axis=1)] = _NEVER
    weighting = Available(library.n_features, columns, reads, alpha, tier, loudest=rule == "best")
    readout = Readout("normalised", "identity" if regression else "share")
    return Vote(voters, weighting, readout, target)


def _alpha(error: Floats, rule: str, evaluation: Evaluation) -> Floats:
    """Return the weight of each model.

    majority, mean: 1. performance: how much lower its error is than the training prior's, at
    least a hundredth of the best. best: falling with the rank, so that no two are equal.
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


def usable_models(vote: Vote, library: Library, table: Table) -> ColumnLists:
    """Return the models that vote on each row, as lists; see `SparseWrapperClassifier.usable`."""
    weighting = vote.weighting
    assert isinstance(weighting, Available)
    models = np.concatenate([np.flatnonzero(library.votes), np.flatnonzero(~library.votes)])
    error = np.append(library.error[models[: vote.n_voters - 1]], np.nan)
    votes = vote.weights(table.values) > 0
    tier = np.where(votes, weighting.tier, PRIOR + 1).min(axis=1)
    asked = votes & ~np.isnan(error)  # the prior has none
    count = asked.sum(axis=1)
    total = np.where(asked, error, 0.0).sum(axis=1)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return {
        "case": table.rows.tolist(),
        "n_models": count.tolist(),
        "source": [_WORDS[int(t)] for t in tier],
        "error": mean.tolist(),
    }


def disagreeing_models(vote: Vote, table: Table) -> ColumnLists:
    """Return who disagrees on each row; see `SparseWrapperClassifier.multiplicity`."""
    found, target = multiplicity_of(vote, table.dense()), vote.target
    classes: list[Any] = getattr(target, "classes").tolist()  # noqa: B009
    share = np.where(found.asked > 0, found.against / np.maximum(found.asked, 1), np.nan)
    return {
        "case": table.rows.tolist(),
        "n_models": found.asked.tolist(),
        "n_disagree": found.against.tolist(),
        "share": share.tolist(),
        "rival": [classes[k] if k >= 0 else None for k in found.rival.tolist()],
    }
