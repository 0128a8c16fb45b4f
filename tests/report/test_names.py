"""Short names tell columns apart and end as the whole names do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psephos import ColumnBudgetClassifier, save
from psephos.report.study.opened import open_model
from psephos.report.words import short_names, shown_names

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
        (["model_year", "a_b", "a b"], ["model year", "a_b", "a b"]),
        (["x" * 60, "gene_" + "y" * 60], ["x" * 60, "gene " + "y" * 60]),  # none is cut
    ],
)  # fmt: skip
def test_names_are_shortened_to_what_tells_them_apart(names, short):
    assert list(short_names(names).values()) == short


@given(st.lists(st.text(alphabet="ab_|;×: ks", max_size=60), unique=True, max_size=20))
def test_no_two_names_become_one(names):
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    for name, word in short.items():
        if "_" not in name:
            assert word == name


def test_plain_names_of_species_are_italic_in_a_table_of_taxa_alone():
    names = ["Parvimonas_micra", "Parvimonas_unclassified", "Clostridiales_bacterium_1", "age"]
    italic = [name for name, one in shown_names(names).items() if one.italic]
    assert italic == ["Parvimonas_micra"]
    assert not any(one.italic for one in shown_names(["Blood_pressure", "age"]).values())


def test_synonyms_have_the_names_of_the_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 30))
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    frame = pd.DataFrame(X, columns=[f"gene_{chr(97 + j)}" for j in range(26)] + list("1234"))
    save(ColumnBudgetClassifier(2).fit(frame, X[:, 0] > 0), tmp_path / "model.psephos")
    opened = open_model(tmp_path / "model.psephos", short_names(frame.columns.tolist()))
    words = "; ".join(opened.returns.values())
    assert "(synonyms: gene " in words
    assert "_" not in words
    assert "if a quarter of cases were new" in opened.importance_words
