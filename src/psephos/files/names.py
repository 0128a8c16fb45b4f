"""Names of columns, categories and classes, and numbers formatted for reading."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from psephos.files.near import some

_WORD = re.compile(r"[^\W\d][\w.]*|\(.*\)|'.*'|\".*\"")
# a name with one of these is quoted in a sentence
_DIVIDES = re.compile(r"""[,;<>={}]|^['"\s]|\s$|^$|(?:^|\s)(?:and|or|if|then|not|in|is)(?:\s|$)""")
MINUS = "−"  # the minus of Unicode, for reading

_SIGN = re.compile(r"(^|[\s(\[{]|\de)-(?= ?\d)")  # as in words.js of the page
_DIGITS = 4
_ROUNDING = 1e-12  # relative to the numbers beside it: smaller values are rounding errors
_LISTED = 20  # names in a sentence
_CLASSES = 4  # classes of a vote that are named
_ROW = 1e15  # whole numbers up to here are written with all digits
_CANCELS, _MOST = 100.0, 15  # the ratio from which terms cancel; the most digits of their numbers
_MORE = (_DIGITS, 6, 9, 12, 17)
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Names:
    """The names of a table: of its columns, categories and classes.

    Parameters
    ----------
    columns : list of str
        One per column of the table.
    levels : dict of int to list of str
        The categories of each categorical column, by code.
    classes : list of str
        The classes of the target, in their order; none for numbers.
    say : callable of a (K,) vote, default=None
        Describes a vote in words, for reasons that consist of several votes.
    """

    columns: list[str]
    levels: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    classes: list[str] = field(default_factory=list[str])
    say: Callable[[Sequence[float]], str] | None = field(default=None, compare=False, repr=False)

    def value(self, column: int, value: float, scale: float = 0.0) -> str:
        """Return a value of a column as text: its category, its number, or 'missing'."""
        if math.isnan(value):
            return "missing"
        if column in self.levels:
            return self.level(column, int(value))
        return number(value, scale)

    def level(self, column: int, code: int) -> str:
        """Return the name of a category, or its code if it has none."""
        known = self.levels.get(column, [])
        return known[code] if 0 <= code < len(known) else str(code)

    def in_sentences(self) -> "Names":
        """Return the names as `sentence_name` writes them."""
        levels = {j: list(map(sentence_name, own)) for j, own in self.levels.items()}
        columns, classes = (list(map(sentence_name, own)) for own in (self.columns, self.classes))
        return replace(self, columns=columns, levels=levels, classes=classes)

    def select(self, columns: Sequence[int]) -> "Names":
        """Return the names of the table reduced to `columns`."""
        kept = {i: self.levels[j] for i, j in enumerate(columns) if j in self.levels}
        return replace(self, columns=[self.columns[j] for j in columns], levels=kept)


def sentence_name(name: str) -> str:
    """Return the name of a column, category or class for a sentence.

    It is quoted if it has one of ``, ; < > = { }`` or a word such as and, or, if, then, not, in,
    is, begins or ends with a blank, or is empty: ``dose``, ``'none, really'``.
    """
    return _in_quotes(name) if _DIVIDES.search(name) else name


def formula_name(name: str) -> str:
    """Return such a name for a formula: quoted unless it is one word or in brackets."""
    return name if _WORD.fullmatch(name) else _in_quotes(name)


def _in_quotes(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"


def number(value: float, scale: float = 0.0, digits: int = _DIGITS) -> str:
    """Return a number with four significant digits, or all before the point; 0 if it is rounding.

    `scale` is the size of the numbers beside it, relative to which rounding is decided.
    """
    if math.isnan(value):
        return "missing"
    size = abs(value)
    if size <= _ROUNDING * scale:
        return "0"
    if size < _ROW and value == int(value):
        return str(int(value))
    before = len(str(round(size))) if size < _ROW else 0
    return f"{value:.{max(digits, before)}g}"


def signs(text: str) -> str:
    """Return a sentence with true minus signs before numbers and in sums; names keep hyphens."""
    return _SIGN.sub(rf"\1{MINUS}", text)


def true_minus(text: str) -> str:
    """Return a number with the minus of Unicode, for reading."""
    return text.replace("-", MINUS)


def value_text(value: float, digits: int = 3) -> str:
    """Return a value with three significant digits and the minus of Unicode."""
    return true_minus(number(value, digits=digits))


def ends(values: Sequence[float]) -> list[str]:
    """Return the numbers of a range with enough digits to show their differences.

    Four digits, all before the point, and more if the differences are relatively small.
    """
    digits = sum_digits(max(map(abs, values)), max(values) - min(values))
    return [number(value, digits=digits) for value in values]


def sum_digits(largest: float, total: float = 1.0) -> int:
    """Return how many digits terms need so that their printed sum is right.

    Four; if terms cancel (the largest is at least a hundred times the total), more by the order of
    this ratio, up to 15. For a rule, whose total depends on the case, the total is 1.
    """
    if largest < _CANCELS * abs(total):
        return _DIGITS
    ratio = largest / abs(total) if total else math.inf
    return min(_DIGITS - 1 + len(str(int(ratio))), _MOST) if ratio < _ROW else _MOST


def fixed(value: float, digits: int = 3) -> str:
    """Return a number with `digits` decimals, independent of rounding errors.

    0.13749999999999998, computed for 0.1375, is 0.138 as well; minus zero is written as 0.
    """
    text = f"{round(value, 12):.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def decimals(value: float | None, digits: int = 3) -> str:
    """Return a number as `fixed` with the minus of Unicode; a dash if it is missing."""
    if value is None or not math.isfinite(value):
        return "–"
    return true_minus(fixed(value, digits))


def compared(value: float, bounds: Sequence[tuple[str, float]]) -> tuple[str, list[str]]:
    """Write a value and its bounds with just enough digits that every relation holds as printed.

    `bounds` are pairs (relation, bound) that hold for the value.
    """
    if not all(map(math.isfinite, (value, *(bound for _, bound in bounds)))):
        return number(value), [number(bound) for _, bound in bounds]
    for digits in _MORE:
        written = [
            (number(value, scale, digits), number(bound, scale, digits))
            for _, bound in bounds
            for scale in [max(abs(value), abs(bound))]
        ]
        same = all(
            (v == b) == (value == bound) and _HOLDS[relation](float(v), float(b))
            for (v, b), (relation, bound) in zip(written, bounds, strict=True)
        )
        if same and len({v for v, _ in written}) == 1:
            return written[0][0], [b for _, b in written]
    return repr(value), [repr(bound) for _, bound in bounds]


def percent(share: float) -> str:
    """Return a share in percent; 0 % and 100 % only if exact."""
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1.0:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def class_vote(
    vote: Sequence[float], scale: float, adds: bool, names: Sequence[str], answer: int,
    level: Sequence[float], code: Sequence[float],
) -> str:  # fmt: skip
    """Return a (K,) vote in words: ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``nothing``.

    Parameters
    ----------
    vote : sequence of float
    scale : float
        The size of the votes beside it, relative to which rounding errors are 0.
    adds : bool
        Whether it is a term of a sum, rather than a share.
    names : sequence of str
        Names of the classes.
    answer : int
        The class that the vote is for.
    level : sequence of float
        The vote with ties, where values differ only by rounding.
    code : sequence of float
        The vote for that class alone.
    """
    if all(abs(v) <= _ROUNDING * scale for v in vote) or not any(vote):
        return "nothing"
    names = list(map(sentence_name, names))
    if adds:
        return _added_words(vote, names, scale)
    if list(vote) == list(code):
        return names[answer]
    n = len(names)
    ties = [j for j, s in enumerate(level) if s == max(vote)] if n > 2 else []
    if len(ties) == n:
        return "each class alike"
    two = (1.0 + (vote[0] if answer else -vote[0])) / 2
    share = two if n == 2 else ((n - 1) * vote[answer] + 1) / n
    if len(ties) > 1:
        return f"{' and '.join(names[j] for j in ties)} {percent(share)} each"
    return f"{names[answer]} {percent(share)}"


def class_called(vote: Sequence[float], name: str) -> str:
    """Return `name` if the vote is for a single class; '' if it is a tie or empty."""
    first, second = sorted(vote)[-1:-3:-1] if len(vote) > 1 else (abs(vote[0]), 0.0)
    return name if first > 0 and first > second else ""


def _added_words(vote: Sequence[float], names: Sequence[str], scale: float) -> str:
    """Return the terms that a vote adds to the scores of classes, the largest first."""
    if len(vote) == 1:
        return f"+{number(abs(vote[0]), scale)} for {names[int(vote[0] > 0)]}"
    order = sorted(range(len(vote)), key=lambda k: -abs(vote[k]))
    size = vote[order[0]]
    if all(abs(v - size) <= 1e-9 * abs(size) for v in vote):
        return f"{_plus(size, scale)} for every class"
    moved = [k for k in order if abs(vote[k]) > _ROUNDING * scale and vote[k] != 0]
    more = len(moved) - _CLASSES
    words = ", ".join(f"{_plus(vote[k], scale)} for {names[k]}" for k in moved[:_CLASSES])
    return words + (f" and less for {more} more" if more > 0 else "")


def _plus(value: float, scale: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value, scale)}"


def label_vote(vote: Sequence[float], scale: float, adds: bool, names: Sequence[str]) -> str:
    """Return a vote for labels in words: ``a, c``, ``a 81.0 %, c 60.0 %``, ``+0.3 for a``."""
    names = list(map(sentence_name, names))
    there = [(n, v) for n, v in zip(names, vote, strict=True) if abs(v) > _ROUNDING * scale]
    if not any(v for _, v in there):
        return "nothing"
    if adds:
        return ", ".join(f"{_plus(v, scale)} for {n}" for n, v in there)
    if all(abs(v) == 1 for v in vote):
        return labels_called(vote, names)
    each = zip(names, vote, strict=True)
    return ", ".join(f"{n} {percent((1.0 + v) / 2.0)}" for n, v in each)


def labels_called(vote: Sequence[float], names: Sequence[str]) -> str:
    """Return the labels that a vote is for."""
    return ", ".join(n for n, v in zip(names, vote, strict=True) if v > 0) or "no label"


def numbers_called(vote: Sequence[float], names: Sequence[str]) -> str:
    """Return numbers with five significant digits, or all before the point, and their names."""
    each = ((number(v, digits=5), n) for v, n in zip(vote, names, strict=True))
    return ", ".join(f"{n} = {v}" if n else v for v, n in each)


def number_vote(vote: Sequence[float], scale: float, names: Sequence[str]) -> str:
    """Return a number, or several numbers with their names."""
    each = [(v, n and sentence_name(n)) for v, n in zip(vote, names, strict=True)]
    return ", ".join(f"{n} = {number(v, scale)}" if n else number(v, scale) for v, n in each)


def plural(count: int, one: str, many: str = "") -> str:
    """Return '1 voter', '2 voters'."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Return ``a, b and 3 more``: the first names, and the number of others."""
    return some(names, most)


def joined_words(joined: Mapping[str, tuple[str | None, int]]) -> str:
    """Return which classes were merged, renamed or left out, with their rows."""
    of: dict[str | None, list[str]] = {}
    for old, (new, n) in joined.items():
        of.setdefault(new, []).append(f"{sentence_name(old)} ({n})")
    each = [f"{series(olds)} taken as {sentence_name(new)}" for new, olds in of.items() if new]
    each += [f"{series(of[None])} left out"] if None in of else []
    return f"classes (--classes), with their rows: {'; '.join(each)}."


def series(words: Sequence[str]) -> str:
    """Return 'a, b and c'."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def class_words(name: str, target: str | None = None) -> str:
    """Return the name of a class that reads well in a sentence.

    A number has the target's name before it, and a name without a letter is quoted: “+”.
    """
    try:
        float(name)
    except ValueError:
        return name if any(map(str.isalnum, name)) else f"“{name}”"
    return f"{target or 'class'} {name}"


def threshold_words(name: str, threshold: float) -> str:
    """Return the condition under which a class is predicted."""
    return f"{sentence_name(name)} where its probability is at least {percent(threshold)}"


def backup_words(count: int) -> str:
    """Return the number of columns that are read if others are missing; '' if it is 0."""
    return f" (and {count} more where those are missing)" if count else ""
