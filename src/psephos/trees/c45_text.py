"""A tree in the words that Weka's J48 prints."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psephos.trees.tree import Tree
from psephos.trees.tree_leaves import condition_words, leaves_of


def c45_text(
    tree: Tree,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
    classes: Sequence[str],
) -> str:
    """Return a tree line by line, as J48 prints it.

    A leaf is its class and, in brackets, the training weight that reached it and, after a stroke,
    how much of it is of other classes. A leaf that none reached has its parent's class. Behind a
    soft threshold stand, in square brackets, the values between which it is soft.

    `names`: of the table's columns. `levels`: words of the codes of each column of categories.
    """
    if tree.n_children[0] == 0:
        return _leaf_words(tree, 0, 0, classes).removeprefix(": ")
    lines: list[str] = []
    todo = [(0, branch, 0) for branch in reversed(range(int(tree.n_children[0])))]
    while todo:
        node, branch, depth = todo.pop()
        child = int(tree.child[node]) + branch
        line = "|   " * depth + _rule_words(tree, node, branch, names, levels)
        if tree.n_children[child] == 0:
            line += _leaf_words(tree, child, node, classes)
        lines.append(line)
        todo += [(child, b, depth + 1) for b in reversed(range(int(tree.n_children[child])))]
    return "\n".join(lines)


def leaf_table(
    tree: Tree,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
    classes: Sequence[str],
) -> dict[str, list[Any]]:
    """Return {rule, class, weight, wrong}: the ways to the leaves, and what reached them.

    Parameters are those of `c45_text`.
    """
    parent = np.zeros(tree.n_nodes, np.intp)
    for node in np.flatnonzero(tree.n_children):
        parent[tree.children(int(node))] = node
    table: dict[str, list[Any]] = {"rule": [], "class": [], "weight": [], "wrong": []}
    for leaf in leaves_of(tree):
        words = [condition_words(c, names, levels) for c in leaf.conditions]
        counts = tree.counts[leaf.node]
        table["rule"].append(" and ".join(words) or "always")
        table["class"].append(classes[_answer(tree, leaf.node, int(parent[leaf.node]))])
        table["weight"].append(float(counts.sum()))
        table["wrong"].append(float(counts.sum() - counts.max()))
    return table


def _answer(tree: Tree, node: int, parent: int) -> int:
    """Return the class of a leaf; what ties up to rounding is a tie: the first class wins it."""
    counts = tree.counts[node]
    said = counts if counts.sum() > 0 else tree.counts[parent]
    return int(np.flatnonzero(said >= said.max() - 1e-6)[0])


def _leaf_words(tree: Tree, node: int, parent: int, classes: Sequence[str]) -> str:
    counts = tree.counts[node]
    total, top = float(counts.sum()), float(counts.max())
    errors = f"/{_two(total - top)}" if total - top >= 0.005 else ""
    return f": {classes[_answer(tree, node, parent)]} ({_two(total)}{errors})"


def _rule_words(
    tree: Tree,
    node: int,
    branch: int,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
) -> str:
    column = int(tree.column[node])
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    if len(codes) == 0:
        softly = tree.softly(node)
        soft = f" [{', '.join(map(_short, softly))}]" if softly else ""
        cut = _short(float(tree.threshold[node])) + soft
        return f"{names[column]} {'<=' if branch == 0 else '>'} {cut}"
    known = levels.get(column, ())
    words = [*known, *map(str, range(len(known), len(codes)))]  # a code without a word is a number
    own, others = np.flatnonzero(codes == branch), np.flatnonzero(codes == 0)
    if len(own) == 1:
        return f"{names[column]} = {words[int(own[0])]}"
    if branch == 1 and len(own) + 1 == len(codes) and len(others) == 1:
        return f"{names[column]} != {words[int(others[0])]}"
    return f"{names[column]} in {{{', '.join(words[int(code)] for code in own)}}}"


def _short(number: float) -> str:
    """Return a number with up to six decimals."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _two(number: float) -> str:
    """Return a number with one or two decimals, halves rounded up."""
    words = f"{np.floor(number * 100 + 0.5) / 100:.2f}"
    return words.removesuffix("0")
