"""How many cases one independent case is worth, where cases come in groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as fisher

_LEVEL = 0.95  # of the upper limit of the correlation of answers


def design_effect(truth: Any, answers: Any, groups: Any, copies: Any = None) -> float:
    """Return the design effect of the accuracy under grouping (at least 1).

    A model's answers to n cases say as much as those to n / `design_effect` independent cases.

    Parameters
    ----------
    truth : array of int, shape (n,)
        The class of each case.
    answers : array of int, shape (n,)
        The class that the model predicts for it.
    groups : array of shape (n,)
    copies : array of shape (n,), optional
        Cases of one value are copies of each other. Copies are of one group, and count as one case
        whatever their classes.

    Returns
    -------
    effect : float

    Notes
    -----
    Let y be 1 where a case is of a class, a be 1 where that class is predicted, with intraclass
    correlations r_y and r_a. If answers do not depend on labels, a product of deviations
    (y - mean)(a - mean) of two cases of one group has expectation r_y r_a times the variance, and
    the sum over all cases the variance of n independent ones times

        1 + r_y r_a (sum of squared group sizes / n - 1),

    Kish's design effect with the correlation of the product. For groups of equal size this is the
    variance over permutations of whole groups and of the labels within them. Labels that are the
    same throughout a group have r_y = 1; those that vary within groups as they do over all cases 0.
    Correlations are estimated by the analysis of variance. Where r_y is above 0, r_a is the upper
    95 % limit (by the F distribution): a model's answers depend on the labels it was fitted on, and
    those in few groups may look uncorrelated by accident. The greatest effect over the classes is
    taken, and none below 1. Where neither labels nor answers vary within groups, n / effect is the
    number of groups, or n^2 / sum of squared sizes where sizes differ.

    References
    ----------
    Kish (1965), "Survey Sampling", section 5.4; Donner & Klar (2000), "Design and Analysis of
    Cluster Randomization Trials", for the estimate of the correlation.

    Examples
    --------
    >>> from psephos.protocol.evaluation.design_effects import design_effect
    >>> groups = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> design_effect([0, 0, 0, 1, 1, 1] * 2, [0, 0, 0, 1, 1, 1] * 2, groups)  # labels of groups
    3.0
    >>> design_effect([0, 0, 1] * 4, [0, 0, 1] * 4, groups)  # each group has both classes
    1.5
    """
    y, a = np.asarray(truth), np.asarray(answers)
    group = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    n = len(y)
    alike = n if copies is None else _squares(np.asarray(copies))
    both = [_product(y == k, a == k, group) for k in np.unique(y)]
    return float(alike + max(0.0, *both) * (_squares(group) - alike)) / n


def _product(y: Any, a: Any, group: NDArray[np.intp]) -> float:
    labels = intraclass(y, group)
    return labels * intraclass(a, group, _LEVEL if labels > 0 else None)


def intraclass(values: Any, groups: Any, level: float | None = None) -> float:
    """Return the intraclass correlation of values by groups, estimated from mean squares.

    0 where all values are the same, and 1 where there is one group only, or each case is one.

    Parameters
    ----------
    values : array of shape (n,)
    groups : array of int, shape (n,)
        Codes from 0 on, each of them used.
    level : float, optional
        Return the upper limit of this one-sided level in place of the estimate.
    """
    v = np.asarray(values, dtype=np.float64)
    v, sizes = v - v.mean(), np.bincount(groups)
    n, k = len(v), len(sizes)
    if not v.any():
        return 0.0
    if k in (1, n):
        return 1.0
    between = float((np.bincount(groups, v) ** 2 / sizes).sum())
    within = (float((v**2).sum()) - between) / (n - k)
    typical = (n - float((sizes**2).sum()) / n) / (k - 1)
    between /= k - 1
    if level is not None:
        between /= float(fisher.ppf(1.0 - level, k - 1, n - k))
    return max(-1.0, (between - within) / (between + (typical - 1.0) * within))


def _squares(groups: NDArray[Any]) -> float:
    """Return the sum of squared group sizes."""
    return float((np.unique(groups, return_counts=True)[1] ** 2).sum())
