"""Values with a common stem: P000_V1 and P000_V2 are rows of the subject P000."""

import re
from collections import Counter
from collections.abc import Sequence

from psephos.files.near import CELL, shown

_LEAST, _ROWS_EACH = 10, 12  # minimum stems with several words; maximum mean words per stem
_MOST_ENDS = 16
_BY_CHANCE = 1e-4  # p-value of the set of last digits
# The separator before the last part of a word: punctuation, or letters after a digit.
_BEFORE_LAST = re.compile(r"[\W_]+(?=[^\W_]+$)|(?<=\d)[^\W\d_]+(?=\d*$)")


def stem_form(words: Sequence[str], *, many_ends: bool = False) -> str | None:
    """Return the pattern of distinct words of which several share a stem, or None.

    The first ``*`` of a pattern is the stem: ``*_*`` for P000_1, ``*?`` for 17a, and for 1001,
    1002, 1011, whose last digit counts. There must be fewer endings than stems, and at most 16,
    unless `many_ends`.

    Examples
    --------
    >>> words = [f"P{i:03}_{k}" for i in range(30) for k in (1, 2)]
    >>> form = stem_form(words)
    >>> form, stem_of(words[3], form)
    ('*_*', 'P001')
    """
    if same := _ending(words):
        form = stem_form([w.strip()[: -len(same)] for w in words], many_ends=many_ends)
        return form and form + same
    found = _BEFORE_LAST.search(words[0].strip()) if len(words) > 1 else None
    number = found is None and all(word.strip().isdecimal() for word in words)
    if found is None and not (number and _last_counts([word.strip() for word in words])):
        return None
    letter = found is None or found.end() == len(words[0].strip())  # nothing follows: 17a
    form = "*?" if found is None or letter else f"*{found[0]}*"
    stems = [stem_of(word.strip(), form) for word in words]
    known = [stem for stem in stems if stem is not None]
    ends = {w.strip()[len(stem) :] for w, stem in zip(words, stems, strict=True) if stem}
    sizes = Counter(known).values()
    several = [size for size in sizes if size > 1]
    fits = len(known) == len(words) and (number or not (letter and any(map(str.isdigit, ends))))
    few = many_ends or (len(ends) < len(sizes) and len(ends) <= _MOST_ENDS)
    enough = len(several) >= _LEAST and 2 * sum(several) >= len(words) <= _ROWS_EACH * len(sizes)
    return form if fits and few and enough else None


def _ending(words: Sequence[str]) -> str:
    """Return the ending that all words share, such as .png or .nii.gz, or ''.

    It starts with punctuation and has a letter, but no * or ?, the wildcards of a pattern.
    """
    first, rest = words[0].strip(), [word.strip() for word in words[1:]]
    for mark in re.finditer(r"(?:[^\w*?]|_)(?=[^*?]*[^\W\d_])", first) if rest else ():
        same = first[mark.start() :]
        if not {"*", "?"} & {*same} and all(w.endswith(same) for w in rest):
            return same
    return ""


def _last_counts(numbers: Sequence[str]) -> bool:
    """Return whether the last digit counts the rows of each stem: 1001, 1002, 1011, 1013.

    All digits from 0 or 1 to the greatest must occur, and not by chance; a stem may lack some.
    """
    ends = sorted({int(number[-1]) for number in numbers})
    counts = ends in ([*range(len(ends))], [*range(1, len(ends) + 1)])
    return counts and (len(ends) / 10) ** len(numbers) < _BY_CHANCE


def stem_of(word: str, form: str) -> str | None:
    """Return the text that the first ``*`` of a pattern matches in a word; None without a match."""
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in form.split("*"))
    found = re.fullmatch(f"{first}(.+){'.*'.join(rest)}", word)
    return found and found[1]


def stem_advice(name: str, words: Sequence[str], form: str) -> str:
    """Return the sentence on a column whose values share stems: an example, and what to do."""
    stems = [stem_of(word.strip(), form) for word in words]
    most = Counter(stems).most_common(1)[0][0]
    pair = [shown(word, CELL) for word, stem in zip(words, stems, strict=True) if stem == most][:2]
    return (
        f"Values of {shown(name)} begin alike, as those of one subject do ({', '.join(pair)}): "
        f"make the common part the group (--group {shown(f'{name}={form}')}); if the column is "
        "only left out, rows of one subject are in both the training and the test part."
    )
