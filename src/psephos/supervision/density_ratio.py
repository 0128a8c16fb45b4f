"""Ratios of two densities from samples of both: uLSIF and KLIEP."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from psephos._errors import PsephosError
from psephos._types import Floats, Indices
from psephos.estimator.labels import read_sample_weight
from psephos.estimator.params import Constraint, Interval, check_params
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.runtime.threads import one_thread
from psephos.supervision.grids import candidates, median_width, positive, read_numbers

_WIDTHS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # of the median distance
_PENALTIES = tuple(10.0 ** np.arange(-3.0, 1.5, 0.5))
_STEPS, _SHORTEST = 200, 1e-8
_RIDGE = 1e-10  # of the greatest curvature
_LEAST = 1e-12  # of a mean of kernels: a kernel with a smaller one is left out


@parameters
class _KernelRatio(BaseEstimator):
    """A density ratio ``r(x) = sum_k dual_k exp(-|x - c_k|^2 / (2 sigma^2))``: base class.

    Parameters
    ----------
    n_components : int
        Maximum number of kernels; centres are drawn from the numerator without replacement.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_components,)
        The weights of the kernels.
    components_ : ndarray of shape (n_components, n_features)
        The centres.
    sigma_ : float
        The width chosen.
    n_features_in_ : int
        Number of columns of the samples.
    """

    constraints: ClassVar[dict[str, Constraint]]

    n_components: int = 100
    _: KW_ONLY
    sigma: Any = None
    random_state: Any = None
    dual_coef_: Floats = fitted()
    components_: Floats = fitted()
    sigma_: float = fitted()
    scores_: Floats = fitted()

    def fit(
        self, numerator: Any, denominator: Any, weights: tuple[Any, Any] = (None, None)
    ) -> Self:
        """Estimate p_numerator(x) / p_denominator(x).

        Parameters
        ----------
        numerator, denominator : array of shape (n_rows, n_features)
            Two samples of the same columns, without missing values.
        weights : tuple of two arrays, default=(None, None)
            Sample weights of both; None: equal. Rows of weight 0 are left out.

        Returns
        -------
        self : estimator

        Raises
        ------
        PsephosError
            If the samples have different columns, a weight is negative, values are too large for
            squared distances, or a parameter is wrong.
        ValueError
            By scikit-learn, if a sample is not a table of finite numbers.
        """
        check_params(self, self.constraints)
        top, bottom = read_numbers(numerator), read_numbers(denominator)
        shares = [_shares(w, len(part)) for w, part in zip(weights, (top, bottom), strict=True)]
        top, bottom = (part[share > 0] for part, share in zip((top, bottom), shares, strict=True))
        shares = [share[share > 0] for share in shares]
        if top.shape[1] != bottom.shape[1]:
            raise PsephosError(
                "numerator and denominator must have the same columns; got "
                f"{top.shape[1]} and {bottom.shape[1]}."
            )
        rng = check_random_state(self.random_state)
        order = rng.permutation(len(top))
        self.components_ = top[order[: int(self.n_components)]]
        self.n_features_in_ = top.shape[1]
        squared = [_squared(part, self.components_) for part in (top, bottom)]
        with one_thread():  # small matrices: several threads would be slower
            self._select(squared[0], squared[1], shares[0], shares[1], rng)
        return self

    def _select(self, top: Floats, bottom: Floats, a: Floats, b: Floats, rng: Any) -> None:
        raise NotImplementedError

    def predict(self, X: Any) -> Floats:
        """Return the ratio at each row, at least 0; shape (n_rows,)."""
        check_is_fitted(self, "dual_coef_")
        X = read_numbers(X)
        if X.shape[1] != self.n_features_in_:
            raise PsephosError(
                f"X must have {self.n_features_in_} columns, as in fit; got {X.shape[1]}."
            )
        return _kernel(_squared(X, self.components_), self.sigma_) @ self.dual_coef_


@parameters
class ULSIF(_KernelRatio):
    """Unconstrained least-squares importance fitting (uLSIF): a density ratio in closed form.

    Use it to weight one sample as if it were drawn like another, as in covariate shift: fit it on
    rows of both populations, and ``predict`` returns the density of the first (the numerator) over
    that of the second (the denominator) at each row.

    The ratio is a sum of Gaussian kernels k centred on rows of the numerator. Its squared error
    ``E_denominator[(r - r*)^2] / 2`` (the Bregman divergence of ``f(t) = (t - 1)^2 / 2``) is least,
    with a ridge, at::

        dual = max(0, (H + alpha I)^-1 h),   H = mean over the denominator of k(x) k(x)',
                                             h = mean over the numerator of k(x)

    Parameters
    ----------
    sigma : float, 'median', list of float or None
        Width of the kernels. 'median': the square root of the median positive squared distance of
        the denominator to the centres. From a list, the width with the smallest leave-one-out error
        is chosen. None: .25, .5, .75, 1, 1.5, 2 and 3 times the median width.
    alpha : float, list of float or None
        Ridge penalty, chosen from a list as `sigma` is. None: 10^-3, 10^-2.5, ..., 10. If a sample
        has one row, no row can be left out: the middle value of each list is used.
    random_state : int, RandomState or None
        Seed of the centres and of the pairs that are left out.

    Attributes
    ----------
    alpha_ : float
        The ridge penalty chosen.
    scores_ : ndarray of shape (n_sigmas, n_alphas)
        The leave-one-out error, up to a constant; 0 if there was only one candidate.

    Notes
    -----
    Leave-one-out: one row of the denominator and one of the numerator are left out at a time, as
    many times as the smaller sample has rows. It is exact and cheap: without a row, H changes by
    rank one, so one decomposition is needed per width.

    The ratio depends on the units of the columns: scale them first.

    References
    ----------
    Kanamori, Hido & Sugiyama (2009), "A least-squares approach to direct importance estimation",
    JMLR 10. Sugiyama, Suzuki & Kanamori (2012), "Density-ratio matching under the Bregman
    divergence", AISM 64.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.supervision import ULSIF
    >>> rng = np.random.default_rng(0)
    >>> low, high = rng.normal(0, 1, (300, 1)), rng.normal(1, 1, (300, 1))
    >>> ratio = ULSIF(random_state=0).fit(high, low)
    >>> bool(np.all(np.diff(ratio.predict([[-1.0], [0.5], [2.0]])) > 0))
    True
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "sigma": positive("median"),
        "alpha": positive(),
    }

    _: KW_ONLY
    sigma: Any = None
    alpha: Any = None
    alpha_: float = fitted()

    def _select(self, top: Floats, bottom: Floats, a: Floats, b: Floats, rng: Any) -> None:
        sigmas = candidates(self.sigma, _WIDTHS, median_width(bottom))
        alphas = candidates(self.alpha, _PENALTIES, 1.0)
        n = min(len(top), len(bottom))
        pairs = rng.permutation(len(top))[:n], rng.permutation(len(bottom))[:n]
        self.scores_ = np.zeros((len(sigmas), len(alphas)))
        if self.scores_.size > 1 and n > 1:
            for s, sigma in enumerate(sigmas):
                K = _kernel(top, sigma), _kernel(bottom, sigma)
                self.scores_[s] = _left_out(*K, a, b, pairs, alphas)
        s, k = np.unravel_index(int(self.scores_.argmin()), self.scores_.shape)
        if n == 1:
            s, k = len(sigmas) // 2, len(alphas) // 2
        self.sigma_, self.alpha_ = float(sigmas[s]), float(alphas[k])
        K_bottom = _kernel(bottom, self.sigma_)
        H = (K_bottom * b[:, None]).T @ K_bottom + self.alpha_ * np.eye(K_bottom.shape[1])
        try:
            found = scipy.linalg.solve(H, a @ _kernel(top, self.sigma_), assume_a="pos")
        except scipy.linalg.LinAlgError as error:
            raise PsephosError(
                "alpha must be large enough to solve for the coefficients, such as 1e-3; got "
                f"{self.alpha_:g}."
            ) from error
        self.dual_coef_ = np.maximum(found, 0.0)


def _left_out(
    K_top: Floats,
    K_bottom: Floats,
    a: Floats,
    b: Floats,
    pairs: tuple[Indices, Indices],
    alphas: Sequence[float],
) -> Floats:
    """Return, for each ridge, the mean over pairs of r(left-out)^2 / 2 - r(left-out).

    Without a pair the coefficients are ``(H - v k k' + (1 - v) alpha I)^-1 (h - u k')``, times
    ``(1 - v) / (1 - u)``. They are computed by the Sherman-Morrison formula in the eigenvectors of
    H, with one row per pair.
    """
    upper, lower = pairs
    values, vectors = scipy.linalg.eigh((K_bottom * b[:, None]).T @ K_bottom)
    values = np.maximum(values, 0.0)
    top, bottom = K_top[upper], K_bottom[lower]
    u, v = a[upper], b[lower]
    turned = bottom @ vectors
    h = (a @ K_top) @ vectors - u[:, None] * (top @ vectors)
    squared, crossed = turned * turned, turned * h
    scale = (1.0 - v) / (1.0 - u)
    kept = (1.0 - v if np.ptp(v) > 0 else 1.0 - v[:1])[:, None]  # one row if weights are equal
    errors: list[float] = []
    for alpha in alphas:
        inverse = 1.0 / (values + alpha * kept)
        rest = 1.0 - v * (squared * inverse).sum(axis=1)
        lean = v * (crossed * inverse).sum(axis=1) / rest
        dual = np.maximum(((h + turned * lean[:, None]) * inverse) @ vectors.T, 0.0)
        on_top, on_bottom = (scale * (dual * part).sum(axis=1) for part in (top, bottom))
        errors.append(float(np.mean(on_bottom**2) / 2.0 - np.mean(on_top)))
    return np.array(errors)


@parameters
class KLIEP(_KernelRatio):
    """Kullback-Leibler importance estimation (KLIEP): the density ratio of maximum likelihood.

    Use it as `ULSIF`; it has no ridge penalty to choose, its ratios have mean 1 over the
    denominator, and on small samples its error is often smaller.

    The ratio is a sum of Gaussian kernels centred on rows of the numerator. The mean of
    ``log r(x)`` over the numerator (the Bregman divergence of ``f(t) = t log t - t``) is maximised
    under ``mean over the denominator of r(x) = 1`` and ``dual >= 0``. The problem is concave.

    Parameters
    ----------
    sigma : float, 'median', list of float or None
        As in `ULSIF`. From a list, the width with the greatest likelihood on held-out rows is
        chosen, or the middle one if a sample has one row.
    n_folds : int
        Folds of both samples.
    tol : float
        Tolerance of the optimality conditions below, in units of c_k.
    random_state : int, RandomState or None
        Seed of the centres and folds.

    Attributes
    ----------
    scores_ : ndarray of shape (n_sigmas,)
        Mean log ratio of held-out rows (see Notes), -inf if all kernels are left out; 0 if there
        was only one candidate.

    Notes
    -----
    Let c_k be the mean of kernel k over the denominator, and g_k the mean of ``k(x) / r(x)`` over
    the numerator. At the optimum ``g_k <= c_k``, with equality where dual_k > 0, and the equality
    constraint holds automatically. So ``mean log r - sum_k c_k dual_k`` is maximised under
    ``dual >= 0`` only, by Newton's method; each step is a non-negative least-squares problem. A
    held-out row far from all kernels has a ratio of 1e-12.

    The source holds out rows of the numerator only. Here rows of the denominator are held out, too,
    and the ratio is scaled to mean 1 on these: otherwise kernels so narrow that rows of the
    denominator fall between them would seem better than they are.

    A kernel whose mean over the denominator is below the weight of one row (c_k < 1 / n, or 1/2 if
    there is one row) is left out, unlike in the source: its coefficient, and so ratios near it,
    would be arbitrary.

    References
    ----------
    Sugiyama, Suzuki, Nakajima, Kashima, von Buenau & Kawanabe (2008), "Direct importance
    estimation for covariate shift adaptation", AISM 60.

    Examples
    --------
    >>> import numpy as np
    >>> from psephos.supervision import KLIEP
    >>> rng = np.random.default_rng(0)
    >>> low, high = rng.normal(0, 1, (300, 1)), rng.normal(1, 1, (300, 1))
    >>> ratio = KLIEP(random_state=0).fit(high, low)
    >>> bool(abs(ratio.predict(low).mean() - 1) < 1e-6)
    True
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "sigma": positive("median"),
        "tol": Interval(0, open_low=True),
    }

    _: KW_ONLY
    sigma: Any = None
    n_folds: int = 5
    tol: float = 1e-8

    def _select(self, top: Floats, bottom: Floats, a: Floats, b: Floats, rng: Any) -> None:
        sigmas = candidates(self.sigma, _WIDTHS, median_width(bottom))
        least = _one_row(b)
        parts = min(self.n_folds, len(top), len(bottom))
        folds = rng.permutation(len(top)) % parts, rng.permutation(len(bottom)) % parts
        self.scores_ = np.zeros(len(sigmas))
        if len(sigmas) > 1 and parts > 1:
            for s, sigma in enumerate(sigmas):
                K = _kernel(top, sigma), _kernel(bottom, sigma)
                near = (b @ K[1]).max() >= least
                self.scores_[s] = _held_out(K, (a, b), folds, self.tol) if near else -np.inf
        best = int(self.scores_.argmax()) if parts > 1 else len(sigmas) // 2
        self.sigma_ = float(sigmas[best])
        centre = b @ _kernel(bottom, self.sigma_)
        self.dual_coef_ = _likeliest(_kernel(top, self.sigma_), centre, a, self.tol, least)


def _held_out(
    kernels: tuple[Floats, Floats],
    shares: tuple[Floats, Floats],
    folds: tuple[Indices, Indices],
    tol: float,
) -> float:
    """Return the mean log ratio of held-out rows of the numerator.

    The ratio is scaled to mean 1 on the held-out rows of the denominator.
    """
    (K, bottom), (a, b), total = kernels, shares, 0.0
    for fold in np.unique(folds[0]):
        out, below = folds[0] == fold, folds[1] == fold
        rest = b[~below] / b[~below].sum()
        centre, least = rest @ bottom[~below], _one_row(rest)
        if centre.max() < least:
            return -np.inf
        dual = _likeliest(K[~out], centre, a[~out] / a[~out].sum(), tol, least)
        mean = float(b[below] @ (bottom[below] @ dual)) / float(b[below].sum())
        total += float(a[out] @ np.log(np.maximum(K[out] @ dual, _LEAST)))
        total -= float(a[out].sum()) * float(np.log(max(mean, _LEAST)))
    return total


def _one_row(b: Floats) -> float:
    """Return the effective weight of one row: 1 / n for n equal rows, and at most 1/2."""
    return min(float(b @ b), 0.5)


def _likeliest(K: Floats, centre: Floats, a: Floats, tol: float, least: float = _LEAST) -> Floats:
    """Return the non-negative coefficients that maximise ``a @ log(K dual) - centre @ dual``.

    Coefficients of kernels whose mean is below `least` are 0.
    """
    reached = np.flatnonzero(centre >= least)
    if not len(reached):
        raise PsephosError(
            "no row of the denominator is near a row of the numerator at this width of kernels: "
            "use a greater sigma, or scale the columns."
        )
    scaled = K[:, reached] / centre[reached]
    near = scaled.max(axis=1) > 0  # rows of the numerator that some kernel reaches
    scaled, share = scaled[near], a[near] / a[near].sum()

    part = np.full(len(reached), 1.0 / len(reached))
    for _ in range(20):  # expectation-maximisation, a good start for Newton's method
        part = part * ((share / (scaled @ part)) @ scaled)
    part = _newton(scaled, share, part, tol)
    dual = np.zeros(len(centre))
    dual[reached] = part / part.sum() / centre[reached]
    return dual


def _newton(S: Floats, share: Floats, part: Floats, tol: float) -> Floats:
    """Return the `part` >= 0 that minimises ``sum(part) - share @ log(S part)``.

    Each step minimises the second-order expansion over part >= 0, as non-negative least squares,
    and is halved while it increases the objective.
    """

    def value(x: Floats) -> float:
        ratio = S @ x
        return float(x.sum() - share @ np.log(ratio)) if (ratio > 0).all() else np.inf

    now = value(part)
    for _ in range(_STEPS):
        ratio = S @ part
        slope = 1.0 - (share / ratio) @ S
        if slope.min() >= -tol and np.abs(part * slope).max() <= tol:
            break
        root = S * (np.sqrt(share) / ratio)[:, None]
        H = root.T @ root
        H[np.diag_indices_from(H)] += _RIDGE * H.diagonal().max()
        upper = scipy.linalg.cholesky(H)
        target = scipy.linalg.solve_triangular(upper, H @ part - slope, trans="T")
        aim = nnls(upper, target, maxiter=30 * len(part))[0]
        step, length = aim - part, 1.0
        while (new := value(part + length * step)) > now and length > _SHORTEST:
            length /= 2.0
        if new >= now:
            break  # converged to rounding error
        part, now = part + length * step, new
    return np.maximum(part, 0.0)


def _kernel(squared: Floats, sigma: float) -> Floats:
    return np.exp(squared * (-0.5 / sigma**2))


def _squared(X: Floats, centres: Floats) -> Floats:
    found = cdist(X, centres, "sqeuclidean")
    if not np.isfinite(found).all():
        raise PsephosError(
            "values are too large: a squared distance of two rows overflows. Scale the columns "
            "first."
        )
    return found


def _shares(weight: Any, n: int) -> Floats:
    found = read_sample_weight(weight, n)
    if not found.sum() > 0:
        raise PsephosError("weights of a sample must not be all zero.")
    return found / found.sum()
