"""Candidate elimination: all conjunctions that agree with the rows, and their vote."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from psephos._errors import CollapseWarning, PsephosError
from psephos._types import Floats, LabelsLike, PerRow, SeedLike, TableLike
from psephos.base import Anatomy, Labels, VoteClassifier
from psephos.estimator.contender import Contender
from psephos.estimator.distributions import Integers
from psephos.estimator.input import CategoricalFeatures, Context, Table, VoteFit
from psephos.estimator.params import Constraint, Interval, Options
from psephos.estimator.signature import KW_ONLY, fitted, parameters
from psephos.models.concepts import version_spaces, votes
from psephos.vote.voters.conjunctive_space import Hypotheses

VOTERS = ("hypotheses", "counted hypotheses", "joined voters")


@parameters
class VersionSpaceClassifier(VoteClassifier):
    """All conjunctions that agree with every row (candidate elimination), and their vote.

    Use it to see what noise-free rows imply: which conditions are certain (S), which are possible
    (G), and how many hypotheses are left.

    A hypothesis is a conjunction of one constraint per column: not tested (``?``), one category, or
    an interval of the bins of a number. With VS the hypotheses that are right on all rows::

        P(yes | x) = |{h in VS: h(x) = 1}| / |VS|

    and yes is predicted above 1/2. The version space lies between S, its single most specific
    member (the result of Find-S), and G, its most general members.

    Parameters
    ----------
    n_bins : int
        Bins of a numeric column: cut half-way between its distinct values, with nearly equal
        numbers of distinct values.
    on_collapse : {'warn', 'raise', 'skip'}
        Treatment of a row with which no remaining hypothesis agrees: 'warn' leaves it out with a
        warning, 'skip' leaves it out (`collapses_` lists it in both cases), 'raise' is an error.
        Which row is left out depends on the order of rows.
    max_boundary : int
        Maximum number of hypotheses of G, which can grow exponentially with rows. Above it G is not
        kept and `general_` is None; predictions do not need it.
    max_hypotheses : int
        Maximum number of hypotheses that are listed as voters. If there are more, they are counted,
        as one voter; if there are too many combinations to count, `n_samples` are drawn.
    n_samples : int
        Number of hypotheses drawn; a share among them has a standard error of at most ``0.5 /
        sqrt(n_samples)``.
    random_state : int, RandomState or None
        Seed of the draws.

    Attributes
    ----------
    memory_ : VersionSpaces
        The space, S, G, and the rows that were left out.
    hypotheses_ : HypothesisFacts
        The prior of the voters over all hypotheses, for `psephos.bounds`.
    specific_, general_, n_hypotheses_, evidence_, collapses_
        See their documentation.

    Raises
    ------
    PsephosError
        In fit: with ``on_collapse='raise'``, naming the row; if a space can be neither counted nor
        sampled.

    Notes
    -----
    With two classes the concept is the second of `classes_`. With more, each class is a concept
    with all other rows as negatives; the class with the greatest share is predicted. Ties go to
    the first class.

    A missing value, or an unknown category, passes only ``?``. Weights have no effect, except that
    rows of weight 0 are left out. Intervals of all bins are ``?``. Hypotheses with different
    constraints are counted as different.

    References
    ----------
    Mitchell (1982), "Generalization as search", Artificial Intelligence 18. Mitchell (1997),
    "Machine Learning", chapter 2. Hirsh (1992), "Polynomial-time learning with version spaces",
    AAAI (S and the negatives in place of G).

    Examples
    --------
    >>> import pandas as pd
    >>> from psephos import VersionSpaceClassifier
    >>> X = pd.DataFrame({"sky": ["sunny", "sunny", "rainy", "sunny"],
    ...                   "wind": ["strong", "weak", "strong", "strong"]}, dtype="category")
    >>> model = VersionSpaceClassifier().fit(X, ["yes", "yes", "no", "yes"])
    >>> model.specific_, model.general_, model.n_hypotheses_
    ([('sunny', '?')], [[('sunny', '?')]], [1])
    """

    anatomy: ClassVar[Anatomy] = Anatomy(
        VOTERS, "constant", "normalised", "candidate elimination, row by row"
    )
    contender: ClassVar[Contender] = Contender(
        "version-space", "concepts", {"quick": {"n_bins": Integers(2, 5)}},
        notes="conjunctions that agree with every row; rows that none agrees with are left out",
        small={"on_collapse": "skip", "max_hypotheses": 50, "random_state": 0},
    )  # fmt: skip
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_bins": Interval(2, 100, whole=True),
        "on_collapse": Options(("warn", "raise", "skip")),
        "max_boundary": Interval(1, whole=True),
        "max_hypotheses": Interval(0, whole=True),
    }

    n_bins: int = 4
    _: KW_ONLY
    on_collapse: str = "warn"
    max_boundary: int = 1000
    max_hypotheses: int = 1000
    n_samples: int = 1000
    categorical_features: CategoricalFeatures = "from_dtype"
    random_state: SeedLike = None
    memory_: version_spaces.VersionSpaces = fitted()
    hypotheses_: votes.HypothesisFacts = fitted()

    def _fit_vote(self, table: Table, labels: Labels, weight: Floats, context: Context) -> VoteFit:
        target: Any = labels.target
        if context.previous is None:
            before = version_spaces.started(
                version_spaces.space_of(table, self.n_bins), target.n_classes
            )
        else:
            before = self.memory_
            if not before.whole:
                raise PsephosError(
                    "the model was reduced, and no longer has all columns that its most specific "
                    "hypothesis tests: call partial_fit of the model before the reduction."
                )
        memory = version_spaces.eliminated(before, table, labels, context, self.max_boundary)
        self._report(memory, labels, len(before.left_out))
        limits = votes.Limits(self.max_hypotheses, self.n_samples)
        parts = [
            votes.consistent(memory.space, concept, "uniform", limits, context.generator(k))
            for k, concept in enumerate(memory.concepts)
        ]
        facts = votes.facts_of(parts, memory.space, "uniform", memory.space.n_columns)
        if context.previous is not None:
            facts = facts.within(self.hypotheses_)  # a reduced model has lost columns
        found = {"memory_": memory, "hypotheses_": facts}
        return votes.concept_votes(parts, target, "normalised", 0), found

    def _report(self, memory: version_spaces.VersionSpaces, labels: Labels, known: int) -> None:
        """Warn of rows with which no hypothesis agrees, or raise, by `on_collapse`."""
        new = version_spaces.collapsed(memory, labels.target.classes, known)
        if not new or self.on_collapse == "skip":
            return
        if self.on_collapse == "raise":
            raise PsephosError(
                f"{new}: correct such a row, leave it out with on_collapse='skip', or use "
                "BayesOptimalClassifier with noise above 0."
            )
        warnings.warn(f"{new}; left out.", CollapseWarning, stacklevel=5)

    def partial_fit(
        self,
        X: TableLike,
        y: LabelsLike,
        classes: LabelsLike | None = None,
        sample_weight: PerRow = None,
    ) -> Self:
        """Eliminate by further rows.

        Columns, categories, bins and classes are those of the first call, or of `fit`.

        Parameters
        ----------
        X : array, data frame or sparse table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : array of shape (n_classes,), default=None
            All labels of this and later calls. None: those of the first call.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self : VersionSpaceClassifier

        Raises
        ------
        PsephosError
            As `fit`, and if the model was reduced to fewer columns than S tests.
        """
        return self._partial_fit(X, y, sample_weight, classes)

    @property
    def specific_(self) -> list[tuple[str, ...] | None]:
        """S of each concept: a word per column (``?``: not tested); None: the empty hypothesis."""
        self._fitted()
        concepts = self.memory_.concepts
        return [None if c.empty else self._words(c.specific)[0] for c in concepts]

    @property
    def general_(self) -> list[list[tuple[str, ...]] | None]:
        """G of each concept, as `specific_`; None if it has more than `max_boundary` members."""
        self._fitted()
        concepts = self.memory_.concepts
        return [self._words(c.general) if c.general_kept else None for c in concepts]

    @property
    def n_hypotheses_(self) -> list[int]:
        """Number of consistent hypotheses of each concept; see `n_hypotheses_error_`."""
        return [number for number, _ in self._numbers()]

    @property
    def evidence_(self) -> list[float]:
        """``P(D) = |VS| / |H|`` of each concept: the share of hypotheses that agree with the rows.

        Source: Mitchell (1997), "Machine Learning", section 6.3.
        """
        return [number / self.memory_.space.n_hypotheses for number in self.n_hypotheses_]

    @property
    def n_hypotheses_error_(self) -> list[float]:
        """Relative standard error of each number: 0.0 if it was counted, above 0 if estimated."""
        return [error for _, error in self._numbers()]

    def _numbers(self) -> list[tuple[int, float]]:
        self._fitted()
        return [
            version_spaces.number_of(self.memory_.space, c, self.n_samples)
            for c in self.memory_.concepts
        ]

    @property
    def collapses_(self) -> list[str]:
        """The rows that were left out because no remaining hypothesis agreed, in words."""
        self._fitted()
        return version_spaces.collapses(self.memory_, self.classes_)

    def _words(self, found: Hypotheses) -> list[tuple[str, ...]]:
        space, names = self.memory_.space, self.schema_.words()
        return [
            tuple(
                version_spaces.constraint(space, i, a, b, names.levels)
                for i, (a, b) in enumerate(rows)
            )
            for rows in (zip(*one, strict=True) for one in zip(found.low, found.high, strict=True))
        ]
