"""What Bayes-optimal, Gibbs, maximum a posteriori and maximum likelihood answers share."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from psephos._errors import PsephosError
from psephos.base import Labels
from psephos.estimator.input import Context, Table
from psephos.estimator.labels import row_word
from psephos.estimator.params import Accepts, Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.committees.naming import ESTIMATORS
from psephos.models.concepts.elimination import eliminated, space_of, started
from psephos.models.concepts.facts import HypothesisFacts, facts_of, facts_of_members
from psephos.models.concepts.fitted_members import posterior_of, prior_of_members, voters_of_fitted
from psephos.models.concepts.posterior import Evidence, noisy, tests_within
from psephos.models.concepts.votes import (
    Limits,
    Weighed,
    concept_votes,
    consistent,
)
from psephos.vote import Constant, Readout, Vote

_Floats = NDArray[np.float64]
_SEED = 99  # task of what a posterior is drawn by


def _is_prior(value: Any) -> bool:
    """Return whether it can be a prior; numbers are checked beside the estimators."""
    return value in ("uniform", "short") if isinstance(value, str) else np.ndim(value) == 1


@parameters
class PosteriorVotes:
    """The posterior of a classifier over hypotheses: conjunctions, or fitted estimators.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The hypotheses: fitted classifiers by name, of psephos or scikit-learn, all on the columns
        of X. They are not fitted again: `fit` asks them about its rows, which should be others than
        they were fitted on. Put each in ``sklearn.frozen.FrozenEstimator`` where the model is
        cloned (cross-validation). None: all conjunctions of one constraint a column (see
        `VersionSpaceClassifier`).
    prior : {'uniform', 'short'} or array of shape (n_estimators,)
        P(h). uniform: all alike. short, of conjunctions: each column is tested with the chance 1/2,
        by any of its constraints alike; the empty hypothesis counts as one that tests all. Numbers,
        of estimators: their sum need not be 1.
    noise : float
        The chance that a label is wrong. 0: only hypotheses that agree with all rows are left.
    likelihood : {'answer', 'probability'}
        Whether estimators say a class, or probabilities q: P(y | h, x) is then ``(1 - noise) q_y +
        noise (1 - q_y) / (K - 1)``.
    n_bins : int
        Bins of a column of numbers; see `VersionSpaceClassifier`.
    max_hypotheses : int
        The most conjunctions that are listed as voters. Where there are more and labels are noisy,
        only hypotheses of at most `n_tests_` tests are listed, the greatest number that keeps the
        list within this. Without noise those that agree with all rows are listed,
        or counted as one voter, or `n_samples` of them drawn if they cannot be counted.
    n_samples : int
        Hypotheses drawn; a share among them has a standard error of at most
        ``0.5 / sqrt(n_samples)``.
    categorical_features : 'from_dtype', list, mask or None
        Columns whose values are categories; there are none with `estimators`.
    random_state : int, RandomState or None
        Seeds the draws.

    Attributes
    ----------
    hypotheses_ : HypothesisFacts
        The prior of the voters over all hypotheses there were: what `psephos.bounds` need.
    n_tests_ : int
        The most tests a hypothesis may have: the number of columns, unless there would be too many
        (of estimators 0).
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "estimators": ESTIMATORS,
        "prior": Accepts(_is_prior, "'uniform', 'short', or one number for each estimator"),
        "noise": Interval(0, 0.5, open_high=True),
        "likelihood": Options(("answer", "probability")),
        "n_bins": Interval(2, 100, whole=True),
        "max_hypotheses": Interval(0, whole=True),
        "n_samples": Interval(1, whole=True),
    }

    estimators: Any = None
    _: KW_ONLY
    prior: Any = "uniform"
    noise: float = 0.1
    likelihood: str = "answer"
    n_bins: int = 4
    max_hypotheses: int = 10_000
    n_samples: int = 1000
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    posterior_: tuple[_Floats, ...] = fitted()
    hypotheses_: HypothesisFacts = fitted()
    n_tests_: int = fitted()

    def _posterior(
        self, table: Table, labels: Labels, weight: _Floats, *, prior: Any
    ) -> tuple[Any, _Floats, _Floats, NDArray[np.intp]]:
        """Return (voters, posterior, prior of all, those kept) of the fitted estimators."""
        if table.n_codes:
            names = table.schema.words().columns
            raise PsephosError(
                f"column {names[min(table.n_codes)]!r} holds categories, which fitted estimators "
                "would read as numbers: make 0/1 columns of them first (OneHotEncoder)."
            )
        members = [(name, one) for name, one in self.estimators if not isinstance(one, str)]
        X, target = table.dense(), labels.target
        says = "answer" if self.likelihood == "answer" else "probability"
        voters = voters_of_fitted(members, X.shape[1], target, says)
        before = prior_of_members(prior, members)
        chance = posterior_of(voters, X, labels.y, weight, target, prior=before, noise=self.noise)
        kept = np.flatnonzero(chance > 0)
        return voters.take(kept), chance[kept], before, kept

    def _concepts(
        self, table: Table, labels: Labels, weight: _Floats, context: Context, *,
        prior: Any, drawing: bool,
    ) -> list[Weighed]:  # fmt: skip
        """Return the posterior of the conjunctions of each concept."""
        if not isinstance(prior, str):
            raise PsephosError(
                "prior is a row of numbers, one for each estimator, and there are no estimators: "
                "conjunctions have prior='uniform' or 'short'."
            )
        space, k = space_of(table, self.n_bins), labels.target.n_classes
        limits = Limits(self.max_hypotheses, self.n_samples)
        if self.noise == 0:
            memory = eliminated(started(space, k), table, labels, context, 1)
            if len(memory.left_out):
                row = row_word(int(memory.left_out[0]))
                raise PsephosError(
                    f"no conjunction agrees with {row} and the rows before,"
                    " so that none has a posterior: set noise above 0."
                )
            return [
                consistent(space, concept, prior, limits, context.generator(c), listing=drawing)
                for c, concept in enumerate(memory.concepts)
            ]
        code = space.encode(table.dense())
        classes = [1] if k == 2 else range(k)
        gains = [np.where(labels.y == c, weight, -weight) for c in classes]
        return [
            noisy(space, Evidence(code, gain, self.noise), prior, self.max_hypotheses)
            for gain in gains
        ]

    def _vote(
        self, table: Table, labels: Labels, weight: _Floats, context: Context, *,
        prior: Any, score: str, n_draws: int | None = None,
    ) -> tuple[Vote, dict[str, Any]]:  # fmt: skip
        """Return the vote by the posterior, of all hypotheses or of some drawn from it."""
        seed = context.integer(_SEED)
        drawing = score == "drawn" or n_draws is not None
        if self.estimators is None:
            parts = self._concepts(table, labels, weight, context, prior=prior, drawing=drawing)
            if n_draws is not None:
                parts = [
                    part._replace(hypotheses=part.hypotheses.take(kept), weight=share)
                    for c, part in enumerate(parts)
                    for kept, share in [_drawn(part.weight, n_draws, context.generator(_SEED, c))]
                    if part.hypotheses is not None
                ]
            if score == "loudest":  # the others are not asked, and read nothing
                parts = [_most_probable(part) for part in parts]
            vote = concept_votes(parts, labels.target, score, seed)
            space = space_of(table, self.n_bins)
            tests = tests_within(space, self.max_hypotheses) if self.noise else space.n_columns
            facts = facts_of(
                parts, space, prior, tests, loudest=score == "loudest", n_draws=n_draws
            )
            posterior = tuple(part.weight for part in parts)
            return vote, {"posterior_": posterior, "hypotheses_": facts, "n_tests_": tests}
        voters, chance, before, of = self._posterior(table, labels, weight, prior=prior)
        if n_draws is not None:
            kept, chance = _drawn(chance, n_draws, context.generator(_SEED, 0))
            voters, of = voters.take(kept), of[kept]
        if score == "loudest":
            first = np.array([chance.argmax()])
            voters, chance, of = voters.take(first), chance[first], of[first]
        readout = Readout(score, "share", seed=seed if score == "drawn" else 0)
        alpha = Constant(voters.n_features, chance)
        facts = facts_of_members(before, of, chance, loudest=score == "loudest", n_draws=n_draws)
        return Vote(voters, alpha, readout, labels.target), {
            "posterior_": (chance,), "hypotheses_": facts, "n_tests_": 0,
        }  # fmt: skip

    def reads_categories(self) -> bool:
        """Return whether columns may hold categories."""
        return self.estimators is None


def _most_probable(part: Weighed) -> Weighed:
    """Return the most probable hypothesis, with its posterior; where they are counted, S.

    S is as probable as any: all that agree with every row are, under a uniform prior.
    """
    if part.hypotheses is not None:  # they are in order
        first = np.zeros(1, dtype=np.intp)
        return part._replace(hypotheses=part.hypotheses.take(first), weight=part.weight[:1])
    problem: Any = part.problem
    if problem.prior != "uniform":
        raise PsephosError(
            "there are more consistent hypotheses than max_hypotheses, and under prior='short' the "
            "most probable is found by listing them: raise max_hypotheses, or take 'uniform'."
        )
    return Weighed(part.space, problem.specific, np.ones(1))


def _drawn(
    weight: _Floats, number: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], _Floats]:
    """Return which hypotheses were drawn from a posterior, and the share of the draws of each."""
    at = rng.choice(len(weight), number, p=weight)
    kept, times = np.unique(at, return_counts=True)
    order = np.argsort(-times, kind="stable")
    return kept[order].astype(np.intp), times[order] / number
