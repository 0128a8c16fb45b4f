"""Values with a common stem: P000_V1 and P000_V2 are rows of the subject P000."""

import re
from collections import Counter
from collections.abc import Sequence

from psephos.files.near import CELL, shown

_LEAST, _ROWS_EACH = 10, 12  # minimum stems with several words; maximum mean words per stem
_MOST_ENDS = 16
_BY_CHANCE = 1e-4  # p-value of the set of last digits
# What precedes the last part of a word, which may be a date: punctuation, or letters after a digit.
_BEFORE_LAST = (
    re.compile(r"[\W_]+(?=(?:\d{4}-\d\d-\d\d|[^\W_]+)$)"),
    re.compile(r"(?<=\d)[^\W\d_]+(?=\d*$)"),
)


def stem_form(words: Sequence[str], *, many_ends: bool = False) -> str | None:
    """Return the pattern of distinct words of which several share a stem, or None.

    The first ``*`` of a pattern is the stem: ``*_*`` for P000_1, ``*?`` for 17a, and for 1001,
    1002, 1011, whose last digit counts; ``*.*.*`` for Andrew.hAd.1 if stems share stems. There must
    be fewer endings than stems, and at most 16, unless `many_ends`.

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
    words = [word.strip() for word in words]
    marks = [mark.search(words[0]) for mark in _BEFORE_LAST] if len(words) > 1 else []
    forms = [f"*{mark[0]}*" if mark.end() < len(words[0]) else "*?" for mark in marks if mark]
    if not forms and all(map(str.isdecimal, words)) and _last_counts(words):
        forms = ["*?"]
    for form in forms:
        stems = _stems(words, form, many_ends)
        if stems:  # that may have stems themselves: Andrew of Andrew.hAd.1
            coarser = stem_form(list(dict.fromkeys(stems)))
            return coarser + form[1:] if coarser else form
    return None


def _stems(words: Sequence[str], form: str, many_ends: bool) -> list[str]:
    """Return the stems of words if several words share each of enough of them, else none."""
    stems = [stem_of(word, form) or "" for word in words]
    ends = {word[len(stem) :] for word, stem in zip(words, stems, strict=True)}
    sizes = Counter(stems).values()
    several = [size for size in sizes if size > 1]
    numbers = all(map(str.isdecimal, words))
    fits = all(stems) and (numbers or form != "*?" or not any(map(str.isdigit, ends)))
    few = many_ends or (len(ends) < len(sizes) and len(ends) <= _MOST_ENDS)
    enough = len(several) >= _LEAST and 2 * sum(several) >= len(words) <= _ROWS_EACH * len(sizes)
    return stems if fits and few and enough else []


def _ending(words: Sequence[str]) -> str:
    """Return the ending that all words share, such as .png, .nii.gz or ), or ''.

    It starts with punctuation and has a letter, but no * or ?, the wildcards of a pattern.
    """
    first, rest = words[0].strip(), [word.strip() for word in words[1:]]
    if rest and first[-1:] in (")", "]") and all(w.endswith(first[-1]) for w in rest):
        return first[-1]
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
    most = Counter(stems).most_common(1)[0][0] or ""
    pair = [shown(word, CELL) for word, stem in zip(words, stems, strict=True) if stem == most]
    return (
        f"Values of {shown(name)} begin alike, as those of one subject do ({', '.join(pair[:2])}): "
        f"make the common part, such as {shown(most, CELL)}, the group (--group "
        f"{shown(f'{name}={form}')}); if the column is "
        "only left out, rows of one subject are in both the training and the test part."
    )
