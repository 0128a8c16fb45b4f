"""Error bounds of the models of a comparison: the rows of bounds.csv."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psephos import bounds
from psephos._errors import PsephosError
from psephos._types import LabelsLike, TableLike
from psephos.bounds.requirements import SETTINGS, constant_error, hypotheses_of
from psephos.estimator.vote_estimator import VoteEstimator

Finished = Sequence[tuple[Any, Mapping[str, Any]]]  # tasks, and their entries
DELTA = 0.05  # the probability that a single bound fails

BOUND_COLUMNS = ("model", "bound", "value", "delta", "vacuous", "constant_error", "of", "told")
_FOLDS = "hold-out, folds"
_GROUPED = (
    "bounds need rows that are drawn independently of each other, and rows of one group are not: "
    "no bound for grouped rows is implemented."
)
_STRATIFIED = "folds are stratified by class, as random parts are only on average"
_COPIES = "copies of a row are kept together, as one case; they are counted as rows here"


def refit_bounds(
    model: Any, X: Any, y: Any, n_draws: int, *, timed: bool = False
) -> list[dict[str, Any]]:
    """Return the bounds of a refit of psephos by its training rows, or why they do not hold.

    The tandem bound of a bag or forest, and the published bound for such a vote: sample compression
    for local weights, Occam's for a single hypothesis, that of a version space, else PAC-Bayes-kl.
    A refit is the best of `n_draws` settings, so each has delta / n_draws; if their number was not
    fixed in advance (`timed`), setting i has delta / (i (i + 1)); the smallest of these is used.
    """
    n_parts = n_draws * (n_draws + 1) if timed else n_draws
    delta, of = DELTA / n_parts, (n_draws, n_parts)
    rows: list[dict[str, Any]] = []
    if hasattr(model, "left_out"):
        rows.append(_row("out of bag", lambda: bounds.tandem_bound(model, X, y, delta=delta), *of))
    rows.append(_row("published", lambda: _published(model, X, y, delta), *of))
    return rows


def _published(model: VoteEstimator, X: TableLike, y: LabelsLike, delta: float) -> bounds.Bound:
    """Return the published bound for such a vote."""
    facts = hypotheses_of(model)
    if facts is not None and facts.kind == "categories":
        if facts.answer is not None:
            return bounds.occam_bound(model, X, y, delta=delta)
        memory = getattr(model, "memory_", None)
        if memory is not None and not len(memory.left_out):
            return bounds.version_space_bound(model, X, y, delta=delta)
    if facts is not None:
        return bounds.pac_bayes_kl_bound(model, X, y, rows="weights", delta=delta)
    if model.vote_.weighting.local_similarity() is not None:
        return bounds.sample_compression_bound(model, X, y, delta=delta)
    return bounds.pac_bayes_kl_bound(model, X, y, rows="training", delta=delta)


def proved(
    finished: Finished, class_counts: Sequence[int], *, grouped: bool, copies: bool
) -> list[dict[str, Any]]:
    """Return the rows of bounds.csv: for each model the bound of its folds, then of its refit.

    If rows are in groups (`grouped`), bounds for independent rows do not hold; `copies` is whether
    copies of rows were kept together. A bound is vacuous if it is not below `constant_error`, the
    error of always predicting the most frequent class of the table.
    """
    constant = constant_error(class_counts)
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(task.contender.name for task, _ in finished):
        fits = [(t, e) for t, e in finished if t.contender.name == name and t.split is not None]
        found = [_row(_FOLDS, lambda fits=fits: _folds(fits, len(class_counts)))]
        for task, entry in finished:
            if task.contender.name == name and task.split is None:
                found += entry.get("proved", ())
        rows += [{"model": name, **one} for one in found]
    if grouped:
        rows = [row | {"value": None, "vacuous": None, "told": _GROUPED} for row in rows]
    for row in rows:
        row["constant_error"] = constant
        if row["value"] is not None:
            row["vacuous"] = not row["value"] < constant
        if row["value"] is not None and row["bound"] == _FOLDS:
            row["told"] = "; ".join([row["told"], _STRATIFIED, *([_COPIES] if copies else [])])
    return rows


def _folds(fits: Finished, n_classes: int) -> bounds.Bound:
    """Return the bound of the models of the first repeat (of all splits if they are random)."""
    folds = any(task.split[1] > 0 for task, _ in fits)
    first = min(task.split[0] for task, _ in fits)
    used = [(t, e) for t, e in fits if not folds or t.split[0] == first]
    if any(entry["status"] != "ok" for _, entry in used):
        raise PsephosError("a fit failed, so models of folds are missing.")
    sizes = [len(task.test) for task, _ in used]
    wrong = [1.0 - float(entry["measures"]["accuracy"]) for _, entry in used]
    errors = [round(share * n) for share, n in zip(wrong, sizes, strict=True)]
    return bounds.folds_bound(errors, sizes, n_classes, delta=DELTA)


def _row(
    kind: str, of: Callable[[], bounds.Bound], n_draws: int = 1, n_parts: int = 1
) -> dict[str, Any]:
    """Return a bound as a row, or why it does not hold.

    The best of `n_draws` settings was chosen by these rows, so all share delta.
    """
    try:
        bound = of()
    except PsephosError as error:
        return {
            "bound": kind, "value": None, "delta": DELTA, "vacuous": None, "of": "",
            "told": str(error),
        }  # fmt: skip
    assumes = list(bound.assumes)
    if n_draws > 1:
        shared = f"settings are the best of {n_draws} by these rows, each with delta / {n_parts}"
        assumes = [*(one for one in assumes if one != SETTINGS), shared]
    return {
        "bound": kind, "value": bound.value, "delta": DELTA, "vacuous": bound.vacuous,
        "of": bound.of, "told": "; ".join(assumes),
    }  # fmt: skip
