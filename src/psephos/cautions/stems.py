"""Values with a common stem: P000_V1 and P000_V2 are rows of the subject P000."""

import re
from collections import Counter
from collections.abc import Sequence

from psephos.files.near import CELL, shown

_LEAST, _ROWS_EACH = 10, 12  # minimum stems with several words; maximum mean words per stem
_MOST_ENDS, _FEWEST = 16, 5  # of one form; minimum stems with several stems, a fold each
_BY_CHANCE = 1e-4  # p-value of the set of last digits
# What precedes the last part of a word, which may be a date: punctuation, or letters after a digit.
_BEFORE_LAST = (
    re.compile(r"[\W_]+(?=(?:\d{4}-\d\d-\d\d|[^\W_]+)$)"),
    re.compile(r"(?<=\d)[^\W\d_]+(?=\d*$)"),
)
_APART = r"(?:[^\w*?()]|_)+"
_COUNTER = re.compile(rf"{_APART}[^\W\d_]+(?:{_APART}(?=[^\W_])|(?=\d))")  # ', visit ', '_V'


def stem_form(words: Sequence[str], *, many_ends: bool = False) -> str | None:
    """Return the first pattern of `stem_forms`, that of the fewest stems; None without one.

    Examples
    --------
    >>> words = [f"P{i:03}_{k}" for i in range(30) for k in (1, 2)]
    >>> form = stem_form(words)
    >>> form, stem_of(words[3], form)
    ('*_*', 'P001')
    """
    return next(iter(stem_forms(words, many_ends)), None)


def stem_forms(words: Sequence[str], many_ends: bool = False, least: int = _LEAST) -> list[str]:
    """Return the patterns of distinct words of which several share a stem, the fewest stems first.

    The first ``*`` of a pattern is the stem: ``*_*`` for P000_1, ``*?`` for 17a, and for 1001,
    1002, 1011, whose last digit counts; ``*.*.*`` for Andrew.hAd.1 if stems share stems, and ``*,
    visit *`` for 'Olsen, visit 1, take a'. There must be fewer endings than stems, and at most 16,
    unless `many_ends`; `least` stems must have several words, and 5 if they are parts of stems.
    """
    if same := _ending(words):
        bare = [w.strip()[: -len(same)] for w in words]
        return [one + same for one in stem_forms(bare, many_ends, least)]
    words = [word.strip() for word in words]
    marks = [mark.search(words[0]) for mark in _BEFORE_LAST] if len(words) > 1 else []
    forms = [f"*{mark[0]}*" if mark.end() < len(words[0]) else "*?" for mark in marks if mark]
    if not forms and all(map(str.isdecimal, words)) and _last_counts(words):
        forms = ["*?"]
    for form in forms:
        if stems := _stems(words, form, many_ends, least):  # that may have stems themselves
            coarser = stem_forms([*dict.fromkeys(stems)], least=_FEWEST)
            found = [form, *(one + form[1:] for one in coarser), *_counted_forms(words)]
            each = [({stem_of(word, one) for word in words}, one) for one in found]
            each.sort(key=lambda pair: (len(pair[0]), len(stem_of(words[0], pair[1]) or "")))
            return [*{len(own): one for own, one in reversed(each)}.values()][::-1]
    return []


def _counted_forms(words: Sequence[str]) -> list[str]:
    """Return the patterns of words that all have the same text before a number, such as _visit_."""
    found = list[str]()
    for mark in _COUNTER.finditer(words[0]):
        parts = [word.split(mark[0]) for word in words]
        counts = Counter(part[0] for part in parts)
        ends = {re.split(r"[\W_]", part[-1])[0] for part in parts}
        once = all(len(part) == 2 and all(part) for part in parts) and len(ends) < len(counts)
        if once and sum(n > 1 for n in counts.values()) >= max(_FEWEST, 0.9 * len(counts)):
            found.append(f"*{mark[0]}*")
    return found


def _stems(words: Sequence[str], form: str, many_ends: bool, least: int) -> list[str]:
    """Return the stems of words if several words share each of enough of them, else none."""
    stems = [stem_of(word, form) or "" for word in words]
    ends = {word[len(stem) :] for word, stem in zip(words, stems, strict=True)}
    sizes = Counter(stems).values()
    several = [size for size in sizes if size > 1]
    numbers = all(map(str.isdecimal, words))
    fits = all(stems) and (numbers or form != "*?" or not any(map(str.isdigit, ends)))
    few = many_ends or (len(ends) < len(sizes) and len(ends) <= _MOST_ENDS)
    enough = len(several) >= least and 2 * sum(several) >= len(words) <= _ROWS_EACH * len(sizes)
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


def stem_advice(name: str, words: Sequence[str]) -> str:
    """Return the sentence on a column whose values share stems: an example, and what to do."""
    forms, finer = stem_forms(words)[:2], ""
    counts = [Counter(stem_of(word.strip(), form) or "" for word in words) for form in forms]
    most = counts[0].most_common(1)[0][0]
    pair = [shown(word, CELL) for word in words if stem_of(word.strip(), forms[0]) == most]
    groups = [f"--group {shown(f'{name}={form}')}" for form in forms]
    if forms[1:]:
        part = shown(counts[1].most_common(1)[0][0], CELL)
        finer = f"; or, if parts such as {part} are independent, {groups[1]}: {len(counts[1])}"
    return (
        f"Values of {shown(name)} begin alike, as those of one subject do ({', '.join(pair[:2])}): "
        f"make the common part the group ({groups[0]}: {len(counts[0])} groups such as "
        f"{shown(most, CELL)}{finer}); if the column is "
        "only left out, rows of one subject are in both the training and the test part."
    )
