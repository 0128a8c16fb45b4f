"""Weights by distance: local expertise, prototypes, nearest neighbours.

A row is compared with m points. The profile, one formula, turns their squared distances into m
similarities; the weights of the voters are the similarities times a table.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, NDArray, Usage
from psephos.kernels.numerics.logs import inverse_in_logs, of_greatest
from psephos.vote import part
from psephos.vote.codec import register
from psephos.vote.operations.distance import PRIOR, Distance
from psephos.vote.target import AnyTarget

_CELLS = 1 << 20  # distances held at once
_MOST = np.finfo(np.float64).max  # reported for distances beyond float64


class Nearest(NamedTuple):
    """The training cases of greatest weight for each case, all arrays of shape (n, k).

    `anchor` is the index among the cases that the weights store, `share` that of the total
    weight, `row` the name or position in the training table, and `answer` the class (or number) in
    words. `meaning` explains the role of these cases in the vote.
    """

    anchor: Indices
    distance: Floats
    share: Floats
    row: Array
    answer: NDArray[Any]
    meaning: str


# ---------------------------------------------------------------------- profiles
@register
class InversePower:
    """The similarity ``1 / (a^b + d^b)`` of a distance d, which is divided by `scale`.

    If a = 0 and some points are at distance 0, only these count. `per_query`: a row's distances are
    divided by their sum over the points, weighted by mass, instead of by `scale`.
    """

    tag: ClassVar[str] = "inverse power"
    words: ClassVar[str] = "weights by local expertise"
    a: float
    b: float
    scale: float
    per_query: bool

    def near(self, u: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Return (w, log_scale): similarities times mass are exp(log_scale) w, (n, m) and (n,)."""
        near, scale = inverse_in_logs(u, self.a, self.b, self.scale, mass * float(self.per_query))
        return near * mass, scale


@register
class Gaussian:
    """The similarity ``exp(-u / 2)`` of a squared distance u."""

    tag: ClassVar[str] = "gaussian profile"
    words: ClassVar[str] = "weights by Gaussian kernels"

    def near(self, u: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Return (w, log_scale): similarities times mass are exp(log_scale) w."""
        near, log_scale = of_greatest(-0.5 * u)
        return near * mass, log_scale


@register
class NearestK:
    """The similarity 1, or 1 / distance, of the k nearest points, and 0 of the others.

    The nearest points are taken until their total mass is k, the last in part; of equally near
    points the first, and none at an infinite distance. `by_distance`: the similarity is 1 /
    distance; if some points are at distance 0, it is 1 for these and 0 for the others. `needed`: a
    row without neighbours raises; otherwise no voter has weight there.
    """

    tag: ClassVar[str] = "k nearest"
    k: int
    by_distance: bool
    needed: bool

    @property
    def words(self) -> str:
        """Return a short description of these weights."""
        return f"the {self.k} nearest neighbours"

    def near(self, u: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Return (w, 0): similarities times the part of each point's mass that is counted."""
        apart = np.sqrt(u)
        order = np.argsort(apart, axis=1, kind="stable")
        apart = np.take_along_axis(apart, order, axis=1)
        counted = np.where(apart < np.inf, mass[order], 0.0)
        left = self.k - (np.cumsum(counted, axis=1) - counted)
        counted = np.where(left > self.k * 1e-12, np.minimum(left, counted), 0.0)
        out = np.zeros(u.shape)
        np.put_along_axis(out, order, self.weighed(apart, counted), axis=1)
        return out, np.zeros(len(u))

    def weighed(self, apart: Floats, counted: Floats) -> Floats:
        """Return the weights of neighbours, from their distances and counted masses."""
        if self.needed and not counted.any(axis=1).all():
            raise PsephosError(
                "a row has a value in no column in which a training case has one, so that none is "
                "its neighbour: give it a value."
            )
        if not self.by_distance:
            return counted
        same = (apart == 0) & (counted > 0)
        far = 1.0 / np.where(apart == 0, 1.0, apart)
        weight = np.where(same.any(axis=1, keepdims=True), same, far)
        return weight * counted


# ---------------------------------------------------------------------- tables
@register
class RightOrWrong:
    """A table (m, T) of two numbers: `high` where voter t was right at point i, else `low`.

    Parameters
    ----------
    right : ndarray of shape (m, ceil(T / 8)), uint8
        Bits of which voter was right where, eight voters a byte, the first in the highest bit.
    voters : int
        T.
    low, high : float
    """

    tag: ClassVar[str] = "right or wrong"
    right: NDArray[np.uint8]
    voters: int
    low: float
    high: float

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.right.shape[1:] == ((self.voters + 7) // 8,), "the bits have another shape")

    @property
    def n_voters(self) -> int:
        return self.voters

    @property
    def was_right(self) -> NDArray[np.bool_]:
        """Return the (m, T) truth table."""
        return np.unpackbits(self.right, axis=1, count=self.voters).astype(bool)

    def sums(self, near: Floats) -> Floats:
        """Return the (n, T) sums of similarities (n, m) times the table."""
        total = near.sum(axis=1, keepdims=True)
        return self.low * total + (self.high - self.low) * (near @ self.was_right)

    def take(self, voters: Indices) -> Self:
        right = np.packbits(self.was_right[:, voters], axis=1)
        return replace(self, voters=len(voters), right=right)


@register
class Degrees:
    """A table `degrees` (m, T) of numbers of at least 0."""

    tag: ClassVar[str] = "degrees"
    degrees: Floats

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.degrees.ndim == 2, "the table is not (m, T)")

    @property
    def n_voters(self) -> int:
        return self.degrees.shape[1]

    def sums(self, near: Floats) -> Floats:
        return near @ self.degrees

    def take(self, voters: Indices) -> Self:
        return replace(self, degrees=self.degrees[:, voters])


@register
class OwnPoint:
    """Each voter is a point, with the index `voter` (T,), and has the similarity of that point."""

    tag: ClassVar[str] = "own point"
    voter: Indices

    def __post_init__(self) -> None:
        part.check_part(self)

    @property
    def n_voters(self) -> int:
        return len(self.voter)

    def sums(self, near: Floats) -> Floats:
        return near[:, self.voter]

    def take(self, voters: Indices) -> Self:
        return replace(self, voter=self.voter[voters])


# ---------------------------------------------------------------------- weights
@register
class DistanceWeights(part.ReadsLike, part.Weighting):
    """w_t(x) = sum over points i of mass_i k(u_i(x)) table_it.

    Parameters
    ----------
    distance : Distance
        u, the squared distances from the points.
    profile : InversePower, Gaussian or NearestK
        k, the similarity of a squared distance.
    mass : ndarray of shape (m,)
        Positive.
    table : RightOrWrong, Degrees or OwnPoint
    """

    tag: ClassVar[str] = "distance weights"
    read_by: ClassVar[str] = "distance"
    distance: Distance
    profile: InversePower | Gaussian | NearestK
    mass: Floats
    table: RightOrWrong | Degrees | OwnPoint

    def __post_init__(self) -> None:
        part.check_part(self)
        m = len(self.distance.points)
        part.check(self.mass.shape == (m,) and m > 0, "points and their mass differ in number")
        part.check(self.mass > 0, "a mass is not positive")
        if isinstance(self.table, OwnPoint):
            part.check_within(self.table.voter, m, "a voter is not a point")
        else:
            held = self.table.right if isinstance(self.table, RightOrWrong) else self.table.degrees
            part.check(len(held) == m, "the table has not a row a point")
            one = len(self.distance.batches.inverse_bandwidth) < 2
            part.check(one, "points of several batches need a table of a point a voter (OwnPoint)")

    @property
    def n_voters(self) -> int:
        return self.table.n_voters

    @property
    def _centres(self) -> Indices | None:
        """The point at the centre of each voter's kernel; None for other weights."""
        if isinstance(self.profile, Gaussian) and isinstance(self.table, OwnPoint):
            return self.table.voter
        return None

    def _blocks(self, z: Floats) -> Iterator[tuple[slice, Floats]]:
        step = max(1, _CELLS // len(self.mass))
        for start in range(0, len(z), step):
            rows = slice(start, start + step)
            yield rows, self.distance.squares(z[rows])

    def weights(self, X: Floats) -> Floats:
        relative, log_scale = self.relative(X)
        with np.errstate(over="ignore"):
            return relative * np.exp(log_scale)[:, None]

    def relative(self, X: Floats) -> tuple[Floats, Floats]:
        return self._relative(self.distance.scaled(X))

    def _relative(self, z: Floats) -> tuple[Floats, Floats]:
        weights, log_scale = np.empty((len(z), self.n_voters)), np.empty(len(z))
        for rows, u in self._blocks(z):
            near, log_scale[rows] = self.profile.near(u, self.mass)
            weights[rows] = self.table.sums(near)
        return weights, log_scale

    def similarities(self, X: Floats) -> Floats | None:
        """Return (n, T): the kernel between each row and each voter's point."""
        if not isinstance(self.profile, Gaussian):
            return None
        z = self.distance.scaled(X)
        return self.table.sums(np.exp(-0.5 * self.distance.squares(z)))

    def mean_share(self) -> Floats:
        """Return each voter's share of the table; for voters that are points, of the weight.

        The weight is summed over the points, at a cost of m^2 q. A kernel is left out at its own
        point, as in the fit, where prototypes are evaluated on other rows. If all weights are 0,
        shares are those of the mass.
        """
        t = self.n_voters
        if not isinstance(self.table, OwnPoint):
            total = self.table.sums(self.mass[None])[0]
            return total / total.sum() if total.any() else np.full(t, 1 / max(1, t))
        places = np.flatnonzero(self.distance.batches.batch != PRIOR)
        total = np.zeros(t)
        for first in range(0, len(places), step := max(1, _CELLS // t)):
            some = places[first : first + step]
            weights = self._relative(self.distance.points[some])[0]
            if self._centres is not None:
                weights[self._centres == some[:, None]] = 0.0
            mass = weights.sum(axis=1, keepdims=True)
            total += (weights / np.where(mass > 0, mass, 1.0)).sum(axis=0)
        share = total if total.any() else self.mass[self.table.voter]
        return share / share.sum()

    def words(self) -> str:
        return self.profile.words

    def nearest_points(self, X: Floats, k: int) -> tuple[Indices, Floats, Floats]:
        """Return the k points of greatest weight, of equals the nearest: (index, distance, share).

        Shares are of the total weight, priors included; priors are not among the points.
        """
        own = np.flatnonzero(self.distance.batches.batch != PRIOR)
        k = min(k, len(own), self.profile.k if isinstance(self.profile, NearestK) else k)
        order = np.empty((len(X), k), dtype=np.intp)
        apart, share = np.empty((2, len(X), k))
        for rows, u in self._blocks(self.distance.scaled(X)):
            near, _ = self.profile.near(u, self.mass)
            total = near.sum(axis=1, keepdims=True)
            order[rows] = own[np.lexsort((u[:, own], -near[:, own]), axis=1)[:, :k]]
            apart[rows] = np.sqrt(np.take_along_axis(u, order[rows], axis=1))
            some = np.take_along_axis(near, order[rows], axis=1)
            share[rows] = some / np.where(total > 0, total, 1.0)
        return order, np.minimum(apart, _MOST), share

    def nearest(self, voters: part.Voters, target: AnyTarget, X: Floats, k: int) -> Nearest | None:
        """Return the k voters of greatest weight; None if voters are not points.

        The distance is that of the profile, such as ``sqrt(-2 log G)`` for a Gaussian G.
        """
        if not isinstance(self.table, OwnPoint):
            return None
        return cases_near(self.table.voter, voters, target, self.nearest_points(X, k))

    def usage(self) -> Usage:
        """Return the (T, p) table of the columns on which rows and points are compared."""
        if not isinstance(self.table, OwnPoint):
            return part.usage_of_all(self)
        return self.distance.batches.usage()[self.table.voter]

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by each column's part of the squared distance.

        For kernels, and for several batches, this is the distance from each voter's point: a prior
        counts for no column, and the size of a point that equals the row is divided by the inverse
        bandwidths of its batch. Otherwise it is the distance from the row of column means (for a
        category, from the most frequent level).
        """
        d = self.distance
        z, out = d.scaled(X), np.zeros((len(X), self.n_features))
        compared = [(d.scaled(centre[None])[0], 0, size.sum(axis=1))]
        own = self._centres
        if len(d.batches.inverse_bandwidth) > 1 and isinstance(self.table, OwnPoint):
            own = self.table.voter
        if own is not None:
            of, points = d.batches.batch[own].tolist(), d.points[own]
            compared = [(points[t], b, size[:, t]) for t, b in enumerate(of) if b != PRIOR]
        for point, b, moved in compared:
            terms = d.parts(z, point, b)
            if own is not None:
                terms[~terms.any(axis=1)] = d.batches.inverse_bandwidth[b]
            total = terms.sum(axis=1)
            rate = np.divide(moved, total, out=np.zeros(len(z)), where=total > 0)
            out[:, self.columns] += terms * rate[:, None]
        return out

    def marks(self) -> Any:
        """Return (columns, values) around the range of the points."""
        d = self.distance
        return part.range_marks(self.columns, d.points / d.inverse + d.centre, d.is_category)

    def training_rows(self) -> int:
        return int((self.distance.batches.batch != PRIOR).sum())

    def take(self, voters: Indices) -> Self:
        """Return the weights of these voters; kernels keep only their own points."""
        if self._centres is None:
            return replace(self, table=self.table.take(voters))
        kept = self._centres[voters]
        table = OwnPoint(np.arange(len(kept), dtype=np.intp))
        return replace(self, distance=self.distance.take(kept), mass=self.mass[kept], table=table)


def cases_near(
    voter: Indices, voters: Any, target: AnyTarget, found: tuple[Indices, Floats, Floats]
) -> Nearest | None:
    """Return `found` points (index, distance, share) as training cases that vote.

    `voter` (T,) is the point of each voter. None if voters are not cases, or a point with weight is
    no longer a voter.
    """
    order, apart, share = found
    rows = voters.row_names()
    if rows is None or not order.shape[1]:
        return None
    where = np.full(int(max(voter.max(), order.max(initial=0))) + 1, -1)
    where[voter] = np.arange(len(voter))
    place = where[order]
    if ((place < 0) & (share > 0)).any():
        return None
    apart, place = np.where(place < 0, np.inf, apart), np.maximum(place, 0)
    answer = np.array(target.words(voters.values), dtype=object)[place]
    meaning = "Training cases are the voters here, and these have the greatest weight."
    return Nearest(place, apart, share, rows[place], answer, meaning)
