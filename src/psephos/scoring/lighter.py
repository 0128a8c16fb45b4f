"""Models that keep training rows, with rounded figures or with prototypes in place of rows."""

# pyright: reportMissingTypeStubs=false

import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, NDArray
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.scoring.vectors import to_digits
from psephos.vote import Local, LocalRelevance, Neighbours, Vote
from psephos.vote.names import fixed, plural
from psephos.vote.operations.cases import CaseVoters, PrototypeVoters
from psephos.vote.operations.distance import PRIOR
from psephos.vote.part import Voters
from psephos.vote.weights.gaussian_kernels import KernelWeights

_FEWEST = 3  # training rows that a prototype stands for


class Lighter(NamedTuple):
    """A lighter model and what it costs, measured on the training rows that the model keeps.

    Parameters
    ----------
    estimator : fitted estimator
        A copy, with the lighter vote.
    rows : int
        Training rows that were asked.
    same : int
        Of these, how many get the same answer.
    greatest : float
        The greatest change of a probability (of a number, of the answer).
    n_prototypes : int
        That stand in place of rows; 0: rows were kept.
    """

    estimator: Any
    rows: int
    same: int
    greatest: float
    n_prototypes: int

    def words(self) -> str:
        """Return what it costs, in a sentence."""
        made = f"{plural(self.n_prototypes, 'prototype')} in place of rows; " * bool(
            self.n_prototypes
        )
        rows = plural(self.rows, "training row")
        if not self.estimator.vote_.target.n_classes:
            return (
                f"{made}of {rows} that the model keeps, the answers change by "
                f"{fixed(self.greatest, 4)} at most."
            )
        return (
            f"{made}of {rows} that the model keeps, {self.same} get the same answer, and the "
            f"probabilities change by {fixed(self.greatest, 4)} at most."
        )


def lighter(
    estimator: VoteEstimator, digits: int | None = None, n_prototypes: int | None = None
) -> Lighter:
    """Return a model whose training rows are rounded, or replaced by prototypes.

    A prototype is the mean of at least three training rows of one class, weighs as much as they do
    together, and its expertise is the mean of theirs.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    digits : int, default=None
        Significant digits that are kept of each value.
    n_prototypes : int, default=None
        At most so many prototypes, for models with local weights (SamBA).

    Raises
    ------
    PsephosError
        If the model keeps no training rows, or none that can be replaced.
    """
    vote: Vote = estimator.vote_
    rows = _kept_rows(vote)
    if rows is None:
        raise PsephosError(
            f"{type(estimator).__name__} keeps no rows of the training table that could be "
            "rounded or replaced."
        )
    light, number = vote, 0
    if n_prototypes is not None:
        light, number = _with_prototypes(light, n_prototypes)
    if digits is not None:
        if digits < 1:
            raise PsephosError(f"digits is {digits}: keep at least one.")
        light = _rounded(light, digits)
    same, greatest = _compared(vote, light, rows)
    other = copy.copy(estimator)
    other.vote_ = light
    return Lighter(other, len(rows), same, greatest, number)


def _kept_rows(vote: Vote) -> Floats | None:
    """Return (m, p) training rows that a vote keeps, NaN in columns it does not keep; or None."""
    weights: Any = vote.weighting
    cases, batches = weights.kept_cases(), weights.prototype_batches()
    if batches is not None and isinstance(vote.voters, PrototypeVoters):
        cases = vote.voters.cases[batches.batch != PRIOR]
    if cases is None:
        return None
    rows = np.full((len(cases), vote.n_features), np.nan)
    rows[:, weights.columns] = cases
    return rows if len(rows) else None


def _compared(vote: Vote, light: Vote, rows: Floats) -> tuple[int, float]:
    same = np.asarray(vote.answers(rows) == light.answers(rows))
    if vote.target.n_classes:
        told = np.abs(vote.probabilities(rows) - light.probabilities(rows))
    else:
        told = np.abs(vote.score(rows) - light.score(rows))
    alike = same if same.ndim == 1 else same.all(axis=1)
    return int(alike.sum()), float(told.max(initial=0.0))


def _rounded(vote: Vote, digits: int) -> Vote:
    """Return the vote with its training rows rounded."""
    voters: Voters = vote.voters
    weights: Any = vote.weighting
    if isinstance(voters, CaseVoters):
        voters = replace(voters, cases=to_digits(voters.cases, digits))
    if isinstance(weights, Local):
        weights = replace(weights, anchors=to_digits(weights.anchors, digits))
    elif isinstance(weights, LocalRelevance):
        local = replace(weights.local, anchors=to_digits(weights.local.anchors, digits))
        weights = replace(weights, local=local)
    elif isinstance(weights, Neighbours):
        weights = replace(weights, cases=to_digits(weights.cases, digits))
    elif isinstance(weights, KernelWeights) and isinstance(voters, PrototypeVoters):
        cases = to_digits(voters.cases, digits)
        voters = replace(voters, cases=cases)
        scaled = (cases - weights.centre) * weights.inverse
        weights = replace(weights, prototypes=np.ascontiguousarray(scaled))
    return replace(vote, voters=voters, weighting=weights)


def _with_prototypes(vote: Vote, n_prototypes: int) -> tuple[Vote, int]:
    """Return the vote with prototypes in place of anchors, and their number."""
    weights: Any = vote.weighting
    local = weights.local if isinstance(weights, LocalRelevance) else weights
    if not isinstance(local, Local):
        raise PsephosError("prototypes take the place of the anchors of local weights (SamBA).")
    if local.similarity.is_category.any():
        raise PsephosError("anchors with categories have no mean: round them (--round) instead.")
    if n_prototypes < 1:
        raise PsephosError(f"n_prototypes is {n_prototypes}: at least one is needed.")
    group = _groups(local, n_prototypes)
    number = int(group.max()) + 1
    g = local.anchor_weight
    member = np.zeros((number, len(group)))
    member[group, np.arange(len(group))] = g
    share = member / member.sum(axis=1, keepdims=True)
    known = ~np.isnan(local.anchors)
    part = share @ known
    with np.errstate(invalid="ignore"):
        anchors = np.where(part > 0, (share @ np.nan_to_num(local.anchors)) / part, np.nan)
    small = replace(
        local,
        anchors=anchors,
        anchor_weight=member.sum(axis=1),
        right=np.zeros((number, 0), dtype=np.uint8),
        voters=0,
        rows=np.full(number, -1),
        anchor_class=local.anchor_class[
            [int(np.flatnonzero(group == c)[0]) for c in range(number)]
        ],
    )
    expertise = np.ascontiguousarray(share @ weights.expertise)
    return replace(vote, weighting=LocalRelevance(small, expertise)), number


def _groups(local: Local, n_prototypes: int) -> NDArray[np.intp]:
    """Return the group of each anchor: k means, class by class; small groups join the nearest."""
    from sklearn.cluster import KMeans

    scaled = local.anchors / local.similarity.column_scale
    centre = np.nanmean(np.where(np.isnan(scaled), np.nan, scaled), axis=0)
    scaled = np.where(np.isnan(scaled), centre, scaled)
    group, first = np.zeros(len(scaled), dtype=np.intp), 0
    for c in np.unique(local.anchor_class).tolist():
        mine = np.flatnonzero(local.anchor_class == c)
        wanted = max(1, round(n_prototypes * len(mine) / len(scaled)))
        k = max(1, min(wanted, len(mine) // _FEWEST))
        plain: Any = KMeans  # declared narrower than it is
        means = plain(k, n_init=4, random_state=0).fit(
            scaled[mine], sample_weight=local.anchor_weight[mine]
        )
        labels = _joined(means.labels_.copy(), means.cluster_centers_)
        group[mine] = first + np.unique(labels, return_inverse=True)[1]
        first = int(group[mine].max()) + 1
    return group


def _joined(labels: Array, centres: Floats) -> Array:
    """Return groups of which none is of less than three rows, if there are so many."""
    while True:
        count = np.bincount(labels, minlength=len(centres))
        small = np.flatnonzero((count > 0) & (count < _FEWEST))
        if not len(small) or (count > 0).sum() == 1:
            return labels
        apart = ((centres - centres[small[0]]) ** 2).sum(axis=1)
        apart[(count == 0) | (np.arange(len(centres)) == small[0])] = np.inf
        labels[labels == small[0]] = int(apart.argmin())
