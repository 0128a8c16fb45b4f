"""Numbers, lists and long names as a reader expects to see them."""

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
_TAXA = re.compile(r"[A-Z][a-z]+_(?:unclassified|noname)$")  # so only tables of taxa call a column
_EMPTY = {"", "unclassified", "uncultured", "unknown", "unidentified", "noname", "metagenome"}


@dataclass(frozen=True)
class ShortName:
    """What the page calls a column."""

    text: str
    italic: bool = False  # of species, which are set in italics


def shown_names(names: Sequence[str]) -> dict[str, ShortName]:
    """Return what the page calls each column."""
    taxa = any(map(_TAXA.match, names))
    return {
        name: ShortName(text, bool(_SPECIES.search(name) or (taxa and _PLAIN_SPECIES.match(name))))
        for name, text in short_names(names).items()
    }


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each name, no two alike.

    A lineage such as ``k__Bacteria|p__Firmicutes|s__Parvimonas_micra`` becomes its last telling
    part; underscores become spaces (*Parvimonas micra*). Names that would then be alike take more
    of what stands before, up to the whole name. Products are shortened factor by factor. No name
    is cut: the page wraps them where words end.

    Parameters
    ----------
    names : sequence of str
        All columns of the table: a short name differs from those not shown, too.
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
    """Return what a name may be shortened to, the shortest first and the whole name last."""
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
        levels.pop()  # a rank that was not found
    if not levels:
        return []
    first = len(levels) - 1
    while first and levels[first].lower() in _EMPTY:
        first -= 1
    return [": ".join(filter(None, levels[k:])) for k in range(first, -1, -1)]


# what answers are
STATED, VOTE_SHARE = "stated probability", "share of the vote"
LEAF_SHARE = "share of the training cases in the same leaf"
WEIGHTED_SHARE = f"class-weighted {LEAF_SHARE}"
_HUES = 8  # of classes, where there are more than two
SPACE = "\u202f"  # a narrow space that does not break


def difference(value: float, digits: int = 3) -> str:
    """Return a signed number; a dash where there is none."""
    text = number(value, digits)
    if not math.isfinite(value):
        return text
    return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"


def small_difference(value: float) -> str:
    """Return a difference to two decimals, to three where these would say nothing."""
    return difference(value, 2 if abs(value) >= 0.005 else 3)


def count(value: float | None) -> str:
    """Return a mean of counts: whole where it is whole, thousands apart, else one decimal."""
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
    """Return a number to three figures, with a true minus; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:#.3g}" if 1e-4 <= abs(value) < 999.5 else value_text(value)
    return true_minus(text.removesuffix("."))


def places(value: float, figures: int = 3) -> int:
    """Return how many decimals show so many figures of a number."""
    size = abs(value)
    return max(figures - 1 - math.floor(math.log10(size)), 0) if 0 < size < math.inf else 0


_IRREGULAR = {"mouse": "mice", "child": "children", "man": "men", "woman": "women"}


def group_noun(name: str) -> tuple[str, str]:
    """Return 'subject', 'subjects': what groups are called, by their column if it is a word."""
    word = re.sub(r"[_ ]?id$", "", name.lower())
    if not re.fullmatch(r"[a-z]+[a-rt-z]", word):
        return "group", "groups"
    many = re.sub(r"([^aeiou])y$", r"\1ie", word)
    usual = f"{many}es" if re.search("(ch|sh|x)$", many) else f"{many}s"
    return word, _IRREGULAR.get(word, usual)


def groups_of(n: int, name: str) -> str:
    """Return '14 subjects', or '14 groups (patient no.)' where the name is not a word."""
    words = plural(n, *group_noun(name))
    return (
        f"{words} ({name})" if "group" in words and name not in ("", "group", "groups") else words
    )


def in_groups(codes: Indices, every: Indices, name: str) -> str:
    """Return ', in 9 of 14 subjects': in how many of all groups some cases are; '' of no case."""
    n = len(np.unique(every))
    return f", in {of(len(np.unique(codes)), n, group_noun(name)[n != 1])}" if len(codes) else ""


def cases_of(n: int, n_groups: int | None, name: str) -> str:
    """Return '126 cases of 14 subjects', or '126 cases' without groups."""
    cases = plural(n, "case")
    return f"{cases} of {groups_of(n_groups, name)}" if n_groups else cases


def rate(value: float | None) -> str:
    """Return a share to two decimals; a dash where there is none."""
    return number(value, 2)


def chance(value: float | None, digits: int = 2) -> str:
    """Return a probability to two decimals: never 0.00 or 1.00, which would be certainty."""
    text = number(value, digits)
    return {"0.00": "<0.01", "1.00": ">0.99"}.get(text, text)


def threshold_words(t: float) -> str:
    """Return a threshold to two or three decimals; one that has more, to seven figures."""
    return f"{t:.3f}".removesuffix("0") if abs(round(t, 3) - t) < 1e-9 else f"{t:.7g}"


def span(low: float, high: float, text: Callable[[float, int], str] = number) -> str:
    """Return '0.50 to 0.79'; nothing where there is no interval."""
    known = math.isfinite(low) and math.isfinite(high)
    return f"{text(low, 2)} to {text(high, 2)}" if known else ""


def spanned(mean: float, low: float, high: float) -> str:
    """Return '+0.03 (−0.02 to +0.08)': a difference, and its interval if there is one."""
    interval = span(low, high, difference)
    return small_difference(mean) + (f" ({interval})" if interval else "")


def of(k: int, n: int, what: str = "") -> str:
    """Return '13 of 38 ill'."""
    return f"{count(k)} of {count(n)}" + (f" {what}" if what else "")


def class_kinds(n_classes: int, positive: int) -> list[str]:
    """Return what the style sheet calls each class: of two pos and neg, of more c0, c1, ..."""
    if n_classes == 2:
        return ["pos" if k == positive else "neg" for k in range(2)]
    return [f"c{k % _HUES}" for k in range(n_classes)]


@dataclass(frozen=True)
class Wording:
    """The words of the panel of answers that depend on where these are from."""

    dot: str  # what a dot is
    answer: str  # 'held-out answer'
    axis: str  # behind the name of the axis
    by: str  # whose answers the grid of several classes counts
    person: str  # before 'the model answered 0.31'
    absent: str  # where a model has none
    source: str  # the first sentence of the note
    omits: str  # what intervals leave out, or hold for
    file: str  # the name of the csv file
    sources: Mapping[str, str] = field(default_factory=dict[str, str])  # of models by themselves


HELD_OUT = Wording(
    dot="Each dot is one case, at the answer of models that had not seen it.",
    answer="held-out answer",
    axis="held out",
    by="each by the models that had not seen it",
    person="Held out,",
    absent="There are no held-out answers of this model.",
    source="All from the held-out answers of the folds' models, pooled.",
    omits="and leave out how much a model would change with other cases.",
    file="held-out-answers",
)
