"""Long names of columns, shortened to the end that distinguishes them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psephos._errors import PsephosError
from psephos.report.study.options import Named

LETTERS = 32  # a longer name is shortened
_RANK = re.compile(r"(?:[A-Za-z]{1,2}|D_\d+)__")  # of k__Bacteria or D_0__Bacteria
_TIMES = " × "
_SPECIES = re.compile(r"(?:^|[|;]\s*)(?:s|D_6)__[A-Z][a-z]+[ _][a-z][a-z-]+$")
_EMPTY = {"", "unclassified", "uncultured", "unknown", "unidentified", "noname", "metagenome"}


@dataclass(frozen=True)
class Shown:
    """What the page calls a column."""

    text: str
    italic: bool = False  # a species, as these are set
    unit: str = ""


def shown_names(names: Sequence[str], given: Mapping[str, Named]) -> dict[str, Shown]:
    """Return what the page calls each column: the name given for it, or its short name.

    Parameters
    ----------
    names : sequence of str
        All columns of the table.
    given : dict of str to Named
        See `psephos.report.study.options.read_names`.

    Raises
    ------
    PsephosError
        If two columns would be called alike.
    """
    short = short_names(names)
    found = {
        name: Shown(
            given[name].name or short[name] if name in given else short[name],
            bool(_SPECIES.search(name)) and not (name in given and given[name].name),
            given[name].unit if name in given else "",
        )
        for name in names
    }
    times = Counter(one.text for one in found.values())
    alike = [name for name in given if given[name].name and times[found[name].text] > 1]
    if alike:
        raise PsephosError(
            f"the name {found[alike[0]].text!r} given for the column {alike[0]!r} is that of"
            " another column, too: give it another one."
        )
    return found


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short name for each name, no two alike.

    A lineage such as ``k__Bacteria|p__Firmicutes|s__Parvimonas_micra`` becomes its last telling
    part, underscores as spaces (*Parvimonas micra*); any other name of more than `LETTERS` letters
    becomes its end, or head and end where ends are alike. Names that would then be alike take more
    of what stands before, up to the whole name. Products are shortened factor by factor.

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
    if len(name) <= LETTERS:
        return [name]
    sizes = range(LETTERS, len(name), 8)
    return [*(cut(name, n) for n in sizes for cut in (_end, head_and_end)), name]


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


def head_and_end(name: str, letters: int) -> str:
    """Return the first and the last letters of a name, as many in all."""
    if len(name) <= letters:
        return name
    head = letters // 2
    return f"{name[:head]}…{name[head + 1 - letters :]}"


def _end(name: str, letters: int) -> str:
    """Return the last letters of a name, from the start of a word if one is near."""
    end = name[-(letters - 1) :]
    word = re.search(r"[\s_.:;|/,-]+", end[: letters // 2])
    return "…" + (end[word.end() :] if word else end)
