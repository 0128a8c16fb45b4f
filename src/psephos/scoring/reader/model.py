"""A plain model: predictions by name of column and level, with ballots as text."""

# pyright: standard

import hashlib
import json
from dataclasses import replace
from typing import Any

from psephos._errors import PsephosError
from psephos.files.cells import FARTHEST
from psephos.files.names import Names
from psephos.scoring.reader.vote import ScoredCase, WholeVote, label_of
from psephos.vote.reading.answered import unanswered_words
from psephos.vote.reading.core import NAN, after_hook
from psephos.vote.reasons import Always, CaseLike, reason_and_vote, without_weight
from psephos.vote.reasons.base import in_json

_MOST_COLUMNS = 200  # the most columns that are listed by name


class PlainModel:
    """The reader of a plain model.

    Parameters
    ----------
    data : dict or str
        The plain form, or its JSON text.
    """

    def __init__(self, data: Any) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        plain = json.loads(text, object_hook=after_hook)
        if plain.get("format") != "psephos plain model" or plain["version"] != 2:
            raise ValueError("data must be a plain model of psephos of version 2.")
        self.plain, self.columns, self.classes = plain, plain["columns"], plain["classes"]
        parts = ("voters", "readout", "target")
        self.vote = WholeVote({"weighting": plain["weights"], **{k: plain[k] for k in parts}})
        levels = {j: c["levels"] for j, c in enumerate(self.columns) if "levels" in c}
        names = [c["name"] for c in self.columns]
        self.names = Names(names, levels, [str(c) for c in self.classes], self._vote_text)
        self.sentence_names = self.names.in_sentences()

    def case(self, values: Any) -> list[float]:
        """Return a case as numbers: levels as codes, None as NaN.

        Parameters
        ----------
        values : sequence
            In the order of `columns`: a number, the name of a level (an unknown one is missing), or
            None where missing.

        Raises
        ------
        PsephosError
            If the number of values is not that of the columns, a value is not of its column's kind,
            or a number is infinite or above 1e150 in size.
        """
        if len(values) != len(self.columns):
            raise PsephosError(f"a case must have {len(self.columns)} values; got {len(values)}.")
        return [self._value(j, value) for j, value in enumerate(values)]

    def _value(self, j: int, value: Any) -> float:
        levels = self.names.levels.get(j)
        if value is None or value != value:
            return NAN
        if levels is not None and isinstance(value, str):
            return float(levels.index(value)) if value in levels else NAN
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if levels is None and number and abs(value) <= FARTHEST:
            return float(value)
        what = f"numbers up to {FARTHEST:g}" if levels is None else "names of its categories"
        raise PsephosError(
            f"column {self.names.columns[j]!r} must have {what}; got {value!r}: give null if it is "
            "missing."
        )

    def scored(self, row: list[float]) -> ScoredCase:
        """Return the votes, weights and score of a case."""
        return self.vote.scored(row)

    def answer(self, values: Any) -> dict[str, Any]:
        """Return the scores, probabilities, label and ballots of a case, and why it has none."""
        row = self.case(values)
        case = self.scored(row)
        return {
            "scores": case.score,
            "probabilities": self.vote.chances(case) or None,
            "label": self.vote.answer(case),
            "ballots": self.ballots(row, case),
            "unanswered": self.unanswered(row, case),
        }

    def unanswered(self, row: list[float], case: ScoredCase) -> str:
        """Return a sentence why a case has no prediction and what is needed; '' if it has one."""
        vote = self.vote
        why = vote.unanswered(row, case)
        return why and unanswered_words(why, row, *vote.column_needs, vote.target, self.names)

    def ballots(self, row: list[float], case: ScoredCase) -> list[dict[str, Any]]:
        """Return the vote, weight, contribution and reason of each voter."""
        reasons = self._reasons(row)
        votes = self.vote.voters.votes(row)
        scale = max(max(abs(v) for v in vote) for vote in votes)
        found, sums = [], self.vote.readout["score"] in ("sum", "normalised")
        for t, (share, term) in enumerate(zip(case.shares, case.votes, strict=True)):
            reason = reasons[t]
            weight = share[0] if len(share) == 1 else sum(map(abs, share)) / len(share)
            weight = share[0] if all(s == share[0] for s in share) else weight
            unused = sums and weight == 0 and any(votes[t])
            words = self._vote_words(reason, votes[t], unused, scale)
            found.append({
                "voter": t + 1, "name": label_of(self.vote.voters, t), "reason": reason,
                "says": words, "vote": self.vote.target.called(votes[t], unused), "weight": weight,
                "contribution": [s * v for s, v in zip(share, term, strict=True)],
            })  # fmt: skip
        return found

    def _reasons(self, row: list[float]) -> list[Any]:
        similarities = getattr(self.vote.weights, "similarities", None)
        near = similarities(row) if similarities else None
        because = getattr(self.vote.weights, "because", lambda _, reasons: reasons)
        return [
            replace(one, similarity=near[t]) if near and isinstance(one, CaseLike) else one
            for t, one in enumerate(because(row, self.vote.voters.reasons(row)))
        ]

    def _vote_text(self, vote: Any) -> str:
        adds = self.vote.readout["score"] == "sum"
        return self.vote.target.vote_words(list(vote), max(map(abs, vote)), adds)

    def _vote_words(self, reason: Any, vote: Any, unused: bool, scale: float) -> str:
        if unused:
            return without_weight(reason)
        if isinstance(reason, Always) and len(vote) > 1 and not any(vote):
            return "each class alike"
        return self.vote.target.vote_words(vote, scale, self.vote.readout["score"] == "sum")

    def words(self, ballot: dict[str, Any]) -> str:
        """Return a ballot's reason and vote as text."""
        name = f"{ballot['name']}: " if ballot["name"] else ""
        return name + reason_and_vote(ballot["reason"].words(self.sentence_names), ballot["says"])

    def details(self, ballot: dict[str, Any]) -> str:
        """Return a ballot's reason as JSON."""
        return in_json(ballot["reason"].data(self.names))


def conformance_words(names: Names, classes: list[str], ballots: Any) -> list[str]:
    """Return lines with the names of columns, categories and classes, and ballots of a case.

    Parameters
    ----------
    names : Names
    classes : list of str
        For regression, the outputs.
    ballots : iterable of (int, str)
        The number of a voter, and its ballot as text.
    """
    found = [
        f"column {j}: {name}" + (f" of {', '.join(names.levels[j])}" if j in names.levels else "")
        for j, name in enumerate(names.columns)
    ]
    if len(found) > _MOST_COLUMNS:  # a hash of all others
        rest = "\n".join(found[_MOST_COLUMNS:]).encode("utf-8", "surrogatepass")
        found[_MOST_COLUMNS:] = [f"more columns: {hashlib.sha256(rest).hexdigest()}"]
    found += [f"answer {k}: {name}" for k, name in enumerate(classes)]
    return found + [f"voter {number}: {words}" for number, words in ballots]
