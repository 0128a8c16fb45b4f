"""The selected columns, their scores, return rates and synonyms."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit, logit

from psephos._types import Floats, Indices
from psephos.files.names import Names, sentence_name
from psephos.models.columns.problem import SelectionProblem, correlations
from psephos.vote import Vote, register_part
from psephos.vote.describing import returns_words
from psephos.vote.part import check

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
