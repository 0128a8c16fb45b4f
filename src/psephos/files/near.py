"""Names a user may have meant."""

import unicodedata
from collections.abc import Hashable, Iterable
from typing import Any

from psephos.files.cells import plain_number
from psephos.files.levels import is_led, value_of

_SHOWN = 6
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
CELL, _NAME = 60, 160  # letters; a name of seven ranks of a taxon is whole


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?', or a list of what there is, to end a sentence."""
    from difflib import get_close_matches  # names are wrong rarely

    names = [str(name) for name in known]
    lowered = {name.lower(): name for name in names}
    word = wanted.lower()
    within = [key for key in lowered if word and word in key][:3]
    close = get_close_matches(word, lowered, n=3, cutoff=0.6)
    near = [lowered[key] for key in dict.fromkeys([*close, *within])]
    if near:
        return f"did you mean {' or '.join(shown(name, _NAME) for name in near)}?"
    if not names:
        return "there are none."
    return f"there are {quoted(names)}."


def alike(labels: Iterable[Any]) -> list[list[Any]]:
    """Return labels that differ only in case, in blanks or in how they write a number, together.

    Characters without width, accents and dashes of another encoding are blanks in this sense; 007
    is not 7: zeros before a number are those of a key.
    """
    found: dict[Hashable, list[Any]] = {}
    for label in labels:
        word = unicodedata.normalize("NFKC", str(label)).translate(_DASHES)
        word = "".join(c for c in word if unicodedata.category(c) != "Cf")
        word = plain_number(" ".join(word.split()).casefold())[1]
        number = None if is_led(word) else value_of(word)
        found.setdefault(word if number is None else number, []).append(label)
    return [same for same in found.values() if len(same) > 1]


def shown(word: object, most: int = _NAME) -> str:
    """Return a name or cell in quotes, its middle left out where it is longer than `most`."""
    text = repr(word if isinstance(word, int | float) else str(word))
    part = most // 2
    return text if len(text) <= most else f"{text[:part]}…{text[-part:]}"


def quoted(names: Iterable[object]) -> str:
    """Return the first few names, quoted, and how many more there are."""
    words = [shown(name, _NAME) for name in names]
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
