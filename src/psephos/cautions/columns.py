"""Cautions on columns that are not measurements, although a model could use them."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

import numpy as np

from psephos._types import Floats, Indices
from psephos.cautions.dates import are_dates, are_written_days
from psephos.cautions.given import POSTAL, Found, Given, parts_of, subject_of
from psephos.cautions.stems import stem_advice, stem_form
from psephos.files.cells import Cells
from psephos.files.near import CELL, quoted, shown, some
from psephos.files.spelling import alike

_LEAST = 10  # minimum rows; with fewer, order and distinct values are due to chance
_INDEX = re.compile(
    r"unnamed: ?0|level_0|__index_level_0__|index|row[ ._]?(?:index|names?|number|nr|no|id)|"
    r"\.\.\.1",
    re.IGNORECASE,
)
_RISING = re.compile(r"x\.?1?|number", re.IGNORECASE)  # an index only if the values increase
# The last word of the name of a column of identifiers; names of subjects are tested separately.
_ID = re.compile(
    r"[ups]?id|identifi(?:er|ant|kator)|identyfikator|nr|no|cod(?:e|igo|ice)|kodu?|key|number|"
    r"\w*nummer|numero?|numer|numara|mrn|ssn|serial|accession|bar[ck]ode?|recno|u?subjid|\w+nr|folio|"
    r"histori(?:a|al|que)|registr[oy]|registo|dossier|cartella|scheda|tessera|matricola|protokol|rut|"
    r"cpf|bsn|pesel|tckn?|caseid|akte|[qc]uest?ionn?(?:aire|ari?o)|fragebogen|vragenlijst|ankieta|"
    r"anket|encuesta|inquerito"
)
_PER = {"per", "pro", "par", "por", "je"}
_PLACES = {"easting", "northing", "utm", "coord", "coordinate", "x", "y", "hochwert", "rechtswert"}
_DATE = re.compile(r"date|\w*datum|fecha|timestamp|dob")
_EXACT = 2.0**53  # whole numbers up to here are doubles
_DIGITS, _FIRST_DAY, _LAST_DAY, _SERIAL = 10**6, 1_011_900, 10**8, 10_000
_ROWS_EACH = 5  # minimum rows of each range of the target
_NOISE, _STEPS, _SUMMED = 1e-3, 8, 4  # share of variance left, columns tried, columns of a sum
_CLASSES, _RANGES = "the class", "the range of the target"
_GROUPED = (
    " If {} names subjects or batches of several rows, name it as the group (--group): if it is "
    "only left out, rows of one of them are in both the training and the test part."
)
_EVEN = 2.4  # kurtosis: 1.8 of a uniform, 3 of a normal distribution
# Ids in columns of other names: minimum rows; minimum value; equal pairs that random numbers would
# have; the Kolmogorov-Smirnov distance from a uniform distribution, times sqrt(rows).
_MANY, _FOUR_DIGITS, _PAIRS, _FAR = 100, 1000, 5, 1.36
_BLOCK = 1.1  # the greatest of ids that were issued together is at most a tenth above the least
# FD009: share of the rows outside the commonest class; maximum codes per class, and their range.
_NEARLY, _FEW, _RANGE = 0.98, 3, 100
_GONE = 0.1  # maximum share of missing values in a copy of the target
_ABSENT = 3  # a code for "no answer" is farther than this above a scale from 0 or 1
_SISTERS = 3  # minimum columns whose names differ in a number, such as q1, q2, q3
_SCALE = 10  # the greatest range of answers on a scale
_NEXT = 5  # of the greatest values, than which 99 must be more frequent
_SHORT = 100  # smaller sentinels, such as 9 or 99, may be measured values as well
# Of these codes one row is enough; of other codes above 100 two.
_ONCE: tuple[float, ...] = (999, 999.9, 9999, 99999, 999999, 1e20, 1e30)
_ONCE += tuple(np.array(_ONCE, np.float32).tolist())  # 999.9 of a float32 is another float64
_CODES = (7, 8, 9, 77, 88, 97, 98, 99, 99.9, 777, 888, 998, 7777, 8888, 9998, 65535, *_ONCE)
_CODES += (float(np.float32(99.9)),)
#: Words for "not known" in nine languages, without accents.
_UNKNOWN = re.compile(
    r"unk(?:nown)?|not (?:known|available|reported|recorded)|no data|missing|don ?t know|dk|"
    r"unbekannt|fehlend|keine angabe|k a|wei(?:ß|ss) nicht|inconnue?s?|non (?:renseigne|connu)e?|"
    r"nsp|ne sait pas|manquante?|desconocid[oa]s?|sin datos?|no sabe|ns nc|desconhecid[oa]s?|"
    r"(?:sem|s) (?:dados|informacao)|nao (?:sabe|informado|disponivel)|sconosciut[oaie]|ignot[oa]|"
    r"dato mancante|non (?:noto|disponibile)|onbekend|geen gegevens|nieznan[yae]|brak danych|"
    r"bilinmiyor|bilinmeyen|belirtilmemis"
)
#: Names of the columns of clusters of cells that Scanpy and Seurat write, with their settings.
_CLUSTERS = re.compile(
    r"(?:.* )?(?:leiden|louvain|seurat clusters?|phenograph|w?snn(?= res)|k ?means(?= clus)|"
    r"h?dbscan)"
    r"(?: (?:clusters?|res(?:olution)?|r|\d+))*"
)
_SENTINELS = [-1, -2, -1000, -32768, *_CODES, *(-value for value in _CODES)]


def _drop(given: Given, columns: Sequence[int] | Indices, **facts: str) -> Found:
    kept = [int(j) for j in columns]
    if not kept:
        return Found()
    first = given.levels.get(kept[0])
    facts["such"] = f" (such as {shown(first[0], CELL)})" if first else ""
    return Found(kept, facts=facts, remedy=[("--drop", given.names[j]) for j in kept])


def _naming(given: Given, columns: Indices) -> Found:
    """Report columns that name or count the rows; one without missing values may be the id."""
    full = {given.names[j] for j in columns.tolist() if not np.isnan(given.X[:, j]).any()}
    by = f", or name {'it' if len(columns) == 1 else 'one'} as the id" if full else ""
    found = _drop(given, columns, id=by)
    return found._replace(remedy=[("--id" if v in full else flag, v) for flag, v in found.remedy])


def dates(given: Given) -> Found:
    """Find dates and times, by type, as words, or as numbers such as 20210209."""
    columns = [j for j, own in given.unlisted.items() if are_dates(own)]
    least, most = (end.reduce(given.X[:, given.whole], axis=0) for end in (np.fmin, np.fmax))
    whole = given.whole[(least >= _FIRST_DAY) & (most < _LAST_DAY)]
    written = [int(j) for j in whole if are_written_days(given.X[:, j])]
    serial: list[int] = given.whole[least >= _SERIAL].tolist()  # days or seconds since an origin
    written += [j for j in serial if any(map(_DATE.fullmatch, parts_of(given.names[j])))]
    return _drop(given, sorted({*columns, *written, *given.times}))


def words_once(given: Given) -> Found:
    """Find columns of text in which most rows have a unique value: names, ids, free text.

    For free text (most values of three words or more) it is enough that there are more than a third
    as many values as rows.
    """
    columns, many = list[int](), list[str]()
    ids, stems = set[int](), dict[int, str]()
    for j, words in given.words.items():
        codes = given.X[:, j]
        counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(words))
        different, text = (counts > 0).sum(), sum(len(word.split()) > 2 for word in words)
        remarks = 2 * text > len(words) and 3 * different > counts.sum()
        if different >= _LEAST and (remarks or 2 * (counts == 1).sum() > counts.sum()):
            columns.append(j)
            many.append(f"{different} in {counts.sum()} rows")
            form = None if are_dates(words) else stem_form(words)  # dates do not name cases
            stems |= {j: form} if form else {}
            names = not are_dates(words) and not any(" " in word for word in words)
            if names and different == len(codes):
                ids.add(j)
    rest = [given.names[j] for j in columns if j not in stems]
    them = "it" if len(columns) == 1 else quoted(rest) if stems else "them"
    one = "it" if len(rest) == 1 else "one"
    advice = [f"Leave {them} out{f', or name {one} as the id' if ids else ''}."] * bool(rest)
    advice += [stem_advice(given.names[j], given.words[j]) for j in stems]
    found = _drop(given, columns, counts=some(many), advice=" ".join(advice))
    flags = {given.names[j]: ("--id", given.names[j]) for j in ids}
    flags |= {given.names[j]: ("--group", f"{given.names[j]}={form}") for j, form in stems.items()}
    return found._replace(remedy=[flags.get(name, (flag, name)) for flag, name in found.remedy])


def _counting(given: Given) -> tuple[Indices, Indices]:
    """Return the columns that hold a saved index, and others that count the rows."""
    n, kept = len(given.X), given.different
    if n < _LEAST or not len(kept):
        return kept[:0], kept[:0]
    values = given.X[:, kept]
    low, high = (end.reduce(values, axis=0) for end in (np.fmin, np.fmax))
    steps, before = np.diff(values, axis=0), np.fmax.accumulate(values, axis=0)[:-1]
    names = [given.names[j] for j in map(int, kept)]
    called = np.array([_INDEX.fullmatch(name) is not None for name in names])
    of_rising = np.array([_RISING.fullmatch(name) is not None for name in names])
    rises, first = ~(values[1:] <= before).any(axis=0), values[0]  # NaN: no comparison is true
    saved = called | (of_rising & rises & (first >= 0) & (first < n))
    saved |= (first == 0) & (steps == 1).all(axis=0)
    counting = high - low < np.where(rises, 2 * n, n)
    return kept[saved], kept[counting & ~saved]


def counts_rows(given: Given) -> Found:
    """Find numbers that count the rows."""
    return _naming(given, _counting(given)[1])


def saved_index(given: Given) -> Found:
    """Find a row index that a program wrote into the file."""
    return _naming(given, _counting(given)[0])


def ids(given: Given) -> Found:
    """Find numbers that identify the rows: of many digits, or in a column named id or similar.

    In a column of such a name a tenth of the numbers may repeat, if all have five digits or more:
    then it may be the group.
    """
    if len(given.X) < _LEAST:
        return Found()
    rest: list[int] = np.setdiff1d(given.whole, given.different).tolist()
    again = [
        j
        for j, own in zip(rest, given.X[:, rest].T, strict=True)
        if _is_called(given.names[j]) and not POSTAL & {*parts_of(given.names[j])}
        and np.nanmin(own) >= _SERIAL
        and len(np.unique(own[~np.isnan(own)])) >= (1 - _GONE) * len(own)
    ]  # fmt: skip
    found, names = _ids_once(given), [given.names[j] for j in again]
    if not names:
        return found
    more = f"; if numbers occur in several rows ({quoted(names)}), name it as the group instead"
    remedy = [*found.remedy, *(("--group", name) for name in names)]
    facts = {"id": found.facts.get("id", "") + more}
    return found._replace(columns=[*found.columns, *again], facts=facts, remedy=remedy)


def _ids_once(given: Given) -> Found:
    kept = np.setdiff1d(given.different, np.concatenate(_counting(given)))
    if not len(kept):
        return Found()
    low, high = (end.reduce(given.X[:, kept], axis=0) for end in (np.fmin, np.fmax))
    long = low >= _DIGITS
    long[long] = np.trunc(np.log10(low[long])) == np.trunc(np.log10(high[long]))
    held = given.X[:, kept[long]]
    apart = (held - np.nanmean(held, axis=0)) / np.nanstd(held, axis=0)
    fourth = np.nanmean(apart**4, axis=0)
    long[long] = (fourth < _EVEN) | (high[long] < _BLOCK * low[long])
    words = [parts_of(given.names[j]) or [""] for j in map(int, kept)]
    called = np.array([_is_called(given.names[j]) for j in map(int, kept)])
    steps = np.nan_to_num(np.diff(np.sort(given.X[:, kept], axis=0), axis=0)).astype(np.int64)
    few = (high - low) / np.gcd.reduce(steps, axis=0) * 2 * _PAIRS <= len(given.X) ** 2
    issued = few & (low >= _FOUR_DIGITS) & (len(given.X) >= _MANY)
    issued[issued] = [_are_issued(given, j) for j in map(int, kept[issued])]
    long |= issued
    long &= [_PLACES.isdisjoint(of) for of in words]
    return _naming(given, kept[long | (called & (low >= 0))])


def _is_called(name: str) -> bool:
    words = parts_of(name) or [""]
    if words == ["number"] or _PER & {*words}:
        return False
    return subject_of(name)[1] or _ID.fullmatch(words[-1]) is not None


def _are_issued(given: Given, j: int) -> bool:
    """Return whether numbers are uniform, unordered, and not correlated with the target."""
    known = ~np.isnan(given.X[:, j])
    values, n = given.X[known, j], known.sum()
    spread = (np.sort(values) - values.min()) / np.ptp(values)
    far = np.abs(spread - np.linspace(0, 1, n)).max()
    rises = (np.diff(values) > 0).mean()
    answers = np.arange(n) if given.answers is None else given.answers[known]
    tells = np.abs(np.corrcoef(values, answers)[0, 1])
    return bool(far < _FAR / np.sqrt(n) and 0.25 < rises < 0.75 and tells < 3 / np.sqrt(n))


def beyond_exact(given: Given) -> Found:
    """Find whole numbers of more digits than a double keeps."""
    with np.errstate(invalid="ignore"):
        large = given.whole[(np.abs(given.X[:, given.whole]) > _EXACT).any(axis=0)]
    return _drop(given, [j for j in large if _has_many_digits(given.X[:, j])])


def _has_many_digits(values: Floats) -> bool:
    return any(float(f"{v:.15g}") != v for v in values[np.abs(values) > _EXACT].tolist())


def sentinels(given: Given) -> Found:
    """Find numbers such as -999, and words such as unknown, that seem to mean a missing value."""
    p, found = len(given.names), dict[int, list[float]]()
    places, target = dict[tuple[float, str], list[str]](), _target_numbers(given)
    parts = [given.X] if target is None else [given.X, target[:, None]]
    for start, X in zip((0, p), parts, strict=False):
        ends = np.isin([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)], _SENTINELS)
        for j in np.flatnonzero(ends.any(axis=0)).tolist():
            codes = [] if start + j in given.levels else _far_codes(X[:, j])
            if not codes:
                continue
            found[start + j], others = codes, X[~np.isin(X[:, j], codes), j]
            where = f"the target {shown(given.target)}" if start else shown(given.names[j])
            beside = f"{np.nanmin(others):.6g} to {np.nanmax(others):.6g}"
            for value in codes:
                places.setdefault((value, beside), []).append(where)
    found = dict(sorted(_with_sisters(given, found, places).items()))
    words = [f"{v:.7g} in {some(at)} (the others are {by})" for (v, by), at in places.items()]
    pairs = [(j, value) for j, codes in found.items() for value in codes]
    unknown = _unknown_words(given)
    words += [f"{shown(word, CELL)} in {shown(given.names[j])}" for j, word in unknown]
    missing = [("--missing", word) for word in dict.fromkeys(word for _, word in unknown)]
    held = {v: np.flatnonzero(np.equal(given.X, v).any(axis=0)).tolist() for _, v in pairs}
    safe = {v for v, there in held.items() if v < 0 and {(j, v) for j in there} <= {*pairs}}
    at = {(j, v): given.names[j] if j < p else given.target for j, v in pairs}
    at |= _families(given, [pair for pair in pairs if pair[0] < p])
    marks = [("--missing", f"{f'{at[j, v]}=' * (v not in safe)}{v:.7g}") for j, v in pairs]
    rest = ""
    if p in found and given.numbers is None:
        rest = f"; --classes {found[p][0]:.7g}= leaves out the rows of that class"
        marks[-len(found[p]) :] = [("--classes", f"{value:.7g}=") for value in found[p]]
    elif p in found:
        rest = "; --task numbers --unlabeled '' leaves out rows without a target"
        marks += [("--task", "numbers"), ("--unlabeled", "")]
    if dubious := [one for one in given.classes if _says_unknown(one)]:
        words += [f"{shown(one, CELL)} in the target {shown(given.target)}" for one in dubious]
        marks += [("--classes", f"{one}=") for one in dubious]
        rest = f"; --classes {shown(f'{dubious[0]}=')} leaves out the rows of that class"
    columns = sorted({j for j in found if j < p} | {j for j, _ in unknown})
    return Found(columns, (), {"values": "; ".join(words), "rest": rest}, [*marks, *missing])


def _unknown_words(given: Given) -> list[tuple[int, str]]:
    """Return the words that mean "not known", here or in another column: pairs with the column."""
    every = [(j, w, "+" not in own) for j, own in given.unlisted.items() for w in own]
    declared = given.declared  # beside + a hyphen is a finding
    return [(j, w) for j, w, odd in every if _says_unknown(w) or (odd and w.strip() in declared)]


def _says_unknown(word: str) -> bool:
    return _UNKNOWN.fullmatch(" ".join(parts_of(word))) is not None


def _families(given: Given, pairs: Sequence[tuple[int, float]]) -> dict[tuple[int, float], str]:
    """Return, by column and code, patterns of numbered columns (q1, q2, ...) that all have a code.

    q[0-9]* is used if q* would match another column, or if there are groups: the name of their
    column is not known here.
    """
    families = defaultdict[tuple[str, float], list[int]](list)
    for j, v in pairs:
        families[re.sub(r"\d+(?=\D*$)", "*", given.names[j]), v].append(j)
    known, patterns = [*given.names, given.target, *given.aside], dict[tuple[int, float], str]()
    for (stem, v), own in families.items():
        forms = [stem.replace("*", "[0-9]*"), *[stem] * (given.groups is None)]
        for form in forms if len(own) > 2 else ():
            if [name for name in known if fnmatchcase(name, form)] == [given.names[j] for j in own]:
                patterns |= {(j, v): form for j in own}
    return patterns


def _with_sisters(
    given: Given, found: dict[int, list[float]], places: dict[tuple[float, str], list[str]]
) -> dict[int, list[float]]:
    """Return the codes by column, also those that three sisters have and a column has rarely.

    Sisters of q11 are q1, q2, q3, and of a column of 1 to 5 all other columns of 1 to 5.
    """
    named = ["" if j in given.levels else re.sub(r"\d+", "*", k) for j, k in enumerate(given.names)]
    for forms in (named, _scales(given, found)) if found else ():
        _add_to_sisters(given, forms, found, places)
    return found


def _scales(given: Given, found: dict[int, list[float]]) -> list[str]:
    """Return the least and the greatest whole number of columns that have a code, as 1 to 5."""
    codes, scales = sorted({v for own in found.values() for v in own}), [""] * len(given.names)
    for j in given.whole[np.isin(given.X[:, given.whole], codes).any(axis=0)].tolist():
        rest = given.X[~np.isin(given.X[:, j], codes), j]
        low, high = np.fmin.reduce(rest, initial=np.nan), np.fmax.reduce(rest, initial=np.nan)
        if j not in given.levels and high - low <= _SCALE:
            scales[j] = f"{low:.6g} to {high:.6g}"
    return scales


def _add_to_sisters(
    given: Given, forms: list[str], found: dict[int, list[float]],
    places: dict[tuple[float, str], list[str]],
) -> None:  # fmt: skip
    of = [(forms[j], v) for j, codes in found.items() if j < len(forms) for v in codes]
    for form, value in [key for key, n in Counter(of).items() if n >= _SISTERS and key[0]]:
        own = [j for j, one in enumerate(forms) if one == form != given.names[j]]
        known = [j for j in own if value in found.get(j, ())]
        codes = [code for j in known for code in found[j]]
        others = given.X[:, known][~np.isin(given.X[:, known], codes)]
        low, high = np.nanmin(others), np.nanmax(others)
        for j in own if known and not low <= value <= high else ():
            rest = given.X[given.X[:, j] != value, j]
            inside = len(rest) and ((low <= rest) & (rest <= high) | np.isnan(rest)).all()
            if j not in found and inside and len(rest) < len(given.X):
                found[j] = [value]
                place = value, f"{low:.6g} to {high:.6g}"
                places.setdefault(place, []).append(shown(given.names[j]))


def _target_numbers(given: Given) -> Floats | None:
    """Return the target as numbers: itself, or the labels if three classes or more are numbers."""
    labels = [Cells().number(label) for label in given.classes]
    known = [label for label in labels if label is not None]
    if given.answers is None or len(known) < 3 or len(known) < len(labels):
        return given.numbers
    return np.array(known)[given.answers]


def _far_codes(column: Floats) -> list[float]:
    """Return the usual codes for "not known" that stand apart from all other values."""
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    coded, size = np.isin(values, _SENTINELS), np.abs(values)
    others, first = values[~coded], counts[~coded][:1]
    if len(column) < _LEAST or len(others) < 2:
        return []
    low, high = others[0], others[-1]
    gap = np.diff(values) > (high - low) * (1 if len(others) > 2 else 3)
    top = values[1:][gap & (values[:-1] >= high)].min(initial=np.inf)
    bottom = values[:-1][gap & (values[1:] <= low)].max(initial=-np.inf)
    apart = (values >= top) | (values <= bottom) | ((values < -2) & (low >= 0))
    if low in (0, 1) and (np.diff(others) == 1).all():
        apart |= values - high > _ABSENT
    if low >= 0 and high >= _LEAST and (values < 0).sum() == 1:  # -1 or -2 in counts
        apart |= (values < 0) & (counts > first)
    if len(others) >= 2 * _LEAST:  # 99 beside ages of up to 79
        far = values - high >= max(_LEAST, 2 * np.diff(others).max())
        apart |= far & (counts > counts[~coded][-_NEXT:].max())
    often = np.where(size > _SHORT, 2 - np.isin(size, _ONCE), max(3, len(column) // 100))
    return values[coded & apart & (counts >= often)].tolist()


def is_target(given: Given) -> Found:
    """Find a column that divides the rows as the target does: the target under another name."""
    columns = _twins(given)
    s = "s" * (len(columns) == 1)
    how = f"divide{s} the rows exactly as the target does"
    if given.numbers is not None:
        how = f"sort{s} the rows as the target, or the rounded target, does"
    return _drop(given, columns, how=how)


def _twins(given: Given) -> list[int]:
    n = len(given.X)
    if given.answers is None or n < _LEAST or 2 * len(given.classes) > n:
        return []
    if not len(given.classes):
        return _ordered_alike(given.X, given.answers)
    X, few = given.X.copy(), 4 * len(given.classes)
    for j, words in given.levels.items():  # a class may be spelled in several ways
        for same in alike(words) if len(words) <= few else ():
            X[np.isin(X[:, j], [words.index(word) for word in same]), j] = words.index(same[0])
    low, high = _ends(X, given.answers)
    one = (low == high).all(axis=0) & (np.isnan(X).mean(axis=0) < _GONE)
    return [j for j in np.flatnonzero(one).tolist() if len(np.unique(low[:, j])) == len(low)]


def _ends(X: Floats, answers: Indices) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of each class that has rows, in each column."""
    each = [X[answers == k] for k in np.unique(answers)]
    low, high = ([end.reduce(part, axis=0) for part in each] for end in (np.fmin, np.fmax))
    return np.stack(low), np.stack(high)


def _ordered_alike(X: Floats, answers: Indices) -> list[int]:
    """Return the columns that sort the rows as a numeric target does, up or down.

    They are copies in another unit, or rounded to more than ten values; a column of fewer values
    may sort the rows so without being a copy.
    """
    ordered = X[np.argsort(answers, kind="stable")]
    sizes = np.bincount(answers)
    ends = np.cumsum(sizes)
    low = np.fmin.reduceat(ordered, ends - sizes)
    high = np.fmax.reduceat(ordered, ends - sizes)
    turns = (np.fmax.accumulate(high)[:-1] > low[1:]).any(axis=0)  # without missing values
    turns &= (np.fmin.accumulate(low)[:-1] < high[1:]).any(axis=0)
    same: list[int] = np.flatnonzero(~turns & (np.isnan(X).mean(axis=0) < _GONE)).tolist()
    return [j for j in same if len(np.unique(X[:, j])) > min(_LEAST, len(sizes) - 1)]


def tells_all(given: Given) -> Found:
    """Find columns that alone predict the class: they may have been written after it was known."""
    sizes, answers, n = given.counts, given.answers, len(given.X)
    if given.numbers is not None:
        return _tells_ranges(given, given.numbers)
    if answers is None or len(sizes) < 2 or len(sizes) > n / 3 or sizes.min() < 3 or n < 2 * _LEAST:
        return Found()
    gone, (low, high) = np.isnan(given.X), _ends(given.X, answers)
    order = np.argsort(low, axis=0)  # an interval for each class?
    low, high = np.take_along_axis(low, order, 0), np.take_along_axis(high, order, 0)
    columns = (high[:-1] < low[1:]).all(axis=0) & (gone.mean(axis=0) < 0.5)
    for one in (0, 1) if len(sizes) == 2 else ():  # a value in the rows of one of two classes?
        columns |= (gone == (answers == one)[:, None]).all(axis=0)
    for j, words in given.levels.items():
        held = ~np.isnan(given.X[:, j])
        pairs = set(zip(given.X[held, j].tolist(), answers[held].tolist(), strict=True))
        once = len({code for code, _ in pairs}) == len(pairs) >= len(sizes)
        columns[j] = once and 3 * len(words) <= n
    columns[[*_twins(given), *np.concatenate(_counting(given))]] = False
    nearly = _nearly(given, answers)
    nearly = {j: words for j, words in nearly.items() if not columns[j]}
    columns[[*nearly]] = True
    but = f"with few errors ({some([*nearly.values()])})" if nearly else "without an error"
    names = [j for j in np.flatnonzero(columns).tolist() if _has_several(given, j, len(sizes))]
    group = _GROUPED.format(quoted(given.names[j] for j in names)) if names else ""
    return _drop(given, np.flatnonzero(columns), what=_CLASSES, but=but, group=group)


def _nearly(given: Given, answers: Indices) -> dict[int, str]:
    """Return columns of words, or of few codes, that predict nearly all rows, and their errors."""
    low, high = (end.reduce(given.X[:, given.whole], axis=0) for end in (np.fmin, np.fmax))
    few, found = _FEW * len(given.classes), dict[int, str]()
    near: list[int] = given.whole[high - low < _RANGE].tolist()
    coded = [j for j in near if len(np.unique(given.X[:, j])) <= few]
    for j in [*given.levels, *coded]:
        held = ~np.isnan(given.X[:, j])
        share = explained(given.X[:, j], answers) if held.mean() > 1 - _GONE else 0.0
        if _NEARLY <= share < 1:
            wrong = round((1 - share) * (held.sum() - np.bincount(answers[held]).max()))
            found[j] = f"{wrong} of {held.sum()} in {shown(given.names[j])}"
    return found


def _has_several(given: Given, j: int, n_classes: int) -> bool:
    """Return whether a column has no gap, and two values or more per class, each several times."""
    values, sizes = np.unique(given.X[:, j], return_counts=True)
    return len(sizes) >= 2 * n_classes and bool(sizes.min() > 1 and not np.isnan(values[-1]))


def clusters(given: Given) -> Found:
    """Find clusters that programs computed from the table itself, by the names of columns."""
    coded: list[int] = [*given.levels, *given.whole.tolist()]
    columns = [j for j in coded if _CLUSTERS.fullmatch(" ".join(parts_of(given.names[j])))]
    names = quoted(given.names[j] for j in columns)
    words = [
        f"Clusters ({names}) were computed from the measurements of all rows, those of the test "
        "parts among them, and new cases have none: leave them out."
    ] * bool(columns)
    if _CLUSTERS.fullmatch(" ".join(parts_of(given.target))):
        words.append(
            f"The target {shown(given.target)} holds clusters that were computed from the "
            "measurements: models that predict them only show how they were computed."
        )
    return _drop(given, columns)._replace(facts={"words": " ".join(words)})


def several_answers(given: Given) -> Found:
    """Find columns of words whose cells join several answers (a;b), as of a multiple choice."""
    found = dict[int, str]()
    for j, words in given.unlisted.items():
        for mark in ";|,":
            parts = [[part.strip() for part in word.split(mark)] for word in words]
            joined = [word for word, own in zip(words, parts, strict=True) if len(own) > 1]
            first, later = {own[0] for own in parts}, {one for own in parts for one in own[1:]}
            again = 2 * len(first & later) >= len(later)  # answers stand first elsewhere, texts not
            few = len(first | later) < len(words) and len({*map(len, parts)}) > 1
            if len(joined) > 2 and few and again:
                found[j] = joined[0]
                break
    example = quoted([*found.values()][:1])
    return Found([*found], facts={"example": example} if found else {})


def explained(values: Floats, answers: Indices) -> float:
    """Return Goodman and Kruskal's lambda of a column of few values; 0 if it has many.

    It is the share of the rows outside the commonest class that the commonest class of each value
    predicts correctly, less those of the commonest class that it predicts wrongly.
    """
    held = ~np.isnan(values)
    levels, codes = np.unique(values[held], return_inverse=True)
    if not 2 <= len(levels) <= max(2, len(values) / 10):
        return 0.0
    table = np.zeros((len(levels), int(answers.max()) + 1))
    np.add.at(table, (codes, answers[held]), 1)
    most = table.sum(axis=0).max()
    return float((table.max(axis=1).sum() - most) / max(table.sum() - most, 1))


def _tells_ranges(given: Given, y: Floats) -> Found:
    """Find columns each of whose values has a separate range of the target."""
    found = list[int]()
    for j in [*given.levels, *given.whole.tolist()]:
        codes, sizes = np.unique(given.X[:, j], return_inverse=True, return_counts=True)[1:]
        if len(sizes) > 2 and sizes.min() >= _ROWS_EACH:  # not by chance
            low, high = (np.sort(end[:, 0]) for end in _ends(y[:, None], codes))
            found += [j] * bool((high[:-1] < low[1:]).all())
    twins = {*_twins(given)}
    if not {*found} - twins and (summed := _summed(given.X, y, twins)):
        return _drop(given, summed, what="the target", but="by a weighted sum", group="")
    but = "without an error"
    return _drop(given, sorted({*found} - twins), what=_RANGES, but=but, group="")


def _summed(X: Floats, y: Floats, twins: Collection[int]) -> list[int]:
    """Return two to four columns whose weighted sum is the target up to .1 % of its variance.

    They are chosen by orthogonal matching pursuit, and those that are not needed left out again.
    """
    y = y - y.mean()
    with np.errstate(all="ignore"):
        norm = np.sqrt(len(y) * X.var(axis=0))  # NaN where a value is missing
    norm[[*twins]] = np.nan
    norm[~(norm > 0)] = np.nan

    def left(columns: Sequence[int]) -> Floats:
        Z = X[:, columns] - X[:, columns].mean(axis=0)
        return y - Z @ np.linalg.lstsq(Z, y)[0]

    chosen, most, rest = list[int](), _NOISE * float(y @ y), y
    while len(chosen) < _STEPS and len(y) >= _ROWS_EACH * (len(chosen) + 4) and rest @ rest > most:
        size = np.nan_to_num(np.abs(X.T @ rest) / norm)
        size[chosen] = 0.0
        if not size.any():
            break
        chosen.append(int(size.argmax()))
        rest = left(chosen)
    if rest @ rest > most:
        return []
    for j in [*chosen]:
        fewer = [k for k in chosen if k != j]
        if fewer and float(np.sum(left(fewer) ** 2)) <= most:
            chosen = fewer
    return sorted(chosen) if 2 <= len(chosen) <= _SUMMED else []
