"""Which training rows a vote is made of: what a sample-compression bound must know."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.input import Table
from psephos.vote import Vote, register_part
from psephos.vote.part import check


@register_part
@dataclass(frozen=True)
class SampleCompression:
    """Which training rows a vote is made of, and from how many voters they were chosen.

    The facts that Theorems 2 to 4 of the SamBA paper need. An sc-voter is h_t(x) a^b / (a^b +
    d(x_i, x)^b), in [-1, 1]: a stump of two rows, a similarity to a third, and a message, which is
    what the stump says on either side. Before the data are seen, all `n_voters` are equally likely.

    Parameters
    ----------
    n_rows : int
        m: the rows of positive weight given to `fit`.
    n_candidates : int
        Stumps there were to choose from, times messages.
    n_anchors : int
        Anchors there were to choose from: all rows, or those drawn.
    candidate : ndarray of shape (T,)
        The number of each voter among them; a voter may come more than once.
    voter_rows : ndarray of shape (T, 2)
        Positions in the table of `fit` of the two rows each stump is made of.
    anchor_rows : ndarray of shape (K,)
        Those of the anchors, in their order; of rows that coincide the first.

    References
    ----------
    Germain, Lacasse, Laviolette, Marchand & Roy (2015), "Risk bounds for the majority vote", JMLR
    16, section 6. Supplement of the SamBA paper, appendix D.2.
    """

    tag: ClassVar[str] = "sample compression"
    n_rows: int
    n_candidates: int
    n_anchors: int
    candidate: Indices
    voter_rows: Indices
    anchor_rows: Indices

    def __post_init__(self) -> None:
        check(self.candidate.ndim == 1 == self.anchor_rows.ndim, "rows of voters are not a row")
        check(self.voter_rows.shape == (len(self.candidate), 2), "voters are not of two rows")
        kinds = {a.dtype for a in (self.candidate, self.voter_rows, self.anchor_rows)}
        check(kinds == {np.dtype(np.intp)}, "positions are not integers")
        low = min(a.min(initial=0) for a in (self.candidate, self.voter_rows, self.anchor_rows))
        check(low >= 0 and self.candidate.max(initial=-1) < self.n_candidates, "no such voter")
        check(0 < len(self.anchor_rows) <= self.n_anchors <= self.n_rows, "more anchors than rows")

    @property
    def size(self) -> int:
        """Return lambda, the most rows an sc-voter is made of."""
        return 3

    @property
    def n_voters(self) -> int:
        """Return the number of sc-voters, over which the prior is uniform."""
        return self.n_candidates * self.n_anchors

    def posterior(self, vote: Vote) -> Floats:
        """Return Q, of each different stump (in the order of `candidate`) and anchor.

        Sums to 1; the sign of the vote is that of its mean of sc-voters.
        """
        local: Any = vote.weighting
        each = (local.anchor_weight[:, None] * local.expertise).T
        different, place = np.unique(self.candidate, return_inverse=True)
        q = np.zeros((len(different), each.shape[1]))
        np.add.at(q, place, each)
        return q / q.sum()

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless these are the facts of such a vote."""
        local: Any = vote.weighting
        if local.tag == "constant":  # no stump was better than chance
            check(len(self.candidate) == 0, "a constant vote is made of rows")
            return
        check(local.tag == "local", "its weights have no anchors")
        check(len(self.candidate) == vote.n_voters, "rows of other voters")
        check(len(self.anchor_rows) == len(local.anchors), "rows of other anchors")


def columns_of_distance(given: Any, table: Table) -> Indices:
    """Return the sorted columns that `distance_columns` names."""
    schema = table.schema
    found = set(table.found)
    if given is None:
        return np.array([j for j in range(schema.n_features) if j not in found], dtype=np.intp)
    if not isinstance(given, list | tuple | np.ndarray):
        raise PsephosError(
            f"distance_columns must be None or a list of names or positions; got {given!r}."
        )
    columns = schema.columns_of(given, "distance_columns")
    for j in columns:
        if j in found:
            raise PsephosError(
                f"distance_columns names {schema.words().columns[j]!r}, whose categories are only "
                "those of these rows: give the column a type that declares them (pandas "
                "Categorical), or leave it out."
            )
    return np.array(columns, dtype=np.intp)
