"""Short names tell columns apart and end as the whole names do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos.report.words import LETTERS, short_names

LINEAGE = "k__Bacteria|p__Firmicutes|c__Clostridia|f__XI|g__Parvimonas|s__Parvimonas_"


def test_a_lineage_is_its_species():
    names = [f"{LINEAGE}micra", f"{LINEAGE}unclassified"]
    assert list(short_names(names).values()) == ["Parvimonas micra", "Parvimonas unclassified"]


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["k__B|g__A|s__x_y", "k__B|g__C|s__x_y"], ["A: x y", "C: x y"]),
        (["k__B|g__A|s__unclassified"], ["A: unclassified"]),
        (["D_0__Bacteria; D_1__Firmicutes; D_2__"], ["Firmicutes"]),
        (["age; years", "age"], ["age; years", "age"]),  # no lineage
        (["k__B|s__a_b", "a b"], ["B: a b", "a b"]),  # a name that stands so in the table
        (["k__B|s__a_b × age"], ["a b × age"]),
        (
            [f"expression of the very long gene {g}" for g in ("1 in blood", "2 in urine")],
            ["…the very long gene 1 in blood", "…the very long gene 2 in urine"],
        ),
    ],
)  # fmt: skip
def test_names_are_shortened_to_what_tells_them_apart(names, short):
    assert list(short_names(names).values()) == short


def test_more_is_kept_where_ends_are_alike():
    names = [f"{'x' * 20}{g}{'y' * 60}" for g in "ab"]
    assert set(short_names(names).values()) == set(names) or all(
        len(s) < 82 for s in short_names(names).values()
    )
    assert len(set(short_names(names).values())) == 2


def test_head_and_end_are_kept_where_ends_are_alike():
    names = [f"gene {k} {'x' * 53}" for k in range(12)]
    short = short_names(names)
    assert short["gene 7 " + "x" * 53] == f"gene 7 {'x' * 9}…{'x' * 15}"
    assert len(set(short.values())) == 12
    assert max(map(len, short.values())) <= LETTERS


@given(st.lists(st.text(alphabet="ab_|;×: ks", max_size=60), unique=True, max_size=20))
def test_no_two_names_become_one(names):
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    for name, word in short.items():
        if len(name) <= LETTERS and "__" not in name:
            assert word == name
