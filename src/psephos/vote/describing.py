"""A fitted vote in sentences, and how it comes to its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos.files.cases import TIMES
from psephos.files.names import Names, backup_words, listed, percent, plural, sentence_name
from psephos.trees.tree_text import NodeAnswers, export_text
from psephos.vote.importance import Baseline, most_rows
from psephos.vote.looked_up import table_words
from psephos.vote.part import label_of
from psephos.vote.target import Target
from psephos.vote.vote import Vote

_LEAVES = 200  # of a tree that is written out
_SHARED = ("normalised", "loudest", "drawn")  # weights are shares: of a posterior, if one is asked
_CASES = 12  # training cases that vote, of which each is a line
_TREES = 5  # trees, or votes within the vote, that are written out
_LISTED = 5  # columns that most voters read
_VOTERS = 3  # numbers of equal voters that are listed
_PICKS = {
    "majority": "each voter counts for the class it votes for",
    "loudest": "what the voter of greatest weight says",
    "drawn": "what one voter says, drawn with the chance of its weight",
    "borda": "the class of most points: each voter ranks the classes",
    "median": "the weighted median of what the voters say",
}


def kept_words(vote: Vote) -> str:
    """Return that a vote keeps rows of the training table, in a sentence; '' if it keeps none."""
    rows, columns = vote.training_rows(), len(vote.columns)
    if not rows:
        return ""
    words = f"{plural(rows, 'training row')}, on {plural(columns, 'column')} at most"
    return f"The model keeps values of {words}: whoever has its file has them."


def products_words(vote: Vote, names: Names) -> str:
    """Return how many columns of a vote are products, and what a file needs; '' if none is."""
    used: list[int] = vote.columns.tolist()
    read = [names.columns[j] for j in used]
    products = [name for name in read if len(name.split(TIMES)) == 2]
    if not products:
        return ""
    ends = dict.fromkeys(one for name in read for one in name.split(TIMES))
    verb = "is the product" if len(products) == 1 else "are products"
    return (
        f"{len(products)} of {plural(len(read), 'column')} that it reads {verb} of two columns, "
        f"named with × between them: a table needs only {listed(list(ends))}."
    )


def returns_words(returns: Mapping[str, str]) -> list[str]:
    """Return in a sentence how often columns are chosen again, by column; none if it is unknown."""
    each = "; ".join(f"{sentence_name(name)} {how}" for name, how in returns.items())
    return [f"Chosen again, were a quarter of the cases others: {each}."] if each else []


def describe(vote: Vote, names: Names, title: str, *, heaviest: bool = False) -> list[str]:
    """Return a vote as sentences: one on the whole, then a tree's lines or one a kind of voter.

    Voters of equal content are one sentence. The percentage is their share of the weight over all
    (for local weights, over the anchors); in a sum of scores weights are no shares, and those that
    depend on the votes have none over all. `title` is the name of the model. With `heaviest` the
    voters of most weight come first, otherwise they keep the order of the vote.
    """
    names = names.in_sentences()
    head = f"{title}: {plural(vote.n_voters, 'voter')} ({vote.weighting_words()}) "
    rule = answer_rule(vote)
    sentences = [head + columns_words(vote, names) + (f" Answer: {rule}." if rule else "")]
    if vote.n_voters == 1:
        lines = _tree_lines(vote, names)
        if lines:
            return sentences + lines
    sentences += table_words(vote, _classes(vote))
    share = vote.weighting.mean_share()
    sizes = [np.abs(v).max() for t in range(vote.n_voters) for _, v in vote.voters.sides(t)]
    scale, shared = float(max(sizes, default=0.0)), vote.readout.score in _SHARED
    leaves = vote.weighting.where(0, names.columns, names.levels)
    groups = [[t] for t in range(vote.n_voters)] if leaves else vote.alike()
    if heaviest:
        groups.sort(key=lambda voters: -float(share[voters].sum()))
    # of training cases that are all alike but for their values, a few show what they are
    shown = _CASES if vote.voters.are_cases() else _most_shown(vote, groups)
    for voters in groups[:shown]:
        number = ", ".join(str(t + 1) for t in voters[:_VOTERS])
        more = len(voters) - _VOTERS
        who = f"Voter {number}" if len(voters) == 1 else f"Voters {number}"
        who += f" and {more} more" if more > 0 else ""
        facts = [f"× {len(voters)}"] if len(voters) > 1 else []
        if shared and vote.weighting.asks(vote.voters.usage()) is None:
            facts.insert(0, percent(float(share[voters].sum())))
        part = f" ({', '.join(facts)})" if facts else ""
        sentences.append(f"{who}{part}: {_rule(vote, voters[0], names, scale)}.")
    rest = sum(len(voters) for voters in groups[shown:])
    if rest:
        kind = "training case" if vote.voters.are_cases() else "voter"
        read = "" if vote.voters.are_cases() else f" {_most_read(vote, names)}"
        sentences.append(f"{plural(rest, kind)} more, in vote_.voters.{read}".rstrip())
    return sentences


def trained_words(vote: Vote, columns: Sequence[str], baseline: Baseline | None) -> list[str]:
    """Return the columns of most importance, and what a vote was trained on, in sentences."""
    named = _classes(vote)
    on = plural(vote.n_features, "column") + (f", classes {listed(named)}" if named else "")
    if baseline is None:
        return [f"Trained on {on}."]
    order: list[int] = np.argsort(-baseline.importance, kind="stable").tolist()
    read: list[int] = vote.columns.tolist()
    shares = [f"{sentence_name(columns[read[j]])} {percent(float(baseline.importance[j]))}"
              for j in order if baseline.importance[j] > 0]  # fmt: skip
    words = [f"Columns by importance: {listed(shares, _CASES)}."] if shares else []
    n = 0 if baseline.profile is None else baseline.profile.n_rows
    sampled = " or more" if n == most_rows(len(read)) else ""
    return [*words, f"Trained on {f'{n}{sampled} rows, ' if n else ''}{on}."]


def _most_shown(vote: Vote, groups: list[list[int]]) -> int:
    """Return how many voters are written out: a few, where no sentence holds a whole voter."""
    parts = vote.voters.joined_parts()
    trees = all(part.n_trees(t) for part in parts for t in range(part.n_voters))
    inner = all(kind.startswith("votes of") for kind in vote.voters.kinds())
    whole = any(vote.voters.sides(voters[0]) for voters in groups)
    return _TREES if (trees or inner) and not whole and len(groups) > _TREES + 1 else len(groups)


def _most_read(vote: Vote, names: Names) -> str:
    """Return which columns most voters read, and by how many of the voters each is."""
    counts = np.asarray(vote.voters.usage().sum(axis=0)).ravel()
    first: list[int] = np.argsort(-counts, kind="stable")[:_LISTED].tolist()
    found = [f"{names.columns[j]} ({counts[j]})" for j in first if counts[j]]
    voters = f"Columns that most of the {vote.n_voters} voters read"
    return f"{voters} (by how many): {', '.join(found)}." if found else ""


def columns_words(vote: Vote, names: Names) -> str:
    """Return what a vote reads, such as ``read 3 of 30 columns: a, b, c.``.

    Columns that are read only where another is missing are counted, and not named; those that act
    only through the distance between cases are named again, unless they are all.
    """
    read: list[int] = vote.used.tolist()
    columns = [names.columns[j] for j in read]
    verb = "reads" if vote.n_voters == 1 else "read"
    if not columns:
        return f"{verb} no column of {vote.n_features}: every case gets the same answer."
    spare = backup_words(len(vote.backup))
    alone: list[int] = vote.near_only.tolist()
    near = [names.columns[j] for j in alone]
    acts = "acts" if len(near) == 1 else "act"
    who = listed(near) if len(near) < len(read) else "it" if len(near) == 1 else "they"
    only = f"; {who} {acts} only through the distance between cases" if near else ""
    of = plural(vote.n_features, "column")
    return f"{verb} {len(columns)} of {of}: {listed(columns)}{spare}{only}."


def _rule(vote: Vote, voter: int, names: Names, scale: float) -> str:
    rule = vote.voters.rule(voter, names.columns, names.levels)
    where = vote.weighting.where(voter, names.columns, names.levels)
    rule = label_of(vote.voters, voter) + (f"{where}: {rule}" if where else rule)
    sides = vote.voters.sides(voter)
    words = [answer_words(vote, value, scale) for _, value in sides]
    if len(words) > 1:
        parts = [when.partition(",") for when, _ in sides[1:]]
        rest = [f", {a} {w}{b}{c}" for (a, b, c), w in zip(parts, words[1:], strict=True)]
        return f"if {rule} then {words[0]}{''.join(rest)}"
    if not words:
        return rule + _about(vote, voter)
    alike = vote.readout.score == "normalised" and words[0] == "nothing"
    one = "each class alike" if alike else words[0]
    return f"{rule} then {one}" if rule.startswith("if ") else f"{rule} → {one}"


def _about(vote: Vote, voter: int) -> str:
    """Return ``, for class ill`` of a tree that moves one of several scores."""
    if vote.target.n_outputs == 1 or vote.voters.n_trees(voter) != 1:
        return ""
    moves = np.flatnonzero(vote.voters.shown_tree(voter, 0).votes.any(axis=0))
    return f", for {vote.target.about(int(moves[0]))}" if len(moves) == 1 else ""


def _tree_lines(vote: Vote, names: Names) -> list[str]:
    """Return the lines of a vote that is one tree; none if it is something else, or too large."""
    tree = vote.voters.tree(0)
    if tree is None or not 1 < tree.n_leaves <= _LEAVES:
        return []
    scale = float(np.abs(tree.value).max(initial=0.0))
    node_votes: Any = getattr(vote.voters, "node_votes", tree.value)
    words = [answer_words(vote, value, scale) for value in node_votes]
    text = export_text(tree, names.columns, names.levels, answers=NodeAnswers(words))
    return text.split("\n")


# ---------------------------------------------------------------------- the answer
def answer_words(vote: Vote, value: NDArray[np.float64], scale: float = 0.0) -> str:
    """Return what a (K,) vote says: its class, with its share or what it adds, or its number.

    Such as ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``2.5``; ``nothing`` where it is 0. See the
    `vote_words` of targets. What is rounding beside votes of the size `scale` is 0.
    """
    target: Any = vote.target
    return target.vote_words(value, scale, vote.readout.score == "sum")


def answer_rule(vote: Vote) -> str:
    """Return how votes become the answer; '' of a plain sum or mean of voters of one kind.

    Such as ``the median of what the voters say, weighed by class (ill × 5)``.
    """
    parts = [_combined(vote)]
    if vote.readout.calibration is not None:
        first = "" if parts[0] else "probabilities are "
        parts.append(first + vote.readout.calibration.words(_classes(vote)))
    if isinstance(vote.target, Target):
        parts.append(vote.target.rule())
    return ", ".join(part for part in parts if part)


def before_weighing(vote: Vote, score: NDArray[np.float64]) -> str:
    """Return what a (K,) score answers without the calibration and weights of classes; '' if none.

    Its contributions sum to that score, and not to the answer.
    """
    calibration, target = vote.readout.calibration, vote.target
    if calibration is None or target.kind == "multilabel":
        return ""
    plain = replace(vote.readout, calibration=None)
    chances = plain.probabilities(score[None], target)[0].tolist()
    shares = [f"{c} {percent(p)}" for c, p in zip(_classes(vote), chances, strict=True)]
    shown = sorted(range(len(shares)), key=lambda k: -chances[k])[:3]
    said = ", ".join(shares[k] for k in shown)
    return f"{calibration.words(_classes(vote))}; the votes alone say {said}"


def _classes(vote: Vote) -> list[str]:
    """Return the names of classes or labels; none of numbers."""
    labels: list[Any] = getattr(vote.target, "classes", np.empty(0)).tolist()
    return [sentence_name(str(label)) for label in labels]


def _combined(vote: Vote) -> str:
    readout = vote.readout
    if readout.score == "trimmed mean":
        cut = percent(readout.cut)
        return f"the mean of what the voters say without the {cut} of the weight at either end"
    if readout.score in _PICKS:
        return _PICKS[readout.score]
    joined = getattr(vote.voters, "tag", "") == "joined voters" and vote.n_voters > 1
    if readout.score != "normalised" or not joined:
        return ""
    if not vote.target.n_classes:
        return "the weighted mean of the voters' numbers"
    kinds = {_says(vote.voters, t) for t in range(vote.n_voters)} - {""}
    if kinds == {"probability"}:
        return "the weighted mean of the voters' probabilities"
    return "" if kinds - {"answer"} else "each voter counts for the class it answers"


def _says(joined: Any, voter: int) -> str:
    """Return what a voter says; '' of a tree whose answers are sure: then it is both."""
    part = joined.parts[int(joined.part[voter])]
    says: str | None = part.how_said()
    if says is not None or joined.n_trees(voter) != 1:
        return says or "vote"
    shown = joined.shown_tree(voter, 0)
    said = shown.votes[shown.tree.n_children == 0]
    return "" if np.isclose(np.abs(said).max(axis=1), 1.0).all() else "probability"
