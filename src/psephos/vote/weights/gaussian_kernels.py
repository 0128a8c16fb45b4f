"""Weights of prototypes: Gaussian kernels around training cases."""

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from psephos.files.field_types import AnySize, Nullable
from psephos.kernels.prototypes.masses import FixedPrototypes, Reading, combine
from psephos.vote.codec import register
from psephos.vote.marks import Marks, outer_marks
from psephos.vote.part import (
    Columns,
    ReadsColumns,
    ReadsLike,
    Weighting,
    check,
    check_part,
    usage_at,
)
from psephos.vote.weights.local import Nearest

_Floats = NDArray[np.float64]
_BLOCK = 1 << 16  # entries of a table of kernels held at once: a few of them fit a core's cache
_MOVED = 1 << 20  # entries of a table of weights held at once
PRIOR = -1  # the batch of a voter whose weight is the same everywhere


class Answers(NamedTuple):
    """What voters say, for sums: one column for each kind of answer, or the answers and 1."""

    table: _Floats  # (T, kinds) of 0 and 1, or (T, K + 1)
    kinds: _Floats | None  # (kinds, K), None where numbers all differ

    @classmethod
    def of(cls, values: _Floats) -> Self:
        """Return the (T, K) answers that these numbers stand for."""
        order = np.lexsort(values.T[::-1])
        ordered = values[order]
        starts = np.ones(len(values), dtype=bool)
        starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        kinds = ordered[starts]
        if len(kinds) <= values.shape[1] + 2:  # classes, and a prior
            table = np.zeros((len(values), len(kinds)))
            table[order, np.cumsum(starts) - 1] = 1.0
            return cls(table, kinds)
        return cls(np.hstack([values, np.ones((len(values), 1))]), None)


@register
@dataclass(frozen=True)
class Batches(ReadsColumns):
    """Which prototype belongs to which batch, and the columns a batch looks at.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that some batch reads.
    inverse_bandwidth : ndarray of shape (B, q)
        How sharply each batch looks at each column, per scaled unit; 0 where it does not.
    batch : ndarray of shape (T,), intp
        The batch of each voter; -1: a prior voter, which looks at nothing.
    """

    tag: ClassVar[str] = "prototype batches"
    n_features: int
    columns: Columns
    inverse_bandwidth: _Floats
    batch: NDArray[np.intp]

    def __post_init__(self) -> None:
        check_part(self)
        v = self.inverse_bandwidth
        check(v.ndim == 2, "inverse bandwidths are not (B, q)")
        check(v.shape[1] == len(self.columns), "inverse bandwidths have other columns")
        check(bool((np.isfinite(v) & (v >= 0)).all()), "an inverse bandwidth is below 0")
        check(self.batch.ndim == 1, "batches are not in a row")
        inside = (self.batch >= PRIOR) & (self.batch < len(v))
        check(bool(inside.all()), "a voter's batch is not there")

    @property
    def n_voters(self) -> int:
        return len(self.batch)

    def reads(self) -> NDArray[np.bool_]:
        """Return the (T, q) truth table of who looks at which of the columns."""
        looked = np.zeros((self.n_voters, len(self.columns)), dtype=bool)
        own = self.batch != PRIOR
        looked[own] = self.inverse_bandwidth[self.batch[own]] > 0
        return looked

    def usage(self) -> Any:
        return usage_at(self, *np.nonzero(self.reads()))

    def take(self, voters: NDArray[np.intp]) -> tuple[Self, Columns]:
        """Return the batches of these voters, and the positions of the columns still read."""
        batch = self.batch[voters]
        kept = np.unique(batch[batch != PRIOR])
        inverse = self.inverse_bandwidth[kept]
        read = np.flatnonzero((inverse > 0).any(axis=0))
        renamed = np.where(batch == PRIOR, PRIOR, np.searchsorted(kept, batch)).astype(np.intp)
        some = replace(
            self,
            columns=self.columns[read],
            inverse_bandwidth=np.ascontiguousarray(inverse[:, read]),
            batch=renamed,
        )
        return some, read


@register
@dataclass(frozen=True)
class KernelWeights(ReadsLike, Weighting):
    """w_t(x) = weight_t G(x, c_t), a Gaussian kernel around prototype c_t; weight_t for a prior.

    With z the scaled row, ``z_d = (x_d - centre_d) inverse_d``, c the scaled prototype and v the
    inverse bandwidths of its batch::

        log G = - 1/2 sum over columns present in both of v_d^2 delta_d
                + sum over the other columns of e_d(v_d)

    where delta_d is ``(z_d - c_d)^2`` for a number and 1 for two categories that differ, 0 for
    equal ones; e_d is the log of the mean kernel of two rows drawn at random: ``-1/2 log(1 + 2
    v^2)`` for a number, taken as standard normal, and ``log(agree_d + (1 - agree_d) exp(-v^2 /
    2))`` for a category. So a gap leaves the mass what it is expected to be, where leaving the
    term out would make cases with gaps look familiar.

    Parameters
    ----------
    batches : Batches
        T voters, prototypes and priors.
    centre, inverse : ndarray of shape (q,)
        Centre and 1 / scale of each column; 0 and 1 for a category.
    n_levels : ndarray of shape (q,), intp
        Categories of each column, 0 for a number; another code counts as missing.
    agree : ndarray of shape (q,)
        The chance that two rows have the same category; 0 for a number.
    prototypes : ndarray of shape (T, q)
        Scaled values, NaN where missing. Those of a prior are not looked at.
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
    n_levels: NDArray[np.intp]
    agree: _Floats
    prototypes: Nullable
    weight: _Floats

    def __post_init__(self) -> None:
        check_part(self)
        q, t = len(self.columns), self.n_voters
        scales = (self.centre, self.inverse, self.n_levels, self.agree)
        check(all(a.shape == (q,) for a in scales), "scales and columns differ in number")
        check(self.prototypes.shape == (t, q), "prototypes have another shape")
        check(self.weight.shape == (t,) and t > 0, "prototypes and their weights differ in number")
        check(bool((self.n_levels >= 0).all()), "a number of categories is below 0")
        check(bool(np.isfinite(self.centre).all()), "a centre is not finite")
        check(bool(((self.inverse > 0) & (self.inverse < np.inf)).all()), "a scale is not above 0")
        category = self.is_category
        check(bool((self.centre[category] == 0).all()), "a category is centred")
        check(bool((self.inverse[category] == 1).all()), "a category is scaled")
        chance = np.where(category, (self.agree > 0) & (self.agree <= 1), self.agree == 0)
        check(bool(chance.all()), "chances that categories agree are not chances")
        check(bool(((self.weight > 0) & (self.weight < np.inf)).all()), "a weight is not above 0")
        check(not np.isinf(self.prototypes).any(), "a prototype is infinite")
        unknown = np.isnan(self._known(self.prototypes)) & ~np.isnan(self.prototypes)
        check(not unknown.any(), "a prototype has a category that is not there")

    @property
    def n_voters(self) -> int:
        return self.batches.n_voters

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Return (q,): which columns hold categories."""
        return self.n_levels > 0

    @cached_property
    def has_prior(self) -> bool:
        """Return whether some voter has a weight everywhere."""
        return bool((self.batches.batch == PRIOR).any())

    def _known(self, Z: _Floats) -> _Floats:
        """Return scaled rows with categories that are not there as missing."""
        there = (Z >= 0) & (self.n_levels > Z) & (np.floor(Z) == Z)
        return np.where(self.is_category & ~there, np.nan, Z)

    def _scaled(self, X: _Floats) -> _Floats:
        """Return the (n, q) scaled columns of rows of the table."""
        with np.errstate(over="ignore"):
            return self._known((X[:, self.columns] - self.centre) * self.inverse)

    @cached_property
    def _gaps(self) -> _Floats:
        """Return the (B, q) terms -2 e_d: the squared distance that a missing value stands for."""
        v, category = self.batches.inverse_bandwidth, self.is_category
        agree = np.where(category, self.agree, 1.0)
        with np.errstate(over="ignore"):
            square = v * v
            of_categories = -2.0 * np.log(agree + (1.0 - agree) * np.exp(-square / 2.0))
            return np.where(category, of_categories, np.log1p(2.0 * square))

    @cached_property
    def _members(self) -> list[tuple[Any, _Floats]]:
        """Return where each batch's J voters stand (a slice if it can be), and their values."""
        members: list[tuple[Any, _Floats]] = []
        for b in range(len(self.batches.inverse_bandwidth)):
            who = np.flatnonzero(self.batches.batch == b)
            own = np.ascontiguousarray(self.prototypes[who].T)
            together = len(who) > 0 and who[-1] - who[0] == len(who) - 1
            members.append((slice(int(who[0]), int(who[-1]) + 1) if together else who, own))
        return members

    def _log_kernels(self, Z: _Floats, batch: int) -> _Floats:
        """Return the (n, J) log kernels of scaled rows and the J prototypes of a batch.

        Terms are made of differences and added column by column, so that equal rows are at zero
        and a row's value does not depend on the other rows.
        """
        v, own = self.batches.inverse_bandwidth[batch], self._members[batch][1]
        out, term = np.zeros((2, len(Z), own.shape[1]))
        with np.errstate(over="ignore"):
            for d in np.flatnonzero(v > 0).tolist():
                z, c = Z[:, d], own[d]
                np.subtract(z[:, None], c, out=term)
                missing = np.isnan(term) if np.isnan(z).any() or np.isnan(c).any() else None
                if self.is_category[d]:
                    np.not_equal(term, 0, out=term, casting="unsafe")
                term *= v[d]
                term *= term
                if missing is not None:
                    term[missing] = self._gaps[batch, d]
                out += term
        out *= -0.5
        return out

    def _relative(self, Z: _Floats, shift: bool) -> tuple[_Floats, _Floats]:
        """Return (weights, log_scale) on scaled rows: of each row's greatest weight, or zero."""
        weights, scale = np.empty((len(Z), self.n_voters)), np.zeros(len(Z))
        constant = np.log(self.weight)
        size = max(1, _BLOCK // self.n_voters)
        for first in range(0, len(Z), size):
            rows = slice(first, first + size)
            logs = weights[rows]
            logs[:] = constant
            for b, (where, _) in enumerate(self._members):
                logs[:, where] += self._log_kernels(Z[rows], b)
            if shift:
                greatest = logs.max(axis=1)
                scale[rows] = np.where(np.isinf(greatest), 0.0, greatest)
                logs -= scale[rows, None]
            np.exp(logs, out=logs)
        return weights, scale

    def relative(self, X: _Floats) -> tuple[_Floats, _Floats]:
        """Return (weights, log_scale): the true weights are exp(log_scale) times these.

        The scale is 0 where there is a prior, as the weights cannot all vanish; else the greatest
        relative weight of a row is 1.
        """
        return self._relative(self._scaled(X), shift=not self.has_prior)

    def fixed_sums(self, X: _Floats, answers: Answers) -> tuple[_Floats, _Floats]:
        """Return (sum over t of w_t(x) answer_t, sum over t of w_t(x)): (n, K), (n,).

        As ``weights(X) @ values`` but for rounding, in memory O(n K).
        """
        prior, batches = self._laid_out(answers)
        sums = np.tile(prior, (len(X), 1))
        for batch in batches:
            batch.add(X, sums)
        if answers.kinds is None:
            return sums[:, :-1], sums[:, -1]
        out = np.empty((len(X), answers.kinds.shape[1] + 1))
        combine(sums, answers.kinds, out)
        return out[:, :-1], out[:, -1]

    def sums_with(self, voters: Any) -> Any:
        """Return `fixed_sums` for voters of fixed answers, where a prior keeps the mass above 0."""
        answers: Answers | None = voters.fixed_answers()
        return partial(self.fixed_sums, answers=answers) if answers and self.has_prior else None

    def _laid_out(self, answers: Answers) -> tuple[_Floats, list[FixedPrototypes]]:
        """Return what priors add to each sum, and the batches; kept for the next call."""
        kept: Any = self.__dict__.get("_laid")
        if kept is None or kept[0] is not answers:
            table = answers.table * self.weight[:, None]
            of, v = self.batches.batch, self.batches.inverse_bandwidth
            reading = Reading(self.columns, self.centre, self.inverse, self.n_levels)
            batches = [
                FixedPrototypes(reading, self.prototypes[of == b], v[b], table[of == b], self.agree)
                for b in range(len(v))
            ]
            kept = answers, table[of == PRIOR].sum(axis=0), batches
            object.__setattr__(self, "_laid", kept)
        return kept[1:]

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: what was derived from them is made anew."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def weights(self, X: _Floats) -> _Floats:
        return self._relative(self._scaled(X), shift=False)[0]

    def mean_share(self) -> _Floats:
        """Return each voter's mean share of the weight at the places of the prototypes.

        A prototype is left out at its own place, as in the fit, where candidates are judged by
        other rows. Costs T^2 q; where all those weights are 0, shares of `weight` instead.
        """
        places = np.flatnonzero(self.batches.batch != PRIOR)
        total = np.zeros(self.n_voters)
        size = max(1, _MOVED // self.n_voters)
        for first in range(0, len(places), size):
            some = places[first : first + size]
            weights = self._relative(self.prototypes[some], shift=not self.has_prior)[0]
            weights[np.arange(len(some)), some] = 0.0
            mass = weights.sum(axis=1, keepdims=True)
            total += (weights / np.where(mass > 0, mass, 1.0)).sum(axis=0)
        share = total if total.any() else self.weight
        return share / share.sum()

    def nearest(self, voters: Any, target: Any, X: _Floats, k: int) -> Nearest | None:
        """Return the k prototypes of greatest weight for each row of X; None for a prior alone.

        The distance is that of the kernel, ``sqrt(-2 log G)``: a column's difference in scaled
        units times its inverse bandwidth, squared and added up. Shares are of the total weight,
        a prior included.
        """
        own, rows = np.flatnonzero(self.batches.batch != PRIOR), voters.row_names()
        if rows is None or not len(own):
            return None
        Z, logs = self._scaled(X), np.zeros((len(X), self.n_voters))
        for b, (where, _) in enumerate(self._members):
            logs[:, where] = self._log_kernels(Z, b)
        weights, _ = self._relative(Z, shift=not self.has_prior)
        share = weights / weights.sum(axis=1, keepdims=True)
        order = own[np.argsort(-(logs + np.log(self.weight))[:, own], axis=1, kind="stable")[:, :k]]
        pick = np.take_along_axis
        return Nearest(
            order,
            np.sqrt(-2.0 * pick(logs, order, 1)),
            pick(share, order, 1),
            rows[order],
            np.array(target.words(voters.values), dtype=object)[order],
            "Training cases are the voters here, and these have the greatest weight.",
        )

    def prototype_batches(self) -> Batches:
        return self.batches

    def similarities(self, X: _Floats) -> _Floats:
        """Return (n, T): the kernel between each row and each prototype; 1 for a prior."""
        return replace(self, weight=np.ones_like(self.weight)).weights(X)

    def words(self) -> str:
        return "weights by Gaussian kernels"

    def usage(self) -> Any:
        """Return the (T, p) table: a prototype's weight reads the columns of its batch."""
        return self.batches.usage()

    def divided(self, X: _Floats, size: _Floats, centre: _Floats) -> _Floats:
        """Return (n, p): sizes (n, T) divided by each column's part of the exponent.

        A prior looks at no column and gives nothing; a prototype that equals the row gives as its
        batch looks at columns.
        """
        Z, out = self._scaled(X), np.zeros((len(X), self.n_features))
        for t in np.flatnonzero(self.batches.batch != PRIOR).tolist():
            b = int(self.batches.batch[t])
            gap: Any = Z - self.prototypes[t]
            away = cast("_Floats", np.where(self.is_category & ~np.isnan(gap), gap != 0, gap))
            v: _Floats = self.batches.inverse_bandwidth[b]
            with np.errstate(over="ignore"):
                part = cast("_Floats", np.where(np.isnan(away), self._gaps[b], (v * away) ** 2))
            alike = np.sum(part, axis=1) == 0
            part[alike] = v
            total = np.maximum(np.sum(part, axis=1), np.finfo(np.float64).tiny)
            out[:, self.columns] += part * (size[:, t] / total)[:, None]
        return out

    def marks(self) -> Marks:
        """Return (columns, values): two units about the centres."""
        away, numbers = 2.0 / self.inverse, ~self.is_category
        low, high = self.centre - away, self.centre + away
        return outer_marks(self.columns[numbers], low[numbers], high[numbers])

    def take(self, voters: NDArray[np.intp]) -> Self:
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
