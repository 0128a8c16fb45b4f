"""Whom it misses: every case at its held-out answer, the threshold, and what it costs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol

import numpy as np

from psephos.report.drawings.curves import FRAME, benefits, marks_at
from psephos.report.drawings.lanes import lanes_drawing
from psephos.report.numbers.again import cross_fitted_answers
from psephos.report.numbers.judged import (
    Names,
    embedded_units,
    fills,
    histogram,
    judged,
    measures_rows,
    mistakes_words,
)
from psephos.report.numbers.measures import UNIT, counts_at, in_units
from psephos.report.numbers.several import binned_answers, several_judged
from psephos.report.numbers.subgroups import Subgroups, subgroup_rows
from psephos.report.study.answers import Answers, Positive, called
from psephos.report.study.folder import Fit, Folder
from psephos.report.study.opened import Facts
from psephos.report.study.options import Options
from psephos.report.words import HELD_OUT, Wording, chance, class_words, count, plural

__all__ = ["THRESHOLD", "Answering", "class_names", "missed_section"]

THRESHOLD = 0.5
_BYTES = 2_600_000  # of the page that answers may take
_CELLS = 60_000  # answers of a model on several classes; of more there are columns only
_FIRST = 6  # mistakes that are listed before the rest is folded
_GROUPS = 2  # that stand beside each mistake
_LISTED = 200  # of the first state, without script


class Answering(Protocol):
    """What has answers on the page: a `Standing` is one."""

    @property
    def key(self) -> str:
        """Return its name in the results."""
        ...

    @property
    def label(self) -> str:
        """Return what the page calls it."""
        ...

    @property
    def fits(self) -> Sequence[Fit]:
        """Return its fits, if it was fitted in folds."""
        ...


def class_names(folder: Folder) -> list[str]:
    """Return what the page calls cases of each class."""
    target = folder.about.get("target")
    return [class_words(str(c), target) for c in folder.about["classes"]]


def missed_section(
    folder: Folder,
    order: Sequence[Answering],
    answers: Answers | None,
    positive: Positive,
    facts: Mapping[str, Facts],
    parted: Sequence[Subgroups],
    columns: Sequence[Mapping[str, Any]],
    options: Options,
    *,
    wording: Wording = HELD_OUT,
    threshold: float = THRESHOLD,
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    folder : Folder
    order : sequence of Answering
        The models, the one that is shown first in front: answers of the last ones are left out
        where they would make the page too large.
    answers : Answers or None
        None where they were not kept, or a case may have several labels.
    positive : Positive
    facts : dict of str to Facts
        Of each saved model: what its answers are, and the map that they justify.
    parted : sequence of Subgroups
    columns : sequence of dict
        Whose values stand beside each mistake (see `psephos.report.numbers.beside`).
    options : Options
    wording : Wording
        Where answers are from.
    threshold : float, default=0.5
        The first one, of two classes.
    """
    if answers is None or not order:
        return {"missed": None, "island": {"missed": None}}
    classes = class_names(folder)
    kept = options.cases != "none"
    shared: dict[str, Any] = {
        "kind": "two" if len(classes) == 2 else "several",
        "classes": classes,
        "positive": positive.code,
        "frame": FRAME,
        "rows": answers.rows.tolist() if kept else None,
        "names": _names(folder, answers, options),
        "truth": answers.truth.tolist() if kept else None,
        "sizes": np.bincount(answers.truth, minlength=len(classes)).tolist(),
        "groups": [one.island() for one in parted] if kept else [],
        "wording": {k: v for k, v in asdict(wording).items() if k != "sources"},
        "threshold": threshold,
    }
    models: dict[str, Any] = {}
    size = len(json.dumps(shared))
    for standing in order:
        made = _model(folder, standing, answers, positive, classes, facts, options, wording)
        more = len(json.dumps(made, ensure_ascii=False))
        if models and size + more > _BYTES and made.pop("again", None):
            more = len(json.dumps(made, ensure_ascii=False))
        if models and size + more > _BYTES:
            made = {"label": standing.label, "absent": _left_out(standing.label)}
            more = len(json.dumps(made))
        models[standing.key] = made
        size += more
    first = order[0].key
    return {
        "missed": _first_state(shared, models[first], first, answers, parted, columns, options),
        "island": {"missed": {**shared, "models": models}},
    }


def _left_out(label: str) -> str:
    return (
        f"The answers of {label} are left out, to keep this page small; predictions.csv beside the"
        " results has them, and psephos report --model shows them first."
    )


def _names(folder: Folder, answers: Answers, options: Options) -> list[str] | None:
    """Return the ids of the cases, if the page may say them."""
    if not options.ids or folder.cases is None:
        return None
    return [folder.cases.ids[i] for i in answers.rows.tolist()]


def _model(
    folder: Folder,
    standing: Answering,
    answers: Answers,
    positive: Positive,
    classes: Sequence[str],
    facts: Mapping[str, Facts],
    options: Options,
    wording: Wording,
) -> dict[str, Any]:
    key, fact = standing.key, facts.get(standing.key)
    if not answers.known(key).any():
        return {"label": standing.label, "absent": f"Every fit of {standing.label} failed."}
    names = _called(standing.label, classes, positive.code, fact.says if fact else None)
    areas = [f.measures["roc_auc"] for f in standing.fits if "roc_auc" in f.measures]
    about = {
        "source": wording.sources.get(key, wording.source),
        "omits": wording.omits,
        "times": answers.times,
        "grouped": bool(folder.about.get("groups")),
        "areas": areas,
    }
    made = _figures(
        answers.chances[key], answers.truth, positive.code, names, about, classes, options
    )
    again = cross_fitted_answers(folder, answers, key, fact.recalibration if fact else None)
    if again is not None:
        names, about = replace(names, axis="recalibrated probability"), about | {"areas": ()}
        made["again"] = _figures(
            again, answers.truth, positive.code, names, about | {"again": True}, classes, options
        )
    return made


def _figures(
    chances: Any,
    truth: Any,
    code: int,
    names: Names,
    about: Mapping[str, Any],
    classes: Sequence[str],
    options: Options,
) -> dict[str, Any]:
    """Return every figure of one model's answers, and the answers, as far as the page has them."""
    known = ~np.isnan(chances[:, 0])
    own, is_ = chances[known], truth[known]
    if len(classes) > 2:
        made = several_judged(own, is_, classes, names, about)
        return made | _several_answers(chances, truth, options, len(classes))
    mine, units = is_ == code, in_units(own[:, code])
    made = judged(own[:, code], mine, names, about)
    if options.cases == "none":
        return made | {"bins": histogram(units, mine)}
    every = np.full(len(known), -1, dtype=np.int64)
    every[known] = units
    return made | {"q": embedded_units(every, known)}


def _called(label: str, classes: Sequence[str], code: int, axis: str | None) -> Names:
    return Names(
        pos=classes[code],
        neg=classes[1 - code] if len(classes) == 2 else "others",
        label=label,
        axis=axis or "stated probability",
    )


def _several_answers(chances: Any, truth: Any, options: Options, k: int) -> dict[str, Any]:
    known = ~np.isnan(chances[:, 0])
    if options.cases == "none" or chances.size > _CELLS:
        return {"bins": binned_answers(chances[known], truth[known], k)}
    units = in_units(np.where(known[:, None], chances, 0.0))
    said = np.where(known, called(np.where(known[:, None], chances, 0.0)), -1)
    return {"P": units.T.tolist(), "said": said.tolist()}


# ---------------------------------------------------------------------- without script
def _first_state(
    shared: dict[str, Any],
    model: dict[str, Any],
    key: str,
    answers: Answers,
    parted: Sequence[Subgroups],
    columns: Sequence[Mapping[str, Any]],
    options: Options,
) -> dict[str, Any]:
    """Return what the template draws: the model that is shown first, at its first threshold."""
    state: dict[str, Any] = {"kind": shared["kind"], "model": model, "absent": model.get("absent")}
    if state["absent"]:
        return state
    code, classes = shared["positive"], shared["classes"]
    names = _called(model["label"], classes, code, model["axis"])
    known = answers.known(key)
    chances, truth = answers.chances[key][known], answers.truth[known]
    units = in_units(chances[:, code])
    state |= {"names": asdict(names), "classes": classes, "positive": code, "frame": FRAME}
    t: float = shared["threshold"]
    state |= {"lists": [], "groups": None, "wrong": None, "wording": shared["wording"]}
    state |= {"threshold": t, "weight": f"{(1 - t) / t:.2g}"}
    heads = [
        *({k: one[k] for k in ("name", "whole", "italic", "unit")} for one in columns),
        *(
            {"name": one.name, "whole": one.name, "italic": False, "unit": ""}
            for one in parted
            if one.listed
        ),
    ]
    state["heads"] = heads[: len(columns) + _GROUPS]
    if shared["kind"] == "several":
        others = [c for c in range(len(classes)) if c != code]
        wrong = called(chances) != truth
        state["order"] = [code, *others]
        state["lanes"] = lanes_drawing(units, truth, state["order"], wrong, two=False)
        if options.cases != "none":
            state["wrong"] = _wrong(chances, truth, np.flatnonzero(known), shared, answers, columns)
        return state
    mine = truth == code
    c = counts_at(units, mine, t)
    wrong = (units >= round(t * UNIT)) != mine
    places = np.flatnonzero(known)
    label = _labels(shared, answers)
    more = _beside(columns, [one for one in parted if one.listed][:_GROUPS], answers)
    return state | {
        "order": [code, 1 - code],
        "fills": fills(c, t, names),
        "counts": {**asdict(c), "positive": c.positive, "negative": c.negative},
        "measures": measures_rows(c, names),
        "marks": marks_at(c, t, _worth(chances[:, code], mine, t), model["curves"]["nb"]["top"]),
        "lanes": lanes_drawing(units, truth, [code, 1 - code], wrong, two=True),
        "lists": []
        if options.cases == "none"
        else [
            _list("missed", mine & wrong, units, places, label, names, more),
            _list("alarms", ~mine & wrong, -units, places, label, names, more),
        ],
        "groups": _groups(parted, units, known, mine, t) if options.cases != "none" else None,
    }


def _beside(
    columns: Sequence[Mapping[str, Any]], parted: Sequence[Subgroups], answers: Answers
) -> list[list[str]]:
    """Return what stands beside each case: values of columns, then its groups."""
    return [
        [one["of"].get(row, "–") for one in columns] + [_level(one, i) for one in parted]
        for i, row in enumerate(answers.rows.tolist())
    ]


def _worth(answers: Any, positive: Any, t: float) -> float:
    """Return the net benefit of the first threshold."""
    return float(benefits(answers, positive, np.array([t]))[0][0])


def _labels(shared: dict[str, Any], answers: Answers) -> list[str]:
    return shared["names"] or [str(i + 1) for i in answers.rows.tolist()]


def _wrong(
    chances: Any,
    truth: Any,
    places: Any,
    shared: dict[str, Any],
    answers: Answers,
    columns: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the cases that are called another class, the surest mistakes first."""
    said, label, classes = called(chances), _labels(shared, answers), shared["classes"]
    sure = in_units(chances.max(axis=1))
    own = sorted(np.flatnonzero(said != truth).tolist(), key=lambda i: (-int(sure[i]), i))
    more = _beside(columns, [], answers)
    words = f"The {plural(len(own), 'case')} called another class, surest mistakes first"
    return {
        "words": words if own else "No case is called another class",
        "rows": [
            [
                label[places[i]],
                classes[truth[i]],
                classes[said[i]],
                chance(int(sure[i]) / 1e6),
                *more[places[i]],
            ]
            for i in own[:_FIRST]
        ],
    }


def _list(
    kind: str,
    which: Any,
    order: Any,
    places: Any,
    label: Sequence[str],
    names: Names,
    beside: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """Return a list of mistakes, the surest first."""
    own = sorted(np.flatnonzero(which).tolist(), key=lambda i: (int(order[i]), i))
    rows = [
        {
            "name": label[places[i]],
            "answer": chance(abs(int(order[i])) / 1e6),
            "beside": beside[places[i]],
        }
        for i in own[:_LISTED]
    ]
    left = len(own) - _LISTED
    return {
        "kind": kind,
        "words": mistakes_words(kind, len(own), names),
        "rows": rows[:_FIRST],
        "more": rows[_FIRST:],
        "more_words": f"The other {count(len(own) - _FIRST)}"
        + (f", of which {_LISTED - _FIRST} are listed" if left > 0 else ""),
    }


def _level(one: Subgroups, place: int) -> str:
    return one.levels[one.of[place]] if one.of[place] >= 0 else "–"


def _groups(parted: Sequence[Subgroups], units: Any, known: Any, mine: Any, t: float) -> Any:
    if not parted:
        return None
    every = np.zeros(len(known), dtype=np.int64)
    truth = np.zeros(len(known), dtype=bool)
    every[known], truth[known] = units, mine
    return {
        "names": [one.name for one in parted],
        "rows": subgroup_rows(parted[0], every, known, truth, t),
    }
