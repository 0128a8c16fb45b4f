"""Words and numbers that are dates or times, in the forms that people write."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from psephos._types import Floats

_CLOCK = r"\d{1,2}[:h][0-5]\d(?:[:.][0-5]\d(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
_AFTER = rf"(?:[T\s,]+{_CLOCK}(?:\s?(?:Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}}))?)?"
_YEAR = r"(?P<y>[12]\d{3})"
_SHORT = r"(?P<y>\d{4}|\d{2})"
#: Months of English, German, French, Spanish, Italian, Portuguese, Dutch and Swedish, by their
#: first letters.
_FIRST = (
    r"(?:jan|f[eé][bv]|m[aä]r|maa|apr|avr|ma[iyj]|mei|ju[nil]|aug|ao[uû]|ago|sep|set|o[ck]t|out|nov|"
    r"de[czs]|d[eé]c|ene|abr|dic|gen|mag|giu|lug|ott)"
)
_MONTH = rf"{_FIRST}[^\W\d]*\.?"
#: English and German months, in full or shortened, beside only a day or a two-digit year.
_ONLY_MONTH = (
    r"(?:jan(?:uary?)?|feb(?:ruary?)?|mar(?:ch)?|m(?:ä|ae)?rz|apr(?:il)?|ma[yi]|june?|july?|juni|juli|"
    r"aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
#: abr/21, avr.-21, 1/abr: words such as set or mar are months only if there are several months.
_SHORT_MONTH = re.compile(
    rf"(?P<m>{_FIRST})(?:[^\W\d]{{0,2}}\.?[\s-]+|[^\W\d]*\.?/)['’]?\d{{2}}|"
    rf"\d{{1,2}}(?:\.?[\s-]+|\.)(?P<n>{_FIRST})[^\W\d]{{0,2}}\.?|"
    rf"\d{{1,2}}/(?P<o>{_FIRST})[^\W\d]*\.?",
    re.IGNORECASE,
)
_MONTHS = 2
_FORMS = [
    re.compile(form + _AFTER, re.IGNORECASE)
    for form in (
        rf"{_YEAR}(?P<s>[-/.])(?P<m>\d{{1,2}})(?P=s)(?P<d>\d{{1,2}})\.?",
        rf"{_YEAR}[-/](?P<m>\d{{1,2}})",
        rf"(?P<m>\d{{1,2}})[-/]{_YEAR}",
        rf"{_YEAR}(?P<m>\d\d)(?P<d>\d\d)(?:T\d{{4,6}}Z?)?",
        rf"{_YEAR}\s?[年년]\s?(?P<m>\d{{1,2}})\s?[月월](?:\s?(?P<d>\d{{1,2}})\s?[日일])?",
        rf"(?P<a>\d{{1,2}})(?P<s>[-/.])(?P<b>\d{{1,2}})(?P=s){_SHORT}",
        rf"(?:[^\W\d]{{2,10}}\.?,?\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?[\s/-]*(?:de\s)?"
        rf"{_MONTH}[\s,/-]*(?:de\s)?{_SHORT}",
        rf"{_YEAR}[\s./-]+{_MONTH}[\s/-]*(?P<d>\d{{1,2}})\.?",
        rf"(?:[^\W\d]{{2,10}}\.?,?\s)?{_MONTH}[\s./-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s,/-]+{_SHORT}",
        rf"{_MONTH}[\s/-]*{_YEAR}",
        rf"{_YEAR}[/-]{_MONTH}",
        rf"(?P<d>\d{{1,2}})\.?[\s-]*{_ONLY_MONTH}",
        rf"{_ONLY_MONTH}[\s-]*['’]?\d{{2}}",
        rf"{_YEAR}[\s-]?(?:Q[1-4]|W(?P<w>\d{{2}})(?:-?[1-7])?)",
        _CLOCK,
    )
]
#: HLA alleles (02:01, 24:02:01): all fields after the first are 01 to 19, unlike minutes.
_ALLELE = re.compile(r"(?!00)\d{2,3}(?::(?:0[1-9]|1\d)){1,3}")
_SHARE = 0.9


def is_date(word: str) -> bool:
    """Return whether a word is a date, a date with a time, or a time of day."""
    found = next(filter(None, (form.fullmatch(word.strip()) for form in _FORMS)), None)
    if found is None:
        return False
    each = found.groupdict()
    most = {"m": 12, "d": 31, "w": 53, "a": 31, "b": 31}
    inside = all(1 <= int(each[name] or 1) <= top for name, top in most.items() if name in each)
    return inside and min(int(each.get("a") or 1), int(each.get("b") or 1)) <= 12


def are_dates(words: Sequence[str]) -> bool:
    """Return whether there are several words, nine of ten or more of them dates, not alleles."""
    if len(words) < 2:
        return False
    head = words[:20]  # these suffice to reject most columns of words
    short = list(filter(None, (_SHORT_MONTH.fullmatch(word.strip()) for word in head)))
    months = {(m["m"] or m["n"] or m["o"]).lower() for m in short}
    forms = (is_date, _SHORT_MONTH.fullmatch) if len(months) >= _MONTHS else (is_date,)
    return (
        all(_share(forms, some) >= _SHARE for some in (head, words))
        and _share((_ALLELE.fullmatch,), words) < _SHARE
    )


def _share(forms: Sequence[Callable[[str], object]], words: Sequence[str]) -> float:
    return sum(any(form(word.strip()) for form in forms) for word in words) / len(words)


def are_written_days(values: Floats) -> bool:
    """Return whether whole numbers are dates, such as 20210209, 9022021 or 2092021."""
    days = np.unique(values[~np.isnan(values)]).astype(np.int64)
    front, middle, last = days // 10**6, days // 10**4 % 100, days % 10**4
    forms = ((days // 10**4, last // 100, last % 100), (last, middle, front), (last, front, middle))
    return len(days) > 2 and any(
        bool(((y >= 1900) & (y < 2101) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)).all())
        for y, m, d in forms
    )
