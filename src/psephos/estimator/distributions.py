"""Distributions of hyper-parameters: drawn from, described in words, hashed into keys."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Distribution(Protocol):
    """A distribution of a parameter; its `repr` is its definition, `str` a description."""

    def draw(self, rng: np.random.Generator) -> Any:
        """Return one value."""
        ...


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included, all equally likely."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"whole numbers from {self.low} to {self.high}"

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.low, self.high + 1))


@dataclass(frozen=True)
class Uniform:
    """Real numbers between low and high, all equally likely."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}"

    def draw(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class LogUniform:
    """Real numbers between low and high whose logarithms are equally likely."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}, evenly in the logarithm"

    def draw(self, rng: np.random.Generator) -> float:
        return math.exp(float(rng.uniform(math.log(self.low), math.log(self.high))))


@dataclass(frozen=True)
class Choice:
    """One of a few values, all equally likely."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        words = [_word(value) for value in self.values]
        return f"always {words[0]}" if len(words) == 1 else f"one of {', '.join(words)}"

    def draw(self, rng: np.random.Generator) -> Any:
        values: tuple[Any, ...] = self.values
        return values[int(rng.integers(len(values)))]


def _word(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def draw(distributions: dict[str, Distribution], rng: np.random.Generator) -> dict[str, Any]:
    """Return a random value of each parameter, drawn in the order of their names."""
    return {name: distributions[name].draw(rng) for name in sorted(distributions)}


WEIGHTS = Choice(("balanced", None))  # of classes
BALANCED = Choice(("balanced",))  # a quick comparison measures balanced accuracy
