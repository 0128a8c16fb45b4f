"""Whom it misses: every case at its held-out answer, the threshold, and what it costs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from psephos.figures.confusion import in_millionths
from psephos.report.numbers.classes import (
    About,
    ClassNames,
    binned_answers,
    fills,
    judged,
    measures_rows,
    several_judged,
)
from psephos.report.numbers.curves import FRAME
from psephos.report.numbers.measures import (
    TENTHS,
    Subgroups,
    apart,
    counts_at,
    four,
    histogram,
    of_given,
    subgroup_rows,
    subgroup_words,
    withheld,
)
from psephos.report.study.answers import (
    CaseAnswers,
    Positive,
    called,
    cross_fitted_answers,
    positive_class,
)
from psephos.report.study.folder import FEWEST, Fit, Folder
from psephos.report.study.opened import Facts
from psephos.report.study.options import PageOptions
from psephos.report.study.standings import Standing
from psephos.report.words import (
    HELD_OUT,
    STATED,
    Wording,
    cases_of,
    class_words,
    count,
    group_noun,
    in_groups,
    of,
    rate,
    series,
    span,
    threshold_words,
)

THRESHOLD = 0.5
_BYTES = 2_600_000  # of the page that answers may take
_CELLS = 60_000  # answers of a model on several classes; of more there are columns only
_COUNTS = ("found", "missed", "alarms", "cleared", "positive", "negative")
_GROUPS = 2  # that stand beside each mistake
_WITHHELD = (
    f"This page carries no case, and withholds counts from 1 to {FEWEST - 1} and what gives them"
    " away:"
)


@dataclass(frozen=True)
class HasAnswers:
    """What has answers on the page, where it is not a `Standing`: a model, or it recalibrated."""

    key: str  # its name in the results
    label: str
    fits: Sequence[Fit] = ()


class LeastCost(TypedDict):
    """The threshold of a model that costs least in inner folds, what a miss costs, and words."""

    at: float
    cost: float
    words: str


@dataclass(frozen=True)
class Told:
    """What the panel is of: the study, its answers, and how the page may speak of them."""

    folder: Folder
    answers: CaseAnswers
    positive: Positive
    facts: Mapping[str, Facts]  # of each saved model: what its answers are, and its map
    better: frozenset[str]  # models significantly better than a constant prediction
    options: PageOptions
    wording: Wording = HELD_OUT  # where answers are from
    threshold: float = THRESHOLD  # the first one, of two classes
    parted: Sequence[Subgroups] = ()  # ways to part the cases, of two classes

    @property
    def classes(self) -> list[str]:
        """Return what the page calls cases of each class."""
        return class_names(self.folder)

    @property
    def kept(self) -> bool:
        """Return whether the page carries single cases."""
        return self.options.cases != "none"

    @cached_property
    def own(self) -> dict[str, LeastCost]:
        """Return by model the threshold of least cost, where it is of the page's positive class."""
        folder, cost, found = self.folder, self.folder.missed_cost, dict[str, LeastCost]()
        if cost is None or self.positive.code != positive_class(folder, folder.sizes).code:
            return found
        for key, at in folder.thresholds.items():
            kept = "saved in its file" if key in folder.models else "chosen for it"
            words = (
                f"{key} is shown first at {threshold_words(at)}, the threshold {kept}: in inner"
                f" folds it costs least where one missed {self.classes[self.positive.code]} is as"
                f" bad as {cost:g} false alarm{'s' * (cost != 1)} (--cost missed={cost:g}), on"
                " answers that are not recalibrated."
            )
            found[key] = {"at": at, "cost": cost, "words": words}
        return found

    @property
    def group(self) -> str:
        """Return the name of the column of groups; '' without groups."""
        return str(self.folder.about.get("groups") or "")

    def units(self) -> dict[str, object] | None:
        """Return the group of each case, and what groups are called; None without, or if hidden."""
        groups = self.answers.groups
        if groups is None or not self.kept:
            return None
        return {"of": groups.tolist(), "noun": group_noun(self.group)}

    def names(self, label: str, axis: str) -> ClassNames:
        """Return what the classes are called, and the answers of a model."""
        classes, code = self.classes, self.positive.code
        other = classes[1 - code] if len(classes) == 2 else "others"
        return ClassNames(classes[code], other, label, axis)


def class_names(folder: Folder) -> list[str]:
    """Return what the page calls cases of each class."""
    target = folder.about.get("target")
    return [class_words(str(c), target) for c in folder.about["classes"]]


def missed_section(
    told: Told | None,
    order: Sequence[Standing | HasAnswers],
    columns: bool = False,
) -> dict[str, Any]:
    """Return what the panel shows: entries of the page's dictionary.

    Parameters
    ----------
    told : Told or None
        None where answers were not kept, or a case may have several labels.
    order : sequence of HasAnswers
        The models, the one that is shown first in front: answers of the last ones are left out
        where they would make the page too large.
    columns : bool, default=False
        Whether values of columns stand beside each mistake.
    """
    if told is None or not order:
        return {"missed": None, "island": {"missed": None}}
    own = told.own.get(order[0].key)
    told = replace(told, threshold=own["at"]) if own else told
    classes, answers, kept = told.classes, told.answers, told.kept
    shared: dict[str, Any] = {
        "kind": "two" if len(classes) == 2 else "several",
        "classes": classes,
        "positive": told.positive.code,
        "frame": FRAME,
        "rows": answers.rows.tolist() if kept else None,
        "names": _names(told),
        "truth": answers.truth.tolist() if kept else None,
        "groups": [one.island() for one in told.parted] if kept else [],
        "wording": {k: v for k, v in asdict(told.wording).items() if k != "sources"},
        "threshold": told.threshold,
        "units": told.units(),
    }
    models: dict[str, Any] = {}
    size = len(json.dumps(shared))
    for standing in order:
        made = _model(told, standing)
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
        "missed": _first_state(told, shared, models[first], first, columns),
        "island": {"missed": {**shared, "models": models}},
    }


def _left_out(label: str) -> str:
    return (
        f"The answers of {label} are left out, to keep this page small; predictions.csv beside the"
        " results has them, and psephos report --model shows them first."
    )


def _names(told: Told) -> list[str] | None:
    """Return the ids of the cases, if the page may say them."""
    if not told.options.ids or told.folder.cases is None:
        return None
    return [told.folder.cases.ids[i] for i in told.answers.rows.tolist()]


def _model(told: Told, standing: Standing | HasAnswers) -> dict[str, Any]:
    key, fact, answers = standing.key, told.facts.get(standing.key), told.answers
    known = answers.known(key)
    if not known.any():
        return {"label": standing.label, "absent": f"Every fit of {standing.label} failed."}
    names, own = told.names(standing.label, fact.says if fact else STATED), told.own.get(key)
    about = About(
        source=told.wording.sources.get(key, told.wording.source),
        omits=told.wording.omits,
        times=answers.times,
        areas=[f.measures["roc_auc"] for f in standing.fits if "roc_auc" in f.measures],
        grouped=bool(told.folder.about.get("groups")),
        groups=None if answers.groups is None else answers.groups[known],
        edges=None if told.kept else TENTHS,
        better=key in told.better,
        threshold=own["at"] if own else told.threshold,
    )
    made = _figures(told, answers.chances[key], names, about)
    again = cross_fitted_answers(told.folder, answers, key, fact.recalibration if fact else None)
    if again is not None:
        names = replace(names, axis="recalibrated probability")
        made["again"] = _figures(told, again, names, replace(about, areas=(), again=True))
        if "absent" in made["again"]:
            del made["again"]
    return made | ({"own": own} if own else {})


def _figures(
    told: Told, chances: NDArray[np.float64], names: ClassNames, about: About
) -> dict[str, Any]:
    """Return every figure of one model's answers, and the answers, as far as the page has them."""
    known, code, truth = ~np.isnan(chances[:, 0]), told.positive.code, told.answers.truth
    own, is_ = chances[known], truth[known]
    if not told.kept and any(0 < n < FEWEST for n in np.bincount(is_).tolist()):
        few = f"fewer than {FEWEST} answers of {names.label} are to cases of one class"
        return {"label": names.label, "absent": f"{few}. {_WITHHELD} whom it misses."}
    if len(told.classes) > 2:
        made = several_judged(own, is_, told.classes, names, about)
        beside = {"cost_in": _wrong_in(is_, called(own), about.groups if told.kept else None, told)}
        return made | beside | _several_answers(told, chances)
    mine, units = is_ == code, in_millionths(own[:, code])
    if about.edges is not None:
        edges = apart(units, mine, about.edges, about.threshold)
        if edges is None:
            return _hinted(units, mine, names, about)
        made = judged(own[:, code], mine, names, replace(about, edges=edges))
        drawn = [t for t in edges if t < 1] + [1.0]
        return made | {"edges": drawn, "bins": histogram(units, mine, drawn)}
    made = judged(own[:, code], mine, names, about)
    every = np.full(len(known), -1, dtype=np.int64)
    every[known] = units
    groups, positive = told.answers.groups, truth == code
    parted = [
        subgroup_rows(one, every, known, positive, told.threshold, groups) for one in told.parted
    ]
    return made | {"q": every.tolist(), "groups": parted}


def _hinted(
    units: NDArray[np.int64], mine: NDArray[np.bool_], names: ClassNames, about: About
) -> dict[str, Any]:
    """Return what a page without cases says where counts at the threshold are withheld."""
    c = counts_at(units, mine, about.threshold, about.groups)
    found, cleared = (
        of_given(k, n, what, FEWEST)
        + ("" if withheld(k, n) else f" ({name} {rate(one.value)}, {span(one.low, one.high)})")
        for k, n, what, name, one in zip(
            (c.found, c.cleared), (c.positive, c.negative), (names.pos, names.neg),
            ("sensitivity", "specificity"), (c.sensitivity, c.specificity),
            strict=False,
        )
    )  # fmt: skip
    at = f"called {names.pos} from {threshold_words(about.threshold)}"
    lead = f"finds {found} and clears {cleared}, {at}."
    rest = f"{_WITHHELD} its other figures, thresholds and curves."
    return {"label": names.label, "lead": lead, "absent": f"{names.label} {lead} {rest}"}


def _wrong_in(
    truth: NDArray[np.intp], said: NDArray[np.intp], groups: NDArray[np.intp] | None, told: Told
) -> list[str]:
    """Return for each class in how many groups cases are missed, and called so falsely."""
    if groups is None:
        return [""] * len(told.classes)
    each: list[str] = []
    for c in range(len(told.classes)):
        wrong = [(truth == c) & (said != c), (truth != c) & (said == c)]
        missed, alarms = (len(np.unique(groups[one])) for one in wrong)
        n = len(np.unique(groups))
        each.append(f", in {missed} and {of(alarms, n, group_noun(told.group)[n != 1])}")
    return each


def _several_answers(told: Told, chances: NDArray[np.float64]) -> dict[str, Any]:
    known, k = ~np.isnan(chances[:, 0]), len(told.classes)
    if not told.kept or chances.size > _CELLS:
        fewest = 0 if told.kept else FEWEST
        return {"bins": binned_answers(chances[known], told.answers.truth[known], k, fewest)}
    units = in_millionths(np.where(known[:, None], chances, 0.0))
    said = np.where(known, called(np.where(known[:, None], chances, 0.0)), -1)
    return {"P": units.T.tolist(), "said": said.tolist()}


# ---------------------------------------------------------------------- without script
def _first_state(
    told: Told, shared: dict[str, Any], model: dict[str, Any], key: str, columns: bool
) -> dict[str, Any]:
    """Return the words and tables of the model that is shown first, at its first threshold."""
    state: dict[str, Any] = {"kind": shared["kind"], "model": model, "absent": model.get("absent")}
    if state["absent"]:
        return state | ({"lead": model["lead"]} if "lead" in model else {})
    code, t = told.positive.code, told.threshold
    names = told.names(model["label"], model["axis"])
    listed = [one.name for one in told.parted if one.listed][:_GROUPS]
    state |= {
        "names": asdict(names), "classes": told.classes, "positive": code, "kept": told.kept,
        "numbered": told.kept and shared["names"] is None,
        "groups": None, "wording": shared["wording"], "threshold": t,
        "own": (own := model.get("own")),
        "weight": f"{own['cost']:g}" if own else f"{(1 - t) / t:.2g}",
        "beside_words": _beside_words(columns, listed) if told.kept else "",
    }  # fmt: skip
    known = told.answers.known(key)
    truth, chances = told.answers.truth[known], told.answers.chances[key][known]
    groups = None if told.answers.groups is None else told.answers.groups[known]

    def beside(mask: NDArray[np.bool_]) -> str:
        if groups is None or not told.kept:
            return ""
        return in_groups(groups[mask], groups, told.group)

    if state["kind"] == "several":
        n_groups, right = None if groups is None else len(np.unique(groups)), called(chances)
        return state | {
            "cases": cases_of(len(truth), n_groups, told.group),
            "in_groups": [beside((truth == c) & (right == c)) for c in range(len(told.classes))],
        }
    units, mine = in_millionths(chances[:, code]), truth == code
    c, yes = counts_at(units, mine, t, groups), units >= in_millionths(t)
    state |= {
        "fills": fills(c, t, names)
        | {"missed_in": beside(mine & ~yes), "alarms_in": beside(~mine & yes)},
        "counts": {k: getattr(c, k) for k in _COUNTS},
        "measures": measures_rows(c, names, four(c)),
    }
    if told.kept and told.parted:
        rows = zip(told.parted[0].levels, model["groups"][0], strict=True)
        state["groups"] = {
            "names": [one.name for one in told.parted],
            "rows": [
                {"level": level, "n": count(n), "measures": [subgroup_words(*one) for one in cells]}
                for level, (n, *cells) in rows
            ],
        }
    return state


def _beside_words(columns: bool, listed: Sequence[str]) -> str:
    """Return which columns stand beside each mistake, and why."""
    why = ["the columns most important to the model"] if columns else []
    if not listed:
        return f"Beside each mistake stand {why[0]}." if why else ""
    names = f"{series(listed)}, by which cases are parted below"
    it = "it" if len(listed) == 1 else "them"
    return (
        f"Beside each mistake stand {' and '.join([*why, names])} (the model need not read {it})."
    )
