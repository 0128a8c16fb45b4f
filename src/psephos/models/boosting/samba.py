"""SamBA on the boosting loop: one relevance a sample, weights local (Algorithm 3).

Local weights on the training rows themselves, for SamBA's `update="vote"`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from psephos._errors import PsephosError
from psephos._types import ClassWeightLike, Floats, Indices, NDArray
from psephos.base import Anatomy, Labels
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Choice, Integers, LogUniform, Uniform
from psephos.estimator.input import Context, Table, VoteFit
from psephos.estimator.params import Constraint, Options
from psephos.estimator.signature import KW_ONLY, parameters
from psephos.kernels.prediction.similarity import local_sums, pair_sums
from psephos.models.boosting.common import VOTERS, BoostingSteps, LocalClassifier, fit_boosted
from psephos.models.boosting.loop import Geometry, Round, anchors_of, relevance
from psephos.models.training import Training, distinct_rows
from psephos.vote import Readout, Vote, Voters

_PLAIN = {"distance_scale": None, "column_scale": None}


@parameters
class SamBAClassifier(LocalClassifier):
    """Sample boosting: few stumps, each weighted by how right it was on similar training rows.

    Use it where few columns decide, but which of them to trust depends on the case: a rule weighs
    more near training rows it is right on, and `explain` names the nearest of them.

    With y and h_t(x) in {-1, 1}, over m training rows (Algorithm 3 and equation 1)::

        omega_t[i]  = exp(h_t(x_i) y_i)                  relevance: e if right, 1/e if wrong
        pi_{t+1}(i) = pi_t(i) exp(-omega_t[i] h_t(x_i) y_i) / Z_t
        P(x)        = sum_t h_t(x) sum_i omega_t[i] m / (a^b + d(x_i, x)^b)

    after dividing omega by its sum over i and t. ``decision_function`` is P(x) divided by
    ``mass(x)``, the sum of the weights, so it lies in [-1, 1]; probabilities are (1 + F) / 2. The
    distance d reads only the columns that voters read.

    Parameters
    ----------
    criterion : {'gini', 'error'}
        What the stump minimises: Gini impurity, or weighted error (both sides then answer
        differently). By weighted error more columns of noise are let into the distance.
    update : {'vote', 'sample'}
        How sample weights move. 'sample' is Algorithm 3. 'vote' is the rule of the authors'
        program: pi_2 proportional to exp(-h_1(x_i) y_i), then pi_{t+1} to exp(-2 F_t(x_i) y_i),
        with F_t the normalised kernel vote of all voters so far; its time is quadratic in the rows.
    leave_one_out : bool
        With update='vote', leave a row out of the vote on itself. Its own anchor, at distance 0,
        would else outweigh the others, and stall the search.

    Notes
    -----
    **More than two classes.** y and h_t(x) take SAMME's coding and h_t(x_i) y_i becomes 1 where
    the voter is right and -1/(K-1) where it is wrong; for two classes this is the algorithm
    above. A class's probability is the share of the weight of voters that vote for it.

    **Weights.** A row of weight w is the row given w times: rows that coincide in all columns and
    label are merged, pi_1 is proportional to the weights, a row's relevance counts w times in
    every sum over i, m is the sum of the weights, and the mean distance is over weighted pairs,
    each row's with itself (which is 0) among them.

    **a = 0.** A case at distance 0 from anchors is weighed by those alone (equally); the source
    defines the weight as omega_t[i] where x = x_i. Theorem 1 is about sum_t omega_t[i] h_t(x_i),
    each row by its own identity, which rows that coincide on the columns read but differ in label
    would otherwise break: ``vote_.anchor_scores()`` is that vote. There, for any row, the vote
    has the sign of the label as soon as more than 1 / (1 + e^2) = 11.9 % of the voters are right,
    since omega already knows the label: the theorem says little about new cases.

    **Missing values.** The stump learns a side for them; the distance uses the columns both rows
    have, scaled up to all (a pair with none is at the mean training distance).

    If no voter beats chance, the vote is one constant voter for the heaviest class.

    **Corrections to the source.** Algorithm 1 normalises by sum_i pi(h_t, i)
    without pi_t(i): with it, so that weights sum to 1. Equation (11) of the variant with K anchors
    writes pi_t[k] for omega_t[k]: omega is used, the anchors being drawn at random and the voters
    learned from all rows. Appendix A prints AdaBoost's coefficient with its sign inverted (see
    AdaBoostClassifier). Theorem 4 exchanges the empirical and the true risk, and the voters of
    the compression bounds are not bounded by 1 as the theorem they are taken from needs;
    CompressedSamBAClassifier is the variant for which they hold
    (`psephos.bounds.sample_compression_bound`). LocalBoostingClassifier takes relevance and
    difficulty functions of your own. The authors' program differs from Algorithm 3 in the update
    and in scaling distances: see `update` and `distance_scale`. The supplement does not say which
    columns d reads; the authors' program reads those of the voters, as here.

    References
    ----------
    Bauvin, Capponi, Clerc, Germain, Koco & Corbeil (2023), "Sample Boosting Algorithm (SamBA)",
    UAI, PMLR 216:130-140, and its supplement (Algorithms 1-3, appendices A-E).

    Examples
    --------
    >>> from psephos import SamBAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = SamBAClassifier(n_estimators=3).fit(X, y)
    >>> for sentence in model.describe()[1:]:
    ...     print(sentence)
    Voter 1 (36.1 %): if worst radius <= 16.795 or missing then 1, otherwise 0.
    Voter 2 (35.9 %): if worst concave points < 0.1358 or missing then 1, otherwise 0.
    Voter 3 (28.0 %): if worst texture <= 23.35 then 1, otherwise 0, also if missing.
    >>> print(model.explain(X[:1]))
    row 0: 0 (93.1 %)
      adds to class 1 weight voter because → it says
      -0.4653         46.5 % 1     worst radius = 25.38 > 16.8 → 0
      -0.4653         46.5 % 2     worst concave points = 0.2654 > 0.1358 → 0
      +0.06937        6.9 %  3     worst texture = 17.33 <= 23.35 → 1
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        VOTERS, "local", "normalised", "boosting loop, relevance of each sample"
    )
    contender: ClassVar[Contender] = Contender(
        "samba",
        "boosting",
        {
            "quick": {
                "n_estimators": Integers(20, 80),
                "a": LogUniform(3e-2, 1),
                "b": Uniform(1, 6),
                "criterion": Choice(("error", "gini")),
            },
            "samba": {
                "n_estimators": Integers(1, 70),
                "b": Uniform(0.1, 6),
                "a": LogUniform(1e-10, 1),
            },
        },
        ensemble=True,
        notes=(
            "not Algorithm 3 as published, under any protocol ('samba' too): weights move by the "
            "rule of the authors' program, with each row left out of the vote on itself; distances "
            "are divided by their mean over training pairs, columns by their standard deviation; "
            "voters are Gini stumps unless the criterion is drawn. Published are update='sample', "
            "distance_scale=None, column_scale=None. The floor a is drawn log-uniformly"
        ),
        small={"n_estimators": 4, "random_state": 0},
        variants={
            "samba-published": _PLAIN | {"update": "sample", "criterion": "error"},
            "samba-program": _PLAIN
            | {"distance_scale": "sum", "leave_one_out": False, "criterion": "gini"},
        },
    ).weighted()
    constraints: ClassVar[Mapping[str, Constraint]] = {"update": Options(("sample", "vote"))}

    _: KW_ONLY
    criterion: str = "gini"
    update: str = "vote"
    leave_one_out: bool = True
    n_anchors: int | None = None
    class_weight: ClassWeightLike = None

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        readout = Readout("normalised", "share")
        data = Training(table, labels.target, labels.y, weight)
        steps = partial(self._steps, readout=readout, context=context)
        return fit_boosted(self, data, context, readout, steps, prepare=distinct_rows)

    def _steps(self, data: Training, readout: Readout, context: Context) -> BoostingSteps:
        """Return how sample weights change from round to round, and the vote of the rounds."""
        anchors = anchors_of(len(data.y), self.n_anchors, context)
        geometry = Geometry(data, anchors, self.a, self.b, self.distance_scale, self.column_scale)
        low, high = relevance(data.target.n_classes)
        worst = -1.0 / (data.target.n_classes - 1)

        def by_sample(pi: Floats, rounds: list[Round], _: object) -> Floats:
            return pi * np.where(rounds[-1].right, np.exp(-high), np.exp(-low * worst))

        def by_vote(pi: Floats, rounds: list[Round], voters: Any) -> Floats:
            agreement = np.stack([np.where(r.right, 1.0, worst) for r in rounds], axis=1)  # h_t y
            if len(rounds) == 1:
                return data.weight * np.exp(-agreement[:, 0])
            share = training.shares(rounds, voters(rounds).columns)
            return data.weight * np.exp(-2.0 * (share * agreement).sum(axis=1))

        def make_vote(rounds: list[Round], voters: Voters) -> Vote:
            return Vote(voters, geometry.local(rounds, voters), readout, data.target)

        if self.update == "sample":
            return BoostingSteps(by_sample, make_vote)
        training = TrainingWeights(geometry, bool(self.leave_one_out))
        return BoostingSteps(by_vote, make_vote)


_MAX_PAIRS = 10**9  # pairs of a row and an anchor: some seconds a voter


@dataclass
class TrainingWeights:
    """The local weight of every voter on every training row, kept from round to round.

    It costs O(rows x anchors) a round. Distances are computed anew each time, which is quicker than
    to read them from memory; the sums of earlier voters are kept while no voter reads a new column.
    """

    geometry: Geometry
    leave_one_out: bool  # whether an anchor is left out of the sums of its own row
    columns: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    total: Floats = field(init=False)
    where_right: Floats = field(init=False)

    def __post_init__(self) -> None:
        m, k = len(self.geometry.data.y), len(self.geometry.anchors)
        if m * k > _MAX_PAIRS:
            raise PsephosError(
                f"update='vote' weighs {m} training rows against {k} anchors after each voter, "
                "which takes too long: use update='sample', or keep some anchors only "
                "(n_anchors=2000)."
            )
        self.where_right = np.empty((m, 0))

    def shares(self, rounds: list[Round], columns: Indices) -> Floats:
        """Return each voter's normalised weight on each training row, shape (m, T)."""
        g = self.geometry
        if not np.array_equal(columns, self.columns):
            self.columns, self.where_right = columns, self.where_right[:, :0]
        new = rounds[self.where_right.shape[1] :]
        right = np.stack([r.right[g.anchors] for r in new], axis=1)
        self.total, where_right = self._sums(right)
        self.where_right = np.concatenate([self.where_right, where_right], axis=1)
        low, high = relevance(g.data.target.n_classes)
        weights = low * self.total[:, None] + (high - low) * self.where_right
        mass = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, mass, out=np.full_like(weights, 1 / len(rounds)), where=mass > 0)

    def _sums(self, right: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return `local_sums` (total, where_right) of these voters on the training rows."""
        g = self.geometry
        rows = g.read(self.columns)
        s = g.similarity(self.columns, rows)
        weight = g.data.weight[g.anchors]
        m, k = len(rows), len(g.anchors)
        if k == m and not s.per_query:
            return pair_sums(rows, *s.for_kernels(), weight, right, self.leave_one_out)
        own = np.full(m, -1)
        if self.leave_one_out:
            own[g.anchors] = np.arange(k)
        return local_sums(
            rows, rows[g.anchors], *s.for_kernels(), weight, right, s.per_query, own=own
        )[:2]
