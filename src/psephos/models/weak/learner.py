"""Rows of weak labels: codes, weights, inputs, and linear scores that minimise a risk."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone

from psephos._errors import PsephosError
from psephos._types import Floats, Indices, NDArray
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.estimator.members import fitted
from psephos.models.committees.fitting import Data
from psephos.models.linear.ridge import ScoredColumns
from psephos.models.training import Design, merged_copies
from psephos.optimise.adam import Adam
from psephos.runtime.threads import one_thread
from psephos.supervision import KLIEP, ULSIF, MarginLoss
from psephos.supervision.grids import median_width
from psephos.supervision.risks import NonNegativeRisk, Risk, WeightedRisk, non_negative_pu_risk
from psephos.vote import KernelVoters, RankedVoters, Voters, linear_models
from psephos.vote.target import ClassTarget

if TYPE_CHECKING:
    from psephos.models.weak.settings import WeakLearner

_QUANTILES = 1000  # maximum number of values of a column whose scores are kept


@dataclass(frozen=True)
class Inputs:
    """The scaling of a table: normal scores of ranks, or standardised columns."""

    p: int  # columns of the table
    design: Design | None  # None if no column holds categories
    knots: Any  # of normal scores; None if columns are standardised
    # `centre`, `inverse`: (q,); ``z = (x - centre) inverse``, with x divided by two to its power;
    # inverse is 0 for a constant column
    centre: Floats
    inverse: Floats
    powers: Indices  # (q,); so that squares do not overflow

    @classmethod
    def of(cls, table: Table, weight: Floats, scaling: str) -> tuple["Inputs", Floats]:
        """Return the scaling by these rows, and their (n, q) scaled inputs."""
        X = table.dense()
        p = X.shape[1]
        design = Design.of_table(table)
        X = X if design is None else design.matrix(X)
        q = X.shape[1]
        if scaling == "rank" or (scaling == "auto" and bool(np.isnan(X).any())):
            scored = ScoredColumns(X, weight, None, _QUANTILES)
            plain = np.zeros(q, dtype=np.intp)
            scores = scored.scores()
            return cls(p, design, scored.knots, np.zeros(q), np.ones(q), plain), scores
        _refuse_missing(X, table, design)
        Z, centre, inverse, powers = _standardised(X, weight)
        return cls(p, design, None, centre, inverse, powers), Z

    def lines(self, coef: Floats, intercept: float, code: Floats) -> Voters:
        """Return one linear voter: log-odds ``intercept + coef' z``."""
        if self.knots is None:
            coef = coef * self.inverse
            intercept -= float(coef @ self.centre)
        every = np.arange(len(coef))
        line = linear_models(
            len(every), every, coef[None, None], np.array([[intercept]]), code, "probability"
        )
        return self._through(line.times(self.powers))

    def kernels(
        self, dual: Floats, centres: Floats, sigma: float, intercept: float, code: Floats
    ) -> Voters:
        """Return one voter: log-odds ``intercept + sum_i dual_i exp(-|z - c_i|^2 / 2 sigma^2)``."""
        used = np.flatnonzero(self.inverse != 0)
        machine = KernelVoters(
            len(self.inverse),
            used,
            np.array([0, len(used)]),
            np.arange(len(used)),
            self.centre[used],
            self.inverse[used],
            np.array([0, len(centres)]),
            centres[:, used].ravel(),
            dual[None],
            np.array([[intercept]]),
            np.array([0.5 / sigma**2]),
            code,
            "rbf",
            "probability",
            called="kernel score",
        )
        return self._through(machine.times(self.powers))

    def _through(self, voters: Any) -> Voters:
        if self.knots is not None:
            q = len(self.inverse)
            voters = RankedVoters(q, np.arange(q), voters, *self.knots)
        voters = voters if self.design is None else self.design.coded(voters)
        return voters.take(np.zeros(1, dtype=np.intp))  # drops columns with coefficient 0


def _standardised(X: Floats, weight: Floats) -> tuple[Floats, Floats, Floats, Indices]:
    """Return the standardised columns, and their centre, inverse deviation and powers of two."""
    powers = np.frexp(np.abs(X).max(axis=0))[1].astype(np.intp)
    X = np.ldexp(X, -powers)
    centre = np.average(X, axis=0, weights=weight)
    away = X - centre
    spread = np.sqrt(np.average(away**2, axis=0, weights=weight))
    moves = (X.max(axis=0) > X.min(axis=0)) & (spread > 0)
    inverse = np.divide(1.0, spread, out=np.zeros(X.shape[1]), where=moves)
    return away * inverse, centre, inverse, powers


def _refuse_missing(X: Floats, table: Table, design: Design | None) -> None:
    missing = np.isnan(X)
    if missing.any():
        row, j = (int(k) for k in np.argwhere(missing)[0])
        column = j if design is None else int(design.source[j])
        name = table.schema.words().columns[column]
        raise PsephosError(
            f"{name!r} is missing in row {table.rows[row]}: scaling='standard' does not accept "
            "missing values. Use scaling='rank', which reads them as the median."
        )


_REACH = 30.0  # mean absolute row sum, about that of 36 standardised columns
_JITTER = 1e-10  # of the greatest eigenvalue of a kernel


@dataclass(frozen=True)
class ScoreLearner:
    """Margins ``A w + b`` of rows, and their voter."""

    # (n, r), of the training rows: inputs; with more inputs than rows their principal components
    # (equivalent, as the penalty is |w|^2); or orthonormalised kernels
    A: Floats
    back: Floats | None  # (r, k) or None; maps w to coefficients of inputs or kernels
    inputs: Inputs
    centres: Floats | None = None  # (k, q) or None
    sigma: float = 1.0

    @classmethod
    def linear(cls, inputs: Inputs, Z: Floats) -> "ScoreLearner":
        """Return a learner of scores that are linear in the inputs."""
        if Z.shape[1] <= Z.shape[0]:
            return cls(Z, None, inputs)
        left, size, right = scipy.linalg.svd(Z, full_matrices=False)
        return cls(left * size, right, inputs)

    @classmethod
    def rbf(
        cls, inputs: Inputs, Z: Floats, sigma: float | None, n_components: int, context: Context
    ) -> "ScoreLearner":
        """Return a learner of sums of Gaussian kernels; |w|^2 is the squared norm in their RKHS."""
        order = context.generator(1).permutation(len(Z))
        centres = Z[np.sort(order[:n_components])]
        squared = cdist(Z, centres, "sqeuclidean")
        width = median_width(squared) if sigma is None else float(sigma)
        among = np.exp(cdist(centres, centres, "sqeuclidean") * (-0.5 / width**2))
        values, vectors = scipy.linalg.eigh(among)
        sound = values > _JITTER * values[-1]
        whiten = vectors[:, sound] / np.sqrt(values[sound])
        kernels = np.exp(squared * (-0.5 / width**2))
        return cls(kernels @ whiten, whiten.T, inputs, centres, width)

    def fit(
        self,
        risk: Risk,
        *,
        alpha: float,
        starts: Sequence[Floats],
        max_iter: int = 400,
        learning_rate: float = 0.1,
    ) -> tuple[Floats, float, int]:
        """Return (w, b) as one array, its ``risk + alpha |w|^2``, and the number of iterations."""
        with one_thread():  # so that the result does not depend on the number of threads
            return self._searched(risk, alpha, starts, max_iter, learning_rate)

    def _searched(
        self,
        risk: Risk,
        alpha: float,
        starts: Sequence[Floats],
        max_iter: int,
        learning_rate: float,
    ) -> tuple[Floats, float, int]:
        if isinstance(risk, NonNegativeRisk):
            # if every weight moves by the rate, a margin moves by up to the rate times this
            reach = float(np.abs(self.A).sum(axis=1).mean())
            rate = learning_rate * min(1.0, _REACH / max(reach, 1.0))
            with np.errstate(over="ignore", invalid="ignore"):
                found = descend(self.A, risk, alpha, starts[0], max_iter, rate)
                value = _objective(self.A, risk, alpha, found)[0]
            if not np.isfinite(value):
                raise PsephosError(
                    f"the non-negative fit diverges: learning_rate must be below {learning_rate:g}."
                )
            return found, value, max_iter
        found, value, n_iter = least(self.A, risk, alpha, starts)
        if isinstance(risk, WeightedRisk) and alpha == 0 and risk.falls_along(self.margins(found)):
            raise PsephosError(
                "alpha must be above 0 here, such as 0.01; got 0. Without a penalty the unbiased "
                "risk of the logistic loss has no minimum, as its negative part is unbounded. Or "
                "use a symmetric loss or the non-negative risk."
            )
        return found, value, n_iter

    def starts(self, risk: Risk, number: int) -> list[Floats]:
        """Return the starts of searches: 0, and points along the risk's negative gradient there.

        The root mean square of their margins is 0, 1, 4, 16, ... Starts depend neither on the order
        of columns nor on the names of classes.
        """
        slope = risk.step(np.zeros((len(self.A), 1)))[:, 0]
        down = -np.append(self.A.T @ slope, slope.sum())
        size = float(np.sqrt(np.mean(self.margins(down) ** 2)))
        unit = down / size if size > 0 else np.zeros_like(down)
        return [unit * (0.0 if k == 0 else 4.0 ** (k - 1)) for k in range(number)]

    def margins(self, found: Floats) -> Floats:
        """Return the margins of the training rows, shape (n,)."""
        return self.A @ found[:-1] + found[-1]

    def voters(self, found: Floats, code: Floats) -> Voters:
        """Return the voter; code (2, 1) is that of the negative and the positive class."""
        w, b = found[:-1], float(found[-1])
        coef = w if self.back is None else w @ self.back
        if code[1, 0] < code[0, 0]:  # a voter's score is for the second class
            coef, b, code = -coef, -b, code[::-1].copy()
        if self.centres is None:
            return self.inputs.lines(coef, b, code)
        return self.inputs.kernels(coef, self.centres, self.sigma, b, code)


def _objective(A: Floats, risk: Risk, alpha: float, found: Floats) -> tuple[float, Floats]:
    w = found[:-1]
    value, slope = risk.value_and_gradient((A @ w + found[-1])[:, None])
    own = np.append(A.T @ slope[:, 0] + 2.0 * alpha * w, slope.sum())
    return value + alpha * float(w @ w), own


def least(
    A: Floats, risk: Risk, alpha: float, starts: Sequence[Floats]
) -> tuple[Floats, float, int]:
    """Return the best local minimum of L-BFGS over these starts, its objective and iterations.

    The intercept is not penalised.
    """
    best: Any = None
    for start in starts:
        found = minimize(
            lambda point: _objective(A, risk, alpha, point),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-13, "gtol": 1e-8},
        )
        if best is None or found.fun < best.fun:
            best = found
    return best.x, float(best.fun), max(1, int(best.nit))


def descend(
    A: Floats, risk: Risk, alpha: float, start: Floats, max_iter: int, learning_rate: float
) -> Floats:
    """Return the last point of full-batch Adam on a risk."""
    point = start.copy()
    adam = Adam([point], learning_rate)
    for _ in range(max_iter):
        slope = risk.step((A @ point[:-1] + point[-1])[:, None])
        adam.step([np.append(A.T @ slope[:, 0] + 2.0 * alpha * point[:-1], slope.sum())])
    return point


@dataclass(frozen=True)
class WeakRows:
    """The training rows: codes 1 (positive), 0 (negative), -1 (unlabelled), weights, inputs."""

    model: Any
    data: Data  # for other classifiers; y holds class indices, -1 for unlabelled rows
    codes: Indices  # (n,)
    weight: Floats  # (n,)
    positive: int  # the index of the positive class
    inputs: Inputs
    Z: Floats  # (n, q); scaled inputs of density ratios, priors and the built-in score
    context: Context
    counts: dict[int, int]  # number of rows of each code, copies included

    @property
    def code(self) -> Floats:
        """Return the codes of the negative and the positive class."""
        order = [1 - self.positive, self.positive]
        return self.data.target.code[order]

    @property
    def loss(self) -> MarginLoss:
        """Return the loss of the model."""
        return MarginLoss(self.model.loss)

    @cached_property
    def linear(self) -> ScoreLearner:
        """Return the learner of margins that are linear in the inputs."""
        return ScoreLearner.linear(self.inputs, self.Z)

    @property
    def features(self) -> Floats:
        """Return the inputs of density ratios and priors.

        With more inputs than rows these are principal components, which preserve distances and
        penalised linear models.
        """
        return self.linear.A

    @property
    def numbers(self) -> Floats:
        """Return the table with categories as 0/1 columns, for classifiers of numeric columns."""
        X, design = self.data.X, self.inputs.design
        return X if design is None else design.matrix(X)

    def take(self, rows: Indices) -> "WeakRows":
        """Return these rows only, with the same inputs."""
        return replace(
            self,
            data=self.data.take(rows, self.weight[rows]),
            codes=self.codes[rows],
            weight=self.weight[rows],
            Z=self.Z[rows],
        )

    @property
    def ignored(self) -> bool:
        """Return whether recorded negatives are left out."""
        return getattr(self.model, "negatives", None) == "ignore"

    def coded(self, codes: Indices) -> "WeakRows":
        """Return the same rows with other codes."""
        return replace(self, codes=codes)

    def learner(self) -> ScoreLearner:
        """Return the learner of the model's kernel."""
        m = self.model
        if m.kernel == "linear":
            return self.linear
        return ScoreLearner.rbf(self.inputs, self.Z, m.sigma, m.n_components, self.context)


def read_rows(
    model: "WeakLearner", table: Table, labels: Labels, weight: Floats, context: Context
) -> WeakRows:
    """Return the rows, copies of one label merged, with codes by the positive class."""
    target = labels.target
    given = labels.y
    if context.groups is None:  # so weight 2 equals the row given twice
        table, labels, weight = merged_copies(table, labels, weight)
    positive = positive_code(model, target)
    classes = {-1: -1, 0: 1 - positive, 1: positive}
    counts = {code: int((given == k).sum()) for code, k in classes.items()}
    y = labels.y
    codes = np.where(y < 0, -1, np.where(y == positive, 1, 0)).astype(np.intp)
    data = Data.of(table, labels, weight, context, None)
    inputs, Z = Inputs.of(table, weight, model.scaling)
    return negatives_read(
        WeakRows(model, data, codes, weight, positive, inputs, Z, context, counts)
    )


def positive_code(model: "WeakLearner", target: ClassTarget) -> int:
    """Return the index of the positive class, whose labels are right."""
    classes = target.classes.tolist()
    if model.pos_label is None:
        return 1
    if model.pos_label not in classes:
        raise PsephosError(
            f"pos_label must be one of the classes {classes}; got {model.pos_label!r}."
        )
    return int(classes.index(model.pos_label))


def check_weights(model: Any, labels: Labels, weight: Floats) -> None:
    """Raise PsephosError if a kind of rows that the fit needs has no weight, naming the kind."""
    positive, y = positive_code(model, labels.target), labels.y
    if not (y == positive).any():
        raise PsephosError(
            f"no row is labelled positive ({labels.target.classes.tolist()[positive]!r}), and "
            f"{type(model).__name__} needs positive rows: set classes and pos_label."
        )
    sides = {-1: "without a label", positive: "labelled positive"}
    if model.contender.both_recorded:
        sides[1 - positive] = "labelled negative"
    for code, kind in sides.items():
        if (y == code).any() and not (weight[y == code] > 0).any():
            raise PsephosError(
                f"sample_weight is zero on every row {kind}: {type(model).__name__} needs such "
                "rows with weight above 0."
            )


def negatives_read(rows: WeakRows) -> WeakRows:
    """Return the rows with those labelled negative treated by the parameter `negatives`."""
    mode = getattr(rows.model, "negatives", "ignore")
    negative, unlabelled = rows.codes == 0, rows.codes == -1
    if mode == "ignore" or not negative.any():
        return rows
    if mode == "unlabeled":
        moved = rows.coded(np.where(negative, -1, rows.codes).astype(np.intp))
        merged = {1: rows.counts[1], 0: 0, -1: rows.counts[-1] + rows.counts[0]}
        return replace(moved, counts=merged)
    if not unlabelled.any():
        return rows
    raise PsephosError(
        f"{negative.sum()} rows are labelled negative while others have no label, and a "
        "positive-unlabelled risk does not use negative labels. Set negatives='ignore' to leave "
        "them out or negatives='unlabeled' to count them as unlabelled; if recorded negatives may "
        "be positive, use LIoISClassifier."
    )


_RATIO_TASK = 4


def nnpu_scores(rows: WeakRows, prior: float) -> Floats:
    """Return the margins of all rows by a non-negative positive-unlabelled fit.

    With `estimator` this fit is linear in the inputs.
    """
    m = rows.model
    learner = rows.learner() if m.estimator is None else rows.linear
    risk = non_negative_pu_risk(rows.codes, prior, MarginLoss("sigmoid"), rows.weight)
    start = learner.starts(risk, 1)
    found, *_ = learner.fit(
        risk, alpha=m.alpha, starts=start, max_iter=m.max_iter, learning_rate=m.learning_rate
    )
    return learner.margins(found)


def importance(rows: WeakRows, prior: float, score: Floats) -> Floats:
    """Return sigma of every labelled row: at least 1 for positives, from 0 to 1 for negatives.

    The unlabelled rows with the greatest scores, a share `prior` of their weight, count as positive
    (U+), the others as negative (U-); with ``pseudo_labels='sign'`` U+ are those with a score above
    0. q is the share of U+, t that of recorded positives among labelled rows. Then::

        sigma+ = max(1, q / t  r+),           r+ = p(x | U+) / p(x | recorded +)
        sigma- = min(1, (1 - q) / (1 - t) r-),   r- = p(x | U-) / p(x | recorded -)

    The clips follow from sigma+ = 1 / P(recorded + | x, +) and sigma- = P(- | x, recorded -).
    """
    open_ = np.flatnonzero(rows.codes == -1)
    upper = score[open_] > 0
    if rows.model.pseudo_labels == "prior" or upper.all() or not upper.any():
        upper = _upper(score[open_], rows.weight[open_], prior)
    w = rows.weight
    q = float(w[open_[upper]].sum() / w[open_].sum())
    known = rows.codes >= 0
    t = float(w[rows.codes == 1].sum() / w[known].sum())
    sigma = np.ones(len(w))
    features = rows.features
    for code, part, factor in ((1, upper, q / t), (0, ~upper, (1.0 - q) / (1.0 - t))):
        top, bottom = open_[part], np.flatnonzero(rows.codes == code)
        given = features[top], features[bottom], (w[top], w[bottom])
        ratio = fitted(_ratio(rows, code), *given)
        found = factor * ratio.predict(features[bottom])
        sigma[bottom] = np.maximum(found, 1.0) if code else np.minimum(found, 1.0)
    return sigma


def _upper(score: Floats, weight: Floats, prior: float) -> NDArray[np.bool_]:
    """Return the mask of the share `prior` of rows with the greatest scores: not all, not none."""
    order = np.argsort(-score, kind="stable")
    middle = np.cumsum(weight[order]) - weight[order] / 2.0
    out = np.zeros(len(score), dtype=bool)
    out[order] = middle <= prior * weight.sum()
    out[order[0]], out[order[-1]] = True, False
    return out


def _ratio(rows: WeakRows, task: int) -> Any:
    given, seed = rows.model.density_ratio, rows.context.integer(_RATIO_TASK, task)
    if isinstance(given, str):
        return (ULSIF if given == "ulsif" else KLIEP)(random_state=seed)
    own: Any = clone(given)
    if "random_state" in own.get_params() and own.get_params()["random_state"] is None:
        own.set_params(random_state=seed)
    return own


def refuse_no_negative(rows: WeakRows, kind: str) -> None:
    """Raise PsephosError if no row is recorded negative, or fewer than two are unlabelled."""
    if not (rows.codes == 0).any():
        raise PsephosError(
            f"no row is recorded negative, and {kind} needs such rows: for positive and unlabelled "
            "rows use PUClassifier."
        )
    if (rows.codes == -1).sum() < 2:
        raise PsephosError(
            f"{kind} needs at least two rows without a label; got one. Label it, or leave it out."
        )
