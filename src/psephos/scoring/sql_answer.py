"""Predictions and probabilities from the scores of a model, as columns of SQL."""

from collections.abc import Sequence
from typing import Any

from psephos._errors import PsephosError
from psephos.scoring.sql_text import (
    LEAST,
    Layer,
    above,
    added,
    exp_of,
    expit_of,
    interpolated,
    literal,
    moved,
    not_below_0,
    of_greatest,
    of_total,
    raised_shares,
    within,
)
from psephos.vote.reading.core import LEVEL

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
            return self._exp_shares(
                "p", self._layer("z", [f"{slope!r} * {s}" for s in self.scores])
            )
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
            return self._exp_shares(
                "q", self._layer("w", [f"LN({c}) / {part['t']!r}" for c in kept])
            )
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
