"""Bias and variance of an estimator that is fitted on many draws of the rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, check_random_state

from psephos._errors import PsephosError, must_be
from psephos._types import Array, Axes, Floats, Indices, LabelsLike, PerRow, SeedLike, TableLike
from psephos.estimator.labels import read_groups, read_numbers, read_target
from psephos.estimator.params import Interval, is_estimator
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import Display
from psephos.vote.rows import row_groups
from psephos.vote.seen import as_numbers

_TRIES = 100  # attempts to draw rows of every class before an error is raised
LOSSES = ("zero_one", "squared")


@dataclass(frozen=True)
class DrawnTable:
    """A table, its target, and the seed and groups by which rows are drawn."""

    X: Any
    y: Array  # (n,)
    unit: Indices  # (n,), the group of each row, from 0, or the row itself
    classes: Array | None  # sorted labels; None for numbers
    loss: str  # 'zero_one' or 'squared'
    seed: int

    @classmethod
    def read(
        cls, estimator: VoteEstimator, X: Any, y: LabelsLike, loss: str | None, groups: PerRow,
        seed: SeedLike,
    ) -> "DrawnTable":  # fmt: skip
        """Return the table after checks of the target, the groups and the loss."""
        labels = is_estimator(estimator) and bool(is_classifier(estimator))
        if not labels and not (is_estimator(estimator) and is_regressor(estimator)):
            kind = type(estimator).__name__
            raise PsephosError(f"estimator must be a classifier or a regressor; got {kind}.")
        loss = loss or ("zero_one" if labels else "squared")
        must_be("loss", loss, LOSSES)
        if loss == "zero_one" and not labels:
            raise PsephosError(
                "loss must be 'squared' for a regressor; 'zero_one' is for classifiers."
            )
        if loss == "squared" and labels and not hasattr(estimator, "predict_proba"):
            raise PsephosError(
                f"loss='squared' needs predict_proba, which {type(estimator).__name__} lacks: use "
                "'zero_one'."
            )
        X = X if hasattr(X, "shape") else np.asarray(X)
        if labels:
            classes, codes = read_target(X, y)
            answers: Array = classes[codes]
        else:
            classes, answers = None, read_numbers(X, y)
        named = read_groups(groups, len(answers))
        unit = (
            np.arange(len(answers)) if named is None else np.unique(named, return_inverse=True)[1]
        )
        state = int(check_random_state(seed).randint(2**31 - 1))
        return cls(X, answers, unit.ravel().astype(np.intp), classes, loss, state)

    @property
    def copies(self) -> int:
        """The number of rows that equal a row of another group in every column.

        Rows of one group are drawn together, so copies within a group do no harm.
        """
        table = self.X.toarray() if hasattr(self.X, "toarray") else np.asarray(self.X)
        same = row_groups(as_numbers(table))
        units = np.unique(np.column_stack([same, self.unit]), axis=0)[:, 0]
        return int((np.bincount(units)[same] > 1).sum())

    def coded(self, values: Array) -> Floats:
        """Return predictions as (n, K) numbers: one column, or an indicator for each class."""
        if self.classes is None:
            return np.asarray(values, dtype=np.float64)[:, None]
        return (np.asarray(values)[:, None] == self.classes).astype(np.float64)

    def predictions(self, model: Any, X: Any) -> Floats:
        """Return the coded predictions of a fitted estimator."""
        if self.classes is None or self.loss == "zero_one":
            return self.coded(np.asarray(model.predict(X)))
        out = np.zeros((X.shape[0], len(self.classes)))
        out[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return out

    def losses(self, predicted: Floats, y: Array) -> Floats:
        """Return each row's loss: 1 where the class is wrong, or the sum of squared differences."""
        total = ((predicted - self.coded(y)) ** 2).sum(axis=1)
        return total / 2 if self.loss == "zero_one" else total

    def rows(self, b: int) -> Indices:
        """Return the rows of a bootstrap draw; a row that is drawn twice is listed twice."""
        rng = np.random.default_rng([self.seed, b])
        units = int(self.unit.max()) + 1
        order, ends = np.argsort(self.unit, kind="stable"), np.cumsum(np.bincount(self.unit))
        for _ in range(_TRIES):
            drawn = rng.choice(units, units)
            found = [order[ends[u - 1] if u else 0 : ends[u]] for u in np.sort(drawn)]
            rows = np.concatenate(found).astype(np.intp)
            if self.classes is None or len(np.unique(self.y[rows])) == len(self.classes):
                return rows
        raise PsephosError(
            f"{_TRIES} draws of {units} rows or groups in succession lack a class: merge rare "
            "classes."
        )

    def terms(
        self, estimator: VoteEstimator, n_draws: int, n_jobs: int | None = None
    ) -> "AnswerSums":
        """Fit a clone of the estimator on each draw; return the sums of their errors by row."""
        work = joblib.delayed(_fitted)
        runs: Any = joblib.Parallel(n_jobs)(work(self, estimator, b) for b in range(n_draws))
        truth = self.coded(self.y)
        total, squares = np.zeros_like(truth), np.zeros_like(truth)
        times = np.zeros(len(truth), dtype=np.intp)
        for out, predicted, _ in runs:
            off = predicted - truth[out]
            total[out] += off
            squares[out] += off**2
            times[out] += 1
        kept = times > 1
        if kept.sum() < 2:
            raise PsephosError(
                "no two rows were left out of two draws: draw more often (n_draws), or give fewer "
                "rows a group."
            )
        loss = np.array([run[2] for run in runs])
        return AnswerSums(
            self.loss, truth[kept], total[kept], squares[kept], times[kept], self.unit[kept], loss,
            int((~kept).sum()), self.copies,
        )  # fmt: skip


@dataclass(frozen=True)
class AnswerSums:
    """The errors at each row, summed over the models that were fitted without it."""

    loss: str  # 'zero_one' or 'squared'
    truth: Floats  # (n, K), the true value: an indicator per class, or the number
    total: Floats  # (n, K), sums over models of prediction - truth
    squares: Floats  # (n, K), sums of its square
    times: Indices  # (n,), the number of models that predicted the row: at least 2
    unit: Indices  # (n,), the group of each row
    train_loss: Floats  # (n_draws,), the mean loss of each model on its own rows
    left_out: int  # rows that fewer than two models predicted, which are not counted
    copies: int = 0  # predicted rows that equal, in every column, a row that may have been drawn

    @cached_property
    def row_loss(self) -> Floats:
        """Return each row's mean loss over models."""
        return self._scale * self.squares.sum(axis=1) / self.times

    @property
    def _scale(self) -> float:
        return 0.5 if self.loss == "zero_one" else 1.0

    def squared(self) -> dict[str, Floats]:
        """Return each row's squared bias and variance, corrected for the number of models.

        For the 0/1 loss they are halved, as in Kohavi and Wolpert.
        """
        n = self.times[:, None]
        mean = self.total / n
        variance = np.maximum(self.squares - n * mean**2, 0.0) / (n - 1)
        bias = (mean**2 - variance / n).sum(axis=1)
        return {"bias": self._scale * bias, "variance": self._scale * variance.sum(axis=1)}

    def domingos(self) -> dict[str, Floats]:
        """Return each row's bias, variance, and unbiased, biased and net variance (Domingos)."""
        share = self.truth + self.total / self.times[:, None]
        right = self.truth.argmax(axis=1)
        main = share.argmax(axis=1)
        rows = np.arange(len(share))
        bias = (main != right).astype(np.float64)
        variance = 1.0 - share[rows, main]
        return {
            "bias": bias,
            "variance": variance,
            "unbiased variance": np.where(bias == 0, variance, 0.0),
            "biased variance": np.where(bias == 1, share[rows, right], 0.0),
            "net variance": np.where(bias == 1, -share[rows, right], variance),
        }


def _fitted(table: DrawnTable, estimator: VoteEstimator, b: int) -> tuple[Indices, Floats, float]:
    """Return (rows not drawn, their predictions, mean loss on the draw's own rows)."""
    rows = table.rows(b)
    model: Any = clone(estimator)
    names = sorted(n for n in model.get_params() if n.split("__")[-1] == "random_state")
    seeds = np.random.SeedSequence([table.seed, b, 1]).generate_state(max(1, len(names)))
    model.set_params(**{n: int(s >> 1) for n, s in zip(names, seeds, strict=False)})
    # models of psephos may cross-validate within fit: copies of a row must stay together there
    more: dict[str, Any] = {"groups": table.unit[rows]} if hasattr(model, "anatomy") else {}
    own = _safe_indexing(table.X, rows)
    model.fit(own, table.y[rows], **more)
    train = float(table.losses(table.predictions(model, own), table.y[rows]).mean())
    out = np.flatnonzero(~np.isin(table.unit, table.unit[rows]))
    predicted = np.zeros((0, table.coded(table.y[:1]).shape[1]))
    if len(out):
        predicted = table.predictions(model, _safe_indexing(table.X, out))
    return out.astype(np.intp), predicted, train


def mean_and_error(values: Floats, unit: Indices) -> tuple[float, float]:
    """Return the mean over rows and its standard error, clustered by group."""
    mean = float(values.mean())
    sums = np.bincount(unit, values - mean)
    n_units = len(np.unique(unit))
    if n_units < 2:
        return mean, np.nan
    return mean, float(np.sqrt((sums**2).sum() * n_units / (n_units - 1)) / len(values))


_NAMES = {"domingos": "Domingos", "kohavi-wolpert": "Kohavi-Wolpert", "squared": "squared error"}


@dataclass(frozen=True)
class BiasVarianceDisplay(Display):
    """Bootstrap estimate of how much of an estimator's loss is bias and how much is variance.

    `plot` draws the terms as bars, with their standard errors.

    High variance suggests more rows, a smaller model or a vote of many; high bias a richer model or
    other columns. Clones are fitted on draws of the rows, and each predicts the rows that were not
    drawn. The printed text counts rows that are copies of others, which a model may have seen;
    ``groups=`` keeps copies together. With f the models' predictions of a row and y its true value:

    - 0/1 loss, Domingos (2000): the main prediction is the most frequent f; bias is 1 where it is
      not y; variance is the share of models that differ from it. Variance adds to the loss of rows
      without bias; on rows with bias the share of models that are right is subtracted::

          loss = bias + unbiased variance - biased variance

    - 0/1 loss, Kohavi and Wolpert (1996), with p_k the share of models that predict k::

          bias = 1/2 sum_k (1[y = k] - p_k)^2,  variance = 1/2 (1 - sum_k p_k^2)
          loss = bias + variance

    - squared error, of numbers or of class probabilities summed over classes (the Brier score)::

          loss = (mean f - y)^2 + var f

    In the last two, var f / n is subtracted from the squared bias for a finite number n of models,
    so an estimate may be below 0.

    Noise is counted as bias: if a row occurs once, a wrong label cannot be distinguished from a
    wrong model. Draws hold about 63 % of the distinct rows, so the models are a little worse than
    one fitted on all rows.

    Parameters
    ----------
    terms : AnswerSums
        The sums over models.
    name : str
        The estimator's class.

    References
    ----------
    Domingos (2000), "A unified bias-variance decomposition and its applications", ICML. Kohavi &
    Wolpert (1996), "Bias plus variance decomposition for zero-one loss functions", ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from psephos import CARTClassifier
    >>> from psephos.explain import BiasVarianceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> tree = CARTClassifier(n_folds=0)
    >>> print(BiasVarianceDisplay.from_estimator(tree, X, y, n_draws=20, random_state=0))
    CARTClassifier: 0/1 loss 0.06811 on 569 rows not drawn, 0.03128 on those drawn; 20 draws
      Domingos: bias 0.05448 ± 0.0095
      Domingos: variance 0.04476 ± 0.0048
      Domingos: unbiased variance 0.02919 ± 0.0038
      Domingos: biased variance 0.01557 ± 0.0032
      Domingos: net variance 0.01363 ± 0.0051
      Kohavi-Wolpert: bias 0.03327 ± 0.0057
      Kohavi-Wolpert: variance 0.03484 ± 0.0035
    """

    terms: AnswerSums
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: VoteEstimator,
        X: TableLike,
        y: LabelsLike,
        *,
        loss: str | None = None,
        n_draws: int = 100,
        groups: PerRow = None,
        random_state: SeedLike = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the decomposition of an estimator on a table.

        Parameters
        ----------
        estimator : classifier or regressor
            Of psephos or any other library; it is cloned, and need not be fitted.
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        loss : {'zero_one', 'squared'}, default=None
            None: 'zero_one' for a classifier, 'squared' for a regressor.
        n_draws : int, default=100
            Bootstrap draws of rows (or groups); a draw that lacks a class is repeated.
        groups : array of shape (n_samples,), default=None
            Whole groups are drawn, and a model predicts only groups of which it saw no row.
        random_state : int, RandomState or None, default=0
            Seed of the draws and of the estimator fitted on each.
        n_jobs : int, default=None
            Parallel fits, as in joblib; the result does not depend on it.

        Raises
        ------
        PsephosError
            If the estimator does not support the loss, or no draw has every class.
        """
        table = DrawnTable.read(estimator, X, y, loss, groups, random_state)
        if not Interval(2, whole=True).allows(n_draws):
            raise PsephosError(f"n_draws must be a whole number of at least 2; got {n_draws!r}.")
        return cls(table.terms(estimator, int(n_draws), n_jobs), type(estimator).__name__)

    def table(self) -> dict[str, list[Any]]:
        """Return one entry per term: `terms` (the decomposition), `term`, `value`, `error`.

        `error` is the standard error of the mean over rows, or groups, for fixed models.
        """
        t = self.terms
        sets = {"squared": t.squared()}
        if t.loss == "zero_one":
            sets = {"domingos": t.domingos(), "kohavi-wolpert": t.squared()}
        rows = [(name, {"loss": t.row_loss, **each}) for name, each in sets.items()]
        out: dict[str, list[Any]] = {"terms": [], "term": [], "value": [], "error": []}
        for name, each in rows:
            for term, values in each.items():
                value, error = mean_and_error(values, t.unit)
                for key, item in zip(out, (name, term, value, error), strict=True):
                    out[key].append(item)
        return out

    def value(self, term: str, terms: str | None = None) -> float:
        """Return one term; with `terms` None, of the first decomposition."""
        table = self.table()
        wanted = terms or table["terms"][0]
        pairs = list(zip(table["terms"], table["term"], strict=True))
        return table["value"][pairs.index((wanted, term))]

    def __str__(self) -> str:
        """Return the decomposition as text."""
        t, table = self.terms, self.table()
        what = "0/1 loss" if t.loss == "zero_one" else "squared error"
        lines = [
            f"{self.name}: {what} {t.row_loss.mean():.4g} on {len(t.times)} rows not drawn, "
            f"{t.train_loss.mean():.4g} on those drawn; {len(t.train_loss)} draws"
        ]
        if t.left_out:
            lines[0] += (
                f"; {t.left_out} rows are not counted, since fewer than two draws left them out"
            )
        if t.copies:
            lines[0] += (
                f"; {t.copies} rows equal others in all columns, so a model may have seen them: "
                "give such rows one group (groups=)"
            )
        for name, term, value, error in zip(*table.values(), strict=True):
            if term != "loss":
                lines.append(f"  {_NAMES[name]}: {term} {value:.4g} ± {error:.2g}")
        return "\n".join(lines)

    def _draw(self, axes: Axes) -> None:
        table = self.table()
        names = [
            f"{_NAMES[name]}: {term}"
            for name, term in zip(table["terms"], table["term"], strict=True)
        ]
        place = range(len(names))
        axes.barh(place, table["value"], xerr=table["error"], color="0.7", capsize=3)
        axes.set_yticks(place, names)
        axes.invert_yaxis()
        axes.set_xlabel("0/1 loss" if self.terms.loss == "zero_one" else "squared error")
