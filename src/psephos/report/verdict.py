"""What the comparison found, in sentences that favour no one's models."""

import math
from collections.abc import Sequence

from psephos.report.figures import Choice, Standing
from psephos.report.folder import Folder
from psephos.report.pairs import Pair
from psephos.report.words import count, difference, number, plural, plus_minus

__all__ = ["opened_words", "verdict"]


def verdict(
    folder: Folder, rows: Sequence[Standing], choice: Choice | None, found: Sequence[Pair]
) -> list[str]:
    """Return what the comparison found: the best model and the smallest that comes near it.

    Parameters
    ----------
    folder : Folder
    rows : sequence of Standing
    choice : Choice or None
    found : sequence of Pair
        Differences from the best.
    """
    if choice is None:
        return ["Every fit failed; the reasons are below."]
    best, smallest = choice.best, choice.smallest
    others = [s for s in rows if s.drawn and s.ranked and s.key != best.key]
    apart = [_apart(s) for s in rows if s.drawn and not s.ranked]
    if not others:
        alone = "the only model" if len(rows) == 1 else "the only model with all its figures"
        return [f"{best.label} is {alone}: {_reached(best, folder)}, over {_folds(best)}.", *apart]
    words = [f"{best.label} did best: {_reached(best, folder)}, over {_folds(best)}.", *apart]
    if not any(s.columns.mean > 0 and s.score > folder.constant for s in rows if s.drawn):
        words.append(
            "No model that reads a column did better than a constant answer, which has "
            f"{_article(folder)} {folder.measure} of {number(folder.constant)}."
        )
    near = f"one standard error ({number(choice.standard_error)}) of it"
    if smallest is best and len(best.fits) < 2:
        return [*words, "One fold gives no standard error, within which others could be."]
    if smallest is best:
        fewest = f"No model that reads fewer columns came within {near}."
        return words if best.columns.mean == 0 else [*words, fewest]
    words.append(
        f"{smallest.label} is the smallest model within {near}: {_reached(smallest, folder)}."
    )
    return words + [_judged(p, best, folder) for p in found if p.key == smallest.key]


def _article(folder: Folder) -> str:
    return "an" if folder.multilabel else "a"


def _folds(s: Standing) -> str:
    every = plural(len(s.fits) + len(s.failed), "held-out fold")
    return f"{len(s.fits)} of {every}" if s.failed else every


def _apart(s: Standing) -> str:
    """Return why a model is not ranked among the others."""
    return (
        f"{s.label} failed in {len(s.failed)} of {plural(len(s.fits) + len(s.failed), 'fold')}: its"
        " mean is of other cases, and it is not ranked among the others."
    )


def _reached(s: Standing, folder: Folder) -> str:
    n_columns = max(int(folder.about.get("n_columns") or len(folder.about.get("columns", ()))), 1)
    score = f"{_article(folder)} {folder.measure} of {plus_minus(s.score, s.score_sd)}"
    if s.columns.mean == 0:
        return f"{score}, reading no column"
    mean = " on average" if s.columns.sd > 0 else ""
    return f"{score}, reading{mean} {count(s.columns.mean)} of {plural(n_columns, 'column')}"


def _judged(pair: Pair, best: Standing, folder: Folder) -> str:
    if not (math.isfinite(pair.low) and math.isfinite(pair.high)):
        return f"The difference is {difference(pair.mean)}; one fold gives no interval."
    interval = f"{difference(pair.low)} to {difference(pair.high)}"
    words = f"The difference is {difference(pair.mean)} (95 % interval {interval})"
    if pair.high < 0:
        return f"{words}: less accurate than {best.label} on these data."
    of = folder.measure if folder.multilabel else "accuracy"
    return f"{words}: these folds cannot tell the two apart in {of}."


def opened_words(choice: Choice) -> str:
    """Return by what rule the opened model was chosen."""
    assert choice.opened is not None
    label, error = choice.opened.label, number(choice.standard_error)
    if choice.asked:
        return f"{label} was asked for by name."
    if choice.alone:
        return f"{label} is the only model with figures."
    if not choice.opened.ranked:
        return f"Only models of psephos are saved and can be opened. {_apart(choice.opened)}"
    if choice.opened is choice.smallest:
        return (
            f"{label} uses the fewest columns of all models within one standard error ({error}) of"
            " the best mean."
        )
    if choice.within:
        return (
            f"Only models of psephos are saved and can be opened. Of those within one standard"
            f" error ({error}) of the best mean, {label} uses the fewest columns."
        )
    return (
        f"Only models of psephos are saved and can be opened. None came within one standard error"
        f" ({error}) of {choice.best.label}, the best; {label} is the most accurate of them."
    )
