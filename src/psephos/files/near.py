"""Names a user may have meant."""

from collections.abc import Iterable, Sequence
from itertools import count

_SHOWN = 6
CELL, _NAME = 60, 160  # letters; a name of seven ranks of a taxon is whole


def suggest(wanted: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?', or a list of what there is, to end a sentence."""
    from difflib import get_close_matches  # names are wrong rarely

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
    """Return a name or cell in quotes, its middle left out where it is longer than `most`."""
    text = repr(word if isinstance(word, int | float) else str(word))
    part = most // 2
    return text if len(text) <= most else f"{text[:part]}…{text[-part:]}"


def quoted(names: Iterable[object], most: int = _SHOWN) -> str:
    """Return the first few names, quoted, and how many more there are."""
    return some([shown(name, _NAME) for name in names], most)


def some(words: Sequence[str], most: int = 5) -> str:
    """Return the first few words, and how many more there are."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def numbered(names: Sequence[str]) -> list[str]:
    """Return names of which none stands twice: the second a is called a.2."""
    found, taken = dict[str, None](), set(names)
    for name in names:
        free = (one for k in count(2) if (one := f"{name}.{k}") not in taken)
        one = next(free) if name in found else name
        taken.add(one)
        found[one] = None
    return list(found)


def used(where: str, names: Sequence[str]) -> str:
    """Return the note on columns that stand beside measurements and are learnt from."""
    return (
        f"columns of {where} used as features: {quoted(names)}; leave out with --drop what is not "
        "known of new cases."
    )
