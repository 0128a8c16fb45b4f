"""Votes of prototypes: training cases that vote for their own class or value, by distance."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.files.field_types import AnySize, Nullable
from psephos.vote.codec import register
from psephos.vote.lowered import WeighedAsLowered
from psephos.vote.operations.cases import PrototypeVoters
from psephos.vote.operations.distance import PRIOR, Batches, Distance
from psephos.vote.operations.distance_weights import DistanceWeights, Gaussian, OwnPoint
from psephos.vote.part import Columns, ReadsLike, check, check_part
from psephos.vote.readout import Readout
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.vote import Vote
from psephos.vote.voters.stumps import prior_name


@register
class KernelWeights(ReadsLike, WeighedAsLowered):
    """w_t(x) = weight_t G(x, c_t), a Gaussian kernel around prototype c_t; weight_t for a prior.

    With z the scaled row, ``z_d = (x_d - centre_d) inverse_d``, c the scaled prototype and v the
    inverse bandwidths of its batch::

        log G = - 1/2 sum over columns present in both of v_d^2 delta_d
                + sum over the other columns of e_d(v_d)

    where delta_d is ``(z_d - c_d)^2`` for a number and 1 for two categories that differ, 0 for
    equal ones; e_d is the log of the mean kernel of two rows drawn at random: ``-1/2 log(1 + 2
    v^2)`` for a number, taken as standard normal, and ``log(agree_d + (1 - agree_d) exp(-v^2 /
    2))`` for a category. A missing value then does not change the expected mass, whereas without
    the term e_d, cases with missing values would have a high mass and seem familiar.

    Parameters
    ----------
    batches : Batches
        The batches of the T voters, prototypes and priors.
    centre, inverse : ndarray of shape (q,)
        Centre and 1 / scale of each column; 0 and 1 for a category.
    n_levels : ndarray of shape (q,), intp
        Number of categories of each column, 0 for a number.
    agree : ndarray of shape (q,)
        The probability that two rows have the same category; 0 for a number.
    prototypes : ndarray of shape (T, q)
        Scaled values, NaN where missing. Those of a prior are ignored.
    weight : ndarray of shape (T,)
        Positive.

    Notes
    -----
    Source: the proset manual (N. Ruf), model equations for q_k(x) and s(x); the terms for missing
    values and categories are ours.
    """

    tag: ClassVar[str] = "prototype kernels"
    read_by: ClassVar[str] = "batches"
    batches: Batches
    centre: AnySize
    inverse: AnySize
    n_levels: Indices
    agree: Floats
    prototypes: Nullable
    weight: Floats

    def __post_init__(self) -> None:
        check_part(self)
        q, t = len(self.columns), self.n_voters
        scales = (self.centre, self.inverse, self.n_levels, self.agree)
        check(all(a.shape == (q,) for a in scales), "scales and columns differ in number")
        check(self.prototypes.shape == (t, q), "prototypes have another shape")
        check(self.weight.shape == (t,) and t > 0, "prototypes and their weights differ in number")
        check(self.n_levels >= 0, "a number of categories is below 0")
        check(np.isfinite(self.centre), "a centre is not finite")
        check((self.inverse > 0) & (self.inverse < np.inf), "a scale is not above 0")
        category = self.is_category
        check(self.centre[category] == 0, "a category is centred")
        check(self.inverse[category] == 1, "a category is scaled")
        chance = np.where(category, (self.agree > 0) & (self.agree <= 1), self.agree == 0)
        check(chance, "chances that categories agree are not chances")
        check((self.weight > 0) & (self.weight < np.inf), "a weight is not above 0")
        check(not np.isinf(self.prototypes).any(), "a prototype is infinite")
        code = self.prototypes[:, category]
        there = (code >= 0) & (code < self.n_levels[category]) & (np.floor(code) == code)
        known = bool((there | np.isnan(code)).all())
        check(known, "a prototype has a category that does not exist")

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Return the mask, (q,), of columns of categories."""
        return self.n_levels > 0

    @cached_property
    def _operation(self) -> DistanceWeights:
        v, category, t = self.batches.inverse_bandwidth, self.is_category, self.n_voters
        agree = np.where(category, self.agree, 1.0)
        with np.errstate(over="ignore"):
            square = v * v
            of_categories = -2.0 * np.log(agree + (1.0 - agree) * np.exp(-square / 2.0))
            gaps = np.where(category, of_categories, np.log1p(2.0 * square))
        scales = self.centre, self.inverse, category
        distance = Distance(self.batches, *scales, self.prototypes, gaps, 0.0)
        return DistanceWeights(distance, Gaussian(), self.weight, OwnPoint(np.arange(t)))

    def sums_with(self, voters: Any) -> Any:
        """Return a function of rows to (sums, mass), without an (n, T) table; None if unsupported.

        It needs prototypes as voters and a prior, which keeps the mass above 0.
        """
        from psephos.kernels.prototypes.kernel import kernel_sums

        of, v = self.batches.batch, self.batches.inverse_bandwidth
        if not isinstance(voters, PrototypeVoters) or not (of == PRIOR).any():
            return None
        table = np.hstack([voters.values, np.ones((len(of), 1))]) * self.weight[:, None]

        def sums(X: Floats) -> tuple[Floats, Floats]:
            z, kinds = self.lowered().distance.scaled(X), (self.is_category, self.agree)
            total = np.tile(table[of == PRIOR].sum(axis=0), (len(X), 1))
            for b in range(len(v)):
                total += kernel_sums(z, self.prototypes[of == b], v[b], table[of == b], *kinds)
            return total[:, :-1], total[:, -1]

        return sums

    def prototype_batches(self) -> Batches:
        return self.batches

    def take(self, voters: Indices) -> Self:
        batches, read = self.batches.take(voters)
        return replace(
            self,
            batches=batches,
            centre=self.centre[read],
            inverse=self.inverse[read],
            n_levels=self.n_levels[read],
            agree=self.agree[read],
            prototypes=np.ascontiguousarray(self.prototypes[voters][:, read]),
            weight=self.weight[voters],
        )


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
