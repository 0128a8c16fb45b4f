"""One tree of a vote: its text, its rules and its picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from psephos._errors import PsephosError, PsephosTypeError
from psephos._types import Axes, ColumnLists, Floats
from psephos.base import VoteEstimator
from psephos.estimator.params import Interval
from psephos.explain.drawing import axes_of, fitted_vote, plain
from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import Condition, condition_words, split_conditions
from psephos.trees.tree_text import NodeAnswers, leaf_words, leaves_below, nodes_table, rules_table
from psephos.trees.tree_text import export_text as text_of
from psephos.vote import Names, Target, Vote, Voters
from psephos.vote.frames import Framed
from psephos.vote.part import ShownTree

_LETTERS = 26  # of a line that is drawn
_PALETTE = ("#dbe9f6", "#fde3c8", "#dcefdc", "#f6d9dc", "#e8def2", "#ece2d8", "#f4dcee", "#e6e6e6")


@dataclass(frozen=True, eq=False)
class TreeDisplay(Framed):
    """One tree of a fitted vote.

    Parameters
    ----------
    tree : Tree
        Its columns are those of the table.
    names : Names
        The words of the columns and of their categories.
    answers : NodeAnswers
        What every node answers.
    voter : int
        Its number among the voters, from 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from psephos import AdaBoostClassifier
    >>> from psephos.explain import TreeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> stump = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> model = AdaBoostClassifier(stump, n_estimators=1, random_state=0).fit(X, y)
    >>> print(TreeDisplay.from_estimator(model).text())
    petal width (cm) <= 0.80000004: 0
    petal width (cm) > 0.80000004 or missing
    |   petal width (cm) <= 1.75 or missing: 1
    |   petal width (cm) > 1.75: 2
    """

    tree: Tree
    names: Names
    answers: NodeAnswers
    voter: int = 0

    @classmethod
    def from_estimator(
        cls, estimator: VoteEstimator, voter: int | None = None, tree: int = 0
    ) -> Self:
        """Return a tree of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator of psephos
            Whose vote holds trees, alone or among other voters.
        voter : int, default=None
            Its number, from 0, as in the estimator's ballots; None: the first that is a tree.
        tree : int, default=0
            Which tree of the voter, where a voter is a forest.

        Raises
        ------
        PsephosError
            If there is no such voter or tree, or the voter is none.
        """
        vote: Vote = fitted_vote(estimator)
        number = _first_tree(vote.voters) if voter is None else voter
        if not Interval(0, vote.n_voters - 1, whole=True).allows(number):
            raise PsephosError(
                f"voter must be a number from 0 to {vote.n_voters - 1}; got {number!r}."
            )
        grown, shares, votes = _shown(vote.voters, number, tree)
        return cls(grown, estimator.schema_.words(), _answers(vote, shares, votes), number)

    # ------------------------------------------------------------------ reading it
    def text(
        self, *, max_depth: int | None = None, digits: int | None = None, spread: bool = False
    ) -> str:
        """Return the tree as indented text; see `psephos.explain.export_text`."""
        words = self.names.in_sentences()
        return text_of(
            self.tree, words.columns, words.levels,
            answers=self.answers, max_depth=max_depth, digits=digits, spread=spread,
        )  # fmt: skip

    def rules(self) -> ColumnLists:
        """Return one entry a leaf: the rule that leads to it, its answer, its training rows.

        Keys: ``node``, ``rule``, ``answer``, ``share_<class>`` where the leaves hold class shares,
        ``weight`` and ``n_rows`` where they are known.
        """
        return rules_table(self.tree, self.names.columns, self.names.levels, answers=self.answers)

    def table(self) -> ColumnLists:
        """Return one entry a node, parents before their children.

        Keys: ``node``, ``parent``, ``depth``, ``condition``, ``column``, ``missing``, ``gain``,
        and ``answer`` and what follows as in `rules`.
        """
        return nodes_table(self.tree, self.names.columns, self.names.levels, self.answers)

    # ------------------------------------------------------------------ drawing it
    def plot(self, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_depth : int, default=None
            Branches below are counted, not drawn; None draws all.

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        boxes = boxes_of(self, max_depth)
        size = (1.5 + 1.9 * max(b.x for b in boxes), 1.2 + 1.1 * max(b.level for b in boxes))
        axes: Any = axes_of(ax, figsize=tuple(np.clip(size, 3.0, 40.0)))
        at = {box.node: (box.x, -float(box.level)) for box in boxes}
        for box in boxes:
            x, y = at[box.node]
            if box.parent >= 0:
                px, py = at[box.parent]
                axes.plot([px, x], [py, y], color="0.6", lw=1, zorder=1)
                place = (0.6 * x + 0.4 * px, 0.6 * y + 0.4 * py)
                axes.annotate(
                    plain(_short(box.edge)), place, ha="center", va="center", fontsize=7, zorder=2,
                    bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
                )  # fmt: skip
            fill = _PALETTE[box.tone % len(_PALETTE)] if box.tone >= 0 else "#f4f4f4"
            kind = "round,pad=0.4" if box.leaf else "square,pad=0.4"
            words = "\n".join(plain(_short(line)) for line in box.lines)
            axes.annotate(
                words, (x, y), ha="center", va="center",
                fontsize=8, zorder=3, bbox={"boxstyle": kind, "fc": fill, "ec": "0.4"},
            )  # fmt: skip
        axes.set_xlim(-0.6, max(b.x for b in boxes) + 0.6)
        axes.set_ylim(-max(b.level for b in boxes) - 0.4, 0.4)
        axes.set_axis_off()
        return axes


def export_text(
    tree: Any,
    names: Sequence[str] | None = None,
    levels: Mapping[int, Sequence[str]] | None = None,
    classes: Sequence[str] = (),
    *,
    answers: NodeAnswers | None = None,
    max_depth: int | None = None,
    digits: int | None = None,
    spread: bool = False,
) -> str:
    """Return a tree, or the first tree of a fitted estimator, as indented text: a line a branch.

    Each leaf shows class share and weight, where known.

    Parameters
    ----------
    tree : Tree or fitted estimator of psephos
        An estimator brings the words of its columns, categories and classes.
    names : sequence of str, default=None
        Of the table's columns; None: those of the estimator, of a `Tree` 'column 0' and so on.
    levels : mapping of int to sequence of str, default=None
        Of a `Tree`: the categories of each categorical column, by code.
    classes : sequence of str, default=()
        Of a `Tree` whose values are class shares.
    answers : Answers, default=None
        Of a `Tree`: what the nodes answer; None: as their values say.
    max_depth : int, default=None
        Branches below are counted, not written; None writes all.
    digits : int, default=None
        Of a threshold; None: as many as divide the cases as the tree does.
    spread : bool, default=False
        Where rows of missing value are spread over all branches, say which part of them goes to
        each. False: 'or missing' stands only at a branch that takes them whole.

    Raises
    ------
    PsephosError
        If it is neither, or no voter of the estimator is a tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from psephos import C45Classifier
    >>> from psephos.explain import export_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(export_text(C45Classifier(min_samples_leaf=20).fit(X, y)))
    petal width (cm) <= 0.6: 0 (100%, weight 50)
    petal width (cm) > 0.6
    |   petal width (cm) <= 1.7: 1 (91%, weight 54)
    |   petal width (cm) > 1.7: 2 (98%, weight 46)
    """
    if not isinstance(tree, Tree):
        if not isinstance(tree, VoteEstimator):
            kind = type(tree).__name__
            raise PsephosTypeError(
                f"export_text takes a fitted estimator of psephos or a Tree, not {kind}."
            )
        if levels or classes or answers:
            raise PsephosError(
                "levels, classes and answers are of a Tree: an estimator has its own."
            )
        check_is_fitted(tree)
        shown = TreeDisplay.from_estimator(tree)
        words = shown.names.in_sentences()
        tree, levels, answers = shown.tree, words.levels, shown.answers
        names = words.columns if names is None else names
    how: Any = {"answers": answers, "max_depth": max_depth, "digits": digits, "spread": spread}
    return text_of(tree, names, levels, classes, **how)


# ---------------------------------------------------------------------- finding the tree
def _first_tree(voters: Voters) -> int:
    """Return the number of the first voter that is a tree or a forest."""
    for t in range(voters.n_voters):
        if voters.n_trees(t):
            return t
    raise PsephosError("no voter of this vote is a tree: there is none to show.")


def _shown(voters: Voters, voter: int, tree: int) -> ShownTree:
    """Return the tree, its class shares if its values are such, and its votes; see `_answers`."""
    size = voters.n_trees(voter)
    if not size:
        raise PsephosError(
            f"voter {voter} is no tree: the first tree is voter {_first_tree(voters)}."
        )
    if not Interval(0, size - 1, whole=True).allows(tree):
        raise PsephosError(
            f"tree must be a number from 0 to {size - 1}, of voter {voter}; got {tree!r}."
        )
    return voters.shown_tree(voter, tree)


def _answers(vote: Vote, shares: Floats | None, votes: Floats) -> NodeAnswers:
    """Return what nodes answer: classes where they vote for one, else numbers."""
    target = vote.target
    if not isinstance(target, Target):
        return NodeAnswers(target.words(votes))
    classes = target.classes.astype(str).tolist()
    if shares is None and vote.readout.link == "share":
        shares = vote.readout.probabilities(votes, target)
    if shares is not None or _are_codes(votes, target.code):
        return NodeAnswers(target.words(votes), classes, shares)
    return NodeAnswers([_numbers(row, target.outputs) for row in votes.tolist()], classes)


def _are_codes(votes: Floats, code: Floats) -> bool:
    """Return whether every vote is the code of a class."""
    if votes.shape[1] != code.shape[1]:
        return False
    return bool((votes[:, None, :] == code[None]).all(axis=2).any(axis=1).all())


def _numbers(row: Sequence[float], outputs: Sequence[str]) -> str:
    """Return a vote in numbers: with several outputs, those that are not 0 by name."""
    if len(row) == 1:
        return f"{row[0]:+.5g}"
    named = [f"{name} {v:+.5g}" for name, v in zip(outputs, row, strict=True) if v]
    return ", ".join(named) or "0"


# ---------------------------------------------------------------------- where its nodes stand
@dataclass(frozen=True)
class Box:
    """One node of the picture."""

    node: int
    parent: int  # its node; -1 at the root
    edge: str  # what the parent asks of the rows that come here
    lines: tuple[str, ...]  # what stands in the box
    leaf: bool
    tone: int  # the place of its class; -1 if it answers with a number
    x: float  # leaves stand at 0, 1, ..., parents over the middle of their children
    level: int


def boxes_of(shown: TreeDisplay, max_depth: int | None = None) -> list[Box]:
    """Return the nodes of the picture, parents first; none below `max_depth`."""
    tree, level = shown.tree, {0: 0}
    order, across = [], dict[int, float]()
    origin: dict[int, tuple[int, Condition | None]] = {0: (-1, None)}
    todo, ends = [0], 0
    while todo:
        node = todo.pop()
        order.append(node)
        children = tree.children(node).tolist()
        if not children or level[node] == max_depth:
            across[node], ends = float(ends), ends + 1
            continue
        for child, way in zip(children, split_conditions(tree, node), strict=True):
            level[child], origin[child] = level[node] + 1, (node, way)
        todo += children[::-1]
    for node in reversed(order):
        if node not in across:
            children = tree.children(node)
            across[node] = (across[int(children[0])] + across[int(children[-1])]) / 2
    return [
        Box(
            node, origin[node][0], _edge(origin[node][1], shown.names),
            _lines(shown, node, level[node] == max_depth), not tree.n_children[node],
            _tone(shown.answers, node), across[node], level[node],
        )
        for node in order
    ]  # fmt: skip


def _lines(shown: TreeDisplay, node: int, cut: bool) -> tuple[str, ...]:
    tree, words = shown.tree, leaf_words(shown.tree, node, shown.answers)
    if not tree.n_children[node]:
        return (words,)
    if cut:
        return (words, f"{leaves_below(tree, node)} leaves below")
    return (shown.names.columns[int(tree.column[node])], words)


def _tone(answers: NodeAnswers, node: int) -> int:
    word = answers.words[node]
    return answers.classes.index(word) if word in answers.classes else -1


def _edge(way: Condition | None, names: Names) -> str:
    """Return what is asked of the rows of a branch, without the name of the column."""
    if way is None:
        return ""
    return condition_words(way, [""] * (way.column + 1), names.levels, spread=False).strip()


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
