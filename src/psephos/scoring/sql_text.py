"""SQL as text: names, literals, arithmetic; predictions and probabilities from scores."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos.vote.reading.core import LEVEL

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


_LEVEL = repr(LEVEL)


class SqlAnswer:
    """Predictions and probabilities from scores s0, s1, ..., in layers of columns.

    A layer reads the columns of those before it; `names` maps the columns of the result to their
    names.
    """

    def __init__(self, model: dict[str, Any]) -> None:
        self.model, self.classes, self.readout = model, model["classes"], model["readout"]
        self.layers: list[Layer] = []
        k = len(self.classes)
        outputs = [""] if k == 2 else self.classes or model["target"].get("names", [""])
        self.scores = [f"s{i}" for i in range(len(outputs))]
        shown = [f"score_{name}" if len(outputs) > 1 else "score" for name in outputs]
        self.names = dict(zip(self.scores, shown, strict=True))
        if k and model["target"]["kind"] not in ("target", "target with a threshold"):
            raise PsephosError(
                "the model must predict the class with the greatest score to be written as SQL; "
                "this one weighs losses or has several labels. Export a scorer."
            )
        chances, decided, level = self._linked() if k else [], self.scores, _LEVEL
        if self.readout["calibration"]:
            chances = self._calibrated(chances, self.readout["calibration"])
            decided, level = _deciding(chances), "0.0"
        last = {"ok": self._answered(decided if k else [])}
        if k == 2:
            bound = repr(model["target"]["bound"]) if "bound" in model["target"] else level
            last["label"] = above(decided[0], bound, *map(literal, self.classes))
        elif k:
            last["label"] = of_greatest(decided, f" - {level}", map(literal, self.classes))
        elif len(outputs) == 1:
            last["label"] = "s0"
        self.layers.append(last)
        self.names.update({"label": "predicted"} if "label" in last else {})
        shown = [f"probability_{name}" for name in self.classes]
        self.names.update(zip(chances, shown, strict=True))
        self.names["ok"] = "answered"

    def _answered(self, decided: Sequence[str]) -> str:
        """Return 1 where a voter has the values it needs and classes do not tie, else 0."""
        held = ["known = 1", *(f"{score} IS NOT NULL" for score in self.scores)]
        if len(decided) == 1 and "bound" not in self.model["target"]:
            held.append(f"({decided[0]} > {_LEVEL} OR {decided[0]} < -{_LEVEL})")
        elif len(decided) > 1:
            apart = [f"{a} - {b} > {_LEVEL}" for a in decided for b in decided if a != b]
            held.append(f"({' OR '.join(apart)})")
        return f"CASE WHEN {' AND '.join(held)} THEN 1 ELSE 0 END"

    def _layer(self, name: str, expressions: Sequence[str]) -> list[str]:
        """Add a layer of columns, and return their names."""
        self.layers.append({f"{name}{i}": one for i, one in enumerate(expressions)})
        return list(self.layers[-1])

    def _linked(self) -> list[str]:
        """Return the columns of probabilities by the link, before calibration."""
        k, share, slope = len(self.classes), self.readout["link"] == "share", self.readout["slope"]
        if k == 2:
            if share:
                up = within(self._layer("h", ["(1.0 + s0) / 2.0"])[0], 0.0, 1.0)
            else:
                up = expit_of(self._layer("h", [f"{slope!r} * s0"])[0])
            up = self._layer("u", [up])[0]
            return self._layer("p", [f"1.0 - {up}", up])
        if not share:
            odds = [f"{slope!r} * {s}" for s in self.scores]
            return self._exp_shares("p", self._layer("z", odds))
        kept = self._layer("h", not_below_0(self._layer("r", raised_shares(self.scores))))
        return self._to_one("p", kept)

    def _exp_shares(self, name: str, values: list[str]) -> list[str]:
        top = self._layer(f"{name}top", [of_greatest(values, "", values)])[0]
        odds = self._layer(f"{name}odds", [exp_of(f"({v} - {top})") for v in values])
        return self._to_one(name, odds)

    def _to_one(self, name: str, values: list[str]) -> list[str]:
        return self._layer(name, of_total(values, self._layer(f"{name}sum", [added(values)])[0]))

    def _calibrated(self, chances: list[str], part: dict[str, Any]) -> list[str]:
        """Return the columns of calibrated probabilities."""
        kind, least = part["kind"], part.get("least", 0.0)
        if kind == "temperature calibration":
            kept = self._layer("c", [moved(p, least, 1.0) for p in chances])
            logs = [f"LN({c}) / {part['t']!r}" for c in kept]
            return self._exp_shares("q", self._layer("w", logs))
        if kind == "isotonic calibration":
            maps = zip(chances, part["given"], part["told"], strict=True)
            return self._to_one("q", self._layer("w", [interpolated(*one) for one in maps]))
        if kind != "sigmoid calibration":
            raise PsephosError(
                f"{self.model['model']} cannot be written as SQL: its probabilities have a "
                f"{kind!r}; it must be a sigmoid, isotonic or temperature calibration. Export a "
                "scorer."
            )
        kept = self._layer("c", [moved(p, least, 1.0 - LEAST) for p in chances])
        lines = zip(part["slope"], kept, part["offset"], strict=True)
        odds = [f"{a!r} * LN({c} / (1.0 - {c})) + {b!r}" for a, c, b in lines]
        return self._to_one("q", self._layer("w", [expit_of(v) for v in self._layer("v", odds)]))


def _deciding(chances: Sequence[str]) -> list[str]:
    """Return calibrated probabilities as scores: one for two classes."""
    k = len(chances)
    if k == 2:
        return [f"(2.0 * {chances[1]} - 1.0)"]
    return [f"(({k!r} * {p} - 1.0) / {k - 1.0!r})" for p in chances]
