"""The input (`Given`) and the result (`Found`) of the tests of cautions."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from psephos._types import Floats, Indices, NDArray

_EMPTY = 0.1  # maximum share of missing values in a column that names or counts the rows


@dataclass(frozen=True)
class Given:
    """A table, with its target if it is known.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Numbers, NaN where missing; codes in columns of words.
    names : sequence of str
        The p names of the columns.
    levels : mapping of int to sequence of str
        The words of each column of words, by code.
    times : set of int
        Columns whose type is a date or time; their values are codes here.
    answers : ndarray of shape (n,), default=None
        The class index of each row; of a numeric target the index among its sorted values.
    classes : sequence of str, default=()
        The classes; empty if the target is numeric.
    numbers : ndarray of shape (n,), default=None
        The target, if it is numeric.
    target : str, default="target"
    groups : ndarray of shape (n,), default=None
        Rows of one group stay together in every split.
    rows : sequence of str, default=()
        The names of the rows; empty: they are counted from 0.
    n_folds : int, default=5
        The number of folds that each class should have rows for.
    all_listed : bool, default=False
        Whether the user listed every column of words as categories, which accepts them.
    categorical : set of str, default={}
        Columns that the user listed with --categorical.
    aside : mapping of str to sequence of str, default={}
        Columns that models do not read, and that may name subjects: the cells as written.
    declared : set of str, default={}
        Words that mean a missing value in some column (--missing COLUMN=WORD).
    quantiles : ndarray of shape (p, 7), default=None
        For new cases: least, .1, .25, .5, .75, .9 and greatest value of each column in the fit; NaN
        if not known.
    """

    X: Floats
    names: Sequence[str]
    levels: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])
    times: frozenset[int] = frozenset()
    answers: Indices | None = None
    classes: Sequence[str] = ()
    target: str = "target"
    groups: NDArray[np.generic] | None = None
    rows: Sequence[str] = ()
    n_folds: int = 5
    all_listed: bool = False
    categorical: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    quantiles: Floats | None = None
    numbers: Floats | None = None
    aside: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @cached_property
    def whole(self) -> Indices:
        """Columns of whole numbers that have any value."""
        with np.errstate(invalid="ignore"):
            odd = (np.trunc(self.X) != self.X) & ~np.isnan(self.X)
        held = ~odd.any(axis=0) & ~np.isnan(self.X).all(axis=0)
        held[[*self.levels, *self.times]] = False
        return np.flatnonzero(held)

    @cached_property
    def different(self) -> Indices:
        """Those of `whole` with a different value in each row; at most a tenth may be missing."""
        kept = self.X[:, self.whole]
        again = (np.diff(np.sort(kept, axis=0), axis=0) <= 0).any(axis=0)
        return self.whole[~again & (np.isnan(kept).mean(axis=0) <= _EMPTY)]

    @property
    def words(self) -> Mapping[int, Sequence[str]]:
        """The levels of columns of words, unless they were listed as categories."""
        return {} if self.all_listed else self.levels

    @property
    def unlisted(self) -> Mapping[int, Sequence[str]]:
        """The levels of columns of words that were not listed with --categorical either."""
        return {j: own for j, own in self.words.items() if self.names[j] not in self.categorical}

    @property
    def counts(self) -> Indices:
        """Number of rows of each class; empty if the target is not known, or numeric."""
        if self.answers is None or not len(self.classes):
            return np.empty(0, dtype=np.intp)
        return np.bincount(self.answers, minlength=len(self.classes))

    def cells(self, j: int) -> list[str]:
        """Return the cells of a column of words, '' where missing."""
        codes, words = np.nan_to_num(self.X[:, j], nan=-1), [*self.levels[j], ""]
        return [words[code] for code in codes.astype(np.intp).tolist()]

    def row(self, i: int) -> str:
        """Return the name of a row."""
        return self.rows[i] if len(self.rows) else f"row {i}"


_PART = re.compile(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_]?[^\W\d_A-Z]+|\d+")


def parts_of(name: str) -> list[str]:
    """Return the words of a name in lower case without accents: patient, id for patient_ID."""
    plain = unicodedata.normalize("NFKD", re.sub("(?<=[nN])°", "o", name))
    return [part.lower() for part in _PART.findall(re.sub(r"[\u0300-\u036f]", "", plain))]


#: Words in the names of columns of postal codes.
POSTAL = {"zip", "zipcode", "postal", "post", "postcode", "plz", "cep", "cap", "cp"}
_OF = (
    r"id|ids|nr|no|num|number|name|code|codigo|codice|kodu?|numero?|numara|numaras[ıi]|nummer|"
    r"kennung|dossier|folio|registro|nhc|clinic[oa]|d[aeio]|del|della|van|номер|код|cislo|broj|sifra|"
    r"azonosito|tunnus|αριθμος"
)
#: Names of subjects, and of their records, in English, German, French, Spanish, Italian,
#: Portuguese, Dutch, Polish, Czech, Croatian, Hungarian, Finnish, Greek, Turkish, Russian, Chinese
#: and Japanese, without accents.
SUBJECT = (
    r"(?:patient|pacjent|proband|respondent|student)(?:en?|in|a|k[ai])?|subject|person|participante?|"
    r"individual|individuo?|donor|animal|mouse|specimen|pacient(?:[aeu]|ka|ky)?|doente|utente|paziente|malade|"
    r"partecipante|su[jg]eto|sujeito|sujet|soggetto|persona|pessoa|osoba|uczestnika?|hasta|denek|"
    r"kat[ıi]l[ıi]mc[ıi]|deelnemer|proefpersoon|teilnehmer|versuchsperson|spender|pseudonym|"
    r"kennung|probando|repondante?|encuestad[oa]|entrevistad[oa]|befragter?|eleve|alumn[oa]|alunn?[oa]|"
    r"schuler(?:in)?|leerling|uczen|ogrenci|etudiante?|estudi?ante|nhc|dni|mrn|prontuario|legajo|"
    r"pacijent(?:a|ica)?|beteg|potilas(?:numero)?|ασθενης|ασθενους|rodne|poradove|pesel|"
    r"expediente|cedula|matricul[ae]|aktenzeichen|пациент(?:ка|[аы])?|испытуем\w+|больнои|"
    r"(?:患者|病人|被験者|被试|受试者)(?:id|no|番号|编号|編號|号)?|(?:病历|病歷|住院|病案|カルテ)(?:号|號|番号)"
)
#: Names that may mean a subject, but also a count (of children) or a kind.
_MAYBE = (
    r"vpn?|kind|enfant|nin[oa]|crianca|bambin[oa]|dziecko|cocuk|child|infant|baby|client[ea]?|kunde|"
    r"klant|klient|customer|tier|dier|kuh|vache|vaca|mucca|cow|hund|chien|perro|cane|dog|pferd|cheval|"
    r"horse|schwein|pig|rat|ratte|maus|souris|raton|topo|case|caso|sample|record|processo|proceso"
)
_CALLED = re.compile(
    rf"(?:(.* ))??(?:(?:{_OF}) )*(?:{SUBJECT}|(?P<maybe>{_MAYBE})|"
    r"(?:(?:patient|proband|person)(?:en)?|teilnehmer|spender|fall)(?:nummer|kennung|nr|code|id)|"
    rf"fall (?:nr|no|id|nummer)|n(?:[or]|um(?:ero)?)? (?:de )?hc|hc n(?:[or]|um))(?: (?:{_OF}))*"
)


def subject_of(name: str) -> tuple[bool, bool]:
    """Return whether a name certainly means a subject, and whether it has no other words.

    Words that may mean something else (kind, tier) are not certain.
    """
    found = _CALLED.fullmatch(" ".join(parts_of(name)))
    alone = found is not None and found[1] is None
    return found is not None and not found["maybe"], alone


class Found(NamedTuple):
    """The result of one test; nothing was found if all fields are empty."""

    columns: Sequence[int] = ()
    rows: Sequence[int] = ()
    facts: Mapping[str, str] = {}  # words for the sentence of the caution
    remedy: Sequence[tuple[str, str]] = ()  # options of the command, and their values
