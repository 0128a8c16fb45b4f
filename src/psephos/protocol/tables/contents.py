"""The first lines of a command: cases, classes, columns by kind, and what was left out."""

from collections.abc import Mapping, Sequence

from psephos.vote.names import listed, plural

_CLASSES, _NAMES = 12, 8


def contents_words(
    n_rows: int,
    counts: Mapping[str, int],
    kinds: tuple[int, int],
    left_out: Sequence[str] = (),
    *,
    groups: tuple[int, str] | None = None,
    unlabelled: int = 0,
    labels: bool = False,
) -> str:
    """Return what a table holds, in sentences.

    Parameters
    ----------
    n_rows : int
    counts : mapping of str to int
        Cases of each class; with `labels` those that have each of several labels.
    kinds : tuple of int
        Columns of numbers, and of categories.
    left_out : sequence of str, default=()
        Columns that are neither, and why.
    groups : tuple (int, str), default=None
        How many groups there are, and what they are called.
    unlabelled : int, default=0
        Cases without a label.
    labels : bool, default=False
    """
    each = [f"{name} ({n})" if name[-1:].isdigit() else f"{name} {n}" for name, n in counts.items()]
    shown = ", ".join(each[:_CLASSES])
    shown += f" and {len(each) - _CLASSES} more" if len(each) > _CLASSES else ""
    shown += f", without a label {unlabelled}" if unlabelled else ""
    cases = plural(n_rows, "case") + (f", {len(counts)} labels" if labels else "")
    divided = "" if groups is None else f" in {plural(groups[0], 'group')} ({groups[1]})"
    each = zip(kinds, ("numeric", "categorical"), strict=True)
    words = [f"{n} {word}" for n, word in each if n]
    whole = f"{cases}{divided}: {shown}. {plural(sum(kinds), 'column')}: {', '.join(words)}."
    return whole + (f" Left out: {listed(list(left_out), _NAMES)}." if left_out else "")
