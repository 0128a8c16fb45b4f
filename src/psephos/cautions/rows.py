"""Cautions on rows: replicates, subjects, the order of the rows, small classes, batches."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from psephos._types import Floats, Indices, NDArray
from psephos.cautions.columns import explained, words_once
from psephos.cautions.dates import are_dates
from psephos.cautions.given import POSTAL, SUBJECT, Found, Given, parts_of, subject_of
from psephos.cautions.replicates import replicates
from psephos.cautions.stems import stem_form, stem_of
from psephos.files.cells import Cells
from psephos.files.names import plural
from psephos.files.near import CELL, shown, some

_BATCH = re.compile(
    r"(?:.* )?(?:batch|site|cent(?:er|re)|centro|plate|run|lane|scanner|device|slide|array|chip|"
    r"hospital|krankenhaus|hopital|clini(?:c|que|ca)|klinik|lab(?:or(?:atory)?)?|cohorte?|kohorte|"
    r"study|machine|maschine|ger(?:a|ae)t|instrument|operator|reader|ward|lote?|flow ?cell|"
    r"chargen?|zentrum|standort|station)(?: (?:id|nr|no|name|number|code|\d+))*"
)
#: Parts of the body, which a column "site" may hold.
_BODY = re.compile(
    r"\b(?:left|right|upper|lower|proximal|distal|(?:colon|rect|sigm|cec|caec|mamm|pulmon|"
    r"bronch|hepat|cerebr|prostat|ovar|uter|cervi|endometri|gastr|pancrea|thyroid|o?esophag|"
    r"laryn|pharyn|tonsil|duoden|jejun|fa?ec|vagin|abdom)\w+|colon|an(?:al|us)|breast|lungs?|liver|brain|"
    r"skin|kidneys?|renal|bladder|stomach|ile(?:um|al)|arm|leg|head|neck|trunk|back|chest|hand|"
    r"foot|face|bones?|lymph\w*|oral|mouth|tongue|nasal|nose|nares|gut|stool|saliva|blood|spine|"
    r"eye|hip|knee|links|rechts|lunge|leber|haut|niere|brust|gehirn|droite?|gauche|poumon|foie)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    rf"(?:(?:full|first|last|family|given|{SUBJECT}) )?(?:nome|nombres?|nom|name|naam|isim|ad[ıi]|"
    r"(?:ad[ıi]? ?)?soyad[ıi]?|imie|nazwisko|voornaam|achternaam|vorname|nachname|prenom|"
    r"apellidos?|apelido|sobrenome|cognome|surname|имя|фамилия|отчество|фио|姓名|氏名|名前|名字)"
    rf"(?: (?:complet[oa]?|(?:(?:d[aeiou]|del|of) )?(?:{SUBJECT})))?"
)
_COUNTED = re.compile(r"(\D*)(\d{1,3})", re.ASCII)
# Words that look like keys: P-007, KF01, TCGA-02-0001, 100213.
_KEY = re.compile(r"(?=\d{6,}$|.*[^\W\d_])[^\W\d_]* ?(?=[^\d\s]*\d)[\w./-]+")
_PLACED = {
    "well", "position", "pos", "time", "timepoint", "day", "tag", "week", "month", "visit", "year",
    "plot", "dose", *POSTAL,
}  # fmt: skip
# The last: as many groups are subjects, each of one class.
_LEAST, _EXPLAINED, _SUBJECTS = 20, 0.5, 10
# Maximum mean rows per subject; minimum share of subjects with one class, and its p-value.
_ROWS_EACH, _PURE, _BY_CHANCE = 8, 0.95, 1e-6
_SEVERAL, _FEWEST = 10, 5  # minimum subjects; in a column named patient, subject, ...
_CODED = 3  # in such a column, if they are keys such as D1, D2 and D3
_KEYS, _EVENLY = 20, 0.8  # minimum keys, and the share of them that have equally many rows
# FD026: minimum share of values with equally many rows; steps of the scale per value; maximum.
_SAME, _FINE, _SIZE = 0.9, 4, 1e9
_FAR = 5.0  # standard deviations below the expected changes in random order


def divided_replicates(given: Given) -> Found:
    """Find rows that are replicates of each other and not in one group."""
    pairs, tied = replicates(given.X), given.groups
    pairs = [(a, b) for a, b in pairs if tied is None or tied[a] != tied[b]]
    if not pairs:
        return Found()
    first, second = np.array(pairs).T
    n, whole = len(given.X), given.whole.tolist()
    many = {j: len(np.unique(given.X[:, j])) for j in [*given.levels, *whole]}
    fit = [j for j, k in many.items() if n / 4 < k < n * (0.9 if j in whole else 1)]
    fit = [j for j in fit if (given.X[first, j] == given.X[second, j]).all()]
    fit = [j for j in fit if not np.isnan(given.X[:, j]).any()]  # groups have no missing values
    many_pairs = [j for j in fit if _ties(given.X[:, j]) > 2 * len(pairs)]  # a count, say
    fit = [j for j in fit if j not in many_pairs or subject_of(str(given.names[j]))[0]]
    column = str(given.names[max(fit, key=lambda j: many[j])]) if fit else ""
    cells = {given.names[j]: given.cells(j) for j in given.levels} | {**given.aside}
    for name, form, codes, _ in _grouping(cells, many_ends=True) if not fit else ():
        many_rows = (0 if form else n / 4) < len(np.unique(codes)) < n
        if not column and many_rows and (codes[first] == codes[second]).all():
            column = f"{name}={form}" if form else name
    rows = sorted({i for pair in pairs for i in pair})
    words = some([f"{given.row(a)} and {given.row(b)}" for a, b in pairs])
    group = "Name the column that replicates have in common as the group"
    if column:
        group += f" (column {shown(column)} has one value in each pair)"
    elif tied is not None:
        group = "The group divides them: choose another group that has them in common"
    facts = {"n": str(len(rows)), "pairs": words, "group": group}
    return Found(rows=rows, facts=facts, remedy=[("--group", column)] if column else ())


def _ties(column: Floats) -> int:
    """Return the number of pairs of rows with the same value."""
    sizes = np.unique(column, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def subjects(given: Given) -> Found:
    """Find columns that name subjects with several rows each.

    Columns named patient, subject or similar; others if the rows of each value have one class.
    """
    found = _of_subjects(given)
    facts = {"answer": _of_one(given, [given.X[:, j] for j in found])} if found else {}
    return Found(found, (), facts, [("--group", str(given.names[j])) for j in found[:1]])


def keys(given: Given) -> Found:
    """Find words that look like keys in about equally many rows: of subjects, or of a design.

    If the target is not known, any words with equally many rows are found.
    """
    found = sorted({*_keyed(given)} - {*_of_subjects(given, [*given.levels])})
    return Found(found, remedy=[("--group", str(given.names[j])) for j in found[:1]])


def _of_subjects(given: Given, columns: Sequence[int] | None = None) -> list[int]:
    """Return the columns that name subjects, by default among those of words or whole numbers."""
    coded = [*given.levels, *given.whole.tolist()] if columns is None else columns
    return [j for j in coded if _column_names(given, j, keyed=j not in given.levels)]


def _keyed(given: Given) -> list[int]:
    """Return the columns of words that name subjects or look like keys."""
    return [j for j in given.levels if _column_names(given, j, keyed=True)]


def _column_names(given: Given, j: int, *, keyed: bool) -> bool:
    words, column, name = given.levels.get(j), given.X[:, j], given.names[j]
    stems = {re.sub(r"[\W\d_]+$", "", word) for word in words or ()}
    if len(stems) == 1 < len(words or ()) and subject_of(min(stems))[0]:  # donor1, donor2
        name = min(stems)
    return not are_dates(words or ()) and _names_subjects(
        given, column, name, words is not None, words, keyed=keyed
    )


def many_words(given: Given) -> Found:
    """Find other columns with many different words for so few rows, such as names of persons."""
    known = {*words_once(given).columns, *_keyed(given)}
    found = dict[int, str]()
    for j in [j for j in given.unlisted if j not in known]:
        sizes = np.unique(given.X[~np.isnan(given.X[:, j]), j], return_counts=True)[1]
        called = _NAME.fullmatch(" ".join(parts_of(given.names[j]))) and len(sizes) >= _LEAST
        many = called or (len(sizes) >= _SEVERAL and 3 * len(sizes) > sizes.sum())
        if many and not are_dates(given.levels[j]):
            found[j] = f"{len(sizes)} in {sizes.sum()} rows"
    facts = {"counts": some([*found.values()])} if found else {}
    return Found([*found], facts=facts, remedy=[("--drop", given.names[j]) for j in found])


def _of_one(given: Given, columns: Sequence[Floats]) -> str:
    if given.answers is None or min(_pure(given, column)[1].mean() for column in columns) < _PURE:
        return ""
    return f", whose rows have one {'class' if len(given.classes) else 'number'}"


def divided_subjects(given: Given) -> Found:
    """Find a column that models do not read, that names subjects and is not the group."""
    for name, form, codes in _aside_subjects(given):
        if not _tied(codes, given.groups):
            group = f"{name}={form}" if form else name
            many = f": {len(np.unique(codes))} groups such as "
            many = many + shown(str(stem_of(given.aside[name][0], form)), CELL) if form else ""
            how = f"{shown(group)}{many}"
            facts = {"which": shown(name), "how": how, "answer": _of_one(given, [codes])}
            return Found(facts=facts, remedy=[("--group", group)])
    return Found()


def _aside_subjects(given: Given) -> Iterator[tuple[str, str | None, Floats]]:
    for name, form, codes, words in _grouping(given.aside):
        known = [*{*given.aside[name]} - {""}]
        if form or _names_subjects(given, codes, name, words, known):
            yield name, form, codes


def _grouping(
    columns: Mapping[str, Sequence[str]], *, many_ends: bool = False
) -> Iterator[tuple[str, str | None, Floats, bool]]:
    """Yield each column that may be the group: its name, the pattern of its stems, and codes.

    Missing cells are NaN. The last element is whether the cells are words, not numbers.
    """
    for name, cells in columns.items():
        known = list(dict.fromkeys(cells))
        form = stem_form(known, many_ends=many_ends) if 2 * len(known) > len(cells) else None
        stems = [str(stem_of(word, form)) if form else word for word in cells]
        codes = np.unique(stems, return_inverse=True)[1]
        words = form is not None or any(Cells().number(word) is None for word in known if word)
        if not are_dates(known):
            yield name, form, np.where([word == "" for word in cells], np.nan, codes), words


def counts_within(given: Given) -> Found:
    """Find columns that count the rows of each subject: 1, 2, 3, or from 0; also V1, V2, V3."""
    groups = [given.X[:, j] for j in given.levels]
    groups += [codes for _, _, codes, _ in _grouping(given.aside)]
    if given.groups is not None:
        groups.append(_codes(given.groups))
    read = _numbered(given)
    columns = sorted({j for group in groups for j in _counting_each(read, group)})
    return Found(columns, remedy=[("--drop", given.names[j]) for j in columns])


def _numbered(given: Given) -> Given:
    """Return the table with words that differ only in a number (V1, V2) as that number."""
    X, levels = given.X.copy(), dict(given.levels)
    for j, words in given.levels.items():
        parts = [_COUNTED.fullmatch(word.strip()) for word in words]
        if all(parts) and len({part[1] for part in parts if part}) == 1:
            codes = np.array([*(float(part[2]) for part in parts if part), np.nan])
            X[:, j] = codes[np.nan_to_num(given.X[:, j], nan=-1).astype(np.intp)]
            del levels[j]
    return replace(given, X=X, levels=levels) if len(levels) < len(given.levels) else given


def _counting_each(given: Given, group: Floats) -> list[int]:
    """Return columns that count the rows of each group, from 0 or from 1."""
    sizes = np.unique(group, return_counts=True)[1]
    if np.isnan(group).any() or (sizes > 1).sum() < _LEAST or 2 * len(sizes) > len(group):
        return []
    values = given.X[:, given.whole]
    least, most = (end.reduce(values, axis=0) for end in (np.fmin, np.fmax))
    found = list[int]()
    for j in given.whole[np.isin(least, (0, 1)) & (most - least == sizes.max() - 1)].tolist():
        order = np.lexsort((given.X[:, j], group))
        ordered, starts = given.X[order, j], np.cumsum(sizes) - sizes
        expected = np.arange(len(order)) - np.repeat(starts, sizes) + ordered[0]
        found += [j] * bool((ordered == expected).all())
    return found


def _tied(codes: Floats, groups: NDArray[np.generic] | None) -> bool:
    """Return whether the rows of each code are all in one group."""
    pairs = set(zip(codes.tolist(), [] if groups is None else groups.tolist(), strict=False))
    return len(pairs) == len(np.unique(codes))


def _names_subjects(
    given: Given, column: Floats, name: str, words: bool, known_words: Sequence[str] | None,
    *, keyed: bool = True,
) -> bool:  # fmt: skip
    """Return whether a column names subjects; where `keyed`, words that look like keys are enough.

    Of a column of numbers `known_words` is None.
    """
    if len(column) < _LEAST or (given.answers is None and given.target):
        return False
    known = ~np.isnan(column)
    values, sizes = np.unique(column[known], return_counts=True)
    several = np.flatnonzero(sizes > 1)
    rows = int(sizes[several].sum())
    called, alone = subject_of(name)
    if not words and parts_of(name) == ["groups"]:  # as scikit-learn calls them
        called = alone = True
    keys = [f"{value:.0f}" for value in values] if known_words is None else known_words
    coded = words and all(map(_KEY.fullmatch, keys))
    least = _SEVERAL if known_words is None else _CODED if coded else _FEWEST
    few = called and least <= len(several) == len(values)
    many = len(several) >= _SEVERAL and len(values) * _ROWS_EACH >= known.sum()
    sure = called and (words or alone)  # "income per person" counts
    sure |= alone and many and (not words or all(map(_KEY.fullmatch, keys)))
    if (rows * 5 < known.sum() and not sure) or not (few or many):
        return False
    if given.answers is None:
        return called or sure or (keyed and words and bool(sizes.min() == sizes.max()))
    if sure or (keyed and _are_keys(keys, sizes, name)):
        return True
    first, pure = _pure(given, column)
    share = np.bincount(given.answers[known]) / known.sum()
    most = share.max()  # a power of it may underflow
    by_size = {
        int(k): k * np.log(most) + np.log(((share / most) ** k).sum()) for k in np.unique(sizes)
    }
    chance = sum(by_size[int(k)] for k in sizes[several[pure]])
    if pure.mean() < _PURE or chance > np.log(_BY_CHANCE):
        return False
    if words or called or alone:
        return True
    if not len(given.classes):  # a number that the target is made of
        return False
    changes = (np.diff(first) != 0).sum()  # few: intervals of the number predict the class
    return bool(2 * changes > (len(values) - 1) * (1 - (share**2).sum()))


def _are_keys(words: Sequence[str], sizes: Indices, name: str) -> bool:
    """Return whether words look like keys, are many, and have about equally many rows."""
    usual = np.bincount(sizes).argmax()
    even = len(sizes) >= _KEYS and (sizes == usual).mean() >= _EVENLY and usual > 1
    even = bool(even) and _PLACED.isdisjoint(parts_of(name)) and not are_dates(words)
    return even and len(words) > 0 and all(map(_KEY.fullmatch, words))


def _pure(given: Given, column: Floats) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the least class index of each value's rows, and which of several rows have one class.

    A numeric target counts as if each of its values were a class.
    """
    known = ~np.isnan(column)
    _, subject, sizes = np.unique(column[known], return_inverse=True, return_counts=True)
    ordered = np.asarray(given.answers)[known][np.argsort(subject, kind="stable")]
    starts = np.cumsum(sizes) - sizes
    first, last = (end.reduceat(ordered, starts) for end in (np.minimum, np.maximum))
    return first, (first == last)[sizes > 1]


def ordered(given: Given) -> Found:
    """Find an order of the rows that predicts the class; successive rows of a group count once."""
    if given.answers is None or not len(given.counts):
        return Found()
    facts = _drift(given.answers, "row")
    groups = None if given.groups is None else _codes(given.groups)
    if facts and groups is None:
        found = (given.X[:, j] for j in chain(_keyed(given), _of_subjects(given)))
        groups = next(chain(found, (codes for *_, codes in _aside_subjects(given))), None)
    if facts and groups is not None:
        facts = _drift(given.answers[np.diff(groups, prepend=np.nan) != 0], "group")
    return Found(facts=facts)


def _drift(answers: Indices, what: str) -> dict[str, str]:
    """Return how often the class changes, in words, if far less often than in random order."""
    n = len(answers)
    expected = n - (np.bincount(answers) ** 2).sum() / n
    changes = int((np.diff(answers) != 0).sum())
    far = expected - _FAR * np.sqrt(expected * (1 - expected / max(n - 1, 1)))
    if n < _LEAST or 2 * changes > expected or changes >= far:
        return {}
    times = [plural(round(k), "time") for k in (changes, expected)]
    return {"changes": times[0], "expected": times[1], "what": what}


def _codes(groups: NDArray[np.generic]) -> Floats:
    return np.unique(groups, return_inverse=True)[1].astype(np.float64)


def repeated_numbers(given: Given) -> Found:
    """Find a target with decimals each of whose values occurs in equally many rows, two or more.

    Rows of one group with one value count once.
    """
    y, what = given.numbers, "rows"
    if y is None or len(y) < _LEAST or np.abs(y).max() > _SIZE:
        return Found()
    if given.groups is not None:
        y, what = np.unique(np.stack([y, _codes(given.groups)]), axis=1)[0], "groups"
    values, sizes = np.unique(y, return_counts=True)
    usual, n = int(np.bincount(sizes).argmax()), len(values)
    digits = next((k for k in range(6) if np.allclose(np.round(values, k), values, 0, 1e-9)), 6)
    steps = np.diff(np.round(values * 10.0**digits).astype(np.int64))
    even = usual > 1 and (sizes % usual == 0).mean() >= _SAME and n >= _SEVERAL
    if not even or not digits:
        return Found()
    fine = steps.sum() >= _FINE * n * np.gcd.reduce(steps)  # not a scale, of halves or so
    facts = {"n": f"{(sizes == usual).sum()} of {n}", "k": str(usual), "what": what}
    return Found(facts=facts if fine else {})


def few_rows(given: Given) -> Found:
    """Find classes of fewer rows than there are folds."""
    small: list[int] = np.flatnonzero(given.counts < given.n_folds).tolist()
    if given.answers is None or not small:
        return Found()
    words = [f"{shown(given.classes[k], CELL)} ({given.counts[k]})" for k in small]
    facts = {"classes": some(words), "folds": str(given.n_folds)}
    return Found(rows=np.flatnonzero(np.isin(given.answers, small)).tolist(), facts=facts)


def _of_body(words: Sequence[str]) -> bool:
    """Return whether half of the words or more are parts of a body, such as sites of tumours."""
    parts = sum(_BODY.search(word) is not None for word in words)
    return 0 < len(words) <= 2 * parts


def batches(given: Given) -> Found:
    """Find a batch or site that predicts the class."""
    answers = given.answers
    if answers is None or not len(given.counts) or len(answers) < _LEAST:
        return Found()
    coded: list[int] = [*given.levels, *given.whole.tolist()]
    called = {j: " ".join(parts_of(given.names[j])) for j in coded}
    named = [j for j, name in called.items() if _BATCH.fullmatch(name)]
    named = [j for j in named if j in given.levels or called[j] != "charge"]  # of an ion
    body = [j for j in named if "site" in called[j].split() and _of_body(given.levels.get(j, ()))]
    named = [j for j in named if j not in body]
    columns = [j for j in named if explained(given.X[:, j], answers) > _EXPLAINED]
    words = [shown(given.names[j]) for j in columns]
    if given.groups is not None and len(np.unique(given.groups)) < _SUBJECTS:
        words += ["the group"] * (explained(_codes(given.groups), answers) > _EXPLAINED)
    remedy = [("--group", given.names[j]) for j in columns[:1]]
    return Found(columns, facts={"which": some(words)} if words else {}, remedy=remedy)
