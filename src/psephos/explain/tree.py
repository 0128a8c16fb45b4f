"""One tree of a vote: its text, its rules and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.explain.tree_drawing import draw_tree, graphviz_of, svg_of
from psephos.trees.tree import Tree
from psephos.trees.tree_text import Answers, export_text, nodes_table, rules_table
from psephos.vote import Names, Target, Vote, Voters
from psephos.vote.ballots import Framed, frame_of
from psephos.vote.part import ShownTree, ask, n_trees

__all__ = ["TreeDisplay", "rules_frame", "to_graphviz"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeDisplay(Framed):
    """One tree of a fitted vote.

    Parameters
    ----------
    tree : Tree
        Its columns are those of the table.
    names : Names
        The words of the columns and of their categories.
    answers : Answers
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
    petal width (cm) <= 0.8: 0
    petal width (cm) > 0.8 or missing
    |   petal width (cm) <= 1.75 or missing: 1
    |   petal width (cm) > 1.75: 2
    """

    tree: Tree
    names: Names
    answers: Answers
    voter: int = 0

    @classmethod
    def from_estimator(cls, estimator: Any, voter: int | None = None, tree: int = 0) -> Self:
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
        vote: Vote = estimator.vote_
        number = _first_tree(vote.voters) if voter is None else voter
        if not 0 <= number < vote.n_voters:
            raise PsephosError(
                f"voter is {number}: this vote has the voters 0 to {vote.n_voters - 1}."
            )
        grown, shares, votes = _shown(vote.voters, number, tree)
        return cls(grown, estimator.schema_.words(), _answers(vote, shares, votes), number)

    # ------------------------------------------------------------------ reading it
    def text(self, *, max_depth: int | None = None, digits: int = 6, spread: bool = False) -> str:
        """Return the tree as indented text; see `psephos.explain.export_text`."""
        return export_text(
            self.tree, self.names.columns, self.names.levels,
            answers=self.answers, max_depth=max_depth, digits=digits, spread=spread,
        )  # fmt: skip

    def rules(self) -> dict[str, list[Any]]:
        """Return one entry a leaf: the rule that leads to it, its answer, its training rows.

        Keys: ``node``, ``rule``, ``answer``, ``share_<class>`` where the leaves hold class shares,
        ``weight`` and ``n_rows`` where they are known.
        """
        return rules_table(self.tree, self.names.columns, self.names.levels, answers=self.answers)

    def table(self) -> dict[str, list[Any]]:
        """Return one entry a node, parents before their children.

        Keys: ``node``, ``parent``, ``depth``, ``condition``, ``column``, ``missing``, ``gain``,
        and ``answer`` and what follows as in `rules`.
        """
        return nodes_table(self.tree, self.names.columns, self.names.levels, self.answers)

    # ------------------------------------------------------------------ drawing it
    def plot(self, ax: Any = None, *, max_depth: int | None = None) -> Any:
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
        return draw_tree(self, ax, max_depth)

    def svg(self, *, max_depth: int | None = None) -> str:
        """Return the picture as a document of SVG that needs nothing else.

        Strings of the data are text in it, whatever they hold; long ones are cut, and whole in
        the tool tip.

        Parameters
        ----------
        max_depth : int, default=None
            As for `plot`.
        """
        return svg_of(self, max_depth)

    def graphviz(self, *, max_depth: int | None = None) -> str:
        """Return the tree in the language of Graphviz (DOT).

        Parameters
        ----------
        max_depth : int, default=None
            As for `plot`.
        """
        return graphviz_of(self, max_depth)


def rules_frame(
    estimator: Any, voter: int | None = None, tree: int = 0, backend: str | None = None
) -> Any:
    """Return the rules of one tree of a fitted estimator as a data frame, one row a leaf.

    Parameters
    ----------
    estimator, voter, tree
        As for `TreeDisplay.from_estimator`.
    backend : {'pandas', 'polars'}, default=None
        None takes pandas if it is installed, else polars.

    Returns
    -------
    frame
        Columns: see `TreeDisplay.rules`.
    """
    return frame_of(TreeDisplay.from_estimator(estimator, voter, tree).rules(), backend)


def to_graphviz(
    estimator: Any, voter: int | None = None, tree: int = 0, *, max_depth: int | None = None
) -> str:
    """Return one tree of a fitted estimator in the language of Graphviz (DOT).

    Parameters
    ----------
    estimator, voter, tree
        As for `TreeDisplay.from_estimator`.
    max_depth : int, default=None
        Branches below are counted, not drawn; None draws all.
    """
    return TreeDisplay.from_estimator(estimator, voter, tree).graphviz(max_depth=max_depth)


# ---------------------------------------------------------------------- finding the tree
def _first_tree(voters: Voters) -> int:
    """Return the number of the first voter that is a tree or a forest."""
    for t in range(voters.n_voters):
        if n_trees(voters, t):
            return t
    raise PsephosError("no voter of this vote is a tree: there is none to show.")


def _shown(voters: Voters, voter: int, tree: int) -> ShownTree:
    """Return the tree, its class shares if its values are such, and its votes; see `_answers`."""
    size = n_trees(voters, voter)
    if not size:
        raise PsephosError(
            f"voter {voter} is no tree: the first tree is voter {_first_tree(voters)}."
        )
    if not 0 <= tree < size:
        raise PsephosError(f"tree is {tree}: voter {voter} has {size}, counted from 0.")
    return ask(voters, "shown_tree", None, voter, tree)


def _answers(vote: Vote, shares: _Floats | None, votes: _Floats) -> Answers:
    """Return what nodes answer: classes where they vote for one, else numbers."""
    target = vote.target
    if not isinstance(target, Target):
        return Answers(target.words(votes))
    classes = target.classes.astype(str).tolist()
    if shares is None and vote.readout.link == "share":
        shares = vote.readout.probabilities(votes, target)
    if shares is not None or _are_codes(votes, target.code):
        return Answers(target.words(votes), classes, shares)
    return Answers([_numbers(row, target.outputs) for row in votes.tolist()], classes)


def _are_codes(votes: _Floats, code: _Floats) -> bool:
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
