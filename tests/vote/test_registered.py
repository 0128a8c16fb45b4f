"""Parts of votes are known before any recipe is imported."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import psephos
from psephos import PsephosError
from psephos.vote import Constant, ForeignVoters, codec, register_part
from psephos.vote.part import Part, Voters, Weighting

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


OF_PARTS = {"usage", "select", "take", "lowered", "divided", "marks", "named_rows"} | {
    "training_rows",
    "refusal",
}
OF_VOTERS = {
    "votes", "rule", "reasons", "sides", "weighted_sum", "primary", "kinds", "are_cases",
    "voter_names", "label", "how_said", "open", "read_members", "joined_parts", "n_trees",
    "shown_tree", "tree", "components", "row_names", "primary_beside", "abstaining",
    "derived",
}  # fmt: skip
OF_WEIGHTS = {
    "weights", "mean_share", "words", "fits", "of_votes", "asks", "relative", "sums_with",
    "primary_voters", "reserve", "available", "weighed", "similarities", "nearest", "kept_cases",
    "local_similarity", "anchor_scores", "prototype_batches", "where", "because",
}  # fmt: skip


def methods(kind):
    return {name for name, value in vars(kind).items() if callable(value) and name[0] != "_"}


def test_a_part_may_define_these_methods():
    """All that readers call on parts; what an operation can answer is not asked of a part."""
    assert methods(Part) == OF_PARTS
    assert methods(Voters) == OF_VOTERS
    assert methods(Weighting) == OF_WEIGHTS


def test_every_method_of_the_base_classes_is_defined_by_some_part():
    defined = set[str]()
    kinds = [kind for kind in codec._REGISTRY.values() if isinstance(kind, type)]  # or older forms
    for kind in [*kinds, ForeignVoters]:
        for base in kind.__mro__:
            if base not in (Part, Voters, Weighting):
                defined |= methods(base)
    missing = (OF_PARTS | OF_VOTERS | OF_WEIGHTS) - defined
    assert not missing


def test_no_member_of_a_part_is_found_by_its_name():
    """A part is asked by its methods: no other place looks for an attribute that it may have."""
    by_hand = re.compile(r'(?:has|get)attr\([\w.]*(?:voters|weighting|weights)\b, "(\w+)"')
    for file in SOURCE.parent.rglob("*.py"):
        # a reader has parts of its own, or the fields of operations; trees lie below votes
        if not {"scoring", "reading", "validation", "trees"} & set(file.parts):
            assert set(by_hand.findall(file.read_text())) <= {"tag", "node_votes"}, file


def test_a_method_named_nearly_like_an_optional_one_is_refused():
    class Misspelt(Constant):
        tag = "misspelt"

        def weigthed_sum(self, weights, X):
            return None

    with pytest.raises(PsephosError, match=r"Misspelt\.weigthed_sum: .*'weighted_sum'"):
        register_part(Misspelt)
    assert "misspelt" not in codec._REGISTRY
