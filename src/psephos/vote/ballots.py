"""`Ballots`: the votes on some cases, one row per case and voter, as data and in words."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Array, Floats, Indices, NDArray
from psephos.files.names import Names, class_called
from psephos.vote.describing import answer_words, before_weighing, looked_up_words
from psephos.vote.frames import frame_of
from psephos.vote.part import label_of
from psephos.vote.reasons import Always, CaseLike, Reason, reason_and_vote, without_weight
from psephos.vote.reasons.base import in_json
from psephos.vote.vote import Terms, Vote

_NEAREST = 5


def _say(vote: Vote, value: Sequence[float]) -> str:
    return answer_words(vote, np.array(value), max(map(abs, value)))


class Line(NamedTuple):
    """The votes of the voters that voted alike on one case, for the same reason."""

    voters: list[int]  # their numbers, from 1
    reason: Reason
    words: str  # the reason and the answer: ``g1 = 1.877 > 0.779 → ill``
    answer: str
    weight: float  # the sum of their shares of the weight
    contribution: Floats  # (K,), the sum of their contributions to the score


@dataclass(frozen=True, repr=False)
class Ballots:
    """The ballots of some cases, as `explain` returns them.

    Parameters
    ----------
    vote : Vote
    names : Names
    X : ndarray or CSC of shape (n, p)
        The cases, encoded.
    case_ids : list
        One name per case.
    numbers : ndarray of shape (T,), default=None
        The number of each voter in the model, from 1; None: 1, ..., T.
    returns : dict of str to str
        For each column, how often another sample would choose it, if the model estimated that.

    Attributes
    ----------
    score : ndarray of shape (n, K)
        The score of each case; its contributions sum to it.
    mass : ndarray of shape (n,)
        Total raw weight: how familiar the case is (local weights), or a constant.
    votes : ndarray of shape (n, T, K)
        Each voter's vote on each case.
    shares : ndarray of shape (n, T)
        The weights as the score uses them.
    contributions : ndarray of shape (n, T, K)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import AdaBoostClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AdaBoostClassifier(n_estimators=2).fit(X[50:], y[50:])
    >>> model.explain(X[50:51])
    row 0: 1 (88.1 %)
      adds to class 2 weight voter because → it says
      -0.5807         58.1 % 1     petal width (cm) = 1.4 <= 1.75 → 1
      -0.4193         41.9 % 2     petal length (cm) = 4.7 <= 4.95 → 1
    """

    vote: Vote
    names: Names
    X: Any
    case_ids: list[Any]
    numbers: Indices | None = None
    returns: dict[str, str] = field(default_factory=dict[str, str], kw_only=True)
    score: Floats = field(init=False)
    mass: Floats = field(init=False)
    votes: Floats = field(init=False)
    shares: Floats = field(init=False)
    contributions: Floats = field(init=False)

    @classmethod
    def of(cls, vote: Vote, names: Names, X: Any, case_ids: list[Any]) -> "Ballots":
        """Return the ballots of a model's voters; of neighbours, those with weight on some case."""
        weighed = vote.weighed(X)
        if weighed is None:
            return cls(vote, names, X, case_ids)
        weighed = weighed if len(weighed) else np.zeros(1, dtype=np.intp)  # a vote has a voter
        return cls(vote.take(weighed), names, X, case_ids, weighed + 1)

    def __post_init__(self) -> None:
        score, mass = self.vote.score_and_mass(self.X)
        classes: list[str] = [str(c) for c in getattr(self.vote.target, "classes", ())]
        named = {"classes": self.names.classes or classes, "say": partial(_say, self.vote)}
        made = {"names": replace(self.names, **named), "score": score, "mass": mass}
        for name, value in (made | self.vote.terms(self.X)._asdict()).items():
            object.__setattr__(self, name, value)

    def first(self, n: int) -> "Ballots":
        """Return the ballots of the first n cases, without computing votes again."""
        if n >= len(self):
            return self
        some = copy(self)
        for name in ("reasons", "_silent", "unanswered"):  # of all cases
            vars(some).pop(name, None)
        for name in ("X", "case_ids", "score", "mass", *Terms._fields):
            object.__setattr__(some, name, getattr(self, name)[:n])
        return some

    def __len__(self) -> int:
        return len(self.case_ids)

    @cached_property
    def voter_numbers(self) -> list[int]:
        """Return the number of each voter in the model, from 1."""
        if self.numbers is not None:
            return self.numbers.tolist()
        return list(range(1, self.vote.n_voters + 1))

    def carried_by(self, case: int, output: int) -> list[str]:
        """Return the names of the voters that voted for an output, greatest contribution first.

        A training case is named by its row, another voter by its number: ``row 17``, ``voter 3``.

        Parameters
        ----------
        case, output : int
            From 0; outputs are classes or labels, in the order of the target.
        """
        added: Floats = self.contributions[case, :, output]
        order: list[int] = np.argsort(-added, kind="stable").tolist()
        return [self._voter_name(case, t) for t in order if added[t] > 0]

    def given(self, case: int) -> list[int]:
        """Return the indices of the labels predicted for a case; for multilabel targets."""
        target: Any = self.vote.target
        return np.flatnonzero(target.decode(self._decided(case))).tolist()

    def _voter_name(self, case: int, voter: int) -> str:
        reason = self.reasons[case][voter]
        if not isinstance(reason, CaseLike):
            return f"voter {self.voter_numbers[voter]}"
        return reason.row if isinstance(reason.row, str) else f"row {reason.row}"

    @cached_property
    def _silent(self) -> NDArray[np.bool_]:
        """Return the mask, (n, T), of voters with a vote but no weight."""
        return (self.shares == 0) & self.votes.any(axis=2) & self.vote.readout.is_sum

    # ------------------------------------------------------------------ why
    @cached_property
    def reasons(self) -> list[list[Reason]]:
        """Return the reason of each vote, for each case.

        Columns are numbers of the table; `Reason.words` and `Reason.data` take `names`.
        """
        reasons = self.vote.reasons(self.X)
        near = self.vote.similarities(self.X)
        for row, own in zip(reasons, [] if near is None else near.tolist(), strict=False):
            for t, one in enumerate(row):
                row[t] = replace(one, similarity=own[t]) if isinstance(one, CaseLike) else one
        return reasons

    def words(self, case: int, voter: int) -> str:
        """Return a voter's reason and vote on a case (both from 0): ``g1 = 1.877 > 0.779 → ill``.

        Numbers are rounded; `reasons` has them in full.
        """
        reason = self.reasons[case][voter]
        name = label_of(self.vote.voters, voter)
        return name + reason_and_vote(reason.words(self._spoken), self._vote_words(case, voter))

    @cached_property
    def _spoken(self) -> Names:
        return self.names.in_sentences()

    def _vote_words(self, case: int, voter: int) -> str:
        if self._silent[case, voter]:
            return without_weight(self.reasons[case][voter])
        scale = float(np.abs(self.votes[case]).max())
        always = isinstance(self.reasons[case][voter], Always)
        if always and self.votes.shape[2] > 1 and not self.votes[case, voter].any():
            return "each class alike"
        return answer_words(self.vote, self.votes[case, voter], scale)

    def lines(self, case: int) -> list[Line]:
        """Return the votes on a case as lines, the greatest contribution first.

        Voters that voted alike for the same reason are one line.
        """
        alike: dict[tuple[str, str, bool], list[int]] = {}
        neighbours = self.numbers is not None  # those of other cases are left out
        for t, reason in enumerate(self.reasons[case]):
            if neighbours and self.shares[case, t] == 0:
                continue
            # where the read-out picks one voter, it is not merged with voters that vote alike
            picked = self.vote.readout.is_sum or bool(self.shares[case, t] != 0)
            key = repr(reason), self._vote_words(case, t), picked
            alike.setdefault(key, []).append(t)
        lines = [
            Line(
                [self.voter_numbers[t] for t in voters],
                self.reasons[case][voters[0]],
                self.words(case, voters[0]),
                answer,
                float(self.shares[case, voters].sum()),
                self.contributions[case, voters].sum(axis=0),
            )
            for (_, answer, _), voters in alike.items()
        ]
        k = self.leading(case)
        return sorted(lines, key=lambda line: -abs(float(line.contribution[k])))

    def leading(self, case: int) -> int:
        """Return the output of a case's predicted class, or the only output."""
        target: Any = self.vote.target
        return target.leading(self._decided(case))

    def answer(self, case: int) -> str:
        """Return the prediction of a case in words: its class and probability, or its number.

        Words on a case without an answer, such as one without values, begin with 'no answer'.
        """
        target: Any = self.vote.target
        numbers = target.kind == "regression"
        decided = self.score[case] if numbers else self._decided(case)
        words = target.answered(decided, None if numbers else np.array(self.chances(case)))
        why = self.unanswered[case]
        return f"{why}; predict returns {words}" if why else words

    @cached_property
    def unanswered(self) -> list[str]:
        """Return a sentence on why each case has no answer and what it needs; '' if it has one."""
        return self.vote.unanswered_words(self.X, self.score, self.mass, self.names)

    def chances(self, case: int) -> list[float]:
        """Return the probabilities of a case: of classes, or of each label separately."""
        return self.vote.readout.probabilities(*self._row(case))[0].tolist()

    def note(self, case: int) -> str:
        """Return a note on the calibration between a case's score and its prediction; '' for none.

        For example ``weighed by class (ill × 5); the votes alone say well 62.0 %, ill 38.0 %``.
        """
        return before_weighing(self.vote, self.score[case])

    def _decided(self, case: int) -> Floats:
        return self.vote.readout.decided(*self._row(case))[0]

    def _row(self, case: int) -> tuple[Floats, Any, Floats]:
        """Return the arguments of the read-out: the score, the target and the mass."""
        return self.score[[case]], self.vote.target, self.mass[[case]]

    def case_name(self, case: int) -> str:
        """Return the name of a case; 'row 101' where it is a number."""
        name = self.case_ids[case]
        return f"row {name}" if isinstance(name, int) else str(name)

    def open(self, case: int, voter: int, member: int | None = None) -> "Ballots | None":
        """Return the ballots within a voter that is itself a vote; None if it is not one.

        Parameters
        ----------
        case : int
            From 0.
        voter : int
            From 0.
        member : int, default=None
            The member (from 0) to open instead, of voters that read the answers of members.
        """
        found = self.vote.open(voter, self.X[[case]], self.names, member)
        if found is None:
            return None
        vote, X, names = found
        return Ballots(vote, names, X, [self.case_ids[case]])

    # ------------------------------------------------------------------ as a table
    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists, one entry per (case, voter), cases first.

        The keys:

        - ``case``: its name
        - ``voter``: its number, from 1
        - ``reason``: the reason of its vote in words, numbers rounded
        - ``vote``: the class it votes for, or its number; '' if it votes for none, or has no weight
          on the case
        - ``weight``: its share of the weight on the case
        - ``contribution``, or ``contribution_<class>`` for each of more than two classes
        - ``columns``: the columns of the reason, in the order of the sentence
        - ``details``: the reason as JSON, with columns, relations, bounds and values in full
        - ``nearest``, if weights keep training cases (SamBA, proset): tuples (training row,
          distance, share of the weight, class or number) of those of greatest weight
        - ``looked_up``, if probabilities are read from a table (ML-kNN): for each label the number
          of neighbours that have it, and its probability, in words
        """
        n, voters, outputs = self.contributions.shape
        pairs = [(i, t) for i in range(n) for t in range(voters)]
        reasons = [self.reasons[i][t] for i, t in pairs]
        table: dict[str, list[Any]] = {
            "case": [case for case in self.case_ids for _ in range(voters)],
            "voter": self.voter_numbers * n,
            "reason": [self.words(i, t) for i, t in pairs],
            "vote": self._answers(),
            "weight": self.shares.ravel().tolist(),
        }
        for k in range(outputs):
            name = self.vote.target.outputs[k]
            key = f"contribution_{name}" if outputs > 1 else "contribution"
            table[key] = self.contributions[:, :, k].ravel().tolist()
        named = self.names.columns
        table["columns"] = [tuple(named[j] for j, _ in reason.cells()) for reason in reasons]
        table["details"] = [in_json(reason.data(self.names)) for reason in reasons]
        nearest = self.nearest()
        if nearest is not None:
            table["nearest"] = [cases for cases in nearest for _ in range(voters)]
        shown = ["; ".join(looked_up_words(self, i)) for i in range(n)]
        if any(shown):
            table["looked_up"] = [words for words in shown for _ in range(voters)]
        return table

    def nearest(self) -> list[tuple[tuple[Any, float, float, str], ...]] | None:
        """Return the training cases of greatest weight for each case; None if none are kept.

        They are tuples (training row, distance, share of the weight, class or number); training
        cases at an infinite distance are left out.
        """
        found = self.vote.nearest(self.X, _NEAREST)
        if found is None:
            return None
        rows, answers = found.row.tolist(), found.answer.tolist()
        cases: list[tuple[tuple[Any, float, float, str], ...]] = []
        for i in range(len(self)):
            distance, share = found.distance[i].tolist(), found.share[i].tolist()
            near = zip(rows[i], distance, share, answers[i], strict=True)
            cases.append(tuple(case for case in near if np.isfinite(case[1])))
        return cases

    def frame(self, backend: str | None = None) -> Any:
        """Return `columns` as a data frame; polars gets each nearest case as a struct.

        Parameters
        ----------
        backend : {'pandas', 'polars'}, default=None
            None takes pandas if it is installed, else polars.

        Raises
        ------
        MissingExtraError
            If no data frame library is installed.
        """
        return frame_of(self.columns(), backend)

    def _answers(self) -> list[str]:
        flat: Array = self.votes.reshape(-1, self.votes.shape[2])
        words = self.vote.target.words(flat)
        if self.vote.target.kind != "binary" and self.vote.target.kind != "multiclass":
            return words
        each = zip(flat.tolist(), words, self._silent.ravel().tolist(), strict=True)
        return ["" if idle else class_called(vote, word) for vote, word, idle in each]

    # ------------------------------------------------------------------ display
    def __str__(self) -> str:
        from psephos.vote.ballot_views import ballots_text

        return ballots_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from psephos.vote.ballot_views import ballots_html

        return ballots_html(self)
