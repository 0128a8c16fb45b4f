"""Parts of votes are known before any recipe is imported."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import psephos
from psephos import PsephosError
from psephos.vote import Constant, ForeignVoters, codec, register_part
from psephos.vote.part import OPTIONAL

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


def test_every_optional_member_is_offered_by_some_part():
    known = [*codec._REGISTRY.values(), ForeignVoters]
    offered = {name for kind in known for name in (*dir(kind), *kind.__annotations__)}
    assert set(OPTIONAL) <= offered


def test_a_method_named_nearly_like_an_optional_one_is_refused():
    class Misspelt(Constant):
        tag = "misspelt"

        def weigthed_sum(self, weights, X):
            return None

    with pytest.raises(PsephosError, match=r"Misspelt\.weigthed_sum .*'weighted_sum'"):
        register_part(Misspelt)
    assert "misspelt" not in codec._REGISTRY
