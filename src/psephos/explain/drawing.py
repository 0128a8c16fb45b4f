"""The base class of displays, their plots (matplotlib is an extra), and shared checks."""

from typing import Any

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Axes
from psephos.vote.frames import Framed

POSITIVE, OTHER = "#bf4408", "#1a6aa3"  # colours of the positive class and of the other


def pyplot() -> Any:
    """Return matplotlib's pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "a plot", "plot") from None
    return plt


def axes_of(ax: Axes | None, **settings: Any) -> Any:
    """Return `ax`, or new axes made by ``pyplot.subplots(**settings)``."""
    plt = pyplot()
    return plt.subplots(layout="constrained", **settings)[1] if ax is None else ax


def plain(text: Any) -> str:
    """Escape a name so that matplotlib does not read it as a formula."""
    return str(text).replace("$", r"\$")


def fitted_vote(estimator: Any) -> Any:
    """Return the vote of a fitted model of psephos; raise if it is not one."""
    if not hasattr(estimator, "vote_"):
        kind = type(estimator).__name__
        raise PsephosError(f"estimator must be a fitted model of psephos; got {kind}.")
    return estimator.vote_


def case_names(ids: Any, n: int) -> tuple[str, ...]:
    """Return the names of n cases: their ids, or their positions."""
    if ids is not None and np.shape(ids)[:1] != (n,):
        raise PsephosError(f"ids must have {n} entries, one per case; got shape {np.shape(ids)}.")
    return tuple(str(one) for one in (range(n) if ids is None else ids))


class Display(Framed):
    """Base class of results with a `table`, a data frame of it, and a plot."""

    _size: Any = None  # of new axes, in inches

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the display with matplotlib; its class says what is drawn.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes new axes.

        Returns
        -------
        ax : matplotlib Axes

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        axes = axes_of(ax, figsize=self._size)
        self._draw(axes)
        return axes

    def _draw(self, axes: Axes) -> None:
        raise NotImplementedError
