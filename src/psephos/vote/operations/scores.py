"""The operation `Scores`: linear models, naive Bayes and quadratic discriminants.

In files of older releases each of these was a kind of voters, with the parameters of the function
that now makes it as its fields.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from psephos._types import Floats, Indices, NDArray, Usage
from psephos.files.field_types import AnySize
from psephos.files.names import formula_name, number, plural, sum_digits
from psephos.trees.tree import spans_of
from psephos.vote import part
from psephos.vote.codec import register, register_form
from psephos.vote.lowered import RowByRow
from psephos.vote.reading.scores import ScoreReader

_NAMED = 6  # columns that a rule of a linear model spells out
_FEW = 4  # columns whose means and deviations a rule spells out
_LOWEST = -1e300  # least score, so that differences of scores are finite
_ROUNDING = 1e-12


@register
class Scores(part.ReadsColumns, RowByRow):
    """Voters by scores: linear models and Gaussian densities of classes.

    Score r of a voter is its constant plus one of

    - the sum over its columns of ``coef_rj x_j``: linear models;
    - the sum of ``-((x_j - centre_rj)^2 / variance_rj + log(2 pi variance_rj)) / 2``: densities
      with independent columns;
    - ``-|W_r (x - centre_r)|^2 / 2``: densities with a covariance.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the voters reads.
    ptr : ndarray of shape (T + 1,), intp
        Where each voter's d_t columns begin in `position` and in the second axis of `coef`.
    position : ndarray of shape (sum of d_t,), intp
        Positions in `columns`, ascending within a voter.
    constant : ndarray of shape (T, R)
    value : ndarray of shape (n_classes, K)
        The table of codes; of shape (any, 1) and not read where `says` is 'value'.
    called : str
        Name of the model in descriptions.
    says : {'answer', 'probability', 'value'}, default='answer'
        answer: the code of the class with the greatest score, the first of equals; with one score
        (R = 1) that of the second class if it is above 0. probability: ``sum_k p_k code_k`` with
        p_k proportional to ``exp(slope score_k)``; with one score the first class has the score 0.
        value: the score itself, R = 1.
    slope : float, default=1.0
        Log-odds per unit of the score.
    abstains : bool, default=False
        Whether a voter that lacks a value it reads votes 0; else a missing value raises.
    fill : ndarray of shape (sum of d_t,), default=None
        Values that replace missing ones; None: none do.
    coef : ndarray of shape (R, sum of d_t), default=None
    centre : ndarray of shape (R, sum of d_t), default=None
    variance : ndarray of shape (R, sum of d_t), default=None
    whitening : ndarray of shape (R, sum of d_t squared), default=None
        The lower triangular matrices W, row by row, voter after voter.
    """

    tag: ClassVar[str] = "scores"
    reader: ClassVar[type[Any]] = ScoreReader
    n_features: int
    columns: part.Columns
    ptr: Indices
    position: Indices
    constant: AnySize
    value: Floats
    called: str
    says: str = "answer"
    slope: float = 1.0
    abstains: bool = False
    fill: AnySize | None = None
    coef: AnySize | None = None
    centre: AnySize | None = None
    variance: AnySize | None = None
    whitening: AnySize | None = None

    def __post_init__(self) -> None:
        part.check_part(self)
        part.check(self.constant.ndim == 2 and self.constant.shape[1] > 0, "constant is not (T, R)")
        n_voters, n_scores = self.constant.shape
        sizes = part.check_places(self.position, self.ptr, n_voters, len(self.columns))
        given = [a is not None for a in (self.coef, self.variance, self.whitening)]
        part.check(sum(given) == 1 and given[0] == (self.centre is None), "not one form of scores")
        wide, square = (n_scores, len(self.position)), (n_scores, int((sizes**2).sum()))
        for name in ("coef", "centre", "variance", "whitening"):
            array, shape = getattr(self, name), square if name == "whitening" else wide
            part.check(array is None or array.shape == shape, f"{name} has another shape")
        positive = self.variance is None or bool((self.variance > 0).all())
        part.check(positive, "a variance is not positive")
        filled = self.fill is None or (self.fill.shape == wide[1:] and not self.abstains)
        part.check(filled, "fill does not fit")
        check_says(self.value, n_scores, self.says)
        part.check(0 < self.slope < np.inf, "a slope is not a positive number")

    @property
    def n_voters(self) -> int:
        return len(self.ptr) - 1

    def _own(self, voter: int) -> tuple[slice, part.Columns]:
        """Return the slice of a voter's entries, and the columns of the table that it reads."""
        own = slice(int(self.ptr[voter]), int(self.ptr[voter + 1]))
        return own, self.columns[self.position[own]]

    def votes(self, X: Floats) -> Floats:
        if not self.abstains and self.fill is None:
            part.check_present(X[:, self.columns], f"voters by {self.called}")
        out = np.empty((len(X), self.n_voters, self.value.shape[1]))
        for t in range(self.n_voters):
            out[:, t] = votes_by_score(self._scores(t, X), self.value, self.says, self.slope)
        return out

    def _scores(self, voter: int, X: Floats) -> Floats:
        """Return the (n, R) scores of a voter, summed in the same order for every row."""
        own, read = self._own(voter)
        score = np.zeros((len(X), self.constant.shape[1]))
        if self.whitening is None:
            for entry, column in zip(range(own.start, own.stop), read, strict=True):
                values = X[:, column]
                if self.fill is not None:
                    values = np.where(np.isnan(values), self.fill[entry], values)
                score += self._added(entry, values)
        else:
            for k, matrix in enumerate(self._matrices(voter)):
                gap = X[:, read] - self._means(own)[k]
                for i in range(len(read)):
                    length = np.zeros(len(X))
                    for j in range(i + 1):
                        length += matrix[i, j] * gap[:, j]
                    score[:, k] -= 0.5 * length * length
        return score + self.constant[voter]

    def _added(self, entry: int, values: Floats) -> Floats:
        """Return the (n, R) contributions of a column of a voter to its scores."""
        if self.coef is not None:
            return values[:, None] * self.coef[:, entry]
        variance: Any = self.variance
        gap = values[:, None] - self._means(entry)
        spread = variance[:, entry]
        return -0.5 * (gap * gap / spread + np.log(2 * np.pi * spread))

    def _means(self, own: Any) -> Floats:
        centre: Any = self.centre
        return centre[:, own]

    @property
    def blocks(self) -> Indices:
        """Return the start of each voter's matrices in `whitening`, and the end."""
        return np.concatenate([[0], np.cumsum(np.diff(self.ptr) ** 2)]).astype(np.intp)

    def _matrices(self, voter: int) -> Floats:
        """Return the (R, d, d) whitening matrices of a voter."""
        whitening: Any = self.whitening
        d, start = self.ptr[voter + 1] - self.ptr[voter], self.blocks[voter]
        return whitening[:, start : start + d * d].reshape(len(whitening), d, d)

    def _of_entry(self) -> Indices:
        return np.repeat(np.arange(self.n_voters), np.diff(self.ptr))

    def usage(self) -> Usage:
        return part.usage_at(self, self._of_entry(), self.position)

    def divided(self, X: Floats, size: Floats, centre: Floats) -> Floats:
        """Return (n, p): sizes (n, T) divided by the terms ``|coef_j (x_j - centre_j)|``.

        Sizes of densities are divided equally among their columns.
        """
        if self.coef is None:
            return super().divided(X, size, centre)
        steep = np.zeros((self.n_voters, len(self.columns)))
        steep[self._of_entry(), self.position] = np.abs(self.coef).sum(axis=0)
        away = np.nan_to_num(np.abs(X[:, self.columns] - centre[self.columns]))
        total = away @ steep.T
        rate = np.divide(size, total, out=np.zeros_like(size), where=total > 0)
        out = np.zeros((len(X), self.n_features))
        out[:, self.columns] = away * (rate @ steep)
        return out

    def marks(self) -> part.Breakpoints:
        """Return (columns, values) where a column's greatest term is 1 or -1, or around means."""
        size = np.zeros(len(self.columns))
        if self.coef is not None:
            np.maximum.at(size, self.position, np.abs(self.coef).max(axis=0))
            read = np.flatnonzero(size)
            ends = np.concatenate([1.0 / size[read], -1.0 / size[read]])
            return np.tile(self.columns[read], 2), ends
        away = 0.0 if self.variance is None else 2.0 * np.sqrt(self.variance)
        low, high, means = size + np.inf, size - np.inf, self._means(slice(None))
        np.minimum.at(low, self.position, (means - away).min(axis=0))
        np.maximum.at(high, self.position, (means + away).max(axis=0))
        read = np.unique(self.position)
        return part.outer_marks(self.columns[read], low[read], high[read])

    def take(self, voters: Indices) -> Self:
        ptr, own = spans_of(self.ptr, voters)
        kept, position = np.unique(self.position[own], return_inverse=True)
        moved: dict[str, Any] = {}
        for name in ("coef", "centre", "variance", "whitening", "fill"):
            array = getattr(self, name)
            if array is not None:
                at = spans_of(self.blocks, voters)[1] if name == "whitening" else own
                moved[name] = np.ascontiguousarray(array[..., at])
        place = position.astype(np.intp)
        return replace(
            self, columns=self.columns[kept], ptr=ptr, position=place,
            constant=self.constant[voters], **moved,
        )  # fmt: skip

    def times(self, powers: Indices) -> Self:
        """Return the same models for a table whose columns are multiplied by powers of two.

        Scores of densities with a covariance may change by a constant, the same for all classes.
        """
        own = powers[self.columns[self.position]]
        if self.coef is not None:
            fill = None if self.fill is None else np.ldexp(self.fill, own)
            return replace(self, coef=np.ldexp(self.coef, -own), fill=fill)
        blocks = [-np.tile(own[a:b], b - a) for a, b in pairwise(self.ptr.tolist())]
        each = np.concatenate([np.empty(0, np.intp), *blocks])
        centre, whitening = self._means(slice(None)), np.asarray(self.whitening)
        return replace(self, centre=np.ldexp(centre, own), whitening=np.ldexp(whitening, each))

    # ------------------------------------------------------------------ in words
    @property
    def kind(self) -> str:
        """Name of the kind of models."""
        if self.coef is not None:
            return "linear voters"
        return "quadratic voters" if self.variance is None else "naive Bayes voters"

    def rule(self, voter: int, names: list[str], levels: dict[int, list[str]]) -> str:
        """Return a linear score in words, or the means and deviations of the classes."""
        own, read = self._own(voter)
        named = [names[int(j)] for j in read]
        if self.coef is not None:
            return self._line(self.coef[:, own], self.constant[voter], named)
        kind = self.called.removeprefix("a ")
        if not named:
            return f"{kind} on 0 columns: the classes' shares"
        if len(named) > _FEW:
            return f"{kind} on {len(named)} columns"
        parts: list[str] = []
        for name, pair in zip(named, self._moments(voter), strict=True):
            each = [f"{m:.4g} ± {s:.4g}" for m, s in zip(pair[0], pair[1], strict=True)]
            parts.append(f"{name} ({' | '.join(each)})")
        return f"{kind}, mean ± deviation by class: {', '.join(parts)}"

    def _moments(self, voter: int) -> list[tuple[list[float], list[float]]]:
        """Return the means and deviations of the classes, by column."""
        own, _ = self._own(voter)
        if self.variance is not None:
            spread = np.sqrt(self.variance[:, own])
        else:
            inverse = np.linalg.pinv(np.tril(self._matrices(voter))).astype(np.float64)
            spread = np.sqrt((inverse * inverse).sum(axis=2))
        return list(zip(self._means(own).T.tolist(), spread.T.tolist(), strict=True))

    def _line(self, coef: Floats, constant: Floats, named: list[str]) -> str:
        """Return a linear model in words, the greatest coefficient first."""
        names = [formula_name(name) for name in named]
        coded = any(name.startswith("(") for name in named)
        terms = plural(len(named), "term" if coded else "column")
        size = np.abs(coef).max(axis=0, initial=0.0)
        order: list[int] = np.argsort(-size, kind="stable").tolist()
        top, more = order[:_NAMED], len(order) - _NAMED
        if not named and len(coef) == 1 and self.says == "answer":
            return "a linear model that reads no column"
        if len(coef) > 1:
            if more <= 0:
                return f"a linear model of {terms}: {', '.join(named) or 'its prior alone'}"
            listed = ", ".join(named[j] for j in top)
            return f"a linear model of {terms}, the greatest {listed} and {more} more"
        rest = float(constant[0])  # in the unit of log-odds: 1e-17 is rounding
        digits = sum_digits(abs(rest))
        parts = [_term(coef[0, j], f" × {names[j]}", digits) for j in top]
        if more > 0:
            way = "" if self.says == "value" else " (above 0: for the second class)"
            shown = _signed(parts)
            return f"a linear model of {terms}, the greatest{way} {shown} and {more} more"
        if self.says == "value" or abs(rest) > _ROUNDING or not parts:
            parts.append(_term(rest, "", digits))
        score = _signed(parts)
        if self.says in ("value", "answer"):
            return score + " > 0" * (self.says == "answer")
        score = score if self.slope == 1 else f"{self.slope:.4g} × ({score})"
        return f"log-odds of the second class: {score}"

    def sides(self, voter: int) -> list[tuple[str, Floats]]:
        """Return the two votes of a linear classifier, one if it reads no column; else []."""
        if self.coef is None or self.constant.shape[1] > 1 or self.says != "answer":
            return []
        if self.ptr[voter] == self.ptr[voter + 1]:
            return [("always", self.value[int(self.constant[voter, 0] > 0)])]
        return [("if so", self.value[1]), ("otherwise", self.value[0])]


def _term(by: float, what: str, digits: int) -> tuple[bool, str]:
    """Return whether a term is subtracted, and its words without the sign."""
    return bool(by < 0), f"{number(abs(float(by)), digits=digits)}{what}"


def _signed(terms: list[tuple[bool, str]]) -> str:
    """Return ``1.2 × dose - 0.5 × age + 0.3``."""
    first, *rest = [(("-" if below else "+"), words) for below, words in terms]
    head = f"-{first[1]}" if first[0] == "-" else first[1]
    return " ".join([head, *(f"{sign} {words}" for sign, words in rest)])


def check_says(value: Floats, n_scores: int, says: str) -> None:
    """Check that a table of codes has the classes of the scores."""
    part.check(says in ("answer", "probability", "value"), f"says is {says!r}")
    if says == "value":
        part.check(n_scores == 1, "a number is not one score")
        part.check(value.ndim == 2 and value.shape[1] == 1, "a number is not one column")
    else:
        classes = 2 if n_scores == 1 else n_scores
        part.check(value.ndim == 2 and len(value) == classes > 0, "value is not (C, K)")


def votes_by_score(score: Floats, value: Floats, says: str, slope: float = 1.0) -> Floats:
    """Return the (..., K) votes of scores (..., R), see `Scores`; 0 where a score is missing."""
    missing = np.isnan(score).any(axis=-1)
    one = score.shape[-1] == 1
    if says == "value":
        out = score.copy()
    elif says == "answer":
        out = value[(score[..., 0] > 0).astype(np.intp) if one else score.argmax(axis=-1)]
    else:
        odds = np.maximum(slope * np.moveaxis(score, -1, 0), _LOWEST)  # all infinite: equal
        if one:
            odds = np.concatenate([np.zeros_like(odds), odds])
        share = np.exp(odds - odds.max(axis=0))
        total = share[0].copy()
        for own in share[1:]:  # summed in the same order for every shape
            total += own
        share /= total
        out = share[0][..., None] * value[0]
        for own, code in zip(share[1:], value[1:], strict=True):
            out += own[..., None] * code
    out[missing] = 0.0
    return out


@register_form("linear voters")
def linear_models(
    n_features: int,
    columns: part.Columns,
    coef: Floats,
    intercept: Floats,
    value: Floats,
    says: str = "answer",
    abstains: bool = False,
    slope: float = 1.0,
) -> Scores:
    """Return linear models ``z_r(x) = intercept_r + sum_j coef_rj x_j``, R scores per voter.

    Parameters
    ----------
    n_features : int
        p, the number of columns of the table.
    columns : ndarray of shape (q,), intp
        Sorted columns that any of the voters reads.
    coef : ndarray of shape (T, R, q)
        A voter does not read columns whose R coefficients are all 0; it may read none. With R = 1
        the sign of the score decides between two classes (above 0: the second), or the score is a
        number (regression); else there is one score per class.
    intercept : ndarray of shape (T, R)
    value, says, abstains, slope
        As in `Scores`.

    Raises
    ------
    PsephosError
        If the parameters are inconsistent.
    """
    _check_scores(n_features, columns, coef)
    part.check(intercept.shape == coef.shape[:2], "intercept is not (T, scores)")
    voter, position, ptr = _read((coef != 0).any(axis=1))
    return Scores(
        n_features, columns, ptr, position, intercept, value, "a linear model", says, slope,
        abstains, coef=np.ascontiguousarray(coef[voter, :, position].T),
    )  # fmt: skip


@register_form("naive Bayes voters")
def naive_bayes_models(
    n_features: int,
    columns: part.Columns,
    mean: AnySize,
    variance: AnySize,
    log_prior: Floats,
    value: Floats,
    reads: NDArray[np.bool_] | None = None,
    says: str = "answer",
    abstains: bool = False,
) -> Scores:
    """Return Gaussian naive Bayes models: columns are normal and independent within each class.

    The score of class k is log_prior_k - sum over the voter's columns j of
    ((x_j - mean_kj)^2 / variance_kj + log(2 pi variance_kj)) / 2.

    Parameters
    ----------
    n_features : int
        p, the columns of the table.
    columns : ndarray of shape (q,)
        Sorted columns that some voter reads.
    mean, variance : ndarray of shape (T, classes, q)
        Means and variances of each class; variances must be positive.
    log_prior : ndarray of shape (T, classes)
    reads : ndarray of shape (T, q), bool, or None
        The columns that each voter reads; None: every voter reads all.
    value, says, abstains
        As in `Scores`.

    Raises
    ------
    PsephosError
        If the parameters are inconsistent.
    """
    _check_scores(n_features, columns, mean)
    part.check(mean.shape == variance.shape, "mean and variance differ in shape")
    part.check(log_prior.shape == mean.shape[:2], "log_prior is not (T, C)")
    shape = (len(mean), len(columns))
    reads = np.ones(shape, dtype=bool) if reads is None else reads
    part.check(
        reads.shape == shape and reads.dtype == np.bool_, "reads is not a mask of shape (T, q)"
    )
    voter, position, ptr = _read(reads)
    moments = (np.ascontiguousarray(a[voter, :, position].T) for a in (mean, variance))
    return Scores(
        n_features, columns, ptr, position, log_prior, value, "Gaussian naive Bayes", says,
        abstains=abstains, **dict(zip(("centre", "variance"), moments, strict=True)),
    )  # fmt: skip


@register_form("quadratic voters")
def quadratic_models(
    n_features: int,
    columns: part.Columns,
    ptr: Indices,
    position: Indices,
    mean: AnySize,
    whitening: AnySize,
    constant: Floats,
    value: Floats,
    says: str = "answer",
    abstains: bool = False,
) -> Scores:
    """Return quadratic discriminants: a normal density per class, with its own covariance.

    The score of class k is ``constant_k - |W_k (x - mean_k)|^2 / 2``, where W_k' W_k is the inverse
    of the class's covariance and the constant contains the prior and the determinant. `mean` is
    `centre` of `Scores`; the other parameters have the same names there.
    """
    numbers = (mean, whitening, constant, value)
    part.check(all(bool(np.isfinite(a).all()) for a in numbers), "a number is not finite")
    return Scores(
        n_features, columns, ptr, position, constant, value, "quadratic discriminant", says,
        abstains=abstains, centre=mean, whitening=whitening,
    )  # fmt: skip


def _check_scores(n_features: int, columns: part.Columns, table: Floats) -> None:
    part.check_columns(columns, n_features)
    shaped = table.ndim == 3 and table.shape[2] == len(columns) and table.shape[1] > 0
    part.check(shaped, "the coefficients of scores must have the shape (T, scores, columns)")


def _read(reads: NDArray[np.bool_]) -> tuple[Indices, Indices, Indices]:
    """Return the (voter, position) pairs of a mask, and the start of each voter's pairs."""
    voter, position = np.nonzero(reads)
    return voter, position, np.searchsorted(voter, np.arange(len(reads) + 1)).astype(np.intp)
