"""What displays share: pictures by matplotlib, which is an extra, and checks of what is given."""

from typing import Any

import numpy as np

from psephos._errors import MissingExtraError, PsephosError
from psephos._types import Axes
from psephos.files.names import plural
from psephos.vote.frames import Framed

POSITIVE, OTHER = "#bf4408", "#1a6aa3"  # colours of the class that is looked for, and the other


def pyplot() -> Any:
    """Return matplotlib's pyplot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "a plot", "plot") from None
    return plt


def axes_of(ax: Axes | None, **settings: Any) -> Any:
    """Return the axes given, or new ones; `settings` are those of ``pyplot.subplots``."""
    plt = pyplot()
    return plt.subplots(layout="constrained", **settings)[1] if ax is None else ax


def plain(text: Any) -> str:
    """Return a name that matplotlib reads as no formula."""
    return str(text).replace("$", r"\$")


def fitted_vote(estimator: Any) -> Any:
    """Return the vote of a fitted model of psephos."""
    if not hasattr(estimator, "vote_"):
        kind = type(estimator).__name__
        raise PsephosError(f"estimator must be a fitted model of psephos; got {kind}.")
    return estimator.vote_


def case_names(ids: Any, n: int) -> tuple[str, ...]:
    """Return what n cases are called: by their ids, or their positions."""
    if ids is not None and np.shape(ids)[:1] != (n,):
        raise PsephosError(f"ids must name each of {plural(n, 'case')}; got shape {np.shape(ids)}.")
    return tuple(str(one) for one in (range(n) if ids is None else ids))


class Display(Framed):
    """What has a `table`, a data frame of it, and a picture that its class describes."""

    _size: Any = None  # of new axes, in inches

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it by matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: new ones.

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
