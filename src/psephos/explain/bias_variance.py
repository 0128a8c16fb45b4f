"""Where the loss of an estimator comes from: bias, or variance over draws of the rows."""

from dataclasses import dataclass
from typing import Any, Self

from psephos.explain.drawing import Display
from psephos.explain.resampling import Draws, Problem, Terms, mean_and_error

_NAMES = {"domingos": "Domingos", "kohavi-wolpert": "Kohavi-Wolpert", "squared": "squared error"}


@dataclass(frozen=True)
class BiasVarianceDisplay(Display):
    """How much of an estimator's loss is bias, and how much variance, by bootstrap.

    `plot` draws the terms as bars, with their standard errors.

    Use it to know what would help: more rows, a smaller model or a vote of many (variance), or a
    richer model and other columns (bias). Clones are fitted on draws of the rows; each is asked
    about the rows that were not drawn. Where rows are copies of each other, so that a model may
    have seen a row like the one that it is asked about, the printed words say how many; ``groups=``
    keeps copies together. With f the models' answers to a row and y its answer:

    - 0/1 loss, Domingos (2000): the main answer is the most frequent f; bias is 1 where it is not
      y; variance is the share of models that differ from it. On rows without bias variance adds to
      the loss, on rows with bias the share of models that are right is taken off::

          loss = bias + unbiased variance - biased variance

    - 0/1 loss, Kohavi and Wolpert (1996), with p_k the share of models that answer k::

          bias = 1/2 sum_k (1[y = k] - p_k)^2,  variance = 1/2 (1 - sum_k p_k^2)
          loss = bias + variance

    - squared error, of numbers or of class probabilities summed over classes (the Brier score)::

          loss = (mean f - y)^2 + var f

    In the last two the squared bias is freed of what few models add to it, var f / n of n models,
    so that an estimate may be below 0.

    Noise is counted as bias: of a row seen once no one can tell whether its label or the model is
    wrong. Models are fitted on draws with about 63 % of the rows, so that they are a little worse
    than one fitted on all.

    Parameters
    ----------
    terms : Terms
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

    terms: Terms
    name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        loss: str | None = None,
        n_draws: int = 100,
        groups: Any = None,
        max_samples: float = 1.0,
        bootstrap: bool = True,
        test: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Return the decomposition of an estimator on a table.

        Parameters
        ----------
        estimator : classifier or regressor
            Of this library or any other; it is cloned, and need not be fitted.
        X : array or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        loss : {'zero_one', 'squared'}, default=None
            None: 'zero_one' of a classifier, 'squared' of a regressor.
        n_draws : int, default=100
        groups : array of shape (n_samples,), default=None
            Whole groups are drawn, and a model is asked about groups of which it saw no row.
        max_samples : int or float, default=1.0
            Rows (or groups) of a draw: a whole number, or a share of at most 1. A draw without one
            of the classes is drawn again.
        bootstrap : bool, default=True
            Whether they are drawn with replacement.
        test : tuple (X, y), default=None
            Rows that are never drawn, to be asked instead.
        random_state : int, RandomState or None, default=0
            Seeds the draws and, by draw, the estimator.
        n_jobs : int, default=None
            Draws that are fitted at the same time; the result does not depend on it.

        Raises
        ------
        PsephosError
            If the loss is not the estimator's, or rows cannot be drawn.
        """
        problem = Problem.read(estimator, X, y, loss, groups, test)
        draws = Draws.of(problem, n_draws, max_samples, bootstrap, random_state)
        return cls(draws.terms(estimator, n_jobs), type(estimator).__name__)

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a term: `terms` (whose), `term`, `value`, `error`.

        `error` is the standard error of the mean over rows, or groups: how far the value would
        change with other rows to ask, the models being the same.
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
        """Return one term; `terms` None is the first set there is."""
        table = self.table()
        wanted = terms or table["terms"][0]
        pairs = list(zip(table["terms"], table["term"], strict=True))
        return table["value"][pairs.index((wanted, term))]

    def __str__(self) -> str:
        """Return the decomposition in words."""
        t, table = self.terms, self.table()
        what = "0/1 loss" if t.loss == "zero_one" else "squared error"
        lines = [
            f"{self.name}: {what} {t.row_loss.mean():.4g} on {len(t.times)} rows not drawn, "
            f"{t.train_loss.mean():.4g} on those drawn; {len(t.train_loss)} draws"
        ]
        if t.left_out:
            lines[0] += (
                f"; {t.left_out} rows were left out of fewer than two draws, and are not counted"
            )
        lines[0] += t.copy_words()
        for name, term, value, error in zip(*table.values(), strict=True):
            if term != "loss":
                lines.append(f"  {_NAMES[name]}: {term} {value:.4g} ± {error:.2g}")
        return "\n".join(lines)

    def _draw(self, axes: Any) -> None:
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
