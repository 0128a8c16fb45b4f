"""Tables with known truth: which columns decide, and how, is known because we made them."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psephos._errors import PsephosError, PsephosTypeError

__all__ = ["add_noise_columns", "make_spirals"]

_Floats = NDArray[np.float64]
_INNER_TURN = 0.25  # arms start a quarter turn out: in the middle no column tells them apart


def make_spirals(
    n_samples: int = 1000,
    *,
    noise: float = 0.0,
    n_turns: float = 2.0,
    random_state: Any = None,
) -> tuple[_Floats, NDArray[np.intp]]:
    """Make two interleaved spirals: two classes that no single column, and no line, tells apart.

    An arm is the curve ``r = phi / (2 pi)`` of Archimedes, from phi = pi / 2 on for `n_turns`
    turns; the other arm is its half turn. So successive turns of one arm are 1 apart, the two
    arms 1/2. Points are drawn uniformly along the arms (as if a turn's length grew with phi).

    Parameters
    ----------
    n_samples : int, default=1000
        Points in all; the first class gets the larger half.
    noise : float, default=0.0
        Standard deviation of the normal noise added to both coordinates, in units of the
        distance between two turns of one arm.
    n_turns : float, default=2.0
        Turns of each arm, above 0: the more, the less any one column tells.
    random_state : int, RandomState or None, default=None
        Seeds the points, their order and the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 or 1: the arm.

    Raises
    ------
    PsephosError
        If a parameter has a value out of its range (PsephosTypeError: of the wrong type).

    See Also
    --------
    add_noise_columns : Hide the two columns among others.
    sklearn.datasets.make_moons : The easier companion.

    References
    ----------
    Bauvin et al. (2023), supplement, appendix E.2 and Figure 3, which use spirals of their own.

    Examples
    --------
    >>> from psephos.datasets import make_spirals
    >>> X, y = make_spirals(200, random_state=0)
    >>> X.shape, int(y.sum())
    ((200, 2), 100)
    """
    n = _whole("n_samples", n_samples, 2)
    spread = _number("noise", noise, 0.0)
    outer = _INNER_TURN + _number("n_turns", n_turns, 0.0, above=True)
    generator = _random_state(random_state)
    y = (np.arange(n) >= n - n // 2).astype(np.intp)
    share = generator.uniform(size=n)
    radius = np.sqrt(_INNER_TURN**2 + share * (outer**2 - _INNER_TURN**2))
    phi = 2.0 * np.pi * radius + np.pi * y
    X = radius[:, None] * np.column_stack([np.cos(phi), np.sin(phi)])
    if spread > 0:
        X += generator.normal(scale=spread, size=X.shape)
    order = generator.permutation(n)
    return X[order], y[order]


def add_noise_columns(X: ArrayLike, n_columns: int, random_state: Any = None) -> _Floats:
    """Bring columns to unit variance and append columns of standard normal noise.

    All columns then have the same mean (0) and, in expectation, the same variance (1): a
    distance over all of them is dominated by the noise, and nothing but the labels shows which
    columns count.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The informative columns, finite.
    n_columns : int
        Noise columns to append.
    random_state : int, RandomState or None, default=None
        Seeds the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features + n_columns)
        The informative columns first.

    Raises
    ------
    PsephosError
        If X is not a finite table, a column of it is constant, or `n_columns` is out of range.

    Examples
    --------
    >>> from psephos.datasets import add_noise_columns, make_spirals
    >>> X, y = make_spirals(200, random_state=0)
    >>> add_noise_columns(X, 50, random_state=0).shape
    (200, 52)
    """
    n_columns = _whole("n_columns", n_columns, 0)
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise PsephosError(
            f"X of shape {table.shape} is not a finite table: give rows by columns of numbers "
            "without missing or infinite values."
        )
    spread = table.std(axis=0)
    constant = np.flatnonzero(table.max(axis=0) == table.min(axis=0))
    if len(constant):
        raise PsephosError(
            f"column {constant[0]} of X is constant and has no unit variance: leave it out."
        )
    noise = _random_state(random_state).normal(size=(len(table), n_columns))
    return np.hstack([(table - table.mean(axis=0)) / spread, noise])


def _random_state(seed: Any) -> np.random.RandomState:
    """Return the generator scikit-learn's own data sets would draw from."""
    from sklearn.utils import check_random_state

    try:
        return check_random_state(seed)
    except ValueError as error:
        raise PsephosError(
            f"random_state is {seed!r}: give a whole number, a RandomState or None."
        ) from error


def _whole(name: str, value: Any, low: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise PsephosTypeError(f"{name} is {value!r}: give a whole number of at least {low}.")
    if value < low:
        raise PsephosError(f"{name} is {value}: give a whole number of at least {low}.")
    return int(value)


def _number(name: str, value: Any, low: float, *, above: bool = False) -> float:
    words = f"give a finite number {'above' if above else 'of at least'} {low:g}."
    if not isinstance(value, Real) or isinstance(value, bool):
        raise PsephosTypeError(f"{name} is {value!r}: {words}")
    number = float(value)
    if not np.isfinite(number) or number < low or (above and number == low):
        raise PsephosError(f"{name} is {value!r}: {words}")
    return number
