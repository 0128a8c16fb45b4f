"""Explanations of a vote of prototypes: its prototypes, their impact on a case, its familiarity."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.stats

from psephos._errors import PsephosError
from psephos._types import Axes, ColumnLists, Floats, Indices, NDArray, TableLike
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import axes_of, plain
from psephos.vote import KernelWeights, PrototypeVoters, Vote
from psephos.vote.frames import Framed
from psephos.vote.operations.distance import PRIOR

_stats: Any = scipy.stats
_BLOCK = 1 << 18  # distances held at once


class Prototypes(NamedTuple):
    """The vote of a fitted model of prototypes, on the q columns it reads.

    `vote`, its T `voters` and its `kernels` take tables of these columns only. `columns` are their
    positions in the model's table, `names` their names, `levels` their categories (empty for a
    numeric column).
    """

    vote: Vote
    voters: PrototypeVoters
    kernels: KernelWeights
    columns: Indices
    names: list[str]
    levels: list[list[str]]

    @classmethod
    def of(cls, model: Any) -> "Prototypes":
        """Return the prototypes of a fitted model; raise if it has none."""
        whole: Any = getattr(model, "vote_", None)
        if whole is None or whole.weighting.prototype_batches() is None:
            raise PsephosError(
                "the model must be a fitted ProsetClassifier or ProsetRegressor; got "
                f"{type(model).__name__}, which has no prototypes."
            )
        words = model.schema_.words()
        vote: Any = whole.select(whole.columns)
        read = whole.columns.tolist()
        names = [words.columns[j] for j in read]
        levels = [words.levels.get(j, []) for j in read]
        return cls(vote, vote.voters, vote.weighting, whole.columns, names, levels)

    @property
    def batch(self) -> Indices:
        """Return the batch of each voter, shape (T,); -1 for a prior."""
        return self.voters.batches.batch

    @property
    def is_prior(self) -> NDArray[np.bool_]:
        """Return a mask of the voters that are priors, shape (T,)."""
        return self.batch == PRIOR

    @property
    def classes(self) -> list[Any]:
        """Return the K labels; empty for regression."""
        target: Any = self.vote.target
        return target.classes.tolist() if target.n_classes else []

    def answer_values(self) -> Floats:
        """Return the votes: (T, K) class shares, or (T, 1) numbers."""
        values = self.voters.values
        if not self.classes:
            return values
        return self.vote.readout.probabilities(values, self.vote.target)

    def answers(self) -> list[Any]:
        """Return the label or number of each voter; for a prior, the most frequent label."""
        values = self.answer_values()
        if not self.classes:
            return values[:, 0].tolist()
        return [self.classes[k] for k in values.argmax(axis=1).tolist()]

    def predictions(self, X: Floats) -> Floats:
        """Return (n, K) probabilities or (n, 1) means for rows of the q columns."""
        score = self.vote.score(X)
        if not self.classes:
            return score
        return self.vote.readout.probabilities(score, self.vote.target)

    def familiarity(self, X: Floats) -> Floats:
        """Return the mass of the prototypes without the prior, (n,), for rows of the q columns."""
        own = np.flatnonzero(~self.is_prior)
        return self.vote.take(own).mass(X) if len(own) else np.zeros(len(X))

    def rows(self, model: VoteEstimator, X: TableLike) -> tuple[Floats, list[Any]]:
        """Return the q columns of an encoded table, and its row identifiers."""
        table = model._table(X)
        return table.dense(self.columns), table.rows.tolist()

    def scaled(self, X: Floats) -> Floats:
        """Return rows of the q columns with numbers standardised."""
        return (X - self.kernels.centre) * self.kernels.inverse

    def per_unit(self) -> Floats:
        """Return the (B, q) inverse bandwidths per original unit; unscaled for a category."""
        return self.voters.batches.inverse_bandwidth * self.kernels.inverse

    def described(self, voter: Indices) -> dict[str, list[Any]]:
        """Return the number, training row, answer and weight of some voters, by key."""
        at, answers, rows = voter.tolist(), self.answers(), self.voters.rows.tolist()
        return {
            "voter": at,
            "row": [rows[t] for t in at],
            "answer": [answers[t] for t in at],
            "weight": self.kernels.weight[voter].tolist(),
        }

    def in_words(self, d: int, values: Floats) -> list[Any]:
        """Return values of column d as numbers, or as categories with None where missing."""
        if not self.levels[d]:
            return values.tolist()
        return [None if np.isnan(v) else self.levels[d][int(v)] for v in values]


@dataclass(frozen=True, eq=False)
class PrototypeTable(Framed):
    """All prototypes of a model, in the units of the table.

    The prior comes first: a row for each class, whose weight is the frequency of the class, or one
    row with the mean of the target. Prototypes follow by batch, the greatest weight first.

    Source: the export of prototypes in proset (N. Ruf); `mean_share` is added here.

    Parameters
    ----------
    prototypes : Prototypes
    voter : ndarray of shape (R,), intp
        The voter that each row belongs to.
    answer : list of length R
        Class label or number.
    weight : ndarray of shape (R,)
        Weight of the voter; for a class of the prior, its part of the prior's weight.
    mean_share : ndarray of shape (R,)
        Mean share of the weight over the positions of the other prototypes; sums to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import ProsetClassifier
    >>> from psephos.explain import PrototypeTable
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ProsetClassifier(random_state=0).fit(X, y)
    >>> table = PrototypeTable.from_estimator(model).table()
    >>> table["answer"][:3], [round(w, 3) for w in table["weight"][:3]]
    ([0, 1, 2], [0.333, 0.333, 0.333])
    """

    prototypes: Prototypes
    voter: Indices
    answer: list[Any]
    weight: Floats
    mean_share: Floats

    @classmethod
    def from_estimator(cls, estimator: VoteEstimator) -> Self:
        """Return the table of a fitted ProsetClassifier or ProsetRegressor.

        Raises
        ------
        PsephosError
            If the estimator has no prototypes.
        """
        found = Prototypes.of(estimator)
        parts = found.answer_values() if found.classes else np.ones((found.vote.n_voters, 1))
        parts = np.where(found.is_prior[:, None], parts, parts.max(axis=1, keepdims=True))
        several = found.is_prior[:, None] & (np.arange(parts.shape[1]) > 0)
        voter, part = np.nonzero(several | (np.arange(parts.shape[1]) == 0))
        share = parts[voter, part]
        answers = found.answers()
        labels = [
            found.classes[k] if found.classes and found.is_prior[t] else answers[t]
            for t, k in zip(voter.tolist(), part.tolist(), strict=True)
        ]
        weight = found.kernels.weight[voter] * share
        mean_share = found.kernels.mean_share()[voter] * share
        heaviest = np.where(found.is_prior[voter], 0.0, -weight)  # priors in the order of classes
        order = np.lexsort([part, voter, heaviest, found.batch[voter]])
        labels = [labels[i] for i in order.tolist()]
        return cls(found, voter[order].astype(np.intp), labels, weight[order], mean_share[order])

    def table(self) -> ColumnLists:
        """Return one entry per row.

        Keys: ``batch`` (-1: the prior); ``voter``, its number in the vote; ``row``, the identifier
        of the training case (-1 or '' where unknown); ``answer``; ``weight``; ``mean_share``; and
        for each column read, ``value_<column>`` (NaN, or None for a category, where missing) and
        ``inverse_bandwidth_<column>``, per unit of the column, 0 where the batch does not read it.
        At a distance of 1 / inverse_bandwidth the weight is exp(-1/2) times that at distance 0.
        """
        found = self.prototypes
        batch = found.batch[self.voter]
        inverse = np.vstack([found.per_unit(), np.zeros((1, len(found.names)))])[batch]
        table: dict[str, list[Any]] = {
            "batch": batch.tolist(), **found.described(self.voter), "answer": list(self.answer),
            "weight": self.weight.tolist(), "mean_share": self.mean_share.tolist(),
        }  # fmt: skip
        for d, name in enumerate(found.names):
            table[f"value_{name}"] = found.in_words(d, found.voters.cases[self.voter, d])
            table[f"inverse_bandwidth_{name}"] = inverse[:, d].tolist()
        return table


# ---------------------------------------------------------------------- familiarity
def familiarity(model: VoteEstimator, X: TableLike) -> Floats:
    """Return the total weight of the prototypes: ``sum_j w_j G_b(x, c_j) = mass(x) - 1``.

    It is summed without the prior, so it keeps its relative precision far from all prototypes,
    where mass - 1 would round to 0. There the model predicts its prior.

    Parameters
    ----------
    model : fitted ProsetClassifier or ProsetRegressor
    X : array, data frame or sparse table of shape (n, p)
        The kernel of a missing value is its mean over two independent rows.

    Returns
    -------
    familiarity : ndarray of shape (n,)
        At least 0; 0 if the fit found no prototypes.

    Raises
    ------
    PsephosError
        If the model is not a fitted model of prototypes, or X cannot be read.
    """
    found = Prototypes.of(model)
    return found.familiarity(found.rows(model, X)[0])


def familiarity_p_value(model: VoteEstimator, X: TableLike, reference_X: Any) -> Floats:
    """Return the share of held-out cases that are at most as familiar.

    With f the `familiarity` and m reference cases::

        p(x) = (1 + #{i : f(r_i) <= f(x)}) / (1 + m)

    If x and the references are exchangeable (independent draws from one source, none of them used
    in the fit), then ``P(p <= a) <= a``. A small p means that x is unlike the reference cases, so
    that the prior largely decides its prediction. A small p does not mean that the prediction is
    wrong, nor a large p that it is right: classes may mix in familiar regions. Among many cases,
    some p are small by chance. Training rows must not be the reference, since prototypes are among
    them, at distance 0 from themselves.

    Parameters
    ----------
    model : fitted ProsetClassifier or ProsetRegressor
    X : array, data frame or sparse table of shape (n, p)
    reference_X : the same, of shape (m, p)
        Cases that were not used in the fit; p is never below 1 / (1 + m).

    Returns
    -------
    p : ndarray of shape (n,), in (0, 1]

    Raises
    ------
    PsephosError
        If the model is not a fitted model of prototypes, or a table cannot be read.

    Notes
    -----
    Sources: proset (N. Ruf), where familiarity is a quantile among held-out cases; Phipson and
    Smyth (2010), "Permutation P-values should never be zero", Statistical Applications in Genetics
    and Molecular Biology 9, for counting the case itself.
    """
    reference = np.sort(familiarity(model, reference_X))
    below = np.searchsorted(reference, familiarity(model, X), side="right").astype(np.float64)
    return (1.0 + below) / (1.0 + len(reference))


# ---------------------------------------------------------------------- a typical case
def reference_point(
    model: VoteEstimator, X: TableLike, *, max_rows: int = 2000, random_state: int = 0
) -> int:
    """Return the position of a typical case, as a reference for others.

    Cases are ranked by their mean distance to all others, once in the columns the model reads and
    once between predictions. The case with the least sum of the two ranks (Borda count) is
    returned; of ties the one with the highest entropy of its probabilities, then the first. ::

        d(i, j)^2 = sum_d (z_id - z_jd)^2    numbers in standard deviations; 1 for categories
                                             that differ; the expected value where one is missing
        e(i, j)   = |p(x_i) - p(x_j)|        probabilities, or predicted means

    For regression, the variance of the predicted distribution replaces the entropy. The case may
    serve as the baseline of additive explanations (SHAP): it is an existing case near the centre,
    with a common prediction.

    Parameters
    ----------
    model : fitted ProsetClassifier or ProsetRegressor
    X : array, data frame or sparse table of shape (n, p)
        Such as the training table.
    max_rows : int, default=2000
        Computing distances takes O(n^2): of a longer table only this many rows, drawn without
        replacement, are compared, and one of them is returned.
    random_state : int, default=0
        Seed of that draw.

    Returns
    -------
    position : int
        Position of the row in X.

    Raises
    ------
    PsephosError
        If the model is not a fitted model of prototypes, X cannot be read, or `max_rows` is below
        1.

    Notes
    -----
    Source: the choice of a reference point in proset (N. Ruf), which takes all distances; the rules
    for missing values, categories, regression and long tables are ours.
    """
    if max_rows < 1:
        raise PsephosError(f"max_rows must be at least 1; got {max_rows}.")
    found = Prototypes.of(model)
    rows, _ = found.rows(model, X)
    drawn = np.arange(len(rows))
    if len(rows) > max_rows:
        generator = np.random.default_rng(random_state)
        drawn = np.sort(generator.choice(len(rows), max_rows, replace=False))
    rows = np.ascontiguousarray(rows[drawn])
    answers = found.predictions(rows)
    category = found.kernels.is_category
    gaps = np.where(category, 1.0 - found.kernels.agree, 2.0)  # two rows of variance 1
    near = _mean_distance(found.scaled(rows), category, gaps)
    like = _mean_distance(
        answers, np.zeros(answers.shape[1], dtype=bool), np.zeros(answers.shape[1])
    )
    borda = _ranks(near) + _ranks(like)
    unsure = _ranks(-_uncertainty(found, rows, answers))
    return int(drawn[np.lexsort([unsure, borda])[0]])


def _mean_distance(Z: Floats, category: NDArray[np.bool_], gaps: Floats) -> Floats:
    """Return each row's mean distance to all rows; `gaps` replace squares with missing values."""
    mean = np.empty(len(Z))
    size = max(1, _BLOCK // max(1, len(Z)))
    for first in range(0, len(Z), size):
        some = slice(first, first + size)
        square = np.zeros((len(Z[some]), len(Z)))
        for d in range(Z.shape[1]):
            off = Z[some, d, None] - Z[:, d]
            term = (off != 0).astype(np.float64) if category[d] else off * off
            square += np.where(np.isnan(off), gaps[d], term)
        mean[some] = np.sqrt(square).mean(axis=1)
    return mean


def _uncertainty(found: Prototypes, rows: Floats, answers: Floats) -> Any:
    """Return the entropy of each row's probabilities, or the variance of its distribution."""
    if found.classes:
        return -(answers * np.log(np.where(answers > 0, answers, 1.0))).sum(axis=1)
    share, spread = found.vote.shares(rows), found.voters.spread
    off = found.voters.values[:, 0] - answers
    return (share * (spread**2 + off * off)).sum(axis=1)


def _ranks(values: Floats) -> Any:
    """Return ranks from 1; values that differ only by rounding share one."""
    scale = float(np.abs(values).max(initial=0.0))
    return _stats.rankdata(np.round(values / (scale or 1.0), 12), method="min")


# ---------------------------------------------------------------------- ballots
_SLACK = 1e-12  # leads up to this share of the mass may be due to rounding


@dataclass(frozen=True, eq=False)
class PrototypeBallot(Framed):
    """The impact of each prototype on a case, and the smallest set that decides it.

    For case x and prototype j of batch b, with w_j its weight and s(x) the mass::

        similarity_j(x) = G_b(x, c_j) = product over columns of similarity_jd(x)
        impact_j(x)     = w_j G_b(x, c_j),    share_j(x) = impact_j(x) / s(x)

    similarity_jd is ``exp(-1/2 (v_d (z_d - c_d))^2)`` for a number, ``exp(-1/2 v_d^2)`` for two
    categories that differ, 1 for equal ones, and where one of the two is missing the mean over two
    independent rows (`psephos.vote.KernelWeights`). The prior has similarity 1 everywhere.

    **Dominant set** (classes only). Prototypes are ranked by impact; ties share a rank. Let q_k be
    the prior's mass of class k plus the impacts of the class's prototypes down to rank r. The set
    ends at the smallest r with ``largest q_k - second largest q_k > sum of the impacts below rank
    r``: the labels of all other prototypes cannot change the prediction. It is empty where the
    prior alone decides, and has all prototypes where two classes tie. A lead of at most 1e-12 of
    the mass does not count.

    Source: the explanation of a prediction in proset (N. Ruf).

    Parameters
    ----------
    prototypes : Prototypes
    case_ids : list of length n
    X : ndarray of shape (n, q)
        The encoded cases, in the columns read.
    similarity, impact : ndarray of shape (n, T)
    rank : ndarray of shape (n, T), intp
        From 1; 0 for the prior.
    last : ndarray of shape (n,), intp, or None
        The last rank of the dominant set; None for regression.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import ProsetClassifier
    >>> from psephos.explain import PrototypeBallot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ProsetClassifier(random_state=0).fit(X, y)
    >>> ballot = PrototypeBallot.from_estimator(model, X[:1])
    >>> bool(ballot.dominant().sum() < model.n_prototypes_.sum())
    True
    """

    prototypes: Prototypes
    case_ids: list[Any]
    X: Floats
    similarity: Floats
    impact: Floats
    rank: Indices
    last: Indices | None

    @classmethod
    def from_estimator(cls, estimator: VoteEstimator, X: TableLike) -> Self:
        """Return the ballots of some cases.

        Parameters
        ----------
        estimator : fitted ProsetClassifier or ProsetRegressor
        X : array, data frame or sparse table of shape (n, p)
            Few cases: arrays of n T numbers are held.

        Raises
        ------
        PsephosError
            If the estimator has no prototypes, or X cannot be read.
        """
        found = Prototypes.of(estimator)
        rows, names = found.rows(estimator, X)
        similarity = _unweighted(found.kernels).weights(rows)
        impact = similarity * found.kernels.weight
        rank = np.zeros(impact.shape, dtype=np.intp)
        own = ~found.is_prior
        for i, impact_of in enumerate(impact[:, own]):
            rank[i, own] = np.unique(-impact_of, return_inverse=True)[1] + 1
        last = None
        if found.classes:
            mass = found.answer_values() * impact[:, :, None]
            last = np.array([_last(*case) for case in zip(mass, impact, rank, strict=True)])
            last = last.astype(np.intp)
        return cls(found, names, rows, similarity, impact, rank, last)

    # ------------------------------------------------------------------ reading it
    def share(self) -> Floats:
        """Return each voter's share of the weight, shape (n, T); rows sum to 1."""
        return self.prototypes.vote.shares(self.X)

    def contributions(self) -> Floats:
        """Return each voter's contribution to the prediction.

        Returns
        -------
        contributions : ndarray of shape (n, T, K), or (n, T, 1) for regression
            Their sums over the voters are the class probabilities, or the mean.
        """
        return self.share()[:, :, None] * self.prototypes.answer_values()

    def dominant(self) -> NDArray[np.bool_]:
        """Return a mask of the voters in the dominant set, shape (n, T), without the prior.

        Raises
        ------
        PsephosError
            For regression.
        """
        if self.last is None:
            raise PsephosError(
                "a dominant set is for classes only: every prototype changes a predicted number."
            )
        return (self.rank > 0) & (self.rank <= self.last[:, None])

    def column_similarity(self) -> Floats:
        """Return similarity_jd, shape (n, T, q); its product over the columns is `similarity`.

        It is 1 where a batch does not read the column.
        """
        kernels = _unweighted(self.prototypes.kernels)
        whole = kernels.batches.inverse_bandwidth
        factors = np.ones((*self.similarity.shape, whole.shape[1]))
        for d in range(whole.shape[1]):
            alone = np.where(np.arange(whole.shape[1]) == d, whole, 0.0)
            batches = replace(kernels.batches, inverse_bandwidth=alone)
            factors[:, :, d] = replace(kernels, batches=batches).weights(self.X)
        return factors

    def table(self) -> ColumnLists:
        """Return one entry per case and voter, by case, the prior first, then by rank.

        Keys: ``case``, ``rank``, ``batch`` (-1: the prior), ``voter``, ``row``, ``answer``,
        ``weight``, ``similarity``, ``impact``, ``share``; for classes ``dominant`` and
        ``contribution_<class>`` for each, for regression ``contribution``; and for each column read
        ``value_<column>``, the prototype's, and ``similarity_<column>``.
        """
        found = self.prototypes
        order = np.argsort(self.rank, axis=1, kind="stable")
        case, voter = np.repeat(np.arange(len(order)), order.shape[1]), order.ravel()
        table: dict[str, list[Any]] = {
            "case": [self.case_ids[i] for i in case.tolist()],
            "rank": self.rank[case, voter].tolist(),
            "batch": found.batch[voter].tolist(),
            **found.described(voter),
            "similarity": self.similarity[case, voter].tolist(),
            "impact": self.impact[case, voter].tolist(),
            "share": self.share()[case, voter].tolist(),
        }
        added = self.contributions()[case, voter]
        if found.classes:
            table["dominant"] = self.dominant()[case, voter].tolist()
            for k, label in enumerate(found.classes):
                table[f"contribution_{label}"] = added[:, k].tolist()
        else:
            table["contribution"] = added[:, 0].tolist()
        factors = self.column_similarity()
        for d, name in enumerate(found.names):
            table[f"value_{name}"] = found.in_words(d, found.voters.cases[voter, d])
            table[f"similarity_{name}"] = factors[case, voter, d].tolist()
        return table

    def plot(self, case: int = 0, *, most: int = 10, ax: Axes | None = None) -> Axes:
        """Draw the shares of the prior and of the prototypes with the highest impact on one case.

        Colours are classes; prototypes outside the dominant set are pale.

        Parameters
        ----------
        case : int, default=0
            Position of the case.
        most : int, default=10
            The number of prototypes shown.
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
        found = self.prototypes
        order = np.argsort(self.rank[case], kind="stable")[: most + 1]
        rows, answers = found.voters.rows.tolist(), found.answers()
        sure = np.ones(len(rows), dtype=bool) if self.last is None else self.dominant()[case]
        labels: list[str] = []
        for place, t in enumerate(order.tolist()):
            prior = bool(found.is_prior[t])
            colour = f"C{found.classes.index(answers[t])}" if found.classes else "C0"
            alpha = 1.0 if prior or sure[t] else 0.35
            axes.barh(place, self.share()[case, t], color="0.6" if prior else colour, alpha=alpha)
            answer = f"{answers[t]:.5g}" if not found.classes else answers[t]
            labels.append(found.voters.name if prior else plain(f"{rows[t]}: {answer}"))
        axes.set_yticks(range(len(labels)), labels, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel("share of the weight")
        axes.set_title(plain(f"case {self.case_ids[case]}"))
        return axes


def _unweighted(kernels: KernelWeights) -> KernelWeights:
    return replace(kernels, weight=np.ones_like(kernels.weight))


def _last(mass: Floats, impact: Floats, rank: Indices) -> int:
    """Return the last rank of a case's dominant set; `mass` (T, K) is that of voters by class."""
    n_ranks = int(rank.max())
    ranked = np.zeros((n_ranks + 1, mass.shape[1]))
    np.add.at(ranked, rank, mass)
    each = np.bincount(rank, impact, minlength=n_ranks + 1)
    rest = np.append(np.cumsum(each[:0:-1])[::-1], 0.0)  # summed from the smallest
    best = np.sort(np.cumsum(ranked, axis=0), axis=1)
    settled = best[:, -1] - best[:, -2] > rest + _SLACK * impact.sum()
    return int(np.argmax(settled)) if settled.any() else n_ranks
