"""Random trees of every kind, and what they say, read as the definition is written."""

import numpy as np

from psephos.trees.tree import SPREAD, STAY, Surrogates, Tree

CODES = {2: 4, 5: 3}  # the categorical columns among six, and how many codes they have


def random_tree(rng, n_splits=6, n_outputs=3, missing=None, surrogates=2, codes=True, **compare):
    """A tree on six columns, two of them categories, grown at random leaves.

    `missing`: the way of all missing values; None: any.
    """
    columns = [j for j in range(6) if codes or j not in CODES]
    asked = [None]  # a node: None (a leaf), or (child, rule, way of missing values, surrogates)
    share = [1.0]
    for _ in range(n_splits):
        node = int(rng.choice([i for i, rule in enumerate(asked) if rule is None]))
        column = int(rng.choice(columns))
        branches = int(rng.integers(2, 5)) if column in CODES else 2
        able = [j for j in columns if branches == 2 or j in CODES]
        spare = [
            _rule(rng, int(j), branches) for j in rng.choice(able, rng.integers(surrogates + 1))
        ]
        way = int(rng.choice([SPREAD, STAY, *range(branches)])) if missing is None else missing
        asked[node] = (len(asked), branches, _rule(rng, column, branches), way, spare)
        asked += [None] * branches
        share += (rng.random(branches) * (rng.random(branches) < 0.7)).tolist()
    return assemble(asked, share, rng.standard_normal((len(asked), n_outputs)), rng, **compare)


def _rule(rng, column, branches):
    if column in CODES:
        return column, np.nan, False, rng.integers(-1, branches, CODES[column]).tolist()
    return column, float(rng.standard_normal()), bool(rng.random() < 0.5), []


def _columns(rules):
    """Rules as arrays: columns, thresholds, flips, pointers and branches of codes."""
    ptr = np.cumsum([0, *(len(codes) for *_, codes in rules)])
    column, threshold, flip = ([rule[i] for rule in rules] for i in range(3))
    branch = [b for *_, codes in rules for b in codes]
    return (
        np.array(column, np.intp), np.array(threshold, float), np.array(flip, bool),
        ptr.astype(np.intp), np.array(branch, np.intp),
    )  # fmt: skip


def assemble(asked, share, value, rng, **compare):
    leaf = (0, 0, (-1, np.nan, False, []), STAY, [])
    child, branches, rules, way, spare = zip(*(one or leaf for one in asked), strict=True)
    column, threshold, flip, code_ptr, code_branch = _columns(rules)
    surrogate_ptr = np.cumsum([0, *(len(rules) for rules in spare)]).astype(np.intp)
    n = len(asked)
    return Tree(
        np.array(child, np.intp), np.array(branches, np.intp), column, threshold, flip, code_ptr,
        code_branch, np.array(way, np.intp), np.array(share, float), value=value,
        counts=rng.random((n, 3)), n_rows=rng.integers(0, 99, n).astype(np.intp),
        gain=np.where(column >= 0, rng.random(n), 0.0),
        surrogates=Surrogates(surrogate_ptr, *_columns([r for rules in spare for r in rules])),
        **compare,
    )  # fmt: skip


def cases(rng, n, missing=0.3):
    X = rng.standard_normal((n, 6))
    for j, k in CODES.items():
        X[:, j] = rng.integers(-1, k + 2, n)  # some codes are unknown
    X[rng.random(X.shape) < missing] = np.nan
    return X


# ---------------------------------------------------------------------- what a tree says
def branch_of(column, threshold, flip, codes, row, tree):
    """The branch that a rule names for a row, or None."""
    x = row[column]
    if np.isnan(x):
        return None
    if len(codes):
        branch = codes[int(x)] if 0 <= x < len(codes) else -1
        return None if branch < 0 else int(branch)
    x = float(np.float32(x)) if tree.single else x
    below = x < threshold if tree.strict else x <= threshold
    return int(below == flip)


def way_of(tree, node, row):
    """The branch of a row at a node, or what is done with missing values."""
    s = tree.surrogates
    codes = tree.code_branch[tree.code_ptr[node] : tree.code_ptr[node + 1]]
    branch = branch_of(tree.column[node], tree.threshold[node], tree.flip[node], codes, row, tree)
    for r in range(s.ptr[node], s.ptr[node + 1]):
        if branch is None:
            codes = s.code_branch[s.code_ptr[r] : s.code_ptr[r + 1]]
            branch = branch_of(s.column[r], s.threshold[r], s.flip[r], codes, row, tree)
    return int(tree.missing[node]) if branch is None else branch


def parts(tree, row, node=0):
    """The nodes where the parts of a row end, and the parts; and whether it was ever divided."""
    children = [int(c) for c in tree.children(node)]
    if not children:
        return {node: 1.0}, False
    way = way_of(tree, node, row)
    if way >= 0:
        return parts(tree, row, children[way])
    entered = [c for c in children if tree.share[c] > 0]
    if way == STAY or not entered:
        return {node: 1.0}, False
    out, spread = {}, len(entered) > 1
    for c in entered:
        below, more = parts(tree, row, c)
        spread |= more
        for leaf, part in below.items():
            out[leaf] = part * tree.share[c] / sum(tree.share[entered])
    return out, spread


def answer(tree, row):
    """What a tree tells a row."""
    ends, _ = parts(tree, row)
    return sum(part * tree.value[node] for node, part in ends.items())
