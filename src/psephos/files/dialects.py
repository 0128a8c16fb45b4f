"""Text files of other programs: lines above, between and below the rows of a table.

Comment lines, Excel's ``sep=``, cells separated by blanks (R), BIOM's tsv, series matrices of GEO,
and a row of units. The part that exported scorers use as well is in `psephos.files.text`.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat, takewhile
from pathlib import Path

from psephos._errors import Complaints, PsephosError
from psephos.files.cells import Cells
from psephos.files.formats import Reading
from psephos.files.near import quoted
from psephos.files.sheet import Chooser, Sheet, SheetRows
from psephos.files.text import (
    Header,
    Line,
    Rows,
    opened,
    rows,
    separator_of,
    table_rows,
    titles,
    titles_words,
)

_BEGIN, _END = "!series_matrix_table_begin", "!series_matrix_table_end"
_FREE = re.compile(r"!Sample_(title|source_name_ch\d|description)")
_TAXON = ("taxonomy", "consensus lineage")
_ABOVE = 9  # lines that are searched for titles above the names
_BLANKS = re.compile(r'"(?:\\"|""|[^"])*"|[^ \r\n]+')  # cells separated by blanks
AHEAD = 5  # rows that decide the type of a column
_PART = r"(?:[kcmdnpfMGTµμu]?(?:g|[lL]|m|s|mol|M|Pa|Hz|V|A|W|J|K|Da|Eq|I?U|cal|Osm)|min|h|d|day)"
_UNIT = re.compile(
    rf"[\[(].{{0,30}}[\])]|[%‰°](?:\s?\(?[wvm]/[wvm]\)?)?|°[CF]|{_PART}[²³23]?(?:\s?[/·*]\s?{_PART}[²³23]?)*|bpm|mmHg|"
    r"(?:hour|day|week|month|year|yr)s?|Jahre?|Tage?|Wochen?|Monate?|ans?|jours?|mois|años?|anos?|dias?|"
    r"días?|meses|anni|giorni|mesi|jaar|dagen|lata?|dni|yıl|gün|ay|hafta|saat|"
    r"/(?:min|dk|h|d)|kcal|pp[mb]|m?AU|OD|RFU|cps|a\.?u\.|-?log\s?\(?1/[RT]\)?|"
    r"cm\^?[-−]1|(?:cells|copies|1|10\^?\d+)\s?/\s?\w+"
)


def read_text(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read a text file.

    The default separator is a tab for .tsv, else the most frequent of comma, semicolon and tab in
    the first line; blanks if it has none of these.
    """
    numbers: list[int] = []
    notes, wrong = list[str](), Complaints()
    with opened(path, how.encoding, notes) as stream:
        header, below = _table(path, stream, how, notes, wrong)
        reading = SheetRows(header, choose(header), cells, cases=how.cases)
        for line, _, row in below:
            reading.add(row)
            numbers.append(line)
    return reading.sheet(numbers, notes, wrong)


def _table(
    path: Path, stream: Iterator[str], how: Reading, notes: list[str], wrong: Complaints
) -> tuple[Header, Rows]:
    """Return the header of a file, and its rows."""
    separator, above, first = how.separator, list[str](), next(stream, "")
    if first.startswith("!"):
        return _series(path, first, stream, notes, wrong, how.labels_from is not None)
    while first.startswith(("#", "sep=")) or (above and first and not first.strip()):
        above.append(first)
        separator = separator or (first[4:5] if first.startswith("sep=") else None)
        first = next(stream, "")
    if above and _names_columns(path, above[-1], first, separator):
        stream, first = chain([first], stream), above.pop()
    top = len(above)  # line before `first`
    if not first.startswith("#"):
        stream, first, top = _below_titles(path, first, stream, top, separator, notes)
    if above:
        notes.append(f"lines above the table (# or sep=) are left out: {len(above)}.")
    lines, separator = _divided(path, first, stream, separator, notes)
    header, below = table_rows(path, lines, separator, notes, wrong, top + 1)
    if "" in header.names or len(set(header.names)) < len(header.names):
        ahead = list(islice(below, 1 + AHEAD))
        names, rest = names_below(header.names, [row for _, _, row in ahead], notes)
        ahead[:1] = [(line, "", rest) for line, _, _ in ahead[:1]]
        header, below = header._replace(names=names), chain(ahead, below)
    if not first.startswith("#OTU ID"):
        below = _without_units(header, below, notes)
        return header, _without_last(below, how.skip_last, notes) if how.skip_last else below
    if header.names[-1].lower() in _TAXON:  # it describes BIOM's rows, and is not a case
        notes.append(f"the last column of the features is left out: {header.names[-1]}.")
        header = header._replace(names=header.names[:-1])
        below = ((line, text, row[:-1]) for line, text, row in below)
    return header._replace(features=True), below


def _below_titles(
    path: Path, first: str, stream: Iterator[str], top: int, separator: str | None, notes: list[str]
) -> tuple[Iterator[str], str, int]:
    """Return the lines below titles, the first of them, and the number of lines above it."""
    lines = [first, *islice(stream, _ABOVE)]
    stream, held = chain(lines, stream), [k for k, line in enumerate(lines) if line.strip()]
    names, *widths = [len(_BLANKS.findall(lines[k])) for k in held] or [0]
    marked = separator or re.search("[,;\t]", re.sub('"[^"]*"', "", first))
    if not marked and names > 1 and {*widths} in ({names}, {names + 1}):  # from R: 0,5 is a cell
        return stream, next(stream, ""), top
    for i, k in enumerate(held[:-1]):
        mark = separator or separator_of(path, lines[k])
        names, n_cells = _filled(lines[k], mark)
        alike = n_cells == _filled(lines[held[i + 1]], mark)[1]
        few = n_cells == 2 and all(_filled(lines[j], mark)[1] == 2 for j in held)
        if lines[k].count('"') % 2 or (alike and not i and (few or 3 * names > n_cells > 2)):
            break  # a cell of several lines, or the names: no titles
        if i and alike and titles([_filled(lines[j], mark)[0] for j in held]) == i:
            above = [lines[j].strip(f"{mark} \t\r\n") for j in held[:i]]
            notes.append(titles_words([top + 1 + j for j in held[:i]], above))
            stream, top = islice(stream, k, None), top + k
            break
    return stream, next(stream, ""), top


def _filled(line: str, mark: str) -> tuple[int, int]:
    """Return the number of filled cells of a line, and of all its cells."""
    cells = re.sub('"[^"]*"', '"', line).split(mark)
    return sum(map(bool, map(str.strip, cells))), len(cells)


def _names_columns(path: Path, above: str, first: str, separator: str | None) -> bool:
    """Return whether the last line that begins with # has the names of the columns."""
    mark = separator or separator_of(path, above)
    numbers = any(Cells().number(word) is not None for word in first.split(mark) if word.strip())
    alike = 0 < above.count(mark) == first.count(mark) and numbers
    return above.startswith("#") and (alike or not first or above.startswith("#OTU ID"))


def _divided(
    path: Path, first: str, stream: Iterator[str], separator: str | None, notes: list[str]
) -> tuple[Iterator[str], str | None]:
    """Return the lines and their separator, if it is given or a blank, else None."""
    bare = re.sub('"[^"]*"', '""', first)
    if separator is not None or separator_of(path, first) in bare or ".tsv" in path.suffixes:
        return chain([first], stream), separator
    second = next(stream, "")
    n_names, n_cells = (len(_BLANKS.findall(text)) for text in (first, second))
    lines = chain([first, second], stream)
    if n_cells < 2 or n_cells - n_names not in (0, 1):
        return lines, None
    notes.append("cells are separated by blanks (--separator names another separator).")
    quotes = re.compile(r'\\"(?!$)')  # R's escape of a quote within a cell
    cells = ([quotes.sub('""', cell) for cell in _BLANKS.findall(text)] for text in lines)
    return (" ".join(row) + "\n" for row in cells), " "


# ---------------------------------------------------------------------- features in rows
def _series(
    path: Path, first: str, stream: Iterator[str], notes: list[str], wrong: Complaints,
    labelled: bool,
) -> tuple[Header, Rows]:  # fmt: skip
    """Read a series matrix of GEO, with phenotypes as rows unless labels are in another file."""
    above = list(takewhile(lambda text: not text.startswith(_BEGIN), chain([first], stream)))
    notes.append(f"the table of the series matrix begins in line {len(above) + 2}.")
    lines = _until_end(path, stream)
    header, below = table_rows(path, lines, "\t", notes, wrong, len(above) + 2)
    cases = header.names[1:]
    found, beside = _phenotypes(above, cases)
    if labelled and found:
        notes.append(
            "phenotypes of its header are left out, since --labels-from names another file: "
            f"{quoted([*found])}; copy those that are needed, such as the group, into that file."
        )
        found, beside = {}, frozenset[str]()
    if read := [name for name in found if name not in beside]:
        notes.append(f"phenotypes of its header, read as columns: {quoted(read)}.")
    if beside:
        notes.append(f"of its header, read only as a target (--target): {quoted(sorted(beside))}.")
    first_rows = ((0, "", [name, *map(of.get, cases, repeat(""))]) for name, of in found.items())
    return header._replace(features=True, beside=beside), chain(first_rows, below)


def _phenotypes(
    above: list[str], cases: list[str]
) -> tuple[dict[str, dict[str, str]], frozenset[str]]:
    """Return the phenotypes 'key: value' of the cases in the header of a series matrix, by key.

    The second are the keys of titles, sources or descriptions, which have at most half as many
    different values as there are cases.
    """
    found, spelled = dict[tuple[str, str], dict[str, str]](), dict[str, str]()
    lines = [list(cells) for _, _, cells in rows(iter(above), "\t")]
    cases = next((cells for tag, *cells in lines if tag == "!Sample_geo_accession"), cases)
    for tag, *cells in lines:
        if _FREE.fullmatch(tag) and 1 < len({*cells} - {""}) <= len(cells) / 2:
            found[tag.removeprefix("!Sample_"), ""] = dict(zip(cases, cells, strict=False))
        for case, cell in zip(cases, cells, strict=False):
            key, colon, value = cell.partition(":")
            if colon and tag.startswith("!Sample_characteristics"):
                channel = tag.rpartition("_")[2]
                name = spelled.setdefault(key.strip().casefold(), key.strip())  # sex and Sex
                found.setdefault((name, channel), {})[case] = value.strip()
    shared = Counter(key for key, _ in found)  # both channels of a case have a tissue
    named = {k if shared[k] < 2 else f"{k} ({at})": of for (k, at), of in found.items()}
    return named, frozenset(k for k, at in found if not at and shared[k] < 2)


def _until_end(path: Path, stream: Iterator[str]) -> Iterator[str]:
    for text in stream:
        if text.startswith(_END):
            return
        yield text
    raise PsephosError(
        f"{path.name!r} begins as a series matrix of GEO, but has no table between {_BEGIN} and "
        f"{_END}: it was cut off, or the values are in another file of the series."
    )


def _without_last(below: Rows, n: int, notes: list[str]) -> Rows:
    """Leave out the last n rows, such as totals."""
    held: deque[Line] = deque()
    for row in below:
        held.append(row)
        if len(held) > n:
            yield held.popleft()
    notes.append(skipped_words([line for line, _, _ in held]))


def skipped_words(lines: Sequence[int]) -> str:
    """Return the note on the last lines that are left out."""
    named = ", ".join(map(str, lines))
    if len(lines) == 1:
        return f"the last line is left out (--skip-last): line {named}."
    return f"the last {len(lines)} lines are left out (--skip-last): lines {named}."


# ---------------------------------------------------------------------- units
def _without_units(header: Header, below: Rows, notes: list[str]) -> Rows:
    """Leave out the first row if it has units of numeric columns, and rows of Qualtrics' names."""
    rows = list(islice(below, 1 + AHEAD))
    if len(rows) > 1 and all(cell.startswith('{"ImportId"') for cell in rows[1][2]):
        words = f"lines {rows[0][0]} and {rows[1][0]} hold questions and names of Qualtrics"
        notes.append(f"{words}, and are left out.")
        rows = rows[2:]
    words = units_words(rows[0][0], [row for _, _, row in rows]) if rows else ""
    notes += [words] * bool(words)
    yield from chain(rows[bool(words) :], below)


def units_words(line: int, rows: Sequence[Sequence[str]]) -> str:
    """Return the note that the first row has units and is left out; '' if it has none."""
    named = [word.strip() for word in rows[0] if word.strip()]
    if len(rows) < 3 or not _are_units(rows):
        return ""
    return f"line {line} holds units ({quoted(dict.fromkeys(named))}) and is left out."


def names_below(
    names: Sequence[str], lines: Sequence[Sequence[str]], notes: list[str]
) -> tuple[list[str], list[str]]:
    """Return the names of columns, and the rest of the first of `lines`, a line of units.

    Words of this line that distinguish the columns of a merged name are appended to it. Merged
    names are repeated names, and columns without a name to the right of one. A note lists them.
    """
    found, each = list(names), list[str]()
    below = [word.strip() for word in lines[0]] if len(lines) > 2 else []
    parts = ["" if _UNIT.fullmatch(word) else word for word in below]
    for name, word in zip(found, parts, strict=False):
        each.append(name or (each[-1] if each and word else ""))
    pairs, times = list(zip(each, parts, strict=False)), Counter(each)
    odd = {a for a, b in pairs if not b or not a or pairs.count((a, b)) > 1 or times[a] < 2}
    at = [j for j, (name, _) in enumerate(pairs) if name not in odd]
    rest = ["" if j in at else word for j, word in enumerate(below)]
    if not at or not _are_units([rest, *lines[1:]]):
        return found, list(map(str, lines[0])) if lines else []
    for j in at:
        found[j] = " / ".join(pairs[j])
    notes.append(f"merged names, with those of the line below: {quoted([found[j] for j in at])}.")
    return found, rest


def _are_units(lines: Sequence[Sequence[str]]) -> bool:
    number, units, n_numbers, odd = Cells().number, 0, 0, 0
    if any(word.strip() and number(word) is not None for word in lines[0]):
        return False
    rows = list(map(list, lines))
    for j, word in enumerate(map(str.strip, rows[0])):
        unit = _UNIT.fullmatch(word) is not None
        # with either decimal mark
        numeric = all(number(row[j].replace(",", ".", 1)) is not None for row in rows[1:])
        if word and not numeric and word in {row[j] for row in rows[1:]}:
            return False
        n_numbers, units = n_numbers + numeric, units + (numeric and unit)
        odd += numeric and not unit and word not in ("", "-", "–")
    return 0 < n_numbers <= 2 * units and 4 * odd <= n_numbers
