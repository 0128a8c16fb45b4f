# ruff: noqa: E501
"""The plain form in words: ``python -m psephos.scoring.schema`` prints docs/plain-model.md."""

import inspect
import json
import sys
from dataclasses import fields
from typing import Any

import numpy as np

from psephos.estimator.schema import Schema
from psephos.scoring.form import plain_vote
from psephos.scoring.reader import every_kind
from psephos.vote import Constant, Readout, StumpVoters, Target, Vote
from psephos.vote.codec import registered

_HEAD = """# The plain model

`psephos export MODEL --plain model.json`, and in Python `psephos.scoring.plain(model)`, write a
fitted model as JSON: its vote on the columns that it reads, and nothing else of the table.
(This page is printed by `python -m psephos.scoring.schema`.)

| field | what it is |
| --- | --- |
| `format`, `version` | `"psephos plain model"`, 2; a reader refuses another version (the library reads 1, too: `psephos.scoring.renewed` makes 2 of it) |
| `model` | the class of the estimator |
| `classes` | the labels in their order; none where numbers are answered |
| `table` | `width`, the columns of the table of the fit; `named`, whether they had names: columns without names are found by their place |
| `columns` | those that are read: `name`, `place` in the table, `levels` (words) of a category, `may be absent` where the model answers without it |
| `target` | what is predicted, and how a score becomes an answer |
| `voters` | T voters: each votes K numbers on a case |
| `weights` | T weights of a case |
| `readout` | how votes and weights become a score, and a score probabilities |
| `vectors` | in files that `export` writes: generated `rows` with their `scores`, `probabilities` and `answers`, none of them a training row, and `words`: how columns, categories and classes are called, and the ballots of the first row |

**Values of a case** stand in the order of `columns`: a number of at most 1e150 in size, the word of a
category (another word is missing), `null` where missing. A word where a number is read is refused,
`5,1` and `5.1` alike, as is a number where a word is read. Parts know a category by its code: the
place of its word among `levels`.

**Parts.** `target`, `voters`, `weights` and `readout` are parts: objects with a `kind` and the
fields below, as in the model file. An array is a list, row by row (of shape (T, K): T lists of K
numbers), truth values 0 and 1; `null` in it is NaN, `{{"float": "inf"}}` is infinite, and
`{{"shape": [0, 5]}}` an array that holds nothing. `columns` are places among the `columns` of the
model, and positions ("position in `columns`") places in the part's own `columns`.

**Score.** With votes v (T, K) and weights w (T), `sum` is sum over t of w_t v_tk, `normalised` the
same divided by sum over t of abs(w_t). Two classes are one column: -1 for the first, 1 for the
second; K > 2 classes are K columns, 1 for the class and -1 / (K - 1) for the others. A score of
two classes within 2^-41 of 0 is 0, and one of several classes within 2^-41 of the greatest is the
greatest: ties go to the first class.

**Answered.** Every case gets a label or a number. It is a convention and no answer
(`answered` is false in the csv of `psephos predict` and of a scorer, 0 in SQL; words begin with
`no answer`) in three cases:

- *weight*: no voter has weight;
- *values*: a value is missing, and no voter that has weight and reads columns has the values that
  it needs. It needs one of its columns; all of them, if it abstains where one is missing. The
  columns that distances from cases are computed on count among those of each voter. A voter that
  reads no column, such as a base score or a prior, says the same of every case;
- *tie*: the score that decides (2 p - 1, or (K p - 1) / (K - 1), of calibrated probabilities p) is
  the same for all classes to 2^-41, or, of several labels, every label's is at its threshold; with
  losses, all answers have the same expected loss to 1e-12 of the greatest loss. A class that is the
  first of some but not all classes is an answer. Where a threshold of the probability decides,
  its rule answers ties; numbers have none.

**Readers.** The library (`psephos.scoring.vote_of`), a program of one file that needs Python alone
(`psephos export --scorer`; its source is `src/psephos/scoring/reader`), and a script for pages
(`psephos.scoring.script`; `src/psephos/scoring/script`) give the same scores to 1e-12. A kind that
has no reader is refused when the plain form is written.

## Example

A stump and its JSON (line breaks ours):

```json
{example}
```

## Parts, field by field
"""


def schema_page() -> str:
    """Return the page, in Markdown."""
    parts = [_part(kind) for kind in sorted(every_kind())]
    return _HEAD.format(example=_example()) + "\n" + "\n".join(parts)


def _example() -> str:
    one = np.zeros(1, dtype=np.intp)
    none = np.empty(0, dtype=np.bool_)
    side = np.array([[-1.0]])
    stump = StumpVoters(
        1, one, one, np.array([2.0]), np.zeros(1, np.bool_), np.zeros(2, np.intp), none, side, -side
    )
    weights, readout = Constant(1, np.array([1.5])), Readout("sum", "logistic", 2.0)
    vote = Vote(stump, weights, readout, Target(np.array(["healthy", "ill"])))
    data = plain_vote(vote, Schema(1, ("marker",)), "AdaBoostClassifier")
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()]
    return "{" + ",\n ".join(lines) + "}"


def _part(kind: str) -> str:
    """Return what a kind of part is, and its fields."""
    cls: Any = registered(kind)
    text = inspect.getdoc(cls) or ""
    summary, _, rest = text.partition("\nParameters\n----------\n")
    known = rest.partition("\nNotes\n-----\n")[0].partition("\nRaises\n------\n")[0].strip()
    named = [field.name for field in fields(cls)]
    body = f"\n\n```text\n{known}\n```" if known else ""
    own = f"Fields: {', '.join(f'`{name}`' for name in named)}."
    return f"### {kind}\n\n{summary.strip()}\n\n{own}{body}\n"


if __name__ == "__main__":
    sys.stdout.write(schema_page())
