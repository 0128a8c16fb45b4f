"""Parts of votes are known before any recipe is imported."""

import re
import subprocess
import sys
from pathlib import Path

import psephos

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
