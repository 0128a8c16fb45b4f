"""What the tables of single trees share: peaks of memory, and growth with size."""

from _timing import cpu_time, head, line  # first: it asks NumPy for one thread

# isort: split
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Fit = Callable[[np.ndarray, np.ndarray], Any]


def generated(n: int, p: int, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of two classes, four columns of signal, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).round(2)
    y = (X[:, : min(p, 4)].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


# ---------------------------------------------------------------------- memory
def _memory(entry: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(text for text in lines if text.startswith(entry)).split()[1])


def say_peak(fit: Fit, X: np.ndarray, y: np.ndarray) -> None:
    """Print the MiB by which one fit raises the peak of this process, after a small fit."""
    few = np.random.default_rng(0).permutation(len(y))[:500]
    fit(X[few], y[few])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _memory("VmRSS")
    fit(X, y)
    print((_memory("VmHWM") - before) / 1024)


def ask(script: str, *words: str) -> float:
    """Return the number that a fresh process of the script prints."""
    command = [sys.executable, script, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


# ---------------------------------------------------------------------- growth
Axis = tuple[str, Sequence[int], Callable[[int], tuple[Fit, Fit, np.ndarray, np.ndarray]]]


def growth(axes: Sequence[Axis], depth: Callable[[Any], int], place: Path, name: str) -> None:
    """Print CPU seconds along each axis, ours and scikit-learn's, and draw them to a file.

    An axis is its label, its values, and what gives (our fit, theirs, X, y) at a value. `exponent`
    is the slope of the logarithm of our time from the value before.
    """
    found: dict[str, list[tuple[int, float, float]]] = {}
    head("axis", "value", "depth", "ours, s", "scikit-learn, s", "ratio", "exponent")
    for label, values, at in axes:
        rows = found.setdefault(label, [])
        for value in values:
            ours, theirs, X, y = at(value)
            seconds, peer = (cpu_time(partial(fit, X, y), 3) for fit in (ours, theirs))
            slope = "" if not rows else f"{_slope(rows[-1], value, seconds):.2f}"
            rows.append((value, seconds, peer))
            line(
                label, f"{value:,}", str(depth(ours(X, y))), f"{seconds:.4f}", f"{peer:.4f}",
                f"{seconds / peer:.2f}", slope,
            )  # fmt: skip
    _draw(found, place, name)


def _slope(before: tuple[int, float, float], value: int, seconds: float) -> float:
    return float(np.log(seconds / before[1]) / np.log(value / before[0]))


def _draw(found: Mapping[str, list[tuple[int, float, float]]], place: Path, name: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(4 * len(found), 3.2), sharey=True)
    for ax, (label, rows) in zip(axes, found.items(), strict=True):
        value, ours, theirs = np.array(rows).T
        ax.loglog(value, ours, "o-", label=name)
        ax.loglog(value, theirs, "s--", label="scikit-learn")
        ax.set_xlabel(label)
    axes[0].set_ylabel("CPU s")
    axes[0].legend()
    figure.savefig(place, bbox_inches="tight")
    print(f"\ndrawn to {place}")
