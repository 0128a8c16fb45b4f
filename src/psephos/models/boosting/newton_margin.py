"""The score of a boosted vote in float32, added up in the order of the trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.vote import Vote

_HELD = 1 << 22  # votes held at once


def single_margin(vote: Vote, X: Any) -> NDArray[np.float32]:
    """Return base score plus leaves, each sum rounded to float32; (n,) or (n, K)."""
    outputs = vote.target.n_outputs
    margin = np.zeros((X.shape[0], outputs), dtype=np.float32)
    size = max(1, _HELD // (vote.n_voters * outputs))
    for start in range(0, X.shape[0], size):
        rows = X[start : start + size]
        terms = vote.contributions(rows).astype(np.float32)
        for t in range(vote.n_voters):
            margin[start : start + size] += terms[:, t]
    return margin[:, 0] if outputs == 1 else margin
