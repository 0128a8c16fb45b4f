"""The parts of the plain form, field by field: the last section of docs/plain-model.md."""

import inspect
import sys
from dataclasses import fields
from typing import Any

from psephos.scoring.reader import every_kind
from psephos.vote.codec import registered


def schema_parts() -> str:
    """Return the section of docs/plain-model.md that is made from docstrings, in Markdown."""
    return "\n".join(_part(kind) for kind in sorted(every_kind()))


def _part(kind: str) -> str:
    """Return the description of a kind of part, and its fields."""
    cls: Any = registered(kind)
    text = inspect.getdoc(cls) or ""
    summary, _, rest = text.partition("\nParameters\n----------\n")
    known = rest.partition("\nNotes\n-----\n")[0].partition("\nRaises\n------\n")[0].strip()
    named = [field.name for field in fields(cls)]
    body = f"\n\n```text\n{known}\n```" if known else ""
    own = f"Fields: {', '.join(f'`{name}`' for name in named)}."
    return f"### {kind}\n\n{summary.strip()}\n\n{own}{body}\n"


if __name__ == "__main__":
    sys.stdout.write(schema_parts())
