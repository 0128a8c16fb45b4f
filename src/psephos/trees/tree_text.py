"""A tree as text, and as a table of the rules of its leaves."""

from collections.abc import Mapping, Sequence
from typing import Any

from psephos._types import ColumnLists, Floats
from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import condition_words, leaves_of, split_conditions, way_words

_BAR = "|   "


class NodeAnswers:
    """Predictions of the nodes of a tree, in words and as class shares.

    `words`: one per node. `shares` (nodes, n_classes): None if unknown (numbers, margins).
    """

    def __init__(
        self, words: Sequence[str], classes: Sequence[str] = (), shares: Floats | None = None
    ) -> None:
        self.words = list(words)
        self.classes = list(classes)
        self.shares = shares

    def share(self, node: int) -> float | None:
        """Return the share of the class that a node predicts; None if it is unknown."""
        if self.shares is None or self.words[node] not in self.classes:
            return None
        return float(self.shares[node, self.classes.index(self.words[node])])


def answers_of(tree: Tree, classes: Sequence[str] = ()) -> NodeAnswers:
    """Return the predictions of a tree's values: the class of the greatest share, or numbers.

    `classes`: the names of the classes whose shares `Tree.value` holds; () if it holds numbers.
    """
    if not classes:
        return NodeAnswers([", ".join(f"{v:.5g}" for v in row) for row in tree.value.tolist()])
    words = [classes[int(k)] for k in tree.value.argmax(axis=1)]
    return NodeAnswers(words, classes, tree.value)


def names_of(tree: Tree, names: Sequence[str] | None) -> Sequence[str]:
    """Return `names`, or if None 'column j' for every column up to the last that is read."""
    last = int(tree.columns.max(initial=-1))
    return [f"column {j}" for j in range(last + 1)] if names is None else names


def export_text(
    tree: Tree,
    names: Sequence[str] | None = None,
    levels: Mapping[int, Sequence[str]] | None = None,
    classes: Sequence[str] = (),
    *,
    answers: NodeAnswers | None = None,
    max_depth: int | None = None,
    digits: int | None = None,
    spread: bool = False,
) -> str:
    """Return a tree as indented text: a line per branch, and the prediction of each leaf.

    Each leaf shows its class share and weight, if known::

        petal width <= 0.8: setosa (100%, weight 50)
        petal width > 0.8
        |   petal width <= 1.75: versicolor (91%, weight 54)
        |   petal width > 1.75: virginica (98%, weight 46)

    Parameters
    ----------
    tree : Tree
    names : sequence of str, default=None
        Names of the table's columns; None: 'column 0' and so on.
    levels : mapping of int to sequence of str, default=None
        The categories of each categorical column, by code.
    classes : sequence of str, default=()
        Names of the classes, if the tree's values are class shares.
    answers : NodeAnswers, default=None
        Predictions of the nodes; None: those of their values (`answers_of`).
    max_depth : int, default=None
        Leaves below this depth are counted, not written; None writes all.
    digits : int, default=None
        Digits of a threshold; None: as many as needed to divide the cases as the tree does.
    spread : bool, default=False
        Whether to show, where rows with missing values are spread over all branches, the part that
        goes to each. False: 'or missing' is shown only at a branch that takes such rows whole.
    """
    answers = answers or answers_of(tree, classes)
    names, words = names_of(tree, names), levels or {}
    lines: list[str] = []
    todo: list[tuple[int, int, str]] = [(0, -1, "")] if tree.n_nodes else []
    while todo:
        node, depth, condition = todo.pop()
        children = tree.children(node).tolist()
        hidden = bool(children) and max_depth is not None and depth + 1 >= max_depth
        leaf = "" if children and not hidden else leaf_words(tree, node, answers)
        more = f" and {leaves_below(tree, node)} leaves below" if hidden else ""
        if condition or leaf:
            between = ": " if condition and leaf else ""
            lines.append(f"{_BAR * depth}{condition}{between}{leaf}{more}")
        if not hidden:
            ways = split_conditions(tree, node)
            below = [condition_words(way, names, words, digits, spread=spread) for way in ways]
            todo += [
                (child, depth + 1, leaf)
                for child, leaf in reversed(list(zip(children, below, strict=True)))
            ]
    return "\n".join(lines)


def leaf_words(tree: Tree, node: int, answers: NodeAnswers) -> str:
    """Return a node's prediction, with the share of its class and its training weight if known."""
    share = answers.share(node)
    facts = [] if share is None else [f"{share:.0%}"]
    if tree.counts.shape[1]:
        facts.append(f"weight {tree.counts[node].sum():.6g}")
    return answers.words[node] + (f" ({', '.join(facts)})" if facts else "")


def leaves_below(tree: Tree, node: int) -> int:
    """Return the number of leaves below a node."""
    count, todo = 0, [node]
    while todo:
        children = tree.children(todo.pop()).tolist()
        count += not children
        todo += children
    return count


def rules_table(
    tree: Tree,
    names: Sequence[str] | None = None,
    levels: Mapping[int, Sequence[str]] | None = None,
    classes: Sequence[str] = (),
    *,
    answers: NodeAnswers | None = None,
) -> ColumnLists:
    """Return a table of the leaves, in the order of the text: rules and predictions.

    `tree`, `names`, `levels`, `classes`, `answers`: as for `export_text`.

    Returns ``node``; ``rule``, its conditions in words, one or two per column ('always' for a tree
    of one leaf); ``answer``; ``share_<class>`` if the values are class shares; ``weight``, the
    training weight, and ``n_rows``, the number of training rows, if known.
    """
    answers = answers or answers_of(tree, classes)
    names, words = names_of(tree, names), levels or {}
    leaves = leaves_of(tree)
    rules = [way_words(leaf.conditions, names, words) for leaf in leaves]
    nodes = [leaf.node for leaf in leaves]
    return {"node": nodes, "rule": rules, **_facts(tree, answers, nodes)}


def nodes_table(
    tree: Tree, names: Sequence[str], levels: Mapping[int, Sequence[str]], answers: NodeAnswers
) -> dict[str, list[Any]]:
    """Return a table of the nodes, parents before their children.

    Returns ``node``, ``parent`` (-1 at the root), ``depth``, ``condition`` (of the branch that
    leads to the node), ``column`` (that the node reads; '' at a leaf), ``missing`` (where rows
    without a value go: a child, 'all' or 'none'; '' at a leaf), ``gain``, and ``answer`` and the
    following keys as in `rules_table`.
    """
    n = tree.n_nodes
    parent, depth, condition = [-1] * n, [0] * n, [""] * n
    for node in range(n):
        ways = split_conditions(tree, node)
        for child, way in zip(tree.children(node).tolist(), ways, strict=True):
            parent[child], depth[child] = node, depth[node] + 1
            condition[child] = condition_words(way, names, levels)
    return {
        "node": list(range(n)),
        "parent": parent,
        "depth": depth,
        "condition": condition,
        "column": [names[j] if j >= 0 else "" for j in tree.column.tolist()],
        "missing": [_missing_words(tree, node) for node in range(n)],
        "gain": tree.gain.tolist(),
        **_facts(tree, answers, list(range(n))),
    }


def _missing_words(tree: Tree, node: int) -> str:
    if not tree.n_children[node]:
        return ""
    way = int(tree.missing[node])
    return str(tree.child[node] + way) if way >= 0 else {-1: "all", -2: "none"}[way]


def _facts(tree: Tree, answers: NodeAnswers, nodes: list[int]) -> dict[str, list[Any]]:
    """Return the predictions of nodes, and their weights and rows if known."""
    facts: dict[str, list[Any]] = {"answer": [answers.words[node] for node in nodes]}
    if answers.shares is not None:
        for k, name in enumerate(answers.classes):
            facts[f"share_{name}"] = answers.shares[nodes, k].tolist()
    if tree.counts.shape[1]:
        facts["weight"] = tree.counts[nodes].sum(axis=1).tolist()
        facts["n_rows"] = tree.n_rows[nodes].tolist()
    return facts
