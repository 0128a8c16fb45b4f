"""Text of the page: numbers, lists and short names of columns."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from psephos._types import Indices
from psephos.files.names import MINUS, class_words, series, true_minus, value_text
from psephos.files.names import decimals as number

__all__ = [
    "HELD_OUT", "LEAF_SHARE", "MINUS", "STATED", "VOTE_SHARE", "WEIGHTED_SHARE", "Wording",
    "cases_of", "chance", "class_kinds", "class_words", "count", "difference", "group_noun",
    "groups_of", "in_groups", "number", "of", "places", "plural", "plus_minus", "rate", "series",
    "small_difference", "span", "spanned", "three", "threshold_words",
]  # fmt: skip


_RANK = re.compile(r"(?:[A-Za-z]{1,2}|D_\d+)__")  # of k__Bacteria or D_0__Bacteria
_TIMES = " × "
_SPECIES = re.compile(r"(?:^|[|;]\s*)(?:s|D_6)__[A-Z][a-z]+[ _][a-z][a-z-]+$")
_PLAIN_SPECIES = re.compile(r"[A-Z][a-z]+[ _](?!unclassified|noname|sp$)[a-z]{3,}$")
_TAXA = re.compile(r"[A-Z][a-z]+_(?:unclassified|noname)$")  # found only in tables of taxa
_EMPTY = {"", "unclassified", "uncultured", "unknown", "unidentified", "noname", "metagenome"}


@dataclass(frozen=True)
class ShortName:
    """The name of a column on the page."""

    text: str
    italic: bool = False  # whether it is a species


def shown_names(names: Sequence[str]) -> dict[str, ShortName]:
    """Return the name of each column on the page."""
    taxa = any(map(_TAXA.match, names))
    return {
        name: ShortName(text, bool(_SPECIES.search(name) or (taxa and _PLAIN_SPECIES.match(name))))
        for name, text in short_names(names).items()
    }


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a unique short name for each name.

    A lineage such as ``k__Bacteria|p__Firmicutes|s__Parvimonas_micra`` becomes its last informative
    part, and underscores become spaces (*Parvimonas micra*). Names that would then be equal keep
    more of their preceding parts, up to the whole name. Products are shortened factor by factor.

    Parameters
    ----------
    names : sequence of str
        All columns of the table, since short names must differ from those not shown, too.
    """
    forms = {name: _forms(name) for name in names}
    level = dict.fromkeys(forms, 0)
    while True:
        short = {name: forms[name][k] for name, k in level.items()}
        times = Counter(short.values())
        alike = [n for n, k in level.items() if times[short[n]] > 1 and k + 1 < len(forms[n])]
        if not alike:
            return short
        for name in alike:
            level[name] += 1


def _forms(name: str) -> list[str]:
    """Return the possible short forms of a name, the shortest first and the whole name last."""
    factors = [_forms_of_one(factor) for factor in name.split(_TIMES)]
    most = max(map(len, factors))
    forms = [_TIMES.join(f[min(k, len(f) - 1)] for f in factors) for k in range(most)]
    return list(dict.fromkeys([*forms, name]))


def _forms_of_one(name: str) -> list[str]:
    parts = re.split(r"[|;]\s*", name)
    if len(parts) > 1 and all(_RANK.match(part) for part in parts if part):
        return [*_ends_of_lineage(parts), name]
    return [re.sub("_+", " ", name.strip("_")) or name, name]


def _ends_of_lineage(parts: Sequence[str]) -> list[str]:
    levels = [_RANK.sub("", part, count=1).replace("_", " ").strip() for part in parts]
    while levels and not levels[-1]:
        levels.pop()  # an unknown rank
    if not levels:
        return []
    first = len(levels) - 1
    while first and levels[first].lower() in _EMPTY:
        first -= 1
    return [": ".join(filter(None, levels[k:])) for k in range(first, -1, -1)]


# kinds of answers
STATED, VOTE_SHARE = "stated probability", "share of the vote"
LEAF_SHARE = "share of the training cases in the same leaf"
WEIGHTED_SHARE = f"class-weighted {LEAF_SHARE}"
_HUES = 8  # colours of classes, if there are more than two
SPACE = "\u202f"  # a narrow space that does not break


def difference(value: float, digits: int = 3) -> str:
    """Return a signed number; a dash if it is not finite."""
    text = number(value, digits)
    if not math.isfinite(value):
        return text
    return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"


def small_difference(value: float) -> str:
    """Return a difference to two decimals, or to three if it would round to 0."""
    return difference(value, 2 if abs(value) >= 0.005 else 3)


def count(value: float | None) -> str:
    """Return a mean of counts without decimals if it is whole or large, else with one."""
    if value is None or not math.isfinite(value):
        return "–"
    whole = abs(value - round(value)) < 5e-3
    digits = 0 if whole or abs(value) >= 1000 else 1
    text = true_minus(f"{round(value, digits):,.{digits}f}")
    # four digits read well without a gap
    return text.replace(",", SPACE if abs(value) >= 10_000 else "")


def plus_minus(mean: float | None, sd: float | None, digits: int = 3) -> str:
    """Return mean ± standard deviation."""
    text = number(mean, digits)
    return text if "–" in (text, number(sd, digits)) else f"{text} ± {number(sd, digits)}"


def plural(n: float, one: str, many: str = "") -> str:
    """Return '1 column', '4 columns'."""
    return f"{count(n)} {one if n == 1 else many or f'{one}s'}"


def three(value: float | None) -> str:
    """Return a number to three digits, with a true minus; a dash if it is not finite."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:#.3g}" if 1e-4 <= abs(value) < 999.5 else value_text(value)
    return true_minus(text.removesuffix("."))


def places(value: float, figures: int = 3) -> int:
    """Return the number of decimals that show so many significant digits of a number."""
    size = abs(value)
    return max(figures - 1 - math.floor(math.log10(size)), 0) if 0 < size < math.inf else 0


_IRREGULAR = {"mouse": "mice", "child": "children", "man": "men", "woman": "women"}


def group_noun(name: str) -> tuple[str, str]:
    """Return the noun for groups, such as ('subject', 'subjects'), from their column's name."""
    word = re.sub(r"[_ ]?id$", "", name.lower())
    if not re.fullmatch(r"[a-z]+[a-rt-z]", word):
        return "group", "groups"
    many = re.sub(r"([^aeiou])y$", r"\1ie", word)
    usual = f"{many}es" if re.search("(ch|sh|x)$", many) else f"{many}s"
    return word, _IRREGULAR.get(word, usual)


def groups_of(n: int, name: str) -> str:
    """Return '14 subjects', or '14 groups (patient no.)' if the name is not a word."""
    words = plural(n, *group_noun(name))
    named = "group" not in words or name in ("", "group", "groups")
    return words if named else f"{words} ({name})"


def in_groups(codes: Indices, every: Indices, name: str) -> str:
    """Return the number of groups that have some cases: ', in 9 of 14 subjects'; '' if none."""
    n = len(np.unique(every))
    return f", in {of(len(np.unique(codes)), n, group_noun(name)[n != 1])}" if len(codes) else ""


def cases_of(n: int, n_groups: int | None, name: str) -> str:
    """Return '126 cases of 14 subjects', or '126 cases' without groups."""
    cases = plural(n, "case")
    return f"{cases} of {groups_of(n_groups, name)}" if n_groups else cases


def rate(value: float | None) -> str:
    """Return a share to two decimals; a dash if it is not finite."""
    return number(value, 2)


def chance(value: float | None, digits: int = 2) -> str:
    """Return a probability to two decimals, with '<0.01' and '>0.99' for 0.00 and 1.00."""
    text = number(value, digits)
    return {"0.00": "<0.01", "1.00": ">0.99"}.get(text, text)


def threshold_words(t: float) -> str:
    """Return a threshold with two or three decimals, or with seven digits if it has more."""
    return f"{t:.3f}".removesuffix("0") if abs(round(t, 3) - t) < 1e-9 else f"{t:.7g}"


def span(low: float, high: float, text: Callable[[float, int], str] = number) -> str:
    """Return an interval such as '0.50 to 0.79'; '' if an end is not finite."""
    known = math.isfinite(low) and math.isfinite(high)
    return f"{text(low, 2)} to {text(high, 2)}" if known else ""


def spanned(mean: float, low: float, high: float) -> str:
    """Return a difference and its interval, if known: '+0.03 (−0.02 to +0.08)'."""
    interval = span(low, high, difference)
    return small_difference(mean) + (f" ({interval})" if interval else "")


def of(k: int, n: int, what: str = "") -> str:
    """Return '13 of 38 ill'."""
    return f"{count(k)} of {count(n)}" + (f" {what}" if what else "")


def class_kinds(n_classes: int, positive: int) -> list[str]:
    """Return the style class of each class: pos and neg for two, c0, c1, ... for more."""
    if n_classes == 2:
        return ["pos" if k == positive else "neg" for k in range(2)]
    return [f"c{k % _HUES}" for k in range(n_classes)]


@dataclass(frozen=True)
class Wording:
    """Texts of the panel of answers that depend on the source of these answers."""

    dot: str  # the meaning of a dot
    answer: str  # 'held-out answer'
    axis: str  # after the name of the axis
    by: str  # the source of the answers that the grid of several classes counts
    person: str  # before 'the model answered 0.31'
    absent: str  # for a model without answers
    source: str  # the first sentence of the note
    omits: str  # what intervals leave out, or hold for
    file: str  # the name of the csv file
    sources: Mapping[str, str] = field(default_factory=dict[str, str])  # of single models


HELD_OUT = Wording(
    dot="Each dot is one case, at the answer of models that had not seen it.",
    answer="held-out answer",
    axis="held out",
    by="each by the models that had not seen it",
    person="Held out,",
    absent="This model has no held-out answers.",
    source="All from the held-out answers of the folds' models, pooled.",
    omits="and leave out how much a model would change with other cases.",
    file="held-out-answers",
)
