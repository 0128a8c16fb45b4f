"""A page of its own on SamBA's a and b: how near a training case must be to count."""

from pathlib import Path
from typing import Any

import numpy as np

from psephos import __version__
from psephos._types import Floats, NDArray
from psephos.files.atomic import write_whole
from psephos.report.page.render import page_of
from psephos.vote import InverseDistance, Local

__all__ = ["HIGH", "LOW", "build_explorer", "estimate", "explorer", "relevances"]

HIGH, LOW = 0.44, 0.006  # relevances of the toy
_WRONG = 3  # rows of each side that have the other's, where it is noisy


def relevances(
    noisy: bool, n_samples: int = 200, seed: int = 0
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rows of the toy of SamBA's Figure 1, sorted, and whether the voter is relevant.

    Parameters
    ----------
    noisy : bool
        Whether three rows on each side of 0.5 have the relevance of the other.
    n_samples : int, default=200
    seed : int, default=0

    Notes
    -----
    Source: Bauvin et al. (2023), UAI, supplement, appendix C: 200 random rows on a
    line; relevance .44 up to 0.5, .006 beyond.
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(size=n_samples))
    relevant = x <= 0.5
    if noisy:
        for group in (np.flatnonzero(x <= 0.5), np.flatnonzero(x > 0.5)):
            wrong = rng.choice(group, _WRONG, replace=False)
            relevant[wrong] = ~relevant[wrong]
    return x, relevant


def estimate(x: Floats, relevant: NDArray[np.bool_], a: float, b: float, where: Floats) -> Floats:
    """Return the mean relevance around some points: the weight over the similarity.

    ``sum_i s_i omega_i / sum_i s_i`` with ``s_i = 1 / (a^b + |x_i - x|^b)``, by the weighting that
    a fitted `SamBAClassifier` has.
    """
    weight, _ = _weighting(x, relevant, a, b).relative(where[:, None])
    total, _ = _weighting(x, np.ones_like(relevant), a, b).relative(where[:, None])
    return (HIGH * weight / total)[:, 0]


def _weighting(x: Floats, relevant: NDArray[np.bool_], a: float, b: float) -> Local:
    m = len(x)
    line = InverseDistance(
        a=a, b=b, scale=1.0, per_query=False, column_scale=np.ones(1),
        is_category=np.zeros(1, dtype=np.bool_), absent=1.0,
    )  # fmt: skip
    return Local(
        n_features=1, columns=np.array([0]), similarity=line, anchors=x[:, None],
        anchor_weight=np.ones(m), right=np.packbits(relevant[:, None], axis=1), voters=1,
        low=LOW, high=HIGH, rows=np.arange(m), anchor_class=np.zeros(m, dtype=np.intp),
    )  # fmt: skip


def explorer() -> dict[str, Any]:
    """Return what the page holds, as plain values."""
    toys: dict[str, Any] = {}
    for name, noisy in (("pure", False), ("noisy", True)):
        x, relevant = relevances(noisy)
        toys[name] = {
            "x": x.tolist(),
            "omega": np.where(relevant, HIGH, LOW).tolist(),
        }
    return {"version": __version__, "island": {"toys": toys}}


def build_explorer(path: str | Path = "psephos-explorer.html") -> Path:
    """Write the page on SamBA's a and b.

    Parameters
    ----------
    path : str or Path, default='psephos-explorer.html'

    Returns
    -------
    path : Path

    Raises
    ------
    PsephosError
        If it cannot be written.
    """
    target = Path(path)
    html = page_of(
        "explorer.html.j2",
        explorer(),
        ("base.css", "parts.css", "explorer.css"),
        ("core.js", "explorer.js"),
        asks=False,
    )
    write_whole(target, html.encode("utf-8"))
    return target
