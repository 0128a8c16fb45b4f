"""The folder of a comparison becomes one plain dictionary, from which the page is written."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psephos import __version__
from psephos.files.names import ends, listed, true_minus
from psephos.protocol import Comparison, better_than_constant
from psephos.protocol.study.folder import MARK, damaged, unsealed
from psephos.report.numbers.measures import Subgroups, subgroups
from psephos.report.panels.accuracy import accuracy_section
from psephos.report.panels.case import case_section
from psephos.report.panels.methods import made_section
from psephos.report.panels.missed import THRESHOLD, MissedPanel, missed_section
from psephos.report.panels.observed import HeldOutNumbers, held_out_numbers, observed_section
from psephos.report.panels.stability import stability_section
from psephos.report.panels.tables import (
    cohort_table,
    curve_section,
    label_figures,
    pooled_figures,
    proved,
)
from psephos.report.panels.values import values_section
from psephos.report.panels.verdict import (
    caution,
    cautions,
    first_sentences,
    prior_log_loss,
    unsure_probabilities,
    verdict,
)
from psephos.report.study.answers import (
    CaseAnswers,
    Positive,
    held_out_answers,
    positive_class,
)
from psephos.report.study.folder import Folder, fit_of, read_folder
from psephos.report.study.opened import Facts, Opened, Saved, model_facts
from psephos.report.study.options import DRAWN, PageOptions
from psephos.report.study.standings import Opening, Standing, choose, pairs, standings
from psephos.report.words import ShortName, cases_of, plural, series, shown_names
from psephos.vote.plain import to_plain

_CONTENTS = (
    ("accuracy", "How accurate, and on how few columns?"),
    ("missed", "Whom does it miss?"),
    ("values", "Which measurements, and which values?"),
    ("case", "What would it say of a new case?"),
    ("stability", "Would other cases have led to the same columns?"),
    ("methods", "How was this made?"),
)
_OF_NUMBERS = (
    ("observed", "Where does it err most?"),
    *(
        (key, "What does it read?" if key == "values" else words)
        for key, words in _CONTENTS
        if key != "missed"
    ),
)
_ROUNDED = "to three or four figures, more where a printed inequality needs them"
_NAMED = 12  # the most labels that the head names


def summarise(
    folder: str | Path, model: str | None = None, options: PageOptions | None = None
) -> dict[str, Any]:
    """Read a comparison and return the content of its report, as plain values.

    Parameters
    ----------
    folder : str or Path
        The folder written by `psephos.protocol.compare`.
    model : str, optional
        The model that is shown first. By default, of the saved models within one standard error of
        the best and significantly better than a constant prediction, the one with the fewest
        columns; if there is none, the most accurate saved model.
    options : PageOptions, optional
        Title, positive class, notes, and what the page contains of cases.

    Returns
    -------
    report : dict
        Strings, numbers, lists and dictionaries only; `render` makes a page of it. ``island`` has
        the data of the page's script.

    Raises
    ------
    PsephosError
        If the folder is not a finished comparison, one of its files is damaged, the model has no
        file, or an option does not fit the study.
    """
    read = read_folder(folder)
    with unsealed(read.path / MARK, read.about):
        return _summarised(read, model, options or PageOptions())


def _summarised(read: Folder, model: str | None, options: PageOptions) -> dict[str, Any]:
    options.refuse_few(read.n_rows)
    if read.cases is not None:
        options = options.naming(read.cases.ids)
        read = replace(read, cases=replace(read.cases, named=options.ids))
    better = better_than_constant(read.rows, read.about | {"class_counts": read.sizes}).keys()
    rows = standings(read, better)
    answers = held_out_answers(read, [s.key for s in rows])
    choice = choose(rows, list(read.models), model, better)
    shown = choice.opened if choice else None
    names = shown_names([str(c) for c in read.about.get("columns", ())])
    kept = options.cases != "none"
    saved = Saved(read, names, kept)
    opened = saved.opened(shown.key) if shown else None
    if shown and opened and opened.classes != [str(one) for one in read.about["classes"]]:
        raise damaged(read.models[shown.key], "its classes are not those of comparison.json")
    order = _order(rows, choice)
    first = order[0].key if order else ""
    positive = positive_class(read, read.sizes, options.positive, answers if order else None, first)
    parted = _parted(read, answers, opened, names)
    facts = model_facts(read.models)
    panel = (
        MissedPanel(read, answers, positive, facts, frozenset(better), options, parted=parted)
        if answers
        else None
    )
    missed = missed_section(panel, order, bool(opened and read.cases))
    numbers = held_out_numbers(read, [s.key for s in rows])
    return _report(saved, rows, choice, positive, facts, missed, numbers, options, better) | {
        "carries": _carries(read, answers, parted, options),
        "cohort_table": cohort_table(
            read, [c for s in order if s.key in facts for c in facts[s.key].columns],
            names, kept,
        ),
    }  # fmt: skip


def _report(
    saved: Saved,
    rows: Sequence[Standing],
    choice: Opening | None,
    positive: Positive,
    facts: Mapping[str, Facts],
    missed: dict[str, Any],
    numbers: HeldOutNumbers | None,
    options: PageOptions,
    better: Collection[str],
) -> dict[str, Any]:
    read, kept = saved.folder, options.cases != "none"
    found = pairs(read.rows, rows, choice.best if choice else None)
    prior = prior_log_loss(read)
    unsure = {s.key for s in rows if unsure_probabilities(s, prior)}
    shown = choice.opened or choice.best if choice else None
    key = shown.key if shown else None
    first, order = missed["missed"], [s.key for s in _order(rows, choice)]
    observed = observed_section(read, numbers, order, options)
    parts = [
        accuracy_section(read, rows, choice, found, prior, unsure, kept),
        missed,
        observed,
        values_section(saved, choice, positive, options),
        case_section(saved, choice, positive, facts, options, numbers),
        stability_section(read, rows, {k: v.columns for k, v in facts.items()}, saved.names, key),
        made_section(
            read, rows, shown, positive, options, bool(first), bool(first and first.get("groups"))
        ),
        curve_section(read, rows),
    ]
    islands = [part.pop("island", {}) for part in parts]
    return {
        "version": __version__,
        "title": options.title or _title(read),
        "data_line": _data_line(read, kept),
        "first": first_sentences(read, rows, choice, found, first or observed["observed"], better),
        "verdict": verdict(read, rows, choice, better),
        "caution": caution(read, choice),
        "cautions": cautions(read, choice, prior, kept) if choice else [],
        "contents": _OF_NUMBERS if read.kind == "numbers" else _CONTENTS,
        "label_figures": label_figures(read, choice) if choice else None,
        "pooled": pooled_figures(read, rows),
        "proved": proved(read, rows),
        "bar": _bar(read, rows, key),
        "island": {
            "maps": _maps(facts, islands[1]["missed"], options, unsure),
            "first": {
                "model": key, "again": False, "person": None,
                "threshold": islands[1]["missed"]["threshold"] if missed["missed"] else THRESHOLD,
                "cls": positive.code if read.kind == "classes" else None,
            },
            **_joined(islands),
        },
        **_joined(parts),
    }  # fmt: skip


def _maps(
    facts: Mapping[str, Facts], missed: Any, options: PageOptions, unsure: Collection[str]
) -> dict[str, Any]:
    """Return the calibration maps that the page offers: a sentence, and the map as plain data.

    Only maps with recalibrated held-out answers are offered, and on a page without cases no
    isotonic map, since its points are answers to single cases. A map is advised if the model is in
    `unsure`: its own probabilities are worse than the class frequencies.
    """
    found: dict[str, Any] = {}
    for key, one in missed["models"].items() if missed else ():
        own = facts[key].recalibration if "again" in one else None
        if own is not None and (options.cases != "none" or own.method == "sigmoid"):
            words = own.words()
            found[key] = {
                "words": f"{words[0].upper()}{words[1:]}.", "map": to_plain(own.calibration),
                "advised": key in unsure,
            }  # fmt: skip
    return found


def _joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merge dictionaries, which have no key in common."""
    return {key: value for part in parts for key, value in part.items()}


def _order(rows: Sequence[Standing], choice: Opening | None) -> list[Standing]:
    """Return the models, those of the verdict first."""
    if choice is None:
        return []
    first = [choice.opened or choice.best, choice.best, choice.smallest]
    return list({s.key: s for s in [*first, *(s for s in rows if s.drawn)]}.values())


def _parted(
    read: Folder, answers: CaseAnswers | None, opened: Opened | None, names: Mapping[str, ShortName]
) -> list[Subgroups]:
    if answers is None or len(read.about["classes"]) != 2:
        return []
    telling = [opened.whole.get(name, name) for name in opened.columns] if opened else []
    kinds = [name for name in names if name in read.about.get("categories", {})]
    shown = [
        [(name, names[name].text) for name in own if name in names]
        for own in (kinds, [name for name in telling if name not in kinds])
    ]
    return subgroups(answers, read.cases, read.about.get("groups"), *shown)


# ---------------------------------------------------------------------- head, bar and foot
def _title(folder: Folder) -> str:
    return f"{folder.about.get('dataset') or folder.path.name}: which model, on how few columns?"


def _data_line(folder: Folder, kept: bool) -> str:
    about = folder.about
    sizes, names = folder.counted(kept), folder.classes
    listed = [f"{n} ({k})" for n, k in zip(names, sizes, strict=True)] if sizes else names
    cases = cases_of(folder.n_rows, about.get("n_groups"), str(about.get("groups") or ""))
    line = f"{cases}, {plural(folder.n_columns, 'column')}"
    if folder.multilabel:
        more = [f"{len(listed) - _NAMED} more"] if len(listed) > _NAMED else []
        return (
            f"{line}; {len(names)} labels, of which a case may have several:"
            f" {series([*listed[:_NAMED], *more])}."
        )
    target = about.get("target")
    if folder.kind == "numbers":
        y = [] if folder.cases is None else folder.cases.y
        held = true_minus(" to ".join(ends([min(y), max(y)]))) if y and kept else ""
        held = f"a number{held and f': {held}'}. Errors are in units of {folder.target}."
        return f"{line}; {target or 'target'}, {held}"
    truly = ", true classes" if about.get("partial") else ""  # the target has recorded labels
    return f"{line}; {f'{target}{truly}: ' if target else 'classes: '}{series(listed)}."


def _bar(folder: Folder, rows: Sequence[Standing], key: str | None) -> dict[str, Any]:
    """Return the models to choose from, those with a file first."""
    drawn = [s for s in rows if s.drawn]
    listed = [{"key": s.key, "label": s.label, "words": _columns_words(folder, s)} for s in drawn]
    return {
        "readable": [one for one in listed if one["key"] in folder.models],
        "others": [one for one in listed if one["key"] not in folder.models],
        "key": key,
        "classes": folder.classes if folder.kind == "classes" else [],
    }


def _columns_words(folder: Folder, s: Standing) -> str:
    final = folder.refit_columns.get(s.key)
    return s.label if final is None else f"{s.label}, {plural(final, 'column')}"


def _carries(
    folder: Folder, answers: CaseAnswers | None, parted: Sequence[Subgroups], options: PageOptions
) -> str:
    """Return what the page contains of the cases."""
    n = plural(folder.n_rows, "case")
    if options.cases == "none":
        return (
            f"This file holds counts of the {n}, and means over ten and more: no answer, value or"
            " name of a single case, except the thresholds and categories that models read."
        )
    if folder.kind == "numbers":
        more = " with its id or row" if options.ids else ""
        held = f"data of the {n}, case by case{more}: the target and held-out predictions, and"
        each = "the values"
        if folder.n_rows > DRAWN:
            held = f"counts of the {n}{', their ids or rows' if options.ids else ''} and"
            each = "the target, held-out predictions and values"
        return (
            f"This file holds {held} of the worst cases of each model {each} of the columns it"
            f" reads, {_digits(options)}. Treat it as you would the table itself."
        )
    held = [] if answers is None else ["class, held-out answers to six decimals"]
    held += ["id or row"] if options.ids else []
    held += ["group"] if answers is not None and answers.groups is not None else []
    held += [f"groups by {listed([one.name for one in parted], 3)}"] if parted else []
    return (
        f"This file holds data of the {n}, case by case: {', '.join(held)}, and values of the"
        f" columns that models read, {_digits(options)}. Treat it as you would the table itself."
    )


def _digits(options: PageOptions) -> str:
    return "as they are" if options.cases == "full" else _ROUNDED


# ---------------------------------------------------------------------- in memory
@dataclass(frozen=True)
class _InMemory(Folder):
    """A comparison that was not read from a folder."""

    figures: Sequence[Mapping[str, object]] = ()

    def pooled(self) -> dict[str, dict[str, float | None]]:
        """Return the figures over all held-out cases of each model."""
        return {str(row["model"]): dict(row) for row in self.figures}  # pyright: ignore[reportReturnType]


def first_words(comparison: Comparison) -> list[str]:
    """Return the first sentences of the page without those on missed cases, for `print`.

    They are about the model that the page would show first.
    """
    refits = [row for row in comparison.refits if row["status"] == "ok"]
    about = comparison.about
    folder = _InMemory(
        path=comparison.out or Path(),
        about=about,
        environment={},
        rows=comparison.results,
        fits=[fit_of(row, about)[1] for row in comparison.results],
        refit_columns={row["model"]: row["columns_used"] for row in refits},
        refit_params={},
        cases=None,
        models=dict.fromkeys(comparison.models, Path()),
        figures=comparison.pooled,
    )
    better = comparison.better()
    rows = standings(folder, better)
    choice = choose(rows, list(folder.models), None, better)
    found = pairs(folder.rows, rows, choice.best if choice else None)
    words = first_sentences(folder, rows, choice, found, None, better)
    return words + verdict(folder, rows, choice, better)
