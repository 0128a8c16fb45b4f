"""The page of the plain form ends with what the parts' docstrings print; its example is read."""

import json
from pathlib import Path

from psephos.scoring.reader import PlainModel, every_kind
from psephos.scoring.schema import schema_parts

_PAGE = (Path(__file__).parents[2] / "docs" / "plain-model.md").read_text("utf-8")


def test_the_parts_are_the_printed_ones():
    assert _PAGE.partition("## Parts, field by field\n\n")[2] == schema_parts()


def test_it_names_every_kind():
    assert all(f"### {kind}\n" in _PAGE for kind in every_kind())


def test_a_reader_reads_the_example():
    data = json.loads(_PAGE.partition("```json\n")[2].partition("```")[0])
    model = PlainModel(data)
    told = model.answer([2.5])
    assert (told["label"], told["scores"]) == ("ill", [1.5])
    assert model.answer([2.0])["label"] == "healthy"
