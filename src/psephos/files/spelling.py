"""Words that differ in spelling alone: classes, groups, names of columns, ids of two files."""

import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from psephos.files.cells import plain_number
from psephos.files.levels import value_of
from psephos.files.near import shown, some

# Blanks and hyphens that no number needs: of two digits, and of a sign, they are kept.
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:[-_]| [-_] )(?=[^\W_])|(?<=\d)(?:[-_]| [-_] )(?=[^\W\d_])")
_BLANK = re.compile(r"(?<!\d) | (?!\d)")
_ZEROS = re.compile(r"[+-]?0\d", re.ASCII)
_PADDED = re.compile(r"(?<![\d.])0+(?=\d)", re.ASCII)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
# Of names: a unit in brackets, and the -1 that barcodes of cells end in.
_BESIDE = re.compile(r"\((?!\d+\))[^()]*\)|\[[^\[\]]*\]|(?<=\w{6})-1$")
# 1.5 is not 15, CD4- is not CD4.
_DIVIDING = re.compile(r"(?<!\d)[\s_./:-]+(?!$)|[\s_./:-]+(?!\d|$)")


def spelling_key(label: object, *, padded: bool = False) -> Hashable:
    """Return what labels share that differ only in case, in blanks or in how they write a number.

    Blanks do not count, nor do characters without width, accents and dashes of another encoding,
    nor - and _ between letters and digits. Between two digits all count: 1 2, 1-2 and 12 are three.
    007 is not 7: zeros before a number are those of a key, unless some may be `padded`;
    then 1.1 and 1.10 are two keys.
    """
    word = unicodedata.normalize("NFKC", str(label)).translate(_DASHES)
    word = "".join(c for c in word if unicodedata.category(c) != "Cf")
    word = _BLANK.sub("", _HYPHEN.sub("", " ".join(word.split())))
    word = plain_number(word.casefold())[1]
    word = _PADDED.sub("", word) if padded else word
    number = None if _ZEROS.match(word) else value_of(word)
    return word if number is None or (padded and number % 1) else number


def alike(labels: Iterable[Any], *, padded: bool = False) -> list[list[Any]]:
    """Return labels of one `spelling_key`, together."""
    found: dict[Hashable, list[Any]] = {}
    for label in labels:
        found.setdefault(spelling_key(label, padded=padded), []).append(label)
    return [same for same in found.values() if len(same) > 1]


def near_key(name: str) -> Hashable:
    """Return a name without what differs between files that mean the same by it.

    These are, beside what differs in its `spelling_key`, all marks but those of a number or at the
    end, a unit in brackets, and the -1 that barcodes of cells end in.
    """
    return spelling_key(_DIVIDING.sub("", _BESIDE.sub("", name).strip()), padded=True)


def nearly(wanted: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return the known name of each wanted name that differs from it in spelling alone."""
    of = {near_key(name): name for name in known}
    return {name: of[key] for name in wanted if (key := near_key(name)) != "" and key in of}


def renaming_words(alike: Mapping[str, str], most: int = 40) -> str:
    """Return the sentence on columns of a table that are nearly those that it lacks; '' if none."""
    pairs = [f"{shown(name)} (rename it {shown(one)})" for one, name in alike.items()]
    return f" It has {some(pairs, most)}, if these are the same in the same units." * bool(alike)
