"""Names, literals and arithmetic of SQL as text."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

#: The columns that a layer of a SELECT adds: the expression of each name.
Layer = dict[str, str]

LEAST = 1e-12  # a probability of 0 has no log-odds


def with_exponent(token: re.Match[str]) -> str:
    """Return a number with an exponent, and quoted text unchanged."""
    text = token.group()
    return text if text[0] in "'\"" else f"{text}e0"


def quoted(word: str) -> str:
    """Return a quoted identifier."""
    return '"' + word.replace('"', '""') + '"'


def literal(word: Any) -> str:
    """Return a literal of a string or a whole number."""
    if isinstance(word, str):
        return "'" + word.replace("'", "''") + "'"
    return repr(int(word) if isinstance(word, bool) else word)


def added(terms: Sequence[str]) -> str:
    """Return a sum nested in pairs, so that a long one is not deep."""
    if len(terms) <= 2:
        return " + ".join(terms) if terms else "0.0"
    half = len(terms) // 2
    return f"({added(terms[:half])}) + ({added(terms[half:])})"


def exp_of(value: str) -> str:
    """Return exp of a number, or of -700 if it is below that, where some databases raise."""
    return f"EXP(CASE WHEN {value} < -700.0 THEN -700.0 ELSE {value} END)"


def expit_of(value: str) -> str:
    """Return 1 / (1 + exp(-value))."""
    odds = f"CASE WHEN {value} < 0.0 THEN {value} ELSE -{value} END"
    shares = f"1.0 / (1.0 + {exp_of(f'({odds})')})"
    return f"CASE WHEN {value} >= 0.0 THEN {shares} WHEN {value} < 0.0 THEN 1.0 - {shares} END"


def within(value: str, least: float, most: float) -> str:
    """Return a number clipped to [least, most]."""
    return (
        f"CASE WHEN {value} < {least!r} THEN {least!r} WHEN {value} > {most!r} THEN {most!r} "
        f"ELSE {value} END"
    )


def above(score: str, level: str, low: str, high: str) -> str:
    """Return `high` where a score is above a level, else `low`; NULL where it is NULL."""
    return f"CASE WHEN {score} > {level} THEN {high} WHEN {score} <= {level} THEN {low} END"


def of_greatest(scores: Sequence[str], less: str, words: Iterable[str]) -> str:
    """Return the word of the first score that is at least every other score minus `less`."""
    held = [" AND ".join(f"{a} >= {b}{less}" for b in scores if b is not a) for a in scores]
    ways = [f"WHEN {h} THEN {word}" for h, word in zip(held, words, strict=True)]
    return f"CASE {' '.join(ways)} END"


def least_of(values: Sequence[str]) -> str:
    """Return the least value that is not NULL; NULL if all are NULL."""
    held = [" AND ".join(f"({a} <= {b} OR {b} IS NULL)" for b in values) for a in values]
    return f"CASE {' '.join(f'WHEN {h} THEN {v}' for h, v in zip(held, values, strict=True))} END"


def weight_up_to(value: str, values: Sequence[str], weights: Sequence[float]) -> str:
    """Return the weight of the values that are at most `value`; NULL if one of them is NULL."""
    each = zip(values, weights, strict=True)
    return added(
        [f"CASE WHEN {v} <= {value} THEN {w!r} WHEN {v} > {value} THEN 0.0 END" for v, w in each]
    )


def moved(value: str, least: float, most: float) -> str:
    """Return a probability mapped from [0, 1] to [least, 1 - least], or clipped if that is tiny."""
    moved = f"{least!r} + {1.0 - 2.0 * least!r} * {value}"
    return moved if least > LEAST else within(value, LEAST, most)


def interpolated(value: str, x: Sequence[float], y: Sequence[float]) -> str:
    """Return the line through points (x, y) at a value, constant beyond the ends."""
    if not len(x):
        return "NULL"
    ways = [f"WHEN {value} < {x[0]!r} THEN {y[0]!r}"]
    for i in range(len(x) - 1):
        slope = (y[i + 1] - y[i]) / (x[i + 1] - x[i])
        ways.append(f"WHEN {value} < {x[i + 1]!r} THEN {slope!r} * ({value} - {x[i]!r}) + {y[i]!r}")
    return f"CASE {' '.join(ways)} WHEN {value} >= {x[-1]!r} THEN {y[-1]!r} END"


def raised_shares(scores: Sequence[str]) -> list[str]:
    """Return the shares of K > 2 scores, before clipping at 0."""
    k = len(scores)
    return [f"({k - 1.0!r} * {s} + 1.0) / {k!r}" for s in scores]


def not_below_0(values: Sequence[str]) -> list[str]:
    """Return values clipped at 0."""
    return [f"CASE WHEN {v} < 0.0 THEN 0.0 ELSE {v} END" for v in values]


def of_total(values: Sequence[str], total: str) -> list[str]:
    """Return values divided by their total; equal shares where it is 0, NULL where it is NULL."""
    even = f"WHEN {total} <= 0.0 THEN {1.0 / len(values)!r}"
    return [f"CASE WHEN {total} > 0.0 THEN {v} / {total} {even} END" for v in values]


def expected(shares: Sequence[str], codes: Sequence[Sequence[float]]) -> list[str]:
    """Return the mean vote of classes with these shares; `codes` has a row per class."""
    columns = [zip(shares, own, strict=True) for own in zip(*codes, strict=True)]
    return [added([f"{p} * {c!r}" for p, c in own if c]) for own in columns]
