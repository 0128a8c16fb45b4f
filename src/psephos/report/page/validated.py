"""The folder of a validation becomes the dictionary of its page: a model on another cohort."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos import __version__
from psephos._errors import PsephosError
from psephos.explain.observed import ObservedDisplay
from psephos.figures import called
from psephos.files.names import decimals
from psephos.protocol.study.folder import unsealed
from psephos.report.numbers.measures import Subgroups, by_levels
from psephos.report.panels.cohort import alike_section, figures_section, recalibration_section
from psephos.report.panels.missed import (
    THRESHOLD,
    HasAnswers,
    MissedPanel,
    missed_section,
)
from psephos.report.panels.observed import HeldOutNumbers, case_name, observed_section
from psephos.report.panels.verdict import misses
from psephos.report.study.answers import (
    CaseAnswers,
    Positive,
    class_codes,
    positive_class,
    ties_to_the_first,
)
from psephos.report.study.folder import FEWEST, Folder, KeptCases
from psephos.report.study.opened import model_facts
from psephos.report.study.options import DRAWN, PageOptions
from psephos.report.words import Wording, chance, class_words, of, plural, series, shown_names, span
from psephos.validation import read_validation
from psephos.validation.result import AGAIN, MARK, unanswered_words

_CONTENTS = (
    ("missed", "Whom does it miss?"),
    ("judged", "How good are its answers?"),
    ("alike", "Are these cases like those it was fitted to?"),
    ("recalibrated", "Would other probabilities fit better here?"),
    ("validated", "How was this made?"),
)
_AGAIN = "recalibrated"  # the second model of the page
_COHORT = Wording(
    dot="Each dot is one case of the cohort, at the answer of the model, which was not fitted "
    "again.",
    answer="answer",
    axis="in the cohort",
    by="by the model as it was",
    person="In the cohort,",
    absent="This model has no answers.",
    source="All from the answers to the cohort; the model was not fitted again.",
    omits="and hold for cases drawn like these: they ignore how the cohort was chosen.",
    file="answers",
    sources={
        _AGAIN: "All from the model's probabilities after a sigmoid that was fitted to other cases"
        " of the cohort: this is not the model that is validated."
    },
)


def is_validation(folder: str | Path) -> bool:
    """Return whether a folder was written by ``psephos validate --out``."""
    return (Path(folder) / MARK).is_file()


def summarise_validation(folder: str | Path, options: PageOptions | None = None) -> dict[str, Any]:
    """Read a validation and return the content of its page, as plain values.

    Parameters
    ----------
    folder : str or Path
        The folder written by ``psephos validate --out`` or `psephos.validation.write_validation`.
    options : PageOptions, optional
        As for `summarise`. With two classes, the positive class is that of the validation.

    Returns
    -------
    report : dict
        As of `summarise`; `render_validation` makes a page of it.

    Raises
    ------
    PsephosError
        If the folder is not a validation, one of its files is damaged, or an option does not fit
        the validation.
    """
    place = Path(folder)
    saved = read_validation(place)
    options = (options or PageOptions()).naming([row["id"] for row in saved["predictions"]])
    with unsealed(place / MARK, saved, AGAIN):
        return _report(place, saved, options)


def _report(place: Path, saved: dict[str, Any], options: PageOptions) -> dict[str, Any]:
    about, rows = saved["about"], saved["predictions"]
    options.refuse_few(about["n_cases"])
    if about.get("target"):
        return _of_numbers(place, saved, options)
    folder = _folder(place, saved, options)
    answers, predicted = _answers(about, rows)
    parted, kept = _parted(rows), options.cases != "none"
    models = [HasAnswers(about["model"], about["model"])]
    if _AGAIN in answers.chances:
        models.append(HasAnswers(_AGAIN, f"{about['model']}, recalibrated apart"))
    chances = {key or about["model"]: own for key, own in answers.chances.items()}
    answers = replace(answers, chances=chances)
    positive = _positive(folder, answers, about, options)
    fact = model_facts({about["model"]: place / "model.psephos"})[about["model"]]
    facts = {about["model"]: replace(fact, recalibration=None)}  # the cohort has its own
    threshold = float(about["threshold"] or THRESHOLD)  # never 0
    better = frozenset(m.key for m in models) if _above_chance(saved) else frozenset[str]()
    missed = missed_section(
        MissedPanel(folder, answers, positive, facts, better, options, _COHORT, threshold, parted),
        models,
    )
    first, island = missed["missed"], missed["island"]
    grouped = bool(first.get("groups"))
    return {
        **_common(saved, options, kept),
        "data_line": _data_line(about, folder.counted(kept)),
        "first": [],
        "verdict": [*map(str, about.get("cautions", ())), *_verdict(saved, first)],
        "caution": [_caution(about, first, answers, predicted, threshold, kept)],
        "contents": _CONTENTS,
        "label_figures": None,
        "bar": _bar(models, folder),
        "missed": first,
        "observed": None,
        "judged": figures_section(saved, subgroups=not grouped, kept=kept),
        "validated": _made(place, saved, f"{about['classes'][positive.code]}: {positive.rule}"),
        "carries": _carries(about, parted, options),
        "island": {
            "first": {
                "model": about["model"], "threshold": threshold, "person": None,
                "cls": positive.code,
            },
            **island,
        },
    }  # fmt: skip


def _common(found: dict[str, Any], options: PageOptions, kept: bool) -> dict[str, object]:
    """Return the entries that pages of classes and of numbers share."""
    about = found["about"]
    notes = [*about["notes"], *unanswered_words(about)]
    names = shown_names([str(one) for one in found["shift"]["columns"]["column"]])
    return {
        "version": __version__,
        "title": options.title or f"{about['model']} on another cohort: how far does it hold?",
        "cautions": [f"{note[0].upper()}{note[1:]}" for note in notes],
        "alike": alike_section(found, {name: one.text for name, one in names.items()}, kept),
        "recalibrated": recalibration_section(found),
        "case_carries": "",
    }


def _of_numbers(place: Path, found: dict[str, Any], options: PageOptions) -> dict[str, Any]:
    """Return the page of a regressor: its tables, without controls."""
    kept, about = options.cases != "none", found["about"]
    tables = figures_section(found, subgroups=True, kept=kept)
    target = about["target"] if kept else "numbers"  # its range would reveal single cases
    n, key = plural(about["n_cases"], "case"), about["model"]
    folder = _folder(place, found, options)
    folder.about["target"] = "the target"
    observed = observed_section(folder, _numbers(found, folder), [key], options, "in the cohort")
    words = ", ".join(f"{row[0]} {row[1]} ({row[2]})" for row in tables["rows"][:3] if row[2])
    first = f"{about['model']}, not fitted again, predicted {n}: {words or 'no figure'}."
    return {
        **_common(found, options, kept=kept),
        "data_line": f"{n} of another cohort: {target}.",
        "first": [],
        "verdict": [*about["cautions"], first, *_columns(found)],
        "caution": ["These are figures of one fitted model on cases drawn like these."],
        "contents": [
            ("observed", "Where does it err most?"),
            *((key, words.replace("probabilities", "predictions")) for key, words in _CONTENTS[1:]),
        ],
        "bar": {"key": ""},
        "missed": None,
        "observed": observed["observed"],
        "judged": tables,
        "validated": _made(place, found, target),
        "carries": f"This file holds summaries of the {n}, and of columns."
        if not kept
        else f"This file holds data of the {n}, case by case: the target and the prediction."
        if about["n_cases"] <= DRAWN
        else f"This file holds counts of the {n}, and the target and prediction of the worst.",
        "island": {"first": {"model": key, "person": None}, **observed.get("island", {})},
    }  # fmt: skip


def _numbers(found: Mapping[str, Any], folder: Folder) -> HeldOutNumbers | None:
    """Return the predictions of the cohort's cases in the form of held-out predictions."""
    rows = [(i, r) for i, r in enumerate(found["predictions"]) if r["predicted"] and r["truth"]]
    if not rows:
        return None
    key = found["about"]["model"]
    ends = [name for name in rows[0][1] if name.startswith("quantile")]
    shown = ("truth", "predicted", *ends)
    cells = np.array([[float(r[k] or "nan") for k in shown] for _, r in rows])
    stated = cells[:, [2, -1]] if ends and np.isfinite(cells).all() else None
    at = [i for i, _ in rows]
    names = [case_name(folder, i) for i in at]
    one = ObservedDisplay.from_predictions(*cells.T[:2], stated=stated, ids=names, name=key)
    return HeldOutNumbers({i: set() for i in at}, {key: at}, {key: one})


def _above_chance(saved: Mapping[str, Any]) -> bool:
    """Return whether the interval of the ROC-AUC is above 0.5."""
    ranked = next((row for row in saved["figures"] if row["figure"] == "ROC-AUC"), None)
    return ranked is not None and ranked["low"] is not None and ranked["low"] > 0.5


def _bar(models: Sequence[HasAnswers], folder: Folder) -> dict[str, Any]:
    return {
        "readable": [],
        "others": [{"key": m.key, "label": m.label} for m in models],
        "key": models[0].key,
        "classes": folder.classes,
    }


def _positive(
    folder: Folder, answers: CaseAnswers, about: Mapping[str, Any], options: PageOptions
) -> Positive:
    classes, own = about["classes"], about["positive"]
    if len(classes) == 2:
        if options.positive not in (None, own):
            raise PsephosError(
                f"the positive class must be that of the validation, {own!r}; got "
                f"{options.positive!r}: use psephos validate --positive for the other class."
            )
        return Positive(classes.index(own), "the validation is about it")
    sizes, model = about["class_counts"], about["model"]
    return positive_class(folder, sizes, options.positive, answers, model)


def _folder(place: Path, saved: dict[str, Any], options: PageOptions) -> Folder:
    """Return the cohort in the form of a study, for the panels."""
    about = saved["about"]
    ids = [row["id"] for row in saved["predictions"]]
    own = {
        "classes": about["classes"],
        "class_counts": about["class_counts"],
        "n_rows": about["n_cases"],
        "groups": about["n_groups"] is not None,
    }
    cases = KeptCases(ids, [], [], np.empty((len(ids), 0)), named=options.ids)
    at = about["threshold"]
    given = {} if at is None else {str(about["model"]): float(at), _AGAIN: float(at)}
    return Folder(place, own, {}, [], [], {}, {}, cases, thresholds=given)


def _answers(
    about: Mapping[str, Any], rows: Sequence[Mapping[str, str]]
) -> tuple[CaseAnswers, NDArray[np.intp]]:
    """Return the answers by model ('' is the validated one), and the model's own predictions."""
    classes = [str(one) for one in about["classes"]]
    codes = class_codes(classes)
    truth = np.array([codes[row["truth"]] for row in rows], dtype=np.intp)
    predicted = np.array([codes[row["predicted"]] for row in rows], dtype=np.intp)
    kinds = {"": "p_", _AGAIN: "recalibrated_"}
    chances = {
        key: np.array([[float(row[head + c]) for c in classes] for row in rows])
        for key, head in kinds.items()
        if not key or rows[0].get(head + classes[0])
    }
    n = len(rows)
    chances = {key: np.clip(p, 0, 1) for key, p in chances.items()}
    answers = CaseAnswers(np.arange(n), truth, np.full(n, -1), 1, chances)
    return answers, predicted


def _parted(rows: Sequence[Mapping[str, str]]) -> list[Subgroups]:
    """Return the subgroupings of the validation that have few levels."""
    keys = [key for key in rows[0] if key.startswith("by_")]
    found = [one for key in keys for one in by_levels(key[3:], [row[key] for row in rows])]
    return [replace(one, listed=True) for one in found]


# ---------------------------------------------------------------------- words
def _data_line(about: Mapping[str, Any], sizes: Sequence[str]) -> str:
    counts = zip(about["classes"], sizes, strict=True)
    words = f"{plural(about['n_cases'], 'case')} of another cohort: "
    words += series([f"{n} {class_words(name, None)}" for name, n in counts])
    return words + "." if about["n_groups"] is None else f"{words}; {about['n_groups']} groups."


def _verdict(saved: Mapping[str, Any], missed: Mapping[str, Any]) -> list[str]:
    """Return the sentences: discrimination, missed cases, calibration, columns and shift."""
    about = saved["about"]
    figures = {row["figure"]: row for row in saved["figures"]}
    two = len(about["classes"]) == 2
    name = "ROC-AUC" if two else "mean ROC-AUC of pairs (Hand and Till)"
    ranked = figures.get(name, {"value": None, "method": "it was not measured"})
    words: list[str] = []
    n = plural(about["n_cases"], "case")
    head = f"{about['model']}, not fitted again, predicted {n}"
    if ranked["value"] is None:
        words.append(f"{head}: how well it ranks them is not known ({ranked['method']}).")
    else:
        low, high = (np.nan if ranked[k] is None else ranked[k] for k in ("low", "high"))
        interval = span(low, high)
        what = "its area under the ROC curve" if two else f"its {name}"
        level = f" ({100 * about['level']:g} % interval {interval})" if interval else ""
        words.append(f"{head}: {what} is {chance(ranked['value'])}{level}.")
    words += misses(missed)
    words += _calibration(saved, figures) if two else []
    return [*words, *_columns(saved)]


def _calibration(saved: Mapping[str, Any], figures: Mapping[str, Any]) -> list[str]:
    large, about = figures.get("calibration in the large"), saved["about"]
    pos = class_words(about["positive"])
    if large is None or large["value"] is None or large["low"] is None:
        return []
    head = f"On the whole its probabilities of {pos} are"
    value, low, high = (decimals(large[key], 2) for key in ("value", "low", "high"))
    shown = f"calibration in the large {value}, {low} to {high}"
    if large["low"] <= 0 <= large["high"]:
        n = plural(about["n_cases"], "case")
        return [f"These {n} do not show whether its probabilities of {pos} are too high or too low"
                f" on the whole ({shown})."]  # fmt: skip
    return [f"{head} too {'high' if large['value'] < 0 else 'low'} ({shown})."]


def _columns(saved: Mapping[str, Any]) -> list[str]:
    usable, shift = saved["speaking"], saved["shift"]
    lacking, read = len(usable["lacking"]), len(shift["columns"]["column"])
    if not read:
        return ["It reads no column, and predicts the same for every case."]
    if lacking:
        part = usable["share_some"] + usable["share_none"]
        words = f"The cohort lacks {lacking} of {plural(read, 'column')} that it reads"
        words += f"; voters that lack some or all of theirs have {100 * part:.0f} % of the weight"
    else:
        words = f"The cohort has {'the column' if read == 1 else f'all {read} columns'} it reads"
    if shift["trained_rows"] is None:
        return [f"{words}."]
    moved = of(shift["n_shifted"], shift["n_compared"])
    chance_words = "shifted from the training rows by more than chance would in one of twenty"
    return [f"{words}; {chance_words}: {moved}."]


def _caution(
    about: Mapping[str, Any],
    missed: Mapping[str, Any],
    answers: CaseAnswers,
    predicted: NDArray[np.intp],
    threshold: float,
    kept: bool,
) -> str:
    words = "These are figures of one fitted model on cases drawn like these."
    if not about.get("seen"):
        words += " It is not known whether it was fitted on any of them."
    if missed["kind"] != "two" or missed["absent"]:
        return words
    code = about["classes"].index(about["positive"])
    chances = answers.chances[about["model"]]
    chances = ties_to_the_first(chances) if about["threshold"] is None else chances
    at = called(chances[:, code], threshold)
    other = int(np.count_nonzero(at != (predicted == code)))
    if other:
        cases = "A few cases" if not kept and other < FEWEST else plural(other, "case")
        words += (
            f" {cases} {'is' if cases == '1 case' else 'are'} called differently at"
            f" {missed['fills']['threshold']} than in the validation, whose figures are below: "
        )
        words += (
            f"its threshold is {about['threshold']}."
            if about["threshold"] is not None
            else "these are the model's own answers."
        )
    return words


def _made(place: Path, saved: Mapping[str, Any], subject: str) -> dict[str, Any]:
    about = saved["about"]
    how = "the model's own answers"
    if about["threshold"] is not None:
        how = f"called {about['positive']} from an answer of {about['threshold']} on"
    renamed = [f"{old} is {new or 'left out'}" for old, new in about["renamed"].items()]
    return {
        "rows": [
            ["Model", f"{about['model']}, from model.psephos; nothing was fitted again"],
            ["Labels renamed", series(renamed) or "none"],
            ["Answers are about", subject],
            ["Figures of the validation", f"{how}; {100 * about['level']:g} % intervals; folds of"
             f" the recalibration by seed {about['random_state']}"],
            ["Not done", "no threshold was chosen; intervals were not widened for many"
             " comparisons; nothing here says that a column causes anything"],
            ["To cite", f"psephos {saved['psephos']}, validation of {about['model']} in"
             f" {place.resolve().name}"],
        ],
        "left_out": "Accuracy against columns and stability are left out, since they compare fits;"
        " so are the values of columns and a new case, since the folder of a validation has no"
        " values of the cohort. psephos explain explains the prediction of a case.",
    }  # fmt: skip


def _carries(about: Mapping[str, Any], parted: Sequence[Subgroups], options: PageOptions) -> str:
    n = plural(about["n_cases"], "case")
    if options.cases == "none":
        return f"This file holds counts of the {n}: no answer or name of a single case."
    held = ["class", "answers to six decimals", *(["id or row"] if options.ids else [])]
    held += [f"levels of {series([one.name for one in parted])}"] if parted else []
    return (
        f"This file holds data of the {n}, case by case: {', '.join(held)}; of columns it holds"
        " only summaries. Treat it as you would the table itself."
    )
