"""Methods: procedure, settings, what was not done, the TRIPOD+AI checklist, citation."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psephos import __version__
from psephos._errors import PsephosError
from psephos.files.names import joined_words
from psephos.files.names import number as significant
from psephos.report.study.answers import Positive
from psephos.report.study.folder import Folder
from psephos.report.study.options import PageOptions
from psephos.report.study.standings import Standing
from psephos.report.words import count, of, plural, series

# Collins et al., BMJ 385 (2024), e078378: numbers of the items, and their subjects in our words
ITEMS = (
    ("1", "title"),
    ("2", "abstract"),
    ("3a", "medical context, and earlier models"),
    ("3b", "intended users, and the patients it is meant for"),
    ("3c", "known inequalities in health"),
    ("4", "objectives"),
    ("5a", "sources of data"),
    ("5b", "dates"),
    ("6a", "setting"),
    ("6b", "who was eligible"),
    ("6c", "treatments"),
    ("7", "preparation of data"),
    ("8a", "what the outcome is, and how it was found"),
    ("8b", "who assessed the outcome"),
    ("8c", "what they knew of the predictors"),
    ("9a", "choice of predictors"),
    ("9b", "how and when predictors were measured"),
    ("9c", "who assessed predictors"),
    ("10", "size of the study"),
    ("11", "missing data"),
    ("12a", "how data were used and divided"),
    ("12b", "how predictors were handled"),
    ("12c", "kind of model, how it was built and validated internally"),
    ("12d", "clusters and centres"),
    ("12e", "measures of performance"),
    ("12f", "updating"),
    ("12g", "how predictions are computed"),
    ("13", "imbalance of classes"),
    ("14", "fairness"),
    ("15", "output of the model, and thresholds"),
    ("16", "training and evaluation data compared"),
    ("17", "ethical approval"),
    ("18a", "funding"),
    ("18b", "conflicts of interest"),
    ("18c", "protocol"),
    ("18d", "registration"),
    ("18e", "sharing of data"),
    ("18f", "sharing of code"),
    ("19", "involvement of patients and the public"),
    ("20a", "flow of participants"),
    ("20b", "characteristics of participants"),
    ("20c", "comparison with the data of development"),
    ("21", "numbers in each analysis"),
    ("22", "the model in full"),
    ("23a", "performance, with intervals, and in groups"),
    ("23b", "differences between clusters"),
    ("24", "results of updating"),
    ("25", "interpretation"),
    ("26", "limitations"),
    ("27a", "input of poor quality, or missing, in use"),
    ("27b", "what its users must do"),
    ("27c", "next steps"),
)


#: Headings of a file of notes, and the item of the checklist that each answers.
NOTES = {
    "intended use": "3b", "out of scope": "", "source of data": "5a", "ethics": "17",
    "funding": "18a", "contact": "",
}  # fmt: skip


def read_notes(path: Path | None) -> dict[str, str]:
    """Return the authors' text under each heading, a line that begins with #.

    A heading is one of `NOTES`, or begins with the number of an item, such as ``# 5b Dates``.
    Headings without text are left out.

    Raises
    ------
    PsephosError
        If the file cannot be read, a heading is unknown or repeated, or text comes before the
        first.
    """
    if path is None:
        return {}
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PsephosError(
            f"the notes {str(path)!r} cannot be read ({error}): give a text file in UTF-8."
        ) from error
    known, found, key = [*NOTES, *(no for no, _ in ITEMS)], dict[str, list[str]](), ""
    for n, line in enumerate(lines, 1):
        where = f"line {n} of the notes {str(path)!r}"
        if line.startswith("#"):
            name = " ".join(line.strip("# \t:").lower().split())
            key = name if name in NOTES else name.split(" ")[0].rstrip(".:")
            if key not in known or key in found:
                what = "is repeated" if key in found else "is not a heading of notes"
                raise PsephosError(
                    f"{where}: {name!r} {what}. Write each once: # {', # '.join(NOTES)}, or the"
                    " number of an item of TRIPOD+AI, such as # 5b."
                )
            found[key] = []
        elif key:
            found[key].append(line)
        elif line.strip():
            raise PsephosError(f"{where} is before the first heading: begin with # {known[0]}.")
    texts = {one: "\n".join(own).strip() for one, own in found.items()}
    return {one: text for one, text in texts.items() if text}


def _noted(notes: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the heading and paragraphs of each note."""
    asks = {no: f"{no} {words}" for no, words in ITEMS}
    return [
        {"head": asks.get(one, one.capitalize()), "words": re.split(r"\n\s*\n", text)}
        for one, text in notes.items()
    ]


def _answers(
    folder: Folder, shown: Standing | None, held: bool, grouped: bool, kept: bool
) -> dict[str, str]:
    """Return the page's answers to items of TRIPOD+AI, some of which are ''."""
    about, groups = folder.about, folder.about.get("groups")
    classes, cases = folder.classes, folder.cases
    two, saved = held and len(classes) == 2, shown is not None and shown.key in folder.models
    balanced = [
        key
        for key, one in about.get("models", {}).items()
        if folder.refit_params.get(key, {}).get("class_weight") == "balanced"
        or one.get("distributions", {}).get("class_weight") == "always balanced"
        or "class_weight='balanced'" in str(one.get("notes", ""))
    ]
    sizes = [f"{name} ({k})" for name, k in zip(classes, folder.counted(kept), strict=False)]
    more = "; discrimination, calibration and net benefit of held-out answers" if two else ""
    threshold = "that of least cost is in the saved file"
    threshold = threshold if folder.missed_cost else "no best one is claimed"
    return {
        "7": _prepared(about.get("left_out", ()), about.get("missing_words", ())),
        "10": _size(folder, shown, kept),
        "11": "" if cases is None else _missing_words(cases.values),
        "12a": "nested: settings were chosen within training parts, and models evaluated on"
        " held-out parts; see the protocol above",
        "12c": "the models compared, the settings drawn for each and how one was chosen: see above",
        "12d": f"cases of one {groups} stayed on one side of each split" if groups else "",
        "12e": f"those of the table of models{more}",
        "12g": "by the saved model file, whose votes are shown" if saved else "",
        "13": f"classes have equal weight in {series(balanced)}, as fitted to all cases"
        if balanced
        else "",
        "14": "figures of groups are under “Whom does it miss?”; which groups matter is yours to"
        " say"
        if grouped
        else "",
        "15": f"an answer from 0 to 1 per class; the threshold can be moved on this page, and"
        f" {threshold}"
        if two
        else "",
        "16": "both are parts of one table; no data from elsewhere were used",
        "18f": f"the software is psephos {_version(folder)}; share any other code that you ran",
        "20b": "in Table 1, above" if cases and cases.names and not folder.multilabel else "",
        "21": ": ".join(filter(None, [plural(folder.n_rows, "case"), series(sizes)])),
        "22": f"the file of {shown.label}, fitted to all cases, and its votes on this page"
        if shown and saved
        else "",
        "23a": "with intervals, under “How accurate” and “Whom does it miss?”" if held else "",
        "23b": f"by {groups or 'fold'}, under “Whom does it miss?”" if grouped else "",
        "26": "cautions on the table, if any; of the study, yours",
    }


def _listed(answers: Mapping[str, str], notes: Mapping[str, str]) -> dict[str, Any]:
    """Return the items that the page or the notes answer, with the answers, and the others."""
    found = {no: words for no, words in answers.items() if words}
    for no in filter(None, (NOTES.get(one, one) for one in notes)):
        found[no] = "; ".join(filter(None, [found.get(no), "see the notes of the authors"]))
    return {
        "answered": [{"no": no, "asks": asks, "words": found[no]} for no, asks in ITEMS
                     if no in found],
        "left": [{"no": no, "asks": asks} for no, asks in ITEMS if no not in found],
    }  # fmt: skip


def _size(folder: Folder, shown: Standing | None, kept: bool) -> str:
    words = f"{plural(folder.n_rows, 'case')}, {plural(folder.n_columns, 'column')}"
    read, given = folder.refit_columns.get(shown.key) if shown else None, folder.counted(kept)
    if shown is None or not read or not given or given != folder.counted(True):
        return words
    return (
        f"{words}; {significant(min(folder.sizes) / read, digits=2)} cases of the rarest class for"
        f" each column that {shown.label} reads ({count(read)})"
    )


def _prepared(left_out: Sequence[str], missing: Sequence[str]) -> str:
    words = [f"columns that are not among the measurements: {series(left_out)}"] if left_out else []
    words += [f"cells taken as missing: {series(missing)}"] if missing else []
    return "; ".join(words)


def _missing_words(values: Any) -> str:
    absent = sum(v is None or v != v for v in values.ravel().tolist())
    return (
        f"{of(absent, values.size)} values are missing in the columns that saved models read;"
        " models of psephos take them as missing; for others that need values they are imputed"
        " within each training part"
    )


def made_section(
    folder: Folder,
    rows: Sequence[Standing],
    shown: Standing | None,
    positive: Positive,
    options: PageOptions,
    answers: bool,
    grouped: bool,
) -> dict[str, Any]:
    """Return the panel's entries of the page's dictionary.

    Parameters
    ----------
    shown : Standing or None
        The model that is shown first.
    answers, grouped : bool
        Whether the page has held-out answers, and figures of groups.
    options : PageOptions
        With the notes of the authors. Without cases, warnings are only counted, since they may name
        a case.
    """
    written, kept = read_notes(options.notes), options.cases != "none"
    made = recipes(folder, rows)
    models = {s.key: _of_model(folder, s, one) for s, one in zip(rows, made, strict=True)}
    warned: Any = folder.environment.get("warnings") or []
    apart = [f"{plural(len(warned), 'warning')} in environment.json."] if warned else []
    return {
        "methods": methods(folder, rows),
        "recipes": made,
        "warnings": [str(w) for w in warned][:20] if kept else apart,
        "model_made": models.get(shown.key) if shown else None,
        "not_done": _not_done(folder),
        "positive_words": ""
        if folder.kind != "classes"
        else f"{folder.classes[positive.code]}: {positive.rule}",
        "notes": _noted(written),
        "tripod": _listed(_answers(folder, shown, answers, grouped, kept), written),
        "cite": _cite(folder),
        "island": {"made": models},
    }


def _of_model(folder: Folder, s: Standing, recipe: Mapping[str, str]) -> dict[str, str]:
    """Return the notes on a model, and its settings after the search on all cases."""
    params = folder.refit_params.get(s.key)
    if params is None:
        settings = "not recorded"
    else:
        settings = "; ".join(f"{name} {_value(v)}" for name, v in sorted(params.items()))
    notes = recipe["notes"]
    return {
        "label": s.label,
        "notes": f"{notes}." if notes else "",
        "settings": settings or "the defaults of the comparison",
    }


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def _not_done(folder: Folder) -> str:
    words = ["No data from elsewhere were used", "settings other than those drawn were not tried"]
    if folder.kind == "classes":
        words += [
            *([] if folder.measures[0].name == "cost" else ["no threshold was chosen"]),
            "answers were not recalibrated unless you choose it where this page offers it",
        ]
    words.append("nothing here says that a column causes anything")
    return (
        f"{series(words)}. Intervals were not widened for many comparisons; only the verdict on"
        " which models are better than a constant prediction allows for them."
    )


def _version(folder: Folder) -> str:
    return str(folder.environment.get("versions", {}).get("psephos", __version__))


def _cite(folder: Folder) -> str:
    print_of = str(folder.about.get("fingerprint") or "")
    name = folder.about.get("dataset") or folder.path.name
    words = f"psephos {_version(folder)}, report of {name}"
    return f"{words}, table {print_of[:12]}." if print_of else f"{words}."


def methods(folder: Folder, rows: Sequence[Standing]) -> list[str]:
    """Return paragraphs on how the comparison was made, only about models that ran."""
    about = folder.about
    words = [_splits(folder, rows)]
    if about.get("joined"):
        words.append(f"Before anything was learnt, {joined_words(about['joined'])}")
    if about.get("groups"):
        words.append(
            f"Cases of one group ({about['groups']}, {about['n_groups']} groups) were always on the"
            " same side of a split."
        )
    words += _tuning(folder, rows)
    if folder.multilabel:
        words += _labels(folder, rows)
    if about.get("partial"):
        words.append(_partial(about["partial"]))
    words.append(
        ("Log-loss takes a probability below 10⁻¹⁵ as 10⁻¹⁵. " if folder.kind == "classes" else "")
        + "Columns used counts columns of the original table; a category counts once, and a"
        " column that is read only where another is missing does not count. Afterwards the same"
        " search was run on all cases, and that refit was saved for models of psephos."
    )
    return [*words, *_origin(folder)]


def _partial(partial: Mapping[str, Any]) -> str:
    """Return a paragraph on the recorded labels that models were fitted by."""
    given = "those with a label"
    if partial["one_class"]:
        given = "all, those without a label as of the other class"
    return (
        f"Models were fitted by recorded labels alone: {count(sum(partial['recorded']))} cases have"
        f" one, {count(partial['unlabelled'])} have none, and a record of {partial['positive']!r}"
        f" counts as right. Models that take no cases without a label were given {given}. The"
        " figures are of the true classes." + (f" {partial['told']}" if partial.get("told") else "")
    )


def _splits(folder: Folder, rows: Sequence[Standing]) -> str:
    settings: Mapping[str, Any] = folder.about.get("protocol_settings", {})
    kind = "Iteratively stratified" if folder.multilabel else "Stratified"
    kind += " (by fifths of the target)" if folder.kind == "numbers" else ""
    kind += ", grouped" if folder.about.get("groups") else ""
    sizes = {(f.n_train, f.n_test) for s in rows for f in s.fits}
    n = len({f.split for s in rows for f in [*s.fits, *s.failed]})
    words = f"{plural(n, 'held-out part')}."
    column, names = folder.about.get("cohort_column"), list(folder.about.get("cohorts", ()))
    if names:
        words = (
            f"Each of the {len(names)} cohorts of {column} ({series(names)}) was left out of"
            " training in turn, and was the test part then."
            if len(names) > 1
            else f"The one test part: the cases whose {column} is {names[0]}, left out of training."
        )
    elif settings.get("outer") == "shuffle":
        share = f"{100 / settings['folds']:.0f} %"
        words = f"{kind} random splits, {settings['repeats']} times, {share} of the cases to test."
    elif settings:
        times = "" if settings["repeats"] == 1 else f", repeated {settings['repeats']} times"
        words = f"{kind} {settings['folds']}-fold cross-validation{times}."
    if settings.get("name") in ("quick", "samba"):
        words = f"Protocol '{settings['name']}'. {words}"
    if sizes:
        words += (
            f" Each held-out part has {_range({b for _, b in sizes})} cases,"
            f" its training part {_range({a for a, _ in sizes})}."
        )
    return words


def _labels(folder: Folder, rows: Sequence[Standing]) -> list[str]:
    """Return paragraphs on how several labels per case were treated."""
    words = [
        "Parts are stratified label by label, the rarest first (Sechidis, Tsoumakas & Vlahavas"
        " 2011). Measures follow Zhang & Zhou (2007): one-error, ranking loss and average"
        " precision leave out cases that have no label or all labels. Of labels with equal scores"
        " the later one ranks higher in coverage and average precision, a tie is an error in"
        " ranking loss, and one-error counts a case only if none of the labels of greatest score"
        " is its own."
    ]
    alone = [s.label for s in rows if s.key in (folder.about.get("one_a_label") or [])]
    if alone:
        words.append(
            f"For {series(alone)} one model per label was fitted, with the same settings for all"
            " labels; these models were not saved."
        )
    absent: list[str] = folder.about.get("not_asked") or []
    if absent:
        words.append(
            f"{series(absent)} were left out, since each needs a fit per label and no models were"
            " named."
        )
    return words


def _tuning(folder: Folder, rows: Sequence[Standing]) -> list[str]:
    about = folder.about
    settings: Mapping[str, Any] = about.get("protocol_settings", {})
    if not settings:  # of an early version
        return [str(about["protocol"])] if about.get("protocol") else []
    draws = {s.label: s.draws for s in rows if s.draws is not None}
    seconds = settings.get("seconds")
    if not draws and not seconds:
        return ["No model that ran was tuned."]
    first = ", the first of them the default setting" if settings.get("defaults_first") else ""
    fewest = "of the fewest columns within one standard error of"
    how = (
        "Inside each training part, a random search kept the setting"
        f" {fewest if settings.get('select') == 'one-se' else 'with'} the best mean"
        f" {'PU-F of the recorded labels' if about.get('partial') else folder.measure} over"
        f" {settings['inner_folds']} folds"
    )
    if seconds:
        return [
            f"{how} of the draws that {seconds:g} s allow{first}; the number varies by machine."
        ]
    numbers = set(draws.values())
    if len(numbers) == 1:
        words = f"{how} of {plural(numbers.pop(), 'draw')} per model{first}."
    else:
        apart = series([f"{n} for {label}" for label, n in sorted(draws.items())])
        words = (
            f"{how} of its draws{first}. Draws: {apart}. Models with more draws had a longer"
            " search, which may be part of a difference."
        )
    idle = [s.label for s in rows if s.label not in draws]
    return [f"{words} Nothing is tuned in {series(idle)}." if idle else words]


def _origin(folder: Folder) -> list[str]:
    about = folder.about
    words: list[str] = []
    if about.get("random_state") is not None:
        words.append(f"Seed: {about['random_state']}.")
    if about.get("fingerprint"):
        words.append(f"SHA-256 of the table (values, labels, names): {about['fingerprint']}.")
    day = folder.finished()
    if day:
        words.append(f"The last fit ended on {day}.")
    versions: dict[str, str] = folder.environment.get("versions", {})
    made = [f"{name} {v}" for name, v in sorted(versions.items()) if v != "unknown"]
    if made:
        words.append(f"Made with {series(made)}.")
    return [" ".join(words)] if words else []


def recipes(folder: Folder, rows: Sequence[Standing]) -> list[dict[str, str]]:
    """Return the settings that each model was tuned over, and the notes on it."""
    models: Mapping[str, Mapping[str, Any]] = folder.about.get("models", {})
    drawn = {s.key: models.get(s.key, {}).get("distributions", {}) for s in rows}
    return [
        {
            "label": s.label,
            "draws": count(s.draws),
            "ranges": "; ".join(f"{name}: {text}" for name, text in drawn[s.key].items()) or "–",
            "notes": str(models.get(s.key, {}).get("notes") or ""),
        }
        for s in rows
    ]


def _range(values: set[int]) -> str:
    low, high = min(values), max(values)
    return count(low) if low == high else f"{count(low)} to {count(high)}"
