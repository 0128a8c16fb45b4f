"""ARFF files (of Weka, Mulan and MEKA): names and types of columns, and rows as cells."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from psephos._errors import Complaints, PsephosError
from psephos.files.cells import MISSING, Cells, Typed
from psephos.files.formats import Reading
from psephos.files.names import plural
from psephos.files.near import CELL, shown
from psephos.files.sheet import Chooser, Sheet, SheetRows
from psephos.files.text import Header, opened

_VALUE = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"{}][^,{}]*|))\s*""")
_NAME = re.compile(r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)""", re.DOTALL)
_INDEX = re.compile(r"\s*(\d{1,9})\s+(?=[^\s,])")
_LABELS = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
# Weka writes weights in braces after a row or a column, and ranges in brackets
_WEIGHT = re.compile(r"(?:[,\s]+|(?<=\}),?\s*)\{\s*(\d[\d.eE+-]*)\s*\}$")
_RANGE = re.compile(r"\s*\[[^\]]*\]$")
_NUMBERS = ("numeric", "real", "integer")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


class Arff(NamedTuple):
    """The header of an ARFF file."""

    relation: str  # the name of the table
    names: list[str]
    # the values of each nominal column; None for the others
    levels: list[tuple[str, ...] | None]
    # whether a column is declared as numbers; None for dates, which are read as written
    numbers: list[bool | None]
    line: int  # of ``@data``

    def defaults(self) -> list[str | None]:
        """Return the value of a cell that a sparse row leaves out, for each column.

        It is 0, or the first value of a nominal column; None for text, which must be given.
        """
        pairs = zip(self.levels, self.numbers, strict=True)
        return [known[0] if known else ("0" if number else None) for known, number in pairs]


def read_arff(path: Path, choose: Chooser, cells: Cells, how: Reading) -> Sheet:
    """Read an ARFF file: ? is missing; so are NA and the like if they are not nominal values."""
    if how.separator is not None or not cells.plain:
        raise PsephosError(
            f"{path.name!r} is an ARFF file, with commas between cells and decimal points: leave "
            "--separator and --thousands out, and give --decimal . if the model was fitted on a "
            "file with other marks."
        )
    notes, wrong = list[str](), Complaints()
    with opened(path, how.encoding, notes) as stream:
        head = arff_head(path.name, stream)
        spare = cells.gone.intersection(MISSING[1:])  # the first is empty
        named = [j for j, known in enumerate(head.levels) if spare.intersection(known or ())]
        kinds = enumerate(zip(head.levels, head.numbers, strict=True))
        texts = {j for j, (known, number) in kinds if known is None and number is False}
        number = Cells(()).number
        declared = [name for name, known in zip(head.names, head.levels, strict=True)
                    if None in map(number, known or ())]  # fmt: skip
        header = Header(path.name, head.names, relation=head.relation, declared=frozenset(declared))
        choice = choose(header)
        words = {*choice.words, *(texts.union(named) & set(choice.columns))}
        reading = SheetRows(header, choice._replace(words=sorted(words)), cells, cases=how.cases)
        lines: list[int] = []
        for line, row in arff_rows(path.name, head, stream, notes, wrong):
            for j in named:
                row[j] = Typed(row[j]) if row[j] in spare else row[j]
            reading.add(row)
            lines.append(line)
    if not lines:
        wrong.refuse()
        raise PsephosError(f"{path.name!r} has no rows below @data.")
    return reading.sheet(lines, notes, wrong)


def labels_declared(relation: str | None) -> int:
    """Return the n of ``-C n`` in the relation of a MEKA file; 0 without it.

    The first n columns are labels, or the last -n if n is negative.
    """
    found = _LABELS.search(relation or "")
    return int(found.group(1)) if found else 0


def arff_head(file: str, stream: Iterator[str]) -> Arff:
    """Return the header; `stream` is then at the first row."""
    relation, columns = "", list[tuple[str, tuple[str, ...] | None, bool | None]]()
    for line, text in enumerate(stream, 1):
        bare = text.strip()
        if not bare or bare.startswith("%"):
            continue
        word, _, rest = bare.partition(" ") if " " in bare else bare.partition("\t")
        kind = word.lower()
        if kind == "@relation":
            relation = _plain(rest)
        elif kind == "@attribute":
            columns.append(_attribute(file, line, rest.strip()))
        elif kind == "@data":
            if not columns:
                raise PsephosError(f"{file!r} declares no column (@attribute) before @data.")
            names, levels, numbers = (list(part) for part in zip(*columns, strict=True))
            return Arff(relation, names, levels, numbers, line)
        else:
            raise PsephosError(
                f"line {line} of {file!r} must be @relation, @attribute, @data or a comment (%); "
                f"got {shown(bare, CELL)}."
            )
    raise PsephosError(f"{file!r} has no @data: it is not an ARFF file, or was cut off.")


def _attribute(file: str, line: int, text: str) -> tuple[str, tuple[str, ...] | None, bool | None]:
    found = _NAME.fullmatch(text)
    if not found:
        raise PsephosError(f"line {line} of {file!r} declares a column without its type.")
    name, kind = _unquoted(found, 3), _WEIGHT.sub("", found.group(4).strip())
    if kind.startswith("{") and kind.endswith("}"):
        levels = tuple(word for word, _ in _cells(file, line, kind[1:-1]))
        return name, levels, False
    if _RANGE.sub("", kind.lower()) in _NUMBERS:
        return name, None, True
    if kind.lower() == "string" or kind.lower().startswith("date"):
        return name, None, False if kind.lower() == "string" else None
    raise PsephosError(
        f"line {line} of {file!r}: the type of column {shown(name)} must be numeric, real, "
        f"integer, nominal ({{a,b}}), string or date; got {shown(kind, CELL)}."
    )


def arff_rows(
    file: str, head: Arff, stream: Iterator[str], notes: list[str], wrong: Complaints
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of every row; cells that a sparse row leaves out are filled in.

    A missing value (an unquoted ?) is an empty cell. If the weights of rows differ, a sentence is
    added to `notes`; errors of rows that cannot be read are added to `wrong`.
    """
    weights = list[float]()
    known = [None if levels is None else frozenset(levels) for levels in head.levels]
    defaults, width = head.defaults(), len(head.names)
    for line, text in enumerate(stream, head.line + 1):
        bare = text.strip()
        if not bare or bare.startswith("%"):
            continue
        weight = _WEIGHT.search(bare)
        weights.append(float(weight.group(1)) if weight else 1.0)
        bare = bare[: weight.start()] if weight else bare
        with wrong.gather():
            if bare.startswith("{"):
                row = _sparse(file, line, bare, head, defaults)
            else:
                row = _row(file, line, bare)
            if len(row) != width:
                raise PsephosError(
                    f"line {line} of {file!r} has {plural(len(row), 'cell')} for "
                    f"{plural(width, 'column')}: check its quotes and commas."
                )
            for j, levels in enumerate(known):
                if levels is not None and row[j] and row[j] not in levels:
                    raise PsephosError(
                        f"line {line} of {file!r}: {shown(row[j], CELL)} is not one of the values "
                        f"that the column {shown(head.names[j])} declares."
                    )
            yield line, row
    if len(set(weights)) > 1:
        notes.append(
            f"weights of rows ({{{max(weights):g}}} at most) are not used: every row counts once "
            "(in Python fit takes sample_weight)."
        )


def _row(file: str, line: int, text: str) -> list[str]:
    if "'" not in text and '"' not in text:
        cells = [cell.strip() for cell in text.split("," if "," in text else "\t")]
        return ["" if cell == "?" else cell for cell in cells]
    return ["" if missing else word for word, missing in _cells(file, line, text)]


def _sparse(file: str, line: int, text: str, head: Arff, defaults: list[str | None]) -> list[str]:
    """Return the cells of ``{index value, ...}``, indices from 0."""
    if not text.endswith("}") or ("}" in text[:-1] and text.count("{") > 1):
        raise PsephosError(
            f"line {line} of {file!r} must end with the }} of its sparse row, which is one line."
        )
    given: dict[int, str] = {}
    inside, at = text[1:-1], 0
    while inside.strip() and at <= len(inside):
        index = _INDEX.match(inside, at)
        value = index and _VALUE.match(inside, index.end())
        end = value.end() if value else 0
        j = int(index.group(1)) if index else -1
        if (
            value is None
            or inside[end : end + 1] not in ("", ",")
            or j in given
            or j >= len(defaults)
        ):
            raise PsephosError(
                f"line {line} of {file!r}: {shown(inside[at:].strip(), CELL)} must begin with an "
                f"'index value' of its {len(defaults)} columns (from 0, each once): check its "
                "quotes and commas."
            )
        word = _unquoted(value, 3)
        given[j] = "" if word == "?" and value.group(3) is not None else word
        at = end + 1
    row: list[str] = []
    for j, default in enumerate(defaults):
        value = given.get(j, default)
        if value is None:
            raise PsephosError(
                f"line {line} of {file!r} leaves out the text {shown(head.names[j])}: a sparse row "
                "may leave out only numbers and nominal values."
            )
        row.append(value)
    return row


def _cells(file: str, line: int, text: str) -> list[tuple[str, bool]]:
    """Return the values between commas, without quotes, and whether each is an unquoted ?."""
    found: list[tuple[str, bool]] = []
    at = 0
    while True:
        match = _VALUE.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] != ","):
            raise PsephosError(
                f"line {line} of {file!r} cannot be divided into cells: check its quotes "
                f"({shown(text[at : at + CELL], CELL)})."
            )
        word = _unquoted(match, 3)
        found.append((word, word == "?" and match.group(3) is not None))
        if match.end() == len(text):
            return found
        at = match.end() + 1


def _unquoted(match: re.Match[str], last: int) -> str:
    """Return the group that matched; the first two are quoted, with backslash escapes.

    A quoted ? is not missing.
    """
    for group in range(1, last):
        if match.group(group) is not None:
            word = re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), match.group(group))
            return Typed(word) if word == "?" else word
    return (match.group(last) or "").strip()


def _plain(text: str) -> str:
    bare = text.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"" else bare
