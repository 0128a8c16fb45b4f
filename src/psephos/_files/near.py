"""Names a user may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["quoted", "suggest"]

_SHOWN = 6


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?', or a list of what there is, to end a sentence."""
    names = [str(name) for name in known]
    lowered = {name.lower(): name for name in names}
    word = wanted.lower()
    within = [key for key in lowered if word and word in key][:3]
    close = get_close_matches(word, lowered, n=3, cutoff=0.6)
    near = [lowered[key] for key in dict.fromkeys([*close, *within])]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    if not names:
        return "there are none."
    return f"there are {quoted(names)}."


def quoted(names: Iterable[object]) -> str:
    """Return the first few names, quoted, and how many more there are."""
    words = [repr(str(name)) for name in names]
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
