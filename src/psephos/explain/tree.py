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

_LETTERS = 26  # characters of a line in the plot
_PALETTE = ("#dbe9f6", "#fde3c8", "#dcefdc", "#f6d9dc", "#e8def2", "#ece2d8", "#f4dcee", "#e6e6e6")


@dataclass(frozen=True, eq=False)
class TreeDisplay(Framed):
    """One tree of a fitted vote.

    Parameters
    ----------
    tree : Tree
        With column positions of the table.
    names : Names
        Names of the columns and of their categories.
    answers : NodeAnswers
        The prediction at each node.
    voter : int
        The number of the voter, from 0.

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
            With a tree or a forest among its voters.
        voter : int, default=None
            The number of the voter, from 0, as in the estimator's ballots; None: the first that is
            a tree or a forest.
        tree : int, default=0
            The number of the tree, if the voter is a forest.

        Raises
        ------
        PsephosError
            If the voter or tree does not exist, or the voter is not a tree.
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
        """Return one entry per leaf: its rule, prediction and training rows.

        Keys: ``node``, ``rule``, ``answer``, ``share_<class>`` if the leaves hold class shares, and
        ``weight`` and ``n_rows`` if they are known.
        """
        return rules_table(self.tree, self.names.columns, self.names.levels, answers=self.answers)

    def table(self) -> ColumnLists:
        """Return one entry per node, parents before their children.

        Keys: ``node``, ``parent``, ``depth``, ``condition``, ``column``, ``missing``, ``gain``, and
        from ``answer`` on those of `rules`.
        """
        return nodes_table(self.tree, self.names.columns, self.names.levels, self.answers)

    # ------------------------------------------------------------------ drawing it
    def plot(self, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_depth : int, default=None
            Nodes below this depth are counted, not drawn; None draws all.

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
                middle = (0.6 * x + 0.4 * px, 0.6 * y + 0.4 * py)
                axes.annotate(
                    plain(_short(box.edge)), middle, ha="center", va="center", fontsize=7, zorder=2,
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
    """Return a tree, or the first tree of a fitted estimator, as indented text.

    Each branch is a line; a leaf shows its class share and weight, where known.

    Parameters
    ----------
    tree : Tree or fitted estimator of psephos
        An estimator has names of its columns, categories and classes.
    names : sequence of str, default=None
        Names of the table's columns; None: those of the estimator, for a `Tree` 'column 0', ...
    levels : mapping of int to sequence of str, default=None
        For a `Tree`: the categories of each categorical column, by code.
    classes : sequence of str, default=()
        For a `Tree` whose values are class shares: names of the classes.
    answers : NodeAnswers, default=None
        For a `Tree`: the prediction at each node; None: its value.
    max_depth : int, default=None
        Nodes below this depth are counted, not written; None writes all.
    digits : int, default=None
        Significant digits of a threshold; None: as many as are needed to divide the cases as the
        tree does.
    spread : bool, default=False
        Where rows with a missing value are divided among all branches, write the share of each.
        False: 'or missing' is written only at a branch that takes all of them.

    Raises
    ------
    PsephosError
        If `tree` is neither, or no voter of the estimator is a tree.

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
                f"tree must be a fitted estimator of psephos or a Tree; got {kind}."
            )
        if levels or classes or answers:
            raise PsephosError(
                "levels, classes and answers must be given with a Tree only: an estimator has its "
                "own."
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
    """Return the number of the first voter that is a tree or a forest; raise if none is."""
    for t in range(voters.n_voters):
        if voters.n_trees(t):
            return t
    raise PsephosError("estimator must have a voter that is a tree; this one has none.")


def _shown(voters: Voters, voter: int, tree: int) -> ShownTree:
    """Return the tree, its class shares if it has any, and its votes; see `_answers`."""
    size = voters.n_trees(voter)
    if not size:
        raise PsephosError(
            f"voter must be a tree, such as voter {_first_tree(voters)}; voter {voter} is not."
        )
    if not Interval(0, size - 1, whole=True).allows(tree):
        raise PsephosError(
            f"tree must be a number from 0 to {size - 1}, of voter {voter}; got {tree!r}."
        )
    return voters.shown_tree(voter, tree)


def _answers(vote: Vote, shares: Floats | None, votes: Floats) -> NodeAnswers:
    """Return the predictions of nodes: classes if they vote for one, else numbers."""
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
    """Return a vote as text: one number, or the name and number of each output that is not 0."""
    if len(row) == 1:
        return f"{row[0]:+.5g}"
    named = [f"{name} {v:+.5g}" for name, v in zip(outputs, row, strict=True) if v]
    return ", ".join(named) or "0"


# ---------------------------------------------------------------------- layout of the plot
@dataclass(frozen=True)
class Box:
    """One node of the plot."""

    node: int
    parent: int  # -1 at the root
    edge: str  # the parent's condition for this branch
    lines: tuple[str, ...]  # text of the box
    leaf: bool
    tone: int  # index of its class; -1 if it predicts a number
    x: float  # leaves are at 0, 1, ..., parents above the middle of their children
    level: int


def boxes_of(shown: TreeDisplay, max_depth: int | None = None) -> list[Box]:
    """Return the nodes of the plot, parents first; none below `max_depth`."""
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
        for child, condition in zip(children, split_conditions(tree, node), strict=True):
            level[child], origin[child] = level[node] + 1, (node, condition)
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


def _edge(condition: Condition | None, names: Names) -> str:
    """Return the condition of a branch as text, without the name of the column."""
    if condition is None:
        return ""
    unnamed = [""] * (condition.column + 1)
    return condition_words(condition, unnamed, names.levels, spread=False).strip()


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
