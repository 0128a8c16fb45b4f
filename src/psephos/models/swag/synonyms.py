"""Columns that can stand for each other: models alike but for one column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_synonyms"]

_Context = frozenset[int]


def find_synonyms(
    models: Sequence[Sequence[int]],
    error: NDArray[np.float64],
    words: tuple[str, ...],
    wanted: int,
) -> dict[str, list[Any]]:
    """Return which columns replace the `wanted` one in models that are otherwise alike.

    Two models are alike but for one column if one is C + {wanted} and the other C + {other}, with
    the same companions C (at least one). Source: SWAG (Molinari et al. 2020), section 4.

    Returns
    -------
    dict of lists, most companions first
        ``column`` (the synonym), ``contexts`` (how many C), ``share`` (of the models of two or
        more columns with `wanted`), ``difference`` (mean error of the synonym's model minus that
        with `wanted`), ``companions`` (the columns in C, most frequent first).
    """
    sets = [frozenset(model) for model in models]
    known = {own - {wanted}: float(error[m]) for m, own in enumerate(sets)
             if wanted in own and len(own) > 1}  # fmt: skip
    found: dict[int, list[tuple[_Context, float]]] = {}
    for m, own in enumerate(sets):
        if wanted in own:
            continue
        for other in own:
            rest = own - {other}
            if rest in known:
                found.setdefault(other, []).append((rest, float(error[m]) - known[rest]))
    order = sorted(found, key=lambda j: (-len(found[j]), j))
    contexts = [[rest for rest, _ in found[j]] for j in order]
    return {
        "column": [words[j] for j in order],
        "contexts": [len(sets) for sets in contexts],
        "share": [len(sets) / len(known) for sets in contexts],
        "difference": [float(np.mean([gap for _, gap in found[j]])) for j in order],
        "companions": [_frequent(sets, words) for sets in contexts],
    }


def _frequent(contexts: Sequence[_Context], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of some contexts, the most frequent first."""
    counts = np.bincount([j for one in contexts for j in one], minlength=len(words))
    order = np.argsort(-counts, kind="stable")
    return tuple(words[j] for j in order[: int((counts > 0).sum())].tolist())
