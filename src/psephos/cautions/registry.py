"""All cautions: codes, names, kinds, the commands that they stop, tests, and sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from psephos._errors import PsephosError, PsephosTypeError, TableWarning
from psephos.cautions.given import Found, Given
from psephos.files.near import quoted, suggest

_BOTH, _NONE = ("fit", "compare"), ()


class Rule(NamedTuple):
    """The definition of a caution."""

    name: str
    kind: str  # columns, rows, layout or prediction
    refused: tuple[str, ...]  # the commands that it stops
    test: str  # module and function of the test, imported when it is called
    # The sentence: {columns}, {s} after their verb, {them}, and the facts that the test found.
    words: str
    classes: bool = False  # whether it needs classes: not tested for numeric targets


# fmt: off
CAUTIONS: dict[str, Rule] = {
    "FD001": Rule("dates", "columns", _NONE, "columns.dates",
        "{columns} hold{s} dates or times{such}: new cases have others. Replace {them} by the days "
        "since the earliest, or leave {them} out."),
    "FD002": Rule("words-once", "columns", _BOTH, "columns.words_once",
        "{columns} hold{s} many different values{such}, {counts}, as names, ids and free text do: "
        "new cases have other values. {advice}"),
    "FD003": Rule("row-numbers", "columns", _BOTH, "columns.counts_rows",
        "{columns} count{s} the rows: a model would learn the order of the rows. Leave {them} "
        "out{id}."),
    "FD004": Rule("saved-index", "columns", _BOTH, "columns.saved_index",
        "{columns} hold{s} a saved row index, as pandas and R write it into files. Leave {them} "
        "out{id}."),
    "FD005": Rule("identifier", "columns", _BOTH, "columns.ids",
        "{columns} hold{s} numbers that identify the rows. Leave {them} out{id}."),
    "FD006": Rule("rounded-integers", "columns", _NONE, "columns.beyond_exact",
        "{columns} hold{s} whole numbers above 9007199254740992 (2^53), whose last digits are "
        "lost. If they are identifiers, leave {them} out, or name {one} as the id."),
    "FD007": Rule("sentinel", "columns", _NONE, "columns.sentinels",
        "Some values may stand for missing ones: {values}. If so, declare them with "
        "--missing COLUMN=VALUE, or leave the cells empty{rest}."),
    "FD008": Rule("target-again", "columns", _BOTH, "columns.is_target",
        "{columns} {how}. If {they} hold{s} the target under another name, leave {them} out."),
    "FD009": Rule("tells-all", "columns", _NONE, "columns.tells_all",
        "{columns} alone predict{s} {what}, {but}. Check that the values are known before the "
        "target is, and are not derived from it; otherwise leave {them} out.{group}"),
    "FD010": Rule("counts-within", "columns", _NONE, "rows.counts_within",
        "{columns} count{s} the rows of each subject (1, 2, 3), as the number of a replicate or a "
        "visit does, and measure{s} nothing. Leave {them} out, unless the order itself matters."
        ),
    "FD011": Rule("many-words", "columns", _NONE, "rows.many_words",
        "{columns} hold{s} many different words for so few rows, {counts}, as names of persons do: "
        "most new cases have other words. Leave {them} out, or merge words into fewer categories."),
    "FD012": Rule("clusters", "columns", _BOTH, "columns.clusters", "{words}"),
    "FD013": Rule("several-answers", "columns", _NONE, "columns.several_answers",
        "{columns} hold{s} several answers in one cell, such as {example}: each combination is a "
        "category of its own, unrelated to those that share an answer. Make a column of yes and "
        "no for each answer, or list {them} as categories (--categorical) if combinations are "
        "meant."),
    "FD020": Rule("replicates", "rows", ("compare",), "rows.divided_replicates",
        "{n} rows seem to be replicates, far closer to each other than to all others: {pairs}. "
        "With replicates in both the training and the test part, a model is tested on what it was "
        "trained on. {group}, keep one row of each, or accept this (--accept FD020) if they are "
        "independent."),
    "FD021": Rule("sorted-rows", "rows", _NONE, "rows.ordered",
        "The order of the rows predicts the class, which changes {changes} from one {what} to the "
        "next; {expected} would be expected of {what}s in random order. This does no harm if the "
        "table was sorted; if the rows are in the order of measurement, whatever drifts with time "
        "predicts the class, too.",
        classes=True),
    "FD022": Rule("small-class", "rows", _NONE, "rows.few_rows",
        "Classes have fewer rows than a comparison has folds ({folds}): {classes}. Add rows, "
        "merge classes (--classes OLD=NEW), leave one out (--classes OLD=), or use fewer folds "
        "(compare --folds).", classes=True),
    "FD023": Rule("batch", "rows", _NONE, "rows.batches",
        "{which} predicts the class of most rows: differences between batches or sites are learnt "
        "as if they were differences between classes. Hold out whole batches (--group); if each "
        "batch has one class, no analysis can separate the two.", classes=True),
    "FD024": Rule("subjects", "rows", _BOTH, "rows.subjects",
        "{columns} name{s} subjects with several rows each{answer}: a model memorises the "
        "subjects, and rows of one subject are in both the training and the test part. Name the "
        "column as the group (--group); if it is only left out, they still are."),
    "FD025": Rule("divided-subjects", "rows", ("compare",), "rows.divided_subjects",
        "Column {which} is not learnt from, and seems to name subjects with several rows each"
        "{answer}: rows of one subject are in both the training and the test part. Name it as the "
        "group (--group {how})."),
    "FD026": Rule("repeated-numbers", "rows", ("compare",), "rows.repeated_numbers",
        "{n} values of the target occur in {k} {what} each, as if each sample had been measured "
        "{k} times: rows of one sample are in both the training and the test part. Name the column "
        "of samples as the group (--group), keep one row of each sample, such as the mean, or "
        "accept this (--accept FD026) if rows of one value are independent."),
    "FD027": Rule("keys", "rows", _NONE, "rows.keys",
        "{columns} hold{s} words that look like keys, each in several rows. If they name subjects "
        "or samples, rows of one are in both the training and the test part: name the column as "
        "the group (--group). If they are levels of a design that new cases share, keep "
        "{them}."),
    "FD030": Rule("no-names", "layout", _BOTH, "layout.no_names",
        "The first line looks like a case, not like column names ({why}). Put a line of column "
        "names above it; otherwise the first case is lost."),
    "FD031": Rule("merged-names", "layout", _NONE, "layout.merged_names",
        "{columns} {have} no name of {their} own: cells of the first line were merged or empty. "
        "Give each column its name in one line."),
    "FD032": Rule("features-in-rows", "layout", _NONE, "layout.lies_across",
        "The table seems to have its features in rows: {what}. Transpose it, so that each row is "
        "a case."),
    "FD033": Rule("total-row", "layout", _NONE, "layout.total_row",
        "The last row ({row}) seems not to be a case: it {why}. "
        "Leave it out (--skip-last 1), or remove it."),
    "FD034": Rule("classes-alike", "layout", _BOTH, "layout.classes_alike",
        "Classes of the target differ only in case, blanks, hyphens or the form of a number: "
        "{which}. Spell them alike if they are one class; if not, accept them.", classes=True),
    "FD035": Rule("gene-days", "layout", _NONE, "layout.gene_days",
        "{columns} look{s} like gene symbols that a spreadsheet turned into dates (MARCH1 into "
        "1-Mar, SEPT2 into 2-Sep). Restore the names from the source of the table."),
    "FD036": Rule("groups-alike", "layout", _BOTH, "layout.groups_alike",
        "Groups differ only in case, blanks, hyphens, zeros before digits or the form of a number: "
        "{which}. If they are one subject, its rows are in both the training and the test part: "
        "spell them alike; if they are different, accept them."),
    "FD040": Rule("beyond-range", "prediction", _NONE, "prediction.beyond_range",
        "All values of {which} are above, or all below, the range of the training rows: "
        "predictions there are guesses. Check that it is the same measurement."),
    "FD041": Rule("other-units", "prediction", _NONE, "prediction.other_units",
        "The unit seems to have changed: {which}. Convert the column to the training unit."),
}
# fmt: on
#: The cautions that `fit` of a frame tests: names and types of columns.
OF_TYPES = ("FD001", "FD002", "FD003", "FD004", "FD005", "FD006")
OF_CASES = ("FD033", "FD040", "FD041")
OF_COLUMNS = tuple(code for code, rule in CAUTIONS.items() if rule.kind == "columns")


@dataclass(frozen=True)
class Caution:
    """A likely mistake in a table, found before a model is fitted.

    Parameters
    ----------
    code : str
        Such as 'FD004'; docs/cautions.md has a paragraph on each.
    rule : Rule
    sentence : str
        What was found, where, and what to do.
    columns : tuple of str
    rows : tuple of int
        Counted from 0.
    remedy : tuple of (str, str)
        Options of the command that resolve it, with their values.
    """

    code: str
    rule: Rule
    sentence: str
    columns: tuple[str, ...]
    rows: tuple[int, ...]
    remedy: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The name of the caution, such as 'saved-index'."""
        return self.rule.name

    def warning(self) -> TableWarning:
        """Return it as a warning."""
        return TableWarning(str(self), self.code)

    def data(self) -> dict[str, str]:
        """Return code, name and sentence."""
        return {"code": self.code, "name": self.name, "sentence": self.sentence}

    def __str__(self) -> str:
        return f"{self.code} {self.name}: {self.sentence}"


class Cautions(tuple[Caution, ...]):
    """The cautions on a table, in the order of their codes; printed, a line each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no cautions"

    def accepted(self, codes: Sequence[str]) -> tuple[str, ...]:
        """Return the accepted cautions, as in a model file."""
        return tuple(f"{one.code} {one.name}" for one in self if one.code in codes)

    def refused(self, command: str, accepted: Sequence[str] = ()) -> "Cautions":
        """Return the cautions that stop a command and are not accepted."""
        return Cautions(c for c in self if command in c.rule.refused and c.code not in accepted)


def cautions_on(given: Given, codes: Iterable[str] = CAUTIONS) -> Cautions:
    """Return the cautions on a table, by default of all codes."""
    tested = (code for code in codes if len(given.classes) or not CAUTIONS[code].classes)
    found = ((code, _tested(CAUTIONS[code].test, given)) for code in tested)
    return Cautions(
        _caution(code, one, given)
        for code, one in found
        if one.columns or one.rows or any(one.facts.values())
    )


def _caution(code: str, found: Found, given: Given) -> Caution:
    names, rule = tuple(given.names[j] for j in found.columns), CAUTIONS[code]
    one = len(names) == 1
    words = {"columns": f"{'Column' if one else f'{len(names)} columns:'} {quoted(names)}"}
    forms = {"s": ("s", ""), "them": ("it", "them"), "their": ("its", "their")}
    forms |= {"they": ("it", "they"), "have": ("has", "have"), "one": ("it", "one")}
    words |= {key: form[not one] for key, form in forms.items()}
    sentence = rule.words.format(**words, **found.facts)
    return Caution(code, rule, sentence, names, tuple(found.rows), tuple(found.remedy))


def _tested(test: str, given: Given) -> Found:
    module, name = test.split(".")
    found: Found = getattr(import_module(f"psephos.cautions.{module}"), name)(given)
    return found


def known_codes(codes: str | Sequence[str]) -> tuple[str, ...]:
    """Return the accepted codes; raise PsephosError if one is not that of a caution."""
    codes = [codes] if isinstance(codes, str) else codes
    listed: object = codes
    if not isinstance(listed, Iterable) or not all(isinstance(one, str) for one in codes):
        raise PsephosTypeError(
            "accept must be the code of a caution, such as 'FD004', or a list of codes; got "
            f"{codes!r}."
        )
    codes = [code.upper() for code in codes]
    for code in codes:
        if code not in CAUTIONS:
            near = suggest(code, CAUTIONS)
            raise PsephosError(f"--accept (accept=) names {code!r}, which is not a caution: {near}")
    return tuple(dict.fromkeys(codes))
