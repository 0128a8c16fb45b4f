"""SamBA whose voters are functions of three rows: its sample-compression bound holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import Array, Floats, Indices, SeedLike, sparse
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Integers, LogUniform, Uniform
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Anything, Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.kernels.numerics.criteria import opposite_labels
from psephos.models.boosting.common import BoostingSteps, fit_boosted, stump_voters
from psephos.models.boosting.loop import Geometry, Round, Skeleton, anchors_of
from psephos.models.ensemble import Ensemble
from psephos.models.training import Training, distinct_rows
from psephos.trees.stump import Stump, StumpSearch
from psephos.vote import Readout, StumpVoters, Vote, Voters, register_part
from psephos.vote.part import check


@register_part
@dataclass(frozen=True)
class SampleCompression:
    """Which training rows a vote is made of, and from how many voters they were chosen.

    The facts that Theorems 2 to 4 of the SamBA paper need. An sc-voter is h_t(x) a^b / (a^b +
    d(x_i, x)^b), in [-1, 1]: a stump of two rows, a similarity to a third, and a message, which is
    what the stump says on either side. Before the data are seen, all `n_voters` are equally likely.

    Parameters
    ----------
    n_rows : int
        m: the rows of positive weight given to `fit`.
    n_candidates : int
        Stumps there were to choose from, times messages.
    n_anchors : int
        Anchors there were to choose from: all rows, or those drawn.
    candidate : ndarray of shape (T,)
        The number of each voter among them; a voter may come more than once.
    voter_rows : ndarray of shape (T, 2)
        Positions in the table of `fit` of the two rows each stump is made of.
    anchor_rows : ndarray of shape (K,)
        Those of the anchors, in their order; of rows that coincide the first.

    References
    ----------
    Germain, Lacasse, Laviolette, Marchand & Roy (2015), "Risk bounds for the majority vote", JMLR
    16, section 6. Supplement of the SamBA paper, appendix D.2.
    """

    tag: ClassVar[str] = "sample compression"
    n_rows: int
    n_candidates: int
    n_anchors: int
    candidate: Indices
    voter_rows: Indices
    anchor_rows: Indices

    def __post_init__(self) -> None:
        check(self.candidate.ndim == 1 == self.anchor_rows.ndim, "rows of voters are not a row")
        check(self.voter_rows.shape == (len(self.candidate), 2), "voters are not of two rows")
        kinds = {a.dtype for a in (self.candidate, self.voter_rows, self.anchor_rows)}
        check(kinds == {np.dtype(np.intp)}, "positions are not integers")
        low = min(a.min(initial=0) for a in (self.candidate, self.voter_rows, self.anchor_rows))
        check(low >= 0 and self.candidate.max(initial=-1) < self.n_candidates, "no such voter")
        check(0 < len(self.anchor_rows) <= self.n_anchors <= self.n_rows, "more anchors than rows")

    @property
    def size(self) -> int:
        """Return lambda, the most rows an sc-voter is made of."""
        return 3

    @property
    def n_voters(self) -> int:
        """Return the number of sc-voters, over which the prior is uniform."""
        return self.n_candidates * self.n_anchors

    def posterior(self, vote: Vote) -> Floats:
        """Return Q, of each different stump (in the order of `candidate`) and anchor.

        Sums to 1; the sign of the vote is that of its mean of sc-voters.
        """
        local: Any = vote.weighting
        each = (local.anchor_weight[:, None] * local.expertise).T
        different, place = np.unique(self.candidate, return_inverse=True)
        q = np.zeros((len(different), each.shape[1]))
        np.add.at(q, place, each)
        return q / q.sum()

    def check_vote(self, vote: Vote) -> None:
        """Raise PsephosError unless these are the facts of such a vote."""
        local: Any = vote.weighting
        if local.tag == "constant":  # no stump was better than chance
            check(len(self.candidate) == 0, "a constant vote is made of rows")
            return
        check(local.tag == "local", "its weights have no anchors")
        check(len(self.candidate) == vote.n_voters, "rows of other voters")
        check(len(self.anchor_rows) == len(local.anchors), "rows of other anchors")


def columns_of_distance(given: Any, table: Table) -> Indices:
    """Return the sorted columns that `distance_columns` names."""
    schema = table.schema
    found = set(table.found)
    if given is None:
        return np.array([j for j in range(schema.n_features) if j not in found], dtype=np.intp)
    if not isinstance(given, list | tuple | np.ndarray):
        raise PsephosError(
            f"distance_columns must be None or a list of names or positions; got {given!r}."
        )
    columns = schema.columns_of(given, "distance_columns")
    for j in columns:
        if j in found:
            raise PsephosError(
                f"distance_columns names {schema.words().columns[j]!r}, whose categories are only "
                "those of these rows: give the column a type that declares them (pandas "
                "Categorical), or leave it out."
            )
    return np.array(columns, dtype=np.intp)


@parameters
class CompressedSamBAClassifier(Ensemble, VoteClassifier):
    """SamBA for which the sample-compression bound holds: each voter a function of three rows.

    Use it where a guarantee is needed from the training rows alone. The cost: where rows can be
    held out, a bound on those is tighter, and SamBAClassifier is more accurate.

    Algorithm 3 of the SamBA paper, in which nothing but choices among voters that could be named
    beforehand depends on all rows: a stump is made of one column and two training rows, the
    distance reads columns named by the user, in a unit named by the user::

        h_t          = the stump of least weighted error under pi_t; it lies half-way between the
                       values of two rows
        omega_t[i]   = exp(h_t(x_i) y_i)
        pi_{t+1}(i)  = pi_t(i) exp(-omega_t[i] h_t(x_i) y_i) / Z_t
        F(x)         = sum_t w_t(x) h_t(x) / sum_t w_t(x)
        w_t(x)       = sum over anchors of omega_t[i] / (a^b + (d(x_i, x) / distance_scale)^b)

    Parameters
    ----------
    n_estimators : int
        Most voters, T.
    a : float
        Distance floor, above 0. A small one makes sc-voters small almost everywhere, so that the
        bound says nothing.
    b : float
        Locality.
    distance_columns : list of str or int
        Columns the distance reads, named before the data are seen. None are all, without
        categorical columns whose type does not declare their categories.
    distance_scale : float
        The distance that counts as 1, known before the data are seen: from other rows, or from
        what is known of the measurements. The distance is Euclidean in the columns' own units.
    n_anchors : int
        K training rows, drawn at random, as anchors; None keeps all.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; a stump asks for one of them.
    random_state : int, RandomState or None
        Seeds the draw of anchors. To try seeds and keep the best is a choice after the data: the
        bound then does not hold.

    Attributes
    ----------
    sample_compression_ : SampleCompression
        The rows each voter is made of and the number of candidates: what a bound needs.
    n_features_used_ : int
        Columns the vote reads, those of the distance among them.
    estimator_errors_ : ndarray of shape (T,)
        Weighted training errors eps_t.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    **Why SamBAClassifier has no such bound.** Its distance is on the columns of all its voters,
    divided by a mean over all rows and in standard deviations of all rows, so that its voters
    are functions of all rows, not of three (the source sets the compression size to 3). That the
    search for a stump looks at all weighted rows does no harm, if the prior is over all that it
    could have found: columns times pairs of rows times messages, not over those it found.

    **What the theorem needs** is in `sample_compression_`: of which rows each voter is made, and
    from how many stumps and anchors they were chosen. It is of two classes; more are answered,
    without a bound. Sample weights count in the search and in omega, as a posterior may depend on
    the rows in any way; the bound is on the error of unweighted rows. Rows that coincide are one
    anchor of added weight, but for drawn anchors.

    **Missing values.** A stump learns a side for them. The distance uses the columns both rows
    have, scaled up to all; a pair with none is at `distance_scale`. A stump on categories asks for
    one of them.

    References
    ----------
    Bauvin, Capponi, Clerc, Germain, Koco & Corbeil (2023), "Sample Boosting Algorithm (SamBA)",
    UAI, PMLR 216:130-140, supplement, appendix D. Laviolette & Marchand (2007), "PAC-Bayes risk
    bounds for stochastic averages and majority votes of sample-compressed classifiers", JMLR 8.

    Examples
    --------
    >>> from psephos import CompressedSamBAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CompressedSamBAClassifier(
    ...     n_estimators=5, distance_columns=["worst radius"], distance_scale=5.0, random_state=0
    ... ).fit(X, y)
    >>> facts = model.sample_compression_
    >>> facts.n_rows, facts.size, facts.n_candidates, facts.voter_rows[0].tolist()
    (569, 3, 38783040, [225, 31])
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        ("stump voters", "constant voters"),
        "local or constant",
        "normalised",
        "boosting loop, stumps of two rows, relevance of each sample",
    )
    contender: ClassVar[Contender] = Contender(
        "compressed-samba",
        "boosting",
        {"quick": {"n_estimators": Integers(5, 80), "a": LogUniform(3e-2, 10), "b": Uniform(1, 6)}},
        ensemble=True,
        notes="distances are on all columns, in their units",
        small={"n_estimators": 4, "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "a": Interval(0, open_low=True),
        "b": Interval(0, open_low=True),
        "distance_columns": Anything(),
        "distance_scale": Interval(0, open_low=True),
        "n_anchors": OneOf((Interval(1, whole=True),), none=True),
    }
    _: KW_ONLY
    n_estimators: int = 20
    a: float = 1.0
    b: float = 2.0
    distance_columns: Any = None
    distance_scale: float = 1.0
    n_anchors: int | None = None
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    estimator_errors_: Floats = fitted()
    stopped_: str = fitted()
    sample_compression_: SampleCompression = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        data = Training(table, labels.target, labels.y, weight)
        m = len(data.y)
        position, anchors = np.arange(m), anchors_of(m, self.n_anchors, context)
        if self.n_anchors is None:
            data, position = _joined(data)
            anchors = np.arange(len(position))
        pool = SearchedStumps(data, position, m)
        kept: list[Any] = []
        readout = Readout("normalised", "share")
        columns = columns_of_distance(self.distance_columns, table)
        geometry = Geometry(
            data, anchors, self.a, self.b, None, None, columns, float(self.distance_scale)
        )
        skeleton = Skeleton(data, "exp", "exp")

        def reweight(pi: Floats, rounds: list[Round], _: object) -> Floats:
            return skeleton.reweight(pi, rounds)

        def make_vote(rounds: list[Round], voters: Voters) -> Vote:
            kept[:] = [r.voter for r in rounds]
            return Vote(voters, geometry.local(rounds, voters), readout, data.target)

        steps = BoostingSteps(reweight, make_vote, skeleton.relate)
        vote, extras = fit_boosted(
            self, data, context, readout, lambda _: steps, make_learner=lambda *_: pool
        )
        numbers, rows = pool.made_of(kept)
        given = np.arange(m) if context.kept is None else context.kept
        extras["sample_compression_"] = SampleCompression(
            n_rows=m,
            n_candidates=pool.n_candidates,
            n_anchors=m if self.n_anchors is None else self.n_anchors,
            candidate=numbers,
            voter_rows=given[rows].astype(np.intp),
            anchor_rows=given[position[anchors]].astype(np.intp),
        )
        return vote, extras

    def _params_on(self, columns: Array) -> dict[str, Any]:
        if self.distance_columns is None or self.vote_.weighting.kept_cases() is None:
            return {}
        read: list[int] = self.vote_.weighting.columns.tolist()
        names, where = self.schema_.names, columns.tolist()
        return {"distance_columns": [names[j] if names else where.index(j) for j in read]}


def _joined(data: Training) -> tuple[Training, Indices]:
    """Return distinct rows, with the weight of their copies, and the position of each."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    distinct = distinct_rows(data._replace(table=numbered))
    position = distinct.table.rows.astype(np.intp)
    return distinct._replace(table=data.table.take(position)), position


class SearchedStumps:
    """All stumps of a column and two rows: the best is searched as SamBA's are.

    A threshold half-way between two neighbouring values is a function of two rows, whichever two
    the weights choose; the side of missing values is a part of the message. Of categories a stump
    asks for one, that of its first row; a missing value is not that one.

    `position` (len(data.y),): of the rows among the m given.
    """

    def __init__(self, data: Training, position: Indices, m: int) -> None:
        self.data, self.position, self.m = data, position, m
        codes, p = data.table.n_codes, data.table.values.shape[1]
        numbers = np.array([j for j in range(p) if j not in codes], dtype=np.intp)
        levels = [(j, c) for j in sorted(codes) for c in range(codes[j])]
        self.source = [(int(j), -1) for j in numbers] + levels
        table = data.table.values
        if levels:
            ones = np.column_stack([data.table.dense([j])[:, 0] == c for j, c in levels])
            stack: Any = sparse.hstack if sparse.issparse(table) else np.hstack
            own = {"format": "csc"} if sparse.issparse(table) else {}
            table = stack([table[:, numbers], ones.astype(np.float64)], **own)
        self.search = StumpSearch(table, data.y, data.target.n_classes)

    @property
    def n_candidates(self) -> int:
        """Return columns times ordered pairs of rows times messages."""
        k: int = self.data.target.n_classes
        return self.data.table.values.shape[1] * self.m * (self.m - 1) * 2 * k * (k - 1)

    def learn(self, pi: Floats, task: int) -> tuple[Any, Array] | None:
        """Return the stump of least weighted error, and its predictions."""
        stump = self.search.best(pi, "error")
        if stump is None:
            return None
        left, right = opposite_labels(stump.left_totals, stump.right_totals)
        answers = np.where(self.search.left(stump), left, right)
        return (stump, left, right), answers.astype(np.intp)

    def voters(self, found: Sequence[Any]) -> StumpVoters:
        """Return the stumps as voters."""
        source = [self.source[stump.column] for stump, _, _ in found]
        codes = self.data.table.n_codes
        rules: list[Any] = []
        missing: list[bool] = []
        sides: list[Any] = []
        for (stump, left, right), (j, c) in zip(found, source, strict=True):
            is_code = c >= 0  # on the left are the rows that are not of this category
            members = np.arange(codes[j]) == c if is_code else np.empty(0, dtype=bool)
            rules.append((np.nan if is_code else stump.threshold, members))
            missing.append(not is_code and stump.missing_left)
            sides.append((right, left) if is_code else (left, right))
        code, p = self.data.target.code, self.data.table.values.shape[1]
        left, right = (code[list(side)] for side in zip(*sides, strict=True))
        return stump_voters(p, [j for j, _ in source], rules, missing, left, right)

    def made_of(self, found: Sequence[Any]) -> tuple[Indices, Indices]:
        """Return (numbers, positions of the two rows) of the stumps, shapes (T,) and (T, 2)."""
        k: int = self.data.target.n_classes
        numbers: list[int] = []
        rows: list[Indices] = []
        for stump, left, right in found:
            j, c = self.source[stump.column]
            first, second = self.position[list(self._pair(stump, j, c))].tolist()
            answers = left * (k - 1) + right - (right > left)  # from 0 to K (K - 1) - 1
            message = 2 * answers + bool(stump.missing_left)
            pair = first * (self.m - 1) + second - (second > first)
            numbers.append((j * self.m * (self.m - 1) + pair) * 2 * k * (k - 1) + message)
            rows.append(np.array([first, second]))
        return np.array(numbers, dtype=np.intp), np.array(rows, dtype=np.intp).reshape(-1, 2)

    def _pair(self, stump: Stump, j: int, c: int) -> tuple[int, int]:
        """Return the first rows with the values that a stump lies between."""
        values = self.data.table.dense([j])[:, 0]
        if c >= 0:
            return int((values == c).argmax()), int((values != c).argmax())
        if np.isposinf(stump.threshold):
            return int(np.isnan(values).argmax()), int((~np.isnan(values)).argmax())
        low = np.where(values <= stump.threshold, values, -np.inf)
        high = np.where(values > stump.threshold, values, np.inf)
        return int(low.argmax()), int(high.argmin())
