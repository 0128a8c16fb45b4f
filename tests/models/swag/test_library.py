"""The library of strong models: what it says and what can be asked of it."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from psephos._errors import PsephosError
from psephos.models.swag.library import Dimensions, Library
from psephos.vote.codec import decode, encode

WORDS = ("age", "dose", "site", "sex")
COLUMNS = np.array([1, 4, 5, 8])
SUBSETS = [(1, 4), (1, 5), (4,), (1, 4, 8), (1, 5, 8), (5,), (4, 5)]
ERRORS = [0.10, 0.12, 0.13, 0.14, 0.15, 0.16, 0.30]


def dimensions():
    return Dimensions(
        np.array([1, 2, 3]),
        np.array([9, 30, 20]),
        np.array([2, 3, 2]),
        np.array([0.16, 0.3, 0.15]),
        np.array([0.4, 0.3, 0.2]),
        np.array([0.13, 0.1, 0.14]),
        np.ones((3, 4), dtype=np.intp),
        np.linspace(0, 1, 5),
    )


def library():
    sizes = [len(s) for s in SUBSETS]
    member = np.searchsorted(COLUMNS, np.concatenate(SUBSETS))
    m = len(SUBSETS)
    return Library(
        10,
        COLUMNS,
        WORDS,
        np.concatenate([[0], np.cumsum(sizes)]),
        member,
        np.array(ERRORS),
        np.full(m, 0.01),
        np.arange(m) < 3,
        "error",
        dimensions(),
        (("separable", np.arange(m) % 2 == 0),),
    )


def names(subset):
    return tuple(WORDS[int(np.flatnonzero(j == COLUMNS)[0])] for j in subset)


def test_the_table_has_a_row_per_model():
    table = library().table()
    assert table["columns"] == [names(s) for s in SUBSETS]
    assert table["rank"] == [1, 2, 3, 4, 5, 6, 7]
    assert table["dimension"] == [2, 2, 1, 3, 3, 1, 2]
    assert table["error"] == ERRORS
    assert table["votes"] == [True] * 3 + [False] * 4
    assert table["separable"] == [True, False] * 3 + [True]
    assert len(library().frame()) == len(library()) == 7
    assert len(library().dimensions.frame()) == 3


def test_usage_and_subsets():
    usage = library().usage().toarray()
    for row, subset in zip(usage, SUBSETS, strict=True):
        assert_array_equal(np.flatnonzero(row), subset)
    assert [tuple(s) for s in library().subsets()] == SUBSETS


@pytest.mark.parametrize("n", range(5))
def test_usable_with_every_set_of_columns(n):
    for have in combinations(COLUMNS.tolist(), n):
        part = library().usable_with(have)
        expected = [s for s in SUBSETS if set(s) <= set(have)]
        assert [tuple(s) for s in part.subsets()] == expected
        by_name = library().usable_with([*names(have), "a column no model reads"])
        assert by_name.table() == part.table()
    assert len(library().usable_with([0, 2, 9])) == 0


def test_a_position_outside_the_table_is_named():
    with pytest.raises(PsephosError, match="columns must be indices below 10, or names; got 10"):
        library().usable_with([1, 10])


def test_synonyms_by_hand():
    found = library().synonyms("dose")  # (age, dose) <-> (age, site); (age, dose, sex) likewise
    by_hand = {}
    for a, ea in zip(SUBSETS, ERRORS, strict=True):
        for b, eb in zip(SUBSETS, ERRORS, strict=True):
            rest = set(a) - {4}
            if 4 in a and rest and 4 not in b and rest < set(b) and len(b) == len(a):
                other = (set(b) - rest).pop()
                by_hand.setdefault(names([other])[0], []).append(eb - ea)
    assert dict(zip(found["column"], found["contexts"], strict=True)) == {
        word: len(gaps) for word, gaps in by_hand.items()
    }
    gaps = dict(zip(found["column"], found["difference"], strict=True))
    for word, values in by_hand.items():
        assert_allclose(gaps[word], np.mean(values))
    assert found["column"][0] == "site"
    assert found["share"][0] == pytest.approx(2 / 3)
    assert found["companions"][0] == ("age", "sex")
    assert library().synonyms(4) == found


def test_a_column_nobody_reads_has_no_synonyms():
    for column in ("height", 0):
        with pytest.raises(PsephosError, match="no model of the library reads"):
            library().synonyms(column)


def test_parts_of_a_library():
    chosen = library().chosen()
    assert [tuple(s) for s in chosen.subsets()] == SUBSETS[:3]
    assert chosen.words == ("age", "dose", "site")
    smaller = library().select(np.array([1, 4, 8]))
    assert smaller.n_features == 3
    kept = [s for i, s in enumerate(SUBSETS) if i < 3 or 5 not in s]  # three vote
    assert smaller.table()["columns"] == [names([j for j in s if j != 5]) for s in kept]
    assert smaller.votes.tolist() == [True] * 3 + [False] * (len(kept) - 3)
    arrays = {}
    again = decode(encode(library(), arrays, "library"), arrays)
    assert again.table() == library().table()
    assert again.dimensions.columns() == dimensions().columns()


@pytest.mark.parametrize(
    "change",
    [
        {"words": WORDS[:3]},
        {"member": np.zeros(3, dtype=np.intp)},
        {"member": np.full(14, 4)},
        {"ptr": np.array([0, 2, 1, 5, 8, 11, 12, 14])},
        {"spread": np.zeros(3)},
        {"columns": np.array([1, 4, 5, 10])},
    ],
)
def test_a_library_that_does_not_fit_is_refused(change):
    with pytest.raises(PsephosError):
        replace(library(), **change)
