"""SamBA whose voters are functions of three rows: its sample-compression bound holds."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Integers, LogUniform, Uniform
from psephos.estimator.input import Context, Table
from psephos.estimator.params import Anything, Constraint, Interval, OneOf
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.boosting.common import Steps, fit_boosted
from psephos.models.boosting.compression import SampleCompression, columns_of_distance
from psephos.models.boosting.expertise import Geometry, anchors_of
from psephos.models.boosting.loop import Round
from psephos.models.boosting.skeleton import Skeleton
from psephos.models.boosting.stump_pools import DrawnStumps, SearchedStumps
from psephos.models.ensemble import Ensemble
from psephos.models.training import Training, distinct_rows
from psephos.vote import Readout, Vote, Voters
from psephos.vote.part import field_of

_Floats = NDArray[np.float64]


@parameters
class CompressedSamBAClassifier(Ensemble, VoteClassifier):
    """SamBA for which the sample-compression bound holds: each voter a function of three rows.

    Use it where a guarantee from the training rows alone is asked for, and pay for it: where rows
    can be held out, a bound on those is tighter, and SamBAClassifier is more accurate.

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
    n_candidates : int
        None: the stump is chosen among those of every column and two rows, as SamBA's is. Else
        among as many stumps, each of a column and two rows drawn before the data are seen. Fewer
        may miss the best one, and tighten the bound by the logarithm of their number.
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
        Seeds what is drawn: stumps and anchors. To try seeds and keep the best is a choice after
        the data: the bound then does not hold.

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
    anchor of added weight, but for drawn stumps or anchors.

    **Missing values.** A searched stump learns a side for them; a missing value meets no drawn
    rule, and a drawn stump of which a row lacks the value asks whether the value is present (of a
    category: is missing). The distance uses the columns both rows have, scaled up to all; a pair
    with none is at `distance_scale`. A stump on categories asks for one of them.

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
        {
            "quick": {
                "n_estimators": Integers(5, 80),
                "a": LogUniform(3e-2, 10),
                "b": Uniform(1, 6),
            },
        },
        ensemble=True,
        notes="distances are on all columns, in their units",
        small={"n_estimators": 4, "random_state": 0},
    )
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_estimators": Interval(1, whole=True),
        "n_candidates": OneOf((Interval(1, whole=True),), none=True),
        "a": Interval(0, open_low=True),
        "b": Interval(0, open_low=True),
        "distance_columns": Anything(),
        "distance_scale": Interval(0, open_low=True),
        "n_anchors": OneOf((Interval(1, whole=True),), none=True),
    }
    _: KW_ONLY
    n_estimators: int = 20
    n_candidates: int | None = None
    a: float = 1.0
    b: float = 2.0
    distance_columns: Any = None
    distance_scale: float = 1.0
    n_anchors: int | None = None
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    estimator_errors_: NDArray[np.float64] = fitted()
    stopped_: str = fitted()
    sample_compression_: SampleCompression = fitted()

    def _fit_vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context
    ) -> tuple[Vote, dict[str, Any]]:
        data = Training(table, labels.target, labels.y, weight)
        m = len(data.y)
        position, anchors = np.arange(m), anchors_of(m, self.n_anchors, context)
        if self.n_candidates is not None:
            pool: Any = DrawnStumps(data, self.n_candidates, context)
        else:
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

        def reweight(pi: _Floats, rounds: list[Round], _: object) -> _Floats:
            return skeleton.reweight(pi, rounds)

        def make_vote(rounds: list[Round], voters: Voters) -> Vote:
            kept[:] = [r.voter for r in rounds]
            return Vote(voters, geometry.local(rounds, voters), readout, data.target)

        steps = Steps(reweight, make_vote, skeleton.relate)
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

    def _params_on(self, columns: NDArray[Any]) -> dict[str, Any]:
        if self.distance_columns is None or field_of(self.vote_.weighting, "anchors") is None:
            return {}
        read: list[int] = self.vote_.weighting.columns.tolist()
        names, where = self.schema_.names, columns.tolist()
        return {"distance_columns": [names[j] if names else where.index(j) for j in read]}


def _joined(data: Training) -> tuple[Training, NDArray[np.intp]]:
    """Return distinct rows, with the weight of their copies, and the position of each."""
    numbered = replace(data.table, rows=np.arange(len(data.y)))
    distinct = distinct_rows(data._replace(table=numbered))
    position = distinct.table.rows.astype(np.intp)
    return distinct._replace(table=data.table.take(position)), position
