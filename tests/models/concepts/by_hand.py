"""Concept learning written out: sets of allowed values, every hypothesis, one filter."""

import itertools

import numpy as np
import pandas as pd

ENJOY = {
    "Sky": ["Sunny", "Cloudy", "Rainy"],
    "AirTemp": ["Warm", "Cold"],
    "Humidity": ["Normal", "High"],
    "Wind": ["Strong", "Weak"],
    "Water": ["Warm", "Cool"],
    "Forecast": ["Same", "Change"],
}
ROWS = [
    "Sunny Warm Normal Strong Warm Same",
    "Sunny Warm High Strong Warm Same",
    "Rainy Cold High Strong Warm Change",
    "Sunny Warm High Strong Cool Change",
]
LABELS = np.array(["yes", "yes", "no", "yes"])
ASKED = [
    "Sunny Warm Normal Strong Cool Change",
    "Rainy Cold Normal Weak Warm Same",
    "Sunny Warm Normal Weak Warm Same",
    "Sunny Cold Normal Strong Warm Same",
]


def enjoy(rows):
    """The table of these rows, all categories declared."""
    cells = [row.split() for row in rows]
    columns = zip(ENJOY.items(), zip(*cells, strict=True), strict=True)
    return pd.DataFrame({n: pd.Categorical(v, categories=known) for (n, known), v in columns})


def constraints(size, category):
    """All sets of codes a column may be asked to lie in; -1 is a missing value."""
    anything = frozenset(range(-1, size))
    if category:
        return [anything, *(frozenset([a]) for a in range(size))]
    spans = [frozenset(range(a, b)) for a in range(size) for b in range(a + 1, size + 1)]
    return [anything, *(s for s in spans if len(s) < size)]


def space(sizes, categories):
    """Every hypothesis, as a tuple of sets; the empty one is None."""
    columns = [constraints(v, c) for v, c in zip(sizes, categories, strict=True)]
    return [None, *itertools.product(*columns)]


def holds(hypothesis, row):
    """Whether a hypothesis holds for a row of codes."""
    if hypothesis is None:
        return False
    return all(x in allowed for x, allowed in zip(row, hypothesis, strict=True))


def above(one, other):
    """Whether one hypothesis is more general than another, or equal, by their constraints."""
    if other is None:
        return True
    return one is not None and all(b <= a for a, b in zip(one, other, strict=True))


def agreeing(hypotheses, rows, labels):
    """The version space by a filter."""
    return [
        h
        for h in hypotheses
        if all(holds(h, row) == label for row, label in zip(rows, labels, strict=True))
    ]


def as_sets(found, sizes):
    """Hypotheses of the library as tuples of sets."""
    out = []
    for low, high, empty in zip(*(a.tolist() for a in found), strict=True):
        spans = zip(low, high, sizes, strict=True)
        sets = [
            frozenset(range(-1, v)) if a < 0 else frozenset(range(a, b + 1)) for a, b, v in spans
        ]
        out.append(None if empty else tuple(sets))
    return out
