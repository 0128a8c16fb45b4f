"""Fused kernels of predictions: each is chosen by a part of a vote, and none is needed.

Within `plain_evaluation` parts leave them out and answer by their operations, in NumPy.
"""

from collections.abc import Generator
from contextlib import contextmanager

_plain = [False]


def fused() -> bool:
    """Return whether parts may choose a fused kernel."""
    return not _plain[0]


@contextmanager
def plain_evaluation() -> Generator[None]:
    """Evaluate votes without fused kernels, in all threads of this process.

    Labels are equal and scores agree to rounding; it takes longer. Fits use kernels of this folder
    too, such as sums of pairs of anchors, and do so within it.

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
