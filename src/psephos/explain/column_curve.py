"""Accuracy by the number of columns allowed, and how often each column is selected."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.spatial
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing, check_random_state

from psephos._errors import PsephosError
from psephos._types import Axes, ColumnLists, Floats, NDArray, PerRow, TableLike
from psephos.estimator.members import fitted
from psephos.explain.drawing import Display
from psephos.files.names import percent
from psephos.models.columns.budget import ColumnBudgetClassifier, ColumnBudgetRegressor
from psephos.models.committees.voting import VotingClassifier, VotingRegressor
from psephos.models.training import make_splits

_distance: Any = scipy.spatial.distance
_BUDGETS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class ColumnCurveDisplay(Display):
    """Cross-validated score by the number of columns allowed, compared with that on all columns.

    `plot` draws the mean score against the budget, with its standard error.

    Columns are chosen on the training rows of each split, and scores are of its test rows. The
    standard error of a mean over J splits, whose training rows overlap, is that of Nadeau and
    Bengio (2003)::

        sqrt((1 / J + n_test / n_train) var)

    Parameters
    ----------
    n_columns : tuple of float
        The budgets.
    scores : ndarray of shape (n_budgets, n_splits)
    reference : ndarray of shape (n_splits,)
        Scores of the same members on all columns, on the same rows.
    selected : ndarray of shape (n_budgets, n_splits, n_features), bool
        Mask of the selected columns.
    names : tuple of str
        Names of the columns.
    scoring : str
    test_share : float
        n_test / n_train.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos import ColumnBudgetClassifier
    >>> from psephos.explain import ColumnCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 200))
    >>> y = np.where(X[:, 7] + X[:, 70] > 0, "ill", "well")
    >>> model = ColumnBudgetClassifier(selector="lars", random_state=0)
    >>> curve = ColumnCurveDisplay.from_estimator(model, X, y, n_columns=(1, 2, 4), cv=3)
    >>> curve.returns(2)["column"][:2], bool(curve.table()["score"][1] > 0.9)
    (['column 7', 'column 70'], True)
    """

    n_columns: tuple[float, ...]
    scores: Floats
    reference: Floats
    selected: NDArray[np.bool_]
    names: tuple[str, ...]
    scoring: str
    test_share: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: TableLike,
        y: Any,
        *,
        n_columns: Iterable[float] = _BUDGETS,
        cv: Any = 5,
        n_repeats: int = 1,
        groups: PerRow = None,
        scoring: str | None = None,
    ) -> Self:
        """Return the curve of an estimator on a table.

        Parameters
        ----------
        estimator : ColumnBudgetClassifier or ColumnBudgetRegressor
            It is cloned, and need not be fitted; its `n_columns` is ignored.
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        n_columns : iterable of float, default=(1, 2, 4, 8, 16, 32)
            Budgets; each split makes one selection for all of them.
        cv : int, splitter or list of (training rows, test rows), default=5
            With a number, folds are stratified and keep groups together.
        n_repeats : int, default=1
            How often the folds are drawn, if `cv` is a number.
        groups : array of shape (n_samples,), default=None
        scoring : str, default=None
            The name of a scikit-learn scorer. None: 'roc_auc' for two classes, 'roc_auc_ovr' for
            more, 'r2' for numbers.

        Raises
        ------
        PsephosError
            If the estimator is of another class, `n_columns` is empty, or rows cannot be split.
        """
        if not isinstance(estimator, ColumnBudgetClassifier | ColumnBudgetRegressor):
            raise PsephosError(
                "estimator must be a ColumnBudgetClassifier or ColumnBudgetRegressor; got "
                f"{type(estimator).__name__}."
            )
        budgets = tuple(sorted(set(n_columns)))
        table, labels, _, _ = estimator.read(X, y)
        n_classes = labels.target.n_classes
        if scoring is None:
            scoring = ("r2", "", "roc_auc")[n_classes] if n_classes < 3 else "roc_auc_ovr"
        splits = make_splits(
            labels.y, n_classes, groups=groups, cv=cv, n_repeats=n_repeats,
            classes=labels.target.classes if n_classes else None,
            seed=int(check_random_state(estimator.random_state).randint(2**31 - 1)),
        )  # fmt: skip
        scorer: Any = get_scorer(scoring)
        scores = np.empty((len(budgets), len(splits)))
        reference = np.empty(len(splits))
        selected = np.zeros((*scores.shape, table.values.shape[1]), dtype=bool)
        y = np.asarray(y)
        for s, (train, test) in enumerate(splits):
            rows = _safe_indexing(X, train), y[train]
            held = _safe_indexing(X, test), y[test]
            more: dict[str, Any] = {} if groups is None else {"groups": np.asarray(groups)[train]}
            path = estimator.path(*rows, budgets, **more)
            for b, model in enumerate(path.values()):
                scores[b, s] = scorer(model, *held)
                selected[b, s, model.selection_.chosen] = True
            whole = _on_all_columns(estimator)
            more = more if hasattr(whole, "anatomy") else {}
            reference[s] = scorer(fitted(whole, *rows, **more), *held)
        names = tuple(table.schema.words().columns)
        share = float(np.mean([len(test) / len(train) for train, test in splits]))
        return cls(budgets, scores, reference, selected, names, scoring, share)

    def table(self) -> dict[str, list[Any]]:
        """Return one entry per budget.

        `score` and `error` are the mean over splits and its standard error; `difference` and
        `difference_error` those of the score minus that on all columns; `columns` is the mean
        number selected, and `similarity` the mean Jaccard index over pairs of splits: the share of
        the columns selected in either that were selected in both.
        """
        off = self.scores - self.reference
        return {
            "n_columns": list(self.n_columns),
            "columns": self.selected.sum(axis=2).mean(axis=1).tolist(),
            "score": self.scores.mean(axis=1).tolist(),
            "error": self._errors(self.scores),
            "difference": off.mean(axis=1).tolist(),
            "difference_error": self._errors(off),
            "similarity": [_similarity(taken) for taken in self.selected],
        }

    def _errors(self, values: Floats) -> list[float]:
        n = values.shape[1]
        if n < 2:
            return [np.nan] * len(values)
        return np.sqrt((1 / n + self.test_share) * values.var(axis=1, ddof=1)).tolist()

    def returns(self, n_columns: float) -> ColumnLists:
        """Return how often each column was selected with a budget: `column`, `share` of the splits.

        The most frequent come first; columns that were never selected are left out.

        Raises
        ------
        PsephosError
            If the curve has no such budget.
        """
        if n_columns not in self.n_columns:
            known = ", ".join(map(str, self.n_columns))
            raise PsephosError(f"n_columns must be on the curve ({known}); got {n_columns!r}.")
        share = self.selected[self.n_columns.index(n_columns)].mean(axis=0)
        order = np.argsort(-share, kind="stable")
        order = order[share[order] > 0]
        return {"column": [self.names[j] for j in order.tolist()], "share": share[order].tolist()}

    def __str__(self) -> str:
        """Return the curve as text, one line per budget."""
        table = self.table()
        whole = f"{self.reference.mean():.3f}"
        lines = [f"{self.scoring} over {len(self.reference)} splits; on all columns {whole}"]
        for i, budget in enumerate(self.n_columns):
            error = table["difference_error"][i]
            sure = "" if np.isnan(error) else f" ± {error:.3f}"
            lines.append(
                f"{budget:g} columns: {table['score'][i]:.3f}, {table['difference'][i]:+.3f}{sure} "
                f"compared with all; two splits share {percent(table['similarity'][i])} of their "
                "columns"
            )
        return "\n".join(lines)

    def _draw(self, axes: Axes) -> None:
        table = self.table()
        axes.errorbar(self.n_columns, table["score"], table["error"], marker="o", capsize=3)
        axes.axhline(float(self.reference.mean()), linestyle="--", color="gray")
        axes.annotate("all columns", (self.n_columns[0], float(self.reference.mean())),
                      xytext=(2, 3), textcoords="offset points", color="gray")  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_xticks(self.n_columns, [f"{k:g}" for k in self.n_columns])
        axes.set_xlabel("columns allowed (or their total cost)")
        axes.set_ylabel(f"{self.scoring}, mean of {len(self.reference)} splits")


def _on_all_columns(estimator: Any) -> Any:
    """Return the budget's inner estimator, unfitted, to be fitted on all columns."""
    if estimator.estimator is not None:
        return clone(estimator.estimator)
    params = {"random_state": estimator.random_state, "n_jobs": estimator.n_jobs}
    params["categorical_features"] = estimator.categorical_features
    if is_classifier(estimator):
        return VotingClassifier(class_weight=estimator.class_weight, **params)
    return VotingRegressor(**params)


def _similarity(taken: NDArray[np.bool_]) -> float:
    """Return the mean Jaccard index over pairs of splits; 1 if there is one split."""
    apart = _distance.pdist(taken, "jaccard")
    return float(1.0 - apart.mean()) if len(apart) else 1.0
