"""Selection of columns: the rows as selectors read them; scores, return rates, synonyms."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from psephos._types import Floats, Indices
from psephos.estimator.columns import dense_columns
from psephos.estimator.input import Context
from psephos.files.names import Names, sentence_name
from psephos.models.committees.fitting import Data
from psephos.models.linear.ridge import ScoredColumns
from psephos.vote import Vote, register_part
from psephos.vote.describing import returns_words
from psephos.vote.part import check

_QUANTILES = 1000
_FOLDS = 5
_PRIOR = 5.0  # weight of a difference of 0 in the mean target of a level, in rows
_ROUNDING = 1e-12  # of the greatest size: a column that deviates by less is constant


@dataclass(frozen=True)
class _Scored(ScoredColumns):
    n_ranked: int  # columns from here on stand for themselves, 0 if missing

    def scores(self, columns: Indices | slice = slice(None)) -> Floats:
        found = super().scores(columns)
        means = np.arange(self.shape[1])[columns] >= self.n_ranked
        found[:, means] = np.nan_to_num(self.numbers(columns)[:, means])
        return found


@dataclass(frozen=True)
class SelectionProblem:
    """The input of a selector.

    Parameters
    ----------
    data : Data
        The rows, labels and weights.
    depth : int
        Depth to which rankings are combined.
    stable : bool, default=False
        Whether selectors make more draws, so that the result depends less on the seed.
    agreement : list of ndarray
        Filled by the selector 'lars': the agreement of its draws, by the number of entries.
    """

    data: Data
    depth: int
    stable: bool = False
    agreement: list[Floats] = field(default_factory=list[Floats])

    @property
    def context(self) -> Context:
        """Return the context of the fit, with its seeds."""
        return self.data.context

    @property
    def weight(self) -> Floats:
        """Return the (n,) weights of rows, 1 if none were given."""
        weight = self.data.weight
        return np.ones(len(self.data.y)) if weight is None else weight

    @cached_property
    def encoded(self) -> tuple[Data, Indices, int]:
        """Return the rows with numbers for categories, the column of the table behind each, and r.

        The first r are columns of the table, the others mean targets, in standard deviations.

        A category of two levels is its code. One of more levels is, per target, the mean target of
        the rows of its level in the other four of five folds, as a difference from those folds'
        mean and shrunk towards 0: so a category has no more chances than a number has.
        """
        X, fold = self.data.X, self._folds()
        found = {j: self._mean_targets(j, fold) for j in self.data.categories}
        found = {j: numbers for j, numbers in found.items() if numbers is not None}
        if not found:
            return replace(self.data, categories=()), np.arange(X.shape[1]), X.shape[1]
        rest = np.setdiff1d(np.arange(X.shape[1]), [*found]).astype(np.intp)
        source = np.r_[rest, *(np.full(Z.shape[1], j) for j, Z in found.items())].astype(np.intp)
        blocks = [X[:, rest], *found.values()]
        X = sparse.hstack(blocks, "csc") if sparse.issparse(X) else np.hstack(blocks)
        words = [self.data.words[j] for j in source.tolist()]
        return replace(self.data, X=X, categories=(), words=words), source, len(rest)

    def _mean_targets(self, column: int, fold: Indices) -> Floats | None:
        """Return (n, R): the other folds' mean targets of each row's level, less those of all rows.

        None for two levels or fewer.
        """
        values = dense_columns(self.data.X, np.array([column]))[:, 0]
        levels = np.unique(values[~np.isnan(values)])
        if len(levels) <= 2:
            return None
        codes = np.searchsorted(levels, values)  # a missing value is beyond the last level
        out = np.zeros(self.targets.shape)
        for f in np.unique(fold).tolist() if fold.any() else ():
            other, own = fold != f, fold == f
            w, y = self.weight[other], self.targets[other]
            y = y - w @ y / w.sum()
            total = np.bincount(codes[other], w, len(levels) + 1) + _PRIOR
            for r in range(y.shape[1]):
                sums = np.bincount(codes[other], w * y[:, r], len(levels) + 1)
                out[own, r] = (sums / total)[codes[own]]
        out[codes == len(levels)] = np.nan
        size = np.nanstd(out, axis=0)
        return out / np.where(size > 0, size, 1.0)

    def _folds(self) -> Indices:
        """Return the fold of each row, (n,): classes are divided evenly, groups stay together."""
        draw, groups = self.context.generator(7), self.data.groups
        if groups is not None:
            _, codes = np.unique(groups, return_inverse=True)
            return draw.permutation(int(codes.max()) + 1)[codes] % _FOLDS
        order = np.lexsort((draw.random(len(self.data.y)), self.data.y))
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = np.arange(len(order)) % _FOLDS
        return fold

    @cached_property
    def scored(self) -> ScoredColumns:
        """Return the (n, q) normal scores of the training ranks; mean targets are as they are."""
        data, _, n_ranked = self.encoded
        return _Scored(data.X, self.weight, None, _QUANTILES, n_ranked)

    @cached_property
    def targets(self) -> Floats:
        """Return the targets, (n, R).

        The target of regression, less its mean and divided by a power of two; 1 for the second of
        two classes and 0 for the first; for more classes a 0/1 column per class.
        """
        y, n_classes = self.data.y, self.data.n_classes
        if not n_classes:
            y = np.ldexp(y, -int(np.frexp(np.abs(y).max(initial=0.0))[1]))[:, None]
            return _centred(y, self.weight / self.weight.sum())
        return (y[:, None] == np.arange(0 if n_classes > 2 else 1, n_classes)).astype(np.float64)

    def by_column(self, scores: Floats) -> Floats:
        """Return (p,) scores of the table's columns: the greatest over their numeric columns."""
        out = np.zeros(self.data.X.shape[1])
        np.maximum.at(out, self.encoded[1], scores)
        return out

    @cached_property
    def correlation(self) -> Floats:
        """Return the (q, R) absolute correlations of normal scores with each target."""
        parts = (self.scored.scores(part) for part in self.scored.parts())
        return np.vstack([correlations(Z, self.targets, self.weight) for Z in parts])


def correlations(Z: Floats, targets: Floats, weight: Floats) -> Floats:
    """Return (P, R) absolute weighted correlations; 0 with a constant."""
    share: Any = weight / weight.sum()
    Z, targets = standardised(Z, share), standardised(targets, share)
    Z *= share[:, None]
    return np.abs(Z.T @ targets)


def standardised(values: Floats, share: Floats) -> Floats:
    """Return columns (n, q) scaled to weighted mean 0 and standard deviation 1; constants to 0."""
    out = _centred(values, share)
    size = np.sqrt(share @ (out * out))
    out /= np.where(size > _ROUNDING * np.abs(values).max(axis=0), size, np.inf)
    return out


def _centred(values: Floats, share: Floats) -> Floats:
    """Return columns less their weighted means; constants become exactly 0."""
    out = values - share @ values
    out -= share @ out  # corrects the rounding of a mean that is large against the deviation
    out[:, values.max(axis=0) == values.min(axis=0)] = 0.0
    return out


_ALIKE = 0.8  # absolute correlation of normal scores from which a column is a synonym
_NAMED = 3  # synonyms of a column that are named
_FEW = 4  # columns, with which no method reached a forest on all columns
_LEAST = 0.01  # least score of a column not chosen, in `return_rates`
#: By selector, the constants of `return_rates`.
_MAPS = {"blend": (-0.80, 1.60, 0.72), "lars": (-0.58, 0.78, 0.60)}


def _none() -> Floats:
    return np.empty(0)


def _nowhere() -> Indices:
    return np.empty(0, dtype=np.intp)


@register_part
@dataclass(frozen=True)
class Selection:
    """A selector's scores of the columns, and the columns chosen.

    Parameters
    ----------
    scores : ndarray of shape (p,)
        At least 0; a column with 0 is never chosen.
    ranking : ndarray of int
        The columns with a score above 0, by score divided by price.
    chosen : ndarray of int
        The columns chosen, sorted.
    agreement : ndarray of shape (24,) or (0,)
        Agreement of the draws of rows in the first k columns that enter the lasso, k = 1 to 24;
        empty without draws.
    rates : ndarray, of the shape of `chosen`, or empty
        How often each of them would be chosen again: see `return_rates`.
    synonym_of, synonym : ndarray of int
        Pairs: an index into `chosen`, and a column of the fit's table correlated with that column.
    words : tuple of str
        The names of `synonym`.
    n_synonyms : ndarray of int, of the shape of `chosen`, or empty
        Number of columns correlated with each; only the most correlated are among the pairs.
    """

    tag: ClassVar[str] = "selection of columns"
    scores: Floats
    ranking: Indices
    chosen: Indices
    agreement: Floats = field(default_factory=_none)
    rates: Floats = field(default_factory=_none)
    synonym_of: Indices = field(default_factory=_nowhere)
    synonym: Indices = field(default_factory=_nowhere)
    words: tuple[str, ...] = ()
    n_synonyms: Indices = field(default_factory=_nowhere)

    def __post_init__(self) -> None:
        check(self.scores.ndim == 1 and bool((self.scores >= 0).all()), "scores are below 0")
        for columns in (self.ranking, self.chosen):
            inside = (columns >= 0) & (columns < len(self.scores))
            check(columns.dtype == np.intp and bool(inside.all()), "a column is not there")
            check(len(np.unique(columns)) == len(columns), "a column is there twice")
        k, pairs = len(self.chosen), len(self.synonym)
        check(len(self.rates) in (0, k) and len(self.n_synonyms) in (0, k), "rates are missing")
        check(len(self.synonym_of) == len(self.words) == pairs, "names of synonyms are missing")
        inside = (self.synonym_of >= 0) & (self.synonym_of < k)
        check(bool(inside.all()), "a synonym is of no column")

    def select(self, columns: Indices) -> "Selection":
        """Return the selection on the table reduced to `columns`; synonyms keep their names."""
        index = np.full(len(self.scores), -1, dtype=np.intp)
        index[columns] = np.arange(len(columns))
        ranking, chosen = index[self.ranking], index[self.chosen]
        kept = chosen >= 0
        pairs = np.flatnonzero(kept[self.synonym_of])
        return Selection(
            self.scores[columns],
            ranking[ranking >= 0],
            chosen[kept],
            self.agreement,
            self.rates[kept] if len(self.rates) else self.rates,
            (np.cumsum(kept) - 1)[self.synonym_of[pairs]],
            self.synonym[pairs],
            tuple(self.words[i] for i in pairs.tolist()),
            self.n_synonyms[kept] if len(self.n_synonyms) else self.n_synonyms,
        )

    def named(self, names: Sequence[str]) -> Self:
        """Return the selection with the synonyms' names in the fit's table."""
        return replace(self, words=tuple(names[j] for j in self.synonym.tolist()))

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless the selection has the columns of a vote's table."""
        check(len(self.scores) == vote.n_features, "the selection is of another table")

    def synonyms(self, index: int) -> tuple[str, ...]:
        """Return the columns correlated with `chosen[index]`, the most correlated first."""
        return tuple(self.words[i] for i in np.flatnonzero(self.synonym_of == index).tolist())

    def returns(self) -> dict[int, str]:
        """Return each column's return rate and synonyms in words, the highest rate first."""
        order: list[int] = np.argsort(-self.rates, kind="stable").tolist()
        return {int(self.chosen[i]): self._returns(i) for i in order}

    def _returns(self, index: int) -> str:
        alike = self.synonyms(index)
        left = int(self.n_synonyms[index]) - len(alike)
        more = f" and {left} more" if left else ""
        synonyms = f" (synonyms: {', '.join(map(sentence_name, alike))}{more})" if alike else ""
        rate = 5 * round(20 * min(max(float(self.rates[index]), 0.05), 0.95))  # in steps of 5 %
        return f"returns in {rate} %{synonyms}"

    def summary(self, names: Names, vote: Vote) -> list[str]:
        """Return sentences on how often each column would be chosen again."""
        words = returns_words({names.columns[j]: how for j, how in self.returns().items()})
        if names.classes and 0 < len(self.chosen) <= _FEW < len(self.ranking):
            words += [
                f"On other tables no method tried reached a forest on all columns with {_FEW} or"
                " fewer (AUC .03 to .06 less on average); ColumnCurveDisplay measures it on yours."
            ]
        return words


def selected(problem: SelectionProblem, found: Selection, selector: object) -> Selection:
    """Return a selection with its return rates, if they are known, and its synonyms."""
    constants = _MAPS.get(selector) if isinstance(selector, str) else None
    rates = found.rates
    if constants is not None and len(found.agreement):
        rates = return_rates(found, constants)
    return _with_synonyms(problem, replace(found, rates=rates))


def return_rates(found: Selection, constants: tuple[float, float, float]) -> Floats:
    """Return how often each chosen column is chosen again if a quarter of the rows is replaced.

    With g its score over that of the best column not chosen, and a the agreement of the draws in
    their first k entries, k the number of columns chosen::

        logit(rate) = c + d log(g) + e logit(a)

    The constants were fitted to the columns chosen again between the training parts of five folds,
    which share three quarters of their rows (`benchmarks/quality/return_rates.py`).
    """
    rest = np.setdiff1d(found.ranking, found.chosen)
    k = min(len(found.chosen), len(found.agreement))
    if not k:
        return np.empty(0)
    next_best = found.scores[rest].max(initial=_LEAST)
    alike = np.clip(found.agreement[k - 1], 0.02, 0.98)
    gap = np.log(found.scores[found.chosen] / next_best)
    c, d, e = constants
    return expit(c + d * gap + e * logit(alike))


def _with_synonyms(problem: SelectionProblem, found: Selection) -> Selection:
    """Return a selection with its synonyms: columns of |correlation| >= .8 with a chosen one.

    The correlation is that of normal scores; a category has its mean targets.
    """
    chosen, source, scored = found.chosen, problem.encoded[1], problem.scored
    own = np.flatnonzero(np.isin(source, chosen))
    targets = scored.scores(own)
    rho = np.zeros((problem.data.X.shape[1], len(chosen)))
    of = np.searchsorted(chosen, source[own])
    for part in scored.parts():
        with_own = correlations(scored.scores(part), targets, problem.weight)
        np.maximum.at(rho, (source[part][:, None], of[None, :]), with_own)
    rho[chosen, np.arange(len(chosen))] = 0.0
    alike = rho >= _ALIKE
    best = [
        (i, j)
        for i in range(len(chosen))
        for j in np.argsort(-rho[:, i], kind="stable")[:_NAMED].tolist()
        if alike[j, i]
    ]
    pairs = np.array(best, dtype=np.intp).reshape(-1, 2)
    return replace(
        found,
        synonym_of=pairs[:, 0],
        synonym=pairs[:, 1],
        words=("",) * len(pairs),
        n_synonyms=alike.sum(axis=0),
    )
