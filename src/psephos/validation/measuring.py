"""The figures of answers beside the truth, as rows of one tidy table."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.figures import (
    Estimate,
    area,
    areas,
    brier,
    calibration_line,
    calibration_table,
    confusion,
    hand_till,
    in_millionths,
    log_loss,
    mean_of,
    net_benefit,
    share,
)
from psephos.vote.names import fixed

FEW = 10  # cases of a subgroup below which counts alone are told
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WORTH = ("threshold", "model", "low", "high", "everyone")  # columns of net benefit
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Answered:
    """Answers to cases of known class.

    Parameters
    ----------
    classes : list of str
    truth, said : ndarray of shape (n,), int
        Places among the classes; `said` is the model's own answer, or that at a threshold.
    chances : ndarray of shape (n, K)
    positive : int
        Of two classes the place of the one that is looked for.
    groups : ndarray of shape (n,), default=None
    level : float, default=0.95
    """

    classes: list[str]
    truth: NDArray[np.intp]
    said: NDArray[np.intp]
    chances: NDArray[np.float64]
    positive: int
    groups: NDArray[Any] | None = None
    level: float = 0.95

    def take(self, kept: NDArray[np.bool_]) -> "Answered":
        """Return some of the cases."""
        groups = None if self.groups is None else self.groups[kept]
        parts = (self.truth[kept], self.said[kept], self.chances[kept])
        return Answered(self.classes, *parts, self.positive, groups, self.level)

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Return what cases are ranked by: answers in millionths, as thresholds divide them."""
        units = in_millionths(self.chances)
        return units[:, self.positive] if self.two else units

    @property
    def two(self) -> bool:
        """Return whether there are two classes."""
        return len(self.classes) == 2

    @property
    def among(self) -> tuple[Any, float]:
        """Return the last parameters of every figure."""
        return self.groups, self.level


def figures_of(told: Answered) -> Rows:
    """Return discrimination and calibration: rows of figure, class, value, low, high, n, method."""
    rows = _of_two(told) if told.two else _of_more(told)
    if told.two:
        given: tuple[Any, Any] = (told.truth == told.positive, told.chances[:, told.positive])
        kept = [told.positive]
    else:
        given, kept = (told.truth, told.chances), list(range(len(told.classes)))
    rows += [_row("Brier score", "", brier(*given, *told.among))]
    rows += [_row("log-loss", "", log_loss(*given, *told.among))]
    for k in kept:
        line = calibration_line(told.truth == k, told.chances[:, k], *told.among)
        name = told.classes[k]
        rows += [_row("calibration in the large", name, line.large)]
        rows += [_row("calibration slope", name, line.slope)]
        rows += [_row("calibration intercept", name, line.intercept)]
        rows += [{**_bare("probabilities clipped", name), "value": float(line.n_clipped)}]
    return rows


def worse_than_chance(figures: Rows) -> list[str]:
    """Return for each area under a ROC curve that is below 1/2 with its interval a question."""
    found: list[str] = []
    for row in figures:
        separated = row["value"] == 0 and "separated" in row["method"]
        if "ROC-AUC" in row["figure"] and (separated or (row["high"] or 1.0) < 0.5):
            name = "AUC" if row["figure"] == "ROC-AUC" else f"{row['figure']} of {row['class']}"
            value, low, high = (fixed(row[key] or 0.0) for key in ("value", "low", "high"))
            shown = "the classes are separated" if separated else f"{low} to {high}"
            found.append(
                f"{name} {value} ({shown}) is significantly worse than chance: are the classes "
                "exchanged? --classes OLD=NEW (classes=) maps labels to classes."
            )
    return found


def _of_two(told: Answered) -> Rows:
    yes, called = told.truth == told.positive, told.said == told.positive
    counts, name = confusion(yes, called, *told.among), told.classes[told.positive]
    return [
        _row("ROC-AUC", name, area(yes, told.ranking, *told.among)),
        _row("balanced accuracy", "", counts.balanced_accuracy),
        _row("accuracy", "", counts.accuracy),
        _row("sensitivity", name, counts.sensitivity),
        _row("specificity", name, counts.specificity),
        _row("positive predictive value", name, counts.ppv),
        _row("negative predictive value", name, counts.npv),
    ]


def _of_more(told: Answered) -> Rows:
    right = told.truth == told.said
    each = [_among(right, told, told.truth == k) for k in range(len(told.classes))]
    value = hand_till(told.truth, told.ranking)
    why = "no interval" if value == value else "a class has no case"
    rows = [{**_bare("mean ROC-AUC of pairs (Hand and Till)", ""), "method": why}]
    rows[0]["value"] = None if math.isnan(value) else value
    rows += [_row("balanced accuracy", "", mean_of(each))]
    rows += [_row("accuracy", "", share(right, *told.among))]
    rows += [_row("sensitivity", c, one) for c, one in zip(told.classes, each, strict=True)]
    found = areas(told.truth, told.ranking, *told.among)
    rows += [
        _row("ROC-AUC against the rest", c, one) for c, one in zip(told.classes, found, strict=True)
    ]
    return rows


def _among(hits: NDArray[np.bool_], told: Answered, kept: NDArray[np.bool_]) -> Estimate:
    groups = None if told.groups is None else told.groups[kept]
    return share(hits[kept], groups, told.level)


def _bare(figure: str, name: str) -> dict[str, Any]:
    return {
        "figure": figure, "class": name, "value": None, "low": None, "high": None, "n": None,
        "hits": None, "method": "",
    }  # fmt: skip


def _row(figure: str, name: str, one: Estimate) -> dict[str, Any]:
    return {**_bare(figure, name), **one.data()}


def confusion_of(told: Answered) -> Rows:
    """Return counts of answers by true class, a row a class."""
    k = len(told.classes)
    counts = np.bincount(told.truth * k + told.said, minlength=k * k).reshape(k, k).tolist()
    return [
        {"truth": name, **dict(zip(told.classes, row, strict=True))}
        for name, row in zip(told.classes, counts, strict=True)
    ]


def bins_of(told: Answered, n_bins: int = 10) -> Rows:
    """Return calibration tables: of two classes that of the positive one, else one a class."""
    kept = [told.positive] if told.two else range(len(told.classes))
    rows: Rows = []
    for k in kept:
        cells = calibration_table(told.truth == k, told.chances[:, k], n_bins, *told.among)
        rows += [
            {"class": told.classes[k], "from": b.low, "to": b.high, "told": b.told, **b.seen.data()}
            for b in cells
        ]
    return rows


def worth_of(told: Answered) -> Rows:
    """Return net benefit at thresholds, of two classes; none of more."""
    if not told.two:
        return []
    yes, p = told.truth == told.positive, told.chances[:, told.positive]
    return [
        dict(zip(WORTH, (one.threshold, one.model.value, one.model.low, one.model.high,
                         one.everyone.value), strict=True))
        for one in net_benefit(yes, p, _THRESHOLDS, *told.among)
    ]  # fmt: skip


def subgroups_of(told: Answered, by: dict[str, list[str]]) -> Rows:
    """Return counts, and from ten cases on figures, for each level of each subgrouping."""
    rows: Rows = []
    for name, levels in by.items():
        column = np.array(levels, dtype=object)
        for level in sorted(set(levels)):
            rows.append({"by": name, "level": level, **_subgroup(told.take(column == level))})
    return rows


def subgroup_heads(classes: list[str]) -> list[str]:
    """Return the columns that every subgroup has."""
    return ["by", "level", "n", "right", *(f"{k}_{c}" for c in classes for k in ("n", "right"))]


def _subgroup(told: Answered) -> dict[str, Any]:
    right = told.truth == told.said
    row: dict[str, Any] = {"n": len(right), "right": int(right.sum())}
    for k, name in enumerate(told.classes):
        own = told.truth == k
        row |= {f"n_{name}": int(own.sum()), f"right_{name}": int((own & right).sum())}
    if len(right) < FEW:
        return row
    for one in figures_of(told):
        if one["figure"] in ("accuracy", "balanced accuracy", "ROC-AUC"):
            word = one["figure"].replace(" ", "_").replace("-", "_").lower()
            row |= {word: one["value"], f"{word}_low": one["low"], f"{word}_high": one["high"]}
    return row
