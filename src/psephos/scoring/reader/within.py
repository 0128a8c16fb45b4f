"""Voters made of others: joined, on coded or ranked columns, nested votes, and stacked ones."""

# pyright: standard

import math
from typing import Any

from psephos.scoring.reader.vote import WholeVote, interpolated, label_of
from psephos.vote.reading.core import (
    NAN,
    VOTERS,
    are_neighbours,
    cells,
    filled,
    of_kind,
    part_of,
    spans,
)
from psephos.vote.reasons import Abstention, Inner
from psephos.vote.reasons.read import OfAnswers


@of_kind(VOTERS, "joined voters")
class Joined:
    """Voters of several parts in one order."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.parts = [part_of(VOTERS, one) for one in part["parts"]]
        self.part, self.place = part["part"], part["place"]
        self.where = list(zip(self.part, self.place, strict=True))
        self.names, self.n_voters = part["names"], len(self.where)
        self.reads = [self.parts[k].reads[t] for k, t in self.where]

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        each = [part.votes(x) for part in self.parts]
        return [each[k][t] for k, t in self.where]

    def reasons(self, x: Any) -> Any:
        """Return the reason of each voter."""
        each = [part.reasons(x) for part in self.parts]
        return [each[k][t] for k, t in self.where]

    def label(self, t: int) -> str:
        """Return a voter's name."""
        if self.names:
            return self.names[t]
        k, place = self.where[t]
        return label_of(self.parts[k], place)


class _OnTable:
    """Voters `inner` on a row that is computed from a case."""

    inner: Any

    def table(self, x: Any) -> list[float]:
        """Return the row that the inner voters read."""
        raise NotImplementedError

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        return self.inner.votes(self.table(x))

    def label(self, t: int) -> str:
        """Return a voter's name."""
        return label_of(self.inner, t)


@of_kind(VOTERS, "coded voters")
class Coded(_OnTable):
    """Voters on 0/1 columns of categories."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.inner, self.level = part_of(VOTERS, part["inner"]), filled(part["level"])
        self.source = [part["columns"][i] for i in part["source"]]
        self.n_voters = self.inner.n_voters
        self.reads = [sorted({self.source[j] for j in own}) for own in self.inner.reads]

    def table(self, x: Any) -> list[float]:
        """Return the 0/1 columns."""
        pairs = zip(self.source, self.level, strict=True)
        return [x[j] if v != v or x[j] != x[j] else float(x[j] == v) for j, v in pairs]

    def reasons(self, x: Any) -> Any:
        """Return the reason of each voter, in the original columns."""
        inner = self.inner.reasons(self.table(x))
        return [one.decoded(self.source, self.level, x) for one in inner]


@of_kind(VOTERS, "ranked voters")
class Ranked(_OnTable):
    """Voters on normal scores."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.inner, self.columns = part_of(VOTERS, part["inner"]), part["columns"]
        self.knots = [(part["knots"][a:b], part["scores"][a:b]) for a, b in spans(part["start"])]
        self.n_voters = self.inner.n_voters
        self.reads = [[self.columns[j] for j in own] for own in self.inner.reads]

    def table(self, x: Any) -> list[float]:
        """Return the normal scores; 0 where a value is missing."""
        each = zip(self.columns, self.knots, strict=True)
        return [interpolated(x[j], *own) if own[0] and x[j] == x[j] else 0.0 for j, own in each]

    def reasons(self, x: Any) -> Any:
        """Return the reason of each voter, in the original columns."""
        return [one.ranked(self.columns, x) for one in self.inner.reasons(self.table(x))]


@of_kind(VOTERS, "nested voters")
class Nested:
    """Voters that are votes."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.inner = [WholeVote(one) for one in part["inner"]]
        self.columns = [[part["columns"][i] for i in own] for own in part["places"]]
        self.levels = [dict(own) for own in part["levels"]]
        self.says, self.code, self.abstains = part["says"], part["value"], part["abstains"]
        self.n_voters, self.reads = len(self.inner), [sorted(set(own)) for own in self.columns]

    def table(self, t: int, x: Any) -> list[float]:
        """Return the case as an inner vote reads it, with its own codes of categories."""
        row = [x[j] for j in self.columns[t]]
        for j, values in self.levels[t].items():
            row[j] = float(values.index(row[j])) if row[j] in values else NAN
        return row

    def gaps(self, t: int, x: Any) -> list[int]:
        """Return the positions of missing values for which an inner vote abstains."""
        row = [x[j] for j in self.columns[t]]
        return [i for i, value in enumerate(row) if value != value] if self.abstains else []

    def votes(self, x: Any) -> Any:
        """Return the (T, K) votes."""
        none = [0.0] * len(self.code[0])
        return [
            none if self.gaps(t, x) else self._vote(vote, self.table(t, x))
            for t, vote in enumerate(self.inner)
        ]

    def _vote(self, vote: Any, row: list[float]) -> list[float]:
        case = vote.scored(row)
        if vote.target.kind == "regression":
            return case.score
        classes = vote.target.classes
        if self.says == "answer":
            return self.code[classes[vote.target.chosen(vote.decided(case))]]
        chances = vote.chances(case)
        if self.says == "log-odds":
            whole = [0.0] * len(self.code)
            for k, chance in zip(classes, chances, strict=True):
                whole[k] = chance
            logs = [math.log(max(one, 1e-9)) for one in whole]
            if len(self.code[0]) == 1:
                return [logs[1] - logs[0]]
            middle = sum(logs) / len(logs)
            return [one - middle for one in logs]
        out = [0.0] * len(self.code[0])
        for k, chance in zip(classes, chances, strict=True):
            out = [a + chance * b for a, b in zip(out, self.code[k], strict=True)]
        return out

    def reasons(self, x: Any) -> Any:
        """Return the reason of each voter."""
        found = []
        for t, answer in enumerate(self.votes(x)):
            columns, gaps = self.columns[t], tuple(self.gaps(t, x))
            row, vote = self.table(t, x), self.inner[t]
            own = tuple(range(len(row)))
            if gaps:
                reason = Abstention(tuple(answer), gaps, (NAN,) * len(gaps))
            else:
                of = "training case" if are_neighbours(vote.data["weighting"]) else "voter"
                alone = vote.voters.n_voters == 1
                inner = vote.voters.reasons(row)[0] if alone else None
                inner = inner or Inner((), own, tuple(row), vote.voters.n_voters, of)
                reason = inner.says(tuple(answer), self.says)
            found.append(reason.mapped(columns, self.levels[t]))
        return found


def _width(part: dict[str, Any]) -> int:
    """Return the number of columns of the table that voters read."""
    if "n_features" in part:
        return part["n_features"]
    keys = ("members", "parts", "trees", "batches", "space", "rules")
    inner = next(part[key] for key in keys if key in part)
    return _width(inner[0] if isinstance(inner, list) else inner)


@of_kind(VOTERS, "composed voters")
class Composed(_OnTable):
    """Voters on the columns and on the predictions of other voters (stacking)."""

    def __init__(self, part: dict[str, Any]) -> None:
        self.members, self.inner = (part_of(VOTERS, part[k]) for k in ("members", "readers"))
        self.answers, self.shares = tuple(part["answers"]), part["shares"]
        self.n_voters, k = self.inner.n_voters, len(self.answers) // self.members.n_voters
        wide = _width(part["readers"]) - len(self.answers)
        through = [[j] for j in range(wide)]  # the columns that each column of the readers has
        through += [self.members.reads[answer // k] for answer in range(len(self.answers))]
        self.reads = [sorted({i for j in own for i in through[j]}) for own in self.inner.reads]

    def table(self, x: Any) -> list[float]:
        """Return the columns followed by the predictions of the members."""
        votes = self.members.votes(x)
        k = max(len(votes[0]), 2)
        flat = [v for vote in votes for v in vote]
        if self.shares:
            flat = [min(max(((k - 1) * v + 1.0) / k, 0.0), 1.0) for v in flat]
        return [*x, *flat]

    def reasons(self, x: Any) -> Any:
        """Return the reason of each voter."""
        places = [*range(len(x)), *range(-len(self.answers), 0)]
        found = []
        for t, one in enumerate(self.inner.reasons(self.table(x))):
            read = self.reads[t]
            values = tuple(v for _, v in cells(x, read))
            inner = one.mapped(places, {})
            found.append(OfAnswers(one.answer, tuple(read), values, inner, self.answers))
        return found
