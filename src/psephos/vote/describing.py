"""Description of a fitted vote in sentences, of how it predicts, and of what it looks up."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from psephos._types import Floats
from psephos.files.cases import TIMES
from psephos.files.names import Names, backup_words, fixed, listed, percent, plural, sentence_name
from psephos.trees.tree_text import NodeAnswers, export_text
from psephos.vote.importance import Baseline, most_rows
from psephos.vote.part import label_of
from psephos.vote.target import Target
from psephos.vote.vote import Vote

_LABELS = 20  # rows of a table of posteriors that are written out
_LEAVES = 200  # of a tree that is written out
_SHARED = ("normalised", "loudest", "drawn")  # weights are shown as shares
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
    """Return a sentence on the training values that a vote keeps; '' if it keeps none."""
    rows, columns = vote.training_rows(), len(vote.columns)
    if not rows:
        return ""
    words = f"{plural(rows, 'training row')}, on {plural(columns, 'column')} at most"
    return f"The model keeps values of {words}: whoever has its file has them."


def products_words(vote: Vote, names: Names) -> str:
    """Return a sentence on columns that are products of two; '' if there are none."""
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
    """Return a sentence on how often each column is chosen again; [] if it is unknown."""
    each = "; ".join(f"{sentence_name(name)} {how}" for name, how in returns.items())
    return [f"Chosen again, if a quarter of the cases were new: {each}."] if each else []


def describe(vote: Vote, names: Names, title: str, *, heaviest: bool = False) -> list[str]:
    """Return a vote as sentences: a summary, then the lines of a tree or a sentence per voter.

    Equal voters share a sentence. Its percentage is their mean share of the weight (for local
    weights, over the anchors); a sum of scores, and weights that depend on the votes, have none.
    `title` is the name of the model. With `heaviest` the voters of most weight come first,
    otherwise they keep the order of the vote.
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
    # all training cases read alike: a few are enough
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
    """Return sentences on the most important columns, and on the training table of a vote."""
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
    """Return the number of voters to describe: a few if they are too large for a sentence."""
    parts = vote.voters.joined_parts()
    trees = all(part.n_trees(t) for part in parts for t in range(part.n_voters))
    inner = all(kind.startswith("votes of") for kind in vote.voters.kinds())
    whole = any(vote.voters.sides(voters[0]) for voters in groups)
    return _TREES if (trees or inner) and not whole and len(groups) > _TREES + 1 else len(groups)


def _most_read(vote: Vote, names: Names) -> str:
    """Return a sentence on the columns that most voters read, with their numbers of voters."""
    counts = np.asarray(vote.voters.usage().sum(axis=0)).ravel()
    first: list[int] = np.argsort(-counts, kind="stable")[:_LISTED].tolist()
    found = [f"{names.columns[j]} ({counts[j]})" for j in first if counts[j]]
    voters = f"Columns that most of the {vote.n_voters} voters read"
    return f"{voters} (by how many): {', '.join(found)}." if found else ""


def columns_words(vote: Vote, names: Names) -> str:
    """Return a clause on the columns that a vote reads: ``read 3 of 30 columns: a, b, c.``.

    Columns that are read only where another is missing are counted but not named. Those that only
    the distance between cases reads are named again, unless they are all.
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
    """Return ``, for class ill`` for a tree that votes on one of several outputs."""
    if vote.target.n_outputs == 1 or vote.voters.n_trees(voter) != 1:
        return ""
    moves = np.flatnonzero(vote.voters.shown_tree(voter, 0).votes.any(axis=0))
    return f", for {vote.target.about(int(moves[0]))}" if len(moves) == 1 else ""


def _tree_lines(vote: Vote, names: Names) -> list[str]:
    """Return the lines of a vote that is one tree; [] if it is not, or is too large."""
    tree = vote.voters.tree(0)
    if tree is None or not 1 < tree.n_leaves <= _LEAVES:
        return []
    scale = float(np.abs(tree.value).max(initial=0.0))
    node_votes: Any = getattr(vote.voters, "node_votes", tree.value)
    words = [answer_words(vote, value, scale) for value in node_votes]
    return export_text(tree, names.columns, names.levels, answers=NodeAnswers(words)).split("\n")


# ---------------------------------------------------------------------- the prediction
def answer_words(vote: Vote, value: Floats, scale: float = 0.0) -> str:
    """Return a (K,) vote in words: its class, with its share or contribution, or its number.

    For example ``ill``, ``ill 81.0 %``, ``+0.31 for ill``, ``2.5``; ``nothing`` for 0. See the
    `vote_words` of targets. Rounding errors of votes of the size `scale` count as 0.
    """
    target: Any = vote.target
    return target.vote_words(value, scale, vote.readout.score == "sum")


def answer_rule(vote: Vote) -> str:
    """Return a clause on how votes are combined; '' for a sum or mean of voters of one kind.

    For example ``the median of what the voters say, weighed by class (ill × 5)``.
    """
    parts = [_combined(vote)]
    if vote.readout.calibration is not None:
        first = "" if parts[0] else "probabilities are "
        parts.append(first + vote.readout.calibration.words(_classes(vote)))
    if isinstance(vote.target, Target):
        parts.append(vote.target.rule())
    return ", ".join(part for part in parts if part)


def before_weighing(vote: Vote, score: Floats) -> str:
    """Return a note on the probabilities of a (K,) score before calibration; '' without one.

    Contributions sum to the score, which the calibration (or weights of classes) then changes.
    """
    calibration, target = vote.readout.calibration, vote.target
    if calibration is None or target.kind == "multilabel":
        return ""
    plain = replace(vote.readout, calibration=None)
    chances = plain.probabilities(score[None], target)[0].tolist()
    shares = [f"{c} {percent(p)}" for c, p in zip(_classes(vote), chances, strict=True)]
    shown = sorted(range(len(shares)), key=lambda k: -chances[k])[:3]
    before = ", ".join(shares[k] for k in shown)
    return f"{calibration.words(_classes(vote))}; the votes alone say {before}"


def _classes(vote: Vote) -> list[str]:
    """Return the names of classes or labels; [] of numeric targets."""
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
    """Return what a voter's vote is; '' for a tree of pure leaves: answer and probability alike."""
    says: str | None = joined.parts[int(joined.part[voter])].how_said()
    if says is not None or joined.n_trees(voter) != 1:
        return says or "vote"
    shown = joined.shown_tree(voter, 0)
    leaves = shown.votes[shown.tree.n_children == 0]
    return "" if np.isclose(np.abs(leaves).max(axis=1), 1.0).all() else "probability"


# ---------------------------------------------------------------------- predictions from a table
class LookedUp(NamedTuple):
    """The look-up of one label, or class, for one case."""

    name: str
    yes: float  # the weight of the voters for it: a number of neighbours
    total: float  # the weight of all voters
    place: int  # the column of the table that is read, 0 ... `most`
    most: int
    chance: float  # its probability; of classes divided by their sum
    given: bool | None  # whether the label is predicted; None of classes

    def found(self, who: str) -> str:
        """Return ``5 of 10 neighbours have it``."""
        if not self.total:
            return f"no {who.removesuffix('s')}"
        have = "have it" if self.given is not None else "are it"
        words = f"{self.yes:.6g} of {self.total:.6g} {who} {have}"
        if (round(self.yes, 9), round(self.total, 9)) == (self.place, self.most):
            return words
        return f"{words}, read as {self.place} of {self.most}"

    def words(self, who: str) -> str:
        """Return ``5 of 10 neighbours have it: probability 0.364, not given``."""
        answer = "" if self.given is None else ", given" if self.given else ", not given"
        return f"{self.found(who)}: probability {fixed(self.chance)}{answer}"


def looked_up(ballots: Any, case: int) -> list[LookedUp]:
    """Return the look-up of each label or class for a case (from 0); [] of other read-outs."""
    vote = ballots.vote
    posterior: Any = getattr(vote.readout.calibration, "posterior", None)
    if posterior is None:
        return []
    target, score = vote.target, ballots.score[[case]]
    share = replace(vote.readout, calibration=None).probabilities(score, target)[0]
    most, total = posterior.shape[1] - 1, float(ballots.mass[case])
    multilabel = target.kind == "multilabel"
    given = set(ballots.given(case)) if multilabel else set[int]()
    rows = zip(target.classes.tolist(), share.tolist(), ballots.chances(case), strict=True)
    return [
        LookedUp(
            str(name), p * total, total, int(np.rint(p * most)), most, chance,
            k in given if multilabel else None,
        )
        for k, (name, p, chance) in enumerate(rows)
    ]  # fmt: skip


def looked_up_words(ballots: Any, case: int) -> list[str]:
    """Return `looked_up` as ``ill: 5 of 10 neighbours have it: ...``, likeliest first."""
    found = sorted(looked_up(ballots, case), key=lambda one: (not one.given, -one.chance))
    who = who_votes(ballots.vote)
    return [f"{sentence_name(one.name)}: {one.words(who)}" for one in found]


def who_votes(vote: Any) -> str:
    """Return the name of the voters: 'neighbours' or 'votes'."""
    return "neighbours" if vote.weighting.tag == "neighbours" else "votes"


def table_words(vote: Any, names: Sequence[str]) -> list[str]:
    """Return a sentence per label or class with its row of the table; [] of other read-outs."""
    posterior: Any = getattr(vote.readout.calibration, "posterior", None)
    if posterior is None:
        return []
    most, who = posterior.shape[1] - 1, who_votes(vote)
    words = [
        f"Posterior of {name} where 0, 1, ..., {most} of {most} {who} say it:"
        f" {' '.join(fixed(p) for p in row)}"
        for name, row in zip(names, posterior[:_LABELS].tolist(), strict=False)
    ]
    more = len(posterior) - len(words)
    return [*words, *([f"Posteriors of {more} labels more: posterior_."] if more > 0 else [])]
