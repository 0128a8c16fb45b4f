"""The page of the plain form is the one that the parts' docstrings print."""

from pathlib import Path

from psephos.scoring.reader import every_kind
from psephos.scoring.schema import schema_page

_PAGE = Path(__file__).parents[2] / "docs" / "plain-model.md"


def test_the_page_is_the_printed_one():
    assert _PAGE.read_text("utf-8") == schema_page()


def test_it_names_every_kind():
    page = schema_page()
    assert all(f"### {kind}\n" in page for kind in every_kind())
