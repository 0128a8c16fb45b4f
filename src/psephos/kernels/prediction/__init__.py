"""Fused kernels of predictions, which parts of a vote may use.

Within `plain_evaluation` parts evaluate their operations in NumPy instead.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager

_plain = [False]
_FEW = 20_000  # answers of trees: fewer take NumPy less time than importing numba


def fused(n_answers: int = _FEW) -> bool:
    """Return whether parts may use a fused kernel, to compute this number of answers.

    Few answers, where NumPy gives the same bytes, are not a reason to import numba.
    """
    return not _plain[0] and (n_answers >= _FEW or "numba" in sys.modules)


@contextmanager
def plain_evaluation() -> Generator[None]:
    """Evaluate votes without fused kernels, in all threads of this process.

    It is slower; labels are equal, and scores agree up to rounding. Fits always use the kernels of
    this folder that they need, such as sums over pairs of anchors.

    Examples
    --------
    >>> from psephos import SamBAClassifier
    >>> from psephos.testing import plain_evaluation, small_table
    >>> X, y = small_table()
    >>> model = SamBAClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> with plain_evaluation():
    ...     labels = model.predict(X)
    >>> bool((labels == model.predict(X)).all())
    True
    """
    before, _plain[0] = _plain[0], True
    try:
        yield
    finally:
        _plain[0] = before
