"""How often each rule came back: which folds' models ask it, at which values, and the last fit."""

from collections.abc import Mapping, Sequence
from typing import Any

from psephos.explain.effects import value_text
from psephos.protocol.study.fold_models import FoldModel, read_folds
from psephos.protocol.study.returning import returned_of
from psephos.report.study.folder import Folder
from psephos.report.study.shapes import damaged
from psephos.report.words import count, of, plural, series

MOST = 30  # rules that are drawn one by one
_SQUARES = 10  # fits that are drawn one by one


def rules_section(
    folder: Folder, models: Sequence[str], place: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """Return what came back of each model's rules: its words, and a row a rule.

    A rule is a question on a column that speaks for one class, whatever its threshold
    (`psephos.protocol.returned`). A row holds the column, the class, the categories asked for, the
    thresholds in the folds, in how many folds it stands, a mark for each fold (1: asks it, 0: does
    not, -: its model was not kept), whether the fit to all asks it, and at which values.

    Parameters
    ----------
    place : dict of str to int
        Where each column of the table is.
    """
    from psephos.models import load

    if folder.multilabel:
        return {}
    kept, told = read_folds(folder.path), folder.about.get("folds")
    found: dict[str, dict[str, Any]] = {}
    for key in models:
        if key not in kept:
            found[key] = _none(_not_kept(key, told))
            continue
        final = load(folder.models[key]) if key in folder.models else None
        found[key] = _model(folder, key, kept[key], final, place)
    return found


def _none(words: str) -> dict[str, Any]:
    return {"words": words, "rows": [], "n": 0, "single": False, "final": False}


def _not_kept(key: str, told: Mapping[str, Any] | None) -> str:
    if told is None:
        return "The models of the folds were not kept in this study: its rules cannot be counted."
    why = {str(one["not_kept"]) for one in told.get(key, ()) if "not_kept" in one}
    if why:
        words = f"No model of a fold was kept of {key}, so that its rules cannot be counted"
        return f"{words}: {sorted(why)[0]}."
    return f"The models of the folds of {key} were not kept: its rules cannot be counted."


def _model(
    folder: Folder,
    key: str,
    folds: Sequence[FoldModel],
    final: Any,
    place: Mapping[str, int],
) -> dict[str, Any]:
    classes = [str(one) for one in folder.about["classes"]]
    found = returned_of(folds, final, classes)
    strange = [row for row in found.rules if row["column"] not in place]
    if strange or any(row["toward"] not in classes for row in found.rules):
        raise damaged(folder.path / "folds", "a model has columns or classes of another study")
    fits = sorted((f.repeat, f.fold) for f in folder.fits if f.model == key and not f.error)
    have = {(one.repeat, one.fold) for one in folds}
    if not found.rules:
        return _none(
            f"{key} asks no question of single columns, such as a threshold, and adds no terms of"
            " them: it has no rules to be counted."
        )
    drawn = [row for row in found.rules if row["folds"] > found.n_folds / 2 or row["final"]][:MOST]
    single = len(fits) <= _SQUARES
    return {
        "words": _words(key, found.rules, found.n_folds, len(fits), final is not None),
        "rows": [
            [
                place[row["column"]], classes.index(row["toward"]), row["levels"], _span(row),
                row["folds"], _marks(row, fits, have) if single else "", int(row["final"]),
                _values(row["final_bounds"]),
            ]
            for row in drawn
        ],
        "n": found.n_folds,
        "fits": len(fits),
        "single": single,
        "final": final is not None,
        "note": _note(drawn, found.rules, found.n_folds, final is not None),
    }  # fmt: skip


def _marks(row: Mapping[str, Any], fits: Sequence[tuple[int, int]], have: Any) -> str:
    asked = set(row["which"])
    return "".join("-" if one not in have else "01"[one in asked] for one in fits)


def _span(row: Mapping[str, Any]) -> str:
    """Return the thresholds of a rule in the folds: one, or from the lowest to the highest."""
    if row["low"] is None:
        return ""
    low, high = value_text(row["low"]), value_text(row["high"])
    return low if low == high else f"{low} to {high}"


def _values(bounds: Sequence[float]) -> str:
    texts = list(dict.fromkeys(value_text(one) for one in bounds))
    return series(texts) if len(texts) <= 3 else f"{texts[0]} to {texts[-1]}"


def _words(key: str, rules: Sequence[Any], n: int, fits: int, final: bool) -> str:
    read = [row for row in rules if row["folds"]]
    if n == 1:
        return f"Of {key} one model of a fold was kept: nothing can be said of what comes back."
    always = sum(row["folds"] == n for row in rules)
    once = sum(row["folds"] == 1 for row in rules)
    kept = f"The {count(n)} models" if n == fits else f"The {n} of {fits} models that were kept"
    words = f"{kept} of {key} ask {plural(len(read), 'rule')} between them: "
    if len(read) == 1:
        words += f"it came back {'every time' if always else of(read[0]['folds'], n, 'times')}."
    else:
        words += f"{count(always) if always else 'none'} came back every time,"
        words += f" {count(once) if once else 'none'} only once."
    if not final:
        return words
    new = sum(row["final"] and not row["folds"] for row in rules)
    own = sum(row["final"] for row in rules)
    if own == 1:
        stood = "in no fold's" if new else "in at least one fold's"
        return f"{words} The one rule of the model fitted to all cases stood {stood}."
    return words + (
        f" Of the {plural(own, 'rule')} of the model fitted to all cases, {count(own - new)} stood"
        " in at least one fold's."
    )


def _note(drawn: Sequence[Any], rules: Sequence[Any], n: int, final: bool) -> str:
    words = (
        "A rule is a column and the class that its higher values, or the categories named, speak"
        " for; its threshold may differ from fold to fold."
    )
    if len(drawn) == len(rules):
        return words
    words += f" Drawn are rules that came back at least {count(n // 2 + 1)} times"
    words += ", or that the fit to all cases asks" if final else ""
    words += f" (at most {MOST})" if len(drawn) == MOST else ""
    return words + f"; {plural(len(rules) - len(drawn), 'other')} are not."
