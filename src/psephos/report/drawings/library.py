"""The errors of a library's candidates by their number of columns, as plain coordinates."""

from typing import Any

from psephos.explain import ErrorDisplay
from psephos.report.words import count, number

__all__ = ["histograms"]

_WIDTH, _HEIGHT, _LEFT = 520.0, 54.0, 8.0


def histograms(errors: ErrorDisplay, numbers: dict[str, list[Any]]) -> dict[str, Any]:
    """Return one histogram a number of columns, all on one axis of error.

    Parameters
    ----------
    errors : ErrorDisplay
    numbers : dict of lists
        Per number of columns: ``n_candidates``, ``n_strong``, ``best``, ``threshold``, ``median``.

    Returns
    -------
    histograms : dict
        ``rows`` (bars as a path, and the figures of the table), ``ticks``, ``measure``.
    """
    low, high = _range(errors)

    def across(error: float) -> float:
        part = (min(max(error, low), high) - low) / (high - low)
        return round(_LEFT + part * (_WIDTH - 2 * _LEFT), 2)

    rows = [
        {
            "dimension": int(errors.dimension[d]),
            "bars": _bars(errors.counts[d], errors.edges, across),
            "threshold": across(float(errors.threshold[d])),
            "median": across(float(errors.median[d])),
            "candidates": count(numbers["n_candidates"][d]),
            "strong": count(numbers["n_strong"][d]),
            **{f"{key}_text": number(numbers[key][d]) for key in ("best", "threshold", "median")},
        }
        for d in range(len(errors.dimension))
    ]
    return {
        "rows": rows,
        "width": _WIDTH,
        "height": _HEIGHT,
        "ticks": [{"x": across(v), "text": number(v, 2)} for v in _ticks(low, high)],
        "measure": errors.measure.replace("_", " "),
    }


def _range(errors: ErrorDisplay) -> tuple[float, float]:
    """Return the errors between which there are candidates."""
    seen = errors.counts.sum(axis=0).nonzero()[0]
    if not len(seen):
        return 0.0, 1.0
    return float(errors.edges[seen[0]]), float(errors.edges[seen[-1] + 1])


def _bars(counts: Any, edges: Any, across: Any) -> str:
    most = max(int(counts.max()), 1)
    path: list[str] = []
    for i, n in enumerate(counts.tolist()):
        if n:
            x1, x2 = across(float(edges[i])), across(float(edges[i + 1]))
            top = round(_HEIGHT - n / most * (_HEIGHT - 4), 2)
            path.append(f"M{x1} {_HEIGHT:g}V{top}H{x2}V{_HEIGHT:g}z")
    return "".join(path)


def _ticks(low: float, high: float) -> list[float]:
    return [low + (high - low) * i / 4 for i in range(5)]
