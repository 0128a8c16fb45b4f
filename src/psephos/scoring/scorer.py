"""A scorer: one program that contains a model and needs only Python."""

import json

from psephos import __version__
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.scoring.form import plain
from psephos.scoring.joining import program
from psephos.scoring.vectors import conformance
from psephos.vote.describing import kept_words
from psephos.vote.plain import kinds_within, to_plain
from psephos.vote.recalibration import no_map

_VECTORS = 16
_HEAD = '''#!/usr/bin/env python3
"""{about}

    python {name} cases.csv               class and probabilities of each row
    python {name} cases.csv --explain     each voter's vote, weight and reason
    python {name} --check                 check the scores of {vectors} generated rows

It needs Python 3.11 or newer, nothing else. Columns are found by name, and others ignored. It
reads: {columns}.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit("Error: this program needs Python 3.11 or newer; this is " + sys.version.split()[0])
'''
_TAIL = """
# ---------- the model

MODEL = {model!r}


def main(argv: Any = None) -> int:
    return run_scorer(MODEL, {about!r}, argv)


if __name__ == "__main__":
    sys.exit(main())
"""


def scorer(estimator: VoteEstimator, name: str = "scorer.py") -> str:
    """Return a program that predicts like a fitted model, with the standard library alone.

    Parameters
    ----------
    estimator : fitted estimator of psephos
    name : str, default='scorer.py'
        The name of its file, for its help text.

    Raises
    ------
    PsephosError
        If the model has no plain form.
    """
    model, vote = plain(estimator), estimator.vote_
    vectors = conformance(estimator, _VECTORS)
    kept = kept_words(vote)
    about = f"Predictions of a {type(estimator).__name__}, written by psephos {__version__}. {kept}"
    names = [column["name"] for column in model["columns"]] if len(vote.columns) else ["none"]
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    schema, found = estimator.schema_, getattr(estimator, "recalibration_", None)
    data = {
        "model": model,
        "cells": schema.cells.data(),
        "levels": {
            j: known for j, known in schema.levels.items() if set(map(type, known)) == {bool}
        },
        "vectors": vectors,
        "recalibration": [None, no_map("the model", vote.target.n_classes)]
        if found is None
        else [to_plain(found.calibration), found.words()],
    }
    kinds = frozenset(kinds_within(data))
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    columns = _quoted(", ".join(names[:20])) + more
    head = _HEAD.format(about=about.strip(), name=_quoted(name), vectors=_VECTORS, columns=columns)
    return head + "\n" + program(kinds) + _TAIL.format(model=text, about=about.strip())


def _quoted(words: str) -> str:
    """Escape text for use in a docstring."""
    return ascii(words)[1:-1].replace("\\", "/").replace('"', "'")
