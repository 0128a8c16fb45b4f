"""Pairwise diversity of the voters of a vote, and the kappa-error plot."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Axes, ColumnLists, Floats, Indices, LabelsLike, NDArray, TableLike
from psephos.estimator.labels import codes_among, read_numbers
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.explain.drawing import Display
from psephos.vote import Vote
from psephos.vote.part import label_of
from psephos.vote.seen import refuse_seen

_CELLS = 1 << 21  # votes per block: 16 MiB


@dataclass(frozen=True)
class DiversityDisplay(Display):
    """How much the voters of a fitted vote differ in their predictions and in their errors.

    `plot` draws a point for each pair of voters: kappa (or the correlation of errors) against their
    mean error. Low and to the left is best: accurate voters that err on different cases.

    A vote is better than its voters insofar as they err on different cases. For voters s and t and
    the shares of cases that both predict correctly (a), only s (b), only t (c), or neither (d)::

        Q            = (a d - b c) / (a d + b c)      Yule's statistic; 0 if they err independently
        disagreement = b + c
        double_fault = d

    and kappa is Cohen's, between their predictions: 1 if they always agree, 0 if they agree as
    often as by chance. For regression, `correlation` is that of their errors and `disagreement` the
    mean squared difference. Q is NaN where both products are 0.

    Source: Kuncheva & Whitaker (2003), "Measures of diversity in classifier ensembles", Machine
    Learning 51; Margineantu & Dietterich (1997), "Pruning adaptive boosting", for the plot.

    Parameters
    ----------
    names : tuple of str
        Names of the T voters, or their numbers.
    error : ndarray of shape (T,)
        The error rate of each voter, or its mean squared error.
    first, second : ndarray of shape (P,)
        The voters of each of the P = T (T - 1) / 2 pairs.
    statistics : dict of str to ndarray of shape (P,)
    n_cases : int
    left_out : tuple of str, default=()
        The voters that are not compared: those that read no column (a prior, a base score, a tree
        without a split), and reserves, which have weight only where values are missing.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from psephos import RandomForestClassifier
    >>> from psephos.explain import DiversityDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    >>> display = DiversityDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> sorted(display.table())[:4], len(display.first)
    (['disagreement', 'double_fault', 'error_first', 'error_second'], 45)
    """

    names: tuple[str, ...]
    error: Floats
    first: Indices
    second: Indices
    statistics: dict[str, Floats]
    n_cases: int
    left_out: tuple[str, ...] = ()

    @classmethod
    def from_estimator(cls, estimator: VoteEstimator, X: TableLike, y: LabelsLike) -> Self:
        """Return the diversity of a fitted model's voters on some cases.

        Parameters
        ----------
        estimator : fitted model of psephos
            With at least two voters that read a column and are not a reserve; all others are listed
            in `left_out`. A vote within the vote counts as one voter.
        X : array, data frame or sparse table of shape (n_samples, n_features)
            Cases that the model was not fitted on: voters agree more on their training rows.
        y : array of shape (n_samples,)

        Raises
        ------
        PsephosError
            If the model has fewer than two such voters or several outputs, a label is not one of
            its classes, or X has rows that it was fitted on, as far as it keeps them.
        """
        vote: Any = getattr(estimator, "vote_", None)
        kind = type(estimator).__name__
        if vote is None or vote.n_voters < 2:
            raise PsephosError(
                f"estimator must be a fitted model of psephos with two or more voters; got {kind}."
            )
        counts = (np.diff(vote.usage().indptr) > 0) & ~vote.reserve()
        members = np.flatnonzero(counts)
        if len(members) < 2:
            raise PsephosError(
                "estimator must have two or more voters that read a column and are not a reserve; "
                f"this {kind} has {len(members)}, of {vote.n_voters} voters."
            )
        target = vote.target
        if target.kind not in ("binary", "multiclass", "regression"):
            raise PsephosError(f"estimator must have one output; this {kind} has several.")
        values = estimator._values(X)
        every = [label_of(vote.voters, t).removesuffix(": ") for t in range(vote.n_voters)]
        every = [name or str(t + 1) for t, name in enumerate(every)]
        names = tuple(every[t] for t in members)
        left_out = tuple(every[t] for t in np.flatnonzero(~counts))
        numbers = target.kind == "regression"
        true = read_numbers(values, y) if numbers else codes_among(target.classes, values, y)
        refuse_seen(estimator, values, "DiversityDisplay", true)
        votes = _votes(vote, values)[:, members]
        if numbers:
            off = votes[:, :, 0] - true[:, None]
            error, tables = (off**2).mean(axis=0), _of_numbers(off)
        else:
            answers = target.answers(votes.reshape(-1, votes.shape[2])).reshape(votes.shape[:2])
            wrong = answers != true[:, None]
            error, tables = wrong.mean(axis=0), _of_classes(answers, wrong, target.n_classes)
        first, second = np.triu_indices(len(members), 1)
        pairs = {name: table[first, second] for name, table in tables.items()}
        return cls(names, error, first, second, pairs, len(votes), left_out)

    def table(self) -> ColumnLists:
        """Return one entry per pair: both names, both errors and the statistics."""
        return {
            "first": [self.names[t] for t in self.first.tolist()],
            "second": [self.names[t] for t in self.second.tolist()],
            **{name: values.tolist() for name, values in self.statistics.items()},
            "error_first": self.error[self.first].tolist(),
            "error_second": self.error[self.second].tolist(),
        }

    def summary(self) -> dict[str, float]:
        """Return the mean of each statistic over the pairs where it is not NaN."""
        return {
            name: float(np.nanmean(values)) if not np.isnan(values).all() else np.nan
            for name, values in self.statistics.items()
        }

    def _draw(self, axes: Axes) -> None:
        name = "kappa" if "kappa" in self.statistics else "correlation"
        mean = (self.error[self.first] + self.error[self.second]) / 2
        axes.scatter(self.statistics[name], mean, s=12, alpha=0.5)
        axes.set_xlabel("kappa of two voters" if name == "kappa" else "correlation of two errors")
        axes.set_ylabel("their mean error" if name == "kappa" else "their mean squared error")
        without = f"\n(without {len(self.left_out)} that read no column or are reserves)"
        axes.set_title(
            f"{len(self.first)} pairs of {len(self.names)} voters, {self.n_cases} cases"
            + (without if self.left_out else "")
        )


def _votes(vote: Vote, values: Any) -> Floats:
    """Return the votes (n, T, K), computed in blocks of rows."""
    size = max(1, _CELLS // (vote.n_voters * vote.target.n_outputs))
    parts = [vote.votes(values[i : i + size]) for i in range(0, values.shape[0], size)]
    return np.concatenate(parts)


def _of_classes(answers: Indices, wrong: NDArray[np.bool_], n_classes: int) -> dict[str, Floats]:
    """Return (T, T) tables of the statistics of classes."""
    n = len(answers)
    bad = wrong.astype(np.float64)
    d = bad.T @ bad / n
    only = bad.mean(axis=0)
    b, c = only[None, :] - d, only[:, None] - d  # b: the second alone is wrong
    a = 1.0 - b - c - d
    alike = np.zeros_like(d)
    chance = np.zeros_like(d)
    for k in range(n_classes):
        votes = (answers == k).astype(np.float64)
        alike += votes.T @ votes / n
        chance += np.outer(votes.mean(axis=0), votes.mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(chance < 1.0, (alike - chance) / (1.0 - chance), np.nan)
        total = a * d + b * c
        q = np.where(total > 1e-15, (a * d - b * c) / total, np.nan)
    return {"q_statistic": q, "kappa": kappa, "disagreement": b + c, "double_fault": d}


def _of_numbers(off: Floats) -> dict[str, Floats]:
    spread = off.std(axis=0)
    centred = off - off.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = centred.T @ centred / len(off) / np.outer(spread, spread)
    square = (off**2).mean(axis=0)
    apart = square[:, None] + square[None, :] - 2.0 * (off.T @ off) / len(off)
    return {"correlation": correlation, "disagreement": np.maximum(apart, 0.0)}
