"""Plots of a vote of prototypes: its predictions over two columns, its batches, its columns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Axes, ColumnLists, Floats, TableLike
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import Display, axes_of, plain, pyplot
from psephos.explain.prototypes import Prototypes, reference_point
from psephos.vote.frames import Framed


# ---------------------------------------------------------------------- surface
@dataclass(frozen=True, eq=False)
class DecisionSurface(Display):
    """Predictions where two columns vary and all others have the values of one case.

    `plot` draws the most probable class at each point, paler the less probable it is, or the mean.

    Nothing is fitted, and no training table is needed: the vote predicts every point of a grid.

    Parameters
    ----------
    prototypes : Prototypes
    varied : tuple of two int
        Positions of the columns among those read.
    grid : tuple of two ndarrays, of lengths a and b
        Values of the first and the second column, encoded.
    case : ndarray of shape (q,)
        The values of all columns that do not vary.
    predicted : ndarray of shape (a, b, K)
        Probabilities of the classes; for regression the mean, K = 1.
    familiarity : ndarray of shape (a, b)
        mass - 1: where it is near 0, the prior decides.
    """

    prototypes: Prototypes
    varied: tuple[int, int]
    grid: tuple[Floats, Floats]
    case: Floats
    predicted: Floats
    familiarity: Floats

    @classmethod
    def from_estimator(
        cls,
        estimator: VoteEstimator,
        columns: tuple[Any, Any],
        X: TableLike,
        *,
        limits: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None),
        n_points: int = 60,
    ) -> Self:
        """Return the surface over two columns.

        Parameters
        ----------
        estimator : fitted ProsetClassifier or ProsetRegressor
        columns : two of str or int
            Names or positions of columns that the model reads.
        X : array, data frame or sparse table of shape (n, p)
            The case that gives the values of all other columns; of several rows, their
            `reference_point`.
        limits : two of (low, high) or None, default=(None, None)
            Ranges of the columns; None covers the prototypes, the case, and a standard deviation on
            both sides of the mean. A category takes all its levels.
        n_points : int, default=60
            Points along each numeric column.

        Raises
        ------
        PsephosError
            If the model does not read a column, or a range is invalid.
        """
        found = Prototypes.of(estimator)
        rows, _ = found.rows(estimator, X)
        case = rows[reference_point(estimator, X) if len(rows) > 1 else 0]
        first, second = (_position(found, column) for column in columns)
        if first == second:
            raise PsephosError(
                f"columns must be two different columns; got {found.names[first]!r} twice."
            )
        if n_points < 2:
            raise PsephosError(f"n_points must be at least 2; got {n_points}.")
        grid = (
            _grid(found, first, case[first], limits[0], n_points),
            _grid(found, second, case[second], limits[1], n_points),
        )
        points = np.tile(case, (len(grid[0]) * len(grid[1]), 1))
        points[:, first] = np.repeat(grid[0], len(grid[1]))
        points[:, second] = np.tile(grid[1], len(grid[0]))
        shape = (len(grid[0]), len(grid[1]))
        predicted = found.predictions(points).reshape(*shape, -1)
        familiarity = found.familiarity(points).reshape(shape)
        return cls(found, (first, second), grid, case, predicted, familiarity)

    def table(self) -> ColumnLists:
        """Return one entry per point.

        Keys: ``value_<column>`` for both columns, ``probability_<class>`` for each class or
        ``mean``, and ``familiarity``.
        """
        found, (first, second) = self.prototypes, self.varied
        a, b = self.grid
        table = {
            f"value_{found.names[first]}": found.in_words(first, np.repeat(a, len(b))),
            f"value_{found.names[second]}": found.in_words(second, np.tile(b, len(a))),
        }
        names = [f"probability_{label}" for label in found.classes] or ["mean"]
        for k, name in enumerate(names):
            table[name] = self.predicted[:, :, k].ravel().tolist()
        return {**table, "familiarity": self.familiarity.ravel().tolist()}

    def _draw(self, axes: Axes) -> None:
        found = self.prototypes
        if not found.classes:
            shown = axes.pcolormesh(*self.grid, self.predicted[:, :, 0].T, shading="nearest")
            axes.figure.colorbar(shown, ax=axes, label="mean")
        else:
            k = len(found.classes)
            likeliest = self.predicted.argmax(axis=2)
            sure = (k * self.predicted.max(axis=2, keepdims=True) - 1.0) / (k - 1)
            pure = np.array([_colour(j) for j in range(k)])[likeliest]
            blend = np.clip(1.0 - (1.0 - pure) * (0.1 + 0.8 * sure), 0.0, 1.0)
            axes.pcolormesh(*self.grid, blend.transpose(1, 0, 2), shading="nearest")
            _legend(axes, found.classes)
        for d, values, side in zip(self.varied, self.grid, ("x", "y"), strict=True):
            getattr(axes, f"set_{side}label")(plain(found.names[d]))
            if found.levels[d]:
                words = [plain(word) for word in found.levels[d]]
                getattr(axes, f"set_{side}ticks")(values, words)
        axes.plot(*self.case[list(self.varied)], "k+", ms=9)


def _position(found: Prototypes, column: Any) -> int:
    """Return the position of a column, given by name or position, among those read."""
    known: list[Any] = found.names if isinstance(column, str) else found.columns.tolist()
    if column not in known:
        raise PsephosError(
            f"columns must be read by the model ({', '.join(found.names) or 'it reads none'}); got "
            f"{column!r}."
        )
    return known.index(column)


def _grid(
    found: Prototypes, d: int, at: float, limit: tuple[float, float] | None, n_points: int
) -> Floats:
    if found.levels[d]:
        return np.arange(float(len(found.levels[d])))
    centre, unit = found.kernels.centre[d], 1.0 / found.kernels.inverse[d]
    there = np.array([*found.voters.cases[:, d], at, centre - unit, centre + unit])
    low, high = limit or (np.nanmin(there), np.nanmax(there))
    if not (np.isfinite([low, high]).all() and low < high):
        raise PsephosError(
            f"limits of {found.names[d]!r} must be a lower and a higher number; got {low} and "
            f"{high}."
        )
    return np.linspace(low, high, n_points)


# ---------------------------------------------------------------------- map of a batch
@dataclass(frozen=True, eq=False)
class BatchMap(Framed):
    """The prototypes of one batch on a plane, by principal components of the kernel's distances.

    With v the inverse bandwidths of the batch, c_j its prototypes and w_j their weights::

        Z_jd  = v_d c_jd,    mean_d = sum_j w_j Z_jd / sum_j w_j
        C     = sum_j w_j (Z_j - mean) (Z_j - mean)' / sum_j w_j
        place = (Z_j - mean) U,    U the eigenvectors of C of the greatest eigenvalues

    A category has one column per level, which is v_d / sqrt(2) at its own level and else 0. With
    all eigenvectors the squared distance of two rows without missing values is ``-2 log G``; the
    plane shows the share `explained` of the variance. A missing value is replaced by the mean.

    The eigenvectors are those of the weighted covariance around the weighted mean, as in the
    manual; its author's program centres again after weighting, which gives a different map.

    Source: the proset manual (N. Ruf), on maps of batches; the rules for categories and missing
    values are ours.

    Parameters
    ----------
    model : fitted ProsetClassifier or ProsetRegressor
    prototypes : Prototypes
    batch : int
    mean : ndarray of shape (D,)
        Of the D columns that the batch reads, with one per level of a category.
    directions : ndarray of shape (D, 2), or with fewer columns
        U; the entry of greatest absolute value of each column is positive.
    explained : ndarray of shape (2,), or fewer
        Eigenvalues / their sum; zeros if all prototypes coincide.
    """

    model: Any
    prototypes: Prototypes
    batch: int
    mean: Floats
    directions: Floats
    explained: Floats

    @classmethod
    def from_estimator(
        cls, estimator: VoteEstimator, batch: int = 0, *, n_directions: int = 2
    ) -> Self:
        """Return the map of one batch.

        Parameters
        ----------
        estimator : fitted ProsetClassifier or ProsetRegressor
        batch : int, default=0
            The number of the batch, as in `PrototypeTable`.
        n_directions : int, default=2
            The most directions; there are not more than columns or prototypes.

        Raises
        ------
        PsephosError
            If the batch does not exist, or reads no column.
        """
        found = Prototypes.of(estimator)
        n_batches = len(found.voters.batches.inverse_bandwidth)
        if not 0 <= batch < n_batches:
            raise PsephosError(f"batch must be from 0 to {n_batches - 1}; got {batch}.")
        own = found.batch == batch
        Z = _spread(found, batch, found.voters.cases[own])
        if not Z.shape[1]:
            raise PsephosError(f"batch must read a column; batch {batch} does not.")
        weight = found.kernels.weight[own]
        known = ~np.isnan(Z) * weight[:, None]
        total = known.sum(axis=0)
        mean = np.where(known > 0, Z, 0.0) * known
        mean = mean.sum(axis=0) / np.where(total > 0, total, 1.0)
        off = np.sqrt(weight / weight.sum())[:, None] * _off(Z, mean)
        _, sizes, directions = np.linalg.svd(off, full_matrices=False)
        share = sizes**2 / ((sizes**2).sum() or 1.0)
        greatest = np.abs(directions).argmax(axis=1)
        sign = np.sign(directions[np.arange(len(directions)), greatest])
        U = np.ascontiguousarray((sign[:, None] * directions)[:n_directions].T)
        return cls(estimator, found, batch, mean, U, share[:n_directions])

    def transform(self, X: TableLike) -> Floats:
        """Return the (n, 2) coordinates of any rows on the same map.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n, p)
        """
        return self._places(self.prototypes.rows(self.model, X)[0])

    def _places(self, rows: Floats) -> Floats:
        return _off(_spread(self.prototypes, self.batch, rows), self.mean) @ self.directions

    def table(self) -> ColumnLists:
        """Return one entry per prototype.

        Keys: ``voter``, ``row``, ``answer``, ``weight``, and the coordinates ``place_0``,
        ``place_1``, ...
        """
        found = self.prototypes
        own = np.flatnonzero(found.batch == self.batch)
        places = self._places(found.voters.cases[own]).T.tolist()
        return {**found.described(own), **{f"place_{i}": own for i, own in enumerate(places)}}

    def plot(self, X: TableLike | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the first two coordinates of the prototypes, with area by weight, and of other rows.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n, p), default=None
            Rows to draw as crosses.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        axes: Any = axes_of(ax)
        found, own = self.prototypes, self.prototypes.batch == self.batch
        weight, answers = found.kernels.weight[own], np.array(found.answers(), dtype=object)[own]
        places = _plane(self._places(found.voters.cases[own]))
        if found.classes:
            colours: Any = [_colour(found.classes.index(answer)) for answer in answers]
            _legend(axes, found.classes)
        else:
            colours = answers.astype(np.float64)
        shown = axes.scatter(*places.T, s=10 + 190 * weight / weight.max(), c=colours, alpha=0.7)
        if not found.classes:
            axes.figure.colorbar(shown, ax=axes, label="answer")
        if X is not None:
            axes.plot(*_plane(self.transform(X)).T, "kx", ms=5)
        share = [f"{part:.0%}" for part in self.explained[:2]]
        axes.set_xlabel(f"first direction ({share[0]})")
        axes.set_ylabel(f"second direction ({share[1]})" if len(share) > 1 else "")
        return axes


def _spread(found: Prototypes, batch: int, rows: Floats) -> Floats:
    """Return rows (n, q) as (n, D): the columns that a batch reads, scaled, one per level."""
    v, Z = found.voters.batches.inverse_bandwidth[batch], found.scaled(rows)
    parts = [np.empty((len(Z), 0))]
    for d in np.flatnonzero(v > 0).tolist():
        if found.levels[d]:
            there = Z[:, d, None] == np.arange(len(found.levels[d]))
            apart = np.where(np.isnan(Z[:, d, None]), np.nan, there)
            parts.append(apart * v[d] / np.sqrt(2.0))
        else:
            parts.append(Z[:, d, None] * v[d])
    return np.hstack(parts)


def _off(Z: Floats, mean: Floats) -> Floats:
    return np.where(np.isnan(Z), 0.0, Z - mean)


# ---------------------------------------------------------------------- columns
@dataclass(frozen=True, eq=False)
class ColumnMap(Display):
    """The inverse bandwidth of each column in each batch.

    `plot` draws a heat map with columns down and batches across, darker for greater values.

    Source: the plot of feature weights in proset (N. Ruf).

    Parameters
    ----------
    names : list of length q
        Columns that any batch reads, the greatest inverse bandwidth first.
    inverse_bandwidth : ndarray of shape (B, q)
        Per standard deviation of the column (unscaled for a category), so that columns can be
        compared; 0 where a batch does not read the column.
    per_unit : ndarray of shape (B, q)
        The same per unit of the column.
    """

    names: list[str]
    inverse_bandwidth: Floats
    per_unit: Floats

    @classmethod
    def from_estimator(cls, estimator: VoteEstimator) -> Self:
        """Return the map of a fitted ProsetClassifier or ProsetRegressor.

        Raises
        ------
        PsephosError
            If the estimator has no prototypes.
        """
        found = Prototypes.of(estimator)
        v = found.voters.batches.inverse_bandwidth
        order = np.argsort(-v.max(axis=0, initial=0.0), kind="stable")
        names = [found.names[d] for d in order.tolist()]
        return cls(names, v[:, order], found.per_unit()[:, order])

    def table(self) -> ColumnLists:
        """Return one entry per batch and column: ``batch``, ``column`` and the two values."""
        n_batches, q = self.inverse_bandwidth.shape
        return {
            "batch": np.repeat(np.arange(n_batches), q).tolist(),
            "column": self.names * n_batches,
            "inverse_bandwidth": self.inverse_bandwidth.ravel().tolist(),
            "per_unit": self.per_unit.ravel().tolist(),
        }

    def _draw(self, axes: Axes) -> None:
        if not self.inverse_bandwidth.size:
            raise PsephosError("the map is empty: no batch reads a column.")
        n_batches, q = self.inverse_bandwidth.shape
        shown = axes.imshow(self.inverse_bandwidth.T, cmap="Blues", vmin=0, aspect="auto")
        axes.figure.colorbar(shown, ax=axes, label="inverse bandwidth")
        axes.set_yticks(range(q), [plain(name) for name in self.names], fontsize=8)
        axes.set_xticks(range(n_batches))
        axes.set_xlabel("batch")


# ---------------------------------------------------------------------- drawing
def _colour(k: int) -> tuple[float, ...]:
    """Return the (r, g, b) colour of a class; ten colours repeat."""
    return tuple(pyplot().get_cmap("tab10")(k % 10)[:3])


def _legend(axes: Axes, classes: list[Any]) -> None:
    for k, label in enumerate(classes):
        axes.scatter([], [], color=_colour(k), label=plain(label))
    axes.legend(loc="upper right", fontsize=8)  # "best" is slow with many cases


def _plane(places: Floats) -> Floats:
    """Return the first two coordinates; the second is 0 if there is only one."""
    return np.hstack([places, np.zeros((len(places), 1))])[:, :2]
