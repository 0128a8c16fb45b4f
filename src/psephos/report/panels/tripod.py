"""The checklist TRIPOD+AI: which items this page answers, where, and which are the authors'."""

from collections.abc import Mapping
from typing import Any

from psephos.report.words import count, of, plural, series

# Collins et al., BMJ 385 (2024), e078378: numbers of the items, and in our words what they ask
ITEMS = (
    ("1", "title"),
    ("2", "abstract"),
    ("3a", "medical context, and earlier models"),
    ("3b", "for whom and by whom it is meant to be used"),
    ("3c", "known inequalities in health"),
    ("4", "objectives"),
    ("5a", "sources of data"),
    ("5b", "dates"),
    ("6a", "setting"),
    ("6b", "who was eligible"),
    ("6c", "treatments"),
    ("7", "preparation of data"),
    ("8a", "what the outcome is, and how it was found"),
    ("8b", "who judged the outcome"),
    ("8c", "what they knew of the predictors"),
    ("9a", "choice of predictors"),
    ("9b", "how and when predictors were measured"),
    ("9c", "who judged predictors"),
    ("10", "size of the study"),
    ("11", "missing data"),
    ("12a", "how data were used and parted"),
    ("12b", "how predictors were handled"),
    ("12c", "kind of model, how it was built and validated within"),
    ("12d", "clusters and centres"),
    ("12e", "measures of performance"),
    ("12f", "updating"),
    ("12g", "how predictions are computed"),
    ("13", "imbalance of classes"),
    ("14", "fairness"),
    ("15", "what the model puts out, and thresholds"),
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


def tripod(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the items that this page answers, with their answers, and the others.

    Parameters
    ----------
    facts : mapping
        ``n``, ``classes``, ``sizes``, ``columns``; ``events`` and ``read``, or None; ``missing``:
        (missing, all) values of the columns that saved models read, or None; ``grouped``: what
        groups are called, or None; ``balanced``: models that weigh classes; ``model``: label of
        the model shown first or None; ``saved``, ``answers``, ``subgroups``: bool; ``made``:
        software and versions.
    """
    answers = {no: words for no, words in _answers(facts).items() if words}
    return {
        "answered": [
            {"no": no, "asks": asks, "words": answers[no]} for no, asks in ITEMS if no in answers
        ],
        "left": [{"no": no, "asks": asks} for no, asks in ITEMS if no not in answers],
    }


def _answers(facts: Mapping[str, Any]) -> dict[str, str]:
    saved, held = facts["saved"], facts["answers"]
    return {
        "10": _size(facts),
        "11": _missing(facts["missing"]),
        "12a": "nested: settings were chosen within training parts, and judged on held-out parts;"
        " see the protocol above",
        "12c": "the models compared, what was drawn for each and how it was chosen: see above",
        "12d": f"cases of one {facts['grouped']} stayed on one side of each split"
        if facts["grouped"]
        else "",
        "12e": "those of the table of models"
        + (
            "; discrimination, calibration and net benefit of held-out answers"
            if held and len(facts["classes"]) == 2
            else ""
        ),
        "12g": "by the saved model file, whose votes are shown" if saved else "",
        "13": f"classes are weighed to be equal in {series(facts['balanced'])}"
        if facts["balanced"]
        else "",
        "14": "figures of groups stand under “Whom does it miss?”; which groups matter is yours to"
        " say"
        if facts["subgroups"]
        else "",
        "15": "an answer from 0 to 1 a class; the threshold can be moved on this page, and no best"
        " one is claimed"
        if held and len(facts["classes"]) == 2
        else "",
        "16": "both are parts of one table; no data from elsewhere were used",
        "18f": f"the software is {facts['made']}; what you ran beside it is yours to share",
        "21": f"{plural(facts['n'], 'case')}: {series(_sizes(facts))}",
        "22": f"the file of {facts['model']}, fitted to all cases, and its votes on this page"
        if saved
        else "",
        "23a": "with intervals, under “How accurate” and “Whom does it miss?”" if held else "",
        "23b": f"by {facts['grouped'] or 'fold'}, under “Whom does it miss?”"
        if facts["subgroups"]
        else "",
        "26": "those that follow from the figures: the cautions at the top; of the study, yours",
    }  # fmt: skip


def _sizes(facts: Mapping[str, Any]) -> list[str]:
    pairs = zip(facts["classes"], facts["sizes"], strict=False)
    return [f"{name} {count(k)}" for name, k in pairs]


def _size(facts: Mapping[str, Any]) -> str:
    words = f"{plural(facts['n'], 'case')}, {plural(facts['columns'], 'column')}"
    if facts["events"] is None or not facts["read"]:
        return words
    return (
        f"{words}; {facts['events'] / facts['read']:.1f} cases of the rarest class for each of the"
        f" {count(facts['read'])} columns that {facts['model']} reads"
    )


def _missing(values: tuple[int, int] | None) -> str:
    if values is None:
        return ""
    return (
        f"{of(*values)} values are missing in the columns that saved models read;"
        " models of psephos take them as missing, others have them filled in within each training"
        " part where they must"
    )
