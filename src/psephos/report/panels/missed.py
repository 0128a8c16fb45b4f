"""Missed cases: every case at its held-out answer, and the mistakes at a threshold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from psephos._types import Indices
from psephos.figures.confusion import in_millionths
from psephos.report.numbers.classes import (
    About,
    ClassNames,
    binned_answers,
    fills,
    measures_rows,
    several_classes,
    two_classes,
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
    ties_to_the_first,
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
_BYTES = 2_600_000  # the most bytes of the page for answers
_CELLS = 60_000  # the most answers of a model on several classes; of more, only histograms
_Mask = NDArray[np.bool_]
_COUNTS = ("found", "missed", "alarms", "cleared", "positive", "negative")
_GROUPS = 2  # the most subgroupings in the list of mistakes
_WITHHELD = (
    f"This page has no cases, and withholds counts from 1 to {FEWEST - 1} and others that reveal"
    " them:"
)


@dataclass(frozen=True)
class HasAnswers:
    """A model with answers that is not a `Standing`: that of a validation, or it recalibrated."""

    key: str  # its name in the results
    label: str
    fits: Sequence[Fit] = ()


class LeastCost(TypedDict):
    """The threshold of a model with the least cost in inner folds, the cost of a miss, and text."""

    at: float
    cost: float
    words: str


@dataclass(frozen=True)
class MissedPanel:
    """The input of the panel: the study, its answers, and options."""

    folder: Folder
    answers: CaseAnswers
    positive: Positive
    facts: Mapping[str, Facts]  # of each saved model
    better: frozenset[str]  # models significantly better than a constant prediction
    options: PageOptions
    wording: Wording = HELD_OUT  # texts on the source of the answers
    threshold: float = THRESHOLD  # the first threshold, for two classes
    parted: Sequence[Subgroups] = ()  # divisions of the cases, for two classes

    @property
    def classes(self) -> list[str]:
        """Return the names of cases of each class."""
        return self.folder.classes

    @property
    def kept(self) -> bool:
        """Return whether the page contains single cases."""
        return self.options.cases != "none"

    def decided(self, key: str, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities whose ties are on the side of the class that the model predicts."""
        return chances if key in self.folder.thresholds else ties_to_the_first(chances)

    @cached_property
    def own(self) -> dict[str, LeastCost]:
        """Return each model's threshold of least cost, if it is for the page's positive class."""
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
        """Return the group of each case, and the noun of groups; None without, or if not kept."""
        groups = self.answers.groups
        if groups is None or not self.kept:
            return None
        return {"of": groups.tolist(), "noun": group_noun(self.group)}

    def names(self, label: str, axis: str) -> ClassNames:
        """Return the names of the classes, of a model and of its answers."""
        classes, code = self.classes, self.positive.code
        other = classes[1 - code] if len(classes) == 2 else "others"
        return ClassNames(classes[code], other, label, axis)


def missed_section(
    panel: MissedPanel | None,
    order: Sequence[Standing | HasAnswers],
    columns: bool = False,
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    panel : MissedPanel or None
        None if answers were not kept, or a case may have several labels.
    order : sequence of HasAnswers
        The models, beginning with the one that is shown first. Answers of the last ones are left
        out if they would make the page too large.
    columns : bool, default=False
        Whether the list of mistakes shows values of columns.
    """
    if panel is None or not order:
        return {"missed": None, "island": {"missed": None}}
    own = panel.own.get(order[0].key)
    panel = replace(panel, threshold=own["at"]) if own else panel
    classes, answers, kept = panel.classes, panel.answers, panel.kept
    shared: dict[str, Any] = {
        "kind": "two" if len(classes) == 2 else "several",
        "classes": classes,
        "positive": panel.positive.code,
        "frame": FRAME,
        "rows": answers.rows.tolist() if kept else None,
        "names": _names(panel),
        "truth": answers.truth.tolist() if kept else None,
        "groups": [one.island() for one in panel.parted] if kept else [],
        "wording": {k: v for k, v in asdict(panel.wording).items() if k != "sources"},
        "threshold": panel.threshold,
        "units": panel.units(),
        "times": answers.times,
    }
    models: dict[str, Any] = {}
    size = len(json.dumps(shared))
    for standing in order:
        made = _model(panel, standing)
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
        "missed": _first_state(panel, shared, models[first], first, columns),
        "island": {"missed": {**shared, "models": models}},
    }


def _left_out(label: str) -> str:
    return (
        f"The answers of {label} are left out, to keep this page small; predictions.csv beside the"
        " results has them, and psephos report --model shows them first."
    )


def _names(panel: MissedPanel) -> list[str] | None:
    """Return the ids of the cases, if the page may show them."""
    if not panel.options.ids or panel.folder.cases is None:
        return None
    return [panel.folder.cases.ids[i] for i in panel.answers.rows.tolist()]


def _model(panel: MissedPanel, standing: Standing | HasAnswers) -> dict[str, Any]:
    key, fact, answers = standing.key, panel.facts.get(standing.key), panel.answers
    known = answers.known(key)
    if not known.any():
        return {"label": standing.label, "absent": f"Every fit of {standing.label} failed."}
    names, own = panel.names(standing.label, fact.says if fact else STATED), panel.own.get(key)
    about = About(
        source=panel.wording.sources.get(key, panel.wording.source),
        omits=panel.wording.omits,
        times=answers.times,
        areas=[f.measures["roc_auc"] for f in standing.fits if "roc_auc" in f.measures],
        grouped=bool(panel.folder.about.get("groups")),
        groups=None if answers.groups is None else answers.groups[known],
        edges=None if panel.kept else TENTHS,
        better=key in panel.better,
        threshold=own["at"] if own else panel.threshold,
    )
    made = _figures(panel, panel.decided(key, answers.chances[key]), names, about)
    again = cross_fitted_answers(panel.folder, answers, key, fact.recalibration if fact else None)
    if again is not None:
        names = replace(names, axis="recalibrated probability")
        made["again"] = _figures(
            panel, panel.decided(key, again), names, replace(about, areas=(), again=True)
        )
        if "absent" in made["again"]:
            del made["again"]
    return made | ({"own": own} if own else {})


def _figures(
    panel: MissedPanel, chances: NDArray[np.float64], names: ClassNames, about: About
) -> dict[str, Any]:
    """Return the figures of one model's answers, and the answers if the page contains them."""
    known, code, truth = ~np.isnan(chances[:, 0]), panel.positive.code, panel.answers.truth
    own, is_ = chances[known], truth[known]
    if not panel.kept and any(0 < n < FEWEST for n in np.bincount(is_).tolist()):
        few = f"fewer than {FEWEST} answers of {names.label} are to cases of one class"
        return {"label": names.label, "absent": f"{few}. {_WITHHELD} this panel."}
    if len(panel.classes) > 2:
        made = several_classes(own, is_, panel.classes, names, about)
        beside = {"cost_in": _wrong_in(is_, called(own), about.groups, panel)}
        return made | beside | _several_answers(panel, chances)
    mine, units = is_ == code, in_millionths(own[:, code])
    if about.edges is not None:
        edges = apart(units, mine, about.edges, about.threshold)
        if edges is None:
            return _hinted(units, mine, names, about)
        made = two_classes(own[:, code], mine, names, replace(about, edges=edges))
        drawn = [t for t in edges if t < 1] + [1.0]
        return made | {"edges": drawn, "bins": histogram(units, mine, drawn)}
    made = two_classes(own[:, code], mine, names, about)
    every = np.full(len(known), -1, dtype=np.int64)
    every[known] = units
    groups, positive = panel.answers.groups, truth == code
    parted = [
        subgroup_rows(one, every, known, positive, panel.threshold, groups) for one in panel.parted
    ]
    return made | {"q": every.tolist(), "groups": parted}


def _hinted(
    units: NDArray[np.int64], mine: _Mask, names: ClassNames, about: About
) -> dict[str, Any]:
    """Return the texts of a page without cases if counts at the threshold are withheld."""
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
    truth: Indices, predicted: Indices, groups: Indices | None, panel: MissedPanel
) -> list[str]:
    """Return for each class the number of groups with missed cases, and with false alarms."""
    if groups is None or not panel.kept:
        return [""] * len(panel.classes)

    def inside(wrong: _Mask, among: _Mask, groups: Indices = groups) -> str:
        n = len(np.unique(groups[among]))
        return of(len(np.unique(groups[wrong & among])), n, group_noun(panel.group)[n != 1])

    every = range(len(panel.classes))
    both = [(inside(predicted != c, truth == c), inside(predicted == c, truth != c)) for c in every]
    return [f", in {missed} and {alarms}" for missed, alarms in both]


def _several_answers(panel: MissedPanel, chances: NDArray[np.float64]) -> dict[str, Any]:
    known, k = ~np.isnan(chances[:, 0]), len(panel.classes)
    if not panel.kept or chances.size > _CELLS:
        fewest = 0 if panel.kept else FEWEST
        return {"bins": binned_answers(chances[known], panel.answers.truth[known], k, fewest)}
    units = in_millionths(np.where(known[:, None], chances, 0.0))
    predicted = np.where(known, called(np.where(known[:, None], chances, 0.0)), -1)
    return {"P": units.T.tolist(), "said": predicted.tolist()}


# ---------------------------------------------------------------------- without script
def _first_state(
    panel: MissedPanel, shared: dict[str, Any], model: dict[str, Any], key: str, columns: bool
) -> dict[str, Any]:
    """Return the texts and tables of the model that is shown first, at its first threshold."""
    state: dict[str, Any] = {"kind": shared["kind"], "model": model, "absent": model.get("absent")}
    if state["absent"]:
        return state | ({"lead": model["lead"]} if "lead" in model else {})
    code, t = panel.positive.code, panel.threshold
    names = panel.names(model["label"], model["axis"])
    listed = [one.name for one in panel.parted if one.listed][:_GROUPS]
    state |= {
        "names": asdict(names), "classes": panel.classes, "positive": code, "kept": panel.kept,
        "numbered": panel.kept and shared["names"] is None,
        "groups": None, "wording": shared["wording"], "threshold": t,
        "own": (own := model.get("own")),
        "weight": f"{own['cost']:g}" if own else f"{(1 - t) / t:.2g}",
        "beside_words": _beside_words(columns, listed) if panel.kept else "",
    }  # fmt: skip
    known = panel.answers.known(key)
    truth, chances = (
        panel.answers.truth[known],
        panel.decided(key, panel.answers.chances[key])[known],
    )
    groups = None if panel.answers.groups is None else panel.answers.groups[known]

    def beside(mask: _Mask, among: _Mask) -> str:
        if groups is None or not panel.kept:
            return ""
        return in_groups(groups[mask & among], groups[among], panel.group)

    if state["kind"] == "several":
        n_groups, right = None if groups is None else len(np.unique(groups)), called(chances)
        return state | {
            "cases": cases_of(len(truth), n_groups, panel.group),
            "in_groups": [beside(right == c, truth == c) for c in range(len(panel.classes))],
        }
    units, mine = in_millionths(chances[:, code]), truth == code
    c, yes = counts_at(units, mine, t, groups), units >= in_millionths(t)
    state |= {
        "fills": fills(c, t, names)
        | {"missed_in": beside(~yes, mine), "alarms_in": beside(yes, ~mine)},
        "counts": {k: getattr(c, k) for k in _COUNTS},
        "measures": measures_rows(c, names, four(c)),
    }
    if panel.kept and panel.parted:
        rows = zip(panel.parted[0].levels, model["groups"][0], strict=True)
        state["groups"] = {
            "names": [one.name for one in panel.parted],
            "rows": [
                {"level": level, "n": count(n), "measures": [subgroup_words(*one) for one in cells]}
                for level, (n, *cells) in rows
            ],
        }
    return state


def _beside_words(columns: bool, listed: Sequence[str]) -> str:
    """Return a sentence on the columns that the list of mistakes shows."""
    why = ["the columns most important to the model"] if columns else []
    if not listed:
        return f"The list of mistakes shows {why[0]}." if why else ""
    names = f"{series(listed)}, by which cases are divided below"
    it = "it" if len(listed) == 1 else "them"
    return (
        f"The list of mistakes shows {' and '.join([*why, names])} (the model need not read {it})."
    )
