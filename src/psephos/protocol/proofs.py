"""What can be proved of the models of a comparison: rows of bounds.csv."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.bounds import (
    Bound,
    folds_bound,
    pac_bayes_kl_bound,
    sample_compression_bound,
    tandem_bound,
)

__all__ = ["BOUND_COLUMNS", "DELTA", "proved", "refit_bounds"]

Finished = Sequence[tuple[Any, Mapping[str, Any]]]  # tasks, and their entries
DELTA = 0.05  # the chance that a bound fails, each by itself

BOUND_COLUMNS = ("model", "bound", "value", "delta", "vacuous", "of", "told")
_FOLDS = "hold-out, folds"
_GROUPED = (
    "it needs rows that are drawn independently of each other, and rows of one group are not: a "
    "bound would have to count groups."
)
_STRATIFIED = "folds hold the classes alike, as parts drawn by lot do only on average"
_COPIES = "copies of a row are kept together, as one case; they are counted as rows here"


def refit_bounds(model: Any, X: Any, y: Any, n_draws: int) -> list[dict[str, Any]]:
    """Return what is proved of a refit of psephos by the rows it was fitted on, or why nothing is.

    The tandem bound of a bag or forest, and the bound that is published for such a vote: sample
    compression for local weights, else PAC-Bayes-kl. A refit is the best of `n_draws` settings, so
    each has that part of delta.
    """
    delta = DELTA / n_draws
    local = hasattr(model.vote_.weighting, "anchor_scores")
    rows: list[dict[str, Any]] = []
    if hasattr(model, "left_out"):
        rows.append(_row("out of bag", lambda: tandem_bound(model, X, y, delta=delta), DELTA))

    def published() -> Bound:
        if local:
            return sample_compression_bound(model, X, y, delta=delta)
        return pac_bayes_kl_bound(model, X, y, rows="training", delta=delta)

    return [*rows, _row("published", published, DELTA)]


def proved(
    finished: Finished,
    n_classes: int,
    *,
    grouped: bool,
    copies: bool,
) -> list[dict[str, Any]]:
    """Return the rows of bounds.csv: of each model its folds' certificate, then its refit's bounds.

    Parameters
    ----------
    finished : sequence of (Task, entry)
    n_classes : int
    grouped : bool
        Whether rows come in groups: then no bound of independent rows holds.
    copies : bool
        Whether copies of rows were kept together.
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(task.contender.name for task, _ in finished):
        fits = [(t, e) for t, e in finished if t.contender.name == name and t.split is not None]
        found = [_row(_FOLDS, lambda fits=fits: _folds(fits, n_classes), DELTA)]
        for task, entry in finished:
            if task.contender.name == name and task.split is None:
                found += entry.get("proved", ())
        rows += [{"model": name, **one} for one in found]
    if grouped:
        rows = [row | {"value": None, "vacuous": None, "told": _GROUPED} for row in rows]
    for row in rows:
        if row["value"] is not None and row["bound"] == _FOLDS:
            row["told"] = "; ".join([row["told"], _STRATIFIED, *([_COPIES] if copies else [])])
    return rows


def _folds(fits: Finished, n_classes: int) -> Bound:
    """Return the certificate of the models of the first repeat (of all splits at random)."""
    folds = any(task.split[1] > 0 for task, _ in fits)
    first = min(task.split[0] for task, _ in fits)
    used = [(t, e) for t, e in fits if not folds or t.split[0] == first]
    if any(entry["status"] != "ok" for _, entry in used):
        raise PsephosError("a fit failed, so that the folds' models are not all there.")
    sizes = [len(task.test) for task, _ in used]
    wrong = [1.0 - float(entry["measures"]["accuracy"]) for _, entry in used]
    errors = [round(share * n) for share, n in zip(wrong, sizes, strict=True)]
    return folds_bound(errors, sizes, n_classes, delta=DELTA)


def _row(kind: str, ask: Callable[[], Bound], delta: float) -> dict[str, Any]:
    """Return a bound as a row, or why it does not hold."""
    try:
        bound = ask()
    except PsephosError as error:
        return {
            "bound": kind, "value": None, "delta": delta, "vacuous": None, "of": "",
            "told": str(error),
        }  # fmt: skip
    told = "; ".join(bound.assumes)
    if bound.delta is not None and not np.isclose(bound.delta, delta):
        told = f"{told}; delta is shared by the settings that were tried"
    return {
        "bound": kind, "value": bound.value, "delta": delta, "vacuous": bound.vacuous,
        "of": bound.of, "told": told,
    }  # fmt: skip
