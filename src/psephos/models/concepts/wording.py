"""Version spaces in words: what is left of each, and which rows were left out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.estimator.labels import row_word
from psephos.models.concepts.elimination import number_of
from psephos.models.concepts.version_spaces import VersionSpaces
from psephos.vote.names import Names, listed, plural
from psephos.vote.voters.conjunctive_space import ConjunctiveSpace, Hypotheses
from psephos.vote.voters.counted import in_words
from psephos.vote.voters.hypotheses import HypothesisVoters

_LISTED = 6  # rows, or hypotheses of G, that a sentence names
_TESTS = 20  # of a hypothesis
_DRAWS = 1000  # where they cannot be counted


def space_words(memory: VersionSpaces, names: Names, vote: Any) -> list[str]:
    """Return a sentence for each concept, its number of hypotheses, S and G, and the rows left out.

    `names`: of the table, with the classes. `vote`: of the hypotheses, some of which may have been
    drawn.
    """
    classes = names.classes[1:] if len(memory.concepts) == 1 else names.classes
    words: list[str] = []
    for k, concept in enumerate(memory.concepts):
        number, error = number_of(memory.space, concept, _DRAWS)
        about = "" if error == 0 else "about "
        told = f"Class {classes[k]}: {about}{in_words(number)} {_agree(number)} with the rows"
        some = _listed_voters(vote, k)
        if 0 < some < number:
            told += f", of which {some} were drawn by lot to vote"
        told += f". Most specific (S): {_rules(memory.space, concept.specific, names)[0]}."
        if concept.general_kept:
            rules = _rules(memory.space, concept.general, names)
            told += f" Most general (G), {len(rules)}: {'; '.join(rules[:_LISTED])}"
            told += f" and {len(rules) - _LISTED} more." if len(rules) > _LISTED else "."
        else:
            told += " The most general (G) are more than max_boundary."
        words.append(told)
    out = collapsed(memory, np.array(names.classes), 0)
    if out:
        left = plural(len(set(memory.left_out.tolist())), "row")
        words.append(f"Of {memory.n_rows} rows {left} left out: {out}.")
    return words


def _agree(number: int) -> str:
    return "conjunction agrees" if number == 1 else "conjunctions agree"


def _listed_voters(vote: Any, concept: int) -> int:
    """Return how many hypotheses vote one by one for a concept; 0 where they are counted."""
    voters = vote.voters
    if voters.tag == "joined voters":  # a vote a concept
        voters = voters.parts[int(voters.part[concept])]
        voters = voters.inner[0].voters
    return voters.n_voters if voters.tag == "hypotheses" else 0


def _rules(space: ConjunctiveSpace, found: Hypotheses, names: Names) -> list[str]:
    none = np.zeros(1)
    voters = HypothesisVoters.of(space, found, none, none)
    rules: list[str] = []
    for t in range(voters.n_voters):
        tests = voters.rule(t, names.columns, names.levels).split(" and ")
        more = len(tests) - _TESTS
        rules.append(" and ".join(tests[:_TESTS]) + (f" and {more} tests more" if more > 0 else ""))
    return rules


# ---------------------------------------------------------------------- rows left out
def collapses(memory: VersionSpaces, classes: NDArray[Any]) -> list[str]:
    """Return the rows that were left out, in words, one by one."""
    names = classes[1:] if len(memory.concepts) == 1 else classes
    pairs = zip(memory.left_out.tolist(), memory.left_out_of.tolist(), strict=True)
    return [_collapsed([_named(row)], names[k]) for row, k in pairs]


def collapsed(memory: VersionSpaces, classes: NDArray[Any], known: int) -> str:
    """Return the same of those beyond the first `known` in a sentence; '' if there are none."""
    names = classes[1:] if len(memory.concepts) == 1 else classes
    rows: dict[int, list[str]] = {}
    pairs = zip(memory.left_out.tolist(), memory.left_out_of.tolist(), strict=True)
    for row, k in list(pairs)[known:]:
        rows.setdefault(k, []).append(_named(row))
    return "; ".join(_collapsed(own, names[k]) for k, own in sorted(rows.items()))


def _named(row: int | str) -> str:
    return row if isinstance(row, str) else row_word(row)


def _collapsed(rows: list[str], label: Any) -> str:
    them = "it" if len(rows) == 1 else "them"
    return (
        f"{listed(rows, _LISTED)}: no conjunction for class {label!s} agrees with {them} and the "
        "rows before"
    )
