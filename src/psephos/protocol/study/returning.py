"""How often each column, and each rule, came back over the folds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psephos._errors import PsephosError
from psephos.explain.rules import Rule, rules_of
from psephos.files.near import suggest
from psephos.protocol.study.fold_models import FoldModel, read_folds
from psephos.vote.frames import Framed

_DIGITS = 3  # that two bounds share to be the same


@dataclass(frozen=True)
class Returned(Framed):
    """What the models of the folds and the final fit have in common.

    Parameters
    ----------
    n_folds : int
        Models that were kept.
    columns : list of dict
        ``column``, ``folds`` (how many read it), ``final`` (whether the final fit does),
        ``which`` (the (repeat, fold) of those that do); the most frequent first.
    rules : list of dict
        ``column``, ``toward`` (the class that higher values, or `levels`, speak for), ``levels``,
        ``folds`` (how many have a question on the column that speaks for that side), ``final``,
        ``which``; of thresholds ``low``, ``median`` and ``high`` over all, ``final_bounds``,
        and ``same``: in how many folds the commonest bound stands, to three figures.
    """

    n_folds: int
    columns: list[dict[str, Any]]
    rules: list[dict[str, Any]]

    def table(self) -> dict[str, list[Any]]:
        """Return `rules` as lists."""
        heads = list(dict.fromkeys(key for row in self.rules for key in row))
        return {key: [row[key] for row in self.rules] for key in heads}


def returned(folder: str | Path, model: str) -> Returned:
    """Return how often each column and each rule of a model came back over the folds of a study.

    Parameters
    ----------
    folder : str or Path
        That of `psephos compare`, which keeps the models of the folds.
    model : str
        Its name there.

    Raises
    ------
    PsephosError
        If no model of a fold was kept under that name.

    Examples
    --------
    >>> import tempfile
    >>> from psephos import compare
    >>> from psephos.protocol import returned
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = compare(X[::4], y[::4].to_numpy(), models=["cart"], n_jobs=1, out=folder)
    ...     found = returned(folder, "cart")
    >>> found.n_folds
    5
    """
    from psephos.modelfile import load

    kept = read_folds(folder)
    if model not in kept:
        raise PsephosError(
            f"no models of folds of {model!r} were kept in {str(folder)!r}: {suggest(model, kept)}"
        )
    path = Path(folder) / "models" / f"{model}.psephos"
    return returned_of(kept[model], load(path) if path.is_file() else None)


def returned_of(
    folds: Sequence[FoldModel], final: Any = None, classes: Sequence[str] | None = None
) -> Returned:
    """Return the same of models in memory.

    Parameters
    ----------
    folds : sequence of FoldModel
    final : estimator, default=None
        The fit to all rows, if there is one.
    classes : sequence of str, default=None
        Names of the study's classes; by default those of `final`.
    """
    read: dict[str, list[tuple[int, int]]] = {}
    asked: dict[tuple[str, int, tuple[str, ...]], list[tuple[tuple[int, int], Rule]]] = {}
    for one in folds:
        place = (one.repeat, one.fold)
        for name in one.model.features_used_.tolist():
            read.setdefault(str(name), []).append(place)
        for rule in rules_of(one.model):
            own = rule._replace(toward=_code(one.model, rule.toward))
            asked.setdefault((own.column, own.toward, own.levels), []).append((place, own))
    used: list[str] = [] if final is None else [str(n) for n in final.features_used_.tolist()]
    own_rules = [] if final is None else rules_of(final)
    labels = list(classes or ([] if final is None else _labels(final)))
    for rule in own_rules:
        asked.setdefault((rule.column, rule.toward, rule.levels), [])
    columns: list[dict[str, Any]] = [
        {"column": name, "folds": len(read.get(name, [])), "final": name in used,
         "which": read.get(name, [])}
        for name in dict.fromkeys([*read, *used])
    ]  # fmt: skip
    rules: list[dict[str, Any]] = []
    for (name, toward, levels), found in asked.items():
        now = [
            r.bound for r in own_rules if (r.column, r.toward, r.levels) == (name, toward, levels)
        ]
        which = sorted({place for place, _ in found})
        rules.append(
            {
                "column": name,
                "toward": labels[toward] if toward < len(labels) else str(toward),
                "levels": list(levels),
                "folds": len(which),
                "final": bool(now),
                "which": which,
                **_bounds(found, now),
            }
        )
    columns.sort(key=lambda row: (-row["folds"], not row["final"], row["column"]))
    rules.sort(key=lambda row: (-row["folds"], not row["final"], row["column"], row["toward"]))
    return Returned(len(folds), columns, rules)


def _bounds(
    found: Sequence[tuple[tuple[int, int], Rule]], now: Sequence[float | None]
) -> dict[str, Any]:
    bounds = [rule.bound for _, rule in found if rule.bound is not None]
    final = sorted(bound for bound in now if bound is not None)
    if not bounds:
        return {"low": None, "median": None, "high": None, "same": 0, "final_bounds": final}
    alike = Counter(
        {(place, f"{rule.bound:.{_DIGITS}g}") for place, rule in found if rule.bound is not None}
    )
    same = Counter(bound for _, bound in alike).most_common(1)[0][1]
    return {
        "low": min(bounds),
        "median": float(np.median(bounds)),
        "high": max(bounds),
        "same": same,
        "final_bounds": final,
    }


def _code(model: Any, toward: int) -> int:
    """Return the class of the study; a fold may lack some, and its classes are codes."""
    target = model.vote_.target
    return int(target.classes[toward]) if target.n_classes else toward


def _labels(final: Any) -> list[str]:
    target = final.vote_.target
    return [str(one) for one in target.classes.tolist()] if target.n_classes else ["less", "more"]
