"""Pictures by matplotlib, which is an extra: what they show is in the tables of the objects."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from psephos._errors import MissingExtraError

__all__ = ["axes_of", "draw_network", "pyplot"]

_LISTED = 40  # names beside the picture


def pyplot() -> Any:
    """Return matplotlib's pyplot.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("matplotlib", "a plot", "plot") from None
    return plt


def axes_of(ax: Any, **settings: Any) -> Any:
    """Return the axes given, or new ones; `settings` are those of ``pyplot.subplots``.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    plt = pyplot()
    return plt.subplots(layout="constrained", **settings)[1] if ax is None else ax


def draw_network(network: Any, places: NDArray[np.float64], least: float, ax: Any) -> Any:
    """Draw a network with its nodes at these places (q, 2); see `ColumnNetwork.plot`."""
    axes: Any = axes_of(ax, figsize=(10, 7))
    for j, k in np.argwhere(np.triu(network.joint, 1) > 0):
        share = network.joint[j, k]
        if share >= least:
            line = places[[j, k]].T
            axes.plot(*line, color="0.6", lw=0.5 + 4 * share, alpha=0.5 + 0.5 * share)
    axes.scatter(
        *places.T,
        s=90 + 900 * network.weight,
        c=network.weight,
        cmap="Blues",
        vmin=-0.3,
        vmax=1.5,
        edgecolors="0.3",
        zorder=2,
    )
    for i, (x, y) in enumerate(places, 1):
        axes.annotate(str(i), (x, y), ha="center", va="center", fontsize=8, zorder=3)
    rows = [
        f"{i}  {name} ({share:.0%})"
        for i, (name, share) in enumerate(zip(network.names, network.weight, strict=True), 1)
    ]
    if len(rows) > _LISTED:
        rows = [*rows[:_LISTED], f"and {len(rows) - _LISTED} more"]
    text = "\n".join(rows).replace("$", r"\$")  # names are no formulas
    axes.text(1.02, 1, text, transform=axes.transAxes, va="top", fontsize=8)
    axes.set_axis_off()
    axes.set_title(f"{len(network.names)} columns of {network.n_models} models")
    return axes
