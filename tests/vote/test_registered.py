"""Parts of votes are known before any recipe is imported."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import psephos
from psephos import PsephosError
from psephos.vote import Constant, ForeignVoters, codec, register_part
from psephos.vote.part import OPTIONAL, OPTIONAL_FIELDS

SOURCE = Path(psephos.__file__).parent / "vote"


def test_a_file_is_read_without_the_recipe_that_made_its_parts():
    written = set()
    for file in SOURCE.rglob("*.py"):
        text = file.read_text()
        written |= set(re.findall(r"^@register(?:_part)?\n(?:@.*\n)*class (\w+)", text, re.M))
    assert {"Constant", "Local", "TreeVoters", "NestedVoters"} <= written
    shown = "import psephos.modelfile; from psephos.vote import codec; "
    shown += "print(*(kind.__name__ for kind in codec._REGISTRY.values()))"
    known = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True
    ).stdout.split()
    assert written <= set(known)


def offered(members):
    """Return what the classes of all parts have, of these members of each."""
    known = [*codec._REGISTRY.values(), ForeignVoters]
    return {name for kind in known for name in members(kind)}


def test_every_optional_member_is_offered_by_some_part():
    methods = offered(lambda kind: {n for n in dir(kind) if callable(getattr(kind, n))})
    assert set(OPTIONAL) <= methods
    fields = offered(lambda kind: {*dir(kind), *kind.__annotations__})
    assert set(OPTIONAL_FIELDS) <= fields - (methods & set(OPTIONAL))


def test_what_is_asked_of_a_part_is_in_the_tables():
    """By `ask`, `offers` and `field_of`: no other place asks a part what it has."""
    asked = {"ask": OPTIONAL, "offers": OPTIONAL, "field_of": OPTIONAL_FIELDS}
    by_hand = re.compile(r'(?:has|get)attr\([\w.]*(?:voters|weighting|weights)\b, "(\w+)"')
    met = set()
    for file in [*SOURCE.parent.rglob("*.py")]:
        text = file.read_text()
        for function, table in asked.items():
            names = re.findall(rf'\b{function}\(\s*[\w.]+(?:\([^()]*\))?,\s*"(\w+)"', text)
            assert set(names) <= set(table), file
            met |= set(names)
        # a reader's parts are others; trees lie below votes
        if not {"scoring", "validation", "trees"} & set(file.parts):
            assert set(by_hand.findall(text)) <= {"tag"}, file
    assert {"weighted_sum", "nearest", "tree", "similarity", "batches"} <= met


def test_a_method_named_nearly_like_an_optional_one_is_refused():
    class Misspelt(Constant):
        tag = "misspelt"

        def weigthed_sum(self, weights, X):
            return None

    with pytest.raises(PsephosError, match=r"Misspelt\.weigthed_sum .*'weighted_sum'"):
        register_part(Misspelt)
    assert "misspelt" not in codec._REGISTRY
