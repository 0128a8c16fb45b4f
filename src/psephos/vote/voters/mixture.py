"""Votes of prototypes: training cases that vote for their own class or value, by distance."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.vote.operations.cases import PrototypeVoters
from psephos.vote.operations.distance import PRIOR, Batches
from psephos.vote.part import Columns, check
from psephos.vote.readout import Readout
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.vote import Vote
from psephos.vote.voters.stumps import prior_name
from psephos.vote.weights.gaussian_kernels import KernelWeights


class KernelScaling(NamedTuple):
    """Scaling of the q columns, of p, that kernels read; the fields are as in `KernelWeights`."""

    n_features: int
    columns: Columns
    centre: Floats
    inverse: Floats
    n_levels: Indices
    agree: Floats


class PrototypeBatch(NamedTuple):
    """The result of one batch of a fit.

    `inverse_bandwidth` (q,) >= 0; `prototypes` (J, q), scaled; `weight` (J,) > 0; `answer` (J,),
    class indices or numbers in the target's unit; `rows` (J,), identifiers; `spread`, 1 / u of a
    regression in the target's unit.
    """

    inverse_bandwidth: Floats
    prototypes: Floats
    weight: Floats
    answer: NDArray[Any]
    rows: Array
    spread: float = 0.0


def prototype_vote(
    batches: Sequence[PrototypeBatch],
    scaling: KernelScaling,
    prior: Floats,
    target: Target | RegressionTarget,
) -> Vote:
    """Return the vote of a prior and of batches of prototypes.

    With the mass s(x) = 1 + sum_j w_j G(x, c_j), a class has probability ``(prior_k + sum over
    its own prototypes of w_j G(x, c_j)) / s(x)``, and the predicted number is ``(mean + sum_j
    w_j G(x, c_j) y_j) / s(x)``. mass - 1 measures the similarity of a case to the prototypes.

    Parameters
    ----------
    batches : sequence of PrototypeBatch
        In the order in which they were fitted. Columns that no batch reads, and batches without a
        prototype, are not stored.
    scaling : KernelScaling
    prior : ndarray of shape (n_classes,), or (2,) for a regression
        Class frequencies, which sum to 1; or mean and standard deviation of the target.
    target : Target or RegressionTarget

    Returns
    -------
    vote : Vote
        Voter 0 is the prior, followed by the prototypes batch by batch.

    Raises
    ------
    PsephosError
        If the fields do not fit together.

    Notes
    -----
    Source: the proset manual (N. Ruf), model equations. The link 'share' of `Readout` turns the
    mean code of classes into these probabilities.
    """
    _check_batches(batches, scaling, target)
    values, spread = _votes(batches, prior, target)
    sizes = [len(batch.weight) for batch in batches]
    q = len(scaling.columns)
    offered = Batches(
        scaling.n_features,
        scaling.columns,
        np.array([b.inverse_bandwidth for b in batches], dtype=np.float64).reshape(len(batches), q),
        np.concatenate([[PRIOR], np.repeat(np.arange(len(sizes)), sizes)]).astype(np.intp),
    )
    found, read = offered.take(np.arange(len(values)))  # drops columns that no voter reads
    whole = np.concatenate([np.full((1, q), np.nan), *(b.prototypes for b in batches)])
    prototypes = np.ascontiguousarray(whole[:, read])
    centre, inverse = scaling.centre[read], scaling.inverse[read]
    codes = scaling.n_levels[read], scaling.agree[read]
    weight = np.concatenate([[1.0], *(b.weight for b in batches)])
    weights = KernelWeights(found, centre, inverse, *codes, prototypes, weight)
    cases = prototypes / inverse + centre
    rounding = 1e-12 * (np.abs(centre) + 1.0 / inverse)
    cases[np.abs(cases) <= rounding] = 0.0  # zero before scaling
    rows = _identifiers([batch.rows for batch in batches])
    regression = isinstance(target, RegressionTarget)
    voters = PrototypeVoters(found, cases, values, spread, rows, prior_name(regression))
    readout = Readout("normalised", "identity" if regression else "share")
    return Vote(voters, weights, readout, target)


def _check_batches(
    batches: Sequence[PrototypeBatch], scaling: KernelScaling, target: Target | RegressionTarget
) -> None:
    q = len(scaling.columns)
    for batch in batches:
        size = (len(batch.weight),)
        check(batch.inverse_bandwidth.shape == (q,), "inverse bandwidths have other columns")
        check(batch.prototypes.shape == (*size, q), "prototypes have another shape")
        same = batch.weight.shape == batch.answer.shape == batch.rows.shape == size
        check(same, "weights, answers and rows of prototypes differ in number")
        if not isinstance(target, RegressionTarget):
            there = np.isin(batch.answer, np.arange(target.n_classes)).all()
            check(there, "a prototype's class does not exist")


def _votes(
    batches: Sequence[PrototypeBatch], prior: Floats, target: Target | RegressionTarget
) -> tuple[Floats, Floats]:
    """Return the votes, (T, K), and the standard deviations around them, (T,)."""
    answers = np.concatenate([np.empty(0), *(batch.answer for batch in batches)])
    if isinstance(target, RegressionTarget):
        check(prior.shape == (2,), "a prior is not the mean and deviation of the target")
        within = [np.full(len(batch.weight), batch.spread, dtype=float) for batch in batches]
        return np.append(prior[0], answers)[:, None], np.concatenate([prior[1:], *within])
    check(prior.shape == (target.n_classes,), "a prior is not of the classes")
    shares = bool((prior >= 0).all() and np.isclose(prior.sum(), 1.0))
    check(shares, "class frequencies are below 0, or do not sum to 1")
    values = np.concatenate([prior[None, :] @ target.code, target.code[answers.astype(np.intp)]])
    return values, np.zeros(len(values))


def _identifiers(rows: list[Array]) -> Array:
    """Return the identifiers of all prototypes, preceded by an unknown one for the prior."""
    whole = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    if whole.dtype.kind not in "iU":
        whole = whole.astype(object)
    unknown = "" if whole.dtype.kind == "U" else -1
    return np.concatenate([np.array([unknown], dtype=whole.dtype), whole])
