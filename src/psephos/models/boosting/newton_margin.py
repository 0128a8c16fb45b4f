"""The score of a boosted vote in float32, added up in the order of the trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.vote import ConstantVoters, JoinedVoters, TreeVoters, Vote
from psephos.vote.part import check, sparse

__all__ = ["check_margin", "single_margin"]

_ROWS = 4096


def check_margin(vote: Vote) -> None:
    """Raise a sentence unless a vote from a file is a base score and, after it, trees."""
    parts: Any = getattr(vote.voters, "parts", ())
    whole = len(parts) == 2 and isinstance(parts[1], TreeVoters)
    whole = whole and isinstance(parts[0], ConstantVoters) and parts[0].n_voters == 1
    check(whole, "it is not a base score and trees")


def single_margin(vote: Vote, X: Any) -> NDArray[np.float32]:
    """Return base score plus leaves, each sum rounded to float32; (n,) or (n, K).

    The vote is one of a base score and, after it, trees.
    """
    joined: Any = vote.select(vote.columns).voters
    assert isinstance(joined, JoinedVoters), "a vote of a base score and trees joins them"
    base, trees = joined.parts
    assert isinstance(base, ConstantVoters), "the base score is a constant voter"
    assert isinstance(trees, TreeVoters), "the others are trees"
    value = trees.value.astype(np.float32)
    margin = np.repeat(base.values.astype(np.float32), X.shape[0], axis=0)
    for start in range(0, X.shape[0], _ROWS):
        part: Any = X[start : start + _ROWS][:, vote.columns]
        leaf = trees.leaves(np.asarray(part.toarray() if sparse.issparse(part) else part))
        total = margin[start : start + _ROWS]
        for t in range(trees.n_voters):
            total += value[leaf[:, t]]
    return margin[:, 0] if margin.shape[1] == 1 else margin
