"""Under- and overfitting against a parameter: loss on the rows fitted and on others, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Axes, LabelsLike, PerRow, SeedLike, TableLike
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.bias_variance import AnswerSums, DrawnTable, RowDraws, mean_and_error
from psephos.explain.drawing import Display


@dataclass(frozen=True)
class FittingCurveDisplay(Display):
    """The loss of an estimator by one of its parameters, on its own rows and on others.

    `plot` draws both losses, bias and variance against the parameter: numbers above 0 that span a
    factor of 50 on a logarithmic axis, values that are no numbers side by side.

    Where both losses are high it underfits, and bias is most of the loss; where the loss on its
    own rows goes on falling and that on others rises, it overfits, and variance grows. All values
    see the same draws of the rows, and the same rows are asked (see `BiasVarianceDisplay`).

    Parameters
    ----------
    param_name : str
    param_range : tuple
    terms : tuple of Terms
        One a value.
    name : str
        The estimator's class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from psephos.explain import FittingCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = FittingCurveDisplay.from_estimator(
    ...     KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=(1, 9, 301),
    ...     n_draws=20,
    ... )
    >>> table = curve.table()
    >>> [round(loss, 2) for loss in table["train_loss"]]
    [0.0, 0.05, 0.15]
    >>> [round(loss, 2) for loss in table["test_loss"]]
    [0.08, 0.07, 0.14]
    """

    param_name: str
    param_range: tuple[Any, ...]
    terms: tuple[AnswerSums, ...]
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: VoteEstimator,
        X: TableLike,
        y: LabelsLike,
        *,
        param_name: str,
        param_range: Iterable[Any],
        loss: str | None = None,
        n_draws: int = 50,
        groups: PerRow = None,
        max_samples: float = 1.0,
        bootstrap: bool = True,
        test: Any = None,
        random_state: SeedLike = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the curve of an estimator on a table.

        Parameters
        ----------
        estimator : classifier or regressor
            Of this library or any other, a pipeline among them; it is cloned.
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        param_name : str
            Any parameter of the estimator, such as 'n_estimators' or 'svc__C'.
        param_range : iterable
            Its values: numbers or others.
        loss, n_draws, groups, max_samples, bootstrap, test, random_state, n_jobs
            As for `BiasVarianceDisplay.from_estimator`.

        Raises
        ------
        PsephosError
            If there is no such parameter or no value, or rows cannot be drawn.
        """
        values = tuple(param_range)
        known = sorted(estimator.get_params())
        if param_name not in known:
            raise PsephosError(
                f"{type(estimator).__name__} has no parameter {param_name!r}: it has "
                f"{', '.join(known)}."
            )
        if not values:
            raise PsephosError(f"param_range is empty: give values of {param_name}.")
        problem = DrawnTable.read(estimator, X, y, loss, groups, test)
        draws = RowDraws.of(problem, n_draws, max_samples, bootstrap, random_state)
        each: list[AnswerSums] = []
        for value in values:
            model: Any = clone(estimator)
            model.set_params(**{param_name: value})
            each.append(draws.terms(model, n_jobs, param_name))
        return cls(param_name, values, tuple(each), type(estimator).__name__)

    @property
    def best(self) -> int:
        """Return the position of the value of least loss on rows not drawn, the first of equals."""
        return int(np.argmin([t.row_loss.mean() for t in self.terms]))

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a value of the parameter.

        `train_loss` is on the rows drawn, `test_loss` on those not drawn, `test_error` its standard
        error over rows (or groups); `difference` and `difference_error` are of the loss less that
        of the best value, row by row; `bias` and `variance` add up to the loss: for 0/1 loss they
        are Kohavi and Wolpert's, `bias_domingos` and `net_variance_domingos` Domingos'. The best
        value was picked by these rows: its loss flatters it.
        """
        best = self.terms[self.best]
        out: dict[str, list[Any]] = {"value": list(self.param_range)}
        for t in self.terms:
            loss, error = mean_and_error(t.row_loss, t.unit)
            off, off_error = mean_and_error(t.row_loss - best.row_loss, t.unit)
            row = {
                "train_loss": float(t.train_loss.mean()),
                "test_loss": loss,
                "test_error": error,
                "difference": off,
                "difference_error": off_error,
                **{key: float(values.mean()) for key, values in t.squared().items()},
            }
            if t.loss == "zero_one":
                terms = t.domingos()
                row["bias_domingos"] = float(terms["bias"].mean())
                row["net_variance_domingos"] = float(terms["net variance"].mean())
            for key, item in row.items():
                out.setdefault(key, []).append(item)
        return out

    def __str__(self) -> str:
        """Return the curve in words, a line a value."""
        t = self.table()
        what = "0/1 loss" if self.terms[0].loss == "zero_one" else "squared error"
        lines = [
            f"{self.name}, {what} over {len(self.terms[0].train_loss)} draws of the rows"
            f"{self.terms[0].copy_words()}"
        ]
        for i, value in enumerate(self.param_range):
            mark = "  <- least" if i == self.best else ""
            lines.append(
                f"{self.param_name}={value}: {t['train_loss'][i]:.4g} on rows drawn, "
                f"{t['test_loss'][i]:.4g} ± {t['test_error'][i]:.2g} on others (bias "
                f"{t['bias'][i]:.4g}, variance {t['variance'][i]:.4g}){mark}"
            )
        return "\n".join(lines)

    def _draw(self, axes: Axes) -> None:
        t = self.table()
        numbers = all(isinstance(v, Real) and not isinstance(v, bool) for v in self.param_range)
        place: Any = list(self.param_range) if numbers else list(range(len(self.param_range)))
        axes.plot(place, t["train_loss"], marker="o", color="C1", label="rows drawn")
        style: dict[str, Any] = {"marker": "o", "color": "C0", "capsize": 3, "label": "others"}
        axes.errorbar(place, t["test_loss"], t["test_error"], **style)
        axes.plot(place, t["bias"], linestyle="--", color="0.4", label="bias")
        axes.plot(place, t["variance"], linestyle=":", color="0.4", label="variance")
        if not numbers:
            axes.set_xticks(place, [str(v) for v in self.param_range])
        elif min(place) > 0 and max(place) >= 50 * min(place):
            axes.set_xscale("log")
        axes.set_xlabel(self.param_name)
        axes.set_ylabel("0/1 loss" if self.terms[0].loss == "zero_one" else "squared error")
        axes.legend()
