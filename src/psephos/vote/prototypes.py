"""Votes of prototypes: training cases that speak for their own class or value, heard nearby."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.vote.codec import register
from psephos.vote.part import Columns, check
from psephos.vote.prototype_kernels import PRIOR, Batches, KernelWeights
from psephos.vote.readout import Readout
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.vote import Vote

__all__ = [
    "KernelScaling",
    "PrototypeBatch",
    "PrototypeVoters",
    "mixture_moments",
    "prototype_vote",
]

_Floats = NDArray[np.float64]
_MOVED = 1 << 20  # entries of a table of shares held at once
_MOST_NAMED = 6  # a rule names no more columns than this


@register
@dataclass(frozen=True)
class PrototypeVoters:
    """Training cases, each of which says its own class or value, and the prior.

    Parameters
    ----------
    batches : Batches
        T voters, prototypes and priors.
    cases : ndarray of shape (T, q)
        The prototypes in the units of the table, NaN where missing (and for a prior).
    values : ndarray of shape (T, K)
        What each says.
    spread : ndarray of shape (T,)
        Standard deviation of the normal density around what it says; 0 for classes.
    rows : ndarray of shape (T,)
        Identifiers of the prototypes: positions in the training table, or its own row names; -1
        or an empty name where unknown.
    name : str
        What a prior is, in words.
    """

    tag: ClassVar[str] = "prototype voters"
    batches: Batches
    cases: _Floats
    values: _Floats
    spread: _Floats
    rows: NDArray[Any]
    name: str

    def __post_init__(self) -> None:
        t = self.n_voters
        check(self.cases.shape == (t, len(self.columns)), "prototypes have another shape")
        check(self.values.ndim == 2 and len(self.values) == t, "prototypes and votes differ")
        check(self.spread.shape == self.rows.shape == (t,), "prototypes lack names or spreads")
        numbers = (self.cases, self.values, self.spread)
        check(all(a.dtype == np.float64 for a in numbers), "numbers are not float64")
        check(bool(np.isfinite(self.values).all()), "a vote is not finite")
        check(bool(((self.spread >= 0) & (self.spread < np.inf)).all()), "a spread is below 0")

    @property
    def n_features(self) -> int:
        """Return p."""
        return self.batches.n_features

    @property
    def n_voters(self) -> int:
        """Return T."""
        return self.batches.n_voters

    @property
    def columns(self) -> Columns:
        """Return the sorted columns in which the prototypes are described."""
        return self.batches.columns

    def votes(self, X: _Floats) -> _Floats:
        """Return the (n, T, K) votes."""
        return np.broadcast_to(self.values, (len(X), *self.values.shape))

    def usage(self) -> Any:
        """Return the (T, p) table: the columns in which a prototype is described."""
        return self.batches.usage()

    def select(self, columns: Columns) -> Self:
        """Return the same voters on the table reduced to `columns`."""
        return replace(self, batches=self.batches.select(columns))

    def take(self, voters: NDArray[np.intp]) -> Self:
        """Return these voters only; columns no longer read are dropped."""
        batches, read = self.batches.take(voters)
        return replace(
            self,
            batches=batches,
            cases=np.ascontiguousarray(self.cases[voters][:, read]),
            values=self.values[voters],
            spread=self.spread[voters],
            rows=self.rows[voters],
        )

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return the prototype in words: its row, and its values where its batch looks sharpest.

        Such as ``near row 17: dose = 0.5, site = lung and 3 more columns``.
        """
        batch = int(self.batches.batch[voter])
        if batch == PRIOR:
            return self.name
        v = self.batches.inverse_bandwidth[batch]
        sharpest = [d for d in np.argsort(-v, kind="stable").tolist() if v[d] > 0]
        row = self.rows.tolist()[voter]
        place = f"near {row}" if isinstance(row, str) else f"near row {row}"
        place = "near a training case" if row in (-1, "") else place
        if not sharpest:
            return f"{place}, by no column: heard alike everywhere"
        said = [self._value(voter, d, names, levels) for d in sharpest[:_MOST_NAMED]]
        more = len(sharpest) - _MOST_NAMED
        rest = "" if more < 1 else f" and {more} more column{'s' if more > 1 else ''}"
        return f"{place}: {', '.join(said)}{rest}"

    def _value(
        self, voter: int, position: int, names: list[str], levels: dict[int, list[str]]
    ) -> str:
        column, value = int(self.columns[position]), float(self.cases[voter, position])
        if np.isnan(value):
            return f"{names[column]} missing"
        known = levels.get(column, [])
        word = known[int(value)] if 0 <= value < len(known) else f"{value:.6g}"
        return f"{names[column]} = {word}"

    def sides(self, voter: int) -> list[tuple[str, _Floats]]:
        """Return the one answer."""
        return [("always", self.values[voter])]


class KernelScaling(NamedTuple):
    """How a table of p columns is read by kernels; q columns, as `KernelWeights` has them."""

    n_features: int
    columns: Columns
    centre: _Floats
    inverse: _Floats
    n_levels: NDArray[np.intp]
    agree: _Floats


class PrototypeBatch(NamedTuple):
    """What one batch of a fit found.

    `inverse_bandwidth` (q,) >= 0; `prototypes` (J, q) scaled; `weight` (J,) > 0; `answer` (J,),
    class indices or numbers in the target's unit; `rows` (J,) identifiers; `spread` 1 / u of a
    regression, in the target's unit.
    """

    inverse_bandwidth: _Floats
    prototypes: _Floats
    weight: _Floats
    answer: NDArray[Any]
    rows: NDArray[Any]
    spread: float = 0.0


def prototype_vote(
    batches: Sequence[PrototypeBatch],
    scaling: KernelScaling,
    prior: _Floats,
    target: Target | RegressionTarget,
) -> Vote:
    """Return the vote of a prior and of batches of prototypes.

    With s(x) = 1 + sum_j w_j G(x, c_j), the mass, a class has probability ``(prior_k + sum over
    its own prototypes of w_j G(x, c_j)) / s(x)``, and a number is predicted by ``(mean + sum_j
    w_j G(x, c_j) y_j) / s(x)``. mass - 1 is how familiar a case is.

    Parameters
    ----------
    batches : sequence of PrototypeBatch
        In the order they were fitted. Columns that no batch reads are not stored, nor batches
        without a prototype.
    scaling : KernelScaling
    prior : ndarray of shape (n_classes,), or (2,) for a regression
        Class frequencies, which sum to 1; or mean and standard deviation of the target.
    target : Target or RegressionTarget

    Returns
    -------
    vote : Vote
        Voter 0 is the prior, the prototypes follow batch by batch in their order.

    Raises
    ------
    PsephosError
        If the fields do not fit together.

    Notes
    -----
    Source: the proset manual (N. Ruf), model equations. The sum over codes of classes gives these
    probabilities by the link 'share' of `Readout`.
    """
    _check_batches(batches, scaling, target)
    values, spread = _said(batches, prior, target)
    sizes = [len(batch.weight) for batch in batches]
    q = len(scaling.columns)
    offered = Batches(
        scaling.n_features,
        scaling.columns,
        np.array([b.inverse_bandwidth for b in batches], dtype=np.float64).reshape(len(batches), q),
        np.concatenate([[PRIOR], np.repeat(np.arange(len(sizes)), sizes)]).astype(np.intp),
    )
    found, read = offered.take(np.arange(len(values)))  # drops what nobody reads
    whole = np.concatenate([np.full((1, q), np.nan), *(b.prototypes for b in batches)])
    prototypes = np.ascontiguousarray(whole[:, read])
    centre, inverse = scaling.centre[read], scaling.inverse[read]
    codes = scaling.n_levels[read], scaling.agree[read]
    weight = np.concatenate([[1.0], *(b.weight for b in batches)])
    weights = KernelWeights(found, centre, inverse, *codes, prototypes, weight)
    cases = prototypes / inverse + centre
    rows = _identifiers([batch.rows for batch in batches])
    regression = isinstance(target, RegressionTarget)
    name = "the mean of the target" if regression else "the class frequencies"
    voters = PrototypeVoters(found, cases, values, spread, rows, name)
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
            check(bool(there), "a prototype's class is not there")


def _said(
    batches: Sequence[PrototypeBatch], prior: _Floats, target: Target | RegressionTarget
) -> tuple[_Floats, _Floats]:
    """Return what each voter says, (T, K), and the spread around it, (T,)."""
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


def _identifiers(rows: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the identifiers of all prototypes, after an unknown one for the prior."""
    whole = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    if whole.dtype.kind not in "iU":
        whole = whole.astype(object)
    unknown = "" if whole.dtype.kind == "U" else -1
    return np.concatenate([np.array([unknown], dtype=whole.dtype), whole])


def mixture_moments(vote: Vote, X: Any) -> tuple[_Floats, _Floats]:
    """Return mean and variance of the predicted distribution of a number, each (n,).

    A regression by prototypes predicts a mixture of normal densities: voter t has share pi_t(x),
    mean y_t and standard deviation s_t (the prior: those of the target), so that ``mean = sum_t
    pi_t y_t`` and ``variance = sum_t pi_t (s_t^2 + (y_t - mean)^2)``.

    Parameters
    ----------
    vote : Vote
        Of prototypes, with a regression target.
    X : ndarray or sparse table of shape (n, p)

    Raises
    ------
    PsephosError
        If the vote is another.
    """
    voters: Any = vote.voters
    if not isinstance(voters, PrototypeVoters) or vote.target.kind != "regression":
        raise PsephosError("a mixture needs prototypes that answer with numbers.")
    said, within = voters.values[:, 0], voters.spread**2
    mean, variance = np.empty(X.shape[0]), np.empty(X.shape[0])
    size = max(1, _MOVED // vote.n_voters)
    for first in range(0, X.shape[0], size):
        rows = slice(first, first + size)
        share = vote.shares(X[rows])
        mean[rows] = (share * said).sum(axis=1)
        off = said - mean[rows, None]
        variance[rows] = (share * (within + off * off)).sum(axis=1)
    return mean, variance
