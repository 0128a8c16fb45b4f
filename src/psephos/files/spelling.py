"""Words that differ only in spelling: classes, groups, names of columns, ids of two files."""

import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from psephos.files.cells import plain_number
from psephos.files.levels import value_of
from psephos.files.near import shown, some

# Blanks and hyphens are ignored, except between two digits and in a sign.
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:[-_]| [-_] )(?=[^\W_])|(?<=\d)(?:[-_]| [-_] )(?=[^\W\d_])")
_BLANK = re.compile(r"(?<!\d) | (?!\d)")
_ZEROS = re.compile(r"[+-]?0\d", re.ASCII)
_PADDED = re.compile(r"(?<![\d.])0+(?=\d)", re.ASCII)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
# A unit in brackets in a name, and the -1 at the end of barcodes of cells.
_BESIDE = re.compile(r"\((?!\d+\))[^()]*\)|\[[^\[\]]*\]|(?<=\w{6})-1$")
# 1.5 is not 15, CD4- is not CD4.
_DIVIDING = re.compile(r"(?<!\d)[\s_./:-]+(?!$)|[\s_./:-]+(?!\d|$)")


def spelling_key(label: object, *, padded: bool = False) -> Hashable:
    """Return a key that is equal for labels that differ only in case, blanks or number notation.

    Ignored are blanks, characters without width, the encoding of accents and dashes, and - and _
    between letters and digits; not between two digits: 1 2, 1-2 and 12 have three keys. 007 is not
    7 unless numbers may be `padded` with zeros; then 1.1 and 1.10 have two keys.
    """
    word = unicodedata.normalize("NFKC", str(label)).translate(_DASHES)
    word = "".join(c for c in word if unicodedata.category(c) != "Cf")
    word = _BLANK.sub("", _HYPHEN.sub("", " ".join(word.split())))
    word = plain_number(word.casefold())[1]
    word = _PADDED.sub("", word) if padded else word
    number = None if _ZEROS.match(word) else value_of(word)
    return word if number is None or (padded and number % 1) else number


def alike(labels: Iterable[Any], *, padded: bool = False) -> list[list[Any]]:
    """Return the groups of several labels that have the same `spelling_key`."""
    found: dict[Hashable, list[Any]] = {}
    for label in labels:
        found.setdefault(spelling_key(label, padded=padded), []).append(label)
    return [same for same in found.values() if len(same) > 1]


def near_key(name: str) -> Hashable:
    """Return a key of a name that is more tolerant than `spelling_key`, to match two files.

    It also ignores punctuation (not in numbers, nor at the end), a unit in brackets, and the -1 at
    the end of barcodes of cells.
    """
    return spelling_key(_DIVIDING.sub("", _BESIDE.sub("", name).strip()), padded=True)


def nearly(wanted: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return, by wanted name, the known names with the same `near_key`."""
    of = {near_key(name): name for name in known}
    return {name: of[key] for name in wanted if (key := near_key(name)) != "" and key in of}


def renaming_words(alike: Mapping[str, str], most: int = 40) -> str:
    """Return a hint on columns whose names resemble missing ones; '' without any."""
    pairs = [f"{shown(name)} (rename it {shown(one)})" for one, name in alike.items()]
    return f" It has {some(pairs, most)}, if these are the same in the same units." * bool(alike)
