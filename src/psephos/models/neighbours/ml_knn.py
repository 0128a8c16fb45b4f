"""ML-kNN: the posterior of each label given the number of nearest neighbours that have it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray, TableLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.training import power_of_columns, spread_of_columns
from psephos.vote import CaseVoters, Neighbours, Readout, Vote
from psephos.vote.calibration import PosteriorTable as Posteriors
from psephos.vote.operations.distance import METRICS


@parameters
class MLKNeighborsClassifier(VoteClassifier):
    """ML-kNN: each label by how many of the k nearest training cases have it.

    Use it if a case may have several labels (functions of a gene, contents of an image). For each
    label it estimates the probability given that j of the k neighbours have it, so a rare label may
    be predicted even if fewer than half of them do. With ordinary classes each class is a label,
    and one is predicted.

    N(x) are the k nearest training cases. In `fit` a training case is not its own neighbour; in
    `predict` it may be. C_l(x) is the number of them that have label l. H1 is "the case has l", H0
    "it has not", s the smoothing, and c_l[j], c'_l[j] are the weights of training cases with and
    without l of which j neighbours have it::

        P(H1) = (s + sum_i w_i y_il) / (2 s + sum_i w_i)
        P(j | H1) = (s + c_l[j]) / (s (k + 1) + sum_j c_l[j]),   P(j | H0) the same of c'_l
        P(H1 | C_l) = P(H1) P(C_l | H1) / (P(H1) P(C_l | H1) + P(H0) P(C_l | H0))

    Label l is predicted if this is at least `threshold`. It is a vote of the training cases: each
    votes for its own labels, the k nearest have weight, and a table has the posterior for each
    share of votes.

    Parameters
    ----------
    n_neighbors : int
        k; if there are fewer other cases (by weight), all of them.
    smoothing : float
        s.
    threshold : float
        The smallest posterior of a label that is predicted.
    strict : bool
        Whether the posterior must be above `threshold` (as in the source's pseudo-code; the
        authors' results use at least).
    metric : str
        One of 'euclidean', 'manhattan', 'chebyshev', 'cosine', 'correlation', 'braycurtis',
        'canberra', 'hamming' and 'jaccard'.
    column_scale : {'std', None}
        Divisor of each numeric column: its standard deviation over the training cases without
        missing values, or none (as in the source; columns with large numbers then dominate).
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories: two different ones are 1 apart (only with the Euclidean
        metric).
    n_jobs : int
        Threads of the search in fit; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels (the indices of the columns of y, or their names in a frame), or the classes.
    prior_ : ndarray of shape (n_labels,)
        P(H1).
    posterior_ : ndarray of shape (n_labels, k + 1)
        P(H1 | j) for j = 0 ... k.

    Raises
    ------
    PsephosError
        In fit: if there is only one training case, a metric other than the Euclidean is used with
        missing values or categories, or squares of a column overflow. In predictions: if squares of
        a row's distances overflow.

    Notes
    -----
    Ties are broken by the order of the table. Euclidean distances are over the columns present in
    both cases: the sum of squares is multiplied by q / (the number of these) before the root. Cases
    without a common column are not neighbours. If fewer than k are left, j is k times the share of
    them that have the label, rounded. If none is left (a case without any value) the prediction is
    by `prior_`; such a training case is not counted in the table. A case of weight 2 is two cases,
    which are neighbours of each other; the k nearest are cases whose weights sum to k, the last
    one in part. The model keeps all training cases, dense.

    If y is a column of classes, each class is a label, `threshold` is not used, and posteriors are
    divided by their sum.

    References
    ----------
    Zhang & Zhou (2007), "ML-KNN: a lazy learning approach to multi-label learning", Pattern
    Recognition 40.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import MLKNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5])
    >>> model = MLKNeighborsClassifier(5).fit(X, Y)
    >>> model.predict([[1.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("training cases",), "neighbours", "normalised, then table of posteriors",
        "counts over the training cases",
    )  # fmt: skip
    contender: ClassVar[Contender] = Contender(
        "ml-knn", "neighbours",
        {"quick": {"n_neighbors": Integers(3, 15), "column_scale": Choice(("std", None))}},
        settings=lambda params, shape, seed: {"column_scale": "std", **params},
        notes="columns are divided by their standard deviations, or not, as drawn",
        small={"n_neighbors": 3},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_neighbors": Interval(1, whole=True),
        "smoothing": Interval(0),
        "threshold": Interval(0, 1),
        "metric": Options(METRICS),
        "column_scale": Options(("std", None)),
    }
    multilabel: ClassVar[bool] = True

    n_neighbors: int = 10
    _: KW_ONLY
    smoothing: float = 1.0
    threshold: float = 0.5
    strict: bool = False
    metric: str = "euclidean"
    column_scale: str | None = None
    categorical_features: CategoricalFeatures = "from_dtype"
    n_jobs: int | None = None
    prior_: Floats = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        target, Y = _as_labels(labels, 2 * self.threshold - 1, not self.strict)
        cases = table.dense()
        m, p = cases.shape
        k = min(self.n_neighbors, int(weight.sum() * (1 + 1e-12)) - 1)
        if k < 1:
            raise PsephosError(
                f"the training cases must have a weight of at least 2 in all, as a case is not its "
                f"own neighbour; got {weight.sum():g}."
            )
        is_category = np.zeros(p, dtype=np.bool_)
        is_category[list(table.n_codes)] = True
        self._check_columns(is_category, table, cases)
        scale = np.ones(p)
        if self.column_scale == "std":
            scale = np.where(is_category, 1.0, spread_of_columns(cases, weight))
        every = np.arange(p)
        mass = np.empty(0) if (weight == 1).all() else weight
        near = Neighbours(
            p, every, cases, np.arange(m), k, False, scale, is_category, np.inf, self.metric, mass
        )
        order, _, counts = near.counted(cases, np.arange(m), self.n_jobs)
        prior, posterior = _tables(Y, (order, counts), weight, k, float(self.smoothing))
        code = target.code[labels.y] if target.kind != "multilabel" else target.coded(Y)
        voters = CaseVoters(p, every, cases, code, np.arange(m))
        readout = Readout("normalised", "share", calibration=Posteriors(posterior, prior))
        return Vote(voters, near, readout, target), {"prior_": prior}

    def _check_columns(self, is_category: NDArray[np.bool_], table: Table, cases: Floats) -> None:
        """Raise PsephosError if distances cannot be computed in the units of the columns."""
        names = table.schema.words().columns
        if self.metric != "euclidean" and is_category.any():
            raise PsephosError(
                f"metric={self.metric!r} needs numeric columns, and column "
                f"{names[int(is_category.argmax())]!r} holds categories: encode it as 0/1 columns "
                "(OneHotEncoder), or use 'euclidean'."
            )
        far = np.flatnonzero((power_of_columns(cases) != 0) & ~is_category)
        if len(far) and self.column_scale is None:
            raise PsephosError(
                f"squares of column {names[int(far[0])]!r} over- or underflow, so that distances "
                "cannot be computed. Use column_scale='std', or multiply the column by a constant."
            )

    def decision_function(self, X: TableLike) -> Floats:
        """Return 2 P(H1 | C) - 1 of each label, (n_samples, n_labels).

        For K classes it is (K P - 1) / (K - 1); for two, that of the second, (n_samples,).
        """
        values = self._values(X)
        return self._decision(*self.vote_.score_and_mass(values))

    def staged_decision_function(self, X: TableLike) -> Iterator[Floats]:
        """Yield it for the first 1, 2, ..., T training cases, with the same table of posteriors."""
        for score, mass in self._staged(X):
            yield self._decision(score, mass)

    def _decision(self, score: Floats, mass: Floats) -> Floats:
        return self._flat(self.vote_.readout.decided(score, self.vote_.target, mass))

    @property
    def posterior_(self) -> Floats:
        """P(H1 | j) of each label, (n_labels, n_neighbors + 1)."""
        self._fitted()
        table: Any = self.vote_.readout.calibration
        return table.posterior

    def kneighbors(
        self, X: TableLike | None = None, n_neighbors: int | None = None
    ) -> tuple[Floats, Indices]:
        """Return the distances and training rows of the nearest cases, as scikit-learn does.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            None: the training cases, each without itself.
        n_neighbors : int, default=None
            None: that of the model.

        Returns
        -------
        distance : ndarray of shape (n_samples, n_neighbors)
            Infinite if a case and the row have no common column.
        row : ndarray of shape (n_samples, n_neighbors)
            The nearest first; ties in table order.
        """
        self._fitted()
        near: Any = self.vote_.weighting
        k = near.k if n_neighbors is None else n_neighbors
        most = len(near.cases) - (X is None)
        if not Interval(1, most, whole=True).allows(k):
            raise PsephosError(f"n_neighbors must be an integer from 1 to {most}; got {k!r}.")
        if X is None:
            own = np.arange(len(near.cases))
            rows = np.zeros((len(own), near.n_features))
            rows[:, near.columns] = near.cases
            order, apart = near.found(rows, k, own, self.n_jobs)
        else:
            order, apart = near.found(self._table(X).dense(), k, n_jobs=self.n_jobs)
        return apart, order


def _as_labels(labels: Labels, threshold: float, or_equal: bool) -> tuple[Any, NDArray[np.bool_]]:
    """Return the target, and the 0/1 matrix of labels, (m, K); each class is a label."""
    target: Any = labels.target
    if target.kind == "multilabel":
        return replace(target, threshold=threshold, or_equal=or_equal), labels.y.astype(bool)
    return target, labels.y[:, None] == np.arange(target.n_classes)


def _tables(
    Y: NDArray[np.bool_], near: tuple[Indices, Floats], weight: Floats, k: int, s: float
) -> tuple[Floats, Floats]:
    """Return P(H1), (K,), and P(H1 | j), (K, k + 1); `near` holds neighbours and their weights.

    If the weights sum to less than k, j is k times the share with the label; j is rounded, and a
    case without neighbours is left out.
    """
    number, found = np.zeros(Y.shape), near[1].sum(axis=1)
    for case, counts in zip(near[0].T, near[1].T, strict=True):
        number += counts[:, None] * Y[case]
    known = found > 0
    count = np.rint(number * (k / np.where(known, found, 1.0))[:, None]).astype(np.intp)
    prior = (s + weight @ Y) / (2 * s + weight.sum())
    posterior = np.empty((Y.shape[1], k + 1))
    for label in range(Y.shape[1]):
        has = Y[:, label]
        joint = [
            chance * _smoothed(np.bincount(count[rows, label], weight[rows], k + 1), s)
            for chance, rows in ((prior[label], has & known), (1 - prior[label], ~has & known))
        ]
        total = joint[0] + joint[1]
        seen = total > 0
        posterior[label] = np.where(seen, joint[0] / np.where(seen, total, 1.0), prior[label])
    return prior, posterior


def _smoothed(counts: NDArray[Any], s: float) -> Floats:
    """Return P(j | H) from counts; 0 without counts and smoothing."""
    total = s * len(counts) + counts.sum()
    return (s + counts) / total if total > 0 else np.zeros(len(counts))
