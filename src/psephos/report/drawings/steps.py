"""Held-out answers over all thresholds: what each finds, and where a model is worth something."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Steps", "steps", "worth"]

_LEAST = 0.05  # a stretch of thresholds that is named is at least as long

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """What is found, and at how many false alarms, from each answer that occurs downwards.

    The first step calls nobody; its threshold is infinite.
    """

    threshold: Floats  # (s,) falling
    found: NDArray[np.int64]  # (s,) positive cases called
    alarms: NDArray[np.int64]  # (s,) other cases called


def steps(answers: Floats, positive: NDArray[np.bool_]) -> Steps:
    """Return the steps of a model's answers; of equal answers all are called at once."""
    order = np.argsort(-answers, kind="stable")
    ranked, hit = answers[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    return Steps(
        threshold=np.append(np.inf, ranked[last]),
        found=np.append(0, np.cumsum(hit)[last]),
        alarms=np.append(0, np.cumsum(~hit)[last]),
    )


def worth(grid: Floats, model: Floats, everyone: Floats) -> tuple[float, float] | None:
    """Return the longest stretch of thresholds where a model is worth more than no model.

    That is: more than calling everyone positive and than calling nobody. None where no stretch
    is at least 0.05 long.
    """
    better = model > np.maximum(everyone, 0.0) + 1e-9
    edges = np.flatnonzero(np.diff(np.concatenate([[0], better.astype(np.int8), [0]])))
    runs = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return None
    a, b = max(runs, key=lambda run: run[1] - run[0])
    low, high = float(grid[a]), float(grid[b])
    return (low, high) if high - low >= _LEAST - 1e-9 else None
