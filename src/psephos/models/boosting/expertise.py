"""SamBA's distance and local weights: from training rows and rounds to a `Local`."""

from dataclasses import dataclass, field

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray
from psephos.estimator.input import Context
from psephos.kernels.prediction.similarity import Metric, mean_distance
from psephos.models.boosting.loop import Round
from psephos.models.training import Training
from psephos.models.units import power_of_columns, spread_of_columns
from psephos.vote import InverseDistance, Local, LocalRelevance, Voters

_ANCHORS = 1 << 20  # task id of the seed that draws anchors: above any number of voters


def relevance(n_classes: int) -> tuple[float, float]:
    """Return omega where a voter is wrong and where it is right: exp(-1/(K-1)) and e."""
    return float(np.exp(-1.0 / (n_classes - 1))), float(np.e)


def anchors_of(n_rows: int, n_anchors: int | None, context: Context) -> Indices:
    """Return the rows that serve as anchors: all, or `n_anchors` drawn without replacement."""
    if n_anchors is None:
        return np.arange(n_rows)
    if n_anchors > n_rows:
        raise PsephosError(
            f"n_anchors={n_anchors} is more than the {n_rows} distinct training rows: lower it, "
            "or use None for all rows."
        )
    drawn = context.generator(_ANCHORS).choice(n_rows, n_anchors, replace=False)
    return np.sort(drawn).astype(np.intp)


@dataclass(frozen=True)
class Geometry:
    """SamBA's distance on given columns, its similarity and its weights, from the training rows."""

    data: Training  # distinct rows
    anchors: Indices  # (m',); rows that serve as anchors
    a: float
    b: float
    distance_scale: str | None  # {'mean', 'sum', None}
    column_scale: str | None  # {'std', None}
    # (q,); columns the distance reads whatever the voters read; None are those of the voters
    columns: Indices | None = None
    unit: float | None = None  # distance that counts as 1, if it is fixed beforehand
    # cache: the similarity of the last columns
    similarities: dict[bytes, InverseDistance] = field(
        default_factory=dict[bytes, InverseDistance], compare=False, repr=False
    )

    def read(self, columns: Indices) -> Floats:
        """Return the training rows on these columns, dense float64."""
        return self.data.table.dense(columns)

    def metric(self, columns: Indices, rows: Floats) -> Metric:
        """Return the distance on these columns; `absent` is set later, from the mean distance."""
        levels = self.data.table.schema.levels
        category = np.array([int(j) in levels for j in columns], dtype=bool)
        scale = np.ones(len(columns))
        if self.column_scale == "std" and len(columns):
            scale = np.where(category, 1.0, spread_of_columns(rows, self.data.weight))
        else:
            self._refuse_far(columns[~category], rows[:, ~category])
        return Metric(scale, category, 0.0)

    def _refuse_far(self, columns: Indices, rows: Floats) -> None:
        """Raise PsephosError if squares of a column's numbers would be beyond float64."""
        far = columns[power_of_columns(rows) != 0]
        if len(far):
            name = self.data.table.schema.words().columns[int(far[0])]
            raise PsephosError(
                f"column {name!r} holds numbers whose squares are beyond float64: distances in the "
                "unit of the column cannot be computed. Use column_scale='std', or multiply the "
                "column by a constant."
            )

    def scale(self, mean: float) -> float:
        """Return what divides distances, given their mean over training pairs."""
        if self.unit is not None:
            return self.unit
        return mean if self.distance_scale == "mean" and mean > 0 else 1.0

    def similarity(self, columns: Indices, rows: Floats) -> InverseDistance:
        """Return the similarity on these columns, scaled by the training pairs' mean distance."""
        known = self.similarities.get(columns.tobytes())
        if known is not None:
            return known
        metric = self.metric(columns, rows)
        mean = self.unit
        if mean is None:
            mean = mean_distance(rows, self.data.weight, metric)
        found = InverseDistance(
            a=float(self.a),
            b=float(self.b),
            scale=self.scale(mean),
            per_query=self.distance_scale == "sum",
            column_scale=metric.scale,
            is_category=metric.is_category,
            absent=mean,
        )
        self.similarities.clear()  # only the last columns are reused
        self.similarities[columns.tobytes()] = found
        return found

    def local(self, rounds: list[Round], voters: Voters) -> Local:
        """Return the weights of equation (1), omega normalised as in line 9 of Algorithm 3.

        omega is divided by its sum over anchors and voters and multiplied by the anchors' total
        weight (m where no row has a weight), so that mass times decision is the source's sum.
        """
        low, high = relevance(self.data.target.n_classes)
        weight = self.data.weight[self.anchors]
        right = np.stack([r.right[self.anchors] for r in rounds], axis=1)
        total = float((weight @ np.where(right, high, low)).sum())
        scale = float(weight.sum()) / total
        return self._anchored(right, low * scale, high * scale, voters)

    def graded(self, rounds: list[Round], voters: Voters) -> LocalRelevance:
        """Return the local weights of rounds whose relevance may be any number of at least 0."""
        weight = self.data.weight[self.anchors]
        omega = np.stack([np.asarray(r.relevance)[self.anchors] for r in rounds], axis=1)
        total = float((weight @ omega).sum())
        if total <= 0:
            raise PsephosError(
                "relevance is 0 for every voter on every anchor: no voter would have weight. Let "
                "it return a positive number on some rows, or keep more anchors."
            )
        nobody = self._anchored(np.empty((len(weight), 0), dtype=bool), 1.0, 1.0, voters)
        return LocalRelevance(nobody, omega * (float(weight.sum()) / total))

    def _anchored(self, right: NDArray[np.bool_], low: float, high: float, voters: Voters) -> Local:
        columns = voters.columns if self.columns is None else self.columns
        rows = self.read(columns)
        return Local(
            n_features=voters.n_features,
            columns=columns,
            similarity=self.similarity(columns, rows),
            anchors=np.ascontiguousarray(rows[self.anchors]),
            anchor_weight=self.data.weight[self.anchors],
            right=np.packbits(right, axis=1),
            voters=right.shape[1],
            low=low,
            high=high,
            rows=self.data.table.rows[self.anchors],
            anchor_class=self.data.y[self.anchors],
        )
