"""The one place where the report touches a model: its card, its columns, its ballots."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.explain import ColumnNetwork, ErrorDisplay
from psephos.report.folder import Cases
from psephos.report.words import plural

__all__ = ["CaseBallot", "CaseBallots", "Near", "Opened", "open_model"]


@dataclass(frozen=True)
class Near:
    """A training case that was heard: its row, distance, share of the similarity, class."""

    row: int
    distance: float
    share: float
    answer: str


@dataclass(frozen=True)
class CaseBallot:
    """One case: what each voter said and how it added up."""

    row: int  # position among the training cases
    score: list[float]  # (K,)
    mass: float
    votes: list[str]  # (T,)
    weights: list[float]  # (T,)
    contributions: list[list[float]]  # (T, K)
    near: list[Near]


@dataclass(frozen=True)
class CaseBallots:
    """The ballots of several cases by the same voters."""

    rules: list[str]  # (T,)
    read: list[tuple[str, ...]]  # (T,) columns each voter reads
    outputs: list[str]  # (K,) the class each column of the score speaks for
    cases: list[CaseBallot]


@dataclass(frozen=True)
class Opened:
    """A model file, opened."""

    model: Any
    classes: list[str]
    head: str
    sentences: list[str]
    columns: dict[str, int]  # column read -> voters that read it
    whole: dict[str, str]  # short name -> name in the table

    def answers(self, cases: Cases) -> tuple[list[str], list[float]]:
        """Return the answers to the training cases, and how far each is from another answer."""
        reduced, X = self._table(cases)
        score = np.asarray(reduced.decision_function(X), dtype=np.float64)
        if score.ndim == 1:
            lead = np.abs(score)
        else:
            ordered = np.sort(score, axis=1)
            lead = ordered[:, -1] - ordered[:, -2]
        return [str(one) for one in reduced.predict(X)], lead.tolist()

    def ballots(self, cases: Cases, rows: Sequence[int]) -> CaseBallots:
        """Return the ballots of these rows of the training cases."""
        reduced, X = self._table(cases)
        ballots = reduced.explain(X[np.asarray(rows, dtype=np.intp)])
        table: dict[str, list[Any]] = ballots.columns()
        t = ballots.vote.n_voters
        sums = [key for key in table if key.startswith("contribution")]
        near: list[Any] = table.get("nearest", [()] * len(table["vote"]))
        told: list[CaseBallot] = []
        for i, row in enumerate(rows):
            mine = slice(i * t, (i + 1) * t)
            terms = zip(*(table[key][mine] for key in sums), strict=True)
            told.append(
                CaseBallot(
                    row=row,
                    score=[float(v) for v in np.ravel(ballots.score[i])],
                    mass=float(ballots.mass[i]),
                    votes=ballots.vote.target.words(ballots.votes[i]),
                    weights=[float(v) for v in table["weight"][mine]],
                    contributions=[[float(v) for v in term] for term in terms],
                    near=[_near(one, len(cases.ids)) for one in near[i * t]] if t else [],
                )
            )
        return CaseBallots(
            rules=[
                ballots.vote.voters.rule(k, ballots.names.columns, ballots.names.levels)
                for k in range(t)
            ],
            read=_read_by_voters(ballots),
            outputs=[self.classes[1]] if len(sums) == 1 else self.classes,
            cases=told,
        )

    def network(self) -> ColumnNetwork | None:
        """Return the network of its columns; None unless several voters read several columns."""
        # of the voters alone: weights that depend on the case listen with columns of their own
        usage: Any = self.model.vote_.voters.usage()
        if (np.diff(usage.indptr) > 1).sum() < 2:
            return None
        return ColumnNetwork.from_usage(usage, self.model.schema_.words().columns)

    def errors(self) -> tuple[ErrorDisplay, dict[str, list[Any]]] | None:
        """Return the errors of all candidates of a search, and its figures by dimension."""
        library = getattr(self.model, "library_", None)
        if library is None:
            return None
        return ErrorDisplay.from_estimator(self.model), library.dimensions.columns()

    def _table(self, cases: Cases) -> tuple[Any, Any]:
        """Return the model reduced to its columns, and those columns of the cases."""
        reduced = self.model.reduce()
        # columns are matched here, by name: the model itself then takes a plain array
        if hasattr(reduced, "feature_names_in_"):
            del reduced.feature_names_in_
        if not len(self.model.vote_.columns):
            return reduced, np.full((len(cases.ids), 1), np.nan)
        told: list[str] = reduced.schema_.words().columns
        wanted = [self.whole.get(name, name) for name in told]
        where = {name: j for j, name in enumerate(cases.names)}
        absent = [name for name in wanted if name not in where]
        if absent:
            raise PsephosError(
                f"cases.npz lacks the column {absent[0]!r} that the saved model reads:"
                " run the comparison again."
            )
        return reduced, cases.values[:, [where[name] for name in wanted]]


def _read_by_voters(ballots: Any) -> list[tuple[str, ...]]:
    """Return the names of the columns that each voter reads."""
    usage: Any = ballots.vote.voters.usage()
    spans = [usage.indices[a:b].tolist() for a, b in pairwise(usage.indptr.tolist())]
    return [tuple(ballots.names.columns[j] for j in sorted(span)) for span in spans]


def open_model(path: Path, short: Mapping[str, str] = MappingProxyType({})) -> Opened:
    """Open a model file.

    Parameters
    ----------
    path : Path
    short : dict of str to str
        The names by which the model is to speak of columns; others keep their own.

    Raises
    ------
    ModelFileError
        If it is damaged.
    """
    from psephos.models import load

    model: Any = load(path)
    if model.schema_.names is not None:
        names = tuple(short.get(name, name) for name in model.schema_.names)
        model.schema_ = replace(model.schema_, names=names)
    return Opened(
        model=model,
        classes=[str(c) for c in model.classes_],
        head=_head(model),
        sentences=[str(s) for s in model.describe()][1:],
        columns=_columns(model),
        whole={word: name for name, word in short.items()},
    )


def _head(model: Any) -> str:
    """Return the model as a sentence; the card lists its columns by themselves."""
    vote = model.vote_
    read = plural(len(vote.columns), "column")
    voters = plural(vote.n_voters, "voter")
    return f"{voters} ({vote.weighting_words()}), {read} of {vote.n_features} read."


def _columns(model: Any) -> dict[str, int]:
    """Return each column the model reads and how many voters read it, the most read first."""
    names: list[str] = model.schema_.words().columns
    usage: Any = model.vote_.voters.usage().tocoo()
    read: Counter[int] = Counter(usage.coords[1].tolist())
    used: list[int] = model.vote_.columns.tolist()
    return {names[j]: read[j] for j in sorted(used, key=lambda j: (-read[j], j))}


def _near(one: Any, n_cases: int) -> Near:
    row, distance, share, answer = one
    inside = isinstance(row, int) and 0 <= row < n_cases
    return Near(
        row=row if inside else -1,
        distance=float(distance),
        share=float(share) if math.isfinite(share) else 0.0,
        answer=str(answer),
    )
