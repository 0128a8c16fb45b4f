"""Pictures by matplotlib, which is an extra: what they show is in the tables of the objects."""

from typing import Any

from psephos._errors import MissingExtraError
from psephos._types import Axes
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
