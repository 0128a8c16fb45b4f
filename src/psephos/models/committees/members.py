"""Fitted members as the voters of one vote."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.members import check_probabilities
from psephos.models.committees.fitting import Data
from psephos.vote import Constant, Readout, Vote, Voters, mixed_voters
from psephos.vote.target import RegressionTarget, Target
from psephos.vote.voters.joined import join
from psephos.vote.voters.nested import NestedVoters

_Floats = NDArray[np.float64]
_Rows = NDArray[np.intp]


def voters_of(
    models: Sequence[Any],
    data: Data,
    subsets: Sequence[_Rows | None] | None = None,
    says: str | None = None,
    names: Sequence[str] = (),
    instead: str = "",
) -> Voters:
    """Return fitted members as the voters of one vote on the table's columns.

    Parameters
    ----------
    subsets : sequence of ndarray or None; the sorted columns each was fitted on; None is all
    says : {'answer', 'probability', 'log-odds', 'value'}; by default `data.says`
    names : of the members, or none
    instead : advice for members without probabilities, after the one that fits all committees
    """
    says = data.says if says is None else says
    for model in models if says == "probability" else ():
        check_probabilities(model, instead)
    p, code = data.X.shape[1], data.target.code if data.n_classes else np.zeros((1, 1))
    if subsets is None or all(s is None for s in subsets):
        return mixed_voters(models, p, code, says, names)
    parts: list[tuple[_Rows, Voters]] = []
    for t, (model, subset) in enumerate(zip(models, subsets, strict=True)):
        width = p if subset is None else len(subset)
        part = mixed_voters([model], width, code, says)
        parts.append((np.array([t]), part if subset is None else placed(part, subset, p)))
    return join(parts, names)


def placed(part: Any, columns: _Rows, n_features: int) -> Any:
    """Return voters on a few sorted columns as voters on the whole table."""
    return replace(part, n_features=n_features, columns=columns[part.columns].astype(np.intp))


def one_voter(vote: Vote, says: str, name: str, *, abstains: bool = False) -> Voters:
    """Return a vote as one voter of another, of the same table and the same classes.

    With `abstains` it votes 0 where a value it reads is missing.
    """
    read = vote.columns
    target: Any = vote.target
    inner: Any = RegressionTarget() if says == "value" else Target(np.arange(target.n_classes))
    code = np.zeros((1, 1)) if says == "value" else target.code
    places = np.arange(len(read))
    voter = NestedVoters(
        vote.n_features, read, (places,), (replace(vote.select(read), target=inner),), ((),), says,
        code, abstains=abstains,
    )  # fmt: skip
    return join([(np.zeros(1, dtype=np.intp), voter)], [name])


def mean_vote(voters: Voters, target: Any, weights: _Floats | None = None) -> Vote:
    """Return the weighted mean of what voters say: probabilities, or numbers."""
    alpha = np.ones(voters.n_voters) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = np.flatnonzero(alpha > 0)  # a voter without weight reads no column
    voters, alpha = voters.take(kept), alpha[kept]
    link = "share" if target.n_classes else "identity"
    return Vote(voters, Constant(voters.n_features, alpha), Readout("normalised", link), target)
