"""The answers of each model to held-out cases, also recalibrated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos._types import Indices
from psephos.figures.confusion import UNIT, in_millionths
from psephos.files.escaping import disarmed
from psephos.protocol.evaluation.splits import seed_of
from psephos.recalibrating import cross_fitted
from psephos.report.study.folder import Folder
from psephos.vote.positive import Positive, usual_positive
from psephos.vote.recalibration import Recalibration


@dataclass(frozen=True)
class CaseAnswers:
    """The cases that were held out, and each model's answer to them.

    If a case was held out several times (in repeats), its answer is the mean. A model whose fits
    failed on all of a case's folds has no answer.
    """

    rows: NDArray[np.intp]  # (m,) rows of the table of cases, rising
    truth: NDArray[np.intp]  # (m,) codes of classes
    fold: NDArray[np.intp]  # (m,) the fold that held the case out; -1 for several
    times: int  # the most times that a case was held out
    chances: Mapping[str, NDArray[np.float64]]  # model -> (m, K); NaN without an answer
    groups: NDArray[np.intp] | None = None  # (m,) codes of groups; None if none were kept

    def known(self, model: str) -> NDArray[np.bool_]:
        """Return a mask of the cases with an answer of the model."""
        return ~np.isnan(self.chances[model][:, 0])


def held_out_answers(folder: Folder, models: Sequence[str]) -> CaseAnswers | None:
    """Read predictions.csv; None without it, or if the target is not one class per case."""
    path = folder.path / "predictions.csv"
    if folder.kind != "classes" or not path.exists():
        return None
    classes = [str(c) for c in folder.about["classes"]]
    codes = class_codes(classes)
    place = {model: m for m, model in enumerate(models)}
    truth: dict[int, int] = {}
    folds: dict[int, set[tuple[int, int]]] = {}
    which: list[tuple[int, int]] = []  # (model, case) of each answer
    cells: list[list[str]] = []
    for one in folder.answers():
        truth[one.row] = codes[one.truth]
        folds.setdefault(one.row, set()).add(one.split)
        if one.model in place:
            which.append((place[one.model], one.row))
            cells.append(one.cells[-len(classes) :])
    if not truth:
        return None
    rows = np.array(sorted(truth), dtype=np.intp)
    means = _means(which, np.clip(np.array(cells, dtype=np.float64), 0.0, 1.0), len(models), rows)
    return CaseAnswers(
        rows=rows,
        truth=np.array([truth[i] for i in rows.tolist()], dtype=np.intp),
        fold=np.array([_fold(folds[i]) for i in rows.tolist()], dtype=np.intp),
        times=max(len(own) for own in folds.values()),
        chances={model: means[m] for model, m in place.items()},
        groups=group_codes(folder, rows),
    )


def ties_to_the_first(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities with ties of two classes moved by a millionth towards the first.

    Models predict the first class of a tie, but the page calls the positive class from its
    threshold on, which is 0.5 if none was chosen.
    """
    units = in_millionths(np.nan_to_num(chances))
    equal = (units == UNIT // 2).all(axis=1) & (chances.shape[1] == 2)
    return np.where(equal[:, None], [[0.500001, 0.499999]], chances) if equal.any() else chances


def class_codes(classes: Sequence[str]) -> dict[str, int]:
    """Return the code of each class by its name in a csv file, where formulas are escaped.

    If an escaped name equals another class's name, it means that class.
    """
    shown = {disarmed(one): k for k, one in enumerate(classes)}
    return shown | {one: k for k, one in enumerate(classes)}


def group_codes(folder: Folder, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the group of each case; None if the study has none, or did not keep them."""
    kept = folder.cases.groups if folder.cases is not None else None
    if not folder.about.get("groups") or kept is None or int(rows.max(initial=0)) >= len(kept):
        return None
    return np.unique(np.array(kept)[rows], return_inverse=True)[1]


def _means(
    which: Sequence[tuple[int, int]], each: NDArray[np.float64], n: int, rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the (models, cases, K) mean answers to each case; NaN without an answer."""
    model, case = np.array(which, dtype=np.intp).reshape(-1, 2).T
    at = model * len(rows) + np.searchsorted(rows, case)
    times = np.bincount(at, minlength=n * len(rows)).astype(np.float64)
    sums = [np.bincount(at, weights=own, minlength=len(times)) for own in each.T]
    with np.errstate(invalid="ignore"):
        return (np.array(sums) / times).T.reshape(n, len(rows), -1)


def _fold(splits: set[tuple[int, int]]) -> int:
    return next(iter(splits))[1] if len(splits) == 1 else -1


def called(chances: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the most probable class of each case; of ties the first, as models do."""
    return np.argmax(chances, axis=1)


def confusion(truth: Indices, predicted: Indices, n_classes: int) -> Indices:
    """Return the confusion matrix: true classes in rows, predicted ones in columns."""
    cells = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
    return cells.reshape(-1, n_classes)


def least_found(grid: Sequence[Sequence[int]]) -> int:
    """Return the class with the least sensitivity; of ties the rarer.

    Parameters
    ----------
    grid : (K, K) counts
        As `confusion` returns them.
    """
    sizes = [sum(row) for row in grid]
    return min(
        (c for c, n in enumerate(sizes) if n), key=lambda c: (grid[c][c] / sizes[c], sizes[c])
    )


def positive_class(
    folder: Folder,
    sizes: Sequence[int],
    wanted: str | None = None,
    answers: CaseAnswers | None = None,
    model: str = "",
) -> Positive:
    """Return the positive class, which answers are about.

    It is `wanted`, else that of the comparison, else the only class with recorded labels, else, of
    several classes, the one that the model shown finds least, else that of `usual_positive`.

    Parameters
    ----------
    answers : CaseAnswers, optional
        With the answers of `model`, which is shown first.

    Raises
    ------
    PsephosError
        If `wanted` is not a class of the study.
    """
    classes = [str(c) for c in folder.about["classes"]]
    if not classes and wanted is None:  # of numbers
        return Positive(0, "")
    if wanted is not None:
        if str(wanted) not in classes:
            listed = f"one of {', '.join(classes)}" if classes else "left out for a numeric target"
            raise PsephosError(f"the positive class must be {listed}; got {wanted!r}.")
        return Positive(classes.index(str(wanted)), "it was requested")
    if folder.about.get("positive") is not None:
        return Positive(
            classes.index(folder.about["positive"]), "the comparison names it (--positive)"
        )
    partial = folder.about.get("partial")
    if partial and partial["positive"] in classes:
        return Positive(classes.index(partial["positive"]), "its records are right")
    if len(classes) > 2 and answers is not None and (known := answers.known(model)).any():
        calls = called(answers.chances[model][known])
        grid = confusion(answers.truth[known], calls, len(classes))
        return Positive(least_found(grid.tolist()), f"{model} finds it least")
    return usual_positive(classes, sizes)


# ---------------------------------------------------------------------- recalibrated
def cross_fitted_answers(
    folder: Folder, answers: CaseAnswers, model: str, found: Recalibration | None
) -> NDArray[np.float64] | None:
    """Return each case's held-out answer, recalibrated by a map fitted to other cases.

    The map is of the kind in the model's file. For a case that was held out several times, the mean
    answer is recalibrated.

    Parameters
    ----------
    found : Recalibration or None
        The recalibration in the model's file.

    Returns
    -------
    chances : ndarray of shape (m, K) or None
        NaN without an answer. None without a map, or if it cannot be evaluated: a class has too few
        cases, or groups were not kept.
    """
    known = answers.known(model)
    if found is None:
        return None
    groups: Any = answers.rows[known]
    if folder.about.get("groups"):
        if folder.cases is None or folder.cases.groups is None:
            return None
        groups = np.array(folder.cases.groups)[groups]
    seed = seed_of(int(folder.about.get("random_state") or 0), "recalibration", model)
    chances = np.full_like(answers.chances[model], np.nan)
    try:
        chances[known], _ = cross_fitted(
            answers.chances[model][known], answers.truth[known], groups,
            method=found.method, seed=seed,
        )  # fmt: skip
    except PsephosError:  # too few cases of a class
        return None
    return chances
