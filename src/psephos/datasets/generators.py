"""Generated tables with known truth: which columns decide the class, and how."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from psephos._errors import PsephosError, PsephosTypeError
from psephos._types import Floats, Indices, SeedLike

_INNER_TURN = 0.25  # arms start a quarter turn out: in the middle no column separates them


def make_spirals(
    n_samples: int = 1000,
    *,
    noise: float = 0.0,
    n_turns: float = 2.0,
    random_state: SeedLike = None,
) -> tuple[Floats, Indices]:
    """Make two interleaved spirals: two classes that no single column, and no line, separates.

    An arm is the Archimedean spiral ``r = phi / (2 pi)``, from phi = pi / 2 on for `n_turns` turns;
    the other arm is the same, rotated by half a turn. So successive turns of one arm are 1 apart,
    and the two arms 1/2. Points are uniform along the arms, with arc length taken as growing
    with phi^2.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; if it is odd, the first class has one more.
    noise : float, default=0.0
        Standard deviation of the normal noise added to both coordinates, in units of the
        distance between two turns of one arm.
    n_turns : float, default=2.0
        Turns of each arm, above 0. The more turns, the less a single column separates the classes.
    random_state : int, RandomState or None, default=None
        Seed of the points, their order and the noise.

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
    sklearn.datasets.make_moons : An easier pattern of two arms.

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


def make_checkerboard(
    n_rows_per_square: int = 100,
    *,
    size: int = 8,
    rotation: float = 0.0,
    random_state: SeedLike = None,
) -> tuple[Floats, Indices]:
    """Make the squares of a chequered board: two classes that are separated only locally.

    Points are uniform on the unit square; the class is
    ``(floor(size x_1) + floor(size x_2)) mod 2``. For an even `size` a single column is independent
    of the class. A rotated board has edges that no split on one column follows.

    Parameters
    ----------
    n_rows_per_square : int, default=100
        Expected points per square: ``n_rows_per_square * size^2`` rows in all.
    size : int, default=8
        Squares along each edge, at least 2.
    rotation : float, default=0.0
        Degrees by which board and points are rotated, counter-clockwise about the middle of the
        board. At other than right angles some points leave the unit square.
    random_state : int, RandomState or None, default=None
        Seed of the points.

    Returns
    -------
    X : ndarray of shape (n_rows_per_square * size^2, 2)
    y : ndarray of shape (n_rows_per_square * size^2,)
        0 or 1; the square in the lower left corner (before rotation) is of class 0.

    Raises
    ------
    PsephosError
        If a parameter has a value out of its range (PsephosTypeError: of the wrong type).

    See Also
    --------
    make_continuous_xor : The pattern of two squares along each edge, in any number of columns.

    References
    ----------
    Ruf, proset manual, chapter "Fit strategy with examples", data sets "Checker" (size 8, 6,400
    rows) and "Checker rot" (turned by 45 degrees).

    Examples
    --------
    >>> from psephos.datasets import make_checkerboard
    >>> X, y = make_checkerboard(5, size=4, rotation=45.0, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((80, 2), [0, 1])
    """
    n = _whole("n_rows_per_square", n_rows_per_square, 1)
    edge = _whole("size", size, 2)
    angle = np.deg2rad(_number("rotation", rotation, -np.inf))
    X = _random_state(random_state).uniform(size=(n * edge**2, 2))
    y = (np.floor(edge * X).sum(axis=1) % 2).astype(np.intp)
    if angle != 0:
        cos, sin = np.cos(angle), np.sin(angle)
        x_1, x_2 = (X - 0.5).T
        X = np.column_stack([cos * x_1 - sin * x_2, sin * x_1 + cos * x_2]) + 0.5
    return X, y


def make_continuous_xor(
    n_columns: int = 6,
    *,
    n_noise_columns: int = 0,
    n_rows_per_orthant: int = 100,
    random_state: SeedLike = None,
) -> tuple[Floats, Indices]:
    """Make the sign of a product: two classes that depend on all informative columns at once.

    All columns are uniform on [-1, 1]; the class is 1 where the product of the first `n_columns`
    is at least 0. Any proper subset of these columns is independent of the class, so a greedy
    search finds only chance until it has split on all but one of them.

    Parameters
    ----------
    n_columns : int, default=6
        Columns in the product, at least 2.
    n_noise_columns : int, default=0
        Further columns of the same distribution, independent of the class.
    n_rows_per_orthant : int, default=100
        Expected points in each orthant of the informative columns:
        ``n_rows_per_orthant * 2^n_columns`` rows in all.
    random_state : int, RandomState or None, default=None
        Seed of the points. The informative columns and the classes do not depend on
        `n_noise_columns`.

    Returns
    -------
    X : ndarray of shape (n_rows_per_orthant * 2^n_columns, n_columns + n_noise_columns)
        The informative columns first.
    y : ndarray of shape (n_rows_per_orthant * 2^n_columns,)
        0 or 1.

    Raises
    ------
    PsephosError
        If a parameter has a value out of its range (PsephosTypeError: of the wrong type).

    See Also
    --------
    make_checkerboard : More squares along each edge, two columns.

    References
    ----------
    Ruf, proset manual, chapter "Fit strategy with examples", data sets "XOR 3f" to "XOR 6f" (3 to
    6 columns) and "XOR 6+6f" (6 columns and 6 of noise).

    Examples
    --------
    >>> from psephos.datasets import make_continuous_xor
    >>> X, y = make_continuous_xor(3, n_noise_columns=2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((800, 5), [0, 1])
    """
    q = _whole("n_columns", n_columns, 2)
    n_noise = _whole("n_noise_columns", n_noise_columns, 0)
    n = _whole("n_rows_per_orthant", n_rows_per_orthant, 1) * 2**q
    generator = _random_state(random_state)
    informative = generator.uniform(-1.0, 1.0, size=(n, q))
    noise = generator.uniform(-1.0, 1.0, size=(n, n_noise))
    # Counted, not multiplied: the product of many small numbers would round to 0.
    below = (informative < 0).sum(axis=1) * (informative != 0).all(axis=1)
    return np.hstack([informative, noise]), (below % 2 == 0).astype(np.intp)


def _random_state(seed: Any) -> np.random.RandomState:
    """Return scikit-learn's generator of a seed."""
    from sklearn.utils import check_random_state

    try:
        return check_random_state(seed)
    except ValueError as error:
        raise PsephosError(
            f"random_state must be an integer, a RandomState or None; got {seed!r}."
        ) from error


def _whole(name: str, value: Any, low: int) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < low:
        kind = PsephosError if whole else PsephosTypeError
        raise kind(f"{name} must be an integer of at least {low}; got {value!r}.")
    return int(value)


def _number(name: str, value: Any, low: float, *, above: bool = False) -> float:
    bound = "" if low == -np.inf else f" {'above' if above else 'of at least'} {low:g}"
    message = f"{name} must be a finite number{bound}; got {value!r}."
    if not isinstance(value, Real) or isinstance(value, bool):
        raise PsephosTypeError(message)
    number = float(value)
    if not np.isfinite(number) or number < low or (above and number == low):
        raise PsephosError(message)
    return number
