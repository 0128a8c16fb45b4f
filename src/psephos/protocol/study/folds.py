"""The models of the folds, kept small, and how often each column and rule came back in them."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psephos._errors import ModelFileError, PsephosError
from psephos._types import ColumnLists, Floats
from psephos.estimator.vote_estimator import VoteEstimator
from psephos.files.atomic import write_whole
from psephos.files.near import suggest
from psephos.protocol.study.folder import MARK, read_sealed, sha256_of, unsealed
from psephos.protocol.tables.table import DataTable
from psephos.vote import Vote
from psephos.vote.frames import Framed
from psephos.vote.names import Names
from psephos.vote.part import ShownTree

MOST_BYTES = 1 << 19  # of a file: a larger model is not kept


@dataclass(frozen=True)
class FoldModel:
    """The model that was fitted for one outer split, and reads only its own columns.

    Its classes are 0, 1, ... in the order of `classes` in comparison.json; training rows that it
    needs (anchors, prototypes) have positions in the training part for names.
    """

    repeat: int
    fold: int
    model: Any


def packed_fold(model: Any, table: DataTable) -> bytes | str | None:
    """Return the file of a model of a fold, or why it is not kept; None if it cannot be."""
    from psephos.modelfile import packed

    if table.multilabel or not hasattr(model, "schema_"):
        return None
    named = table.named(model, rows=False)
    named._sample = named._baseline = None  # importances and columns' summaries are the refit's
    try:
        content = packed(named.reduce())
    except PsephosError as error:
        return f"it cannot be written to a file: {error}"
    if len(content) > MOST_BYTES:
        return f"its file would have {len(content)} bytes, more than {MOST_BYTES}"
    return content


def kept_fold(folder: Path, key: str) -> Path:
    """Return where the model of a fold is kept."""
    return folder / "folds" / f"{key[:32]}.psephos"


def kept(content: bytes | str, key: str, folder: Path) -> dict[str, Any]:
    """Write the file of a model of a fold; return what the journal says of it."""
    if isinstance(content, str):
        return {"not_kept": content}
    path = kept_fold(folder, key)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, content)
    return {"file_sha256": hashlib.sha256(content).hexdigest()}


def folds_told(finished: Sequence[tuple[Any, Mapping[str, Any]]]) -> ColumnLists:
    """Return the entry of comparison.json: per model what is kept of each fold, or why not."""
    told: dict[str, list[Any]] = {}
    for task, entry in finished:
        if task.split is None or not (entry.get("file_sha256") or entry.get("not_kept")):
            continue
        one: dict[str, Any] = {"repeat": task.split[0], "fold": task.split[1]}
        if entry.get("file_sha256"):
            one["file"] = f"folds/{task.key[:32]}.psephos"
            one["sha256"] = entry["file_sha256"]
        else:
            one["not_kept"] = entry["not_kept"]
        told.setdefault(task.contender.name, []).append(one)
    return told


def read_folds(folder: str | Path) -> dict[str, list[FoldModel]]:
    """Return the models of the folds that a comparison kept, by name, in the order of the folds.

    Parameters
    ----------
    folder : str or Path
        That of `psephos compare`.

    Returns
    -------
    models : dict of str to list of FoldModel
        Without those that were not kept: of large files, of other libraries, of failed fits; of
        several labels none are.

    Raises
    ------
    PsephosError
        If the folder holds no finished comparison, or a file is damaged.
    """
    from psephos.modelfile import load

    place = Path(folder)
    if not (place / MARK).is_file():
        raise PsephosError(f"{str(place)!r} holds no finished comparison: psephos compare first.")
    about = read_sealed(place / MARK)
    found: dict[str, list[FoldModel]] = {}
    with unsealed(place / MARK, about):
        told = [(name, one) for name, every in about.get("folds", {}).items() for one in every]
        for name, one in told:
            if "file" not in one:
                continue
            path = place / "folds" / Path(one["file"]).name
            if sha256_of(path) != one["sha256"]:
                raise ModelFileError(
                    f"{str(path)!r} is lost, damaged or of another comparison: run the comparison "
                    "again, which writes it anew."
                )
            model = FoldModel(int(one["repeat"]), int(one["fold"]), load(path))
            found.setdefault(name, []).append(model)
    return found


_TREES = 2000  # of a voter that are looked at


class ColumnRule(NamedTuple):
    """One question on one column."""

    column: str
    # The place of the class that higher values speak for, or that the categories `levels` do; of a
    # number 1: they raise it, 0: they lower it.
    toward: int
    bound: float | None = None  # the threshold; None of a term of a score, and of categories
    levels: tuple[str, ...] = ()  # of a rule on categories those it asks for


def rules_of(model: VoteEstimator) -> list[ColumnRule]:
    """Return the rules of a fitted model, each once, in the order of its voters.

    Of trees and stumps every question; the class it speaks for is that whose mean vote over the
    leaves above the threshold exceeds that below most. Of linear voters the sign of each
    coefficient. Of votes within votes those of the inner voters. Other voters (kernels, prototypes,
    neighbours, densities, questions of more than two branches) have no rules of this kind.
    """
    found = _rules(model.vote_, model.schema_.words())
    return list(dict.fromkeys(found))


def _rules(vote: Vote, names: Names) -> Iterator[ColumnRule]:
    columns: list[int] = vote.columns.tolist()
    row = np.zeros((1, vote.n_features))
    reasons: Any = None
    for voter in range(vote.n_voters):
        inner = vote.open(voter, row, names)
        if inner is not None:
            yield from _rules(inner[0], inner[2])
            continue
        trees = vote.voters.n_trees(voter)
        if trees:
            for tree in range(min(trees, _TREES)):
                yield from _of_tree(vote.voters.shown_tree(voter, tree), names)
            continue
        if not columns:
            continue
        if reasons is None:
            reasons = vote.reasons(row)[0]
        yield from _of_reason(reasons[voter], vote.voters.sides(voter), names)


def _of_tree(shown: ShownTree, names: Names) -> Iterator[ColumnRule]:
    tree, votes = shown.tree, shown.votes
    mean = tree.leaf_means(votes)
    for node in np.flatnonzero(tree.n_children == 2).tolist():
        first, bound = int(tree.child[node]), float(tree.threshold[node])
        name, gap = names.columns[int(tree.column[node])], mean[first + 1] - mean[first]
        if bound == bound:
            yield ColumnRule(name, _toward(-gap if tree.flip[node] else gap), bound)
            continue
        begin, end = int(tree.code_ptr[node]), int(tree.code_ptr[node + 1])
        codes = np.flatnonzero(tree.code_branch[begin:end] == 1).tolist()
        levels = tuple(names.level(int(tree.column[node]), code) for code in codes)
        yield ColumnRule(name, _toward(gap), None, levels)


def _of_reason(reason: Any, sides: Any, names: Names) -> Iterator[ColumnRule]:
    """Yield the rule of a stump, or the terms of a linear score, of the reason of one row."""
    tests: Any = getattr(reason, "tests", ())
    if len(tests) == 1 and len(sides) == 2:
        here = np.array(reason.answer)
        votes = [np.asarray(vote) for _, vote in sides]
        there = votes[1] if np.array_equal(votes[0], here) else votes[0]
        test, gap = tests[0], here - there
        name = names.columns[int(test.column)]
        if test.relation in ("<=", "<", ">", ">="):
            yield ColumnRule(
                name, _toward(gap if test.relation[0] == ">" else -gap), float(test.bound)
            )
        elif test.relation in ("in", "not in"):
            levels = tuple(names.level(test.column, code) for code in test.bound)
            yield ColumnRule(name, _toward(gap if test.relation == "in" else -gap), None, levels)
    for term in getattr(reason, "terms", ()):
        if term.coef and any(term.coef):
            levels = () if term.level < 0 else (names.level(term.column, term.level),)
            yield ColumnRule(names.columns[term.column], _toward(np.array(term.coef)), None, levels)


def _toward(gap: Floats) -> int:
    """Return the class that a change of a vote, (K,), is for."""
    return int(gap[0] > 0) if len(gap) == 1 else int(np.argmax(gap))


_DIGITS = 3  # that two bounds share to be the same


@dataclass(frozen=True)
class Returned(Framed):
    """What the models of the folds and the final fit have in common.

    Parameters
    ----------
    n_folds : int
        Models that were kept.
    columns : list of dict
        ``column``, ``folds`` (how many read it), ``final`` (whether the final fit does),
        ``which`` (the (repeat, fold) of those that do); the most frequent first.
    rules : list of dict
        ``column``, ``toward`` (the class that higher values, or `levels`, speak for), ``levels``,
        ``folds`` (how many have a question on the column that speaks for that side), ``final``,
        ``which``; of thresholds ``low``, ``median`` and ``high`` over all, ``final_bounds``,
        and ``same``: in how many folds the commonest bound stands, to three figures.
    """

    n_folds: int
    columns: list[dict[str, Any]]
    rules: list[dict[str, Any]]

    def table(self) -> ColumnLists:
        """Return `rules` as lists."""
        heads = list(dict.fromkeys(key for row in self.rules for key in row))
        return {key: [row[key] for row in self.rules] for key in heads}


def returned(folder: str | Path, model: str) -> Returned:
    """Return how often each column and each rule of a model came back over the folds of a study.

    Parameters
    ----------
    folder : str or Path
        That of `psephos compare`, which keeps the models of the folds.
    model : str
        Its name there.

    Raises
    ------
    PsephosError
        If no model of a fold was kept under that name.

    Examples
    --------
    >>> import tempfile
    >>> from psephos import compare
    >>> from psephos.protocol import returned
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = compare(X[::4], y[::4].to_numpy(), models=["cart"], n_jobs=1, out=folder)
    ...     found = returned(folder, "cart")
    >>> found.n_folds
    5
    """
    from psephos.modelfile import load

    kept = read_folds(folder)
    if model not in kept:
        raise PsephosError(
            f"no models of folds of {model!r} were kept in {str(folder)!r}: {suggest(model, kept)}"
        )
    path = Path(folder) / "models" / f"{model}.psephos"
    return returned_of(kept[model], load(path) if path.is_file() else None)


def returned_of(
    folds: Sequence[FoldModel], final: Any = None, classes: Sequence[str] | None = None
) -> Returned:
    """Return the same of models in memory.

    Parameters
    ----------
    folds : sequence of FoldModel
    final : estimator, default=None
        The fit to all rows, if there is one.
    classes : sequence of str, default=None
        Names of the study's classes; by default those of `final`.
    """
    read: dict[str, list[tuple[int, int]]] = {}
    asked: dict[tuple[str, int, tuple[str, ...]], list[tuple[tuple[int, int], ColumnRule]]] = {}
    for one in folds:
        place = (one.repeat, one.fold)
        for name in one.model.features_used_.tolist():
            read.setdefault(str(name), []).append(place)
        for rule in rules_of(one.model):
            own = rule._replace(toward=_code(one.model, rule.toward))
            asked.setdefault((own.column, own.toward, own.levels), []).append((place, own))
    used: list[str] = [] if final is None else [str(n) for n in final.features_used_.tolist()]
    own_rules = [] if final is None else rules_of(final)
    labels = list(classes or ([] if final is None else _labels(final)))
    for rule in own_rules:
        asked.setdefault((rule.column, rule.toward, rule.levels), [])
    columns: list[dict[str, Any]] = [
        {"column": name, "folds": len(read.get(name, [])), "final": name in used,
         "which": read.get(name, [])}
        for name in dict.fromkeys([*read, *used])
    ]  # fmt: skip
    rules: list[dict[str, Any]] = []
    for (name, toward, levels), found in asked.items():
        now = [
            r.bound for r in own_rules if (r.column, r.toward, r.levels) == (name, toward, levels)
        ]
        which = sorted({place for place, _ in found})
        rules.append(
            {
                "column": name,
                "toward": labels[toward] if toward < len(labels) else str(toward),
                "levels": list(levels),
                "folds": len(which),
                "final": bool(now),
                "which": which,
                **_bounds(found, now),
            }
        )
    columns.sort(key=lambda row: (-row["folds"], not row["final"], row["column"]))
    rules.sort(key=lambda row: (-row["folds"], not row["final"], row["column"], row["toward"]))
    return Returned(len(folds), columns, rules)


def _bounds(
    found: Sequence[tuple[tuple[int, int], ColumnRule]], now: Sequence[float | None]
) -> dict[str, Any]:
    bounds = [rule.bound for _, rule in found if rule.bound is not None]
    final = sorted(bound for bound in now if bound is not None)
    if not bounds:
        return {"low": None, "median": None, "high": None, "same": 0, "final_bounds": final}
    alike = Counter(
        {(place, f"{rule.bound:.{_DIGITS}g}") for place, rule in found if rule.bound is not None}
    )
    same = Counter(bound for _, bound in alike).most_common(1)[0][1]
    return {
        "low": min(bounds),
        "median": float(np.median(bounds)),
        "high": max(bounds),
        "same": same,
        "final_bounds": final,
    }


def _code(model: Any, toward: int) -> int:
    """Return the class of the study; a fold may lack some, and its classes are codes."""
    target = model.vote_.target
    return int(target.classes[toward]) if target.n_classes else toward


def _labels(final: Any) -> list[str]:
    target = final.vote_.target
    return [str(one) for one in target.classes.tolist()] if target.n_classes else ["less", "more"]
