"""Suggestions of similar names, and lists of names for messages."""

from collections.abc import Iterable, Sequence
from itertools import count

_SHOWN = 6
CELL, _NAME = 60, 160  # characters; a taxon with seven ranks is not shortened


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return 'did you mean ...?', or a list of the known names, to end a message."""
    from difflib import get_close_matches  # here: it is rarely needed

    names = [str(name) for name in known]
    lowered = {name.lower(): name for name in names}
    word = wanted.lower()
    within = [key for key in lowered if word and word in key][:3]
    close = get_close_matches(word, lowered, n=3, cutoff=0.6)
    begun = [key for key in within if len(word) > 3 and key.startswith(word)]
    near = [lowered[key] for key in dict.fromkeys([*begun, *close, *within])][:4]
    if near:
        return f"did you mean {' or '.join(shown(name, _NAME) for name in near)}?"
    if not names:
        return "there are none."
    return f"there are {quoted(names)}."


def shown(word: object, most: int = _NAME) -> str:
    """Return a name or cell in quotes, with its middle left out if it is longer than `most`."""
    text = repr(word if isinstance(word, int | float) else str(word))
    part = most // 2
    return text if len(text) <= most else f"{text[:part]}…{text[-part:]}"


def quoted(names: Iterable[object], most: int = _SHOWN) -> str:
    """Return the first few names, quoted, and the number of others."""
    return some([shown(name, _NAME) for name in names], most)


def some(words: Sequence[str], most: int = 5) -> str:
    """Return the first few words, and the number of others."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def numbered(names: Sequence[str]) -> list[str]:
    """Return unique names: the second a becomes a.2."""
    found, taken = dict[str, None](), set(names)
    for name in names:
        free = (one for k in count(2) if (one := f"{name}.{k}") not in taken)
        one = next(free) if name in found else name
        taken.add(one)
        found[one] = None
    return list(found)


def used(where: str, names: Sequence[str]) -> str:
    """Return the note on columns beside the measurements that are used as features."""
    return (
        f"columns of {where} used as features: {quoted(names)}; leave out with --drop those that "
        "are not known for new cases."
    )
