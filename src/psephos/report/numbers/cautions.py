"""What a reader must not believe: figures that look better, or firmer, than they are."""

import math
from collections.abc import Sequence

from psephos.report.study.folder import Folder
from psephos.report.study.standings import Opening, Standing
from psephos.report.words import count, number, plural, series

_FEW = 10  # cases of a class
_NAMED = 6  # rare labels that are named
UNSTABLE = 0.4  # agreement beyond chance below it is poor (the scale of Fleiss 1981)
_CLIP = 1e-15  # as the log-loss of the results


def cautions(folder: Folder, choice: Opening, prior: float) -> list[str]:
    """Return the cautions on the models the page shows, a sentence each.

    Parameters
    ----------
    prior : float
        The log-loss of the class frequencies, NaN if not known.
    """
    models = choice.named()
    words: list[str] = []
    words += _rare_labels(folder) if folder.multilabel else _small_classes(folder)
    words += [_unsure(s, prior) for s in models if unsure_probabilities(s, prior)]
    words += [_unstable(s) for s in models if s.summary.stability.value < UNSTABLE]
    return words + [w for s in models for w in _unlike(folder, s)]


def _small_classes(folder: Folder) -> list[str]:
    """Return a sentence for each class of few cases."""
    return [
        f"Class {name} has {plural(n, 'case')} only: what is said of it, and its share of the"
        " balanced accuracy, rests on them."
        for name, n in zip(folder.about["classes"], folder.sizes, strict=False)
        if n < _FEW
    ]


def _rare_labels(folder: Folder) -> list[str]:
    """Return a sentence on the labels that few cases have, if there are any."""
    pairs = zip(folder.about["classes"], folder.sizes, strict=False)
    rare = sorted(((n, str(name)) for name, n in pairs if n < _FEW), key=lambda one: one[0])
    if not rare:
        return []
    named = series([f"{name} {count(n)}" for n, name in rare[:_NAMED]])
    more = f", and {len(rare) - _NAMED} more" if len(rare) > _NAMED else ""
    return [
        f"{len(rare)} of {plural(len(folder.about['classes']), 'label')}"
        f" {'has' if len(rare) == 1 else 'have'} fewer than {_FEW}"
        f" cases ({named}{more}): some test parts hold none of them, and what is said of such a"
        " label rests on these cases."
    ]


# ------------------------------------------------------------------- probabilities
def prior_log_loss(folder: Folder) -> float:
    """Return the mean log-loss, over the splits, of the class frequencies of the training part.

    NaN where the rows of the test parts, or the sizes of the classes, were not kept.
    """
    if folder.multilabel:
        return math.nan
    sizes = folder.sizes
    names = [str(c) for c in folder.about["classes"]]
    tests = folder.test_classes()
    if any(sum(sizes) <= sum(test.values()) for test in tests.values()):
        return math.nan  # the rows of the test parts are not those the sizes were counted on
    losses = [_loss(sizes, [test[name] for name in names]) for test in tests.values()]
    return math.fsum(losses) / len(losses) if sizes and losses else math.nan


def _loss(sizes: Sequence[int], tested: Sequence[int]) -> float:
    trained = [n - t for n, t in zip(sizes, tested, strict=True)]
    logs = (
        t * math.log(max(n / sum(trained), _CLIP))
        for n, t in zip(trained, tested, strict=True)
        if t
    )
    return -math.fsum(logs) / sum(tested)


def unsure_probabilities(s: Standing, prior: float) -> bool:
    """Return whether a model's probabilities are worse than the class frequencies."""
    if prior != prior:
        return False
    return s.spread("log_loss").mean > prior + 1e-9  # False where one is not known


def _unsure(s: Standing, prior: float) -> str:
    return (
        f"The probabilities of {s.label} are worse than stating each class's frequency: log-loss"
        f" {number(s.spread('log_loss').mean)} against {number(prior)}. Its answers may be right;"
        " how sure it says it is, is not to be believed."
    )


# ------------------------------------------------------------------- columns
def _unstable(s: Standing) -> str:
    return (
        f"Which columns {s.label} reads changes from fold to fold (stability"
        f" {number(s.summary.stability.value, 2)}): its columns are one choice among several that"
        " would have served."
    )


def _unlike(folder: Folder, s: Standing) -> list[str]:
    """Return a sentence if the refit reads far more, or far fewer, columns than the folds' models.

    Far: outside the range over the folds, by a factor of 1.5 or more from their mean and by two
    columns or more.
    """
    refit = folder.refit_columns.get(s.key)
    folds = [f.columns_used for f in s.fits if f.columns_used is not None]
    if refit is None or not folds or min(folds) <= refit <= max(folds):
        return []
    more, less = max(refit, s.columns.mean), min(refit, s.columns.mean)
    if more - less < 2 or more < 1.5 * less:
        return []
    span = f"{count(s.columns.mean)} on average ({count(min(folds))} to {count(max(folds))})"
    span = span if min(folds) < max(folds) else f"{count(min(folds))} each"
    return [
        f"The refit of {s.label} on all cases reads {plural(refit, 'column')}, the models of the"
        f" folds {span}: the figures here are those of the"
        f" folds' models, not of the refit."
    ]
